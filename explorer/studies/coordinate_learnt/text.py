"""What the study of what is learnt says in words."""

import math

import numpy as np

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import COORDINATES as PAPER
from explorer.studies.base.numbers import at_least, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee, Table
from explorer.studies.coordinate_learnt.domain import Domain, Levels
from explorer.studies.coordinate_mean.text import confidence_sentence

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
FIGURE_1 = Reference(PAPER, "Figure 1", "arrows with their levels at this domain")
PROPOSITION_5 = Reference(PAPER, "Proposition 5", "post-processing, by brute force")
REFERENCES = (
    BCDP,
    LDP,
    CDP,
    BDP,
    THEOREM_1,
    CERTIFICATE,
    EXAMPLE_1,
    EXAMPLE_2,
    FIGURE_1,
    PROPOSITION_5,
)

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
COUNTED = (
    "The prior was counted from public records: δ is that of their own shares, an estimate; the "
    "coupling is an upper confidence bound, and the certified levels hold at that confidence."
)
NO_FILES = (
    "Two files are asked for and not both are open: the typed tables are used until you open a "
    "prior and a channel."
)
FLAT = (
    "Nothing changes along this axis: it is of the bits, and your own tables are used; put the "
    "number of reports on it."
)
PAIR = (
    "{name} has {count} values: drawn are {pair}, whose reports differ most and which attain its "
    "level."
)
INFINITE = "infinite: some report excludes a value"
ONE_VALUE = "the coordinate has one possible value: there is nothing to learn"


_SHOWN_RECORDS = 200


def coordinate(place: int) -> str:
    """Return the name of a coordinate: ``x₁``."""
    return f"x{'₁₂₃₄'[place]}"


def two_values(domain: Domain, place: int) -> tuple[str, str]:
    """Return the two values that are told apart, those whose reports differ most."""
    pair = domain.hypotheses(place)
    return pair[:2] if pair else (domain.values[place][0], domain.values[place][-1])


def confidence(beta: float) -> str:
    """Return 1 − β, rounded down: ``95 %``."""
    return f"{at_least(100 * (1 - beta))} %"


def number(value: float) -> str | float:
    """Return a number for a table, infinity in writing."""
    return "∞" if math.isinf(value) else float(value)


def plain(value: float) -> str:
    """Return a number for a sentence."""
    return "∞" if math.isinf(value) else f"{nearest(value)}"


def level_table(domain: Domain, found: Levels, beta: float) -> Table:
    """Return every coordinate's levels."""
    columns = (found.coupling, found.cdp, found.bcdp, found.certified, found.part1, found.part2)
    rows = tuple(
        (coordinate(i), *(number(float(column[i])) for column in columns))
        for i in range(found.cdp.size)
    )
    counted = domain.records > 0
    bounded = f"coupling q, at most ({confidence(beta)})"
    return Table(
        "levels",
        "Levels by coordinate",
        (
            "coordinate",
            bounded if counted else "coupling q",
            "CDP c",
            "BCDP δ",
            "certified",
            "Prop. 4 (1)",
            "Prop. 4 (2)",
        ),
        rows,
        f"Exact, in nats, by brute force; q is the coupling of the prior. Whole record: LDP "
        f"{plain(found.ldp)}, BDP {plain(found.bdp)}. The last three are upper bounds on δ."
        + (f" {COUNTED}" if counted else ""),
        (
            None,
            Role.UPPER if counted else Role.EXACT,
            Role.EXACT,
            Role.ESTIMATE if counted else Role.EXACT,
            *[Role.UPPER] * 3,
        ),
    )


def domain_table(domain: Domain) -> Table:
    """Return the prior and the channel."""
    names = domain.names()
    more = len(names) - _SHOWN_RECORDS
    return Table(
        "domain",
        "Prior and channel",
        ("x", "prior", *(f"P(y = {y} | x)" for y in domain.outputs)),
        tuple(
            (name, float(domain.prior[x]), *(float(p) for p in domain.channel[x]))
            for x, name in enumerate(names[:_SHOWN_RECORDS])
        ),
        "Of one report." + (f" {more:,} more records are not shown." if more > 0 else ""),
    )


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
            short="Bound at most that of the whole record",
        ),
        Condition(
            "Only to compare: protecting the coordinate alone would protect it, δᵢ ≤ cᵢ",
            bool(found.bcdp[place] <= found.cdp[place] + slack),
            f"δ = {plain(float(found.bcdp[place]))}, c = {plain(float(found.cdp[place]))}, "
            f"coupling {nearest(float(found.coupling[place]))}",
            of_guarantee=False,
            short="Only to compare: alone, δᵢ ≤ cᵢ",
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
                short="Only to compare: levels add up",
            )
        )
    if domain.records:
        said += [
            Condition(
                "Only δ as drawn: the prior is the shares of the public records, an estimate",
                None,
                "the certified level holds at the confidence stated",
                of_guarantee=False,
                short="Only δ as drawn: prior of public records",
            ),
            Condition(
                "The records were drawn independently from the population the reader believes in, "
                "none is a protected one, and the values were declared before looking at them",
                None,
                f"{domain.records:,} records",
                short="Public records are an independent sample",
            ),
        ]
        return tuple(said)
    said.append(
        Condition(
            "The observer's beliefs are this prior, and they know the mechanism",
            None,
            short="The observer's beliefs are this prior",
        )
    )
    return tuple(said)


def guarantee(domain: Domain, found: Levels, place: int, beta: float) -> Guarantee:
    """Return what is promised of the coordinate looked at."""
    name = coordinate(place)
    level = float(found.bcdp[place])
    reports = "the report" if domain.copies == 1 else f"{domain.copies} reports"
    what = f"whether {name} is {' or '.join(two_values(domain, place))}"
    only = domain.only_value(place)
    if only is None:
        sentence = guesses(min(level, 1e3), 0.0, what, f"after seeing {reports}")
    else:
        sentence = f"Under this prior {name} is always {only}: {reports} can tell nothing of it."
    if not math.isinf(level) and math.isinf(found.ldp):
        sentence += " Of the record as a whole a report can exclude a value altogether."
    if domain.records:
        certified = float(found.certified[place])
        q = float(found.coupling[place])
        sentence = confidence_sentence(
            confidence(beta), domain.records, q, name, certified, found.ldp
        )
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
