"""Release wizard: cards, fields and rows of its pages; frame with steps, footer and help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPixmap,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme, is_narrow
from explorer.ui.release.fields import CHOICE_LABELS, Field
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.section import Section

NOT_SELECTED = "choose…"
IN_A_ROW = 4


class Card(QFrame):
    """Frame with a heading and rows.

    Parameters
    ----------
    title : str
        "" for no heading.
    badge : str
        Text beside the heading.
    *actions : QWidget
        Widgets at the right end of the heading.
    """

    def __init__(self, title: str, *actions: QWidget, badge: str = "") -> None:
        super().__init__()
        self.setObjectName("card")
        self.rows = QVBoxLayout(self)
        self.set_narrow(narrow=False)
        if not title:
            return
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title = bold_label(title)
        head.addWidget(self.title)
        if badge:
            head.addWidget(styled_label("badge", badge))
        head.addStretch(1)
        for action in actions:
            head.addWidget(action)
        self.rows.addLayout(head)

    def set_narrow(self, *, narrow: bool) -> None:
        """Set the margins for a small window or a usual one."""
        self.rows.setContentsMargins(*((10, 4, 10, 5) if narrow else (14, 8, 14, 10)))
        self.rows.setSpacing(3 if narrow else 6)

    def add(self, *parts: QWidget) -> None:
        """Stack parts vertically."""
        for part in parts:
            self.rows.addWidget(part)


def bold_label(text: str, points: int = 0) -> QLabel:
    """Return a bold label; a size of 0 means the usual one."""
    label = styled_label("", text)
    font = label.font()
    font.setBold(True)
    if points:
        font.setPointSize(points)
    label.setFont(font)
    return label


def reserved_label(name: str, lines: int, text: str = "") -> QLabel:
    """Return a label with word wrap that always takes the height of some lines."""
    label = styled_label(name, text, word_wrap=True)
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    label.setMinimumWidth(60)
    set_lines(label, lines)
    return label


def set_lines(label: QLabel, lines: int) -> None:
    """Give a label the height of some lines."""
    label.setFixedHeight(label.fontMetrics().lineSpacing() * lines + 2)


def labelled(text: str, part: QWidget) -> QWidget:
    """Place a label above a part."""
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    label = styled_label("faint", text)
    label.setBuddy(part)
    column.addWidget(label)
    column.addWidget(part)
    return widget


def mark_wrong(part: QWidget, *, wrong: bool) -> None:
    """Draw a field with a red frame, or as usual."""
    if bool(part.property("wrong")) != wrong:
        part.setProperty("wrong", wrong)
        part.style().unpolish(part)
        part.style().polish(part)


class PhaseList(QWidget):
    """Phases of a release side by side: done, current and later ones, with a bar while it runs.

    Parameters
    ----------
    theme : Theme
    phases : sequence of (str, str)
        Name and note of each.

    Attributes
    ----------
    current : int
        Index of the running phase; -1 for none.
    """

    def __init__(self, theme: Theme, phases: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._theme, self._phases, self.current = theme, phases, -1
        self.titles = [bold_label(title) for title, _ in phases]
        self._marks = [styled_label("") for _ in phases]
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)  # no share: the duration depends on the noise
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.bar.setStyleSheet("QProgressBar { border: none; min-height: 6px; max-height: 6px; }")
        self.bar.setAccessibleName("The release is running")
        keep = self.bar.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(keep)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for place, (mark, title, (_, note)) in enumerate(
            zip(self._marks, self.titles, phases, strict=True)
        ):
            mark.setFixedSize(20, 20)
            mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(mark, 0, 2 * place)
            grid.addWidget(title, 0, 2 * place + 1)
            grid.addWidget(reserved_label("faint", 2, note), 1, 2 * place + 1)
            grid.setColumnStretch(2 * place + 1, 1)
        grid.addWidget(self.bar, 2, 0, 1, 2 * len(phases))
        theme.changed.connect(lambda: self.show_phase(self.current))
        self.show_phase(-1)

    def show_phase(self, current: int) -> None:
        """Show which phase is running; -1 for none."""
        self.current = current
        self.bar.setVisible(current >= 0)
        colours = self._theme.chrome
        for place, (mark, title) in enumerate(zip(self._marks, self.titles, strict=True)):
            done, now = place < current, place == current
            mark.setText("✓" if done else str(place + 1))
            text = colours.on_accent if now else colours.good if done else colours.muted
            edge = colours.accent if now else colours.good if done else colours.edge
            back = colours.accent if now else "transparent"
            mark.setStyleSheet(
                f"color: {text}; background: {back}; border: 1px solid {edge}; border-radius: 10px;"
            )
            word = "running" if now else "done" if done else "not begun"
            title.setAccessibleName(f"{self._phases[place][0]}: {word}")


class TypedFields(QWidget):
    """Fields of a mechanism or a file, several per row.

    Signals
    -------
    typed(str, str)
        Key of a field and its text.
    """

    typed = Signal(str, str)

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        super().__init__()
        self._columns = in_a_row
        self.edits: dict[str, QLineEdit | ChoiceBox] = {}
        self._labels: list[QLabel] = []
        self._fields: list[Field] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(1)
        for column in range(in_a_row):
            self._grid.setColumnStretch(column, 1)

    def offer(self, fields: Sequence[Field], text_of: Callable[[str], str]) -> None:
        """Show fields with their texts; the same fields keep their widgets and the focus."""
        if list(fields) == self._fields:
            self.show_texts(text_of)
            return
        self._fields = list(fields)
        for part in (*self._labels, *self.edits.values()):
            self._grid.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.edits, self._labels = {}, []
        row = column = 0
        for field in fields:
            wide = min(field.width, self._columns)
            if column + wide > self._columns:
                row, column = row + 2, 0
            label = styled_label("faint", field.label)
            edit = self._choice(field) if field.choices else self._edit(field)
            label.setBuddy(edit)
            edit.setToolTip(field.tip)
            self._grid.addWidget(label, row, column, 1, wide)
            self._grid.addWidget(edit, row + 1, column, 1, wide)
            self.edits[field.key] = edit
            self._labels.append(label)
            column += wide
        self.show_texts(text_of)

    def show_texts(self, text_of: Callable[[str], str]) -> None:
        """Set the texts without emitting a signal."""
        for key, edit in self.edits.items():
            text = text_of(key)
            with QSignalBlocker(edit):
                if isinstance(edit, ChoiceBox):
                    edit.setCurrentIndex(max(edit.findData(text), 0))
                elif edit.text() != text:
                    edit.setText(text)

    def _edit(self, field: Field) -> QLineEdit:
        edit = QLineEdit()
        edit.setAccessibleName(field.label)
        edit.setPlaceholderText(field.example and f"for example: {field.example}")
        edit.textEdited.connect(lambda text, key=field.key: self.typed.emit(key, text))
        return edit

    def _choice(self, field: Field) -> ChoiceBox:
        box = ChoiceBox(field.label)
        labels = {choice: CHOICE_LABELS.get(choice, choice) for choice in field.choices}
        first = NOT_SELECTED if field.needed else f"{labels[field.standard]} (usual)"
        items = [("", first), *labels.items()]
        box.offer(items, "")
        box.currentIndexChanged.connect(
            lambda _, key=field.key, box=box: self.typed.emit(key, box.currentData())
        )
        return box


def row_of(wide: QWidget, *others: QWidget, first: bool = True) -> QWidget:
    """Place parts side by side; the wide one is first or last."""
    widget = QWidget()
    row = QHBoxLayout(widget)
    row.setContentsMargins(0, 0, 0, 0)
    for part in (wide, *others) if first else (*others, wide):
        row.addWidget(part, int(part is wide))
    return widget


HELP_WIDTH = 328
NARROW_HELP_WIDTH = 232
_MARK = 22
"""Diameter of the mark of a step, in pixels."""
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True)
class PageText:
    """Texts of a page of the wizard.

    Attributes
    ----------
    step : str
        Name in the list of steps; "" for a page that is no step.
    title, subtitle : str
    help : tuple of str
        Paragraphs of the help column.
    """

    step: str
    title: str
    subtitle: str
    help: tuple[str, ...]


class StepsBar(QFrame):
    """List of the steps: done, current and later ones; done ones can be opened.

    Parameters
    ----------
    theme : Theme
    names : sequence of str

    Signals
    -------
    chosen(int)
        Index of a step.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, names: Sequence[str]) -> None:
        super().__init__()
        self._theme, self._names = theme, names
        self._shown: tuple[object, ...] = ()
        self.setObjectName("card")
        self.setFixedHeight(42)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 14, 0)
        row.setSpacing(6)
        self.buttons = [QPushButton(name) for name in names]
        for place, button in enumerate(self.buttons):
            if place:
                line = QFrame()
                line.setObjectName("line")
                row.addWidget(line, 1)
            button.clicked.connect(partial(self.chosen.emit, place))
            bold = QFont(self.font())
            bold.setBold(True)
            button.setIconSize(QSize(_MARK, _MARK))
            width = QFontMetrics(bold).horizontalAdvance(f" {names[place]}") + _MARK
            button.setFixedWidth(width + 26)  # the same for all states
            row.addWidget(button)
        self.left = styled_label("muted")
        self.left.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.left.setFixedWidth(self.fontMetrics().horizontalAdvance("5 of 5 steps left") + 24)
        row.addWidget(self.left)
        theme.changed.connect(self._restyle)

    def show_steps(self, current: int, done: Sequence[bool], locked: bool, state: str) -> None:
        """Show the state of all steps.

        Parameters
        ----------
        current : int
            Index of the page in front; beyond the last step for the result.
        done : sequence of bool
        locked : bool
            Whether no step can be opened.
        state : str
            Text at the right end.
        """
        shown = (current, tuple(done), locked, state, self._theme.name)
        if shown == self._shown:
            return
        self._shown = shown
        colours = self._theme.chrome
        self.left.setText(state)
        for place, (button, name) in enumerate(zip(self.buttons, self._names, strict=True)):
            now, complete = place == current, done[place]
            mark = "✓" if complete and not now else str(place + 1)
            button.setText(f" {name}")
            edge = colours.accent if now else colours.good if complete else colours.edge
            front = colours.on_accent if now else colours.good if complete else colours.muted
            ratio = self.devicePixelRatioF()
            button.setIcon(_mark_icon(mark, front, edge, filled=now, ratio=ratio))
            word = "current" if now else "done" if complete else "not done"
            button.setAccessibleName(f"Step {place + 1} of {len(self._names)}, {name}: {word}")
            button.setEnabled(not locked and complete and not now)
            colour = colours.accent if now else colours.text if complete else colours.muted
            weight = "bold" if now else "normal"
            button.setStyleSheet(
                f"QPushButton {{ border: 1px solid transparent; background: transparent; "
                f"color: {colour}; font-weight: {weight}; padding: 4px 6px; }}"
                f"QPushButton:focus {{ border-color: {colours.accent}; }}"
            )

    def _restyle(self) -> None:
        if self._shown:
            current, done, locked, state, _ = self._shown
            self.show_steps(current, done, locked, state)  # type: ignore[arg-type]


def _mark_icon(text: str, front: str, edge: str, *, filled: bool, ratio: float) -> QIcon:
    """Return a circle with a text; the same for buttons that are off."""
    pixmap = QPixmap(QSize(_MARK, _MARK) * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(edge))
    painter.setBrush(QColor(edge) if filled else Qt.BrushStyle.NoBrush)
    circle = QRectF(0.5, 0.5, _MARK - 1, _MARK - 1)
    painter.drawEllipse(circle)
    painter.setPen(QColor(front))
    painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Disabled)
    return icon


class WizardFrame(QWidget):
    """Pages with steps, title, footer and help.

    Parameters
    ----------
    theme : Theme
    texts : sequence of PageText

    Signals
    -------
    cancelled()
        The wizard should be left; the draft stays.
    page_changed(int)
        Index of the page in front.

    Attributes
    ----------
    page : int
        Index of the page in front.
    """

    cancelled = Signal()
    page_changed = Signal(int)

    def __init__(self, theme: Theme, texts: Sequence[PageText]) -> None:
        super().__init__()
        self._theme, self._texts = theme, texts
        self.setObjectName("wizard")
        self.page = 0
        self._narrow = False
        self.steps = StepsBar(theme, [text.step for text in texts if text.step])
        self.steps.chosen.connect(self.go_to)
        self.title, self.subtitle = bold_label("", 14), styled_label("muted")
        self.stack = QStackedWidget()
        self._build_footer()
        self._build_side()
        left = QVBoxLayout()
        left.setContentsMargins(16, 2, 16, 10)
        left.setSpacing(0)
        left.addWidget(self.steps)
        left.addSpacing(6)
        left.addWidget(self.title)
        left.addWidget(self.subtitle)
        left.addSpacing(6)
        left.addWidget(self.stack, 1)
        left.addSpacing(8)
        left.addWidget(self.footer)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(left, 1)
        layout.addWidget(self.side)
        for place in range(len(self.steps.buttons)):
            key = QShortcut(QKeySequence(f"Alt+{place + 1}"), self)
            key.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            key.activated.connect(partial(self._open_step, place))

    def _build_footer(self) -> None:
        self.cancel, self.back, self.next = (
            QPushButton("Cancel"),
            QPushButton("‹ &Back"),
            QPushButton("&Next ›"),
        )
        self.cancel.setToolTip("Leaves the release; the draft is kept, nothing is spent (Esc)")
        self.cancel.setFixedWidth(100)
        self.next.setObjectName("door")
        for button in (self.back, self.next):
            button.setFixedWidth(110)
        for button in (self.cancel, self.back, self.next):
            button.setFixedHeight(32)
        self.message = reserved_label("wizard-message", 2)
        self.message.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.footer = QWidget()
        self.footer.setFixedHeight(38)
        row = QHBoxLayout(self.footer)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(12)
        row.addWidget(self.cancel)
        row.addWidget(self.message, 1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        self.cancel.clicked.connect(self.leave)
        self.back.clicked.connect(lambda: self.show_page(self.page - 1))
        self.next.clicked.connect(self.go_on)

    def _build_side(self) -> None:
        self.side = QFrame()
        self.side.setObjectName("card")
        self.side.setFixedWidth(HELP_WIDTH)
        self.help = styled_label("", word_wrap=True)
        self.help.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.help.setMinimumWidth(60)
        help_area = QScrollArea(widgetResizable=True)
        help_area.setFrameShape(QFrame.Shape.NoFrame)
        help_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        help_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        help_area.setWidget(self.help)
        help_area.setFixedHeight(268)
        self.details = Section("&Details")
        self.details.set_open(False)
        self.detail_text = styled_label("muted", word_wrap=True)
        self.detail_text.setTextFormat(Qt.TextFormat.RichText)
        self.detail_text.setMinimumWidth(60)
        self.detail_text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.detail_text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.detail_text.setAccessibleName("Details")
        column = QVBoxLayout(inner := QWidget())
        column.setContentsMargins(0, 4, 0, 0)
        column.addWidget(self.detail_text)
        self.detail_table = NumberTable("Noise of the release")
        self.detail_table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.detail_table.set_plain(1)
        self.detail_table.setSelectionMode(NumberTable.SelectionMode.NoSelection)
        self.detail_table.hide()
        self.detail_note = styled_label("faint", word_wrap=True)
        column.addWidget(self.detail_table)
        column.addWidget(self.detail_note)
        self.detail_links = QVBoxLayout()
        column.addLayout(self.detail_links)
        column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        self.details.rows.addWidget(area, 1)
        self.side_rows = QVBoxLayout(self.side)
        self.side_rows.setContentsMargins(16, 12, 16, 12)
        self.side_rows.addWidget(styled_label("heading", "ABOUT THIS STEP"))
        self.side_rows.addWidget(help_area)
        self.side_rows.addWidget(self.details, 1)
        self.side_rows.addStretch(0)
        self.details.folded.connect(self._fold)
        self._fold(True)

    def show_details(
        self,
        sections: Iterable[tuple[str, str]],
        columns: Sequence[str] = (),
        rows: Sequence[Sequence[str]] = (),
        note: str = "",
    ) -> None:
        """Show headings with their texts, and a table with a note below it."""
        shown = [
            "<br>".join(filter(None, (f"<b>{escape(heading)}</b>" * bool(heading), escape(text))))
            for heading, text in sections
            if text
        ]
        text = "".join(f"<p style='margin-top: 0'>{one}</p>" for one in shown)
        self.detail_text.setText(text.replace("\n", "<br>"))
        table = self.detail_table
        table.setVisible(bool(rows))
        self.detail_note.setText(note)
        if (columns, rows) == (table.table.columns, table.table.rows):
            return
        table.set_table(columns, rows)
        table.resizeColumnsToContents()
        header = table.horizontalHeader()
        if columns:
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        row = table.verticalHeader().defaultSectionSize()
        table.setFixedHeight(header.sizeHint().height() + row * len(rows) + 4)

    def _fold(self, folded: bool) -> None:
        self.side_rows.setStretch(2, int(not folded))
        self.side_rows.setStretch(3, int(folded))

    def add_page(self, page: QWidget) -> QScrollArea:
        """Add a page, which scrolls if there is too little space."""
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        self.stack.addWidget(area)
        return area

    # Pages

    def step_done(self, page: int) -> bool:
        """Whether a step is complete."""
        raise NotImplementedError

    def show_page(self, page: int) -> None:
        """Show a page."""
        self.page = page
        self.stack.setCurrentIndex(page)
        text = self._texts[page]
        self.title.setText(text.title)
        self.subtitle.setText(text.subtitle)
        self.help.setText("\n\n".join(text.help))
        self.page_changed.emit(page)

    def go_to(self, page: int) -> None:
        """Show a page, or the first incomplete one before it."""
        first = next((k for k in range(page) if not self.step_done(k)), page)
        self.show_page(first)

    def go_on(self) -> None:
        """Show the next page."""
        self.show_page(self.page + 1)

    def leave(self) -> None:
        """Leave the wizard."""
        self.cancelled.emit()

    def _open_step(self, place: int) -> None:
        if self.steps.buttons[place].isEnabled():
            self.go_to(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter is *Next* and never spends, publishes or withdraws; Esc is *Cancel*."""
        button = self.next if event.key() in _ENTER else self.cancel
        if event.key() in (*_ENTER, Qt.Key.Key_Escape) and button.isEnabled():
            button.click()
            event.accept()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow the help in a narrow window."""
        super().resizeEvent(event)
        narrow = is_narrow(self)
        self.side.setFixedWidth(NARROW_HELP_WIDTH if narrow else HELP_WIDTH)
        if narrow != self._narrow:
            self._narrow = narrow
            self.set_narrow(narrow=narrow)

    def set_narrow(self, *, narrow: bool) -> None:
        """Arrange all pages for a small window or a usual one."""
        for card in self.findChildren(Card):
            card.set_narrow(narrow=narrow)
