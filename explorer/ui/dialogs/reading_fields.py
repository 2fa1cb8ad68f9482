"""Fields for reading a file: encoding, delimiter, numbers, header, dates, zone; system, plane."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QLocale,
    QSignalBlocker,
    Qt,
    QTime,
    QTimeZone,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStyleOptionComboBox,
    QVBoxLayout,
    QWidget,
)

from explorer.checkins.model import E7, Preview
from explorer.checkins.parsing.column_names import ENGLISH, language_of
from explorer.checkins.parsing.crs import candidates
from explorer.checkins.parsing.encodings import NAMES
from explorer.checkins.parsing.numbers import has_fraction
from explorer.checkins.parsing.times import (
    OFFERED,
    distinguishing_value,
    example_of,
    format_of_example,
    meaning_of,
    moment,
    only_digits,
    reads_time,
    takes_zone,
    time_formats,
)
from explorer.figures.pages.backdrop import MAX_BYTES, size_of
from explorer.files import read_bounded
from explorer.geography.plane import PIXEL, Plane, plain
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import plain_label, plain_tip, styled_label, tool_button
from explorer.ui.panels.plane import PICTURES
from explorer.ui.plot.labels import ElidedLabel
from explorer.ui.widgets.boxes import ChoiceBox, ZoneField, paint_chevron

if TYPE_CHECKING:
    from explorer.checkins.parsing.crs import Points


DEGREES, UNKNOWN, OTHER, PLANE = "degrees", "", "other", "plane"
NOT_YET = "Choose the reference system of the coordinates: the file does not say it."
LOOKING_UP = "Looking up the reference system …"


class SystemFields(QWidget):
    """Choice of the reference system, with the resulting position of the first row.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._points: Points | None = None
        self._asked = False
        self._wrong = self._known = ""
        self._job = LatestJob("looking up a reference system", self, preempt_after_s=0.0)
        self._job.done.connect(self._found)
        self._job.failed.connect(self._not_found)
        self.system = ChoiceBox("Reference system of the coordinates")
        self.system.setMinimumContentsLength(4)
        self.system.setToolTip("What x (easting) and y (northing) are measured in")
        self.number = QLineEdit(placeholderText="EPSG number")
        self.number.setAccessibleName("EPSG number of the reference system")
        self.where = styled_label("hint", "", word_wrap=True)
        self.where.hide()
        label = plain_label("Coordinates")
        label.setBuddy(self.system)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(0, 84)
        grid.setColumnStretch(1, 1)
        grid.addWidget(label, 0, 0)
        grid.addWidget(self.system, 0, 1)
        grid.addWidget(self.number, 1, 1)
        grid.addWidget(self.where, 2, 1)
        self._offer(None)
        self.system.currentIndexChanged.connect(self._update)
        self.number.editingFinished.connect(self._update)
        self.number.textEdited.connect(self._typing)

    @property
    def crs(self) -> str | None:
        """The system as `Mapping.crs`: None for degrees or a plane, empty if not chosen."""
        selected = self.system.currentData()
        if selected == OTHER:
            return self.number.text().strip()
        return None if selected in (DEGREES, PLANE) else str(selected)

    @property
    def stops(self) -> list[QWidget]:
        """Widgets that the focus visits, in order."""
        return [self.system, self.number]

    @property
    def planar(self) -> bool:
        """Whether x and y are in a plane that is not the Earth."""
        return bool(self.system.currentData() == PLANE)

    @property
    def problem(self) -> str:
        """Error or missing input."""
        if self.crs is None:
            return ""
        return NOT_YET if not self.crs else self._wrong

    def show_system(self, crs: str | None, planar: bool = False) -> None:
        """Show the system found in the file; None for degrees, empty for none."""
        self._offer(PLANE if planar else crs)
        self._update()

    def place(self, points: Points | None) -> None:
        """Set y and x of the first rows, which suggest likely systems."""
        self._points = points
        with QSignalBlocker(self.system):
            self._offer(PLANE if self.planar else self.crs)
        self._look_up()

    def close_job(self) -> None:
        """Stop and wait for the thread."""
        self._job.close()

    def _offer(self, crs: str | None) -> None:
        likely = [] if self._points is None else candidates(self._points)
        self._asked |= crs == ""
        items = [(DEGREES, "degrees (WGS 84)"), (E7, "degrees times ten million (E7)")]
        if self._asked and self.system.currentData() != OTHER:
            items.insert(0, (UNKNOWN, "— choose —"))
        items += [(name, f"{name}: {words}") for name, words in likely]
        if crs and crs not in (*dict(items), PLANE) and self.system.currentData() != OTHER:
            items.append((crs, crs))
        items.append((OTHER, "another one, by its EPSG number"))
        items.append((PLANE, "of a picture or plane"))
        selected = OTHER if self.system.currentData() == OTHER else DEGREES if crs is None else crs
        with QSignalBlocker(self.system):
            self.system.offer(items, selected)
        self.number.setVisible(self.system.currentData() == OTHER)

    def _typing(self) -> None:
        self._wrong = LOOKING_UP
        self.changed.emit()

    def _update(self) -> None:
        self.number.setVisible(self.system.currentData() == OTHER)
        self._look_up()
        self.changed.emit()

    def _look_up(self) -> None:
        """Look up the chosen system."""
        mark(self.system, self.crs == "")
        self._locate()

    def _locate(self) -> None:
        """Compute the position of the first row, in a thread because PROJ starts slowly."""
        crs, points = self.crs, self._points
        self._say("")
        if not crs:
            self._job.cancel()
            self._wrong = ""
            return
        if crs != self._known:
            self._wrong = LOOKING_UP
        first = None if points is None or not points[0].size else (points[0][:1], points[1][:1])

        def locate(_task: object) -> tuple[float, float] | None:
            from explorer.checkins.parsing.crs import canonical_crs, converter

            name = canonical_crs(crs)
            if first is None or name is None:
                return None
            lat, lon = converter(name)(*first)
            return float(lat[0]), float(lon[0])

        self._job.submit(crs, locate)

    def _found(self, crs: str, place: tuple[float, float] | None) -> None:
        if crs != self.crs:
            return
        self._wrong, self._known = "", crs
        if place is not None:
            self._say(_position_text(*place))
        self.changed.emit()

    def _say(self, text: str) -> None:
        self.where.setText(text)
        self.where.setVisible(bool(text))

    def _not_found(self, crs: str, error: Exception) -> None:
        if crs == self.crs:
            self._wrong, self._known = explain(error, "data").sentence, ""
            self.changed.emit()


def _position_text(lat: float, lon: float) -> str:
    """Return the position of the first row as text."""
    if not (abs(lat) <= 90 and abs(lon) <= 180):
        return "the first row does not convert"
    ns, ew = "NS"[lat < 0], "EW"[lon < 0]
    return f"first row: {abs(lat):.3f}° {ns}, {abs(lon):.3f}° {ew}"


def make_small(box: ChoiceBox) -> None:
    """Let a choice be low, and narrower than its entries."""
    box.setMinimumWidth(60)
    box.setProperty("tight", True)
    box.setFixedHeight(24)


ENDS = (("left", "x from"), ("right", "to"), ("low", "y from"), ("high", "to"))
PLANE_NOT_YET = (
    "Declare the range of x and y: it is not taken from the data, because it would reveal "
    "something about them."
)


class PlaneFields(QWidget):
    """Range of a plane that is not the Earth, and which picture a row is about.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.picture: Path | None = None
        """Picture whose size was used as range."""
        self._wrong = ""
        self.is_on = False
        """Whether positions are in a plane."""
        self.ends: dict[str, QLineEdit] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(4)
        for place, (key, name) in enumerate(ENDS):
            field = self.ends[key] = QLineEdit("0" if key in ("left", "low") else "")
            field.setAccessibleName(f"{'x' if key in ('left', 'right') else 'y'}, {key} end")
            field.setFixedWidth(50)
            label = plain_label(name)
            label.setBuddy(field)
            grid.addWidget(label, place // 2, 2 * (place % 2))
            grid.addWidget(field, place // 2, 2 * (place % 2) + 1)
        self.unit = QLineEdit(PIXEL)
        self.unit.setAccessibleName("Unit of x and y")
        self.unit.setMinimumWidth(40)
        self.way = ChoiceBox("Which way y goes")
        make_small(self.way)
        self.way.offer([("down", "y down"), ("up", "y up")], "down")
        self.button = QPushButton("Of a picture…")
        self.button.setAutoDefault(False)
        self.button.setToolTip("Take the size of a PNG or JPEG picture, and lay it behind the map")
        self.button.clicked.connect(self._ask)
        self.image = ChoiceBox("Column with the image")
        make_small(self.image)
        self.image.setToolTip("Which picture x and y lie in")
        grid.addWidget(self.unit, 0, 4)
        grid.addWidget(self.way, 1, 4)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.button)
        row.addWidget(plain_label("image"))
        row.addWidget(self.image, 1)
        grid.addLayout(row, 2, 0, 1, 5)
        grid.setColumnStretch(4, 1)
        for edit in (*self.ends.values(), self.unit):
            edit.textChanged.connect(self._update)
        self.way.currentIndexChanged.connect(self._update)
        self.image.currentIndexChanged.connect(self._update)
        self.hide()

    @property
    def stops(self) -> list[QWidget]:
        """Widgets that the focus visits, in order."""
        ends = self.ends
        first, second = [ends["left"], ends["right"]], [ends["low"], ends["high"]]
        return [*first, self.unit, *second, self.way, self.button, self.image]

    def set_on(self, on: bool) -> None:
        """Say whether positions are in a plane."""
        self.is_on = on
        self.setVisible(on)

    @property
    def text(self) -> str | None:
        """The plane as `Plane.text`, empty if incomplete; None for degrees."""
        if not self.is_on:
            return None
        plane = self._plane()
        return "" if plane is None else plane.text

    @property
    def problem(self) -> str:
        """Error or missing input."""
        return "" if self.text is None or self.text else self._wrong or PLANE_NOT_YET

    def show_plane(self, text: str | None) -> None:
        """Show a plane; an empty text for an undeclared one, None for degrees."""
        self.set_on(text is not None)
        if text:
            plane = Plane.parse(text)
            for key, field in self.ends.items():
                field.setText(plain(getattr(plane, key)))
            self.unit.setText(plane.unit)
            self.way.setCurrentIndex(self.way.findData("down" if plane.down else "up"))

    def offer_images(self, names: Sequence[str], chosen: int | None) -> None:
        """Offer the columns that may say which picture a row is about."""
        self.image.clear()
        self.image.addItem("none", None)
        for column, name in enumerate(names):
            self.image.addItem(name, column)
        self.image.setCurrentIndex(0 if chosen is None else chosen + 1)

    def take_picture(self, path: Path) -> None:
        """Use the size of a picture as range."""
        try:
            width, height = size_of(read_bounded(path, MAX_BYTES), path.name)
        except (OSError, ValueError) as error:
            self._wrong = f"{error}."
            self.changed.emit()
            return
        self.picture = path
        self.show_plane(Plane(0.0, 0.0, float(width), float(height)).text)

    def _plane(self) -> Plane | None:
        texts = {key: field.text().strip() for key, field in self.ends.items()}
        self._wrong = ""
        if not all(texts.values()):
            return None
        try:
            numbers = {key: float(text) for key, text in texts.items()}
            down = self.way.currentData() == "down"
            return Plane(**numbers, unit=self.unit.text().strip(), down=down)
        except ValueError as error:
            text = str(error).partition("could not convert string to float: ")
            self._wrong = f"{text[2]} is no number." if text[2] else f"{text[0]}."
            return None

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Picture that x and y lie in", "", PICTURES)
        if path:
            self.take_picture(Path(path))

    def _update(self) -> None:
        self.changed.emit()


DELIMITERS = {"\t": "tab", ",": ", comma", ";": "; semicolon", "|": "| bar", " ": "space"}
DECIMALS = {".": ". point", ",": ", comma"}
TYPED = "typed"
MAX_NUMBER = 10
"""Length up to which a number of the file is shown."""


class ShortChoice(ChoiceBox):
    """Choice that shows the chosen entry without what the list adds in parentheses."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Cut the text that is painted."""
        super().initStyleOption(option)
        option.currentText = option.currentText.partition(" (")[0]


class ZoneChoice(ZoneField):
    """Time zone, typed or chosen from the list that a click or ↓ opens."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark of a list."""
        super().paintEvent(event)
        paint_chevron(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the list."""
        super().mousePressEvent(event)
        self._open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the list with the down arrow."""
        super().keyPressEvent(event)
        if event.key() == Qt.Key.Key_Down:
            self._open()

    def _open(self) -> None:
        self.completer().setCompletionPrefix(self.text())
        self.completer().complete()


def mark(widget: QWidget, doubtful: bool) -> None:
    """Mark what is to be checked or chosen."""
    if bool(widget.property("doubtful")) != doubtful:
        widget.setProperty("doubtful", doubtful)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class FieldColumn(QWidget):
    """A field with its name above and a remark below."""

    def __init__(self, name: str, field: QWidget, width: int, beside: QWidget | None = None):
        super().__init__()
        self.field = field
        self.name = styled_label("field-name", name)
        self.name.setBuddy(field)
        self.remark = ElidedLabel()
        self.remark.setObjectName("hint")
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.name, 1)
        if beside is not None:
            top.addWidget(beside)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addLayout(top)
        box.addWidget(field)
        box.addWidget(self.remark)
        self.setFixedWidth(width)
        self.name.setFixedHeight(16)
        field.setFixedHeight(26)
        field.setProperty("tight", True)
        self.remark.setFixedHeight(16)

    def say(self, remark: str, more: str = "", doubtful: bool = False) -> None:
        """Show a remark; the tip has more, `doubtful` what to check."""
        self.remark.setText(remark)
        self.remark.setToolTip(plain_tip(more or remark))
        self.field.setAccessibleDescription(more or remark)
        for widget in (self.field, self.remark):
            mark(widget, doubtful)


class ReadingFields(QWidget):
    """Six choices of how a file is read, each followed by its effect on the file.

    Signals
    -------
    reread()
        Delimiter, encoding, decimal mark or layer were chosen: the file should be parsed again.
    encoding_confirmed()
        The detected encoding is right.
    changed()
    """

    reread = Signal()
    encoding_confirmed = Signal()
    changed = Signal()

    def __init__(self, preview: Preview) -> None:
        super().__init__()
        self._wrong = ""
        self._formats: tuple[str, ...] = ()
        self._values: list[str] = []
        self.encoding: ChoiceBox = ShortChoice("Text encoding")
        self.layer = ChoiceBox("Layer or sheet")
        self.delimiter = ChoiceBox("Delimiter")
        self.decimal = ChoiceBox("Decimal mark")
        self.header: ChoiceBox = ShortChoice("Header row")
        self.header.setToolTip("The line with the names of the columns")
        self.times = ChoiceBox("Date format")
        self.zone = ZoneChoice()
        self.example = QLineEdit(placeholderText="31.12.2024 23:59")
        self.example.setAccessibleName("An example of the times in the file")
        self.confirm_button = tool_button("Confirm", name="Confirm the text encoding", link=True)
        self.confirm_button.setProperty("low", True)
        self.confirm_button.setFixedHeight(16)
        self.confirm_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.confirm_button.clicked.connect(self.encoding_confirmed)
        self.text = bool(preview.delimiter)
        boxes: tuple[ChoiceBox, ...] = (self.encoding, self.layer)
        first, other = boxes if self.text else boxes[::-1]
        other.setParent(self)
        other.hide()
        self.first = FieldColumn(first.accessibleName(), first, 150, self.confirm_button)
        self.columns: dict[str, FieldColumn] = {
            name: FieldColumn(field.accessibleName() if name != "zone" else "Time zone", field, w)
            for name, field, w in (
                ("delimiter", self.delimiter, 120),
                ("decimal", self.decimal, 120),
                ("header", self.header, 110),
                ("times", self.times, 168),
                ("zone", self.zone, 196),
            )
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        for column in (self.first, *self.columns.values()):
            row.addWidget(column)
        row.addStretch(1)
        layers = {"": "— choose —"} if preview.layers and not preview.dialect.layer else {}
        names = preview.layers or (preview.dialect.layer,)
        layers |= {name: name or "the file" for name in names}
        for box, words, value in (
            (self.layer, layers, preview.dialect.layer),
            (self.delimiter, DELIMITERS if self.text else {"": "none"}, preview.delimiter),
            (self.encoding, NAMES, preview.encoding),
            (self.decimal, DECIMALS, preview.dialect.decimal),
        ):
            known = words if value in words else {**words, value: repr(value)}
            box.offer([(key, text) for key, text in known.items()], value)
        self.layer.setEnabled(bool(preview.layers))
        if not self.text:
            self.show_encoding(f"{len(layers)} in the file")
        self.delimiter.setEnabled(self.text)
        for box in (self.layer, self.delimiter, self.encoding, self.decimal, self.header):
            box.currentIndexChanged.connect(self.reread)
        self.times.currentIndexChanged.connect(self._chosen)
        self.example.textChanged.connect(self._chosen)
        self.zone.textChanged.connect(self._chosen)

    def show_preview(self, preview: Preview, time: int | None, guess: str) -> None:
        """Show what was detected, with the formats of a column of times."""
        dialect, names = preview.dialect, [*preview.columns]
        for box, value in (
            (self.encoding, preview.encoding),
            (self.delimiter, preview.delimiter),
            (self.decimal, dialect.decimal),
        ):
            with QSignalBlocker(box):
                if box.findData(value) >= 0:
                    box.setCurrentIndex(box.findData(value))
        self.columns["delimiter"].say(f"{len(names)} column{'s' * (len(names) != 1)}")
        cells = (cell.strip() for row in preview.rows for cell in row)
        fractions = (cell for cell in cells if has_fraction(cell, dialect.decimal))
        number = next((cell for cell in fractions if len(cell) <= MAX_NUMBER), "")
        same = number.replace(",", ".")
        text = f"{number} is {same}" if number != same else f"as in {number}"
        self.columns["decimal"].say(text if number else "")
        before = dialect.lines_before_header
        lines = [(number, f"line {number} ({text})") for number, text in preview.lines]
        none = "the first" if preview.has_header and not self.text else "none"
        with QSignalBlocker(self.header):
            self.header.offer([(0, none), *lines], preview.header_line)
        self.header.setEnabled(self.text)
        language = language_of(names) if preview.has_header else ENGLISH
        remarks = [f"{before} line{'s' * (before != 1)} before it"] if before else []
        remarks += [f"{language} names"] if language != ENGLISH else []
        remarks = remarks or ["names of columns" if preview.has_header else "no names"]
        self.columns["header"].say(remarks[0], ", ".join(remarks))
        if preview.mapping.zone:
            with QSignalBlocker(self.zone):
                self.zone.setText(preview.mapping.zone)
        self.show_times(preview, time, guess)

    def show_encoding(
        self, remark: str, more: str = "", doubtful: bool = False, confirmed: bool = False
    ) -> None:
        """Show how sure the encoding is, and why; a doubtful one is confirmed, or chosen anew."""
        self.first.say(remark, more, doubtful)
        self.confirm_button.setVisible(doubtful or confirmed)
        self.confirm_button.setEnabled(doubtful)
        self.confirm_button.setText("✓ Confirmed" if confirmed else "Confirm")

    def show_times(self, preview: Preview, column: int | None, guess: str = "") -> None:
        """Offer the formats that match a column's first rows, then common ones, with examples."""
        values = [r[column] for r in preview.sample if column is not None and column < len(r)]
        formats = time_formats(values, preview.dialect.decimal, preview.serials)
        chosen = next(iter(formats), guess)
        self._formats = tuple(formats)
        self._values = [value.strip() for value in values if value.strip()]
        items = [(form, self._seen(form)) for form in formats]
        if len(formats) > 1:
            items.insert(0, ("", "— choose —"))
            chosen = ""
        known = {form for form, _ in items}
        items += [(form, example_of(form)) for form in OFFERED if form not in known]
        if chosen and chosen not in {form for form, _ in items}:
            items.append((chosen, example_of(chosen)))
        with QSignalBlocker(self.times):
            self.times.offer([*items, (TYPED, "like an example…")], chosen)
        self._chosen()

    def fits(self, form: str) -> bool:
        """Return whether most times of the column have a format."""
        return 2 * sum(reads_time(value, form) for value in self._values) > len(self._values)

    def choose_format(self, form: str) -> None:
        """Choose a format, which need not be offered yet."""
        if self.times.findData(form) < 0:
            self.times.addItem(example_of(form), form)
        self.times.setCurrentIndex(self.times.findData(form))

    @property
    def time_format(self) -> str:
        """Chosen format; ISO 8601 by default."""
        selected: str = self.times.currentData() or ""
        if selected == TYPED:
            try:
                return format_of_example(self.example.text().strip())
            except ValueError:
                return next(iter(self._formats), "iso")
        return selected or next(iter(self._formats), "iso")

    @property
    def zone_name(self) -> str | None:
        """Time zone as typed; None for UTC."""
        return self.zone.zone

    @property
    def typed(self) -> bool:
        """Whether the format is that of a typed example."""
        return bool(self.times.currentData() == TYPED)

    @property
    def naive(self) -> bool:
        """Whether the file does not state the zone of its times."""
        return self.times.isEnabled() and takes_zone(self.time_format) and not self._stated

    @property
    def _stated(self) -> bool:
        """Whether the first time has its own offset."""
        read = moment(next(iter(self._values), ""), self.time_format)
        return read is not None and read.tzinfo is not None and self.time_format == "iso"

    @property
    def problem(self) -> str:
        """Reason why the choices are invalid; empty if valid."""
        return self._wrong if self.times.isEnabled() else ""

    def set_used(self, used: bool) -> None:
        """Enable the time fields if there is a column of times."""
        for widget in (self.times, self.example):
            widget.setEnabled(used)
        self.zone.setEnabled(used and takes_zone(self.time_format))
        self._describe(used)

    def _seen(self, form: str) -> str:
        """Return an example of a format from the file, explained if ambiguous."""
        value = next((v for v in self._values if reads_time(v, form)), example_of(form))
        if len(self._formats) < 2:
            return value[:40]
        value = distinguishing_value(self._values, self._formats) or value
        read = moment(value, form)
        clock = f"{read:, %H:%M}" if read and only_digits(form) else ""
        return f"{value[:40]}: {_in_words(read)}{clock}" if read else value[:40]

    def _chosen(self) -> None:
        self._wrong = ""
        if self.times.currentData() == "":
            orders = " or ".join(map(meaning_of, self._formats))
            value = distinguishing_value(self._values, self._formats)
            self._wrong = f"Choose what {value[:40]} means: {orders}."
        elif self.times.currentData() == TYPED:
            try:
                format_of_example(self.example.text().strip())
            except ValueError as error:
                self._wrong = f"{str(error)[:1].upper()}{str(error)[1:]}."
        self._wrong = self._wrong or self.zone.problem
        self._describe(self.times.isEnabled())
        self.changed.emit()

    def _describe(self, used: bool) -> None:
        """Show below the fields how the file is interpreted."""
        times, zone, form = self.columns["times"], self.columns["zone"], self.time_format
        meaning = "" if not used or self._wrong else meaning_of(form)
        unsure = used and self.times.currentData() == ""
        times.say(
            "choose what it means" if unsure else meaning.partition(" hour")[0], meaning, unsure
        )
        self.zone.setPlaceholderText(
            "no times"
            if not used
            else "UTC, not stated in the file"
            if self.naive
            else "stated in the file"
        )
        if not used or self._wrong:
            zone.say("")
        elif not takes_zone(form):
            zone.say("the times say it themselves")
        else:
            zone.say(self._in_utc(form))

    def _in_utc(self, form: str) -> str:
        """Return the first time of the file in UTC."""
        value = next((v for v in self._values if reads_time(v, form)), "")
        wall = moment(value, form) if value else None
        if wall is None:
            return "times without an offset are UTC" if self.zone_name is None else ""
        day = QDate(wall.year, wall.month, wall.day)
        clock = QTime(wall.hour, wall.minute, wall.second)
        offset = wall.utcoffset()
        zone = (
            QTimeZone((self.zone_name or "UTC").encode())
            if offset is None
            else QTimeZone(int(offset.total_seconds()))
        )
        before = QDateTime.TransitionResolution.RelativeToBefore
        utc = QDateTime(day, clock, zone, before).toUTC()
        days = utc.date().daysTo(day)
        when = {0: "", 1: " the day before", -1: " the day after"}[days]
        return f"{wall:%H:%M} is {utc.toString('HH:mm')} UTC{when}"


def _in_words(moment: datetime) -> str:
    month = QLocale(QLocale.Language.English).monthName(moment.month)
    return f"{moment.day} {month} {moment.year}"
