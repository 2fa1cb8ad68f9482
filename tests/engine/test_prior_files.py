"""Files of priors as a runtime opens them: without questions, once, until they are not wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engine.runtime import StudyRuntime
from explorer.studies.base.study import Cancelled

ROWS = "".join(f"2010-01-{1 + i % 28:02d}T00:00:00Z,40.7{i},-73.9{i}\n" for i in range(60))


@pytest.fixture
def runtime():
    runtime = StudyRuntime()
    yield runtime
    runtime.close()


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_likeliest_columns_are_taken(runtime, tmp_path: Path) -> None:
    """Few users in many rows are asked about elsewhere; rows without any are people here."""
    lines = ROWS.splitlines()
    few = "user,time,lat,lon\n" + "".join(f"{i % 3},{line}\n" for i, line in enumerate(lines))
    without = "time,lat,lon\n" + ROWS
    for text, users in ((few, 3), (without, 60)):
        value = runtime.add_file(written(tmp_path / f"{users}.csv", text))
        data = runtime.context().checkins_of_file(value)
        assert data.users == users
        assert runtime.context().checkins_of_file(value) is data


def test_what_is_no_file_of_check_ins_is_refused(runtime, tmp_path: Path) -> None:
    value = runtime.add_file(written(tmp_path / "words.csv", "a,b\nx,y\nz,w\n"))
    with pytest.raises(ValueError, match=r"words\.csv"):
        runtime.context().checkins_of_file(value)
    with pytest.raises(LookupError):
        runtime.context().checkins_of_file("elsewhere.csv#" + "0" * 64)


def test_reading_stops_when_it_is_not_wanted(runtime, tmp_path: Path) -> None:
    value = runtime.add_file(written(tmp_path / "c.csv", "user,time,lat,lon\n7," + ROWS))

    def stop() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        runtime.context(stop).checkins_of_file(value)
