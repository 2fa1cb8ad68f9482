"""The worst ε₀-LDP randomisers of T rounds of the shuffle, certified from above.

In a round k of n clients are drawn in secret without replacement, all use one common, non-adaptive
randomiser, and their messages are shuffled. With E = e^ε₀, e = e^ε, γ = k/n and k < n (for k = n
see `worst_case_unsampled`) no such randomiser and no data set has a larger δ(ε) than the largest,
over compositions j_A + j_B + j_C = k, of

    f(j) = E[((γ/k)·ΣG_i − (1−γ)(e−1))₊],

G_i independent, j_t of them with law t: A = 2RR if all others hold the old value, B = 2RR if they
hold the new one, C = 3RR. The corners (one law alone) are attained by these randomisers. That they
are the maximum is checked at every ε by branch and bound, within a number of triangles; where the
search does not close, nothing is claimed. The proof stands in ``resources/guide/worst-case.md``.

**One f** is an integral along a vertical line, f = (γ/k)·(1/2πi)∫ E[e^{zX}]/z² dz, X = ΣG − θ. It
errs upwards only: Gaussian noise added to X raises the mean of a convex function, what is left out
behind the last node is bounded, and the step's error is a sum of positive terms.

**A triangle** of compositions is bounded in two ways, of which the smaller holds. By what all of it
has in common and, for the rest, by the law G_* of the clones, a mean-preserving spread of the
three. Or from its vertices: the integrand is e^{j·L} at each node, with L the logarithms of the
transforms, so over a triangle it exceeds what is linear between its vertices by less than a sixth
of the squared change of j·L along a side times the largest modulus; and its modulus is convex in j,
so it never exceeds the moduli at the vertices. The sum over nodes takes whichever costs less at
each. Near ε₀ = ln 2, where A, B and C leak equally much, a few triangles are enough if the
messages are thousands.

**T rounds.** The largest f is a hockey-stick curve, so it is that of one pair of laws, which
dominates every round whatever came before. Between losses where it is known it is replaced by its
chord, for e < 1 by its mirror image, and then by the lower convex hull of the points; the hull's
second differences are the masses of the pair that is composed.

References
----------
This program. Compared with the literature: Feldman, McMillan & Talwar 2023 (the clones, which
G_* alone is); Girgis, Data & Diggavi 2021, Theorem 2 (2RR as a lower bound).
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.roots import rough_root
from explorer.privacy.shuffle_rdp.composition import FINE, Certified, Composition
from explorer.privacy.shuffle_rdp.losses import BLOCK, RoundLoss, three_symbol_loss
from explorer.privacy.shuffle_rdp.lower import lower_rdp_table
from explorer.privacy.shuffle_rdp.numerical import (
    DEPTHS,
    SUMMED,
    TRUNCATED_EXCESS,
    depth_for,
)
from explorer.privacy.shuffle_rdp.one_round import three_symbol_log_p
from explorer.privacy.shuffle_rdp.upper import pure_epsilon
from explorer.privacy.shuffle_rdp.worst_case_unsampled import (
    MAX_EPS0,
    MIN_EPS0,
    UnsampledRound,
    cosine,
    grown,
    phase,
)
from explorer.privacy.shuffling import Clones, shuffled_delta

WORST_CASE = Reference(
    "this program",
    "worst case of the shuffle (proof in the guide)",
    "doubles with bounded remainders; rounded up",
)
CORNERS = Reference(
    "this program",
    "the pair of Theorem 2 and randomised response on three symbols",
    "the larger Rényi divergence, of 2RR in both directions, rounded down",
)
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.intp]

TRIANGLES = 2500
"""Triangles that one search may look at."""
FIRST_TRIANGLES = 300
"""Triangles after which a wide gap is good enough, which is so of some hundred messages only."""
NARROW_GAP, WIDE_GAP, CLOSED_GAP = 7e-4, 2e-2, 5e-2
"""Relative distances of the bound from the largest known f: at which the search ends, at first and
after `FIRST_TRIANGLES`, and at which it has closed."""
_LISTED = 40
"""Messages up to which all compositions are evaluated."""
_BATCH = 64
_TOGETHER = 1000
"""Triangles of several searches at once, about: more are no quicker, and take memory."""
_NEXT = [1, 2, 0]
"""The vertex after each of a triangle's."""
_ROUNDING = 1e-9
"""Relative error of a value in doubles, by which it is raised."""
_PER_DEVIATION, _FINE_LOSSES, _MOST_LOSSES = 12.0, 60, 400
"""Losses on a deviation of one round at which the curve is known, the number of those, and of all,
half as dense from there on."""
_NEGLIGIBLE = 30.0
"""Nodes are left out whose terms are below e^−30 of the first, for every composition: all of them
add less than a hundredth of `_ROUNDING`."""
_COPIES, _LEAST_DAMPING = 20.0, 6.0
"""By the step the rule adds about e^−20 of the value; least damping, in deviations."""
_BLOCK = 8
"""Nodes that are left out together."""
_LOG_2 = math.log(2.0)
_CORNER_CELLS, _CORNER_DEPTH = 20_000, 200.0
_NEWTON_STEPS = 60
_CERTIFIED_STEPS = 8
"""Searches until the ε is found at which the bound is δ."""


def _values(E: float, e: FloatArray) -> FloatArray:
    """Return the values but 0 of A, B and C at each e; shape (m, 5)."""
    A, C = E - e, e * E - 1
    return np.stack([A, A / E, -C, -C / E, (1 - e) / E], axis=1)


def _probabilities(E: float) -> FloatArray:
    """Return the values' probabilities under A, B, C and the clones' law G_*, by row."""
    weights = [
        [0.0, E, 1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, E, 0.0],
        [1.0, 0.0, 1.0, 0.0, E],
        [1.0, 0.0, 1.0, 0.0, 0.0],
    ]
    return np.asarray(np.array(weights) / np.array([[E + 1], [E + 1], [E + 2], [E + 1]]))


def _log_size(less_1: ComplexArray) -> FloatArray:
    """Return ln|1+x|, which is taken k times, to all digits."""
    size, x = np.maximum(np.abs(1 + less_1), 1e-150), less_1.real
    near_1 = np.log1p(np.maximum(x * (2 + x) + np.square(less_1.imag), -0.9))
    return np.where(np.abs(size - 1) < 0.5, 0.5 * near_1, np.log(size))


class _Contours:
    """f of compositions and of triangles of them at several ε, an integral along a line each.

    Parameters
    ----------
    eps0, k, gamma : float
    rise : ndarray of float, shape (m,)
        e^ε − 1. Which of them is meant, other functions are told as `of`.
    """

    def __init__(self, eps0: float, k: float, gamma: float, rise: FloatArray) -> None:
        E = math.exp(eps0)
        self._k, self._unit = k, gamma / k
        self._theta = k * (1 - gamma) * rise / gamma
        # Noise costs more where few messages make up the sum, and nodes cost less there.
        spread = max(0.35, math.sqrt(4e-4 * k / (E + 2)))
        if k < 500:
            spread = 0.03 if k <= _LISTED else 0.1
        self._noise = (E - 1) * spread
        self._values, self._chances = _values(E, 1 + rise), _probabilities(E)
        c, height, bend = self._tilts()
        each = np.arange(rise.size)
        corners = np.tile(np.diag([k, k, k, 0.0])[:3], (rise.size, 1, 1))
        # The line of the corner that is probably the largest serves all: any is a bound.
        best = np.where(np.isnan(height), -math.inf, height).argmax(axis=1)
        for _ in range(2):
            known = np.isfinite(bend[each, best])
            self._use(*(np.where(known, of[each, best], 1.0) for of in (c, height, bend)))
            # Of few messages and a large ε₀ it leaves the doubles.
            self.corners = self.values(corners, each[:, None])
            self.corners[~known] = math.inf
            before, best = best, np.where(known, self.corners.argmax(axis=1), best)
            if np.array_equal(best, before):
                break

    def _tilts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return c, the integrand's log height and its curvature in ln c, a corner a column."""
        k, square = self._k, self._noise**2
        values, chances = self._values[:, None], self._chances[:3]
        theta = self._theta[:, None]
        top = np.where(chances > 0, values, -math.inf).max(axis=2)
        most = np.where(top > 0, np.log(600 / np.where(top > 0, top, 1.0)), 700.0)
        log_c = 0.5 * np.log(2 / (k * (chances * values * values).sum(axis=2)))
        height, bend = np.empty((2, *log_c.shape))
        moving = np.ones(log_c.shape, bool)
        for _ in range(_NEWTON_STEPS):
            c = np.exp(log_c)
            # e^{cG} stays in range.
            weighted = chances * np.exp(np.minimum(c[..., None] * values, 700.0))
            total = weighted.sum(axis=2)
            weighted *= values
            mean = weighted.sum(axis=2) / total
            weighted *= values
            deviation = weighted.sum(axis=2) / total - mean * mean
            noise = square * c
            slope = c * (k * mean - theta + noise) - 2
            curved = slope + 2 + c * c * (k * deviation + square)
            here = k * np.log(total) - c * theta + 0.5 * noise * c - 2 * log_c
            # Of each alone, so that no ε depends on which others are asked for.
            bend, height = np.where(moving, curved, bend), np.where(moving, here, height)
            step = np.where(bend > 0, slope / np.maximum(bend, 1e-12), np.copysign(1.0, slope))
            step = np.clip(step, -1.0, 1.0)
            log_c = np.where(moving, np.minimum(log_c - step, most), log_c)
            moving &= ~(np.abs(step) < 1e-4)
            if not moving.any():
                break
        return np.exp(log_c), height, np.maximum(bend, 1.0)

    def _use(self, c: FloatArray, height: FloatArray, bend: FloatArray) -> None:
        """Compute the nodes of the lines through these c, but those of no size."""
        square, c, bend = self._noise**2, c[:, None], bend[:, None]
        log_value = height[:, None] + np.log(c) - 0.5 * np.log(2 * math.pi * bend)
        damping = least = _LEAST_DAMPING * np.sqrt(bend)
        for _ in range(4):
            damping = np.maximum(least, _COPIES + np.log(damping / c) - log_value)
        step = 2 * math.pi * c / damping
        last = np.ceil(3.8 / self._noise / step)
        begins = _BLOCK * np.arange(last.max() // _BLOCK + 2)
        less_1, rest = self._line(c, step * begins)
        sizes = _log_size(less_1)
        first = self._k * sizes[..., :1]
        # Between two nodes |E e^{zG}|² is above both by less than its curvature allows.
        square_g = self._chances @ (np.exp(c * self._values) * np.square(self._values))[..., None]
        bow = np.square(0.5 * _BLOCK * step)[..., None] * square_g * np.exp(-sizes[..., :1])
        sizes -= sizes[..., :1]
        sizes = np.maximum(sizes[..., 1:], sizes[..., :-1])
        sizes += 0.5 * np.log1p(bow * np.exp(-2 * sizes))
        most = (self._k * sizes + first).max(axis=1) + rest[:, :-1]
        most[begins[:-1] > last] = -math.inf
        # In most blocks no composition has an integrand of any size: their bounds are added.
        used = ~(most <= (first[..., 0].max(axis=1, keepdims=True) + rest[:, :1]) - _NEGLIGIBLE)
        block = step / math.pi * _BLOCK
        self._left_out = np.where(used, 0.0, np.exp(most) * block).sum(axis=1)
        # The used ones first, as many of each line as of that with most.
        kept = np.argsort(~used, axis=1, kind="stable")[:, : used.sum(axis=1).max()]
        node = (begins[kept][..., None] + np.arange(_BLOCK)).reshape(len(c), -1)
        known = np.repeat(np.take_along_axis(used, kept, axis=1), _BLOCK, axis=1)
        t = step * node
        self._weight = np.where(known & (node <= last), step / math.pi, 0.0)
        self._weight[:, 0] *= 0.5
        # What lies behind the last node, in units of the integrand at c, times c².
        end = step * last
        behind = c * c * np.exp(-0.5 * np.square(self._noise * end)) / (math.pi * square * end**3)
        self._weight[:, :1] += behind
        less_1, self._rest = self._line(c, t)
        self._sizes, self._phases = _log_size(less_1), phase(less_1)
        self._turned = (square * c - self._theta[:, None]) * t - 2 * np.arctan(t / c)

    def _line(self, c: FloatArray, t: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """Return at c + it the transforms less 1, and ln of all else in the integrand's modulus."""
        rest = 0.5 * self._noise**2 * (c * c - t * t) - self._theta[:, None] * c
        rest -= np.log(c * c + t * t)
        return self._chances @ grown(self._values, c, t[:, None]), rest

    def values(self, counts: FloatArray, of: IntArray) -> FloatArray:
        """Return f of messages by law, an upper bound each; shape (…, 4) to (…)."""
        return self.total(self.integrand(counts, of)[..., 1, :], of)

    def largest(self, of: int) -> float:
        """Return the largest f of all compositions, of few messages: products of powers."""
        k = int(self._k)
        rest, turned = self._rest[of], self._turned[of]
        logs = self._sizes[of, :3] + rest / k + 1j * (self._phases[of, :3] + turned / k)
        powers = np.ones((k + 1, *logs.shape), dtype=complex)
        powers[1] = np.exp(logs)
        for i in range(1, k):
            np.multiply(powers[i], powers[1], out=powers[i + 1])
        first, second, third = powers.transpose(1, 0, 2)
        weight = self._weight[of]
        sums = [
            ((second[: j + 1] * third[j::-1]) @ (first[k - j] * weight)).real.max()
            for j in range(k + 1)
        ]
        return float(self._unit * (max(sums) + self._left_out[of]) * (1 + _ROUNDING))

    def total(self, terms: FloatArray, of: IntArray) -> FloatArray:
        """Return f from the integrand at the nodes."""
        sums = np.einsum("...i,...i->...", terms, self._weight[of]) + self._left_out[of]
        return np.asarray(self._unit * sums * (1 + _ROUNDING))

    def integrand(self, points: FloatArray, of: IntArray) -> FloatArray:
        """Return modulus and real part of the integrand at the nodes.

        Parameters
        ----------
        points : ndarray of float, shape (…, 3) or (…, 4)
            Messages by law, which need not be whole.
        of : ndarray of int, shape (…)

        Returns
        -------
        ndarray of float, shape (…, 2, nodes)
        """
        row, laws = points[..., None, :], slice(points.shape[-1])
        moduli = np.exp((row @ self._sizes[of, laws])[..., 0, :] + self._rest[of])
        turned = (row @ self._phases[of, laws])[..., 0, :] + self._turned[of]
        return np.stack([moduli, moduli * cosine(turned)], axis=-2)

    def over(
        self,
        triangles: FloatArray,
        corners: IntArray,
        terms: FloatArray,
        of: IntArray,
        enough: FloatArray | float = -math.inf,
    ) -> FloatArray:
        """Return upper bounds on f over triangles of compositions.

        Parameters
        ----------
        triangles : ndarray of float, shape (m, 3, 3)
            Of each vertex the messages by law.
        corners : ndarray of int, shape (m, 3)
            Numbers of the vertices.
        terms : ndarray of float, shape (vertices, 2, nodes)
            `integrand` of all vertices.
        of : ndarray of int, shape (m,)
        enough : ndarray of float, shape (m,), or float
            A bound of at most that need not be the smaller of the two.
        """
        # Only whole messages count.
        shared = np.ceil(triangles.min(axis=1) - 1e-6)
        rest = np.maximum(self._k - shared.sum(axis=1), 0.0)
        bounds = self.values(np.column_stack([shared, rest]), of)
        wide, together = np.flatnonzero(~(bounds <= enough)), max(1, BLOCK // self._rest.shape[1])
        for start in range(0, wide.size, together):
            some = wide[start : start + together]
            curved = self._over_curved(triangles[some], terms[corners[some]], of[some])
            bounds[some] = np.fmin(bounds[some], curved)
        return np.where(np.isnan(bounds), math.inf, bounds)

    def _over_curved(self, triangles: FloatArray, terms: FloatArray, of: IntArray) -> FloatArray:
        """Return the bounds from the vertices, given the integrand there."""
        moduli, real = terms[:, :, 0], terms[:, :, 1]
        sides = triangles - triangles[:, _NEXT]
        squares = np.square(sides @ self._sizes[of, :3]) + np.square(sides @ self._phases[of, :3])
        bend = moduli.max(axis=1) * squares.max(axis=1)
        smooth = bend / 6 < (moduli - real).max(axis=1)
        upper = self.total(np.where(smooth[:, None], real, moduli), of[:, None])
        bend = np.einsum("ij,ij->i", np.where(smooth, bend, 0.0), self._weight[of])
        return _highest(upper, self._unit * bend)


def _highest(heights: FloatArray, bend: FloatArray) -> FloatArray:
    """Return the largest Σλᵢhᵢ + bend·Σ_{i<j}λᵢλⱼ/2 of λ ≥ 0 with sum 1; shape (m, 3) to (m,)."""
    top = heights.max(axis=1)
    bend = np.maximum(bend, 1e-15 * top)
    # λ is the point of the simplex nearest to y, of which what is 1 below the largest has no part.
    y = np.maximum(2 * (heights - top[:, None]) / bend[:, None], -1.0)
    ordered = -np.sort(-y, axis=1)
    level = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, 4)
    shares = np.maximum(y - level.max(axis=1, keepdims=True), 0.0)
    spread = (1 - (shares**2).sum(axis=1)) / 4
    return np.asarray(top + bend * ((shares * y).sum(axis=1) / 2 + spread))


class Certificate(NamedTuple):
    """The largest f at one ε, bounded from above.

    Attributes
    ----------
    value : float
        No composition has a larger f.
    corner : float
        The largest corner by the same integral, an upper bound on it.
    triangles : int
        Triangles looked at.
    closed : bool
        Whether the value lies within `CLOSED_GAP` of the largest known f.
    """

    value: float
    corner: float
    triangles: int
    closed: bool


def _deviation(eps0: float, k: float, n: float) -> float:
    """Return the largest standard deviation of the loss of one round, to first order."""
    E = math.exp(eps0)
    return k / n * (E - 1) * math.sqrt(max(1 / E, 2 / (E + 2)) / k)


class _Round(Protocol):
    """The worst case of one round.

    Attributes
    ----------
    pure : float
        The loss is never larger.
    deviation : float
        Its standard deviation, to first order.
    """

    pure: float
    deviation: float

    def certify(self, eps: float) -> Certificate:
        """Return an upper bound on δ at ε ≥ 0."""

    def certify_first(self, losses: FloatArray, least: float) -> list[Certificate]:
        """Return the certificates of the first rising losses, one at least."""

    def epsilon(self, delta: float) -> Certificate | None:
        """Return ε at δ in (0, 1] as the value of a certificate; None if the search is open."""


class WorstRound:
    """The worst case of one sampled round: corners, and their certificate.

    Parameters
    ----------
    eps0 : float
        In [0.01, 20].
    k, n : float
        1 ≤ k < n ≤ 1e12.

    Raises
    ------
    ValueError
        Outside these ranges.
    """

    def __init__(self, eps0: float, k: float, n: float) -> None:
        self.eps0 = float(checks.reals("eps0", eps0, MIN_EPS0, MAX_EPS0))
        checks.population(k, n)
        if k >= n:
            raise ValueError(f"k = {k:g} of n = {n:g}: the sampled worst case needs k < n")
        self.k, self.n, self.gamma = float(k), float(n), k / n
        self.pure = float(pure_epsilon(eps0, k, n))
        self.deviation = _deviation(self.eps0, self.k, self.n)
        self._known: dict[float, Certificate] = {}

    def corner(self, eps: float) -> float:
        """Return the largest corner at ε ≥ 0, from above: the lower bound, but for the noise."""
        if eps >= self.pure:
            return 0.0
        return float(self._contours(np.array([eps])).corners.max())

    def certify(self, eps: float) -> Certificate:
        """Return an upper bound on δ(ε) over all ε₀-LDP randomisers and data sets, ε ≥ 0."""
        return self.certify_first(np.array([eps]))[0]

    def certify_first(self, losses: FloatArray, least: float = 0.0) -> list[Certificate]:
        """Return `certify` of the first losses, at least one, searched together.

        None after one that `least` or pure ε ends.
        """
        if losses.item(0) not in self._known:
            self._known |= zip(losses.tolist(), self._search(losses, least), strict=False)
        return [self._known[eps] for eps in takewhile(self._known.__contains__, losses.tolist())]

    @np.errstate(all="ignore")
    def _contours(self, losses: FloatArray) -> _Contours:
        return _Contours(self.eps0, self.k, self.gamma, np.expm1(losses))

    @np.errstate(over="ignore", invalid="ignore")
    def _search(self, losses: FloatArray, least: float) -> list[Certificate]:
        """Return the certificates of the losses up to the first whose corner is at most `least`."""
        inside = losses[losses < self.pure]
        if not inside.size:
            return [Certificate(0.0, 0.0, 0, True)]
        contours = self._contours(inside)
        corner = contours.corners.max(axis=1)
        last = int(np.argmax(np.append(corner, 0.0) <= least)) + 1
        corner = corner[:last]
        # So far out that the integrand leaves the doubles.
        known = np.isfinite(corner)
        if self.k <= _LISTED:
            # Of few messages inner compositions may be far above the corners, but can all be tried.
            tried = (int(self.k) + 1) * (int(self.k) + 2) // 2
            return [
                Certificate(min(contours.largest(i), 1.0), top, tried, True)
                if known[i]
                else Certificate(1.0, top, 1, False)
                for i, top in enumerate(corner.tolist())
            ]
        of = np.flatnonzero(known)
        triangles = np.tile(self.k * np.eye(3), (of.size, 1, 1))
        corners = np.arange(3 * of.size).reshape(-1, 3)
        vertices = contours.integrand(triangles, of[:, None])
        best = np.zeros(corner.size)
        best[of] = contours.total(vertices[:, :, 1], of[:, None]).max(axis=1)
        vertices = vertices.reshape(-1, *vertices.shape[2:])
        bounds = contours.over(triangles, corners, vertices, of, corner[of])
        settled, looked = corner.copy(), np.ones(corner.size, int)
        known_vertices = len(vertices)
        while True:
            gap = np.where(looked < FIRST_TRIANGLES, NARROW_GAP, WIDE_GAP)
            live = (bounds > ((1 + gap) * best)[of]) & (looked < TRIANGLES)[of]
            np.maximum.at(settled, of[~live], bounds[~live])
            triangles, corners = triangles[live], corners[live]
            bounds, of = bounds[live], of[live]
            if not of.size:
                break
            # The highest of each search are split.
            order = np.lexsort((-bounds, of))
            place = np.arange(of.size) - np.searchsorted(of[order], of[order])
            room = np.clip((TRIANGLES - looked) // 2, 1, _BATCH)
            first = place < room[of[order]]
            split, kept = order[first], order[~first]
            parts, of_parts, middle = _halves(triangles[split], corners[split], known_vertices)
            fresh = contours.integrand(middle, of[split])
            np.maximum.at(best, of[split], contours.total(fresh[:, 1], of[split]))
            while known_vertices + len(fresh) > len(vertices):
                vertices = np.concatenate([vertices, np.empty_like(vertices)])
            vertices[known_vertices : known_vertices + len(fresh)] = fresh
            known_vertices += len(fresh)
            both = np.tile(of[split], 2)
            looked += np.bincount(both, minlength=looked.size)
            over = contours.over(parts, of_parts, vertices, both, settled[both])
            triangles = np.concatenate([triangles[kept], parts])
            corners = np.concatenate([corners[kept], of_parts])
            bounds, of = np.concatenate([bounds[kept], over]), np.concatenate([of[kept], both])
        closed = settled <= (1 + CLOSED_GAP) * best
        value = np.where(known, np.minimum(settled, 1.0), 1.0)
        columns = value, corner, looked, closed & known
        return [Certificate(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def epsilon(self, delta: float) -> Certificate | None:
        """Return ε at δ in (0, 1] as the value of a certificate; None if the search is open.

        Corner and triangles are those of the search at that ε.
        """
        at_zero = self.certify(0.0)
        if at_zero.value <= delta:
            return at_zero._replace(value=0.0)
        goal = math.log(delta)
        at = self._corner_root(goal) if at_zero.corner > delta else 0.1 * self.deviation
        for _ in range(_CERTIFIED_STEPS):
            found = self.certify(at)
            if not found.closed:
                return None
            if found.value <= delta:
                return found._replace(value=at * (1 + _ROUNDING))
            further = at * (1 + 1e-3)
            slope = (math.log(found.corner) - self._log_corner(further)) / (further - at)
            at = min(at + 1.02 * (math.log(found.value) - goal) / slope, self.pure)
        return None

    def _corner_root(self, goal: float) -> float:
        """Return an ε whose largest corner is about e^goal."""
        high = min(20.0 * self.deviation, self.pure)
        while high < self.pure and self._log_corner(high) > goal:
            high = min(2 * high, self.pure)
        return rough_root(
            lambda eps: goal - self._log_corner(eps), 0.0, high, tolerance=1e-7 * self.deviation
        )

    def _log_corner(self, eps: float) -> float:
        corner = self.corner(eps)
        return math.log(max(corner, 1e-300)) if math.isfinite(corner) else math.log(1e-300)


class _UnsampledRound:
    """The worst case of one round of all n clients, by Theorem 2 or the clones: the smaller.

    Parameters
    ----------
    eps0 : float
        In [0.01, 20].
    n : float
        In [2, 1e12].
    """

    def __init__(self, eps0: float, n: float) -> None:
        self._search, self._n = UnsampledRound(eps0, n), n
        self.pure, self.deviation = eps0, _deviation(eps0, n, n)
        self._clones: dict[float, float] = {}
        self._known: dict[float, Certificate] = {}

    def certify(self, eps: float) -> Certificate:
        """Return an upper bound on δ(ε) over all ε₀-LDP randomisers and data sets, ε ≥ 0."""
        return self.certify_first(np.array([eps]))[0]

    def certify_first(self, losses: FloatArray, least: float = 0.0) -> list[Certificate]:
        """Return `certify` of the first loss alone: a search takes long enough."""
        eps = losses.item(0)
        if eps not in self._known:
            if eps not in self._clones:
                # Of several losses they take little more time than of one.
                deltas = shuffled_delta(losses, self.pure, self._n, Clones.STRONGER)
                deltas = np.minimum(deltas * (1 + SUMMED), 1.0)
                self._clones |= zip(losses.tolist(), deltas.tolist(), strict=True)
            clones = self._clones[eps]
            found = self._search.certify(eps, clones)
            value = min(found.value, clones)
            self._known[eps] = Certificate(value, min(found.corner, value), found.boxes, True)
        return [self._known[eps]]

    def epsilon(self, delta: float) -> Certificate:
        """Return ε at δ in (0, 1] as the value of a certificate."""
        found = self._search.epsilon(delta)
        return Certificate(found.value, math.nan, found.boxes, True)


def _halves(
    triangles: FloatArray, corners: IntArray, known: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the halves of triangles cut across their longest sides, and the new vertices.

    Parameters
    ----------
    triangles : ndarray of float, shape (m, 3, 3)
    corners : ndarray of int, shape (m, 3)
        Numbers of the vertices.
    known : int
        Number of the first new vertex.
    """
    rows = np.arange(triangles.shape[0])
    first = np.abs(triangles - triangles[:, _NEXT]).sum(axis=2).argmax(axis=1)
    second = (first + 1) % 3
    middle = (triangles[rows, first] + triangles[rows, second]) / 2
    halves, of_halves = np.concatenate([triangles] * 2), np.concatenate([corners] * 2)
    both, replaced = np.arange(2 * rows.size), np.concatenate([first, second])
    halves[both, replaced] = np.concatenate([middle] * 2)
    of_halves[both, replaced] = known + np.concatenate([rows] * 2)
    return halves, of_halves, middle


class Envelope(NamedTuple):
    """The worst case of one round as points of a hockey-stick curve, or why there are none.

    Attributes
    ----------
    loss : RoundLoss or None
        The law of the pair whose curve runs above all points; None if a search is open.
    triangles : int
        Triangles that all searches looked at.
    gap : float
        Largest relative distance of a point from its corner.
    """

    loss: RoundLoss | None
    triangles: int
    gap: float


def envelope(round_: _Round, depth: float, check: Callable[[], None] = lambda: None) -> Envelope:
    """Return the pair that dominates every ε₀-LDP randomiser's sampled round.

    Parameters
    ----------
    round_ : WorstRound
        Or the same of a round without sampling.
    depth : float
        Losses are searched up to the first whose δ is below e^−depth; that δ is left out of the
        law (`RoundLoss.missing`).
    check : callable, optional
        Called before each few searches; it may raise.

    References
    ----------
    This program; corollary (c) of Theorem 1 of the guide's page on the worst case.
    """
    # Far out the curve bends less than it falls: there losses may lie further apart.
    i = np.arange(_MOST_LOSSES)
    losses = np.where(i < _FINE_LOSSES, i, 2 * i - _FINE_LOSSES)
    losses = round_.deviation / _PER_DEVIATION * losses
    losses = np.append(losses[losses < round_.pure], round_.pure)[:_MOST_LOSSES]
    least, together = math.exp(-depth), 1
    heights, looked, gap = list[float](), 0, 0.0
    while len(heights) < losses.size:
        check()
        begun = looked
        some = round_.certify_first(losses[len(heights) :][:together], least)
        for found in some:
            looked += found.triangles
            if not found.closed:
                return Envelope(None, looked, found.value / found.corner - 1)
            gap = max(gap, found.value / found.corner - 1 if found.corner else 0.0)
            heights.append(found.value)
        if heights[-1] <= least:
            break
        # As many as are looked at quickly: neighbours are about as hard.
        most = _TOGETHER * len(some) // (looked - begun)
        together = max(1, min(4 * together, most))
    rises = np.expm1(losses[: len(heights)])
    return Envelope(_loss_of_curve(rises, np.array(heights)), looked, gap)


def _loss_of_curve(rise: FloatArray, height: FloatArray) -> RoundLoss:
    """Return the law whose δ runs through the lower convex hull of points and their mirror images.

    Parameters
    ----------
    rise : ndarray of float
        e − 1 ≥ 0, rising, the first 0.
    height : ndarray of float
        Upper bounds on δ there.
    """
    missing = float(height[-1])
    # At 1/e the exchanged pair has δ = 1 − 1/e + δ(e)/e; W is δ less what is certain, (1−e)₊.
    mirrored = -rise[:0:-1] / (1 + rise[:0:-1])
    x = np.concatenate([mirrored, rise])
    over = np.concatenate([height[:0:-1] / (1 + rise[:0:-1]), height])
    # Less the missing probability, which has no part in either law.
    over = np.maximum(over - missing * np.where(x < 0, 1 + x, 1.0), 0.0)
    kept: list[int] = []
    slopes: list[float] = []
    for i in range(x.size):
        while kept:
            slope = _slope(x, over, kept[-1], i)
            if not slopes or slope >= slopes[-1]:
                break
            kept.pop()
            slopes.pop()
        slopes += [_slope(x, over, kept[-1], i)] if kept else []
        kept.append(i)
    at = x[kept]
    # Of the last point on it is 0, before the first all mass is above.
    all_slopes = np.array([-(1.0 - missing), *slopes, 0.0])
    mass = np.diff(all_slopes)
    if mass.min() < -1e-12:
        raise ArithmeticError("the curve of the worst case is not convex")
    keep = mass > 0
    return RoundLoss(mass[keep], at[keep], np.log1p(at[keep]), missing, _ROUNDING)


def _slope(x: FloatArray, over: FloatArray, i: int, j: int) -> float:
    """Return the slope of δ between two points; below e = 1 it has −1 more than that of W."""
    below = (min(x[j], 0.0) - min(x[i], 0.0)) / (x[j] - x[i])
    return float((over[j] - over[i]) / (x[j] - x[i]) - below)


class WorstCaseRounds:
    """T rounds of the worst ε₀-LDP randomisers, k of n clients sampled in each, from above.

    Parameters
    ----------
    eps0, k, n : float
        As of `WorstRound`, or 2 ≤ k = n.

    Attributes
    ----------
    round : WorstRound
        Of k < n, else the same of a round without sampling.
    check : callable
        Called before each few searches; it may raise, and what is known by then is kept.
    """

    def __init__(self, eps0: float, k: float, n: float) -> None:
        checks.population(k, n)
        self.round: _Round = WorstRound(eps0, k, n) if k < n else _UnsampledRound(eps0, n)
        self.check: Callable[[], None] = lambda: None
        self._routes: dict[float, tuple[Envelope, Composition | None]] = {}

    def epsilon(self, delta: float, T: int) -> Certified | None:
        """Return ε at δ in (0, 1]; None if a search is open."""
        if T == 1:
            found = self.round.epsilon(delta)
            return None if found is None else Certified(found.value, 0.0)
        route = self.composition(depth_for(delta, T))
        if route is None:
            return None
        composed, most = route.epsilon(delta, T), T * self.round.pure * (1 + _ROUNDING)
        return composed if composed.value <= most else Certified(most, math.inf)

    def delta(self, epsilon: float, T: int, enough: float = FINE) -> Certified | None:
        """Return δ at ε ≥ 0; None if a search is open."""
        if T == 1:
            found = self.round.certify(epsilon)
            return Certified(found.value, 0.0) if found.closed else None
        bound = None
        for depth in DEPTHS:
            route = self.composition(depth)
            if route is None:
                return None
            bound = route.delta(epsilon, T, enough)
            if T * route.loss.missing <= TRUNCATED_EXCESS * bound.value:
                break
        return bound

    def envelope(self, depth: float) -> Envelope:
        """Return the law of one round down to probabilities of e^−depth."""
        self.composition(depth)
        return self._routes[depth][0]

    def composition(self, depth: float) -> Composition | None:
        """Return the composition of that law; None if a search is open."""
        if depth not in self._routes:
            curve = envelope(self.round, depth, self.check)
            route = None if curve.loss is None else Composition(curve.loss, Role.UPPER)
            self._routes[depth] = curve, route
        return self._routes[depth][1]


OPEN = "the search for a worse composition of messages did not close within its 2,500 triangles"
ALONE = "searched for two clients and more"
OUTSIDE = f"searched for ε₀ from {MIN_EPS0:g} to {MAX_EPS0:g} only"


def why_no_worst_case(eps0: float, k: float, n: float) -> str:
    """Return why the worst case of a round is not offered; empty if it is."""
    if n < 2:
        return ALONE
    return "" if MIN_EPS0 <= eps0 <= MAX_EPS0 else OUTSIDE


def worst_case_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    prepare: Callable[[float, float, float], WorstCaseRounds] = WorstCaseRounds,
) -> Bound:
    """Return ε at δ of T rounds of the worst ε₀-LDP randomisers, from above.

    Holds for one common, non-adaptive randomiser a round, which may depend on earlier rounds.
    Arguments broadcast. Not valid for one client, where ε₀ is outside [0.01, 20], and where a
    search is open.

    Parameters
    ----------
    eps0 : array of float
    k, n : array of int
        1 ≤ k ≤ n ≤ 1e12.
    T : array of int
    delta : array of float
        In [1e-300, 1].
    prepare : callable, optional
        From ε₀, k and n to the rounds, so that a caller may keep them.
    """
    arrays = np.broadcast_arrays(
        checks.epsilon0(eps0), *checks.population(k, n), checks.rounds(T), checks.delta(delta)
    )
    flat = np.stack([a.ravel() for a in arrays])
    value = np.full(flat.shape[1], np.nan)
    reasons: dict[str, None] = {}
    for i, (local, sampled, clients, rounds, target) in enumerate(flat.T.tolist()):
        reason = why_no_worst_case(local, sampled, clients)
        if reason:
            reasons[reason] = None
        else:
            bound = prepare(local, sampled, clients).epsilon(target, int(rounds))
            if bound is None:
                reasons[OPEN] = None
            else:
                value[i] = bound.value
    shaped = np.asarray(value.reshape(arrays[0].shape))
    known = np.isfinite(shaped)
    return Bound(shaped, Role.UPPER, WORST_CASE, known, "; ".join(reasons), grade=Grade.NUMERICAL)


def worst_case_rdp(round_: WorstCaseRounds, orders: ArrayLike) -> FloatArray | None:
    """Return an upper bound on the Rényi divergence of one round at each order, in nats.

    Parameters
    ----------
    round_ : WorstCaseRounds
    orders : array of float, 1-dimensional
        λ > 1.

    Returns
    -------
    ndarray of float or None
        None if a search is open.

    References
    ----------
    This program; corollary (d) of Theorem 1 of the guide's page on the worst case.
    """
    order = np.atleast_1d(np.asarray(orders, dtype=float))
    law = round_.envelope(DEPTHS[0]).loss
    if law is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        grown = law.growth(order - 1) * (1 + _ROUNDING)
        # The missing probability is no further out than the pure ε of a round.
        farthest = np.expm1((order - 1) * round_.round.pure) / (order - 1)
        grown += law.missing * order * (order - 1) * (1 / order + farthest)
    # No divergence is above the pure ε, which holds too where powers leave the doubles.
    return np.asarray(np.fmin(np.log1p(grown) / (order - 1), round_.round.pure * (1 + _ROUNDING)))


def corner_rdp(eps0: float, k: float, n: float, orders: ArrayLike) -> FloatArray:
    """Return the largest Rényi divergence of 2RR, both ways, and 3RR at each order: a lower bound.

    Parameters
    ----------
    eps0 : float
        In [0.01, 20].
    k, n : float
        1 ≤ k ≤ n.
    orders : array of int, 1-dimensional
        In [2, 4096].
    """
    three = three_symbol_loss(eps0, k, n, cells=_CORNER_CELLS, depth=_CORNER_DEPTH)
    order = np.asarray(orders, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        levels = np.log1p(three.growth(order - 1)) / (order - 1)
    # Where powers leave the doubles that of 2RR stands alone.
    known = np.where(np.isfinite(levels), levels, np.nan)
    two = lower_rdp_table(eps0, k, n, int(order.max()))
    return np.asarray(np.fmax(two[order.astype(int) - 2], known))


def composition_delta(eps: float, eps0: float, k: float, n: float, composition: ArrayLike) -> float:
    """Return f(j_A, j_B, j_C) by adding up all outcomes: the second way of computing it.

    Parameters
    ----------
    eps : float
        ≥ 0.
    eps0 : float
        In [0.01, 20].
    k, n : int
        1 ≤ k ≤ n; at k = n there is no sampling and all others hold one value. Of compositions of
        several laws (j_A+1)(j_B+1)(j_C+1) outcomes are listed, so k is small.
    composition : array of int, shape (3,)
        Messages of the laws A, B and C, with sum k.

    References
    ----------
    This program; Theorem 1 of the guide's page on the worst case.
    """
    jA, jB, jC = (int(j) for j in np.asarray(composition))
    if jA + jB + jC != k or min(jA, jB, jC) < 0:
        raise ValueError(f"composition: {jA}, {jB}, {jC} do not add up to k = {k:g}")
    E, rise, gamma = math.exp(eps0), math.expm1(eps), k / n
    e = 1 + rise
    A, C = E - e, e * E - 1
    i, j, N = np.arange(jA + 1.0), np.arange(jB + 1.0), np.arange(jC + 1.0)
    p_i, p_j = (_all_masses(m, -math.log1p(E)) for m in (jA, jB))
    p_N = _all_masses(jC, three_symbol_log_p(eps0))
    # ΣG less θ, but for the coins of C, each of which adds A + C.
    a = (jA * A - i * e * (E * E - 1)) / E
    b = (j * (E * E - 1) - jB * C) / E
    c = -N * C - (jC - N) * rise / E
    theta = k * (1 - gamma) * rise / gamma
    total = a[:, None, None] + b[:, None] + c - theta
    gain = _coin_gain(N, -total / (A + C)) * (A + C)
    return float(gamma / k * np.einsum("i,j,n,ijn", p_i, p_j, p_N, gain))


def largest_delta(eps: float, eps0: float, k: float, n: float) -> float:
    """Return the largest f over all compositions, exactly; parameters as `composition_delta`.

    For k < n no ε₀-LDP randomiser and no data set has a larger δ(ε).
    """
    size = int(k)
    return max(
        composition_delta(eps, eps0, k, n, (a, b, size - a - b))
        for a in range(size + 1)
        for b in range(size + 1 - a)
    )


def _all_masses(trials: int, log_p: float) -> FloatArray:
    """Return the binomial probabilities of 0…trials."""
    return np.exp(log_pmf(np.arange(trials + 1.0), trials, log_p, math.log1p(-math.exp(log_p))))


def _coin_gain(N: FloatArray, level: FloatArray) -> FloatArray:
    """Return E(U − level)₊, U ~ Bin(N, ½), level of shape (…, N.size)."""
    tails, gains = _coin_table(int(N[-1]))
    at = np.clip(np.floor(level), 0, N)
    rows = N.astype(int)
    columns = at.astype(int)
    inside = gains[rows, columns] - (level - at) * tails[rows, columns]
    return np.where(level < 0, 0.5 * N - level, np.where(level >= N, 0.0, inside))


@lru_cache(maxsize=2)
def _coin_table(largest: int) -> tuple[FloatArray, FloatArray]:
    """Return Pr[U > u] and E(U − u)₊ of U ~ Bin(N, ½), N = 0…largest by row, u by column."""
    N, u = np.arange(largest + 1.0)[:, None], np.arange(largest + 2.0)
    mass = np.where(
        u <= N, np.exp(log_pmf(np.minimum(u, N), np.maximum(N, 1.0), -_LOG_2, -_LOG_2)), 0.0
    )
    mass[0, 0] = 1.0
    at_least = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    tails = np.concatenate([at_least[:, 1:], np.zeros((largest + 1, 1))], axis=1)
    gains = np.cumsum(tails[:, ::-1], axis=1)[:, ::-1]
    return tails, gains
