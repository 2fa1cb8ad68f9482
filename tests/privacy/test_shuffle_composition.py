"""Certified composition: against exact enumeration, a convolution, the spec's table, theory."""

from __future__ import annotations

import itertools
import math
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import Grade, Role
from explorer.privacy.core.composition import kov_exact_epsilon
from explorer.privacy.shuffling import Clones, shuffled_delta, shuffled_epsilon
from tests.privacy.hang import alarm

SIDES = (Role.LOWER, Role.UPPER)
LOG_EPS0 = st.floats(math.log(0.05), math.log(10)).map(math.exp)


def response(eps):
    """Plain randomised response as a law of losses."""
    ratio = np.array([math.exp(eps), math.exp(-eps)])
    mass = 1 / (1 + ratio)  # 1 less the other would have lost digits
    return rdp.RoundLoss(mass, ratio - 1, np.log(ratio))


def irregular(scale):
    """Four atoms at incommensurable losses, mean of the excess 0."""
    excess = scale * np.array([-0.61803, -0.1, 0.41421, 0.9])
    mass = np.array([0.3, 0.2, 0.3, 0.0])
    mass[3] = -float(mass @ excess) / excess[3]
    excess = np.append(excess, 0.0)
    mass = np.append(mass, 1 - mass.sum())
    return rdp.RoundLoss(mass, excess, np.log1p(excess))


def convolved_delta(loss, eps, T, cells=500):
    """δ by FFT of the losses on a fine lattice, mass split so that means stay."""
    mass = loss.mass * (1 + loss.excess)
    keep = mass > 1e-24
    mass, ratio = mass[keep], loss.log_ratio[keep]
    width = math.sqrt(float(mass @ ratio**2)) / cells
    low = math.floor(ratio.min() / width)
    place = ratio / width - low
    i = np.floor(place).astype(int)
    size = int(place.max()) + 3
    law = np.bincount(i, mass * (1 - place + i), size)
    law += np.bincount(i + 1, mass * (place - i), size)
    points = 1 << math.ceil(math.log2(size * T + 1))
    total = np.fft.irfft(np.fft.rfft(law, points) ** T, points)
    at = (np.arange(points) + T * low) * width
    above = at > eps
    return float(np.sum(total[above] * -np.expm1(eps - at[above])))


@cache
def every_sum(eps0, k, n, T, reverse):
    """All sums of T losses of 2RR's round with their probabilities, to forty digits."""
    with mpmath.workdps(40):
        e = mpmath.exp(mpmath.mpf(eps0))
        p, gamma = 1 / (e + 1), mpmath.mpf(k) / n
        atoms = []
        for m in range(k + 1):
            mass = mpmath.binomial(k, m) * p**m * (1 - p) ** (k - m)
            ratio = 1 + gamma * (e - 1 / e) / k * (m - k * p)
            atoms.append(
                (mass, -mpmath.log(ratio)) if reverse else (mass * ratio, mpmath.log(ratio))
            )
        logs = [(mpmath.log(mass), loss) for mass, loss in atoms]
        factorial = [mpmath.loggamma(i + 1) for i in range(T + 1)]
        found = []
        for counts in itertools.product(range(T + 1), repeat=k):
            counts = (*counts, T - sum(counts))
            if counts[-1] >= 0:
                pairs = list(zip(counts, logs, strict=True))
                log_mass = sum(c * log - factorial[c] for c, (log, _) in pairs) + factorial[T]
                found.append((sum(c * loss for c, (_, loss) in pairs), mpmath.exp(log_mass)))
        return found


def exact_delta(sums, eps):
    with mpmath.workdps(40):
        eps = mpmath.mpf(eps)
        return mpmath.fsum(mass * (1 - mpmath.exp(eps - loss)) for loss, mass in sums if loss > eps)


def only(route, loss, side):
    """A composition that has one way alone."""
    made = rdp.Composition(loss, side)
    if route != "listed":
        made._sums = lambda T, log_delta: None
    if route == "line":
        made._on_lattices = lambda *args: []
        made._deltas_on_lattices = lambda *args: []
    if route == "lattice":
        made._line = lambda *args: type("Never", (), {"good": False})()
    return made


@pytest.mark.full
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("eps0", "k", "n", "T"), [(0.2, 1, 1, 400), (3.0, 1, 50, 250), (2.0, 2, 20, 50), (4.0, 3, 3, 9)]
)
def test_every_way_lies_on_its_side_of_the_exact_value(eps0, k, n, T, reverse):
    sums = every_sum(eps0, k, n, T, reverse)
    loss = rdp.randomised_response_loss(eps0, k, n)
    loss = loss.reversed() if reverse else loss
    whole = exact_delta(sums, 0)
    for route, share, side in itertools.product(
        ("listed", "line", "lattice"), (0.5, 1e-3, 1e-9, 1e-25), SIDES
    ):
        delta, rounds = float(whole * share), only(route, loss, side)
        eps = rounds.epsilon(delta, T).value
        found = exact_delta(sums, eps)
        upper, which = side is Role.UPPER, (route, share, side)
        assert found <= delta if upper else found >= delta or eps == 0, which
        truth = exact_delta(sums, 0.5 * eps)
        for enough in (1e-4, 1e-2):
            value = rounds.delta(0.5 * eps, T, enough).value
            assert value >= truth if upper else value <= truth, which
        if route == "listed":
            assert found == pytest.approx(delta, rel=1e-6) or eps == 0, which


@given(
    LOG_EPS0,
    st.integers(1, 10**6),
    st.integers(1, 10**4),
    st.floats(0, 9).map(lambda x: int(10**x)),
    st.floats(-40, -0.5),
    st.booleans(),
)
def test_both_sides_of_one_law_meet(eps0, k, times, T, log_delta, reverse):
    loss = rdp.randomised_response_loss(eps0, k, times * k, depth=150)
    loss = loss.reversed() if reverse else loss
    lower, upper = (rdp.Composition(loss, side).epsilon(10.0**log_delta, T) for side in SIDES)
    assert lower.value <= upper.value
    if math.isfinite(lower.excess + upper.excess):
        # Each says by about how much it may be off, and together they are that far apart.
        assert upper.value - lower.value <= 3 * (lower.excess + upper.excess) + 1e-8 * upper.value


@pytest.mark.full
@given(
    LOG_EPS0,
    st.integers(1, 10**6),
    st.integers(1, 10**4),
    st.floats(0, 9).map(lambda x: int(10**x)),
    st.floats(0.01, 2),
    st.booleans(),
)
def test_rough_deltas_lie_on_their_side_and_near(eps0, k, times, T, share, reverse):
    loss = rdp.randomised_response_loss(eps0, k, times * k, depth=150)
    loss = loss.reversed() if reverse else loss
    lower, upper = (rdp.Composition(loss, side) for side in SIDES)
    eps = share * min(upper.epsilon(1e-8, T).value, 700.0)
    sharp, rough = (
        [made.delta(eps, T, enough) for made in (lower, upper)] for enough in (1e-4, 1e-2)
    )
    for low, high in itertools.product((sharp[0], rough[0]), (sharp[1], rough[1])):
        assert low.value <= high.value
    for better, quick in zip(sharp, rough, strict=True):
        if better.excess <= 1e-3 * better.value:
            assert quick.value == pytest.approx(better.value, rel=2.5e-2)


@pytest.mark.parametrize(
    ("eps0", "n", "T", "delta", "exact"),
    [
        (8.0, 1000, 10**6, 1e-10, 1173.7979309190657),
        (4.6166, 1289, 7353415, 8.3e-6, 303.50515031349755),
        (1.6372, 2, 320398, 0.0086, 98247.84152840679),
    ],
)
def test_one_message_a_round_is_a_binomial(eps0, n, T, delta, exact):
    # The lattice was above the exact value here by up to two parts in a hundred.
    found = rdp.randomised_response_epsilon(eps0, 1, n, T, delta)
    assert exact * (1 - 1e-10) <= float(found.value) <= exact
    assert not found.truncated
    assert found.grade is Grade.PROVED


@pytest.mark.parametrize(
    ("T", "delta", "want"),
    [(10**8, 1e-14, 11.2187), (10**6, 1e-16, 1.07894), (10**5, 1e-17, 0.34546)],
)
def test_the_depth_of_clones_follows_delta_over_rounds(T, delta, want):
    found = rdp.clone_epsilon(2.0, 10**3, 10**6, T, delta)
    assert float(found.value) == pytest.approx(want, rel=2e-5)
    assert not found.truncated
    # What is left out of a round, all rounds together, is little beside δ.
    route = rdp.CloneRounds(2.0, 1e3, 1e6)
    route.epsilon(delta, T)
    (kept,) = route._routes.values()
    assert T * kept.loss.missing <= 1e-3 * delta


@pytest.mark.parametrize("T", [1, 2, 7, 30])
@pytest.mark.parametrize("eps", [0.1, 1.5])
def test_listed_sums_are_strong_composition(eps, T):
    # Responses have few sums, so they are listed; the inverse is the known exact one.
    for delta, side in itertools.product((1e-2, 1e-6), SIDES):
        found = rdp.Composition(response(eps), side).epsilon(delta, T).value
        assert found == pytest.approx(kov_exact_epsilon(eps, T, delta), rel=1e-9, abs=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("T", [200, 1000])
def test_the_integral_agrees_with_a_convolution(T):
    loss = irregular(0.05)
    for delta, side in itertools.product((1e-2, 1e-5), SIDES):
        line, lattice = only("line", loss, side), only("lattice", loss, side)
        eps = line.epsilon(delta, T).value
        assert convolved_delta(loss, eps, T, 400) == pytest.approx(delta, rel=5e-2)
        assert line.delta(eps, T).value == pytest.approx(delta, rel=5e-2)
        # Of five losses that fit no lattice the lower one is of first order only.
        assert lattice.epsilon(delta, T).value == pytest.approx(eps, rel=2e-2)
        if side is Role.UPPER:
            assert lattice.epsilon(delta, T).value == pytest.approx(eps, rel=1e-3)
            assert lattice.delta(eps, T).value == pytest.approx(delta, rel=2e-2)


@pytest.mark.parametrize("T", [16, 100])
def test_a_round_of_clones_against_a_convolution(T):
    loss = rdp.clone_loss(2.0, 1e3, 1e6)
    eps = rdp.Composition(loss, Role.UPPER).epsilon(1e-5, T).value
    assert convolved_delta(loss, eps, T) == pytest.approx(1e-5, rel=1e-3)


def test_a_round_of_responses_against_a_convolution():
    for loss in (
        rdp.randomised_response_loss(2.0, 1e3, 1e6),
        rdp.randomised_response_loss(2.0, 1e3, 1e6).reversed(),
    ):
        eps = rdp.Composition(loss, Role.LOWER).epsilon(1e-5, 100).value
        assert convolved_delta(loss, eps, 100) == pytest.approx(1e-5, rel=1e-3)


@given(LOG_EPS0, st.integers(1, 150), st.floats(0, 1), st.sampled_from(list(Clones)))
def test_one_round_of_clone_atoms_is_the_exact_curve(eps0, k, share, variant):
    # H((1−γ)Q+γP‖Q) at ln(1+γ(e^ε−1)) is γ·H(P‖Q) at ε.
    gamma = 1 / 8
    loss = rdp.clone_loss(eps0, k, 8 * k, variant, 10**6)
    eps = share * eps0
    sampled = math.log1p(gamma * math.expm1(eps))
    for side in SIDES:
        delta = rdp.Composition(loss, side).delta(sampled, 1).value
        assert delta == pytest.approx(
            gamma * shuffled_delta(eps, eps0, k, variant), rel=1e-7, abs=1e-13
        )
    whole = rdp.CloneRounds(eps0, k, 8 * k, variant)
    wanted = float(shuffled_epsilon(eps0, k, 8e-3, variant))
    assert whole.epsilon(1e-3, 1).value == pytest.approx(
        math.log1p(gamma * math.expm1(wanted)), rel=1e-8
    )


@given(
    st.floats(0.1, 3),
    st.integers(600, 4000),
    st.integers(1, 100),
    st.integers(2, 10**6),
    st.floats(-12, -1),
    st.sampled_from(list(Clones)),
)
@settings(max_examples=12)
def test_some_clones_stand_for_all(eps0, clones, times, T, log_delta, variant):
    # Where most numbers of clones are left out the result is above that of all, and as near.
    k = int(clones * math.exp(eps0))
    listed, thin = (
        rdp.clone_loss(eps0, k, times * k, variant, 400, thin=only_some)
        for only_some in (False, True)
    )
    delta = 10.0**log_delta
    all_of_them, some = (
        rdp.Composition(loss, Role.UPPER).epsilon(delta, T) for loss in (listed, thin)
    )
    below = rdp.Composition(listed, Role.LOWER).epsilon(delta, T)
    assert some.value >= below.value * (1 - 1e-7)
    assert some.value <= all_of_them.value + 3 * (some.excess + all_of_them.excess) + 1e-12


@given(LOG_EPS0, st.integers(1, 10**5), st.integers(1, 1000))
def test_gathering_keeps_mass_and_mean_and_only_spreads(eps0, k, times):
    fine = rdp.clone_loss(eps0, k, times * k, cells=10**7)
    coarse = rdp.clone_loss(eps0, k, times * k, cells=40)
    assert coarse.mass.sum() == pytest.approx(fine.mass.sum(), rel=1e-9)
    assert abs(float(coarse.mass @ coarse.excess)) < 1e-12
    order = np.array([0.5, 1.0, 8.0])
    assert np.all(coarse.growth(order) >= fine.growth(order) * (1 - 1e-9) - 1e-300)


@pytest.mark.parametrize(
    ("eps0", "k", "n", "upper", "stronger", "lower"),
    [
        (2.0, 10**3, 10**6, 0.2078, 0.1522, 0.1084),
        (1.0, 10**4, 10**7, 0.0207, None, 0.0138),
        (1.0, 10**3, 10**6, 0.0703, 0.0574, 0.0463),
        (3.0, 10**3, 10**6, 0.4495, 0.3082, 0.2018),
    ],
)
def test_headline_table(eps0, k, n, upper, stronger, lower):
    arguments = (eps0, k, n, 10**5, 1e-8)
    assert float(rdp.clone_epsilon(*arguments).value) == pytest.approx(upper, abs=6e-5)
    assert float(rdp.randomised_response_epsilon(*arguments).value) == pytest.approx(
        lower, abs=6e-5
    )
    if stronger is not None:
        found = float(rdp.clone_epsilon(*arguments, "2023").value)
        assert found == pytest.approx(stronger, abs=6e-5)


def test_the_lower_bounds_conversion_is_no_lower_bound():
    # shuf-A3: at Figure 2(b) Lemma 1 of the RDP lower bound is above the numerical upper bound.
    arguments = (1.0, 10**4, 10**7, 10**5, 1e-8)
    red = float(rdp.lower_rdp_epsilon(*arguments).epsilon)
    assert red == pytest.approx(0.0247, abs=1e-4)
    assert red > float(rdp.clone_epsilon(*arguments).value)


@given(
    LOG_EPS0,
    st.integers(1, 10**5),
    st.integers(1, 1000),
    st.integers(1, 10**6),
    st.floats(-12, -1),
)
def test_lower_is_below_upper_is_below_theorems(eps0, k, times, T, log_delta):
    arguments = (eps0, k, times * k, T, 10.0**log_delta)
    lower = rdp.randomised_response_epsilon(*arguments)
    upper = rdp.clone_epsilon(*arguments)
    theorem = rdp.upper_epsilon(*arguments, capped=True).epsilon
    assert lower.valid.all()
    assert upper.valid.all()
    assert float(lower.value) <= theorem * (1 + 1e-11)
    assert float(lower.value) <= float(upper.value)
    assert float(upper.value) <= rdp.pipeline_epsilon(*arguments, "numeric") * (1 + 1e-3)
    assert float(upper.value) <= T * rdp.pure_epsilon(*arguments[:3]) * (1 + 1e-14)


def test_one_client_of_very_many_with_next_to_no_local_privacy():
    # Sampled in either of two rounds and told apart by the first report: tanh(ε₀/2) of 2γ.
    assert rdp.LowerRounds(100.0, 1, 10**12).delta(0.0, 2).value == pytest.approx(2e-12, rel=1e-9)
    assert rdp.CloneRounds(800.0, 10, 10).delta(750.0, 1).value == pytest.approx(1.0)


def test_broadcasting_and_no_leak():
    found = rdp.clone_epsilon([0.0, 2.0], 1000, 10**6, [[1000], [2000]], 1e-8)
    assert found.value.shape == (2, 2)
    assert np.all(found.value[:, 0] == 0)
    assert found.value[1, 1] > found.value[0, 1] > 0


@example(3.0, 101237, -1.0, Role.LOWER)  # far apart losses: a wide blur, and much to take away
@example(2.5258, 736457, -254.55, Role.LOWER)
@example(1.81305, 858, -30.874, Role.UPPER)  # δ falls in steps
@example(8.17261, 626437, -0.51269, Role.LOWER)  # and where it falls no lower bound is left
@given(st.floats(0.01, 20), st.integers(65, 10**6), st.floats(-300, -0.5), st.sampled_from(SIDES))
def test_lattice_and_integral_are_strong_composition_at_any_delta(eps, T, log_delta, side):
    # Two losses, ±ε: their sums are known exactly.
    delta = 10.0**log_delta
    exact = float(kov_exact_epsilon(eps, T, delta))
    rounds = rdp.Composition(response(eps), side)
    rounds._sums = lambda T, log_delta: None
    found = rounds.epsilon(delta, T)
    sign = 1 if side is Role.UPPER else -1
    assert sign * (found.value - exact) >= -1e-11 * exact
    assert abs(found.value - exact) <= 3 * found.excess + 1e-8 * exact + 1e-9


@pytest.mark.parametrize("T", [2, 3, 5, 9, 20, 40])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-40])
def test_few_rounds_of_clones_between_listed_lattice_and_caps(T, delta):
    # Coarser losses dominate finer ones; with 12 of them the sums of two or three are listed.
    coarse = rdp.clone_loss(1.5, 50, 400, cells=12, depth=200)
    fine = rdp.clone_loss(1.5, 50, 400, cells=10**6, depth=200)
    upper, exact = (rdp.Composition(loss, Role.UPPER).epsilon(delta, T) for loss in (coarse, fine))
    assert exact.value <= upper.value * (1 + 1e-9) + 2 * upper.excess
    assert exact.excess <= 1e-3 * exact.value
    assert upper.value <= T * rdp.pure_epsilon(1.5, 50, 400) * (1 + 1e-12)
    if delta == 1e-3:
        assert convolved_delta(fine, exact.value, T, 2000) == pytest.approx(delta, rel=1e-3)


def test_tails_left_out_count_against_delta():
    # Of k messages more may be clones than the law lists; where δ is no more than that, say so.
    loss = rdp.clone_loss(1.0, 10**4, 10**4)
    assert math.isinf(rdp.Composition(loss, Role.UPPER).epsilon(1e-30, 10).value)
    deep = rdp.clone_epsilon(1.0, 10**4, 10**4, 10, 1e-30)
    assert bool(deep.valid)
    assert float(deep.value) > float(
        rdp.randomised_response_epsilon(1.0, 10**4, 10**4, 10, 1e-30).value
    )


WIDE_EPS0 = st.one_of(st.floats(0, 800), LOG_EPS0, st.sampled_from([1e-300, 100.0, 800.0]))


@pytest.mark.full
@given(
    WIDE_EPS0,
    st.floats(0, 12),
    st.floats(0, 6),
    st.one_of(st.integers(1, 64), st.floats(0, 9).map(lambda x: int(10**x))),
    st.one_of(st.floats(-300, 0), st.floats(-15, -1)),
)
def test_whole_domain_of_the_compositions(eps0, log_k, log_times, T, log_delta):
    k = int(10**log_k)
    arguments = (eps0, k, min(10**12, int(k * 10**log_times)), T, 10.0**log_delta)
    with alarm(10):
        lower = rdp.randomised_response_epsilon(*arguments)
        upper = rdp.clone_epsilon(*arguments)
    assert lower.valid.all()
    assert upper.valid.all()
    assert 0 <= float(lower.value) <= float(upper.value)
    assert upper.grade is lower.grade is Grade.PROVED
    capped = float(rdp.upper_epsilon(*arguments, capped=True).epsilon)
    assert float(upper.value) <= capped * (1 + 1e-3) + 1e-12
    if eps0 > 100:
        assert upper.truncated.all() or T == 1 or upper.value == 0
        assert lower.truncated.all()


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 2)
@given(LOG_EPS0, st.integers(1, 10**6), st.integers(2, 60), st.floats(-100, -1))
def test_compositions_grow_with_rounds_and_fall_with_delta(eps0, k, T, log_delta):
    delta = 10.0**log_delta
    for bound in (rdp.clone_epsilon, rdp.randomised_response_epsilon):
        rounds = bound(eps0, k, 10 * k, [T - 1, T], delta)
        if not rounds.truncated.any():
            assert rounds.value[0] <= rounds.value[1] * (1 + 1e-4) + 1e-12
        levels = bound(eps0, k, 10 * k, T, [delta, min(1.0, 3 * delta)])
        if not levels.truncated.any():
            assert levels.value[1] <= levels.value[0] * (1 + 1e-4) + 1e-12


def test_domain():
    with pytest.raises(ValueError, match="eps0: 801 is outside"):
        rdp.clone_epsilon(801.0, 1, 1, 1, 0.1)


@given(st.floats(1e-6, 1.0), st.floats(0.0, 5.0), st.floats(1e-6, 50.0))
def test_multiples_on_a_line_are_as_each_alone(scale, c, step):
    loss = irregular(scale)
    growth = float(loss.growth(np.array([c]))[0])
    found = np.empty(0, complex)
    for more in loss.lines(c, growth, step, 6):
        found = np.concatenate([found, more])
        if found.size >= 48:
            break
    alone = loss.line(c, growth, step * np.arange(48))
    np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12 * (1 + growth))
