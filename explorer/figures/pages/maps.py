"""Page of heatmaps: panes with basemap, overlays and colour scales, and contribution histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.colour_maps import (
    MAPS_SCALE,
    colour_limits,
    colour_table,
    diverging_table,
    largest,
    scale_of,
)
from explorer.figures.pages.backdrop import BackgroundFile, draw_backdrop, draw_background
from explorer.figures.pages.page_layout import Page, drawable, width_in_ems, wrap
from explorer.figures.view_state import ViewState, study_of
from explorer.geography.basemap import clip_lines, lines_in, shipped_basemap
from explorer.geography.cities import shipped_cities
from explorer.geography.coordinates import format_along
from explorer.geography.plane import Plane
from explorer.geography.region import Box, Region, scale_bars_for
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.numbers import power_of_ten
from explorer.studies.base.study import Overlay, Result, Surface, Table
from explorer.studies.heatmap.contributions import ALL, HISTOGRAM

HISTOGRAM_SHARE = 0.12
"""Height of the contribution histogram as a share of the page's height."""
HISTOGRAM_BARS = ("check-ins", "cells visited")
"""Labels of the two bars of a size of contribution."""
HISTOGRAM_HEADROOM = 1.7
"""Upper end of the axis relative to the highest bar, leaving space for the legend."""
HISTOGRAM_TITLE = "a user, up to"
MIN_RASTERISED = 2000
"""Number of points from which they are rasterised in vector formats."""


def draw_overlay(
    page: Page, axes: Any, overlay: Overlay, region: Region | None, image: Any
) -> None:
    """Draw a map's overlay over its region instead of the cells' image."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.patheffects import withStroke

    theme = page.theme
    south, west, north, east = (0.0, 0.0, 1.0, 1.0) if region is None else region.box
    image.set_visible(False)
    size = np.array([east - west, north - south])

    def placed(row: FloatArray, column: FloatArray) -> FloatArray:
        return np.asarray(np.stack([column, row], axis=-1) * size + (west, south))

    row, column, side = overlay.squares.T
    half = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)]) / 2
    corners = placed(
        row[:, None] + half[:, 0] * side[:, None], column[:, None] + half[:, 1] * side[:, None]
    )
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolor=theme.map_region,
            alpha=0.7,
            linewidth=0,
            zorder=3.2,
            gid="squares",
        )
    )
    lines = placed(overlay.borders[:, 0::2], overlay.borders[:, 1::2])
    halo = [withStroke(linewidth=2.6, foreground=theme.map_halo)]
    axes.add_collection(
        LineCollection(
            list(lines),
            colors=theme.map_label,
            linewidths=1.1,
            zorder=3.4,
            path_effects=halo,
            gid="borders",
        )
    )
    x, y = placed(overlay.points[:, 0], overlay.points[:, 1]).T
    if not overlay.numbered:
        axes.scatter(
            x,
            y,
            s=2.5,
            color=theme.map_region,
            linewidth=0,
            alpha=0.6,
            zorder=3.6,
            rasterized=len(x) > MIN_RASTERISED,
            gid="points",
        )
        return
    axes.scatter(
        x,
        y,
        s=3.2 * page.label_size**1.5,
        color=theme.map_halo,
        edgecolor=theme.map_label,
        linewidth=1.0,
        zorder=6,
        gid="points",
    )
    for number, (right, up) in enumerate(zip(x, y, strict=True), 1):
        axes.annotate(
            str(number),
            (right, up),
            ha="center",
            va="center",
            fontsize=page.small,
            color=theme.map_label,
            zorder=7,
            annotation_clip=True,
            parse_math=False,
        )


MARGIN = 0.04
"""Default margin around the region, as a share of its size."""
POLE = 90.0


def filling(box: Box, shape: float, on_earth: bool) -> Box:
    """Return a box extended around its centre to a ratio of width to height.

    On the Earth it is limited to the poles and to 360° of longitude.
    """
    south, west, north, east = box
    high, wide = north - south, east - west
    if wide < shape * high:
        grow = min(shape * high, max(360.0 if on_earth else math.inf, wide)) - wide
        return south, west - grow / 2, north, east + grow / 2
    grow = wide / shape - high
    south, north = south - grow / 2, north + grow / 2
    if not on_earth:
        return south, west, north, east
    # The map ends at the poles: the excess on one side is added on the other.
    south, north = (
        max(-POLE, south - max(0.0, north - POLE)),
        min(POLE, north + max(0.0, -POLE - south)),
    )
    return min(south, box[0]), west, max(north, box[2]), east


def around(region: Region) -> Box:
    """Return a region with a margin."""
    south, west, north, east = region.box
    high, wide = MARGIN * (north - south), MARGIN * (east - west)
    return south - high, west - wide, north + high, east + wide


def overlap(one: Box, other: Box) -> Box:
    """Return the intersection of two boxes; inverted, and so empty, if they are disjoint."""
    south, west = max(one[0], other[0]), max(one[1], other[1])
    return south, west, min(one[2], other[2]), min(one[3], other[3])


TITLE_LINES = 2
NO_PLACE_NOTE = "The map is drawn without its place, which was found from the check-ins."
"""Note on a map whose region is not public."""


def draw_maps(
    page: Page,
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    limits: Sequence[float] | None = None,
    backdrop: bytes = b"",
    stamps: Sequence[str] = (),
    backgrounds: Sequence[BackgroundFile] = (),
) -> None:
    """Draw the shown surfaces side by side, with colour bars, caption and stamps.

    `backdrop` is the picture behind maps of a plane that is not the Earth, `backgrounds` the files
    behind maps of the Earth; both are credited and named in the notes. `stamps` are those of
    all frames of an animation, for which the same space is reserved.

    Raises
    ------
    ValueError
        If the view shows none of the result's surfaces.
    """
    shown = captions.shown_surfaces(result, view)
    curator = any(surface.curator_only for surface in shown)
    placed = all(surface.region is not None for surface in shown)
    study = study_of(result)
    if "title" not in view.left_out:
        page.write_title(view.title or (study.name if study else result.request.study))
    page.write_stamp(captions.joint_stamp(result, shown), stamps)
    on_earth = placed and all(s.region is not None and s.region.plane is None for s in shown)
    credit = "Map: Natural Earth, US Census Bureau" if on_earth and view.show_basemap else ""
    if on_earth and view.show_cities:
        credit = f"{credit}; cities: GeoNames (CC BY 4.0)".lstrip("; ")
    backgrounds = backgrounds if on_earth else ()
    named = dict.fromkeys(file.credit or file.name for file in backgrounds)
    if named:
        credit = "; ".join(filter(None, (f"Background: {', '.join(named)}", credit)))
    limits = limits or colour_limits(shown, view.linked_scale)
    shared = view.linked_scale or len(shown) == 1
    room = _Room(page, shown, shared)
    strip = ContributionHistogram(page, result, view, room.around)
    notes = captions.notes_of(
        view,
        caption=[
            captions.settings_line(result),
            captions.data_line(recipe),
            captions.drawing_line(result, shown),
            captions.comparison_line(result) if curator else "",
        ],
        conditions=[
            "" if placed else NO_PLACE_NOTE,
            _not_drawn(view, backgrounds) if on_earth else "",
            *captions.guarantee_lines(result),
            *result.notes,
        ],
        footer=captions.origin_line(result, view, recipe),
        credit=credit,
    )
    page.write_notes(*notes, around=room.around + strip.height)
    strip.draw()
    panes = room.panes(view)
    for place, (surface, pane) in enumerate(zip(shown, panes, strict=True)):
        axes = page.axes(*pane.rectangle)
        title, first = room.titles[place], place == 0
        image = _pane(page, axes, pane, surface, title, limits[place], view)
        if surface.overlay is not None:
            draw_overlay(page, axes, surface.overlay, surface.region, image)
        if surface.region is not None:
            _layers(page, axes, pane, surface.region, view)
            if surface.region.plane is not None and backdrop:
                draw_backdrop(axes, image, surface.region.plane, backdrop)
            if backgrounds:
                pixels = tuple(side * page.figure.dpi for side in pane.rectangle[2:])
                draw_background(
                    axes,
                    image,
                    backgrounds,
                    pane.visible,
                    (pixels[0], pixels[1]),
                    page.theme,
                    view.heatmap_opacity,
                )
            if first:
                _scale_bar(page, axes, surface.region, pane.visible)
        if not shared:
            if surface.overlay is None:
                _colour_bar(page, image, pane.rectangle, False, scale_of(surface))
        elif place == room.bars.get(scale_of(surface)):
            beyond = any(
                largest(s) > limits[place]
                for s in shown
                if scale_of(s) == scale_of(surface) and s.overlay is None
            )
            scale = scale_of(surface)
            _colour_bar(page, image, room.beside(panes, scale), beyond, scale)


def _not_drawn(view: ViewState, backgrounds: Sequence[BackgroundFile]) -> str:
    """Return a note on backgrounds that a view names and that are not open."""
    there = {file.name for file in backgrounds}
    names = [value.rpartition("#")[0] for value in view.backgrounds]
    missing = [name for name in names if name not in there]
    return f"Drawn without its background {', '.join(missing)}, which is not open." * bool(missing)


def draw_one(page: Page, surface: Surface, view: ViewState) -> None:
    """Draw one map with coordinates, colour bar and scale bar."""
    room, (top,) = _Room(page, [surface], True), colour_limits([surface], True)
    (pane,) = room.panes(view)
    axes = page.axes(*pane.rectangle)
    image = _pane(page, axes, pane, surface, [surface.label], top, view)
    if surface.region is not None:
        _layers(page, axes, pane, surface.region, view)
        _scale_bar(page, axes, surface.region, pane.visible)
    scale = scale_of(surface)
    _colour_bar(page, image, room.beside([pane], scale), False, scale)


@dataclass(frozen=True)
class _Pane:
    """Position of a pane in inches, the box in view, and whether coordinates are shown."""

    rectangle: tuple[float, float, float, float]
    visible: Box
    first_column: bool
    last_row: bool


class _Room:
    """Layout of panes on a page whose title is written.

    Attributes
    ----------
    around : float
        Height of the panes' titles and coordinates in inches.
    titles : list of list of str
        The lines of every pane's title.
    bars : dict of str to int
        Shared colour bars by what they show (`scale_of`): index of the pane whose colours they
        have.
    """

    def __init__(self, page: Page, shown: Sequence[Surface], shared: bool) -> None:
        self._page, self._shown = page, shown
        self._columns = _columns(page, len(shown))
        self._rows = -(-len(shown) // self._columns)
        placed = any(surface.region is not None for surface in shown)
        self._ticks = 4.4 * page.label_size / 72 if placed else 0.0
        self._bar = 6.4 * page.label_size / 72
        self._own_bar = 0.0 if shared else self._bar
        coloured = [pair for pair in enumerate(shown) if pair[1].overlay is None]
        self.bars = {scale_of(s): place for place, s in coloured} if shared else {}
        bars = len(self.bars) if shared else self._columns
        room = page.across - bars * self._bar
        self._wide = max(0.3, (room - self._ticks) / self._columns - page.margin)
        few = len(shown) <= 2  # titles of narrow panes would touch
        wide = self._wide + 0.4 * few
        self.titles = [_title_lines(page, surface, wide, few) for surface in shown]
        lines = max(len(title) for title in self.titles)
        self._above = (lines + 0.5) * page.inches(page.label_size)
        self._below = (1.9 if placed else 0.3) * page.inches(page.label_size)
        self._between = 0.3 * page.inches(page.label_size)
        self.around = self._rows * self._above + self._below + (self._rows - 1) * self._between

    def panes(self, view: ViewState) -> list[_Pane]:
        """Return the panes in the remaining space.

        Each fills its space by extending the box in view, as in the window; without a public
        region the panes are square.
        """
        page = self._page
        tall = max(0.3, (page.top - page.bottom - self.around) / self._rows)
        panes = []
        for place, surface in enumerate(self._shown):
            row, column = divmod(place, self._columns)
            if surface.region is None:
                width = height = min(self._wide, tall)
                visible: Box = (0.0, 0.0, 1.0, 1.0)
            else:
                aspect = surface.region.aspect
                box = view.map_box or around(surface.region)
                on_earth = surface.region.plane is None
                visible = filling(box, self._wide / tall * aspect, on_earth)
                width, height = self._wide, tall
                shape = (visible[3] - visible[1]) / ((visible[2] - visible[0]) * aspect)
                if shape > 1.0001 * width / height:  # wider than from pole to pole is high
                    height = width / shape
            # Panes side by side show the same latitudes.
            left = page.margin + self._ticks + column * (width + page.margin + self._own_bar)
            above = (self._rows - 1 - row) * (tall + self._above + self._between)
            bottom = page.bottom + self._below + above + (tall - height) / 2
            last = row == self._rows - 1
            panes.append(_Pane((left, bottom, width, height), visible, column == 0, last))
        # The remaining space is divided between both sides.
        bars = self._own_bar or len(self.bars) * self._bar
        right = max(p.rectangle[0] + p.rectangle[2] for p in panes) + page.margin + bars
        spare = max(0.0, page.width - page.aside - page.margin - right) / 2
        return [replace(p, rectangle=(p.rectangle[0] + spare, *p.rectangle[1:])) for p in panes]

    def beside(self, panes: Sequence[_Pane], scale: str) -> tuple[float, float, float, float]:
        """Return the pane to the left of a shared colour bar: all panes and other bars.

        The bar of the maps comes first.
        """
        rectangles = [pane.rectangle for pane in panes]
        left = min(r[0] for r in rectangles)
        right = max(r[0] + r[2] for r in rectangles)
        bottom = min(r[1] for r in rectangles)
        top = max(r[1] + r[3] for r in rectangles)
        order = sorted(self.bars, key=lambda name: name != MAPS_SCALE)
        shift = order.index(scale) * self._bar if scale in order else 0.0
        return left, bottom, right - left + shift, top - bottom


def _columns(page: Page, number: int) -> int:
    """Return the number of panes per row: up to three, two on an upright page."""
    most = 2 if page.height > page.width else 3
    return number if number <= most else max(2, -(-number // 2) if most == 3 else 2)


def _title_lines(page: Page, surface: Surface, width: float, few: bool) -> list[str]:
    mark = " — curator only" if surface.curator_only else ""
    label = surface.label if few else surface.label.replace(" heatmap: ", ": ")
    lines = wrap(drawable(label + mark), page.ems(width, page.label_size))
    if len(lines) > TITLE_LINES:
        lines = [*lines[: TITLE_LINES - 1], lines[TITLE_LINES - 1][:-1] + "…"]
    return lines


def _outline(region: Region) -> Any:
    """Return a path of x and y around a region; holes turn the other way, so that they are."""
    from matplotlib.path import Path as Outline

    south, west, north, east = region.box
    rings: Any = region.rings or [[(south, west), (south, east), (north, east), (north, west)]]
    holes = (False,) if region.polygon is None else region.polygon.holes
    paths = []
    for ring, hole in zip(rings, holes, strict=True):
        y, x = np.array([*ring, ring[0]]).T
        turn = -1 if (np.dot(x[:-1], y[1:]) < np.dot(x[1:], y[:-1])) != hole else 1
        paths.append(Outline(np.stack([x, y], axis=1)[::turn], closed=True))
    return Outline.make_compound_path(*paths)


def _pane(
    page: Page,
    axes: Any,
    pane: _Pane,
    surface: Surface,
    title: Sequence[str],
    top: float,
    view: ViewState,
) -> Any:
    from matplotlib.colors import ListedColormap

    rectangle, visible = pane.rectangle, pane.visible
    south, west, north, east = visible if surface.region is None else surface.region.box
    cells = surface.values.shape[0]
    share = (north - south) / (visible[2] - visible[0])
    dots = rectangle[3] * page.figure.dpi * share
    axes.set_facecolor(page.theme.map_back)
    drawn = surface.drawn
    image = axes.imshow(
        surface.values if drawn.all() else np.where(drawn, surface.values, np.nan),
        origin="lower",
        extent=(west, east, south, north),
        aspect="auto",
        # Cells keep sharp edges unless there are more cells than dots.
        interpolation="nearest" if dots >= cells else "antialiased",
        cmap=ListedColormap(
            (diverging_table() if surface.diverging else colour_table(view.colour_map)) / 255
        ),
        vmin=-top if surface.diverging else 0,
        vmax=top,
        zorder=1,
    )
    axes.set_xlim(visible[1], visible[3])
    axes.set_ylim(visible[0], visible[2])
    if surface.region is not None and surface.region.rings:
        image.set_clip_path(_outline(surface.region), axes.transData)
    if surface.region is None:
        axes.set_xticks([])
        axes.set_yticks([])
    else:
        _coordinates(page, axes, rectangle, surface.region.plane)
        axes.tick_params(labelleft=pane.first_column, labelbottom=pane.last_row)
    axes.set_title(
        "\n".join(title),
        fontsize=page.label_size,
        color=page.theme.text,
        pad=0.4 * page.label_size,
        parse_math=False,
    )
    return image


def _coordinates(
    page: Page, axes: Any, rectangle: tuple[float, float, float, float], plane: Plane | None
) -> None:
    """Label both axes with degrees, or x and y of a plane, as many as fit."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis, kind, inches in (
        (axes.xaxis, "lon", rectangle[2]),
        (axes.yaxis, "lat", rectangle[3]),
    ):
        letters = 9 if kind == "lon" else 2.5
        most = max(1, int(inches * 72 / (letters * page.label_size)))
        axis.set_major_locator(MaxNLocator(min(most, 6), steps=[1, 2, 2.5, 5, 10]))
        low, high = axis.get_view_interval()
        ticks = axis.get_major_locator().tick_values(low, high)
        step = float(np.min(np.diff(ticks))) if len(ticks) > 1 else high - low
        decimals = next((d for d in range(7) if abs(round(step, d) - step) < 1e-9 * step), 6)
        axis.set_major_formatter(
            FuncFormatter(lambda v, _, d=decimals, k=kind: format_along(v, d, k, plane))
        )


def _layers(
    page: Page,
    axes: Any,
    pane: _Pane,
    region: Region,
    view: ViewState,
) -> None:
    """Draw coasts and borders, the region's outline and city names over a heatmap."""
    from matplotlib.patches import PathPatch
    from matplotlib.patheffects import withStroke

    theme, rectangle, visible = page.theme, pane.rectangle, pane.visible
    if view.show_basemap and region.plane is None:
        lines = lines_in(shipped_basemap().level_for(visible[3] - visible[1]), visible)
        # Lines are cut, not clipped, as some SVG viewers ignore clip paths.
        lon, lat = clip_lines(*lines, visible)
        axes.plot(lon, lat, color=theme.map_line, linewidth=0.7, zorder=0.5, gid="basemap")
        # Over the heatmap the lines are white with a dark halo, readable on every colour.
        lon, lat = clip_lines(*lines, overlap(region.box, visible))
        over = axes.plot(lon, lat, color="#ffffff", linewidth=0.6, alpha=0.85, zorder=2)[0]
        over.set_path_effects([withStroke(linewidth=1.5, foreground="#00000066")])
    axes.add_patch(
        PathPatch(
            _outline(region),
            fill=False,
            edgecolor=theme.map_region,
            linewidth=0.8,
            zorder=3,
            gid="region",
        )
    )
    if not view.show_cities or region.plane is not None:
        return
    wide, tall = rectangle[2], rectangle[3]
    height = page.inches(page.small)
    # Names near the upper and lower edge would be clipped.
    edge = min(0.4, 0.6 * height / tall) * (visible[2] - visible[0])
    whole = (visible[0] + edge, visible[1], visible[2] - edge, visible[3])
    for city in shipped_cities().visible(
        whole, 12, (min(1, 1.1 / wide), min(1, 2.2 * height / tall))
    ):
        name = drawable(city.name)
        length = (page.small * 0.95 * (len(name) * 0.62 + 1)) / 72
        # A name is left of its dot if it would leave the pane.
        turn = (city.longitude - visible[1]) / (visible[3] - visible[1]) * wide + length > wide
        halo = [withStroke(linewidth=1.8, foreground=theme.map_halo)]
        axes.plot(
            city.longitude,
            city.latitude,
            marker="o",
            markersize=2.4,
            color=theme.map_label,
            markeredgecolor=theme.map_halo,
            markeredgewidth=0.5,
            zorder=4,
        )
        axes.annotate(
            name,
            (city.longitude, city.latitude),
            xytext=(-3 if turn else 3, 0),
            textcoords="offset points",
            ha="right" if turn else "left",
            va="center",
            fontsize=page.small * 0.95,
            color=theme.map_label,
            zorder=5,
            path_effects=halo,
            annotation_clip=True,
            clip_on=True,
            parse_math=False,
        )


def _scale_bar(page: Page, axes: Any, region: Region, visible: Box) -> None:
    """Draw a scale bar of round length in the lower left corner, km above and miles below."""
    from matplotlib.patheffects import withStroke

    metric, imperial = scale_bars_for(region, visible[3] - visible[1], 0.3)
    halo = [withStroke(linewidth=2.6, foreground=page.theme.map_halo)]
    style = {
        "transform": axes.transAxes,
        "color": page.theme.map_label,
        "linewidth": 1.1,
        "zorder": 6,
        "path_effects": halo,
        "solid_capstyle": "butt",
    }
    figure_height = axes.get_position().height * page.height
    tick, y, x = 0.05 / figure_height, (page.inches(page.small) + 0.1) / figure_height, 0.03
    axes.plot([x, x + max(metric.share, imperial.share)], [y, y], gid="scale-bar", **style)
    axes.plot([x, x], [y - tick, y + tick], **style)
    axes.plot([x + metric.share] * 2, [y, y + tick], **style)
    if imperial.label:
        axes.plot([x + imperial.share] * 2, [y, y - tick], **style)
    for label, lift, side in ((metric.label, 3.5, "bottom"), (imperial.label, -3.5, "top")):
        axes.annotate(
            label,
            (x, y),
            xycoords="axes fraction",
            xytext=(2, lift),
            textcoords="offset points",
            fontsize=page.small * 0.95,
            color=page.theme.map_label,
            va=side,
            zorder=6,
            path_effects=halo,
            parse_math=False,
        )


def _colour_bar(
    page: Page, image: Any, rectangle: tuple[float, float, float, float], beyond: bool, what: str
) -> None:
    """Draw the colour scale to the right of a pane, with an arrow if values exceed it.

    `what` it shows is one of `scale_of`.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    left, bottom, width, height = rectangle
    thin = 0.11 * page.label_size / 9
    axes = page.axes(left + width + page.margin, bottom, thin, height)
    diverging = image.norm.vmin < 0
    # Powers of ten are in the label, as above the bar they would touch the pane's title.
    power = math.floor(math.log10(image.norm.vmax))
    power = 0 if -2 <= power <= 2 else power
    bar = page.figure.colorbar(
        image,
        cax=axes,
        extend="neither" if not beyond else "both" if diverging else "max",
        format=FuncFormatter(lambda value, _: f"{value / 10.0**power:.6g}".replace("-", "−")),
    )
    bar.locator = MaxNLocator(5)
    bar.outline.set_edgecolor(page.theme.frame)
    bar.outline.set_linewidth(0.7)
    axes.tick_params(
        colors=page.theme.frame, labelcolor=page.theme.text, labelsize=0.85 * page.label_size
    )
    unit = f" [{power_of_ten(power)}]" if power else ""
    label = f"{what} of the total per cell{unit}"
    if page.ems(height, 0.9 * page.label_size) < width_in_ems(label):
        label = f"{what}{unit}"
    axes.set_ylabel(
        label,
        fontsize=0.9 * page.label_size,
        color=page.theme.text,
    )


class ContributionHistogram:
    """The histogram of a result, shown on pages for the curator if the view includes it.

    Attributes
    ----------
    height : float
        Its height in inches; 0 if there is none, or no space for it.
    """

    def __init__(self, page: Page, result: Result, view: ViewState, around: float) -> None:
        shown = captions.shown_surfaces(result, view)
        secret = [surface for surface in shown if surface.curator_only]
        table = next((t for t in result.tables if t.key == HISTOGRAM), None)
        height = HISTOGRAM_SHARE * page.height
        fits = page.room(around) >= height + 2 * page.inches(page.small)
        self._page, self._table = page, table if secret and view.show_contributions else None
        self.height = height if self._table is not None and fits else 0.0
        self._cap = int(dict(result.request.values).get("cap", ALL))

    def draw(self) -> None:
        """Draw the histogram at the page's bottom and raise the bottom."""
        if self._table is None or not self.height:
            return
        page = self._page
        left, line = 6 * page.margin, page.inches(page.small)
        width, tall = page.across - left + page.margin, self.height - 2 * line
        axes = page.axes(left, page.bottom + 1.6 * line, width, tall)
        _draw_bars(axes, page, self._table, self._cap)
        page.bottom += self.height + page.margin / 2


def _draw_bars(axes: Any, page: Page, table: Table, cap: int) -> None:
    rows = np.array(table.rows, float)
    at = np.arange(len(rows))
    for part, kind in enumerate(HISTOGRAM_BARS):
        colour = page.theme.curves[part]
        axes.bar(at + 0.4 * part - 0.2, rows[:, 2 + part], 0.4, color=colour, label=kind)
    axes.set_ylim(0, HISTOGRAM_HEADROOM * rows[:, 2:].max())
    axes.set_xticks(at, [f"{high:,.0f}" for high in rows[:, 1]])
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=3)
    axes.tick_params(labelsize=page.small)
    axes.set_ylabel("users", fontsize=page.small, color=page.theme.text)
    if cap < rows[-1, 1]:
        axes.axvline(math.log2(cap) + 0.5, color=page.theme.text, linestyle="--", linewidth=0.8)
    axes.legend(
        title=f"{HISTOGRAM_TITLE} …" if cap >= rows[-1, 1] else f"{HISTOGRAM_TITLE} …; k = {cap:,}",
        loc="upper right",
        ncols=2,
        frameon=False,
        fontsize=page.small,
        borderpad=0,
        labelcolor=page.theme.text,
    )
    axes.get_legend().get_title().set(fontsize=page.small, color=page.theme.text)
