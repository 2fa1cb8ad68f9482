"""What lies in the cells of a map, added up over the shards of a data set larger than memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from explorer.checkins.chosen.points import PointSet
from explorer.geography.region import Region
from explorer.privacy.heatmaps import CellCounts, aggregate
from explorer.privacy.heatmaps.contributions import BY_CHECKINS, Contribution
from explorer.privacy.heatmaps.pyramid.counts import from_rows, sum_by_code
from explorer.privacy.heatmaps.pyramid.fixed_point import mass_bits
from explorer.privacy.heatmaps.pyramid.row_pass import CountedRows, count_rows


def count_shards(
    parts: Sequence[PointSet],
    region: Region,
    level: int,
    rule: Contribution,
    check: Callable[[], None] = lambda: None,
) -> CellCounts:
    """Return the aggregate of all shards: the same whole numbers as of one layout.

    Parameters
    ----------
    parts : sequence of PointSet
        One a shard; no user is in two.
    region : Region
    level : int
    rule : Contribution
    check : callable
        Called before every shard; may raise to stop.
    """
    if rule == BY_CHECKINS and all(points.part.layout.weight is None for points in parts):
        return from_rows(counted_rows(parts, level, check))
    pieces = []
    for part in parts:
        check()
        columns = (part.user, part.lat, part.lon, part.weight)
        pieces.append(aggregate(*columns, region.box, level, rule, region.step))
    codes = np.concatenate([piece.codes for piece in pieces])
    order = np.argsort(codes, kind="stable")
    masses = np.concatenate([piece.masses for piece in pieces])[order]
    users, rows = sum(p.users for p in pieces), sum(p.rows for p in pieces)
    return CellCounts(level, *sum_by_code(codes[order], masses), users, rows)


def counted_rows(
    parts: Sequence[PointSet], level: int, check: Callable[[], None] = lambda: None
) -> CountedRows:
    """Return what a pass over the rows of all shards finds."""
    bits = mass_bits(parts[0].users_in_file)
    cells: Any = np.zeros(4**level, np.int64)
    present = used = rows = 0
    for points in parts:
        check()
        begin, part = time.perf_counter(), points.part
        found = count_rows(part.layout.rows, part.where, level, part.most, part.among, bits)
        points.tell(found.present, found.used, found.rows, time.perf_counter() - begin)
        cells += found.cells
        present, used, rows = present + found.present, used + found.used, rows + found.rows
    return CountedRows(cells, bits, present, used, rows)
