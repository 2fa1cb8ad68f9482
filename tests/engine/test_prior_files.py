"""Files of check-ins among the parameters as a runtime opens them: once, without a dialog."""

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


def test_the_likeliest_people_of_a_public_file_are_taken(runtime, tmp_path: Path) -> None:
    """Of a file without a column of people every row is one; elsewhere that would be a guess."""
    value = runtime.add_file(written(tmp_path / "rows.csv", "time,lat,lon\n" + ROWS))
    data = runtime.context().checkins_of_file(value, public=True)
    assert data.users == 60
    assert runtime.context().checkins_of_file(value, public=True) is data
    with pytest.raises(ValueError, match="columns called user"):
        runtime.context().checkins_of_file(value)


def test_who_is_protected_is_not_guessed(runtime, tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{i % 9},{line}\n" for i, line in enumerate(ROWS.splitlines()))
    path = written(tmp_path / "two.csv", "owner,device,time,lat,lon\n" + rows)
    value = runtime.add_file(path)
    assert runtime.context().checkins_of_file(value, public=True).users in (7, 9)
    with pytest.raises(ValueError, match=r"csv: .*person"):
        runtime.context().checkins_of_file(value)


@pytest.mark.parametrize("public", [False, True])
def test_where_somebody_is_is_not_guessed(runtime, tmp_path: Path, public: bool) -> None:
    rows = "".join(f"{i % 7},{line}\n" for i, line in enumerate(ROWS.splitlines()))
    value = runtime.add_file(written(tmp_path / "ab.csv", "user,time,a,b\n" + rows))
    with pytest.raises(ValueError, match=r"ab\.csv: .* position"):
        runtime.context().checkins_of_file(value, public=public)


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
