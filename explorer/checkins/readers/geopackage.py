"""Check-ins that come as GeoPackage: a layer of points, or a table without geometries."""

import os
import warnings
from pathlib import Path

from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.readers.vector_file import VectorReader, count_rows

_NO_POINT = ("LineString", "Polygon", "Curve", "Surface", "CircularString", "TIN", "Triangle")


class GeoPackageReader(VectorReader):
    """Reads GeoPackage."""

    def can_read(self, head: bytes) -> float:
        """Return whether it begins as a database of SQLite, which it is."""
        return float(head.startswith(b"SQLite format 3\0"))

    def layers(self, path: Path) -> tuple[str, ...]:
        """Return the layers whose type does not rule out points."""
        import pyogrio

        if not _is_geopackage(path):
            raise CheckinError(
                f"{shown_name(path)} is a database of SQLite and no GeoPackage: export its table "
                "as CSV, or as GeoPackage."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of files
            found = pyogrio.list_layers(os.path.abspath(path))
        layers = [(str(name), str(kind or "")) for name, kind in found]
        points = tuple(name for name, kind in layers if not any(no in kind for no in _NO_POINT))
        if not points:
            there = ", ".join(f"{name} ({kind})" for name, kind in layers) or "none"
            raise CheckinError(
                f"{shown_name(path)} has no layer of points (its layers: {there}); save the points "
                "as a layer, or as CSV with longitude and latitude."
            )
        return points

    def rows(self, path: Path, layer: str) -> int:
        """Return how many rows a layer has."""
        return count_rows(path, layer)


def _is_geopackage(path: Path) -> bool:
    """Tell whether the database says so: in its header, or by the table that lists contents."""
    with path.open("rb") as file:
        head = file.read(72)
        return head[68:72] in (b"GPKG", b"GP10", b"GP11") or b"gpkg_contents" in file.read(1 << 16)


READER = GeoPackageReader("geopackage", "GeoPackage", (".gpkg",))
