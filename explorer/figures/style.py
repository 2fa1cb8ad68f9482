"""Colours, dashes and markers of window and exported figures.

Curve colours are Okabe and Ito's colour-blind safe set (*Color universal design*, 2008), darkened
or lightened where a theme needs it for a contrast of 3 : 1. Dashes show a curve's role, markers and
hatching its position in the legend, so that colour is never the only distinction. If there are more
curves than colours, dashes get additional dots for each repetition of the colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from explorer.privacy.core.role import Role

if TYPE_CHECKING:
    from explorer.studies.base.study import Series

FONT = "DejaVu Sans"
"""Shipped with matplotlib, so that figures are equal everywhere; has all required glyphs."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of everything that is not a curve or a heatmap, as ``#rrggbb``.

    Attributes
    ----------
    background, axes : str
        Of the whole figure and inside the axes.
    text, muted, grid, frame : str
        Of text, footnotes, grid lines and axis lines.
    stamp_text, stamp_back : str
        Of the stamp that a figure is not private.
    map_back, map_line, map_label, map_halo, map_region : str
        Of a map outside the heatmap: background, coasts and borders, names, halo of names, and
        outline of the region.
    curves : tuple of str
        In the order in which curves take them.
    """

    name: str
    background: str
    axes: str
    text: str
    muted: str
    grid: str
    frame: str
    stamp_text: str
    stamp_back: str
    map_back: str
    map_line: str
    map_label: str
    map_halo: str
    map_region: str
    curves: tuple[str, ...]


LIGHT = Theme(
    name="light",
    background="#ffffff",
    axes="#ffffff",
    text="#1a1a1a",
    muted="#555b62",
    grid="#dfe3e8",
    frame="#6b7279",
    stamp_text="#a11212",
    stamp_back="#fff3f0",
    map_back="#eef1f4",
    map_line="#8593a3",
    map_label="#1c2733",
    map_halo="#ffffff",
    map_region="#1f4e8c",
    curves=(
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#b97f00",
        "#2f94cf",
        "#000000",
        "#882255",
        "#8a8a1f",
        "#6a51c8",
    ),
)
DARK = Theme(
    name="dark",
    background="#14181d",
    axes="#1b2128",
    text="#e8ecf0",
    muted="#a4adb7",
    grid="#323a43",
    frame="#7c8691",
    stamp_text="#ffb4a8",
    stamp_back="#3a1d1b",
    map_back="#1b2128",
    map_line="#75818e",
    map_label="#eef2f6",
    map_halo="#080b0f",
    map_region="#9cc7ff",
    curves=(
        "#56b4e9",
        "#ff8a4c",
        "#2fc79b",
        "#e39bc4",
        "#f0a030",
        "#f0e442",
        "#ffffff",
        "#f0708c",
        "#b5bd4c",
        "#b3a1ff",
    ),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

DASHES: dict[Role, tuple[float, ...]] = {
    Role.UPPER: (),
    Role.LOWER: (6.0, 2.5),
    Role.EXACT: (),
    Role.ESTIMATE: (1.5, 1.8),
    Role.BASELINE: (6.0, 2.0, 1.5, 2.0),
}
"""On and off lengths in line widths, as in Qt and matplotlib; empty is a solid line."""

WIDTHS: dict[Role, float] = {
    Role.UPPER: 1.6,
    Role.LOWER: 1.6,
    Role.EXACT: 2.4,
    Role.ESTIMATE: 1.6,
    Role.BASELINE: 1.2,
}
_LONG_DASHES: dict[Role, tuple[float, ...]] = {
    Role.UPPER: (12.0, 2.0),
    Role.LOWER: (6.0, 2.5, 3.0, 2.5),
    Role.EXACT: (9.0, 2.0),
    Role.ESTIMATE: (4.0, 1.8),
    Role.BASELINE: (9.0, 2.0, 4.0, 2.0),
}
_DOT = (1.5, 2.0)
PIN_DASHES: tuple[tuple[float, ...], ...] = (
    (3.0, 2.0),
    (1.2, 2.0),
    (3.0, 2.0, 1.2, 2.0),
    (3.0, 2.0, 3.0, 2.0, 1.2, 2.0),
    (3.0, 2.0, 1.2, 2.0, 1.2, 2.0),
    (5.0, 1.5),
    (1.2, 1.5, 1.2, 4.0),
    (5.0, 1.5, 1.2, 1.5),
)
"""Dashes of pinned curves, by number of the pin."""
OWN_DASHES: tuple[tuple[float, ...], ...] = (
    (5.0, 3.0),
    (2.0, 2.0),
    (8.0, 2.5),
    (5.0, 2.0, 1.2, 2.0),
    (8.0, 2.0, 1.2, 2.0, 1.2, 2.0),
    (1.2, 3.0),
)
"""Dashes of imported curves."""
_PIN_WIDTH = 1.4
_PIN_STRENGTH = 0.62
"""Share of a pinned curve's colour when mixed with the background."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "p")
"""Markers by position in the legend, in matplotlib's notation."""
HATCHES = ("/", "\\", "x", "-", "|", "+", ".")
"""Hatches of areas and bars by position in the legend, in matplotlib's notation."""


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Style of a curve: ``#rrggbb``, dash lengths in line widths, width in points.

    `marker` and `hatch` are members of `MARKERS` and `HATCHES`.
    """

    colour: str
    dash: tuple[float, ...]
    width: float
    marker: str
    hatch: str


def theme(name: str) -> Theme:
    """Return a theme by name.

    Raises
    ------
    ValueError
        Naming those there are.
    """
    try:
        return THEMES[name]
    except KeyError:
        raise ValueError(f"theme: {name!r} is not one of {', '.join(THEMES)}") from None


def dashes(role: Role, cycle: int) -> tuple[float, ...]:
    """Return a role's dashes, different for curves that share a colour.

    `cycle` is the number of complete repetitions of the colours before the curve.
    """
    return DASHES[role] if cycle == 0 else _LONG_DASHES[role] + _DOT * cycle


def series_styles(series: Sequence[Series], theme_name: str) -> dict[str, SeriesStyle]:
    """Return the style of every curve of a result by key.

    All curves must be passed, including hidden ones, so that hiding one does not recolour others.
    A pinned curve is pale and dashed in the colour of the original curve; an imported one is grey
    and dashed.
    """
    colours = theme(theme_name).curves
    styles = {}
    taken = {item.colour for item in series if not (item.pin or item.own)}
    free = (place for place in count() if place not in taken)
    for item in (s for s in series if not (s.pin or s.own)):
        place = next(free) if item.colour is None else item.colour
        styles[item.key] = SeriesStyle(
            colours[place % len(colours)],
            dashes(item.role, place // len(colours)),
            WIDTHS[item.role],
            MARKERS[place % len(MARKERS)],
            HATCHES[place % len(HATCHES)],
        )
    for place, item in enumerate(s for s in series if s.own):
        dash = OWN_DASHES[place % len(OWN_DASHES)]
        styles[item.key] = SeriesStyle(
            theme(theme_name).muted, dash, _PIN_WIDTH, MARKERS[-1 - place % len(MARKERS)], "/"
        )
    places: dict[int, int] = {}
    for item in series:
        if item.pin:
            place = places[item.pin] = places.get(item.pin, -1) + 1
            now = styles.get(item.unpinned_key)
            styles[item.key] = SeriesStyle(
                _paler(now.colour if now else colours[place % len(colours)], theme_name),
                PIN_DASHES[(item.pin - 1) % len(PIN_DASHES)],
                _PIN_WIDTH,
                now.marker if now else MARKERS[place % len(MARKERS)],
                now.hatch if now else HATCHES[place % len(HATCHES)],
            )
    return styles


def _paler(colour: str, theme_name: str) -> str:
    """Return a colour mixed with the background of the axes."""
    back = theme(theme_name).axes
    parts = (
        round(
            _PIN_STRENGTH * int(colour[i : i + 2], 16)
            + (1 - _PIN_STRENGTH) * int(back[i : i + 2], 16)
        )
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)
