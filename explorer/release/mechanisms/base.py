"""What all mechanisms of a release have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise.laplace_law import dlap_quantile
from explorer.release.user_records import UserRecords

RandomBytes = Callable[[int], bytes]
"""`os.urandom` for a release: so many fresh random bytes."""

Plain = str | int | list[str] | list[int]
"""What a parameter may be in a plan and a certificate; fractions and decimals are texts."""

UNIT = Fraction(1, 1 << 40)
"""What the parts of an ε that is split are multiples of."""


LAPLACE = "discrete Laplace"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the measurements whose ε add up to the price at most.

    Attributes
    ----------
    name : str
    epsilon : Fraction
        The price, of a single measurement; of several a multiple of 2⁻⁴⁰.
    sensitivity : int
        ℓ1, of the whole numbers that noise is added to; of a selection that of its scores.
    noise : str
        ``discrete Laplace`` (of scale sensitivity/epsilon) or ``permute-and-flip``.
    """

    name: str
    epsilon: Fraction
    sensitivity: int
    noise: str = LAPLACE


@dataclass(frozen=True, slots=True)
class Reads:
    """Which columns a mechanism asks for; rows are read for these alone.

    Attributes
    ----------
    places, times : bool
        Whether coordinates are needed, and times.
    texts : tuple of str
        Names of further columns.
    numbers : bool
        Whether these are decimals, written as the file's format says.
    """

    places: bool = False
    times: bool = False
    texts: tuple[str, ...] = ()
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What is stored, shown and certified: functions of parameters and noisy numbers alone.

    Attributes
    ----------
    stored : dict
        For JSON: names, and whole numbers of any size or lists of them.
    shape : tuple of int
        Each ≥ 1.
    """

    stored: dict[str, Any]
    shape: tuple[int, ...]


UNCHANGED = "The stored numbers are shown as they are."
"""The post-processing of what needs none."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A picture or a table made from stored output: post-processing, for exports and screens.

    Attributes
    ----------
    grid : ndarray of float64, shape (rows, columns), or None
        A map of mass 1, row 0 south.
    total : float or None
        Fitted number of users of the map.
    table : tuple of (str, float)
        Names and values.
    steps : tuple of str
        What was done, in sentences, for the certificate's ``post_processing``.
    """

    grid: NDArray[np.float64] | None = None
    total: float | None = None
    table: tuple[tuple[str, float], ...] = ()
    steps: tuple[str, ...] = ()


class MechanismParameters(Protocol):
    """Parameters that were checked."""

    def as_parameters(self) -> dict[str, Plain]:
        """Return them as a certificate states them, with every default written out."""


P = TypeVar("P", bound=MechanismParameters)


class ReleaseMechanism(ABC, Generic[P]):
    """A mechanism of a release.

    The class docstring of each has a section *Privacy* with its proof. Everything but `draw` is a
    function of parameters, ε and stored output: it knows no data.

    Attributes
    ----------
    id : str
        With its version, for ever.
    label : str
        What a list of mechanisms says.
    privacy : str
        Why ε holds, in a sentence.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    privacy: ClassVar[str]

    @abstractmethod
    def parse(self, parameters: Mapping[str, Any]) -> P:
        """Return checked parameters, defaults filled in; those of `FORMAT_KEYS` are left alone.

        Raises
        ------
        ParameterError
            If one is missing, unknown or outside its domain.
        """

    @abstractmethod
    def reads(self, p: P) -> Reads:
        """Return which columns are needed."""

    @abstractmethod
    def parts(self, p: P, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the measurements.

        A single one has the price exactly. Where ε is split in units of 2⁻⁴⁰ the parts may sum to
        less, by under 2⁻⁴⁰ a part: that is charged and not used.

        Raises
        ------
        ParameterError
            If one of them would get nothing; no data are needed to know.
        """

    def price(self, p: P, epsilon: Fraction) -> Fraction:
        """Return what asking for ε costs: ε, if each part gets something.

        Raises
        ------
        ParameterError
            As `parts`.
        """
        self.parts(p, epsilon)
        return epsilon

    @abstractmethod
    def max_numbers(self, p: P, epsilon: Fraction) -> int:
        """Return how many whole numbers may be stored, at most."""

    def max_output_bytes(self, p: P, epsilon: Fraction) -> int:
        """Return how many bytes of JSON to keep free for the stored output; no data are needed.

        Noise may be of any size, but is below 10³⁰ in any life of the universe.
        """
        return 1000 + 32 * self.max_numbers(p, epsilon)

    @abstractmethod
    def draw(
        self, records: UserRecords, p: P, epsilon: Fraction, random_bytes: RandomBytes
    ) -> Output:
        """Return the stored output of one draw. Nothing in the rows makes this fail."""

    @abstractmethod
    def expected_error(self, p: P, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return quantiles of the noise, as a certificate's ``expected_error``.

        Each with ``quantity``, ``half_width``, ``probability`` and ``source``; a distance to the
        truth is none of them.
        """

    @abstractmethod
    def shown(self, output: Mapping[str, Any], p: P, epsilon: Fraction) -> Shown:
        """Return a picture or table of ``Output.stored``."""


USUAL = Fraction(19, 20)
"""How often noise is within what `half_width` says."""


def error_of(quantity: str, half_width: int) -> dict[str, Any]:
    """Return one entry of ``expected_error``, of probability 19/20."""
    return {
        "quantity": quantity,
        "half_width": half_width,
        "probability": f"{USUAL.numerator}/{USUAL.denominator}",
        "source": "program",
    }


def noise_error(
    quantity: str, epsilon: Fraction, sensitivity: int, unit: int = 1
) -> dict[str, Any]:
    """Return how large discrete Laplace noise is 19 times in 20, rounded up to whole units.

    Parameters
    ----------
    quantity : str
    epsilon : Fraction
    sensitivity : int
    unit : int
        Of the stored numbers that make 1: B where they are in B-ths of a user.
    """
    return error_of(quantity, -(-dlap_quantile(epsilon, sensitivity, 1 - USUAL) // unit))
