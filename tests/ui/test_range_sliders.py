"""Maps follow the sliders of time range and users; a drag is one undo step, exact at rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QDateTime, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from explorer.checkins import sharding
from explorer.studies.base.study import Origin, Result, Selection
from explorer.ui.panels.data import TOO_LARGE, DataPanel
from explorer.ui.panels.time_range import BEGIN, END, NO_TIMES, WHOLE, RangeSlider
from tests.checkins.test_multifile import rows_of, write_part
from tests.ui.dragging import Hand
from tests.ui.map_page import made_checkins
from tests.ui.small_map import SMALL_MAP

DAY = 86_400


@pytest.fixture
def window(open_window: Any, qtbot: Any, settled: Any, tmp_path: Path) -> Any:
    window = open_window(study="heatmap", values=SMALL_MAP, data=made_checkins(tmp_path))
    qtbot.waitUntil(lambda: window.session.state.selection is not None)
    settled(window)
    window.sides.setCurrentWidget(window.data_page)
    return window


def seconds(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


def followed(
    window: Any, qtbot: Any, slider: QWidget, begin: float, ends: list[float]
) -> tuple[list[Selection], list[Selection]]:
    """Drag a slider; return the requests and the pictures of both panes.

    The pointer rests at each place until its map, or a later one, is shown.
    """
    page, shown = window.workspaces["map"], []

    def note(result: Result) -> None:
        for key, pane in page.panes.panes.items():
            np.testing.assert_array_equal(pane.image.image, result.surface(key).values)
        shown.append(result.request.selection)

    page.result_shown.connect(note)
    hand, middle, asked = Hand(slider), slider.height() / 2, []
    hand.press(begin, middle)
    for x in ends:
        hand.move(x, middle)
        asked.append(window.session.state.selection)
        qtbot.waitUntil(lambda: asked[-1] in shown)
    hand.release(ends[-1], middle)
    page.result_shown.disconnect(note)
    return asked, shown


def rests_exactly(window: Any, settled: Any) -> None:
    """Check that the complete result is shown, as from a fresh table."""
    result = settled(window)
    selection = window.session.state.selection
    assert result.request.selection == selection
    assert result.complete
    assert result.readout("similarity").value is not None
    points = window.data.current.points(
        selection.region.box,
        selection.start,
        selection.end,
        selection.users,
        selection.data_seed,
        selection.exact_share,
    )
    assert result.readout("checkins").value == points.rows
    assert result.readout("users_used").value == points.users_used


def test_both_panes_follow_the_time_range_dragged(window: Any, qtbot: Any, settled: Any) -> None:
    before = window.session.state.selection
    time = window.workspaces["map"].side_panel.time
    slider: RangeSlider = time.slider
    low, high = slider.scale
    data = window.data.current
    first, last = (datetime.fromisoformat(t).timestamp() for t in (data.first_time, data.last_time))
    assert low <= first < low + DAY
    assert high - DAY <= last < high
    assert low % DAY == high % DAY == 0
    right = slider.bar().right() + 4
    asked, _ = followed(window, qtbot, slider, right, [right - 20, right - 40, right - 60])
    ends = [s.end for s in asked]
    assert ends == sorted({*ends}, reverse=True)
    assert {s.start for s in asked} == {None}  # not chosen
    assert {s.time_from for s in asked} == {Origin.DRAWN}  # over the map
    assert all(end.endswith("T00:00:00Z") for end in ends)
    assert time.end.dateTime() == QDateTime.fromString(ends[-1], Qt.DateFormat.ISODate)
    rests_exactly(window, settled)
    (chosen,) = (
        c for c in window.current_result.conditions if c.text.startswith("The time range was")
    )
    assert chosen.holds is False
    # The bar moves the range unchanged, up to the end of the data.
    length = slider.range[1] - slider.range[0]
    middle = slider.bar().center().x()
    moved, _ = followed(window, qtbot, slider, middle, [middle + 15, middle + 30, middle + 500])
    for selection in moved[:2]:
        span = [datetime.fromisoformat(t).timestamp() for t in (selection.start, selection.end)]
        assert span[1] - span[0] == length
    assert moved[-1].end is None
    assert slider.range == (high - length, high)
    rests_exactly(window, settled)
    window.session.undo()
    assert window.session.state.selection == asked[-1]
    window.session.undo()
    assert window.session.state.selection == before
    assert slider.range == slider.scale
    rests_exactly(window, settled)


def test_both_panes_follow_the_number_of_users_dragged(
    window: Any, qtbot: Any, settled: Any
) -> None:
    before = window.session.state.selection
    sample = window.workspaces["map"].side_panel.sample
    slider, wide = sample.slider, sample.slider.width()
    assert slider.number == window.data.current.users  # all of them
    asked, _ = followed(window, qtbot, slider, wide - 7, [wide * 0.8, wide * 0.6, wide * 0.5])
    numbers = [s.users for s in asked]
    assert numbers == sorted({*numbers}, reverse=True)
    assert 1 < numbers[-1] < window.data.current.users
    assert sample.number.number == numbers[-1]
    assert f"slider, {numbers[-1]:,}" in slider.accessibleName()
    rests_exactly(window, settled)
    assert window.current_result.readout("users_used").value == numbers[-1]
    back, _ = followed(window, qtbot, slider, wide * 0.5, [wide * 0.7, wide + 30.0])
    assert not back[-1].sampled  # the end of the slider means all users, not a sample of that size
    window.session.undo()
    assert window.session.state.selection.users == numbers[-1]
    window.session.undo()
    assert window.session.state.selection == before
    window.session.set_selection(replace(before, share=0.5))
    rests_exactly(window, settled)
    half = slider.handle().x()
    shares = [s.share for s in followed(window, qtbot, slider, half, [half - 9, half - 18])[0]]
    assert 0.5 > shares[0] > shares[1] > 0.01
    assert all(round(100 * share, 9) == round(100 * share) for share in shares)
    rests_exactly(window, settled)


def test_keys_move_ends_and_bar_by_whole_steps(window: Any) -> None:
    panel = window.workspaces["map"].side_panel
    slider, session = panel.time.slider, window.session
    low, high = slider.scale
    begin, whole, end = slider.parts
    QTest.keyClick(begin, Qt.Key.Key_Right)
    QTest.keyClick(begin, Qt.Key.Key_PageUp)
    assert slider.range == (low + 31 * DAY, high)
    assert session.state.selection.end is None
    QTest.keyClick(end, Qt.Key.Key_Left)
    QTest.keyClick(whole, Qt.Key.Key_Left)
    assert slider.range == (low + 30 * DAY, high - 2 * DAY)
    QTest.keyClick(whole, Qt.Key.Key_Home)
    assert slider.range == (low, high - 32 * DAY)
    assert session.state.selection.start is None
    QTest.keyClick(end, Qt.Key.Key_Home)  # never an empty range
    assert slider.range == (low, low + DAY)
    QTest.keyClick(begin, Qt.Key.Key_End)
    assert slider.range == (low, low + DAY)
    for place, name in ((BEGIN, "Beginning"), (WHOLE, "Time range"), (END, "End")):
        assert slider.parts[place].accessibleName().startswith(name)
    day = f"{datetime.fromtimestamp(low, UTC):%Y-%m-%d}"
    assert day in begin.accessibleName()
    assert day in whole.accessibleName()
    QTest.keyClick(end, Qt.Key.Key_End)
    selection = session.state.selection
    assert (selection.start, selection.end) == (None, None)
    assert panel.time.presets.currentText() == "All times"
    # An end that was typed stays while the other is moved.
    typed = {"start": "1999-05-04T03:02:01Z", "end": "2010-02-03T04:05:06Z"}
    session.set_selection(replace(session.state.selection, **typed))
    assert slider.range == (low, seconds(2010, 2, 3) + 4 * 3600 + 5 * 60 + 6)
    QTest.keyClick(slider.parts[END], Qt.Key.Key_Right)
    selection = session.state.selection
    assert (selection.start, selection.end) == (typed["start"], "2010-02-05T00:00:00Z")
    session.set_selection(replace(selection, start="2010-01-02T03:04:05Z"))
    QTest.keyClick(slider.parts[WHOLE], Qt.Key.Key_Right)
    moved = session.state.selection
    length = seconds(2010, 2, 5) - seconds(2010, 1, 2) - 3 * 3600 - 4 * 60 - 5
    assert moved.start == "2010-01-03T00:00:00Z"
    assert datetime.fromisoformat(moved.end).timestamp() == seconds(2010, 1, 3) + length
    session.set_selection(replace(selection, start="1950-01-01T00:00:00Z", end="1950-01-02"))
    assert slider.range == (low, low)
    QTest.keyClick(slider.parts[WHOLE], Qt.Key.Key_Right)  # any typed value can be moved
    assert low <= slider.range[0] <= slider.range[1] <= high


def test_steps_are_days_hours_or_minutes(qapp: Any) -> None:
    from explorer.ui.panels.time_range import TimeRange

    time = TimeRange()
    for last, step in (
        ("2012-01-31T23:30:00Z", DAY),
        ("2010-01-09T00:00:00Z", 3600),
        ("2010-01-01T19:07:30Z", 60),
    ):
        time.set_span("2010-01-01T12:30:30Z", last)
        time.show_range(None, None)
        low, high = time.slider.scale
        QTest.keyClick(time.slider.parts[BEGIN], Qt.Key.Key_Right)
        assert time.slider.range == (low + step, high)
        assert high > datetime.fromisoformat(last).timestamp() >= high - step


@pytest.fixture
def no_times(tmp_path: Path) -> Path:
    lines = [f"u{i % 9},{48 + i / 1000:.4f},{11 + i / 900:.4f}" for i in range(300)]
    return write_part(tmp_path / "no times.csv", lines, "user,lat,lon")


def _panel(window: Any, qtbot: Any, path: Path) -> DataPanel:
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_data(path)
    panel: DataPanel = window.workspaces["map"].side_panel
    return panel


def test_sliders_that_no_map_could_follow_are_off_and_say_why(
    open_window: Any, qtbot: Any, settled: Any, no_times: Path, monkeypatch: Any
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    panel = _panel(window, qtbot, no_times)
    assert not panel.time.slider.isEnabled()
    assert panel.time.slider.toolTip() == panel.time.why.text() == NO_TIMES
    assert panel.sample.slider.isEnabled()
    monkeypatch.setattr(sharding, "IN_MEMORY", 100)
    panel = _panel(window, qtbot, made_checkins(no_times.parent, rows=900))
    data = window.data.current
    assert data.larger_than_memory
    for slider in (panel.time.slider, panel.sample.slider):
        assert not slider.isEnabled()
        assert slider.toolTip() == TOO_LARGE
    assert panel.time.why.text() == panel.sample.why.text() == TOO_LARGE
    assert panel.time.start.isEnabled()
    assert panel.sample.number.isEnabled()
    settled(window)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part, first in (("a", 0), ("b", 60)):
        write_part(tmp_path / "parts" / f"{part}.csv", rows_of(first, first + 60))
    return tmp_path / "parts"


@pytest.fixture
def plane(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    lines = [
        f"u{i % 9},2010-01-{1 + i // 20:02}T12:00:00Z,{x:.2f},{y:.2f}"
        for i, (x, y) in enumerate(rng.uniform(0, 100, (400, 2)))
    ]
    return write_part(tmp_path / "plane.csv", lines, "user,time,x,y")


def test_several_files_and_planes_are_followed_too(
    open_window: Any, qtbot: Any, settled: Any, folder: Path, plane: Path
) -> None:
    from explorer.checkins import Mapping

    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    columns = Mapping(0, 1, 3, 2, plane="100x100")
    ways: tuple[Callable[[], object], ...] = (
        lambda: window.files.open_data(folder),
        lambda: window.data.open(plane, mapping=columns),
    )
    for way in ways:
        with qtbot.waitSignal(window.data.loaded):
            way()
        panel = window.workspaces["map"].side_panel
        slider = panel.time.slider
        assert slider.isEnabled()
        settled(window)
        QTest.keyClick(slider.parts[END], Qt.Key.Key_PageDown)
        assert window.session.state.selection.end is not None
        rests_exactly(window, settled)
        panel.sample.slider.step(-30)
        assert window.session.state.selection.users is not None
        rests_exactly(window, settled)


def test_the_slider_of_users_keeps_its_width_while_it_is_dragged(window: Any, qtbot: Any) -> None:
    """Fields below the slider come and go; the slider does not move."""
    sample = window.workspaces["map"].side_panel.sample
    slider, page = sample.slider, window.data_page

    def needs() -> int:
        QTest.qWait(50)
        assert page.verticalScrollBar().maximum() > 0
        return int(page.widget().height())

    window.resize(window.width(), 500)
    all_need = needs()
    hand, middle = Hand(slider), slider.height() / 2
    hand.press(slider.width() - 7, middle)
    hand.move(0.9 * slider.width(), middle)
    assert sample.mode.currentData() == "number"
    assert needs() > all_need
    more = all_need + 4 - page.viewport().height()
    window.resize(window.width(), window.height() + more)
    qtbot.waitUntil(lambda: page.viewport().height() == all_need + 4)
    right, found = slider.width() - 7, set()
    for step in range(6):  # at the end all users, slightly before it a sample
        hand.move(right - 4 * (step % 2), middle)
        QTest.qWait(30)
        found.add((slider.width(), sample.mode.currentData()))
    hand.release(right, middle)
    assert len({width for width, _ in found}) == 1, found
    assert {mode for _, mode in found} == {"all", "number"}
