"""The curves of a user's requirements."""

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.privacy.user_metric import alpha_from_requirements
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Handle, Mark, Request, Series
from explorer.studies.base.sweeping import SweptPoints, series_from
from explorer.studies.choose_alpha import text
from explorer.studies.choose_alpha.requirements import Requirements, distance_of
from explorer.studies.metric_space.choice import ChosenSpace
from explorer.studies.metric_space.parameters import UNITLESS

LEVELS = (0.1, 0.5, 1.0, 2.0)
"""Levels of ε always drawn in the plane of changes."""
SHARES = ((0.01, "1/100 of the data"), (1 / 7, "1/7 of the data"), (1.0, "all of the data"))
"""Fractions always drawn when ε is, beside the one looked at: little, a day of a week, all."""


def looked_at(points: SweptPoints, request: Request, space: ChosenSpace) -> FloatArray:
    """Return the share of the diameter that the change looked at moves by, at every point.

    May be above 1 on the axis of distances; the last point is the sliders' own.
    """
    own = distance_of(request, space, "") / space.diameter
    if points.sweep.key in ("q", "moved_q"):
        return np.append(points.x, own)
    if points.sweep.key == "moved":
        return np.append(points.x / space.diameter, own)
    return np.full(points.x.size + 1, own)


def iso_curves(
    points: SweptPoints, q: FloatArray, asked: Requirements, alpha: float
) -> tuple[Series, ...]:
    """Return τ = ε/(αq), at most 1, at the levels of ε asked for and at some others."""
    named: dict[float, list[int]] = {}
    for i, eps in enumerate(asked.eps):
        named.setdefault(float(eps), []).append(i + 1)
    curves = []
    for level, which in named.items():
        numbers = ", ".join(map(str, which))
        label = f"ε = {nearest(level)}, as asked in requirement{'s' * (len(which) > 1)} {numbers}"
        curves.append((f"requirement_{which[0]}", label, level))
    curves += [
        (f"level_{level:g}", f"ε = {level:g}", level) for level in LEVELS if level not in named
    ]
    return tuple(_iso(key, label, level, points, q, alpha) for key, label, level in curves)


def _iso(
    key: str, label: str, level: float, points: SweptPoints, q: FloatArray, alpha: float
) -> Series:
    with np.errstate(divide="ignore", over="ignore"):
        # Where even all data may move that far the line runs along the top.
        tau = np.minimum(level / (alpha * q), 1.0)
    holds = q <= 1
    why = "" if holds.all() else text.TOO_FAR
    # At least so much may move: data sets may be nearer to each other than qτ.
    bound = Bound(np.where(holds, tau, np.nan), Role.LOWER, text.SETTING, holds, why)
    return series_from(key, label, points, bound, note=text.BELOW)


def asked_dots(points: SweptPoints, asked: Requirements, space: ChosenSpace, height: str) -> Series:
    """Return the requirements as dots that can be dragged, `height` ("eps", "tau") being y."""
    shares = points.sweep.key in ("q", "moved_q")
    x = asked.q if shares else asked.distance
    sets, factor = "q" if space.kind in UNITLESS else "distance", 1.0
    if points.sweep.key == "tau":
        x, sets = asked.tau, "tau"
    elif shares and sets == "distance":
        factor = space.diameter
    y = asked.eps if height == "eps" else asked.tau
    order = np.argsort(x, kind="stable")
    return Series(
        "asked",
        "your requirements",
        Role.BASELINE,
        x[order],
        y[order],
        text.SETTING,
        note="each with its own ε and share of the data; drag them",
        mark=Mark.DOTS,
        handles=tuple(
            Handle(str(i), f"{sets}{i}", f"{height}{i}", factor) for i in (order + 1).tolist()
        ),
    )


def epsilon_curves(
    points: SweptPoints, q: FloatArray, asked: Requirements, alpha: float, space: ChosenSpace
) -> tuple[Series, ...]:
    """Return ε = αqτ for the share on the slider and for some others, and α itself."""
    series = []
    tau = points["tau"]
    here = q <= 1
    why = "" if here.all() else text.TOO_FAR
    own = Bound(np.where(here, alpha * q * tau, np.nan), Role.UPPER, text.SETTING, here, why)
    if points.sweep.key == "tau":
        series.append(series_from("change", "at the distance looked at", points, own))
    else:
        label = f"{text.share(float(tau[-1]))} moves: the change looked at"
        series.append(series_from("change", label, points, own))
        for fraction, words in SHARES:
            value = np.where(here, alpha * q * fraction, np.nan)
            bound = Bound(value, Role.UPPER, text.SETTING, here, why)
            series.append(series_from(f"share_{fraction:.3f}", f"{words} moves", points, bound))
    whole = Bound(np.full(q.shape, alpha), Role.UPPER, text.USER_LEVEL)
    series.append(series_from("any", "any change of all data: ε = α", points, whole))
    series.append(asked_dots(points, asked, space, "eps"))
    return tuple(series)


def alpha_curves(
    points: SweptPoints, request: Request, space: ChosenSpace
) -> tuple[tuple[Series, ...], Bound]:
    """Return α for all requirements and for each alone, and the bound of the first."""
    used = range(1, int(request["requirements"]) + 1)
    prefix = "q" if space.kind in UNITLESS else "distance"
    eps = np.stack([points[f"eps{i}"] for i in used], axis=-1)
    tau = np.stack([points[f"tau{i}"] for i in used], axis=-1)
    q = np.stack([points[f"{prefix}{i}"] for i in used], axis=-1) / space.diameter
    capped = np.minimum(q, 1.0)
    all_of_them = Bound(alpha_from_requirements(eps, capped, tau), Role.EXACT, text.SETTING)
    series = [series_from("alpha", "all requirements", points, all_of_them, note=text.LARGEST)]
    for i in range(eps.shape[-1]):
        column = slice(i, i + 1)
        alone = alpha_from_requirements(eps[:, column], capped[:, column], tau[:, column])
        bound = Bound(alone, Role.BASELINE, text.SETTING)
        series.append(series_from(f"alone_{i + 1}", f"requirement {i + 1} alone", points, bound))
    return tuple(series), all_of_them
