"""Damaged gzip archives: everything before the defect is read, and notes are correct."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from explorer import bounded
from explorer.checkins import CheckinError, LoadCancelled, Reason, open_checkins, sniff
from explorer.checkins.errors import UnpackNeeded
from explorer.checkins.parsing import streams
from explorer.checkins.parsing.streams import decompress
from explorer.checkins.readers import excel
from explorer.checkins.scan import Damage
from explorer.cli import run
from tests import snapshots
from tests.checkins.conftest import good

Write = Callable[..., Path]
ROWS = [good(i, user=i) for i in range(3000)]
TEXT = ("\n".join(ROWS) + "\n").encode()
WHOLE = gzip.compress(TEXT, mtime=0)


def before_the_fault(archive: bytes) -> bytes:
    """What a decompressor that is fed byte by byte, and asked for byte by byte, gives out."""
    unzip = zlib.decompressobj(-15)
    out = bytearray()
    with suppress(zlib.error):  # the fault
        for byte in archive[10:-8] if len(archive) > 18 else b"":
            out += unzip.decompress(bytes([byte]), 1)
            while piece := unzip.decompress(unzip.unconsumed_tail, 1):
                out += piece
    return bytes(out)


def read(archive: bytes, step: int = 4096) -> tuple[bytes, Damage]:
    damage = Damage()
    pieces = (archive[at : at + step] for at in range(0, len(archive), step))
    return b"".join(decompress(pieces, damage)), damage


@pytest.mark.parametrize("step", [1, 7, 4096, 1 << 20])
@pytest.mark.parametrize(
    ("archive", "note"),
    [
        (WHOLE, ""),
        (WHOLE + b"\0" * 600, ""),
        (WHOLE[:-8] + b"\1\2\3\4" + WHOLE[-4:], "checksum does not fit"),
        (WHOLE[:-4] + b"\1\2\3\4", "length does not fit"),
        (WHOLE + b"remarks", "last 7 bytes"),
        (WHOLE[:-1], "within its checksum"),
        (WHOLE[:-8], "within its checksum"),
    ],
)
def test_nothing_is_lost_to_a_bad_end(archive: bytes, note: str, step: int) -> None:
    found, damage = read(archive, step)
    assert found == TEXT
    assert not damage.cut
    assert len(damage.notes) == bool(note)
    assert note in "".join(damage.notes)


def test_what_follows_a_wrong_checksum_is_read() -> None:
    found, damage = read(WHOLE[:-8] + b"\1\2\3\4" + WHOLE[-4:] + WHOLE)
    assert found == TEXT + TEXT
    assert len(damage.notes) == 1
    found, damage = read(WHOLE + b"\x1f\x8b\x08\0" + b"\xff" * 40)
    assert found.startswith(TEXT)
    assert damage.cut
    assert "damaged at byte" in damage.notes[0]


@given(st.integers(0, 8 * len(WHOLE) - 1), st.integers(1, 9000))
def test_a_flipped_bit_costs_nothing_before_it(bit: int, step: int) -> None:
    spoilt = bytearray(WHOLE)
    spoilt[bit // 8] ^= 1 << bit % 8
    found, damage = read(bytes(spoilt), step)
    harmless = bit // 8 in range(4, 10)  # time, flags of speed and system
    assert harmless or damage.notes or found == TEXT
    if bit // 8 >= 10:
        assert found == before_the_fault(bytes(spoilt))


@given(st.integers(19, len(WHOLE)))
def test_a_break_costs_nothing_before_it(length: int) -> None:
    found, damage = read(WHOLE[:length])
    assert found == before_the_fault(WHOLE[:length] + b"\0" * 8) or length > len(WHOLE) - 8
    assert TEXT.startswith(found)
    assert damage.cut == (length < len(WHOLE) - 8)


@pytest.mark.parametrize("rows", [20, 3000])
def test_rows_before_a_wrong_checksum_are_kept(write: Write, rows: int) -> None:
    whole = gzip.compress("\n".join(ROWS[:rows]).encode())
    path = write(whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:], "crc.txt.gz")
    assert len(sniff(path).rows) == min(rows, 50)
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == rows
        assert data.report.rejected == {}
        snapshots.check(data.report.notes)
        assert any("checksum" in note for note in data.report.notes)


@pytest.mark.full
def test_rows_before_a_fault_in_the_middle_are_kept(write: Write) -> None:
    rng = random.Random(5)
    text = "\n".join(good(i, user=rng.getrandbits(60)) for i in range(40_000)).encode()
    whole = bytearray(gzip.compress(text))
    middle = len(whole) // 2
    whole[middle:] = rng.randbytes(len(whole) - middle)
    readable = before_the_fault(bytes(whole))
    path = write(bytes(whole), "middle.txt.gz")
    with open_checkins(path, cache_dir=None, detect_duplicates=False) as data:
        assert data.report.physical_lines == readable.count(b"\n") + 1
        assert data.report.rejected.keys() >= {Reason.CUT_OFF}
        lost = readable.count(b"\n") - data.rows
        assert lost <= 50  # garbled by what the decompressor read before it noticed
        assert data.rows > 15_000
        assert any("damaged at byte" in note for note in data.report.notes)


@pytest.mark.full
def test_an_archive_of_zeros_is_refused_in_time(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREELY", 1 << 22)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    head = ("\n".join(ROWS[:50]) + "\n").encode()
    for filling in (b"\0", b"\n", (ROWS[0] + "\n").encode()):
        bomb = gzip.compress(head + filling * ((20 << 20) // len(filling)))
        path = write(bomb, "bomb.txt.gz")
        with pytest.raises(UnpackNeeded, match=r"bomb\.txt.* 20 "):
            open_checkins(path, cache_dir=None)
    with pytest.raises(LoadCancelled):
        open_checkins(path, cache_dir=None, cancelled=iter([False] * 60 + [True] * 999).__next__)


def test_an_archive_that_is_trusted_is_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    path = write(gzip.compress(("\n".join(ROWS[:50]) + "\n" * 200_000).encode()), "large.txt.gz")
    with pytest.raises(UnpackNeeded):
        open_checkins(path, cache_dir=tmp_path / "cache")
    trusted = replace(sniff(path).dialect, unpack=True)
    for _ in range(2):  # and from the cache, where others find it too
        with open_checkins(path, dialect=trusted, cache_dir=tmp_path / "cache") as data:
            assert data.rows == 50
    with open_checkins(path, cache_dir=tmp_path / "cache") as data:
        assert data.rows == 50


@pytest.mark.full
def test_a_workbook_that_is_trusted_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["user", "lat", "lon"])
    for i in range(1500):
        book.active.append([f"u{i % 12}", 48.5, 16.5])
    book.save(tmp_path / "even.xlsx")
    monkeypatch.setattr(excel, "UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(excel, "MAX_RATIO", 5)
    monkeypatch.setattr(bounded, "_serving", 1 << 30)  # a worker would not know of these
    with pytest.raises(UnpackNeeded):
        sniff(tmp_path / "even.xlsx")
    preview = sniff(tmp_path / "even.xlsx", unpack=True)
    with open_checkins(
        tmp_path / "even.xlsx", preview.mapping, dialect=preview.dialect, cache_dir=None
    ) as data:
        assert data.rows == 1500


@pytest.mark.full
def test_the_command_asks_whether_to_trust_an_archive(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(streams, "UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    path = write(gzip.compress(("\n".join(ROWS[:50]) + "\n" * 200_000).encode()), "large.txt.gz")
    order = ["heatmap", str(path), "--quiet", "--json", "--no-cache"]
    assert run(order) == 2
    assert "large.txt.gz" in (said := capsys.readouterr().err)
    assert said.rstrip().endswith("Give --unpack.")
    assert run([*order, "--unpack"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]["kept"] == 50


def test_a_full_disk_is_left_some_room(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.checkins.readers import text

    monkeypatch.setattr(text, "MIN_FREE", 10**18)
    with pytest.raises(CheckinError, match=r"whole\.txt.* [0-9,]+ MB"):
        open_checkins(write(WHOLE, "whole.txt.gz"), cache_dir=None)
