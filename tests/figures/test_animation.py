"""A map's frames (draws, time windows) as GIF, animated PNG and MP4: stamped, with the recipe."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from explorer import __version__
from explorer.cli import run
from explorer.engine.runtime import StudyRuntime, final_result
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures import animation_encoding as module, captions
from explorer.figures.animation_frames import (
    FRAMES,
    OF_MAPS,
    Animation,
    Over,
    requests,
    with_frames,
)
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import Kind, by_suffix, of_kind
from explorer.figures.recipes import read_recipe
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import (
    Cancelled,
    Origin,
    Request,
    Result,
    Scale,
    Sweep,
    default_request,
    parameter,
)
from explorer.studies.registry import get_study
from tests import snapshots
from tests.figures.reading import BOTH
from tests.figures.samples import RECIPE, hot_map, maps

pytestmark = pytest.mark.full

ANIMATIONS = [f.suffix for f in of_kind(Kind.ANIMATION, maps=True)]
DRAWS = Animation()
FEW = Animation(frames=3)
"""Drawn: each page takes a tenth of a second."""
SPAN = ("2010-01-01T00:00:00Z", "2010-01-10T23:59:59Z")
Check = Callable[[], None]


def answer(request: Request, _check: Check) -> Iterator[Result]:
    """Each seed has its hot cell elsewhere; what is early or comes later is not wanted."""
    yield replace(maps(), early=True)
    place = (request.seed % 16, request.seed // 16 % 16)
    result = maps(private=hot_map(*place, 16, 0.5), came_from=Origin.EXTENT)
    yield replace(result, request=request)
    raise AssertionError


def job(fmt: str, came_from: Origin = Origin.EXTENT, **more) -> ExportJob:
    result = maps(came_from=came_from)
    view = ViewState.for_result(result, **{k: more.pop(k) for k in ("surfaces",) if k in more})
    return ExportJob(result, view, RECIPE, by_suffix(fmt), size_px=(400, 300), dpi=60, **more)


def pictures(path: Path) -> list[np.ndarray]:
    """Return the frames of an animation in RGB."""
    if path.suffix == ".mp4":
        with pytest.importorskip("av").open(path) as video:
            return [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    with Image.open(path) as image:
        frames = []
        for place in range(image.n_frames):
            image.seek(place)
            frames.append(np.asarray(image.convert("RGB")))
        return frames


@pytest.mark.parametrize("fmt", ANIMATIONS)
def test_a_frame_a_draw_with_what_the_gate_lets_through(fmt: str, tmp_path: Path) -> None:
    shares: list[float] = []
    path = tmp_path / f"draws.{fmt}"
    path.write_bytes(render(with_frames(job(fmt, report=shares.append), FEW, answer)))
    frames = pictures(path)
    assert len({frame.tobytes() for frame in frames}) == len(frames) == FEW.frames
    assert {frame.shape for frame in frames} == {(300, 400, 3)}
    recipe = read_recipe(path)
    assert recipe["private_only"] is True
    assert recipe["animation"] == {"over": "draws", "frames": FEW.frames}
    assert "seed" not in recipe
    assert "data" not in recipe
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_other_check_ins_with_the_same_noisy_maps_give_the_same_bytes() -> None:
    """What only the curator may see is in no frame, and nowhere else in the file."""

    def of(true: np.ndarray) -> bytes:
        def told(request: Request, check: Check) -> Iterator[Result]:
            result = next(found for found in answer(request, check) if not found.early)
            surfaces = (replace(result.surfaces[0], values=true), *result.surfaces[1:])
            selection = replace(request.selection, data=f"{int(true.sum()):064x}")
            yield replace(result, surfaces=surfaces, request=replace(request, selection=selection))

        return render(with_frames(job("apng"), Animation(Over.MOVING, 2, *SPAN), told))

    assert of(np.eye(16, dtype=np.float32)) == of(np.ones((16, 16), np.float32))


def test_a_video_shows_what_is_drawn_and_players_can_read_it(tmp_path: Path) -> None:
    """An odd side loses a pixel; colours lose less than what tells frames apart."""
    path = tmp_path / "draws.mp4"
    path.write_bytes(render(with_frames(replace(job("mp4"), size_px=(401, 301)), FEW, answer)))
    with pytest.importorskip("av").open(path) as video:
        (stream,) = video.streams.video
        assert stream.codec_context.name in ("h264", "mpeg4")
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert (stream.width, stream.height, stream.frames) == (400, 300, FEW.frames)
        assert float(stream.duration * stream.time_base) == pytest.approx(FEW.frames * 0.4)
        assert "not private" in video.metadata["description"]
    apng = tmp_path / "draws.apng"
    apng.write_bytes(render(with_frames(job("apng"), FEW, answer)))
    for one, other in zip(pictures(path), pictures(apng), strict=True):
        assert np.abs(one.astype(int) - other).mean() < 6


def stamps_of(frames: ExportJob, monkeypatch: pytest.MonkeyPatch) -> list[ExportJob]:
    """Return the frames as they are drawn."""
    seen: list[ExportJob] = []

    def drawn(_job: ExportJob, stamped: list[ExportJob]) -> Iterator[Image.Image]:
        seen.extend(stamped)
        return iter([Image.new("RGB", (400, 300), (i, 0, 0)) for i in range(len(stamped))])

    monkeypatch.setattr(module, "_draw_frames", drawn)
    render(frames)
    return seen


def test_every_frame_is_stamped_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = stamps_of(with_frames(job("gif"), DRAWS, answer), monkeypatch)
    stamps = [f.result.surface("private").stamp for f in frames]
    assert [s.split(" — ")[0] for s in stamps] == [
        f"draw {i} of {FRAMES}, which together spend {FRAMES} times ε" for i in range(1, FRAMES + 1)
    ]
    assert all("not private" in s for s in stamps)


def test_what_is_said_below_a_frame_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise seed is the frame's own; the carried maps and what they spend are counted."""
    frames = stamps_of(with_frames(job("gif", surfaces=BOTH), DRAWS, answer), monkeypatch)
    assert [f.recipe["seed"] for f in frames] == list(range(7, 7 + FRAMES))
    frames = stamps_of(with_frames(job("gif"), DRAWS, answer), monkeypatch)
    said = {captions.origin_line(f.result, f.view, f.recipe) for f in frames}
    (text,) = said
    snapshots.check(text, version=__version__)
    assert "20 noisy maps" in text
    assert "20 times ε" in text


def test_several_maps_in_every_frame_are_counted_and_so_is_delta() -> None:
    result = maps()
    beside = replace(result.surface("private"), key="private:gaussian")
    request = result.request.with_value("mechanism", "gaussian")
    result = replace(result, request=request, surfaces=(*result.surfaces, beside))
    view = ViewState.for_result(result)
    assert captions.spending(result, view, {"frames": 5}).endswith("10 times ε and δ")
    only_true = ViewState.for_result(result, surfaces=("true",))
    assert captions.spending(result, only_true, {"frames": 5}) == ""
    assert captions.spending(maps(), ViewState.for_result(maps()), {}) == ""


def sweep(over: Over, frames: int, **selection) -> list[Request]:
    request = maps().request
    chosen = replace(request.selection, **{"start": None, "time_from": Origin.PUBLIC, **selection})
    return requests(replace(request, selection=chosen), Animation(over, frames, *SPAN))


def test_time_windows_cover_the_range_once_with_noise_of_their_own() -> None:
    asked = sweep(Over.MOVING, 5)
    times = [(r.selection.start, r.selection.end) for r in asked]
    assert [start[:10] for start, _ in times] == [f"2010-01-{d:02}" for d in (1, 3, 5, 7, 9)]
    assert [end for _, end in times[:-1]] == [start for start, _ in times[1:]]
    assert times[-1][1] == "2010-01-11T00:00:00Z"  # the last check-in is in it
    assert [r.seed for r in asked] == list(range(7, 12))
    growing = sweep(Over.CUMULATIVE, 5)
    assert {r.selection.start for r in growing} == {SPAN[0]}
    assert [r.selection.end for r in growing] == [end for _, end in times]


def test_a_range_found_from_the_checkins_says_so_and_a_typed_one_keeps_its_origin() -> None:
    assert {r.selection.time_from for r in sweep(Over.MOVING, 3)} == {Origin.EXTENT}
    typed = {"start": "2010-01-02", "time_from": Origin.TYPED}
    assert {r.selection.time_from for r in sweep(Over.MOVING, 3, **typed)} == {Origin.EXTENT}
    both = sweep(Over.CUMULATIVE, 4, **typed, end="2010-01-04T00:00:00+02:00")
    assert {r.selection.time_from for r in both} == {Origin.TYPED}
    assert both[-1].selection.end == "2010-01-03T22:00:00Z"


def test_a_time_sweep_tells_its_windows_only_where_they_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The place and the times of check-ins are not in a private file; typed ones are."""
    span = Animation(Over.MOVING, 2, *SPAN)

    def frames(came_from: Origin, end: str | None) -> list[ExportJob]:
        asked = job("gif", came_from)
        selection = replace(asked.result.request.selection, end=end, time_from=came_from)
        request = replace(asked.result.request, selection=selection)
        asked = replace(asked, result=replace(asked.result, request=request))
        return stamps_of(with_frames(asked, span, answer), monkeypatch)

    typed = frames(Origin.TYPED, "2010-01-03T00:00:00Z")
    assert [f.result.stamp.split(", which")[0] for f in typed] == [
        "frame 1 of 2 (2010-01-01T00:00:00Z to 2010-01-02T00:00:00Z)",
        "frame 2 of 2 (2010-01-02T00:00:00Z to 2010-01-03T00:00:00Z)",
    ]
    assert "together spend 2 times ε" in typed[0].result.stamp
    assert "time 2010-01-02" in captions.data_line(typed[1].recipe)
    for frame in frames(Origin.TYPED, None):  # its end is that of the check-ins
        assert "2010-" not in f"{frame.result} {frame.recipe}"
        assert any("extent" in c.margin for c in frame.result.conditions)


@pytest.mark.parametrize(
    ("animation", "selection", "why"),
    [
        (Animation(Over.MOVING, 5), {}, "have no times; animate draws"),
        (Animation(Over.MOVING, 5, *SPAN), {"end": "2010-01-01T00:00:04"}, "4 seconds are too"),
        (Animation(Over.MOVING, 5, *SPAN), {"end": "2009-01-01"}, "0 seconds are too short"),
    ],
)
def test_a_time_sweep_that_cannot_be_is_refused(animation, selection, why) -> None:
    request = maps().request
    start = None if animation.first is None else SPAN[0]
    chosen = replace(request.selection, start=start, **selection)
    with pytest.raises(ValueError, match=why):
        requests(replace(request, selection=chosen), animation)
    with pytest.raises(ValueError, match="outside"):
        Animation(frames=1)


def test_it_can_be_cancelled_and_refuses_what_is_too_large(monkeypatch) -> None:
    def stop(done: float) -> None:
        if done > 0.2:
            raise Cancelled

    for fmt in ANIMATIONS:
        with pytest.raises(Cancelled):
            render(with_frames(job(fmt, report=stop), DRAWS, answer))
        with pytest.raises(ValueError, match="no frames"):
            render(job(fmt, animation=DRAWS.as_recipe()))
        large = with_frames(replace(job(fmt), size_px=(9000, 9000)), DRAWS, answer)
        with pytest.raises(ValueError, match=r"20 frames|a video"):
            render(large)
    monkeypatch.setattr(module, "MAX_VALUES", FRAMES * 16 * 16 - 1)
    with pytest.raises(ValueError, match="20 frames of 256 cells"):
        render(with_frames(job("gif"), DRAWS, answer))


def test_a_gif_without_a_recipe_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    Image.new("P", (4, 4)).save(path)
    with pytest.raises(ValueError, match="no recipe"):
        read_recipe(path)
    content = io.BytesIO()
    Image.new("P", (4, 4)).save(content, "GIF")
    path.write_bytes(content.getvalue()[:10])
    with pytest.raises(ValueError, match="damaged"):
        read_recipe(path)


def test_a_gif_that_claims_to_be_vast_is_named(tmp_path: Path) -> None:
    """Pillow's guard against decompression bombs is no ValueError, and none of ours either."""
    path = tmp_path / "a.gif"
    Image.new("P", (4, 4)).save(path)
    content = bytearray(path.read_bytes())
    place = content.index(b",\0\0\0\0\4\0\4\0")  # the first image's descriptor
    content[place + 5 : place + 9] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="GIF file"):
        read_recipe(path)


def test_a_video_without_a_recipe_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    av = pytest.importorskip("av")
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        picture = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")
        container.mux(stream.encode(picture))
        container.mux(stream.encode())
    with pytest.raises(ValueError, match="no recipe"):
        read_recipe(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="damaged"):
        read_recipe(path)


@pytest.mark.parametrize("over", OF_MAPS)
def test_the_command_line_draws_them(over: Over, tmp_path: Path) -> None:
    path = tmp_path / f"draws.{'mp4' if over is Over.MOVING else 'gif'}"
    asked = ["heatmap", "sample", "--resolution", "16", "--quiet", "--panes", "private"]
    asked += ["--animate", over.value, "--frames", "2"]
    assert run([*asked, "--size", "300x200", "--dpi", "50", "--output", str(path)]) == 0
    frames = pictures(path)
    assert len({frame.tobytes() for frame in frames}) == len(frames) == 2
    assert read_recipe(path)["animation"] == {"over": over.value, "frames": 2}


def test_a_parameter_runs_over_its_range(tmp_path: Path) -> None:
    """Curves on axes that all frames share, the value in each title, the recipe inside."""
    path = tmp_path / "run.gif"
    asked = ["bounds", "amplification", "--sweep", "n=1e3:1e4:3", "--size", "300x240", "--dpi"]
    asked += ["50", "--animate", "eps0", "--frames", "3", "--output", str(path)]
    assert run(asked) == 0
    frames = pictures(path)
    assert len({frame.tobytes() for frame in frames}) == 3
    recipe = read_recipe(path)
    assert recipe["animation"] == {"over": "parameter", "frames": 3, "key": "eps0"}
    assert recipe_from_dict(recipe).request["eps0"] == 2.0
    with Image.open(path) as image:
        assert image.info["duration"] == 2000


def test_frames_of_a_parameter_are_answers_to_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    study = get_study("amplification")
    request = replace(default_request(study), sweep=Sweep("n", 1e3, 1e6, 5, Scale.LOG))
    with closing(StudyRuntime()) as runtime:
        result = final_result(runtime, request)
        asked = ExportJob(result, ViewState.for_result(result), {}, by_suffix("gif"))
        run_eps = Animation(Over.PARAMETER, 3, key="eps0")
        frames = stamps_of(with_frames(asked, run_eps, runtime.answer), monkeypatch)
    values = [f.result.request["eps0"] for f in frames]
    p = parameter(study, "eps0")
    assert (values[0], values[-1], len(values)) == (p.low, p.high, 3)
    assert [f.view.title for f in frames] == [
        f"Amplification by shuffling, ε₀ = {format_number(value)}" for value in values
    ]
    assert all(f.result.complete for f in frames)
    for key in ("n", "nothing"):  # along the x axis, or not there
        with pytest.raises(ValueError, match="there are: eps0"):
            with_frames(asked, Animation(Over.PARAMETER, 3, key=key), answer)
    (drawn, *_) = result.series
    noisy = replace(result, series=(replace(drawn, role=Role.ESTIMATE, formula=False),))
    with pytest.raises(ValueError, match="there are: none"):
        with_frames(replace(asked, result=noisy), run_eps, answer)
    with pytest.raises(ValueError, match="GIF"):
        render(with_frames(asked, DRAWS, answer))


def test_maps_of_a_parameter_that_runs_say_its_value_and_what_all_spend(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_eps = Animation(Over.PARAMETER, 4, key="epsilon")
    asked: list[Request] = []

    def told(request: Request, check: Check) -> Iterator[Result]:
        asked.append(request)
        return answer(request, check)

    frames = stamps_of(with_frames(job("gif"), run_eps, told), monkeypatch)
    p = parameter(get_study("heatmap"), "epsilon")
    values = [request["epsilon"] for request in asked]
    assert (values[0], values[-1], len(values)) == (p.low, p.high, 4)
    # Of equal noise at another ε the counts would come out by subtraction.
    assert len({request.seed for request in asked}) == 4
    total = format_number(sum(values), Role.UPPER)
    for number, (frame, value) in enumerate(zip(frames, values, strict=True), 1):
        said = f"frame {number} of 4 (ε = {format_number(value)}), which together spend ε = {total}"
        assert frame.result.stamp.startswith(said)
        assert all(s.stamp.startswith(said) for s in frame.result.surfaces)
        assert frame.view.title.endswith(f"ε = {format_number(value)}")
        assert frame.recipe["values"]["epsilon"] == value
    path = tmp_path / "run.gif"
    path.write_bytes(render(with_frames(job("gif"), run_eps, answer)))
    assert read_recipe(path)["animation"] == {"over": "parameter", "frames": 4, "key": "epsilon"}
    with pytest.raises(ValueError, match="there are: epsilon"):
        with_frames(job("gif"), Animation(Over.PARAMETER, 3, key="delta"), answer)
