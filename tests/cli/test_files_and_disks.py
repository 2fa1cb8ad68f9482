"""Odd names, pipes, full disks, killed programs and two at once, through the command line."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from explorer.checkins import CheckinData, Mapping, open_checkins
from explorer.checkins.cache import Entry, find_entry, new_entry, sweep
from explorer.cli import run
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.experiments import Checkpoint
from explorer.engine.large_import import open_any_size
from explorer.files import open_regular, read_bounded
from tests.waiting import time_limit

ROW = "{0}\t2010-10-{1:02d}T12:00:00Z\t40.{0}5\t-73.5\t{0}\n"
TEXT = "".join(ROW.format(i % 9, 1 + i % 28) for i in range(60))
CHECKOUT = Path(__file__).resolve().parents[2]
REGION = ("--region", "40,-74,41,-73", "--resolution", "16", "--quiet", "--json")


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


POINT = {"type": "Point", "coordinates": [-73.5, 40.5]}
NAMES = [
    b"semi;colon.txt",
    b"<b>tab\tnew\nline&amp;.txt",
    b"not\xff\xfeutf8.txt",
]


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_files_with_odd_names_open(name: bytes, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    path.write_text(TEXT)
    with open_checkins(path, cache_dir=tmp_path / "cache") as data:
        assert data.rows == 60
    places = [
        {"type": "Feature", "properties": {"user": i % 9}, "geometry": POINT} for i in range(9)
    ]
    features = path.with_name(path.name + ".geojson")
    features.write_text(json.dumps({"type": "FeatureCollection", "features": places}))
    with open_checkins(features, Mapping(user=0, lat=1, lon=2), cache_dir=None) as data:
        assert data.rows > 0
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    with open_checkins(packed, cache_dir=None) as data:
        assert data.rows == 60


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        ("verify", "{}"),
        ("ledger", "show", "--ledger", "{}"),
        ("bounds", "unbounded", "--curves", "{}"),
        ("heatmap", "sample", "--picture", "{}"),
        ("heatmap", "{}"),
    ],
)
def test_what_is_no_regular_file_is_refused(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero")):
        assert run([word.format(place) for word in words]) in (1, 2)
        said = capsys.readouterr().err
        assert "regular file" in said
        assert len(said.strip().splitlines()) == 1


def test_bounded_reading(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger") as refused:
        read_bounded(path, 4)
    assert refused.value.filename == str(path)
    with pytest.raises(OSError, match="regular"):
        open_regular(Path("/dev/null"))
    with pytest.raises(OSError, match="regular"):
        open_regular(tmp_path)


@pytest.mark.full
def test_a_file_edited_in_place_with_size_and_time_kept_is_noticed(tmp_path: Path) -> None:
    path, cache = tmp_path / "big.txt", tmp_path / "cache"
    line = "{0}\t2010-10-01T12:00:00Z\t40.5\t-73.5\t{0:07}\n"
    text = "".join(line.format(i % 9 + 1000000) for i in range(60_000))
    path.write_text(text)  # longer than what is hashed at both ends
    assert path.stat().st_size > 2_200_000
    with open_checkins(path, cache_dir=cache) as data:
        before = data.fingerprint
    state = path.stat()
    with path.open("r+b") as file:
        file.seek(text.index("40.5", len(text) // 2))
        file.write(b"40.6")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    with open_checkins(path, cache_dir=cache) as data:
        assert data.fingerprint != before


@pytest.mark.parametrize("step", ["seal", "keep"])
def test_a_full_cache_disk_is_no_reason_not_to_open_a_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    path.write_text(TEXT)
    original = getattr(Entry, step)

    def fill(entry: Entry, *args: Any) -> None:
        if entry.folder.parent == cache:
            full()
        original(entry, *args)

    monkeypatch.setattr(Entry, step, fill)
    with open_checkins(path, cache_dir=cache) as data:
        assert data.rows == 60
    assert not [p for p in cache.iterdir() if p.is_dir()]


def test_results_of_trials_are_found_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(tmp_path / "trials.db")
    checkpoint.add([({"n": 1}, 1)])
    connection = checkpoint._connection
    connection.execute("PRAGMA max_page_count = 1")  # as a disk without room
    many = [({"n": n}, "x" * 100) for n in range(2, 500)]
    checkpoint.add(many)
    assert len(list(checkpoint.rows())) == 499
    checkpoint.close()
    (tmp_path / "folder").mkdir()
    nowhere = Checkpoint(tmp_path / "folder")  # can't be opened as a file
    nowhere.add([({"n": 1}, 1)])
    assert len(list(nowhere.rows())) == 1
    nowhere.close()


def test_what_a_killed_command_left_is_swept_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from explorer.engine.paths import checkins_cache, find_cache

    find_cache.cache_clear()
    left = new_entry(checkins_cache())
    left.file("rows.parquet").write_bytes(b"rows")
    assert left._lock is not None
    left._lock.close()  # as the system does for a process that is killed
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    assert run(["heatmap", str(path), *REGION]) == 0
    assert not left.folder.exists()
    find_cache.cache_clear()


def test_an_entry_that_is_in_use_is_not_replaced(tmp_path: Path) -> None:
    """Two programs that read the same file at once: the slower one keeps its rows for itself."""
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    path.write_text(TEXT)
    with open_checkins(path, cache_dir=cache) as data:
        (kept,) = [p for p in cache.iterdir() if (p / "report.json").is_file()]
        slower = new_entry(cache)
        slower.file("a.parquet").write_bytes(b"x")
        slower.keep(cache, kept.name)
        assert not slower.lasting
        slower.close()
        assert not slower.folder.exists()
        assert data.rows == 60
    found = find_entry(cache, kept.name)
    assert found is not None
    found.close()


@pytest.mark.full
def test_two_imports_of_the_same_file_at_once_both_succeed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cache = tmp_path / "a.txt", tmp_path / "cache"
    # Of its own: what other tests' killed programs leave in the usual one is swept, too.
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("TMPDIR", str(scratch))
    path.write_text("".join(ROW.format(i % 9, 1 + i % 28) for i in range(4000)))
    inner: list[int] = []

    def opened(say: Any) -> CheckinData:
        return open_any_size(
            path,
            cache_dir=cache,
            in_memory=10,
            shard_rows=1000,
            say=say,
            executor=lambda _: InPlaceExecutor(),
        )

    def meanwhile(_size: object) -> None:
        code = (
            "import sys; from pathlib import Path\n"
            "from explorer.engine.executors.base import InPlaceExecutor\n"
            "from explorer.engine.large_import import open_any_size\n"
            "path, cache = map(Path, sys.argv[1:])\n"
            "options = {'in_memory': 10, 'shard_rows': 1000, 'cache_dir': cache}\n"
            "with open_any_size(path, executor=lambda _: InPlaceExecutor(), **options) as data:\n"
            "    print(data.rows)\n"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(path), str(cache)],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=time_limit(60),
        )
        assert other.returncode == 0, other.stderr
        inner.append(int(other.stdout))

    from explorer.engine import large_import

    original = large_import._Import._plans

    def planned(self: Any) -> Any:
        if not inner:
            meanwhile(None)
        return original(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_import._Import, "_plans", planned)
        with opened(lambda _: None) as data:
            assert [data.rows] == inner
    assert sweep(cache) == 0


def test_warnings_of_libraries_stay_off_standard_error(tmp_path: Path) -> None:
    code = (
        "import sys, warnings, logging\n"
        "from explorer import cli, __main__\n"
        "import click\n"
        "@click.command('studies')\n"
        "def command():\n"
        "    warnings.warn('a library warns')\n"
        "    for name in ('pypdf._reader', 'pyogrio._io', 'PIL.Image'):\n"
        "        logging.getLogger(name).warning('a library logs')\n"
        "sys.modules['tests_command'] = type(sys)('tests_command')\n"
        "sys.modules['tests_command'].command = command\n"
        "cli.COMMANDS['studies'] = 'tests_command:command'\n"
        "sys.argv = ['privacy-explorer', 'studies']\n"
        "sys.exit(__main__.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
