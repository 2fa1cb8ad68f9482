"""Effect of sampling users on a guarantee."""

import math
from typing import Literal, get_args

import numpy as np

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, Grade, Reference, Role

Scheme = Literal["all", "bottom_k", "poisson"]
Key = Literal["public", "secret"]
Adjacency = Literal["add_remove", "replace"]

SAMPLING = Reference(
    "Balle, Barthe and Gaboardi 2018",
    "Theorems 8 and 9",
    "sampled by the smallest keyed hashes (bottom-k) or below a threshold (Poisson)",
)

_UP = 1 + 2.0**-49
"""More than the rounding of the few operations below, of which each errs by a unit or less in the
last place."""

_LARGEST = 700.0
"""An ε above which nothing is taken off: its exponential is beyond a double's range."""
_SMALLEST = 1e-290
"""No smaller ε is said to be reached: below, the numbers on the way lose their digits."""


def sampling_guarantee(
    epsilon: float, scheme: Scheme, key: Key, adjacency: Adjacency, rate: float = 1.0
) -> Bound:
    """Return the ε of an ε-DP mechanism run on a sample of users, towards those of the whole file.

    A user who comes or goes exchanges at most one of the k users with the smallest hashes, which is
    replacing one in the sample: 2ε. Below a threshold everyone is in or out on their own: ε. If
    nobody but the curator knows the hash's key, and it is used for one release, the sample
    amplifies privacy: with P = (1 − γ)P₀ + γP₁ where P₁ lies within e^{±ε} of P₀ (bottom-k: within
    e^{±2ε}, one exchange away), ε′ = ln(1 + γ(e^ε − 1)).

    Parameters
    ----------
    epsilon : float
        Of the mechanism, for adding or removing one of the users it is run on; replacing one costs
        twice as much. Above 0.
    scheme : str
        ``all``, ``bottom_k`` or ``poisson``.
    key : str
        ``public``, or ``secret``: fresh from the system's random source, never shown or used again.
    adjacency : str
        ``add_remove`` or ``replace``.
    rate : float
        γ in (0, 1]: Poisson's threshold; of bottom-k k/N, with N a *public* lower bound on the
        number of users there are on both sides. Without one γ = 1. Matters for a secret key only.

    Returns
    -------
    Bound
        Upper bound of shape (), rounded up.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    checks.positive("epsilon", epsilon)
    checks.reals("rate", rate, 0.0, 1.0, open_low=True)
    for name, given, known in (
        ("scheme", scheme, get_args(Scheme)),
        ("key", key, get_args(Key)),
        ("adjacency", adjacency, get_args(Adjacency)),
    ):
        checks.one_of(name, given, known)
    exchanged = scheme == "bottom_k" or adjacency == "replace"
    value = 2 * epsilon if exchanged else epsilon
    if key == "secret" and scheme != "all" and value < _LARGEST:
        if scheme == "bottom_k" or adjacency == "add_remove":
            amplified = _log_mixture(rate, value)
        else:
            amplified = _log_mixture(rate, epsilon) - _log_mixture(rate, -epsilon)
        value = min(max(amplified * _UP, _SMALLEST), value)
    return Bound(np.asarray(value), Role.UPPER, SAMPLING, grade=Grade.PROVED)


def _log_mixture(rate: float, epsilon: float) -> float:
    """Return ln(1 − γ + γe^ε) to a few units in the last place, for ε of either sign."""
    moved = rate * math.expm1(epsilon)
    return math.log1p(moved) if moved > -0.5 else math.log((1 - rate) + rate * math.exp(epsilon))
