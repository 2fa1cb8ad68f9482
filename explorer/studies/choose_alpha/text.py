"""What choosing α says in words: sources, reasons, conditions, guarantee."""

import math

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import USER_METRIC as _PAPER
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import odds
from explorer.studies.base.study import Condition, Guarantee, Table
from explorer.studies.choose_alpha.requirements import Requirements
from explorer.studies.metric_space.choice import ChosenSpace

SETTING = Reference(
    _PAPER,
    "Section 3, “Setting the Privacy Parameters”",
    "α = min ε/(qτ); the largest acceptable ε, printed as the minimum, and qτ = 0 left out: "
    "errata user-C2",
)
USER_LEVEL = Reference(_PAPER, "Definitions 3.1 and 3.2, Table 1", "d_EM ≤ 1; errata user-C2")

TOO_FAR = "farther than the space is wide"
BELOW = "whatever lies on the line or below it has at most this ε; at 1 all data may move that far"
LARGEST = "the largest α that meets all requirements; any smaller one is more private"


def share(tau: float) -> str:
    """Write a share of the data: ``all of the data``, ``1/30 of the data``, ``12.5 %``."""
    if tau >= 1:
        return "all of the data"
    parts = 1 / tau
    if parts < 1e6 and abs(parts - round(parts)) < 1e-6 * parts:
        return f"1/{round(parts):,} of the data"
    return f"{nearest(100 * tau)} % of the data"


def length(distance: float, space: ChosenSpace) -> str:
    """Write a distance with its unit: ``100 mi``; a share of the diameter where there is none."""
    number = f"{distance:,.0f}" if 100 <= distance < 1e15 else f"{nearest(distance)}"
    return f"{number} {space.unit}" if space.unit else number


def factor(epsilon: float) -> str:
    """Write e^ε rounded up: ``1.23``."""
    return f"e^{at_most(epsilon)}" if epsilon > 20 else at_most(math.exp(epsilon))


def change_sentence(epsilon: float, tau: float, distance: float, space: ChosenSpace) -> str:
    """Return one plain sentence about a change of a user's data."""
    moved = share(tau).replace("the data", "your data")
    far = length(distance, space)
    by = f"by {far}" if space.unit else f"by {far} of the largest distance"
    grows = f"e^{at_most(epsilon)}"
    times = f" ({factor(epsilon)} times)" if epsilon <= 20 else ""
    said = f"Moving {moved} {by} changes any outcome's odds by at most {grows}{times}"
    best = odds(epsilon)
    if best == "100:0":
        return f"{said}: an observer may become practically certain which of the two it was."
    right, _, wrong = best.partition(":")
    return (
        f"{said}: an observer with 50:50 prior odds on whether you did can reach at most "
        f"{right}:{wrong}. If the mechanism has a δ, they guess right at most that often, plus "
        "δ/2, and single outcomes may say more."
    )


def guarantee(
    alpha: float, epsilon: float, tau: float, distance: float, space: ChosenSpace
) -> Guarantee:
    """Return what α promises, and what it makes of the change looked at."""
    per_unit = f" = {at_least(alpha / space.diameter)} per {space.unit}" if space.unit else ""
    return Guarantee(
        unit="one user's whole data set: the less of it moves and the shorter its way, the better",
        replace_one=(
            f"(α·w, δ) when a user's data are replaced by others at earth mover's distance w: "
            f"α = {at_least(alpha)} per diameter{per_unit}; never more than "
            f"ε = {at_least(alpha)}, as w ≤ 1"
        ),
        add_remove=(
            "not covered: the number of users is fixed and public; a user's number of items too "
            "(bounded), unless the release draws from them first (see “Unbounded data”)"
        ),
        trust=(
            "Local model: everybody but the user sees only the user's own private messages. "
            "Central model: the curator sees all data, everybody else the release. α is a choice; "
            "a mechanism must then be made to satisfy it (see “Item-wise release”)."
        ),
        sentence=change_sentence(epsilon, tau, distance, space),
        pairs=((epsilon, 0.0),),
        qualified=True,
        references=(SETTING, USER_LEVEL),
        differences=(
            f"α is no ε: it has the unit 1/distance, so α = {nearest(alpha)} protects a change of "
            f"w = 0.01 at ε = {at_most(alpha / 100)}, and only one across the whole space at "
            f"ε = {nearest(alpha)}.",
            "The straight lines of one ε in the plane of changes are exact for data that move by q "
            "on average; the earth mover's distance of the two data sets may be smaller than qτ "
            "(other items may fill the gap), and ε with it.",
        ),
    )


def conditions(asked: Requirements, space: ChosenSpace) -> tuple[Condition, ...]:
    """Return what the numbers need."""
    far = [
        f"d = {length(d, space)} in requirement {i + 1}"
        for i, (d, bad) in enumerate(zip(asked.distance, asked.too_far, strict=True))
        if bad
    ]
    return (
        Condition(
            "No requirement asks about more than the largest distance (else that distance is "
            "taken)",
            not far,
            "; ".join(far) + f"; diameter {length(space.diameter, space)}"
            if far
            else f"farthest {length(float(asked.distance.max()), space)}, diameter "
            f"{length(space.diameter, space)}",
            short="No distance asked is beyond the largest",
        ),
        Condition(
            "Every item of every user lies in the declared space; others are refused",
            None,
            short="Every item lies in the declared space",
        ),
        Condition(
            "Users' data sets have one public size, or are drawn down to one first",
            None,
            short="Users' data sets have one public size",
        ),
    )


def requirement_table(asked: Requirements, alpha: float, space: ChosenSpace) -> Table:
    """Return the requirements with the α each needs and the ε each gets."""
    rows = []
    for i, alone in enumerate(asked.alone):
        given = alpha * float(asked.q[i]) * float(asked.tau[i])
        slack = float(asked.eps[i]) / given
        rows.append(
            (
                f"{i + 1}",
                float(asked.eps[i]),
                length(float(asked.distance[i]), space),
                float(asked.q[i]),
                share(float(asked.tau[i])),
                float(alone),
                given,
                odds(given),
                "binds" if i == asked.binding else f"met with {nearest(slack)}× to spare",
            )
        )
    return Table(
        "requirements",
        "Requirements",
        ("no.", "ε asked", "distance", "q", "share that moves", "α alone", "ε given", "odds", ""),
        tuple(rows),
        note=(
            "α is the smallest of the column “α alone”; the ε given is α·q·τ, an upper bound. "
            f"Source: {SETTING.paper}, {SETTING.where}."
        ),
        roles=(*[None] * 5, Role.LOWER, Role.UPPER),
    )
