"""Declarations of a study: parameters, quantities and sweeps."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

import numpy as np

from explorer.privacy.core.bound import FloatArray

Value = float | int | str | bool


class Kind(StrEnum):
    """Kind of a parameter's value."""

    REAL = "real"
    INTEGER = "integer"
    CHOICE = "choice"
    SEVERAL = "several"
    """Some of the choices, in any order, joined by commas."""
    FLAG = "flag"
    FILE = "file"
    TABLE = "table"
    """Numbers typed in rows: ``0.7 0.3; 0.3 0.7``."""


FILE_PATTERN = re.compile(r"[^/\\\0]+#[0-9a-f]{64}")
"""A file as a value: its name and the sha256 of its content, never a path."""

RELEASED = ".released"
"""Suffix of maps that `explorer.engine.release_priors` writes: instead of a file, a release of
a ledger is asked for."""


def files_of(value: Value) -> tuple[str, ...]:
    """Return the files in the value of a `Kind.FILE` parameter; a slash is in no name."""
    return tuple(filter(None, str(value).split("/")))


def names_of(value: Value) -> tuple[str, ...]:
    """Return the names of the files in a value, without their hashes."""
    return tuple(file.rpartition("#")[0] for file in files_of(value))


class Scale(StrEnum):
    """How a numeric parameter is spread over a slider, a sweep or an axis."""

    LINEAR = "lin"
    LOG = "log"


class Fidelity(IntEnum):
    """How good an answer is; larger is better."""

    COARSE = 0
    FULL = 1


PLANE = "plane"
"""In `Parameter.unit_from`: the unit of the plane that check-ins lie in, if it is not the Earth."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, declared once for window, command line, recipe and tests.

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
        Ends of the domain (numeric kinds), both included. For `Kind.SEVERAL`, `high` is how many.
    scale : Scale
    unit : str
        Empty if the parameter has none.
    more_private : str
        ``"low"``, ``"high"`` or ``""``: the end of the slider that protects more.
    choices : tuple of (value, label)
        For `Kind.CHOICE` and `Kind.SEVERAL`.
    latex : str
        Mathtext for figures, without dollar signs; `symbol` is used if empty.
    quantities : tuple of str
        Keys of the quantities for which the parameter matters; empty means all.
    relevant_when : tuple of (key, values)
        Choice parameters and the values of each for which this one matters; empty means always.
    relevant_also : tuple of (key, values)
        Parameters and the values of any of which it matters whatever `relevant_when` says.
    more_values : tuple of (key, key)
        Choice parameters named in `relevant_when`, and those of `Kind.SEVERAL` that list more of
        their values, or values that only they have: it matters for these too.
    axis_only : bool
        Whether it is made of other parameters (γ = k/n) and can be swept but not set: an axis
        without a slider.
    replaces : tuple of str
        Keys of the parameters whose own values are not used while this one is on the x axis.
    group : str
        Heading under which a panel puts it: ``"space"`` (the metric space), ``"mechanism"``,
        ``"simulation"``, ``"data"``; empty for the study's main parameters, which come first.
    unit_from : str
        Key of the choice parameter whose value is the unit (``km``; ``none`` for no unit), or
        `PLANE`; `unit` holds where there is none. See `with_unit`.
    default_unsaid : bool
        Whether its default is nothing that must be said beside a result, as that all rows count.
    suffixes : tuple of str
        For `Kind.FILE`: what a file's name may end with; empty means a folder is asked for.
    most_files : int
        For `Kind.FILE`: how many files it takes; their values are joined by slashes.
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
    relevant_when: tuple[tuple[str, tuple[str, ...]], ...] = ()
    more_values: tuple[tuple[str, str], ...] = ()
    relevant_also: tuple[tuple[str, tuple[str, ...]], ...] = ()
    axis_only: bool = False
    replaces: tuple[str, ...] = ()
    group: str = ""
    suffixes: tuple[str, ...] = ()
    most_files: int = 1
    unit_from: str = ""
    default_unsaid: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the value is a number on a scale."""
        return self.kind in (Kind.REAL, Kind.INTEGER)

    @property
    def in_panel(self) -> bool:
        """Whether the parameters panel has a row for it; several choices are made where they show.

        What is only an axis has no value of its own.
        """
        return not self.axis_only and self.kind is not Kind.SEVERAL

    def parse(self, raw: object) -> Value:
        """Convert a typed or stored value to a value of this parameter.

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
            raise ValueError(f"{self.key}: {_short(raw)} is neither yes nor no")
        if self.kind is Kind.CHOICE:
            allowed = [value for value, _ in self.choices]
            if str(raw) in allowed:
                return str(raw)
            raise ValueError(f"{self.key}: {_short(raw)} is not one of {', '.join(allowed)}")
        if self.kind is Kind.SEVERAL:
            return self._several(str(raw))
        if self.kind is Kind.FILE:
            return self._files(str(raw))
        if self.kind is Kind.TABLE:
            if not isinstance(raw, str):
                raise ValueError(f"{self.key}: {_short(raw)} is not a text of rows, as in 1 2; 3 4")
            return table_text(table_rows(raw, self.key))
        try:
            if isinstance(raw, bool):
                raise TypeError
            number = float(raw)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{self.key}: {_short(raw)} is not a number") from None
        if not math.isfinite(number):
            raise ValueError(f"{self.key}: {number} is not a finite number")
        if not (self.low <= number <= self.high):
            raise ValueError(
                f"{self.key}: choose a value from {self.low:g} to {self.high:g}"
                + (f" {self.unit}" if self.unit else "")
                + f"; {number:g} is outside"
            )
        if self.kind is Kind.INTEGER:
            if number != round(number):
                raise ValueError(f"{self.key}: {number:g} is not a whole number")
            return round(number)
        return number

    def _several(self, raw: str) -> str:
        names = list(dict.fromkeys(filter(None, (name.strip() for name in raw.split(",")))))
        allowed = [value for value, _ in self.choices]
        for name in names:
            if name not in allowed:
                raise ValueError(f"{self.key}: {_short(name)} is not one of {', '.join(allowed)}")
        if len(names) > self.high:
            raise ValueError(
                f"{self.key}: {len(names)} are more than {self.high:g}; leave some out"
            )
        return ",".join(names)

    def _files(self, raw: str) -> str:
        files = dict.fromkeys(raw.split("/") if raw else ())
        for file in files:
            if not FILE_PATTERN.fullmatch(file):
                raise ValueError(
                    f"{self.key}: {_short(file)} is not an opened file; open the file first"
                )
        if len(files) > self.most_files:
            raise ValueError(
                f"{self.key}: {len(files)} files are more than {self.most_files}; leave some out"
            )
        return "/".join(files)

    def clamp(self, number: float) -> float | int:
        """Return the admissible value nearest to a number."""
        number = min(max(number, self.low), self.high)
        return round(number) if self.kind is Kind.INTEGER else number

    @property
    def on_log(self) -> bool:
        """Whether its slider is logarithmic."""
        return self.scale is Scale.LOG and self.low > 0

    def place_of(self, number: float) -> float:
        """Return the position of a number on the slider: 0 at the low end, 1 at the high one."""
        if self.high == self.low:
            return 0.0
        if self.on_log:
            return math.log(max(number, self.low) / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def at_place(self, place: float, steps: int = 4000) -> float | int:
        """Return the value at a position of the slider, rounded to the slider's resolution.

        `steps` are those of a linear slider: fewer need fewer decimals.
        """
        if not 0 < place < 1:
            return self.clamp(self.low if place <= 0 else self.high)
        if self.on_log:
            return self.clamp(float(f"{self.low * (self.high / self.low) ** place:.4g}"))
        span = self.high - self.low
        decimals = max(0, math.ceil(-math.log10(span / steps)))
        return self.clamp(round(self.low + span * place, decimals))

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


_CELLS_MAX = 4096


def table_rows(text: str, name: str) -> tuple[tuple[float, ...], ...]:
    """Return the rows of a typed table, separated by semicolons or line ends.

    The numbers of a row, which may be fractions such as 1/3, are separated by blanks, or by commas
    where decimals have points.

    Raises
    ------
    ValueError
        If a field is no finite number or rows have unlike lengths: naming the table, the row and
        the field, counted from 1, and what to do.
    """
    lines = [line.strip(" \t,") for line in re.split(r"[;\n]", text)]
    rows: list[tuple[float, ...]] = []
    for line, fields in enumerate((re.split(r"[\s,]+", line) for line in lines if line), 1):
        row = []
        for place, field in enumerate(fields, 1):
            above, fraction, below = field.partition("/")
            try:
                number = float(above) / (float(below) if fraction else 1)
            except (ValueError, ZeroDivisionError):
                number = math.nan
            if not math.isfinite(number):
                raise ValueError(
                    f"{name}, row {line}, field {place}: {_short(field)} is not a number; write "
                    "numbers as 0.25 or 1/4, blanks between them and a semicolon between rows"
                )
            row.append(number)
        if rows and len(row) != len(rows[0]):
            raise ValueError(
                f"{name}, row {line}: {len(row)} numbers where the first row has {len(rows[0])}; "
                "give every row as many"
            )
        rows.append(tuple(row))
    if sum(map(len, rows)) > _CELLS_MAX:
        raise ValueError(f"{name}: more than {_CELLS_MAX} numbers; load them from a file instead")
    return tuple(rows)


def table_text(rows: Iterable[Iterable[float]]) -> str:
    """Return a table as it is stored: every number in full."""
    return "; ".join(" ".join(map(repr, row)) for row in rows)


def _short(raw: object) -> str:
    """Return a value for an error message, shortened."""
    if isinstance(raw, int) and abs(raw) >= 10**20:  # thousands of digits are not even written
        return "a number of more than 20 digits"
    text = repr(raw)
    return text if len(text) <= 80 else text[:79] + "…"


def with_unit(parameter: Parameter, values: Mapping[str, Value]) -> Parameter:
    """Return a parameter with the unit that another one, or the plane, chooses for it."""
    if not parameter.unit_from:
        return parameter
    unit = str(values.get(parameter.unit_from, parameter.unit))
    return replace(parameter, unit="" if unit == "none" else unit)


def relevant(parameter: Parameter, values: Mapping[str, Value], quantity: str) -> bool:
    """Return whether a parameter matters for the other parameters' values and a quantity."""
    if parameter.quantities and quantity not in parameter.quantities:
        return False
    if any(str(values.get(key)) in allowed for key, allowed in parameter.relevant_also):
        return True
    if not parameter.relevant_when:
        return True
    lists = dict(parameter.more_values)
    return all(
        str(values.get(key)) in allowed
        or (key in lists and not set(allowed).isdisjoint(str(values.get(lists[key])).split(",")))
        for key, allowed in parameter.relevant_when
    )


class Statistic(StrEnum):
    """Statistic of an error over the draws of the noise."""

    WORST_CASE = "worst case"
    MEAN = "average"
    MEAN_SQUARE = "mean squared"
    RMS = "RMS"
    MEDIAN = "median"
    QUANTILE = "quantile"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity for the y axis, and the parameters that may be on the x axis.

    `statistic` is what an error is over the draws of the noise; None where it is no error.
    """

    key: str
    symbol: str
    name: str
    sweeps: tuple[str, ...]
    unit: str = ""
    scale: Scale = Scale.LINEAR
    latex: str = ""
    statistic: Statistic | None = None


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
