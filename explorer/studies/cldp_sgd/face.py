"""What private learning shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import NEARLY, at_most, nearest
from explorer.studies.base.study import Answer, Face, Result, Statistic


def _risk(result: Result, _found: Claimed | None) -> Answer | None:
    exact, any_model = (number_of(result, key) for key in ("exact", "trivial"))
    if exact is None or any_model is None:
        return None
    number = f"F − F* ≤ {at_most(min(exact, any_model))}"
    if exact >= any_model:
        return Answer(
            number,
            f"Says nothing: any model at all is within {at_most(any_model)} of the least risk, and "
            f"Theorem 3 promises {at_most(exact)}.",
        )
    return Answer(
        number,
        f"The trained model's average risk is at most {at_most(exact)} above the least; that of "
        f"any model at all is within {at_most(any_model)}.",
        statistic=Statistic.MEAN,
    )


def _accuracy(result: Result, _found: Claimed | None) -> Answer | None:
    accuracy, plain = (number_of(result, key) for key in ("accuracy", "plain"))
    if accuracy is None:
        return None
    beside = "" if plain is None else f"; without privacy {nearest(plain)}"
    return Answer(
        f"{NEARLY} {nearest(accuracy)}",
        f"of the test pictures are classified right after this private training{beside}.",
    )


FACES = {
    "eps": Face(
        ("eps0", "epochs", "n", "k"), ("numerical", "theorem", "clones", "unamplified", "response")
    ),
    "risk": Face(("eps0", "epochs", "n", "d"), ("exact", "remark", "trivial", "silent"), _risk),
    "accuracy": Face(
        ("eps0", "epochs", "n", "model"), ("theorem", "numerical", "clones", "plain"), _accuracy
    ),
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
