"""Frames of an animation: draws of noise, time windows, or values of a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from explorer.figures.export import ExportJob
from explorer.figures.formats import Kind
from explorer.figures.view_state import study_of
from explorer.studies.base.grid import run_values, runnable
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Parameter,
    Request,
    Result,
    Selection,
    parameter,
)
from explorer.studies.registry import get_study

FRAMES = 20
MAX_FRAMES = 200
_SEEDS = 2**31


class Over(StrEnum):
    """What differs from frame to frame."""

    DRAWS = "draws"
    """Draws of the noise."""
    MOVING = "moving"
    """Consecutive time windows of equal length."""
    CUMULATIVE = "cumulative"
    """Growing time windows that all begin with the range."""
    PARAMETER = "parameter"
    """Values of a parameter over its range."""


OF_TIME = (Over.MOVING, Over.CUMULATIVE)
OF_MAPS = (Over.DRAWS, *OF_TIME)
RUN_MS = 6000
"""Duration of the range of a parameter."""
FRAME_MS = 400
"""Duration of a map frame."""


@dataclass(frozen=True, slots=True)
class Animation:
    """How a map or a plot is animated.

    Attributes
    ----------
    over : Over
    frames : int
        2 to `MAX_FRAMES`.
    first, last : str or None
        Times of the first and last check-in (ISO 8601): the time range if the selection has none.
        None without times.
    key : str
        The varying parameter, for `Over.PARAMETER`.

    Raises
    ------
    ValueError
        If there are too few frames or too many.
    """

    over: Over = Over.DRAWS
    frames: int = FRAMES
    first: str | None = None
    last: str | None = None
    key: str = ""

    def __post_init__(self) -> None:
        if not 2 <= self.frames <= MAX_FRAMES:
            raise ValueError(f"frames: {self.frames} is outside [2, {MAX_FRAMES}]")

    def as_recipe(self) -> dict[str, Any]:
        """Return the settings for a recipe, without anything taken from the check-ins."""
        settings: dict[str, Any] = {"over": self.over.value, "frames": self.frames}
        return settings | {"key": self.key} if self.over is Over.PARAMETER else settings


def frame_ms(settings: Mapping[str, Any]) -> int:
    """Return the duration of a frame, from the animation's recipe."""
    if settings.get("over") == Over.PARAMETER:
        return max(20, round(RUN_MS / int(settings["frames"])))
    return FRAME_MS


def running(result: Result) -> tuple[Parameter, ...]:
    """Return the parameters that an answer can be animated over.

    Excluded are the parameter on the x axis and δ of maps, which does not change the map.
    """
    study = study_of(result)
    if study is None:
        return ()
    swept = result.request.sweep.key if result.request.sweep is not None else ""
    left = (swept, "delta") if result.surfaces else (swept,)
    return tuple(p for p in runnable(study, result) if p.key not in left)


def requests(request: Request, animation: Animation) -> list[Request]:
    """Return the request of every frame, with a seed or a value of its own.

    Raises
    ------
    ValueError
        If there are no times, or the range is shorter than a second a frame.
    """
    if animation.over is Over.PARAMETER:
        # Two maps with equal noise and different ε would reveal the counts.
        return [
            replace(request.with_value(animation.key, value), seed=(request.seed + i) % _SEEDS)
            for i, value in enumerate(
                run_values(parameter(get_study(request.study), animation.key), animation.frames)
            )
        ]
    seeds = [replace(request, seed=(request.seed + i) % _SEEDS) for i in range(animation.frames)]
    if animation.over is Over.DRAWS:
        return seeds
    if request.selection is None:
        raise ValueError("time sweep: there are no check-ins; animate draws")
    parts = windows(request.selection, animation)
    return [replace(r, selection=part) for r, part in zip(seeds, parts, strict=True)]


def windows(selection: Selection, animation: Animation) -> list[Selection]:
    """Return the selection of check-ins of every frame of a time sweep.

    The range is divided evenly, to the second. An open end is taken from the check-ins, which the
    selections record.

    Raises
    ------
    ValueError
        As `requests`.
    """
    start, end = selection.start or animation.first, selection.end
    origin = selection.time_origin
    if end is None or selection.start is None:
        origin = Origin.EXTENT
    if start is None or (end is None and animation.last is None):
        raise ValueError("time sweep: these check-ins have no times; animate draws")
    begin = _instant(start)
    stop = _instant(animation.last or "") + timedelta(seconds=1) if end is None else _instant(end)
    seconds = int((stop - begin).total_seconds())
    if seconds < animation.frames:
        raise ValueError(
            f"time sweep: {max(seconds, 0)} seconds are too short for {animation.frames} frames; "
            "choose a longer time range or fewer frames"
        )
    edges = [
        f"{begin + timedelta(seconds=seconds * i // animation.frames):%Y-%m-%dT%H:%M:%SZ}"
        for i in range(animation.frames + 1)
    ]
    begins = edges if animation.over is Over.MOVING else [edges[0]] * animation.frames
    return [
        replace(selection, start=start, end=end, time_from=origin)
        for start, end in zip(begins, edges[1:], strict=False)
    ]


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def with_frames(
    job: ExportJob,
    animation: Animation,
    answer: Callable[[Request, Callable[[], None]], Iterator[Result]],
    check: Callable[[], None] = lambda: None,
) -> ExportJob:
    """Return a job with lazily computed frames.

    Parameters
    ----------
    job : ExportJob
    animation : Animation
    answer : callable
        ``answer(request, check)`` yields results; the first that is not early has the noisy maps,
        the last all points of the curves.
    check : callable
        Called often; raises `Cancelled` when the job is to end.

    Raises
    ------
    ValueError
        As `requests`; also if the result can't be animated in this way.
    """
    if job.format.kind is not Kind.ANIMATION:
        return job
    of_maps, runs = bool(job.result.surfaces), animation.over is Over.PARAMETER
    if runs and animation.key not in [p.key for p in running(job.result)]:
        keys = ", ".join(p.key for p in running(job.result)) or "none"
        raise ValueError(f"animate: {animation.key!r} can't run here; there are: {keys}")
    if not (runs or of_maps):
        return job
    question = replace(job.result.request, fidelity=Fidelity.COARSE)
    requested = requests(question if of_maps else job.result.request, animation)
    job = replace(job, animation=replace(animation, frames=len(requested)).as_recipe())
    reference_curves = tuple(s for s in job.result.series if s.pin or s.own)

    def frames() -> Iterator[ExportJob]:
        for number, request in enumerate(requested, 1):
            if of_maps:
                result = next(r for r in answer(request, check) if not r.early)
            else:
                *_, result = answer(request, check)
                result = replace(result, series=result.series + reference_curves)
            job.report(number / len(requested) / 2)
            yield replace(job, result=result, recipe=_of_frame(job.recipe, request))

    return replace(job, frames=frames())


def _of_frame(recipe: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """Return a recipe with the frame's seed and time range, for its caption."""
    result = {**recipe, "seed": request.seed} if "seed" in recipe else dict(recipe)
    if "values" in recipe:
        result["values"] = dict(request.values)
    stored, selection = recipe.get("selection"), request.selection
    if selection is not None and isinstance(stored, Mapping):
        result["selection"] = {**stored, "start": selection.start, "end": selection.end}
    return result
