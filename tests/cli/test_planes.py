"""Planes that are not the Earth on the command line: range, picture, images, no kilometres."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from explorer.cli import run
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures.recipes import read_recipe
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion
from tests.figures.reading import words_of
from tests.planes import OF_THE_EARTH, gaze_table, picture

SMALL = ("--resolution", "32", "--epsilon", "5", "--quiet")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return gaze_table(tmp_path / "gaze.csv")


def told(data: bytes, suffix: str) -> str:
    """All words of a file and its metadata, without pixels."""
    return words_of(data, suffix) if suffix == "pdf" else data.decode()


def heatmap(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = run(["heatmap", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.full
def test_a_map_in_pixels(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = heatmap(capsys, table, "--plane", "320x240", "--image", "park", "--json", *SMALL)
    found = json.loads(out)
    assert code == 0
    assert found["users"] == {"in_file": 30, "in_region": 30, "used": 30}
    metrics = found["metrics"]
    assert metrics["unit"] == "px"
    # x in 320ths and y in 240ths of the unit square's sides
    assert 2 * 240 * metrics["emd"] <= 2 * metrics["emd_unit"] <= 2 * 320 * metrics["emd"] * 2
    assert " px)" in metrics["loss_sentence"]
    assert "emd_km" not in metrics
    assert not OF_THE_EARTH.search(out)
    chosen = recipe_from_dict(found["recipe"]).request.selection
    assert chosen is not None
    assert chosen.image == "park"
    assert chosen.region == PlaneRegion.whole(Plane.parse("320x240"))
    assert found["recipe"]["selection"]["region"] == [0, 0, 240, 320]
    assert found["recipe"]["selection"]["region_from"] == "typed"
    held = {c["text"]: c["holds"] for c in found["conditions"]}
    (region,) = (text for text in held if text.startswith("The region"))
    assert held[region] is None


def test_the_range_must_be_declared(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = heatmap(capsys, table, *SMALL)
    assert code == 2
    assert "declare which range" in err
    assert "--plane 320x240" in err


@pytest.mark.full
def test_the_pictures_size_is_a_range(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    behind = picture(tmp_path / "park.png", 640, 480)
    code, out, _ = heatmap(capsys, table, "--picture", behind, "--image", "park", "--json", *SMALL)
    assert code == 0
    recipe = json.loads(out)["recipe"]
    assert recipe["selection"]["plane"] == "640x480:px:down"
    assert recipe["view"]["picture"].startswith("park.png#")


@pytest.mark.full
@pytest.mark.parametrize("suffix", ["pdf", "csv", "json"])
def test_exports_of_a_plane_know_no_earth(
    suffix: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    behind, target = picture(tmp_path / "park.png"), tmp_path / f"map.{suffix}"
    code, out, _ = heatmap(
        capsys, table, "--picture", behind, "--image", "sea", "--output", target, *SMALL
    )
    assert code == 0
    assert not OF_THE_EARTH.search(out)
    assert not OF_THE_EARTH.search(told(target.read_bytes(), suffix))
    recipe = read_recipe(target)
    assert not OF_THE_EARTH.search(json.dumps(recipe))
    assert recipe["selection"]["image"] == "sea"
    if suffix == "csv":
        lines = [x for x in target.read_text().splitlines() if not x.startswith("#")]
        assert lines[0].startswith("row,column,y,x,")
        assert lines[1].startswith("0,0,236.25,5,")  # row 0 is the lowest of the picture


@pytest.mark.full
def test_the_picture_lies_behind_the_map(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its upper half is red and its lower green, and so are the map's empty corners."""
    behind, target = picture(tmp_path / "park.png"), tmp_path / "map.png"
    words = (table, "--plane", "320x240", "--image", "park", "--panes", "true", "--output", target)
    heatmap(capsys, *words, "--picture", behind, *SMALL)
    pixels = np.asarray(Image.open(io.BytesIO(target.read_bytes())).convert("RGB")).astype(int)
    red = (pixels[..., 0] > 80) & (pixels[..., 1] < 60)
    green = (pixels[..., 1] > 80) & (pixels[..., 0] < 60)
    assert np.argwhere(red)[:, 0].mean() + 100 < np.argwhere(green)[:, 0].mean()
    heatmap(capsys, *words, *SMALL)
    plain = np.asarray(Image.open(io.BytesIO(target.read_bytes())).convert("RGB")).astype(int)
    assert not ((plain[..., 1] > 80) & (plain[..., 0] < 30) & (plain[..., 2] < 60)).any()


@pytest.mark.full
def test_all_images_and_the_mean_of_their_metrics(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (table, "--plane", "320x240", "--json", *SMALL)
    one = [json.loads(heatmap(capsys, *words, "--image", k)[1])["metrics"] for k in ("park", "sea")]
    code, out, _ = heatmap(capsys, *words, "--image", "all")
    found = json.loads(out)
    assert code == 0
    assert [row["image"] for row in found["images"]] == ["park", "sea"]
    assert [row["metrics"] for row in found["images"]] == one
    for key in ("similarity", "emd", "emd_unit"):
        assert found["metrics"][key] == pytest.approx(sum(m[key] for m in one) / 2)
    assert found["metrics"]["unit"] == "px"
    assert any("2 times ε" in note for note in found["notes"])
    assert not OF_THE_EARTH.search(out)
    assert "images: 2" in heatmap(capsys, *words[:3], *SMALL, "--image", "all")[1]


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--plane", "320x240"), "name one with --image, or all; there are park, sea"),
        (("--plane", "320x240", "--image", "lake"), "no image 'lake'; there are park, sea"),
        (("--plane", "320"), "320x240:px"),
        (("--plane", "320x240", "--region", "1,2,3"), "XMIN,YMIN,XMAX,YMAX or padded"),
        (("--plane", "320x240", "--region", "500,0,600,9"), "beyond the plane's range"),
        (("--plane", "320x240", "--preset", "gowalla"), "about the Earth"),
        (("--plane", "320x240", "--image", "all", "--output", "a.png"), "for one image"),
        (("--plane", "320x240", "--image", "all", "--panes", "private"), "for one image"),
        (("--plane", "320x240", "--image", "sea", "--output", "a.geojson"), "no geographic"),
    ],
)
def test_what_can_not_be_done_is_said(
    words: tuple[str, ...],
    said: str,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = heatmap(capsys, table, *words, *SMALL)
    assert code != 0
    assert said in " ".join(err.split())
    assert not list(tmp_path.glob("a.*"))


@pytest.mark.full
def test_a_part_and_the_padded_square(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (table, "--plane", "320x240", "--image", "park", "--json", *SMALL)
    out = heatmap(capsys, *words, "--region", "0,100,160,240")[1]
    assert json.loads(out)["recipe"]["selection"]["region"] == [100, 0, 240, 160]
    found = json.loads(heatmap(capsys, *words, "--region", "padded")[1])
    assert found["recipe"]["selection"]["region"] == [0, 0, 512, 512]
    assert any("noise" in note for note in found["notes"])


@pytest.mark.full
def test_private_only_tells_plane_and_image_and_no_more(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "map.csv"
    words = (table, "--plane", "320x240", "--image", "sea", "--panes", "private", "--json", *SMALL)
    found = json.loads(heatmap(capsys, *words, "--output", target)[1])
    selection = found["recipe"]["selection"]
    assert (selection["plane"], selection["image"]) == ("320x240:px:down", "sea")
    assert "gaze.csv" not in target.read_text()
    recipe = recipe_from_dict(read_recipe(target))
    assert recipe.part is not None
    assert recipe.part.region == PlaneRegion.whole(Plane.parse("320x240"))


@pytest.mark.full
def test_columns_by_the_names_of_a_plane(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{i % 9},{i % 30 / 10},{i % 20 / 10},a" for i in range(90)]
    path.write_text("\n".join(["who,across,down,what", *rows]) + "\n")
    code, out, _ = heatmap(
        capsys,
        path,
        "--plane",
        "3x2:cm",
        "--image",
        "a",
        "--json",
        *SMALL,
        "--columns",
        "user=who,x=across,y=down,image=what",
    )
    assert code == 0
    assert json.loads(out)["rows"]["kept"] == 90
    assert json.loads(out)["recipe"]["selection"]["plane"] == "3x2:cm:up"
