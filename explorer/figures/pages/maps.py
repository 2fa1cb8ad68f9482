"""Heatmaps on paper: one or two panes over coasts and borders, on one colour scale."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.colour_maps import colour_table
from explorer.figures.map_layers import shipped_basemap, shipped_cities
from explorer.figures.pages.page_layout import Page, drawable, width_in_ems, wrap
from explorer.figures.view_state import ViewState, study_of
from explorer.geography.basemap import clip_lines
from explorer.geography.region import KM_PER_DEGREE, Box, Region
from explorer.geography.scale_bar import format_degrees, scale_bars
from explorer.studies.base.numbers import power_of_ten
from explorer.studies.base.study import Result, Surface

TITLE_LINES = 2
MARGIN = 0.04
"""Room around the region, as a share of its size, where the view does not say what it shows."""
POLE = 90.0
NOWHERE = "The map is drawn without its place, which was found from the check-ins."
"""Said of a map whose region may not be told."""


def colour_limits(shown: Sequence[Surface], linked: bool) -> list[float]:
    """Return the value at the top of each pane's colour scale; the bottom is 0.

    Linked panes end at the largest value of the surface that only the curator sees, if that one
    is among them: the private pane is then judged on the truth's scale. Without it no scale may
    depend on it, since the scale alone would tell something of the truth; the panes end at the
    largest value that is shown.
    """
    tops = [float(surface.values.max(initial=0)) for surface in shown]
    if linked:
        truth = [top for top, s in zip(tops, shown, strict=True) if s.curator_only]
        tops = [max(truth or tops, default=0.0)] * len(tops)
    return [top if top > 0 else 1.0 for top in tops]


def draw_maps(
    page: Page,
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
) -> None:
    """Draw the surfaces that the view shows side by side, with colour bar, caption and stamps.

    Raises
    ------
    ValueError
        If the view shows none of the result's surfaces.
    """
    shown = captions.shown_surfaces(result, view)
    curator = any(surface.curator_only for surface in shown)
    placed = all(surface.region is not None for surface in shown)
    study = study_of(result)
    page.write_title(view.title or (study.name if study else result.request.study))
    credit = "Map: Natural Earth, US Census Bureau" if placed and view.show_basemap else ""
    if placed and view.show_cities:
        credit = f"{credit}; cities: GeoNames (CC BY 4.0)".lstrip("; ")
    origin = ". ".join(filter(None, (captions.origin_line(recipe), credit)))
    limits = colour_limits(shown, view.linked_scale)
    shared = view.linked_scale or len(shown) == 1
    room = _Room(page, shown, bars=1 if shared else len(shown))
    page.write_notes(
        [
            captions.settings_line(result),
            captions.data_line(recipe),
            captions.comparison_line(result) if curator else "",
        ],
        ["" if placed else NOWHERE, *captions.guarantee_lines(result), *result.notes],
        origin,
        around=room.above + room.below,
    )

    image = None
    for place, (surface, pane) in enumerate(zip(shown, room.panes(view), strict=True)):
        axes = page.axes(*pane.rectangle)
        title, first = room.titles[place], place == 0
        image = _pane(page, axes, pane, surface, title, limits[place], view, first)
        if surface.region is not None:
            _layers(page, axes, pane, surface.region, view)
            if first:
                _scale_bar(page, axes, surface.region, pane.visible)
        page.stamp(axes, captions.stamp_of(result, surface), *pane.rectangle[2:])
        if not shared or place == len(shown) - 1:
            beyond = shared and any(s.values.max(initial=0) > limits[0] for s in shown)
            _colour_bar(page, image, pane.rectangle, beyond)


@dataclass(frozen=True)
class _Pane:
    """Left, bottom, width and height in inches, and the degrees or cells in view."""

    rectangle: tuple[float, float, float, float]
    visible: Box


class _Room:
    """Where panes go on a page, once its title is written.

    Attributes
    ----------
    above, below : float
        Inches that a pane's title and its degrees take.
    titles : list of list of str
        The lines of every pane's title.
    """

    def __init__(self, page: Page, shown: Sequence[Surface], bars: int) -> None:
        self._page, self._shown, self._bars = page, shown, bars
        placed = any(surface.region is not None for surface in shown)
        self._ticks = 4.4 * page.label_size / 72 if placed else 0.0
        self._bar = 6.4 * page.label_size / 72
        room = page.width - 2 * page.margin - bars * self._bar
        self._wide = max(0.3, (room - self._ticks) / len(shown) - page.margin)
        self.titles = [_title_lines(page, surface, self._wide) for surface in shown]
        lines = max(len(title) for title in self.titles)
        self.above = (lines + 0.5) * page.inches(page.label_size)
        self.below = (1.9 if placed else 0.3) * page.inches(page.label_size)

    def panes(self, view: ViewState) -> list[_Pane]:
        """Return the panes, as high as what is written leaves them.

        Each fills its room, showing more around the region or the part in view, as in the window;
        without a place there is nothing around, and the panes are square.
        """
        page = self._page
        tall = max(0.3, page.top - page.bottom - self.below - self.above)
        panes, left = [], page.margin
        for place, surface in enumerate(self._shown):
            if surface.region is None:
                width = height = min(self._wide, tall)
                visible: Box = (0.0, 0.0, 1.0, 1.0)
            else:
                aspect = surface.region.aspect
                asked = view.map_box or _around(surface.region)
                visible = _filling(asked, self._wide / tall * aspect)
                width, height = self._wide, tall
                shape = (visible[3] - visible[1]) / ((visible[2] - visible[0]) * aspect)
                if shape > 1.0001 * width / height:  # wider than from pole to pole is high
                    height = width / shape
            bottom = page.bottom + self.below + (tall - height) / 2
            # Beside each other they show the same latitudes.
            left += self._ticks if place == 0 else 0.0
            panes.append(_Pane((left, bottom, width, height), visible))
            bar = self._bar if self._bars > 1 or place == len(self._shown) - 1 else 0.0
            left += width + page.margin + bar
        # What the panes leave over goes to both sides.
        spare = max(0.0, page.width - page.margin - left) / 2
        return [_Pane((p.rectangle[0] + spare, *p.rectangle[1:]), p.visible) for p in panes]


def _filling(box: Box, shape: float) -> Box:
    """Return a box that reaches further around the same middle, as wide to its height as asked."""
    south, west, north, east = box
    high, wide = north - south, east - west
    if wide < shape * high:
        grow = min(shape * high, max(360.0, wide)) - wide
        return south, west - grow / 2, north, east + grow / 2
    grow = wide / shape - high
    south, north = south - grow / 2, north + grow / 2
    # The map ends at the poles: what is missing on one side goes to the other.
    south, north = (
        max(-POLE, south - max(0.0, north - POLE)),
        min(POLE, north + max(0.0, -POLE - south)),
    )
    return min(south, box[0]), west, max(north, box[2]), east


def _title_lines(page: Page, surface: Surface, width: float) -> list[str]:
    mark = " — curator only" if surface.curator_only else ""
    lines = wrap(drawable(surface.label + mark), page.ems(width + 0.4, page.label_size))
    if len(lines) > TITLE_LINES:
        lines = [*lines[: TITLE_LINES - 1], lines[TITLE_LINES - 1][:-1] + "…"]
    return lines


def _around(region: Region) -> Box:
    south, west, north, east = region.box
    high, wide = MARGIN * (north - south), MARGIN * (east - west)
    return south - high, west - wide, north + high, east + wide


def _overlap(one: Box, other: Box) -> Box:
    """Return what two boxes share; turned inside out, and so empty, if they share nothing."""
    south, west = max(one[0], other[0]), max(one[1], other[1])
    return south, west, min(one[2], other[2]), min(one[3], other[3])


def _pane(
    page: Page,
    axes: Any,
    pane: _Pane,
    surface: Surface,
    title: Sequence[str],
    top: float,
    view: ViewState,
    first: bool,
) -> Any:
    from matplotlib.colors import ListedColormap

    rectangle, visible = pane.rectangle, pane.visible
    south, west, north, east = visible if surface.region is None else surface.region.box
    cells = surface.values.shape[0]
    share = (north - south) / (visible[2] - visible[0])
    dots = rectangle[3] * page.figure.dpi * share
    axes.set_facecolor(page.theme.map_back)
    image = axes.imshow(
        surface.values,
        origin="lower",
        extent=(west, east, south, north),
        aspect="auto",
        # Cells keep their sharp edges unless there are more of them than dots.
        interpolation="nearest" if dots >= cells else "antialiased",
        cmap=ListedColormap(colour_table(view.colour_map) / 255),
        vmin=0,
        vmax=top,
        zorder=1,
    )
    axes.set_xlim(visible[1], visible[3])
    axes.set_ylim(visible[0], visible[2])
    if surface.region is None:
        axes.set_xticks([])
        axes.set_yticks([])
    else:
        _degrees(page, axes, rectangle)
        axes.tick_params(labelleft=first)
    axes.set_title(
        "\n".join(title),
        fontsize=page.label_size,
        color=page.theme.text,
        pad=0.4 * page.label_size,
        parse_math=False,
    )
    return image


def _degrees(page: Page, axes: Any, rectangle: tuple[float, float, float, float]) -> None:
    """Write degrees along both axes, as many as there is room for."""
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
            FuncFormatter(lambda v, _, d=decimals, k=kind: format_degrees(v, d, k))
        )


def _layers(
    page: Page,
    axes: Any,
    pane: _Pane,
    region: Region,
    view: ViewState,
) -> None:
    """Draw coasts and borders, the region's outline and city names over a heatmap."""
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    theme, rectangle, visible = page.theme, pane.rectangle, pane.visible
    south, west, north, east = region.box
    corner, size = (west, south), (east - west, north - south)
    if view.show_basemap:
        lines = shipped_basemap().level_for(visible[3] - visible[1]).within(visible)
        # Cut to size and not clipped: some programs that show SVG files ignore clip paths.
        lon, lat = clip_lines(*lines, visible)
        axes.plot(lon, lat, color=theme.map_line, linewidth=0.7, zorder=0.5, gid="basemap")
        # Above the heatmap the same lines are white with a dark halo, readable on every colour.
        lon, lat = clip_lines(*lines, _overlap(region.box, visible))
        over = axes.plot(lon, lat, color="#ffffff", linewidth=0.6, alpha=0.85, zorder=2)[0]
        over.set_path_effects([withStroke(linewidth=1.5, foreground="#00000066")])
    axes.add_patch(
        Rectangle(
            corner, *size, fill=False, edgecolor=theme.map_region, linewidth=0.8, zorder=3,
            gid="region",
        )
    )  # fmt: skip
    if not view.show_cities:
        return
    wide, tall = rectangle[2], rectangle[3]
    height = page.inches(page.small)
    # Names near the upper and lower edge would be cut in half.
    edge = min(0.4, 0.6 * height / tall) * (visible[2] - visible[0])
    whole = (visible[0] + edge, visible[1], visible[2] - edge, visible[3])
    for city in shipped_cities().visible(
        whole, 12, (min(1, 1.1 / wide), min(1, 2.2 * height / tall))
    ):
        name = drawable(city.name)
        length = (page.small * 0.95 * (len(name) * 0.62 + 1)) / 72
        # A name turns to the left of its dot where it would run out of the pane.
        turn = (city.longitude - visible[1]) / (visible[3] - visible[1]) * wide + length > wide
        halo = [withStroke(linewidth=1.8, foreground=theme.map_halo)]
        axes.plot(
            city.longitude, city.latitude, marker="o", markersize=2.4, color=theme.map_label,
            markeredgecolor=theme.map_halo, markeredgewidth=0.5, zorder=4,
        )  # fmt: skip
        axes.annotate(
            name, (city.longitude, city.latitude), xytext=(-3 if turn else 3, 0),
            textcoords="offset points", ha="right" if turn else "left", va="center",
            fontsize=page.small * 0.95, color=theme.map_label, zorder=5, path_effects=halo,
            annotation_clip=True, clip_on=True, parse_math=False,
        )  # fmt: skip


def _scale_bar(page: Page, axes: Any, region: Region, visible: Box) -> None:
    """Draw a bar of round length, km above and miles below, in the lower left corner."""
    from matplotlib.patheffects import withStroke

    # The flat map is true to scale at the region's middle latitude.
    km = (visible[3] - visible[1]) * KM_PER_DEGREE / region.aspect
    metric, imperial = scale_bars(km, 0.3)
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
    axes.plot([x + imperial.share] * 2, [y, y - tick], **style)
    for label, lift, side in ((metric.label, 3.5, "bottom"), (imperial.label, -3.5, "top")):
        axes.annotate(
            label, (x, y), xycoords="axes fraction", xytext=(2, lift), textcoords="offset points",
            fontsize=page.small * 0.95, color=page.theme.map_label, va=side, zorder=6,
            path_effects=halo, parse_math=False,
        )  # fmt: skip


def _colour_bar(
    page: Page, image: Any, rectangle: tuple[float, float, float, float], beyond: bool
) -> None:
    """Draw the colour scale to the right of a pane; an arrow tells that values go beyond it."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    left, bottom, width, height = rectangle
    thin = 0.11 * page.label_size / 9
    axes = page.axes(left + width + page.margin, bottom, thin, height)
    # Powers of ten go into the label: above the bar they would run into the pane's title.
    power = math.floor(math.log10(image.norm.vmax))
    power = 0 if -2 <= power <= 2 else power
    bar = page.figure.colorbar(
        image,
        cax=axes,
        extend="max" if beyond else "neither",
        format=FuncFormatter(lambda value, _: f"{value / 10.0**power:.6g}"),
    )
    bar.locator = MaxNLocator(5)
    bar.outline.set_edgecolor(page.theme.frame)
    bar.outline.set_linewidth(0.7)
    axes.tick_params(
        colors=page.theme.frame, labelcolor=page.theme.text, labelsize=0.85 * page.label_size
    )
    unit = f" [{power_of_ten(power)}]" if power else ""
    label = f"share of the total per cell{unit}"
    if page.ems(height, 0.9 * page.label_size) < width_in_ems(label):
        label = f"share{unit}"
    axes.set_ylabel(
        label,
        fontsize=0.9 * page.label_size,
        color=page.theme.text,
    )
