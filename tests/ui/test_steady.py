"""While a slider moves: the same curves, claim and axes as at rest, and what is painted."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from explorer.engine.session.plot_view import PlotView
from explorer.studies.base.claims import evaluate_claim

STEPS = 12


def seen(page) -> tuple:
    """Return what must stay: curves, their order and styles, the claim."""
    result = page.current_result
    keys = [s.key for s in result.series]
    look = [(k, page.plot.style_of(k).colour, page.plot.style_of(k).dash) for k in keys]
    return look, page.plot.hidden, evaluate_claim(result).series.key


@pytest.mark.main_path
@pytest.mark.parametrize(
    ("study", "key"),
    [("shuffle-rdp", "eps0"), pytest.param("itemwise", "alpha", marks=pytest.mark.full)],
)
def test_a_drag_changes_neither_curves_nor_claim_and_axes_only_grow(
    open_window, settled, qtbot, study, key
) -> None:
    window = open_window(study=study)
    settled(window)
    page = window.workspaces["bounds"]
    slider = window.parameters.row(key).slider
    at_rest, ranges, answers = seen(page), [page.plot.view.viewRange()], []
    space = window.parameters.pages[study].space
    beside_at_rest, beside = (space.isHidden(), window.guarantee.odds.isHidden()), set()
    sentence, muted = page.answer.text, []

    def answered(result, _elapsed) -> None:
        answers.append((seen(page), page.answer.claim.text(), result.complete))
        ranges.append(page.plot.view.viewRange())
        beside.add((space.isHidden(), window.guarantee.odds.isHidden()))
        if result.curve_follows:
            muted.append(not sentence.isEnabled())

    window.answers["bounds"].result_ready.connect(answered)
    start = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    for step in range(STEPS):
        QTest.mouseMove(slider, start + QPoint(2 * step, 0))
        qtbot.wait(30)
    assert window.session.in_gesture
    moving = len(answers)
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=start + QPoint(2 * STEPS, 0))
    settled(window)

    assert moving >= 2
    assert {str(look) for look, _, complete in answers[:moving] if not complete} <= {str(at_rest)}
    assert len({text for _, text, _ in answers}) == 1
    assert beside == {beside_at_rest}
    for before, after in itertools.pairwise(ranges[: moving + 1]):
        for (low, high), (next_low, next_high) in zip(before, after, strict=True):
            assert next_low <= low < high <= next_high
    assert not page.current_result.outdated
    assert not page.answer.spinner.isVisible()
    # A sentence may be that of the number before: it is muted until the slider rests.
    assert all(muted)
    qtbot.waitUntil(sentence.isEnabled)


class Paints(QObject):
    """Counts the paint events of widgets by name."""

    def __init__(self, **widgets) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self._names = {widget: name for name, widget in widgets.items()}
        for widget in widgets.values():
            widget.installEventFilter(self)

    def eventFilter(self, watched, event) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            self.counts[self._names[watched]] += 1
        return False


@pytest.mark.main_path
def test_an_old_number_says_which_values_it_is_for(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    page = window.workspaces["bounds"]
    row = page.legend.row("worst_case")
    before = window.session.request()["n"]
    assert "still" not in row.mark_text()
    slider = window.parameters.row("n").slider
    start = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    settled(window)
    pressed = window.session.request()["n"]
    QTest.mouseMove(slider, start + QPoint(9, 0))
    qtbot.waitUntil(lambda: row.mark_text().startswith("still n = "))
    assert row.mark_text() == f"still n = {pressed:,}"
    assert before != pressed != window.session.request()["n"]
    assert not row.value.isEnabled()
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=start + QPoint(9, 0))
    settled(window)
    assert "still" not in row.mark_text()


@pytest.mark.main_path
def test_a_new_answer_paints_its_own_texts_once_and_nothing_behind_them(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="unbounded")
    settled(window)
    qtbot.wait(200)
    page, panel = window.workspaces["bounds"], window.parameters
    behind = {
        "strip": page.answer,
        "area": page.beside,
        "panel": panel,
        "tabs": window.tabs,
        "pages": window.pages,
    }
    paints = Paints(
        number=page.answer.number,
        text=page.answer.text,
        legend=page.legend,
        plot=page.plot.viewport(),
        slider=panel.row("eps").slider,
        **behind,
    )
    axes = []
    page.plot.left.redrawn.connect(lambda: axes.append("y"))
    slider = panel.row("eps").slider
    start = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    settled(window)
    qtbot.wait(300)  # what the press began to fade or to settle
    for step in range(1, 6):
        paints.counts.clear()
        axes.clear()
        before = page.answer.number.text()
        with qtbot.waitSignal(window.answers["bounds"].result_ready):
            QTest.mouseMove(slider, start - QPoint(step, 0))
        qtbot.wait(50)
        assert page.answer.number.text() != before
        assert not set(paints.counts) & set(behind)
        assert paints.counts["slider"] == 1
        assert {paints.counts[name] for name in ("number", "text", "legend")} == {1}
        assert paints.counts["plot"] <= 2
    assert not axes
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=start - QPoint(5, 0))


@pytest.mark.main_path
def test_faded_curves_say_which_values_they_are_for(open_window, settled, qtbot) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    page = window.workspaces["bounds"]
    complete, progress, mark = page.current_result, page.plot.titles.progress, page.plot.claim_mark
    claim = evaluate_claim(complete)
    marked = [math.log10(complete.request["T"]), math.log10(claim.value)]
    assert [mark.x(), mark.y()] == pytest.approx(marked)
    drawn = [s.key for s in complete.series if s.key not in page.plot.hidden]
    folded = [key for key in page.legend.order() if key not in page.legend.front]
    fresh = {claim.series.key, next(key for key in drawn if key != claim.series.key)}
    values = tuple((k, 2.5 if k == "eps0" else v) for k, v in complete.request.values)
    partial = replace(
        complete,
        request=replace(complete.request, values=values),
        complete=False,
        series=tuple(s for s in complete.series if s.key in fresh),
        readouts=tuple(replace(r, value=2 * r.value) for r in complete.readouts if r.key in fresh),
    )
    page._show(partial, 1.0)
    assert progress.text == f"{len(drawn)} of {len(drawn)} curves up to date"
    assert [mark.x(), mark.y()] == pytest.approx([marked[0], marked[1] + math.log10(2)])
    qtbot.waitUntil(lambda: "Faded" in progress.text)
    assert progress.text == f"Faded: still ε₀ = 2.  2 of {len(drawn)} curves up to date"
    assert folded
    assert page.legend.still.text() == "still ε₀ = 2"
    page._show(complete, 1.0)
    assert progress.text == f"{len(drawn)} of {len(drawn)} curves up to date"
    assert page.legend.still.text() == ""
    window.session.set_look(
        ("shuffle-rdp", "eps"),
        PlotView(True, hidden=frozenset({claim.series.key}), every=True),
        "hide",
    )
    assert not mark.isVisible()


@pytest.mark.main_path
def test_a_refused_number_has_its_reason_below_until_it_is_mended(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="unbounded")
    settled(window)
    row = window.parameters.row("eps")
    page, before = window.workspaces["bounds"], window.session.request()
    place = row.geometry()
    row.field.setFocus()
    row.field.selectAll()
    QTest.keyClicks(row.field, "2oo")
    QTest.keyClick(row.field, Qt.Key.Key_Tab)
    assert row.reason.isVisible()
    assert "2oo" in row.reason.text()
    assert row.geometry() == place
    assert f"ε = {before['eps']}" in page.answer.text.text()
    assert window.session.request() == before

    row.field.setFocus()
    row.field.selectAll()
    QTest.keyClicks(row.field, "1/2")
    QTest.keyClick(row.field, Qt.Key.Key_Tab)
    assert not row.reason.isVisible()
    settled(window)
    assert window.session.request()["eps"] == 0.5
    assert "Old" not in page.answer.text.text()


@pytest.mark.main_path
def test_nothing_is_exported_or_copied_of_an_earlier_answer(open_window, settled, qtbot) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    page, clipboard = window.workspaces["bounds"], QGuiApplication.clipboard()
    page.below.setCurrentIndex(1)
    assert page.below.numbers.isEnabled()
    clipboard.setText("before")
    with qtbot.waitSignal(window.answers["bounds"].result_ready):
        window.session.set_value("eps0", 1.5)
    assert page.current_result.outdated
    assert not page.below.numbers.isEnabled()
    assert not page.below.copy_button.isEnabled()
    window.output.copy("csv")
    window.output.review("txt")
    assert window.output.refused()
    assert not window.output.controller.busy
    settled(window)
    assert clipboard.text() == "before"
    assert page.below.numbers.isEnabled()
    assert not window.output.refused()


@pytest.mark.full
@pytest.mark.parametrize(
    ("study", "values", "key"),
    [("private-regression", (), "eps"), ("cldp-sgd", (("epochs", "30"), ("runs", "1")), "eps0")],
)
def test_a_simulated_number_stays_faded_while_a_slider_moves_and_the_odds_follow(
    open_window, settled, qtbot, study, values, key
) -> None:
    window = open_window(study=study, values=values)
    settled(window)
    answer, panel = window.workspaces["bounds"].answer, window.guarantee
    number, odds = answer.number.text(), panel.odds.text()
    assert min(len(number), len(odds)) > 1
    assert answer.number.isEnabled()
    slider = window.parameters.row(key).slider
    start = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    settled(window)
    number, odds = answer.number.text(), panel.odds.text()
    QTest.mouseMove(slider, start + QPoint(20, 0))
    qtbot.waitUntil(lambda: not answer.number.isEnabled())
    assert answer.number.text() == number
    qtbot.waitUntil(lambda: panel.odds.text() != odds)
    assert panel.odds.isVisible()
    moved = panel.odds.text()
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=start + QPoint(20, 0))
    settled(window)
    assert answer.number.isEnabled()
    assert answer.number.text() != number
    assert panel.odds.text() == moved
