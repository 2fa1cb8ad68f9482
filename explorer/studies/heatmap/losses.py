"""Comparison of a private map with the true one, and what users contribute; for the curator only.

Mass in wrong squares, busiest squares, whether the map is too noisy, the distribution of users'
contributions and the bias of the contribution rule. All of it is computed from the check-ins and
must not leave the curator's screen. It is computed after the map and its metrics, once the sliders
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.checkins.selection import ShardedRows
from explorer.geography.region import Region
from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import (
    CellCounts,
    LossStatistics,
    SparseMap,
    WrongSquares,
    contribution_sizes,
    level_of,
    loss_statistics,
    smoothing,
    too_noisy_threshold,
    wrong_squares,
)
from explorer.privacy.heatmaps.counts import BY_CHECKINS
from explorer.privacy.heatmaps.evaluation import block_sums, exact_distance
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.study import (
    Context,
    Fidelity,
    NoWorker,
    Request,
    Result,
    ScalarResult,
    Table,
)
from explorer.studies.heatmap import contributions
from explorer.studies.heatmap.answer import LARGEST_EXACT, answers, compared_maps
from explorer.studies.heatmap.draws import DRAWS, WithoutNoise
from explorer.studies.heatmap.guarantee import in_words_of, unit_of
from explorer.studies.heatmap.mechanisms import mechanism_of
from explorer.studies.heatmap.run import (
    Counted,
    Stopwatch,
    Task,
    counts_of,
    exact_estimate,
    exact_truth,
    points_of,
    run_mechanism,
)
from explorer.studies.heatmap.text import FAR, LOSS, in_unit


def contribution_histogram(request: Request, points: Any, context: Context) -> Table:
    """Return how many users have how many check-ins in the region, and in how many cells.

    Sizes double from row to row: 1, 2, 3 to 4, 5 to 8 and so on, up to the largest there is. All
    check-ins are counted, whatever the rule takes of them.
    """
    counted = Counted.of_request(request)
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
        note=in_words_of(
            " ".join(filter(None, (_summary(checkins, cells), _declared(request, cells)))),
            unit_of(request),
        ),
    )


def _sizes(points: Any, region: Region, level: int, context: Context) -> tuple[IntArray, IntArray]:
    """Return the check-ins and the cells of every user inside, piece by piece."""
    parts = points.parts if isinstance(points, ShardedRows) else (points,)
    none = np.zeros(0, np.int64)
    pieces = [(none, none)]
    for user, lat, lon in (piece for part in parts for piece in part.pieces()):
        pieces.append(contribution_sizes(user, lat, lon, region.box, level, region.step))
        context.check()
    checkins, cells = map(np.concatenate, zip(*pieces, strict=True))
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
    if not several or not contributions.declarations(request):
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
    counted = Counted.of_request(request)
    if counted.rule == BY_CHECKINS:
        return ()
    level, sigma = level_of(int(request["resolution"])), request["sigma"]

    def blocks(of: Counted) -> Any:
        counts = counts_of(of, points, level, context)
        truth = exact_truth(of, counts, sigma, context)
        return block_sums(truth, BLOCKS)

    interval = context.cached(
        ("heatmap bias of rule", counted, level, sigma),
        lambda: compared_maps(
            context, exact_distance, blocks(counted), blocks(Counted(counted.rows))
        ),
    )
    bias = float((interval.low + interval.high) / 2)
    bias = bias if bias > ROUNDING else 0.0
    return (
        ScalarResult(
            contributions.BIAS,
            "Bias of what users contribute",
            bias,
            Role.ESTIMATE,
            "of the side",
            curator_only=True,
            note=_rule_sentence(request, bias),
        ),
    )


def _rule_sentence(request: Request, bias: float) -> str:
    if not bias:
        return f"{contributions.rule_text(request)}: the true map is that of all check-ins."
    return (
        f"{contributions.rule_text(request)}: the true map lies {nearest(bias, 2)} of the side "
        "from the one by all check-ins. That is bias: no ε and no luck with noise takes it away, "
        "and the errors above are without it."
    )


QUICK_LEVEL = 6
"""Finest level of the sentence on maps whose exact distance is not computed: some 30 ms."""
SPOTS, SPOT_LEVEL = 10, 5
"""How many of the busiest squares are looked for, and of which level."""
BLOCKS = 64
"""Blocks on a side between whose sums maps are compared."""
LARGEST_DRAWN = 10
"""Finest level whose map is drawn 20 times: the next takes 10 s."""
VERY_NOISY = 0.5
"""From this part of a uniform map's error on a map is called very noisy."""
ROUNDING = 1e-9
TOO_NOISY = "Too noisy to use: a uniform map would be nearly as close."
TOO_SLOW = "Not judged whether it is too noisy: 20 draws would take too long."


@dataclass(frozen=True)
class _Compared:
    """A map and the truth that it is compared with, as distributions over the cells."""

    request: Request
    context: Context
    counts: CellCounts
    truth: NDArray[np.float64]
    points: Any

    @property
    def level(self) -> int:
        """ℓ."""
        return self.counts.level

    @property
    def cache_request(self) -> Request:
        """The request without the maps beside this one, used as cache key."""
        return self.request.with_value("beside", "")


def answers_with_losses(request: Request, context: Context) -> Iterator[Result]:
    """Yield a map's answers with its losses and an assessment whether it is too noisy.

    Answers to coarse requests pass as they are, and so do those without a truth. The sentence stays
    the same from the first answer on; the distance of the misplaced mass follows with the exact one
    of the maps.
    """
    losses: tuple[ScalarResult, ...] = ()
    assessment: tuple[ScalarResult, ...] = ()
    tables: tuple[Table, ...] = ()
    watch = Stopwatch()
    coarse = request.fidelity is Fidelity.COARSE
    for result in answers(request, context):
        if coarse or result.readout("similarity").value is None:
            yield result
            continue
        compared = _comparison(request, context)
        watch.resume()
        tables = tables or (contribution_histogram(request, compared.points, context),)
        result = replace(result, tables=tables)
        with suppress(NoWorker):  # the answer's own remark says why
            losses = losses or _loss_readouts(compared, result, None)
            watch.lap("loss")
            if result.complete and not assessment:
                shown = _with_readouts(result, losses, watch)
                yield replace(shown, complete=False, fidelity=Fidelity.COARSE, coming="")
                watch.resume()
                assessment = (*_noise(compared), *bias_of_rule(request, compared.points, context))
                watch.lap("draws compared")
            if result.final:
                watch.resume()
                losses = _loss_readouts(compared, result, _distance_of_misplaced(compared, result))
                watch.lap("loss")
        yield _with_readouts(result, (*losses, *assessment), watch)


def _comparison(request: Request, context: Context) -> _Compared:
    selection = request.selection
    assert selection is not None
    counted, level = Counted.of_request(request), level_of(int(request["resolution"]))
    points = points_of(selection, context)
    counts = counts_of(counted, points, level, context)
    return _Compared(
        request, context, counts, exact_truth(counted, counts, request["sigma"], context), points
    )


def _with_readouts(result: Result, readouts: tuple[ScalarResult, ...], watch: Stopwatch) -> Result:
    return replace(
        result,
        readouts=(*result.readouts, *readouts),
        timings_ms={**result.timings_ms, **watch.spent},
    )


def _finest(compared: _Compared) -> int:
    """Return the finest level that the sentence may speak of."""
    level = compared.level
    return level if 1 << level <= LARGEST_EXACT else QUICK_LEVEL


def _distance_of_misplaced(compared: _Compared, result: Result) -> float | None:
    """Return how far the mass in wrong squares is off on average; None if not known."""
    region, context = _region(compared), compared.context
    truth, private = compared.truth, result.surface("private").values
    known, finest = result.readout(in_unit(FAR, region)).value, _finest(compared)
    if known is None and finest > QUICK_LEVEL:  # as by a solver whose ends do not meet
        return None
    loss: LossStatistics = context.cached(
        ("heatmap loss", compared.cache_request, finest, known),
        lambda: compared_maps(
            context, loss_statistics, truth, private, *region.sides, finest, known
        ),
    )
    return loss.mean_km


def _region(compared: _Compared) -> Region:
    selection = compared.request.selection
    assert selection is not None
    return selection.region


def _loss_readouts(
    compared: _Compared, result: Result, distance: float | None
) -> tuple[ScalarResult, ...]:
    """Return the losses of the map, with the distance of the misplaced mass where it is known."""
    region = _region(compared)
    truth, private = compared.truth, result.surface("private").values
    found = wrong_squares(truth, private, *region.sides, _finest(compared))
    spots_kept, spots = count_busiest_kept(truth, private)
    sentence = f"{loss_sentence(found, region.unit)} {spots_sentence(spots_kept, spots)}"
    return (
        ScalarResult(
            "loss", "Mass in the wrong square", found.wrong_share, curator_only=True, note=sentence
        ),
        ScalarResult(
            in_unit(LOSS, region),
            "Average distance of the misplaced mass",
            distance,
            unit=region.unit,
            curator_only=True,
            note=misplaced_sentence(distance, region.unit) if found.wrong_share else "",
        ),
        ScalarResult(
            "spots_kept", f"Of the {spots} busiest squares", spots_kept, curator_only=True
        ),
    )


def loss_sentence(loss: WrongSquares, unit: str = "km") -> str:
    """Return the sentence of a loss, in two figures."""
    wide, high = (nearest(side, 2) for side in loss.square_km)
    cell = f"cell ({wide} × {high} {unit})"
    if not loss.wrong_share:
        return f"All of the activity is shown in the right {cell}."
    share = nearest(100 * loss.wrong_share, 2)
    return f"About {share} % of the activity is shown in the wrong {cell}."


def misplaced_sentence(distance: float | None, unit: str = "km") -> str:
    """Return how far the activity in the wrong cells is off, in two figures; empty if not known."""
    if distance is None:
        return ""
    far = f"{nearest(distance, 2)} {unit}"
    return f"Activity in the wrong cells is shown {far} from its true place on average."


def count_busiest_kept(truth: NDArray[Any], private: NDArray[Any]) -> tuple[int, int]:
    """Return how many of the busiest squares of the truth are busiest on the private map, too.

    Of 32 × 32 squares the ten with most mass, or as many as have any. Of squares that tie for the
    last places none is among the busiest.
    """
    blocks = 1 << SPOT_LEVEL
    true, other = (block_sums(grid, blocks).ravel() for grid in (truth, private))
    spots = min(SPOTS, int(np.count_nonzero(true)), len(true) - 1)
    busiest = np.argsort(-true, kind="stable")[:spots]
    next_one = np.sort(other)[-spots - 1]
    return int(np.count_nonzero(other[busiest] > next_one)), spots


def spots_sentence(kept: int, spots: int) -> str:
    """Return how many of the busiest squares stay the busiest."""
    side = 1 << SPOT_LEVEL
    verb = "is" if kept == 1 else "are"
    where = f"({side} × {side} grid)"
    return f"{kept} of the {spots} busiest areas {where} {verb} still in the top {spots}."


def _noise(compared: _Compared) -> tuple[ScalarResult, ...]:
    """Return how far draws are from the truth beside a uniform map, and what that means."""
    request = compared.request
    slow = "backend" in mechanism_of(request).uses and request["backend"] != "tree"
    if slow or compared.level > LARGEST_DRAWN:
        return (_draws_failed(None, TOO_SLOW),)
    even, mean, *distances = compared.context.cached(
        ("heatmap draws", compared.cache_request), lambda: _distances(compared)
    )
    bias = ScalarResult(
        "bias",
        "Error of the mean of draws",
        mean,
        Role.ESTIMATE,
        "of the side",
        curator_only=True,
        note=_bias_sentence(mean, float(np.mean(distances))),
    )
    return (*_verdict(even, distances), bias)


def _bias_sentence(mean: float, each: float) -> str:
    """Return how much of the error is no noise: by convexity the mean map's is never larger."""
    if not each > 0:
        return ""
    return (
        f"The mean map of {DRAWS} draws is {nearest(mean, 2)} of the side off, one draw "
        f"{nearest(each, 2)} on average: about {nearest(100 * mean / each, 2)} % of the error or "
        "less is bias (cells left whole, counts cut off at 0), which no luck with noise takes away."
    )


def _verdict(even: float, distances: Sequence[float]) -> tuple[ScalarResult, ...]:
    """Return what distances of a uniform map and of draws from the truth say."""
    # A map without any mass left is the uniform one but for the solver's rounding.
    failed = sum(distance >= even * (1 - ROUNDING) for distance in distances)
    ratio = float(np.mean(distances)) / even if even > 0 else np.inf
    least, chance = too_noisy_threshold(len(distances))
    how = (
        f"{failed} of {len(distances)} draws of the noise are no closer to the true map than a "
        f"uniform one; from {least} on a map is called too noisy to use. Were that so of at most "
        f"one draw in ten, it would still be said with a chance of at most {at_most(chance, 2)}."
    )
    if failed >= least:
        return _assessment_readouts(ratio, failed, TOO_NOISY, how)
    share = f"{nearest(100 * ratio, 2)} % of a uniform map's error"
    very = f"Very noisy: {share}, on average over draws." if ratio >= VERY_NOISY else ""
    return _assessment_readouts(ratio, failed, very, how)


def _assessment_readouts(
    ratio: float, failed: int, verdict: str, how: str
) -> tuple[ScalarResult, ...]:
    level = ScalarResult(
        "noise_level",
        "Error relative to a uniform map's",
        ratio,
        Role.ESTIMATE,
        curator_only=True,
        note=verdict,
    )
    return (level, _draws_failed(failed, how))


def _draws_failed(failed: int | None, how: str) -> ScalarResult:
    label = "Draws no closer than a uniform map"
    return ScalarResult("draws_failed", label, failed, curator_only=True, note=how)


def _distances(compared: _Compared) -> tuple[float, ...]:
    """Return distances from the truth: of a uniform map, of the mean of draws, of the draws.

    The draws are those of the request's seed and the ones that follow it.
    """
    request, context = compared.request, compared.context
    truth = block_sums(compared.truth, BLOCKS)

    def distance(sums: NDArray[Any]) -> float:
        interval = compared_maps(context, exact_distance, sums, truth)
        context.check()
        return float((interval.low + interval.high) / 2)

    # Drawn like every map: the filter keeps mass inside, and so bends a uniform map at its edges.
    even = smoothing(1 << compared.level, request["sigma"]).exact(SparseMap.uniform(compared.level))
    distances, mean = [], np.zeros_like(truth)
    forgetful = WithoutNoise(context)
    for number in range(DRAWS):
        drawn_request = replace(request, seed=request.seed + number)
        task = Task(drawn_request, compared.points, compared.counts, forgetful, Stopwatch())
        estimate = run_mechanism(task)
        sums = block_sums(exact_estimate(estimate, request["sigma"], compared.level), BLOCKS)
        mean += sums / DRAWS
        distances.append(distance(sums))
    return (distance(block_sums(even, BLOCKS)), distance(mean), *distances)
