"""Export of a map's cells as GeoJSON (RFC 7946) and GeoTIFF, for GIS programs."""

from __future__ import annotations

import json

import numpy as np

from explorer import __version__
from explorer.figures import captions
from explorer.figures.export import ExportJob
from explorer.figures.recipes import recipe_text
from explorer.figures.tables import (
    COLUMNS,
    cell_texts,
    comments,
    one_grid,
    point_rows,
    whole_stamp,
)
from explorer.geography.region import Region, geometry, longitude_note, wrap_box
from explorer.studies.base.study import Surface

SCHEMA = "privacy-explorer-cells/1"
LEFT_OUT = (
    "a feature is a cell of the grid: row 0 is south, column 0 west; cells with 0 in every map "
    "and cells outside a polygon are left out"
)
NO_PLACE = (
    "{format}: it would reveal where the map is, and the region was derived from the check-ins or "
    "drawn over them; give its four edges (in the Data panel, or --region), or choose CSV or JSON, "
    "which have no positions"
)

NOT_THE_EARTH = (
    "{format}: x and y of a plane that is not the Earth are no geographic coordinates; choose CSV "
    "or JSON, which have the cells' x and y"
)


def geojson_bytes(job: ExportJob) -> bytes:
    """Return the cells of a job as a GeoJSON collection in UTF-8; to be called through `rendered`.

    Each cell is a polygon in degrees of WGS 84 with a property per shown surface: the share of the
    total. Points drawn on a map follow, with the map's key. Comments, stamp and recipe are members
    of the collection, before the cells.

    Raises
    ------
    ValueError
        If the region is not public, or the surfaces have different grids.
    """
    shown, region = _surfaces_and_region(job)
    texts = cell_texts(shown)
    south, west, north, east = region.box
    rows, columns = shown[0].values.shape
    lat = np.linspace(south, north, rows + 1).round(9).tolist()
    lon = np.linspace(west, east, columns + 1).round(9).tolist()
    head = {
        "type": "FeatureCollection",
        "schema": SCHEMA,
        "stamp": whole_stamp(job.result, shown),
        "about": [*comments(job.result, job.view, job.recipe), LEFT_OUT],
    }
    s, w, n, e = region.declared
    box = json.dumps([w, s, e, n], separators=(",", ":"))
    keys = [json.dumps(surface.key) for surface in shown]
    features = []
    filled = np.any([s.values != 0 for s in shown], axis=0) & shown[0].drawn
    for i, j in np.argwhere(filled).tolist():
        cell = wrap_box((lat[i], lon[j], lat[i + 1], lon[j + 1]), 9)
        values = ",".join(f"{key}:{text[i][j]}" for key, text in zip(keys, texts, strict=True))
        features.append(
            f'{{"type":"Feature","properties":{{"row":{i},"column":{j},{values}}},'
            f'"geometry":{json.dumps(geometry(cell), separators=(",", ":"))}}}'
        )
    features += [
        json.dumps(
            {
                "type": "Feature",
                "properties": {"map": surface.key, **dict(zip(COLUMNS, row, strict=True))},
                "geometry": {"type": "Point", "coordinates": [row[2], row[1]]},
            },
            separators=(",", ":"),
        )
        for surface in shown
        for row in point_rows(surface)
    ]
    text = (
        f'{json.dumps(head, ensure_ascii=False)[:-1]}, "recipe": {recipe_text(job.recipe)},\n'
        f'"bbox": {box},\n"features": [\n' + ",\n".join(features) + "\n]}\n"
    )
    return text.encode()


def geotiff_bytes(job: ExportJob) -> bytes:
    """Return the cells of a job as a GeoTIFF in degrees of WGS 84; to be called through `rendered`.

    North is up. Across the antimeridian longitudes exceed 180°, as a raster has one grid. Each
    shown surface is a band named by its label: the share of the total in single precision, or NaN,
    which cells outside a polygon have.
    The recipe is the image's description; comments and stamp are separate tags.

    Raises
    ------
    ValueError
        If the region is not public, or the surfaces have different grids.
    """
    from rasterio import Affine
    from rasterio.crs import CRS
    from rasterio.io import MemoryFile

    shown, region = _surfaces_and_region(job)
    one_grid(shown)
    rows, columns = shown[0].values.shape
    high, wide = (region.north - region.south) / rows, (region.east - region.west) / columns
    with MemoryFile() as memory:
        with memory.open(
            driver="GTiff",
            width=columns,
            height=rows,
            count=len(shown),
            dtype="float32",
            crs=CRS.from_epsg(4326),
            nodata=np.nan,
            compress="deflate",
            interleave="band",
            transform=Affine(wide, 0, region.west, 0, -high, region.north),
        ) as image:
            # Tags are written first: the reader looks for the recipe before the numbers.
            image.update_tags(
                TIFFTAG_IMAGEDESCRIPTION=recipe_text(job.recipe),
                TIFFTAG_SOFTWARE=f"Privacy Explorer {__version__}",
                STAMP=whole_stamp(job.result, shown),
                ABOUT="\n".join(
                    [*comments(job.result, job.view, job.recipe), *longitude_note(region.box)]
                ),
            )
            for band, surface in enumerate(shown, 1):
                image.set_band_description(band, surface.label)
                image.update_tags(band, KEY=surface.key)
            for band, surface in enumerate(shown, 1):
                values = np.where(surface.drawn, surface.values, np.nan)
                image.write(values.astype(np.float32)[::-1], band)
        return bytes(memory.read())


def _surfaces_and_region(job: ExportJob) -> tuple[list[Surface], Region]:
    """Return the shown surfaces and their region.

    Raises
    ------
    ValueError
        If the region is not public, or not on the Earth.
    """
    shown = captions.shown_surfaces(job.result, job.view)
    if shown[0].region is None:
        raise ValueError(NO_PLACE.format(format=job.format.name))
    if shown[0].region.plane is not None:
        raise ValueError(NOT_THE_EARTH.format(format=job.format.name))
    return shown, shown[0].region
