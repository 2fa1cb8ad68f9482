"""What of a grid's answer is to be exported, and how it becomes a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from explorer.figures.formats import ExportFormat
from explorer.figures.view_state import ViewState
from explorer.studies.base.grid_answer import GridAnswer


@dataclass(frozen=True)
class GridJob:
    """A grid's answer to be written.

    Attributes
    ----------
    answer : GridAnswer
    view : ViewState
        Title, theme, scales and hidden curves.
    recipe : mapping of JSON values
    format : ExportFormat
        Of `Kind.GRID`.
    curve : str
        Key of the curve that is drawn where the third parameter's values are colours.
    page : int
        Which of the third parameter's values a picture of one page shows.
    size_px : (int, int)
    dpi : float
    """

    answer: GridAnswer
    view: ViewState
    recipe: Mapping[str, Any]
    format: ExportFormat
    curve: str = ""
    page: int = 0
    size_px: tuple[int, int] = (1600, 1200)
    dpi: float = 150.0


def rendered_grid(job: GridJob) -> bytes:
    """Return a job's file as bytes.

    Raises
    ------
    ValueError
        If there is nothing to show, or the size is out of range.
    """
    data: bytes = resolve_name(job.format.writer)(job)
    return data
