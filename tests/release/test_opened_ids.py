"""Ids seen in files that were opened are told to the curator before payment, and to nobody else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from explorer.checkins import Mapping, open_checkins
from explorer.cli import run
from explorer.release.access_log import record_view
from explorer.release.file_check import FileCheck, check
from explorer.release.ledger import known_data, settings
from explorer.release.ledger.keys import marks_in_order, person_mark
from explorer.release.messages import check_lines
from explorer.release.pipeline import LedgerLocation
from explorer.release.plan import plan_from_json
from tests.release.plans import COLUMNS, content, opened, place_in, write_plan, write_rows


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerLocation:
    place = place_in(tmp_path / "kept")
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    return place


def _look(place: LedgerLocation, path: Path, unit: str | None = None) -> None:
    """Open a file in the explorer."""
    mapping = Mapping(lat=2, lon=3, time=1, user=0 if unit is None else None, unit=unit)
    with open_checkins(path, mapping, cache_dir=None) as data:
        record_view(data, place.ledger, place.settings)


def _content(population: str, path: Path) -> dict[str, Any]:
    said = content(population, path)
    said["mechanism"]["parameters"]["header"] = "yes"
    return said


def _told(place: LedgerLocation, path: Path) -> FileCheck:
    with place.open() as ledger:
        accounts = ledger.accounts()
    population = accounts[0].population if accounts else opened(place)
    return check(place, plan_from_json(_content(population, path)))


def _rows(path: Path, first: int, users: int = 40) -> Path:
    """Write check-ins of users from u`first` on, below a header."""
    lines = write_rows(path, users, seed=first).read_text().splitlines(keepends=True)
    moved = (line.partition(",") for line in lines)
    rows = (f"u{int(user[1:]) + first},{rest}" for user, _, rest in moved)
    path.write_text("".join([",".join(COLUMNS), "\n", *rows]), encoding="utf-8")
    return path


def test_marks_are_the_hmac_of_every_id() -> None:
    ids = ["u1", " Zoe\u0308 ", "Zoë", "", "\ud800", "x" * 999]
    for key in (b"k", bytes(range(32))):
        assert list(marks_in_order(key, ids)) == [person_mark(key, one) for one in ids]


@pytest.mark.full
def test_ids_of_files_opened_before_are_counted(place: LedgerLocation, tmp_path: Path) -> None:
    first = _rows(tmp_path / "first.csv", 0)
    first.write_text(first.read_text().replace("u35,", "Zoë,"), encoding="utf-8")
    later = _rows(tmp_path / "later.csv", 30)
    later.write_text(later.read_text().replace("u69,", " Zoe\u0308\u200b,"), encoding="utf-8")
    assert (_told(place, later).seen, _told(place, later).seen_partly) == (0, False)
    _look(place, first)
    found = _told(place, later)
    assert (found.seen, found.seen_partly) == (10, False)  # u30 to u39 without u35, and Zoë
    assert any("10 ids" in line and "independent" in line for line in check_lines(found))
    assert _told(LedgerLocation(tmp_path / "other.sqlite", place.settings), later).seen == 10
    # one that is in two files counts once; a file's own ids, however it is written, do not
    _look(place, _rows(tmp_path / "third.csv", 25, users=11))
    assert _told(place, later).seen == 11
    _look(place, later)
    again = tmp_path / "again.csv"
    again.write_bytes(later.read_bytes().replace(b"\n", b"\r\n"))
    assert _told(place, again).seen == 11


def test_without_a_user_column_there_are_no_ids(place: LedgerLocation, tmp_path: Path) -> None:
    _look(place, _rows(tmp_path / "first.csv", 0), unit="row")
    assert not place.ledger.with_suffix(".opened").exists()
    assert _told(place, _rows(tmp_path / "later.csv", 30)).seen == 0


@pytest.mark.full
def test_marks_are_private_bounded_and_can_be_forgotten(
    place: LedgerLocation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    later = _rows(tmp_path / "later.csv", 0, users=41)
    monkeypatch.setattr(known_data, "MAX_IDS", 7)
    for k in range(3):
        _look(place, _rows(tmp_path / f"{k}.csv", 40 * k))
    folder = place.ledger.with_suffix(".opened")
    assert folder.stat().st_mode & 0o777 == 0o700
    files = sorted(folder.iterdir())
    assert len(files) == 3
    for path in files:
        assert path.stat().st_mode & 0o777 == 0o600
        _, _, marks = path.read_bytes().partition(b"\n")
        assert len(marks) == 7 * 8
    found = _told(place, later)
    assert (found.seen, found.seen_partly) == (8, True)  # u40 is in two files
    assert any("at least 8 ids" in line for line in check_lines(found))
    monkeypatch.setattr(known_data, "MAX_FILES", 2)
    _look(place, _rows(tmp_path / "3.csv", 200))
    assert len(list(folder.iterdir())) == 2
    assert (_told(place, later).seen, _told(place, later).seen_partly) == (0, True)
    next(folder.iterdir()).write_bytes(b"cut off")
    assert _told(place, later).seen_partly
    assert run(["ledger", "forget-ids", "--ledger", str(place.ledger)]) == 0
    assert "2 files" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


RANDOM = {
    "nonce",
    "release",
    "at",
    "output_sha256",
    "certificate_sha256",
    "tag",
    "entry_hash",
    "id",
    "inline",
    "sha256",
    "hash",
    "prev",
}


def _fixed(value: Any) -> Any:
    """Return a document without what is drawn, of the clock or keyed."""
    if isinstance(value, dict):
        return {name: _fixed(item) for name, item in value.items() if name not in RANDOM}
    return list(map(_fixed, value)) if isinstance(value, list) else value


@pytest.mark.full
def test_what_is_told_changes_nothing_else(
    place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = _rows(tmp_path / "later.csv", 30)
    plan = write_plan(tmp_path, _content(opened(place), later))
    _look(place, _rows(tmp_path / "first.csv", 0))
    backup = tmp_path / "backup"
    shutil.copytree(place.ledger.parent, backup)
    order = ["release", str(plan), "--ledger", str(place.ledger)]
    results, told = [], []
    for forgotten in (False, True):
        if forgotten:
            shutil.rmtree(place.ledger.parent)
            shutil.copytree(backup, place.ledger.parent)
            assert run(["ledger", "forget-ids", "--ledger", str(place.ledger)]) == 0
            capsys.readouterr()
        codes = [run(order)]
        printed = capsys.readouterr().out
        out = tmp_path / "out.json"
        codes.append(run([*order, "--spend", "1/2", "--out", str(out)]))
        paid = capsys.readouterr()
        told.append([line for line in printed.splitlines() if "opened before" in line])
        assert told[-1][0] in paid.err.splitlines()
        certificate = json.loads(out.with_suffix(".certificate.json").read_bytes())
        with place.open() as ledger:
            entries = [entry.as_json() for entry in ledger.entries()]
        exported = json.dumps(entries) + json.dumps(certificate)
        assert ".opened" not in exported
        results.append((codes, paid.out.splitlines()[0], _fixed(entries), _fixed(certificate)))
    assert results[0][0] == [2, 0]
    assert results[0] == results[1]
    assert "10 ids" in told[0][0]
    assert told[0] != told[1]
    assert told[0][0].startswith("Curator only: ")
