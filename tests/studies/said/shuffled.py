"""What the presets of the studies of shuffled reports say."""

from __future__ import annotations

import math

from explorer.privacy import histograms, shuffle_rdp
from explorer.privacy.core.bound import Role
from tests.studies.said.numbers import Ask, Measured, Said


def _rounds(a: Ask, budget: float) -> Said:
    """Return the largest T at which Theorem 1 spends no more than a budget."""
    eps0, k, n, delta = {
        "figure-5a": (1.5, 10_000, 60_000, 1e-5),
        "figure-5a-epsilon": (1.5, 10_000, 60_000, 1e-5),
    }[a.key]
    low, high = 1, 6000
    while high - low > 1:
        middle = (low + high) // 2
        spent = shuffle_rdp.upper_epsilon(eps0, k, n, middle, delta, 512).epsilon
        low, high = (middle, high) if spent <= budget else (low, middle)
    return Said(low)


def _ratio(a: Ask, first: str, second: str, **changes: object) -> Said:
    return Said(a.value(first, **changes) / a.value(second, **changes))


SAID = {
    ("shuffle-rdp", "figure-2a"): lambda a: (
        "1e5",
        a("theorem1"),
        a("order"),
        a("unamplified"),
        _ratio(a, "unamplified", "theorem1"),
        a("clones_numerical"),
        _ratio(a, "clones_numerical", "theorem1"),
        a("numerical_upper"),
        a("numerical_upper", clones="2023"),
        a("lower_2rr"),
    ),
    ("shuffle-rdp", "figure-2b"): lambda a: (
        "1e5",
        a("theorem1"),
        a("order"),
        a("clones_numerical"),
        a("numerical_upper"),
        a("lower_2rr"),
        a("lower_rdp"),
    ),
    ("shuffle-rdp", "figure-2c"): lambda a: (
        "1e5",
        a("theorem1", n=10**5),
        "1e6",
        a("theorem1"),
        "1e7",
        a("theorem1", n=10**7),
        "1000",
    ),
    ("shuffle-rdp", "figure-3a"): lambda a: (
        "1e5",
        a("theorem1"),
        a("clones_numerical"),
        a("numerical_upper"),
        a("lower_2rr"),
    ),
    ("shuffle-rdp", "figure-3b"): lambda a: (a("theorem1"), "1e5", a("clones_closed")),
    ("shuffle-rdp", "figure-3c"): lambda a: (
        "1e5",
        a("theorem1", n=10**5),
        "1e6",
        a("theorem1"),
        "1e7",
        a("theorem1", n=10**7),
        a("clones_numerical", n=10**5),
        a("clones_numerical"),
        a("clones_numerical", n=10**7),
    ),
    ("shuffle-rdp", "figure-4a"): lambda a: (
        "1e5",
        a("theorem1"),
        a("order"),
        "0",
        a("unamplified"),
        a("clones_numerical"),
        a("numerical_upper"),
        a("numerical_upper", clones="2023"),
        a("lower_2rr"),
        a("lower_rdp"),
    ),
    ("shuffle-rdp", "figure-4b"): lambda a: (
        "1e5",
        a("theorem1"),
        a("unamplified"),
        a("clones_numerical"),
        a("lower_rdp"),
    ),
    ("shuffle-rdp", "figure-4c"): lambda a: (
        "1e5",
        a("theorem1", n=10**5),
        "1e6",
        a("theorem1"),
        "1e7",
        a("theorem1", n=10**7),
        a("lower_rdp", n=10**5),
        a("lower_rdp"),
        a("lower_rdp", n=10**7),
    ),
    ("shuffle-rdp", "figure-5a"): lambda a: (
        "1.4",
        _rounds(a, 1.4),
        "2.91",
        _rounds(a, 2.91),
        "200",
        a("theorem1"),
        "4.82",
        a("clones_numerical", T=1067),
        "1067",
    ),
    ("shuffle-rdp", "figure-5b"): lambda a: (
        "200",
        a("theorem1"),
        "50",
        "1500",
        a("theorem1", T=1500),
        "18.3",
        a("clones_numerical"),
    ),
    ("shuffle-rdp", "order-edge"): lambda a: (
        a("theorem1"),
        "64",
        a("theorem1", lam_max=512),
        "512",
        a("theorem1", lam_max=2048),
        "2048",
    ),
    ("shuffle-rdp", "renyi-order"): lambda a: ("512",),
    ("amplification", "published-bracket"): lambda a: (
        Said(a.value("exact_2021"), Role.UPPER),
        Said(a.value("exact_2023"), Role.UPPER),
        "1",
        a("lower"),
    ),
    ("amplification", "small-eps0"): lambda a: (a("exact_2021"), a("exact_2023")),
    ("amplification", "million"): lambda a: (a("exact_2021"), a("exact_2023")),
    ("amplification", "condition-ignored"): lambda a: (
        Said(_ignored(), Role.UPPER),
        Said(leaks()),
        Said(leaks() / 5e-11, digits=3),
    ),
    ("amplification", "condition-8"): lambda a: (
        "1000",
        a("condition_8"),
        a("condition_9"),
        "3",
        "2",
    ),
    ("amplification", "delta-curve"): lambda a: (a("exact_2021"), "0.1697698"),
    ("amplification", "known-randomiser"): lambda a: (a("own_blanket"), a("exact_2023")),
    ("amplification", "own-table"): lambda a: (
        a("own_exact"),
        a("own_blanket"),
        a("exact_2023"),
    ),
    ("shuffle-rdp", "ternary"): lambda a: (
        "1000",
        a("theorem6"),
        a("sharp_alike"),
        a("exact_3rr"),
        a("theorem4"),
        a("sharp_mixed"),
    ),
    ("histograms", "table-2"): lambda a: (
        a.cell("separation", 0, 2),
        a.cell("separation", 0, 3),
        "100",
        "1e8",
        a.cell("separation", 0, 1),
        a.cell("separation", 3, 1),
    ),
    ("histograms", "theorem-4-1"): lambda a: (
        "3",
        "4",
        "3",
        a.cell("views", 0, 1),
        a.cell("views", 3, 3),
    ),
    ("histograms", "table-1"): lambda a: (
        "1000",
        a("calibrated"),
        a("tails"),
        a("paper"),
        a("printed"),
    ),
    ("histograms", "noise-histogram"): lambda a: (
        a("noise", Role.UPPER),
        "1e4",
        Said(a.value("noise", n=10**9), Role.UPPER),
        _ratio(a, "paper_noise", "noise"),
    ),
    ("histograms", "noise-count"): lambda a: (
        a("noise", Role.UPPER),
        _ratio(a, "paper_noise", "noise"),
    ),
    ("histograms", "least-users"): lambda a: (
        a("users"),
        "1",
        a("users", eps=0.5),
        Said(_least(0.1)),
        "0.1",
    ),
    ("histograms", "truncation"): lambda a: ("1", "0", "1"),
    ("histograms", "missing-users"): lambda a: (
        "10",
        a("loss"),
        "1e-6",
        "50",
        a("loss", adding=0.5),
        a("loss", adding=0.5, release="count"),
    ),
    ("histograms", "messages"): lambda a: ("1",),
    ("cldp-sgd", "figure-5a-epsilon"): lambda a: (
        "1.4",
        _rounds(a, 1.4),
        Said(math.floor(_rounds(a, 1.4).value / 6)),
        "2.91",
        _rounds(a, 2.91),
        Said(math.ceil(_rounds(a, 2.91).value / 6)),
        "200",
        a("theorem"),
        a("numerical"),
        Said(pipeline(212), Role.UPPER),
        "212",
        Said(pipeline(1067), Role.UPPER),
        "1,067",
        "4.82",
    ),
    ("cldp-sgd", "figure-5b-epsilon"): lambda a: (
        a("theorem", epochs=50),
        "50",
        a("theorem"),
        "200",
        a("numerical", epochs=50),
        a("numerical"),
        a("clones", epochs=50),
        a("clones"),
        "18.3",
    ),
    # Accuracies are those of trainings, an hour of them; what they cost is computed.
    ("cldp-sgd", "figure-5a-digits"): lambda a: (
        Measured("80.4"),
        Measured("3.3"),
        "3",
        "200",
        a("theorem", quantity="eps"),
        Measured("76"),
        Measured("2.22"),
        Measured("65"),
        Measured("1.63"),
        a("numerical", quantity="eps"),
        Measured("0.38"),
        Measured("0.26"),
        Measured("97"),
    ),
    ("cldp-sgd", "figure-5b-digits"): lambda a: (
        Measured("87.8"),
        Measured("0.4"),
        "2",
        "200",
        a("theorem", quantity="eps"),
        Measured("85.6"),
        "50",
        a("theorem", quantity="eps", epochs=50),
        a("numerical", quantity="eps"),
        a("numerical", quantity="eps", epochs=50),
        Measured("97"),
    ),
    ("cldp-sgd", "digits-own"): lambda a: (
        "50",
        Measured("79"),
        Measured("1.4"),
        a("theorem", quantity="eps"),
        a("numerical", quantity="eps"),
        Measured("71"),
        "20",
        a("theorem", quantity="eps", epochs=20),
        a("numerical", quantity="eps", epochs=20),
        Measured("95"),
    ),
    ("cldp-sgd", "theorem-3-convergence"): lambda a: (
        a("remark"),
        "200",
        Said(a.value("trivial")),
        Said((185_151 / 56_165) ** 0.5, digits=2),
    ),
}


def _ignored() -> float:
    from explorer.privacy.shuffling import clones_closed_form

    return float(clones_closed_form(4.0, 1000, 5e-11))


def leaks() -> float:
    return float(shuffle_rdp.RandomisedResponseRound(4.0, 1000, 1000).delta(_ignored())[0])


def _least(eps: float) -> float:
    return float(histograms.least_users(eps, 1e-6, histograms.Query.COUNT))


def pipeline(rounds: int) -> float:
    return float(shuffle_rdp.pipeline_epsilon(1.5, 10_000, 60_000, rounds, 1e-5, "numeric", 0.5))
