"""What repeated and overlapping releases add up to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from explorer.privacy.releases.conversions import max_releases, periodic_cost, zcdp_break_even
from explorer.release.ledger.differencing import overlaps
from explorer.release.ledger.state import Release
from tests import snapshots

WEEK = Fraction(1, 10)
DELTA = Fraction(1, 10**6)


def test_weekly_releases_add_up_as_the_specification_says() -> None:
    found = periodic_cost(WEEK, DELTA, (4, 52, 260))
    assert [row.sum_epsilon for row in found] == [Fraction(2, 5), Fraction(26, 5), 26]
    assert [round(row.zcdp_epsilon, 2) for row in found] == [0.90, 3.62, 9.05]
    assert [max_releases(WEEK, Fraction(e), DELTA) for e in (1, 3, 10)] == [
        (10, 4),
        (30, 37),
        (100, 307),
    ]


def test_zcdp_pays_late() -> None:
    assert zcdp_break_even(WEEK, DELTA) == 24
    assert zcdp_break_even(Fraction(1), DELTA) == 103
    with pytest.raises(ValueError, match="at least 1"):
        periodic_cost(WEEK, DELTA, (0,))


def _release(parameters: dict[str, Any] | None, seq: int = 7) -> Release:
    return Release(
        "a",
        "p",
        "count.users/1",
        Fraction(1, 2),
        "published",
        seq,
        "2026-01-01",
        parameters=parameters,
    )


def _where(
    south: str, west: str, north: str, east: str, start: str = "01", end: str = "15"
) -> dict[str, Any]:
    return {
        "box": [south, west, north, east],
        "start": f"2026-01-{start}T00:00:00Z",
        "end": f"2026-01-{end}T00:00:00Z",
    }


def test_nested_releases_are_told_with_what_lies_between() -> None:
    (found,) = overlaps(
        _where("0", "0", "0.98", "1"), Fraction(1, 4), [_release(_where("0", "0", "1", "1"))]
    )
    assert (found.nested, found.between, found.total) == (True, Fraction(1, 50), Fraction(3, 4))
    for word in ("Release 7", "nested", "2 %", "ε = 3/4"):
        assert word in found.sentence


def test_shares_of_area_and_time_are_exact() -> None:
    mine = _where("0", "0", "1", "1", "01", "15")
    (found,) = overlaps(mine, WEEK, [_release(_where("0.5", "0.5", "2", "2", "08", "22"))])
    assert (found.area, found.time, found.nested) == (Fraction(1, 4), Fraction(1, 2), False)
    snapshots.check(found.sentence)
    assert "25 % of its area" in found.sentence
    assert "50 % of its time" in found.sentence
    apart = [_where("2", "2", "3", "3"), _where("0", "0", "1", "1", "15", "22")]
    assert overlaps(mine, WEEK, map(_release, apart)) == []
    (same,) = overlaps(mine, WEEK, [_release(mine)])
    assert (same.area, same.time, same.between) == (1, 1, 0)


def test_what_has_no_end_is_around_everything_and_its_share_is_not_told() -> None:
    box = {"box": ["0", "0", "1", "1"]}
    (found,) = overlaps({}, WEEK, [_release(box)])
    assert (found.area, found.nested, found.between) == (None, True, None)
    assert "the part between" in found.sentence
    (found,) = overlaps(box, WEEK, [_release({})])
    assert (found.area, found.time, found.nested) == (1, 1, True)
    assert overlaps(box, WEEK, [_release(None), _release({"box": ["x"]})]) == []
