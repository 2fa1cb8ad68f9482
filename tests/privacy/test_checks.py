"""The one validator: what it lets through, and how it names what it does not."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import explorer.privacy
from explorer.privacy.core import checks


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: checks.reals("x", 2.0, 0.0, 1.0), "x: 2 is outside [0, 1]"),
        (lambda: checks.reals("x", [0.5, 0.0, -1.0], 0.0, open_low=True), "x: 0 is outside (0,"),
        (lambda: checks.reals("x", math.inf, 0.0, open_high=True), "x: inf is outside [0, inf)"),
        (lambda: checks.reals("x", [[0.5, math.nan]], 0.0), "x: nan is outside [0, inf]"),
        (lambda: checks.positive("x", 0.0), "x: 0 is outside (0, inf)"),
        (lambda: checks.open_unit("x", 1.0), "x: 1 is outside (0, 1)"),
        (lambda: checks.integers("x", [1, 2.5], 1, 9), "x: 2.5 is not a whole number in [1, 9]"),
        (lambda: checks.whole("x", 0, 1), "x: 0 is outside [1, inf]"),
        (lambda: checks.population([1, 7], 5), "k: 7 is outside [1, n = 5]"),
        (lambda: checks.one_of("x", "c", ("a", "b")), "x: 'c' is not one of a, b"),
    ],
)
def test_refusals_name_parameter_value_and_domain(call, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        call()


def test_what_is_inside_comes_back_as_an_array():
    ends = checks.reals("x", [0, 1], 0.0, 1.0)
    assert ends.dtype == float
    assert ends.tolist() == [0, 1]
    assert checks.reals("x", [], 0.0, 1.0).size == 0
    large = checks.whole("x", 2**60 + 1, 1)
    assert large.dtype == np.int64
    assert int(large) == 2**60 + 1
    sampled, clients = checks.population([[1], [2]], [5, 6, 7])
    assert sampled.shape == clients.shape == (2, 3)


def test_nobody_else_checks_a_range():
    # Exact integers and fractions are never made floats, and what is wrong with many
    # entries of data is said of the data.
    exact = {
        "noise/exact.py",
        "noise/bits.py",
        "heatmaps/integers.py",
        "spaces.py",
        "heatmaps/shuffle_protocol.py",
        "user_metric/exact_release.py",
        "coordinates/exact_reports.py",
        "noise/laplace_law.py",
        "releases/attacks.py",
        "releases/budgets.py",
        "releases/conversions.py",
    }
    folder = Path(explorer.privacy.__file__).parent
    by_hand = re.compile(r"\"\w+: \{\w+(!r|:g)?\} is (outside|below \d|not a (whole|finite))")
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert found <= exact
