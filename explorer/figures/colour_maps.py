"""Colour tables and limits of colour scales, for pyqtgraph and matplotlib.

Sources: viridis and inferno by Nathaniel J. Smith and Stéfan van der Walt (dedicated to the public
domain, CC0); cividis by J. R. Nuñez, C. R. Anderton and R. S. Renslow, *Optimizing colormaps with
consideration for color vision deficiency*, PLOS ONE 2018. Each is stored as evenly spaced control
points and interpolated linearly, with an error of at most 3 of 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer.studies.base.study import Surface

_CONTROL_POINTS: dict[str, str] = {
    "viridis": (
        "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d "
        "2f6b8e 2c728e 297a8e 26828e 23898e 21918c 1f978b 1f9f88 21a685 27ad81 31b57b "
        "3dbc74 4cc26c 5cc863 6ece58 81d34d 95d840 aadc32 c0df25 d5e21a eae51a fde725"
    ),
    "inferno": (
        "000004 040312 0b0724 150b37 210c4a 2f0a5b 3d0965 4a0c6b 57106e 64156e 71196e "
        "7d1e6d 8a226a 972766 a32c61 b0315b bc3754 c63d4d d04545 da4e3c e35933 eb6429 "
        "f1711f f67e14 f98c0a fb9b06 fcaa0f fbba1f f9c932 f5d949 f2e865 f3f586 fcffa4"
    ),
    "cividis": (
        "00224e 002554 00285b 002b62 002e6a 003070 053371 123570 1a386f 213b6e 273e6e "
        "2d416d 32436d 36466c 3b496c 3f4c6c 434e6c 47516c 4b546c 4f576c 535a6d 565c6d "
        "5a5f6e 5e626e 61656f 656870 686a71 6c6d72 6f7073 727374 767676 797977 7d7c78 "
        "7f7e78 838179 878478 8b8778 8f8a78 928d78 969077 9a9376 9e9676 a29975 a69c74 "
        "aaa073 aea371 b3a670 b7a96e bbad6d bfb06b c3b369 c7b767 ccba64 d0be62 d4c15f "
        "d9c55c ddc858 e1cc55 e6d051 ead34c efd748 f3db42 f8df3c fde334 fee838"
    ),
}
_DIVERGING = "9be0ff 5bb4ea 2f83c4 1f5586 152f47 111318 4a2413 87401a c2632a f09050 ffcf9b"
"""Dark in the middle, as the others are at 0, so that names on a map stay readable."""
FAINTEST, STRONGEST = 0.3, 0.9
"""Opacity of a map in front of a picture at the lowest and the highest value."""
COLOUR_MAPS = tuple(_CONTROL_POINTS)
"""Names, the default first."""


@cache
def colour_table(name: str) -> NDArray[np.uint8]:
    """Return a colour map as red, green and blue of 256 steps, dark (low) to bright (high).

    Parameters
    ----------
    name : str
        One of `COLOUR_MAPS`.

    Returns
    -------
    ndarray of uint8, shape (256, 3)
        Read-only.

    Raises
    ------
    ValueError
        Naming the colour maps there are.
    """
    if name not in _CONTROL_POINTS:
        raise ValueError(f"colour_map: {name!r} is not one of {', '.join(COLOUR_MAPS)}")
    return _table(_CONTROL_POINTS[name])


@cache
def diverging_table() -> NDArray[np.uint8]:
    """Return the diverging colour table: blue below 0, dark at 0, orange above.

    Returns
    -------
    ndarray of uint8, shape (256, 3)
        Read-only.
    """
    return _table(_DIVERGING)


def _table(text: str) -> NDArray[np.uint8]:
    points = np.array([list(bytes.fromhex(colour)) for colour in text.split()])
    where = np.rint(np.linspace(0, 255, len(points)))
    channels = [np.interp(np.arange(256), where, channel) for channel in points.T]
    table: NDArray[np.uint8] = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    table.setflags(write=False)
    return table


def translucent(table: np.ndarray, diverging: bool = False) -> np.ndarray:
    """Return a colour table with opacity, for maps in front of a picture.

    Opacity increases with the value (or, if diverging, with its distance from 0).

    Parameters
    ----------
    table : ndarray, shape (N, 3)
        0…255.
    diverging : bool

    Returns
    -------
    ndarray of uint8, shape (N, 4)
    """
    far = np.linspace(-1, 1, len(table)) if diverging else np.linspace(0, 1, len(table))
    opacity = FAINTEST + (STRONGEST - FAINTEST) * np.abs(far) ** 0.5
    return np.column_stack([table, 255 * opacity]).round().astype(np.uint8)


def over_background(
    table: np.ndarray, diverging: bool, dark: bool, opacity: float
) -> NDArray[np.uint8]:
    """Return a colour table with opacity, for maps in front of a background.

    It is transparent at 0 and becomes opaque fast. On light backgrounds it runs from light to
    dark, so that more is darker than what lies behind; on dark ones from dark to light.

    Parameters
    ----------
    table : ndarray, shape (256, 3)
        0…255, dark at 0.
    diverging : bool
        Whether 0 is in the middle.
    dark : bool
        Whether the background is.
    opacity : float
        Of high values, 0 to 1.

    Returns
    -------
    ndarray of uint8, shape (256, 4)
    """
    far = np.linspace(-1, 1, len(table)) if diverging else np.linspace(0, 1, len(table))
    amount = np.abs(far)
    darkest = 0.65 if diverging else 1.0  # both ends of a diverging scale would be black
    place = far if dark else np.where(far < 0, -1.0, 1.0) * (1 - darkest * amount)
    index = np.rint((place + 1) / 2 * 255 if diverging else place * 255).astype(np.int64)
    alpha = 255 * opacity * (1 - (1 - amount) ** 6)
    return np.column_stack([table[index, :3], alpha]).round().astype(np.uint8)


TRUE, ERROR = "true", "error"
MAPS_SCALE, DIFFERENCE_SCALE, ERROR_SCALE = "share", "difference", "standard deviation"
"""What a colour scale shows; panes of the same share it while they are linked."""


def scale_of(surface: Surface) -> str:
    """Return what the colour scale of a surface shows."""
    if surface.key == ERROR:
        return ERROR_SCALE
    return DIFFERENCE_SCALE if surface.diverging else MAPS_SCALE


def largest(surface: Surface) -> float:
    """Return the largest value of a map; for a diverging one the largest absolute value."""
    values = np.abs(surface.values) if surface.diverging else surface.values
    return float(values.max(initial=0))


def colour_limits(shown: Sequence[Surface], linked: bool) -> list[float]:
    """Return the upper end of each pane's colour scale; the lower end is 0, or minus the upper.

    Linked panes end at the largest value of the non-private map if it is shown, so that others are
    compared on its scale. Otherwise no scale may depend on it, as the scale alone would reveal
    information: the panes then end at the largest shown value. Overlays do not count. The error per
    cell is another quantity than a share and always ends at its own largest value.
    """
    tops = [0.0 if surface.overlay else largest(surface) for surface in shown]
    if linked:
        pairs = list(zip(tops, shown, strict=True))
        truth = [top for top, s in pairs if s.key == TRUE]
        scales = [(top, scale_of(s)) for top, s in pairs]
        maps = [top for top, scale in scales if scale == MAPS_SCALE]
        others = [top for top, scale in scales if scale != ERROR_SCALE]
        ends = (max(some, default=0.0) for some in (truth, maps, others))
        end = next((end for end in ends if end > 0), 1.0)
        tops = [top if scale == ERROR_SCALE else end for top, scale in scales]
    return [top if top > 0 else 1.0 for top in tops]
