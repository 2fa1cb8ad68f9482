"""Table of export formats. To add a format, add a row and the module it names.

Dialogs, menus, file filters, the command line and *Open recipe* use this table.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

_CELLS = "explorer.figures.geo_export:"
_EXPORT = "explorer.figures.picture:picture_bytes"
_ANIMATION = "explorer.figures.animation_encoding:animation_bytes"
_VIDEO = "explorer.figures.animation_encoding:video_bytes"
_TABLES = "explorer.figures.tables:"
_READ = "explorer.figures.recipes:"
_COMPARISON = "explorer.figures.comparison:"
_GRID = "explorer.figures.grid:"
_REVIEWER = "explorer.figures.pages.reviewer:"
_EXPERIMENT = "explorer.figures.pages.experiment:experiment_bytes"
_MULTIPLES = "explorer.figures.pages.multiples:grid_picture"


class Kind(StrEnum):
    """Kind of exported content."""

    PICTURE = "picture"
    """A plot or map as shown."""
    NUMBERS = "numbers"
    """A result's numbers."""
    ANIMATION = "animation"
    """Maps over draws or time windows, or curves over values of a parameter."""
    COMPARISON = "comparison"
    """The rows of Compare."""
    GRID = "grid"
    """Curves over a grid of parameters."""
    EXPERIMENT = "experiment"
    """The document of an experiment."""
    REVIEWER = "reviewer"
    """Summary of a guarantee for reviewers."""


PARTS = {
    "title": "Title",
    "legend": "Legend",
    "caption": "Caption (settings and data)",
    "conditions": "Guarantee and conditions",
    "footer": "Version and sources",
}
"""Optional parts around a picture, with their labels on screen."""
PAPER_SIZES_MM = {"column": (88, 62), "page": (180, 110)}
"""Width and height of a figure in a paper: as wide as a column, or as both."""
MM_PER_INCH = 25.4


@dataclass(frozen=True, slots=True)
class ExportFormat:
    r"""A kind of file.

    Attributes
    ----------
    suffix : str
        Of file names, without the dot.
    label : str
        In lists: the format's name and what such a file is.
    kind : Kind
    writer : str
        ``module:function``, from an `ExportJob` to bytes; for a comparison from its rows to text,
        for a grid from a `GridJob` to bytes, for an experiment from its document and the suffix to
        bytes. Imported on first use.
    clipboard : str
        Its media type on the clipboard.
    reader : str
        ``module:function``, from a path to the text of the recipe or None; empty if the format
        has no recipe.
    signature : bytes
        Pattern of the beginning of files, after white space.
    ours : bytes
        Bytes near the beginning of exported files, if check-in files may have the same signature.
    ours_at_end : bool
        Whether those bytes are near the end instead.
    maps_only : bool
        Whether the format is for maps only, or for animated curves.
    library : str
        Optional module that the writer needs; empty if there is none.
    extra : str
        Extra of this package that installs the library.
    """

    suffix: str
    label: str
    kind: Kind
    writer: str
    clipboard: str
    reader: str = ""
    signature: bytes = b""
    ours: bytes = b""
    ours_at_end: bool = False
    maps_only: bool = False
    library: str = ""
    extra: str = ""

    @property
    def missing(self) -> str:
        """How to install a missing library; empty if none is missing."""
        if not self.library or find_spec(self.library) is not None:
            return ""
        return (
            f"{self.name} needs the library {self.library}, which is not installed: "
            f"pip install '.[{self.extra}]'"
        )

    @property
    def name(self) -> str:
        """The format's name alone: ``PNG``."""
        return self.label.split()[0]

    @property
    def filter(self) -> str:
        """The format in a file dialog: ``PNG picture (*.png)``."""
        return f"{self.label} (*.{self.suffix})"

    def recognises(self, head: bytes) -> bool:
        """Return whether the first bytes of a file have this format's signature."""
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return bool(self.reader) and re.match(self.signature, text, re.DOTALL) is not None


FORMATS = (
    ExportFormat(
        "png",
        "PNG picture",
        Kind.PICTURE,
        _EXPORT,
        "image/png",
        _READ + "from_png",
        rb"\x89PNG",
    ),
    ExportFormat(
        "svg",
        "SVG drawing",
        Kind.PICTURE,
        _EXPORT,
        "image/svg+xml",
        _READ + "from_svg",
        rb"(?=<).*<svg",
    ),
    ExportFormat(
        "pdf",
        "PDF drawing",
        Kind.PICTURE,
        _EXPORT,
        "application/pdf",
        _READ + "from_pdf",
        rb"%PDF-",
    ),
    ExportFormat(
        "csv",
        "CSV table",
        Kind.NUMBERS,
        _TABLES + "csv_bytes",
        "text/plain",
        _READ + "from_csv",
        rb"#",
        b"\n# recipe: ",
    ),
    ExportFormat(
        "json",
        "JSON document",
        Kind.NUMBERS,
        _TABLES + "json_bytes",
        "application/json",
        _READ + "from_json",
        rb"\{",
    ),
    ExportFormat(
        "geojson",
        "GeoJSON cells",
        Kind.NUMBERS,
        _CELLS + "geojson_bytes",
        "application/geo+json",
        _READ + "from_json",
        rb"\{",
        maps_only=True,
    ),
    ExportFormat(
        "tif",
        "GeoTIFF cells",
        Kind.NUMBERS,
        _CELLS + "geotiff_bytes",
        "image/tiff",
        _READ + "from_tiff",
        rb"II\*\0|MM\0\*",
        maps_only=True,
        library="rasterio",
        extra="geotiff",
    ),
    ExportFormat(
        "gif",
        "GIF animation",
        Kind.ANIMATION,
        _ANIMATION,
        "image/gif",
        _READ + "from_gif",
        rb"GIF8",
        maps_only=True,
    ),
    ExportFormat(
        "apng",
        "APNG animation",
        Kind.ANIMATION,
        _ANIMATION,
        "image/apng",
        _READ + "from_png",
        rb"\x89PNG",
        maps_only=True,
    ),
    ExportFormat(
        "mp4",
        "MP4 video",
        Kind.ANIMATION,
        _VIDEO,
        "video/mp4",
        _READ + "from_mp4",
        rb".{4}ftyp",
        maps_only=True,
        library="av",
        extra="video",
    ),
    ExportFormat(
        "csv",
        "CSV table",
        Kind.COMPARISON,
        _COMPARISON + "comma_separated",
        "text/plain",
    ),
    ExportFormat(
        "md",
        "Markdown table",
        Kind.COMPARISON,
        _COMPARISON + "markdown",
        "text/plain",
    ),
    ExportFormat("tex", "LaTeX table", Kind.COMPARISON, _COMPARISON + "latex", "text/plain"),
    ExportFormat("csv", "CSV table, a row a point", Kind.GRID, _GRID + "csv_bytes", "text/plain"),
    ExportFormat(
        "parquet",
        "Parquet table, a row a point",
        Kind.GRID,
        _GRID + "parquet_bytes",
        "application/vnd.apache.parquet",
        _READ + "from_parquet",
        rb"PAR1",
        b"privacy-explorer-recipe/",
        ours_at_end=True,
    ),
    ExportFormat("json", "JSON document", Kind.GRID, _GRID + "json_bytes", "application/json"),
    ExportFormat("pdf", "PDF drawing, all pages", Kind.GRID, _MULTIPLES, "application/pdf"),
    ExportFormat("png", "PNG picture", Kind.GRID, _MULTIPLES, "image/png"),
    ExportFormat("svg", "SVG drawing", Kind.GRID, _MULTIPLES, "image/svg+xml"),
    ExportFormat(
        "pdf", "PDF drawing with the verdicts", Kind.EXPERIMENT, _EXPERIMENT, "application/pdf"
    ),
    ExportFormat("svg", "SVG drawing", Kind.EXPERIMENT, _EXPERIMENT, "image/svg+xml"),
    ExportFormat("png", "PNG picture", Kind.EXPERIMENT, _EXPERIMENT, "image/png"),
    ExportFormat("tex", "LaTeX table of the means", Kind.EXPERIMENT, _EXPERIMENT, "text/plain"),
    ExportFormat("json", "JSON document", Kind.EXPERIMENT, _EXPERIMENT, "application/json"),
    ExportFormat("csv", "CSV table, a row a setting", Kind.EXPERIMENT, _EXPERIMENT, "text/plain"),
    ExportFormat("txt", "Text", Kind.REVIEWER, _REVIEWER + "text_bytes", "text/plain"),
    ExportFormat("tex", "LaTeX list", Kind.REVIEWER, _REVIEWER + "latex_bytes", "text/plain"),
    ExportFormat(
        "pdf",
        "PDF page with the plot",
        Kind.REVIEWER,
        "explorer.figures.pages.reviewer:page_bytes",
        "application/pdf",
    ),
)
"""In the order of lists; the first of a kind is its default."""
_RESULTS = (Kind.PICTURE, Kind.NUMBERS, Kind.ANIMATION)


def of_kind(*kinds: Kind, maps: bool = False) -> tuple[ExportFormat, ...]:
    """Return the formats of the given kinds, by default those of results.

    Formats for maps only are included if `maps` is true.
    """
    wanted = kinds or _RESULTS
    return tuple(f for f in FORMATS if f.kind in wanted and (maps or not f.maps_only))


def by_suffix(suffix: str, *kinds: Kind, maps: bool = True) -> ExportFormat:
    """Return the format with a suffix (``png``, ``.PNG``); arguments as in `of_kind`.

    Raises
    ------
    ValueError
        Naming the formats there are.
    """
    wanted = suffix.lower().removeprefix(".")
    result = next((f for f in of_kind(*kinds, maps=maps) if f.suffix == wanted), None)
    if result is None:
        raise ValueError(f"the extension chooses the format, one of {suffixes(*kinds, maps=maps)}")
    return result


def suffixes(*kinds: Kind, maps: bool = False) -> str:
    """Return the suffixes of formats, ``.png .svg .pdf``; arguments as in `of_kind`."""
    return " ".join(f".{f.suffix}" for f in of_kind(*kinds, maps=maps))


def recipe_formats() -> tuple[ExportFormat, ...]:
    """Return the formats with an embedded recipe."""
    return tuple(f for f in FORMATS if f.reader)
