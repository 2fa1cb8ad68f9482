"""References of the coordinate leakage study."""

from explorer.privacy.core.bound import COORDINATES as PAPER, Reference

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
