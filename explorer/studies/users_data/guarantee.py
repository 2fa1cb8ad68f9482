"""Sources, messages, conditions and guarantees of the study of users' data."""

from collections.abc import Sequence

from explorer.privacy.core.bound import USER_METRIC as _PAPER, Reference
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import guesses
from explorer.studies.base.study import Condition, Guarantee

ALGORITHM_1 = Reference(
    _PAPER, "Algorithm 1 and Theorem 4.1", "discrete Laplace noise on a lattice; errata user-B2"
)
ON_POINTS = Reference(
    _PAPER, "Algorithm 1 and Theorem 4.1", "Laplace noise in floating point; errata user-B2"
)
ALGORITHM_2 = Reference(
    _PAPER,
    "Algorithm 2",
    "α₀ by hops in increasing order, or side by side where items are all 1 "
    "apart; answers drawn from a table of whole numbers",
)
ALGORITHM_3 = Reference(
    _PAPER, "Algorithm 3 and Theorem 5.3", "s·KL(c‖r) = ln(1/δ), α = ε/c: errata user-D4"
)
DISTANCE = Reference(_PAPER, "Definition 2.2 and Lemma 2.1", "an optimal plan")
PROMISE = Reference(_PAPER, "Definitions 3.1 and 3.2", "as a test, both ways round")
SEVERAL = Reference(_PAPER, "Definition 3.1, one user after the other", "the cheapest order")
CHANCE = Reference("Neyman and Pearson 1933", "a test that ignores what is released")
REFERENCES = (ALGORITHM_1, ALGORITHM_2, ALGORITHM_3, DISTANCE, PROMISE)

SYNTHETIC = "synthetic data"
NO_FILE = "No file is open. Synthetic users are used until you open a file."
NO_SECOND = "No second file is open: the synthetic users are changed a little."
NEEDS_SECOND = (
    "no second file is chosen: open one under “second file”, or compare users of the same file"
)
NO_TABLE = "a release item by item needs a space of finitely many items: choose a grid"
NO_PLACE = "this space's items have no places in a picture: choose a grid or your own points"
NO_POSITION = "this space's items have no positions: average shares or your own values"
NO_PLACES = "distances to places need a grid, a square or the Earth: choose one as metric space"
NO_AVERAGE = (
    "points are averaged by their distance to places, in a square also by position: choose one of "
    "these under “averaged”"
)
IN_FLOATS = "Noise on points is a demonstration in floating point, not drawn exactly."
SIMULATED = (
    "Simulated local protocol: readers of the output learn no more than stated; nothing is hidden "
    "from you, who hold the file: for that it must run on the users' devices."
)
SEEDED = (
    "Preview: the noise is drawn from the seed. A release takes the same steps with the system's "
    "random source."
)
PLANAR = (
    "Planar Laplace noise is a demonstration in floating point; what would be released goes "
    "through the cells of a grid."
)
WEIGHTS = (
    "After drawing, every user weighs the same: the target is the mean of the users' shares, not "
    "the pool's."
)


def conditions(*, drawn: bool, real: bool) -> tuple[Condition, ...]:
    """Return the conditions of a release."""
    sizes = "n and s" if drawn else "n and m"
    return (
        Condition(
            f"The space, its box, {sizes} and the levels were chosen before the file was read"
            + (": taken from the data they void the guarantee" if real else ""),
            None,
            short="Settings fixed before the file was read",
        ),
        Condition(
            "Each row belongs to the user it names", None, short="Each row belongs to its user"
        ),
    )


def guarantee(
    *, epsilon: float, alpha: float, delta: float, r: float | None, local: bool, item_level: float
) -> Guarantee:
    """Return the guarantee of a release.

    Parameters
    ----------
    epsilon : float
        ε within r, after drawing.
    alpha, delta : float
    r : float or None
        None without drawing.
    local : bool
    item_level : float
        α₀ of an item towards the shuffler; 0 for Algorithm 1.
    """
    failing = f", {at_most(delta)}" if delta else ""
    if r is None:
        promise = (
            f"({at_most(alpha)}·w{failing})-private when one user's items are replaced by as many "
            "others at earth mover's distance w (bounded d_EM-DP)"
        )
        secret = "which of two data sets, a hundredth of the largest distance apart, a user holds"
        sentence = guesses(alpha / 100, delta, secret, "after seeing the release")
        pair = alpha / 100, delta
        more = "not covered: n and the number of items are fixed and public"
    else:
        promise = (
            f"({at_most(epsilon)}{failing})-private when one user's items are replaced by others, "
            f"of any number, at earth mover's distance at most {nearest(r)}"
        )
        secret = f"which of two data sets, at most {nearest(r)} apart, a user holds"
        sentence = guesses(epsilon, delta, secret, "after seeing the release")
        pair = epsilon, delta
        more = "not covered: n is fixed and public; how many items a user has is hidden"
    shuffler_note = (
        f" The shuffler sees every item at α₀ = {at_most(item_level)}." if item_level else ""
    )
    return Guarantee(
        unit="one user's whole data set; small changes are protected more",
        replace_one=promise,
        add_remove=more,
        trust=(
            "Local: the user is protected from all who see what their device sends. " + SIMULATED
            if local
            else "Central: the user is protected from the readers of the release, not from the "
            "curator."
        )
        + shuffler_note,
        sentence=sentence,
        references=(ALGORITHM_3, ALGORITHM_2) if r is not None else (ALGORITHM_1, ALGORITHM_2),
        pairs=(pair,),
        qualified=True,
        about=secret,
    )


def distance_promise(alpha: float, delta: float, distance: float, subject: str) -> str:
    """Return the guarantee that α and δ give for two data sets at this distance."""
    epsilon = alpha * distance
    failing = f" + {at_most(delta)}" if delta else ""
    bound = (
        f"At α = {nearest(alpha)}{f' and δ = {nearest(delta)}' if delta else ''}, for every event "
        f"the probabilities p, p′ of {subject} satisfy p ≤ e^{at_most(epsilon)}·p′{failing}"
    )
    test = (
        "whoever accuses wrongly with probability f finds out with at most "
        + (
            "min(1, e^ε·f + δ, 1 − e^(−ε)·(1 − f − δ))"
            if delta
            else "min(1, e^ε·f, 1 − e^(−ε)·(1 − f))"
        )
        + f", ε = {at_most(epsilon)}."
    )
    return f"{bound}{'' if delta else f': odds change at most e^{at_most(epsilon)} times'}; {test}"


def compared_guarantee(
    alpha: float, delta: float, distance: float, subject: str, *, local: bool
) -> Guarantee:
    """Return the guarantee of a release about two data sets at this distance."""
    epsilon = alpha * distance
    return Guarantee(
        unit="one user's whole data set, and several users' by adding up",
        replace_one=distance_promise(alpha, delta, distance, subject),
        add_remove="not covered: the users are the same in both",
        trust=SIMULATED if local else "Central: readers of the release; the curator sees both.",
        sentence=guesses(
            epsilon, delta, f"which of {subject} was used", "after seeing the release"
        ),
        references=(PROMISE, DISTANCE),
    )


def only_in_one(missing: Sequence[str]) -> str:
    """Return the note on users left out of a comparison; empty if there are none."""
    if not missing:
        return ""
    names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
    who = "1 user is" if len(missing) == 1 else f"{len(missing):,} users are"
    return (
        f"{who} in one of the files only and left out ({names}): α says nothing of joining or "
        "leaving."
    )


def bars_note(bars: int, count: int) -> str:
    """Return the note that only some numbers are drawn."""
    return f"Drawn are {bars} of {count}; all readouts are of all of them."


def alpha0_note(level: float) -> str:
    """Return the note on α₀ of the integer table."""
    return f"claimed of the whole numbers that answers are drawn from; {at_least(level)} or less"
