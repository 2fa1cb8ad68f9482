"""An answer: curves, maps and numbers, each with its role, its conditions and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.bounds import BoolArray, FloatArray, Reference, Role
from explorer.studies.parameters import Fidelity
from explorer.studies.requests import Request


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
