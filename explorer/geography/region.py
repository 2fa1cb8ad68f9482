"""A box on the map and its size: of degrees and kilometres, or of another plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from explorer.geography.plane import Plane, plain
from explorer.user_rows import EARTH_STEP, Box as Box, snapped

KM_PER_DEGREE = 6371.0088 * math.pi / 180
"""Length of one degree of latitude on the mean sphere (IUGG mean radius 6371.0088 km)."""


@dataclass(frozen=True, slots=True)
class Region:
    """A box of degrees, south-west to north-east.

    Its sides are taken to the nearest whole numbers of 1e-7 degree, as check-ins are: whoever
    counts inside it counts the same ones.

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
        if not all(map(math.isfinite, self.box)):
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
        self._snap()

    def _snap(self) -> None:
        """Take the sides to whole steps, once, as they are finite and small enough."""
        names = ("south", "west", "north", "east")
        for name, side in zip(names, snapped(self.box, self.step), strict=True):
            object.__setattr__(self, name, side)
        if not (self.south < self.north and self.west < self.east):
            raise ValueError(
                f"region: it is narrower than {float(self.step):g}, which positions are kept to; "
                "choose a larger one"
            )

    @property
    def step(self) -> Fraction:
        """What its sides are whole multiples of."""
        return EARTH_STEP

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

    @property
    def plane(self) -> Plane | None:
        """The plane it lies in, None for the Earth."""
        return None

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height in `unit`."""
        return self.width_km, self.height_km

    @property
    def unit(self) -> str:
        """Of distances."""
        return "km"

    @property
    def declared(self) -> Box:
        """The four ends as people write them."""
        return self.box

    @property
    def words(self) -> str:
        """Where it lies, for people."""
        # the spelling of degrees is in a module that stands on this one
        from explorer.geography.scale_bar import format_coordinates

        south_west = format_coordinates(self.south, self.west)
        return f"{south_west} to {format_coordinates(self.north, self.east)}"

    def at(self, box: Box) -> Region:
        """Return another box of the same plane."""
        return Region(*box)

    def as_declared(self, ends: Box) -> Region:
        """Return the region of the same plane whose four ends are written like this."""
        return Region(*ends)


@dataclass(frozen=True, slots=True)
class PlaneRegion(Region):
    """A box of a plane; south and north are y, with the sign turned where y goes down.

    It may reach beyond the declared range, by at most three times its size: there is nothing.

    Raises
    ------
    ValueError
        If it is empty, or lies far from the range.
    """

    within: Plane

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.box)):
            raise ValueError("region: every side must be a finite number")
        south, west, north, east = self.box
        if not (south < north and west < east):
            raise ValueError("region: x and y must grow; give XMIN,YMIN,XMAX,YMAX")
        plane = self.within
        low, left, high, right = plane.turned((plane.low, plane.left, plane.high, plane.right))
        meets = south < high and north > low and west < right and east > left
        span = 3 * max(right - left, high - low)
        near = south >= low - span and north <= high + span
        if not (meets and near and west >= left - span and east <= right + span):
            raise ValueError(f"region: it lies beyond the plane's range, {plane.sentence}")
        self._snap()

    @classmethod
    def whole(cls, plane: Plane) -> PlaneRegion:
        """Return all of a plane."""
        return cls(*plane.turned((plane.low, plane.left, plane.high, plane.right)), plane)

    @classmethod
    def padded(cls, plane: Plane) -> PlaneRegion:
        """Return the square of the next power of two around a plane, in its upper left corner.

        Of pictures: 320 × 240 pixels lie in 512 × 512. What is added is known to be empty.
        """
        _, west, north, _ = cls.whole(plane).box
        longest = max(plane.right - plane.left, plane.high - plane.low)
        side = float(2 ** math.ceil(math.log2(longest)))
        return cls(north - side, west, north, west + side, plane)

    @property
    def step(self) -> Fraction:
        """The plane's."""
        return self.within.step

    @property
    def plane(self) -> Plane:
        """The plane it lies in."""
        return self.within

    @property
    def mid_latitude(self) -> float:
        """Halfway up."""
        return (self.south + self.north) / 2

    @property
    def aspect(self) -> float:
        """1: x and y have one unit."""
        return 1.0

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height in the unit."""
        return self.east - self.west, self.north - self.south

    @property
    def unit(self) -> str:
        """The plane's."""
        return self.within.unit

    @property
    def declared(self) -> Box:
        """YMIN, XMIN, YMAX, XMAX."""
        return self.within.turned(self.box)

    @property
    def words(self) -> str:
        """Where it lies, for people."""
        low, left, high, right = map(plain, self.declared)
        return f"x {left}…{right} {self.unit}, y {low}…{high} {self.unit}"

    def at(self, box: Box) -> PlaneRegion:
        """Return another box of the same plane."""
        return PlaneRegion(*box, self.within)

    def as_declared(self, ends: Box) -> PlaneRegion:
        """Return the region of the same plane between YMIN, XMIN, YMAX and XMAX."""
        return self.at(self.within.turned(ends))

    @property
    def width_km(self) -> float:
        """Nothing: a plane has no kilometres."""
        raise TypeError("a plane that is not the Earth has no kilometres; take `sides`")

    @property
    def height_km(self) -> float:
        """Nothing, too."""
        return self.width_km


def region_of(declared: Box, plane: str = "") -> Region:
    """Return the region of four ends as they are written: of the Earth, or of a plane by its text.

    Raises
    ------
    ValueError
        If there is no such region or plane.
    """
    if not plane:
        return Region(*declared)
    chosen = Plane.parse(plane)
    return PlaneRegion(*chosen.turned(declared), chosen)
