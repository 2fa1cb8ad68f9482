"""Everything that was rejected, written out: line number, reason and the line itself."""

import contextlib
import csv
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from explorer.checkins.database import parquet_table
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, Mapping, Reason
from explorer.checkins.readers import get_reader
from explorer.checkins.rows import ASIDE
from explorer.files import replacing

_BATCH = 50_000
_COLUMNS = ("line", "reason", "what is wrong", "text")


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[IO[str]]:
    """Write a text file beside its place and move it there once it is whole."""
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
    source: Path,
    dialect: Dialect,
    mapping: Mapping,
    target: Path,
    cancelled: Callable[[], bool] | None,
) -> int:
    """Write all lines rejected as CSV, reading the source again; returns how many there were."""
    batches, again = itertools.tee(_batches(con, folder))
    lines = ((n, c) for numbers, codes in batches for n, c in zip(numbers, codes, strict=True))
    reader = get_reader(dialect.reader)
    texts = reader.row_texts(con, source, dialect, (numbers for numbers, _ in again), cancelled)
    with written_aside(target) as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        total = 0
        for (line, code), text in zip(lines, texts, strict=False):
            reason = Reason.of(code)
            writer.writerow((line, reason.value, reason.said(mapping), text))
            total += 1
    return total


def _batches(con: Any, folder: Path) -> Iterator[tuple[list[int], list[int]]]:
    """Yield line numbers and codes, ascending, some at a time."""
    file = parquet_table(folder / ASIDE, numbered=True)
    total = con.execute(f"SELECT count(*) FROM {file}").fetchone()[0]
    for at in range(0, total, _BATCH):
        found = con.execute(
            f"SELECT line, code FROM {file} WHERE file_row_number >= ? AND file_row_number < ? "
            "ORDER BY line",
            [at, at + _BATCH],
        ).fetchnumpy()
        yield found["line"].tolist(), found["code"].tolist()
