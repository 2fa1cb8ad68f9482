"""What the simulations of all studies share."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.simulation import dots_series, trial_pieces
from explorer.studies.base.study import Cancelled, Mark
from tests.studies.context import Context


def told(experiment, trials, seed):
    return np.array([(trials, *seed)] * trials)


def test_trials_come_in_pieces_with_seeds_of_their_own():
    context = Context()
    pieces = list(trial_pieces(context, told, "any", 7, 3, (5, 1)))
    assert [len(p) for p in pieces] == [3, 3, 1]
    assert [p[0].tolist() for p in pieces] == [[3, 5, 1, 0], [3, 5, 1, 3], [1, 5, 1, 6]]
    assert context.heavy_calls == ["told"] * 3
    assert list(trial_pieces(context, told, "any", 0, 3, ())) == []


def test_nobody_computes_pieces_that_nobody_waits_for():
    context = Context(stop_after=2)
    with pytest.raises(Cancelled):
        list(trial_pieces(context, told, "any", 9, 3, ()))
    assert len(context.heavy_calls) == 2


def test_dots_have_error_bars():
    source = Reference("Anybody", "somewhere")
    dots = dots_series("a", "A", source, [(1.0, 5.0, 4.0, 7.0), (2.0, 6.0, 6.0, 6.5)], "noted")
    assert (dots.role, dots.mark, dots.note) == (Role.ESTIMATE, Mark.DOTS, "noted")
    columns = [column.tolist() for column in (dots.x, dots.y, dots.low, dots.high)]
    assert columns == [[1, 2], [5, 6], [4, 6], [7, 6.5]]
