"""A release on synthetic people: nothing is read, nothing is spent, and it says so."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.releases.means import exact_decimal
from explorer.release.mechanisms.base import Output
from explorer.release.people import People
from explorer.release.plan import Plan
from explorer.user_rows import EARTH_STEP

STAMP = "rehearsal on synthetic people: nothing was read, spent or released"
MOST_USERS = 1_000_000
ROWS = 8
"""Of a user, on average."""

_CLUSTERS = 12
_DAY = 86_400
_EVERYWHERE = ("-60", "-170", "70", "170")


def rehearse(plan: Plan, users: int, seed: int = 0) -> Output:
    """Draw the output of a plan on so many synthetic people.

    Raises
    ------
    ValueError
        If the number is below 1 or above `MOST_USERS`.
    """
    if not 1 <= users <= MOST_USERS:
        raise ValueError(f"users: {users} is not between 1 and {MOST_USERS:,}; give another number")
    people = synthetic_people(plan, users, seed)
    return plan.mechanism.draw(people, plan.checked, plan.epsilon, os.urandom)


def synthetic_people(plan: Plan, users: int, seed: int = 0) -> People:
    """Make people up from a plan's public parameters: in its box and times, between its bounds.

    Places gather around a few centres; rows of a user are few for most and many for some.
    """
    draw = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(draw.geometric(1 / ROWS, users))]).astype(np.int64)
    rows, reads, given = int(starts[-1]), plan.reads, plan.parameters()
    lat = lon = placed = time = timed = None
    if reads.places:
        lat, lon = _places(draw, given.get("box", _EVERYWHERE), np.diff(starts))
        placed = np.ones(rows, dtype=np.bool_)
    if reads.times:
        first, last = _times(given)
        time = draw.integers(first, last, rows)
        timed = np.ones(rows, dtype=np.bool_)
    texts = {name: _texts(draw, name, given, rows) for name in reads.texts}
    return People(starts, lat, lon, placed, time, timed, texts)


def _places(
    draw: np.random.Generator, box: Any, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return places around centres; a user has one centre and some rows elsewhere."""
    south, west, north, east = (int(exact_decimal("box", side) / EARTH_STEP) for side in box)
    low, span = np.array([south, west]), np.array([north - south, east - west])
    centres = draw.uniform(0.1, 0.9, (_CLUSTERS, 2))
    home = draw.integers(0, _CLUSTERS, len(counts)).repeat(counts)
    away = draw.random(len(home)) < 0.3
    home[away] = draw.integers(0, _CLUSTERS, int(away.sum()))
    spread = draw.uniform(0.01, 0.08, _CLUSTERS)
    at = centres[home] + draw.normal(0, 1, (len(home), 2)) * spread[home][:, None]
    whole = low + (np.clip(at, 0, 1) * span).astype(np.int64)
    return whole[:, 0], whole[:, 1]


def _times(given: dict[str, Any]) -> tuple[int, int]:
    """Return a range of times: the plan's, or a fortnight beside the end it has."""
    start, end = (
        int(np.datetime64(given[name].removesuffix("Z"), "s").astype(np.int64))
        if name in given else None
        for name in ("start", "end")
    )  # fmt: skip
    if start is None:
        start = (end or 0) - 14 * _DAY
    return start, end if end is not None else start + 14 * _DAY


def _texts(draw: np.random.Generator, name: str, given: dict[str, Any], rows: int) -> list[str]:
    """Return texts or decimals of a column, as its bins or bounds have them."""
    if "values" in given:
        return [given["values"][k] for k in draw.integers(0, len(given["values"]), rows)]
    if "value_columns" in given:
        place = given["value_columns"].index(name)
        low, high = (exact_decimal(side, given[side][place]) for side in ("low", "high"))
    else:
        low, high = (exact_decimal("edges", given["edges"][k]) for k in (0, -1))
    places = draw.beta(2, 4, rows)
    return [_decimal(low + (high - low) * Fraction(place)) for place in places.tolist()]


def _decimal(value: Fraction) -> str:
    """Return a number with six decimals, rounded down."""
    whole = value.numerator * 10**6 // value.denominator
    return f"{'-' * (whole < 0)}{abs(whole) // 10**6}.{abs(whole) % 10**6:06d}"
