"""A parameter that runs over its range by itself, never faster than answers come."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.grid_answer import SIMULATION, simulated
from explorer.studies.base.study import Parameter, Result, Value, parameter
from explorer.studies.registry import get_study
from explorer.ui.base.any_input import AnyInput
from explorer.ui.widgets.parameter_row import NumberRow

SPAN_S = 6.0
"""Seconds for the whole range."""
FRAME_S = 0.04
"""Shortest time between two values."""
LONGEST_STEP_S = 0.1
"""Where answers are slower than this, the run takes longer rather than leave values out."""
SPEEDS = ((0.5, "Half the speed"), (1.0, "The range in 6 s"), (2.0, "Twice the speed"))
SIMULATED = "What is simulated takes too long to run by itself"


class Way(StrEnum):
    """How a parameter runs."""

    ONCE = "once"
    """To the high end, to the low one, and back to where it began."""
    LOOP = "loop"
    """From low to high, again and again."""
    TO_AND_FRO = "to and fro"
    """There and back, again and again."""


WAYS = {
    Way.ONCE: "Once, there and back",
    Way.LOOP: "Loop, from low to high",
    Way.TO_AND_FRO: "To and fro, until stopped",
}


class RangePlay(QObject):
    """Lets parameters run, one at a time: each value is set when the one before is answered.

    Any click, key or turn of the wheel stops it, and so does any other change of the session. All
    of a run is one step to undo.

    Parameters
    ----------
    session : Session
    panel : QWidget
        Has the rows.

    Attributes
    ----------
    way : Way
    speed : float
        Whole ranges in `SPAN_S` seconds.
    """

    def __init__(self, session: Session, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self._session = session
        self.way, self.speed = Way.ONCE, 1.0
        self._rows: dict[tuple[str, str], NumberRow] = {}
        self._running: tuple[str, str] | None = None
        self._runs = 0
        self._waits_for: Value | None = None
        self._setting = False
        self._place = self._travelled = self._asked_at = 0.0
        self._began: Value = 0.0
        self._direction = 1
        self._input = AnyInput(self)
        self._input.came.connect(self.stop)
        self._next = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._next.timeout.connect(self._step)
        session.changed.connect(self._changed)

    @property
    def running(self) -> str:
        """Key of the parameter that runs; empty if none does."""
        return self._running[1] if self._running is not None else ""

    def add(self, study_id: str, row: NumberRow) -> None:
        """Let the button of a row start and stop its parameter."""
        key = (study_id, row.parameter.key)
        self._rows[key] = row
        row.run.setVisible(row.parameter.group != SIMULATION)
        row.run.toggled.connect(partial(self._toggled, key))
        row.run.menu_wanted.connect(self._choose)

    def show_result(self, result: Result) -> None:
        """Take an answer of the study in front: the value after the one it answers may be set."""
        asked = result.request
        why = SIMULATED if any(map(simulated, result.series)) else ""
        for (study_id, _), row in self._rows.items():
            if study_id == asked.study:
                row.run.refuse(why)
        if self._running is None or self._running[0] != asked.study or self._waits_for is None:
            return
        if why:
            self.stop()
        elif asked[self._running[1]] == self._waits_for:
            self._waits_for = None
            rest = FRAME_S - (time.perf_counter() - self._asked_at)
            self._next.start(max(0, round(1e3 * rest)))

    def stop(self) -> None:
        """Stop where it is, if anything runs."""
        if self._running is None:
            return
        row, self._running = self._rows[self._running], None
        self._waits_for = None
        self._next.stop()
        self._input.rest()
        self._session.end_gesture()
        row.run.setChecked(False)

    def _toggled(self, which: tuple[str, str], on: bool) -> None:
        if not on:
            if which == self._running:
                self.stop()
            return
        self.stop()
        self._running = which
        self._runs += 1
        p, self._began = self._parameter(), self._session.state.request_of(which[0])[which[1]]
        assert not isinstance(self._began, str)
        self._place, self._travelled, self._direction = p.place_of(self._began), 0.0, 1
        self._input.watch(self._rows[which].run)
        self._asked_at = time.perf_counter()
        self._next.start(round(1e3 * FRAME_S))

    def _parameter(self) -> Parameter:
        assert self._running is not None
        return parameter(get_study(self._running[0]), self._running[1])

    def _step(self) -> None:
        """Set the next value, or stop at the end."""
        if self._running is None:
            return
        now = time.perf_counter()
        self._move(min(now - self._asked_at, LONGEST_STEP_S) * self.speed / SPAN_S)
        self._asked_at = now
        done = self.way is Way.ONCE and self._travelled >= 2.0
        study_id, key = self._running
        value = self._began if done else self._parameter().at_place(self._place)
        if value != self._session.state.request_of(study_id)[key]:
            self._waits_for = value
            self._setting = True
            try:
                self._session.set_value(key, value, study_id, f"run {study_id} {key} {self._runs}")
            finally:
                self._setting = False
        if done:
            self.stop()
        elif self._waits_for is None:  # a whole number stays for a while
            self._next.start(round(1e3 * FRAME_S))

    def _move(self, way: float) -> None:
        """Go on so far, and turn at the ends: both are shown."""
        at_end = self._place >= 1.0 if self._direction > 0 else self._place <= 0.0
        if at_end and self.way is Way.LOOP:
            self._place, self._direction = 0.0, 1
            return
        if at_end:
            self._direction = -self._direction
        before = self._place
        self._place = min(max(before + self._direction * way, 0.0), 1.0)
        self._travelled += abs(self._place - before)

    def _changed(self, *_: object) -> None:
        """Stop where something else changes what is asked."""
        if not self._setting:
            self.stop()

    def menu(self) -> QMenu:
        """Return how a parameter can run, to choose from."""
        menu = QMenu(self._panel)
        for now, offered in (
            (self.way, tuple(WAYS.items())),
            (self.speed, SPEEDS),
        ):
            group = QActionGroup(menu)
            for value, words in offered:
                action = QAction(words, menu, checkable=True, checked=value == now)
                action.triggered.connect(partial(self._take, value))
                group.addAction(action)
                menu.addAction(action)
            menu.addSeparator()
        return menu

    def _take(self, value: Way | float, _checked: bool = False) -> None:
        if isinstance(value, Way):
            self.way = value
        else:
            self.speed = value

    def _choose(self, where: QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(where)
