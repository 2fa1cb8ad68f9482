"""What the subsampled shuffle model promises: ε at δ, or Rényi levels, by every route."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from explorer.privacy.amplification import Clones
from explorer.privacy.bounds import BoolArray, FloatArray, Reference
from explorer.privacy.shuffle_rdp import round_delta
from explorer.studies.shuffle_accountant import words as said
from explorer.studies.model import (
    Condition,
    Context,
    Fidelity,
    Parameter,
    Quantity,
    Readout,
    Request,
    Result,
    Series,
    Sweep,
    default_sweep,
    parameter,
    quantity,
)
from explorer.studies.shuffle_accountant.curves import (
    SHARE,
    EpsilonCurves,
    Points,
    RenyiCurves,
    composed_curves,
    epsilon_curves,
    renyi_curves,
    spread,
    thinned,
)
from explorer.studies.shuffle_accountant.parameters import PARAMETERS, QUANTITIES

_COARSE_POINTS = 24
_COARSE_ORDER = 512
_COMPOSED_POINTS = 32
_EPSILON_KEYS = (
    "theorem1", "lower_rdp", "clones_closed", "unamplified", "cap", "clones_numerical",
)  # fmt: skip
_COMPOSED_KEYS = ("numerical_upper", "lower_2rr")
_RENYI_KEYS = ("theorem1", "theorem2", "renyi_cap")
_ONE_ROUND = ("T", "delta", "lam")
"""Sweeps over which all points share one round."""


class ShuffleAccountant:
    """The accountant of the subsampled shuffle model, with the paper's comparators."""

    id: ClassVar[str] = "shuffle-rdp"
    name: ClassVar[str] = "Shuffle accountant"
    question: ClassVar[str] = "How private is training on shuffled messages of sampled clients?"
    workspace: ClassVar[str] = "bounds"
    references: ClassVar[tuple[Reference, ...]] = (
        said.THEOREM_1, said.THEOREM_2, said.THEOREM_3, said.CLOSED,
        *said.NUMERICAL.values(), said.UNAMPLIFIED, said.CAP,
    )  # fmt: skip
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    quantities: ClassVar[tuple[Quantity, ...]] = QUANTITIES
    needs_data: ClassVar[bool] = False

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
        # A sweep whose points share one round is fast once that round is kept.
        kept: set[object] = context.memo(("shuffle-rdp", "rounds seen"), set)
        sweep, _ = self._sweep(request)
        one_round = sweep.key in _ONE_ROUND
        heavy = [request[key] for key in ("eps0", "k", "n", "lam_max", "lam", "clones")]
        token = (request.quantity, sweep.key, *heavy) if sweep.key == "lam" else tuple(heavy[:4])
        quick = one_round and (
            token in kept or (request["lam_max"] <= _COARSE_ORDER and request["k"] <= 2000)
        )
        if request.fidelity is Fidelity.COARSE or not quick:
            done = request.fidelity is Fidelity.COARSE
            yield self._answer(request, context, Fidelity.COARSE, done)
            if done:
                return
        last = request.quantity != "eps"
        full = self._answer(request, context, Fidelity.FULL, last)
        kept.add(token)
        yield full
        if not last:
            yield self._composed(request, context, full)

    def _answer(
        self, request: Request, context: Context, fidelity: Fidelity, complete: bool
    ) -> Result:
        started = time.perf_counter()
        sweep, xs = self._sweep(request)
        coarse = fidelity is Fidelity.COARSE
        if coarse and sweep.key not in _ONE_ROUND:
            xs = xs[list(thinned(xs.size, _COARSE_POINTS))]
        points = _points(request, sweep.key, xs)
        holds = points.holds
        lam_max = min(request["lam_max"], _COARSE_ORDER) if coarse else request["lam_max"]
        context.check()
        inside = points.at(holds)
        if request.quantity == "eps":
            answer = self._epsilon(request, xs, inside, holds, lam_max, coarse, context)
        else:
            answer = self._renyi(request, xs, inside, holds, context)
        return Result(
            request,
            fidelity,
            complete=complete,
            timings_ms={"curves": (time.perf_counter() - started) * 1e3},
            **answer,
        )

    def _sweep(self, request: Request) -> tuple[Sweep, FloatArray]:
        """Return what is on the x axis, checked, and its points."""
        allowed = quantity(self, request.quantity).sweeps
        sweep = request.sweep or default_sweep(self, allowed[0])
        if sweep.key not in allowed:
            raise ValueError(
                f"sweep: {request.quantity} can be swept over {', '.join(allowed)}, "
                f"not over {sweep.key!r}"
            )
        if request["gamma"] != parameter(self, "gamma").default:
            raise ValueError("gamma: γ is k/n and can only be an axis; set k and n")
        return sweep, parameter(self, sweep.key).grid(
            sweep.low, sweep.high, sweep.points, sweep.scale
        )

    def _composed(self, request: Request, context: Context, full: Result) -> Result:
        """Return the full answer with the numerically exact compositions added."""
        started = time.perf_counter()
        sweep, xs = self._sweep(request)
        points = _points(request, sweep.key, xs)
        some = np.flatnonzero(points.holds[:-1])
        if not points.holds.any():
            absent = _absent(request, xs, _COMPOSED_KEYS)
            return replace(full, series=full.series + absent, complete=True)
        chosen = some[list(thinned(some.size, _COMPOSED_POINTS))] if some.size else some
        here = points.holds[-1:]
        inside = points.at(np.concatenate([chosen, np.flatnonzero(here) + xs.size]))
        variant = Clones(request["clones"])
        found = composed_curves(inside, variant, context)
        series, readouts = [], []
        for key, values in (("numerical_upper", found.upper), ("lower_2rr", found.lower)):
            label, role, reference = said.curve_names(key, variant)
            ys = values[: chosen.size]
            why = said.NOT_COMPOSED if np.isnan(ys).any() else ""
            series.append(
                Series(
                    key, label, role, xs[chosen], ys, reference,
                    why_absent=why, note=said.ABOUT[key],
                )
            )  # fmt: skip
            if here[0]:
                value = float(values[-1])
                known = bool(np.isfinite(value))
                note = "" if known else said.NOT_COMPOSED
                readouts.append(Readout(key, label, value if known else None, role, note=note))
        return replace(
            full,
            series=full.series + tuple(series),
            readouts=full.readouts + tuple(readouts),
            complete=True,
            timings_ms=dict(full.timings_ms)
            | {"composition": (time.perf_counter() - started) * 1e3},
        )

    def _epsilon(
        self,
        request: Request,
        xs: FloatArray,
        inside: Points,
        holds: BoolArray,
        lam_max: int,
        coarse: bool,
        context: Context,
    ) -> dict[str, Any]:
        if inside.size == 0:
            return self._nothing(request) | {"series": _absent(request, xs, _EPSILON_KEYS)}
        variant = Clones(request["clones"])
        found = epsilon_curves(inside, lam_max, variant, context, numerical=not coarse)
        absent = "" if holds.all() else _why_absent(request)
        notes = _notes(found, lam_max)
        series = [
            _curve("theorem1", xs, holds, found.theorem1, absent, notes),
            _curve("lower_rdp", xs, holds, found.lower_rdp, absent),
            _curve("clones_closed", xs, holds, found.closed, _join(absent, said.CLOSED_FAILS)),
            _curve("unamplified", xs, holds, found.unamplified, absent),
            _curve("cap", xs, holds, found.cap, absent),
        ]
        if not coarse:
            # Last, so that the others keep their places, and with them their colours.
            series.append(
                _curve("clones_numerical", xs, holds, found.numerical, absent, variant=variant)
            )
        if not holds[-1]:
            return self._nothing(request) | {"series": tuple(series)}
        return {"series": tuple(series)} | self._at_sliders(request, inside, found, lam_max, coarse)

    def _at_sliders(
        self, request: Request, inside: Points, found: EpsilonCurves, lam_max: int, coarse: bool
    ) -> dict[str, Any]:
        """Return readouts, conditions and guarantee at the sliders' values, the last point."""
        here = {
            "theorem1": found.theorem1,
            "clones_numerical": found.numerical,
            "clones_closed": found.closed,
            "unamplified": found.unamplified,
            "cap": found.cap,
            "lower_rdp": found.lower_rdp,
        }
        variant = Clones(request["clones"])
        order, edge = int(found.order[-1]), bool(found.at_edge[-1])
        readouts = []
        for key, values in here.items():
            value = float(values[-1])
            if coarse and key == "clones_numerical":
                continue
            label, role, _ = said.curve_names(key, variant)
            note = said.CLOSED_FAILS if np.isnan(value) else ""
            readouts.append(Readout(key, label, None if note else value, role, note=note))
            if key == "theorem1":
                edge_note = "at the search edge: a larger λₘₐₓ might give less" if edge else ""
                readouts.append(Readout("order", "best order λ*", float(order), note=edge_note))
        upper = {k: float(v[-1]) for k, v in here.items() if k != "lower_rdp"}
        best = min((k for k, v in upper.items() if np.isfinite(v)), key=lambda k: upper[k])
        point = inside.at(-1)
        per_round = float(
            round_delta(point.sampled, point.clients, point.rounds, point.delta, SHARE)
        )
        return {
            "readouts": tuple(readouts),
            "conditions": said.conditions(
                local=float(point.local),
                sampled=float(point.sampled),
                clients=float(point.clients),
                per_round=per_round,
                order=order,
                lam_max=lam_max,
                at_edge=edge,
                alone=float(found.theorem1_alone[-1]),
                cap=float(found.cap[-1]),
            ),
            "guarantee": said.guarantee(
                upper[best],
                float(point.delta),
                float(point.rounds),
                said.curve_names(best, variant)[0],
                float(point.local),
                order if best == "theorem1" else None,
            ),
        }

    def _renyi(
        self,
        request: Request,
        xs: FloatArray,
        inside: Points,
        holds: BoolArray,
        context: Context,
    ) -> dict[str, Any]:
        if inside.size == 0:
            return self._nothing(request) | {"series": _absent(request, xs, _RENYI_KEYS)}
        found: RenyiCurves = renyi_curves(inside, context)
        absent = "" if holds.all() else _why_absent(request)
        vacuous = found.theorem1_alone > found.cap
        note = "Theorem 1 alone is above the cap in places; shown is the smaller" * bool(
            vacuous.any()
        )
        values = {"theorem1": found.theorem1, "theorem2": found.lower, "renyi_cap": found.cap}
        series = tuple(
            _curve(key, xs, holds, ys, absent, note if key == "theorem1" else "")
            for key, ys in values.items()
        )
        if not holds[-1]:
            return self._nothing(request) | {"series": series}
        point = inside.at(-1)
        return {
            "series": series,
            "readouts": tuple(
                Readout(key, said.curve_names(key)[0], float(ys[-1]), said.curve_names(key)[1])
                for key, ys in values.items()
            ),
            "conditions": (
                said.sampling(float(point.sampled), float(point.clients)),
                Condition(
                    "Theorem 1 alone says more than what holds in any case",
                    not bool(vacuous[-1]),
                    f"Theorem 1 {float(found.theorem1_alone[-1]):.4g}, "
                    f"cap {float(found.cap[-1]):.4g}",
                ),
                *said.ASSUMED,
            ),
        }

    def _nothing(self, request: Request) -> dict[str, Any]:
        """Return what is left to say where the sliders ask for k > n."""
        return {
            "conditions": (said.sampling(request["k"], request["n"]),),
            "notes": (f"at the sliders' values {said.MORE_THAN_ALL}: lower k or raise n",),
        }


def _points(request: Request, swept: str, xs: FloatArray) -> Points:
    """Return the sweep's points and, last, the sliders' own."""
    values = {p.key: request[p.key] for p in PARAMETERS if p.numeric}
    columns = {key: np.full(xs.size + 1, float(value)) for key, value in values.items()}
    if swept == "gamma":
        columns["k"][:-1] = np.rint(xs * columns["n"][:-1])
    else:
        columns[swept][:-1] = xs
    return Points(
        columns["eps0"], columns["k"], columns["n"], columns["T"], columns["delta"], columns["lam"]
    )


def _absent(request: Request, xs: FloatArray, keys: tuple[str, ...]) -> tuple[Series, ...]:
    """Return curves that hold nowhere in this sweep."""
    nowhere, why = np.zeros(xs.size + 1, bool), _why_absent(request)
    variant = Clones(request["clones"])
    none = np.empty(0)
    return tuple(_curve(key, xs, nowhere, none, why, variant=variant) for key in keys)


def _why_absent(request: Request) -> str:
    swept = request.sweep.key if request.sweep else ""
    return said.NONE_SAMPLED if swept == "gamma" else said.MORE_THAN_ALL


def _join(*reasons: str) -> str:
    return "; or ".join(r for r in reasons if r)


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


def _curve(
    key: str,
    xs: FloatArray,
    holds: BoolArray,
    values: FloatArray,
    absent: str,
    note: str = "",
    variant: Clones = Clones.PUBLISHED,
) -> Series:
    """Return a curve over the sweep from its values where the point exists."""
    label, role, reference = said.curve_names(key, variant)
    ys = spread(values, holds)[:-1]
    return Series(
        key,
        label,
        role,
        xs,
        ys,
        reference,
        why_absent=absent if np.isnan(ys).any() else "",
        note=_join_notes(said.ABOUT.get(key, ""), note),
    )


def _join_notes(*notes: str) -> str:
    return "; ".join(n for n in notes if n)
