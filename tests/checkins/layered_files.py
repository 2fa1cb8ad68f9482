"""Check-ins written by other libraries, in every format that has a reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import geopandas
import pandas

DEGREES = "EPSG:4326"


def _points(table: pandas.DataFrame) -> geopandas.GeoDataFrame:
    """Return a table with its positions as geometries alone."""
    places = geopandas.points_from_xy(table["longitude"], table["latitude"])
    plain = table.drop(columns=["latitude", "longitude"])
    return geopandas.GeoDataFrame(plain, geometry=places, crs=DEGREES)


def _geopackage(table: pandas.DataFrame, path: Path) -> None:
    _points(table).to_file(path, driver="GPKG", layer="check-ins")


def _geojson(table: pandas.DataFrame, path: Path) -> None:
    _points(table).to_file(path, driver="GeoJSON", COORDINATE_PRECISION=15)


def _geojson_lines(table: pandas.DataFrame, path: Path) -> None:
    _points(table).to_file(path, driver="GeoJSONSeq", COORDINATE_PRECISION=15)


def _excel(table: pandas.DataFrame, path: Path) -> None:
    if "time" in table:  # Excel has no time zones
        table = table.assign(time=table["time"].dt.tz_localize(None))
    table.to_excel(path, index=False, sheet_name="check-ins", engine="openpyxl")


WRITERS: dict[str, Callable[[pandas.DataFrame, Path], None]] = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "csv.gz": lambda table, path: table.to_csv(path, index=False),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "parquet": lambda table, path: table.to_parquet(path),
    "geo.parquet": lambda table, path: _points(table).to_parquet(path),
    "point.parquet": lambda table, path: _points(table).to_parquet(
        path, geometry_encoding="geoarrow"
    ),
    "gpkg": _geopackage,
    "geojson": _geojson,
    "geojsonl": _geojson_lines,
    "xlsx": _excel,
}


def write_as(kind: str, table: pandas.DataFrame, folder: Path) -> Path:
    """Write (user, time, latitude, longitude, …) as a kind of file."""
    path = folder / f"written.{kind}"
    WRITERS[kind](table, path)
    return path
