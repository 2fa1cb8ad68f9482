"""What amplification by shuffling shows first."""

from explorer.studies.base.study import Face

FACES = {
    "eps": Face(("eps0", "n", "delta"), ("exact_2021", "exact_2023", "closed", "local", "lower")),
    "delta": Face(("eps", "eps0", "n"), ("exact_2021", "exact_2023", "closed", "local", "lower")),
    "own": Face(
        ("randomiser", "eps0", "n", "delta"),
        ("own_exact", "own_blanket", "own_ratio", "exact_2023", "exact_2021"),
    ),
    "own_delta": Face(
        ("randomiser", "eps", "eps0", "n"),
        ("own_exact", "own_blanket", "own_ratio", "exact_2023", "exact_2021"),
    ),
    "region": Face(("eps0", "n", "delta"), ("condition_8", "condition_9", "here")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "closed": "clones 2021, closed form",
    "exact_2021": "exact clones 2021",
    "exact_2023": "exact clones 2023",
    "local": "ε₀ alone, no shuffling",
    "outside": "no closed form here",
    "lower": "no bound can be below",
    "own_exact": "this randomiser, exactly",
    "own_blanket": "its privacy blanket",
    "own_ratio": "its variation-ratio",
    "condition_8": "closed form, clones 2021",
    "condition_9": "closed form, blanket",
}
