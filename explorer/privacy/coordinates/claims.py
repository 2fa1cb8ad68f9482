"""The numbers of this paper as they cross to studies: with their role, validity and source."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import errors
from explorer.privacy.coordinates.budgets.errors import corollary1_bound
from explorer.privacy.coordinates.levels import certificates
from explorer.privacy.coordinates.reports import mean
from explorer.privacy.core.bound import Bound, Reference, Role

PAPER = "Aliakbarpour, Chaudhuri, Courtade, Fallah & Jordan 2024 (arXiv 2410.18404 v1)"


def certified_levels(c: ArrayLike, q: ArrayLike, total: ArrayLike) -> Bound:
    """Return the best certified coordinate levels as upper bounds, shape (…, d)."""
    return Bound(
        certificates.best_certificate(c, q, total),
        Role.UPPER,
        Reference(
            PAPER,
            "Proposition 4, sharpened",
            "log((1−q)e^c + q·e^L) is at most Proposition 4's level; holds for couplings up to q",
        ),
    )


def paper_levels(c: ArrayLike, q: ArrayLike, eps: ArrayLike) -> Bound:
    """Return the coordinate levels of Proposition 4, part 2, as upper bounds, shape (…, d)."""
    return Bound(
        certificates.bcdp_from_cdp_and_ldp(c, q, eps),
        Role.UPPER,
        Reference(PAPER, "Proposition 4, part 2"),
    )


def exact_mse(x2bar: ArrayLike, c: ArrayLike, n: ArrayLike, rule: str = "paper") -> Bound:
    """Return M_mean's exact error, not projected; not valid where a coordinate has no report."""
    value = mean.m_mean_mse(x2bar, c, n, rule)
    known = np.isfinite(value)
    return Bound(
        value,
        Role.EXACT,
        Reference(
            PAPER,
            "Mechanisms 1 and 2",
            "with the unbiased constant B, half of what is printed (errata A1)",
        ),
        known,
        "" if known.all() else "a coordinate with budget 0 has no report, or its error overflows",
    )


def projected_mse(
    xbar: ArrayLike, x2bar: ArrayLike, c: ArrayLike, n: ArrayLike, rule: str = "paper"
) -> Bound:
    """Return the error of the projected average, an estimate by the central limit theorem."""
    return Bound(
        errors.projected_mse(xbar, x2bar, c, n, rule),
        Role.ESTIMATE,
        Reference(PAPER, "Theorem 2", "the average taken as normal, then clipped to [−1, 1]"),
    )


def theorem2_mse(c: ArrayLike, n: ArrayLike) -> Bound:
    """Return (17) without its constant: an order of magnitude, hence an estimate."""
    return Bound(
        errors.theorem2_bound(c, n),
        Role.ESTIMATE,
        Reference(
            PAPER,
            "Theorem 2, equation (17)",
            "constant unknown; false for increments much above 1 (errata A3)",
        ),
    )


def corollary1_mse(
    n: ArrayLike, d: ArrayLike, k: ArrayLike, level: ArrayLike, eps: ArrayLike, q: ArrayLike
) -> Bound:
    """Return (18) or (19) without their constant; valid where the corollary's ε > 2δ holds."""
    _, value = corollary1_bound(n, d, k, level, eps, q)
    assumed = np.broadcast_to(np.asarray(eps) > 2.0 * np.asarray(level), value.shape)
    return Bound(
        value,
        Role.ESTIMATE,
        Reference(PAPER, "Corollary 1", "constant unknown (errata A3, A4)"),
        assumed,
        "" if assumed.all() else "Corollary 1 assumes ε > 2δ",
    )
