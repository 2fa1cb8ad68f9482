"""What a privacy number claims: its role, where it holds and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Role(StrEnum):
    """How a number stands to the quantity it is named after."""

    UPPER = "upper bound"
    LOWER = "lower bound"
    EXACT = "exact"
    ESTIMATE = "estimate"
    BASELINE = "baseline"

    @property
    def glyph(self) -> str:
        """One character that stands for the role wherever space is short."""
        return {"upper bound": "≤", "lower bound": "≥", "exact": "=", "estimate": "≈"}.get(
            self.value, "·"
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a formula comes from.

    Attributes
    ----------
    paper : str
        Authors and short title, as one would cite it in running text.
    where : str
        Theorem, lemma, equation or algorithm in that paper.
    note : str
        What differs from the printed text (errata), or an empty string.
    """

    paper: str
    where: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.paper}, {self.where}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class Bound:
    """A privacy or error quantity as it crosses from mathematics to a study.

    Attributes
    ----------
    value : ndarray of float
        The numbers; NaN exactly where `valid` is False.
    role : Role
        What the numbers are with respect to the named quantity.
    reference : Reference
        The source.
    valid : ndarray of bool, same shape as `value`
        Where the statement holds.
    reason : str
        Why it does not hold where `valid` is False; empty if it holds everywhere.
    truncated : ndarray of bool, same shape as `value`
        Where work was cut short and the number is looser than it could be, in the safe direction.
    """

    value: FloatArray
    role: Role
    reference: Reference
    valid: BoolArray = None  # type: ignore[assignment]  # made in __post_init__: all True
    reason: str = ""
    truncated: BoolArray = None  # type: ignore[assignment]  # made in __post_init__: all False

    def __post_init__(self) -> None:
        value = np.asarray(self.value, dtype=float)
        valid = np.ones(value.shape, bool) if self.valid is None else np.asarray(self.valid, bool)
        cut = (
            np.zeros(value.shape, bool)
            if self.truncated is None
            else np.asarray(self.truncated, bool)
        )
        if valid.shape != value.shape or cut.shape != value.shape:
            raise ValueError("valid and truncated must have the shape of value")
        object.__setattr__(self, "value", np.where(valid, value, np.nan))
        object.__setattr__(self, "valid", valid)
        object.__setattr__(self, "truncated", cut)
