"""The dry run: what of a file can be read, told to the curator before anything is spent."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import run
from explorer.release.certificate.sentences import CURRENT
from explorer.release.certificate.verify import verify
from explorer.release.errors import ReleaseError
from explorer.release.file_check import SHOWN, RowCheck, RowCounter, check
from explorer.release.ledger import settings
from explorer.release.ledger.known_data import FIXED
from explorer.release.mechanisms.base import Reads
from explorer.release.messages import check_lines
from explorer.release.pipeline import (
    LedgerLocation,
    certificate_of,
    draw,
    find_or_plan_release,
    plan_release,
)
from explorer.release.plan import Plan, plan_from_json, read_plan
from explorer.release.rows import reading
from explorer.release.rows.format import FORMAT_TAKEN, FileFormat
from explorer.release.rows.reading import read_file
from tests.release.plans import content, opened, place_in, plan_of, write_plan, write_rows

PEOPLE = 30
HEADER = ("user", "time", "lat", "lon")
ROWS = [
    (f"anna{k}", f"2026-01-{k % 28 + 1:02} 08:00:00", f"48.2{k:02}", "16.39") for k in range(PEOPLE)
]


def _form(**how: str) -> FileFormat:
    return FileFormat(HEADER, **({"delimiter": "comma", "header": "yes"} | how))


def _dry(path: Path, form: FileFormat, reads: Reads = Reads(places=True)) -> RowCheck:  # noqa: B008
    counter = RowCounter(form, reads)
    read_file(path, form, reads, counter)
    return counter.result()


def _written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def _csv(line: Callable[[tuple[str, ...]], str] = ",".join, end: str = "\n") -> str:
    return end.join(map(line, [HEADER, *ROWS])) + end


def _german(row: tuple[str, ...]) -> str:
    return ";".join(cell.replace(".", ",") for cell in row)


SPELLINGS: dict[str, tuple[str, dict[str, str], dict[str, str], str]] = {
    "quoted": (
        _csv(lambda row: ",".join(f'"{c}"' for c in row)),
        {},
        {"quotes": "double"},
        "quote",
    ),
    "comma": (_csv(_german), {"delimiter": "semicolon"}, {"decimal": "comma"}, "mark a comma?"),
    "delimiter": (
        _csv(_german),
        {"decimal": "comma", "quotes": "double"},
        {"delimiter": "semicolon"},
        "delimiter semicolon?",
    ),
    "trailing": (_csv(end=",\n"), {}, {"trailing_delimiter": "yes"}, "delimiter end each row?"),
    "no trailing": (_csv(), {"trailing_delimiter": "yes"}, {"trailing_delimiter": "no"}, "without"),
    "cr": (_csv(end="\r"), {}, {"row_end": "cr"}, "CR?"),
    "lf": (_csv(), {"row_end": "cr"}, {"row_end": "lf"}, "LF?"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_wrong_format_reads_nothing_and_the_hint_helps(tmp_path: Path, name: str) -> None:
    text, declared, right, hint = SPELLINGS[name]
    path = _written(tmp_path / "rows.csv", text)
    found = _dry(path, _form(**declared))
    assert found.readable == 0
    assert found.under_half
    assert hint in found.first[0].hint
    # a file that is one row has none but that of names
    assert found.rows == (1 if name in ("cr", "lf") else PEOPLE)
    found = _dry(path, _form(**(declared | right)))
    assert (found.rows, found.readable, found.first) == (PEOPLE, PEOPLE, ())
    assert not found.under_half


def test_the_line_the_column_and_the_field_are_told(tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.csv", _csv(_german))
    found = _dry(path, _form(delimiter="semicolon"))
    first = found.first[0]
    assert (first.line, first.column, first.value) == (2, "lat", "48,200")
    assert [one.line for one in found.first[:SHOWN]] == [2, 3, 4, 5, 6]
    told = found.lines()
    assert len(told) == 5
    for word in ("0 of 30 rows", "line 2", "column lat", "'48,200'", "a comma?"):
        assert word in told[0]


def test_utf_16_is_hinted_at_and_read(tmp_path: Path) -> None:
    path = _written(tmp_path / "rows.csv", _csv(), "utf-16-le")
    found = _dry(path, _form())
    assert found.readable == 0
    assert any("UTF-16" in one.hint for one in found.first)
    assert _dry(path, _form(encoding="utf-16-le")).readable == PEOPLE


def test_lines_are_counted_over_blank_and_long_rows_and_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", 16)
    monkeypatch.setattr(reading, "MAX_ROW_BYTES", 60)
    lines = [
        "",
        "user,time,lat,lon",
        "a,,1,1",
        " ",
        "b,,x,1",
        "c" * 500,
        "d,,1",
        ",,1,1",
        "e,,95,1",
        "f,,1,1\r",
        'g,,"' + "9" * 50 + ",1",
    ]
    found = _dry(_written(tmp_path / "rows.csv", "\n".join(lines)), _form())
    assert (found.rows, found.readable) == (8, 2)
    assert [(one.line, one.column) for one in found.first] == [
        (5, "lat"),
        (6, ""),
        (7, ""),
        (8, "user"),
        (9, "lat"),
        (11, "lat"),
    ]
    found = _dry(_written(tmp_path / "one.csv", lines[-1]), _form(header="no"))
    assert len(found.first[0].value) == 40
    assert _dry(_written(tmp_path / "none.csv", "\n\n"), _form()).under_half


@pytest.mark.parametrize(
    ("value", "how", "column", "hint"),
    [
        ("1767254400", {}, "time", "unix?"),
        ("1767254400000", {}, "time", "unix-ms?"),
        ("31.01.2026 18:05", {}, "time", "%d.%m.%Y"),
        ("2026-01-31", {"time_format": "unix"}, "time", "iso?"),
    ],
)
def test_times_that_do_not_fit_are_hinted_at(
    tmp_path: Path, value: str, how: dict[str, str], column: str, hint: str
) -> None:
    path = _written(tmp_path / "rows.csv", f"a,{value},1,1\n")
    (why,) = _dry(path, _form(header="no", **how), Reads(times=True)).first
    assert (why.column, why.value) == (column, value)
    assert hint in why.hint


def test_only_what_is_read_counts(tmp_path: Path) -> None:
    """A count of people needs no place; a mean needs numbers in its columns."""
    path = _written(tmp_path / "rows.csv", "a,x,y,z\nb,,1,1\n")
    assert _dry(path, _form(header="no"), Reads()).readable == 2
    form = dataclasses.replace(_form(header="no"), columns=("user", "note", "amount", "more"))
    numbers = _dry(path, form, Reads(texts=("amount",), numbers=True))
    assert (numbers.readable, numbers.first[0].column) == (1, "amount")
    assert _dry(path, form, Reads(texts=("amount",))).readable == 2


# -- before anything is spent


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerLocation:
    place = place_in(tmp_path)
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    return place


def _kinds(place: LedgerLocation) -> list[str]:
    with place.open() as ledger:
        return [entry.body["kind"] for entry in ledger.entries()]


def _record(place: LedgerLocation, plan: Plan, release: str) -> tuple[str, int]:
    with place.open() as ledger:
        chosen = certificate_of(ledger, plan, release)["parameters_chosen"]
    return chosen["record"], chosen["true_map_shown"]


def test_a_file_never_opened_is_checked_after_its_plan_was_entered(
    place: LedgerLocation, tmp_path: Path
) -> None:
    plan = plan_of(opened(place), write_rows(tmp_path / "rows.csv"))
    for _ in range(2):
        found = check(place, plan)
        assert found.rows.readable == found.rows.rows > 40
        assert _kinds(place) == ["budget", "plan"]
    with place.open() as ledger:
        assert ledger.account(plan.population).spent == 0
        release = find_or_plan_release(ledger, plan)
    draw(place, plan, release)
    assert _kinds(place) == ["budget", "plan", "reserve", "start", "commit"]
    assert _record(place, plan, release) == (FIXED, 0)
    # another plan comes after what the dry run told
    other = dataclasses.replace(plan, epsilon=Fraction(1, 4))
    with place.open() as ledger:
        release = find_or_plan_release(ledger, other)
    draw(place, other, release)
    assert _record(place, other, release) == ("data opened before", 0)


def test_a_file_opened_before_is_checked_at_once(place: LedgerLocation, tmp_path: Path) -> None:
    plan = plan_of(opened(place), write_rows(tmp_path / "rows.csv"))
    with place.open() as ledger:
        ledger.known.record_view(reading.hash_file(plan.data)[0])
    assert not check(place, plan).rows.under_half
    assert _kinds(place) == ["budget"]


def test_what_does_not_fit_is_not_entered_and_a_new_file_not_read(
    place: LedgerLocation, tmp_path: Path
) -> None:
    plan = plan_of(opened(place, budget=1), write_rows(tmp_path / "rows.csv"), epsilon="2")
    with pytest.raises(ReleaseError, match="= 1 is left"):
        check(place, plan)
    assert _kinds(place) == ["budget"]
    with place.open() as ledger:
        assert ledger.known.file(reading.hash_file(plan.data)[0]) is None


def test_a_plan_is_taken_up_once(place: LedgerLocation, tmp_path: Path) -> None:
    plan = plan_of(opened(place), write_rows(tmp_path / "rows.csv"))
    declared = dataclasses.replace(plan.declared, texts={**plan.declared.texts, "title": "New"})
    with place.open() as ledger:
        first = find_or_plan_release(ledger, plan)
        assert find_or_plan_release(ledger, dataclasses.replace(plan, declared=declared)) == first
        assert ledger.attachment(first, "declared")["title"] == "New"
        ledger.reserve(first)
        assert find_or_plan_release(ledger, plan) != first
        assert plan_release(ledger, plan) != find_or_plan_release(ledger, plan)


def _case(place: LedgerLocation, tmp_path: Path, **how: Any) -> dict[str, Any]:
    said = content(opened(place, budget=20), epsilon="8")
    said["mechanism"]["parameters"] = {
        "box": ["48", "16", "48.5", "16.8"],
        "columns": list(HEADER),
        "delimiter": "semicolon",
        "header": "yes",
        **how,
    }
    write_plan(tmp_path, said)
    _written(tmp_path / "rows.csv", _csv(_german))
    return said


@pytest.mark.full
def test_the_command_tells_and_refuses_nothing(
    place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _case(place, tmp_path)
    order = ["release", str(tmp_path / "PLAN.json"), "--ledger", str(place.ledger)]
    assert run(order) == 2
    told = capsys.readouterr().out.splitlines()
    assert all(line.startswith("Curator only: ") for line in told)
    assert any("0 of 30 rows" in line and "line 2, column lat" in line for line in told)
    assert _kinds(place) == ["budget", "plan"]
    # right as it is now: the rows are there
    parameters = said["mechanism"]["parameters"]
    write_plan(
        tmp_path,
        said | {"mechanism": said["mechanism"] | {"parameters": parameters | {"decimal": "comma"}}},
    )
    assert run(order) == 2
    assert any("30 of 30 rows" in line for line in capsys.readouterr().out.splitlines())
    # and whoever pays for nothing gets it, told the same
    write_plan(tmp_path, said)
    out = str(tmp_path / "out.json")
    assert run([*order, "--spend", "8.0", "--out", out]) == 0
    printed = capsys.readouterr()
    again = [line for line in printed.err.splitlines() if line.startswith("Curator only: ")]
    assert again == told
    assert "Curator only" not in printed.out
    assert _kinds(place)[-4:] == ["reserve", "start", "commit", "publish"]


def test_a_container_is_refused_before_anything_is_reserved(
    place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _case(place, tmp_path)
    (tmp_path / "rows.csv").write_bytes(b"PAR1\x15" + os.urandom(99))
    order = ["release", str(tmp_path / "PLAN.json"), "--ledger", str(place.ledger)]
    assert run([*order, "--spend", "8"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert "Parquet" in told[-1]
    assert any(line.startswith("Curator only: the file was not checked") for line in told)
    assert _kinds(place) == ["budget", "plan"]
    with place.open() as ledger:
        assert ledger.accounts()[0].spent == 0


def test_known_ids_are_told(place: LedgerLocation, tmp_path: Path) -> None:
    first, second = opened(place), opened(place)
    plan = plan_of(first, write_rows(tmp_path / "first.csv", users=40))
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    found = check(place, plan_of(second, write_rows(tmp_path / "second.csv", users=25, seed=9)))
    assert found.known == {first: 25}
    assert any("25" in line and first in line for line in check_lines(found))


def test_what_other_ledgers_spent_on_the_same_content_is_told(
    place: LedgerLocation, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    other = LedgerLocation(tmp_path / "other.sqlite", place.settings)
    plan = plan_of(opened(other), rows, epsilon="1/4")
    with other.open() as ledger:
        release = plan_release(ledger, plan)
    draw(other, plan, release)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(rows.read_bytes().replace(b"\n", b"\r\n"))
    population = opened(place)
    for path in (rows, copy):
        found = check(place, plan_of(population, path))
        assert found.spent == {str(other.ledger): Fraction(1, 4)}
        assert any("0.25" in line and other.ledger.name in line for line in check_lines(found))
    assert _kinds(place) == ["budget"]
    third = write_rows(tmp_path / "third.csv", seed=7)
    assert check(place, plan_of(population, third)).spent == {}


# -- where the format is from


def test_a_format_taken_from_the_file_is_in_plan_and_certificate(
    place: LedgerLocation, tmp_path: Path
) -> None:
    said = content(opened(place))
    said["declared"]["format"] = FORMAT_TAKEN
    write_rows(tmp_path / "rows.csv")
    plan = read_plan(write_plan(tmp_path, said))
    assert plan.declared.format == FORMAT_TAKEN
    assert plan_from_json(plan.as_json()) == plan
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    with place.open() as ledger:
        made = certificate_of(ledger, plan, release)
    assert made["parameters_chosen"]["format"] == FORMAT_TAKEN
    # all else is declared not to be chosen from the data
    assert made["parameters_chosen"]["independent_of_data"] == "declared"
    assert {"text": CURRENT.format_taken, "source": "program"} in made["conditions"]
    assert verify(made).failure == ""
    made["parameters_chosen"]["format"] = "declared"
    assert "conditions" in verify(made).failure
    plain = plan_from_json(content(plan.population))
    assert "format" not in plain.as_json()["declared"]
    said["declared"]["format"] = "guessed"
    with pytest.raises(ReleaseError, match=r"declared\.format"):
        plan_from_json(said)


def test_a_plan_that_is_no_regular_file_or_has_no_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "PLAN.json")
    with pytest.raises(ReleaseError, match="regular file"):
        read_plan(tmp_path / "PLAN.json")
    (tmp_path / "large.json").write_bytes(b" " * (5 << 20))
    with pytest.raises(ReleaseError, match="too large"):
        read_plan(tmp_path / "large.json")
