from explorer.privacy.spaces.metric_spaces import (
    EARTH_HALF_CIRCUMFERENCE_MILES as EARTH_HALF_CIRCUMFERENCE_MILES,
    Clustered as Clustered,
    Discrete as Discrete,
    FiniteSpace as FiniteSpace,
    Grid as Grid,
    Line as Line,
    MatrixSpace as MatrixSpace,
    MetricSpace as MetricSpace,
    Sphere as Sphere,
    Square as Square,
    central_angle as central_angle,
)
