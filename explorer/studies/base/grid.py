"""Requests of a study over a grid of up to three further parameters, and their answers.

A grid is stored as typed, ``eps0=0.5:4:8`` or ``n=1e4,1e5``, in the window, on the command line
and in recipes alike; `axes_of` reads it against what the study declares.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from explorer.studies.base.study import (
    Fidelity,
    Kind,
    Parameter,
    Request,
    Scale,
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
MOST_TYPED = 100_000
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
    key, found, spec = text.partition("=")
    if not (found and key.strip() and spec.strip()):
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
    asked = [dict(cell.values) for cell in requests_of(request, axes)]
    for axis in axes:
        if not any(relevant(axis.parameter, values, request.quantity) for values in asked):
            raise ValueError(
                f"{axis.parameter.key}: {axis.parameter.name} does not matter for what is asked; "
                "every plot would be the same"
            )
    return axes


def requests_of(request: Request, axes: Iterable[GridAxis]) -> list[Request]:
    """Return the question of every cell, the last axis' values varying fastest."""
    bare = replace(request, selection=None, fidelity=Fidelity.FULL)
    found = []
    for values in product(*([(a.parameter.key, v) for v in a.values] for a in axes)):
        chosen = dict(values)
        found.append(replace(bare, values=tuple((k, chosen.get(k, v)) for k, v in bare.values)))
    return found
