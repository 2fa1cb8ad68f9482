"""Histograms in the shuffled model: P_zsum and P_hist, their guarantees and their errors.

Balcer & Cheu, *Separating Local & Shuffled Differential Privacy via Histograms* (ITC 2020).
q = 1−p is the probability that a user does *not* send a noise bit; n·q is the noise. The paper's
constants (`printed_…`) and the noise calibrated by the exact δ (`calibrate`) stand side by side;
the second is 20 to 90 times less, under the conditions in `CONDITION`.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
