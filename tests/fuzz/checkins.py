"""Mutated check-in files: good rows are read unchanged, or the file is refused in one sentence.

Every file is built from rows that are known. Lines that no mutation touched must come back with
their user, time, place and weight; every line must be accounted for; what else is kept may only
come from lines that were touched. Parquet has no checksums, so of its values only those are
compared of which no byte was changed: all or none.
"""

from __future__ import annotations

import codecs
import csv
import random
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from explorer.checkins import CheckinData, CheckinError, LoadReport, Reason, open_checkins
from explorer.checkins.database import MAX_THREADS
from tests.fuzz.checkin_files import Row, decompress, made, spoilt, write_parquet, zipped
from tests.fuzz.mutate import changed_bytes
from tests.fuzz.outcome import Outcome

SLOW_S = 60.0
FEW_ROWS = 1000
MAX_SAID = 700
KINDS = ("text", "text", "text", "bytes", "gz", "gz bytes", "encoding", "parquet", "parquet bytes")


def run(count: int, seed: int) -> Outcome:
    """Open `count` mutated files."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            case = _Case(random.Random(f"{seed} {i}"), Path(folder), outcome, f"{seed} {i}")
            began = time.monotonic()
            try:
                case.run()
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                case.fault(f"{error!r:.300} in {place.name}, line {place.lineno}")
            if time.monotonic() - began > SLOW_S:
                case.fault(f"took {time.monotonic() - began:.0f} s")
    return outcome


class _Case:
    """One file."""

    def __init__(self, rng: random.Random, folder: Path, outcome: Outcome, name: str) -> None:
        self.rng, self.folder, self.outcome, self.name = rng, folder, outcome, name
        self.kind = rng.choice(KINDS)
        self.known = made(rng)
        self.path = folder / f"case.{self.kind.replace(' ', '-')}"
        self.lines: list[bytes] | None = None
        """The lines as they are on disk, if that is known."""
        self.untouched = False
        self.changed = False

    def fault(self, what: str) -> None:
        """Note that something went wrong."""
        self.outcome.faults.append(f"{self.name} ({self.kind}): {what}")

    def run(self) -> None:
        """Write the file, open it and compare."""
        self._write()
        # Threads gain nothing with a few rows, and ten thousand files start many of them.
        threads = MAX_THREADS if len(self.known.rows) > FEW_ROWS else 1
        try:
            with patch("explorer.checkins.database.MAX_THREADS", threads):
                data = open_checkins(self.path, cache_dir=None)
        except CheckinError as error:
            self._refused(str(error))
            return
        with data:
            self.outcome.counts[f"{self.kind}: read"] += 1
            self._compare(data)

    def _write(self) -> None:
        rng, known = self.rng, self.known
        if self.kind.startswith("parquet"):
            write_parquet(known, self.path, rng)
            whole = self.path.read_bytes()
            data = changed_bytes(whole, rng) if self.kind == "parquet bytes" else whole
            self.untouched = data == whole
            self.path.write_bytes(data)
            return
        end = rng.choice((b"\n", b"\n", b"\n", b"\r\n"))
        head = [known.header.encode()] if known.header else []
        if self.kind in ("bytes", "gz bytes"):
            text = end.join([*head, *(line.encode() for line in known.lines)]) + end
            if self.kind == "bytes":
                start = len(head[0]) + len(end) if head else 0
                text = text[:start] + changed_bytes(text[start:], rng)
        else:
            text = end.join([*head, *spoilt(known.lines, rng)])
            text += end if rng.random() < 0.8 else b""
        data = text
        if self.kind == "encoding":
            encoding = rng.choice(("utf-8-sig", "utf-16", "utf-16-be"))
            whole = text.decode(errors="replace")
            data = whole.encode(encoding)
            if encoding == "utf-16-be":
                data = codecs.BOM_UTF16_BE + data
            text = whole.encode()
        elif self.kind.startswith("gz"):
            data = zipped(text, rng)
            if self.kind == "gz bytes":
                before, data = text, changed_bytes(data, rng)
                text = decompress(data)
                self.changed = text != before
        self.lines = text.removesuffix(b"\n").split(b"\n")
        self.path.write_bytes(data)

    def _refused(self, said: str) -> None:
        self.outcome.counts[f"{self.kind}: refused"] += 1
        if not said.isprintable() or len(said) > MAX_SAID or str(self.folder) in said:
            self.fault(f"no sentence: {said[:300]!r}")
        if self.path.name not in said:
            self.fault(f"does not name the file: {said[:300]!r}")
        if self.untouched:
            self.fault(f"nothing is wrong with it: {said[:300]!r}")

    def _compare(self, data: CheckinData) -> None:
        report, kept = data.report, Counter(_rows(data))
        if report.accounted != report.physical_lines:
            self.fault(f"{report.accounted} of {report.physical_lines} accounted for")
        if report.kept != kept.total():
            self.fault(f"{report.kept} kept, but {kept.total()} there")
        if self.lines is None:
            same = kept == Counter(self.known.rows)
            self.outcome.counts[f"{self.kind}: {'same' if same else 'other'} values"] += 1
            if self.untouched and not same:
                self.fault("rows of an unchanged file differ")
            return
        if self.changed and not report.notes:
            self.fault("the archive was changed, and nothing says so")
        if self.known.header and self.lines[0].rstrip(b"\r") != self.known.header.encode():
            self.outcome.counts[f"{self.kind}: another header"] += 1
            return
        if bool(report.header) != bool(self.known.header):
            self.fault("the header is taken for a row, or a row for the header")
            return
        good = dict(zip(map(str.encode, self.known.lines), self.known.rows, strict=True))
        self._compare_lines(report, kept, good)
        if self.rng.random() < 0.1:
            self._compare_export(data, good)

    def _compare_lines(
        self, report: LoadReport, kept: Counter[Row], good: dict[bytes, Row]
    ) -> None:
        assert self.lines is not None
        lines = [line.removesuffix(b"\r") for line in self.lines]
        if report.physical_lines != len(lines):
            self.fault(f"{report.physical_lines} lines of {len(lines)}")
        complete = lines[:-1] if self.kind == "gz bytes" else lines
        wanted = Counter({good[line]: 1 for line in complete if line in good})
        if self.known.rows[0][1] is None:  # without times nothing is a duplicate
            wanted = Counter(good[line] for line in complete if line in good)
        if lost := wanted - kept:
            self.fault(f"{lost.total()} good rows lost or changed, such as {next(iter(lost))}")
        touched = sum(line not in good for line in lines)
        if (more := (kept - wanted).total()) > touched:
            self.fault(f"{more} rows more than {touched} touched lines could make")
        for reason, examples in report.examples.items():
            for example in examples:
                line = lines[example.line - 1] if 0 < example.line <= len(lines) else b"?"
                if line in good and reason not in (Reason.DUPLICATE, Reason.CUT_OFF):
                    self.fault(f"line {example.line} is good and rejected as {reason}")
                text = line.decode(errors="replace")
                shown = text[:500] == example.text or reason is Reason.LINE_TOO_LONG
                shown |= any("The text is" in note for note in report.notes)
                if not shown and not any(c in text for c in '"\r\ufffd'):
                    self.fault(f"line {example.line} is {text[:500]!r}, shown {example.text!r}")

    def _compare_export(self, data: CheckinData, good: dict[bytes, Row]) -> None:
        assert self.lines is not None
        target = self.folder / "aside.csv"
        count = data.export_rejected(target)
        with target.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line.replace("\0", "") for line in file))[1:]
        if not count == len(rows) == data.report.total_rejected:
            self.fault(f"{count} exported, {len(rows)} there of {data.report.total_rejected}")
        for number, reason, _, text in rows:
            line = self.lines[int(number) - 1].removesuffix(b"\r")
            if line in good and text != line.decode() and reason != Reason.CUT_OFF.value:
                self.fault(f"line {number} exported as {text[:200]!r}")


def _rows(data: CheckinData) -> list[Row]:
    """Return what was kept, in the order of the file."""
    from explorer.checkins.database import parquet_table

    users = parquet_table(data._entry.file("users.parquet"))
    return data._fetchall(
        f"SELECT u.name, epoch_us(r.time), r.lat, r.lon, r.weight FROM {data._rows} r "
        f"JOIN {users} u USING (user_id) ORDER BY r.file_row_number",
        [],
    )
