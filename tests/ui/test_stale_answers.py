"""Which results may be shown for the newest request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

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
        self.deliver = deliver
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

    # All at once: the curve is not lost for the number behind it.
    controller._arrived.extend(delivery(*one) for one in ((12, True), (12, False), (13, True)))
    controller._receive_all()
    assert came[5:] == [(12, False), (13, True)]
