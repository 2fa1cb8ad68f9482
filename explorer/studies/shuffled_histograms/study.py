"""Histograms in the shuffled model: error, noise, users, messages and what missing users cost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.core.bound import Role
from explorer.privacy.histograms import Adjacency, Query, count_delta, single_message_epsilon
from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
from explorer.studies.base.claims import number_only
from explorer.studies.base.randomiser_table import table_key, table_of
from explorer.studies.base.study import (
    Claim,
    Context,
    Fidelity,
    Readout,
    Request,
    Result,
    Study,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.shuffled_histograms import curves, tables, text, tradeoff
from explorer.studies.shuffled_histograms.curve_sets import Drawn, dots, draw, draw_users
from explorer.studies.shuffled_histograms.curves import Points
from explorer.studies.shuffled_histograms.face import FACES, SHORT_NAMES
from explorer.studies.shuffled_histograms.help import PAGE
from explorer.studies.shuffled_histograms.parameters import PARAMETERS, QUANTITIES
from explorer.studies.shuffled_histograms.presets import PRESETS

_NOISY = ("n", "eps", "delta", "trusted")
"""Sweeps along which every point has a noise of its own to calibrate."""
_COARSE_POINTS = 12
_POINTS = 100
_SLOW_POINTS = 50
_USERS_POINTS = 25
_SLOW_USERS_POINTS = 7
_SLOW_EPS = 0.3
"""Below it a calibration takes up to a tenth of a second: fewer points then."""


@with_tradeoff(tradeoff.USES, laws=tradeoff.laws, promising=("law",), audits=tradeoff.audits)
class ShuffledHistograms(Study):
    """P_hist and P_zsum beside the local and the central model."""

    id = "histograms"
    simulated = "shuffle.histogram/1"
    references = (
        text.THEOREM_32,
        text.THEOREM_31,
        text.EXACT,
        text.LAW,
        text.MESSAGES,
        text.TABLE_1,
        text.TABLE_2,
        text.CLAIMS,
        UNARY,
        LAPLACE,
        STABLE,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        key: Claim(("tails", "calibrated"), number_only, solves="n", besides=text.OTHERS)
        for key in ("error", "query")
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield few calibrations first, then all, then simulated dots, then the slow tables."""
        swept, kind = swept_points(self, request), Query(request["release"])
        what, coarse = request.quantity, request.fidelity is Fidelity.COARSE
        if what == "users":
            best = None
            points = _SLOW_USERS_POINTS if request["eps"] < 2 * _SLOW_EPS else _USERS_POINTS
            for drawn, share in draw_users(swept, kind, context, points):
                best = self._result(request, drawn, kind, context)
                last = coarse and share < 1
                yield replace(
                    best,
                    fidelity=Fidelity.COARSE if share < 1 else Fidelity.FULL,
                    progress=share,
                    complete=last,
                )
                if last:
                    return
            assert best is not None
            yield from self._with_tables(best, context)
            return
        noisy = swept.sweep.key in _NOISY
        drawn = draw(what, swept, swept.downsampled(_COARSE_POINTS), kind, context)
        first = self._result(request, drawn, kind, context)
        yield replace(first, fidelity=Fidelity.COARSE, complete=coarse)
        if coarse:
            return
        fewer = swept
        if noisy or what == "loss":
            slow = noisy and swept.sweep.key != "eps" and request["eps"] < _SLOW_EPS
            fewer = swept.downsampled(_SLOW_POINTS if slow else _POINTS)
        drawn = draw(what, swept, fewer, kind, context)
        full = self._result(request, drawn, kind, context)
        yield full
        if what in ("error", "query", "rmse") and request["simulate"]:
            curves_only = full.series
            for series, share in dots(request, what, fewer, kind, context):
                full = replace(full, series=(*curves_only, series), progress=0.9 * share)
                yield full
        yield from self._with_tables(full, context)

    def _with_tables(self, full: Result, context: Context) -> Iterator[Result]:
        """Yield the answer with the tables that take a moment: Table 2, reductions, views."""
        request = full.request
        eps, delta = float(request["eps"]), float(request["delta"])
        levels, length = int(request["levels"]), int(request["length"])
        children, crowd = int(request["children"]), int(request["crowd"])
        numbers = context.memo(
            ("histograms", "table 2", eps, delta, levels, length),
            lambda: context.run_in_worker(tables.table_2_rows, eps, delta, levels, length),
        )
        context.check()
        runs = context.memo(
            ("histograms", "reductions", eps, delta, levels, children, length, request.seed),
            lambda: context.run_in_worker(
                tables.reduction_rows, eps, delta, levels, children, length, request.seed
            ),
        )
        kind, own, key = str(request["own"]), None, tuple[object, ...]()
        if kind != "none":
            table = table_of(request, kind, "own_table", context)
            own = None if table is None else tables.own_randomiser(table)
            key = table_key(request, kind, "own_table")
        views: Table = context.memo(
            ("histograms", "views", crowd, *key),
            lambda: context.run_in_worker(tables.views, crowd, own),
        )
        more = (
            tables.table_2(numbers, eps, delta),
            tables.separation(numbers, eps),
            tables.reductions(runs),
            views,
            tables.one_by_one(crowd, request.seed),
        )
        yield replace(full, tables=full.tables + more, complete=True, progress=1.0)

    def _result(self, request: Request, drawn: Drawn, kind: Query, context: Context) -> Result:
        swept = swept_points(self, request)
        here = SweptPoints(swept.sweep, np.empty(0), {k: v[-1:] for k, v in swept.columns.items()})
        one = Points.of(here, kind)
        noise = curves.calibrated(one, context)
        readouts = tuple(
            readout_from(key, text.named(key, kind)[0], bound)
            for key, (_, bound) in drawn.bounds.items()
        )
        return Result(
            request,
            Fidelity.FULL,
            series=drawn.series(),
            readouts=readouts + _plain(one, noise),
            **_at_sliders(request, one, noise, kind, context),
        )


def _plain(one: Points, noise: curves.Noise) -> tuple[Readout, ...]:
    """Return the protocol's own numbers at the sliders' values."""
    q = float(noise.q[-1]) if noise.valid[-1] else None
    alone = single_message_epsilon(float(one.eps[-1]), float(one.n[-1]))
    lemma = Readout("alone", text.ALONE, alone, Role.UPPER, note=text.ALONE_NOTE)
    label = "1−p, a noise bit not sent"
    if q is None:
        return (Readout("q", label, None, note=noise.reason), lemma)
    return (
        Readout("q", label, q),
        Readout("edge", "truncation edge n(1−p)", float(one.n[-1]) * q),
        lemma,
    )


def _at_sliders(
    request: Request, one: Points, noise: curves.Noise, kind: Query, context: Context
) -> dict[str, Any]:
    """Return conditions, guarantee and Table 1 at the sliders' values."""
    eps, delta, n = float(one.eps[0]), float(one.delta[0]), float(one.n[0])
    held, feasible = float(one.held[0]), bool(noise.valid[0])
    q = float(noise.q[0]) if feasible else np.nan
    what, h = request.quantity, float(one.h[0])
    shared = what == "error" and kind is Query.HISTOGRAM
    adding = float(one.adding[0]) if what == "loss" else None
    reached = None
    if feasible and adding is not None and adding != held:
        reached = float(curves.exact_delta(kind, eps, adding, q))
    paper = curves.printed(one)
    out: dict[str, Any] = {
        "conditions": text.conditions(
            kind,
            eps,
            delta,
            n,
            held,
            held * q if feasible else np.inf,
            beta=float(one.beta[0]) / (h if shared else 1) if what in ("error", "query") else None,
            values=(h, float(min(one.n[0], one.d[0]))) if shared else None,
            adding=adding,
            reached=reached,
        )
    }
    if kind is Query.HISTOGRAM:
        errors = {
            "calibrated": curves.error("calibrated", one, noise, one.h),
            "tails": curves.tails(one, noise, one.h, context),
            "paper": curves.error("paper", one, paper, one.h),
            "printed": curves.printed_error("printed", one, paper, one.n),
        } | curves.comparators(one, "error")
        sent = {
            "messages": curves.sent("messages", one, noise),
            "paper_messages": curves.sent("paper_messages", one, paper),
        } | curves.other_messages(one)
        out["tables"] = (tables.table_1(errors, sent, h),)
    if not feasible:
        out["notes"] = (
            "at the sliders' values no noise reaches (ε, δ): raise n, ε or δ, or trust more users",
        )
        return out
    if reached is not None:
        delta = reached
    users = held if adding is None else adding
    removal = float(count_delta(eps, users, 1 - q, Adjacency.REMOVE))
    local = curves.comparators(one, "query")["local"].value[0]
    own = curves.tails(one, noise, np.ones(1), context).value[0]
    out["guarantee"] = text.guarantee(
        kind,
        eps,
        delta,
        held,
        adding,
        removal,
        curves.apart(kind, users, q, context),
        text.differences(
            kind,
            n * q,
            n * float(paper.q[0]) if paper.valid[0] else None,
            1 - q,
            float(one.d[0]),
            float(local / own),
        ),
    )
    return out
