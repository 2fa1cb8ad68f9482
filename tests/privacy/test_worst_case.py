"""The worst case of sampled rounds: two ways of computing it, enumeration, and its composition."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.shuffle_rdp import worst_case, worst_case_unsampled as unsampled
from explorer.privacy.shuffle_rdp.numerical import CloneRounds, LowerRounds, depth_for
from explorer.privacy.shuffling import Clones


def enumerated_delta(rows, others, k, eps):
    """Return δ(ε) of k of n messages drawn and shuffled, the changed client's row 0 against 1."""
    laws = []
    for own in rows[:2]:
        law: dict[tuple[int, ...], float] = {}
        clients = [own, *others]
        subsets = list(itertools.combinations(range(len(clients)), k))
        for subset in subsets:
            for outcome in itertools.product(range(len(own)), repeat=k):
                chance = math.prod(clients[c][y] for c, y in zip(subset, outcome, strict=True))
                key = tuple(sorted(outcome))
                law[key] = law.get(key, 0.0) + chance / len(subsets)
        laws.append(law)
    first, second = laws
    return max(
        sum(max(p.get(key, 0.0) - math.exp(eps) * q.get(key, 0.0), 0.0) for key in p)
        for p, q in ((first, second), (second, first))
    )


@st.composite
def rounds_of_a_table(draw):
    """Draw an ε₀-LDP table of four rows and three or four columns, and a small round of it."""
    eps0 = draw(st.floats(0.1, 3.0))
    columns = draw(st.integers(2, 4))
    # Patterns of e^ε₀ and 1 are the extreme tables; between them any are ε₀-LDP before scaling.
    raw = np.array(
        draw(
            st.lists(
                st.lists(st.floats(0, 1), min_size=columns, max_size=columns),
                min_size=4,
                max_size=4,
            )
        )
    )
    raw = np.round(raw) if draw(st.booleans()) else raw
    table = np.exp(0.5 * eps0 * raw)
    # Rows of one sum: scaled by at most e^{ε₀/2} between them, so the table is ε₀-LDP.
    table /= table.sum(axis=1, keepdims=True)
    ratio = (table.max(axis=0) / table.min(axis=0)).max()
    n = draw(st.integers(2, 5))
    k = draw(st.integers(1, n - 1))
    others = [table[draw(st.integers(0, 3))] for _ in range(n - 1)]
    return max(math.log(ratio), 0.02), table, others, k, n, draw(st.floats(0.0, 1.0))


@given(rounds_of_a_table())
@settings(deadline=None)
def test_no_table_of_few_clients_exceeds_the_largest_composition(case):
    eps0, table, others, k, n, share = case
    eps = share * float(rdp.pure_epsilon(eps0, k, n))
    exact = enumerated_delta(table, others, k, eps)
    assert exact <= rdp.largest_delta(eps, eps0, k, n) * (1 + 1e-9) + 1e-15
    assert exact <= rdp.WorstRound(eps0, k, n).certify(eps).value + 1e-15


@pytest.mark.parametrize("eps0", [0.5, 1.0, 2.5])
def test_corners_are_attained_by_randomised_response(eps0):
    E = math.exp(eps0)
    two = np.array([[E, 1.0], [1.0, E]]) / (E + 1)
    three = (np.ones((3, 3)) + (E - 1) * np.eye(3)) / (E + 2)
    for eps in (0.0, 0.05, 0.2):
        for rows, held, corner in ((two, 0, (3, 0, 0)), (two, 1, (0, 3, 0)), (three, 2, (0, 0, 3))):
            first, second = rows[:2], rows[1::-1]
            deltas = [enumerated_delta(pair, [rows[held]] * 4, 3, eps) for pair in (first, second)]
            mirrored = (corner[1], corner[0], corner[2])
            expected = max(
                rdp.composition_delta(eps, eps0, 3, 5, composition)
                for composition in (corner, mirrored)
            )
            assert max(deltas) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("eps0", "k", "n"), [(2.0, 200, 10_000), (1.0, 600, 5_000), (0.5, 300, 10_000)]
)
def test_the_integral_is_the_sum_over_all_outcomes_and_its_noise(eps0, k, n):
    round_ = rdp.WorstRound(eps0, k, n)
    spread = round_.deviation
    for deviations in (0.0, 1.0, 3.0, 6.0):
        eps = deviations * spread
        corners = [rdp.composition_delta(eps, eps0, k, n, j) for j in np.diag([k, k, k])]
        ratio = round_.corner(eps) / max(corners)
        assert -1e-9 < ratio - 1 < 0.03


@pytest.mark.parametrize("k", [1, 2, 19, 40])
def test_the_largest_of_few_messages_is_that_of_all_compositions(k):
    round_ = rdp.WorstRound(2.0, k, 1000)
    for deviations in (0.0, 1.0, 4.0):
        eps = min(deviations * round_.deviation, 0.9 * round_.pure)
        contour = round_._contours(np.array([eps]))
        counts = [(a, b, k - a - b, 0) for a in range(k + 1) for b in range(k + 1 - a)]
        every = contour.values(np.array(counts, float), np.zeros(len(counts), int))
        assert contour.largest(0) == pytest.approx(float(every.max()), rel=1e-11)


@pytest.mark.parametrize("k", [1e6, 1e9, 1e11])
def test_the_integral_of_very_many_messages_keeps_its_digits(k, monkeypatch):
    """A transform is taken k times: against the same sum over nodes in 40 digits."""
    asked = []
    monkeypatch.setattr(worst_case, "grown", lambda *a: asked.append(a) or unsampled.grown(*a))
    contour = rdp.WorstRound(2.0, k, 10 * k)._contours(np.array([3 / math.sqrt(k)]))
    c, t = (of.item(0) if of.size == 1 else of.ravel() for of in asked[-1][1:])
    with mpmath.workdps(40):
        E, e = mpmath.exp(2), 1 + mpmath.mpf(math.expm1(3 / math.sqrt(k)))
        A, C = E - e, e * E - 1
        laws = (
            [(A / E, E / (E + 1)), (-C, 1 / (E + 1))],
            [(A, 1 / (E + 1)), (-C / E, E / (E + 1))],
            [(A, 1 / (E + 2)), (-C, 1 / (E + 2)), ((1 - e) / E, E / (E + 2))],
        )
        for row, law in enumerate(laws):
            for node in (0, 1, 5, 15):
                z = mpmath.mpc(c, t[node])
                power = k * mpmath.log(sum(p * mpmath.exp(z * v) for v, p in law))
                got = k * contour._sizes[0, row, node], k * contour._phases[0, row, node]
                assert got == pytest.approx((float(power.real), float(power.imag)), abs=5e-10)


def test_a_finer_step_only_lowers_the_integral(monkeypatch):
    args = 2.0, 300.0, 0.01, np.expm1([0.004])
    coarse = worst_case._Contours(*args).corners
    original = worst_case._Contours._tilts

    def finer(self):
        c, height, bend = original(self)
        return c, height, 4 * bend

    monkeypatch.setattr(worst_case._Contours, "_tilts", finer)
    fine = worst_case._Contours(*args).corners
    # Of what the line leaves out the other corners have as much as the largest.
    assert np.all(fine <= coarse + 1e-8 * coarse.max())
    assert fine == pytest.approx(coarse, rel=1e-7)


@given(st.floats(0.05, 6.0), st.integers(41, 10_000), st.floats(1.01, 1e4), st.floats(-12.0, -0.5))
@settings(deadline=None, max_examples=10)
def test_one_round_lies_between_the_corners_and_the_clones(eps0, k, ratio, power):
    n = max(math.ceil(k * ratio), k + 1)
    delta = 10.0**power * k / n
    bound = rdp.worst_case_epsilon(eps0, k, n, 1, delta)
    if not bound.valid:
        assert bound.reason == worst_case.OPEN
        return
    lower = LowerRounds(eps0, k, n).epsilon(delta, 1).value
    clones = CloneRounds(eps0, k, n, Clones.STRONGER).epsilon(delta, 1).value
    assert lower * (1 - 1e-9) <= float(bound.value)
    # Of sums of very few messages the noise may cost more than the clones do.
    if k / (math.exp(eps0) + 2) > 30:
        assert float(bound.value) <= clones * (1 + 1e-3)


@pytest.mark.parametrize(
    ("eps0", "k", "n", "T", "delta", "lower", "published"),
    [
        (2.0, 1e3, 1e6, 1e5, 1e-8, 0.13735, 0.13743),
        pytest.param(1.0, 1e3, 1e6, 1e5, 1e-8, 0.04981, 0.04995, marks=pytest.mark.full),
        pytest.param(4.0, 1e3, 1e6, 1e5, 1e-8, 0.49674, 0.49834, marks=pytest.mark.full),
        (2.0, 500, 1e4, 400, 1e-5, 0.46043, 0.46139),
    ],
)
def test_composed_rounds_are_within_half_a_percent_of_the_lower_bound(
    eps0, k, n, T, delta, lower, published
):
    bound = float(rdp.worst_case_epsilon(eps0, k, n, T, delta).value)
    assert lower < bound <= 1.005 * lower
    assert bound == pytest.approx(published, rel=3e-3)
    assert bound >= LowerRounds(eps0, k, n).epsilon(delta, int(T)).value


def test_the_law_of_the_envelope_has_the_certified_points_on_or_below_its_curve():
    rounds = rdp.WorstCaseRounds(2.0, 500, 1e4)
    law = rounds.envelope(depth_for(1e-6, 100)).loss
    assert law.mass.sum() == pytest.approx(1 - law.missing, abs=1e-12)
    assert law.mass @ law.excess == pytest.approx(0.0, abs=1e-12)
    for deviations in (0.0, 0.37, 1.9, 4.4):
        eps = deviations * rounds.round.deviation
        rise = math.expm1(eps)
        delta = law.mass @ np.maximum(law.excess - rise, 0.0) + law.missing
        truth = max(rdp.composition_delta(eps, 2.0, 500, 1e4, j) for j in np.diag([500, 500, 500]))
        assert truth <= delta * (1 + 1e-9)
        assert delta == pytest.approx(truth, rel=0.03)


def test_renyi_levels_of_the_envelope_lie_above_the_corners_and_near_them():
    orders = np.array([2, 8, 28])
    upper = rdp.worst_case_rdp(rdp.WorstCaseRounds(2.0, 1e3, 1e6), orders)
    lower = rdp.corner_rdp(2.0, 1e3, 1e6, orders)
    assert lower == pytest.approx([8.695e-9, 3.478e-8, 1.2173e-7], rel=1e-3)
    assert np.all(lower <= upper)
    assert upper == pytest.approx(lower, rel=5e-3)


def test_where_it_is_not_offered_the_reason_stands():
    bound = rdp.worst_case_epsilon([2.0, 2.0, 30.0], [1, 10, 10], [1, 100, 100], 1, 1e-3)
    assert bound.valid.tolist() == [False, True, False]
    assert worst_case.ALONE in bound.reason
    assert worst_case.OUTSIDE in bound.reason
    with pytest.raises(ValueError, match="k < n"):
        rdp.WorstRound(2.0, 10, 10)
    with pytest.raises(ValueError, match=r"^k: 11"):
        rdp.WorstCaseRounds(2.0, 11, 10)


def test_rounds_without_sampling_lie_between_the_corners_and_the_clones():
    bound = rdp.WorstCaseRounds(1.0, 1e5, 1e5).epsilon(1e-6, 100).value
    lower = LowerRounds(1.0, 1e5, 1e5).epsilon(1e-6, 100).value
    assert lower < bound <= 1.002 * lower
    assert bound < CloneRounds(1.0, 1e5, 1e5, Clones.STRONGER).epsilon(1e-6, 100).value


def test_one_round_without_sampling_is_that_of_amplification():
    delta = np.array([1e-9, 1e-6, 1e-3])
    bound = rdp.worst_case_epsilon(1.0, 1000, 1000, 1, delta)
    assert bound.value == pytest.approx(unsampled.unsampled_round_epsilon(1.0, 1000, delta).value)
    rounds = rdp.WorstCaseRounds(1.0, 1000, 1000)
    for eps, target in zip(bound.value, delta, strict=True):
        assert rounds.delta(eps, 1).value == pytest.approx(target, rel=0.02)
        assert rounds.delta(eps, 1).value <= target * (1 + 1e-6)


@pytest.mark.full
def test_few_clients_without_sampling_are_no_worse_than_the_clones():
    """Theorem 2 can be above them there; the smaller is composed."""
    bound = rdp.WorstCaseRounds(1.0, 30, 30).epsilon(1e-3, 3).value
    assert bound <= CloneRounds(1.0, 30, 30, Clones.STRONGER).epsilon(1e-3, 3).value * (1 + 2e-3)


def test_a_search_stops_when_it_is_not_wanted_and_goes_on_from_there():
    rounds = rdp.WorstCaseRounds(2.0, 500, 10_000)
    asked = []

    def stop() -> None:
        asked.append(True)
        if len(asked) == 4:
            raise KeyboardInterrupt

    rounds.check = stop
    with pytest.raises(KeyboardInterrupt):
        rounds.epsilon(1e-5, 400)
    rounds.check = lambda: None
    assert rounds.epsilon(1e-5, 400) == rdp.WorstCaseRounds(2.0, 500, 10_000).epsilon(1e-5, 400)


@pytest.mark.parametrize(("eps0", "k"), [(2.0, 500), (0.7, 300), (1.0, 20), (19.4, 50)])
def test_losses_are_searched_together_as_they_are_alone(eps0, k):
    together, alone = (rdp.WorstRound(eps0, k, 10_000) for _ in range(2))
    losses = np.linspace(0, min(9 * alone.deviation, 1.1 * alone.pure), 12)
    found = together.certify_first(losses)
    for eps, certificate in zip(losses, found, strict=False):
        # Not to the last bit: products of matrices depend on their shapes.
        assert certificate == pytest.approx(tuple(alone.certify(eps)), rel=1e-11)
    assert len(found) == np.sum(losses < alone.pure)


def test_losses_are_searched_no_further_than_asked():
    round_ = rdp.WorstRound(2.0, 500, 10_000)
    losses = round_.deviation * np.arange(12.0)
    found = round_.certify_first(losses, 1e-6)
    assert found[-1].corner <= 1e-6 < found[-2].corner
    assert round_.certify_first(losses, 1e-6) == found
    assert round_.certify_first(np.array([round_.pure])) == [(0.0, 0.0, 0, True)]


def test_an_open_search_claims_nothing(monkeypatch):
    monkeypatch.setattr(worst_case, "TRIANGLES", 3)
    bound = rdp.worst_case_epsilon(2.0, 60, 10_000, 1, 1e-6)
    assert not bound.valid
    assert bound.reason == worst_case.OPEN
    assert rdp.worst_case_rdp(rdp.WorstCaseRounds(2.0, 60, 10_000), [2]) is None


@given(
    st.floats(0.05, 5.0),
    st.integers(41, 120),
    st.floats(0.0, 8.0),
    st.lists(st.integers(0, 120), min_size=9, max_size=9),
    st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
)
@settings(deadline=None)
def test_a_triangle_is_above_every_composition_in_it(eps0, k, deviations, corners, shares):
    """Of any shape and size, at vertices that are no whole compositions as well."""
    n = 50 * k
    round_ = rdp.WorstRound(eps0, k, n)
    eps = min(deviations * round_.deviation, 0.99 * round_.pure)
    vertices = np.array(corners, float).reshape(3, 3) + np.eye(3)
    vertices *= k / vertices.sum(axis=1, keepdims=True)
    inside = np.floor(np.array(shares) / sum(shares) @ vertices)
    inside[2] = k - inside[0] - inside[1]
    # So that it lies inside after rounding.
    shift = inside - np.array(shares) / sum(shares) @ vertices
    contour = round_._contours(np.array([eps]))
    triangles, of = (vertices + shift)[None], np.zeros(3, int)
    bounds = contour.over(
        triangles, np.arange(3)[None], contour.integrand(triangles[0], of), of[:1]
    )
    exact = rdp.composition_delta(eps, eps0, k, n, tuple(int(j) for j in inside))
    assert exact <= bounds[0] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("k", "n", "T", "ratio"), [(1000, 1e6, 100_000, 1.005), (100_000, 1e6, 100, 1.001)]
)
def test_where_the_corners_meet_the_search_closes(k, n, T, ratio):
    """At ε₀ = ln 2 all compositions have the same variance."""
    rounds = rdp.WorstCaseRounds(math.log(2), k, n)
    lower = LowerRounds(math.log(2), k, n).epsilon(1e-8, T).value
    assert lower < rounds.epsilon(1e-8, T).value <= ratio * lower


def test_the_quadratic_is_largest_where_it_is_found():
    heights = np.array([[1.0, 0.7, 0.2], [1.0, 1.0, 1.0], [0.0, 5.0, 0.0], [2.0, 1.9, 1.95]])
    bend = np.array([3.0, 6.0, 1e-9, 0.4])
    parts = np.linspace(0, 1, 201)
    first, second = (a.ravel() for a in np.meshgrid(parts, parts))
    shares = np.stack([first, second, 1 - first - second])[:, first + second <= 1 + 1e-12]
    tried = heights @ shares + bend[:, None] * (1 - (shares**2).sum(axis=0)) / 4
    found = worst_case._highest(heights, bend)
    assert np.all(found >= tried.max(axis=1) - 1e-12)
    assert found == pytest.approx(tried.max(axis=1), rel=1e-4)


@pytest.mark.parametrize("k", [3, 41])
def test_where_the_line_leaves_the_doubles_nothing_is_claimed(k):
    bound = rdp.worst_case_epsilon(19.9, k, 36_076, 50, 1e-7)
    assert not bound.valid
    assert bound.reason == worst_case.OPEN
