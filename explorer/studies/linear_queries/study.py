"""What noise an averaged query needs, by every mechanism there is."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.core.bound import Bound, Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import (
    Claim,
    Condition,
    Context,
    Fidelity,
    Readout,
    Request,
    Result,
    Series,
    SpacePicture,
    Study,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.linear_queries import text
from explorer.studies.linear_queries.curves import (
    Moved,
    errors,
    norms_of,
    slider_query,
    slopes,
    true_deltas,
)
from explorer.studies.linear_queries.face import FACES, SHORT_NAMES
from explorer.studies.linear_queries.help import PAGE, PRESETS
from explorer.studies.linear_queries.parameters import (
    CELLS,
    GIVEN,
    LOCAL,
    PARAMETERS,
    QUANTITIES,
)
from explorer.studies.linear_queries.queries import Query
from explorer.studies.linear_queries.tables import slope_table, true_deltas_at, width_table
from explorer.studies.linear_queries.tradeoff import audits
from explorer.studies.metric_space.choice import ChosenSpace, chosen_space

_COARSE_POINTS = 5
_AT_ONCE = 4_000_000
"""Numbers to go through, over all points, that make a coarse answer worth while."""
_MOST = 20_000_000


@with_tradeoff(("alpha", "delta", "w", "p"), audits=audits)
class LinearQueries(Study):
    """Errors of K-norm and Gaussian noise under d_EM, with the query's Lipschitz constant."""

    id = "linear-queries"
    simulated = "metric.sum/1"
    references = (
        text.LIPSCHITZ,
        text.K_NORM,
        text.ANALYTIC,
        text.TEXTBOOK,
        text.PRINTED,
        text.USER,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        key: Claim(
            ("kinf", "k2", "kp", "k1"),
            text.claim_words,
            "mechanisms",
            solves="alpha",
            besides=text.GAUSSIAN,
        )
        for key in ("rmse", "coordinate", "euclid")
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves, at first few points where many pairs are looked at, then all tables."""
        space = chosen_space(request, context)
        points = swept_points(self, request)
        query = slider_query(request, space, context)
        context.check()
        if query.missing and request.quantity != "true_delta":
            yield _nothing(request, points, space, query)
            return
        work = _work(request, points, query)
        if work > _AT_ONCE:
            few = points.downsampled(_COARSE_POINTS)
            coarse = _answered(request, few, space, query, context)
            if request.fidelity is Fidelity.COARSE:
                yield replace(coarse, fidelity=Fidelity.COARSE, complete=True)
                return
            yield replace(coarse, fidelity=Fidelity.COARSE)
            kept = max(_COARSE_POINTS, int(points.x.size * min(1.0, _MOST / work)))
            points = points.downsampled(kept)
        full = _answered(request, points, space, query, context)
        if request.fidelity is Fidelity.COARSE:
            yield replace(full, complete=True)
            return
        # Tables change too much to be laid out anew at every step of a slider.
        yield full
        tables = (width_table(request, context), *slope_table(request, space, query, context))
        yield replace(full, tables=tables, complete=True)


def _work(request: Request, points: SweptPoints, query: Query) -> float:
    """Return about how many numbers must be gone through."""
    if request["query"] == GIVEN or request.quantity == "true_delta" or not query.complete:
        return 0.0
    swept = points.sweep.key
    if swept == "p":
        return float(points.x.size * query.entries)
    if swept == "width" and request["query"] == CELLS:
        return float(points.x.size * query.entries * len(norms_of(points)))
    return 0.0


def _answered(
    request: Request, points: SweptPoints, space: ChosenSpace, query: Query, context: Context
) -> Result:
    m: Moved | None = None
    if request.quantity == "true_delta":
        bounds = true_deltas(points)
    elif request.quantity == "lip":
        bounds, m = slopes(points, request, space, context)
    else:
        bounds, m = errors(request.quantity, points, request, space, context)
    context.check()
    true = true_deltas_at(float(request["alpha"]), float(request["delta"]))
    labels = _labels(request, points, true[0])
    series = tuple(
        series_from(
            key,
            labels[key],
            points,
            bound,
            note=_note(request, key, bound),
            assumes=(text.PRINTED_PRIVATE,) * (key == "printed"),
        )
        for key, bound in bounds.items()
    )
    readouts = [
        readout_from(key, labels[key], bound, note=_note(request, key, bound))
        for key, bound in bounds.items()
    ]
    last = math.nan if m is None else float(m.lip[-1])
    return Result(
        request,
        request.fidelity,
        series=series,
        readouts=(*readouts, *_more(request, m, bounds, space, query, true)),
        conditions=_conditions(request, m, true),
        guarantee=text.guarantee(
            alpha=float(request["alpha"]),
            delta=float(request["delta"]),
            w=float(request["w"]),
            local=request["model"] == LOCAL,
            n=float(request["n"]),
            differences=text.DIFFERENCES,
        )
        if m is None or math.isfinite(last)
        else None,
        space=_picture(space, query),
        notes=tuple(n for n in (*space.notes, query.note, text.CONSTANT if last == 0 else "") if n),
    )


def _labels(request: Request, points: SweptPoints, printed: float) -> dict[str, str]:
    if request.quantity == "lip":
        labels = dict(text.SLOPE_LABELS)
    else:
        labels = dict(text.LABELS)
        labels["printed"] = text.printed_label(printed <= float(request["delta"]))
    if points.sweep.key != "p":
        labels["kp"] = labels["kp"].replace("ℓp", f"ℓ{nearest(float(request['p']))}")
    return labels


def _note(request: Request, key: str, bound: Bound) -> str:
    what = request.quantity
    found = []
    if key == "printed":
        found.append("as the paper (v1) prints it, never to calibrate with: errata user-B1")
    if what in ("own", "quantile"):
        found.append(text.OWN_NORM)
        if request["model"] == LOCAL:
            found.append(text.ONE_USER)
    if what in ("euclid", "coordinate") and bound.role is Role.UPPER and key.startswith("k"):
        found.append(text.JENSEN)
    return "; ".join(found)


def _more(
    request: Request,
    m: Moved | None,
    bounds: dict[str, Bound],
    space: ChosenSpace,
    query: Query,
    true: tuple[float, float],
) -> tuple[Readout, ...]:
    """Return the numbers behind the curves: ℓ, widths with their true δ, errors as lengths."""
    found: list[Readout] = []
    if m is not None and request.quantity != "lip" and math.isfinite(m.lip[-1]):
        role = Role.EXACT if m.last is None or m.last.attained else Role.UPPER
        found.append(Readout("lip", "Lipschitz constant, ℓ2", float(m.lip[-1]), role))
        found.append(Readout("dim", "dimension of the answer", float(m.dim[-1])))
    if m is not None and m.last is not None and m.last.first:
        pair = f"{m.last.first} and {m.last.second}"
        found.append(
            Readout("steepest", "steepest pair found, ℓ2", m.last.found, Role.LOWER, note=pair)
            if math.isfinite(m.last.found)
            else Readout("steepest", "steepest pair found, ℓ2", None, note=f"infinite: {pair}")
        )
    if request.quantity != "true_delta":
        printed, textbook = true
        found.append(
            Readout(
                "delta_printed",
                "true δ of the printed width",
                printed,
                Role.EXACT,
                note="" if printed <= request["delta"] else text.NOT_PRIVATE,
            )
        )
        found.append(
            Readout(
                "delta_textbook",
                "true δ of the textbook width",
                textbook,
                Role.EXACT,
                note="" if textbook <= request["delta"] else text.NOT_PRIVATE,
            )
        )
    if query.in_lengths and space.unit and request.quantity not in ("lip", "true_delta"):
        for key in ("k1", "k2", "kinf", "kp", "gauss", "user"):
            bound = bounds.get(key)  # there is no ℓp curve where p is 1 or 2
            if bound is not None and bound.valid[-1]:
                length = float(bound.value[-1]) * space.diameter
                label = f"length, {text.LABELS[key]}"
                found.append(Readout(f"{key}_length", label, length, bound.role, space.unit))
    return tuple(found)


def _conditions(
    request: Request, m: Moved | None, true: tuple[float, float]
) -> tuple[Condition, ...]:
    printed, textbook = true
    given = m is None or m.last is None
    return text.conditions(
        lip=float(request["slope"]) if m is None else float(m.lip[-1]),
        attained=None if given else m.last.attained,  # type: ignore[union-attr]  # given says so
        alpha=float(request["alpha"]),
        delta=float(request["delta"]),
        printed=printed,
        textbook=textbook,
        local=request["model"] == LOCAL,
    )


def _picture(space: ChosenSpace, query: Query) -> SpacePicture | None:
    """Return the space's picture with the landmarks in it, where the picture has room for them."""
    if space.picture is None or query.centres is None:
        return space.picture
    points = np.concatenate([space.picture.points, query.centres])
    groups = np.concatenate([space.picture.groups, np.ones(len(query.centres), dtype=np.intp)])
    note = f"{space.picture.note} The second colour: the query's landmarks or cells."
    return replace(space.picture, points=points, groups=groups, note=note.strip())


def _nothing(request: Request, points: SweptPoints, space: ChosenSpace, query: Query) -> Result:
    """Return what is left to say while there is no query: a file is missing, or does not fit."""
    nowhere = np.full(points.x.size + 1, np.nan)
    absent = np.zeros(nowhere.shape, bool)
    bound = Bound(nowhere, Role.EXACT, text.K_NORM, absent, query.missing)
    labels: dict[str, Any] = text.SLOPE_LABELS if request.quantity == "lip" else text.LABELS
    series: tuple[Series, ...] = (series_from("k1", labels["k1"], points, bound),)
    return Result(
        request,
        request.fidelity,
        series=series,
        readouts=(readout_from("k1", labels["k1"], bound),),
        conditions=(Condition("The query and its space are given", False, query.missing),),
        space=space.picture,
        notes=(query.missing, *space.notes),
        complete=True,
    )
