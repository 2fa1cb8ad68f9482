"""One function writes every number: upper bounds up, lower bounds down, the rest to nearest."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import (
    at_least,
    at_most,
    format_interval,
    format_number,
    nearest,
)
from explorer.ui.widgets.value_field import parse_number

ROOMS = Path(__file__).resolve().parents[2] / "explorer"


@pytest.mark.parametrize(
    ("value", "up", "down", "near"),
    [
        (3.848989, "3.849", "3.848", "3.849"),
        (2.11802, "2.119", "2.118", "2.118"),
        (0.244751, "0.2448", "0.2447", "0.2448"),
        (0.10834, "0.1084", "0.1083", "0.1083"),
        (0.1 + 0.2, "0.3", "0.3", "0.3"),
        (25.0, "25", "25", "25"),
        (1e-6, "1e-6", "1e-6", "1e-6"),
        (2.8312e-6, "2.832e-6", "2.831e-6", "2.831e-6"),
        (99.99999, "100", "99.99", "100"),
        (123_456.2, "123,457", "123,456", "123,456"),
        (1_000_000.0, "1,000,000", "1,000,000", "1,000,000"),
        (-27.6310211, "−27.63", "−27.64", "−27.63"),
        (0.0, "0", "0", "0"),
        (math.inf, "∞", "∞", "∞"),
    ],
)
def test_bounds_are_rounded_to_their_own_side(value, up, down, near):
    assert (at_most(value), at_least(value), nearest(value)) == (up, down, near)


@given(st.floats(1e-300, 1e300), st.integers(1, 9))
def test_no_bound_is_shown_on_the_unsafe_side(value, digits):
    up = parse_number(format_number(value, Role.UPPER, digits))
    down = parse_number(format_number(value, Role.LOWER, digits))
    assert down <= value * (1 + 1e-14)
    assert up >= value * (1 - 1e-14)
    assert up - down <= 1.001 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits) * 10
    for role in (Role.EXACT, Role.ESTIMATE, Role.BASELINE, None):
        assert down <= parse_number(format_number(value, role, digits)) <= up


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_shown_can_be_typed(number):
    shown = parse_number(format_number(number, digits=6, typeset=False))
    assert math.isclose(shown, number, rel_tol=1e-5, abs_tol=1e-320)
    if 1e-300 < abs(number) < 1e300:
        assert math.isclose(parse_number(format_number(number)), number, rel_tol=1e-3)


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_are_shown_exactly(number):
    assert parse_number(format_number(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (0.25, "0.25"),
        (1e6, "1,000,000"),
        (1000000, "1,000,000"),
        (123_456_789, "123,456,789"),
        (1e8, "10⁸"),
        (10**8, "10⁸"),
        (0.001, "0.001"),
        (0.00052, "5.2×10⁻⁴"),
        (2.5e-8, "2.5×10⁻⁸"),
        (-2.5e-6, "−2.5×10⁻⁶"),
        (1e-8, "10⁻⁸"),
        (-3e12, "−3×10¹²"),
        (0.0, "0"),
        (12345.678, "12,346"),
        (999_999.7, "1,000,000"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_numbers_are_written_for_reading(value, text):
    assert format_number(value) == text


def test_intervals_are_rounded_outwards():
    assert format_interval(0.123456, 0.123489) == "0.1234 … 0.1235"
    assert format_interval(2.0, 2.0) == "2"


_BY_HAND = re.compile(r":,?\.\d+[gef][}\"']|%\.\d+[gef]")
_ALLOWED = {
    # What is computed with, not shown: a number cut to a few digits and read back.
    "engine/solving.py",
    "ui/bounds/solving.py",
    "studies/base/parameters.py",
    "ui/plot/handles.py",
    "ui/bounds/value_line.py",
    "ui/plot/axes.py",
    "studies/base/numbers.py",
    "ui/panels/data.py",
    "studies/heatmap/experiments/error_curves.py",
    "studies/base/grid.py",
    # Seconds, megabytes, per cent and sizes on the ground: no result of a study.
    "ui/controllers/activity.py",
    "ui/dialogs/reading_fields.py",
    "ui/dialogs/busiest.py",
    "ui/dialogs/open_checkins.py",
    "ui/dialogs/help_window.py",
    "ui/app/application.py",
    "cli/opening.py",
    "cli/running.py",
    "cli/stored_files.py",
    "cli/heatmap.py",
    "figures/pages/maps.py",
    "figures/recipes.py",
    "studies/metric_space/files.py",
    "studies/metric_space/space.py",
}


def test_no_number_of_a_study_is_formatted_by_hand():
    found = []
    for room in ("studies", "figures", "ui", "cli", "engine"):
        for path in (ROOMS / room).rglob("*.py"):
            name = path.relative_to(ROOMS).as_posix()
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [
                f"{name}:{i}"
                for i, line in enumerate(lines, 1)
                # Counts ("1,000 users") have no digits after the point, and no role.
                if any(":,.0f" not in m and ":.0f" not in m for m in _hits(line))
                and name not in _ALLOWED
            ]
    assert found == []


def _hits(line: str) -> list[str]:
    return [m[0] for m in _BY_HAND.finditer(line)]
