"""Utility curves on real check-ins and processes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import psutil
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from explorer.engine.error_curves import SAMPLE, THEORY
from explorer.engine.session.session import Session, state_from_dict, state_to_dict
from explorer.studies.base.study import Origin, preset
from explorer.studies.heatmap.guarantee import conditions
from explorer.studies.registry import get_study
from explorer.ui.map.utility.view import UtilityView
from explorer.ui.panels.presets import follow_preset, preset_in_front
from tests.engine.test_survivors import alive
from tests.ui.map_page import MapPage, made_checkins, opened
from tests.waiting import wait_until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def checkins(tmp_path_factory):
    return made_checkins(tmp_path_factory.mktemp("which"))


@pytest.fixture
def map_page(qtbot, checkins) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        map_page.widget.resize(1300, 800)
        map_page.load(checkins)
        map_page.session.set_value("resolution", "16", "heatmap")
        map_page.answered()
        yield map_page


def shown(map_page: MapPage, measure: str = "similarity") -> UtilityView:
    """Open the view; similarity requires no transport problem."""
    map_page.map.utility.action.setChecked(True)
    view = map_page.map.utility.view
    assert view is not None
    view.parts.measure.setCurrentIndex(view.parts.measure.findData(measure))
    view.parts.measure.activated.emit(view.parts.measure.currentIndex())
    return view


SURE_MS = 120_000
"""Time limit of a search on an idle machine: up to 800 draws at several ε."""


def finished(map_page: MapPage, view: UtilityView) -> None:
    map_page.qtbot.waitUntil(
        lambda: view.answer is not None and view.answer.finished and not view.job.busy
    )


def chosen_without_looking(map_page: MapPage):
    """Return the condition on the settings."""
    said = conditions(map_page.session.request("heatmap"))
    return next(c for c in said if c.text.startswith("ε") and "without looking" in c.text)


def test_curves_come_coarse_first_and_say_what_epsilon_is_needed(map_page: MapPage) -> None:
    # A blur used by no other test: draws are cached, and would be available at once.
    map_page.session.set_value("sigma", 0.037, "heatmap")
    view = shown(map_page)
    seen, numbers = [], []
    view.answered.connect(seen.append)
    mechanism = map_page.session.request("heatmap")["mechanism"]
    view.answered.connect(
        lambda answer: numbers.extend(
            (view.parts.use.isEnabled(), view.headline.number)
            for curve in answer.curves
            if curve.mechanism == mechanism and min(curve.draws) < 20
        )
    )
    finished(map_page, view)
    first = next(answer for answer in seen if answer.curves)
    assert first.done < first.total
    assert max(max(curve.draws) for curve in first.curves) == 1
    assert numbers
    assert numbers == [(False, "ε = …")] * len(numbers)  # no result of fewer than 20 runs
    answer = view.answer
    assert all(set(curve.draws) == {20} for curve in answer.curves)
    assert np.isfinite(answer.grey).all()
    assert "20 runs per point" in view.parts.state.text()
    assert {line.mechanism for line in view.lines} == {c.mechanism for c in answer.curves}
    for curve in answer.curves:
        drawn = view.plot.curves[curve.mechanism]
        np.testing.assert_allclose(drawn.heights, curve.quantile(0.1))
        np.testing.assert_allclose(drawn.high, curve.quantile(0.9))
    marks = view.parts.table.table.marks
    colours = [mark.toImage().pixelColor(1, 1).name() for mark in marks]
    assert colours == [view.plot.style_of(line.mechanism).colour for line in view.lines]
    assert map_page.map.answer.badge.isVisible()
    assert map_page.map.answer.words().startswith(f"{view.headline.number}. {view.headline.text}")
    assert not map_page.map.metrics.isVisible()


def test_the_answer_is_that_of_the_page_in_front(map_page: MapPage) -> None:
    answer = map_page.map.answer
    map_page.measured()
    map_page.qtbot.waitUntil(lambda: " km" in answer.number.text())
    assert "(adaptive quadtree, ε = 1)" in answer.text.text()
    assert answer.badge.isVisible()
    view = shown(map_page)
    finished(map_page, view)
    found = view.headline
    assert answer.number.text() == found.number
    assert answer.role.text() == "estimate, 20 runs"
    map_page.session.set_value("epsilon", 2.0, "heatmap")  # the curves hold for every ε
    assert "ε = 2 they are above ≈" in answer.text.text()
    map_page.map.utility.action.setChecked(False)
    map_page.qtbot.waitUntil(lambda: "(adaptive quadtree, ε = 2)" in answer.text.text())
    assert " km" in answer.number.text()
    assert answer.role.text() == "estimate, one map"


def _a_dragged_target_asks_for_another_epsilon(map_page: MapPage, view: UtilityView) -> None:
    best = min(view.answer.curves, key=lambda c: -c.quantile(0.1)[-1])
    low, high = (float(best.quantile(0.1)[i]) for i in (3, 8))
    epsilons = []
    for target in (low, high):
        view.plot.target.line.setValue(target)
        view.plot.target.line.sigDragged.emit(view.plot.target.line)
        assert view.target == pytest.approx(target, rel=0.01)
        assert view.parts.field.number == view.target
        epsilons.append(next(row.epsilon for row in view.lines if row.least))
    assert epsilons[0] < epsilons[1]
    before = view.target
    QTest.keyClick(view.parts.field, Qt.Key.Key_Down)
    assert view.target < before
    QTest.keyClick(view.plot, Qt.Key.Key_Up)
    assert view.target == pytest.approx(before, rel=0.01)
    QTest.keyClick(view.plot, Qt.Key.Key_Down)
    assert view.target < before


def _no_text_lies_on_another_text_of_the_plot(map_page: MapPage, view: UtilityView) -> None:
    plot = view.plot
    labels = [plot.line_label, plot.met, plot.grey_label]
    chips = 0
    for target in (0.5, 0.8, 0.93):
        view.parts.field.entered.emit(target)
        map_page.qtbot.wait(50)
        boxes = [
            label.boundingRect().translated(label.scenePos())
            for label in labels
            if label.isVisible()
        ]
        boxes += [name.sceneBoundingRect() for name, _ in plot._names]
        (_, (low, high)), at = plot.view.viewRange(), plot.target.line.value()
        chip = plot.target.chip
        assert chip.isVisible() == (low <= at <= high)
        if chip.isVisible():  # in place of the label of a tick there
            boxes.append(chip.sceneBoundingRect())
            assert boxes[-1].right() < plot.view.sceneBoundingRect().left()
            assert plot.left.tickStrings([at], 1.0, 1.0) == [""]
            chips += 1
        assert len(boxes) > 5
        for place, box in enumerate(boxes):
            assert not any(box.intersects(other) for other in boxes[place + 1 :]), target
    assert chips >= 2
    assert not plot.titles.x.isVisible()  # nothing covers the numbers of the axes


def _the_epsilon_taken_is_one_step_and_marked_as_a_look_at_the_data(
    map_page: MapPage, view: UtilityView
) -> None:
    chosen = next(c for c in view.answer.curves if c.mechanism == view.mechanism)
    view.set_target(float(chosen.quantile(0.1)[6]))
    line = next(row for row in view.lines if row.mechanism == view.mechanism)
    before = map_page.session.state
    assert chosen_without_looking(map_page).holds is not False
    QTest.mouseClick(view.parts.use, Qt.MouseButton.LeftButton)
    request = map_page.session.request("heatmap")
    assert request["epsilon"] == line.epsilon
    assert request.selection.epsilon_from is Origin.JUDGED
    assert chosen_without_looking(map_page).holds is False
    map_page.session.set_value(
        "epsilon", 1.0, "heatmap"
    )  # moving it means that the curves were seen
    assert chosen_without_looking(map_page).holds is False
    map_page.session.undo()
    map_page.session.undo()
    assert map_page.session.state == before
    assert map_page.session.undo_text != ""


def _a_click_on_a_point_sets_mechanism_and_epsilon(map_page: MapPage, view: UtilityView) -> None:
    map_page.qtbot.turns(20)
    curve = view.answer.curves[-1]
    assert curve.mechanism != view.request["mechanism"]
    drawn = view.plot.curves[curve.mechanism]
    at = view.plot.view.mapViewToScene(QPointF(drawn.x[-3], drawn.y[-3]))
    spot = view.plot.mapFromScene(at)
    QTest.mouseClick(
        view.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(spot.x(), spot.y())
    )
    map_page.qtbot.waitUntil(lambda: view.request["epsilon"] == curve.x[-3])
    assert view.request["mechanism"] in {c.mechanism for c in view.answer.curves}
    map_page.session.undo()
    assert view.request["epsilon"] == 1.0


def _the_numbers_are_copied_with_a_stamp(map_page: MapPage, view: UtilityView) -> None:
    QTest.mouseClick(view.parts.copy, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert text.startswith("# curator only")
    rows = list(
        csv.DictReader(
            io.StringIO(
                "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
            )
        )
    )
    assert len(rows) == sum(len(curve.x) for curve in view.answer.curves)
    curve = view.answer.curves[0]
    assert float(rows[0]["mean"]) == curve.mean[0]


def _make_sure_names_one_that_is_enough_and_one_that_is_not(
    map_page: MapPage, view: UtilityView
) -> None:
    chosen = next(c for c in view.answer.curves if c.mechanism == view.mechanism)
    view.set_target(float(np.mean(chosen.quantile(0.5)[6:8])))
    QTest.mouseClick(view.parts.sure, Qt.MouseButton.LeftButton)
    map_page.qtbot.waitUntil(lambda: view.certified is not None, timeout=SURE_MS)
    found = view.certified
    assert found.not_enough < found.enough <= 8 * found.not_enough
    assert "is enough" in view.headline.text
    view.take()
    assert map_page.session.request("heatmap")["epsilon"] >= found.enough * (1 - 1e-12)


def test_curves_that_are_finished_are_read_and_used(map_page: MapPage) -> None:
    view = shown(map_page)
    for step in (
        _a_dragged_target_asks_for_another_epsilon,
        _no_text_lies_on_another_text_of_the_plot,
        _the_numbers_are_copied_with_a_stamp,
        _the_epsilon_taken_is_one_step_and_marked_as_a_look_at_the_data,
        _a_click_on_a_point_sets_mechanism_and_epsilon,
        _make_sure_names_one_that_is_enough_and_one_that_is_not,
    ):
        finished(map_page, view)
        step(map_page, view)


def test_a_public_file_stands_in_and_the_maps_own_does_not(
    map_page: MapPage, checkins, tmp_path_factory
) -> None:
    view = shown(map_page)
    view.evaluate_on(str(checkins))
    map_page.qtbot.waitUntil(lambda: not map_page.map.banner.isHidden())
    assert "own file" in map_page.map.banner.text.text()
    other = made_checkins(tmp_path_factory.mktemp("public"), rows=2500, users=70)
    view.evaluate_on(str(other))
    finished(map_page, view)
    assert map_page.map.banner.isHidden()
    assert view.answer.question.judged_on == str(other)
    assert "stand-in" in view.headline.beside
    assert "From 20 draws" in view.headline.more
    view.evaluate_on(SAMPLE)
    finished(map_page, view)
    assert view.answer.question.judged_on == SAMPLE
    assert view.answer.users == view.request["n0"]
    assert "stand-in" in view.headline.beside
    chosen = next(c for c in view.answer.curves if c.mechanism == view.mechanism)
    view.set_target(float(chosen.quantile(0.1)[6]))
    view.take()
    assert map_page.session.request("heatmap").selection.epsilon_from is Origin.STAND_IN
    assert chosen_without_looking(map_page).holds is None


def test_cancelled_it_goes_on_where_it_was_and_another_blur_drops_it(map_page: MapPage) -> None:
    map_page.session.set_value("sigma", 0.0313, "heatmap")  # not in the cache
    view = shown(map_page)
    map_page.qtbot.waitUntil(lambda: view.answer is not None and view.answer.done > 5)
    QTest.mouseClick(view.parts.stop, Qt.MouseButton.LeftButton)
    assert not view.job.busy
    stopped = view.answer.done
    assert "Cancelled" in view.parts.state.text()
    seen = []
    view.answered.connect(seen.append)
    QTest.mouseClick(view.parts.stop, Qt.MouseButton.LeftButton)
    map_page.qtbot.waitUntil(lambda: bool(seen))
    assert seen[0].done >= stopped  # known results are not computed again
    map_page.session.set_value("sigma", 0.0517, "heatmap")
    map_page.qtbot.waitUntil(
        lambda: view.answer.question.request["sigma"] == 0.0517 and view.answer.finished
    )
    assert {c.mechanism for c in view.answer.curves} == set(view.plot.curves)


def test_a_curve_over_users(map_page: MapPage) -> None:
    view = shown(map_page)
    view.parts.axis.setCurrentIndex(view.parts.axis.findData("users"))
    view.parts.axis.activated.emit(view.parts.axis.currentIndex())
    map_page.qtbot.waitUntil(
        lambda: view.answer is not None and view.answer.question.axis == "users"
    )
    finished(map_page, view)
    users = view.answer.curves[0].x
    assert list(users) == [n for n in (25, 50) if n <= view.answer.curves[0].x.max()]
    assert not view.parts.field.isVisible()
    view._choose_point(view.mechanism, 25.0)
    assert map_page.session.request("heatmap").selection.users == 25


def test_closing_while_it_computes_leaves_no_process(qtbot, checkins) -> None:
    before = set(psutil.Process().children(recursive=True))
    with opened(qtbot) as map_page:
        map_page.load(checkins)
        map_page.answered()
        view = shown(map_page)
        qtbot.waitUntil(lambda: view.answer is not None)
        started = set(psutil.Process().children(recursive=True)) - before
        assert started

    def left() -> list[str]:
        return [name for name in alive(list(started)) if "resource_tracker" not in name]

    # One that is just ending has no command line any more.
    assert wait_until(lambda: not left(), 2), left()


def test_theory_names_an_epsilon_and_opens_no_data(map_page: MapPage) -> None:
    map_page.session.set_value("n0", 50_000, "heatmap")
    map_page.answered()
    view = shown(map_page)
    assert map_page.map.answer.badge.isVisible()
    view.cancel()

    # Proved values need no data, and the compute process has none.
    map_page.service.client._data_changed(map_page.data.current.fingerprint, None)
    for box, key in ((view.parts.judged, THEORY), (view.parts.measure, "emd_km")):
        box.setCurrentIndex(box.findData(key))
        box.activated.emit(box.currentIndex())
    map_page.qtbot.waitUntil(
        lambda: view.answer is not None and view.answer.question == view.question()
    )
    assert map_page.map.answer.badge.isHidden()
    rows = {line.mechanism: line for line in view.lines}
    assert rows["adaptive"].words == "unproved"
    assert rows["adaptive"].epsilon is None
    assert {"pyramid", "capped", "dense"} == {m for m, line in rows.items() if line.epsilon}
    assert view.mechanism in ("pyramid", "capped", "dense")  # the map's own mechanism has no bound
    assert "proved" in view.headline.text
    assert "50,000 users" in view.headline.beside
    assert not view.parts.sure.isEnabled()
    assert not view.parts.more.isEnabled()
    assert set(view.plot.curves) == {"pyramid", "capped", "dense"}
    QTest.mouseClick(view.parts.copy, Qt.MouseButton.LeftButton)
    assert not QGuiApplication.clipboard().text().startswith("# curator only")
    taken_epsilon = rows[view.mechanism].epsilon
    QTest.mouseClick(view.parts.use, Qt.MouseButton.LeftButton)
    request = map_page.session.request("heatmap")
    assert request["epsilon"] == taken_epsilon
    assert request.selection.epsilon_from is Origin.THEORY
    assert chosen_without_looking(map_page).holds is None
    assert "proved bounds" in chosen_without_looking(map_page).margin


def test_what_is_shown_is_undone_and_saved(map_page: MapPage) -> None:
    session = map_page.session
    view = shown(map_page)
    finished(map_page, view)
    assert session.state.which.open
    view.set_target(0.71)
    view.parts.axis.setCurrentIndex(view.parts.axis.findData("sigma"))
    view.parts.axis.activated.emit(view.parts.axis.currentIndex())
    view.evaluate_on(SAMPLE)
    which = session.state.which
    assert (which.axis, which.measure, which.judged_on) == ("sigma", "similarity", SAMPLE)
    assert which.targets == {"similarity": 0.71}

    left_out: list[str] = []
    again = state_from_dict(state_to_dict(session.state), left_out)
    assert (again.which, left_out) == (which, [])

    session.undo()
    assert view.parts.judged.currentText() == "these check-ins"
    session.undo()
    assert view.parts.axis.currentData() == "epsilon"
    session.undo()
    assert view.target != 0.71
    session.undo()
    assert view.parts.measure.currentData() == "emd_km"
    session.undo()
    assert view.isHidden()
    assert not map_page.map.utility.action.isChecked()
    for _ in range(3):
        session.redo()
    assert view.isVisible()
    assert view.target == 0.71


def test_it_opens_again_with_the_session(qtbot, checkins) -> None:
    with opened(qtbot) as map_page:
        map_page.load(checkins)
        map_page.answered()
        shown(map_page).set_target(0.66)
        saved = state_to_dict(map_page.session.state)
    with opened(qtbot, Session(state_from_dict(saved))) as map_page:
        view = map_page.map.utility.view
        assert view.isVisible()
        assert map_page.map.utility.action.isChecked()
        assert view.parts.field.number == 0.66


def test_a_figure_of_the_paper_opens_its_curves(map_page: MapPage) -> None:
    session = map_page.session
    before = session.state
    item = preset(get_study("heatmap"), "figure-4")
    follow_preset(session, item)
    view = map_page.map.utility.view
    assert view is not None
    assert view.isVisible()
    assert view.parts.axis.currentData() == "users"
    assert (session.state.which.measure, session.state.which.statistic) == ("emd", "mean")
    assert session.request("heatmap")["epsilon"] == 10.0
    assert preset_in_front(session.state) == item
    session.set_which(session.state.which.with_choice("axis", "sigma"), "over σ")
    assert preset_in_front(session.state) is None
    session.undo()
    session.undo()
    assert session.state == before


def test_a_figure_with_made_data_opens_its_curves_on_them(map_page: MapPage) -> None:
    session = map_page.session
    item = preset(get_study("heatmap"), "figure-10")
    follow_preset(session, item)
    session.set_value("resolution", "32", "heatmap")
    session.set_which(session.state.which.with_choice("measure", "similarity"), "no transport")
    view = map_page.map.utility.view
    assert view is not None
    assert (view.which.axis, view.which.judged_on) == ("filled", "figure-10")
    finished(map_page, view)
    assert view.answer.users == 200
    assert not view.answer.question.here
    curve = view.answer.curves[0]
    assert curve.mechanism == "pyramid"
    assert list(curve.x) == [0.04, 0.15, 0.3, 0.75]
    assert view.parts.judged.currentText() == "made mixtures (figure 10)"
    assert not view.plot.value_line.isVisible()  # a share of filled cells is not a setting

    asked = session.request("heatmap")
    view.plot.point_selected.emit("least-squares", 0.15)  # applies the mechanism only
    assert session.request("heatmap")["mechanism"] == "least-squares"
    assert session.request("heatmap")["epsilon"] == asked["epsilon"]

    view.evaluate_on("")
    assert view.which.axis == "epsilon"  # check-ins have no such axis
    assert view.parts.axis.findData("filled") == -1
