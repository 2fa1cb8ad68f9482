"""Audits of every mechanism as the map runs it, with and without a user: never above the claim.

What a mechanism adds noise to is read off where the map begins to make a picture of it. Every
audit's lower bound on ε is too high with probability at most 10⁻⁶, and it must see noise halved
(`SEEN_HALVED`: elsewhere). Exact output laws, where noise is discrete:
`tests/privacy/heatmaps/test_exact_audits.py` and `test_adaptive_audit.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from explorer.geography.region import Region
from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    AdaptiveTree,
    LevelCounts,
    Measurement,
    SharedNoise,
)
from explorer.privacy.noise.demonstration import DemonstrationGaussian, DemonstrationNoise
from explorer.studies.base.study import Selection, default_request
from explorer.studies.heatmap import run, shuffled_cells, shuffled_pyramid
from explorer.studies.heatmap.draws import WithoutNoise
from explorer.studies.heatmap.experiments.samples import UNIT_SQUARE, Points, count_points
from explorer.studies.heatmap.experiments.trial import TrialContext
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap.priors import Prior
from explorer.studies.heatmap.run import Stopwatch, Task, run_mechanism
from explorer.studies.heatmap.shuffled_cells import MissingBits
from explorer.studies.heatmap.study import HeatmapStudy
from tests.privacy.sampler_audits import split_audit

pytestmark = pytest.mark.full

STEPS = 6
"""Steps that a noisy number is told in."""
BITS = 30
"""Users of the shuffled histogram."""


class SeenError(Exception):
    """Carries what is read off out of the map."""


def _grid(_task: Any, grid: np.ndarray) -> list[float]:
    """The cell of the user who may be missing, and the one of all others."""
    return [grid[0, -1], grid[0, 0]]


def _levels(values: Any) -> list[float]:
    """The root and the quarter that the user who may be missing is in."""
    return [float(values[0][0]), float(values[1][1])]


def _pyramid(_task: Any, _plan: Any, noisy: Measurement) -> list[float]:
    return _levels(noisy.values)


def _fit(noisy: LevelCounts) -> list[float]:
    return _levels(noisy.values)


def _dense(values: np.ndarray) -> list[float]:
    return [float(values[0, -1])]


def _tree(tree: AdaptiveTree, _level: int) -> list[float]:
    """The root's count, whether it was split, and the cell's or the whole's second count."""
    root = tree.levels[0]
    split = len(tree.levels) > 1
    below = tree.levels[1].first[1] if split else root.counts[0] - 5
    return [float(root.first[0]), float(below), float(split)]


def _first(_task: Any, grid: np.ndarray) -> list[float]:
    """The cell of all users, in users more or less than is expected of twelve."""
    return [float(grid[0, 0] * BITS - 12)]


@dataclass(frozen=True)
class Audited:
    """How a mechanism is audited.

    Attributes
    ----------
    where : module
        Where `stop` is looked up when the map is made.
    stop : str
        The function that begins to make a picture of what was measured.
    seen : callable
        From its arguments to noisy numbers.
    noise : type
        Whose calls give the noise.
    centres : tuple of float
        About where these numbers lie.
    width : float
        Of a step.
    values : tuple
        Parameters that are not at their defaults.
    others : int
        Users in the first cell, in both data.
    apart : bool
        Whether the user who may be missing is in the last cell east of it, or in the first too.
    runs : int
        Of either data, to find events and again to judge them.
    """

    where: Any
    stop: str
    seen: Callable[..., list[float]]
    noise: type
    centres: tuple[float, ...] = (0.0, 0.0)
    width: float = 0.5
    values: tuple[tuple[str, Any], ...] = ()
    others: int = 0
    apart: bool = True
    runs: int = 1500


_CELLS = Audited(run, "of_grid", _grid, DemonstrationNoise, runs=1100)
_HALF = (("top_percent", 50.0),)
_LOOSE = (("epsilon", 2.0), ("delta", 0.1))
_ROOT = (("w", 1), ("n0", 16))
_TREE = Audited(run, "reconstructed", _pyramid, DemonstrationNoise, (-1, -1), 1.0, _ROOT)
AUDITED = {
    "adaptive": Audited(
        run,
        "fit_adaptive",
        _tree,
        AdaptiveDemonstrationNoise,
        (2, -1, 0),
        1.0,
        (("q", 0), ("tau", 5.0), ("epsilon", 2.0)),
        4,
        runs=1800,
    ),
    "adaptive-prior": Audited(
        run,
        "prior_map",
        _tree,
        AdaptiveDemonstrationNoise,
        (2, -1, 0),
        1.0,
        (("q", 0), ("tau", 5.0), ("epsilon", 2.0)),
        4,
        runs=1800,
    ),
    "pyramid": _TREE,
    "capped": _TREE,
    "least-squares": replace(_TREE, stop="fit", seen=_fit),
    "dense": replace(_CELLS, stop="nearest_map", seen=_dense, values=_ROOT, centres=(-1,)),
    "laplace": _CELLS,
    "top": replace(_CELLS, values=_HALF, runs=700),
    "gaussian": replace(_CELLS, noise=DemonstrationGaussian, values=_LOOSE, width=0.25),
    "gaussian-top": replace(
        _CELLS, noise=DemonstrationGaussian, values=_LOOSE + _HALF, width=0.25, runs=700
    ),
    "integers": replace(_CELLS, width=1.0, runs=800),
    "integers-top": replace(_CELLS, values=_HALF, width=1.0, runs=500),
    "shuffled-pyramid": replace(
        _TREE,
        where=shuffled_pyramid,
        noise=SharedNoise,
        runs=900,
        values=(("w", 1), ("n0", 19), ("B", 2), ("delta", 1e-4)),
    ),
    "shuffled-cells": replace(
        _CELLS,
        where=shuffled_cells,
        seen=_first,
        noise=MissingBits,
        centres=(-2.0,),
        width=1.0,
        values=(("n0", BITS), *_LOOSE),
        others=12,
        apart=False,
        runs=1500,
    ),
}


SAME = {"adaptive-prior": "adaptive", "capped": "pyramid", "least-squares": "pyramid"}
"""Mechanisms that make another map of what one that is audited measures, seed by seed."""
SEEN_HALVED = {"top", "gaussian-top", "integers-top", "shuffled-pyramid", "shuffled-cells"}
"""Those that keep the largest of cells that are audited; exact laws of the others show it, too."""
ELSEWHERE = {"planar-laplace"}
"""Its ε is one of distances: `tests/privacy/user_metric/test_point_noise.py` audits it."""


def test_every_mechanism_is_audited() -> None:
    assert set(AUDITED) | ELSEWHERE == set(MECHANISMS)


@contextmanager
def watched(audited: Audited, half: bool) -> Iterator[None]:
    """Stop the map where it was measured; with noise halved, if it is a mutant."""
    with pytest.MonkeyPatch.context() as patch:

        def stop(*args: Any) -> None:
            raise SeenError(audited.seen(*args))

        patch.setattr(audited.where, audited.stop, stop)
        if half:
            plain = audited.noise.__call__
            whole = audited.noise in (SharedNoise, MissingBits)

            def halved(self: Any, *args: Any) -> np.ndarray:
                drawn = plain(self, *args)
                if audited.noise is MissingBits:
                    return drawn // 2
                return np.trunc(drawn / 2).astype(np.int64) if whole else drawn / 2

            patch.setattr(audited.noise, "__call__", halved)
        yield


def excess(mechanism: str, half: bool = False) -> float:
    """A lower bound on ε over the ε that is claimed, from runs of the map on four cells."""
    audited = AUDITED[mechanism]
    tasks = [_task(mechanism, extra, 1) for extra in (False, True)]
    seeds, trials = itertools.count(), audited.runs

    def coded(seen: list[float]) -> int:
        code = 0
        for value, centre in zip(seen, audited.centres, strict=False):
            step = min(max(math.floor((value - centre) / audited.width), 0), STEPS - 1)
            code = STEPS * code + step
        return code

    def runs(side: int, _half: int) -> np.ndarray:
        return np.array([coded(measured(tasks[side], next(seeds))) for _ in range(trials)])

    request = tasks[0].request
    delta = request["delta"] if "delta" in MECHANISMS[mechanism].uses else 0.0
    with watched(audited, half):
        found = split_audit(runs, STEPS ** len(audited.centres), trials, delta)
    return found / float(request["epsilon"])


def measured(task: Task, seed: int) -> list[float]:
    """The noisy numbers of one run."""
    with pytest.raises(SeenError) as caught:
        run_mechanism(replace(task, request=replace(task.request, seed=seed)))
    return caught.value.args[0]


def _task(mechanism: str, extra: bool, level: int) -> Task:
    """The map's task on points in the middle of cells; it keeps no noise from run to run."""
    audited = AUDITED[mechanism]
    values = {"mechanism": mechanism, "epsilon": 1.0, **dict(audited.values)}
    request = default_request(HeatmapStudy(), **values)
    request = replace(request, selection=Selection("a" * 64, Region(*UNIT_SQUARE)))
    size = 1 / (1 << level)
    at = 1 - 0.5 * size if audited.apart else 0.5 * size
    x = np.array([0.5 * size] * audited.others + [at] * extra)
    points = Points(np.arange(len(x)), np.full(len(x), 0.5 * size), x)
    counts = count_points(points, UNIT_SQUARE, level).counts
    prior = Prior(("audit",), np.arange(1.0, 4**level + 1).reshape(2**level, 2**level))
    return Task(request, points, counts, WithoutNoise(TrialContext({})), Stopwatch(), (prior,))


@pytest.mark.parametrize("mechanism", [key for key in AUDITED if key not in SAME])
def test_no_mechanism_gives_away_more_than_it_claims(mechanism: str) -> None:
    assert 0.0 < excess(mechanism) <= 1.0


@pytest.mark.parametrize("mechanism", [k for k in AUDITED if k not in {*SAME, *SEEN_HALVED}])
def test_every_audit_sees_noise_halved(mechanism: str) -> None:
    assert excess(mechanism, half=True) > 1.0


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(("mechanism", "audited"), SAME.items())
def test_other_maps_are_made_of_the_same_noisy_numbers(
    mechanism: str, audited: str, level: int
) -> None:
    for extra in (False, True):
        found = []
        for key in (mechanism, audited):
            task = _task(key, extra, level)
            with watched(AUDITED[key], half=False):
                found.append([measured(task, seed) for seed in range(50)])
        assert found[0] == found[1]
