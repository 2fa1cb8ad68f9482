"""Pages of small multiples: a plot per grid cell, with common axes and one legend."""

import io
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.geometry import axis_coordinates, bar_edges
from explorer.figures.grid import (
    GridJob,
    Panel,
    headings,
    legend_series,
    page_text,
    panels,
    ranges,
    shape,
    shown_quantity,
)
from explorer.figures.pages.page_layout import Page, drawable
from explorer.figures.pages.series import draw_legend, draw_series
from explorer.figures.picture import MAX_PIXELS, own_settings
from explorer.figures.recipes import METADATA, recipe_text
from explorer.figures.style import SeriesStyle, series_styles, theme
from explorer.studies.base.study import Series, parameter, relevant, with_unit
from explorer.studies.registry import get_study

_GAP = 0.07
"""Inches between two plots."""


def grid_picture(job: GridJob) -> bytes:
    """Draw a grid as PNG, SVG or PDF; a PDF has all pages, other formats one.

    Raises
    ------
    ValueError
        If there is no curve to show, or the size is out of range.
    """
    width, height = job.size_px
    if not (30 <= job.dpi <= 1200 and min(width, height) >= 100 and width * height <= MAX_PIXELS):
        raise ValueError(
            f"a picture of {width} × {height} at {job.dpi:g} dots per inch; at least 100 × 100 and "
            f"30 dots, at most {MAX_PIXELS:,} pixels and 1,200 dots"
        )
    listed = [s for s in legend_series(job.answer, job.curve) if s.key not in job.view.hidden]
    if not listed:
        raise ValueError("there is no curve to draw: compute the grid first, or show a curve")
    pages = shape(job.answer)[0]
    fmt, text = job.format.suffix, recipe_text(job.recipe)
    if not 0 <= job.page < pages:
        raise ValueError(f"page {job.page + 1}: there are {pages}")
    stream = io.BytesIO()
    with own_settings():
        metadata = METADATA[fmt](text, job.answer.stamp)
        if fmt == "pdf" and pages > 1:
            from matplotlib.backends.backend_pdf import PdfPages

            with PdfPages(stream, metadata=metadata) as file:
                for number in range(pages):
                    file.savefig(_draw(job, number, listed).figure)
        else:
            figure = _draw(job, job.page, listed).figure
            figure.savefig(stream, format=fmt, dpi=job.dpi, metadata=metadata)
    return stream.getvalue()


def _draw(job: GridJob, number: int, listed: list[Series]) -> Page:
    answer, view = job.answer, job.view
    page = Page(job.size_px[0] / job.dpi, job.size_px[1] / job.dpi, theme(view.theme))
    page.figure.set_dpi(job.dpi)
    styles = series_styles(legend_series(answer, job.curve), view.theme)
    study = get_study(answer.request.study)
    shared = page_text(answer, number)
    page.write_title((view.title or study.name) + (f": {shared}" if shared else ""))
    page.write_stamp(answer.stamp)
    shown = panels(answer, number, job.curve)
    origin = f"Privacy Explorer {job.recipe.get('version') or ''}; this file carries its recipe"
    around = 3 * page.inches(page.label_size)
    room = page.room(around) - page.notes_height(origin)
    legend, height = draw_legend(page, listed, styles, room)
    page.write_notes(_notes(job, shown), [], origin, around=around + height + page.margin / 2)
    legend.set_bbox_to_anchor(
        (page.margin / page.width, page.bottom / page.height), page.figure.transFigure
    )
    page.bottom += height + page.margin / 2
    _draw_panels(page, job, shown, styles)
    return page


def _notes(job: GridJob, shown: list[Panel]) -> list[str]:
    """Return notes on settings common to all plots and on conditions that fail in some."""
    answer = job.answer
    gridded = {axis.parameter.key for axis in answer.axes}
    study = get_study(answer.request.study)
    values = dict(answer.request.values)
    swept = answer.request.sweep.key if answer.request.sweep is not None else ""
    hidden = {swept, *gridded, *(parameter(study, swept).replaces if swept else ())}
    notes = [
        " · ".join(
            captions.parameter_text(with_unit(p, values), values[p.key])
            for p in study.parameters
            if p.key not in hidden and p.in_panel and relevant(p, values, answer.request.quantity)
        )
    ]
    if answer.grid.trials > 1:
        notes.append(
            f"What is simulated: means of {answer.grid.trials:,} trials with their 95 % intervals."
        )
    failing: dict[str, int] = {}
    for panel in shown:
        for text in panel.failing(job.view.hidden):
            failing[text] = failing.get(text, 0) + 1
    notes += [f"✗ in {count} of {len(shown)} plots: {text}" for text, count in failing.items()]
    errors = dict.fromkeys(error for panel in shown for error in panel.errors)
    notes += [f"✗ no answer: {error}" for error in errors]
    missing = {
        study.short_name(s.key, s.label): s.undefined_reason
        for panel in shown
        for s in panel.series
        if s.key not in job.view.hidden and s.undefined_reason and not s.computing
    }
    notes += [
        f"✗ {label} is not drawn where it does not hold: {why}" for label, why in missing.items()
    ]
    if any(not cell.final for panel in shown for cell in panel.cells):
        notes.append("Not all is computed yet: some curves are coarse.")
    return notes


def _draw_panels(
    page: Page, job: GridJob, shown: list[Panel], styles: dict[str, SeriesStyle]
) -> None:
    answer, view = job.answer, job.view
    _, rows, columns = shape(answer)
    (x_low, x_high), (y_low, y_high) = ranges(
        answer, view.hidden, view.x_log, view.y_log, job.curve
    )
    x_text, y_text = _labels(job)
    line = page.inches(page.label_size)
    beside, above = headings(answer)[1], headings(answer)[0]
    right = page.margin + page.aside + (line if beside != [""] else 0.0)
    top = page.top - line
    bottom = page.bottom + 2.6 * line
    y_text, y_size, y_lines = page.fit_label(y_text, top - bottom)
    left = page.margin + 3.6 * page.label_size / 72 + y_lines * page.inches(y_size)
    wide = (page.width - left - right - (columns - 1) * _GAP) / columns
    high = (top - bottom - (rows - 1) * _GAP) / rows
    for panel in shown:
        axes = page.axes(
            left + panel.column * (wide + _GAP),
            top - (panel.row + 1) * high - panel.row * _GAP,
            wide,
            high,
        )
        axes.set_xscale("log" if view.x_log else "linear")
        axes.set_yscale("log" if view.y_log else "linear")
        axes.grid(color=page.theme.grid, linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_xlim(x_low, x_high)
        axes.set_ylim(*_with_room(y_low, y_high, view.y_log))
        axes.autoscale(False)
        axes.label_outer()
        last = panel.column == columns - 1
        _few_ticks(axes, wide, high, view.x_log, view.y_log, page.label_size, last=last)
        axes.tick_params(
            labelleft=panel.column == 0,
            labelbottom=panel.row == rows - 1,
            labelsize=0.8 * page.label_size,
        )
        edges = bar_edges(panel.series, view.x_log)
        for place, item in enumerate(s for s in panel.series if s.key not in view.hidden):
            draw_series(
                axes,
                item,
                styles[item.key],
                place,
                view.x_log,
                view.y_log,
                edges.get(item.key),
                0.8 * page.stroke,
            )
        failing = panel.failing(view.hidden)
        text = "✗ no answer" if panel.errors else f"✗ {len(failing)}" * bool(failing)
        axes.text(
            0.98,
            0.97,
            text,
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize=page.small,
            color=page.theme.stamp_text,
            parse_math=False,
            zorder=40,
            gid="failing",
            bbox={"facecolor": page.theme.axes, "alpha": 0.8, "linewidth": 0, "pad": 1},
        )
        if panel.row == 0:
            _heading(page, axes, above[panel.column], wide, across=True)
        if panel.column == columns - 1 and beside != [""]:
            _heading(page, axes, beside[panel.row], high, across=False)
    middle = (left + (page.width - left - right) / 2) / page.width
    x_text, x_size, _ = page.fit_label(x_text, page.width - left - right, lines=1)
    page.figure.text(
        middle,
        (page.bottom + 0.2 * line) / page.height,
        x_text,
        ha="center",
        va="bottom",
        fontsize=x_size,
        color=page.theme.text,
    )
    page.figure.text(
        page.margin / page.width,
        (bottom + (top - bottom) / 2) / page.height,
        y_text,
        ha="left",
        va="center",
        rotation=90,
        fontsize=y_size,
        color=page.theme.text,
    )


def _heading(page: Page, axes: Any, text: str, inches: float, *, across: bool) -> None:
    """Write a heading above a column or, rotated, next to a row."""
    text, size, _ = page.fit_label(text.replace("$", r"\$"), inches, lines=1)
    place = (
        (0.5, 1.0, 0, 3, "center", "bottom", 0)
        if across
        else (1.0, 0.5, 4, 0, "left", "center", -90)
    )
    x, y, dx, dy, ha, va, turned = place
    axes.annotate(
        drawable(text),
        (x, y),
        (dx, dy),
        xycoords="axes fraction",
        textcoords="offset points",
        ha=ha,
        va=va,
        rotation=turned,
        fontsize=size,
        color=page.theme.text,
    )


def _labels(job: GridJob) -> tuple[str, str]:
    answer = job.answer
    study, shown = get_study(answer.request.study), shown_quantity(answer)
    y = captions.axis_label(shown.name, shown.symbol, shown.latex, shown.unit)
    if answer.request.sweep is None:
        return "", y
    p = with_unit(parameter(study, answer.request.sweep.key), dict(answer.request.values))
    return captions.axis_label(p.name, p.symbol, p.latex, p.unit), y


def _few_ticks(
    axes: Any, wide: float, high: float, x_log: bool, y_log: bool, size: float, *, last: bool
) -> None:
    """Limit the ticks to what fits small plots, without ticks at shared edges."""
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

    letter = size / 72
    for axis, log, inches, each in (
        (axes.xaxis, x_log, wide, 5 * letter),
        (axes.yaxis, y_log, high, 2.5 * letter),
    ):
        most = max(2, int(inches / each))
        locator = LogLocator(numticks=most) if log else MaxNLocator(most, prune="both")
        axis.set_major_locator(locator)
    if not last:
        left, right = axis_coordinates(np.array(axes.get_xlim()), x_log)
        ticks = axes.xaxis.get_major_locator()()
        at = axis_coordinates(np.asarray(ticks, float), x_log)
        inside = at < right - min(2.5 * letter / wide, 0.4) * (right - left)
        axes.xaxis.set_major_locator(FixedLocator(np.asarray(ticks)[inside]))


def _with_room(low: float, high: float, log: bool) -> tuple[float, float]:
    """Return the range of the y axis with a margin."""
    if log:
        low, high = max(low, 1e-150), min(max(high, 1e-150), 1e150)
        room = max((high**0.05) / (low**0.05), 1.001)
        return low / room, high * room
    room = 0.05 * (high - low)
    return low - room, high + room
