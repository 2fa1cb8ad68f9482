from explorer.privacy.spaces.base import (
    MetricSpace as MetricSpace,
)
from explorer.privacy.spaces.continuous import (
    EARTH_HALF_CIRCUMFERENCE_MILES as EARTH_HALF_CIRCUMFERENCE_MILES,
    Line as Line,
    Sphere as Sphere,
    Square as Square,
    central_angle as central_angle,
)
from explorer.privacy.spaces.finite import (
    Clustered as Clustered,
    Discrete as Discrete,
    FiniteSpace as FiniteSpace,
    Grid as Grid,
    MatrixSpace as MatrixSpace,
)
