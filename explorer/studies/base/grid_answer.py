"""The answers of a question over a grid, each with what is to be known of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray, Grade, Reference, Role
from explorer.studies.base.claims import conditions_of, failing_of
from explorer.studies.base.grid import Grid, GridAxis
from explorer.studies.base.simulation import mean_interval
from explorer.studies.base.study import (
    Condition,
    Mark,
    Parameter,
    Request,
    Result,
    Series,
    Study,
    Value,
    relevant,
)

SIMULATION = "simulation"
"""Group of simulation parameters."""


@dataclass(frozen=True)
class Cell:
    """Answer of a study in one cell of a grid.

    Attributes
    ----------
    place : int
        As `explorer.studies.base.grid.requests_of` counts.
    request : Request
        Its seed is that of the first trial.
    series : tuple of Series
        Of several trials, the means of what is simulated.
    conditions : tuple of Condition
        At the sliders' value of what is on the x axis.
    seeds : tuple of int
        Of the trials that are in it.
    stamp : str
        What must stand wherever it is shown.
    error : str
        Why there is no answer; empty if there is one.
    final : bool
        Whether the study has nothing better to say.
    """

    place: int
    request: Request
    series: tuple[Series, ...] = ()
    conditions: tuple[Condition, ...] = ()
    seeds: tuple[int, ...] = ()
    stamp: str = ""
    error: str = ""
    final: bool = False

    def failing(self, shown: Iterable[Series]) -> tuple[Condition, ...]:
        """Return the conditions that do not hold, but for those of other curves than these."""
        return failing_of(conditions_of(self.conditions, self.series, shown))

    @property
    def simulates(self) -> bool:
        """Whether any of it depends on the seed."""
        return any(simulated(s) for s in self.series)


@dataclass(frozen=True)
class GridAnswer:
    """Answers over a grid, as far as they are computed.

    Attributes
    ----------
    request : Request
    grid : Grid
    axes : tuple of GridAxis
    cells : tuple of Cell or None
        None where nothing is known yet.
    done, total : int
        Pieces of work; `total` grows when it turns out what is simulated.
    """

    request: Request
    grid: Grid
    axes: tuple[GridAxis, ...]
    cells: tuple[Cell | None, ...]
    done: int = 0
    total: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing is missing."""
        return all(
            cell is not None
            and cell.final
            and (bool(cell.error) or not cell.simulates or len(cell.seeds) == self.grid.trials)
            for cell in self.cells
        )

    @property
    def series(self) -> tuple[Series, ...]:
        """Every curve that some cell has, each once, in the order of the study."""
        found: dict[str, Series] = {}
        for cell in self.cells:
            for s in cell.series if cell is not None else ():
                if s.key not in found or (s.present.any() and not found[s.key].present.any()):
                    found[s.key] = s
        return tuple(found.values())

    @property
    def stamp(self) -> str:
        """The notice that every output of it must carry."""
        return "; ".join(dict.fromkeys(c.stamp for c in self.cells if c is not None and c.stamp))

    def values_at(self, place: int) -> tuple[Value, ...]:
        """Return the grid's values at a place, one an axis."""
        found = []
        for axis in reversed(self.axes):
            place, at = divmod(place, len(axis.values))
            found.append(axis.values[at])
        return tuple(reversed(found))


def simulated(series: Series) -> bool:
    """Return whether a curve depends on the seed."""
    return series.role is Role.ESTIMATE and not series.formula


def runnable(study: Study, result: Result) -> tuple[Parameter, ...]:
    """Return the parameters that may run over their ranges by themselves.

    They matter for the answer; where it is simulated none may, as every value takes long.
    """
    if any(map(simulated, result.series)):
        return ()
    request = result.request
    return tuple(
        p
        for p in study.parameters
        if p.numeric
        and p.in_panel
        and p.group != SIMULATION
        and relevant(p, dict(request.values), request.quantity)
    )


def run_values(p: Parameter, count: int) -> list[Value]:
    """Return so many values of a parameter from one end of its range to the other.

    A whole number may have fewer.
    """
    return list(dict.fromkeys(p.at_place(i / (count - 1)) for i in range(count)))


def averaged(
    first: Cell, others: Sequence[tuple[int, Sequence[Series]]], least: float = -np.inf
) -> Cell:
    """Return a cell whose simulated curves are means over trials, with their 95 % intervals.

    Intervals are Student's for the mean of as many independent draws. A mean is unknown where any
    trial's value is; a curve whose points stand elsewhere in another trial stays the first one's.

    Parameters
    ----------
    first : Cell
    others : sequence of (seed, curves)
        What was simulated in each of the other trials, in their order.
    least : float
        What no mean can be below: 0 of an error.
    """
    if not others:
        return first
    n = 1 + len(others)

    def mean(s: Series) -> Series:
        again = [{o.key: o for o in drawn}.get(s.key) for _, drawn in others]
        if not simulated(s) or any(o is None or not np.array_equal(o.x, s.x) for o in again):
            return s
        y = np.stack([s.y, *(o.y for o in again if o is not None)])
        centre, low, high = mean_interval(y.T, least)
        said = f"mean of {n:,} trials with seeds of their own, 95 % interval of the mean"
        missing = s.undefined_reason
        if np.isnan(centre).any() and not missing:
            missing = next(
                (o.undefined_reason for o in again if o is not None and o.undefined_reason),
                "a trial has no value",
            )
        return replace(
            s,
            y=centre,
            low=low,
            high=high,
            undefined_reason=missing,
            note="; ".join(filter(None, (s.note, said))),
        )

    seeds = (*first.seeds, *(seed for seed, _ in others))
    return replace(first, series=tuple(map(mean, first.series)), seeds=seeds)


# As JSON values: what workers return and checkpoints keep --------------------------------------


def answer_to_dict(result: Result, only_simulated: bool = False) -> dict[str, Any]:
    """Return the curves of an answer, all or the simulated ones, and what must hold for them."""
    return {
        "series": [_series_to_dict(s) for s in result.series if not only_simulated or simulated(s)],
        "conditions": [
            [c.text, c.holds, c.margin, c.of_guarantee, c.key, c.optional, c.short]
            for c in result.conditions
        ],
        "stamp": result.stamp,
        "final": result.complete,
    }


def cell_of(place: int, request: Request, raw: dict[str, Any]) -> Cell:
    """Return the cell that a worker's answer describes."""
    if "error" in raw:
        return Cell(place, request, seeds=(request.seed,), error=raw["error"], final=True)
    return Cell(
        place,
        request,
        tuple(series_of(raw)),
        tuple(Condition(*c) for c in raw["conditions"]),
        (request.seed,),
        raw["stamp"],
        final=raw["final"],
    )


def series_of(raw: dict[str, Any]) -> list[Series]:
    """Return the curves of a worker's answer."""
    return [
        Series(
            s["key"],
            s["label"],
            Role(s["role"]),
            _array(s["x"]),
            _array(s["y"]),
            Reference(*s["reference"]),
            low=_array_or_none(s["low"]),
            high=_array_or_none(s["high"]),
            undefined_reason=s["undefined_reason"],
            note=s["note"],
            mark=Mark(s["mark"]),
            formula=s["formula"],
            grade=Grade(s["grade"]),
            assumes=tuple(s["assumes"]),
            computing=s["computing"],
        )
        for s in raw["series"]
    ]


def _series_to_dict(s: Series) -> dict[str, Any]:
    return {
        "key": s.key,
        "label": s.label,
        "role": s.role.value,
        "x": s.x.tolist(),
        "y": s.y.tolist(),
        "reference": [s.reference.paper, s.reference.where, s.reference.note],
        "low": None if s.low is None else s.low.tolist(),
        "high": None if s.high is None else s.high.tolist(),
        "undefined_reason": s.undefined_reason,
        "note": s.note,
        "mark": s.mark.value,
        "formula": s.formula,
        "grade": s.grade.value,
        "assumes": list(s.assumes),
        "computing": s.computing,
    }


def _array(numbers: Sequence[float]) -> FloatArray:
    return np.array(numbers, dtype=float)


def _array_or_none(numbers: Sequence[float] | None) -> FloatArray | None:
    return None if numbers is None else _array(numbers)
