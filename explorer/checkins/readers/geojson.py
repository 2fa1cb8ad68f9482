"""Check-ins that come as GeoJSON: features that are points, in a collection or one a line."""

import re
from pathlib import Path

from explorer.checkins.readers.gdal import check_geojson
from explorer.checkins.readers.vector_file import VectorReader

_FEATURES = re.compile(rb'"type"\s*:\s*"Feature(Collection)?"')


class GeoJsonReader(VectorReader):
    """Reads GeoJSON, newline-delimited or not."""

    def can_read(self, head: bytes) -> float:
        """Return whether it begins with an object that is a feature or several."""
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x1e")
        return 0.9 * (text.startswith(b"{") and _FEATURES.search(text) is not None)

    def check(self, path: Path) -> None:
        """Refuse a reference system that would be fetched or opened."""
        check_geojson(path)


READER = GeoJsonReader(
    "geojson", "GeoJSON", (".geojson", ".geojsonl", ".geojsons", ".ndjson", ".json")
)
