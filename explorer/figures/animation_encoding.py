"""Encoding of animations as GIF, APNG and MP4, with the recipe inside."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.figures import captions
from explorer.figures.animation_frames import OF_TIME, Over, frame_ms
from explorer.figures.captions import parameter_text
from explorer.figures.colour_maps import colour_limits
from explorer.figures.export import ExportJob
from explorer.figures.pages.curves import common_ranges
from explorer.figures.picture import draw_page, own_settings
from explorer.figures.recipes import recipe_text
from explorer.figures.view_state import study_of
from explorer.studies.base.study import parameter, with_unit

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_VALUES = 1 << 26
"""Maximum cells of all frames, which are in memory until the common colour scale is known."""
MAX_FRAMES = 100_000_000
"""Maximum pixels of all frames of a GIF or PNG, which are encoded together."""
MAX_VIDEO = 4096 * 2304
"""Maximum pixels of a video frame, within what all H.264 players support."""
_CODECS = ("libx264", "mpeg4")
"""In order of preference; the first that the library supports is used."""


def animation_bytes(job: ExportJob) -> bytes:
    """Return the frames of a job as GIF or animated PNG; to be called through `rendered`.

    All frames share one colour scale, or axes. Each map is stamped with its content and with the
    cost of all frames, as every frame spends the map's ε again. The value of a parameter that
    varies is in the title.

    Raises
    ------
    ValueError
        If there are no frames, or they are too large together.
    """
    from PIL.PngImagePlugin import PngInfo

    stamped = _stamp_frames(job)
    width, height = job.size_px
    if not (width >= 100 and height >= 100 and width * height * len(stamped) <= MAX_FRAMES):
        raise ValueError(
            f"size_px: {width} × {height}; at least 100 × 100, at most {MAX_FRAMES:,} pixels in "
            f"all {len(stamped)} frames; a video may have more"
        )
    gif, text = job.format.suffix == "gif", recipe_text(job.recipe)
    how: dict[str, Any] = {"comment": text.encode()}
    if not gif:
        how = {"pnginfo": PngInfo()}
        how["pnginfo"].add_text("Recipe", text)
        how["pnginfo"].add_itxt("Comment", stamped[0].result.stamp)
    first, *others = [_of_few_colours(i) if gif else i for i in _draw_frames(job, stamped)]
    stream = io.BytesIO()
    first.save(
        stream,
        "GIF" if gif else "PNG",
        save_all=True,
        append_images=others,
        duration=frame_ms(job.animation),
        loop=0,
        **how,
    )
    return stream.getvalue()


def video_bytes(job: ExportJob) -> bytes:
    """Return the frames of a job as an MP4 file; to be called through `rendered`.

    H.264, where the library has its encoder, else MPEG-4 part 2. Colours are stored at half the
    resolution (4:2:0), as players want it, so that both sides are even: an odd one loses a pixel.
    Each frame is encoded as soon as it is drawn. The recipe is the file's comment.

    Raises
    ------
    ValueError
        As `animation_bytes`.
    """
    import av

    stamped = _stamp_frames(job)
    width, height = (side // 2 * 2 for side in job.size_px)
    if not (width >= 100 and height >= 100 and width * height <= MAX_VIDEO):
        raise ValueError(
            f"size_px: {width} × {height}; at least 100 × 100, at most {MAX_VIDEO:,} pixels for a "
            "video"
        )
    job = replace(job, size_px=(width, height))
    stream = io.BytesIO()
    with av.open(stream, "w", format="mp4") as container:
        container.metadata.update(
            {"comment": recipe_text(job.recipe), "description": stamped[0].result.stamp}
        )
        codec = next(name for name in _CODECS if name in av.codecs_available)
        video: Any = container.add_stream(codec, rate=Fraction(1000, frame_ms(job.animation)))
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        # The same frames must give the same bytes, or memory that is not theirs could be in them.
        # With several threads, and with x264's macroblock tree even with one (14 results of 30
        # runs at 800 × 512, one without it), they did not.
        video.codec_context.thread_count = 1
        if codec == "libx264":
            video.options = {"x264-params": "mbtree=0"}
        for image in _draw_frames(job, stamped):
            container.mux(video.encode(av.VideoFrame.from_ndarray(np.asarray(image), "rgb24")))
        container.mux(video.encode())
    return stream.getvalue()


def _stamp_frames(job: ExportJob) -> list[ExportJob]:
    """Return the frames, each stamped with its number and the cost of all frames.

    Raises
    ------
    ValueError
        If there are none, or too many for what they hold.
    """
    frames: list[ExportJob] = []
    for frame in job.frames:
        frames.append(frame)
        held = sum(s.values.size for s in captions.shown_surfaces(frame.result, frame.view))
        if held * int(job.animation["frames"]) > MAX_VALUES:
            raise ValueError(
                f"{job.format.name}: {job.animation['frames']} frames of {held:,} cells are too "
                "many; choose fewer frames or a smaller Δ"
            )
    if not frames:
        raise ValueError(f"{job.format.name}: there are no frames to show; choose a picture")
    return [_saying(frame, number, len(frames)) for number, frame in enumerate(frames, 1)]


def _saying(frame: ExportJob, number: int, count: int) -> ExportJob:
    of_parameter = frame.animation.get("over") == Over.PARAMETER
    if of_parameter:
        frame = _add_title(frame)
    if not frame.result.surfaces:
        return frame
    spend = captions.spending(frame.result, frame.view, frame.animation)
    of_time = frame.animation.get("over") in OF_TIME
    which = f"{'frame' if of_time or of_parameter else 'draw'} {number} of {count}"
    if of_parameter:
        which += f" ({_running_text(frame)})"
    selection = frame.recipe.get("selection", {})
    if of_time and selection.get("start") and selection.get("end"):
        which += f" ({selection['start']} to {selection['end']})"
    which += f", which together spend {spend}" * bool(spend)
    result = frame.result
    surfaces = tuple(
        replace(s, stamp=f"{which} — {captions.stamp_of(result, s)}") for s in result.surfaces
    )
    stamped = replace(result, surfaces=surfaces, stamp=f"{which} — {result.stamp}")
    return replace(frame, result=stamped)


def _add_title(frame: ExportJob) -> ExportJob:
    """Return a frame with the varying value in its title."""
    study = study_of(frame.result)
    assert study is not None
    text = f"{frame.view.title or study.name}, {_running_text(frame)}"
    left = tuple(part for part in frame.view.left_out if part != "title")
    return replace(frame, view=replace(frame.view, title=text, left_out=left))


def _running_text(frame: ExportJob) -> str:
    """Return the varying parameter with its value in a frame."""
    result, study = frame.result, study_of(frame.result)
    assert study is not None
    p = with_unit(parameter(study, frame.animation["key"]), result.request.unit_values)
    return parameter_text(p, result.request[p.key])


def _draw_frames(job: ExportJob, stamped: Sequence[ExportJob]) -> Iterator[Image]:
    """Yield the frames' pictures in RGB, all on one colour scale or between the same axes."""
    from PIL import Image

    limits, stamps = None, []
    if job.result.surfaces:
        shown = [captions.shown_surfaces(frame.result, frame.view) for frame in stamped]
        stamps = [
            captions.joint_stamp(frame.result, surfaces)
            for frame, surfaces in zip(stamped, shown, strict=True)
        ]
        limits = np.max([colour_limits(s, job.view.linked_scale) for s in shown], axis=0).tolist()
    else:
        ranges = common_ranges([(frame.result, frame.view) for frame in stamped])
        stamped = [replace(f, view=replace(f.view, **ranges)) for f in stamped]
    inches = (job.size_px[0] / job.dpi, job.size_px[1] / job.dpi)
    for number, frame in enumerate(stamped, 1):
        stream = io.BytesIO()
        with own_settings():
            page = draw_page(
                frame.result,
                frame.view,
                frame.recipe,
                inches,
                job.dpi,
                limits,
                job.backdrop,
                stamps,
                job.backgrounds,
            )
            page.figure.savefig(stream, format="png", dpi=job.dpi)
        with Image.open(stream) as image:
            yield image.convert("RGB")
        job.report(0.5 + number / len(stamped) / 2)


def _of_few_colours(image: Image) -> Image:
    """Return a frame with 256 colours, sampled equally from the page and the colour scale."""
    from PIL import Image

    return image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
