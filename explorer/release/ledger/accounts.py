"""Balances, releases and the words that entries and certificates have for them.

The gates (spec §3): *sum* lets Σε grow up to the budget, on every path, and the budget may be
raised; *zcdp* lets Σε²/2 grow up to ρ, never raised, and what is stated is the ε of ρ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from explorer.privacy.releases.budgets import (
    largest_fit_zcdp,
    pure_cost,
    zcdp_cost,
)

GATES = ("sum", "zcdp")
LARGEST_DELTA = Fraction(1, 1_000_000)
UNITS = 1 << 40
"""ε that is split, or was spent elsewhere, is counted in 2⁻⁴⁰."""

MOVED = "moved to another computer"
RESTORED = "restored, or moved to another computer"
CLOCK = "clock went backwards"
UNKNOWN = "earlier spending unknown"
NO_KEY = "key missing"
REMARKS = (MOVED, RESTORED, CLOCK, UNKNOWN, NO_KEY)
"""As certificates state them, in this order."""

NOT_JOINED, JOINED_BEFORE, JOINED_AFTER = "no", "declared beforehand", "joined after comparison"

SPENT = ("reserved", "started", "committed", "published", "withdrawn", "lost")
"""States of a release whose ε counts."""


@dataclass(frozen=True)
class Raise:
    """A budget that was raised openly."""

    seq: int
    before: Fraction
    after: Fraction
    date: str


@dataclass(frozen=True)
class Account:
    """What was and may be spent on the people of a population.

    Attributes
    ----------
    population : str
    gate : str
        The one under which its certificates speak. Joined accounts keep the limits of both.
    delta : Fraction or None
        Of *zcdp*, fixed for good.
    epsilon_limit, rho_limit : Fraction or None
        Neither may be passed by a new release.
    rho_cap : Fraction
        What Σε²/2 stays below on every path: ρ, added up where accounts were joined or something
        was spent elsewhere.
    spent_epsilon, spent_rho : Fraction
        Σε and Σε²/2 of all that counts.
    joined : str
        As in certificates.
    different_from : tuple of str
        Populations declared to be other people.
    raised : tuple of Raise
        Only from a replay.
    """

    population: str
    gate: str
    label: str = ""
    delta: Fraction | None = None
    epsilon_limit: Fraction | None = None
    rho_limit: Fraction | None = None
    rho_cap: Fraction = Fraction(0)
    spent_epsilon: Fraction = Fraction(0)
    spent_rho: Fraction = Fraction(0)
    joined: str = NOT_JOINED
    different_from: tuple[str, ...] = ()
    raised: tuple[Raise, ...] = ()

    @property
    def budget(self) -> Fraction:
        """ε, or ρ under *zcdp*."""
        limit = self.rho_limit if self.gate == "zcdp" else self.epsilon_limit
        return limit if limit is not None else Fraction(0)

    @property
    def spent(self) -> Fraction:
        """In the gate's measure."""
        return self.spent_rho if self.gate == "zcdp" else self.spent_epsilon

    @property
    def remaining(self) -> Fraction:
        """In the gate's measure; 0 where more was spent than may be."""
        return max(Fraction(0), self.budget - self.spent)

    def fits(self, epsilon: Fraction) -> bool:
        """Tell whether a release of this ε passes the gate."""
        after = self.charged(epsilon)
        return (self.epsilon_limit is None or after.spent_epsilon <= self.epsilon_limit) and (
            self.rho_limit is None or after.spent_rho <= self.rho_limit
        )

    def largest_fit(self) -> Fraction:
        """Return the largest ε that fits, 0 if none does: a multiple of 2⁻⁴⁰ under *zcdp*."""
        found = []
        if self.epsilon_limit is not None:
            found.append(max(self.epsilon_limit - self.spent_epsilon, Fraction(0)))
        if self.rho_limit is not None:
            found.append(Fraction(largest_fit_zcdp(self.rho_limit, self.spent_rho), UNITS))
        return min(found)

    def charged(self, epsilon: Fraction, sign: int = 1) -> Account:
        """Return the account with ε spent, or given back."""
        return replace(
            self,
            spent_epsilon=self.spent_epsilon + sign * pure_cost(epsilon),
            spent_rho=self.spent_rho + sign * zcdp_cost(epsilon),
        )


@dataclass(frozen=True)
class Release:
    """What the entries say of a release, or of ε spent elsewhere (`seq` is then its only entry).

    Attributes
    ----------
    seq, date : int, str
        Of its commit, if there is one, else of its reservation (its plan).
    planned : int or None
        The entry of its plan.
    """

    id: str
    population: str
    mechanism: str
    epsilon: Fraction
    state: str
    seq: int
    date: str
    planned: int | None = None
    parameters: Mapping[str, Any] | None = None
    tag: str | None = None
    output_sha256: str | None = None
    certificate_sha256: str | None = None
