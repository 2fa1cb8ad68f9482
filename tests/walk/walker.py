"""Drives the real window through a study by its own widgets and notes what goes wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Kind, Parameter, Request, Result, Value
from explorer.studies.registry import get_study
from tests.waiting import time_limit
from tests.walk import rules
from tests.walk.asking import THOROUGH

LONGEST_MS = 120_000
PATIENCE_S = 600.0 if THOROUGH else 0.1
"""How long a simulation that tells its progress is watched."""


class Walker:
    """A window with a study in front.

    Attributes
    ----------
    wrong : list of str
        One sentence a finding, with where it was found; a walk is well if none is left.
    """

    def __init__(self, window, qtbot, study_id: str) -> None:
        self.window, self.qtbot = window, qtbot
        self.study = get_study(study_id)
        self.wrong: list[str] = []
        self._failures: list[Exception] = []
        self.controller = window.answers[self.study.workspace]
        for controller in window.answers.values():
            controller.failed.connect(self._failures.append)
        qtbot.waitUntil(lambda: window.data.current is not None, timeout=LONGEST_MS)
        self.rest()

    def rest(self) -> None:
        """Wait until nothing is computed; a long simulation is stopped on its way."""
        enough = time.monotonic() + PATIENCE_S

        def done() -> bool:
            return not self.window.busy or (time.monotonic() > enough and self._on_its_way())

        self.qtbot.waitUntil(done, timeout=int(1000 * PATIENCE_S) + LONGEST_MS)
        if self.window.busy:
            self.controller.cancel()
            self.qtbot.waitUntil(lambda: not self.window.busy, timeout=LONGEST_MS)

    def _on_its_way(self) -> bool:
        result = self.window.current_result
        return (
            result is not None
            and result.request == self.controller.request
            and result.progress is not None
        )

    def ask(self, request: Request) -> None:
        """Put a whole question, as presets and recipes do."""
        selection = self.window.session.state.selection if self.study.needs_data else None
        self.window.session.follow(replace(request, selection=selection), text="walk")

    def look(self, where: str) -> Result | None:
        """Wait for the answer and hold what is on the screen against all rules."""
        self.rest()
        window = self.window
        found = [f"no answer: {type(e).__name__}: {e}" for e in self._failures]
        result = window.current_result
        if not found:
            if result is None or result.request != self.controller.request:
                found.append("what is shown is not the answer to what is asked")
            elif not result.complete and result.progress is None:
                found.append("the answer is not complete")
        if window.banner.isVisible():
            found.append(f"the banner says “{window.banner.text.text()}”")
        if not found:
            found += rules.of_result(result)
            if self.study.workspace == "bounds":
                found += rules.of_plot(window.workspaces["bounds"].plot, result)
            elif window.workspace.grab().isNull():
                found.append("no picture")
            found += rules.of_texts(window)
        self._failures.clear()
        window.banner.hide()
        self.wrong += [f"{where}: {text}" for text in found]
        return None if found else result

    def move(self, p: Parameter, value: Value) -> None:
        """Set a parameter as a user does: slider to its ends, typed numbers, choices, clicks."""
        row = self.window.parameters.row(p.key)
        if p.numeric and value in (p.clamp(p.low), p.clamp(p.high)):
            key = Qt.Key.Key_Home if value == p.clamp(p.low) else Qt.Key.Key_End
            QTest.keyClick(row.slider, key)
            row.gesture_ended.emit()
        elif p.numeric:
            row.field.setText(format_number(value))
            row.field.setModified(True)
            QTest.keyClick(row.field, Qt.Key.Key_Return)
        elif p.kind is Kind.CHOICE:
            place = row.box.findData(value)
            row.box.setCurrentIndex(place)
            row.box.activated.emit(place)
        elif p.kind is Kind.TABLE:
            row.field.setPlainText(str(value))
            row.button.click()
        elif p.kind is Kind.FLAG and row.box.isChecked() != value:
            row.box.click()

    def settled_findings(self, rule: Callable[[QWidget], Iterator[str]]) -> list[str]:
        """Return what a rule finds wrong with the window after its layouts have settled.

        They settle over some turns of the event loop; what is still wrong after 5 s is wrong.
        """
        end = time.monotonic() + time_limit(5.0)
        self.qtbot.wait(20)
        while (found := list(dict.fromkeys(rule(self.window)))) and time.monotonic() < end:
            self.qtbot.wait(50)
        return found

    def expect(self, ok: bool, what: str) -> None:
        """Note what does not hold."""
        if not ok:
            self.wrong.append(what)

    def end(self) -> None:
        """Fail with all that was found."""
        if self.wrong:
            pytest.fail("\n".join(dict.fromkeys(self.wrong)), pytrace=False)
