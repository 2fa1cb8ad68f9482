"""Doubtful columns are named in questions, with an example value."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from explorer.checkins import Mapping, MappingNeeded, Preview, Reason, open_checkins, sniff
from explorer.checkins.parsing.guess_columns import with_columns
from explorer.checkins.parsing.times import EPOCHS, OFFERED, time_format
from tests import snapshots

Write = Callable[..., Path]
ROWS = 60


def table(time: Callable[[int], str], delimiter: str = ",", decimal: str = ".") -> str:
    lines = [delimiter.join(("user", "time", "lat", "lon"))]
    for i in range(ROWS):
        place = f"{40 + i / 1000:.3f}", f"{-73 - i / 1000:.3f}"
        lines.append(
            delimiter.join((f"u{i % 7}", time(i), *(p.replace(".", decimal) for p in place)))
        )
    return "\n".join(lines)


def iso(i: int) -> str:
    return f"2010-01-{1 + i % 28:02d}T12:00:00Z"


def minutes(i: int) -> str:
    return str(37 * i % 1440)


def test_minutes_of_the_day_are_no_time_that_can_be_read(write: Write) -> None:
    path = write(table(minutes), "minutes.csv")
    preview = sniff(path)
    question = preview.question("time")
    assert question is not None
    snapshots.check(question.text)
    assert {"“time”", "“0”:"} <= set(question.text.split())
    with pytest.raises(MappingNeeded, match=r"minutes\.csv: "):
        open_checkins(path, cache_dir=None)
    with open_checkins(path, with_columns(preview, {"time": None}), cache_dir=None) as data:
        assert data.rows == ROWS
        assert not data.has_times


def test_a_column_chosen_for_the_time_is_read_as_it_is_spelt(write: Write) -> None:
    lines = table(minutes).split("\n")
    lines = [f"{line},{1_262_304_000 + 60 * i}" for i, line in enumerate(lines)]
    lines[0] = "user,minute,lat,lon,stamp"
    preview = sniff(write("\n".join(lines), "stamp.csv"))
    assert with_columns(preview, {"time": 4}).time_format == "epoch_s"
    assert with_columns(preview, {"time": None}).time is None


@pytest.mark.full
@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), ("\t", "."), ("|", ",")])
def test_decimal_commas(write: Write, delimiter: str, decimal: str) -> None:
    path = write(table(iso, delimiter, decimal), "decimal.csv")
    preview = sniff(path)
    assert (preview.delimiter, preview.dialect.decimal) == (delimiter, decimal)
    assert preview.confidence == 1
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == ROWS
        assert data.extent == pytest.approx((40.0, -73.059, 40.059, -73.0))


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1.234,5", Reason.THOUSANDS),
        ("40.5", Reason.NOT_A_NUMBER),
        ("4_0,5", Reason.NOT_A_NUMBER),
        ("1,2,3", Reason.NOT_A_NUMBER),
    ],
)
def test_other_spellings_beside_decimal_commas_are_set_aside(
    write: Write, text: str, reason: Reason
) -> None:
    rows = table(iso, ";", ",") + f"\nu1;{iso(3)};{text};1,5"
    with open_checkins(write(rows, "decimal.csv"), cache_dir=None) as data:
        assert data.rows == ROWS
        assert data.report.rejected == {reason: 1}


@pytest.mark.full
def test_separators_and_foreign_digits_beside_a_number(write: Write) -> None:
    """Python takes them for blanks or digits, the reader does not."""
    signs = "\x1f\x1e\x1c\u2003\u0661"
    head, *rows = table(iso).split("\n")
    third = [
        row.replace("40.", f"{signs[i // 3 % 5]}40.") if i % 3 == 0 else row
        for i, row in enumerate(rows)
    ]
    path = write("\n".join([head, *third]), "signs.csv")
    assert sniff(path).confidence == pytest.approx(1 - 1 / 3, abs=0.02)
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == ROWS - ROWS // 3
        assert data.report.total_rejected == ROWS // 3
    for sign in signs:
        path = write("\n".join([head, *rows]).replace("40.", f"{sign}40."), "signs.csv")
        assert sniff(path).confidence == pytest.approx(0, abs=0.02)
        with pytest.raises(MappingNeeded, match=r"signs\.csv: .*") as error:
            open_checkins(path, cache_dir=None)
        assert "Error" not in str(error.value)
        assert str(error.value).isprintable()


@pytest.mark.full
def test_huge_numbers_are_counted_with_their_lines(write: Write) -> None:
    texts = ["9" * 400, "9" * 5000, "1e999", "-1e400", "1e-999999999"]
    lines = table(iso).split("\n")
    bad = []
    for number, (column, text) in enumerate(itertools.product(range(4), texts), 6):
        fields = lines[number - 1].split(",")
        fields[column] = text
        lines[number - 1] = ",".join(fields)
        # A name like any other, and what is as good as 0.
        if column and not (text.startswith("1e-") and column > 1):
            bad.append(number)
    with open_checkins(write("\n".join(lines), "huge.csv"), cache_dir=None) as data:
        found = [e.line for examples in data.report.examples.values() for e in examples]
        assert sorted(found) == bad
        assert data.rows == ROWS - len(bad)


def test_huge_numbers_everywhere_are_refused_by_name(write: Write) -> None:
    path = write(table(lambda _: "9" * 5000), "huge.csv")
    with pytest.raises(MappingNeeded, match=r"huge\.csv: .*“time” .*“99") as error:
        open_checkins(path, cache_dir=None)
    assert len(str(error.value)) < 400
    assert isinstance(error.value.preview, Preview)
    with open_checkins(path, Mapping(user=0, lat=2, lon=3), cache_dir=None) as data:
        assert data.rows == ROWS


@pytest.mark.parametrize("spelling", [form for form in OFFERED if form not in ("iso", *EPOCHS)])
def test_every_spelling_is_tried_where_it_may_stand(spelling: str) -> None:
    """Columns of numbers are spared those that are none."""
    moment = datetime(2010, 11, 22, 13, 4, 5, tzinfo=UTC)
    assert time_format([moment.strftime(spelling)] * 5) == spelling
