"""Upper bound on the Rényi DP of one round of the subsampled shuffle model (Theorem 1).

One round samples k of n clients without replacement, each runs the same ε₀-LDP randomiser, and
the shuffler hands on the multiset of their messages. Neighbours differ by replacing one record.

**The core of the theorem: ternary |χ|^α divergences of shuffled messages, and Lemma 2.** D_α =
E_R|(P−Q)/R|^α, where P, Q and R are the laws of k shuffled messages whose data sets differ in one
client's record only (Definition 4). Lemma 2 makes Rényi levels of the D_α of all orders, Theorem 4
bounds them for any data of the others, Theorem 6 where these are alike. Binary and three-symbol
randomised response (2RR, 3RR) have exact values, below which no bound can lie.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_half_pmf, log_pmf, logistic_log_p
from explorer.privacy.core.bound import SHUFFLE_RDP, FloatArray, Reference
from explorer.privacy.core.composition import pure_dp_renyi, subsampled_epsilon
from explorer.privacy.core.divergences import orders_up_to, softplus
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised

_BLOCK = 32
_CACHED_ORDERS = 1024
_DEEPEST = -400.0
"""Weights of a block lower than this are not trusted to a product for orders inside the block."""
THEOREM_4 = Reference(SHUFFLE_RDP, "Theorem 4", "any data of the others")
THEOREM_6 = Reference(SHUFFLE_RDP, "Theorem 6", "the others alike")
SHARP = Reference(
    SHUFFLE_RDP, "Theorem 5 with the sharp α = 2", "ours: linear programme over all randomisers"
)
SHARP_ALIKE = Reference(
    SHUFFLE_RDP, "Theorem 6 for α = 2, sharp", "ours: linear programme over all randomisers"
)
EXACT_2RR = Reference(SHUFFLE_RDP, "Definition 4 of binary randomised response", "summed exactly")
EXACT_3RR = Reference(
    SHUFFLE_RDP, "Definition 4 of three-symbol randomised response", "summed exactly"
)
MAX_ALPHA = 64
"""Largest α of the exact values."""
_MAX_LOCAL = 10.0
_FINE = 400.0
"""Counts on a deviation, of very many: the sum over every h-th is then good to 1e-10."""
_ROWS = 3.0


def log_two_sinh(x: FloatArray) -> FloatArray:
    """Return ln(e^x − e^−x) for x ≥ 0; −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-2 * x)))


def effective_clones(eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return k̄ = ⌊(k−1)/(2e^ε₀)⌋ + 1, rounded down where the floor is within rounding (shuf-B3)."""
    x = (np.asarray(k, float) - 1) * 0.5 * np.exp(-np.asarray(eps0, float))
    return scalar_if_0d(np.floor(x * (1 - 2.0**-50)) + 1)


def log_alike(eps0: FloatArray, m: FloatArray, top: int) -> FloatArray:
    """Return ln of Theorem 6's bounds on D_j of m messages, the others alike, for j = 2…top.

    4(e^ε₀−1)²/(m·e^ε₀) for j = 2 and jΓ(j/2)(2s²/m)^{j/2} from 3 on; shape (..., top−1).
    """
    j = np.arange(2.0, top + 1)
    eps0, log_m = eps0[..., None], np.log(m)[..., None]
    spread = math.log(2) + 2 * log_two_sinh(eps0) - log_m
    log_z = np.log(j) + _log_gamma_halves(top) + (j / 2) * spread
    log_z[..., 0] = (math.log(4) + 2 * log_two_sinh(eps0 / 2) - log_m)[..., 0]
    return np.asarray(log_z)


def log_mixed(eps0: FloatArray, k: FloatArray, top: int) -> FloatArray:
    """Return ln of Theorem 4's bounds on D_j of k messages, z_j + s^j e^{−(k−1)/(8e^ε₀)}."""
    j = np.arange(2.0, top + 1)
    log_z = log_alike(eps0, np.asarray(effective_clones(eps0, k)), top)
    eps0, k = eps0[..., None], k[..., None]
    return np.logaddexp(log_z, j * log_two_sinh(eps0) - (k - 1) * np.exp(-eps0) / 8)


def log_sharp_mixed(eps0: FloatArray, k: FloatArray) -> FloatArray:
    """Return ln of a bound on D_2 of k messages, sharper than Theorem 4 (`sharp_mixed`)."""
    inverse = np.exp(-eps0)
    share = np.where(inverse < 0.5, 2 / (1 + 2 * inverse), 1.0)
    # (1 − 1/E)^k; at ε₀ = 0 nothing is left of it.
    with np.errstate(divide="ignore"):
        none = np.exp(k * np.log(-np.expm1(-eps0)))
    log_square = 2 * log_two_sinh(eps0 / 2) + eps0
    return np.asarray(log_square + np.log(share) - np.log(k) + np.log1p(-none))


def _log_weights(
    eps0: FloatArray, k: FloatArray, n: FloatArray, top: int, sharp: bool
) -> FloatArray:
    """Return j·ln γ + ln of the bound on D_j for j = 2…top, shape (..., top−1)."""
    log_d = log_mixed(eps0, k, top)
    if sharp:
        log_d[..., 0] = np.minimum(log_d[..., 0], log_sharp_mixed(eps0, k))
    return np.asarray(np.arange(2.0, top + 1) * np.log(k / n)[..., None] + log_d)


class _Block(NamedTuple):
    """Columns j of the binomials: those of orders λ inside the block, and all from its first on."""

    triangle: FloatArray
    matrix: FloatArray
    row: FloatArray
    column: FloatArray


@lru_cache(maxsize=4)
def _log_gamma_halves(top: int) -> FloatArray:
    return np.array([math.lgamma(i / 2) for i in range(2, top + 1)])


def _log_binomials(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return ln C(λ, j) for integer λ (rows) and j (columns), −∞ where j > λ."""
    table = np.array([math.lgamma(i + 1.0) for i in range(int(rows[-1]) + 1)])
    lam, j = rows.astype(int)[:, None], columns.astype(int)[None, :]
    inside = j <= lam
    jj = np.where(inside, j, 0)
    return np.where(inside, table[lam] - table[jj] - table[lam - jj], -np.inf)


def _block(start: int, lam_max: int) -> _Block:
    """Return one block of columns j = start… of the matrix ln C(λ, j), split for a product.

    Rows λ ≥ start are factored as row + column + ln(matrix), the matrix within e^±300 of 1 below
    the block, so that the product with weights of any size is a plain matrix product.
    """
    stop = min(start + _BLOCK - 1, lam_max)
    columns = np.arange(float(start), stop + 1)
    full = _log_binomials(np.arange(float(start), lam_max + 1), columns)
    triangle = full[: columns.size].copy()
    column = full[(columns.size + full.shape[0]) // 2 if lam_max > stop else -1].copy()
    full -= column
    row = full.max(axis=1)
    return _Block(triangle, np.exp(full - row[:, None]).T.copy(), row, column)


@lru_cache(maxsize=4)
def _blocks(lam_max: int) -> tuple[_Block, ...]:
    return tuple(_block(start, lam_max) for start in range(2, lam_max + 1, _BLOCK))


def binomial_transform(log_weights: FloatArray, lam_max: int) -> FloatArray:
    """Return ln Σ_{j=2}^{λ} C(λ,j)·w_j for λ = 2…λ_max.

    Parameters
    ----------
    log_weights : array of float, shape (P, λ_max−1)
        ln w_j for j = 2…λ_max, of any size; no −∞.
    lam_max : int

    Returns
    -------
    ndarray of float, shape (P, λ_max−1)

    Notes
    -----
    Naive evaluation overflows from λ = 344 on (errata shuf-A5). Here the triangle of ln C(λ, j) is
    cut into columns of 32 orders: within a block the logarithms range so little, once row and
    column offsets are taken out, that a matrix product cannot lose a term that matters.
    """
    starts = range(2, lam_max + 1, _BLOCK)
    cached = _blocks(lam_max) if lam_max <= _CACHED_ORDERS else None
    # What each block of columns adds to every order, −∞ to those below it.
    parts = np.full((len(starts), *log_weights.shape), -np.inf)
    for index, start in enumerate(starts):
        block = cached[index] if cached is not None else _block(start, lam_max)
        first = start - 2
        last = first + block.column.size
        weights = log_weights[:, first:last]
        shifted = weights + block.column
        top = shifted.max(axis=-1, keepdims=True)
        shifted -= top
        skipped = 0
        if float(shifted.min()) < _DEEPEST:
            # An order inside the block has only some of its columns, perhaps none that is left by
            # the product: few rows, and their range is not bounded, so term by term.
            terms = block.triangle + weights[:, None, :]
            most = terms.max(axis=-1, keepdims=True)
            terms -= most
            inner = np.log(np.exp(terms, out=terms).sum(axis=-1)) + most[..., 0]
            parts[index, :, first:last] = inner
            skipped = block.column.size
        product = np.exp(shifted, out=shifted) @ block.matrix[:, skipped:]
        np.log(product, out=product)
        parts[index, :, first + skipped :] = product + (block.row[skipped:] + top)
    top = parts.max(axis=0)
    parts -= top
    return np.asarray(np.log(np.exp(parts, out=parts).sum(axis=0)) + top)


def upper_rdp_table(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, lam_max: int, *, sharp: bool = False
) -> FloatArray:
    """Return Theorem 1's bound on ε(λ) for every integer order 2…λ_max.

    Parameters
    ----------
    eps0 : array of float
        Local parameter, in [0, 800].
    k, n : array of float
        Sampled and all clients, whole, 1 ≤ k ≤ n ≤ 1e12; γ = k/n is formed from them.
    lam_max : int
        Largest order, in [2, 4096].
    sharp : bool
        Take `ternary.sharp_mixed` for the term of order 2 where it is smaller than Theorem 4's.

    Returns
    -------
    ndarray of float, shape (broadcast shape of the parameters) + (λ_max−1,)
        Without caps: it may exceed what holds trivially (errata shuf-A6); see `capped_rdp`.

    Raises
    ------
    ValueError
        Naming the parameter outside its domain.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 1, in log domain: with S = ln Σ_j C(λ,j)γ^j[z_j + s^j
    e^{−(k−1)/(8e^ε₀)}], ε(λ) = ln(1+e^S)/(λ−1).
    """
    orders = orders_up_to(lam_max)
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    e, sampled, clients = np.broadcast_arrays(e, sampled, clients)
    shape = e.shape
    # At ε₀ = 0 every weight is 0 and so is the bound; any other ε₀ stands in for the logarithms.
    flat = np.where(e == 0, 1.0, e).ravel()
    log_w = _log_weights(flat, sampled.ravel(), clients.ravel(), int(lam_max), sharp)
    rdp = softplus(binomial_transform(log_w, int(lam_max))) / (orders - 1)
    rdp[e.ravel() == 0] = 0.0
    return rdp.reshape(*shape, orders.size)


def upper_rdp(lam: ArrayLike, eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return Theorem 1's bound on ε(λ), all arguments broadcast together; see `upper_rdp_table`."""
    return pick_orders(upper_rdp_table, lam, eps0, k, n)


def pick_orders(table: Any, lam: ArrayLike, *parameters: ArrayLike) -> Any:
    """Evaluate a table over orders at broadcast orders and parameters."""
    order = checks.integers("lam", lam, 2, checks.MAX_ORDER)
    arrays = np.broadcast_arrays(*(np.asarray(p, float) for p in parameters))
    rows = table(*arrays, int(order.max()))
    shape = np.broadcast_shapes(order.shape, arrays[0].shape)
    index = np.broadcast_to(order, shape).astype(int)[..., None] - 2
    rows = np.broadcast_to(rows, (*shape, rows.shape[-1]))
    return scalar_if_0d(np.take_along_axis(rows, index, axis=-1)[..., 0])


def upsilon(lam: ArrayLike, eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return Υ = [(1+γs)^λ − 1 − λγs]·e^{−(k−1)/(8e^ε₀)}, the term of few clones in Theorem 1.

    Arguments broadcast together; it may be infinite where no double holds it.
    """
    order = checks.integers("lam", lam, 2, checks.MAX_ORDER)
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    with np.errstate(divide="ignore", over="ignore"):
        log_x = np.log(sampled / clients) + log_two_sinh(e)
        log_lam_x = np.log(order) + log_x
        small = log_lam_x < math.log(1e-2)
        x = np.exp(np.where(small, log_x, -np.inf))
        # Eight terms of Σ_{j≥2} C(λ,j)x^j leave less than 1e-20 of the sum when λx < 0.01.
        series = np.zeros(small.shape)
        coefficient = np.ones(order.shape)
        for j in range(1, 10):
            coefficient = coefficient * (order - j + 1) / j
            if j >= 2:
                series = series + coefficient * x**j
        # Elsewhere (1+x)^λ − (1+λx), whose first term is the larger by more than rounding.
        first = order * np.logaddexp(0.0, np.where(small, 0.0, log_x))
        second = np.logaddexp(0.0, np.where(small, -1.0, log_lam_x))
        far = first + np.log1p(-np.exp(second - first))
        log_value = np.where(small, np.log(series), far)
        value = np.exp(log_value - (sampled - 1) * np.exp(-e) / 8)
    return scalar_if_0d(value)


def renyi_cap_table(eps0: ArrayLike, k: ArrayLike, n: ArrayLike, lam_max: int) -> FloatArray:
    """Return the Rényi level that one round has in any case, for orders 2…λ_max.

    One round is (ε_s, 0)-DP with ε_s = ln(1+γ(e^ε₀−1)), whose Rényi divergences are at most those
    of randomised response at ε_s. Same shapes as `upper_rdp_table`.
    """
    orders = orders_up_to(lam_max)
    pure = np.asarray(pure_epsilon(eps0, k, n))
    return np.asarray(pure_dp_renyi(orders, pure[..., None]))


def pure_epsilon(eps0: ArrayLike, k: ArrayLike, n: ArrayLike) -> Any:
    """Return ε_s = ln(1+γ(e^ε₀−1)), the pure ε of one round; T·ε_s caps the composition."""
    e, (sampled, clients) = checks.epsilon0(eps0), checks.population(k, n)
    return subsampled_epsilon(e, sampled / clients)


def capped_rdp_table(eps0: ArrayLike, k: ArrayLike, n: ArrayLike, lam_max: int) -> FloatArray:
    """Return min(Theorem 1, Rényi cap) for orders 2…λ_max (errata shuf-A6)."""
    return np.minimum(upper_rdp_table(eps0, k, n, lam_max), renyi_cap_table(eps0, k, n, lam_max))


def _alpha(alpha: ArrayLike) -> FloatArray:
    return checks.integers("alpha", alpha, 2, MAX_ALPHA)


def _at(table: Any, alpha: FloatArray, *arguments: FloatArray) -> Any:
    """Pick each point's own α from a table of logarithms over 2…64."""
    order, *arrays = np.broadcast_arrays(alpha, *arguments)
    rows = table(*(a.ravel() for a in arrays), MAX_ALPHA)
    with np.errstate(over="ignore"):
        value = np.exp(rows[np.arange(order.size), order.ravel().astype(int) - 2])
    return scalar_if_0d(value.reshape(order.shape))


def theorem6(alpha: ArrayLike, eps0: ArrayLike, m: ArrayLike) -> Any:
    """Return Theorem 6's bound on D_α of m messages, the others' data alike.

    4(e^ε₀−1)²/(m·e^ε₀) for α = 2, αΓ(α/2)(2s²/m)^{α/2} from 3 on, s = e^ε₀ − e^−ε₀.

    Parameters
    ----------
    alpha, eps0, m : array of float, broadcast together
        α whole, in [2, 64]; ε₀ in [0, 10]; m whole, in [1, 1e12].
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    return _at(log_alike, _alpha(alpha), e, checks.integers("m", m, 1, checks.MAX_COUNT))


def theorem4(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return Theorem 4's bound on D_α of k messages, whatever the others' data.

    Theorem 6 at m = k̄ = ⌊(k−1)/(2e^ε₀)⌋+1, and s^α·e^{−(k−1)/(8e^ε₀)} for too few clones.
    Domains as in `theorem6`.
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    return _at(log_mixed, _alpha(alpha), e, checks.integers("k", k, 1, checks.MAX_COUNT))


def sharp_alike(eps0: ArrayLike, m: ArrayLike) -> Any:
    """Return the largest D_2 of m messages among all ε₀-LDP randomisers, the others' data alike.

    (E−1)²/m·max(1/E, 2/(E+2)), E = e^ε₀: attained by 2RR where E ≤ 2 and by 3RR above.

    Notes
    -----
    The ratio (P−Q)/R of the counts is the average of m independent terms (p−q)/r with mean 0, so
    D_2 is 1/m of one message's Σ(p−q)²/r. Columns (p, q, r) whose ratios are at most E are
    non-negative combinations of those with entries in {1, E}: a linear programme over the eight of
    them with Σp = Σq = Σr = 1. Its dual has the solutions u (for p and for q) and v (for r)

    - E ≥ 2: u = E(E−1)/(E+2), v = −2(E−1)/(E+2);
    - E ≤ 2: u = (E−1)²/E, v = −(E−1)²/E,

    for which u(p+q) + v·r ≥ (p−q)²/r at all eight columns; 2u + v is the value above.
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    messages = checks.integers("m", m, 1, checks.MAX_COUNT)
    ratio = np.exp(e)
    return scalar_if_0d(np.expm1(e) ** 2 / messages * np.maximum(1 / ratio, 2 / (ratio + 2)))


def sharp_mixed(eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return a bound on D_2 of k messages, whatever the others' data, sharper than Theorem 4.

    Theorem 5 with `sharp_alike`: E[1/(M+1)] for M ~ Bin(k−1, 1/E) clones is
    (E/k)(1 − (1−1/E)^k).
    """
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    divergence = np.exp(log_sharp_mixed(e, checks.integers("k", k, 1, checks.MAX_COUNT)))
    return scalar_if_0d(divergence)


def lemma2_rdp(lam: int, gamma: float, divergences: ArrayLike) -> float:
    """Return Lemma 2's Rényi level of order λ: ln(1 + Σ_{α=2}^{λ} C(λ,α)γ^α·D_α)/(λ−1).

    Parameters
    ----------
    lam : int
        In [2, 4096].
    gamma : float
        Sampling rate, in (0, 1].
    divergences : array of float, shape (λ−1,)
        D_α, or bounds on it, for α = 2…λ; positive.
    """
    order = int(checks.integers("lam", lam, 2, checks.MAX_ORDER))
    rate = float(checks.reals("gamma", gamma, 0.0, 1.0, open_low=True))
    values = checks.positive("divergences", divergences)
    if values.shape != (order - 1,):
        raise ValueError(f"divergences: {values.shape} is not the shape ({order - 1},)")
    log_w = np.arange(2.0, order + 1) * math.log(rate) + np.log(values)
    return float(softplus(binomial_transform(log_w[None, :], order)[0, -1])) / (order - 1)


def ternary_2rr(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return D_α of k messages of 2RR exactly, all others and one of the two cases alike.

    E|s(m−kp)/k|^α, m ~ Bin(k, p), p = 1/(e^ε₀+1). Domains as in `theorem6`; of very many counts
    evenly spaced ones are summed, good to 1e-9.
    """
    return _exact(_of_2rr, alpha, eps0, k)


def ternary_3rr(alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    """Return D_α of k messages of 3RR exactly: the client moves from 1 to 2, all others hold 3.

    ((e^ε₀−1)/k)^α·E|N₁−N₂|^α over the trinomial counts of 1 and 2, probability 1/(e^ε₀+2) each.
    Domains and accuracy as in `ternary_2rr`.
    """
    return _exact(_of_3rr, alpha, eps0, k)


def _exact(one: Any, alpha: ArrayLike, eps0: ArrayLike, k: ArrayLike) -> Any:
    e = checks.reals("eps0", eps0, 0.0, _MAX_LOCAL)
    clients = checks.integers("k", k, 1, checks.MAX_COUNT)

    def value(order: float, local: float, size: float) -> float:
        return math.exp(one(order, local, size)) if local > 0 else 0.0

    return vectorised(value)(_alpha(alpha), e, clients)


def _reach(alpha: float) -> float:
    """Return how many deviations out |z|^α e^{−z²/2} is below e^−80 of its peak at √α."""
    return math.sqrt(alpha) + 9


def _window(mean: float, most: float, alpha: float) -> tuple[float, float, float]:
    """Return where |m − mean|^α times a binomial law lives, and the law's deviation."""
    deviation = math.sqrt(mean * (1 - mean / most))
    # Of few counts the law falls more slowly than a normal one, by e^−1 a count at least.
    reach = _reach(alpha) * deviation + 60 + alpha * (2 + math.log1p(alpha))
    return max(0.0, math.floor(mean - reach)), min(most, math.ceil(mean + reach)), deviation


def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _of_2rr(alpha: float, eps0: float, k: float) -> float:
    log_p, log_q = logistic_log_p(eps0)
    mean = k * math.exp(log_p)
    low, high, deviation = _window(mean, k, alpha)
    step = max(1.0, math.floor(deviation / _FINE))
    m = np.arange(low, high + 1, step)
    with np.errstate(divide="ignore"):
        away = np.log(np.abs(m - mean)) + math.log(2 * math.sinh(eps0) / k)
    return _log_sum(log_pmf(m, k, log_p, log_q) + alpha * away) + math.log(step)


def _of_3rr(alpha: float, eps0: float, k: float) -> float:
    log_share = math.log(2) - eps0 - math.log1p(2 * math.exp(-eps0))
    mean = k * math.exp(log_share)
    low, high, deviation = _window(mean, k, alpha)
    low = max(low, 1.0)
    # Odd steps visit even and odd counts alike, whose differences lie on different lattices.
    step = math.floor(deviation / _ROWS) | 1 if low > 512 else 1
    stride = math.floor(2 * math.sqrt(low) / _FINE) | 1
    N = np.arange(low, high + 1, step)[:, None]
    reach = (_reach(alpha) + 1) / 2 * math.sqrt(high) + 2
    fewer = np.ceil(N / 2) - 1 - (stride - 1) / 2 - stride * np.arange(math.ceil(reach / stride))
    inside = fewer >= 0
    apart = N - 2 * np.where(inside, fewer, 0.0)
    logs = log_half_pmf(np.where(inside, fewer, 0.0), N) + alpha * np.log(apart)
    logs += log_pmf(N, k, log_share, math.log1p(-math.exp(log_share)))
    scale = alpha * (math.log(math.expm1(eps0)) - math.log(k)) + math.log(2 * step * stride)
    return _log_sum(logs[inside]) + scale
