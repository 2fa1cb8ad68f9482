"""Stray quotes in CSV files cost their own line only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from explorer.checkins import CheckinData, CheckinError, Mapping, Reason, open_checkins

Write = Callable[..., Path]

HEADER = "user,venue,time,lat,lon"


def row(user: str, venue: str) -> str:
    return f"{user},{venue},2010-01-01T00:00:00Z,40.5,-73.5"


def users(data: CheckinData) -> set[str]:
    """The ids of all kept rows, as read."""
    from explorer.checkins import database

    con = database.connect()
    try:
        table = database.parquet_table(data._entry.file("users.parquet"))
        return {name for (name,) in con.execute(f"SELECT name FROM {table}").fetchall()}
    finally:
        con.close()


def opened(path: Path) -> CheckinData:
    names = path.read_text(encoding="utf-8", errors="replace").splitlines()[0].split(",")
    # Users of one row each are asked about, so that the columns are said.
    columns = {role: names.index(role) for role in ("user", "time", "lat", "lon")}
    mapping = Mapping(**columns, location=names.index("venue"))
    data = open_checkins(path, mapping=mapping, cache_dir=None)
    report = data.report
    lines = path.read_bytes().count(b"\n") + (not path.read_bytes().endswith(b"\n"))
    assert report.physical_lines == lines
    assert (
        report.header + report.kept + report.blank + report.continued + report.total_rejected
        == lines
    )
    return data


def test_inch_marks_fifty_lines_apart(write: Write) -> None:
    rows = [row(f"u{i}", '6" nails' if i in (20, 70) else "shop") for i in range(90)]
    with opened(write("\n".join([HEADER, *rows]), "inch.csv")) as data:
        assert data.report.kept == 88
        assert data.report.rejected == {Reason.BROKEN_QUOTES: 2}
        assert [e.line for e in data.report.examples[Reason.BROKEN_QUOTES]] == [22, 72]


@pytest.mark.full
@pytest.mark.parametrize(
    ("between", "venue"),
    [
        (0, "first"),
        (1, "middle"),
        (49, "first"),
        (98, "middle"),
        (99, "first"),
        (100, "middle"),
        (150, "first"),
    ],
)
def test_an_opening_and_a_stray_closing_quote(write: Write, between: int, venue: str) -> None:
    spoilt = ('"shop', 'shop"') if venue == "middle" else ("shop", "shop")
    rows = [row(f"u{i}", "shop") for i in range(40)]
    rows += [row("open", spoilt[0]), *(row(f"m{i}", "shop") for i in range(between))]
    rows += [row("close", spoilt[1]), *(row(f"v{i}", "shop") for i in range(20))]
    if venue == "first":
        rows = [line.replace("open,", '"open,').replace("close,", 'close",') for line in rows]
    with opened(write("\n".join([HEADER, *rows]), "pair.csv")) as data:
        assert data.report.kept == 60 + between
        assert data.report.rejected == {Reason.BROKEN_QUOTES: 2}
        assert data.report.continued == 0


@pytest.mark.full
@pytest.mark.parametrize(("column", "ending"), [(0, "\r\n"), (1, "\n"), (4, "\r\n")])
def test_records_of_several_lines_are_kept(write: Write, column: int, ending: str) -> None:
    names = ["user", "venue", "time", "lat", "lon"]
    names.append(names.pop(column)) if column == 4 else None
    cells = {"user": "u1", "venue": "shop", "time": "2010-01-01T00:00:00Z", "lat": "40.5"}
    cells["lon"] = "-73.5"
    many = {0: "user", 1: "venue", 4: "venue"}[column]
    if column == 4:
        names = ["user", "time", "lat", "lon", "venue"]
    cells[many] = f'"Zum{ending}""Hirschen"", Hof{ending}{ending}2, 3{ending}links"'
    record = ",".join(cells[name] for name in names)
    plain = [
        ",".join({**cells, "user": f"v{i}", "venue": "x"}[name] for name in names) for i in range(5)
    ]
    text = ending.join([",".join(names), *plain[:3], record, *plain[3:]]) + ending
    with opened(write(text, "several.csv")) as data:
        assert data.report.rejected == {}
        assert (data.report.kept, data.report.continued) == (6, 4)


def test_a_line_inside_a_field_is_no_other_user(write: Write) -> None:
    rows = [row('"a\nb"', "x"), row("a b", "x"), row("c", '"y\nz"'), row("c", "y z")]
    with opened(write("\n".join([HEADER, *rows]), "ids.csv")) as data:
        assert data.users == 3
        assert data.report.rejected == {}


def test_separators_of_the_copy_are_found_out(write: Write) -> None:
    rows = [row(f"u{i}", "shop") for i in range(20)]
    rows += [row("v", "a\x1fb"), row("w", '"a\x1eb"'), row("x", '"a, b"')]
    with opened(write("\n".join([HEADER, *rows]), "separators.csv")) as data:
        assert data.report.rejected == {Reason.CONTROL_CHARACTER: 2}
        assert data.report.kept == 21


GOOD, INCH, OPEN, CLOSE, QUOTED, SEVERAL, BLANK, INVALID = range(8)


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 3)
@given(st.lists(st.integers(GOOD, INVALID), max_size=60), st.integers(1, 4), st.booleans())
def test_strays_among_good_records(
    tmp_path_factory: pytest.TempPathFactory, plan: list[int], several: int, ends: bool
) -> None:
    """What was written is known record by record; nothing else is used to judge what was read."""
    lines = [HEADER, row("first", "x"), row("second", '"x, y"')]
    good, bad, continued, blank = {"first", "second"}, 0, 0, 0
    for i, kind in enumerate(plan):
        user = f"u{i}"
        text = {
            GOOD: row(user, "shop"),
            INCH: row(user, '6" nails'),
            OPEN: row(user, '"shop'),
            CLOSE: row(user, 'shop"'),
            QUOTED: row(user, '"a ""b"", c"'),
            SEVERAL: row(user, '"a' + "\n, b" * several + '"'),
            BLANK: "",
            INVALID: row(user, "\udcff"),
        }[kind]
        lines.append(text)
        if kind in (GOOD, QUOTED, SEVERAL):
            good.add(user)
        bad += kind in (INCH, OPEN, CLOSE, INVALID)
        continued += several * (kind == SEVERAL)
        blank += kind == BLANK
    text = "\n".join(lines) + "\n" * (ends or not lines[-1])
    path = tmp_path_factory.mktemp("strays") / "strays.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with opened(path) as data:
        report = data.report
        assert (report.kept, report.total_rejected) == (len(good), bad)
        assert (report.continued, report.blank) == (continued, blank)
        assert users(data) == good


SOUP = st.lists(
    st.one_of(
        st.just(None),
        st.text(st.sampled_from('",ab\n\r 7.'), max_size=30),
        st.sampled_from(['"', '",', ',"', '""', ',"x', 'x",', '"x"y', "7,", '7,"']),
    ),
    max_size=80,
)


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 3)
@given(SOUP)
def test_rows_without_quotes_are_kept_whatever_is_between_them(
    tmp_path_factory: pytest.TempPathFactory, soup: list[str | None]
) -> None:
    lines, good = [HEADER, row("u", "x"), row("v", "x")], 2
    for i, text in enumerate(soup):
        lines.append(row(f"u{i}", "shop") if text is None else text)
        good += text is None
    path = tmp_path_factory.mktemp("soup") / "soup.csv"
    path.write_bytes("\n".join(lines).encode())
    try:
        data = opened(path)
    except CheckinError:
        assert good <= 0.5 * len(lines)
        return
    with data:
        names = users(data)
        assert {name for name in names if name[0] in "uv" and "\n" not in name} >= {
            line.split(",")[0] for line in lines[1:] if line.endswith("-73.5") and '"' not in line
        }


def test_examples_are_shown_as_they_stand_in_the_file(write: Write) -> None:
    """The copy's own separators are shown as commas, those of the file are not."""
    rows = [row(f"u{i}", '"a ""b"", c"') for i in range(30)]
    rows[5] = "\x1f,shop,2010-01-01T00:00:00Z,40.5,-73.5"
    rows[7] = '"u7",shop,yesterday,40.5,-73.5'
    with opened(write("\n".join([HEADER, *rows]), "odd.csv")) as data:
        shown = {r: [(e.line, e.text) for e in found] for r, found in data.report.examples.items()}
    assert shown == {
        Reason.CONTROL_CHARACTER: [(7, rows[5])],
        Reason.BAD_TIME: [(9, "u7,shop,yesterday,40.5,-73.5")],
    }


def test_examples_behind_blank_lines(write: Write) -> None:
    """Blank lines that the reader is spared move no line number and no text."""
    rows = [row(f"u{i}", "shop") for i in range(30)] + [""] * 400_000
    rows += ["u1,shop,yesterday,40.5,-73.5", *(row(f"v{i}", "shop") for i in range(30)), 'a"b']
    with opened(write("\n".join([HEADER, *rows]), "blank.csv")) as data:
        assert (data.rows, data.report.blank) == (60, 400_000)
        (bad,) = data.report.examples[Reason.BAD_TIME]
        (broken,) = data.report.examples[Reason.BROKEN_QUOTES]
    assert (bad.line, bad.text) == (400_032, rows[400_030])
    assert (broken.line, broken.text) == (400_063, 'a"b')
