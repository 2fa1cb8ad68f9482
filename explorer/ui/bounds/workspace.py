"""The Bounds workspace: axes, plot, legend and scalar results of a curve study."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Self

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.imported_curves import imported_from_list, imported_to_list
from explorer.engine.session.plot_view import Pin, PlotView, pins_from_list, pins_to_list
from explorer.engine.session.session import Session, SessionState
from explorer.figures.captions import parameter_text
from explorer.figures.view_state import ViewState
from explorer.studies.base.claims import (
    NO_BOUND_YET,
    ClaimedBound,
    UnclaimedReason,
    carry_over,
    rests_on,
    unclaimed_reasons,
)
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import (
    Request,
    Result,
    Scale,
    Study,
    parameter,
    quantity,
    with_unit,
)
from explorer.studies.registry import get_study
from explorer.ui.base.styled import card
from explorer.ui.base.theme import Theme
from explorer.ui.bounds.axes import ActionRow, XAxis, YAxis, axis_words
from explorer.ui.bounds.legend import ClaimSelector, CurveVisibility, Legend, common_remark
from explorer.ui.bounds.plot_tables import LegendArea, PlotTables, ReadoutsTable
from explorer.ui.bounds.reference_curves import IMPORTS, ImportedCurves, PinList, PinnedCurves
from explorer.ui.bounds.solving import SolveBar, Solving
from explorer.ui.bounds.value_line import SliderLine, ValueLineKeys
from explorer.ui.controllers.study_controller import StudyController
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.panels.headline import HeadlineStrip
from explorer.ui.panels.presets import PresetNote
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.plot.reading import at_slider
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.section import ShrinkArea
from explorer.ui.widgets.staleness import StaleMark

_MARGINS = (0, 3, 7, 8)
"""In pixels around the cards; the dock's separator adds to the left one."""
_NO_ANSWER = Headline("", "There is no answer. Change a value to compute again.")
_HEADLINE = ""
"""Stands for the headline among keys of curves and numbers."""
FADE_S = 0.15
"""Curves and numbers of an earlier answer are faded if there is no newer one after so long."""


class BoundsWorkspace(Workspace):
    """Shows the results of the current curve study with its axes.

    Signals
    -------
    message(str)
        Emitted with a message for the status bar.
    view_changed()
        Emitted when the view, not the request, changed.
    compare_requested()
    """

    message = Signal(str)
    view_changed = Signal()
    compare_requested = Signal()
    view_of_question = True

    def __init__(
        self,
        session: Session,
        service: StudyService,
        controller: StudyController,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._controller = controller
        self._theme = theme
        self._coming: tuple[tuple[str, str, object], ViewState] | None = None
        self._to_compare: tuple[Request, str] | None = None
        """Pending comparison: request and key of a curve, or empty for all."""
        self.import_curve = QAction("&Import curve…", self)
        self.import_curve.setToolTip(IMPORTS)
        self._build()
        self.own = ImportedCurves(session, service, self.plot, self.legend, self.import_curve)
        self.line = SliderLine(session, self.plot)
        self.solving = Solving(session, service, self.plot, self.solve_bar)
        self.pinning = PinnedCurves(session, service, self.pin_list)
        self.claiming = ClaimSelector(session, self.legend, self.answer)
        self.looking = CurveVisibility(session, self.legend)
        self.guide = ValueLineKeys(session, self.plot, self.legend, self.answer)
        self._found: tuple[ClaimedBound | None, tuple[str, ...]] = (None, ())
        self._outdated_since: dict[str, float] = {}
        """Time in seconds since when each curve or number is that of an earlier answer."""
        self._known_for: dict[str, Request] = {}
        """By curve, the request that its number is for."""
        self._drawn_for: dict[str, Request] = {}
        """By curve, the request that its shape is for."""
        self._faded: frozenset[str] = frozenset()
        self._fade = QTimer(self, singleShot=True)
        self._fade.timeout.connect(self._show_faded)
        self._marked: tuple[object, dict[str, UnclaimedReason]] = (None, {})
        """Subject, and why the legend last said of it that better numbers are not claimed."""
        self.plot.handles.set_session(session)
        self.pinning.answered.connect(self._redraw)
        self.solving.shown_changed.connect(self.solve_action.setChecked)
        controller.result_ready.connect(self._show)
        controller.failed.connect(self._failed)
        controller.busy_changed.connect(self._busy_changed)
        controller.stale_changed.connect(self._set_stale)
        session.changed.connect(self._state_changed)
        session.gesture_ended.connect(self._gesture_ended)
        theme.changed.connect(self._retheme)
        self._retheme()
        self._state_changed(session.state, None)

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""
        page = cls(window.session, window.service, window.answers["bounds"], window.theme, window)
        watch, solving, pinned = window.activity.watch, page.solving, page.pinning.answers
        watch("solve", "solving", solving.busy_changed, solving.cancel)
        watch("pins", "computing pinned curves", pinned.busy_changed, pinned.cancel)
        page.own.join(window)
        page.message.connect(window.show_status)
        page.compare_requested.connect(partial(window.show_tool, "compare"))
        return page

    def _build(self) -> None:
        self.plot = BoundsPlot()
        self.row = ActionRow()
        self.offer = self.row.offer
        self.y_axis, self.x_axis = YAxis(self._session, self.plot), XAxis(self._session, self.plot)
        self.solve_bar = SolveBar()
        self.legend = Legend()
        self.pin_list = PinList()
        self.readouts = ReadoutsTable("At the current settings")
        self.answer = HeadlineStrip()
        self.notes = FixedSizeText("notes")
        self.notes.hide()
        self.stale = StaleMark(self.plot, (self.answer, self.legend, self.readouts), self.plot.view)
        self.beside = LegendArea(self.legend, self.pin_list, self.readouts)
        self.below = PlotTables(self.beside, self.import_curve, self.legend.here)
        self.above = QWidget()
        self.above.setFocusProxy(self.plot)
        column, lower = QVBoxLayout(self.above), QVBoxLayout(under := QWidget())
        column.setContentsMargins(*_MARGINS[:3], 4)
        lower.setContentsMargins(_MARGINS[0], 4, *_MARGINS[2:])
        for box in (column, lower):
            box.setSpacing(8)
        self.preset_note = PresetNote(self._session, self)  # without parent it opens as a window
        column.addWidget(ShrinkArea(self.preset_note, self))
        plot, below = card(self.plot), card(self.below)
        for part in (self.answer, self.row, plot, self.solve_bar):
            column.addWidget(part, int(part is plot))
        lower.addWidget(ShrinkArea(self.notes, self))  # notes do not change the height of the plot
        lower.addWidget(below, 1)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        for half in (self.above, under):
            self.splitter.addWidget(half)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setCollapsible(0, False)
        self.splitter.setSizes([526, 190])
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.splitter)

        self.y_axis.title.log_selected.connect(self._set_y_log)
        self.row.reset.clicked.connect(self.plot.reset_view)
        self.plot.view_changed.connect(self.view_changed)
        self.legend.pin_requested.connect(
            lambda key: self.pinning.pin(frozenset(self.looking.keys) - {key})
        )
        self.legend.compare_requested.connect(self.add_to_comparison)
        self._reset = self._action("Reset plot view", self.plot.reset_view)
        self.y_log_action = self._action("Logarithmic y axis", self._set_y_log, checkable=True)
        self.solve_action = self._action(
            "&Solve for a target", lambda on: self.solving.set_shown(on), "Ctrl+L", checkable=True
        )
        self.pin_action = self._action(
            "&Pin these curves", lambda: self.pinning.pin(self.plot.hidden), "Ctrl+P"
        )
        self.unpin_action = self._action("&Unpin all", lambda: self.pinning.unpin_all())
        self._compare = self._action(
            "Add to &comparison", lambda: self.add_to_comparison(), "Ctrl+D"
        )
        self._compare_now = self._action("Add and compare &now", self._add_and_go, "Ctrl+Shift+D")
        for name, action, tip in (
            ("S&olve…", self.solve_action, "Find the parameter that reaches a target"),
            ("&Pin", self.pin_action, "Keep these curves, dashed, for reference"),
            ("Add to &Compare", self._compare, "Add the numbers at these settings to Compare"),
        ):
            self.row.add_button(name, action, tip)

    def _action(
        self, text: str, triggered: Callable[..., None], shortcut: str = "", checkable: bool = False
    ) -> QAction:
        action = QAction(text, self, checkable=checkable, shortcut=QKeySequence(shortcut))
        action.triggered.connect(triggered)
        return action

    # Workspace interface

    def focus_areas(self) -> tuple[QWidget, ...]:
        """Return plot and tabs as focus areas."""
        return self.above, self.below

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return claim, actions, plot and legend, then the tabs around the legend."""
        actions = self.row.buttons
        plot = (self.plot, self.solve_bar, self.beside, self.below)
        return (self.preset_note, self.answer, *actions, *plot)

    def view_actions(self) -> list[QAction]:
        """Return the actions for the View menu."""
        return [
            self._reset,
            self.y_log_action,
            self.solve_action,
            self.pin_action,
            self.unpin_action,
            self._compare,
            self._compare_now,
            self.import_curve,
        ]

    def show_refused(self, values: str) -> None:
        """Say that the answer is still for these values."""
        self.answer.show_old(values)

    def close_workspace(self) -> None:
        """Disconnect from the session."""
        self.guide.end_gesture()
        self.line.close()
        self._fade.stop()
        self._session.changed.disconnect(self._state_changed)
        self._session.gesture_ended.disconnect(self._gesture_ended)
        self.solving.close()
        self.pinning.close()
        self.own.close()

    def view_state(self) -> ViewState:
        """Return the view of the current result."""
        x, y = self.plot.data_ranges() if self.plot.user_view else (None, None)
        return ViewState(
            theme=self._theme.name,
            x_range=x,
            y_range=y,
            x_log=self.plot.x_log,
            y_log=self.plot.y_log,
            hidden=tuple(sorted(self.plot.hidden)),
            claim=self.claiming.key,
            pinned=tuple(pins_to_list(self._pins_shown())),
            own=tuple(imported_to_list(self.own.here)),
        )

    def apply_view_state(self, view: ViewState) -> None:
        """Apply a view to the current study."""
        front = self._front()
        if front is None:
            return
        step = ("open recipe", "open recipe")
        look = PlotView(view.y_log, frozenset(view.hidden), view.claim, every=True)
        self._session.set_look(self._look_subject(), look, *step)
        others = tuple(p for p in self._session.state.pins if p not in self._pins_shown())
        self._session.set_pins((*others, *pins_from_list(view.pinned, [])), *step)
        kept = tuple(c for c in self._session.state.own if c not in self.own.here)
        self._session.set_own((*kept, *imported_from_list(view.own, [])), *step)
        self.restore_view(view)

    def restore_view(self, view: ViewState) -> None:
        """Apply the ranges of a view; curves, claim, pins and imports are in the session."""
        front = self._front()
        if front is None:
            return
        subject = _subject(front[1])
        shown = self.current_result
        if shown is not None and _subject(shown.request) == subject:
            self._draw(shown)
            self.plot.set_data_ranges(view.x_range, view.y_range)
        else:
            self._coming = (subject, view)

    def shown_result(self, result: Result) -> Result:
        """Return a result as drawn: with imported and pinned curves."""
        return self.pinning.beside(self.own.beside(result), self.looking.hidden_of)

    def add_to_comparison(self, key: str = "") -> None:
        """Add the values at the sliders, or one curve's, to the comparison.

        The claimed value is always included. An incomplete result is added when it is complete, so
        that the values do not depend on timing.
        """
        result, hidden = self.current_result, self.plot.hidden - {self.looking.claimed}
        self._to_compare = None
        if result is not None and not result.complete and self._controller.busy:
            self._to_compare = (result.request, key)
            self.message.emit("Added to the comparison when the answer is complete.")
        elif result is not None:
            hidden = frozenset(self.looking.keys) - {key} if key else hidden
            text = self.looking.add_to_comparison(result, hidden, self.claiming.key)
            self.message.emit(text)

    def _add_and_go(self) -> None:
        self.add_to_comparison()
        self.compare_requested.emit()

    # Slots: session

    def _front(self) -> tuple[Study, Request] | None:
        study = get_study(self._session.state.study)
        if study.workspace != "bounds":
            return None
        return study, self._session.state.request_of(study.id)

    def _look_subject(self) -> tuple[str, str]:
        front = self._front()
        assert front is not None
        return front[0].id, front[1].quantity

    def _pins_shown(self) -> list[Pin]:
        front = self._front() if self._session.state.pins else None
        return [] if front is None else [pin for _, pin, _ in self.pinning.shown(front[1])]

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        front = self._front()
        if front is None:
            return
        study, request = front
        drawn = self.current_result.request if self.current_result is not None else request
        if (drawn.study, drawn.quantity) != (request.study, request.quantity):
            if request.quantity in study.claims:
                self.answer.show_computing(NO_BOUND_YET)
            else:
                self.answer.show_computing()
        look = state.look_of(*self._look_subject())
        self.y_axis.show_request(study, request, look.y_log)
        self.x_axis.show_request(study, request)
        self.y_log_action.setChecked(look.y_log)
        self.pin_action.setEnabled(not self.pinning.full)
        self.unpin_action.setEnabled(any(pin.request.study == study.id for pin in state.pins))
        if old is not None and _beside(state) != _beside(old):
            self._redraw()
            self.view_changed.emit()
        place = self.line.place_late if self._controller.busy else self.line.place
        place(self.current_result.request if self.current_result is not None else None)

    def _redraw(self) -> None:
        """Redraw the last result, if it belongs to the current study."""
        front, shown = self._front(), self.current_result
        if front is None or shown is None:
            return
        if (shown.request.study, shown.request.quantity) == self._look_subject():
            self._draw(shown)

    # Slots: controller

    def _show(self, result: Result, _elapsed_ms: float) -> None:
        front = self._front()
        if front is None or result.request.study != front[0].id:
            return
        if result.request.quantity != front[1].quantity:
            return
        before, claim = self.current_result, self._found[0]
        held = ""
        # The tightest of the first bounds of a study is not kept: tighter ones may follow.
        if before is not None and claim is not None and (before.complete or before.held):
            held = claim.series.key
        merged = carry_over(before, result, held)
        if result.curve_follows and merged.held:
            self._show_number(merged)
        elif result.curve_follows and merged is result:  # nothing was carried over
            self._found = self.claiming.of(result)
            self.answer.show_result(result, self._found[0])
        else:
            self._draw(merged)

    def _show_number(self, result: Result) -> None:
        """Show an answer of which only the claimed number is new: half of what follows a slider."""
        self.current_result = result
        claim, _ = self._found = self.claiming.of(result)
        self.answer.show_result(result, claim)
        if claim is not None and not claim.outdated:
            self.legend.show_value(claim.series, claim.value)
        self.line.place(result.request)
        self._mark_claim(result)
        self.below.show_known(False)
        self._note_outdated(result)

    def _mark_claim(self, result: Result) -> None:
        """Mark the claimed value on its curve; one of an earlier answer keeps its mark."""
        claim, sweep = self._found[0], result.request.sweep
        if claim is None or sweep is None or claim.series.key in self.plot.hidden:
            self.plot.mark_value(None)
        elif not claim.outdated:
            self.plot.mark_value((float(result.request[sweep.key]), claim.value))

    def _note_outdated(self, result: Result) -> None:
        """Note since when curves and numbers are those of an earlier answer; fade old ones."""
        now, outdated = time.monotonic(), result.outdated | result.outdated_numbers
        for series in result.series:
            for known, old in (
                (self._known_for, result.outdated_numbers),
                (self._drawn_for, result.outdated),
            ):
                if series.key not in old:
                    known[series.key] = result.request
        if self.answer.kept:
            outdated |= {_HEADLINE}
        self._outdated_since = {key: self._outdated_since.get(key, now) for key in outdated}
        self._find_faded(result)

    def _draw(self, result: Result) -> None:
        study = get_study(result.request.study)
        shown = quantity(study, result.request.quantity)
        self._found = self.claiming.of(result)
        listed = self.own.beside(result)
        look = self.looking.at(listed, self._found[0])
        sweep = result.request.sweep
        x_words, x_log = "", False
        if sweep is not None:
            p = with_unit(parameter(study, sweep.key), dict(result.request.values))
            x_words, x_log = axis_words(p.symbol, p.name, p.unit), sweep.scale is Scale.LOG
        before = self.current_result
        if before is None or _subject(before.request) != _subject(result.request):
            self.plot.set_data_ranges(None, None)
        self.current_result = result
        self.plot.set_axes(
            x_words, axis_words(shown.symbol, shown.name, shown.unit), x_log, look.y_log
        )
        self.plot.hidden = self.looking.hidden_of(listed)
        self.plot.set_names(self.looking.names_of(listed), self.looking.claimed)
        with_pins = self.shown_result(result)
        self.answer.show_result(result, self._found[0])
        self.plot.set_frozen(self._session.in_gesture or bool(result.outdated))
        self.plot.show_result(with_pins)
        self._note_outdated(result)
        if self._coming is not None and self._coming[0] == _subject(result.request):
            view = self._coming[1]
            self._coming = None
            self.plot.set_data_ranges(view.x_range, view.y_range)
        self.line.place(result.request)
        self._mark_claim(result)
        self._update_legend(result)
        self.pinning.update(result, self._theme.plot.muted)
        self.solving.show_result(result)
        drawn = {s.key for s in result.series}
        self.readouts.show_readouts(tuple(r for r in result.readouts if r.key not in drawn))
        self.beside.arrange()
        self.below.show_result(with_pins, parameter(study, sweep.key).symbol if sweep else "x")
        if result.complete and self._to_compare is not None:
            request, key = self._to_compare
            self._to_compare = None
            if request == result.request:
                self.add_to_comparison(key)
        notes = "\n".join(result.notes)
        if notes != self.notes.text():
            self.notes.setText(notes)
        self.notes.setVisible(bool(notes))

    def _show_faded(self) -> None:
        """Fade what has been out of date for a while."""
        result = self.current_result
        if result is None or not self._find_faded(result):
            return
        # A curve of a new kind has no row before the plot has drawn it.
        if all(self.plot.has_style(s.key) for s in result.series):
            self._update_legend(result)

    def _find_faded(self, result: Result) -> bool:
        """Fade curves and headline; return whether other numbers than before are faded."""
        now = time.monotonic()
        age = {key: now - since for key, since in self._outdated_since.items()}
        before, self._faded = self._faded, frozenset(k for k, s in age.items() if s >= FADE_S)
        coming = [FADE_S - seconds for key, seconds in age.items() if key not in self._faded]
        if coming:
            self._fade.start(math.ceil(1e3 * min(coming)))
        else:
            self._fade.stop()
        self.plot.set_faded(self._faded & result.outdated)
        self._show_progress(result)
        claim = self._found[0]
        if claim is not None:
            faded = claim.series.key in self._faded
            self.answer.set_trailing(
                faded and claim.outdated, sentence=faded and result.curve_follows
            )
        else:
            numbers = self._faded & result.outdated_numbers
            old = bool(numbers) and rests_on(get_study(result.request.study), result, numbers)
            self.answer.set_trailing(old or _HEADLINE in self._faded)
        return self._faded != before

    def _show_progress(self, result: Result) -> None:
        """Say above the plot which values faded curves are for, and how many are up to date."""
        drawn = [s for s in result.series if s.key not in self.plot.hidden]
        old = (self._faded & result.outdated) - self.plot.hidden
        fresh = sum(not (s.computing or s.key in old) for s in drawn)
        still = {self._still(result, key, self._drawn_for) for key in old}
        faded = f"Faded: {common_remark(still) or 'earlier values'}.  " if old else ""
        curves = f"{fresh} of {len(drawn)} curve{'s' * (len(drawn) != 1)} up to date"
        share = fresh / max(len(drawn), 1)
        self.plot.titles.progress.show_share(faded + curves if drawn else "", share)

    def _gesture_ended(self) -> None:
        """Let the axes settle, if the answer is there; else they do when it comes."""
        result = self.current_result
        if result is not None and not result.outdated and not self._controller.busy:
            self.plot.set_frozen(False)

    def _update_legend(self, result: Result) -> None:
        """Update the legend."""
        old = self._faded & result.outdated_numbers
        result = self.own.beside(result)
        known = {r.key: r.value for r in result.readouts}
        values = {
            s.key: known[s.key] if s.key in known else self.plot.value_here(s.key)
            for s in result.series
        }
        at = self.plot.line_text if self.plot.value_line.isVisible() else ""
        styles = {s.key: self.plot.style_of(s.key) for s in result.series}
        between = {s.key for s in result.series if s.key not in known} - at_slider(result)
        here = f"at {at}" if at else ""
        self.legend.show_series(
            result.series,
            styles,
            self.plot.hidden,
            values,
            here,
            between,
            self._found,
            self.looking.names_of(result),
            self.looking.first_of(result),
            result.complete and not self._session.in_gesture,
            self._better(result),
            old,
            self.looking.remarks_of(result)
            | {key: self._still(result, key, self._known_for) for key in old},
        )
        self.guide.show_result(result)

    def _still(self, result: Result, key: str, of: Mapping[str, Request]) -> str:
        """Return which values an old curve or number is for: ``still ε₀ = 2``; empty if unknown."""
        known, asked = of.get(key), result.request
        if known is None or _subject(known) != _subject(asked):
            return ""
        values = dict(known.values)
        changed = [
            parameter_text(replace(p, unit=""), values[p.key])
            for p in get_study(asked.study).parameters
            if values[p.key] != asked[p.key]
        ]
        return f"still {changed[0]}{', …' * (len(changed) > 1)}" if changed else ""

    def _better(self, result: Result) -> dict[str, UnclaimedReason]:
        """Return why better values than the claimed one are not claimed.

        While the claim may still change there is no new mark, to avoid flicker.
        """
        value, about = self._found[0], _subject(result.request)
        marked = self._marked[1] if self._marked[0] == about else {}
        if result.curve_follows:  # the conditions, which give the reasons, follow with it
            return marked
        reasons = unclaimed_reasons(result, value)
        settled = value is not None and not value.unsettled and not result.held
        if result.complete or settled:
            self._marked = (about, reasons)
            return reasons
        return {key: reason for key, reason in reasons.items() if key in marked}

    def _failed(self, _error: Exception) -> None:
        if self.current_result is not None:
            self.notes.hide()

    def _busy_changed(self, busy: bool) -> None:
        """Say that there is no answer where its computation ended without one."""
        front, shown = self._front(), self.current_result
        if front is None or busy or (shown is not None and shown.request.study == front[0].id):
            return
        self.answer.show_computing(_NO_ANSWER)

    def _set_stale(self, stale: bool) -> None:
        self.stale.mark(stale and self.current_result is not None, self._controller.busy)

    # Slots: user

    def _set_y_log(self, on: bool) -> None:
        if self._front() is not None:
            self.looking.set_y_log(on)

    def _retheme(self) -> None:
        self.plot.set_theme(self._theme.plot)
        self.solving.line.set_theme(self._theme.plot)
        if self.current_result is not None:
            self._update_legend(self.current_result)
            self.pinning.update(self.current_result, self._theme.plot.muted)


def _beside(state: SessionState) -> tuple[object, ...]:
    """Return the settings on which the picture of a result depends."""
    return state.looks, state.pins, state.own


def _subject(request: Request) -> tuple[str, str, object]:
    """Return what a view depends on: study, quantity, x axis."""
    return (request.study, request.quantity, request.sweep)
