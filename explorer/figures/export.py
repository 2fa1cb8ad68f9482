"""A result as a picture file: PNG, SVG or PDF, with its recipe inside."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorer.figures.gate import gate
from explorer.figures.page_layout import Page
from explorer.figures.style import FONT, theme
from explorer.figures.view_state import ViewState
from explorer.files import write_whole
from explorer.geography.basemap import Basemap
from explorer.geography.cities import Cities
from explorer.studies.base.study import Result

PICTURE_FORMATS = ("png", "svg", "pdf")
MAX_RECIPE = 1_000_000
"""Bytes; a longer recipe is refused when written and when read."""
MAX_PIXELS = 200_000_000

_SETTINGS: Any = {
    "font.family": [FONT],
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",  # text stays text: it can be searched and edited
    "svg.hashsalt": "privacy-explorer",  # otherwise ids differ from run to run
    "pdf.fonttype": 42,
    "axes.unicode_minus": True,
    "axes.formatter.use_locale": False,
    "path.simplify": True,
    "savefig.bbox": None,
    "savefig.facecolor": "auto",
    "text.usetex": False,
    "text.hinting": "none",  # hinted letters change their width with the resolution
}
# matplotlib's settings belong to the whole process: two exports at once would mix them up.
_one_at_a_time = threading.Lock()


def recipe_text(recipe: Mapping[str, object]) -> str:
    """Return a recipe as one line of ASCII JSON.

    Raises
    ------
    ValueError
        If it is too long or holds something that JSON can't (a NaN, an array).
    """
    try:
        text = json.dumps(recipe, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"recipe: {error}") from None
    if len(text) > MAX_RECIPE:
        raise ValueError(f"recipe: {len(text)} bytes; at most {MAX_RECIPE} fit into a file")
    return text


def figure_bytes(
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    fmt: str,
    *,
    size_px: tuple[int, int] = (1600, 1000),
    dpi: float = 150,
    basemap: Basemap | None = None,
    cities: Cities | None = None,
) -> bytes:
    """Draw a result as a picture; the same arguments always give the same bytes.

    Parameters
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
        Goes into the picture's metadata.
    fmt : str
        ``png``, ``svg`` or ``pdf``.
    size_px : tuple of int
        Width and height of a PNG in pixels; SVG and PDF are ``size_px / dpi`` inches large.
    dpi : float
        Dots an inch, 30 to 1200; letters keep their size in inches.
    basemap, cities : Basemap, Cities or None
        What to draw maps on, where the view asks for it.

    Raises
    ------
    ValueError
        If there is nothing to draw, or an argument is out of range.
    """
    if fmt not in PICTURE_FORMATS:
        raise ValueError(f"fmt: {fmt!r} is not one of {', '.join(PICTURE_FORMATS)}")
    width, height = size_px
    if not 30 <= dpi <= 1200:
        raise ValueError(f"dpi: {dpi:g} is outside [30, 1200]")
    if not (width >= 100 and height >= 100 and width * height <= MAX_PIXELS):
        raise ValueError(
            f"size_px: {width} × {height}; at least 100 × 100, at most {MAX_PIXELS:,} pixels"
        )
    if not (result.series or result.surfaces):
        raise ValueError("result: it has neither curves nor maps to draw")
    result, view, recipe = gate(result, view, recipe)
    text = recipe_text(recipe)
    inches = (width / dpi, height / dpi)
    with own_settings():
        page = draw_page(result, view, recipe, inches, dpi, basemap, cities)
        stream = io.BytesIO()
        page.figure.savefig(
            stream, format=fmt, dpi=dpi, metadata=_metadata(fmt, text, result.stamp)
        )
    return stream.getvalue()


def export_figure(
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    path: Path,
    *,
    size_px: tuple[int, int] = (1600, 1000),
    dpi: float = 150,
    basemap: Basemap | None = None,
    cities: Cities | None = None,
) -> None:
    """Write a picture; the file's extension chooses the format. Arguments as `figure_bytes`.

    Raises
    ------
    ValueError
        As `figure_bytes`.
    OSError
        If the file can't be written; an existing one then stays as it was.
    """
    fmt = path.suffix.lower().lstrip(".")
    write_whole(
        path,
        figure_bytes(
            result, view, recipe, fmt, size_px=size_px, dpi=dpi, basemap=basemap, cities=cities
        ),
    )


@contextmanager
def own_settings() -> Iterator[None]:
    """Set matplotlib up for drawing, whatever a user's own settings are, and put all back after.

    The settings belong to the whole process, so only one drawing is made at a time.
    """
    import matplotlib

    with _one_at_a_time, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def draw_page(
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    inches: tuple[float, float],
    dpi: float,
    basemap: Basemap | None = None,
    cities: Cities | None = None,
) -> Page:
    """Draw a result on a sheet of so many inches; to be called inside `own_settings`."""
    from explorer.figures.curves import draw_curves
    from explorer.figures.maps import draw_maps

    page = Page(*inches, theme(view.theme))
    page.figure.set_dpi(dpi)
    if result.surfaces:
        draw_maps(page, result, view, recipe, basemap, cities)
    else:
        draw_curves(page, result, view, recipe)
    return page


def _metadata(fmt: str, text: str, stamp: str) -> dict[str, Any]:
    """Return a format's metadata: the recipe where `read_recipe` looks for it, and no dates."""
    program = "Privacy Explorer"
    if fmt == "png":
        return {"Recipe": text, "Software": program} | ({"Comment": stamp} if stamp else {})
    if fmt == "svg":
        return {"Description": text, "Date": None, "Creator": program, "Rights": stamp or None}
    return {"Keywords": text, "CreationDate": None, "Creator": program, "Subject": stamp or None}
