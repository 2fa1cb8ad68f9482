"""Parameters panel of the current study, generated from its declaration."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType

import numpy as np
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session, SessionState
from explorer.figures import style
from explorer.figures.captions import parameter_text
from explorer.studies.base.numbers import format_number, nearest
from explorer.studies.base.parameters import files_of
from explorer.studies.base.study import (
    Advice,
    Parameter,
    Request,
    Result,
    SpacePicture,
    Study,
    Value,
    relevant,
    with_unit,
)
from explorer.studies.heatmap.public import PRIOR_WEIGHT
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.controllers.file_controller import ParameterFiles
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.panels.range_play import RangePlay
from explorer.ui.plot.curves import SYMBOLS
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.parameter_rows import (
    FileRow,
    NumberRow,
    ParameterRow,
    ReleasesRow,
    make_row,
)
from explorer.ui.widgets.section import Section

MAX_POINTS = 1500
"""Maximum number of points; more would overlap in so small a picture."""
_MARGIN = 9.0


class SpacePlot(QWidget):
    """Points of a space in the plane, x and y on one scale, colour and shape by cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.points = np.empty((0, 2))
        self.groups = np.empty(0, np.intp)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)

    def set_points(self, points: np.ndarray, groups: np.ndarray) -> None:
        """Show points, one row each, and their clusters."""
        places = np.arange(len(points))
        if len(points) > MAX_POINTS:
            places = np.linspace(0, len(points) - 1, MAX_POINTS).round().astype(int)
        self.points = np.asarray(points, float)[places]
        self.groups = np.asarray(groups)[places]
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """Return a low size for points on a line, a higher one otherwise."""
        spans = np.ptp(self.points, axis=0) if len(self.points) else np.zeros(2)
        return QSize(220, 30 if spans[1] <= 0.05 * spans[0] else 118)

    def positions(self) -> np.ndarray:
        """Return the positions of the points in pixels of the widget."""
        if not len(self.points):
            return np.empty((0, 2))
        low, high = self.points.min(0), self.points.max(0)
        room = np.array([self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN])
        spans = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            scales = np.where(spans > 0, np.maximum(room, 1.0) / spans, np.inf)
        scale = float(scales.min()) if np.isfinite(scales.min()) else 1.0
        middle = np.array([self.width(), self.height()]) / 2
        flip = np.array([1.0, -1.0])
        positions: np.ndarray = middle + (self.points - (low + high) / 2) * scale * flip
        return positions

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the points."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        dark = palette.base().color().lightness() < 128
        theme = style.DARK if dark else style.LIGHT
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.setBrush(QColor(theme.axes))
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
        size = 5.0 if len(self.points) <= 150 else 3.0
        edge = QColor(theme.axes)
        for (x, y), group in zip(self.positions(), self.groups, strict=True):
            painter.save()
            painter.translate(QPointF(x, y))
            painter.scale(size, size)
            painter.setPen(QPen(edge, 0.6 / size))
            painter.setBrush(QColor(theme.curves[group % len(theme.curves)]))
            painter.drawPath(Symbols[SYMBOLS[style.MARKERS[group % len(style.MARKERS)]]])
            painter.restore()


class SpaceView(QWidget):
    """Kind, picture, diameter and note of a metric space."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: SpacePicture | None = None
        self.name = FixedSizeText()
        self.plot = SpacePlot()
        self.diameter = styled_label("muted", word_wrap=True)
        self.diameter.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.note = FixedSizeText("faint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 6)
        layout.setSpacing(4)
        for widget in (self.name, self.plot, self.diameter, self.note):
            layout.addWidget(widget)

    def show_space(self, space: SpacePicture) -> None:
        """Show a space, unless it is shown already."""
        before = self._shown
        if before is space or (before is not None and _same(before, space)):
            return
        self._shown = space
        clusters = len(np.unique(space.groups))
        name = space.name[:1].upper() + space.name[1:]
        self.name.setText(name)
        self.plot.set_points(space.points, space.groups)
        diameter = f"Diameter {format_number(space.diameter)} {space.unit}".rstrip()
        if diameter != self.diameter.text():
            self.diameter.setText(diameter)
        self.note.setText(space.note)
        self.note.setVisible(bool(space.note))
        self.plot.setAccessibleName(f"Picture of the space: {space.name}")
        self.plot.setAccessibleDescription(
            f"{len(space.points)} points"
            + (f" in {clusters} clusters" if clusters > 1 else "")
            + f". {diameter}. {space.note}"
        )
        self.plot.setToolTip(f"<p>{name}: {self.plot.accessibleDescription()}</p>")


def _same(a: SpacePicture, b: SpacePicture) -> bool:
    return (
        (a.name, a.diameter, a.unit, a.note) == (b.name, b.diameter, b.unit, b.note)
        and np.array_equal(a.points, b.points)
        and np.array_equal(a.groups, b.groups)
    )


class PriorWeights(QWidget):
    """Weight of a map's priors on every level that was read, as a table.

    Greyed while another map is computed.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._request: Request | None = None
        self.table = NumberTable("Weight of the priors by level, estimates made of noisy counts")
        self.table.set_plain(1)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.about = FixedSizeText("faint")
        self.about.setText(WEIGHTS_ARE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.setSpacing(3)
        layout.addWidget(self.table)
        layout.addWidget(self.about)
        self.hide()

    def show_result(self, result: Result) -> None:
        """Show the weights of a map; one that is not complete may have none yet."""
        rows = [
            (item.key.removeprefix(PRIOR_WEIGHT), f"{nearest(100 * item.value, 3)} %")
            for item in result.readouts
            if item.key.startswith(PRIOR_WEIGHT) and item.value is not None
        ]
        if rows or result.complete:
            self._request = result.request
            self.table.set_table(("Level", "Weight of the priors"), rows)
            row = self.table.verticalHeader().defaultSectionSize()
            head = self.table.horizontalHeader().sizeHint().height()
            self.table.setFixedHeight(head + len(rows) * row + 4)
            self.setEnabled(True)
            if self.isHidden() == bool(rows):
                self.setVisible(bool(rows))

    def show_request(self, request: Request) -> None:
        """Grey the weights of another map."""
        shown = self._request
        if shown is not None:
            self.setEnabled(replace(shown, fidelity=request.fidelity) == request)


TAKE = "take"


class AdviceLine(QLabel):
    """Sentence with advice and, if another value is set, a link to apply it.

    Signals
    -------
    taken(str, object)
        Key and value to set.
    """

    taken = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.setObjectName("muted")
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._advice: Advice | None = None
        self.linkActivated.connect(self._take)
        self.hide()

    def show_advice(self, advice: Advice, chosen: Value) -> None:
        """Show the recommendation if another value is set, and the caution."""
        self._advice = advice
        parts = [html.escape(advice.caution)] if advice.caution else []
        if chosen != advice.value:
            parts.insert(0, f'{html.escape(advice.reason)} <a href="{TAKE}">Use it</a>')
        text = "<br>".join(parts)
        if text != self.text():
            self.setText(text)
        if self.isHidden() == bool(text):
            self.setVisible(bool(text))

    def _take(self, _link: str) -> None:
        if self._advice is not None:
            self.taken.emit(self._advice.key, self._advice.value)


NO_RELEASE = "No release of this ledger can complete the map"
WEIGHTS_ARE = "Estimates made of noisy counts: how far each level of the map follows the priors."
SPACE, PRIORS = "space", "prior"
MORE = "more"
"""Heading of the section for secondary parameters."""
CLOSED_AT_FIRST = frozenset({MORE})
MAX_SUMMARY_VALUES = 6
"""Maximum number of values in its collapsed line; the tool tip has all."""
LETTERS = 48
"""Maximum length of one of them."""
TITLES = {
    SPACE: "Metric space",
    "mechanism": "Mechanism",
    "simulation": "Simulation",
    "data": "Data",
}
"""Headings of the groups, in order, below the main parameters."""


def group_parameters(parameters: tuple[Parameter, ...]) -> dict[str, list[Parameter]]:
    """Return parameters by group: main ones first, then the groups in order."""
    groups: dict[str, list[Parameter]] = {"": [], **{key: [] for key in TITLES}}
    for parameter in parameters:
        if parameter.in_panel:
            groups.setdefault(parameter.group, []).append(parameter)
    return groups


class _Page(QWidget):
    """Rows of one study: essential ones first, the rest in a collapsible section with groups."""

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.rows: dict[str, ParameterRow] = {}
        self.sections: dict[str, Section] = {}
        self._values: Mapping[str, Value] = {}
        self.space = SpaceView()
        self.space.hide()
        self.advice = AdviceLine(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 8)
        layout.setSpacing(2)
        self._front = _rows_layout(layout)
        self.more = self.sections[MORE] = Section("More parameters")
        layout.addWidget(self.more)
        self.told = FixedSizeText("faint")
        self.told.setContentsMargins(14, 0, 0, 0)
        layout.addWidget(self.told)
        layout.addWidget(self.advice)  # last, so that nothing moves when it appears
        self._homes: dict[str, QVBoxLayout] = {"": _rows_layout(self.more.rows)}
        self._groups = group_parameters(study.parameters)
        for group in filter(None, self._groups):
            title = TITLES.get(group, group[:1].upper() + group[1:])
            section = self.sections[group] = Section(title)
            self.more.rows.addWidget(section)
            self._homes[group] = _rows_layout(section.rows)
        for parameters in self._groups.values():
            for p in parameters:
                self.rows[p.key] = row = make_row(p)
                row.setAutoFillBackground(True)  # opaque: what is behind it is not painted again
        self._essential: tuple[str, ...] | None = None
        self._inserted: tuple[str, QWidget, list[QWidget]] | None = None
        self._summarised: tuple[object, ...] = ()
        """What the summary of the collapsed section was written from."""
        self.sections[SPACE].rows.addWidget(self.space)
        self.weights = PriorWeights(self)
        if PRIORS in self.sections:
            self.sections[PRIORS].rows.addWidget(self.weights)
        layout.addStretch(1)

    def place(self, essential: tuple[str, ...]) -> None:
        """Place the rows: those that are essential now come first."""
        if essential == self._essential:
            return
        self._essential = essential
        stops: list[QWidget] = []
        for key in essential:
            stops += self._put(key, self._front)
            if self._inserted is not None and key == self._inserted[0]:
                self._front.addWidget(self._inserted[1])
                stops += self._inserted[2]
        stops.append(self.more.heading)
        for group, parameters in self._groups.items():
            if group:
                stops.append(self.sections[group].heading)
            for p in parameters:
                if p.key not in essential:
                    stops += self._put(p.key, self._homes[group])
            if group == PRIORS:
                stops.append(self.weights.table)
        stops.append(self.advice)
        for before, after in pairwise(stops):  # Tab moves down the panel
            QWidget.setTabOrder(before, after)

    def insert(self, key: str, widget: QWidget, stops: list[QWidget]) -> None:
        """Insert a widget below the row of a parameter, with the stops of Tab inside it."""
        self._inserted = (key, widget, stops)
        self._front.addWidget(widget)
        widget.show()
        essential, self._essential = self._essential, None
        if essential is not None:
            self.place(essential)

    def _put(self, key: str, place: QVBoxLayout) -> list[QWidget]:
        """Append a row to a place; return its focusable widgets."""
        place.addWidget(self.rows[key])
        return self.rows[key].stops()

    def show_values(self, values: Mapping[str, Value]) -> None:
        """Show changed values only; a moving slider changes one of many.

        The values are those of `Request.unit_values`.
        """
        for key, row in self.rows.items():
            value, before = values[key], self._values.get(key)
            if before is None or value != before or type(value) is not type(before):
                row.show_value(value)
            source = row.parameter.unit_from
            if source and self._values.get(source) != values.get(source):
                row.show_unit(with_unit(row.parameter, values).unit)
        self._values = values

    def show_rows(self, shown: list[str]) -> None:
        """Show these rows and the headings of nonempty groups."""
        for key, row in self.rows.items():
            row.setVisible(key in shown)
        rest = self._rest(shown)
        filled = {self.rows[key].parameter.group for key in rest}
        if not self.space.isHidden():
            filled.add(SPACE)
        for group, section in self.sections.items():
            section.setVisible(group in filled)
        self.more.setVisible(bool(filled))
        self.more.set_title(f"More parameters ({len(rest)})" if rest else "More")
        self.tell(shown)

    def _rest(self, shown: list[str]) -> list[str]:
        return [key for key in shown if key not in (self._essential or ())]

    def tell(self, shown: list[str]) -> None:
        """Summarise the collapsed section: δ first, then values that are not defaults."""
        keys = self._rest(shown)
        rest = [self.rows[key].parameter for key in keys]
        units = [self._values.get(p.unit_from) for p in rest]
        summarised = (keys, [self._values[key] for key in keys], units, self.more.open)
        if summarised == self._summarised:
            return  # called for every value of a moving slider
        self._summarised = summarised
        rest.sort(key=lambda p: (p.symbol != "δ", self._values.get(p.key) == p.default))
        values = [parameter_text(with_unit(p, self._values), self._values[p.key]) for p in rest]
        summary = values if len(values) <= MAX_SUMMARY_VALUES + 1 else values[:MAX_SUMMARY_VALUES]
        brief = [shorten(text, LETTERS, placeholder="…") for text in summary]
        words = " · ".join(brief) + " · …" * (len(summary) < len(values))
        visible = bool(words) and not self.more.open
        if words != self.told.text():
            self.told.setText(words)
            self.told.setToolTip("\n".join(values))
            self.more.heading.setToolTip("\n".join(values))
        if self.told.isHidden() == visible:
            self.told.setVisible(visible)

    def show_space(self, result: Result) -> None:
        """Show the picture of a result's space, or none."""
        if result.space is not None:
            self.space.show_space(result.space)
        if self.space.isHidden() == (result.space is not None):
            self.space.setVisible(result.space is not None)
            self.show_rows([key for key, row in self.rows.items() if not row.isHidden()])


def _rows_layout(around: QVBoxLayout) -> QVBoxLayout:
    """Return a new place for rows at the end of another."""
    inner = QVBoxLayout()
    inner.setContentsMargins(0, 0, 0, 0)
    inner.setSpacing(2)
    around.addLayout(inner)
    return inner


class _Pages(QWidget):
    """Stack of pages with the height of the current one.

    A QStackedWidget takes the height of its highest page, which would scroll to nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._current: QWidget | None = None
        self.pages: list[QWidget] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def add(self, page: QWidget) -> None:
        """Add a page, hidden."""
        page.hide()
        self.pages.append(page)
        self._layout.addWidget(page)

    def show_page(self, page: QWidget) -> bool:
        """Show a page; return whether it was hidden."""
        if page is self._current:
            return False
        if self._current is not None:
            self._current.hide()
        self._current = page
        page.show()
        return True

    def minimumSizeHint(self) -> QSize:
        """Return the width of the widest page and the height of the current one."""
        width = max((page.minimumSizeHint().width() for page in self.pages), default=0)
        return QSize(width, super().minimumSizeHint().height())


def _settable(study: Study) -> list[Parameter]:
    return [p for p in study.parameters if p.in_panel]


def reset_parameters(session: Session) -> None:
    """Set all parameters in the panel of the current question to their defaults."""
    session.set_values({p.key: p.default for p in _settable(get_study(session.state.study))})


_NARROW_PX = 130
"""Width below which `ChangedParameters` are named without an introduction."""


class ChangedParameters(QWidget):
    """Names the parameters that differ from their defaults, and resets them.

    Takes the space beside the tabs whose corner it stands in.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._state: tuple[object, ...] = ()
        self._changed = ""
        self.names = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight, smallest=0.76)
        self.names.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        tip = "Set all parameters of this question to their defaults"
        self.button = tool_button("↺", tip, "Reset parameters", quiet=True)
        self.button.clicked.connect(lambda _=False: reset_parameters(session))
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 8, 0)
        row.setSpacing(2)
        row.addWidget(self.names, 1)
        row.addWidget(self.button)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def sizeHint(self) -> QSize:
        """Return the space beside the tabs."""
        tabs, size = self.parentWidget(), super().sizeHint()
        if isinstance(tabs, QTabWidget):
            size.setWidth(tabs.width() - tabs.tabBar().sizeHint().width())
        return size

    def _state_changed(self, state: SessionState, _old: SessionState | None) -> None:
        asked = (state.study, state.request.values)
        if asked == self._state:
            return
        self._state, values = asked, dict(state.request.values)
        changed = [
            p.symbol or p.name
            for p in _settable(get_study(state.study))
            if values[p.key] != p.default
        ]
        self._changed = ", ".join(changed)
        self._write()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the text for the space."""
        super().resizeEvent(event)
        self._write()

    def _write(self) -> None:
        """Name what is changed; beside two tabs the names alone have room."""
        narrow = self.width() < _NARROW_PX
        words = "Defaults" if narrow else "Default settings"
        if self._changed:
            words = self._changed if narrow else f"Changed: {self._changed}"
        if words != self.names.text():
            self.names.setText(words)
            self.names.setToolTip(f"Changed: {self._changed}" if self._changed else words)
            self.button.setEnabled(bool(self._changed))


class ParametersPanel(QScrollArea):
    """Sliders and fields of the current study; edits go to the session.

    Parameters
    ----------
    session : Session
    files : ParameterFiles, optional
        Opens files of parameters; without it file rows can only be cleared.
    answers : mapping to StudyController
        Controller whose failures stop the animation.

    Signals
    -------
    reopened()
        A file that the session named is available now.
    refused(str)
        What the answer is still for, as ``n = 1,000,000``, while something typed is not used; empty
        once all is.
    """

    reopened = Signal()
    refused = Signal(str)

    def __init__(
        self,
        session: Session,
        files: ParameterFiles | None = None,
        answers: Mapping[str, StudyController] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.range_play = RangePlay(session, self)
        for controller in answers.values():
            controller.failed.connect(self.range_play.stop)
        self._session = session
        self._files = files
        self._turned: set[str] = set()
        self.pages: dict[str, _Page] = {}
        self._insertions: dict[str, tuple[str, QWidget, list[QWidget]]] = {}
        """By study: parameter, widget below its row, and where Tab stops in it."""
        self._shown: tuple[object, ...] | None = None
        self._gestures = 0
        self._refused: dict[tuple[str, str], str] = {}
        """Reasons by study and parameter."""
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its rows take the focus, and scroll it
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._container = _Pages()
        self.setWidget(self._container)
        if files is not None:
            files.opened.connect(self._file_opened)
            files.failed.connect(self._file_failed)
            files.listed.connect(self._releases_listed)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def row(self, key: str) -> ParameterRow:
        """Return the row of a parameter of the current study."""
        return self.pages[self._session.state.study].rows[key]

    def insert(self, study_id: str, key: str, widget: QWidget, stops: list[QWidget]) -> None:
        """Insert a widget below the row of a main parameter of a study."""
        self._insertions[study_id] = (key, widget, stops)
        if study_id in self.pages:
            self.pages[study_id].insert(key, widget, stops)

    def section(self, group: str) -> Section:
        """Return the heading of a parameter group of the current study."""
        return self.pages[self._session.state.study].sections[group]

    @property
    def folded(self) -> frozenset[str]:
        """Collapsed groups; for those collapsed by default, the expanded ones."""
        return frozenset(self._turned)

    def fold(self, groups: Iterable[str]) -> None:
        """Collapse these groups in all studies; expand others unless collapsed by default."""
        self._turned = set(groups)
        self._state_changed(self._session.state, None)

    def reveal(self, key: str) -> ParameterRow:
        """Expand the sections above a row, scroll to it and focus it.

        Raises
        ------
        KeyError
            If the parameter has no row.
        """
        row = self.row(key)
        for section in self.pages[self._session.state.study].sections.values():
            if section.isAncestorOf(row) and not section.open:
                section.heading.setChecked(True)
        self.ensureWidgetVisible(row)
        next(iter(row.stops()), row).setFocus()
        return row

    @property
    def first_row(self) -> ParameterRow:
        """The uppermost row of the current study."""
        rows = self.pages[self._session.state.study].rows.values()
        return min(rows, key=lambda row: (not row.isVisibleTo(self), row.mapTo(self, QPoint()).y()))

    def enter(self) -> None:
        """Focus the first parameter of the current study."""
        self.reveal(self.first_row.parameter.key)

    @property
    def space(self) -> SpaceView:
        """Picture of the space of the current study."""
        return self.pages[self._session.state.study].space

    def show_result(self, result: Result) -> None:
        """Show the metric space of a result; the animation continues."""
        page = self.pages.get(result.request.study)
        if page is not None:
            page.show_space(result)
            page.weights.show_result(result)
        self.range_play.show_result(result)

    def ask_for(self, value: str) -> None:
        """Ask for the missing file of a parameter of the current study."""
        study = self._session.state.study
        for key, row in self.pages[study].rows.items():
            if isinstance(row, FileRow) and value in files_of(self._session.request(study)[key]):
                row.choose()
                return

    def minimumSizeHint(self) -> QSize:
        """Return a width at which nothing is cut off beside the scroll bar."""
        width = (
            self._container.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        )
        return QSize(width, 120)

    def _page(self, study: Study) -> _Page:
        if study.id not in self.pages:
            page = self.pages[study.id] = _Page(study)
            self._container.add(page)
            if study.id in self._insertions:
                page.insert(*self._insertions[study.id])
            for key, row in page.rows.items():
                row.edited.connect(partial(self._edited, study.id, key))
                row.gesture_ended.connect(self._gesture_ended)
                row.refused.connect(partial(self._refuse, study.id, key))
                if isinstance(row, NumberRow):
                    self.range_play.add(study.id, row)
                if isinstance(row, FileRow):
                    row.chosen.connect(partial(self._file_selected, study.id, key))
                if isinstance(row, ReleasesRow):
                    row.listed.connect(partial(self._list_releases, study.id, key))
                    row.release_chosen.connect(partial(self._release_chosen, study.id, key))
            page.advice.taken.connect(partial(self._take, study.id))
            for group, section in page.sections.items():
                section.folded.connect(partial(self._fold, group))
        return self.pages[study.id]

    def _refuse(self, study_id: str, key: str, why: str) -> None:
        self._refused.pop((study_id, key), None)
        if why:
            self._refused[study_id, key] = why
        self._tell_refused()

    def _tell_refused(self) -> None:
        """Tell which values the answer is for in place of those that were refused."""
        study = get_study(self._session.state.study)
        values = self._session.state.request.unit_values
        of_study = [key for owner, key in self._refused if owner == study.id]
        self.refused.emit(
            ", ".join(
                parameter_text(with_unit(p, dict(values)), dict(values)[p.key])
                for p in study.parameters
                if p.key in of_study
            )
        )

    def _edited(self, study_id: str, key: str, value: Value, in_gesture: bool) -> None:
        gesture = f"slide {study_id} {key} {self._gestures}" if in_gesture else None
        try:
            self._session.set_value(key, value, study_id, gesture)
        except ValueError as error:
            self.pages[study_id].rows[key].show_error(str(error))

    def _take(self, study_id: str, key: str, value: Value) -> None:
        """Apply advice."""
        self._edited(study_id, key, value, False)

    def _fold(self, group: str, folded: bool) -> None:
        """Store that a group is collapsed in all studies."""
        turned = folded != (group in CLOSED_AT_FIRST)
        (self._turned.add if turned else self._turned.discard)(group)
        if group == MORE:
            page = self._page(get_study(self._session.state.study))
            page.tell([key for key, row in page.rows.items() if not row.isHidden()])

    def _file_selected(self, study_id: str, key: str, path: Path) -> None:
        if self._files is None:
            self._page(get_study(study_id)).rows[key].show_error("Nothing here opens files.")
        else:
            self._files.open(study_id, key, path)

    def _list_releases(self, study_id: str, key: str, ledger: Path | None) -> None:
        if self._files is not None:
            self._files.list_releases(study_id, key, ledger, self._data_of(study_id))

    def _release_chosen(self, study_id: str, key: str, ledger: Path | None, release: str) -> None:
        if self._files is not None:
            self._files.open_release(study_id, key, ledger, release, self._data_of(study_id))

    def _data_of(self, study_id: str) -> str:
        """Return the fingerprint of the open check-ins of a study, or ""."""
        selection = self._session.state.request_of(study_id).selection
        return "" if selection is None else selection.data

    def _releases_listed(
        self, study_id: str, key: str, ledger: Path | None, releases: Sequence[tuple[str, str]]
    ) -> None:
        row = self._page(get_study(study_id)).rows[key]
        if isinstance(row, ReleasesRow) and row.isVisible():
            row.offer(ledger, releases, NO_RELEASE)

    def _file_opened(self, study_id: str, key: str, file: str) -> None:
        page = self._page(get_study(study_id))
        row = page.rows[key]
        value = row.with_file(file) if isinstance(row, FileRow) else file
        before = self._session.state.request_of(study_id)[key]
        self._edited(study_id, key, value, False)
        if before == value:  # the session does not change then
            page.rows[key].show_value(value)
            self.reopened.emit()

    def _file_failed(self, study_id: str, key: str, error: Exception) -> None:
        if study_id == self._session.state.study:
            self.reveal(key)
        self._page(get_study(study_id)).rows[key].show_error(explain(error, "data").sentence)

    def _gesture_ended(self) -> None:
        self._gestures += 1
        self._session.end_gesture()

    def _state_changed(self, state: SessionState, _old: SessionState | None) -> None:
        study = get_study(state.study)
        request = state.request_of(study.id)
        page = self._page(study)
        if self._container.show_page(page):
            self.verticalScrollBar().setValue(0)
        for group, section in page.sections.items():
            section.set_open((group in self._turned) == (group in CLOSED_AT_FIRST))
        swept = request.sweep.key if request.sweep is not None else ""
        values = dict(request.values)
        page.show_values(request.unit_values)
        page.weights.show_request(request)
        if (advice := study.advice(request)) is not None:
            page.advice.show_advice(advice, values[advice.key])
        shown = [k for k, r in page.rows.items() if relevant(r.parameter, values, request.quantity)]
        essential = study.default_sliders(request)
        layout = (study.id, swept, shown, essential)
        if layout == self._shown:
            page.tell(shown)
        else:
            self._shown = layout
            page.place(essential)
            page.show_rows(shown)
            for key, row in page.rows.items():
                row.mark_swept(key == swept)
            self.updateGeometry()
