"""Answers from another process: the same as here, newest first, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.engine.compute.client import AnswerStream, ComputeClient
from explorer.engine.compute.latest import Delivery
from explorer.engine.compute.process import ServerProcess
from explorer.engine.executors.base import WorkerDied
from explorer.engine.runtime import FileNotOpenError, StudyRuntime, final_result
from explorer.engine.solving import SolveGoal, solve
from explorer.studies.base.study import Cancelled, Context, Request, Result, default_request
from explorer.studies.registry import get_study, register, unregister
from tests import snapshots
from tests.engine.tiny import TinyStudy
from tests.waiting import time_limit, wait_until


class Inbox:
    def __init__(self) -> None:
        self.items: list[Delivery] = []
        self.arrived = threading.Condition()

    def __call__(self, delivery: Delivery) -> None:
        with self.arrived:
            self.items.append(delivery)
            self.arrived.notify_all()

    def wait_until(self, done: Callable[[list[Delivery]], bool]) -> None:
        with self.arrived:
            assert self.arrived.wait_for(
                lambda: bool(self.items) and done(self.items), time_limit()
            )


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def client(host: StudyRuntime) -> Iterator[ComputeClient]:
    client = ComputeClient(host)
    yield client
    client.close()


@pytest.fixture
def stream(client: ComputeClient, inbox: Inbox) -> AnswerStream:
    return client.answers("test", inbox)


def quick(epsilon: float = 1.0) -> Request:
    return default_request(get_study("heatmap-theory"), epsilon=epsilon)


def long() -> Request:
    """Return a question whose answer trains for seconds after its first part."""
    return default_request(get_study("private-regression"))


def with_file(value: str) -> Request:
    """Return a question about a file of samples."""
    study = get_study("coordinate-mean")
    return default_request(study, q_from="file").with_value("public", value)


def pid_later(_runtime: StudyRuntime, _check: Callable[[], None]) -> int:
    """Return which process answers, some time later."""
    time.sleep(1)
    return os.getpid()


def gone(pid: int) -> bool:
    """Return whether a process has ended (one that nobody has waited for counts as ended)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.full
def test_the_same_answers_as_here_in_order(
    host: StudyRuntime, client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    request = default_request(get_study("shuffle-rdp"), T=99_999)  # not one of the run's
    assert stream.submit(request) == stream.generation == 1
    assert stream.busy
    assert stream.wait_idle(time_limit())
    inbox.wait_until(lambda items: items[-1].finished)
    results = [d.result for d in inbox.items if d.result is not None]
    assert [r.complete for r in results] == [False] * (len(results) - 1) + [True]
    assert [d.finished for d in inbox.items] == [False] * len(results) + [True]
    assert not stream.busy
    here = final_result(StudyRuntime(), request)
    for ours, theirs in zip(here.series, results[-1].series, strict=True):
        assert ours.key == theirs.key
        np.testing.assert_array_equal(ours.y, theirs.y)
    assert host.cached_result(request) is results[-1]


def test_only_the_newest_of_many_is_refined(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    asked = [quick(e) for e in np.linspace(0.5, 3.0, 40)]
    for request in asked:
        stream.submit(request)
    assert stream.wait_idle(time_limit())
    inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == len(asked))
    assert inbox.items[-2].result.request == asked[-1]
    assert len({d.generation for d in inbox.items}) < len(asked)
    assert [d.generation for d in inbox.items] == sorted(d.generation for d in inbox.items)


def test_cancelling_stops_a_long_answer(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    stream.submit(long())
    inbox.wait_until(lambda items: any(d.result is not None for d in items))
    stream.cancel()
    assert stream.wait_idle(time_limit())
    inbox.wait_until(lambda items: items[-1].finished)
    assert inbox.items[-1].error is None
    assert not any(d.result is not None and d.result.complete for d in inbox.items)
    stream.submit(quick())
    inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == 2)
    assert inbox.items[-2].result.complete


def test_cancelling_before_anything_was_sent(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    stream.cancel()  # no process yet: nothing to do
    stream.submit(quick())
    stream.cancel()
    inbox.wait_until(lambda items: items[-1].finished)
    assert stream.wait_idle(time_limit())


def test_a_refusal_arrives_as_what_it_was(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    value = f"samples.csv#{'0' * 64}"
    stream.submit(with_file(value))
    inbox.wait_until(lambda items: items[-1].finished)
    error = next(d.error for d in inbox.items if d.error is not None)
    assert isinstance(error, FileNotOpenError)
    assert error.value == value
    snapshots.check(str(error))
    assert "explorer" in error.__notes__[0]  # where it happened, for whoever reports it


def test_a_process_that_dies_is_reported_and_started_again(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    stream.submit(long())
    inbox.wait_until(lambda items: any(d.result is not None for d in items))
    first = client.pid
    os.kill(first, signal.SIGKILL)
    inbox.wait_until(lambda items: items[-1].finished)
    assert isinstance(inbox.items[-1].error, WorkerDied)
    assert not stream.busy
    stream.submit(quick())
    inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == 2)
    assert inbox.items[-2].result.complete
    assert client.pid != first


def test_dying_while_nothing_is_asked_is_no_error(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    client.start()
    first = client.pid
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: client.pid is None)
    assert inbox.items == []
    stream.submit(quick())
    inbox.wait_until(lambda items: items[-1].finished)
    assert inbox.items[-2].result.complete
    assert wait_until(lambda: client.call(_counts_compiled, (), lambda: None))


def _counts_compiled(_runtime: StudyRuntime, _check: object) -> bool:
    from explorer.privacy.heatmaps import row_pass

    return row_pass._compiled is not None


def test_what_computes_there_lets_a_newer_request_be_read_soon(client: ComputeClient) -> None:
    assert client.call(_switch_interval, (), lambda: None) <= 1e-3


def _switch_interval(_runtime: StudyRuntime, _check: object) -> float:
    return sys.getswitchinterval()


def test_closing_ends_process_and_threads(host: StudyRuntime, inbox: Inbox) -> None:
    before = set(threading.enumerate())
    client = ComputeClient(host)
    stream = client.answers("test", inbox)
    stream.submit(long())
    inbox.wait_until(lambda items: any(d.result is not None for d in items))
    pid = client.pid
    client.close()
    client.close()
    count = len(inbox.items)
    assert gone(pid)
    assert set(threading.enumerate()) - before == set()
    assert len(inbox.items) == count
    assert host.file_listeners == []
    with pytest.raises(RuntimeError, match="closed"):
        stream.submit(quick())


def test_closing_what_was_never_asked(host: StudyRuntime) -> None:
    client = ComputeClient(host)
    client.close()
    client.start()
    assert client.pid is None


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_the_process_does_not_outlive_a_crash() -> None:
    program = (
        "import os\n"
        "from explorer.engine.compute.client import ComputeClient\n"
        "from explorer.engine.runtime import StudyRuntime\n"
        "client = ComputeClient(StudyRuntime())\n"
        "client.start()\n"
        "print(client.pid, flush=True)\n"
        "os._exit(1)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=time_limit(), check=False
    )
    pid = int(told.stdout)
    assert wait_until(lambda: gone(pid))


def test_a_file_opened_later_is_known_there(
    host: StudyRuntime, client: ComputeClient, stream: AnswerStream, inbox: Inbox, tmp_path: Path
) -> None:
    stream.submit(quick())
    path = tmp_path / "public.csv"
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(200, 3))
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    value = host.add_file(path)
    stream.submit(with_file(value))
    inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == 2)
    assert inbox.items[-2].result.complete
    assert inbox.items[-1].error is None


class Open(TinyStudy):
    """A study that waits for nobody."""

    def __init__(self) -> None:
        super().__init__(id="open")
        self.gate.set()


class Later(Open):
    """Another one."""

    def __init__(self) -> None:
        super().__init__()
        self.id = "later"


def test_studies_registered_here_are_known_there_also_later_and_after_a_restart(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    def answered_there(study: TinyStudy, a: float) -> bool:
        generation = stream.submit(default_request(study, a=a))
        inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == generation)
        assert inbox.items[-1].error is None
        line = inbox.items[-2].result.series[0]
        np.testing.assert_array_equal(line.y, a * line.x)
        return not study.answered

    early, late = Open(), Later()
    register(early)
    try:
        assert answered_there(early, 2.0)
        first = client.pid
        register(late)
        assert answered_there(late, 3.0)
        assert client.pid == first
        os.kill(first, signal.SIGKILL)
        assert wait_until(lambda: client.pid is None)
        assert answered_there(late, 4.0)
        assert answered_there(early, 5.0)
    finally:
        unregister(early.id)
        unregister(late.id)


def test_what_is_asked_while_a_dead_process_is_waited_for_is_answered_by_the_next(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined, join = threading.Event(), ServerProcess.join

    def late(process: ServerProcess) -> None:
        joined.wait(time_limit(10))
        join(process)

    study = Open()
    register(study)
    try:
        stream.submit(default_request(study, a=1.0))
        inbox.wait_until(lambda items: items[-1].finished)
        monkeypatch.setattr(ServerProcess, "join", late)
        os.kill(client.pid, signal.SIGKILL)
        assert wait_until(lambda: client.pid is None)
        generation = stream.submit(default_request(study, a=2.0))
        joined.set()
        inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == generation)
        assert all(item.error is None for item in inbox.items)
    finally:
        joined.set()
        unregister(study.id)


def test_a_function_called_there_knows_registered_studies(
    host: StudyRuntime, client: ComputeClient
) -> None:
    study = Open()
    register(study)
    try:
        assert client.call(final_result, (default_request(study),), lambda: None).complete
        assert not study.answered
    finally:
        unregister(study.id)


def test_a_study_that_cannot_be_made_there_fails_its_questions_only(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    class Local(TinyStudy):
        """Importable by no name."""

    for generation, (study, why) in enumerate(
        [
            (Local(id="local"), r"Local \(.*importable by name"),
            (TinyStudy(id="other"), r"TinyStudy \(.*'tiny'"),
        ],
        start=1,
    ):
        register(study)
        try:
            stream.submit(default_request(study))
            inbox.wait_until(lambda items, n=generation: items[-1].finished and len(items) == n)
        finally:
            unregister(study.id)
        with pytest.raises(ValueError, match=rf"'{study.id}' from tests.*{why}"):
            raise inbox.items[-1].error
    first = client.pid
    stream.submit(quick())
    inbox.wait_until(lambda items: items[-1].finished and items[-1].generation == 3)
    assert inbox.items[-2].result.complete
    assert client.pid == first


def _wait_to_be_given_up(host: StudyRuntime, path: Path, check: Callable[[], None]) -> None:
    """Note that it runs, and how it ended."""
    path.write_text("runs")
    try:
        while True:
            check()
            time.sleep(0.005)
    except Cancelled:
        path.write_text("given up")
        raise


def _die(host: StudyRuntime, _subject: None, check: Callable[[], None]) -> None:
    os._exit(7)


def test_a_solution_found_there_is_the_one_found_here(
    host: StudyRuntime, client: ComputeClient
) -> None:
    request = default_request(get_study("shuffle-rdp"))
    goal = SolveGoal(request, "theorem1", "T", 1.0)
    assert client.call(solve, (goal,), lambda: None) == solve(StudyRuntime(), goal, lambda: None)


def test_what_a_function_raises_is_raised_where_it_was_called(
    host: StudyRuntime, client: ComputeClient
) -> None:
    goal = SolveGoal(default_request(get_study("shuffle-rdp")), "theorem1", "T", float("nan"))
    with pytest.raises(ValueError, match="not a finite number"):
        client.call(solve, (goal,), lambda: None)


def test_a_call_given_up_ends_there_too(
    host: StudyRuntime, client: ComputeClient, tmp_path: Path
) -> None:
    path = tmp_path / "state"

    def check() -> None:
        if path.exists():
            raise Cancelled

    with pytest.raises(Cancelled):
        client.call(_wait_to_be_given_up, (path,), check)
    assert wait_until(lambda: path.read_text() == "given up")


def test_a_call_whose_process_dies_fails_and_the_next_works(
    host: StudyRuntime, client: ComputeClient
) -> None:
    with pytest.raises(WorkerDied):
        client.call(_die, (None,), lambda: None)
    assert client.call(final_result, (quick(),), lambda: None).complete


def test_a_call_after_the_end_is_cancelled(host: StudyRuntime) -> None:
    client = ComputeClient(host)
    client.close()
    with pytest.raises(Cancelled):
        client.call(final_result, (quick(),), lambda: None)


class Stuck(TinyStudy):
    """Gives one answer, then holds the interpreter's lock in compiled code for years."""

    def __init__(self) -> None:
        super().__init__(id="stuck")

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        # Complete, so that nothing waits for a newer request before the rest.
        yield replace(next(super().answer(request, context)), complete=True)
        re.match(r"(a+)+$", "a" * 60 + "b")


@pytest.mark.full
def test_an_answer_that_does_not_yield_is_stopped_and_others_go_on(
    client: ComputeClient, stream: AnswerStream, inbox: Inbox
) -> None:
    study, plain, other = Stuck(), Open(), Inbox()
    register(study)
    register(plain)
    try:
        generation = stream.submit(default_request(study))
        inbox.wait_until(lambda items: items[-1].result is not None)
        time.sleep(0.2)  # until the lock is held
        first = client.pid
        beside = client.answers("beside", other)
        asked = beside.submit(default_request(plain, a=3.0))
        called = ThreadPoolExecutor(1).submit(client.call, pid_later, (), lambda: None)
        stream.cancel(soon=True)
        inbox.wait_until(lambda items: items[-1].finished)
        assert inbox.items[-1].generation == generation
        assert inbox.items[-1].error is None
        other.wait_until(lambda items: items[-1].finished and items[-1].generation == asked)
        assert other.items[-1].error is None
        assert any(item.result is not None for item in other.items)
        assert first is not None
        assert wait_until(lambda: gone(first))
        assert client.pid != first
        assert called.result(time_limit(60)) == client.pid
        stream.submit(quick())
        inbox.wait_until(lambda items: items[-1].finished and items[-1].generation > generation)
        assert inbox.items[-1].error is None
    finally:
        unregister(study.id)
        unregister(plain.id)
