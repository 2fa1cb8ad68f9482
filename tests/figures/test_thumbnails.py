"""Every preset has a small picture of its answer."""

from __future__ import annotations

import base64
import json
import runpy
import zlib
from pathlib import Path

import numpy as np
import pytest

from explorer.resources import resource_bytes
from explorer.studies.base.plots import MAX_DEFAULT_CURVES
from explorer.studies.base.result import Surface
from explorer.studies.registry import get_study, study_infos
from explorer.ui.gallery import STEPS, thumbnail
from tests.studies.preset_answers import answer

ROOT = Path(__file__).resolve().parents[2]
MADE_BY = runpy.run_path(str(ROOT / "resources" / "make_thumbnails.py"))
NONE = {"cldp-sgd/figure-5a-mnist", "cldp-sgd/figure-5b-mnist"}
"""Nothing is drawn before the user opens MNIST's files."""
LARGEST = 300_000
BUILT_IN = [(c.id, p.key) for c in study_infos() for p in get_study(c.id).presets]


def test_every_preset_has_a_picture_that_is_drawn() -> None:
    for study_id, key in BUILT_IN:
        drawn = thumbnail(study_id, key)
        if f"{study_id}/{key}" in NONE:
            assert drawn is None
        elif get_study(study_id).needs_data:
            assert drawn is not None
            assert drawn.cells is not None
            assert drawn.cells.max() == 255
        else:
            assert drawn is not None, (study_id, key)
            assert 1 <= len(drawn.lines) <= MAX_DEFAULT_CURVES, (study_id, key)
            for line in drawn.lines:
                assert len(line.x) == len(line.y)
                assert all(0 <= x <= STEPS for x in line.x)
                assert all(-1 <= y <= STEPS for y in line.y)
            assert any(y > 0 for line in drawn.lines for y in line.y), (study_id, key)


def test_the_file_is_small_and_about_presets_that_there_are() -> None:
    content = resource_bytes("thumbnails.json.z")
    assert len(content) <= LARGEST
    names = set(json.loads(zlib.decompress(content)))
    assert names == {f"{study_id}/{key}" for study_id, key in BUILT_IN} - NONE
    assert thumbnail("someone-elses", "figure-1") is None


@pytest.mark.full
@pytest.mark.parametrize("key", ["figure-2a", "renyi-order"])
def test_a_picture_has_the_ends_of_its_curves(key: str) -> None:
    study = get_study("shuffle-rdp")
    result = answer("shuffle-rdp", key)
    keys = tuple(s.key for s in result.series)[:2]
    drawn = MADE_BY["drawn_curves"](study, result, keys)
    assert drawn is not None
    (low, high) = (
        f(np.log10(s.y[s.present]) for s in result.series[:2])
        for f in (lambda ys: min(y.min() for y in ys), lambda ys: max(y.max() for y in ys))
    )
    for (place, _, _, _, ys), series in zip(drawn["lines"], result.series[:2], strict=True):
        assert result.series[place] is series
        expected = STEPS * (np.log10(series.y) - low) / (high - low)
        assert np.abs(np.asarray(ys) - expected).max() <= 0.5 + 1e-6


def test_a_map_is_kept_in_blocks_of_its_cells() -> None:
    values = np.zeros((128, 128), np.float32)
    values[0, 1] = values[1, 0] = 0.25
    values[127, 127] = 0.25
    kept = MADE_BY["drawn_map"](Surface("private", "", values, None, curator_only=False))
    assert kept["rows"] == 64
    assert len(MADE_BY["packed"]({"a/b": kept})) < 200
    cells = np.frombuffer(base64.b64decode(kept["cells"]), np.uint8).reshape(64, 64)
    assert cells[0, 0] == 255
    assert cells[63, 63] == 128
    assert cells.sum() == 255 + 128
