"""Pages of a release: its stored output as map or table, and its certificate.

The input is plain data from `explorer.release`; check-ins are not accessible here.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer import __version__
from explorer.figures.pages.maps import draw_one
from explorer.figures.pages.page_layout import Page, drawable, wrap
from explorer.figures.pages.reviewer import pdf_of, words_figure
from explorer.figures.picture import own_settings
from explorer.figures.recipes import METADATA
from explorer.figures.style import theme
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region, longitude_note
from explorer.studies.base.numbers import nearest
from explorer.studies.base.result import Surface

MAX_BARS = 60


@dataclass(frozen=True, eq=False)
class Released:
    """A map or table of a release with its texts.

    Attributes
    ----------
    title : str
    about : str
        The certificate's id, or the stamp of a dry run; written below the picture and into the
        file.
    notes : tuple of str
        Further footnotes.
    grid : ndarray of float, shape (rows, columns), or None
        Row 0 south.
    box : tuple of four float, or None
        South, west, north, east in degrees, east above 180 across the antimeridian.
    table : tuple of (str, float)
        Names and values, if there is no grid.
    label : str
        Heading of a map.
    total : float or None
        Estimated number of people on the map, of its noisy numbers.
    stated : tuple of str
        Lines for files of numbers alone.
    """

    title: str
    about: str
    notes: tuple[str, ...] = ()
    grid: NDArray[np.float64] | None = None
    box: tuple[float, float, float, float] | None = None
    table: tuple[tuple[str, float], ...] = ()
    label: str = "share of all people"
    total: float | None = None
    stated: tuple[str, ...] = ()

    @property
    def region(self) -> Region | None:
        """Region of the map; None if it is too wide for the basemap."""
        try:
            return None if self.box is None else Region(*self.box)
        except ValueError:
            return None


def released_bytes(
    what: Released,
    fmt: str,
    *,
    size_px: tuple[int, int] = (1600, 1000),
    dpi: float = 150,
    theme_name: str = "light",
) -> bytes:
    """Draw a release as ``png``, ``svg`` or ``pdf``; equal arguments give equal bytes."""
    with own_settings():
        page = Page(size_px[0] / dpi, size_px[1] / dpi, theme(theme_name))
        page.figure.set_dpi(dpi)
        if what.title:
            page.write_title(what.title)
        on_land = what.grid is not None and what.region is not None
        credit = "Map: Natural Earth, US Census Bureau; cities: GeoNames (CC BY 4.0)" * on_land
        page.write_notes([what.about], what.notes, credit, around=0.6)
        if what.grid is not None:
            values = np.asarray(what.grid, np.float32)
            surface = Surface("released", what.label, values, what.region, False)
            draw_one(page, surface, ViewState(theme=theme_name))
        else:
            _draw_table(page, what.table)
        stream = io.BytesIO()
        page.figure.savefig(stream, format=fmt, dpi=dpi, metadata=METADATA[fmt](what.about, ""))
    return stream.getvalue()


def _draw_table(page: Page, table: Sequence[tuple[str, float]]) -> None:
    """Draw a single number in large type, several numbers as bars."""
    height = page.top - page.bottom
    if len(table) == 1:
        ((name, value),) = table
        axes = page.axes(page.margin, page.bottom, page.width - 2 * page.margin, height)
        axes.axis("off")
        for text, y, size in ((nearest(value, 12), 0.55, 44), (name, 0.3, page.title_size)):
            axes.text(
                0.5,
                y,
                drawable(text),
                ha="center",
                va="center",
                fontsize=size,
                color=page.theme.text,
                parse_math=False,
                transform=axes.transAxes,
            )
        return
    shown = list(table[:MAX_BARS])
    left = min(0.36 * page.width, 2.6)
    below = 2.0 * page.inches(page.label_size)
    axes = page.axes(
        left, page.bottom + below, page.width - left - 5 * page.margin, height - below - 0.05
    )
    ems = page.ems(left - 3 * page.margin, page.label_size)
    names = [" ".join(wrap(drawable(name), ems)[:1]) for name, _ in shown]
    places = np.arange(len(shown))[::-1]
    axes.barh(places, [value for _, value in shown], color=page.theme.curves[0])
    axes.set_yticks(places, names)
    for place, (_, value) in zip(places, shown, strict=True):
        axes.annotate(
            nearest(value),
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=page.small,
            color=page.theme.text,
            parse_math=False,
        )
    axes.margins(x=0.12)
    axes.axvline(0, color=page.theme.frame, linewidth=0.7)
    if len(table) > len(shown):
        axes.set_xlabel(f"the first {len(shown)} of {len(table):,}; the table has all")


def released_geotiff(what: Released) -> bytes:
    """Return a map as a GeoTIFF in degrees of WGS 84, north up, in single precision.

    Raises
    ------
    ValueError
        If it is no map.
    """
    if what.grid is None or what.box is None:
        raise ValueError("GeoTIFF: a table has no places; choose CSV or JSON")
    from rasterio import Affine
    from rasterio.crs import CRS
    from rasterio.io import MemoryFile

    rows, columns = what.grid.shape
    south, west, north, east = what.box
    high, wide = (north - south) / rows, (east - west) / columns
    with MemoryFile() as memory:
        with memory.open(
            driver="GTiff",
            width=columns,
            height=rows,
            count=1,
            dtype="float32",
            crs=CRS.from_epsg(4326),
            compress="deflate",
            transform=Affine(wide, 0, west, 0, -high, north),
        ) as image:
            image.update_tags(
                TIFFTAG_IMAGEDESCRIPTION=what.about,
                TIFFTAG_SOFTWARE=f"Privacy Explorer {__version__}",
                ABOUT="\n".join(
                    (what.title, what.about, *what.notes, *longitude_note(what.box), *what.stated)
                ),
            )
            image.set_band_description(1, what.label)
            image.write(np.asarray(what.grid, np.float32)[::-1], 1)
        return bytes(memory.read())


def certificate_bytes(
    sections: Sequence[tuple[str, list[str]]], title: str, name: str, original: bytes
) -> bytes:
    """Return a certificate as one A4 page, with the original as an attachment.

    Parameters
    ----------
    said : sequence of (str, list of str)
        Headings, and the statements below each.
    title : str
    name : str
        Of the attached file.
    original : bytes
    """
    from pypdf import PdfReader, PdfWriter

    with own_settings():
        drawn = pdf_of(words_figure(sections))
    writer = PdfWriter()
    writer.add_page(PdfReader(io.BytesIO(drawn)).pages[0])
    info: dict[str, Any] = METADATA["pdf"](title, "")
    writer.add_metadata({f"/{key}": value for key, value in info.items() if value})
    writer.add_attachment(name, original)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
