"""Every leaf of a JSON document, and what each might be changed into."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all that is no object or list, and of what is empty."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))
    else:
        yield path


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: Path, new: Any) -> Any:
    """Return a copy with something else at a path."""
    made = copy.deepcopy(value)
    at(made, path[:-1])[path[-1]] = new
    return made


def without(value: Any, path: Path) -> Any:
    """Return a copy without what is at a path."""
    made = copy.deepcopy(value)
    del at(made, path[:-1])[path[-1]]
    return made


def others(value: Any) -> list[Any]:
    """Return values of the same kind, as near as a forger would choose, and others."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, -value]
    if value is None:
        return ["1/2", 0]
    if isinstance(value, str):
        if found := re.fullmatch(r"([0-9]+)/([0-9]+)", value):
            p, q = int(found[1]), int(found[2])
            return [f"{p + 1}/{q}", f"{2 * p}/{2 * q}"]
        if re.fullmatch(r"[0-9a-f]{32,64}", value):
            return [("0" if value[0] != "0" else "1") + value[1:]]
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
            return [value[:-1] + str((int(value[-1]) + 1) % 10)]
        return [value + " ", "none"]
    return ["x", [0], {"x": 1}]
