"""Small pictures of presets, drawn beforehand from answers with few points.

``python resources/make_thumbnails.py`` writes them. They are kept as lines and cells, not as
pixels, so that they are sharp at any scale and take the colours of the theme.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.figures.style import theme
from explorer.privacy.core.bound import Role
from explorer.resources import resource_bytes
from explorer.studies.base.result import Mark, Result, Surface
from explorer.studies.base.study import Scale, Study, quantity

STEPS = 1000
"""Into which a picture's width and height are divided."""
SIDE = 64
"""Of a map, in cells."""
MOST_DECADES = 12.0
"""On a logarithmic y axis, from the top."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of a small picture.

    Attributes
    ----------
    place : int
        In the legend: its colour.
    role : Role
    mark : Mark
    x, y : tuple of int
        From 0 (left, bottom) to `STEPS`; y is negative where there is nothing.
    """

    place: int
    role: Role
    mark: Mark
    x: tuple[int, ...]
    y: tuple[int, ...]

    def colour(self, theme_name: str) -> str:
        """Return its colour, that of its curve in the window."""
        colours = theme(theme_name).curves
        return colours[self.place % len(colours)]


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture of a preset: curves, or the cells of a map.

    Attributes
    ----------
    lines : tuple of Line
    cells : ndarray of uint8, shape (rows, columns), or None
        From none to most; row 0 south.
    """

    lines: tuple[Line, ...] = ()
    cells: NDArray[np.uint8] | None = None


def thumbnail(study_id: str, key: str) -> Thumbnail | None:
    """Return the small picture of a preset; None if there is none."""
    kept = _kept().get(f"{study_id}/{key}")
    return None if kept is None else _read(kept)


@cache
def _kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(resource_bytes("thumbnails.json.z")))
    return found


def _read(kept: dict[str, Any]) -> Thumbnail:
    if "cells" in kept:
        flat = np.frombuffer(base64.b64decode(kept["cells"]), np.uint8)
        return Thumbnail(cells=flat.reshape(kept["rows"], -1))
    lines = (
        Line(place, Role(role), Mark(mark), tuple(x), tuple(y))
        for place, role, mark, x, y in kept["lines"]
    )
    return Thumbnail(tuple(lines))


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
