"""The words every study is written in: parameters, requests, results.

A study declares its parameters once; sliders, command-line options, recipes, session files and
tests are made from that declaration. A study answers a frozen `Request` by yielding `Result`s,
each better than the one before (coarse first, exact last); whoever runs it may stop listening
after any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

from explorer.geography.region import Region
from explorer.privacy.core.bound import Reference
from explorer.studies.base.parameters import (
    Fidelity,
    Kind,
    Parameter,
    Quantity,
    Scale,
    Sweep,
    Value,
    relevant,
    with_unit,
)
from explorer.studies.base.request import Origin, Request, Selection, all_sides
from explorer.studies.base.result import (
    Condition,
    Guarantee,
    Mark,
    Readout,
    Result,
    Series,
    SpacePicture,
    Surface,
    Table,
)

__all__ = [
    "Cancelled",
    "Condition",
    "Context",
    "Fidelity",
    "Guarantee",
    "Kind",
    "Mark",
    "NoWorker",
    "Origin",
    "Parameter",
    "Quantity",
    "Readout",
    "Region",
    "Request",
    "Result",
    "Scale",
    "Selection",
    "Series",
    "SpacePicture",
    "Study",
    "Surface",
    "Sweep",
    "Table",
    "Value",
    "all_sides",
    "default_request",
    "default_sweep",
    "parameter",
    "quantity",
    "relevant",
    "with_unit",
]


class Cancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """The work is no longer wanted."""


class NoWorker(RuntimeError):  # noqa: N818  (told to users as what there is not)
    """The system lets no worker process start; the message says why and what to do."""


class Context(Protocol):
    """What a running study may ask of whoever runs it."""

    def check(self) -> None:
        """Raise `Cancelled` if the answer is no longer wanted."""

    def heavy(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run a module-level function in a worker process and wait, raising `Cancelled` if told to.

        For what may not run in the window's process: cvxpy, numba, seconds of pure Python.

        Raises
        ------
        NoWorker
            If there can be no such process.
        """

    def checkins(self, selection: Selection) -> Any:
        """Return the open `explorer.checkins` data set with the selection's fingerprint.

        Raises
        ------
        LookupError
            If no such data set is open; the message says which file to open.
        """

    def file(self, value: str) -> Path:
        """Return where the file (or folder) of a `Kind.FILE` parameter's value is.

        Raises
        ------
        LookupError
            If it is not open; the message says which file to open.
        """

    def memo(self, key: object, make: Callable[[], Any]) -> Any:
        """Return a value computed earlier under this hashable key, or make and keep it."""


class Study(Protocol):
    """A question with parameters, answered by curves or maps.

    Instances are stateless; everything an answer depends on is in the request. A study may also
    have a `page` (its help) and `presets`: see `explorer.studies.base.help_page`.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    question: ClassVar[str]
    workspace: ClassVar[str]
    """``"bounds"`` (curves) or ``"map"`` (surfaces)."""
    references: ClassVar[tuple[Reference, ...]]
    parameters: ClassVar[tuple[Parameter, ...]]
    quantities: ClassVar[tuple[Quantity, ...]]
    needs_data: ClassVar[bool]

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield answers, each better than the one before, the last with ``complete=True``."""


def parameter(study: Study, key: str) -> Parameter:
    """Return a study's parameter by key.

    Raises
    ------
    ValueError
        Naming the keys there are.
    """
    for item in study.parameters:
        if item.key == key:
            return item
    raise ValueError(
        f"{key!r} is not a parameter of {study.id}; it has "
        + ", ".join(p.key for p in study.parameters)
    )


def quantity(study: Study, key: str) -> Quantity:
    """Return a study's quantity by key; ValueError names those there are."""
    for item in study.quantities:
        if item.key == key:
            return item
    raise ValueError(
        f"{key!r} is not a quantity of {study.id}; it has "
        + ", ".join(q.key for q in study.quantities)
    )


def default_request(study: Study, **values: Value) -> Request:
    """Return a request with every parameter at its default, except those given."""
    for key in values:
        parameter(study, key)
    first = study.quantities[0] if study.quantities else None
    sweep = None
    if first is not None and first.sweeps:
        sweep = default_sweep(study, first.sweeps[0])
    return Request(
        study=study.id,
        values=tuple((p.key, p.parse(values.get(p.key, p.default))) for p in study.parameters),
        quantity=first.key if first else "",
        sweep=sweep,
    )


def default_sweep(study: Study, key: str, points: int = 100) -> Sweep:
    """Return a sweep over the whole range of one parameter."""
    p = parameter(study, key)
    return Sweep(key, p.low, p.high, points, p.scale)
