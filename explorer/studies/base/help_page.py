"""Help pages and presets of studies, and the verdicts of presets.

``resources/verdicts.json`` holds the numbers from which verdicts are written;
``python -m tests.studies.verdict_numbers`` computes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from math import hypot
from typing import Literal

from explorer.privacy.core.bound import Reference
from explorer.resources import resource_bytes
from explorer.studies.base.numbers import DIGITS, at_most
from explorer.studies.base.parameters import Sweep, Value
from explorer.studies.base.request import Selection

Status = Literal["", "=", "≠", "+", "▷", "?"]


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as a figure would print it.

    Attributes
    ----------
    caption : str
        Description in words.
    latex : str
        Mathtext (what matplotlib renders), without dollar signs.
    """

    caption: str
    latex: str


@dataclass(frozen=True, slots=True)
class Page:
    """A study's help: what F1 opens.

    Attributes
    ----------
    what : tuple of str
        Paragraphs for someone who has read none of the papers.
    assumptions : tuple of str
        Assumptions of the numbers, one sentence each.
    formulas : tuple of Formula
    sources : tuple of Reference
    errata : tuple of str
        One paragraph each: "The paper prints …, which …; we use …".
    """

    what: tuple[str, ...]
    assumptions: tuple[str, ...]
    formulas: tuple[Formula, ...]
    sources: tuple[Reference, ...]
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preset:
    """A figure, table or example of a paper as a request.

    Attributes
    ----------
    key : str
        Stable id, unique within its study.
    name : str
        ``Figure 2 (a)``.
    about : str
        What it shows, and which trend to look for.
    values : tuple of (key, value)
        The parameters it sets; all others go to their defaults.
    quantity : str
        Key of the quantity on the y axis; empty for the study's first.
    sweep : Sweep or None
        None for the quantity's first sweep over its whole range.
    published : str
        What the paper says comes out, with the place where it says so.
    computed : str
        What comes out here and, where it differs, why.
    users : int or None
        How many of the check-ins' users are sampled; None leaves that as it is.
    error_over : str
        Of the map: the axis over which *Utility* opens with error curves; empty leaves it as it
        is.
    judged_on : str
        The figure whose made data they are judged on; empty leaves that as it is.
    curves : tuple of str
        Keys of the curves that the paper draws, shown alone; empty for those shown at first.
    status : str
        How what comes out compares: ``=`` as printed, ``≠`` differs, ``+`` beyond the paper,
        ``▷`` has to be run, as an experiment or on files of the user's own; ``?`` can't be
        reproduced; empty where the paper prints nothing to compare with.
    verdict : str
        That in at most 28 letters.
    """

    key: str
    name: str
    about: str
    values: tuple[tuple[str, Value], ...] = ()
    quantity: str = ""
    sweep: Sweep | None = None
    published: str = ""
    computed: str = ""
    users: int | None = None
    error_over: str = ""
    judged_on: str = ""
    curves: tuple[str, ...] = ()
    status: Status = ""
    verdict: str = ""


def sample_of(chosen: Preset, selection: Selection) -> Selection:
    """Return a selection with the sample of users that a preset asks for, if it asks for one."""
    if chosen.users is None:
        return selection
    return replace(selection, users=chosen.users, share=None, data_seed=0)


Numbers = Mapping[str, float]
Judge = Callable[[Numbers], tuple[Status, str]]
"""Function from a preset's numbers to the sign and the text of its verdict."""


@cache
def _stored_numbers() -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float | str]] = json.loads(resource_bytes("verdicts.json"))
    # JSON has no infinity: it is stored as a string.
    return {key: {k: float(v) for k, v in row.items()} for key, row in result.items()}


def preset_numbers(study: str, key: str) -> Numbers:
    """Return the stored numbers of a preset.

    Raises
    ------
    KeyError
        If there are none.
    """
    return _stored_numbers()[f"{study}/{key}"]


def with_verdicts(
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
            status, verdict = judges[item.key](preset_numbers(study, item.key))
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
