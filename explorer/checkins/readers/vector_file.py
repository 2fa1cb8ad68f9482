"""Layers of points in files of geographic programs, streamed by GDAL into the database as text."""

import contextlib
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from explorer.checkins.database import check, connect, identifier, plainly_named, run
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, IsCancelled, Preview
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    Beginning,
    Judge,
    Written,
    check_width,
    table_preview,
    write_table,
)
from explorer.checkins.readers.copied import OneOfSeveral, copied
from explorer.checkins.readers.extras import missing_library
from explorer.checkins.readers.gdal import pyogrio
from explorer.checkins.readers.places.geometry import TextColumns, known_system, text_columns
from explorer.checkins.readers.places.reference import EXTRA
from explorer.checkins.readers.plan import Plan
from explorer.checkins.rows import Tick

_JUDGED_ROWS = 2000


@contextlib.contextmanager
def _streamed(
    con: Any, path: Path, layer: str, together: int = 65_536
) -> Iterator[tuple[TextColumns, str]]:
    """Let the database see a layer as the table ``given``, once, so many rows at a time.

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
        warnings.simplefilter("ignore")  # about names of files, and about layers not asked for
        crs = facts["crs"] or ""
        con.register("given", stream)
        try:
            described = [
                (name, kind) for name, kind, *_ in con.execute("DESCRIBE given").fetchall()
            ]
            yield text_columns(described, known_system(crs) is None), crs
        finally:
            con.unregister("given")


def _copied(con: Any, path: Path, layer: str, tick: Tick) -> TextColumns:
    """Make the table ``copied`` of a layer: its rows as text, in order."""
    with _streamed(con, path, layer) as (columns, _):
        run(con, f"CREATE OR REPLACE TEMP TABLE copied AS SELECT {columns.select} FROM given", tick)
    return columns


def _texts(con: Any, columns: TextColumns, numbers: list[int]) -> dict[int, str]:
    """Return the cells, joined by commas, of the copied rows of these numbers (from 1)."""
    found = con.execute(
        f"SELECT rowid + 1, {columns.line} FROM copied "
        "WHERE rowid + 1 IN (SELECT unnest(?::BIGINT[]))",
        [numbers],
    )
    return dict(found.fetchall())


class VectorReader(OneOfSeveral):
    """Reads what GDAL reads, of one format."""

    def layers(self, path: Path) -> tuple[str, ...]:
        """Return the layers that may hold points; none if the format has no layers."""
        return ()

    def check(self, path: Path) -> None:
        """Refuse a file that makes GDAL open or compute what it should not.

        Raises
        ------
        CheckinError
        """

    def rows(self, path: Path, layer: str) -> int | None:
        """Return how many rows a layer has, if that is known without GDAL."""
        return None

    def preview(self, look: Beginning) -> Preview:
        """Guess columns and layer.

        Raises
        ------
        CheckinError
            If the library is missing, or the file is damaged or without points.
        """
        lacking = missing_library(
            f"{look.name} is {self.name}: reading it", EXTRA, "pyogrio", "pyarrow", "pyproj"
        )
        if lacking:
            raise CheckinError(f"{lacking}. Or save it as CSV with longitude and latitude.")
        state = look.path.stat()
        return _previewed(self, look, (look.size, state.st_mtime_ns, state.st_ino))

    @contextlib.contextmanager
    def explained(self, name: str) -> Iterator[None]:
        """Say of GDAL's faults what to do."""
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
                f"{name} is damaged, or no {self.name} after all. Fetch or write it again; no row "
                "of it was used."
            ) from fault

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, judge: Judge
    ) -> Written:
        """Write every row of the layer."""
        layer, preparing = plan.dialect.layer, work.stage("Preparing")
        with self.explained(plan.name):
            self.check(plan.path)
            columns = _copied(con, plan.path, layer, preparing)
            expected = self.rows(plan.path, layer)

        scan = write_table(con, plan, folder, work, judge, copied, columns.fault_of(plan.mapping))
        if expected not in (None, scan.lines):
            raise CheckinError(
                f"{plan.name}: of {expected:,} rows only {scan.lines:,} could be read. Repair or "
                "write the file again; no row of it was used."
            )
        return Written(scan, lambda numbers: _texts(con, columns, numbers))

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the cells, joined by commas, of the rows asked for."""
        self.check(path)
        columns = _copied(con, path, dialect.layer, lambda _: check(cancelled))
        try:
            for numbers in batches:
                check(cancelled)
                texts = _texts(con, columns, numbers)
                yield from (texts.get(number, "") for number in numbers)
        finally:
            con.execute("DROP TABLE IF EXISTS copied")


@cached(
    LRUCache(4),
    key=lambda reader, look, state: (reader.key, look.path, look.layer, state),
    lock=Lock(),
)
def _previewed(reader: VectorReader, look: Beginning, _state: tuple[int, ...]) -> Preview:
    """Look at a file; at one that has not changed only once, because GDAL may read all of it."""
    with reader.explained(look.name):
        reader.check(look.path)
        layers = reader.layers(look.path)
        layer = look.layer or (layers[0] if layers else "")
        if layers and layer not in layers:
            raise CheckinError(
                f"{look.name} has no layer {layer!r} with points; there are {', '.join(layers)}."
            )
        con = connect()
        try:
            with _streamed(con, look.path, layer, _JUDGED_ROWS) as (columns, crs):
                check_width(look.name, len(columns.names))
                head = f"SELECT {columns.select} FROM given LIMIT {_JUDGED_ROWS}"
                run(con, f"CREATE TEMP TABLE head AS {head}", lambda _: look.check())
            rows = con.execute(f"SELECT {columns.cells} FROM head").fetchall()
        finally:
            con.close()
    several = len(layers) > 1
    chosen = layer if look.layer or not several else ""
    return table_preview(
        look,
        Dialect(reader.key, "", has_header=True, layer=chosen),
        columns.names,
        rows,
        crs if columns.fault else None,
        layers if several else (),
    )


def count_rows(path: Path, layer: str) -> int:
    """Return how many rows a table of an SQLite file has."""
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ) as file:
        return int(file.execute(f"SELECT count(*) FROM {identifier(layer)}").fetchone()[0])
