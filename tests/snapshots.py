"""Approved texts: what a page, report or message says is compared with a file.

A test calls ``check("release-certificate", text)``; the approved text is
``tests/data/snapshots/release-certificate.txt``. After a change of words on purpose

    .venv/bin/python -m tests.snapshots [pytest arguments]

runs the tests and writes the files anew. Review them as a diff.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "data" / "snapshots"
UPDATE = "PRIVACY_EXPLORER_UPDATE_SNAPSHOTS"


def check(name: str, text: str) -> None:
    """Compare a text with the approved one; a failure shows the difference.

    Parameters
    ----------
    name : str
        Of the file, without its suffix.
    text : str
        Must be the same on every machine and on every run. White space at the ends of lines is
        ignored.
    """
    path = FOLDER / f"{name}.txt"
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if os.environ.get(UPDATE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    if not path.exists():
        pytest.fail(f"{path.name} is missing: run python -m tests.snapshots and review the file")
    approved = path.read_text(encoding="utf-8").splitlines()
    if lines != approved:
        changes = difflib.unified_diff(approved, lines, "approved", "now", lineterm="", n=1)
        pytest.fail(f"{path.name} differs:\n" + "\n".join(changes), pytrace=False)


def main() -> int:
    """Run tests with the given arguments; each comparison writes its file."""
    command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
    return subprocess.run(command, env={**os.environ, UPDATE: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
