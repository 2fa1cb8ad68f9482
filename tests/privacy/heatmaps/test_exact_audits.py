"""Exact output laws of the running code on 2×2 and 4×4 grids, in rationals: never above the claim.

Of every mechanism of the map whose noise is discrete, or is where it is released: releases of the
pyramid (with and without a depth cap) and of least squares, the shuffled pyramid, whole counts, the
shuffled histogram. The adaptive quadtree has `test_adaptive_audit`, what has continuous noise alone
the audits by runs in `tests/studies/test_heatmap_audits.py`. Each audit must see noise halved.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from explorer.privacy.heatmaps import (
    CellCounts,
    IntegerCounts,
    ShufflePlan,
    discrete_grid,
    exact_epsilons,
    release_levels,
    release_measurement,
    schedule,
    shuffle_plan,
    shuffle_protocol,
    top_grid,
)
from explorer.privacy.histograms import calibrate, estimates_without
from explorer.privacy.noise.bits import SeededBits
from explorer.studies.heatmap.shuffled_cells import histogram_grid
from tests.privacy.heatmaps.transcripts import Key, TranscriptAudit, user

EPSILON = Fraction(1)


class Watched(IntegerCounts):
    """Counts that remember which cells were asked for last."""

    last: tuple[int, np.ndarray]

    def at(self, level: int, cells: np.ndarray) -> np.ndarray:
        """The counts of some cells."""
        object.__setattr__(self, "last", (level, cells))
        return super().at(level, cells)


class ReleaseAudit(TranscriptAudit):
    """Releases of whole counts: the pyramid's (w cells a level), or all cells of all levels."""

    def __init__(
        self,
        one,
        other,
        w: int | None,
        resolution: int = 1,
        last: int | None = None,
        halved: Fraction = Fraction(1),
    ) -> None:
        super().__init__(one, other, resolution)
        level = self.data[0].level
        self.plan = schedule(1.0, level, 1 if w is None else w, last=last)
        self.parts = exact_epsilons(self.plan, EPSILON)
        self.epsilon = sum(self.parts)
        assert EPSILON * (1 - Fraction(1, 10**9)) < self.epsilon <= EPSILON
        self.w, self.halved = w, halved

    def run(self, side: int, noisy: Callable[[Key], int]) -> tuple[Any, dict[Key, Fraction]]:
        """What is read in which order, and the scales of the noise."""
        plain = self.data[side]
        counts = Watched(plain.level, plain.codes, plain.masses, 1, self.resolution)
        transcript: list[tuple[int, int, int, int]] = []
        scales: dict[Key, Fraction] = {}

        def sampler(scale: Fraction, size: int, bits: Any) -> np.ndarray:
            level, cells = counts.last
            assert size == len(cells)
            drawn = []
            for cell, exact in zip(cells.tolist(), plain.at(level, cells).tolist(), strict=True):
                scales[level, cell, 0] = scale * self.halved
                transcript.append((level, cell, 0, noisy((level, cell, 0))))
                drawn.append(transcript[-1][-1] - exact)
            return np.array(drawn, object)

        if self.w is None:
            found = release_levels(counts, self.plan, self.parts, sampler, None)
        else:
            found = release_measurement(counts, self.plan, self.parts, self.w, sampler, None)
        said = [y / self.resolution for *_, y in transcript]
        assert np.concatenate(found.values).tolist() == said
        return transcript, scales

    def decides(self, key: Key) -> bool:
        """Whether a number may choose which cells are looked at below."""
        return self.w is not None and self.plan.start < key[0] < self.plan.last


KINDS = [(1, None), (2, None), (4, None), (None, None), (1, 1), (None, 1)]
"""w (None: least squares, which reads all cells) and the depth cap."""


@pytest.mark.parametrize(("w", "last"), [kind for kind in KINDS if kind[1] is None])
@pytest.mark.parametrize("seed", range(6))
def test_releases_cost_epsilon_on_2x2(w: int | None, last: int | None, seed: int) -> None:
    """Whole users and users of several cells; also those of less than B, who cost their share."""
    rng = np.random.default_rng(seed)
    resolution = int(rng.integers(1, 6))
    total = resolution if seed % 3 else int(rng.integers(1, resolution + 1))
    base, more = rng.integers(0, 4, 4), user(rng, 4, total)
    audit = ReleaseAudit(base, base + more, w, resolution, last)
    assert audit.largest([-2, 3]) == audit.epsilon * Fraction(total, resolution)


@pytest.mark.parametrize(("w", "last"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_releases_cost_epsilon_on_4x4(w: int | None, last: int | None, seed: int) -> None:
    """Decisions included: every order of siblings that their windows allow."""
    rng = np.random.default_rng(100 + seed)
    base, more = rng.integers(0, 2, 16), user(rng, 16, 1)
    pair = (base, base + more) if seed % 2 else (base + more, base)
    audit = ReleaseAudit(*pair, w, last=last)
    assert audit.largest([2]) == audit.epsilon


def test_decisions_are_among_what_is_enumerated() -> None:
    """On 4×4 with one cell kept, each of the four is refined in some transcript."""
    audit = ReleaseAudit(np.zeros(16, int), np.eye(16, dtype=int)[5], 1)
    refined = {noisy[-1][1] // 4 for noisy, _ in audit.transcripts([2])}
    assert refined == {0, 1, 2, 3}


@pytest.mark.parametrize("w", [1, 4, None])
def test_replacing_costs_at_most_twice_epsilon(w: int | None) -> None:
    """Attained but for the root, which does not see who moves, and cells that are not refined."""
    moved = np.eye(16, dtype=int)
    audit = ReleaseAudit(moved[0], moved[15], w)
    root, _, leaf = audit.parts
    unseen = 2 * root + (leaf if w == 1 else 0)
    assert audit.largest([2]) == 2 * audit.epsilon - unseen


@pytest.mark.parametrize("w", [1, None])
def test_enumeration_sees_noise_halved(w: int | None) -> None:
    base = np.zeros(16, int)
    audit = ReleaseAudit(base, base + np.eye(16, dtype=int)[3], w, halved=Fraction(1, 2))
    assert audit.largest([2]) == 2 * audit.epsilon


def test_enumeration_sees_a_choice_by_exact_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.privacy.heatmaps import measurement

    base = np.zeros(16, int)
    audit = ReleaseAudit(base, base + 3 * np.eye(16, dtype=int)[14], 1)
    truth: list[IntegerCounts] = []
    plain = measurement.largest

    def by_the_truth(values, codes, w):
        level = {4: 1, 16: 2}.get(4 if codes.max() < 4 else 16, 0)
        return plain(truth[-1].at(level, codes).astype(float), codes, w)

    monkeypatch.setattr(measurement, "largest", by_the_truth)
    run = ReleaseAudit.run

    def told(self: ReleaseAudit, side: int, noisy: Callable[[Key], int]) -> Any:
        truth.append(self.data[side])
        return run(self, side, noisy)

    monkeypatch.setattr(ReleaseAudit, "run", told)
    assert audit.largest([2]) == math.inf


# The shuffled pyramid: what its analyzer sums up.


class ShuffleAudit(TranscriptAudit):
    """Sums of users' units with the noise of all; of the first user there may be nothing."""

    def __init__(self, one, other, plan: ShufflePlan, halved: Fraction = Fraction(1)) -> None:
        super().__init__(one, other, plan.resolution)
        self.plan, self.halved = plan, halved

    def run(self, side: int, noisy: Callable[[Key], int]) -> tuple[Any, dict[Key, Fraction]]:
        """All sums of all levels, decoded."""
        counts, plan = self.data[side], self.plan
        every = [counts.at(i, np.arange(4**i)) for i in plan.levels]
        vectors = np.zeros((plan.users, plan.cells), np.int64)
        vectors[0] = np.concatenate(every)
        transcript: list[tuple[int, int, int, int]] = []
        scales: dict[Key, Fraction] = {}

        def sampler(scale: Fraction, size: int, bits: Any) -> np.ndarray:
            level = (size.bit_length() - 1) // 2
            exact = every[plan.levels.index(level)]
            drawn = []
            for cell in range(size):
                scales[level, cell, 0] = scale * self.halved
                transcript.append((level, cell, 0, noisy((level, cell, 0))))
                drawn.append(transcript[-1][-1] - int(exact[cell]))
            return np.array(drawn)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shuffle_protocol, "discrete_laplace", sampler)
            found = shuffle_protocol.simulate(vectors, plan, SeededBits(np.random.default_rng(0)))
        assert np.concatenate(found.counts).tolist() == [y for *_, y in transcript]
        return transcript, scales

    def decides(self, key: Key) -> bool:
        """Never: all sums are seen."""
        return False


def plan_of(level: int, resolution: int) -> ShufflePlan:
    parts = exact_epsilons(schedule(1.0, level, 1), EPSILON)
    return shuffle_plan(parts, 20, resolution, 1e-6)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_shuffled_sums_cost_epsilon(level: int, seed: int) -> None:
    """A user's data replaced by nothing; by others, at most twice that."""
    rng = np.random.default_rng(300 + seed)
    cells, resolution = 4**level, int(rng.integers(1, 4))
    plan = plan_of(level, resolution)
    one, other = (user(rng, cells, resolution) for _ in range(2))
    nothing = np.zeros(cells, int)
    assert ShuffleAudit(one, nothing, plan).largest([]) == plan.epsilon
    assert ShuffleAudit(one, other, plan).largest([]) <= plan.replace_one[0]
    ends = np.eye(cells, dtype=int)[[0, -1]] * resolution
    root = plan.epsilons[0]
    assert ShuffleAudit(*ends, plan).largest([]) == plan.replace_one[0] - 2 * root


def test_the_shuffled_sums_show_noise_halved() -> None:
    plan = plan_of(1, 3)
    audit = ShuffleAudit([1, 0, 2, 0], [0, 0, 0, 0], plan, halved=Fraction(1, 2))
    assert audit.largest([]) == 2 * plan.epsilon


def test_the_shares_of_all_users_make_the_scale_that_is_summed(monkeypatch) -> None:
    """What `simulate` draws at once is what users draw in shares: shapes add up to one."""
    plan, asked = plan_of(1, 3), []

    def polya(shape: Fraction, rate: Fraction, size: int, bits: Any) -> np.ndarray:
        asked.append((shape * plan.guaranteed, 1 / rate))
        return np.zeros(size, np.int64)

    monkeypatch.setattr(shuffle_protocol, "polya", polya)
    shuffle_protocol.noise_shares(plan, plan.guaranteed, SeededBits(np.random.default_rng(0)))
    assert asked == [(1, plan.scale(i)) for i in plan.levels for _ in range(2)]


# Whole counts with the geometric mechanism, at ε = ln 2: P(Z = k) = 2^−|k|/3.

REACH = 5
"""Noise from −5, which stands for all below, to 5."""
Law = dict[tuple[float, ...], Fraction]


def unit_noise(k: int, epsilon: float) -> float:
    """Laplace noise of scale 1 in the middle of what the running code makes k."""
    if k == 0:
        return 0.0
    # |Z| ≥ k has probability 2·2^−k/(1 + 1/2) where |x| ≥ y has e^−y.
    y = (abs(k) + 0.5) * epsilon - math.log(2) + math.log1p(math.exp(-epsilon))
    return math.copysign(y, k)


def chance(k: int) -> Fraction:
    """Of k, and of k or less at the lower end, where only 0 or more is shown."""
    return Fraction(2 if k == -REACH else 1, 3 * 2 ** abs(k))


def votes_of(counts: tuple[int, ...]) -> CellCounts:
    codes = np.flatnonzero(counts)
    total = int(np.sum(counts))
    level = (len(counts).bit_length() - 1) // 2
    return CellCounts(level, codes, np.array(counts, float)[codes], total, total)


def geometric_law(counts: tuple[int, ...], free: tuple[int, ...], kept: int, epsilon: float) -> Law:
    """The law of the largest noisy counts, the noise of cells that are not free being 0."""
    votes, law = votes_of(counts), defaultdict(Fraction)
    side = 1 << votes.level
    place = {code: i for i, code in enumerate(range(side * side))}
    rows, columns = CellCounts(votes.level, np.arange(side**2), np.ones(side**2), 1, 1).cells
    for drawn in itertools.product(range(-REACH, REACH + 1), repeat=len(free)):
        noise = np.zeros((side, side))
        for cell, k in zip(free, drawn, strict=True):
            noise[rows[place[cell]], columns[place[cell]]] = unit_noise(k, epsilon)
        # Noise is overwritten by the map.
        grid = top_grid(discrete_grid(votes, epsilon, noise), kept)
        law[tuple(grid.ravel().tolist())] += math.prod(map(chance, drawn), start=Fraction(1))
    return {seen: p for seen, p in law.items() if max(seen) <= REACH}


def worst_ratio(one: Law, other: Law) -> Fraction:
    assert set(one) == set(other)
    return max(max(p / other[seen], other[seen] / p) for seen, p in one.items())


@pytest.mark.parametrize("kept", [1, 2, 4])
@pytest.mark.parametrize("pair", [((0, 0, 0, 0), (0, 1, 0, 0)), ((1, 0, 0, 2), (1, 0, 0, 1))])
def test_whole_counts_cost_epsilon_on_2x2(kept: int, pair: tuple[tuple[int, ...], ...]) -> None:
    """All noise of all four cells; ratios of exactly 2 occur and none above."""
    changed = next(i for i in range(4) if pair[0][i] != pair[1][i])
    free = tuple(sorted({changed, 0, 1, 2, 3} - ({3} if changed != 3 else {2})))
    laws = [geometric_law(counts, free, kept, math.log(2)) for counts in pair]
    assert worst_ratio(*laws) == 2


@pytest.mark.parametrize("kept", [1, 3, 16])
def test_whole_counts_cost_epsilon_on_4x4(kept: int) -> None:
    counts = np.zeros((2, 16), int)
    counts[:, 6], counts[1, 9] = 1, 1
    laws = [geometric_law(tuple(c.tolist()), (6, 9, 10), kept, math.log(2)) for c in counts]
    assert worst_ratio(*laws) == 2


def test_whole_counts_show_noise_halved() -> None:
    """The code at twice ε, judged at ε: its noise is that of scale 1/2."""
    law = {}
    for count in (0, 1):
        chances: dict[float, Fraction] = defaultdict(Fraction)
        for k in range(-REACH, REACH + 1):  # of P(Z = k) ∝ 4^−|k|
            grid = discrete_grid(
                votes_of((count, 0, 0, 0)),
                2 * math.log(2),
                np.array([[unit_noise(k, 2 * math.log(2)), 0.0], [0.0, 0.0]]),
            )
            lump = Fraction(4, 3) if k == -REACH else 1
            chances[float(grid[0, 0])] += Fraction(3, 5) * lump / 4 ** abs(k)
        law[count] = {(seen,): p for seen, p in chances.items() if seen < REACH}
    assert worst_ratio(law[0], law[1]) == 4


def test_the_noise_of_whole_counts_has_the_law_that_is_counted_with() -> None:
    """Where the running code's number steps from one to the next, by the Laplace law."""
    epsilon = math.log(2)

    def made(x: float) -> int:
        found = discrete_grid(votes_of((9, 0, 0, 0)), epsilon, np.array([[x, 0.0], [0.0, 0.0]]))
        return int(found[0, 0]) - 9

    for k in range(1, REACH + 1):
        low, high = unit_noise(k - 1, epsilon), unit_noise(k, epsilon)
        assert (made(low), made(high)) == (k - 1, k)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if made(middle) < k else (low, middle)
        # P(x ≥ step) = e^−step/2 is P(Z ≥ k) = 2·2^−k/3.
        assert math.exp(-high) / 2 == pytest.approx(2 * 2.0**-k / 3, rel=1e-12)
        assert made(-high * (1 + 1e-12)) == -k


# The shuffled histogram: (ε, δ) of the map, for a user who is elsewhere or has no check-ins.


def binomial(n: int, q: Fraction) -> list[Fraction]:
    return [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]


def histogram_law(counts: tuple[int, ...], n: int, p: Fraction) -> Law:
    """The exact law of the running map; a double p is a rational."""
    votes, law = votes_of(counts), defaultdict(Fraction)
    missing = binomial(n, 1 - p)
    for gone in itertools.product(range(n + 1), repeat=len(votes.codes)):
        grid = histogram_grid(votes, n, float(p), np.array(gone, np.int64))
        weight = math.prod((missing[k] for k in gone), start=Fraction(1))
        law[tuple(grid.ravel().tolist())] += weight
    assert sum(law.values()) == 1
    return law


def delta_of(one: Law, other: Law, epsilon: float) -> float:
    factor = Fraction(math.exp(epsilon))
    both = [
        sum(max(Fraction(0), p - factor * b.get(seen, Fraction(0))) for seen, p in a.items())
        for a, b in ((one, other), (other, one))
    ]
    return float(max(both))


def histogram_pairs(level: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    cells = 4**level
    for base in ((0, 0, 0), (3, 0, 0), (2, 2, 1)):
        one, moved, nobody = (np.zeros(cells, int) for _ in range(3))
        for counts in (one, moved, nobody):
            counts[[0, 1, cells - 1]] = base
        one[0] += 1
        moved[cells - 1] += 1
        yield tuple(one.tolist()), tuple(moved.tolist())
        yield tuple(one.tolist()), tuple(nobody.tolist())


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(("n", "epsilon", "delta"), [(8, 1.0, 0.25), (8, 2.0, 0.05)])
def test_the_shuffled_histogram_keeps_delta(
    level: int, n: int, epsilon: float, delta: float
) -> None:
    found = calibrate(epsilon, delta, n)
    assert found.feasible
    p = Fraction(found.p)
    worst = max(
        delta_of(histogram_law(one, n, p), histogram_law(other, n, p), epsilon)
        for one, other in histogram_pairs(level)
    )
    assert 0 < worst <= delta


def test_the_shuffled_histogram_shows_noise_halved() -> None:
    """Half as many missing bits: the map alone gives away more than δ."""
    n, epsilon, delta = 8, 2.0, 0.05
    p = (1 + Fraction(calibrate(epsilon, delta, n).p)) / 2
    worst = max(
        delta_of(histogram_law(one, n, p), histogram_law(other, n, p), epsilon)
        for one, other in histogram_pairs(1)
    )
    assert worst > 2 * delta


def test_a_cells_estimate_depends_on_its_own_bits_alone() -> None:
    """So cells that are not enumerated factor out of every ratio."""
    row = partial(estimates_without, n=8, p=0.75)
    together = row(np.array([3, 0, 5]), np.array([1, 4, 2]))
    alone = [float(row(np.array([c]), np.array([m]))[0]) for c, m in ((3, 1), (0, 4), (5, 2))]
    assert together.tolist() == alone
