"""A randomiser given as a table: rows are inputs, columns outputs, entries probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.randomisers.blanket import Blanket, variation_ratio

_SUM = 1e-9
"""How far a row's sum may be from 1."""
_LISTED = 1e6
"""Probabilities that are listed: counts of messages, for every input and multiset of others."""
MAX_INPUTS, MAX_OUTPUTS = 12, 24


def checked_table(
    table: ArrayLike,
    name: str = "table",
    *,
    lines: tuple[int, ...] = (),
    most: tuple[int, int] = (MAX_INPUTS, MAX_OUTPUTS),
) -> FloatArray:
    """Return the table as an array whose rows add up to 1.

    Entries are kept as given where their sum is 1 but for rounding, else scaled.

    Parameters
    ----------
    table : array, shape (inputs, outputs)
    name : str
        What to call it in messages.
    lines : tuple of int
        What the rows are called in messages; from 1 if not given.
    most : tuple of two int
        Most inputs and outputs.

    Raises
    ------
    ValueError
        If it has too few or too many rows or columns, a field is no probability or a row does not
        add up to 1 (within 1e-9): naming the table, the row, the field and what to do.
    """
    entries = np.asarray(table, float)
    if entries.ndim != 2 or not (2 <= entries.shape[0] <= most[0]) or entries.shape[1] < 2:
        size = " × ".join(map(str, entries.shape))
        raise ValueError(
            f"{name}: {size} numbers; give a row for each of 2 to {most[0]} inputs and a column "
            f"for each of 2 to {most[1]} outputs"
        )
    if entries.shape[1] > most[1]:
        raise ValueError(
            f"{name}: {entries.shape[1]} outputs; give at most {most[1]} (outputs whose "
            "columns are multiples of each other may be taken together)"
        )
    called, word = (lines, "line") if lines else (range(1, entries.shape[0] + 1), "row")
    for line, row in zip(called, entries, strict=True):
        bad = np.flatnonzero(~((row >= 0) & (row <= 1)))
        if bad.size:
            raise ValueError(
                f"{name}, {word} {line}, field {bad[0] + 1}: {row[bad[0]]:g} is no probability; "
                "give numbers from 0 to 1"
            )
        if abs(row.sum() - 1) > _SUM:
            raise ValueError(
                f"{name}, {word} {line}: its probabilities add up to {row.sum():.12g}, not 1; "
                "give them with all their digits, or as fractions that add up"
            )
    total = entries.sum(axis=1, keepdims=True)
    # A sum that is 1 but for rounding is 1: entries count as they are given.
    return np.where(np.abs(total - 1) <= 1e-14, entries, entries / total)


def local_epsilon(table: FloatArray) -> float:
    """Return ε₀, the largest logarithm of a ratio within a column; infinite beside a 0."""
    used = table[:, table.max(axis=0) > 0]
    least = float((used.min(axis=0) / used.max(axis=0)).min())
    return -math.log(least) if least > 0 else math.inf


def ordered_pairs(table: FloatArray) -> list[tuple[int, int]]:
    """Return the ordered pairs of inputs, those likely to leak most first."""
    floor = np.maximum(table.min(axis=0), 1e-12)
    pairs = list(itertools.permutations(range(table.shape[0]), 2))
    return sorted(pairs, key=lambda ij: -float(np.sum((table[ij[0]] - table[ij[1]]) ** 2 / floor)))


def table_blanket(table: FloatArray, i: int, j: int) -> Blanket:
    """Return the blanket of a change from input i to j: m(y) is the least of all inputs'."""
    return Blanket(table[i], table[j], table.min(axis=0)).merged()


def table_ratios(table: FloatArray, i: int, j: int) -> tuple[float, float, float]:
    """Return v, p and q of the variation-ratio bound; p or q is infinite beside a 0."""
    first, second = table[i], table[j]
    used = np.maximum(first, second) > 0
    with np.errstate(divide="ignore"):
        ratio = np.maximum(first, second)[used] / np.minimum(first, second)[used]
        other = np.maximum(first, second)[used] / table.min(axis=0)[used]
    return float(0.5 * np.abs(first - second).sum()), float(ratio.max()), float(other.max())


def table_variation_ratio(table: FloatArray, i: int, j: int) -> Blanket | None:
    """Return the variation-ratio law of a change from input i to j; None beside a 0."""
    v, p, q = table_ratios(table, i, j)
    return variation_ratio(v, p, q) if math.isfinite(p) and math.isfinite(q) else None


def enumerable(inputs: int, outputs: int, n: int) -> bool:
    """Return whether the laws of n messages of a table of this size are few enough to be listed."""
    multisets = math.comb(int(n) - 1 + inputs - 1, inputs - 1) if n <= 1000 else math.inf
    return bool(inputs * multisets * float(n + 1) ** (outputs - 1) <= _LISTED)


def exact_delta(table: ArrayLike, i: int, j: int, epsilon: float, n: int) -> float:
    """Return the exact δ at ε of n shuffled messages when one client changes from input i to j.

    The largest over all multisets of inputs of the n − 1 others; every count of messages is listed.

    Parameters
    ----------
    table : array, shape (inputs, outputs)
    i, j : int
        Rows, from 0.
    epsilon : float
        ε ≥ 0.
    n : int
        Few, see `enumerable`.

    Raises
    ------
    ValueError
        If the table is no randomiser, or there is too much to enumerate.
    """
    rows = checked_table(table)
    clients = int(checks.integers("n", n, 1, checks.MAX_COUNT))
    if not enumerable(rows.shape[0], rows.shape[1], clients):
        raise ValueError(f"n: {n} clients of this table are too many to enumerate; take fewer")
    scale = math.exp(float(checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)))
    worst = 0.0
    for others in _laws(rows, clients):
        away = _and(others, rows[i]) - scale * _and(others, rows[j])
        worst = max(worst, float(np.maximum(away, 0.0).sum()))
    return worst


class ExactCrowd:
    """All laws of n shuffled messages of a table, listed: δ and ε, the worst of all neighbours.

    Parameters
    ----------
    table : ndarray, shape (inputs, outputs)
        As `checked_table` returns it.
    n : int
        Few: see `enumerable`.

    Raises
    ------
    ValueError
        If there is too much to enumerate.
    """

    def __init__(self, table: FloatArray, n: int) -> None:
        if not enumerable(table.shape[0], table.shape[1], n):
            raise ValueError(f"n: {n} clients of this table are too many to enumerate; take fewer")
        laws = [[_and(law, row).ravel() for row in table] for law in _laws(table, n)]
        # Counts that no multiset can lead to are left out.
        listed = np.array(laws)
        self._laws = listed[:, :, listed.any(axis=(0, 1))]

    def delta(self, epsilon: float) -> float:
        """Return δ at ε ≥ 0."""
        return self._worst(math.exp(epsilon))[0]

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε ≥ 0 with δ(ε) ≤ δ; infinite if there is none up to 700."""
        if self._worst(math.exp(700.0))[0] > delta:
            return math.inf
        scale = 1.0
        # δ is convex in e^ε and made of straight pieces: Newton's steps end after a few.
        for _ in range(200):
            value, slope = self._worst(scale)
            if value <= delta or slope <= 0:
                break
            further = scale + (value - delta) / slope
            if further <= scale * (1 + 1e-15):
                break
            scale = further
        return math.log(scale)

    def _worst(self, scale: float) -> tuple[float, float]:
        """Return the largest Σ(P − scale·Q)_+ and how it falls with the scale."""
        worst, slope = 0.0, 0.0
        for i in range(self._laws.shape[1]):
            away = self._laws[:, i : i + 1] - scale * self._laws
            gain = np.maximum(away, 0.0).sum(axis=2)
            at = np.unravel_index(int(gain.argmax()), gain.shape)
            if gain[at] > worst:
                worst, slope = float(gain[at]), float(self._laws[at][away[at] > 0].sum())
        return worst, slope


def _laws(table: FloatArray, n: int) -> Iterator[FloatArray]:
    """Yield the law of the counts of n − 1 messages for every multiset of their inputs.

    Arrays over the counts of all outputs but the last, n + 1 entries each way.
    """
    start = np.zeros((n + 1,) * (table.shape[1] - 1))
    start.flat[0] = 1.0

    def more(law: FloatArray, row: int, left: int) -> Iterator[FloatArray]:
        if left == 0:
            yield law
            return
        if row == table.shape[0]:
            return
        for used in range(left + 1):
            yield from more(law, row + 1, left - used)
            law = _and(law, table[row]) if used < left else law

    return more(start, 0, n - 1)


def _and(law: FloatArray, row: FloatArray) -> FloatArray:
    """Return the law of the counts after one more message."""
    out = row[-1] * law
    for axis, chance in enumerate(row[:-1]):
        here = [slice(None)] * law.ndim
        before = here.copy()
        here[axis], before[axis] = slice(1, None), slice(None, -1)
        out[tuple(here)] += chance * law[tuple(before)]
    return np.asarray(out)
