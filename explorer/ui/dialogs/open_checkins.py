"""Which column holds what: asked when a file does not say it clearly enough."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer import checkins
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.checkins.readers import get_reader
from explorer.checkins.readers.guess_columns import STRPTIME_FORMATS, bad_cells, time_format
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import styled_label
from explorer.ui.controllers.data_controller import MappingRequest
from explorer.ui.dialogs.plane_fields import PlaneFields
from explorer.ui.drawing.map_style import style_for
from explorer.ui.widgets.choice_box import ChoiceBox

ROLES = (
    ("user", "User", "Who checked in: any text or number", True),
    ("lat", "Latitude or y", "Degrees, −90…90, north positive; or y of a plane", True),
    ("lon", "Longitude or x", "Degrees, −180…180, east positive; or x of a plane", True),
    ("time", "Time", "When; without it nothing counts as a duplicate", False),
    ("location", "Location", "Id of the place; may be missing", False),
    ("weight", "Weight", "How many check-ins the row stands for; 1 without it", False),
    ("image", "Image", "Which picture x and y lie in; of a plane alone", False),
)
MNEMONICS = {
    "lat": "L&atitude or y", "lon": "L&ongitude or x", "location": "Lo&cation", "image": "Ima&ge",
}  # fmt: skip
"""Where the first letter is taken."""
TIME_FORMATS = (
    ("ISO 8601 (2010-01-31T23:59:00Z; without an offset: UTC)", "iso"),
    ("seconds since 1970", "epoch_s"),
    ("milliseconds since 1970", "epoch_ms"),
    ("microseconds since 1970", "epoch_us"),
    *((name, name) for name in STRPTIME_FORMATS),
)
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a mark",
    "utf-16": "UTF-16",
    "latin-1": "Latin-1",
}
SHOWN = 12
LOOKING = "Looking at the file …"


class MappingDialog(QDialog):
    """Preview of a file with a column to choose for every role, checked as one chooses.

    Signals
    -------
    load(Path, Mapping, Dialect or None)
        *Load* was pressed; None if fields and encoding are as detected.
    picture_chosen(Path)
        With *Load*: the picture whose size is the range of x and y.
    """

    load = Signal(object, object, object)
    picture_chosen = Signal(object)

    def __init__(self, request: MappingRequest, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = request
        self.preview = request.preview
        self._refused = ""
        self._job = LatestJob("looking at a file", self, preempt_after_s=0.0)
        self.finished.connect(self._job.close)
        self._job.done.connect(self._looked)
        self._job.failed.connect(self._not_looked)
        self.setWindowTitle(f"Open {self.preview.basename}: which column holds what?")
        box = QVBoxLayout(self)
        if request.reason:
            box.addWidget(styled_label("notes", request.reason, word_wrap=True))
        self.detected = styled_label("muted", self._detected(), word_wrap=True)
        box.addWidget(self.detected)
        box.addLayout(self._make_dialect())
        box.addLayout(self._make_columns())
        self.plane = PlaneFields()
        self.plane.changed.connect(self._check)
        box.addWidget(self.plane)
        self.table = QTableWidget()
        self.table.setAccessibleName("The first rows of the file")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        box.addWidget(self.table, 1)
        self.verdict = QLabel(wordWrap=True)
        self.verdict.setAccessibleName("Whether the first rows can be read this way")
        box.addWidget(self.verdict)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.load_button = buttons.addButton("Load", QDialogButtonBox.ButtonRole.AcceptRole)
        self.load_button.setDefault(True)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        box.addWidget(buttons)
        self.resize(760, 520)
        self._show_preview()

    def _make_dialect(self) -> QHBoxLayout:
        """Make the choice of delimiter and encoding, which Parquet has not."""
        row = QHBoxLayout()
        self.delimiter = ChoiceBox("Fields separated by")
        self.encoding = ChoiceBox("Encoding")
        preview = self.preview
        for combo, name, words, found in (
            (self.delimiter, "&Fields separated by", DELIMITERS, preview.delimiter),
            (self.encoding, "&Encoding", ENCODINGS, preview.encoding),
        ):
            for value, text in words.items():
                combo.addItem(text, value)
            if combo.findData(found) < 0:
                combo.addItem(repr(found), found)
            combo.setCurrentIndex(combo.findData(found))
            combo.currentIndexChanged.connect(self._look_again)
            label = QLabel(name)
            label.setBuddy(combo)
            for widget in (label, combo):
                row.addWidget(widget)
                widget.setVisible(bool(preview.delimiter))
        row.addStretch(1)
        return row

    def _make_columns(self) -> QGridLayout:
        self.combos: dict[str, ChoiceBox] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for place, (role, name, help_text, needed) in enumerate(ROLES):
            combo = ChoiceBox(f"Column with the {name.lower()}")
            combo.setToolTip(help_text)
            combo.currentIndexChanged.connect(self._changed)
            label = QLabel(MNEMONICS.get(role, f"&{name}") + (" *" if needed else ""))
            label.setBuddy(combo)
            label.setToolTip(help_text)
            grid.addWidget(label, place // 3, 2 * (place % 3))
            grid.addWidget(combo, place // 3, 2 * (place % 3) + 1)
            grid.setColumnStretch(2 * (place % 3) + 1, 1)
            self.combos[role] = combo
        self.time_format = ChoiceBox("How times are written")
        for text, value in TIME_FORMATS:
            self.time_format.addItem(text, value)
        self.time_format.currentIndexChanged.connect(self._changed)
        label = QLabel("Times are wr&itten as")
        label.setBuddy(self.time_format)
        row = -(-len(ROLES) // 3)
        grid.addWidget(label, row, 0, 1, 2)
        grid.addWidget(self.time_format, row, 2, 1, 4)
        return grid

    def _look_again(self) -> None:
        """Read the beginning of the file as it is now said to be written."""
        asked = (self.delimiter.currentData(), self.encoding.currentData())
        self._refused = LOOKING
        self._check()
        path = self.request.path
        self._job.submit(asked, lambda task: checkins.sniff(path, *asked, cancelled=task.cancelled))

    def _looked(self, asked: tuple[str, str], preview: Preview) -> None:
        if asked == (self.delimiter.currentData(), self.encoding.currentData()):
            self.preview, self._refused = preview, ""
            self._show_preview()

    def _not_looked(self, asked: tuple[str, str], error: Exception) -> None:
        chosen = (self.delimiter.currentData(), self.encoding.currentData())
        if asked == chosen:
            self._refused = explain(error, "data").sentence
            self._check()

    def _show_preview(self) -> None:
        """Show columns and rows of the preview, and its guess of which is which."""
        preview = self.preview
        self.detected.setText(self._detected())
        for role, _name, _help, needed in ROLES:
            combo = self.combos[role]
            with QSignalBlocker(combo):
                combo.clear()
                combo.addItem("— choose —" if needed else "— none —", None)
                for column, title in enumerate(preview.columns):
                    combo.addItem(title, column)
                guess = getattr(preview.mapping, role)
                combo.setCurrentIndex(0 if guess is None else guess + 1)
        with QSignalBlocker(self.time_format):
            self._choose_format(preview.mapping.time_format)
        with QSignalBlocker(self.plane):
            self.plane.show_plane(preview.mapping.plane)
        self._fill_table()
        self._check()

    @property
    def dialect(self) -> Dialect | None:
        """How text turns into fields, if not as detected."""
        return (
            self.preview.dialect if self.preview.dialect != self.request.preview.dialect else None
        )

    @property
    def mapping(self) -> Mapping:
        """What is chosen."""
        return Mapping(
            **{role: combo.currentData() for role, combo in self.combos.items()},
            time_format=self.time_format.currentData(),
            plane=self.plane.text,
        )

    @property
    def problem(self) -> str:
        """Why it can't be loaded this way; empty if it can."""
        if self._refused:
            return self._refused
        mapping = self.mapping
        if mapping.missing:
            return f"Choose the column with the {' and the '.join(mapping.missing)}."
        if self.plane.problem:
            return self.plane.problem
        if mapping.image is not None and not mapping.planar:
            return "Images are for x and y of a plane; tick that, or choose no image."
        used = mapping.columns
        twice = next((c for c in used if used.count(c) > 1), None)
        if twice is not None:
            name = self.preview.columns[twice]
            return f"Column “{name}” is chosen twice; every column can hold one thing."
        if self._readable() == 0 and self.preview.rows:
            return "None of the first rows can be read this way; check the columns."
        return ""

    def _detected(self) -> str:
        preview = self.preview
        parts = [
            f"{preview.format.upper()} text"
            if preview.delimiter
            else get_reader(preview.dialect.reader).name,
            f"{preview.size / 1e6:,.1f} MB" if preview.size >= 1e5 else f"{preview.size:,} bytes",
        ]
        if preview.delimiter:
            name = DELIMITERS.get(preview.delimiter, repr(preview.delimiter))
            parts += [
                f"fields separated by {name}",
                f"encoding {preview.encoding}",
                "first line holds names" if preview.has_header else "no header",
            ]
            if preview.dialect.decimal == ",":
                parts.append("decimal commas")
            if preview.dialect.compressed:
                parts.insert(1, "gzip")
        return ("Detected: " if self.dialect is None else "Read as: ") + ", ".join(parts) + "."

    def _fill_table(self) -> None:
        preview, table = self.preview, self.table
        rows = preview.rows[:SHOWN]
        width = max([len(preview.columns), *(len(row) for row in rows)])
        table.clear()
        table.setRowCount(len(rows))
        table.setColumnCount(width)
        table.setHorizontalHeaderLabels(
            [*preview.columns, *("(surplus)" for _ in range(width - len(preview.columns)))]
        )
        for r, row in enumerate(rows):
            for c in range(width):
                table.setItem(r, c, QTableWidgetItem(row[c][:200] if c < len(row) else ""))
        table.resizeColumnsToContents()
        for c in range(width):
            table.setColumnWidth(c, min(table.columnWidth(c) + 8, 260))

    def _choose_format(self, value: str) -> None:
        place = self.time_format.findData(value)
        if place < 0:
            self.time_format.addItem(value, value)
            place = self.time_format.count() - 1
        self.time_format.setCurrentIndex(place)

    def _changed(self) -> None:
        if self.sender() is self.combos["time"]:
            column = self.combos["time"].currentData()
            if column is not None:
                values = [r[column] for r in self.preview.rows if column < len(r)]
                found = time_format(values, self.preview.dialect.decimal)
                if found is not None:
                    with QSignalBlocker(self.time_format):
                        self._choose_format(found)
        self._check()

    def _readable(self) -> int:
        mapping, decimal = self.mapping, self.preview.dialect.decimal
        width = len(self.preview.columns)
        return sum(
            len(row) == width and not bad_cells(row, mapping, decimal) for row in self.preview.rows
        )

    def _check(self) -> None:
        mapping = self.mapping
        self.time_format.setEnabled(mapping.time is not None)
        roles = {getattr(mapping, role): name for role, name, _, _ in ROLES}
        style = style_for(self.palette())
        for r in range(self.table.rowCount()):
            row = self.preview.rows[r]
            bad = bad_cells(row, mapping, self.preview.dialect.decimal)
            for c in range(self.table.columnCount()):
                item = self.table.item(r, c)
                assert item is not None
                why = bad.get(c, "")
                item.setToolTip(why or item.text())
                item.setBackground(QBrush(style.warn_back) if why else QBrush())
                item.setForeground(QBrush(style.warn_text) if why else QBrush())
        for c, name in enumerate(self.preview.columns):
            header = self.table.horizontalHeaderItem(c)
            assert header is not None
            header.setText(f"{name}\n{roles[c]}" if c in roles else f"{name}\n ")
            wanted = self.table.horizontalHeader().sectionSizeHint(c) + 8
            self.table.setColumnWidth(c, max(self.table.columnWidth(c), wanted))
        problem = self.problem
        total, good = len(self.preview.rows), self._readable()
        self.verdict.setText(
            problem
            or f"{good} of the first {total} rows can be read this way; "
            + ("the others will be rejected and listed." if good < total else "load them.")
        )
        colour = style.warn_text if problem else QColor(self.palette().windowText().color())
        self.verdict.setStyleSheet(f"color: {colour.name()};")
        self.load_button.setEnabled(not problem)
        self.load_button.setDefault(not problem)

    def _accept(self) -> None:
        if not self.problem:
            if self.plane.picture is not None and self.plane.text:
                self.picture_chosen.emit(self.plane.picture)
            self.load.emit(self.request.path, self.mapping, self.dialect)
            self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Escape cancel, and Return load only what can be loaded."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._accept()
            return
        super().keyPressEvent(event)
