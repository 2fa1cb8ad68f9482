"""Bounds: privacy numbers with role, validity and source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core.role import Role as Role

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Papers, as references name them.
HEATMAPS = "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam and Valliappan 2022, DP heatmaps"
HISTOGRAMS = "Balcer & Cheu 2020"
SHUFFLE_RDP = "Girgis, Data & Diggavi 2021 (subsampled shuffle model)"
USER_METRIC = (
    "Imola, Roy Chowdhury & Chaudhuri 2024 (metric DP at the user level; arXiv 2405.02665 v1)"
)
COORDINATES = "Aliakbarpour, Chaudhuri, Courtade, Fallah & Jordan 2024 (arXiv 2410.18404 v1)"


class Grade(StrEnum):
    """Rigor of a computed bound: proved with rounding included, or numerical."""

    PROVED = "proved"
    """The inequality holds for the very number computed, rounding included."""
    NUMERICAL = "numerical"
    """A proved formula summed in floating point, its error estimated and added, not proved."""


def running_best(values: FloatArray, better: np.ufunc) -> FloatArray:
    """Return the best of the first 1, 2, … numbers, where they are known (not NaN).

    What a stricter promise gives holds for every weaker one: along an axis from strict to weak a
    bound carries the best so far on, where it is not valid itself too.

    Parameters
    ----------
    values : ndarray of float, shape (N,)
        NaN where nothing is known.
    better : numpy.ufunc
        `numpy.fmax` or `numpy.fmin`.
    """
    return np.asarray(better.accumulate(values))


@dataclass(frozen=True, slots=True)
class Reference:
    """Source of a formula.

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
    """A privacy or error quantity with its role, source and validity.

    Attributes
    ----------
    value : ndarray of float
        The numbers; NaN exactly where `valid` is False.
    role : Role
        Relation of the numbers to the named quantity.
    reference : Reference
        The source.
    valid : ndarray of bool, same shape as `value`
        Where the statement holds.
    reason : str
        Why it does not hold where `valid` is False; empty if it holds everywhere.
    truncated : ndarray of bool, same shape as `value`
        Where work was cut short and the number is looser than it could be, in the safe direction.
    grade : Grade
        Whether the numbers are proof against rounding; nothing is taken to be unless it says so.
    """

    value: FloatArray
    role: Role
    reference: Reference
    valid: BoolArray = None  # type: ignore[assignment]  # made in __post_init__: all True
    reason: str = ""
    truncated: BoolArray = None  # type: ignore[assignment]  # made in __post_init__: all False
    grade: Grade = Grade.NUMERICAL

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

    @classmethod
    def proved(
        cls,
        value: ArrayLike,
        role: Role,
        reference: Reference,
        error: float | FloatArray,
        valid: BoolArray | None = None,
        reason: str = "",
        truncated: BoolArray | None = None,
    ) -> Bound:
        """Return a bound from a formula whose computed value errs by at most a share of itself.

        It is moved by that share to its safe side, and is then proof against rounding.

        Parameters
        ----------
        value : array of float
            ≥ 0.
        role : Role
            `Role.UPPER` or `Role.LOWER`.
        error : float or array of float
            Largest relative error of the value. Shares below 2e-15 are not seen in what is shown.
        """
        moved = np.asarray(value, dtype=float) * (1 + error if role is Role.UPPER else 1 - error)
        return cls(
            moved,
            role,
            reference,
            valid,  # type: ignore[arg-type]  # None: all True
            reason,
            truncated,  # type: ignore[arg-type]
            Grade.PROVED,
        )

    def spread(self, here: BoolArray, reason: str) -> Bound:
        """Return the bound over more points.

        Parameters
        ----------
        here : ndarray of bool
            As many True as this bound has values; elsewhere the result is not valid.
        reason : str
            Why not there.
        """
        value, valid, cut = (np.zeros(here.shape, kind) for kind in (float, bool, bool))
        value[here], valid[here], cut[here] = self.value, self.valid, self.truncated
        reasons = dict.fromkeys(r for r in (self.reason, reason if not here.all() else "") if r)
        return Bound(
            value, self.role, self.reference, valid, "; or ".join(reasons), cut, self.grade
        )
