"""Make ``basemap.bin`` from the npm packages ``world-atlas`` and ``us-atlas``.

Run once, by hand, when the packages change; the program itself only reads the result::

    npm pack world-atlas@2.0.2 us-atlas@3.0.1      # two .tgz files
    python resources/convert_basemap.py world-atlas-2.0.2.tgz us-atlas-3.0.1.tgz cities.tsv.z

Input is TopoJSON: shared boundaries are stored once, as arcs, so taking every arc once gives each
coast and border once and the simplification can't tear neighbours apart. Output is three levels
of detail (lines only), in the format that `explorer.geography.basemap` documents and reads.

The 10m coast of the whole world would take 700 KB. Coasts are looked at closely where people
live, so the 10m level is kept fine near large cities (and in the contiguous United States and
its surroundings, where the check-ins of the field's data sets lie) and coarser elsewhere.
"""

from __future__ import annotations

import json
import sys
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Shape (m, 2): longitude, latitude in degrees."""

UNITED_STATES = (24.0, -125.0, 50.0, -66.0)
"""South, west, north, east of the box in which the 10m coast is kept fine."""

MAGIC = b"PXMAP1\n"


def load(archive: Path, member: str) -> dict[str, Any]:
    """Read one TopoJSON file of an npm package."""
    with tarfile.open(archive) as tar:
        handle = tar.extractfile(f"package/{member}")
        if handle is None:
            raise SystemExit(f"{archive}: no file package/{member}")
        return json.load(handle)


def decode_arcs(topology: dict[str, Any]) -> list[Points]:
    """Undo TopoJSON's quantisation and delta coding."""
    scale = np.array(topology["transform"]["scale"])
    translate = np.array(topology["transform"]["translate"])
    return [np.cumsum(np.array(arc), axis=0) * scale + translate for arc in topology["arcs"]]


def arc_users(topology: dict[str, Any], name: str) -> dict[int, set[int]]:
    """Tell which geometries of an object use each arc."""
    users: dict[int, set[int]] = {}

    def walk(item: Any, owner: int) -> None:
        if isinstance(item, int):
            users.setdefault(item if item >= 0 else ~item, set()).add(owner)
        else:
            for part in item:
                walk(part, owner)

    for owner, geometry in enumerate(topology["objects"][name]["geometries"]):
        walk(geometry.get("arcs", []), owner)
    return users


def split_at_antimeridian(line: Points) -> list[Points]:
    """Cut a line wherever it jumps by more than 180° of longitude, ending both parts at ±180°."""
    pieces = []
    start = 0
    head: list[Points] = []
    for i in np.flatnonzero(np.abs(np.diff(line[:, 0])) > 180):
        a, b = line[i], line[i + 1]
        side = np.copysign(180.0, a[0])
        gap = 360 - abs(b[0] - a[0])
        share = abs(side - a[0]) / gap if gap > 0 else 0.0
        latitude = a[1] + share * (b[1] - a[1])
        pieces.append(np.vstack([*head, line[start : i + 1], [[side, latitude]]]))
        head = [np.array([[-side, latitude]])]
        start = i + 1
    pieces.append(np.vstack([*head, line[start:]]))
    return pieces


def drop_artificial_edges(line: Points) -> list[Points]:
    """Take out what only closes polygons on a flat map: runs along ±180° and along the pole."""
    edge = np.isclose(np.abs(line[:, 0]), 180, atol=1e-6)
    pole = line[:, 1] < -89.9
    artificial = (edge[:-1] & edge[1:]) | (pole[:-1] & pole[1:])
    cuts = np.flatnonzero(artificial) + 1
    return [piece for piece in np.split(line, cuts) if len(piece) > 1]


def simplify(line: Points, tolerance: Callable[[Points], NDArray[np.float64]]) -> Points:
    """Ramer-Douglas-Peucker with a tolerance (degrees of latitude) that may vary along the line.

    Ends stay, so arcs that meet keep meeting. Lines that fit inside the tolerance (islets) vanish.
    """
    flat = line * [1.0, 1.0]
    flat[:, 0] *= np.cos(np.radians(line[:, 1].mean()))
    allowed = tolerance(line)
    keep = np.zeros(len(line), bool)
    keep[[0, -1]] = True
    stack = [(0, len(line) - 1)]
    while stack:
        a, b = stack.pop()
        if b - a < 2:
            continue
        inner = flat[a + 1 : b] - flat[a]
        chord = flat[b] - flat[a]
        length = float(chord @ chord)
        share = np.clip(inner @ chord / length, 0, 1) if length else np.zeros(len(inner))
        excess = np.hypot(*(inner - share[:, None] * chord).T) / allowed[a + 1 : b]
        worst = int(np.argmax(excess))
        if excess[worst] > 1:
            keep[a + 1 + worst] = True
            stack += [(a, a + 1 + worst), (a + 1 + worst, b)]
    return line[keep]


def finish(
    arcs: list[Points],
    tolerance: Callable[[Points], NDArray[np.float64]],
    quantum: float,
) -> list[NDArray[np.int64]]:
    """Split, simplify, round to the quantum and drop what has shrunk to a point."""
    lines = []
    for arc in arcs:
        pieces = [
            part for piece in split_at_antimeridian(arc) for part in drop_artificial_edges(piece)
        ]
        for piece in pieces:
            grid = np.rint(simplify(piece, tolerance) / quantum).astype(np.int64)
            moved = np.r_[True, np.any(np.diff(grid, axis=0) != 0, axis=1)]
            grid = grid[moved]
            closed_sliver = len(grid) == 3 and (grid[0] == grid[2]).all()
            if len(grid) > 1 and not closed_sliver:
                lines.append(grid)
    return lines


def shuffle(numbers: NDArray[np.int64], kind: str) -> bytes:
    """Zigzag-code small numbers and store them a byte plane at a time, which compresses best."""
    zigzag = np.where(numbers >= 0, 2 * numbers, -2 * numbers - 1)
    if len(zigzag) and zigzag.max() > np.iinfo(kind).max:
        raise SystemExit("a step between two points does not fit; use a larger quantum")
    planes = zigzag.astype(kind).view(np.uint8).reshape(len(zigzag), -1)
    return planes.T.tobytes()


def encode(levels: list[tuple[str, float, float, list[NDArray[np.int64]]]]) -> bytes:
    """Write the levels in the format of `explorer.geography.basemap`."""
    header = []
    body = b""
    for name, quantum, degrees, lines in levels:
        lengths = np.array([len(line) for line in lines], dtype=np.int64)
        starts = np.array([line[0] for line in lines])
        steps = np.concatenate([np.diff(line, axis=0) for line in lines])
        header.append(
            {
                "name": name,
                "quantum": quantum,
                "degrees": degrees,
                "lines": len(lines),
                "points": int(lengths.sum()),
            }
        )
        body += (
            shuffle(lengths, "<u2") + shuffle(starts[:, 0], "<u4") + shuffle(starts[:, 1], "<u4")
        )
        body += shuffle(steps[:, 0], "<u2") + shuffle(steps[:, 1], "<u2")
    text = json.dumps({"levels": header}, separators=(",", ":")).encode() + b"\n"
    return MAGIC + zlib.compress(text + body, 9)


def read_large_cities(path: Path, people: int) -> Points:
    """Return longitude, latitude of the cities above a size, from ``cities.tsv.z``."""
    rows = [row.split("\t") for row in zlib.decompress(path.read_bytes()).decode().splitlines()]
    return np.array([(float(r[3]), float(r[2])) for r in rows if int(r[4]) >= people])


def main(world: Path, states: Path, cities: Path) -> None:
    """Convert and report sizes."""

    def even(degrees: float) -> Callable[[Points], NDArray[np.float64]]:
        return lambda line: np.full(len(line), degrees)

    large = read_large_cities(cities, 500_000)

    def fine_where_people_live(line: Points) -> NDArray[np.float64]:
        south, west, north, east = UNITED_STATES
        lon, lat = line.T
        fine = (lat > south) & (lat < north) & (lon > west) & (lon < east)
        low, high = line.min(0) - 1, line.max(0) + 1
        near = large[np.all((large > low) & (large < high), axis=1)]
        close = np.zeros(len(line), bool)
        for city in near:
            close |= np.hypot((lon - city[0]) * np.cos(np.radians(city[1])), lat - city[1]) < 0.6
        return np.where(close, 0.003, np.where(fine, 0.008, 0.05))

    us = load(states, "states-10m.json")
    us_arcs = decode_arcs(us)
    # The outer boundary is left to Natural Earth: two coasts from two sources would not coincide.
    inner = [us_arcs[i] for i, who in arc_users(us, "states").items() if len(who) > 1]

    levels = [
        (
            "110m",
            0.01,
            360.0,
            finish(decode_arcs(load(world, "countries-110m.json")), even(0.02), 0.01),
        ),
        (
            "50m",
            0.005,
            75.0,
            finish(decode_arcs(load(world, "countries-50m.json")) + inner, even(0.03), 0.005),
        ),
        (
            "10m",
            0.002,
            8.0,
            finish(
                decode_arcs(load(world, "countries-10m.json")) + inner,
                fine_where_people_live,
                0.002,
            ),
        ),
    ]
    data = encode(levels)
    target = Path(__file__).with_name("basemap.bin")
    target.write_bytes(data)
    for level in levels:
        size = len(encode([level]))
        points = sum(map(len, level[3]))
        print(f"{level[0]:>5}: {len(level[3]):5d} lines {points:6d} points {size / 1000:6.1f} kB")
    print(f"{target.name}: {len(data) / 1000:.1f} kB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*map(Path, sys.argv[1:]))
