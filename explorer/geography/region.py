"""A box of degrees on the map and its size in kilometres."""

import math
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""South, west, north, east in degrees."""

KM_PER_DEGREE = 6371.0088 * math.pi / 180
"""Length of one degree of latitude on the mean sphere (IUGG mean radius 6371.0088 km)."""


@dataclass(frozen=True, slots=True)
class Region:
    """A box of degrees, south-west to north-east.

    Raises
    ------
    ValueError
        If the box is empty, leaves the globe, spans more than 180° of longitude or crosses the
        antimeridian.
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        numbers = (self.south, self.west, self.north, self.east)
        if not all(map(math.isfinite, numbers)):
            raise ValueError("region: every side must be a finite number of degrees")
        if not (-90 <= self.south < self.north <= 90):
            raise ValueError(
                f"region: latitudes {self.south:g}…{self.north:g} must grow northwards "
                "within −90…90; give LATMIN,LONMIN,LATMAX,LONMAX"
            )
        if self.west >= self.east:
            raise ValueError(
                f"region: longitudes {self.west:g}…{self.east:g} must grow eastwards; a region "
                "across the antimeridian must be split into two"
            )
        if self.west < -180 or self.east > 180:
            raise ValueError(f"region: longitudes {self.west:g}…{self.east:g} leave −180…180")
        if self.east - self.west > 180:
            raise ValueError(
                f"region: {self.east - self.west:g}° of longitude is too wide for a flat map; "
                "choose at most 180°"
            )

    @property
    def box(self) -> Box:
        """South, west, north, east."""
        return (self.south, self.west, self.north, self.east)

    @property
    def mid_latitude(self) -> float:
        """Degrees."""
        return (self.south + self.north) / 2

    @property
    def aspect(self) -> float:
        """How much taller a degree of latitude is drawn than one of longitude: 1/cos(mid)."""
        return 1 / max(math.cos(math.radians(self.mid_latitude)), 1e-6)

    @property
    def width_km(self) -> float:
        """East to west at the mid latitude, in km."""
        return (self.east - self.west) * KM_PER_DEGREE / self.aspect

    @property
    def height_km(self) -> float:
        """South to north, in km."""
        return (self.north - self.south) * KM_PER_DEGREE
