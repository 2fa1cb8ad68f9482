"""How much memory a value takes, for a cache that is bounded by it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

_PLAIN = frozenset({bool, int, float, type(None)})
_SEVERAL = (tuple, list, set, frozenset)


@lru_cache(None)
def _fields_of(kind: Any) -> tuple[str, ...] | None:
    """Return the names of a dataclass' fields; None for other types."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


def size_of(value: object) -> int:
    """Return roughly how many bytes a value holds: its arrays, and a little for the rest."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        kind: Any = type(item)
        if kind in _PLAIN:
            total += 64
        elif isinstance(item, str):
            total += 64 + len(item)
        elif isinstance(item, np.ndarray):
            total += int(item.nbytes) + 128
        elif isinstance(item, _SEVERAL):
            total += 64
            left.extend(item)
        elif (names := _fields_of(kind)) is not None:
            total += 64
            left.extend([getattr(item, name) for name in names])
        elif isinstance(item, Mapping):
            total += 64
            left.extend(item)
            left.extend(item.values())
        else:
            total += sys.getsizeof(item, 64)
    return total
