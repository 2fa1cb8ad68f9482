"""Interface of studies: parameters, requests, results and the base class `Study`.

A study declares its parameters once; sliders, command-line options, recipes, session files and
tests are made from that declaration. A study answers a frozen `Request` by yielding `Result`s,
each better than the one before (coarse first, exact last); whoever runs it may stop listening
after any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

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
from explorer.studies.base.plots import (
    MAX_DEFAULT_CURVES,
    MAX_SLIDERS,
    Claim,
    ClaimText,
    Plot,
    curve_colours,
    short_names,
)
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

    def checkins_of_file(self, value: str, *, public: bool = False) -> Any:
        """Return the `explorer.checkins` data set in a file that is the value of a parameter.

        Its columns must be certain; those of time, which are not used, are guessed. So is that of
        people if the file is `public`, since nobody in it is protected. It stays open and is not to
        be closed.

        Raises
        ------
        LookupError
            If the file is not open.
        ValueError
            If it holds no check-ins, or a question about it is open; the message says what to do.
        """

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value cached under a hashable key; compute and cache it if there is none."""


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


class Study(ABC):
    """A question with parameters, answered by curves or maps.

    Instances are stateless; everything an answer depends on is in the request. Name,
    question and workspace are in its entry in `explorer.studies.catalog`.
    """

    id: ClassVar[str]
    references: ClassVar[tuple[Reference, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    plots: ClassVar[tuple[Plot, ...]] = ()
    """Declares quantities, claims and short names, which are derived from it. The plot of a map has
    no key: it stands for its sliders and its headline."""
    quantities: ClassVar[tuple[Quantity, ...]] = ()
    needs_data: ClassVar[bool] = False
    page: ClassVar[Page | None] = None
    presets: ClassVar[tuple[Preset, ...]] = ()
    claims: ClassVar[Mapping[str, Claim]] = MappingProxyType({})
    """Bounds that may be claimed, by quantity."""
    simulated: ClassVar[str] = ""
    """Release id of what users would have to draw themselves, or is drawn inexactly; else empty."""
    short_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Names of at most 26 letters for curves, by key, or by label if several go with a key; of
    others the label stands for it."""

    colours: ClassVar[Mapping[tuple[str, str], int]] = MappingProxyType({})
    """Places in the palette, by key of the quantity and name of the curve."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "plots" not in cls.__dict__:
            return
        cls.colours = curve_colours(cls.plots)
        cls.quantities = tuple(plot.quantity for plot in cls.plots if plot.quantity.key)
        cls.claims = {p.quantity.key: claim for p in cls.plots if (claim := p.claim) is not None}
        cls.short_names = short_names(cls.plots)

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

    def plot(self, quantity_key: str) -> Plot | None:
        """Return the plot of a quantity; None if none is declared."""
        return next((p for p in self.plots if p.quantity.key == quantity_key), None)

    def plot_defaults(self, quantity_key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the keys of the sliders and of the curves shown by default for a quantity.

        Without a plot these are the first relevant parameters and the first claimable curves.
        """
        plot = self.plot(quantity_key)
        if plot is not None:
            return plot.sliders, plot.primary
        values = {p.key: p.default for p in self.parameters}
        sliders = [
            p.key
            for p in self.parameters
            if p.in_panel and not p.group and relevant(p, values, quantity_key)
        ]
        claim = self.claims.get(quantity_key)
        return tuple(sliders[:MAX_SLIDERS]), claim.among[:MAX_DEFAULT_CURVES] if claim else ()

    @cached_property
    def plain_request(self) -> Request:
        """The request of all defaults; asked for many times while a slider moves."""
        first = self.quantities[0] if self.quantities else None
        sweep = None
        if first is not None and first.sweeps:
            sweep = default_sweep(self, first.sweeps[0])
        return Request(
            study=self.id,
            values=_parsed(self, {}),
            quantity=first.key if first else "",
            sweep=sweep,
        )

    def default_sliders(self, request: Request) -> tuple[str, ...]:
        """Return the parameters shown by default: relevant ones, and that of the x axis."""
        values, (keys, _) = dict(request.values), self.plot_defaults(request.quantity)
        swept = "" if request.sweep is None else request.sweep.key
        if swept and swept not in keys and parameter(self, swept).in_panel:
            keys = (*keys[: MAX_SLIDERS - 1], swept)
        return tuple(k for k in keys if relevant(parameter(self, k), values, request.quantity))

    def default_curves(self, request: Request, there: Iterable[str]) -> tuple[str, ...]:
        """Return the curves drawn by default, of those that an answer has, in order of rank."""
        there = list(there)
        _, declared = self.plot_defaults(request.quantity)
        return tuple(k for k in declared if k in there) or tuple(there[:MAX_DEFAULT_CURVES])

    def short_name(self, key: str, label: str) -> str:
        """Return the name of a curve for narrow places; the label if it has no shorter one."""
        return self.short_names.get(label) or self.short_names.get(key, label)

    def remark_on(self, quantity_key: str, key: str) -> str:
        """Return the remark on a curve (`Curve.remark`); empty for none."""
        plot = self.plot(quantity_key)
        return next((c.remark for c in plot.curves if c.key == key), "") if plot else ""

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
        """Yield answers, each better than the one before, the last one `Result.final`.

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
    if not values:
        return study.plain_request
    for key in values:
        parameter(study, key)
    return replace(study.plain_request, values=_parsed(study, values))


def _parsed(study: Study, values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple((p.key, p.parse(values.get(p.key, p.default))) for p in study.parameters)


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
