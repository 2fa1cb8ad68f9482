"""Tasks of new users in the window, with mouse and keyboard in few steps.

A step is a click, a drag, a typed value, a key chord or a choice in a list or file dialog. The
number of steps per task was fixed before the window was designed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from explorer.studies.base.claims import BEST_CLAIM
from explorer.studies.heatmap.parameters import ERROR, TRUE
from explorer.ui.dialogs.open_checkins import MappingDialog
from tests.ui.access import bare
from tests.ui.small_map import SMALL_MAP


class Steps:
    """A user whose steps are counted."""

    def __init__(self, qtbot) -> None:
        self.qtbot, self.taken = qtbot, 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        assert widget.isVisible()
        assert widget.isEnabled()
        self.taken += 1
        at = widget.rect().center() if at is None else at
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)

    def pick(self, button: QToolButton, words: str) -> None:
        """Open the modal menu of a button and choose an entry."""

        def choose() -> None:
            menu = button.menu()
            found = next(a for a in menu.actions() if a.text().replace("&", "").startswith(words))
            self.click(menu, menu.actionGeometry(found).center())

        QTimer.singleShot(0, choose)
        self.click(button)

    def type(self, field: QLineEdit, text: str, end: Qt.Key | None = Qt.Key.Key_Return) -> None:
        """Replace the text of a field, reached by Tab or already focused."""
        assert field.isVisible()
        self.taken += 1
        self._activate(field.window())
        field.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClicks(field, text)
        if end is not None:
            QTest.keyClick(field, end)

    def chord(self, window: QWidget, keys: str) -> None:
        self.taken += 1
        self._activate(window)
        QTest.keySequence(window.focusWidget() or window, QKeySequence(keys))

    def _activate(self, window: QWidget) -> None:
        window.activateWindow()
        self.qtbot.waitUntil(window.isActiveWindow)

    def choose(self, box: QComboBox, words: str) -> None:
        """Choose in a list by first letters."""
        assert box.isVisible()
        assert box.isEnabled()
        self.taken += 1
        box.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClicks(box, words)
        assert box.currentText().startswith(words)

    def files(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        """Choose a file when the system dialog opens."""

        def chosen(answer: object) -> Callable[..., tuple[object, str]]:
            def ask(*_: object) -> tuple[object, str]:
                self.taken += 1
                return answer, ""

            return ask

        monkeypatch.setattr(QFileDialog, "getOpenFileNames", chosen([str(path)]))
        monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen(str(path)))

    @contextmanager
    def at_most(self, most: int) -> Iterator[None]:
        before = self.taken
        yield
        assert self.taken - before <= most


@pytest.fixture
def steps(qtbot) -> Steps:
    return Steps(qtbot)


def on_start(window, words: str) -> QPushButton:
    """Show the start page and return one of its buttons."""
    if not window.start.shown:
        window.show_all()
    return next(b for b in window.start.page.findChildren(QPushButton) if bare(b) == words)


def field(window, key: str) -> QLineEdit:
    return window.parameters.row(key).field


def said_number(text: str) -> float:
    """Return the number in a headline such as ``ε ≤ 0.2078``."""
    found = re.search(r"[≤≥=≈]\s*([\d.,]+)", text)
    assert found, text
    return float(found[1].replace(",", ""))


def german_checkins(path: Path) -> Path:
    """Write check-ins around Vienna in German spreadsheet format."""
    rows = ["Benutzer;Breitengrad;Längengrad;Zeitpunkt"]
    for user in range(60):
        for visit in range(12):
            lat = 48.2 + 0.08 * math.sin(7.1 * user + 0.4 * visit)
            lon = 16.37 + 0.1 * math.cos(3.3 * user + 0.9 * visit)
            when = f"{1 + visit:02d}.{1 + user % 12:02d}.2024 {8 + visit}:{user % 60:02d}"
            place = f"{lat:.5f};{lon:.5f}".replace(".", ",")
            rows.append(f"u{user};{place};{when}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.main_path
def test_check_ins_from_the_first_page_to_a_second_mechanism(
    open_window, qtbot, steps, tmp_path, monkeypatch
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP, start_page=True)

    # 1: see the sample as a private map.
    with steps.at_most(1):
        steps.click(on_start(window, "Try the synthetic sample"))
        qtbot.waitUntil(lambda: not window.start.shown)
        page = window.workspaces["map"]
        qtbot.waitUntil(lambda: page.answer.number.text().endswith(" km"))
    assert page.panes.keys == ("true", "private", "difference")
    assert "one noisy map" in page.answer.text.text()
    assert page.answer.badge.isVisible()

    # 3: find the ε for 1 km. 4: set it.
    with steps.at_most(2):
        tabs = page.tools.tabs
        steps.click(tabs, tabs.tabRect(1).center())
        view = page.utility.view
        steps.type(view.parts.field, "1")
        qtbot.waitUntil(view.parts.use.isEnabled)
    assert re.match(r"ε (≈|≤) [\d.]+$", page.answer.number.text())
    assert "9 of 10 maps" in page.answer.text.text()
    found = said_number(page.answer.number.text())
    with steps.at_most(1):
        steps.click(view.parts.use)
    assert window.session.request("heatmap")["epsilon"] == pytest.approx(found, rel=0.01)

    # 5: put a second mechanism beside it. 6: see the error per cell.
    with steps.at_most(3):
        steps.click(tabs, tabs.tabRect(0).center())
        steps.pick(page.add_button, "Laplace")
    assert len(page.panes.keys) == 4
    with steps.at_most(2):
        steps.pick(page.add_button, "Error per cell")
    assert page.beside.names[-1] == ERROR
    assert page.beside.names[0] == TRUE

    # 2: open a German table.
    path = german_checkins(tmp_path / "Aufenthalte.csv")
    steps.files(monkeypatch, path)
    button = on_start(window, "Open check-ins…")
    with steps.at_most(3):
        steps.click(button)
        qtbot.waitUntil(
            lambda: window.data.current.basename == path.name or window.findChild(MappingDialog)
        )
        asked = window.findChild(MappingDialog)
        if asked is not None:
            steps.click(asked.load_button)
        qtbot.waitUntil(lambda: not window.start.shown)
    assert window.data.current.basename == path.name
    page = window.workspaces["map"]
    qtbot.waitUntil(lambda: page.users.label.text() == "All 60 users")


def test_numbers_of_a_training_from_the_first_page_to_a_reviewer(
    open_window, settled, qtbot, steps, tmp_path, monkeypatch
) -> None:
    window = open_window(study="shuffle-rdp", start_page=True)
    bounds = window.workspaces["bounds"]
    window.session.set_sweep(replace(window.session.request().sweep, points=9))  # is quicker

    # 7: ε of my training.
    with steps.at_most(5):
        steps.click(on_start(window, "Start with your numbers"))
        assert window.focusWidget() is field(window, "n")
        for key, value in (("n", "50000"), ("k", "1000"), ("T", "2000"), ("eps0", "1.5")):
            steps.type(field(window, key), value)
    settled(window)
    assert dict(window.current_result.request.values)["k"] == 1000
    answer = bounds.answer
    best = said_number(answer.number.text())
    assert "right at most" in answer.text.text()

    # 10: name the tightest curve and its value: both are there.
    with steps.at_most(0):
        rows = [
            row for row in bounds.legend.rows.values() if row.tag.text() == BEST_CLAIM["bounds"]
        ]
    assert [row.label.text() for row in rows if row.label.isVisible()] == ["exact clones 2021"]
    assert said_number(rows[0].value.text()) == best

    # 11: read all values at another T.
    before = {key: row.value.text() for key, row in bounds.legend.rows.items()}
    with steps.at_most(1):
        steps.type(field(window, "T"), "500")
    settled(window)
    assert bounds.legend.here.text().startswith("Values at T = 500")
    shown = {k: r for k, r in bounds.legend.rows.items() if r.label.isVisible()}
    assert len(shown) >= 3
    assert all(row.value.text() not in ("", before[key]) for key, row in shown.items())

    # 9: claim Theorem 1 instead.
    with steps.at_most(2):
        steps.pick(answer.claim, "Theorem 1 (Rényi)")
    settled(window)
    assert answer.claim.text() == "Theorem 1 (Rényi)"
    assert said_number(answer.number.text()) > best / 10
    assert bounds.legend.row("theorem1").tag.text() == "claimed"
    window.session.undo()

    # 8: the ε₀ for ε = 1.
    with steps.at_most(3):
        steps.chord(window, "Ctrl+L")
        steps.type(bounds.solve_bar.target, "1")
        qtbot.waitUntil(lambda: not bounds.solving.busy)
        settled(window)
    assert said_number(answer.number.text()) == pytest.approx(1, rel=1e-3)
    assert said_number(answer.number.text()) <= 1
    assert "ε₀ = " in bounds.solve_bar.message.text()

    # 17: give a reviewer the guarantee.
    QGuiApplication.clipboard().clear()
    with steps.at_most(1):
        steps.click(window.guarantee.copy)
        qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    review = QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()  # off screen it lives longer than the interpreter
    for words in ("Claimed: ε ≤ ", "(ε, δ) = ", "δ = 10⁻⁸", "replace one: ", "add or remove one: "):
        assert words in review, words

    # 15: compare k = 500 with 2,000.
    with steps.at_most(4):
        steps.type(field(window, "k"), "500")
        settled(window)
        steps.chord(window, "Ctrl+D")
        steps.type(field(window, "k"), "2000")
        settled(window)
        steps.chord(window, "Ctrl+Shift+D")
    compare = window.tools["compare"]
    assert window.pages.currentWidget() is compare
    qtbot.waitUntil(lambda: bool(compare.rows) and not any(row.missing for row in compare.rows))
    lines = (line for line, place in enumerate(compare.entry_rows) if place is None)
    first, second = (compare.table.item(line, 0).text() for line in lines)
    assert "k = 500" in first
    assert "k = 2,000" in second
    assert compare.verdict.isVisible()

    # 16: a PDF for a column of a paper.
    window.show_study("shuffle-rdp")
    path = tmp_path / "column.pdf"
    steps.files(monkeypatch, path)
    with steps.at_most(5):
        steps.chord(window, "Ctrl+E")
        dialog = window.output.dialog
        qtbot.waitUntil(dialog.isVisible)
        steps.choose(dialog.format, "PDF")
        steps.choose(dialog.preset, "Paper column")
        with qtbot.waitSignal(window.output.controller.done):
            steps.click(dialog.save)
    box = PdfReader(path).pages[0].mediabox
    millimetres = [float(side) * 25.4 / 72 for side in (box.width, box.height)]
    assert millimetres == pytest.approx([88, 62], abs=0.5)


@pytest.mark.main_path
def test_a_figure_from_the_first_page_and_back_to_it(open_window, settled, qtbot, steps) -> None:
    window = open_window(study="shuffle-rdp", start_page=True)

    # 12: open Figure 2 (a).
    with steps.at_most(3):
        steps.click(on_start(window, "Browse the figures"))
        figures = window.tools["figures"]
        assert window.pages.currentWidget() is figures
        steps.type(figures.filters.words, "figure 2 (a) 14×", None)
        qtbot.waitUntil(lambda: not figures.listing)
        steps.click(figures.detail.open)
    settled(window)
    note = window.workspaces["bounds"].preset_note

    # 13: say why “14×” differs: it is there.
    with steps.at_most(0):
        assert note.isVisible()
        words = note.words.text()
    assert "14×" in words
    assert "14.26: a factor" in words
    drawn = {s.key for s in window.current_result.series} - window.workspaces["bounds"].plot.hidden
    assert drawn == {"theorem1", "clones_closed", "unamplified", "lower_rdp"}

    # 14: change ε₀ and go back to the figure.
    asked = window.session.request()
    with steps.at_most(2):
        steps.type(field(window, "eps0"), "1.5")
        assert "changed: ε₀" in note.words.text()
        steps.click(note.back)
    assert window.session.request() == asked
    assert "changed" not in note.words.text()
