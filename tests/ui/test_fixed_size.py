"""Texts that change with every slider value do not trigger a new layout."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from explorer.studies.heatmap.text import EXACT_COMING
from explorer.studies.registry import get_study
from explorer.ui.controllers.activity import ActivityBar, duration_words
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from tests.ui.small_map import SMALL_MAP


class Relayouts(QObject):
    """Counts layout requests of a widget."""

    count = 0

    def eventFilter(self, _watched, event) -> bool:  # noqa: N802
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_text_asks_for_a_layout_only_when_its_height_changes(qtbot) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    text = FixedSizeText()
    column = QVBoxLayout(panel)
    column.addWidget(text)
    column.addStretch(1)
    text.setText("ε = 1.25")
    panel.resize(200, 200)
    with qtbot.waitExposed(panel):
        panel.show()
    qtbot.turns()
    line = text.height()
    watch = Relayouts()
    panel.installEventFilter(watch)
    for value in range(20):
        text.setText(f"ε = {value / 7:.3f}")
        qtbot.wait(1)
    assert text.text() == "ε = 2.714"
    assert watch.count == 0
    text.setText("a promise in so many words that they need several lines of this panel")
    qtbot.waitUntil(lambda: text.height() >= 2 * line)
    assert watch.count > 0
    text.setText("ε = 1")
    qtbot.waitUntil(lambda: text.height() == line)


@pytest.mark.parametrize("name", ["", "sentence", "muted", "heading"])
def test_text_that_was_not_measured_anew_has_its_height(qtbot, name: str) -> None:
    """Font metrics must not cache heights that differ from the label's."""
    panel = QWidget()
    qtbot.addWidget(panel)
    text = FixedSizeText(name, panel)
    text.resize(170, 20)
    for words in range(1, 40):
        for number in ("ε ≤ 1.234×10⁻¹⁰", "δ = 0", "⊘ T\nk"):
            text.setText(" ".join(["promise", number] * words))
            shown = text.heightForWidth(170)
            text._heights.clear()
            assert shown == text.heightForWidth(170)


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0.4, "0 ms"),
        (12, "12 ms"),
        (999.4, "999 ms"),
        (4974, "5.0 s"),
        (4900, "4.9 s"),
        (75_000, "75 s"),
    ],
)
def test_durations_are_written_for_reading(ms: float, words: str) -> None:
    assert duration_words(ms) == words


def test_curves_that_come_and_go_leave_nothing_in_the_scene(open_window, settled) -> None:
    window = open_window(study="unbounded")
    settled(window)
    plot = window.workspaces["bounds"].plot
    window.session.set_value("eps", 1.5)
    settled(window)
    first, second, *_ = (q.key for q in get_study("unbounded").quantities)
    before = len(plot.scene().items())
    for _ in range(2):
        window.session.set_quantity(second)
        settled(window)
        window.session.set_quantity(first)
        settled(window)
    assert len(plot.scene().items()) == before


def test_the_status_bar_keeps_its_texts_apart_and_nothing_moving(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    window.answer_state.setText("Stopped early")
    left, right = window.answer_state.geometry(), window.data_state.geometry()
    assert left.left() >= 8
    assert left.right() < right.left()
    wanted = window.answer_state.fontMetrics().horizontalAdvance(window.answer_state.text())
    assert left.width() >= wanted
    # Work without an end in sight shows no moving bar.
    bar = window.findChild(ActivityBar)
    window.answers["bounds"].busy_changed.emit(True)
    qtbot.waitUntil(bar.isVisible)
    assert not bar.findChild(QProgressBar).isVisible()
    assert "computing bounds" in bar.words.text()
    window.answers["bounds"].busy_changed.emit(False)
    assert not bar.isVisible()


def test_only_parameters_that_matter_are_shown_and_undo_brings_them_back(
    open_window, settled
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    rows = {
        p.key: window.parameters.row(p.key) for p in get_study("heatmap").parameters if p.in_panel
    }
    bound = {
        p.key: dict(p.relevant_when)["mechanism"]
        for p in get_study("heatmap").parameters
        if "mechanism" in dict(p.relevant_when)
    }
    assert len(bound) >= 2

    def shown() -> set[str]:
        return {key for key, row in rows.items() if not row.isHidden()}

    for mechanism in ("pyramid", "laplace", "top"):
        window.session.set_value("mechanism", mechanism)
        away = {key for key, wanted in bound.items() if mechanism not in wanted}
        assert shown() == set(rows) - away
    window.session.undo()
    assert window.session.state.request_of("heatmap")["mechanism"] == "laplace"
    assert shown() == set(rows) - set(bound)
    assert rows["w"] is window.parameters.row("w")
    settled(window)


def test_a_height_is_measured_once_and_again_with_other_letters(qtbot, monkeypatch) -> None:
    text = FixedSizeText()
    qtbot.addWidget(text)
    text.setText("a promise in so many words that they need several lines of this panel")
    measured: list[int] = []
    whole = text._label.heightForWidth
    monkeypatch.setattr(
        text._label, "heightForWidth", lambda width: (measured.append(width), whole(width))[1]
    )
    heights = [text.heightForWidth(width) for width in (200, 90, 200, 90)]
    assert measured == [200, 90]
    assert heights[:2] == heights[2:]
    assert heights[1] > heights[0]
    font = text.font()
    font.setPointSizeF(2 * font.pointSizeF())
    text.setFont(font)
    assert text.heightForWidth(200) > heights[0]
    text.setText("short")
    assert text.heightForWidth(200) < heights[0]


def test_the_words_of_an_axis_stand_in_its_middle_whatever_they_are(qtbot) -> None:
    window, plot = QWidget(), BoundsPlot()
    QVBoxLayout(window).addWidget(plot)
    qtbot.addWidget(window)
    window.resize(500, 400)
    with qtbot.waitExposed(window):
        window.show()
    for words in ("T  rounds", "α  and so much more that it is three times as long", "n"):
        plot.set_axes(words, words, False, False)
        qtbot.turns()
        for axis, wide in ((plot.bottom, True), (plot.left, False)):
            label = axis.label.mapRectToParent(axis.label.boundingRect()).center()
            size = axis.size()
            middle = size.width() / 2 if wide else size.height() / 2
            assert (label.x() if wide else label.y()) == pytest.approx(middle, abs=1.5)


@pytest.mark.full
def test_the_exact_distance_of_a_map_comes_later_and_moves_nothing(
    open_window, settled, qtbot, monkeypatch
) -> None:
    monkeypatch.setattr("explorer.ui.controllers.activity.SHOW_AFTER_MS", 0)
    window = open_window(study="heatmap", values=(("resolution", "128"),))
    settled(window)
    page = window.workspaces["map"]
    page.how_good.numbers.click()
    window.session.set_value("epsilon", 2.0, "heatmap")

    def waits_for_the_exact() -> bool:
        result = window.current_result
        return result.complete and result.request["epsilon"] == 2.0 and bool(result.coming)

    qtbot.waitUntil(waits_for_the_exact)
    assert " … " in page.metrics.cells["emd_km"].value.text()
    shown = page.answer.text.text(), page.metrics.loss.sentence.text(), page.answer.number.text()
    state = window.answer_state.text()
    assert state == "Complete"
    assert window.activity.running[0].message == EXACT_COMING
    places = {widget: widget.geometry() for widget in page.findChildren(QWidget)}
    qtbot.waitUntil(window.activity.escape)  # once the status bar has named it for a while
    qtbot.waitUntil(lambda: not window.busy)
    stopped = window.current_result
    assert stopped.complete
    assert not stopped.final
    assert window.answer_state.text() == state

    window.session.set_value("epsilon", 3.0, "heatmap")
    window.session.set_value("epsilon", 2.0, "heatmap")
    final = settled(window)
    assert final.final
    assert final.request == stopped.request
    assert " … " not in page.metrics.cells["emd_km"].value.text()
    assert window.answer_state.text() == "Complete"
    now = page.answer.text.text(), page.metrics.loss.sentence.text(), page.answer.number.text()
    assert now == shown
    assert {widget: widget.geometry() for widget in places} == places
