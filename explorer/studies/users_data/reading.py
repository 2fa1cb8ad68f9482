"""Reads users' items from a CSV file and counts every rejected line; makes synthetic users."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.csv_table import (
    CsvTable,
    RejectedRow,
    TableFileError,
    read_csv,
    why_no_number,
)

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

    @property
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
