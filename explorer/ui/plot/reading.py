"""Reads the value of a curve at a position, according to its mark."""

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.figures.geometry import axis_coordinates
from explorer.studies.base.numbers import APPROXIMATELY, format_interval, format_number
from explorer.studies.base.study import Mark, Result, Series
from explorer.ui.plot.curves import Curve

SIGNS = {Mark.LINE: "━", Mark.PATH: "━", Mark.DOTS: "●", Mark.BARS: "▮", Mark.AREA: "▒"}
NOT_VALID = "not valid here"
COMPUTING = "computing…"
MAX_ROWS = 5
"""Maximum number of curves in the table."""
LINE = 64
"""Maximum line length beside the pointer, in characters."""


def value_at(curve: Curve, x: float) -> float | None:
    """Return a curve's y at x (view coordinates) in data units; None if undefined.

    Lines and edges of areas are interpolated; dots and bars have values at their positions only,
    and paths, which may pass an x several times, have none.
    """
    if not len(curve.x) or curve.mark is Mark.PATH:
        return None
    if curve.mark in (Mark.DOTS, Mark.BARS):
        near = _nearest(curve, x)
        close = near is not None and abs(curve.x[near] - x) <= 1e-6 * max(1.0, abs(x))
        return float(curve.heights[near]) if close else None
    if x < curve.x[0] - 1e-9 or x > curve.x[-1] + 1e-9:
        return None
    place = nearest_computed(curve, x)
    if place is not None:
        return float(curve.heights[place]) if np.isfinite(curve.y[place]) else None
    y = _between(curve, curve.y, x)
    return None if y is None else _number(y, curve.y_log)


def nearest_computed(curve: Curve, x: float) -> int | None:
    """Return the index of the computed point at x (view coordinates), if any."""
    place = int(np.argmin(np.abs(curve.x - x)))
    return place if abs(curve.x[place] - x) <= 1e-12 * abs(x) else None


def at_slider(result: Result) -> set[str]:
    """Return the keys of the curves computed exactly at the slider's value."""
    sweep = result.request.sweep
    value = dict(result.request.values).get(sweep.key) if sweep is not None else None
    if value is None or isinstance(value, str):
        return set()
    # Most curves of an answer share one array.
    axes = {id(s.x): s.x for s in result.series}
    there = {key for key, x in axes.items() if (abs(x - value) <= 1e-12 * abs(value)).any()}
    return {s.key for s in result.series if id(s.x) in there}


def reading(
    curve: Curve,
    x: float,
    y: float,
    pixel: tuple[float, float],
    symbol: str,
    absent: str = NOT_VALID,
) -> str:
    """Return the text of a curve at the pointer.

    Parameters
    ----------
    curve : Curve
    x, y : float
        Pointer in view coordinates.
    pixel : (float, float)
        Width and height of a pixel in view coordinates.
    symbol : str
        Symbol of the x axis.
    absent : str
        Text where the curve is undefined.
    """
    if curve.mark is Mark.PATH:
        away = np.hypot((curve.x - x) / (pixel[0] or 1.0), (curve.y - y) / (pixel[1] or 1.0))
        if not np.isfinite(away).any():
            return absent
        near = int(np.nanargmin(away))
        return f"({_text(curve.x[near], curve.x_log)}, {_height(curve, near)})"
    if curve.mark in (Mark.DOTS, Mark.BARS):
        place = _nearest(curve, x)
        if place is None:
            return absent
        at = f" at {symbol} = {_text(curve.x[place], curve.x_log)}"
        return _height(curve, place) + _spread(curve, place) + at
    value = value_at(curve, x)
    if value is None:
        return absent if curve.x[0] <= x <= curve.x[-1] else NOT_VALID
    computed = nearest_computed(curve, x) is not None
    nearly, role = ("", curve.role) if computed else (f"{APPROXIMATELY} ", None)
    if curve.low is None or curve.high is None:
        return nearly + format_number(value, role)
    low, high = _edge(curve, curve.low, x), _edge(curve, curve.high, x)
    if curve.mark is Mark.AREA:
        return nearly + format_interval(low, high)
    return f"{nearly}{format_number(value, role)} ({format_interval(low, high)})"


@dataclass(frozen=True)
class Drawn:
    """A visible curve: series, short name, colour and items."""

    series: Series
    name: str
    colour: str
    curve: Curve


def nearest_curves(drawn: Sequence[Drawn], x: float, y: float) -> tuple[list[int], int | None]:
    """Return indices of at most `MAX_ROWS` curves, highest first, and the nearest one.

    These are the curves nearest to the pointer at its x (view coordinates), as many above it as
    below.
    """
    heights = [_height_near(d.curve, x) for d in drawn]
    known = [n for n, h in enumerate(heights) if np.isfinite(h)]
    if not known:
        return list(range(len(drawn)))[:MAX_ROWS], None
    nearest = min(known, key=lambda n: abs(heights[n] - y))
    order = sorted(known, key=lambda n: -heights[n])
    order += [n for n in range(len(drawn)) if n not in known]
    above = order.index(nearest) - MAX_ROWS // 2
    start = max(0, min(above, len(order) - MAX_ROWS))
    return order[start : start + MAX_ROWS], nearest


def _height_near(curve: Curve, x: float) -> float:
    """Return a curve's y at or nearest to x, in view coordinates; NaN if undefined."""
    if curve.mark in (Mark.LINE, Mark.AREA):
        if not len(curve.x) or x < curve.x[0] or x > curve.x[-1]:
            return float("nan")
        y = _between(curve, curve.y, x)
        return float("nan") if y is None else y
    place = _nearest(curve, x)
    return float("nan") if place is None else float(curve.y[place])


def hover_table(
    head: tuple[str, str],
    drawn: Sequence[Drawn],
    shown: Sequence[int],
    nearest: int | None,
    at: tuple[float, float],
    pixel: tuple[float, float],
    reason: str = "",
) -> str:
    """Return a table as rich text: x, the reason if nothing is valid there, and a row per curve.

    Parameters
    ----------
    head : (str, str)
        Symbol of the x axis, and x.
    drawn : sequence of Drawn
    shown : sequence of int
        Indices of the curves with a row.
    nearest : int or None
        Index of the curve in bold.
    at, pixel : (float, float)
        Pointer and pixel size in view coordinates.
    reason : str
    """
    cells = ""
    for place in shown:
        series, curve = drawn[place].series, drawn[place].curve
        absent = COMPUTING if series.computing else "infinite" if series.infinite else NOT_VALID
        text = reading(curve, *at, pixel, head[0], absent)
        glyph = "" if text.startswith(APPROXIMATELY) else series.role.glyph
        bold, end = ("<b>", "</b>") if place == nearest else ("", "")
        cells += (
            f"<tr><td style='color:{drawn[place].colour}'>{SIGNS[series.mark]}&nbsp;</td>"
            f"<td>{bold}{html.escape(_short(drawn[place].name))}{end}&nbsp;&nbsp;</td>"
            f"<td>{glyph}&nbsp;</td><td align='right'>{bold}{text}{end}</td></tr>"
        )
    why = f"<br>{wrap_text(f'Nothing claimed holds here: {reason}')}" if reason else ""
    title = html.escape(" = ".join(head))
    return f"<b>{title}</b>{why}<table cellspacing='1'>{cells}</table>"


def wrap_text(text: str) -> str:
    """Return a sentence as rich text, wrapped to fit beside the pointer."""
    return "<br>".join(html.escape(line) for line in textwrap.wrap(text, LINE))


def _spread(curve: Curve, place: int) -> str:
    """Return a point's error bar; ``± h`` if symmetric."""
    if curve.low is None or curve.high is None or curve.mark is Mark.BARS:
        return ""
    low, high = float(curve.low[place]), float(curve.high[place])
    y = float(curve.heights[place])
    if not (np.isfinite(low) and np.isfinite(high)):
        return ""
    half = (high - low) / 2
    if abs((high - y) - (y - low)) <= 0.02 * half:
        return f" ± {format_number(half)}"
    return f" ({format_interval(low, high)})"


def _nearest(curve: Curve, x: float) -> int | None:
    """Return the index of the point nearest to x; None without points."""
    away = np.where(np.isfinite(curve.y), np.abs(curve.x - x), np.nan)
    return int(np.nanargmin(away)) if np.isfinite(away).any() else None


def _edge(curve: Curve, edge: np.ndarray, x: float) -> float:
    """Return the edge of a band or area at x, in data units; unchanged if infinite."""
    y = _between(curve, axis_coordinates(edge, curve.y_log), x)
    if y is not None and np.isfinite(y):
        return _number(y, curve.y_log)
    return float(edge[int(np.nanargmin(np.abs(curve.x - x)))])


def _between(curve: Curve, ys: np.ndarray, x: float) -> float | None:
    """Interpolate between the neighbouring points at x; None if either is not finite."""
    right = min(int(np.searchsorted(curve.x, x)), len(curve.x) - 1)
    left = right if curve.x[right] == x else max(right - 1, 0)
    a, b = ys[left], ys[right]
    if not (np.isfinite(a) and np.isfinite(b)):
        return None
    width = curve.x[right] - curve.x[left]
    return float(a + (b - a) * ((x - curve.x[left]) / width if width else 0.0))


def _number(y: float, log: bool) -> float:
    return float(10**y if log else y)


def _text(coordinate: float, log: bool) -> str:
    return format_number(_number(coordinate, log))


def _height(curve: Curve, place: int) -> str:
    """Return the value of a computed point as text."""
    return format_number(float(curve.heights[place]), curve.role)


def _short(label: str, letters: int = 38) -> str:
    """Return a label shortened to fit beside the pointer; the legend has the full one."""
    return label if len(label) <= letters else label[: letters - 1].rstrip() + "…"
