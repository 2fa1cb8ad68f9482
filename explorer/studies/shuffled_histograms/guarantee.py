"""Conditions and guarantees of the study of shuffled histograms."""

import math

from explorer.privacy.histograms import Query
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import odds_lines, times
from explorer.studies.base.study import Condition, Guarantee
from explorer.studies.shuffled_histograms.theory import EXACT, LAW, THEOREM_32, odds_of_failure


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
    unlisted: str = "",
) -> tuple[Condition, ...]:
    """Return the conditions at the sliders' values.

    Parameters
    ----------
    kind : Query
    eps, delta, n : float
    held : float
        Users who are trusted to add noise, n_h.
    noise : float
        n_h(1−p) of the calibration; infinite if there is none.
    beta : float, optional
        β of one bin, where an error is plotted.
    values : (h, most), optional
        How many values occur, and how many can, where the largest error is plotted.
    adding, reached : float, optional
        Users who add noise, and the exact δ then, where these are plotted.
    unlisted : str
        Why the bins of a column of the user's own are not public, if they are not.
    """
    feasible = math.isfinite(noise)
    q = noise / held if feasible else 0.5
    needed = 200 / eps**2 * math.log(4 / delta)
    limit = 2.0
    if kind is Query.COUNT:
        needed, limit = 50 / eps**2 * math.log(2 / delta), 1.0
    conditions = [
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
        room, needed = 2.25 * n * q * (1 - q), math.log(2 / beta)
        conditions.append(
            Condition(
                "Only for the error's formula (not for exact tails, nor for the guarantee): β is "
                f"not too small, ln({odds_of_failure(values is not None)}) ≤ (9/4)np(1−p)",
                feasible and needed <= room,
                f"{nearest(needed)} of at most {nearest(room)}",
                of_guarantee=False,
                short="Error formula: β is not too small",
            )
        )
    if values is not None:
        conditions.append(_occurring(*values))
    return (
        *conditions,
        _noisy_users(held, delta, adding, reached),
        Condition(
            "The shuffler hides how many messages a user sends",
            None,
            short="Shuffler hides how many a user sends",
        ),
        Condition(
            "The list of bins is public, chosen without looking at the data",
            False if unlisted else None,
            unlisted,
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
    differences: tuple[str, ...],
) -> Guarantee:
    """Return the guarantee at the sliders' values.

    Parameters
    ----------
    kind : Query
    eps : float
    delta : float
        Exact δ of the noise that is added.
    held : float
        Users who are trusted to add noise, n_h.
    adding : float or None
        Users who add noise, where it is not n_h.
    removal : float
        δ of the count if a user may leave.
    distance : float
        δ(0) of the noise.
    differences : tuple of str
        Why the curves differ.
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
        about="which of two values a user has",
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
        differences=differences,
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
