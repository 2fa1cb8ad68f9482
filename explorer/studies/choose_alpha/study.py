"""From changes that must be protected to α, and from α to the ε of every change."""

import math
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.privacy.user_metric import alpha_from_requirements
from explorer.studies.base.builders import choice, real
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy, Points
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import is_right, odds
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.result import Handle, Mark
from explorer.studies.base.study import (
    Condition,
    Guarantee,
    Headline,
    Parameter,
    Quantity,
    Result,
    ScalarResult,
    Scale,
    Series,
    Table,
)
from explorer.studies.base.sweeping import scalar_from, series_from
from explorer.studies.choose_alpha.help import PAGE, PRESETS
from explorer.studies.choose_alpha.theory import (
    SETTING,
    USER_LEVEL,
    Requirements,
    distance_of,
    requirements_of,
    share_at_level,
)
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.parameters import UNITLESS, WITH_UNIT, space_parameters
from explorer.studies.metric_space.space import RequestSpace

MAX_REQUIREMENTS = 4
MAX_DISTANCE_M = 2.5e7
"""Half the Earth's circumference is 2.004e7 metres."""
LEVELS = (0.1, 0.5, 1.0, 2.0)
"""Levels of ε always drawn in the plane of changes."""
SHARES = (
    ("share_0.010", "1/100 of the data moves", 0.01),
    ("share_0.143", "1/7 of the data moves", 1 / 7),
    ("share_1.000", "all of the data moves", 1.0),
)
"""Shares of the data always drawn when ε is: little, a day of a week, all."""

_NUMBERS = range(1, MAX_REQUIREMENTS + 1)
_SUBSCRIPTS = "₁₂₃₄"
_ORDINALS = ("first", "second", "third", "fourth")
_DEFAULTS = (
    (0.2, 1000.0, 0.08, 1 / 30),
    (0.2, 100.0, 0.008, 1.0),
    (1.0, 500.0, 0.04, 0.5),
    (0.1, 5.0, 0.001, 1.0),
)
"""ε, distance in the space's unit, q and τ of each requirement; the first two are the paper's."""


def _requirement_parameters(i: int) -> tuple[Parameter, ...]:
    """Return the parameters of requirement i (from 1): relevant while at least i are in use."""
    eps, distance, q, tau = _DEFAULTS[i - 1]
    subscript, ordinal = _SUBSCRIPTS[i - 1], _ORDINALS[i - 1]
    used = ("requirements", tuple(str(n) for n in range(i, MAX_REQUIREMENTS + 1)))
    return (
        real(
            f"eps{i}",
            f"ε{subscript}",
            f"{ordinal} change: privacy asked",
            "The largest privacy parameter that is acceptable for this change of a user's data. "
            "Smaller is more private.",
            eps,
            1e-3,
            20.0,
            more_private="low",
            latex=rf"\varepsilon_{i}",
            relevant_when=(used,),
        ),
        real(
            f"distance{i}",
            f"d{subscript}",
            f"{ordinal} change: distance",
            "How far the items moved go on average, in the unit of the space. A longer "
            "distance is more private.",
            distance,
            1e-3,
            MAX_DISTANCE_M,
            more_private="high",
            latex=f"d_{i}",
            relevant_when=(used, ("space", WITH_UNIT)),
            unit_from="space_unit",
        ),
        real(
            f"q{i}",
            f"q{subscript}",
            f"{ordinal} change: distance",
            "How far the items moved go on average, as a share of the largest distance. A "
            "longer distance is more private.",
            q,
            1e-4,
            1.0,
            more_private="high",
            latex=f"q_{i}",
            relevant_when=(used, ("space", UNITLESS)),
        ),
        real(
            f"tau{i}",
            f"τ{subscript}",
            f"{ordinal} change: share of the data",
            "Which part of a user's data moves: 1/30 is one day of a month. A larger "
            "share is more private.",
            tau,
            1e-5,
            1.0,
            more_private="high",
            latex=rf"\tau_{i}",
            relevant_when=(used,),
        ),
    )


PARAMETERS = (
    choice(
        "requirements",
        "",
        "requirements",
        "How many kinds of change must be protected. α meets all of them.",
        "2",
        (("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")),
    ),
    *(p for i in _NUMBERS for p in _requirement_parameters(i)),
    real(
        "moved",
        "d",
        "example change: distance",
        "An example change of a user's data, whose ε is shown: how far its items move on average, "
        "in the unit of the space.",
        100.0,
        1e-3,
        MAX_DISTANCE_M,
        quantities=("eps", "fraction"),
        relevant_when=(("space", WITH_UNIT),),
        unit_from="space_unit",
    ),
    real(
        "moved_q",
        "q",
        "example change: distance",
        "An example change of a user's data, whose ε is shown: how far its items move on average, "
        "as a share of the largest distance.",
        0.01,
        1e-4,
        1.0,
        quantities=("eps", "fraction"),
        relevant_when=(("space", UNITLESS),),
    ),
    real(
        "tau",
        "τ",
        "example change: share of the data",
        "Which part of a user's data moves in the example change.",
        1 / 30,
        1e-5,
        1.0,
        latex=r"\tau",
        quantities=("eps", "fraction"),
    ),
    real(
        "q",
        "q",
        "distance moved, share of the largest",
        "Distance divided by the diameter of the space: an axis.",
        0.01,
        1e-4,
        1.0,
        axis_only=True,
    ),
    *space_parameters(),
)


class AlphaPoints(Points):
    """Points of a sweep with the requirements at the sliders."""

    @cached_property
    def requirements(self) -> Requirements:
        """Requirements at the sliders' values."""
        return requirements_of(self.request, self.space)

    @cached_property
    def alpha(self) -> float:
        """The α that meets all of them."""
        return self.requirements.alpha

    @cached_property
    def q_moved(self) -> FloatArray:
        """Distance of the change looked at, as a share of the diameter; above 1 it is too far."""
        own = distance_of(self.request, self.space) / self.space.diameter
        if self.swept.sweep.key in ("q", "moved_q"):
            return np.append(self.swept.x, own)
        if self.swept.sweep.key == "moved":
            return np.append(self.swept.x / self.space.diameter, own)
        return np.full(self.swept.x.size + 1, own)

    def alpha_of(self, numbers: range) -> FloatArray | None:
        """Return the α that meets some requirements, at all points; None if one is not in use."""
        if numbers[-1] > int(self.request["requirements"]):
            return None
        distance = "q" if self.space.kind in UNITLESS else "distance"
        eps, tau, far = (
            np.stack([self.swept[f"{key}{i}"] for i in numbers], axis=-1)
            for key in ("eps", "tau", distance)
        )
        q = np.minimum(far / self.space.diameter, 1.0)
        return np.asarray(alpha_from_requirements(eps, q, tau))


def _headline(result: Result, _claimed: ClaimedBound | None) -> Headline | None:
    here = {r.key: r.value for r in result.readouts}
    alpha, unit, binding = (here.get(k) for k in ("alpha", "per_unit", "binding"))
    if alpha is None or unit is None:
        return None
    count, number = int(result.request["requirements"]), f"α = {at_least(alpha)}"
    per = next(r.unit.partition("/")[2] for r in result.readouts if r.key == "per_unit")
    meets = f"{number} ({at_least(unit)} per {per or 'unit of distance'}) meets"
    if count == 1 or binding is None:
        return Headline(f"{number} 1/diameter", f"{meets} the requirement.")
    all_of, tighter = ("both", "tighter") if count == 2 else (f"all {count}", "tightest")
    return Headline(
        f"{number} 1/diameter",
        f"{meets} {all_of} requirements; requirement {binding:g} is the {tighter} one.",
    )


def _numbers_at(p: AlphaPoints, level: float) -> list[int]:
    """Return the numbers of the requirements with ε = `level`."""
    return [i for i, eps in enumerate(p.requirements.eps, 1) if float(eps) == level]


def _level_of(i: int) -> Callable[[AlphaPoints], float | None]:
    """Return a function to ε of requirement i, None if an earlier one has the same."""

    def level(p: AlphaPoints) -> float | None:
        request = p.requirements.eps
        if i > request.size or _numbers_at(p, float(request[i - 1]))[0] != i:
            return None
        return float(request[i - 1])

    return level


def _fixed_level(level: float) -> Callable[[AlphaPoints], float | None]:
    """Return a function to a level of ε, None if a requirement has the same."""
    return lambda p: None if _numbers_at(p, level) else level


def _level_curve(
    key: str,
    label: str | Callable[[AlphaPoints], str],
    short: str,
    level: Callable[[AlphaPoints], float | None],
    primary: bool,
) -> Curve:
    """Return the curve of all changes with one ε."""

    def value(p: AlphaPoints) -> FloatArray | None:
        eps = level(p)
        return None if eps is None else share_at_level(eps, p.alpha, p.q_moved)

    return Curve(
        key,
        label,
        short,
        # Data sets may be nearer to each other than qτ: at least so much may move.
        Role.LOWER,
        SETTING,
        value,
        where=_within,
        why=_TOO_FAR,
        note=(
            "whatever lies on the line or below it has at most this ε; at 1 all data may move that "
            "far"
        ),
        primary=int(primary),
    )


def _requirement_label(i: int, p: AlphaPoints) -> str:
    eps = float(p.requirements.eps[i - 1])
    numbers = _numbers_at(p, eps)
    listed = ", ".join(map(str, numbers))
    return f"ε = {nearest(eps)}, as asked in requirement{'s' * (len(numbers) > 1)} {listed}"


def _within(p: AlphaPoints) -> BoolArray:
    return p.q_moved <= 1


_TOO_FAR = "farther than the space is wide"
_LARGEST = "the largest α that meets all requirements; any smaller one is more private"


def _change_label(p: AlphaPoints) -> str:
    if p.swept.sweep.key == "tau":
        return "at the example distance"
    return f"{share_text(p.here.tau)} moves: the example change"


def _share_value(share: float, p: AlphaPoints) -> FloatArray | None:
    return None if p.swept.sweep.key == "tau" else p.alpha * p.q_moved * share


def _requirement_dots(height: str, curve: Curve, p: AlphaPoints) -> Series:
    """Return the requirements as dots that can be dragged, `height` ("eps", "tau") being y."""
    request, swept = p.requirements, p.swept
    shares = swept.sweep.key in ("q", "moved_q")
    x = request.q if shares else request.distance
    sets, factor = "q" if p.space.kind in UNITLESS else "distance", 1.0
    if swept.sweep.key == "tau":
        x, sets = request.tau, "tau"
    elif shares and sets == "distance":
        factor = p.space.diameter
    y = request.eps if height == "eps" else request.tau
    order = np.argsort(x, kind="stable")
    return Series(
        curve.key,
        "your requirements",
        curve.role,
        x[order],
        y[order],
        curve.source,
        note="each with its own ε and share of the data; drag them",
        mark=Mark.DOTS,
        handles=tuple(
            Handle(str(i), f"{sets}{i}", f"{height}{i}", factor) for i in (order + 1).tolist()
        ),
    )


def _dots(height: str) -> Curve:
    return Curve(
        "asked",
        "your requirements",
        "your requirements",
        Role.BASELINE,
        SETTING,
        mark=Mark.DOTS,
        draw=partial(_requirement_dots, height),
    )


_SLIDERS = ("requirements", "eps1", "distance1", "tau1")

PLOTS = (
    Plot(
        Quantity(
            "fraction",
            "τ",
            "share of the data that may move",
            ("q", "moved", "moved_q"),
            scale=Scale.LOG,
            latex=r"\tau",
        ),
        (
            *(
                _level_curve(
                    f"requirement_{i}",
                    partial(_requirement_label, i),
                    f"as asked in requirement {i}",
                    _level_of(i),
                    primary=i <= 2,
                )
                for i in _NUMBERS
            ),
            *(
                _level_curve(
                    f"level_{level:g}", f"ε = {level:g}", "", _fixed_level(level), level == 1
                )
                for level in LEVELS
            ),
            _dots("tau"),
        ),
        sliders=_SLIDERS,
        headline=_headline,
    ),
    Plot(
        Quantity(
            "eps",
            "ε",
            "privacy of a change",
            ("q", "moved", "moved_q", "tau"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        (
            Curve(
                "change",
                _change_label,
                "the example change",
                Role.UPPER,
                SETTING,
                lambda p: p.alpha * p.q_moved * p.tau,
                where=_within,
                why=_TOO_FAR,
            ),
            *(
                Curve(
                    key,
                    label,
                    "",
                    Role.UPPER,
                    SETTING,
                    partial(_share_value, share),
                    where=_within,
                    why=_TOO_FAR,
                )
                for key, label, share in SHARES
            ),
            Curve(
                "any",
                "any change of all data: ε = α",
                "any change: ε = α",
                Role.UPPER,
                USER_LEVEL,
                lambda p: np.full(p.q_moved.shape, p.alpha),
                primary=0,
            ),
            _dots("eps"),
        ),
        sliders=_SLIDERS,
        headline=_headline,
    ),
    Plot(
        Quantity(
            "alpha",
            "α",
            "largest that meets the requirements",
            tuple(f"{name}{i}" for name in ("eps", "distance", "q", "tau") for i in _NUMBERS),
            scale=Scale.LOG,
            unit="1/diameter",
            latex=r"\alpha",
        ),
        (
            Curve(
                "alpha",
                "all requirements",
                "all requirements",
                Role.EXACT,
                SETTING,
                lambda p: p.alpha_of(range(1, int(p.request["requirements"]) + 1)),
                note=_LARGEST,
            ),
            *(
                Curve(
                    f"alone_{i}",
                    f"requirement {i} alone",
                    "",
                    Role.BASELINE,
                    SETTING,
                    partial(AlphaPoints.alpha_of, numbers=range(i, i + 1)),
                )
                for i in _NUMBERS
            ),
        ),
        sliders=_SLIDERS,
        headline=_headline,
    ),
)


@with_tradeoff()
class ChooseAlpha(CurveStudy):
    """α for a list of requirements (ε, distance, share of the data), on any metric space."""

    id = "choose-alpha"
    parameters = PARAMETERS
    plots = PLOTS
    points = AlphaPoints
    page = PAGE
    presets = PRESETS

    def result(self, p: AlphaPoints, *, complete: bool) -> Result:
        """Return the answer; without numbers while the file of the space is not yet chosen."""
        if p.space.metric is None:
            return _without_space(p, complete)
        return super().result(p, complete=complete)

    def readouts(self, p: AlphaPoints) -> tuple[ScalarResult, ...]:
        """Return α, the binding requirement, and ε of the example change."""
        space = p.space
        result = [ScalarResult("alpha", "α, per diameter", p.alpha, Role.EXACT, note=_LARGEST)]
        if space.unit:
            per_unit = p.alpha / space.diameter
            result.append(
                ScalarResult("per_unit", "α, per unit", per_unit, Role.EXACT, f"1/{space.unit}")
            )
        result += [
            ScalarResult("binding", "tightest requirement", float(p.requirements.binding + 1)),
            ScalarResult("change", "ε of the example change", _epsilon_of_change(p), Role.UPPER),
            ScalarResult("diameter", "diameter", space.diameter, unit=space.unit),
        ]
        return tuple(result)

    def tables(self, p: AlphaPoints) -> tuple[Table, ...]:
        """Return the requirements with the α each needs and the ε each gets."""
        request, rows = p.requirements, []
        for i, alone in enumerate(request.alone):
            given = p.alpha * float(request.q[i]) * float(request.tau[i])
            slack = float(request.eps[i]) / given
            rows.append(
                (
                    f"{i + 1}",
                    float(request.eps[i]),
                    length_text(float(request.distance[i]), p.space),
                    float(request.q[i]),
                    share_text(float(request.tau[i])),
                    float(alone),
                    given,
                    odds(given),
                    "tightest" if i == request.binding else f"met with {nearest(slack)}× to spare",
                )
            )
        columns = (
            *("no.", "ε asked", "distance", "q", "share that moves"),
            *("α alone", "ε given", "odds", ""),
        )
        return (
            Table(
                "requirements",
                "Requirements",
                columns,
                tuple(rows),
                note=(
                    "α is the smallest of the column “α alone”; the ε given is α·q·τ, an upper "
                    f"bound. Source: {SETTING.paper}, {SETTING.where}."
                ),
                roles=(*[None] * 5, Role.LOWER, Role.UPPER),
            ),
        )

    def conditions(self, p: AlphaPoints) -> tuple[Condition, ...]:
        """Return the premises of the numbers."""
        request, space = p.requirements, p.space
        far = [
            f"d = {length_text(d, space)} in requirement {i}"
            for i, (d, bad) in enumerate(zip(request.distance, request.too_far, strict=True), 1)
            if bad
        ]
        farthest = f"farthest {length_text(float(request.distance.max()), space)}, "
        diameter = f"diameter {length_text(space.diameter, space)}"
        return (
            Condition(
                "No requirement asks about more than the largest distance (else that distance is "
                "taken)",
                not far,
                ("; ".join(far) + "; " if far else farthest) + diameter,
                short="No requirement exceeds the diameter",
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

    def guarantee(self, p: AlphaPoints) -> Guarantee:
        """Return what α promises, and the ε of the example change."""
        alpha, space, epsilon = p.alpha, p.space, _epsilon_of_change(p)
        distance = min(distance_of(p.request, space), space.diameter)
        per_unit = f" = {at_least(alpha / space.diameter)} per {space.unit}" if space.unit else ""
        return Guarantee(
            unit="one user's whole data set; small changes are protected more",
            replace_one=(
                f"(α·w, δ) when a user's data are replaced by others at earth mover's distance w: "
                f"α = {at_least(alpha)} per diameter{per_unit}; never more than "
                f"ε = {at_least(alpha)}, as w ≤ 1"
            ),
            add_remove=(
                "not covered: the number of users is fixed and public; a user's number of items "
                "too (bounded), unless the release draws from them first (see “Unbounded data”)"
            ),
            trust=(
                "Local model: everybody but the user sees only the user's own private messages. "
                "Central model: the curator sees all data, everybody else the release. α is a "
                "choice; a mechanism must then be made to satisfy it (see “Item-wise release”)."
            ),
            sentence=change_sentence(epsilon, float(p.request["tau"]), distance, space),
            pairs=((epsilon, 0.0),),
            qualified=True,
            about=f"whether you moved {change_text(float(p.request['tau']), distance, space)}, "
            "if the mechanism has δ = 0",
            references=(SETTING, USER_LEVEL),
            differences=(
                f"α is no ε: it has the unit 1/distance, so α = {nearest(alpha)} protects a change "
                f"of w = 0.01 at ε = {at_most(alpha / 100)}, and only one across the whole space "
                f"at ε = {nearest(alpha)}.",
                "The straight lines of one ε in the plane of changes are exact for data that move "
                "by q on average; the earth mover's distance of the two data sets may be smaller "
                "than qτ (other items may fill the gap), and ε with it.",
            ),
        )


def _epsilon_of_change(p: AlphaPoints) -> float:
    distance = distance_of(p.request, p.space)
    return p.alpha * min(distance / p.space.diameter, 1.0) * float(p.request["tau"])


def _without_space(p: AlphaPoints, complete: bool) -> Result:
    """Return an answer without numbers, which asks for the file of the space."""
    missing = p.space.missing
    nowhere = np.full(p.swept.x.size + 1, np.nan)
    bound = Bound(nowhere, Role.EXACT, SETTING, np.zeros(nowhere.shape, bool), missing)
    labels = {"alpha": "all requirements", "eps": "the example change", "fraction": "ε asked"}
    return Result(
        p.request,
        p.fidelity,
        series=(series_from("alpha", labels[p.request.quantity], p.swept, bound),),
        space=p.space.picture,
        readouts=(scalar_from("alpha", "α, per diameter", bound),),
        conditions=(Condition("The metric space is given", False, missing),),
        notes=(missing,),
        complete=complete,
    )


def share_text(tau: float) -> str:
    """Write a share of the data: ``all of the data``, ``1/30 of the data``, ``12.5 %``."""
    if tau >= 1:
        return "all of the data"
    parts = 1 / tau
    if parts < 1e6 and abs(parts - round(parts)) < 1e-6 * parts:
        return f"1/{round(parts):,} of the data"
    return f"{nearest(100 * tau)} % of the data"


def length_text(distance: float, space: RequestSpace) -> str:
    """Write a distance with its unit: ``100 mi``; a share of the diameter where there is none."""
    number = f"{distance:,.0f}" if 100 <= distance < 1e15 else f"{nearest(distance)}"
    return f"{number} {space.unit}" if space.unit else number


def factor_text(epsilon: float) -> str:
    """Write e^ε rounded up: ``1.23``."""
    return f"e^{at_most(epsilon)}" if epsilon > 20 else at_most(math.exp(epsilon))


def change_text(tau: float, distance: float, space: RequestSpace) -> str:
    """Write a change of a user's data: ``1/30 of your data by 100 mi``."""
    far = length_text(distance, space)
    by = f"by {far}" if space.unit else f"by {far} of the largest distance"
    return f"{share_text(tau).replace('the data', 'your data')} {by}"


def change_sentence(epsilon: float, tau: float, distance: float, space: RequestSpace) -> str:
    """Return one sentence about a change of a user's data."""
    change = change_text(tau, distance, space)
    times = f" ({factor_text(epsilon)} times)" if epsilon <= 20 else ""
    return (
        f"Moving {change} changes any outcome's odds by at most e^{at_most(epsilon)}{times}: an "
        f"attacker who starts at 50 : 50 on whether you did {is_right(epsilon)}. If the mechanism "
        "has a δ, they are right at most that often, plus δ/2, and single outcomes may say more."
    )
