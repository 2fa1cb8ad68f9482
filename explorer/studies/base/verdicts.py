"""Verdicts of presets are written from numbers, which a command computes and a file keeps.

``resources/verdicts.json`` holds the numbers of each judged preset.
``python -m tests.studies.verdict_numbers`` writes it; what is cheap is computed again by a test.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import hypot

from explorer.resources import resource_bytes
from explorer.studies.base.help_page import Preset, Status
from explorer.studies.base.numbers import DIGITS, at_most

Numbers = Mapping[str, float]
Judge = Callable[[Numbers], tuple[Status, str]]
"""Function from a preset's numbers to the sign and the text of its verdict."""


@cache
def _kept() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float | str]] = json.loads(resource_bytes("verdicts.json"))
    # JSON has no infinity: it is stored as a string.
    return {key: {k: float(v) for k, v in row.items()} for key, row in found.items()}


def kept_numbers(study: str, key: str) -> Numbers:
    """Return the stored numbers of a preset.

    Raises
    ------
    KeyError
        If there are none.
    """
    return _kept()[f"{study}/{key}"]


def judged(
    study: str, presets: tuple[Preset, ...], judges: Mapping[str, Judge]
) -> tuple[Preset, ...]:
    """Return presets with the verdicts of their stored numbers; others unchanged.

    Parameters
    ----------
    study : str
    presets : tuple of Preset
    judges : mapping
        By key of the preset.
    """
    out = []
    for item in presets:
        # A judge that asks for a new number has no verdict before the command has run; a test asks
        # for every verdict.
        with suppress(KeyError):
            status, verdict = judges[item.key](kept_numbers(study, item.key))
            item = replace(item, status=status, verdict=verdict)
        out.append(item)
    return tuple(out)


def surpasses(
    ours: str,
    theirs: str,
    form: str = "{}, not {}",
    *,
    write: Callable[[float, int], str] = at_most,
    digits: int = DIGITS,
) -> Judge:
    """Return a judge of two bounds or errors: ours below the paper's is an improvement.

    Parameters
    ----------
    ours, theirs : str
        Names of the numbers.
    form : str
        The verdict, with a place for each.
    write : callable
        Writes a number with so many digits: `at_most` for upper bounds.
    digits : int
    """

    def judge(found: Numbers) -> tuple[Status, str]:
        here, there = found[ours], found[theirs]
        words = form.format(write(here, digits), write(there, digits))
        return ("+" if here < there else "≠"), words

    return judge


def reproduces(name: str, printed: float) -> Judge:
    """Return a judge of a bound that the paper prints for others' analysis: within 5 % it is ours.

    Parameters
    ----------
    name : str
        Of the bound as it comes out here.
    printed : float
    """

    def judge(found: Numbers) -> tuple[Status, str]:
        near = abs(found[name] / printed - 1) <= 0.05
        return ("=" if near else "?"), f"their {printed:g} is {at_most(found[name])} here"

    return judge


def trend(first: tuple[float, float, float], last: tuple[float, float, float]) -> int:
    """Return whether a mean rises (1), falls (−1) or moves less than its 95 % interval (0).

    Parameters
    ----------
    first, last : tuple of (mean, low, high)
        With 95 % intervals, of independent draws.
    """
    change = last[0] - first[0]
    half = hypot((first[2] - first[1]) / 2, (last[2] - last[1]) / 2)
    return 0 if abs(change) <= half else 1 if change > 0 else -1
