"""What the mechanisms promise, under either meaning of *neighbouring*."""

from __future__ import annotations

import math
from functools import lru_cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from explorer.privacy import heatmaps
from explorer.privacy.core.bound import Reference
from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.parameters import PLANE
from explorer.studies.base.phrases import best_chance, percent_sure
from explorer.studies.base.study import Guarantee, Request
from explorer.studies.heatmap.mechanisms import ONE_USER, SAMPLED, mechanism_of
from explorer.studies.heatmap.units import guarantee_in_unit, unit_of

if TYPE_CHECKING:
    from explorer.privacy.heatmaps.sampling import Adjacency, Scheme

EXCHANGED = "at most one of the sampled users is exchanged for another"
TRUST = "The curator sees every check-in and adds the noise; everyone else sees the map."
A_DEMONSTRATION = (
    "This picture itself is a demonstration: its noise comes from a seed, in floating point."
)


def guarantee(request: Request, column: str = "") -> Guarantee:
    """Return what a request's mechanism promises.

    Parameters
    ----------
    request : Request
    column : str
        Name of the column whose values are the users, for the curator alone: it may be somebody's
        id. Without it the text says *the user column*.
    """
    mechanism = mechanism_of(request)
    found: Guarantee = resolve_name(mechanism.guarantee)(request)
    return guarantee_in_unit(found, unit_of(request), mechanism.unit == ONE_USER, column)


def pure(request: Request) -> Guarantee:
    """Return the promise of a mechanism that is ε-DP where one user comes or goes."""
    mechanism = mechanism_of(request)
    how = mechanism.sensitivity
    scheme = sampled(request)
    coming, exchanged = (sampling_level(request, kind) for kind in ("add_remove", "replace"))
    ideal = f"for the idealised {mechanism.ideal} mechanism"
    if scheme == "bottom_k":
        add_remove = (
            f"{at_most(coming)}-DP (2ε) {ideal}: {EXCHANGED}, and for each of the two {how}"
        )
        replace_one = f"{at_most(exchanged)}-DP (2ε): {EXCHANGED}"
    else:
        add_remove = f"{at_most(coming)}-DP {ideal}: {how}"
        replace_one = f"{at_most(exchanged)}-DP (2ε): one user leaves and another comes"
    return Guarantee(
        unit=mechanism.unit,
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "Whether any one user is in the data or not, the odds of every possible map differ by "
            f"a factor of at most {at_most(math.exp(coming))} "
            f"({'e^2ε' if scheme == 'bottom_k' else 'e^ε'}): an observer with 50:50 "
            "prior odds that the user is in it ends up at most "
            f"{percent_sure(best_chance(coming))} % sure. {A_DEMONSTRATION}"
        ),
        pairs=((coming, 0.0),),
        references=sources(request),
    )


def distance_asked(request: Request) -> str:
    """Return for which distance ε is stated: ``200 m``, or in the unit of a plane."""
    return f"{format_number(request['radius'])} {request.unit_values.get(PLANE, 'm')}"


def sampled(request: Request) -> Scheme:
    """Return how users are sampled."""
    selection = request.selection
    if selection is None or not selection.sampled:
        return "all"
    return "poisson" if selection.users is None else "bottom_k"


def sampling_level(request: Request, adjacency: Adjacency) -> float:
    """Return the ε of pure mechanisms towards all users of the file."""
    found = heatmaps.sampling_guarantee(request["epsilon"], sampled(request), "public", adjacency)
    return float(found.value)


def sample_sentence(request: Request) -> str:
    """Return what a sample of users costs, with a space behind; empty without one."""
    scheme, selection = sampled(request), request.selection
    once = level(request) if "delta" in mechanism_of(request).uses else "ε"
    twice = replacement(request)
    comes = mechanism_of(request).neighbouring == "add_remove"
    if scheme == "bottom_k" and selection is not None and selection.users is not None:
        users = "user" if selection.users == 1 else "users"
        picked = f"From at most {selection.users:,} {users} picked by a public rule. "
        if comes:
            return (
                f"{picked}Adding, removing or replacing one user costs at most {twice}; users not "
                "picked are not used. "
            )
        # With fewer users than asked for, the number of messages changes when one comes or goes.
        return (
            f"{picked}Replacing one user costs at most {twice}, and so does adding or removing one "
            f"where at least {selection.users:,} others are in the file, which exchanges one "
            "sampled user; with fewer it is not covered. Users not picked are not used. "
        )
    if scheme == "poisson":
        costs = (
            f"adding or removing one costs {once}, replacing" if comes else "replacing one costs"
        )
        return f"Each user is in or out by a public rule; {costs} {twice}. "
    return ""


def sources(request: Request) -> tuple[Reference, ...]:
    """Return where a request's guarantee comes from."""
    found = mechanism_of(request).references
    return found if sampled(request) == "all" else (*found, SAMPLED)


def gaussian(request: Request) -> Guarantee:
    """Return what Gaussian noise promises but for a probability of δ."""
    mechanism = mechanism_of(request)
    delta: float = request["delta"]
    exchanges = sampled(request) == "bottom_k"
    epsilon = _wider(request["epsilon"], delta) if exchanges else request["epsilon"]
    ideal = f"for the idealised {mechanism.ideal} mechanism"
    moves = "which moves the counts by at most √2 in ℓ2 instead of 1"
    if exchanges:
        add_remove = f"{replacement(request)}-DP {ideal}: {EXCHANGED}, {moves}"
        replace_one = f"{replacement(request)}-DP: {EXCHANGED}, {moves}"
    else:
        add_remove = f"{level(request)}-DP {ideal}: {mechanism.sensitivity}"
        replace_one = f"{replacement(request)}-DP: one user leaves and another comes, {moves}"
    return Guarantee(
        unit=mechanism.unit,
        add_remove=add_remove,
        replace_one=replace_one,
        trust=TRUST,
        sentence=(
            f"{sample_sentence(request)}"
            "An observer with 50:50 prior odds that any one user is in the data guesses right at "
            f"most {percent_sure(best_chance(epsilon, delta))} % of the time after seeing the map. "
            f"{A_DEMONSTRATION}"
        ),
        pairs=((epsilon, delta),),
        references=sources(request),
    )


def level(request: Request) -> str:
    """Return the level that the settings ask for, in words."""
    return f"({at_most(request['epsilon'])}, {at_most(request['delta'])})"


@lru_cache(maxsize=16)
def _wider(epsilon: float, delta: float) -> float:
    """Return the ε that Gaussian noise keeps for replacing a user: it is said in three places."""
    return heatmaps.gaussian_epsilon_of_replacement(epsilon, delta)


def replacement(request: Request) -> str:
    """Return the level at which one user may be replaced by another: ``2ε``, ``(1.455, 1e-6)``."""
    found: str = resolve_name(mechanism_of(request).replacement)(request)
    return found


def twice(request: Request) -> str:
    """Return the level at which pure mechanisms let one user be replaced."""
    return "2ε"


def wider(request: Request) -> str:
    """Return the level at which Gaussian noise lets one user be replaced."""
    epsilon, delta = request["epsilon"], request["delta"]
    return f"({at_most(_wider(epsilon, delta))}, {at_most(delta)})"
