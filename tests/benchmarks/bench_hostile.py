"""CPU time of reading hostile rows: four times as long a row takes about four times as long."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from explorer.checkins import CheckinError, open_checkins
from explorer.release.mechanisms.base import Reads
from explorer.release.rows.format import FileFormat
from explorer.release.rows.reading import read_file
from tests.benchmarks.table import Row, at_most, sized

SHORT = sized(200_000, 2_000)
MOST = 6.0
"""Of CPU time, for four times the length; a quadratic pattern takes 16 times as long."""

FIELDS: dict[str, Callable[[int], str]] = {
    "digits and a letter": lambda n: "1" * n + "x",
    "digits and points": lambda n: "1." * (n // 2),
    "digits and commas": lambda n: "1,111" * (n // 5) + "x",
    "blanks": lambda n: "1" + " " * n + "x",
    "brackets": lambda n: "(" * n,
    "combining marks": lambda n: "a" + "\u0301" * (n // 4) + "\u0323" * (n // 4),
}
GOOD = "".join(
    f"u{i % 7}\t2010-01-05T10:00:00Z\t48.{i + 100}\t16.{i + 100}\tp\n" for i in range(200)
)


def _opened(path: Path) -> None:
    try:
        open_checkins(path, cache_dir=None).close()
    except CheckinError:
        return


def _released(path: Path) -> None:
    form = FileFormat(("user", "time", "lat", "lon", "value"), "tab")
    read_file(path, form, Reads(places=True, times=True, texts=("value",)))


READERS: dict[str, Callable[[Path], None]] = {"open": _opened, "release": _released}


def _cpu_s(read: Callable[[Path], None], path: Path, field: str) -> float:
    """Return the seconds of CPU that a file takes whose first rows have the field in each place."""
    row = ["u1", "2010-01-05T10:00:00Z", "48.5", "16.5", "p"]
    rows = ["\t".join([*row[:i], field, *row[i + 1 :]]) + "\n" for i in range(5)]
    path.write_text("".join(rows) + GOOD, encoding="utf-8")
    began = time.process_time()
    read(path)
    return time.process_time() - began


def run() -> list[Row]:
    """Measure every kind of field with every reader."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hostile.txt")
        for reader, read in READERS.items():
            _cpu_s(read, path, "p")  # imports
            least = _cpu_s(read, path, "p")
            for name, field in list(FIELDS.items())[: sized(None, 1)]:
                short = _cpu_s(read, path, field(SHORT))
                long = _cpu_s(read, path, field(4 * SHORT))
                # what every file takes is no part of the ratio; below it nothing is to be seen
                ratio = max(long - least, 0.0) / max(short - least, least)
                rows.append(at_most(f"{reader}: {name}", ratio, MOST, "times", f"{long:.2f} s"))
    return rows
