"""Imports GDAL without network access, sidecar files and unneeded drivers.

GDAL reads its settings from the environment on import: import it only by `pyogrio` below.
"""

from __future__ import annotations

import mmap
import os
import re
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from explorer.checkins.errors import CheckinError, shown_name

KEPT = ("GeoJSON", "GeoJSONSeq", "GPKG", "GPX", "KML", "LIBKML")
"""GDAL drivers that stay registered."""

SKIPPED = (
    "ADBC",
    "AIVector",
    "AVCBin",
    "AVCE00",
    "AmigoCloud",
    "CSV",
    "CSW",
    "Carto",
    "DGN",
    "DXF",
    "EDIGEO",
    "EEDA",
    "ESRI Shapefile",
    "ESRIJSON",
    "Elasticsearch",
    "FlatGeobuf",
    "GDALG",
    "GML",
    "GPSBabel",
    "GTFS",
    "GeoRSS",
    "HTTP",
    "Idrisi",
    "JML",
    "JSONFG",
    "LVBAG",
    "MBTiles",
    "MVT",
    "MapInfo File",
    "MapML",
    "MiraMonVector",
    "NGW",
    "OAPIF",
    "ODS",
    "OGCAPI",
    "OGR_GMT",
    "OGR_PDS",
    "OGR_VRT",
    "OSM",
    "OpenFileGDB",
    "PCIDSK",
    "PDF",
    "PDS4",
    "PGDUMP",
    "PLSCENES",
    "PMTiles",
    "S57",
    "SQLite",
    "SXF",
    "Selafin",
    "TopoJSON",
    "VDV",
    "VFK",
    "VICAR",
    "WAsP",
    "WFS",
    "XLSX",
)

SETTINGS = {
    "GDAL_SKIP": ",".join(SKIPPED),
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_HTTP_CONNECTTIMEOUT": "1",
    "GDAL_HTTP_MAX_RETRY": "0",
    "GDAL_HTTP_PROXY": "http://127.0.0.1:9",
    "GDAL_HTTPS_PROXY": "http://127.0.0.1:9",
    "GDAL_HTTP_TIMEOUT": "1",
    "GDAL_VRT_ENABLE_PYTHON": "NO",
    "LIBKML_RESOLVE_STYLE": "NO",
    "OGR_GEOJSON_MAX_OBJ_SIZE": "200",
    "OGR_SQLITE_LIST_VIRTUAL_OGR": "NO",
    "PROJ_NETWORK": "OFF",
}
"""Connections are directed to an unused local port."""

_CRS = re.compile(rb"""["'](?:c|\\u0063)(?:r|\\u0072)(?:s|\\u0073)["']\s*""")
LONGEST_CRS = 1 << 16
"""Maximum length of a reference system description."""
_NAMED = re.compile(
    r"(EPSG|ESRI|OGC):[A-Za-z0-9]{1,16}|urn:ogc:def:crs:(EPSG|ESRI|OGC):[0-9.]{0,8}:[A-Za-z0-9]{1,16}",
    re.ASCII | re.IGNORECASE,
)

_WKT = re.compile(
    r"(PROJ|GEOG|GEOD|GEOC|BOUND|COMPOUND|VERT|ENGINEERING|LOCAL|COMPD|FITTED|DERIVED|TIME|PARAM|"
    r"ENG|VERTICAL|GEOGRAPHIC|GEODETIC|PROJECTED)_?(CRS|CS)\s*[\[(]",
    re.ASCII | re.IGNORECASE,
)


def pyogrio() -> Any:
    """Return pyogrio, imported with `SETTINGS`."""
    os.environ.update(SETTINGS)
    import pyogrio

    return pyogrio


def is_named_system(text: str) -> bool:
    """Return whether a text is an authority and code: ``EPSG:25832`` or a URN."""
    return _NAMED.fullmatch(text) is not None


def is_wkt(text: str) -> bool:
    """Return whether a text is well-known text of bounded length."""
    return len(text) <= LONGEST_CRS and _WKT.match(text) is not None


def check_geojson(path: Path) -> None:
    """Raise for GeoJSON whose reference system is not given by authority and code.

    GDAL would follow a link, and PROJ open the file of a ``+init=`` text.

    Raises
    ------
    CheckinError
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        for found in _CRS.finditer(whole):
            _check_member(path, whole[found.end() : found.end() + LONGEST_CRS])


def _check_member(path: Path, behind: bytes) -> None:
    """Raise if the value after a name ``crs`` is not harmless."""
    text = behind.decode("utf-8", "replace")
    if text[:1] in (",", "]", "}", ""):
        return  # a value, not a name
    value: Any = text
    if text.startswith(":"):
        try:
            value, _ = JSONDecoder().raw_decode(text[1:].lstrip())
        except (JSONDecodeError, RecursionError):
            value = {}
        if not isinstance(value, dict):
            return  # of a feature's properties: only an object is followed
        properties = value.get("properties")
        name = properties.get("name") if isinstance(properties, dict) else None
        if value.get("type") == "name" and isinstance(name, str) and is_named_system(name):
            return
    raise CheckinError(
        f"{shown_name(path)} names its reference system by a link or text that is not followed: "
        'write its member "crs" as a name such as urn:ogc:def:crs:EPSG::25832, or leave it out '
        "where coordinates are longitude and latitude."
    )
