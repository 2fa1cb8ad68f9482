"""The core of Theorem 1 as a quantity: how large D_α = E|(P−Q)/R|^α is, and what bounds it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.shuffle_rdp import ternary
from explorer.studies.base.claims import stated
from explorer.studies.base.phrases import times
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Request,
    Result,
    Series,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from

_EXACT_POINTS = 48
_ROUNDING = 1e-7
"""What the exact values of very many messages may be off by; formulas are far better."""
_ONLY_2 = "known for α = 2 only"
_TOO_LARGE = "the bound has no number: it is beyond 1e308"
_COMPUTING = "it is being computed"


@dataclass(frozen=True)
class _Curve:
    label: str
    role: Role
    reference: Reference
    evaluate: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    note: str = ""


def _at_2(sharp: Callable[..., Any]) -> Callable[[FloatArray, FloatArray, FloatArray], FloatArray]:
    def evaluate(alpha: FloatArray, eps0: FloatArray, k: FloatArray) -> FloatArray:
        return np.where(alpha == 2, sharp(eps0, k), np.nan)

    return evaluate


_ALIKE, _RANDOMISER = "alike", "only this randomiser, all others holding one value"
CURVES = {
    "theorem4": _Curve("Theorem 4 (any others)", Role.UPPER, ternary.THEOREM_4, ternary.theorem4),
    "sharp_mixed": _Curve(
        "sharpened, α = 2 (any others)",
        Role.UPPER,
        ternary.SHARP,
        _at_2(ternary.sharp_mixed),
        "what “Theorem 1 sharpened” puts in Theorem 4's place",
    ),
    "theorem6": _Curve(
        "Theorem 6 (others alike)",
        Role.UPPER,
        ternary.THEOREM_6,
        ternary.theorem6,
        "only where all others hold one value",
    ),
    "sharp_alike": _Curve(
        "sharp, α = 2 (others alike)",
        Role.UPPER,
        ternary.SHARP_ALIKE,
        _at_2(ternary.sharp_alike),
        "the largest of all ε₀-LDP randomisers, only where all others hold one value",
    ),
    "exact_2rr": _Curve(
        "2RR exactly", Role.LOWER, ternary.EXACT_2RR, ternary.ternary_2rr, _RANDOMISER
    ),
    "exact_3rr": _Curve(
        "3RR exactly", Role.LOWER, ternary.EXACT_3RR, ternary.ternary_3rr, _RANDOMISER
    ),
}
"""By key; those that hold only where the others are alike assume so."""
_OTHERS_ALIKE = ("theorem6", "sharp_alike")
AMONG = ("theorem4", "sharp_mixed", "theorem6", "sharp_alike")
_CONDITIONS = (
    Condition("All k clients use one ε₀-LDP randomiser", None),
    Condition(
        "Only for the curves “others alike”: all clients but the one hold the same value",
        None,
        of_guarantee=False,
        key=_ALIKE,
        optional=True,
        short="Others alike: all others hold one value",
    ),
)


def answer(request: Request, swept: SweptPoints, context: Context) -> Iterator[Result]:
    """Yield the formulas, then the exact values of 3RR too, which take a moment a point."""
    drawn = {key: (swept, _bound(key, swept)) for key in CURVES if key != "exact_3rr"}
    coarse = request.fidelity is Fidelity.COARSE
    first = _result(request, drawn, Fidelity.COARSE, complete=coarse)
    nowhere = np.full(swept.x.size + 1, np.nan)
    bound = Bound(nowhere, Role.LOWER, ternary.EXACT_3RR, reason=_COMPUTING)
    coming = replace(_series("exact_3rr", swept, bound), computing=not coarse)
    yield stated(replace(first, series=(*first.series, coming)))
    if not coarse:
        fewer = swept.downsampled(_EXACT_POINTS)
        drawn["exact_3rr"] = fewer, _bound("exact_3rr", fewer, context)
        yield stated(_result(request, drawn, Fidelity.FULL, complete=True))


def _bound(key: str, points: SweptPoints, context: Context | None = None) -> Bound:
    made = CURVES[key]
    columns = [points[name] for name in ("alpha", "eps0", "k")]
    if context is None:
        values = np.asarray(made.evaluate(*columns))
    else:
        values = np.empty(columns[0].size)
        for i, point in enumerate(zip(*columns, strict=True)):
            context.check()
            values[i] = made.evaluate(*map(np.asarray, point))
    known = np.isfinite(values)
    why = "" if known.all() else _TOO_LARGE if np.isinf(values).any() else _ONLY_2
    return Bound.proved(values, made.role, made.reference, _ROUNDING, known, why)


def _series(key: str, points: SweptPoints, bound: Bound) -> Series:
    made = CURVES[key]
    assumes = (_ALIKE,) if key in _OTHERS_ALIKE else ()
    return series_from(key, made.label, points, bound, note=made.note, assumes=assumes)


def _result(
    request: Request,
    drawn: dict[str, tuple[SweptPoints, Bound]],
    fidelity: Fidelity,
    *,
    complete: bool,
) -> Result:
    here = {key: float(b.value[-1]) for key, (_, b) in drawn.items() if np.isfinite(b.value[-1])}
    return Result(
        request,
        fidelity,
        complete=complete,
        series=tuple(_series(key, points, bound) for key, (points, bound) in drawn.items()),
        readouts=tuple(readout_from(k, CURVES[k].label, b) for k, (_, b) in drawn.items()),
        conditions=_CONDITIONS,
        notes=_notes(here),
    )


def _notes(here: dict[str, float]) -> tuple[str, ...]:
    """Return by how much the printed bounds miss, at the sliders' values."""
    if not {"exact_2rr", "exact_3rr", "theorem4", "theorem6"} <= here.keys():
        return ()
    largest = max(here["exact_2rr"], here["exact_3rr"])
    if not largest > 0:
        return ()
    said = (
        f"Theorem 6 is {times(here['theorem6'] / largest)} the larger of 2RR and 3RR here, "
        f"Theorem 4, for any data of the others, {times(here['theorem4'] / largest)}."
    )
    if "sharp_mixed" in here:
        said += (
            f" The sharpened bound is {times(here['sharp_mixed'] / largest)}; at α = 2 no ε₀-LDP "
            "randomiser has more than the larger of the two if the others are alike."
        )
    return (said + " Lemma 2 turns bounds on all orders into a Rényi level: see ε(λ).",)
