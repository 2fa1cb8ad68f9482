"""Ticks: inside the axis, distinct, and limited in number."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from explorer.ui.plot.axes import linear_ticks, log_ticks, nice_range, pad_ends

ROOM = st.floats(2, 30)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), ROOM)
def test_linear_ticks(low: float, span: float, room: float) -> None:
    high = low + span
    major, minor = linear_ticks(low, high, room)
    assert len(major) + len(minor) >= 1
    assert len(major) <= room * (1 + 1e-9) + 1  # as rounding of span / max_labels allows
    slack = 1e-6 * max(abs(low), abs(high), span)
    assert all(low - slack <= x <= high + slack for x in major + minor)
    assert len(set(major + minor)) == len(major) + len(minor)


@given(st.floats(-40, 10), st.floats(0.01, 50), ROOM)
def test_log_ticks(low: float, span: float, room: float) -> None:
    high = low + span
    major, minor = log_ticks(low, high, room)
    assert len(major) <= max(room + 1, 3)
    assert all(low - 1e-6 <= x <= high + 1e-6 for x in major + minor)
    assert sorted(set(major)) == sorted(major)
    assert not set(major) & set(minor)
    if span > 1:
        assert all(abs(x - round(x)) < 1e-9 or span < 2.2 for x in major)


@given(st.floats(-30, 30), st.floats(0, 12))
def test_nice_log_ranges_hold_the_data_and_little_more(low: float, span: float) -> None:
    a, b = nice_range(low, low + span, log=True)
    assert a <= low + 1e-9
    assert low + span <= b + 1e-9
    assert a < b
    assert b - a <= span + 2


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_nice_linear_ranges_hold_the_data(low: float, span: float) -> None:
    a, b = nice_range(low, low + span, log=False)
    slack = 1e-6 * (b - a)
    assert a <= low + slack
    assert low + span <= b + slack
    assert a < b


def test_a_little_more_data_leaves_the_axis_alone() -> None:
    assert nice_range(0.1, 7.3, log=False) == nice_range(0.1, 7.4, log=False) == (0.0, 7.5)
    assert nice_range(-7.3, 2.1, log=True) == nice_range(-7.2, 2.4, log=True) == (-8, 3)
    assert math.isclose(nice_range(0.0, 0.29, log=True)[1], math.log10(2))


def test_marks_at_the_ends_get_room_and_others_leave_the_axis_alone() -> None:
    assert pad_ends(0.0, 10.0, 0.0, 10.0, 0.01) == (-0.1, 10.1)
    assert pad_ends(0.0, 10.0, 0.05, 9.0, 0.01) == (0.05 - 0.1, 10.0)
    assert pad_ends(0.0, 10.0, 1.0, 9.0, 0.01) == (0.0, 10.0)
    # Points beyond are intentionally outside.
    assert pad_ends(0.0, 10.0, -5.0, 20.0, 0.01) == (0.0, 10.0)
