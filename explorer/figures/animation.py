"""Draws of a map's noise as an animation, a frame a draw, with the recipe inside."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.figures import captions
from explorer.figures.colour_limits import colour_limits
from explorer.figures.export import MAX_PIXELS, draw_page, own_settings
from explorer.figures.export_job import ExportJob, recipe_text
from explorer.studies.base.study import Result

if TYPE_CHECKING:
    from PIL.Image import Image

FRAME_MS = 400
"""How long a draw is seen: long enough to look at, short enough to compare it with the next."""


def animation_bytes(job: ExportJob) -> bytes:
    """Return the draws of what passed the gate (`rendered`) as GIF or animated PNG.

    All frames share one colour scale. Each is stamped with its number, and with what all of them
    cost: every draw spends the map's ε again.

    Raises
    ------
    ValueError
        If there are no draws, or they are too large together.
    """
    from PIL.PngImagePlugin import PngInfo

    draws = list(job.draws)
    width, height = job.size_px
    if not draws:
        raise ValueError(f"{job.format.name}: there are no draws to show; choose a picture")
    if not (width >= 100 and height >= 100 and width * height * len(draws) <= MAX_PIXELS):
        raise ValueError(
            f"size_px: {width} × {height}; at least 100 × 100, at most {MAX_PIXELS:,} pixels in "
            f"all {len(draws)} frames"
        )
    text = recipe_text(job.recipe)
    shown = [captions.shown_surfaces(draw, job.view) for draw in draws]
    limits = np.max([colour_limits(s, job.view.linked_scale) for s in shown], axis=0).tolist()
    frames = []
    for number, draw in enumerate(draws, 1):
        frames.append(_frame(job, _stamped(draw, number, len(draws)), limits))
        job.report(0.5 + number / len(draws) / 2)
    how: dict[str, Any] = {"comment": text.encode()}
    if job.format.suffix != "gif":
        how = {"pnginfo": PngInfo()}
        how["pnginfo"].add_text("Recipe", text)
        how["pnginfo"].add_itxt("Comment", _stamped(draws[0], 1, len(draws)).stamp)
    stream = io.BytesIO()
    frames[0].save(
        stream,
        "GIF" if job.format.suffix == "gif" else "PNG",
        save_all=True,
        append_images=frames[1:],
        duration=FRAME_MS,
        loop=0,
        **how,
    )
    return stream.getvalue()


def _stamped(draw: Result, number: int, draws: int) -> Result:
    """Return a draw that says which it is, and that all together are not worth what one is."""

    def said(stamp: str) -> str:
        return f"draw {number} of {draws}, which together spend {draws} times ε — {stamp}"

    surfaces = tuple(
        replace(s, stamp=said(captions.stamp_of(draw, s))) for s in draw.surfaces
    )  # fmt: skip
    return replace(draw, surfaces=surfaces, stamp=said(draw.stamp))


def _frame(job: ExportJob, draw: Result, limits: list[float]) -> Image:
    from PIL import Image

    inches = (job.size_px[0] / job.dpi, job.size_px[1] / job.dpi)
    stream = io.BytesIO()
    with own_settings():
        page = draw_page(draw, job.view, job.recipe, inches, job.dpi, limits)
        page.figure.savefig(stream, format="png", dpi=job.dpi)
    with Image.open(stream) as image:
        whole = image.convert("RGB")
    if job.format.suffix != "gif":
        return whole
    # Of 256 colours as many for the rare ones of the scale as for the page's.
    return whole.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
