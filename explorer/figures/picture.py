"""Drawing of results as PNG, SVG or PDF with their recipe, and of formulas as PNG."""

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.figures.export import ExportJob
from explorer.figures.pages.backdrop import BackgroundFile
from explorer.figures.pages.curves import draw_curves, draw_errors
from explorer.figures.pages.maps import draw_maps
from explorer.figures.pages.page_layout import Page
from explorer.figures.recipes import METADATA, recipe_text
from explorer.figures.style import FONT, theme
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result
from explorer.studies.heatmap.experiments.utility_report import STUDY as WHICH

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
# matplotlib's settings are global to the process, so that exports must not run concurrently.
_one_at_a_time = threading.Lock()


def picture_bytes(job: ExportJob) -> bytes:
    """Return the picture of a job (`figure_bytes`)."""
    return figure_bytes(
        job.result,
        job.view,
        job.recipe,
        job.format.suffix,
        size_px=job.size_px,
        dpi=job.dpi,
        backdrop=job.backdrop,
        backgrounds=job.backgrounds,
    )


def figure_bytes(
    result: Result,
    view: ViewState,
    recipe: Mapping[str, object],
    fmt: str,
    *,
    size_px: tuple[int, int] = (1600, 1000),
    dpi: float = 150,
    backdrop: bytes = b"",
    backgrounds: Sequence[BackgroundFile] = (),
) -> bytes:
    """Draw a result; equal arguments give equal bytes. To be called through `rendered`.

    Parameters
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
        For the picture's metadata.
    fmt : str
        A key of `METADATA`.
    size_px : tuple of int
        Width and height of a PNG in pixels; SVG and PDF are ``size_px / dpi`` inches large.
    dpi : float
        Dots per inch, 30 to 1200; text keeps its size in inches.
    backdrop : bytes
    backgrounds : sequence of BackgroundFile
        As in `ExportJob`.

    Raises
    ------
    ValueError
        If there is nothing to draw, or an argument is out of range.
    """
    if fmt not in METADATA:
        raise ValueError(f"fmt: {fmt!r} is not one of {', '.join(METADATA)}")
    width, height = size_px
    if not 30 <= dpi <= 1200:
        raise ValueError(f"dpi: {dpi:g} is outside [30, 1200]")
    if not (width >= 100 and height >= 100 and width * height <= MAX_PIXELS):
        raise ValueError(
            f"size_px: {width} × {height}; at least 100 × 100, at most {MAX_PIXELS:,} pixels"
        )
    if not (result.series or result.surfaces):
        raise ValueError("result: it has neither curves nor maps to draw")
    text = recipe_text(recipe)
    inches = (width / dpi, height / dpi)
    with own_settings():
        page = draw_page(
            result, view, recipe, inches, dpi, backdrop=backdrop, backgrounds=backgrounds
        )
        stream = io.BytesIO()
        page.figure.savefig(stream, format=fmt, dpi=dpi, metadata=METADATA[fmt](text, result.stamp))
    return stream.getvalue()


@contextmanager
def own_settings() -> Iterator[None]:
    """Use the program's matplotlib settings in the block, independently of the user's ones.

    The settings are global to the process, so that the block is exclusive.
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
    limits: Sequence[float] | None = None,
    backdrop: bytes = b"",
    stamps: Sequence[str] = (),
    backgrounds: Sequence[BackgroundFile] = (),
) -> Page:
    """Draw a result on a page; to be called inside `own_settings`.

    Parameters
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
    inches : (float, float)
        Width and height of the page.
    dpi : float
    limits : sequence of float, optional
        Upper ends of the colour scales of maps; default: `colour_limits`.
    backdrop : bytes
    backgrounds : sequence of BackgroundFile
    stamps : sequence of str
        As for `draw_maps`.
    """
    page = Page(*inches, theme(view.theme))
    page.figure.set_dpi(dpi)
    if result.surfaces:
        draw_maps(page, result, view, recipe, limits, backdrop, stamps, backgrounds)
    elif result.request.study == WHICH:
        draw_errors(page, result, view, recipe)
    else:
        draw_curves(page, result, view, recipe)
    return page


@dataclass(frozen=True, slots=True)
class FormulaPicture:
    """A formula as PNG.

    Attributes
    ----------
    png : bytes
        Transparent around the letters.
    width, height : float
        In device-independent pixels.
    """

    png: bytes
    width: float
    height: float


def formula_pictures(
    formulas: tuple[str, ...], colour: str, points: float = 13.5, scale: float = 2.0
) -> tuple[FormulaPicture, ...]:
    """Return formulas drawn in one colour.

    Parameters
    ----------
    formulas : tuple of str
        Mathtext, without dollar signs.
    colour : str
        ``#rrggbb``.
    points : float
        Size of letters.
    scale : float
        Device pixels to one device-independent pixel of 1/96 inch.

    Raises
    ------
    ValueError
        Naming the formula that can't be read.
    """
    from matplotlib import rc_context
    from matplotlib.colors import to_rgb
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser
    from PIL import Image

    pictures = []
    # The settings are global to the process, so that nothing else may be drawn meanwhile.
    with own_settings(), rc_context({"mathtext.fontset": "stix"}):
        # A figure would read each formula twice, to measure and to draw it.
        parser, font = MathTextParser("agg"), FontProperties(size=points)
        for latex in formulas:
            try:
                read = parser.parse(f"${latex}$", 96 * scale, font)
            except ValueError as error:
                raise ValueError(f"formula {latex!r} can't be drawn: {error}") from error
            letters = np.pad(np.asarray(read.image), round(3 * scale))
            rgba = np.empty((*letters.shape, 4), np.uint8)
            rgba[..., :3] = np.round(255 * np.array(to_rgb(colour)))
            rgba[..., 3] = letters
            stream = io.BytesIO()
            Image.fromarray(rgba).save(stream, "png")
            height, width = letters.shape
            pictures.append(FormulaPicture(stream.getvalue(), width / scale, height / scale))
    return tuple(pictures)
