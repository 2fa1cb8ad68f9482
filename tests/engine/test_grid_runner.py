"""A question over a grid: the study's own numbers in every cell, kept, resumed, cancelled."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.engine.experiments import Checkpoint
from explorer.engine.grid_runner import GridRunner, with_trial_seed
from explorer.engine.runtime import (
    FileNotOpenError,
    StudyRuntime,
    file_value,
    final_result,
)
from explorer.studies.base.grid import Grid, axes_of, parse_axis, requests_of, simulated
from explorer.studies.base.study import Cancelled, Sweep, default_request
from explorer.studies.registry import get_study, study_infos
from tests import snapshots

GRIDS = {
    "heatmap-theory": ("epsilon=0.5,2", "k=10,20"),
    "shuffle-rdp": ("eps0=0.5,2",),
    "amplification": ("n=1e3,1e5", "delta=1e-9:1e-6:2"),
    "histograms": ("eps=0.5,1", "d=10,100"),
    "cldp-sgd": ("eps0=1,2", "n=400,500"),
    "choose-alpha": ("eps1=0.1,0.2",),
    "itemwise": ("m=10,20",),
    "linear-queries": ("model=central,local", "n=1e4,1e5"),
    "frequency": ("m=10,20",),
    "unbounded": ("eps=0.2,1", "r=0.008,0.1"),
    "coordinate-mean": ("level=0.1,0.2", "d=5,10", "n=10,20"),
    "coordinate-learnt": ("mechanism=table,example2",),
    "private-regression": ("eps=1,4",),
    "users-data": ("alpha=10,20",),
}
"""Tiny ones, of every study with curves."""
EIGHT = Grid(("n=1e3,1e4,1e5,1e6", "delta=1e-9,1e-6"))
"""Cells of the amplification study."""


def tiny(study_id: str):
    """Return a study's question over a few points."""
    request = default_request(get_study(study_id))
    sweep = replace(request.sweep, points=3)
    if study_id == "private-regression":
        sweep = Sweep("n", 100, 200, 2, sweep.scale)
        request = request.with_value("trials", 2)
    if study_id == "cldp-sgd":  # trains
        for key, value in (("epochs", 2), ("k", 100), ("runs", 1)):
            request = request.with_value(key, value)
    return replace(request, sweep=sweep)


@pytest.fixture
def checkpoint(tmp_path):
    with closing(Checkpoint(tmp_path / "trials.db")) as kept:
        yield kept


def run(runner: GridRunner, checkpoint, executor=None, check=lambda: None):
    """Run a farm to its end; return its answer and how many pieces were computed."""
    counting = Counting(executor or InPlaceExecutor())
    for _ in runner.run(counting, checkpoint, check):
        pass
    return runner.answer, counting.computed


class Counting(InPlaceExecutor):
    """Counts the tasks that come by."""

    def __init__(self, inner):
        self.inner, self.workers, self.computed = inner, inner.workers, 0

    def submit(self, function, *args):
        self.computed += len(args[1])
        return self.inner.submit(function, *args)

    def cancel(self, future):
        self.inner.cancel(future)


def assert_same(cell, result):
    assert [s.key for s in cell.series] == [s.key for s in result.series]
    for ours, own in zip(cell.series, result.series, strict=True):
        for name in ("x", "y", "low", "high"):
            mine, its = getattr(ours, name), getattr(own, name)
            assert (mine is None) == (its is None)
            if its is not None:
                np.testing.assert_array_equal(mine, its)
        # Dots of small multiples aren't dragged.
        plain = {"x": None, "y": None, "low": None, "high": None, "handles": ()}
        assert replace(ours, **plain) == replace(own, **plain)
    assert cell.conditions == result.conditions
    assert cell.stamp == result.stamp


@pytest.mark.full
@pytest.mark.parametrize("study_id", [c.id for c in study_infos() if c.workspace == "bounds"])
def test_every_cell_has_the_studys_own_answer(study_id, checkpoint) -> None:
    request, grid = tiny(study_id), Grid(GRIDS[study_id])
    answer, _ = run(GridRunner(request, grid), checkpoint)
    assert answer.finished
    assert answer.done == answer.total
    runtime = StudyRuntime(worker=InPlaceExecutor())
    axes = axes_of(get_study(study_id), request, grid)
    for cell, asked in zip(answer.cells, requests_of(request, axes), strict=True):
        assert cell.error == ""
        assert cell.seeds == (request.seed,)
        for axis, value in zip(axes, answer.values_at(cell.place), strict=True):
            assert asked[axis.parameter.key] == value
        assert_same(cell, final_result(runtime, asked))


@pytest.mark.full
def test_a_stopped_grid_goes_on_where_it_was(checkpoint) -> None:
    request, grid = tiny("amplification"), EIGHT
    whole, needed = run(GridRunner(request, grid), checkpoint)
    assert needed == whole.total > 8
    again, computed = run(GridRunner(request, grid), checkpoint)
    assert computed == 0
    assert [c.place for c in again.cells] == list(range(8))
    for one, other in zip(again.cells, whole.cells, strict=True):
        assert_same(one, other)
    # Of a grid that shares half of its cells only the other half is computed.
    wider = Grid(("n=1e3,1e4,2e4,2e5", *grid.over[1:]))
    _, computed = run(GridRunner(request, wider), checkpoint)
    assert 0 < computed <= needed / 2


@pytest.mark.full
def test_a_cancelled_grid_keeps_what_it_has(checkpoint) -> None:
    request, grid = tiny("amplification"), EIGHT
    runner = GridRunner(request, grid)

    def check() -> None:
        if runner.answer.done >= 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        run(runner, checkpoint, check=check)
    stopped_at = runner.answer.done
    assert 3 <= stopped_at < runner.answer.total + 8
    whole, computed = run(GridRunner(request, grid), checkpoint)
    assert whole.finished
    assert computed == whole.total - stopped_at


@pytest.mark.full
def test_simulations_are_means_over_seeds_of_their_own(checkpoint) -> None:
    request = tiny("private-regression")
    grid = Grid(("eps=1,4",), trials=3)
    answer, _ = run(GridRunner(request, grid), checkpoint)
    assert answer.finished
    runtime = StudyRuntime(worker=InPlaceExecutor())
    drawn_anything = False
    for cell in answer.cells:
        asked = [with_trial_seed(cell.request, trial) for trial in range(3)]
        assert cell.seeds == tuple(a.seed for a in asked)
        assert cell.seeds[0] == request.seed
        assert len(set(cell.seeds)) == 3
        alone = [final_result(runtime, a).series for a in asked]
        for place, s in enumerate(cell.series):
            if not simulated(s):
                np.testing.assert_array_equal(s.y, alone[0][place].y)
                continue
            drawn_anything = True
            ys = np.stack([series[place].y for series in alone])
            np.testing.assert_allclose(s.y, ys.mean(axis=0), rtol=1e-12)
            half = 4.302652729749464 * ys.std(axis=0, ddof=1) / 3**0.5  # Student's t, 2 degrees
            np.testing.assert_allclose(s.high - s.y, half, rtol=1e-9)
            # An error is not below 0.
            np.testing.assert_allclose(s.y - s.low, np.minimum(half, s.y), rtol=1e-9)
            assert "mean of 3 trials" in s.note
    assert drawn_anything
    # More trials go on from these.
    more, computed = run(GridRunner(request, replace(grid, trials=4)), checkpoint)
    assert more.finished
    assert computed == 2


@pytest.mark.full
def test_worker_processes_find_the_same_bits(checkpoint, tmp_path) -> None:
    request, grid = tiny("amplification"), Grid(GRIDS["amplification"])
    here, _ = run(GridRunner(request, grid), checkpoint)
    executor = EmbeddedExecutor(2)
    try:
        with closing(Checkpoint(tmp_path / "other.db")) as other:
            there, _ = run(GridRunner(request, grid), other, executor)
            rows = list(other.rows())
    finally:
        executor.close()
    for one, two in zip(here.cells, there.cells, strict=True):
        assert_same(one, two)
    assert str(rows) == str(list(checkpoint.rows()))


def test_a_cell_that_has_no_answer_says_why(checkpoint) -> None:
    request = tiny("shuffle-rdp")
    answer, _ = run(GridRunner(request, Grid(("n=100,1e6",))), checkpoint)
    small, large = answer.cells
    assert large.error == ""
    if small.error:
        assert "k" in small.error
    else:  # more clients sampled than there are: nothing is drawn as if it held
        assert small.failing
        assert not any(s.present.any() for s in small.series if s.assumes == ())
    assert answer.finished


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (Grid(()), "1 to 3 parameters"),
        (Grid(("eps0=1", "n=10", "k=1", "delta=1e-6")), "1 to 3 parameters"),
        (Grid(("eps0=1,2", "eps0=3,4")), "twice"),
        (Grid(("T=1,2",)), "on the x axis"),
        (Grid(("lam=2,3",)), "does not matter|can't be part"),
        (Grid(("eps0=1,99",)), r"from 0.01 to 10"),
        (Grid(("eps0=",)), "KEY=VALUES"),
        (Grid(("eps0=1:2",)), "FROM:TO:N"),
        (Grid(("eps0=0.1:5:1001",)), "1001 values"),
        (Grid(("eps0=0.1:5:100", "n=1e4:1e6:100")), "10,000 cells"),
        (Grid(("eps0=1,2",), trials=0), "trials"),
        (Grid(("nonsense=1",)), "not a parameter"),
    ],
)
def test_what_cannot_be_asked_says_what_to_do(grid, words) -> None:
    with pytest.raises(ValueError, match=words):
        GridRunner(tiny("shuffle-rdp"), grid)


@pytest.mark.full
def test_a_file_that_is_not_open_yet_is_no_answer_that_is_kept(checkpoint, tmp_path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("x,y\n0,0\n1,0\n0,1\n")
    value = file_value(path)
    request = tiny("itemwise").with_value("space", "points").with_value("space_points", value)
    with pytest.raises(FileNotOpenError, match=r"places\.csv is") as error:
        run(GridRunner(request, Grid(("m=10,20",))), checkpoint)
    snapshots.check(error.value)
    answer, _ = run(GridRunner(request, Grid(("m=10,20",)), {value: path}), checkpoint)
    assert [cell.error for cell in answer.cells] == ["", ""]


def test_maps_are_named_their_own_command() -> None:
    with pytest.raises(ValueError, match="heatmap-quality"):
        GridRunner(default_request(get_study("heatmap")), Grid(("epsilon=1,2",)))


def test_values_are_lists_or_ranges_on_the_parameters_scale() -> None:
    study = get_study("shuffle-rdp")
    assert parse_axis(study, "eps0=0.5:4:4").values == (0.5, 1.0, 2.0, 4.0)
    assert parse_axis(study, "eps0=1:4:4:lin").values == (1.0, 2.0, 3.0, 4.0)
    assert parse_axis(study, "n=1e4, 1e5,1e4").values == (10_000, 100_000)
    assert parse_axis(study, "k=1:3:9").values == (1, 2, 3)
    assert parse_axis(study, "clones=2021,2023").values == ("2021", "2023")
