"""The sentences of version 1 of the certificate, frozen: only `verify` uses them."""

from __future__ import annotations

from explorer.release.certificate.words import Sentences
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
)
