"""A session's state as it is kept in files: JSON values."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from explorer.engine.session import wire, wire_reading
from explorer.engine.session.comparison import entries_from_list, entries_to_list
from explorer.engine.session.grids import grids_from_list, grids_to_list
from explorer.engine.session.own_curves import own_from_list, own_to_list
from explorer.engine.session.plot_view import (
    looks_from_list,
    looks_to_list,
    pins_from_list,
    pins_to_list,
)
from explorer.engine.session.recipe import Recipe, request_from_dict
from explorer.engine.session.session import MAX_REQUESTS, SessionState
from explorer.engine.session.which_view import which_from_dict, which_to_dict
from explorer.studies.registry import study_ids


def state_to_dict(state: SessionState) -> dict[str, Any]:
    """Return a session state as JSON values; data is named by fingerprint, never by path.

    But for a public file that *Which ε?* judges on.
    """
    if not state.requests and state.study in study_ids():  # one at least carries the selection
        state = state.with_request(state.request)
    return wire_reading.plain(
        wire.Session(
            study=state.study,
            requests=[
                Recipe(replace(r, selection=state.selection)).to_dict()
                for r in state.requests.values()
            ],
            looks=looks_to_list(state.looks),
            pins=pins_to_list(state.pins),
            comparison=entries_to_list(state.comparison),
            which=which_to_dict(state.which),
            grids=grids_to_list(state.grids),
            own=own_to_list(state.own),
        )
    )


def state_from_dict(raw: object, left_out: list[str] | None = None) -> SessionState:
    """Read a session state back, as much of it as can be read.

    Parameters
    ----------
    raw : JSON values
    left_out : list of str, optional
        Gets a sentence with its path for each field or item that can't be read any more.
    """
    left_out = [] if left_out is None else left_out
    read = wire_reading.read_fields(raw, wire.Session, "", left_out)
    state = SessionState(read.study or study_ids()[0])
    if state.study not in study_ids():
        left_out.append(f"study: there is no study {state.study!r}")
        state = SessionState(study_ids()[0])
    for request in wire_reading.read_list(
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
        which=which_from_dict(read.which, left_out),
        grids=grids_from_list(read.grids, left_out),
        own=own_from_list(read.own, left_out),
    )
