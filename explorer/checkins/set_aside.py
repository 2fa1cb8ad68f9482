"""Everything that was set aside, written out: line number, reason and the line itself."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from explorer.checkins.database import check, quote
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Dialect, Format, Reason
from explorer.checkins.rows import ASIDE
from explorer.checkins.streams import blocks, decoded_chunks, raw_chunks

_BATCH = 50_000
_COLUMNS = ("line", "reason", "what is wrong", "text")


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[IO[str]]:
    """Write a text file beside its place and move it there once it is whole."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as fault:
        raise CheckinError(
            f"{path.name} can't be written there ({fault.strerror or fault}); "
            "choose another folder."
        ) from None
    try:
        with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
        if dialect.format is Format.PARQUET:
            texts = _parquet_texts(con, source, batches, cancelled)
        else:
            texts = _line_texts(source, dialect, batches, cancelled)
        total = 0
        for line, code, text in texts:
            reason = Reason.of(code)
            writer.writerow((line, reason.value, reason.sentence, text))
            total += 1
    return total


def _batches(con: Any, folder: Path) -> Iterator[tuple[list[int], list[int]]]:
    """Yield line numbers and codes, ascending, some at a time."""
    file = f"read_parquet({quote(folder / ASIDE)}, file_row_number=true)"
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
    chunks = raw_chunks(source, dialect.compressed, None, [], lambda _: check(cancelled))
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
    from explorer.checkins.parquet import row_text

    text = row_text(con, source)
    for lines, codes in batches:
        check(cancelled)
        texts = dict(
            con.execute(
                f"SELECT file_row_number + 1, {text} "
                f"FROM read_parquet({quote(source)}, file_row_number=true) "
                "WHERE file_row_number + 1 IN (SELECT unnest(?::BIGINT[]))",
                [lines],
            ).fetchall()
        )
        for line, code in zip(lines, codes, strict=True):
            yield line, code, texts.get(line, "")
