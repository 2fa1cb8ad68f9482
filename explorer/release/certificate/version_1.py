"""The sentences of version 1 of the certificate, frozen: only `verify` uses them."""

from __future__ import annotations

from explorer.release.certificate.sentences import Sentences
from explorer.release.rows.format import FORMAT_DECLARED

VERSION_1 = Sentences(
    promise={
        "sum": "This release and all others about these people so far change nobody's odds about "
        "any one user's presence by more than a factor e^{rounded}, less than {factor}.",
        "zcdp": "All releases about these people, this one and later ones included, are together "
        "(ε, δ)-differentially private with ε at most {at} and δ = {delta}.",
    },
    variant={
        "sum": "Pure, epsilon {epsilon}; with earlier releases {total}.",
        "zcdp": "Zero-concentrated, rho {budget} for all releases; this one pure, epsilon "
        "{epsilon}.",
    },
    composition={
        "sum": "Sum gate, budget {budget}.",
        "zcdp": "zCDP gate, rho {budget}, delta {delta}.",
    },
    one_id="One user id stands for one person.",
    all_here="Every earlier output about these people is in this ledger.",
    not_chosen={FORMAT_DECLARED: "Box, period and file format were not chosen from the data."},
    format_taken="",
    not_declared="That no parameter was chosen from the data is not declared.",
    exact={
        "discrete Laplace": "Noise is exact discrete Laplace from integers.",
        "permute-and-flip": "Choices are exact permute-and-flip on integers.",
    },
    out_of_scope=(
        "the curator, who holds the data",
        "timing, memory, swap and screen",
        "collection of the data",
        "the same people under other ids",
    ),
    unit="One user id, added or removed.",
    implementation="Exact integers, system randomness; timing not covered.",
    model="Central; the curator holds the raw file.",
    collection="How the data are collected is outside this certificate.",
    fixed_method="randomised responses, exact",
    of_mechanisms=(
        (r"counts in cells of level (\d+)", r"level \1"),
        (r"counts in cells", "cells"),
        (r"counts in bins", "bins"),
        (r"sum of column (.*)", r"sum of \1"),
        (r"sum \(−1 to 1 per user\) of column (.*)", r"sum of \1, in users"),
        (r"count of users", "count"),
        (r"number of users", "noisy_users"),
        (r"choice of region (\d+)", r"choice \1"),
        (
            r"number of users in a cell of level (\d+) \((first|second|only) reading\)",
            r"users in a cell of level \1, \2 reading",
        ),
        (r"number of users in a cell of level (\d+)", r"users in a cell of level \1"),
        (r"number of users in a (cell|bin)", r"users in a \1"),
        (
            r"number of users by which region (\d+) is below the best one not yet chosen",
            r"users by which choice \1 is below the best that was left",
        ),
        (
            r"A map is fitted to all noisy counts of the tree .*",
            "weighted least squares on the tree of readings, nearest non-negative map",
        ),
        (
            r"It is divided by its total, and smoothed .*",
            "divided by its total, moving averages inside cells that were not split",
        ),
        (
            r"The map without negative values that is nearest .*",
            "nearest non-negative map in the paper's norm, divided by its total",
        ),
        (
            r"A map is fitted to the noisy counts of all levels .*",
            "weighted least squares over the levels, nearest non-negative map, divided by its "
            "total",
        ),
        (r"Negative counts are set to 0, .*", "negative counts set to 0, divided by total"),
        (r"The noisy counts are divided by (\d+), .*", r"divided by \1"),
        (
            r"The mean of a column with lower bound a .*",
            "a + (b − a)(1/2 + S/(2B·max(N, 1))) for bounds a, b, clipped to them",
        ),
        (r"The stored numbers are shown as they are\.", "none"),
    ),
)
