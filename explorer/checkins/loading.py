"""Loads check-in files: scan, read, validate, find duplicates, store.

Measured: about as fast as `pandas.read_csv`, with a fraction of its memory.

1. One pass over the lines counts them, computes the sha256 and finds all lines unsafe for a CSV
   reader; a copy without them is written only if there are any (or the file is compressed, quoted
   or not UTF-8).
2. DuckDB reads everything as text, in file order, and writes typed rows with a validation code to
   the Parquet file that all queries use; the pass of step 1 runs concurrently. Integer user ids
   are stored as numbers.
3. Duplicates are found among equal 64-bit hashes and then compared in full.
4. Users are listed in order. Only for text ids the rows are rewritten, with numbers.

The line of a row is its number in the Parquet file plus the number of earlier lines that did not
reach the reader. Every load verifies: physical lines = header + lines before it + blank + rejected
+ continued + kept.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from explorer import __version__
from explorer.checkins import cache
from explorer.checkins.data import CheckinData, open_entry
from explorer.checkins.database import (
    connect,
    finds_exactly,
    is_plain,
    limit_memory,
    reachable,
    streaming_bytes,
)
from explorer.checkins.errors import CheckinError, LoadCancelled, MappingNeeded, printable
from explorer.checkins.memory import database_bytes, out_of_memory, spill_bytes
from explorer.checkins.model import (
    Dialect,
    IsCancelled,
    LoadReport,
    Mapping,
    OnProgress,
    Preview,
    Progress,
    Question,
    Reason,
)
from explorer.checkins.multifile import read_files
from explorer.checkins.parsing.crs import accuracy, crs_function, describe_crs, with_system
from explorer.checkins.parsing.encodings import shown_encoding
from explorer.checkins.parsing.guess_columns import mapping_problem
from explorer.checkins.parsing.quoted import split_quoted
from explorer.checkins.parsing.times import RULE, check_format, zone_name
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import HeadStatistics, Plan
from explorer.checkins.sources import (
    DataFiles,
    SniffedSource,
    SniffSettings,
    Source,
    check_readable,
    find_files,
    sniff_source,
)
from explorer.checkins.store import (
    DUPLICATES,
    ROWS,
    count,
    count_spellings,
    entry_metadata,
    find_duplicates,
    no_duplicates,
    number_users,
    store_rejected,
)
from explorer.checkins.workers import needs_worker, run_in_worker


def open_checkins(
    source: Source | DataFiles,
    mapping: Mapping | None = None,
    *,
    dialect: Dialect | None = None,
    cache_dir: Path | None,
    use_cache: bool = True,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
    detect_duplicates: bool = True,
    fingerprint: bool = True,
    known_synthetic: frozenset[str] = frozenset(),
    sniffed: SniffedSource | None = None,
) -> CheckinData:
    """Open a check-in file, or several as one data set, using the cache.

    Parameters
    ----------
    source : path, or sequence of paths
        A file in a format of one of the `readers`, a folder of such, or several. Of several,
        columns are those of the first.
    mapping : Mapping or None
        Which column holds what; None uses the guess of `sniff`.
    dialect : Dialect or None
        How text turns into fields; None uses what `sniff` saw.
    cache_dir : Path or None
        Folder of the cache; None stores validated rows in a temporary folder until `close`.
    use_cache : bool
        False reads the file again and caches nothing. Entries in `cache_dir` whose contents differ
        from the file's are removed.
    progress : callable or None
        Called with `Progress` in the caller's thread, at most 20 times a second.
    cancelled : callable or None
        Called about every 10 ms; True stops the load within about 50 ms.
    detect_duplicates : bool
        Whether rows that repeat an earlier one are rejected.
    fingerprint : bool
        Whether to take the file's sha256. Without it the data can't be named in a recipe.
    known_synthetic : frozenset of str
        sha256 of files known to be synthetic (the bundled samples).
    sniffed : SniffedSource or None
        Result of `sniff_source` for this source. The file is inspected again only if the settings
        of `mapping` and `dialect` are others.

    Returns
    -------
    CheckinData

    Raises
    ------
    CheckinError
        If the file can't be used; the message names file, fault and remedy.
    UnpackNeeded
        If it unpacks to far more than check-ins do, and the dialect does not say that it may.
    MappingNeeded
        If needed columns can't be detected, or over half of the first 10,000 rows fail; carries the
        preview for a mapping step.
    LoadCancelled
        If `cancelled` returns True; nothing is left behind.
    """
    asked = ""
    if sniffed is None and cache_dir is not None and use_cache:
        source = source if isinstance(source, DataFiles) else find_files(source, cancelled)
        with suppress(OSError):  # reported when the file is inspected
            state = cache.source_key(*(part.path for part in source.parts))
            asked = _request_key(state, source, mapping, dialect, detect_duplicates)
            found = cache.find_asked(cache_dir, state, asked)
            if found:
                size = sum(part.path.stat().st_size for part in source.parts)
                work = LoadProgress(size, progress, cancelled, needs_copy=False)
                known = _from_cache(cache_dir, found, source, fingerprint, work, known_synthetic)
                if known is not None:
                    return known
    sniffed = sniff_source(source, SniffSettings.of(mapping, dialect), cancelled, sniffed)
    files, preview = sniffed.files, sniffed.preview
    decimal = mapping.decimal if mapping is not None else None
    if mapping is None:
        refuse_questions(preview)
    else:
        mapping = _with_canonical_zone(files.name, mapping)
    dialect = dialect or preview.dialect
    plan = Plan(
        files.name,
        files.parts[0].path,
        replace(dialect, decimal=decimal or dialect.decimal),
        mapping or preview.mapping,
        len(preview.columns),
        detect_duplicates,
        fingerprint,
    )
    work = LoadProgress(preview.size, progress, cancelled, plan.dialect.needs_copy)
    state = ""
    if cache_dir is not None:
        try:
            state = cache.source_key(*(part.path for part in files.parts))
        except OSError as fault:
            raise CheckinError(f"{plan.name} can't be read ({fault.strerror or fault}).") from None
    mapping_text, *later = plan.mapping.settings
    settings = [mapping_text, repr(plan.dialect), detect_duplicates, *later]
    if plan.dialect.layer:
        settings.append(plan.dialect.layer)
    key = cache.entry_key(state, settings + files.settings)
    if cache_dir is not None and use_cache:
        known = _from_cache(cache_dir, key, files, fingerprint, work, known_synthetic)
        if known is not None:
            return known
    load = _Load(check_plan(plan, preview), files, preview, work, asked)
    return load.run(cache_dir, state, key if use_cache else "", known_synthetic)


def refuse_questions(preview: Preview, given: Collection[str] = ()) -> None:
    """Raise if a preview has questions that are not answered.

    Parameters
    ----------
    preview : Preview
    given : collection of str
        Fields of the mapping that are known already.

    Raises
    ------
    MappingNeeded
    """
    questions = [one.sentence for one in preview.questions if not one.answered_by(given)]
    if questions:
        raise MappingNeeded(f"{preview.basename}: {' '.join(questions)}", preview)


def _with_canonical_zone(name: str, mapping: Mapping) -> Mapping:
    """Return a mapping with its time zone in canonical spelling.

    Raises
    ------
    CheckinError
        If there is no such zone, or its times are in a format that no time can be read with.
    """
    try:
        check_format(mapping.time_format)
    except ValueError as error:
        raise CheckinError(f"{name}: {error}.") from None
    return mapping if mapping.zone is None else replace(mapping, zone=zone_name(mapping.zone))


def _request_key(
    state: str,
    files: DataFiles,
    mapping: Mapping | None,
    dialect: Dialect | None,
    detect_duplicates: bool,
) -> str:
    """Return the key of a request to open files, which are not inspected for it.

    The same version makes the same guesses about the same files, so that an entry made for such a
    request answers it again.
    """
    columns = None if mapping is None else mapping.settings
    settings = [__version__, columns, repr(dialect), detect_duplicates]
    if dialect is not None:
        settings.append(dialect.layer)
    return cache.entry_key(state, settings + files.settings)


def _from_cache(
    cache_dir: Path,
    key: str,
    files: DataFiles,
    fingerprint: bool,
    work: LoadProgress,
    known_synthetic: frozenset[str],
) -> CheckinData | None:
    """Return the cached check-ins of a file; None if there are none or they are damaged."""
    entry = cache.find_entry(cache_dir, key)
    if entry is None:
        return None
    try:
        entry.verify(work.checking)
        data = open_entry(entry, files, known_synthetic)
    except LoadCancelled:
        entry.close()
        raise
    except Exception:  # a damaged entry is computed again, whatever the error
        cache.discard(entry)
        return None
    if data.fingerprint or not fingerprint:
        return data
    data.close()
    return None


def check_plan(plan: Plan, preview: Preview) -> Plan:
    """Validate a plan against the preview and return it completed."""
    mapping, width = plan.mapping, plan.width
    if preview.layers and not plan.dialect.layer:
        raise MappingNeeded(
            f"{plan.name} has several tables: {', '.join(preview.layers)}; say which one.", preview
        )
    if mapping.unit is not None and mapping.user is not None:
        raise CheckinError(
            f"{plan.name}: the privacy unit {mapping.unit!r} is for files without a user column, "
            f"but column {mapping.user + 1} is one; choose the unit user, or no user column."
        )
    if mapping.missing:
        raise MappingNeeded(
            f"{plan.name}: no column is known to hold {', '.join(mapping.missing)}; "
            "say which column holds what.",
            preview,
        )
    if mapping.planar and not mapping.plane:
        raise MappingNeeded(
            f"{plan.name} has x and y and no degrees: declare which range they have, by a width "
            "and a height or those of the picture they lie in. It is not taken from the data, "
            "because it would reveal something about them.",
            preview,
        )
    own = width - preview.added
    if max(mapping.lat or 0, mapping.lon or 0) >= own < width:
        raise CheckinError(
            f"{plan.name}: positions can't be read from the names of folders; choose other columns."
        )
    plan = replace(plan, mapping=with_system(plan.name, mapping, preview))
    last = max(mapping.columns) + 1
    if last > width and plan.dialect == preview.dialect:
        raise CheckinError(
            f"{plan.name}: there is no column {last}; lines have {width} fields; "
            f"choose columns 1…{width}."
        )
    return replace(plan, width=max(width, last))


class _Load:
    """Reads the files of one data set into a cache entry."""

    def __init__(
        self,
        plan: Plan,
        files: DataFiles,
        preview: Preview,
        work: LoadProgress,
        asked: str = "",
    ) -> None:
        self._plan = plan
        self._files = files
        self.dialects: tuple[Dialect, ...] = (plan.dialect,)
        self._preview = preview
        self._work = work
        self._asked = asked
        self._allowed = 0

    def run(
        self, cache_dir: Path | None, source: str, key: str, known_synthetic: frozenset[str]
    ) -> CheckinData:
        """Read the files and open the result; the entry is cached under the key, if given."""
        plan, work = self._plan, self._work
        files = self._files
        size = sum(check_readable(part.path) for part in files.parts)
        state = files.states()
        entry = _new_entry(cache_dir if key else None)
        try:
            report, sha256 = self.fill(entry.folder)
            work.check()
            self._refuse_nothing(report)
            if files.states() != state:
                raise CheckinError(
                    f"{plan.name} was changed while it was read; open it again once it is complete."
                )
            if cache_dir is not None and sha256 and cache.drop_changed(cache_dir, source, sha256):
                report = replace(report, notes=(*report.notes, CHANGED))
            entry.file("lines.txt").unlink(missing_ok=True)
            shutil.rmtree(entry.file(_SPILL), ignore_errors=True)
            facts = entry_metadata(
                report,
                sha256,
                plan.mapping,
                plan.dialect,
                files.name,
                self.dialects,
                size,
                state,
                self._preview.columns,
            )
            if self._asked:
                facts["asked"] = self._asked
            entry.seal(facts, work.stage("Storing"))
            if cache_dir is not None and entry.folder.parent == cache_dir:
                entry.keep(cache_dir, key)
            return open_entry(entry, files, known_synthetic)
        except BaseException as fault:
            cache.discard(entry)
            if entry.folder.parent == cache_dir and disk_full(fault):
                # store rows in the folder for temporary files, as without a cache
                return self.run(None, source, "", known_synthetic)
            error = self.as_checkin_error(fault)
            if error is not None:
                raise error from fault
            raise

    def fill(self, folder: Path) -> tuple[LoadReport, str]:
        """Write the files of an entry; return the report and the sha256."""
        plan = self._plan
        if needs_worker(plan.dialect):
            report, sha256, self.dialects = run_in_worker(
                _fill_in_worker,
                plan,
                self._files,
                self._preview,
                folder,
                name=plan.name,
                cancelled=self._work.cancelled,
                report=self._work.relay,
                progress=_advance,
            )
            return report, sha256
        con = connect(folder / _SPILL)
        try:
            with reachable(con, plan.path) as path:
                return self._fill(con, plan.at(path), folder)
        finally:
            con.close()

    def _fill(self, con: Any, plan: Plan, folder: Path) -> tuple[LoadReport, str]:
        work, crs = self._work, plan.mapping.crs
        finishing = (work.stage("Finding duplicates"), work.stage("Storing"))
        duplicates = plan.duplicates and plan.mapping.may_repeat
        with crs_function(con, crs):
            read = read_files(con, plan, self._files, self._preview, folder, work, self._check_head)
        scan, self.dialects = read.scan, read.dialects

        def sorted_by(step: Callable[[], Any]) -> Any:
            """Do what sorts or compares; where little memory does not suffice, with much."""
            try:
                return step()
            except Exception as fault:
                if self._allowed or not _lacks_memory(fault):
                    raise
            self._allowed = limit_memory(con, database_bytes(), spill_bytes(folder))
            return step()

        if duplicates:
            sorted_by(lambda: find_duplicates(con, folder, finishing[0]))
        else:
            no_duplicates(con, folder)
        naive, merged = sorted_by(lambda: count_spellings(con, folder))
        sorted_by(lambda: number_users(con, folder, finishing[1]))
        rejected = sorted_by(lambda: store_rejected(con, folder, scan, finishing[1]))
        valid = count(con, folder / ROWS, "code = 0") - count(con, folder / DUPLICATES)
        notes = list(scan.damage.notes)
        for encoding in dict.fromkeys(dialect.encoding for dialect in read.dialects):
            if encoding != "utf-8":
                notes.append(f"The text is {shown_encoding(encoding)}.")
        if self._files.left_out:
            some = ", ".join(self._files.left_out[:5]) + " …" * (len(self._files.left_out) > 5)
            notes.append(f"Files that are empty or no check-ins were left out: {some}.")
        notes += spelling_notes(naive, merged, plan.mapping.zone)
        if crs:
            notes.append(
                f"Coordinates were converted from {describe_crs(crs)} to WGS 84, {accuracy(crs)}."
            )
        if not duplicates:
            notes.append("Nothing was checked for duplicates.")
        report = LoadReport(
            scan.lines,
            len(scan.names),
            len(scan.blank),
            valid,
            rejected,
            read.examples(),
            tuple(notes),
            len(scan.joined),
            work.seconds,
            read.reports(),
            len(scan.before),
            naive,
            merged,
        )
        if report.accounted != report.physical_lines:
            raise CheckinError(
                f"{plan.name}: {scan.lines} lines, but {report.accounted} accounted for "
                f"({valid} kept, {report.total_rejected} rejected, {report.blank} blank, "
                f"{report.continued} continued); convert the file to plain UTF-8 text with one row "
                "a line."
            )
        return report, read.fingerprint

    def _check_head(self, statistics: HeadStatistics) -> None:
        """Raise `MappingNeeded` if the mapping was guessed and most of the first rows fail."""
        plan = self._plan
        if statistics.share <= 0.5 or plan.mapping != self._preview.mapping:
            return
        failing = statistics.failing
        why = mapping_problem(self._preview, plan.mapping, failing)
        if not why:
            why = f" ({max(failing, key=failing.__getitem__).describe(plan.mapping)})"
        raise MappingNeeded(
            f"{plan.name}: {statistics.share:.0%} of the first rows can't be read with these "
            f"settings{why}.",
            self._preview,
        )

    def _refuse_nothing(self, report: LoadReport) -> None:
        refuse_another_order(self._plan.name, report, self._preview)
        if report.kept:
            return
        invalid = report.rejected.get(Reason.INVALID_BYTES, 0)
        if 2 * invalid > report.total_rejected:
            encoding = shown_encoding(self._plan.dialect.encoding)
            question = Question(
                "encoding",
                "In which encoding is the text?",
                f"Its rows are not valid {encoding}: choose another encoding.",
                ("encoding",),
                (),
                None,
            )
            raise MappingNeeded(
                f"{self._plan.name}: {question.sentence}",
                replace(self._preview, questions=(question,)),
            )
        reasons = "; ".join(
            f"{n} × {r.describe(self._plan.mapping)}" for r, n in report.rejected.items()
        )
        why = mapping_problem(self._preview, self._plan.mapping, report.rejected)
        raise MappingNeeded(
            f"{self._plan.name}: none of its rows could be kept"
            + (
                f" ({reasons}){why}."
                if reasons
                else ": it has no rows; choose a file with check-ins."
            ),
            self._preview,
        )

    def as_checkin_error(self, fault: BaseException) -> CheckinError | None:
        """Return the error to raise for a system failure; None for other exceptions."""
        name, doing = self._plan.name, self._work.doing
        message = " ".join(str(fault).split())
        if _lacks_memory(fault):
            allowed = self._allowed or streaming_bytes()
            return CheckinError(out_of_memory(name, message, doing, allowed))
        if isinstance(fault, OSError):
            reason = fault.strerror or message
        elif type(fault).__module__ == "_duckdb":
            reason = message[:300]
        else:
            return None
        return CheckinError(
            f"{name} could not be read, or its rows could not be stored ({reason}); "
            "make sure that it is complete and that there is room on the disk."
        )


def refuse_another_order(name: str, report: LoadReport, preview: Preview) -> None:
    """Raise if a rejected line names the columns in another order than the header.

    The rows below it would be read wrongly: tables have been joined without a look at their
    columns. The first lines of each reason are looked at.

    Raises
    ------
    CheckinError
    """
    names = [" ".join(column.split()) for column in preview.columns]
    for example in chain.from_iterable(report.examples.values()):
        fields = split_quoted(example.text, preview.delimiter or ",") or []
        found = [" ".join(field.split()) for field in fields]
        if preview.has_header and found != names and sorted(found) == sorted(names):
            raise CheckinError(
                f"{example.part or name}: line {example.line:,} names the columns in another "
                f"order, “{printable(example.text[:60])}”. Split the file there, write the "
                "columns of its parts in one order, and open them together."
            )


def _fill_in_worker(
    plan: Plan,
    files: DataFiles,
    preview: Preview,
    folder: Path,
    cancelled: IsCancelled,
    report: OnProgress,
) -> tuple[LoadReport, str, tuple[Dialect, ...]]:
    """Run `_Load.fill` in a worker; return also the dialect of each file."""
    work = LoadProgress(preview.size, report, cancelled, plan.dialect.needs_copy)
    load = _Load(plan, files, preview, work)
    try:
        result, sha256 = load.fill(folder)
    except Exception as fault:
        error = load.as_checkin_error(fault)
        if error is not None:
            raise error from fault
        raise
    return result, sha256, load.dialects


def _advance(progress: Progress) -> tuple[object, ...]:
    """Return the fields of a report that change when a load makes progress."""
    return progress.stage, progress.rows, progress.bytes_done, progress.fraction


_SPILL = "spill"
"""Folder of an entry for spilled data of its database."""

CHANGED = (
    "The file has been changed since it was opened last, although its size and time are the same; "
    "what had been kept of it was dropped."
)


def spelling_notes(naive: int, merged: int, zone: str | None) -> list[str]:
    """Return the report's notes on times without offset and ids with several spellings."""
    notes = []
    if naive:
        times = f"{naive:,} times state no offset from UTC: they are taken as those of "
        notes.append(
            f"{times}{zone}. {RULE}"
            if zone
            else f"{times}UTC. Choose the file's time zone if they are those of another one."
        )
    if merged:
        notes.append(
            f"{merged:,} ids differ from another one only in white space around them, in "
            "characters without width or in how accents are encoded, and were merged with it."
        )
    return notes


def disk_full(fault: BaseException) -> bool:
    """Return whether a write failed because the disk or a quota is full."""
    if isinstance(fault, OSError):
        return fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
    message = str(fault)
    return type(fault).__module__ == "_duckdb" and any(
        os.strerror(number) in message for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    )


def _lacks_memory(fault: BaseException) -> bool:
    return isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryException"


def _new_entry(cache_dir: Path | None) -> cache.Entry:
    """Create an entry whose path the database can use.

    A cache that can't be written, or is called what a database can't spell, is no reason not to
    open a file: then the entry is a temporary one.
    """
    why: object = ""
    for place in dict.fromkeys((cache_dir, None)):
        try:
            entry = cache.new_entry(place)
        except OSError as fault:
            why = fault.strerror or fault
            continue
        try:
            if is_plain(entry.folder):  # not asked: a small file opens an eighth sooner
                return entry
            with closing(connect(entry.file(_SPILL))) as con:
                if finds_exactly(con, entry.file("lock")):
                    return entry
        except BaseException:
            cache.discard(entry)
            raise
        cache.discard(entry)
        why = "its name can't be used by a database"
    raise CheckinError(
        f"The folder for temporary files, {tempfile.gettempdir()!r}, can't be used ({why}); "
        "choose another one with the environment variable TMPDIR."
    )
