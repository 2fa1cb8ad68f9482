"""Approved texts: sentences, pages and reports are compared with a file.

A test calls ``check(text)``. Its approved text is a section of the file of its module: that of
``tests/cli/test_commands.py`` is ``tests/data/snapshots/cli/commands.txt``, and the section has the
name of the test and the number of the call. After a change of words on purpose

    .venv/bin/python -m tests.snapshots tests/cli

runs the tests named and writes their sections anew. Review the change as a diff.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "data" / "snapshots"
UPDATE = "PRIVACY_EXPLORER_UPDATE_SNAPSHOTS"
_HEAD = "== "
_TEMPORARY = rf"{re.escape(tempfile.gettempdir())}/pytest-of-[^/]+/pytest-\d+/"
_VARYING = (
    (re.compile(_TEMPORARY + r"(popen-gw\d+/)?[^/\s'\"]+"), "<tmp>"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{4,5}"), "<port>"),
)
"""What differs between runs, and what stands in its place."""
_calls: Counter[str] = Counter()
"""Calls by the test that is running, which counts them from 1."""


def check(text: object, **replaced: object) -> None:
    """Compare a text with the approved one; a failure shows the difference.

    Parameters
    ----------
    text : str, exception or iterable of str
        Items of an iterable are paragraphs. White space at the ends of lines is ignored.
    **replaced
        What else differs between runs or machines: it is replaced by its name. Folders of
        ``tmp_path`` and ports of this machine are replaced always.
    """
    path, section = _place()
    lines = _lines(text, replaced)
    sections = _read(path)
    if os.environ.get(UPDATE):
        sections[section] = lines
        _write(path, sections)
        return
    approved = sections.get(section)
    if approved is None:
        pytest.fail(f"{path.name} has no section {section!r}: run python -m tests.snapshots")
    if lines != approved:
        changes = difflib.unified_diff(approved, lines, "approved", "now", lineterm="", n=1)
        pytest.fail(f"{path.name}, {section}:\n" + "\n".join(changes), pytrace=False)


def _place() -> tuple[Path, str]:
    """Return file and section of a call of the test that is running."""
    running = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]
    module, _, test = running.partition("::")
    _calls[running] += 1
    parts = Path(module).with_suffix("").parts
    parts = parts[parts.index("tests") + 1 :]
    path = FOLDER.joinpath(*parts[:-1], parts[-1].removeprefix("test_") + ".txt")
    return path, f"{test} {_calls[running]}"


def _lines(text: object, replaced: dict[str, object]) -> list[str]:
    if isinstance(text, Iterable) and not isinstance(text, str):
        text = "\n".join(map(str, text))
    written = str(text)
    for name, value in replaced.items():
        written = written.replace(str(value), f"<{name}>")
    for pattern, placeholder in _VARYING:
        written = pattern.sub(placeholder, written)
    # A line of the text that looks like a heading is indented.
    return [
        f" {line}".rstrip() if line.startswith(_HEAD) else line.rstrip()
        for line in written.strip().splitlines()
    ]


def _read(path: Path) -> dict[str, list[str]]:
    if not path.exists():
        return {}
    found = re.split(rf"^{_HEAD}", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    parts = (part.rstrip("\n").split("\n") for part in found[1:])
    return {head: lines for head, *lines in parts}


def _write(path: Path, sections: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(
        f"{_HEAD}{head}\n" + "".join(f"{line}\n" for line in lines)
        for head, lines in sorted(sections.items())
    )
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Run tests with the given arguments in one process; each comparison writes its section."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "--full", *sys.argv[1:]]
    return subprocess.run(command, env={**os.environ, UPDATE: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
