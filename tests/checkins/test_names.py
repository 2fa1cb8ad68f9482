"""File names with special meaning to the database open exactly that file."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.checkins import CheckinError, Reason, database, open_checkins, sniff
from tests.checkins.conftest import good

NAMES = [
    "home[1]",
    "a*b",
    "a?b",
    "a[b",
    "[!a]",
    "**",
    "{a,b}",
    "a\\[1]",
    "~ s3:x $HOME #1%20&",
    'say "it\'s"\n日本',
    os.fsdecode(b"caf\xe9[1]"),
]
DECOYS = ("home1", "aXb", "acb", "a", "b", "x", "a1", "aX")
"""What those names match as patterns."""


def rows(first: int, number: int = 12) -> str:
    return "\n".join([*(good(first + i, first + i) for i in range(number - 1)), "bad"])


def parquet(path: Path, latitude: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {"user": [f"u{latitude}"] * 3, "lat": [latitude] * 3, "lon": [3.0, 500.0, 4.0]}
    with path.open("wb") as file:
        pq.write_table(pa.table(table), file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, name in enumerate(DECOYS):
        place = tmp_path / f"{name}x"
        place.mkdir()
        (place / f"{name}.txt").write_text(rows(1000 + 50 * i))
        parquet(place / f"{name}.parquet", 80.0)
    return tmp_path


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_files_folders_and_caches_of_such_names(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    inside = folder / f"{name}x"
    inside.mkdir()
    for decoy in DECOYS:  # where one of both names is taken for a pattern
        (folder / f"{decoy}x" / f"{name}.txt").write_text(rows(2000))
        (inside / f"{decoy}.txt").write_text(rows(3000))
    text, table, cache_dir = inside / f"{name}.txt", inside / f"{name}.parquet", inside / "cache"
    text.write_text(rows(1))
    parquet(table, 12.5)
    with open_checkins(text, cache_dir=cache_dir) as data:
        points = data.points(data.extent)
        assert (points.rows, data.users, data.report.kept) == (11, 11, 11)
        assert set(map(int, data.user_ids())) == set(range(1, 12))
        assert [e.line for e in data.report.examples[Reason.TOO_FEW_FIELDS]] == [12]
        data.basename.encode()
        assert data.export_rejected(folder / "aside.csv") == 1
    assert [row[1] for row in sniff(table).rows] == ["12.5"] * 3
    with open_checkins(table, cache_dir=cache_dir) as data:
        assert data.extent == (12.5, 3.0, 12.5, 4.0)
        assert (data.rows, data.users) == (2, 1)
        assert data.report.examples[Reason.OUT_OF_RANGE][0].text == "u12.5,12.5,500.0"
        assert data.export_rejected(folder / "aside.csv") == 1
    with (folder / "aside.csv").open(newline="") as file:
        assert list(csv.reader(file))[1][3] == "u12.5,12.5,500.0"
    with open_checkins(text, cache_dir=cache_dir) as data:
        assert data.points(data.extent).rows == 11
    with open_checkins(table, cache_dir=cache_dir) as data:
        assert data.extent == (12.5, 3.0, 12.5, 4.0)
    assert not list(folder.glob("privacy-explorer-*"))


def test_columns_are_those_of_the_file_not_of_its_folders(tmp_path: Path) -> None:
    folder = tmp_path / "user=5" / "lat=1"
    folder.mkdir(parents=True)
    parquet(folder / "f.parquet", 12.5)
    assert sniff(folder / "f.parquet").columns == ("user", "lat", "lon")
    with open_checkins(folder / "f.parquet", cache_dir=None) as data:
        assert data.extent == (12.5, 3.0, 12.5, 4.0)


def test_a_column_named_like_the_readers_own(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "f.parquet"
    pq.write_table(
        pa.table(
            {
                "user": [1, 2],
                "lat": [1.5, 99.0],
                "lon": [2.0, 2.0],
                "file_row_number": [8, 9],
                'the "n"': [1, 2],
            }
        ),
        path,
    )
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == 1
        assert data.report.examples[Reason.OUT_OF_RANGE][0].line == 2
        assert data.report.examples[Reason.OUT_OF_RANGE][0].text == "2,99.0,2.0,9,2"
        assert data.export_rejected(tmp_path / "aside.csv") == 1


def test_only_what_is_found_alone_is_read(tmp_path: Path) -> None:
    for name in ("x[1].txt", "x1.txt", "x2.txt"):
        (tmp_path / name).write_text(name)
    con = database.connect()
    try:
        assert database.finds_exactly(con, tmp_path / "x[1].txt")
        assert not database.finds_exactly(con, tmp_path / "x?.txt")
        assert not database.finds_exactly(con, tmp_path / os.fsdecode(b"x\xff.txt"))
        with pytest.raises(FileNotFoundError), database.reachable(con, tmp_path / "x?.txt"):
            pytest.fail("read x1.txt and x2.txt for it")
    finally:
        con.close()


def test_a_temporary_folder_that_cannot_be_used(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(CheckinError, match=r"nowhere.*TMPDIR"):
        open_checkins(write(rows(1)), cache_dir=None)


@pytest.mark.full
def test_a_folder_that_may_be_entered_but_not_listed() -> None:
    """As somebody else, because root may list everything."""
    import subprocess
    import sys

    # not below pytest's own folder, which every run of pytest closes to others
    with tempfile.TemporaryDirectory(prefix="closed-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o711)
        (folder / "x[1].txt").write_text(rows(1))
        code = (
            "import os, sys, tempfile\n"
            "from explorer.checkins import open_checkins\n"
            "open_checkins(sys.argv[1], cache_dir=None).close()\n"  # imports, while it still may
            "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
            "tempfile.tempdir = '/tmp'\n"
            "with open_checkins(sys.argv[1], cache_dir=None) as data: print(data.rows)\n"
        )
        command = [sys.executable, "-c", code, folder / "x[1].txt"]
        ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == "11\n", ran.stderr
