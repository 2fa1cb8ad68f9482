"""Files of an experiment: its numbers, a table in LaTeX, and a page of plots with the verdicts.

The page has a plot for each panel and measure, and one legend.
"""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.csv_rows import CsvRows
from explorer.figures.geometry import axis_coordinates
from explorer.figures.pages.page_layout import Page
from explorer.figures.pages.series import draw_legend, draw_series
from explorer.figures.picture import MAX_PIXELS, own_settings
from explorer.figures.recipes import METADATA, recipe_text
from explorer.figures.style import SeriesStyle, series_styles, theme
from explorer.figures.table_copy import format_table
from explorer.privacy.core.bound import FloatArray
from explorer.studies.heatmap.experiments.report_curves import (
    DrawnPanel,
    OwnPoints,
    drawn_panels,
    experiment_label,
    interval_line,
    report_table,
    verdict_lines,
)

FORMATS = tuple(METADATA)
_COLUMNS = 2
_GAP = 0.12
"""Inches between two plots."""
_MOST_POINTS = 200
"""Labels of the x axis stand at the points where there are few."""
_ROOM = 0.05


def experiment_bytes(document: Mapping[str, Any], suffix: str, **picture: Any) -> bytes:
    """Return a document as a file: JSON, CSV below comment lines, a LaTeX table, or drawn.

    Parameters
    ----------
    document : mapping
        What the command ``experiment`` prints as JSON.
    suffix : str
        Of a format of `Kind.EXPERIMENT`, without the dot.
    **picture
        As `experiment_picture` takes them.
    """
    texts = {"json": document_json, "csv": _csv, "tex": _latex}
    if suffix in texts:
        return texts[suffix](document).encode()
    return experiment_picture(document, suffix, **picture)


def document_json(document: Mapping[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _csv(document: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if not isinstance(value, list)}
    table = io.StringIO()
    rows = document["rows"]
    CsvRows(table).write_rows([rows[0], *([row[key] for key in rows[0]] for row in rows)])
    return "".join(f"# {key}: {_plain(value)}\n" for key, value in rest.items()) + table.getvalue()


def _latex(document: Mapping[str, Any]) -> str:
    """Return the means over all runs as a ``tabular``, verdicts and stamp as comments."""
    columns, rows = report_table(document)
    title = str(document.get("title", document["experiment"]))
    table = format_table(columns, rows, "latex", title, interval_line(document))
    comments = [*verdict_lines(document), document["stamp"]]
    return table + "".join(f"% {line}\n" for line in comments)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def experiment_picture(
    document: Mapping[str, Any],
    fmt: str,
    *,
    size_px: tuple[int, int] = (1600, 1200),
    dpi: float = 150,
    theme_name: str = "light",
    overlay: Sequence[OwnPoints] = (),
) -> bytes:
    """Draw an experiment's report; equal arguments give equal bytes.

    Parameters
    ----------
    document : mapping
        What the command ``experiment`` prints as JSON.
    fmt : str
        One of `FORMATS`.
    size_px : (int, int)
        Width and height of a PNG in pixels; SVG and PDF are ``size_px / dpi`` inches large.
    dpi : float
        Dots per inch, 30 to 1200.
    theme_name : str
    overlay : sequence of OwnPoints
        Points of one's own.

    Raises
    ------
    ValueError
        If there is nothing to draw, or an argument is out of range.
    """
    if fmt not in FORMATS:
        raise ValueError(f"fmt: {fmt!r} is not one of {', '.join(FORMATS)}")
    width, height = size_px
    if not (30 <= dpi <= 1200 and min(size_px) >= 100 and width * height <= MAX_PIXELS):
        raise ValueError(
            f"a picture of {width} × {height} at {dpi:g} dots per inch; at least 100 × 100 and 30 "
            f"dots, at most {MAX_PIXELS:,} pixels and 1,200 dots"
        )
    panels = drawn_panels(document, overlay)
    kept = ("schema", "experiment", "title", "settings", "digest")
    text = recipe_text({key: document[key] for key in kept if key in document})
    stream = io.BytesIO()
    with own_settings():
        page = Page(width / dpi, height / dpi, theme(theme_name))
        page.figure.set_dpi(dpi)
        _draw(page, document, panels, theme_name)
        metadata = METADATA[fmt](text, document["stamp"])
        page.figure.savefig(stream, format=fmt, dpi=dpi, metadata=metadata)
    return stream.getvalue()


def _draw(
    page: Page, document: Mapping[str, Any], panels: Sequence[DrawnPanel], theme_name: str
) -> None:
    listed = list({item.key: item for panel in panels for item in panel.series}.values())
    styles = series_styles(listed, theme_name)
    name = experiment_label(document["experiment"])
    page.write_title(f"{name}: {document['title']}" if "title" in document else name)
    page.write_stamp(document["stamp"])
    origin = "Privacy Explorer; the settings stand in this file"
    around = 3 * page.inches(page.label_size)
    legend, height = draw_legend(
        page, listed, styles, page.room(around) - page.notes_height(origin)
    )
    page.write_notes(
        [interval_line(document)],
        verdict_lines(document),
        origin,
        around=around + height + page.margin / 2,
    )
    legend.set_bbox_to_anchor(
        (page.margin / page.width, page.bottom / page.height), page.figure.transFigure
    )
    page.bottom += height + page.margin / 2
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    label = page.inches(page.label_size)
    left, below = 4.6 * page.label_size / 72 + label, 2.4 * label
    wide = (page.across - (columns - 1) * _GAP) / columns - left
    high = (page.top - page.bottom - (rows - 1) * _GAP) / rows - below
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        axes = page.axes(
            page.margin + column * (left + wide + _GAP) + left,
            page.top - (row + 1) * (high + below) - row * _GAP + below,
            wide,
            high,
        )
        _plot(page, axes, panel, styles, (wide, high))


def _plot(
    page: Page,
    axes: Any,
    panel: DrawnPanel,
    styles: Mapping[str, SeriesStyle],
    inches: tuple[float, float],
) -> None:
    x_text, x_size, _ = page.fit_label(panel.x_text, inches[0], lines=1)
    y_text, y_size, _ = page.fit_label(panel.y_text, inches[1], lines=1)
    pad = 0.3 * page.label_size
    axes.set_xlabel(x_text, fontsize=x_size, color=page.theme.text, labelpad=pad)
    axes.set_ylabel(y_text, fontsize=y_size, color=page.theme.text, labelpad=pad)
    axes.set_xscale("log" if panel.x_log else "linear")
    axes.set_yscale("log" if panel.y_log else "linear")
    axes.grid(color=page.theme.grid, linewidth=0.5)
    axes.set_axisbelow(True)
    xs = np.unique(np.concatenate([item.x for item in panel.series]))
    axes.set_xlim(*_ends([xs], panel.x_log))
    axes.set_ylim(*_ends(_heights(panel), panel.y_log))
    axes.autoscale(False)
    _ticks_at(axes, xs, panel.x_log, inches[0], page.label_size)
    axes.tick_params(labelsize=0.8 * page.label_size)
    for place, item in enumerate(panel.series):
        draw_series(
            axes, item, styles[item.key], place, panel.x_log, panel.y_log, None, 0.8 * page.stroke
        )


def _heights(panel: DrawnPanel) -> list[FloatArray]:
    """Return all y to show; a lower end of 0 is below any logarithmic axis."""
    parts = [part for s in panel.series for part in (s.y, s.low, s.high) if part is not None]
    if panel.y_log:
        # Ends near 0 would leave the means a sliver of the axis.
        means = np.concatenate([s.y for s in panel.series])
        least = float(np.nanmin(np.where(means > 0, means, np.nan))) / 3
        parts = [np.where(part >= least, part, np.nan) for part in parts]
    return parts


def _ends(values: Sequence[FloatArray], log: bool) -> tuple[float, float]:
    """Return the ends of an axis with a margin around all values."""
    places = axis_coordinates(np.concatenate(values), log)
    places = places[np.isfinite(places)]
    low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
    room = _ROOM * (high - low) if high > low else 0.3
    ends = low - room, high + room
    return (10.0 ** ends[0], 10.0 ** ends[1]) if log else ends


def _ticks_at(axes: Any, xs: FloatArray, log: bool, wide: float, size: float) -> None:
    """Put ticks at the points of the axis as far as their numbers have room."""
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    if len(xs) > _MOST_POINTS:
        return
    low, high = axis_coordinates(np.array(axes.get_xlim()), log)
    at = (axis_coordinates(xs, log) - low) / (high - low) * wide
    kept, last = [], -np.inf
    for x, place in zip(xs, at, strict=True):
        if place - last >= 0.55 * size / 72 * (len(f"{x:g}") + 1):
            kept.append(float(x))
            last = place
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
