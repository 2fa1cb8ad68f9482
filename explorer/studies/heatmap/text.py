"""Titles, stamps and notes of heatmaps, and keys of distances in the unit of their region."""

from __future__ import annotations

from typing import Any

from explorer.geography.region import PlaneRegion, Region
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.study import Request
from explorer.studies.heatmap import contributions
from explorer.studies.heatmap.guarantee import (
    UNITS,
    epsilon_distance,
    guarantee,
    in_words_of,
    unit_of,
)
from explorer.studies.heatmap.mechanisms import (
    EXPECT_LITTLE,
    MECHANISMS,
    MOST_EPSILON,
    ONE_CELL_EACH,
    mechanism_of,
    named_releases,
    of_settings,
    rough,
)
from explorer.studies.heatmap.parameters import (
    CENTRES,
    ERROR,
    POINTS,
    beside,
    mechanisms_shown,
    request_of_surface,
)

FAR, LOSS = "emd", "loss"
"""Numbers that are also given in the map's unit."""
AVERAGE_ERROR = "emd_blocks"
"""Distance of the sums over 64 × 64 blocks, which is the error that map and *Utility* show."""


def in_unit(name: str, region: Region | None) -> str:
    """Return the key of a distance in the unit of a region: in kilometres on the Earth.

    Without a region (no check-ins yet) it is the Earth's.
    """
    return f"{name}_km" if region is None or region.plane is None else f"{name}_unit"


def padding(region: Region) -> str:
    """Return a note on a region that extends beyond its plane's range; empty if it does not."""
    plane = region.plane
    if plane is None:
        return ""
    south, west, north, east = PlaneRegion.whole(plane).box
    inside = south <= region.south and west <= region.west
    if inside and region.north <= north and region.east <= east:
        return ""
    return (
        f"The map reaches beyond the declared range ({plane.sentence}). Everybody knows that "
        "nothing lies there; the mechanism reads those cells like all others, so noise may put "
        "mass there, which counts as error."
    )


AROUND_POLYGON = (
    "The grid covers the box around the polygon. Cells outside the polygon hold no check-ins and "
    "are not drawn; the mechanism reads them like all others, so noise may put mass there, which "
    "counts as error."
)
NOT_ACCOUNTED = "not private, do not share"
SYNTHETIC = "synthetic data"

ALL_COUNTS_NEGATIVE = (
    "Every noisy count of the start level is 0 or less, so the algorithm has no answer; the "
    "uniform map stands in for it."
)
TOTAL_NEGATIVE = (
    "The noisy counts add up to 0 or less, so nothing is left of the map; the uniform one stands "
    "in for it."
)
PRIOR_ALONE = (
    "The noisy counts add up to 0 or less, so nothing is left of the data; the map is that of the "
    "priors."
)
UNUSED_RELEASE = (
    "Release {id}… is not used: ε is above {most}, twice its own, where its noise would make the "
    "map worse."
)
TOO_FEW_USERS = (
    "So few users (n₀) can't hide one another at this ε and δ, so there is no map; the uniform one "
    "stands in for it. Raise n₀, ε or δ."
)
ALL_CELLS_EMPTY = "No noisy cell is above 0; the uniform map stands in for the empty one."
NOT_FLAT = (
    "The first noisy counts alone show that this is no uniform map (a test that errs in 1 % of "
    "uniform maps)."
)
MAYBE_FLAT = (
    "The first noisy counts alone do not tell this map from the uniform one (a test that errs "
    "in 1 % of uniform maps)."
)
REFERENCE_SOLVER = (
    "The reference solver returns another of the many minimisers than the tree solver, "
    "usually a worse map; compare the misfit, not the picture."
)
NO_TRUTH = "There is no check-in inside region and time range to compare with."
AT_REST = "Numbers of maps finer than 512 × 512 come at rest: they take longer than a frame."
EARLY = (
    "Drawn of a sample of the users until all are counted: no number is taken from it, and it "
    "keeps no guarantee."
)
INTERVAL_ONLY = "Above Δ = 256 the distance is left as a certified interval."
EXACT_COMING = "exact distance…"
"""What is computed once the answer is complete: it stands under *Numbers* alone."""
DIFFERENCE_LABEL = "Difference: private − true"
SHOWN_TOGETHER = (
    "Each of the {n} private maps keeps its guarantee alone. Together they do not: their ε would "
    "add up, and here they share their noise, which costs more still. Publish one."
)
PROMISED = "The {title} beside: {what}. Published with another map, both promises are spent."
OF_CENTRES = (
    "The centres are made from the private map alone: no further ε. A number of centres that is "
    "chosen by the true cost is not private."
)
NO_BIAS = (
    "Error per cell is the standard deviation over draws: what the mechanism gets wrong on average "
    "is not in it."
)
METRICS_ON = "Metrics compare the two heatmaps after blurring, each with sum 1."


def stamp(synthetic: bool, curator_only: bool) -> str:
    """Return what must stand on a map computed from the loaded check-ins."""
    if synthetic:
        return SYNTHETIC
    who = "curator only" if curator_only else "preview only"
    return f"{who} – {NOT_ACCOUNTED}"


def pane_label(request: Request) -> str:
    """Return the title of the private pane."""
    mechanism = mechanism_of(request)
    fails = f", δ = {at_most(request['delta'])}" if "delta" in mechanism.uses else ""
    metric = "" if mechanism.comparable else f" at {epsilon_distance(request)}"
    level = at_most(request["epsilon"])
    return f"Private heatmap: {mechanism.title}, ε = {level}{metric}{fails}"


def drawing_label(request: Request, key: str) -> str:
    """Return the title of a drawing of a private map: its points or its centres."""
    title, _, level = pane_label(request_of_surface(request, key)).partition(", ")
    if key == POINTS:
        return f"Points moved by noise, {level}"
    number = request["centres"]
    mechanism = title.partition(": ")[2]
    return f"{number} {'centre' if number == 1 else 'centres'} of {mechanism}, {level}"


def of_draws_label(name: str, draws: int) -> str:
    """Return the title of a map of errors or percentiles of draws."""
    if name == ERROR:
        return f"Error per cell (standard deviation of {draws} draws)"
    quantile = "Median" if name == "p50" else f"{name[1:]}th percentile"
    return f"{quantile} of {draws} draws"


def distance_role(exact: bool) -> Role | None:
    """Return the role of a distance: exact, or none while only its interval is known."""
    return Role.EXACT if exact else None


def notes(request: Request) -> tuple[str, ...]:
    """Return what else a reader must know; nothing of it depends on the data."""
    shown = [MECHANISMS[key] for key in mechanisms_shown(request)]
    lines = [*contributions.notes(request)]
    lines += [note for mechanism in shown for note in mechanism.notes]
    if request["weights"] == "one-cell":
        lines = [note for note in lines if note != ONE_CELL_EACH]
    lines += [
        sent for m in shown if (sent := _message_text(request.with_value("mechanism", m.key)))
    ]
    if request.selection is not None and request.selection.region_origin.may_be_told:
        region = request.selection.region
        lines += [AROUND_POLYGON] if region.polygon is not None else filter(None, [padding(region)])
    for mechanism in shown[1:]:
        if not mechanism.comparable:
            promised = guarantee(request.with_value("mechanism", mechanism.key))
            lines.append(PROMISED.format(title=mechanism.title, what=promised.replace_one))
    if CENTRES in beside(request["beside"]):
        lines.append(OF_CENTRES)
    if request["backend"] == "cvxpy" and any("backend" in m.uses for m in shown):
        lines.append(REFERENCE_SOLVER)
    together = sum(mechanism.comparable for mechanism in shown)
    if together > 1:
        lines.append(SHOWN_TOGETHER.format(n=together))
    lines += [
        UNUSED_RELEASE.format(id=one.id[:8], most=format_number(float(MOST_EPSILON * one.epsilon)))
        for one in named_releases(request)
        if not one.completes(request["epsilon"])
    ]
    if rough(request):
        lines.append(EXPECT_LITTLE)
    unit = unit_of(request)
    worded = [UNITS[unit].remark, *(in_words_of(note, unit) for note in lines)]
    return tuple(dict.fromkeys(filter(None, worded)))


def _message_text(request: Request) -> str:
    """Return a note on the messages of every user of a protocol; empty where n₀ is secret.

    Megabytes are 10⁶ bytes.
    """
    selection, numbers = request.selection, of_settings(request)
    if "messages" not in numbers or (selection and not selection.n0_from.may_be_told):
        return ""
    messages, bits, megabytes = (
        format_number(numbers[key]) for key in ("messages", "message_bits", "megabytes")
    )
    title = mechanism_of(request).title
    return (
        f"{title[0].upper()}{title[1:]}: each of n₀ users sends {messages} messages of {bits} bits "
        f"on average, {megabytes} MB."
    )


def of_first_users(label: str, share: float) -> str:
    """Return the label of a picture of a sample of the users."""
    return f"{label}, {at_most(100 * share, 2)} % of users"


def curator_notes(request: Request, points: Any) -> tuple[str, ...]:
    """Return notes for the curator only, as they count users."""
    lines, selection = [METRICS_ON], request.selection
    if ERROR in beside(request["beside"]):
        lines.append(NO_BIAS)
    present, used = points.users_in_region, points.users_used
    if selection is None or not selection.sampled:
        return tuple(lines)
    number, seed = selection.users, selection.data_seed
    if number is not None and present < number:
        lines.append(
            f"{number:,} {_users(number)} asked for, but only {present:,} have a check-in inside "
            "region and time range: all of them are used."
        )
    elif number is None:
        lines.append(
            f"{used:,} of {present:,} users are in the sample: those whose keyed hash (seed {seed})"
            f" lies below {selection.share:g} of all hashes."
        )
    elif number < present:
        lines.append(
            f"{used:,} of {present:,} users {'was' if used == 1 else 'were'} sampled: those with "
            f"the smallest keyed hashes of their ids (seed {seed})."
        )
    return tuple(in_words_of(note, unit_of(request)) for note in lines)


def _users(number: int) -> str:
    return "user was" if number == 1 else "users were"
