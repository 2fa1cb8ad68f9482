"""Animates a parameter or the time range, never faster than answers arrive."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from explorer.engine.session.session import Session
from explorer.studies.base.grid import SIMULATION, simulated
from explorer.studies.base.study import Request, Result, Value
from explorer.ui.base.playback import InputWatcher, RunButton
from explorer.ui.widgets.parameter_rows import NumberRow

SPAN_S = 6.0
"""Duration of a full range in seconds."""
FRAME_S = 0.04
"""Shortest time between two values."""
LONGEST_STEP_S = 0.1
"""If results take longer than this, the animation slows down rather than skip values."""
SPEEDS = ((0.5, "Half the speed"), (1.0, "The range in 6 s"), (2.0, "Twice the speed"))
SIMULATED = "What is simulated takes too long to run by itself"


class Way(StrEnum):
    """Direction of the animation."""

    ONCE = "once"
    """To the high end, to the low end, and back to the start."""
    LOOP = "loop"
    """From low to high, repeatedly."""
    TO_AND_FRO = "to and fro"
    """Back and forth, repeatedly."""


PLAYBACK_NAMES = {
    Way.ONCE: "Once, there and back",
    Way.LOOP: "Loop, from low to high",
    Way.TO_AND_FRO: "To and fro, until stopped",
}


class Track(Protocol):
    """Something that can be animated over places from 0 to 1.

    Attributes
    ----------
    study : str
        Study whose results it waits for; empty for any.
    key : str
    button : RunButton
        Button that starts and stops it.
    """

    study: str
    key: str
    button: RunButton

    def value(self, request: Request) -> object:
        """Return its value in a request."""

    def begin(self, value: object) -> float:
        """Return the place of its initial value."""

    def at(self, place: float) -> object:
        """Return the value at a place."""

    def ask(self, value: object, gesture: str) -> None:
        """Set a value; a gesture is one undo step."""

    def refuse(self, why: str) -> None:
        """Disable the animation with a reason; an empty reason enables it."""


class _OfParameter:
    """A parameter of a study."""

    def __init__(self, session: Session, study_id: str, row: NumberRow) -> None:
        self._session, self._p = session, row.parameter
        self.study, self.key, self.button = study_id, row.parameter.key, row.run
        self.refuse = row.run.refuse

    def value(self, request: Request) -> object:
        return request[self.key]

    def begin(self, value: object) -> float:
        assert isinstance(value, int | float)
        return self._p.place_of(value)

    def at(self, place: float) -> Value:
        return self._p.at_place(place)

    def ask(self, value: object, gesture: str) -> None:
        assert isinstance(value, int | float)
        self._session.set_value(self.key, value, self.study, gesture)


class RangePlay(QObject):
    """Runs one animation at a time: a value is set when the result for the one before has arrived.

    Any input or other change of the session stops it. A run is one undo step.

    Parameters
    ----------
    session : Session
    panel : QWidget
        Contains the buttons.

    Attributes
    ----------
    way : Way
    speed : float
        Full ranges per `SPAN_S` seconds.
    """

    def __init__(self, session: Session, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self._session = session
        self.way, self.speed = Way.ONCE, 1.0
        self._tracks: list[Track] = []
        self._running: Track | None = None
        self._runs = 0
        self._refused: object = None
        """Study, number of tracks, and why they are refused."""
        self._waits_for: object = None
        self._setting = False
        self._place = self._travelled = self._asked_at = 0.0
        self._began: object = None
        self._direction = 1
        self._input = InputWatcher(self)
        self._input.input_received.connect(self.stop)
        self._next = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._next.timeout.connect(self._step)
        session.changed.connect(self._changed)

    @property
    def running(self) -> str:
        """Key of the running animation; empty for none."""
        return self._running.key if self._running is not None else ""

    def add(self, study_id: str, row: NumberRow) -> None:
        """Connect the button of a row to its parameter."""
        row.run.setVisible(row.parameter.group != SIMULATION)
        self.add_track(_OfParameter(self._session, study_id, row))

    def add_track(self, track: Track) -> None:
        """Connect a button to an animation."""
        self._tracks.append(track)
        track.button.toggled.connect(partial(self._toggled, track))
        track.button.menu_requested.connect(self._choose)

    def show_result(self, result: Result) -> None:
        """Handle a result of the current study: the next value may be set."""
        request = result.request
        why = SIMULATED if any(map(simulated, result.series)) else ""
        refused = (request.study, len(self._tracks), why)
        if refused != self._refused:
            self._refused = refused
            for track in self._tracks:
                if track.study in ("", request.study):
                    track.refuse(why)
        running = self._running
        if running is None or running.study not in ("", request.study) or self._waits_for is None:
            return
        if why:
            self.stop()
        elif running.value(request) == self._waits_for:
            self._waits_for = None
            rest = FRAME_S - (time.perf_counter() - self._asked_at)
            self._next.start(max(0, round(1e3 * rest)))

    def stop(self) -> None:
        """Stop a running animation at its present value."""
        if self._running is None:
            return
        track, self._running = self._running, None
        self._waits_for = None
        self._next.stop()
        self._input.rest()
        self._session.end_gesture()
        track.button.setChecked(False)

    def _asked(self, track: Track) -> object:
        """Return the present value."""
        return track.value(self._session.request(track.study or None))

    def _toggled(self, track: Track, on: bool) -> None:
        if not on:
            if track is self._running:
                self.stop()
            return
        self.stop()
        self._running = track
        self._runs += 1
        self._began = self._asked(track)
        self._place, self._travelled, self._direction = track.begin(self._began), 0.0, 1
        self._input.watch(track.button)
        self._asked_at = time.perf_counter()
        self._next.start(round(1e3 * FRAME_S))

    def _step(self) -> None:
        """Set the next value, or stop at the end."""
        if self._running is None:
            return
        now = time.perf_counter()
        self._move(min(now - self._asked_at, LONGEST_STEP_S) * self.speed / SPAN_S)
        self._asked_at = now
        done = self.way is Way.ONCE and self._travelled >= 2.0
        track = self._running
        value = self._began if done else track.at(self._place)
        if value != self._asked(track):
            self._waits_for = value
            self._setting = True
            try:
                track.ask(value, f"run {track.study} {track.key} {self._runs}")
            finally:
                self._setting = False
        if done:
            self.stop()
        elif self._waits_for is None:  # integers repeat for a while
            self._next.start(round(1e3 * FRAME_S))

    def _move(self, way: float) -> None:
        """Advance by a distance and reverse at the ends, both of which are shown."""
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
        """Stop when the request changes for another reason."""
        if not self._setting:
            self.stop()

    def menu(self) -> QMenu:
        """Return the menu of directions."""
        menu = QMenu(self._panel)
        for now, offered in (
            (self.way, tuple(PLAYBACK_NAMES.items())),
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
