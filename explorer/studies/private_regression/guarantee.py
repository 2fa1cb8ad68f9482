"""Conditions, guarantee and notes of the private regression study."""

from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.phrases import is_right
from explorer.studies.base.study import Condition, Guarantee
from explorer.studies.coordinate_mean.theory import Demand, Plan
from explorer.studies.private_regression import theory
from explorer.studies.private_regression.data import Columns
from explorer.studies.private_regression.simulation import Trials

# The same stamp as on maps.
SYNTHETIC = "synthetic data"
NO_FILE = "No file is open: synthetic records are used until you open yours under “file”."
SYNTHETIC_NOTE = (
    "Synthetic records, drawn from a seed. Their features depend on each other by more than a "
    "small q; the guarantee holds for the dependence that you assume."
)


def guarantee(demand: Demand, plan: Plan) -> Guarantee:
    """Return the guarantee of both reports together."""
    low = min(demand.level, demand.eps)
    p = demand.d - 1
    promised = (
        f"{demand.k} of {p} features at {at_most(low)}, the others and the label at "
        f"{at_most(demand.eps)}"
    )
    if demand.own:
        levels = ", ".join(map(at_most, demand.levels[:-1].tolist()))
        promised = f"features, in order, {levels}; the label {at_most(demand.eps)}"
    coupling = demand.coupling_of(demand.most)
    return Guarantee(
        unit="one user's record: all features and the label",
        replace_one=(
            f"{at_most(plan.total)}-LDP (at most ε = {at_most(demand.eps)}) for both reports when "
            f"a whole record is replaced, for everybody; a sensitive feature alone changed: c = "
            f"{at_most(float(plan.c[demand.most]))}. Coordinate levels: {promised}, against "
            f"beliefs of coupling up to {coupled(demand)}"
        ),
        add_remove=(
            "not covered: each of n users sends two reports, and n is public; a user who does not "
            "is seen not to"
        ),
        trust=(
            "Nobody is trusted: every user randomises their own record. The server, and everyone "
            "it tells, sees every report and all the budgets, hence q. This page, though, is "
            "computed from the records themselves, to show the error."
        ),
        sentence=(
            "An attacker who starts at 50 : 50 between two values of a user's sensitive feature "
            f"{is_right(low)} after seeing both reports, if their beliefs couple it with all the "
            f"rest, the label included, by at most q = {at_least(coupling)}. With any beliefs, and "
            f"about the record as a whole, an attacker {is_right(plan.total)}."
        ),
        pairs=((low, 0.0),),
        qualified=True,
        about=(
            "which of two values a sensitive feature has, if their beliefs couple it with the rest "
            f"by at most q = {at_least(coupling)}"
        ),
        references=(theory.CERTIFICATE, theory.ALGORITHM_3),
        differences=(
            "The estimated objective f̂ need not be convex. Clipping makes it so, and any solver "
            "finds the minimum; the exact minimiser of f̂ itself is what the proof of Theorem 3 "
            "asks for. Without the ball, small eigenvalues of A blow the noise up without bound.",
            "Theorem 3 is stated for c though each report has c/2, which makes its r² at least 4 "
            "times too small; both are drawn, without their unknown constants.",
        ),
    )


def coupled(demand: Demand) -> str:
    """Return the assumed coupling, or those of the features in order."""
    return ", ".join(map(at_least, demand.couplings[:-1])) or at_least(demand.q)


def held_out(folds: int) -> str:
    """Return the note on held-out users."""
    return (
        f"Errors are on held-out users: each of {folds} parts is predicted from the reports of the "
        "others, which are fewer users than n, and so is least squares without privacy. Excess "
        "risks are those above the best coefficients for all users. Coefficients in the table are "
        "from all reports."
    )


def conditions(
    demand: Demand,
    plan: Plan,
    here: Trials | None,
    trials: int,
    capped: bool,
    columns: Columns | None,
    wants_file: bool,
) -> tuple[Condition, ...]:
    """Return the conditions at the sliders' values."""
    conditions_here = [
        Condition(
            "q is public and bounds the coupling of each sensitive feature with all the rest",
            None,
            f"q = {coupled(demand)}; the label alone couples every feature that predicts it: if "
            "one did so exactly, q would be 1",
            short="q is public and bounds the coupling",
        ),
        Condition(
            "Both reports together keep the levels: c and L add up over them",
            True,
            "each has half the budget; halving the levels δᵢ would not do",
            short="Both reports together keep the levels",
        ),
        Condition(
            "Only the error: every coordinate is reported, c > 0",
            bool((plan.c > 0.0).all()),
            f"least budget {nearest(float(plan.c.min()))}",
            of_guarantee=False,
            short="For the error: all coordinates reported",
        ),
        Condition(
            "Theorem 3 only: it is below its cap (R² + R)·d",
            not capped,
            "more users, or larger levels, are needed" if capped else "",
            of_guarantee=False,
            short="Theorem 3 only: below its cap",
        ),
    ]
    if here is not None:
        conditions_here.append(
            Condition(
                "Only the error: the estimated objective f̂ is convex",
                here.indefinite == 0,
                f"not in {here.indefinite} of {trials} trials",
                of_guarantee=False,
                short="For the error: f̂ is convex",
            )
        )
    if columns is not None:
        beyond = int(columns.clipped.sum())
        clipped = (
            "1 value lies beyond them and is"
            if beyond == 1
            else (f"{beyond:,} values lie beyond them and are")
        )
        conditions_here.append(
            Condition(
                "The bounds are public, chosen without looking at the records",
                None,
                f"{clipped} clipped",
                short="The bounds were set without the records",
            )
        )
        lost = lost_columns(columns, demand.d - 1)
        conditions_here.append(
            Condition(
                "Only the error: the bounds fit, of no column used is more than half beyond them",
                not lost,
                "; ".join(lost),
                of_guarantee=False,
                short="For the error: half of each column fits",
            )
        )
        if columns.moved:
            conditions_here.append(
                Condition(
                    "The label's column exists",
                    False,
                    f"there are {len(columns.names)} columns; the last one is the label",
                )
            )
    elif wants_file:
        conditions_here.append(
            Condition("A file is open", False, "synthetic records are used until there is one")
        )
    return tuple(conditions_here)


def lost_columns(columns: Columns, features: int) -> list[str]:
    """Return a clause for each used column with most of its values beyond its bounds."""
    count = len(columns.names)
    return [
        f"{int(columns.clipped[i]):,} of {columns.records:,} values of {columns.names[i]} lie "
        f"beyond [{nearest(columns.low[i])}, {nearest(columns.high[i])}]"
        for i in (*range(min(features, count - 1)), count - 1)
        if 2 * columns.clipped[i] > columns.records
    ]


def out_of_bounds(lost: list[str]) -> str:
    """Return the warning about columns with most of their values clipped."""
    return (
        f"Most of what is drawn is about clipped values: {'; '.join(lost)}. Set public bounds that "
        "fit under “data”, or column by column in the file's first line: age [0:120]."
    )
