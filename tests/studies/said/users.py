"""What the presets of the studies of users and distances say."""

from __future__ import annotations

import math

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.studies.base.help_page import preset_numbers
from tests.studies.said.numbers import Ask, Measured, Said, crossing


def _share(a: Ask, distance: float) -> Said:
    """Return a distance as a share of the space's diameter."""
    return Said(distance / a.value("diameter"))


def _edge(a: Ask, eps: float, **changes: object) -> Said:
    return a("edge", eps=eps, **changes)


def _private_up_to(width: str, delta: float) -> Said:
    """Return the largest α at which a printed width is private."""
    sigma = {"printed": um.gaussian_sigma_printed, "textbook": um.gaussian_sigma_textbook}[width]

    def over(alpha: float) -> float:
        return float(um.gaussian_delta(sigma(alpha, delta), alpha, 1.0)) - delta

    return Said(crossing(over, 1e-4, 100.0), Role.LOWER)


def group_growth(eps: float, hops: int) -> Said:
    return Said(math.expm1(eps * hops) / math.expm1(eps))


SAID = {
    ("users-data", "local"): lambda a: tuple(
        Said(preset_numbers("users-data", "local")[name]) for name in ("rmse", "central")
    ),
    ("choose-alpha", "earth"): lambda a: (
        a("alpha"),
        a("diameter"),
        Said(100 / a.value("diameter")),
    ),
    ("choose-alpha", "rounded"): lambda a: (a("alpha"),),
    ("choose-alpha", "printed"): lambda a: (a("alpha"), "12,930", _share(a, 100), "0.008"),
    ("choose-alpha", "city"): lambda a: (a("alpha"), a("diameter")),
    ("itemwise", "central"): lambda a: (
        a("simple"),
        a("tight"),
        a("exact"),
        a("sorted"),
        "3.0",
        "1",
    ),
    ("itemwise", "three"): lambda a: (
        Said(_certified(3.0, 1e-12 * math.exp(-25)), Role.UPPER),
        "25",
        a("tight"),
        a("simple"),
        a("exact"),
        "3.0",
    ),
    ("itemwise", "local"): lambda a: (
        a("printed"),
        a("simple"),
        a("tight"),
        a("composed"),
        a("exact"),
    ),
    ("itemwise", "second-branch"): lambda a: (
        a("printed"),
        Said(_achieved(100.0, 10**8, 1e-12, 1000), Role.UPPER),
        a("simple"),
        a("tight"),
        "100",
        a("exact"),
    ),
    ("itemwise", "second-branch-broken"): lambda a: (
        a("printed"),
        Said(_achieved(50.0, 10**9, 1e-9, 200), Role.UPPER),
        Said(_broken(), Role.UPPER),
        "50",
        a("exact"),
        a("simple"),
        a("sorted"),
    ),
    ("itemwise", "places"): lambda a: (
        a("length"),
        "25",
        "2",
        Said(a.value("composed") * 20 * math.sqrt(2)),
    ),
    ("itemwise", "one-change"): lambda a: (a("theorem43"), a("hops"), a("rough")),
    ("itemwise", "one-item"): lambda a: (a("theorem43"), a("hop"), a("hop_stronger")),
    ("itemwise", "own-table"): lambda a: (
        Said(a.value("own_alpha0"), Role.UPPER),
        Said(a.value("own_alpha"), Role.UPPER),
    ),
    ("linear-queries", "city"): lambda a: (
        Said(1 / 25),
        a("k1"),
        a("k1_length"),
        Said(0.04 / math.sqrt(100_000)),
        "0.04",
    ),
    ("linear-queries", "city-rmse"): lambda a: (
        a("k1"),
        a("k1_length"),
        a("k1_length", space_earth="paper"),
        "12,930",
    ),
    ("linear-queries", "width"): lambda a: (
        "25",
        a("printed"),
        _private_up_to("printed", 1e-12),
        _private_up_to("textbook", 1e-12),
        a("textbook"),
        "25",
    ),
    ("linear-queries", "width-6"): lambda a: (
        "1",
        a("printed"),
        _private_up_to("printed", 1e-6),
        _private_up_to("textbook", 1e-6),
    ),
    ("linear-queries", "lemma62"): lambda a: (
        a("printed"),
        a("gauss"),
        "0",
        a("k2"),
        "1e-12",
    ),
    ("linear-queries", "table2a"): lambda a: (
        "25",
        Said(a.value("user") / a.value("k2")),
        "0",
    ),
    ("linear-queries", "norms"): lambda a: (
        "16",
        "16",
        "1",
        "25",
        a("k1"),
        a("k2"),
        a("kinf"),
    ),
    ("linear-queries", "histogram"): lambda a: (
        "0.12",
        "1",
        a("k1", width=0.12),
        "0.12",
        a("k1", width=0.147),
        "0.147",
        a("k1"),
        "0.25",
    ),
    ("frequency", "local"): lambda a: (
        _edge(a, 1.0),
        "1",
        condition("local", 1.0),
        _edge(a, 0.1),
        "0.1",
        condition("local", 0.1),
        "10",
        _edge(a, 10.0),
        condition("local", 10.0),
    ),
    ("frequency", "central"): lambda a: (
        _edge(a, 0.1),
        "0.1",
        condition("central", 0.1),
        _edge(a, 1.0),
        "1",
        condition("central", 1.0),
        "100,000",
        _edge(a, 1.0, n=100_000),
    ),
    ("frequency", "theorem66"): lambda a: (
        "25",
        a("gkrr", alpha=25.0),
        a("theorem65", alpha=25.0),
        a("theorem66", alpha=25.0),
        a("theorem66_printed", alpha=25.0),
        a("remark", alpha=25.0),
        "1",
        Measured("0.73"),
        "35",
        Measured("0.19"),
    ),
    ("frequency", "hadamard"): lambda a: (
        Said(um.hadamard_epsilon_printed(1.0, 1000, 1e-12)),
        Said(hadamard_delta()),
        a("item"),
    ),
    ("frequency", "own-metric"): lambda a: ("25", a("own")),
    ("frequency", "near"): lambda a: (
        a("gkrr", space_near=0.01),
        "0.01",
        a("gkrr", space_near=0.1),
        "0.1",
        a("gkrr", space_near=1.0),
        "1",
        a("hadamard", space_near=0.01),
        "0.01",
        a("hadamard", space_near=1.0),
        "1",
    ),
    ("frequency", "items"): lambda a: (
        a("alpha0"),
        "25",
        a("gkrr"),
        "2",
        Said(math.sqrt(2)),
        "1",
        a("hadamard"),
        a("laplace"),
    ),
    ("unbounded", "draws"): lambda a: (
        "10,000",
        a("informal"),
        a("printed"),
        a("chernoff"),
        "1",
        Said(12 * math.log(10) / 0.008),
        Said(25 / a.value("printed", s=3454)),
    ),
    ("unbounded", "threshold"): lambda a: (a("printed"), "10,000", a("chernoff")),
    ("unbounded", "fact-5.1"): lambda a: ("10", "1", "2", "1", group_growth(2.0, 5)),
    ("unbounded", "table-1"): lambda a: ("1", "0.1", "1", group_growth(0.1, 10)),
}


def _certified(alpha0: float, delta: float) -> float:
    """Return the α that Theorem 4.4 certifies at an item's α₀ and its own δ inside."""
    return float(um.theorem44_alpha(alpha0, 1000, delta, 100_000))


def _achieved(alpha: float, n: int, delta: float, m: int) -> float:
    return float(um.closed_form_achieved(alpha, delta, m, n))


def _broken() -> float:
    alpha0 = float(um.closed_form(50.0, 1e-9, 200, 10**9).alpha0)
    return float(um.group_delta(50.0, alpha0, 200, 10**9))


def condition(model: str, eps: float) -> Said:
    threshold = {
        "local": um.local_improvement_threshold,
        "central": um.central_improvement_threshold,
    }[model]
    return Said(float(threshold(eps, 30, 1000, 1e-12)))


def hadamard_delta() -> float:
    from explorer.privacy.core import composition

    item = float(um.hadamard_epsilon_printed(1.0, 1000, 1e-12))
    return float(composition.kov_exact_delta(1.0, item, 1000))
