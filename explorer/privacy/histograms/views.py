"""Views of the analyzer and of an eavesdropper on one user, by enumeration of small randomizers.

Theorem 4.1 and Claim 4.2: a single-message shuffled protocol that is pure ε-DP has an ε-DP
randomizer, so shuffling bought nothing. Claims 4.3 and 4.4: with several messages it can. Here the
three views of a given randomizer are listed completely, which shows which of them is
pure.
"""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from explorer.privacy.core import checks

Messages = tuple[Hashable, ...]
Law = Mapping[Messages, Fraction]
Randomizer = Mapping[Any, Law]
"""For every input the law of the vector of messages, as exact fractions."""

MAX_VIEWS = 2_000_000
"""Largest number of (dataset, view) pairs enumerated."""


class Privacy(NamedTuple):
    """The pure ε of each view: ∞ if some output is possible on one input only.

    Attributes
    ----------
    local : float
        Of the randomizer's messages in their order.
    pre_shuffled : float
        Of the randomizer's messages after it has shuffled its own.
    shuffled : float
        Of all users' messages, shuffled together.
    """

    local: float
    pre_shuffled: float
    shuffled: float


def check(randomizer: Randomizer) -> None:
    """Raise ValueError unless every law has non-negative entries and sums to 1 exactly."""
    if not randomizer:
        raise ValueError("randomizer: no input; at least one is needed")
    for value, law in randomizer.items():
        if any(weight < 0 for weight in law.values()) or sum(law.values()) != 1:
            raise ValueError(
                f"randomizer: the law for input {value!r} is not made of non-negative fractions "
                "with sum 1"
            )


def _multiset(messages: Sequence[Hashable]) -> Messages:
    return tuple(sorted(messages, key=repr))


def pre_shuffled(randomizer: Randomizer) -> dict[Any, dict[Messages, Fraction]]:
    """Return the laws of a user's messages as a multiset: all that is left when they shuffle."""
    check(randomizer)
    out: dict[Any, dict[Messages, Fraction]] = {}
    for value, law in randomizer.items():
        merged: dict[Messages, Fraction] = {}
        for messages, weight in law.items():
            if weight:
                key = _multiset(messages)
                merged[key] = merged.get(key, Fraction(0)) + weight
        out[value] = merged
    return out


def shuffled_view(randomizer: Randomizer, data: Sequence[Any]) -> dict[Messages, Fraction]:
    """Return the law of the shuffler's output for a dataset, as multisets of messages.

    Within a multiset every order is equally likely whatever the data, so nothing is lost.

    Raises
    ------
    ValueError
        If an entry of the data is not an input of the randomizer, or the law is not a law.
    """
    laws = pre_shuffled(randomizer)
    for value in data:
        if value not in laws:
            raise ValueError(f"data: {value!r} is not one of the randomizer's inputs {list(laws)}")
    view: dict[Messages, Fraction] = {(): Fraction(1)}
    for value in data:
        view = _join(view, laws[value])
    return view


def _join(
    view: Mapping[Messages, Fraction], law: Mapping[Messages, Fraction]
) -> dict[Messages, Fraction]:
    out: dict[Messages, Fraction] = {}
    for seen, weight in view.items():
        for messages, chance in law.items():
            key = _multiset((*seen, *messages))
            out[key] = out.get(key, Fraction(0)) + weight * chance
    return out


def log_ratio(first: Mapping[Any, Fraction], second: Mapping[Any, Fraction]) -> float:
    """Return the largest ln(first/second) over all outputs; ∞ if second misses one of first's."""
    worst = Fraction(0)
    for output, weight in first.items():
        if weight:
            other = second.get(output, Fraction(0))
            if not other:
                return math.inf
            worst = max(worst, weight / other)
    # Exact 0 for equal laws; numerators and denominators apart, as they may pass every double.
    return 0.0 if worst == 1 else math.log(worst.numerator) - math.log(worst.denominator)


def excess(first: Mapping[Any, Fraction], second: Mapping[Any, Fraction], eps: float) -> float:
    """Return the hockey-stick divergence Σ (first − e^ε·second)₊ of two enumerated laws."""
    lift = math.exp(eps)
    return math.fsum(
        max(float(weight) - lift * float(second.get(output, 0)), 0.0)
        for output, weight in first.items()
    )


def _neighbours(
    randomizer: Randomizer, n: int
) -> list[tuple[dict[Messages, Fraction], dict[Messages, Fraction]]]:
    """Return the shuffled laws of all pairs of neighbouring datasets; the users' order is moot."""
    inputs = list(randomizer)
    laws = pre_shuffled(randomizer)
    datasets = math.comb(n + len(inputs) - 1, n)
    sizes = {len(messages) for law in laws.values() for messages in law}
    alphabet = {m for law in laws.values() for messages in law for m in messages}
    outputs = math.comb(n * max(sizes) + max(len(alphabet), 1), max(len(alphabet), 1))
    if datasets * outputs > MAX_VIEWS:
        raise ValueError(
            f"n: {n} users make {datasets * outputs:g} pairs of dataset and view; at most "
            f"{MAX_VIEWS} are enumerated"
        )
    pairs: list[tuple[dict[Messages, Fraction], dict[Messages, Fraction]]] = []
    for rest in itertools.combinations_with_replacement(inputs, n - 1):
        base = shuffled_view(randomizer, rest)
        views = [_join(base, laws[value]) for value in inputs]
        pairs.extend(itertools.permutations(views, 2))
    return pairs


def _users(n: int) -> int:
    return int(checks.whole("n", n, 1))


def shuffled_epsilon(randomizer: Randomizer, n: int) -> float:
    """Return the pure ε of shuffler ∘ randomizer for n users, over all neighbouring datasets."""
    check(randomizer)
    return max((log_ratio(*pair) for pair in _neighbours(randomizer, _users(n))), default=0.0)


def shuffled_delta(randomizer: Randomizer, n: int, eps: float) -> float:
    """Return the exact δ at ε of shuffler ∘ randomizer for n users (replace-one neighbours)."""
    check(randomizer)
    checks.reals("eps", eps, 0.0, 700.0)
    return max((excess(*pair, eps) for pair in _neighbours(randomizer, _users(n))), default=0.0)


def single_message_epsilon(eps: float, n: float) -> float:
    """Return ε + ln n, at which every client's randomizer is (ε + ln n, δ)-LDP by itself.

    For protocols of one message a client that are (ε, δ)-DP behind the shuffle of n messages: the
    chance that some message lies in a set is at least that of the client's own, and among n
    messages of another input at most n times that of one.

    Parameters
    ----------
    eps : float
        In [0, 700].
    n : float
        Clients, in [1, 1e12].

    References
    ----------
    Balcer & Cheu 2020, Section 1.2.
    """
    checks.reals("eps", eps, 0.0, 700.0)
    checks.integers("n", n, 1, checks.MAX_COUNT)
    return (eps + math.log(n)) * (1 + 4e-16)


def privacy_of_views(randomizer: Randomizer, n: int) -> Privacy:
    """Return the pure ε of the local, the pre-shuffled and the shuffled view.

    Parameters
    ----------
    randomizer : mapping
        Input → law of its vector of messages, as fractions that sum to 1.
    n : int
        Users, at least 1; what is enumerated must stay below 2 million views.

    Notes
    -----
    For a single-message randomizer `local` ≤ `shuffled` (Claim 4.2); `r_infinity` (Claim 4.3)
    and `r_gap` (Claim 4.4) have shuffled views that are pure while their own are not.
    """
    check(randomizer)
    own = pre_shuffled(randomizer)

    def worst(laws: Mapping[Any, Mapping[Any, Fraction]]) -> float:
        pairs = itertools.permutations(laws.values(), 2)
        return max((log_ratio(a, b) for a, b in pairs), default=0.0)

    return Privacy(worst(randomizer), worst(own), shuffled_epsilon(randomizer, n))


def simulates_locally(randomizer: Randomizer, data: Sequence[Any]) -> bool:
    """Return whether permuting the messages in the analyzer gives the shuffled protocol's law.

    Theorem 4.1's local protocol: every message arrives signed, and the analyzer permutes.
    Both laws are enumerated over ordered vectors and compared as fractions.

    Raises
    ------
    ValueError
        If the randomizer may send another number of messages than one, or for more than 6 users.
    """
    check(randomizer)
    if any(len(messages) != 1 for law in randomizer.values() for messages in law):
        raise ValueError("randomizer: Theorem 4.1 is about exactly one message a user")
    n = len(data)
    if n > 6:
        raise ValueError(f"data: {n} users are more than the 6 whose orders are enumerated")
    local: dict[Messages, Fraction] = {}
    for vector in itertools.product(*(randomizer[value].items() for value in data)):
        weight = math.prod((w for _, w in vector), start=Fraction(1))
        for order in itertools.permutations(range(n)):
            key = tuple(vector[i][0][0] for i in order)
            local[key] = local.get(key, Fraction(0)) + weight / math.factorial(n)
    shuffled: dict[Messages, Fraction] = {}
    for messages, weight in shuffled_view(randomizer, data).items():
        ways = math.factorial(n)
        for repeated in Counter(messages).values():
            ways //= math.factorial(repeated)
        for arrangement in set(itertools.permutations(messages)):
            shuffled[arrangement] = weight / ways
    return {k: v for k, v in local.items() if v} == shuffled


def randomized_response(keep: Fraction, k: int = 2) -> Randomizer:
    """Return k-ary randomised response: the truth with probability `keep`, another value else."""
    if k < 2 or not 0 <= keep <= 1:
        raise ValueError(f"keep, k: {keep}, {k} are outside [0, 1] and [2, ∞)")
    other = (1 - Fraction(keep)) / (k - 1)
    return {x: {(y,): Fraction(keep) if x == y else other for y in range(k)} for x in range(k)}


def r_infinity() -> Randomizer:
    """Return Claim 4.3's randomizer: the bit x, then 1 − x. Shuffled, it is independent of x."""
    return {x: {(x, 1 - x): Fraction(1)} for x in (0, 1)}


def r_gap() -> Randomizer:
    """Return Claim 4.4's randomizer, uniform on its supports: input 1 never sends two 1s."""
    vectors = list(itertools.product((0, 1), repeat=4))
    allowed = [v for v in vectors if sum(v) != 2]
    return {
        0: {v: Fraction(1, len(vectors)) for v in vectors},
        1: {v: Fraction(1, len(allowed)) for v in allowed},
    }


def zsum_randomizer(p: Fraction) -> Randomizer:
    """Return P_zsum's randomizer: x + Ber(p) copies of 1. Not pure in any view, (ε, δ) shuffled."""
    noise = Fraction(p)
    return {x: {(1,) * x: 1 - noise, (1,) * (x + 1): noise} for x in (0, 1)}


def hist_randomizer(p: Fraction, d: int) -> Randomizer:
    """Return P_hist's randomizer on d bins: the own bin, and each bin with probability p."""
    noise = Fraction(p)
    out: dict[int, dict[Messages, Fraction]] = {}
    for x in range(d):
        law: dict[Messages, Fraction] = {}
        for bits in itertools.product((0, 1), repeat=d):
            weight = math.prod((noise if b else 1 - noise for b in bits), start=Fraction(1))
            copies = [b + (j == x) for j, b in enumerate(bits)]
            messages: Messages = tuple(j for j in range(d) for _ in range(copies[j]))
            law[messages] = law.get(messages, Fraction(0)) + weight
        out[x] = law
    return out
