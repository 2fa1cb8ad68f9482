"""Learning from shuffled, locally private gradients: CLDP-SGD of Girgis, Data & Diggavi.

`coordinate_report` (R_∞), `hadamard_report` (R_1) and `priv_unit` (R_2) are the randomisers,
`Softmax`, `Perceptron` and `Convolutional` the models, `start` and `advance` Algorithm 1,
`training_epsilon` and `excess_risk` what it promises.
Samplers take numpy generators and are for studies: they are sound as real numbers, not proof
against rounding, and nothing made with them is a release.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
