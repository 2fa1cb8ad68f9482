"""Cancellation at every stage is quick and leaves no files."""

from __future__ import annotations

import gzip
import itertools
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.checkins import (
    Dialect,
    LoadCancelled,
    MappingNeeded,
    Progress,
    open_checkins,
    sniff,
)
from tests.checkins.conftest import good
from tests.waiting import time_limit

STAGES = ("Preparing", "Reading", "Finding duplicates", "Storing")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("large")
    start = "".join(
        f"u{i % 20_000}\t2010-01-{1 + i % 28:02d}T{i % 24:02d}:{i % 60:02d}:00Z\t"
        f"{24 + i % 25000 / 1000}\t{-125 + i % 58000 / 1000}\t{i}\n"
        for i in range(100_000)
    ).encode()
    text = start + start
    (folder / "plain.txt").write_bytes(text)
    (folder / "zipped.txt.gz").write_bytes(gzip.compress(text, 1))
    return {"plain": folder / "plain.txt", "zipped": folder / "zipped.txt.gz"}


def left(cache_dir: Path) -> list[str]:
    found = [p.name for p in cache_dir.iterdir()] if cache_dir.exists() else []
    found += [p.name for p in Path(tempfile.gettempdir()).iterdir()]
    return found + [t.name for t in threading.enumerate() if t.name.startswith("checkins")]


@pytest.mark.full
@pytest.mark.parametrize(
    ("stage", "cached"), [*zip(STAGES, 2 * [True, False], strict=True), (STAGES[-1], True)]
)
def test_cancelled_in_each_stage(
    large: dict[str, Path], tmp_path: Path, stage: str, cached: bool
) -> None:
    reached = threading.Event()

    def watch(progress: Progress) -> None:
        if STAGES.index(progress.stage) >= STAGES.index(stage):
            reached.set()

    cache_dir = tmp_path / "cache"
    with pytest.raises(LoadCancelled):
        open_checkins(
            large["zipped"],
            cache_dir=cache_dir if cached else None,
            progress=watch,
            cancelled=reached.is_set,
        )
    assert reached.is_set()
    assert left(cache_dir) == []


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 13, 21, 34])
def test_cancelled_at_the_nth_question(large: dict[str, Path], tmp_path: Path, after: int) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    with pytest.raises(LoadCancelled):
        open_checkins(large["plain"], cache_dir=tmp_path / "cache", cancelled=cancelled)
    assert left(tmp_path / "cache") == []


def test_a_statement_is_stopped_by_interrupting_it(large: dict[str, Path], tmp_path: Path) -> None:
    """Well below what the load takes; the 50 ms themselves are measured by the benchmark."""
    wanted = threading.Event()
    done = threading.Event()
    ended: list[float] = []

    def load() -> None:
        with pytest.raises(LoadCancelled):
            open_checkins(large["plain"], cache_dir=tmp_path / "c", cancelled=wanted.is_set)
        ended.append(time.perf_counter())
        done.set()

    thread = threading.Thread(target=load)
    thread.start()
    time.sleep(0.15)
    asked = time.perf_counter()
    wanted.set()
    assert done.wait(time_limit())
    thread.join()
    assert ended[0] - asked < time_limit(2)
    assert left(tmp_path / "c") == []


@pytest.mark.full
def test_a_failing_listener_stops_the_load(large: dict[str, Path], tmp_path: Path) -> None:
    def broken(progress: Progress) -> None:
        raise RuntimeError(progress.stage)

    with pytest.raises(RuntimeError, match="Preparing"):
        open_checkins(large["zipped"], cache_dir=tmp_path / "cache", progress=broken)
    assert left(tmp_path / "cache") == []


def test_a_failed_load_leaves_nothing(write: Callable[..., Path], tmp_path: Path) -> None:
    header = "user\ttime\tlat\tlon\tloc\n"
    path = write(header + "\n".join(f"{i}\tsoon\t40.5\t-73.5\t{i}" for i in range(9)))
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=tmp_path / "cache")
    assert left(tmp_path / "cache") == []


@pytest.mark.full
@pytest.mark.parametrize("kind", ["plain", "zipped"])
def test_progress_only_grows(large: dict[str, Path], kind: str) -> None:
    seen: list[Progress] = []
    with open_checkins(large[kind], cache_dir=None, progress=seen.append) as data:
        assert data.rows == 100_000
        assert data.users == 20_000
        total = large[kind].stat().st_size
    assert seen
    for before, after in itertools.pairwise(seen):
        assert after.fraction >= before.fraction
        assert after.rows >= before.rows
        assert after.bytes_done >= before.bytes_done
        assert STAGES.index(after.stage) >= STAGES.index(before.stage)
    for progress in seen:
        assert 0 <= progress.fraction <= 1
        assert 0 <= progress.bytes_done <= progress.bytes_total == total
        assert progress.seconds_left is None or progress.seconds_left >= 0


def test_lost_rows_are_noticed(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """If the reader returned fewer rows than there are lines, the load would say so."""
    from explorer.checkins import CheckinError
    from explorer.checkins.readers import text

    path = write("\n".join(good(i) for i in range(30)))
    source = text.text_source
    tried: list[bool] = []

    def losing(*args: object) -> str:
        tried.append(bool(args[4]) if len(args) > 4 else True)
        return f"(FROM {source(*args)} LIMIT 20)"  # type: ignore[arg-type]

    monkeypatch.setattr(text, "text_source", losing)
    with pytest.raises(CheckinError, match=r"30 .* 20"):
        open_checkins(path, cache_dir=None)
    assert False in tried  # it was read once more, in one thread, before giving up


def test_a_dialect_that_was_chosen_is_used(write: Callable[..., Path]) -> None:
    path = write("\n".join(good(i) for i in range(30)))
    dialect = sniff(path).dialect
    header = Dialect(dialect.format, dialect.delimiter, has_header=True)
    with open_checkins(path, dialect=header, cache_dir=None) as data:
        assert (data.report.header, data.rows) == (1, 29)


@pytest.mark.full
def test_a_file_that_changes_meanwhile_is_refused(large: dict[str, Path], tmp_path: Path) -> None:
    from explorer.checkins import CheckinError

    path = tmp_path / "growing.txt"
    path.write_bytes(large["plain"].read_bytes())

    def grow(progress: Progress) -> None:
        if progress.stage == "Storing":
            with path.open("a") as file:
                file.write("x")

    with pytest.raises(CheckinError, match="was changed"):
        open_checkins(path, cache_dir=tmp_path / "cache", progress=grow)
    assert left(tmp_path / "cache") == []


@pytest.mark.full
def test_a_full_disk_is_reported_in_a_sentence(
    large: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from explorer.checkins import CheckinError, loading

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(loading, "find_duplicates", full)
    with pytest.raises(CheckinError, match=r"plain.*No space"):
        open_checkins(large["plain"], cache_dir=tmp_path / "cache")
    assert left(tmp_path / "cache") == []


@pytest.mark.full
@pytest.mark.parametrize("in_memory", [False, True])
def test_closing_interrupts_questions(large: dict[str, Path], in_memory: bool) -> None:
    data = open_checkins(large["plain"], cache_dir=None)
    if in_memory:  # then no question reaches the database any more
        data.layout()
    raised: list[BaseException] = []
    begun = threading.Event()

    def ask() -> None:
        try:
            while True:
                begun.set()
                data.points(data.extent)
        except Exception as fault:
            raised.append(fault)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(time_limit())
    time.sleep(0.05)
    data.close()
    thread.join(time_limit())
    assert not thread.is_alive()
    assert len(raised) == 1
    with pytest.raises(ValueError, match="has been closed"):
        data.points(data.extent)
