"""The real files next to the checkout, against the counts in their README."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.checkins import CheckinData, Format, Reason, open_checkins, sniff

US = (0.0, -135.0, 50.0, -60.0)


def opened(folder: Path, name: str) -> CheckinData:
    if not (folder / name).exists():
        pytest.skip(f"{name} is not there")
    return open_checkins(folder / name, cache_dir=None)


def test_gowalla_new_york(real_checkins: Path) -> None:
    with opened(real_checkins, "gowalla-new-york.txt.gz") as data:
        assert data.report.physical_lines == 138_957
        assert data.users == 7_115
        assert data.report.rejected == {Reason.DUPLICATE: 6}
        assert data.rows == 138_951
        assert (data.first_time or "")[:10] == "2009-04-23"
        assert (data.last_time or "")[:10] == "2010-10-23"
        january = data.points(data.extent, "2010-01-01T00:00:00Z", "2010-02-01T00:00:00Z")
        assert (january.rows, january.users_used) == (8_166, 722)


def test_gowalla_first_lines_with_other_spelling_of_time(real_checkins: Path) -> None:
    with opened(real_checkins, "gowalla-first-10000.csv") as data:
        assert (data.report.physical_lines, data.rows, data.users) == (10_000, 10_000, 48)
        assert data.first_time is not None
    preview = sniff(real_checkins / "gowalla-first-10000.csv")
    assert preview.format is Format.SNAP
    assert preview.delimiter == "\t"


@pytest.mark.full
def test_weighted_rows_without_times(real_checkins: Path) -> None:
    with opened(real_checkins, "gowalla-world-userpoi.csv.gz") as data:
        assert (data.rows, data.users) == (255_138, 18_737)
        assert data.has_weights
        assert not data.has_times
        assert data.first_time is None
        us = data.points(US)
        assert (us.rows, us.users_in_region) == (189_337, 13_386)
        assert us.weight.min() >= 1
        assert us.weight.max() > 1
        with pytest.raises(ValueError, match="no times"):
            data.points(US, start="2010-01-01")


@pytest.mark.full
def test_foursquare_with_hexadecimal_places(real_checkins: Path) -> None:
    with opened(real_checkins, "foursquare-new-york.txt.gz") as data:
        assert data.report.physical_lines == 227_428
        assert data.users == 1_083
        assert data.report.rejected == {Reason.DUPLICATE: 250}
        assert (data.first_time or "")[:10] == "2012-04-03"
        assert (data.last_time or "")[:10] == "2013-02-16"
        everybody = data.points(data.extent)
        assert everybody.users_used == 1_083
        assert everybody.rows == data.rows
