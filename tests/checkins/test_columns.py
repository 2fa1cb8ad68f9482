"""Which columns are assigned to roles, and which lead to questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.checkins import Mapping, MappingNeeded, open_checkins, sniff
from explorer.checkins.parsing.ambiguities import NO_USER, remaining_questions
from explorer.checkins.parsing.column_names import Sure, identity_of
from explorer.checkins.parsing.numbers import point_in
from tests.headers import score

Write = Callable[..., Path]
CORPUS = Path(__file__).parents[1] / "data" / "headers.json"
HOURS = [f"2024-05-{1 + i % 28:02d}T{i % 24:02d}:30:00Z" for i in range(60)]


def table(header: str, row: Callable[[int], str], rows: int = 60) -> str:
    return "\n".join([*([header] if header else []), *map(row, range(rows))]) + "\n"


def keys(path: Path) -> list[str]:
    return [question.key for question in sniff(path).questions]


@pytest.mark.full
def test_no_header_line_of_the_corpus_is_silently_wrong(tmp_path: Path) -> None:
    entries = json.loads(CORPUS.read_text(encoding="utf-8"))
    found = score(entries, tmp_path)
    assert found.wrong == []
    assert len(found.needless) <= 0.05 * found.plain


NAMES = (
    "user_id userId USERID uid screen_name user.screen_name individual-local-identifier recordedBy "
    "Athlete Taxi_ID device_id user_nsid IMEI advertiser_id VehicleNum key.userId CUSTOMER_KEY "
    "Kundennummer iddeusuario num_carte klantnummer id_utente MMSI icao24 order.customer.id"
)


def test_names_of_persons_and_devices() -> None:
    assert [one for one in NAMES.split() if identity_of(one).sure is not Sure.YES] == []


def test_qualifiers_and_records_are_no_persons() -> None:
    names = (
        "member_casual user_agent device_type usertype deviceModel passenger_count users "
        "number_of_vehicles NUMBER_OF_PERSONS patientAge vehicle_class user_timezone trip_id "
        "hash_id row_hash OBJECTID tweet_id gbifID VendorID station_id individual.taxon.name "
        "Type.of.user tipo_usuario Kundengruppe Fahrzeugtyp membership ownership id name altitude"
    )
    assert [one for one in names.split() if identity_of(one).sure is Sure.YES] == []


@pytest.mark.parametrize(
    ("user", "rows", "asked"),
    [
        (lambda i: f"u{i % 11}", 1000, False),
        (lambda i: f"u{i % 10}", 1000, True),
        (lambda i: f"u{i % 4}", 40, False),
        (lambda i: f"u{i}", 40, True),
        (lambda i: str(i % 2), 40, True),
        (lambda i: ("bus", "tram")[i % 2], 40, True),
    ],
)
def test_few_values_and_one_per_row_are_asked_about(
    write: Write, user: Callable[[int], str], rows: int, asked: bool
) -> None:
    text = table(
        "device,lat,lon", lambda i: f"{user(i)},48.{100 + i % 800},16.{100 + i % 700}", rows
    )
    preview = sniff(write(text, "few.csv"))
    assert (preview.question("user") is not None) == asked
    assert preview.suggested.user == 0
    assert preview.mapping.user == (None if asked else 0)


def snap(i: int, time: str = "", sign: str = "\t", fields: int = 5) -> str:
    cells = [str(i % 7), time or HOURS[i], f"48.{100 + i}", f"16.{100 + i}", f"a{i % 9}"]
    return sign.join(cells[:fields])


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        (snap, False),
        (lambda i: snap(i, "2024-05-01T10:00:00+02:00"), False),
        (lambda i: snap(i, "2024-05-01 10:00:00"), True),
        (lambda i: snap(i, sign=","), True),
        (lambda i: snap(i, fields=4), True),
        (lambda i: f"{snap(i, fields=4)}\t{i}.5", True),
        (lambda i: f"{snap(i)}\t1", True),
    ],
)
def test_only_the_layout_of_snap_needs_no_header(
    write: Write, row: Callable[[int], str], asked: bool
) -> None:
    preview = sniff(write(table("", row), "snap.txt"))
    assert bool({"user", "position"} & {one.key for one in preview.questions}) == asked
    if not asked:
        assert preview.mapping == Mapping(0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("header", "row", "open_ones"),
    [
        ("user,lat,lon", "{u},84.2{i},16.4{i}", []),  # nobody lives there, but the names say so
        ("user,location-long,location-lat", "{u},-23.8{i},59.0{i}", []),
        ("user,lat,lon", "{u},139.6{i},35.6{i}", ["position"]),  # beyond the poles
        ("user,x_lon,y_lat,z", "{u},143.4{i},-34.7{i},61.2{i}", []),
        ("user,lng_wgs84,lat_wgs84,speed", "{u},139.8{i},35.7{i},12.1{i}", []),
        ("user,a_lat,a_lon,b_lat,b_lon", "{u},48.1{i},16.2{i},48.3{i},16.4{i}", ["position"]),
        ("user,lat,east", "{u},48.1{i},16.2{i}", ["position"]),
        ("user,north,east", "{u},48.1{i},16.2{i}", ["position"]),
        ("user,lat,lon,x,y", "{u},48.1{i},16.2{i},60012{i}.5,534012{i}.5", []),
        ("user,lat,lon,when,till", "{u},48.1{i},16.2{i},{t},{t}", ["time"]),
        ("user,lat_rad,lon_rad", "{u},0.84{i},0.28{i}", ["position"]),
        ("user,lat,lon,time,tz", "{u},48.1{i},16.2{i},2024-05-01 10:00,Europe/Vienna", ["time"]),
        ("user,lat,lon,time,utc_offset", "{u},48.1{i},16.2{i},2024-05-01 10:00,-05:00", ["time"]),
        ("user,lat,lon,time,time_zone", "{u},48.1{i},16.2{i},2024-05-01 10:00,UTC", []),
        ("user,lat,lon,utc_time,tz", "{u},48.1{i},16.2{i},2024-05-01 10:00,Europe/Vienna", []),
        ("user,lat,lon,time,timezone", "{u},48.1{i},16.2{i},{t},Europe/Vienna", []),
        ("user,lat,lon,count", "{u},48.1{i},16.2{i},{i}", []),
        ("user,lat,lon,n", "{u},48.1{i},16.2{i},", []),
        ("user,lat,lon,E,N", "{u},48.1{i},16.2{i},2600{i},1200{i}", ["weight"]),
        ("user,lat,lon,num", "{u},48.1{i},16.2{i},{i}", ["weight"]),
        ("user,lat,lon,freq", "{u},48.1{i},16.2{i},868.{i}", ["weight"]),
    ],
)
def test_positions_and_times_by_parts_of_names(
    write: Write, header: str, row: str, open_ones: list[str]
) -> None:
    text = table(header, lambda i: row.format(u=i % 9, i=100 + i, t=HOURS[i]))
    assert keys(write(text, "where.csv")) == open_ones


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("POINT (16.3 48.2)", (16.3, 48.2)),
        ("SRID=4326;point z(16.3 48.2 120)", (16.3, 48.2)),
        ("(48.2, 16.3)", (48.2, 16.3)),
        ("[-16.3,48.2]", (-16.3, 48.2)),
        ("48.2°, -16.3°", (48.2, -16.3)),
        ("48.2", None),
        ("LINESTRING (1 2, 3 4)", None),
        ("[[1,2],[3,4]]", None),
        ("2024-05-01 10:00", None),
        ("(48.2, 16.3" + " " * 100 + "1", None),
    ],
)
def test_both_coordinates_of_a_field(text: str, pair: tuple[float, float] | None) -> None:
    assert point_in(text) == pair


@pytest.mark.full
@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("order", ["latlon", "lonlat"])
def test_one_column_with_both_coordinates_is_read_in_the_order_that_is_said(
    write: Write, tmp_path: Path, kind: str, order: str
) -> None:
    rows = [(f"u{i % 7}", f"({48 + i / 100:.2f}, {16 + i / 50:.2f})") for i in range(60)]
    rows[5] = ("u5", "(48.2; north)")
    path = tmp_path / f"points.{kind}"
    if kind == "csv":
        write("user;position;n\n" + "".join(f"{u};{p};\n" for u, p in rows), path.name)
        path = tmp_path / path.name
    elif kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {"user": [u for u, _ in rows], "position": [p for _, p in rows]}
        pq.write_table(pa.table(columns), path)
    else:
        book = pytest.importorskip("openpyxl").Workbook()
        for row in (("user", "position", "note"), *((*row, "a") for row in rows)):
            book.active.append(row)
        book.save(path)
    preview = sniff(path)
    (question,) = preview.questions
    assert {dict(one.fields)["order"] for one in question.candidates} == {"latlon", "lonlat"}
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=None)
    mapping = Mapping(user=0, lat=1, lon=1, order=order)
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert data.rows == 59
        assert data.report.total_rejected == 1
        first, second = (48.0, 48.59), (16.0, 17.18)
        lat, lon = (first, second) if order == "latlon" else (second, first)
        assert data.extent == pytest.approx((lat[0], lon[0], lat[1], lon[1]))


def test_answers_leave_the_other_questions_open(write: Write) -> None:
    text = table(
        "ride,a_lat,a_lon,b_lat,b_lon,on",
        lambda i: f"{i},48.1{i},16.2{i},48.3{i},16.4{i},03/04/2024 10:00",
    )
    preview = sniff(write(text, "rides.csv"))
    assert [one.key for one in preview.questions] == ["user", "position", "time_format"]
    mapping = Mapping(user=0, lat=None, lon=None, time=5)
    after = remaining_questions(preview, mapping, {"user"})
    assert [one.key for one in after] == ["position", "time_format"]
    after = remaining_questions(preview, mapping, {"user", "lat", "time_format"})
    assert [one.key for one in after] == ["position"]
    assert remaining_questions(preview, mapping, {"user", "lat", "lon", "time_format"}) == ()


def test_a_moment_beside_its_own_date_is_taken(write: Write) -> None:
    def row(i: int, day: str = "") -> str:
        return f"{i % 9},{HOURS[i]},{day or HOURS[i][:10]},{HOURS[i][11:19]},48.1{i},16.2{i}"

    header = "user,stamp,utc_date,utc_time,lat,lon"
    assert sniff(write(table(header, row), "same.csv")).mapping.time == 1
    assert keys(write(table(header, lambda i: row(i, "2019-01-01")), "other.csv")) == ["time"]


def test_a_device_beside_its_owner_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "kits.csv"
    path.write_text(
        table(
            "device_id,owner_username,recorded_at,latitude,longitude",
            lambda i: f"{41300 + i % 15},leo{i % 15},{HOURS[i]},41.{40 + i % 9}1,2.1{i % 9}5",
        ),
        encoding="utf-8",
    )
    (question,) = sniff(path).questions
    named = [dict(candidate.fields)["user"] for candidate in question.candidates[:2]]
    assert (question.key, named) == ("user", [0, 1])


def user_candidates(write: Write, header: str, row: Callable[[int], str]) -> set[str]:
    text = "\n".join([header, *map(row, range(60)), ""])
    question = sniff(write(text, "rides.csv")).question("user")
    assert question is not None
    return {one.text for one in question.candidates if "user" in dict(one.fields)} - NOBODY


NOBODY = {one.text for one in NO_USER}


def test_places_counts_and_sources_are_no_candidates_for_a_person(write: Write) -> None:
    assert user_candidates(
        write,
        "ride_id,started_at,start_station_name,start_station_id,end_station_id,start_lat,start_lng,"
        "member_casual,passenger_count,source,wind_speed,xyz",
        lambda i: (
            f"r{i},2024-05-01 08:{i:02}:00,Stop {i % 9},S{i % 9},S{i % 7},48.{100 + i},"
            f"16.{200 + i},{'member' if i % 2 else 'casual'},{i % 5},src{i % 6},{i % 8},a{i % 9}"
        ),
    ) == {"xyz"}
    assert (
        user_candidates(
            write,
            "timestamp,latitude,longitude,accuracy,source,formFactor",
            lambda i: (
                f"2024-05-01T08:{i:02}:00Z,48.{100 + i},16.{200 + i},{i % 30},"
                f"{('WIFI', 'GPS', 'CELL')[i % 3]},PHONE"
            ),
        )
        == set()
    )


@pytest.mark.parametrize(("answer", "weights"), [(4, True), (None, False)])
def test_a_weight_of_an_unclear_name_is_read_as_it_is_answered(
    write: Write, answer: int | None, weights: bool
) -> None:
    path = write(table("user,lat,lon,x,n", lambda i: f"{i % 9},48.1{i},16.2{i},a,{1 + i}"), "n.csv")
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=None)
    question = sniff(path).question("weight")
    assert [one.fields for one in question.candidates] == [(("weight", 4),), (("weight", None),)]
    with open_checkins(path, Mapping(0, None, 1, 2, weight=answer), cache_dir=None) as data:
        assert (data.rows, data.has_weights) == (60, weights)
