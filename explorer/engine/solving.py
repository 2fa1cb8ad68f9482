"""Solves for the value of a parameter at which a curve reaches a target.

The curve is looked at over the parameter's whole range first, so that every crossing that is not
narrower than the grid is seen; the one nearest to the present value is then narrowed down. What
is returned has been computed by the study itself, on the safe side of the target.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.engine.runtime import StudyRuntime
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.numbers import PARAMETER_DIGITS, format_number
from explorer.studies.base.phrases import with_role
from explorer.studies.base.study import (
    Fidelity,
    Kind,
    Mark,
    Parameter,
    Request,
    Result,
    Scale,
    Series,
    Study,
    Sweep,
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
    """Request to solve for a parameter.

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
    """Result of solving.

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
    """Return a parameter whose axis contains the sliders' values; None if there is none."""
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
    """Return a sentence for a solution: ``ε₀ = 1.37 gives ε = 1 (…)``."""

    def number(value: float) -> str:
        return format_number(value, digits=PARAMETER_DIGITS)

    reached = format_number(solution.reached, solution.role)
    goal = solution.goal
    study = get_study(goal.request.study)
    p, y = parameter(study, goal.parameter), quantity(study, goal.request.quantity)
    symbol, height = p.symbol or p.name, y.symbol or y.name
    curve = with_role(solution.label, solution.role, ", ")
    if solution.value is not None:
        text = f"{symbol} = {number(solution.value)} gives {height} = {reached}"
        text += f" ({curve})"
        jumps = abs(solution.reached - goal.target) > JUMP * abs(goal.target)
        if p.kind is Kind.REAL and goal.digits >= DIGITS and jumps:
            text += f", where it jumps over {number(goal.target)}"
        if solution.others:
            text += f"; the curve also crosses near {symbol} = " + ", ".join(
                number(x) for x in solution.others
            )
        return text
    span = f"for {symbol} from {number(p.low)} to {number(p.high)}"
    if solution.nearest is None:
        why = f": {solution.undefined_reason}" if solution.undefined_reason else ""
        return f"Impossible: this curve ({curve}) holds nowhere {span}{why}"
    return (
        f"Impossible: {height} = {number(goal.target)} is not reached {span}; the nearest is "
        f"{height} = {reached} at {symbol} = {number(solution.nearest)} ({curve})"
    )


GRID_POINTS = 65
SINGLE_POINTS = 25
"""Points of the first look where the study can't sweep the parameter: each is an answer."""
REFINING_POINTS = 9
REFINING_ROUNDS = 3
MAX_STEPS = 80
ROUNDING = 1e-15
"""What a few operations on doubles add (relative) is no reason to miss a target."""
REACHED = 1e-9
"""A curve so near to the target (relative) at the end of its range has reached it."""


def solve(host: StudyRuntime, goal: SolveGoal, check: Callable[[], None]) -> Solution:
    """Find where a curve reaches a target, by evaluating its study.

    Parameters
    ----------
    host : Host
    goal : Goal
    check : callable
        Raises `Cancelled` when the answer is no longer wanted.

    Raises
    ------
    Cancelled
        When `check` says so.
    ValueError
        Naming the parameter, the curve or the target that can't be solved for, or what the study
        says of the request.
    """
    study = get_study(goal.request.study)
    p = parameter(study, goal.parameter)
    if p not in solvable_parameters(study, goal.request):
        allowed = ", ".join(q.key for q in solvable_parameters(study, goal.request))
        raise ValueError(f"solve: {p.key!r} can't be solved for here; {allowed or 'nothing'} can")
    if not math.isfinite(goal.target):
        raise ValueError(f"target: {goal.target} is not a finite number")
    return _Search(host, study, p, goal, check).run()


@dataclass
class _Search:
    """One search, caching the computed points of the curve."""

    host: StudyRuntime
    study: Study
    p: Parameter
    goal: SolveGoal
    check: Callable[[], None]
    found: dict[float, float] = field(default_factory=dict)
    labels: dict[float, str] = field(default_factory=dict)
    curve: Series | None = None

    def run(self) -> Solution:
        sweepable = self.p.key in quantity(self.study, self.goal.request.quantity).sweeps
        # A parameter that replaces others on the x axis asks something else than its slider.
        self.by_sweep = sweepable and not self.p.replaces
        points = GRID_POINTS if self.by_sweep else SINGLE_POINTS
        self._look(self.p.low, self.p.high, points)
        brackets = self._brackets()
        for _ in range(REFINING_ROUNDS):
            if brackets or not self._look_closer():
                break
            brackets = self._brackets()
        curve = self.curve
        assert curve is not None
        if not brackets:
            return self._impossible(curve)
        present = self._place(float(self.goal.request[self.p.key]))
        brackets.sort(key=lambda ends: min(abs(self._place(x) - present) for x in ends))
        safe, unsafe = self._narrow(*brackets[0])
        value = self._round(safe, unsafe)
        others = tuple(self._read_off(*ends) for ends in brackets[1:])
        number = round(value) if self.p.kind is Kind.INTEGER else value
        label = self.labels.get(value, curve.label)
        return Solution(self.goal, number, self.found[value], None, others, label, curve.role)

    # Asking the study

    def _ask(self, request: Request) -> Series:
        for result in self.host.answer(request, self.check):
            self.check()
            done = result.complete or (result.fidelity is Fidelity.FULL and result.progress is None)
            for series in result.series:
                if done and series.key == self.goal.series and not series.computing:
                    why = unsolvable_reason(series)
                    if not why:
                        return series
                    keys = ", ".join(s.key for s in solvable_series(result))
                    raise ValueError(
                        f"solve: {series.label} is no curve that can be solved for: {why}; "
                        f"{keys or 'none'} can"
                    )
        raise ValueError(
            f"solve: no curve is called {self.goal.series!r} here; there are "
            + ", ".join(s.key for s in solvable_series(result))
        )

    def _look(self, low: float, high: float, points: int) -> None:
        """Evaluate the curve at a number of points between two ends."""
        xs = self.p.grid(low, high, points)
        if not self.by_sweep:
            for x in xs.tolist():
                self._at(x)
            return
        sweep = Sweep(self.p.key, float(xs[0]), float(xs[-1]), points, self.p.scale)
        # The parameter's own value does not matter to its sweep; the default makes the question
        # the same whatever the slider says, so that its answer is remembered.
        request = self.goal.request.with_value(self.p.key, self.p.default)
        self.curve = self._ask(replace(request, sweep=sweep, fidelity=Fidelity.FULL))
        self.found.update(zip(self.curve.x.tolist(), self.curve.y.tolist(), strict=True))

    def _at(self, x: float) -> float:
        """Return the curve at one value of the parameter."""
        if x not in self.found:
            request = self.goal.request.with_value(self.p.key, self.p.parse(x))
            if self.by_sweep:
                sweep = Sweep(self.p.key, x, x, 1)
            else:
                axis = point_axis(self.study, request.quantity)
                assert axis is not None  # else the parameter is not solvable
                value = float(request[axis.key])
                sweep = Sweep(axis.key, value, value, 1)
            series = self._ask(replace(request, sweep=sweep, fidelity=Fidelity.FULL))
            self.found[x] = float(series.y[0])
            self.labels[x] = series.label  # which may name the parameter's value
            if self.curve is None or not math.isnan(self.found[x]):
                self.curve = series
        return self.found[x]

    # Reading what is known

    def _known(self) -> tuple[FloatArray, FloatArray]:
        xs = np.array(sorted(self.found))
        return xs, np.array([self.found[x] for x in xs.tolist()])

    @property
    def _log(self) -> bool:
        return self.p.scale is Scale.LOG and self.p.low > 0

    def _place(self, x: float) -> float:
        """Return the position of a value on the parameter's scale."""
        return math.log(x) if self._log else x

    def _value(self, place: float) -> float:
        x = math.exp(place) if self._log else place
        return float(self.p.clamp(x))

    def _safe(self, y: float) -> bool:
        """Return whether a value of the curve satisfies the target."""
        assert self.curve is not None
        if self._on_target(y):
            return True
        if self.curve.role is Role.LOWER:
            return y >= self.goal.target
        return y <= self.goal.target

    def _on_target(self, y: float) -> bool:
        """Return whether a value equals the target up to rounding: 29 · 0.1 is 2.9."""
        return abs(y - self.goal.target) <= ROUNDING * abs(self.goal.target)

    def _brackets(self) -> list[tuple[float, float]]:
        """Return neighbours (safe, unsafe) between which the curve crosses the target."""
        xs, ys = self._known()
        target = self.goal.target
        brackets = []
        for a, b, ya, yb in zip(xs[:-1], xs[1:], ys[:-1], ys[1:], strict=True):
            if math.isnan(ya) or math.isnan(yb) or self._safe(ya) == self._safe(yb):
                continue
            brackets.append((float(a), float(b)) if self._safe(ya) else (float(b), float(a)))
        if not brackets:  # touched, perhaps only to within rounding
            near = np.abs(ys - target) <= REACHED * abs(target)
            brackets = [(x, x) for x in xs[near].tolist()[:1]]
        return brackets

    def _look_closer(self) -> bool:
        """Refine where the curve comes nearest to the target, and where it becomes undefined."""
        xs, ys = self._known()
        finite = np.flatnonzero(np.isfinite(ys))
        if not finite.size:
            return False
        nearest = int(finite[np.argmin(np.abs(ys[finite] - self.goal.target))])
        gaps = {(max(nearest - 1, 0), nearest), (nearest, min(nearest + 1, xs.size - 1))}
        edge = np.flatnonzero(np.diff(np.isnan(ys).astype(int)))
        gaps |= {(int(i), int(i) + 1) for i in edge[:4]}
        before = len(self.found)
        for i, j in sorted(gaps):
            if self._wide(xs[i], xs[j]):
                self._look(float(xs[i]), float(xs[j]), REFINING_POINTS)
        return len(self.found) > before

    def _wide(self, a: float, b: float) -> bool:
        """Return whether two values are further apart than the requested precision."""
        if self.p.kind is Kind.INTEGER:
            return abs(b - a) > 1
        return abs(b - a) > 0.1 * 10.0**-self.goal.digits * max(abs(a), abs(b))

    # Narrowing down

    def _narrow(self, safe: float, unsafe: float) -> tuple[float, float]:
        """Narrow a bracket: regula falsi (Illinois), bisection where that is slow."""
        weight = {safe: 1.0, unsafe: 1.0}
        last = None
        width = math.inf
        for step in range(MAX_STEPS):
            if not self._wide(safe, unsafe):
                break
            self.check()
            s, u = self._place(safe), self._place(unsafe)
            halve = step % 3 == 2 and abs(u - s) > 0.5 * width
            # At the target itself a slope is meaningless: the curve may be flat up to a step.
            halve = halve or (step > 1 and self._on_target(self.found[safe]))
            width = abs(u - s) if step % 3 == 0 else width
            share = 0.5
            if not halve:
                gs, gu = self._gap(safe) * weight[safe], self._gap(unsafe) * weight[unsafe]
                if math.isfinite(gs) and math.isfinite(gu) and gs != gu:
                    # No nearer to an end than the target: a step just across closes in.
                    least = min(0.5, self._tolerance(safe, unsafe) / abs(u - s))
                    share = min(max(gs / (gs - gu), least), 1 - least)
            x = self._value(s + share * (u - s))
            if x in (safe, unsafe) and self.p.kind is Kind.INTEGER:
                x = safe + math.copysign(1, unsafe - safe)
            if x in (safe, unsafe):
                break
            y = self._at(x)
            if math.isnan(y):  # a hole in the curve: nothing is known beyond
                unsafe = x
                self.found[x] = math.nan
                weight = {safe: 1.0, unsafe: 1.0}
                continue
            side = self._safe(y)
            # Illinois: what stays in place twice counts half, so that both ends move.
            other = unsafe if side else safe
            weight = {x: 1.0, other: weight[other] * (0.5 if side == last else 1.0)}
            last = side
            if side:
                safe = x
            else:
                unsafe = x
        return safe, unsafe

    def _tolerance(self, a: float, b: float) -> float:
        """Return the smallest useful step between two values, on the parameter's scale."""
        if self.p.kind is Kind.INTEGER:
            low, high = self._place(max(abs(a), abs(b)) - 0.5), self._place(max(abs(a), abs(b)))
            return abs(high - low)
        relative = 0.06 * 10.0**-self.goal.digits
        return relative if self._log else relative * max(abs(a), abs(b))

    def _gap(self, x: float) -> float:
        """Return how far the curve is from the target, on a log scale where it can be."""
        y, target = self.found[x], self.goal.target
        if y > 0 and target > 0 and math.isfinite(y):
            return math.log(y / target)
        return y - target

    def _round(self, safe: float, unsafe: float) -> float:
        """Return the safe end rounded to the requested digits, if it remains safe."""
        if self.p.kind is Kind.INTEGER or safe in (self.p.low, self.p.high):
            return safe
        step = 10.0 ** (math.floor(math.log10(abs(safe))) - self.goal.digits + 1) if safe else 1.0
        away = math.floor if unsafe >= safe else math.ceil
        for rounded in (round(safe / step) * step, away(safe / step) * step):
            value = float(self.p.clamp(float(f"{rounded:.{self.goal.digits}g}")))
            y = self._at(value)
            if self._safe(y):
                return value
        return safe

    def _read_off(self, safe: float, unsafe: float) -> float:
        """Return an estimate of the crossing between two known points."""
        gs, gu = self._gap(safe), self._gap(unsafe)
        share = gs / (gs - gu) if math.isfinite(gs) and math.isfinite(gu) and gs != gu else 0.5
        s, u = self._place(safe), self._place(unsafe)
        return float(f"{self._value(s + share * (u - s)):.2g}")

    def _impossible(self, curve: Series) -> Solution:
        xs, ys = self._known()
        finite = np.isfinite(ys)
        if not finite.any():
            return Solution(
                self.goal, None, math.nan, None, (), curve.label, curve.role, curve.undefined_reason
            )
        nearest = int(np.argmin(np.where(finite, np.abs(ys - self.goal.target), np.inf)))
        at = float(xs[nearest])
        return Solution(
            self.goal,
            None,
            float(ys[nearest]),
            round(at) if self.p.kind is Kind.INTEGER else at,
            (),
            self.labels.get(at, curve.label),
            curve.role,
        )
