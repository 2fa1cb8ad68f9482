"""Contribution rule: the parameters that say what one user adds to the map, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.privacy.heatmaps.counts import Contribution, Weights
from explorer.studies.base.builders import choice, count
from explorer.studies.base.study import Condition, Kind, Parameter, Request, Result


@dataclass(frozen=True, slots=True)
class Weighting:
    """A way to make a user's check-ins a distribution.

    Attributes
    ----------
    key : str
        Value of the parameter ``weights``.
    label : str
        In the list of choices.
    sensitivity : str
        The condition that bounds the sensitivity, which the program sees to.
    note : str
        What a reader of the map must know; empty for the paper's way.
    """

    key: Weights
    label: str
    sensitivity: str
    note: str = ""


WHICH_CELL = (
    "Every user counts once, in the cell where they checked in most often (of equal ones the first "
    "in Z-order)"
)
COUNTS_ONCE = "Each user counts once, in one cell"
WEIGHS_ONE = "Each user's total weight is at most 1"
WEIGHTINGS = {
    found.key: found
    for found in (
        Weighting(
            "checkins",
            "By check-ins",
            f"{WEIGHS_ONE}: their check-ins inside region and time range share it",
        ),
        Weighting(
            "cells",
            "Each visited cell once",
            f"{WEIGHS_ONE}: the cells they checked in to inside region and time range share it",
            "Every user's weight is shared equally by the cells they checked in to, however often; "
            "in the true map as well.",
        ),
        Weighting(
            "one-cell",
            "One cell, the most visited",
            COUNTS_ONCE,
            f"{WHICH_CELL}; in the true map as well.",
        ),
    )
}
ALL = 1_000_000
"""As a cap: all check-ins count."""

PARAMETERS: tuple[Parameter, ...] = (
    choice(
        "weights",
        "p",
        "weighting per user",
        "How the check-ins of one user share their weight of 1: equally, or by the cells they "
        "lie in, each once, or all of it in the cell visited most often. Costs no privacy, but "
        "must be chosen without looking at the data.",
        "checkins",
        tuple((found.key, found.label) for found in WEIGHTINGS.values()),
        default_unsaid=True,
    ),
    count(
        "cap",
        "k",
        "check-ins of a user that count",
        "At most this many check-ins of each user count, taken at equal steps in Z-order; the "
        f"largest, {ALL:,}, is all of them. The user still weighs 1 in all. Costs no privacy, "
        "but must be chosen without looking at the data.",
        ALL,
        1,
        ALL,
        unit="check-ins",
        default_unsaid=True,
    ),
    Parameter(
        "one_cell",
        "",
        "each user visits only one cell",
        "Declare it only if it is known without these check-ins, as of home addresses. The "
        "recommended mechanism may then be another; what is promised does not rest on it.",
        Kind.FLAG,
        False,
        relevant_when=(("weights", ("checkins", "cells")),),
        default_unsaid=True,
    ),
)
HISTOGRAM, BIAS = "contributions", "weights_bias"
"""Keys of the table of how much users contribute, and of the readout of what the rule does."""
RULE = ("weights", "cap")
"""Keys of the parameters that the counts depend on."""


def rule_of(values: Mapping[str, Any]) -> Contribution:
    """Return the rule of some values of parameters; missing ones are default."""
    cap = int(values.get("cap", ALL))
    return Contribution(values.get("weights", "checkins"), None if cap == ALL else cap)


def requested_rule(request: Request) -> Contribution:
    """Return the rule that a request asks for."""
    return rule_of(dict(request.values))


def in_one_cell(request: Request) -> bool:
    """Whether every user is in one cell, by the weights or because it was declared."""
    return request["weights"] == "one-cell" or bool(request["one_cell"])


def notes(request: Request) -> tuple[str, ...]:
    """Return what a reader of the map must know of the rule; a function of settings alone."""
    lines = [WEIGHTINGS[request["weights"]].note]
    if request["cap"] != ALL:
        lines.append(f"{_cap(request)}; in the true map as well.")
    return tuple(filter(None, lines))


def _cap(request: Request) -> str:
    cap: int = request["cap"]
    one = "1 check-in of each user counts" if cap == 1 else f"{cap:,} check-ins of each user count"
    return f"At most {one}, taken at equal steps in Z-order"


def rule_text(request: Request) -> str:
    """Return the rule in a few words, if it is not the paper's."""
    parts = [WEIGHTINGS[request["weights"]].label] if request["weights"] != "checkins" else []
    if request["cap"] != ALL:
        parts.append(f"at most {request['cap']:,} check-ins a user")
    words = ", ".join(parts)
    return words[:1].upper() + words[1:]


def histogram_of(result: Result) -> dict[str, Any] | None:
    """Return the histogram of how much users contribute as JSON values; None without one."""
    for table in result.tables:
        if table.key == HISTOGRAM:
            rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
            return {"note": table.note, "rows": rows}
    return None


def sensitivity(request: Request, of_mechanism: str) -> Condition:
    """Return the condition that bounds what one user changes.

    Parameters
    ----------
    request : Request
    of_mechanism : str
        What the mechanism itself sees to; empty where the weights do.
    """
    text = of_mechanism or WEIGHTINGS[request["weights"]].sensitivity
    margin = "sensitivity 1"
    if request["cap"] != ALL:
        margin += f"; at most {request['cap']:,} of their check-ins count"
    shared = text.startswith(WEIGHS_ONE)
    return Condition(text, True, margin, short=WEIGHS_ONE if shared else "")


def declarations(request: Request) -> tuple[Condition, ...]:
    """Return what somebody declared of the users, to be vouched for."""
    if request["weights"] == "one-cell" or not request["one_cell"]:
        return ()
    return (
        Condition(
            "Every user is in one cell only (for the recommendation alone)",
            None,
            "declared: whoever did must know it without these check-ins; the promise holds anyway",
            of_guarantee=False,
            short="Recommendation only: one cell a user",
        ),
    )
