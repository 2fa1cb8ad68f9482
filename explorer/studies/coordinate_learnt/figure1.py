"""Figure 1 with the numbers of the domain at hand: four notions and what follows from what."""

import math

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Arrow, Diagram, Node, Table
from explorer.studies.coordinate_learnt.domain import Domain, Levels

_NODES = (("LDP", 0.0, 1.0), ("BDP", 1.0, 1.0), ("CDP", 0.0, 0.0), ("BCDP", 1.0, 0.0))


def figure_1(domain: Domain, found: Levels, place: int) -> Table:
    """Return the arrows of Figure 1 at this domain, as a table and as a diagram.

    There is no arrow from CDP to BCDP without a prior, and none out of BCDP (Examples 1 and 2).
    """
    i = "₁₂₃₄"[place]
    delta, c = float(found.bcdp[place]), float(found.cdp[place])
    q = float(found.coupling[place])
    full = bool((domain.prior > 0.0).all())
    level = {"LDP": found.ldp, "BDP": found.bdp, "CDP": c, "BCDP": delta}
    symbols = {"LDP": "ε_L", "BDP": "ε_B", "CDP": f"c{i}", "BCDP": f"δ{i}"}
    largest = float(found.cdp.max())
    part1, part2 = float(found.part1[place]), float(found.part2[place])
    rows = (
        (
            "LDP",
            "BDP",
            "the prior has full support" if full else "the prior excludes records",
            "ε_B = ε_L" if full else "ε_B ≤ ε_L",
            found.ldp,
            found.bdp,
        ),
        ("LDP", "CDP", "none", f"c{i} ≤ ε_L", found.ldp, c),
        ("CDP", "LDP", "none", "ε_L ≤ Σcᵢ", float(co.ldp_from_cdp(found.cdp)), found.ldp),
        ("BDP", "BCDP", "none", f"δ{i} ≤ ε_B", found.bdp, delta),
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
            float(found.certified[place]),
            delta,
        ),
    )
    nodes = tuple(
        Node(name, f"{name}\n{symbols[name]} = {_said(level[name])}", x, y) for name, x, y in _NODES
    )
    arrows = tuple(
        Arrow(start, end, f"{law}: {_said(most)}", _holds(most, now))
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
        f"Example 2 does not compose. The largest cᵢ is {_said(largest)}.",
        (None, None, None, None, Role.UPPER, Role.EXACT, None),
        Diagram(nodes, arrows),
    )


def _said(value: float) -> str:
    return "∞" if math.isinf(value) else at_most(value)


def _number(value: float) -> str | float:
    return "∞" if math.isinf(value) else float(value)


def _slack(most: float, now: float) -> str | float:
    if math.isinf(most):
        return "none" if math.isinf(now) else "∞"
    # Less than that is what rounding leaves.
    return float(most - now) if most - now > 1e-12 else 0.0


def _holds(most: float, now: float) -> bool:
    return bool(now <= most + 1e-9) or not np.isfinite(most)


def step_table(before: Levels, after: Levels) -> Table:
    """Return levels before and after Proposition 5's step."""
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
