"""What is behind a map: a picture of a plane, or the user's own files on the Earth."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.bounded import call
from explorer.figures.colour_maps import over_background, translucent
from explorer.figures.style import Theme
from explorer.geography.background import MAX_PIXELS, MEMORY, draw, is_dark
from explorer.geography.plane import Plane
from explorer.geography.region import Box, PlaneRegion
from explorer.geography.vectors import Ink

MAX_PICTURE_PIXELS = 40_000_000
MAX_BYTES = 50_000_000
FORMATS = ("PNG", "JPEG")


def size_of(data: bytes, name: str) -> tuple[int, int]:
    """Return width and height of a PNG or JPEG picture in pixels.

    Raises
    ------
    ValueError
        If the data are no PNG or JPEG, damaged or too large.
    """
    picture = _opened(data, name)
    return picture.width, picture.height


def pixels_of(data: bytes, name: str) -> np.ndarray:
    """Return a picture's colours: uint8, shape (rows, columns, 3), row 0 the lowest.

    Raises
    ------
    ValueError
        As `size_of`.
    """
    return np.asarray(_opened(data, name).convert("RGB"))[::-1]


def draw_backdrop(axes: Any, heatmap: Any, plane: Plane, data: bytes) -> None:
    """Draw a picture over a plane's whole range, below a translucent heatmap."""
    from matplotlib.colors import ListedColormap

    south, west, north, east = PlaneRegion.whole(plane).box
    pixels = _opened(data, "the picture").convert("RGB")
    axes.imshow(
        pixels,
        origin="upper",
        extent=(west, east, south, north),
        aspect="auto",
        zorder=0.4,
        interpolation="antialiased",
        gid="picture",
    )
    colours = heatmap.cmap(np.arange(heatmap.cmap.N)) * 255
    table = translucent(colours[:, :3], heatmap.norm.vmin < 0)
    heatmap.set_cmap(ListedColormap(table / 255))


@dataclass(frozen=True)
class BackgroundFile:
    """A file behind the map of the Earth.

    Attributes
    ----------
    path : str
    name : str
        Of the file.
    credit : str
        Attribution, written on every page that shows it.
    """

    path: str
    name: str
    credit: str


def draw_background(
    axes: Any,
    heatmap: Any,
    files: Sequence[BackgroundFile],
    visible: Box,
    pixels: tuple[float, float],
    theme: Theme,
    opacity: float,
) -> tuple[str, ...]:
    """Draw files over a view, below a translucent heatmap; return notes on what is missing.

    Parameters
    ----------
    pixels : (float, float)
        Width and height of the axes.

    Raises
    ------
    ValueError, OSError
        If a file can't be read any more.
    """
    from matplotlib.colors import ListedColormap, to_rgb

    width, height = pixels
    less = min(1.0, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
    columns, rows = max(1, int(width * less)), max(1, int(height * less))
    dark = theme.name == "dark"
    ink = Ink((176, 184, 196) if dark else (90, 98, 112), max(1.0, columns / 600))
    paths, names = [file.path for file in files], ", ".join(file.name for file in files)
    drawing = call(draw, paths, visible, columns, rows, ink, name=names, memory=MEMORY)
    premultiplied = drawing.pixels.astype(np.float32) / 255
    alpha = premultiplied[..., 3:]
    plain = np.divide(
        premultiplied[..., :3], alpha, out=np.zeros_like(alpha.repeat(3, 2)), where=alpha > 0
    )
    south, west, north, east = visible
    axes.imshow(
        np.concatenate([plain.clip(0, 1), alpha], axis=2),
        origin="lower",
        extent=(west, east, south, north),
        aspect="auto",
        zorder=0.4,
        interpolation="antialiased",
        gid="background",
    )
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    colours = np.rint(heatmap.cmap(np.arange(heatmap.cmap.N)) * 255).astype(np.uint8)
    ground = [round(255 * part) for part in to_rgb(theme.map_back)]
    dark = is_dark(drawing.pixels, ground)
    table = over_background(colours[:, :3], heatmap.norm.vmin < 0, dark, opacity)
    heatmap.set_cmap(ListedColormap(table / 255))
    notes: tuple[str, ...] = drawing.notes
    return notes


def _opened(data: bytes, name: str) -> Any:
    from PIL import Image

    if len(data) > MAX_BYTES:
        raise ValueError(f"{name}: larger than {MAX_BYTES / 1e6:g} MB; save it smaller")
    try:
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
        if picture.width * picture.height > MAX_PICTURE_PIXELS:
            raise ValueError(
                f"{name}: {picture.width} × {picture.height} pixels, more than "
                f"{MAX_PICTURE_PIXELS / 1e6:g} million; save it smaller"
            )
        picture.load()
    except (OSError, SyntaxError) as fault:
        raise ValueError(f"{name}: no PNG or JPEG picture, or damaged; save it again") from fault
    return picture
