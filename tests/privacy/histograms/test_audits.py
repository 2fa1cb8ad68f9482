"""The shuffled views of the code that runs: by enumeration on tiny domains, by many runs beyond."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from explorer.privacy import histograms as hg
from tests.privacy.sampler_audits import Scripted, split_audit


def _delta(p: dict, q: dict, eps: float) -> float:
    return sum(max(0.0, p[view] - math.exp(eps) * q.get(view, 0.0)) for view in p)


def _law_of_views(values: tuple[int, ...], d: int | None, p: float) -> dict[tuple, float]:
    """The exact law of how many messages of each kind the running randomizer sends (d None: count).

    Every pattern of noise bits is played to the code as uniforms of 0 (below p) and 1 (not).
    """
    cells = len(values) * (d or 1)
    law: dict[tuple, float] = defaultdict(float)
    for pattern in itertools.product((0, 1), repeat=cells):
        weight = math.prod(p if bit else 1 - p for bit in pattern)
        uniform = np.where(np.array(pattern) == 1, 0.0, math.nextafter(1.0, 0.0))
        if d is None:
            sent = hg.count_randomizer(values, p, Scripted(uniform))
        else:
            sent = hg.histogram_randomizer(values, d, p, Scripted(uniform.reshape(-1, d)))
        view = hg.shuffler(sent, np.random.default_rng(0))
        assert sorted(view.tolist()) == sorted(sent.messages.tolist())
        law[tuple(np.bincount(view, minlength=d or 1).tolist())] += weight
    return law


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("eps", [0.0, 0.4, 2.0])
def test_count_of_the_running_code_by_enumeration(n, p, eps):
    laws = {bits: _law_of_views(bits, None, p) for bits in itertools.product((0, 1), repeat=n)}
    worst = max(
        _delta(laws[a], laws[b], eps)
        for a in laws
        for b in laws
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    )
    assert hg.count_delta(eps, n, 1 - p) == pytest.approx(worst, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize(("p", "eps"), [(0.75, 0.0), (0.75, 0.6), (0.5, 1.0), (0.9, 2.0)])
def test_histogram_of_the_running_code_by_enumeration(n, d, p, eps):
    laws = {x: _law_of_views(x, d, p) for x in itertools.product(range(d), repeat=n)}
    worst = max(
        _delta(laws[a], laws[b], eps)
        for a in laws
        for b in laws
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    )
    assert hg.histogram_delta(eps, n, 1 - p) == pytest.approx(worst, rel=1e-11, abs=1e-15)


@pytest.mark.full
def test_audit_of_the_count():
    """A bound on ε at δ that exceeds the promise with probability at most 1e-6."""
    n, eps, delta, runs = 60, 1.0, 0.1, 7_500
    found = hg.calibrate(eps, delta, n, "count")
    assert found.feasible
    rng = np.random.default_rng(1)
    data = [np.zeros(n, np.int64), np.eye(1, n, dtype=np.int64)[0]]

    def run(side: int, half: int) -> np.ndarray:
        return np.array(
            [
                hg.shuffler(hg.count_randomizer(data[side], float(found.p), rng), rng).size
                for _ in range(runs)
            ]
        )

    assert 0.3 < split_audit(run, 2 * n + 1, runs, delta) <= eps


@pytest.mark.full
def test_audit_of_the_histogram():
    """One user moves from bin 0 to bin 1; both numbers of messages are seen."""
    n, eps, delta, runs = 60, 1.0, 0.05, 4_000
    found = hg.calibrate(eps, delta, n, "histogram")
    assert found.feasible
    rng = np.random.default_rng(2)
    data = [np.zeros(n, np.int64), np.eye(1, n, dtype=np.int64)[0]]

    def run(side: int, half: int) -> np.ndarray:
        coded = np.empty(runs, np.int64)
        for i in range(runs):
            sent = hg.histogram_randomizer(data[side], 2, float(found.p), rng)
            seen = np.bincount(hg.shuffler(sent, rng), minlength=2)
            # What differs is who has more: the joint law depends on the data through both.
            coded[i] = int(np.clip(seen[1] - seen[0] + 2 * n, 0, 4 * n))
        return coded

    bound = split_audit(run, 4 * n + 1, runs, delta)
    assert 0.2 < bound <= eps


@pytest.mark.full
def test_audit_finds_noise_that_is_too_small():
    """A tenth of the calibrated noise does not keep the promise, and the audit shows it."""
    n, eps, delta, runs = 60, 1.0, 0.02, 15_000
    p = 1 - 0.1 * (1 - float(hg.calibrate(eps, delta, n, "count").p))
    rng = np.random.default_rng(3)
    data = [np.zeros(n, np.int64), np.eye(1, n, dtype=np.int64)[0]]

    def run(side: int, half: int) -> np.ndarray:
        return np.array(
            [hg.count_randomizer(data[side], p, rng).messages.size for _ in range(runs)]
        )

    assert split_audit(run, 2 * n + 1, runs, delta) > eps
