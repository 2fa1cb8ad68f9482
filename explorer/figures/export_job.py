"""Export jobs, and the function that turns a job into the bytes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer.figures.export_policy import apply_export_policy
from explorer.figures.formats import ExportFormat, Kind, suffixes
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result


@dataclass(frozen=True)
class ExportJob:
    """A result to export.

    Attributes
    ----------
    result : Result
    view : ViewState
    recipe : mapping of JSON values
        Embedded in the file.
    format : ExportFormat
    path : Path or None
        None is the clipboard.
    size_px : (int, int)
        Of a picture.
    dpi : float
    animation : mapping of JSON values
        Settings of an animation for the recipe.
    frames : iterable of ExportJob
        Frames of an animation (`explorer.figures.animation_frames`), each with its answer and
        caption, computed lazily.
    backdrop : bytes
        The picture (PNG or JPEG) that `ViewState.picture` names; empty without.
    report : callable
        Receives which share of the job is done, 0 to 1; may raise `Cancelled`.
    """

    result: Result
    view: ViewState
    recipe: Mapping[str, Any]
    format: ExportFormat
    path: Path | None = None
    size_px: tuple[int, int] = (1600, 1000)
    dpi: float = 150.0
    animation: Mapping[str, Any] = field(default_factory=dict)
    frames: Iterable[ExportJob] = ()
    backdrop: bytes = b""
    report: Callable[[float], object] = lambda _: None


def rendered(job: ExportJob) -> bytes:
    """Return a job's file as bytes, after applying the export policy.

    Raises
    ------
    ValueError
        If the view shows nothing, the size is out of range, the format is for maps alone, or its
        library is not installed.
    """
    if job.format.maps_only and not (job.result.surfaces or job.animation):
        raise ValueError(
            f"{job.format.name} is for maps; choose one of {suffixes()} for these curves"
            + " or let a parameter run" * (job.format.kind is Kind.ANIMATION)
        )
    if job.format.missing:
        raise ValueError(job.format.missing)
    permitted = replace(_permitted(job), frames=map(_permitted, job.frames))
    data: bytes = resolve_name(job.format.writer)(permitted)
    return data


def _permitted(job: ExportJob) -> ExportJob:
    """Return a job restricted by the export policy."""
    result, view, recipe = apply_export_policy(job.result, job.view, job.recipe)
    animated = {"animation": dict(job.animation)} if job.animation else {}
    return replace(job, result=result, view=view, recipe={**recipe, **animated})
