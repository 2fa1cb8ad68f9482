"""The same rows in every format, written by a library, open as the same check-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas
import pytest

from explorer.checkins import CheckinData, Reason, open_checkins, sniff
from tests.checkins.layered_files import WRITERS, write_as

pytestmark = pytest.mark.full

NAMES = ["user", "time", "latitude", "longitude", "location"]
REAL = {
    "gowalla-first-10000.csv": (NAMES, 10_000),
    "gowalla-new-york.txt.gz": (NAMES, 138_951),
    "foursquare-new-york.txt.gz": (NAMES, 227_178),
    "gowalla-world-userpoi.csv.gz": ([], 255_138),
}
PART, WHOLE = 2_000, ("parquet",)
"""Rows of a real file that go through every format, and the formats that take all of it quickly."""


def rows_of(data: CheckinData) -> np.ndarray:
    """All kept rows: number of the user, position in 10⁻⁷ degrees, weight; sorted."""
    found = data.points(data.extent)
    whole = [np.round(np.asarray(v) * 1e7).astype(np.int64) for v in (found.lat, found.lon)]
    table = np.column_stack([found.user.astype(np.int64), *whole, found.weight.astype(np.int64)])
    return table[np.lexsort(table.T[::-1])]


def same(one: CheckinData, other: CheckinData) -> None:
    """Check that two files have the same check-ins."""
    assert (one.rows, one.users, one.has_times) == (other.rows, other.users, other.has_times)
    assert (one.first_time, one.last_time) == (other.first_time, other.last_time)
    assert np.array_equal(rows_of(one), rows_of(other))


def made() -> pandas.DataFrame:
    """Rows of five users, with a duplicate and an unknown position."""
    draw = np.random.default_rng(12)
    table = pandas.DataFrame(
        {
            "user": [f"u{i % 5}" for i in range(300)],
            "time": pandas.date_range("2010-01-01T06:30:15Z", periods=300, freq="37min", unit="ms"),
            "latitude": draw.uniform(40.5, 41.0, 300).round(7),
            "longitude": draw.uniform(-74.3, -73.6, 300).round(7),
            "location": [f"place {i % 17}" for i in range(300)],
        }
    )
    table.loc[7] = table.loc[2]
    table.loc[11, ["latitude", "longitude"]] = 0.0
    return table


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckinData]:
    path = tmp_path_factory.mktemp("plain") / "plain.csv"
    made().to_csv(path, index=False)
    with open_checkins(path, cache_dir=None) as data:
        yield data


@pytest.mark.parametrize("kind", sorted(WRITERS))
def test_a_made_file_opens_with_the_same_rows(
    kind: str, wanted: CheckinData, tmp_path: Path
) -> None:
    path, cache = write_as(kind, made(), tmp_path), tmp_path / "cache"
    for _ in range(2):  # the file itself, then what is kept of it
        with open_checkins(path, cache_dir=cache) as found:
            same(found, wanted)
            assert found.report.rejected == {Reason.ZERO_ZERO: 1, Reason.DUPLICATE: 1}
            assert found.export_rejected(tmp_path / "aside.csv") == 2
            texts = (tmp_path / "aside.csv").read_text(encoding="utf-8").splitlines()[1:]
            assert [line.split(",")[1] for line in texts] == ["duplicate", "zero_zero"]
            assert "place 2" in texts[0]
    assert len([entry for entry in cache.iterdir() if entry.is_dir()]) == 1


@pytest.mark.parametrize("name", sorted(REAL))
def test_a_real_file_opens_with_the_same_rows(
    name: str, real_checkins: Path, tmp_path: Path
) -> None:
    columns, kept = REAL[name]
    if not (real_checkins / name).exists():
        pytest.skip(f"{name} is not there")
    with open_checkins(real_checkins / name, cache_dir=None) as wanted:
        assert wanted.rows == kept
        mapping = wanted.mapping
        if columns:
            table = pandas.read_csv(real_checkins / name, sep="\t", names=columns)
            table["time"] = pandas.to_datetime(table["time"], utc=True, format="mixed")
            table["time"] = table["time"].dt.as_unit("ms")
        else:
            table = pandas.read_csv(real_checkins / name)
            roles = {"lat": "latitude", "lon": "longitude", "user": "user"}
            titles = {table.columns[getattr(mapping, role)]: to for role, to in roles.items()}
            table = table.rename(columns=titles)
        plain = tmp_path / "part.csv"
        table.head(PART).to_csv(plain, index=False)
        with open_checkins(plain, sniff(plain).suggested, cache_dir=None) as part:
            for kind in WRITERS:
                rows, known = (table, wanted) if kind in WHOLE else (table.head(PART), part)
                path = write_as(kind, rows, tmp_path)
                with open_checkins(path, sniff(path).suggested, cache_dir=None) as found:
                    same(found, known)
