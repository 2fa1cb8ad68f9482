"""Releases of boxes across the antimeridian: as if box and rows had been turned."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from explorer.release.errors import ParameterError
from explorer.release.ledger.differencing import overlaps
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields
from explorer.release.outputs import OutputDocument, as_csv, as_geojson
from explorer.release.plan import Plan, plan_from_json
from explorer.release.rows.reading import read_file
from tests.release.plans import MECHANISMS, content, write_rows

TURN = Fraction("-105.85")
"""Takes the box of the tests, 74.25° W to 73.7° W, to 179.9° E … 179.55° W."""


def turned(text: str) -> str:
    lon = Fraction(text) + TURN
    return f"{float(lon + 360 if lon < -180 else lon):.7f}"


def plan_of(mechanism: str, data: Path) -> Plan:
    said = content("0" * 32, data, mechanism)
    if data.stem == "turned" and "box" in said["mechanism"]["parameters"]:
        south, west, north, east = said["mechanism"]["parameters"]["box"]
        said["mechanism"]["parameters"]["box"] = [south, turned(west), north, turned(east)]
    return plan_from_json(said)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("rows")
    here = write_rows(folder / "here.csv", users=300)
    rows = [line.split(",") for line in here.read_text().splitlines()]
    moved = [",".join([*row[:3], turned(row[3]), *row[4:]]) for row in rows]
    (folder / "turned.csv").write_text("\n".join(moved) + "\n")
    return here, folder / "turned.csv"


@pytest.mark.parametrize(
    "mechanism", [name for name, parameters in MECHANISMS.items() if "box" in parameters]
)
def test_what_is_released_is_the_same(mechanism: str, files: tuple[Path, Path]) -> None:
    stored = []
    for data in files:
        plan = plan_of(mechanism, data)
        people = read_file(plan.data, plan.form, plan.reads).records
        draw = plan.mechanism.draw(
            people, plan.own_parameters, plan.epsilon, random.Random(7).randbytes
        )
        stored.append(json.dumps(draw.stored, sort_keys=True))
    assert stored[0] == stored[1]
    assert plan.parameters()["box"][1::2] == ["179.9000000", "-179.5500000"]


def test_cells_of_a_released_map_lie_within_180_degrees(files: tuple[Path, Path]) -> None:
    plan = plan_of("heatmap.pyramid/1", files[1])
    people = read_file(plan.data, plan.form, plan.reads).records
    stored = plan.mechanism.draw(
        people, plan.own_parameters, plan.epsilon, random.Random(7).randbytes
    ).stored
    written = OutputDocument(plan, stored, "a test")
    rows = [line.split(",") for line in as_csv(written).decode().splitlines()][4:]
    sides = [(float(row[3]), float(row[5])) for row in rows]
    assert len(sides) == 256
    assert all(-180 <= west <= 180 and -180 <= east <= 180 for west, east in sides)
    assert sum(west > east for west, east in sides) == 16  # the column across 180°
    for feature in json.loads(as_geojson(written))["features"]:
        shape, column = feature["geometry"], feature["properties"]["column"]
        assert shape["type"] == ("MultiPolygon" if column == 2 else "Polygon")
        parts = shape["coordinates"] if column == 2 else [shape["coordinates"]]
        rings = [ring for part in parts for ring in part]
        for ring in rings:
            lon = [place[0] for place in ring]
            assert -180 <= min(lon) < max(lon) <= 180
            assert max(lon) - min(lon) < 1


def area(*box: str) -> Area:
    return Area.of(Fields("a test", {"box": list(box)}, AREA_FIELDS), needs_box=True)


def test_only_boxes_up_to_180_degrees_cross_it() -> None:
    assert area("-20", "177", "-15", "-178").box == ("-20", "177", "-15", "-178")
    for box in (("0", "10", "1", "9"), ("0", "1", "1", "1"), ("0", "177", "1", "183")):
        with pytest.raises(ParameterError):
            area(*box)


def share(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[Any, ...]:
    earlier = Release(
        "a",
        "p",
        "count.users/1",
        Fraction(1, 2),
        "published",
        7,
        "2026-01-01",
        parameters={"box": list(theirs)},
    )
    found = overlaps({"box": list(mine)}, Fraction(1, 2), [earlier])
    return tuple((one.area, one.nested, one.between) for one in found)


def test_what_boxes_share_is_found_on_both_sides() -> None:
    fiji = ("-20", "177", "-15", "-178")
    east, west = ("-20", "-180", "-15", "-178"), ("-20", "170", "-15", "179")
    assert share(fiji, fiji) == ((1, True, 0),)
    assert share(fiji, east) == ((Fraction(2, 5), True, Fraction(3, 5)),)
    assert share(east, fiji) == ((1, True, Fraction(3, 5)),)
    assert share(fiji, west) == ((Fraction(2, 5), False, None),)
    assert share(fiji, ("-20", "-180", "-15", "180")) == ((1, True, Fraction(71, 72)),)
    assert share(fiji, ("-20", "-178", "-15", "-170")) == ()
    assert share(fiji, ("-20", "10", "-15", "20")) == ()
