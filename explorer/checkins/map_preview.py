"""Approximate map of a file from a sample of its rows, shown while the file is loading.

Its numbers are estimates of unknown error and are never shown. It serves only for a picture,
labelled with the share of the file it is based on, until the full map is available.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from explorer import bounded
from explorer.checkins import cache
from explorer.checkins.database import check, connect, reachable, run
from explorer.checkins.errors import shown_name
from explorer.checkins.model import (
    Box,
    Dialect,
    FloatArray,
    IndexArray,
    IsCancelled,
    Mapping,
    Preview as Head,
)
from explorer.checkins.queries import (
    LONGITUDES,
    grid_cell,
    longitudes_of,
    positions,
    rows_inside,
)
from explorer.checkins.readers import get_reader
from explorer.checkins.readers.base import Plan, Portion, Sample, SampledReader
from explorer.checkins.workers import IN_PLACE, stream_from_worker

MEMORY = 400_000_000
"""Memory limit of the sample and its queries in bytes."""

FEWEST_USERS = 30
"""With fewer whole users a sample of rows is the better estimate."""

FINEST, COARSEST = 128, 4
"""Cells along a side of the map."""

USERS_A_CELL = 10
"""Average number of sampled users per cell."""


class MapPreview:
    """A growing sample of a file's rows, held in memory.

    Attributes
    ----------
    sample : Sample
        Kind of sample.
    share : float
        Of the file that has been read for them, 0…1.
    """

    def __init__(self, con: Any, mapping: Mapping, cancelled: IsCancelled | None) -> None:
        self._con, self._mapping, self._cancelled = con, mapping, cancelled
        self.sample, self.share = Sample.ROWS, 0.0
        image = ", image VARCHAR" if mapping.image is not None else ""
        self._run(
            "CREATE OR REPLACE TEMP TABLE looked_at "
            f"(user_id UBIGINT, lat DOUBLE, lon DOUBLE, weight DOUBLE{image})"
        )

    def add(self, portion: Portion) -> None:
        """Add the valid rows of a portion; duplicates are not searched."""
        self.sample, self.share = portion.sample, portion.share
        self._run(f"INSERT INTO looked_at {_points(portion, self._mapping)}")

    def fetch_from(self, row: int) -> dict[str, Any]:
        """Return the points from index `first` on, in the form of `take`."""
        return self._fetch(f"SELECT * FROM looked_at WHERE rowid >= {row}")

    def take(self, sample: Sample, share: float, points: dict[str, Any]) -> None:
        """Add points that a worker has read."""
        self.sample, self.share = sample, share
        self._con.register("points", points)
        try:
            self._run("INSERT INTO looked_at FROM points")
        finally:
            self._con.unregister("points")

    @property
    def users(self) -> int:
        """Number of users in the sample."""
        return int(self._fetch("SELECT count(DISTINCT user_id) AS n FROM looked_at")["n"][0])

    @property
    def extent(self) -> Box:
        """South, west, north, east of the sample."""
        south, north, *lon = self._con.execute(
            f"SELECT min(lat), max(lat), {LONGITUDES} FROM looked_at"
        ).fetchone()
        west, east = longitudes_of(lon, self._mapping.plane_there)
        return south, west, north, east

    def density(self, box: Box, columns: int, rows: int) -> IndexArray:
        """Return the number of sampled rows per cell; see `CheckinData.density`."""
        plane = self._mapping.plane_there
        where, values = rows_inside(box, None, None, plane)
        grid = np.zeros(rows * columns, dtype=np.uint32)
        counts = self._fetch(
            f"SELECT {grid_cell(box, columns, rows, plane)} AS cell, count(*)::UINTEGER AS n "
            f"FROM looked_at WHERE {where} GROUP BY cell",
            values,
        )
        grid[counts["cell"]] = counts["n"]
        return grid.reshape(rows, columns)

    def picture(self, box: Box) -> FloatArray | None:
        """Estimate the map of a box; each user distributes a mass of 1 over their cells.

        Its grid is the finest whose cells hold about `USERS_A_CELL` of the users on average.

        Returns
        -------
        ndarray of float64, shape (n, n), or None
            Shares, which add up to 1; row 0 south. None if no row is in the box.
        """
        plane = self._mapping.plane_there
        where, values = rows_inside(box, None, None, plane)
        if self._mapping.image is not None:  # the picture that is shown first
            where += " AND image = (SELECT min(image) FROM looked_at)"
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE visits AS SELECT user_id, (cell % {FINEST})::INTEGER "
            f"AS x, (cell // {FINEST})::INTEGER AS y, sum(weight) AS w FROM (SELECT *, "
            f"{grid_cell(box, FINEST, FINEST, plane)} AS cell FROM looked_at WHERE {where}) "
            "GROUP BY ALL",
            values,
        )
        sides = [FINEST >> k for k in range(FINEST.bit_length()) if FINEST >> k >= COARSEST]
        seen = self._fetch(
            "SELECT "
            + ", ".join(
                f"approx_count_distinct((user_id, x // {FINEST // n}, y // {FINEST // n})) AS n{n}"
                for n in sides
            )
            + " FROM visits"
        )
        if not seen[f"n{COARSEST}"][0]:
            return None
        fits = (n for n in sides if seen[f"n{n}"][0] >= USERS_A_CELL * n * n)
        side = next(fits, COARSEST)
        step = FINEST // side
        masses = self._fetch(
            f"SELECT y // {step} AS y, x // {step} AS x, sum(w / total) AS mass "
            "FROM visits JOIN (SELECT user_id, sum(w) AS total FROM visits GROUP BY user_id) "
            "USING (user_id) GROUP BY ALL"
        )
        grid = np.zeros((side, side))
        grid[masses["y"], masses["x"]] = masses["mass"] / masses["mass"].sum()
        return grid

    def _run(self, sql: str) -> None:
        run(self._con, sql, lambda _: check(self._cancelled))

    def _fetch(self, query: str, values: list[Any] | None = None) -> dict[str, Any]:
        check(self._cancelled)
        columns = self._con.execute(query, values or []).fetchnumpy()
        return {name: np.asarray(column) for name, column in columns.items()}


def _points(portion: Portion, mapping: Mapping) -> str:
    """Return a query of the valid points of a portion."""
    plane = mapping.plane_there
    rows = f"(SELECT * FROM ({portion.rows}) WHERE code = 0)"
    if plane is not None:
        rows = f"(SELECT {positions(plane)} FROM {rows})"
    image = ", image" if mapping.image is not None else ""
    user = "hash(user_id)"
    if mapping.unit == "row":
        user = "(SELECT count(*) FROM looked_at) + row_number() OVER ()"
    return f"SELECT {user}, lat, lon, weight{image} FROM {rows}"


def _report_looks(
    path: Path,
    head: Head,
    mapping: Mapping,
    dialect: Dialect,
    cancelled: IsCancelled,
    report: Callable[[tuple[bool, Sample, float, dict[str, Any]]], object],
) -> None:
    """Report previews from a worker: whether it restarted, sample type, share, new points."""
    last, sent = None, 0
    for look in map_previews(path, head, mapping, dialect, cancelled):
        anew = look is not last
        points = look.fetch_from(0 if anew else sent)
        sent = len(points["user_id"]) + (0 if anew else sent)
        report((anew, look.sample, look.share, points))
        last = look


def _previews_from_worker(
    path: Path, head: Head, mapping: Mapping, dialect: Dialect, cancelled: IsCancelled | None
) -> Iterator[MapPreview]:
    """Yield previews whose points a worker reads."""
    look = None
    with closing(connect(memory=MEMORY)) as con:
        for anew, sample, share, points in stream_from_worker(
            _report_looks, path, head, mapping, dialect, name=head.basename, cancelled=cancelled
        ):
            if anew or look is None:
                look = MapPreview(con, mapping, cancelled)
            look.take(sample, share, points)
            yield look


def map_previews(
    path: Path,
    head: Head,
    mapping: Mapping | None = None,
    dialect: Dialect | None = None,
    cancelled: IsCancelled | None = None,
) -> Iterator[MapPreview]:
    """Yield a preview soon, and again each time the share of the file read has doubled.

    Parameters
    ----------
    path : Path
    head : Preview
        Result of `sniff` for the file.
    mapping, dialect : Mapping, Dialect, optional
        As `open_checkins` takes them.
    cancelled : callable, optional
        Called every few milliseconds; True stops.

    Yields
    ------
    MapPreview
        The same one each time; nothing of a small file, or one whose reader reads all or nothing,
        or whose coordinates must be converted.

    Raises
    ------
    LoadCancelled
        If `cancelled` returns True. Other errors of the file are reported by the load.
    """
    mapping, dialect = mapping or head.mapping, dialect or head.dialect
    reader = get_reader(dialect.reader)
    if not bounded.in_worker() and dialect.reader != IN_PLACE:
        yield from _previews_from_worker(path, head, mapping, dialect, cancelled)
        return
    ready = not mapping.missing and (not mapping.planar or mapping.plane) and mapping.crs is None
    if not (ready and isinstance(reader, SampledReader)):
        return
    width = max(len(head.columns), *(column + 1 for column in mapping.columns))
    plan = Plan(shown_name(path), path, dialect, mapping, width, False, False)
    con = connect(memory=MEMORY)
    try:
        with cache.scratch() as folder, reachable(con, path) as source:
            plan = plan.at(source)
            look = MapPreview(con, mapping, cancelled)
            whole = mapping.unit is None
            for portion in reader.portions(con, plan, folder, whole, cancelled):
                look.add(portion)
                if portion.sample is Sample.USERS and look.users < FEWEST_USERS:
                    break
                yield look
            else:
                return
            look = MapPreview(con, mapping, cancelled)
            for portion in reader.portions(con, plan, folder, False, cancelled):
                look.add(portion)
                yield look
    finally:
        con.close()
