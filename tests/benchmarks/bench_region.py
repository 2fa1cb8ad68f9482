"""Moving the region, the time range and the number of users: from the layout, and as it was before.

Before, every move asked the database for the rows and counted them: a query for the users that are
there, one for their rows, and `aggregate`. 6.4 million made rows, 60 a user and 15 % of them away
from home; CPU time of this process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.benchmarks.table import Row, at_least, sized

USERS, EACH = sized(106_667, 500), 60
LEVEL = 8
CITY = (40.4, -74.4, 41.0, -73.5)
MOVES = sized(60, 2)
RATIO = 30.0
"""Issue 12: how much quicker a move of the region is than by query and aggregate."""


@contextmanager
def made_checkins(users: int = USERS) -> Iterator[Any]:
    """Yield open check-ins of made people, a tenth of whom live in the city."""
    import duckdb

    from explorer.checkins import open_checkins

    rng = np.random.default_rng(12)
    home = np.column_stack([rng.uniform(25, 60, users), rng.uniform(-125, 40, users)])
    here = users // 10
    home[:here] = np.array([40.7, -73.95]) + rng.normal(0, 0.12, (here, 2))
    user = np.repeat(np.arange(users), EACH)
    away = rng.random(len(user)) < 0.15
    place = np.where(away[:, None], home[rng.integers(0, users, len(user))], home[user])
    place = np.round(place + rng.normal(0, 0.02, place.shape), 6)
    second = rng.integers(0, 90 * 86400, len(user))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.parquet"
        con = duckdb.connect()
        con.register(
            "columns",
            {"user": user, "second": second, "lat": place[:, 0].copy(), "lon": place[:, 1].copy()},
        )
        con.execute(
            "COPY (SELECT \"user\", TIMESTAMPTZ '2010-01-01 00:00:00+00' + to_seconds(second) AS "
            f"time, lat, lon FROM columns ORDER BY random()) TO '{path}' (FORMAT parquet)"
        )
        con.close()
        data = open_checkins(path, cache_dir=Path(folder) / "cache", fingerprint=False)
        with data:
            yield data


def cpu_ms(work: Callable[..., Any], *args: Any) -> float:
    """Return how much of the processors a piece of work takes."""
    begin = time.process_time()
    work(*args)
    return 1e3 * (time.process_time() - begin)


def by_query(data: Any, keys: Any, box: Any, start: str | None, users: int | None) -> Any:
    """Return the map's counts as they were found before there was a layout."""
    from explorer.checkins.sampling import smallest
    from explorer.privacy.heatmaps import aggregate

    where, values = data._inside(box, start, None, None)
    there = data._fetch(
        f"SELECT user_id, count(*) AS n FROM {data._rows} WHERE {where} "
        "GROUP BY user_id ORDER BY user_id",
        values,
    )["user_id"]
    if users is not None:
        hashes = data._user_hashes(0)[np.searchsorted(keys, there)]
        there = there[smallest(hashes, users)]
    found = data._fetch(f"SELECT user_id, lat, lon FROM {data._rows} WHERE {where}", values)
    user = np.searchsorted(there, found["user_id"])
    keep = there[np.minimum(user, len(there) - 1)] == found["user_id"]
    user, lat, lon = user[keep], found["lat"][keep], found["lon"][keep]
    return aggregate(user, lat, lon, None, box, LEVEL)


def by_layout(data: Any, box: Any, start: str | None, users: int | None) -> Any:
    """Return the map's counts as the program finds them."""
    from explorer.studies.heatmap.run import counted_points

    points, nobody_stops = data.points(box, start, users=users), SimpleNamespace(check=int)
    found = counted_points(points, LEVEL, nobody_stops)
    points.cache_surroundings(int)  # as at rest
    return found


def moved(step: int) -> tuple[float, ...]:
    """Return the city's box, dragged."""
    shift = 0.004 * step
    return CITY[0] + shift, CITY[1] + shift, CITY[2] + shift, CITY[3] + shift


def run() -> list[Row]:
    """Time moves of region, time range and number of users."""
    from explorer.checkins.layout import Layout
    from explorer.privacy.heatmaps.row_pass import compile_pass

    compile_pass()
    kinds = {
        "region": lambda i: (moved(i), None, None),
        "time range": lambda i: (CITY, f"2010-01-{1 + i % 28:02d}T00:00:00Z", None),
        "number of users": lambda i: (CITY, None, 1000 + 100 * i),
    }
    found: list[Row] = []
    same: tuple[str, ...] = ("codes", "masses", "users", "rows")
    with made_checkins() as data:
        building = cpu_ms(data.layout)
        found.append(Row("layout of 6.4 million rows, made", building, None, "ms CPU", None))
        opened = cpu_ms(Layout.open, data._entry.file("layout"))
        found.append(Row("layout, opened again", opened, None, "ms CPU", None))
        keys = np.sort(data._fetch(f"SELECT DISTINCT user_id FROM {data._rows}", [])["user_id"])
        for kind, asked in kinds.items():
            new, old = by_layout(data, *asked(5)), by_query(data, keys, *asked(5))
            assert all(np.array_equal(getattr(new, name), getattr(old, name)) for name in same)
            before = min(cpu_ms(by_query, data, keys, *asked(i)) for i in range(2))
            times = [cpu_ms(by_layout, data, *asked(i)) for i in range(MOVES)]
            mean, worst = float(np.mean(times)), max(times)
            found.append(
                at_least(
                    f"{kind} moved: query and aggregate / layout",
                    before / mean,
                    RATIO,
                    "times",
                    f"{before:.0f} ms and {mean:.2f} ms CPU, at most {worst:.1f}",
                )
            )
        world = (-90.0, -180.0, 90.0, 0.0)
        by_layout(data, world, None, None)
        whole = min(cpu_ms(by_layout, data, world, None, None) for _ in range(3))
        found.append(Row("half the world, no working set", whole, None, "ms CPU", None))
    return found
