"""The numbers that verdicts of presets are written from: those that their judges ask for.

``python -m tests.studies.verdict_numbers`` computes them, simulations and experiments included
(some minutes), and writes ``resources/verdicts.json``.

A name is that of a readout of the preset's question (``theorem1``); of it with other values
(``theorem1 T=1067 lam_max=512``); of a point of a curve (``paper[0]``), at most eight points being
kept; of a table's cell (``views[3,2]``); of the number of points a curve has (``count(exact)``); or
of a number in `OTHERS`.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from explorer.privacy import user_metric as um
from explorer.studies.amplification import help as amplification
from explorer.studies.base.study import preset, preset_request
from explorer.studies.choose_alpha import help as choose_alpha
from explorer.studies.cldp_sgd import help as cldp_sgd
from explorer.studies.coordinate_learnt import help as coordinate_learnt
from explorer.studies.coordinate_mean import help as coordinate_mean
from explorer.studies.coordinate_mean.simulation import crossing, mean_error, median_error
from explorer.studies.frequency import help as frequency
from explorer.studies.heatmap import help as heatmap
from explorer.studies.heatmap.help import FILLED, MEASURES
from explorer.studies.heatmap_theory import help as heatmap_theory
from explorer.studies.itemwise import help as itemwise
from explorer.studies.linear_queries import help as linear_queries
from explorer.studies.private_regression import help as private_regression
from explorer.studies.registry import get_study
from explorer.studies.shuffle_accountant import help as shuffle_rdp
from explorer.studies.shuffled_histograms import help as histograms
from explorer.studies.unbounded import help as unbounded
from explorer.studies.users_data import help as users_data
from tests.studies import preset_answers
from tests.studies.said import maps, shuffled, users
from tests.studies.said.numbers import Ask, answer_of
from tests.studies.walking import final_result

PATH = Path(__file__).resolve().parents[2] / "resources" / "verdicts.json"
EXPERIMENTS = ("figure-10", "figure-11")

MEASURED: dict[str, dict[str, float]] = {
    # Mean earth mover's distances by the benchmark of heatmap quality, on nine regions or the 30
    # busiest cells of public check-ins that don't ship.
    "heatmap/adaptive": {"adaptive": 0.042, "pyramid": 0.078},
    "heatmap/figure-3-algorithm": {"pyramid": 0.078, "laplace": 0.42},
    "heatmap/figure-3-baseline": {"pyramid": 0.078, "laplace": 0.42, "laplace_10": 0.40},
    "heatmap/figure-3-top": {"top": 0.14, "pyramid": 0.024},
    "heatmap/least-squares": {"least-squares": 0.056, "pyramid": 0.078},
    "heatmap/whole-counts": {"integers": 0.0077, "pyramid": 0.0147},
    # Mean accuracies in % of trainings, an hour of them.
    "cldp-sgd/figure-5a-digits": {"accuracy": 80.4},
    "cldp-sgd/figure-5b-digits": {"accuracy": 87.8},
    "cldp-sgd/digits-own": {"accuracy": 79.0},
    # The level from which the median error of trials is below that of saying nothing.
    "private-regression/prediction": {"from": 0.6},
}
"""What was measured once, with data or time that a command does not have."""


_TABLES = {
    "amplification": amplification.JUDGES,
    "choose-alpha": choose_alpha.JUDGES,
    "cldp-sgd": cldp_sgd.JUDGES,
    "coordinate-learnt": coordinate_learnt.JUDGES,
    "coordinate-mean": coordinate_mean.JUDGES,
    "frequency": frequency.JUDGES,
    "heatmap": heatmap.JUDGES,
    "heatmap-theory": heatmap_theory.JUDGES,
    "histograms": histograms.JUDGES,
    "itemwise": itemwise.JUDGES,
    "linear-queries": linear_queries.JUDGES,
    "private-regression": private_regression.JUDGES,
    "shuffle-rdp": shuffle_rdp.JUDGES,
    "unbounded": unbounded.JUDGES,
    "users-data": users_data.JUDGES,
}
JUDGES = {f"{study}/{key}": judge for study, of in _TABLES.items() for key, judge in of.items()}


class Asked(Mapping[str, float]):
    """The numbers of a preset, computed when its judge asks for them, and then kept."""

    def __init__(self, name: str) -> None:
        self.study, _, self.key = name.partition("/")
        self.found = dict(MEASURED.get(name, {}))
        self._others = OTHERS.get(name, {})

    def __getitem__(self, name: str) -> float:
        if name not in self.found:
            made = self._others[name]() if name in self._others else self._asked(name)
            self.found[name] = float(made)
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def _asked(self, name: str) -> float:
        first, *changes = name.split(" ")
        if counted := re.fullmatch(r"count\((.+)\)", first):
            return sum(math.isfinite(y) for y in self._curve(counted[1]))
        if cell := re.fullmatch(r"(\w+)\[(\d+),(\d+)\]", first):
            (table,) = (t for t in answer_of(self.study, self.key).tables if t.key == cell[1])
            return float(str(table.rows[int(cell[2])][int(cell[3])]).replace("∞", "inf"))
        if point := re.fullmatch(r"(\w+)\[(-?\d+)\]", first):
            return self._curve(point[1])[int(point[2])]
        if changes:
            return self._changed(first, changes)
        kept = _ANSWERS.get(f"{self.study}/{self.key}")
        found = kept["readouts"][first][0] if kept else Ask(self.study, self.key).value(first)
        return float(found)

    def _changed(self, first: str, changes: list[str]) -> float:
        study = get_study(self.study)
        request = preset_request(study, preset(study, self.key))
        values = {}
        for change in changes:
            key, _, text = change.partition("=")
            values[key] = type(request[key])(text)
        found = answer_of(self.study, self.key, **values).readout(first)
        if found.value is None and found.note.startswith("infinite"):
            return math.inf
        assert found.value is not None, (first, found.note)
        return float(found.value)

    def _curve(self, key: str) -> list[float]:
        kept = _ANSWERS[f"{self.study}/{self.key}"]["series"][key]["y"]
        return [math.nan if y is None else float(y) for y in kept]


_ANSWERS = json.loads(preset_answers.PATH.read_text(encoding="utf-8"))["answers"]


def _odds(report: str) -> float:
    """Return the factor by which a report changes odds, from a point of its curve of beliefs."""
    curve = _ANSWERS["coordinate-learnt/example1-odds"]["series"][report]
    before, after = curve["x"][1], curve["y"][1]
    return (after / (1 - after)) / (before / (1 - before))


def _gap() -> float:
    """Return the least distance of the best tests from the border of the region."""
    curves = _ANSWERS["coordinate-learnt/theorem1"]["series"]
    inside = zip(curves["test01"]["y"][1:-1], curves["region"]["y"][1:-1], strict=True)
    return min(test - border for test, border in inside)


def _kept(name: str, readout: str) -> Callable[[], float]:
    """Return what gives a readout of a preset whose answer is kept."""
    return lambda: _ANSWERS[name]["readouts"][readout][0]


@cache
def _excess(key: str) -> float:
    """Return the median excess risk of the trials at a million users."""
    study = get_study("private-regression")
    request = preset_request(study, preset(study, key)).with_value("n", 10**6)
    found = final_result(study, request).readout("psd-clip").value
    assert found is not None
    return found


OTHERS: dict[str, dict[str, Callable[[], float]]] = {
    "amplification/condition-ignored": {"leak": shuffled.leaks, "allowed": lambda: 5e-11},
    "cldp-sgd/figure-5a-epsilon": {"clones": lambda: shuffled.pipeline(1067)},
    "cldp-sgd/figure-5a-digits": {"spent": _kept("cldp-sgd/figure-5a-epsilon", "theorem")},
    "cldp-sgd/figure-5b-digits": {"spent": _kept("cldp-sgd/figure-5b-epsilon", "theorem")},
    "cldp-sgd/digits-own": {
        "spent": lambda: Ask("cldp-sgd", "digits-own").value("theorem", quantity="eps"),
        "numerical": lambda: Ask("cldp-sgd", "digits-own").value("numerical", quantity="eps"),
    },
    "coordinate-learnt/example1-odds": {
        "odds_0": lambda: _odds("output0"),
        "odds_1": lambda: _odds("output1"),
    },
    "coordinate-learnt/theorem1": {"gap": _gap},
    "coordinate-mean/figure3": {
        "mean_crossing": lambda: crossing(mean_error),
        "median_crossing": lambda: crossing(median_error),
    },
    "coordinate-mean/figure3-projected": {"mean_crossing": lambda: _projected()},
    "frequency/local": {"condition": lambda: users.condition("local", 1.0).value},
    "frequency/central": {"condition": lambda: users.condition("central", 1.0).value},
    "frequency/hadamard": {"leak": users.hadamard_delta, "allowed": lambda: 1e-12},
    "heatmap-theory/sparsity": {
        "crossing": lambda: maps.dense_from(Ask("heatmap-theory", "sparsity"), "experiments").value
    },
    "itemwise/central": {"paper": lambda: 3.0},
    "itemwise/three": {
        "target": lambda: 25.0,
        "certified": lambda: float(um.theorem44_alpha(3.0, 1000, 1e-12 * math.exp(-25.0), 100_000)),
    },
    "itemwise/second-branch": {"paper": _kept("itemwise/second-branch", "printed")},
    "itemwise/second-branch-broken": {"paper": _kept("itemwise/second-branch-broken", "printed")},
    "itemwise/places": {
        # Of the diagonal of the square of 20 km.
        "composed_length": lambda: _kept("itemwise/places", "composed")() * 20 * math.sqrt(2)
    },
    "private-regression/algorithm3": {"median": lambda: _excess("algorithm3")},
    "private-regression/exact-budgets": {
        "paper": lambda: Ask("private-regression", "algorithm3").value("theorem3")
    },
    "private-regression/baseline": {
        "median": lambda: _excess("baseline"),
        "median_exact": lambda: _excess("exact-budgets"),
    },
    "unbounded/fact-5.1": {
        "growth": lambda: users.group_growth(2.0, 5).value,
        "paper": lambda: math.exp(5),
    },
    "unbounded/table-1": {
        "growth": lambda: users.group_growth(0.1, 10).value,
        "paper": lambda: math.e,
    },
    "users-data/places": {
        "diameter": lambda: (
            Ask("users-data", "who-moved").value("farthest_unit")
            / Ask("users-data", "who-moved").value("farthest")
        ),
    },
    "users-data/local": {"central": lambda: Ask("users-data", "shares").value("rmse")},
    "users-data/any-size": {"delta": lambda: 1e-6},
    "users-data/told-apart": {"alpha": lambda: 2.0},
}
"""Numbers that are no readout of the preset."""
SLOW = ("heatmap/", "private-regression", "users-data")
"""Studies whose numbers are drawn or simulated: a minute and more."""


def numbers(name: str) -> dict[str, float]:
    """Return the numbers that a preset's judge asks for."""
    asked = Asked(name)
    JUDGES[name](asked)
    return asked.found


def cheap() -> dict[str, dict[str, float]]:
    """Return the numbers of all judged presets that take some seconds together."""
    return {name: numbers(name) for name in JUDGES if not name.startswith(SLOW)}


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
    """Return the mean errors at ε = 1 on the bundled check-ins, over regions and draws.

    And of the algorithm and the baseline every measure with its interval over all runs.
    """
    document = _document("figure-1", "--data", "sample")
    means = document["means"]
    return {
        f"{row['mechanism']}_{measure}{end}_{row['x']:g}": row[f"{measure}{end}"]
        for row in document["pooled"]
        if row["mechanism"] in ("pyramid", "laplace")
        and f"{row['x']:g}" in heatmap.FIGURE_1_EPSILONS
        for measure in MEASURES
        for end in ("", "_low", "_high")
    } | {
        f"{row['mechanism']}_emd": row["emd"]
        for row in means
        if row["x"] == 1.0 and row["top_percent"] in (None, 0.01)
    }


def experiment(name: str) -> dict[str, float]:
    """Run an experiment on made data and return its means with their intervals."""
    return {
        f"{row['mechanism']}_{measure}{end}_{round(100 * row['x'])}": row[f"{measure}{end}"]
        for row in _document(name)["rows"]
        if row["mechanism"] in ("pyramid", "laplace") and round(100 * row["x"]) in FILLED
        for measure in MEASURES
        for end in ("", "_low", "_high")
    }


def _emd(figure: str, *words: str) -> dict[tuple[str, float], float]:
    """Return the mean earth mover's distances of an experiment by mechanism and place."""
    means = _document(figure, *words)["means"]
    return {(row["mechanism"], float(row["x"])): float(row["emd"]) for row in means}


def made_pictures() -> dict[str, dict[str, float]]:
    """Return the numbers of the experiments on pictures that the program makes."""
    eighth, ninth = _emd("figure-8", "--draws", "1"), _emd("figure-9", "--draws", "12")
    last = _emd("figure-13")
    return {
        "heatmap/figure-8": {"first": eighth["pyramid", 1.0], "last": eighth["pyramid", 20.0]},
        "heatmap/figure-9": {"pyramid": ninth["pyramid", 10.0], "top": ninth["top", 10.0]},
        "heatmap/figure-13": {
            "shuffled_256": last["shuffled-pyramid", 256.0],
            "central": last["pyramid", 256.0],
        },
    }


def main() -> None:
    """Write the file."""
    made = {f"heatmap/{name}": experiment(name) for name in EXPERIMENTS}
    made["heatmap/figure-1"] = figure_1()
    made |= made_pictures()
    found = made | {name: numbers(name) for name in JUDGES if name not in made}
    PATH.write_text(
        json.dumps(
            {
                name: {k: v if math.isfinite(v) else str(v) for k, v in row.items()}
                for name, row in sorted(found.items())
            },
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
