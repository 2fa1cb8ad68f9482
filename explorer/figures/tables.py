"""Export of a result's numbers as CSV and JSON, with the recipe inside."""

import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.csv_rows import CsvRows
from explorer.figures import captions
from explorer.figures.export import ExportJob
from explorer.figures.recipes import RECIPE_PREFIX, recipe_text
from explorer.figures.table_copy import format_table, plain_number
from explorer.figures.view_state import ViewState
from explorer.geography.coordinates import wrap_longitude
from explorer.geography.region import Region, polygon_document
from explorer.privacy.core.bound import FloatArray, Reference
from explorer.studies.base.claims import (
    UnclaimedReason,
    evaluate_claim,
    unclaimed_reasons,
    with_claim,
)
from explorer.studies.base.study import Mark, Result, ScalarResult, Series, Surface, Table

COLUMNS = ("number", "lat", "lon", "share")
"""Number from 1, latitude, longitude, share of the total (None for a point without a share)."""
WITHOUT_A_PLACE = ("number", "north", "east", "share")
"""For regions without a public position: relative coordinates within the region."""


ON_A_PLANE = ("number", "y", "x", "share")
"""For planes that are not the Earth."""


def point_columns(surface: Surface) -> tuple[str, ...]:
    """Return the column names of a map's points."""
    if surface.region is None:
        return WITHOUT_A_PLACE
    return COLUMNS if surface.region.plane is None else ON_A_PLANE


def point_rows(surface: Surface) -> list[tuple[int, float, float, float | None]]:
    """Return the points of a map, a row each; none for a map of cells."""
    overlay = surface.overlay
    if overlay is None:
        return []
    south, west, north, east = (0.0, 0.0, 1.0, 1.0)
    if surface.region is not None:
        south, west, north, east = surface.region.box
    lat = (south + overlay.points[:, 0] * (north - south)).round(9).tolist()
    lon = (west + overlay.points[:, 1] * (east - west)).round(9).tolist()
    if surface.region is not None and surface.region.plane is not None:
        lat = [surface.region.plane.y(north) for north in lat]
    elif surface.region is not None:
        lon = [round(wrap_longitude(v), 9) for v in lon]
    shares = [None] * len(lat) if overlay.shares is None else overlay.shares.tolist()
    return list(zip(range(1, len(lat) + 1), lat, lon, shares, strict=True))


def points_document(surface: Surface) -> dict[str, Any]:
    """Return the points of a map as a member of a JSON document; nothing without any."""
    if surface.overlay is None:
        return {}
    columns = point_columns(surface)
    return {"points": [dict(zip(columns, row, strict=True)) for row in point_rows(surface)]}


def points_only(shown: Sequence[Surface]) -> bool:
    """Return whether all maps have points, so that a table of points is complete."""
    return bool(shown) and all(surface.overlay is not None for surface in shown)


def write_points(out: io.StringIO, shown: Sequence[Surface]) -> None:
    """Write points as CSV, a row each, with the keys of their maps."""
    writer = CsvRows(out)
    writer.write_row(("map", *point_columns(shown[0])))
    for surface in shown:
        writer.write_rows((surface.key, *row) for row in point_rows(surface))


SCHEMA = "privacy-explorer-result/1"
ABSENT_IN_JSON = (
    "null in y: the statement does not hold at that x or its number is infinite, see why_absent; "
    "every series has its own x, and at any other it was not computed"
)


def table_text(result: Result, view: ViewState, recipe: Mapping[str, object]) -> str:
    """Return a job's numbers as CSV with ``#`` comments; to be called through `rendered`.

    Curves: ``x``, then one column a visible series under its stable id (an estimate's band as
    ``id:low`` and ``id:high``), empty where the curve does not hold and, if it has fewer points
    than others, where it was not computed; the ``#`` lines explain empty fields and contain the
    study's tables. Maps: ``row`` (0 south), ``column`` (0 west), ``lat`` and ``lon`` of the cell's
    centre (unless the region is not public) and one column per shown surface; if all maps have
    points, the points instead.

    Raises
    ------
    ValueError
        If the view shows none of the result's surfaces, or they lie on different grids.
    """
    out = io.StringIO()
    for line in comments(result, view, recipe):
        out.write("# " + " ".join(line.split()) + "\n")
    out.write(RECIPE_PREFIX + recipe_text(recipe) + "\n")
    shown = captions.shown_surfaces(result, view)
    if points_only(shown):
        write_points(out, shown)
    elif shown:
        _write_surfaces(out, shown)
    else:
        _write_series(out, captions.visible_series(result, view))
    return out.getvalue()


def csv_bytes(job: ExportJob) -> bytes:
    """Return a job's numbers as `table_text`, in UTF-8."""
    return table_text(job.result, job.view, job.recipe).encode()


def json_bytes(job: ExportJob) -> bytes:
    """Return a job's `result_document` as JSON in UTF-8."""
    document = result_document(job.result, job.view, job.recipe)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode() + b"\n"


def result_document(
    result: Result, view: ViewState, recipe: Mapping[str, object]
) -> dict[str, Any]:
    """Return a result as JSON values; to be called through `rendered`.

    Non-finite numbers become null; for curves, ``absent`` explains them. Content for the curator
    only is included only if the view shows such a surface, which the stamp then states.
    """
    result = with_claim(result, view.claim)
    recipe_text(recipe)
    shown = captions.shown_surfaces(result, view)
    curator = any(surface.curator_only for surface in shown)
    claim = evaluate_claim(result, view.claim)
    reasons = unclaimed_reasons(result, claim)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "stamp": whole_stamp(result, shown),
        "recipe": recipe,
        "study": result.request.study,
        "quantity": result.request.quantity,
        "x": result.request.sweep.key if result.request.sweep else None,
        "fidelity": result.fidelity.name.lower(),
        "complete": result.final,
        **({"absent": ABSENT_IN_JSON} if result.series else {}),
        "series": [
            _series_document(s, reasons.get(s.key)) for s in captions.visible_series(result, view)
        ],
        "tables": [_table_document(t) for t in result.tables],
        "surfaces": [_surface_document(s) for s in shown],
        "readouts": [
            _readout_document(r) for r in result.readouts if curator or not r.curator_only
        ],
        "conditions": [
            {
                "text": c.text,
                "holds": c.holds,
                "margin": c.margin,
                "of_guarantee": c.of_guarantee,
            }
            for c in result.conditions
        ],
        "notes": list(result.notes),
    }
    promise = result.guarantee
    if promise is not None:
        document["guarantee"] = {
            "unit": promise.unit,
            "add_remove": promise.add_remove,
            "replace_one": promise.replace_one,
            "trust": promise.trust,
            "sentence": promise.sentence,
            "beside": promise.beside,
            "claimed": promise.claimed,
            "references": [_reference_document(r) for r in promise.references],
            "differences": list(promise.differences),
        }
    if claim is not None:
        document["claim"] = {
            "series": claim.series.key,
            "wanted": claim.wanted,
            "value": claim.value,
            "role": claim.series.role.value,
            "grade": claim.series.grade.value,
            "sentence": claim.line,
        }
    return document


def comments(result: Result, view: ViewState, recipe: Mapping[str, object]) -> list[str]:
    """Return comment lines: origin, stamp, settings, meaning of columns, guarantee."""
    result = with_claim(result, view.claim)
    lines = [captions.origin_line(result, view, recipe)]
    shown = captions.shown_surfaces(result, view)
    stamp = whole_stamp(result, shown)
    if stamp:
        lines.append(f"stamp: {stamp}")
    lines += [captions.settings_line(result), captions.data_line(recipe)]
    visible = captions.visible_series(result, view)
    if result.request.sweep:
        x, y = result.request.sweep.key, result.request.quantity
        lines.append(f"x is {x}; the other columns are {y}{_empty_cells(visible)}")
    reasons = unclaimed_reasons(result, evaluate_claim(result, view.claim))
    for series in visible:
        lines.append(f"{series.key}: {captions.legend_label(series)}; {series.reference}")
        lines += [f"{series.key}: {text}" for text in empty_texts(series, visible)]
        lines += [series.note] if series.note else []
        if series.key in reasons:
            lines.append(f"{series.key}: better here and not claimed: {reasons[series.key].why}")
    for surface in shown:
        only = " (curator only)" if surface.curator_only else ""
        lines.append(f"{surface.key}: {surface.label}{only}; share of the total in every cell")
    lines.append(captions.readout_line(result, any(surface.curator_only for surface in shown)))
    lines += captions.guarantee_lines(result)
    for table in result.tables:
        lines += _table_comments(table)
    return [line for line in [*lines, *result.notes] if line]


def whole_stamp(result: Result, shown: list[Surface]) -> str:
    """Return the distinct stamps of the shown surfaces, or the result's without surfaces."""
    parts = [captions.stamp_of(result, surface) for surface in shown] or [result.stamp]
    return "; ".join(dict.fromkeys(part for part in parts if part))


def _is_function(series: Series) -> bool:
    """Return whether a series has every x at most once, so that it can share rows."""
    if series.mark is Mark.PATH or np.isnan(series.x).any():
        return False
    return np.unique(series.x).size == series.x.size


def _shared_x(series: Sequence[Series]) -> FloatArray:
    """Return the x values of the rows of functions."""
    single = [s.x for s in series if _is_function(s)]
    return np.unique(np.concatenate(single)) if single else np.zeros(0)


def _empty_cells(series: Sequence[Series]) -> str:
    """Return the explanation of empty cells for the head of a table."""
    rows = _shared_x(series).size
    if all(_is_function(s) and s.x.size == rows for s in series):
        infinite = " or is infinite" * any(s.infinite for s in series)
        return f"; empty where a statement does not hold{infinite}"
    return (
        "; a cell is empty where the statement does not hold at that x or was not computed there: "
        "the lines of its column say which"
    )


def empty_texts(series: Series, table: Sequence[Series]) -> list[str]:
    """Return the meaning of empty cells in a curve's column of `wide_table`.

    The curve was not computed at that x, does not hold there (with the reason), or is infinite.
    """
    texts = []
    points, rows = len(series.x), _shared_x(table).size
    if not _is_function(series):
        texts.append(f"in {points} rows of its own at the end; not computed at the x of the others")
    elif points < rows:
        texts.append(f"computed at {points} of {rows} x; empty at the others: not computed there")
    why = series.undefined_reason or "not defined"
    fails = "✗" if series.infinite else "✗ does not hold"
    fails = "… not computed yet" if series.computing else fails
    ranges = captions.absent_ranges(list(series.x), series.present)
    if not series.present.any() and points:
        texts.append(f"{fails} at any x: {why}")
    elif ranges and series.mark is Mark.PATH:
        texts.append(f"{fails} in parts of the path: {why}")
    elif ranges:
        where = ", ".join(
            plain_number(a) if a == b else f"{plain_number(a)} … {plain_number(b)}"
            for a, b in ranges
        )
        texts.append(f"{fails} at x = {where}: {why}")
    return texts


def wide_table(series: Sequence[Series]) -> tuple[list[str], FloatArray]:
    """Return curves side by side: the columns' ids and the numbers, x first.

    One row for every x that a function of x has, in growing order; a series that passes an x more
    than once (a path, repeated runs) has rows of its own below, in its own order.

    Returns
    -------
    columns : list of str
        ``x``, then every series' id, its ends of band or error bar as ``id:low``, ``id:high``.
    table : ndarray of float, shape (rows, columns)
        NaN where a curve does not hold or has no point; `empty_texts` tells which.
    """
    names = ["x"]
    single: list[tuple[FloatArray, list[FloatArray], int]] = []
    repeated: list[tuple[FloatArray, list[FloatArray], int]] = []
    for s in series:
        parts = [np.where(s.present, s.y, np.nan)]
        endings = [""]
        if s.low is not None and s.high is not None:
            parts += [s.low, s.high]
            endings += [":low", ":high"]
        (single if _is_function(s) else repeated).append((s.x, parts, len(names)))
        names += [s.key + ending for ending in endings]
    grid = _shared_x(series)
    blocks = [np.full((grid.size, len(names)), np.nan)]
    blocks[0][:, 0] = grid
    for x, parts, place in single:
        blocks[0][np.searchsorted(grid, x), place : place + len(parts)] = np.column_stack(parts)
    for x, parts, place in repeated:
        block = np.full((x.size, len(names)), np.nan)
        block[:, 0] = x
        block[:, place : place + len(parts)] = np.column_stack(parts)
        blocks.append(block)
    return names, np.concatenate(blocks)


def _write_series(out: io.StringIO, series: list[Series]) -> None:
    names, table = wide_table(series)
    writer = CsvRows(out)
    writer.write_row(names)
    writer.write_rows(map(plain_number, row) for row in table.tolist())


def _table_comments(table: Table) -> list[str]:
    """Return a study's table as comment lines: title, CSV, note."""
    lines = [f"table {table.key}: {table.title}"]
    lines += format_table(table.columns, table.rows, "csv").splitlines()
    return [*lines, *([table.note] if table.note else [])]


def _table_document(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [
            [v if not isinstance(v, float) or math.isfinite(v) else None for v in row]
            for row in table.rows
        ],
        "note": table.note,
    }


def one_grid(shown: Sequence[Surface]) -> None:
    """Raise ValueError if surfaces do not share one grid."""
    first = shown[0]
    if any(s.values.shape != first.values.shape or s.region != first.region for s in shown):
        raise ValueError(
            "surfaces: they lie on different grids; export them one at a time or as JSON"
        )


def cell_texts(shown: Sequence[Surface]) -> list[list[list[str]]]:
    """Return the numbers of surfaces on one grid as text: for each its rows, south first.

    Single precision numbers have their shortest exact form.

    Raises
    ------
    ValueError
        If they lie on different grids.
    """
    one_grid(shown)
    return [np.asarray(s.values, np.float32).astype(str).tolist() for s in shown]


def _write_surfaces(out: io.StringIO, shown: list[Surface]) -> None:
    texts, first = cell_texts(shown), shown[0]
    rows, columns = first.values.shape
    place = [] if first.region is None else ["lat", "lon"]
    if first.region is not None and first.region.plane is not None:
        place = ["y", "x"]
    out.write(",".join(["row", "column", *place, *(s.key for s in shown)]) + "\n")
    lat, lon = _centres(first.region, rows, columns)
    drawn = first.drawn.tolist()
    for i in range(rows):
        lines = zip(*(text[i] for text in texts), strict=True)
        out.writelines(
            f"{i},{j},{lat[i]}{lon[j]}{','.join(values)}\n"
            for j, values in enumerate(lines)
            if drawn[i][j]
        )


def _centres(region: Region | None, rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Return the cells' latitudes and longitudes, each followed by a comma; empty without a region.

    On a plane that is not the Earth they are y and x.
    """
    if region is None:
        return [""] * rows, [""] * columns
    south, west, north, east = region.box
    high, wide = north - south, east - west
    lat = [round(south + high * (i + 0.5) / rows, 9) for i in range(rows)]
    lon = [round(west + wide * (j + 0.5) / columns, 9) for j in range(columns)]
    if region.plane is not None:
        lat = [region.plane.y(v) for v in lat]
    else:
        lon = [round(wrap_longitude(v), 9) for v in lon]
    return (
        [plain_number(v) + "," for v in lat],
        [plain_number(v) + "," for v in lon],
    )


def _finite(values: FloatArray | None) -> list[float | None] | None:
    if values is None:
        return None
    return [v if math.isfinite(v) else None for v in np.asarray(values, float).tolist()]


def _reference_document(reference: Reference) -> dict[str, str]:
    return {"paper": reference.paper, "where": reference.where, "note": reference.note}


def _series_document(series: Series, reason: UnclaimedReason | None) -> dict[str, Any]:
    return {
        "key": series.key,
        "label": series.label,
        "role": series.role.value,
        "mark": series.mark.value,
        "reference": _reference_document(series.reference),
        "x": _finite(series.x),
        "y": _finite(series.y),
        "low": _finite(series.low),
        "high": _finite(series.high),
        "why_absent": series.undefined_reason,
        **({"why_not_claimed": reason.why} if reason is not None else {}),
        "note": series.note,
    }


def _surface_document(surface: Surface) -> dict[str, Any]:
    rows = np.asarray(surface.values, np.float32).astype(str).tolist()
    plane = surface.region.plane if surface.region is not None else None
    drawn = surface.drawn.tolist()
    return {
        "key": surface.key,
        "label": surface.label,
        "curator_only": surface.curator_only,
        "stamp": surface.stamp,
        "region": None if surface.region is None else list(surface.region.declared),
        **({} if plane is None else {"plane": plane.text}),
        **({} if surface.region is None else polygon_document(surface.region)),
        "values": [
            [float(v) if inside else None for v, inside in zip(row, cells, strict=True)]
            for row, cells in zip(rows, drawn, strict=True)
        ],
        **points_document(surface),
    }


def _readout_document(readout: ScalarResult) -> dict[str, Any]:
    def finite(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    return {
        "key": readout.key,
        "label": readout.label,
        "value": finite(readout.value),
        "role": readout.role.value if readout.role else None,
        "unit": readout.unit,
        "low": finite(readout.low),
        "high": finite(readout.high),
        "curator_only": readout.curator_only,
        "note": readout.note,
    }
