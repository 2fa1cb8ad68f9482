"""Error curves as a result, so that they are drawn, tabulated and exported as every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import (
    Fidelity,
    Readout,
    Request,
    Result,
    Scale,
    Series,
    Sweep,
    Table,
)
from explorer.studies.heatmap.experiments import which_words as words
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    MEASURES,
    Axis,
    ErrorCurve,
    Measure,
)

STUDY = "heatmap"
TITLE = "Which ε? What maps by each mechanism lose"
TARGET, GREY = "target", "evenly_grey"
"""Readouts that a page draws as lines."""

BANDS = {
    words.OFTEN: "Bands: 10–90 % of draws.",
    words.MEAN: "Bands: 95 % interval of the mean over new noise.",
}


def which_result(
    request: Request,
    axis: Axis,
    measure: Measure,
    statistic: str,
    drawn: Sequence[Series],
    curves: Sequence[ErrorCurve],
    grey: FloatArray,
    target: float,
    stamp: str,
    notes: Sequence[str],
) -> Result:
    """Return error curves with their numbers.

    Parameters
    ----------
    request : Request
        The map's: its settings hold but for what is on the axis.
    statistic : str
        `which_words.OFTEN` or `which_words.MEAN`: what is drawn of the draws.
    drawn : sequence of Series
        As they are on the screen.
    grey : ndarray
        What an evenly grey map errs at every x; empty while not known.
    target : float
        What one can live with, in the unit of the measure.
    stamp : str
    notes : sequence of str
        What was judged on, and what is to know of that.
    """
    low, high = float(axis_values(axis)[0]), float(axis_values(axis)[-1])
    scale = Scale.LOG if log_axis(axis) else Scale.LINEAR
    on_epsilon = axis.key == "epsilon"
    readouts = []
    if on_epsilon:
        readouts.append(Readout(TARGET, "what one can live with", target, unit=measure.unit))
    if grey.size and np.isfinite(grey).all() and np.ptp(grey) == 0:
        errs = "an evenly grey map " + ("errs" if measure.low_is_good else "has")
        readouts.append(Readout(GREY, errs, float(grey[0]), Role.EXACT, measure.unit))
    tables = [draws_table(curves, axis, measure)]
    if on_epsilon:
        tables.insert(0, _needed(curves, measure, target))
    return Result(
        replace(
            request,
            # No single value of what is on the axis: nothing here holds at one alone.
            values=tuple(pair for pair in request.values if pair[0] != axis.key),
            sweep=Sweep(axis.key, low, high, len(axis.values), scale),
            quantity=f"{measure.key} {statistic}",
        ),
        Fidelity.FULL,
        series=tuple(replace(series, computing=False) for series in drawn),
        readouts=tuple(readouts),
        tables=tuple(tables),
        notes=(BANDS[statistic], *filter(None, notes)),
        stamp=stamp,
        complete=True,
        curator_only=bool(stamp),
    )


def axis_values(axis: Axis) -> tuple[float, ...]:
    """Return where curves over an axis are computed, as numbers."""
    return tuple(map(float, axis.values))


def log_axis(axis: Axis) -> bool:
    """Whether an axis is logarithmic."""
    return axis.key != "w"


def axis_texts(request: Request) -> tuple[str, str]:
    """Return the labels of the x and the y axis of what `which_result` made."""
    assert request.sweep is not None
    axis, (key, statistic) = AXES[request.sweep.key], request.quantity.split()
    measure = MEASURES[key]
    shown = f"{measure.name}, {words.said_of(statistic, measure)}"
    return f"{axis.symbol}, {axis.name}", shown


def draws_table(curves: Sequence[ErrorCurve], axis: Axis, measure: Measure) -> Table:
    """Return all that is known of the draws: a row for each mechanism and x."""
    columns, rows = words.table_rows(curves, axis)
    return Table(
        "draws",
        f"{measure.name}: {measure.key}",
        columns,
        rows,
        "mean_low, mean_high: 95 % interval of the mean over new noise; p05 … p95: quantiles of "
        "the draws",
    )


def _needed(curves: Sequence[ErrorCurve], measure: Measure, target: float) -> Table:
    """Return which ε each mechanism needs for the target."""
    said = measure.written(nearest(target, words.DIGITS))
    rows = tuple((line.title, line.words) for line in words.lines(curves, measure, target))
    return Table("needed", f"ε for {said} in 9 of 10 draws", ("mechanism", "ε"), rows)
