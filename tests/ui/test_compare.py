"""The Compare tab: rows are edited together, sorted, copied, undone and restored."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.engine.session.plot_view import PlotView
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures.comparison import axis_of, group_rows
from explorer.studies.base.study import Context, Request, Result
from explorer.studies.registry import register, unregister
from explorer.ui.compare import COLUMNS, dots_of
from tests.ui.test_access import check
from tests.ui.tiny_study import TinyStudy

VALUE = COLUMNS.index("Value")


def ctrl_d(qtbot, window) -> None:
    qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def window(tiny_study, open_window, settled, qtbot):
    """Randomized response at ε = 1 and 2, then the shuffle accountant, in the Compare tab."""
    window = open_window(study="tiny")
    settled(window)
    # The curves have no scalar result: each would be a row.
    window.session.set_look(("tiny", "truth"), PlotView(False, frozenset({"truth", "linear"})))
    ctrl_d(qtbot, window)
    window.session.set_value("eps", 2.0)
    settled(window)
    ctrl_d(qtbot, window)
    window.pages.setCurrentWidget(window.tools["compare"])
    compare = window.tools["compare"]
    qtbot.waitUntil(lambda: len(compare.rows) == 2 and not compare.answers.busy)
    return window


def texts(window, column: int) -> list[str]:
    """Texts of a column without headings."""
    compare = window.tools["compare"]
    return [
        compare.table.item(line, column).text().strip()
        for line, place in enumerate(compare.entry_rows)
        if place is not None
    ]


def headings(window) -> list[str]:
    compare = window.tools["compare"]
    return [
        compare.table.item(line, 0).text()
        for line, place in enumerate(compare.entry_rows)
        if place is None
    ]


def test_numbers_of_two_moments_stand_side_by_side(window, qtbot) -> None:
    assert headings(window) == ["A   ε = 1", "B   ε = 2"]
    assert texts(window, 0) == ["truth", "truth"]
    assert texts(window, VALUE) == ["= 0.7311", "= 0.8808"]
    assert texts(window, COLUMNS.index("Conditions")) == ["✓ 1", "✓ 1"]
    assert window.session.undo_text == "add to comparison"
    # The tool tab stays in front; the current study is unchanged.
    assert window.session.state.study == "tiny"
    assert window.pages.currentWidget() is window.tools["compare"]
    rows = window.tools["compare"].rows
    low, high, log = axis_of(rows)
    assert (low, log) == (0.0, False)
    assert high == max(row.value for row in rows)
    # Everything has a name and room.
    for size in ((1024, 700), (1280, 800)):
        window.resize(*size)
        qtbot.turns()
        assert window.width() == size[0]
        assert check(window) == []
        for bar in (window.tools["compare"].common, window.tools["compare"].bar):
            for child in bar.findChildren(QWidget):
                if child.isVisible() and child.parent() is bar:
                    assert bar.rect().contains(child.geometry()), child
    # The same numbers are added once, and it is reported.
    window.pages.setCurrentWidget(window.workspaces["bounds"])
    ctrl_d(qtbot, window)
    assert len(window.session.state.comparison) == 2
    assert "already" in window.statusBar().currentMessage()


@pytest.mark.main_path
def test_another_study_joins_and_hidden_curves_stay_out(window, settled, qtbot) -> None:
    window.session.set_study("shuffle-rdp")
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    settled(window)
    legend = window.workspaces["bounds"].legend
    assert "cap" not in legend.front  # hidden by default, so it is left out
    hidden = next(key for key in legend.front if key not in ("theorem1", "numerical_upper"))
    legend.row(hidden).check.click()
    ctrl_d(qtbot, window)
    keys = [e.key for e in window.session.state.comparison]
    assert "theorem1" in keys
    assert not {"cap", hidden} & set(keys)
    window.pages.setCurrentWidget(window.tools["compare"])
    qtbot.waitUntil(lambda: not window.tools["compare"].answers.busy)
    (row,) = [
        r
        for r in window.tools["compare"].rows
        if r.statement.startswith("Theorem 1") and "sharp" not in r.statement
    ]
    shown = window.workspaces["bounds"].current_result.readout("theorem1")
    assert row.value == shown.value
    assert row.quantity == "ε privacy after T rounds"
    assert "δ = 10⁻⁸" in row.at
    assert row.reference
    # Different measures have separate axes; settings have headings.
    rows = window.tools["compare"].rows
    assert dots_of(rows, 1).own == 1.0
    assert len(dots_of(rows, 0).others) == 1
    assert max(dots_of(rows, p).own for p in range(2, len(rows)) if dots_of(rows, p)) <= 1.0
    assert len(headings(window)) == 3
    assert headings(window)[2].startswith("C   Shuffle accountant")


def test_a_parameter_is_set_in_all_rows_as_one_step(window, qtbot) -> None:
    bar = window.tools["compare"].common
    assert bar.parameter.currentText() == "ε  privacy · 2 of 2 rows"
    bar.value.setFocus()
    bar.value.selectAll()
    qtbot.keyClicks(bar.value, "0.5")
    qtbot.keyClick(bar.value, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(window.session.state.comparison) == 1)  # now equal
    qtbot.waitUntil(lambda: texts(window, VALUE) == [f"= {1 / (1 + math.exp(-0.5)):.4f}"])
    window.session.undo()
    qtbot.waitUntil(lambda: texts(window, VALUE) == ["= 0.7311", "= 0.8808"])
    bar.value.setText("50")
    bar.value.setModified(True)
    bar.value.editingFinished.emit()
    bar.button.click()
    assert window.tools["compare"].note.isVisible()
    assert "from 0.01 to 10" in window.tools["compare"].note.text()
    assert len(window.session.state.comparison) == 2


def test_rows_are_sorted_moved_and_removed_and_all_is_undone(window, qtbot) -> None:
    table, session = window.tools["compare"].table, window.session
    before = session.state.comparison
    table.horizontalHeader().sectionClicked.emit(VALUE)
    assert session.state.comparison == before
    table.horizontalHeader().sectionClicked.emit(VALUE)
    assert session.state.comparison == before[::-1]
    session.undo()
    table.selectRow(3)
    qtbot.keyClick(table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert session.state.comparison == before[::-1]
    assert window.tools["compare"]._chosen() == [0]
    window.tools["compare"].bar.down.click()
    assert session.state.comparison == before
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert session.state.comparison == before[:1]
    assert not window.tools["compare"].bar.remove.isEnabled()
    window.tools["compare"].bar.empty.click()
    assert window.tools["compare"].empty.isVisible()
    assert not table.isVisible()
    session.undo()
    session.undo()
    assert session.state.comparison == before
    assert texts(window, VALUE) == ["= 0.7311", "= 0.8808"]


def test_copies_and_files_hold_the_numbers(window, qtbot, tmp_path, monkeypatch) -> None:
    compare = window.tools["compare"]
    compare.bar.copied.emit("md")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("| Study | Quantity | Statement | Role | Value |")
    assert "= 0.8808" in lines[3]
    compare.bar.copied.emit("tex")
    latex = QGuiApplication.clipboard().text()
    assert latex.startswith(r"\begin{tabular}")
    assert r"$\varepsilon$ = 1" in latex
    window.menus.actions["copy-numbers"].trigger()
    rows = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text())))
    assert [float(r["value"]) for r in rows] == [r.value for r in compare.rows]
    again = recipe_from_dict(json.loads(rows[1]["recipe"])).request
    assert again["eps"] == 2.0
    path = tmp_path / "mine"
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_: (str(path), "LaTeX table (*.tex)")
    )
    window.menus.actions["export"].trigger()
    assert (tmp_path / "mine.tex").read_text() == latex
    compare.write(tmp_path / "nowhere" / "a.csv")
    assert window.banner.isVisible()


class SecretStudy(TinyStudy):
    """Randomized response with curator-only scalar results and error bars."""

    id = "secret"

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        for result in super().answer(request, context):
            secret = tuple(
                replace(r, curator_only=True, low=0.1, high=0.9) for r in result.readouts
            )
            yield replace(result, readouts=secret)


@pytest.fixture
def secret_study() -> Iterator[None]:
    register(SecretStudy())
    yield
    unregister(SecretStudy.id)


def test_curator_only_numbers_keep_their_stamp(secret_study, window, settled, qtbot) -> None:
    window.session.set_look(("secret", "truth"), PlotView(False, frozenset({"truth", "linear"})))
    window.session.set_study("secret")
    settled(window)
    ctrl_d(qtbot, window)
    window.pages.setCurrentWidget(window.tools["compare"])
    stamp = COLUMNS.index("Stamp")
    # The request was submitted a moment ago and is not busy yet.
    qtbot.waitUntil(lambda: texts(window, stamp) == ["", "", "curator only"])
    qtbot.waitUntil(lambda: not window.tools["compare"].answers.busy)
    assert not window.tools["compare"].table.isColumnHidden(stamp)
    assert texts(window, COLUMNS.index("Error bar"))[2] == "0.1 … 0.9"
    for fmt in ("md", "tex", "csv"):
        window.tools["compare"].copy(fmt)
        assert "curator only" in QGuiApplication.clipboard().text()


def test_rows_that_cannot_be_computed_say_why_and_update_all_tries_again(
    window, qtbot, moon
) -> None:
    moon.touch()
    window.tools["compare"].common.wanted.emit("eps", 0.25)
    qtbot.waitUntil(lambda: "moon" in window.tools["compare"].rows[0].missing)
    assert "moon" in window.tools["compare"].table.item(1, VALUE).toolTip()
    moon.unlink()
    window.tools["compare"].common.update_all.click()
    qtbot.waitUntil(lambda: texts(window, VALUE) == ["= 0.5622"])


def test_a_long_update_is_cancelled(window, qtbot) -> None:
    slow = tuple(
        replace(e, request=e.request.with_value("slow", True).with_value("eps", 0.3 + i))
        for i, e in enumerate(window.session.state.comparison * 2)
    )
    window.session.set_comparison(slow, "slow")
    assert window.tools["compare"].answers.busy
    window.activity.cancel()
    assert not window.tools["compare"].answers.busy
    assert "cancelled" in window.tools["compare"].rows[-1].missing
    window.tools["compare"].common.update_all.click()
    qtbot.waitUntil(lambda: all(row.value is not None for row in window.tools["compare"].rows))


def test_the_comparison_comes_back(window, open_window, settled, qtbot) -> None:
    kept = window.session.state.comparison
    window.close()
    again = open_window()
    settled(again)
    assert again.session.state.comparison == kept
    again.pages.setCurrentWidget(again.tools["compare"])
    qtbot.waitUntil(lambda: texts(again, VALUE) == ["= 0.7311", "= 0.8808"])


def test_the_smaller_bound_is_named_and_whether_that_is_proved(open_window, settled, qtbot) -> None:
    window = open_window(study="shuffle-rdp")
    window.session.set_value("T", 2000)
    settled(window)
    ctrl_d(qtbot, window)
    compare = window.tools["compare"]
    for k in (4000, 1100):
        window.session.set_value("k", k)
        settled(window)
        ctrl_d(qtbot, window)
        window.pages.setCurrentWidget(window.tools["compare"])
        qtbot.waitUntil(lambda: not compare.answers.busy)
        assert [g.title for g in group_rows(compare.rows).groups] == [
            "k = 1,000 clients",
            f"k = {k:,} clients",
        ]
        said = compare.verdict.text()
        assert said.startswith("A has the smaller bound: ")
        assert ("Proved" in said) == (k == 4000)
        assert "k =" not in compare.common_line.text()
        assert "T = 2,000 rounds" in compare.common_line.text()
        window.pages.setCurrentWidget(window.workspaces["bounds"])
        window.session.undo()
        window.session.undo()
