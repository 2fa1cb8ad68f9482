"""``heatmap --background``: drawn and credited, named but not located in the recipe."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from explorer.cli import run
from explorer.figures.recipes import read_recipe
from tests.geography.backgrounds import tile_png, write_mbtiles

SMALL = ("--resolution", "32", "--epsilon", "5", "--quiet")
BLUE = (10, 20, 250)


@pytest.fixture
def tiles(tmp_path: Path) -> Path:
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    return write_mbtiles(folder / "blue.mbtiles", [(0, 0, 0, tile_png(BLUE))], attribution="© Blue")


@pytest.mark.full
def test_a_background_is_drawn_and_named(tiles: Path, tmp_path: Path) -> None:
    output = tmp_path / "map.png"
    words = ["sample", "--background", str(tiles), "--panes", "private", "--output", str(output)]
    assert run(["heatmap", *words, *SMALL]) == 0
    data = output.read_bytes()
    with Image.open(io.BytesIO(data)) as image:
        colours = image.convert("RGB").getcolors(1_000_000)
        texts = repr(image.info)
    assert max(n for n, colour in colours if colour == BLUE) > 1000
    assert "secret-folder" not in texts
    view = read_recipe(output)["view"]
    (value,) = view["backgrounds"]
    name, _, digest = value.partition("#")
    assert name == "blue.mbtiles"
    assert len(digest) == 64
    assert view["show_basemap"] is False


def test_what_is_no_background_is_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "text.txt"
    path.write_text("hello")
    assert run(["heatmap", "sample", "--background", str(path), *SMALL]) == 2
    assert "text.txt" in capsys.readouterr().err


def test_a_background_is_of_the_earth(tiles: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "gaze.csv"
    path.write_text("user,x,y\n1,2,3\n")
    words = [str(path), "--plane", "320x240", "--background", str(tiles)]
    assert run(["heatmap", *words, *SMALL]) == 2
    assert "--background" in capsys.readouterr().err
