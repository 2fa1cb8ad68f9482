"""PrivEMDItemWise: one metric-private mechanism for every item, its answers shuffled.

Every item mechanism here is α₀·d-private: no answer is more than e^{α₀·d(x,x')} times as likely
for x as for x'. Together with the shuffle, `hops.group_delta` says what a user's dataset
gets. All draws are floating-point demonstrations.

The item mechanism of least expected distance on a small space is found by linear programming.
"""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import rough_root
from explorer.privacy.spaces import Clustered, FiniteSpace, IntArray, MetricSpace, Sphere, Square
from explorer.privacy.user_metric.reduction import draw_items


class ItemMechanism(Protocol):
    """A randomised answer to one item.

    Attributes
    ----------
    space : MetricSpace
        Where items live; others are refused.
    alpha0 : float
        The guarantee: α₀·d-private for the space's normalised distance.
    """

    @property
    def space(self) -> MetricSpace:
        """Space of the items."""

    @property
    def alpha0(self) -> float:
        """The guarantee."""

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Return one independent answer for every item, in the order of the items."""


def _parameter(alpha0: float) -> float:
    return float(checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON))


class GKRR:
    """Generalised k-ary randomised response on a clustered space: Pr[y | x] ∝ e^{α₀(1 − d(x,y))}.

    The normaliser is the same for every input, so that α₀·d holds exactly (errata user-E7).

    Parameters
    ----------
    space : Clustered
    alpha0 : float
        In [0, 800].
    """

    def __init__(self, space: Clustered, alpha0: float) -> None:
        self.space, self.alpha0 = space, _parameter(alpha0)
        s, t = space.clusters, space.each
        own = 1.0
        near = (t - 1) * math.exp(-self.alpha0 * space.r)
        far = (s - 1) * t * math.exp(-self.alpha0)
        total = own + near + far
        self._stay, self._inside = own / total, (own + near) / total

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return the item itself, another of its cluster, or one of another cluster."""
        x = self.space.items(items)
        s, t = self.space.clusters, self.space.each
        cluster, place = x // t, x % t
        u = rng.random(len(x))
        out = x.copy()
        # Uniform among the others of the cluster: a shift by 1 … t−1 around it.
        near = (u >= self._stay) & (u < self._inside) & (t > 1)
        count = int(near.sum())
        if count:
            moved = (place[near] + rng.integers(1, t, count)) % t
            out[near] = cluster[near] * t + moved
        far = (u >= self._inside) & (s > 1)
        count = int(far.sum())
        if count:
            elsewhere = (cluster[far] + rng.integers(1, s, count)) % s
            out[far] = elsewhere * t + rng.integers(0, t, count)
        return out

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x (up to 5000 items)."""
        return exponential_law(self.space.matrix(), self.alpha0)


class Exponential:
    """The exponential mechanism on a finite space: Pr[y | x] ∝ e^{−c·d(x,y)}.

    c = α₀/2 always suffices. `sharp` takes the largest c ≤ α₀ for which the law itself is
    α₀·d-private: the worst answer to x against x' is x, so the loss is c·d + ln Z(x')/Z(x) and all
    pairs are checked exactly. Where all items look alike (a discrete or clustered space) c = α₀.

    Parameters
    ----------
    space : FiniteSpace
        Up to 5000 items, different ones at distances above 0.
    alpha0 : float
        In [0, 800].
    sharp : bool

    Attributes
    ----------
    rate : float
        c.
    """

    def __init__(self, space: FiniteSpace, alpha0: float, *, sharp: bool = True) -> None:
        self.space, self.alpha0 = space, _parameter(alpha0)
        self._distances = space.matrix()
        self.rate = sharpest_rate(self._distances, self.alpha0) if sharp else self.alpha0 / 2
        self._law = exponential_law(self._distances, self.rate)
        self._cumulated = np.cumsum(self._law, axis=1)

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return one item of the space for every item."""
        return drawn_items(self._cumulated, self.space.items(items), rng)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        return self._law


def exponential_loss(distances: ArrayLike, rate: float) -> float:
    """Return the smallest α₀ for which Pr[y | x] ∝ e^{−rate·d(x,y)} is α₀·d-private.

    max over x ≠ x' of rate + ln(Z(x')/Z(x))/d(x,x'), by the triangle inequality; 0 for one item.
    Items at distance 0 have equal laws and do not count.
    """
    d = np.asarray(distances, dtype=float)
    log_z = np.log(np.exp(-rate * d).sum(axis=1))
    apart = d > 0
    change = (log_z[None, :] - log_z[:, None])[apart] / d[apart]
    return float(rate + change.max()) if change.size else 0.0


def sharpest_rate(distances: ArrayLike, alpha0: float) -> float:
    """Return about the largest rate in [α₀/2, α₀] of an α₀·d-private `exponential_law`."""
    if exponential_loss(distances, alpha0) <= alpha0 * (1 + 1e-12):
        return alpha0
    excess = lambda rate: exponential_loss(distances, rate) - alpha0  # noqa: E731
    off = 4e-12 * alpha0
    return rough_root(excess, alpha0 / 2, alpha0, tolerance=off) - off


def drawn_items(cumulated: FloatArray, x: IntArray, rng: np.random.Generator) -> IntArray:
    """Return an answer for every item of x, by rows of cumulated chances."""
    u = rng.random(len(x))
    out = np.empty(len(x), dtype=np.int64)
    # One search per distinct item, in its own row.
    order = np.argsort(x, kind="stable")
    starts = np.flatnonzero(np.diff(x[order], prepend=-1))
    for part in np.split(order, starts[1:]):
        if len(part):
            row = cumulated[x[part[0]]]
            out[part] = np.searchsorted(row, u[part] * row[-1], side="right")
    answers: IntArray = np.minimum(out, cumulated.shape[1] - 1)
    return answers


def exponential_law(distances: FloatArray, rate: float) -> FloatArray:
    """Return Pr[y | x] ∝ e^{−rate·d(x,y)} as a matrix, rows x."""
    with np.errstate(under="ignore"):
        weight = np.exp(-rate * distances)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


class PlanarLaplace:
    """Planar Laplace noise on a square: density ∝ e^{−α₀·d(x,y)} over the whole plane.

    For ℓ2 a distance of Gamma(2, 1/α₀) in a uniform direction; for ℓ1 a Laplace variable of scale
    1/α₀ for each coordinate; both in normalised distance. Answers may lie outside the square;
    moving them to its edge afterwards costs nothing.

    Parameters
    ----------
    space : Square
    alpha0 : float
        In (0, 800].
    clip : bool
        Move answers to the nearest point of the square.

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis & Palamidessi 2013, *Geo-indistinguishability*.
    """

    def __init__(self, space: Square, alpha0: float, *, clip: bool = False) -> None:
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON, open_low=True)
        self.space, self.alpha0, self.clip = space, _parameter(alpha0), clip

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Return one point of the plane for every item, in the space's unit."""
        x = self.space.items(items)
        scale = self.space.length / self.alpha0
        if self.space.norm == 1:
            y = x + rng.laplace(0.0, scale, x.shape)
        else:
            radius = rng.gamma(2.0, scale, len(x))
            angle = rng.uniform(0.0, 2 * math.pi, len(x))
            y = x + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        return np.clip(y, 0.0, self.space.side) if self.clip else y

    def density(self, item: ArrayLike, answers: ArrayLike) -> FloatArray:
        """Return the density of unclipped answers to one item, per unit of area."""
        x = self.space.items(np.asarray(item, dtype=float)[None])[0]
        difference = np.asarray(answers, dtype=float) - x
        rate = self.alpha0 / self.space.length
        if self.space.norm == 1:
            return np.asarray(rate**2 / 4 * np.exp(-rate * np.abs(difference).sum(axis=-1)))
        distance = np.hypot(difference[..., 0], difference[..., 1])
        return np.asarray(rate**2 / (2 * math.pi) * np.exp(-rate * distance))


class SphereLaplace:
    """Laplace noise on a sphere: density ∝ e^{−α₀·d(x,y)} per area, d the great-circle distance.

    A sphere looks alike from all its points, so that the normaliser is the same for every x and the
    mechanism is α₀·d-private. The central angle has density ∝ e^{−α₀θ/π}·sin θ, the direction is
    uniform.

    Parameters
    ----------
    space : Sphere
    alpha0 : float
        In (0, 800].
    """

    def __init__(self, space: Sphere, alpha0: float) -> None:
        checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON, open_low=True)
        self.space, self.alpha0 = space, _parameter(alpha0)

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Return one point for every item: latitude and longitude in degrees, within ±90, ±180."""
        latitude, longitude = np.radians(self.space.items(items)).T
        angle = self._angles(rng.random(latitude.size))
        turn = rng.uniform(0.0, 2 * math.pi, latitude.size)
        up = np.sin(latitude) * np.cos(angle)
        to = np.clip(up + np.cos(latitude) * np.sin(angle) * np.cos(turn), -1.0, 1.0)
        across = np.sin(turn) * np.sin(angle) * np.cos(latitude)
        moved = longitude + np.arctan2(across, np.cos(angle) - np.sin(latitude) * to)
        moved = (np.degrees(moved) + 180.0) % 360.0 - 180.0
        return np.column_stack([np.degrees(np.arcsin(to)), moved])

    def _angles(self, u: FloatArray) -> FloatArray:
        """Return the angle below which a share u of the answers lies, by bisection."""
        rate = self.alpha0 / math.pi

        def below(angle: Any) -> FloatArray:
            slope = rate * np.sin(angle) + np.cos(angle)
            return np.asarray(1 - np.exp(-rate * angle) * slope)

        target = u * below(math.pi)
        low, high = np.zeros(u.shape), np.full(u.shape, math.pi)
        for _ in range(50):
            middle = 0.5 * (low + high)
            more = below(middle) < target
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(0.5 * (low + high))


def priv_emd_item_wise(
    items: ArrayLike, mechanism: ItemMechanism, rng: np.random.Generator
) -> NDArray[Any]:
    """Answer every item and shuffle (Algorithm 2, PrivEMDItemWise).

    Parameters
    ----------
    items : array_like
        One user's dataset (local model), or all users' together (central model).
    mechanism : ItemMechanism
    rng : numpy.random.Generator

    Returns
    -------
    ndarray
        The answers in a uniformly random order. The number of items is not hidden: the guarantee
        is for datasets of equal size.

    Raises
    ------
    ValueError
        If an item is outside the mechanism's space.
    """
    return np.asarray(rng.permutation(mechanism.answer(items, rng), axis=0))


def bounded_emd_reduction(
    users: Sequence[ArrayLike], s: int, mechanism: ItemMechanism, rng: np.random.Generator
) -> NDArray[Any]:
    """Draw s items of every user with replacement, then release them item-wise (Algorithm 3).

    Hides how many items each user has; `reduction.bounded_reduction` says what is guaranteed.

    Parameters
    ----------
    users : sequence of array_like
        One non-empty dataset a user; a single one is the local model.
    s : int
        Draws from every user.
    mechanism, rng
        As in `priv_emd_item_wise`.
    """
    if len(users) == 0:
        raise ValueError("users: there must be at least one user")
    return priv_emd_item_wise(np.concatenate(draw_items(users, s, rng)), mechanism, rng)


class ItemTable:
    """A mechanism given by its law, a row of probabilities for each item of a space.

    Parameters
    ----------
    space : FiniteSpace
        Up to 400 items.
    law : array_like of float, shape (size, answers)
        Pr[y | x] ≥ 0; rows x add up to 1.

    Attributes
    ----------
    alpha0 : float
        The smallest α₀ for which the law is α₀·d-private, rounded up: the largest
        |ln(Pr[y | x]/Pr[y | x'])|/d(x, x') over pairs of items and answers. Infinite where an
        answer has chance 0 for one item and more for another, or where two items at distance 0 have
        other rows.
    mean : float
        Mean normalised distance of an answer from its item, over items drawn evenly; NaN unless
        there is one answer an item, in the same order.

    Raises
    ------
    ValueError
        If the space has another number of items than the law has rows.
    """

    def __init__(self, space: FiniteSpace, law: ArrayLike) -> None:
        self._law = np.asarray(law, dtype=float)
        if len(self._law) != space.size:
            raise ValueError(
                f"law: {len(self._law)} rows for a space of {space.size} items; give a row for "
                "each item"
            )
        d = space.matrix()
        self.space, self.alpha0 = space, _law_level(self._law, d)
        fits = self._law.shape == d.shape
        self.mean = float((self._law * d).sum(axis=1).mean()) if fits else math.nan

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return the number of one answer for every item."""
        return drawn_items(np.cumsum(self._law, axis=1), self.space.items(items), rng)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        return self._law


def _law_level(law: FloatArray, distances: FloatArray) -> float:
    """Return the α₀ of a law that may have zeros, rounded up; infinite where there is none."""
    used = law[:, law.max(axis=0) > 0]
    if used.min() <= 0:
        return math.inf
    worst = 0.0
    for row, far in zip(used, distances, strict=True):
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            change = np.abs(np.log(used / row)).max(axis=1)
        # The division and the logarithm of a ratio near 1 are off by less than this.
        change = np.where(change > 0, change + 4e-16, 0.0)
        if change[far <= 0].any():
            return math.inf
        worst = max(worst, float((change[far > 0] / far[far > 0]).max(initial=0.0)))
    return worst * (1 + _ROUNDING)


OPTIMAL_ITEMS = 40
"""Most items: the program has a variable for every pair of them."""
_ROUNDING = 1e-12
"""Relative error of a level computed in floats."""


class Optimal:
    """The α₀·d-private mechanism of least Σ π(x) Pr[y | x] d(x, y), whose answers are items.

    Solved by HiGHS, whose rows may miss their limits by 1e-7: negative chances are cut off, rows
    normalised, and as little as needed of the exponential mechanism at the rate α₀/2 is mixed in
    for the law itself to be α₀·d-private, whatever the solver did.

    Parameters
    ----------
    space : FiniteSpace
        Up to 40 items, different ones at distances above 0.
    alpha0 : float
        In (0, 800].
    prior : array_like of float, shape (size,), optional
        π, public and above 0 in sum; even if left out. It decides about the error, not about what
        is promised.

    Attributes
    ----------
    least : float
        The optimum of the program: what no α₀·d-private mechanism with these answers goes below,
        up to the solver's tolerance.
    """

    def __init__(self, space: FiniteSpace, alpha0: float, prior: ArrayLike | None = None) -> None:
        self.space, self.alpha0 = space, float(alpha0)
        d = space.matrix()
        even = np.full(len(d), 1 / len(d))
        weights = even if prior is None else np.asarray(prior, dtype=float)
        solved, self.least = _solve(d, weights, self.alpha0)
        self._law = _repair(solved, d, self.alpha0)
        self.mean = float(weights @ (self._law * d).sum(axis=1))

    def answer(self, items: ArrayLike, rng: np.random.Generator) -> IntArray:
        """Return one item of the space for every item."""
        return drawn_items(np.cumsum(self._law, axis=1), self.space.items(items), rng)

    def law(self) -> FloatArray:
        """Return Pr[y | x] as a matrix, rows x."""
        return self._law


def lp_optimum(distances: ArrayLike, prior: ArrayLike, alpha0: float) -> float:
    """Return the least Σ π(x) Pr[y | x] d(x, y) of α₀·d-private laws whose answers are items.

    Parameters
    ----------
    distances : array_like of float, shape (k, k)
        Normalised distances of 1 to 40 items, different ones above 0.
    prior : array_like of float, shape (k,)
        π ≥ 0.
    alpha0 : float
        In (0, 800].
    """
    return _solve(np.asarray(distances, float), np.asarray(prior, float), float(alpha0))[1]


def level_of(law: FloatArray, distances: FloatArray) -> float:
    """Return the α₀ for which a law, all above 0, is α₀·d-private, rounded up; 0 for one item."""
    log, apart = np.log(law), distances > 0
    change = np.abs(log[:, None, :] - log[None, :, :]).max(axis=2)
    return float((change[apart] / distances[apart]).max(initial=0.0)) * (1 + _ROUNDING)


def _solve(d: FloatArray, prior: FloatArray, alpha0: float) -> tuple[FloatArray, float]:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    checks.reals("alpha0", alpha0, 0.0, checks.MAX_EPSILON, open_low=True)
    k = len(d)
    if d.shape != (k, k) or not 1 <= k <= OPTIMAL_ITEMS:
        raise ValueError(
            f"distances: shape {d.shape} must be square, of 1 to {OPTIMAL_ITEMS} items"
        )
    if prior.shape != (k,) or (prior < 0).any() or not prior.sum() > 0:
        raise ValueError(f"prior: it must be {k} numbers, none negative and not all 0")
    first, second = np.nonzero(_needed_pairs(d))
    pairs, answers = first.size, np.arange(k)
    row = np.arange(pairs * k)
    # A(x, y)·e^{−α₀d} − A(x′, y) ≤ 0: no coefficient is above 1.
    left = (first[:, None] * k + answers).ravel()
    right = (second[:, None] * k + answers).ravel()
    shrunk = np.repeat(np.exp(-alpha0 * d[first, second]), k)
    limits = csr_array(
        (
            np.concatenate([shrunk, -np.ones(row.size)]),
            (np.concatenate([row, row]), np.concatenate([left, right])),
        ),
        shape=(row.size, k * k),
    )
    sums = csr_array((np.ones(k * k), (np.repeat(answers, k), np.arange(k * k))), shape=(k, k * k))
    cost = prior[:, None] * d
    solution: Any = linprog(
        cost.ravel(),
        A_ub=limits,
        b_ub=np.zeros(row.size),
        A_eq=sums,
        b_eq=np.ones(k),
        bounds=(0, 1),
        method="highs-ds",
    )
    if not solution.success:
        raise ArithmeticError(f"the linear program was not solved: {solution.message}")
    return np.asarray(solution.x).reshape(k, k), float(solution.fun)


def _needed_pairs(d: FloatArray) -> Any:
    """Return which ordered pairs have no third item on a shortest way between them.

    The limits of the others follow by multiplying those along the way.
    """
    through = d[:, :, None] + d[None, :, :]  # x to z, z to y
    k = np.arange(len(d))
    through[k, k, :] = np.inf
    through[:, k, k] = np.inf
    implied = (through.min(axis=1) <= d * (1 + 1e-12)) & (d > 0)
    return (d > 0) & ~implied


def _repair(law: FloatArray, d: FloatArray, alpha0: float) -> FloatArray:
    law = np.maximum(law, 0.0)
    law /= law.sum(axis=1, keepdims=True)
    safe = exponential_law(d, alpha0 / 2)
    share = 1e-12
    while True:
        mixed = (1 - share) * law + share * safe
        if share >= 1 or level_of(mixed, d) <= alpha0:
            return mixed
        share = min(4 * share, 1.0)
