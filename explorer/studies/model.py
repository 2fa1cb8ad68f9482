"""The words every study is written in: parameters, requests, results.

A study declares its parameters once; sliders, command-line options, recipes, session files and
tests are made from that declaration. A study answers a frozen `Request` by yielding `Result`s,
each better than the one before (coarse first, exact last); whoever runs it may stop listening
after any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any, ClassVar, Protocol

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.bounds import BoolArray, FloatArray, Reference, Role

Value = float | int | str | bool


class Kind(StrEnum):
    """What a parameter's value is."""

    REAL = "real"
    INTEGER = "integer"
    CHOICE = "choice"
    FLAG = "flag"


class Scale(StrEnum):
    """How a numeric parameter is spread over a slider, a sweep or an axis."""

    LINEAR = "lin"
    LOG = "log"


class Fidelity(IntEnum):
    """How good an answer is; larger is better."""

    COARSE = 0
    FULL = 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing a user can set, declared once for window, command line, recipe and tests.

    Attributes
    ----------
    key : str
        Stable identifier: option name, recipe key (``eps0``).
    symbol : str
        What the papers write, in Unicode (``ε₀``).
    name : str
        Words for a label (``local privacy``).
    help : str
        One or two plain sentences: what it is, its unit, which way is more private.
    kind : Kind
    default : float, int, str or bool
    low, high : float
        Ends of the domain (numeric kinds), both included.
    scale : Scale
    unit : str
        Empty if the parameter has none.
    more_private : str
        ``"low"``, ``"high"`` or ``""``: the end of the slider that protects more.
    choices : tuple of (value, label)
        For `Kind.CHOICE`.
    latex : str
        Mathtext for figures, without dollar signs; `symbol` is used if empty.
    quantities : tuple of str
        Keys of the quantities for which the parameter matters; empty means all.
    axis_only : bool
        Whether it is made of other parameters (γ = k/n) and can be swept but not set: an axis
        without a slider.
    """

    key: str
    symbol: str
    name: str
    help: str
    kind: Kind
    default: Value
    low: float = -math.inf
    high: float = math.inf
    scale: Scale = Scale.LINEAR
    unit: str = ""
    more_private: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    latex: str = ""
    quantities: tuple[str, ...] = ()
    axis_only: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the value is a number on a scale."""
        return self.kind in (Kind.REAL, Kind.INTEGER)

    def parse(self, raw: object) -> Value:
        """Turn a typed or stored value into one of this parameter's, or say why not.

        Raises
        ------
        ValueError
            Naming the parameter, the value and what is allowed.
        """
        if self.kind is Kind.FLAG:
            if isinstance(raw, bool):
                return raw
            text = str(raw).strip().lower()
            if text in ("1", "true", "yes", "on"):
                return True
            if text in ("0", "false", "no", "off"):
                return False
            raise ValueError(f"{self.key}: {raw!r} is neither yes nor no")
        if self.kind is Kind.CHOICE:
            allowed = [value for value, _ in self.choices]
            if str(raw) in allowed:
                return str(raw)
            raise ValueError(f"{self.key}: {raw!r} is not one of {', '.join(allowed)}")
        try:
            number = float(raw)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ValueError(f"{self.key}: {raw!r} is not a number") from None
        if not (self.low <= number <= self.high):
            raise ValueError(
                f"{self.key}: {number:g} is outside [{self.low:g}, {self.high:g}]"
                + (f" {self.unit}" if self.unit else "")
            )
        if self.kind is Kind.INTEGER:
            if number != round(number):
                raise ValueError(f"{self.key}: {number:g} is not a whole number")
            return round(number)
        return number

    def clamp(self, number: float) -> float | int:
        """Return the admissible value nearest to a number."""
        number = min(max(number, self.low), self.high)
        return round(number) if self.kind is Kind.INTEGER else number

    def grid(self, low: float, high: float, points: int, scale: Scale | None = None) -> FloatArray:
        """Return a sweep's points: both ends included, integers rounded and made unique."""
        if not (self.low <= low <= self.high and self.low <= high <= self.high):
            raise ValueError(
                f"{self.key}: sweep {low:g}…{high:g} leaves [{self.low:g}, {self.high:g}]"
            )
        if points < 1 or (points == 1 and low != high):
            raise ValueError(f"{self.key}: a sweep between two ends needs at least 2 points")
        scale = scale or self.scale
        if scale is Scale.LOG:
            if low <= 0 or high <= 0:
                raise ValueError(f"{self.key}: a logarithmic sweep needs ends above 0")
            xs = np.geomspace(low, high, points)
        else:
            xs = np.linspace(low, high, points)
        xs[0], xs[-1] = low, high
        return np.unique(np.rint(xs)) if self.kind is Kind.INTEGER else xs


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something a study can put on the y axis, and what may stand on the x axis below it."""

    key: str
    symbol: str
    name: str
    sweeps: tuple[str, ...]
    unit: str = ""
    scale: Scale = Scale.LINEAR
    latex: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The parameter on the x axis and the values it takes.

    Numbers, not a grid object, so that a request is hashable and complete in itself.
    """

    key: str
    low: float
    high: float
    points: int
    scale: Scale = Scale.LINEAR


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the loaded check-ins a request is about.

    Attributes
    ----------
    data : str
        sha256 of the data file (its fingerprint), never a path.
    region : Region
    start, end : str or None
        ISO 8601 UTC instants; rows with start ≤ time < end are used. None is unbounded.
    users : int or None
        How many users to sample without replacement; None uses all.
    data_seed : int
        Seed of that sample.
    """

    data: str
    region: Region
    start: str | None = None
    end: str | None = None
    users: int | None = None
    data_seed: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A question, complete and hashable: the same request always has the same answer.

    Attributes
    ----------
    study : str
        Id of the study.
    values : tuple of (key, value)
        Every parameter of the study, in declaration order.
    quantity : str
        Key of the quantity on the y axis; empty for studies without axes.
    sweep : Sweep or None
        What is on the x axis.
    selection : Selection or None
        Which check-ins, for studies that need them.
    seed : int
        Seed of demonstration noise and simulation.
    fidelity : Fidelity
        The best answer wanted.
    """

    study: str
    values: tuple[tuple[str, Value], ...]
    quantity: str = ""
    sweep: Sweep | None = None
    selection: Selection | None = None
    seed: int = 0
    fidelity: Fidelity = Fidelity.FULL

    def __getitem__(self, key: str) -> Any:
        for name, value in self.values:
            if name == key:
                return value
        raise KeyError(key)

    def with_value(self, key: str, value: Value) -> Request:
        """Return this request with one parameter changed."""
        return replace(self, values=tuple((k, value if k == key else v) for k, v in self.values))


@dataclass(frozen=True)
class Series:
    """One curve.

    Attributes
    ----------
    key : str
        Stable id: CSV column, style lookup.
    label : str
        Legend text without the role.
    role : Role
    x, y : ndarray of float
        Same length; y is NaN where the statement does not hold.
    reference : Reference
    low, high : ndarray of float or None
        Band of an estimate.
    why_absent : str
        Why y is NaN where it is; required where any is.
    note : str
        What else a reader must know (order at the search edge, truncated, variant).
    """

    key: str
    label: str
    role: Role
    x: FloatArray
    y: FloatArray
    reference: Reference
    low: FloatArray | None = None
    high: FloatArray | None = None
    why_absent: str = ""
    note: str = ""

    @property
    def present(self) -> BoolArray:
        """Where the curve holds."""
        return np.isfinite(self.y)


@dataclass(frozen=True)
class Surface:
    """A map: one number per cell of a square grid over a region.

    Attributes
    ----------
    key : str
        ``true`` or ``private``, or another stable id.
    label : str
    values : ndarray of float32, shape (Δ, Δ)
        ``values[row, column]``, row 0 south, column 0 west, sum 1 (or all 0).
    region : Region
    curator_only : bool
        Whether it may never leave the curator's screen.
    stamp : str
        What must be written on it wherever it is shown, or an empty string.
    """

    key: str
    label: str
    values: np.ndarray[Any, np.dtype[np.float32]]
    region: Region
    curator_only: bool
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that must hold for a statement, whether it does, and by how much.

    `holds` is None where it can't be known from the parameters (it is then an assumption).
    """

    text: str
    holds: bool | None
    margin: str = ""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised to whom.

    Attributes
    ----------
    unit : str
        Unit of protection (one record, one user).
    add_remove, replace_one : str
        The guarantee under either meaning of *neighbouring*; "not covered: why" where there
        is none.
    trust : str
        Who sees what.
    sentence : str
        One plain sentence that moves with the sliders.
    references : tuple of Reference
    """

    unit: str
    add_remove: str
    replace_one: str
    trust: str
    sentence: str
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Readout:
    """One number beside the picture.

    `role` is None for counts and plain readouts; `low`/`high` give an interval known to hold the
    number while `value` itself is still None.
    """

    key: str
    label: str
    value: float | None
    role: Role | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    curator_only: bool = False
    note: str = ""


@dataclass(frozen=True)
class Result:
    """An answer to a request.

    `complete` tells the last and best answer; `stamp` is what must be written on every picture,
    table and file made of it (empty if nothing must).
    """

    request: Request
    fidelity: Fidelity
    series: tuple[Series, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    readouts: tuple[Readout, ...] = ()
    conditions: tuple[Condition, ...] = ()
    guarantee: Guarantee | None = None
    notes: tuple[str, ...] = ()
    stamp: str = ""
    curator_only: bool = False
    complete: bool = False
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    def readout(self, key: str) -> Readout:
        """Return the readout of that key; KeyError if there is none."""
        for item in self.readouts:
            if item.key == key:
                return item
        raise KeyError(key)

    def surface(self, key: str) -> Surface:
        """Return the surface of that key; KeyError if there is none."""
        for item in self.surfaces:
            if item.key == key:
                return item
        raise KeyError(key)


class Cancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """The work is no longer wanted."""


class Context(Protocol):
    """What a running study may ask of whoever runs it."""

    def check(self) -> None:
        """Raise `Cancelled` if the answer is no longer wanted."""

    def heavy(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run a module-level function in a worker process and wait, raising `Cancelled` if told to.

        For what may not run in the window's process: cvxpy, numba, seconds of pure Python.
        """

    def checkins(self, selection: Selection) -> Any:
        """Return the open `explorer.checkins` data set with the selection's fingerprint.

        Raises
        ------
        LookupError
            If no such data set is open; the message says which file to open.
        """

    def memo(self, key: object, make: Callable[[], Any]) -> Any:
        """Return a value computed earlier under this hashable key, or make and keep it."""


class Study(Protocol):
    """A question with parameters, answered by curves or maps.

    Instances are stateless; everything an answer depends on is in the request.
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
