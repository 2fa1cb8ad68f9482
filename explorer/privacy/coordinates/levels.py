"""Privacy levels of coordinates: exact, certified, and as hypothesis tests.

**Exact levels of a mechanism on a finite domain, by enumeration.** A domain is a product of finite
sets of the given sizes, its points numbered with the last coordinate fastest; ``prior[x]`` is a
probability and ``channel[x][y]`` = P(y | x). Suprema over events reduce to single outputs and to
pairs of values. Only ratios of likelihoods matter, so a channel may also be given up to a positive
factor for each output, and in logarithms (``log_channel``).

**Certificates: what a mechanism's CDP and LDP levels imply for a coordinate (Propositions 3, 4,
6).** A mechanism that is L-LDP and c-CDP is so against every adversary. Its coordinate level δ_i
holds only against beliefs whose coupling q_i (the total variation between the laws of the other
coordinates given two values of coordinate i) is at most the q that was assumed, which must be
public: never estimate it from the protected records. Levels δ_i do not compose; c and L do, and δ_i
is computed again from their sums.

**Coordinate levels as error rates of an adversary's test (Theorem 1).** Of a test of the hypothesis
x_i ∈ S against x_i ∈ S', α is the probability of rejecting it when it is true, P{M ∈ R | x_i ∈ S}
(the proof prints x ∈ S_i; errata coord-A6), and β that of keeping it when it is false.

**Logarithms of mixtures: the few exponentials of this paper, safe from overflow and from
cancellation.** Each is the naive formula wherever that one is accurate, and an equal one elsewhere
(errata coord-B1, coord-B2, coord-B6).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray


def log_mix(q: ArrayLike, low: ArrayLike, high: ArrayLike) -> FloatArray:
    """Return log((1−q)·e^low + q·e^high) for q in [0, 1] and 0 ≤ low, high ≤ ∞.

    With ``low = 0`` it is log(1 + q(e^high − 1)), the correlation term of Proposition 4.
    """
    q, low, high = np.asarray(q, float), np.asarray(low, float), np.asarray(high, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # expm1 keeps relative accuracy where both levels are small, logaddexp where e^high is not
        # a number.
        small = np.log1p((1.0 - q) * np.expm1(low) + q * np.expm1(high))
        large = np.logaddexp(np.log1p(-q) + low, np.log(q) + high)
        mixed = np.where(np.maximum(low, high) < 30.0, small, large)
    # At q = 0 and 1 the other exponential must not be read at all: it may be infinite.
    mixed = np.where(q == 0.0, low, np.where(q == 1.0, high, mixed))
    result: FloatArray = np.asarray(mixed)
    return result


def log_mix_high(q: ArrayLike, target: ArrayLike) -> FloatArray:
    """Return the `high` at which log(1 + q(e^high − 1)) is `target`: log(1 + (e^target − 1)/q).

    Infinite at q = 0.
    """
    q, target = np.asarray(q, float), np.asarray(target, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = np.expm1(target) / q
        small = np.log1p(ratio)
        large = target - np.log(q) + np.log1p(-(1.0 - q) * np.exp(-target))
        value = np.where((ratio < 1e300) & (target < 30.0), small, large)
    value = np.where(q == 1.0, target, np.where(q == 0.0, np.inf, value))
    result: FloatArray = np.asarray(value)
    return result


def log_mix_low(q: ArrayLike, target: ArrayLike, high: ArrayLike) -> FloatArray:
    """Return the `low` at which log((1−q)e^low + q·e^high) is `target`, capped at `high`.

    NaN where none is at least 0: then q·e^high alone is too much.
    """
    q, target, high = np.asarray(q, float), np.asarray(target, float), np.asarray(high, float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        small = np.log1p((np.expm1(target) - q * np.expm1(high)) / (1.0 - q))
        large = target + np.log1p(-np.exp(np.log(q) + high - target)) - np.log1p(-q)
        low = np.where(np.maximum(target, high) < 30.0, small, large)
        low = np.where(q == 0.0, target, low)
        low = np.where(low >= 0.0, low, np.nan)
    result: FloatArray = np.where(high <= target, high, np.minimum(low, high))
    return result


def log_mix_total(q: ArrayLike, target: ArrayLike, low: ArrayLike) -> FloatArray:
    """Return the `high` at which log((1−q)e^low + q·e^high) is `target`, for low ≤ target.

    Infinite at q = 0, `target` at low = target.
    """
    low = np.asarray(low, float)
    result: FloatArray = low + log_mix_high(q, np.maximum(np.asarray(target, float) - low, 0.0))
    return result


def _log_channel(channel: ArrayLike) -> FloatArray:
    array = checks.reals("channel", channel, 0.0, 1.0)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"channel must be a matrix P(y|x), got shape {array.shape}")
    if np.abs(array.sum(axis=1) - 1.0).max() > 1e-9:
        raise ValueError(f"rows of channel must sum to 1, got {array.sum(axis=1).tolist()}")
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(array)
    return result


def _prior(prior: ArrayLike, points: int) -> FloatArray:
    array = checks.reals("prior", prior, 0.0, 1.0)
    if array.shape != (points,):
        raise ValueError(f"prior must have shape ({points},), got {array.shape}")
    if abs(array.sum() - 1.0) > 1e-9:
        raise ValueError(f"prior must sum to 1, got {array.sum():g}")
    return array


def _sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    values = checks.whole("sizes", list(sizes), 1)
    if not values.size:
        raise ValueError("sizes must have at least one coordinate, got none")
    return tuple(int(size) for size in values)


def _spread(logs: FloatArray) -> float:
    """Return the largest difference along the first axis, ignoring impossible outputs."""
    top, bottom = logs.max(axis=0), logs.min(axis=0)
    possible = top > -math.inf
    if not possible.any():
        return 0.0
    return float((top[possible] - bottom[possible]).max())


def ldp_level(channel: ArrayLike) -> float:
    """Return the smallest ε for which the channel is ε-LDP."""
    return _spread(_log_channel(channel))


def bdp_level(prior: ArrayLike, channel: ArrayLike) -> float:
    """Return the smallest ε of Bayesian DP: LDP over the inputs of positive mass (Prop. 1)."""
    logs = _log_channel(channel)
    return _spread(logs[_prior(prior, logs.shape[0]) > 0.0])


def cdp_levels(sizes: Sequence[int], channel: ArrayLike) -> FloatArray:
    """Return the smallest c_i of coordinate DP: inputs that differ in coordinate i alone."""
    return cdp_levels_from_logs(sizes, _log_channel(channel))


def cdp_levels_from_logs(sizes: Sequence[int], log_channel: FloatArray) -> FloatArray:
    """Return `cdp_levels` of log-likelihoods known up to a constant for each output."""
    shape = _sizes(sizes)
    cube = _reshape(shape, log_channel)
    return np.array([_spread(np.moveaxis(cube, i, 0)) for i in range(len(shape))])


def _reshape(shape: tuple[int, ...], log_channel: FloatArray) -> FloatArray:
    if log_channel.shape[0] != math.prod(shape):
        raise ValueError(
            f"channel must have one row a point, {math.prod(shape)}, got {log_channel.shape[0]}"
        )
    return log_channel.reshape(*shape, log_channel.shape[1])


def bcdp_levels(sizes: Sequence[int], prior: ArrayLike, channel: ArrayLike) -> FloatArray:
    """Return the smallest δ_i of Bayesian coordinate DP for this prior (Definition 4).

    max_y log(max_s P(y|x_i=s)/min_s P(y|x_i=s)) over the values s of positive mass: 0 if there is
    one such value, infinite if an output excludes a value.
    """
    return bcdp_levels_from_logs(sizes, prior, _log_channel(channel))


def bcdp_levels_from_logs(
    sizes: Sequence[int], prior: ArrayLike, log_channel: FloatArray
) -> FloatArray:
    """Return `bcdp_levels` of log-likelihoods known up to a constant for each output."""
    return np.array(
        [
            _spread(log_conditional_laws(sizes, prior, log_channel, i))
            for i in range(len(_sizes(sizes)))
        ]
    )


def log_conditional_laws(
    sizes: Sequence[int], prior: ArrayLike, log_channel: FloatArray, i: int
) -> FloatArray:
    """Return log P(y | x_i = s) for the values s of positive mass, shape (values, outputs)."""
    shape = _sizes(sizes)
    cube = np.moveaxis(_reshape(shape, log_channel), i, 0)
    cube = cube.reshape(shape[i], -1, log_channel.shape[1])
    mass = np.moveaxis(_prior(prior, math.prod(shape)).reshape(shape), i, 0).reshape(shape[i], -1)
    marginal = mass.sum(axis=1)
    mass, cube = mass[marginal > 0.0], cube[marginal > 0.0]
    with np.errstate(divide="ignore"):
        weights = np.log(mass) - np.log(mass.sum(axis=1, keepdims=True))
    result: FloatArray = np.logaddexp.reduce(weights[:, :, None] + cube, axis=1)
    return result


def conditional_laws(
    sizes: Sequence[int], prior: ArrayLike, channel: ArrayLike, i: int
) -> FloatArray:
    """Return the laws P(· | x_i = s), one row for each value s of positive mass.

    These are the hypotheses of Theorem 1's test; see `tradeoff_beta`.
    """
    checks.whole("i", i, 0, len(_sizes(sizes)) - 1)
    result: FloatArray = np.exp(log_conditional_laws(sizes, prior, _log_channel(channel), i))
    return result


def composed_channel(channel: ArrayLike, copies: int = 2) -> FloatArray:
    """Return the channel of conditionally independent copies, outputs of the last one fastest."""
    count = int(checks.whole("copies", copies, 1))
    base = np.exp(_log_channel(channel))
    if base.shape[1] ** count * base.shape[0] > 50_000_000:
        raise ValueError(f"copies must leave at most 5e7 entries, got {count}")
    result = base
    for _ in range(count - 1):
        result = (result[:, :, None] * base[:, None, :]).reshape(base.shape[0], -1)
    return result


def composed_bcdp_levels(
    sizes: Sequence[int], prior: ArrayLike, channel: ArrayLike, copies: int = 2
) -> FloatArray:
    """Return the exact coordinate levels of independent copies; they do not add (Example 2)."""
    return bcdp_levels(sizes, prior, composed_channel(channel, copies))


def post_processed(channel: ArrayLike, kernel: ArrayLike) -> FloatArray:
    """Return the channel whose output is changed at random, without looking at the record.

    No level of coordinates is more afterwards (Proposition 5), nor is any other.

    Parameters
    ----------
    channel : array_like of shape (points, outputs)
        P(y | x).
    kernel : array_like of shape (outputs, new outputs)
        P(z | y); rows of one 1 merge outputs.
    """
    first, second = np.exp(_log_channel(channel)), np.exp(_log_channel(kernel))
    if second.shape[0] != first.shape[1]:
        raise ValueError(
            f"kernel must have one row an output, {first.shape[1]}, got {second.shape[0]}"
        )
    result: FloatArray = np.minimum(first @ second, 1.0)
    return result


def coupling(sizes: Sequence[int], prior: ArrayLike, *, later_only: bool = False) -> FloatArray:
    """Return q_i, the largest total variation between laws of x_{−i} given two values of x_i.

    The supremum over pairs of events in Assumption 1 reduces to pairs of values of positive mass.
    This is exact for the given prior. On a coarser domain, or over fewer coordinates, it is only a
    lower bound and certifies nothing.

    Parameters
    ----------
    sizes, prior : the domain and its law
    later_only : bool
        Measure the law of x_{i+1…d} alone: what M_mean needs, since channels that do not contain i
        see only those.
    """
    shape = _sizes(sizes)
    cube = _prior(prior, math.prod(shape)).reshape(shape)
    result = np.zeros(len(shape))
    for i, size in enumerate(shape):
        table = cube.sum(axis=tuple(range(i))) if later_only else np.moveaxis(cube, i, 0)
        table = table.reshape(size, -1)
        table = table[table.sum(axis=1) > 0.0]
        table = table / table.sum(axis=1, keepdims=True)
        for law in table:
            result[i] = max(result[i], 0.5 * np.abs(table - law).sum(axis=1).max())
    return np.minimum(result, 1.0)


def example1_channel(a: float, b: float, c: float) -> FloatArray:
    """Return the channel of Example 1 on {0,1}²: not LDP, yet with finite coordinate levels."""
    for name, value in (("a", a), ("b", b), ("c", c)):
        checks.reals(name, value, 0.0, 1.0, open_low=True)
    # P(1 | x_1, x_2), the points in the order 00, 01, 10, 11.
    one = np.array([a, 0.0, b, c])
    return np.stack([1.0 - one, one], axis=1)


def example1_levels(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> FloatArray:
    """Return Example 1's levels (δ_1, δ_2) under the uniform prior, in closed form, shape (…, 2).

    (log 2, log 2) at ½, ½, ½. The paper allows all a, b, c in (0, 1]; δ_1 is infinite at b = c = 1
    and δ_2 at a = b = 1 (errata coord-A5).
    """
    a = checks.reals("a", a, 0.0, 1.0, open_low=True)
    b = checks.reals("b", b, 0.0, 1.0, open_low=True)
    c = checks.reals("c", c, 0.0, 1.0, open_low=True)

    def level(
        one: tuple[FloatArray, FloatArray], zero: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """Level between laws with twice P(1) and twice P(0); outputs of neither do not count."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ones = np.abs(np.log(one[0]) - np.log(one[1]))
            zeros = np.abs(np.log(zero[0]) - np.log(zero[1]))
        zeros = np.where((zero[0] == 0.0) & (zero[1] == 0.0), 0.0, zeros)
        result: FloatArray = np.maximum(ones, zeros)
        return result

    # 1 − a and so on are exact or nearly so, 2 − (b + c) is not.
    no_a, no_b, no_c = 1.0 - a, 1.0 - b, 1.0 - c
    return np.stack(
        [
            level((a, b + c), (no_a + 1.0, no_b + no_c)),
            level((a + b, c), (no_a + no_b, no_c + 1.0)),
        ],
        axis=-1,
    )


def example2_channel() -> FloatArray:
    """Return the channel of Example 2 on {0,1}³: levels (0, log 3, log 3), twice (∞, log 5, log 5).

    Outputs are the pairs 00, 01, 10, 11.
    """
    channel = np.zeros((8, 4))
    for x in range(8):
        x1, x2, x3 = x >> 2 & 1, x >> 1 & 1, x & 1
        channel[x, 2 * (x1 ^ x2) + x3] += 0.5
        channel[x, 2 * x2 + (x1 ^ x3)] += 0.5
    return channel


def copies_prior(d: int, q: float) -> FloatArray:
    """Return the prior (60) of Figure 3 on {0,1}^d: all equal with probability q, else fair coins.

    Its coupling is q for every coordinate if d ≥ 2. At most d = 20.
    """
    count = int(checks.whole("d", d, 1, 20))
    checks.reals("q", q, 0.0, 1.0)
    prior = np.full(2**count, (1.0 - q) / 2.0**count)
    prior[0] += q / 2.0
    prior[-1] += q / 2.0
    return prior


def bcdp_from_ldp(eps: ArrayLike, d: int) -> FloatArray:
    """Return the levels ε·1 that every ε-LDP mechanism has (Proposition 3), shape (…, d)."""
    eps = checks.reals("eps", eps, 0.0)
    count = int(checks.whole("d", d, 1))
    result: FloatArray = np.repeat(eps[..., None], count, axis=-1)
    return result


def ldp_from_cdp(c: ArrayLike) -> FloatArray:
    """Return Σ_i c_i over the d coordinates, the LDP level of every c-CDP mechanism.

    Proposition 4, part 1, prints the sum up to n, which is the number of users (errata coord-A6).
    """
    result: FloatArray = checks.positive_levels("c", c).sum(axis=-1)
    return result


def bcdp_from_cdp(c: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return c_i + log(1 + q_i(e^{Σ_{j≠i} c_j} − 1)) (Proposition 4, part 1), shape (…, d).

    Needs CDP on the whole product domain, prior mass or not (errata coord-B15).
    """
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    # Sums from both sides: subtracting c_i from the total would lose small levels beside large.
    zero = np.zeros_like(c[..., :1])
    left = np.concatenate([zero, np.cumsum(c[..., :-1], axis=-1)], axis=-1)
    right = np.concatenate([np.cumsum(c[..., :0:-1], axis=-1)[..., ::-1], zero], axis=-1)
    result: FloatArray = c + log_mix(q, 0.0, left + right)
    return result


def bcdp_from_cdp_and_ldp(c: ArrayLike, q: ArrayLike, eps: ArrayLike) -> FloatArray:
    """Return min(c_i + log(1 + q_i(e^ε − 1)), ε) (Proposition 4, part 2), shape (…, d)."""
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    eps = checks.reals("eps", eps, 0.0)[..., None]
    result: FloatArray = np.minimum(c + log_mix(q, 0.0, eps), eps)
    return result


def best_certificate(c: ArrayLike, q: ArrayLike, total: ArrayLike) -> FloatArray:
    """Return log((1−q_i)e^{c_i} + q_i·e^L), at most Proposition 4's level (beyond the paper, 1).

    Of two values of coordinate i, a maximal coupling of the other coordinates leaves them as they
    are with probability at least 1 − q_i, and then the loss is at most c_i; otherwise at most L.
    It is attained when q_i alone is bounded, conservative when all q_j are, and it is not the
    level for a given prior.

    Parameters
    ----------
    c : array_like of shape (…, d)
        CDP levels in [0, ∞]; those above L count as L, since L-LDP implies them.
    q : array_like, broadcast against c
        Couplings in [0, 1]; scalars hold for every coordinate. Sweep it: the levels are a function
        of the true coupling, from c_i at 0 to L at 1.
    total : array_like of shape (…)
        LDP level L in [0, ∞].
    """
    c = checks.positive_levels("c", c)
    q = checks.reals("q", q, 0.0, 1.0)
    total = checks.reals("total", total, 0.0)[..., None]
    return log_mix(q, np.minimum(c, total), total)


def repeated_certificate(
    c: ArrayLike, q: ArrayLike, total: ArrayLike, releases: ArrayLike
) -> FloatArray:
    """Return the levels after a number of independent releases.

    c and L add over releases; coordinate levels do not (Example 2: level 0 once, infinite twice).
    """
    count = checks.whole("releases", releases, 0)
    c = checks.positive_levels("c", c)
    total = checks.reals("total", total, 0.0)
    with np.errstate(invalid="ignore"):
        many = np.where(count[..., None] > 0, count[..., None] * c, 0.0)
        sums = np.where(count > 0, count * total, 0.0)
    return best_certificate(many, q, sums)


def linear_budget_matrix(coordinate_levels: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return A_δ of Proposition 6, equation (53): A·c ≤ 1 suffices for part 1's levels.

    A_ii = 1/δ_i and A_ij = 1/log(1 + (e^{δ_i} − 1)/q_i), which is 0 where q_i = 0. Row i does not
    depend on the column off the diagonal.

    Parameters
    ----------
    coordinate_levels : array_like of shape (d,)
        Levels in (0, ∞]; a level 0 must be treated on its own, c_i = 0 (errata coord-C4).
    q : array_like of shape () or (d,)
        Couplings in [0, 1].
    """
    levels = checks.reals("coordinate_levels", coordinate_levels, 0.0, open_low=True)
    if levels.ndim != 1 or not levels.size:
        raise ValueError(f"coordinate_levels must be a vector, got shape {levels.shape}")
    q = np.broadcast_to(checks.reals("q", q, 0.0, 1.0), levels.shape)
    with np.errstate(over="ignore"):
        off = np.where(np.isinf(levels), 0.0, 1.0 / log_mix_high(q, np.minimum(levels, 1e300)))
        matrix = np.repeat(off[:, None], levels.size, axis=1)
        np.fill_diagonal(matrix, 1.0 / levels)
    result: FloatArray = matrix
    return result


def linear_budget_scale(coordinate_levels: ArrayLike, q: ArrayLike, direction: ArrayLike) -> float:
    """Return the largest t for which t·direction satisfies Proposition 6.

    Infinite if the direction costs nothing (it is 0 wherever it matters).
    """
    direction = checks.reals("direction", direction, 0.0, open_high=True)
    matrix = linear_budget_matrix(coordinate_levels, q)
    if direction.shape != matrix.shape[:1]:
        raise ValueError(f"direction must have shape {matrix.shape[:1]}, got {direction.shape}")
    used = float((matrix @ direction).max())
    return 1.0 / used if used > 0.0 else math.inf


def tradeoff_bound(level: ArrayLike, type1: ArrayLike) -> FloatArray:
    """Return max(0, 1 − e^δ·α, e^{−δ}(1 − α)), below which no test's type II error can be.

    Parameters
    ----------
    level : array_like
        Coordinate level δ_i in [0, ∞].
        An infinite one allows every test: the bound is 0, at α = 0 too.
    type1 : array_like
        Type I error α in [0, 1]; broadcast against `level`.
    """
    level = checks.reals("level", level, 0.0)
    type1 = checks.reals("type1", type1, 0.0, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # A report that excludes a value raises no false alarms, so e^∞·0 is not 0 here.
        never = np.where(np.isinf(level), 0.0, 1.0)
        steep = np.where(type1 > 0.0, 1.0 - np.exp(level + np.log(type1)), never)
    flat = np.exp(-level) * (1.0 - type1)
    result: FloatArray = np.maximum(0.0, np.maximum(steep, flat))
    return result


def tradeoff_beta(P: ArrayLike, Q: ArrayLike, type1: ArrayLike) -> FloatArray:
    """Return the smallest type II error at a type I error, by Neyman and Pearson.

    Randomised tests included: the curve is convex, non-increasing and piecewise linear.

    Parameters
    ----------
    P, Q : array_like of shape (outputs,)
        Laws under the hypothesis and under the alternative.
    type1 : array_like
        Type I errors in [0, 1].
    """
    p, q = checks.reals("P", P, 0.0, 1.0), checks.reals("Q", Q, 0.0, 1.0)
    for name, law in (("P", p), ("Q", q)):
        if law.ndim != 1 or law.shape != p.shape or abs(law.sum() - 1.0) > 1e-9:
            raise ValueError(f"{name} must be a law on the outputs, got sum {law.sum():g}")
    type1 = checks.reals("type1", type1, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((p == 0.0) & (q == 0.0), -1.0, q / p)
    order = np.argsort(-ratio, kind="stable")
    alphas = np.concatenate([[0.0], np.cumsum(p[order])])
    betas = np.maximum(1.0 - np.concatenate([[0.0], np.cumsum(q[order])]), 0.0)
    # Outputs impossible under P cost nothing: where α repeats, the last β counts.
    last = np.append(np.diff(alphas) > 0.0, True)
    result: FloatArray = np.interp(type1, alphas[last], betas[last])
    return result


def level_of_tradeoff(P: ArrayLike, Q: ArrayLike) -> float:
    """Return the smallest δ whose region contains the trade-off of two laws, both ways.

    One ordered pair alone is one-sided (errata coord-C5); the level is the larger of the two.
    """
    p, q = checks.reals("P", P, 0.0, 1.0), checks.reals("Q", Q, 0.0, 1.0)
    possible = (p > 0.0) | (q > 0.0)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(p[possible]) - np.log(q[possible])).max())
