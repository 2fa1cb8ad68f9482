"""The answer in front of the map, before any ε was looked for."""

from __future__ import annotations

from explorer.studies.base.distances import FAR, in_unit
from explorer.studies.base.numbers import NEARLY, PARAMETER_DIGITS, format_interval, nearest
from explorer.studies.base.phrases import Answer
from explorer.studies.base.result import Result
from explorer.studies.heatmap.mechanisms import mechanism_of

DIGITS, OF_INTERVAL = 3, 2
ONE_DRAW = "One draw, computed from these check-ins: for planning, never for a release."


def of_draw(result: Result, _claimed: object = None) -> Answer | None:
    """Return how far this draw's map is off, as far as that is known.

    None where no truth is known to compare with: before it is counted, and of what may leave the
    curator's screen, which holds no such number.
    """
    selection = result.request.selection
    if selection is None:
        return None
    region = selection.region
    far = next((r for r in result.readouts if r.key == in_unit(FAR, region)), None)
    if far is None:
        return None
    if far.value is not None:
        known = f"{NEARLY} {nearest(far.value, DIGITS)}"
    elif far.low is not None and far.high is not None:
        known = format_interval(far.low, far.high, OF_INTERVAL)
    else:
        return None
    mechanism, epsilon = mechanism_of(result.request), float(result.request["epsilon"])
    said = (
        f"off on average in this one draw, with {mechanism.title} at "
        f"ε = {nearest(epsilon, PARAMETER_DIGITS)}."
    )
    if mechanism.comparable:
        said += " “Which ε?” finds the ε that is enough in 9 of 10 draws."
    return Answer(f"{known} {region.unit}", said, ONE_DRAW, curator_only=True)
