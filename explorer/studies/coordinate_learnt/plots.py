"""Curves and tables of the coordinate leakage study: tests, beliefs, levels and the domain."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import Points
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import best_chance, times_in_100
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Arrow,
    Diagram,
    Fidelity,
    Headline,
    Mark,
    Node,
    Quantity,
    Result,
    Series,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, series_from
from explorer.studies.coordinate_learnt import theory
from explorer.studies.coordinate_learnt.domain_tables import DomainTables, from_files, parse_tables
from explorer.studies.coordinate_learnt.theory import (
    BAYES,
    BCDP,
    BDP,
    CDP,
    CERTIFICATE,
    CHANCE,
    LDP,
    NEYMAN_PEARSON,
    OWN,
    PART_1,
    PART_2,
    THEOREM_1,
    Domain,
    Levels,
    Setting,
    after_level,
)

_MAX_RECORDS = 200
_COUNTED = (
    "The prior was counted from public records: δ is that of their own shares, an estimate; the "
    "coupling is an upper confidence bound, and the certified levels hold at that confidence."
)
_NODES = (("LDP", 0.0, 1.0), ("BDP", 1.0, 1.0), ("CDP", 0.0, 0.0), ("BCDP", 1.0, 0.0))


def figure_1(domain: Domain, levels: Levels, place: int) -> Table:
    """Return the arrows of Figure 1 at this domain, as a table and as a diagram.

    There is no arrow from CDP to BCDP without a prior, and none out of BCDP (Examples 1 and 2).
    """
    i = "₁₂₃₄"[place]
    delta, c = float(levels.bcdp[place]), float(levels.cdp[place])
    q = float(levels.coupling[place])
    full = bool((domain.prior > 0.0).all())
    level = {"LDP": levels.ldp, "BDP": levels.bdp, "CDP": c, "BCDP": delta}
    symbols = {"LDP": "ε_L", "BDP": "ε_B", "CDP": f"c{i}", "BCDP": f"δ{i}"}
    largest = float(levels.cdp.max())
    part1, part2 = float(levels.part1[place]), float(levels.part2[place])
    rows = (
        (
            "LDP",
            "BDP",
            "the prior has full support" if full else "the prior excludes records",
            "ε_B = ε_L" if full else "ε_B ≤ ε_L",
            levels.ldp,
            levels.bdp,
        ),
        ("LDP", "CDP", "none", f"c{i} ≤ ε_L", levels.ldp, c),
        ("CDP", "LDP", "none", "ε_L ≤ Σcᵢ", float(co.ldp_from_cdp(levels.cdp)), levels.ldp),
        ("BDP", "BCDP", "none", f"δ{i} ≤ ε_B", levels.bdp, delta),
        ("CDP", "BCDP", f"coupling q{i} ≤ {at_most(q)}", "Proposition 4, part 1", part1, delta),
        (
            "CDP",
            "BCDP",
            f"coupling q{i} ≤ {at_most(q)}, and ε_L",
            "Proposition 4, part 2",
            part2,
            delta,
        ),
        (
            "CDP",
            "BCDP",
            f"coupling q{i} ≤ {at_most(q)}, and ε_L",
            "log((1−q)e^c + q·e^L)",
            float(levels.certified[place]),
            delta,
        ),
    )
    nodes = tuple(
        Node(name, f"{name}\n{symbols[name]} = {_format(level[name])}", x, y)
        for name, x, y in _NODES
    )
    arrows = tuple(
        Arrow(start, end, f"{law}: {_format(most)}", _holds(most, now))
        for start, end, _, law, most, now in rows
        if not law.startswith("Proposition 4")
    )
    return Table(
        "figure1",
        "Figure 1 here",
        ("from", "to", "what is needed", "what follows", "at most", "level", "slack"),
        tuple(
            (start, end, needed, law, _number(most), _number(now), _slack(most, now))
            for start, end, needed, law, most, now in rows
        ),
        f"For x{i}, in nats, exact. No arrow leads from CDP to BCDP without a prior (coupled "
        "coordinates tell of each other), and none out of BCDP: Example 1 is BCDP and not LDP, "
        f"Example 2 does not compose. The largest cᵢ is {_format(largest)}.",
        (None, None, None, None, Role.UPPER, Role.EXACT, None),
        Diagram(nodes, arrows),
    )


def _format(value: float) -> str:
    """Return an upper bound for a text."""
    return "∞" if math.isinf(value) else at_most(value)


def _number(value: float) -> str | float:
    """Return a number for a table, infinity as a symbol."""
    return "∞" if math.isinf(value) else float(value)


def _slack(most: float, now: float) -> str | float:
    if math.isinf(most):
        return "none" if math.isinf(now) else "∞"
    # Smaller differences are rounding errors.
    return float(most - now) if most - now > 1e-12 else 0.0


def _holds(most: float, now: float) -> bool:
    return bool(now <= most + 1e-9) or not np.isfinite(most)


def step_table(before: Levels, after: Levels) -> Table:
    """Return the levels before and after Proposition 5's step."""
    pairs = [
        *(
            (f"δ{'₁₂₃₄'[i]}", float(before.bcdp[i]), float(after.bcdp[i]))
            for i in range(before.bcdp.size)
        ),
        *(
            (f"c{'₁₂₃₄'[i]}", float(before.cdp[i]), float(after.cdp[i]))
            for i in range(before.cdp.size)
        ),
        ("BDP", before.bdp, after.bdp),
        ("LDP", before.ldp, after.ldp),
    ]
    return Table(
        "step",
        "Before and after the step",
        ("level", "of the report", "after the step"),
        tuple((name, _number(a), _number(b)) for name, a, b in pairs),
        "Exact, in nats. What is done to a report without the record adds nothing to what it "
        "tells (Proposition 5); everything else on this page is after the step.",
        (None, Role.EXACT, Role.EXACT),
    )


def level_table(domain: Domain, levels: Levels, beta: float) -> Table:
    """Return the levels of all coordinates."""
    columns = (
        levels.coupling,
        levels.cdp,
        levels.bcdp,
        levels.certified,
        levels.part1,
        levels.part2,
    )
    rows = tuple(
        (f"x{'₁₂₃₄'[i]}", *(_number(float(column[i])) for column in columns))
        for i in range(levels.cdp.size)
    )
    counted = domain.records > 0
    bounded = f"coupling q, at most ({confidence(beta)})"
    return Table(
        "levels",
        "Levels by coordinate",
        (
            "coordinate",
            bounded if counted else "coupling q",
            "CDP c",
            "BCDP δ",
            "certified",
            "Prop. 4 (1)",
            "Prop. 4 (2)",
        ),
        rows,
        f"Exact, in nats, by brute force; q is the coupling of the prior. Whole record: LDP "
        f"{format_level(levels.ldp)}, BDP {format_level(levels.bdp)}. The last three are upper "
        "bounds on δ." + (f" {_COUNTED}" if counted else ""),
        (
            None,
            Role.UPPER if counted else Role.EXACT,
            Role.EXACT,
            Role.ESTIMATE if counted else Role.EXACT,
            *[Role.UPPER] * 3,
        ),
    )


def domain_table(domain: Domain) -> Table:
    """Return the prior and the channel."""
    names = domain.names()
    more = len(names) - _MAX_RECORDS
    return Table(
        "domain",
        "Prior and channel",
        ("x", "prior", *(f"P(y = {y} | x)" for y in domain.outputs)),
        tuple(
            (name, float(domain.prior[x]), *(float(p) for p in domain.channel[x]))
            for x, name in enumerate(names[:_MAX_RECORDS])
        ),
        "Of one report." + (f" {more:,} more records are not shown." if more > 0 else ""),
    )


def confidence(beta: float) -> str:
    """Return 1 − β, rounded down: ``95 %``."""
    return f"{at_least(100 * (1 - beta))} %"


def format_level(value: float) -> str:
    """Return a level for a text, infinity as a symbol."""
    return "∞" if math.isinf(value) else nearest(value)


TYPED, FILES = "typed", "files"
PROBABILITIES, COUNTS = "probabilities", "counts"
BIT_PARAMETERS = ("rho", "p1", "p2", "m00", "m01", "m10", "m11", "c1", "c2")


class LearntPoints(Points):
    """Points of a sweep with the domain and the levels of the request."""

    def at(self, swept: SweptPoints, fidelity: Fidelity | None = None) -> Self:
        """Return the same request at other points, or in an answer of other fidelity."""
        other = super().at(swept, fidelity)
        other.setting = self.setting
        return other

    @cached_property
    def setting(self) -> Setting:
        """Domain and levels at the sliders."""
        return theory.setting_of(dict(self.request.values), self._tables)

    @property
    def _tables(self) -> DomainTables | None:
        """The user's own tables: the typed ones until both files are open."""
        request = self.request
        if request["mechanism"] != OWN:
            return None
        counts = request["prior_is"] == COUNTS
        names = (request["prior_file"], request["channel_file"])
        if request["own_from"] == FILES and all(names):
            paths = [(self.context.file(name), name.partition("#")[0]) for name in names]
            decimal = request["decimal"]
            read: DomainTables = self.context.cached(
                ("coordinate-learnt", "own", names, decimal, counts),
                lambda: from_files(paths[0], paths[1], decimal, counts),
            )
            return read
        return parse_tables(request["records" if counts else "prior"], request["channel"], counts)

    @cached_property
    def swept_levels(self) -> list[Levels]:
        """Levels at every point of the sweep."""
        values: dict[str, Any] = dict(self.request.values)
        key, levels = self.swept.sweep.key, []
        for value in self.swept[key]:
            self.context.check()
            domain = theory.domain_of(values | {key: float(value)}, self.setting.tables)
            if self.request["step"]:
                domain, _ = theory.post_process(domain, values)
            levels.append(theory.levels_of(domain, self.setting.coupling))
        return levels

    @cached_property
    def single_report(self) -> Levels:
        """Levels of a single report."""
        setting = self.setting
        if setting.domain.copies == 1:
            return setting.levels
        return theory.levels_of(replace(setting.domain, copies=1), setting.coupling)

    @cached_property
    def hypotheses(self) -> tuple[str, str, FloatArray] | None:
        """Two values of the coordinate and the laws of their reports."""
        return self.setting.domain.hypotheses(self.setting.place)

    @cached_property
    def beliefs(self) -> dict[str, FloatArray]:
        """Beliefs after the report, by key of the curve."""
        return self.setting.beliefs(self.belief)

    @property
    def bcdp(self) -> float:
        """BCDP level of the coordinate."""
        return float(self.setting.levels.bcdp[self.setting.place])

    @property
    def certified(self) -> float:
        """Certified level of the coordinate."""
        return float(self.setting.levels.certified[self.setting.place])


# Curves

_ONE_VALUE = "the coordinate has one possible value: there is nothing to learn"
INFINITE = "infinite: some report excludes a value"


def _has_two_values(p: LearntPoints) -> FloatArray:
    return np.full(p.swept.x.size + 1, p.hypotheses is not None)


def _test(key: str, null: int, other: int, primary: int) -> Curve:
    """Return the best test of one value of the coordinate against another."""

    def value(p: LearntPoints) -> FloatArray:
        if p.hypotheses is None:
            return np.full(p.type1.shape, np.nan)
        laws = p.hypotheses[2]
        return co.tradeoff_beta(laws[null], laws[other], p.type1)

    def label(p: LearntPoints) -> str:
        values = p.setting.two_values
        return f"{p.setting.name} = {values[null]} against {values[other]}, best test"

    return Curve(
        key,
        label,
        f"best test, {null} against {other}",
        Role.EXACT,
        NEYMAN_PEARSON,
        value,
        _has_two_values,
        _ONE_VALUE,
        primary=primary,
    )


def _whole_record(p: LearntPoints) -> FloatArray:
    """Return the best test of the two records that differ most."""
    channel = p.setting.domain.composed
    first, second = theory.easiest_pair(channel)
    return co.tradeoff_beta(channel[first], channel[second], p.type1)


def _whole_record_label(p: LearntPoints) -> str:
    names = p.setting.domain.names()
    first, second = theory.easiest_pair(p.setting.domain.composed)
    return f"{names[first]} against {names[second]}, best test"


def _band(
    curve: Curve,
    p: LearntPoints,
    label: str,
    edge: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> Series:
    bound = replace(curve, value=lambda _: edge).bound(p)
    assert bound is not None
    return series_from(curve.key, label, p.swept, bound, mark=Mark.AREA, low=low, high=high)


def _test_region(curve: Curve, p: LearntPoints) -> Series:
    """Draw where tests can be at the coordinate's level."""
    low = co.tradeoff_bound(p.bcdp, p.type1)
    high = 1.0 - co.tradeoff_bound(p.bcdp, 1.0 - p.type1)
    return _band(curve, p, f"{curve.label}, δ = {format_level(p.bcdp)}", low, low, high)


def _belief_region(curve: Curve, p: LearntPoints) -> Series:
    """Draw where beliefs can be at the coordinate's level."""
    low, high = after_level(p.belief, -p.bcdp), after_level(p.belief, p.bcdp)
    return _band(curve, p, f"{curve.label}, δ = {format_level(p.bcdp)}", high, low, high)


def _extreme_belief(key: str, value: int, primary: int = 0) -> Curve:
    """Return the belief after the report that favours one value most."""
    return Curve(
        key,
        lambda p: f"report most for {p.setting.two_values[value]}",
        "",
        Role.EXACT,
        BAYES,
        lambda p: p.beliefs.get(key),
        _has_two_values,
        _ONE_VALUE,
        primary=primary,
    )


def _output_belief(y: int) -> Curve:
    """Return the belief after one report."""
    return Curve(
        f"output{y}",
        lambda p: f"report {p.setting.domain.outputs[y]}",
        f"after report {y}" if y < 2 else "",
        Role.EXACT,
        BAYES,
        lambda p: p.beliefs.get(f"output{y}"),
        primary=int(y < 2),
    )


def _level_belief(
    key: str, label: str, side: str, role: Role, value: Callable[[LearntPoints], float]
) -> Curve:
    """Return the largest or the smallest belief that a level allows."""
    sign = 1.0 if side == "most" else -1.0
    return Curve(
        f"{key}_{side}",
        f"{label}, at {side}",
        f"{label}, at {side}",
        role,
        CERTIFICATE if key == "certified" else LDP,
        lambda p: after_level(p.belief, sign * value(p)),
        primary=0,
    )


_LEVEL_BELIEFS = (
    partial(_level_belief, "certified", "certified", value=lambda p: p.certified),
    partial(_level_belief, "ldp", "LDP", value=lambda p: p.setting.levels.ldp),
)


def level_of(levels: Levels, key: str, place: int) -> float:
    """Return one level of the coordinate or the record."""
    value = getattr(levels, key)
    return float(value if key in ("ldp", "bdp") else value[place])


def _level(key: str, label: str, short: str, role: Role, source: Any, primary: int) -> Curve:
    """Return a level along the sweep."""

    def value(p: LearntPoints) -> FloatArray:
        return np.array([level_of(levels, key, p.setting.place) for levels in p.swept_levels])

    return Curve(
        key,
        label,
        short,
        role,
        source,
        value,
        lambda p: np.isfinite(value(p)),
        INFINITE,
        primary=primary,
    )


LEVELS = (
    _level(
        "bcdp",
        "δᵢ, BCDP: this coordinate, this prior",
        "BCDP, this coordinate",
        Role.EXACT,
        BCDP,
        1,
    ),
    _level(
        "cdp",
        "cᵢ, CDP: this coordinate, the others fixed",
        "CDP, others fixed",
        Role.EXACT,
        CDP,
        1,
    ),
    _level("bdp", "BDP: the whole record, this prior", "BDP, whole record", Role.EXACT, BDP, 1),
    _level("ldp", "LDP: the whole record, everybody", "LDP", Role.EXACT, LDP, 1),
    _level(
        "certified",
        "δᵢ certified from c, L and the coupling",
        "certified level",
        Role.UPPER,
        CERTIFICATE,
        1,
    ),
    _level(
        "part2",
        "Proposition 4, part 2",
        "Proposition 4, part 2",
        Role.UPPER,
        PART_2,
        0,
    ),
    _level(
        "part1",
        "Proposition 4, part 1",
        "Proposition 4, part 1",
        Role.UPPER,
        PART_1,
        0,
    ),
)
READOUT_LABELS = {
    "bcdp": "δᵢ (BCDP)",
    "cdp": "cᵢ (CDP)",
    "bdp": "BDP",
    "ldp": "LDP",
    "certified": "δᵢ certified",
    "part2": "Prop. 4 (2)",
    "part1": "Prop. 4 (1)",
}
"""Labels of the levels beside curves of something else."""


def _headline(result: Result, _claimed: ClaimedBound | None) -> Headline | None:
    level = result.number("level_bcdp")
    level = result.number("bcdp") if level is None else level
    if level is None:
        return None
    right = times_in_100(best_chance(level))
    text = (
        f"An attacker who holds this prior and starts at 50 : 50 is right about this coordinate at "
        f"most {right} % of the time."
    )
    whole = next(r for r in result.readouts if r.key in ("ldp", "level_ldp"))
    if whole.value is None and whole.note.startswith("infinite"):
        text += " The report may rule out some complete records."
    return Headline(f"δᵢ ≤ {at_most(level)}", text)


_SLIDERS = ("mechanism", "p1", "rho", "copies")
PLOTS = (
    Plot(
        Quantity("tradeoff", "β", "missed: says 0 when the bit is 1", ("type1",), latex=r"\beta"),
        (
            Curve(
                "region",
                "Theorem 1",
                "what the level allows",
                Role.LOWER,
                THEOREM_1,
                draw=_test_region,
                primary=3,
            ),
            _test("test01", 0, 1, primary=1),
            _test("test10", 1, 0, primary=2),
            Curve(
                "whole",
                _whole_record_label,
                "best test, 00 against 01",
                Role.EXACT,
                NEYMAN_PEARSON,
                _whole_record,
                primary=0,
            ),
            Curve(
                "certified",
                "certified level",
                "certified level",
                Role.LOWER,
                CERTIFICATE,
                lambda p: co.tradeoff_bound(p.certified, p.type1),
                primary=0,
            ),
            Curve(
                "ldp",
                lambda p: f"LDP, ε = {format_level(p.setting.levels.ldp)}",
                "LDP",
                Role.LOWER,
                LDP,
                lambda p: co.tradeoff_bound(p.setting.levels.ldp, p.type1),
                primary=0,
            ),
            Curve(
                "chance",
                "chance",
                "random guess",
                Role.BASELINE,
                CHANCE,
                lambda p: 1.0 - p.type1,
                primary=4,
            ),
        ),
        sliders=_SLIDERS,
        headline=_headline,
    ),
    Plot(
        Quantity(
            "belief_after",
            "P(xᵢ = 1 | y)",
            "belief after the report",
            ("belief",),
            latex=r"P(x_i=1\,|\,y)",
        ),
        (
            Curve(
                "region",
                "BCDP",
                "what the level allows",
                Role.UPPER,
                BCDP,
                draw=_belief_region,
            ),
            *(_output_belief(y) for y in range(theory.MAX_DRAWN_OUTPUTS)),
            _extreme_belief("most", 1),
            _extreme_belief("least", 0),
            *(
                curve(side=side, role=role)
                for curve in _LEVEL_BELIEFS
                for side, role in (("most", Role.UPPER), ("least", Role.LOWER))
            ),
            Curve(
                "before",
                "nothing learnt",
                "before the report",
                Role.BASELINE,
                CHANCE,
                lambda p: p.belief,
            ),
        ),
        sliders=_SLIDERS,
        headline=_headline,
    ),
    Plot(
        Quantity(
            "levels",
            "δᵢ",
            "levels of the four notions",
            (*BIT_PARAMETERS, "copies"),
            unit="nats",
            latex=r"\delta_i",
        ),
        LEVELS,
        sliders=_SLIDERS,
        headline=_headline,
    ),
)
