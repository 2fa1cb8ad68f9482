"""Grids that questions are asked over, as they stand in recipes and sessions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from explorer.engine.session import wire
from explorer.engine.session.wire_reading import plain, read, read_list
from explorer.studies.base.grid import Grid
from explorer.studies.registry import study_ids

MOST = 400
"""Studies whose grids are read."""


def grid_to_dict(grid: Grid) -> dict[str, Any]:
    """Return a grid as JSON values."""
    return plain(wire.Grid(list(grid.over), grid.trials, grid.colours))


def grid_of(found: wire.Grid) -> Grid:
    """Return the grid that a file has, whether or not a study can be asked over it."""
    return Grid(tuple(found.over), found.trials, found.colours)


def grids_to_list(grids: Mapping[str, Grid]) -> list[dict[str, Any]]:
    """Return the grids of studies as JSON values."""
    return [{"study": study, **grid_to_dict(grid)} for study, grid in grids.items()]


def grids_from_list(raw: list[Any], left_out: list[str]) -> Mapping[str, Grid]:
    """Read the grids of studies back; `left_out` gets a sentence for each that can't be read."""

    def take(item: Any, where: str) -> tuple[str, Grid]:
        found = read(item, wire.GridOfStudy, where)
        if found.study not in study_ids():
            raise ValueError(f"{where}.study: there is no study {found.study!r}")
        return found.study, grid_of(found)

    return MappingProxyType(dict(read_list(raw, take, "grids", left_out, MOST)))
