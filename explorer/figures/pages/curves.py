"""Page of curves over a parameter, and of the error curves of *Utility*."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.geometry import bar_edges, invalid_stretches, whole_axis
from explorer.figures.pages.page_layout import Page
from explorer.figures.pages.series import draw_legend, draw_series
from explorer.figures.style import series_styles
from explorer.figures.view_state import ViewState, study_of
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.claims import with_claim
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Mark, Result, Series
from explorer.studies.heatmap.experiments.error_curves import MEASURES
from explorer.studies.heatmap.experiments.utility_report import GREY, TARGET, axis_texts

_AXIS_LINES = 2.6
"""Height of the x axis's numbers and label, in lines of the label."""
_ASIDE, _ROOM = 0.015, 0.05
"""Margins as shares of the axes: beside dots, and above and below all curves."""


def draw_curves(
    page: Page,
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    labels: tuple[str, str] | None = None,
) -> Any:
    """Draw a result's curves with legend, footnotes and stamp; return the axes.

    `labels` are those of x and y; default: declared by the study.

    Raises
    ------
    ValueError
        If the view hides every curve.
    """
    study = study_of(result)
    result = with_claim(result, view.claim)
    result = replace(result, series=captions.with_short_names(study, result.series))
    series = captions.visible_series(result, view)
    if not series:
        raise ValueError("hidden: every curve is hidden; there is nothing to draw")
    styles = series_styles(result.series, view.theme)
    x_log = view.x_log and any((s.x > 0).any() for s in series)
    y_log = view.y_log and any((s.y[s.present] > 0).any() for s in series)

    if "title" not in view.left_out:
        page.write_title(view.title or (study.name if study else result.request.study))
    page.write_stamp(result.stamp)
    nothing = invalid_stretches(result.series)
    absences = _without_repeats(series, lambda s: captions.absence_text(replace(s, label="…")))
    below = [*captions.invalid_texts(nothing), *(captions.absence_text(s) for s in absences)]
    notes = [f"{s.label}: {s.note}" for s in _without_repeats(series, lambda s: s.note)]
    if y_log and any((s.y[s.present] <= 0).any() for s in series):
        below.append("Values of 0 or less lie below a logarithmic axis and are not drawn.")
    if view.x_log and any((s.x <= 0).any() for s in series):
        below.append("Points at x = 0 or less lie left of a logarithmic axis and are not drawn.")
    if y_log != view.y_log:
        below.append("No value is above 0: the y axis is linear.")
    axis = _AXIS_LINES * page.inches(page.label_size)
    notes_of = captions.notes_of(
        view,
        caption=[captions.settings_line(result), captions.data_line(recipe), *below],
        conditions=[*captions.guarantee_lines(result), *notes, *result.notes],
        footer=captions.origin_line(result, view, recipe),
    )
    height = 0.0
    if "legend" not in view.left_out:
        room = page.room(axis + page.margin / 2) - page.notes_height(notes_of[-1])
        drawn = [s for s in series if s.present.any()] or series
        legend, height = draw_legend(page, drawn, styles, room)
        height += page.margin / 2
    page.write_notes(*notes_of, around=axis + height)
    if height:
        # Below the axes, so that it covers no curve.
        legend.set_bbox_to_anchor(
            (page.margin / page.width, page.bottom / page.height), page.figure.transFigure
        )
        page.bottom += height

    x_text, y_text = labels or captions.axis_labels(result)
    bottom = page.bottom + axis
    y_text, y_size, lines = page.fit_label(y_text, page.top - bottom)
    left = page.margin + 4.6 * page.label_size / 72 + lines * page.inches(y_size)
    width = page.across - left - page.margin
    axes = page.axes(left, bottom, width, page.top - bottom)
    x_text, x_size, _ = page.fit_label(x_text, width, lines=1)
    pad = 0.35 * page.label_size
    axes.set_xlabel(x_text, fontsize=x_size, color=page.theme.text, labelpad=pad)
    axes.set_ylabel(y_text, fontsize=y_size, color=page.theme.text, labelpad=pad)
    axes.set_xscale("log" if x_log else "linear")
    axes.set_yscale("log" if y_log else "linear")
    axes.grid(color=page.theme.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    # Limits are set first, as matplotlib's autoscaling fails on extreme values.
    edges = bar_edges(result.series, x_log)
    # Dots at the ends would be clipped by the frame.
    aside = _ASIDE if any(s.mark is Mark.DOTS for s in series) else 0.0
    axes.set_xlim(*_range(view.x_range, _x_values(series, edges, x_log), x_log, aside))
    axes.set_ylim(*_range(view.y_range, _y_values(series, y_log), y_log, _ROOM))
    axes.autoscale(False)
    if whole_axis(result.series) and not x_log:
        axes.xaxis.get_major_locator().set_params(integer=True)
    for place, item in enumerate(series):
        draw_series(
            axes, item, styles[item.key], place, x_log, y_log, edges.get(item.key), page.stroke
        )
    _hatch_invalid(axes, nothing, page.theme.muted)
    return axes


def common_ranges(views: Sequence[tuple[Result, ViewState]]) -> dict[str, Any]:
    """Return axis ranges that show all of several results, as fields of a view.

    Ranges set in the first view are not changed.
    """
    first = views[0][1]
    shown = [captions.visible_series(result, view) for result, view in views]
    edges = [bar_edges(result.series, first.x_log) for result, _ in views]
    x = [v for s, e in zip(shown, edges, strict=True) for v in _x_values(s, e, first.x_log)]
    y = [v for series in shown for v in _y_values(series, first.y_log)]
    dots = any(s.mark is Mark.DOTS for series in shown for s in series)
    return {
        "x_range": _range(first.x_range, x, first.x_log, _ASIDE if dots else 0.0),
        "y_range": _range(first.y_range, y, first.y_log, _ROOM),
    }


def _without_repeats(series: list[Series], text: Callable[[Series], str]) -> list[Series]:
    """Return the series with a text, without pinned copies that repeat it."""
    heard = {(s.key, text(s)) for s in series if not s.pin}
    return [s for s in series if text(s) and not (s.pin and (s.unpinned_key, text(s)) in heard)]


def _x_values(
    series: list[Series], edges: Mapping[str, tuple[FloatArray, FloatArray]], x_log: bool
) -> list[FloatArray]:
    """Return all x to show: of points, and of bars with a margin."""
    sides = []
    for s in series:
        if s.key in edges:
            left, right = edges[s.key]
            space = 0.25 * (right - left)
            sides += [left - space, right + space]
    return [s.x for s in series] + [10.0**side if x_log else side for side in sides]


def _y_values(series: list[Series], y_log: bool) -> list[FloatArray]:
    """Return all y to show: of points, bands and areas, and the base of bars."""
    values = []
    for s in series:
        parts = [s.y] if s.mark is Mark.BARS else [s.y, s.low, s.high]
        values += [part[s.present] for part in parts if part is not None]
    if not y_log and any(s.mark is Mark.BARS for s in series):
        values.append(np.zeros(1))
    return values


def _hatch_invalid(axes: Any, stretches: list[tuple[float, float, str]], colour: str) -> None:
    """Hatch the intervals without any claimed curve."""
    from matplotlib.colors import to_rgba

    left, right = axes.get_xlim()
    for a, b, _ in stretches:
        if max(a, left) < min(b, right):
            axes.axvspan(
                max(a, left),
                min(b, right),
                facecolor=to_rgba(colour, 0.05),
                linewidth=0,
                edgecolor=to_rgba(colour, 0.35),
                hatch="\\\\",
                zorder=1.5,
                gid="invalid",
            )


def _range(
    wanted: tuple[float, float] | None, values: list[FloatArray], log: bool, margin: float
) -> tuple[float, float]:
    """Return the ends of an axis: as given, else around all drawable values."""
    finite = np.concatenate(values)
    finite = finite[np.isfinite(finite) & ((finite > 0) if log else True)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if wanted is not None:
        if not log or wanted[0] > 0:
            return wanted
        if wanted[1] > low:
            return low, wanted[1]
    if log:
        # matplotlib's ticks overflow near the limits of double precision.
        low, high = max(low, 1e-150), min(max(high, 1e-150), 1e150)
        room = (high**margin / low**margin) if high > low else 2.0
        return low / room, high * room
    room = (high - low) * margin if high > low else 0.5 * (abs(high) or 1.0)
    return low - room, high + room


def draw_errors(page: Page, result: Result, view: ViewState, recipe: Mapping[str, object]) -> None:
    """Draw error curves with a line at the target and shading beyond the grey map's error.

    Raises
    ------
    ValueError
        If the view hides every curve.
    """
    axes = draw_curves(page, result, view, recipe, axis_texts(result.request))
    measure = MEASURES[result.request.quantity.split()[0]]
    (left, _), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for line in result.readouts:
        if line.key not in (TARGET, GREY) or line.value is None or not bottom < line.value < top:
            continue
        colour = page.theme.map_region if line.key == TARGET else page.theme.stamp_text
        if line.key == GREY:
            worse = top if measure.low_is_good else bottom
            axes.axhspan(line.value, worse, facecolor=colour, alpha=0.1, zorder=1, gid=line.key)
        else:
            axes.axhline(line.value, color=colour, linewidth=1.2, linestyle="--", gid=line.key)
        axes.annotate(
            f"{line.label}: {measure.written(format_number(line.value))}",
            (left, line.value),
            (4, 2),
            textcoords="offset points",
            color=colour,
            fontsize=page.small,
            zorder=7,
            parse_math=False,
        )
