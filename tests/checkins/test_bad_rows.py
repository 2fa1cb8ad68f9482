"""Invalid rows of every kind are rejected with reason and line; valid rows are kept."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from explorer.checkins import Mapping, Reason, open_checkins
from tests.checkins.conftest import good

BAD: list[tuple[bytes, Reason]] = [
    (b"1\t2010-01-01T00:00:00Z\t0\t0\t7", Reason.ZERO_ZERO),
    (b"1\t2010-01-01T00:00:00Z\t0.0\t-0.0\t7", Reason.ZERO_ZERO),
    (b"1\t2010-01-01T00:00:00Z\t90.01\t3\t7", Reason.OUT_OF_RANGE),
    (b"1\t2010-01-01T00:00:00Z\t40\t-180.5\t7", Reason.OUT_OF_RANGE),
    (b"\t2010-01-01T00:00:00Z\t40\t-80\t7", Reason.BLANK_FIELD),
    (b"1\t\t40\t-80\t7", Reason.BLANK_FIELD),
    (b"1\t2010-01-01T00:00:00Z\t \t-80\t7", Reason.BLANK_FIELD),
    (b"1\t\t\t\t", Reason.BLANK_FIELD),
    (b"1\tepoch\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\tinfinity\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t2010-13-01T00:00:00Z\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t2010-02-30T00:00:00Z\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t0001-01-01T00:00:00Z\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t2010-01-01 (BC)\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t1_000\t40\t-80\t7", Reason.BAD_TIME),
    (b"1\t2010-01-01T00:00:00Z\tnorth\t-80\t7", Reason.NOT_A_NUMBER),
    (b"1\t2010-01-01T00:00:00Z\t4_0\t-80\t7", Reason.NOT_A_NUMBER),
    (b"1\t2010-01-01T00:00:00Z\t40,5\t-80\t7", Reason.NOT_A_NUMBER),
    (b"1\t2010-01-01T00:00:00Z\tnan\t-80\t7", Reason.NOT_FINITE),
    (b"1\t2010-01-01T00:00:00Z\t40\t-inf\t7", Reason.NOT_FINITE),
    (b"1\t2010-01-01T00:00:00Z\t1e999\t-80\t7", Reason.NOT_FINITE),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80", Reason.TOO_FEW_FIELDS),
    (b"1", Reason.TOO_FEW_FIELDS),
    (b" ", Reason.TOO_FEW_FIELDS),
    (b"# a remark", Reason.TOO_FEW_FIELDS),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80\t7\t8", Reason.TOO_MANY_FIELDS),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80\t7\t", Reason.TOO_MANY_FIELDS),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80\t7\ta\tb\tc\td", Reason.TOO_MANY_FIELDS),
    (b"1\t2010-01-01T00:\xff\t40\t-80\t7", Reason.INVALID_BYTES),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80\t7\xc3", Reason.INVALID_BYTES),
    (b"1\t2010-01-01T00:00:00Z\t40\t-80\ta\0b", Reason.CONTROL_CHARACTER),
    (b"1\t2010-01-01T00:00:00Z\t40\r\t-80\t7", Reason.CONTROL_CHARACTER),
]
KEPT = [
    b"x1\t2010-01-01T00:00:00+02:00\t40\t-80\t",
    "x1\t2010-01-01 00:00:00.25\t+4.0e1\t-80.\tcafé".encode(),
    b'"x"\t2010-01-01T00:00\t90\t180\t"7',
    b"1_000\t2010/01/01 00:00:00\t-90\t-180\t1_000",
    b"12.7\t2010-01-01\t0\t1\tepoch",
]


def lines_of(path: Path) -> dict[Reason, list[int]]:
    with open_checkins(path, cache_dir=None) as data:
        return {reason: [e.line for e in found] for reason, found in data.report.examples.items()}


def check_rejected(path: Path, rows: int, bad: list[tuple[bytes, Reason]]) -> None:
    """Check that these lines, which stand behind three good ones, and no others are rejected."""
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == rows
        examples = data.report.examples
        found = {e.line: (reason, e.text) for reason in examples for e in examples[reason]}
    assert found == {
        4 + i: (why, line.decode(errors="replace")) for i, (line, why) in enumerate(bad)
    }


@pytest.mark.full
def test_each_kind_of_bad_row(write: Callable[..., Path]) -> None:
    """All in one file, and those alone that could be taken for another encoding or line end."""
    rows = [good(i).encode() for i in range(80)]
    alone = [one for one in BAD if one[1] in (Reason.INVALID_BYTES, Reason.CONTROL_CHARACTER)]
    for bad in (BAD, *([one] for one in alone)):
        lines = [*rows[:3], *(line for line, _ in bad), *rows[3:]]
        check_rejected(write(b"\n".join(lines) + b"\n"), len(rows), bad)


@pytest.mark.full
def test_unusual_good_rows_are_kept(write: Callable[..., Path]) -> None:
    rows = [good(i).encode() for i in range(8)]
    with open_checkins(write(b"\n".join([*rows, *KEPT])), cache_dir=None) as data:
        assert data.report.rejected == {}
        assert data.rows == 8 + len(KEPT)


def test_times_are_stored_as_utc(write: Callable[..., Path]) -> None:
    path = write("1\t2010-06-01T00:30:00+02:00\t40\t-80\t7\n1\t2010-06-02 01:00:00\t40\t-80\t7\n")
    with open_checkins(path, Mapping(0, 1, 2, 3, 4), cache_dir=None) as data:
        assert data.first_time == "2010-05-31T22:30:00Z"
        assert data.last_time == "2010-06-02T01:00:00Z"


def test_user_ids_are_not_rounded(write: Callable[..., Path]) -> None:
    path = write("\n".join([good(0, "13"), good(1, "12.7"), good(2, "13.0"), good(3, "1_3")]))
    with open_checkins(path, cache_dir=None) as data:
        assert data.users == 4


def test_duplicates_keep_the_first(write: Callable[..., Path]) -> None:
    rows = [
        "1\t2010-01-01T00:00:00Z\t40.5\t-73.5\t7",
        "1\t2010-01-01 01:00:00+0100\t40.50\t-73.5\t7",  # the same instant and place
        "1\t2010-01-01T00:00:00Z\t40.5\t-73.5\t8",
        "2\t2010-01-01T00:00:00Z\t40.5\t-73.5\t7",
        "1\t2010-01-01T00:00:00Z\t40.5\t-73.5\t7",
        "1\t2010-01-01T00:00:00Z\t0.0\t-73.5\t",
        "1\t2010-01-01T00:00:00Z\t-0.0\t-73.5\t",
    ]
    path = write("\n".join(rows) + "\n")
    assert lines_of(path) == {Reason.DUPLICATE: [2, 5, 7]}
    with open_checkins(path, cache_dir=None, detect_duplicates=False) as data:
        assert data.rows == 7


def expected(lines: list[bytes], kinds: list[Reason | None]) -> dict[Reason, list[int]]:
    found: dict[Reason, list[int]] = {}
    for number, reason in enumerate(kinds, 1):
        if reason is not None:
            found.setdefault(reason, []).append(number)
    return found


@pytest.mark.full
@settings(max_examples=settings.default.max_examples // 3)
@given(
    st.lists(st.integers(-1, len(BAD)), max_size=60),
    st.sampled_from([b"\n", b"\r\n", b"mixed"]),
    st.booleans(),
    st.booleans(),
)
def test_every_line_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory,
    plan: list[int],
    ending: bytes,
    zipped: bool,
    ends: bool,
) -> None:
    lines: list[bytes] = []
    kinds: list[Reason | None] = []
    blanks: set[int] = set()
    # good rows first, so that the guess of the columns is not what is tested
    for i, kind in enumerate([-1] * (len(plan) + 3) + plan):
        if kind == -1:
            lines.append(good(i).encode())
            kinds.append(None)
        elif kind == len(BAD):
            blanks.add(len(lines) + 1)
            lines.append(b"")
            kinds.append(None)
        else:
            lines.append(BAD[kind][0])
            kinds.append(BAD[kind][1])
    text = b"".join(
        line + ((b"\r\n", b"\n")[i % 3 == 0] if ending == b"mixed" else ending)
        for i, line in enumerate(lines)
    )
    if not ends and lines[-1]:
        text = text.rstrip(b"\r\n")
    want = expected(lines, kinds)
    # bad rows come back word for word; only their first occurrence is not a duplicate of itself
    path = tmp_path_factory.mktemp("rows") / ("rows.txt.gz" if zipped else "rows.txt")
    path.write_bytes(gzip.compress(text) if zipped else text)
    with open_checkins(path, cache_dir=None) as data:
        report = data.report
        assert report.physical_lines == len(lines)
        assert report.blank == len(blanks)
        assert report.rejected == {r: len(n) for r, n in sorted_by_reason(want)}
        assert {r: [e.line for e in found] for r, found in report.examples.items()} == {
            r: n[:20] for r, n in want.items()
        }
        assert report.kept == len(lines) - len(blanks) - sum(map(len, want.values()))


def sorted_by_reason(want: dict[Reason, list[int]]) -> list[tuple[Reason, list[int]]]:
    return sorted(want.items(), key=lambda item: item[0].code)
