"""Run files of golden vectors against our public functions.

``python -m tests.vectors FILE.json …`` prints how many of each function's vectors pass and exits
non-zero if any fails or has no adapter. With ``--known-only`` functions that no adapter knows are
counted and named, and fail nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Role

Adapter = Callable[..., Any]
Vector = Mapping[str, Any]


@dataclass(frozen=True)
class Argmin:
    """A minimiser that passes if it ties with the expected one.

    Attributes
    ----------
    value : Any
        Where our minimum is.
    objective : callable
        The minimised function, so that the expected place can be judged by what it is worth.
    """

    value: Any
    objective: Callable[[Any], float]


@dataclass(frozen=True)
class Certified:
    """A bound that must lie on its side of the expected number, and near it.

    Attributes
    ----------
    value : float
    role : Role
        `Role.UPPER` or `Role.LOWER`.
    within : float
        How far it may lie from the expected number, relative to it.
    """

    value: float
    role: Role
    within: float = 0.01


@cache
def adapters() -> dict[str, Adapter]:
    """Return the one table of adapters, merged from the modules of ``tests.adapters``."""
    import tests.adapters

    table: dict[str, Adapter] = {}
    for module in sorted(info.name for info in iter_modules(tests.adapters.__path__)):
        for name, function in import_module(f"tests.adapters.{module}").ADAPTERS.items():
            if name in table:
                raise ValueError(f"two adapters for {name!r}, one of them in {module}.py")
            table[name] = function
    return table


def read(path: Path) -> list[Vector]:
    """Return the vectors of a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    vectors: list[Vector] = document["vectors"]
    return vectors


def _close(got: float, expected: float, rtol: float, atol: float) -> bool:
    if math.isnan(got) or math.isnan(expected):
        return False
    if math.isinf(expected) or math.isinf(got):
        return got == expected
    return abs(got - expected) <= atol + rtol * abs(expected)


def mismatches(
    got: Any, expected: Any, rtol: float, atol: float, where: str = "value"
) -> Iterable[str]:
    """Yield one line for every difference between a result and what a vector expects.

    Booleans, integers and strings must agree exactly, reals within atol + rtol·|expected|; the
    strings ``"inf"`` and ``"-inf"`` are infinities and null is *undefined* (None or NaN).
    """
    if isinstance(got, Argmin):
        if got.value == expected:
            return
        ours, theirs = got.objective(got.value), got.objective(expected)
        if not _close(ours, theirs, rtol, atol):
            yield f"{where}: {got.value} (worth {ours!r}), expected {expected} (worth {theirs!r})"
        return
    if isinstance(got, np.ndarray | np.generic):
        got = got.tolist()
    if isinstance(got, Certified) and isinstance(expected, dict):
        (expected,) = expected.values()
    if isinstance(got, Certified):
        beyond = got.value - expected if got.role is Role.LOWER else expected - got.value
        if not beyond <= atol + rtol * abs(expected):
            yield f"{where}: {got.value!r}, on the wrong side of {expected!r} for a {got.role}"
        elif not _close(got.value, expected, max(rtol, got.within), atol):
            yield f"{where}: {got.value!r}, not within {got.within:.0%} of {expected!r}"
        return
    if isinstance(expected, dict):
        if not isinstance(got, Mapping):
            # A bare number answers a vector that names its only number.
            got = {"value": got}
        for key, item in expected.items():
            if key not in got:
                yield f"{where}.{key}: missing"
            else:
                yield from mismatches(got[key], item, rtol, atol, f"{where}.{key}")
        return
    if isinstance(expected, list):
        if isinstance(got, Mapping):
            got = got["value"]
        got = list(got)
        if len(got) != len(expected):
            yield f"{where}: {len(got)} items, expected {len(expected)}"
            return
        for i, item in enumerate(expected):
            yield from mismatches(got[i], item, rtol, atol, f"{where}[{i}]")
        return
    if isinstance(got, Mapping):
        got = got["value"]
    if expected is None:
        good = got is None or (isinstance(got, float) and math.isnan(got))
    elif expected in ("inf", "-inf"):
        good = got == float(expected) or got == expected
    elif isinstance(expected, float) and isinstance(got, int | float):
        good = _close(float(got), expected, rtol, atol)
    else:
        good = got == expected and isinstance(got, bool) == isinstance(expected, bool)
    if not good:
        yield f"{where}: {got!r}, expected {expected!r}"


def check(vector: Vector, table: Mapping[str, Adapter]) -> list[str]:
    """Return what is wrong with our answer to one vector; nothing if it passes."""
    try:
        got = table[vector["function"]](**vector["arguments"])
        return list(mismatches(got, vector["expected"], vector["rtol"], vector["atol"]))
    except Exception as error:
        # Any exception is a failure of that vector, not of the run.
        return [f"{type(error).__name__}: {error}"]


@dataclass
class Tally:
    """What became of one function's vectors."""

    passed: int = 0
    failures: list[str] = field(default_factory=list)
    unknown: int = 0


def run(vectors: Iterable[Vector], table: Mapping[str, Adapter]) -> dict[str, Tally]:
    """Check every vector; return a tally for each function in order of first appearance."""
    tallies: dict[str, Tally] = {}
    for vector in vectors:
        tally = tallies.setdefault(vector["function"], Tally())
        if vector["function"] not in table:
            tally.unknown += 1
        elif problems := check(vector, table):
            tally.failures.append(
                f"{json.dumps(vector['arguments'])[:200]}: " + "; ".join(problems)[:400]
            )
        else:
            tally.passed += 1
    return tallies


def main(arguments: list[str] | None = None) -> int:
    """Print the tallies of the files named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.vectors", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument(
        "--known-only", action="store_true", help="functions without an adapter fail nothing"
    )
    options = parser.parse_args(arguments)
    failed = False
    for path in options.files:
        tallies = run(read(path), adapters())
        print(path.name)
        for name, tally in tallies.items():
            total = tally.passed + len(tally.failures) + tally.unknown
            said = f"no adapter ({total})" if tally.unknown else f"{tally.passed} of {total} pass"
            print(f"  {name:<28} {said}")
            for line in tally.failures:
                print(f"      {line}")
        passed = sum(t.passed for t in tallies.values())
        failures = sum(len(t.failures) for t in tallies.values())
        unknown = sum(t.unknown for t in tallies.values())
        print(f"  {passed} pass, {failures} fail, {unknown} without an adapter")
        failed |= failures > 0 or (unknown > 0 and not options.known_only)
    return int(failed)


if __name__ == "__main__":
    # Run as a module this file has two names; the adapters know the classes of this one.
    from tests import vectors

    sys.exit(vectors.main())
