"""What the subsampled shuffle model promises: ε at δ, or Rényi levels, by every route."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.shuffle_rdp import round_delta
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.claims import number_only, stated
from explorer.studies.base.phrases import which_won
from explorer.studies.base.study import (
    Claim,
    Context,
    Fidelity,
    Readout,
    Request,
    Result,
    Study,
)
from explorer.studies.base.sweeping import SweptPoints, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.shuffle_accountant import (
    allocation,
    names,
    one_randomiser,
    ternary,
    text,
    tradeoff,
)
from explorer.studies.shuffle_accountant.curves import (
    SHARE,
    EpsilonCurves,
    Points,
    RenyiCurves,
    composed_bounds,
    epsilon_curves,
    exact_strong_composition,
    renyi_curves,
    spread,
    total_variation,
)
from explorer.studies.shuffle_accountant.face import FACES, SHORT_NAMES
from explorer.studies.shuffle_accountant.help import PAGE
from explorer.studies.shuffle_accountant.levels import (
    clone_epsilons,
    clone_levels,
    sharpened_epsilons,
    sharpened_levels,
)
from explorer.studies.shuffle_accountant.parameters import PARAMETERS, QUANTITIES
from explorer.studies.shuffle_accountant.points import (
    COARSE_ORDER,
    ONE_ROUND,
    among,
    low_orders,
    swept_rounds,
)
from explorer.studies.shuffle_accountant.presets import PRESETS
from explorer.studies.shuffle_accountant.series import (
    absent_series,
    bound_of,
    curve,
    joined,
    readouts_of,
    undefined_reason,
)

_COARSE_POINTS = 24
_COMPOSED_POINTS, _COMPOSED_APART = 64, 30
"""Fewer where every point has a round of its own, of some ten milliseconds."""
_LEVEL_POINTS = 30
"""Where every point has clones of its own, whose Rényi levels take some 20 ms."""
_LOSSES = 640_000
"""Losses that the exact strong composition may list before it gets fewer points."""
_EPSILON_KEYS = (
    "theorem1",
    "lower_rdp",
    "clones_closed",
    "unamplified",
    "cap",
    "clones_numerical",
)
_COMPOSED_KEYS = ("numerical_upper", "lower_2rr", "kov_exact", "rdp_clones", "theorem1_sharp")
_RENYI_KEYS = ("theorem1", "theorem2", "renyi_cap", "rdp_clones", "theorem1_sharp")
_OF_THEIR_OWN = {
    "own": one_randomiser.answer,
    "epochs": allocation.answer,
    "ternary": ternary.answer,
}


@with_tradeoff(
    tradeoff.USES, laws=tradeoff.laws, promising=("law",), audits=tradeoff.audits, patient=True
)
class ShuffleAccountant(Study):
    """The accountant of the subsampled shuffle model, with the paper's comparators."""

    id = "shuffle-rdp"
    references = (
        names.THEOREM_1,
        names.THEOREM_2,
        names.THEOREM_3,
        names.CLOSED,
        *names.NUMERICAL.values(),
        names.KOV_EXACT,
        names.UNAMPLIFIED,
        names.CAP,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = text.CLAIMS | {
        "own": one_randomiser.CLAIM,
        "epochs": Claim(allocation.AMONG, text.claim_words, solves="eps0"),
        "ternary": Claim(ternary.AMONG, number_only, solves="eps0"),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield coarse curves first if all take long, then all, then the exact compositions.

        Coarse means fewer points and no numerical comparator.

        The slider's own values ride along as one more point, so that the numbers beside the plot
        are those of the plot.

        Raises
        ------
        ValueError
            If γ is set (k and n make it), or the quantity can't be swept over what is asked.
        """
        swept = swept_points(self, request)
        if request.quantity in _OF_THEIR_OWN:
            yield from _OF_THEIR_OWN[request.quantity](request, swept, context)
            return
        # A sweep whose points share one round is fast once that round is kept.
        kept: set[object] = context.memo(("shuffle-rdp", "rounds seen"), set)
        key = swept.sweep.key
        one_round = key in ONE_ROUND
        heavy = [request[name] for name in ("eps0", "k", "n", "lam_max", "lam", "clones")]
        token = (request.quantity, key, *heavy) if key == "lam" else tuple(heavy[:4])
        quick = one_round and (
            token in kept or (request["lam_max"] <= COARSE_ORDER and request["k"] <= 2000)
        )
        if key == "lam":
            quick = token in kept or swept["lam"].max() <= COARSE_ORDER
        if request.fidelity is Fidelity.COARSE or not quick:
            done = request.fidelity is Fidelity.COARSE
            some = swept if one_round else swept.downsampled(_COARSE_POINTS)
            if key == "lam":
                some = low_orders(swept)
            yield self._answer(request, some, context, Fidelity.COARSE, done)
            if done:
                return
        last = request.quantity != "eps"
        full = self._answer(request, swept, context, Fidelity.FULL, last)
        kept.add(token)
        yield full
        if not last:
            yield from self._composed(request, swept, context, full)

    def _answer(
        self,
        request: Request,
        swept: SweptPoints,
        context: Context,
        fidelity: Fidelity,
        complete: bool,
    ) -> Result:
        coarse = fidelity is Fidelity.COARSE
        points = swept_rounds(swept)
        lam_max = min(request["lam_max"], COARSE_ORDER) if coarse else request["lam_max"]
        context.check()
        if request.quantity == "eps":
            answer = self._epsilon(request, swept, points, lam_max, coarse, context)
        else:
            answer = self._renyi(request, swept, points, coarse, context)
        return stated(Result(request, fidelity, complete=complete, **answer))

    def _composed(
        self, request: Request, swept: SweptPoints, context: Context, full: Result
    ) -> Iterator[Result]:
        """Yield the full answer with certified compositions added: at the sliders', then all."""
        points, variant = swept_rounds(swept), Clones(request["clones"])
        if not points.holds.any():
            absent = absent_series(request, swept, _COMPOSED_KEYS)
            yield replace(full, series=full.series + absent, complete=True)
            return
        here: dict[str, Any] = {}
        if points.holds[-1]:
            own = points.at(slice(-1, None))
            above, below, pairs = composed_bounds(own, variant, context)
            bounds = {"numerical_upper": above, "lower_2rr": below}
            bounds |= _level_bounds(own, request, variant, context)
            here = self._with_composed(full, bounds, pairs, points.at(-1), variant, context)
            coming = absent_series(request, swept, _COMPOSED_KEYS[:2], text.COMPUTING)
            coming = tuple(replace(s, computing=True) for s in coming)
            yield stated(replace(full, series=full.series + coming, **here))
        alike = swept.sweep.key in ONE_ROUND
        fewer, inside = among(swept, points, _COMPOSED_POINTS if alike else _COMPOSED_APART)
        there = inside.at(inside.holds)
        above, below, pairs = composed_bounds(there, variant, context)
        spaced, around = (fewer, inside) if alike else among(swept, points, _LEVEL_POINTS)
        levels = _level_bounds(around.at(around.holds), request, variant, context)
        # Strong composition lists some √T losses a point.
        few = int(np.clip(_LOSSES / np.sqrt(points.rounds.max()), 6, _COMPOSED_POINTS))
        fewest, within = among(swept, points, few)
        kov = bound_of(
            "kov_exact",
            exact_strong_composition(within.at(within.holds), variant, context),
            "",
            variant,
        )
        bounds, series = {}, []
        for key, shown, some, bound in (
            ("numerical_upper", fewer, inside, above),
            ("lower_2rr", fewer, inside, below),
            ("kov_exact", fewest, within, kov),
            *((key, spaced, around, bound) for key, bound in levels.items()),
        ):
            bounds[key] = bound.spread(some.holds, undefined_reason(request))
            series.append(curve(key, shown, bounds[key], variant))
        if points.holds[-1]:
            here = self._with_composed(full, bounds, pairs, points.at(-1), variant, context)
        every = (*full.series, *series)
        yield stated(replace(full, series=every, complete=True, **here))

    def _with_composed(
        self,
        full: Result,
        bounds: dict[str, Bound],
        pairs: FloatArray,
        point: Points,
        variant: Clones,
        context: Context,
    ) -> dict[str, Any]:
        """Return readouts and guarantee with what composition adds at the sliders' values."""
        won = which_won(*pairs[:, -1].tolist())
        added = tuple(
            replace(r, note="; ".join(n for n in (won, r.note) if n)) if r.key == "lower_2rr" else r
            for r in readouts_of(bounds, variant)
        )
        readouts = full.readouts + added
        known = {r.key: r.value for r in readouts if r.value is not None}
        promise = full.guarantee
        if promise is not None:
            promise = replace(
                promise,
                differences=text.differences(known, _is_figure_2a(point), float(point.local)),
                distance=total_variation(point, variant, context),
                law=text.law(variant),
            )
        return {"readouts": readouts, "guarantee": promise}

    def _epsilon(
        self,
        request: Request,
        swept: SweptPoints,
        points: Points,
        lam_max: int,
        coarse: bool,
        context: Context,
    ) -> dict[str, Any]:
        holds = points.holds
        inside = points.at(holds)
        # The numerical comparator last, so that the others keep their places, and their colours.
        keys = _EPSILON_KEYS[:-1] if coarse else _EPSILON_KEYS
        if inside.size == 0:
            return self._nothing(request) | {"series": absent_series(request, swept, _EPSILON_KEYS)}
        variant = Clones(request["clones"])
        found = epsilon_curves(inside, lam_max, variant, context, numerical=not coarse)
        values = {
            "theorem1": found.theorem1,
            "lower_rdp": found.lower_rdp,
            "clones_closed": found.closed,
            "unamplified": found.unamplified,
            "cap": found.cap,
            "clones_numerical": found.numerical,
        }
        absent = "" if holds.all() else undefined_reason(request)
        bounds = {}
        for key in keys:
            why = joined(absent, text.CLOSED_FAILS) if key == "clones_closed" else absent
            cap = spread(found.cap, holds)
            bounds[key] = bound_of(key, spread(values[key], holds), why, variant, cap)
        notes = {"theorem1": _notes(found, lam_max)}
        series = tuple(
            curve(key, swept, bound, variant, notes.get(key, "")) for key, bound in bounds.items()
        )
        if not holds[-1]:
            return self._nothing(request) | {"series": series}
        return {"series": series} | self._at_sliders(inside.at(-1), found, bounds, lam_max, variant)

    def _at_sliders(
        self,
        point: Points,
        found: EpsilonCurves,
        bounds: dict[str, Bound],
        lam_max: int,
        variant: Clones,
    ) -> dict[str, Any]:
        """Return readouts, conditions and guarantee at the sliders' values, the last point."""
        order, edge = int(found.order[-1]), bool(found.at_edge[-1])
        first, *others = readouts_of(bounds, variant)
        edge_note = "at the search edge: a larger λₘₐₓ might give less" if edge else ""
        best_order = Readout("order", "best order λ*", float(order), note=edge_note)
        readouts = (first, best_order, *others)
        here = {r.key: r.value for r in readouts if r.value is not None}
        delta = float(point.delta)
        return {
            "readouts": readouts,
            "conditions": text.conditions(
                local=float(point.local),
                sampled=float(point.sampled),
                clients=float(point.clients),
                per_round=float(
                    round_delta(point.sampled, point.clients, point.rounds, delta, SHARE)
                ),
                order=order,
                lam_max=lam_max,
                at_edge=edge,
                alone=float(found.theorem1_alone[-1]),
                cap=float(found.cap[-1]),
            ),
            "guarantee": text.guarantee(
                float(point.local),
                float(point.sampled * point.rounds / point.clients),
                text.differences(here, _is_figure_2a(point), float(point.local)),
            ),
        }

    def _renyi(
        self, request: Request, swept: SweptPoints, points: Points, coarse: bool, context: Context
    ) -> dict[str, Any]:
        holds = points.holds
        inside = points.at(holds)
        if inside.size == 0:
            return self._nothing(request) | {"series": absent_series(request, swept, _RENYI_KEYS)}
        found: RenyiCurves = renyi_curves(inside, context)
        absent = "" if holds.all() else undefined_reason(request)
        vacuous = found.theorem1_alone > found.cap
        note = "Theorem 1 alone is above the cap in places; shown is the smaller"
        values = {"theorem1": found.theorem1, "theorem2": found.lower, "renyi_cap": found.cap}
        bounds = {key: bound_of(key, spread(ys, holds), absent) for key, ys in values.items()}
        if vacuous.any():
            alone = spread(np.where(vacuous, found.theorem1_alone, np.nan), holds)
            why = text.NOT_ABOVE * (not vacuous.all())
            bounds["theorem1_alone"] = bound_of("theorem1_alone", alone, joined(absent, why))
        series = tuple(
            curve(key, swept, bound, note=note * (key == "theorem1" and bool(vacuous.any())))
            for key, bound in bounds.items()
        )
        variant = Clones(request["clones"])
        if not coarse:
            fewer, some = swept, points
            if swept.sweep.key not in ONE_ROUND:
                fewer, some = among(swept, points, _LEVEL_POINTS)
            there = some.at(some.holds)
            for key, ys in (
                ("rdp_clones", clone_levels(there, variant, context)),
                ("theorem1_sharp", sharpened_levels(there, context)),
            ):
                bounds[key] = bound_of(key, spread(ys, some.holds), absent, variant)
                series += (curve(key, fewer, bounds[key], variant),)
        if not holds[-1]:
            return self._nothing(request) | {"series": series}
        point = inside.at(-1)
        here = {key: float(bound.value[-1]) for key, bound in bounds.items()}
        here["theorem1_alone"] = float(found.theorem1_alone[-1])
        return {
            "series": series,
            "readouts": readouts_of(bounds, variant),
            "conditions": (
                text.sampling(float(point.sampled), float(point.clients)),
                text.not_vacuous(here["theorem1_alone"], here["renyi_cap"]),
                *text.ASSUMED,
            ),
            "guarantee": text.renyi_guarantee(
                here, float(point.local), float(point.sampled), float(point.clients)
            ),
        }

    def _nothing(self, request: Request) -> dict[str, Any]:
        """Return what is left to say where the sliders ask for k > n."""
        return {
            "conditions": (text.sampling(request["k"], request["n"]),),
            "notes": (f"at the sliders' values {text.MORE_THAN_ALL}: lower k or raise n",),
        }


def _level_bounds(
    points: Points, request: Request, variant: Clones, context: Context
) -> dict[str, Bound]:
    """Return ε at δ by Lemma 1 of the levels that are sharper than Theorem 1's."""
    value, edge = clone_epsilons(points, request["lam_max"], variant, context)
    clones = bound_of("rdp_clones", value, "", variant)
    sharp = sharpened_epsilons(points, request["lam_max"], context)
    return {
        "rdp_clones": replace(clones, truncated=edge),
        "theorem1_sharp": bound_of("theorem1_sharp", sharp, "", variant),
    }


def _is_figure_2a(point: Points) -> bool:
    """Whether one point is the setting of Figure 2 (a) at its last round."""
    here = (point.local, point.sampled, point.clients, point.rounds, point.delta)
    return tuple(map(float, here)) == (2.0, 1e3, 1e6, 1e5, 1e-8)


def _notes(found: EpsilonCurves, lam_max: int) -> str:
    """Return what a reader of the Theorem 1 curve must know about this sweep."""
    said_here = []
    if found.at_edge.any():
        said_here.append(
            f"the best order is λₘₐₓ = {lam_max} in places: a larger one might give less"
        )
    if (found.theorem1_alone > found.theorem1).any():
        said_here.append("Theorem 1 alone is above the cap in places; shown is the smaller")
    return "; ".join(said_here)
