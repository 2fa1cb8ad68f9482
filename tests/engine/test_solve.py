"""Solving for a parameter: closed curves whose answers are known by heart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.engine.runtime import StudyRuntime
from explorer.engine.solving import (
    Solution,
    SolveGoal,
    solution_sentence,
    solvable_parameters,
    solvable_series,
    solve,
)
from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.studies.base.study import (
    Cancelled,
    Context,
    Fidelity,
    Kind,
    Mark,
    Parameter,
    Quantity,
    Request,
    Result,
    Scale,
    Series,
    Study,
    default_request,
)
from explorer.studies.base.sweeping import swept_points
from explorer.studies.registry import register, unregister
from tests import snapshots

SOURCE = Reference("Shapes (tests)", "line 1")
Shape = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass
class Shapes(Study):
    """y as a function of a real x, a whole m and an unsweepable b, in several curves."""

    curves: dict[str, tuple[Role, Shape]]
    id: str = "shapes"
    references: tuple[Reference, ...] = (SOURCE,)
    quantities: tuple[Quantity, ...] = (Quantity("y", "y", "height", ("x", "m", "axis")),)
    parameters: tuple[Parameter, ...] = (
        Parameter("x", "x", "place", "Where.", Kind.REAL, 1.0, 0.001, 1000.0, Scale.LOG),
        Parameter("m", "m", "count", "How many.", Kind.INTEGER, 10, 1, 1_000_000, Scale.LOG),
        Parameter("b", "b", "factor", "Times.", Kind.REAL, 1.0, 0.0, 8.0),
        Parameter("far", "f", "far", "Of no use.", Kind.REAL, 1.0, 0, 1, quantities=("none",)),
        Parameter("axis", "γ", "made", "Of others.", Kind.REAL, 0.5, 0, 1, axis_only=True),
        Parameter("how", "", "how", "Any.", Kind.CHOICE, "a", choices=(("a", "A"),)),
    )
    asked: list[Request] = field(default_factory=list)
    mark: Mark = Mark.LINE
    formula: bool = False

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        self.asked.append(request)
        points = swept_points(self, request)
        x, m, b = (points[key][:-1] for key in ("x", "m", "b"))
        drawn = []
        for key, (role, shape) in self.curves.items():
            with np.errstate(invalid="ignore"):
                y = shape(x, m, b) + 0 * x
            drawn.append(
                Series(
                    key,
                    key,
                    role,
                    points.x,
                    y,
                    SOURCE,
                    mark=self.mark,
                    formula=self.formula,
                    undefined_reason="left out" if np.isnan(y).any() else "",
                )
            )
        # A coarse answer that is far off must not be taken for the curve.
        off = tuple(replace(s, y=s.y * 3) for s in drawn)
        yield Result(request, Fidelity.COARSE, series=off)
        context.check()
        yield Result(request, Fidelity.FULL, series=tuple(drawn), complete=True)


@pytest.fixture
def ask() -> Iterator[Callable[..., Solution]]:
    host = StudyRuntime()
    known: list[str] = []

    def one(
        shape: Shape,
        target: float,
        parameter: str = "x",
        role: Role = Role.UPPER,
        check: Callable[[], None] = lambda: None,
        **values: float,
    ) -> Solution:
        study = Shapes({"curve": (role, shape)}, id=f"shapes{len(known)}")
        known.append(study.id)
        register(study)
        return solve(
            host, SolveGoal(default_request(study, **values), "curve", parameter, target), check
        )

    yield one
    for study_id in known:
        unregister(study_id)
    host.close()


@given(target=st.floats(1e-6, 1e6), power=st.sampled_from([-2.0, -1.0, 0.5, 1.0, 2.0]))
def test_powers_are_inverted_and_rounded_to_the_safe_side(target: float, power: float) -> None:
    study = Shapes({"curve": (Role.UPPER, lambda x, m, b: x**power)})
    register(study)
    host = StudyRuntime()
    try:
        found = solve(host, SolveGoal(default_request(study), "curve", "x", target), lambda: None)
    finally:
        unregister(study.id)
        host.close()
    wanted = target ** (1 / power)
    if 0.001 < wanted < 1000:
        assert found.value == pytest.approx(wanted, rel=1.1e-5)
        assert found.reached <= target * (1 + 1e-15)
        assert found.reached == pytest.approx(found.value**power, rel=1e-12)
    elif not 0.00099 < wanted < 1001:
        assert found.value is None
        assert found.nearest == (0.001 if wanted < 1 else 1000)


def test_a_lower_bound_is_kept_above_its_target(ask) -> None:
    found = ask(lambda x, m, b: x**1.5, 7.3, role=Role.LOWER)
    assert found.value == pytest.approx(7.3 ** (2 / 3), rel=1.1e-5)
    assert found.value**1.5 >= 7.3


@pytest.mark.parametrize("target", [2.0, 17.4, 999.99, 3.2e5])
def test_whole_numbers_are_the_last_that_keeps_the_target(ask, target) -> None:
    up = ask(lambda x, m, b: m * 1.5, target, "m")
    assert up.value == math.floor(target / 1.5)
    assert isinstance(up.value, int)
    down = ask(lambda x, m, b: 4 * target / m, target, "m")
    assert down.value == 4


def test_a_step_is_taken_on_its_safe_side(ask) -> None:
    found = ask(lambda x, m, b: np.where(x <= 30, 1.0, 5.0), 2.0)
    assert found.value == pytest.approx(30, rel=1e-5)
    assert found.reached == 1.0
    found = ask(lambda x, m, b: np.where(x <= 30, 5.0, 1.0), 2.0)
    assert found.value == pytest.approx(30, rel=1e-5)
    assert found.value > 30


@pytest.mark.parametrize("target", [3.0, 2.9, 0.7, 1.0])
def test_steps_are_followed_to_their_far_end(ask, target) -> None:
    # Steps of width 0.004, each 0.1 higher: 29 of them are 2.9000000000000004 high.
    def stairs(x: FloatArray, m: FloatArray, b: FloatArray) -> FloatArray:
        return 0.1 * np.ceil(x / 0.004 - 1e-9)

    for x in (0.01, 0.11, 0.2):
        found = ask(stairs, target, x=x)
        assert found.value == pytest.approx(0.04 * target, rel=2e-6)
        assert found.reached == pytest.approx(target, rel=1e-15)
    down = ask(lambda x, m, b: -stairs(x, m, b), -target, role=Role.LOWER)
    assert down.value == pytest.approx(0.04 * target, rel=2e-6)


def test_a_curve_that_hits_its_target_exactly_is_not_asked_more_often() -> None:
    study = Shapes({"curve": (Role.UPPER, lambda x, m, b: x)})
    register(study)
    host = StudyRuntime()
    try:
        found = solve(host, SolveGoal(default_request(study), "curve", "x", 8.0), lambda: None)
    finally:
        unregister(study.id)
        host.close()
    assert found.value == 8.0
    assert len(study.asked) < 20


def test_of_several_crossings_the_nearest_is_taken_and_the_others_are_reported(ask) -> None:
    def hill(x: FloatArray, m: FloatArray, b: FloatArray) -> FloatArray:
        return np.log10(x) ** 2

    right = ask(hill, 1.0, x=50.0)
    left = ask(hill, 1.0, x=0.02)
    assert right.value == pytest.approx(10, rel=1e-5)
    assert left.value == pytest.approx(0.1, rel=1e-5)
    assert right.others == pytest.approx((0.1,), rel=0.02)
    words = solution_sentence(right)
    snapshots.check(words)


def test_a_narrow_valley_between_grid_points_is_found(ask) -> None:
    def valley(x: FloatArray, m: FloatArray, b: FloatArray) -> FloatArray:
        return np.abs(np.log(x / 3.21)) + 1e-3

    assert ask(valley, 0.01).reached <= 0.01
    missed = ask(valley, 5e-4)
    assert not missed.possible
    assert missed.nearest == pytest.approx(3.21, rel=0.01)
    assert missed.reached < 0.01


def test_what_cannot_be_is_reported_with_the_nearest_that_can(ask) -> None:
    found = ask(lambda x, m, b: 1 - np.exp(-x), 2.0)
    assert (found.value, found.possible) == (None, False)
    assert found.reached == pytest.approx(1.0)
    words = solution_sentence(found)
    assert words.startswith("Impossible: y = 2 is not reached for x from 0.001 to 1,000; ")
    snapshots.check(words)


def test_curves_that_leave_the_plot_are_followed_to_their_edge(ask) -> None:
    def partial(x: FloatArray, m: FloatArray, b: FloatArray) -> FloatArray:
        return np.where(x < 7.77, x, np.nan)

    assert ask(partial, 7.7).value == pytest.approx(7.7, rel=1e-5)
    beyond = ask(partial, 9.0)
    assert beyond.nearest == pytest.approx(7.77, rel=5e-3)
    nowhere = ask(lambda x, m, b: np.nan * x, 1.0)
    assert nowhere.nearest is None
    snapshots.check(solution_sentence(nowhere))
    assert solution_sentence(nowhere).endswith(": left out")


def test_a_parameter_that_cannot_be_swept_is_solved_point_by_point(ask) -> None:
    found = ask(lambda x, m, b: x * b**2, 12.0, "b", x=3.0)
    assert found.value == pytest.approx(2.0, rel=1e-5)
    assert 3.0 * found.value**2 <= 12.0
    assert ask(lambda x, m, b: b, 0.0, "b").value == 0.0


def test_the_end_of_the_range_counts_as_reached(ask) -> None:
    assert ask(lambda x, m, b: x, 1000.0).value == 1000
    assert ask(lambda x, m, b: x, 1000.0 * (1 - 1e-13)).value == pytest.approx(1000)


def test_the_curve_is_looked_at_once_while_the_target_moves() -> None:
    study = Shapes({"curve": (Role.EXACT, lambda x, m, b: x)})
    register(study)
    host = StudyRuntime()
    try:
        request = default_request(study)
        for target in (3.0, 4.0):
            solve(host, SolveGoal(request, "curve", "x", target), lambda: None)
            request = request.with_value("x", target)
        long = [r for r in study.asked if r.sweep is not None and r.sweep.points > 20]
        assert len(long) == 1
        few = len(study.asked)
        solve(host, SolveGoal(request, "curve", "x", 5.0, digits=3), lambda: None)
        assert len(study.asked) - few < 12
    finally:
        unregister(study.id)
        host.close()


def test_what_cannot_be_solved_for_is_refused(ask) -> None:
    study = Shapes({"curve": (Role.UPPER, lambda x, m, b: x)})
    request = default_request(study)
    assert [p.key for p in solvable_parameters(study, request)] == ["x", "m", "b"]
    for key in ("far", "axis", "how"):
        with pytest.raises(ValueError, match=f"'{key}' can't be solved for here; x, m, b can"):
            ask(lambda x, m, b: x, 1.0, key)
    with pytest.raises(ValueError, match="not a finite number"):
        ask(lambda x, m, b: x, math.nan)


def test_simulations_and_unknown_curves_are_refused() -> None:
    study = Shapes({"curve": (Role.ESTIMATE, lambda x, m, b: x)})
    register(study)
    host = StudyRuntime()
    try:
        request = default_request(study)
        why = "no curve that can be solved for: it is drawn at random, .*; none can"
        with pytest.raises(ValueError, match=why):
            solve(host, SolveGoal(request, "curve", "x", 1.0), lambda: None)
        with pytest.raises(ValueError, match="'other' here; there") as error:
            solve(host, SolveGoal(request, "other", "x", 1.0), lambda: None)
        snapshots.check(error.value)
        (answer,) = [a for a in host.answer(request, lambda: None) if a.complete]
        assert solvable_series(answer) == []
    finally:
        unregister(study.id)
        host.close()


def test_estimates_by_a_formula_are_solved_after_all_others() -> None:
    study = Shapes(
        {
            "chance": (Role.BASELINE, lambda x, m, b: x),
            "order": (Role.ESTIMATE, lambda x, m, b: 10 / x),
            "bound": (Role.UPPER, lambda x, m, b: 2 * x),
        },
        formula=True,
    )
    register(study)
    host = StudyRuntime()
    try:
        request = default_request(study)
        found = solve(host, SolveGoal(request, "order", "x", 4.0), lambda: None)
        assert found.value == 2.5
        assert "(order, estimate)" in solution_sentence(found)
        (answer,) = [a for a in host.answer(request, lambda: None) if a.complete]
        assert [s.key for s in solvable_series(answer)] == ["bound", "order", "chance"]
    finally:
        unregister(study.id)
        host.close()


def test_dots_that_are_computed_are_solved_and_bars_are_not() -> None:
    for mark, formula, solvable in (
        (Mark.DOTS, True, True),
        (Mark.DOTS, False, False),
        (Mark.BARS, True, False),
    ):
        study = Shapes({"curve": (Role.EXACT, lambda x, m, b: m)}, mark=mark, formula=formula)
        register(study)
        host = StudyRuntime()
        try:
            goal = SolveGoal(default_request(study), "curve", "m", 7.0)
            if solvable:
                assert solve(host, goal, lambda: None).value == 7
            else:
                with pytest.raises(ValueError, match="can be solved") as error:
                    solve(host, goal, lambda: None)
                snapshots.check(error.value)
        finally:
            unregister(study.id)
            host.close()


def test_without_a_slider_on_any_axis_nothing_can_be_solved_for() -> None:
    made = Shapes(
        {"curve": (Role.UPPER, lambda x, m, b: x)},
        quantities=(Quantity("y", "y", "height", ("axis",)),),
    )
    request = default_request(made)
    assert solvable_parameters(made, request) == []


def test_it_stops_when_cancelled(ask) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise Cancelled

    with pytest.raises(Cancelled):
        ask(lambda x, m, b: x**0.3, 1.2345, check=check)
