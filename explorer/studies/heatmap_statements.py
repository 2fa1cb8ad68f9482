"""What is said beside a heatmap: guarantee, conditions, stamps and notes."""

from __future__ import annotations

import math
from typing import Any

from explorer.privacy.bounds import Reference, Role
from explorer.privacy.heatmaps.schedule import PAPER, SCHEDULE_REFERENCE
from explorer.studies.model import Condition, Guarantee, Request

REFERENCES = (
    Reference(PAPER, "Algorithm 1 and Theorem 3.1", "lazy noise, exact tree solver, fixed ties"),
    SCHEDULE_REFERENCE,
    Reference(PAPER, "Section 4, Baselines"),
)

NOT_ACCOUNTED = "not private: computed from real data without accounting"
SYNTHETIC = "synthetic data"

ALL_COUNTS_NEGATIVE = (
    "Every noisy count of the start level is 0 or less, so the algorithm has no answer; the "
    "uniform map stands in for it."
)
ALL_CELLS_EMPTY = "No noisy cell is above 0; the uniform map stands in for the empty one."
NO_TRUTH = "There is no check-in inside region and time range to compare with."
INTERVAL_ONLY = "Above Δ = 256 the distance is left as a certified interval."
METRICS_ON = "Metrics compare the two heatmaps after blurring, each with sum 1."


def stamp(synthetic: bool, curator_only: bool) -> str:
    """Return what must stand on a map computed from the loaded check-ins."""
    if synthetic:
        return SYNTHETIC
    who = "curator only" if curator_only else "demonstration noise"
    return f"{who} — {NOT_ACCOUNTED}"


def pane_label(request: Request) -> str:
    """Return the title of the private pane."""
    name = {"pyramid": "pyramid", "laplace": "Laplace", "top": "Laplace, top cells"}
    return f"Private heatmap: {name[request['mechanism']]}, ε = {request['epsilon']:.3g}"


def distance_role(exact: bool) -> Role | None:
    """Return the role of a distance: exact, or none while only its interval is known."""
    return Role.EXACT if exact else None


def _times(epsilon: float) -> str:
    factor = math.exp(epsilon)
    return (
        f"{factor:.3g}" if factor < 1e4 else f"{factor:.1e}".replace("e+0", "e").replace("e+", "e")
    )


def guarantee(request: Request) -> Guarantee:
    """Return what the mechanism promises, under either meaning of neighbouring."""
    epsilon: float = request["epsilon"]
    most = 1 / (1 + math.exp(-epsilon))
    how = {
        "pyramid": "each level's counts change by at most 1 in total and the levels' ε add up to ε",
        "laplace": "the counts of all cells change by at most 1 in total",
        "top": "the counts of all cells change by at most 1 in total, and choosing the largest "
        "looks at noisy counts only",
    }[request["mechanism"]]
    return Guarantee(
        unit="one user: all their check-ins inside region and time range",
        add_remove=f"{epsilon:.3g}-DP for the idealised real-valued mechanism: {how}",
        replace_one=f"{2 * epsilon:.3g}-DP (2ε): one user leaves and another comes",
        trust="The curator sees every check-in and adds the noise; everyone else sees the map.",
        sentence=(
            "Whether any one user is in the data or not, the odds of every possible map differ "
            f"by a factor of at most e^ε = {_times(epsilon)}: who thought it 50:50 that the user "
            f"is in it ends up at most {_percent(most)} sure. This picture itself is a "
            "demonstration: its noise comes from a seed, in floating point."
        ),
        references=REFERENCES[:1] if request["mechanism"] == "pyramid" else REFERENCES[2:],
    )


def _percent(share: float) -> str:
    """Return a share below 1 as a percentage that is never rounded to 100 % or below itself."""
    for digits in (0, 1, 2, 4, 6, 8, 10):
        rounded = math.ceil(share * 100 * 10**digits) / 10**digits
        if rounded < 100:
            return f"{rounded:.{digits}f} %"
    return "100 %"


def conditions(request: Request) -> tuple[Condition, ...]:
    """Return what must hold for the guarantee."""
    chosen = {
        "pyramid": "Region, time range, Δ, w and σ were chosen without looking at the data",
        "laplace": "Region, time range, Δ and σ were chosen without looking at the data",
        "top": "Region, time range, Δ, t and σ were chosen without looking at the data",
    }[request["mechanism"]]
    return (
        Condition(
            "Each user weighs at most 1: their check-ins inside region and time range share it",
            True,
            "sensitivity 1",
        ),
        Condition(chosen, None, "picking the busiest cells is not private"),
        Condition(
            "The number of users is not published",
            None,
            "if it is, only replace-one is meaningful, at 2ε",
        ),
        Condition(
            "Nothing else is released from the same check-ins",
            None,
            "every new ε is a new release, and their ε add up",
        ),
        Condition(
            "The noise is secret, random and exact",
            False,
            "demonstration noise: seeded and in floating point; never release it",
        ),
    )


def notes(request: Request, points: Any, asked: int | None) -> tuple[str, ...]:
    """Return what else a reader must know."""
    said = [METRICS_ON]
    if asked is not None and points.users_in_region < asked:
        said.append(
            f"{asked} users were asked for, but only {points.users_in_region} have a check-in "
            "inside region and time range: all of them are used."
        )
    elif asked is not None and points.users_in_region > asked:
        said.append(
            f"{asked} of {points.users_in_region} users were sampled. The guarantee is about the "
            "sampled ones; with a fixed number, one more user in the file stands in place of "
            "another in the map, which is replace-one, at 2ε."
        )
    if request["mechanism"] == "pyramid" and request["backend"] == "cvxpy":
        said.append(
            "The reference solver returns another of the many minimisers than the tree solver, "
            "usually a worse map; compare the misfit, not the picture."
        )
    return tuple(said)
