"""Curves on paper: bounds over a parameter, each with its role, absent where it does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.figures import words
from explorer.figures.page import Page, drawable, wrap
from explorer.figures.style import SeriesStyle, series_styles
from explorer.figures.view_state import ViewState, study_of
from explorer.privacy.bounds import BoolArray, FloatArray
from explorer.studies.model import Result, Series

MOST_LEGEND = 0.25
"""Largest share of the height that the legend takes before its labels are cut short."""


def draw_curves(page: Page, result: Result, view: ViewState, recipe: Mapping[str, object]) -> None:
    """Draw a result's curves with legend, footnotes and stamp.

    Raises
    ------
    ValueError
        If the view hides every curve.
    """
    series = words.visible_series(result, view)
    if not series:
        raise ValueError("hidden: every curve is hidden; there is nothing to draw")
    styles = series_styles(result.series, view.theme)
    x_log = view.x_log and any((s.x > 0).any() for s in series)
    y_log = view.y_log and any((s.y[s.present] > 0).any() for s in series)

    study = study_of(result)
    page.write_title(view.title or (study.name if study else result.request.study))
    legend, height = _legend(page, series, styles)
    below = [words.absence_text(s) for s in series]
    notes = [f"{s.label}: {s.note}" for s in series if s.note]
    if y_log and any((s.y[s.present] <= 0).any() for s in series):
        below.append("Values of 0 or less lie below a logarithmic axis and are not drawn.")
    if view.x_log and any((s.x <= 0).any() for s in series):
        below.append("Points at x = 0 or less lie left of a logarithmic axis and are not drawn.")
    if y_log != view.y_log:
        below.append("No value is above 0: the y axis is linear.")
    page.write_notes(
        [words.settings_line(result), words.data_line(result, recipe), *below],
        [*words.guarantee_lines(result), *notes, *result.notes],
        words.origin_line(recipe),
        legend=height,
    )
    # Below the axes, where no curve runs.
    legend.set_bbox_to_anchor(
        (page.margin / page.width, page.bottom / page.height), page.figure.transFigure
    )
    page.bottom += height + page.margin / 2

    x_text, y_text = words.axis_labels(result)
    left = page.margin + 4.6 * page.label_size / 72 + page.inches(page.label_size)
    bottom = page.bottom + 2.6 * page.inches(page.label_size)
    width = page.width - left - 3 * page.margin
    axes = page.axes(left, bottom, width, page.top - bottom)
    axes.set_xlabel(drawable(x_text), fontsize=page.label_size, color=page.theme.text)
    axes.set_ylabel(drawable(y_text), fontsize=page.label_size, color=page.theme.text)
    axes.set_xscale("log" if x_log else "linear")
    axes.set_yscale("log" if y_log else "linear")
    axes.grid(color=page.theme.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    # Limits first: matplotlib's own search for them would look at values beyond what it can draw.
    axes.set_xlim(*(_range(view.x_range, [s.x for s in series], x_log, 0.0)))
    drawn = [s.y for s in series] + [b for s in series for b in (s.low, s.high) if b is not None]
    axes.set_ylim(*(_range(view.y_range, drawn, y_log, 0.05)))
    axes.autoscale(False)
    for place, item in enumerate(series):
        _draw(axes, item, styles[item.key], place, x_log, y_log)
    page.stamp(axes, result.stamp, width, page.top - bottom)


def _draw(
    axes: Any, item: Series, style: SeriesStyle, place: int, x_log: bool, y_log: bool
) -> None:
    x = np.where(item.x > 0, item.x, np.nan) if x_log else item.x
    y = np.where(item.present, item.y, np.nan)
    if y_log:
        y = np.where(y > 0, y, np.nan)
    line = (0, style.dash) if style.dash else "solid"
    common = {"color": style.colour, "zorder": 3 + 0.01 * place}
    if item.low is not None and item.high is not None:
        low = np.maximum(item.low, np.finfo(float).tiny) if y_log else item.low
        axes.fill_between(
            x, low, item.high, color=style.colour, alpha=0.2, linewidth=0, zorder=2, gid="band"
        )
    # Markers stand at different places on different curves, so that curves which coincide show.
    stride = max(1, len(x) // 8)
    axes.plot(
        x, y, linestyle=line, linewidth=style.width, marker=style.marker, markersize=4,
        markevery=(place * stride // 5 % max(1, len(x)), stride), gid=f"series-{item.key}",
        **common,
    )  # fmt: skip
    lonely = _lonely(np.isfinite(x) & np.isfinite(y))
    if lonely.any():
        axes.plot(
            x[lonely], y[lonely], linestyle="none", marker=style.marker, markersize=4, **common
        )
    # A strip along the bottom tells where a curve is missing; missing everywhere, its name does.
    ranges = words.absent_ranges(list(item.x), item.present) if item.present.any() else []
    height = 0.012 * (place + 1)
    for a, b in ranges:
        if x_log and b <= 0:
            continue
        axes.plot(
            [max(a, np.finfo(float).tiny) if x_log else a, b], [height, height],
            transform=axes.get_xaxis_transform(), linestyle=(0, (1, 2)), linewidth=1.2, marker="x",
            markersize=3.5, gid=f"absent-{item.key}", **common,
        )  # fmt: skip


def _lonely(drawn: BoolArray) -> BoolArray:
    """Tell which points have no neighbour to be joined with; no line would show them."""
    padded = np.concatenate(([False], drawn, [False]))
    lonely: BoolArray = drawn & ~padded[:-2] & ~padded[2:]
    return lonely


def _range(
    wanted: tuple[float, float] | None, values: list[FloatArray], log: bool, margin: float
) -> tuple[float, float]:
    """Return the ends of an axis: as wanted, else around everything that can be drawn."""
    finite = np.concatenate(values)
    finite = finite[np.isfinite(finite) & ((finite > 0) if log else True)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if wanted is not None:
        if not log or wanted[0] > 0:
            return wanted
        if wanted[1] > low:
            return low, wanted[1]
    if log:
        # matplotlib's ticks overflow near the ends of double precision.
        low, high = max(low, 1e-150), min(max(high, 1e-150), 1e150)
        room = (high**margin / low**margin) if high > low else 2.0
        return low / room, high * room
    room = (high - low) * margin if high > low else 0.5 * (abs(high) or 1.0)
    return low - room, high + room


def _legend(page: Page, series: list[Series], styles: dict[str, SeriesStyle]) -> tuple[Any, float]:
    """Make the legend, in as many columns as fit; return it and its height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D

    size = page.small * 1.1
    room = page.width - 2 * page.margin
    handle = 4.2
    texts = [drawable(words.legend_label(s)) for s in series]
    for columns in (3, 2, 1):
        wrapped = [wrap(text, page.ems(room / columns, size) - handle) for text in texts]
        if columns == 1 or all(len(lines) == 1 for lines in wrapped):
            break
    most = max(1, int(MOST_LEGEND * page.height / page.inches(size) / len(series)))
    wrapped = [
        lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1][:-1] + "…"]
        for lines in wrapped
    ]
    handles = [
        Line2D(
            [], [], color=styles[s.key].colour, linewidth=styles[s.key].width,
            linestyle=(0, styles[s.key].dash) if styles[s.key].dash else "solid",
            marker=styles[s.key].marker, markersize=4,
        )
        for s in series
    ]  # fmt: skip
    legend = page.figure.legend(
        handles, ["\n".join(lines) for lines in wrapped], loc="lower left", ncols=columns,
        bbox_to_anchor=(page.margin / page.width, 0),
        borderaxespad=0, borderpad=0, frameon=False, fontsize=size, labelcolor=page.theme.text,
        handlelength=3.0, handletextpad=0.8, labelspacing=0.25, columnspacing=1.0,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    canvas: Any = FigureCanvasAgg(page.figure)
    return legend, legend.get_window_extent(canvas.get_renderer()).height / page.figure.dpi
