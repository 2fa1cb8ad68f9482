"""Conditions, guarantee and texts of the study of the private mean."""

import math

import numpy as np

from explorer.privacy import coordinates as co
from explorer.studies.base.claims import number_text
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import is_right
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series
from explorer.studies.coordinate_mean import theory
from explorer.studies.coordinate_mean.demanded import OWN, OwnDemand
from explorer.studies.coordinate_mean.public_file import PublicCoupling
from explorer.studies.coordinate_mean.theory import TWO, Demand, Plan, mse

CHANNEL_NAMES = {co.DUCHI: "M_LDP", co.PRIV_UNIT: "PrivUnit"}
CHANNEL_NOTE = (
    "All mechanisms shown make their reports by PrivUnit in place of the paper's M_LDP: a channel "
    "at level α is α-private in all that it reads by either, so that budgets and levels are "
    "accounted for in the same way and only errors differ."
)
SIMULATED_PROTOCOL = (
    "Simulated local protocol: readers of the output learn no more than stated; nothing is hidden "
    "from you, who hold the file: for that it must run on the users' devices. The noise repeats "
    "itself with the seed: even for readers only a release's noise makes it real."
)
NO_RECORDS = (
    "No file is open: synthetic records are used until you open yours under “your records”."
)
# The same stamp as on maps.
SYNTHETIC = "synthetic data"


def central_note(demand: Demand) -> str:
    """Return the note on the trusted curator's guarantee."""
    return (
        "a different guarantee: a curator sees the records; changing coordinate i of one record "
        f"costs cᵢ = min(δᵢ, ε), the record as a whole {at_most(float(demand.levels.sum()))}, and "
        "there is no δᵢ, which is about one reporter"
    )


def demand_sentence(demand: Demand) -> str:
    """Return the demanded levels in a clause."""
    low = min(demand.level, demand.eps)
    if demand.own:
        highest = at_most(float(demand.levels.max()))
        return f"{demand.d} coordinates at levels of your own from δ = {at_most(low)} to {highest}"
    if demand.profile == TWO:
        rest = demand.d - demand.k
        others = f", {rest} at ε = {at_most(demand.eps)}" if rest else ""
        return f"{demand.k} coordinates at δ = {at_most(low)}{others}"
    return f"{demand.d} coordinates from δ = {at_most(low)} to ε = {at_most(demand.eps)}"


def couplings(demand: Demand) -> str:
    """Return the assumed couplings in a clause: ``q ≤ 0.1``."""
    if demand.couplings:
        low, high = min(demand.couplings), max(demand.couplings)
        return f"qᵢ of your own, {at_least(low)} to {at_least(high)}"
    return f"q ≤ {at_most(demand.q)}"


def _coupled(demand: Demand) -> str:
    """Return how far beliefs may couple the most sensitive coordinate, as the end of a clause."""
    if demand.couplings:
        return f"it to the others by at most qᵢ = {at_least(demand.coupling_of(demand.most))}"
    return f"the coordinates by at most q = {at_least(demand.q)}"


def own_notes(demand: Demand, profile: str, axis: str, own: OwnDemand | None) -> list[str]:
    """Return notes on the user's own demand: what is missing, and what curves leave out."""
    if profile in OWN and own is None:
        return [
            "No file of levels is open: two levels, δ₁ and ε, are demanded until you open one "
            "under “file of the levels”."
        ]
    notes = []
    if own is not None and axis in ("level", "d", "share"):
        notes.append("Levels are your own, so that curves over this axis are flat: put ε there.")
    if demand.couplings:
        notes.append(
            "Curves over q give all coordinates the q of the x axis; the numbers at the sliders, "
            "the tables and the guarantee are for your own couplings."
            if axis == "q"
            else "Your own couplings qᵢ are used, not the slider's q."
        )
    return notes


def level_claim(result: Result, series: Series, level: float) -> ClaimText:
    """Return the claim of a certified level: its own odds, then those of the demanded level."""
    promise, number = result.guarantee, number_text(result, series, level).number
    if promise is None:
        return ClaimText(number)
    (demanded, _), *_ = promise.pairs
    return ClaimText(
        number,
        (
            f"By the level claimed, {at_most(level)}, an attacker who starts at 50 : 50 between "
            f"two values of the coordinate {is_right(level)}, under the beliefs that it holds for.",
            f"Of the level demanded, {at_most(demanded)}: {promise.sentence}",
        ),
    )


def guarantee(
    demand: Demand, paper: Plan, releases: int = 1, public: PublicCoupling | None = None
) -> Guarantee:
    """Return the guarantee of all mechanisms shown, with the numbers of the paper's.

    Repeated reports are certified from c and L, which add up; levels do not. `public` is the table
    that q was taken from, if any.
    """
    low = min(demand.level, demand.eps)
    sentence = (
        "An attacker who starts at 50 : 50 between two values of a user's most sensitive "
        f"coordinate {is_right(low)} after seeing the report, if their beliefs couple "
        f"{_coupled(demand)}. With any beliefs, and about the record "
        f"as a whole, an attacker {is_right(demand.eps)}."
    )
    if public is not None:
        sentence += f" {_confidence(public, demand)}"
    if releases > 1:
        at = demand.most
        level = co.repeated_certificate(
            paper.c[at : at + 1], demand.coupling_of(at), paper.total, releases
        )
        total, own = releases * paper.total, float(level[0])
        sentence += (
            f" That is of one report. After {releases} by the paper's budgets an attacker "
            f"{is_right(own)} (the coordinate's level is {at_most(own)}), and with any beliefs "
            f"{is_right(total)} (level {at_most(total)})."
        )
    return Guarantee(
        unit="one user's record, and each of its coordinates",
        replace_one=(
            f"{at_most(demand.eps)}-LDP when a whole record is replaced, for everybody. Coordinate "
            f"levels: {demand_sentence(demand)}, against beliefs of coupling up to "
            f"{couplings(demand) if demand.couplings else at_least(demand.q)}. With the paper's "
            "budgets a change of the most sensitive "
            f"coordinate alone has c = {at_most(float(paper.c[demand.most]))} and any change "
            f"L = {at_most(paper.total)}"
        ),
        add_remove=(
            "not covered: each of n users sends one report, and n is public; a user who does not "
            "report is seen not to"
        ),
        trust=(
            "Nobody is trusted: every user randomises their own record. The server, and everyone "
            "it tells, sees every report and all the budgets, hence q."
        ),
        sentence=sentence,
        pairs=((low, 0.0),),
        qualified=True,
        about=(
            "which of two values the most sensitive coordinate has, if their beliefs couple "
            f"{_coupled(demand)}"
        ),
        references=(theory.MECHANISM, theory.CERTIFICATE, theory.PROPOSITION_3),
        differences=(
            "PrivUnit (“reports made by”) errs less than M_LDP at the same levels: it sends "
            "corners by a narrower cap, and the accounting does not change.",
            "The paper's budgets and those with the best ζ meet Proposition 4, part 2; the exact "
            "constraint is log((1−q)e^c + q·e^L) ≤ δ, which is weaker to meet and as private.",
            "Hybrid channels split the coordinates instead of sending the less sensitive ones "
            "several times: a channel's error grows with the number of coordinates in it.",
            "The paper's ζ = (1+q)/2 starves the sensitive coordinates: their budget falls like "
            "δ(1−q)/2 while nothing but q = 1 needs it to.",
        ),
    )


def _confidence(public: PublicCoupling, demand: Demand) -> str:
    """Return the sentence on what a public file's records certify, if anything."""
    if public.estimate:
        return (
            f"That q is an estimate from {public.records:,} public records and no bound, as "
            f"{public.estimate}."
        )
    low = min(demand.level, demand.eps)
    return confidence_sentence(
        public.confidence, public.records, public.q, "a most sensitive coordinate", low, demand.eps
    )


def confidence_sentence(
    confidence: str, records: int, q: float, what: str, level: float, total: float
) -> str:
    """Return the sentence on public records: odds about `what`, and those if q is exceeded."""
    return (
        f"With confidence {confidence} over {records:,} public records, if drawn independently "
        f"from the population the reader believes in, coupling is at most {at_most(q)} and odds "
        f"about {what} change at most {_times(level)} times; else {_times(total)}."
    )


def _times(level: float) -> str:
    """Return e^level as a factor: ``e^0.2 = 1.222``."""
    if math.isinf(level):
        return "infinitely many"
    return f"e^{at_most(level)} = {at_most(math.exp(level))}"


def from_file(public: PublicCoupling) -> str:
    """Return whether the q of a public file is a bound or an estimate."""
    if public.estimate:
        return f"q is an estimate: {public.estimate}"
    return f"q is an upper bound at confidence {public.confidence}"


def no_file(q: float) -> str:
    """Return the note on a missing public file."""
    slider = f"q = {nearest(q)} is the slider's"
    return f"No public file is open: {slider} until you open one under “public file”."


def _about_zeta(demand: Demand) -> str:
    """Return a clause on ζ of the paper's budgets, which has no effect at q = 0."""
    if demand.q == 0.0:
        return "at q = 0 every ζ gives the same budgets, c = min(δᵢ, ε)"
    if demand.couplings:
        return f"ζ = {nearest(demand.zeta)}"
    least = float(co.best_possible_zeta(demand.levels, demand.eps, demand.q))
    return f"ζ = {nearest(demand.zeta)}, and at ζ₀ = {nearest(least)} both are the same"


def conditions(
    demand: Demand,
    plans: dict[str, Plan],
    x2: float,
    n: float,
    wants_file: bool,
    public: PublicCoupling | None,
) -> tuple[Condition, ...]:
    """Return the conditions at the sliders' values.

    `wants_file` tells whether q is to come from a public file, `public` is the file's coupling.
    """
    paper, baseline = plans["paper"], plans["baseline"]
    ours, theirs = mse(paper, x2, n), mse(baseline, x2, n)
    steps = float(np.diff(np.sort(paper.c), prepend=0.0).max())
    conditions_here = [
        Condition(
            "q is public and bounds the coupling of the beliefs one wants protection from",
            None,
            f"q = {at_most(demand.q)}; every coordinate whose level is below L needs it"
            if not demand.couplings
            else f"{couplings(demand)}; every coordinate whose level is below L needs its own",
            short="q is public and bounds the coupling",
        ),
        Condition(
            "Only the error: the paper's budgets beat min δ-LDP (averages not projected)",
            ours < theirs,
            f"error {nearest(ours)} against {nearest(theirs)}; {_about_zeta(demand)}",
            of_guarantee=False,
            short="For the error: paper beats min δ-LDP",
        ),
        Condition(
            "Only the error: every coordinate is reported, c > 0",
            bool((paper.c > 0.0).all()),
            f"least budget {nearest(float(paper.c.min()))}",
            of_guarantee=False,
            short="For the error: all coordinates reported",
        ),
        Condition(
            "Only (17), to mean something: increments are of order 1 at most",
            steps <= 1.0,
            f"largest increment of the paper's budgets {nearest(steps)}",
            of_guarantee=False,
            short="Only (17): increments of order 1 at most",
        ),
        Condition(
            "The data lie in [−1, 1]: scaled by public bounds, values beyond them clipped",
            None,
            short="Data in [−1, 1] by public bounds",
        ),
    ]
    if demand.profile == TWO:
        low = min(demand.level, demand.eps)
        threshold = float(co.corollary1_threshold(low, demand.eps))
        conditions_here.append(
            Condition(
                "Only Corollary 1: ε > 2δ",
                demand.eps > 2.0 * low,
                f"ε = {at_most(demand.eps)}, 2δ = {nearest(2.0 * low)}; (18) for "
                f"q ≤ {nearest(threshold)}, else (19)",
                of_guarantee=False,
            )
        )
    if wants_file and public is None:
        conditions_here.append(
            Condition("A public file is open", False, "the slider's q is used until there is one")
        )
    elif public is not None:
        conditions_here += _about_file(public)
    return tuple(conditions_here)


def _about_file(public: PublicCoupling) -> list[Condition]:
    """Return the conditions of a public file's bound."""
    conditions_here = [
        Condition(
            "The public file's bound is one on the coupling of what the mechanism reads",
            not public.estimate,
            public.estimate or f"at most {at_most(public.q)}, confidence {public.confidence}",
            short="The file's bound is on the coupling",
        ),
        Condition(
            "The public file's records were drawn independently from the population the reader "
            "believes in, and none is a protected one",
            None,
            f"{public.records:,} records",
            short="The public file is an independent sample",
        ),
    ]
    if public.vouched:
        conditions_here.append(
            Condition(
                "The public file's columns can have no values but those found in it: these were "
                "declared before it was looked at",
                None,
                f"{'; '.join(public.vouched)}; or write them in its first line: smoker [yes|no]",
                short="All values were declared beforehand",
            )
        )
    return conditions_here


def levels_note(demand: Demand, true_q: float) -> str:
    """Return the note on beliefs that are more coupled than assumed."""
    if true_q <= demand.q:
        return ""
    return (
        f"At q′ = {at_most(true_q)} beliefs are more coupled than the assumed "
        f"q = {at_most(demand.q)}: the demanded level is not promised, only what the curves say, "
        "and never more than L."
    )


def on_the_axis(public: PublicCoupling) -> str:
    """Return the note on the public file's coupling while q is the axis."""
    q = (
        f"estimate is q ≈ {nearest(public.q)}"
        if public.estimate
        else (f"upper bound is q = {at_most(public.q)}")
    )
    return f"With q on the x axis its line is what counts; the file's {q}."
