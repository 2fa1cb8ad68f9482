"""Noisy points as a mechanism of the map: planar Laplace noise on every location.

Its guarantee is stated per distance (metric differential privacy) and cannot be compared with the ε
of the other mechanisms, which hides whether a user is present at all.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.geography.coordinates import EARTH_RADIUS_KM
from explorer.privacy.heatmaps import SparseMap, aggregate
from explorer.privacy.noise.demonstration import IntArray, hashed_words
from explorer.privacy.user_metric.point_noise import moved_places, moved_points
from explorer.studies.base.numbers import at_most
from explorer.studies.base.parameters import PLANE
from explorer.studies.base.phrases import best_chance, percent_sure
from explorer.studies.base.study import Guarantee, Overlay, Request
from explorer.studies.heatmap.contributions import requested_rule
from explorer.studies.heatmap.guarantee import A_DEMONSTRATION, epsilon_distance
from explorer.studies.heatmap.mechanisms import mechanism_of
from explorer.studies.heatmap.run import Estimate, Task

if TYPE_CHECKING:
    from explorer.geography.region import Box

EARTH_RADIUS_M = 1000 * EARTH_RADIUS_KM
ONE_OF_EACH = "one"
"""Value of the parameter ``points``: one of each user's check-ins, drawn at random."""
TRUST = (
    "Nobody need be trusted: everyone can move their own points before they send them. Whoever "
    "sees the points sees how many there are."
)


def run(task: Task) -> Estimate:
    """Move the places by planar Laplace noise, and count them as they are."""
    request, points, level = task.request, task.points, task.counts.level
    selection = request.selection
    assert selection is not None
    box, on_earth = selection.region.box, selection.region.plane is None
    uniform = partial(_uniform, request.seed)
    user, lat, lon, weight = points.user, points.lat, points.lon, points.weight
    if request["points"] == ONE_OF_EACH:
        rows = one_of_each(user, weight, uniform)
        user, lat, lon, weight = user[rows], lat[rows], lon[rows], None
    alpha = request["epsilon"] / request["radius"]
    if on_earth:
        lat, lon = moved_places(lat, lon, alpha, EARTH_RADIUS_M, uniform)
        lon = nearest_turn(lon, box)
    else:
        lon, lat = moved_points(lon, lat, alpha, uniform)
    task.watch.lap("noise")
    task.context.check()
    lat, lon, outside = clamp(lat, lon, box)
    rule, step = requested_rule(request), selection.region.step
    counts = aggregate(user, lat, lon, weight, box, level, rule, step)
    south, west, north, east = box
    places = np.column_stack([(lat - south) / (north - south), (lon - west) / (east - west)])
    heatmap = counts.blocks().normalised() if counts.users else SparseMap.uniform(level)
    task.watch.lap("select")
    numbers = (("points", float(len(lat))), ("points_clamped", float(outside)))
    return Estimate(heatmap, (), 0, made_of_noise=numbers, overlay=Overlay(places))


def _uniform(seed: int, stream: int, items: IntArray) -> NDArray[np.float64]:
    """Return the numbers in (0, 1) that belong to items of a stream of a seed."""
    words = hashed_words(seed, "planar-laplace", stream, items) >> np.uint64(11)
    return (words.astype(float) + 0.5) * 2.0**-53


def one_of_each(user: NDArray[Any], weight: NDArray[Any] | None, uniform: Any) -> IntArray:
    """Return the index of one check-in of each user, drawn in proportion to their weights.

    The expected map of these is the true one: every user's mass is 1, shared by their check-ins.
    """
    order = np.argsort(user, kind="stable")
    weights = np.ones(len(user)) if weight is None else np.asarray(weight, float)[order]
    _, first = np.unique(user[order], return_index=True)
    last = np.append(first[1:], len(user)) - 1
    running = np.cumsum(weights)
    before = running[first] - weights[first]
    position = before + uniform(-1, np.arange(len(first))) * (running[last] - before)
    # Rounding of the running sum may reach into a neighbour's.
    return np.asarray(order[np.clip(np.searchsorted(running, position, "right"), first, last)])


def nearest_turn(longitude: NDArray[np.float64], box: Box) -> NDArray[np.float64]:
    """Return degrees less than half a turn from a box's middle, also across the antimeridian."""
    _, west, _, east = box
    middle = (west + east) / 2
    return np.asarray(middle + (longitude - middle + 180) % 360 - 180)


def clamp(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64], box: Box
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return points taken to the nearest of a box's sides, and how many were outside."""
    south, west, north, east = box
    inside = (south <= latitude) & (latitude <= north) & (west <= longitude) & (longitude <= east)
    lat, lon = np.clip(latitude, south, north), np.clip(longitude, west, east)
    return lat, lon, int(np.count_nonzero(~inside))


def guarantee(request: Request) -> Guarantee:
    """Return the guarantee, which is stated in distances."""
    epsilon, radius = request["epsilon"], request["radius"]
    alpha = epsilon / radius
    level, far = at_most(epsilon), epsilon_distance(request)
    unit = request.unit_values.get(PLANE)
    metre, metres = ("metre", "metres") if unit is None else (unit, unit)
    one = request["points"] == ONE_OF_EACH
    user = (
        "For a user, whose point is one of their check-ins drawn at random, d is the largest "
        "distance that one of them moves"
        if one
        else f"For a user whose k check-ins move d₁ … d_k {metres} the distances add up: "
        "α·(d₁ + … + d_k)"
    )
    return Guarantee(
        unit="one point: how far it may move inside the region",
        add_remove=(
            "not covered: every point is there, so that one user more is seen as "
            + ("one more" if one else "so many more")
        ),
        replace_one=(
            f"not covered, but for moves: α·d with α = {at_most(alpha)} a {metre} (ε = {level} at "
            f"{far}) if a point is d {metres} elsewhere. {user}"
        ),
        trust=TRUST,
        sentence=(
            f"If a point were d {metres} elsewhere, the odds of every possible outcome would "
            f"differ by a factor of at most e^αd, which is {at_most(math.exp(epsilon))} at {far}: "
            f"an attacker who starts at 50 : 50 between two places so far apart is at most "
            f"{percent_sure(best_chance(epsilon))} % sure afterwards. {A_DEMONSTRATION}"
        ),
        references=mechanism_of(request).references,
    )
