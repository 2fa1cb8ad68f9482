"""Algorithm 1, CLDP-SGD: sample, clip, randomise, shuffle, average, step, project.

`training_epsilon` and `excess_risk` are its guarantees: ε at δ, and the excess risk. Reports of
gradients are locally private and unbiased: of the ℓ2 ball by `PrivUnit`, else by R_∞ or R_1 in
⌈log₂ d⌉ + 1 bits.

**R_∞, of the ℓ∞ ball.** A client picks one coordinate j uniformly, forgets all others, quantises
x_j ∈ [−r, r] to ±r so that the mean is right, and tells that sign by randomised response. The
server reads (j, ±) as ±rd·√A·e_j with √A = (e^ε₀+1)/(e^ε₀−1). Quantising and answering at random
are one coin:

    Pr[+ | j] = ½ + x_j/(2r√A) ∈ [1/(e^ε₀+1), e^ε₀/(e^ε₀+1)].

**R_1, of the ℓ1 ball.** With H the D × D Hadamard matrix of signs, D = 2^⌈log₂ d⌉, every entry of y
= Hx lies in [−r, r] for ‖x‖₁ ≤ r, and x = E_j[y_j H_j] for a uniform row j. A client picks j,
quantises y_j to ±r so that the mean is right, and tells that sign by randomised response, as R_∞
does of a coordinate. The server reads (j, ±) as ±r√A·H_j, cut to d entries, with √A =
(e^ε₀+1)/(e^ε₀−1).
"""

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.priv_unit import PrivUnit, priv_unit
from explorer.privacy.core import checks
from explorer.privacy.core.bound import SHUFFLE_RDP, BoolArray, Bound, FloatArray, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.learning.models import Clippable, IntArray, Model
from explorer.privacy.shuffle_rdp import (
    clone_epsilon,
    convergence_bound,
    upper_epsilon,
)
from explorer.privacy.shuffling import Clones


@dataclass(frozen=True)
class CoordinateReport:
    """R_∞ for given dimension, level and radius; made by `coordinate_report`.

    Attributes
    ----------
    d : int
        Dimension, ≥ 1.
    eps0 : float
        Level of local privacy.
    radius : float
        r: inputs have ‖x‖_∞ ≤ r.
    """

    d: int
    eps0: float
    radius: float

    @property
    def length(self) -> float:
        """Length rd√A of every decoded report."""
        return self.radius * self.d / math.tanh(self.eps0 / 2)

    @property
    def second_moment(self) -> float:
        """E‖R_∞(x)‖₂² = r²d²A, for every x; the G_∞² of Remark 1."""
        return self.length**2

    @property
    def bits(self) -> int:
        """Bits of a report: an index and a sign."""
        return math.ceil(math.log2(self.d)) + 1

    def plus_probability(self, entries: FloatArray) -> FloatArray:
        """Return Pr[+] for coordinates' values; beyond ±r as at ±r, so that ε₀ always holds."""
        tilt = 0.5 * math.tanh(self.eps0 / 2)
        return 0.5 + tilt * np.clip(entries / self.radius, -1.0, 1.0)

    def signs(self, entries: FloatArray, rng: np.random.Generator) -> BoolArray:
        """Draw the signs (True for +) that clients report of the coordinates they picked."""
        return np.asarray(rng.random(entries.shape) < self.plus_probability(entries))

    def randomise(self, x: FloatArray, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """Return one report a row of x: indices and signs.

        Parameters
        ----------
        x : ndarray, shape (k, d)
            Vectors with ‖x‖_∞ ≤ r.
        """
        index = rng.integers(self.d, size=len(x))
        return index, self.signs(x[np.arange(len(x)), index], rng)

    def decoded_total(self, index: IntArray, plus: BoolArray) -> FloatArray:
        """Return the sum of decoded reports, shape (d,)."""
        votes = np.bincount(index, np.where(plus, 1.0, -1.0), self.d)
        return np.asarray(votes * self.length)


def coordinate_report(d: int, eps0: float, radius: float) -> CoordinateReport:
    """Return R_∞ for vectors with entries in [−radius, radius].

    Parameters
    ----------
    d : int
        Dimension in [1, 1e6].
    eps0 : float
        Level in [1e-6, 30]. Above, chances below the step of a uniform double would be lost.
    radius : float
        r > 0, the clipping threshold.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data, Diggavi, Kairouz & Suresh 2021 (Shuffled model of federated learning), R_∞;
    Remark 1 of Girgis, Data & Diggavi.
    """
    return CoordinateReport(
        int(checks.integers("d", d, 1, 1e6)),
        float(checks.reals("eps0", eps0, 1e-6, 30.0)),
        float(checks.reals("radius", radius, 0.0, open_low=True)),
    )


@dataclass(frozen=True)
class HadamardReport:
    """R_1 for given dimension, level and radius; made by `hadamard_report`.

    Attributes
    ----------
    d : int
        Dimension, ≥ 1.
    eps0 : float
        Level of local privacy.
    radius : float
        r: inputs have ‖x‖₁ ≤ r.
    """

    d: int
    eps0: float
    radius: float

    @property
    def rows(self) -> int:
        """D, the least power of 2 that is no less than d."""
        return 1 << (self.d - 1).bit_length()

    @property
    def bits(self) -> int:
        """Bits of a report: a row and a sign."""
        return (self.d - 1).bit_length() + 1

    @property
    def second_moment(self) -> float:
        """E‖R_1(x)‖₂² = r²dA, for every x; the G_1² of Remark 1."""
        return self.d * (self.radius / math.tanh(self.eps0 / 2)) ** 2

    def transformed(self, x: FloatArray, index: IntArray) -> FloatArray:
        """Return entry index[i] of H x[i], for vectors x of shape (k, d)."""
        odd = np.bitwise_count(index[:, None] & np.arange(self.d)) & 1
        return np.asarray(np.einsum("ij,ij->i", x, 1.0 - 2.0 * odd))

    def signs(self, entries: FloatArray, rng: np.random.Generator) -> BoolArray:
        """Draw the signs (True for +) that clients report of the entries of Hx they picked."""
        tilt = 0.5 * math.tanh(self.eps0 / 2)
        plus = 0.5 + tilt * np.clip(entries / self.radius, -1.0, 1.0)
        return np.asarray(rng.random(entries.shape) < plus)

    def randomise(self, x: FloatArray, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """Return one report a row of x, vectors with ‖x‖₁ ≤ r: rows of H and signs."""
        index = rng.integers(self.rows, size=len(x))
        return index, self.signs(self.transformed(x, index), rng)

    def decoded_total(self, index: IntArray, plus: BoolArray) -> FloatArray:
        """Return the sum of decoded reports, shape (d,)."""
        votes: FloatArray = np.bincount(index, np.where(plus, 1.0, -1.0), self.rows).astype(float)
        return _hadamard(votes)[: self.d] * (self.radius / math.tanh(self.eps0 / 2))


def hadamard_report(d: int, eps0: float, radius: float) -> HadamardReport:
    """Return R_1 for vectors of the ℓ1 ball of a radius.

    Parameters
    ----------
    d : int
        Dimension in [1, 1e6].
    eps0 : float
        Level in [1e-6, 30]. Above, chances below the step of a uniform double would be lost.
    radius : float
        r > 0, the clipping threshold.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data, Diggavi, Kairouz & Suresh 2021 (Shuffled model of federated learning), R_1;
    Remark 1 of Girgis, Data & Diggavi.
    """
    return HadamardReport(
        int(checks.integers("d", d, 1, 1e6)),
        float(checks.reals("eps0", eps0, 1e-6, 30.0)),
        float(checks.reals("radius", radius, 0.0, open_low=True)),
    )


def _hadamard(values: FloatArray) -> FloatArray:
    """Return H v for v of a length that is a power of 2, by the fast transform."""
    transformed = values
    half = 1
    while half < values.size:
        pairs = transformed.reshape(-1, 2, half)
        transformed = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return np.asarray(transformed.reshape(-1))


Randomiser = CoordinateReport | HadamardReport | PrivUnit
_BLOCK_CELLS = 400_000
"""Entries of gradients made at once for R_2: 3 MB, so that blocks stay in the cache."""
PRIVACY = Reference(
    SHUFFLE_RDP, "Theorem 3 (7)", "min with T·εₛ per order and in all; errata shuf-A4, shuf-A6"
)
CONVERGENCE = Reference(
    SHUFFLE_RDP, "Theorem 3 with Remark 1", "explicit form (36); errata shuf-B5, shuf-B6"
)
CONVERGENCE_EXACT = Reference(
    SHUFFLE_RDP,
    "Theorem 3 with the exact error of R_p",
    "explicit form (36); errata shuf-B5, shuf-B6",
)


@dataclass(frozen=True)
class Rates:
    """The learning rate of each step.

    Attributes
    ----------
    pieces : tuple of (after, rate)
        From the step after `after` on, η_t = rate (or rate/√t); the first `after` is 0.
    decay : bool
        Whether each rate is divided by √t.
    """

    pieces: tuple[tuple[float, float], ...]
    decay: bool = False

    def __call__(self, t: int) -> float:
        """Return η_t for step t ≥ 1."""
        rate = [rate for after, rate in self.pieces if after < t][-1]
        return rate / math.sqrt(t) if self.decay else rate


def theorem_rates(diameter: float, moment: float) -> Rates:
    """Return η_t = D/(G√t) for which Theorem 3 holds, given D and G²."""
    return Rates(((0.0, diameter / math.sqrt(moment)),), decay=True)


@dataclass(frozen=True)
class Samples:
    """Assignment of samples to clients: client i holds sample `row[i]` of the data.

    Attributes
    ----------
    x : ndarray, shape (rows, features)
        Whole numbers or floats; multiplied by `unit` when used.
    y : ndarray of int, shape (rows,)
    row : ndarray of int, shape (n,)
    unit : float
    """

    x: np.ndarray[Any, Any]
    y: IntArray
    row: IntArray
    unit: float = 1.0


@dataclass(frozen=True)
class Plan:
    """Training plan. With data and a seed it determines the result.

    Attributes
    ----------
    model : Model
    sampled : int
        k, clients a round.
    clip : float
        C: gradients are shortened to ‖g‖_p ≤ C. Infinite for none.
    diameter : float
        D of the parameter set, the ball ‖θ‖₂ ≤ D/2. Infinite for all of ℝ^d.
    rates : Rates
    randomiser : CoordinateReport, HadamardReport, PrivUnit or None
        None trains without privacy: clients send clipped gradients as they are.
    p : float
        Of the clipped norm, in [1, ∞]: that of the randomiser.
    """

    model: Model
    sampled: int
    clip: float
    diameter: float
    rates: Rates
    randomiser: Randomiser | None
    p: float = 2.0


@dataclass(frozen=True)
class State:
    """State of a training after `rounds` rounds; not modified by `advance`.

    Attributes
    ----------
    theta : ndarray, shape (d,)
    rounds : int
    generator : numpy.random.Generator
        What all later randomness is drawn from.
    """

    theta: FloatArray
    rounds: int
    generator: np.random.Generator


def randomiser_for(p: float, d: int, eps0: float, clip: float, *, best_cap: bool = True) -> Any:
    """Return R_p for gradients clipped to ‖g‖_p ≤ clip, p in [1, ∞].

    Between 1 and ∞ it is R_2, for which the ball ‖g‖₂ ≤ max(d^{1/2−1/p}, 1)·clip holds all of
    them (Lemma 8).
    """
    if p == np.inf:
        return coordinate_report(d, eps0, clip)
    if p == 1:
        return hadamard_report(d, eps0, clip)
    checks.reals("p", p, 1.0, open_high=True)
    return priv_unit(d, eps0, clip * math.sqrt(widest(p, d)), best_cap=best_cap)


def widest(p: float, d: ArrayLike) -> Any:
    """Return max(d^{1−2/p}, 1): the largest ‖g‖₂² among ‖g‖_p ≤ 1."""
    size = np.asarray(d, float)
    return scalar_if_0d(np.maximum(size ** (1.0 if p == np.inf else 1.0 - 2.0 / p), 1.0))


def moment(
    randomiser: Randomiser | None, d: int, clip: float, k: int, p: float | None = None
) -> float:
    """Return G² of the averaged reports, from the exact error of the randomiser that runs.

    G² = max(d^{1−2/p}, 1)C² + E‖R_p(x) − x‖²/k at the worst x, which is 0; for R_2 with the best
    cap this is less than the 14C²dA of Remark 1. `p` is that of the randomiser if it is left out.
    """
    if p is None:
        p = np.inf if isinstance(randomiser, CoordinateReport) else 2.0
    noise = 0.0 if randomiser is None else randomiser.second_moment / k
    return float(widest(p, d) * clip**2 + noise)


def start(plan: Plan, rng: np.random.Generator) -> State:
    """Return θ₀ and the generator of everything that follows."""
    generator = copy.deepcopy(rng)
    return State(_project(plan.model.initial(generator), plan.diameter), 0, generator)


def advance(plan: Plan, samples: Samples, state: State, rounds: int = 1) -> State:
    """Return the state some rounds later.

    Parameters
    ----------
    plan, samples, state
        k of the plan may not exceed the number of clients in `samples`.
    rounds : int
        ≥ 0. One call with a + b gives the same, bit for bit, as one with a and one with b.

    Raises
    ------
    ValueError
        If k exceeds the number of clients.

    References
    ----------
    Girgis, Data & Diggavi, Algorithm 1 (which runs t in [T] from θ₀ and returns θ_T, one step
    early: errata shuf-B6; θ after T steps is returned here).
    """
    clients = samples.row.size
    checks.population(plan.sampled, clients)
    rng = copy.deepcopy(state.generator)
    theta = state.theta
    for t in range(state.rounds + 1, state.rounds + rounds + 1):
        sampled = samples.row[rng.choice(clients, plan.sampled, replace=False)]
        x = samples.x[sampled] * samples.unit
        gradients = plan.model.gradients(theta, x, samples.y[sampled])
        theta = theta - plan.rates(t) * averaged(plan, gradients, rng)
        theta = _project(theta, plan.diameter)
    return State(theta, state.rounds + rounds, rng)


def averaged(plan: Plan, gradients: Clippable, rng: np.random.Generator) -> FloatArray:
    """Return the server's average of the clients' reports, shape (d,).

    Each client clips its gradient and randomises it; the shuffler permutes the reports, and the
    server averages them in the order in which they come.
    """
    randomiser, k = plan.randomiser, gradients.count
    if randomiser is None:
        return gradients.clipped_total(plan.p, plan.clip) / k
    if isinstance(randomiser, CoordinateReport):
        index = rng.integers(randomiser.d, size=k)
        plus = randomiser.signs(gradients.clipped_entries(index, plan.clip), rng)
        shuffled = rng.permutation(k)
        return randomiser.decoded_total(index[shuffled], plus[shuffled]) / k
    total = np.zeros(randomiser.d)
    shuffled = rng.permutation(k)
    step = max(1, _BLOCK_CELLS // randomiser.d)
    for begin in range(0, k, step):
        reported = gradients.clipped(shuffled[begin : begin + step], plan.p, plan.clip)
        if isinstance(randomiser, HadamardReport):
            total += randomiser.decoded_total(*randomiser.randomise(reported, rng))
        else:
            total += randomiser.total(reported, rng)
    return total / k


def _project(theta: FloatArray, diameter: float) -> FloatArray:
    """Return the nearest point of the ball ‖θ‖₂ ≤ D/2."""
    norm = float(np.linalg.norm(theta))
    return theta if norm <= diameter / 2 else theta * (diameter / 2 / norm)


def rounds_of(epochs: ArrayLike, n: ArrayLike, k: ArrayLike) -> FloatArray:
    """Return T = ⌈epochs·n/k⌉: an epoch is n/k rounds (errata shuf-B7).

    Parameters
    ----------
    epochs : array of float
        > 0; the paper's are whole.
    n, k : array of float
        1 ≤ k ≤ n.
    """
    passes = checks.reals("epochs", epochs, 0.0, checks.MAX_ROUNDS, open_low=True)
    sampled, clients = checks.population(k, n)
    # Whole numbers below 2^53 divide exactly here: no round is lost or added by rounding.
    return np.asarray(-np.floor_divide(-(passes * clients), sampled))


def training_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
) -> Bound:
    """Return ε at δ of T rounds by Theorem 3, capped by bounds that always hold.

    Arguments as in `upper_epsilon`. `truncated` marks where the best order is the largest one
    searched: a larger `lam_max` might give less (errata shuf-A4).
    """
    conversion = upper_epsilon(eps0, k, n, T, delta, lam_max, capped=True)
    return Bound(
        np.asarray(conversion.epsilon),
        Role.UPPER,
        PRIVACY,
        truncated=np.asarray(conversion.at_edge, bool),
    )


def training_epsilon_numerical(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike
) -> Bound:
    """Return ε at δ of T rounds by composition of subsampled clones, rounded up.

    It holds for every ε₀-LDP randomiser that all clients of a round have in common, R_2 and R_∞
    among them.
    """
    return clone_epsilon(eps0, k, n, T, delta, Clones.PUBLISHED)


def excess_risk(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Bound:
    """Return 2DG(2 + ln T)/√T with Remark 1's G, for convex losses with ‖∇f‖_p ≤ L.

    Arguments as in `convergence_bound`; clipping at C = L must leave the gradients alone.
    """
    value = np.asarray(convergence_bound(p, L, D, d, eps0, k, T))
    return Bound(value, Role.UPPER, CONVERGENCE)


def excess_risk_exact(D: ArrayLike, second_moment: ArrayLike, T: ArrayLike) -> Bound:
    """Return 2DG(2 + ln T)/√T for a G² that is known, as from `training.moment`."""
    diameter = checks.reals("D", D, 0.0, np.inf, open_low=True)
    square = checks.reals("second_moment", second_moment, 0.0, np.inf, open_low=True)
    rounds = checks.rounds(T)
    value = 2 * diameter * np.sqrt(square) * (2 + np.log(rounds)) / np.sqrt(rounds)
    return Bound(np.asarray(value), Role.UPPER, CONVERGENCE_EXACT)
