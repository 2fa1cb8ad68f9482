"""Interface of studies: parameters, requests, results and the base class `Study`.

A study declares its parameters once; sliders, command-line options, recipes, session files and
tests are made from that declaration. A study answers a frozen `Request` by yielding `Result`s,
each better than the one before (coarse first, exact last); whoever runs it may stop listening
after any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol

from explorer.geography.region import Region
from explorer.privacy.core.bound import Reference
from explorer.studies.base.help_page import Page, Preset
from explorer.studies.base.parameters import (
    Fidelity,
    Kind,
    Parameter,
    Quantity,
    Scale,
    Statistic,
    Sweep,
    Value,
    relevant,
    with_unit,
)
from explorer.studies.base.phrases import Headline
from explorer.studies.base.request import Origin, Request, Selection, all_sides
from explorer.studies.base.result import (
    Arrow,
    Condition,
    Diagram,
    Guarantee,
    Handle,
    Mark,
    Node,
    Overlay,
    Result,
    ScalarResult,
    Series,
    SpacePicture,
    Surface,
    Table,
)
from explorer.studies.catalog import study_info

__all__ = [
    "Advice",
    "Arrow",
    "Cancelled",
    "Claim",
    "ClaimText",
    "Condition",
    "Context",
    "Diagram",
    "Face",
    "Fidelity",
    "Guarantee",
    "Handle",
    "Headline",
    "Kind",
    "Mark",
    "NoWorker",
    "Node",
    "Origin",
    "Overlay",
    "Page",
    "Parameter",
    "Preset",
    "Quantity",
    "Region",
    "Request",
    "Result",
    "ScalarResult",
    "Scale",
    "Selection",
    "Series",
    "SpacePicture",
    "Statistic",
    "Study",
    "Surface",
    "Sweep",
    "Table",
    "Tasks",
    "Value",
    "all_sides",
    "default_request",
    "default_sweep",
    "parameter",
    "preset",
    "preset_request",
    "quantity",
    "relevant",
    "with_unit",
]


class Cancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """The work is no longer wanted."""


class NoWorker(RuntimeError):  # noqa: N818  (told to users as what there is not)
    """The system lets no worker process start; the message says why and what to do."""


Tasks = Callable[[int], Sequence[Any]]
"""Function from the number of tasks that run at the same time to the tasks."""


class Context(Protocol):
    """Services of the runtime for a running study: cancellation, workers, files, caching."""

    def check(self) -> None:
        """Raise `Cancelled` if the answer is no longer wanted."""

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run a module-level function in a worker process and wait, raising `Cancelled` if told to.

        For what may not run in the window's process: cvxpy, numba, seconds of pure Python.

        Raises
        ------
        NoWorker
            If there can be no such process.
        """

    @property
    def workers(self) -> int:
        """How many tasks of `map_in_workers` run at the same time."""

    def map_in_workers(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Yield a task's number and the function of it, from worker processes or a cluster.

        In the order in which they come. Function and tasks are as in `run_in_worker`, and each is
        short: what runs on a cluster runs to its end. Tasks that do not depend on one another.

        Raises
        ------
        NoWorker
            If there can be no such process, or the cluster can't be used.
        """

    def map_on_cluster(
        self, function: Callable[[Any], Any], tasks: Tasks, places: Sequence[Path]
    ) -> Iterator[tuple[int, Any]] | None:
        """Do as `map_in_workers`, on a cluster alone; None if no cluster can run it.

        For what is quick here but for a great many rows: parts of check-ins, by where they are.

        Parameters
        ----------
        function : callable
        tasks : callable
            From how many run at the same time to the tasks.
        places : sequence of Path
            Files and folders that the tasks read; the user said that they may, and all machines of
            the cluster see them, or the answer is None.
        """

    def checkins(self, selection: Selection) -> Any:
        """Return the open `explorer.checkins` data set with the selection's fingerprint.

        Raises
        ------
        LookupError
            If no such data set is open; the message says which file to open.
        """

    def file(self, value: str) -> Path:
        """Return the path of the file (or folder) that is the value of a `Kind.FILE` parameter.

        Raises
        ------
        LookupError
            If it is not open; the message says which file to open.
        """

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value cached under a hashable key; compute and cache it if there is none."""


@dataclass(frozen=True, slots=True)
class ClaimText:
    """Meaning of a claimed number.

    Attributes
    ----------
    number : str
        ``ε ≤ 0.2078``, rounded to its safe side.
    lines : tuple of str
        The best that an observer can do, then the basis of that statement. Empty where the claim is
        not about privacy.
    promise : str
        The guarantee if a record is replaced; empty where the claim is not about privacy.
    pairs : tuple of (float, float)
        As of `Guarantee`; empty where the claim is not about privacy.
    """

    number: str
    lines: tuple[str, ...] = ()
    promise: str = ""
    pairs: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """The bounds that may be claimed of one quantity of a study.

    Attributes
    ----------
    among : tuple of str
        Keys of the series that may be claimed; of equal ones the first is.
    text : callable
        From an answer, the claimed series and its value at the slider to a `ClaimText`.
    kind : str
        ``bounds`` on one mechanism, or ``mechanisms`` under one promise.
    better : str
        Whether ``low`` (upper bounds) or ``high`` (lower ones) numbers are better.
    solves : str
        The parameter that *Solve* offers first; empty for the one on the x axis.
    besides : mapping of str to str
        Why a bound that is drawn beside them is never claimed, by the key of its series: it is of
        another mechanism, or under another promise.
    """

    among: tuple[str, ...]
    text: Callable[[Result, Series, float], ClaimText]
    kind: Literal["bounds", "mechanisms"] = "bounds"
    better: Literal["low", "high"] = "low"
    solves: str = ""
    besides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Advice:
    """A value of a parameter that is recommended.

    Attributes
    ----------
    key : str
        The parameter.
    value : Value
    reason : str
        Shown where another value is set.
    caution : str
        A warning shown with every value; empty without one.
    """

    key: str
    value: Value
    reason: str
    caution: str = ""


@dataclass(frozen=True, slots=True)
class Face:
    """Sliders, curves and headline shown by default for one quantity.

    Attributes
    ----------
    essential : tuple of str
        Keys of the parameters that have a row at once, three or four.
    primary : tuple of str
        Keys of the curves that are drawn at once, three to five.
    answer : callable or None
        From a result and what is claimed of it (`ClaimedBound` or None) to the answer; None for the
        claim's own words.
    """

    essential: tuple[str, ...]
    primary: tuple[str, ...]
    answer: Callable[[Result, Any], Headline | None] | None = None


class Study(ABC):
    """A question with parameters, answered by curves or maps.

    Instances are stateless; everything an answer depends on is in the request. Name,
    question and workspace are in its entry in `explorer.studies.catalog`.
    """

    id: ClassVar[str]
    references: ClassVar[tuple[Reference, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    quantities: ClassVar[tuple[Quantity, ...]] = ()
    needs_data: ClassVar[bool] = False
    page: ClassVar[Page | None] = None
    presets: ClassVar[tuple[Preset, ...]] = ()
    claims: ClassVar[Mapping[str, Claim]] = MappingProxyType({})
    """Bounds that may be claimed, by quantity."""
    faces: ClassVar[Mapping[str, Face]] = MappingProxyType({})
    """Sliders and curves shown by default, by quantity (`explorer.studies.base.face`)."""
    simulated: ClassVar[str] = ""
    """Release id of what users would have to draw themselves, or is drawn inexactly; else empty."""
    short_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Names of at most 26 letters for curves, by key; of others the label stands for it."""

    @property
    def name(self) -> str:
        """As in the catalog."""
        return study_info(self.id).name

    @property
    def question(self) -> str:
        """As in the catalog."""
        return study_info(self.id).question

    @property
    def workspace(self) -> str:
        """As in the catalog."""
        return study_info(self.id).workspace

    def advice(self, request: Request) -> Advice | None:
        """Return a recommended value, chosen by public numbers alone; None without one."""
        return None

    def simulation_id(self, values: Mapping[str, Value]) -> str:
        """Return the release id of what is only simulated with these values; else an empty text."""
        return self.simulated

    def used_values(self, values: Mapping[str, Value]) -> Mapping[str, Value]:
        """Return values as they are used, where one limits another; they are shown beside results.

        Values of some parameters may be missing, before and after.
        """
        return values

    @abstractmethod
    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield answers, each better than the one before, the last with ``complete=True``.

        Raises
        ------
        ValueError
            If the quantity can't be swept over what is asked, no check-ins are selected where they
            are needed, or a file is no good: the message names file, line and field.
        LookupError
            If a file or the selected check-ins are not open.
        """


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


def preset(study: Study, key: str) -> Preset:
    """Return a study's preset by key; ValueError names those there are."""
    for item in study.presets:
        if item.key == key:
            return item
    there = ", ".join(p.key for p in study.presets) or "none"
    raise ValueError(f"{key!r} is not a preset of {study.id}; there are {there}")


def preset_request(study: Study, chosen: Preset) -> Request:
    """Return the request of a preset: its values, all others at their defaults."""
    request = default_request(study, **dict(chosen.values))
    if chosen.quantity:
        sweeps = quantity(study, chosen.quantity).sweeps
        swept = default_sweep(study, sweeps[0]) if sweeps else None
        request = replace(request, quantity=chosen.quantity, sweep=swept)
    return request if chosen.sweep is None else replace(request, sweep=chosen.sweep)
