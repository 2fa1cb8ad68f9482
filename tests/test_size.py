"""What is measured of the program's size (`tests/size.py`)."""

from __future__ import annotations

import ast

import pytest

from tests import size


def test_a_measure_over_its_budget_is_named() -> None:
    """CI runs the module, which measures everything once."""
    assert size.exceeded({"tokens": (2, 1), "modules": (1, 1)}) == ["tokens, 2 > 1"]


@pytest.mark.parametrize(
    ("body", "prose"),
    [
        ("assert text == 'four words or more'", True),
        ("assert 'one more long sentence' in text", True),
        ("assert text == 'three words only'", False),
        ("with raises(E, match='a sentence of the error'): f()", True),
        ("print('a sentence that is not compared')", False),
    ],
)
def test_what_counts_as_prose(body: str, prose: bool) -> None:
    assert size.asserts_prose(ast.parse(body)) is prose
