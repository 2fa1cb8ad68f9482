"""Parsing of typed numbers."""

from __future__ import annotations

import pytest

from explorer.ui.widgets.value_field import parse_number, rich


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
    with pytest.raises(ValueError, match="nothing"):
        parse_number(text)


def test_subscripts_are_html_and_the_rest_is_not() -> None:
    assert rich("λ_max < 2") == "λ<sub>max</sub> &lt; 2"
