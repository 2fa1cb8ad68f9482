"""What is to be exported, and how it becomes a file."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from explorer.figures.formats import ExportFormat, Kind, suffixes
from explorer.figures.gate import gate
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Fidelity, Request, Result

MAX_RECIPE = 1_000_000
"""Bytes; a longer recipe is refused when written and when read."""


DRAWS = 20
"""Frames of an animation."""


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
    draws : iterable of Result
        Of an animation: the answers to the result's question with one seed after the other,
        computed when they are asked for.
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
    draws: Iterable[Result] = ()
    report: Callable[[float], object] = lambda _: None


def rendered(job: ExportJob) -> bytes:
    """Return a job's file as bytes; whatever the format, only what the gate lets through.

    Raises
    ------
    ValueError
        If the view shows nothing, the size is out of range, the format is for maps alone, or its
        library is not installed.
    """
    if job.format.maps_only and not job.result.surfaces:
        raise ValueError(
            f"{job.format.name} is for maps; choose one of {suffixes()} for these curves"
        )
    if job.format.missing:
        raise ValueError(job.format.missing)
    result, view, recipe = gate(job.result, job.view, job.recipe)
    write = resolve_name(job.format.writer)
    draws = (gate(draw, job.view, job.recipe)[0] for draw in job.draws)
    data: bytes = write(replace(job, result=result, view=view, recipe=recipe, draws=draws))
    return data


def with_draws(
    job: ExportJob,
    answer: Callable[[Request, Callable[[], None]], Iterator[Result]],
    check: Callable[[], None] = lambda: None,
) -> ExportJob:
    """Return a job that computes the draws its format shows, the result's own first.

    Parameters
    ----------
    job : ExportJob
    answer : callable
        ``answer(request, check)`` yields results; the first has the noisy maps.
    check : callable
        Called often; raises `Cancelled` when the job is to end.
    """

    def draws() -> Iterator[Result]:
        asked = replace(job.result.request, fidelity=Fidelity.COARSE)
        for number in range(DRAWS):
            request = replace(asked, seed=(asked.seed + number) % 2**31)
            yield next(iter(answer(request, check)))
            job.report((number + 1) / DRAWS / 2)

    return replace(job, draws=draws()) if job.format.kind is Kind.ANIMATION else job


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
