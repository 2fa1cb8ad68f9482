"""ε after T rounds by numerically exact composition of privacy losses.

Two laws of one round are composed: that of randomised response, which bounds from below what an
accountant sound for *all* ε₀-LDP randomisers can report, and that of the subsampled clones, which
dominates every such randomiser and bounds from above. The composition is exact up to the error of
a contour integral (about 1e-9 of δ) or of a lattice where rounds are too few or too lumpy for it;
the bounds are numerical, not proof against rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.amplification import Clones
from explorer.privacy.bounds import Bound, Reference, Role
from explorer.privacy.composition import kov_exact_epsilon
from explorer.privacy.shuffle_rdp.accountant import Shuffling, pipeline_epsilon, upper_epsilon
from explorer.privacy.shuffle_rdp.composed import Composition
from explorer.privacy.shuffle_rdp.lattice import NOTHING
from explorer.privacy.shuffle_rdp.losses import DEPTH, clone_loss, randomised_response_loss
from explorer.privacy.shuffle_rdp.lower import Direction
from explorer.privacy.shuffle_rdp.upper import pure_epsilon

_EPS0_MIN, _EPS0_MAX = 1e-12, 100.0
"""Where rounds are composed: below, losses lose their digits; above, there are no clones."""
_LOOSE = 1e-3
"""Relative excess of ε beyond which it is called truncated."""

_LOWER = Reference(
    "Girgis, Data & Diggavi 2021 (subsampled shuffle model)",
    "the pair of Theorem 2, composed exactly",
    "larger of both directions",
)
_UPPER = Reference(
    "Feldman, McMillan & Talwar; Zhu, Dong & Wang 2022",
    "subsampled clones, composed exactly",
    "numerical, not proof against rounding",
)


def randomised_response_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    direction: Direction | str = Direction.BOTH,
) -> Bound:
    """Return ε at δ of T rounds of randomised response: the *2RR lower bound*.

    No accountant that is sound for all ε₀-LDP randomisers can report less; a particular
    randomiser may leak less. Arguments broadcast; domains as in `upper_epsilon`. Marked truncated
    where a lower number had to do: for ε₀ > 100 that of ε₀ = 100, whose randomised response is
    ε₀-LDP too, for ε₀ < 1e-12 zero, and elsewhere one direction or the largest loss alone.
    """
    which = Direction(direction)

    def one(e: float, s: float, c: float) -> _Point:
        if e < _EPS0_MIN:
            return lambda T, delta: (0.0, True)
        loss = randomised_response_loss(min(e, _EPS0_MAX), s, c)
        forward = [Composition(loss)] if which is not Direction.PQ else []
        backward = [Composition(loss.reversed())] if which is not Direction.QP else []
        return lambda T, delta: _least(forward + backward, e > _EPS0_MAX, T, delta)

    return _composed(one, eps0, k, n, T, delta, Role.LOWER, _LOWER)


def clone_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    variant: Clones | str = Clones.PUBLISHED,
    cells: int = 1500,
) -> Bound:
    """Return ε at δ of T rounds of subsampled clones: the *numerical upper bound*.

    It holds for every ε₀-LDP randomiser (`Clones.STRONGER`: one common, non-adaptive one).
    Arguments broadcast; domains as in `upper_epsilon`. Marked truncated where a larger number had
    to do: for ε₀ > 100, where there are no clones to speak of, for ε₀ < 1e-12 and where the
    composition can't be had, the least of Theorem 3 with caps, the pipeline and the sampled rounds
    as if each were randomised response (Kairouz, Oh & Viswanath, Theorem 3.3).
    """
    which = Clones(variant)

    def one(e: float, s: float, c: float) -> _Point:
        routes: dict[float, Composition] = {}

        def point(T: int, delta: float) -> tuple[float, bool]:
            # Small δ are made by numbers of clones that larger ones need not know.
            depth = max(DEPTH, DEPTH * math.ceil((math.log(T / delta) + 12) / DEPTH))
            if _EPS0_MIN <= e <= _EPS0_MAX and depth not in routes:
                routes[depth] = Composition(clone_loss(e, s, c, which, cells, depth))
            return _most(routes.get(depth), (e, s, c), T, delta)

        return point

    return _composed(one, eps0, k, n, T, delta, Role.UPPER, _UPPER)


_Point = Callable[[int, float], tuple[float, bool]]
"""From T and δ to ε and whether it is looser than it could be."""


def _least(routes: list[Composition], lesser: bool, T: int, delta: float) -> tuple[float, bool]:
    found = [route.found(delta, T) for route in routes]
    # The lattice errs upwards; twice its excess errs downwards.
    value = max(
        route.least(delta, T) if math.isnan(f.epsilon) else max(0.0, f.epsilon - 2 * f.excess)
        for route, f in zip(routes, found, strict=True)
    )
    loose = any(
        route.most(T) > value if math.isnan(f.epsilon) else f.excess > _LOOSE * f.epsilon
        for route, f in zip(routes, found, strict=True)
    )
    return value, loose or lesser


def _most(
    route: Composition | None, args: tuple[float, float, float], T: int, delta: float
) -> tuple[float, bool]:
    found = NOTHING if route is None else route.found(delta, T)
    if not math.isnan(found.epsilon):
        return found.epsilon, found.excess > _LOOSE * found.epsilon
    others = (
        upper_epsilon(*args, T, delta, capped=True).epsilon,
        pipeline_epsilon(*args, T, delta, Shuffling.NUMERIC),
        kov_exact_epsilon(pure_epsilon(*args), T, delta),
    )
    return min(map(float, others)), True


def _composed(
    prepare: Callable[[float, float, float], _Point],
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    role: Role,
    reference: Reference,
) -> Bound:
    e = domain.epsilon0(eps0)
    sampled, clients = domain.population(k, n)
    arrays = np.broadcast_arrays(e, sampled, clients, domain.rounds(T), domain.delta(delta))
    flat = np.stack([a.ravel() for a in arrays])
    value, loose = np.zeros(flat.shape[1]), np.zeros(flat.shape[1], dtype=bool)
    rounds, which = np.unique(flat[:3], axis=1, return_inverse=True)
    for i in range(rounds.shape[1]):
        if rounds[0, i] == 0:
            continue
        point = prepare(*(float(v) for v in rounds[:, i]))
        for j in np.flatnonzero(which.ravel() == i):
            value[j], loose[j] = point(int(flat[3, j]), float(flat[4, j]))
    shape = arrays[0].shape
    return Bound(value.reshape(shape), role, reference, truncated=loose.reshape(shape))
