"""Plans, files and ledgers that the tests of the door share."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

from explorer.release.pipeline import LedgerLocation
from explorer.release.plan import TEXTS, Plan, plan_from_json

COLUMNS = ["user", "time", "lat", "lon", "kind", "amount"]
WHERE: dict[str, Any] = {"box": ["40.5", "-74.25", "40.9", "-73.7"]}
WHEN: dict[str, Any] = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-15T00:00:00Z"}
MECHANISMS: dict[str, dict[str, Any]] = {
    "heatmap.adaptive/1": {**WHERE, "side": 16},
    "heatmap.adaptive/2": {**WHERE, "side": 16},
    "heatmap.paper/1": {**WHERE, "side": 16},
    "heatmap.pyramid/1": {**WHERE, "side": 16, "assumed_users": 100},
    "counts.cells/1": {**WHERE, "side": 8},
    "count.users/1": {**WHERE, **WHEN},
    "select.region/1": {**WHERE, "grid": [3, 4], "chosen": 2},
    "histogram/1": {"value_column": "kind", "values": ["food", "shop"]},
    "mean/1": {"value_columns": ["amount"], "low": ["0"], "high": ["100"]},
}
"""Parameters of each, besides those of the file's format."""


def place_in(folder: Path) -> LedgerLocation:
    """Return a ledger's place in a folder."""
    return LedgerLocation(folder / "ledger.sqlite", folder / "settings" / "ledgers.json")


def opened(place: LedgerLocation, budget: int = 3, gate: str = "sum") -> str:
    """Open a population; return its id."""
    delta = Fraction(1, 10**9) if gate == "zcdp" else None
    with place.open() as ledger:
        return ledger.open_population(gate, Fraction(budget), "People of the tests", delta=delta)


def content(
    population: str,
    data: Path | str = "rows.csv",
    mechanism: str = "count.users/1",
    epsilon: str = "1/2",
) -> dict[str, Any]:
    """Return what a PLAN.json says."""
    parameters = {"columns": COLUMNS, "delimiter": "comma", **copy.deepcopy(MECHANISMS[mechanism])}
    declared: dict[str, Any] = {name: f"The {name} of a test" for name in TEXTS}
    return {
        "schema": "privacy-explorer/plan/1",
        "population": population,
        "data": str(data),
        "mechanism": {"id": mechanism, "parameters": parameters, "epsilon": epsilon},
        "declared": declared | {"independent_of_data": True, "conditions": ["Ids are people."]},
    }


def plan_of(population: str, data: Path | str = "rows.csv", **how: str) -> Plan:
    """Return a checked plan."""
    return plan_from_json(content(population, data, **how))


def write_plan(folder: Path, said: dict[str, Any]) -> Path:
    """Write a PLAN.json."""
    path = folder / "PLAN.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def write_rows(path: Path, users: int = 40, seed: int = 1) -> Path:
    """Write a file of made check-ins in the plans' format."""
    draw = random.Random(seed)
    lines = []
    for user in range(users):
        for _ in range(draw.randint(1, 5)):
            day, hour = draw.randint(1, 20), draw.randint(0, 23)
            lines.append(
                f"u{user},2026-01-{day:02}T{hour:02}:30:00Z,{draw.uniform(40.4, 41):.7f},"
                f"{draw.uniform(-74.3, -73.6):.7f},{draw.choice(['food', 'shop', 'park'])},"
                f"{draw.uniform(-5, 120):.2f}\n"
            )
    path.write_text("".join(lines), encoding="utf-8")
    return path
