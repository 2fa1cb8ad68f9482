"""Base class, input, output and noise of release mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise.bits import BitSource, ByteBits
from explorer.privacy.noise.exact import discrete_laplace
from explorer.privacy.noise.laplace_law import dlap_quantile

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class UserRecords:
    """All rows of all users of a file, without the ids.

    Rows are independent: an unreadable value is marked in its own row and affects no other.
    Columns that the mechanism does not need are None or left out.

    Attributes
    ----------
    starts : ndarray of int64, shape (users + 1,)
        Non-decreasing, from 0 to the number of rows: rows ``starts[u]:starts[u + 1]`` belong to
        user u. The order of users, and of a user's rows, carries no information.
    lat, lon : ndarray of int, shape (rows,), or None
        In units of 10⁻⁷ degrees; arbitrary where unreadable.
    placed : ndarray of bool, shape (rows,), or None
        Whether both coordinates are readable: latitude within ±90°, longitude within ±180°.
    time : ndarray of int, shape (rows,), or None
        Seconds since 1970 in UTC, rounded down; arbitrary where unreadable.
    timed : ndarray of bool, shape (rows,), or None
        Whether the time is readable.
    texts : mapping from a column's name to a sequence of str or None, each of length rows
        Other columns as text; None where unreadable.
    """

    starts: IntArray
    lat: NDArray[Any] | None = None
    lon: NDArray[Any] | None = None
    placed: BoolArray | None = None
    time: NDArray[Any] | None = None
    timed: BoolArray | None = None
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.starts[-1])

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.starts) - 1

    def user_of_rows(self) -> IntArray:
        """Return the user index of every row, ascending."""
        return np.repeat(np.arange(self.users), np.diff(self.starts))


RandomBytes = Callable[[int], bytes]
"""Returns a number of fresh random bytes; `os.urandom` for a release."""

Plain = str | int | list[str] | list[int]
"""Types of parameters in plans and certificates; fractions and decimals are texts."""

UNIT = Fraction(1, 1 << 40)
"""The parts of a split ε are multiples of this."""


LAPLACE = "discrete Laplace"


@dataclass(frozen=True, slots=True)
class Part:
    """A measurement; the ε of all measurements add up to at most the price.

    Attributes
    ----------
    name : str
    epsilon : Fraction
        The price for a single measurement; a multiple of 2⁻⁴⁰ for several.
    sensitivity : int
        ℓ1-sensitivity of the integers that noise is added to; for a selection, of its scores.
    noise : str
        ``discrete Laplace`` (of scale sensitivity/epsilon) or ``permute-and-flip``.
    """

    name: str
    epsilon: Fraction
    sensitivity: int
    noise: str = LAPLACE


@dataclass(frozen=True, slots=True)
class Reads:
    """Columns that a mechanism needs; no others are read.

    Attributes
    ----------
    places, times : bool
        Whether coordinates and times are needed.
    texts : tuple of str
        Names of further columns.
    numbers : bool
        Whether those are decimals in the declared notation.
    """

    places: bool = False
    times: bool = False
    texts: tuple[str, ...] = ()
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a draw; it depends on parameters and noisy numbers only.

    Attributes
    ----------
    stored : dict
        JSON values: names with integers of any size or lists of them.
    shape : tuple of int
        Each ≥ 1.
    """

    stored: dict[str, Any]
    shape: tuple[int, ...]


UNCHANGED_STEP = "The stored numbers are shown as they are."
"""Post-processing step of outputs that need none."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Map or table computed from stored output by post-processing.

    Attributes
    ----------
    grid : ndarray of float64, shape (rows, columns), or None
        A map of mass 1, row 0 south.
    total : float or None
        Estimated number of users on the map.
    table : tuple of (str, float)
        Names and values.
    steps : tuple of str
        Sentences for the certificate's ``post_processing``.
    blocks : ndarray of float64, shape (rows, columns), or None
        The map before it was smoothed; None if it is `grid`.
    prior_weights : tuple of (int, float)
        Weight of all public priors together on every level of a map that was read, in [0, 1]: an
        estimate made of noisy numbers. Empty without priors, and where noisy counts show nobody.
    """

    grid: NDArray[np.float64] | None = None
    total: float | None = None
    table: tuple[tuple[str, float], ...] = ()
    steps: tuple[str, ...] = ()
    blocks: NDArray[np.float64] | None = None
    prior_weights: tuple[tuple[int, float], ...] = ()


class MechanismParameters(Protocol):
    """Parsed parameters of a mechanism."""

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate, including defaults."""


P = TypeVar("P", bound=MechanismParameters)


class ReleaseMechanism(ABC, Generic[P]):
    """Base class of release mechanisms.

    Each class docstring has a section *Privacy* with the proof. All methods except `draw` depend
    on parameters, ε and stored output only, not on data.

    Attributes
    ----------
    id : str
        With its version; never changes.
    label : str
        Name in lists of mechanisms.
    privacy : str
        One sentence on why ε holds.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    privacy: ClassVar[str]

    @abstractmethod
    def parse(self, parameters: Mapping[str, Any]) -> P:
        """Parse and validate parameters, with defaults; those in `FORMAT_KEYS` are ignored.

        Raises
        ------
        ParameterError
            If a parameter is missing, unknown or outside its domain.
        """

    @abstractmethod
    def reads(self, p: P) -> Reads:
        """Return the columns that are needed."""

    @abstractmethod
    def parts(self, p: P, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the measurements.

        A single measurement has exactly the price. If ε is split in units of 2⁻⁴⁰, the sum may be
        less by under 2⁻⁴⁰ per part; the rest is charged and not used.

        Raises
        ------
        ParameterError
            If a measurement would get ε = 0; this does not depend on data.
        """

    def price(self, p: P, epsilon: Fraction) -> Fraction:
        """Return the price of a release with ε, which is ε.

        Raises
        ------
        ParameterError
            As `parts`.
        """
        self.parts(p, epsilon)
        return epsilon

    @abstractmethod
    def max_numbers(self, p: P, epsilon: Fraction) -> int:
        """Return the maximum number of stored integers."""

    def max_output_bytes(self, p: P, epsilon: Fraction) -> int:
        """Return the bytes of JSON to allocate for the stored output, independently of data.

        Noise is unbounded, but exceeds 10³⁰ with negligible probability.
        """
        return 1000 + 32 * self.max_numbers(p, epsilon)

    @abstractmethod
    def draw(
        self, records: UserRecords, p: P, epsilon: Fraction, random_bytes: RandomBytes
    ) -> Output:
        """Return the output of one draw. No row content raises an error."""

    @abstractmethod
    def expected_error(self, p: P, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return quantiles of the noise, a certificate's ``expected_error``.

        Each has ``quantity``, ``half_width``, ``probability`` and ``source``. They are not
        distances to the true values, which depend on data.
        """

    def noise_table(self, p: P, epsilon: Fraction) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return titles and rows of a table of `expected_error`."""
        rows: list[tuple[str, ...]] = [
            (str(one["quantity"]), f"{int(one['half_width']):,}")
            for one in self.expected_error(p, epsilon)
        ]
        return ("Number", "±"), rows

    @abstractmethod
    def shown(self, output: Mapping[str, Any], p: P, epsilon: Fraction) -> Shown:
        """Return a map or table computed from ``Output.stored``."""

    def steps(self, output: Mapping[str, Any], p: P, epsilon: Fraction) -> tuple[str, ...]:
        """Return the steps of `shown`, for which its other inputs are not needed."""
        return self.shown(output, p, epsilon).steps


USUAL_PROBABILITY = Fraction(19, 20)
"""Probability that noise is within `half_width`."""


def error_of(quantity: str, half_width: int) -> dict[str, Any]:
    """Return an entry of ``expected_error`` with probability 19/20."""
    return {
        "quantity": quantity,
        "half_width": half_width,
        "probability": f"{USUAL_PROBABILITY.numerator}/{USUAL_PROBABILITY.denominator}",
        "source": "program",
    }


def noise_error(
    quantity: str, epsilon: Fraction, sensitivity: int, unit: int = 1
) -> dict[str, Any]:
    """Return the 19/20 quantile of absolute discrete Laplace noise, rounded up to whole units.

    Parameters
    ----------
    quantity : str
    epsilon : Fraction
    sensitivity : int
    unit : int
        Stored units per user: B if counts are in B-ths of a user.
    """
    return error_of(
        quantity, -(-dlap_quantile(epsilon, sensitivity, 1 - USUAL_PROBABILITY) // unit)
    )


def bits_of(random_bytes: RandomBytes) -> BitSource:
    """Return a bit source from random bytes."""
    return ByteBits(random_bytes)


def noisy(counts: NDArray[Any], sensitivity: int, epsilon: Fraction, bits: BitSource) -> list[int]:
    """Return counts plus independent discrete Laplace noise of scale sensitivity/ε.

    Counts in 64 bits are below 2⁶² in size; larger noise, and then the sum, is in Python integers.
    """
    drawn = discrete_laplace(sensitivity / epsilon, len(counts), bits)
    if drawn.dtype == object or counts.dtype == object:
        counts, drawn = counts.astype(object), drawn.astype(object)
    result: list[int] = (counts + drawn).tolist()
    return result
