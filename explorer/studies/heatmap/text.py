"""What is said beside a heatmap: title, stamps and notes."""

from __future__ import annotations

from typing import Any

from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Request
from explorer.studies.heatmap.mechanisms import mechanism_of

NOT_ACCOUNTED = "not private: computed from real data without accounting"
SYNTHETIC = "synthetic data"

ALL_COUNTS_NEGATIVE = (
    "Every noisy count of the start level is 0 or less, so the algorithm has no answer; the "
    "uniform map stands in for it."
)
TOTAL_NEGATIVE = (
    "The noisy counts add up to 0 or less, so nothing is left of the map; the uniform one stands "
    "in for it."
)
ALL_CELLS_EMPTY = "No noisy cell is above 0; the uniform map stands in for the empty one."
NOT_FLAT = (
    "The first noisy counts alone show that this is no evenly grey map (a test that errs in 1 % of "
    "even maps)."
)
MAYBE_FLAT = (
    "The first noisy counts alone do not tell this map from an evenly grey one (a test that errs "
    "in 1 % of even maps)."
)
REFERENCE_SOLVER = (
    "The reference solver returns another of the many minimisers than the tree solver, "
    "usually a worse map; compare the misfit, not the picture."
)
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
    mechanism = mechanism_of(request)
    fails = f", δ = {at_most(request['delta'])}" if "delta" in mechanism.uses else ""
    return f"Private heatmap: {mechanism.title}, ε = {at_most(request['epsilon'])}{fails}"


def distance_role(exact: bool) -> Role | None:
    """Return the role of a distance: exact, or none while only its interval is known."""
    return Role.EXACT if exact else None


def notes(request: Request) -> tuple[str, ...]:
    """Return what else a reader must know; nothing of it depends on the data."""
    mechanism = mechanism_of(request)
    if "backend" in mechanism.uses and request["backend"] == "cvxpy":
        return (*mechanism.notes, REFERENCE_SOLVER)
    return mechanism.notes


def curator_notes(request: Request, points: Any) -> tuple[str, ...]:
    """Return what only the curator may know: it counts users."""
    said, selection = [METRICS_ON], request.selection
    there, used = points.users_in_region, points.users_used
    if selection is None or not selection.sampled:
        return tuple(said)
    asked, seed = selection.users, selection.data_seed
    if asked is not None and there < asked:
        said.append(
            f"{asked:,} {_users(asked)} asked for, but only {there:,} have a check-in inside "
            "region and time range: all of them are used."
        )
    elif asked is None:
        said.append(
            f"{used:,} of {there:,} users are in the sample: those whose keyed hash (seed {seed}) "
            f"lies below {selection.share:g} of all hashes."
        )
    elif asked < there:
        said.append(
            f"{used:,} of {there:,} users {'was' if used == 1 else 'were'} sampled: those with the "
            f"smallest keyed hashes of their ids (seed {seed})."
        )
    return tuple(said)


def _users(number: int) -> str:
    return "user was" if number == 1 else "users were"
