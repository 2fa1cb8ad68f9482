"""Files of many kinds: spellings, encodings, archives, and files without check-ins."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.checkins import (
    CheckinError,
    Dialect,
    Format,
    Mapping,
    MappingNeeded,
    Reason,
    open_checkins,
    sniff,
)
from explorer.checkins.parsing.guess_columns import with_columns
from tests.checkins.conftest import good
from tests.waiting import time_limit

Write = Callable[..., Path]
ROWS = [good(i) for i in range(30)]


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "ending", "encoding", "header"),
    [
        ("checkins.txt", "\n", "utf-8", True),
        ("checkins.txt", "\r\n", "utf-8-sig", False),
        ("checkins.txt", "\r\n", "utf-16", True),
        ("checkins.txt", "\n", "utf-16-be-bom", False),
        ("checkins.txt.gz", "\r\n", "utf-8", False),
        ("checkins.txt.gz", "\n", "utf-8-sig", True),
        ("checkins.txt.gz", "\n", "utf-16", False),
        ("checkins.txt.gz", "\r\n", "utf-16-be-bom", True),
    ],
)
def test_the_same_rows_in_any_wrapping(
    write: Write, name: str, ending: str, encoding: str, header: bool
) -> None:
    names = ["user\ttime\tlatitude\tlongitude\tlocation id"] if header else []
    text = ending.join([*names, *ROWS]) + ending
    content = (
        "\ufeff".encode("utf-16-be") + text.encode("utf-16-be")
        if encoding == "utf-16-be-bom"
        else text.encode(encoding)
    )
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    preview = sniff(path)
    assert preview.format is Format.SNAP
    assert preview.has_header is header
    assert preview.encoding == encoding.removesuffix("-be-bom")
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.users) == (30, 7)
        assert data.report.physical_lines == 30 + header
        assert data.report.header == header
        assert data.report.rejected == {}
        assert data.extent == (40.5, -73.5, 40.5, -73.5)
        assert data.first_time == "2010-01-01T12:00:00Z"


@pytest.mark.full
@pytest.mark.parametrize(
    ("spelling", "format_"),
    [
        ("2010-10-19 23:55:27+0000", "iso"),
        ("2010-10-19T23:55:27Z", "iso"),
        ("2010-10-20T01:55:27+02:00", "iso"),
        ("2010-10-19 23:55:27 UTC", "iso"),
        ("2010/10/19 23:55:27", "iso"),
        ("1287532527000000", "epoch_us"),
        ("Tue Oct 19 23:55:27 +0000 2010", "%a %b %d %H:%M:%S %z %Y"),
        ("20101019T235527Z", "%Y%m%dT%H%M%SZ"),
    ],
)
def test_spellings_of_time(write: Write, spelling: str, format_: str) -> None:
    path = write("".join(f"{i}\t{spelling}\t40.5\t-73.5\t{i}\n" for i in range(12)))
    mapping = Mapping(0, 1, 2, 3, 4)
    mapping = replace(mapping, time_format=with_columns(sniff(path), {"time": 1}).time_format)
    assert mapping.time_format == format_
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert data.rows == 12
        assert data.first_time == data.last_time == "2010-10-19T23:55:27Z"


def test_the_first_second_of_1970_is_a_time(write: Write) -> None:
    rows = [*ROWS, "8\t1970-01-01T00:00:00Z\t40.5\t-73.5\t1"]
    with open_checkins(write("\n".join(rows)), cache_dir=None) as data:
        assert data.first_time == "1970-01-01T00:00:00Z"
        assert data.rows == 31


def test_an_id_that_begins_like_a_parquet_file_is_text(write: Write) -> None:
    rows = [f"PAR1{i % 7},48.{100 + i},16.{100 + i}" for i in range(40)]
    with open_checkins(
        write("\n".join(rows), "a.csv"), Mapping(0, None, 1, 2), cache_dir=None
    ) as d:
        assert (d.rows, d.users) == (40, 7)


def test_weighted_rows_and_bad_weights(write: Write) -> None:
    rows = [f"{i % 3},30.{i},-97.{i},{i},{i + 1}" for i in range(9)]
    bad = ["0,30.5,-97.5,1,0", "0,30.5,-97.5,1,-2", "0,30.5,-97.5,1,inf", "0,30.5,-97.5,1,x"]
    path = write("user,lat,lon,loc,count\n" + "\n".join([*rows, *bad, rows[0]]), "pairs.csv")
    assert sniff(path).mapping == Mapping(0, None, 1, 2, 3, 4)
    with open_checkins(path, cache_dir=None) as data:
        assert data.report.rejected == {Reason.BAD_WEIGHT: 4}
        assert [e.line for e in data.report.examples[Reason.BAD_WEIGHT]] == [11, 12, 13, 14]
        assert data.rows == 10  # without times nothing is a duplicate
        points = data.points(data.extent)
        assert points.weight.tolist() == [1, 4, 7, 1, 2, 5, 8, 3, 6, 9]  # by user


def test_quotes_that_appear_late(write: Write) -> None:
    lines = [f"{i},{i % 19},Bar,2010-01-01T00:00:{i % 60:02d}Z,40.5,-73.5" for i in range(60_000)]
    lines[50_000] = '50000,3,"Bar, ""inner""",2010-01-01T00:00:01Z,40.5,-73.5'
    path = write("id,user,venue,time,lat,lon\n" + "\n".join(lines), "late.csv")
    with open_checkins(path, cache_dir=None, detect_duplicates=False) as data:
        assert data.report.rejected == {}
        assert data.rows == 60_000


@pytest.mark.parametrize("delimiter", [",", ";", "|"])
def test_quoted_fields(write: Write, delimiter: str) -> None:
    d = delimiter
    lines = [
        d.join(["venue", "who", "lat", "lng", "utc time"]),
        d.join([f'"Caf{d} ""Zum"" é"', "anna", "52.5", "13.4", "2010-01-01T00:00:00Z"]),
        d.join(['"two', 'lines"', "x"]).replace(d + "lines", "\nlines").replace(d + "x", "")
        + d
        + d.join(["bert", "52.6", "13.4", "2010-01-02T00:00:00Z"]),
        d.join(['"open', "carl", "52.5", "13.4", "2010-01-03T00:00:00Z"]),
        d.join(["plain", "dora", "52.5", "13.4", "2010-01-04T00:00:00Z"]),
        d.join(['"x"y', "emil", "52.5", "13.4", "2010-01-05T00:00:00Z"]),
        "",
        d.join(["", '"fritz"', '"52.5"', "13.4", "2010-01-06T00:00:00Z"]),
    ]
    path = write("\n".join(lines) + "\n", "venues.csv")
    preview = sniff(path)
    assert preview.delimiter == delimiter
    mapping = Mapping(user=1, time=4, lat=2, lon=3, location=0)
    with open_checkins(path, mapping, cache_dir=None) as data:
        report = data.report
        assert report.physical_lines == 9
        assert (report.header, report.blank, report.continued) == (1, 1, 1)
        assert report.rejected == {Reason.BROKEN_QUOTES: 2}
        assert [e.line for e in report.examples[Reason.BROKEN_QUOTES]] == [5, 7]
        assert data.rows == 4
        assert data.users == 4


@pytest.mark.full
def test_many_quoted_lines_keep_their_numbers(write: Write) -> None:
    lines = [
        f'{i},"{i % 9}","Bar, {i}",2010-01-01T00:00:{i % 60:02d}Z,40.5,-73.5' for i in range(5000)
    ]
    for i in range(0, 5000, 100):
        lines[i] = f'{i},"{i % 9}","Bar, {i}",2010-01-01T00:00:00Z,north,-73.5'
    path = write("id,user,venue,time,lat,lon\n" + "\n".join(lines), "quoted.csv")
    assert sniff(path).suggested.user == 1
    with open_checkins(path, sniff(path).suggested, cache_dir=None) as data:
        assert data.report.rejected == {Reason.NOT_A_NUMBER: 50}
        found = data.report.examples[Reason.NOT_A_NUMBER]
        assert [e.line for e in found] == [2 + i for i in range(0, 2000, 100)]
        assert found[1].text.startswith("100,1,Bar, 100,2010")


def test_latin_1(write: Write) -> None:
    rows = [f"Zoë\t2010-01-01T00:00:{i:02d}Z\t40.5\t-73.5\tCafé {i}" for i in range(20)]
    path = write("\n".join(rows).encode("latin-1"))
    assert sniff(path).encoding == "cp1252"  # which has all letters of Latin-1
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.users) == (20, 1)


@pytest.mark.parametrize("spoilt", [b"J\xf6rg", b"\xe9\x81b\xc3\x28"])
def test_a_file_of_two_encodings_changes_nobody(write: Write, spoilt: bytes) -> None:
    """What is valid UTF-8 stays what it is, even where most of the letters are not."""
    lines = [good(i, "名7").encode() for i in range(20)]
    lines += [good(20 + i).encode() + spoilt for i in range(40)]
    with open_checkins(write(b"\n".join(lines)), cache_dir=None) as data:
        assert data.rows == 20
        assert data.report.rejected == {Reason.INVALID_BYTES: 40}


def test_old_macintosh_line_ends(write: Write) -> None:
    with open_checkins(write("\r".join(ROWS) + "\r"), cache_dir=None) as data:
        assert data.rows == 30
        assert data.report.physical_lines == 30


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_truncated_archive_keeps_what_is_before_the_break(write: Write, share: float) -> None:
    rows = [good(i, user=i) for i in range(20_000)]
    whole = gzip.compress("\n".join(rows).encode())
    path = write(whole[: int(len(whole) * share)], "cut.txt.gz")
    with open_checkins(path, cache_dir=None) as data:
        assert 20_000 * share * 0.8 < data.rows < 20_000
        assert set(data.report.rejected) <= {Reason.CUT_OFF}
        assert any("ends too early" in note for note in data.report.notes)
        assert data.report.physical_lines == data.rows + data.report.total_rejected


@pytest.mark.full
def test_damaged_archive(write: Write) -> None:
    rows = [good(i, user=i) for i in range(50_000)]
    whole = bytearray(gzip.compress("\n".join(rows).encode()))
    whole[-len(whole) // 10 :] = os.urandom(len(whole) // 10 + 1)[: len(whole) // 10 + 1]
    with open_checkins(write(bytes(whole), "bad.txt.gz"), cache_dir=None) as data:
        assert data.rows > 10_000
        assert data.report.notes


def test_archives_joined_end_to_end(write: Write) -> None:
    halves = ["\n".join(ROWS[:15]) + "\n", "\n".join(ROWS[15:]) + "\n"]
    path = write(b"".join(gzip.compress(half.encode()) for half in halves), "joined.txt.gz")
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == 30


def stored_zip() -> bytes:
    """Rows that a zip holds as they are, so that it passes for text."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("rows.csv", "\n".join(ROWS))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "empty.txt", "is empty"),
        (gzip.compress(b"", mtime=0), "empty.txt.gz", "nothing"),
        (gzip.compress(b"x" * 1000, mtime=0)[:10], "stub.txt.gz", "nothing"),
        (b"\x1f\x8bgarbage all the way", "garbage.gz", "damaged"),
        (b"\n\n\n", "blank.txt", "blank lines only"),
        (bytes(range(256)) * 40, "binary.dat", "not a supported file"),
        (bz2.compress(b"user,lat,lon\n1,2,3\n"), "rows.csv.bz2", r"packed \(bzip2\): unpack it"),
        (stored_zip(), "rows.csv.zip", r"packed \(zip\): unpack it"),
        (b"PAR1 but nothing else", "damaged.parquet", "damaged Parquet"),
    ],
)
def test_what_is_no_check_in_file(write: Write, content: bytes, name: str, words: str) -> None:
    with pytest.raises(CheckinError, match=words) as caught:
        open_checkins(write(content, name), cache_dir=None)
    assert name in str(caught.value)


def test_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CheckinError, match="is a folder"):
        open_checkins(tmp_path, cache_dir=None)
    with pytest.raises(CheckinError, match="does not exist"):
        sniff(tmp_path / "nothing.txt")


def test_no_permission(write: Write) -> None:
    """As somebody else, because root may read everything."""
    path = write("\n".join(ROWS))
    path.chmod(0o000)
    for folder in path.parents[:3]:
        folder.chmod(0o755)
    code = (
        "import os, sys\n"
        "from explorer.checkins import CheckinError, sniff\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: sniff(sys.argv[1])\n"
        "except CheckinError as fault: print(fault)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "permission" in ran.stdout, ran.stderr
    assert path.name in ran.stdout


def test_header_without_rows(write: Write) -> None:
    with pytest.raises(CheckinError, match="no rows"):
        open_checkins(write("user,time,lat,lon\n", "header.csv"), cache_dir=None)


def test_one_user(write: Write) -> None:
    with open_checkins(write(good(1) + "\n"), cache_dir=None) as data:
        assert (data.rows, data.users) == (1, 1)
        points = data.points((40.0, -74.0, 41.0, -73.0), users=5)
        assert points.users_used == 1


def test_wrong_delimiter_asks_for_the_mapping(write: Write) -> None:
    path = write("\n".join(row.replace("\t", "~") for row in ROWS))
    with pytest.raises(MappingNeeded) as caught:
        open_checkins(path, cache_dir=None)
    assert caught.value.preview.mapping.missing
    assert caught.value.preview.rows
    right = Dialect(Format.CSV, "~")
    with open_checkins(path, Mapping(0, 1, 2, 3, 4), dialect=right, cache_dir=None) as data:
        assert data.rows == 30


def test_over_half_failing_asks_for_the_mapping(write: Write) -> None:
    rows = [good(i) if i < 3000 else f"{i}\tsoon\t40.5\t-73.5\t{i}" for i in range(9000)]
    path = write("\n".join(rows))
    with pytest.raises(MappingNeeded, match="67%") as caught:
        open_checkins(path, cache_dir=None)
    chosen = caught.value.preview.mapping
    assert chosen.time == 1
    # whoever has said which column is which is believed
    swapped = Mapping(user=0, lat=2, lon=3, location=4)
    with open_checkins(path, swapped, cache_dir=None) as data:
        assert data.rows == 9000


def test_none_kept_says_why(write: Write) -> None:
    path = write("\n".join(f"{i}\t2010-01-01T00:00:00Z\t0\t0\t{i}" for i in range(9)))
    with pytest.raises(CheckinError, match=r"9 × the position is \(0, 0\)"):
        open_checkins(path, cache_dir=None)


def test_columns_by_name_in_any_order(write: Write) -> None:
    text = "Longitude;Latitude;venueId;UserID;createdAt\n" + "\n".join(
        f"-73.{i};40.{i};v{i};u{i % 4};2010-01-01 00:00:{i:02d}" for i in range(10, 40)
    )
    path = write(text, "other.csv")
    assert sniff(path).mapping == Mapping(user=3, time=4, lat=1, lon=0, location=2)
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.users) == (30, 4)
        assert data.extent == (40.1, -73.39, 40.39, -73.1)


def test_a_mapping_beyond_the_columns(write: Write) -> None:
    with pytest.raises(CheckinError, match="lines have 5 fields"):
        open_checkins(write("\n".join(ROWS)), Mapping(0, 1, 2, 9), cache_dir=None)


def test_parquet(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "it's.parquet"
    con = duckdb.connect()
    con.execute(
        "COPY (SELECT i % 5 AS \"user\", TIMESTAMP '2010-01-01' + to_hours(i::BIGINT) AS time, "
        "40 + i / 100 AS lat, CASE WHEN i = 7 THEN NULL ELSE -73.5 END AS lon, 'p' || i AS venue "
        f"FROM range(50) t(i)) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet)"
    )
    con.close()
    preview = sniff(path)
    assert preview.format is Format.PARQUET
    assert preview.mapping == Mapping(0, 1, 2, 3, 4)
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.users) == (49, 5)
        assert data.report.rejected == {Reason.BLANK_FIELD: 1}
        assert data.report.examples[Reason.BLANK_FIELD][0].line == 8
        assert data.report.examples[Reason.BLANK_FIELD][0].text.startswith("2,2010-01-01 07:00:00")
        assert data.first_time == "2010-01-01T00:00:00Z"


def test_a_line_of_many_megabytes(tmp_path: Path) -> None:
    """A gigabyte if PRIVACY_EXPLORER_SLOW_TESTS is set, else a tenth; a hole costs no disk."""
    size = 1_000_000_000 if os.environ.get("PRIVACY_EXPLORER_SLOW_TESTS") else 100_000_000
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.write(("\n".join(ROWS[:20]) + "\n").encode())
        file.seek(size, os.SEEK_CUR)
        file.write(("\n" + "\n".join(ROWS[20:]) + "\n").encode())
    start = time.perf_counter()
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == 30
        assert data.report.rejected == {Reason.LINE_TOO_LONG: 1}
        example = data.report.examples[Reason.LINE_TOO_LONG][0]
        assert example.line == 21
        assert str(size + 1) in example.text
    assert time.perf_counter() - start < time_limit(60)


@pytest.mark.parametrize("length", [(1 << 20) - 200, (1 << 20) + 200, 5 << 20])
def test_lines_around_the_limit(write: Write, length: int) -> None:
    line = "9\t2010-01-01T00:00:00Z\t40.5\t-73.5\t"
    line += "x" * (length - len(line))
    with open_checkins(write("\n".join([*ROWS, line, good(40)])), cache_dir=None) as data:
        long = length > 1 << 20
        assert data.report.rejected == ({Reason.LINE_TOO_LONG: 1} if long else {})
        assert data.rows == 31 + (not long)
