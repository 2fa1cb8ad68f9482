"""What must hold for a heatmap's guarantee, and where the choices came from that it rests on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pkgutil import resolve_name

from explorer.studies.base.study import Condition, Origin, Request, Value, relevant
from explorer.studies.heatmap.contributions import settings as contributions
from explorer.studies.heatmap.guarantee import replacement
from explorer.studies.heatmap.help import PRESETS
from explorer.studies.heatmap.mechanisms import mechanism_of
from explorer.studies.heatmap.parameters import PARAMETERS
from explorer.studies.heatmap.units import condition_in_unit, unit_of

CAME_FROM = {
    Origin.PUBLIC: "a constant of the program, its sample or a paper",
    Origin.TYPED: "typed in: whoever chose it must vouch for that",
    Origin.STAND_IN: "found on a stand-in: whoever took it must vouch that it is none of this data",
    Origin.THEORY: "from proved bounds for n₀ users: whoever took it must vouch for n₀ and w",
    Origin.UNKNOWN: "not known where it came from: whoever chose it must vouch for that",
    Origin.DRAWN: "drawn or dragged over the map of the check-ins: not private",
    Origin.BUSIEST: "picked from the cells with most check-ins: not private",
    Origin.FIRST: "found by the program where check-ins are densest: not private",
    Origin.EXTENT: "the extent of the check-ins, found by the program: not private",
    Origin.JUDGED: "“Which ε?” judged these check-ins: judge on a stand-in instead",
}
"""What is said of a choice, by where it came from."""

_ORDER = ("epsilon", "delta", "resolution", "w", "n0", "B", "top_percent", "sigma")
_SETTINGS = sorted(
    # What the recommendation alone reads is in no map.
    (replace(p, relevant_also=()) for p in PARAMETERS if p.symbol and p.key != "mechanism"),
    key=lambda p: _ORDER.index(p.key) if p.key in _ORDER else len(_ORDER),
)
"""Parameters that must not be found by comparing with the truth."""
_OWN_COUNT = "n₀ taken from the data's own count gives no privacy at all"


def conditions(request: Request) -> tuple[Condition, ...]:
    """Return what must hold for the guarantee; a function of the request alone."""
    unit = unit_of(request)
    return tuple(condition_in_unit(found, unit) for found in _for_users(request))


def _for_users(request: Request) -> tuple[Condition, ...]:
    """Return the conditions in words for users."""
    mechanism = mechanism_of(request)
    published = Condition(
        "The number of users is not published",
        None,
        f"if it is, only replace-one is meaningful, at {replacement(request)}",
    )
    return (
        contributions.sensitivity(request, mechanism.weight)
        if mechanism.comparable
        else Condition(mechanism.weight, True),
        *contributions.declared(request),
        *(resolve_name(mechanism.conditions)(request) if mechanism.conditions else ()),
        *_chosen(request),
        *([published] if mechanism.neighbouring == "add_remove" else []),
        Condition(
            "Nothing else is released from the same check-ins",
            None,
            "every new ε is a new release, and their ε add up"
            + ", as their δ do" * ("delta" in mechanism.uses),
            short="Nothing else is released from these data",
        ),
        Condition(
            "The noise is secret, random and exact",
            False,
            "demonstration noise: seeded and in floating point; never release it",
        ),
    )


def _chosen(request: Request) -> tuple[Condition, ...]:
    """Return whether region, time range and settings were chosen without looking at the data."""
    selection = request.selection
    found = [_settings(request)]
    if selection is None:
        return tuple(found)
    if selection.start is not None or selection.end is not None:
        found.insert(0, _condition("The time range", selection.time_origin))
    found.insert(0, _condition("The region", selection.region_origin))
    return tuple(found)


def _condition(what: str, origin: Origin) -> Condition:
    return Condition(
        f"{what} was chosen without looking at the data",
        origin.independent,
        CAME_FROM[origin],
        short=f"{what} chosen without the data",
    )


def _settings(request: Request) -> Condition:
    """Return the condition on all that is set with sliders, and on the sample of users."""
    values, selection = dict(request.values), request.selection
    there = [p for p in _SETTINGS if relevant(p, values, "")]
    assumed = any(p.key == "n0" for p in there)
    sampled = selection is not None and selection.sampled
    text = ", ".join(p.symbol for p in there) + " and the sample of users" * sampled
    text += " were chosen without looking at the data"
    chosen = partial(Condition, text, short="Settings chosen without the data")
    if selection is not None and selection.epsilon_from.independent is False:
        return chosen(False, f"ε: {CAME_FROM[selection.epsilon_from]}")
    if selection is not None and selection.settings_from.independent is False:
        return chosen(False, f"a setting: {CAME_FROM[selection.settings_from]}")
    if selection is not None and assumed and selection.n0_from.independent is False:
        return chosen(False, f"n₀: {CAME_FROM[selection.n0_from]}")
    came = Origin.TYPED if selection is None else selection.epsilon_from
    taken = came in (Origin.STAND_IN, Origin.THEORY)
    if not taken and _of_a_paper(request):
        return chosen(True, "as in a paper's figure")
    changed = [p.symbol for p in there if values[p.key] != p.default or taken * (p.symbol == "ε")]
    if sampled:
        changed.append("the sample")
    if not changed:
        return chosen(True, "the program's defaults")
    vouch = f"whoever chose {', '.join(changed)} must vouch for that"
    if taken:
        vouch += f"; ε was {CAME_FROM[came]}"
    return chosen(None, f"{vouch}; {_OWN_COUNT}" if assumed else vouch)


def _of_a_paper(request: Request) -> bool:
    """Whether all settings are those of a preset that shows a paper's figure."""
    selection = request.selection
    users = (None, 0) if selection is None else (selection.users, selection.data_seed)
    if selection is not None and selection.share is not None:
        return False
    values = tuple(pair for pair in request.values if pair[0] != "beside")
    return (*users, values) in _papers()


@cache
def _papers() -> frozenset[tuple[int | None, int, tuple[tuple[str, Value], ...]]]:
    """Return number of users, seed and settings of the presets that show a paper's figure."""
    return frozenset(
        (
            item.users,
            0,
            tuple(
                (p.key, p.parse(dict(item.values).get(p.key, p.default)))
                for p in PARAMETERS
                if p.key != "beside"
            ),
        )
        for item in PRESETS
        if item.published
    )
