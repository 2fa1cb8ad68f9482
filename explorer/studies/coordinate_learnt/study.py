"""Study of coordinate leakage: exact levels, tests and beliefs on a small domain."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import Role
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    file,
    real,
    share,
    table,
)
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Guarantee,
    Kind,
    Mark,
    Parameter,
    ScalarResult,
    Scale,
    Table,
)
from explorer.studies.coordinate_learnt import theory
from explorer.studies.coordinate_learnt.help import PAGE, PRESETS
from explorer.studies.coordinate_learnt.plots import (
    BIT_PARAMETERS,
    COUNTS,
    FILES,
    INFINITE,
    LEVELS,
    PLOTS,
    PROBABILITIES,
    READOUT_LABELS,
    TYPED,
    LearntPoints,
    confidence,
    domain_table,
    figure_1,
    format_level,
    level_of,
    level_table,
    step_table,
)
from explorer.studies.coordinate_learnt.theory import (
    BCDP,
    EXAMPLE_2,
    M_MEAN,
    OWN,
    REFERENCES,
    TABLE,
    THEOREM_1,
    Levels,
    Setting,
)
from explorer.studies.coordinate_mean.guarantee import confidence_sentence

_COARSE_POINTS = 17
_ENTRIES = (("00", 0.5), ("01", 0.0), ("10", 0.5), ("11", 0.5))
_TABLE_ONLY = (("mechanism", (TABLE,)),)
_BITS_ONLY = (("mechanism", (TABLE, EXAMPLE_2, M_MEAN)),)
_OWN_ONLY = (("mechanism", (OWN,)),)
_TYPED_ONLY = (*_OWN_ONLY, ("own_from", (TYPED,)))
_FILES_ONLY = (*_OWN_ONLY, ("own_from", (FILES,)))
_COUNTED = (*_OWN_ONLY, ("prior_is", (COUNTS,)))
_M_MEAN_ONLY = (("mechanism", (M_MEAN,)),)

PARAMETERS = (
    choice(
        "mechanism",
        "M",
        "mechanism",
        "How the user's bits become a report: one bit drawn from a table you can edit, the "
        "paper's Example 2 (three bits in, two out), M_mean on two bits ±1, or tables of your "
        "own, of up to four coordinates with up to six values each.",
        TABLE,
        (
            (TABLE, "one bit, from a table"),
            (EXAMPLE_2, "Example 2: two of three bits, mixed"),
            (M_MEAN, "M_mean on two bits"),
            (OWN, "your own: prior and channel as tables"),
        ),
    ),
    choice(
        "coordinate",
        "i",
        "coordinate shown",
        "The bit of the user that levels and beliefs are about. The third exists in Example 2 and "
        "in tables of your own, the fourth in these only.",
        "1",
        (("1", "the first"), ("2", "the second"), ("3", "the third"), ("4", "the fourth")),
    ),
    share(
        "p1",
        "π₁",
        "P(x₁ = 1)",
        "How likely the first bit is 1, before anything is reported.",
        0.5,
        latex=r"\pi_1",
        relevant_when=_BITS_ONLY,
    ),
    share(
        "p2",
        "π₂",
        "P(x₂ = 1)",
        "How likely the second bit is 1, before anything is reported.",
        0.5,
        latex=r"\pi_2",
        relevant_when=_BITS_ONLY,
    ),
    real(
        "rho",
        "ρ",
        "dependence of x₁ and x₂",
        "0 is independence; 1 and −1 are as alike or as unlike as their probabilities allow. "
        "Stronger dependence lets a report about one bit tell more about the other.",
        0.0,
        -1.0,
        1.0,
        Scale.LINEAR,
        latex=r"\rho",
        relevant_when=_BITS_ONLY,
    ),
    *(
        share(
            f"m{x}",
            f"P(1|{x})",
            f"chance of a 1 from {x[0]}, {x[1]}",
            f"Probability that the report is 1 if the two bits are {x[0]} and {x[1]}.",
            default,
            group="mechanism",
            relevant_when=_TABLE_ONLY,
        )
        for x, default in _ENTRIES
    ),
    *(
        real(
            f"c{i}",
            "c" + "₁₂"[i - 1],
            f"budget of the {word} bit",
            f"Privacy level of the {word} bit alone, the other one fixed. Smaller is more "
            "private; 0 reports nothing of it.",
            default,
            0.0,
            10.0,
            Scale.LINEAR,
            unit="nats",
            more_private="low",
            latex=f"c_{i}",
            group="mechanism",
            relevant_when=_M_MEAN_ONLY,
        )
        for i, word, default in ((1, "first", 0.2), (2, "second", 1.0))
    ),
    count(
        "copies",
        "T",
        "independent reports",
        "How often the same bits are reported anew. Fewer is more private.",
        1,
        1,
        4,
        Scale.LINEAR,
        more_private="low",
    ),
    Parameter(
        "step",
        "",
        "change the report afterwards",
        "Proposition 5: whatever is done to a report without looking at the record, no level "
        "grows. A table shows levels before and after.",
        Kind.FLAG,
        False,
        group="mechanism",
    ),
    table(
        "kernel",
        "what becomes of the report",
        "One row of whole numbers merges outputs: 1 1 2 makes one of the first two. Several rows "
        "say with which probability each output becomes which new one: 0.9 0.1; 0.1 0.9.",
        "0.9 0.1; 0.1 0.9",
        group="mechanism",
        relevant_when=(("step", ("True",)),),
    ),
    choice(
        "own_from",
        "",
        "tables from",
        "Type the tables, or load them from CSV files.",
        TYPED,
        ((TYPED, "typed here"), (FILES, "two files")),
        group="data",
        relevant_when=_OWN_ONLY,
    ),
    choice(
        "prior_is",
        "",
        "the prior's last column",
        "How likely each record is, or how many public records there are of it: then the "
        "coupling is bounded at a confidence. Never count the protected records.",
        PROBABILITIES,
        ((PROBABILITIES, "probabilities"), (COUNTS, "numbers of records")),
        group="data",
        relevant_when=_OWN_ONLY,
    ),
    table(
        "prior",
        "prior",
        "A row for every record: its coordinates (numbers) and, last, how likely it is. All "
        "combinations of the values, with 0 for what does not occur.",
        "0 0 0.4; 0 1 0.1; 1 0 0.1; 1 1 0.4",
        group="data",
        relevant_when=(*_TYPED_ONLY, ("prior_is", (PROBABILITIES,))),
    ),
    table(
        "records",
        "public records",
        "A row for every record: its coordinates (numbers) and, last, how many public records "
        "are like it. All combinations of the values, with 0 for what does not occur.",
        "0 0 400; 0 1 100; 1 0 100; 1 1 400",
        group="data",
        relevant_when=(*_TYPED_ONLY, ("prior_is", (COUNTS,))),
    ),
    table(
        "channel",
        "channel",
        "A row for every record: its coordinates and the probability of each output.",
        "0 0 0.6 0.2 0.2; 0 1 0.3 0.5 0.2; 1 0 0.3 0.2 0.5; 1 1 0.1 0.4 0.5",
        group="data",
        relevant_when=_TYPED_ONLY,
    ),
    file(
        "prior_file",
        "prior's file",
        "CSV with a line x1,…,xd,prior for every record and names in the first line. Values may "
        "be words.",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FILES_ONLY,
    ),
    file(
        "channel_file",
        "channel's file",
        "CSV with a line x1,…,xd,y1,… for every record and names in the first line: the "
        "probability of each output.",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=_FILES_ONLY,
    ),
    decimal_sign(group="data", relevant_when=_FILES_ONLY),
    real(
        "beta",
        "β",
        "chance that the bound fails",
        "With this probability, over the draw of the public records, the coupling is above the "
        "upper bound that is used. Smaller is surer.",
        0.05,
        1e-9,
        0.5,
        more_private="low",
        group="data",
        latex=r"\beta",
        relevant_when=_COUNTED,
    ),
    share(
        "type1",
        "α",
        "false alarms",
        "Of a test whether the bit is 0 or 1: how often it says 1 when the bit is 0.",
        0.0,
        axis_only=True,
        quantities=("tradeoff",),
        latex=r"\alpha",
    ),
    share(
        "belief",
        "P(xᵢ = 1)",
        "belief before the report",
        "An observer's prior probability that the bit is 1, the other bits' law given this "
        "one as set.",
        0.5,
        axis_only=True,
        quantities=("belief_after",),
        latex=r"P(x_i=1)",
    ),
)


class CoordinateLearnt(CurveStudy):
    """Exact levels on a small domain, as tests and as odds."""

    id = "coordinate-learnt"
    simulated = "local.coordinates/1"
    references = REFERENCES
    parameters = PARAMETERS
    plots = PLOTS
    points = LearntPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: LearntPoints) -> tuple[LearntPoints, ...]:
        """Return few points first, where levels are computed along the sweep."""
        if p.request.quantity != "levels" or p.swept.x.size <= _COARSE_POINTS:
            return (p,)
        return (p.thinned(_COARSE_POINTS, Fidelity.COARSE), p)

    def curves(self, p: LearntPoints) -> Iterable[Curve]:
        """Return the curves; as dots over the number of reports, which is whole."""
        curves = super().curves(p)
        if p.request.quantity == "levels" and p.swept.sweep.key == "copies":
            return tuple(replace(curve, mark=Mark.DOTS) for curve in curves)
        return curves

    def readouts(self, p: LearntPoints) -> tuple[ScalarResult, ...]:
        """Return the levels and the coupling at the sliders."""
        setting, on_axis = p.setting, p.request.quantity == "levels"
        readouts = []
        for curve in LEVELS:
            value = level_of(setting.levels, curve.key, setting.place)
            known = bool(np.isfinite(value))
            readouts.append(
                ScalarResult(
                    curve.key if on_axis else f"level_{curve.key}",
                    str(curve.label) if on_axis else READOUT_LABELS[curve.key],
                    value if known else None,
                    curve.role,
                    "nats",
                    note="" if known else INFINITE,
                )
            )
        coupling = float(setting.levels.coupling[setting.place])
        label, role = "qᵢ (coupling)", Role.EXACT
        if setting.domain.records:
            label += f", at most ({confidence(float(p.request['beta']))})"
            role = Role.UPPER
        return (*readouts, ScalarResult("coupling", label, coupling, role))

    def conditions(self, p: LearntPoints) -> tuple[Condition, ...]:
        """Return which notions the mechanism satisfies and their relations here."""
        return _conditions(p.setting, p.single_report)

    def guarantee(self, p: LearntPoints) -> Guarantee:
        """Return the guarantee about the coordinate."""
        return _guarantee(p.setting, float(p.request["beta"]))

    def tables(self, p: LearntPoints) -> tuple[Table, ...]:
        """Return levels, Figure 1, the domain, and the effect of a processing step."""
        setting, beta = p.setting, float(p.request["beta"])
        shown = [
            level_table(setting.domain, setting.levels, beta),
            figure_1(setting.domain, setting.levels, setting.place),
            domain_table(setting.domain),
        ]
        if p.request["step"] and not setting.skipped:
            before = theory.levels_of(setting.before, setting.coupling)
            shown.insert(2, step_table(before, setting.levels))
        return tuple(shown)

    def notes(self, p: LearntPoints) -> tuple[str, ...]:
        """Return notes on the domain."""
        request, setting = p.request, p.setting
        domain, own = setting.domain, request["mechanism"] == OWN
        notes = [setting.skipped] if setting.skipped else []
        if int(request["coordinate"]) > domain.d:
            notes.append(f"There are only {domain.d} coordinates; the last one is shown.")
        open_files = request["prior_file"] and request["channel_file"]
        if own and request["own_from"] == FILES and not open_files:
            notes.append(
                "Two files are asked for and not both are open: the typed tables are used until "
                "you open a prior and a channel."
            )
        if own and request.sweep and request.sweep.key in BIT_PARAMETERS:
            notes.append(
                "Nothing changes along this axis: it is of the bits, and your own tables are used; "
                "put the number of reports on it."
            )
        if domain.sizes[setting.place] > 2:
            notes.append(
                f"{setting.name} has {domain.sizes[setting.place]} values: drawn are "
                f"{' and '.join(setting.two_values)}, whose reports differ most and which attain "
                "its level."
            )
        return tuple(notes)


def _conditions(setting: Setting, once: Levels) -> tuple[Condition, ...]:
    """Return which notions the mechanism satisfies and their relations here.

    `once` holds the levels of a single report.
    """
    domain, levels, place = setting.domain, setting.levels, setting.place
    slack = 1e-9
    conditions = [
        Condition(
            "Only LDP: no report excludes a record",
            bool(np.isfinite(levels.ldp)),
            f"level {format_level(levels.ldp)}",
            of_guarantee=False,
        ),
        Condition(
            "The bound for this coordinate does not exceed the bound for the whole record",
            bool(levels.bcdp[place] <= levels.bdp + slack and levels.bdp <= levels.ldp + slack),
            f"δ = {format_level(float(levels.bcdp[place]))}, BDP {format_level(levels.bdp)}, "
            f"LDP {format_level(levels.ldp)} (Proposition 3)",
            short="Coordinate bound ≤ record bound",
        ),
        Condition(
            "Only to compare: protecting the coordinate alone would protect it, δᵢ ≤ cᵢ",
            bool(levels.bcdp[place] <= levels.cdp[place] + slack),
            f"δ = {format_level(float(levels.bcdp[place]))}, "
            f"c = {format_level(float(levels.cdp[place]))}, "
            f"coupling {nearest(float(levels.coupling[place]))}",
            of_guarantee=False,
            short="Only to compare: alone, δᵢ ≤ cᵢ",
        ),
    ]
    if domain.copies > 1:
        sum_of_levels = domain.copies * float(once.bcdp[place])
        conditions.append(
            Condition(
                "Only to compare: levels of coordinates add over releases (they need not: only c "
                "and L do)",
                bool(levels.bcdp[place] <= sum_of_levels + slack),
                f"δ of {domain.copies} reports {format_level(float(levels.bcdp[place]))}, "
                f"{domain.copies} times one {format_level(sum_of_levels)}",
                of_guarantee=False,
                short="Only to compare: levels add up",
            )
        )
    if domain.records:
        conditions += [
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
        return tuple(conditions)
    conditions.append(
        Condition(
            "The attacker's beliefs are this prior, and they know the mechanism",
            None,
            short="The attacker's beliefs are this prior",
        )
    )
    return tuple(conditions)


def _guarantee(setting: Setting, beta: float) -> Guarantee:
    """Return the guarantee about the coordinate."""
    domain, levels, place, name = setting.domain, setting.levels, setting.place, setting.name
    level = float(levels.bcdp[place])
    reports = "the report" if domain.copies == 1 else f"{domain.copies} reports"
    what = f"whether {name} is {' or '.join(setting.two_values)}"
    only = domain.only_value(place)
    if only is None:
        sentence = guesses(min(level, 1e3), 0.0, what, f"after seeing {reports}")
    else:
        sentence = f"Under this prior {name} is always {only}: {reports} can tell nothing of it."
    if not math.isinf(level) and math.isinf(levels.ldp):
        sentence += " Of the record as a whole a report can exclude a value altogether."
    if domain.records:
        certified = float(levels.certified[place])
        q = float(levels.coupling[place])
        sentence = confidence_sentence(
            confidence(beta), domain.records, q, name, certified, levels.ldp
        )
    return Guarantee(
        unit=f"the coordinate {name} of one user's record, against this prior",
        replace_one=(
            f"δ = {format_level(level)} for {name} against observers with this prior; {name} alone "
            f"changed, the others fixed: c = {format_level(float(levels.cdp[place]))}; any other "
            f"record, whatever is believed: {format_level(levels.ldp)}-LDP"
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
