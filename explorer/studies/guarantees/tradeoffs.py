"""Trade-off curves (f-DP) of the guarantees of studies.

The decorator `with_tradeoff` adds a quantity to a study: the guarantee of its first quantity at the
sliders' values as a bound on the errors of every test of two neighbouring data sets.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.odds import PIECEWISE, tradeoff_attained, tradeoff_from_deltas
from explorer.studies.base.builders import share
from explorer.studies.base.claims import with_claim
from explorer.studies.base.numbers import at_most
from explorer.studies.base.plots import MAX_SLIDERS, Curve, Plot, curve_colours, curve_names
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Guarantee,
    Parameter,
    Quantity,
    Request,
    Result,
    Study,
    Sweep,
    parameter,
    quantity,
)
from explorer.studies.base.sweeping import SweptPoints, scalar_from, series_from, swept_points
from explorer.studies.guarantees.audits import AUDIT_PARAMETERS, Audits, audited_answer

KEY = "tradeoff"
TYPE_1 = share(
    "type1",
    "α",
    "false alarms",
    "How often a test that decides between two neighbouring data sets wrongly decides for the "
    "second one (type I error).",
    0.05,
    axis_only=True,
    quantities=(KEY,),
    latex=r"\alpha",
)
TRADEOFF = Quantity(
    KEY, "β", "missed by any test with α false alarms", (TYPE_1.key,), latex=r"\beta"
)
_CHANCE = Reference("Dong, Roth & Su 2022", "a test that does not look")
_COARSE_EPSILONS, _FINE_EPSILONS = 8, 32
"""Numbers of ε at which the δ of a law is computed."""
_MAX_EPSILON = 40.0
"""Largest of them: e^−40 is no type I error that anybody draws."""


@dataclass(frozen=True)
class Law:
    """A known curve δ(ε) of two neighbours, or of all pairs of them.

    Attributes
    ----------
    key, label : str
        Of its trade-off curve.
    deltas : callable
        From ε ≥ 0, shape (M,), to δ at each.
    side : Role
        `Role.UPPER`: δ is no smaller than the truth in both orders, so that the trade-off curve is
        a promise. `Role.LOWER`: no larger, so that nobody can promise more.
    farthest : float
        About where δ(ε) becomes small.
    reference : Reference
    assumes : tuple of str
        As of `Series`.
    """

    key: str
    label: str
    deltas: Callable[[FloatArray], FloatArray]
    side: Role
    farthest: float
    reference: Reference
    assumes: tuple[str, ...] = ()


Laws = Callable[[Request, Guarantee, Context], Iterable[Law]]
_Class = TypeVar("_Class", bound=type[Study])


def no_laws(_request: Request, _promise: Guarantee, _context: Context) -> Iterable[Law]:
    """Return no law: only (ε, δ) is known."""
    return ()


SHORT_NAMES = {
    "pair": "from (ε, δ) alone",
    "law": "from the whole law",
    "law_2021": "from the law, clones 2021",
    "law_2023": "from the law, clones 2023",
    "response": "nobody can promise more",
    "promised": "promised, as run",
    "audit": "what a test finds",
    "chance": "nothing is seen",
}
"""Names of the curves of every study."""


def _plot(promising: Sequence[str], sliders: tuple[str, ...]) -> Plot:
    """Return the plot of the trade-off curve, with the laws that are guarantees first."""

    def curve(key: str, role: Role, source: Reference, **declared: Any) -> Curve:
        return Curve(key, SHORT_NAMES[key], SHORT_NAMES[key], role, source, **declared)

    return Plot(
        TRADEOFF,
        (
            *(curve(key, Role.LOWER, PIECEWISE, claimable=1) for key in (*promising, "pair")),
            curve("response", Role.UPPER, PIECEWISE),
            curve("chance", Role.BASELINE, _CHANCE),
            curve(
                "promised",
                Role.LOWER,
                PIECEWISE,
                primary=0,
                unclaimed="it is promised of the mechanism that the audit runs",
            ),
        ),
        sliders,
        better="high",
    )


def with_tradeoff(
    uses: Sequence[str] = (),
    *,
    of: str = "",
    also: Sequence[str] = (),
    laws: Laws = no_laws,
    promising: Sequence[str] = (),
    audits: Audits | None = None,
    patient: bool = False,
) -> Callable[[_Class], _Class]:
    """Return a decorator that adds the trade-off curve of the guarantee as the last quantity.

    Parameters
    ----------
    uses : sequence of str
        Keys of the parameters that the guarantee depends on; no others are shown. By default those
        of `of`.
    of : str
        Key of the quantity whose answer has the guarantee; the first one by default.
    also : sequence of str
        Keys of those that only what is run depends on.
    laws : callable
        What is known beyond (ε, δ).
    promising : sequence of str
        Keys of the laws that are promises.
    audits : callable, optional
        What can be run, to be held against the curve.
    patient : bool
        Whether the guarantee is that of the last answer, of bounds that get better; else it is
        that of the first.
    """

    def add(kind: _Class) -> _Class:
        others = tuple(q.key for q in kind.quantities)
        guaranteed = of or others[0]
        own = (TYPE_1, *(AUDIT_PARAMETERS if audits is not None else ()))
        matter = uses or [
            p.key
            for p in kind.parameters
            if p.group != "simulation" and (not p.quantities or guaranteed in p.quantities)
        ]
        kind.parameters = (
            *(_used(p, p.key in (*matter, *also), others) for p in kind.parameters),
            *own,
        )
        kind.quantities = (*kind.quantities, TRADEOFF)
        first = next((p for p in kind.plots if p.quantity.key == guaranteed), None)
        plot = _plot(promising, first.sliders if first else tuple(matter[:MAX_SLIDERS]))
        kind.plots = (*kind.plots, plot)
        kind.colours = curve_colours(kind.plots)
        if plot.claim is not None:
            kind.claims = {**kind.claims, KEY: plot.claim}
        kind.short_names = {**SHORT_NAMES, **kind.short_names}
        plain = kind.answer

        def answer(self: Study, request: Request, context: Context) -> Iterator[Result]:
            if request.quantity != KEY:
                yield from plain(self, request, context)
                return
            result: Result | None = None
            at_sliders = _at_sliders(self, request, guaranteed)
            numbers = plain(self, at_sliders, context)
            for result in _answers(self, numbers, request, context, laws, patient):
                last = result.complete
                running = (
                    audits is not None
                    and bool(request["audit"])
                    and request.fidelity is not Fidelity.COARSE
                )
                promise = result.guarantee
                if last and running and promise is not None and promise.pairs:
                    assert audits is not None
                    subject = audits(request, promise, context)
                    for audited in audited_answer(result, subject, context):
                        yield _coloured(self, audited)
                else:
                    yield _coloured(self, result)

        answer.__doc__ = plain.__doc__
        kind.answer = answer  # type: ignore[method-assign]
        return kind

    return add


def _coloured(study: Study, result: Result) -> Result:
    """Return a result whose curves have the places in the palette that the study gives them."""
    plot = study.plot(KEY)
    assert plot is not None
    places = {c.key: study.colours[KEY, curve_names(c)[0]] for c in plot.curves}
    series = (replace(s, colour=places.get(s.key)) for s in result.series)
    return replace(result, series=tuple(series))


def _used(p: Parameter, used: bool, others: tuple[str, ...]) -> Parameter:
    """Return a parameter that matters for the trade-off curve, or does not."""
    listed = p.quantities or others
    return replace(p, quantities=(*listed, KEY) if used else listed)


def _answers(
    study: Study,
    numbers: Iterable[Result],
    request: Request,
    context: Context,
    laws: Laws,
    patient: bool,
) -> Iterator[Result]:
    """Yield the curve of (ε, δ) alone, then those of the laws that are known, coarse first.

    `numbers` are the answers at the sliders' values that have the guarantee.
    """
    points = swept_points(study, request)
    coarse = request.fidelity is Fidelity.COARSE
    result = None
    for value in numbers:
        context.check()
        if value.curve_follows:  # a number alone, without guarantee
            continue
        result = _with_pairs(request, value, points)
        if not patient:
            break
        if not value.complete:
            yield replace(result, fidelity=Fidelity.COARSE, complete=False)
    assert result is not None
    promise = result.guarantee
    known = () if promise is None or not promise.pairs else tuple(laws(request, promise, context))
    stages = (Fidelity.COARSE, Fidelity.FULL) if known and not coarse else (request.fidelity,)
    for fidelity in stages:
        answer = result
        for law in known:
            count = _COARSE_EPSILONS if fidelity is Fidelity.COARSE else _FINE_EPSILONS
            assert promise is not None
            bound = _bound(law, promise.pairs, points, count, context)
            answer = _with(answer, law, points, bound)
        last = fidelity is request.fidelity
        yield with_claim(replace(answer, fidelity=fidelity, complete=last))


def _at_sliders(study: Study, request: Request, key: str) -> Request:
    """Return the question of one of the study's quantities at the sliders' values alone."""
    p = parameter(study, quantity(study, key).sweeps[0])
    own = float(request[p.key])
    sweep = Sweep(p.key, own, own, 1, p.scale)
    query = replace(request, quantity=key, sweep=sweep)
    return query.with_value("simulate", False) if "simulate" in dict(request.values) else query


def _with_pairs(request: Request, found: Result, points: SweptPoints) -> Result:
    """Return the answer with the curve that (ε, δ) alone gives."""
    alpha = points[TYPE_1.key]
    promise = found.guarantee
    pairs = promise.pairs if promise is not None else ()
    reason = "" if pairs else "no (ε, δ) is promised at the sliders' values"
    bound = Bound(
        np.zeros(alpha.shape), Role.LOWER, PIECEWISE, np.full(alpha.shape, bool(pairs)), reason
    )
    label = "from (ε, δ) alone"
    if pairs:
        eps, delta = np.array(pairs, float).T
        bound = tradeoff_from_deltas(alpha, np.minimum(eps, 700.0), np.minimum(delta, 1.0))
        best = " and ".join(f"({at_most(e)}, {at_most(d)})" for e, d in pairs)
        label = f"from (ε, δ) = {best} alone"
    chance = Bound(1 - alpha, Role.BASELINE, _CHANCE)
    answer = Result(
        request,
        found.fidelity,
        conditions=found.conditions,
        guarantee=promise,
        notes=found.notes,
        stamp=found.stamp,
        curator_only=found.curator_only,
        space=found.space,
        series=(
            series_from("pair", label, points, bound),
            series_from("chance", "nothing is seen: β = 1 − α", points, chance),
        ),
        readouts=(scalar_from("pair", label, bound),),
    )
    return with_claim(answer)


def _bound(
    law: Law,
    pairs: Sequence[tuple[float, float]],
    points: SweptPoints,
    count: int,
    context: Context,
) -> Bound:
    """Return a law's trade-off curve from so many of its δ."""
    eps = np.linspace(0.0, min(max(law.farthest, 1e-9), _MAX_EPSILON), count)
    delta = np.empty(count)
    for start in range(0, count, _COARSE_EPSILONS):
        context.check()
        delta[start : start + _COARSE_EPSILONS] = law.deltas(eps[start : start + _COARSE_EPSILONS])
    alpha, delta = points[TYPE_1.key], np.clip(delta, 0.0, 1.0)
    if law.side is Role.LOWER:
        return tradeoff_attained(alpha, eps, delta, law.reference)
    # The bound by (ε, δ) holds as well.
    more, failing = np.array(pairs, float).T
    known = np.append(eps, np.minimum(more, 700.0)), np.append(delta, np.minimum(failing, 1.0))
    return tradeoff_from_deltas(alpha, *known, law.reference)


def _with(answer: Result, law: Law, points: SweptPoints, bound: Bound) -> Result:
    series = series_from(law.key, law.label, points, bound, assumes=law.assumes)
    return replace(
        answer,
        series=(*answer.series, series),
        readouts=(*answer.readouts, scalar_from(law.key, law.label, bound)),
    )
