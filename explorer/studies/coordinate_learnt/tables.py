"""Tables of the coordinate leakage study: levels, Figure 1, the domain, a processing step."""

import math

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.study import Arrow, Diagram, Node, Table
from explorer.studies.coordinate_learnt.theory import Domain, Levels

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
