"""Table of readers: each turns files of one format into typed rows."""

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
"""`Reader` objects by the key that `Dialect.reader` returns."""


def get_reader(name: str) -> Reader:
    """Return a reader by key."""
    module, _, attribute = READERS[name].partition(":")
    reader: Reader = getattr(import_module(module), attribute)
    return reader


def all_readers() -> list[Reader]:
    """Return all readers, in the order of the table."""
    return [get_reader(name) for name in READERS]


def file_patterns() -> str:
    """Return file name patterns for file dialogs: ``*.txt *.tsv …``."""
    return " ".join(f"*{suffix}" for reader in all_readers() for suffix in reader.suffixes)
