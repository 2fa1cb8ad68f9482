"""Reads the files of a data set one after the other, as if they were one file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.checkins.database import parquet_table, reachable, read_file, run, written_file
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Example, PartReport, Preview, Reason
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers import get_reader
from explorer.checkins.readers.base import CheckHead, HeadStatistics, Plan
from explorer.checkins.rejected import row_texts
from explorer.checkins.scan import EXAMPLE_LENGTH, Scan
from explorer.checkins.sources import DataFiles, added_columns, check_alike
from explorer.checkins.store import (
    PARQUET,
    REJECTED,
    ROWS,
    Tick,
    examples,
    first_lines,
    number_rows,
)

_MIN_ROWS_TO_JUDGE = 20
"""Minimum number of rows for judging whether a file is of another kind."""


@dataclass(frozen=True)
class PartRows:
    """Line counts of one file of a data set.

    Attributes
    ----------
    first : int
        Lines in the parts before it.
    lines, header, blank, continued, before_header : int
    """

    first: int
    lines: int
    header: int
    blank: int
    continued: int
    before_header: int


def plans_of(
    plan: Plan, files: DataFiles, dialects: Sequence[Dialect], added: list[int]
) -> list[Plan]:
    """Return the plan of each file from its dialect."""
    return [
        replace(
            plan,
            name=part.name,
            path=part.path,
            dialect=dialect,
            width=plan.width - len(added),
            added=tuple(part.values[i] for i in added),
            part=number,
        )
        for number, (part, dialect) in enumerate(zip(files.parts, dialects, strict=True))
    ]


def plans_for(
    plan: Plan, files: DataFiles, preview: Preview, check: Callable[[], None]
) -> list[Plan]:
    """Return the plan of each file of a data set.

    Raises
    ------
    CheckinError
        If a part differs from the first one.
    """
    if not files.together:
        return [plan]
    alike = replace(preview, dialect=plan.dialect)
    dialects = check_alike(files, alike, check, plan.mapping.encoding, plan.mapping.header)
    return plans_of(plan, files, dialects, added_columns(files, preview))


def write_parts(
    con: Any, plans: Sequence[Plan], folder: Path, work: LoadProgress, check_head: CheckHead
) -> tuple[Scan, list[PartRows], list[str]]:
    """Write ``rows.parquet`` of all files; return their lines and sha256.

    Parameters
    ----------
    con : DuckDB connection
    plans : sequence of Plan
        One a part.
    folder : Path
        Where the file goes.
    work : LoadProgress
    check_head : callable
        Called with the statistics of the first rows of the first part; may raise.

    Raises
    ------
    CheckinError
        Also if most of the first rows of another part fail.
    """
    scan, parts, hashes, kinds, done = Scan(), [], [], [], 0
    for number, plan in enumerate(plans):
        size = plan.path.stat().st_size
        work.begin_part(done, size, scan.lines)
        head_check = head_check_of(plan, plans[0].name)
        head_check = check_head if not number and head_check is not accept else head_check
        one = write_part(con, plan, _place(folder, number), work, head_check)
        parts.append(
            PartRows(
                scan.lines,
                one.lines,
                len(one.names),
                len(one.blank),
                len(one.joined),
                len(one.before),
            )
        )
        hashes.append(one.fingerprint)
        scan.damage.notes += [f"{plan.name}: {note}" for note in one.damage.notes]
        scan.follow(one)
        kinds.append(_kind(con, _place(folder, number)))
        done += size
    if (
        len(set(kinds)) > 1
    ):  # whole numbers in one part, text in another: the same user may be in both
        for number, plan in enumerate(plans):
            if kinds[number] == "BIGINT":
                work.begin_part(0, 0, 0)
                text = replace(plan, text_ids=True)
                write_part(con, text, _place(folder, number), work, accept)
    _join(con, folder, len(plans), work.stage("Storing"))
    return scan, parts, hashes


def write_part(
    con: Any, plan: Plan, place: Path, work: LoadProgress, check_head: CheckHead
) -> Scan:
    """Write ``rows.parquet`` of one file into a folder of its own."""
    place.mkdir(exist_ok=True)
    with reachable(con, plan.path) as path:
        reader = get_reader(plan.dialect.reader)
        output = reader.write_rows(con, plan.at(path), place, work, check_head)
    for left in place.iterdir():
        # A copy of its lines; not the folder that the database spills to.
        if left.name != ROWS and left.is_file():
            left.unlink()
    if plan.mapping.unit == "row":
        number_rows(con, place, plan.part, plan.text_ids, work.stage("Storing"))
    return output.scan


def _place(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}"


def _kind(con: Any, place: Path) -> str:
    rows = parquet_table(place / ROWS)
    described = con.execute(f"DESCRIBE SELECT user_id FROM {rows}").fetchone()
    return str(described[1])


def _join(con: Any, folder: Path, parts: int, tick: Tick) -> None:
    """Concatenate the rows of all files, in order."""
    places = [_place(folder, number) for number in range(parts)]
    rows = ", ".join(read_file(place / ROWS) for place in places)
    run(
        con,
        f"COPY (FROM read_parquet([{rows}], hive_partitioning=false)) "
        f"TO {written_file(folder / ROWS)} {PARQUET}",
        tick,
    )
    for place in places:
        shutil.rmtree(place)


def accept(statistics: HeadStatistics) -> None:
    """Accept any rows; a `CheckHead` that never raises."""


def head_check_of(plan: Plan, first: str) -> CheckHead:
    """Return a check that rejects a file most of whose first rows fail."""
    if any(c >= plan.width and plan.added[c - plan.width] is None for c in plan.mapping.columns):
        return accept  # the folder says itself that these rows have no such value

    def check_head(statistics: HeadStatistics) -> None:
        if statistics.total < _MIN_ROWS_TO_JUDGE or statistics.share <= 0.5:
            return
        worst = max(statistics.failing, key=lambda reason: statistics.failing[reason])
        if plan.name == first:
            raise CheckinError(
                f"{first}: {statistics.share:.0%} of the first rows can't be read with these "
                f"settings ({worst.describe(plan.mapping)}); say which column holds what."
            )
        raise CheckinError(
            f"{plan.name} differs from {first}: {statistics.share:.0%} of its first rows can't be "
            f"read as those of {first} are ({worst.describe(plan.mapping)}). Open the files that "
            "are alike, or make this one like the others."
        )

    return check_head


@dataclass(frozen=True)
class FilesRead:
    """Result of reading the files of a data set.

    Attributes
    ----------
    scan : Scan
        Of all lines, as if the files stood one after the other.
    fingerprint : str
    dialects : tuple of Dialect
        One a file.
    examples : callable
        Returns the first lines of each reason, with their text.
    reports : callable
        Returns the line report of every part; empty for a single file.
    """

    scan: Scan
    fingerprint: str
    dialects: tuple[Dialect, ...]
    examples: Callable[[], dict[Reason, tuple[Example, ...]]]
    reports: Callable[[], tuple[PartReport, ...]] = tuple


def read_files(
    con: Any,
    plan: Plan,
    files: DataFiles,
    preview: Preview,
    folder: Path,
    work: LoadProgress,
    check_head: CheckHead,
) -> FilesRead:
    """Write ``rows.parquet`` of one file or of several.

    Parameters
    ----------
    con : DuckDB connection
    plan : Plan
        With a path that the database can read, of one file.
    files : DataFiles
    preview : Preview
        Of the first file.
    folder : Path
    work : LoadProgress
    check_head : callable
        As in `Reader.write_rows`.
    """
    if not files.together:
        reader = get_reader(plan.dialect.reader)
        output = reader.write_rows(con, plan, folder, work, check_head)
        scan = output.scan
        if plan.mapping.unit == "row":
            number_rows(con, folder, plan.part, plan.text_ids, work.stage("Storing"))
        return FilesRead(
            scan, scan.fingerprint, (plan.dialect,), lambda: examples(con, folder, output.texts)
        )
    plans = plans_for(plan, files, preview, work.check)
    scan, parts, hashes = write_parts(con, plans, folder, work, check_head)
    return FilesRead(
        scan,
        files.fingerprint(hashes),
        tuple(plan.dialect for plan in plans),
        lambda: part_examples(con, folder, plans, parts, work),
        lambda: part_reports(con, folder, files, parts),
    )


def part_reports(
    con: Any, folder: Path, files: DataFiles, parts: Sequence[PartRows]
) -> tuple[PartReport, ...]:
    """Return the line report of every file."""
    counts = con.execute(
        "SELECT part, count(*) FROM "
        f"{parquet_table(folder / REJECTED)} ASOF JOIN (SELECT unnest(?::BIGINT[]) AS line, "
        "unnest(?::BIGINT[]) AS part) AS begins USING (line) GROUP BY part",
        [[part.first + 1 for part in parts], list(range(len(parts)))],
    ).fetchall()
    aside = dict(counts)
    reports = []
    for number, (part, lines) in enumerate(zip(files.parts, parts, strict=True)):
        rejected = aside.get(number, 0)
        above = lines.header + lines.before_header
        valid = lines.lines - above - lines.blank - lines.continued - rejected
        reports.append(
            PartReport(
                part.name,
                lines.lines,
                lines.header,
                lines.blank,
                valid,
                rejected,
                lines.continued,
                lines.before_header,
            )
        )
    return tuple(reports)


def part_examples(
    con: Any, folder: Path, plans: Sequence[Plan], parts: Sequence[PartRows], work: LoadProgress
) -> dict[Reason, tuple[Example, ...]]:
    """Return the first lines of each reason with file name, line number in it, and text."""
    numbers = first_lines(con, folder)
    wanted = sorted({n for lines in numbers.values() for n in lines})
    known: dict[int, Example] = {}
    for plan, lines in zip(plans, parts, strict=True):
        own = [n - lines.first for n in wanted if lines.first < n <= lines.first + lines.lines]
        if not own:
            continue
        texts = list(row_texts(con, plan.path, plan.dialect, iter([own]), work.cancelled))
        for number, text in zip(own, texts, strict=True):
            known[lines.first + number] = Example(number, text[:EXAMPLE_LENGTH], plan.name)
    return {reason: tuple(known[n] for n in lines) for reason, lines in numbers.items()}
