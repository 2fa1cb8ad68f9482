"""Numbers as typed and as shown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.ui.widgets.numbers import format_number, parse_number, pretty_number, rich


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e-8", 1e-8),
        ("1E+6", 1e6),
        ("10^6", 1e6),
        ("10^-8", 1e-8),
        ("-10^2", -100.0),
        ("10**3", 1e3),
        ("2.5·10^-3", 2.5e-3),
        ("2.5 × 10^6", 2.5e6),
        ("-2.5*10^6", -2.5e6),
        ("10⁻⁸", 1e-8),
        ("2.5×10⁶", 2.5e6),
        ("1_000_000", 1e6),
        ("1,000,000", 1e6),
        ("1,000", 1e3),
        ("1 000 000", 1e6),
        ("1,234.5", 1234.5),
        ("0,5", 0.5),
        ("−3", -3.0),
        (" 7 ", 7.0),
    ],
)
def test_spellings_are_understood(text: str, number: float) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text", ["x", "1,2,3", "1..2", "nan", "inf", "10^", "1e400", "10^400", "--1", "1 2"]
)
def test_nonsense_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_number(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="nothing is typed here"):
        parse_number(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_shown_can_be_typed(number: float) -> None:
    shown = parse_number(format_number(number))
    assert math.isclose(shown, number, rel_tol=1e-5, abs_tol=1e-320)


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_are_shown_exactly(number: int) -> None:
    assert parse_number(format_number(number)) == number


@given(st.floats(1e-300, 1e300))
def test_pretty_numbers_can_be_typed_too(number: float) -> None:
    assert math.isclose(parse_number(pretty_number(number)), number, rel_tol=1e-3)


def test_pretty_numbers() -> None:
    assert pretty_number(1e8) == "10⁸"
    assert pretty_number(-2.5e-6) == "−2.5×10⁻⁶"
    assert pretty_number(None) == pretty_number(math.nan) == "–"
    assert pretty_number(1000000) == "1,000,000"


def test_subscripts_are_html_and_the_rest_is_not() -> None:
    assert rich("λ_max < 2") == "λ<sub>max</sub> &lt; 2"
