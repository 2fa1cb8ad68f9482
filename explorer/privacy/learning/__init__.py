"""Learning from shuffled, locally private gradients: CLDP-SGD of Girgis, Data & Diggavi.

`coordinate_report` (R_∞) and `priv_unit` (R_2) are the randomisers, `Softmax` and `Perceptron` the
models, `start` and `advance` Algorithm 1, `training_epsilon` and `excess_risk` what it promises.
Samplers take numpy generators and are for studies: they are sound as real numbers, not proof
against rounding, and nothing made with them is a release.
"""

from explorer.privacy.learning.coordinate_report import CoordinateReport, coordinate_report
from explorer.privacy.learning.guarantees import (
    excess_risk,
    excess_risk_exact,
    rounds_of,
    training_epsilon,
    training_epsilon_numerical,
)
from explorer.privacy.learning.models import (
    Gradients,
    Model,
    Perceptron,
    Softmax,
    accuracy,
    lipschitz,
    losses,
)
from explorer.privacy.learning.priv_unit import PrivUnit, priv_unit
from explorer.privacy.learning.training import (
    Plan,
    Randomiser,
    Rates,
    Samples,
    State,
    advance,
    averaged,
    moment,
    randomiser_for,
    start,
    theorem_rates,
)

__all__ = [
    "CoordinateReport",
    "Gradients",
    "Model",
    "Perceptron",
    "Plan",
    "PrivUnit",
    "Randomiser",
    "Rates",
    "Samples",
    "Softmax",
    "State",
    "accuracy",
    "advance",
    "averaged",
    "coordinate_report",
    "excess_risk",
    "excess_risk_exact",
    "lipschitz",
    "losses",
    "moment",
    "priv_unit",
    "randomiser_for",
    "rounds_of",
    "start",
    "theorem_rates",
    "training_epsilon",
    "training_epsilon_numerical",
]
