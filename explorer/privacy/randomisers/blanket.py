"""Privacy blanket of a known randomiser, and its law in common families.

The changed client's message has law P or Q. Every other message has a law of which m is a part,
for every sender: with chance m(y) it is y whatever its sender holds. Relative to m the likelihood
ratio of the shuffled messages is an average over those that m covers, so that

    δ(ε) = E[(Σ_{i≤n} g_i)_+]/n,   g_i = (P(y) − e^ε·Q(y))/m(y) with probability m(y), else 0,

bounds the divergence of the shuffled messages for every ε, exactly if all others' law is m. These
are the divergences of one pair of laws, which therefore dominates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray, Reference

BLANKET = Reference(
    "Balle, Bell, Gascón & Nissim 2019",
    "privacy blanket, evaluated for this randomiser",
    "best of all decompositions: Su, Cheng & Wang, arXiv 2504.07414",
)
VARIATION_RATIO = Reference(
    "Wang et al., arXiv 2304.05007", "variation-ratio parameters", "total variation and two ratios"
)

MAX_EXPONENT = 700.0
"""Largest ε whose power e^ε is formed; no product with a probability overflows."""
MAX_EPSILON = 50.0
"""Largest ε₀ of a family."""
_CELLS = 24
"""Steps to which the Laplace law's ratio is spread."""


def beyond(first: FloatArray, second: FloatArray, epsilon: float) -> FloatArray:
    """Return P − e^ε·Q, by differences that keep small ones exact to rounding.

    Above ε = 700, where e^ε overflows, an upper bound: its value there.
    """
    return (first - second) - math.expm1(min(epsilon, MAX_EXPONENT)) * second


@dataclass(frozen=True)
class Blanket:
    """P, Q and the part m of every other law, on classes of messages.

    Attributes
    ----------
    first, second : ndarray of float
        Masses of P and of Q.
    mass : ndarray of float
        Masses of m, whose sum is at most 1; where it is 0 a message hides in no crowd.
    """

    first: FloatArray
    second: FloatArray
    mass: FloatArray

    def bare(self, epsilon: float) -> float:
        """Return the share of δ due to messages that no other client sends."""
        bare = self.mass <= 0
        away = beyond(self.first[bare], self.second[bare], epsilon)
        return float(np.maximum(away, 0.0).sum())

    @property
    def most(self) -> float:
        """The largest finite ln(P/Q), at least 0; at larger ε δ is `never`."""
        both = (self.first > 0) & (self.second > 0)
        ratio = np.log(self.first[both]) - np.log(self.second[both])
        return max(float(ratio.max(initial=0.0)), 0.0)

    @property
    def never(self) -> float:
        """Probability under P of the messages that Q never sends."""
        return float(self.first[self.second <= 0].sum())

    def merged(self) -> Blanket:
        """Return the same law with classes of equal ratios taken together.

        Ratios that differ in the last digit of a double are kept apart: entries of a table count as
        they are given.
        """
        keep = (self.first > 0) | (self.second > 0)
        hidden = keep & (self.mass > 0)
        p, q, m = self.first[hidden], self.second[hidden], self.mass[hidden]
        with np.errstate(over="ignore"):
            keys = np.stack([p / m, q / m])
        distinct, which = np.unique(keys, axis=1, return_inverse=True)
        which, size = which.ravel(), distinct.shape[1]
        bare = keep & (self.mass <= 0)

        def summed(part: FloatArray) -> FloatArray:
            return np.append(np.bincount(which, part[hidden], size), part[bare]).astype(float)

        return Blanket(summed(self.first), summed(self.second), summed(self.mass))


def two_level(eps0: float, theta: float) -> Blanket:
    """Return the blanket of a randomiser with two levels of probability, e^ε₀ apart.

    A message is e^ε₀ times as likely inside a set that holds the share θ ≤ ½ of all messages as
    outside (PrivUnit: a cap). The sets of the two records are disjoint: if they overlap, g is a
    mean-preserving contraction, so that nothing more is lost.

    Parameters
    ----------
    eps0 : float
        In [0, 50].
    theta : float
        In (0, ½].
    """
    e0 = float(checks.reals("eps0", eps0, 0.0, MAX_EPSILON))
    share = float(checks.reals("theta", theta, 0.0, 0.5, open_low=True))
    ratio = math.exp(e0)
    beta = 1 / (1 + (ratio - 1) * share)
    inside, outside = beta * share, max(beta * (1 - 2 * share), 0.0)
    return _without_empty(
        [ratio * inside, inside, outside],
        [inside, ratio * inside, outside],
        [inside, inside, outside],
    )


def k_ary(eps0: float, outcomes: int) -> Blanket:
    """Return the blanket of k-ary randomised response: two levels with θ = 1/k.

    Parameters
    ----------
    eps0 : float
        In [0, 50].
    outcomes : int
        k ≥ 2.
    """
    count = float(checks.integers("outcomes", outcomes, 2, checks.MAX_COUNT))
    return two_level(eps0, 1 / count)


def unary(kept: float, set_: float) -> Blanket:
    """Return the blanket of unary encoding: the client's own bit is 1 with chance p, others with q.

    The changed client's two bits matter: (1, 0), (0, 1), (1, 1) and (0, 0). The message of ones
    alone hides more than is used here.

    Parameters
    ----------
    kept, set_ : float
        p and q, 0 < q ≤ p < 1; ε₀ = ln(p(1−q)/(q(1−p))).
    """
    p, q = (float(checks.open_unit(name, x)) for name, x in (("kept", kept), ("set", set_)))
    if q > p:
        raise ValueError(f"set: {q:g} is above kept = {p:g}; a client's own bit must be likelier")
    ratio, beta = p * (1 - q) / (q * (1 - p)), (1 - p) / (1 - q)
    one, both, none = beta * q * (1 - q), beta * q * q, beta * (1 - q) ** 2
    return _without_empty(
        [ratio * one, one, ratio * both, none],
        [one, ratio * one, ratio * both, none],
        [one, one, both, none],
    )


def unary_set(eps0: float, kept: float) -> float:
    """Return the chance q at which a foreign bit is set, given p and ε₀."""
    odds = kept / (1 - kept) * math.exp(-eps0)
    return odds / (1 + odds)


def laplace(eps0: float) -> Blanket:
    """Return the blanket of Laplace noise of scale 1/ε₀ on [0, 1], for a change from 0 to 1.

    Others hold anything in [0, 1]: m(y) = (ε₀/2)·exp(−ε₀·max(|y|, |1−y|)). Between 0 and ½ P/m
    falls from e^ε₀ to 1 while Q/m = 1, and the other way round beyond; it is spread to 24 steps,
    each mass divided between its two neighbours so that its mean is kept, which errs upwards.

    Parameters
    ----------
    eps0 : float
        In (0, 50].
    """
    e0 = float(checks.reals("eps0", eps0, 0.0, MAX_EPSILON, open_low=True))
    # u = 1 − 2y runs from 1 to 0 over that half; m dy has the density (ε₀/4)·e^{−ε₀(1+u)/2} in u.
    u = np.linspace(0.0, 1.0, _CELLS + 1)
    tail = math.exp(-e0)
    at, mass = np.exp(e0 * u), np.zeros(_CELLS + 1)
    # Masses and first moments of P/m on each step, in closed form.
    inner = 0.5 * np.exp(-e0 / 2) * -np.diff(np.exp(-e0 * u / 2))
    mean = 0.5 * np.exp(-e0 / 2) * np.diff(np.exp(e0 * u / 2)) / np.maximum(inner, 1e-300)
    up = np.clip((mean - at[:-1]) / np.diff(at), 0.0, 1.0)
    mass[:-1] += inner * (1 - up)
    mass[1:] += inner * up
    mass[-1] += 0.5 * tail
    return _without_empty(
        np.concatenate([mass * at, mass]),
        np.concatenate([mass, mass * at]),
        np.concatenate([mass, mass]),
    )


def variation_ratio(v: float, p: float, q: float) -> Blanket:
    """Return the law that dominates every pair with these parameters.

    Parameters
    ----------
    v : float
        Total variation of P and Q, in [0, 1].
    p : float
        Largest ratio between P and Q, > 1 unless v = 0.
    q : float
        Largest ratio of P or Q to any other input's law.
    """
    if v <= 0:
        return Blanket(np.ones(1), np.ones(1), np.full(1, 1 / max(q, 1.0)))
    alpha = v / (p - 1)
    rest = max(1 - alpha * (1 + p), 0.0)
    first, second = np.array([alpha * p, alpha, rest]), np.array([alpha, alpha * p, rest])
    return _without_empty(first, second, np.array([alpha * p, alpha * p, rest]) / q)


def _without_empty(first: ArrayLike, second: ArrayLike, mass: ArrayLike) -> Blanket:
    """Return a blanket without classes of no mass."""
    p, q, m = (np.asarray(x, float) for x in (first, second, mass))
    positive = (p > 0) | (q > 0)
    return Blanket(p[positive], q[positive], m[positive])
