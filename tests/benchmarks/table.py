"""One row of the benchmark table, and how a table is printed."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

SMOKE = "PRIVACY_EXPLORER_SMOKE"
"""Environment variable, for all processes of a run: measure nothing, only show that all runs."""

KEPT = ExitStack()
"""What several topics of a smoke run use, closed at its end."""


def program(code: str, *arguments: object, settings: dict[str, str] | None = None) -> str:
    """Return what a program prints that runs in a process of its own.

    In a smoke run it runs in this process, which has the libraries already.

    Parameters
    ----------
    code : str
        Takes its arguments from ``sys.argv``.
    arguments : object
        As `str` writes them.
    settings : dict, optional
        Environment variables beside those of this process.

    Raises
    ------
    RuntimeError
        With what it wrote to standard error, if it failed.
    """
    words = [str(one) for one in arguments]
    if SMOKE in os.environ:
        with (
            patch.object(sys, "argv", ["-c", *words]),
            patch.dict(os.environ),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
        return printed.getvalue()
    ran = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | (settings or {}),
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return ran.stdout


def sized(full: Any, smallest: Any) -> Any:
    """Return how much to measure: the smallest that still goes all the way in a smoke run."""
    return smallest if SMOKE in os.environ else full


@dataclass(frozen=True)
class Row:
    """A measurement against its limit.

    ``ok`` is decided by whoever measured: some limits are from above, some from below.
    """

    name: str
    measured: float
    limit: float | None
    unit: str
    ok: bool | None
    note: str = ""


def at_most(name: str, measured: float, limit: float, unit: str, note: str = "") -> Row:
    """Return a row whose number must not exceed its limit."""
    return Row(name, measured, limit, unit, measured <= limit, note)


def at_least(name: str, measured: float, limit: float, unit: str, note: str = "") -> Row:
    """Return a row whose number must reach its limit."""
    return Row(name, measured, limit, unit, measured >= limit, note)


def render(rows: Iterable[Row]) -> str:
    """Return the table as text."""
    lines = [f"{'':4} {'what':66} {'measured':>12} {'limit':>10}  unit"]
    for row in rows:
        mark = {True: "ok", False: "MISS", None: "--"}[row.ok]
        limit = "" if row.limit is None else f"{row.limit:.4g}"
        lines.append(
            f"{mark:4} {row.name:66} {row.measured:12.4g} {limit:>10}  {row.unit}"
            + (f"  ({row.note})" if row.note else "")
        )
    return "\n".join(lines)
