"""Recipes inside exported files: embedding them when writing, finding them when reading.

PNG, SVG and PDF carry the recipe in their metadata (`METADATA`), CSV in a comment, JSON in a field;
the other writers pass `recipe_text` to their format's comment. Only the exported file itself is
read: files named in a recipe are never opened here, and however large a file is, only a few
megabytes of it are read.
"""

import codecs
import io
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO
from xml.etree import ElementTree

from explorer.bounded import call, in_worker
from explorer.figures.formats import ExportFormat, recipe_formats

RECIPE_PREFIX = "# recipe: "
"""Begins the comment line with the recipe in CSV files."""
MAX_RECIPE = 1_000_000
"""Bytes; a longer recipe is refused when written and when read."""
MAX_FILE = 20_000_000
"""Maximum size of a PDF, which is read from its end."""
MAX_HEAD = 4_000_000
"""Bytes read of any other file, in which the recipe precedes pixels, paths and numbers."""
MEMORY = 512_000_000
"""Memory limit for reading a recipe, in bytes."""
MAX_DEPTH = 200
"""Maximum nesting of SVG elements; exported files have at most a dozen."""
MAX_COMMENT_LINES = 1000
MAX_BOXES = 10_000
"""Maximum number of sibling boxes in an MP4 file."""
_MP4_COMMENT = (b"moov", b"udta", b"meta", b"ilst", b"\xa9cmt", b"data")
_CHUNK_BYTES = 1 << 16
_GEOJSON_KEYS = ("features", "geometry", "geometries", "coordinates", "arcs")
_TIFF_DESCRIPTION = 270
_DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"


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


_CREATOR = "Privacy Explorer"
METADATA: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "png": lambda recipe, stamp: (
        {"Recipe": recipe, "Software": _CREATOR} | ({"Comment": stamp} if stamp else {})
    ),
    "svg": lambda recipe, stamp: {
        "Description": recipe,
        "Date": None,
        "Creator": _CREATOR,
        "Rights": stamp or None,
    },
    "pdf": lambda recipe, stamp: {
        "Keywords": recipe,
        "CreationDate": None,
        "Creator": _CREATOR,
        "Subject": stamp or None,
    },
}
"""Metadata of pictures by format, from recipe and stamp; without dates, to be reproducible."""


def read_recipe(path: Path) -> dict[str, Any]:
    """Return the recipe that an exported file carries.

    The format is recognised by the file's first bytes, not by its name.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        JSON values as written; the caller must validate them.

    Raises
    ------
    ValueError
        If the format is unknown, or the file is damaged, too large or without a recipe. GeoJSON
        without a recipe is reported as such.
    OSError
        If the file can't be read.
    """
    result, _ = _format_of(path)
    if result is None:
        *most, last = [f.name for f in recipe_formats()]
        raise ValueError(
            f"{path.name}: this is not a {', '.join(most)} or {last} file exported by Privacy "
            "Explorer"
        )
    text = _text_of(result, path)
    if text is None:
        raise ValueError(
            f"{path.name}: there is no recipe in this file; choose one that Privacy Explorer "
            "exported (programs that edit pictures often remove it)"
        )
    return _parse(path, text)


_IN_PLACE = ("csv", "json")
"""Formats read in this process, by a single pass over a bounded beginning of the file."""


def _text_of(form: ExportFormat, path: Path) -> str | None:
    """Return the text of the recipe in a file; most formats are read in a bounded worker."""
    text: str | None
    if form.suffix in _IN_PLACE or in_worker():
        text = resolve_name(form.reader)(path)
    else:
        text = call(_text_apart, form.reader, path, name=path.name, memory=MEMORY)
    return text


def _text_apart(reader: str, path: Path, cancelled: object) -> str | None:
    text: str | None = resolve_name(reader)(path)
    return text


def read_exported(
    _host: object, subject: tuple[Path, bool | None], _check: object
) -> dict[str, Any] | None:
    """Return `read_recipe` of a file; a task for the compute process.

    Parameters
    ----------
    subject : (Path, bool or None)
        The file, and whether it was exported by the program. None detects it, and then the
        result is None for other files.

    Raises
    ------
    ValueError, OSError
        As `read_recipe`; also if the path is a pipe or a device, which might never end.
    """
    path, exported = subject
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path.name}: this is no file that can be opened")
    detect, exported = exported is None, exported
    if detect:
        exported = path.is_file() and _format_of(path)[1]
    try:
        return read_recipe(path) if exported else None
    except GeoJsonError:
        if detect:  # places on a map, which may be check-ins
            return None
        raise


def _format_of(path: Path) -> tuple[ExportFormat | None, bool]:
    """Return the format of a file by its signature, and whether the program exported it."""
    with path.open("rb") as file:
        head = file.read(_CHUNK_BYTES)
        result = next((f for f in recipe_formats() if f.recognises(head)), None)
        if result is not None and result.ours_at_end:
            file.seek(max(0, file.seek(0, io.SEEK_END) - _CHUNK_BYTES))
            head = file.read(_CHUNK_BYTES)
    return result, result is not None and result.ours in head


def _parse(path: Path, text: str) -> dict[str, Any]:
    if len(text) > MAX_RECIPE:
        raise ValueError(f"{path.name}: its recipe is longer than {MAX_RECIPE:,} letters")
    try:
        recipe = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name}: its recipe is damaged") from None
    if not isinstance(recipe, dict):
        raise ValueError(f"{path.name}: its recipe is no JSON object")
    return recipe


def from_png(path: Path) -> str | None:
    """Return the field ``Recipe`` of a PNG."""
    from PIL import PngImagePlugin

    try:
        # The plug-in instead of Image.open reads only the chunks before the pixels.
        with PngImagePlugin.PngImageFile(io.BytesIO(_head(path)[0])) as image:
            text = image.info.get("Recipe")
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{path.name}: the PNG file is damaged ({error})") from None
    return None if text is None else str(text)


def from_gif(path: Path) -> str | None:
    """Return the comment of a GIF if it is a recipe."""
    from PIL import GifImagePlugin

    try:
        with GifImagePlugin.GifImageFile(io.BytesIO(_head(path)[0])) as image:
            text = image.info.get("comment", b"").decode("ascii", "replace")
    except Exception as error:  # Pillow's refusal of large pictures has no narrower class
        raise ValueError(f"{path.name}: the GIF file is damaged ({type(error).__name__})") from None
    return text if text.startswith("{") else None


def from_tiff(path: Path) -> str | None:
    """Return the description of a TIFF if it is a recipe."""
    from PIL import TiffImagePlugin

    try:
        # Only the directory of the first image is read; no image is decoded.
        stream = io.BytesIO(_head(path)[0])
        directory = TiffImagePlugin.ImageFileDirectory_v2(stream.read(8))
        stream.seek(directory.next)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # for a truncated file Pillow only warns
            directory.load(stream)
        text = str(directory.get(_TIFF_DESCRIPTION, ""))
    except Exception as error:  # a damaged directory may make the reader raise nearly anything
        raise ValueError(
            f"{path.name}: the TIFF file is damaged ({type(error).__name__})"
        ) from None
    return text if text.startswith("{") else None


def from_mp4(path: Path) -> str | None:
    """Return the comment of an MP4 file if it is a recipe; only box headers are read."""
    with path.open("rb") as file:
        begin, end = 0, file.seek(0, io.SEEK_END)
        for name in _MP4_COMMENT:
            result = _mp4_box(file, name, begin, end)
            if result is None:
                return None
            begin, end = result
            if name == b"meta":
                begin += 4  # version and flags
        file.seek(begin + 8)  # behind type and language
        text = file.read(min(max(end - begin - 8, 0), MAX_RECIPE + 1)).decode("ascii", "replace")
    return text if text.startswith("{") else None


def _mp4_box(file: BinaryIO, wanted: bytes, begin: int, end: int) -> tuple[int, int] | None:
    """Return start and end of the content of a box between two positions, or None."""
    for _ in range(MAX_BOXES):
        if begin + 8 > end:
            return None
        file.seek(begin)
        head = file.read(16)
        size, length = int.from_bytes(head[:4]), 8
        if size == 1:  # the size follows the name, in eight bytes
            size, length = int.from_bytes(head[8:]), 16
        elif size == 0:
            size = end - begin
        if size < length or begin + size > end:
            raise ValueError(f"{Path(file.name).name}: the MP4 file is damaged")
        if head[4:8] == wanted:
            return begin + length, begin + size
        begin += size
    return None


def from_pdf(path: Path) -> str | None:
    """Return the keywords of a PDF if they are a recipe."""
    from pypdf import PdfReader

    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        if size > MAX_FILE:
            raise ValueError(
                f"{path.name}: {size / 1e6:.0f} MB is more than any PDF of ours; choose another"
            )
        try:
            metadata = PdfReader(file).metadata
            text = None if metadata is None else metadata.get("/Keywords")
        except Exception as error:  # a damaged PDF may make the reader raise nearly anything
            raise ValueError(
                f"{path.name}: the PDF file is damaged ({type(error).__name__})"
            ) from None
    return None if text is None or not str(text).startswith("{") else str(text)


def from_svg(path: Path) -> str | None:
    """Return the first description in an SVG that is a recipe; earlier elements are discarded."""
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    open_elements: list[Any] = []
    try:
        for piece in _pieces(path):
            parser.feed(piece)
            for event, element in parser.read_events():
                if event == "start":
                    open_elements.append(element)
                    if len(open_elements) > MAX_DEPTH:
                        raise ValueError(f"{path.name}: its elements are nested too deeply")
                    continue
                text = (element.text or "").strip()
                if element.tag == _DESCRIPTION and text.startswith("{"):
                    return text
                open_elements.pop()
                for outer in open_elements[-1:]:
                    outer.clear()
        parser.close()
    except (ElementTree.ParseError, LookupError, UnicodeError) as error:  # of encodings
        raise ValueError(f"{path.name}: the SVG file is damaged ({error})") from None
    return None


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the beginning of an SVG in pieces, up to `MAX_HEAD`."""
    read, before = 0, b""
    with path.open("rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            read += len(piece)
            if read > MAX_HEAD:
                raise ValueError(
                    f"{path.name}: there is no recipe in its first {MAX_HEAD / 1e6:.0f} MB"
                )
            if b"<!ENTITY" in before[-7:] + piece:
                raise ValueError(f"{path.name}: an SVG file with entities is not one of ours")
            yield piece
            before = piece


def _head(path: Path) -> tuple[bytes, bool]:
    """Return the beginning of a file, and whether it is the whole file."""
    with path.open("rb") as file:
        data = file.read(MAX_HEAD + 1)
    return data[:MAX_HEAD], len(data) <= MAX_HEAD


def from_json(path: Path) -> str | None:
    """Return the text of the field ``recipe``, or of the whole file if it is a bare recipe."""
    data, whole = _head(path)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=whole)
        return _recipe_field(text)
    except _PlacesError:
        raise GeoJsonError(
            f"{path.name}: this is GeoJSON without a recipe; if it has check-ins, open it as such "
            "(File ▸ Open check-ins…)"
        ) from None
    except (ValueError, IndexError, RecursionError):
        if whole:
            raise ValueError(f"{path.name}: the JSON file is damaged") from None
        return None


class GeoJsonError(ValueError):
    """The file is GeoJSON not exported by this program."""


class _PlacesError(Exception):
    """The JSON object is GeoJSON."""


def _recipe_field(text: str) -> str | None:
    """Return the field ``recipe`` of a JSON object, decoding fields one by one.

    Raises
    ------
    _PlacesError
    ValueError, IndexError, RecursionError
        If the text is no JSON, or truncated.
    """
    decode = json.JSONDecoder(parse_int=float).raw_decode  # float: of any number of digits
    keys: set[str] = set()
    at = _after_space(text, 0) + 1
    while True:
        at = _after_space(text, at)
        if text[at] == "}":
            return text if {"study", "values"} <= keys else None
        key, at = decode(text, _after_space(text, at + (text[at] == ",")))
        at = _after_space(text, at)
        if text[at] != ":" or not isinstance(key, str):
            raise ValueError
        if key in _GEOJSON_KEYS:
            raise _PlacesError
        begin = _after_space(text, at + 1)
        value, at = decode(text, begin)
        if key == "recipe":
            return None if value is None else text[begin:at]
        keys.add(key)


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r"):
        at += 1
    return at


def from_parquet(path: Path) -> str | None:
    """Return the metadata field ``recipe`` of a Parquet file; no rows are read."""
    import duckdb

    # DuckDB expands glob characters in paths.
    named = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path.resolve()))
    with duckdb.connect() as con:
        try:
            result = con.execute(
                "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'recipe'", [named]
            ).fetchone()
        except duckdb.Error as error:
            # The message has the full path, and may quote the content of the file.
            reason = str(error).splitlines()[0].replace(str(path.resolve()), path.name)
            reason = "".join(c if c.isprintable() else "\ufffd" for c in reason)
            raise ValueError(f"{path.name}: the Parquet file is damaged ({reason})") from None
    return None if result is None else bytes(result[0]).decode("ascii", "replace")


def from_csv(path: Path) -> str | None:
    """Return the recipe from the comment lines at the top of a CSV file."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for _ in range(MAX_COMMENT_LINES):
            line = file.readline(MAX_RECIPE + 1000)
            if not line.startswith("#"):
                return None
            if line.startswith(RECIPE_PREFIX):
                return line.removeprefix(RECIPE_PREFIX).strip()
    return None
