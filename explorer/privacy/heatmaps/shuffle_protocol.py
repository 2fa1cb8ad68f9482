"""The shuffle-model protocol of the paper's Appendix F, corrected, in its three steps.

Every user turns a distribution into whole numbers, adds a share of the noise, splits every cell
into shares that look random (`randomise`); a shuffler mixes what all of them sent (`shuffle`); the
analyzer adds up, cell by cell (`analyse`), and goes on as with counts measured in the centre. The
analyzer sees shuffled messages and learns from them, but for δ, the noisy sums alone.

Nothing hides *how many* messages there are: n is public, and what is protected is what a user's
data are, not whether the user takes part.

`SharedNoise` is the sum of the users' shares of noise drawn from a seed, for demonstrations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.integers import IntegerCounts, cumulative_floors
from explorer.privacy.heatmaps.measurement import Measurement, Reader, descend
from explorer.privacy.heatmaps.shuffle_parameters import ShufflePlan
from explorer.privacy.noise.bits import BitSource, WholeArray, uniform_below
from explorer.privacy.noise.demonstration import (
    IntArray,
    demonstration_laplace,
    demonstration_uniform,
    discrete_laplace_quantiles,
)
from explorer.privacy.noise.exact import discrete_laplace, polya

MAX_MESSAGES = 60_000_000
"""Most messages of all users together that are made one by one; `simulate` has no such limit."""


class Messages(NamedTuple):
    """Messages sent to the shuffler, one pair each.

    Attributes
    ----------
    cells : ndarray of int64
        Number of the cell, 0 … m−1: levels from coarse to fine, Morton order within a level.
    shares : ndarray of int64
        A number modulo q.
    """

    cells: IntArray
    shares: IntArray


@dataclass(frozen=True)
class NoisyPyramid:
    """The analyzer's noisy sums.

    Attributes
    ----------
    plan : ShufflePlan
    counts : tuple of ndarray of int64
        For each of ``plan.levels`` the cells in Morton order, in units of 1/B users.
    """

    plan: ShufflePlan
    counts: tuple[IntArray, ...]

    def read(self, level: int, codes: IntArray) -> FloatArray:
        """Return noisy counts, in users, of some cells of a level that was sent."""
        values = self.counts[self.plan.levels.index(level)][codes]
        return np.asarray(values / self.plan.resolution)

    def measurement(self, w: int) -> Measurement:
        """Select the w largest children level by level, for `reconstruct`: post-processing."""
        levels = self.plan.levels
        return descend(self.read, levels[0], levels[-1], w)


def user_vector(codes: NDArray[Any], visits: NDArray[Any], plan: ShufflePlan) -> IntArray:
    """Return one user's cells of all levels as whole numbers, each level's sum B.

    Parameters
    ----------
    codes : array of int, shape (rows,)
        Morton codes of the user's leaves, on level ℓ of the plan; may repeat. A user without any
        sends zeros.
    visits : array of int, shape (rows,)
        ≥ 1 each.
    plan : ShufflePlan

    Returns
    -------
    ndarray of int64, shape (m,)
        Cumulative floors of the leaves, summed within each cell of every level.

    Raises
    ------
    ValueError
        If a code or a number of visits is outside its domain.
    """
    where, times = np.asarray(codes, dtype=np.int64), np.asarray(visits, dtype=np.int64)
    if where.shape != times.shape or where.ndim != 1:
        raise ValueError("codes, visits: must be one-dimensional and equally long")
    if len(where) and not (where.min() >= 0 and where.max() < 4**plan.level):
        raise ValueError(f"codes: a code is outside [0, 4^{plan.level})")
    leaves, place = np.unique(where, return_inverse=True)
    together = np.zeros(len(leaves), dtype=np.int64)
    np.add.at(together, place, times)
    z = cumulative_floors(together, plan.resolution)
    parts = []
    for i in plan.levels:
        level = np.zeros(4**i, dtype=np.int64)
        np.add.at(level, leaves >> (2 * (plan.level - i)), z)
        parts.append(level)
    return np.concatenate(parts)


def user_vectors(
    user: NDArray[Any], codes: NDArray[Any], visits: NDArray[Any], plan: ShufflePlan
) -> IntArray:
    """Return `user_vector` of every user there is, shape (users, m), in order of their numbers."""
    who = np.asarray(user)
    order = np.argsort(who, kind="stable")
    starts = np.flatnonzero(np.diff(who[order], prepend=-1))
    where, times = np.asarray(codes)[order], np.asarray(visits)[order]
    rows = [
        user_vector(part, weight, plan)
        for part, weight in zip(
            np.split(where, starts[1:]), np.split(times, starts[1:]), strict=True
        )
        if len(part)
    ]
    return np.stack(rows) if rows else np.zeros((0, plan.cells), dtype=np.int64)


def noise_shares(plan: ShufflePlan, users: int, bits: BitSource) -> WholeArray:
    """Draw every user's share of the noise of every cell, shape (users, m).

    The difference of two Pólya(1/n_min, e^{−ε_i/B}) variables: those of n_min users add up to
    discrete Laplace noise of scale B/ε_i.
    """
    share = Fraction(1, plan.guaranteed)
    parts = []
    for i in plan.levels:
        rate, size = 1 / plan.scale(i), users * 4**i
        noise = polya(share, rate, size, bits) - polya(share, rate, size, bits)
        parts.append(noise.reshape(users, 4**i))
    return np.concatenate(parts, axis=1)


def randomise(vectors: IntArray, plan: ShufflePlan, bits: BitSource) -> Messages:
    """Return the messages of some users, first step: noise, then r shares of every cell.

    Shares 1 … r−1 are uniform modulo q, the last makes the sum right; any r − 1 of them say
    nothing. Every user runs this alone, on one row; a simulation runs all rows at once.

    Parameters
    ----------
    vectors : ndarray of int64, shape (users, m)
        Rows of `user_vectors`.
    plan : ShufflePlan
    bits : BitSource
        Every user's own; `SystemBits` where it is not a simulation.

    Returns
    -------
    Messages
        users·m·r of them, user by user, cell by cell.

    Raises
    ------
    ValueError
        If shapes do not fit, an entry is outside [0, B], or there are more than `MAX_MESSAGES`
        messages.
    """
    z = _check(vectors, plan)
    r, q = plan.sent.shares, plan.modulus
    if z.size * r > MAX_MESSAGES:
        raise ValueError(
            f"vectors: {z.shape[0]} users send {z.size * r} messages, more than {MAX_MESSAGES}; "
            "simulate() has the same law of sums"
        )
    hidden = ((z + noise_shares(plan, len(z), bits)) % q).astype(np.int64)
    shares = np.empty((*z.shape, r), dtype=np.int64)
    shares[..., : r - 1] = uniform_below(q, z.size * (r - 1), bits).reshape(*z.shape, r - 1)
    shares[..., r - 1] = (hidden - shares[..., : r - 1].sum(axis=-1)) % q
    cells = np.broadcast_to(np.arange(plan.cells)[:, None], shares.shape)
    return Messages(cells.reshape(-1), shares.reshape(-1))


def shuffle(messages: Messages, bits: BitSource) -> Messages:
    """Return the messages in a uniformly random order, second step: whose they were is gone.

    Sorted by random words; drawn anew if two are equal, so that all orders are equally likely.
    """
    while True:
        keys = bits.words(len(messages.cells))
        order = np.argsort(keys)
        keys = keys[order]
        if not (keys[1:] == keys[:-1]).any():
            return Messages(messages.cells[order], messages.shares[order])


def analyse(messages: Messages, plan: ShufflePlan) -> NoisyPyramid:
    """Return the noisy sums of all cells, third step: add modulo q, decode around the middle.

    Sums up to Bn + τ stand for themselves, larger ones for negative numbers down to −τ.

    Raises
    ------
    ValueError
        If a cell or a share is outside its domain.
    """
    cells, shares = messages
    q = plan.modulus
    if len(cells) and not (cells.min() >= 0 and cells.max() < plan.cells):
        raise ValueError(f"messages: a cell is outside [0, {plan.cells})")
    if len(shares) and not (shares.min() >= 0 and shares.max() < q):
        raise ValueError(f"messages: a share is outside [0, {q})")
    # Two halves of 31 bits, so that billions of shares add up without leaving 63 bits.
    sums = np.zeros((2, plan.cells), dtype=np.int64)
    np.add.at(sums[0], cells, shares & 0x7FFFFFFF)
    np.add.at(sums[1], cells, shares >> 31)
    total = (sums[0].astype(object) + (sums[1].astype(object) << 31)) % q
    return _pyramid(_centre(total.astype(np.int64), plan), plan)


def simulate(vectors: IntArray, plan: ShufflePlan, bits: BitSource) -> NoisyPyramid:
    """Return noisy sums with the law of `analyse`, without any message.

    Parameters
    ----------
    vectors : ndarray of int64, shape (users, m)
    plan : ShufflePlan
    bits : BitSource

    Notes
    -----
    The users' noise adds up to a difference of two Pólya variables of shape users/n_min, which is
    discrete Laplace for users = n_min.
    """
    z = _check(vectors, plan)
    parts: list[WholeArray] = []
    for i in plan.levels:
        if len(z) == plan.guaranteed:
            parts.append(discrete_laplace(plan.scale(i), 4**i, bits))
        elif len(z):
            share, rate = Fraction(len(z), plan.guaranteed), 1 / plan.scale(i)
            parts.append(polya(share, rate, 4**i, bits) - polya(share, rate, 4**i, bits))
        else:
            parts.append(np.zeros(4**i, dtype=np.int64))
    noisy = (z.sum(axis=0) + np.concatenate(parts)) % plan.modulus
    return _pyramid(_centre(noisy.astype(np.int64), plan), plan)


def noisy_sums(
    counts: IntegerCounts, plan: ShufflePlan, noise: Callable[[int, IntArray], IntArray]
) -> Reader:
    """Return a function from cells to the analyzer's noisy sums, in users.

    With noise of the law that `simulate` adds, these have the law of what `analyse` finds: only
    cells that are looked at are drawn. For the levels of the plan; users without mass send noise
    alone, as their number is no matter of the data.

    Parameters
    ----------
    counts : IntegerCounts
        With the plan's B and ℓ, of at most its n users.
    plan : ShufflePlan
    noise : callable (level, codes) → whole numbers
        What the users' shares of the noise add up to, in units of 1/B users.

    Raises
    ------
    ValueError
        If counts and plan do not fit.
    """
    for name, own, planned in (
        ("level", counts.level, plan.level),
        ("resolution", counts.resolution, plan.resolution),
    ):
        if own != planned:
            raise ValueError(f"{name}: counts have {own}, the plan {planned}")
    if counts.users > plan.users:
        raise ValueError(f"users: {counts.users} are more than the plan's {plan.users}")

    def read(level: int, cells: IntArray) -> FloatArray:
        sums = (counts.at(level, cells) + noise(level, cells)) % plan.modulus
        return np.asarray(_centre(sums, plan) / plan.resolution)

    return read


def run_protocol(vectors: IntArray, plan: ShufflePlan, bits: BitSource) -> NoisyPyramid:
    """Return the analyzer's noisy sums of data that go through all three steps."""
    return analyse(shuffle(randomise(vectors, plan, bits), bits), plan)


def _check(vectors: IntArray, plan: ShufflePlan) -> IntArray:
    z = np.asarray(vectors)
    if z.ndim != 2 or z.shape[1] != plan.cells or z.dtype.kind not in "iu":
        raise ValueError(f"vectors: shape {z.shape} is not (users, {plan.cells}) of whole numbers")
    if len(z) > plan.users:
        raise ValueError(f"vectors: {len(z)} users are more than the plan's {plan.users}")
    if z.size and not (z.min() >= 0 and z.max() <= plan.resolution):
        raise ValueError(f"vectors: an entry is outside [0, {plan.resolution}]")
    return z.astype(np.int64)


def _centre(sums: IntArray, plan: ShufflePlan) -> IntArray:
    top = plan.resolution * plan.users + plan.tail
    return np.where(sums > top, sums - plan.modulus, sums)


def _pyramid(sums: IntArray, plan: ShufflePlan) -> NoisyPyramid:
    ends: Sequence[int] = np.cumsum([4**i for i in plan.levels])[:-1].tolist()
    return NoisyPyramid(plan, tuple(np.split(sums, ends)))


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """Sum of the users' Pólya shares of noise, as a function of level and cells.

    Discrete Laplace noise of scale B/ε_i where as many users take part as are guaranteed to: the
    same quantiles as the central pyramid's Laplace noise of that seed, so that their maps differ by
    B alone. Of other numbers the difference of two negative binomial variables of shape
    users/n_min, which is what the protocol then adds.

    Attributes
    ----------
    plan : ShufflePlan
    users : int
        Who add their share, ≥ 1.
    seed : int
    mechanism : str
        Names the stream of noise.
    """

    plan: ShufflePlan
    users: int
    seed: int
    mechanism: str = "pyramid"

    def __call__(self, level: int, codes: IntArray) -> IntArray:
        """Return the noise of these Morton codes of a level that is sent, in 1/B users."""
        scale = self.plan.scale(level)
        if self.users == self.plan.guaranteed:
            unit = demonstration_laplace(self.seed, self.mechanism, level, codes)
            return discrete_laplace_quantiles(unit, float(scale)).astype(np.int64)
        # The first import takes a second.
        from scipy.stats import nbinom

        shape, stop = self.users / self.plan.guaranteed, -np.expm1(-float(1 / scale))
        plus, minus = (
            nbinom.ppf(demonstration_uniform(self.seed, name, level, codes), shape, stop)
            for name in (f"{self.mechanism}/plus", f"{self.mechanism}/minus")
        )
        return np.asarray((plus - minus).astype(np.int64))
