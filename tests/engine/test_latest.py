"""One running, the newest waiting, everything between dropped; nothing stale, nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator

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
