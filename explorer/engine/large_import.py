"""Opens check-ins of any size: in memory, or as shards on disk where they exceed it.

An import is two steps through the executors: every file is split by the users' hashes, then every
shard is put in order. Each is safe to repeat, so that an import whose process was killed goes on
where it was; one that is cancelled leaves nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins import cache, open_checkins
from explorer.checkins.data import CheckinData, open_entry
from explorer.checkins.database import check, connect, quote, written_file
from explorer.checkins.errors import CheckinError, MappingNeeded
from explorer.checkins.loading import refuse_another_order, spelling_notes
from explorer.checkins.memory import database_bytes
from explorer.checkins.model import Dialect, LoadReport, Mapping, Preview, Progress, Reason
from explorer.checkins.multifile import PartRows, part_examples, part_reports, plans_for
from explorer.checkins.progress import LoadProgress
from explorer.checkins.queries import joined_ends, longitudes_of
from explorer.checkins.readers.base import Plan
from explorer.checkins.sharding import (
    DUPLICATES,
    MIN_BYTES_PER_ROW,
    ImportSize,
    estimated_rows,
    line_of,
    max_rows_in_memory,
    order_shard,
    part_folder,
    plan_import,
    plan_task,
    shard_folder,
    split_part,
)
from explorer.checkins.sources import (
    DataFiles,
    SniffedSource,
    SniffSettings,
    Source,
    check_readable,
    find_files,
    sniff_source,
)
from explorer.checkins.store import PARQUET, REJECTED, entry_metadata
from explorer.engine.executors.base import Executor
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.files import private_folder, write_whole
from explorer.geography.plane import Plane

IMPORT = "import-"
_BITS, _OWNER = "bits", "owner"
_SPLIT = 0.6
"""Share of the work."""


def open_any_size(
    source: Source,
    mapping: Mapping | None = None,
    *,
    dialect: Dialect | None = None,
    cache_dir: Path | None,
    use_cache: bool = True,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    known_synthetic: frozenset[str] = frozenset(),
    sniffed: SniffedSource | None = None,
    say: Callable[[ImportSize], None] = lambda _: None,
    memory: int | None = None,
    in_memory: int | None = None,
    shard_rows: int | None = None,
    executor: Callable[[Sequence[Path]], Executor | None] = lambda _: None,
) -> CheckinData:
    """Open check-ins, as shards on disk if they do not fit into memory.

    Parameters
    ----------
    source, mapping, dialect, cache_dir, use_cache, progress, cancelled, known_synthetic, sniffed
        As in `explorer.checkins.open_checkins`.
    say : callable
        Called with the import's requirements before it begins; may raise to stop.
    memory : int or None
        Bytes that the import may use in all; by default a share of free memory.
    in_memory : int
        Rows up to which a data set is opened at once; by default as many as memory surely holds.
    shard_rows : int or None
        About how many rows a shard has.
    executor : callable
        Returns what runs the import's steps, and stays open, of the files that it has to see; None
        stands for processes of this machine.

    Raises
    ------
    CheckinError, MappingNeeded, LoadCancelled
        As `open_checkins`; also if the disk has not enough room.
    """

    def at_once(sniffed: SniffedSource | None) -> CheckinData:
        return open_checkins(
            files,
            mapping,
            dialect=dialect,
            cache_dir=cache_dir,
            use_cache=use_cache,
            progress=progress,
            cancelled=cancelled,
            known_synthetic=known_synthetic,
            sniffed=sniffed,
        )

    memory = memory or database_bytes()
    most = max_rows_in_memory(memory) if in_memory is None else in_memory
    files = find_files(source, cancelled) if sniffed is None else sniffed.files
    if sum(check_readable(part.path) for part in files.parts) < MIN_BYTES_PER_ROW * most:
        return at_once(sniffed)
    sniffed = sniff_source(files, SniffSettings.of(mapping, dialect), cancelled, sniffed)
    preview = sniffed.preview
    found_dialect = dialect or preview.dialect
    rows = estimated_rows(files, found_dialect)
    columns = mapping or preview.mapping
    if rows <= most or columns.missing or columns.plane == "" or columns.image is not None:
        return at_once(sniffed)
    cache_folder = cache_dir if use_cache else None
    if cache_folder is not None:
        cache.prepare(cache_folder)
    place = cache_folder or Path(tempfile.gettempdir())
    pool = executor([*(part.path for part in files.parts), place])
    workers = None if pool is None else pool.workers
    size = plan_import(rows, found_dialect, memory, place, shard_rows, workers)
    work = _Import(
        files,
        preview,
        found_dialect,
        columns,
        mapping is None,
        size,
        cache_folder,
        progress,
        cancelled,
    )
    cached = work.known(known_synthetic)
    if cached is not None:
        return cached
    say(size)
    return work.run(pool, known_synthetic)


class _Import:
    """One import into a folder named by a hash of its input."""

    def __init__(
        self,
        files: DataFiles,
        preview: Preview,
        dialect: Dialect,
        mapping: Mapping,
        guessed: bool,
        size: ImportSize,
        place: Path | None,
        progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._files, self._preview, self._dialect = files, preview, dialect
        self._mapping, self._guessed, self._size, self._place = mapping, guessed, size, place
        self._progress, self._cancelled = progress, cancelled
        self._began = time.perf_counter()
        state = cache.source_key(*(part.path for part in files.parts))
        settings = [*mapping.settings, repr(dialect), "shards"]
        settings += files.settings
        self._key = cache.entry_key(state, settings)
        self._folder = Path()

    def known(self, known_synthetic: frozenset[str]) -> CheckinData | None:
        """Return the result of a previous import if it is complete."""
        entry = None if self._place is None else cache.find_entry(self._place, self._key)
        if entry is None:
            return None
        try:
            return open_entry(entry, self._files, known_synthetic)
        except Exception:  # a damaged entry is made anew, whatever is wrong with it
            cache.discard(entry)
            return None

    def run(self, executor: Executor | None, known_synthetic: frozenset[str]) -> CheckinData:
        """Split, sort and merge; finished steps of an earlier run are reused."""
        with ExitStack() as stack:
            return self._run(stack, executor, known_synthetic)

    def _run(
        self, stack: ExitStack, executor: Executor | None, known_synthetic: frozenset[str]
    ) -> CheckinData:
        if self._place is None:
            entry = cache.new_entry(None)
        else:
            folder = self._place / f"{IMPORT}{self._key}"
            private_folder(folder)
            if cache.lock_alone(stack.enter_context((folder / _OWNER).open("a"))):
                entry = cache.Entry(folder, lasting=True)
                self._size = _resumed_size(folder / _BITS, self._size)
            else:  # another process imports the same file: neither may touch the other's parts
                entry = cache.new_entry(self._place)
        self._folder = entry.folder
        own = EmbeddedExecutor(self._size.workers) if executor is None else None
        pool = executor or own
        assert pool is not None
        try:
            states = self._files.states()
            plans = self._plans()
            parts = self._each(pool, split_part, self._split_tasks(plans), 0.0, _SPLIT, "Sorting")
            shards = self._each(pool, order_shard, self._order_tasks(), _SPLIT, 1.0, "Ordering")
            report, sha256 = self._report(plans, parts, shards)
            if self._files.states() != states:
                raise CheckinError(
                    f"{self._files.name} was changed while it was read; open it again once it is "
                    "complete."
                )
            dialects = [plan.dialect for plan in plans]
            total = sum(part.path.stat().st_size for part in self._files.parts)
            facts = entry_metadata(
                report,
                sha256,
                self._mapping,
                self._dialect,
                self._files.name,
                dialects,
                total,
                states,
                self._preview.columns,
            )
            facts["shards"] = {
                "bits": self._size.bits,
                **_extremes(parts, self._mapping.plane_there),
            }
            for number in range(len(parts)):
                shutil.rmtree(part_folder(self._folder, number))
            entry.seal(facts, lambda _: check(self._cancelled))
            if self._place is not None:
                entry.keep(self._place, self._key)
            return open_entry(entry, self._files, known_synthetic)
        except BaseException:
            if own is not None:
                own.close()  # before their folder goes
            cache.discard(entry)
            raise
        finally:
            if own is not None:
                own.close()

    def _plans(self) -> list[Plan]:
        files, preview = self._files, self._preview
        plan = Plan(
            files.name,
            files.parts[0].path,
            self._dialect,
            self._mapping,
            len(preview.columns),
            duplicates=self._mapping.may_repeat,
            fingerprint=True,
        )
        return plans_for(plan, files, preview, lambda: check(self._cancelled))

    def _split_tasks(self, plans: list[Plan]) -> Iterable[dict[str, Any]]:
        shared = {
            "folder": str(self._folder),
            "first": plans[0].name,
            "bits": self._size.bits,
            "memory": self._size.memory,
            "guessed": self._guessed,
        }
        return [{**shared, "part": i, "plan": plan_task(plan)} for i, plan in enumerate(plans)]

    def _order_tasks(self) -> Iterable[dict[str, Any]]:
        shared = {
            "folder": str(self._folder),
            "parts": len(self._files.parts),
            "bits": self._size.bits,
            "mapping": self._mapping.stored(),
            "duplicates": self._mapping.may_repeat,
            "memory": self._size.memory,
        }
        return [{**shared, "shard": shard} for shard in range(1 << self._size.bits)]

    def _each(
        self,
        pool: Executor,
        function: Callable[[Any], Any],
        tasks: Iterable[dict[str, Any]],
        low: float,
        high: float,
        stage: str,
    ) -> list[dict[str, Any]]:
        """Return the result of a step for every task, in order."""
        tasks = list(tasks)
        result: list[Any] = [None] * len(tasks)
        self._tell(stage, low)
        results = pool.map(function, tasks, lambda: check(self._cancelled))
        for done, (number, facts) in enumerate(results, 1):
            result[number] = facts
            self._tell(stage, low + (high - low) * done / len(tasks))
        return result

    def _tell(self, stage: str, share: float) -> None:
        if self._progress is None:
            return
        spent, size = time.perf_counter() - self._began, self._preview.size
        left = spent * (1 - share) / share if share > 0.02 else self._size.seconds
        rows = round(share * self._size.rows)
        self._progress(Progress(stage, rows, round(share * size), size, left, share))

    def _report(
        self, plans: list[Plan], parts: list[dict[str, Any]], shards: list[dict[str, Any]]
    ) -> tuple[LoadReport, str]:
        """Account for every line, and write ``aside.parquet``."""
        folder, files = self._folder, self._files
        again = [np.load(shard_folder(folder, n) / DUPLICATES) for n in range(len(shards))]
        repeated = np.concatenate(again)
        rows, first = [], 0
        for facts in parts:
            rows.append(
                PartRows(
                    first,
                    facts["lines"],
                    facts["header"],
                    facts["blank"],
                    facts["continued"],
                    facts.get("before_header", 0),
                )
            )
            first += facts["lines"]
        con = connect()
        try:
            counts = self._store_aside(con, repeated, rows)
            valid = sum(shard["rows"] for shard in shards)
            notes = [
                (f"{part.name}: {note}" if files.together else note)
                for part, facts in zip(files.parts, parts, strict=True)
                for note in facts["notes"]
            ]
            naive, merged = (
                sum(facts.get(key, 0) for facts in parts) for key in ("naive_times", "merged_ids")
            )
            notes += spelling_notes(naive, merged, plans[0].mapping.zone)
            examples = part_examples(con, folder, plans, rows, _quiet(self._cancelled))
            report = LoadReport(
                first,
                sum(r.header for r in rows),
                sum(r.blank for r in rows),
                valid,
                counts,
                examples,
                tuple(notes),
                sum(r.continued for r in rows),
                time.perf_counter() - self._began,
                part_reports(con, folder, files, rows),
                sum(r.before_header for r in rows),
                naive,
                merged,
            )
        finally:
            con.close()
        refuse_another_order(files.name, report, self._preview)
        if not valid:
            raise MappingNeeded(
                f"{files.name}: none of its rows could be kept; check which column holds what.",
                self._preview,
            )
        if report.accounted != report.physical_lines:
            raise CheckinError(
                f"{files.name}: {report.physical_lines} lines, but {report.accounted} accounted "
                "for; convert the files to plain UTF-8 text with one row a line."
            )
        return report, files.fingerprint([facts["fingerprint"] for facts in parts])

    def _store_aside(self, con: Any, repeated: Any, rows: list[PartRows]) -> dict[Reason, int]:
        """Write line numbers and codes of rejected rows, part by part."""
        places = []
        for number, part in enumerate(rows):
            place = part_folder(self._folder, number)
            lines, codes = np.load(place / "lines.npy"), np.load(place / "codes.npy")
            own = repeated[repeated[:, 0] == number, 1]
            more = line_of(own, np.load(place / "steps.npy"), np.load(place / "shift.npy"))
            lines = np.concatenate([lines, more])
            twice = np.full(len(more), Reason.DUPLICATE.code, np.uint8)
            codes = np.concatenate([codes, twice])
            order = np.argsort(lines, kind="stable")
            given = {"line": part.first + lines[order], "code": codes[order]}
            con.register("given", given)
            places.append(place / "aside.parquet")
            con.execute(f"COPY (FROM given) TO {written_file(places[-1])} {PARQUET}")
            con.unregister("given")
        together = ", ".join(quote(str(place)) for place in places)
        con.execute(
            f"COPY (FROM read_parquet([{together}], hive_partitioning=false)) TO "
            f"{written_file(self._folder / REJECTED)} {PARQUET}"
        )
        result = con.execute(
            f"SELECT code, count(*) FROM read_parquet([{together}]) GROUP BY code ORDER BY code"
        ).fetchall()
        return {Reason.of(code): n for code, n in result}


def _resumed_size(file: Path, size: ImportSize) -> ImportSize:
    """Return a size with the shard count of an import that was begun with other memory."""
    if file.exists():
        return replace(size, bits=int(file.read_text()))
    write_whole(file, str(size.bits).encode())
    return size


def _quiet(cancelled: Callable[[], bool] | None) -> LoadProgress:
    return LoadProgress(0, None, cancelled, needs_copy=False)


def _extremes(parts: list[dict[str, Any]], plane: Plane | None) -> dict[str, Any]:
    """Return the box around all rows, and the first and last instant."""
    ends = [facts["ends"] for facts in parts if facts["ends"]]
    souths, norths, *lon = zip(*ends, strict=True)
    west, east = longitudes_of(joined_ends(zip(*lon, strict=True)), plane)
    times = [facts["times"] for facts in parts if facts["times"]]

    def instant(microseconds: int) -> str:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    span = [min(low for low, _ in times), max(high for _, high in times)] if times else None
    return {
        "extent": [min(souths), west, max(norths), east],
        "times": None if span is None else [instant(t) for t in span],
    }
