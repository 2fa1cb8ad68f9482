"""Reference systems of coordinates: detection, conversion to WGS 84 by PROJ, and import of GDAL.

Detected are coordinates that are not degrees (projected, E7, of images and other planes), and
latitude and longitude that are swapped, by the positions of towns.

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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.errors import CheckinError, MappingNeeded, shown_name
from explorer.checkins.model import E7, FloatArray, Mapping, Preview
from explorer.checkins.parsing.numbers import Rows, number
from explorer.geography.cities import shipped_cities
from explorer.lazy import missing_library

DRIVERS = ("GeoJSON", "GeoJSONSeq", "GPKG", "GPX", "KML", "LIBKML")
"""GDAL drivers that are used."""

SKIPPED_DRIVERS = (
    "ADBC,AIVector,AVCBin,AVCE00,AmigoCloud,CSV,CSW,Carto,DGN,DXF,EDIGEO,EEDA,ESRI Shapefile,"
    "ESRIJSON,Elasticsearch,FlatGeobuf,GDALG,GML,GPSBabel,GTFS,GeoRSS,HTTP,Idrisi,JML,JSONFG,"
    "LVBAG,MBTiles,MVT,MapInfo File,MapML,MiraMonVector,NGW,OAPIF,ODS,OGCAPI,OGR_GMT,OGR_PDS,"
    "OGR_VRT,OSM,OpenFileGDB,PCIDSK,PDF,PDS4,PGDUMP,PLSCENES,PMTiles,S57,SQLite,SXF,Selafin,"
    "TopoJSON,VDV,VFK,VICAR,WAsP,WFS,XLSX"
)

GDAL_SETTINGS = {
    "GDAL_SKIP": SKIPPED_DRIVERS,
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


_PROJECTED = {
    "lon": "easting eastings east rechtswert rechts ostwert xcoord coordx xcoordinate "
    "utmx utme utmeast x lon lng long longitude",
    "lat": "northing northings north hochwert hoch nordwert ycoord coordy ycoordinate "
    "utmy utmn utmnorth y lat latitude",
}
"""Names of columns with projected coordinates, letters only."""

SYSTEMS: tuple[tuple[str, str, tuple[float, float], tuple[float, float]], ...] = (
    ("EPSG:2056", "Switzerland, LV95", (2.48e6, 2.84e6), (1.07e6, 1.30e6)),
    ("EPSG:28992", "Netherlands, RD New", (-1e4, 3.0e5), (2.9e5, 6.4e5)),
    ("EPSG:2157", "Ireland, ITM", (4.1e5, 7.8e5), (5.1e5, 9.7e5)),
    ("EPSG:27700", "British National Grid", (-1.1e5, 6.9e5), (-2e4, 1.26e6)),
    ("EPSG:2154", "France, Lambert-93", (-4e5, 1.4e6), (5.9e6, 7.3e6)),
    ("EPSG:31467", "Germany, Gauß-Krüger zone 3", (3.2e6, 3.8e6), (5.1e6, 6.2e6)),
    ("EPSG:31468", "Germany, Gauß-Krüger zone 4", (4.2e6, 4.8e6), (5.1e6, 6.2e6)),
    ("EPSG:3035", "Europe, LAEA", (2.4e6, 7.4e6), (1.3e6, 5.5e6)),
    ("EPSG:25832", "UTM zone 32N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25833", "UTM zone 33N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25831", "UTM zone 31N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:25830", "UTM zone 30N, ETRS89", (1.6e5, 8.4e5), (3.6e6, 9.4e6)),
    ("EPSG:32618", "UTM zone 18N, WGS 84 (zone z: 32600 + z)", (1.6e5, 8.4e5), (0.0, 9.4e6)),
    ("EPSG:32733", "UTM zone 33S, WGS 84 (zone z: 32700 + z)", (1.6e5, 8.4e5), (1.1e6, 1.0e7)),
    ("EPSG:3857", "Web Mercator", (-2.004e7, 2.004e7), (-2.005e7, 2.005e7)),
)
"""Common systems: name, description, range of x and y in metres, narrowest first."""

_SURELY_METRES = 20_000
"""Larger than image sizes in pixels and than any degrees."""

Points = tuple[FloatArray, FloatArray]


def points_of(
    rows: Sequence[Sequence[str]], lat: int, lon: int, number: Callable[[str], float | None]
) -> Points:
    """Return y and x of the rows that have both."""
    pairs = [(number(row[lat]), number(row[lon])) for row in rows if max(lat, lon) < len(row)]
    whole = [pair for pair in pairs if None not in pair]
    y, x = np.array(whole, float).reshape(-1, 2).T
    return y, x


def candidates(points: Points) -> list[tuple[str, str]]:
    """Return name and description of the systems that fit most points, narrowest first.

    Empty for numbers that may be degrees, or pixels of a picture.
    """
    y, x = points
    y, x = y[(x != 0) | (y != 0)], x[(x != 0) | (y != 0)]
    if not x.size or np.median(np.maximum(abs(x), abs(y))) < _SURELY_METRES:
        return []
    return [
        (name, words)
        for name, words, (left, right), (low, high) in SYSTEMS
        if np.mean((left <= x) & (x <= right) & (low <= y) & (y <= high)) > 0.9
    ]


_E7 = re.compile(r"(?P<role>lat|lon|lng)[a-z]*[ _.-]*e7", re.IGNORECASE)


def e7_columns(names: Sequence[str]) -> dict[str, int]:
    """Return the columns named as degrees times ten million, if there is exactly one pair."""
    by_role: dict[str, list[int]] = {"lat": [], "lon": []}
    for i, name in enumerate(names):
        if match := _E7.search(name[:200]):
            by_role["lat" if match["role"].lower() == "lat" else "lon"].append(i)
    single = all(len(columns) == 1 for columns in by_role.values())
    return {role: columns[0] for role, columns in by_role.items()} if single else {}


def is_e7(names: Sequence[str], lat: int | None, lon: int | None) -> bool:
    """Return whether both coordinate names denote degrees times ten million."""
    columns = [column for column in (lat, lon) if column is not None and column < len(names)]
    return len(columns) == 2 and all(_E7.search(names[column][:200]) for column in columns)


def _named(words: dict[str, str], places: dict[str, int]) -> dict[str, int]:
    """Return the column of the first word of each role that is a name."""
    there = {
        role: [places[word] for word in known.split() if word in places]
        for role, known in words.items()
    }
    return {role: columns[0] for role, columns in there.items() if columns}


def metric_columns(
    places: dict[str, int], rows: Sequence[Sequence[str]], number: Callable[[str], float | None]
) -> dict[str, int] | None:
    """Return the columns of y and x if they clearly are metres; else None.

    Parameters
    ----------
    places : dict
        Column of each name, of letters only.
    """
    columns = _named(_PROJECTED, places)
    if set(columns) != {"lat", "lon"}:
        return None
    return columns if candidates(points_of(rows, columns["lat"], columns["lon"], number)) else None


_PLANAR = {
    "lon": "x xcoord xpx xpixel gazex fixationx fixx posx",
    "lat": "y ycoord ypx ypixel gazey fixationy fixy posy",
    "image": "image imageid img imgid picture pictureid stimulus stimulusid frame scene",
}
"""Names of columns with image coordinates, letters only."""


def planar_columns(
    places: dict[str, int], rows: Sequence[Sequence[str]], number: Callable[[str], float | None]
) -> dict[str, int] | None:
    """Return the columns of x, y and image if they clearly are not degrees; else None.

    That is so if rows are about images, or if most of them do not lie on the globe: names alone
    do not tell, because x and y may be degrees, too.
    """
    columns = _named(_PLANAR, places)
    if not {"lat", "lon"} <= set(columns) or "lat" in places or "latitude" in places:
        return None
    if "image" in columns:
        return columns
    y = [n for row in rows if (n := number(row[columns["lat"]])) is not None]
    x = [n for row in rows if (n := number(row[columns["lon"]])) is not None]
    off = sum(abs(b) > 90 or abs(a) > 180 for a, b in zip(x, y, strict=False))
    return columns if 2 * off > len(rows) > 0 else None


_MAX_ROWS = 24
_NEAR_KM = 50.0
_MOST, _FEW = 0.8, 0.2

Array = np.ndarray[Any, np.dtype[np.float64]]


_SWAPPED = "Latitude and longitude seem to be swapped: "


def _degrees(rows: Rows, mapping: Mapping, decimal: str) -> tuple[Array, Array] | None:
    """Return latitudes and longitudes of sampled rows; None if they are not degrees."""
    if mapping.lat is None or mapping.lon is None or mapping.planar or mapping.crs:
        return None
    if mapping.order:
        return None
    last = max(mapping.lat, mapping.lon)
    pairs = [
        (lat, lon)
        for row in rows
        if last < len(row)
        and (lat := number(row[mapping.lat], decimal)) is not None
        and (lon := number(row[mapping.lon], decimal)) is not None
        and abs(lat) <= 180
        and abs(lon) <= 180
    ]
    if not pairs:
        return None
    lat, lon = np.array(pairs[:: -(-len(pairs) // _MAX_ROWS)]).T
    return lat, lon


def beyond_the_poles(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if most latitudes exceed ±90 and fit swapped; else an empty text."""
    there = _degrees(rows, mapping, decimal)
    if there is None:
        return ""
    fits, fits_turned = (np.mean(np.abs(values) <= 90) for values in there)
    if fits < _FEW and fits_turned > _MOST:
        return _SWAPPED + "most latitudes are beyond the poles. Choose their columns the other way."
    return ""


def looks_swapped(rows: Rows, mapping: Mapping, decimal: str) -> str:
    """Return the reason if latitude and longitude seem swapped; else an empty text.

    They do if few of the first rows are near a town and most would be if swapped, or if most
    latitudes exceed ±90 and would not if swapped.
    """
    there, reason = _degrees(rows, mapping, decimal), beyond_the_poles(rows, mapping, decimal)
    if there is None or reason:
        return reason
    lat, lon = there
    fits, fits_turned = np.mean(np.abs(lat) <= 90), np.mean(np.abs(lon) <= 90)
    if min(fits, fits_turned) < _MOST or _near_towns(lat, lon) >= _FEW:
        return ""
    near = _near_towns(lon, lat)
    if near < _MOST:
        return ""
    return _SWAPPED + (
        f"hardly any of the first rows lies near a town, but {near:.0%} do the other way round. "
        "Choose their columns the other way, or as they are if this is meant."
    )


def _near_towns(lat: Array, lon: Array) -> float:
    """Return the share of positions near a town."""
    towns = shipped_cities()
    places = zip(lat.tolist(), lon.tolist(), strict=True)
    return float(np.mean([towns.nearest(*place)[1] <= _NEAR_KM for place in places]))
