"""Functions of floats over arrays: floats in, one broadcast, a float for a float."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import explorer.privacy
from explorer.privacy.core.vectorised import columns, vectorised


def test_floats_are_handed_in_and_come_out():
    seen = []

    def product(a, b):
        seen.extend([type(a), type(b)])
        return a * b

    alone = vectorised(product)(np.float64(2), 3)
    assert type(alone) is float
    assert alone == 6
    table = vectorised(product)([[1], [2]], [3, 4, 5])
    assert table.tolist() == [[3, 4, 5], [6, 8, 10]]
    assert vectorised(product)(np.empty((0, 1)), [1, 2]).shape == (0, 2)
    assert set(seen) == {float}


def test_rows_go_along_the_last_axis_and_are_split_into_columns():
    both = vectorised(divmod, row=2)
    assert both(7, 2).tolist() == [3, 1]
    assert columns(both(7, 2)) == (3.0, 1.0)
    quotient, rest = columns(both([7, 9], [[2], [5]]))
    assert quotient.tolist() == [[3, 4], [1, 1]]
    assert rest.tolist() == [[1, 1], [2, 4]]
    assert both(np.empty(0), 1).shape == (0, 2)


def test_nobody_else_loops_over_places():
    folder = Path(explorer.privacy.__file__).parent
    loops = ("np.ndindex", "np.nditer", "np.ndenumerate", "np.vectorize(", "np.frompyfunc")
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if any(loop in path.read_text(encoding="utf-8") for loop in loops)
    }
    assert found == {"core/vectorised.py"}
