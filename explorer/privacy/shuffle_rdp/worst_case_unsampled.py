"""The worst ε₀-LDP randomiser of one shuffle without sampling, the others holding any values.

n clients use one common, non-adaptive randomiser R and their messages are shuffled. P and Q are the
rows of the changed client's old and new value. With E = e^ε₀, e = e^ε, b = E − 1 and A = E − e,
C = eE − 1, let α = TV(P, Q)/b, which is at most α₁ = 1/(E+1), and α₀ = 1/(E+2).

**Up to α₀** δ(ε) is at most D(α₀), D(α) = (1/n)·E[(Σg)₊] over n messages with g = A and −C with
probability α each, E(1−e) with probability w₃ = (1−(E+1)α)/E, else 0 (the variation-ratio bound).

**From α₀ to α₁** (Theorem 2) δ(ε) is at most the largest V(α, m), 0 ≤ m < n: with
s = (E+2)α − 1, β = 2α + w₃ and B the number of base coins of n − 1 independent others, m of type A,

    V(α, m) = E[β/(B+1)·(G₀ + ΣG_j)₊];

- type A, base: A with α − s, A/E with s, −C with α, E(1−e) with w₃; not base: A/E with bs, else 0;
- type B, base: A with α, −C with α − s, −C/E with s, E(1−e) with w₃; not base: −C/E with bs;
- G₀, masses over β: A with α, −C with α − s, −C/E with s, E(1−e) with w₃.

V(α₀, m) is D(α₀) for every m. All masses are linear in θ = (α − α₀)/(α₁ − α₀).

**One V**: 1/(B+1) = ∫e^{−u(B+1)}du by Radau's rule with a node at u = 0, which is never too low for
such integrands. For each u the mean is an integral along a vertical line, with a little Gaussian
noise; as in `worst_case` noise, the nodes left out and the step can only raise it. The sum over
nodes, F(θ, m), is thus an upper bound on V everywhere, and it is smooth.

**A box** of θ and m is bounded by F at its four corners and by how far F may exceed what is linear
in θ and in m between them: each term by an eighth of side² times its second derivative, or by twice
its modulus. This closes with some ten boxes, also near ε₀ = ln 2, where V is all but constant.

References
----------
This program; the proof stands in ``resources/guide/worst-case.md``. Compared with the literature:
Feldman, McMillan & Talwar 2023, whose clones are D(α₁).
"""

import heapq
import math
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.core.roots import rough_root
from explorer.privacy.shuffling import Clones, shuffled_epsilon

WORST_CASE_UNSAMPLED = Reference(
    "this program",
    "Theorem 2: worst case of the shuffle without sampling",
    "doubles with bounded remainders; rounded up; the smaller of this and the clones of 2023",
)
MIN_EPS0, MAX_EPS0 = 0.01, 20.0
"""Range of ε₀ where the search is offered."""
BOXES = 2500
"""Boxes that one search may look at."""
GAP = 5e-4
"""Relative distance of the bound from the largest known V at which the search ends."""
_ROUNDING = 1e-9
"""Relative error of a value in doubles, by which it is raised."""
_SHARE_REACH = 12.0
"""The rule for 1/(B+1) ends where e^−12 of the integral is left, which is then bounded."""
_LEAST_NOISE, _NOISE_OF_FEW, _NOISE_SHARE = 0.05, 0.02, 1e-4
"""Noise: its deviation in units of E − 1, at least, and its share of the sum's variance."""
_FEW = 25.0
"""Messages in {1, 2} below which noise costs more."""
_LAST_NODE = 3.8
"""The line ends that many deviations of the noise's transform from the real axis."""
_MAX_NODES = 1500
_COPIES = 11.5
"""By the step the rule adds about e^−11.5 of the value."""
_NEGLIGIBLE = 22.0
"""Nodes of the line are left out whose terms are below e^−22 of the result, for all θ and m."""
_MAX_EXPONENT = 600.0
_LEAST_DELTA = 2.3e-308
_NEWTON_STEPS = 60
_CERTIFIED_STEPS = 8
"""Searches until an ε is found at which the bound is δ."""
_MAX_LISTED = 10
"""Clients up to which all outcomes are listed."""


class _Masses(NamedTuple):
    """Masses that the laws are made of, at one θ; see the module.

    Attributes
    ----------
    alpha, split, rest, third, extra : float
        α, s, α − s, w₃ and bs.
    """

    alpha: float
    split: float
    rest: float
    third: float
    extra: float

    @property
    def base(self) -> float:
        """Mass β of the base."""
        return 2 * self.alpha + self.third


def _masses(E: float, theta: float) -> _Masses:
    """Return the masses at θ in [0, 1]: sums of positive terms, for large E too."""
    rest = (1 - theta) / (E + 2)
    split = theta / (E + 1)
    return _Masses(rest + split, split, rest, rest / E, (E - 1) * split)


class _Factors(NamedTuple):
    """E[t^B e^{zG}] of the three kinds of messages, less 1 for the two types of others."""

    own: Any
    first: Any
    second: Any


class _Laws:
    """Values of the laws at one ε, and their transforms."""

    def __init__(self, eps0: float, eps: float) -> None:
        self.E = E = math.exp(eps0)
        # A, A/E, −C, −C/E, E(1−e), by differences that keep a small A exact to rounding.
        gain, loss = -E * math.expm1(eps - eps0), math.expm1(eps + eps0)
        self.values = np.array([gain, gain / E, -loss, -loss / E, -E * math.expm1(eps)])

    def factors(self, theta: float, grown: Any, share: Any) -> _Factors:
        """Return the factors at one θ.

        Parameters
        ----------
        theta : float
        grown : ndarray of complex, shape (5, nodes)
            e^{zg} − 1 of each value g.
        share : array
            1 − t in [0, 1], broadcast with z.
        """
        whole, part, lost, part_lost, third = grown
        p = _masses(self.E, theta)
        second = p.alpha * whole + p.rest * lost + p.split * part_lost + p.third * third
        first = p.rest * whole + p.split * part + p.alpha * lost + p.third * third
        away, t = -share * p.base, 1 - share
        return _Factors(
            p.base + second + 0 * away,
            away + t * first + p.extra * part,
            away + t * second + p.extra * part_lost,
        )

    def _masses(self, theta: float) -> tuple[FloatArray, FloatArray]:
        """Return the masses of the values, and of all, of G₀ and of types A and B."""
        p = _masses(self.E, theta)
        masses = np.array(
            [
                [p.alpha, 0.0, p.rest, p.split, p.third],
                [p.rest, p.split + p.extra, p.alpha, 0.0, p.third],
                [p.alpha, 0.0, p.rest, p.split + p.extra, p.third],
            ]
        )
        return masses, np.array([p.base, 1.0, 1.0])

    def log_height(self, c: float, theta: float, counts: FloatArray, noise: float) -> float:
        """Return ln of the integrand K(c)/c² on the real axis, without 1/(B+1); see `tilt`."""
        masses, whole = self._masses(theta)
        size = np.log(whole + masses @ np.expm1(c * self.values))
        return float(counts @ size) + 0.5 * (noise * c) ** 2 - 2 * math.log(c)

    def tilt(self, theta: float, counts: FloatArray, noise: float) -> tuple[float, float]:
        """Return where the integrand is least on the real axis, and its second derivative by ln c.

        Parameters
        ----------
        theta : float
        counts : array, shape (3,)
            Messages of G₀, which is 1, and of types A and B.
        noise : float
            Its deviation.
        """
        masses, whole = self._masses(theta)
        highest = math.log(_MAX_EXPONENT / self.values[0])
        moments = np.stack([masses * self.values, masses * self.values**2])
        log_c = min(0.5 * math.log(2 / float(counts @ moments[1].sum(axis=1))), highest)
        for _ in range(_NEWTON_STEPS):
            c = math.exp(log_c)
            size = whole + masses @ np.expm1(c * self.values)
            mean, square = moments @ np.exp(c * self.values) / size
            slope = c * float(counts @ mean) + (noise * c) ** 2 - 2
            bend = slope + 2 + c * c * (float(counts @ (square - mean * mean)) + noise**2)
            step = slope / bend if bend > 0 else math.copysign(1.0, slope)
            step = min(max(step, -1.0), 1.0)
            if abs(step) < 1e-3 or (step < 0 and log_c >= highest):
                break
            log_c = min(log_c - step, highest)
        return c, max(bend, 1.0)


def grown(values: FloatArray, c: Any, t: FloatArray) -> Any:
    """Return e^{zv} − 1 at z = c + it of each value v, a row each; all broadcast."""
    # Numpy's tangent is many times as quick as its complex expm1, and no difference loses digits.
    tilted, half = (c * values)[..., None], np.tan(0.5 * values[..., None] * t)
    out = np.empty(half.shape, dtype=complex)
    out.imag = 2 * np.exp(tilted) * half / (1 + half * half)
    out.real = np.expm1(tilted) - half * out.imag
    return out


def cosine(angle: FloatArray) -> FloatArray:
    """Return the cosine; numpy's tangent is quicker."""
    square = np.square(np.tan(0.5 * angle))
    return np.asarray((1 - square) / (1 + square))


def _log_size(less_1: Any) -> FloatArray:
    """Return ln|1+x| of complex x, accurate for small ones."""
    # Of a factor that is 0 the modulus is raised to 1e-8.
    square = less_1.real * (2 + less_1.real) + np.square(less_1.imag)
    return np.asarray(0.5 * np.log1p(np.maximum(square, -1 + 1e-16)))


def phase(less_1: Any) -> FloatArray:
    """Return the phase of 1+x of complex x, in [−π, π]; numpy's arctan is quicker than arctan2."""
    turned = np.arctan(less_1.imag / (1 + less_1.real + 1e-300))
    return np.asarray(turned + np.where(less_1.real < -1, np.copysign(math.pi, less_1.imag), 0.0))


def _share_nodes(depth: float) -> int:
    """Return how many nodes have e^{−uy} on [0, depth] to about 1e-9 for y near 1."""
    return math.ceil(5 + 0.4 * depth)


@lru_cache(maxsize=32)
def _radau(count: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1], the first node 0.

    The rule is exact for polynomials of degree 2·count − 2 and never below the integral of a
    function whose derivatives alternate in sign, for its error is −f^(2·count−1) times a positive
    number.
    """
    # Other nodes are those of Gauss's rule for the weight 1 + x on [−1, 1]: eigenvalues of the
    # matrix of the recurrence of its polynomials.
    k = np.arange(count - 1.0)
    diagonal = 1 / ((2 * k + 1) * (2 * k + 3))
    beside = np.sqrt(k[1:] * (k[1:] + 1)) / (2 * k[1:] + 1)
    x, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    weight = np.square(vectors[0]) / (1 + x)
    return np.concatenate([[0.0], (1 + x) / 2]), np.concatenate([[1 / count**2], weight])


class _Side(NamedTuple):
    """What F needs at one θ: shape (nodes of 1/(B+1), nodes of the line) each.

    Attributes
    ----------
    size, angle : ndarray of float
        ln of the modulus, and phase, of the term at m = 0.
    more, turn : ndarray of float
        What another message of type A instead of B adds to them.
    sizes, inverses : list of ndarray
        ln of the moduli of the three factors, and 1 over the moduli.
    """

    size: FloatArray
    angle: FloatArray
    more: FloatArray
    turn: FloatArray
    sizes: list[FloatArray]
    inverses: list[FloatArray]


class _Strip(NamedTuple):
    """What bounds the second derivative by θ between two of them."""

    log_size: FloatArray
    turn: FloatArray
    slopes: tuple[FloatArray, FloatArray, FloatArray]


class _Box(NamedTuple):
    """A range of θ and one of m, its ends included."""

    low: float
    high: float
    first: float
    last: float

    def halves(self, in_theta: bool) -> tuple["_Box", "_Box"]:
        """Return the halves, which share a side."""
        if in_theta:
            middle = 0.5 * (self.low + self.high)
            return self._replace(high=middle), self._replace(low=middle)
        middle = math.floor(0.5 * (self.first + self.last))
        return self._replace(last=middle), self._replace(first=middle)


class _Contour:
    """F(θ, m) at one ε, on one line for all θ and m.

    Parameters
    ----------
    eps0, n : float
    eps : float
        In [0, ε₀).
    """

    def __init__(self, eps0: float, n: float, eps: float) -> None:
        self._laws = laws = _Laws(eps0, eps)
        self.others = n - 1
        E = laws.E
        base = _masses(E, 0.0).base
        least = _LEAST_NOISE if n * base > _FEW else _NOISE_OF_FEW
        noise = (E - 1) * max(least, math.sqrt(2 * _NOISE_SHARE * n / (E + 2)))
        # One line serves all: that on which the worst corner's integrand is least.
        corners = [
            (theta, np.array([1.0, m, self.others - m]), noise) for theta, m in self._corners()
        ]
        self._log_scale, c, bend = min(
            (max(laws.log_height(c, *corner) for corner in corners), c, bend)
            for c, bend in (laws.tilt(*corner) for corner in corners)
        )
        self._set_shares(1 + self.others * base)
        self._set_nodes(c, bend, noise)
        self._sides: dict[float, _Side] = {}
        self._strips: dict[tuple[float, float], _Strip] = {}
        self._values: dict[tuple[float, float], float] = {}
        self._edges: dict[tuple[float, float, float], tuple[float, float]] = {}
        self._least, ends = (laws.factors(theta, self._grown, self._share) for theta in (0.0, 1.0))
        self._rises = tuple(b - a for a, b in zip(self._least, ends, strict=True))
        self._slopes = tuple(map(np.abs, self._rises))

    def _corners(self) -> tuple[tuple[float, float], ...]:
        return (0.0, 0.0), (1.0, 0.0), (1.0, self.others)

    @property
    def corner(self) -> float:
        """The largest of D(α₀), V(α₁, 0) and V(α₁, n−1), from above."""
        return max(self.value(*corner) for corner in self._corners())

    def _set_shares(self, mean: float) -> None:
        """Set the nodes for 1/(B+1), B + 1 being about `mean`."""
        self._log_mean = math.log(mean)
        depth = _SHARE_REACH + self._log_mean
        x, weight = _radau(_share_nodes(depth))
        reach = depth / mean
        x = np.append(reach * x, reach)
        # With t = e^{−u} the mean of t^B·(…)₊ falls: for t below the last node's it is at most that
        # node's, by about e^−depth times the one at t = 1.
        weight = np.append(reach * weight, 1.0) * np.exp(-x)
        self._share, self._share_weight = -np.expm1(-x)[:, None], weight

    def _set_nodes(self, c: float, bend: float, noise: float) -> None:
        """Set the nodes of the line."""
        log_value = self._log_scale + math.log(c) - 0.5 * math.log(2 * math.pi * bend)
        damping = least = 4.9 * math.sqrt(bend)
        for _ in range(4):
            damping = max(least, _COPIES + math.log(damping / c) - log_value)
        step = 2 * math.pi * c / damping
        # More noise is as valid; only of extreme δ it takes more to end the line in time.
        noise = max(noise, _LAST_NODE / (_MAX_NODES * step))
        count = math.ceil(_LAST_NODE / (noise * step)) + 1
        t = step * np.arange(count, dtype=np.float64)
        z = c + 1j * t
        rest = 0.5 * (noise * z) ** 2 - 2 * np.log(z) - self._log_scale
        weight = np.full(count, step / math.pi)
        weight[0] *= 0.5
        # A factor is linear in θ and in t, so that its modulus is largest at an end of either.
        parts = grown(self._laws.values, c, t)
        ends = [
            self._laws.factors(theta, parts, share) for theta in (0.0, 1.0) for share in (0.0, 1.0)
        ]
        own = np.max([np.abs(end.own) for end in ends], axis=0)
        most = np.max([_log_size(x) for end in ends for x in end[1:]], axis=0)
        most = np.log(own) + self.others * most + rest.real
        # The last node for 1/(B+1) has the weight 1, all others together 1 over the mean of B + 1.
        used = most > most[0] - _NEGLIGIBLE - self._log_mean
        self._left_out = float(np.exp(most[~used]) @ weight[~used] * self._share_weight.sum())
        self._grown = parts[:, used]
        self._rest, self._weight = rest[used], weight[used]
        # Behind the last node, in units of the integrand at c.
        last = step * (count - 1)
        self._weight[0] += (
            c * c * math.exp(-0.5 * (noise * last) ** 2) / (math.pi * noise**2 * last**3)
        )

    def _side(self, theta: float) -> _Side:
        if theta not in self._sides:
            own, first, second = (
                a + theta * rise for a, rise in zip(self._least, self._rises, strict=True)
            )
            sizes = [np.log(np.abs(own)), _log_size(first), _log_size(second)]
            phases = [np.angle(own), phase(first), phase(second)]
            turn = phases[1] - phases[2]
            # m is whole, so that full turns don't matter.
            turn -= 2 * math.pi * np.round(turn / (2 * math.pi))
            self._sides[theta] = _Side(
                sizes[0] + self.others * sizes[2] + self._rest.real,
                phases[0] + self.others * phases[2] + self._rest.imag,
                sizes[1] - sizes[2],
                turn,
                sizes,
                [np.exp(-size) for size in sizes],
            )
        return self._sides[theta]

    def _strip(self, low: float, high: float) -> _Strip:
        if (low, high) not in self._strips:
            ends = self._side(low), self._side(high)
            own, first, second = map(np.maximum, *(end.sizes for end in ends))
            inverses = map(np.minimum, *(end.inverses for end in ends))
            self._strips[low, high] = _Strip(
                own + self.others * second + self._rest.real,
                first - second,
                tuple(map(np.multiply, self._slopes, inverses)),
            )
        return self._strips[low, high]

    def _sum(self, terms: FloatArray) -> float:
        total = float(self._share_weight @ (terms @ self._weight))
        return total if total == total else math.inf

    def value(self, theta: float, m: float) -> float:
        """Return F(θ, m), m whole; in units of `scale`."""
        if (theta, m) not in self._values:
            side = self._side(theta)
            terms = np.exp(side.size + m * side.more) * cosine(side.angle + m * side.turn)
            self._values[theta, m] = (self._sum(terms) + self._left_out) * (1 + _ROUNDING)
        return self._values[theta, m]

    def excess(self, box: _Box) -> tuple[float, bool]:
        """Return how far F may exceed its values at the corners, and whether θ is to be halved.

        A term is no further from what is linear between its values at two ends than an eighth of
        the side's square times its bend, nor than twice its size: terms far out turn fast with m.
        """
        strip = self._strip(box.low, box.high)
        ends = box.first, box.last
        size = np.exp(strip.log_size + np.maximum(*(m * strip.turn for m in ends)))
        own, first, second = strip.slopes
        slope = own + np.maximum(*(m * first + (self.others - m) * second for m in ends))
        bend = np.square(slope * (box.high - box.low)) / 8
        total = self._sum(size * np.minimum(bend, 2.0))
        # Halving helps where bends are above 2 too.
        across = self._sum(size * np.log1p(bend))
        edges = [self._edge(theta, *ends) for theta in (box.low, box.high)]
        most, along = (max(sums) for sums in zip(*edges, strict=True))
        return (total + most) * (1 + _ROUNDING), across >= along

    def _edge(self, theta: float, first: float, last: float) -> tuple[float, float]:
        """Return the sums of bends along one side of a box, which two boxes may share."""
        key = theta, first, last
        if key not in self._edges:
            most = along = 0.0
            if last > first + 1:
                side = self._side(theta)
                size = np.exp(side.size + np.maximum(first * side.more, last * side.more))
                bend = (np.square(side.more) + np.square(side.turn)) * ((last - first) ** 2 / 8)
                most = self._sum(size * np.minimum(bend, 2.0))
                along = self._sum(size * np.log1p(bend))
            self._edges[key] = most, along
        return self._edges[key]

    def true(self, value: float) -> float:
        """Return a value in units of 1, at most 1, and no smaller than the least double."""
        return max(math.exp(min(math.log(value) + self._log_scale, 0.0)), _LEAST_DELTA)


class UnsampledCertificate(NamedTuple):
    """A bound on δ at one ε over all randomisers and data sets.

    Attributes
    ----------
    value : float
        No V(α, m) with α₀ ≤ α ≤ α₁ is larger, so no δ is.
    corner : float
        The largest of D(α₀), V(α₁, 0) and V(α₁, n−1), from above.
    boxes : int
        Boxes looked at.
    closed : bool
        Whether the value is within `GAP` of a V that was evaluated.
    """

    value: float
    corner: float
    boxes: int
    closed: bool


class UnsampledEpsilon(NamedTuple):
    """An upper bound on the ε at one δ, and where it comes from.

    Attributes
    ----------
    value : float
    boxes : int
        Boxes that the searches looked at.
    closed : bool
        Whether the search closed.
    clones : bool
        Whether the value is that of the clones of 2023: they are as good, or the search is open.
    """

    value: float
    boxes: int
    closed: bool
    clones: bool


class UnsampledRound:
    """The worst case of one shuffle of all n clients' messages.

    Holds for one common, non-adaptive ε₀-LDP randomiser and replaced records, whatever the others
    hold.

    Parameters
    ----------
    eps0 : float
        In [0.01, 20].
    n : int
        In [2, 1e12].

    Raises
    ------
    ValueError
        Outside these ranges.
    """

    def __init__(self, eps0: float, n: float) -> None:
        self.eps0 = float(checks.reals("eps0", eps0, MIN_EPS0, MAX_EPS0))
        self.n = float(checks.integers("n", n, 2, checks.MAX_COUNT))

    @np.errstate(over="ignore", invalid="ignore")
    def certify(self, eps: float, other: float = math.inf) -> UnsampledCertificate:
        """Return an upper bound on δ at ε ≥ 0.

        The search ends as well where the bound cannot be less than another one.

        References
        ----------
        This program, Theorem 2, maximised by branch and bound over α and m.
        """
        if eps >= self.eps0:
            return UnsampledCertificate(0.0, 0.0, 0, True)
        contour = self._contour(eps)
        corner = contour.corner
        if not (math.isfinite(corner) and corner > 0):
            # So far out that the integrand leaves the doubles, or their precision.
            return UnsampledCertificate(math.inf, math.inf, 1, False)
        known, boxes, looked = corner, list[tuple[float, int, _Box, bool]](), 0
        fresh: tuple[_Box, ...] = (_Box(0.0, 1.0, 0.0, self.n - 1),)
        while True:
            for box in fresh:
                corners = [
                    contour.value(theta, m)
                    for theta in (box.low, box.high)
                    for m in (box.first, box.last)
                ]
                excess, in_theta = contour.excess(box)
                known = max(known, *corners)
                looked += 1
                heapq.heappush(boxes, (-max(corners) - excess, looked, box, in_theta))
            worst, _, box, in_theta = boxes[0]
            closed = -worst <= (1 + GAP) * known
            if closed or looked >= BOXES or contour.true(known) >= other:
                break
            heapq.heappop(boxes)
            fresh = box.halves(in_theta)
        value = max(-worst, known)
        return UnsampledCertificate(contour.true(value), contour.true(corner), looked, closed)

    @np.errstate(over="ignore", invalid="ignore")
    def corner(self, eps: float) -> float:
        """Return the largest of D(α₀), V(α₁, 0) and V(α₁, n−1) at ε ≥ 0, from above."""
        if eps >= self.eps0:
            return 0.0
        contour = self._contour(eps)
        return contour.true(contour.corner)

    def _contour(self, eps: float) -> _Contour:
        return _Contour(self.eps0, self.n, eps)

    def epsilon(self, delta: float) -> UnsampledEpsilon:
        """Return an upper bound on the ε at δ in [1e-300, 1]."""
        delta = float(checks.delta(delta))
        clones = float(shuffled_epsilon(self.eps0, self.n, delta, Clones.STRONGER))
        goal, looked = math.log(delta), 0
        at = self._corner_root(clones, goal)
        for _ in range(_CERTIFIED_STEPS):
            if at >= clones:
                break
            found = self.certify(at)
            looked += found.boxes
            if found.value <= delta:
                return UnsampledEpsilon(at, looked, True, False)
            if not found.closed:
                return UnsampledEpsilon(clones, looked, False, True)
            # Some V inside is above the corners, and falls a little more slowly than they do.
            further = at + 1e-3 * (clones - at)
            fall = math.log(found.corner / self.corner(further)) / (further - at)
            at += 1.5 * (math.log(found.value) - goal + 1e-4) / fall if fall > 0 else clones
        return UnsampledEpsilon(clones, looked, True, True)

    def _corner_root(self, clones: float, goal: float) -> float:
        """Return an ε below the clones' at which the largest corner and the gap are e^goal.

        0 if they are less at 0, and the clones' ε if there is none.
        """
        room = goal - math.log1p(GAP)

        @cache  # both ends of the search are asked for twice
        def over(eps: float) -> float:
            return math.log(max(self.corner(eps), _LEAST_DELTA)) - room

        if clones == 0 or over(clones) >= 0:
            return clones
        # The corners are rarely more than a third below the clones, and δ(0) is seldom asked for.
        for low in (0.7 * clones, 0.0):
            if over(low) > 0:
                break
        else:
            return 0.0
        tolerance = 1e-6 * clones
        root = rough_root(lambda eps: -over(eps), low, clones, tolerance=tolerance)
        return min(root + tolerance, clones)


def unsampled_round_epsilon(eps0: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Bound:
    """Return ε at δ of one shuffle of n messages of the worst ε₀-LDP randomiser, from above.

    The smaller of Theorem 2's and that of the clones of 2023, for one common, non-adaptive
    randomiser. `truncated` where the search is open; there, for one client, and for ε₀ outside
    [0.01, 20] it is that of the clones. Arguments broadcast.

    Parameters
    ----------
    eps0 : array of float
        In [0, 800].
    n : array of int
        In [1, 1e12].
    delta : array of float
        In [1e-300, 1].
    """
    e, clients, d = np.broadcast_arrays(
        checks.epsilon0(eps0), checks.integers("n", n, 1, checks.MAX_COUNT), checks.delta(delta)
    )
    value = np.array(shuffled_epsilon(e, clients, d, Clones.STRONGER), dtype=float)
    open_ = np.zeros(e.shape, bool)
    searched = (e >= MIN_EPS0) & (e <= MAX_EPS0) & (clients > 1)
    for at in map(tuple, np.argwhere(searched)):
        found = UnsampledRound(float(e[at]), float(clients[at])).epsilon(float(d[at]))
        value[at], open_[at] = found.value, not found.closed
    return Bound(value, Role.UPPER, WORST_CASE_UNSAMPLED, truncated=open_)


def unsampled_mixed_delta(
    eps: float, eps0: float, n: int, m: int, alpha: float | None = None
) -> float:
    """Return V(α, m) of Theorem 2 by listing all outcomes: the second way of computing it.

    Parameters
    ----------
    eps, eps0 : float
        0 ≤ ε ≤ ε₀; ε₀ in [0.01, 20].
    n : int
        Clients, 1 to 10.
    m : int
        Others of type A, 0 to n − 1.
    alpha : float, optional
        In [1/(E+2), 1/(E+1)]; the largest if not given.

    Raises
    ------
    ValueError
        Outside these ranges.
    """
    E = math.exp(float(checks.reals("eps0", eps0, MIN_EPS0, MAX_EPS0)))
    checks.integers("n", n, 1, _MAX_LISTED)
    checks.integers("m", m, 0, n - 1)
    share = 1 / (E + 1) if alpha is None else alpha
    checks.reals("alpha", share, 1 / (E + 2), 1 / (E + 1))
    p = _masses(E, min(max((E + 2) * share - 1, 0.0) * (E + 1), 1.0))
    values = _Laws(eps0, float(checks.reals("eps", eps, 0.0, eps0))).values
    none = 1 - p.base - p.extra
    # Messages by value (the last one is 0): masses of base and of other coins.
    first = (p.rest, p.split, p.alpha, 0.0, p.third, 0.0), (0.0, p.extra, 0.0, 0.0, 0.0, none)
    second = (p.alpha, 0.0, p.rest, p.split, p.third, 0.0), (0.0, 0.0, 0.0, p.extra, 0.0, none)
    # Probabilities by the number of base coins and of messages of each value.
    law: dict[tuple[int, ...], float] = {(0,) * 7: 1.0}
    for kind in [first] * m + [second] * (n - 1 - m):
        longer: dict[tuple[int, ...], float] = {}
        for counts, chance in law.items():
            for coin, masses in enumerate(kind):
                for i, mass in enumerate(masses):
                    if mass > 0:
                        more = list(counts)
                        more[0] += 1 - coin
                        more[i + 1] += 1
                        key = tuple(more)
                        longer[key] = longer.get(key, 0.0) + chance * mass
        law = longer
    listed = np.array(list(law))
    total = listed[:, 1:6] @ values
    gains = np.maximum(total[:, None] + values, 0.0) @ np.array(second[0][:5])
    return float((np.array(list(law.values())) / (listed[:, 0] + 1)) @ gains)
