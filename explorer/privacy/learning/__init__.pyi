from explorer.privacy.coordinates.priv_unit import (
    PrivUnit as PrivUnit,
    priv_unit as priv_unit,
)
from explorer.privacy.learning.gradient_reports import (
    CoordinateReport as CoordinateReport,
    HadamardReport as HadamardReport,
    coordinate_report as coordinate_report,
    hadamard_report as hadamard_report,
)
from explorer.privacy.learning.models import (
    SIDE as SIDE,
    Clippable as Clippable,
    Convolutional as Convolutional,
    Gradients as Gradients,
    Model as Model,
    Perceptron as Perceptron,
    Softmax as Softmax,
    accuracy as accuracy,
    lipschitz as lipschitz,
    losses as losses,
)
from explorer.privacy.learning.training import (
    Plan as Plan,
    Randomiser as Randomiser,
    Rates as Rates,
    Samples as Samples,
    State as State,
    advance as advance,
    averaged as averaged,
    excess_risk as excess_risk,
    excess_risk_exact as excess_risk_exact,
    moment as moment,
    randomiser_for as randomiser_for,
    rounds_of as rounds_of,
    start as start,
    theorem_rates as theorem_rates,
    training_epsilon as training_epsilon,
    training_epsilon_numerical as training_epsilon_numerical,
    widest as widest,
)
