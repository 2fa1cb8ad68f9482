"""Small peoples whose rows lie in cells of a square box that is divided as often as wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.release.mechanisms.base import UserRecords

BOX = ["10.0", "20.0", "10.8", "20.8"]
SPAN = 8_000_000
"""Steps of the box along a side."""

Row = tuple[int, int, str]
"""Row and column of an 8 × 8 grid, and a text."""


def people_of(users: Sequence[Sequence[Row]], order: Sequence[int] | None = None) -> UserRecords:
    """Everybody's rows, in the cells' south-western corners, one second after the other."""
    rows = [row for user in users for row in user]
    starts = np.cumsum([0, *map(len, users)]).astype(np.int64)
    y, x = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    there = np.ones(len(rows), bool)
    texts: list[str | None] = [row[2] for row in rows]
    return UserRecords(
        starts,
        100_000_000 + y * (SPAN // 8),
        200_000_000 + x * (SPAN // 8),
        there,
        np.arange(len(rows)),
        there,
        {"text": texts, "number": texts},
    )


def some_users(rng: np.random.Generator, users: int, texts: Sequence[str]) -> list[list[Row]]:
    """Users of 1 to 4 rows in few cells, so that many share some."""
    found = []
    for _ in range(users):
        rows = int(rng.integers(1, 5))
        cells = rng.integers(0, 8, (rows, 2)) // int(rng.choice([1, 2, 4])) * 2 % 8
        found.append([(int(y), int(x), str(rng.choice(texts))) for y, x in cells.tolist()])
    return found
