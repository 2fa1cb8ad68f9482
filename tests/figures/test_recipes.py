import json
import tracemalloc
import zlib
from struct import pack

import pytest
from PIL import Image, PngImagePlugin

from explorer.figures.recipes import read_recipe
from explorer.figures.view_state import ViewState
from tests.figures.samples import ALL_OF_MAPS, PICTURES, RECIPE, TABLES, curves, export, maps

FORMATS = (*PICTURES, *TABLES)
ODD = {
    **RECIPE,
    **{
        f"sign {code:x}": chr(code) for code in (*range(0x20), 0x7F, 0x85, 0x2028, 0xFEFF, 0x10FFFF)
    },
    "": "\r\n -- ]]> --> & &amp; <b/> %PDF % \\ \" ' , ; # = endstream",
    "](){}<>/\\": [2**53, -(2**53), 5e-324, 1.7976931348623157e308, 0.1, -0.0],
    "words": ["", " ", "a\tb", "é", "東京 🎉", "\u0301"],
    "none": None,
    "yes": True,
}
"""What each format has to write in another way."""


def write(path, recipe=RECIPE, result=None):
    result = result or curves()
    both = tuple(s.key for s in result.surfaces)
    view = ViewState.for_result(result, surfaces=both)
    export(result, view, recipe, path, size_px=(300, 250), dpi=60)


def question(path):
    """A file's recipe without what it says of an animation."""
    return {key: value for key, value in read_recipe(path).items() if key != "animation"}


@pytest.mark.full
@pytest.mark.parametrize("fmt", ALL_OF_MAPS)
def test_recipes_come_back(fmt, tmp_path):
    path = tmp_path / f"out.{fmt}"
    write(path, ODD, curves() if fmt in FORMATS else maps())
    assert question(path) == ODD
    renamed = path.rename(tmp_path / "without-extension")
    assert question(renamed) == ODD


@pytest.mark.full
def test_pillow_reads_the_pngs_recipe(tmp_path):
    write(tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as image:
        image.load()
        assert json.loads(image.text["Recipe"]) == RECIPE


@pytest.mark.full
def test_a_long_recipe_comes_back_from_every_format(tmp_path):
    recipe = {"long": "ü" * 100_000}
    for fmt in FORMATS:
        write(tmp_path / f"out.{fmt}", recipe)
        assert read_recipe(tmp_path / f"out.{fmt}") == recipe


def test_the_commands_own_json_and_bare_recipes_are_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"schema": "heatmap/1", "recipe": RECIPE, "metrics": {}}))
    assert read_recipe(path) == RECIPE
    path.write_text("﻿" + json.dumps(RECIPE), encoding="utf-8")
    assert read_recipe(path) == RECIPE


def plain_png(path, **text):
    info = PngImagePlugin.PngInfo()
    for key, value in text.items():
        info.add_text(key, value)
    Image.new("RGB", (2, 2)).save(path, format="PNG", pnginfo=info)


def foreign(kind, path):
    """Write a file of a known kind that has no recipe, or a bad one."""
    if kind == "png":
        plain_png(path)
    elif kind == "png-damaged-recipe":
        plain_png(path, Recipe="{not json")
    elif kind == "png-list":
        plain_png(path, Recipe="[1, 2]")
    elif kind == "png-long":
        plain_png(path, Recipe='{"a":"' + "x" * 1_010_000 + '"}')
    elif kind == "png-cut":
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")
    elif kind == "png-bomb":
        data = b"Recipe\0\0" + zlib.compress(b'{"a":"' + b"x" * 80_000_000 + b'"}')
        chunks = [(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"zTXt", data)]
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + b"".join(
                pack(">I", len(body)) + name + body + pack(">I", zlib.crc32(name + body))
                for name, body in chunks
            )
        )
    elif kind == "svg":
        path.write_text('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')
    elif kind == "svg-cut":
        path.write_text('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g>')
    elif kind == "svg-entities":
        path.write_text('<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>')
    elif kind == "pdf":
        path.write_bytes(b"%PDF-1.4\n%%EOF\n")
    elif kind == "json":
        path.write_text('{"a": 1}')
    elif kind == "json-cut":
        path.write_text('{"a": ')
    elif kind == "json-deep":
        path.write_text('{"a":' * 100_000)
    elif kind == "json-text-recipe":
        path.write_text('{"recipe": "none"}')
    elif kind == "csv":
        path.write_text("# a comment\nx,y\n1,2\n")
    elif kind == "csv-comments":
        path.write_text("# nothing\n" * 5000)
    elif kind == "csv-without":
        path.write_text("x,y\n1,2\n")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "noise":
        path.write_bytes(bytes(range(256)))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("png", "no recipe"),
        ("png-damaged-recipe", "damaged"),
        ("png-list", "no JSON object"),
        ("png-long", "longer|damaged"),
        ("png-cut", "damaged"),
        ("png-bomb", "damaged|no recipe|longer"),
        ("svg", "no recipe"),
        ("svg-cut", "damaged"),
        ("svg-entities", "entities"),
        ("pdf", "damaged|no recipe"),
        ("json", "no recipe"),
        ("json-cut", "damaged"),
        ("json-deep", "damaged"),
        ("json-text-recipe", "no JSON object"),
        ("csv", "no recipe"),
        ("csv-comments", "no recipe"),
        ("csv-without", "not a PNG"),
        ("empty", "not a PNG"),
        ("noise", "not a PNG"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_files_without_a_recipe_are_refused_in_a_sentence(kind, words, tmp_path):
    path = tmp_path / "file"
    foreign(kind, path)
    with pytest.raises(ValueError, match=words) as error:
        read_recipe(path)
    assert str(error.value).startswith("file: ")
    assert "\n" not in str(error.value)


def peak_mb(function) -> float:
    tracemalloc.start()
    try:
        function()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak / 1e6


def nested_svg(path):
    path.write_bytes(b"<svg>" + b"<g>" * 1_000_000 + b"</g>" * 1_000_000 + b"</svg>")


def wide_svg(path):
    path.write_bytes(b"<svg>" + b'<path d="M 0 0"/>' * 500_000 + b"</svg>")


def long_svg(path):
    path.write_bytes(b"<svg>" + b"<g>a</g>" * 1_000_000 + b"</svg>")


def geojson(path):
    point = b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1.5, 2.5]}},'
    path.write_bytes(b'{"type": "FeatureCollection", "features": [' + point * 250_000 + b"{}]}")


def late_geojson(path):
    path.write_bytes(b'{"name": "a", "features": [' + b"[1,2,3]," * 700_000 + b"0]}")


def large_json(path):
    path.write_bytes(b'{"numbers": [' + b"0.123456789," * 2_000_000 + b"0]}")


def nested_json(path):
    path.write_bytes(b'{"a": ' + b"[" * 7_000_000)


def large_pdf(path):
    path.write_bytes(b"%PDF-1.4\n" + bytes(25_000_000))


def one_chunk_png(path):
    data = b"\0" * 60_000_000
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + pack(">I", len(data)) + b"eXIf" + data)


@pytest.mark.full
@pytest.mark.parametrize(
    ("write", "words"),
    [
        (nested_svg, "nested too deeply"),
        (wide_svg, "no recipe in its first 4 MB"),
        (long_svg, "no recipe in its first 4 MB"),
        (geojson, "this is GeoJSON"),
        (late_geojson, "this is GeoJSON"),
        (large_json, "no recipe"),
        (nested_json, "no recipe"),
        (large_pdf, "25 MB is more"),
        (one_chunk_png, "damaged"),
    ],
)
def test_huge_files_are_refused_with_little_memory(write, words, tmp_path):
    path = tmp_path / "huge"
    write(path)

    def refused():
        with pytest.raises(ValueError, match=words):
            read_recipe(path)

    assert peak_mb(refused) < 60  # a file of 60 MB took 1.7 GB


def test_a_large_export_of_ours_is_read_from_its_beginning(tmp_path):
    write(tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text().rstrip().removesuffix("}")
    (tmp_path / "out.json").write_text(text + ', "more": [' + "0.123456789,\n" * 3_000_000 + "0]}")
    assert peak_mb(lambda: read_recipe(tmp_path / "out.json")) < 60
    assert read_recipe(tmp_path / "out.json") == RECIPE


def test_entities_across_two_pieces_are_seen(tmp_path):
    for shift in range(9):
        text = " " * (65536 - 10 - shift - 4) + '<!ENTITY a "aaaa">'
        (tmp_path / "a.svg").write_text(f"<svg><!--{text}--></svg>")
        with pytest.raises(ValueError, match="entities"):
            read_recipe(tmp_path / "a.svg")


def test_missing_files_and_folders_are_system_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_recipe(tmp_path / "nowhere.png")
    with pytest.raises(OSError, match="directory"):
        read_recipe(tmp_path)


def test_nothing_a_recipe_names_is_opened(tmp_path, monkeypatch):
    recipe = {"data": {"name": str(tmp_path / "secret.csv")}, "view": {"title": "/etc/passwd"}}
    write(tmp_path / "out.json", recipe)
    opened = []
    import io
    from pathlib import Path

    real = io.open
    monkeypatch.setattr(
        io, "open", lambda file, *a, **k: (opened.append(file), real(file, *a, **k))[1]
    )
    assert read_recipe(tmp_path / "out.json") == recipe
    assert all(Path(str(file)) == tmp_path / "out.json" for file in opened)
