"""Curves of the study of the private mean: errors, budgets, levels, and a run on records."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import Points
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase, times
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Headline,
    Mark,
    Quantity,
    Result,
    Scale,
    Series,
    Statistic,
)
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean import guarantee, run_records, theory
from explorer.studies.coordinate_mean.demanded import MAX_COORDINATES, OwnDemand, own_demand
from explorer.studies.coordinate_mean.public_file import PublicCoupling, public_coupling
from explorer.studies.coordinate_mean.theory import (
    HEURISTIC,
    TWO,
    Demand,
    Plan,
    baseline_plans,
    best_zeta_plans,
    paper_plans,
    proposition6_plan,
    searched_plans,
    two_level_plans,
)

SLIDER, FILE = "slider", "file"
MAX_SENSITIVE, LEAST_SENSITIVE = "most", "least"
_COARSE_POINTS = 12
_SEARCHED_POINTS = 6
"""Points of a curve of designs that are searched for one by one."""
_ZETA_POINTS = 33
_Known = dict[str, tuple[SweptPoints, list[Plan]]]


class MeanPoints(Points):
    """Points of a sweep with the demands and the mechanisms that meet them."""

    @cached_property
    def public(self) -> PublicCoupling | None:
        """Coupling of the public file; None without one."""
        if self.request["q_from"] != FILE or not self.request["public"]:
            return None
        return public_coupling(self.request, self.context)

    @cached_property
    def own(self) -> OwnDemand | None:
        """Levels and couplings of the user's own; None without any."""
        own = own_demand(self.request, self.context, 2, MAX_COORDINATES)
        if own is not None and own.couplings and self.public is not None:
            raise ValueError(
                "The demanded levels have couplings of their own and a public file gives another: "
                "leave out the second column, or set “coupling from” to the slider"
            )
        return own

    @cached_property
    def demands(self) -> list[Demand]:
        """Demanded levels at every point."""
        return theory.demands_of(self.request, self.swept, self.own)

    @property
    def demand(self) -> Demand:
        """Demanded levels at the sliders."""
        return self.demands[-1]

    @cached_property
    def paper(self) -> list[Plan]:
        """The paper's mechanism at every point."""
        return paper_plans(self.demands)

    @cached_property
    def jumps(self) -> list[int]:
        """Points before which the paper's budgets jump."""
        return theory.jumps(self.demands, self.paper, self.swept)

    @cached_property
    def known(self) -> _Known:
        """Mechanisms by key, with the points at which they are known.

        In a coarse answer designs are searched at few points or not at all, and ζ is not.
        """
        known: _Known = {
            "paper": (self.swept, self.paper),
            "baseline": (self.swept, baseline_plans(self.demands)),
        }
        size, two = self.swept.x.size, self.demand.profile == TWO
        if self.request.quantity == "budget":
            if not self.coarse or two:
                self._add_designs(known, self.swept, [size])
        elif not self.coarse or (two and self.swept.sweep.key not in ("d", "share")):
            count = _COARSE_POINTS if self.coarse else size if two else _SEARCHED_POINTS
            places = evenly_spread(size, count).tolist()
            self._add_designs(known, theory.subset(self.swept, places), [*places, size])
        if not self.coarse:
            self._add_best_zeta(known)
        return known

    def _add_designs(self, known: _Known, points: SweptPoints, places: list[int]) -> None:
        """Add the exact and the hybrid design at some points, the sliders' last."""
        demands = [self.demands[place] for place in places]
        designs = self._designs(demands[:-1], demands[-1])
        for j, key in enumerate(("exact", "hybrid")):
            known[key] = (points, [designs[x.apart_from_zeta][j] for x in demands])

    def _add_best_zeta(self, known: _Known) -> None:
        """Add the mechanism with the best ζ."""
        # Over q the best ζ is found for all points together, else for one after the other.
        size = 0 if self.request.quantity == "budget" else self.swept.x.size
        count = size if self.swept.sweep.key == "q" else _ZETA_POINTS
        places = evenly_spread(size, count).tolist()
        demands = [self.demands[place] for place in (*places, -1)]
        distinct = list({x.apart_from_zeta: x for x in demands}.values())
        token = tuple(x.apart_from_zeta for x in distinct)
        zetas = self.context.cached(
            ("coordinate-mean", "best ζ", token),
            lambda: best_zeta_plans(distinct, self.context.check),
        )
        best = dict(zip(token, zetas, strict=True))
        points = theory.subset(self.swept, places)
        known["best_zeta"] = (points, [best[x.apart_from_zeta] for x in demands])

    def _designs(self, curve: Sequence[Demand], here: Demand) -> dict[Hashable, tuple[Plan, Plan]]:
        """Return the exact and the hybrid design of every demand, here the sliders'.

        The curve is cached separately: it does not change with the slider of its x axis.
        """
        # n, x² or the true coupling change no design: each different demand is searched once.
        distinct = {x.apart_from_zeta: x for x in (*curve, here)}
        mine = here.apart_from_zeta
        along = tuple(dict.fromkeys(x.apart_from_zeta for x in curve))
        designs: dict[Hashable, tuple[Plan, Plan]] = {}

        def search(keys: Iterable[Hashable]) -> dict[Hashable, tuple[Plan, Plan]]:
            demands = [distinct[key] for key in keys]
            if self.demand.profile == TWO:
                pairs = list(zip(*two_level_plans(demands, self.context.check), strict=True))
            else:
                pairs = [
                    pair
                    for one in demands
                    for pair in self.context.run_in_worker(searched_plans, [one])
                ]
            return dict(zip(keys, pairs, strict=True))

        def with_mine() -> dict[Hashable, tuple[Plan, Plan]]:
            # One search for both costs little more than for the curve alone.
            designs.update(search(distinct))
            return {key: designs[key] for key in along}

        designs |= self.context.cached(("coordinate-mean", "designs", along), with_mine)
        if mine not in designs:
            designs |= self.context.cached(
                ("coordinate-mean", "design", mine), lambda: search([mine])
            )
        return designs

    def where_known(self, key: str) -> "MeanPoints":
        """Return the points at which a mechanism is known, with the mechanisms there."""
        if key not in self.known:
            return self
        points = self.at(self.known[key][0])
        points.known = self.known
        return points

    @cached_property
    def plans_here(self) -> dict[str, Plan]:
        """Mechanisms at the sliders."""
        here = {key: plans[-1] for key, (_, plans) in self.known.items()}
        if not self.coarse:
            here["proposition6"] = proposition6_plan(self.demand)
        return here

    @property
    def level_index(self) -> int:
        """Index of the coordinate whose level is drawn."""
        return self.demand.most if self.request["whose"] == MAX_SENSITIVE else self.demand.least

    @cached_property
    def brute_force(self) -> tuple[SweptPoints, Bound] | None:
        """Exact levels on a small domain at some points; None in coarse answers."""
        if self.coarse:
            return None
        return theory.brute_force(
            self.demands, self.paper, self.swept, self.level_index, self.context
        )

    @property
    def where_brute_forced(self) -> "MeanPoints":
        """The points of `brute_force`."""
        if self.brute_force is None:
            return self
        points = self.at(self.brute_force[0])
        points.brute_force = self.brute_force
        return points

    @cached_property
    def run(self) -> run_records.CompletedRun:
        """The mechanism run on the records."""
        return run_records.complete(self.request, self.context, self.swept, self.own)


# Mechanisms


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that is compared by its error, its budgets and its levels.

    Attributes
    ----------
    key, label, short : str
    role : Role
    source : Reference
    budget : str
        Name of its budgets.
    """

    key: str
    label: str
    short: str
    role: Role
    source: Reference
    budget: str


MECHANISMS = {
    mechanism.key: mechanism
    for mechanism in (
        Mechanism(
            "paper",
            "M_mean, Theorem 2 with the paper's ζ",
            "the paper's ζ",
            Role.EXACT,
            theory.MECHANISM,
            "c, paper's ζ",
        ),
        Mechanism(
            "baseline",
            "min δ-LDP",
            "all coordinates alike",
            Role.BASELINE,
            theory.BASELINE,
            "c, min δ-LDP",
        ),
        Mechanism(
            "best_zeta",
            "M_mean, Theorem 2 with the best ζ",
            "the best ζ",
            Role.EXACT,
            theory.BEST_ZETA,
            "c, best ζ",
        ),
        Mechanism(
            "exact",
            "M_mean, exact constraint",
            "exact budgets",
            Role.EXACT,
            theory.EXACT,
            "c, exact",
        ),
        Mechanism(
            "hybrid",
            "hybrid channels, exact constraint",
            "hybrid channels",
            Role.EXACT,
            theory.HYBRID,
            "c, hybrid",
        ),
        Mechanism(
            "proposition6",
            "one channel a coordinate, Proposition 6",
            "one channel each, Prop. 6",
            Role.EXACT,
            theory.PROPOSITION_6,
            "c, Proposition 6",
        ),
    )
}
"""In the order of the table."""


@dataclass(frozen=True)
class MeanCurve(Curve):
    """Curve with a gap where the paper's budgets jump, if `jumps`."""

    jumps: bool = False


# Errors


def _error(key: str, *, primary: int = 0, note: str = "", **more: Any) -> Curve:
    """Return the exact error of a mechanism."""
    m = MECHANISMS[key]

    def value(p: MeanPoints) -> Bound | None:
        if key not in p.known:
            return None
        return theory.error_bound(p.known[key][1], p.swept, m.role, m.source)

    return MeanCurve(
        key,
        m.label,
        m.short,
        m.role,
        m.source,
        value,
        note=note,
        points=lambda p: p.where_known(key),
        primary=primary,
        jumps=key == "paper",
        **more,
    )


def _projected_error(key: str, short: str) -> Curve:
    """Return the error of a mechanism's projected averages, by the central limit theorem."""

    def value(p: MeanPoints) -> Bound | None:
        if p.coarse or not p.request["projected"]:
            return None
        p.context.check()
        return theory.projected_bound(p.known[key][1], p.swept)

    return MeanCurve(
        f"{key}_projected",
        f"{MECHANISMS[key].label}, projected",
        short,
        Role.ESTIMATE,
        theory.PROJECTED,
        value,
        points=lambda p: p.where_known(key),
        primary=0,
        jumps=key == "paper",
    )


def _corollary1(p: MeanPoints) -> Bound | None:
    """Return Corollary 1's order, for two levels only."""
    if p.demand.profile != TWO:
        return None
    value, holds = theory.corollary1_order(p.demands, p.swept)
    reason = "" if holds.all() else "Corollary 1 assumes ε > 2δ"
    return Bound(value, Role.ESTIMATE, theory.COROLLARY_1, holds, reason)


def _public_error(curve: Curve, p: MeanPoints) -> Series | None:
    """Draw the paper's error at the public file's coupling as a dot on the axis of q."""
    public = p.public
    if p.coarse or public is None or p.swept.sweep.key != "q":
        return None
    q, role = public.q, Role.ESTIMATE if public.estimate else Role.EXACT
    zeta = p.demand.zeta if p.request["zeta_rule"] != HEURISTIC else 0.5 * (1.0 + q)
    plans = paper_plans([replace(p.demand, q=q, zeta=zeta)])
    bound = theory.error_bound(plans, theory.subset(p.swept, []), role, curve.source)
    return Series(
        curve.key,
        str(curve.label),
        role,
        np.array([q]),
        bound.value,
        bound.reference,
        undefined_reason=bound.reason,
        mark=Mark.DOTS,
        note=guarantee.from_file(public),
    )


_FOUND_BY_SEARCH = "found by search: no better one is certified not to exist"
_order = partial(
    MeanCurve, role=Role.ESTIMATE, note="an order of magnitude: the constant is unknown", primary=0
)
_ERRORS = (
    _error("paper", primary=3, claimable=3),
    _error("baseline", primary=4),
    _order(
        key="theorem2",
        label="Theorem 2 (17), without its O(1)",
        short="Theorem 2, order only",
        source=theory.THEOREM_2,
        value=lambda p: theory.theorem2_order(p.paper, p.swept),
        jumps=True,
    ),
    _order(
        key="corollary1",
        label="Corollary 1, without its O(1)",
        short="Corollary 1, order only",
        source=theory.COROLLARY_1,
        value=_corollary1,
    ),
    Curve(
        "central",
        "a trusted curator's Laplace noise (a different guarantee)",
        "a trusted curator",
        Role.BASELINE,
        theory.CENTRAL,
        lambda p: theory.central_error(p.demands, p.swept),
        remark="different trust: a curator",
        note=lambda p: guarantee.central_note(p.demand),
        primary=0,
    ),
    _error("exact", primary=2, note=_FOUND_BY_SEARCH, claimable=2),
    _error("hybrid", primary=1, note=_FOUND_BY_SEARCH, claimable=1),
    _error(
        "best_zeta",
        note=_FOUND_BY_SEARCH,
        unclaimed=(
            "its budgets meet Proposition 4, part 2, which is stricter than the exact constraint "
            "of the mechanisms that may be claimed"
        ),
    ),
    Curve(
        "file_q",
        "at the public file's q: the paper's ζ",
        "",
        Role.EXACT,
        theory.MECHANISM,
        draw=_public_error,
        primary=0,
    ),
    _projected_error("paper", "paper's ζ, projected"),
    _projected_error("baseline", "all alike, projected"),
    _projected_error("best_zeta", "best ζ, projected"),
    _projected_error("exact", "exact budgets, projected"),
    _projected_error("hybrid", "hybrid, projected"),
)


# Budgets


def _bars(curve: Curve, p: MeanPoints, values: FloatArray, note: str = "") -> Series:
    """Draw a number of each coordinate as bars."""
    d = p.demand.d
    at = np.rint(p.swept["i"][:-1]).astype(int) - 1
    inside = (at >= 0) & (at < d)
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        p.swept.x,
        np.where(inside, values[np.clip(at, 0, d - 1)], np.nan),
        curve.source,
        undefined_reason="" if inside.all() else f"there is no such coordinate: d = {d}",
        note=note,
        mark=Mark.BARS,
    )


def _draw_budget(curve: Curve, p: MeanPoints) -> Series | None:
    plan = p.plans_here.get(curve.key)
    return None if plan is None else _bars(curve, p, plan.c, f"L = {nearest(plan.total)}")


def _budget(key: str, primary: int = 0) -> Curve:
    """Return the budgets of a mechanism at the sliders."""
    m = MECHANISMS[key]
    return Curve(
        key,
        f"c: {m.label}",
        m.short,
        m.role,
        m.source,
        draw=_draw_budget,
        mark=Mark.BARS,
        primary=primary,
    )


_demanded = partial(
    Curve, "demanded", short="what is demanded", role=Role.BASELINE, source=theory.MECHANISM
)
BUDGETS = (
    _demanded(
        label="min(δᵢ, ε)",
        draw=lambda curve, p: _bars(curve, p, p.demand.levels),
        mark=Mark.BARS,
        primary=4,
    ),
    _budget("paper", primary=3),
    _budget("baseline"),
    _budget("exact", primary=2),
    _budget("hybrid", primary=1),
    _budget("best_zeta"),
    _budget("proposition6"),
)


# Levels


def _level(key: str, label: str, primary: int = 0, **more: Any) -> Curve:
    """Return the certified level of a coordinate by a mechanism's budgets."""

    def value(p: MeanPoints) -> FloatArray | None:
        if key not in p.known:
            return None
        return theory.certified_level(p.known[key][1], p.swept, p.level_index)

    return MeanCurve(
        key,
        label,
        MECHANISMS[key].short,
        Role.UPPER,
        theory.CERTIFICATE,
        value,
        unit="nats",
        points=lambda p: p.where_known(key),
        primary=primary,
        jumps=key == "paper",
        **more,
    )


_other_level = partial(
    _level, unclaimed="it is the level of a mechanism with other budgets than the paper's"
)
_LEVELS = (
    _level("paper", "δᵢ certified, the paper's budgets", primary=1, claimable=1),
    MeanCurve(
        "proposition4",
        "δᵢ by Proposition 4, part 2, the paper's budgets",
        "Proposition 4, part 2",
        Role.UPPER,
        theory.PROPOSITION_4,
        lambda p: theory.proposition4_level(p.paper, p.swept, p.level_index),
        unit="nats",
        primary=0,
        claimable=1,
        jumps=True,
    ),
    MeanCurve(
        "total",
        "L-LDP, whatever the beliefs (Proposition 3), the paper's budgets",
        "whatever the beliefs",
        Role.UPPER,
        theory.PROPOSITION_3,
        lambda p: p.swept["releases"] * theory.totals(p.paper),
        unit="nats",
        primary=0,
        claimable=1,
        jumps=True,
    ),
    _demanded(
        label="demanded level",
        value=lambda p: np.array([x.levels[p.level_index] for x in p.demands]),
        unit="nats",
        primary=4,
    ),
    _other_level("exact", "δᵢ certified, exact constraint", primary=2),
    _other_level("hybrid", "δᵢ certified, hybrid channels", primary=3),
    _other_level("best_zeta", "δᵢ certified, best ζ"),
    Curve(
        "brute_force",
        "exact δᵢ on the corners for the prior (60), the paper's budgets",
        "",
        Role.LOWER,
        theory.BRUTE_FORCE,
        lambda p: p.brute_force[1] if p.brute_force else None,
        unit="nats",
        points=lambda p: p.where_brute_forced,
        primary=0,
    ),
)


def _error_headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    m = MECHANISMS.get(claimed.series.key)
    name = claimed.series.label if m is None else m.short
    text = f"{error_phrase(claimed.value, Statistic.MEAN_SQUARE).capitalize()} with {name}"
    if alike := result.number("baseline"):
        more = times(alike / claimed.value)
        text += f"; {nearest(alike)} if all coordinates are protected alike"
        text += f", {more} that" if more != "1 times" else ""
    number = f"{claimed.text.number} of data in [−1, 1]"
    return Headline(number, f"{text}.", statistic=Statistic.MEAN_SQUARE)


PLOTS = (
    Plot(
        Quantity(
            "mse",
            "MSE",
            "error of the mean",
            ("q", "n", "eps", "level", "d", "share", "x2", "zeta"),
            scale=Scale.LOG,
            statistic=Statistic.MEAN_SQUARE,
        ),
        _ERRORS,
        sliders=("q", "level", "eps", "share"),
        kind="mechanisms",
        solves="n",
        headline=_error_headline,
    ),
    Plot(
        Quantity(
            "budget", "c", "budget of each coordinate", ("place", "i"), unit="nats", latex="c_i"
        ),
        BUDGETS,
        sliders=("q", "level", "eps", "share"),
    ),
    Plot(
        Quantity(
            "level",
            "δᵢ",
            "level of a coordinate",
            ("true_q", "releases", "q", "eps", "level"),
            unit="nats",
            latex=r"\delta_i",
        ),
        _LEVELS,
        sliders=("q", "level", "eps"),
        claim_text=guarantee.level_claim,
    ),
    Plot(
        Quantity("run", "x̄ᵢ", "mean of your records, run", ("place", "i"), latex=r"\bar x_i"),
        (
            Curve(
                "reported",
                "mean of the reports, ± 1.96 standard deviations",
                "mean of the reports",
                Role.ESTIMATE,
                theory.MECHANISM,
                draw=run_records.draw_reported,
                mark=Mark.DOTS,
            ),
            Curve(
                "truth",
                "mean of the records themselves",
                "mean of the records",
                Role.BASELINE,
                Reference("Own data", "not private"),
                draw=run_records.draw_truth,
                mark=Mark.BARS,
            ),
        ),
        sliders=("records", "level", "eps", "q"),
    ),
)
