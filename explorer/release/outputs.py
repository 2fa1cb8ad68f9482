"""Stored output as files, made from parameters and noisy numbers alone."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from explorer.csv_rows import CsvRows
from explorer.geography.region import geometry, written_box
from explorer.privacy.releases.means import exact_decimal
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import canonical
from explorer.release.mechanisms.base import Shown
from explorer.release.plan import Plan


@dataclass(frozen=True)
class Written:
    """What is written, and what it says of itself.

    Attributes
    ----------
    plan : Plan
    stored : mapping
        The stored output.
    about : str
        "certificate" and its id, or what a rehearsal is.
    """

    plan: Plan
    stored: Mapping[str, Any]
    about: str

    def shown(self) -> Shown:
        """Return the picture or table made from it."""
        return self.plan.mechanism.shown(self.stored, self.plan.checked, self.plan.epsilon)

    def title(self) -> str:
        """Return what was declared of it."""
        return self.plan.declared.texts.get("title", "")


def as_json(written: Written) -> bytes:
    """Return the stored output as it is hashed in the certificate."""
    return canonical(dict(written.stored))


def as_csv(written: Written) -> bytes:
    """Return the cells of a map, or the rows of a table."""
    shown, text = written.shown(), io.StringIO()
    for line in _header(written):
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


def as_geojson(written: Written) -> bytes:
    """Return the cells of a map that have a share, as squares in degrees."""
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
    found = {"type": "FeatureCollection", "about": list(_header(written)), "features": features}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


FORMATS: dict[str, Callable[[Written], bytes]] = {
    ".json": as_json,
    ".csv": as_csv,
    ".geojson": as_geojson,
}
"""By suffix."""


def writer_for(path: Path) -> Callable[[Written], bytes]:
    """Return what writes the format that a file's name ends with.

    Raises
    ------
    ReleaseError
        If there is none.
    """
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise ReleaseError(f"{path.name}: give a name that ends with {', '.join(FORMATS)}")
    return found


def _header(written: Written) -> Iterator[str]:
    yield written.about
    title = " ".join(written.title().split())
    if title:
        yield title
    yield f"{written.plan.mechanism.id}, epsilon {written.plan.epsilon}"


def _cells(
    written: Written, shown: Shown
) -> Iterator[tuple[tuple[int, int], tuple[float, float, float, float], float]]:
    """Yield row and column from the south-west, the sides in degrees and the share of each cell.

    Of a cell across the antimeridian the west is above the east.
    """
    assert shown.grid is not None
    sides = written.plan.parameters()["box"]
    south, west, north, east = (exact_decimal("box", side) for side in sides)
    east += 360 if east < west else 0
    rows, columns = shown.grid.shape
    lat, lon = _edges(south, north, rows), _edges(west, east, columns)
    for (row, column), share in np.ndenumerate(shown.grid):
        box = (lat[row], lon[column], lat[row + 1], lon[column + 1])
        yield (row, column), written_box(box), float(share)


def _edges(low: Fraction, high: Fraction, number: int) -> list[Fraction]:
    return [low + (high - low) * k / number for k in range(number + 1)]
