"""What the presets of the studies of coordinates say."""

from __future__ import annotations

import math

from explorer.privacy.core.bound import Role
from explorer.studies.coordinate_mean import simulation
from tests.studies.said.numbers import Ask, Measured, Said, crossing


def _loses_from(a: Ask, paper: str, baseline: str) -> Said:
    """Return the q from which the paper's choice errs more than min δ-LDP."""
    return Said(crossing(lambda q: a.value(paper, q=q) - a.value(baseline, q=q), 0.01, 0.9))


def _worst(a: Ask, name: str) -> tuple[Said, ...]:
    return tuple(a(name, q=q) for q in (0.0, 0.1, 0.5))


SAID = {
    ("coordinate-mean", "figure3"): lambda a: (
        "1",
        "2",
        a("baseline"),
        _loses_from(a, "paper", "baseline"),
        Said(simulation.crossing(simulation.median_error)),
        a("paper"),
        "0.1",
        a("paper", q=0.9),
        "0.9",
        "1",
        "1",
        a("best_zeta"),
        "0.1",
        a("exact"),
        a("hybrid"),
    ),
    ("coordinate-mean", "figure3-projected"): lambda a: (
        _loses_from(a, "paper_projected", "baseline_projected"),
        a("paper_projected", q=0.9999),
        a("baseline_projected", q=0.9999),
    ),
    ("coordinate-mean", "figure3-worst"): lambda a: (
        "0",
        "0.1",
        "0.5",
        *_worst(a, "paper"),
        *_worst(a, "best_zeta"),
        *_worst(a, "exact"),
        *_worst(a, "hybrid"),
        a("baseline"),
    ),
    ("coordinate-mean", "corollary1"): lambda a: (
        Said(math.expm1(0.1) / math.expm1(2.0)),
        Said(a.value("paper") / a.value("theorem2")),
        Said(math.expm1(0.1) / math.expm1(0.2)),
    ),
    ("coordinate-mean", "budgets"): lambda a: (
        a.curve("paper")[0],
        Said((1 + 0.1) / 2),
        a.curve("baseline")[0],
        a.curve("exact")[0],
        a.curve("proposition6")[0],
        a.curve("proposition6")[-1],
    ),
    ("coordinate-mean", "beliefs"): lambda a: (a("demanded"), "0.1"),
    ("coordinate-learnt", "figure1"): lambda a: (
        a.cell("figure1", 4, 5),
        a.cell("figure1", 1, 5),
        a.cell("figure1", 4, 4, Role.UPPER),
        "0.3",
        a.cell("figure1", 6, 4, Role.UPPER),
        a.cell("figure1", 0, 5),
        a.cell("figure1", 2, 4, Role.UPPER),
    ),
    ("coordinate-learnt", "example1"): lambda a: ("2", a("level_bcdp")),
    ("coordinate-learnt", "example1-odds"): lambda a: (
        "50",
        "50",
        "1",
        "2",
        "1",
        "0",
        "2",
        "3",
        Said(math.exp(a.value("level_bcdp"))),
    ),
    ("coordinate-learnt", "example1-limits"): lambda a: ("1", "0", "1"),
    ("coordinate-learnt", "example2"): lambda a: (
        "0",
        "3",
        "3",
        "5",
        "5",
        a("bcdp"),
        a("bcdp", copies=2),
    ),
    ("coordinate-learnt", "example2-twice"): lambda a: ("1", "2", "1", "0"),
    ("coordinate-learnt", "dependence"): lambda a: ("1",),
    # Errors found are medians of simulated trials; Theorem 3's order is computed.
    ("private-regression", "algorithm3"): lambda a: (
        "10⁶",
        a("theorem3", n=10**6),
        a("theorem3_half", n=10**6),
        Measured("0.01"),
        Measured("3·10⁴"),
        a("nothing"),
    ),
    ("private-regression", "exact-budgets"): lambda a: (
        Said(Ask(a.study, "algorithm3").value("theorem3") / a.value("theorem3")),
    ),
    ("private-regression", "baseline"): lambda a: ("10⁶",),
    ("private-regression", "prediction"): lambda a: (
        a("nothing"),
        a("nonprivate"),
        Measured("0.6"),
        Measured("8"),
        Measured("0.45"),
        Measured("1.4"),
        Measured("3.6"),
    ),
}
