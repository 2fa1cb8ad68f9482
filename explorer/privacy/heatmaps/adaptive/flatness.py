"""Whether a private map can be told from a flat one, from noisy counts alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks

FLATNESS_THRESHOLDS = {(4, 0.01): 34.3, (16, 0.01): 87.8, (16, 0.05): 62.4, (64, 0.01): 229.0}
"""(start cells, false-alarm rate) → what `flatness_statistic` exceeds so seldom under flat counts.

Quantiles of the statistic of unit Laplace draws, by simulation (5·10⁵ runs).
"""


def flatness_statistic(start_counts: ArrayLike, start_budget: float) -> float:
    """Return F = e_q²·Σ(y − ȳ)² over the first readings of the start level.

    If all start cells hold the same count only noise enters, whatever that count is, so that the
    law of F is known exactly: above a threshold of `FLATNESS_THRESHOLDS` the map is "not a flat
    map". A function of released numbers; it costs no privacy.

    Parameters
    ----------
    start_counts : array of float, shape (4^q,)
        y of draw 0, in users: ``tree.levels[0].first``.
    start_budget : float
        e_q, > 0.
    """
    checks.positive("start_budget", start_budget)
    y = np.asarray(start_counts, dtype=float)
    return float(start_budget**2 * np.sum((y - y.mean()) ** 2))
