"""View settings of plots: scales, hidden curves, claims and pinned curves.

They are part of the session and of its undo history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.engine.session import schema
from explorer.engine.session.recipe import MAX_PINNED, Recipe, request_from_dict
from explorer.engine.session.schema import plain, read, read_list
from explorer.studies.base.plots import MAX_DEFAULT_CURVES
from explorer.studies.base.result import IMPORTED_PREFIX
from explorer.studies.base.study import Fidelity, Request, Scale, Study, quantity
from explorer.studies.registry import get_study

MAX_PINS = MAX_PINNED
MAX_READ = 400
"""Pins that a file may hold."""
MAX_LOOKS = 400

Subject = tuple[str, str]
"""Ids of a study and of one of its quantities."""


@dataclass(frozen=True, slots=True)
class PlotView:
    """View settings of one plot: scale, hidden curves and the claimed curve.

    Attributes
    ----------
    y_log : bool
    hidden : frozenset of str
        Keys of curves that the user hid.
    claim : str
        Empty for the tightest valid bound.
    shown : frozenset of str
        Keys of curves that the user added to those drawn by default.
    preset : str
        Key of the preset that was chosen last, whatever was changed since; empty for none. The
        curves that the paper draws take the place of those drawn at once.
    every : bool
        Whether all curves but the hidden ones are drawn: a recipe names the hidden ones.
    """

    y_log: bool
    hidden: frozenset[str] = frozenset()
    claim: str = ""
    shown: frozenset[str] = frozenset()
    every: bool = False
    preset: str = ""

    def ticked(self, key: str, shown: bool) -> PlotView:
        """Return the same view with a curve shown or hidden."""
        if shown:
            return replace(self, hidden=self.hidden - {key}, shown=self.shown | {key})
        return replace(self, hidden=self.hidden | {key}, shown=self.shown - {key})


@dataclass(frozen=True, slots=True)
class Pin:
    """Pinned curves: the request whose curves remain as a reference.

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
        """Key of the plots it can be drawn in, apart from the x axis."""
        return (self.request.study, self.request.quantity)

    def on_axis_of(self, request: Request) -> Request | None:
        """Return the request that draws the curves in a plot; None if its axes differ."""
        if self.subject != (request.study, request.quantity):
            return None
        mine, shown = self.request.sweep, request.sweep
        if mine is None or shown is None or mine.key != shown.key:
            return None
        selection = request.selection
        return replace(self.request, sweep=shown, selection=selection, fidelity=Fidelity.FULL)


def default_plot_view(study: Study, quantity_key: str) -> PlotView:
    """Return the default view of a quantity; a map has the key "" and no view."""
    logarithmic = bool(quantity_key) and quantity(study, quantity_key).scale is Scale.LOG
    return PlotView(y_log=logarithmic)


def preset_curves(look: PlotView, request: Request) -> tuple[str, ...]:
    """Return the curves of the paper's figure for the last preset; empty for none."""
    presets = get_study(request.study).presets if look.preset else ()
    return next((p.curves for p in presets if p.key == look.preset), ())


def first_keys(
    look: PlotView, request: Request, keys: Iterable[str], claimed: str = ""
) -> tuple[str, ...]:
    """Return the keys of the curves drawn by default.

    Of a preset those that the paper draws; else the first few, the claimed among them. The user's
    own from files always are.
    """
    keys = list(keys)
    own = tuple(key for key in keys if key.startswith(IMPORTED_PREFIX))
    return _first_of_study(look, request, [k for k in keys if k not in own], claimed) + own


def _first_of_study(
    look: PlotView, request: Request, keys: list[str], claimed: str
) -> tuple[str, ...]:
    if papers := [key for key in preset_curves(look, request) if key in keys]:
        return tuple(papers)
    first = get_study(request.study).default_curves(request, keys)
    return first if not claimed or claimed in first else (*first[: MAX_DEFAULT_CURVES - 1], claimed)


def hidden_keys(
    look: PlotView, request: Request, keys: Iterable[str], claimed: str = ""
) -> frozenset[str]:
    """Return the keys of the curves not drawn: hidden ones, and those not shown by default.

    Parameters
    ----------
    look : PlotView
    request : Request
    keys : iterable of str
        Of the curves that are there.
    claimed : str
        Of the curve that is claimed; empty for none.
    """
    keys = list(keys)
    if look.every:
        return look.hidden
    first = first_keys(look, request, keys, claimed)
    return look.hidden | (set(keys) - set(first) - look.shown)


def looks_to_list(looks: Mapping[Subject, PlotView]) -> list[dict[str, Any]]:
    """Return views as JSON values."""
    return [
        plain(
            schema.PlotView(
                study,
                key,
                look.y_log,
                sorted(look.hidden),
                look.claim,
                shown=sorted(look.shown),
                every=look.every,
                preset=look.preset,
            )
        )
        for (study, key), look in looks.items()
    ]


def looks_from_list(raw: Sequence[Any], left_out: list[str]) -> dict[Subject, PlotView]:
    """Read views from JSON values; `left_out` gets a sentence for each unreadable one."""

    def take(item: Any, where: str) -> tuple[Subject, PlotView]:
        look = read(item, schema.PlotView, where)
        try:
            subject = (look.study, quantity(get_study(look.study), look.quantity).key)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        hidden, shown = frozenset(look.hidden), frozenset(look.shown)
        return subject, PlotView(look.y_log, hidden, look.claim, shown, look.every, look.preset)

    return dict(read_list(raw, take, "looks", left_out, MAX_LOOKS))


def pins_to_list(pins: Sequence[Pin]) -> list[dict[str, Any]]:
    """Return pins as JSON values."""
    return [{"recipe": Recipe(pin.request).to_dict(), "hidden": sorted(pin.hidden)} for pin in pins]


def pins_from_list(raw: Sequence[Any], left_out: list[str]) -> tuple[Pin, ...]:
    """Read pins from JSON values; `left_out` gets a sentence for each unreadable one."""

    def take(item: Any, where: str) -> Pin:
        pin = read(item, schema.Pin, where)
        request = request_from_dict(item["recipe"], f"{where}.recipe")
        return Pin(replace(request, selection=None), frozenset(pin.hidden))

    pins: list[Pin] = []
    for place, pin in enumerate(read_list(raw, take, "pins", left_out, MAX_READ)):
        if pin in pins:
            continue
        if sum(p.subject == pin.subject for p in pins) >= MAX_PINS:
            left_out.append(f"pins[{place}]: more than {MAX_PINS} of one plot")
            continue
        pins.append(pin)
    return tuple(pins)
