"""Text files that exhaust time or memory end soon, with an error or their valid rows."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from explorer.checkins import CheckinError, open_checkins, sniff
from explorer.checkins.model import Mapping
from explorer.checkins.parsing import ambiguities, guess_columns, numbers, row_rules, times
from explorer.checkins.parsing.column_names import key
from explorer.privacy.releases import means
from explorer.studies.base import csv_table
from explorer.user_rows import MAX_MARKS, compose_nfc

if TYPE_CHECKING:
    from tests.checkins.conftest import Write

ROWS = "".join(
    f"u{i % 7}\t2010-01-{1 + i % 28:02d}T10:00:00Z\t48.{i + 100}\t16.{i + 100}\tp\n"
    for i in range(60)
)

LONG = (
    "1" * 100_000 + "x",
    "1" * 100_000,
    "1," * 50_000,
    "1." * 50_000,
    " " * 100_000 + "1x",
    "1e" + "9" * 100_000,
    "-" * 100_000,
    "1,111" * 20_000,
    "2010-01-01T10:00:00." + "0" * 100_000,
    "01.02.2010 " + " " * 100_000 + "x",
    "1" * 100_000 + " " * 100_000 + "x",
)
"""Fields that a pattern which tries every place again would need 10¹⁰ steps for."""


class Counted:
    """A pattern that adds up the characters it is given, and remembers the longest text."""

    def __init__(self, pattern: re.Pattern[str], seen: list[int]) -> None:
        self._pattern, self._seen = pattern, seen

    def fullmatch(self, text: str, *places: int) -> Any:
        self._seen.append(len(text))
        return self._pattern.fullmatch(text, *places)

    def match(self, text: str, *places: int) -> Any:
        self._seen.append(len(text))
        return self._pattern.match(text, *places)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the lengths of all texts that reach a pattern of numbers or times."""
    seen: list[int] = []
    for module in (numbers, times, ambiguities, guess_columns, means, csv_table):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Counted(value, seen))
            elif isinstance(value, dict):
                for sign, pattern in list(value.items()):
                    if isinstance(pattern, re.Pattern):
                        monkeypatch.setitem(value, sign, Counted(pattern, seen))

    class Watched(datetime):
        @classmethod
        def strptime(cls, text: str, form: str) -> Any:
            seen.append(len(text))
            return datetime.strptime(text, form)

    monkeypatch.setattr(times, "datetime", Watched)
    return seen


@pytest.mark.parametrize("text", LONG)
def test_no_long_field_reaches_a_pattern(steps: list[int], text: str) -> None:
    row = ["u", text, text, text]
    for decimal in ".,":
        assert numbers.number(text, decimal) is None
        assert not numbers.has_fraction(text, decimal)
        assert row_rules.bad_cells(row, Mapping(0, 1, 2, 3), decimal)
        assert csv_table.number_field(text, ";", decimal) is None
    assert not numbers.has_thousands(text)
    assert times.formats_of(text) == ()
    assert not any(times.reads_time(text, form) for form in times.OFFERED)
    assert times.time_formats([text] * 40) == ()
    assert means.read_decimal(text) is None
    guess_columns.guess_mapping(("user", "time", "lat", "lon"), [row] * 5, 4)
    assert max(steps, default=0) <= numbers.MAX_LENGTH
    assert sum(steps) <= 100_000


def test_short_fields_are_read_as_before(steps: list[int]) -> None:
    assert numbers.number(" " * 1000 + "-1.5e3\t") == -1500
    assert numbers.number("1,5", ",") == 1.5
    assert numbers.number("5.") == 5
    assert numbers.number("1_000") is None
    assert numbers.has_thousands("1.234,5")
    assert means.read_decimal("  +.5e-1 ") == 5 * 10 ** (means.DECIMAL_PLACES - 2)
    assert steps


@pytest.mark.full
def test_one_long_row_is_rejected_and_the_others_are_kept(write: Write) -> None:
    for column in range(1, 4):
        row = ["u1", "2010-01-05T10:00:00Z", "48.5", "16.5", "p"]
        row[column] = "1" * 200_000 + "x"
        path = write("\t".join(row) + "\n" + ROWS, f"long-{column}.txt")
        path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
        for one in (path, path.with_suffix(".gz")):
            with open_checkins(one, cache_dir=None) as data:
                assert data.rows == 60
                assert data.report.total_rejected == 1


@pytest.mark.parametrize("text", ["1" * 65, "0." + "0" * 62 + "1", "1" * 65 + " "])
def test_preview_and_load_refuse_the_same_numbers(write: Write, text: str) -> None:
    path = write(f"u1\t2010-01-05T10:00:00Z\t{text}\t16.5\tp\n{ROWS}")
    with open_checkins(path, Mapping(0, 1, 2, 3, 4), cache_dir=None) as data:
        assert data.rows == 60
    assert numbers.number(text) is None


@pytest.mark.parametrize("form", ["%Y %Y", "%Q", "%H:%M", "%", "%Y-%m-%d" + " " * 100, "%d.%m"])
def test_formats_that_no_time_can_be_read_with_are_refused(write: Write, form: str) -> None:
    with pytest.raises(ValueError, match="“"):
        times.format_of_example(form)
    path = write(ROWS)
    mapping = replace(sniff(path).mapping, time_format=form)
    with pytest.raises(CheckinError):
        open_checkins(path, mapping, cache_dir=None)


@pytest.mark.parametrize("form", [f for f in times.OFFERED if "%" in f] + ["%Y%m%d", "%d %B %Y"])
def test_formats_that_are_usual_are_taken(form: str) -> None:
    assert times.format_of_example(form) == form


@pytest.mark.parametrize(
    "name",
    [
        "(" * 200_000,
        "[(" * 100_000,
        "(a" * 100_000,
        "a" * 200_000,
        "a" + "\u0301" * 100_000 + "\u0323" * 100_000,
    ],
)
def test_long_names_of_columns_are_read_in_linear_time(name: str) -> None:
    assert key(name) in ("", "a" * len(key(name)))


def test_ids_of_combining_marks_are_no_ids() -> None:
    assert compose_nfc("e\u0301") == "\u00e9"
    assert compose_nfc("\u0323\u0301e" * 1000 + "e\u0301" * 1000) is not None
    assert compose_nfc("a" + "\u0301" * MAX_MARKS + "b" * 100) is not None
    assert compose_nfc("a" + "\u0301" * 250_000 + "\u0323" * 250_000) is None
