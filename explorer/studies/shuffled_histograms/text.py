"""What the study of shuffled histograms says in words: references, conditions, guarantee."""

import math

from explorer.privacy.core.bound import Reference, Role
from explorer.privacy.core.papers import HISTOGRAMS as PAPER
from explorer.privacy.histograms import Query
from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import odds_lines, times
from explorer.studies.base.study import Condition, Guarantee

THEOREM_31 = Reference(PAPER, "Theorem 3.1", "errata hist-B1 to hist-B4")
THEOREM_32 = Reference(
    PAPER, "Theorem 3.2", "run at (ε/2, δ/2) for (ε, δ); errata hist-A1, hist-B6"
)
PROOF_31 = Reference(PAPER, "Theorem 3.1(ii), proof", "with √p; errata hist-B2, hist-B3")
PROOF_32 = Reference(
    PAPER,
    "Theorem 3.2, proof",
    "with √p, β/h for β/n, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6",
)
PRINTED_31 = Reference(PAPER, "Theorem 3.1(ii)", "as printed; errata hist-B2")
PRINTED_32 = Reference(
    PAPER, "Theorem 3.2(iii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2, hist-B6"
)
PRINTED_ONE = Reference(
    PAPER, "Theorem 3.2(ii)", "as printed, at (ε/2, δ/2); errata hist-A1, hist-B2"
)
EXACT = Reference(PAPER, "Theorem 3.1 and 3.2", "noise calibrated by the exact δ")
TAILS = Reference(PAPER, "Figure 1", "exact binomial tails instead of the Chernoff step")
LAW = Reference(PAPER, "Figure 1", "exact law of the analyzer's output; errata hist-B4")
MESSAGES = Reference(PAPER, "Theorem 3.2(iv)", "everyone pays the O(d); errata hist-B5")
TABLE_1 = Reference(PAPER, "Table 1", "order only")
TABLE_2 = Reference(PAPER, "Table 2 and Claim 3.4", "errata hist-A1 to hist-A3")
CLAIMS = Reference(PAPER, "Theorem 4.1, Claims 4.3 and 4.4")
SIMULATED = Reference(PAPER, "Figures 1 and 2, simulated", "noise calibrated by the exact δ")
WARNER = Reference("Warner 1965", "randomised response", "Hoeffding")

CURVES = {
    "calibrated": ("P_hist, calibrated exactly", Role.UPPER, EXACT),
    "tails": ("P_hist, calibrated exactly, exact tails", Role.UPPER, TAILS),
    "paper": ("P_hist, the paper's constants", Role.UPPER, PROOF_32),
    "printed": ("P_hist, α of Theorem 3.2(iii) as printed", Role.UPPER, PRINTED_32),
    "printed_one": ("P_hist, α of Theorem 3.2(ii) as printed", Role.UPPER, PRINTED_ONE),
    "local": ("local: unary encoding", Role.UPPER, UNARY),
    "central": ("central: Laplace", Role.EXACT, LAPLACE),
    "stable": ("central: stability-based", Role.UPPER, STABLE),
    "local_order": ("local, the paper's [3] (order only)", Role.ESTIMATE, TABLE_1),
    "cheu_order": ("shuffled, the paper's [8] (order only)", Role.ESTIMATE, TABLE_1),
    "few_order": ("shuffled, the paper's [13], few messages (order only)", Role.ESTIMATE, TABLE_1),
    "fewest_order": (
        "shuffled, the paper's [13], fewest messages (order only)",
        Role.ESTIMATE,
        TABLE_1,
    ),
    "central_order": ("central, the paper's [4, 7, 9, 14] (order only)", Role.ESTIMATE, TABLE_1),
    "rmse": ("P_hist, calibrated exactly", Role.EXACT, LAW),
    "bias": ("P_hist, calibrated exactly: |bias|", Role.EXACT, LAW),
    "paper_rmse": ("P_hist, the paper's constants", Role.EXACT, LAW),
    "local_rmse": ("local: unary encoding", Role.EXACT, UNARY),
    "central_rmse": ("central: Laplace", Role.EXACT, LAPLACE),
    "noise": ("least noise, calibrated exactly", Role.EXACT, EXACT),
    "paper_noise": ("the paper's constants", Role.UPPER, THEOREM_32),
    "users": ("least users, by the exact δ", Role.EXACT, EXACT),
    "paper_users": ("the paper's constants", Role.UPPER, THEOREM_32),
    "messages": ("P_hist, calibrated exactly (expected)", Role.EXACT, MESSAGES),
    "paper_messages": ("P_hist, the paper's constants (expected)", Role.EXACT, MESSAGES),
    "most_messages": ("P_hist, at most", Role.UPPER, MESSAGES),
    "one_message": ("local: one message", Role.EXACT, UNARY),
    "loss": ("δ with the calibrated noise", Role.EXACT, EXACT),
    "paper_loss": ("δ with the paper's noise", Role.EXACT, EXACT),
    "target": ("the δ that was asked for", Role.BASELINE, EXACT),
    "simulated": ("simulated", Role.ESTIMATE, SIMULATED),
}
"""Label, role and source of every curve."""

COUNT_CURVES = {
    "calibrated": ("P_zsum, calibrated exactly", Role.UPPER, EXACT),
    "tails": ("P_zsum, calibrated exactly, exact tails", Role.UPPER, TAILS),
    "paper": ("P_zsum, the paper's constants", Role.UPPER, PROOF_31),
    "printed": ("P_zsum, α of Theorem 3.1(ii) as printed", Role.UPPER, PRINTED_31),
    "printed_one": ("P_zsum, α of Theorem 3.1(ii) as printed", Role.UPPER, PRINTED_31),
    "paper_noise": ("the paper's constants", Role.UPPER, THEOREM_31),
    "paper_users": ("the paper's constants", Role.UPPER, THEOREM_31),
    "rmse": ("P_zsum, calibrated exactly", Role.EXACT, LAW),
    "bias": ("P_zsum, calibrated exactly: |bias|", Role.EXACT, LAW),
    "paper_rmse": ("P_zsum, the paper's constants", Role.EXACT, LAW),
    "messages": ("P_zsum, calibrated exactly (with a 1)", Role.EXACT, THEOREM_31),
    "paper_messages": (
        "P_zsum, the paper's constants (of a user with a 1)",
        Role.EXACT,
        THEOREM_31,
    ),
    "most_messages": ("P_zsum, at most", Role.UPPER, THEOREM_31),
    "local": ("local: randomised response", Role.UPPER, WARNER),
    "local_rmse": ("local: randomised response", Role.EXACT, WARNER),
    "one_message": ("local: one message", Role.EXACT, WARNER),
}
"""What is called differently for a single count."""

ABOUT = {
    "calibrated": "(1−p) + 2√(p(1−p)ln({})/n) with the least noise whose exact δ is small enough",
    "tails": "the same noise, with the binomial's own tails",
    "paper": "the same formula with the paper's p, constant 50",
    "printed": (
        "the paper's p, β shared among all n users (needs no h), and without the proof's √p"
    ),
    "printed_one": "the paper's p, without the proof's √p",
    "local": "ε-LDP on every user's device; no shuffler is trusted",
    "central": "a curator sees the data; pure ε, every bin of the domain noisy",
    "stable": "a curator sees the data; (ε, δ), only bins that occur; independent of d",
    "bias": (
        "small counts are cut to 0: near s = n(1−p) the bias dominates; drawn while it is above a "
        "thousandth of the rms error"
    ),
    "loss": "m users add noise where the calibration counted on nₕ",
}
_CURATOR = "it trusts a curator who sees the data, and the claim trusts a shuffler alone"
_OTHER_NOISE = "it is of the paper's noise, and the claim is of the noise calibrated by the exact δ"
OTHERS = {
    "central": _CURATOR,
    "stable": _CURATOR,
    "local": "it is of a protocol in which no shuffler is trusted",
    "paper": _OTHER_NOISE,
    "printed": _OTHER_NOISE,
    "printed_one": _OTHER_NOISE,
}
"""Why errors that are drawn beside those of the calibrated noise are never claimed."""
ALONE = "ε + ln n: ε of a message alone, if one is sent"
ALONE_NOTE = (
    "Section 1.2: a protocol in which each user sends one message, (ε, δ)-DP behind the shuffle, "
    "has a randomiser that is (ε + ln n, δ)-DP by itself; of several messages it says nothing"
)
ORDER_ONLY = "an order of growth with its constant set to 1: compare slopes, not heights"

TOO_FEW = "too few users: even at p = ½ the exact δ is larger"
PAPER_NEEDS = {
    Query.HISTOGRAM: "the paper's constants need ε ≤ 2 and n ≥ (400/ε²) ln(4/δ)",
    Query.COUNT: "the paper's constants need ε ≤ 1 and n ≥ (100/ε²) ln(2/δ)",
}
BETA_TOO_SMALL = "β is too small for so little noise: ln({}) > (9/4)np(1−p)"
NO_BIAS = "the bias is below a thousandth of the rms error"
TABLE_NEEDS = "Table 1 assumes ε ≤ 1; its rows of [13] also δ < 1/ln d"
TOO_MANY = "a bin can't hold more users than there are (s > n)"
RUNS_TOO_FEW = "β is too small to be seen in so many runs: raise R or β"


def named(key: str, kind: Query) -> tuple[str, Role, Reference]:
    """Return label, role and source of a curve."""
    return COUNT_CURVES.get(key, CURVES[key]) if kind is Query.COUNT else CURVES[key]


def about(key: str, shared: bool) -> str:
    """Return what else to know of a curve; `shared` if β is shared among h bins."""
    return ABOUT.get(key, "").format(_odds_of_failure(shared))


def beta_too_small(shared: bool) -> str:
    """Return why the error's formula does not hold."""
    return BETA_TOO_SMALL.format(_odds_of_failure(shared))


def _odds_of_failure(shared: bool) -> str:
    return "2h/β" if shared else "2/β"


def conditions(
    kind: Query,
    eps: float,
    delta: float,
    n: float,
    held: float,
    noise: float,
    *,
    beta: float | None = None,
    values: tuple[float, float] | None = None,
    adding: float | None = None,
    reached: float | None = None,
) -> tuple[Condition, ...]:
    """Return what the statements need, and whether they have it.

    Parameters
    ----------
    kind, eps, delta, n
        The sliders'.
    held : float
        Users who are trusted to add noise, n_h.
    noise : float
        n_h(1−p) of the calibration; infinite if there is none.
    beta : float, optional
        β of one bin, where an error is asked for.
    values : (h, most), optional
        How many values occur, and how many can, where the largest error is asked for.
    adding, reached : float, optional
        Users who add noise, and the exact δ then, where that is asked for.
    """
    feasible = math.isfinite(noise)
    q = noise / held if feasible else 0.5
    needed = 200 / eps**2 * math.log(4 / delta)
    limit = 2.0
    if kind is Query.COUNT:
        needed, limit = 50 / eps**2 * math.log(2 / delta), 1.0
    found = [
        Condition(
            "Enough users for ε and δ: some p ≥ ½ has an exact δ that is small enough",
            feasible,
            f"nₕ = {held:,.0f}; "
            + (f"1−p = {nearest(q)}, at most 0.5" if feasible else "more users or a larger ε or δ"),
            short="Enough users for ε and δ",
        ),
        Condition(
            "Only for the curves with the paper's constants, not for the guarantee: "
            f"ε ≤ {nearest(limit)} and nₕ ≥ 2·noise",
            eps <= limit and held >= 2 * needed,
            f"ε = {nearest(eps)}, noise {needed:,.0f}, nₕ = {held:,.0f}",
            of_guarantee=False,
            short="Paper's constants cover these ε and nₕ",
        ),
    ]
    if beta is not None:
        room, asked = 2.25 * n * q * (1 - q), math.log(2 / beta)
        found.append(
            Condition(
                "Only for the error's formula (not for exact tails, nor for the guarantee): β is "
                f"not too small, ln({_odds_of_failure(values is not None)}) ≤ (9/4)np(1−p)",
                feasible and asked <= room,
                f"{nearest(asked)} of at most {nearest(room)}",
                of_guarantee=False,
                short="Error formula: β is not too small",
            )
        )
    if values is not None:
        found.append(_occurring(*values))
    return (
        *found,
        _noisy_users(held, delta, adding, reached),
        Condition(
            "The shuffler hides how many messages a user sends",
            None,
            short="Shuffler hides how many a user sends",
        ),
        Condition(
            "The list of bins is public, chosen without looking at the data",
            None,
            short="The bins are public, not from the data",
        ),
    )


def _occurring(values: float, most: float) -> Condition:
    text = (
        "Only for the largest error by P_hist (as printed it needs no h) and by the "
        "stability-based curator, not for the guarantee: at most "
        f"h = {values:,.0f} different values occur"
    )
    all_may = values >= most
    margin = (
        f"no more can: the smaller of n and d is {most:,.0f}"
        if all_may
        else f"if nothing is known, h = {most:,.0f}, the smaller of n and d"
    )
    return Condition(
        text,
        True if all_may else None,
        margin,
        of_guarantee=False,
        short=f"P_hist only: h = {values:,.0f} values occur",
    )


def _noisy_users(
    held: float, delta: float, adding: float | None, reached: float | None
) -> Condition:
    text = f"At least {held:,.0f} users really add their noise, and keep it secret"
    if adding is None:
        return Condition(text, None, short="Enough users add secret noise")
    if adding >= held or reached is None:
        return Condition(
            text,
            adding >= held,
            f"supposed here: {adding:,.0f} do",
            short="Enough users add secret noise",
        )
    return Condition(
        text,
        False,
        f"supposed here: {adding:,.0f} do; δ is {at_most(reached)} instead of {nearest(delta)}",
        short="Enough users add secret noise",
    )


def guarantee(
    kind: Query,
    eps: float,
    delta: float,
    held: float,
    adding: float | None,
    removal: float,
    distance: float,
    differing: tuple[str, ...],
) -> Guarantee:
    """Return the guarantee at the sliders' values.

    `delta` is the exact δ of the noise that is added, `distance` its δ(0), `removal` the δ of the
    count if a user may leave, `adding` how many users add noise if it is not n_h.
    """
    what = "histogram" if kind is Query.HISTOGRAM else "count"
    noisy = held if adding is None else adding
    who = f"{'only ' * (noisy < held)}{noisy:,.0f} users add noise"
    leaving = (
        f"not promised: a user who leaves takes their noise along, and n is public; the exact δ is "
        f"then {at_most(removal)} at the same ε"
    )
    if kind is Query.HISTOGRAM:
        leaving += " in their own bin alone, and they leave every other bin too"
    law = f"the noise that hides the {what}"
    sentence, beside = odds_lines(
        eps,
        delta,
        "which of two values a user has",
        "after seeing all shuffled messages",
        distance=distance,
        law=law,
    )
    return Guarantee(
        unit="one user's value",
        replace_one=(
            f"({at_most(eps)}, {at_most(delta)})-DP for the {what} when one user's value is "
            f"replaced by any other and {who} (noise calibrated by the exact δ)"
        ),
        add_remove=leaving,
        trust=(
            "Users trust the shuffler to forget who sent what and how many messages each sent, and "
            f"{noisy - 1:,.0f} of the others to add their noise as they do. The analyzer, and "
            "everyone it tells, sees all messages in random order."
        ),
        sentence=sentence,
        references=(EXACT, THEOREM_32, LAW),
        differences=differing,
        beside=beside,
        distance=distance,
        law=law,
        pairs=((eps, delta),),
    )


def differences(
    kind: Query, noise: float, paper: float | None, p: float, d: float, ratio_local: float
) -> tuple[str, ...]:
    """Return why the curves differ, with the numbers at the sliders' values."""
    out = []
    if paper is not None:
        why = (
            "its constant 50 comes from a chain of inequalities, and the histogram is two counts "
            "composed; the exact δ of the two bins that change together needs neither"
            if kind is Query.HISTOGRAM
            else "its constant 50 comes from a chain of inequalities"
        )
        out.append(
            f"The paper's constants ask for {times(paper / noise)} the noise ({paper:,.0f} "
            f"against {nearest(noise)}): {why}."
        )
    out.append(
        "A user of the local model must drown their own message, so the errors of n users add up "
        "to order √n counts; behind the shuffler a few missing noise bits among all users hide "
        f"them. The local bound is {times(ratio_local)} the calibrated one here."
    )
    out.append(
        "The Laplace curator has less noise, but adds it to every bin of the domain: its error "
        "grows with ln d. P_hist's empty bins are exactly 0, so only values that occur count, as "
        "for the stability-based curator."
        if kind is Query.HISTOGRAM
        else "The curator adds noise of a few users once; in the shuffled model the same variance "
        "has to be made of every user's single bit."
    )
    if kind is Query.HISTOGRAM:
        out.append(
            f"The price is paid in messages: every user sends 1 + dp = {nearest(1 + d * p)} of "
            "them on average. Curves called “order only” have no constant in the paper: compare "
            "their slopes, not their heights."
        )
    return tuple(out)
