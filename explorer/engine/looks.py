"""What of a session is about looking: scales and hidden curves, pinned curves.

All of it is kept with the session and undone with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.studies.model import Fidelity, Request, Scale, Study, quantity
from explorer.studies.registry import get_study

MOST_PINS = 8
"""Pins of one plot: more could not be told apart."""

Subject = tuple[str, str]
"""Ids of a study and of one of its quantities."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one quantity of one study is looked at."""

    y_log: bool
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pin:
    """Curves that stay for reference while the sliders move on: the question they answer.

    Attributes
    ----------
    request : Request
        Without selection; its x axis is widened or narrowed with the plot's.
    hidden : frozenset of str
        Keys of curves that were not shown, and are not pinned.
    """

    request: Request
    hidden: frozenset[str] = frozenset()

    @property
    def subject(self) -> Subject:
        """What it can be drawn with, apart from the x axis."""
        return (self.request.study, self.request.quantity)

    def on_axis_of(self, request: Request) -> Request | None:
        """Return what to ask so that the curves lie in a plot; None if its axes are others."""
        if self.subject != (request.study, request.quantity):
            return None
        mine, shown = self.request.sweep, request.sweep
        if mine is None or shown is None or mine.key != shown.key:
            return None
        selection = request.selection
        return replace(self.request, sweep=shown, selection=selection, fidelity=Fidelity.FULL)


def first_look(study: Study, quantity_key: str) -> Look:
    """Return how a quantity is looked at before anybody chose."""
    return Look(y_log=quantity(study, quantity_key).scale is Scale.LOG)


def looks_to_list(looks: Mapping[Subject, Look]) -> list[dict[str, Any]]:
    """Return looks as JSON values."""
    return [
        {"study": study, "quantity": key, "y_log": look.y_log, "hidden": sorted(look.hidden)}
        for (study, key), look in looks.items()
    ]


def looks_from_list(raw: object) -> dict[Subject, Look]:
    """Read looks back, leaving out what can't be read."""
    found: dict[Subject, Look] = {}
    for item in raw if isinstance(raw, list) else ():
        try:
            study = get_study(str(item["study"]))
            key = quantity(study, str(item["quantity"])).key
            look = Look(bool(item["y_log"]), _keys(item["hidden"]))
        except (ValueError, TypeError, KeyError):
            continue
        found[study.id, key] = look
    return found


def pins_to_list(pins: Sequence[Pin]) -> list[dict[str, Any]]:
    """Return pins as JSON values."""
    from explorer.engine.recipe import Recipe

    return [{"recipe": Recipe(pin.request).to_dict(), "hidden": sorted(pin.hidden)} for pin in pins]


def pins_from_list(raw: object) -> tuple[Pin, ...]:
    """Read pins back, leaving out what can't be followed any more."""
    from explorer.engine.recipe import RecipeError, recipe_from_dict

    found: list[Pin] = []
    for item in raw if isinstance(raw, list | tuple) else ():
        try:
            request = recipe_from_dict(item["recipe"]).request
            pin = Pin(replace(request, selection=None), _keys(item["hidden"]))
        except (RecipeError, TypeError, KeyError, ValueError):
            continue
        if pin not in found and sum(p.subject == pin.subject for p in found) < MOST_PINS:
            found.append(pin)
    return tuple(found)


def _keys(raw: object) -> frozenset[str]:
    if not isinstance(raw, list | tuple) or not all(isinstance(key, str) for key in raw):
        raise ValueError("not a list of keys")
    return frozenset(raw)
