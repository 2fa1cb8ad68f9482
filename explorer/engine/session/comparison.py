"""Comparison table: numbers of several studies, each with its request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.engine.session import schema
from explorer.engine.session.recipe import Recipe, request_from_dict
from explorer.engine.session.schema import read, read_list
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import (
    Fidelity,
    Mark,
    Parameter,
    Request,
    Result,
    Sweep,
    Value,
    parameter,
    relevant,
)
from explorer.studies.registry import get_study

MAX_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: the number of a study's answer at the sliders' values.

    Attributes
    ----------
    request : Request
        Without selection. Of a curve that has no readout it is swept over the slider's value
        alone, so that the number is the study's own and not read off between two points.
    key : str
        Of the readout or the curve.
    claimed : bool
        Whether it was claimed when it was added; ignored when rows are compared.
    """

    request: Request
    key: str
    claimed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Common:
    """A parameter that some of the rows' studies share by its key.

    Attributes
    ----------
    parameter : Parameter
        As the first of them declares it.
    rows : int
        How many rows it matters to.
    value : float or int
        Of the first of them.
    """

    parameter: Parameter
    rows: int
    value: float | int


def entries_of(result: Result, hidden: Collection[str] = (), claim: str = "") -> tuple[Entry, ...]:
    """Return a row for each number of an answer that has a role, but those of hidden curves.

    Curves without a number of their own follow, if a slider's parameter is on the x axis. What is
    claimed (`claim` is the user's, empty for the tightest valid bound) comes first.
    """
    told_first = evaluate_claim(result, claim)
    bare = replace(result.request, selection=None, fidelity=Fidelity.FULL)
    readout_keys = {r.key for r in result.readouts}
    entries = [
        Entry(bare, r.key) for r in result.readouts if r.role is not None and r.key not in hidden
    ]
    swept = _swept_here(bare)
    if swept is not None:
        entries += [
            Entry(swept, s.key)
            for s in result.series
            if s.mark is Mark.LINE
            and not s.pin
            and s.key not in readout_keys
            and s.key not in hidden
        ]
    first = told_first.series.key if told_first is not None else ""
    marked = [replace(entry, claimed=entry.key == first) for entry in entries]
    return tuple(sorted(marked, key=lambda entry: not entry.claimed))


def _swept_here(request: Request) -> Request | None:
    """Return a question swept over the slider's value alone; None if its axis has no slider."""
    sweep = request.sweep
    if sweep is None:
        return None
    p = parameter(get_study(request.study), sweep.key)
    if p.axis_only or not p.numeric:
        return None
    value = float(request[sweep.key])
    return replace(request, sweep=Sweep(sweep.key, value, value, 1, p.scale))


def with_entries(present: Sequence[Entry], more: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return rows with others below them, each once.

    Raises
    ------
    ValueError
        If there would be too many.
    """
    together = tuple(dict.fromkeys((*present, *more)))
    if len(together) > MAX_ENTRIES:
        raise ValueError(f"a comparison holds at most {MAX_ENTRIES} rows; remove some first")
    return together


def added_words(more: int) -> str:
    """Return a sentence with the count of added numbers."""
    if not more:
        return "The comparison has these numbers already."
    return f"{more} number{'' if more == 1 else 's'} added to the comparison (Compare tab)."


def common_parameters(entries: Sequence[Entry]) -> list[Common]:
    """Return the numeric parameters of the rows' studies that matter, most shared first."""
    parameters: dict[str, Common] = {}
    for entry in entries:
        for p in _settable(entry):
            common = parameters.get(p.key)
            if common is None:
                parameters[p.key] = Common(p, 1, entry.request[p.key])
            else:
                parameters[p.key] = replace(common, rows=common.rows + 1)
    return sorted(parameters.values(), key=lambda c: -c.rows)


def set_for_all(
    entries: Sequence[Entry], key: str, value: Value
) -> tuple[tuple[Entry, ...], list[str]]:
    """Set a parameter in every row whose study uses it.

    Returns
    -------
    tuple of Entry
        All rows; one that can't take the value stays as it was.
    list of str
        Why, for each study that can't.
    """
    changed: list[Entry] = []
    refused: dict[str, str] = {}
    for entry in entries:
        if any(p.key == key for p in _settable(entry)):
            study = get_study(entry.request.study)
            try:
                parsed = parameter(study, key).parse(value)
            except ValueError as error:
                refused[study.id] = f"{study.name}: {error}"
            else:
                request = entry.request.with_value(key, parsed)
                sweep = request.sweep
                if sweep is not None and sweep.key == key and sweep.points == 1:
                    request = _swept_here(request) or request
                entry = replace(entry, request=request)
        changed.append(entry)
    return tuple(dict.fromkeys(changed)), list(refused.values())


def move_rows(entries: Sequence[Entry], rows: Sequence[int], by: int) -> tuple[Entry, ...]:
    """Return the rows with some moved one position up (−1) or down (1), where possible."""
    order, selected = list(entries), {entries[row] for row in rows}
    for row in sorted(rows, reverse=by > 0):
        to = row + by
        if 0 <= to < len(order) and order[to] not in selected:
            order[row], order[to] = order[to], order[row]
    return tuple(order)


def _settable(entry: Entry) -> list[Parameter]:
    values = dict(entry.request.values)
    return [
        p
        for p in get_study(entry.request.study).parameters
        if p.numeric and not p.axis_only and relevant(p, values, entry.request.quantity)
    ]


def entries_to_list(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return rows as JSON values."""
    return [
        {"recipe": Recipe(e.request).to_dict(), "readout": e.key}
        | ({"claimed": True} if e.claimed else {})
        for e in entries
    ]


def entries_from_list(raw: Sequence[Any], left_out: list[str]) -> tuple[Entry, ...]:
    """Read rows from JSON values; `left_out` gets a sentence for each unreadable one."""

    def take(item: Any, where: str) -> Entry:
        entry = read(item, schema.Entry, where)
        request = request_from_dict(item["recipe"], f"{where}.recipe")
        return Entry(replace(request, selection=None), entry.readout, entry.claimed)

    return tuple(dict.fromkeys(read_list(raw, take, "comparison", left_out, MAX_ENTRIES)))
