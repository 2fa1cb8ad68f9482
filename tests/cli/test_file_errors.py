"""Errors of files name the cause and what to do, and not another remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.checkins import open_checkins
from explorer.cli import run

HEADER = "Benutzer;Zeit;Breite;Länge\n"
ROWS = "".join(
    f"u{i % 9};2024-01-0{1 + i % 9}T10:00:00Z;48,{100 + i};16,{300 + i}\n" for i in range(40)
)
JAPANESE = "利用者;時刻;緯度;経度\n"
POINT = {"user": "a", "lat": 48.1, "lon": 16.2}
CASES = {
    "header.csv": (HEADER, [], "holds no rows below its header"),
    "wrong.csv": (
        (JAPANESE + ROWS).encode("shift_jis"),
        ["--encoding", "utf-8"],
        "not text in the encoding UTF-8",
    ),
    "wrong-2.csv": (
        (HEADER + ROWS).encode("utf-16-le"),
        ["--encoding", "utf-8"],
        "not text in the encoding UTF-8",
    ),
    "named.csv": (
        HEADER + ROWS,
        ["--encoding", "windows-1252", "--columns", "lon=Länge"],
        "another --encoding",
    ),
    "numbers.json": ("[1, 2, 3]", [], "no JSON objects"),
    "comment.json": (f"// of today\n{json.dumps([POINT] * 9)}", [], "no JSON objects"),
    "none.json": (json.dumps({"type": "FeatureCollection", "features": []}), [], "holds no rows"),
    "empty.json": ("[]", [], "holds no rows"),
    "lists.json": ("[[1, 2], [3, 4]]", [], "no objects with named values"),
    "other.json": (json.dumps({"points": [POINT] * 9}), [], "not an array of rows"),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, options, cause = CASES[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run(["heatmap", str(path), "--no-cache", "--quiet", *options]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert name in printed.err
    assert cause in printed.err
    assert "--columns" not in printed.err


@pytest.mark.full
def test_a_table_may_be_called_json(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(HEADER + ROWS, "utf-8")
    with open_checkins(path, cache_dir=None) as data:
        assert data.rows == 40
