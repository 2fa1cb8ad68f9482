"""What lies in the cells of a map, added up over the shards of a data set larger than memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.layout import ARRAYS, Layout
from explorer.checkins.memory import allow_files
from explorer.checkins.selection import SelectedRows, ShardedRows
from explorer.geography.region import Region
from explorer.privacy.heatmaps import CellCounts, aggregate
from explorer.privacy.heatmaps.contributions import BY_CHECKINS, Contribution
from explorer.privacy.heatmaps.counts import from_rows, sum_by_code
from explorer.privacy.heatmaps.row_pass import CountedRows, compile_pass, count_rows, mass_bits
from explorer.studies.base.study import Context

ELSEWHERE_S = 0.5
"""What is counted here in less is not sent to a cluster."""

TASKS_A_WORKER = 4

_OPEN = 512
"""Shards that a worker keeps open."""


def count_shards(
    points: ShardedRows,
    region: Region,
    level: int,
    rule: Contribution,
    context: Context,
) -> CellCounts:
    """Return the aggregate of all shards: the same whole numbers as of one layout.

    Parameters
    ----------
    points : ShardedRows
        No user is in two of its parts.
    region : Region
    level : int
    rule : Contribution
    context : Context
        Asked before every shard whether to go on, and for a cluster where there is much to count.
    """
    parts = points.parts
    if rule == BY_CHECKINS and all(part.selection.layout.weight is None for part in parts):
        there = _counted_elsewhere(points, level, context)
        return from_rows(there or counted_rows(parts, level, context.check))
    pieces = []
    for part in parts:
        context.check()
        columns = (part.user, part.lat, part.lon, part.weight)
        pieces.append(aggregate(*columns, region.box, level, rule, region.step))
    codes = np.concatenate([piece.codes for piece in pieces])
    order = np.argsort(codes, kind="stable")
    masses = np.concatenate([piece.masses for piece in pieces])[order]
    users, rows = sum(p.users for p in pieces), sum(p.rows for p in pieces)
    return CellCounts(level, *sum_by_code(codes[order], masses), users, rows)


def counted_rows(
    parts: Sequence[SelectedRows], level: int, check: Callable[[], None] = lambda: None
) -> CountedRows:
    """Return what a pass over the rows of all shards finds."""
    bits = mass_bits(parts[0].users_in_file)
    cells: Any = np.zeros(4**level, np.int64)
    present = used = rows = 0
    for points in parts:
        check()
        begin, part = time.perf_counter(), points.selection
        found = count_rows(part.layout.rows, part.where, level, part.most, part.among, bits)
        points.record_counts(found.present, found.used, found.rows, time.perf_counter() - begin)
        cells += found.cells
        present, used, rows = present + found.present, used + found.used, rows + found.rows
    return CountedRows(cells, bits, present, used, rows)


def _counted_elsewhere(points: ShardedRows, level: int, context: Context) -> CountedRows | None:
    """Return what a cluster finds; None if it is not worth it, or there is none for it."""
    places, bits = points.places, mass_bits(points.users_in_file)
    if not places or points.seconds < ELSEWHERE_S:
        return None
    shared = {"where": points.parts[0].selection.where, "level": level, "bits": bits}

    def tasks(workers: int) -> list[dict[str, Any]]:
        count = min(len(places), TASKS_A_WORKER * workers)
        bounds = [len(places) * i // count for i in range(count + 1)]
        return [
            {**shared, "first": first, "places": [str(place) for place in places[first:last]]}
            for first, last in pairwise(bounds)
        ]

    pieces = context.map_on_cluster(count_piece, tasks, places)
    if pieces is None:
        return None
    cells: Any = np.zeros(4**level, np.int64)
    for _, (first, numbers, found) in pieces:
        cells += found
        for part, said in zip(points.parts[first:], numbers, strict=False):
            part.record_counts(*said)
    totals = points.users_in_region, points.users_used, points.rows
    return CountedRows(cells, bits, *totals)


def count_piece(task: dict[str, Any]) -> tuple[int, list[tuple[int, int, int]], Any]:
    """Return the number of the first of some shards, what is in each, and their cells (a task)."""
    with suppress(ImportError):  # without numba it counts in numpy
        compile_pass()
    cells: Any = np.zeros(4 ** task["level"], np.int64)
    numbers = []
    for place in task["places"]:
        rows = _opened(Path(place)).rows
        found = count_rows(rows, task["where"], task["level"], bits=task["bits"])
        cells += found.cells
        numbers.append((found.present, found.used, found.rows))
    return task["first"], numbers, cells


@lru_cache(maxsize=_OPEN)
def _opened(place: Path) -> Layout:
    """Return a shard, whose sums are checked once; it lies in a folder that is never written to."""
    allow_files(_OPEN * len(ARRAYS))
    return Layout.open(place)
