"""How good the adaptive quadtree's maps are: mean earth mover's distances on real check-ins.

Nine regions, 10 draws each, Δ = 256, σ = 0.02, distances of 64 × 64 block sums of the heatmaps, for
200 users (the smallest keyed hashes under seed 7) and for all: the table of reference beside the
golden vectors, repeated. A mean is in order within 3√2 of the table's standard errors, as both are
means over draws. Needs the development data beside the checkout and says
so where they are not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins import open_checkins
from explorer.privacy.heatmaps import (
    AdaptiveDemonstrationNoise,
    CellCounts,
    adaptive_budgets,
    adaptive_tree,
    aggregate,
    fit_adaptive,
)
from explorer.privacy.heatmaps.evaluation import exact_distance
from tests.benchmarks.bench_heatmap_quality import BOX, FOLDER, LEVEL, PARTS, blurred
from tests.benchmarks.table import Row, sized

REFERENCE = Path(__file__).parents[1] / "data" / "vectors" / "heatmaps-beyond.json"
DRAWS, SAMPLE, DATA_SEED = sized(10, 1), 200, 7
BUSY = ((181, 149), (181, 148), (196, 152))
NEW_YORK = (
    (40.5, -74.25, 40.9, -73.7),
    (40.7, -74.02, 40.82, -73.92),
    (40.6, -74.02, 40.72, -73.86),
)


def regions() -> dict[str, list[tuple[float, float, float, float]]]:
    """Return the boxes of every file."""
    south, west, north, east = BOX
    high, wide = (north - south) / PARTS, (east - west) / PARTS
    cells = [
        (south + r * high, west + c * wide, south + (r + 1) * high, west + (c + 1) * wide)
        for r, c in BUSY
    ]
    some = {
        "gowalla-world-userpoi.csv.gz": cells,
        "gowalla-new-york.txt.gz": list(NEW_YORK),
        "foursquare-new-york.txt.gz": list(NEW_YORK),
    }
    return sized(some, {"foursquare-new-york.txt.gz": NEW_YORK[:1]})


def samples() -> dict[str, list[CellCounts]]:
    """Return the counts of all regions, of 200 users and of all."""
    found: dict[str, list[CellCounts]] = {"200": [], "all": []}
    for name, boxes in regions().items():
        with open_checkins(Path(FOLDER) / name, cache_dir=None) as data:
            for box in boxes:
                for users, kept in found.items():
                    number = None if users == "all" else SAMPLE
                    p = data.points(box, users=number, data_seed=DATA_SEED)
                    kept.append(aggregate(p.user, p.lat, p.lon, p.weight, box, LEVEL))
    return found


def distances(counts: CellCounts, epsilon: float, region: int) -> tuple[Any, Any]:
    """Return the distances of all draws' maps, smoothed and flat, from the truth."""
    truth, budgets = blurred(counts.blocks()), adaptive_budgets(epsilon, 2, LEVEL)
    smooth, flat = [], []
    for draw in range(DRAWS):
        noise = AdaptiveDemonstrationNoise(1000 * region + draw)
        fitted = fit_adaptive(adaptive_tree(counts, budgets, noise), LEVEL)
        smooth.append(exact_distance(blurred(fitted.smooth()), truth).high)
        flat.append(exact_distance(blurred(fitted.flat()), truth).high)
    return np.array(smooth), np.array(flat)


def run() -> list[Row]:
    """Measure all means; no row but one that says so where the data are not there."""
    if missing := [name for name in regions() if not (Path(FOLDER) / name).exists()]:
        return [Row(f"{missing[0]} is not beside the checkout", 0.0, None, "", None)]
    table = json.loads(REFERENCE.read_text())["header"]["reference_table"]["values"]
    rows = []
    for users, regions_ in samples().items():
        for epsilon in sized(("0.1", "0.5", "1", "2", "5", "10"), ("1",)):
            both = [distances(c, float(epsilon), k) for k, c in enumerate(regions_)]
            for name, part in (("adaptive", 0), ("adaptive, flat", 1)):
                mean = float(np.mean([found[part] for found in both]))
                stated, error = table[name][users][epsilon]["emd"]
                off = (mean - stated) / error
                label = f"{name}, {users} users, ε = {epsilon}"
                note = f"stated {stated:g} ± {error:g}: {off:+.1f} s.e."
                rows.append(Row(label, mean, stated, "of the side", abs(off) <= 3 * 2**0.5, note))
    return rows
