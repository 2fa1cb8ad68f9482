"""The numbers of this paper as they cross to studies: with their role, validity and source.

Arguments and domains are those of the functions they wrap; shapes broadcast. α of given items is
bounded from above; an α₀ that a target allows from below, since a larger one may do as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.privacy.user_metric.gaussian import (
    gaussian_delta,
    gaussian_sigma,
    gaussian_sigma_printed,
    gaussian_sigma_textbook,
)
from explorer.privacy.user_metric.hops.group_calibration import group_alpha, group_alpha0
from explorer.privacy.user_metric.hops.group_hops import group_delta_certified
from explorer.privacy.user_metric.theorem44.certificate import theorem44_certificate
from explorer.privacy.user_metric.theorem44.inversion import theorem44_alpha0
from explorer.privacy.user_metric.theorem44.printed_forms import closed_form
from explorer.privacy.user_metric.theorem44.theorem import Internal

PAPER = "Imola, Roy Chowdhury & Chaudhuri 2024 (arXiv 2405.02665 v1)"
BALLE_WANG = "Balle & Wang 2018"
EXACT_HOPS = Reference(
    PAPER, "Lemma B.1", "amplification of one hop evaluated exactly, hops telescoped"
)
OUT_OF_RANGE = "α₀ exceeds Theorem 4.4's condition ln(mn/(16 ln(4mn/δ)))"


def composed_alpha(alpha0: ArrayLike, m: ArrayLike) -> Bound:
    """Return m·α₀: items composed, with no δ and no help of the shuffler."""
    a0 = checks.reals("alpha0", alpha0, 0.0, checks.EPSILON_MAX)
    items = checks.integers("m", m, 1, checks.COUNT_MAX)
    return Bound(a0 * items, Role.UPPER, Reference(PAPER, "Section 4.2", "plain composition"))


def composed_alpha0(alpha: ArrayLike, m: ArrayLike) -> Bound:
    """Return α/m, the α₀ that plain composition allows."""
    a = checks.reals("alpha", alpha, 0.0, checks.EPSILON_MAX)
    items = checks.integers("m", m, 1, checks.COUNT_MAX)
    return Bound(a / items, Role.LOWER, Reference(PAPER, "Section 4.2", "plain composition"))


def theorem_alpha(
    alpha0: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> Bound:
    """Return the α that Theorem 4.4 certifies at δ'; not valid beyond its condition."""
    found = theorem44_certificate(alpha0, delta_prime, m, n, internal)
    holds = found.valid & np.isfinite(found.alpha)
    where = Reference(PAPER, "Theorem 4.4", "supremum as a limit (errata A2), δ' = δe^h (A7)")
    return Bound(found.alpha, Role.UPPER, where, holds, "" if holds.all() else OUT_OF_RANGE)


def theorem_alpha0(
    alpha: ArrayLike,
    delta_prime: ArrayLike,
    m: ArrayLike,
    n: ArrayLike = 1,
    internal: Internal | str = Internal.SIMPLE,
) -> Bound:
    """Return the α₀ that Theorem 4.4 allows for a target; not valid where it allows none."""
    found = theorem44_alpha0(alpha, delta_prime, m, n, internal)
    a = np.broadcast_to(np.asarray(alpha, dtype=float), found.alpha0.shape)
    holds = (found.alpha0 > 0) | (a == 0)
    where = Reference(PAPER, "Theorem 4.4", "inverted, capped at its condition")
    reason = "" if holds.all() else "the theorem holds for no α₀ here: too few items (errata A6)"
    return Bound(found.alpha0, Role.LOWER, where, holds, reason)


def printed_alpha0(
    alpha: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1
) -> Bound:
    """Return equations (6) and (7) as printed; valid on branch 1, where their condition holds."""
    found = closed_form(alpha, delta_prime, m, n)
    holds = found.valid & (found.branch == 1)
    where = Reference(PAPER, "equations (6) and (7)", "never to calibrate with: errata A3–A6")
    reason = "their condition fails, or it is branch 2, which exceeds the budget (errata A3, A6)"
    return Bound(found.alpha0, Role.LOWER, where, holds, "" if holds.all() else reason)


def exact_alpha(alpha0: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Bound:
    """Return the α that exact hops certify at δ', or plain composition where that is beyond 800."""
    value = np.minimum(group_alpha(alpha0, delta_prime, m, n), composed_alpha(alpha0, m).value)
    return Bound(value, Role.UPPER, EXACT_HOPS)


def exact_alpha0(alpha: ArrayLike, delta_prime: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Bound:
    """Return the α₀ that exact hops allow: the one to calibrate with."""
    return Bound(group_alpha0(alpha, delta_prime, m, n), Role.LOWER, EXACT_HOPS)


def exact_delta(alpha: ArrayLike, alpha0: ArrayLike, m: ArrayLike, n: ArrayLike = 1) -> Bound:
    """Return the δ' of items at α₀ when α is claimed; truncated where a sum was bounded."""
    found = group_delta_certified(alpha, alpha0, m, n)
    return Bound(found.value, Role.UPPER, EXACT_HOPS, truncated=found.truncated)


def analytic_width(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Bound:
    """Return the least Gaussian σ that keeps the promise at every distance."""
    where = Reference(BALLE_WANG, "Theorem 8, Algorithm 1", "in place of the paper's width")
    return Bound(gaussian_sigma(alpha, delta, lip, n), Role.EXACT, where)


def printed_width(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Bound:
    """Return the paper's Gaussian width; valid only where it happens to be private."""
    where = Reference(PAPER, "Section 4.1", "not private in general (errata B1)")
    value = np.asarray(gaussian_sigma_printed(alpha, delta, lip, n), dtype=float)
    return _private_width(value, alpha, delta, lip, n, where)


def textbook_width(
    alpha: ArrayLike, delta: ArrayLike, lip: ArrayLike = 1.0, n: ArrayLike = 1
) -> Bound:
    """Return lip·√(2 ln(1.25/δ))/(αn); valid where it is private, as for every α ≤ 1."""
    where = Reference("Dwork & Roth 2014", "Theorem A.1")
    value = np.asarray(gaussian_sigma_textbook(alpha, delta, lip, n), dtype=float)
    return _private_width(value, alpha, delta, lip, n, where)


def _private_width(
    value: np.ndarray,
    alpha: ArrayLike,
    delta: ArrayLike,
    lip: ArrayLike,
    n: ArrayLike,
    where: Reference,
) -> Bound:
    positive = value > 0
    reached = gaussian_delta(np.where(positive, value, 1.0), alpha, lip=lip, n=n)
    holds = positive & (reached <= np.asarray(delta, dtype=float))
    return Bound(value, Role.UPPER, where, holds, "" if holds.all() else "its true δ is larger")
