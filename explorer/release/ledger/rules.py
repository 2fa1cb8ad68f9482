"""What entries of a ledger mean: the rules, once, for writing and for replaying.

`apply` takes one more entry into a book or refuses it, and then nothing has changed. The ledger's
file keeps the balances beside the entries, so that a gate is one comparison; replaying all
entries must give the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from explorer.release.errors import ReleaseError
from explorer.release.exact_json import read_fraction, shortened
from explorer.release.ledger.accounts import (
    CLOCK,
    GATES,
    JOINED_AFTER,
    JOINED_BEFORE,
    LARGEST_DELTA,
    MOVED,
    REMARKS,
    Account,
    Raise,
    Release,
)
from explorer.release.ledger.errors import RefusedError, RuleError
from explorer.release.ledger.state import LedgerState

TRANSITIONS = {
    "start": (("reserved",), "started"),
    "commit": (("started",), "committed"),
    "publish": (("committed",), "published"),
    "withdraw": (("committed", "published"), "withdrawn"),
    "abandon": (("planned", "reserved"), "abandoned"),
    "lose": (("started",), "lost"),
}
"""What happens to a release: the states it may be in before, and the one after."""

_HEX64 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)


def apply(book: LedgerState, body: Mapping[str, Any]) -> None:
    """Take one more entry.

    Raises
    ------
    RuleError
        If the rules do not allow it; nothing has changed then.
    """
    kind = body.get("kind")
    rule = _RULES.get(kind) if isinstance(kind, str) else None
    if rule is None:
        raise RuleError(f"kind: {shortened(kind)} is no kind of entry")
    at = body.get("at", "")
    if not isinstance(at, str) or (at and not _TIME.fullmatch(at)):
        raise RuleError(f"at: {shortened(at)} is no time in UTC such as 2026-01-19T08:00:00Z")
    seq = body.get("seq", book.entries)
    if type(seq) is not int or seq != book.entries:
        raise RuleError(f"seq: {shortened(seq)} stands where {book.entries} should")
    ledger = body.get("ledger", book.ledger)
    if not isinstance(ledger, str) or (book.ledger and ledger != book.ledger):
        raise RuleError("ledger: the entry belongs to another ledger")
    host = _text(body, "host", "")
    try:
        rule(book, body, at)
    except RuleError:
        raise
    except ReleaseError as error:
        raise RuleError(str(error)) from None
    book.ledger, book.host = ledger, host or book.host
    if at and at < book.last_at:
        book.remarks.add(CLOCK)
    book.last_at = at or book.last_at
    book.entries += 1


def replay(bodies: Iterable[Mapping[str, Any]]) -> tuple[LedgerState, int | None, str]:
    """Apply entries from the first on.

    Returns
    -------
    book : Book
        After the last entry that is allowed.
    first_bad : int or None
        The place of the first that is not.
    problem : str
        Why it is not, "" if all are allowed.
    """
    book = LedgerState()
    for place, body in enumerate(bodies):
        try:
            apply(book, body)
        except RuleError as error:
            return book, place, str(error)
    return book, None, ""


def _budget(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    population = _text(body, "population", "")
    gate = _text(body, "gate", "sum")
    if gate not in GATES:
        raise RuleError(f"gate: {shortened(gate)} is not offered; choose sum or zcdp")
    if population in book.joined or population in book.accounts:
        account = book.account_of(population)
        if gate == "zcdp" or account.epsilon_limit is None:
            raise RuleError("budget: the ρ of a zcdp gate is never raised")
        after = _fraction(body, "epsilon")
        if after < account.epsilon_limit or after < account.spent_epsilon:
            raise RuleError("epsilon: a budget can be raised, not lowered")
        step = Raise(book.entries, account.epsilon_limit, after, at[:10])
        book.keep(replace(account, epsilon_limit=after, raised=(*account.raised, step)))
        return
    different = body.get("different_from", [])
    if not isinstance(different, list) or not all(isinstance(name, str) for name in different):
        raise RuleError("different_from: is no list of populations")
    account = Account(population, gate, _text(body, "label", ""), different_from=tuple(different))
    if gate == "zcdp":
        rho, delta = _fraction(body, "rho"), _fraction(body, "delta")
        if not 0 < delta <= LARGEST_DELTA:
            raise RuleError("delta: must be above 0 and at most 10⁻⁶")
        account = replace(account, rho_limit=rho, rho_cap=rho, delta=delta)
    else:
        account = replace(account, epsilon_limit=_fraction(body, "epsilon"))
    book.keep(account)


def _plan(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    name = _new_release(book, body)
    account = book.account_of(_population(body))
    book.releases[name] = _described(book, body, at, name, account, "planned")


def _reserve(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    name = _text(body, "release")
    account = book.account_of(_population(body))
    before = book.releases.get(name)
    if before is not None and before.state != "planned":
        raise RuleError(f"release: {shortened(name)} is {before.state} already")
    made = _described(book, body, at, name, account, "reserved")
    if before is not None:
        made = replace(made, planned=before.planned, tag=made.tag or before.tag)
        same = ("mechanism", "parameters", "epsilon") + (("tag",) if before.tag is not None else ())
        if differs := [key for key in same if getattr(made, key) != getattr(before, key)]:
            raise RuleError(f"{differs[0]}: is not what was planned; plan again")
        if book.account_of(before.population) != account:
            raise RuleError("population: is not what was planned; plan again")
    if not account.fits(made.epsilon):
        raise RefusedError(made.epsilon, account.remaining, account.largest_fit(), account.gate)
    book.charge(account, made.epsilon)
    book.releases[name] = made


def _described(
    book: LedgerState, body: Mapping[str, Any], at: str, name: str, account: Account, state: str
) -> Release:
    epsilon = _fraction(body, "epsilon")
    if epsilon == 0:
        raise RuleError("epsilon: must be above 0")
    for key, only in (("unit", "user id"), ("neighbours", "add-remove")):
        if body.get(key, only) != only:
            raise RuleError(f"{key}: {shortened(body[key])} needs an account of its own")
    parameters = body.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise RuleError("parameters: is no object")
    return Release(
        name,
        account.population,
        _text(body, "mechanism", ""),
        epsilon,
        state,
        book.entries,
        at[:10],
        book.entries if state == "planned" else None,
        parameters,
        _digits(body, "tag"),
    )


def _step(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    kind = body["kind"]
    allowed, after = TRANSITIONS[kind]
    before = book.release(_text(body, "release"))
    if before.state not in allowed:
        raise RuleError(f"release: {shortened(before.id)} is {before.state}; {kind} is impossible")
    made = replace(before, state=after)
    if kind == "commit":
        output = _digits(body, "output_sha256")
        made = replace(made, seq=book.entries, date=at[:10], output_sha256=output)
    if kind == "publish":
        made = replace(made, certificate_sha256=_digits(body, "certificate_sha256"))
    if before.state == "reserved" and after == "abandoned":
        book.charge(book.account_of(before.population), before.epsilon, -1)
    book.releases[before.id] = made


def _external(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    """ε spent elsewhere is a fact that no gate refuses; under *zcdp* it adds to the cap."""
    account = book.account_of(_population(body))
    name = f"external {book.entries}"
    made = _described(book, body, at, name, account, "published")
    charged = account.charged(made.epsilon)
    book.keep(replace(charged, rho_cap=account.rho_cap + made.epsilon**2 / 2))
    book.releases[name] = replace(made, mechanism="external")


def _join(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    """Spent adds, the smaller limits hold, caps add (spec §3)."""
    one = book.account_of(_population(body))
    other = book.account_of(_text(body, "with"))
    how = _text(body, "how", JOINED_AFTER)
    if how not in (JOINED_BEFORE, JOINED_AFTER):
        raise RuleError(f"how: {shortened(how)} is not how accounts are joined")
    if one == other:
        raise RuleError("with: both are one population already")
    late = JOINED_AFTER in (how, one.joined, other.joined)
    made = replace(
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
    book.keep(made)
    del book.accounts[other.population]
    book.joined[other.population] = one.population


def _moved(book: LedgerState, body: Mapping[str, Any], at: str) -> None:
    remark = _text(body, "remark", MOVED)
    if remark not in REMARKS:
        raise RuleError(f"remark: {shortened(remark)} is no remark")
    book.remarks.add(remark)


_RULES: dict[str, Callable[[LedgerState, Mapping[str, Any], str], None]] = {
    "budget": _budget,
    "plan": _plan,
    "reserve": _reserve,
    "external": _external,
    "join": _join,
    "moved": _moved,
    **dict.fromkeys(TRANSITIONS, _step),
}


def _smaller(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def _text(body: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = body.get(key, default)
    if not isinstance(value, str):
        raise RuleError(f"{key}: " + ("is missing" if value is None else "is no text"))
    return value


def _population(body: Mapping[str, Any]) -> str | None:
    return _text(body, "population") if "population" in body else None


def _new_release(book: LedgerState, body: Mapping[str, Any]) -> str:
    name = _text(body, "release")
    if name in book.releases:
        raise RuleError(f"release: {shortened(name)} is {book.releases[name].state} already")
    return name


def _fraction(body: Mapping[str, Any], key: str) -> Fraction:
    return read_fraction(body.get(key), key)


def _digits(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    if value is not None and not (isinstance(value, str) and _HEX64.fullmatch(value)):
        raise RuleError(f"{key}: is no SHA-256 in hexadecimal digits")
    return value
