"""One randomiser that is known: which one, and the curves of what its shuffled messages leak."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.core.checks import DELTA_MIN
from explorer.privacy.randomisers.crowd import COARSE, FINE
from explorer.privacy.randomisers.known import (
    Family,
    Known,
    known_family,
    known_table,
    worst_delta,
    worst_epsilon,
)
from explorer.privacy.randomisers.tables import ExactCrowd, enumerable
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.amplification import curves, own_text
from explorer.studies.base.claims import stated
from explorer.studies.base.randomiser_table import FILE, TYPED, table_key, table_of
from explorer.studies.base.study import Context, Fidelity, Request, Result
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from

_COARSE_POINTS = 6
_POINTS = 33
_FEW = 8
"""Classes of messages, over all pairs, up to which every point is computed finely."""

Chosen = Callable[[float], Known]


def chosen(request: Request, context: Context) -> Chosen | None:
    """Return the randomiser that a request names, given ε₀; None if its file is not chosen yet.

    Raises
    ------
    ValueError
        If its table is none of a randomiser: naming file or table, line, field and remedy.
    LookupError
        If the file is not open.
    """
    kind = str(request["randomiser"])
    if kind in (TYPED, FILE):
        if kind == FILE and not request["table_file"]:
            return None
        table: Known = context.memo(
            ("amplification", "own table", *table_key(request, kind, "table")),
            lambda: known_table(_table(request, kind, context)),
        )
        return lambda _: table
    more = {
        Family.K_ARY: {"outcomes": int(request["outcomes"])},
        Family.UNARY: {"kept": float(request["kept"])},
        Family.TWO_LEVEL: {"theta": float(request["theta"])},
    }
    family = Family(kind)
    return lambda eps0: known_family(family, eps0, **more.get(family, {}))  # type: ignore[arg-type]


def _table(request: Request, kind: str, context: Context) -> FloatArray:
    found = table_of(request, kind, "table", context)
    assert found is not None
    return found


def answer(request: Request, points: SweptPoints, context: Context) -> Iterator[Result]:
    """Yield few points with much noise first, then more with little."""
    own = chosen(request, context)
    some = points.downsampled(_COARSE_POINTS)
    done = request.fidelity is Fidelity.COARSE
    first = _result(request, some, own, context, COARSE)
    yield replace(first, fidelity=Fidelity.COARSE, complete=done)
    if done:
        return
    yield _result(request, points.downsampled(_POINTS), own, context, FINE)


def _result(
    request: Request, points: SweptPoints, own: Chosen | None, context: Context, blur: float
) -> Result:
    what = "eps" if request.quantity == "own" else "delta"
    known = [own(eps0) if own else None for eps0 in points["eps0"].tolist()]
    if known[-1] is not None and str(request["randomiser"]) in (TYPED, FILE):
        # A table has an ε₀ of its own, which the general bounds are taken at.
        local = np.full(points["eps0"].shape, known[-1].eps0)
        points = replace(points, columns={**points.columns, "eps0": local})
    bounds = _general(points, what, context)
    cap = np.fmin(bounds["exact_2023"].value, bounds["local"].value)
    own_bounds = _own(points, what, known, cap, context, blur)
    bounds = {**own_bounds, **bounds}
    readouts = tuple(
        readout_from(key, own_text.label(key), bound, note=own_text.ABOUT.get(key, ""))
        for key, bound in bounds.items()
    )
    series = tuple(
        series_from(
            key,
            own_text.label(key),
            points,
            bound,
            note=own_text.ABOUT.get(key, ""),
            assumes=own_text.ASSUMES.get(key, ()),
        )
        for key, bound in bounds.items()
        if key != "local"
    )
    here = known[-1]
    n = float(points["n"][-1])
    apart = 1.0
    if here is not None:
        apart = worst_delta(here.blankets, n, 0.0, COARSE)
    if math.isfinite(points["eps0"][-1]):
        apart = min(apart, curves.apart(float(points["eps0"][-1]), n, context))
    eps0 = float(points["eps0"][-1])
    return stated(
        Result(
            request,
            Fidelity.FULL,
            complete=True,
            series=series,
            readouts=readouts,
            conditions=own_text.conditions(request, eps0),
            guarantee=own_text.guarantee(request, eps0, apart, {r.key: r.value for r in readouts}),
            notes=own_text.notes(request, eps0),
        )
    )


def _general(points: SweptPoints, what: str, context: Context) -> dict[str, Bound]:
    """Return the bounds for all ε₀-LDP randomisers; nothing if ε₀ is infinite."""
    if math.isfinite(points["eps0"][-1]):
        found = curves.exact(points, what, (Clones.STRONGER, Clones.PUBLISHED), context)
        return {
            "exact_2023": found[Clones.STRONGER],
            "exact_2021": found[Clones.PUBLISHED],
            "local": curves.local(points, what),
        }
    nothing = np.full(points.x.size + 1, np.nan)
    return {
        key: own_text.bound(key, nothing, own_text.INFINITE)
        for key in ("exact_2023", "exact_2021", "local")
    }


def _own(
    points: SweptPoints,
    what: str,
    known: list[Known | None],
    cap: FloatArray,
    context: Context,
    blur: float,
) -> dict[str, Bound]:
    """Return the randomiser's own bounds, none of them above the one after it."""
    size = points.x.size + 1
    at = points["delta" if what == "eps" else "eps"]
    found = {key: np.full(size, np.nan) for key in ("own_exact", "own_blanket", "own_ratio")}
    part = 1.0
    for i in range(size):
        law, n, x = known[i], float(points["n"][i]), float(at[i])
        if law is None:
            continue
        context.check()
        classes = sum(each.mass.size for each in law.blankets)
        fine = blur if classes <= _FEW or i == size - 1 else COARSE
        ratio = math.nan
        if what == "eps":
            blanket = worst_epsilon(law.blankets, n, x, fine, part * _finite(cap[i]))
            if law.ratios:
                ratio = min(worst_epsilon(law.ratios, n, x, fine, blanket), _top(cap[i]))
            # Beside each other on the axis they are in about the same proportion to the clones.
            part = blanket / cap[i] if 0 < blanket < cap[i] else 1.0
        else:
            blanket = worst_delta(law.blankets, n, x, fine)
            if law.ratios:
                ratio = min(worst_delta(law.ratios, n, x, fine), _top(cap[i]))
        blanket = float(np.fmin(blanket, np.fmin(cap[i], ratio)))
        exact = _exact(law, n, context)
        if exact is not None:
            found["own_exact"][i] = exact.epsilon(x) if what == "eps" else exact.delta(x)
            blanket = max(blanket, found["own_exact"][i])
        found["own_ratio"][i], found["own_blanket"][i] = ratio, blanket
        if what == "delta":
            for key in ("own_ratio", "own_blanket"):
                found[key][i] = max(found[key][i], DELTA_MIN)
    missing = known[-1] is None
    reasons = {
        "own_exact": own_text.TOO_MANY,
        "own_blanket": own_text.BARE,
        "own_ratio": own_text.RATIO_INFINITE,
    }
    return {
        key: own_text.bound(key, values, own_text.NO_FILE if missing else reasons[key])
        for key, values in found.items()
    }


def _top(cap: float) -> float:
    return math.inf if math.isnan(cap) else float(cap)


def _finite(cap: float) -> float:
    return float(cap) if math.isfinite(cap) else 0.0


def _exact(law: Known, n: float, context: Context) -> ExactCrowd | None:
    table = law.table
    if table is None or not enumerable(table.shape[0], table.shape[1], int(n)):
        return None
    made: ExactCrowd = context.memo(
        ("amplification", "own exact", table.tobytes(), table.shape, n),
        lambda: ExactCrowd(table, int(n)),
    )
    return made
