"""Made-up people for previews and audits: of a declared number, and of nothing in any file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.release.mechanisms.area import Area
from explorer.release.mechanisms.base import Reads
from explorer.release.mechanisms.histogram import Bins
from explorer.release.mechanisms.mean import Columns
from explorer.release.user_records import UserRecords
from explorer.user_rows import Edges

TOWNS = 5
"""Places that made-up people gather around."""
ROWS_EACH = 20
"""Rows of a made-up user, on average."""
_EVERYWHERE = Edges(-90 * 10**7, -180 * 10**7, 90 * 10**7, 180 * 10**7)
_YEAR = 365 * 86_400


def synthetic_people(
    checked: Any, reads: Reads, users: int, rng: np.random.Generator, rows_each: int = ROWS_EACH
) -> UserRecords:
    """Return made-up people in a mechanism's box, time range and columns.

    Parameters
    ----------
    checked : object
        Its parameters, with an ``area``.
    reads : Reads
        What it asks for.
    users : int
        ≥ 1.
    rng : numpy.random.Generator
    rows_each : int
        Rows of a user on average, ≥ 1.
    """
    each = 1 + rng.poisson(rows_each - 1, users)
    starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    rows = int(starts[-1])
    area: Area = checked.area
    there = np.ones(rows, bool)
    lat = lon = time = None
    if reads.places:
        lat, lon = _places(area.edges or _EVERYWHERE, each, rng)
    if reads.times:
        start, end = _times(area)
        time = rng.integers(start, end, rows)
    texts = {name: _texts(checked, name, rows, rng) for name in reads.texts}
    return UserRecords(
        starts,
        lat,
        lon,
        there if reads.places else None,
        time,
        there if reads.times else None,
        texts,
    )


def neighbour(people: UserRecords, user: int) -> UserRecords:
    """Return the same people without one user."""
    first, last = int(people.starts[user]), int(people.starts[user + 1])
    kept = np.ones(people.rows, bool)
    kept[first:last] = False
    starts = np.delete(people.starts, user + 1)
    starts[user + 1 :] -= last - first

    def of(values: NDArray[Any] | None) -> NDArray[Any] | None:
        return None if values is None else values[kept]

    texts = {
        name: [text for text, there in zip(column, kept.tolist(), strict=True) if there]
        for name, column in people.texts.items()
    }
    return UserRecords(
        starts,
        of(people.lat),
        of(people.lon),
        of(people.placed),
        of(people.time),
        of(people.timed),
        texts,
    )


def gathered(people: UserRecords, user: int, checked: Any) -> UserRecords:
    """Return the same people, one user's rows all being alike: as much in one place as can be.

    Of means the values are the upper bounds, where a user moves them most.
    """
    first, last = int(people.starts[user]), int(people.starts[user + 1])
    highest = (
        dict(zip(checked.columns, checked.high, strict=True))
        if isinstance(checked, Columns)
        else {}
    )

    def alike(values: NDArray[Any] | None) -> NDArray[Any] | None:
        if values is None:
            return None
        found = values.copy()
        found[first:last] = found[first]
        return found

    texts = {
        name: [
            highest.get(name, column[first]) if first <= k < last else text
            for k, text in enumerate(column)
        ]
        for name, column in people.texts.items()
    }
    return UserRecords(
        people.starts,
        alike(people.lat),
        alike(people.lon),
        people.placed,
        alike(people.time),
        people.timed,
        texts,
    )


def _places(
    edges: Edges, each: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows around towns, two of them a user's, inside a box."""
    users, rows = len(each), int(each.sum())
    towns = rng.uniform(0.15, 0.85, (TOWNS, 2))
    of_user = rng.integers(0, TOWNS, (users, 2))
    chosen = np.repeat(of_user, each, axis=0)[np.arange(rows), rng.integers(0, 2, rows)]
    at = np.clip(towns[chosen] + rng.normal(0, 0.05, (rows, 2)), 0, 1)
    low = np.array([edges.south, edges.west])
    span = np.array([edges.north - edges.south, edges.east - edges.west])
    y, x = (low + np.rint(at * span).astype(np.int64)).T
    return y, x


def _times(area: Area) -> tuple[int, int]:
    if area.start is not None:
        return area.start, area.end if area.end is not None else area.start + _YEAR
    assert area.end is not None
    return area.end - _YEAR, area.end


def _texts(checked: Any, name: str, rows: int, rng: np.random.Generator) -> list[str | None]:
    """Return texts of a column: of the bins that are known, or between the bounds."""
    if isinstance(checked, Bins) and checked.values:
        return [checked.values[k] for k in rng.integers(0, len(checked.values), rows)]
    if isinstance(checked, Columns):
        low, high = checked.bounds()[checked.columns.index(name)]
    else:
        assert isinstance(checked, Bins)
        low, high = checked.sides()[0], checked.sides()[-1]
    # Thousandths of the way, written with all their digits.
    return [
        _decimal(low + (high - low) * k / 1000)
        for k in np.clip(rng.normal(500, 150, rows), 0, 1000).astype(int).tolist()
    ]


def _decimal(value: Any) -> str:
    return f"{float(value):.12f}"
