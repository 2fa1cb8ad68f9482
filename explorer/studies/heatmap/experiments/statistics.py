"""What draws say together: means, quantiles and 95 % intervals of two kinds.

The *noise* interval is about these regions and new noise: regions are fixed, draws vary. The
*regions* interval is about other regions like these. Both are of the mean; the quantiles are of a
single draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.simulation import student_95

QUANTILES = (0.05, 0.1, 0.5, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over draws and regions, and how far it is known.

    Attributes
    ----------
    mean : float
        Mean over regions of the means over draws.
    quantiles : tuple of float
        Those of `QUANTILES` over draws; averaged over regions.
    noise : (low, high) or None
        95 % interval of the mean over new noise, the regions fixed: ± t·√(Σ var/D)/R, with the
        degrees of freedom of Welch and Satterthwaite. None where a region has a single draw.
    regions : (low, high) or None
        95 % interval of the mean over other regions: Student's with R − 1 degrees of freedom on the
        regions' means. None for a single region.
    draws, of_regions : int
        D (the fewest in a region) and R.
    """

    mean: float
    quantiles: tuple[float, ...]
    noise: tuple[float, float] | None
    regions: tuple[float, float] | None
    draws: int
    of_regions: int


def summarise(values: Sequence[ArrayLike], least: float = -math.inf) -> Summary | None:
    """Return what the draws in each of some regions say.

    Parameters
    ----------
    values : sequence of array_like, one a region
        A number a draw. What is not a number (a correlation with a constant map) is left out, and
        so is a region with nothing else.
    least : float
        What no mean can be below: 0 of an error.

    Returns
    -------
    Summary or None
        None if no number is left.

    References
    ----------
    Student 1908, *The probable error of a mean*; Welch 1947, *The generalization of "Student's"
    problem when several different population variances are involved*.
    """
    kept = [found[np.isfinite(found)] for found in (np.asarray(v, dtype=float) for v in values)]
    kept = [found for found in kept if found.size]
    if not kept:
        return None
    means = np.array([found.mean() for found in kept])
    mean, count = float(means.mean()), len(means)
    quantiles = np.mean([np.quantile(found, QUANTILES) for found in kept], axis=0)
    noise = regions = None
    draws = min(found.size for found in kept)
    if draws > 1:
        parts = [float(found.var(ddof=1)) / found.size for found in kept]
        total = math.fsum(parts)
        half = 0.0
        if total > 0:
            degrees = total**2 / math.fsum(
                part**2 / (found.size - 1) for part, found in zip(parts, kept, strict=True)
            )
            half = student_95(degrees) * math.sqrt(total) / count
        noise = (max(mean - half, least), mean + half)
    if count > 1:
        half = student_95(count - 1) * float(means.std(ddof=1)) / math.sqrt(count)
        regions = (max(mean - half, least), mean + half)
    return Summary(mean, tuple(float(q) for q in quantiles), noise, regions, draws, count)


def differences(values: Sequence[ArrayLike], others: Sequence[ArrayLike]) -> tuple[FloatArray, ...]:
    """Return draw by draw how much more the first have than the others: what `summarise` takes.

    Both have the same regions and in each the same draws, so that what region and draw have in
    common cancels.

    Raises
    ------
    ValueError
        If numbers of regions or draws differ.
    """
    pairs = [
        (np.asarray(a, dtype=float), np.asarray(b, dtype=float))
        for a, b in zip(values, others, strict=True)
    ]
    for a, b in pairs:
        if a.shape != b.shape:
            raise ValueError(f"others: {b.size} draws where the first have {a.size}")
    return tuple(a - b for a, b in pairs)
