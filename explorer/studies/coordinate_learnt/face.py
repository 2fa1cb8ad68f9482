"""What is shown first of what a report gives away."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import best_chance, times_in_100
from explorer.studies.base.study import Answer, Face, Result


def _guess(result: Result, _found: Claimed | None) -> Answer | None:
    level = number_of(result, "level_bcdp")
    level = number_of(result, "bcdp") if level is None else level
    if level is None:
        return None
    right = times_in_100(best_chance(level))
    text = (
        f"With even odds before, the report lets this coordinate be guessed right at most {right} "
        "times in 100 by those who hold this prior."
    )
    whole = next(r for r in result.readouts if r.key in ("ldp", "level_ldp"))
    if whole.value is None and whole.note.startswith("infinite"):
        text += " The report may rule out some complete records."
    return Answer(f"δᵢ ≤ {at_most(level)}", text)


FACES = {
    "tradeoff": Face(
        ("mechanism", "p1", "rho", "copies"), ("test01", "test10", "region", "chance"), _guess
    ),
    "belief_after": Face(
        ("mechanism", "p1", "rho", "copies"), ("region", "output0", "output1", "before"), _guess
    ),
    "levels": Face(
        ("mechanism", "p1", "rho", "copies"), ("bcdp", "cdp", "bdp", "ldp", "certified"), _guess
    ),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "region": "what the level allows",
    "test01": "best test, 0 against 1",
    "test10": "best test, 1 against 0",
    "whole": "best test, 00 against 01",
    "certified": "certified level",
    "ldp": "LDP",
    "chance": "a coin",
    "output0": "after report 0",
    "output1": "after report 1",
    "certified_most": "certified, at most",
    "certified_least": "certified, at least",
    "ldp_most": "LDP, at most",
    "ldp_least": "LDP, at least",
    "before": "before the report",
    "bcdp": "BCDP, this coordinate",
    "cdp": "CDP, others fixed",
    "bdp": "BDP, whole record",
    "part2": "Proposition 4, part 2",
    "part1": "Proposition 4, part 1",
}
