"""What is to be solved for, what may be, what came of it, and how that is said."""

from dataclasses import dataclass

from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.phrases import with_role
from explorer.studies.base.study import (
    Kind,
    Mark,
    Parameter,
    Request,
    Result,
    Series,
    Study,
    parameter,
    quantity,
    relevant,
)
from explorer.studies.registry import get_study

DIGITS = 6
"""Significant digits of a solution."""
JUMP = 1e-3
"""A curve that misses the target by more (relative), however fine the parameter, has a step."""


@dataclass(frozen=True, slots=True)
class SolveGoal:
    """What is to be solved.

    Attributes
    ----------
    request : Request
        Gives the other parameters' values, the quantity, and the present value of `parameter`.
    series : str
        Key of the curve.
    parameter : str
        Key of the numeric parameter to solve for.
    target : float
        What the curve is to be.
    digits : int
        Significant digits wanted of a real parameter.
    """

    request: Request
    series: str
    parameter: str
    target: float
    digits: int = DIGITS


@dataclass(frozen=True, slots=True)
class Solution:
    """What came of it.

    Attributes
    ----------
    goal : Goal
    value : float, int or None
        Of the parameter, on the side of the crossing where an upper bound (or any curve but a
        lower bound) is at most the target and a lower bound at least the target; None if the
        curve does not reach the target.
    reached : float
        The curve there, or the nearest it comes to the target.
    nearest : float, int or None
        Where it comes nearest, if it does not reach the target; None where it holds nowhere.
    others : tuple of float
        Where else it crosses the target, about.
    label, role
        Of the curve.
    undefined_reason : str
        Why the curve holds nowhere, if it doesn't.
    """

    goal: SolveGoal
    value: float | int | None
    reached: float
    nearest: float | int | None
    others: tuple[float, ...]
    label: str
    role: Role
    undefined_reason: str = ""

    @property
    def possible(self) -> bool:
        """Whether the target is reached."""
        return self.value is not None


def solvable_parameters(study: Study, request: Request) -> list[Parameter]:
    """Return the parameters that may be solved for: numbers with a slider that matter.

    The study must be able to say what a curve is at one value of them: on the x axis, or beside an
    x axis that has a slider.
    """
    values = dict(request.values)
    sweeps = quantity(study, request.quantity).sweeps
    anything = point_axis(study, request.quantity) is not None
    return [
        p
        for p in study.parameters
        if p.numeric
        and not p.axis_only
        and p.high > p.low
        and relevant(p, values, request.quantity)
        and (anything or (p.key in sweeps and not p.replaces))
    ]


def point_axis(study: Study, quantity_key: str) -> Parameter | None:
    """Return a parameter on whose axis the sliders' own point lies; None if there is none."""
    for key in quantity(study, quantity_key).sweeps:
        p = parameter(study, key)
        if p.numeric and not p.axis_only and not p.replaces:
            return p
    return None


def solvable_series(result: Result) -> list[Series]:
    """Return the curves that may be solved: computed functions of x.

    Estimates come after bounds and exact values, baselines last.
    """
    later = {Role.ESTIMATE: 1, Role.BASELINE: 2}
    return sorted(
        (s for s in result.series if not unsolvable_reason(s)), key=lambda s: later.get(s.role, 0)
    )


def unsolvable_reason(series: Series) -> str:
    """Return why a curve can't be solved; empty if it can."""
    if series.mark not in (Mark.LINE, Mark.DOTS):
        return "it is no function of x"
    if not series.formula and (series.role is Role.ESTIMATE or series.mark is Mark.DOTS):
        return "it is drawn at random, anew for every value"
    return ""


def solution_sentence(solution: Solution) -> str:
    """Say what a solution is: ``ε₀ = 1.37 gives ε = 1 (…)``."""

    def number(value: float) -> str:
        return format_number(value, digits=PARAMETER_DIGITS)

    reached = format_number(solution.reached, solution.role)
    goal = solution.goal
    study = get_study(goal.request.study)
    p, y = parameter(study, goal.parameter), quantity(study, goal.request.quantity)
    symbol, height = p.symbol or p.name, y.symbol or y.name
    curve = with_role(solution.label, solution.role, ", ")
    if solution.value is not None:
        said = f"{symbol} = {number(solution.value)} gives {height} = {reached}"
        said += f" ({curve})"
        jumps = abs(solution.reached - goal.target) > JUMP * abs(goal.target)
        if p.kind is Kind.REAL and goal.digits >= DIGITS and jumps:
            said += f", where it jumps over {number(goal.target)}"
        if solution.others:
            said += f"; the curve also crosses near {symbol} = " + ", ".join(
                number(x) for x in solution.others
            )
        return said
    span = f"for {symbol} from {number(p.low)} to {number(p.high)}"
    if solution.nearest is None:
        why = f": {solution.undefined_reason}" if solution.undefined_reason else ""
        return f"Impossible: this curve ({curve}) holds nowhere {span}{why}"
    return (
        f"Impossible: {height} = {number(goal.target)} is not reached {span}; the nearest is "
        f"{height} = {reached} at {symbol} = {number(solution.nearest)} ({curve})"
    )
