"""Check-ins that come as GeoPackage: a layer of points, or a table without geometries."""

import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

from explorer.checkins.database import plainly_named
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.readers.gdal import is_wkt, pyogrio
from explorer.checkins.readers.vector_file import VectorReader, count_rows

_MOST_STEPS = 5_000
"""Of 10,000 instructions, in what is asked of a database before its rows are read."""

_NO_POINT = ("LineString", "Polygon", "Curve", "Surface", "CircularString", "TIN", "Triangle")


class GeoPackageReader(VectorReader):
    """Reads GeoPackage."""

    def can_read(self, head: bytes) -> float:
        """Return whether it begins as a database of SQLite, which it is."""
        return float(head.startswith(b"SQLite format 3\0"))

    def layers(self, path: Path) -> tuple[str, ...]:
        """Return the layers whose type does not rule out points."""
        if not _is_geopackage(path):
            raise CheckinError(
                f"{shown_name(path)} is a database of SQLite and no GeoPackage: export its table "
                "as CSV, or as GeoPackage."
            )
        with warnings.catch_warnings(), plainly_named(path) as named:
            warnings.simplefilter("ignore")  # about names of files
            found = pyogrio().list_layers(named)
        plain = _plain_tables(path)
        layers = [(str(name), str(kind or "")) for name, kind in found if str(name) in plain]
        points = tuple(name for name, kind in layers if not any(no in kind for no in _NO_POINT))
        if not points:
            there = ", ".join(f"{name} ({kind})" for name, kind in layers) or "none"
            raise CheckinError(
                f"{shown_name(path)} has no layer of points (its layers: {there}); save the points "
                "as a layer, or as CSV with longitude and latitude."
            )
        return points

    def check(self, path: Path) -> None:
        """Refuse a database whose own tables are views, or whose reference systems are no text."""
        _check_database(path)

    def rows(self, path: Path, layer: str) -> int:
        """Return how many rows a layer has."""
        return count_rows(path, layer)


def _plain_tables(path: Path) -> set[str]:
    """Return the tables of a database that hold their rows: no views, no virtual tables."""
    with closing(_read_only(path)) as file:
        found = file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' "
            "AND ltrim(sql) NOT LIKE 'CREATE VIRTUAL%'"
        )
        return {str(name) for (name,) in found}


def _check_database(path: Path) -> None:
    """Refuse a GeoPackage that GDAL would compute or open something for, before it reads rows.

    Raises
    ------
    CheckinError
    """
    name = shown_name(path)
    with closing(_read_only(path)) as file:
        objects = file.execute("SELECT lower(name), type FROM sqlite_master").fetchall()
        views = {known for known, kind in objects if kind == "view"}
        if any(view.startswith(("gpkg_", "sqlite_", "rtree_")) for view in views):
            raise CheckinError(
                f"{name} has a view where a GeoPackage has a table, and is not read: export its "
                "points as a new GeoPackage, or as CSV with longitude and latitude."
            )
        if not any(known == "gpkg_spatial_ref_sys" for known, _ in objects):
            return
        systems = file.execute("SELECT * FROM gpkg_spatial_ref_sys LIMIT 10000")
        names = [column.lower() for column, *_ in systems.description]
        places = [i for i, column in enumerate(names) if "definition" in column]
        for row in systems:
            for text in (row[i] for i in places):
                if not isinstance(text, str | None) or not _harmless(text or ""):
                    raise CheckinError(
                        f"{name} describes a reference system by something else than well-known "
                        "text, which is not followed: export its points as a new GeoPackage, or "
                        "as CSV with longitude and latitude."
                    )


def _harmless(definition: str) -> bool:
    """Whether a reference system is described by well-known text, or not at all."""
    text = definition.strip()
    return text.lower() in ("", "undefined") or is_wkt(text)


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a database that may not be written to, whose functions do nothing but compute."""
    file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    file.execute("PRAGMA trusted_schema = OFF")
    steps = iter(range(_MOST_STEPS))
    file.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    return file


def _is_geopackage(path: Path) -> bool:
    """Tell whether the database says so: in its header, or by the table that lists contents."""
    with path.open("rb") as file:
        head = file.read(72)
        return head[68:72] in (b"GPKG", b"GP10", b"GP11") or b"gpkg_contents" in file.read(1 << 16)


READER = GeoPackageReader("geopackage", "GeoPackage", (".gpkg",))
