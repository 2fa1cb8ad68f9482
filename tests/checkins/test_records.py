"""JSON, GPX and KML are read as such, never as CSV, or rejected."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer import checkins
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Mapping, Reason

ROWS: list[dict[str, Any]] = [
    {
        "who": {"user": f"u{i % 4}"},
        "time": f"2024-05-01T00:{i:02}:00Z",
        "lat": 48.2 + i / 1000,
        "lon": 16.3,
        "tags": ["a", i],
    }
    for i in range(40)
]
LINES = [json.dumps(row) for row in ROWS]
TAKEOUT = {
    "locations": [
        {
            "latitudeE7": -482000001 - i,
            "longitudeE7": 1630000000,
            "accuracy": 12,
            "timestamp": f"2024-05-01T00:{i:02}:00Z",
            "activity": [{"type": "STILL"}],
        }
        for i in range(5)
    ]
}
POINTS = "".join(
    f'<trkpt lat="{48.2 + i / 1000}" lon="16.3"><time>2024-05-01T00:{i:02}:00Z</time></trkpt>'
    for i in range(5)
)
GPX = f"""<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><trk>
<name>Run</name><trkseg>{POINTS}</trkseg></trk><wpt lat="48" lon="16"><name>W</name></wpt></gpx>"""
KML = """<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="x"><Document>
<Placemark><name>A</name><ExtendedData><Data name="user"><value>u1</value></Data></ExtendedData>
<TimeStamp><when>2024-05-01T00:01:00Z</when></TimeStamp>
<Point><coordinates>16.3, 48.2, 0</coordinates></Point></Placemark>
<Placemark><name>B</name><gx:Track><when>2024-05-01T00:02:00Z</when>
<when>2024-05-01T00:03:00Z</when><gx:coord>16.3 48.3 1</gx:coord><gx:coord>16.4 48.4 2</gx:coord>
</gx:Track></Placemark><Placemark><name>C</name></Placemark></Document></kml>"""

READ = {
    "array": (json.dumps(ROWS), ("who.user", "time", "lat", "lon", "tags"), 40),
    "indented": (json.dumps(ROWS, indent=2), ("who.user", "time", "lat", "lon", "tags"), 40),
    "lines": ("\n".join(LINES), ("who.user", "time", "lat", "lon", "tags"), 40),
    "takeout": (json.dumps(TAKEOUT), ("latitude", "longitude", "accuracy", "timestamp"), 5),
    "gpx": (GPX, ("time", "latitude", "longitude", "track", "segment", "name"), 6),
    "kml": (KML, ("time", "latitude", "longitude", "altitude", "name", "user"), 3),
}
REFUSED = {
    "timeline": (json.dumps({"semanticSegments": []}), "timeline"),
    "rows inside": (json.dumps({"data": ROWS}), "JSON"),
    "rows further inside": (json.dumps({"ttl": 60, "data": {"bikes": ROWS}}), "JSON"),
    "columns": (json.dumps({"lat": {"0": 48.1, "1": 48.2}, "lon": {"0": 16, "1": 16}}), "JSON"),
    "arrays": ("[[48.1, 16.2], [48.2, 16.3]]", "JSON"),
    "one object": ('{"a": 1,\n "b": 2}', "JSON"),
    "cut off": (json.dumps(ROWS)[:-30], "damaged"),
    "entities": ('<!DOCTYPE gpx [<!ENTITY a "b">]><gpx><wpt lat="1" lon="2"/></gpx>', "entities"),
    "cut off XML": (GPX[:-30], "damaged"),
    "other XML": ("<?xml version='1.0'?><TrainingCenterDatabase/>", "XML"),
    "page": ("<!DOCTYPE html>\n<html><p>a,b,c</p></html>", "HTML"),
}


def mapping_of(columns: tuple[str, ...], user: str) -> Mapping:
    place = {name: i for i, name in enumerate(columns)}
    lat, lon = (next(i for n, i in place.items() if n.startswith(key)) for key in ("lat", "lon"))
    time = next(i for n, i in place.items() if n.startswith("time"))
    return Mapping(user=place[user], time=time, lat=lat, lon=lon)


@pytest.mark.parametrize("case", READ)
def test_read_whatever_the_file_is_called(case: str, write: Callable[..., Path]) -> None:
    text, columns, rows = READ[case]
    path = write(text, "checkins.txt")
    preview = checkins.sniff(path)
    assert preview.columns == columns
    user = {
        "array": "who.user",
        "indented": "who.user",
        "lines": "who.user",
        "kml": "name",
        "gpx": "longitude",
        "takeout": "longitude",
    }[case]
    mapping = mapping_of(columns, user)
    with checkins.open_checkins(path, mapping, cache_dir=None) as data:
        report = data.report
        # a waypoint without a time, and a placemark without a place
        rejected = {"gpx": {Reason.BLANK_FIELD: 1}, "kml": {Reason.NO_GEOMETRY: 1}}.get(case, {})
        assert report.rejected == rejected
        assert report.kept == rows - (case == "gpx")
        assert data.first_time[:10] == "2024-05-01"
        if case == "takeout":
            assert data.extent[:2] == (-48.2000005, 163.0)


def test_a_line_that_is_no_object_is_a_rejected_row(write: Callable[..., Path]) -> None:
    path = write("\n".join([*LINES[:20], "", "{broken", "[1]", *LINES[20:]]), "a.jsonl")
    mapping = mapping_of(checkins.sniff(path).columns, "who.user")
    with checkins.open_checkins(path, mapping, cache_dir=None) as data:
        report = data.report
        assert (report.kept, report.blank, report.physical_lines) == (40, 1, 43)
        assert report.rejected == {Reason.NOT_A_RECORD: 2}
        assert [one.line for one in report.examples[Reason.NOT_A_RECORD]] == [22, 23]


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, write: Callable[..., Path]) -> None:
    text, words = REFUSED[case]
    path = write(text, "a.csv")

    def read() -> None:
        mapping = replace(checkins.sniff(path).mapping, user=0)
        checkins.open_checkins(path, mapping, cache_dir=None)

    with pytest.raises(CheckinError, match=words):
        read()


def test_packed_records_are_not_read_as_text(write: Callable[..., Path]) -> None:
    path = write(gzip.compress(json.dumps(ROWS).encode()), "rows.json.gz")
    with pytest.raises(CheckinError, match="JSON"):
        checkins.sniff(path)


@pytest.mark.parametrize(
    ("place", "order"),
    [
        (lambda lat, lon: [lon, lat], "lonlat"),
        (lambda lat, lon: {"type": "Point", "coordinates": [str(lat), str(lon)]}, "latlon"),
        (lambda lat, lon: {"candidate": {"place": f"geo:{lat},{lon}"}}, "latlon"),
    ],
)
def test_positions_in_one_value_can_be_chosen(write: Callable[..., Path], place, order) -> None:
    rows = [{"user": f"u{i % 9}", "where": place(48 + i / 1000, 16.5)} for i in range(1, 61)]
    path = write(json.dumps(rows), "rows.json")
    question = checkins.sniff(path).question("position")
    answers = [dict(one.fields) for one in question.candidates]
    assert [answer["order"] for answer in answers] == ["latlon", "lonlat"]
    answer = answers[order == "lonlat"]
    with checkins.open_checkins(path, Mapping(user=0, **answer), cache_dir=None) as data:
        assert (data.rows, data.extent) == (60, (48.001, 16.5, 48.06, 16.5))
