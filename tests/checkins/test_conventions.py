"""Tables as people write them: decimal commas, time zones, dates of every order, foreign names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from explorer.checkins import CheckinError, Mapping, MappingNeeded, Reason, open_checkins, sniff
from explorer.checkins.database import parquet_table
from explorer.checkins.readers.cells.column_names import NAMES, key, language_of
from explorer.checkins.readers.cells.faults import bad_cells
from explorer.checkins.readers.cells.times import (
    EPOCHS,
    OFFERED,
    example_of,
    format_of_example,
    formats_of,
    meaning_of,
    reads_time,
    time_formats,
)
from explorer.checkins.readers.cells.zones import zone_name
from explorer.checkins.readers.sql import time_expression

Write = Callable[..., Path]

HEADERS = {
    "English": ("user", "time", "latitude", "longitude"),
    "German": ("Kunde", "Zeitpunkt", "Breite [°]", "Länge [°]"),
    "German, capitals": ("NUTZER-ID", "DATUM", "BREITENGRAD", "LAENGENGRAD"),
    "Spanish": ("ID usuario", "Fecha y hora", "Latitud", "Longitud"),
    "Spanish, hour": ("usuario", "hora", "latitud", "longitud"),
    "French": ("Utilisateur", "Heure", "Latitude (°)", "Longitude (°)"),
    "French, letters": ("UTILISATEUR", "Date et heure", "LATITUDE", "LONGITUDE"),
    "Italian": ("Utente", "Data", "Latitudine", "Longitudine"),
    "Portuguese": ("Usuário", "Data e hora", "Latitude", "Longitude"),
    "Dutch": ("Gebruiker", "Tijdstip", "Breedtegraad", "Lengtegraad"),
}
DATES = ("%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S",
         "%Y-%m-%dT%H:%M:%S", "%d-%m-%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%d %b %Y %H:%M:%S",
         "%Y/%m/%d %H:%M:%S", "%d.%m.%Y, %H:%M:%S", "%d.%m.%y %H.%M.%S")  # fmt: skip


def rows_of(data) -> list[tuple]:
    """What was kept: user, seconds since 1970, latitude, longitude; in the order of the file."""
    users = parquet_table(data._entry.file("users.parquet"))
    return data._fetchall(
        f"SELECT u.name, epoch_us(r.time) // 1000000, r.lat, r.lon FROM {data._rows} r "
        f"JOIN {users} u USING (user_id) ORDER BY r.file_row_number",
        [],
    )


def frame(seed: int, rows: int = 40) -> pd.DataFrame:
    """Check-ins near Vienna, from the first to the last of a month, so that days tell months."""
    rng = np.random.default_rng(seed)
    days = pd.to_datetime("2024-05-01") + pd.to_timedelta(np.arange(rows) % 31, "D")
    seconds = pd.to_timedelta(rng.integers(0, 86_400, rows), "s")
    return pd.DataFrame({
        "user": [f"K-{n}" for n in rng.integers(0, 9, rows)],
        "time": (days + seconds).tz_localize("UTC"),
        "lat": rng.uniform(48.1, 48.3, rows).round(5),
        "lon": rng.uniform(16.2, 16.5, rows).round(5),
    })  # fmt: skip


def expected(table: pd.DataFrame) -> list[tuple]:
    seconds = table["time"].map(lambda moment: int(moment.timestamp()))
    return list(zip(table["user"], seconds, table["lat"], table["lon"], strict=True))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    separator=st.sampled_from([";", "\t", ",", "|"]),
    decimal=st.sampled_from([".", ","]),
    form=st.sampled_from(DATES),
    names=st.sampled_from(sorted(HEADERS)),
    zone=st.sampled_from([None, "Europe/Vienna", "America/New_York", "Asia/Kolkata"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)
def test_a_table_in_any_convention_has_the_same_rows(
    tmp_path, seed, separator, decimal, form, names, zone, encoding
) -> None:
    table = frame(seed)
    written = table.copy()
    written["time"] = table["time"].dt.tz_convert(zone or "UTC").dt.strftime(form)
    written.columns = list(HEADERS[names])
    path = tmp_path / "table.csv"
    # pandas puts quotes around numbers in which the separator stands
    written.to_csv(path, sep=separator, decimal=decimal, index=False, encoding=encoding)
    preview = sniff(path)
    assert preview.dialect.decimal == decimal
    assert preview.questions == ()
    assert preview.confidence == 1
    mapping = replace(preview.mapping, zone=zone)
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert rows_of(data) == expected(table)


@pytest.mark.parametrize("unit", EPOCHS)
@pytest.mark.parametrize("decimal", [".", ","])
def test_seconds_and_milliseconds_since_1970(tmp_path, unit: str, decimal: str) -> None:
    table = frame(1)
    written = table.copy()
    written["time"] = [int(t.timestamp() * EPOCHS[unit][0]) for t in table["time"]]
    written.to_csv(tmp_path / "epoch.csv", sep=";", decimal=decimal, index=False)
    with open_checkins(tmp_path / "epoch.csv", cache_dir=None) as data:
        assert data.mapping.time_format == unit
        assert rows_of(data) == expected(table)
    zoned = replace(sniff(tmp_path / "epoch.csv").mapping, zone="Asia/Tokyo")
    with open_checkins(tmp_path / "epoch.csv", zoned, cache_dir=None) as data:
        assert rows_of(data) == expected(table)  # such times need no zone


@pytest.mark.parametrize("language", ["German", "Spanish", "French", "Italian", "Portuguese",
                                      "Dutch"])  # fmt: skip
def test_every_name_of_a_language_is_known(language: str) -> None:
    names = [word for said in NAMES.values() for word in said[language].split()]
    assert all(key(name) == name for name in names)
    assert language_of(names) == language


@pytest.mark.parametrize("names", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_foreign_headers(write: Write, names: tuple[str, ...], mark: str) -> None:
    body = [f"u{i};2024-05-{1 + i % 28:02d} 10:00;48,{100 + i};16,{300 + i}" for i in range(30)]
    mapping = sniff(write("\n".join([mark + ";".join(names), *body]), "t.csv")).mapping
    assert (mapping.user, mapping.time, mapping.lat, mapping.lon) == (0, 1, 2, 3)


def test_words_of_other_languages_are_no_names_in_an_english_file(write: Write) -> None:
    """“data” is a date to an Italian, “local” a place to a Brazilian."""
    body = [f"u{i},x{i},y,2024-05-{1 + i % 28:02d},48.{100 + i},16.{300 + i}" for i in range(30)]
    path = write("\n".join(["user,data,local,stamp,lat,lon", *body]), "t.csv")
    mapping = sniff(path).mapping
    assert (mapping.time, mapping.location) == (3, None)


# Decimal marks


@pytest.mark.parametrize(
    "text", ["1.234,5", "48.208.174", "1,234.5", "48'208", "48 208,1", "1’234"]
)
def test_separators_of_thousands_are_refused_with_a_remedy(write: Write, text: str) -> None:
    for decimal in ".,":
        body = [f"u{i};48{decimal}{100 + i};16{decimal}{300 + i}" for i in range(30)]
        path = write("\n".join(["user;lat;lon", *body, f"u1;{text};16{decimal}5"]), "t.csv")
        with open_checkins(path, cache_dir=None) as data:
            assert data.rows == 30
            (reason,) = data.report.set_aside
        assert reason is Reason.THOUSANDS
        assert "without them" in reason.sentence
        fault = bad_cells(("u1", text, f"16{decimal}5"), Mapping(0, None, 1, 2), decimal)[1]
        assert fault.remedy


def test_a_file_of_thousands_is_refused_as_a_whole(write: Write) -> None:
    body = [f"u{i};48.{208 + i}.174;16.{373 + i}.819" for i in range(30)]
    path = write("\n".join(["user;lat;lon", *body]), "spreadsheet.csv")
    with pytest.raises(MappingNeeded, match="separators of thousands: write it without them"):
        open_checkins(path, cache_dir=None)


def test_commas_in_and_between_numbers_are_asked_about(write: Write) -> None:
    """Read as they stand, the digits behind the comma would be the longitude."""
    body = [f"u{i},2024-05-{1 + i % 28:02d},48,{10 + i},2,{30 + i}" for i in range(30)]
    path = write("\n".join(["user,time,lat,lon", *body]), "paris.csv")
    with pytest.raises(MappingNeeded, match="semicolons or with quotes"):
        open_checkins(path, cache_dir=None)


def test_the_decimal_mark_can_be_chosen(write: Write, tmp_path: Path) -> None:
    """Few fractions: the file has more of the other sign in a column that is not used."""
    body = [f"u{i};{48 + i % 2};16,{300 + i};1.5;2.5" for i in range(30)]
    path = write("\n".join(["user;lat;lon;a;b", *body]), "t.csv")
    assert sniff(path).dialect.decimal == "."
    chosen = sniff(path, decimal=",")
    assert chosen.confidence == 1
    mapping = replace(chosen.mapping, decimal=",")
    cache = tmp_path / "cache"
    with open_checkins(path, mapping, cache_dir=cache) as data:
        assert data.rows == 30
        assert data.mapping.stored()["decimal"] == ","
    with open_checkins(path, Mapping(0, None, 1, 3), cache_dir=cache) as data:
        assert data.extent[3] == 1.5


# Dates


@pytest.mark.parametrize("form", [f for f in OFFERED if f != "iso" and f not in EPOCHS])
def test_an_example_stands_for_its_format(form: str) -> None:
    assert format_of_example(example_of(form)) == form
    assert "%" not in meaning_of(form)


@settings(max_examples=60)
@given(
    moment=st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)),
    form=st.sampled_from([*DATES, *(f for f in OFFERED if "%" in f)]),
)
def test_both_readers_of_times_agree(moment: datetime, form: str) -> None:
    """What the preview shows as read is what the database reads."""
    text = moment.replace(tzinfo=UTC).strftime(form)
    found = formats_of(text)
    assert form in found or form.startswith(("%Y-%m", "%Y/%m"))
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for one in found:
            read = con.execute(f"SELECT epoch_us({time_expression('?', one)})", [text]).fetchone()
            python = datetime.strptime(text, one)
            python = python.replace(tzinfo=python.tzinfo or UTC)
            assert read == (round(python.timestamp()) * 1_000_000,)


@pytest.mark.parametrize("text", ["2010-02-31", "2010-02-31T10:00:00Z", "31.02.2010 10:00"])
def test_dates_that_there_are_not(text: str) -> None:
    assert not any(reads_time(text, form) for form in OFFERED)


@settings(max_examples=60)
@given(
    year=st.sampled_from(["2010", "1900", "2024"]),
    sign=st.sampled_from(["--", "//", "-/"]),
    month=st.sampled_from(["1", "02", "12", "13", "00"]),
    day=st.sampled_from(["1", "09", "29", "30", "31", "32"]),
    clock=st.sampled_from(["", "T7:05", " 23:59:59.25", " 24:00:00", " 24:00:01", "T25:00",
                           " 23:60", "T23:59:60"]),
    offset=st.sampled_from(["", "Z", " UTC", "+02:00", "-0430", "+02", " +0200", " +02:00"]),
)  # fmt: skip
def test_iso_times_are_told_as_the_database_does(year, sign, month, day, clock, offset) -> None:
    text = f"{year}{sign[0]}{month}{sign[1]}{day}{clock}{offset if clock else ''}"
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        (read,) = con.execute(f"SELECT epoch_us({time_expression('?', 'iso')})", [text]).fetchone()
    assert reads_time(text, "iso") == (read is not None)


def test_an_offset_behind_a_blank_is_read(write: Write) -> None:
    path = dates(write, "2024-05-01 12:00:00 +0200")
    with open_checkins(path, cache_dir=None) as data:
        assert data.first_time == "2024-05-01T10:00:00Z"


def dates(write: Write, *days: str) -> Path:
    body = [f"u{i},{days[i % len(days)]},48.{100 + i},16.{300 + i}" for i in range(60)]
    return write("\n".join(["user,time,lat,lon", *body]), "dates.csv")


def test_the_order_of_day_and_month_is_told_from_the_data(write: Write) -> None:
    for day, form in (
        ("13/02/2024 10:00", "%d/%m/%Y %H:%M"),
        ("02/13/2024 10:00", "%m/%d/%Y %H:%M"),
    ):
        preview = sniff(dates(write, *["03/04/2024 10:00"] * 50, day))
        assert preview.mapping.time_format == form
        assert preview.questions == ()


def test_it_is_asked_where_the_data_do_not_tell(write: Write) -> None:
    path = dates(write, "03/04/2024 10:00", "05/06/2024 11:00")
    preview = sniff(path)
    asked = preview.question("time_format")
    assert asked is not None
    forms = ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
    assert [one.fields for one in asked.candidates] == [(("time_format", f),) for f in forms]
    assert "day/month/year hour:minute or month/day/year" in asked.text
    with pytest.raises(MappingNeeded, match="say how dates are written"):
        open_checkins(path, cache_dir=None)
    for form, first in (("%d/%m/%Y %H:%M", "2024-04-03"), ("%m/%d/%Y %H:%M", "2024-03-04")):
        with open_checkins(
            path, replace(preview.mapping, time_format=form), cache_dir=None
        ) as data:
            assert (data.first_time or "")[:10] == first


def test_dots_are_never_american() -> None:
    assert time_formats(["03.04.2024 10:00"] * 3) == ("%d.%m.%Y %H:%M",)


@pytest.mark.parametrize("text", ["yesterday", "03/04/2024", "48.2", ""])
def test_an_example_that_tells_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="give an example"):
        format_of_example(text)


def test_a_time_of_day_in_a_column_of_its_own_is_asked_about(write: Write) -> None:
    body = [f"u{i};{1 + i % 28:02d}.05.2024;10:{i % 60:02d};48,{100 + i};16,{300 + i}"
            for i in range(60)]  # fmt: skip
    path = write("\n".join(["Nutzer;Datum;Uhrzeit;Breite;Länge", *body]), "two.csv")
    with pytest.raises(MappingNeeded, match="“Uhrzeit”, which is not read"):
        open_checkins(path, cache_dir=None)


# Time zones


def instants(texts: list[str], form: str, zone: str) -> list[int]:
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        sql = (
            f"SELECT epoch_us({time_expression('t', form, '.', zone)}) FROM (SELECT unnest(?) AS t)"
        )
        return [n // 1_000_000 for (n,) in con.execute(sql, [texts]).fetchall()]


@settings(max_examples=50)
@given(
    moment=st.datetimes(datetime(1975, 1, 1), datetime(2035, 1, 1)),
    zone=st.sampled_from(
        ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"]
    ),
    form=st.sampled_from(["%d.%m.%Y %H:%M:%S", "iso"]),
)
def test_times_of_a_zone(moment: datetime, zone: str, form: str) -> None:
    """Outside of the hours at a change, there is only one instant."""
    moment = moment.replace(microsecond=0)
    there = ZoneInfo(zone)
    early, late = (moment.replace(tzinfo=there, fold=fold).timestamp() for fold in (0, 1))
    text = moment.strftime("%Y-%m-%d %H:%M:%S" if form == "iso" else form)
    (found,) = instants([text], form, zone)
    # twice: the later one; skipped: by the offset before, which fold 0 is; max is both
    assert found == max(early, late)


@pytest.mark.parametrize("form", ["iso", "%d.%m.%Y %H:%M"])
def test_the_hour_that_is_skipped_or_repeated(form: str) -> None:
    """The stated rule: the later of two; a skipped one as if the clock were not yet put forward."""
    days = (datetime(2024, 3, 31, 0, 30), datetime(2024, 10, 27, 0, 30))
    wall = [day + timedelta(hours=h) for day in days for h in (1, 2, 3)]
    texts = [w.strftime("%Y-%m-%d %H:%M" if form == "iso" else form) for w in wall]
    utc = [(0, 30), (1, 30), (1, 30), (-1, 30), (1, 30), (2, 30)]
    assert instants(texts, form, "Europe/Vienna") == [
        int((w.replace(hour=0, minute=0, tzinfo=UTC) + timedelta(hours=h, minutes=m)).timestamp())
        for w, (h, m) in zip(wall, utc, strict=True)
    ]


def test_an_offset_in_the_value_goes_before_the_zone() -> None:
    same = ["2024-05-01T12:00:00+02:00", "2024-05-01 10:00:00Z", "2024-05-01 10:00 UTC",
            "2024-05-01 12:00", "2024-05-01 05:30-0430"]  # fmt: skip
    assert len(set(instants(same, "iso", "Europe/Vienna"))) == 1
    assert instants(["01.05.2024 12:00 +0200"], "%d.%m.%Y %H:%M %z", "Asia/Tokyo") == [1714557600]


def test_a_zone_is_another_way_to_read_a_file(write: Write, tmp_path: Path) -> None:
    """It is in the key of the cache, in what is stored, and said in the report."""
    path, cache = dates(write, "2024-05-01 12:00"), tmp_path / "cache"
    for zone, hour in ((None, 12), ("europe/vienna", 10), ("America/New York", 16), (None, 12)):
        mapping = replace(sniff(path).mapping, zone=zone)
        with open_checkins(path, mapping, cache_dir=cache) as data:
            assert data.first_time == f"2024-05-01T{hour:02d}:00:00Z"
            assert any("standard time" in note for note in data.report.notes) == (zone is not None)
    assert len([p for p in cache.iterdir() if p.is_dir()]) == 3
    assert zone_name("america/new york") == "America/New_York"


def test_a_zone_that_there_is_not(write: Write) -> None:
    path = dates(write, "2024-05-01 12:00")
    with pytest.raises(CheckinError, match="No time zone is called “Wien”"):
        open_checkins(path, replace(sniff(path).mapping, zone="Wien"), cache_dir=None)
    with pytest.raises(CheckinError, match="such as Europe/Vienna"):
        zone_name("Europe/Viena")


# Swapped coordinates


def places(write: Write, first: str, second: str, header: str = "user,lat,lon") -> Path:
    body = [f"u{i},{first.format(i=i)},{second.format(i=i)}" for i in range(100, 160)]
    return write("\n".join([*([header] if header else []), *body]), "places.csv")


@pytest.mark.parametrize(
    ("lon", "lat"), [("16.3{i}", "48.2{i}"), ("-74.0{i}", "40.7{i}"), ("139.6{i}", "35.6{i}")]
)
@pytest.mark.parametrize("header", ["user,lat,lon", "Nutzer,Breite,Länge", ""])
def test_swapped_coordinates_are_noticed(write: Write, lon: str, lat: str, header: str) -> None:
    path = places(write, lon, lat, header)
    with pytest.raises(MappingNeeded, match=r"swapped|No column is known to hold"):
        open_checkins(path, cache_dir=None)
    turned = replace(sniff(path).mapping, user=0, lat=2, lon=1)
    with open_checkins(path, turned, cache_dir=None) as data:
        assert data.rows == 60
    right = places(write, lat, lon, header)
    assert sniff(right).questions == ()


def test_ships_at_sea_are_not_swapped(write: Write) -> None:
    assert sniff(places(write, "-35.1{i}", "-15.3{i}")).questions == ()


# Real files


@pytest.mark.parametrize("name", ["gowalla-first-10000.csv", "gowalla-new-york.txt.gz",
                                  "foursquare-new-york.txt.gz"])  # fmt: skip
@pytest.mark.parametrize(
    ("separator", "decimal", "form", "zone", "header"),
    [
        (";", ",", "%d.%m.%Y %H:%M:%S", "Europe/Vienna", "German"),
        (",", ",", "%d/%m/%Y %H:%M:%S", None, "French"),
        ("\t", ",", "%m/%d/%Y %I:%M:%S %p", "America/New_York", "English"),
        ("|", ".", "%Y-%m-%dT%H:%M:%S%z", "Asia/Tokyo", "Portuguese"),
        (";", ",", "epoch_ms", None, "Dutch"),
    ],
)
def test_real_files_in_every_convention(
    real_checkins: Path, tmp_path: Path, name, separator, decimal, form, zone, header
) -> None:
    if not (real_checkins / name).exists():
        pytest.skip(f"{name} is not there")
    with open_checkins(real_checkins / name, cache_dir=None) as data:
        wanted = rows_of(data)[:3000]
    table = pd.DataFrame(wanted, columns=list(HEADERS[header]))
    time = table.columns[1]
    moments = pd.to_datetime(table[time], unit="s", utc=True)
    local = moments.dt.tz_convert(zone or "UTC")
    table[time] = table[time] * 1000 if form == "epoch_ms" else local.dt.strftime(form)
    # in the hour that is repeated the wall clock can't tell which: the rule takes the later one
    naive = local.dt.tz_localize(None)
    twice = naive.dt.tz_localize(zone or "UTC", ambiguous="NaT", nonexistent="raise").isna()
    if form != "epoch_ms" and "%z" not in form:
        table = table[~twice.to_numpy()]
        wanted = [row for row, drop in zip(wanted, twice, strict=True) if not drop]
    path = tmp_path / "real.csv"
    table.to_csv(path, sep=separator, decimal=decimal, index=False)
    mapping = replace(sniff(path).mapping, zone=zone)
    with open_checkins(path, mapping, cache_dir=None, detect_duplicates=False) as data:
        found = rows_of(data)
    assert len(found) == len(wanted)
    assert [(str(u), t, y, x) for u, t, y, x in found] == [
        (str(u), t, y, x) for u, t, y, x in wanted
    ]
