"""Which mechanism estimates a histogram best: item-wise metric privacy or user-level privacy."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.privacy.core.composition import kov_exact_delta
from explorer.studies.base.claims import number_only
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import (
    Claim,
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Readout,
    Request,
    Result,
    Series,
    Study,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.frequency import text
from explorer.studies.frequency.curves import (
    Calibrated,
    calibrated,
    distances,
    laplace_distance,
    root_errors,
)
from explorer.studies.frequency.face import FACES, SHORT_NAMES
from explorer.studies.frequency.help import PAGE, PRESETS
from explorer.studies.frequency.parameters import LOCAL, PARAMETERS, QUANTITIES
from explorer.studies.frequency.points import Points, item_epsilon, points_of
from explorer.studies.frequency.regions import regions
from explorer.studies.frequency.simulation import simulated
from explorer.studies.frequency.tradeoff import audits
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.choice import ChosenSpace, chosen_space

_EXACT_POINTS, _FEW_POINTS = 48, 25
_LONG = 30_000
_QUICK_POINTS = 16
"""Points of a curve whose quick estimate is itself a search."""
_CALIBRATES = ("alpha", "eps", "delta", "m", "n", "space_near")
"""Axes along which α₀ or ε₀ changes."""


@with_tradeoff(audits=audits)
class Frequency(Study):
    """Exact errors of GKRR, Hadamard response and Laplace noise, and where each of them wins."""

    id = "frequency"
    simulated = "local.frequency/1"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        "emd": Claim(
            ("gkrr", "theorem65", "theorem66"), number_only, solves="n", besides=text.OTHERS
        ),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield a quickly calibrated answer, the exact one, and, if asked for, simulated dots."""
        space = chosen_space(request, context)
        swept = swept_points(self, request)
        coarse, _, _ = _answered(request, swept, space, context, full=False)
        only = request.fidelity is Fidelity.COARSE
        yield replace(coarse, complete=only)
        if only:
            return
        fewer = _thinned(request, swept).with_sliders()
        full, p, c = _answered(request, fewer, space, context, full=True)
        dots = bool(request["simulate"]) and c is not None
        yield replace(full, complete=not dots)
        if dots and c is not None:
            yield from simulated(full, request, fewer, p, c, context)


def _thinned(request: Request, swept: SweptPoints) -> SweptPoints:
    """Return as many points as exact calibration has time for."""
    if swept.sweep.key not in _CALIBRATES and request.quantity != "wins":
        return swept
    n = 1.0 if request["model"] == LOCAL else float(request["n"])
    m, alpha = float(request["m"]), float(request["alpha"])
    alpha0 = float(um.group_alpha0_estimate(alpha, request["delta"], m, n))
    terms = 16 * math.sqrt(m * n * math.exp(-alpha0))
    return swept.downsampled(_EXACT_POINTS if terms < _LONG else _FEW_POINTS)


def _answered(
    request: Request, swept: SweptPoints, space: ChosenSpace, context: Context, *, full: bool
) -> tuple[Result, Points, Calibrated | None]:
    if not full:
        swept = swept.downsampled(_QUICK_POINTS)
    p = points_of(swept, request)
    contest: tuple[Condition, ...] = ()
    c: Calibrated | None = None
    if request.quantity == "wins":
        item = item_epsilon(p, context, full)
        series, edge, needed, rival = regions(swept, p, item, request, context, full)
        readouts = _region_readouts(edge, float(needed[-1]), p, request)
        contest = (_who_wins(p, edge, rival, request),)
    else:
        alpha0 = swept.x if swept.sweep.key == "alpha0" else None
        c = calibrated(p, request, context, full, alpha0).carried(swept)
        series, readouts = _curves(request, swept, p, c)
    context.check()
    last = p.at(slice(-1, None))
    c_last = c or calibrated(last, request, context, full, None)
    result = Result(
        request,
        Fidelity.FULL if full else Fidelity.COARSE,
        series=series,
        tables=(_table(request, p, c_last),) if full else (),
        space=space.picture,
        readouts=(*readouts, *_parameters_found(c_last, last, request)),
        conditions=(*contest, *_conditions(request, last, c_last, context)),
        guarantee=_guarantee(request, last, c_last),
        notes=space.notes,
    )
    return result, p, c


def _curves(
    request: Request, swept: SweptPoints, p: Points, c: Calibrated
) -> tuple[tuple[Series, ...], tuple[Readout, ...]]:
    what = request.quantity
    labels = text.EMD_LABELS if what == "emd" else text.LABELS
    found = distances(p, c, request) if what == "emd" else root_errors(what, p, c, request)
    series, readouts = [], []
    for key, bound in found.items():
        note = _note(key, bound, what)
        series.append(series_from(key, labels[key], swept, bound, note=note))
        readouts.append(readout_from(key, labels[key], bound, note=note))
    return tuple(series), tuple(readouts)


def _note(key: str, bound: Bound, what: str) -> str:
    notes = [text.NOTES.get(key, "")]
    if bound.role is Role.ESTIMATE:
        notes.append(text.EXACT_COMING)
    if what == "emd" and key in ("hadamard", "laplace"):
        notes.append(text.CENTRED)
    return "; ".join(n for n in notes if n)


def _parameters_found(c: Calibrated, p: Points, request: Request) -> tuple[Readout, ...]:
    role = Role.ESTIMATE if c.estimated else Role.LOWER
    users = 1.0 if request["model"] == LOCAL else float(p.n[-1])
    scale = float(um.laplace_scale(users, float(p.eps[-1])))
    return (
        Readout("alpha0", "α₀ of GKRR", float(c.alpha0[-1]), role, "1/diameter"),
        Readout("item", "ε₀ of Hadamard response", float(c.item[-1]), role),
        Readout("scale", "scale of Laplace noise", scale, Role.EXACT),
        Readout("k", "size of the domain, k", float(p.k[-1])),
    )


def _who_wins(p: Points, edge: Bound, rival: str, request: Request) -> Condition:
    """Return whether GKRR errs less at the sliders than the user-level mechanism to beat."""
    alpha = float(p.alpha[-1])
    wins = bool(edge.valid[-1]) and alpha >= float(edge.value[-1])
    about, by = ("", "in ℓ2") if request["compared"] == "rmse" else ("about ", "in d_EM, estimated")
    needed = (
        f"it wins from {about}α = {nearest(float(edge.value[-1]))}"
        if edge.valid[-1]
        else edge.reason
    )
    return Condition(
        f"GKRR errs less than {text.RIVALS[rival]} at these sliders ({by})",
        wins,
        f"α = {nearest(alpha)}; {needed}",
        short="GKRR has the smaller error here",
    )


def _region_readouts(
    edge: Bound, needed: float, p: Points, request: Request
) -> tuple[Readout, ...]:
    note = "" if request["compared"] == "rmse" else text.ESTIMATED
    found = [readout_from("edge", "α from which GKRR wins", edge, unit="1/diameter", note=note)]
    exact = Role.ESTIMATE if note else Role.EXACT
    if math.isfinite(needed):
        found.append(Readout("needed", "α₀ there", needed, exact, "1/diameter"))
    if edge.valid[-1]:
        ratio = float(edge.value[-1]) / float(p.eps[-1])
        found.append(Readout("ratio", "that α over ε", ratio, edge.role))
    return tuple(found)


def _table(request: Request, p: Points, c: Calibrated) -> Table:
    """Return all errors of all mechanisms at the sliders."""
    last = p.at(slice(-1, None))
    own = Calibrated(
        c.alpha0[-1:],
        c.estimated,
        c.theorem[-1:],
        c.theorem_holds[-1:],
        c.printed[-1:],
        c.printed_holds[-1:],
        c.item[-1:],
        c.item_printed[-1:],
    )
    items = root_errors("rmse", last, own, request)
    clusters = root_errors("cluster", last, own, request)
    users = 1.0 if request["model"] == LOCAL else float(last.n[0])
    scale = float(um.laplace_scale(users, float(last.eps[0])))
    own_parameter = {
        "gkrr": own.alpha0[0],
        "gkrr_theorem": own.theorem[0],
        "gkrr_printed": own.printed[0],
        "hadamard": own.item[0],
        "hadamard_printed": own.item_printed[0],
        "laplace": scale,
        "laplace_printed": scale / 2,
    }
    rows: list[tuple[str, str, *tuple[float | None, ...]]] = []
    for key, label in text.LABELS.items():
        if key.startswith("one_"):
            if key in items:
                pure = float(last.eps[0])
                rows.append((label, "ε", pure, float(items[key].value[0]), None, None))
            continue
        symbol = {"g": "α₀", "h": "ε₀", "l": "scale"}[key[0]]
        pair = (items[key], clusters[key])
        root, across = (float(b.value[0]) if b.valid[0] else None for b in pair)
        d = None
        if key in ("laplace", "laplace_printed"):
            d = float(laplace_distance(last, request, 1.0 if key == "laplace" else 2.0)[0])
        elif root is not None and across is not None:
            d = float(um.emd_bound(last.s, last.t, last.r, root**2, across**2)[0])
        there = key != "gkrr_theorem" or bool(own.theorem_holds[0])
        rows.append((label, symbol, float(own_parameter[key]) if there else None, root, across, d))
    return Table(
        "mechanisms",
        "Mechanisms at the sliders",
        ("mechanism", "its", "parameter", "RMSE", "RMSE of clusters", "d_EM, at most"),
        tuple(rows),
        note=(
            "Errors of the signed estimate; RMSE exact, that of clusters an upper bound for "
            "Hadamard response. d_EM by the halved Theorem 6.5, shifted to sum 1 where it is not; "
            "that of Laplace noise is exact. Empty cells: the calibration's condition fails "
            "(Theorem 4.4 has no α₀ then), or items can't be told apart."
        ),
        roles=(
            None,
            None,
            [Role.UPPER if row[1] == "scale" else Role.LOWER for row in rows],
            Role.EXACT,
            Role.UPPER,
            Role.UPPER,
        ),
    )


def _conditions(
    request: Request, p: Points, c: Calibrated, context: Context
) -> tuple[Condition, ...]:
    eps, m, item = float(p.eps[-1]), float(p.m[-1]), float(c.item_printed[-1])
    true = context.memo(
        ("frequency-printed-delta", eps, m, item), lambda: float(kov_exact_delta(eps, item, m))
    )
    return text.conditions(
        alpha=float(p.alpha[-1]),
        eps=eps,
        delta=float(p.delta[-1]),
        m=m,
        n=float(p.n[-1]),
        k=float(p.k[-1]),
        r=float(p.r[-1]),
        t=float(p.t[-1]),
        hadamard_delta=true,
        local=request["model"] == LOCAL,
    )


def _guarantee(request: Request, p: Points, c: Calibrated) -> Guarantee:
    def at(column: FloatArray) -> float:
        return float(np.asarray(column)[-1])

    return text.guarantee(
        alpha=at(p.alpha),
        eps=at(p.eps),
        delta=at(p.delta),
        near=at(p.near),
        alpha0=at(c.alpha0),
        item=at(c.item),
        alone=at(p.t) == 1,
        local=request["model"] == LOCAL,
    )
