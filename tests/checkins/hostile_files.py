"""Small files that exhaust time or memory, or make a library open other resources."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

CELLS = 12_000_000
"""Of the spreadsheet bombs: some gigabytes of Python objects."""


def _sheet(rows: bytes, texts: bytes = b"") -> bytes:
    """Return a workbook of one sheet, compressed."""
    name = "http://schemas.openxmlformats.org"
    main = f"{name}/spreadsheetml/2006/main"
    relations = f"{name}/officeDocument/2006/relationships"
    packages = f"{name}/package/2006"
    parts: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types xmlns="{packages}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/'
        'sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
        'worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{packages}/relationships"><Relationship Id="r1" '
        f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet '
        'name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}/relationships">'
        f'<Relationship Id="r1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{relations}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>'.encode()
        + rows
        + b"</sheetData></worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">'.encode() + texts + b"</sst>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return file.getvalue()


def one_wide_row() -> bytes:
    """A sheet whose first row has millions of cells."""
    return _sheet(b"<row>" + b"<c><v>1</v></c>" * CELLS + b"</row>")


def shared_texts() -> bytes:
    """A sheet with millions of shared texts, all empty."""
    return _sheet(b"<row><c><v>1</v></c></row>", b"<si><t/></si>" * CELLS)


def far_row() -> bytes:
    """A sheet whose second row is the last that there may be, in its last column."""
    cells = b"".join(b'<c r="%s%d"><v>1</v></c>' % (c, 1) for c in (b"A", b"B", b"C"))
    return _sheet(
        b'<row r="1">' + cells + b'</row><row r="999999999"><c r="XFD999999999"><v>1</v></c></row>'
    )


def entities() -> bytes:
    """A sheet whose text is made of entities of entities."""
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    document = f'<!DOCTYPE sst [<!ENTITY e0 "{"x" * 100}">{levels}]>'.encode()
    whole = _sheet(b'<row><c t="s"><v>0</v></c></row>')
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
        for part in old.infolist():
            content = old.read(part)
            if part.filename == "xl/sharedStrings.xml":
                content = document + content.replace(b"</sst>", b"<si><t>&e9;</t></si></sst>")
            new.writestr(part.filename, content)
    return file.getvalue()


def parquet_dictionary() -> bytes:
    """A Parquet file of a few kilobytes: one text of 2 MB, by dictionary, in each of many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 20_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * 2_000_000])
    numbers = pa.array([48.5] * rows)
    table = pa.table({"user": text, "time": text, "lat": numbers, "lon": numbers})
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd", row_group_size=rows)
    return file.getvalue()


def parquet_nested() -> bytes:
    """A Parquet file whose one row holds a list of millions of zeros."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    zeros = pa.array(np.zeros(60_000_000, np.int64))
    lists = pa.ListArray.from_arrays(pa.array([0, len(zeros)], pa.int32()), zeros)
    one = pa.array([48.5])
    file = io.BytesIO()
    table = pa.table({"user": lists, "lat": one, "lon": one})
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def parquet_many_rows() -> bytes:
    """A Parquet file of kilobytes with hundreds of millions of equal rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    rows = 4_000_000
    part = pa.table(
        {
            "user": pa.array(np.zeros(rows, np.int64)),
            "lat": np.full(rows, 48.5),
            "lon": np.full(rows, 16.5),
        }
    )
    with pq.ParquetWriter(file, part.schema, compression="zstd") as writer:
        for _ in range(10):
            writer.write_table(part)
    return file.getvalue()


def geojson(crs: object = None, text: str = "") -> bytes:
    """A collection of points, with whatever it says of its reference system."""
    features = [
        {
            "type": "Feature",
            "properties": {"user": f"u{i % 5}", "note": text},
            "geometry": {"type": "Point", "coordinates": [16 + i / 1000, 48 + i / 1000]},
        }
        for i in range(30)
    ]
    whole = {"type": "FeatureCollection", **({"crs": crs} if crs is not None else {})}
    return json.dumps(whole | {"features": features}).encode()


def deep_geojson() -> bytes:
    """A feature whose property is nested a million deep."""
    head = b'{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point",'
    deep = b"[" * 1_000_000 + b"]" * 1_000_000
    return head + b'"coordinates":[16,48]},"properties":{"user":"a","b":' + deep + b"}}]}"


def geopackage(path: Path, *statements: str) -> None:
    """Write a GeoPackage with a layer of points, then run some SQL in it."""
    import numpy as np
    import pyogrio.raw

    points = [struct.pack("<BIdd", 1, 1, 16 + i / 1000, 48 + i / 1000) for i in range(30)]
    pyogrio.raw.write(
        path,
        np.array(points, object),
        [np.array([f"u{i % 5}" for i in range(30)], object)],
        ["user"],
        layer="points",
        driver="GPKG",
        geometry_type="Point",
        crs="EPSG:4326",
    )
    with closing(sqlite3.connect(path)) as con:
        for statement in statements:
            con.execute(statement)
        con.commit()


ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS fid, NULL AS geom, 'u' AS user FROM n"
)


def gzip_bomb(size: int = 1 << 26, members: int = 64) -> bytes:
    """An archive of members of zeros joined end to end: 4 GB in 4 MB."""
    return gzip.compress(bytes(size)) * members


def fifo(path: Path) -> None:
    """Make a pipe that nobody writes to."""
    os.mkfifo(path)


MADE: dict[str, Callable[[], bytes]] = {
    "wide.xlsx": one_wide_row,
    "texts.xlsx": shared_texts,
    "far.xlsx": far_row,
    "entities.xlsx": entities,
    "dictionary.parquet": parquet_dictionary,
    "nested.parquet": parquet_nested,
    "rows.parquet": parquet_many_rows,
    "deep.geojson": deep_geojson,
    "zeros.txt.gz": gzip_bomb,
}
"""Contents by file name; each takes under a second to make."""
