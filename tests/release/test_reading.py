"""The data file of a release: every row by itself, as the plainest reader there is reads it."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
from collections import defaultdict
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from explorer.checkins.parsing.times import moment
from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.mechanisms.base import Reads
from explorer.release.rows import reading
from explorer.release.rows.format import FileFormat
from explorer.release.rows.reading import ReadFile, read_file
from explorer.release.rows.values import time_reader
from tests.release.plans import MECHANISMS, plan_of
from tests.release.reference_reader import Row, rows_of

COLUMNS = ["user", "time", "lat", "lon", "place"]
READS = Reads(places=True, times=True, texts=("place",))

USERS = [
    "7",
    "007",
    "a",
    " a ",
    "é",
    "e\u0301",
    "\ufeff7",
    "",
    " ",
    '"',
    "'a",
    "a" * 70,
    "a" * 71,
    "12345678",
    "1234567",
    "\x00",
    "7\x00",
    "NaN",
    "\u00a0b",
    "ß",
]
TIMES = [
    "2010-10-12T00:21:28Z",
    "2010-10-12 00:21:28",
    "2010-10-19 23:55:27+0000",
    "2010-10-12",
    "2010-03-28T02:30:00",
    "2010-10-31T02:30:00",
    "2010-10-12T00:21:28.999-03:30",
    "epoch",
    "2010-02-29T00:00:00Z",
    "2012-02-29T23:59:59+05",
    "2010-13-01T00:00:00Z",
    "1900-02-29 00:00:00",
    "2010-10-12T24:00:00Z",
    "2010-10-12T00:60:00Z",
    "2010-10-12T00:21Z",
    "2010-10-12T00:21:28.Z",
    "2010-10-12T00:21:28+2400",
    "2010-10-12t00:21:28",
    "0001-01-01T00:00:00Z",
    "20101012T002128Z",
    "9999-12-31T23:59:59Z",
    "0001-01-02T00:00:00+10:00",
    "1969-12-31T23:59:59.5Z",
    "infinity",
    "2010-10-12T00:21:28.0000000001Z",
    "2010-10-12T00:21:28 Z",
    "٢٠١٠-10-12T00:21:28Z",
    "",
    "1286842888",
    "-1",
    "1.5e3",
    "-0.5",
    "99999999999999999999",
    "2010-10-12T00:21:28+05:3",
]
DEGREES = [
    "40.6438845363",
    "-73.78280639649999",
    "0",
    "-0",
    "+5.",
    ".5",
    ".",
    "",
    "90",
    "90.00000001",
    "-90.0000000",
    "180",
    "180.1",
    "1e2",
    "1e1",
    "4.5E-3",
    "1e-40",
    "0e41",
    "nan",
    "inf",
    "-inf",
    "1_0",
    "0x10",
    "1,5",
    " 5 ",
    "5\x00",
    "--5",
    "+-5",
    "1.2.3",
    "0.00000005",
    "0.00000015",
    "-0.00000005",
    "0.000000050000000000000000000000001",
    "1" * 41,
    "0" * 41,
    "0" * 39 + "1",
    "123456789012345678",
    "9" * 18,
    "9" * 19,
    "90.0000000000000000",
    "90.0000000000000000001",
    "0000000040.5",
    "40.12345678901234567890",
    "²",
    "٣",
    "12.34567895",
    "12.34567885",
    "00090.0",
    "3.141592653589793",
    "0.1234567890123456",
    "9223372036854775807",
    "18446744073709551617",
]
PLACES = ["", "x", "é", "e\u0301", '"quoted', "#", "\\", "0.10", "NULL", "\x1a", "y" * 300]


def _cell(choices: list[str]) -> st.SearchStrategy[bytes]:
    spelt = st.sampled_from(choices).map(str.encode)
    return st.one_of(spelt, spelt, spelt, st.binary(max_size=9))


LINES = st.one_of(
    st.tuples(*map(_cell, (USERS, TIMES, DEGREES, DEGREES, PLACES))).map(b",".join),
    st.lists(st.sampled_from(USERS).map(str.encode), max_size=8).map(b",".join),
    st.binary(max_size=40),
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINES, max_size=30))
    ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"])
    body = b"".join(line + draw(ends) for line in lines)
    return body if draw(st.booleans()) else body.rstrip(b"\n")


def _format(**changes: str) -> FileFormat:
    return FileFormat(tuple(COLUMNS), **({"delimiter": "comma"} | changes))


def _read(data: bytes, form: FileFormat, tmp: Path) -> ReadFile:
    path = tmp / "rows.csv"
    path.write_bytes(data)
    return read_file(path, form, READS)


def _rows(found: ReadFile) -> dict[str, list[Row]]:
    """Return every user's rows in the file's order."""
    records, by_user = found.records, {}
    assert records.starts[-1] == records.rows
    for u, (user, first, end) in enumerate(
        zip(found.ids, records.starts[:-1], records.starts[1:], strict=True)
    ):
        assert end > first, u
        by_user[user] = [_row(found, user, k) for k in range(first, end)]
    return by_user


def _row(found: ReadFile, user: str, k: int) -> Row:
    records = found.records
    assert records.lat is not None
    assert records.lon is not None
    assert records.placed is not None
    assert records.time is not None
    assert records.timed is not None
    placed = bool(records.placed[k])
    return Row(
        user,
        int(records.lat[k]) if placed else None,
        int(records.lon[k]) if placed else None,
        int(records.time[k]) if records.timed[k] else None,
        (records.texts["place"][k],),
    )


def _wanted(data: bytes, **how: object) -> dict[str, list[Row]]:
    by_user: dict[str, list[Row]] = defaultdict(list)
    for row in rows_of(data, COLUMNS, "comma", **how):  # type: ignore[arg-type]
        both = row.lat is not None and row.lon is not None
        by_user[row.user].append(row if both else Row(row.user, None, None, row.time, row.texts))
    return dict(by_user)


@given(
    files(),
    st.booleans(),
    st.sampled_from(["utf-8", "latin-1", "windows-1252"]),
    st.sampled_from(["UTC", "Europe/Berlin", "-03:30"]),
    st.booleans(),
    st.sampled_from([7, 64, 1 << 20]),
)
def test_it_agrees_with_the_plainest_reader(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    header: bool,
    encoding: str,
    zone: str,
    unix: bool,
    size: int,
) -> None:
    form = _format(
        header="yes" if header else "no",
        encoding=encoding,
        time_zone=zone,
        time_format="unix" if unix else "iso",
    )
    wanted = _wanted(data, header=header, encoding=encoding, zone=zone, unix=unix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", size)
        assert _rows(_read(data, form, tmp_path_factory.mktemp("r"))) == wanted


@given(
    files(),
    st.lists(LINES, min_size=1, max_size=8),
    st.randoms(use_true_random=False),
    st.sampled_from(["yes", "no"]),
)
def test_nobody_s_rows_change_how_others_rows_are_read(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    added: list[bytes],
    rng: random.Random,
    header: str,
) -> None:
    """Whatever somebody adds, and wherever, the file's beginning too: all others are as before."""
    tmp, form = tmp_path_factory.mktemp("r"), _format(header=header)
    before = _rows(_read(data, form, tmp))
    lines = data.split(b"\n")
    for line in added:
        for piece in line.split(b"\n"):
            lines.insert(rng.randrange(len(lines)), piece)
    after = _rows(_read(b"\n".join(lines), form, tmp))
    theirs = {row.user for row in rows_of(b"\n".join(added), COLUMNS, "comma")}
    assert {u: r for u, r in before.items() if u not in theirs} == {
        u: r for u, r in after.items() if u not in theirs
    }


# -- every format that can be declared

FORMATS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(["comma", "semicolon", "tab"]),
        "encoding": st.sampled_from(["utf-8", "windows-1252", "utf-16-le", "utf-16-be"]),
        "quotes": st.sampled_from(["none", "double", "double"]),
        "decimal": st.sampled_from(["point", "comma"]),
        "trailing_delimiter": st.sampled_from(["no", "yes"]),
        "row_end": st.sampled_from(["lf", "cr"]),
        "header": st.sampled_from(["no", "yes"]),
    }
).filter(lambda f: not (f["delimiter"] == f["decimal"] == "comma" and f["quotes"] == "none"))


def _stored(how: dict[str, str], cells: list[str]) -> bytes:
    """Return a row as this format stores it, its end left out."""
    between = {"comma": ",", "semicolon": ";", "tab": "\t"}[how["delimiter"]]
    line = between.join(cells) + between * (how["trailing_delimiter"] == "yes")
    return line.encode(how["encoding"], "surrogatepass" if "utf" in how["encoding"] else "replace")


@st.composite
def rows_in(draw: st.DrawFn, how: dict[str, str]) -> list[bytes]:
    """Draw whole rows with their ends: right ones, and such as try to change how others are read"""
    user = st.sampled_from(["anna", "b", '"', "c\ufeff", "d\n", "e\r", "\u0a00\u0d00", "\ud800"])
    cell = st.one_of(st.sampled_from([*USERS, *DEGREES, '"', '""', ' "x" ', '"x"y', "1,5", "\n\r"]))
    end = {"lf": "\n", "cr": "\r"}[how["row_end"]].encode(how["encoding"])
    unit = len(end)
    rows = []
    for _ in range(draw(st.integers(0, 9))):
        cells = [draw(user), "2010-10-12T00:21:28Z", "40.25", "-73.5", draw(cell)]
        if how["decimal"] == "comma":
            cells = [c.replace(".", ",") for c in cells]
        if draw(st.booleans()):
            cells[draw(st.integers(0, 4))] = draw(cell)
        if how["quotes"] == "double" and draw(st.booleans()):
            cells = ['"' + c.replace('"', '""') + '"' for c in cells]
        if draw(st.integers(0, 9)) == 0:
            cells[draw(st.integers(0, 4))] += draw(st.sampled_from(['"', "\x00", "\ufeff", '"x']))
        row = _stored(how, cells) if draw(st.integers(0, 9)) else draw(st.binary(max_size=20))
        whole = row[: len(row) - len(row) % unit]
        pieces = [whole[k : k + unit] for k in range(0, len(whole), unit)]
        rows.append(b"".join(piece for piece in pieces if piece != end) + end)
    return rows


def _how(how: dict[str, str]) -> dict[str, object]:
    return {
        "encoding": how["encoding"],
        "header": how["header"] == "yes",
        "row_end": how["row_end"],
        "quotes": how["quotes"] == "double",
        "comma": how["decimal"] == "comma",
        "trailing": how["trailing_delimiter"] == "yes",
    }


@pytest.mark.full
@given(st.data(), FORMATS, st.sampled_from([7, 64, 1 << 20]), st.sampled_from([b"", b"\n", b"x"]))
def test_every_format_is_read_as_the_plainest_reader_reads_it(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    how: dict[str, str],
    size: int,
    odd: bytes,
) -> None:
    """And whoever is deleted with all rows, those of all others are read as before."""
    rows, form = data.draw(rows_in(how)), FileFormat(tuple(COLUMNS), **how)
    rows.append(_stored(how, ["last", "", "1", "1", ""]) + odd)  # without an end, or half a unit
    tmp = tmp_path_factory.mktemp("r")

    def read(parts: list[bytes]) -> dict[str, list[Row]]:
        return _rows(_read(b"".join(parts), form, tmp))

    def wanted(parts: list[bytes]) -> dict[str, list[Row]]:
        by_user: dict[str, list[Row]] = defaultdict(list)
        for row in rows_of(b"".join(parts), COLUMNS, how["delimiter"], **_how(how)):  # type: ignore[arg-type]
            both = row.lat is not None and row.lon is not None
            by_user[row.user].append(
                row if both else Row(row.user, None, None, row.time, row.texts)
            )
        return dict(by_user)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", size)
        patch.setattr(reading, "check_first_bytes", lambda *_: None)
        everybody = read(rows)
        assert everybody == wanted(rows)
        for user in everybody:
            kept = [row for row in rows if user not in wanted([row])]
            others = {u: r for u, r in everybody.items() if u != user}
            assert read(kept) == others


def _texts(data: bytes, form: FileFormat) -> list[tuple[str, str | None]]:
    """Return id and text of each row that can be read, in the file's order."""
    with reading.Rows(form, Reads(texts=("place",))) as rows:
        for block in reading.blocks(BytesIO(data).read, 5, form):
            rows.add(block)
        records = rows.records()
        ids = [rows.ids[u] for u in records.user_of_rows().tolist()]
        return list(zip(ids, records.texts["place"], strict=True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("quotes", ["none", "double"])
@pytest.mark.parametrize("row_end", ["lf", "cr"])
@pytest.mark.parametrize("trailing", ["no", "yes"])
def test_rows_together_are_read_as_each_alone(
    encoding: str, quotes: str, row_end: str, trailing: str
) -> None:
    """All fields of up to two characters out of those that could reach into the next row."""
    form = FileFormat(
        ("user", "place"),
        "comma",
        encoding=encoding,
        quotes=quotes,
        row_end=row_end,
        trailing_delimiter=trailing,
    )
    end = {"lf": "\n", "cr": "\r"}[row_end]
    odd = "\udcff"  # a byte that UTF-8 does not have, half a character of UTF-16
    signs = ["a", '"', ",", "\u0a0d", odd, {"\n": "\r", "\r": "\n"}[end]]
    fields = ["", *signs, *(one + two for one in signs for two in signs)]
    fields += [f'"{one}"' for one in signs] + ['"a""b"', '"a,b"', ' "a" ', '"a" b', 'a "b"']
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    rows = [
        f"{k},{field}{',' * (trailing == 'yes')}{end}".encode(encoding, errors)
        for k, field in enumerate(fields)
    ]
    alone = [found for row in rows for found in _texts(row, form)]
    assert _texts(b"".join(rows), form) == alone
    assert _texts(b"".join(rows[::-1]), form) == alone[::-1]
    assert len(alone) > len(fields) / 3


def test_ordinary_spellings_are_read_once_they_are_declared(tmp_path: Path) -> None:
    rows = [
        ("u1", "2010-10-12T00:21:28Z", "48.25", "16.5", "caf\u00e9"),
        ("u2", "", "-1", "2", "x"),
    ]

    def read(text: str, encoding: str = "utf-8", **how: str) -> dict[str, list[Row]]:
        return _rows(_read(text.encode(encoding), _format(encoding=encoding, **how), tmp_path))

    plain = "\n".join(map(",".join, rows))
    wanted = read(plain)
    assert [row.lat for row in wanted["u1"]] == [482_500_000]
    quoted = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    assert read(quoted, quotes="double") == wanted
    assert read(plain, quotes="double") == wanted
    german = "\r\n".join(";".join(cell.replace(".", ",") for cell in row) for row in rows)
    assert read(german, delimiter="semicolon", decimal="comma") == wanted
    both = "\n".join(",".join(f'"{cell.replace(".", ",")}"' for cell in row) for row in rows)
    assert read(both, quotes="double", decimal="comma") == wanted
    assert read(plain.replace("\n", ",\n") + ",", trailing_delimiter="yes") == wanted
    assert read(plain.replace("\n", "\r"), row_end="cr") == wanted
    for encoding in ("utf-16-le", "utf-16-be"):
        assert read(plain, encoding) == wanted
        assert read("\ufeff" + plain.replace("\n", "\r\n") + "\r\n", encoding) == wanted
    assert read("\ufeff" + quoted, quotes="double") == wanted
    # what is not declared is not guessed
    assert not any(row.lat for row in read(quoted).get('"u1"', []))
    assert read(german, delimiter="semicolon")["u1"][0].lat is None
    with pytest.raises(ParameterError, match=r"^decimal: "):
        _format(decimal="comma")


def test_numbers_of_other_columns_have_the_declared_decimal_mark(tmp_path: Path) -> None:
    path, form = tmp_path / "rows.csv", FileFormat(("user", "x"), "semicolon", decimal="comma")
    path.write_text("a;1,5\na;1.5\nb;-2,25e1\n")
    texts = {
        numbers: read_file(path, form, Reads(texts=("x",), numbers=numbers)).records.texts["x"]
        for numbers in (True, False)
    }
    assert texts == {True: ["1.5", None, "-2.25e1"], False: ["1,5", "1.5", "-2,25e1"]}
    with_edges = plan_of("0" * 32, mechanism="histogram/1").mechanism
    assert not with_edges.reads(with_edges.parse(MECHANISMS["histogram/1"])).numbers
    edges = {"value_column": "kind", "edges": ["0", "1"]}
    assert with_edges.reads(with_edges.parse(edges)).numbers


@pytest.mark.parametrize(
    ("head", "encoding", "what"),
    [
        (b"PAR1\x15\x04", "utf-8", "Parquet"),
        (b"SQLite format 3\0", "utf-8", "SQLite"),
        (b"PK\x03\x04", "latin-1", "ZIP"),
        (b"ARROW1\0\0", "utf-8", "Arrow"),
        (b"Obj\x01\x04", "utf-8", "Avro"),
        (b"BZh91AY&SY", "utf-8", "bzip2"),
        (b"7z\xbc\xaf\x27\x1c", "utf-8", "7z"),
        (b"Rar!\x1a\x07", "utf-8", "RAR"),
        (b"\x1f\x8b\x08", "utf-8", "gzip"),
        (b"\xff\xfeu\0", "utf-8", "Choose utf-16-le"),
        (b"\xfe\xff\0u", "utf-16-le", "Choose utf-16-be"),
        (b"\xef\xbb\xbfu", "windows-1252", "Choose utf-8"),
        (b"\xff\xfe\0\0u\0\0\0", "utf-16-le", "UTF-32"),
    ],
)
def test_a_container_and_another_encoding_s_mark_are_refused(
    tmp_path: Path, head: bytes, encoding: str, what: str
) -> None:
    rows = "u,2010-10-12,1,1,x\n".encode(encoding) * 3
    for name, stored in (("rows.csv", head + rows), ("rows.csv.gz", gzip.compress(head + rows))):
        path = tmp_path / name
        path.write_bytes(stored)
        with pytest.raises(ReleaseError, match=what):
            read_file(path, _format(encoding=encoding), READS)
    path.write_bytes(gzip.compress(rows))
    assert read_file(path, _format(encoding=encoding), READS).records.rows == 3


@pytest.mark.parametrize("first", ["PAR1", "PAR12", "PK", "ARROW1", "Obj", "BZhang", "7z", "Rar!"])
def test_an_id_is_no_container(tmp_path: Path, first: str) -> None:
    """Else the first user's name would decide whether there is a release."""
    path = tmp_path / "rows.csv"
    path.write_text(f"{first},2010-10-12,1,1,x\nu,2010-10-12,1,1,x\n")
    assert read_file(path, _format(), READS).records.rows == 2


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(ReleaseError, match="regular file"):
        read_file(tmp_path / "rows.csv", _format(), READS)


def test_all_spellings_together_and_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)
    lines = [
        ",".join(map(rng.choice, (USERS, TIMES, DEGREES, DEGREES, PLACES))) for _ in range(1500)
    ]
    data = "\n".join(lines).encode()
    wanted = _wanted(data)
    for size in (1 << 23, 999):
        monkeypatch.setattr(reading, "BLOCK", size)
        assert _rows(_read(data, _format(), tmp_path)) == wanted


def test_patterns_of_times(tmp_path: Path) -> None:
    times = (b"Tue Apr 03 18:00:09 +0000 2012", b"Tue Foo 03 18:00:09 +0000 2012", b"3.4")
    data = b"".join(b"u," + time + b",1,1,\n" for time in times)
    found = _read(data, _format(time_format="%a %b %d %H:%M:%S %z %Y"), tmp_path).records
    assert found.time is not None
    assert found.timed is not None
    assert found.time[0] == 1_333_476_009
    assert found.timed.tolist() == [True, False, False]
    day = _read(
        b"u,03/04/2012,1,1,\n", _format(time_format="%d/%m/%Y", time_zone="+01:00"), tmp_path
    )
    assert day.records.time is not None
    assert day.records.time.tolist() == [1_333_407_600]


def test_a_row_of_a_megabyte_is_read_and_a_longer_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_ROW_BYTES", 1000)
    monkeypatch.setattr(reading, "BLOCK", 64)
    rest = b",2010-10-12,1,1,"
    fits = b"u" + rest + b"x" * (1000 - 1 - len(rest))
    data = b"a" + rest + b"\n" + fits + b"\n" + fits + b"y\n" + b"z" * 99_999 + b"\nb" + rest
    assert list(_rows(_read(data, _format(), tmp_path))) == ["a", "u", "b"]
    assert list(_rows(_read(b"h" * 5000 + b"\n" + data, _format(header="yes"), tmp_path))) == [
        "a",
        "u",
        "b",
    ]
    monkeypatch.setattr(reading, "BLOCK", 1 << 20)
    assert list(_rows(_read(data, _format(), tmp_path))) == ["a", "u", "b"]


def test_it_is_hashed_as_it_is_on_disk_while_it_is_read_once(tmp_path: Path) -> None:
    data = b"u,2010-10-12,1,1,\n" * 1000
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(data))
    found = read_file(path, _format(), READS)
    assert found.records.rows == 1000
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    plain = _read(data, _format(), tmp_path)
    assert plain.sha256 == hashlib.sha256(data).hexdigest()


def test_what_is_no_file_or_a_broken_archive_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^data: .* Check its path\.$"):
        read_file(tmp_path / "none.csv", _format(), READS)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(os.urandom(1000))[:-20])
    with pytest.raises(ReleaseError, match=r"^data: .*archive"):
        read_file(cut, _format(), READS)
    # what gzip says of a wrong checksum has that of all rows in it: whoever has a candidate could
    # test it with that
    rows = bytearray(gzip.compress(b"u,2010-10-12,1,1,\n" * 100))
    rows[-8:-4] = b"\0\0\0\0"
    cut.write_bytes(rows)
    with pytest.raises(ReleaseError, match=r"^data: .*archive"):
        read_file(cut, _format(), READS)


HEADED = (
    ("user,time,lat,lon,place", COLUMNS, "u,2010-10-12,1,1,x"),
    ("user_id,when,latitude,longitude,venue", COLUMNS, "u,2010-10-12,1,1,x"),
    ("id,lat", ["user", "lat"], "u,1"),
    ("\ufeffid,Colour", ["user", "colour"], "u,red"),
    ("USER", ["user"], "u"),
)


@pytest.mark.parametrize(("names", "columns", "row"), HEADED)
def test_a_row_of_names_is_left_out_and_no_row_of_a_file_without_one(
    tmp_path: Path, names: str, columns: list[str], row: str
) -> None:
    """A plan that says "header" of a file that has none loses nobody's row, nor does the header
    become somebody."""
    path, form = tmp_path / "rows.csv", FileFormat(tuple(columns), "comma", header="yes")
    for lines in ((names, row, row), (row, row)):
        path.write_text("\n".join(lines), encoding="utf-8")
        found = read_file(path, form, Reads())
        assert (found.ids, found.records.rows) == (("u",), 2), lines


def test_an_empty_file_has_no_users_and_is_no_error(tmp_path: Path) -> None:
    found = _read(b"", _format(), tmp_path)
    assert (found.records.users, found.records.rows, found.ids) == (0, 0, ())


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading.tempfile, "tempdir", str(tmp_path))
    with reading.Rows(_format(), READS) as rows:
        data = BytesIO(b"u,2010-10-12,1,1,secret\n")
        for block in reading.blocks(data.read, 99, _format()):
            rows.add(block)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"columns": []}, "columns: has 0 names; give"),
        ({"columns": ["lat", "lon"]}, "columns: has no 'user'; give"),
        ({"columns": ["user", "user"]}, "columns: has a name twice"),
        ({"columns": ["user", 5]}, "columns: 5 is not a name"),
        ({"columns": "user"}, "columns: is not a list"),
        ({"delimiter": "\t"}, "delimiter: '\\t' is not offered; give tab, comma"),
        ({"header": True}, "header: is not a text"),
        ({"encoding": "utf-16"}, "encoding: 'utf-16' is not offered; give utf-8, latin-1"),
        ({"quotes": "single"}, "quotes: 'single' is not offered; give none, double"),
        ({"decimal": True}, "decimal: is not a text"),
        ({"time_format": "%s"}, "time_format: '%s' is not a part of a time; use %Y"),
        ({"time_format": "%H:%M"}, "time_format: '%H:%M' does not say each day once"),
        ({"time_format": "%Y-%m-%d%"}, "time_format: '%Y-%m-%d%' can't be read"),
        ({"time_zone": "Mars/Crater"}, "time_zone: 'Mars/Crater' is not a time zone known here"),
        ({"time_zone": "+14:01"}, "time_zone: '+14:01' is not an offset that exists"),
        ({"time_zone": "-12:01"}, "time_zone: '-12:01' is not an offset that exists"),
        ({"time_zone": "../../etc/passwd"}, "time_zone: '../../etc/passwd' is not a time zone"),
    ],
)
def test_a_format_that_can_t_be_is_refused(changes: dict[str, object], sentence: str) -> None:
    given_format = {"columns": COLUMNS, "delimiter": "comma"} | changes
    with pytest.raises(ParameterError) as caught:
        FileFormat.parse(given_format)
    assert str(caught.value).startswith(sentence)


def test_a_format_is_told_with_its_defaults() -> None:
    form = FileFormat.parse({"columns": COLUMNS, "delimiter": "tab", "box": "not looked at"})
    assert form.parameters() == {
        "columns": COLUMNS,
        "delimiter": "tab",
        "header": "no",
        "encoding": "utf-8",
        "time_format": "iso",
        "time_zone": "UTC",
    }
    written = {"quotes": "double", "decimal": "comma", "trailing_delimiter": "yes", "row_end": "cr"}
    assert FileFormat.parse(form.parameters() | written).parameters() == (
        form.parameters() | written
    )
    usual = {"quotes": "none", "decimal": "point", "trailing_delimiter": "no", "row_end": "lf"}
    assert FileFormat.parse(form.parameters() | usual).parameters() == form.parameters()
    for missing in ("columns", "delimiter"):
        with pytest.raises(ParameterError, match=f"^{missing}: is missing"):
            FileFormat.parse({k: v for k, v in form.parameters().items() if k != missing})


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_row_can_stop_a_release(tmp_path: Path, mechanism: str) -> None:
    """Whatever stands in a row, it is read or left out, and the draw comes to its end."""
    rng, plan = random.Random(11), plan_of("0" * 32, mechanism=mechanism)
    inside = ["40.5", "40.9", "40.7", "-74.25", "-73.7", "-74", "2026-01-01T00:00:00Z"]
    cells = [*USERS, *TIMES, *DEGREES, *PLACES, "1e40", "-1e40", "food", "\x00", "\ud7ff"]
    lines = [",".join(rng.choices([*cells, *inside * 9], k=6)).encode() for _ in range(800)]
    lines += [rng.randbytes(rng.randint(0, 60)) for _ in range(200)]
    lines += [f"u,2026-01-02,40.7,-74,food,{value}".encode() for value in DEGREES]
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\n".join(lines))
    records = read_file(path, plan.form, plan.reads).records
    assert records.rows > 100
    found = plan.mechanism.draw(records, plan.own_parameters, plan.epsilon, os.urandom)
    assert plan.mechanism.shown(found.stored, plan.own_parameters, plan.epsilon)


def test_explorer_and_release_know_the_same_offsets(tmp_path: Path) -> None:
    """Of all whole quarters of an hour, and the ends of what there is."""
    minutes = [*range(-24 * 60, 24 * 60, 15), -721, 841]
    offsets = [f"{'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}" for m in minutes]
    texts = [f"2010-10-12T00:21:28{offset}" for offset in offsets]
    wanted = [
        None if (found := moment(text, "iso")) is None else found.timestamp() for text in texts
    ]
    assert {m for m, found in zip(minutes, wanted, strict=True) if found is not None} == set(
        range(-720, 841, 15)
    )
    one_by_one = time_reader(_format())
    assert [one_by_one(text.encode()) for text in texts] == wanted
    data = "".join(f"u{i},{text},1,1,x\n" for i, text in enumerate(texts)).encode()
    read = _rows(_read(data, _format(), tmp_path))
    assert [read[f"u{i}"][0].time for i in range(len(texts))] == wanted
