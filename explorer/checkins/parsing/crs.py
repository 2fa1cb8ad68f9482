"""Reference systems of coordinates: conversion to WGS 84 by PROJ, and import of GDAL.

GDAL reads its settings from the environment on import and is imported only by `pyogrio`: without
network access, sidecar files and unneeded drivers.

No grids are downloaded: without those of a national datum PROJ uses a formula accurate to metres,
which `accuracy` reports. The drift between WGS 84 and plate-fixed systems (ETRS89, NAD83) since
their epochs is ignored: up to about one metre (Europe) or two.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.errors import CheckinError, MappingNeeded, shown_name
from explorer.checkins.model import E7, FloatArray, Mapping, Preview
from explorer.lazy import missing_library

DRIVERS = ("GeoJSON", "GeoJSONSeq", "GPKG", "GPX", "KML", "LIBKML")
"""GDAL drivers that are used."""

SKIPPED_DRIVERS = (
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

GDAL_SETTINGS = {
    "GDAL_SKIP": ",".join(SKIPPED_DRIVERS),
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
    """Return pyogrio, imported with `GDAL_SETTINGS`."""
    os.environ.update(GDAL_SETTINGS)
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
        for match in _CRS.finditer(whole):
            _check_member(path, whole[match.end() : match.end() + LONGEST_CRS])


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


EXTRA = "geofiles"
WGS_84 = "EPSG:4326"
FUNCTION = "to_degrees"
"""Database function registered by `crs_function`: (y, x) to a struct of latitude y, longitude x."""

_ROUND_TRIP_TOLERANCE = 1e-6
"""Relative tolerance of a round trip through PROJ."""

Convert = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class MissingLibrary(ValueError):  # noqa: N818  (what is missing, not what failed)
    """PROJ is not installed; the message explains how to install it."""


def _proj() -> Any:
    lacking = missing_library("Converting coordinates to degrees", EXTRA, "pyproj", "pyarrow")
    if lacking:
        raise MissingLibrary(lacking)
    os.environ.update(GDAL_SETTINGS)  # pyproj includes its own PROJ
    import pyproj
    import pyproj.network

    # a download of a grid would reveal where the rows are
    pyproj.network.set_network_enabled(False)  # type: ignore[attr-defined]
    return pyproj


@lru_cache(maxsize=64)
def canonical_crs(text: str) -> str | None:
    """Return the canonical name of a reference system, as in `Mapping.crs`.

    Parameters
    ----------
    text : str
        `E7`, ``EPSG:25832``, ``25832``, ``ESRI:54030``, ``urn:ogc:def:crs:EPSG::25832``, well-known
        text or PROJJSON of a system that has a number. Nothing else that PROJ understands: it would
        open files and fetch links.

    Returns
    -------
    str or None
        None for degrees of WGS 84.

    Raises
    ------
    ValueError
        If there is no such system of plane or spherical coordinates, or PROJ is not installed.
    """
    text = text.strip()
    if text.upper() == E7:
        return E7
    pyproj = _proj()
    shown = text if len(text) <= 60 else text[:60] + "…"
    try:
        crs = _parse_crs(pyproj, text)
    except (pyproj.exceptions.CRSError, ValueError, TypeError, RecursionError):
        raise ValueError(
            f"there is no reference system {shown!r}; give its EPSG number, such as EPSG:25832"
        ) from None
    if not (crs.is_geographic or crs.is_projected):
        raise ValueError(f"{crs.name} has no coordinates of places on the Earth; give another one")
    authority = crs.to_authority() or crs.to_2d().to_authority()
    if authority is None:
        raise ValueError(
            f"{shown!r} is no reference system with a number; give one, such as EPSG:25832"
        )
    name = ":".join(authority).upper()
    return None if name in ("EPSG:4326", "EPSG:4979", "OGC:CRS84") else name


def _parse_crs(pyproj: Any, text: str) -> Any:
    """Parse any text that `canonical_crs` accepts; raises ValueError or PROJ's own errors."""
    if text.isdecimal() and text.isascii():
        return pyproj.CRS.from_authority("EPSG", text)
    if is_named_system(text):
        parts = text.split(":")  # a URN ends with authority, version and code
        return pyproj.CRS.from_authority(parts[-3 if len(parts) > 2 else 0].upper(), parts[-1])
    if text.startswith("{") and len(text) <= LONGEST_CRS:
        return pyproj.CRS.from_json_dict(json.loads(text))
    if is_wkt(text):
        return pyproj.CRS.from_wkt(text)
    raise ValueError("neither a name, nor well-known text, nor PROJJSON")


def with_system(name: str, mapping: Mapping, preview: Preview) -> Mapping:
    """Return a mapping with the canonical name of its reference system.

    Raises
    ------
    MappingNeeded
        If it is not known.
    CheckinError
        If there is no such system, or no library to convert from it.
    """
    if mapping.crs == "":
        raise MappingNeeded(
            f"{name}: the coordinates are not degrees, and it is not known in which reference "
            "system they are; say which, such as EPSG:25832.",
            preview,
        )
    try:
        return mapping if mapping.crs is None else replace(mapping, crs=canonical_crs(mapping.crs))
    except ValueError as error:
        raise CheckinError(f"{name}: {error}.") from None


def converter(crs: str) -> Convert:
    """Return a function from (y, x) to (latitude, longitude).

    It returns infinities where PROJ does not lead back to y and x, and NaN where they are not
    finite.
    """
    if crs == E7:
        return lambda y, x: (y / 1e7, x / 1e7)
    pyproj = _proj()
    with _quiet():
        transformer = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True)

    def convert(y: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        lon, lat = transformer.transform(x, y)
        back_x, back_y = transformer.transform(lon, lat, direction="INVERSE")
        with np.errstate(invalid="ignore"):
            there = (np.abs(back_x - x) <= _ROUND_TRIP_TOLERANCE * (1 + np.abs(x))) & (
                np.abs(back_y - y) <= _ROUND_TRIP_TOLERANCE * (1 + np.abs(y))
            )
            there &= (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
            lost = np.where(np.isfinite(x) & np.isfinite(y), np.inf, np.nan)
        nowhere = (x == 0) & (y == 0)  # devices without a position report 0, 0 in any system
        lat, lon = np.where(there, lat, lost), np.where(there, lon, lost)
        return np.where(nowhere, 0.0, lat), np.where(nowhere, 0.0, lon)

    return convert


def describe_crs(crs: str) -> str:
    """Return name and area of a reference system: ``EPSG:25832 (…; Europe …)``."""
    if crs == E7:
        return "degrees times ten million (E7)"
    known = _parse_crs(_proj(), crs)
    area = known.area_of_use.name.split(":")[0].rstrip(".") if known.area_of_use else ""
    return f"{crs} ({known.name}{'; ' * bool(area)}{area[:80]})"


def accuracy(crs: str) -> str:
    """Return the accuracy of the conversion as text."""
    if crs == E7:
        return "exactly"
    pyproj = _proj()
    with _quiet():
        group = pyproj.transformer.TransformerGroup(crs, "EPSG:4326", always_xy=True)
    best = group.transformers[0].accuracy if group.transformers else -1
    text = "exactly" if best == 0 else "by a formula of unstated accuracy"
    if best > 0:
        text = f"to about {best:g} m"
    return text if group.best_available else f"{text} (finer grids are not installed)"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress PROJ's warnings on missing grids, which `accuracy` reports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def crs_function(con: Any, crs: str | None) -> Iterator[None]:
    """Register the function `FUNCTION` in a database, if a conversion is needed.

    PROJ runs in one thread of Python: the database's own threads are new to Python at every call,
    and would set PROJ up (and crash in it) each time.
    """
    if not crs or crs == E7:
        yield
        return
    with ThreadPoolExecutor(1, "checkins-proj") as thread:
        _create_function(con, crs, thread)
        yield


def _create_function(con: Any, crs: str, thread: ThreadPoolExecutor) -> None:
    import duckdb
    import pyarrow as pa

    convert = thread.submit(converter, crs).result()
    double = duckdb.sqltypes.DOUBLE

    def to_degrees(y: Any, x: Any) -> Any:
        coordinates = [np.array(a.to_numpy(zero_copy_only=False)) for a in (y, x)]
        lat, lon = thread.submit(convert, *coordinates).result()
        return pa.StructArray.from_arrays([pa.array(lat), pa.array(lon)], ["y", "x"])

    struct = con.struct_type({"y": double, "x": double})
    con.create_function(FUNCTION, to_degrees, [double, double], struct, type="arrow")
