"""A question about check-ins that is asked once: the rows of one region, straight from the files.

Nothing is imported. Rows are filtered by the region as they are read, and only those inside are
judged, compared with each other and counted, so that a file larger than memory takes about as long
as one query over it. What lies outside is not looked at line by line: nothing is said of it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.checkins import cache
from explorer.checkins.apart import apart, needs_worker
from explorer.checkins.cache_entry import describe
from explorer.checkins.data import CheckinData
from explorer.checkins.database import (
    connect,
    limit_memory,
)
from explorer.checkins.errors import CheckinError
from explorer.checkins.loading import checked, refuse_questions
from explorer.checkins.memory import database_bytes, out_of_memory, spill_bytes
from explorer.checkins.model import (
    Box,
    Dialect,
    IsCancelled,
    LoadReport,
    Mapping,
    OnProgress,
    Preview,
    Reason,
)
from explorer.checkins.parts.files import DataFiles, Source, find_files, sniff_files
from explorer.checkins.parts.part_rows import plans_for
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.detect import check_readable
from explorer.checkins.readers.places.reference import taught
from explorer.checkins.readers.plan import Plan
from explorer.checkins.readers.streams import CHUNK
from explorer.checkins.shards.once_rows import Reading, RowsInside, sql_inside
from explorer.checkins.shards.order import LAYOUT, USERS, repeated, shard_folder
from explorer.user_rows import TURN, Edges

_INTERPRETER = 300_000_000
"""Bytes of a worker that has imported all that it needs, beside the database and its arrays."""

ONCE = (
    "Asked once: only rows in the region were read and checked for duplicates. The others were not "
    "checked line by line, so that none of them is counted as rejected, and users are those in the "
    "region."
)


def open_once(
    source: Source,
    box: Box,
    start: str | None = None,
    end: str | None = None,
    mapping: Mapping | None = None,
    *,
    dialect: Dialect | None = None,
    timed: bool = False,
    fingerprint: bool = False,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
    memory: int | None = None,
) -> CheckinData:
    """Open the check-ins of one region and time range, without reading the others.

    Parameters
    ----------
    source, mapping, dialect, progress, cancelled
        As in `explorer.checkins.open_checkins`.
    box : (south, west, north, east)
        Degrees; closed.
    start, end : str or None
        ISO 8601 instants; rows with start ≤ time < end are read.
    timed : bool
        Whether times will be asked for; else they are read only where duplicates need them.
    fingerprint : bool
        Whether to take the sha256, for which every byte is read.
    memory : int or None
        Bytes that the database may use; by default a share of what is free.

    Returns
    -------
    CheckinData
        Which answers about this region and time range alone. Its users and rows are those inside.

    Raises
    ------
    CheckinError, MappingNeeded, LoadCancelled
        As `open_checkins`; also if the region has more rows than memory holds.
    """
    files = find_files(source, cancelled)
    encoding = mapping.encoding if mapping is not None else None
    preview = sniff_files(
        files, None, encoding, cancelled, unpack=dialect is not None and dialect.unpack
    )
    if mapping is None:
        refuse_questions(preview)
    plan = Plan(
        files.name,
        files.parts[0].path,
        dialect or preview.dialect,
        mapping or preview.mapping,
        len(preview.columns),
        duplicates=True,
        fingerprint=fingerprint,
        text_ids=True,
    )
    plan = checked(plan, preview)
    if plan.mapping.planar:
        raise CheckinError(f"{files.name}: what lies in a plane can't be asked for once; open it.")
    work = LoadProgress(preview.size, progress, cancelled, needs_copy=False)
    entry = cache.new_entry(None)
    try:
        asked = _Asked(files, preview, plan, box, (start, end), timed)
        memory = memory or database_bytes()
        if needs_worker(plan.dialect):
            apart(
                _fill_apart,
                asked,
                entry.folder,
                memory,
                name=files.name,
                cancelled=cancelled,
                memory=2 * memory + _INTERPRETER,
                report=work.relay,
            )
        else:
            _Question(asked, work).fill(entry, memory)
        return CheckinData.from_entry(entry, files, frozenset())
    except BaseException:
        cache.discard(entry)
        raise


@dataclass(frozen=True)
class _Asked:
    """What is read, and how: the region and time range, and whether times are needed."""

    files: DataFiles
    preview: Preview
    plan: Plan
    box: Box
    times: tuple[str | None, str | None]
    timed: bool


def _fill_apart(
    asked: _Asked, folder: Path, database: int, cancelled: IsCancelled, report: OnProgress
) -> None:
    """Fill an entry in a worker."""
    work = LoadProgress(asked.preview.size, report, cancelled, needs_copy=False)
    entry = cache.Entry(folder, lasting=True)
    try:
        _Question(asked, work).fill(entry, database)
    finally:
        entry.close()


class _Question:
    """Reads the rows of one region and time range into an entry."""

    def __init__(self, asked: _Asked, work: LoadProgress) -> None:
        self._asked, self._work = asked, work
        self._has_times = asked.plan.mapping.time is not None
        limited = asked.times != (None, None)
        if limited and not self._has_times:
            raise ValueError(f"{asked.files.name} has no times; choose no time range")
        self._timed = asked.timed or limited
        self._inside = sql_inside(Edges.of(asked.box, turn=TURN), *asked.times)

    def fill(self, entry: cache.Entry, memory: int) -> None:
        """Read the rows, and store them as one shard."""
        import duckdb

        asked, work, folder = self._asked, self._work, entry.folder
        plan, files = asked.plan, asked.files
        states, size = files.states(), sum(check_readable(part.path) for part in files.parts)
        spill = folder / "spill"
        con = connect(spill, memory)
        limit_memory(con, memory, spill_bytes(folder))
        try:
            with taught(con, plan.mapping.crs):
                plans = plans_for(plan, files, asked.preview, work.check)
                reading = Reading(con, plans, folder, asked.box, self._inside, work, memory)
                rows = self._read(reading)
            shard = shard_folder(folder, 0)
            shard.mkdir()
            reading.store_names(rows.names, shard / USERS)
        except duckdb.OutOfMemoryException as fault:
            said = out_of_memory(plan.name, str(fault), work.doing, memory)
            raise CheckinError(said) from fault
        finally:
            con.close()
        rows.layout().save(shard / LAYOUT)
        fingerprint = files.fingerprint([_digest(one, work) for one in plans])
        if files.states() != states:
            raise CheckinError(
                f"{plan.name} was changed while it was read; ask once it is complete."
            )
        again = int(np.count_nonzero(rows.again))
        kept = len(rows.again) - again
        report = LoadReport(
            kept + again,
            0,
            0,
            kept,
            {Reason.DUPLICATE: again} if again else {},
            {},
            (ONCE,),
            seconds=work.seconds,
        )
        dialects = [one.dialect for one in plans]
        facts = describe(
            report,
            fingerprint,
            plan.mapping,
            plan.dialect,
            files,
            dialects,
            size,
            states,
            asked.preview.columns,
        )
        facts["shards"] = {"bits": 0, "extent": list(asked.box), "times": rows.extremes}
        facts["once"] = [list(asked.box), *asked.times]
        entry.seal(facts, work.stage("Storing"))

    def _read(self, reading: Reading) -> RowsInside:
        """Return the rows inside; times are read only if they matter."""
        if not self._asked.plan.mapping.may_repeat:
            return reading.rows(timed=self._has_times and self._timed)
        if not self._timed and reading.good_times and not reading.probe():
            rows = reading.rows(timed=False)
            rows.again = repeated(*rows.facts)
            if not rows.again.any():  # nobody was twice at one place, still less at the same time
                return rows
        rows = reading.rows(timed=True)
        rows.again = repeated(*rows.facts)
        return rows


def _digest(plan: Plan, work: LoadProgress) -> str:
    """Return a file's sha256; empty if it is not wanted."""
    if not plan.fingerprint:
        return ""
    digest = hashlib.sha256()
    with plan.path.open("rb") as file:
        while chunk := file.read(CHUNK):
            work.check()
            digest.update(chunk)
    return digest.hexdigest()
