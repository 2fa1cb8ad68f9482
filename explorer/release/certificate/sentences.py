"""Sentences that the program states in certificates, one table per certificate version.

Certificates are written with `CURRENT`. `VERSION_1` is frozen and used by `verify` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from explorer.release.rounding import factor, rounded_up
from explorer.release.rows.format import FORMAT_DECLARED, FORMAT_TAKEN

SHOWN, DECLARED, NOT_COVERED = "shown by the tool", "declared by the curator", "not covered"

UNIT = "user id"
NEIGHBOURS = "add or remove one user with all rows in all files of the population"

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
"""Rows of NIST SP 800-226 (March 2025) and their status."""


@dataclass(frozen=True)
class Sentences:
    """Sentences of one version of the certificate.

    Placeholders in braces: ``epsilon`` (of the release), ``total`` (Σε), ``budget``, ``delta``,
    ``at`` (ε at δ, rounded up), ``rounded`` (Σε, rounded up) and ``factor`` (e^Σε, rounded up).

    Attributes
    ----------
    promise, variant, composition : mapping of str to str
        By gate.
    one_id, all_here : str
        Conditions that every curator declares.
    not_chosen : mapping of str to str
        Condition declared if no parameter was chosen from the data, by origin of the file format.
    format_taken, not_declared : str
        Statements of the program otherwise; "" for none.
    exact : mapping of str to str
        Conditions that the program ensures, by kind of noise.
    out_of_scope : tuple of str
    unit, implementation, model, collection : str
        Texts of rows of `ROWS`.
    fixed_method : str
        Method of composition if all releases had been fixed in advance.
    of_mechanisms : tuple of (str, str)
        Patterns of current texts of mechanisms (names of parts, quantities, post-processing), and
        their replacements in this version.
    of_priors : mapping of str to str
        Statements about public maps that a map was completed with; placeholders ``names`` (of
        all), ``name`` and ``key`` (of one).
    """

    promise: Mapping[str, str]
    variant: Mapping[str, str]
    composition: Mapping[str, str]
    one_id: str
    all_here: str
    not_chosen: Mapping[str, str]
    format_taken: str
    not_declared: str
    exact: Mapping[str, str]
    out_of_scope: tuple[str, ...]
    unit: str
    implementation: str
    model: str
    collection: str
    fixed_method: str
    of_mechanisms: tuple[tuple[str, str], ...] = ()
    of_priors: Mapping[str, str] = field(default_factory=dict)

    def of_mechanism(self, text: str) -> str:
        """Return a current text of a mechanism as worded in this version."""
        for pattern, replacement in self.of_mechanisms:
            if match := re.fullmatch(pattern, text, re.DOTALL):
                return match.expand(replacement)
        return text


CURRENT = Sentences(
    promise={
        "sum": "Whatever an observer already knows, this release and all earlier ones about these "
        "people together change the odds that any one user is in the data by a factor of at most "
        "e^{rounded}, which is less than {factor}.",
        "zcdp": "All releases about these people under this budget, including later ones, are "
        "together (ε, δ)-differentially private with ε = {at} and δ = {delta}. This does not "
        "cover outputs from elsewhere that are entered later, or accounts that are joined later: "
        "each of them raises ε.",
    },
    variant={
        "sum": "Pure differential privacy: ε = {epsilon} for this release, ε = {total} together "
        "with all earlier ones.",
        "zcdp": "Zero-concentrated differential privacy: ρ = {budget} for all releases under this "
        "budget. This release alone is pure with ε = {epsilon}.",
    },
    composition={
        "sum": "The ε of all releases are added. A release is refused if the sum would exceed the "
        "budget of {budget}.",
        "zcdp": "The ε²/2 of all releases are added. A release is refused if the sum would exceed "
        "the budget ρ = {budget}. The ε above is stated at δ = {delta}.",
    },
    one_id="Each user id stands for one person.",
    all_here="This ledger lists every earlier output about these people.",
    not_chosen={
        FORMAT_DECLARED: "The region, the period, the file format and all other parameters were "
        "chosen without looking at the data.",
        FORMAT_TAKEN: "The region, the period and all other parameters except the file format were "
        "chosen without looking at the data.",
    },
    format_taken="The file format was taken from the file when it was opened. The guarantee does "
    "not cover this choice.",
    not_declared="The curator has not declared that the parameters were chosen without looking at "
    "the data.",
    exact={
        "discrete Laplace": "The noise is discrete Laplace noise, drawn exactly with integers from "
        "the random numbers of the operating system.",
        "permute-and-flip": "Choices are made by permute-and-flip, computed exactly with integers "
        "and the random numbers of the operating system.",
    },
    out_of_scope=(
        "The curator, who has the data",
        "Running times, and what remains in memory, in swap space or on the screen of the "
        "curator's computer",
        "How the data were collected",
        "People with several user ids: with k ids, or for a group of k people, ε is k times as "
        "large",
    ),
    unit="One user id, added or removed with all its rows.",
    implementation="All noise is computed exactly with integers and the random numbers of the "
    "operating system. Running times are not protected.",
    model="Central model: the curator has the raw file.",
    collection="How the data were collected is not covered.",
    fixed_method="exact composition of randomised responses",
    of_priors={
        "mixed": "The map mixes noisy counts with public maps: {names}. The guarantee holds for "
        "any public maps that are fixed without the data. Patterns inside cells that were not "
        "measured are those of the public maps.",
        "chosen": "“{name}” was public before this release, contains no file about the people of "
        "this release that is not public, and was chosen without looking at the data.",
        "unprotected": "The people in “{name}” are not protected by this release.",
        "release": "The map depends on release {key} too: the ε of both releases add up, and both "
        "are in the sum.",
    },
)


def promise(
    texts: Sentences,
    gate: str,
    sum_epsilon: Fraction,
    epsilon_at_delta: str | None,
    delta: Fraction | None,
) -> str:
    """Return the ``sentence`` of a certificate: its guarantee.

    Parameters
    ----------
    texts : Sentences
    gate : str
    sum_epsilon : Fraction
        Of all releases so far.
    epsilon_at_delta : str or None
        Of the bound on ρ, rounded up; under *zcdp* only.
    delta : Fraction or None
    """
    if gate == "zcdp":
        return texts.promise[gate].format(at=epsilon_at_delta, delta=delta)
    return texts.promise[gate].format(rounded=rounded_up(sum_epsilon), factor=factor(sum_epsilon))


def declared_conditions(texts: Sentences, independent: bool, form: str) -> list[str]:
    """Return the conditions that every curator declares."""
    return [texts.one_id, *([texts.not_chosen[form]] if independent else []), texts.all_here]


def program_conditions(
    texts: Sentences, noises: Iterable[str], independent: bool, form: str
) -> list[str]:
    """Return the conditions that the program states."""
    conditions = [texts.exact[noise] for noise in dict.fromkeys(noises)]
    conditions += [texts.format_taken] if form == FORMAT_TAKEN and texts.format_taken else []
    return conditions if independent else [*conditions, texts.not_declared]


def shown_rows(
    texts: Sentences,
    gate: str,
    epsilon: Fraction,
    sum_epsilon: Fraction,
    budget: Fraction,
    delta: Fraction | None,
) -> dict[str, str]:
    """Return the texts of the rows of `ROWS` with status `SHOWN`."""
    numbers = {"epsilon": epsilon, "total": sum_epsilon, "budget": budget, "delta": delta}
    return {
        "unit and neighbours": texts.unit,
        "variant and parameters": texts.variant[gate].format(**numbers),
        "composition across releases": texts.composition[gate].format(**numbers),
        "implementation: noise, floating point, timing": texts.implementation,
    }


def evaluation(
    texts: Sentences, shown: Mapping[str, str], declared: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return a certificate's ``evaluation``: all rows of `ROWS`."""
    others = {"model and trust": texts.model, "collection exposure": texts.collection}
    return [
        {
            "row": row,
            "status": status,
            "text": shown.get(row) or declared.get(row) or others.get(row, NOTHING_DECLARED),
        }
        for row, status in ROWS.items()
    ]


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
