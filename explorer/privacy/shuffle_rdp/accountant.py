"""From one round to T: Theorem 3 (both parts), its lower counterpart, and the comparators."""

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray, Role
from explorer.privacy.core.composition import kov_epsilon, kov_exact_epsilon, subsampled_epsilon
from explorer.privacy.core.divergences import Conversion, epsilon_from_rdp, orders_up_to
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.shuffle_rdp.lower import Direction, lower_rdp_table
from explorer.privacy.shuffle_rdp.upper import capped_rdp_table, pure_epsilon, upper_rdp_table
from explorer.privacy.shuffling import (
    Clones,
    clones_closed_form,
    clones_condition,
    shuffled_epsilon,
)


def upper_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    *,
    capped: bool = False,
    clip: bool = True,
) -> Conversion:
    """Return ε at δ after T rounds by Theorem 3: min over λ = 2…λ_max of Lemma 1 of Tε(λ).

    Parameters
    ----------
    eps0, k, n, T, delta : array of float, broadcast together
        ε₀ in [0, 800]; 1 ≤ k ≤ n ≤ 1e12; T in [1, 1e9]; δ in [1e-300, 1].
    lam_max : int
        Largest order searched; any is sound, a small one can be loose (errata shuf-A4): see
        `Conversion.at_edge`.
    capped : bool
        Use min(Theorem 1, Rényi cap) per order and min(…, T·ε_s) at the end (errata shuf-A6).
    clip : bool
        Report negative values as 0.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 3 (7).
    """
    table = (capped_rdp_table if capped else upper_rdp_table)(eps0, k, n, lam_max)
    found = epsilon_from_rdp(table, orders_up_to(lam_max), T, delta, clip=clip)
    if not capped:
        return found
    cap = checks.rounds(T) * np.asarray(pure_epsilon(eps0, k, n))
    return found._replace(epsilon=np.minimum(found.epsilon, cap))


def lower_rdp_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
    direction: Direction | str = Direction.BOTH,
) -> Conversion:
    """Return Lemma 1 of T times the lower bound on the RDP, over integer orders 2…λ_max.

    No accountant that adds RDP at these orders and converts with Lemma 1 can report less. It is
    **not** a lower bound on ε: Lemma 1 only bounds from above (errata shuf-A3).
    """
    table = lower_rdp_table(eps0, k, n, lam_max, direction)
    return epsilon_from_rdp(table, orders_up_to(lam_max), T, delta)


class Shuffling(StrEnum):
    """Amplification of one round in Figures 2–4, before sampling and composition."""

    CLOSED = "closed"
    """Closed form where its condition holds for k and δ₀, else (ε₀, 0)."""
    CLOSED_UNCHECKED = "closed_nocond"
    """min(closed form, ε₀), the condition ignored; unsound (errata shuf-A9), to compare."""
    NUMERIC = "numeric"
    """Exact clones, 2021 analysis."""
    NUMERIC_STRONGER = "numeric_2023"
    """Exact clones, 2023 analysis."""
    NONE = "none"
    """No amplification by shuffling: (ε₀, 0)."""


def round_delta(
    k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike, share: float = 0.5
) -> FloatArray:
    """Return δ₀ = fδ/(Tγ), the δ of one shuffle before sampling; at most 1.

    Where fδ ≥ Tγ a record is hardly ever sampled and the trivial (0, 1) statement will do.
    """
    sampled, clients = checks.population(k, n)
    value = share * checks.delta(delta) * clients / (checks.rounds(T) * sampled)
    return np.asarray(np.clip(value, checks.MIN_DELTA, 1.0))


def pipeline_holds(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike, share: float = 0.5
) -> BoolArray:
    """Return where the clones' closed form is valid inside the pipeline, for k and δ₀ (shuf-A8)."""
    return clones_condition(eps0, k, round_delta(k, n, T, delta, share))


def pipeline_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    shuffle: Shuffling | str = Shuffling.CLOSED,
    share: float = 0.5,
) -> Any:
    """Return ε at δ by amplification, then sampling, then strong composition.

    Parameters
    ----------
    eps0, k, n, T, delta : array of float, broadcast together
        As in `upper_epsilon`.
    shuffle : Shuffling
    share : float
        f, the share of δ that the rounds get: δ₀ = fδ/(Tγ), slack (1−f)δ. All of δ is slack where
        no amplification is used. The paper names no split (errata shuf-B1).

    References
    ----------
    Feldman, McMillan & Talwar 2021; Ullman 2017; Kairouz, Oh & Viswanath 2015, Theorem 3.4.
    """
    how = Shuffling(shuffle)
    f = float(checks.reals("f", share, 0.0, 1.0))
    e = checks.epsilon0(eps0)
    sampled, clients = checks.population(k, n)
    rounds, d = checks.rounds(T), checks.delta(delta)
    e, sampled, clients, rounds, d = np.broadcast_arrays(e, sampled, clients, rounds, d)
    slack = np.maximum((1 - f) * d, checks.MIN_DELTA)
    per_round = round_delta(sampled, clients, rounds, d, f)
    if how is Shuffling.NONE:
        local, slack = e, d
    elif how is Shuffling.CLOSED:
        holds = clones_condition(e, sampled, per_round)
        local = np.where(holds, clones_closed_form(e, sampled, per_round), e)
        slack = np.where(holds, slack, d)
    elif how is Shuffling.CLOSED_UNCHECKED:
        local = np.minimum(clones_closed_form(e, sampled, per_round), e)
    else:
        variant = Clones.PUBLISHED if how is Shuffling.NUMERIC else Clones.STRONGER
        local = shuffled_epsilon(e, sampled, per_round, variant)
    return composed_shuffles(local, sampled / clients, rounds, slack)


def composed_shuffles(
    epsilon: ArrayLike, gamma: ArrayLike, T: ArrayLike, slack: ArrayLike, *, exact: bool = False
) -> Any:
    """Return ε of T sampled rounds by strong composition, from the ε of one shuffle.

    The last two steps of the pipeline, for whoever has the first already.

    Parameters
    ----------
    epsilon : array of float
        ε of one shuffle at the δ₀ of `round_delta`.
    gamma : array of float
        Sampling rate, in (0, 1].
    T : array of float
        Rounds, in [1, 1e9].
    slack : array of float
        What of δ the rounds leave over, (1−f)δ.
    exact : bool
        Theorem 3.3 of Kairouz, Oh & Viswanath, rounded up, instead of their Theorem 3.4.
    """
    per_round = subsampled_epsilon(epsilon, gamma)
    if exact:
        return kov_exact_epsilon(per_round, T, slack, Role.UPPER)
    return kov_epsilon(per_round, T, slack)


def gradient_second_moment(
    p: float, L: ArrayLike, d: ArrayLike, eps0: ArrayLike, k: ArrayLike
) -> Any:
    """Return G² = max(d^{1−2/p}, 1)L² + G_p²/k of the averaged, locally randomised gradients.

    With A = ((e^ε₀+1)/(e^ε₀−1))²: G_1² = L²dA, G_∞² = L²d²A, and G_p² = 14L²dA·max(d^{1−2/p}, 1)
    between them.

    Parameters
    ----------
    p : float
        In [1, ∞]: norm of the gradient ball, radius L (the clipping threshold).
    L, d, eps0, k : array of float, broadcast together
        Lipschitz constant > 0, dimension ≥ 1, ε₀ in (0, 800], clients sampled.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 3 and Remark 1 (Lemma 8 prints other constants for p = 1 and ∞;
    errata shuf-B5); for other p Lemma 8.
    """
    checks.reals("p", p, 1.0)
    lipschitz = checks.reals("L", L, 0.0, np.inf, open_low=True)
    size = checks.integers("d", d, 1, 1e12)
    e = checks.reals("eps0", eps0, 0.0, checks.MAX_EPSILON, open_low=True)
    sampled = checks.integers("k", k, 1, checks.MAX_COUNT)
    widest = np.maximum(size ** (1.0 if p == np.inf else 1.0 - 2.0 / p), 1.0)
    factor = {1: size, np.inf: size**2}.get(p, 14 * size * widest) / sampled
    with np.errstate(over="ignore", divide="ignore"):
        # Infinite where it has no double.
        moment = widest * lipschitz**2 + factor * (lipschitz / np.tanh(e / 2)) ** 2
    return scalar_if_0d(moment)


def convergence_bound(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Any:
    """Return 2DG(2 + ln T)/√T, the bound on the expected excess risk after T steps.

    Parameters
    ----------
    p, L, d, eps0, k
        As in `gradient_second_moment`.
    D : array of float
        Diameter of the parameter set, > 0.
    T : array of float
        Steps with rates D/(G√t), in [1, 1e9].

    References
    ----------
    Girgis, Data & Diggavi, (36); Theorem 3 prints O(·) (errata shuf-B6).
    """
    diameter = checks.reals("D", D, 0.0, np.inf, open_low=True)
    rounds = checks.rounds(T)
    moment = np.asarray(gradient_second_moment(p, L, d, eps0, k))
    with np.errstate(over="ignore"):
        bound = 2 * diameter * np.sqrt(moment) * (2 + np.log(rounds)) / np.sqrt(rounds)
    return scalar_if_0d(bound)
