"""The numbers that come out of the presets, kept in a file so that no rewriting moves them.

``python -m tests.studies.preset_answers`` writes the file anew. Do so only where a number is meant
to change, and say in the commit which and why.

Kept are the presets whose answer is the same with every seed and takes less than `TOO_LONG_S`; the
others are listed in the file with the reason. Simulations are switched off where there is a switch.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.studies.base.study import Result, preset, preset_request
from explorer.studies.registry import get_study, study_infos
from tests.studies.walking import final_result

PATH = Path(__file__).resolve().parents[1] / "data" / "preset_answers.json"
POINTS = 8
TOO_LONG_S = 3.0


def answer(study_id: str, key: str, seed: int = 0) -> Result:
    """Return the final result of a preset with at most `POINTS` points on its x axis."""
    study = get_study(study_id)
    request = replace(preset_request(study, preset(study, key)), seed=seed)
    if any(p.key == "simulate" for p in study.parameters):
        request = request.with_value("simulate", False)
    if request.sweep is not None:
        points = min(POINTS, request.sweep.points)
        request = replace(request, sweep=replace(request.sweep, points=points))
    return final_result(study, request)


def numbers(result: Result) -> dict[str, Any]:
    """Return what a result says in numbers, as JSON: curves and tables thinned, readouts all."""
    return {
        "series": {
            s.key: {
                name: _plain(_thinned(column))
                for name in ("x", "y", "low", "high")
                if (column := getattr(s, name)) is not None
            }
            for s in result.series
        },
        "tables": {
            t.key: [
                _plain(cell for cell in row if isinstance(cell, float)) for row in _thinned(t.rows)
            ]
            for t in result.tables
        },
        "readouts": {r.key: _plain((r.value, r.low, r.high)) for r in result.readouts},
    }


def _thinned(items: Any) -> list[Any]:
    """Return at most `POINTS` items, the first and the last among them."""
    at = np.unique(np.linspace(0, len(items) - 1, min(POINTS, len(items))).round().astype(int))
    return [items[i] for i in at]


def _plain(values: Iterable[float | None]) -> list[float | str | None]:
    """Return numbers as JSON has them; those that are not finite by name."""
    return [v if v is None else float(v) if math.isfinite(v) else str(float(v)) for v in values]


def main() -> None:
    """Write the file (on a system with interval timers: Linux, macOS)."""
    signal.signal(signal.SIGPROF, _too_long)
    kept: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for info in study_infos():
        study = get_study(info.id)
        for item in study.presets:
            name = f"{info.id}/{item.key}"
            if study.needs_data:
                left_out[name] = "needs check-ins"
                continue
            try:
                found, other = (_in_time(info.id, item.key, seed) for seed in (0, 1))
            except TimeoutError as error:
                left_out[name] = str(error)
            else:
                if found == other:
                    kept[name] = found
                else:
                    left_out[name] = "drawn at random"
            print(f"{name}: {left_out.get(name, 'kept')}", flush=True)
    answers = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in kept)
    PATH.write_text(
        f'{{"left_out": {json.dumps(left_out, indent=1)},\n"answers": {{\n{answers}\n}}}}\n',
        encoding="utf-8",
    )


def _in_time(study_id: str, key: str, seed: int) -> dict[str, Any]:
    signal.setitimer(signal.ITIMER_PROF, TOO_LONG_S)
    try:
        return numbers(answer(study_id, key, seed))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"takes longer than {TOO_LONG_S:g} s of processor time")


if __name__ == "__main__":
    main()
