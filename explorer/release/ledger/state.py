"""State of a ledger after its entries, and the rules by which an entry changes it.

`apply` adds one entry or refuses it, in which case the state is unchanged; the same rules serve
writing and replaying. The ledger's file stores the state next to the entries, so that checking a
gate is one comparison; a replay of all entries must give the same state.

Gates (spec §3): *sum* allows Σε up to the budget on every path, and the budget may be raised;
*zcdp* allows Σε²/2 up to ρ, which is never raised, and certificates state the ε of ρ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from explorer.privacy.releases.budgets import largest_fit_zcdp, pure_cost, zcdp_cost
from explorer.release.errors import RefusedError, ReleaseError, RuleError
from explorer.release.exact_json import MAX_CHARACTERS, read_fraction, short_repr, write_fraction

GATES = ("sum", "zcdp")
MAX_DELTA = Fraction(1, 1_000_000)
UNITS = 1 << 40
"""Split or external ε is counted in units of 2⁻⁴⁰."""

MOVED = "moved to another computer"
RESTORED = "restored, or moved to another computer"
CLOCK = "clock went backwards"
UNKNOWN = "earlier spending unknown"
NO_KEY = "key missing"
REMARKS = (MOVED, RESTORED, CLOCK, UNKNOWN, NO_KEY)
"""In the order of certificates."""

NOT_JOINED, JOINED_BEFORE, JOINED_AFTER = "no", "declared beforehand", "joined after comparison"

SPENT = ("reserved", "started", "committed", "published", "withdrawn", "lost")
"""States of a release in which its ε counts as spent."""


@dataclass(frozen=True)
class Raise:
    """An increase of a budget."""

    seq: int
    before: Fraction
    after: Fraction
    date: str


@dataclass(frozen=True)
class Account:
    """Budget and spending of a population.

    Attributes
    ----------
    population : str
    gate : str
        Gate stated by its certificates. Joined accounts keep the limits of both gates.
    label : str
    delta : Fraction or None
        Of *zcdp*; never changes.
    epsilon_limit, rho_limit : Fraction or None
        Limits for new releases.
    rho_cap : Fraction
        Upper bound of Σε²/2 on every path: ρ, plus the ρ of joined accounts and of external
        spending.
    spent_epsilon, spent_rho : Fraction
        Σε and Σε²/2 of all releases that count.
    joined : str
        As in certificates.
    different_from : tuple of str
        Populations declared to be different people.
    raised : tuple of Raise
        Set by a replay only.
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
        """Spent budget in the gate's measure (ε or ρ)."""
        return self.spent_rho if self.gate == "zcdp" else self.spent_epsilon

    @property
    def remaining(self) -> Fraction:
        """Remaining budget in the gate's measure, at least 0."""
        return max(Fraction(0), self.budget - self.spent)

    def fits(self, epsilon: Fraction) -> bool:
        """Return whether the gate allows a release with this ε."""
        after = self.charged(epsilon)
        return (self.epsilon_limit is None or after.spent_epsilon <= self.epsilon_limit) and (
            self.rho_limit is None or after.spent_rho <= self.rho_limit
        )

    def largest_fit(self) -> Fraction:
        """Return the largest ε that the gate allows, or 0; a multiple of 2⁻⁴⁰ under *zcdp*."""
        result = []
        if self.epsilon_limit is not None:
            result.append(max(self.epsilon_limit - self.spent_epsilon, Fraction(0)))
        if self.rho_limit is not None:
            result.append(Fraction(largest_fit_zcdp(self.rho_limit, self.spent_rho), UNITS))
        return min(result)

    def charged(self, epsilon: Fraction, sign: int = 1) -> Account:
        """Return the account after spending ε, or giving it back if `sign` is −1."""
        return replace(
            self,
            spent_epsilon=self.spent_epsilon + sign * pure_cost(epsilon),
            spent_rho=self.spent_rho + sign * zcdp_cost(epsilon),
        )


@dataclass(frozen=True)
class Release:
    """State of a release, or of external spending (`seq` is then its only entry).

    Attributes
    ----------
    seq, date : int, str
        Of its last plan, reserve or commit entry.
    planned : int or None
        Number of its plan entry.
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


@dataclass
class LedgerState:
    """Accounts and releases after a number of entries.

    Attributes
    ----------
    accounts : dict
        By population, without those joined to another.
    joined : dict
        From a population to the one it was joined to.
    releases : dict
        By id, in order.
    ledger, host : str
        Ids of the ledger and of its machine; "" if no entry states them.
    remarks : set of str
        A subset of `REMARKS`.
    last_at : str
        Time of the last entry.
    entries : int
        Number of entries.
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
        """Return the account to which a population's releases are charged.

        With None, return the only account.

        Raises
        ------
        RuleError
            If there is no such account.
        """
        if population is None:
            if len(self.accounts) != 1:
                raise RuleError(
                    "no population has a budget yet; set one first"
                    if not self.accounts
                    else "population: is missing, and there are several; name one"
                )
            return next(iter(self.accounts.values()))
        seen = population
        while seen in self.joined:
            seen = self.joined[seen]
        if seen not in self.accounts:
            raise RuleError(
                f"population: {short_repr(population)} has no budget in this ledger; set one first"
            )
        return self.accounts[seen]

    def release(self, name: str) -> Release:
        """Return a release by its id, or raise RuleError."""
        if name not in self.releases:
            raise RuleError(f"release: {short_repr(name)} is not in this ledger")
        return self.releases[name]

    def releases_of(self, population: str) -> list[Release]:
        """Return the releases charged to the account of a population, in order of the entries."""
        account = self.account_of(population)
        return [
            release
            for release in sorted(self.releases.values(), key=lambda release: release.seq)
            if release.state in SPENT and self.account_of(release.population) is account
        ]

    def charge(self, account: Account, epsilon: Fraction, sign: int = 1) -> None:
        """Charge ε to an account, or give it back if `sign` is −1."""
        self.set_account(account.charged(epsilon, sign))

    def set_account(self, account: Account) -> None:
        """Replace an account; raise RuleError if its numbers are too long to store."""
        for value in (account.spent_epsilon, account.spent_rho, account.rho_cap, account.remaining):
            if len(write_fraction(value)) > MAX_CHARACTERS:
                raise RuleError(
                    f"epsilon: the sum would have more than {MAX_CHARACTERS} characters; round it "
                    "up to a decimal"
                )
        self.accounts[account.population] = account


TRANSITIONS = {
    "start": (("reserved",), "started"),
    "commit": (("started",), "committed"),
    "publish": (("committed",), "published"),
    "withdraw": (("committed", "published"), "withdrawn"),
    "abandon": (("planned", "reserved"), "abandoned"),
    "lose": (("started",), "lost"),
}
"""Kind of entry → allowed states of the release before it, and the state after it."""

_HEX64 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)


def apply(state: LedgerState, body: Mapping[str, Any]) -> None:
    """Add an entry to a state.

    Raises
    ------
    RuleError
        If the rules do not allow it; the state is then unchanged.
    """
    kind = body.get("kind")
    rule = _RULES.get(kind) if isinstance(kind, str) else None
    if rule is None:
        raise RuleError(f"kind: {short_repr(kind)} is not a kind of entry")
    at = body.get("at", "")
    if not isinstance(at, str) or (at and not _TIME.fullmatch(at)):
        raise RuleError(f"at: {short_repr(at)} is not a time in UTC such as 2026-01-19T08:00:00Z")
    seq = body.get("seq", state.entries)
    if type(seq) is not int or seq != state.entries:
        raise RuleError(f"seq: {short_repr(seq)} is where {state.entries} is expected")
    ledger = body.get("ledger", state.ledger)
    if not isinstance(ledger, str) or (state.ledger and ledger != state.ledger):
        raise RuleError("ledger: the entry belongs to another ledger")
    host = _text(body, "host", "")
    try:
        rule(state, body, at)
    except RuleError:
        raise
    except ReleaseError as error:
        raise RuleError(str(error)) from None
    state.ledger, state.host = ledger, host or state.host
    if at and at < state.last_at:
        state.remarks.add(CLOCK)
    state.last_at = at or state.last_at
    state.entries += 1


def replay(bodies: Iterable[Mapping[str, Any]]) -> tuple[LedgerState, int | None, str]:
    """Apply all entries in order.

    Returns
    -------
    state : LedgerState
        After the last allowed entry.
    first_bad : int or None
        Index of the first entry that is not allowed.
    problem : str
        Why it is not allowed; "" if all are.
    """
    state = LedgerState()
    for place, body in enumerate(bodies):
        try:
            apply(state, body)
        except RuleError as error:
            return state, place, str(error)
    return state, None, ""


def _budget(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    population = _text(body, "population", "")
    gate = _text(body, "gate", "sum")
    if gate not in GATES:
        raise RuleError(f"gate: {short_repr(gate)} is not offered; choose sum or zcdp")
    if population in state.joined or population in state.accounts:
        account = state.account_of(population)
        if gate == "zcdp" or account.epsilon_limit is None:
            raise RuleError("budget: the ρ of a zcdp budget cannot be raised")
        after = _fraction(body, "epsilon")
        if after < account.epsilon_limit or after < account.spent_epsilon:
            raise RuleError("epsilon: a budget can be raised, not lowered")
        step = Raise(state.entries, account.epsilon_limit, after, at[:10])
        state.set_account(replace(account, epsilon_limit=after, raised=(*account.raised, step)))
        return
    different = body.get("different_from", [])
    if not isinstance(different, list) or not all(isinstance(name, str) for name in different):
        raise RuleError("different_from: is not a list of populations")
    account = Account(population, gate, _text(body, "label", ""), different_from=tuple(different))
    if gate == "zcdp":
        rho, delta = _fraction(body, "rho"), _fraction(body, "delta")
        if not 0 < delta <= MAX_DELTA:
            raise RuleError("delta: must be above 0 and at most 10⁻⁶")
        account = replace(account, rho_limit=rho, rho_cap=rho, delta=delta)
    else:
        account = replace(account, epsilon_limit=_fraction(body, "epsilon"))
    state.set_account(account)


def _plan(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    name = _new_release(state, body)
    account = state.account_of(_population(body))
    state.releases[name] = _describe(state, body, at, name, account, "planned")


def _reserve(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    name = _text(body, "release")
    account = state.account_of(_population(body))
    before = state.releases.get(name)
    if before is not None and before.state != "planned":
        raise RuleError(f"release: {short_repr(name)} is {before.state} already")
    result = _describe(state, body, at, name, account, "reserved")
    if before is not None:
        result = replace(result, planned=before.planned, tag=result.tag or before.tag)
        same = ("mechanism", "parameters", "epsilon") + (("tag",) if before.tag is not None else ())
        if differs := [key for key in same if getattr(result, key) != getattr(before, key)]:
            raise RuleError(f"{differs[0]}: differs from the plan; plan the release again")
        if state.account_of(before.population) != account:
            raise RuleError("population: differs from the plan; plan the release again")
    if not account.fits(result.epsilon):
        raise RefusedError(result.epsilon, account.remaining, account.largest_fit(), account.gate)
    state.charge(account, result.epsilon)
    state.releases[name] = result


def _describe(
    state: LedgerState, body: Mapping[str, Any], at: str, name: str, account: Account, status: str
) -> Release:
    epsilon = _fraction(body, "epsilon")
    if epsilon == 0:
        raise RuleError("epsilon: must be above 0")
    for key, only in (("unit", "user id"), ("neighbours", "add-remove")):
        if body.get(key, only) != only:
            raise RuleError(f"{key}: {short_repr(body[key])} needs an account of its own")
    parameters = body.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise RuleError("parameters: is not an object")
    return Release(
        name,
        account.population,
        _text(body, "mechanism", ""),
        epsilon,
        status,
        state.entries,
        at[:10],
        state.entries if status == "planned" else None,
        parameters,
        _digits(body, "tag"),
    )


def _step(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    kind = body["kind"]
    allowed, after = TRANSITIONS[kind]
    before = state.release(_text(body, "release"))
    if before.state not in allowed:
        raise RuleError(
            f"release: {short_repr(before.id)} is {before.state}, so {kind} is not possible"
        )
    result = replace(before, state=after)
    if kind == "commit":
        output = _digits(body, "output_sha256")
        result = replace(result, seq=state.entries, date=at[:10], output_sha256=output)
    if kind == "publish":
        result = replace(result, certificate_sha256=_digits(body, "certificate_sha256"))
    if before.state == "reserved" and after == "abandoned":
        state.charge(state.account_of(before.population), before.epsilon, -1)
    state.releases[before.id] = result


def _external(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    """Add external spending: no gate refuses it, and under *zcdp* it increases the cap."""
    account = state.account_of(_population(body))
    name = f"external {state.entries}"
    result = _describe(state, body, at, name, account, "published")
    charged = account.charged(result.epsilon)
    state.set_account(replace(charged, rho_cap=account.rho_cap + result.epsilon**2 / 2))
    state.releases[name] = replace(result, mechanism="external")


def _join(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    """Join two accounts: spending and caps are added, the smaller limits apply (spec §3)."""
    one = state.account_of(_population(body))
    other = state.account_of(_text(body, "with"))
    how = _text(body, "how", JOINED_AFTER)
    if how not in (JOINED_BEFORE, JOINED_AFTER):
        raise RuleError(f"how: {short_repr(how)} is not a way to join accounts")
    if one == other:
        raise RuleError("with: both are already one population")
    late = JOINED_AFTER in (how, one.joined, other.joined)
    result = replace(
        one,
        gate=one.gate if one.gate == other.gate else "sum",
        delta=one.delta if one.gate == other.gate else None,
        epsilon_limit=_smaller(one.epsilon_limit, other.epsilon_limit),
        rho_limit=_smaller(one.rho_limit, other.rho_limit),
        rho_cap=one.rho_cap + other.rho_cap,
        spent_epsilon=one.spent_epsilon + other.spent_epsilon,
        spent_rho=one.spent_rho + other.spent_rho,
        joined=JOINED_AFTER if late else JOINED_BEFORE,
        raised=tuple(sorted((*one.raised, *other.raised), key=lambda item: item.seq)),
        different_from=tuple(dict.fromkeys((*one.different_from, *other.different_from))),
    )
    state.set_account(result)
    del state.accounts[other.population]
    state.joined[other.population] = one.population


def _move(state: LedgerState, body: Mapping[str, Any], at: str) -> None:
    remark = _text(body, "remark", MOVED)
    if remark not in REMARKS:
        raise RuleError(f"remark: {short_repr(remark)} is not a remark")
    state.remarks.add(remark)


_RULES: dict[str, Callable[[LedgerState, Mapping[str, Any], str], None]] = {
    "budget": _budget,
    "plan": _plan,
    "reserve": _reserve,
    "external": _external,
    "join": _join,
    "moved": _move,
    **dict.fromkeys(TRANSITIONS, _step),
}


def _smaller(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def _text(body: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = body.get(key, default)
    if not isinstance(value, str):
        raise RuleError(f"{key}: " + ("is missing" if value is None else "is not a text"))
    return value


def _population(body: Mapping[str, Any]) -> str | None:
    return _text(body, "population") if "population" in body else None


def _new_release(state: LedgerState, body: Mapping[str, Any]) -> str:
    name = _text(body, "release")
    if name in state.releases:
        raise RuleError(f"release: {short_repr(name)} is {state.releases[name].state} already")
    return name


def _fraction(body: Mapping[str, Any], key: str) -> Fraction:
    return read_fraction(body.get(key), key)


def _digits(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    if value is not None and not (isinstance(value, str) and _HEX64.fullmatch(value)):
        raise RuleError(f"{key}: is not a SHA-256 in hexadecimal digits")
    return value
