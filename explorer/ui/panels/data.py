"""Data panel: file, region, time range and users."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session, SessionState
from explorer.geography.coordinates import wrap_longitude
from explorer.geography.region import Box, Region, points_of
from explorer.studies.base.study import Origin, Selection, all_sides
from explorer.studies.heatmap.guarantee import CAME_FROM
from explorer.ui.base.styled import plain_tip, styled_label
from explorer.ui.controllers.data_controller import (
    DataController,
    ImportRequest,
    MappingRequest,
    UnpackRequest,
)
from explorer.ui.dialogs.busiest import BusiestDialog, region_town
from explorer.ui.dialogs.load_report import LoadReportDialog
from explorer.ui.dialogs.open_checkins import MappingDialog, Remembered
from explorer.ui.panels.data_card import DataCard, RegionBox
from explorer.ui.panels.plane import SIDES, PlanePart, RegionFields
from explorer.ui.panels.range_play import RangePlay
from explorer.ui.panels.time_range import TimeRange, TimeTrack

if TYPE_CHECKING:
    from explorer.checkins import Progress


from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Kind, Parameter, Result, Scale
from explorer.ui.base.styled import plain_label
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_slider import NumberSlider
from explorer.ui.widgets.value_field import ValueField


def format_progress(now: Progress) -> str:
    """Format the progress of a load: rows, MB, seconds left."""
    parts = [now.stage]
    if now.rows:
        parts.append(f"{now.rows:,} rows")
    done, total = now.bytes_done / 1e6, now.bytes_total / 1e6
    parts.append(f"{done:,.0f} of {total:,.0f} MB" if total >= 10 else f"{total:.1f} MB")
    if now.seconds_left is not None:
        parts.append(f"{max(1, round(now.seconds_left))} s left")
    return " · ".join(parts)


def format_span(first: str | None, last: str | None) -> str:
    """Format a time span in days."""
    if first is None or last is None:
        return "no times in the file"
    begin, end = (datetime.fromisoformat(t).astimezone(UTC) for t in (first, last))
    return f"{begin.day} {begin:%b %Y} – {end.day} {end:%b %Y}"


class LoadBar(QWidget):
    """Slim progress bar with *Cancel* while a file is being opened."""

    cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(textVisible=False, maximum=1000)
        self.bar.setAccessibleName("Progress of opening the file")
        self.bar.setFixedHeight(14)
        self.text = styled_label("muted", word_wrap=True)
        self.button = QPushButton("Cancel")
        self.button.setToolTip("Stop; the data in use stays")
        self.button.clicked.connect(self.cancel)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(3)
        box.addWidget(self.name)
        box.addLayout(row)
        box.addWidget(self.text)
        self.hide()

    def start(self, name: str) -> None:
        """Show that a file is being opened."""
        self.name.setText(f"Opening {name} …")
        self.text.setText("")
        self.bar.setMaximum(0)
        self.button.setEnabled(True)
        self.show()

    def show_progress(self, now: Progress) -> None:
        """Show the progress."""
        self.bar.setMaximum(1000)
        self.bar.setValue(round(1000 * now.fraction))
        self.text.setText(format_progress(now))


ORIGIN_HELP = (
    "The guarantee needs a region chosen without looking at the check-ins. One that was found from "
    "them, or drawn over them, breaks it, and exports without the true map then leave out where "
    "the map lies. To put that right, type the four edges of a region fixed beforehand."
)
TOO_LARGE = "Larger than memory: the maps can't follow a slider. Type what you want."
OF_UNIT = {
    "user": " of {users:,} users",
    "row": ", each protected by itself",
    "file": ", protected as one file",
}
"""Text on the privacy unit, after the number of check-ins."""
MEMORY_HELP = "How much memory opening may use is set with Edit ▸ Preferences ▸ Compute."


class _Map(Protocol):
    """Part of the map workspace used by the panel."""

    region_action: QAction
    polygon_action: QAction
    points_action: QAction
    outline_action: QAction
    box_action: QAction
    backdrop: Any

    def edit_polygon(self) -> None: ...
    def use_all_users(self) -> None: ...
    @property
    def result_shown(self) -> SignalInstance: ...
    @property
    def view_box(self) -> Box: ...
    def go_home(self) -> None: ...


class DataPanel(QWidget):
    """Panel for file, region, time and users; every change is an undo step.

    Parameters
    ----------
    session, data_controller
    workspace : MapWorkspace
        Provides region tool, view and results.

    Attributes
    ----------
    card : DataCard
    region_box : RegionBox
        Both to be placed beside the parameters.
    """

    def __init__(
        self,
        session: Session,
        data_controller: DataController,
        workspace: _Map,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName("Data")
        self._session = session
        self._data = data_controller
        self._workspace = workspace
        self._dialogs: dict[str, QDialog] = {}
        self.outline_buttons: dict[str, QPushButton] = {}
        self._silent = False
        box = QVBoxLayout(self)
        box.setContentsMargins(10, 4, 10, 8)
        box.setSpacing(6)
        self._make_file(box)
        self._make_region(box)
        self._make_time(box)
        self._make_users(box)
        box.addStretch(1)
        data_controller.progress.connect(self.load_bar.show_progress)
        data_controller.busy_changed.connect(self._busy)
        data_controller.loaded.connect(self._loaded)
        data_controller.reread.connect(self._loaded)
        workspace.result_shown.connect(self.sample.show_result)
        session.changed.connect(self._state_changed)
        self.plane.image_selected.connect(lambda name: self._change(image=name))
        self.plane.picture_selected.connect(workspace.backdrop.open)
        self.plane.picture_cleared.connect(workspace.backdrop.clear)
        workspace.backdrop.changed.connect(self._show_picture)
        self.card = DataCard(session, data_controller, workspace)
        self.region_box = RegionBox(session, workspace)
        for placed in (self.card, self.region_box):
            placed.setParent(self)
            placed.hide()
        self._show_picture()
        self._describe_data()
        self._show_selection(session.state.selection)

    # Parts -----------------------------------------------------------------------------------

    def part(self, key: str) -> QWidget:
        """Return a part of the panel: ``region``, ``time`` or ``users``."""
        parts: dict[str, QWidget] = {"region": self._ends, "time": self.time, "users": self.sample}
        return parts[key]

    def _make_file(self, box: QVBoxLayout) -> None:
        self.file_name = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.badge = styled_label("tag")
        self.counts = styled_label("muted", word_wrap=True)
        self.report_button = QPushButton("Report …")
        self.report_button.setToolTip("What was kept, what was rejected and why")
        self.report_button.clicked.connect(self.show_report)
        self.load_bar = LoadBar()
        self.load_bar.cancel.connect(self._data.cancel)
        box.addWidget(_heading("Check-ins"))
        box.addWidget(self.file_name)
        row = QHBoxLayout()
        row.addWidget(self.badge)
        row.addStretch(1)
        row.addWidget(self.report_button)
        box.addLayout(row)
        box.addWidget(self.counts)
        box.addWidget(self.load_bar)

    def _make_region(self, box: QVBoxLayout) -> None:
        box.addWidget(_heading("Region"))
        self.plane = PlanePart()
        box.addWidget(self.plane)
        ends = RegionFields()
        ends.entered.connect(lambda side, value: self._try_side(side, value, None))
        ends.stepped.connect(self._step_side)
        self.sides, self._ends = ends.fields, ends
        box.addWidget(ends)
        self.region_size = styled_label("muted")
        self.region_size.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.addWidget(self.region_size)
        self.region_town = styled_label("muted", word_wrap=True)
        self.region_town.setToolTip("The largest town inside the region, or the one nearest to it")
        box.addWidget(self.region_town)
        self.region_from = styled_label("muted", word_wrap=True)
        self.region_from.setToolTip(ORIGIN_HELP)
        box.addWidget(self.region_from)
        self.region_error = styled_label("notes", word_wrap=True)
        self.region_error.hide()
        box.addWidget(self.region_error)
        row = QHBoxLayout()
        self.draw_button = QPushButton("Draw box")
        self.draw_button.setCheckable(True)
        self.draw_button.setToolTip(
            "Drag a box on either map; pull its handles or move it to change it (R, Esc ends)"
        )
        action = self._workspace.region_action
        self.draw_button.toggled.connect(action.setChecked)
        action.toggled.connect(self.draw_button.setChecked)
        self.busiest_button = QPushButton("Busiest cells …")
        self.busiest_button.setToolTip(
            "Choose from the cells of a 300 × 300 partition with most check-ins (not private)"
        )
        self.busiest_button.clicked.connect(self.show_busiest)
        row.addWidget(self.draw_button)
        row.addWidget(self.busiest_button)
        box.addLayout(row)
        workspace, grid = self._workspace, QGridLayout()
        for place, (text, action) in enumerate(
            (
                ("Draw polygon", workspace.polygon_action),
                ("Type points…", workspace.points_action),
                ("From file…", workspace.outline_action),
                ("Use its box", workspace.box_action),
            )
        ):
            button = QPushButton(text)
            button.setToolTip(action.toolTip())
            button.setAccessibleName(action.text().replace("&", ""))
            button.setCheckable(action.isCheckable())
            button.setEnabled(action.isEnabled())
            button.clicked.connect(action.trigger)
            action.toggled.connect(button.setChecked)
            action.enabledChanged.connect(button.setEnabled)
            self.outline_buttons[text] = button
            grid.addWidget(button, place // 2, place % 2)
        box.addLayout(grid)

    def _make_time(self, box: QVBoxLayout) -> None:
        box.addWidget(_heading("Time (UTC)"))
        self.time = TimeRange()
        self.time.chosen.connect(self._time_selected)
        self.time.dragged.connect(self._time_dragged)
        self.time.gesture_ended.connect(self._session.end_gesture)
        self.time.zone_selected.connect(self._session.set_zone)
        self.time_play = RangePlay(self._session, self)
        self.time_play.add_track(TimeTrack(self._session, self.time))
        self._workspace.result_shown.connect(self.time_play.show_result)
        box.addWidget(self.time)

    def _make_users(self, box: QVBoxLayout) -> None:
        box.addWidget(_heading("Users"))
        self.sample = UsersSample()
        self.sample.changed.connect(self._session.set_selection)
        self.sample.gesture_ended.connect(self._session.end_gesture)
        box.addWidget(self.sample)

    # Session to widgets ----------------------------------------------------------------------

    def _state_changed(self, state: SessionState, old: SessionState) -> None:
        if state.selection != old.selection:
            self._show_selection(state.selection)
        elif state.zone != old.zone:
            self._show_zone()

    def _show_selection(self, selection: Selection | None) -> None:
        self._silent = True
        for widget in (self.draw_button, self.busiest_button, self.report_button):
            widget.setEnabled(selection is not None)
        outlined = selection is not None and selection.region.polygon is not None
        for field in self.sides.values():
            field.setEnabled(selection is not None and not outlined)
        data = self._data.current
        still = TOO_LARGE if data is not None and data.larger_than_memory else ""
        self.time.set_span(
            data.first_time if data is not None else None,
            data.last_time if data is not None else None,
            still,
        )
        self._show_zone()
        if selection is not None:
            self.time.show_range(selection.start, selection.end)
            region = selection.region
            self._ends.show_region(region)
            wide, high = region.sides
            size = f"{wide:,.1f} {region.unit} × {high:,.1f} {region.unit}"
            self.region_size.setText(f"Polygon, {points_of(region)}, {size}" if outlined else size)
            self.region_size.setToolTip(self.region_size.text())
            self._show_town(region_town(region))
            self.region_error.hide()
            self._show_origin(selection)
        else:
            self.time.show_range(None, None)
            self.region_size.setText("")
            self._show_town("")
            self.region_from.hide()
        if data is not None:
            self.sample.set_data(data.users, still)
        self.sample.show_selection(selection)
        self.plane.show_data(data, selection)
        self._silent = False

    def _show_zone(self) -> None:
        data = self._data.current
        naive = data is not None and data.report.naive_times > 0
        self.time.show_zone(self._session.state.zone, naive)

    def _show_town(self, name: str) -> None:
        self.region_town.setText(name)
        self.region_town.setVisible(bool(name))

    def _show_picture(self) -> None:
        self.plane.show_picture(self._workspace.backdrop.name)

    def _show_origin(self, selection: Selection) -> None:
        """Show the origin of the region, per side if they differ."""
        origin = selection.region_origin
        sides = [s for s, came in zip(SIDES, selection.region_from, strict=True) if came is origin]
        which = "" if len(sides) == len(SIDES) else f"{', '.join(sides)}: "
        mark = {True: "✓", False: "✗", None: "○"}[origin.independent]
        self.region_from.setText(f"{mark} {which}{CAME_FROM[origin]}")
        self.region_from.show()

    # Widgets to session ----------------------------------------------------------------------

    def _change(self, gesture: str | None = None, **changes: Any) -> None:
        selection = self._session.state.selection
        if selection is not None and not self._silent:
            self._session.set_selection(replace(selection, **changes), gesture)

    def _step_side(self, side: str, step: int) -> None:
        selection = self._session.state.selection
        if selection is None:
            return
        region = selection.region
        size = (
            region.north - region.south
            if side in ("south", "north")
            else (region.east - region.west)
        )
        end = region.declared[SIDES.index(side)]
        end = round(end + step * size / 50, 6)
        if side in ("west", "east") and region.plane is None:
            end = round(wrap_longitude(end), 6)
        self._try_side(side, end, f"region {side}")

    def _try_side(self, side: str, value: float, gesture: str | None) -> None:
        selection = self._session.state.selection
        if selection is None:
            return
        try:
            before, place = selection.region, SIDES.index(side)
            low, left, high, right = (
                value if i == place else end for i, end in enumerate(before.declared)
            )
            region = before.as_declared((low, left, high, right))
            origins = list(selection.region_from)
            if gesture is None:  # typed; sides that were moved with it keep their origin
                turned = before.plane is not None and before.plane.down and place in (0, 2)
                origins[2 - place if turned else place] = Origin.TYPED
        except ValueError as error:
            self.sides[side].reject(str(error))
            self.region_error.setText(_sentence(str(error)))
            self.region_error.show()
            return
        self.region_error.hide()
        self._change(gesture, region=region, region_from=tuple(origins))

    def set_region(self, region: Region) -> None:
        """Set a region (selected from the busiest cells) as one undo step."""
        self._change(region=region, region_from=all_sides(Origin.BUSIEST))

    def _time_selected(self, start: str | None, end: str | None) -> None:
        self._change("time range", start=start, end=end, time_from=Origin.TYPED)

    def _time_dragged(self, start: str | None, end: str | None) -> None:
        """Apply a range that the maps already followed."""
        self._change("drag the time range", start=start, end=end, time_from=Origin.DRAWN)

    # Data ------------------------------------------------------------------------------------

    def _describe_data(self) -> None:
        data = self._data.current
        if data is None:
            self.file_name.setText("No check-ins yet: File ▸ Open check-ins…")
            self.badge.hide()
            self.counts.setText("")
            return
        self.file_name.setText(self._data.title)
        self.file_name.setToolTip(plain_tip(data.basename))
        self.badge.setText("synthetic data" if data.synthetic else "real data")
        self.badge.show()
        aside, naive = data.report.total_rejected, data.report.naive_times > 0
        self.counts.setText(
            f"{data.rows:,} check-ins{OF_UNIT[data.unit].format(users=data.users)}\n"
            + (f"{aside:,} rows rejected\n" if aside else "no row rejected\n")
            + format_span(data.first_time, data.last_time)
            + (", times without an offset: " + (data.mapping.zone or "UTC")) * naive
        )

    def _busy(self, busy: bool) -> None:
        if busy:
            self.load_bar.start(self._data.opening)
        else:
            self.load_bar.hide()

    def _loaded(self, _data: object) -> None:
        self._describe_data()
        self._show_selection(self._session.state.selection)

    # Dialogs ---------------------------------------------------------------------------------

    def show_report(self) -> None:
        """Open the load report."""
        if self._data.current is not None:
            self._open("report", LoadReportDialog(self._data, self._data.current, self.window()))

    def show_busiest(self) -> None:
        """Open the dialog of the busiest cells."""
        selection, data = self._session.state.selection, self._data.current
        if selection is None or data is None:
            return
        dialog = BusiestDialog(self._data, data, self._workspace.view_box, selection, self.window())
        dialog.region_selected.connect(self.set_region)
        dialog.region_selected.connect(lambda _region: self._workspace.go_home())
        self._open("busiest", dialog)

    def ask_mapping(self, request: MappingRequest, memory: Remembered | None = None) -> None:
        """Open the dialog about a file; `memory` has the answers for files like it."""
        dialog = MappingDialog(request, self.window(), memory)
        dialog.load.connect(self._data.open)
        dialog.picture_selected.connect(self._workspace.backdrop.open)
        self._open("mapping", dialog)

    def ask_import(self, request: ImportRequest) -> None:
        """Announce a slow import and start it after consent."""
        box, go = self._question(f"Opening {self._data.opening} takes long")
        box.setInformativeText(f"{request.size.notice}\n\n{MEMORY_HELP}")
        box.setDefaultButton(go)
        go.clicked.connect(lambda: self._data.agree(request))
        self._open("import", box)

    def ask_unpack(self, request: UnpackRequest) -> None:
        """Ask whether to open an archive that unpacks to far more than its size."""
        box, go = self._question(f"Do you trust {self._data.opening}?")
        box.setInformativeText(request.text)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        go.clicked.connect(lambda: self._data.agree(request))
        self._open("unpack", box)

    def _question(self, text: str) -> tuple[QMessageBox, QPushButton]:
        """Return a message box with a button that opens the check-ins."""
        box = QMessageBox(self.window())
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle("Open check-ins")
        box.setText(text)
        go = box.addButton("&Open", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        return box, go

    def dialog(self, name: str) -> QDialog | None:
        """Return the ``report``, ``busiest``, ``mapping``, ``import`` or ``unpack`` dialog."""
        return self._dialogs.get(name)

    def _open(self, name: str, dialog: QDialog) -> None:
        before = self._dialogs.pop(name, None)
        if before is not None:
            before.close()
        self._dialogs[name] = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.finished.connect(lambda _code: self._remove(name, dialog))
        dialog.open() if name in ("mapping", "import", "unpack") else dialog.show()

    def _remove(self, name: str, dialog: QDialog) -> None:
        if self._dialogs.get(name) is dialog:
            del self._dialogs[name]

    def close_panel(self) -> None:
        """Close open dialogs before the window closes."""
        self.card.close_card()
        self.region_box.close_box()
        for dialog in list(self._dialogs.values()):
            dialog.close()


def _heading(text: str) -> QLabel:
    label = styled_label("heading", text)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return label


def _sentence(text: str) -> str:
    text = text.strip() or "Something unexpected happened"
    return text[:1].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


MAX_USERS = 100_000_000
MAX_SEED = 2**31 - 1
FIRST_NUMBER, FIRST_SHARE = 200, 0.1
"""Initial sample sizes: the number of users in the heatmap paper, and a tenth."""
SLIDE = "drag the number of users"
SLIDER_HELP = "How many users are in the map, all at the right end; the maps follow while you drag."
ALL, NUMBER, SHARE = "all", "number", "share"
MODES = ((ALL, "All users"), (NUMBER, "At most this many users"), (SHARE, "A share of the users"))
MODE_HELP = (
    "All users with a check-in inside region and time range, or a sample of them, picked by a hash "
    "of their ids.\n\nA number: the users with the smallest hashes. One more user in the file may "
    "displace another one, so the map costs 2ε for one user more or less.\nA share: everyone whose "
    "hash lies below a threshold, each on their own; the map costs ε as without a sample."
)


class UsersSample(QWidget):
    """All users, a number, or a share, with the resulting number.

    Signals
    -------
    changed(Selection, object)
        Selection with another sample, and its gesture (None: an undo step of its own).
    gesture_ended()
        A move of the slider ended.
    """

    changed = Signal(object, object)
    gesture_ended = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._selection: Selection | None = None
        self._scale = _scale(NUMBER, 1)
        self.slider = NumberSlider(self._scale)
        self.slider.number_moved.connect(self._slid)
        self.slider.gesture_ended.connect(self.gesture_ended)
        self.why = styled_label("muted", word_wrap=True)
        self._last_number, self._last_share = FIRST_NUMBER, FIRST_SHARE
        self.mode = ChoiceBox("Which users are in the map")
        self.mode.offer(MODES, ALL)
        self.mode.setToolTip(MODE_HELP)
        self.mode.activated.connect(self._mode_selected)
        self.number = ValueField(lambda n: _whole("number of users", n, 1, MAX_USERS))
        self.number.setAccessibleName("Number of users to sample")
        self.number.set_help(
            "How many of the users with a check-in inside region and time range are in the map: "
            "those with the smallest hashes of their ids; all of them if there are fewer."
        )
        self.number.entered.connect(lambda n: self._take(users=int(n)))
        self.number.stepped.connect(self._step_number)
        self.share = ValueField(lambda percent: _percentage(percent))
        self.share.setAccessibleName("Share of users to sample, in percent")
        self.share.set_help("Per cent of the users; who is in depends on the hash of their id.")
        self.share.entered.connect(lambda percent: self._take(share=_of_percent(percent)))
        self.share.stepped.connect(self._step_share)
        self.seed = ValueField(lambda n: _whole("sample seed", n, 0, MAX_SEED))
        self.seed.setAccessibleName("Seed of the sample of users")
        self.seed.set_help("Key of the hash, public: the same seed picks the same users.")
        self.seed.entered.connect(lambda n: self._change(None, data_seed=int(n)))
        self.seed.stepped.connect(self._step_seed)
        self.count = styled_label("muted", word_wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.mode, 0, 0, 1, 2)
        grid.addWidget(self.slider, 1, 0, 1, 2)
        self._labels = {}
        for row, (key, text, field) in enumerate(
            (
                (NUMBER, "Number", self.number),
                (SHARE, "Per cent", self.share),
                ("seed", "Seed", self.seed),
            ),
            2,
        ):
            label = plain_label(text)
            label.setBuddy(field)
            self._labels[key] = label
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.count, 5, 0, 1, 2)
        grid.addWidget(self.why, 6, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self.set_data(1)
        self.show_selection(None)

    def set_data(self, users: int, still: str = "") -> None:
        """Set the number of users; `still` disables the slider with a reason."""
        self._users = users
        self.slider.setEnabled(users > 1 and not still)
        self.slider.setToolTip(still or SLIDER_HELP)
        self.why.setText(still)
        self.why.setVisible(bool(still))

    def show_selection(self, selection: Selection | None) -> None:
        """Show the present sample."""
        self._selection = selection
        mode = _mode_of(selection)
        self.setEnabled(selection is not None)
        self.mode.setCurrentIndex(self.mode.findData(mode))
        for key, field in ((NUMBER, self.number), (SHARE, self.share), ("seed", self.seed)):
            shown = mode != ALL if key == "seed" else mode == key
            for widget in (self._labels[key], field):
                widget.setVisible(shown)
        self._show_place(mode)
        if selection is None:
            self.count.setText("")
            return
        if selection.users is not None:
            self._last_number = selection.users
            self.number.set_number(selection.users)
        if selection.share is not None:
            self._last_share = selection.share
            self.share.set_number(_to_percent(selection.share))
        self.seed.set_number(selection.data_seed)

    def _show_place(self, mode: str) -> None:
        """Set the slider to the sample; all users are the maximum."""
        scale = _scale(mode, self._users)
        if scale != self._scale:
            self._scale = scale
            self.slider.set_parameter(scale)
        selection, number, text = self._selection, scale.high, "all"
        if selection is not None and selection.users is not None:
            number, text = selection.users, f"{selection.users:,}"
        elif selection is not None and selection.share is not None:
            number = _to_percent(selection.share)
            text = f"{format_number(number)} %"
        self.slider.set_number(number)
        self.slider.setAccessibleName(f"{scale.name}, slider, {text}")

    def _slid(self, number: float) -> None:
        if self._scale.key == SHARE:
            self._take(share=_of_percent(number), gesture=SLIDE)
        else:
            everybody = number >= self._users
            self._take(users=None if everybody else int(number), gesture=SLIDE)

    def show_result(self, result: Result) -> None:
        """Show the number of users in the map."""
        try:
            used, there = (result.readout(k).value for k in ("users_used", "users_in_region"))
        except KeyError:
            return
        text = f"{used:,.0f} of {there:,.0f} users with a check-in inside region and time range"
        sample_size = (
            result.request.selection.users if result.request.selection is not None else None
        )
        if sample_size is not None and there is not None and there < sample_size:
            text += f"; {sample_size:,} were asked for, so all are used"
        if text != self.count.text():
            self.count.setText(text)

    def _mode_selected(self, _index: int) -> None:
        mode = self.mode.currentData()
        if self._selection is not None and mode != _mode_of(self._selection):
            self._take(
                users=self._last_number if mode == NUMBER else None,
                share=self._last_share if mode == SHARE else None,
            )

    def _take(
        self, users: int | None = None, share: float | None = None, gesture: str | None = None
    ) -> None:
        self._change(gesture, users=users, share=share)

    def _change(self, gesture: str | None, **changes: Any) -> None:
        if self._selection is not None:
            self.changed.emit(replace(self._selection, **changes), gesture)

    def _step_number(self, step: int) -> None:
        if self._selection is not None and self._selection.users is not None:
            users = self._selection.users
            size = max(1, 10 ** (len(str(users)) - 2))
            self._take(users=min(max(1, users + step * size), MAX_USERS), gesture="users")

    def _step_share(self, step: int) -> None:
        if self._selection is not None and self._selection.share is not None:
            percent = min(max(1.0, round(_to_percent(self._selection.share)) + step), 100.0)
            self._take(share=_of_percent(percent), gesture="users")

    def _step_seed(self, step: int) -> None:
        if self._selection is not None:
            seed = min(max(0, self._selection.data_seed + step), MAX_SEED)
            self._change("sample seed", data_seed=seed)


def _scale(mode: str, users: int) -> Parameter:
    """Return the range of the slider: per cent, or numbers up to all users."""
    if mode == SHARE:
        name = "Share of users to sample, in percent"
        return Parameter(SHARE, "", name, "", Kind.INTEGER, 100, 1, 100)
    name = "Number of users to sample"
    return Parameter(NUMBER, "", name, "", Kind.INTEGER, users, 1, users, Scale.LOG)


def _mode_of(selection: Selection | None) -> str:
    if selection is None or not selection.sampled:
        return ALL
    return SHARE if selection.users is None else NUMBER


def _to_percent(share: float) -> float:
    return float(f"{100 * share:.12g}")


def _of_percent(percent: float) -> float:
    return float(f"{percent / 100:.14g}")


def _whole(name: str, value: float, low: int, high: int) -> int:
    if value != round(value) or not low <= value <= high:
        raise ValueError(f"{name}: {value:g} is not a whole number of {low:,} to {high:,}")
    return int(value)


def _percentage(value: float) -> float:
    if not 1e-6 <= value <= 100:
        raise ValueError(f"share of users: {value:g} % is not between 0.000001 and 100 %")
    return value
