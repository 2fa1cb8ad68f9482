"""Card of the open check-ins and choice of the region, in the left column of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtGui import QAction, QFont, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from explorer.engine.session.session import Session, SessionState
from explorer.geography.region import Region, points_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Result, Selection
from explorer.ui.base.styled import plain_label, plain_tip
from explorer.ui.controllers.data_controller import DataController
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel

if TYPE_CHECKING:
    from explorer.checkins import Progress

CARD_HEIGHT, LINK_HEIGHT = 90, 20
_MENU_STYLE = (
    "QPushButton { background: transparent; border: 1px solid transparent; padding: 0px; "
    "margin-left: -1px; text-align: left; } "
    "QPushButton:focus { border-color: palette(highlight); } "
    "QPushButton::menu-indicator { image: none; width: 0px; }"
)
PEOPLE, CHECKINS = "users_used", "checkins"
"""Scalar results shown in the card."""
TIME, USERS = "time", "users"
"""Parts of the data panel to which the card leads."""


def region_words(region: Region) -> str:
    """Return what a region is: ``Polygon, 9 points``, or 3 rings, or ``Box, 20.2 × 26.7 km``."""
    if len(region.rings) > 1:
        return f"Polygon, {len(region.rings):,} rings"
    if region.rings:
        return f"Polygon, {points_of(region)}"
    wide, high = region.sides
    return f"Box, {nearest(wide)} × {nearest(high)} {region.unit}"


class _Map(Protocol):
    """Part of the map that chooses regions."""

    region_action: QAction
    polygon_action: QAction
    points_action: QAction
    outline_action: QAction
    box_action: QAction

    @property
    def result_shown(self) -> SignalInstance: ...
    def edit_polygon(self) -> None: ...
    def use_all_users(self) -> None: ...


def _link(text: str, name: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("link")
    button.setStyleSheet("font-weight: normal;")
    button.setAccessibleName(name)
    button.setToolTip(tip)
    button.setFixedHeight(LINK_HEIGHT)
    return button


class RegionBox(QWidget):
    """Region of the map, with other ways to choose it.

    Signals
    -------
    sides_requested()
        Show the fields of the sides of a box.
    """

    sides_requested = Signal()

    def __init__(self, session: Session, tools: _Map) -> None:
        super().__init__()
        self._session, self._tools = session, tools
        self.choice = ChoiceBox("Region")
        self.choice.setToolTip("The region that is counted, and other ways to choose one")
        self.choice.activated.connect(self._choose)
        label = plain_label("Region")
        label.setBuddy(self.choice)
        self.edit = _link(
            "Edit", "Edit the region", "Change the corners of the polygon, or the sides of the box"
        )
        self.edit.clicked.connect(self._edit)
        self.links = [self.edit]
        for text, action in (
            ("Type points…", tools.points_action),
            ("From file…", tools.outline_action),
        ):
            link = _link(text, action.text().replace("&", ""), action.toolTip())
            link.clicked.connect(action.trigger)
            link.setEnabled(action.isEnabled())
            action.enabledChanged.connect(link.setEnabled)
            self.links.append(link)
        row = QHBoxLayout()
        row.setSpacing(4)
        for link in self.links:
            row.addWidget(link)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 4)
        column.setSpacing(3)
        column.addWidget(label)
        column.addWidget(self.choice)
        column.addLayout(row)
        session.changed.connect(self._changed)
        self._show(session.state.selection)

    def stops(self) -> list[QWidget]:
        """Return the widgets at which Tab stops, in order."""
        return [self.choice, *self.links]

    def close_box(self) -> None:
        """Stop following the session."""
        self._session.changed.disconnect(self._changed)

    def _changed(self, state: SessionState, old: SessionState) -> None:
        if state.selection != old.selection:
            self._show(state.selection)

    def _show(self, selection: Selection | None) -> None:
        self.choice.setEnabled(selection is not None)
        self.edit.setEnabled(selection is not None)
        items = [("", "No check-ins" if selection is None else region_words(selection.region))]
        tools = self._tools
        self._actions = {
            "box": ("Draw a box…", tools.region_action),
            "polygon": ("Draw a polygon…", tools.polygon_action),
            "outer": ("Box around the polygon", tools.box_action),
        }
        for key, (text, action) in self._actions.items():
            if action.isEnabled():
                items.append((key, text))
        self.choice.offer(items, "")

    def _choose(self, _index: int) -> None:
        key = self.choice.currentData()
        self.choice.setCurrentIndex(0)  # until another region is chosen
        if key:
            self._actions[key][1].trigger()

    def _edit(self) -> None:
        selection = self._session.state.selection
        if selection is not None and selection.region.rings:
            self._tools.edit_polygon()
        else:
            self.sides_requested.emit()


class DataCard(QFrame):
    """Which check-ins are open, and how many people and check-ins of them are in the map.

    Signals
    -------
    open_requested()
    part_requested(str)
        Show a part of the data panel: `TIME` or `USERS`.
    """

    open_requested = Signal()
    part_requested = Signal(str)

    def __init__(self, session: Session, data: DataController, tools: _Map) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName("Check-ins")
        self.setFixedHeight(CARD_HEIGHT)
        self._session, self._data = session, data
        self._people: float | None = None
        self.file = FixedSizeLabel()
        font = QFont(self.file.font())
        font.setBold(True)
        self.file.setFont(font)
        self.open = _link("Open…", "Open check-ins", "Open another file of check-ins")
        self.open.clicked.connect(self.open_requested)
        self.people = QPushButton()
        self.people.setAccessibleName("People in the map")
        self.people.setToolTip("Which people are in the map")
        self.people.setStyleSheet(_MENU_STYLE)
        menu = QMenu(self)
        self.all_action = menu.addAction("All people")
        self.all_action.triggered.connect(lambda *_: tools.use_all_users())
        self.sample_action = menu.addAction("A sample of people…")
        self.sample_action.triggered.connect(lambda *_: self.part_requested.emit(USERS))
        for action in (self.all_action, self.sample_action):
            action.setCheckable(True)
        menu.aboutToShow.connect(self._tick)
        self.people.setMenu(menu)
        self.counts, self.times = FixedSizeLabel(), FixedSizeLabel(smallest=0.9)
        for label in (self.counts, self.times):
            label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.change = _link("change", "Change time range or zone", "Time range, and time zone")
        self.change.clicked.connect(lambda: self.part_requested.emit(TIME))
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 7, 10, 7)
        column.setSpacing(1)
        for parts in (
            (self.file, self.open),
            (self.people, None),
            (self.counts, None),
            (self.times, self.change),
        ):
            row = QHBoxLayout()
            for place, part in enumerate(parts):
                if part is None:
                    row.addStretch(1)
                else:
                    row.addWidget(part, int(place == 0 and part is not self.people))
            column.addLayout(row)
        self.people.setFixedHeight(LINK_HEIGHT)
        data.loaded.connect(self._loaded)
        data.reread.connect(self._loaded)
        data.progress.connect(self._show_progress)
        data.busy_changed.connect(self._busy)
        tools.result_shown.connect(self.show_result)
        session.changed.connect(self._changed)
        self._loaded()

    def close_card(self) -> None:
        """Stop following the session."""
        self._session.changed.disconnect(self._changed)

    def show_result(self, result: Result) -> None:
        """Show how many people and check-ins are in the map; if not known the former stay."""
        known = {item.key: item.value for item in result.readouts}
        people, checkins = known.get(PEOPLE), known.get(CHECKINS)
        there = people is not None and checkins is not None
        self.counts.setEnabled(there)
        if people is None or checkins is None:
            return
        self._people = people
        self._show_people()
        if not self._data.busy:
            self.counts.setText(f"{checkins:,.0f} check-ins")

    def _show_people(self) -> None:
        data, people = self._data.current, self._people
        selection = self._session.state.selection
        self.people.setVisible(people is not None)
        if people is None or data is None:
            return
        kind = "people" if data.unit == "user" else "units of privacy"
        sampled = selection is not None and selection.sampled
        text = f"{people:,.0f} sampled {kind}" if sampled else f"All {people:,.0f} {kind}"
        text = f"{text} in this region"
        if not self.people.text().startswith(text):
            self.people.setText(f"{text} ▾")
            self.people.setAccessibleName(text)

    def _tick(self) -> None:
        selection = self._session.state.selection
        sampled = selection is not None and selection.sampled
        self.all_action.setChecked(not sampled)
        self.sample_action.setChecked(sampled)

    def _loaded(self, _data: object = None) -> None:
        data = self._data.current
        self._people = None
        self._show_people()
        self.counts.setText("")
        self.change.setVisible(data is not None)
        if data is None:
            self.file.setText("No check-ins")
            self.times.setText("Open check-ins, or try the synthetic sample.")
            return
        self.file.setText(self._data.title)
        self.file.setToolTip(plain_tip(data.basename))
        self._show_times()

    def _show_times(self) -> None:
        data = self._data.current
        if data is None:
            return
        if data.first_time is None:
            text = "No times in the file"
        elif data.report.naive_times > 0:
            text = f"Times are read as {self._session.state.zone or 'UTC'}"
        else:
            text = "Times have their time zone"
        self.times.setText(text)

    def _busy(self, busy: bool) -> None:
        if busy:
            self.counts.setText(f"Reading {self._data.opening}")
        elif self.counts.text().startswith("Reading"):
            self.counts.setText("")

    def _show_progress(self, now: Progress) -> None:
        self.counts.setText(f"Reading {self._data.opening}: {100 * now.fraction:.0f} %")

    def _changed(self, state: SessionState, old: SessionState) -> None:
        if state.zone != old.zone:
            self._show_times()
