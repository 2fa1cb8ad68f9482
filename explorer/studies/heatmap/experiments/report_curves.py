"""Curves and tables of an experiment's report: what its picture shows, with points of one's own.

A report is the document that the command prints as JSON. Every number is a mean over all runs in
all regions, an estimate, with Student's 95 % interval
(`explorer.studies.heatmap.experiments.plan.pooled`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.csv_table import TableFileError, read_records, why_no_number
from explorer.studies.base.numbers import nearest
from explorer.studies.base.result import IMPORTED_PREFIX, Mark, Series
from explorer.studies.heatmap.experiments.error_curves import AXES
from explorer.studies.heatmap.experiments.figures import (
    AGREES,
    DIFFERS,
    FIGURES,
    OPEN,
    SYMBOLS,
    variant_label,
)
from explorer.studies.heatmap.experiments.plan import summarise, variant_of
from explorer.studies.heatmap.experiments.trial import MEASURE_MINIMA
from explorer.studies.heatmap.help import MEASURES
from explorer.studies.heatmap.mechanisms import MECHANISMS

VARIED = {"epsilon": "epsilon", "users": "users_asked", "resolution": "resolution"} | {
    key: key for key in ("sigma", "n0", "w")
}
"""What may vary in heatmap quality, and its column."""
_NAMES = {key: f"{axis.symbol}, {axis.name}" for key, axis in AXES.items()} | {
    "B": "B, units of a user",
    "n0": "n₀, assumed number of users",
}
_LOGARITHMIC = frozenset({"epsilon", "resolution", "B", "sigma"})
MAX_OVERLAID = 12
"""Curves of one's own in a picture: more could not be told apart."""
_LETTERS = 80


@dataclass(frozen=True)
class OwnPoints:
    """Points of a file that are drawn over an experiment's curves.

    Attributes
    ----------
    file, name : str
        The file's name, and the curve's.
    panel : str
        Key of the panel it belongs to; empty for all.
    measure : str
    points : tuple of (x, mean, low, high)
        By x; low and high are NaN where there is no interval.
    """

    file: str
    name: str
    panel: str
    measure: str
    points: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class DrawnPanel:
    """One plot of an experiment's picture.

    Attributes
    ----------
    panel, measure : str
    x_text, y_text : str
        Labels of the axes.
    x_log, y_log : bool
    series : tuple of Series
        A curve a mechanism, and points of one's own.
    """

    panel: str
    measure: str
    x_text: str
    y_text: str
    x_log: bool
    y_log: bool
    series: tuple[Series, ...]


def drawn_panels(
    document: Mapping[str, Any], overlay: Sequence[OwnPoints] = ()
) -> tuple[DrawnPanel, ...]:
    """Return the plots of a report: a panel and measure each, in the order of the figure.

    Raises
    ------
    ValueError
        If several parameters of heatmap quality vary, or nothing is measured.
    """
    figure = FIGURES.get(document["experiment"])
    measures = tuple(MEASURES) if figure is None else figure.measures
    result = []
    for panel, (axis, rows) in _rows_by_panel(document).items():
        for measure in measures:
            series = [*_series(rows, measure), *_own_series(overlay, panel, measure)]
            if any(item.present.any() for item in series):
                name, _, worse = MEASURES[measure]
                result.append(
                    DrawnPanel(
                        panel,
                        measure,
                        _NAMES[axis],
                        name,
                        axis in _LOGARITHMIC,
                        worse > 0,
                        tuple(series),
                    )
                )
    if not result:
        raise ValueError("nothing is measured at any x; there is nothing to draw")
    return tuple(result)


_Rows = list[tuple[float, Mapping[str, Any]]]


def _rows_by_panel(document: Mapping[str, Any]) -> dict[str, tuple[str, _Rows]]:
    """Return of every panel its axis and the pooled rows with their x."""
    pooled = document["pooled"]
    if "axis" in pooled[0]:
        panels: dict[str, tuple[str, _Rows]] = {}
        for row in pooled:
            _, rows = panels.setdefault(row["panel"], (row["axis"], []))
            rows.append((float(row["x"]), row))
        return panels
    varied = [
        key
        for key, column in VARIED.items()
        if len({row[column] for row in pooled if row[column] is not None}) > 1
    ]
    if len(varied) > 1:
        raise ValueError(
            f"{' and '.join(varied)} both vary, and a picture has one x axis; give several values "
            "of one of them, or write a table (.csv, .tex)"
        )
    axis = varied[0] if varied else "epsilon"
    column = VARIED[axis]
    if any(row[column] == "all" for row in pooled):
        raise ValueError("users: all is no place on an axis; give numbers of users")
    xs = sorted({float(row[column]) for row in pooled if row[column] is not None})
    # What does not read the parameter is the same at every x.
    everywhere = [
        (x, row) for row in pooled for x in (xs if row[column] is None else [float(row[column])])
    ]
    return {axis: (axis, everywhere)}


def _series(rows: _Rows, measure: str) -> list[Series]:
    """Return a measure's curves, one a mechanism in the order of the rows."""
    by_variant: dict[tuple[str, float | None], dict[float, Mapping[str, Any]]] = {}
    for x, row in rows:
        by_variant.setdefault(variant_of(row), {})[x] = row
    series = []
    for variant, at in by_variant.items():
        xs = sorted(at)
        mean, low, high = (
            np.array([_number(at[x][measure + end]) for x in xs]) for end in ("", "_low", "_high")
        )
        key, kept = variant
        series.append(
            Series(
                key if kept is None else f"{key}-{kept:g}",
                variant_label(variant),
                Role.ESTIMATE,
                np.array(xs),
                mean,
                MECHANISMS[key].references[0],
                low=low,
                high=high,
                undefined_reason="" if np.isfinite(mean).all() else "no map has such a number",
                mark=Mark.LINE if len(xs) > 1 else Mark.DOTS,
            )
        )
    return series


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _own_series(overlay: Sequence[OwnPoints], panel: str, measure: str) -> list[Series]:
    """Return the points of one's own that belong into a plot."""
    series = []
    for own in overlay:
        if own.measure == measure and own.panel in ("", panel):
            x, mean, low, high = np.array(own.points).T
            series.append(
                Series(
                    f"{IMPORTED_PREFIX}{own.name} ({own.file})",
                    f"{own.name} ({own.file})",
                    Role.BASELINE,
                    x,
                    mean,
                    Reference("own points", f"“{own.name}” in {own.file}"),
                    low=low,
                    high=high,
                    note=f"From the file {own.file}: not computed here, and not checked.",
                    mark=Mark.DOTS,
                )
            )
    return series


def read_points(path: Path) -> tuple[OwnPoints, ...]:
    """Read points of one's own from a CSV file with a header.

    Columns are ``x``, one or more of ``emd``, ``similarity``, ``pearson`` and ``kl``, each perhaps
    with its ends ``_low`` and ``_high``, and perhaps ``name`` (or ``mechanism``) and ``panel``;
    others are not read, so that an experiment's CSV is such a file. Rows of one name and x are runs
    of an experiment: their mean has Student's 95 % interval. A single row has the ends it names.

    Raises
    ------
    TableFileError
        Naming file, line, field and remedy.
    OSError
        If the file can't be read.
    """
    name = path.name.encode(errors="replace").decode()[:_LETTERS]
    table = read_records(path, name)
    columns = [column.strip().lower() for column in table.names]
    measures = [measure for measure in MEASURES if measure in columns]
    if "x" not in columns or not measures:
        raise TableFileError(
            f"{name}: its first line must name a column x and one of {', '.join(MEASURES)}; it has "
            f"{', '.join(columns) or 'no names'}"
        )
    if table.rejected:
        raise TableFileError(f"{name}, {table.rejected[0]}; give every row as many")
    found: dict[tuple[str, str, str], dict[float, list[tuple[float, float, float]]]] = {}
    for line, fields in zip(table.lines, table.rows, strict=True):
        row = dict(zip(columns, fields, strict=True))

        def number(key: str, row: Mapping[str, str] = row, line: int = line) -> float:
            text = row.get(key, "")
            value = table.dialect.number(text) if text else math.nan
            if value is None or (key == "x" and math.isnan(value)):
                why = why_no_number(table, text)
                raise table.error(line, columns.index(key) + 1, f"{why}; write a number")
            return value

        curve = (row.get("name") or row.get("mechanism") or Path(name).stem)[:_LETTERS]
        for measure in measures:
            value = number(measure), number(f"{measure}_low"), number(f"{measure}_high")
            if not math.isnan(value[0]):
                of_it = found.setdefault((curve, row.get("panel", ""), measure), {})
                of_it.setdefault(number("x"), []).append(value)
    if not found:
        raise TableFileError(f"{name}: no row has a number of {', '.join(measures)}; give some")
    if len({curve for curve, _, _ in found}) > MAX_OVERLAID:
        raise TableFileError(
            f"{name}: more than {MAX_OVERLAID} curves; leave some out, or give rows one name"
        )
    return tuple(
        OwnPoints(
            name,
            curve,
            panel,
            measure,
            tuple((x, *_mean_of(runs, measure)) for x, runs in sorted(at.items())),
        )
        for (curve, panel, measure), at in found.items()
    )


def _mean_of(runs: list[tuple[float, float, float]], measure: str) -> tuple[float, float, float]:
    """Return the mean of runs with Student's interval, or a single run as it is."""
    if len(runs) == 1:
        return runs[0]
    summary = summarise([[run[0] for run in runs]], MEASURE_MINIMA[measure])
    assert summary is not None
    assert summary.noise is not None
    return (summary.mean, *summary.noise)


def report_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the means over all runs as a table of texts: its columns, and a row each.

    A cell has the mean and, in brackets, the ends of its interval.
    """
    pooled = document["pooled"]
    with_axis = "axis" in pooled[0]
    settings = {"ε": "epsilon", "n": "users_asked", "Δ": "resolution"}
    columns = ["mechanism", *(["axis", "x"] if with_axis else settings), "runs"]
    rows = []
    for row in pooled:
        at = (
            [SYMBOLS[row["axis"]], f"{row['x']:g}"]
            if with_axis
            else [str(row[key]) for key in settings.values()]
        )
        cells = [
            "–"
            if row[measure] is None
            else nearest(row[measure], 3)
            + (
                ""
                if row[f"{measure}_low"] is None
                else f" [{nearest(row[f'{measure}_low'], 3)}, {nearest(row[f'{measure}_high'], 3)}]"
            )
            for measure in MEASURES
        ]
        rows.append([variant_label(variant_of(row)), *at, str(row["runs"]), *cells])
    return [*columns, *(short for _, short, _ in MEASURES.values())], rows


_SIGNS = {DIFFERS: "≠", OPEN: "?", AGREES: "="}
_SAID = {"better": "better with {}", "worse": "worse with {}", "constant": "constant in {}"}


def _verdicts(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the verdicts on what the paper says, the contradictions first."""
    order = list(_SIGNS)
    return sorted(document.get("verdicts", ()), key=lambda row: order.index(row["verdict"]))


def verdict_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the verdicts on what the paper says, a line each, the contradictions first."""
    return [
        f"{_SIGNS[row['verdict']]} {row['source']}: {row['text']}" for row in _verdicts(document)
    ]


def verdict_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the verdicts as a table of texts: its columns, and a row each in the same order."""
    axes = {row["panel"]: row["axis"] for row in document["pooled"] if "axis" in row}
    rows = []
    for row in _verdicts(document):
        said = (
            f"better than {variant_label((row['against'], row['top_percent']))}"
            if row["against"]
            else _SAID[row["claim"]].format(SYMBOLS[axes[row["panel"]]])
        )
        rows.append(
            [
                f"{_SIGNS[row['verdict']]} {row['verdict']}",
                MEASURES[row["measure"]][0],
                f"{variant_label((row['mechanism'], None))}: {said} ({row['source']})",
                row["text"].partition(": ")[2],
            ]
        )
    return ["Verdict", "Measure", "The paper", "Here"], rows


def experiment_label(name: str) -> str:
    """Return the name of an experiment as a heading, such as Figure 1 of ``figure-1``."""
    return name.replace("-", " ").capitalize()


def interval_line(document: Mapping[str, Any]) -> str:
    """Return the sentence on what means and intervals of a report are over."""
    runs = sorted({row["runs"] for row in document["pooled"]})
    if runs == [1]:
        said = "A single run, which has no interval"
    else:
        number = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        said = f"Means over {number} runs with Student's 95 % intervals over all of them"
    return f"{said}; of similarity and correlation more is better."
