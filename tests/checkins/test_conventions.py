"""Local conventions: decimal commas, time zones, date orders, foreign column names."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from explorer.checkins import CheckinError, Mapping, MappingNeeded, Reason, open_checkins, sniff
from explorer.checkins.database import connect, parquet_table
from explorer.checkins.parsing.column_names import NAMES, key, language_of
from explorer.checkins.parsing.row_rules import bad_cells, text_source, typed_rows, with_instants
from explorer.checkins.parsing.times import (
    COUNTED,
    EPOCHS,
    OFFERED,
    example_of,
    format_of_example,
    meaning_of,
    moment,
    reads_time,
    time_formats,
    zone_name,
)

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
DATES = (
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%d-%m-%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%d %b %Y %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y, %H:%M:%S",
    "%d.%m.%y %H.%M.%S",
)


@cache
def database() -> duckdb.DuckDBPyConnection:
    """Return a connection for all questions: to open one takes longer than to answer them."""
    return connect()


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
    return pd.DataFrame(
        {
            "user": [f"K-{n}" for n in rng.integers(0, 9, rows)],
            "time": (days + seconds).tz_localize("UTC"),
            "lat": rng.uniform(48.1, 48.3, rows).round(5),
            "lon": rng.uniform(16.2, 16.5, rows).round(5),
        }
    )


def expected(table: pd.DataFrame) -> list[tuple]:
    seconds = table["time"].map(lambda moment: int(moment.timestamp()))
    return list(zip(table["user"], seconds, table["lat"], table["lon"], strict=True))


@pytest.mark.full
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.full
@pytest.mark.parametrize(("unit", "decimal"), list(zip(EPOCHS, ".,,.", strict=True)))
def test_seconds_and_milliseconds_since_1970(tmp_path, unit: str, decimal: str) -> None:
    table = frame(1)
    written = table.copy()
    written["time"] = [int(t.timestamp() * 1e6 / EPOCHS[unit].microseconds) for t in table["time"]]
    written.to_csv(tmp_path / "epoch.csv", sep=";", decimal=decimal, index=False)
    with open_checkins(tmp_path / "epoch.csv", cache_dir=None) as data:
        assert data.mapping.time_format == unit
        assert rows_of(data) == expected(table)
    zoned = replace(sniff(tmp_path / "epoch.csv").mapping, zone="Asia/Tokyo")
    with open_checkins(tmp_path / "epoch.csv", zoned, cache_dir=None) as data:
        assert rows_of(data) == expected(table)  # such times need no zone


@pytest.mark.parametrize(
    "language", ["German", "Spanish", "French", "Italian", "Portuguese", "Dutch"]
)
def test_every_name_of_a_language_is_known(language: str) -> None:
    names = [word for said in NAMES.values() for word in said[language].split()]
    assert all(key(name) == name for name in names)
    assert language_of(names) == language


@pytest.mark.parametrize("names", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_foreign_headers(write: Write, names: tuple[str, ...], mark: str) -> None:
    body = [f"u{i % 9};2024-05-{1 + i % 28:02d} 10:00;48,{100 + i};16,{300 + i}" for i in range(30)]
    mapping = sniff(write("\n".join([mark + ";".join(names), *body]), "t.csv")).mapping
    assert (mapping.user, mapping.time, mapping.lat, mapping.lon) == (0, 1, 2, 3)


def test_words_of_other_languages_are_no_names_in_an_english_file(write: Write) -> None:
    """“data” is a date to an Italian, “local” a place to a Brazilian."""
    body = [
        f"u{i % 9},x{i},y,2024-05-{1 + i % 28:02d},48.{100 + i},16.{300 + i}" for i in range(30)
    ]
    path = write("\n".join(["user,data,local,stamp,lat,lon", *body]), "t.csv")
    mapping = sniff(path).mapping
    assert (mapping.time, mapping.location) == (3, None)


# Decimal marks


@pytest.mark.full
def test_separators_of_thousands_are_refused_with_a_remedy(write: Write) -> None:
    texts = ["1.234,5", "48.208.174", "1,234.5", "48'208", "48 208,1", "1’234"]
    for decimal in ".,":
        body = [f"u{i % 9};48{decimal}{100 + i};16{decimal}{300 + i}" for i in range(30)]
        spoilt = [f"u1;{text};16{decimal}5" for text in texts]
        path = write("\n".join(["user;lat;lon", *body, *spoilt]), "t.csv")
        with open_checkins(path, cache_dir=None) as data:
            assert data.rows == 30
            assert data.report.rejected == {Reason.THOUSANDS: len(texts)}
        assert "without them" in Reason.THOUSANDS.sentence
        for text in texts:
            fault = bad_cells(("u1", text, f"16{decimal}5"), Mapping(0, None, 1, 2), decimal)[1]
            assert fault.remedy, text


def test_a_file_of_thousands_is_refused_as_a_whole(write: Write) -> None:
    body = [f"u{i % 9};48.{208 + i}.174;16.{373 + i}.819" for i in range(30)]
    path = write("\n".join(["user;lat;lon", *body]), "spreadsheet.csv")
    with pytest.raises(MappingNeeded, match="separators of thousands"):
        open_checkins(path, cache_dir=None)


def test_commas_in_and_between_numbers_are_asked_about(write: Write) -> None:
    """Read as they stand, the digits behind the comma would be the longitude."""
    body = [f"u{i % 9},2024-05-{1 + i % 28:02d},48,{10 + i},2,{30 + i}" for i in range(30)]
    path = write("\n".join(["user,time,lat,lon", *body]), "paris.csv")
    with pytest.raises(MappingNeeded, match=r"semicolons .* quotes"):
        open_checkins(path, cache_dir=None)


def test_the_decimal_mark_can_be_chosen(write: Write, tmp_path: Path) -> None:
    """Few fractions: the file has more of the other sign in a column that is not used."""
    body = [f"u{i % 9};{48 + i % 2};16,{300 + i};1.5;2.5" for i in range(30)]
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


TWO_DIGITS = ("%d.%m.%y %H:%M", "%m/%d/%y", "%d/%m/%y", "%y/%m/%d %H:%M", "%y-%m-%d", "%d-%m-%y")


@pytest.mark.parametrize(
    "form", [*(f for f in OFFERED if f != "iso" and f not in EPOCHS), *TWO_DIGITS]
)
def test_an_example_stands_for_its_format(form: str) -> None:
    assert format_of_example(example_of(form)) == form
    assert "%" not in meaning_of(form)


@pytest.mark.parametrize("text", ["2010-02-31", "2010-02-31T10:00:00Z", "31.02.2010 10:00"])
def test_dates_that_there_are_not(text: str) -> None:
    assert not any(reads_time(text, form) for form in OFFERED)


SPELLINGS = (
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
    "%d %B %Y %H:%M:%S.%f",
    "%Y%m%d",
    "%Y%m%d%H%M%S",
    "%d.%m.%y %H.%M.%S",
    "%Y.%m.%d %H:%M%z",
    "%b %d, %Y",
    "%d/%m/%YT%H:%MZ",
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%Y%m%dT%H%M%S%z",
    "%y/%m/%d %H:%M",
)
OFFSETS = (
    "Z",
    " Z",
    "z",
    "UTC",
    " UTC",
    "GMT",
    " GMT",
    "EST",
    " EST",
    " CET",
    " NZ",
    " Europe/Vienna",
    "+02:00",
    "-0430",
    "+02",
    "+2",
    " +0200",
    " +02:00",
    "UTC-07:00",
    " UTC-07:00",
    " GMT+2",
    "+14:00",
    "+14:30",
    "+15:00",
    "-12:00",
    "-13:00",
    "+25:00",
    "+05:75",
    "+0575",
    "+05:30:15",
    "\u221202:00",
    "+02:",
    " (UTC)",
    " AM",
    "PM",
)
OTHERS = (
    "",
    "epoch",
    "infinity",
    "now",
    "2024",
    "1.2.24",
    "1.2.5",
    "31.02.2024",
    "01.02.2024  07:05",
    "1 may 2024",
    "Feb 30, 2024",
    "12/31/2024 0:05 PM",
    "12/31/2024 13:05 AM",
    "20240101",
    "2024011",
    "1700000000",
    "1700000000.5",
    "1,7e9",
    "-1",
    "1e9",
    "4e9",
    "nan",
    "inf",
    "1_000_000_000",
    "Mon Jan 01 07:00:00 +0000 2024",
    "Mon, 01 Jan 2024 07:00:00 +0275",
    "x" * 200,
    "2024-01-02" + " " * 60,
    " 2024-01-02 ",
    "2024.01.02 07:00Z",
    "2024.01.02 07:00+25:00",
    "1700000000000000",
    "1700000000000000000",
    "Mon, 01 Jan 2024 07:00:00 GMT",
    "Mon Jan 01 07:00:00 UTC 2024",
    "20240101T070000+0200",
    "24/01/31 07:00",
)


def iso_like(draw: random.Random) -> str:
    """Return a time as programs write it, nearly so, or as only a cast of the database reads."""

    def some(choices: str | tuple[str, ...]) -> str:
        return draw.choice(choices.split("|") if isinstance(choices, str) else choices)

    number = "0|1|02|7|07|12|13|24|29|31|32|59|60|99|007"
    signs = some(("--", "--", "//", "-/", "..", "  ", "\\\\"))
    text = some("2024|2024|1931|1932|2067|2068|24|02024|1900")
    text += signs[0] + some(number) + signs[1] + some(number)
    if draw.random() < 0.8:
        colons = some(("::", "::", "::", "..", ":.", "-:", ": "))
        text += some("T| |  |t|| T|, ") + some(number) + colons[0] + some(number)
        if draw.random() < 0.8:
            text += colons[1] + some(number) + some("||.5|.123456789|.|,5|.1234567890123")
    return text + some(OFFSETS) * (draw.random() < 0.7)


def mostly_good(draw: random.Random) -> str:
    """Return a time of a common spelling, perhaps with one character changed."""
    day = datetime(1930, 1, 1) + timedelta(seconds=draw.randrange(4_386_000_000))
    forms = ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S", *DATES, *SPELLINGS)
    text = day.replace(tzinfo=UTC).strftime(draw.choice(forms))
    text += draw.choice(OFFSETS) * (draw.random() < 0.3)
    if draw.random() < 0.5:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(" 0123:-/.+TZu\u0663\u00a0") + text[at + 1 :]
    return text


@pytest.mark.full
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**32),
    spelling=st.sampled_from(["iso", "iso", *COUNTED, *SPELLINGS]),
    decimal=st.sampled_from([".", ","]),
)
def test_the_preview_and_the_load_read_the_same_times(tmp_path, seed, spelling, decimal) -> None:
    draw = random.Random(seed)
    texts = [*OTHERS, *(draw.choice((iso_like, mostly_good))(draw) for _ in range(500))]
    path = tmp_path / "times.tsv"
    rows = [f"u{i}\t{text}\t48{decimal}2\t16{decimal}3" for i, text in enumerate(texts)]
    path.write_text("\n".join(["user\ttime\tlat\tlon", *rows, ""]), "utf-8")
    mapping = Mapping(0, 1, 2, 3, time_format=spelling, decimal=decimal)
    expected = {}
    for i, text in enumerate(texts):
        good = 1 not in bad_cells(rows[i].split("\t"), mapping, decimal)
        assert good == reads_time(text, spelling, decimal)
        seen = moment(text, spelling, decimal)
        if good and seen is not None:
            since = seen.replace(tzinfo=seen.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            expected[f"u{i}"] = since // timedelta(microseconds=1)
    read = typed_rows(text_source(path, "\t", True, 4), mapping, 4, False, decimal)
    times = f"SELECT user_id, epoch_us(time) FROM ({read}) WHERE code = 0"
    found = dict(database().execute(times).fetchall())
    differ = {i: (texts[i], found.get(f"u{i}"), expected.get(f"u{i}")) for i in range(len(texts))}
    assert not {i: seen for i, seen in differ.items() if seen[1] != seen[2]}


@pytest.mark.full
def test_spellings_of_one_moment(write: Write) -> None:
    texts = [
        "2024-1-2 7:0:0",
        "2024-01-02 07:00:00 Z",
        "2024-01-02 07:00:00UTC",
        "2024-01-02 07:00:00 UTC",
        "2024-01-02 00:00:00 UTC-07:00",
        "2024-01-02T07:00:00z",
        "2024-01-02 09:00:00 +0200",
        "2024-01-02 21:00:00+14:00",
        "2024-01-02 07:00 GMT",
        "2024/1/2 7:00:00.000",
    ]
    for text in texts:
        assert sniff(dates(write, text)).mapping.time_format == "iso", text
    with open_checkins(dates(write, *texts), cache_dir=None) as data:
        assert data.rows == 60
        assert data.first_time == data.last_time == "2024-01-02T07:00:00Z"


@pytest.mark.full
def test_offsets_that_do_not_exist_are_rejected(write: Write) -> None:
    texts = [
        "2024-01-02 07:00:00 EST",
        "2024-01-02 07:00:00+25:00",
        "2024-01-02 07:00:00+05:75",
        "2024-01-02 07:00:00-13:00",
        "2024-01-02 07:00:00+15:00",
        "2024-01-02 07:00:00 Europe/Vienna",
    ]
    path = dates(write, *["2024-01-02 07:00:00"] * 54, *texts)
    with open_checkins(path, cache_dir=None) as data:
        assert data.report.rejected == {Reason.BAD_TIME: len(texts)}
    assert sniff(path).confidence < 1
    with pytest.raises(MappingNeeded) as refused:
        open_checkins(dates(write, texts[0]), Mapping(0, 1, 2, 3), cache_dir=None)
    assert "“time”" in str(refused.value)
    assert texts[0] in str(refused.value)


def test_months_are_english_in_every_locale() -> None:
    assert example_of("%a %b %d %H:%M:%S %z %Y") == "Tue Dec 31 23:59:58 +0000 2024"
    assert moment("1 may 2024 07:05", "%d %B %Y %H:%M") == datetime(2024, 5, 1, 7, 5)


@pytest.mark.parametrize(
    "form", ["%Y %Y", "%d.%m", "%d.%m.%Y %Q", "%I:%M %d.%m.%Y", "%", "%Y-%m-%d %"]
)
def test_formats_that_are_none(form: str) -> None:
    with pytest.raises(ValueError, match="“"):
        format_of_example(form)


def test_an_offset_behind_a_blank_is_read(write: Write) -> None:
    path = dates(write, "2024-05-01 12:00:00 +0200")
    with open_checkins(path, cache_dir=None) as data:
        assert data.first_time == "2024-05-01T10:00:00Z"


def dates(write: Write, *days: str) -> Path:
    body = [f"u{i % 9},{days[i % len(days)]},48.{100 + i},16.{300 + i}" for i in range(60)]
    return write("\n".join(["user,time,lat,lon", *body]), "dates.csv")


def test_the_order_of_day_and_month_is_told_from_the_data(write: Write) -> None:
    for day, form in (
        ("13/02/2024 10:00", "%d/%m/%Y %H:%M"),
        ("02/13/2024 10:00", "%m/%d/%Y %H:%M"),
    ):
        preview = sniff(dates(write, *["03/04/2024 10:00"] * 50, day))
        assert preview.mapping.time_format == form
        assert preview.questions == ()


SPAN = [datetime(2024, 5, 1, 8, 5) + timedelta(hours=13 * i) for i in range(60)]


@pytest.mark.parametrize(
    ("form", "writing"),
    [
        ("%d.%m.%y %H:%M", None),
        ("%y.%m.%d %H:%M", None),
        ("%d/%m/%y %H:%M", None),
        ("%m/%d/%y %H:%M", None),
        ("%y/%m/%d %H:%M", None),
        ("%y-%m-%d", None),
        ("%Y%m%dT%H%M%S%z", "%Y%m%dT%H%M%S+0000"),
        ("%a, %d %b %Y %H:%M:%S GMT", None),
        ("%b %d, %Y, %I:%M:%S %p", "%b %d, %Y, %I:%M:%S\u202f%p"),
        ("%d.%m.%Y %H:%M", "%d.%m.%Y\u00a0%H:%M"),
    ],
)
def test_dates_of_a_month_are_read_without_a_question(write: Write, form: str, writing) -> None:
    path = dates(write, *(f'"{day.strftime(writing or form)}"' for day in SPAN))
    with open_checkins(path, cache_dir=None) as data:
        assert data.mapping.time_format == form
        assert (data.rows, data.first_time[:10], data.last_time[:10]) == (
            60,
            "2024-05-01",
            "2024-06-02",
        )


@pytest.mark.parametrize(
    "texts",
    [
        ("24/05/12 10:00", "24/05/13 10:00"),  # two days, or one day of two years
        ("13/02/2024 10:00", "13/03/2024 10:00", "02/14/2024 10:00", "03/04/2024 10:00"),
    ],
)
def test_orders_of_dates_that_may_be_two_are_asked_about(write: Write, texts) -> None:
    asked = sniff(dates(write, *texts)).question("time_format")
    assert asked is not None
    assert len(asked.candidates) == 2


@pytest.mark.parametrize(("texts", "asked"), [((2, 12), True), ((), False), ((3,), False)])
def test_texts_beside_dates_of_a_spreadsheet_are_asked_about(tmp_path, texts, asked: bool) -> None:
    """It has taken 05/01/2024 for the first of May, and left 13/01/2024 a text."""
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["user", "time", "lat", "lon"])
    for i in range(60):
        cell: object = datetime(2024, 1 + i % 12, 5, 10, 30)
        if i % 14 in texts:
            cell = "no date" if texts == (3,) else f"{13 + i % 14}/01/2024 10:30"
        book.active.append([f"u{i % 9}", cell, 48 + i / 1000, 16.5])
    book.save(tmp_path / "dates.xlsx")
    question = sniff(tmp_path / "dates.xlsx").question("time_format")
    assert (question is not None) == asked
    if question is not None:
        answers = [dict(one.fields)["time_format"] for one in question.candidates]
        assert answers == ["iso", "%d/%m/%Y %H:%M"]


@pytest.mark.parametrize("text", ["1.71455E+12", "1,71455E+12", "1.7E9"])
def test_rounded_instants_are_no_times(write: Write, text: str) -> None:
    path = dates(write, f'"{text}"')
    assert sniff(path).mapping.time is None
    assert text in sniff(path).question("time").text
    assert time_formats(["1.714550916E9"] * 5) == ("epoch_s",)


def test_it_is_asked_where_the_data_do_not_tell(write: Write) -> None:
    path = dates(write, "03/04/2024 10:00", "05/06/2024 11:00")
    preview = sniff(path)
    asked = preview.question("time_format")
    assert asked is not None
    forms = ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
    assert [one.fields for one in asked.candidates] == [(("time_format", f),) for f in forms]
    assert all(form in asked.text for form in ("day/month/year", "month/day/year"))
    with pytest.raises(MappingNeeded, match="“03/04/2024 10:00”"):
        open_checkins(path, cache_dir=None)
    for form, first in (("%d/%m/%Y %H:%M", "2024-04-03"), ("%m/%d/%Y %H:%M", "2024-03-04")):
        with open_checkins(
            path, replace(preview.mapping, time_format=form), cache_dir=None
        ) as data:
            assert (data.first_time or "")[:10] == first


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("20120401075408", ["%Y%m%d%H%M%S"]),
        ("201204010754", ["%Y%m%d%H%M", "%y%m%d%H%M%S", "epoch_ms"]),
        ("2012040107", ["%Y%m%d%H", "%y%m%d%H%M", "epoch_s"]),
        ("1904010700", ["%y%m%d%H%M", "epoch_s"]),
        ("20120401", ["%Y%m%d"]),
        ("1700000000", ["epoch_s"]),
        ("482081740", []),  # degrees, ten million times
        ("4366412345678", []),  # a telephone
        ("2125551234", ["epoch_s"]),  # only where the name says that it is a time
        ("20120431", []),
    ],
)
def test_digits_have_every_reading_that_fits(text: str, formats: list[str]) -> None:
    assert list(time_formats([text] * 5)) == formats
    if formats:
        assert format_of_example(text) == formats[0]


def digit_rows(write: Write, name: str, texts: list[str]) -> Path:
    rows = [f"u{i % 7},{texts[i % len(texts)]},48.{100 + i},16.{300 + i}" for i in range(40)]
    return write("\n".join([f"user,{name},lat,lon", *rows]), "digits.csv")


def test_digits_that_are_a_date_or_an_epoch_are_asked_about(write: Write) -> None:
    path = digit_rows(write, "time", [f"20120401{h:02d}" for h in range(24)])
    (question,) = [one for one in sniff(path).questions if one.key == "time_format"]
    shown = [(dict(one.fields)["time_format"], one.example) for one in question.candidates]
    assert shown == [
        ("%Y%m%d%H", "2012040100 = 2012-04-01 00:00"),
        ("%y%m%d%H%M", "2012040100 = 2020-12-04 01:00"),
        ("epoch_s", "2012040100 = 2033-10-04 12:01:40"),
    ]
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=None)
    for form, first in (("%Y%m%d%H", "2012-04-01T00:00:00Z"), ("epoch_s", "2033-10-04T12:01:40Z")):
        mapping = Mapping(0, 1, 2, 3, time_format=form)
        with open_checkins(path, mapping, cache_dir=None) as data:
            assert (data.rows, data.first_time) == (40, first)


def test_digits_of_days_are_read(write: Write) -> None:
    path = digit_rows(write, "date", ["20120401", "20120402", "20120430"])
    with open_checkins(path, cache_dir=None) as data:
        assert (data.rows, data.first_time) == (40, "2012-04-01T00:00:00Z")


@pytest.mark.parametrize(
    "texts",
    [["2125551234", "2125559876"], ["1234567890"], ["482081740", "482081999"], ["20120401"]],
)
def test_numbers_whose_name_says_nothing_are_no_times(write: Write, texts: list[str]) -> None:
    assert sniff(digit_rows(write, "phone", texts)).mapping.time is None


@pytest.mark.parametrize("decimal", [".", ","])
def test_degrees_times_ten_million_are_converted_exactly(write: Write, decimal: str) -> None:
    """As in exports of a location history; whole steps of 1e-7 degrees stay what they are."""
    places = [(482081743 + 7 * i, -163738191 - 3 * i) for i in range(30)]
    bad = ["u9;900000001;0", "u9;0;0", "u9;1;1800000001"]
    rows = [f"u{i % 5};{lat};{lon}" for i, (lat, lon) in enumerate(places)]
    path = write("\n".join(["user;latitudeE7;longitudeE7", *rows, *bad]), "takeout.csv")
    mapping = sniff(path).mapping
    assert (mapping.lat, mapping.lon, mapping.time, mapping.crs) == (1, 2, None, "E7")
    mapping = replace(mapping, user=0, decimal=decimal)
    assert [bool(bad_cells(row.split(";"), mapping, decimal)) for row in bad] == [True] * 3
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert [(y, x) for _, _, y, x in rows_of(data)] == [(y / 1e7, x / 1e7) for y, x in places]
        assert data.report.rejected == {Reason.ZERO_ZERO: 1, Reason.OUT_OF_RANGE: 2}
        assert data.mapping.stored()["crs"] == "E7"


@pytest.mark.parametrize(
    ("times", "naive"),
    [
        (["2024-05-01 12:00:00"], 60),
        (["2024-05-01T12:00:00Z"], 0),
        (["2024-05-01T12:00:00Z", "2024-05-01 14:00"], 30),
        (["1.5.2024"], 60),
    ],
)
def test_times_without_an_offset_are_counted(write: Write, times: list[str], naive: int) -> None:
    with open_checkins(dates(write, *times), cache_dir=None) as data:
        assert data.report.naive_times == naive
        assert bool([note for note in data.report.notes if "UTC" in note]) == bool(naive)


def test_dots_are_never_american() -> None:
    assert time_formats(["03.04.2024 10:00"] * 3) == ("%d.%m.%Y %H:%M",)


@pytest.mark.parametrize("text", ["yesterday", "03/04/2024", "48.2", ""])
def test_an_example_that_tells_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="give an example"):
        format_of_example(text)


def test_a_time_of_day_in_a_column_of_its_own_is_asked_about(write: Write) -> None:
    body = [
        f"u{i % 9};{1 + i % 28:02d}.05.2024;10:{i % 60:02d};48,{100 + i};16,{300 + i}"
        for i in range(60)
    ]
    path = write("\n".join(["Nutzer;Datum;Uhrzeit;Breite;Länge", *body]), "two.csv")
    with pytest.raises(MappingNeeded, match="“Uhrzeit”"):
        open_checkins(path, cache_dir=None)


# Time zones


def instants(texts: list[str], form: str, zone: str) -> list[int]:
    table = with_instants("(SELECT unnest(?) AS c)", "c", form, ".", zone)
    found = database().execute(f"SELECT epoch_us(instant) FROM {table}", [texts]).fetchall()
    return [n // 1_000_000 for (n,) in found]


@pytest.mark.full
@settings(max_examples=50)
@given(
    moment=st.datetimes(datetime(1975, 1, 1), datetime(2035, 1, 1)),
    zone=st.sampled_from(
        ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"]
    ),
    form=st.sampled_from(["%d.%m.%Y %H:%M:%S", "iso"]),
)
def test_times_of_a_zone(moment: datetime, zone: str, form: str) -> None:
    """By the rule of the standard library's first fold: the first of two, the offset before."""
    moment = moment.replace(microsecond=0)
    there = ZoneInfo(zone)
    early = moment.replace(tzinfo=there, fold=0).timestamp()
    text = moment.strftime("%Y-%m-%d %H:%M:%S" if form == "iso" else form)
    (found,) = instants([text], form, zone)
    assert found == early


@pytest.mark.parametrize("form", ["iso", "%d.%m.%Y %H:%M"])
def test_the_hour_that_is_skipped_or_repeated(form: str) -> None:
    """The stated rule: the first of two; a skipped one as if the clock were not yet put forward."""
    days = (datetime(2024, 3, 31, 0, 30), datetime(2024, 10, 27, 0, 30))
    wall = [day + timedelta(hours=h) for day in days for h in (1, 2, 3)]
    texts = [w.strftime("%Y-%m-%d %H:%M" if form == "iso" else form) for w in wall]
    utc = [(0, 30), (1, 30), (1, 30), (-1, 30), (0, 30), (2, 30)]
    assert instants(texts, form, "Europe/Vienna") == [
        int((w.replace(hour=0, minute=0, tzinfo=UTC) + timedelta(hours=h, minutes=m)).timestamp())
        for w, (h, m) in zip(wall, utc, strict=True)
    ]


def test_an_offset_in_the_value_goes_before_the_zone() -> None:
    same = [
        "2024-05-01T12:00:00+02:00",
        "2024-05-01 10:00:00Z",
        "2024-05-01 10:00 UTC",
        "2024-05-01 12:00",
        "2024-05-01 05:30-0430",
    ]
    assert len(set(instants(same, "iso", "Europe/Vienna"))) == 1
    assert instants(["01.05.2024 12:00 +0200"], "%d.%m.%Y %H:%M %z", "Asia/Tokyo") == [1714557600]


@pytest.mark.full
def test_a_zone_is_another_way_to_read_a_file(write: Write, tmp_path: Path) -> None:
    """It is in the key of the cache, in what is stored, and said in the report."""
    path, cache = dates(write, "2024-05-01 12:00"), tmp_path / "cache"
    for zone, hour in ((None, 12), ("europe/vienna", 10), ("America/New York", 16), (None, 12)):
        mapping = replace(sniff(path).mapping, zone=zone)
        with open_checkins(path, mapping, cache_dir=cache) as data:
            assert data.first_time == f"2024-05-01T{hour:02d}:00:00Z"
            assert any("Europe/" in note or "America/" in note for note in data.report.notes) == (
                zone is not None
            )
    assert len([p for p in cache.iterdir() if p.is_dir()]) == 3
    assert zone_name("america/new york") == "America/New_York"


def test_a_zone_that_there_is_not(write: Write) -> None:
    path = dates(write, "2024-05-01 12:00")
    with pytest.raises(CheckinError, match="“Wien”"):
        open_checkins(path, replace(sniff(path).mapping, zone="Wien"), cache_dir=None)
    with pytest.raises(CheckinError, match="Europe/Vienna"):
        zone_name("Europe/Viena")


# Swapped coordinates


def places(write: Write, first: str, second: str, header: str = "user,lat,lon") -> Path:
    body = [f"u{i % 9},{first.format(i=i)},{second.format(i=i)}" for i in range(100, 160)]
    return write("\n".join([*([header] if header else []), *body]), "places.csv")


@pytest.mark.full
@pytest.mark.parametrize(
    ("lon", "lat", "header"),
    [
        ("16.3{i}", "48.2{i}", "user,first,second"),
        ("-74.0{i}", "40.7{i}", "Nutzer,a,b"),
        ("139.6{i}", "35.6{i}", ""),
    ],
)
def test_swapped_coordinates_without_names_are_asked_about_in_the_right_order(
    write: Write, lon: str, lat: str, header: str
) -> None:
    path = places(write, lon, lat, header)
    with pytest.raises(MappingNeeded):
        open_checkins(path, cache_dir=None)
    suggested = sniff(path).suggested
    assert (suggested.lat, suggested.lon) == (2, 1)
    turned = replace(sniff(path).mapping, user=0, lat=2, lon=1)
    with open_checkins(path, turned, cache_dir=None) as data:
        assert data.rows == 60
    suggested = sniff(places(write, lat, lon, header)).suggested
    assert (suggested.lat, suggested.lon) == (1, 2)


def test_names_are_believed_before_towns(write: Write) -> None:
    assert sniff(places(write, "16.3{i}", "48.2{i}")).questions == ()
    assert sniff(places(write, "139.6{i}", "35.6{i}")).question("position") is not None


def test_ships_at_sea_are_not_swapped(write: Write) -> None:
    assert sniff(places(write, "-35.1{i}", "-15.3{i}")).questions == ()


# Real files


@pytest.mark.full
@pytest.mark.parametrize(
    "name", ["gowalla-first-10000.csv", "gowalla-new-york.txt.gz", "foursquare-new-york.txt.gz"]
)
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
    # in the hour that is repeated the wall clock can't tell which: the rule takes the first one
    naive = local.dt.tz_localize(None)
    twice = naive.dt.tz_localize(zone or "UTC", ambiguous="NaT", nonexistent="raise").isna()
    if form != "epoch_ms" and "%z" not in form:
        table = table[~twice.to_numpy()]
        wanted = [row for row, drop in zip(wanted, twice, strict=True) if not drop]
    path = tmp_path / "real.csv"
    table.to_csv(path, sep=separator, decimal=decimal, index=False)
    mapping = replace(sniff(path).suggested, zone=zone)  # some have few users
    with open_checkins(path, mapping, cache_dir=None, detect_duplicates=False) as data:
        found = rows_of(data)
    assert len(found) == len(wanted)
    assert [(str(u), t, y, x) for u, t, y, x in found] == [
        (str(u), t, y, x) for u, t, y, x in wanted
    ]
