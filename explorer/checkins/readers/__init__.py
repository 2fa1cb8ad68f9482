"""From a file to typed rows: one reader a format, found by what files begin with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.checkins.readers.base import Reader

READERS = {
    "text": "explorer.checkins.readers.text:READER",
    "parquet": "explorer.checkins.readers.parquet:READER",
    "geopackage": "explorer.checkins.readers.vector:GEOPACKAGE",
    "geojson": "explorer.checkins.readers.vector:GEOJSON",
    "json": "explorer.checkins.readers.records:JSON",
    "gpx": "explorer.checkins.readers.records:GPX",
    "kml": "explorer.checkins.readers.records:KML",
    "excel": "explorer.checkins.readers.excel:READER",
}
"""Where each `Reader` is, by the name under which a `Dialect` goes by it."""


def get_reader(name: str) -> Reader:
    """Return the reader of that name."""
    module, _, attribute = READERS[name].partition(":")
    reader: Reader = getattr(import_module(module), attribute)
    return reader


def all_readers() -> list[Reader]:
    """Return all readers, in the order of the table."""
    return [get_reader(name) for name in READERS]


def file_patterns() -> str:
    """Return the usual names of check-in files, as file dialogs want them: ``*.txt *.tsv …``."""
    return " ".join(f"*{suffix}" for reader in all_readers() for suffix in reader.suffixes)
