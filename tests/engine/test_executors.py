"""Batches over workers that die, differ or are no longer wanted; results that are kept."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from explorer.engine.executors import base, embedded
from explorer.engine.executors.base import (
    BATCH_S,
    DifferentCode,
    WorkerDied,
    name_of,
    run_batch,
    task_key,
    task_seed,
)
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.engine.experiments import Checkpoint
from explorer.studies.base.study import Cancelled
from tests.engine import jobs
from tests.engine.test_survivors import alive
from tests.waiting import time_limit, wait_until

pytestmark = pytest.mark.usefixtures("fresh_workers")


def never() -> None:
    return None


@pytest.fixture(scope="module")
def pool() -> Iterator[EmbeddedExecutor]:
    pool = EmbeddedExecutor(2)
    yield pool
    pool.close()


def trials(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"study": "test", "cell": i % 5, "trial": i, **more} for i in range(count)]


def digest(checkpoint: Checkpoint) -> str:
    return hashlib.sha256(json.dumps(list(checkpoint.rows())).encode()).hexdigest()


def complete(
    folder: Path, executor: EmbeddedExecutor, tasks: list[Any], check: Callable[[], None] = never
) -> tuple[int, str]:
    """Return how many rows are kept in a folder's file at the end, and their digest."""
    checkpoint = Checkpoint(folder / "sweep.sqlite")
    try:
        checkpoint.complete(executor, jobs.trial, tasks, check)
        return len(list(checkpoint.rows())), digest(checkpoint)
    finally:
        checkpoint.close()


def test_a_task_has_one_key_and_seed_whatever_the_order_of_its_entries() -> None:
    task = {"study": "ü", "cell": 1.5}
    assert task_key(task) == task_key(dict(reversed(task.items())))
    canonical = '{"cell":1.5,"study":"ü"}'
    assert task_key(task) == hashlib.sha256(canonical.encode()).hexdigest()
    first, again = (np.random.Generator(task_seed(task_key(task))).random(4) for _ in range(2))
    assert (first == again).all()
    assert (first != np.random.Generator(task_seed(task_key({"cell": 1}))).random(4)).all()
    with pytest.raises(ValueError, match="not JSON"):
        task_key({"eps": float("inf")})


def test_only_functions_that_a_worker_can_import_are_taken(pool: EmbeddedExecutor) -> None:
    def here(task: int) -> int:
        return task

    for function in (here, lambda task: task):
        with pytest.raises(ValueError, match="define it in a module"):
            next(pool.map(function, [1], never))
        with pytest.raises(ValueError, match="define it in a module"):
            pool.call(function, (1,), never)


@pytest.mark.full
def test_a_map_gives_every_result_once_in_batches_of_measured_length(
    pool: EmbeddedExecutor,
) -> None:
    tasks = trials(600, seconds=0.002)
    batches = list(pool.batches(jobs.trial, tasks, never))
    found = dict(pair for batch in batches for pair in batch)
    assert len(found) == sum(map(len, batches)) == 600
    assert found == {i: jobs.trial({**task}) for i, task in enumerate(tasks)}
    assert max(map(len, batches)) > 8  # beside those with which it began
    assert max(map(len, batches)) <= BATCH_S / 0.002


@pytest.mark.full
def test_a_task_that_kills_its_worker_is_named(
    pool: EmbeddedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_FAILURES", 2)
    with pytest.raises(WorkerDied, match=r": .* 2 times .* 3 to 3.*kill"):
        # A sign that can never be made: the worker dies each time.
        list(pool.map(jobs.trial, [*trials(3), {"kill_once": "/nowhere/dies"}, *trials(3)], never))
    assert dict(pool.map(jobs.trial, trials(3), never)).keys() == {0, 1, 2}


@pytest.mark.full
def test_a_check_that_raises_ends_a_map_at_once(
    pool: EmbeddedExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "KILL_AFTER_S", 0.2)
    began = time.monotonic()

    def soon() -> None:
        if time.monotonic() - began > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(pool.map(jobs.trial, trials(40, seconds=60.0), soon))
    assert len(list(pool.map(jobs.trial, trials(4), never))) == 4
    assert time.monotonic() - began < time_limit(30)  # the sleepers had 60 s each to go


def test_what_a_function_raises_comes_with_where_it_was_raised(pool: EmbeddedExecutor) -> None:
    with pytest.raises(ValueError, match="told so") as caught:
        list(pool.map(jobs.fail, ["told so"], never))
    assert "in fail" in "".join(caught.value.__notes__)


def test_a_worker_with_other_code_is_refused_by_name(pool: EmbeddedExecutor) -> None:
    with pytest.raises(DifferentCode, match=rf"worker {os.getpid()} on .* numpy .* instead of 0"):
        run_batch(name_of(jobs.trial), trials(1), {**base.code_here(), "numpy": "0"})
    assert run_batch(name_of(jobs.trial), trials(2), base.code_here())[0][1]


@pytest.mark.full
def test_a_worker_killed_in_the_middle_changes_no_result(
    pool: EmbeddedExecutor, tmp_path: Path
) -> None:
    sign = tmp_path / "killed"
    tasks = [*trials(300), {"kill_once": str(sign)}, *trials(300, again=True)]
    sign.touch()
    undisturbed = complete(tmp_path, pool, tasks)
    sign.unlink()
    other = tmp_path / "other"
    other.mkdir()
    assert complete(other, pool, tasks) == undisturbed == (601, undisturbed[1])
    assert sign.exists()


CLIENT = """
import sys
from pathlib import Path
from tests.engine.test_executors import EmbeddedExecutor, complete, trials

complete(Path(sys.argv[1]), EmbeddedExecutor(2), trials(400, seconds=0.015))
"""


@pytest.mark.full
def test_a_killed_client_goes_on_where_it_was(pool: EmbeddedExecutor, tmp_path: Path) -> None:
    file = tmp_path / "sweep.sqlite"
    client = subprocess.Popen([sys.executable, "-c", CLIENT, str(tmp_path)])

    def rows() -> int:
        if not file.exists():
            return 0
        checkpoint = Checkpoint(file)
        try:
            return len(list(checkpoint.rows()))
        finally:
            checkpoint.close()

    try:
        assert wait_until(lambda: rows() > 50, 60)
        workers = psutil.Process(client.pid).children(recursive=True)
    finally:
        os.kill(client.pid, signal.SIGKILL)
        client.wait()
    assert wait_until(lambda: not alive(workers), 10)
    before = rows()
    assert 50 < before < 400
    resumed = complete(tmp_path, pool, trials(400, seconds=0.015))
    other = tmp_path / "other"
    other.mkdir()
    assert resumed == complete(other, pool, trials(400, seconds=0.015)) == (400, resumed[1])


def test_what_is_kept_is_not_computed_again(pool: EmbeddedExecutor, tmp_path: Path) -> None:
    first = Checkpoint(tmp_path / "sweep.sqlite")
    first.add([(trials(2)[0], "kept")])
    first.add([(trials(2)[0], "not taken")])
    first.close()
    assert complete(tmp_path, pool, trials(2))[0] == 2
    again = Checkpoint(tmp_path / "sweep.sqlite")
    assert "kept" in [result for _, result in again.rows()]
    assert again.known([task_key(trials(2)[0]), "0" * 64]) == {task_key(trials(2)[0]): "kept"}
    again.close()


def test_another_file_is_not_taken_for_kept_results(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, however long it may be" * 100)
    with pytest.raises(ValueError, match=r"notes\.txt can't be resumed .* choose another"):
        Checkpoint(tmp_path / "notes.txt")


def test_a_map_that_is_given_up_leaves_nothing_for_the_pool_to_fail_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What the pool's thread fails on it logs, which is printed beside the answer."""
    pool = EmbeddedExecutor(2)
    checks = iter(range(5))

    def check() -> None:
        if next(checks, None) is None:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(pool.batches(jobs.trial, trials(50, seconds=0.3), check))
    pool.close()
    assert caplog.messages == []


def test_an_interrupt_from_the_keyboard_does_not_reach_workers(pool: EmbeddedExecutor) -> None:
    """A terminal sends it to them too, and they would print where they were."""
    assert pool.call(signal.getsignal, (signal.SIGINT,), never) is signal.SIG_IGN


def test_an_exception_travels_without_its_causes_and_tells_of_them() -> None:
    try:
        try:
            raise OSError("no route")
        except OSError as cause:
            raise ValueError("nobody answers") from cause
    except ValueError as error:
        sent = base.portable(error)
    assert isinstance(sent, ValueError)
    assert sent.__cause__ is sent.__context__ is sent.__traceback__ is None
    assert "no route" in sent.__notes__[0]
