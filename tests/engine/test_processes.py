"""The worker process: answers, errors, cancellation, death, closing."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.engine.executors import embedded
from explorer.engine.executors.base import WorkerDied
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.studies.base.study import Cancelled, NoWorker
from tests import snapshots
from tests.engine import jobs
from tests.waiting import time_limit

pytestmark = pytest.mark.usefixtures("fresh_workers")


def never() -> None:
    return None


@pytest.fixture
def worker() -> Iterator[EmbeddedExecutor]:
    worker = EmbeddedExecutor()
    yield worker
    worker.close()


def test_answers_errors_and_death_in_one_life(
    worker: EmbeddedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")  # which all tests share
    assert worker.call(jobs.add, (2, 3), never) == 5
    assert "privacy-explorer" in worker.call(jobs.cache_folder, (), never)
    with pytest.raises(ValueError, match="told so"):
        worker.call(jobs.fail, ("told so",), never)
    with pytest.raises(WorkerDied, match="coarser"):
        worker.call(jobs.die, (), never)
    assert worker.call(jobs.add, (1, 1), never) == 2


def test_cancel_returns_at_once_and_a_long_stale_job_is_killed(
    worker: EmbeddedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "KILL_AFTER_S", 0.2)
    worker.call(jobs.add, (1, 1), never)
    began = time.monotonic()

    def soon() -> None:
        if time.monotonic() - began > 0.1:
            raise Cancelled

    with pytest.raises(Cancelled):
        worker.call(jobs.sleep, (60.0,), soon)
    assert worker.call(jobs.add, (4, 4), never) == 8
    assert time.monotonic() - began < time_limit(30)  # the sleeper had 60 s to go


def test_a_closed_worker_cancels(worker: EmbeddedExecutor) -> None:
    worker.close()
    with pytest.raises(Cancelled):
        worker.call(jobs.add, (1, 1), never)


def test_no_shared_memory_is_reported_with_what_to_do(
    worker: EmbeddedExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr("loky.ProcessPoolExecutor", refused)
        patch.setattr(embedded, "SHARED_MEMORY", tmp_path / "none")
        with pytest.raises(NoWorker, match=r"none \(read-only") as error:
            worker.call(jobs.add, (1, 1), never)
        snapshots.check(error.value)
        patch.setattr(embedded, "SHARED_MEMORY", tmp_path)
        with pytest.raises(NoWorker, match="can't start: read-") as error:
            worker.call(jobs.add, (1, 1), never)
        snapshots.check(error.value)
    assert worker.call(jobs.add, (1, 1), never) == 2
