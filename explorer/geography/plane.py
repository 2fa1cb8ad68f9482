"""Coordinate planes other than the Earth: range of x and y, unit, direction of y.

Internally north is up on every map. On a plane whose y grows downwards, as in images, the latitude
of a point is −y; `Plane.turned` converts in both directions.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from explorer.user_rows import Box

PIXEL = "px"
FORM = "WIDTHxHEIGHT or XMIN,YMIN,XMAX,YMAX, then perhaps :UNIT and :down or :up"
SPACING = Fraction(1, 2 * 10**9)
"""Smallest step of stored positions as a share of the range: positions fit into 32 bits."""
MAX_INTEGER = 2.0**52
"""Integers up to this size are exact in double precision, with one bit to spare."""
_UNIT = re.compile(r"[^\W\d_][^\W_]{0,11}(?:[/²³][^\W_]{0,4})?")
_SIZE = re.compile(r"\s*([^\sx×]+)\s*[x×]\s*([^\sx×]+)\s*")


@dataclass(frozen=True, slots=True)
class Plane:
    """A rectangle with the allowed range of x and y.

    Attributes
    ----------
    left, low, right, high : float
        x from left to right and y from low to high, both ends included, in the unit.
    unit : str
    down : bool
        Whether y grows downwards, as in pictures.

    Raises
    ------
    ValueError
        If the range is empty, not finite, no multiple of the stored unit or too far from 0 for its
        size, or the unit is not a short word.
    """

    left: float
    low: float
    right: float
    high: float
    unit: str = PIXEL
    down: bool = True

    def __post_init__(self) -> None:
        ends = (self.left, self.low, self.right, self.high)
        if not all(map(math.isfinite, ends)):
            raise ValueError("plane: its range must be of finite numbers")
        if not (self.left < self.right and self.low < self.high):
            raise ValueError(
                f"plane: x {self.left:g}…{self.right:g}, y {self.low:g}…{self.high:g} is empty; "
                f"give {FORM}"
            )
        if not _UNIT.fullmatch(self.unit):
            raise ValueError(f"plane: {self.unit!r} is no unit; give a short word such as px or mm")
        if max(map(abs, ends)) > MAX_INTEGER * self.step:
            raise ValueError(
                "plane: its range is too far from 0 for its size; subtract its lower ends"
            )
        if any(Fraction(repr(end)) % self.step for end in ends):
            raise ValueError(
                f"plane: positions are kept as multiples of {float(self.step):g} {self.unit}; "
                "give ends of the range that are multiples of it, too"
            )

    @classmethod
    def parse(cls, text: str) -> Plane:
        """Parse ``320x240``, ``320x240:mm:up`` or ``-5,0,5,12:m``.

        The default unit is pixels; y grows downwards in pixels and upwards in other units by
        default.

        Raises
        ------
        ValueError
            Naming what is wrong, and the form.
        """
        size, *options = (part.strip() for part in text.split(":"))
        if len(options) > 2 or (len(options) == 2 and options[1] not in ("down", "up")):
            _refuse(text)
        unit = options[0] if options else PIXEL
        down = options[1] == "down" if len(options) == 2 else unit in (PIXEL, "pixel", "pixels")
        sides = _SIZE.fullmatch(size)
        numbers = ["0", "0", *sides.groups()] if sides else size.split(",")
        try:
            left, low, right, high = map(float, numbers)
        except ValueError:
            _refuse(text)
        return cls(left, low, right, high, unit, down)

    @property
    def text(self) -> str:
        """Canonical text for `parse`, such as ``320x240:px:down``."""
        ends = [plain(end) for end in (self.left, self.low, self.right, self.high)]
        size = f"{ends[2]}x{ends[3]}" if ends[:2] == ["0", "0"] else ",".join(ends)
        return f"{size}:{self.unit}:{'down' if self.down else 'up'}"

    @property
    def step(self) -> Fraction:
        """Unit of stored positions: the smallest power of ten ≥ range/(2·10⁹)."""
        least = SPACING * Fraction(max(self.right - self.left, self.high - self.low))
        power = math.floor(math.log10(least)) - 1
        return next(s for k in range(4) if (s := Fraction(10) ** (power + k)) >= least)

    def turned(self, box: Box) -> Box:
        """Convert between (south, west, north, east) and (y, x, y, x); its own inverse."""
        south, west, north, east = box
        # Adding 0 makes −0 a plain 0.
        return (-north + 0.0, west, -south + 0.0, east) if self.down else box

    def y(self, north: float) -> float:
        """Convert between a northing and y; its own inverse."""
        return -north + 0.0 if self.down else north

    @property
    def sentence(self) -> str:
        """Description of the range: ``x 0…320 px to the right, y 0…240 px downwards``."""
        x, y = (
            f"{plain(self.left)}…{plain(self.right)}",
            f"{plain(self.low)}…{plain(self.high)}",
        )
        way = "downwards" if self.down else "upwards"
        return f"x {x} {self.unit} to the right, y {y} {self.unit} {way}"


def plain(value: float) -> str:
    """Return the shortest text that parses to the same number."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"plane: {text!r} can't be read; give {FORM}, such as 320x240:px")
