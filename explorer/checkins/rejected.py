"""Everything that was set aside, written out: line number, reason and the line itself."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from explorer.checkins.database import check, parquet_table, reachable
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, Format, Reason
from explorer.checkins.readers.archives import Damage
from explorer.checkins.readers.streams import blocks, decoded_chunks, raw_chunks
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
    target: Path,
    cancelled: Callable[[], bool] | None,
) -> int:
    """Write all lines set aside as CSV, reading the source again; returns how many there were."""
    batches = _batches(con, folder)
    with written_aside(target) as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        total = 0
        with contextlib.ExitStack() as stack:
            if dialect.format is Format.PARQUET:
                found = stack.enter_context(reachable(con, source))
                texts = _parquet_texts(con, found, batches, cancelled)
            else:
                texts = _line_texts(source, dialect, batches, cancelled)
            for line, code, text in texts:
                reason = Reason.of(code)
                writer.writerow((line, reason.value, reason.sentence, text))
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


def _line_texts(
    source: Path,
    dialect: Dialect,
    batches: Iterator[tuple[list[int], list[int]]],
    cancelled: Callable[[], bool] | None,
) -> Iterator[tuple[int, int, str]]:
    wanted = ((n, c) for lines, codes in batches for n, c in zip(lines, codes, strict=True))
    target = next(wanted, None)
    before = 0
    chunks = raw_chunks(source, dialect.compressed, None, Damage(), lambda _: check(cancelled))
    for block in blocks(decoded_chunks(chunks, dialect)):
        if target is None:
            break
        if isinstance(block, int):
            before += 1
            if target is not None and target[0] == before:
                yield (*target, f"({block} bytes)")
                target = next(wanted, None)
            continue
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
        lines = int(ends.size) + (not block.endswith(b"\n"))
        while target is not None and target[0] <= before + lines:
            at = target[0] - before - 1
            start = int(ends[at - 1]) + 1 if at else 0
            stop = int(ends[at]) if at < ends.size else len(block)
            yield (*target, block[start:stop].removesuffix(b"\r").decode(errors="replace"))
            target = next(wanted, None)
        before += lines


def _parquet_texts(
    con: Any,
    source: Path,
    batches: Iterator[tuple[list[int], list[int]]],
    cancelled: Callable[[], bool] | None,
) -> Iterator[tuple[int, int, str]]:
    from explorer.checkins.readers.parquet import row_texts

    for lines, codes in batches:
        check(cancelled)
        texts = row_texts(con, source, lines)
        for line, code in zip(lines, codes, strict=True):
            yield line, code, texts.get(line, "")
