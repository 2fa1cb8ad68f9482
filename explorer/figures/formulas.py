"""Formulas as pictures, for help pages."""

import io
from dataclasses import dataclass

from explorer.figures.picture import own_settings


@dataclass(frozen=True, slots=True)
class Picture:
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
) -> tuple[Picture, ...]:
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pictures = []
    # The settings are global to the process, so that nothing else may be drawn meanwhile.
    with own_settings(), rc_context({"mathtext.fontset": "stix"}):
        for latex in formulas:
            figure = Figure(figsize=(10, 1), dpi=96 * scale)
            FigureCanvasAgg(figure)
            figure.patch.set_alpha(0.0)
            figure.text(0.0, 0.0, f"${latex}$", color=colour, fontsize=points)
            stream = io.BytesIO()
            try:
                figure.savefig(stream, format="png", bbox_inches="tight", pad_inches=0.03)
            except ValueError as error:
                raise ValueError(f"formula {latex!r} can't be drawn: {error}") from error
            png = stream.getvalue()
            # Width and height are in the header of a PNG.
            width, height = (int.from_bytes(png[i : i + 4], "big") for i in (16, 20))
            pictures.append(Picture(png, width / scale, height / scale))
    return tuple(pictures)
