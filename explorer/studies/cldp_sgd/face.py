"""What private learning shows first."""

from explorer.studies.base.study import Face

FACES = {
    "eps": Face(
        ("eps0", "epochs", "n", "k"), ("numerical", "theorem", "clones", "unamplified", "response")
    ),
    "risk": Face(("eps0", "epochs", "n", "d"), ("exact", "remark", "trivial", "silent")),
    "accuracy": Face(("eps0", "epochs", "n", "model"), ("theorem", "numerical", "clones", "plain")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "theorem": "Theorem 1 (Rényi)",
    "cap": "T·εₛ",
    "unamplified": "no shuffling counted",
    "clones": "clones + KOV",
    "numerical": "exact clones",
    "response": "no bound can be below",
    "remark": "Theorem 3, Remark 1",
    "trivial": "any model at all",
    "silent": "without privacy, clipped",
    "exact": "Theorem 3, exact error",
    "plain": "without privacy",
}
