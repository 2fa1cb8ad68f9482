"""Running an experiment from a command line: progress, stopping, and what is printed."""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.common import check_folder, say_written
from explorer.csv_rows import CsvRows

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.executors.base import Executor
    from explorer.studies.heatmap.experiments.plan import Point

SAY_S = 10.0
"""Seconds between two lines of progress where standard error is no terminal."""
SHOWN = ("emd", "emd_low", "emd_high", "emd_km", "similarity", "pearson", "kl")


class Progress:
    """Says on standard error how many trials are done: in place on a terminal, else now and then.

    Parameters
    ----------
    quiet : bool
        Say nothing.
    pieces : str
        What is counted.
    """

    def __init__(self, quiet: bool, pieces: str = "trials") -> None:
        self._quiet, self._pieces = quiet, pieces
        self._terminal = sys.stderr.isatty()
        self._began = self._last = 0.0
        self._known = 0

    def counted(self, rows: int, total: int) -> None:
        """Say on a terminal for how many rows the users have been counted."""
        if self._terminal:
            self._say(f"counting users: {rows:,} of {total:,} rows", in_place=True)

    def begin(self, known: int, total: int) -> None:
        """Say how much there is to do, and how much of it is known already."""
        self._known = known
        self._began = self._last = time.monotonic()
        over = f", {known:,} of them known already" if known else ""
        self._say(f"{total:,} {self._pieces}{over}")

    def at(self, done: int, total: int) -> None:
        """Say how much is done, if it is time."""
        now = time.monotonic()
        if not self._terminal and now - self._last < SAY_S and done < total:
            return
        self._last = now
        text = f"{done:,} of {total:,} {self._pieces}"
        if done < total and done - self._known > (total - self._known) / 20:
            left = (now - self._began) * (total - done) / (done - self._known)
            text += f", {left:.0f} s left"
        self._say(text, in_place=True)

    def end(self) -> None:
        """Leave the line."""
        if self._terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _say(self, text: str, in_place: bool = False) -> None:
        if self._quiet:
            return
        if in_place and self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def run_points(
    stack: ExitStack, points: list[Point], seed: int, executor: Executor, progress: Progress
) -> dict[str, Any]:
    """Run what is not known yet of the trials of some rows, and return what all say."""
    from explorer.engine.executors.base import task_key
    from explorer.engine.executors.checkpoint import Checkpoint
    from explorer.engine.experiments import find_trials, kept_trials
    from explorer.studies.heatmap.experiments.plan import Trials, rows_of

    folder = stack.enter_context(executor.shared_folder())
    rows = []
    for row in rows_of(points, seed, folder):
        rows.append(row)
        progress.counted(len(rows), len(points))
    progress.end()
    asked = {(row.point.place.name, row.users, row.point.users or 0) for row in rows}
    for name, there, wanted in sorted(asked):
        if there < wanted:
            click.echo(f"{name} has {there:,} users of {wanted:,}; all are taken", err=True)
    trials = Trials.of(rows, task_key)
    checkpoint = Checkpoint(kept_trials())
    stack.callback(checkpoint.close)
    found: dict[str, Any] = {}
    total = len(trials.by_key)
    try:
        for i, part in enumerate(find_trials(trials, executor, checkpoint, folder)):
            found |= part
            if i:
                progress.at(len(found), total)
            else:
                progress.begin(len(found), total)
    except KeyboardInterrupt:
        progress.end()
        click.echo(
            f"{len(found):,} of {total:,} trials are kept; the same command goes on from there",
            err=True,
        )
        raise
    progress.end()
    return trials.report(found)


def stamp_of(data: CheckinData | None) -> str:
    """Return what must stand on numbers computed from check-ins, or from made data."""
    from explorer.studies.heatmap.text import SYNTHETIC, stamp

    return SYNTHETIC if data is None else stamp(data.synthetic, curator_only=True)


def check_output(output: Path | None) -> None:
    """Refuse a file that could not be written, before any work is done for it."""
    if output is not None and output.suffix.lower() not in (".csv", ".json"):
        raise click.BadParameter(
            f"{output.name!r} ends neither with .csv nor with .json", param_hint="--output"
        )
    check_folder(output, "--output")


def document_json(document: dict[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def write(output: Path, document: dict[str, Any]) -> None:
    """Write a document as JSON, or its rows as CSV below comment lines with the rest."""
    from explorer.files import write_whole

    if output.suffix.lower() == ".json":
        text = document_json(document) + "\n"
    else:
        rest = {key: value for key, value in document.items() if not isinstance(value, list)}
        table = io.StringIO()
        rows = document["rows"]
        CsvRows(table).write_rows([rows[0], *([row[key] for key in rows[0]] for row in rows)])
        comments = "".join(f"# {key}: {_plain(value)}\n" for key, value in rest.items())
        text = comments + table.getvalue()
    write_whole(output, text.encode())
    say_written(output)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_table(document: dict[str, Any]) -> str:
    """Return the rows for a reader at a terminal."""
    from explorer.studies.base.numbers import nearest

    rows = document["rows"]
    heads = ["region", "mechanism", "epsilon", "users", "draws"]
    if "axis" in rows[0]:
        heads += ["axis", "x"]
    lines = [[*heads, *SHOWN]]
    for row in rows:
        measured = ("–" if row[key] is None else nearest(row[key]) for key in SHOWN)
        lines.append([*(str(row[key]) for key in heads), *measured])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = [
        "  ".join(f"{cell:{w}}" for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join([*(line.rstrip() for line in table), document["stamp"]])
