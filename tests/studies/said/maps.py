"""What the presets of the studies of maps say."""

from __future__ import annotations

from explorer.privacy.core.bound import Role
from explorer.studies.base.help_page import preset_numbers
from explorer.studies.heatmap.help import FILLED, trends
from tests.studies.said.numbers import Ask, Measured, Said, crossing


def dense_from(a: Ask, name: str) -> Said:
    """Return the k from which dense aggregation has the better bound, to three digits."""
    return Said(
        crossing(lambda k: a.value(name, k=round(k)) - a.value("dense"), 100, 100_000), digits=3
    )


def _levels(a: Ask, name: str, count: int) -> list[Said]:
    return [said for said in a.curve(name) if said.value > 0][:count]


def _figure_1(numbers):
    """Return the numbers of Figure 1's preset in the order of its text."""
    mechanisms = ("adaptive", "pyramid", "least-squares", "laplace", "top")
    found = ["1", *(Said(numbers[f"{key}_emd"]) for key in mechanisms)]
    for epsilon in ("0.1", "1"):
        found.append(epsilon)
        for measure in ("emd", "similarity", "pearson", "kl"):
            found += [Said(numbers[f"{key}_{measure}_{epsilon}"]) for key in ("pyramid", "laplace")]
    return tuple(found)


SAID = {
    ("heatmap-theory", "tight"): lambda a: (
        "20",
        "1",
        "1e5",
        a("experiments"),
        a("lower"),
    ),
    ("heatmap-theory", "sparsity"): lambda a: (
        a("dense"),
        dense_from(a, "experiments"),
        dense_from(a, "theory"),
        "1e6",
        "1",
    ),
    ("heatmap-theory", "algorithms"): lambda a: (
        "1",
        "4238",
        Measured(".0038"),
        a("experiments", n=4238),
        "1e6",
        "20",
    ),
    ("heatmap-theory", "schedules"): lambda a: (
        *_levels(a, "experiments", 7),
        "4",
        *_levels(a, "capped", 3),
    ),
    ("heatmap-theory", "clustering"): lambda a: (
        "0",
        "20",
        "1",
        "1e5",
        a("centres_experiments"),
        a("centres_experiments", n=10**7),
        "1e7",
    ),
    ("heatmap-theory", "figure-12"): lambda a: (
        a("printed"),
        a("r_printed"),
        a("m"),
        a("bits_printed"),
        a("corrected"),
        a("r_corrected"),
        a("bits_corrected"),
    ),
    ("heatmap-theory", "missing"): lambda a: ("10", "1", a("one_place"), a("worst")),
    ("heatmap-theory", "similarity"): lambda a: (
        ".1",
        Said((2 * 0.1) ** 2),
        a("huber", Role.LOWER, emd=0.04),
    ),
    # On check-ins that don't ship: the benchmark of heatmap quality measures them.
    ("heatmap", "figure-3-algorithm"): lambda a: (
        "30",
        "200",
        "64",
        "64",
        Measured(".078"),
        Measured(".004"),
        Measured(".42"),
    ),
    ("heatmap", "figure-3-baseline"): lambda a: (
        "30",
        "200",
        "64",
        "64",
        Measured(".42"),
        "1",
        Measured(".40"),
        "10",
    ),
    ("heatmap", "figure-3-top"): lambda a: (
        "30",
        "200",
        "64",
        "64",
        Measured(".14"),
        Measured(".007"),
        Measured(".024"),
    ),
    ("heatmap", "adaptive"): lambda a: (
        "64",
        "64",
        Measured(".042"),
        Measured(".0013"),
        "200",
        Measured(".078"),
        Measured(".051"),
        "891",
        "7,102",
        Measured(".0104"),
        Measured(".0188"),
        Measured(".0170"),
    ),
    ("heatmap", "figure-8"): lambda a: (
        "8",
        "1",
        "38",
        Measured(".220"),
        Measured(".144"),
        Measured(".073"),
        Measured(".043"),
        Measured(".025"),
        "1",
        "2",
        "5",
        "10",
        "20",
    ),
    ("heatmap", "figure-1"): lambda a: _figure_1(preset_numbers("heatmap", "figure-1")),
    ("heatmap", "figure-10"): lambda a: _trends("figure-10"),
    ("heatmap", "figure-11"): lambda a: _trends("figure-11"),
    ("heatmap", "figure-9"): lambda a: (
        "9",
        "12",
        "20",
        "50",
        Measured(".040"),
        Measured(".006"),
        ".01",
        Measured(".49"),
        Measured(".53"),
        Measured(".023"),
    ),
    ("heatmap", "figure-13"): lambda a: (
        "13",
        "20",
        "50",
        "20",
        Measured(".0814"),
        "16",
        Measured(".0782"),
        "32",
        Measured(".0761"),
        "256",
        Measured(".0763"),
        "64",
    ),
    ("heatmap", "least-squares"): lambda a: (
        "30",
        "200",
        "64",
        "64",
        Measured(".056"),
        Measured(".002"),
        Measured(".078"),
        Measured(".16"),
        Measured(".30"),
        ".1",
    ),
    ("heatmap", "whole-counts"): lambda a: (
        "30",
        "200",
        "64",
        "64",
        Measured(".0077"),
        Measured(".0147"),
    ),
}


def _trends(figure: str) -> tuple[str | Said, ...]:
    """Return the means of the kept experiment; 95 % stands beside measures that do not move."""
    found = preset_numbers("heatmap", figure)
    out: list[str | Said] = [figure.removeprefix("figure-"), "4", "15", "30", "75"]
    for mechanism in ("pyramid", "laplace"):
        for measure, moves in trends(figure, mechanism).items():
            out += [Said(found[f"{mechanism}_{measure}_{filled}"]) for filled in FILLED]
            out += ["95"] * (moves == 0)
    return tuple(out)
