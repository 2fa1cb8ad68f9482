"""The Sweep workspace: evaluates the current question over a grid of parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.grid_runner import GridProgress, GridQuery, grid_progress
from explorer.engine.service import StudyService
from explorer.engine.session.plot_view import PlotView, hidden_keys
from explorer.engine.session.session import Session, SessionState
from explorer.figures.captions import parameter_text
from explorer.figures.formats import Kind
from explorer.figures.grid import (
    best_curve,
    headings,
    legend_series,
    page_text,
    panels,
    ranges,
    shape,
    shown_quantity,
)
from explorer.figures.style import series_styles
from explorer.figures.view_state import ViewState
from explorer.studies.base.grid import Cell, Grid, GridAnswer, axes_of, requests_of
from explorer.studies.base.study import Request, Scale, Study, parameter, quantity, with_unit
from explorer.studies.registry import get_study
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.dialogs.export import ask_for_file
from explorer.ui.sweep.export import GridFile, write_grid
from explorer.ui.sweep.form import GridForm
from explorer.ui.sweep.multiples import Legend, PageBar, SmallMultiples


def question_words(study: Study, request: Request) -> str:
    """Return the text of the request common to all plots."""
    shown = quantity(study, request.quantity)
    if request.sweep is None:
        return f"{study.name}: {shown.name}"
    p = parameter(study, request.sweep.key)
    return (
        f"{study.name}: {shown.name} over {p.symbol or p.name}; axis and all other parameters are "
        "as in Bounds"
    )


def axis_words(answer: GridAnswer) -> tuple[str, tuple[str, str]]:
    """Return the symbol of the x axis, and the titles of x and y."""
    shown, swept = shown_quantity(answer), answer.request.sweep
    y = ", ".join(filter(None, (shown.name, shown.symbol)))
    if swept is None:
        return "x", ("", y)
    p = parameter(get_study(answer.request.study), swept.key)
    return p.symbol or p.name, (", ".join(filter(None, (p.name, p.symbol))), y)


def state_words(answer: GridAnswer | None, current: bool, busy: bool) -> str:
    """Return the progress of a result, and whether it matches the present request."""
    if answer is None:
        return ""
    if not current:
        return "The question or the grid has changed since: Compute asks it anew."
    known = sum(cell is not None for cell in answer.cells)
    final = sum(cell is not None and cell.final for cell in answer.cells)
    text = f"{len(answer.cells):,} answers"
    if final < len(answer.cells):
        text += f" · {known:,} known, {final:,} of them in full"
    if answer.grid.trials > 1:
        text += f" · {answer.grid.trials:,} trials of what is simulated"
    if not answer.finished:
        text += f" · {answer.done:,} of {answer.total:,} pieces"
        text += "" if busy else " · stopped: Compute goes on"
    return text


def cell_words(
    answer: GridAnswer, cells: Sequence[Cell], hidden: Collection[str]
) -> tuple[str, str]:
    """Return the provenance of a plot's values and the sources of its curves, one per line."""
    cell = cells[0]
    values = dict(cell.request.values)
    text = [
        parameter_text(with_unit(axis.parameter, values), values[axis.parameter.key])
        for axis in answer.axes[: 2 if len(cells) > 1 else 3]
    ]
    if cell.simulates:
        more = len(cell.seeds) - 1
        text.append(f"seed {cell.seeds[0]}" + (f" and {more:,} more" if more else ""))
    text.append("in full" if all(c.final for c in cells) else "coarse so far")
    text += [c.error for c in cells if c.error]
    shown = [s for s in cell.series if s.key not in hidden]
    text += [f"✗ {c.text}" for c in cell.failing(shown)]
    study = get_study(cell.request.study)
    names = [study.short_name(s.key, s.label) for s in shown]
    sources = dict.fromkeys(
        f"{s.role.glyph} {name}: {s.reference}" for s, name in zip(shown, names, strict=True)
    )
    return " · ".join(dict.fromkeys(text)), "\n".join(sources)


REDRAW_MS = 120
"""Delay after an update, so that several are drawn at once."""
NO_CURVES = (
    "The current question is about maps; “Utility” shows their errors. Choose a question with "
    "curves to compute it over a grid."
)
EMPTY = (
    "Choose up to three parameters and their values, then Compute: every combination is a plot "
    "with the same axes, computed in the background and kept."
)


class SweepWorkspace(Workspace):
    """Shows the grid of the current study; settings are in the session and undoable.

    Signals
    -------
    opened(str)
        A plot of this study should be opened in Bounds.
    message(str)
    failed(Exception)
    progressed(float)
        Completed share of the work.
    """

    opened = Signal(str)
    message = Signal(str)
    failed = Signal(object)
    progressed = Signal(float)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        theme: Theme,
        folder: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._service, self._theme = session, service, theme
        self._folder = folder
        self.answer: GridAnswer | None = None
        self.page = 0
        self._curve = ""
        self.job = LatestJob("grid", self, preempt_after_s=0.0)
        self.writing = LatestJob("writing a grid", self)
        self._redraw = QTimer(self, singleShot=True)
        self._redraw.setInterval(REDRAW_MS)
        self._form_behind = False
        """Whether the form shows another question than the present one."""
        self._build()
        self._connect()
        self._state_changed(session.state, None)

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""
        page = cls(window.session, window.service, window.theme, window.files.folder, window)
        window.activity.watch("sweep", "computing a grid", page.job.busy_changed, page.cancel)
        page.progressed.connect(lambda done: window.activity.share("sweep", done))
        page.opened.connect(window.show_study)
        page.message.connect(window.show_status)
        page.failed.connect(lambda error: window.show_problem(explain(error, "sweep")))
        return page

    def _build(self) -> None:
        self.form = GridForm()
        self.state = styled_label("muted", word_wrap=True)
        self.multiples = SmallMultiples()
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(self.multiples)
        self.empty = styled_label("muted", EMPTY, word_wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(60, 0, 60, 0)
        self.legend = Legend()
        self.pages = PageBar()
        self.about = styled_label("muted", word_wrap=True)
        self.open = tool_button(
            "Open in Bounds", "Open the question with the settings of the selected plot (Enter)"
        )
        below = QHBoxLayout()
        below.setContentsMargins(12, 0, 12, 6)
        below.addWidget(self.about, 1)
        below.addWidget(self.open, 0, Qt.AlignmentFlag.AlignTop)
        text = QHBoxLayout()
        text.setContentsMargins(12, 0, 12, 0)
        text.addWidget(self.state)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.form)
        layout.addLayout(text)
        layout.addWidget(self.pages)
        layout.addWidget(self.empty, 1)
        layout.addWidget(self.area, 1)
        layout.addWidget(self.legend)
        layout.addLayout(below)

    def _connect(self) -> None:
        form = self.form
        form.changed.connect(self._grid_edited)
        form.compute.connect(self._compute_or_stop)
        form.export.connect(self.export_file)
        form.y_log.connect(lambda on: self._set_look(replace(self._now, y_log=on)))
        form.curve.connect(self._choose_curve)
        self.legend.ticked.connect(lambda key, on: self._set_look(self._now.ticked(key, on)))
        self.legend.currentItemChanged.connect(lambda *_: self._draw())
        self.pages.stepped.connect(self.step_page)
        self.open.clicked.connect(lambda _=False: self._open_cell(self.multiples.selected))
        self.multiples.page_stepped.connect(self.step_page)
        self.multiples.chosen.connect(lambda _: self._tell_of_cell())
        self.multiples.opened.connect(self._open_cell)
        self._redraw.timeout.connect(self._draw)
        self.job.progress.connect(lambda _, news: self._take(news))
        self.job.done.connect(lambda *_: self._draw())
        self.job.failed.connect(lambda _, error: self.failed.emit(error))
        self.job.busy_changed.connect(self._busy_changed)
        self.writing.done.connect(self._written)
        self.writing.failed.connect(lambda _, error: self.failed.emit(error))
        self._session.changed.connect(self._state_changed)
        self._theme.changed.connect(self._draw)

    def close_workspace(self) -> None:
        """Stop background work."""
        self._session.changed.disconnect(self._state_changed)
        self._redraw.stop()
        self.job.close()
        self.writing.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw updates that arrived while hidden."""
        super().showEvent(event)
        self._draw()

    # Requests

    @property
    def request(self) -> Request:
        """Current request, without data."""
        return self._session.state.request

    @property
    def grid(self) -> Grid:
        """Present grid."""
        return self._session.state.grid_of(self.request.study)

    @property
    def _study(self) -> Study:
        return get_study(self.request.study)

    @property
    def current(self) -> bool:
        """Whether the result matches the present request."""
        answer = self.answer
        return answer is not None and (answer.request, answer.grid) == (self.request, self.grid)

    def compute(self) -> None:
        """Compute the missing plots of the grid."""
        request, grid = self.request, self.grid
        try:
            axes = axes_of(self._study, request, grid)
        except ValueError as error:
            self.failed.emit(error)
            return
        if not self.current:
            cells = (None,) * len(requests_of(request, axes))
            self.answer = GridAnswer(request, grid, axes, cells, 0, len(cells))
            self.page = min(self.page, shape(self.answer)[0] - 1)
            self._draw()
        service = self._service

        def work(task: Task) -> None:
            seen, ended = 0, False
            while not ended:
                news = service.call(grid_progress, GridQuery(request, grid, seen), task.check)
                task.report(news)
                seen, ended = news.seen, news.ended

        self.job.submit((request, grid), work)

    def cancel(self) -> None:
        """Stop computing; results so far are kept."""
        self.job.cancel()

    def follow_recipe(self) -> None:
        """Compute the grid of an opened recipe."""
        self.compute()

    def _compute_or_stop(self) -> None:
        if self.job.busy:
            self.cancel()
        else:
            self.form.typed()
            self.compute()

    def _grid_edited(self, grid: Grid) -> None:
        self._session.set_grid(self.request.study, grid, "change grid")

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        same = old is not None and (state.request, state.grids) == (old.request, old.grids)
        if same and (old is None or state.looks == old.looks):
            return
        study = self._study
        able = not study.needs_data and bool(study.quantities)
        self.form.setEnabled(able)
        self._form_behind = able
        if old is None or state.grids != old.grids:  # no slider that is dragged beside
            self._update_form()
        self.empty.setText(EMPTY if able else NO_CURVES)
        if self.answer is not None and self.answer.request.study != study.id:
            self.job.cancel()
            self.answer, self._curve = None, ""
        if self.isVisible():
            self._draw()
        else:
            self._say_state()

    def _update_form(self) -> None:
        """Show the present question in the form, if it has changed since."""
        if self._form_behind:
            self._form_behind = False
            self.form.show_grid(self._study, self.request, self.grid)
            self.form.about.setText(question_words(self._study, self.request))

    # Results

    def _take(self, news: object) -> None:
        if not isinstance(news, GridProgress) or self.answer is None or not self.current:
            return
        new = {cell.place: cell for cell in news.cells}
        cells = tuple(new.get(place, cell) for place, cell in enumerate(self.answer.cells))
        self.answer = replace(self.answer, cells=cells, done=news.done, total=news.total)
        self.progressed.emit(news.done / max(news.total, 1))
        self._say_state()
        if not self._redraw.isActive():
            self._redraw.start()

    def _busy_changed(self, busy: bool) -> None:
        self.form.set_busy(busy)
        self._say_state()

    def _say_state(self) -> None:
        answer = self.answer
        self.state.setText(state_words(answer, self.current, self.job.busy))
        self.form.file.setEnabled(self.current and bool(answer and answer.series))

    # Display

    @property
    def _now(self) -> PlotView:
        return self._session.state.look_of(self.request.study, self.request.quantity)

    @property
    def _look(self) -> tuple[bool, frozenset[str]]:
        answer, look = self.answer, self._now
        if answer is not None and answer.grid.colours:
            return look.y_log, frozenset()
        keys = [s.key for s in answer.series] if answer is not None else []
        return look.y_log, hidden_keys(look, self.request, keys)

    def view_state(self) -> ViewState:
        """Return the view of the grid."""
        y_log, hidden = self._look
        x_log = self.request.sweep is not None and self.request.sweep.scale is Scale.LOG
        return ViewState(
            theme=self._theme.name, x_log=x_log, y_log=y_log, hidden=tuple(sorted(hidden))
        )

    def _draw(self) -> None:
        self._redraw.stop()
        answer = self.answer
        there = answer is not None
        for widget in (self.area, self.legend, self.about, self.open):
            widget.setVisible(there)
        self.empty.setVisible(not there)
        self.pages.setVisible(answer is not None and shape(answer)[0] > 1)
        self._say_state()
        if self.isVisible():
            self._update_form()
        if answer is None or not self.isVisible():
            return
        view = self.view_state()
        self.form.log.setChecked(view.y_log)
        self.multiples.set_theme(self._theme.plot)
        listed = legend_series(answer, self._curve)
        styles = series_styles(listed, self._theme.name)
        hidden = frozenset(view.hidden)
        ends = ranges(answer, hidden, view.x_log, view.y_log, self._curve)
        self.multiples.set_look(styles, hidden, view.x_log, view.y_log, *ends)
        self.multiples.x_symbol, labels = axis_words(answer)
        self.multiples.read_first = (self.legend.chosen, best_curve(answer))
        result = panels(answer, self.page, self._curve)
        self.multiples.show_panels(result, headings(answer), labels)
        self.pages.show_page(page_text(answer, self.page), self.page, shape(answer)[0])
        self.legend.show_curves(listed, styles, hidden, ticks=not answer.grid.colours)
        self._offer_curves(answer)
        self._tell_of_cell()

    def _offer_curves(self, answer: GridAnswer) -> None:
        colours = answer.grid.colours and len(answer.axes) > 2
        self.form.curves.setVisible(colours)
        if colours:
            study = get_study(self.request.study)
            items = [(s.key, study.short_name(s.key, s.label)) for s in answer.series]
            self.form.curves.offer(items, self._curve or best_curve(answer))

    def _set_look(self, look: PlotView) -> None:
        self._session.set_look((self.request.study, self.request.quantity), look)

    def _choose_curve(self, key: str) -> None:
        self._curve = key
        self._draw()

    def step_page(self, way: int) -> None:
        """Show another page."""
        if self.answer is not None:
            self.page = min(max(self.page + way, 0), shape(self.answer)[0] - 1)
            self._draw()

    # Single plots

    def _cells_of(self, number: int) -> tuple[Cell, ...]:
        if self.answer is None:
            return ()
        result = panels(self.answer, self.page, self._curve)
        return result[number].cells if number < len(result) else ()

    def _tell_of_cell(self) -> None:
        """Show the provenance of the selected plot."""
        cells = self._cells_of(self.multiples.selected)
        answer = self.answer
        if not cells or answer is None:
            self.about.setText("computing…" if answer is not None else "")
            return
        _, hidden = self._look
        text, sources = cell_words(answer, cells, hidden)
        self.about.setText(text)
        self.about.setToolTip(sources)

    def _open_cell(self, number: int) -> None:
        """Show a plot's request in Bounds, as one undo step."""
        cells = self._cells_of(number)
        if cells:
            self._session.follow(cells[0].request, text="open plot of the grid")
            self.opened.emit(cells[0].request.study)

    # Files

    def _file(self, suffix: str, path: Path | None) -> GridFile | None:
        answer = self.answer
        if answer is None or not self.current or not answer.series:
            return None
        return GridFile(
            answer.request, answer.grid, self.view_state(), suffix, path, self._curve, self.page
        )

    def export_file(self) -> None:
        """Ask for a file and write the grid; the suffix selects the format."""
        if self._file("csv", None) is None:
            self.message.emit("There is nothing to export yet: compute the grid first.")
            return
        path = ask_for_file(self, "Export the grid", Path(self._folder()) / "grid", Kind.GRID)
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write the grid to a file in the compute process."""
        self._start_writing(self._file(path.suffix, path))

    def copy(self, fmt: str) -> None:
        """Copy the table."""
        self._start_writing(self._file(fmt, None))

    def _start_writing(self, file: GridFile | None) -> None:
        if file is not None:
            service = self._service
            self.writing.submit(file, lambda task: service.call(write_grid, file, task.check))

    def _written(self, file: object, text: object) -> None:
        assert isinstance(file, GridFile)
        if file.path is None:
            QGuiApplication.clipboard().setText(str(text))
            self.message.emit("The grid's numbers are on the clipboard.")
        else:
            self.message.emit(f"The grid is in {file.path.name}.")
