"""Draws reports of M_mean and other designs, for many users at once.

Two passes over the users' records would cost more than the normals themselves, so users are
handled in blocks that fit in the processor's cache; what remains is the time of drawing
n·Σ_{active channels}(size) normals.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.channel import (
    half_space_signs,
    m_ldp_radius,
    normals,
)
from explorer.privacy.coordinates.designs import (
    DUCHI,
    PRIV_UNIT,
    Subset,
    active_levels,
    incidence,
    log_channel_moment,
)
from explorer.privacy.coordinates.mean import increments, m_mean_combination
from explorer.privacy.coordinates.priv_unit import PrivUnit, priv_unit
from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray

_BLOCK = 4096
_SMALLEST_CAP_LEVEL = 1e-6


@dataclass(frozen=True)
class Channel:
    """One active channel of a design.

    Attributes
    ----------
    coordinates : ndarray of int, shape (m,)
        What it sees.
    alpha : float
        Its level, > 0.
    coefficients : ndarray, shape (m,)
        The weight of its report in each coordinate's mean.
    kind : {"duchi", "privunit"}
        What makes its reports, see `log_channel_moment`.
    """

    coordinates: checks.IntArray
    alpha: float
    coefficients: FloatArray
    kind: str = DUCHI


@dataclass(frozen=True)
class MeanEstimate:
    """An average of reports.

    Attributes
    ----------
    mean : ndarray, shape (d,)
        The unbiased average; NaN where there is no report.
    projected : ndarray, shape (d,)
        The average clipped to [−1, 1]: only the average may be, not the reports.
    informative : ndarray of bool, shape (d,)
        Where there are reports at all (c_i > 0).
    """

    mean: FloatArray
    projected: FloatArray
    informative: BoolArray


def m_mean_channels(c: ArrayLike, rule: str = "paper", kind: str = DUCHI) -> list[Channel]:
    """Return the active channels of M_mean for budgets c of shape (d,)."""
    matrix = m_mean_combination(c, rule, kind)
    order, alpha, _ = increments(c)
    return [
        Channel(order[k:], float(alpha[k]), np.ascontiguousarray(matrix[k:, k]), kind)
        for k in np.flatnonzero(alpha)
    ]


def design_channels(
    d: int, subsets: Sequence[Subset], alphas: ArrayLike, kind: str = DUCHI
) -> list[Channel]:
    """Return the active channels of a parallel design, combined with weights 1/V."""
    levels = active_levels(subsets, alphas)
    if levels.shape != (len(subsets),):
        raise ValueError(f"alphas must have shape ({len(subsets)},), got {levels.shape}")
    incident = incidence(d, subsets)
    logs = -log_channel_moment(incident.sum(axis=0).astype(np.int64), levels, kind)
    with np.errstate(divide="ignore"):
        totals = np.logaddexp.reduce(
            np.where(incident > 0.0, logs, -np.inf), axis=1, initial=-np.inf
        )
    channels = []
    for j, subset in enumerate(subsets):
        if levels[j] > 0.0:
            members = np.array(subset, dtype=np.int64)
            share = np.exp(logs[j] - totals[members])
            channels.append(Channel(members, float(levels[j]), share, kind))
    return channels


def _blocks(
    x: FloatArray, channels: Sequence[Channel], rng: np.random.Generator
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the first user and the reports of each block, 0 where nothing is reported."""
    d = x.shape[1]
    for start in range(0, x.shape[0], _BLOCK):
        block = x[start : start + _BLOCK]
        reports = np.zeros_like(block)
        for channel in channels:
            m = channel.coordinates.size
            whole = m == d and bool((channel.coordinates == np.arange(d)).all())
            v = block if whole else block[:, channel.coordinates]
            g = _REPORTS[channel.kind](v, channel.alpha, rng)
            g *= channel.coefficients
            if whole:
                reports += g
            else:
                reports[:, channel.coordinates] += g
        yield start, reports


def _duchi_reports(v: FloatArray, alpha: float, rng: np.random.Generator) -> FloatArray:
    m = v.shape[1]
    g = normals(rng, v.shape)
    share = np.asarray(np.sqrt(np.einsum("ij,ij->i", v, v) / m))
    signs = half_space_signs(v, g, rng.random((v.shape[0],)), share, alpha)
    radius = float(m_ldp_radius(m, np.sqrt(m), alpha))
    g *= (radius * signs / np.sqrt(np.einsum("ij,ij->i", g, g)))[:, None]
    return g


def _priv_unit_reports(v: FloatArray, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Draw PrivUnit's report of a corner of each row, whose mean is the row."""
    m = v.shape[1]
    if m == 1 or alpha < _SMALLEST_CAP_LEVEL:
        # Randomised response, and the half sphere that the best cap tends to as α does to 0.
        return _duchi_reports(v, alpha, rng)
    corners = np.where(rng.random(v.shape) < 0.5 * (1.0 + v), 1.0, -1.0)
    return _priv_unit(m, alpha).randomise(corners, rng)


@lru_cache(maxsize=512)
def _priv_unit(m: int, alpha: float) -> PrivUnit:
    return priv_unit(m, alpha, math.sqrt(m))


_REPORTS = {DUCHI: _duchi_reports, PRIV_UNIT: _priv_unit_reports}


def _informative(d: int, channels: Sequence[Channel]) -> BoolArray:
    reported = np.zeros(d, bool)
    for channel in channels:
        reported[channel.coordinates] = True
    return reported


def draw_reports(x: ArrayLike, channels: Sequence[Channel], rng: np.random.Generator) -> FloatArray:
    """Draw every user's combined report, shape (n, d), never projected; NaN where there is none."""
    array = np.asarray(x, float)
    data = checks.records("x", array, array.shape[-1] if array.ndim else 1)
    reports = np.empty_like(data)
    for start, block in _blocks(data, channels, rng):
        reports[start : start + block.shape[0]] = block
    reports[:, ~_informative(data.shape[1], channels)] = np.nan
    return reports


def draw_mean(x: ArrayLike, channels: Sequence[Channel], rng: np.random.Generator) -> MeanEstimate:
    """Draw the average of all users' reports, with and without the projection to [−1, 1]^d."""
    array = np.asarray(x, float)
    data = checks.records("x", array, array.shape[-1] if array.ndim else 1)
    total = np.zeros(data.shape[1])
    for _, block in _blocks(data, channels, rng):
        total += block.sum(axis=0)
    informative = _informative(data.shape[1], channels)
    mean = np.where(informative, total / data.shape[0], np.nan)
    return MeanEstimate(mean, np.clip(mean, -1.0, 1.0), informative)


def m_mean(
    x: ArrayLike,
    c: ArrayLike,
    rng: np.random.Generator,
    rule: str = "paper",
    channel: str = DUCHI,
) -> FloatArray:
    """Draw every user's report ν̂ by M_mean (Mechanism 1).

    Parameters
    ----------
    x : array_like of shape (n, d)
        Records in [−1, 1]; scale them by public bounds.
    c : array_like of shape (d,)
        Budgets in [0, ∞), in the order of the coordinates.
    rng : numpy.random.Generator
        Source of randomness.
    rule : {"paper", "optimal"}
        Weights, see `m_mean_weights`.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Returns
    -------
    ndarray of shape (n, d)
        Unbiased, by M_LDP with `m_mean_covariance`; the column of a coordinate with c_i = 0 is NaN.
    """
    _same_width(x, c)
    return draw_reports(x, m_mean_channels(c, rule, channel), rng)


def m_mean_average(
    x: ArrayLike,
    c: ArrayLike,
    rng: np.random.Generator,
    rule: str = "paper",
    channel: str = DUCHI,
) -> MeanEstimate:
    """Draw the average of all users' M_mean reports; arguments as in `m_mean`."""
    _same_width(x, c)
    return draw_mean(x, m_mean_channels(c, rule, channel), rng)


def _same_width(x: ArrayLike, c: ArrayLike) -> None:
    if np.ndim(c) != 1 or np.ndim(x) != 2 or np.shape(x)[1] != np.shape(c)[0]:
        raise ValueError(f"x must have shape (n, {np.size(c)}), got {np.shape(x)}")
