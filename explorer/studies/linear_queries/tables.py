"""Gaussian widths with their true δ, and the Lipschitz constant in every norm, as tables."""

import math
from functools import partial

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Request, Table
from explorer.studies.linear_queries.curves import analytic_sigma
from explorer.studies.linear_queries.parameters import GIVEN
from explorer.studies.linear_queries.queries import Query
from explorer.studies.linear_queries.sensitivity import sensitivity
from explorer.studies.metric_space.choice import ChosenSpace

ROWS = ((25.0, 1e-12), (1.0, 1e-12), (1.0, 1e-6))
"""α and δ of the examples of errata user-B1."""


def width_table(request: Request, context: Context) -> Table:
    """Return the three Gaussian widths at the sliders and at some examples."""
    own = (float(request["alpha"]), float(request["delta"]))
    rows = [("at the sliders", *_widths(*own, context))]
    for alpha, delta in ROWS:
        make = partial(_widths, alpha, delta, context)
        rows.append(("for comparison", *context.memo(("linear-widths", alpha, delta), make)))
    return Table(
        "widths",
        "Gaussian widths",
        (
            "",
            "α",
            "δ asked",
            "σ as printed",
            "its true δ",
            "private up to α =",
            "σ, textbook",
            "its true δ ",
            "σ, analytic",
        ),
        tuple(rows),
        note=(
            "Widths for a Lipschitz constant of 1 and n = 1; true δ is exact, at the largest "
            "distance. Where it is above the δ asked the width is not private. The printed width "
            "is private only up to the α given (at this δ); an empty cell means at no α above "
            "1e-6."
        ),
        roles=(
            None,
            None,
            None,
            Role.EXACT,
            Role.EXACT,
            Role.LOWER,
            Role.EXACT,
            Role.EXACT,
            Role.UPPER,
        ),
    )


def true_deltas_at(alpha: float, delta: float) -> tuple[float, float]:
    """Return the true δ of the printed and of the textbook width."""
    widths = [um.gaussian_sigma_printed(alpha, delta), um.gaussian_sigma_textbook(alpha, delta)]
    printed, textbook = np.asarray(um.gaussian_delta(widths, alpha)).tolist()
    return printed, textbook


def _widths(alpha: float, delta: float, context: Context) -> tuple[float | None, ...]:
    printed, textbook = true_deltas_at(alpha, delta)
    at, with_delta = np.array([alpha]), np.array([delta])
    return (
        alpha,
        delta,
        float(um.gaussian_sigma_printed(alpha, delta)),
        printed,
        context.memo(("printed-private", delta), lambda: printed_private_up_to(delta)),
        float(um.gaussian_sigma_textbook(alpha, delta)),
        textbook,
        float(analytic_sigma(at, with_delta, context)[0]),
    )


def printed_private_up_to(delta: float) -> float | None:
    """Return the largest α at which the printed width is private; None if there is none."""

    def private(alpha: float) -> bool:
        sigma = um.gaussian_sigma_printed(alpha, delta)
        return bool(um.gaussian_delta(sigma, alpha) <= delta)

    low, high = 1e-6, 800.0
    if not private(low):
        return None
    if private(high):
        return high
    # Five times in 25 parts: to a part in a million.
    for _ in range(5):
        at = np.geomspace(low, high, 26)
        fine = np.asarray(um.gaussian_delta(um.gaussian_sigma_printed(at, delta), at)) <= delta
        last = int(np.flatnonzero(~fine)[0]) - 1
        low, high = float(at[last]), float(at[last + 1])
    return low


def slope_table(
    request: Request, space: ChosenSpace, query: Query, context: Context
) -> tuple[Table, ...]:
    """Return Δ_EM of the query at the sliders in every norm, and who attains it."""
    if request["query"] == GIVEN or query.missing or request.quantity == "true_delta":
        return ()
    orders = [*sorted({1.0, 2.0, float(request["p"])}), math.inf]
    rows: list[tuple[str | float | None, ...]] = []
    for p in orders:
        s = sensitivity(query, space, p, context)
        lip, found = float(s.lip[-1]), s.found
        rows.append(
            (
                "ℓ∞" if math.isinf(p) else f"ℓ{nearest(p)}",
                lip if math.isfinite(lip) else "infinite",
                "exact" if s.attained else "upper bound",
                found if math.isfinite(found) else ("infinite" if s.first else None),
                s.first or None,
                s.second or None,
                float(s.width[-1]) if math.isfinite(s.width[-1]) else "infinite",
            )
        )
    return (
        Table(
            "slopes",
            "Lipschitz constant",
            ("norm", "ℓ used", "which is", "steepest pair found", "from", "to", "range of answers"),
            tuple(rows),
            note=(
                f"{query.name[0].upper()}{query.name[1:]}. "
                "ℓ is the largest change of the query over the distance of two items: all pairs of "
                "a finite space are gone through (neighbours on a grid); on the line, the square "
                "and the sphere it is proved, and the pair is the steepest of a sample. "
                "Empty cells: no pair was looked for, as there are too many. The range is what "
                "user-level DP must hide."
            ),
            roles=(
                None,
                [Role.EXACT if row[2] == "exact" else Role.UPPER for row in rows],
                None,
                Role.LOWER,
                None,
                None,
                Role.UPPER,
            ),
        ),
    )
