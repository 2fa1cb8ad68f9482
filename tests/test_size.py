"""The program stays within the budgets of its size (`tests/size.py`)."""

from __future__ import annotations

import ast

import pytest

from tests import size
from tests.source_tree import import_graph, sources


@pytest.mark.full
def test_every_measure_is_within_its_budget() -> None:
    """Of packages, imports, lines that the formatter skips, cycles of imports and tests."""
    sizes = size.package_sizes()
    assert sizes.keys() == size.BUDGET.keys()
    over = {
        name: (found.modules, found.tokens)
        for name, found in sizes.items()
        if found.modules > size.BUDGET[name][0] or found.tokens > size.BUDGET[name][1]
    }
    assert over == {}
    assert size.total_size().import_share <= size.MAX_IMPORT_SHARE
    assert size.formatter_exemptions() <= size.MAX_FORMATTER_EXEMPTIONS
    assert any(import_graph(sources(), functions=False).values())
    assert len(size.import_cycles()) <= size.MAX_CYCLES, size.import_cycles()
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
