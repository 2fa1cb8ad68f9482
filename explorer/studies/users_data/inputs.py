"""Space, users and privacy parameters of one request; users' items read from a CSV file.

Every rejected line of a file is counted. Without a file, users are made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import BitSource, SeededBits
from explorer.privacy.spaces import FiniteSpace, Grid, MetricSpace, Sphere, Square
from explorer.studies.base.csv_table import (
    CsvTable,
    RejectedRow,
    TableFileError,
    read_csv,
    why_no_number,
)
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.study import Context, Request, Table
from explorer.studies.metric_space.parameters import GRID, SPHERE, SQUARE_L1, SQUARE_L2
from explorer.studies.metric_space.space import RequestSpace, space_of
from explorer.studies.users_data import guarantee

CENTRAL, LOCAL = "central", "local"
EQUAL, DRAWN = "equal", "drawn"
ONE_HOT, POSITION, PLACES, FILE = "shares", "position", "places", "file"
FILES, SPLIT = "files", "split"
ITEM_WISE, LINEAR = "itemwise", "linear"
FLAT = (GRID, SQUARE_L2, SQUARE_L1)
"""Spaces whose items a file may give as x and y."""
MAX_ITEMS = 400
"""Largest finite space this study handles."""
MAX_ALPHA = 800.0
_TOO_MANY = f"at most {MAX_ITEMS} items can be released here; choose a smaller space"
_WHOLE_EARTH = (-90.0, -180.0, 90.0, 180.0)
_HEAVY_BYTES = 100_000
"""Larger files are read in the worker process."""


@dataclass(frozen=True)
class PrivacyTarget:
    """Privacy parameters of a release.

    Attributes
    ----------
    alpha, delta : float
        Parameters of the mechanism on the items it receives.
    epsilon : float
        ε within distance r after drawing; 0 without drawing.
    r : float or None
        None without drawing.
    m : int
        Items per user that the mechanism receives.
    drawing : float
        Probability that the draws of two data sets within r are too far apart.
    """

    alpha: float
    delta: float
    epsilon: float
    r: float | None
    m: int
    drawing: float = 0.0

    def total_delta(self, item_wise: bool) -> float:
        """Return δ of the whole release; Algorithm 1 itself has δ = 0."""
        return min(1.0, (self.delta if item_wise else 0.0) + self.drawing)


class Inputs:
    """Space and users of a request.

    Parameters
    ----------
    request, context
    source : BitSource, optional
        Source of random bits instead of the request's seed: the system's, for draws that must not
        be reproducible.

    Attributes
    ----------
    space : RequestSpace
    missing : str
        Why there are no users; empty if there are.
    users : Users
        Empty if `missing` is set.
    """

    def __init__(self, request: Request, context: Context, source: BitSource | None = None) -> None:
        self.request, self.context, self._source = request, context, source
        self.space: RequestSpace = space_of(request, context)
        self.local = request["model"] == LOCAL
        self.equal = request["sizes"] == EQUAL
        self.missing = self.space.missing
        if not self.missing and self.finite and self.space.metric.size > MAX_ITEMS:  # type: ignore[union-attr]
            self.missing = _TOO_MANY
        self.users = Users("", (), ())
        if not self.missing:
            self.users = self._users("users")

    @property
    def metric(self) -> MetricSpace:
        """Distances of the space."""
        if self.space.metric is None:
            raise ValueError(self.space.missing)
        return self.space.metric

    @property
    def finite(self) -> bool:
        """Whether the space has finitely many items."""
        return isinstance(self.space.metric, FiniteSpace)

    @property
    def real(self) -> bool:
        """Whether the users come from a file."""
        return bool(self.request["users"] or self._checkins)

    @property
    def _checkins(self) -> str:
        """Value of the check-in file, which is read on the Earth only."""
        return str(self.request["checkins"]) if self.request["space"] == SPHERE else ""

    @property
    def stamp(self) -> str:
        """Stamp of all output."""
        return REAL_DATA if self.real or self.request["second"] else guarantee.SYNTHETIC

    @cached_property
    def distances(self) -> FloatArray:
        """Distance matrix of a finite space."""
        metric = self.metric
        if not isinstance(metric, FiniteSpace):
            raise ValueError(guarantee.NO_TABLE)
        return metric.matrix()

    def bits(self, purpose: int) -> BitSource:
        """Return the given source, or seeded bits that differ for every purpose."""
        if self._source is not None:
            return self._source
        return SeededBits(np.random.default_rng((abs(self.request.seed), 21, purpose)))

    def second_users(self) -> Users | None:
        """Return the users of the second data set; None if its file is missing.

        Synthetic users are compared with a slightly perturb copy of themselves.
        """
        if self.request["second"]:
            return self._users("second")
        return None if self.real else perturb(self.users, self.request.seed)

    def _users(self, key: str) -> Users:
        request = self.request
        value = str(request[key])
        metric = self.metric
        if key == "users" and self._checkins:
            return self._of_checkins(self._checkins)
        if not value and isinstance(metric, Sphere):
            equal, seed = self.equal, request.seed
            made: Users = self.context.cached(
                ("users-data", "made", equal, seed, SPHERE), lambda: synthetic_places(equal, seed)
            )
            return made
        if not value:
            generate: Any = synthetic_points if isinstance(metric, Square) else synthetic_items
            first = metric.side if isinstance(metric, Square) else self.distances
            synthetic: Users = self.context.cached(
                ("users-data", "made", self.equal, request.seed, self._space),
                lambda: generate(first, self.equal, request.seed),
            )
            return synthetic
        path = self.context.file(value)
        arguments = (
            path,
            value.partition("#")[0],
            str(request["decimal"]),
            self.labels(),
            self._box(),
        )

        def read() -> Users:
            if path.stat().st_size > _HEAVY_BYTES:
                users: Users = self.context.run_in_worker(read_users, *arguments)
                return users
            return read_users(*arguments)

        users: Users = self.context.cached(
            ("users-data", value, arguments[2], arguments[4], self._space), read
        )
        return users

    def _of_checkins(self, value: str) -> Users:
        """Return the users of a check-in file, of any format that the map reads."""

        def read() -> Users:
            checkins = self.context.checkins_of_file(value)
            if checkins.plane is not None:
                raise ValueError(f"{value.partition('#')[0]} is not on the Earth; choose a square")
            rows = checkins.points(_WHOLE_EARTH, check=self.context.check)
            return users_of_checkins(rows, value.partition("#")[0])

        users: Users = self.context.cached(("users-data", "checkins", value), read)
        return users

    @property
    def _space(self) -> tuple[tuple[str, Any], ...]:
        """Parameters of the space: part of the keys of cached values."""
        return tuple((k, v) for k, v in self.request.values if k.startswith("space"))

    def labels(self) -> tuple[str, ...]:
        """Return the labels of the items of a finite space."""
        metric = self.space.metric
        if not isinstance(metric, FiniteSpace):
            return ()
        return self.space.labels or tuple(str(i) for i in range(metric.size))

    def _box(self) -> Box | None:
        request, metric = self.request, self.space.metric
        if request["space"] == SPHERE:
            return EARTH
        if request["space"] not in FLAT:
            return None
        cells = metric.width if isinstance(metric, Grid) else 0
        return Box(
            request["left"], request["bottom"], request["space_side"], cells, bool(request["clamp"])
        )

    def locations(self) -> FloatArray | None:
        """Return the coordinates of a finite space's items in the unit of the file, or None.

        Only coordinates of the grid or the file count, not those of a computed layout.
        """
        metric = self.space.metric
        if isinstance(metric, Grid):
            middle = (np.arange(metric.width) + 0.5) * self.request["space_side"] / metric.width
            x, y = np.meshgrid(middle, middle)
            corner = (self.request["left"], self.request["bottom"])
            return np.asarray(np.column_stack([x.ravel(), y.ravel()]) + corner)
        return self.space.coordinates

    def refusal(self) -> str:
        """Return why these users cannot be released with these settings; empty if they can."""
        if self.users.empty:
            return without_items(self.users)
        if self.equal and len(set(self.users.sizes)) > 1:
            return unequal(self.users)
        return ""

    def target(self) -> PrivacyTarget:
        """Return the privacy parameters of the release and of its mechanism."""
        request = self.request
        delta = float(request["delta"])
        if request["sizes"] != DRAWN:
            return PrivacyTarget(float(request["alpha"]), delta, 0.0, None, self.users.sizes[0])
        epsilon, r, s = float(request["eps"]), float(request["r"]), int(request["s"])
        reduction = um.bounded_reduction(epsilon, delta, r, s)
        drawing = 0.0 if reduction.certain else delta
        return PrivacyTarget(min(float(reduction.alpha), MAX_ALPHA), delta, epsilon, r, s, drawing)

    def mechanism_items(self) -> tuple[Items, ...]:
        """Return the items that the mechanism receives: all, or s draws of every user."""
        if self.equal:
            return self.users.items
        return tuple(um.drawn_items(self.users.items, int(self.request["s"]), self.bits(0)))


SYNTHETIC_USERS, SYNTHETIC_ITEMS = 200, 20
_MAX_EXAMPLES = 3
_MAX_ROWS = 1_000_000
_MAX_CHECKINS = 10_000_000
Items = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Box:
    """Square in which points must lie, declared before the file is read.

    Attributes
    ----------
    left, bottom, side : float
    cells : int
        Cells per side, whose numbers replace the points; 0 keeps the points.
    clamp : bool
        Whether points outside are moved to the edge rather than rejected.
    degrees : bool
        Whether points are latitude and longitude on the whole Earth, which has no box.
    """

    left: float
    bottom: float
    side: float
    cells: int
    clamp: bool
    degrees: bool = False


EARTH = Box(0.0, 0.0, 0.0, 0, False, degrees=True)
_DEGREES = np.array([90.0, 180.0])


@dataclass(frozen=True)
class Users:
    """Users and their items.

    Attributes
    ----------
    source : str
        Name of the file; empty for synthetic users.
    names : tuple of str
        In order of first occurrence.
    items : tuple of ndarray
        Items of each user: item numbers, or points relative to the box's lower left corner.
    rejected : tuple of RejectedRow
    empty : tuple of str
        Users all of whose lines were rejected.
    """

    source: str
    names: tuple[str, ...]
    items: tuple[Items, ...]
    rejected: tuple[RejectedRow, ...] = ()
    empty: tuple[str, ...] = ()

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of items of each user."""
        return tuple(len(items) for items in self.items)

    @property
    def all_items(self) -> Items:
        """Items of all users, concatenated."""
        return np.concatenate(self.items)

    def rejection_note(self) -> str:
        """Return a sentence on the rejected lines; empty if there are none."""
        if not self.rejected:
            return ""
        shown = "; ".join(str(row) for row in self.rejected[:_MAX_EXAMPLES])
        more = len(self.rejected) - _MAX_EXAMPLES
        rest = f"; and {more:,} more" if more > 0 else ""
        return f"{self.source}: {len(self.rejected):,} lines rejected ({shown}{rest})."


def read_users(
    path: Path, name: str, decimal: str, labels: Sequence[str], box: Box | None
) -> Users:
    """Return the users of a file of user,item or user,x,y, one item a line.

    Lines that are no item of the space are rejected and counted.

    Parameters
    ----------
    path : Path
    name : str
        Name of the file in messages.
    decimal : str
        A `DecimalSign`.
    labels : sequence of str
        Names of the space's items; empty if it has points only.
    box : Box or None
        None if the space has no x and y.

    Raises
    ------
    TableFileError
        If no line is usable; the message names the file, the line, the field and a remedy.
    """
    table = read_csv(path, name, decimal, comments=True, max_rows=_MAX_ROWS + 2)
    if len(table.rows) > _MAX_ROWS:
        raise TableFileError(f"{name}: more than {_MAX_ROWS:,} lines; give fewer users")
    if not table.rows:
        raise TableFileError(f"{name}: nothing to read; give one item a line, as user,item")
    columns = len(table.rows[0])
    expected = (2 if labels else 0, 3 if box is not None else 0)
    if columns not in expected:
        form = " or ".join(["user,item"] * bool(labels) + ["user,x,y"] * (box is not None))
        raise table.error(
            table.lines[0], None, f"{columns} fields where {form} is needed; give one item a line"
        )
    place = {label: i for i, label in enumerate(labels)}
    if _is_header(table, columns, place):
        table = table.without_header()
    items_of: dict[str, list[Any]] = {}
    rejected = []
    for line, fields in zip(table.lines, table.rows, strict=True):
        own = items_of.setdefault(fields[0], [])
        item, why = _item(table, fields, columns, place, box)
        if why:
            rejected.append(RejectedRow(line, "", why))
        else:
            own.append(item)
    usable = {user: np.array(items) for user, items in items_of.items() if items}
    if not usable:
        first = f" ({rejected[0]})" if rejected else ""
        raise TableFileError(
            f"{name}: no line holds an item of the space{first}; choose the space that the items "
            "are of"
        )
    return Users(
        name,
        tuple(usable),
        tuple(usable.values()),
        tuple(rejected),
        tuple(user for user, items in items_of.items() if not items),
    )


def _is_header(table: CsvTable, columns: int, place: dict[str, int]) -> bool:
    first = table.rows[0]
    if len(table.rows) < 2:
        return False
    if columns == 3:
        return not any(table.dialect.number_like(field) for field in first[1:])
    return first[1] not in place and table.rows[1][-1] in place


def _item(
    table: CsvTable, fields: list[str], columns: int, place: dict[str, int], box: Box | None
) -> tuple[Any, str]:
    """Return the item of a line, or the reason why there is none."""
    if len(fields) != columns:
        return None, f"{len(fields)} fields, {columns} expected"
    if not fields[0]:
        return None, "no user is named"
    if columns == 2:
        item = place.get(fields[1])
        return item, "" if item is not None else f"{fields[1][:40]!r} is no item of the space"
    numbers = [table.dialect.number(text) for text in fields[1:]]
    if None in numbers or box is None:
        return None, why_no_number(table, fields[1 + numbers.index(None)])
    if box.degrees:
        at = np.array(numbers, dtype=float)
        outside = (np.abs(at) > _DEGREES).any()
        return at, "latitude outside ±90° or longitude outside ±180°" if outside else ""
    at = np.array(numbers, dtype=float) - (box.left, box.bottom)
    if box.clamp:
        at = np.clip(at, 0.0, box.side)
    elif (at < 0).any() or (at > box.side).any():
        return None, f"({fields[1]}, {fields[2]}) is outside the declared box"
    if not box.cells:
        return at, ""
    x, y = np.minimum(np.floor(at / box.side * box.cells), box.cells - 1).astype(int).tolist()
    return y * box.cells + x, ""


def synthetic_items(distances: FloatArray, equal: bool, seed: int) -> Users:
    """Return synthetic users, each with items near a random centre, from a seed."""
    rng = np.random.default_rng((abs(seed), 11))
    near = np.exp(-12.0 * distances)
    near /= near.sum(axis=1, keepdims=True)
    centres = rng.choice(len(near), SYNTHETIC_USERS, p=near[0])
    return _build_users(
        [
            rng.choice(len(near), size, p=near[centre])
            for centre, size in zip(centres, _sizes(rng, equal), strict=True)
        ]
    )


def synthetic_points(side: float, equal: bool, seed: int) -> Users:
    """Return synthetic users, each with points around a random centre, from a seed."""
    rng = np.random.default_rng((abs(seed), 12))
    centres = rng.beta(2.0, 4.0, (SYNTHETIC_USERS, 2))
    return _build_users(
        [
            np.clip(rng.normal(centre, 0.05, (size, 2)), 0.0, 1.0) * side
            for centre, size in zip(centres, _sizes(rng, equal), strict=True)
        ]
    )


def synthetic_places(equal: bool, seed: int) -> Users:
    """Return synthetic users, each with places around a random one, in degrees, from a seed."""
    users = synthetic_points(1.0, equal, seed)
    corner, size = np.array([-60.0, -180.0]), np.array([130.0, 360.0])
    return replace(users, items=tuple(corner + size * own[:, ::-1] for own in users.items))


def users_of_checkins(rows: Any, name: str) -> Users:
    """Return the users of check-ins, their items latitude and longitude in degrees.

    Parameters
    ----------
    rows : explorer.checkins.selection.SelectedRows
    name : str
        Of the file.

    Raises
    ------
    TableFileError
        If there are none, or too many rows.
    """
    if not rows.rows:
        raise TableFileError(f"{name}: no check-in to read; open a file with some")
    if rows.rows > _MAX_CHECKINS:
        raise TableFileError(
            f"{name}: {rows.rows:,} check-ins; give at most {_MAX_CHECKINS:,}, of fewer users"
        )
    at = np.column_stack([rows.lat, rows.lon])
    starts = np.flatnonzero(np.diff(rows.user)) + 1
    items = tuple(np.split(at, starts))
    return Users(name, tuple(f"user {i}" for i in range(1, len(items) + 1)), items)


def perturb(users: Users, seed: int) -> Users:
    """Return the users with a third of the items of every tenth replaced by another user's."""
    rng = np.random.default_rng((abs(seed), 13))
    items = [own.copy() for own in users.items]
    for i in range(0, len(items), 10):
        other = users.items[int(rng.integers(len(items)))]
        count = max(1, len(items[i]) // 3)
        items[i][:count] = other[rng.integers(0, len(other), count)]
    return _build_users(items)


def _sizes(rng: np.random.Generator, equal: bool) -> list[int]:
    if equal:
        return [SYNTHETIC_ITEMS] * SYNTHETIC_USERS
    return [int(size) for size in rng.integers(5, 2 * SYNTHETIC_ITEMS, SYNTHETIC_USERS)]


def _build_users(items: list[Items]) -> Users:
    return Users("", tuple(f"user {i}" for i in range(1, len(items) + 1)), tuple(items))


def unequal(users: Users) -> str:
    """Return the message for data sets of different sizes."""
    low, high = min(users.sizes), max(users.sizes)
    return (
        f"users have {low:,} to {high:,} items, and the promise is for one public number of them: "
        "choose to draw s of each (Algorithm 3)"
    )


def without_items(users: Users) -> str:
    """Return the message for users without a usable item."""
    return (
        f"{users.empty[0]} has no usable item, and a data set must not be empty: mend or remove "
        f"the lines of {len(users.empty)} such users"
    )


def data_table(users: Users) -> Table:
    """Return counts of the file, for the curator only."""
    sizes = sorted(users.sizes)
    rows: list[tuple[str | float | None, ...]] = [
        ("users", len(users.names)),
        ("items", sum(sizes)),
        ("fewest items of a user", sizes[0]),
        ("median", sizes[len(sizes) // 2]),
        ("most items of a user", sizes[-1]),
        ("lines rejected", len(users.rejected)),
        ("users without a usable item", len(users.empty)),
    ]
    return Table(
        "read",
        "What was read (curator only)",
        ("", "count"),
        tuple(rows),
        "Exact counts of the file: they are not protected by anything, and not to be handed on. "
        f"{users.rejection_note()}".strip(),
    )
