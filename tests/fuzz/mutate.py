"""Changes to JSON values and to bytes, each drawn from a generator that is passed in."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any

_DEEP: Any = 0
for _ in range(60):
    _DEEP = [_DEEP]

STRANGE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63),
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
    "",
    " ",
    "x",
    "\0",
    "\ud800",
    "é" * 600,
    "epoch_x",
    "1e400",
    "../../etc/passwd",
    "nan",
    [],
    [None],
    [[]],
    {},
    {"": None},
    {"a": {"b": {}}},
    _DEEP,
    list(range(300)),
    "9" * 400,
)
"""Values that fields are given which expect others."""


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += _places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _places(item, (*path, index))
    return found


def changed_value(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value with one to three places changed, taken out or doubled."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice(_places(value))
        if not path:
            continue
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        match rng.randrange(5):
            case 0:
                del holder[path[-1]]
            case 1 if isinstance(holder, list):
                holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
            case 1:
                holder[rng.choice(("", "zz", "schema", "\ud800"))] = holder[path[-1]]
            case _:
                holder[path[-1]] = copy.deepcopy(rng.choice(STRANGE))
    return value


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few flipped, taken out, doubled, or the end cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at, end = sorted((rng.randrange(len(found) + 1), rng.randrange(len(found) + 1)))
        end = min(end, at + rng.choice((1, 4, 64, 4096)))
        match rng.randrange(5):
            case 0:
                del found[at:end]
            case 1:
                found[at:at] = found[at:end]
            case 2:
                del found[end:]
            case 3:
                found[at:end] = rng.randbytes(end - at)
            case _ if at < len(found):
                found[at] ^= 1 << rng.randrange(8)
    return bytes(found)


def json_text(value: Any, rng: random.Random) -> bytes:
    """Return a JSON text, Infinity and NaN included, at times damaged."""
    data = json.dumps(value).encode()
    return changed_bytes(data, rng) if rng.random() < 0.2 else data
