"""Regions of the Earth, boxes and polygons in degrees, and boxes of other planes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from explorer.geography.coordinates import (
    KM_PER_DEGREE,
    ScaleBar,
    format_coordinates,
    round_length,
    scale_bars,
    wrap_longitude,
)
from explorer.geography.plane import Plane, plain
from explorer.polygon import Polygon
from explorer.user_rows import EARTH_STEP, TURN, Box as Box, positions, snap, steps


@dataclass(frozen=True, slots=True)
class Region:
    """A box of degrees, south-west to north-east, at most 180° wide.

    Its west is at least −180 and below 180. Across the antimeridian it is given with a west above
    the east, as GeoJSON does (RFC 7946, section 5.2), or with an east above 180; `east` is then
    above 180, so that longitudes grow through the box, and `declared` has the former.

    Sides are rounded to multiples of 1e-7 degree, as stored positions are, so that every component
    counts the same check-ins inside.

    Raises
    ------
    ValueError
        If the box is empty, leaves the globe or spans more than 180° of longitude.
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
        if self.west == self.east:
            raise ValueError(f"region: it starts and ends at longitude {self.west:g}; widen it")
        across = 360.0 if self.west > self.east else 0.0
        wide = self.east + across - self.west
        if wide > 180:
            text = f"from {self.west:g} eastwards to {self.east:g}, across 180°, it is"
            raise ValueError(
                f"region: {f'{text} {wide:g}° wide' if across else f'{wide:g}° of longitude is'}"
                f"{',' if across else ''} too wide for a flat map; choose at most 180°, and give "
                "the western end first"
            )
        turns = 360.0 * math.floor((self.west + 180) / 360)
        object.__setattr__(self, "east", self.east + across - turns)
        object.__setattr__(self, "west", self.west - turns)
        self._snap()

    def _snap(self) -> None:
        """Round the sides to whole steps and refuse a box that becomes empty."""
        names = ("south", "west", "north", "east")
        for name, side in zip(names, snap(self.box, self.step), strict=True):
            object.__setattr__(self, name, side)
        if not (self.south < self.north and self.west < self.east):
            raise ValueError(
                f"region: it is narrower than {float(self.step):g}, which positions are kept to; "
                "choose a larger one"
            )

    @property
    def step(self) -> Fraction:
        """Unit of which the sides are whole multiples."""
        return EARTH_STEP

    @property
    def box(self) -> Box:
        """South, west, north, east."""
        return (self.south, self.west, self.north, self.east)

    @property
    def mid_latitude(self) -> float:
        """Latitude halfway between south and north, in degrees."""
        return (self.south + self.north) / 2

    @property
    def aspect(self) -> float:
        """Ratio of a drawn degree of latitude to one of longitude: 1/cos(`mid_latitude`)."""
        return 1 / max(math.cos(math.radians(self.mid_latitude)), 1e-6)

    @property
    def width_km(self) -> float:
        """Width at the mid latitude, in km."""
        return (self.east - self.west) * KM_PER_DEGREE / self.aspect

    @property
    def height_km(self) -> float:
        """Height in km."""
        return (self.north - self.south) * KM_PER_DEGREE

    @property
    def plane(self) -> Plane | None:
        """The coordinate plane; None for the Earth."""
        return None

    @property
    def polygon(self) -> Polygon | None:
        """Outline in whole steps inside which rows count; None where the whole box counts."""
        return None

    @property
    def rings(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """Latitude and longitude of the corners of the polygon's rings; empty without one."""
        return ()

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height in `unit`."""
        return self.width_km, self.height_km

    @property
    def unit(self) -> str:
        """Unit of distances."""
        return "km"

    @property
    def declared(self) -> Box:
        """Sides as GeoJSON writes them: west > east across the antimeridian."""
        south, west, north, east = self.box
        return self.box if east <= 180 else snap((south, west, north, east - 360))

    @property
    def words(self) -> str:
        """Position as text."""
        south, west, north, east = self.declared
        return f"{format_coordinates(south, west)} to {format_coordinates(north, east)}"

    def at(self, box: Box) -> Region:
        """Return a region of the same plane with another box."""
        return Region(*box)

    def as_declared(self, ends: Box) -> Region:
        """Return the region of the same plane with these declared sides."""
        return region_of(ends)


@dataclass(frozen=True, slots=True)
class PolygonRegion(Region):
    """A polygon of the Earth: a public filter of rows. The box around it carries the grid.

    Rows outside the polygon drop out before anything is computed. Edges are straight lines in
    degrees, half open: of polygons that divide an area each row belongs to exactly one.
    """

    shape: Polygon

    @classmethod
    def of(cls, rings: Sequence[Sequence[tuple[float, float]]]) -> PolygonRegion:
        """Return the region with these rings.

        Parameters
        ----------
        rings : sequence of sequences of (latitude, longitude)
            Degrees, in order. The first of a ring may be repeated at its end. Each edge takes the
            shorter way round the Earth, so that a polygon may lie across the antimeridian. A ring
            inside another is a hole in it.

        Raises
        ------
        ValueError
            If a point is not on the globe, or there is no such polygon (`Polygon`), or it is too
            wide.
        """
        several = len(rings) > 1
        whole = [
            cls._ring(points, f"ring {number} of the region" if several else "the region")
            for number, points in enumerate(rings, 1)
        ]
        # Every ring begins in the same turn around the Earth as the first.
        begins = [ring[0][1] if ring else 0 for ring in whole]
        turns = [TURN * round((begin - begins[0]) / TURN) for begin in begins]
        whole = [[(y, x - by) for y, x in ring] for ring, by in zip(whole, turns, strict=True)]
        west = min((x for ring in whole for _, x in ring), default=0)
        turn = TURN * math.floor((west + TURN // 2) / TURN)
        shape = Polygon(tuple(tuple((y, x - turn) for y, x in ring) for ring in whole))
        south, west_side, north, east = positions(shape.box).tolist()
        return cls(south, west_side, north, east, shape)

    @staticmethod
    def _ring(points: Sequence[tuple[float, float]], where: str) -> list[tuple[int, int]]:
        """Return the corners of a ring in steps, each beside the one before."""
        for number, (latitude, longitude) in enumerate(points, 1):
            if not (abs(latitude) <= 90 and abs(longitude) <= 360):
                raise ValueError(
                    f"Point {number} of {where}, {latitude:g}, {longitude:g}, is not on the globe. "
                    "Give latitude, then longitude, in degrees."
                )
        ends: list[tuple[int, int]] = []
        for y, x in steps(points).tolist() if len(points) else ():
            if ends:
                x -= TURN * round((x - ends[-1][1]) / TURN)
            if not ends or (y, x) != ends[-1]:
                ends.append((y, x))
        if len(ends) > 1 and ends[0][0] == ends[-1][0] and not (ends[0][1] - ends[-1][1]) % TURN:
            if ends[0] != ends[-1]:
                raise ValueError("The region goes round a pole. Draw it beside the pole.")
            ends.pop()
        if ends and abs(ends[0][1] - ends[-1][1]) > TURN // 2:
            raise ValueError("The region goes round a pole. Draw it beside the pole.")
        return ends

    @property
    def polygon(self) -> Polygon:
        """Rings in whole steps."""
        return self.shape

    @property
    def rings(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """Latitude and longitude of the corners; longitudes grow from the west of the box."""
        return tuple(
            tuple((y, x) for y, x in positions(ring).tolist()) for ring in self.shape.rings
        )

    @property
    def words(self) -> str:
        """Number of points, and position as text."""
        south, west, north, east = self.declared
        return (
            f"polygon with {points_of(self)}, {format_coordinates(south, west)} to "
            f"{format_coordinates(north, east)}"
        )


def points_of(region: Region) -> str:
    """Return how many corners a polygon has: ``9 points``, or ``24 points in 2 rings``."""
    number, rings = sum(map(len, region.rings)), len(region.rings)
    return f"{number:,} points" + (f" in {rings:,} rings" if rings > 1 else "")


RING = "|"
"""Begins a further ring in the text of a polygon."""


def parse_rings(text: str) -> list[list[tuple[float, float]]]:
    """Read latitude and longitude of points, one point a line or after a semicolon.

    A `RING` begins a further ring.

    Raises
    ------
    ValueError
        Naming the point that cannot be read.
    """
    return [_parse_points(part) for part in text.split(RING)]


def _parse_points(text: str) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for line in filter(None, (part.strip() for part in re.split(r"[\n;]", text))):
        numbers = re.fullmatch(r"([-+]?[\d.]+)°?(?:\s*,\s*|\s+)([-+]?[\d.]+)°?", line)
        try:
            if numbers is None:
                raise ValueError
            points.append((float(numbers[1]), float(numbers[2])))
        except ValueError:
            raise ValueError(
                f"Cannot read point {len(points) + 1}, {line[:40]}. Type latitude and longitude in "
                "degrees, such as 40.71, -74.01."
            ) from None
    return points


def written_rings(region: Region) -> str:
    """Return the corners of a polygon as text, one a line: see `parse_rings`."""
    return f"\n{RING}\n".join(
        "\n".join(f"{plain(latitude)}, {plain(longitude)}" for latitude, longitude in ring)
        for ring in corners(region)
    )


@dataclass(frozen=True, slots=True)
class PlaneRegion(Region):
    """A box of a plane; south and north are ±y, negated where y grows downwards.

    It may extend beyond the declared range, which is empty there, by at most three times the
    range's size.

    Raises
    ------
    ValueError
        If it is empty, or far from the range.
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
        """Return the whole range of a plane."""
        return cls(*plane.turned((plane.low, plane.left, plane.high, plane.right)), plane)

    @classmethod
    def padded(cls, plane: Plane) -> PlaneRegion:
        """Return the smallest power-of-two square that contains a plane, upper left aligned.

        A picture of 320 × 240 pixels is in 512 × 512. The added part is known to be empty.
        """
        _, west, north, _ = cls.whole(plane).box
        longest = max(plane.right - plane.left, plane.high - plane.low)
        side = float(2 ** math.ceil(math.log2(longest)))
        return cls(north - side, west, north, west + side, plane)

    @property
    def step(self) -> Fraction:
        """As declared by the plane."""
        return self.within.step

    @property
    def plane(self) -> Plane:
        """The coordinate plane; None for the Earth."""
        return self.within

    @property
    def mid_latitude(self) -> float:
        """Mean of south and north."""
        return (self.south + self.north) / 2

    @property
    def aspect(self) -> float:
        """1, because x and y share a unit."""
        return 1.0

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height in the plane's unit."""
        return self.east - self.west, self.north - self.south

    @property
    def unit(self) -> str:
        """As declared by the plane."""
        return self.within.unit

    @property
    def declared(self) -> Box:
        """YMIN, XMIN, YMAX, XMAX."""
        return self.within.turned(self.box)

    @property
    def words(self) -> str:
        """Position as text."""
        low, left, high, right = map(plain, self.declared)
        return f"x {left}…{right} {self.unit}, y {low}…{high} {self.unit}"

    def at(self, box: Box) -> PlaneRegion:
        """Return a region of the same plane with another box."""
        return PlaneRegion(*box, self.within)

    def as_declared(self, ends: Box) -> PlaneRegion:
        """Return the region between YMIN, XMIN, YMAX and XMAX of the same plane."""
        return self.at(self.within.turned(ends))

    @property
    def width_km(self) -> float:
        """Raise TypeError: a plane has no kilometres."""
        raise TypeError("a plane that is not the Earth has no kilometres; take `sides`")

    @property
    def height_km(self) -> float:
        """Raise TypeError, as `width_km`."""
        return self.width_km


def wrap_box(box: tuple[float | Fraction, ...], decimals: int | None = None) -> Box:
    """Return a box with longitudes within ±180; west > east across the antimeridian.

    Parameters
    ----------
    box : (south, west, north, east)
        Degrees; longitudes grow from the west, perhaps beyond 180.
    decimals : int or None
        Number of decimals to round to; None does not round.
    """
    south, west, north, east = box
    turns = 360 * math.floor((west + 180) / 360)
    west, east = west - turns, east - turns
    east -= 360 if east > 180 else 0
    sides = [float(side) for side in (south, west, north, east)]
    if decimals is not None:
        sides = [round(side, decimals) for side in sides]
    return sides[0], sides[1], sides[2], sides[3]


def longitude_note(box: Box) -> list[str]:
    """Return the note on longitudes above 180 for exports of a box; empty if there are none."""
    return ["longitudes grow beyond 180: 181 is 179° W"] if box[3] > 180 else []


def geometry(box: Box) -> dict[str, Any]:
    """Return a box as a GeoJSON geometry, split at ±180° (RFC 7946, section 3.1.9).

    Parameters
    ----------
    box : (south, west, north, east)
        As of `wrap_box`.
    """
    south, west, north, east = box
    parts = [(west, east)] if west < east else [(west, 180.0), (-180.0, east)]
    rings = [[[[w, south], [e, south], [e, north], [w, north], [w, south]]] for w, e in parts]
    if len(rings) == 1:
        return {"type": "Polygon", "coordinates": rings[0]}
    return {"type": "MultiPolygon", "coordinates": rings}


def corners(region: Region) -> list[list[list[float]]]:
    """Return latitude and longitude, within ±180, of the corners of a polygon's rings."""
    return [
        [[latitude, wrap_longitude(longitude)] for latitude, longitude in ring]
        for ring in region.rings
    ]


def polygon_document(region: Region) -> dict[str, Any]:
    """Return the rings of a polygon as recipes and exports have them; empty without one.

    The first ring is `polygon`; where there are more, they are `rings`.
    """
    found = corners(region)
    return ({"polygon": found[0]} if found else {}) | ({"rings": found[1:]} if found[1:] else {})


def rings_in(document: Mapping[str, Any]) -> list[list[list[float]]]:
    """Return all rings of a `polygon_document` or of what has it among others."""
    first = document.get("polygon")
    return [first, *(document.get("rings") or ())] if first else []


def region_of(
    declared: Box, plane: str = "", rings: Sequence[Sequence[Sequence[float]]] = ()
) -> Region:
    """Return the region with these declared sides, of the Earth or of a plane given as text.

    Parameters
    ----------
    declared : Box
        As of `Region.declared`.
    plane : str
        As of `Plane.text`; empty for the Earth.
    rings : sequence of sequences of latitude and longitude
        Of a polygon that the box is of; empty for the whole box.

    Raises
    ------
    ValueError
        If there is no such region or plane, or the box is not the polygon's.
    """
    if rings:
        region = PolygonRegion.of([[(y, x) for y, x in ring] for ring in rings])
        if plane or region.declared != snap(declared):
            raise ValueError("region: it is not the box around its polygon; leave one of them out")
        return region
    if not plane:
        far = max(declared[1], declared[3], key=abs)
        if abs(far) > 180:
            raise ValueError(
                f"region: longitude {far:g} is outside −180…180; a region across the antimeridian "
                "has a west above its east, such as 177 and -178"
            )
        return Region(*declared)
    parsed = Plane.parse(plane)
    return PlaneRegion(*parsed.turned(declared), parsed)


def scale_bars_for(
    region: Region, degrees: float, longest_share: float = 0.25
) -> tuple[ScaleBar, ScaleBar]:
    """Return the scale bars of a view this many degrees wide, centred on a region.

    On another plane than the Earth, `degrees` and the first bar are in the plane's unit, and the
    second bar has no length and no label.
    """
    if region.plane is None:
        # The flat map is true to scale at the region's middle latitude.
        return scale_bars(degrees * KM_PER_DEGREE / region.aspect, longest_share)
    length = round_length(degrees * longest_share)
    bar = ScaleBar(length, length / degrees, f"{length:,g} {region.unit}")
    return bar, ScaleBar(0.0, 0.0, "")
