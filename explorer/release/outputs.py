"""Export of stored output: files and filtered maps from parameters and noisy numbers only."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from explorer.csv_rows import CsvRows
from explorer.geography.region import geometry, wrap_box
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.gaussian_filter import smoothing
from explorer.privacy.releases.means import exact_decimal
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical
from explorer.release.mechanisms.base import Shown
from explorer.release.plan import Plan


@dataclass(frozen=True)
class OutputDocument:
    """Stored output with the plan it was drawn for and its origin.

    Attributes
    ----------
    plan : Plan
    stored : mapping
        The stored output.
    about : str
        Origin: "certificate" and its id, or the stamp of a dry run.
    """

    plan: Plan
    stored: Mapping[str, Any]
    about: str

    def shown(self) -> Shown:
        """Return the map or table computed from the stored output."""
        return self.plan.mechanism.shown(self.stored, self.plan.own_parameters, self.plan.epsilon)

    def title(self) -> str:
        """Return the declared title."""
        return self.plan.declared.texts.get("title", "")


def as_json(written: OutputDocument) -> bytes:
    """Return the stored output as canonical JSON, the bytes whose hash the certificate has."""
    return canonical(dict(written.stored))


def as_csv(written: OutputDocument) -> bytes:
    """Return the cells of a map, or the rows of a table, as CSV."""
    shown, text = written.shown(), io.StringIO()
    for line in _header(written, shown):
        text.write(f"# {line}\n")
    rows = CsvRows(text)
    if shown.grid is None:
        rows.write_row(["name", "value"])
        rows.write_rows(shown.table)
    else:
        rows.write_row(["row", "column", "south", "west", "north", "east", "share"])
        for (row, column), sides, share in _cells(written, shown):
            rows.write_row([row, column, *sides, share])
    return text.getvalue().encode()


def as_geojson(written: OutputDocument) -> bytes:
    """Return the cells of a map with a positive share as GeoJSON polygons."""
    shown = written.shown()
    if shown.grid is None:
        raise ReleaseError("a table has no places; write it as .csv or .json")
    features = [
        {
            "type": "Feature",
            "properties": {"row": row, "column": column, "share": share},
            "geometry": geometry(sides),
        }
        for (row, column), sides, share in _cells(written, shown)
        if share
    ]
    collection = {
        "type": "FeatureCollection",
        "about": list(_header(written, shown)),
        "features": features,
    }
    return json.dumps(collection, ensure_ascii=False, separators=(",", ":")).encode()


FORMATS: dict[str, Callable[[OutputDocument], bytes]] = {
    ".json": as_json,
    ".csv": as_csv,
    ".geojson": as_geojson,
}
"""Writers by file suffix."""


def writer_for(path: Path) -> Callable[[OutputDocument], bytes]:
    """Return the writer for a file's suffix.

    Raises
    ------
    ReleaseError
        If the suffix is unknown.
    """
    writer = FORMATS.get(path.suffix.lower())
    if writer is None:
        raise ReleaseError(f"{path.name}: give a name that ends with {', '.join(FORMATS)}")
    return writer


WEIGHTS = "weights of the public maps (estimate, made of noisy counts): "
"""Beginning of the line of an exported map with `Shown.prior_weights`."""
_WEIGHT = re.compile(r"level (\d{1,2}) ([0-9.e-]{1,40})", re.ASCII)


def read_prior_weights(data: bytes) -> dict[int, float]:
    """Return the weights of public maps by level, from an exported map (CSV, GeoJSON or GeoTIFF).

    Empty where it states none. A GeoTIFF has them as plain text in its metadata.
    """
    _, _, rest = data.decode("utf-8", "replace").partition(WEIGHTS)
    line = re.split(r'["\n]', rest, maxsplit=1)[0]
    return {int(level): float(weight) for level, weight in _WEIGHT.findall(line)}


def _header(written: OutputDocument, shown: Shown) -> Iterator[str]:
    yield written.about
    title = " ".join(written.title().split())
    if title:
        yield title
    yield f"{written.plan.mechanism.id}, epsilon {written.plan.epsilon}"
    yield from weight_lines(shown)


def weight_lines(shown: Shown) -> Iterator[str]:
    """Yield the line of exported maps that `read_prior_weights` reads; nothing without weights."""
    if shown.prior_weights:
        weights = ", ".join(f"level {level} {weight!r}" for level, weight in shown.prior_weights)
        yield f"{WEIGHTS}{weights}"


def _cells(
    written: OutputDocument, shown: Shown
) -> Iterator[tuple[tuple[int, int], tuple[float, float, float, float], float]]:
    """Yield (row, column) from the south-west, sides in degrees and share of each cell.

    For a cell across the antimeridian, west > east.
    """
    assert shown.grid is not None
    sides = written.plan.parameters()["box"]
    south, west, north, east = (exact_decimal("box", side) for side in sides)
    east += 360 if east < west else 0
    rows, columns = shown.grid.shape
    lat, lon = _edges(south, north, rows), _edges(west, east, columns)
    for (row, column), share in np.ndenumerate(shown.grid):
        box = (lat[row], lon[column], lat[row + 1], lon[column + 1])
        yield (row, column), wrap_box(box), float(share)


def _edges(low: Fraction, high: Fraction, number: int) -> list[Fraction]:
    return [low + (high - low) * k / number for k in range(number + 1)]


SIGMA = 0.02
"""Of the filter, in sides of the map, unless chosen otherwise."""


def heatmap(shown: Shown, sigma: float = SIGMA) -> FloatArray:
    """Return a map filtered as the heatmap study draws it, of mass 1, row 0 south.

    Parameters
    ----------
    shown : Shown
        With a square grid.
    sigma : float
        ≥ 0; it may be chosen after the release, as often as one likes.

    Raises
    ------
    ValueError
        If there is no square grid.
    """
    if shown.grid is None or shown.grid.shape[0] != shown.grid.shape[1]:
        raise ValueError("shown: it has no square map to filter")
    return smoothing(len(shown.grid), sigma).exact(shown.grid)
