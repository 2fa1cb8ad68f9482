"""P_zsum and P_hist as they run, support identification, reductions to it, and exact errors.

**Protocols**: every user's randomizer, the shuffler, the analyzer. Bins are numbered from 0. The
random source is passed in; for a release pass one that is fed by the operating system (these are
the numbers of a study).

**Reductions.** A value may come from a domain far too large to list (pairs of permutations,
labelled trees): only the bins that occur are simulated, which is exact for the analyzer's output.

**The law of the output for one bin, exactly.** With W = n − Z, Z ~ Bin(n, p) the noise, the output
is 0 if W ≥ s and (s + n(1−p) − W)/n otherwise, for a true count s. Partial moments of W have closed
forms, so nothing is summed but tails.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf, lower_tail, point, upper_tail
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import columns, scalar_if_0d, vectorised

IntArray = NDArray[np.int64]

MAX_MESSAGES = 50_000_000
"""Largest n·d for which every single message is drawn; beyond it use the `simulate_` functions."""


class Sent(NamedTuple):
    """Messages of all users to the shuffler.

    Attributes
    ----------
    messages : ndarray of int
        The messages of user 0, then of user 1, …: each is the number of a bin.
    lengths : ndarray of int, shape (n,)
        How many of them each user sent.
    """

    messages: IntArray
    lengths: IntArray


def count_randomizer(bits: ArrayLike, p: float, rng: np.random.Generator) -> Sent:
    """Return x + Ber(p) copies of one message for every user.

    Parameters
    ----------
    bits : array of int, shape (n,)
        Each user's 0 or 1.
    p : float
        Probability of a noise bit, in [0, 1].

    References
    ----------
    Balcer & Cheu 2020, Figure 1.
    """
    x = checks.integers("bits", bits, 0, 1).astype(np.int64)
    rate = float(checks.reals("p", p, 0.0, 1.0))
    if x.ndim != 1 or not 1 <= x.size <= MAX_MESSAGES:
        raise ValueError(f"bits: shape {x.shape} is not (n,) with n in [1, {MAX_MESSAGES}]")
    lengths = x + (rng.random(x.size) < rate)
    return Sent(np.zeros(int(lengths.sum()), dtype=np.int64), lengths)


def histogram_randomizer(values: ArrayLike, d: int, p: float, rng: np.random.Generator) -> Sent:
    """Return every user's own bin, and each bin once more with probability p.

    Parameters
    ----------
    values : array of int, shape (n,)
        Each user's bin, in [0, d).
    d : int
        Number of bins; n·d at most 5e7.
    p : float
        Probability of a noise bit, in [0, 1].

    References
    ----------
    Balcer & Cheu 2020, Figure 2: the counting randomizer on every coordinate of a one-hot vector.
    """
    bins = int(checks.integers("d", d, 1, MAX_MESSAGES))
    x = checks.integers("values", values, 0, bins - 1).astype(np.int64)
    rate = float(checks.reals("p", p, 0.0, 1.0))
    if x.ndim != 1 or not 1 <= x.size * bins <= MAX_MESSAGES:
        raise ValueError(
            f"values: {x.shape} users times {bins} bins are not (n,) with n*d in "
            f"[1, {MAX_MESSAGES}]; simulate_histogram has the same law of estimates"
        )
    noise = rng.random((x.size, bins)) < rate
    copies = noise.astype(np.int64)
    copies[np.arange(x.size), x] += 1
    messages = np.repeat(np.tile(np.arange(bins), x.size), copies.ravel())
    return Sent(messages, copies.sum(axis=1))


def shuffler(sent: Sent, rng: np.random.Generator) -> IntArray:
    """Return all messages in a uniformly random order: whose they were is gone."""
    return rng.permutation(sent.messages)


def count_analyzer(messages: ArrayLike, n: int, p: float) -> float:
    """Return the estimated frequency of ones: 0 if at most n messages came, |y|/n − p otherwise.

    Integers are compared: |y|/n > 1 in floating point is another question (errata hist-B4).
    """
    return float(estimates(np.array([np.size(messages)]), n, p)[0])


def histogram_analyzer(messages: ArrayLike, n: int, d: int, p: float) -> FloatArray:
    """Return the estimated frequencies of all bins, shape (d,): `count_analyzer` on each."""
    bins = int(checks.integers("d", d, 1, MAX_MESSAGES))
    y = checks.integers("messages", messages, 0, bins - 1).astype(np.int64)
    return estimates(np.bincount(y, minlength=bins), n, p)


def estimates(received: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """Return the analyzer's outputs for the numbers of messages received in each bin.

    Parameters
    ----------
    received : array of int
        |y| of each bin, in [0, 2e12].
    n, p : array of float
        Users, in [1, 1e12], and probability of a noise bit, in [0, 1].

    Returns
    -------
    ndarray
        0, or a number in [1−p+1/n, 2−p]; not clipped to 1.
    """
    y = checks.integers("received", received, 0, 2 * checks.MAX_COUNT)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("p", p, 0.0, 1.0)
    # (y − n)/n + (1 − p) rather than y/n − p: both differences are of small numbers.
    return np.asarray(np.where(y <= users, 0.0, (y - users) / users + (1 - rate)))


def zsum(bits: ArrayLike, p: float, rng: np.random.Generator) -> float:
    """Run P_zsum on data: randomizer, shuffler, analyzer. Returns the estimated frequency."""
    sent = count_randomizer(bits, p, rng)
    return count_analyzer(shuffler(sent, rng), sent.lengths.size, p)


def hist(values: ArrayLike, d: int, p: float, rng: np.random.Generator) -> FloatArray:
    """Run P_hist on data, message by message. Returns the estimated frequencies, shape (d,)."""
    sent = histogram_randomizer(values, d, p, rng)
    return histogram_analyzer(shuffler(sent, rng), sent.lengths.size, d, p)


def simulate_histogram(
    counts: ArrayLike, n: int, p: float, rng: np.random.Generator, draws: int | None = None
) -> FloatArray:
    """Return estimates with the law of `hist` from the true counts, without any message.

    Parameters
    ----------
    counts : array of int, shape (m,)
        True counts of the bins to be estimated, in [0, n]. Bins that are left out because they
        are empty have the estimate 0 for certain: leaving them out is exact for the analyzer's
        output (not for what the analyzer sees).
    n : int
        Users, in [1, 1e12].
    p : float
        Probability of a noise bit, in [0, 1].
    draws : int, optional
        Independent repetitions.

    Returns
    -------
    ndarray, shape (m,) or (draws, m)
    """
    users = int(checks.integers("n", n, 1, checks.MAX_COUNT))
    rate = float(checks.reals("p", p, 0.0, 1.0))
    c = checks.integers("counts", counts, 0, users).astype(np.int64)
    shape: Any = c.shape if draws is None else (int(draws), *c.shape)
    # The missing noise bits are few; drawn themselves they keep 1 − p to its last digit.
    return estimates_without(c, rng.binomial(users, 1 - rate, size=shape), users, rate)


def estimates_without(counts: ArrayLike, missing: ArrayLike, n: int, p: float) -> FloatArray:
    """Return the analyzer's outputs for true counts and noise bits that were not sent.

    Parameters
    ----------
    counts : array of int
        True counts of the bins, in [0, n].
    missing : array of int
        How many of the n users did not add their noise bit to each bin: Bin(n, 1−p).
    n, p
        As `estimates` has them.
    """
    c, gone = np.asarray(counts), np.asarray(missing)
    # An empty bin never has more than n messages.
    return estimates(np.where(c == 0, 0, c + n - gone), n, p)


def simulate_count(
    count: int, n: int, p: float, rng: np.random.Generator, draws: int | None = None
) -> Any:
    """Return estimates with the law of `zsum` for a true count: a float, or an array of draws."""
    out = simulate_histogram(np.array([count]), n, p, rng, draws)[..., 0]
    return scalar_if_0d(out)


MAX_LABELS = 1_000_000


def identify_support(
    values: Sequence[Hashable], p: float, t: float, rng: np.random.Generator
) -> set[Hashable]:
    """Return the values whose estimated frequency is at least (t+1)/n, by P_hist.

    Parameters
    ----------
    values : sequence
        One user's value each.
    p : float
        Probability of a noise bit, in [0, 1].
    t : float
        Bound on all errors, in counts, ≥ 0.

    References
    ----------
    Balcer & Cheu 2020, Definition 3.3 and Claim 3.4.
    """
    threshold = float(checks.reals("t", t, 0.0, checks.MAX_COUNT))
    if not values:
        raise ValueError("values: no user; at least one is needed")
    n = len(values)
    counted = Counter(values)
    estimated = simulate_histogram(np.array(list(counted.values())), n, p, rng)
    frequent = estimated >= (threshold + 1) / n
    return {value for value, good in zip(counted, frequent, strict=True) if good}


def draw_support_samples(
    support: Sequence[Hashable], n: int, rng: np.random.Generator
) -> list[Hashable]:
    """Return n independent uniform draws from a support."""
    picks = rng.integers(len(support), size=int(checks.integers("n", n, 1, 1e8)))
    return [support[i] for i in picks.tolist()]


class PointerChasing(NamedTuple):
    """An instance of PC(k, ℓ): two permutations of 0, …, ℓ−1.

    Attributes
    ----------
    a, b : ndarray of int, shape (ℓ,)
    """

    a: IntArray
    b: IntArray

    def support(self) -> list[Hashable]:
        """Return the two values that users hold: (1, a) and (2, b), the permutations as bytes."""
        return [(1, self.a.tobytes()), (2, self.b.tobytes())]


def pointer_chasing(length: int, rng: np.random.Generator) -> PointerChasing:
    """Return a random instance with permutations of ℓ in [1, 1e6] numbers."""
    size = int(checks.integers("length", length, 1, MAX_LABELS))
    return PointerChasing(rng.permutation(size), rng.permutation(size))


def chase(a: IntArray, b: IntArray, k: int) -> int:
    """Return the k-th number of a₀, b[a₀], a[b[a₀]], … (k from 1, numbers from 0)."""
    steps = int(checks.integers("k", k, 1, 1e7))
    at = 0
    for i in range(steps):
        at = int((a if i % 2 == 0 else b)[at])
    return at


def solve_pointer_chasing(
    values: Sequence[Hashable], k: int, p: float, t: float, rng: np.random.Generator
) -> int | None:
    """Return the answer of PC(k, ℓ) from users' values, or None if no support was identified.

    References
    ----------
    Balcer & Cheu 2020, Definition 3.5: the support has size 2 whatever ℓ is, so the number of
    users does not depend on ℓ.
    """
    labelled = _by_label(identify_support(values, p, t, rng))
    if labelled is None or sorted(labelled) != [1, 2]:
        return None
    return chase(labelled[1], labelled[2], k)


class PointerJumping(NamedTuple):
    """An instance of MPJ(s, h): labels of the nodes of a complete s-ary tree, level by level.

    Attributes
    ----------
    s : int
        Children of a node.
    levels : list of ndarray of int
        Level i (from 0) has sⁱ labels in [0, s).
    """

    s: int
    levels: list[IntArray]

    def support(self) -> list[Hashable]:
        """Return the h values that users hold: (level, its labels as bytes)."""
        return [(i, labels.tobytes()) for i, labels in enumerate(self.levels)]


def pointer_jumping(s: int, h: int, rng: np.random.Generator) -> PointerJumping:
    """Return a random instance of MPJ(s, h).

    Raises
    ------
    ValueError
        If s or h is below 1, or the tree has more than a million labels.
    """
    children = int(checks.integers("s", s, 1, MAX_LABELS))
    height = int(checks.integers("h", h, 1, MAX_LABELS))
    total, width = 0, 1
    for _ in range(height):
        total, width = total + width, width * children
        if total > MAX_LABELS:
            raise ValueError(
                f"s, h: a tree of {height} levels with {children} children a node has more than "
                f"{MAX_LABELS} labels"
            )
    return PointerJumping(
        children, [rng.integers(children, size=children**i) for i in range(height)]
    )


def jump(s: int, levels: Sequence[IntArray]) -> tuple[int, ...]:
    """Return the root-leaf path that the labels imply, as the child taken at every level."""
    path, at = [], 0
    for labels in levels:
        child = int(labels[at])
        path.append(child)
        at = at * s + child
    return tuple(path)


def solve_pointer_jumping(
    values: Sequence[Hashable], s: int, h: int, p: float, t: float, rng: np.random.Generator
) -> tuple[int, ...] | None:
    """Return the path of MPJ(s, h) from users' values, or None if no support was identified.

    References
    ----------
    Balcer & Cheu 2020, Definition 3.6: the support has size h.
    """
    labelled = _by_label(identify_support(values, p, t, rng))
    if labelled is None or sorted(labelled) != list(range(h)):
        return None
    return jump(s, [labelled[i] for i in range(h)])


def _by_label(support: set[Hashable]) -> dict[int, IntArray] | None:
    """Return label → numbers of (label, bytes) pairs; None if a label has two."""
    out: dict[int, IntArray] = {}
    for value in support:
        if not isinstance(value, tuple) or value[0] in out:
            return None
        out[value[0]] = np.frombuffer(value[1], dtype=np.int64)
    return out


class ErrorLaw(NamedTuple):
    """Exact numbers of the error (estimate − true frequency) of one bin.

    Attributes
    ----------
    bias : float or ndarray
        Mean error, in frequency (multiply by n for counts).
    rmse : float or ndarray
        Root of the mean squared error.
    zero : float or ndarray
        Probability that the output is 0.
    """

    bias: Any
    rmse: Any
    zero: Any


def _arguments(n: ArrayLike, p: ArrayLike, s: ArrayLike) -> tuple[FloatArray, ...]:
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("p", p, 0.0, 1.0)
    count = checks.integers("s", s, 0, checks.MAX_COUNT)
    checks.at_most("s", count, "n", users)
    return users, rate, count


def error_law(n: ArrayLike, p: ArrayLike, s: ArrayLike) -> ErrorLaw:
    """Return bias, root mean square and probability of a zero of one bin's estimate, exactly.

    Parameters
    ----------
    n : array of int
        Users, in [1, 1e12].
    p : array of float
        Probability of a noise bit, in [0, 1].
    s : array of int
        True count, in [0, n].

    Returns
    -------
    ErrorLaw
        Shapes broadcast. For counts near n(1−p) the truncation bias dominates; a count of 0 has
        no error at all.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Figure 1 and Theorem 3.1(ii, iii); errata hist-B4.
    """
    return ErrorLaw(*columns(vectorised(_moments, row=3)(*_arguments(n, p, s))))


def _moments(n: float, p: float, s: float) -> tuple[float, float, float]:
    q = 1 - p
    mean = n * q
    at_edge = point(s, n, q)
    zero = upper_tail(s, n, q)
    # E[(W−μ); W ≥ s] = s·p·Pr[W = s], and the error is −s there instead of μ − W.
    beyond = upper_tail(s + 1, n, q)
    bias = -(s / n) * (beyond + q * at_edge)
    # E[(W−μ)²; W < s] = npq·Pr[W′ < s] − s·p·Pr[W = s](s − μ), W′ ~ Bin(n−1, q).
    tail = lower_tail(s - 1, n - 1, q) if n > 1 else float(s > 0)
    square = n * p * q * tail - s * p * at_edge * (s - mean)
    rmse = math.sqrt(max(square, 0.0) + s * s * zero) / n
    return bias, rmse, zero


def error_tail(n: ArrayLike, p: ArrayLike, s: ArrayLike, alpha: ArrayLike) -> Any:
    """Return Pr[|estimate − s/n| > α] of one bin, exactly.

    Parameters
    ----------
    n, p, s : array
        As in `error_law`.
    alpha : array of float
        Error in frequency, in [0, 2].

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.1(ii), whose bound this replaces by the exact probability.
    """
    return vectorised(_tail)(*_arguments(n, p, s), checks.reals("alpha", alpha, 0.0, 2.0))


def _tail(n: float, p: float, s: float, alpha: float) -> float:
    q = 1 - p
    mean, radius = n * q, n * alpha
    total = upper_tail(s, n, q) if s > radius else 0.0
    # Not truncated: W < s and |W − μ| > αn.
    below = math.ceil(mean - radius) - 1
    total += lower_tail(min(below, s - 1), n, q)
    above = max(math.floor(mean + radius) + 1, below + 1)
    if above < s:
        if s <= mean:
            total += lower_tail(s - 1, n, q) - lower_tail(above - 1, n, q)
        else:
            total += upper_tail(above, n, q) - upper_tail(s, n, q)
    return min(1.0, max(0.0, total))


def output_law(n: int, p: float, s: int) -> tuple[FloatArray, FloatArray]:
    """Return all possible outputs of one bin and their probabilities, for small n.

    Parameters
    ----------
    n : int
        Users, in [1, 1e6].
    p : float
        Probability of a noise bit, in [0, 1].
    s : int
        True count, in [0, n].

    Returns
    -------
    outputs, probabilities : ndarray
        0 first, then y/n − p for y = n+1, …, n+s: never in (0, 1−p], and up to 2 − p (errata
        hist-B4).
    """
    checks.integers("n", n, 1, 1e6)
    users, rate, count = (float(x) for x in _arguments(n, p, s))
    y = np.arange(users + 1, users + count + 1)
    noise = y - count
    q = 1 - rate
    if rate in (0.0, 1.0):
        law = (noise == users * rate).astype(float)
    else:
        law = np.exp(log_pmf(users - noise, users, math.log(q), math.log1p(-q)))
    zero = upper_tail(count, users, q)
    return np.concatenate([[0.0], y / users - rate]), np.concatenate([[zero], law])
