"""Which mechanism to take, by public numbers alone: never by comparing with the truth."""

from __future__ import annotations

import math

from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.study import Advice, Request
from explorer.studies.heatmap.contributions.settings import in_one_cell
from explorer.studies.heatmap.mechanisms import MECHANISMS, RECOMMENDED, mechanism_of

ROUGH_BELOW = 20.0
"""Least ε·n₀ at which more than the rough distribution can be expected."""
HIDES_USERS = (
    f"{RECOMMENDED.label} is recommended: it hides whether a user is there, and noisy points only "
    "how far."
)
REASON = f"{RECOMMENDED.label} is recommended: it errs less at the same ε."
WHOLE_COUNTS = MECHANISMS["integers"]
LITTLE_NOISE = 0.02
"""Up to this part of n₀ the noise in empty cells is small beside whole counts."""
EXPECT_LITTLE = "Expect the rough distribution only: ε is small for so few users."


def recommended(request: Request) -> Advice:
    """Return the mechanism to take and why; a function of the settings alone.

    Whole counts where every user is in one cell, by the weights or as declared, and little noise is
    to be expected in empty cells beside n₀ users; n₀ must not come from the data. Else the adaptive
    quadtree: it errs least on average from ε = .5 on, and below it no rule without the number of
    users is better.
    """
    share = noise_share(request)
    if share is None or share > LITTLE_NOISE:
        reason = REASON if mechanism_of(request).comparable else HIDES_USERS
        return Advice("mechanism", RECOMMENDED.key, reason, _rough(request))
    known = "by the weights chosen" if request["weights"] == "one-cell" else "as declared"
    reason = (
        f"{WHOLE_COUNTS.label} is recommended: every user is in one cell, {known}, and the noise "
        f"to be expected in empty cells is at most {at_most(100 * share, 2)} % of "
        f"{format_number(request['n0'])} assumed users (n₀)."
    )
    return Advice("mechanism", WHOLE_COUNTS.key, reason, _rough(request))


def noise_share(request: Request) -> float | None:
    """Return what positive noise Δ² empty cells are expected to have, as a part of n₀.

    That of discrete Laplace noise is a/(1 − a²) a cell with a = e^{−ε}. None where users may be in
    several cells, or n₀ came from the data and may not enter.
    """
    selection = request.selection
    told = selection is None or selection.n0_from.may_be_told
    if not (told and in_one_cell(request)):
        return None
    cells, n0 = int(request["resolution"]) ** 2, int(request["n0"])
    return cells / (2 * math.sinh(request["epsilon"])) / n0


def _rough(request: Request) -> str:
    """Return what to expect of too small an ε, with the number of users it is said for."""
    if not mechanism_of(request).comparable:
        return ""
    users, whose = _users(request)
    product = request["epsilon"] * users
    if product >= ROUGH_BELOW:
        return ""
    return (
        f"Expect the rough distribution only: ε times {format_number(users)} {whose} is "
        f"{format_number(product)}, below {format_number(ROUGH_BELOW)}."
    )


def rough(request: Request) -> bool:
    """Whether too little can be expected, and this may be told to everyone."""
    selection = request.selection
    sampled = selection is not None and selection.users is not None
    told = selection is None or sampled or selection.n0_from.may_be_told
    return told and bool(_rough(request))


def _users(request: Request) -> tuple[int, str]:
    """Return a public number of users: at most so many are sampled, or n₀ are assumed."""
    selection = request.selection
    if selection is not None and selection.users is not None:
        return selection.users, "users asked for"
    return int(request["n0"]), "assumed users (n₀)"
