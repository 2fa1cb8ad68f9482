"""Reference curves in a plot: pinned requests and curves imported from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QToolButton, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.imported_curves import (
    CurveFile,
    ImportedCurve,
    Plot,
    merge_imported,
    plot_of,
    read_curves,
    with_imported_curves,
)
from explorer.engine.session.plot_view import MAX_PINS, Pin
from explorer.engine.session.session import Session
from explorer.figures.captions import parameter_text
from explorer.figures.recipes import read_exported
from explorer.figures.style import PIN_DASHES, SeriesStyle
from explorer.studies.base.study import Request, Result, Series, parameter, quantity, relevant
from explorer.studies.registry import get_study
from explorer.ui.base.errors import Problem, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.bounds.legend import Legend
from explorer.ui.controllers.file_controller import paths_in
from explorer.ui.controllers.study_controller import BackgroundAnswers
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.plot.labels import ElidedLabel, Swatch


@dataclass(frozen=True)
class PinnedAnswer:
    """The answer to a pinned request on the current x axis.

    Attributes
    ----------
    number : int
        Of the pin, from 1; determines its dashes and is part of its curves' keys.
    result : Result
    hidden : frozenset of str
        Keys of curves that are hidden, or were when the pin was created.
    """

    number: int
    result: Result
    hidden: frozenset[str] = frozenset()


def pin_label(pinned: Request, present: Request) -> str:
    """Return the label of a pin: the values that differ from the current ones.

    The parameter on the x axis and the parameters it replaces do not count.
    """
    study = get_study(pinned.study)
    swept = present.sweep.key if present.sweep is not None else ""
    known = {p.key: p for p in study.parameters}
    aside = {swept, *(known[swept].replaces if swept in known else ())}
    here, now = dict(pinned.values), dict(present.values)
    differences = [
        parameter_text(p, here[p.key])
        for p in study.parameters
        if p.key not in aside
        and not p.axis_only
        and here[p.key] != now[p.key]
        and relevant(p, here, pinned.quantity)
    ]
    if pinned.seed != present.seed:
        differences.append(f"seed {pinned.seed}")
    return "pinned: " + (", ".join(differences) or "as now")


def with_pins(result: Result, pins: Sequence[PinnedAnswer]) -> Result:
    """Return a result with the curves of pins below its own."""
    more: list[Series] = []
    for pin in pins:
        label = pin_label(pin.result.request, result.request)
        study = get_study(pin.result.request.study)
        names = [study.short_name(s.key, s.label) for s in pin.result.series]
        more += [
            replace(s, key=f"pin{pin.number}:{s.key}", label=f"{name} ({label})", pin=pin.number)
            for s, name in zip(pin.result.series, names, strict=True)
            if s.key not in pin.hidden
        ]
    return replace(result, series=result.series + tuple(more)) if more else result


@dataclass(frozen=True)
class PinRow:
    """Texts of a pin in the list.

    Attributes
    ----------
    number : int
        Index of its dash pattern; 0 if its curves are not shown.
    words : str
    why_not : str
        Why its curves are not shown; empty if they are.
    """

    number: int
    words: str
    why_not: str = ""


class _Cells:
    """Widgets of one pin."""

    def __init__(self, pins: PinList, place: int) -> None:
        self.swatch = Swatch()
        self.label = ElidedLabel()
        self.button = tool_button("✕", quiet=True)
        self.button.clicked.connect(lambda _=False: pins.unpinned.emit(place))

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return (self.swatch, self.label, self.button)

    def update(self, row: PinRow, colour: str) -> None:
        dash = PIN_DASHES[(row.number - 1) % len(PIN_DASHES)]
        self.swatch.set_style(SeriesStyle(colour, dash, 1.4, "o", "/"))
        self.swatch.setVisible(row.number > 0)
        words = row.words + (f" · {row.why_not}" if row.why_not else "")
        if words != self.label.text():
            self.label.setText(words)
            self.label.setToolTip(words)
            self.button.setAccessibleName(f"Unpin {row.words.removeprefix('pinned: ')}")
            self.button.setToolTip(f"Unpin {row.words.removeprefix('pinned: ')}")
        self.label.setEnabled(row.number > 0)


class PinList(QWidget):
    """List of pins; hidden if empty.

    Signals
    -------
    unpinned(int)
        Index of the pin to remove.
    all_unpinned()
    """

    unpinned = Signal(int)
    all_unpinned = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._cells: list[_Cells] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(1)
        self._grid.setColumnStretch(1, 1)
        self._all = tool_button("Unpin all", quiet=True)
        self._all.clicked.connect(lambda _=False: self.all_unpinned.emit())
        head = QHBoxLayout()
        head.addWidget(styled_label("heading", "Pinned"), 1)
        head.addWidget(self._all)
        self._grid.addLayout(head, 0, 0, 1, 3)
        self.hide()

    def show_pins(self, rows: Sequence[PinRow], colour: str) -> None:
        """Show pins and their dash patterns in a colour."""
        if len(rows) != len(self._cells):
            self._rebuild(len(rows))
        for cells, row in zip(self._cells, rows, strict=True):
            cells.update(row, colour)
        if self.isHidden() == bool(rows):
            self.setVisible(bool(rows))

    def texts(self) -> list[str]:
        """Return the texts of the pins."""
        return [cells.label.text() for cells in self._cells]

    def button(self, place: int) -> QToolButton:
        """Return the button that removes a pin."""
        return self._cells[place].button

    def _rebuild(self, count: int) -> None:
        for cells in self._cells:
            for widget in cells.widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._cells = [_Cells(self, place) for place in range(count)]
        for place, cells in enumerate(self._cells, start=1):
            for column, widget in enumerate(cells.widgets):
                self._grid.addWidget(widget, place, column)


class PinnedCurves(QObject):
    """Adds the curves of pins to a result and lists the pins.

    Parameters
    ----------
    session : Session
    service : StudyService
    pins : PinList

    Signals
    -------
    answered()
        Emitted when curves of a pin have been computed and the plot should be redrawn.
    """

    answered = Signal()

    def __init__(self, session: Session, service: StudyService, pins: PinList) -> None:
        super().__init__(pins)
        self._session, self.list = session, pins
        self.answers = BackgroundAnswers(service, "pinned curves", self)
        self.answers.changed.connect(self.answered)
        pins.unpinned.connect(self._unpin)
        pins.all_unpinned.connect(self.unpin_all)

    def close(self) -> None:
        """Stop the thread."""
        self.answers.close()

    @property
    def full(self) -> bool:
        """Whether the current plot has the maximum number of pins."""
        request = self._session.state.request
        mine = [
            p for p in self._session.state.pins if p.subject == (request.study, request.quantity)
        ]
        return len(mine) >= MAX_PINS

    def pin(self, hidden: frozenset[str]) -> None:
        """Pin the visible curves of the current request."""
        if not self.full:
            self._session.pin(hidden)

    def unpin_all(self) -> None:
        """Remove all pins of the current study."""
        study = self._session.state.study
        left = tuple(p for p in self._session.state.pins if p.request.study != study)
        self._session.set_pins(left, "unpin all")

    def _unpin(self, place: int) -> None:
        pin = self._of_study(self._session.state.study)[place]
        left = tuple(p for p in self._session.state.pins if p != pin)
        self._session.set_pins(left, "unpin")

    def _of_study(self, study_id: str) -> list[Pin]:
        return [p for p in self._session.state.pins if p.request.study == study_id]

    def shown(self, request: Request) -> list[tuple[int, Pin, Request]]:
        """Return number, pin and request for each pin in the plot of a request."""
        query = [(p, p.on_axis_of(request)) for p in self._of_study(request.study)]
        drawn = [(p, r) for p, r in query if r is not None]
        return [(number, p, r) for number, (p, r) in enumerate(drawn, start=1)]

    def beside(self, result: Result, hidden_of: Callable[[Result], frozenset[str]]) -> Result:
        """Return a result with the available pinned curves; request the others.

        `hidden_of` returns the hidden curves of a result.
        """
        shown = self.shown(result.request)
        self.answers.set_requests([request for _, _, request in shown])
        known = [(number, p, self.answers.result(r)) for number, p, r in shown]
        return with_pins(
            result,
            [PinnedAnswer(n, r, p.hidden | hidden_of(r)) for n, p, r in known if r],
        )

    def update(self, result: Result, colour: str) -> None:
        """Update the list for the current result."""
        numbers = {p: (number, r) for number, p, r in self.shown(result.request)}
        rows = []
        for pin in self._of_study(result.request.study):
            words = pin_label(pin.request, result.request)
            if pin not in numbers:
                rows.append(PinRow(0, words, f"not shown here: {_axes(pin.request)}"))
                continue
            number, request = numbers[pin]
            error = self.answers.error(request)
            value = self.answers.result(request) is not None
            why = f"not shown: {error}" if error else "" if value else "computing…"
            rows.append(PinRow(number, words, why))
        self.list.show_pins(rows, colour)


def _axes(request: Request) -> str:
    """Return the axes of a request: study, quantity, sweep."""
    study = get_study(request.study)
    y = quantity(study, request.quantity)
    words = f"pinned over {y.symbol or y.name}"
    if request.sweep is not None:
        x = parameter(study, request.sweep.key)
        words = f"it shows {y.symbol or y.name} over {x.symbol or x.name}"
    return words


SUFFIXES = (".csv", ".tsv", ".txt")
KINDS = f"Curves ({' '.join(f'*{suffix}' for suffix in SUFFIXES)});;All files (*)"
IMPORTS = (
    "Draw the curves of a CSV file, grey and dashed: x, y, name, role, or x and a column a curve. "
    "A file dropped on the plot is drawn, too"
)
MAX_DETAILS = 200
"""Maximum number of skipped rows listed in the details."""


class ImportedCurves(QObject):
    """Imports curves from files into the current plot and removes them.

    Parameters
    ----------
    session : Session
    service : StudyService
    plot : BoundsPlot
        Accepts dropped files that may hold curves; passes others to the window.
    legend : Legend

    action : QAction
        Asks for a file.
    """

    def __init__(
        self,
        session: Session,
        service: StudyService,
        plot: BoundsPlot,
        legend: Legend,
        action: QAction,
    ) -> None:
        super().__init__(plot)
        self._session, self._service, self._plot = session, service, plot
        self._window: WorkspaceHost | None = None
        action.triggered.connect(self.choose)
        plot.viewport().setAcceptDrops(True)
        plot.viewport().installEventFilter(self)
        self.job = LatestJob("reading curves", self, preempt_after_s=0.0)
        self.job.done.connect(self._read)
        self.job.failed.connect(self._failed)
        legend.remove_requested.connect(self.remove)
        self.hint = styled_label("card", word_wrap=True)
        self.hint.setParent(plot)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.hide()

    def join(self, window: WorkspaceHost) -> None:
        """Report to a window, which also opens files without curves."""
        self._window = window
        window.activity.watch("curves", "reading curves", self.job.busy_changed, self.cancel)

    def cancel(self) -> None:
        """Cancel reading."""
        self.job.cancel()

    def close(self) -> None:
        """Stop and wait for the thread."""
        self.job.close()

    @property
    def here(self) -> tuple[ImportedCurve, ...]:
        """Imported curves of the current plot."""
        state = self._session.state
        plot = plot_of(state.request) if state.own else None
        return tuple(curve for curve in state.own if curve.plot == plot)

    def beside(self, result: Result) -> Result:
        """Return a result with the imported curves of its plot."""
        return with_imported_curves(result, self._session.state.own)

    def choose(self) -> None:
        """Ask for a file and import its curves."""
        folder = self._window.files.folder() if self._window is not None else ""
        path, _ = QFileDialog.getOpenFileName(self._plot, "Import curve", folder, KINDS)
        if path:
            self.take(Path(path))

    def take(self, path: Path) -> None:
        """Import the curves of a file into the current plot."""
        plot = plot_of(self._session.state.request)
        self.job.submit(path, partial(self._look, path, plot))

    def remove(self, key: str) -> None:
        """Remove a curve from the current plot."""
        gone = [curve for curve in self.here if curve.key == key]
        left = tuple(curve for curve in self._session.state.own if curve not in gone)
        self._session.set_own(left, "remove curve")

    def _look(self, path: Path, plot: Plot, task: Task) -> CurveFile | None:
        if self._service.call(read_exported, (path, None), task.check) is not None:
            return None
        read: CurveFile = self._service.call(read_curves, (path, plot), task.check)
        return read

    def _read(self, path: Path, imported: CurveFile | None) -> None:
        if imported is None:  # files exported by this program are imported without change
            if self._window is not None:
                self._window.files.open_recipe(path)
            return
        try:
            own = merge_imported(self._session.state.own, imported.curves)
        except ValueError as error:
            self._tell(explain(error, "curves"))
            return
        self._session.set_own(own, "import curve")
        count, file = len(imported.curves), imported.curves[0].file
        if self._window is not None:
            curves = "curve" if count == 1 else "curves"
            self._window.show_status(f"{count} {curves} of {file} drawn, grey and dashed.")
        if imported.rejected:
            bad = len(imported.rejected)
            rows = "1 row is" if bad == 1 else f"{bad:,} rows are"
            sentence = f"{rows} not drawn: {imported.rejected[0]}."
            self._tell(Problem("curves", sentence, "\n".join(imported.rejected[:MAX_DETAILS])))

    def _failed(self, path: Path, error: Exception) -> None:
        problem = explain(error, "curves")
        window = self._window
        if window is not None:
            problem = replace(
                problem, remedy="Open as check-ins", do=lambda: window.files.open_data(path)
            )
        self._tell(problem)

    def _tell(self, problem: Problem) -> None:
        if self._window is not None:
            self._window.show_problem(problem)

    # Drag and drop

    def eventFilter(self, _target: QObject, event: QEvent) -> bool:
        """Accept a single file that may hold curves; pass everything else to the window."""
        if isinstance(event, QDropEvent):  # drag enter and drag move events are drop events too
            path = _curve_file(event.mimeData())
            if path is None:
                return False
            event.acceptProposedAction()
            dropped = not isinstance(event, QDragEnterEvent | QDragMoveEvent)
            self._hint("" if dropped else path.name)
            if dropped:
                self.take(path)
            return True
        if event.type() is QEvent.Type.DragLeave:
            self._hint("")
        return False

    def _hint(self, name: str) -> None:
        """Show over the plot what a drop does; hide it for an empty name."""
        self.hint.setVisible(bool(name))
        if name:
            self.hint.setText(f"Drop to draw the curves of {name[:60]} here, grey and dashed")
            self.hint.adjustSize()
            self.hint.resize(self.hint.width() + 32, self.hint.height() + 24)
            self.hint.move(self._plot.rect().center() - self.hint.rect().center())
            self.hint.raise_()


def _curve_file(mime: QMimeData) -> Path | None:
    """Return the dragged file if it is a single one that may hold curves."""
    paths = paths_in(mime)
    if len(paths) != 1 or Path(paths[0]).suffix.lower() not in SUFFIXES:
        return None
    return Path(paths[0])
