"""Dry run of a release on synthetic users: no file is read and no budget is spent.

The synthetic users are also the input of audits (`explorer.release.attack`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.evaluation import BLOCKS, exact_distance
from explorer.privacy.heatmaps.gaussian_filter import smoothing
from explorer.privacy.heatmaps.quadtree import decode
from explorer.privacy.releases.means import exact_decimal
from explorer.release.mechanisms.base import Output, Reads, Shown, UserRecords
from explorer.release.mechanisms.contributions import heatmap_counts
from explorer.release.mechanisms.fields import Area
from explorer.release.mechanisms.histogram import HistogramParameters
from explorer.release.mechanisms.mean import MeanParameters
from explorer.release.outputs import SIGMA
from explorer.release.plan import Plan
from explorer.user_rows import GridBox

STAMP = "rehearsal on synthetic people: nothing was read, spent or released"
MAX_USERS = 1_000_000
TOWN_COUNT = 5
"""Centres of the synthetic rows."""
ROWS_EACH = 20
"""Mean number of rows of a synthetic user."""
_WHOLE_EARTH = GridBox(-90 * 10**7, -180 * 10**7, 90 * 10**7, 180 * 10**7)
_YEAR = 365 * 86_400


def dry_run(plan: Plan, users: int, seed: int = 0) -> Output:
    """Draw the output of a plan on synthetic users.

    Parameters
    ----------
    plan : Plan
    users : int
        Declared, never counted from data: 1 to `MAX_USERS`.
    seed : int
        Of the synthetic users; the noise is fresh each time.

    Raises
    ------
    ValueError
        If `users` is out of range.
    """
    if not 1 <= users <= MAX_USERS:
        raise ValueError(f"users: {users} is not between 1 and {MAX_USERS:,}; give another number")
    records = synthetic_records(plan.own_parameters, plan.reads, users, np.random.default_rng(seed))
    return plan.mechanism.draw(records, plan.own_parameters, plan.epsilon, os.urandom)


_UNITS = 10_000
"""Parts into which the map without noise divides a user."""
FORECAST_RUNS = 20
"""Number of rehearsals of a forecast."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Results of rehearsals on the same synthetic users, each with fresh noise.

    Attributes
    ----------
    shown : tuple of Shown
        Maps or tables of the first rehearsals.
    truth : ndarray of float64, shape (side, side), or None
        Map of the synthetic users without noise, of mass 1, row 0 south; None if no map is
        released.
    errors_km : tuple of float
        Earth mover's distance between the filtered maps with and without noise in km, one a
        rehearsal; empty if no map is released.
    uniform_km : float or None
        The same distance for a map that is equal everywhere.
    """

    shown: tuple[Shown, ...]
    truth: FloatArray | None = None
    errors_km: tuple[float, ...] = ()
    uniform_km: float | None = None


def forecast(
    plan: Plan,
    users: int,
    runs: int = FORECAST_RUNS,
    check: Callable[[], None] = lambda: None,
    pictures: int = 3,
) -> Forecast:
    """Rehearse a plan several times on the same synthetic users.

    Parameters
    ----------
    plan : Plan
    users : int
        1 to `MAX_USERS`.
    runs : int
        ≥ 1.
    check : callable
        Called between rehearsals; raises to cancel.
    pictures : int
        Maps or tables that are kept.
    """
    own = plan.own_parameters
    records = synthetic_records(own, plan.reads, users, np.random.default_rng(0))
    shown: list[Shown] = []
    measured: list[float] = []
    truth: FloatArray | None = None
    uniform = None
    for run in range(runs):
        check()
        output = plan.mechanism.draw(records, own, plan.epsilon, os.urandom)
        result = plan.mechanism.shown(output.stored, own, plan.epsilon)
        if run < pictures:
            shown.append(result)
        grid, area = result.grid, own.area
        if grid is None or not area.box or not _is_square_power(grid):
            if len(shown) == pictures:
                break
            continue
        side = len(grid)
        blurred, sides = smoothing(side, SIGMA), _sides_km(area)
        if truth is None:
            counts = heatmap_counts(records, area, side.bit_length() - 1, _UNITS)
            rows, columns = decode(counts.codes)
            truth = np.zeros((side, side))
            truth[rows, columns] = counts.masses / counts.masses.sum()
            expected = blurred.block_sums(truth, BLOCKS)
            even = np.full_like(expected, 1 / expected.size)
            uniform = exact_distance(even, expected, *sides).low
        distance = exact_distance(blurred.block_sums(grid, BLOCKS), expected, *sides)
        measured.append(float(distance.low + distance.high) / 2)
    return Forecast(tuple(shown), truth, tuple(measured), uniform)


def _is_square_power(grid: FloatArray) -> bool:
    rows, columns = grid.shape
    return bool(rows == columns and rows > 1 and rows & (rows - 1) == 0)


def _sides_km(area: Area) -> tuple[float, float]:
    """Return width and height of a box in km, the width at mid latitude."""
    south, west, north, east = (float(exact_decimal("box", side)) for side in area.box)
    region = Region(south, west, north, east)
    return region.width_km, region.height_km


def synthetic_records(
    checked: Any, reads: Reads, users: int, rng: np.random.Generator, rows_each: int = ROWS_EACH
) -> UserRecords:
    """Return synthetic users within a mechanism's box, time range and columns.

    Parameters
    ----------
    checked : object
        Parameters of the mechanism, with an ``area``.
    reads : Reads
        Columns that the mechanism needs.
    users : int
        ≥ 1.
    rng : numpy.random.Generator
    rows_each : int
        Mean number of rows of a user, ≥ 1.
    """
    each = 1 + rng.poisson(rows_each - 1, users)
    starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    rows = int(starts[-1])
    area: Area = checked.area
    there = np.ones(rows, bool)
    lat = lon = time = None
    if reads.places:
        lat, lon = _places(area.edges or _WHOLE_EARTH, each, rng)
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


def neighbour(records: UserRecords, user: int) -> UserRecords:
    """Return the records without one user."""
    first, last = int(records.starts[user]), int(records.starts[user + 1])
    mask = np.ones(records.rows, bool)
    mask[first:last] = False
    starts = np.delete(records.starts, user + 1)
    starts[user + 1 :] -= last - first

    def of(values: NDArray[Any] | None) -> NDArray[Any] | None:
        return None if values is None else values[mask]

    texts = {
        name: [text for text, there in zip(column, mask.tolist(), strict=True) if there]
        for name, column in records.texts.items()
    }
    return UserRecords(
        starts,
        of(records.lat),
        of(records.lon),
        of(records.placed),
        of(records.time),
        of(records.timed),
        texts,
    )


def with_identical_rows(records: UserRecords, user: int, checked: Any) -> UserRecords:
    """Return the records with all rows of one user made equal, which maximises its influence.

    For means the values become the upper bounds.
    """
    first, last = int(records.starts[user]), int(records.starts[user + 1])
    highest = (
        dict(zip(checked.columns, checked.high, strict=True))
        if isinstance(checked, MeanParameters)
        else {}
    )

    def alike(values: NDArray[Any] | None) -> NDArray[Any] | None:
        if values is None:
            return None
        result = values.copy()
        result[first:last] = result[first]
        return result

    texts = {
        name: [
            highest.get(name, column[first]) if first <= k < last else text
            for k, text in enumerate(column)
        ]
        for name, column in records.texts.items()
    }
    return UserRecords(
        records.starts,
        alike(records.lat),
        alike(records.lon),
        records.placed,
        alike(records.time),
        records.timed,
        texts,
    )


def _places(
    edges: GridBox, each: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return coordinates of rows around two towns per user, inside a box."""
    users, rows = len(each), int(each.sum())
    towns = rng.uniform(0.15, 0.85, (TOWN_COUNT, 2))
    of_user = rng.integers(0, TOWN_COUNT, (users, 2))
    assigned = np.repeat(of_user, each, axis=0)[np.arange(rows), rng.integers(0, 2, rows)]
    at = np.clip(towns[assigned] + rng.normal(0, 0.05, (rows, 2)), 0, 1)
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
    """Return texts of a column: values of the bins, or numbers between the bounds."""
    if isinstance(checked, HistogramParameters) and checked.values:
        return [checked.values[k] for k in rng.integers(0, len(checked.values), rows)]
    if isinstance(checked, MeanParameters):
        low, high = checked.bounds()[checked.columns.index(name)]
    else:
        assert isinstance(checked, HistogramParameters)
        low, high = checked.sides()[0], checked.sides()[-1]
    # Thousandths of the range, as decimals.
    return [
        _decimal(low + (high - low) * k / 1000)
        for k in np.clip(rng.normal(500, 150, rows), 0, 1000).astype(int).tolist()
    ]


def _decimal(value: Any) -> str:
    return f"{float(value):.12f}"
