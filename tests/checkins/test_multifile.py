"""Several files or a folder are one data set with every line accounted for."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import duckdb
import pytest

from explorer.checkins import (
    CheckinData,
    CheckinError,
    LoadCancelled,
    LoadReport,
    Mapping,
    Reason,
    find_files,
    open_checkins,
    sniff_files,
)
from tests.checkins.conftest import good

HEADER = "user,time,lat,lon,place"
WORLD = (-90.0, -180.0, 90.0, 180.0)


def rows_of(first: int, last: int, user: str | None = None) -> list[str]:
    return [good(i, user).replace("\t", ",") for i in range(first, last)]


def write_part(path: Path, lines: list[str], header: str = HEADER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join([header, *lines]) + "\n" if header else "\n".join(lines) + "\n"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_parquet(path: Path, lines: list[str]) -> Path:
    source = write_part(path.with_suffix(".csv"), lines)
    duckdb.sql(f"COPY (FROM read_csv('{source}', all_varchar=true)) TO '{path}'")
    source.unlink()
    return path


def opened(source: object, **options: object) -> CheckinData:
    return open_checkins(source, cache_dir=None, **options)  # type: ignore[arg-type]


def check_parts(report: LoadReport) -> None:
    """Every part's lines add up, and the parts' to the whole."""
    for part in report.parts:
        whole = part.header + part.blank + part.kept + part.rejected + part.continued
        assert part.physical_lines == whole
        assert part.kept >= 0
    for name in ("physical_lines", "header", "blank", "kept", "continued"):
        assert sum(getattr(p, name) for p in report.parts) == getattr(report, name)
    assert sum(p.rejected for p in report.parts) == report.total_rejected


def everything(data: CheckinData) -> list[tuple[object, ...]]:
    points = data.points(WORLD)
    columns = (points.user, points.lat, points.lon, points.weight)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_parts_are_one_data_set_with_lines_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    write_part(folder / "a.csv", [*rows_of(0, 40), "", "x,never,40,-73,1"])
    write_part(folder / "b.csv.gz", ['7,2010-01-01T00:00:00Z,"a\nb",1,2', *rows_of(40, 70)])
    write_part(folder / "sub" / "c.csv", [rows_of(3, 4)[0], *rows_of(70, 90), "1,2"])
    (folder / "_SUCCESS").touch()
    (folder / "README.md").write_text("what this is")
    whole = write_part(tmp_path / "one.csv", rows_of(0, 90))
    with opened(folder) as data, opened(whole) as one:
        report = data.report
        assert data.basename == "all"
        assert data.rows == one.rows == 90
        assert everything(data) == everything(one)
        assert [p.name for p in report.parts] == ["a.csv", "b.csv.gz", "sub/c.csv"]
        assert [p.physical_lines for p in report.parts] == [43, 33, 23]
        assert [p.rejected for p in report.parts] == [1, 1, 2]
        check_parts(report)
        assert report.rejected[Reason.DUPLICATE] == 1
        duplicate = report.examples[Reason.DUPLICATE][0]
        assert (duplicate.part, duplicate.line, duplicate.text) == (
            "sub/c.csv",
            2,
            rows_of(3, 4)[0],
        )
        bad = report.examples[Reason.BAD_TIME][0]
        assert (bad.part, bad.line) == ("a.csv", 43)
        assert any("README.md" in note for note in report.notes)
        target = tmp_path / "rejected.csv"
        assert data.export_rejected(target) == report.total_rejected
    with target.open(newline="") as file:
        found = [(r["part"], int(r["line"]), r["text"]) for r in csv.DictReader(file)]
    assert ("a.csv", 43, "x,never,40,-73,1") in found
    assert ("sub/c.csv", 2, rows_of(3, 4)[0]) in found
    assert ("sub/c.csv", 23, "1,2") in found
    assert [name for name, _, _ in found] == sorted(name for name, _, _ in found)


def test_the_same_user_in_a_part_of_numbers_and_one_of_text(tmp_path: Path) -> None:
    """A duplicate is found though one part's ids are whole numbers and the other's are not."""
    a = write_part(tmp_path / "a.csv", rows_of(0, 30))
    b = write_part(tmp_path / "b.csv", [*rows_of(5, 6), *rows_of(30, 40, "anna")])
    with opened([b, a]) as data:
        assert [p.name for p in data.report.parts] == ["a.csv", "b.csv"]
        assert data.report.rejected == {Reason.DUPLICATE: 1}
        assert (data.rows, data.users) == (40, 8)
        check_parts(data.report)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_folders_are_columns(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "x[1]*"
    for user, first in (("anna%20k", 0), ("__HIVE_DEFAULT_PARTITION__", 20), ("it's", 40)):
        place = folder / f"year=2010/user={user}"
        lines = [",".join(line.split(",")[1:]) for line in rows_of(first, first + 20)]
        part = write_part(place / "part.csv", lines, "time,lat,lon,place")
        if kind == "parquet":
            duckdb.execute(
                f"COPY (FROM read_csv(?, hive_partitioning=false)) TO '{tmp_path / 'new.parquet'}'",
                [str(part).replace("[", "[[]").replace("*", "[*]")],
            )
            (tmp_path / "new.parquet").rename(part.with_suffix(".parquet"))
            part.unlink()
    preview = sniff_files(find_files(folder))
    assert preview.columns[-2:] == ("year", "user")
    assert preview.mapping.user == len(preview.columns) - 1
    with opened(folder) as data:
        assert (data.rows, data.users) == (40, 2)
        assert data.report.rejected == {Reason.BLANK_FIELD: 20}
        check_parts(data.report)


DIFFERENT = {
    "fields": (
        "user,time,lat,lon",
        [",".join(r.split(",")[:4]) for r in rows_of(0, 30)],
        "4 fields",
    ),
    "order": ("user,time,lon,lat,place", rows_of(0, 30), "column 3 is “lon”, not “lat”"),
    "no names": ("", rows_of(0, 30), "it has no header"),
    "delimiter": (
        HEADER.replace(",", ";"),
        [r.replace(",", ";") for r in rows_of(0, 30)],
        "separated by semicolons, not by commas",
    ),
    "other times": (
        HEADER,
        [r.replace("2010-01-", "31/01/").replace("T12:00:00Z", "") for r in rows_of(0, 30)],
        "the time can't be read",
    ),
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_a_part_that_differs_is_named(tmp_path: Path, difference: str) -> None:
    header, lines, said = DIFFERENT[difference]
    write_part(tmp_path / "a.csv", rows_of(0, 30))
    write_part(tmp_path / "b'[1].csv", lines, header)
    with pytest.raises(CheckinError, match=r"b'\[1\]\.csv .* a\.csv") as refused:
        opened(tmp_path)
    assert said in str(refused.value)


def test_another_format_among_the_parts_is_named(tmp_path: Path) -> None:
    write_part(tmp_path / "a.csv", rows_of(0, 30))
    write_parquet(tmp_path / "b.parquet", rows_of(30, 60))
    with pytest.raises(CheckinError, match=r"b\.parquet .* a\.csv: .* parquet"):
        opened(tmp_path)


def test_a_part_with_nothing_but_names(tmp_path: Path) -> None:
    write_part(tmp_path / "a.csv", rows_of(0, 30))
    write_part(tmp_path / "b.csv", [])
    (tmp_path / "c.csv").touch()
    with opened(tmp_path) as data:
        assert [(p.name, p.kept) for p in data.report.parts] == [("a.csv", 30), ("b.csv", 0)]


@pytest.mark.full
def test_names_mean_themselves(tmp_path: Path) -> None:
    names = ["x[1].csv", "x1.csv", "a*.csv", "it's.csv", "a?b.csv", "ab.csv"]
    for place, name in enumerate(names):
        write_part(tmp_path / name, rows_of(20 * place, 20 * place + 20, f"u{place}"))
    for place, name in enumerate(names[::2]):
        others = [tmp_path / name, tmp_path / names[2 * place + 1]]
        with opened(others) as data:
            assert (data.rows, data.users) == (40, 2)
    with opened(tmp_path) as data:
        assert (data.rows, data.users) == (120, 6)


@pytest.mark.full
def test_cache_and_fingerprint_go_by_names_and_contents(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = tmp_path / "all"
    for name, first in (("a.csv", 0), ("b.csv", 20)):
        write_part(folder / name, rows_of(first, first + 20))

    def fingerprint() -> str:
        with open_checkins(folder, cache_dir=cache) as data:
            return data.fingerprint

    first = fingerprint()
    assert len(list(cache.glob("*-*/report.json"))) == 1
    assert fingerprint() == first
    assert len(list(cache.glob("*-*/report.json"))) == 1
    (folder / "b.csv").rename(folder / "c.csv")
    assert fingerprint() != first
    (folder / "c.csv").rename(folder / "b.csv")
    assert fingerprint() == first
    write_part(folder / "b.csv", rows_of(21, 41))
    assert fingerprint() != first


def test_the_report_of_parts_survives_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    write_part(folder / "a.csv", [*rows_of(0, 20), "1"])
    write_part(folder / "b.csv", [*rows_of(20, 40), "2"])
    reports = []
    for _ in range(2):
        with open_checkins(folder, cache_dir=tmp_path / "cache") as data:
            reports.append(data.report)
            data.export_rejected(tmp_path / "out.csv")
            assert (tmp_path / "out.csv").read_text().count("too_few_fields") == 2
    assert reports[0] == reports[1]


def test_positions_are_not_read_from_folders(tmp_path: Path) -> None:
    for name in ("lat=1", "lat=2"):
        write_part(tmp_path / name / "a.csv", [f"{i},{i}.5" for i in range(30)], "user,lon")
    with pytest.raises(CheckinError, match="names of folders"):
        opened(tmp_path, mapping=Mapping(user=0, lon=1, lat=2))


def test_folders_that_name_other_columns(tmp_path: Path) -> None:
    write_part(tmp_path / "year=2010" / "a.csv", rows_of(0, 30))
    write_part(tmp_path / "b.csv", rows_of(30, 60))
    with pytest.raises(CheckinError, match="folders that name"):
        opened(tmp_path)


def test_a_folder_without_check_ins(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(CheckinError, match="without a file"):
        opened(tmp_path)


@pytest.mark.full
def test_cancel_leaves_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for number in range(6):
        first = 800 * number
        rows = [row for i in range(first, first + 800) for row in rows_of(i, i + 1, f"u{i % 70}")]
        write_part(tmp_path / "all" / f"{number}.csv", rows)
    shares: list[float] = []
    with pytest.raises(LoadCancelled):
        open_checkins(
            tmp_path / "all",
            cache_dir=cache,
            progress=lambda now: shares.append(now.fraction),
            cancelled=lambda: bool(shares) and shares[-1] > 0.4,
        )
    assert shares == sorted(shares)
    assert not list(cache.glob("*"))


def test_a_part_that_vanishes_is_named(tmp_path: Path) -> None:
    a = write_part(tmp_path / "a.csv", rows_of(0, 30))
    with pytest.raises(CheckinError, match=r"b\.csv .*not exist"):
        opened([a, tmp_path / "b.csv"])


def test_json_of_the_mapping_reads_back(tmp_path: Path) -> None:
    """A recipe of a folder names columns of folders by their place, as it does others."""
    for day in ("2010-01-30", "2010-01-31"):
        lines = [",".join((r.split(",")[0], *r.split(",")[2:])) for r in rows_of(0, 30)]
        write_part(tmp_path / f"date={day}" / "a.csv", lines, "user,lat,lon,place")
    with opened(tmp_path) as data:
        assert data.has_times
        assert (data.first_time, data.last_time) == ("2010-01-30T00:00:00Z", "2010-01-31T00:00:00Z")
        again = Mapping(**json.loads(json.dumps(data.mapping.stored())))
    with opened(tmp_path, mapping=again) as data:
        assert data.rows == 60
        assert data.has_times


def test_the_same_files_as_a_folder_and_one_by_one_are_two_data_sets(tmp_path: Path) -> None:
    """They have other names: the cache tells them apart."""
    folder = tmp_path / "all"
    parts = [
        write_part(folder / name, rows_of(i, i + 20)) for i, name in ((0, "a.csv"), (20, "b.csv"))
    ]
    for _ in range(2):
        for source, name in ((folder, "all"), (parts, "a.csv and 1 more")):
            with open_checkins(source, cache_dir=tmp_path / "cache") as data:
                assert data.basename == name
