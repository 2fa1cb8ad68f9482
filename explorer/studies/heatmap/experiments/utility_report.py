"""Report of error curves: sentences, tables, a CSV file, and a `Result` for plots and exports."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.csv_rows import CsvRows
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.numbers import APPROXIMATELY, at_least, at_most, nearest
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Request,
    Result,
    ScalarResult,
    Scale,
    Series,
    Sweep,
    Table,
)
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    DRAWS,
    FEW_CELLS,
    MEASURES,
    Axis,
    ErrorCurve,
    Estimate,
    Found,
    Measure,
    estimate_epsilon,
    quantile_interval,
)
from explorer.studies.heatmap.experiments.plan import QUANTILES
from explorer.studies.heatmap.mechanisms import MECHANISMS

DIGITS = 3
TARGET_SHARE, MEAN = "often", "mean"
"""Statistic of the draws that is shown: 90 % quantile or mean."""
CURATOR_NOTE = (
    "Choosing ε from the real data is not covered by the guarantee. Before releasing, choose it "
    "on synthetic or public data."
)
STAND_IN = (
    "Estimated on {users} users of a stand-in: no look at these check-ins. Vouch that the "
    "stand-in has nothing to do with them."
)
THEORY = (
    "Proved upper bound on the average error over draws, without a look at any data, for {users} "
    "users (n₀){cells}. Vouch for n₀."
)
FEW = " whose map has mass in at most w = {w} cells, others err more"
CURATOR_ONLY = "curator only"
IN_DRAWS, ON_AVERAGE = "in 9 of 10 maps", "on average over draws"
NOT_KNOWN, NOT_PROVED = "…", "unproved"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: a mechanism and the ε it needs.

    `epsilon` is what may be used, rounded up; None where there is none.
    """

    mechanism: str
    title: str
    words: str
    epsilon: float | None
    least: bool


def reached_value(curve: ErrorCurve, measure: Measure) -> FloatArray:
    """Return the error that 9 of 10 maps do not exceed; the mean where there is one draw alone."""
    few = np.asarray(curve.draws) < 2  # or what is proved, of the mean
    return np.where(few, curve.mean, curve.quantile(measure.quantile))


def estimates(
    curves: Sequence[ErrorCurve], measure: Measure, target: float
) -> dict[str, Estimate | None]:
    """Return the estimated ε of every mechanism."""
    return {
        curve.mechanism: estimate_epsilon(
            curve.x, reached_value(curve, measure), target, measure.low_is_good
        )
        for curve in curves
    }


def usable(epsilon: float) -> float:
    """Return an ε rounded up to as many digits as are shown."""
    return float(at_most(epsilon, DIGITS))


def round_shown(value: float) -> float:
    """Return a number with as many digits as are shown."""
    return float(f"{value:.{DIGITS}g}")


def lines(curves: Sequence[ErrorCurve], measure: Measure, target: float) -> list[Line]:
    """Return the table of the ε that a target needs, the smallest first.

    A curve of fewer runs per point than `DRAWS` has no ε yet: what 9 of 10 maps reach is not
    estimated from 3 of them.
    """
    rows = []
    for curve in curves:
        title = MECHANISMS[curve.mechanism].title
        if curve.proved:
            rows.append(_proved_line(curve, measure, target, title))
            continue
        if min(curve.draws) < DRAWS:
            rows.append(Line(curve.mechanism, title, NOT_KNOWN, None, False))
            continue
        result = estimates([curve], measure, target)[curve.mechanism]
        known = curve.x[np.isfinite(reached_value(curve, measure))]
        words, epsilon = NOT_KNOWN, None
        if result is not None and result.epsilon is not None:
            epsilon = usable(result.epsilon)
            words = f"{APPROXIMATELY} {nearest(epsilon, DIGITS)}"
        elif result is not None and result.beyond < 0:
            epsilon = float(known[0])
            words = f"below {nearest(epsilon, DIGITS)}"
        elif result is not None:
            words = f"over {nearest(float(known[-1]), DIGITS)}"
        rows.append(Line(curve.mechanism, title, words, epsilon, False))
    rows.sort(key=lambda row: math.inf if row.epsilon is None else row.epsilon)
    if rows and rows[0].epsilon is not None and len(rows) > 1:
        first = rows[0]
        rows[0] = Line(first.mechanism, first.title, first.words, first.epsilon, True)
    return rows


def _proved_line(curve: ErrorCurve, measure: Measure, target: float, title: str) -> Line:
    """Return the smallest evaluated ε whose bound reaches the target."""
    y = curve.mean
    enough = curve.x[(y <= target) if measure.low_is_good else (y >= target)]
    if enough.size:
        return Line(curve.mechanism, title, nearest(enough[0], DIGITS), float(enough[0]), False)
    proved = bool(MECHANISMS[curve.mechanism].proved) and not np.isnan(y).all()
    words = f"over {nearest(curve.x[-1], DIGITS)}" if proved else NOT_PROVED
    return Line(curve.mechanism, title, words, None, False)


def at(curve: ErrorCurve, measure: Measure, x: float) -> float | None:
    """Return what 9 of 10 maps reach at any x, read off the curve; None beyond its ends."""
    y = reached_value(curve, measure)
    known = np.isfinite(y)
    if not known.any():
        return None
    xs, y = np.log(curve.x[known]), y[known]
    if not xs[0] - 1e-9 <= math.log(x) <= xs[-1] + 1e-9:
        return None
    if measure.log and (y > 0).all():
        return float(np.exp(np.interp(math.log(x), xs, np.log(y))))
    return float(np.interp(math.log(x), xs, y))


def headline(line: Line | None) -> str:
    """Return the answer in a word: ``ε ≈ 1.27``."""
    if line is None or line.words in (NOT_KNOWN, NOT_PROVED):
        return "ε = …"
    if line.words[0].isdigit():
        return f"ε = {line.words}"
    return f"ε {line.words}".replace("below", "≤").replace("over", ">")


def sentence(
    curve: ErrorCurve | None, measure: Measure, target: float, now: float, line: Line | None
) -> str:
    """Return a sentence on the ε that a mechanism needs for a target, and on the current ε."""
    if curve is None or line is None or line.words == NOT_KNOWN:
        return few_runs(0 if curve is None else min(curve.draws))
    reach = measure.says.format(measure.written(nearest(target, DIGITS)))
    if curve.proved:
        return _proved_sentence(reach, line)
    maps = f"9 of 10 maps by {line.title} {reach}"
    if line.epsilon is None:
        text = _out_of_reach(measure, target, line)
    else:
        text = f"At {headline(line)}, {maps}."
    today = at(curve, measure, now)
    if today is not None:
        value = measure.written(f"{APPROXIMATELY} {nearest(today, DIGITS)}")
        side = "below" if measure.low_is_good else "above"
        text += f" At the current ε = {nearest(now, DIGITS)} they are {side} {value}."
    return text


def _out_of_reach(measure: Measure, target: float, line: Line) -> str:
    """Return that no ε of the axis is enough, and what to do."""
    side, larger = ("below", "larger") if measure.low_is_good else ("above", "smaller")
    value = measure.written(nearest(target, DIGITS))
    return (
        f"No ε up to {line.words[5:]} keeps the {quantity_name(measure)} {side} {value} in 9 of 10 "
        f"maps by {line.title}. Enter a {larger} value."
    )


def quantity_name(measure: Measure) -> str:
    """Return the name of a measure without its unit."""
    return measure.name.partition(" in ")[0]


def _proved_sentence(reach: str, line: Line) -> str:
    if line.words == NOT_PROVED:
        return f"For {line.title} no bound on this error is proved; choose another in the table."
    above = "" if line.epsilon is not None else f" only above ε = {line.words[5:]}"
    return f"Maps by {line.title} {reach} {ON_AVERAGE}{above}: that is proved."


def search_report(result: Found, mechanism: str, measure: Measure, target: float) -> str:
    """Return what a search found."""
    reach = measure.says.format(measure.written(nearest(target, DIGITS)))
    parts = []
    if result.enough is not None:
        parts.append(f"ε = {at_most(result.enough)} is enough (95 % sure).")
    if result.not_enough is not None:
        parts.append(f"ε = {at_least(result.not_enough)} is not enough (95 % sure).")
    title, draws = MECHANISMS[mechanism].title, sum(result.draws.values())
    parts.append(f"Wanted: 9 of 10 maps by {title} {reach}. Tried with {draws:,} runs.")
    return " ".join(parts)


def sure_answer(result: Found, mechanism: str, measure: Measure, target: float) -> tuple[str, str]:
    """Return headline and sentence of what a search found."""
    head = "ε = …" if result.enough is None else f"ε = {at_most(result.enough)}"
    return head, search_report(result, mechanism, measure, target)


def over(axis: Axis, measure: Measure, now: float) -> str:
    """Return the description of curves over another parameter than ε."""
    name = measure.name[:1].upper() + measure.name[1:]
    return f"{name} over {axis.symbol}, at the current ε = {nearest(now)}."


def evaluation_text(came: Origin, users: int, mechanism: str, w: int) -> str:
    """Return on whom an answer about a mechanism rests, and what must be vouched for."""
    cells = FEW.format(w=w) if MECHANISMS[mechanism].proved in FEW_CELLS else ""
    template = {Origin.STAND_IN: STAND_IN, Origin.THEORY: THEORY}.get(came, CURATOR_NOTE)
    return template.format(users=f"{users:,}", cells=cells)


FIRST_RUNS = 3
"""Runs per point below which nothing is estimated."""


def few_runs(runs: int) -> str:
    """Return how many runs per point there are, of which no result is shown."""
    if runs < FIRST_RUNS:
        return f"Computing the first {FIRST_RUNS} runs per point."
    return f"Preliminary: {runs} runs per point so far."


def progress(runs: int, wanted: int, busy: bool, unfinished: bool) -> str:
    """Return how many runs per point there are, and whether more follow."""
    if busy and runs < DRAWS:
        return few_runs(runs)
    if busy:
        return f"Computing: {runs} of {wanted} runs per point."
    if unfinished:
        return f"Cancelled at {runs} of {wanted} runs per point."
    return f"{runs} runs per point."


def mean_at(curve: ErrorCurve, x: float) -> str:
    """Return the mean at any x, between points on the logarithm of x, with its 95 % interval.

    Empty beyond the ends of the curve and where nothing is known.
    """
    known = np.isfinite(curve.mean)
    xs = np.log(curve.x[known])
    if not known.any() or not xs[0] - 1e-9 <= math.log(x) <= xs[-1] + 1e-9:
        return ""
    ends = (curve.mean, curve.low, curve.high)
    mean, low, high = (float(np.interp(math.log(x), xs, y[known])) for y in ends)
    text = nearest(mean, DIGITS)
    if curve.proved or not (math.isfinite(low) and math.isfinite(high)):
        return text
    return f"{text} ({nearest(low, DIGITS)} to {nearest(high, DIGITS)})"


def fewest_runs(curves: Sequence[ErrorCurve]) -> int:
    """Return the number of runs per point that all curves have."""
    return min((min(curve.draws) for curve in curves), default=0)


def how_sure(curve: ErrorCurve | None, measure: Measure, epsilon: float) -> str:
    """Return how far the draws at the ε next to one tell what 9 of 10 maps reach."""
    if curve is None or not curve.values or curve.proved or min(curve.draws) < DRAWS:
        return ""
    place = int(np.argmin(np.abs(np.log(curve.x / epsilon))))
    values = [value for value in curve.values[place] if np.isfinite(value)]
    low, high = quantile_interval(values, measure.quantile)
    below = "no lower end" if low is None else nearest(low, DIGITS)
    above = "no upper end" if high is None else nearest(high, DIGITS)
    return (
        f"From {len(values)} draws at ε = {nearest(float(curve.x[place]), DIGITS)}, what 9 of 10 "
        f"reach lies with 95 % confidence between: {below} … {above}. “Verify” "
        "draws more."
    )


def statistic_text(statistic: str, measure: Measure) -> str:
    """Return what the curves show."""
    side = "below" if measure.low_is_good else "above"
    return f"9 of 10 maps are {side}" if statistic == TARGET_SHARE else "mean of the runs"


def table_rows(
    curves: Sequence[ErrorCurve], axis: Axis
) -> tuple[tuple[str, ...], tuple[tuple[str | float | None, ...], ...]]:
    """Return all that is known of the draws: names of columns, and a row for a mechanism and x."""
    names = (f"p{round(100 * q):02d}" for q in QUANTILES)
    rows: list[tuple[str | float | None, ...]] = []
    for curve in curves:
        for i, x in enumerate(curve.x):
            numbers = [curve.mean[i], curve.low[i], curve.high[i], *curve.quantiles[:, i]]
            known = [None if np.isnan(n) else float(n) for n in numbers]
            rows.append((curve.mechanism, float(x), curve.draws[i], *known))
    return ("mechanism", axis.key, "draws", "mean", "mean_low", "mean_high", *names), tuple(rows)


def as_csv(
    curves: Sequence[ErrorCurve], axis: Axis, measure: Measure, stamp: str, about: Sequence[str]
) -> str:
    """Return the curves as CSV below comment lines with the stamp and a description."""
    table = io.StringIO()
    columns, rows = table_rows(curves, axis)
    CsvRows(table).write_rows([columns, *rows])
    comments = filter(None, (stamp, f"{measure.name}: {measure.key}", *about))
    return "".join(f"# {line}\n" for line in comments) + table.getvalue()


STUDY = "heatmap"
TITLE = "Utility: what maps by each mechanism lose"
TARGET, GREY = "target", "evenly_grey"
"""Readouts that a page draws as lines."""

BANDS = {
    TARGET_SHARE: "Bands: 10–90 % of draws.",
    MEAN: "Bands: 95 % interval of the mean over new noise.",
}


def utility_result(
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
        That of the map: its settings hold except for the parameter on the axis.
    statistic : str
        `TARGET_SHARE` or `MEAN`: what is drawn of the draws.
    drawn : sequence of Series
        As they are on the screen.
    grey : ndarray
        What a uniform map errs at every x; empty while not known.
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
        readouts.append(ScalarResult(TARGET, "acceptable error", target, unit=measure.unit))
    if grey.size and np.isfinite(grey).all() and np.ptp(grey) == 0:
        errs = "error of a uniform map" if measure.low_is_good else "a uniform map has"
        readouts.append(ScalarResult(GREY, errs, float(grey[0]), Role.EXACT, measure.unit))
    tables = [draws_table(curves, axis, measure)]
    if on_epsilon:
        tables.insert(0, _needed_epsilons(curves, measure, target))
    return Result(
        replace(
            request,
            # Nothing here holds at a single value of the parameter on the axis.
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
    """Return the labels of the x and the y axis of what `utility_result` made."""
    assert request.sweep is not None
    axis, (key, statistic) = AXES[request.sweep.key], request.quantity.split()
    measure = MEASURES[key]
    shown = f"{measure.name}, {statistic_text(statistic, measure)}"
    return f"{axis.symbol}, {axis.name}", shown


def draws_table(curves: Sequence[ErrorCurve], axis: Axis, measure: Measure) -> Table:
    """Return all that is known of the draws: a row for each mechanism and x."""
    columns, rows = table_rows(curves, axis)
    return Table(
        "draws",
        f"{measure.name}: {measure.key}",
        columns,
        rows,
        "mean_low, mean_high: 95 % interval of the mean over new noise; p05 … p95: quantiles of "
        "the draws",
    )


def _needed_epsilons(curves: Sequence[ErrorCurve], measure: Measure, target: float) -> Table:
    """Return which ε each mechanism needs for the target."""
    wanted_value = measure.written(nearest(target, DIGITS))
    rows = tuple((line.title, line.words) for line in lines(curves, measure, target))
    return Table("needed", f"ε for {wanted_value} in 9 of 10 maps", ("mechanism", "ε"), rows)
