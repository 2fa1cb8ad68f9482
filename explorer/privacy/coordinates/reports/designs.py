"""Parallel designs: any set of M_LDP channels, each seeing a subset of the coordinates.

M_mean is the design of nested subsets. Disjoint and hybrid designs, such as {1}, {2}, {3…10},
satisfy the same certificate and are often far better, because a channel's error grows with the
number of coordinates it carries (beyond the paper, no. 3). Of a design, L is the sum of all
levels and c_i the sum of the levels of the channels that contain i; the coupling q_i is needed
only over the coordinates that are seen by channels not containing i.

Subsets are tuples of 0-based coordinates.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.levels.certificates import best_certificate
from explorer.privacy.coordinates.reports.channel import SMALLEST_LEVEL
from explorer.privacy.coordinates.reports.moments import DUCHI, log_channel_moment
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

Subset = Sequence[int]


def incidence(d: int, subsets: Sequence[Subset]) -> FloatArray:
    """Return the 0/1 matrix (coordinates × channels) of a design, refusing impossible subsets."""
    count = int(checks.whole("d", d, 1))
    matrix = np.zeros((count, len(subsets)))
    for j, subset in enumerate(subsets):
        members = checks.whole(f"subsets[{j}]", list(subset), 0, count - 1)
        if members.size == 0 or np.unique(members).size != members.size:
            raise ValueError(f"subsets[{j}] must be distinct coordinates, got {list(subset)}")
        matrix[members, j] = 1.0
    return matrix


def active_levels(subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return the levels of a design's channels, those too small to report anything being 0."""
    levels = checks.reals("alphas", alphas, 0.0, open_high=True)
    if levels.ndim == 0 or levels.shape[-1] != len(subsets):
        raise ValueError(
            f"alphas must have one level a subset, {len(subsets)}, got shape {levels.shape}"
        )
    return np.where(levels < SMALLEST_LEVEL, 0.0, levels)


def design_cdp(d: int, subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return c_i, the sum of the levels of the channels that contain i, shape (…, d)."""
    result: FloatArray = active_levels(subsets, alphas) @ incidence(d, subsets).T
    return result


def design_ldp(subsets: Sequence[Subset], alphas: ArrayLike) -> FloatArray:
    """Return L, the sum of the levels of all channels, shape (…)."""
    result: FloatArray = active_levels(subsets, alphas).sum(axis=-1)
    return result


def design_bcdp(d: int, subsets: Sequence[Subset], alphas: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return the certified coordinate levels log((1−q_i)e^{c_i} + q_i·e^L), shape (…, d)."""
    return best_certificate(design_cdp(d, subsets, alphas), q, design_ldp(subsets, alphas))


def design_mse(
    d: int,
    subsets: Sequence[Subset],
    alphas: ArrayLike,
    x2: ArrayLike = 0.0,
    channel: str = DUCHI,
) -> FloatArray:
    """Return the exact error of one user's combined report, summed over coordinates.

    Channels are combined with weights 1/V, which minimise the error at x = 0.

    Parameters
    ----------
    d, subsets, alphas : the design
        alphas of shape (…, number of channels), in [0, ∞).
    x2 : array_like of shape (…, d) or ()
        Squares of the coordinates in [0, 1]; averages of squares give the average over users.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Returns
    -------
    ndarray of shape (…)
        Σ_i (Σ_j a_ij²·V_j − x_i²·Σ_j a_ij²); infinite if a coordinate is in no active channel.
    """
    levels = active_levels(subsets, alphas)
    x2 = checks.reals("x2", x2, 0.0, 1.0)
    seen = incidence(d, subsets)
    weights = np.exp(-log_channel_moment(seen.sum(axis=0).astype(np.int64), levels, channel))
    totals = weights @ seen.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Weights are squared relative to their total, which keeps tiny ones from underflowing.
        share = weights[..., None, :] * seen / totals[..., None]
        squares = np.where(totals > 0.0, (share**2).sum(axis=-1), 0.0)
        errors = (1.0 / totals - x2 * squares).sum(axis=-1)
    result: FloatArray = np.maximum(errors, 0.0)
    return result
