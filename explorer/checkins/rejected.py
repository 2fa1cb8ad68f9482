"""Exports rejected lines as CSV: line number, reason and text."""

import contextlib
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from explorer.checkins.database import connect, parquet_table, reachable
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, LoadReport, Mapping, Reason
from explorer.checkins.readers import get_reader
from explorer.checkins.sources import DataFiles
from explorer.checkins.store import REJECTED
from explorer.checkins.workers import needs_worker, stream_from_worker
from explorer.csv_rows import CsvRows
from explorer.files import replacing

_BATCH = 50_000
_BATCH_ROWS = 5_000
_COLUMNS = ("line", "reason", "what is wrong", "text")


@contextlib.contextmanager
def text_file_replacing(path: Path) -> Iterator[IO[str]]:
    """Yield a text file that atomically replaces `path` at the end of the block."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(replacing(path))
        except OSError as fault:
            raise CheckinError(
                f"{shown_name(path)} can't be written there ({fault.strerror or fault}); "
                "choose another folder."
            ) from None
        text = io.TextIOWrapper(file, "utf-8", newline="")
        yield text
        text.detach()


def export(
    con: Any,
    folder: Path,
    files: DataFiles,
    report: LoadReport,
    dialects: Sequence[Dialect],
    mapping: Mapping,
    target: Path,
    cancelled: Callable[[], bool] | None,
) -> int:
    """Write all rejected lines as CSV by reading the files again; return their number.

    With several files, lines are numbered per file, and the first column is the file's name.
    """
    counts = [part.rejected for part in report.parts] or [report.total_rejected]
    lines = [part.physical_lines for part in report.parts] or [report.physical_lines]
    before = total = 0
    with text_file_replacing(target) as file:
        writer = CsvRows(file, "\r\n")
        writer.write_row((*(("part",) if files.together else ()), *_COLUMNS))
        for part, dialect, count, here in zip(files.parts, dialects, counts, lines, strict=True):
            batches, again = itertools.tee(_batches(con, folder, total, total + count, before))
            rejected = ((n, c) for ns, cs in batches for n, c in zip(ns, cs, strict=True))
            wanted = (numbers for numbers, _ in again)
            texts = row_texts(con, part.path, dialect, wanted, cancelled)
            name = (part.name,) if files.together else ()
            for (line, code), text in zip(rejected, texts if count else (), strict=False):
                reason = Reason.of(code)
                writer.write_row((*name, line, reason.value, reason.describe(mapping), text))
                total += 1
            before += here
    return total


def row_texts(
    con: Any,
    path: Path,
    dialect: Dialect,
    batches: Iterator[list[int]],
    cancelled: Callable[[], bool] | None,
) -> Iterator[str]:
    """Yield the text of requested lines (`Reader.row_texts`), in a worker where needed."""
    if not needs_worker(dialect):
        with reachable(con, path) as source:
            yield from get_reader(dialect.reader).row_texts(
                con, source, dialect, batches, cancelled
            )
        return
    for texts in stream_from_worker(
        _texts_in_worker, path, dialect, list(batches), name=shown_name(path), cancelled=cancelled
    ):
        yield from texts


def _texts_in_worker(
    path: Path,
    dialect: Dialect,
    batches: list[list[int]],
    cancelled: Callable[[], bool],
    report: Callable[[list[str]], object],
) -> None:
    """Report the texts of lines in batches, in a worker."""
    with closing(connect()) as con, reachable(con, path) as source:
        texts = get_reader(dialect.reader).row_texts(con, source, dialect, iter(batches), cancelled)
        while some := list(itertools.islice(texts, _BATCH_ROWS)):
            report(some)


def _batches(
    con: Any, folder: Path, start: int, end: int, before: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield batches of line numbers relative to `before`, and codes, ascending."""
    file = parquet_table(folder / REJECTED, numbered=True)
    for at in range(start, end, _BATCH):
        columns = con.execute(
            f"SELECT line - ? AS line, code FROM {file} "
            "WHERE file_row_number >= ? AND file_row_number < ? ORDER BY line",
            [before, at, min(at + _BATCH, end)],
        ).fetchnumpy()
        yield columns["line"].tolist(), columns["code"].tolist()
