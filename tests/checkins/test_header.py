"""Lines before the header are skipped, and every line is accounted for."""

import gzip
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from explorer import checkins
from explorer.checkins.map_preview import map_previews
from explorer.checkins.model import Reason
from explorer.checkins.readers import text
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.large_import import open_any_size

ROWS = [f"rec{i},anna{i % 4},2020-01-01 08:{i:02}:00,48.{i + 100},16.{i + 200}" for i in range(40)]
HEADER = "record,user,time,lat,lon"
NAMES = ("record", "user", "time", "lat", "lon")


def _semicolons(line: str) -> str:
    return line.replace(",", ";")


CASES = {
    "declared delimiter": (["sep=,", HEADER], 1, 1, ","),
    "declared semicolon": (["sep=;", _semicolons(HEADER)], 1, 1, ";"),
    "comments": (["# exported", "# by a device, of, four, fields", HEADER], 2, 1, ","),
    "comments and blank lines": (["# exported", "", "  ", HEADER], 2, 1, ","),
    "title": (["Exported positions", HEADER], 1, 1, ","),
    "padded titles": (["Exported positions,,,,", ",,,,", "Since,2020,,,", HEADER], 3, 1, ","),
    "facts": (["Device,GPS 7", "Since,2020-01-01", "", HEADER], 2, 1, ","),
    "units": ([HEADER, "-,-,UTC,deg,deg"], 1, 1, ","),
    "units and a title": (["Positions", HEADER, ",,,[°],[°]"], 2, 1, ","),
    "names twice": (["Nummer,Wer,Wann,Nord,Ost", HEADER], 1, 1, ","),
    "names and texts": ([HEADER, "Id of record,Who,When?,How far north,How far east"], 1, 1, ","),
    "comment with names": (["# exported", "# " + HEADER], 1, 1, ","),
    "name on two lines": (['record,"user', '(id)",time,lat,lon'], 0, 2, ","),
    "title and name on lines": (["Positions", 'record,"user', "", '",time,lat,lon'], 1, 3, ","),
}
"""Lines above the rows; how many are before the header, and of the header; the delimiter."""


def content(lines: list[str], delimiter: str, end: str = "\n", rows: list[str] = ROWS) -> str:
    body = [row.replace(",", delimiter) for row in rows]
    return end.join([*lines, *body]) + end


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_the_header_is_used_and_every_line_counted(case: str, write: Callable[..., Path]) -> None:
    lines, before, header, delimiter = CASES[case]
    place = list(CASES).index(case)
    end, packed = ("\n", "\r\n")[place % 2], place % 4 == 3
    rows = [*ROWS[:30], "rec30,broken,2020-01-01 09:00:00,north,16.2", *ROWS[30:]]
    raw = content(lines, delimiter, end, rows).encode()
    path = write(gzip.compress(raw) if packed else raw, "a.csv.gz" if packed else "a.csv")
    preview = checkins.sniff(path)
    assert [name.strip("# ").split()[0] for name in preview.columns] == list(NAMES)
    mapping = preview.mapping
    assert (mapping.user, mapping.time, mapping.lat, mapping.lon) == (1, 2, 3, 4)
    with checkins.open_checkins(path, mapping, cache_dir=None) as data:
        report = data.report
        assert (report.before_header, report.header, report.kept) == (before, header, 40)
        assert report.rejected == {Reason.NOT_A_NUMBER: 1}
        assert report.accounted == report.physical_lines == len(lines) + 41
        (example,) = report.examples[Reason.NOT_A_NUMBER]
        assert example.line == len(lines) + 31
        assert "broken" in example.text
        assert data.users == 4


def test_a_broken_first_row_is_no_title(write: Callable[..., Path]) -> None:
    path = write("\n".join(["16.2,x", *(row.split(",", 1)[1] for row in ROWS)]))
    preview = checkins.sniff(path)
    assert not preview.has_header
    assert preview.dialect.lines_before_header == 0


def test_decimal_commas_do_not_delimit(write: Callable[..., Path]) -> None:
    body = [f"u{i};2024-05-{1 + i % 28:02}T10:00:00;48,{100 + i};16,{300 + i}" for i in range(30)]
    preview = checkins.sniff(write("\n".join(["user;time;lat;lon", *body])))
    assert (preview.delimiter, preview.columns) == (";", ("user", "time", "lat", "lon"))


def test_the_last_row_is_no_header(write: Callable[..., Path]) -> None:
    path = write("".join(f"{i},x;48.{i:03},1;11.{i:03},2,3\n" for i in range(30)))
    assert not checkins.sniff(path, ";").has_header


def test_rows_without_a_position_below_the_names_are_rows(write: Callable[..., Path]) -> None:
    path = write("\n".join(["user,lat,lon", "u1,,", "u2,NA,NA", "u3,48.1,16.2", "u3,48.2,16.3"]))
    assert checkins.sniff(path).dialect.lines_after_header == 0


def test_comments_above_rows_without_a_header(write: Callable[..., Path]) -> None:
    rows = [row.split(",", 1)[1] for row in ROWS]
    path = write("\n".join(["# one", "# two", *rows]))
    preview = checkins.sniff(path)
    assert not preview.has_header
    with checkins.open_checkins(path, preview.suggested, cache_dir=None) as data:
        assert (data.report.before_header, data.report.header, data.report.kept) == (2, 0, 40)


def test_users_that_begin_with_a_hash_are_no_comments(write: Callable[..., Path]) -> None:
    rows = ["#" + row.split(",", 1)[1] for row in ROWS]
    preview = checkins.sniff(write("\n".join(rows)))
    assert preview.dialect.lines_before_header == 0
    assert preview.suggested.user == 0


def test_parts_may_differ_in_the_lines_above(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(content(["# one", "# two", HEADER], ",", rows=ROWS[:20]))
    (tmp_path / "b.csv").write_text(content([HEADER, ",,,deg,deg"], ",", rows=ROWS[20:]))
    mapping = checkins.sniff(tmp_path / "a.csv").mapping
    with checkins.open_checkins(tmp_path, mapping, cache_dir=None) as data:
        report = data.report
        assert (report.before_header, report.header, report.kept) == (3, 2, 40)
        assert [part.before_header for part in report.parts] == [2, 1]
        assert [part.kept for part in report.parts] == [20, 20]
        assert report.accounted == report.physical_lines


def test_first_look_begins_below_the_header(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "MAX_UNSAMPLED_BYTES", 0)
    monkeypatch.setattr(text, "MIN_BLOCK", 64)
    lines = ["Positions, all", "from 1,2,3", HEADER, ",,,deg,deg"]
    path = write(content(lines, ",", rows=ROWS * 200))
    preview = checkins.sniff(path)
    with closing(map_previews(path, preview, preview.suggested)) as looks:
        look = next(looks)
        assert look.users == 4  # lines above the rows are no users
        south, west, north, east = look.extent
    assert 48 < south < north < 49
    assert 16 < west < east < 17


def test_known_names_above_numbers_are_the_header_whatever_follows(
    write: Callable[..., Path],
) -> None:
    """Broken lines were taken for a header, and the rows above them for titles."""
    rows = ["user,lat,lon", "u,40.5,-73.5", "v,40.6,-73.6", ",", ',"x', "u2,40.7,-73.7"]
    preview = checkins.sniff(write("\n".join(rows), "few.csv"))
    assert preview.columns[:3] == ("user", "lat", "lon")
    assert preview.dialect.lines_before_header == 0


ORDERS = {
    "user,time,lat,lon": "user,time,lon,lat",
    "user,lat,lon,note": "user,lon,lat,note",
    "user_id,session,lat,lon": "session,user_id,lat,lon",
}


@pytest.mark.parametrize("first", ORDERS)
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("large", [True, False])
def test_a_header_in_another_order_further_down_is_refused(
    write: Callable[..., Path], first: str, again: bool, large: bool
) -> None:
    """Rows below it would be read with latitude for longitude, or one id for another."""
    values = {"time": "2024-05-01T10:00:00Z", "lat": "48.2", "lon": "16.3"}
    second = first if again else ORDERS[first]

    def rows(header: str, start: int) -> list[str]:
        names = header.split(",")
        return [",".join(values.get(n, f"{n[0]}{i % 9}") for n in names) for i in range(start, 60)]

    path = write("\n".join([first, *rows(first, 0), second, *rows(second, 20), ""]), "joined.csv")
    mapping = checkins.sniff(path).suggested
    few = {"in_memory": 10, "shard_rows": 50, "memory": 900_000_000}
    how = {**few, "executor": lambda _: InPlaceExecutor()} if large else {}
    opening = open_any_size if large else checkins.open_checkins
    if again:
        with opening(path, mapping, cache_dir=None, **how) as data:
            assert data.report.total_rejected - data.report.rejected.get(Reason.DUPLICATE, 0) == 1
    else:
        with pytest.raises(checkins.CheckinError, match=rf"line 62 .*“{second}”"):
            opening(path, mapping, cache_dir=None, **how)


def test_zeros_that_were_never_written_spoil_one_row(write: Callable[..., Path]) -> None:
    rows = [f"u{i % 9},48.{100 + i},16.{100 + i}" for i in range(60)]
    for where in (30, 60):
        lines = ["user,lat,lon", *rows[:where], "\0" * 4096, *rows[where:]]
        with checkins.open_checkins(write("\n".join(lines), "torn.csv"), cache_dir=None) as data:
            assert (data.rows, data.report.rejected) == (60, {Reason.CONTROL_CHARACTER: 1})
    with pytest.raises(checkins.CheckinError, match="not a supported file"):
        checkins.sniff(write(b"\0" * 4096, "zeros.csv"))


def two_headers(write: Callable[..., Path]) -> Path:
    """Write two lines of names, the second of which names the columns in another order."""
    rows = [f"k{i % 7};g{i % 3};48.{i + 100};16.{i + 200}" for i in range(40)]
    lines = ["Export", "", "user;device;lat;lon", "device;user;lat;lon", *rows]
    return write("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("line", "names", "above", "kept"),
    [
        (3, ("user", "device", "lat", "lon"), (2, 1), 40),
        (4, ("device", "user", "lat", "lon"), (2, 1), 40),
        (5, ("k0", "g0", "48.100", "16.200"), (3, 1), 39),
        (0, ("column 1", "column 2", "column 3", "column 4"), (0, 0), 40),
    ],
)
def test_a_chosen_line_is_the_header(
    line: int, names: tuple[str, ...], above: tuple[int, int], kept: int, write: Callable[..., Path]
) -> None:
    path = two_headers(write)
    preview = checkins.sniff(path, header=line)
    assert (preview.columns, preview.header_line) == (names, line)
    mapping = checkins.Mapping(user=0, lat=2, lon=3, header=line)
    few = {"in_memory": 10, "shard_rows": 50, "memory": 900_000_000}
    large = partial(open_any_size, **few, executor=lambda _: InPlaceExecutor())
    for opening in (checkins.open_checkins, large):
        with opening(path, mapping, cache_dir=None) as data:
            report = data.report
            assert (report.before_header, report.header, report.kept) == (*above, kept)
            assert report.accounted == report.physical_lines == 44
            assert data.users == 7


def test_lines_that_may_be_the_header_are_offered(write: Callable[..., Path]) -> None:
    path = write("\n".join(["# exported", "", *CASES["title"][0], *ROWS]))
    preview = checkins.sniff(path)
    assert preview.header_line == 4
    assert preview.lines[:3] == ((1, "# exported"), (3, "Exported positions"), (4, HEADER))
    assert [number for number, _ in preview.lines[3:]] == list(range(5, 15))
    for number, line in preview.lines:
        chosen = checkins.sniff(path, header=number)
        assert chosen.header_line == number
        assert chosen.columns[0] == line.split(",")[0]


@pytest.mark.parametrize("line", [2, 9_999])
def test_a_line_that_is_none_of_the_first_is_no_header(line: int, write) -> None:
    with pytest.raises(checkins.CheckinError, match=f"line {line} "):
        checkins.sniff(two_headers(write), header=line)


def test_a_chosen_delimiter_is_kept_by_the_mapping(write: Callable[..., Path]) -> None:
    rows = [f"k{i % 7}|a,b|48.{i + 100}|16.{i + 200},x" for i in range(40)]
    path = write("\n".join(["user|note|lat|lon", *(row.removesuffix(",x") for row in rows)]))
    mapping = checkins.Mapping(user=0, lat=2, lon=3, delimiter="|")
    with checkins.open_checkins(path, mapping, cache_dir=None) as data:
        assert (data.report.kept, data.users) == (40, 7)
    with pytest.raises(checkins.CheckinError):
        checkins.open_checkins(path, checkins.Mapping(0, None, 2, 3, delimiter=","), cache_dir=None)
