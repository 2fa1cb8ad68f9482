"""Parsing of typed numbers."""

from __future__ import annotations

import re

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
        ("200k", 2e5),
        ("200 K", 2e5),
        ("1M", 1e6),
        ("2,5M", 2.5e6),
        ("1/3", 1 / 3),
        ("½", 0.5),
        ("50 %", 0.5),
        ("4.1M", 4.1e6),
        ("2.3k", 2300.0),
        ("35 %", 0.35),
        ("1.234.567,8", 1234567.8),
        ("50.000", 50.0),
    ],
)
def test_spellings_are_understood(text: str, number: float) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["x", "2oo", "1,2,3", "1..2", "nan", "inf", "10^", "1e400", "10^400", "--1", "1 2", "1/0"],
)
def test_nonsense_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="Cannot read"):
        parse_number(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="Enter"):
        parse_number(text)


@pytest.mark.parametrize("text", ["50.000", "1,234", "-7.125"])
def test_a_separator_that_could_group_or_not_is_refused_where_both_are_usual(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse_number(text, decimal_comma=True)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.125", 0.125), ("0,5", 0.5), ("1.234.567", 1234567.0), ("50000", 5e4), ("1,25", 1.25)],
)
def test_where_the_decimal_sign_is_a_comma_clear_spellings_are_read(
    text: str, number: float
) -> None:
    assert parse_number(text, decimal_comma=True) == number


def test_subscripts_are_html_and_the_rest_is_not() -> None:
    assert rich("λ_max < 2") == "λ<sub>max</sub> &lt; 2"
