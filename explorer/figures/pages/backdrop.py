"""The picture behind the map of a plane that is not the Earth."""

import io
from typing import Any

import numpy as np

from explorer.figures.colour_maps import translucent
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion

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
