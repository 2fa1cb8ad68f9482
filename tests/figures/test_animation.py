"""Draws of a map as GIF and animated PNG: a frame a draw, stamped, the recipe inside."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from explorer.cli import run
from explorer.figures.animation import animation_bytes
from explorer.figures.export_job import DRAWS, ExportJob, rendered, with_draws
from explorer.figures.formats import Kind, by_suffix, of_kind
from explorer.figures.read_recipe import read_recipe
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Cancelled, Origin, Request, Result
from tests.figures.samples import RECIPE, hot_map, maps

ANIMATIONS = [f.suffix for f in of_kind(Kind.ANIMATION, maps=True)]


def answer(request: Request, _check: Callable[[], None]) -> Iterator[Result]:
    """Each seed has its hot cell elsewhere; what comes later in an answer is not wanted."""
    result = maps(private=hot_map(request.seed % 16, 5, 16, 0.5), came_from=Origin.EXTENT)
    yield replace(result, request=request)
    raise AssertionError


def job(fmt: str, **more) -> ExportJob:
    result = maps(came_from=Origin.EXTENT)
    view = ViewState.for_result(result)
    return ExportJob(
        result, view, RECIPE, by_suffix(fmt), size_px=(400, 300), dpi=60, **more
    )  # fmt: skip


@pytest.mark.parametrize("fmt", ANIMATIONS)
def test_a_frame_a_draw_with_what_the_gate_lets_through(fmt: str, tmp_path: Path) -> None:
    shares: list[float] = []
    path = tmp_path / f"draws.{fmt}"
    path.write_bytes(rendered(with_draws(job(fmt, report=shares.append), answer)))
    with Image.open(path) as image:
        assert image.size == (400, 300)
        assert image.n_frames == DRAWS
        frames = []
        for place in range(DRAWS):
            image.seek(place)
            frames.append(np.asarray(image.convert("RGB")).tobytes())
    assert len(set(frames)) == DRAWS
    recipe = read_recipe(path)
    assert recipe["private_only"] is True
    assert "seed" not in recipe
    assert "data" not in recipe
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_every_frame_is_stamped_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.figures import animation

    stamps: list[str] = []

    def frame(_job: ExportJob, draw: Result, _limits: object) -> Image.Image:
        stamps.append(draw.surface("private").stamp)
        return Image.new("P", (9, 9), len(stamps))

    monkeypatch.setattr(animation, "_frame", frame)
    rendered(with_draws(job("gif"), answer))
    assert [s.split(" — ")[0] for s in stamps] == [
        f"draw {i} of {DRAWS}, which together spend {DRAWS} times ε" for i in range(1, DRAWS + 1)
    ]
    assert all("not private" in s for s in stamps)


def test_it_can_be_cancelled_and_refuses_what_is_too_large() -> None:
    def stop(done: float) -> None:
        if done > 0.2:
            raise Cancelled

    with pytest.raises(Cancelled):
        rendered(with_draws(job("gif", report=stop), answer))
    with pytest.raises(ValueError, match="no draws to show"):
        animation_bytes(job("gif"))
    with pytest.raises(ValueError, match="in all 20 frames"):
        rendered(with_draws(replace(job("gif"), size_px=(9000, 9000)), answer))


def test_a_gif_without_a_recipe_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    Image.new("P", (4, 4)).save(path)
    with pytest.raises(ValueError, match="no recipe in this file"):
        read_recipe(path)
    content = io.BytesIO()
    Image.new("P", (4, 4)).save(content, "GIF")
    path.write_bytes(content.getvalue()[:10])
    with pytest.raises(ValueError, match="damaged"):
        read_recipe(path)


def test_the_command_line_draws_them(tmp_path: Path) -> None:
    path = tmp_path / "draws.gif"
    asked = ["heatmap", "sample", "--resolution", "16", "--quiet", "--panes", "private"]
    assert run([*asked, "--size", "300x200", "--dpi", "50", "--output", str(path)]) == 0
    with Image.open(path) as image:
        assert image.n_frames == DRAWS
