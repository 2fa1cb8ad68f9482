"""Support identification, and the two problems that reduce to it, as protocols one can run.

A value may come from a domain far too large to list (pairs of permutations, labelled trees): only
the bins that occur are simulated, which is exact for the analyzer's output.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core import checks
from explorer.privacy.histograms.mechanism import simulate_histogram

IntArray = NDArray[np.int64]
LABELS_MAX = 1_000_000


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
    threshold = float(checks.reals("t", t, 0.0, checks.COUNT_MAX))
    if not values:
        raise ValueError("values: no user; at least one is needed")
    n = len(values)
    counted = Counter(values)
    estimated = simulate_histogram(np.array(list(counted.values())), n, p, rng)
    chosen = estimated >= (threshold + 1) / n
    return {value for value, good in zip(counted, chosen, strict=True) if good}


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
    size = int(checks.integers("length", length, 1, LABELS_MAX))
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
    found = _labelled(identify_support(values, p, t, rng))
    if found is None or sorted(found) != [1, 2]:
        return None
    return chase(found[1], found[2], k)


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
    children = int(checks.integers("s", s, 1, LABELS_MAX))
    height = int(checks.integers("h", h, 1, LABELS_MAX))
    total, width = 0, 1
    for _ in range(height):
        total, width = total + width, width * children
        if total > LABELS_MAX:
            raise ValueError(
                f"s, h: a tree of {height} levels with {children} children a node has more than "
                f"{LABELS_MAX} labels"
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
    found = _labelled(identify_support(values, p, t, rng))
    if found is None or sorted(found) != list(range(h)):
        return None
    return jump(s, [found[i] for i in range(h)])


def _labelled(support: set[Hashable]) -> dict[int, IntArray] | None:
    """Return label → numbers of (label, bytes) pairs; None if a label has two."""
    out: dict[int, IntArray] = {}
    for value in support:
        if not isinstance(value, tuple) or value[0] in out:
            return None
        out[value[0]] = np.frombuffer(value[1], dtype=np.int64)
    return out
