"""What is drawn on paper above a map's cells: points, squares, borders."""

from typing import Any

import numpy as np

from explorer.figures.pages.page_layout import Page
from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Overlay

MANY = 2000
"""More points than these become a picture inside a drawing, which would be megabytes long."""


def draw_overlay(
    page: Page, axes: Any, overlay: Overlay, region: Region | None, image: Any
) -> None:
    """Draw a map's overlay over its region; in place of the cells' image."""
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
            rasterized=len(x) > MANY,
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
