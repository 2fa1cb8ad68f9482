"""Balances and states after some entries of a ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from explorer.release.exact_json import MOST_CHARACTERS, shortened, write_fraction
from explorer.release.ledger.accounts import SPENT, Account, Release
from explorer.release.ledger.errors import RuleError


@dataclass
class LedgerState:
    """Balances and states after some entries.

    Attributes
    ----------
    accounts : dict
        By population, of those not joined to another.
    joined : dict
        From a population to the one it was joined to.
    releases : dict
        By id, in order.
    ledger, host : str
        The ledger's id and that of the machine it lives on; "" where no entry says so.
    remarks : set of str
        Of `REMARKS`.
    last_at : str
        Time of the last entry.
    entries : int
        How many there were.
    """

    accounts: dict[str, Account] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    releases: dict[str, Release] = field(default_factory=dict)
    ledger: str = ""
    host: str = ""
    remarks: set[str] = field(default_factory=set)
    last_at: str = ""
    entries: int = 0

    def account_of(self, population: str | None) -> Account:
        """Return the account that a population's releases are charged to.

        Without a name it is the only one there is.

        Raises
        ------
        RuleError
            If there is none.
        """
        if population is None:
            if len(self.accounts) != 1:
                raise RuleError(
                    "no population has a budget yet"
                    if not self.accounts
                    else "population: is missing, and there are several"
                )
            return next(iter(self.accounts.values()))
        seen = population
        while seen in self.joined:
            seen = self.joined[seen]
        if seen not in self.accounts:
            raise RuleError(f"population: {shortened(population)} has no budget in this ledger")
        return self.accounts[seen]

    def release(self, name: str) -> Release:
        """Return a release by its id, or raise RuleError."""
        if name not in self.releases:
            raise RuleError(f"release: {shortened(name)} is not in this ledger")
        return self.releases[name]

    def of_account(self, population: str) -> list[Release]:
        """Return what counts in the account of a population, in order of the entries."""
        account = self.account_of(population)
        return [
            release
            for release in sorted(self.releases.values(), key=lambda release: release.seq)
            if release.state in SPENT and self.account_of(release.population) is account
        ]

    def charge(self, account: Account, epsilon: Fraction, sign: int = 1) -> None:
        """Put a charge, or one given back, into the books."""
        self.keep(account.charged(epsilon, sign))

    def keep(self, account: Account) -> None:
        """Put an account into the books, unless its numbers have become too long to store."""
        for value in (account.spent_epsilon, account.spent_rho, account.rho_cap, account.remaining):
            if len(write_fraction(value)) > MOST_CHARACTERS:
                raise RuleError(
                    f"epsilon: the sum would have more than {MOST_CHARACTERS} characters; round it "
                    "up to a decimal"
                )
        self.accounts[account.population] = account
