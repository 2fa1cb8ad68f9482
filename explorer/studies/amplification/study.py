"""What one shuffle does to the privacy of single messages: closed, exact, from below."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray
from explorer.privacy.randomisers.blanket import BLANKET, VARIATION_RATIO
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.amplification import curves, own, own_text, text, tradeoff
from explorer.studies.amplification.face import FACES, SHORT_NAMES
from explorer.studies.amplification.help import PAGE
from explorer.studies.amplification.parameters import PARAMETERS, QUANTITIES
from explorer.studies.amplification.presets import PRESETS
from explorer.studies.base.claims import stated
from explorer.studies.base.phrases import which_won
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Mark,
    Request,
    Result,
    Series,
    Study,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff

_COARSE_POINTS = 12
_EXACT_POINTS, _FEW_POINTS = 100, 50
"""Where every point has a crowd of its own, a few milliseconds each; few where it is huge."""
_HUGE_CROWD = 1e8
_LOWER_POINTS = 9
_LOWER_COUNTS = 8e6
"""Counts listed for the lower bound before its points are downsampled, and to how few at most."""
_QUICK_CROWD = 1_000_000


@with_tradeoff(
    tradeoff.USES,
    laws=tradeoff.laws,
    promising=("law_2021", "law_2023"),
    audits=tradeoff.audits,
    patient=True,
)
class AmplificationStudy(Study):
    """Privacy amplification by shuffling, one round."""

    id = "amplification"
    references = (
        text.CLOSED,
        text.EXACT_2021,
        text.EXACT_2023,
        text.LOWER,
        text.LOCAL,
        text.CONDITION_8,
        text.CONDITION_9,
        BLANKET,
        VARIATION_RATIO,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims = text.CLAIMS | own_text.CLAIMS

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves at few points first where every point has a crowd of its own."""
        points = swept_points(self, request)
        if request.quantity == "region":
            yield self._region(request, points, context)
            return
        if request.quantity in ("own", "own_delta"):
            yield from own.answer(request, points, context)
            return
        quick = points.sweep.key == "eps" and request["n"] <= _QUICK_CROWD
        if request.fidelity is Fidelity.COARSE or not quick:
            done = request.fidelity is Fidelity.COARSE
            some = points.downsampled(_COARSE_POINTS)
            yield self._curves(request, some, context, Fidelity.COARSE, done)
            if done:
                return
        yield self._curves(request, points, context, Fidelity.FULL, True)

    def _curves(
        self,
        request: Request,
        points: SweptPoints,
        context: Context,
        fidelity: Fidelity,
        complete: bool,
    ) -> Result:
        what = request.quantity
        alike = points.sweep.key in ("delta", "eps")
        huge = float(points["n"].max()) > _HUGE_CROWD
        some = points if alike else points.downsampled(_FEW_POINTS if huge else _EXACT_POINTS)
        bounds = {"closed": curves.closed(points, what)}
        series = [_curve("closed", points, bounds["closed"])]
        for variant, bound in curves.exact(some, what, tuple(Clones), context).items():
            key = f"exact_{variant.value}"
            bounds[key] = bound
            series.append(_curve(key, some, bound))
        bounds["local"] = curves.local(points, what)
        series.append(_curve("local", points, bounds["local"]))
        if what == "eps":
            series.append(_outside(some, bounds["exact_2021"]))
        at_sliders, pairs = dict(bounds), None
        if fidelity is Fidelity.FULL:
            # Last, so that the others keep their places. A large crowd has counts by the hundred
            # thousand: fewer points then.
            share = _LOWER_COUNTS / max(curves.lower_cost(points), 1.0)
            fewer = points.downsampled(max(_LOWER_POINTS, int(share * points.x.size)))
            at_sliders["lower"], pairs = curves.lower(fewer, what, context)
            series.append(_curve("lower", fewer, at_sliders["lower"]))
        return stated(
            Result(
                request,
                fidelity,
                complete=complete,
                series=tuple(series),
                **self._at_sliders(request, at_sliders, pairs, context),
            )
        )

    def _at_sliders(
        self,
        request: Request,
        bounds: dict[str, Bound],
        pairs: FloatArray | None,
        context: Context,
    ) -> dict[str, Any]:
        """Return readouts, conditions and guarantee at the sliders' values.

        `pairs` are both that the lower bound is the larger of, if it is there.
        """
        eps0, n = float(request["eps0"]), float(request["n"])
        notes = dict(text.ABOUT)
        if pairs is not None:
            notes["lower"] = f"{which_won(*pairs[:, -1].tolist())}; {notes['lower']}"
        readouts = tuple(
            readout_from(key, text.CURVES[key][0], bound, note=notes.get(key, ""))
            for key, bound in bounds.items()
        )
        here = {r.key: r.value for r in readouts}
        exact = float(bounds["exact_2021"].value[-1])
        apart = curves.apart(eps0, n, context)
        if request.quantity == "delta":
            epsilon, delta = float(request["eps"]), exact
            return {
                "readouts": readouts,
                "conditions": text.conditions(
                    eps0, n, delta, epsilon, curves.closed_delta(epsilon, eps0, n)
                ),
                "guarantee": text.guarantee(
                    eps0, apart, text.delta_differences(here, eps0, epsilon)
                ),
            }
        delta = float(request["delta"])
        return {
            "readouts": readouts,
            "conditions": text.conditions(eps0, n, delta, exact),
            "guarantee": text.guarantee(
                eps0,
                apart,
                text.differences(
                    eps0,
                    n,
                    delta,
                    here["closed"],
                    exact,
                    float(bounds["exact_2023"].value[-1]),
                    here.get("lower"),
                ),
            ),
        }

    def _region(self, request: Request, points: SweptPoints, context: Context) -> Result:
        """Return where the closed forms say anything, with the sliders' own point in it."""
        bounds = curves.region(points)
        eighth = bounds["condition_8"]
        floor = np.where(eighth.valid, 0.0, np.nan)
        series = [
            _curve("condition_8", points, eighth, mark=Mark.AREA, low=floor, high=eighth.value),
            _curve("condition_9", points, bounds["condition_9"]),
        ]
        label, role, reference = text.CURVES["here"]
        at = np.array([float(request[points.sweep.key])])
        series.append(
            Series(
                "here",
                label,
                role,
                at,
                np.array([float(request["eps0"])]),
                reference,
                mark=Mark.DOTS,
            )
        )
        one = SweptPoints(points.sweep, np.empty(0), {k: v[-1:] for k, v in points.columns.items()})
        exact = curves.exact(one, "eps", tuple(Clones), context)
        low, pairs = curves.lower(one, "eps", context)
        own = {
            "closed": curves.closed(one, "eps"),
            "exact_2021": exact[Clones.PUBLISHED],
            "exact_2023": exact[Clones.STRONGER],
            "lower": low,
        }
        more = self._at_sliders(request, own, pairs, context)
        values = {r.key: r.value for r in more["readouts"]}
        limits = tuple(
            readout_from(key, text.CURVES[key][0], bound) for key, bound in bounds.items()
        )
        promise = more.pop("guarantee")
        answer = Result(
            request,
            Fidelity.FULL,
            complete=True,
            series=tuple(series),
            readouts=limits + more.pop("readouts"),
            guarantee=promise,
            **more,
        )
        # What is promised is the same whatever is on the axes.
        exact_label = text.CURVES["exact_2021"][0]
        told = text.said_of(answer, min(values["exact_2021"], float(request["eps0"])), exact_label)
        promise = replace(
            promise, sentence=told.lines[0], beside=told.lines[1], replace_one=told.promise
        )
        return replace(answer, guarantee=promise)


def _curve(key: str, points: SweptPoints, bound: Bound, **drawn: Any) -> Series:
    label = text.CURVES[key][0]
    about, needs = text.ABOUT.get(key, ""), text.ASSUMES.get(key, ())
    return series_from(key, label, points, bound, note=about, assumes=needs, **drawn)


def _outside(points: SweptPoints, exact: Bound) -> Series:
    """Return the shade between the exact clones and ε₀, only where the closed form says nothing."""
    bound = curves.outside(points)
    there = np.append(np.flatnonzero(bound.valid[:-1]), points.x.size)
    shaded = SweptPoints(points.sweep, points.x[there[:-1]], {})
    value, low = bound.value[there], exact.value[there]
    # The sliders' own point rides along; it is no part of the shade.
    known = Bound(np.append(value[:-1], 0.0), bound.role, bound.reference)
    return series_from(
        "outside", text.CURVES["outside"][0], shaded, known, mark=Mark.AREA, low=low, high=value
    )
