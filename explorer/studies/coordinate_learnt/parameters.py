"""What can be set and plotted in the study of what is learnt."""

from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    file,
    real,
    share,
    table,
)
from explorer.studies.base.study import Kind, Parameter, Quantity, Scale

TABLE, EXAMPLE_2, M_MEAN, OWN = "table", "example2", "m_mean", "own"
TYPED, FILES = "typed", "files"
PROBABILITIES, COUNTS = "probabilities", "counts"
SLIDERS_OF_BITS = ("rho", "p1", "p2", "m00", "m01", "m10", "m11", "c1", "c2")
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
        "coordinate looked at",
        "About which of the user's bits somebody wants to know. The third exists in Example 2 "
        "and in tables of your own, the fourth in these only.",
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

QUANTITIES = (
    Quantity("tradeoff", "β", "missed: says 0 when the bit is 1", ("type1",), latex=r"\beta"),
    Quantity(
        "belief_after",
        "P(xᵢ = 1 | y)",
        "belief after the report",
        ("belief",),
        latex=r"P(x_i=1\,|\,y)",
    ),
    Quantity(
        "levels",
        "δᵢ",
        "levels of the four notions",
        (*SLIDERS_OF_BITS, "copies"),
        unit="nats",
        latex=r"\delta_i",
    ),
)
