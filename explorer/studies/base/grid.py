"""Requests of a study over a grid of up to three further parameters, and their answers.

A grid is stored as typed, ``eps0=0.5:4:8`` or ``n=1e4,1e5``, in the window, on the command line
and in recipes alike; `axes_of` reads it against what the study declares.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray, Grade, Reference, Role
from explorer.studies.base.claims import conditions_of, failing_of
from explorer.studies.base.simulation import mean_interval
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Kind,
    Mark,
    Parameter,
    Request,
    Result,
    Scale,
    Series,
    Study,
    Value,
    parameter,
    relevant,
)

MAX_AXES = 3
MAX_CELLS = 1000
MAX_TRIALS = 10_000
MAX_VALUES = 1_000_000
"""Cells times points of the x axis."""
MAX_POINTS = 2_000
"""Of the x axis in a window, a recipe, a link or a session: more are thinned."""
MAX_TYPED_POINTS = 100_000
"""Of the x axis on a command line."""
MAX_TASKS = 100_000
"""Cells times trials."""
_SWEPT_KINDS = (Kind.REAL, Kind.INTEGER, Kind.CHOICE, Kind.FLAG)


@dataclass(frozen=True, slots=True)
class Grid:
    """Parameters of a grid and the number of trials.

    Attributes
    ----------
    over : tuple of str
        ``KEY=VALUES``, at most three: columns, rows, and the third, whose values are pages or
        colours. Values are a list (``1e4,1e5``) or a range with both ends and so many points
        (``0.5:4:8``, spread as the parameter declares, or with ``:lin`` or ``:log`` behind).
    trials : int
        How often what is simulated is drawn, each time with another seed.
    colours : bool
        Whether the third parameter's values are colours of one curve, and not pages.
    """

    over: tuple[str, ...] = ()
    trials: int = 1
    colours: bool = False


@dataclass(frozen=True, slots=True)
class GridAxis:
    """A parameter of a grid and the values that it takes."""

    parameter: Parameter
    values: tuple[Value, ...]


def parse_axis(study: Study, text: str) -> GridAxis:
    """Read ``KEY=VALUES``.

    Raises
    ------
    ValueError
        Naming the parameter, what was given and what is allowed.
    """
    key, result, spec = text.partition("=")
    if not (result and key.strip() and spec.strip()):
        raise ValueError(f"{text!r} is not KEY=VALUES, such as eps0=0.5:4:8 or n=1e4,1e5")
    p = parameter(study, key.strip())
    if p.kind not in _SWEPT_KINDS or p.axis_only:
        raise ValueError(f"{p.key}: it can't be part of a grid; choose another parameter")
    values = _range(p, spec) if ":" in spec else [p.parse(v.strip()) for v in spec.split(",") if v]
    return GridAxis(p, tuple(dict.fromkeys(values)))


def _range(p: Parameter, spec: str) -> list[Value]:
    parts = [part.strip() for part in spec.split(":")]
    try:
        low, high, points = float(parts[0]), float(parts[1]), int(parts[2])
        scale = Scale(parts[3]) if len(parts) > 3 else p.scale
        if len(parts) > 4 or not p.numeric:
            raise ValueError
    except (IndexError, ValueError):
        raise ValueError(
            f"{p.key}: {spec!r} is not FROM:TO:N or FROM:TO:N:lin or FROM:TO:N:log; "
            "a list has commas"
        ) from None
    if not 1 <= points <= MAX_CELLS:
        raise ValueError(f"{p.key}: {points} values; a range has 1 to {MAX_CELLS}")
    # Rounded to the digits that a user would type: 0.3, not 0.30000000000000004.
    return [
        p.parse(min(max(float(f"{x:.12g}"), p.low), p.high))
        for x in p.grid(low, high, points, scale)
    ]


def axes_of(study: Study, request: Request, grid: Grid) -> tuple[GridAxis, ...]:
    """Read a grid against a question.

    Raises
    ------
    ValueError
        Saying what of it can't be asked and what to do.
    """
    if study.needs_data or not study.quantities:
        raise ValueError(
            f"{study.name} has no curves; the command 'experiment heatmap-quality' runs maps over "
            "lists of their parameters"
        )
    if not 1 <= len(grid.over) <= MAX_AXES:
        raise ValueError(f"a grid is over 1 to {MAX_AXES} parameters, not {len(grid.over)}")
    axes = tuple(parse_axis(study, text) for text in grid.over)
    keys = [axis.parameter.key for axis in axes]
    swept = () if request.sweep is None else (request.sweep.key,)
    replaced = parameter(study, swept[0]).replaces if swept else ()
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key}: it is in the grid twice; choose another parameter")
        if key in swept or key in replaced:
            raise ValueError(
                f"{key}: its values are on the x axis; put another parameter there, or leave it "
                "out of the grid"
            )
    cells = math.prod(len(axis.values) for axis in axes)
    if cells > MAX_CELLS:
        raise ValueError(f"{cells:,} cells; a grid has at most {MAX_CELLS:,}: take fewer values")
    points = 1 if request.sweep is None else request.sweep.points
    if cells * points > MAX_VALUES:
        raise ValueError(
            f"{cells:,} cells of {points:,} points; at most {MAX_VALUES:,} in all: take "
            "fewer points or values"
        )
    if not 1 <= grid.trials <= min(MAX_TRIALS, MAX_TASKS // cells):
        raise ValueError(
            f"{grid.trials:,} trials of {cells:,} cells; at most "
            f"{min(MAX_TRIALS, MAX_TASKS // cells):,} can be drawn of each"
        )
    query = [dict(cell.values) for cell in requests_of(request, axes)]
    for axis in axes:
        if not any(relevant(axis.parameter, values, request.quantity) for values in query):
            raise ValueError(
                f"{axis.parameter.key}: {axis.parameter.name} does not matter for what is asked; "
                "every plot would be the same"
            )
    return axes


def requests_of(request: Request, axes: Iterable[GridAxis]) -> list[Request]:
    """Return the question of every cell, the last axis' values varying fastest."""
    bare = replace(request, selection=None, fidelity=Fidelity.FULL)
    result = []
    for values in product(*([(a.parameter.key, v) for v in a.values] for a in axes)):
        selected = dict(values)
        result.append(replace(bare, values=tuple((k, selected.get(k, v)) for k, v in bare.values)))
    return result


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
        result: dict[str, Series] = {}
        for cell in self.cells:
            for s in cell.series if cell is not None else ():
                if s.key not in result or (s.present.any() and not result[s.key].present.any()):
                    result[s.key] = s
        return tuple(result.values())

    @property
    def stamp(self) -> str:
        """The notice that every output of it must carry."""
        return "; ".join(dict.fromkeys(c.stamp for c in self.cells if c is not None and c.stamp))

    def values_at(self, place: int) -> tuple[Value, ...]:
        """Return the grid's values at a place, one an axis."""
        result = []
        for axis in reversed(self.axes):
            place, at = divmod(place, len(axis.values))
            result.append(axis.values[at])
        return tuple(reversed(result))


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


def average_trials(
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
        text = f"mean of {n:,} trials with seeds of their own, 95 % interval of the mean"
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
            note="; ".join(filter(None, (s.note, text))),
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
            colour=s.get("colour"),  # of a checkpoint before curves had one: none
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
        "colour": s.colour,
    }


def _array(numbers: Sequence[float]) -> FloatArray:
    return np.array(numbers, dtype=float)


def _array_or_none(numbers: Sequence[float] | None) -> FloatArray | None:
    return None if numbers is None else _array(numbers)
