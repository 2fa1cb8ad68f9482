"""Exports a sweep in the compute process that holds its answers. Imports no Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explorer.engine.grid_runner import grid_answer
from explorer.engine.runtime import StudyRuntime
from explorer.engine.session.recipe import Recipe
from explorer.figures.formats import Kind, by_suffix
from explorer.figures.grid import GridJob, rendered_grid
from explorer.figures.view_state import ViewState
from explorer.files import write_whole
from explorer.studies.base.grid import Grid
from explorer.studies.base.study import Request


@dataclass(frozen=True)
class GridFile:
    """What to write and where; without a path the text is returned."""

    request: Request
    grid: Grid
    view: ViewState
    suffix: str
    path: Path | None
    curve: str = ""
    page: int = 0


def write_grid(runtime: StudyRuntime, file: GridFile, check: Callable[[], None]) -> str:
    """Write a sweep to a file, or return its text.

    Raises
    ------
    LookupError
        If another sweep was computed meanwhile.
    ValueError
        If there is nothing to export.
    OSError
        If the file cannot be written.
    """
    answer = grid_answer(runtime, file.request, file.grid)
    recipe = Recipe(file.request, view=file.view.to_dict(), grid=file.grid).to_dict()
    form = by_suffix(file.suffix, Kind.GRID)
    data = rendered_grid(GridJob(answer, file.view, recipe, form, file.curve, file.page))
    check()
    if file.path is None:
        return data.decode()
    write_whole(file.path, data)
    return ""
