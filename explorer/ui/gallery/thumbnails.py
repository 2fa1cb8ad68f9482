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
from explorer.studies.base.result import Mark

STEPS = 1000
"""Into which a picture's width and height are divided."""


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
