"""Which results may be shown for the newest request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from explorer.engine.compute.latest import Delivery
from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.geography.region import Region
from explorer.studies.base.study import Fidelity, Request, Result, Selection
from explorer.ui.controllers.study_controller import StudyController

REGION = Region(40.5, -74.3, 41.0, -73.6)


class ByHand:
    """Stands in for a runner; the test controls deliveries."""

    def __init__(self, deliver: Callable[[Delivery], None]) -> None:
        self.arrive = deliver
        self.asked: list[Request] = []
        self.cancelled = 0

    @property
    def generation(self) -> int:
        return len(self.asked)

    def submit(self, request: Request) -> int:
        self.asked.append(request)
        return self.generation

    def cancel(self) -> None:
        self.cancelled += 1

    def close(self) -> None:
        return None

    def deliver(self, delivery: Delivery) -> None:
        """Deliver something, and let the window turn to it."""
        self.arrive(delivery)
        QCoreApplication.processEvents()

    def answer(self, generation: int) -> None:
        """Deliver a complete result to the request of a generation."""
        request = self.asked[generation - 1]
        result = Result(request, Fidelity.FULL, complete=True)
        self.deliver(Delivery(generation, request, result))


@pytest.fixture
def session() -> Session:
    return Session(SessionState("heatmap", selection=Selection("a" * 64, REGION)))


@pytest.fixture
def controller(session, monkeypatch, qapp) -> Iterator[StudyController]:
    service = StudyService()
    monkeypatch.setattr(service, "answers", lambda _workspace, deliver: ByHand(deliver))
    controller = StudyController(session, service, "map")
    yield controller
    controller.close()
    service.close()


@pytest.fixture
def shown(controller) -> list[Request]:
    requests: list[Request] = []
    controller.result_ready.connect(lambda result, _ms: requests.append(result.request))
    controller.refresh()
    return requests


def test_an_answer_about_other_data_comes_too_late(controller, session, shown) -> None:
    runner = controller.runner
    session.replace_data(Selection("b" * 64, REGION))
    assert runner.cancelled == 1
    runner.answer(1)
    assert shown == []
    runner.answer(2)
    assert [r.selection.data[0] for r in shown] == ["b"]
    runner.answer(1)
    assert len(shown) == 1


def test_an_answer_behind_a_moving_slider_is_shown_and_never_after_a_newer(
    controller, session, shown
) -> None:
    runner = controller.runner
    for epsilon in (2.0, 3.0):
        session.set_value("epsilon", epsilon)
    assert runner.cancelled == 0
    runner.answer(2)
    runner.answer(1)
    runner.answer(3)
    assert [r["epsilon"] for r in shown] == [2.0, 3.0]


def test_asked_anew_an_answer_of_before_comes_too_late(controller, shown) -> None:
    # The file was read with other columns: the same request about other rows.
    runner = controller.runner
    controller.refresh()
    runner.answer(1)
    assert shown == []
    runner.answer(2)
    assert len(shown) == 1


def test_an_error_about_other_data_is_not_said(controller, session, shown) -> None:
    said: list[Exception] = []
    controller.failed.connect(said.append)
    runner = controller.runner
    session.replace_data(replace(session.state.selection, data="b" * 64))
    runner.deliver(Delivery(1, runner.asked[0], error=ValueError("of before")))
    assert said == []
    runner.deliver(Delivery(2, runner.asked[1], error=ValueError("of now")))
    assert [str(e) for e in said] == ["of now"]


def test_a_curve_that_is_late_does_not_take_the_number_back(session, controller, shown) -> None:
    """A newer number comes between two points of a curve: it is shown again over that curve."""
    came: list[tuple[int, bool]] = []
    controller.result_ready.connect(
        lambda result, _ms: came.append((result.request["w"], result.curve_follows))
    )
    for w in (11, 12, 13):
        session.set_value("w", w)
    asked = {request["w"]: i for i, request in enumerate(controller.runner.asked, 1)}

    def delivery(w: int, number: bool) -> Delivery:
        request = controller.runner.asked[asked[w] - 1]
        result = Result(request, Fidelity.COARSE, curve_follows=number)
        return Delivery(asked[w], request, result)

    for one in ((11, True), (12, True), (11, False)):
        controller.runner.deliver(delivery(*one))
    assert came == [(11, True), (12, True), (11, False), (12, True)]
    controller.runner.deliver(delivery(12, False))
    controller.runner.deliver(delivery(11, False))  # not newer than what is shown
    assert came[4:] == [(12, False)]

    # All at once: the curve is not lost for the number behind it, or before it.
    session.set_value("w", 14)
    asked[14] = controller.runner.generation
    for together, expected in (
        (((12, True), (12, False), (13, True)), [(12, False), (13, True)]),
        (((14, True), (13, False)), [(13, False), (14, True)]),
    ):
        del came[:]
        for one in together:
            controller.runner.arrive(delivery(*one))
        assert came == []  # other events have their turn first
        QCoreApplication.processEvents()
        assert came == expected


def test_what_came_is_painted_before_what_comes_next(session, controller, shown) -> None:
    happened: list[object] = []
    runner = controller.runner

    class Canvas(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
            happened.append("painted")

    def draw(result: Result, _ms: float) -> None:
        happened.append(result.request["epsilon"])
        canvas.update()
        if len(happened) == 1:  # the next answer comes meanwhile
            runner.arrive(Delivery(3, runner.asked[2], Result(runner.asked[2], Fidelity.FULL)))

    canvas = Canvas()
    canvas.show()
    for epsilon in (2.0, 3.0):
        session.set_value("epsilon", epsilon)
    QCoreApplication.processEvents()
    happened.clear()
    controller.result_ready.connect(draw)
    runner.answer(2)
    QCoreApplication.processEvents()
    canvas.close()
    canvas.deleteLater()
    QCoreApplication.sendPostedEvents(canvas, QEvent.Type.DeferredDelete)
    assert happened[:3] == [2.0, "painted", 3.0]
