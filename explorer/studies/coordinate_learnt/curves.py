"""Curves of tests, beliefs and levels on the small domain."""

from collections.abc import Sequence

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.studies.base.study import Mark, Series
from explorer.studies.base.sweeping import SweptPoints, series_from
from explorer.studies.coordinate_learnt import text
from explorer.studies.coordinate_learnt.domain import Domain, Levels, easiest_pair

_FEW_OUTPUTS = 4


def tradeoff_curves(
    domain: Domain, found: Levels, place: int, points: SweptPoints
) -> tuple[Series, ...]:
    """Return the best tests about a coordinate, and what each level allows."""
    alpha = points["type1"]
    level = float(found.bcdp[place])
    bound = co.tradeoff_bound(level, alpha)
    region = Bound(bound, Role.LOWER, text.THEOREM_1)
    series = [
        series_from(
            "region",
            f"Theorem 1, δ = {text.plain(level)}",
            points,
            region,
            mark=Mark.AREA,
            low=bound,
            high=1.0 - co.tradeoff_bound(level, 1.0 - alpha),
        )
    ]
    pair = domain.hypotheses(place)
    zero, one = text.two_values(domain, place)
    name = text.coordinate(place)
    for key, (null, other), label in (
        ("test01", (0, 1), f"{name} = {zero} against {one}, best test"),
        ("test10", (1, 0), f"{name} = {one} against {zero}, best test"),
    ):
        if pair is None:
            nothing = _nowhere(alpha, Role.EXACT, text.NEYMAN_PEARSON, text.ONE_VALUE)
            series.append(series_from(key, label, points, nothing))
        else:
            beta = Bound(
                co.tradeoff_beta(pair[2][null], pair[2][other], alpha),
                Role.EXACT,
                text.NEYMAN_PEARSON,
            )
            series.append(series_from(key, label, points, beta))
    channel = domain.composed
    first, second = easiest_pair(channel)
    names = domain.names()
    whole = co.tradeoff_beta(channel[first], channel[second], alpha)
    certified = co.tradeoff_bound(float(found.certified[place]), alpha)
    for key, label, values, role, source in (
        (
            "whole",
            f"{names[first]} against {names[second]}, best test",
            whole,
            Role.EXACT,
            text.NEYMAN_PEARSON,
        ),
        ("certified", "certified level", certified, Role.LOWER, text.CERTIFICATE),
        (
            "ldp",
            f"LDP, ε = {text.plain(found.ldp)}",
            co.tradeoff_bound(found.ldp, alpha),
            Role.LOWER,
            text.LDP,
        ),
        ("chance", "chance", 1.0 - alpha, Role.BASELINE, text.CHANCE),
    ):
        series.append(series_from(key, label, points, Bound(values, role, source)))
    return tuple(series)


def belief_after(belief: FloatArray, zero: float, one: float) -> FloatArray:
    """Return the belief in 1 after a report of these likelihoods; who is certain stays so."""
    top, bottom = belief * one, (1.0 - belief) * zero
    with np.errstate(invalid="ignore", divide="ignore"):
        after = top / (top + bottom)
    certain = (belief <= 0.0) | (belief >= 1.0)
    result: FloatArray = np.where(certain, belief, after)
    return result


def after_level(belief: FloatArray, level: float) -> FloatArray:
    """Return the most an observer can come to believe at a level; at −level, the least."""
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.exp(np.log(belief) - np.log1p(-belief) + np.clip(level, -745.0, 700.0))
        after = np.where(np.isinf(odds), 1.0, odds / (1.0 + np.where(np.isinf(odds), 0.0, odds)))
    if np.isinf(level):
        after = np.full(belief.shape, 1.0 if level > 0 else 0.0)
    certain = (belief <= 0.0) | (belief >= 1.0)
    result: FloatArray = np.where(certain, belief, after)
    return result


def belief_curves(
    domain: Domain, found: Levels, place: int, points: SweptPoints
) -> tuple[Series, ...]:
    """Return beliefs after the report against beliefs before."""
    belief = points["belief"]
    level = float(found.bcdp[place])
    least, most = after_level(belief, -level), after_level(belief, level)
    series = [
        series_from(
            "region",
            f"BCDP, δ = {text.plain(level)}",
            points,
            Bound(most, Role.UPPER, text.BCDP),
            mark=Mark.AREA,
            low=least,
            high=most,
        )
    ]
    pair = domain.hypotheses(place)
    zero, one = text.two_values(domain, place)
    for_one, for_zero = f"report most for {one}", f"report most for {zero}"
    if pair is None:
        for key, label in (("most", for_one), ("least", for_zero)):
            nothing = _nowhere(belief, Role.EXACT, text.BAYES, text.ONE_VALUE)
            series.append(series_from(key, label, points, nothing))
    else:
        laws = pair[2]
        possible = laws.sum(axis=0) > 0.0
        with np.errstate(divide="ignore"):
            ratios = np.log(laws[1, possible]) - np.log(laws[0, possible])
        few = domain.copies == 1 and laws.shape[1] <= _FEW_OUTPUTS
        afters = {
            "most": (for_one, after_level(belief, float(ratios.max()))),
            "least": (for_zero, after_level(belief, float(ratios.min()))),
        }
        if few:
            afters = {
                f"output{y}": (
                    f"report {domain.outputs[int(y)]}",
                    belief_after(belief, float(laws[0, y]), float(laws[1, y])),
                )
                for y in np.flatnonzero(possible)
            }
        for key, (label, after) in afters.items():
            bound = Bound(after, Role.EXACT, text.BAYES)
            series.append(series_from(key, label, points, bound))
    for key, label, value, source in (
        ("certified", "certified", float(found.certified[place]), text.CERTIFICATE),
        ("ldp", "LDP", found.ldp, text.LDP),
    ):
        for sign, role, side in ((1.0, Role.UPPER, "at most"), (-1.0, Role.LOWER, "at least")):
            bound = Bound(after_level(belief, sign * value), role, source)
            shown = f"{label}, {side}"
            series.append(series_from(f"{key}_{side[3:]}", shown, points, bound))
    series.append(
        series_from("before", "nothing learnt", points, Bound(belief, Role.BASELINE, text.CHANCE))
    )
    return tuple(series)


def level_bounds(found: Sequence[Levels], place: int) -> dict[str, Bound]:
    """Return the four notions' levels and the certified ones, one entry a point."""
    columns = {
        "ldp": [x.ldp for x in found],
        "bdp": [x.bdp for x in found],
        **{
            key: [float(getattr(x, key)[place]) for x in found]
            for key in ("bcdp", "cdp", "certified", "part1", "part2")
        },
    }
    bounds = {}
    for key, (_, role, source) in text.LEVELS.items():
        value = np.array(columns[key])
        finite = np.isfinite(value)
        bounds[key] = Bound(value, role, source, finite, "" if finite.all() else text.INFINITE)
    return bounds


def _nowhere(like: FloatArray, role: Role, source: Reference, why: str) -> Bound:
    return Bound(np.full(like.shape, np.nan), role, source, np.zeros(like.shape, bool), why)
