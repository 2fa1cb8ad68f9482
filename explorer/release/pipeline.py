"""The door: from a plan to a stored output, each step on disk before the next.

Plan → read the file, compare its tag → `reserve` → `start` → draw → `commit`. Nothing that is
entered comes from the data: they are read before `reserve`, and nothing that a row holds can
refuse. A file that was said to be about other people is refused, whatever is in it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer import __version__
from explorer.release.certificate.build import Statements, build
from explorer.release.errors import ReleaseError
from explorer.release.ledger.accounts import Release
from explorer.release.ledger.errors import DiskFullError, LedgerError, RefusedError
from explorer.release.ledger.known_data import OPENED
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.other_ledgers import looks_elsewhere
from explorer.release.ledger.settings import FileSettings
from explorer.release.mechanisms.base import UNIT
from explorer.release.plan import Plan, kept_declared, made_plan
from explorer.release.rows.reading import ReadFile, read_file

DECLARED, CHOSEN = "declared", "chosen"
"""What is kept beside the entries of a release."""
RandomBytes = Callable[[int], bytes]


@dataclass(frozen=True)
class Place:
    """Where a ledger is, and what this machine remembers of it."""

    ledger: Path
    settings: Path

    def open(self) -> Ledger:
        """Open the ledger for writing."""
        return Ledger(self.ledger, FileSettings(self.settings))


def enter(ledger: Ledger, plan: Plan) -> str:
    """Enter a plan; return the id of the release to be.

    Raises
    ------
    RefusedError
        If it does not fit: nothing is entered then.
    ReleaseError
        If the ledger can't be written to, or does not know the population.
    """
    _check_fits(ledger, plan)
    release = ledger.plan(plan.population, plan.mechanism.id, plan.parameters(), plan.epsilon)
    ledger.keep_beside(release, DECLARED, plan.declared.kept())
    return release


def planned(ledger: Ledger, plan: Plan) -> str:
    """Return the id that a plan was entered under; enter it if it was not, or is reserved since.

    A plan that was entered for a dry run and is released unchanged so keeps the record that it was
    fixed before the data were opened. What is declared in words may have changed since.

    Raises
    ------
    ReleaseError
        As `enter`.
    """
    _check_fits(ledger, plan)
    for one in ledger.releases():
        if one.state == "planned" and one.tag is None and _is_same(ledger, one, plan):
            ledger.keep_beside(one.id, DECLARED, plan.declared.kept())
            return one.id
    return enter(ledger, plan)


def _check_fits(ledger: Ledger, plan: Plan) -> None:
    if ledger.problem:
        raise LedgerError(ledger.problem)
    account = ledger.account(plan.population)
    if not account.fits(plan.epsilon):
        raise RefusedError(plan.epsilon, account.remaining, account.largest_fit(), account.gate)


def entered_plan(ledger: Ledger, release: str, data: Path = Path()) -> Plan:
    """Return the plan that a release was entered with, from the ledger alone but for the file.

    Raises
    ------
    ReleaseError
        If its mechanism is not known here, or what was declared was not kept.
    """
    entered, declared = ledger.release(release), ledger.beside(release, DECLARED)
    if declared is None:
        raise LedgerError(f"release {release}: what was declared is not kept; give its PLAN.json")
    return made_plan(
        entered.population,
        data,
        entered.mechanism,
        dict(entered.parameters or {}),
        entered.epsilon,
        kept_declared(declared),
    )


def resumed_plan(ledger: Ledger, release: str, plan: Plan) -> Plan:
    """Return the plan of a release that goes on: with the ε and parameters of its entry.

    Before ε was charged as typed, plans were entered with it rounded down to units of 2⁻⁴⁰.

    Raises
    ------
    ReleaseError
        If the plan given is not the one that was entered.
    """
    entered = ledger.release(release)
    if entered.epsilon == plan.epsilon // UNIT * UNIT:
        plan = replace(plan, epsilon=entered.epsilon)
    _check_same(ledger, entered, plan)
    return plan


def draw(place: Place, plan: Plan, release: str, random_bytes: RandomBytes = os.urandom) -> None:
    """Draw a release that is planned, or prepared and not drawn. Its output is then stored.

    Parameters
    ----------
    place : Place
    plan : Plan
        As it was entered.
    release : str
        Its id.
    random_bytes : callable
        `os.urandom`, but in tests.

    Raises
    ------
    ReleaseError
        One sentence. Whether the release counts as spent, the ledger tells.
    """
    with place.open() as ledger:
        _check_entered(ledger, plan, release)
        read = read_file(plan.data, plan.form, plan.reads)
        _recognise(place, ledger, plan, release, read)
        if ledger.release(release).state == "planned":
            ledger.reserve(release, read.sha256)
        else:
            ledger.check_file(release, read.sha256)
        with _uninterrupted():
            _drawn(ledger, plan, release, read, random_bytes)


def _drawn(
    ledger: Ledger, plan: Plan, release: str, read: ReadFile, random_bytes: RandomBytes
) -> None:
    """Draw what is reserved, between `start` and `commit`."""
    try:
        ledger.start(release, plan.mechanism.largest_output(plan.checked, plan.epsilon))
    except DiskFullError:
        ledger.abandon(release)
        raise
    try:
        output = plan.mechanism.draw(read.people, plan.checked, plan.epsilon, random_bytes)
        ledger.commit(release, output.stored)
    except BaseException:
        with suppress(ReleaseError):  # else it becomes lost at the next opening
            ledger.lose(release)
        raise


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl+C wait: what has been started is spent, so it is better finished."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _check_entered(ledger: Ledger, plan: Plan, release: str) -> None:
    if ledger.problem:
        raise LedgerError(ledger.problem)
    entered = ledger.release(release)
    if entered.state not in ("planned", "reserved"):
        raise LedgerError(f"release {release}: it is {entered.state}; plan again")
    _check_same(ledger, entered, plan)


def _check_same(ledger: Ledger, entered: Release, plan: Plan) -> None:
    if not _is_same(ledger, entered, plan):
        raise LedgerError(f"release {entered.id}: it was planned otherwise; plan again")


def _is_same(ledger: Ledger, entered: Release, plan: Plan) -> bool:
    return (
        same_people(ledger, entered.population, plan.population)
        and entered.mechanism == plan.mechanism.id
        and entered.parameters == plan.parameters()
        and entered.epsilon == plan.epsilon
    )


def _recognise(place: Place, ledger: Ledger, plan: Plan, release: str, read: ReadFile) -> None:
    """Refuse a file that is known to be about others; keep that it was opened, and by whom."""
    known = ledger.known.file(read.sha256)
    about = "" if known is None else known.population
    if about and not same_people(ledger, about, plan.population):
        raise ReleaseError(
            f"population: this file was said to be about population {about}; plan "
            "with that one, or join the two"
        )
    ledger.known.has_content(read.sha256, read.content)
    ledger.known.opened(read.sha256)
    # a certificate may be made when the file is gone
    chosen, shown = ledger.parameters_chosen(release, read.sha256)
    elsewhere = looks_elsewhere(FileSettings(place.settings), ledger.id, read.sha256, read.content)
    if elsewhere is not None:
        chosen, shown = OPENED, shown + elsewhere
    ledger.keep_beside(release, CHOSEN, [chosen, shown])
    ledger.known.belongs(read.sha256, plan.population)
    ledger.known.remember(plan.population, read.ids)


def same_people(ledger: Ledger, one: str, other: str) -> bool:
    """Tell whether two populations have one account: they are the same, or were joined."""
    return one == other or ledger.account(one).population == ledger.account(other).population


def certificate_of(ledger: Ledger, plan: Plan, release: str) -> dict[str, Any]:
    """Make the certificate of a release that was committed, as its plan declares it.

    Raises
    ------
    ReleaseError
        If it was not committed, or was planned otherwise.
    """
    entered = ledger.release(release)
    _check_same(ledger, entered, plan)
    record, shown = ledger.beside(release, CHOSEN) or (OPENED, 0)
    stated = Statements(
        plan.declared.texts,
        plan.declared.independent_of_data,
        (record, shown),
        entered.tag or "",
        __version__,
        plan.declared.conditions,
        plan.declared.evaluation,
        format=plan.declared.format,
    )
    return build(ledger.view(), release, stated)


def publish(ledger: Ledger, plan: Plan, release: str) -> dict[str, Any]:
    """Return the certificate that a release is published with, publishing it if it was not.

    Raises
    ------
    ReleaseError
        If there is nothing to publish, or it was withdrawn.
    """
    if ledger.release(release).state == "withdrawn":
        raise LedgerError(f"release {release}: it was withdrawn; what it cost stays spent")
    made = ledger.certificate(release)
    if made is None:
        made = certificate_of(ledger, plan, release)
        ledger.publish(release, made)
    return made
