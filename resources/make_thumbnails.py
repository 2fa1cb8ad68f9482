"""Draw the small pictures of all presets: ``python resources/make_thumbnails.py [WORD …]``.

With words only those of presets whose name, ``study/key``, has one of them are drawn anew. An
answer that is not complete after `LIMIT_S` of processor time is drawn as far as it is.
"""

from __future__ import annotations

import base64
import json
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.cli.opening import open_file
from explorer.cli.running import open_host
from explorer.studies.base.help_page import Preset, sample_of
from explorer.studies.base.plots import MAX_DEFAULT_CURVES
from explorer.studies.base.result import Mark, Surface
from explorer.studies.base.study import (
    Cancelled,
    Result,
    Scale,
    Selection,
    Study,
    preset_request,
    quantity,
)
from explorer.studies.registry import get_study, study_infos
from explorer.ui.gallery import STEPS

FILE = "thumbnails.json.z"
POINTS = 24
LIMIT_S = 15.0
FEWER = {"trials": 4, "runs": 1}
"""Values of parameters that say how often something is drawn at random."""
SIDE = 64
"""Of a map, in cells."""
MOST_DECADES = 12.0
"""On a logarithmic y axis, from the top."""


def best_answer(host, study: Study, item: Preset, selection: Selection) -> Result | None:
    """Return the best answer that comes in time; None if none does."""
    request = preset_request(study, item)
    own = {p.key for p in study.parameters}
    for key, value in FEWER.items():
        if key in own:
            request = request.with_value(key, value)
    if request.sweep is not None:
        points = min(POINTS, request.sweep.points)
        request = replace(request, sweep=replace(request.sweep, points=points))
    if study.needs_data:
        request = replace(request, selection=sample_of(item, selection))
    best = None
    try:
        for result in host.answer(request, _until(time.process_time() + LIMIT_S)):
            best = result
    except Cancelled:
        pass
    return best


def _until(end: float) -> Callable[[], None]:
    def check() -> None:
        if time.process_time() > end:
            raise Cancelled

    return check


def drawn_map(surface: Surface) -> dict[str, Any]:
    """Return what is kept of a map, as JSON values: at most `SIDE` cells a side."""
    values = surface.values.astype(float)
    block = max(1, values.shape[0] // SIDE)
    side = values.shape[0] // block
    cells = values[: side * block, : side * block].reshape(side, block, side, block).sum((1, 3))
    most = cells.max()
    shades = np.rint(255 * cells.clip(0) / most if most > 0 else cells).astype(np.uint8)
    return {"rows": side, "cells": base64.b64encode(shades.tobytes()).decode()}


def drawn_curves(study: Study, result: Result, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what is kept of these curves of a result, as JSON values; None if none is there."""
    sweep = result.request.sweep
    x_log = sweep is not None and sweep.scale is Scale.LOG
    y_log = quantity(study, result.request.quantity).scale is Scale.LOG
    own = [s for s in result.series if not s.pin]
    shown = [(place, s) for place, s in enumerate(own) if s.key in keys and s.present.any()]
    if not shown:
        return None
    xs = [_on_axis(s.x, x_log) for _, s in shown]
    ys = [_on_axis(s.y, y_log) for _, s in shown]
    bars = any(s.mark is Mark.BARS for _, s in shown) and not y_log
    x_low, x_high = _ends(xs)
    y_low, y_high = _ends([*ys, np.zeros(int(bars))])
    y_low = max(y_low, y_high - MOST_DECADES) if y_log else y_low
    return {
        "lines": [
            [place, s.role.value, s.mark.value, _steps(x, x_low, x_high), _steps(y, y_low, y_high)]
            for (place, s), x, y in zip(shown, xs, ys, strict=True)
        ]
    }


def packed(pictures: dict[str, dict[str, Any]]) -> bytes:
    """Return pictures by study and preset as the file's content."""
    words = json.dumps(pictures, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return zlib.compress(words.encode(), 9)


def _on_axis(values: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    if not log:
        return np.asarray(values, float)
    return np.log10(np.where(np.asarray(values) > 0, values, np.nan))


def _ends(columns: list[NDArray[np.float64]]) -> tuple[float, float]:
    every = np.concatenate(columns)
    every = every[np.isfinite(every)]
    if not every.size:
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _steps(values: NDArray[np.float64], low: float, high: float) -> list[int]:
    """Return numbers as steps from the lower end; -1 where there is none or it is below."""
    places = STEPS * (values - low) / (high - low)
    return [round(float(p)) if np.isfinite(p) and p >= 0 else -1 for p in places]


def main(words: list[str]) -> None:
    """Write the file."""
    path = Path(__file__).with_name(FILE)
    pictures = json.loads(zlib.decompress(path.read_bytes())) if words else {}
    with ExitStack() as stack:
        host = open_host(stack, quiet=True)
        data, region = open_file(stack, (Path("sample"),), None, use_cache=True, quiet=True)
        host.add_data(data)
        assert region is not None
        selection = Selection(data.fingerprint, region)
        for study in (get_study(info.id) for info in study_infos()):
            for item in study.presets:
                name = f"{study.id}/{item.key}"
                if words and not any(word in name for word in words):
                    continue
                pictures.pop(name, None)
                result = best_answer(host, study, item, selection)
                drawn = None
                if result is not None and study.workspace == "map":
                    private = next(s for s in result.surfaces if s.key.startswith("private"))
                    drawn = drawn_map(private)
                elif result is not None:
                    there = [s.key for s in result.series if s.present.any()]
                    keys = item.curves or study.default_curves(result.request, there)
                    drawn = drawn_curves(study, result, keys[:MAX_DEFAULT_CURVES])
                if drawn is not None:
                    pictures[name] = drawn
                print(f"{name}: {'none' if drawn is None else 'drawn'}", flush=True)
    path.write_bytes(packed(pictures))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
