"""The format that was found when a file was opened, as texts of the fields that declare one."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable
from pathlib import Path

from explorer import checkins
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.release.errors import ReleaseError
from explorer.release.plan import PLACED

USER, TIME, LAT, LON = PLACED
GZIP = ".gz"
_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe", " ": "space"}
_ENCODINGS = {
    "utf-8": "utf-8",
    "ascii": "utf-8",
    "iso8859-1": "latin-1",
    "iso8859-15": "latin-9",
    "cp1252": "windows-1252",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
}
"""What check-ins are read with, as a plan names it."""
_TIMES = {"iso": "iso", "epoch_s": "unix", "epoch_ms": "unix-ms"}
_UNIT_FIRST = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def found_format(
    path: Path, mapping: Mapping, cancelled: Callable[[], bool] | None = None
) -> dict[str, str]:
    """Return the format of a file that was opened, by the keys of a release's fields.

    Parameters
    ----------
    path : Path
    mapping : Mapping
        As the file was opened with: what was answered then is not asked again.
    cancelled : callable, optional

    Raises
    ------
    ReleaseError
        If a release can't read such a file.
    CheckinError
        If the file can't be read any more.
    """
    preview = checkins.sniff(path, cancelled=cancelled)
    dialect = preview.dialect
    if dialect.delimiter not in _DELIMITERS or dialect.layer:
        raise ReleaseError(f"{path.name}: a release reads rows of text; save them as CSV")
    if mapping.user is None:
        raise ReleaseError(
            f"{path.name}: a release needs a column that names the person; open the file again "
            "and choose one"
        )
    if mapping.planar or mapping.crs is not None:
        raise ReleaseError(
            f"{path.name}: positions are no degrees; save them as latitudes and longitudes"
        )
    if dialect.compressed != path.name.endswith(GZIP):
        raise ReleaseError(f"{path.name}: a packed file needs a name that ends with {GZIP}")
    columns = _columns(preview, mapping)
    trailing = _ends_with_delimiter(preview, mapping)
    kept = columns[: len(columns) - trailing]
    return {
        "columns": ", ".join(kept) if len(kept) > 1 else f"{kept[0]};",
        "delimiter": _DELIMITERS[dialect.delimiter],
        "header": "yes" if dialect.has_header else "no",
        "encoding": _encoding(path, dialect),
        "quotes": "double" if dialect.quoted else "none",
        "decimal": "comma" if (mapping.decimal or dialect.decimal) == "," else "point",
        "trailing_delimiter": "yes" if trailing else "no",
        "row_end": "cr" if dialect.line_end == "\r" else "lf",
        "time_format": _TIMES.get(mapping.time_format, mapping.time_format),
        "time_zone": mapping.zone or "UTC",
    }


def _columns(preview: Preview, mapping: Mapping) -> list[str]:
    """Return a name for every field: those that a release knows, and the file's own for others."""
    roles = {mapping.user: USER, mapping.time: TIME, mapping.lat: LAT, mapping.lon: LON}
    found: list[str] = []
    for index, own in enumerate(preview.columns):
        name = roles.get(index)
        if name is None:
            # what separates names in their field stands in none of them
            name = " ".join(
                "".join(c if c.isprintable() and c not in ",;" else " " for c in own).split()
            )
            taken = {*found, USER, TIME, LAT, LON}
            if not name or name in taken:
                name = f"column {index + 1}"
        found.append(name)
    return found


def _ends_with_delimiter(preview: Preview, mapping: Mapping) -> bool:
    """Return whether the last column is but the nothing behind a delimiter at the row's end."""
    last = len(preview.columns) - 1
    unnamed = not preview.has_header or preview.columns[last] in ("", f"column {last + 1}")
    rows = preview.sample or preview.rows
    empty = all(len(row) > last and not row[last].strip() for row in rows)
    return bool(rows) and last > 0 and last not in mapping.columns and unnamed and empty


def _encoding(path: Path, dialect: Dialect) -> str:
    if dialect.encoding.replace("_", "-").lower() == "utf-16":
        opened = gzip.open if dialect.compressed else open
        with opened(path, "rb") as file:
            return _UNIT_FIRST.get(file.read(2), "utf-16-le")
    name = codecs.lookup(dialect.encoding).name.removesuffix("-sig")
    if name not in _ENCODINGS:
        raise ReleaseError(
            f"{path.name}: a release does not read {dialect.encoding}; save the file as UTF-8"
        )
    return _ENCODINGS[name]
