"""What a study says of itself in words, and the questions it comes with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.privacy.core.bound import Reference
from explorer.studies.base.parameters import Sweep, Value
from explorer.studies.base.request import Request, Selection
from explorer.studies.base.study import Study, default_request, default_sweep, quantity


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as a figure would print it.

    Attributes
    ----------
    caption : str
        What it is, in words.
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
        Paragraphs for someone who has read none of the papers: what is asked, what moves.
    assumptions : tuple of str
        What must be true for the numbers to mean what they say, one sentence each.
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
    """A figure, table or example of a paper as a question one click away.

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
    claim : str
        What the paper says comes out, with the place where it says so.
    ours : str
        What comes out here and, where it differs, why.
    users : int or None
        How many of the check-ins' users are sampled; None leaves that as it is.
    """

    key: str
    name: str
    about: str
    values: tuple[tuple[str, Value], ...] = ()
    quantity: str = ""
    sweep: Sweep | None = None
    claim: str = ""
    ours: str = ""
    users: int | None = None


def page_of(study: Study) -> Page | None:
    """Return a study's help page; None for a plug-in without one."""
    found = getattr(study, "page", None)
    return found if isinstance(found, Page) else None


def presets_of(study: Study) -> tuple[Preset, ...]:
    """Return the presets of a study; none for a plug-in without any."""
    found = getattr(study, "presets", ())
    return tuple(found)


def preset(study: Study, key: str) -> Preset:
    """Return a study's preset by key; ValueError names those there are."""
    for item in presets_of(study):
        if item.key == key:
            return item
    there = ", ".join(p.key for p in presets_of(study)) or "none"
    raise ValueError(f"{key!r} is not a preset of {study.id}; there are {there}")


def preset_request(study: Study, chosen: Preset) -> Request:
    """Return the question a preset asks: its values, all others at their defaults."""
    request = default_request(study, **dict(chosen.values))
    if chosen.quantity:
        sweeps = quantity(study, chosen.quantity).sweeps
        swept = default_sweep(study, sweeps[0]) if sweeps else None
        request = replace(request, quantity=chosen.quantity, sweep=swept)
    return request if chosen.sweep is None else replace(request, sweep=chosen.sweep)


def sampled_for(chosen: Preset, selection: Selection) -> Selection:
    """Return a selection with the sample of users that a preset asks for, if it asks for one."""
    if chosen.users is None:
        return selection
    return replace(selection, users=chosen.users, share=None, data_seed=0)
