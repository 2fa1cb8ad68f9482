"""What a heatmap of check-ins looks like under differential privacy, and what it loses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.bounds import Reference
from explorer.privacy.heatmaps import compare, level_of
from explorer.privacy.heatmaps.distance import (
    Interval,
    block_interval,
    exact_distance,
    quick_intervals,
)
from explorer.studies import heatmap_statements as said
from explorer.studies.heatmap_mechanisms import (
    Estimate,
    Stopwatch,
    draw,
    exact_estimate,
    exact_truth,
    run_mechanism,
    true_map,
)
from explorer.studies.model import (
    Context,
    Fidelity,
    Kind,
    Parameter,
    Quantity,
    Readout,
    Request,
    Result,
    Scale,
    Surface,
)

LARGEST_EXACT = 256
"""Largest Δ whose exact earth mover's distance is asked for, as 512² takes a minute; beyond, the
interval from as many blocks stands."""
BLOCKS = 64
"""Blocks on a side in the sharper interval."""

PYRAMID = (("mechanism", ("pyramid",)),)
PARAMETERS = (
    Parameter(
        "epsilon", "ε", "privacy of the map",
        "How much the map may say about any one user, for all their check-ins together. "
        "Smaller is more private and noisier.",
        Kind.REAL, 1.0, 0.01, 20.0, Scale.LOG, more_private="low", latex=r"\varepsilon",
    ),
    Parameter(
        "mechanism", "M", "mechanism",
        "How noise is added: the paper's pyramid of ever finer cells, Laplace noise on every "
        "cell, or the largest cells of the latter.",
        Kind.CHOICE, "pyramid",
        choices=(
            ("pyramid", "Pyramid (Ghazi et al.)"),
            ("laplace", "Laplace baseline"),
            ("top", "Top t % baseline"),
        ),
    ),
    Parameter(
        "w", "w", "cells kept on a level",
        "Pyramid only: how many cells are refined on every level. The start level is the finest "
        "with at most w cells. Costs no privacy, but must be chosen without looking at the data.",
        Kind.INTEGER, 20, 1, 1024, Scale.LOG, unit="cells", relevant_when=PYRAMID,
    ),
    Parameter(
        "resolution", "Δ", "resolution", "Cells on a side of the map.",
        Kind.CHOICE, "256", latex=r"\Delta",
        choices=tuple((str(1 << i), f"{1 << i} × {1 << i}") for i in range(4, 12)),
    ),
    Parameter(
        "sigma", "σ", "blur",
        "Standard deviation of the Gaussian that draws the heatmap, as a fraction of the map's "
        "side. Costs no privacy.",
        Kind.REAL, 0.02, 0.0, 0.2, Scale.LINEAR, unit="of the side", latex=r"\sigma",
    ),
    Parameter(
        "top_percent", "t", "share of cells kept",
        "Top t % only: which share of the noisy cells stays, rounded up to at least one cell.",
        Kind.REAL, 0.01, 0.0001, 100.0, Scale.LOG, unit="%",
        relevant_when=(("mechanism", ("top",)),),
    ),
    Parameter(
        "backend", "", "solver",
        "Pyramid only: the exact tree solver, or cvxpy with HiGHS as a reference (slower; the "
        "same objective but another of its many minimisers, usually a worse map).",
        Kind.CHOICE, "tree",
        choices=(("tree", "Tree (exact, fast)"), ("cvxpy", "cvxpy (reference)")),
        relevant_when=PYRAMID,
    ),
    Parameter(
        "variant", "", "budget schedule",
        "Pyramid only: how ε is split over the levels, as in the paper's experiments or as in "
        "its theorem.",
        Kind.CHOICE, "experiments",
        choices=(("experiments", "As in the experiments"), ("theory", "As in Theorem 3.1")),
        relevant_when=PYRAMID,
    ),
)  # fmt: skip


class HeatmapStudy:
    """True and private heatmap of the loaded check-ins, side by side."""

    id: ClassVar[str] = "heatmap"
    name: ClassVar[str] = "Heatmaps"
    question: ClassVar[str] = "What does a private heatmap of these check-ins look like?"
    workspace: ClassVar[str] = "map"
    references: ClassVar[tuple[Reference, ...]] = said.REFERENCES
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    quantities: ClassVar[tuple[Quantity, ...]] = ()
    needs_data: ClassVar[bool] = True

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the picture, then its metrics, then a sharper and at last the exact distance.

        A coarse request ends with the metrics and the quick interval of the distance.

        Raises
        ------
        ValueError
            If no check-ins are selected.
        LookupError
            If the selected check-ins are not open.
        """
        selection = request.selection
        if selection is None:
            raise ValueError("heatmap: there are no check-ins; open a file first")
        watch = Stopwatch()
        data = context.checkins(selection)
        points = context.memo(
            ("heatmap points", selection),
            lambda: data.points(
                selection.region.box,
                selection.start,
                selection.end,
                selection.users,
                selection.data_seed,
            ),
        )
        watch.lap("points")
        level = level_of(int(request["resolution"]))
        truth = true_map(selection, points, level, request["sigma"], context, watch)
        context.check()
        estimate = run_mechanism(request, truth.counts, context, watch)
        picture = draw(estimate, request["sigma"], truth.counts.level, watch)
        synthetic = bool(data.synthetic)
        first = Result(
            request,
            Fidelity.COARSE,
            surfaces=(
                Surface("true", "True heatmap", truth.picture, selection.region, True,
                        said.stamp(synthetic, curator_only=True)),
                Surface("private", said.pane_label(request), picture, selection.region, False,
                        said.stamp(synthetic, curator_only=False)),
            ),
            conditions=said.conditions(request),
            guarantee=said.guarantee(request),
            notes=(*said.notes(request, points, selection.users), *estimate.notes),
            stamp=said.stamp(synthetic, curator_only=False),
        )  # fmt: skip
        plain = _plain_readouts(estimate, points)
        if not truth.counts.users:
            metrics = _metric_readouts(None, None, None, said.NO_TRUTH)
            yield _with(first, plain, metrics, watch, request.fidelity, complete=True)
            return
        yield _with(first, plain, _metric_readouts(), watch, Fidelity.COARSE, complete=False)

        watch.resume()
        context.check()
        q = exact_truth(selection, truth.counts, request["sigma"], context)
        p = exact_estimate(estimate, request["sigma"], level)
        context.check()
        agreement = compare(q, p)
        context.check()
        width, height = selection.region.width_km, selection.region.height_km
        unit, km = quick_intervals(p, q, width, height)
        watch.lap("metrics")
        coarse = request.fidelity is Fidelity.COARSE
        yield _with(
            first, plain, _metric_readouts(agreement, unit, km), watch, Fidelity.COARSE, coarse
        )
        if coarse:
            return

        for name, function, arguments, last in _refinements(1 << level):
            watch.resume()
            note = "" if function is exact_distance or not last else said.INTERVAL_ONLY
            unit &= context.heavy(function, p, q, *arguments)
            watch.lap(name)
            metrics = _metric_readouts(agreement, unit, km)
            yield _with(first, plain, metrics, watch, Fidelity.COARSE, complete=False)
            watch.resume()
            km &= context.heavy(function, p, q, *arguments, width, height)
            watch.lap(f"{name} km")
            metrics = _metric_readouts(agreement, unit, km, note)
            fidelity = Fidelity.FULL if last else Fidelity.COARSE
            yield _with(first, plain, metrics, watch, fidelity, complete=last)


def _refinements(side: int) -> list[tuple[str, Callable[..., Interval], tuple[int, ...], bool]]:
    """Return how the distance is narrowed: name of the step, function, arguments, whether last."""
    steps: list[tuple[str, Callable[..., Interval], tuple[int, ...]]] = []
    if side > BLOCKS:
        steps.append(("emd blocks", block_interval, (BLOCKS,)))
    if side <= LARGEST_EXACT:
        steps.append(("emd exact", exact_distance, ()))
    else:
        steps.append(("emd fine blocks", block_interval, (LARGEST_EXACT,)))
    return [(*step, step is steps[-1]) for step in steps]


def _plain_readouts(estimate: Estimate, points: Any) -> tuple[Readout, ...]:
    """Return counts and the budget's split; neither has a role."""
    readouts = [
        Readout("users_used", "Users in the map", points.users_used, curator_only=True),
        Readout("users_in_region", "Users in region", points.users_in_region, curator_only=True),
        Readout("users_in_file", "Users in file", points.users_in_file, curator_only=True),
        Readout("checkins", "Check-ins in the map", points.rows, curator_only=True),
        Readout("cells_read", "Noisy counts read", estimate.cells_read),
    ]
    if estimate.objective is not None:
        readouts.append(Readout("objective", "Misfit minimised", estimate.objective))
    readouts += [
        Readout(f"epsilon_level_{i}", f"ε of level {i}", value)
        for i, value in estimate.epsilon_levels
    ]
    return tuple(readouts)


def _metric_readouts(
    agreement: Any = None, unit: Interval | None = None, km: Interval | None = None, note: str = ""
) -> tuple[Readout, ...]:
    """Return the comparison with the truth, as far as it is known.

    A note says why a distance is not a number, or, without a comparison, why there is none.
    """
    why = note if agreement is None else ""
    similarity = pearson = kl = None
    if agreement is not None:
        similarity, kl = agreement.similarity, agreement.kl
        # A constant map has no correlation with anything.
        pearson = None if np.isnan(agreement.pearson) else agreement.pearson
    return (
        Readout("similarity", "Similarity", similarity, curator_only=True, note=why),
        Readout("pearson", "Pearson correlation", pearson, curator_only=True, note=why),
        Readout("kl", "KL divergence", kl, curator_only=True, unit="nats", note=why),
        _distance_readout("emd", "Earth mover's distance", unit, "of the side", note),
        _distance_readout("emd_km", "Earth mover's distance", km, "km", note),
    )


def _distance_readout(
    key: str, label: str, found: Interval | None, unit: str, note: str
) -> Readout:
    if found is None:
        return Readout(key, label, None, unit=unit, curator_only=True, note=note)
    return Readout(
        key, label, found.value, said.distance_role(found.exact), unit, found.low, found.high,
        curator_only=True, note=note,
    )  # fmt: skip


def _with(
    first: Result,
    plain: tuple[Readout, ...],
    metrics: tuple[Readout, ...],
    watch: Stopwatch,
    fidelity: Fidelity,
    complete: bool,
) -> Result:
    """Return the first result with what is known by now."""
    return Result(
        first.request,
        fidelity,
        surfaces=first.surfaces,
        readouts=(*metrics, *plain),
        conditions=first.conditions,
        guarantee=first.guarantee,
        notes=first.notes,
        stamp=first.stamp,
        complete=complete,
        timings_ms=dict(watch.spent),
    )
