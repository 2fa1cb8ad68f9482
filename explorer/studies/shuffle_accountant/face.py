"""What the shuffle accountant shows first."""

from explorer.studies.base.study import Face

FACES = {
    "eps": Face(
        ("eps0", "n", "k", "T"),
        ("numerical_upper", "theorem1", "kov_exact", "unamplified", "lower_2rr"),
    ),
    "rdp": Face(
        ("eps0", "n", "k", "lam"), ("rdp_clones", "theorem1_sharp", "theorem1", "theorem2")
    ),
    "own": Face(("eps0", "n", "k", "T"), ("own", "numerical_upper", "cap")),
    "epochs": Face(
        ("eps0", "n", "k", "T"), ("numerical_upper", "epoch_fixed", "epoch_adaptive", "epoch_lower")
    ),
    "ternary": Face(
        ("eps0", "k", "alpha"), ("theorem4", "sharp_mixed", "theorem6", "sharp_alike", "exact_3rr")
    ),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "theorem1": "Theorem 1 (Rényi)",
    "lower_rdp": "Rényi limit of the method",
    "clones_closed": "closed-form clones + KOV",
    "unamplified": "no shuffling counted",
    "cap": "T·εₛ",
    "clones_numerical": "clones + KOV closed form",
    "numerical_upper": "exact clones",
    "lower_2rr": "no bound can be below",
    "kov_exact": "clones + KOV",
    "rdp_clones": "RDP of clones",
    "theorem1_sharp": "Theorem 1 sharpened",
    "theorem2": "no RDP can be below",
    "renyi_cap": "Rényi cap",
    "theorem1_alone": "Theorem 1 alone",
    "own": "this randomiser",
    "epoch_fixed": "once an epoch, fixed",
    "epoch_adaptive": "once an epoch, adaptive",
    "epoch_lower": "once an epoch, from below",
    "theorem4": "Theorem 4",
    "sharp_mixed": "sharpened, any others",
    "theorem6": "Theorem 6, others alike",
    "sharp_alike": "sharp, others alike",
    "exact_2rr": "2RR exactly",
    "exact_3rr": "3RR exactly",
}
