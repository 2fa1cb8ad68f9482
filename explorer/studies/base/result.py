"""Results of studies: curves, maps and numbers with roles, conditions and sources."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.core.bound import BoolArray, FloatArray, Grade, Reference, Role
from explorer.studies.base.parameters import Fidelity
from explorer.studies.base.request import Request


class Mark(StrEnum):
    """How a series is drawn."""

    LINE = "line"
    """A function of x: points joined from left to right."""
    PATH = "path"
    """A curve in the plane: points joined in the order given, x in any order."""
    DOTS = "dots"
    """Separate points; `low` and `high` are error bars."""
    BARS = "bars"
    """One bar a point, from 0 (from the bottom on a logarithmic axis)."""
    AREA = "area"
    """What lies between `low` and `high`; `y` is the edge to read off."""


@dataclass(frozen=True)
class Handle:
    """Parameters that dragging a dot sets.

    Attributes
    ----------
    name : str
        Stands beside the dot.
    x_key, y_key : str
        The parameters that follow where it is dragged to.
    x_factor : float
        The x parameter for 1 on the x axis.
    """

    name: str
    x_key: str
    y_key: str
    x_factor: float = 1.0


IMPORTED_PREFIX = "own:"
"""Keys of curves from users' files begin so."""


@dataclass(frozen=True)
class Series:
    """One curve.

    Attributes
    ----------
    key : str
        Stable id: CSV column, style lookup.
    label : str
        Legend text without the role.
    role : Role
    x, y : ndarray of float
        Same length; y is NaN where the statement does not hold.
    reference : Reference
    low, high : ndarray of float or None
        Band of an estimate; of an upper bound, the bracket from the lower bound to it.
    undefined_reason : str
        Why y is NaN where it is; required where any is. Begins with ``infinite`` where the
        statement holds and its number is infinite.
    note : str
        What else a reader must know (order at the search edge, truncated, variant).
    mark : Mark
    pin : int
        0 for a present curve; else the number of the pin that keeps it for reference, and `key`
        is ``pin1:key`` of the curve it was.
    formula : bool
        Whether y is computed, and not drawn at random: an estimate that is can be solved for.
    grade : Grade
        Of the bound that it draws.
    assumes : tuple of str
        Keys of the conditions that it needs beyond those that the whole answer needs.
    computing : bool
        Whether y is NaN because it is not known yet, and not because nothing holds there.
    handles : tuple of Handle
        One a point where dots can be dragged; else none.
    colour : int or None
        Place in the palette; None for its place among the curves of the answer.
    """

    key: str
    label: str
    role: Role
    x: FloatArray
    y: FloatArray
    reference: Reference
    low: FloatArray | None = None
    high: FloatArray | None = None
    undefined_reason: str = ""
    note: str = ""
    mark: Mark = Mark.LINE
    pin: int = 0
    formula: bool = False
    grade: Grade = Grade.NUMERICAL
    assumes: tuple[str, ...] = ()
    computing: bool = False
    handles: tuple[Handle, ...] = ()
    colour: int | None = None

    @property
    def unpinned_key(self) -> str:
        """The key that it has, or had before it was pinned."""
        return self.key.removeprefix(f"pin{self.pin}:")

    @property
    def own(self) -> bool:
        """Whether it is imported from a user's file: a baseline that belongs to no study."""
        return self.key.startswith(IMPORTED_PREFIX)

    @property
    def infinite(self) -> bool:
        """Whether the number is infinite, and not unknown, where the curve is absent."""
        return self.undefined_reason.startswith("infinite")

    @property
    def present(self) -> BoolArray:
        """Where the curve holds."""
        return np.isfinite(self.y)


Roles = Sequence[Role | Sequence[Role | None] | None]


def role_of_cell(roles: Roles, row: int, column: int) -> Role | None:
    """Return the role of a cell's number; None if it is a plain one."""
    role = roles[column] if column < len(roles) else None
    return role if role is None or isinstance(role, Role) else role[row]


@dataclass(frozen=True, slots=True)
class Node:
    """A box of a diagram: its lines of text and where its middle is, 0 to 1, y upwards."""

    key: str
    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """An implication in a diagram: keys of two nodes, the law, whether it holds."""

    start: str
    end: str
    text: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and arrows, drawn above the table that says the same."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers and words in rows.

    Attributes
    ----------
    key, title : str
    columns : tuple of str
    rows : tuple of tuples of str, float or None
        One entry a column; None is an empty cell ("not there", with the reason in `note`).
    note : str
        What holds for the whole table: roles, units, conditions, source.
    roles : tuple of Role, None or tuple of these
        What the numbers are, so that bounds are shown as such: one entry a column, for all of its
        cells or one for each; columns beyond its end have plain numbers.
    diagram : Diagram or None
        A picture of the same.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    note: str = ""
    roles: Roles = ()
    diagram: Diagram | None = None


@dataclass(frozen=True)
class SpacePicture:
    """Layout of a metric space in the plane.

    Attributes
    ----------
    name : str
        ``sphere, great-circle distance``.
    points : ndarray of float, shape (N, 2)
        Points of the space (or a sample) laid out in the plane; x to the right, y upwards.
    groups : ndarray of int, shape (N,)
        Which cluster each belongs to; all 0 without clusters.
    diameter : float
        In `unit`; the distances that enter the formulas are divided by it.
    unit : str
        ``km``, ``mi``, or what the user's file is in; empty without one.
    note : str
        What the layout keeps and what it doesn't; how the diameter was found.
    """

    name: str
    points: FloatArray
    groups: np.ndarray[Any, np.dtype[np.intp]]
    diameter: float
    unit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Overlay:
    """Points, squares and lines drawn in place of a map's cells, in shares of its sides.

    Attributes
    ----------
    points : ndarray of float, shape (n, 2)
        Row from the south and column from the west, 0 to 1.
    shares : ndarray of float or None, shape (n,)
        Which part of the total each of the points stands for; None where that is not known.
    numbered : bool
        Whether the points are few and bear numbers, from 1.
    squares : ndarray of float, shape (m, 3)
        Row and column of a middle, and length of a side.
    borders : ndarray of float, shape (b, 4)
        Row and column of the one end of a line, and of the other.
    """

    points: FloatArray
    shares: FloatArray | None = None
    numbered: bool = False
    squares: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    borders: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))


@dataclass(frozen=True)
class Surface:
    """A map: one number per cell of a square grid over a region.

    Attributes
    ----------
    key : str
        ``true`` or ``private``, ``private:mechanism``, or another stable id.
    label : str
    values : ndarray of float32, shape (Δ, Δ)
        ``values[row, column]``, row 0 south, column 0 west: shares of the total, sum 1 (or all 0);
        of a difference or an error another sum.
    region : Region or None
        None where it may not be told where the map lies.
    curator_only : bool
        Whether it may never leave the curator's screen.
    stamp : str
        What must be written on it wherever it is shown, or an empty string.
    diverging : bool
        Whether values below 0 mean something, so that it is coloured to both sides of 0.
    overlay : Overlay or None
        What is drawn in place of the cells' colours.
    source : str
        Key of the map that it is drawn of, at no further cost; empty for a map of its own.
    """

    key: str
    label: str
    values: np.ndarray[Any, np.dtype[np.float32]]
    region: Region | None
    curator_only: bool
    stamp: str = ""
    diverging: bool = False
    overlay: Overlay | None = None
    source: str = ""

    @property
    def drawn(self) -> BoolArray:
        """Which cells are drawn: all, or those that meet the region's polygon."""
        polygon = None if self.region is None else self.region.polygon
        rows, columns = self.values.shape
        if polygon is None:
            return np.ones((rows, columns), bool)
        return polygon.touched(rows, columns)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a statement, whether it holds, and its margin.

    `holds` is None where it can't be known from the parameters (it is then an assumption).
    `of_guarantee` is False for what only a single curve needs, or how sharp it is: the text says
    so too, and where it fails nothing that is promised does. `key` is what the `assumes` of series
    name. Nothing is claimed that rests on an `optional` assumption, unless the user claims it.
    `short` says it in at most 40 letters, where the text is one click away.
    """

    text: str
    holds: bool | None
    margin: str = ""
    of_guarantee: bool = True
    key: str = ""
    optional: bool = False
    short: str = ""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A privacy guarantee: unit, neighbouring relations, trust, and a plain sentence.

    Attributes
    ----------
    unit : str
        Unit of protection (one record, one user).
    add_remove, replace_one : str
        The guarantee under either meaning of *neighbouring*; "not covered: why" where there
        is none.
    trust : str
        Who sees what.
    sentence : str
        One plain sentence that moves with the sliders.
    references : tuple of Reference
    differences : tuple of str
        Why two of the accountants shown differ, one sentence or two each; empty where they
        don't.
    beside : str
        What `sentence` rests on, and what is known of less.
    claimed : str
        Names the bound that is claimed (`explorer.studies.base.claims`).
    distance : float or None
        Upper bound on δ(0), the total variation distance of the two laws that are seen.
    law : str
        Whose δ(0) that is.
    pairs : tuple of (float, float)
        Every (ε, δ) that holds of the two cases `sentence` is about, the claimed one first; empty
        where no such is promised.
    qualified : bool
        Whether `pairs` hold only under what `sentence` says besides (so far apart, one coordinate
        under such beliefs), so that odds without it would promise too much.
    about : str
        What the odds are about: ``which of two records a client holds``; where `qualified`, with
        what they hold under.
    """

    unit: str
    add_remove: str
    replace_one: str
    trust: str
    sentence: str
    references: tuple[Reference, ...] = ()
    differences: tuple[str, ...] = ()
    beside: str = ""
    claimed: str = ""
    distance: float | None = None
    law: str = ""
    pairs: tuple[tuple[float, float], ...] = ()
    qualified: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class ScalarResult:
    """One number of an answer, at the sliders' values.

    `role` is None for counts and plain readouts; `low`/`high` give an interval known to hold the
    number while `value` itself is still None.
    """

    key: str
    label: str
    value: float | None
    role: Role | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    curator_only: bool = False
    note: str = ""


@dataclass(frozen=True)
class Result:
    """An answer of a study to a request.

    `complete` tells the last and best answer. A number that takes long and that no sentence and no
    picture rests on may be added to it: `coming` names it, and a further answer, equal in all else,
    holds it; it is `final`. `stamp` is what must be written on every picture,
    table and file made of it (empty if nothing must). `progress` is the share of the work that is
    done (0 to 1) where a study knows it, for answers that take more than a moment; `timings_ms`
    says where the time of a map went. `early` marks a first glance at a part of the data, which
    keeps no guarantee: it is shown, and never exported.

    Of an incomplete answer, `curve_follows` tells that the next one has the curve of the number
    that this one has at the sliders. `outdated` and `outdated_numbers` hold the keys of the curves
    and of the numbers at the sliders that `explorer.studies.base.claims.carry_over` took from an
    earlier answer; `held` is the key of the bound that was claimed there and stays claimed until
    the answer is complete.
    """

    request: Request
    fidelity: Fidelity
    series: tuple[Series, ...] = ()
    tables: tuple[Table, ...] = ()
    space: SpacePicture | None = None
    surfaces: tuple[Surface, ...] = ()
    readouts: tuple[ScalarResult, ...] = ()
    conditions: tuple[Condition, ...] = ()
    guarantee: Guarantee | None = None
    notes: tuple[str, ...] = ()
    stamp: str = ""
    curator_only: bool = False
    complete: bool = False
    coming: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    progress: float | None = None
    early: bool = False
    curve_follows: bool = False
    outdated: frozenset[str] = frozenset()
    outdated_numbers: frozenset[str] = frozenset()
    held: str = ""

    @property
    def final(self) -> bool:
        """Whether no further answer follows."""
        return self.complete and not self.coming

    def readout(self, key: str) -> ScalarResult:
        """Return the readout of that key; KeyError if there is none."""
        for item in self.readouts:
            if item.key == key:
                return item
        raise KeyError(key)

    def number(self, key: str) -> float | None:
        """Return the finite number of a readout at the sliders' values; None if there is none."""
        value = next((r.value for r in self.readouts if r.key == key), None)
        return None if value is None or not math.isfinite(value) else float(value)

    def surface(self, key: str) -> Surface:
        """Return the surface of that key; KeyError if there is none."""
        for item in self.surfaces:
            if item.key == key:
                return item
        raise KeyError(key)
