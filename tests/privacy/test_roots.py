"""Roots of increasing functions of one number, with and without a hint."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.roots import rough_root, safe_side

places = st.floats(-30.0, 30.0)


def counted(root: float, steepness: float):
    """Return an increasing function with that root, −∞ far below it, and what it was asked."""
    asked = []

    def function(x: float) -> float:
        asked.append(x)
        return math.sinh(steepness * (x - root)) if x > root - 20 else -math.inf

    return function, asked


@given(root=places, near=st.none() | places, steepness=st.floats(1e-3, 5.0))
def test_rough_root_is_near_whatever_the_hint(root, near, steepness):
    function, asked = counted(root, steepness)
    assert rough_root(function, -31.0, 31.0, near) == pytest.approx(root, abs=2e-9)
    assert all(-31.0 <= x <= 31.0 for x in asked)


@given(root=places, off=st.floats(-0.05, 0.05))
def test_a_good_hint_spares_most_of_the_work(root, off):
    function, asked = counted(root, 1.0)
    rough_root(function, -31.0, 31.0, root + off)
    # Bisection to 1e-9 of this interval asks 36 times.
    assert len(asked) <= 12


@pytest.mark.parametrize("near", [None, -1.0, 0.3, 2.0])
@pytest.mark.parametrize(("root", "end"), [(-5.0, -1.0), (5.0, 2.0)])
def test_without_a_root_between_the_ends_the_nearer_end_is_returned(root, end, near):
    assert rough_root(lambda x: x - root, -1.0, 2.0, near) == end


def jumped(asked: list[float]):
    """Return a function that is −∞ up to 1 and 5 from there on, and lists what it is asked."""
    return lambda x: asked.append(x) or (5.0 if x > 1.0 else -math.inf)


@pytest.mark.parametrize("near", [None, 1.0 + 1e-10, 1.3])
def test_a_jump_at_the_lower_end_is_found_at_once(near):
    asked: list[float] = []
    assert rough_root(jumped(asked), 1.0, 8.0, near) == pytest.approx(1.0, abs=2e-9)
    assert len(asked) <= 5


def test_nothing_is_looked_for_between_the_safe_end_and_a_point_close_to_it():
    asked: list[float] = []
    start = 1.0 + 1e-9
    assert safe_side(jumped(asked), lambda x: math.inf, lambda x: 5.0, 1.0, start, 8.0) == 1.0
    assert asked == [start]
