"""Make synthetic check-ins in the shape of Gowalla's, from a seed.

    python datasets/generate_checkins.py --users 400 --rows 20000 --seed 1 OUT[.gz]

Nothing in the output comes from anybody's data. The positions of cities and neighbourhoods
(`hot_spots.csv`, beside this file) are public geography; users, places and times are drawn.

What is modelled
----------------
- Heavy tails: rows per user are lognormal (σ = 1.4), at least 1, at most `HEAVIEST` or a few times
  the mean; they add up to the number of rows asked for.
- Places: each hot spot has places scattered along a segment (a normal spread cut at 2 σ, so that
  narrow islands stay on land); the popularity of places falls off as a power law. A place has one
  position and one id, as in Gowalla; homes and work places belong to one user.
- Rhythm: a check-in is at home, at work or at leisure by the local hour and by weekday or weekend.
  Leisure goes mostly to a user's few favourite places, else near home or work, else across town.
- Trips: some users spend up to three stays of 2 to 8 days in another city.

Only `Generator.random` is called, whose stream numpy has kept since it exists, and everything else
is arithmetic on it: the same seed makes the same text on any machine. Users are made in blocks of
`BLOCK` with a generator each, so memory does not grow with the rows.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

CITIES: dict[str, tuple[float, int]] = {
    "New York": (0.70, -5),
    "Austin": (0.05, -6),
    "San Francisco": (0.05, -8),
    "Los Angeles": (0.03, -8),
    "Chicago": (0.025, -6),
    "Boston": (0.015, -5),
    "Washington": (0.015, -5),
    "Philadelphia": (0.015, -5),
    "Dallas": (0.015, -6),
    "Atlanta": (0.01, -5),
    "Seattle": (0.01, -8),
    "London": (0.02, 0),
    "Stockholm": (0.015, 1),
    "Oslo": (0.005, 1),
    "Berlin": (0.01, 1),
    "Tokyo": (0.01, 9),
    "São Paulo": (0.005, -3),
    "Sydney": (0.005, 10),
}
"""Share of the users who live there, and standard offset from UTC in hours."""

BLOCK = 2048
HEAVIEST = 2500
SIGMA = 1.4
FAVOURITES = 8
TRIPS = 3
DAY = 86_400
HOME, WORK, LEISURE = 0, 1, 2

# Relative number of check-ins in each local hour: at home, at work, at leisure.
_WEEKDAY = np.array(
    [
        [2, 1, 1, 0, 0, 1, 3, 6, 6, 3, 1, 1, 1, 1, 1, 1, 2, 3, 6, 8, 8, 8, 7, 4],
        [0, 0, 0, 0, 0, 0, 1, 4, 12, 14, 9, 6, 6, 8, 7, 6, 5, 4, 2, 1, 0, 0, 0, 0],
        [4, 2, 1, 1, 0, 0, 1, 3, 5, 4, 4, 6, 14, 13, 7, 5, 6, 9, 14, 16, 15, 13, 10, 7],
    ],
    dtype=np.float64,
)
_WEEKEND = np.array(
    [
        [3, 2, 1, 1, 0, 0, 1, 2, 4, 6, 6, 5, 3, 2, 2, 2, 3, 4, 5, 6, 6, 6, 6, 5],
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        [9, 6, 3, 1, 1, 0, 1, 2, 4, 7, 11, 14, 17, 18, 17, 16, 16, 16, 18, 19, 18, 16, 14, 11],
    ],
    dtype=np.float64,
)


@dataclass(frozen=True)
class World:
    """Cities, hot spots and public places.

    `first[h] … first[h + 1]` are the places of hot spot `h`, most popular first; the hot spots of
    city `c` are `spots[c] … spots[c + 1]`. `text[i]` is place `i` as it is written in a row.
    """

    share: Floats
    offset: Ints
    spots: Ints
    segment: Floats
    spread_km: Floats
    weight: Floats
    first: Ints
    text: NDArray[np.bytes_]


def generate(users: int, rows: int, seed: int, start: date, end: date) -> Iterator[bytes]:
    """Yield SNAP text, block of users by block of users.

    Parameters
    ----------
    users, rows : int
        1 ≤ users ≤ rows ≤ 1000 · users.
    seed : int
        Non-negative.
    start, end : date
        UTC days of the first and (not included) last possible local day.

    Yields
    ------
    bytes
        Whole lines `user ⇥ UTC time ⇥ latitude ⇥ longitude ⇥ location id`, users ascending, newest
        first within a user and no two rows of a user at the same second.

    Raises
    ------
    ValueError
        If an argument is outside its domain.
    """
    if not 1 <= users <= rows <= 1000 * users:
        raise ValueError(f"users={users}, rows={rows}: need 1 <= users <= rows <= 1000 times users")
    if seed < 0:
        raise ValueError(f"seed={seed}: must not be negative")
    if (end - start).days < 14:
        raise ValueError(f"start={start}, end={end}: need at least 14 days")
    rng = _rng(seed, 0)
    counts = _rows_per_user(rng, users, rows)
    world = _world(rng, users)
    days = (_epoch_day(start), _epoch_day(end))
    own = int(world.first[-1])
    for index, low in enumerate(range(0, users, BLOCK)):
        block = counts[low : low + BLOCK]
        yield _block(_rng(seed, index + 1), world, low, block, own + 2 * low, days)


def _rng(seed: int, stream: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, stream])))


def _epoch_day(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()


def _normal(rng: np.random.Generator, size: int) -> Floats:
    """Box and Muller's normal, from uniforms."""
    radius = np.sqrt(-2 * np.log1p(-rng.random(size)))
    normal: Floats = radius * np.cos(2 * np.pi * rng.random(size))
    return normal


def _rows_per_user(rng: np.random.Generator, users: int, rows: int) -> Ints:
    """Lognormal counts between 1 and a cap whose sum is exactly `rows`."""
    weight = np.exp(SIGMA * _normal(rng, users))
    cap = max(HEAVIEST, 4 * -(-rows // users))

    def counts(scale: float) -> Ints:
        return np.clip(np.floor(weight * scale), 1, cap).astype(np.int64)

    low, high = 0.0, float(cap) / float(weight.min())
    for _ in range(100):
        middle = (low + high) / 2
        if counts(middle).sum() <= rows:
            low = middle
        else:
            high = middle
    result = counts(low)
    while missing := rows - int(result.sum()):
        result[np.flatnonzero(result < cap)[:missing]] += 1
    return result


def _world(rng: np.random.Generator, users: int) -> World:
    with (Path(__file__).parent / "hot_spots.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    names = list(CITIES)
    if [row["city"] for row in table] != sorted((row["city"] for row in table), key=names.index):
        raise ValueError("hot_spots.csv: cities must come in the order of CITIES")
    city = np.array([names.index(row["city"]) for row in table])
    segment = np.array([[float(row[k]) for k in ("lat1", "lon1", "lat2", "lon2")] for row in table])
    spread = np.array([float(row["spread_km"]) for row in table])
    weight = np.array([[float(row[k]) for k in ("home", "work", "leisure")] for row in table])
    share = np.array([CITIES[name][0] for name in names])
    share /= share.sum()

    # About 6 public places a user, no more than a few hundred thousand in all.
    inside = weight[:, LEISURE] / np.bincount(city, weight[:, LEISURE])[city]
    places = min(6 * users, 300_000) * share[city] * inside
    number = np.maximum(5, np.floor(places)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(number)])
    spot = np.repeat(np.arange(len(table)), number)
    lat, lon = _scatter(rng, segment[spot], spread[spot])
    return World(
        share=share,
        offset=np.array([CITIES[name][1] for name in names]),
        spots=np.searchsorted(city, np.arange(len(names) + 1)),
        segment=segment,
        spread_km=spread,
        weight=weight,
        first=first,
        text=_place_text(lat, lon, np.arange(len(spot))),
    )


def _scatter(rng: np.random.Generator, segment: Floats, spread_km: Floats) -> tuple[Floats, Floats]:
    """Draw one point near each segment, a row of `segment`."""
    size = len(segment)
    along = rng.random(size)
    # A two-dimensional normal's radius, cut at 2 σ by drawing from the lower part of its range.
    radius = np.sqrt(-2 * np.log1p(-rng.random(size) * (1 - math.exp(-2)))) * spread_km / 111.195
    angle = 2 * np.pi * rng.random(size)
    lat = segment[:, 0] + along * (segment[:, 2] - segment[:, 0]) + radius * np.sin(angle)
    lon = segment[:, 1] + along * (segment[:, 3] - segment[:, 1])
    return lat, lon + radius * np.cos(angle) / np.cos(np.radians(lat))


def _place_text(lat: Floats, lon: Floats, ids: Ints) -> NDArray[np.bytes_]:
    rows = zip(lat.tolist(), lon.tolist(), ids.tolist(), strict=True)
    return np.array([f"\t{a:.6f}\t{o:.6f}\t{i}\n".encode() for a, o, i in rows])


def _choose(rng: np.random.Generator, cumulative: Floats, size: int) -> Ints:
    """Draw indices from a cumulative distribution."""
    index: Ints = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.minimum(index, len(cumulative) - 1)


def _hot_spots(rng: np.random.Generator, world: World, city: Ints, kind: int) -> Ints:
    """Draw a hot spot in each given city, by its weight for that kind of stay."""
    cumulative = np.concatenate([[0.0], np.cumsum(world.weight[:, kind])])
    low, high = cumulative[world.spots[city]], cumulative[world.spots[city + 1]]
    at = low + rng.random(len(city)) * (high - low)
    spot: Ints = np.searchsorted(cumulative, at, side="right") - 1
    # Rounding may step over the city's end.
    return np.clip(spot, world.spots[city], world.spots[city + 1] - 1)


def _popular(rng: np.random.Generator, world: World, spot: Ints) -> Ints:
    """Draw a public place of each given hot spot; popularity falls as a power law."""
    number = world.first[spot + 1] - world.first[spot]
    u = rng.random(len(spot))
    rank = np.floor(number * (u * u * u)).astype(np.int64)
    place: Ints = world.first[spot] + np.minimum(rank, number - 1)
    return place


def _block(
    rng: np.random.Generator,
    world: World,
    first_user: int,
    counts: Ints,
    first_own: int,
    days: tuple[int, int],
) -> bytes:
    """Make the rows of one block of users."""
    n, rows = len(counts), int(counts.sum())
    # Who they are.
    home_city = _choose(rng, np.cumsum(world.share), n)
    home_spot = _hot_spots(rng, world, home_city, HOME)
    work_spot = _hot_spots(rng, world, home_city, WORK)
    around = np.stack([home_spot, work_spot], axis=1)
    own_spot = around.ravel()
    own = _scatter(rng, world.segment[own_spot], world.spread_km[own_spot])
    text = np.concatenate([world.text, _place_text(*own, first_own + np.arange(2 * n))])
    own_place = len(world.text) + np.arange(2 * n).reshape(n, 2)
    favourites = np.stack(
        [
            _popular(rng, world, _near(rng, world, around, home_city, np.arange(n)))
            for _ in range(FAVOURITES)
        ],
        axis=1,
    )
    # When they take part: everybody some weeks, most until the end.
    span = days[1] - days[0]
    joined = np.floor(rng.random(n) * 0.5 * span).astype(np.int64)
    stays = 0.25 + 1.5 * rng.random(n)
    left = np.minimum(span, joined + np.maximum(7, np.floor(stays * (span - joined))))
    left = left.astype(np.int64)
    # Where they go: places people live in draw visitors, with the largest drawing fewer per head.
    trips = np.floor((TRIPS + 1) * rng.random(n) ** 1.5).astype(np.int64)
    target = _choose(rng, np.cumsum(np.sqrt(world.share)), n * TRIPS).reshape(n, TRIPS)
    leave = joined[:, None] + np.floor(rng.random((n, TRIPS)) * (left - joined)[:, None])
    back = leave + 2 + np.floor(7 * rng.random((n, TRIPS)))
    back = np.where(np.arange(TRIPS) < trips[:, None], back, leave)

    # Their rows.
    user = np.repeat(np.arange(n), counts)
    day = joined[user] + np.floor(rng.random(rows) * (left - joined)[user]).astype(np.int64)
    city = home_city[user]
    away = np.zeros(rows, bool)
    for trip in range(TRIPS):
        on_it = (day >= leave[user, trip]) & (day < back[user, trip])
        city = np.where(on_it, target[user, trip], city)
        away |= on_it
    weekday = (days[0] + day + 3) % 7  # 1970-01-01 was a Thursday; 0 is Monday
    slot = np.where(
        weekday < 5,
        _choose(rng, np.cumsum(_WEEKDAY), rows),
        _choose(rng, np.cumsum(_WEEKEND), rows),
    )
    kind, hour = slot // 24, slot % 24
    second = np.floor(3600 * rng.random(rows)).astype(np.int64)
    local = (days[0] + day) * DAY + hour * 3600 + second
    time = local - world.offset[city] * 3600
    # Where they are.
    place = own_place[user, np.minimum(kind, WORK)]
    leisure = np.flatnonzero((kind == LEISURE) | away)
    place[leisure] = _leisure(rng, world, around, home_city, favourites, user, city, away, leisure)

    # Newest first within each user; equal seconds are moved apart.
    order = np.argsort(user * (1 << 36) - time, kind="stable")
    key = (user * (1 << 36) - time)[order]
    step = np.arange(rows)
    key = np.maximum.accumulate(key - step) + step
    return _lines(first_user + user[order], user[order] * (1 << 36) - key, text[place[order]])


def _near(rng: np.random.Generator, world: World, around: Ints, city: Ints, user: Ints) -> Ints:
    """Draw a hot spot for each user: around home, around work, or anywhere in town."""
    u = rng.random(len(user))
    anywhere = _hot_spots(rng, world, city[user], LEISURE)
    near = around[user, (u < 0.3).astype(np.int64)]
    return np.where(u < 0.55, near, anywhere)


def _leisure(
    rng: np.random.Generator,
    world: World,
    around: Ints,
    home_city: Ints,
    favourites: Ints,
    user: Ints,
    city: Ints,
    away: NDArray[np.bool_],
    rows: Ints,
) -> Ints:
    """Draw the place of each leisure row: a favourite, somewhere near, or in a city visited."""
    who, out = user[rows], away[rows]
    u = rng.random(len(rows))
    favourite = favourites[who, np.floor(FAVOURITES * rng.random(len(rows)) ** 2).astype(np.int64)]
    near = _near(rng, world, around, home_city, who)
    visited = _hot_spots(rng, world, city[rows], LEISURE)
    other = _popular(rng, world, np.where(out, visited, near))
    return np.where((u < 0.6) & ~out, favourite, other)


def _lines(user: Ints, time: Ints, place: NDArray[np.bytes_]) -> bytes:
    """Write rows as text: fixed columns side by side, then the padding (NUL) taken out."""
    names = np.array([str(i).encode() for i in range(int(user[0]), int(user[-1]) + 1)])
    day, second = time // DAY, time % DAY
    first = int(day.min())
    dates = np.array(
        [
            f"\t{date.fromordinal(date(1970, 1, 1).toordinal() + d).isoformat()}T".encode()
            for d in range(first, int(day.max()) + 1)
        ]
    )
    columns = [names[user - user[0]], dates[day - first], _CLOCK[second], place]
    padded: Bytes = np.concatenate(
        [c.view(np.uint8).reshape(len(c), c.dtype.itemsize) for c in columns], axis=1
    )
    return bytes(padded[padded != 0])


_CLOCK = np.array(
    [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}Z".encode() for s in range(DAY)]
)


def write(path: Path, blocks: Iterator[bytes], compresslevel: int = 6) -> None:
    """Write blocks to a file; a name ending in .gz compresses, without name or time inside."""
    with ExitStack() as stack:
        file: BinaryIO | io.BufferedIOBase = stack.enter_context(path.open("wb"))
        if path.suffix == ".gz":
            file = stack.enter_context(
                gzip.GzipFile("", "wb", compresslevel, fileobj=file, mtime=0)
            )
        for block in blocks:
            file.write(block)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Make synthetic Gowalla-style check-ins.")
    parser.add_argument("--users", type=int, help="default: one for every 60 rows")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=date.fromisoformat, default=date(2009, 11, 1))
    parser.add_argument("--end", type=date.fromisoformat, default=date(2010, 5, 1))
    parser.add_argument("--level", type=int, default=6, help="gzip compression level")
    parser.add_argument("out", type=Path, metavar="OUT", help="plain text, or .gz by its name")
    options = parser.parse_args(arguments)
    users = options.users or max(1, options.rows // 60)
    try:
        blocks = generate(users, options.rows, options.seed, options.start, options.end)
        write(options.out, blocks, options.level)
    except (ValueError, OSError) as error:
        print(f"generate_checkins: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
