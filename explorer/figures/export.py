"""Export of a result as the bytes of a file, restricted by the export policy.

The policy concerns files without the non-private map. A picture, table, document or clipboard that
shows only the private surfaces of a map study must not reveal what the noise protects: not in
captions, recipe or file metadata. None of its texts are copied from the answer:
`apply_export_policy` lets the study create them anew (`public_result`), and passes only the listed
fields of view and recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer import __version__
from explorer.figures import captions
from explorer.figures.formats import ExportFormat, Kind, suffixes
from explorer.figures.pages.backdrop import BackgroundFile
from explorer.figures.view_state import ViewState, study_of
from explorer.geography.region import polygon_document
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Result, Selection

PUBLIC_VIEW_FIELDS = (
    "title",
    "theme",
    "surfaces",
    "colour_map",
    "linked_scale",
    "show_basemap",
    "show_cities",
    "picture",
    "backgrounds",
    "heatmap_opacity",
    "left_out",
)
"""Exported fields of a view. The visible part of the map is not exported: the user may have moved
it while the non-private map was shown."""
SETTINGS_SELECTED_HERE = (
    "ε or another setting was selected on these check-ins with “Utility” and depends on them, so "
    "private maps can't be exported with it. Select it on synthetic users or a public file, or "
    "include the non-private map and keep the file to yourself"
)
PREVIEW_REFUSED = (
    "the maps shown are a preview from a part of the users, without a guarantee; they can be "
    "exported when all users are counted"
)
_SCHEMA = re.compile(r"privacy-explorer-recipe/\d{1,3}")


def private_only(result: Result, view: ViewState) -> bool:
    """Return whether a view shows a map and no surface for the curator only.

    Raises
    ------
    ValueError
        If the view shows none of the result's surfaces.
    """
    shown = captions.shown_surfaces(result, view)
    return bool(shown) and not any(surface.curator_only for surface in shown)


def apply_export_policy(
    result: Result, view: ViewState, recipe: Mapping[str, Any]
) -> tuple[Result, ViewState, Mapping[str, Any]]:
    """Return result, view and recipe restricted to what may be written.

    They are unchanged if the view shows the non-private map, or if there is no map. Otherwise
    region, time range and n₀ are omitted if they were taken from the check-ins. ε can't be
    omitted, as the noise reveals it, so an ε selected on the check-ins is refused.

    Raises
    ------
    ValueError
        If the result is a preview, the view shows none of its surfaces, ε was selected on the
        check-ins, or the study does not define its public part.
    """
    if result.early:
        raise ValueError(PREVIEW_REFUSED)
    if not private_only(result, view):
        return result, view, recipe
    selection = result.request.selection
    if selection is not None and selection.judged:
        raise ValueError(SETTINGS_SELECTED_HERE)
    study = study_of(result)
    public_result: Callable[[Result], Result] | None = getattr(study, "public_result", None)
    if study is None or public_result is None:
        raise ValueError(
            f"study: {result.request.study!r} does not define its public part; include the "
            "non-private map and keep the file to yourself"
        )
    public = public_result(result)
    public_view = ViewState(**{name: getattr(view, name) for name in PUBLIC_VIEW_FIELDS})
    schema = str(recipe.get("schema", ""))
    settings: dict[str, Any] = {
        "schema": schema if _SCHEMA.fullmatch(schema) else "",
        "version": __version__,
        "private_only": True,
        "study": study.id,
        "values": dict(public.request.values),
        "quantity": "",
        "fidelity": "full",
        "selection": _public_selection(result.request.selection),
        "view": public_view.to_dict(),
    }
    return public, public_view, settings


def _public_selection(selection: Selection | None) -> dict[str, Any]:
    """Return the public part of the selection of users, region and time range."""
    if selection is None:
        return {}
    stored: dict[str, Any] = {
        "region_from": selection.region_origin.value,
        "users": selection.users,
        "data_seed": selection.data_seed,
        "share": selection.share,
    }
    if selection.region_origin.may_be_told:
        stored["region"] = list(selection.region.declared)
        stored |= polygon_document(selection.region)
    if selection.region.plane is not None:
        stored["plane"] = selection.region.plane.text
    if selection.image is not None:
        stored["image"] = selection.image
    if selection.unit is not Unit.USER:
        stored["unit"] = selection.unit.value
    if selection.start is not None or selection.end is not None:
        stored["time_from"] = selection.time_origin.value
        if selection.time_origin.may_be_told:
            stored |= {"start": selection.start, "end": selection.end}
    for name in ("n0_from", "epsilon_from", "settings_from"):
        origin = getattr(selection, name)
        if not origin.may_be_told:
            stored[name] = origin.value
    return stored


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
        Picture (PNG or JPEG) named by `ViewState.picture`; empty if there is none.
    backgrounds : tuple of BackgroundFile
        Open files named by `ViewState.backgrounds`.
    report : callable
        Called with the share of the job that is done, 0 to 1; may raise `Cancelled`.
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
    backgrounds: tuple[BackgroundFile, ...] = ()
    report: Callable[[float], object] = lambda _: None


def render(job: ExportJob) -> bytes:
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
            + " or animate a parameter" * (job.format.kind is Kind.ANIMATION)
        )
    if job.format.missing:
        raise ValueError(job.format.missing)
    permitted = replace(_apply_policy(job), frames=map(_apply_policy, job.frames))
    data: bytes = resolve_name(job.format.writer)(permitted)
    return data


def _apply_policy(job: ExportJob) -> ExportJob:
    """Return a job restricted by the export policy."""
    result, view, recipe = apply_export_policy(job.result, job.view, job.recipe)
    animated = {"animation": dict(job.animation)} if job.animation else {}
    return replace(job, result=result, view=view, recipe={**recipe, **animated})
