"""Release pipeline: plan, reserve, draw, commit. Each step is durable before the next begins.

The order is: enter the plan, read the file and check its tag, `reserve`, `start`, draw, `commit`.
No entry depends on the data: the file is read before `reserve`, and no row content can cause a
refusal. A file that is recorded for another population, or whose content is a public map of its
plan, is refused whatever it contains.
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
from explorer.release.errors import (
    CancelledReleaseError,
    DiskFullError,
    LedgerError,
    RefusedError,
    ReleaseError,
)
from explorer.release.ledger.known_data import OPENED, views_elsewhere
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.adaptive import priors_in
from explorer.release.mechanisms.base import UNIT
from explorer.release.plan import Plan, build_plan, stored_declaration
from explorer.release.priors import (
    check_not_data,
    check_priors,
    entered_priors,
    store_priors,
    stored_priors,
)
from explorer.release.rows.reading import ReadFile, read_file

DECLARED, CHOSEN = "declared", "chosen"
"""Names of the attachments of a release: the declaration, and when parameters were chosen."""
READ, BOOK, DRAW, STORE = PHASES = ("read", "book", "draw", "store")
"""Phases of a release, in order: read the file, book the cost, draw the noise, store the output."""
NOT_BOOKED = "Cancelled before the cost was booked. Nothing was spent."
REFUNDED = "Cancelled before the noise was drawn. The cost was refunded."
RandomBytes = Callable[[int], bytes]


def _ignore(_phase: str) -> None:
    """Observe nothing and cancel nothing."""


@dataclass(frozen=True)
class LedgerLocation:
    """Paths of a ledger and of this machine's settings."""

    ledger: Path
    settings: Path

    def open(self) -> Ledger:
        """Open the ledger for writing."""
        return Ledger(self.ledger, FileSettings(self.settings))


def plan_release(ledger: Ledger, plan: Plan) -> str:
    """Enter a plan in the ledger and return the id of the release.

    Raises
    ------
    RefusedError
        If the budget does not allow it; nothing is entered then.
    ReleaseError
        If the ledger can't be written to, or has no such population.
    """
    _check_fits(ledger, plan)
    if priors_in(plan.own_parameters):
        plan.own_parameters.known()  # else the map could not be made
    release = ledger.plan(plan.population, plan.mechanism.id, plan.parameters(), plan.epsilon)
    ledger.set_attachment(release, DECLARED, plan.declared.as_stored())
    store_priors(ledger, release, plan)
    return release


def find_or_plan_release(ledger: Ledger, plan: Plan) -> str:
    """Return the id of an entered plan that is not reserved yet; enter the plan if there is none.

    A plan entered for a file check and released unchanged thus keeps the record that it was fixed
    before the data were opened. Declared texts may have changed in between.

    Raises
    ------
    ReleaseError
        As `plan_release`.
    """
    _check_fits(ledger, plan)
    for one in ledger.releases():
        if one.state == "planned" and one.tag is None and _is_same(ledger, one, plan):
            ledger.set_attachment(one.id, DECLARED, plan.declared.as_stored())
            store_priors(ledger, one.id, plan)
            return one.id
    return plan_release(ledger, plan)


def _check_fits(ledger: Ledger, plan: Plan) -> None:
    if ledger.problem:
        raise LedgerError(ledger.problem)
    account = ledger.account(plan.population)
    if not account.fits(plan.epsilon):
        raise RefusedError(plan.epsilon, account.remaining, account.largest_fit(), account.gate)
    check_priors(ledger, plan)


def load_plan(ledger: Ledger, release: str, data: Path = Path()) -> Plan:
    """Return the plan of a release from the ledger; only the path of the file is given.

    It has what its public priors hold.

    Raises
    ------
    ReleaseError
        If its mechanism is unknown, or its declaration was not stored.
    """
    entered, declared = ledger.release(release), ledger.attachment(release, DECLARED)
    if declared is None:
        raise LedgerError(f"release {release}: its plan is not stored here. Use its PLAN.json.")
    plan = build_plan(
        entered.population,
        data,
        entered.mechanism,
        dict(entered.parameters or {}),
        entered.epsilon,
        stored_declaration(declared),
    )
    return stored_priors(ledger, release, plan)


def resume_plan(ledger: Ledger, release: str, plan: Plan) -> Plan:
    """Return the plan for resuming a release, with the ε of its entry and its public priors.

    Raises
    ------
    ReleaseError
        If the plan differs from the one entered.
    """
    entered = ledger.release(release)
    # earlier versions entered ε rounded down to units of 2⁻⁴⁰, not as typed
    if entered.epsilon == plan.epsilon // UNIT * UNIT:
        plan = replace(plan, epsilon=entered.epsilon)
    plan = entered_priors(entered, plan)
    _check_same(ledger, entered, plan)
    return stored_priors(ledger, release, plan)


def draw(
    location: LedgerLocation,
    plan: Plan,
    release: str,
    random_bytes: RandomBytes = os.urandom,
    observe: Callable[[str], object] = _ignore,
) -> None:
    """Draw a planned or reserved release and store its output.

    Parameters
    ----------
    place : Place
    plan : Plan
        As entered.
    release : str
        Its id.
    random_bytes : callable
        `os.urandom` except in tests.
    observe : callable
        Called with each of `PHASES` before it begins, and with `READ` again for every block of the
        file. It may raise `CancelledReleaseError` up to the call with `DRAW`: a cost that is booked
        is then refunded. In the last phase it must not raise.

    Raises
    ------
    CancelledReleaseError
        If `observe` raised it; nothing is spent.
    ReleaseError
        The ledger states whether the release counts as spent.
    """
    with location.open() as ledger:
        _check_entered(ledger, plan, release)
        try:
            observe(READ)
            read = read_file(plan.data, plan.form, plan.reads, lambda *_: observe(READ))
            _record_file(location, ledger, plan, release, read)
            observe(BOOK)
            if ledger.release(release).state == "planned":
                ledger.reserve(release, read.sha256)
            else:
                ledger.check_file(release, read.sha256)
            observe(DRAW)
        except CancelledReleaseError:
            if ledger.release(release).state != "reserved":
                raise CancelledReleaseError(NOT_BOOKED) from None
            ledger.abandon(release)
            raise CancelledReleaseError(REFUNDED) from None
        with _defer_interrupts():
            _draw_and_commit(ledger, plan, release, read, random_bytes, observe)


def _draw_and_commit(
    ledger: Ledger,
    plan: Plan,
    release: str,
    read: ReadFile,
    random_bytes: RandomBytes,
    observe: Callable[[str], object],
) -> None:
    """Start, draw and commit a reserved release."""
    try:
        ledger.start(release, plan.mechanism.max_output_bytes(plan.own_parameters, plan.epsilon))
    except DiskFullError:
        ledger.abandon(release)
        raise
    try:
        output = plan.mechanism.draw(read.records, plan.own_parameters, plan.epsilon, random_bytes)
        observe(STORE)
        ledger.commit(release, output.stored)
    except BaseException:
        with suppress(ReleaseError):  # else marked as lost when the ledger is next opened
            ledger.lose(release)
        raise


@contextmanager
def _defer_interrupts() -> Iterator[None]:
    """Ignore Ctrl+C in the block: a started release is spent, so it should be completed."""
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
        raise LedgerError(f"release {release}: it is {entered.state}. Plan a new release.")
    _check_same(ledger, entered, plan)
    check_priors(ledger, plan)


def _check_same(ledger: Ledger, entered: Release, plan: Plan) -> None:
    if not _is_same(ledger, entered, plan):
        raise LedgerError(
            f"release {entered.id}: it was planned with other settings. Plan a new release."
        )


def _is_same(ledger: Ledger, entered: Release, plan: Plan) -> bool:
    return (
        same_people(ledger, entered.population, plan.population)
        and entered.mechanism == plan.mechanism.id
        and entered.parameters == plan.parameters()
        and entered.epsilon == plan.epsilon
    )


def _record_file(
    location: LedgerLocation, ledger: Ledger, plan: Plan, release: str, read: ReadFile
) -> None:
    """Record that the file was opened and its users; refuse it if it has another population."""
    known = ledger.known.file(read.sha256)
    about = "" if known is None else known.population
    if about and not same_people(ledger, about, plan.population):
        name = ledger.account(about).label
        raise ReleaseError(
            f"population: this file is recorded for the group “{name}” ({about}). Choose that "
            "group, or join the two groups in the ledger. Nothing was spent."
        )
    check_not_data(ledger, release, read.content)
    ledger.known.record_content(read.sha256, read.content)
    ledger.known.record_opened(read.sha256)
    # stored now, as the file may be gone when the certificate is built
    record, shown = ledger.parameters_chosen(release, read.sha256)
    elsewhere = views_elsewhere(
        FileSettings(location.settings), ledger.id, read.sha256, read.content
    )
    if elsewhere is not None:
        record, shown = OPENED, shown + elsewhere
    ledger.set_attachment(release, CHOSEN, [record, shown])
    ledger.known.record_population(read.sha256, plan.population)
    ledger.known.record_ids(plan.population, read.ids)


def same_people(ledger: Ledger, one: str, other: str) -> bool:
    """Return whether two populations share an account: they are equal, or were joined."""
    return one == other or ledger.account(one).population == ledger.account(other).population


def certificate_of(ledger: Ledger, plan: Plan, release: str) -> dict[str, Any]:
    """Build the certificate of a committed release.

    Raises
    ------
    ReleaseError
        If it was not committed, or the plan differs from the one entered.
    """
    entered = ledger.release(release)
    _check_same(ledger, entered, plan)
    record, shown = ledger.attachment(release, CHOSEN) or (OPENED, 0)
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
    """Return the certificate of a release, publishing it first if necessary.

    Raises
    ------
    ReleaseError
        If the release is not committed, or was withdrawn.
    """
    if ledger.release(release).state == "withdrawn":
        raise LedgerError(f"release {release}: it was withdrawn. Its cost stays spent.")
    certificate = ledger.certificate(release)
    if certificate is None:
        ledger.output(release)  # refuses an output that was changed
        certificate = certificate_of(ledger, plan, release)
        ledger.publish(release, certificate)
    return certificate
