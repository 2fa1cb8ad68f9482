"""What help pages and the guide say of numbers: those that don't merely stand in a formula."""

from __future__ import annotations

import math
import os
from functools import cache

from explorer.privacy import histograms, user_metric as um
from tests.studies.said.numbers import Ask, Measured, Said, crossing
from tests.studies.said.shuffled import SAID as SHUFFLED
from tests.studies.said.users import SAID as USERS

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def _preset(table, study: str, key: str) -> tuple[str | Said, ...]:
    return table[study, key](Ask(study, key))


def _noise_ratio(key: str, eps: float) -> Said:
    a = Ask("histograms", key)
    given = {"eps": eps, "n": 10**6}
    return Said(a.value("paper_noise", **given) / a.value("noise", **given))


def _removal() -> Said:
    q = Ask("histograms", "noise-count").value("q")
    return Said(float(histograms.count_delta(1.0, 10_000, 1 - q, histograms.Adjacency.REMOVE)))


def _second_moment(factor: float) -> Said:
    """Return G² of R∞ at the paper's numbers, with a factor of its noise."""
    return Said(13_170 + factor * (13_170 / math.tanh(0.75)) ** 2 / 10_000)


def _alpha(key: str) -> Said:
    return Ask("choose-alpha", key)("alpha")


def _wrong_inner() -> Said:
    """Return α₀ if δ′ itself is taken inside Theorem 4.4."""
    return Said(
        crossing(lambda a0: float(um.theorem44_alpha(a0, 1000, 1e-12, 100_000)) - 25, 0.1, 10.0)
    )


def _contradiction() -> Said:
    r = 2 * math.log(1e12) / 1e6
    return Said(1 / (float(um.theorem53_alpha(1.0, 1e-12, r, 10**6)) * r))


def _itemwise() -> tuple[str | Said, ...]:
    simple, tight, exact, *_ = _preset(USERS, "itemwise", "central")
    at_three = _preset(USERS, "itemwise", "three")[0]
    second = _preset(USERS, "itemwise", "second-branch")
    broken = _preset(USERS, "itemwise", "second-branch-broken")
    return (
        "3.0",
        "3.0",
        at_three,
        "25",
        simple,
        tight,
        exact,
        "3.0",
        Measured("25.02"),
        at_three,
        "100",
        "1e-12",
        "1000",
        "1e8",
        second[0],
        second[1],
        "50",
        "1e-9",
        "200",
        "1e9",
        broken[0],
        broken[2],
        Measured("4.6"),
        "25",
        Said(1e-12 * math.exp(-25)),
        "1e-12",
        _wrong_inner(),
        "16",
        "25",
        Said(1000 / 16 - math.log(4000 / 1e-12)),
        "1e4",
        "1e-6",
        Measured("0.085"),
        "33",
        "3.3",
        "1e-12",
        "1e8",
        Said(3.0 * 3.3 / math.sqrt(1e8)),
        Said(float(um.theorem43_epsilon(3.0, 1e-12, 1e8, 33, 3.3).epsilon)),
    )


def _linear() -> tuple[str | Said, ...]:
    _, delta, printed, textbook, *_ = _preset(USERS, "linear-queries", "width")
    _, mean, miles, root, _ = _preset(USERS, "linear-queries", "city")
    rmse, _, rmse_miles, _ = _preset(USERS, "linear-queries", "city-rmse")
    return (
        "1.25",
        "1.25",
        "25",
        "1e-12",
        delta,
        printed,
        textbook,
        Said(float(um.gaussian_sigma(25.0, 1e-12))),
        Measured("0.115"),
        "0.04",
        root,
        "1.6",
        rmse,
        rmse_miles,
        mean,
        miles,
    )


def _unbounded() -> tuple[str | Said, ...]:
    printed, _, chernoff = _preset(USERS, "unbounded", "threshold")
    return (
        "0.1",
        "10",
        Said(math.e),
        _preset(USERS, "unbounded", "table-1")[-1],
        Said(math.exp(5)),
        _preset(USERS, "unbounded", "fact-5.1")[-1],
        _contradiction(),
        Said(printed.value / chernoff.value),
        "0.008",
        "10,000",
        "1e-12",
        chernoff,
        printed,
    )


def _coordinate_mean() -> tuple[str | Said, ...]:
    from tests.studies.said.coordinates import SAID

    loses, median = _preset(SAID, "coordinate-mean", "figure3")[3:5]
    projected = _preset(SAID, "coordinate-mean", "figure3-projected")[0]
    halves = Said(2 / math.pi * math.asin(0.3))
    return ("0.3", halves, Measured("0.655"), loses, projected, median, Measured("0.01"))


def _orders() -> tuple[str | Said, ...]:
    first, _, second, _, third, _ = _preset(SHUFFLED, "shuffle-rdp", "order-edge")
    return (first, second, third, "64", "512", "2048", "1e4", "1e7", "1000")


_FIGURES = tuple(
    Ask("shuffle-rdp", f"figure-{key}")
    for key in ("2a", "2b", "2c", "3a", "3b", "3c", "4a", "4b", "4c", "5a", "5b")
)


@cache
def _over_clones() -> list[float]:
    """Return ε of Theorem 1 over that of the clones' Rényi levels, figure by figure."""
    return [ask.first("theorem1") / ask.first("rdp_clones") for ask in _FIGURES]


@cache
def _round_over_clones() -> list[float]:
    """Return the same of a round's level, at the order that Theorem 1 uses.

    All take 45 s; the least and the most are those of 3 (a) and 4 (b).
    """
    found = []
    for ask in _FIGURES:
        if not (THOROUGH or ask.key in ("figure-3a", "figure-4b")):
            continue
        at = {"quantity": "rdp", "lam": int(ask.first("order"))}
        found.append(ask.first("theorem1", **at) / ask.first("rdp_clones", **at))
    return found


PAGES = {
    "heatmap": lambda: (Measured(".5"), Measured("33"), "1e-3", Measured(".0246"), ".02"),
    "heatmap-theory": lambda: (".4", ".01"),
    "shuffle-rdp": lambda: (
        Said(min(_round_over_clones())),
        Said(max(_round_over_clones())),
        Said(min(_over_clones())),
        Said(max(_over_clones())),
        Measured("6.6"),
        *_orders(),
        "4.82",
        "18.3",
    ),
    "amplification": lambda: (
        "1000",
        "5e-11",
        *_preset(SHUFFLED, "amplification", "condition-ignored")[:2],
    ),
    "histograms": lambda: (
        "200",
        "50",
        "1e-6",
        _noise_ratio("noise-count", 1.0),
        _noise_ratio("noise-histogram", 0.5),
        "200",
        "25",
        _removal(),
        "1e-6",
    ),
    "cldp-sgd": lambda: (
        "99",
        "4.82",
        "18.3",
        "90",
        "89.7",
        "30",
        "5.8",
        "200",
        Ask("cldp-sgd", "figure-5b-epsilon")("theorem"),
        "13,170",
        "1.5",
        "10,000",
        _second_moment(4),
        _second_moment(1),
        "13,170",
        "13,706",
        "13,170",
        "13,706",
    ),
    "choose-alpha": lambda: (
        "12,930",
        "12,450.7",
        "0.08",
        "0.008",
        "12,500",
        "12,450.7",
        _alpha("earth"),
        "12,500",
        _alpha("rounded"),
        "12,930",
        _alpha("printed"),
    ),
    "itemwise": _itemwise,
    "linear-queries": _linear,
    "frequency": lambda: (
        "0.6",
        "0.4",
        "0.8",
        Measured("1.5"),
        Measured("67"),
        Measured("580"),
        "1000",
        "1e-12",
        *_preset(USERS, "frequency", "hadamard")[1:],
        Measured("4.6"),
    ),
    "unbounded": _unbounded,
    "coordinate-mean": _coordinate_mean,
}


def guide() -> tuple[str | Said, ...]:
    """Return the numbers of the user guide's page on numbers."""
    figure = Ask("shuffle-rdp", "figure-2a")
    simple, tight, exact, *_ = _preset(USERS, "itemwise", "central")
    return (
        "10⁵",
        "2",
        "10³",
        "10⁶",
        "10⁻⁸",
        figure("theorem1"),
        "14",
        figure("unamplified"),
        figure("clones_numerical"),
        Said(figure.value("clones_numerical") / figure.value("theorem1")),
        figure("lower_2rr"),
        figure("numerical_upper", clones="2023"),
        "4.82",
        "18.3",
        "0.1",
        "10⁵",
        "10³",
        "10⁻¹²",
        "25",
        "3.0",
        _preset(USERS, "itemwise", "three")[0],
        simple,
        tight,
        exact,
        "10⁻⁶",
        _noise_ratio("noise-count", 1.0),
        "1",
        _noise_ratio("noise-histogram", 0.5),
        "50",
    )
