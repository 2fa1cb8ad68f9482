"""Public maps (priors) of releases: rules, storage beside the ledger, maps of earlier releases.

A prior is public, or an earlier release of the same ledger about the same people, whose ε is in the
sum. Declarations (`PriorSource`) are parameters of a plan and are entered before the data are read;
what the maps hold on the release's cells is stored with the plan, so that a released map can be
made again from the stored numbers.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from explorer import __version__
from explorer.geography.density_grid import ReleasedGrid
from explorer.privacy.core.bound import FloatArray
from explorer.release.errors import LedgerError, ParameterError, ReleaseError
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import LedgerState, Release
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import (
    CITIES,
    EARLIER,
    AdaptivePriorParameters,
    PriorMasses,
    PriorSource,
    priors_in,
)
from explorer.release.mechanisms.fields import Area
from explorer.release.plan import Plan
from explorer.user_rows import EARTH_STEP, Box

STORED = "priors"
"""Name of the attachment of a release with the masses of its priors."""
MAPS = ("heatmap.", "counts.cells/")
"""Beginnings of the ids of mechanisms whose output is a map of people."""
RELEASED = ("committed", "published")
"""States of a release whose output may complete another one."""
MOST_EPSILON = 2
"""A release has at most this many times the ε of an earlier one that completes its map: a noisier
map makes it worse."""


def check_releases(
    state: LedgerState,
    population: str,
    epsilon: Fraction,
    priors: Iterable[PriorSource],
    allowed: tuple[str, ...] = RELEASED,
) -> None:
    """Check the rules for priors that are earlier releases.

    A release that used this one's own output can't be among them: both would have to be drawn
    before the other.

    Parameters
    ----------
    state : LedgerState
    population : str
        Of the new release.
    epsilon : Fraction
        Of the new release.
    priors : iterable of PriorSource
    allowed : tuple of str
        States of the earlier release.

    Raises
    ------
    ParameterError
        If one is not in the ledger, was not drawn, is about other people, is no map with pure ε, or
        has less than half of the new release's ε.
    """
    for prior in priors:
        if prior.kind != EARLIER:
            continue
        earlier = state.releases.get(prior.key)
        problem, remedy = "", "choose another release, or leave it out"
        if earlier is None:
            problem = "is not in this ledger"
        elif earlier.state not in allowed:
            problem = f"is {earlier.state}, so its map is not released"
        elif state.account_of(earlier.population) is not state.account_of(population):
            problem = "is about other people, whose ε is not in the sum of these"
            remedy = "leave it out, or join the two populations if they are the same people"
        elif earlier.mechanism not in MECHANISMS or not earlier.mechanism.startswith(MAPS):
            problem = f"({earlier.mechanism}) is no map with pure ε that this ledger stores"
        elif epsilon > MOST_EPSILON * earlier.epsilon:
            problem = (
                f"has ε = {earlier.epsilon}, less than half of {epsilon}: its noise would make "
                "this map worse"
            )
            remedy = f"give ε of at most {MOST_EPSILON * earlier.epsilon}, or leave it out"
        if problem:
            raise ParameterError("priors", f"release {prior.key} {problem}", remedy)


def check_priors(ledger: Ledger, plan: Plan) -> None:
    """Check the rules for all priors of a plan.

    Raises
    ------
    ParameterError
        As `check_releases`; or if a file is known in this ledger as data of a population, or the
        cities are those of another version of the program.
    """
    priors = priors_in(plan.own_parameters)
    check_releases(ledger.state(), plan.population, plan.epsilon, priors)
    for prior in priors:
        if prior.kind == CITIES and prior.key != __version__:
            raise ParameterError(
                "priors",
                f"the cities of version {prior.key} are not here",
                f"give {CITIES}:{__version__}",
            )
    given = plan.own_parameters.given if priors else None
    for prior, one in zip(priors, given, strict=True) if given else ():
        check_public(ledger, prior, one.content)


def check_public(ledger: Ledger, prior: PriorSource, content: str) -> None:
    """Check that a file with a content hash is not known in a ledger as data of a population.

    Raises
    ------
    ParameterError
    """
    if content and ledger.known.populations(prior.key, content):
        raise _private(prior)


def check_not_data(ledger: Ledger, release: str, content: str) -> None:
    """Check that no file among the stored priors of a release has the content of its data.

    Raises
    ------
    ParameterError
    """
    for one in ledger.attachment(release, STORED) or ():
        if one["content"] == content:
            raise _private(PriorSource.parse(one["source"]))


def _private(prior: PriorSource) -> ParameterError:
    return ParameterError(
        "priors",
        f"“{prior.name}” holds data of people in this ledger, who would not be protected",
        "use a public file; release this one first, and give the id of the release",
    )


def with_priors(
    plan: Plan, priors: tuple[PriorSource, ...], given: tuple[PriorMasses, ...]
) -> Plan:
    """Return a plan with priors and what they hold on its cells.

    Raises
    ------
    ParameterError
        If the mechanism takes none, or one can't be used.
    """
    own = plan.own_parameters
    if not isinstance(own, AdaptivePriorParameters):
        takers = [name for name, one in MECHANISMS.items() if "priors" in getattr(one, "own", ())]
        raise ParameterError(
            "mechanism.id",
            f"{plan.mechanism.id} takes no public map",
            f"give {' or '.join(takers)}, or leave out --prior",
        )
    return replace(plan, own_parameters=replace(own, priors=priors).with_given(given))


def entered_priors(entered: Release, plan: Plan) -> Plan:
    """Return a plan with the priors of its entry, if it names none itself (``--prior`` did)."""
    own, stated = plan.own_parameters, (entered.parameters or {}).get("priors")
    if not stated or not isinstance(own, AdaptivePriorParameters) or own.priors:
        return plan
    return replace(plan, own_parameters=replace(own, priors=tuple(map(PriorSource.parse, stated))))


def store_priors(ledger: Ledger, release: str, plan: Plan) -> None:
    """Store the masses of a plan's priors with a release, unless they are stored already.

    Raises
    ------
    ParameterError
        If they are not known.
    """
    own, priors = plan.own_parameters, priors_in(plan.own_parameters)
    if not priors or ledger.attachment(release, STORED) is not None:
        return
    ledger.set_attachment(
        release,
        STORED,
        [
            {
                "source": prior.text,
                "content": given.content,
                "masses": base64.b64encode(
                    zlib.compress(np.ascontiguousarray(given.masses, "<f8").tobytes())
                ).decode(),
            }
            for prior, given in zip(priors, own.known(), strict=True)
        ],
    )


def stored_priors(ledger: Ledger, release: str, plan: Plan) -> Plan:
    """Return the plan of a release with the masses of its priors, if they are stored."""
    own, stored = plan.own_parameters, ledger.attachment(release, STORED)
    if not priors_in(own) or stored is None:
        return plan
    side = 1 << own.level
    given = tuple(
        PriorMasses(
            np.frombuffer(zlib.decompress(base64.b64decode(one["masses"])), "<f8").reshape(
                side, side
            ),
            one["content"],
        )
        for one in stored
    )
    return replace(plan, own_parameters=own.with_given(given))


def degrees_of(area: Area) -> Box:
    """Return south, west, north and east of a box in degrees, with an east above the west.

    Raises
    ------
    ReleaseError
        If there is no box.
    """
    edges = area.edges
    if edges is None:
        raise ReleaseError("box: the release has none")
    step = EARTH_STEP
    south, west, north, east = (
        float(side * step) for side in (edges.south, edges.west, edges.north, edges.east)
    )
    return south, west, north, east


def total_epsilon(state: LedgerState, release: str) -> Fraction:
    """Return the ε of a release and of all earlier ones that complete its map, each once."""
    found: set[str] = set()
    waiting = [release]
    while waiting:
        one = state.release(waiting.pop())
        if one.id not in found:
            found.add(one.id)
            own = MECHANISMS[one.mechanism].parse(one.parameters or {})
            waiting += [prior.key for prior in priors_in(own) if prior.kind == EARLIER]
    return sum((state.release(name).epsilon for name in found), Fraction(0))


def released_grid(earlier: Release, output: Mapping[str, Any], own: Any) -> ReleasedGrid:
    """Return the map of an earlier release; parameters as `released_masses`.

    Raises
    ------
    ReleaseError
        If it is no map.
    """
    shown = MECHANISMS[earlier.mechanism].shown(output, own, earlier.epsilon)
    if shown.grid is None:
        raise LedgerError(f"release {earlier.id}: it is not a map; give the release of a map")
    return ReleasedGrid(degrees_of(own.area), shown.grid)


def released_masses(
    earlier: Release, output: Mapping[str, Any], own: Any, area: Area, side: int
) -> FloatArray:
    """Return what an earlier release puts into the cells of a map, by shared area.

    Its stored numbers are shown by its own mechanism, without the filter of pictures. Where its box
    covers a part only, the rest has the mean density of that part.

    Parameters
    ----------
    earlier : Release
    output : mapping
        Its stored output.
    own : object
        Its parsed parameters, with the masses of its own priors.
    area : Area
        Of the new map.
    side : int
        Cells on a side of the new map.

    Raises
    ------
    ReleaseError
        If it covers less than half of the map, or has nobody there.
    """
    grid = released_grid(earlier, output, own)
    try:
        return grid.onto(degrees_of(area), side, f"release {earlier.id}")
    except ValueError as error:
        raise ReleaseError(f"priors: {error}") from None
