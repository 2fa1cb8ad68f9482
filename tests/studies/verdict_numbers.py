"""The numbers that verdicts of presets are written from.

``python -m tests.studies.verdict_numbers`` computes them, the experiments included (some
minutes), and writes ``resources/verdicts.json``.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

from explorer.privacy import user_metric as um
from explorer.studies.coordinate_mean.figure3 import crossing, mean_error, median_error
from explorer.studies.heatmap.trends import FILLED, MEASURES
from tests.studies.said.numbers import Ask

PATH = Path(__file__).resolve().parents[2] / "resources" / "verdicts.json"
EXPERIMENTS = ("figure-10", "figure-11")


def cheap() -> dict[str, dict[str, float]]:
    """Return the numbers that take a second or two."""
    return {f"itemwise/{key}": _itemwise(key) for key in _ASKED} | {
        "coordinate-mean/figure3": {
            "mean_crossing": crossing(mean_error),
            "median_crossing": crossing(median_error),
        },
        "coordinate-mean/figure3-projected": {"mean_crossing": _projected()},
    }


_ASKED = {
    "central": ("simple", "tight", "exact", "sorted"),
    "three": ("exact", "sorted"),
    "local": ("printed", "composed"),
    "second-branch": ("simple", "tight", "exact", "sorted"),
    "second-branch-broken": ("simple", "tight", "exact", "sorted"),
    "places": ("length", "composed"),
}
_PRINTED = {
    "central": lambda: {"paper": 3.0},
    "three": lambda: {
        "target": 25.0,
        "certified": float(um.theorem44_alpha(3.0, 1000, 1e-12 * math.exp(-25.0), 100_000)),
    },
    "local": dict,
    "second-branch": lambda: {"paper": Ask("itemwise", "second-branch").value("printed")},
    "second-branch-broken": lambda: {
        "paper": Ask("itemwise", "second-branch-broken").value("printed")
    },
    "places": lambda: {
        # Of the diagonal of the square of 20 km.
        "composed_length": Ask("itemwise", "places").value("composed") * 20 * math.sqrt(2)
    },
}


def _itemwise(key: str) -> dict[str, float]:
    ask = Ask("itemwise", key)
    return {name: ask.value(name) for name in _ASKED[key]} | _PRINTED[key]()


def _projected() -> float:
    ask, low, high = Ask("coordinate-mean", "figure3-projected"), 0.2, 0.4
    for _ in range(12):
        q = (low + high) / 2
        worse = ask.value("paper_projected", q=q) > ask.value("baseline_projected", q=q)
        low, high = (low, q) if worse else (q, high)
    return (low + high) / 2


def _document(*words: str) -> dict[str, Any]:
    """Run an experiment and return what it prints."""
    command = [sys.executable, "-m", "explorer", "experiment", *words, "--json", "--quiet"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def figure_1() -> dict[str, float]:
    """Return the mean errors at ε = 1 on the bundled check-ins, over regions and draws."""
    means = _document("figure-1", "--data", "sample")["means"]
    return {f"{row['mechanism']}_emd": row["emd"] for row in means if row["x"] == 1.0}


def experiment(name: str) -> dict[str, float]:
    """Run an experiment on made data and return its means with their intervals."""
    return {
        f"{row['mechanism']}_{measure}{end}_{round(100 * row['x'])}": row[f"{measure}{end}"]
        for row in _document(name)["rows"]
        if row["mechanism"] in ("pyramid", "laplace") and round(100 * row["x"]) in FILLED
        for measure in MEASURES
        for end in ("", "_low", "_high")
    }


def main() -> None:
    """Write the file."""
    found = cheap() | {f"heatmap/{name}": experiment(name) for name in EXPERIMENTS}
    found["heatmap/figure-1"] = figure_1()
    PATH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
