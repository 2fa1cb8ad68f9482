"""Choice of α: from "changes this large must be protected this well" to metric DP's α.

α has the inverse unit of a distance. An (α, δ)-d_EM-DP release protects a change of a user's data
by earth mover's distance w with ε = αw; moving a fraction τ of the data by q on average is a
change of w = qτ at most.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.vectorised import scalar_if_0d

MAX_ALPHA = checks.MAX_EPSILON
"""Largest α accepted, as the largest ε."""


def alpha_from_requirements(epsilon: ArrayLike, q: ArrayLike, tau: ArrayLike) -> Any:
    """Return the α that meets requirements "τ of the data moved by q on average is protected at ε".

    min over the requirements of ε/(qτ). Requirements with qτ = 0 ask for nothing and are left out
    (errata user-C2).

    Parameters
    ----------
    epsilon, q, tau : array of float, broadcast together
        ε ≥ 0, the largest parameter that is acceptable (the paper prints "minimum"; errata
        user-C2); normalised distance q and fraction τ in [0, 1]. Requirements run along the last
        axis; the leading ones are swept.

    Returns
    -------
    float or array of float
        α per normalised distance, one for each leading index; infinite where no requirement asks
        for anything.

    Raises
    ------
    ValueError
        Outside these domains, or if there is no requirement.

    References
    ----------
    Imola, Roy Chowdhury & Chaudhuri, Section 3, "Setting the privacy parameters".
    """
    e = checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)
    distance = checks.reals("q", q, 0.0, 1.0)
    fraction = checks.reals("tau", tau, 0.0, 1.0)
    e, distance, fraction = (np.atleast_1d(a) for a in np.broadcast_arrays(e, distance, fraction))
    if e.shape[-1] == 0:
        raise ValueError("epsilon: there must be at least one requirement")
    moved = distance * fraction
    asks = moved > 0
    with np.errstate(over="ignore"):
        alpha = np.where(asks, e / np.where(asks, moved, 1.0), math.inf)
    return scalar_if_0d(alpha.min(axis=-1))


def alpha_from_distances(
    epsilon: ArrayLike, distance: ArrayLike, tau: ArrayLike, diameter: float
) -> Any:
    """Return `alpha_from_requirements` for distances in the unit of the space.

    Parameters
    ----------
    epsilon, tau
        As in `alpha_from_requirements`.
    distance : array of float
        Average distances moved, in [0, diameter].
    diameter : float
        Largest distance of the space, in the same unit. For the surface of the Earth this is half
        the circumference, 12,450.7 miles at the equator; the paper's 12,930 is inconsistent with
        its own q (errata user-C1).

    Returns
    -------
    float or array of float
        α per *normalised* distance; divide by `diameter` for α per unit.
    """
    largest = float(checks.reals("diameter", diameter, 0.0, open_low=True))
    moved = checks.reals("distance", distance, 0.0, largest)
    return alpha_from_requirements(epsilon, moved / largest, tau)
