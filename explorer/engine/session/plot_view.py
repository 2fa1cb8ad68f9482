"""What of a session is about looking: scales and hidden curves, pinned curves.

All of it is kept with the session and undone with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.engine.session import wire
from explorer.engine.session.recipe import MAX_PINNED, Recipe, request_from_dict
from explorer.engine.session.wire_reading import plain, read, read_list
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
    """How one quantity of one study is looked at, and which of its curves is claimed.

    An empty `claim` is the tightest valid bound. `preset` is the key of the preset that was chosen
    last, whatever was changed since; empty for none. Of it the curves that the paper draws are
    drawn, and those in `shown`.
    """

    y_log: bool
    hidden: frozenset[str] = frozenset()
    claim: str = ""
    preset: str = ""
    shown: frozenset[str] = frozenset()

    def ticked(self, key: str, shown: bool) -> "PlotView":
        """Return the same look with a curve shown or hidden."""
        if shown:
            return replace(self, hidden=self.hidden - {key}, shown=self.shown | {key})
        return replace(self, hidden=self.hidden | {key}, shown=self.shown - {key})


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


def default_plot_view(study: Study, quantity_key: str) -> PlotView:
    """Return how a quantity is looked at before anybody chose."""
    return PlotView(y_log=quantity(study, quantity_key).scale is Scale.LOG)


def preset_curves(look: PlotView, request: Request) -> tuple[str, ...]:
    """Return the curves that the paper draws of the preset chosen last; empty for none."""
    presets = get_study(request.study).presets if look.preset else ()
    return next((p.curves for p in presets if p.key == look.preset), ())


def hidden_keys(look: PlotView, request: Request, keys: Iterable[str]) -> frozenset[str]:
    """Return which of the curves that are there, by their keys, are not drawn."""
    curves = preset_curves(look, request)
    others = set(keys) - set(curves) - look.shown if curves else set()
    return look.hidden | others


def looks_to_list(looks: Mapping[Subject, PlotView]) -> list[dict[str, Any]]:
    """Return looks as JSON values."""
    return [
        plain(
            wire.PlotView(
                study, key, look.y_log, sorted(look.hidden), look.claim, look.preset,
                sorted(look.shown),
            )
        )
        for (study, key), look in looks.items()
    ]  # fmt: skip


def looks_from_list(raw: Sequence[Any], left_out: list[str]) -> dict[Subject, PlotView]:
    """Read looks back; `left_out` gets a sentence for each that can't be read."""

    def take(item: Any, where: str) -> tuple[Subject, PlotView]:
        look = read(item, wire.PlotView, where)
        try:
            subject = (look.study, quantity(get_study(look.study), look.quantity).key)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        hidden, shown = frozenset(look.hidden), frozenset(look.shown)
        return subject, PlotView(look.y_log, hidden, look.claim, look.preset, shown)

    return dict(read_list(raw, take, "looks", left_out, MAX_LOOKS))


def pins_to_list(pins: Sequence[Pin]) -> list[dict[str, Any]]:
    """Return pins as JSON values."""
    return [{"recipe": Recipe(pin.request).to_dict(), "hidden": sorted(pin.hidden)} for pin in pins]


def pins_from_list(raw: Sequence[Any], left_out: list[str]) -> tuple[Pin, ...]:
    """Read pins back; `left_out` gets a sentence for each that can't be followed any more."""

    def take(item: Any, where: str) -> Pin:
        pin = read(item, wire.Pin, where)
        request = request_from_dict(item["recipe"], f"{where}.recipe")
        return Pin(replace(request, selection=None), frozenset(pin.hidden))

    found: list[Pin] = []
    for place, pin in enumerate(read_list(raw, take, "pins", left_out, MAX_READ)):
        if pin in found:
            continue
        if sum(p.subject == pin.subject for p in found) >= MAX_PINS:
            left_out.append(f"pins[{place}]: more than {MAX_PINS} of one plot")
            continue
        found.append(pin)
    return tuple(found)
