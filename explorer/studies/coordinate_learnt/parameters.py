"""What can be set and plotted in the study of what is learnt."""

from explorer.studies.base.builders import choice, count, real, share
from explorer.studies.base.study import Quantity, Scale

TABLE, EXAMPLE_2, M_MEAN = "table", "example2", "m_mean"
_ENTRIES = (("00", 0.5), ("01", 0.0), ("10", 0.5), ("11", 0.5))
_TABLE_ONLY = (("mechanism", (TABLE,)),)
_M_MEAN_ONLY = (("mechanism", (M_MEAN,)),)

PARAMETERS = (
    choice("mechanism", "M", "mechanism",
           "How the user's bits become a report: one bit drawn from a table you can edit, the "
           "paper's Example 2 (three bits in, two out), or M_mean on two bits ±1.",
           TABLE,
           ((TABLE, "one bit, from a table"), (EXAMPLE_2, "Example 2: two of three bits, mixed"),
            (M_MEAN, "M_mean on two bits"))),
    choice("coordinate", "i", "coordinate looked at",
           "About which of the user's bits somebody wants to know. The third exists in Example 2 "
           "only.",
           "1", (("1", "the first"), ("2", "the second"), ("3", "the third"))),
    share("p1", "π₁", "P(x₁ = 1)", "How likely the first bit is 1, before anything is reported.",
          0.5, latex=r"\pi_1"),
    share("p2", "π₂", "P(x₂ = 1)", "How likely the second bit is 1, before anything is reported.",
          0.5, latex=r"\pi_2"),
    real("rho", "ρ", "dependence of x₁ and x₂",
         "0 is independence; 1 and −1 are as alike or as unlike as their probabilities allow. "
         "Stronger dependence lets a report about one bit tell more about the other.",
         0.0, -1.0, 1.0, Scale.LINEAR, latex=r"\rho"),
    *(
        share(f"m{x}", f"P(1|{x})", f"chance of a 1 from {x[0]}, {x[1]}",
              f"Probability that the report is 1 if the two bits are {x[0]} and {x[1]}.",
              default, group="mechanism", relevant_when=_TABLE_ONLY)
        for x, default in _ENTRIES
    ),
    *(
        real(f"c{i}", "c" + "₁₂"[i - 1], f"budget of the {word} bit",
             f"Privacy level of the {word} bit alone, the other one fixed. Smaller is more "
             "private; 0 reports nothing of it.",
             default, 0.0, 10.0, Scale.LINEAR, unit="nats", more_private="low", latex=f"c_{i}",
             group="mechanism", relevant_when=_M_MEAN_ONLY)
        for i, word, default in ((1, "first", 0.2), (2, "second", 1.0))
    ),
    count("copies", "T", "independent reports",
          "How often the same bits are reported anew. Fewer is more private.",
          1, 1, 4, Scale.LINEAR, more_private="low"),
    share("type1", "α", "false alarms",
          "Of a test whether the bit is 0 or 1: how often it says 1 when the bit is 0.",
          0.0, axis_only=True, quantities=("tradeoff",), latex=r"\alpha"),
    share("belief", "P(xᵢ = 1)", "belief before the report",
          "An observer's prior probability that the bit is 1, the other bits' law given this "
          "one as set.",
          0.5, axis_only=True, quantities=("belief_after",), latex=r"P(x_i=1)"),
)  # fmt: skip

QUANTITIES = (
    Quantity("tradeoff", "β", "missed: says 0 when the bit is 1", ("type1",), latex=r"\beta"),
    Quantity("belief_after", "P(xᵢ = 1 | y)", "belief after the report", ("belief",),
             latex=r"P(x_i=1\,|\,y)"),
    Quantity("levels", "δᵢ", "levels of the four notions",
             ("rho", "p1", "p2", "m00", "m01", "m10", "m11", "c1", "c2", "copies"), unit="nats",
             latex=r"\delta_i"),
)  # fmt: skip
