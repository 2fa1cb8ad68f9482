"""What the program states in certificates: sentences that follow from numbers, and fixed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from explorer.release.certificate.numbers import factor, rounded_up

SHOWN, DECLARED, NOT_COVERED = "shown by the tool", "declared by the curator", "not covered"

UNIT = "user id"
NEIGHBOURS = "add or remove one user with all rows in all files of the population"

OUT_OF_SCOPE = (
    "the curator, who holds the data",
    "timing, memory, swap and screen",
    "collection of the data",
    "the same people under other ids",
)

ONE_ID, NOT_CHOSEN, ALL_HERE = (
    "One user id stands for one person.",
    "Box, period and file format were not chosen from the data.",
    "Every earlier output about these people is in this ledger.",
)
"""Conditions that every curator declares; the second only where it was."""
NOT_DECLARED = "That no parameter was chosen from the data is not declared."

EXACT = {
    "discrete Laplace": "Noise is exact discrete Laplace from integers.",
    "permute-and-flip": "Choices are exact permute-and-flip on integers.",
}
"""Conditions that the program shows, by kind of noise."""

NOTHING_DECLARED = "The curator declared nothing about this."
ROWS = {
    "unit and neighbours": SHOWN,
    "variant and parameters": SHOWN,
    "model and trust": DECLARED,
    "composition across releases": SHOWN,
    "utility and bias": DECLARED,
    "implementation: noise, floating point, timing": SHOWN,
    "data security": DECLARED,
    "collection exposure": NOT_COVERED,
}
"""Rows of NIST SP 800-226 (March 2025), and who answers for each."""


def promise(
    gate: str, sum_epsilon: Fraction, epsilon_at_delta: str | None, delta: Fraction | None
) -> str:
    """Return the sentence of a certificate.

    Parameters
    ----------
    gate : str
    sum_epsilon : Fraction
        Of all releases so far.
    epsilon_at_delta : str or None
        Of the capped ρ, rounded up; under *zcdp* alone.
    delta : Fraction or None
    """
    if gate == "zcdp":
        return (
            "All releases about these people, this one and later ones included, are together "
            f"(ε, δ)-differentially private with ε at most {epsilon_at_delta} and δ = {delta}."
        )
    return (
        "This release and all others about these people so far change nobody's odds about any one "
        f"user's presence by more than a factor e^{rounded_up(sum_epsilon)}, less than "
        f"{factor(sum_epsilon)}."
    )


def program_conditions(noises: Iterable[str], independent: bool) -> list[str]:
    """Return the conditions that the program states."""
    found = [EXACT[noise] for noise in dict.fromkeys(noises)]
    return found if independent else [*found, NOT_DECLARED]


def shown_rows(
    gate: str, epsilon: Fraction, sum_epsilon: Fraction, budget: Fraction, delta: Fraction | None
) -> dict[str, str]:
    """Return the texts of the rows of `ROWS` that the program answers for."""
    if gate == "zcdp":
        variant = (
            f"Zero-concentrated, rho {budget} for all releases; this one pure, epsilon {epsilon}."
        )
        composition = f"zCDP gate, rho {budget}, delta {delta}."
    else:
        variant = f"Pure, epsilon {epsilon}; with earlier releases {sum_epsilon}."
        composition = f"Sum gate, budget {budget}."
    return {
        "unit and neighbours": "One user id, added or removed.",
        "variant and parameters": variant,
        "composition across releases": composition,
        "implementation: noise, floating point, timing": "Exact integers, system randomness; "
        "timing not covered.",
    }


def evaluation(shown: Mapping[str, str], declared: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the rows of `ROWS` as a certificate holds them."""
    others = {
        "model and trust": "Central; the curator holds the raw file.",
        "collection exposure": "How the data are collected is outside this certificate.",
    }
    return [
        {
            "row": row,
            "status": status,
            "text": shown.get(row) or declared.get(row) or others.get(row, NOTHING_DECLARED),
        }
        for row, status in ROWS.items()
    ]
