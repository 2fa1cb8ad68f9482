"""The paper's example and its neighbours: as printed, corrected, exact."""

import math

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Table

ROWS = (
    (25.0, 1e-12, 1e3, 1e5),
    (25.0, 1e-12, 1e3, 1.0),
    (25.0, 1e-12, 1e3, 1e3),
    (5.0, 1e-12, 1e3, 1e5),
    (1.0, 1e-12, 1e3, 1e5),
)
"""α, δ′, m and n."""
PRINTED_ALPHA0 = 3.0
"""What the text of Section 4.2 gives for the first row."""


def example_table(context: Context) -> Table:
    """Return α₀ for the paper's example, by every route; kept once made."""
    made: Table = context.memo(("itemwise", "examples"), lambda: _made(context))
    return made


def _made(context: Context) -> Table:
    rows = []
    for alpha, delta, m, n in ROWS:
        context.check()
        printed = um.closed_form(alpha, delta, m, n)
        rows.append(
            (
                "local" if n == 1 else "central",
                alpha,
                delta,
                m,
                n,
                PRINTED_ALPHA0 if (alpha, n) == (25.0, 1e5) else None,
                float(printed.alpha0),
                float(um.closed_form_achieved(alpha, delta, m, n)),
                float(um.theorem44_alpha0(alpha, delta, m, n).alpha0),
                float(um.theorem44_alpha0(alpha, delta, m, n, um.Internal.TIGHT).alpha0),
                float(um.group_alpha0(alpha, delta, m, n)),
                alpha / m,
            )
        )
    worth = um.theorem44_alpha(PRINTED_ALPHA0, 1e3, 1e-12 * math.exp(-25), 1e5)
    return Table(
        "examples",
        "The paper's example: α₀ as printed, corrected, exact",
        (
            "model",
            "α",
            "δ′",
            "m",
            "n",
            "α₀ in the text",
            "α₀ of eq (6)/(7)",
            "α this spends",
            "Theorem 4.4, δ = δ′e^(−α)",
            "Theorem 4.4, δ·e^h = δ′",
            "exact hops",
            "α/m",
        ),
        tuple(rows),
        note=(
            f"The text's α₀ ≈ 3.0 is the theorem's ratio at w = 1; by the theorem itself it is "
            f"worth α = {nearest(worth)} and not 25 (errata user-A1); other rows have none in the "
            "text. “α this spends” is what Theorem 4.4 certifies at the printed equation's α₀: "
            "above α the theorem does not give what is promised, below it accuracy is wasted. "
            "Larger α₀ is less noise."
        ),
        roles=(
            *[None] * 6,
            Role.EXACT,
            Role.UPPER,
            *[Role.LOWER] * 4,
        ),
    )
