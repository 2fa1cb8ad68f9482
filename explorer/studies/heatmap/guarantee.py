"""Guarantees and conditions of the mechanisms, and the wording for each privacy unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from explorer.privacy import heatmaps
from explorer.privacy.core.bound import Reference
from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.parameters import PLANE
from explorer.studies.base.phrases import best_chance, percent_sure
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Condition, Guarantee, Origin, Request, Value, relevant
from explorer.studies.heatmap import contributions
from explorer.studies.heatmap.help import PRESETS
from explorer.studies.heatmap.mechanisms import (
    MOST_EPSILON,
    ONE_USER,
    SAMPLED,
    earlier_epsilon,
    mechanism_of,
    used_releases,
)
from explorer.studies.heatmap.parameters import PARAMETERS

if TYPE_CHECKING:
    from explorer.privacy.core.composition import Adjacency, Scheme


@dataclass(frozen=True, slots=True)
class UnitWords:
    """How texts name a privacy unit.

    Attributes
    ----------
    one : str
        A unit as text: ``one user``.
    protects : str
        What is protected, with ``{column}`` for the column whose values are the users.
    remark : str
        What a reader of the map must know; empty for users.
    """

    one: str
    protects: str
    remark: str = ""


UNITS = {
    Unit.USER: UnitWords(
        "one user",
        "one user (one value of {column}): all their check-ins inside region and time range",
    ),
    Unit.ROW: UnitWords(
        "one row",
        "one row: a single check-in. A person with many rows is protected less",
        "One row is protected, because the file has no user column: a person with many rows is "
        "protected less.",
    ),
    Unit.FILE: UnitWords(
        "the whole file",
        "the whole file: all its check-ins inside region and time range. The map is nearly pure "
        "noise",
        "The whole file is protected, because it has no user column: all its check-ins together "
        "weigh at most 1, so that the map is nearly pure noise.",
    ),
}
"""How texts name each privacy unit."""

THE_USER_COLUMN = "the user column"
"""Stands for the name of the column where nothing private may stand: a file without a header that
is read as if it had one has somebody's id for a name."""

_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        r"one user leaves and another comes",
        "one row leaves and another comes",
        "the whole file is replaced by another",
    ),
    (
        r"at most one of the sampled users is exchanged for another",
        "at most one of the sampled rows is exchanged for another",
        "the whole file is exchanged for another",
    ),
    (
        r"a user's check-ins are replaced by any others",
        "a row's check-in is replaced by any other",
        "the file's check-ins are replaced by any others",
    ),
    (
        r"where they checked in most often \(of equal ones the first in Z-order\)",
        "where it lies",
        "where most of its check-ins lie (of equal ones the first in Z-order)",
    ),
    (r"the cells they checked in to", "the cell it lies in", "the cells they lie in"),
    (
        r"their check-ins inside region and time range share it",
        "its check-in inside region and time range carries it",
        "its check-ins inside region and time range share it",
    ),
    (
        r"The number of users is not published",
        "The number of rows is not published",
        "Whether the file has check-ins is not published",
    ),
    (r"their check-ins", "its check-in", "its check-ins"),
    (r"no check-ins instead", "no check-in instead", "no check-ins instead"),
    (r"\bany one user\b", "any one row", "the whole file"),
    (r"\bone user\b", "one row", "the whole file"),
    (r"\b(each|every) user\b", r"\1 row", "the whole file"),
    (r"\b(Each|Every) user\b", r"\1 row", "The whole file"),
    (r"\ba user\b", "a row", "the file"),
    (r"\bthe user\b", "the row", "the file"),
    (r"\bThe user\b", "The row", "The file"),
    (r"\busers\b", "rows", "files"),
    (r"\bUsers\b", "Rows", "Files"),
    (r"\buser\b", "row", "file"),
)
"""Pattern, and its replacements if rows or the whole file are protected; applied in order."""


def unit_of(request: Request) -> Unit:
    """Return the privacy unit of a request's check-ins; users if it has none."""
    return Unit.USER if request.selection is None else request.selection.unit


def in_words_of(text: str, unit: Unit) -> str:
    """Return a text about users in the words of another privacy unit."""
    if unit is Unit.USER:
        return text
    for pattern, row, file in _WORDS:
        text = re.sub(pattern, row if unit is Unit.ROW else file, text)
    return text


def guarantee_in_unit(
    guarantee_of_users: Guarantee, unit: Unit, of_users: bool, column: str
) -> Guarantee:
    """Return a guarantee in the words of a privacy unit.

    Parameters
    ----------
    guarantee_of_users : Guarantee
        In words for users.
    unit : Unit
    of_users : bool
        Whether the mechanism protects users, and not single points.
    column : str
        Name of the user column; empty where it may not be named.
    """
    # Columns without names are called "column 1".
    named = f"column {column.removeprefix('column ')}" if column else THE_USER_COLUMN
    protects = (
        UNITS[unit].protects.replace("{column}", named) if of_users else guarantee_of_users.unit
    )
    return replace(
        guarantee_of_users,
        unit=protects,
        add_remove=in_words_of(guarantee_of_users.add_remove, unit),
        replace_one=in_words_of(guarantee_of_users.replace_one, unit),
        trust=in_words_of(guarantee_of_users.trust, unit),
        sentence=in_words_of(guarantee_of_users.sentence, unit),
        beside=in_words_of(guarantee_of_users.beside, unit),
    )


def condition_in_unit(condition: Condition, unit: Unit) -> Condition:
    """Return a condition in the words of a privacy unit."""
    return replace(
        condition,
        text=in_words_of(condition.text, unit),
        margin=in_words_of(condition.margin, unit),
        short=in_words_of(condition.short, unit),
    )


EXCHANGED = "at most one of the sampled users is exchanged for another"
TRUST = "The curator sees every check-in and adds the noise; everyone else sees the map."
A_DEMONSTRATION = (
    "This picture itself is a demonstration: its noise comes from a seed, in floating point."
)


def guarantee(request: Request, column: str = "") -> Guarantee:
    """Return what a request's mechanism promises.

    Parameters
    ----------
    request : Request
    column : str
        Name of the column whose values are the users, for the curator alone: it may be somebody's
        id. Without it the text says *the user column*.
    """
    mechanism = mechanism_of(request)
    promise: Guarantee = resolve_name(mechanism.guarantee)(request)
    return guarantee_in_unit(promise, unit_of(request), mechanism.unit == ONE_USER, column)


def pure(request: Request) -> Guarantee:
    """Return the promise of a mechanism that is ε-DP where one user comes or goes."""
    mechanism = mechanism_of(request)
    how = mechanism.sensitivity
    scheme = sampling_text(request)
    coming, exchanged = (sampling_level(request, kind) for kind in ("add_remove", "replace"))
    ideal = f"for the idealised {mechanism.ideal} mechanism"
    if scheme == "bottom_k":
        add_remove = (
            f"{at_most(coming)}-DP (2ε) {ideal}: {EXCHANGED}, and for each of the two {how}"
        )
        replace_one = f"{at_most(exchanged)}-DP (2ε): {EXCHANGED}"
    else:
        add_remove = f"{at_most(coming)}-DP {ideal}: {how}"
        replace_one = f"{at_most(exchanged)}-DP (2ε): one user leaves and another comes"
    return Guarantee(
        unit=mechanism.unit,
        about="whether any one user is in the data",
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "Whether any one user is in the data or not, the odds of every possible map differ by "
            f"a factor of at most {at_most(math.exp(coming))} "
            f"({'e^2ε' if scheme == 'bottom_k' else 'e^ε'}): an attacker who starts at 50 : 50 is "
            f"at most {percent_sure(best_chance(coming))} % sure afterwards. {A_DEMONSTRATION}"
        ),
        pairs=((coming, 0.0),),
        references=sources(request),
    )


def with_earlier(request: Request) -> Guarantee:
    """Return the promise of a map that earlier releases complete: their ε is in the sum.

    The map's noisy counts and the releases' numbers were drawn apart, so that their ε add up for
    whatever is made of both. Rounded up.
    """
    promise, earlier = pure(request), earlier_epsilon(request)
    if not earlier:
        return promise
    coming = float_up(Fraction(promise.pairs[0][0]) + earlier)
    exchanged = float_up(Fraction(sampling_level(request, "replace")) + 2 * earlier)
    own = f"ε = {at_most(request['epsilon'])} of this map and {at_most(float_up(earlier))} of the"
    both = f"{own} earlier release{'s' * (len(used_releases(request)) > 1)}"
    return replace(
        promise,
        add_remove=f"{at_most(coming)}-DP for the idealised mechanism: {both} add up",
        replace_one=f"{at_most(exchanged)}-DP: one user leaves and another comes; both count twice",
        sentence=(
            f"The map alone depends on both: {both} are in the sum. Whether any one user is in the "
            "data or not, the odds of every possible map differ by a factor of at most "
            f"{at_most(math.exp(coming))}: an attacker who starts at 50 : 50 is at most "
            f"{percent_sure(best_chance(coming))} % sure afterwards. {A_DEMONSTRATION}"
        ),
        pairs=((coming, 0.0),),
    )


def float_up(exact: Fraction) -> float:
    """Return the least float that is not below a number."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def twice_with_earlier(request: Request) -> str:
    """Return the level of `with_earlier` at which one user may be replaced."""
    earlier = earlier_epsilon(request)
    return f"2(ε + {at_most(float_up(earlier))})" if earlier else "2ε"


def epsilon_distance(request: Request) -> str:
    """Return the distance for which ε is stated: ``200 m``, or in the unit of a plane."""
    return f"{format_number(request['radius'])} {request.unit_values.get(PLANE, 'm')}"


def sampling_text(request: Request) -> Scheme:
    """Return how users are sampled."""
    selection = request.selection
    if selection is None or not selection.sampled:
        return "all"
    return "poisson" if selection.users is None else "bottom_k"


def sampling_level(request: Request, adjacency: Adjacency) -> float:
    """Return the ε of pure mechanisms towards all users of the file."""
    bound = heatmaps.sampling_guarantee(
        request["epsilon"], sampling_text(request), "public", adjacency
    )
    return float(bound.value)


def sample_sentence(request: Request) -> str:
    """Return what a sample of users costs, with a space behind; empty without one."""
    scheme, selection = sampling_text(request), request.selection
    once = level(request) if "delta" in mechanism_of(request).uses else "ε"
    twice = replacement(request)
    comes = mechanism_of(request).neighbouring == "add_remove"
    if scheme == "bottom_k" and selection is not None and selection.users is not None:
        users = "user" if selection.users == 1 else "users"
        picked = f"From at most {selection.users:,} {users} picked by a public rule. "
        if comes:
            return (
                f"{picked}Adding, removing or replacing one user costs at most {twice}; users not "
                "picked are not used. "
            )
        # With fewer users than asked for, the number of messages changes when one comes or goes.
        return (
            f"{picked}Replacing one user costs at most {twice}, and so does adding or removing one "
            f"where at least {selection.users:,} others are in the file, which exchanges one "
            "sampled user; with fewer it is not covered. Users not picked are not used. "
        )
    if scheme == "poisson":
        costs = (
            f"adding or removing one costs {once}, replacing" if comes else "replacing one costs"
        )
        return f"Each user is in or out by a public rule; {costs} {twice}. "
    return ""


def sources(request: Request) -> tuple[Reference, ...]:
    """Return where a request's guarantee comes from."""
    references = mechanism_of(request).references
    return references if sampling_text(request) == "all" else (*references, SAMPLED)


def gaussian(request: Request) -> Guarantee:
    """Return what Gaussian noise promises but for a probability of δ."""
    mechanism = mechanism_of(request)
    delta: float = request["delta"]
    exchanges = sampling_text(request) == "bottom_k"
    epsilon = _wider(request["epsilon"], delta) if exchanges else request["epsilon"]
    ideal = f"for the idealised {mechanism.ideal} mechanism"
    moves = "which moves the counts by at most √2 in ℓ2 instead of 1"
    if exchanges:
        add_remove = f"{replacement(request)}-DP {ideal}: {EXCHANGED}, {moves}"
        replace_one = f"{replacement(request)}-DP: {EXCHANGED}, {moves}"
    else:
        add_remove = f"{level(request)}-DP {ideal}: {mechanism.sensitivity}"
        replace_one = f"{replacement(request)}-DP: one user leaves and another comes, {moves}"
    return Guarantee(
        unit=mechanism.unit,
        about="whether any one user is in the data",
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "An attacker who starts at 50 : 50 on whether any one user is in the data is right at "
            f"most {percent_sure(best_chance(epsilon, delta))} % of the time after seeing the map. "
            f"{A_DEMONSTRATION}"
        ),
        pairs=((epsilon, delta),),
        references=sources(request),
    )


def level(request: Request) -> str:
    """Return the level that the settings ask for, in words."""
    return f"({at_most(request['epsilon'])}, {at_most(request['delta'])})"


@lru_cache(maxsize=16)
def _wider(epsilon: float, delta: float) -> float:
    """Return the ε of Gaussian noise when a user is replaced; used in three texts."""
    return heatmaps.gaussian_epsilon_of_replacement(epsilon, delta)


def replacement(request: Request) -> str:
    """Return the level at which one user may be replaced by another: ``2ε``, ``(1.455, 1e-6)``."""
    text: str = resolve_name(mechanism_of(request).replacement)(request)
    return text


def twice(request: Request) -> str:
    """Return the level at which pure mechanisms let one user be replaced."""
    return "2ε"


def wider(request: Request) -> str:
    """Return the level at which Gaussian noise lets one user be replaced."""
    epsilon, delta = request["epsilon"], request["delta"]
    return f"({at_most(_wider(epsilon, delta))}, {at_most(delta)})"


CAME_FROM = {
    Origin.PUBLIC: "a constant of the program, its sample or a paper",
    Origin.TYPED: "typed in: whoever chose it must vouch for that",
    Origin.STAND_IN: "found on a stand-in: whoever took it must vouch that it is none of this data",
    Origin.THEORY: "from proved bounds for n₀ users: whoever took it must vouch for n₀ and w",
    Origin.UNKNOWN: "not known where it came from: whoever chose it must vouch for that",
    Origin.DRAWN: "drawn or dragged over the map of the check-ins: not private",
    Origin.BUSIEST: "picked from the cells with most check-ins: not private",
    Origin.FIRST: "region was chosen automatically from the data; this choice is not private",
    Origin.EXTENT: "the extent of the check-ins, found by the program: not private",
    Origin.JUDGED: "“Utility” judged these check-ins: judge on a stand-in instead",
}
"""Texts on the origin of a choice."""

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
    return tuple(condition_in_unit(condition, unit) for condition in _for_users(request))


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
        *contributions.declarations(request),
        *(resolve_name(mechanism.conditions)(request) if mechanism.conditions else ()),
        *_assumptions(request),
        *([published] if mechanism.neighbouring == "add_remove" else []),
        Condition(
            "Nothing else is released from the same check-ins"
            + ", apart from the earlier release" * bool(used_releases(request)),
            None,
            "every new ε is a new release, and their ε add up"
            + ", as their δ do" * ("delta" in mechanism.uses),
            short="Nothing else is released from these data",
        ),
        Condition(
            "Noise is cryptographically random and exact",
            False,
            "not in this preview: seeded and in floating point; do not publish it",
            short="Noise is cryptographically random and exact (not in this preview)",
        ),
    )


def of_priors(request: Request) -> tuple[Condition, ...]:
    """Return what public priors rest on."""
    earlier = tuple(
        Condition(
            f"Release {one.id[:8]}… is about these people; its ε = "
            f"{at_most(float_up(one.total))} counts too",
            None,
            f"ε of this map is at most {MOST_EPSILON} · {format_number(float(one.epsilon))}; other "
            "people's release is a public grid",
            short=f"Counts too: ε = {at_most(float_up(one.total))}, release {one.id[:4]}…",
        )
        for one in used_releases(request)
    )
    return (
        *earlier,
        Condition(
            "The priors are public, and nobody looked at the data to choose them",
            None,
            "no file about these people, and none picked by its error on them",
            short="The priors are public, not from data",
        ),
    )


def _assumptions(request: Request) -> tuple[Condition, ...]:
    """Return whether region, time range and settings were chosen without looking at the data."""
    selection = request.selection
    rows = [_settings(request)]
    if selection is None:
        return tuple(rows)
    if selection.start is not None or selection.end is not None:
        rows.insert(0, _condition("The time range", selection.time_origin))
    rows.insert(0, _condition("The region", selection.region_origin))
    return tuple(rows)


def _condition(subject: str, origin: Origin) -> Condition:
    return Condition(
        f"{subject} was chosen without looking at the data",
        origin.independent,
        CAME_FROM[origin],
        short=f"{subject.removeprefix('The ').capitalize()} was chosen without the data",
    )


def _settings(request: Request) -> Condition:
    """Return the condition on all that is set with sliders, and on the sample of users."""
    values, selection = dict(request.values), request.selection
    shown = [p for p in _SETTINGS if relevant(p, values, "")]
    assumed = any(p.key == "n0" for p in shown)
    sampled = selection is not None and selection.sampled
    text = ", ".join(p.symbol for p in shown) + " and the sample of users" * sampled
    text += " were chosen without looking at the data"
    condition = partial(Condition, text, short="Settings were chosen without the data")
    if selection is not None and selection.epsilon_from.independent is False:
        return condition(False, f"ε: {CAME_FROM[selection.epsilon_from]}")
    if selection is not None and selection.settings_from.independent is False:
        return condition(False, f"a setting: {CAME_FROM[selection.settings_from]}")
    if selection is not None and assumed and selection.n0_from.independent is False:
        return condition(False, f"n₀: {CAME_FROM[selection.n0_from]}")
    came = Origin.TYPED if selection is None else selection.epsilon_from
    unrelated = came in (Origin.STAND_IN, Origin.THEORY)
    if not unrelated and _of_a_paper(request):
        return condition(True, "as in a paper's figure")
    changed = [
        p.symbol for p in shown if values[p.key] != p.default or unrelated * (p.symbol == "ε")
    ]
    if sampled:
        changed.append("the sample")
    if not changed:
        return condition(True, "the program's defaults")
    vouch = f"whoever chose {', '.join(changed)} must vouch for that"
    if unrelated:
        vouch += f"; ε was {CAME_FROM[came]}"
    return condition(None, f"{vouch}; {_OWN_COUNT}" if assumed else vouch)


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
