"""The program stays within the budgets of its size (`tests/size.py`)."""

from __future__ import annotations

import ast

import pytest

from tests import size


@pytest.mark.full
def test_every_package_is_within_its_budget() -> None:
    sizes = size.package_sizes()
    assert sizes.keys() == size.BUDGET.keys()
    over = {
        name: (found.modules, found.tokens)
        for name, found in sizes.items()
        if found.modules > size.BUDGET[name][0] or found.tokens > size.BUDGET[name][1]
    }
    assert over == {}


@pytest.mark.full
def test_imports_are_a_small_share_of_statements() -> None:
    assert size.total_size().import_share <= size.MAX_IMPORT_SHARE


@pytest.mark.full
def test_few_lines_are_exempt_from_the_formatter() -> None:
    assert size.formatter_exemptions() <= size.MAX_FORMATTER_EXEMPTIONS


@pytest.mark.full
def test_import_cycles_with_functions_counted() -> None:
    found = size.import_cycles()
    assert len(found) <= size.MAX_CYCLES, found


@pytest.mark.full
def test_few_tests_assert_prose() -> None:
    assert size.prose_share() <= size.MAX_PROSE_SHARE


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
