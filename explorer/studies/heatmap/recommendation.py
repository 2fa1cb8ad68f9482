"""Which mechanism to take, by public numbers alone: never by comparing with the truth."""

from __future__ import annotations

from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Advice, Request
from explorer.studies.heatmap.mechanisms import RECOMMENDED, mechanism_of

ROUGH_BELOW = 20.0
"""Least ε·n₀ at which more than the rough distribution can be expected."""
HIDES_USERS = (
    f"{RECOMMENDED.label} is recommended: it hides whether a user is there, and noisy points only "
    "how far."
)
REASON = f"{RECOMMENDED.label} is recommended: it errs less at the same ε."
EXPECT_LITTLE = "Expect the rough distribution only: ε is small for so few users."


def recommended(request: Request) -> Advice:
    """Return the mechanism to take and why; a function of the settings alone.

    The adaptive quadtree, whatever they are: it errs least on average from ε = .5 on, and below it
    no rule without the number of users is better. (Whole counts are better still where every user
    is known to be in one cell and ε is near 10; nobody can declare that here yet.)
    """
    reason = REASON if mechanism_of(request).comparable else HIDES_USERS
    return Advice("mechanism", RECOMMENDED.key, reason, _rough(request))


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
