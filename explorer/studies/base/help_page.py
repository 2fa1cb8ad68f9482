"""Help pages and presets of studies, and the verdicts of presets.

``resources/verdicts.json`` holds the numbers from which verdicts are written;
``python -m tests.studies.verdict_numbers`` computes them.
"""

from dataclasses import dataclass, replace
from typing import Literal

from explorer.privacy.core.bound import Reference
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
        Of the map: the axis over which *Which ε?* opens with error curves; empty leaves it as it
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


def sampled_for(chosen: Preset, selection: Selection) -> Selection:
    """Return a selection with the sample of users that a preset asks for, if it asks for one."""
    if chosen.users is None:
        return selection
    return replace(selection, users=chosen.users, share=None, data_seed=0)
