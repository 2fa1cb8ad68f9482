"""Exact noise: laws by enumeration and χ², any scale, no floating point, audits."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from explorer.privacy.audit import epsilon_lower_bound, likeliest_events
from explorer.privacy.noise import bits as bits_module, exact, exact as polya_module
from explorer.privacy.noise.bits import SeededBits, SystemBits
from explorer.privacy.noise.demonstration import discrete_laplace_pmf, polya_pmf
from explorer.privacy.noise.exact import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    exponential_steps,
    geometric,
    polya,
)


def seeded(seed: int) -> SeededBits:
    return SeededBits(np.random.default_rng(seed))


def law_p_value(draws: np.ndarray, pmf) -> float:
    """p-value of χ² of whole numbers against P(k), cells of at least 8 expected draws."""
    low, high = int(draws.min()), int(draws.max())
    k = np.arange(low, high + 1)
    expected = pmf(k) * len(draws)
    # One cell on each side takes what is rare.
    common = np.flatnonzero(expected >= 8)
    first, last = common[0], common[-1]
    counts = np.bincount((draws - low).astype(np.int64), minlength=len(k))
    own, want = counts[first : last + 1], expected[first : last + 1]
    below, above = counts[:first].sum(), counts[last + 1 :].sum()
    rest = len(draws) - want.sum()
    own = np.append(own, below + above)
    return float(stats.chisquare(own, np.append(want, rest)).pvalue)


class Enumerated(Exception):  # noqa: N818  # not an error: a path that was left
    """A path that asks for more than is enumerated."""


def exact_probability_of_true(a: int, b: int, depth: int) -> tuple[Fraction, Fraction]:
    """P(True) of the running bernoulli_exp, over all choices of its uniform numbers.

    Returns the probability of True and of all paths longer than `depth` choices.
    """
    true, cut = Fraction(0), Fraction(0)

    def run(prefix: list[int]) -> None:
        nonlocal true, cut
        made = iter(prefix)
        weight, asked = Fraction(1), None

        def choose(bound: int, size: int, source: object) -> np.ndarray:
            nonlocal weight, asked
            if not size:
                return np.zeros(0, np.int64)
            assert size == 1
            try:
                value = next(made)
            except StopIteration:
                asked = bound
                raise Enumerated from None
            weight /= bound
            return np.array([value])

        patch = pytest.MonkeyPatch()
        patch.setattr(exact, "uniform_below", choose)
        try:
            result = bool(bernoulli_exp(np.array([a]), b, SystemBits())[0])
        except Enumerated:
            if len(prefix) == depth:
                cut += weight
            else:
                for value in range(asked):
                    run([*prefix, value])
            return
        finally:
            patch.undo()
        true += weight * result

    run([])
    return true, cut


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 2), (1, 3), (2, 3), (3, 7), (6, 7)])
def test_bernoulli_exp_by_enumeration_is_the_series(a, b):
    true, cut = exact_probability_of_true(a, b, 7)
    gamma = Fraction(a, b)
    # Four rounds are decided within 7 choices; what is left has probability γ⁴/4!.
    assert cut == gamma**4 / 24
    assert true == 1 - gamma + gamma**2 / 2 - gamma**3 / 6
    assert true <= Fraction(math.exp(-gamma)) <= true + cut + Fraction(1, 10**15)


@pytest.mark.parametrize(
    "gamma",
    [
        Fraction(0),
        Fraction(1, 10**30),
        Fraction(1, 3),
        Fraction(1),
        Fraction(5, 2),
        Fraction(7),
        Fraction(2**90 + 1, 2**90),
    ],
)
def test_bernoulli_exp_of_any_fraction(gamma):
    # Binomial tests, false alarm 1e-6 each.
    n = 40_000
    a, b = gamma.as_integer_ratio()
    drawn = bernoulli_exp(np.full(n, a, dtype=object if a >= 2**63 else np.int64), b, seeded(3))
    assert stats.binomtest(int(drawn.sum()), n, math.exp(-gamma)).pvalue > 1e-6


def test_bernoulli_exp_takes_each_element_by_itself():
    # Independence of neighbours' parameters: binomial tests, false alarm 1e-6 each.
    a = np.tile([0, 1, 5, 12], 20_000)
    drawn = bernoulli_exp(a, 5, seeded(4)).reshape(-1, 4)
    for column, value in enumerate([0, 1, 5, 12]):
        hits = int(drawn[:, column].sum())
        assert stats.binomtest(hits, 20_000, math.exp(-value / 5)).pvalue > 1e-6


def test_bernoulli_of_a_fraction():
    assert bernoulli(Fraction(0), 1000, seeded(1)).sum() == 0
    assert bernoulli(Fraction(1), 1000, seeded(1)).sum() == 1000
    hits = int(bernoulli(Fraction(3, 7), 30_000, seeded(1)).sum())
    assert stats.binomtest(hits, 30_000, 3 / 7).pvalue > 1e-6


def test_steps_of_ratio_one_over_e():
    # χ² with false alarm 1e-6.
    steps = exponential_steps(200_000, seeded(2))
    assert law_p_value(steps, lambda k: (1 - math.exp(-1)) * np.exp(-k.astype(float))) > 1e-6


SCALES = [
    Fraction(1, 40),
    Fraction(1, 3),
    Fraction(1),
    Fraction(3, 2),
    Fraction(22, 7),
    Fraction(10),
    Fraction(1000, 7),
    Fraction(2**70 + 1, 2**68),
]


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_law(scale):
    # χ² with false alarm 1e-6 each; mean within 5.5 standard errors.
    n = 100_000
    drawn = discrete_laplace(scale, n, seeded(5))
    assert drawn.dtype == np.int64
    if scale < Fraction(1, 20):
        assert not drawn.any()
        return
    assert law_p_value(drawn, lambda k: discrete_laplace_pmf(k, float(scale))) > 1e-6
    deviation = 1 / (math.sqrt(2) * math.sinh(0.5 / scale))
    assert abs(drawn.mean()) < 5.5 * deviation / math.sqrt(n)
    kurtosis_bound = 6 + 1 / deviation**2
    spread = deviation**2 * math.sqrt((kurtosis_bound - 1) / n)
    assert abs((drawn.astype(float) ** 2).mean() - deviation**2) < 5.5 * spread


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(22, 7), Fraction(50)])
def test_geometric_law(scale):
    # χ² with false alarm 1e-6 each.
    drawn = geometric(scale, 100_000, seeded(6))
    ratio = math.exp(-1 / scale)
    assert law_p_value(drawn, lambda k: (1 - ratio) * ratio ** k.astype(float)) > 1e-6


@pytest.mark.parametrize(
    "variance",
    [
        Fraction(1, 10),
        Fraction(1, 3),
        Fraction(1),
        Fraction(7, 2),
        Fraction(100),
        Fraction(10**9 + 7, 10**6),
    ],
)
def test_discrete_gaussian_law(variance):
    # χ² with false alarm 1e-6 each; mean and variance within 5.5 standard errors.
    n = 100_000
    drawn = discrete_gaussian(variance, n, seeded(7))
    reach = np.arange(-int(12 * math.sqrt(variance)) - 8, int(12 * math.sqrt(variance)) + 9)
    weight = np.exp(-(reach.astype(float) ** 2) / (2 * float(variance)))
    weight /= weight.sum()
    table = dict(zip(reach.tolist(), weight.tolist(), strict=True))
    assert law_p_value(drawn, lambda k: np.array([table[i] for i in k.tolist()])) > 1e-6
    exact = float((weight * reach**2).sum())
    fourth = float((weight * reach.astype(float) ** 4).sum())
    assert exact <= variance * (1 + 1e-14)
    assert abs(drawn.mean()) < 5.5 * math.sqrt(exact / n)
    assert abs((drawn.astype(float) ** 2).mean() - exact) < 5.5 * math.sqrt((fourth - exact**2) / n)


@pytest.mark.parametrize(
    ("shape", "rate"),
    [
        (Fraction(1, 3), Fraction(3, 10)),
        (Fraction(1), Fraction(1, 7)),
        (Fraction(1, 50), Fraction(1, 20)),
        (Fraction(5, 2), Fraction(2, 3)),
        (Fraction(2), Fraction(4)),
    ],
)
def test_polya_law(shape, rate):
    # χ² with false alarm 1e-6 each.
    drawn = polya(shape, rate, 100_000, seeded(8))
    assert law_p_value(drawn, lambda k: polya_pmf(k, float(shape), math.exp(-rate))) > 1e-6


def test_polya_shares_differ_by_discrete_laplace():
    # χ² with false alarm 1e-6: eleven users' shares, both signs.
    users, rate, n = 11, Fraction(1, 6), 40_000
    plus, minus = (
        polya(Fraction(1, users), rate, users * n, seeded(s)).reshape(n, users) for s in (9, 10)
    )
    noise = (plus - minus).sum(axis=1)
    assert law_p_value(noise, lambda k: discrete_laplace_pmf(k, 6.0)) > 1e-6


def test_polya_at_the_scale_of_a_release():
    # B = 2²⁰, ε = .32, the sum over 19 users: Kolmogorov–Smirnov against Laplace, false alarm 1e-6
    # (the lattice moves the distribution function by less than 1e-6).
    users, rate, n = 19, Fraction(32, 100 * 2**20), 20_000
    noise = np.zeros(n)
    for seed in (11, 12):
        share = polya(Fraction(1, users), rate, users * n, seeded(seed))
        noise = share.reshape(n, users).sum(axis=1) - noise
    assert stats.kstest(noise * float(rate), "laplace").pvalue > 1e-6


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 2**40), Fraction(353_260_000_001, 2**40), Fraction(800)]
)
def test_scales_of_a_release(epsilon):
    """B = 2²⁰ with ε from 2⁻⁴⁰: far beyond 64 bits, and still every last digit is right."""
    # Kolmogorov–Smirnov against Laplace, χ² on remainders; false alarm 1e-6 each.
    n, scale = 40_000, 2**20 / epsilon
    drawn = discrete_laplace(scale, n, seeded(13))
    real = np.array([float(Fraction(value) / scale) for value in drawn.tolist()])
    assert stats.kstest(real, "laplace").pvalue > 1e-6
    for modulus in (3, 8):
        counts = np.bincount((drawn % modulus).astype(np.int64), minlength=modulus)
        assert stats.chisquare(counts).pvalue > 1e-6
    if epsilon == Fraction(1, 2**40):
        assert drawn.dtype == object
        assert max(abs(value) for value in drawn.tolist()) > 2**62
        assert all(type(value) is int for value in drawn.tolist())


def test_large_gaussian():
    # Kolmogorov–Smirnov against the normal law, false alarm 1e-6.
    for variance in (Fraction(2**60), Fraction(2**81 + 1, 3)):
        drawn = discrete_gaussian(variance, 20_000, seeded(14)).astype(float)
        assert stats.kstest(drawn / math.sqrt(variance), "norm").pvalue > 1e-6


def test_noise_beyond_any_word():
    drawn = discrete_laplace(Fraction(2**300, 7), 2000, seeded(15))
    scaled = np.array([float(Fraction(7 * value, 2**300)) for value in drawn.tolist()])
    assert stats.kstest(scaled, "laplace").pvalue > 1e-6
    assert not discrete_laplace(Fraction(5, 2**300), 1000, seeded(15)).any()


ANY_SCALE = st.fractions(min_value=Fraction(1, 2**100), max_value=Fraction(2**100)).filter(
    lambda x: x > 0
)


@given(ANY_SCALE, st.integers(0, 30), st.integers(0, 10**6))
def test_any_parameter_gives_whole_numbers(scale, size, seed):
    for draw in (discrete_laplace, discrete_gaussian, geometric):
        values = draw(scale, size, seeded(seed))
        assert values.shape == (size,)
        assert values.dtype in (np.int64, object)
        assert all(type(value) is int for value in values.tolist())
    shares = polya(min(scale, Fraction(3)), scale, size, seeded(seed))
    assert shares.shape == (size,)
    assert all(type(value) is int and value >= 0 for value in shares.tolist())


EDGES = [1, 3, 2**31, 2**32 + 1, 2**61 - 1, 2**62, 2**63 - 1, 2**63, 2**64 + 1, 10**40 + 1]


@pytest.mark.full
@pytest.mark.parametrize("numerator", EDGES)
def test_words_and_python_integers_give_the_same_draws(monkeypatch, numerator):
    """No product leaves 64 bits unseen: with every product in Python's integers nothing changes."""

    def all_draws() -> list[list[int]]:
        drawn = []
        for denominator in EDGES[EDGES.index(numerator) % 2 :: 2]:
            scale = Fraction(numerator, denominator)
            for draw in (geometric, discrete_laplace, discrete_gaussian):
                drawn.append(draw(scale, 40, seeded(22)).tolist())
            for shape in (Fraction(1, 7), Fraction(3)):
                drawn.append(polya(shape, scale, 40, seeded(23)).tolist())
        return drawn

    quick = all_draws()
    monkeypatch.setattr(exact, "INT64_BOUND", 0)
    monkeypatch.setattr(polya_module, "INT64_BOUND", 0)
    assert all_draws() == quick


def test_same_bits_same_noise_and_the_system_never_repeats():
    for draw in (discrete_laplace, discrete_gaussian):
        a, b = (draw(Fraction(1000), 50, seeded(1)) for _ in range(2))
        np.testing.assert_array_equal(a, b)
        c, d = (draw(Fraction(10**12), 50, SystemBits()) for _ in range(2))
        assert (c != d).any()


def test_a_source_must_be_given():
    """No sampler falls back to a source, seeded or not, that its caller did not choose."""
    for draw in (discrete_laplace, discrete_gaussian, geometric, polya, bernoulli_exp):
        assert inspect.signature(draw).parameters["bits"].default is inspect.Parameter.empty


@pytest.mark.parametrize("module", [exact, polya_module, bits_module])
def test_no_float_is_written(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            assert not isinstance(node.value, float), node.lineno
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            assert "float" not in name.lower(), node.lineno
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "math" or node.attr in {"isqrt", "ceil", "factorial"}


def test_no_float_occurs_while_drawing():
    """Every local variable of every line that runs in these modules is traced."""
    files = {exact.__file__, polya_module.__file__, bits_module.__file__}
    lines = 0

    def is_float(value: object) -> bool:
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return any(map(is_float, value.tolist()))
            return value.dtype.kind not in "iub"
        if isinstance(value, list | tuple | set):
            return any(map(is_float, value))
        return isinstance(value, float | complex | np.floating)

    found: list[tuple[int, str]] = []

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename not in files:
            return None
        lines += 1
        found.extend((frame.f_lineno, k) for k, v in frame.f_locals.items() if is_float(v))
        if event == "return" and is_float(argument):
            found.append((frame.f_lineno, "returned"))
        return trace

    for law in (exact._steps_law, polya_module._unit_poisson):
        law.cache_clear()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for scale in (
            Fraction(1, 3),
            Fraction(22, 7),
            Fraction(2**60, 353_260_000_001),
            Fraction(2**80),
        ):
            discrete_laplace(scale, 20, seeded(1))
            discrete_gaussian(scale, 20, seeded(1))
            polya(Fraction(2, 7), 1 / scale, 20, seeded(1))
    finally:
        sys.settrace(before)
    assert found == []
    assert lines > 1000


def test_ratio_of_neighbouring_outcomes():
    # P(k)/P(k+1) = e^{1/b} for k ≥ 0: binomial tests with false alarm 1e-6/8 each.
    drawn = np.abs(discrete_laplace(Fraction(5, 2), 200_000, seeded(16)))
    for k in range(1, 9):
        here, there = int((drawn == k).sum()), int((drawn == k + 1).sum())
        share = 1 / (1 + math.exp(-0.4))
        assert stats.binomtest(here, here + there, share).pvalue > 1e-6 / 8


def test_audit_of_discrete_laplace():
    # A count and the next one; the bound exceeds 1/b = 1 with probability at most 1e-6.
    halves = []
    for seed in (17, 18):
        noisy = discrete_laplace(Fraction(1), 400_000, seeded(seed)).reshape(2, -1) + np.array(
            [[1], [0]]
        )
        halves.append([np.bincount(np.clip(row + 20, 0, 40), minlength=41) for row in noisy])
    events = likeliest_events(*halves[0])
    found = epsilon_lower_bound(*(events @ half for half in halves[1]), 200_000)
    assert 0.95 < found.epsilon <= 1


def test_audit_would_find_a_doubled_zero():
    """Without drawing minus zero anew 0 is twice as likely as it may be; the audit sees it."""
    magnitude = geometric(Fraction(1), 400_000, seeded(19))
    sign = np.where(bernoulli(Fraction(1, 2), 400_000, seeded(20)), -1, 1)
    wrong = (magnitude * sign).reshape(2, -1) + np.array([[1], [0]])
    at_one = [int((row == 1).sum()) for row in wrong]
    assert epsilon_lower_bound([at_one[0]], [at_one[1]], 200_000).epsilon > 1.5


def test_audit_of_discrete_gaussian():
    # P(Z ≥ c) against P(Z + 1 ≥ c) with the exact law; the bound is too high with chance 1e-6.
    n, variance = 300_000, Fraction(4)
    noise = discrete_gaussian(variance, 2 * n, seeded(21)).reshape(2, -1)
    reach = np.arange(-60, 61)
    weight = np.exp(-(reach.astype(float) ** 2) / 8)
    weight /= weight.sum()
    cuts = [1, 2, 3, 4, 5]
    exact = max(math.log(weight[reach >= c - 1].sum() / weight[reach >= c].sum()) for c in cuts)
    hits = [(noise[0] + 1 >= c).sum() for c in cuts], [(noise[1] >= c).sum() for c in cuts]
    found = epsilon_lower_bound(*hits, n).epsilon
    assert 0.8 * exact < found <= exact


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: discrete_laplace(0.5, 1, seeded(0)), TypeError, "scale: 0.5 is neither"),
        (lambda: discrete_laplace(True, 1, seeded(0)), TypeError, "scale: True is neither"),
        (
            lambda: discrete_laplace(Fraction(0), 1, seeded(0)),
            ValueError,
            "scale: 0 is not above 0",
        ),
        (
            lambda: geometric(Fraction(-1, 2), 1, seeded(0)),
            ValueError,
            "scale: -1/2 is not above 0",
        ),
        (lambda: discrete_gaussian(Fraction(0), 1, seeded(0)), ValueError, "variance: 0 is not"),
        (lambda: discrete_laplace(Fraction(1), -1, seeded(0)), ValueError, "size: -1 is below 0"),
        (
            lambda: polya(Fraction(0), Fraction(1), 1, seeded(0)),
            ValueError,
            "shape: 0 is not above 0",
        ),
        (
            lambda: polya(Fraction(1), Fraction(-1), 1, seeded(0)),
            ValueError,
            "rate: -1 is not above 0",
        ),
        (
            lambda: bernoulli(Fraction(3, 2), 1, seeded(0)),
            ValueError,
            "probability: 3/2 is outside",
        ),
        (lambda: bernoulli_exp(np.array([-1]), 1, seeded(0)), ValueError, "numerators: -1 is"),
        (lambda: bernoulli_exp(np.array([1]), 0, seeded(0)), ValueError, "denominator: 0 is"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, error, words):
    with pytest.raises(error, match=words):
        call()
