"""That a file was opened is kept, whoever opened it, or a certificate would say what is not so."""

from __future__ import annotations

import gzip
import hashlib
import multiprocessing
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.checkins.sources import find_files
from explorer.cli import run
from explorer.release.access_log import record_view
from explorer.release.content_hash import ContentHash
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.keys import key_file
from explorer.release.ledger.known_data import FIXED, OPENED
from explorer.release.ledger.settings import (
    FileSettings,
    KnownLedgers,
    default_ledger,
    default_settings,
    ledger_heads,
)
from explorer.release.pipeline import CHOSEN, LedgerLocation, draw, plan_release
from tests.release.plans import opened, place_in, plan_of, write_rows


def _opened(paths: tuple[Path, ...], fingerprint: str, synthetic: bool = False) -> Any:
    """Return what is asked of open check-ins."""
    return SimpleNamespace(
        files=find_files(paths),
        fingerprint=fingerprint,
        synthetic=synthetic,
        unit="row",
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _shown(place: LedgerLocation, path: Path) -> int | None:
    with place.open() as ledger:
        known = ledger.known.file(_sha256(path))
    return None if known is None else known.shown


def _chosen(place: LedgerLocation, path: Path) -> tuple[str, int]:
    """Release from a file and return what the certificate says of when parameters were fixed."""
    plan = plan_of(opened(place), path)
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    with place.open() as ledger:
        record, shown = ledger.attachment(release, CHOSEN)
    return record, shown


def test_a_look_is_kept_of_every_file_that_was_opened(tmp_path: Path) -> None:
    place = place_in(tmp_path / "new folder")
    one, two = (write_rows(tmp_path / f"{name}.csv", seed=k) for k, name in enumerate("ab"))
    record_view(_opened((one,), _sha256(one)), place.ledger, place.settings)
    both = _opened((one, two), "of both together")
    assert record_view(both, place.ledger, place.settings) == {_sha256(one), _sha256(two)}
    record_view(
        _opened((two,), ""), place.ledger, place.settings
    )  # opened without looking for its fingerprint
    record_view(_opened((one,), _sha256(one), synthetic=True), place.ledger, place.settings)
    assert (_shown(place, one), _shown(place, two)) == (2, 2)
    assert _chosen(place, one) == (OPENED, 2)


def _spelt_otherwise(path: Path) -> bytes:
    """Return a file's rows with other line ends, blanks after them and an empty line."""
    lines = path.read_bytes().splitlines()
    return b"\r\n".join([lines[0] + b" \t", b"", *lines[1:]])


@pytest.mark.parametrize("packed", [False, True])
def test_a_look_at_the_same_content_counts(tmp_path: Path, packed: bool) -> None:
    """However it is packed and its lines end; a user more or fewer makes it another file."""
    place, rows = place_in(tmp_path), write_rows(tmp_path / "rows.csv")
    copy = tmp_path / ("copy.csv.gz" if packed else "copy.csv")
    data = _spelt_otherwise(rows)
    copy.write_bytes(gzip.compress(data) if packed else data)
    record_view(_opened((copy,), _sha256(copy)), place.ledger, place.settings)
    assert _chosen(place, rows) == (OPENED, 1)
    other = LedgerLocation(tmp_path / "other.sqlite", place.settings)
    assert _chosen(other, rows) == (OPENED, 1)
    fewer = tmp_path / "fewer.csv"
    fewer.write_bytes(
        b"".join(
            line
            for line in rows.read_bytes().splitlines(keepends=True)
            if not line.startswith(b"u7,")
        )
    )
    assert _chosen(LedgerLocation(tmp_path / "third.sqlite", place.settings), fewer) == (FIXED, 0)


@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_content_is_hashed_the_same_in_any_blocks(size: int) -> None:
    def hashed(data: bytes, step: int) -> str:
        found = ContentHash()
        for k in range(0, len(data), step):
            found.update(data[k : k + step])
        return found.hexdigest()

    plain = b"a,1 x\nb, 2\n\tc,3\n"
    for data in (b"a,1 x \t\r\nb, 2\r\n\r\n\tc,3\r\n \r\n", b"a,1 x\rb, 2\r\tc,3", plain):
        assert hashed(data, size) == hashed(plain, 10**6)
    for data in (b"a,1x\nb, 2\n\tc,3", b"a,1 x\nb, 2\nc,3", b"b, 2\na,1 x\n\tc,3"):
        assert hashed(data, size) != hashed(plain, 10**6)


def test_a_look_that_another_ledger_has_is_told(tmp_path: Path) -> None:
    """Looks are in the user's ledger, the release is drawn from another of the same machine."""
    rows = write_rows(tmp_path / "rows.csv")
    mine = place_in(tmp_path)
    other = LedgerLocation(tmp_path / "other.sqlite", mine.settings)
    assert _chosen(other, rows) == (FIXED, 0)
    fresh = write_rows(tmp_path / "fresh.csv", seed=9)
    with mine.open():
        pass
    assert _chosen(other, fresh) == (FIXED, 0)
    later = write_rows(tmp_path / "later.csv", seed=10)
    for _ in range(2):
        record_view(_opened((later,), _sha256(later)), mine.ledger, mine.settings)
    with other.open() as ledger:  # planned with the other files, before these were opened at all
        population = ledger.accounts()[0].population
        plan = plan_of(population, later, epsilon="1/4")
        release = plan_release(ledger, plan)
    draw(other, plan, release)
    with other.open() as ledger:
        assert ledger.attachment(release, CHOSEN) == [OPENED, 2]


def test_a_ledger_that_can_t_be_asked_might_have_looks(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    mine = place_in(tmp_path)
    opened(mine)
    key_file(mine.ledger).unlink()
    other = LedgerLocation(tmp_path / "other.sqlite", mine.settings)
    assert _chosen(other, rows) == (OPENED, 0)
    mine.ledger.unlink()  # gone: whatever new ledger is made here has a remark of its own
    more = write_rows(tmp_path / "more.csv", seed=3)
    assert _chosen(other, more) == (FIXED, 0)
    third = write_rows(tmp_path / "third.csv", seed=4)
    assert _chosen(LedgerLocation(tmp_path / "third.sqlite", mine.settings), third) == (OPENED, 0)


@pytest.mark.full
def test_a_command_that_prints_what_is_true_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    rows = tmp_path / "rows.csv"
    made = write_rows(tmp_path / "made.csv").read_text().splitlines()
    cut = "\n".join(",".join(line.split(",")[:4]) for line in made)
    rows.write_text(f"user,time,lat,lon\n{cut}\n", encoding="utf-8")
    asked = ["heatmap", str(rows), "--no-cache", "--json", "--resolution", "16"]
    asked += ["--region", "40.5,-74.2,40.9,-73.7"]
    assert run(asked) == 0
    assert _shown(LedgerLocation(default_ledger(), default_settings()), rows) == 1
    place = LedgerLocation(default_ledger(), default_settings())
    place.ledger.write_bytes(b"no ledger at all, whatever stands here" * 30)
    capsys.readouterr()
    assert run(asked) == 0
    said = capsys.readouterr().err
    assert "ledger.sqlite" in said
    assert "certificate" in said
    assert str(rows) not in said


def test_every_look_of_the_window_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quickly one after the other, too, and at closing what is still to be kept is."""
    from explorer.ui.controllers import data_controller

    kept: list[str] = []

    def keep(data: Any) -> frozenset[str]:
        if not data.synthetic:
            kept.append(data.fingerprint)
        return frozenset()

    monkeypatch.setattr(data_controller, "_count", keep)
    counter = data_controller.AccessLog()
    for name in "abcdef":
        counter.count(SimpleNamespace(fingerprint=name, synthetic=name == "c"))  # type: ignore[arg-type]
    counter.close()
    assert kept == list("abdef")


def _remember(path: Path, seqs: range) -> None:
    memory = KnownLedgers(FileSettings(path), os.urandom)
    for seq in seqs:
        memory.remember("a" * 32, path, Entry(seq, "", f"{seq:064}", {}))


def test_of_many_processes_the_highest_entry_is_remembered(tmp_path: Path) -> None:
    """A lower one in its place would let a ledger that was rolled back pass."""
    path, context = tmp_path / "ledgers.json", multiprocessing.get_context("fork")
    workers = [context.Process(target=_remember, args=(path, range(k, 120, 4))) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert ledger_heads(FileSettings(path))["a" * 32].seq == 119
