"""Dialog that maps the columns of a file whose format is ambiguous, with its first rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer import checkins
from explorer.checkins.model import E7, Candidate, Dialect, Mapping, Preview, Question
from explorer.checkins.parsing import encodings
from explorer.checkins.parsing.ambiguities import remaining_questions
from explorer.checkins.parsing.column_names import ENGLISH, language_of
from explorer.checkins.parsing.crs import Points, is_e7, looks_swapped, points_of
from explorer.checkins.parsing.numbers import has_fraction, number
from explorer.checkins.parsing.row_rules import CellFault, bad_cells
from explorer.checkins.parsing.times import time_formats
from explorer.checkins.readers import get_reader
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label, plain_tip, styled_label
from explorer.ui.base.theme import map_style_for
from explorer.ui.controllers.data_controller import MappingRequest
from explorer.ui.dialogs.reading_fields import (
    PlaneFields,
    QuestionCards,
    ReadingFields,
    SystemFields,
)
from explorer.ui.widgets.boxes import ChoiceBox

NONE_RED = "Every cell shown can be read."
MOVE = "Move to a red cell to read what is wrong with it."


class FirstRows(QWidget):
    """Table, with the error and remedy of the selected cell below it."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[tuple[int, int], CellFault] = {}
        self.table = QTableWidget()
        self.table.setAccessibleName("The first rows of the file")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.currentCellChanged.connect(self._say)
        self.line = styled_label("muted", word_wrap=True)
        self.line.setAccessibleName("Problem with the cell")
        self.next_button = QPushButton("Next &red cell")
        self.next_button.setToolTip("Go to the next cell that cannot be read, row by row")
        self.next_button.setAutoDefault(False)
        self.next_button.clicked.connect(self.next_error)
        below = QHBoxLayout()
        below.addWidget(self.line, 1)
        below.addWidget(self.next_button, 0, Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.table, 1)
        box.addLayout(below)

    def hasHeightForWidth(self) -> bool:
        """Return False: the height does not depend on the width, the rows scroll."""
        return False

    def show_rows(self, preview: Preview, shown: int) -> None:
        """Show the first rows of a preview."""
        self.preview, table = preview, self.table
        rows = preview.rows[:shown]
        width = max([len(preview.columns), *(len(row) for row in rows)])
        with QSignalBlocker(table):
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

    def judge(self, mapping: Mapping, roles: dict[int | None, str]) -> None:
        """Mark the cells that a mapping cannot read."""
        style, preview = map_style_for(self.palette()), self.preview
        width, decimal = len(preview.columns), preview.dialect.decimal
        self._faults = {}
        for r in range(self.table.rowCount()):
            result = bad_cells(preview.rows[r], mapping, decimal, width)
            for c in range(self.table.columnCount()):
                item = self.table.item(r, c)
                assert item is not None
                fault = result.get(c)
                if fault is not None:
                    self._faults[r, c] = fault
                text = self.cell_problem(r, c)
                item.setToolTip(plain_tip(text or item.text()))
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, text)
                item.setBackground(QBrush(style.warn_back) if fault else QBrush())
                item.setForeground(QBrush(style.warn_text) if fault else QBrush())
        for c, name in enumerate(preview.columns):
            header = self.table.horizontalHeaderItem(c)
            assert header is not None
            header.setText(f"{name}\n{roles[c]}" if c in roles else f"{name}\n ")
            wanted = self.table.horizontalHeader().sectionSizeHint(c) + 8
            self.table.setColumnWidth(c, max(self.table.columnWidth(c), wanted))
        self.next_button.setEnabled(bool(self._faults))
        self._say()

    def cell_problem(self, row: int, column: int) -> str:
        """Return row, column, error and remedy of a cell; empty if it is readable."""
        fault = self._faults.get((row, column))
        if fault is None:
            return ""
        names = self.preview.columns
        name = f"“{names[column][:40]}”" if column < len(names) else "(surplus)"
        remedy = fault.remedy[:1].upper() + fault.remedy[1:]
        return f"Row {row + 1}, {name}: {fault.what}. {remedy}."

    def next_error(self) -> None:
        """Select the next unreadable cell, cyclically."""
        here = (self.table.currentRow(), self.table.currentColumn())
        red = sorted(self._faults)
        if red:
            self.table.setCurrentCell(*next((cell for cell in red if cell > here), red[0]))
            self.table.setFocus()
            self._say()

    def _say(self, *_: int) -> None:
        here = self.cell_problem(self.table.currentRow(), self.table.currentColumn())
        self.line.setText(here or (MOVE if self._faults else NONE_RED))
        style = map_style_for(self.palette())
        self.line.setStyleSheet(f"color: {style.warn_text.name()};" if here else "")


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
    "lat": "L&atitude or y",
    "lon": "L&ongitude or x",
    "location": "Lo&cation",
    "image": "Ima&ge",
}
"""Maximum length of the sample text used to detect the encoding."""
UNITS = {
    None: "All rows of one user",
    "row": "One row: protects less",
    "file": "The whole file",
}
"""Choices of the privacy unit: field `unit` of a mapping."""
UNIT_HELP = (
    "Without a column that names the person or device, protect one row (a person with many rows is "
    "protected less) or the whole file (the map will be nearly pure noise). Releases need a column "
    "that names the person."
)
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
SHOWN = 12
READING_FILE = "Looking at the file …"


class MappingDialog(QDialog):
    """Preview of a file with a column choice per role, validated on each change.

    Signals
    -------
    load(tuple of Path, Mapping, Dialect or None)
        *Load* was pressed; None if dialect and encoding are as detected.
    picture_chosen(Path)
        Set with *Load*: picture whose size is the range of x and y.
    """

    load = Signal(object, object, object)
    picture_selected = Signal(object)

    def __init__(self, request: MappingRequest, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = request
        self.preview = request.preview
        self._refused = ""
        self._decimal: str | None = None
        self._encoding: str | None = None
        self._order: str | None = None
        self._named_e7 = False
        self._job = LatestJob("looking at a file", self, preempt_after_s=0.0)
        self.finished.connect(self._close_jobs)
        self._job.done.connect(self._preview_read)
        self._job.failed.connect(self._preview_failed)
        self.setWindowTitle(f"Open {self.preview.basename}: choose its columns")
        box = QVBoxLayout(self)
        if request.reason:
            box.addWidget(styled_label("notes", request.reason, word_wrap=True))
        self.detected = styled_label("muted", self._detected(), word_wrap=True)
        box.addWidget(self.detected)
        box.addLayout(self._make_dialect())
        box.addLayout(self._make_columns())
        self.reading = ReadingFields()
        self.reading.decimal_selected.connect(self._choose_decimal)
        self.reading.changed.connect(self._check)
        box.addWidget(self.reading)
        self.plane = PlaneFields()
        self.plane.changed.connect(self._check)
        box.addWidget(self.plane)
        self.system = SystemFields()
        self.system.changed.connect(self._check)
        box.addWidget(self.system)
        self._boxes = {
            "time_format": self.reading.times,
            "decimal": self.reading.decimal,
            "crs": self.system.system,
            "layer": self.layer,
            "encoding": self.encoding,
        }
        self._questions: tuple[tuple[object, ...], tuple[Question, ...]] = ((), ())
        self.questions = QuestionCards()
        self.questions.chosen.connect(self._answer)
        self.questions.confirmed.connect(self._answer)
        self.questions.confirmed.connect(self._focus_next)
        box.addWidget(self.questions)
        self.rows = FirstRows()
        self.table = self.rows.table
        box.addWidget(self.rows, 1)
        self.verdict = plain_label(word_wrap=True)
        self.verdict.setAccessibleName("Whether the first rows can be read with these settings")
        self.swap_button = QPushButton("&Swap latitude and longitude")
        self.swap_button.setAutoDefault(False)
        self.swap_button.clicked.connect(self._swap)
        text = QHBoxLayout()
        text.addWidget(self.verdict, 1)
        text.addWidget(self.swap_button)
        box.addLayout(text)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.load_button = buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self.load_button.setDefault(True)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        box.addWidget(buttons)
        self.resize(984 if self.preview.questions else 800, 730 if self.preview.questions else 600)
        self._show_preview()
        if not self.load_button.isEnabled():
            self._focus_next()

    def _focus_next(self) -> None:
        """Focus the next answer to confirm, or *Open* once there is none."""
        (self.questions.next_stop or self.load_button).setFocus()

    def _make_dialect(self) -> QHBoxLayout:
        """Build the choice of delimiter and encoding, or of the layer or sheet."""
        row = QHBoxLayout()
        self.layer = ChoiceBox("Layer or sheet")
        self.delimiter = ChoiceBox("Fields separated by")
        self.encoding = ChoiceBox("Encoding")
        preview = self.preview
        layers = {"": "— choose —"} if preview.layers and not preview.dialect.layer else {}
        layers |= {name: name for name in preview.layers or (preview.dialect.layer,)}
        for combo, name, words, result in (
            (self.layer, "La&yer or sheet", layers, preview.dialect.layer),
            (self.delimiter, "&Fields separated by", DELIMITERS, preview.delimiter),
            (self.encoding, "&Encoding", encodings.NAMES, preview.encoding),
        ):
            for value, text in words.items():
                combo.addItem(text, value)
            if combo.findData(result) < 0:
                combo.addItem(repr(result), result)
            combo.setCurrentIndex(combo.findData(result))
            combo.currentIndexChanged.connect(
                self._choose_encoding if combo is self.encoding else self._read_again
            )
            label = plain_label(name)
            label.setBuddy(combo)
            for widget in (label, combo):
                row.addWidget(widget)
                shown = preview.layers if combo is self.layer else preview.delimiter
                widget.setVisible(bool(shown))
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
            label = plain_label(MNEMONICS.get(role, f"&{name}") + (" *" if needed else ""))
            label.setBuddy(combo)
            label.setToolTip(help_text)
            grid.addWidget(label, place // 3, 2 * (place % 3))
            grid.addWidget(combo, place // 3, 2 * (place % 3) + 1)
            grid.setColumnStretch(2 * (place % 3) + 1, 1)
            self.combos[role] = combo
        self.unit = ChoiceBox("What counts as one person?")
        self.unit.setToolTip(UNIT_HELP)
        for unit, words in UNITS.items():
            self.unit.addItem(words, unit)
        self.unit.currentIndexChanged.connect(self._unit_changed)
        label = plain_label("What counts as one &person?")
        label.setBuddy(self.unit)
        label.setToolTip(UNIT_HELP)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addWidget(self.unit, 1)
        grid.addLayout(row, len(ROLES) // 3, 2 * (len(ROLES) % 3), 1, 4)
        return grid

    def _read_again(self) -> None:
        """Read the beginning of the file again with the chosen dialect."""
        request = self._asked
        self._refused = READING_FILE
        self._check()
        source = self.request.source
        delimiter, encoding, decimal, layer = request
        unpack = self.request.preview.dialect.unpack

        def look(task: Task) -> Preview:
            files = checkins.find_files(source, task.cancelled)
            return checkins.sniff_files(
                files,
                delimiter,
                encoding,
                task.cancelled,
                decimal=decimal,
                layer=layer,
                unpack=unpack,
            )

        self._job.submit(request, look)

    @property
    def _asked(self) -> tuple[str, str | None, str | None, str | None]:
        """Chosen dialect, and the layer or sheet."""
        layer = self.layer.currentData() or None
        return self.delimiter.currentData(), self._encoding, self._decimal, layer

    def _choose_encoding(self) -> None:
        self._encoding = self.encoding.currentData()
        self._read_again()

    def _choose_decimal(self, decimal: str) -> None:
        self._decimal = decimal
        self._read_again()

    def _preview_read(
        self, asked: tuple[str, str | None, str | None, str | None], preview: Preview
    ) -> None:
        if asked == self._asked:
            self.preview, self._refused = preview, ""
            self._show_preview()

    def _preview_failed(self, asked: object, error: Exception) -> None:
        if asked == self._asked:
            self._refused = explain(error, "data").sentence
            self._check()

    def _show_preview(self) -> None:
        """Show columns and rows of the preview with the detected mapping."""
        preview = self.preview
        self.detected.setText(self._detected())
        suggested = preview.suggested
        self._order = suggested.order
        for role, _name, _help, needed in ROLES:
            combo = self.combos[role]
            with QSignalBlocker(combo):
                combo.clear()
                combo.addItem("— choose —" if needed else "— none —", None)
                for column, title in enumerate(preview.columns):
                    combo.addItem(title, column)
                guess = getattr(suggested, role)
                combo.setCurrentIndex(0 if guess is None else guess + 1)
        with QSignalBlocker(self.unit):
            self.unit.setCurrentIndex(self.unit.findData(preview.suggested.unit))
        cells = (cell for row in preview.rows for cell in row)
        decimal = preview.dialect.decimal
        fraction = next((cell for cell in cells if has_fraction(cell, decimal)), "")
        with QSignalBlocker(self.reading):
            self.reading.show_reading(decimal, preview.mapping.zone, fraction.strip())
            self._show_times(suggested.time, preview.mapping.time_format)
        with QSignalBlocker(self.plane):
            self.plane.show_plane(preview.mapping.plane)
        with QSignalBlocker(self.system):
            self.system.place(self._points())
            self.system.show_system(preview.mapping.crs)
        self._named_e7 = preview.mapping.crs == E7
        self.rows.show_rows(preview, SHOWN)
        self._check()

    @property
    def dialect(self) -> Dialect | None:
        """Chosen dialect, if it differs from the detected one."""
        result = self.preview.dialect
        return result if result.unpack or result != self.request.preview.dialect else None

    @property
    def mapping(self) -> Mapping:
        """Chosen mapping."""
        return Mapping(
            **{role: combo.currentData() for role, combo in self.combos.items()},
            time_format=self.reading.time_format,
            zone=self.reading.zone_name,
            decimal=self._decimal,
            encoding=self._encoding or self._confirmed_encoding,
            plane=self.plane.text,
            crs=self.system.crs if self.plane.text is None else None,
            unit=self.unit.currentData(),
            order=self._order,
        )

    @property
    def _confirmed_encoding(self) -> str | None:
        """Detected encoding, if it was ambiguous."""
        request = any(question.key == "encoding" for question in self.preview.questions)
        return self.preview.encoding if request else None

    def _points(self) -> Points | None:
        """Return y and x of the first rows in the chosen columns."""
        lat, lon = (self.combos[role].currentData() for role in ("lat", "lon"))
        if lat is None or lon is None:
            return None
        read = partial(number, decimal=self.preview.dialect.decimal)
        return points_of(self.preview.rows, lat, lon, read)

    @property
    def problem(self) -> str:
        """Reason why it cannot be loaded; empty if it can."""
        if self._refused:
            return self._refused
        if self.preview.layers and not self.layer.currentData():
            return "Choose the layer or sheet with the check-ins."
        mapping = self.mapping
        if mapping.missing:
            other = ", or what counts as one person" * ("user" in mapping.missing)
            return f"Choose the column with the {' and the '.join(mapping.missing)}{other}."
        if self.plane.problem or self.reading.problem:
            return self.plane.problem or self.reading.problem
        if not mapping.planar and self.system.problem:
            return self.system.problem
        if mapping.image is not None and not mapping.planar:
            return "Images are for x and y of a plane; tick that, or choose no image."
        used = mapping.columns
        twice = next((c for c in used if used.count(c) > 1), None)
        if twice is not None:
            name = self.preview.columns[twice]
            return f"Column “{name}” is chosen twice; every column can hold one thing."
        if self._readable() == 0 and self.preview.rows:
            return "None of the first rows can be read with these settings."
        return self.questions.problem

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
                f"encoding {encodings.shown_encoding(preview.encoding)}",
                f"names in line {preview.dialect.lines_before_header + 1}"
                if preview.has_header
                else "no header",
            ]
            if preview.dialect.decimal == ",":
                parts.append("decimal commas")
            language = language_of(preview.columns)
            if preview.has_header and language != ENGLISH:
                parts.append(f"{language} names")
            if preview.dialect.compressed:
                parts.insert(1, "gzip")
        return ("Detected: " if self.dialect is None else "Read as: ") + ", ".join(parts) + "."

    def _show_times(self, column: int | None, guess: str = "") -> None:
        """Offer the formats that match a column's first rows."""
        values = [r[column] for r in self.preview.sample if column is not None and column < len(r)]
        preview = self.preview
        result = time_formats(values, preview.dialect.decimal, preview.serials)
        self.reading.show_times(result, values, next(iter(result), guess))

    def _answer(self, candidate: Candidate | None) -> None:
        """Apply the answer of a card to the fields."""
        fields = dict(candidate.fields) if candidate is not None else {}
        for name, value in fields.items():
            combo = self.combos.get(name)
            if combo is not None:
                with QSignalBlocker(combo):
                    combo.setCurrentIndex(0 if value is None else value + 1)
        if "user" in fields:
            with QSignalBlocker(self.unit):
                self.unit.setCurrentIndex(self.unit.findData(fields.get("unit")))
        if "time" in fields:
            with QSignalBlocker(self.reading):
                self._show_times(fields["time"])
        if "lat" in fields:
            self._order = fields.get("order")
            self.system.place(self._points())
            self._take_system_of_names()
        for name, value in fields.items():
            if name in self._boxes:
                self._boxes[name].setCurrentIndex(self._boxes[name].findData(value))
        self._check()

    def _open_questions(self) -> tuple[Question, ...]:
        """Return the open questions for the chosen columns."""
        mapping = replace(self.mapping, crs=self.preview.mapping.crs)
        state = (self.preview, mapping.time, mapping.lat, mapping.lon, mapping.plane)
        if self._questions[0] != state:
            self._questions = state, remaining_questions(self.preview, mapping, ())
        return self._questions[1]

    def _swap(self) -> None:
        """Swap the columns of latitude and longitude."""
        lat, lon = (self.combos[role] for role in ("lat", "lon"))
        before = lat.currentIndex(), lon.currentIndex()
        with QSignalBlocker(lat), QSignalBlocker(lon):
            lon.setCurrentIndex(before[0])
            lat.setCurrentIndex(before[1])
        self.system.place(self._points())
        self._check()

    def _unit_changed(self) -> None:
        """Disable the user column if a row or the file is the unit."""
        if self.unit.currentData() is not None:
            with QSignalBlocker(self.combos["user"]):
                self.combos["user"].setCurrentIndex(0)
        self._check()

    def _changed(self) -> None:
        if self.combos["user"].currentData() is not None:
            with QSignalBlocker(self.unit):
                self.unit.setCurrentIndex(0)
        if self.sender() in (self.combos["lat"], self.combos["lon"]):
            self._order = None
            self.system.place(self._points())
            self._take_system_of_names()
        if self.sender() is self.combos["time"]:
            with QSignalBlocker(self.reading):
                self._show_times(self.combos["time"].currentData())
        self._check()

    def _take_system_of_names(self) -> None:
        """Scale integer degrees (times ten million) while both column names say so."""
        lat, lon = (self.combos[role].currentData() for role in ("lat", "lon"))
        named = is_e7(self.preview.columns if self.preview.has_header else (), lat, lon)
        if named != self._named_e7 and None not in (lat, lon):
            self._named_e7 = named
            before = self.preview.mapping.crs
            with QSignalBlocker(self.system):
                self.system.show_system(E7 if named else None if before == E7 else before)

    def _readable(self) -> int:
        mapping, decimal = self.mapping, self.preview.dialect.decimal
        width = len(self.preview.columns)
        return sum(
            len(row) == width and not bad_cells(row, mapping, decimal) for row in self.preview.rows
        )

    def _check(self) -> None:
        mapping = self.mapping
        with QSignalBlocker(self.reading):
            self.reading.set_used(mapping.time is not None)
        self.system.setEnabled(not mapping.planar)
        self.questions.ask(self._open_questions())
        values = {name: getattr(mapping, name) for name in Mapping.__dataclass_fields__}
        values |= {name: box.currentData() for name, box in self._boxes.items()}
        self.questions.follow(values)
        self.rows.judge(mapping, {getattr(mapping, role): name for role, name, _, _ in ROLES})
        swapped = looks_swapped(self.preview.rows, mapping, self.preview.dialect.decimal)
        self.swap_button.setVisible(bool(swapped))
        style = map_style_for(self.palette())
        problem = self.problem
        total, good = len(self.preview.rows), self._readable()
        self.verdict.setText(
            problem
            or f"{good} of the first {total} rows can be read with these settings; "
            + ("the others will be rejected and listed." if good < total else "load them.")
            + (f" {swapped}" if swapped else "")
        )
        colour = (
            style.warn_text if problem or swapped else QColor(self.palette().windowText().color())
        )
        self.verdict.setStyleSheet(f"color: {colour.name()};")
        self.load_button.setEnabled(not problem)
        self.load_button.setDefault(not problem)

    def _close_jobs(self) -> None:
        self._job.close()
        self.system.close_job()

    def _accept(self) -> None:
        if not self.problem:
            if self.plane.picture is not None and self.plane.text:
                self.picture_selected.emit(self.plane.picture)
            self.load.emit(self.request.source, self.mapping, self.dialect)
            self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels; Return loads only valid input."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._accept()
            return
        super().keyPressEvent(event)
