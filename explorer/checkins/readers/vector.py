"""Readers of GeoPackage and GeoJSON, by GDAL."""

import contextlib
import re
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from explorer.checkins.database import check, connect, identifier, plainly_named, run
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, IsCancelled, Preview
from explorer.checkins.parsing.crs import EXTRA, check_geojson, is_wkt, pyogrio
from explorer.checkins.parsing.row_rules import TextColumns, known_system, text_columns
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    CheckHead,
    FileStart,
    OneOfSeveral,
    Plan,
    ReaderOutput,
    check_width,
    copied_table,
    table_preview,
    texts_by_number,
    write_table,
)
from explorer.checkins.store import Tick
from explorer.lazy import missing_library

_JUDGED_ROWS = 2000


@contextlib.contextmanager
def _stream_layer(
    con: Any, path: Path, layer: str, together: int = 65_536
) -> Iterator[tuple[TextColumns, str]]:
    """Expose a layer to the database as the table ``given``, streamed in batches.

    Yields
    ------
    (TextColumns, str)
        Its columns, and the reference system that it names, empty if it names none.
    """
    with (
        warnings.catch_warnings(),
        plainly_named(path) as named,
        pyogrio().open_arrow(
            named,
            layer=layer or None,
            use_pyarrow=True,
            datetime_as_string=True,
            batch_size=together,
        ) as (facts, stream),
    ):
        warnings.simplefilter("ignore")  # about names of files, and about layers not requested
        crs = facts["crs"] or ""
        con.register("given", stream)
        try:
            described = [
                (name, kind) for name, kind, *_ in con.execute("DESCRIBE given").fetchall()
            ]
            yield text_columns(described, known_system(crs) is None), crs
        finally:
            con.unregister("given")


def _copy_layer(con: Any, path: Path, layer: str, tick: Tick) -> TextColumns:
    """Create the table ``copied_table`` with the rows of a layer as text, in order."""
    with _stream_layer(con, path, layer) as (columns, _):
        run(con, f"CREATE OR REPLACE TEMP TABLE copied AS SELECT {columns.select} FROM given", tick)
    return columns


def _texts(con: Any, columns: TextColumns, numbers: list[int]) -> dict[int, str]:
    """Return the comma-separated cells of copied rows by number (from 1)."""
    result = con.execute(
        f"SELECT rowid + 1, {columns.line} FROM copied "
        "WHERE rowid + 1 IN (SELECT unnest(?::BIGINT[]))",
        [numbers],
    )
    return dict(result.fetchall())


class VectorReader(OneOfSeveral):
    """Base of readers of one GDAL format."""

    def layers(self, path: Path) -> tuple[str, ...]:
        """Return the layers that may hold points; none if the format has no layers."""
        return ()

    def check(self, path: Path) -> None:
        """Raise for a file that makes GDAL open or compute something else.

        Raises
        ------
        CheckinError
        """

    def rows(self, path: Path, layer: str) -> int | None:
        """Return the number of rows of a layer, if it is known without GDAL."""
        return None

    def preview(self, start: FileStart) -> Preview:
        """Guess the layer and its columns.

        Raises
        ------
        CheckinError
            If the library is missing, or the file is damaged or without points.
        """
        lacking = missing_library(
            f"{start.name} is {self.name}: reading it", EXTRA, "pyogrio", "pyarrow", "pyproj"
        )
        if lacking:
            raise CheckinError(f"{lacking}. Or save it as CSV with longitude and latitude.")
        state = start.path.stat()
        return _cached_preview(self, start, (start.size, state.st_mtime_ns, state.st_ino))

    @contextlib.contextmanager
    def errors_converted(self, name: str) -> Iterator[None]:
        """Convert errors of GDAL to `CheckinError`."""
        import duckdb

        errors = pyogrio().errors
        try:
            yield
        except (
            errors.DataSourceError,
            errors.DataLayerError,
            errors.FieldError,
            errors.FeatureError,
            errors.GeometryError,
            duckdb.InvalidInputException,
            sqlite3.DatabaseError,
        ) as fault:
            raise CheckinError(
                f"{name} is damaged or not a {self.name} file. Fetch or write it again; no row "
                "of it was used."
            ) from fault

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write all rows of the layer."""
        layer, preparing = plan.dialect.layer, work.stage("Preparing")
        with self.errors_converted(plan.name):
            self.check(plan.path)
            columns = _copy_layer(con, plan.path, layer, preparing)
            expected = self.rows(plan.path, layer)

        scan = write_table(
            con, plan, folder, work, check_head, copied_table, columns.fault_of(plan.mapping)
        )
        if expected not in (None, scan.lines):
            raise CheckinError(
                f"{plan.name}: of {expected:,} rows only {scan.lines:,} could be read. Repair or "
                "write the file again; no row of it was used."
            )
        return ReaderOutput(scan, lambda numbers: _texts(con, columns, numbers))

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the comma-separated cells of requested rows."""
        self.check(path)
        columns = _copy_layer(con, path, dialect.layer, lambda _: check(cancelled))
        try:
            yield from texts_by_number(batches, cancelled, partial(_texts, con, columns))
        finally:
            con.execute("DROP TABLE IF EXISTS copied")


@cached(
    LRUCache(4),
    key=lambda reader, start, state: (reader.key, start.path, start.layer, state),
    lock=Lock(),
)
def _cached_preview(reader: VectorReader, start: FileStart, _state: tuple[int, ...]) -> Preview:
    """Return the preview of a file, cached because GDAL may read all of it."""
    with reader.errors_converted(start.name):
        reader.check(start.path)
        layers = reader.layers(start.path)
        layer = start.layer or (layers[0] if layers else "")
        if layers and layer not in layers:
            raise CheckinError(
                f"{start.name} has no layer {layer!r} with points; there are {', '.join(layers)}."
            )
        con = connect()
        try:
            with _stream_layer(con, start.path, layer, _JUDGED_ROWS) as (columns, crs):
                check_width(start.name, len(columns.names))
                head = f"SELECT {columns.select} FROM given LIMIT {_JUDGED_ROWS}"
                run(con, f"CREATE TEMP TABLE head AS {head}", lambda _: start.check())
            rows = con.execute(f"SELECT {columns.cells} FROM head").fetchall()
        finally:
            con.close()
    several = len(layers) > 1
    layer_key = layer if start.layer or not several else ""
    return table_preview(
        start,
        Dialect(reader.key, "", has_header=True, layer=layer_key),
        columns.names,
        rows,
        crs if columns.fault else None,
        layers if several else (),
    )


def count_rows(path: Path, layer: str) -> int:
    """Return the number of rows of a table of an SQLite file."""
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ) as file:
        return int(file.execute(f"SELECT count(*) FROM {identifier(layer)}").fetchone()[0])


_FEATURES = re.compile(rb'"type"\s*:\s*"Feature(Collection)?"')


class GeoJsonReader(VectorReader):
    """Reader of GeoJSON, newline-delimited or not."""

    def can_read(self, head: bytes) -> float:
        """Return 0.9 if it begins with a feature or feature collection."""
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x1e")
        return 0.9 * (text.startswith(b"{") and _FEATURES.search(text) is not None)

    def check(self, path: Path) -> None:
        """Raise for a reference system that GDAL would fetch or open."""
        check_geojson(path)


GEOJSON = GeoJsonReader(
    "geojson", "GeoJSON", (".geojson", ".geojsonl", ".geojsons", ".ndjson", ".json")
)


_MAX_STEPS = 5_000
"""Maximum number of steps of 10,000 instructions in queries before rows are read."""

_NO_POINT = ("LineString", "Polygon", "Curve", "Surface", "CircularString", "TIN", "Triangle")


class GeoPackageReader(VectorReader):
    """Reader of GeoPackage."""

    def can_read(self, head: bytes) -> float:
        """Return whether it has the signature of SQLite."""
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
            listed = pyogrio().list_layers(named)
        plain = _plain_tables(path)
        layers = [(str(name), str(kind or "")) for name, kind in listed if str(name) in plain]
        points = tuple(name for name, kind in layers if not any(no in kind for no in _NO_POINT))
        if not points:
            there = ", ".join(f"{name} ({kind})" for name, kind in layers) or "none"
            raise CheckinError(
                f"{shown_name(path)} has no layer of points (its layers: {there}); save the points "
                "as a layer, or as CSV with longitude and latitude."
            )
        return points

    def check(self, path: Path) -> None:
        """Raise for views in place of tables and reference systems other than text."""
        _check_database(path)

    def rows(self, path: Path, layer: str) -> int:
        """Return the number of rows of a layer."""
        return count_rows(path, layer)


def _plain_tables(path: Path) -> set[str]:
    """Return the plain tables of a database: no views, no virtual tables."""
    with closing(_read_only(path)) as file:
        rows = file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' "
            "AND ltrim(sql) NOT LIKE 'CREATE VIRTUAL%'"
        )
        return {str(name) for (name,) in rows}


def _check_database(path: Path) -> None:
    """Raise for a GeoPackage that makes GDAL compute or open something else.

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
    """Return whether a reference system is well-known text or undefined."""
    text = definition.strip()
    return text.lower() in ("", "undefined") or is_wkt(text)


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a database read-only, with trusted schema off and a step limit."""
    file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    file.execute("PRAGMA trusted_schema = OFF")
    steps = iter(range(_MAX_STEPS))
    file.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    return file


def _is_geopackage(path: Path) -> bool:
    """Return whether the header or the table of contents marks a GeoPackage."""
    with path.open("rb") as file:
        head = file.read(72)
        return head[68:72] in (b"GPKG", b"GP10", b"GP11") or b"gpkg_contents" in file.read(1 << 16)


GEOPACKAGE = GeoPackageReader("geopackage", "GeoPackage", (".gpkg",))
