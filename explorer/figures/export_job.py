"""What is to be exported, and how it becomes a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer.figures.formats import ExportFormat, suffixes
from explorer.figures.gate import gate
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result

MAX_RECIPE = 1_000_000
"""Bytes; a longer recipe is refused when written and when read."""


@dataclass(frozen=True)
class ExportJob:
    """A result to be written.

    Attributes
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
        Goes inside the file.
    format : ExportFormat
    path : Path or None
        None is the clipboard.
    size_px : (int, int)
        Of a picture.
    dpi : float
    """

    result: Result
    view: ViewState
    recipe: Mapping[str, Any]
    format: ExportFormat
    path: Path | None = None
    size_px: tuple[int, int] = (1600, 1000)
    dpi: float = 150.0


def rendered(job: ExportJob) -> bytes:
    """Return a job's file as bytes; whatever the format, only what the gate lets through.

    Raises
    ------
    ValueError
        If the view shows nothing, the size is out of range, or the format is for maps alone.
    """
    if job.format.maps_only and not job.result.surfaces:
        raise ValueError(
            f"{job.format.name} is for maps; choose one of {suffixes()} for these curves"
        )
    result, view, recipe = gate(job.result, job.view, job.recipe)
    write = resolve_name(job.format.writer)
    data: bytes = write(replace(job, result=result, view=view, recipe=recipe))
    return data


def recipe_text(recipe: Mapping[str, object]) -> str:
    """Return a recipe as one line of ASCII JSON.

    Raises
    ------
    ValueError
        If it is too long or holds something that JSON can't (a NaN, an array).
    """
    try:
        text = json.dumps(recipe, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"recipe: {error}") from None
    if len(text) > MAX_RECIPE:
        raise ValueError(f"recipe: {len(text)} bytes; at most {MAX_RECIPE} fit into a file")
    return text
