"""Execution of studies by commands: compute host, progress on the terminal, exported files."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer.figures.formats import by_suffix

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.executors.cluster import Cluster
    from explorer.engine.runtime import StudyRuntime
    from explorer.engine.session.recipe import Recipe
    from explorer.figures.export import ExportJob
    from explorer.figures.pages.backdrop import BackgroundFile
    from explorer.figures.view_state import ViewState
    from explorer.studies.base.study import Request, Result


PROGRESS_INTERVAL_S = 10.0
"""Seconds between progress lines if standard error is no terminal."""


class Progress:
    """Prints progress to standard error: in place on a terminal, else at intervals.

    Parameters
    ----------
    quiet : bool
        Print nothing.
    pieces : str
        Name of the counted items.
    """

    def __init__(self, quiet: bool, pieces: str = "trials") -> None:
        self._quiet, self._pieces = quiet, pieces
        self._terminal = sys.stderr.isatty()
        self._began = self._last = 0.0
        self._known = 0

    def counted(self, rows: int, total: int) -> None:
        """Print on a terminal the number of rows whose users have been counted."""
        if self._terminal:
            self._say(f"counting users: {rows:,} of {total:,} rows", in_place=True)

    def begin(self, known: int, total: int) -> None:
        """Print the number of items, and how many of them are known already."""
        self._known = known
        self._began = self._last = time.monotonic()
        over = f", {known:,} of them known already" if known else ""
        self._say(f"{total:,} {self._pieces}{over}")

    def at(self, done: int, total: int) -> None:
        """Print the number of finished items, if the interval has passed."""
        from explorer.studies.base.numbers import seconds_left

        now = time.monotonic()
        if not self._terminal and now - self._last < PROGRESS_INTERVAL_S and done < total:
            return
        self._last = now
        text = f"{done:,} of {total:,} {self._pieces}"
        left = seconds_left(now - self._began, self._known, done, total)
        if left is not None:
            text += f", {left:.0f} s left"
        self._say(text, in_place=True)

    def end(self) -> None:
        """Clear the progress line."""
        if self._terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _say(self, text: str, in_place: bool = False) -> None:
        if self._quiet:
            return
        if in_place and self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def open_host(
    stack: ExitStack, cluster: Cluster | None = None, *, quiet: bool = False
) -> StudyRuntime:
    """Return a study runtime that closes with the stack, connected to a cluster if given.

    Raises
    ------
    RuntimeError
        If the cluster can't be used.
    """
    from explorer.engine.runtime import StudyRuntime

    host = StudyRuntime()
    stack.callback(host.close)
    if cluster is not None:
        host.computing.use(cluster, calls_too=True)
        state = host.computing.connect(lambda: None).state()
        if not quiet:
            click.echo(state, err=True)
    return host


def compute(host: StudyRuntime, request: Request, *, quiet: bool = False) -> Result:
    """Return a request's final result, with progress on a terminal."""
    from explorer.engine.runtime import final_result

    if quiet or not sys.stderr.isatty():
        return final_result(host, request)
    print("\r\x1b[Kcomputing …", end="", file=sys.stderr, flush=True)
    try:
        return final_result(host, request, on_result=_show_share)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show_share(result: Result) -> None:
    """Print the progress of a computation."""
    if result.progress is not None and not result.complete:
        text = f"\r\x1b[Kcomputing … {result.progress:.0%}"
        print(text, end="", file=sys.stderr, flush=True)


def print_bytes(text: bytes) -> None:
    """Print UTF-8 text unchanged, whatever the encoding of standard output.

    If that is a text stream without an underlying binary one, the text is decoded.
    """
    binary = getattr(sys.stdout, "buffer", None) is not None
    click.echo(text if binary else text.decode(), nl=False)


def recipe_of(result: Result, view: ViewState, data: CheckinData | None) -> Recipe:
    """Return the recipe of a result under a view."""
    from explorer.engine.session.recipe import Recipe

    if data is None:
        return Recipe(result.request, view=view.to_dict())
    columns = data.columns
    return Recipe(result.request, data.basename, view=view.to_dict(), columns=columns)


def export(
    result: Result,
    view: ViewState,
    data: CheckinData | None,
    output: Path,
    pixels: tuple[int, int],
    dpi: int,
    animated: Callable[[ExportJob], ExportJob] = lambda job: job,
    quiet: bool = False,
    backdrop: bytes = b"",
    backgrounds: tuple[BackgroundFile, ...] = (),
) -> None:
    """Write a result in the format of the file's suffix, and report the file.

    `animated` adds frames to a job whose format shows several; their progress is printed on a
    terminal.
    """
    from explorer.figures.export import ExportJob, render
    from explorer.files import write_whole

    recipe = recipe_of(result, view, data).to_dict()
    form = by_suffix(output.suffix)
    report = (lambda _: None) if quiet or not sys.stderr.isatty() else _show_drawn
    job = ExportJob(
        result,
        view,
        recipe,
        form,
        output,
        pixels,
        dpi,
        backdrop=backdrop,
        backgrounds=backgrounds,
        report=report,
    )
    try:
        write_whole(output, render(animated(job)))
    finally:
        if report is _show_drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    report_written(output)


def _show_drawn(share: float) -> None:
    """Print the progress of an animation."""
    print(f"\r\x1b[Kframes … {share:.0%}", end="", file=sys.stderr, flush=True)


def report_written(path: Path) -> None:
    """Report a written file on standard error; standard output is for results."""
    click.echo(f"written: {path} ({_size(path.stat().st_size)})", err=True)


def _size(count: int) -> str:
    """Return a number of bytes with a unit: ``812 bytes``, ``81 kB``, ``2.4 MB``."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"
