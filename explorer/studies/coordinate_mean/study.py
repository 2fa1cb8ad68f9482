"""How well a mean can be known when some coordinates are more private than others."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Bound, Role
from explorer.studies.base.claims import number_only
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import (
    Claim,
    Context,
    Fidelity,
    Mark,
    Readout,
    Request,
    Result,
    Series,
    Study,
    Table,
)
from explorer.studies.base.sweeping import (
    SweptPoints,
    evenly_spread,
    readout_from,
    series_from,
    swept_points,
)
from explorer.studies.coordinate_mean import run_records, text
from explorer.studies.coordinate_mean.curves import (
    LEVEL_NAMES,
    broken,
    brute_force,
    budget_bars,
    central_bound,
    chosen,
    error_bound,
    jumps,
    level_bounds,
    order_bounds,
    projected_bound,
)
from explorer.studies.coordinate_mean.dots import simulated
from explorer.studies.coordinate_mean.face import FACES, SHORT_NAMES
from explorer.studies.coordinate_mean.help import PAGE, PRESETS
from explorer.studies.coordinate_mean.parameters import FILE, HEURISTIC, PARAMETERS, QUANTITIES, TWO
from explorer.studies.coordinate_mean.plans import (
    Demand,
    Plan,
    baseline_plans,
    best_zeta_plans,
    convex_plan,
    mse,
    paper_plans,
    proposition6_plan,
    searched_plans,
    two_level_plans,
    with_channel,
)
from explorer.studies.coordinate_mean.points import coordinates, demands_of, with_coupling
from explorer.studies.coordinate_mean.public_file import CAVEATS, PublicCoupling, public_coupling
from explorer.studies.coordinate_mean.tradeoff import audits
from explorer.studies.guarantees.tradeoffs import with_tradeoff

_COARSE = 12
_SEARCHED = 6
_ZETAS = 33
_SIZES = 25
"""Most different numbers of coordinates in one sweep: each is a search of its own."""


@with_tradeoff(
    ("q", "level", "eps", "d", "profile", "share", "zeta_rule", "zeta", "q_from", "public"),
    also=("channel",),
    audits=audits,
)
class CoordinateMean(Study):
    """Error of M_mean and of better designs, their budgets, and what coordinates give away."""

    id = "coordinate-mean"
    simulated = "local.coordinates/1"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        "mse": Claim(
            ("hybrid", "exact", "paper"),
            number_only,
            "mechanisms",
            solves="n",
            besides=text.STRICTER,
        ),
        "level": Claim(
            ("paper", "proposition4", "total"), text.level_words, besides=text.OTHER_BUDGETS
        ),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield closed forms and a few searched points, then whole curves, then simulations."""
        context.check()
        public = None
        if request["q_from"] == FILE and request["public"]:
            public = public_coupling(request, context)
        points = with_coupling(swept_points(self, request), public)
        if request.quantity == "run":
            yield from run_records.answer(request, context, points, public)
            return
        if request.quantity == "budget":
            points = coordinates(points, request["d"])
        elif points.sweep.key in ("d", "share"):
            points = points.downsampled(_SIZES)
        work = _Work(request, context, points, public)
        first = work.answer(Fidelity.COARSE)
        if request.fidelity is Fidelity.COARSE:
            yield replace(first, complete=True)
            return
        yield first
        full = work.answer(Fidelity.FULL)
        dots = request.quantity == "mse" and request["simulate"]
        full = replace(full, complete=not dots)
        yield full
        if dots:
            yield from simulated(full, request, points, work.known, context)


class _Work:
    """One request on its way: what is known so far and how more becomes known."""

    def __init__(
        self,
        request: Request,
        context: Context,
        points: SweptPoints,
        public: PublicCoupling | None,
    ) -> None:
        self.request, self.context, self.points, self.public = request, context, points, public
        self.demands = demands_of(request, points)
        self.closed: dict[str, Sequence[Plan]] = {
            "paper": paper_plans(self.demands),
            "baseline": baseline_plans(self.demands),
        }
        self.known: dict[str, tuple[SweptPoints, list[Plan]]] = {
            key: (points, list(plans)) for key, plans in self.closed.items()
        }
        """Mechanisms by the points at which they are known."""
        self.jumps = jumps(self.demands, self.closed["paper"], points)

    def answer(self, fidelity: Fidelity) -> Result:
        """Return the answer, coarse (few searched points, not the best ζ) or full."""
        self._search(fidelity)
        here = {key: plans[-1] for key, (_, plans) in self.known.items()}
        demand = self.demands[-1]
        if fidelity is Fidelity.FULL:
            here["proposition6"] = self.proposition6 = proposition6_plan(demand)
        series, readouts = {
            "mse": self._errors,
            "budget": self._budgets,
            "level": self._levels,
        }[self.request.quantity](fidelity)
        notes: tuple[str, ...] = ()
        if demand.channel != co.DUCHI:
            notes = (text.CHANNEL_NOTE,)
        tables = [self._table(fidelity, here), self._channels(here)]
        if self.public is not None:
            notes += (self.public.said, *CAVEATS)
            if self.points.sweep.key == "q":
                notes += (text.on_the_axis(self.public),)
            tables.append(self.public.table())
        elif self.request["q_from"] == FILE:
            notes += (text.no_file(demand.q),)
        if self.request.quantity == "level":
            warned = text.levels_note(demand, float(self.points["true_q"][-1]))
            notes += (warned,) if warned else ()
        return Result(
            self.request,
            fidelity,
            series=series,
            tables=tuple(tables),
            readouts=readouts,
            conditions=text.conditions(
                demand,
                here,
                float(self.points["x2"][-1]),
                float(self.points["n"][-1]),
                self.request["q_from"] == FILE,
                self.public,
            ),
            guarantee=text.guarantee(
                demand,
                here["paper"],
                int(self.request["releases"]) if self.request.quantity == "level" else 1,
                self.public if self.points.sweep.key != "q" else None,
            ),
            notes=notes,
        )

    def _search(self, fidelity: Fidelity) -> None:
        """Add the designs that are found by search."""
        full, size = fidelity is Fidelity.FULL, self.points.x.size
        two = self.request["profile"] == TWO
        if self.request.quantity == "budget":
            if full or two:
                self._add(self.points, [size], full)
            return
        if full or (two and self.points.sweep.key not in ("d", "share")):
            kept = evenly_spread(size, (size if two else _SEARCHED) if full else _COARSE).tolist()
            self._add(chosen(self.points, kept), [*kept, size], full)

    def _add(self, points: SweptPoints, places: list[int], full: bool) -> None:
        """Add the designs at some of the points, the sliders' last; the best ζ if full."""
        some = [self.demands[place] for place in places]
        found = self._designs(some[:-1], some[-1])
        for j, key in enumerate(("exact", "hybrid")):
            self.known[key] = (points, [found[x.apart_from_zeta][j] for x in some])
        if not full:
            return
        # Over q the best ζ is found for all points together, else for one after the other.
        size = 0 if self.request.quantity == "budget" else self.points.x.size
        kept = evenly_spread(size, size if self.points.sweep.key == "q" else _ZETAS).tolist()
        wanted = [self.demands[place] for place in (*kept, -1)]
        distinct = list({x.apart_from_zeta: x for x in wanted}.values())
        token = tuple(x.apart_from_zeta for x in distinct)
        zetas = self.context.memo(
            ("coordinate-mean", "best ζ", token),
            lambda: best_zeta_plans(distinct, self.context.check),
        )
        best = dict(zip(token, zetas, strict=True))
        self.known["best_zeta"] = (
            chosen(self.points, kept),
            [best[x.apart_from_zeta] for x in wanted],
        )

    def _designs(self, curve: Sequence[Demand], here: Demand) -> dict[Hashable, tuple[Plan, Plan]]:
        """Return the exact and the hybrid design of every demand, here the sliders'.

        The curve is kept apart: it stays as it is while the slider of its x axis moves.
        """
        # Dragging n, x² or the true coupling changes no design: each different demand once.
        distinct = {x.apart_from_zeta: x for x in (*curve, here)}
        mine = here.apart_from_zeta
        along = tuple(dict.fromkeys(x.apart_from_zeta for x in curve))
        found: dict[Hashable, tuple[Plan, Plan]] = {}

        def search(keys: Iterable[Hashable]) -> dict[Hashable, tuple[Plan, Plan]]:
            demands = [distinct[key] for key in keys]
            if self.request["profile"] == TWO:
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
            found.update(search(distinct))
            return {key: found[key] for key in along}

        found |= self.context.memo(("coordinate-mean", "designs", along), with_mine)
        if mine not in found:
            found |= self.context.memo(("coordinate-mean", "design", mine), lambda: search([mine]))
        return found

    def _errors(self, fidelity: Fidelity) -> tuple[tuple[Series, ...], tuple[Readout, ...]]:
        series, readouts = [], []
        orders = order_bounds(self.demands, self.closed["paper"], self.points)
        central = central_bound(self.demands, self.points)
        order = ("paper", "baseline", "theorem2", "corollary1", "central", "exact", "hybrid")
        for key in (*order, "best_zeta"):
            label, role, source = text.NAMES[key]
            if key == "central":
                points, bound, note = self.points, central, text.central_note(self.demands[-1])
            elif key in orders:
                points, bound, note = self.points, orders[key], text.ORDER_ONLY
            elif key in self.known:
                points, plans = self.known[key]
                bound = error_bound(plans, points, role, source)
                note = "" if key in self.closed else text.FOUND
            else:
                continue
            curve = series_from(key, label, points, bound, note=note, mark=self._mark(key))
            series.append(broken(curve, self.jumps) if key in ("paper", "theorem2") else curve)
            readouts.append(readout_from(key, label, bound, note=note))
        full = fidelity is Fidelity.FULL
        if full and self.public is not None and self.points.sweep.key == "q":
            series.append(self._at_the_files_coupling(self.public))
        if full and self.request["projected"]:
            for key in ("paper", "baseline", "best_zeta", "exact", "hybrid"):
                points, plans = self.known[key]
                self.context.check()
                label = f"{text.NAMES[key][0]}, projected"
                bound = projected_bound(plans, points)
                curve = series_from(f"{key}_projected", label, points, bound, mark=self._mark(key))
                series.append(broken(curve, self.jumps) if key == "paper" else curve)
                readouts.append(readout_from(f"{key}_projected", label, bound))
        return tuple(series), tuple(readouts)

    def _at_the_files_coupling(self, public: PublicCoupling) -> Series:
        """Return the paper's error at the public file's coupling, a dot on the axis of q."""
        q, role = public.q, Role.ESTIMATE if public.estimate else Role.EXACT
        zeta = self.demands[-1].zeta if self.request["zeta_rule"] != HEURISTIC else 0.5 * (1.0 + q)
        (plan,) = paper_plans([replace(self.demands[-1], q=q, zeta=zeta)])
        bound = error_bound([plan], chosen(self.points, []), role, text.NAMES["paper"][2])
        return Series(
            "file_q",
            "at the public file's q: the paper's ζ",
            role,
            np.array([q]),
            bound.value,
            bound.reference,
            undefined_reason=bound.reason,
            mark=Mark.DOTS,
            note=text.from_file(public),
        )

    def _budgets(self, fidelity: Fidelity) -> tuple[tuple[Series, ...], tuple[Readout, ...]]:
        order = ("paper", "baseline", "exact", "hybrid", "best_zeta")
        plans = {key: self.known[key][1][-1] for key in order if key in self.known}
        if fidelity is Fidelity.FULL:
            plans["proposition6"] = self.proposition6
        readouts = tuple(
            Readout(
                f"total_{key}",
                f"L of {text.BUDGETS[key]}",
                plan.total,
                Role.EXACT,
                "nats",
                note="privacy of the report as a whole",
            )
            for key, plan in plans.items()
        )
        return budget_bars(self.demands[-1], plans, self.points), readouts

    def _levels(self, fidelity: Fidelity) -> tuple[tuple[Series, ...], tuple[Readout, ...]]:
        series, readouts = [], []
        whose = self.request["whose"]
        everywhere = level_bounds(self.demands, {"paper": self.closed["paper"]}, self.points, whose)
        shown: list[tuple[str, SweptPoints, Bound]] = [
            (key, self.points, everywhere[key])
            for key in ("paper", "proposition4", "total", "demanded")
        ]
        for key in ("exact", "hybrid", "best_zeta"):
            if key in self.known:
                points, plans = self.known[key]
                some = demands_of(self.request, points)
                shown.append((key, points, level_bounds(some, {key: plans}, points, whose)[key]))
        for key, points, bound in shown:
            curve = series_from(key, LEVEL_NAMES[key], points, bound, mark=self._mark(key))
            of_the_paper = key in ("paper", "proposition4", "total")
            series.append(broken(curve, self.jumps) if of_the_paper else curve)
            readouts.append(readout_from(key, LEVEL_NAMES[key], bound, unit="nats"))
        if fidelity is Fidelity.FULL:
            found = brute_force(
                self.demands, self.closed["paper"], self.points, whose, self.context
            )
            if found is not None:
                label = "exact δᵢ on the corners for the prior (60), the paper's budgets"
                series.append(series_from("brute_force", label, *found))
                readouts.append(readout_from("brute_force", label, found[1], unit="nats"))
        return tuple(series), tuple(readouts)

    def _mark(self, key: str) -> Mark:
        """Return dots for designs that are searched for at a few points only."""
        few = key in ("exact", "hybrid") and self.request["profile"] != TWO
        return Mark.DOTS if few else Mark.LINE

    def _table(self, fidelity: Fidelity, here: dict[str, Plan]) -> Table:
        """Return the mechanisms side by side at the sliders' values."""
        x2, n = float(self.points["x2"][-1]), float(self.points["n"][-1])
        rows = [
            (text.NAMES[key][0], plan)
            for key, plan in sorted(here.items(), key=lambda item: list(text.NAMES).index(item[0]))
        ]
        demand = self.demands[-1]
        convex_known = demand.channel == co.DUCHI and self.request.quantity == "budget"
        if fidelity is Fidelity.FULL and convex_known:
            convex: Plan = self.context.memo(
                ("coordinate-mean", "convex", demand.apart_from_zeta),
                lambda: self.context.run_in_worker(convex_plan, demand),
            )
            rows.append(("one channel a level, globally best", convex))
        return Table(
            "designs",
            "Mechanisms at the sliders' values",
            ("mechanism", "c, most sensitive", "c, least sensitive", "L", "MSE"),
            tuple(
                (name, float(p.c[0]), float(p.c[-1]), p.total, text.finite(mse(p, x2, n)))
                for name, p in rows
            ),
            "Levels in nats; exact errors, not projected, empty where a coordinate has no report. "
            f"Designs are searched for {text.CHANNEL_NAMES[demand.channel]}; with the other kind "
            "of report they keep their levels. " + self.demands_said(),
            (None, *[Role.EXACT] * 4),
        )

    def _channels(self, here: dict[str, Plan]) -> Table:
        """Return every mechanism's error by both kinds of report, its levels kept."""
        x2, n = float(self.points["x2"][-1]), float(self.points["n"][-1])
        rows = []
        for key in text.NAMES:
            if key in here:
                errors = [mse(with_channel(here[key], x), x2, n) for x in text.CHANNEL_NAMES]
                rows.append((text.NAMES[key][0], *map(text.finite, errors)))
        return Table(
            "channels",
            "The same levels with reports made otherwise",
            ("mechanism", *(f"MSE by {name}" for name in text.CHANNEL_NAMES.values())),
            tuple(rows),
            "Exact, at the sliders' values, not projected. Budgets and levels are those searched "
            f"for {text.CHANNEL_NAMES[self.demands[-1].channel]}, and as private by either.",
            (None, *[Role.EXACT] * 2),
        )

    def demands_said(self) -> str:
        """Return what all of them promise."""
        demand = self.demands[-1]
        return f"All promise {text.demand_sentence(demand)} at q ≤ {at_most(demand.q)}."
