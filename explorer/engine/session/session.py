"""Session state: the question, its data and view, with undo and redo.

Immutable snapshots in an evented holder; undo and redo walk the snapshots. Widgets read the
state and call the holder's methods, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from psygnal import Signal

from explorer.engine.session import schema
from explorer.engine.session.comparison import Entry, entries_from_list, entries_to_list
from explorer.engine.session.imported_curves import (
    ImportedCurve,
    imported_from_list,
    imported_to_list,
)
from explorer.engine.session.plot_view import (
    MAX_PINS,
    Pin,
    PlotView,
    Subject,
    default_plot_view,
    looks_from_list,
    looks_to_list,
    pins_from_list,
    pins_to_list,
)
from explorer.engine.session.recipe import Recipe, grids_from_list, grids_to_list, request_from_dict
from explorer.engine.session.utility_settings import (
    UtilitySettings,
    utility_from_dict,
    utility_to_dict,
)
from explorer.studies.base.grid import Grid
from explorer.studies.base.study import (
    Fidelity,
    Request,
    Selection,
    Sweep,
    Value,
    default_request,
    default_sweep,
    parameter,
    quantity,
)
from explorer.studies.registry import get_study, study_ids

UNDO_DEPTH = 200
MAX_REQUESTS = 400
"""Questions that a file may hold."""


@dataclass(frozen=True)
class SessionState:
    """Immutable snapshot of a session.

    Attributes
    ----------
    study : str
        Id of the study in front.
    requests : mapping of study id to Request
        Each study keeps its own values, axes and seed while another is in front. Selections are
        not kept in here but in `selection`.
    selection : Selection or None
        The part of the loaded data in use, shared by all studies; None without data.
    looks : mapping of (study id, quantity key) to Look
        Scales and hidden curves that were chosen.
    pins : tuple of Pin
        Curves kept for reference, of all studies.
    comparison : tuple of Entry
        Numbers put side by side, in their order.
    which : UtilitySettings
        What *Utility* shows.
    grids : mapping of study id to Grid
        Grid of each study in *Sweep*.
    own : tuple of ImportedCurve
        Curves from users' files, of all plots.
    zone : str or None
        The time zone that times without an offset are of in the loaded data; None is UTC. Stored
        with the columns that the data are read by.
    """

    study: str
    requests: Mapping[str, Request] = field(default_factory=dict)
    selection: Selection | None = None
    looks: Mapping[Subject, PlotView] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    comparison: tuple[Entry, ...] = ()
    which: UtilitySettings = field(default_factory=UtilitySettings)
    grids: Mapping[str, Grid] = field(default_factory=dict)
    own: tuple[ImportedCurve, ...] = ()
    zone: str | None = None

    @property
    def request(self) -> Request:
        """Request of the current study, without its selection."""
        return self.request_of(self.study)

    def request_of(self, study_id: str) -> Request:
        """Return a study's last request, or its default one."""
        return self.requests.get(study_id) or default_request(get_study(study_id))

    def look_of(self, study_id: str, quantity_key: str) -> PlotView:
        """Return the view of a quantity of a study."""
        look = self.looks.get((study_id, quantity_key))
        return look or default_plot_view(get_study(study_id), quantity_key)

    def claim_of(self, study_id: str, quantity_key: str) -> str:
        """Return the key of the curve that the user claims; empty for the tightest valid bound.

        Of a study without quantities, a map, nothing is claimed.
        """
        look = self.looks.get((study_id, quantity_key))
        return look.claim if look is not None else ""

    def grid_of(self, study_id: str) -> Grid:
        """Return a study's grid; empty by default."""
        return self.grids.get(study_id, Grid())

    def with_grid(self, study_id: str, grid: Grid) -> SessionState:
        """Return this state with one study's grid replaced."""
        return replace(self, grids=MappingProxyType({**self.grids, study_id: grid}))

    def with_request(self, request: Request) -> SessionState:
        """Return this state with one study's request replaced."""
        bare = replace(request, selection=None, fidelity=Fidelity.FULL)
        return replace(self, requests=MappingProxyType({**self.requests, request.study: bare}))


class Session:
    """Holds the current `SessionState`, emits changes, and undoes them.

    Parameters
    ----------
    state : SessionState, optional
    first_values : mapping of study id to values, optional
        What differs from the defaults when a study without a request becomes the current one.

    Signals
    -------
    changed(new, old)
        After every change, undo and redo included.
    history_changed()
        When what can be undone or redone has changed.
    gesture_ended()
        When a drag, or a run of key presses, has ended.
    """

    changed = Signal(object, object)
    history_changed = Signal()
    gesture_ended = Signal()

    def __init__(
        self,
        state: SessionState | None = None,
        first_values: Mapping[str, Mapping[str, Value]] = MappingProxyType({}),
    ) -> None:
        self._first_values = first_values
        self._state = self._begun(state or SessionState(study_ids()[0]))
        self._undo: list[tuple[str, SessionState]] = []
        self._redo: list[tuple[str, SessionState]] = []
        self._gesture: str | None = None

    @property
    def state(self) -> SessionState:
        """The current state."""
        return self._state

    def request(self, study_id: str | None = None) -> Request:
        """Return the request of a study (default: the current one), with its selection."""
        request = self._state.request_of(study_id or self._state.study)
        if get_study(request.study).needs_data:
            request = replace(request, selection=self._state.selection)
        return request

    def set_study(self, study_id: str) -> None:
        """Make a study the current one."""
        study = get_study(study_id)
        self._commit(self._begun(replace(self._state, study=study_id)), f"choose {study.name}")

    def _begun(self, state: SessionState) -> SessionState:
        """Return a state with a request of its current study, if that has first values."""
        values = self._first_values.get(state.study, {})
        if not values or state.study in state.requests:
            return state
        request = state.request
        for key, value in values.items():
            request = request.with_value(key, value)
        return state.with_request(request)

    def set_value(
        self, key: str, value: Value, study_id: str | None = None, gesture: str | None = None
    ) -> None:
        """Set a parameter.

        Parameters
        ----------
        key, value
            Checked against the study's declaration.
        study_id : str, optional
            The study in front if omitted.
        gesture : str, optional
            Changes that follow each other under the same gesture (one drag) are undone as one.

        Raises
        ------
        ValueError
            Naming parameter, value and range.
        """
        study = get_study(study_id or self._state.study)
        declared = parameter(study, key)
        request = self._state.request_of(study.id).with_value(key, declared.parse(value))
        text = f"change {declared.symbol or declared.name}"
        self._commit(self._state.with_request(request), text, gesture)

    def set_values(
        self,
        values: Mapping[str, Value],
        study_id: str | None = None,
        gesture: str | None = None,
    ) -> None:
        """Set several parameters as one step (a preset, *reset parameters*, a dragged dot)."""
        study = get_study(study_id or self._state.study)
        request = self._state.request_of(study.id)
        for key, value in values.items():
            request = request.with_value(key, parameter(study, key).parse(value))
        self._commit(self._state.with_request(request), "change parameters", gesture)

    def set_quantity(self, key: str) -> None:
        """Put a quantity on the y axis, keeping the x axis where possible."""
        declared = quantity(get_study(self._state.study), key)
        request = with_quantity(self._state.request, key)
        self._commit(self._state.with_request(request), f"show {declared.name}")

    def set_sweep(self, sweep: Sweep, gesture: str | None = None) -> None:
        """Put a parameter and its range on the x axis."""
        study = get_study(self._state.study)
        request = self._state.request
        if sweep.key not in quantity(study, request.quantity).sweeps:
            raise ValueError(f"{request.quantity!r} can't be swept over {sweep.key!r}")
        request = replace(request, sweep=sweep)
        over = parameter(study, sweep.key)
        text = f"show over {over.symbol or over.name}"
        self._commit(self._state.with_request(request), text, gesture)

    def set_seed(self, seed: int, study_id: str | None = None) -> None:
        """Choose another draw of the demonstration noise."""
        request = replace(self._state.request_of(study_id or self._state.study), seed=seed)
        self._commit(self._state.with_request(request), "new noise")

    def set_selection(self, selection: Selection | None, gesture: str | None = None) -> None:
        """Choose which part of the data is used."""
        self._commit(replace(self._state, selection=selection), "choose data", gesture)

    def set_look(
        self,
        subject: Subject,
        look: PlotView,
        text: str = "change view",
        gesture: str | None = None,
    ) -> None:
        """Choose scale and hidden curves of a quantity of a study."""
        if look != self._state.look_of(*subject):
            looks = MappingProxyType({**self._state.looks, subject: look})
            self._commit(replace(self._state, looks=looks), text, gesture)

    def set_claim(self, subject: Subject, key: str) -> None:
        """Choose the claimed curve of a quantity of a study; empty for the tightest valid bound."""
        look = self._state.look_of(*subject)
        self.set_look(subject, replace(look, claim=key), "change claim")

    def set_pins(
        self, pins: tuple[Pin, ...], text: str = "change pins", gesture: str | None = None
    ) -> None:
        """Set the pinned curves."""
        self._commit(replace(self._state, pins=pins), text, gesture)

    def pin(self, hidden: frozenset[str] = frozenset()) -> None:
        """Pin the visible curves of the current request.

        Raises
        ------
        ValueError
            If so many are pinned that more could not be told apart.
        """
        pin = Pin(self._state.request, hidden)
        if pin in self._state.pins:
            return
        if sum(p.subject == pin.subject for p in self._state.pins) >= MAX_PINS:
            raise ValueError(f"{MAX_PINS} pins are as many as can be told apart; unpin some first")
        self.set_pins((*self._state.pins, pin), "pin curves")

    def set_own(
        self, own: tuple[ImportedCurve, ...], text: str, gesture: str | None = None
    ) -> None:
        """Set the imported curves."""
        self._commit(replace(self._state, own=own), text, gesture)

    def set_comparison(
        self, entries: tuple[Entry, ...], text: str, gesture: str | None = None
    ) -> None:
        """Set the rows of the comparison."""
        self._commit(replace(self._state, comparison=entries), text, gesture)

    def set_which(self, which: UtilitySettings, text: str, gesture: str | None = None) -> None:
        """Set the view of *Utility*."""
        self._commit(replace(self._state, which=which), text, gesture)

    def set_grid(self, study_id: str, grid: Grid, text: str, gesture: str | None = None) -> None:
        """Set a study's grid."""
        self._commit(self._state.with_grid(study_id, grid), text, gesture)

    def forget_steps(self) -> None:
        """Clear the undo history."""
        self._undo.clear()
        self._redo.clear()
        self._gesture = None
        self.history_changed.emit()

    def set_zone(self, zone: str | None) -> None:
        """Choose the time zone of times without an offset; None is UTC."""
        self._commit(replace(self._state, zone=zone), "change time zone")

    def replace_data(self, selection: Selection | None) -> None:
        """Switch to another data set; the history of the previous one is dropped."""
        self._replace_everywhere(selection=selection)

    def replace_zone(self, zone: str | None) -> None:
        """Record the time zone of the data; the history of another zone is dropped."""
        if self._state.zone != zone:
            self._replace_everywhere(zone=zone)

    def _replace_everywhere(self, **changes: Any) -> None:
        old = self._state
        self._state = replace(old, **changes)
        self._undo = [(name, replace(state, **changes)) for name, state in self._undo]
        self._redo = []
        self._gesture = None
        self._notify(old)

    def follow(
        self,
        request: Request,
        gesture: str | None = None,
        text: str = "open recipe",
        keep_pins: bool = True,
        which: UtilitySettings | None = None,
        grid: Grid | None = None,
        look: PlotView | None = None,
        zone: str | None = "",
    ) -> None:
        """Apply a whole request (a recipe, a preset) as one step, with its selection.

        Without `keep_pins` the study's pins go in the same step. With `which` that is what
        *Utility* shows, with `look` how the plot is looked at; a grid becomes the study's. A
        `zone` that is not empty is that of times without an offset.
        """
        state = replace(self._state.with_request(request), study=request.study)
        if not keep_pins:
            others = tuple(p for p in state.pins if p.request.study != request.study)
            state = replace(state, pins=others)
        selection, which = request.selection or state.selection, which or state.which
        state = replace(state, selection=selection, which=which)
        if look is not None:
            looks = {**state.looks, (request.study, request.quantity): look}
            state = replace(state, looks=MappingProxyType(looks))
        if grid is not None:
            state = state.with_grid(request.study, grid)
        if zone != "":
            state = replace(state, zone=zone)
        self._commit(state, text, gesture)

    @property
    def in_gesture(self) -> bool:
        """Whether the last change belongs to a drag, or a run of key presses, that goes on."""
        return self._gesture is not None

    def end_gesture(self, cancelled: bool = False) -> None:
        """Make the next change a separate undo step; if cancelled, take the running one back."""
        if self._gesture is not None:
            self._gesture = None
            if cancelled:
                old = self._state
                self._state = self._undo.pop()[1]
                self._notify(old)
            self.gesture_ended.emit()

    @property
    def undo_text(self) -> str:
        """Description of the step that *undo* reverts; empty if there is none."""
        return self._undo[-1][0] if self._undo else ""

    @property
    def redo_text(self) -> str:
        """Description of the step that *redo* repeats; empty if there is none."""
        return self._redo[-1][0] if self._redo else ""

    def undo(self) -> None:
        """Undo one step, if there is one."""
        self._step_history(self._undo, self._redo)

    def redo(self) -> None:
        """Redo one step, if there is one."""
        self._step_history(self._redo, self._undo)

    def _step_history(
        self, source: list[tuple[str, SessionState]], target: list[tuple[str, SessionState]]
    ) -> None:
        if not source:
            return
        text, state = source.pop()
        old = self._state
        target.append((text, old))
        self._state = state
        self._gesture = None
        self._notify(old)

    def _commit(self, new: SessionState, text: str, gesture: str | None = None) -> None:
        old = self._state
        if new == old:
            return
        if gesture is None or gesture != self._gesture:
            self._undo.append((text, old))
            del self._undo[:-UNDO_DEPTH]
        self._redo.clear()
        self._gesture = gesture
        self._state = new
        self._notify(old)

    def _notify(self, old: SessionState) -> None:
        self.changed.emit(self._state, old)
        self.history_changed.emit()


def with_quantity(request: Request, key: str) -> Request:
    """Return a request for another quantity, keeping the x axis where possible."""
    study = get_study(request.study)
    declared = quantity(study, key)
    request = replace(request, quantity=key)
    if request.sweep is None or request.sweep.key not in declared.sweeps:
        sweep = default_sweep(study, declared.sweeps[0]) if declared.sweeps else None
        request = replace(request, sweep=sweep)
    return request


def state_to_dict(state: SessionState) -> dict[str, Any]:
    """Return a session state as JSON values; data is named by fingerprint, never by path.

    But for a public file that *Utility* judges on.
    """
    if not state.requests and state.study in study_ids():  # one at least carries the selection
        state = state.with_request(state.request)
    return schema.plain(
        schema.Session(
            study=state.study,
            requests=[
                Recipe(replace(r, selection=state.selection)).to_dict()
                for r in state.requests.values()
            ],
            looks=looks_to_list(state.looks),
            pins=pins_to_list(state.pins),
            comparison=entries_to_list(state.comparison),
            which=utility_to_dict(state.which),
            grids=grids_to_list(state.grids),
            own=imported_to_list(state.own),
        )
    )


def state_from_dict(raw: object, left_out: list[str] | None = None) -> SessionState:
    """Read a session state from JSON values, skipping unreadable parts.

    Parameters
    ----------
    raw : JSON values
    left_out : list of str, optional
        Gets a sentence with its path for each field or item that can't be read any more.
    """
    left_out = [] if left_out is None else left_out
    read = schema.read_fields(raw, schema.Session, "", left_out)
    state = SessionState(read.study or study_ids()[0])
    if state.study not in study_ids():
        left_out.append(f"study: there is no study {state.study!r}")
        state = SessionState(study_ids()[0])
    for request in schema.read_list(
        read.requests, request_from_dict, "requests", left_out, MAX_REQUESTS
    ):
        state = state.with_request(request)
        if request.selection is not None:
            state = replace(state, selection=request.selection)
    return replace(
        state,
        looks=MappingProxyType(looks_from_list(read.looks, left_out)),
        pins=pins_from_list(read.pins, left_out),
        comparison=entries_from_list(read.comparison, left_out),
        which=utility_from_dict(read.which, left_out),
        grids=grids_from_list(read.grids, left_out),
        own=imported_from_list(read.own, left_out),
    )
