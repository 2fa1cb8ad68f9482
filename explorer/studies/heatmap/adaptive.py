"""Adaptive quadtree as a mechanism of the map."""

from __future__ import annotations

from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    AdaptiveTree,
    Budgets,
    adaptive_budgets,
    adaptive_tree,
    check_threshold,
    fit_adaptive,
    flatness_statistic,
    measured_levels,
)
from explorer.privacy.heatmaps.adaptive_quadtree import FLATNESS_THRESHOLDS
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Fidelity
from explorer.studies.heatmap import text
from explorer.studies.heatmap.run import Estimate, Task

SMOOTH_AT_ONCE = 7
"""Finest level whose map is smoothed while a slider moves; finer ones, which take 5 to 400 ms, are
smoothed at rest."""
FALSE_ALARM = 0.01


def run(task: Task) -> Estimate:
    """Split cells where noisy counts show mass, fit the tree, and smooth it inside its leaves.

    Raises
    ------
    ValueError
        If the threshold is too low for the share: nothing is read then.
    """
    request, level = task.request, task.counts.level
    start, last = measured_levels(level, request["q"], request["L"])
    budgets = adaptive_budgets(task.epsilon, start, last, request["rho"])
    tau = _threshold(request["tau"], budgets)
    tree = adaptive_tree(task.counts, budgets, AdaptiveDemonstrationNoise(request.seed), tau)
    task.watch.lap("select")
    task.context.check()
    found = fit_adaptive(tree, level)
    task.watch.lap("solve")
    live = request.fidelity is Fidelity.COARSE and level > SMOOTH_AT_ONCE
    grid = found.flat() if live else found.smooth()
    task.watch.lap("smooth")
    flatness, said = _flatness(tree, budgets)
    return Estimate(
        grid,
        tuple(enumerate(budgets.spent, start)),
        tree.draws,
        notes=(*(() if found.total > 0 else (text.TOTAL_NEGATIVE,)), *said),
        made_of_noise=(("noisy_users", found.total), *flatness),
    )


def _threshold(tau: float, budgets: Budgets) -> float:
    """Return τ, or refuse it in the words of the parameters."""
    try:
        check_threshold(tau, budgets)
    except ValueError as error:
        rho = budgets.spent[0] / budgets.left[0]
        raise ValueError(
            f"tau: τ = {format_number(tau)} is too low for ρ = {format_number(rho)}: empty cells "
            "would be split without end; raise τ or ρ"
        ) from error
    return tau


def _flatness(
    tree: AdaptiveTree, budgets: Budgets
) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Return the statistic of the test for a flat map, and what it says; nothing without one."""
    first = tree.levels[0].first
    threshold = FLATNESS_THRESHOLDS.get((len(first), FALSE_ALARM))
    if threshold is None:
        return (), ()
    found = flatness_statistic(first, budgets.of(tree.start, 0))
    return (("flatness", found),), (text.NOT_FLAT if found > threshold else text.MAYBE_FLAT,)
