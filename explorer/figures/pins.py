"""Pinned curves: earlier answers drawn next to the current one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.figures.captions import parameter_text
from explorer.studies.base.study import Request, Result, Series, relevant
from explorer.studies.registry import get_study


@dataclass(frozen=True)
class PinnedAnswer:
    """The answer to a pinned request on the current x axis.

    Attributes
    ----------
    number : int
        Of the pin, from 1; determines its dashes and is part of its curves' keys.
    result : Result
    hidden : frozenset of str
        Keys of curves that are hidden, or were when the pin was created.
    """

    number: int
    result: Result
    hidden: frozenset[str] = frozenset()


def pin_label(pinned: Request, present: Request) -> str:
    """Return the label of a pin: the values that differ from the current ones.

    The parameter on the x axis and the parameters it replaces do not count.
    """
    study = get_study(pinned.study)
    swept = present.sweep.key if present.sweep is not None else ""
    known = {p.key: p for p in study.parameters}
    aside = {swept, *(known[swept].replaces if swept in known else ())}
    here, now = dict(pinned.values), dict(present.values)
    differences = [
        parameter_text(p, here[p.key])
        for p in study.parameters
        if p.key not in aside
        and not p.axis_only
        and here[p.key] != now[p.key]
        and relevant(p, here, pinned.quantity)
    ]
    if pinned.seed != present.seed:
        differences.append(f"seed {pinned.seed}")
    return "pinned: " + (", ".join(differences) or "as now")


def with_pins(result: Result, pins: Sequence[PinnedAnswer]) -> Result:
    """Return a result with the curves of pins below its own."""
    more: list[Series] = []
    for pin in pins:
        label = pin_label(pin.result.request, result.request)
        study = get_study(pin.result.request.study)
        names = [study.short_name(s.key, s.label) for s in pin.result.series]
        more += [
            replace(s, key=f"pin{pin.number}:{s.key}", label=f"{name} ({label})", pin=pin.number)
            for s, name in zip(pin.result.series, names, strict=True)
            if s.key not in pin.hidden
        ]
    return replace(result, series=result.series + tuple(more)) if more else result
