"""Errors of GKRR, Hadamard response and Laplace noise as bounds at the points of a sweep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Reference, Role
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints, carried
from explorer.studies.frequency import points as found_at, text
from explorer.studies.frequency.parameters import LOCAL
from explorer.studies.frequency.points import Points


@dataclass(frozen=True)
class Calibrated:
    """What every mechanism's own parameter is, one entry a point.

    Attributes
    ----------
    alpha0 : ndarray of float
        GKRR's, the best that is proved (or an estimate of it).
    estimated : bool
    theorem, printed : ndarray of float
        GKRR's by Theorem 4.4 and by equation (6) or (7).
    theorem_holds, printed_holds : ndarray of bool
    item, item_printed : ndarray of float
        Hadamard response's ε₀, exact and as printed.
    """

    alpha0: FloatArray
    estimated: bool
    theorem: FloatArray
    theorem_holds: BoolArray
    printed: FloatArray
    printed_holds: BoolArray
    item: FloatArray
    item_printed: FloatArray

    def carried(self, points: SweptPoints) -> Calibrated:
        """Return parameters that nowhere allow less than a stricter promise does."""

        def best(bound: Bound, weaker: dict[str, int]) -> Bound:
            return carried(bound, points, weaker, largest=True)

        gkrr = {"alpha": 1, "delta": 1, "n": 1}
        theorem = Bound(
            self.theorem, Role.LOWER, text.THEOREM44, self.theorem_holds, text.NO_THEOREM
        )
        theorem = best(theorem, gkrr)
        item = Bound(self.item, Role.LOWER, text.HADAMARD)
        return replace(
            self,
            alpha0=best(Bound(self.alpha0, Role.LOWER, text.GKRR), gkrr).value,
            theorem=np.where(theorem.valid, theorem.value, 0.0),
            theorem_holds=theorem.valid,
            item=best(item, {"eps": 1, "delta": 1}).value,
        )


def calibrated(
    p: Points, request: Request, context: Context, full: bool, alpha0: FloatArray | None
) -> Calibrated:
    """Return the mechanisms' parameters; `alpha0` is given where it is the axis."""
    own = p.at(slice(-1, None)) if alpha0 is not None else p
    exact = found_at.best_alpha0(own, request, context, full)
    if full or request.quantity in ("rmse", "cluster"):
        theorem, theorem_holds = found_at.theorem_alpha0(own, request, context)
    else:
        # Nothing that is shown yet asks for it.
        theorem, theorem_holds = np.zeros_like(own.m), np.zeros(own.m.shape, bool)
    printed, printed_holds = found_at.printed_alpha0(own, request)
    if alpha0 is not None:
        exact = np.append(alpha0, exact)
        # On the axis of α₀ there is one GKRR only, however it was calibrated.
        nowhere = np.zeros(alpha0.shape, bool)
        theorem, printed = np.append(alpha0, theorem), np.append(alpha0, printed)
        theorem_holds = np.append(nowhere, theorem_holds)
        printed_holds = np.append(nowhere, printed_holds)
    context.check()
    return Calibrated(
        exact,
        not full and alpha0 is None,
        theorem,
        theorem_holds,
        printed,
        printed_holds,
        found_at.item_epsilon(p, context, full),
        np.minimum(um.hadamard_epsilon_printed(p.eps, p.m, p.delta), 800.0),
    )


def bound(
    value: FloatArray, role: Role, reference: Reference, holds: BoolArray | bool, why: str
) -> Bound:
    """Return a bound that is absent where it does not hold or is infinite."""
    known: BoolArray = np.isfinite(value) & holds
    reason = "" if known.all() else why
    return Bound(np.where(known, value, np.nan), role, reference, known, reason)


def laplace_mse(p: Points, request: Request, factor: float = 1.0) -> FloatArray:
    """Return the Laplace baseline's ℓ2² error, at ε times `factor`."""
    eps = p.eps * factor
    if request["model"] == LOCAL:
        return np.asarray(um.laplace_mse(p.k, np.ones_like(p.n), eps, p.n))
    return np.asarray(um.laplace_mse(p.k, p.n, eps))


def laplace_distance(p: Points, request: Request, factor: float = 1.0) -> FloatArray:
    """Return the Laplace baseline's exact mean d_EM, shifted to sum 1, at ε times `factor`."""
    local = request["model"] == LOCAL
    noisy, averaged = (np.ones_like(p.n), p.n) if local else (p.n, np.ones_like(p.n))
    return np.asarray(um.laplace_emd_mean(p.s, p.t, p.r, noisy, p.eps * factor, averaged))


def squared(
    key: str, what: str, p: Points, c: Calibrated, request: Request
) -> tuple[FloatArray, bool]:
    """Return E‖F̃ − K̃‖² (of items or clusters) of a mechanism, and whether it is exact."""
    clusters = what == "cluster"
    if key.startswith("gkrr"):
        a0 = {"gkrr": c.alpha0, "gkrr_theorem": c.theorem, "gkrr_printed": c.printed}[key]
        error = um.gkrr_cluster_mse if clusters else um.gkrr_mse
        return np.asarray(error(p.s, p.t, p.r, a0, p.m, p.n)), True
    if key.startswith("hadamard"):
        e0 = c.item if key == "hadamard" else c.item_printed
        if clusters and bool((p.t > 1).any()):
            return np.asarray(um.hadamard_cluster_mse_bound(p.k, e0, p.m, p.n)), False
        return np.asarray(um.hadamard_mse(p.k, e0, p.m, p.n)), True
    # The paper's scale is half of what ε needs: that of 2ε.
    return laplace_mse(p, request, 2.0 if key == "laplace_printed" else 1.0), True


_SOURCES = {
    "gkrr": text.GKRR,
    "gkrr_theorem": text.THEOREM44,
    "gkrr_printed": text.PRINTED_ALPHA0,
    "hadamard_printed": text.HADAMARD_PRINTED,
    "laplace_printed": text.LAPLACE_PRINTED,
    "hadamard": text.HADAMARD,
    "laplace": text.LAPLACE,
}
_ONE_ITEM = {
    "one_hadamard": (um.one_item_hadamard_mse, text.ONE_HADAMARD),
    "one_grr": (um.one_item_grr_mse, text.ONE_GRR),
    "one_priv_unit": (um.priv_unit_histogram_mse, text.ONE_PRIV_UNIT),
}


def one_item_mse(p: Points) -> dict[str, FloatArray]:
    """Return the largest E‖F̃ − K̃‖² of the mechanisms to which users report one drawn item."""
    return {
        key: np.asarray(error(p.k, p.eps, p.n, 1 / p.k)) for key, (error, _) in _ONE_ITEM.items()
    }


def _holds(key: str, p: Points, c: Calibrated) -> tuple[BoolArray, str]:
    tells: BoolArray = (p.r > 0) | (p.t == 1)
    if key == "gkrr_theorem":
        return tells & c.theorem_holds, text.NO_THEOREM
    if key == "gkrr_printed":
        return tells & c.printed_holds, text.NO_PRINTED
    if key == "gkrr":
        return tells, text.NOT_TOLD_APART
    return np.ones(p.r.shape, bool), text.TOO_LARGE


def root_errors(what: str, p: Points, c: Calibrated, request: Request) -> dict[str, Bound]:
    """Return the root mean square error of items (``rmse``) or clusters (``cluster``)."""
    out = {}
    for key, reference in _SOURCES.items():
        value, exact = squared(key, what, p, c, request)
        role = Role.EXACT if exact else Role.UPPER
        if key.endswith("printed"):
            role = Role.BASELINE
        elif c.estimated and key in ("gkrr", "hadamard"):
            role = Role.ESTIMATE
        out[key] = bound(np.sqrt(value), role, reference, *_holds(key, p, c))
    if what == "rmse" and request["model"] == LOCAL:
        for key, value in one_item_mse(p).items():
            reference = _ONE_ITEM[key][1]
            out[key] = bound(np.sqrt(value), Role.UPPER, reference, True, text.TOO_LARGE)
    return out


def distances(p: Points, c: Calibrated, request: Request) -> dict[str, Bound]:
    """Return what is known of the expected earth mover's distance of signed estimates."""
    arguments = (p.s, p.t, p.r, c.alpha0, p.m, p.n)
    tells, why = _holds("gkrr", p, c)
    first = Role.ESTIMATE if c.estimated else Role.UPPER
    out = {
        "gkrr": bound(np.asarray(um.gkrr_emd_bound(*arguments)), first, text.TIGHT, tells, why),
        "theorem65": bound(
            np.asarray(um.gkrr_emd_bound(*arguments, printed=True)),
            first,
            text.THEOREM65,
            tells,
            why,
        ),
        "theorem66": bound(
            np.asarray(um.theorem66_bound(*arguments)), first, text.THEOREM66, tells, why
        ),
    }
    printed = np.asarray(um.theorem66_bound(p.s, p.t, p.r, c.printed, p.m, p.n))
    out["theorem66_printed"] = bound(
        printed, Role.BASELINE, text.PRINTED_ALPHA0, *_holds("gkrr_printed", p, c)
    )
    remark = um.theorem66_remark if request["model"] == LOCAL else um.corollary68_remark
    out["remark"] = bound(
        np.asarray(remark(p.k, p.alpha, p.delta, p.m, p.n)),
        Role.BASELINE,
        text.REMARK,
        True,
        text.TOO_LARGE,
    )
    whole, across = (squared("hadamard", what, p, c, request)[0] for what in ("rmse", "cluster"))
    value = np.asarray(um.emd_bound(p.s, p.t, p.r, whole, across))
    out["hadamard"] = bound(value, first, text.HADAMARD, True, text.TOO_LARGE)
    value = laplace_distance(p, request)
    out["laplace"] = bound(value, Role.EXACT, text.LAPLACE_DISTANCE, True, text.TOO_LARGE)
    return out
