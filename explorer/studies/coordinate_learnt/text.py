"""What the study of what is learnt says in words."""

import math

import numpy as np

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import COORDINATES as PAPER
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee, Table
from explorer.studies.coordinate_learnt.domain import Domain, Levels

LDP = Reference(PAPER, "Definition 1", "by brute force")
BDP = Reference(PAPER, "Definition 2 and Proposition 1", "by brute force over inputs of mass > 0")
CDP = Reference(PAPER, "Definition 3", "by brute force over the whole product domain")
BCDP = Reference(
    PAPER, "Definition 4", "by brute force; suprema over events are over single values"
)
THEOREM_1 = Reference(PAPER, "Theorem 1", "both hypotheses' roles; errata coord-A6, coord-C5")
NEYMAN_PEARSON = Reference("Neyman and Pearson 1933", "most powerful tests")
BAYES = Reference(PAPER, "Definition 4", "Bayes' rule on the exact conditional laws")
CERTIFICATE = Reference(PAPER, "Proposition 4, sharpened", "log((1−q)e^c + q·e^L)")
PART_1 = Reference(PAPER, "Proposition 4, part 1", "the sum is over coordinates; errata coord-A6")
PART_2 = Reference(PAPER, "Proposition 4, part 2")
EXAMPLE_1 = Reference(PAPER, "Example 1", "finite only if not b=c=1 and not a=b=1; errata coord-A5")
EXAMPLE_2 = Reference(PAPER, "Example 2")
CHANCE = Reference(PAPER, "Section 3.1", "a test that ignores the report")
REFERENCES = (BCDP, LDP, CDP, BDP, THEOREM_1, CERTIFICATE, EXAMPLE_1, EXAMPLE_2)

LEVELS: dict[str, tuple[str, Role, Reference]] = {
    "bcdp": ("δᵢ, BCDP: this coordinate, this prior", Role.EXACT, BCDP),
    "cdp": ("cᵢ, CDP: this coordinate, the others fixed", Role.EXACT, CDP),
    "bdp": ("BDP: the whole record, this prior", Role.EXACT, BDP),
    "ldp": ("LDP: the whole record, everybody", Role.EXACT, LDP),
    "certified": ("δᵢ certified from c, L and the coupling", Role.UPPER, CERTIFICATE),
    "part2": ("Proposition 4, part 2", Role.UPPER, PART_2),
    "part1": ("Proposition 4, part 1", Role.UPPER, PART_1),
}
SHORT = {
    "bcdp": "δᵢ (BCDP)",
    "cdp": "cᵢ (CDP)",
    "bdp": "BDP",
    "ldp": "LDP",
    "certified": "δᵢ certified",
    "part2": "Prop. 4 (2)",
    "part1": "Prop. 4 (1)",
}
INFINITE = "infinite: some report excludes a value"
ONE_VALUE = "the coordinate has one possible value: there is nothing to learn"


def number(value: float) -> str | float:
    """Return a number for a table, infinity in writing."""
    return "∞" if math.isinf(value) else float(value)


def plain(value: float) -> str:
    """Return a number for a sentence."""
    return "∞" if math.isinf(value) else f"{nearest(value)}"


def level_table(found: Levels) -> Table:
    """Return every coordinate's levels."""
    columns = (found.coupling, found.cdp, found.bcdp, found.certified, found.part1, found.part2)
    rows = tuple(
        (f"x{'₁₂₃'[i]}", *(number(float(column[i])) for column in columns))
        for i in range(found.cdp.size)
    )
    return Table(
        "levels",
        "Levels by coordinate",
        ("coordinate", "coupling q", "CDP c", "BCDP δ", "certified", "Prop. 4 (1)", "Prop. 4 (2)"),
        rows,
        f"Exact, in nats, by brute force; q is the coupling of the prior. Whole record: LDP "
        f"{plain(found.ldp)}, BDP {plain(found.bdp)}. The last three are upper bounds on δ.",
        (None, *[Role.EXACT] * 3, *[Role.UPPER] * 3),
    )


def domain_table(domain: Domain) -> Table:
    """Return the prior and the channel."""
    outputs = domain.channel.shape[1]
    return Table(
        "domain",
        "Prior and channel",
        ("x", "prior", *(f"P(y = {output_name(domain, y)} | x)" for y in range(outputs))),
        tuple(
            (name, float(domain.prior[x]), *(float(p) for p in domain.channel[x]))
            for x, name in enumerate(domain.names())
        ),
        "Of one report.",
    )


def output_name(domain: Domain, y: int) -> str:
    """Return what a report of the domain's channel is called."""
    outputs = domain.channel.shape[1]
    return format(y, "02b") if domain.d == 3 else str(y if outputs == 2 else y + 1)


def conditions(domain: Domain, found: Levels, once: Levels, place: int) -> tuple[Condition, ...]:
    """Return which notions the mechanism satisfies and how they are related here."""
    slack = 1e-9
    said = [
        Condition(
            "Only LDP: no report excludes a record",
            bool(np.isfinite(found.ldp)),
            f"level {plain(found.ldp)}",
            of_guarantee=False,
        ),
        Condition(
            "What is said of this coordinate is at most what is said of the whole record",
            bool(found.bcdp[place] <= found.bdp + slack and found.bdp <= found.ldp + slack),
            f"δ = {plain(float(found.bcdp[place]))}, BDP {plain(found.bdp)}, "
            f"LDP {plain(found.ldp)} (Proposition 3)",
        ),
        Condition(
            "Only to compare: protecting the coordinate alone would protect it, δᵢ ≤ cᵢ",
            bool(found.bcdp[place] <= found.cdp[place] + slack),
            f"δ = {plain(float(found.bcdp[place]))}, c = {plain(float(found.cdp[place]))}, "
            f"coupling {nearest(float(found.coupling[place]))}",
            of_guarantee=False,
        ),
    ]
    if domain.copies > 1:
        sum_of_levels = domain.copies * float(once.bcdp[place])
        said.append(
            Condition(
                "Only to compare: levels of coordinates add over releases (they need not: only c "
                "and L do)",
                bool(found.bcdp[place] <= sum_of_levels + slack),
                f"δ of {domain.copies} reports {plain(float(found.bcdp[place]))}, "
                f"{domain.copies} times one {plain(sum_of_levels)}",
                of_guarantee=False,
            )
        )
    said.append(
        Condition("The observer's beliefs are this prior, and they know the mechanism", None)
    )
    return tuple(said)


def guarantee(domain: Domain, found: Levels, place: int) -> Guarantee:
    """Return what is promised of the coordinate looked at."""
    name = f"x{'₁₂₃'[place]}"
    level = float(found.bcdp[place])
    reports = "the report" if domain.copies == 1 else f"{domain.copies} reports"
    what = f"whether {name} is 0 or 1"
    only = domain.only_value(place)
    if only is None:
        sentence = guesses(min(level, 1e3), 0.0, what, f"after seeing {reports}")
    else:
        sentence = f"Under this prior {name} is always {only}: {reports} can tell nothing of it."
    if not math.isinf(level) and math.isinf(found.ldp):
        sentence += " Of the record as a whole a report can exclude a value altogether."
    return Guarantee(
        unit=f"the coordinate {name} of one user's record, against this prior",
        replace_one=(
            f"δ = {plain(level)} for {name} against observers with this prior; {name} alone "
            f"changed, the others fixed: c = {plain(float(found.cdp[place]))}; any other record, "
            f"whatever is believed: {plain(found.ldp)}-LDP"
        ),
        add_remove="not covered: each user reports for themselves, and is seen to",
        trust="Nobody is trusted: the user randomises; everyone may see the report.",
        sentence=sentence,
        references=(BCDP, THEOREM_1),
        differences=(
            "LDP and CDP ask of every record, BDP and BCDP of beliefs about records: what a prior "
            "excludes or averages out does not count for them.",
            "CDP fixes the other coordinates, BCDP averages them given this one: with coupled "
            "coordinates a report about the others tells of this one too, so δ can exceed c.",
            "The certified level knows c, L and the coupling alone, and some mechanism and prior "
            "with these three attain it; this mechanism may give away less under any prior.",
        ),
    )
