"""Distribution of users' contributions, and the effect of the contribution rule on the true map.

All of it is computed from the check-ins: for the curator only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.checkins.selection import ShardedRows
from explorer.geography.region import Region
from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import contribution_sizes, level_of
from explorer.privacy.heatmaps.counts import BY_CHECKINS
from explorer.privacy.heatmaps.evaluation import block_sums, exact_distance
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Request, ScalarResult, Table
from explorer.studies.heatmap import contributions
from explorer.studies.heatmap.guarantee import unit_of, worded_for
from explorer.studies.heatmap.run import Counted, counts_of, exact_truth

ROUNDING = 1e-9
BLOCKS = 64
"""Blocks on a side between whose sums true maps are compared."""


def histogram(request: Request, points: Any, context: Context) -> Table:
    """Return how many users have how many check-ins in the region, and in how many cells.

    Sizes double from row to row: 1, 2, 3 to 4, 5 to 8 and so on, up to the largest there is. All
    check-ins are counted, whatever the rule takes of them.
    """
    counted = Counted.asked(request)
    level, region = level_of(int(request["resolution"])), counted.rows.region
    checkins, cells = context.cached(
        ("heatmap contributions", counted.rows, level),
        lambda: _sizes(points, region, level, context),
    )
    columns = [doubling(sizes) for sizes in (checkins, cells)]
    rows = max(map(len, columns))
    by_size = [np.pad(column, (0, rows - len(column))).tolist() for column in columns]
    return Table(
        contributions.HISTOGRAM,
        "What users contribute",
        ("from", "to", "users with so many check-ins", "users with check-ins in so many cells"),
        tuple(
            (float(2**i // 2 + 1), float(2**i), float(of_checkins), float(of_cells))
            for i, (of_checkins, of_cells) in enumerate(zip(*by_size, strict=True))
        ),
        note=worded_for(
            " ".join(filter(None, (_summary(checkins, cells), _declared(request, cells)))),
            unit_of(request),
        ),
    )


def _sizes(points: Any, region: Region, level: int, context: Context) -> tuple[IntArray, IntArray]:
    """Return the check-ins and the cells of every user inside, piece by piece."""
    parts = points.parts if isinstance(points, ShardedRows) else (points,)
    none = np.zeros(0, np.int64)
    found = [(none, none)]
    for user, lat, lon in (piece for part in parts for piece in part.pieces()):
        found.append(contribution_sizes(user, lat, lon, region.box, level, region.step))
        context.check()
    checkins, cells = map(np.concatenate, zip(*found, strict=True))
    return checkins, cells


def doubling(sizes: IntArray) -> IntArray:
    """Return how many sizes, whole numbers from 1, are 1, 2, up to 4, up to 8 and so on."""
    # Of a whole number in binary the exponent is its length; a power of two ends its row.
    return np.bincount(np.frexp(sizes - 1)[1]).astype(np.int64)


def _summary(checkins: IntArray, cells: IntArray) -> str:
    (half, most, all_), (half_cells, most_cells, all_cells) = (
        np.quantile(sizes, (0.5, 0.9, 1.0), method="inverted_cdf") for sizes in (checkins, cells)
    )
    if len(checkins) == 1:
        return f"Check-ins here: {all_:,} of one user; cells: {all_cells:,}."
    return (
        f"Check-ins here: at most {half:,} for half of the {len(checkins):,} users, {most:,} for "
        f"nine in ten, {all_:,} for all; cells: {half_cells:,}, {most_cells:,} and {all_cells:,}."
    )


def _declared(request: Request, cells: IntArray) -> str:
    """Return how true it is that every user is in one cell, where that was declared."""
    several = int(np.count_nonzero(cells > 1))
    if not several or not contributions.declared(request):
        return ""
    return (
        f"Every user was declared to be in one cell, but {several:,} of them are in several: take "
        "one cell of each by the weights, or withdraw the declaration."
    )


def bias_of_rule(request: Request, points: Any, context: Context) -> tuple[ScalarResult, ...]:
    """Return how far the true map is from the one by check-ins; nothing if it is that one.

    It is the exact earth mover's distance of the two maps' 64 × 64 block sums: the part of the
    error that is the rule's, and not the noise's nor the mechanism's.
    """
    counted = Counted.asked(request)
    if counted.rule == BY_CHECKINS:
        return ()
    level, sigma = level_of(int(request["resolution"])), request["sigma"]

    def blocks(of: Counted) -> Any:
        counts = counts_of(of, points, level, context)
        truth = exact_truth(of, counts, sigma, context)
        return block_sums(truth, BLOCKS)

    found = context.cached(
        ("heatmap bias of rule", counted, level, sigma),
        lambda: context.run_in_worker(
            exact_distance, blocks(counted), blocks(Counted(counted.rows))
        ),
    )
    bias = float((found.low + found.high) / 2)
    bias = bias if bias > ROUNDING else 0.0
    return (
        ScalarResult(
            contributions.BIAS,
            "Bias of what users contribute",
            bias,
            Role.ESTIMATE,
            "of the side",
            curator_only=True,
            note=_bias_sentence(request, bias),
        ),
    )


def _bias_sentence(request: Request, bias: float) -> str:
    if not bias:
        return f"{contributions.said(request)}: the true map is that of all check-ins."
    return (
        f"{contributions.said(request)}: the true map lies {nearest(bias, 2)} of the side from the "
        "one by all check-ins. That is bias: no ε and no luck with noise takes it away, and the "
        "errors above are without it."
    )
