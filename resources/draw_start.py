"""Compute the start page's small pictures: ``python resources/draw_start.py [FOLDER]``.

Curves are kept as points, so that they are drawn in the colours of either theme; the private map,
whose colours are the same in both, as a picture. All of it comes from the studies' defaults, with
demonstration noise on the synthetic sample.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from explorer.engine.runtime import StudyRuntime, final_result
from explorer.figures.colour_maps import colour_table
from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study

HERE = Path(__file__).resolve().parent
CURVES = {"start-training.json": ("shuffle-rdp", 3), "start-paper.json": ("amplification", 3)}
"""Studies, and how many of their first curves there is room for."""
POINTS = 40
CELLS = 64
SIZE = (300, 172)
"""Pixels of the map: twice those that it takes on most screens."""


def curves(study_id: str, most: int) -> list[list[list[float]]]:
    """Return curves as points from 0 to 1 both ways, on logarithmic axes that just hold them."""
    study = get_study(study_id)
    request = default_request(study)
    result = final_result(StudyRuntime(), request)
    there = {series.key: series for series in result.series}
    chosen = [there[key] for key in study.default_curves(request, there)]
    whole = [s for s in chosen if np.all(np.isfinite(s.y) & (s.y > 0))][:most]
    lines = [np.log10(np.stack([s.x, s.y], axis=1)) for s in whole]
    low, high = np.vstack(lines).min(axis=0), np.vstack(lines).max(axis=0)
    return [
        ((line[:: max(1, len(line) // POINTS)] - low) / (high - low)).round(3).tolist()
        for line in lines
    ]


def private_map() -> Image.Image:
    """Return the private map of the sample, the strip around its middle that fits the picture."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "map.csv"
        asked = ["heatmap", "sample", "--resolution", str(CELLS), "--output", str(table)]
        subprocess.run(
            [sys.executable, "-m", "explorer", *asked],
            check=True,
            cwd=HERE.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        told = (line for line in table.read_text("utf-8").splitlines() if not line.startswith("#"))
        rows = [row for row in csv.DictReader(told) if row["private"]][: CELLS * CELLS]
    grid = np.zeros((CELLS, CELLS))
    for row in rows:
        grid[CELLS - 1 - int(row["row"]), int(row["column"])] = float(row["private"])
    levels = (255 * np.sqrt(grid / grid.max())).astype(int)
    whole = Image.fromarray(colour_table("viridis")[levels][..., :3])
    high = round(CELLS * SIZE[1] / SIZE[0])
    top = min(max(int(np.argmax(grid.sum(axis=1))) - high // 2, 0), CELLS - high)
    return whole.crop((0, top, CELLS, top + high)).resize(SIZE, Image.Resampling.BICUBIC)


if __name__ == "__main__":
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, (study_id, most) in CURVES.items():
        (into / name).write_text(json.dumps(curves(study_id, most)) + "\n", encoding="utf-8")
    private_map().quantize(96).save(into / "start-map.png", optimize=True)
