"""One running, the newest waiting, everything between dropped; nothing stale, nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.engine.runtime import StudyRuntime
from explorer.studies.base.study import Context, Fidelity, Request, Result, default_request
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

    def wait_for(self, count: int) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.items) >= count, time_limit())


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def runner(host: StudyRuntime, inbox: Inbox) -> Iterator[LatestWorker]:
    runner = LatestWorker(host.answer, inbox, "test")
    yield runner
    runner.close()


def test_coarse_then_full(tiny: TinyStudy, runner: LatestWorker, inbox: Inbox) -> None:
    tiny.gate.set()
    runner.submit(default_request(tiny))
    assert runner.wait_idle(time_limit())
    assert [d.result.fidelity for d in inbox.items if d.result] == [Fidelity.COARSE, Fidelity.FULL]
    assert [d.finished for d in inbox.items] == [False, False, True]
    assert all(d.generation == 1 for d in inbox.items)


def test_between_first_and_newest_everything_is_dropped(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox
) -> None:
    runner.submit(default_request(tiny, a=0))
    inbox.wait_for(1)  # the first answer to a=0 is out; its refinement waits at the gate
    for a in range(1, 8):
        runner.submit(default_request(tiny, a=a))
    tiny.gate.set()
    assert runner.wait_idle(time_limit())
    shown = [d.request["a"] for d in inbox.items if d.result]
    assert shown == [0, 7, 7]


def test_what_is_refined_gives_way_before_it_is_resumed(
    tiny: TinyStudy, host: StudyRuntime, inbox: Inbox
) -> None:
    """A request that waits when the first answer is out stops the running one where it stands."""

    def deliver(delivery: Delivery) -> None:
        inbox(delivery)
        if delivery.request["a"] == 0 and delivery.result is not None:
            runner.submit(default_request(tiny, a=1))

    tiny.gate.set()
    runner = LatestWorker(host.answer, deliver, "test")
    try:
        runner.submit(default_request(tiny, a=0))
        inbox.wait_for(5)
        assert runner.wait_idle(time_limit())
    finally:
        runner.close()
    assert tiny.dropped == [0]
    assert [d.request["a"] for d in inbox.items if d.result] == [0, 1, 1]


def test_refining_that_has_begun_gives_way_at_its_next_check(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.engine.compute.latest.REFINE_DELAY_S", 0.0)
    runner.submit(default_request(tiny, a=0))
    assert wait_until(lambda: tiny.answered == [0])  # it was resumed, and waits at the gate
    runner.submit(default_request(tiny, a=1))
    tiny.gate.set()
    assert runner.wait_idle(time_limit())
    assert [d.request["a"] for d in inbox.items if d.result] == [0, 1, 1]


def test_refining_begins_only_once_the_slider_rests(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.engine.compute.latest.REFINE_DELAY_S", time_limit())
    tiny.gate.set()
    runner.submit(default_request(tiny, a=0))
    inbox.wait_for(1)
    runner.submit(default_request(tiny, a=1))
    inbox.wait_for(3)
    runner.cancel()
    assert runner.wait_idle(time_limit())
    assert tiny.dropped == [0, 1]
    assert tiny.answered == []


def test_a_first_answer_that_takes_long_gives_way(
    tiny: TinyStudy, host: StudyRuntime, inbox: Inbox
) -> None:
    runner = LatestWorker(host.answer, inbox, "impatient", preempt_after_s=0.0)
    answer = tiny.answer

    over = threading.Event()

    def slowly(request: Request, context: Context) -> Iterator[Result]:
        tiny.started.set()
        while request["a"] == 0 and not over.is_set():
            context.check()
        yield from answer(request, context)

    tiny.answer = slowly
    tiny.gate.set()
    try:
        runner.submit(default_request(tiny, a=0))
        assert tiny.started.wait(time_limit())
        runner.submit(default_request(tiny, a=1))
        assert runner.wait_idle(time_limit())
    finally:
        over.set()  # a worker that never gives way would keep the process alive
        runner.close()
    assert [d.request["a"] for d in inbox.items if d.result] == [1, 1]


def test_a_running_request_gets_its_first_answer_out(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox
) -> None:
    """Even when something newer waits before the first answer: else dragging starves the screen."""
    tiny.gate.set()
    for a in range(10):
        tiny.started.clear()
        runner.submit(default_request(tiny, a=a))
        assert tiny.started.wait(time_limit())
    assert runner.wait_idle(time_limit())
    first = [d.request["a"] for d in inbox.items if d.result and d.result.fidelity == 0]
    assert first == list(range(10))


def test_cancel_drops_running_and_waiting(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox
) -> None:
    runner.submit(default_request(tiny, a=1))
    inbox.wait_for(1)
    runner.submit(default_request(tiny, a=2))
    runner.cancel()
    tiny.gate.set()
    assert runner.wait_idle(time_limit())
    assert {d.request["a"] for d in inbox.items if d.result} == {1}
    assert sorted(d.generation for d in inbox.items if d.finished) == [1, 2]


def test_an_error_is_delivered_and_the_runner_goes_on(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox
) -> None:
    tiny.gate.set()
    broken = default_request(tiny)
    runner.submit(type(broken)(**{**_fields(broken), "study": "no-such-study"}))
    assert runner.wait_idle(time_limit())
    assert isinstance(inbox.items[-1].error, ValueError)
    assert "no-such-study" in str(inbox.items[-1].error)
    runner.submit(default_request(tiny))
    assert runner.wait_idle(time_limit())
    assert inbox.items[-2].result is not None
    assert inbox.items[-2].result.complete


def test_close_during_work_leaves_no_thread(
    tiny: TinyStudy, host: StudyRuntime, inbox: Inbox
) -> None:
    runner = LatestWorker(host.answer, inbox, "closing")
    runner.submit(default_request(tiny))
    inbox.wait_for(1)
    closer = threading.Thread(target=runner.close)
    closer.start()
    tiny.gate.set()
    closer.join(time_limit())
    assert not closer.is_alive()
    assert "closing" not in [t.name for t in threading.enumerate()]
    assert not any(d.finished for d in inbox.items)
    with pytest.raises(RuntimeError, match="closed"):
        runner.submit(default_request(tiny))


def test_a_complete_answer_is_remembered(
    tiny: TinyStudy, runner: LatestWorker, inbox: Inbox
) -> None:
    tiny.gate.set()
    for _ in range(2):
        runner.submit(default_request(tiny, a=3))
        assert runner.wait_idle(time_limit())
    assert len(tiny.answered) == 2  # coarse and full, once
    assert inbox.items[-2].result is inbox.items[1].result


def _fields(request: object) -> dict[str, object]:
    return {name: getattr(request, name) for name in type(request).__dataclass_fields__}


class _Number(SimpleNamespace):
    """An answer; `curve_follows` as of a `Result`."""


def test_the_curve_of_a_number_comes_although_newer_requests_wait(inbox: Inbox) -> None:
    submitted, going_on = threading.Event(), threading.Event()

    def answer(request: int, check: Callable[[], None]) -> Generator[Any, None, None]:
        yield _Number(request=request, curve_follows=True, complete=False)
        submitted.set()
        assert going_on.wait(time_limit())
        check()
        yield _Number(request=request, curve_follows=False, complete=False)
        check()
        yield _Number(request=request, curve_follows=False, complete=True)

    worker = LatestWorker(answer, inbox, "test", clock=lambda: 0.0)
    worker.submit(1)
    assert submitted.wait(time_limit())
    worker.submit(2)
    going_on.set()
    assert worker.wait_idle(time_limit())
    worker.close()
    came = [
        (d.generation, d.result.curve_follows, d.result.complete) for d in inbox.items if d.result
    ]
    assert came == [
        (1, True, False),
        (2, True, False),  # the newer number does not wait for the curve
        (1, False, False),  # the refinement of the first gives way
        (2, False, False),
        (2, False, True),
    ]


def test_a_curve_begins_early_enough_to_be_there_in_time(inbox: Inbox) -> None:
    """After a curve of 40 ms the next begins 20 ms later, although newer requests wait."""
    now = 0.0

    def answer(request: int, check: Callable[[], None]) -> Generator[Any, None, None]:
        nonlocal now
        now += 0.025
        if request > 1:
            return
        yield _Number(request=request, curve_follows=True, complete=False)
        if request == 1:
            worker.submit(2)
            check()
        now += 0.04
        yield _Number(request=request, curve_follows=False, complete=False)

    worker = LatestWorker(answer, inbox, "test", clock=lambda: now)
    for request in (0, 1):
        worker.submit(request)
        assert worker.wait_idle(time_limit())
    worker.close()
    came = [(d.request, d.result.curve_follows) for d in inbox.items if d.result]
    assert came == [(0, True), (0, False), (1, True), (1, False)]


def test_the_newest_number_is_there_between_two_points_of_an_older_curve(
    inbox: Inbox,
) -> None:
    """Those that newer ones overtake end; a complete answer makes the older curve give way."""
    computed = []

    def answer(request: int, check: Callable[[], None]) -> Generator[Any, None, None]:
        if request == 4:
            yield _Number(request=request, curve_follows=False, complete=True)
            return
        yield _Number(request=request, curve_follows=True, complete=False)
        for newer in (2, 3, 4) if request == 1 else ():
            worker.submit(newer)
            check()
            computed.append(newer)
        yield _Number(request=request, curve_follows=False, complete=True)

    worker = LatestWorker(answer, inbox, "test", clock=lambda: 0.0)
    worker.submit(1)
    assert worker.wait_idle(time_limit())
    worker.close()
    assert computed == [2, 3]
    assert [d.request for d in inbox.items if d.result] == [1, 2, 3, 4]
    assert [d.request for d in inbox.items if d.finished] == [2, 3, 1, 4]


def test_an_error_of_a_newer_number_leaves_the_older_curve(inbox: Inbox) -> None:
    def answer(request: int, check: Callable[[], None]) -> Generator[Any, None, None]:
        if request == 2:
            raise ValueError("no such value")
        yield _Number(request=request, curve_follows=True, complete=False)
        worker.submit(2)
        check()
        yield _Number(request=request, curve_follows=False, complete=True)

    worker = LatestWorker(answer, inbox, "test", clock=lambda: 0.0)
    worker.submit(1)
    assert worker.wait_idle(time_limit())
    worker.close()
    assert [(d.request, d.result is None, d.error is None) for d in inbox.items] == [
        (1, False, True),
        (2, True, False),
        (1, False, True),
        (1, True, True),
    ]
