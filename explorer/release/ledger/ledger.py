"""The budget ledger: every method that writes is one durable transaction."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from explorer.release.errors import LedgerError
from explorer.release.exact_json import canonical, read_json, sha256, write_fraction
from explorer.release.ledger.chain import Entry
from explorer.release.ledger.keys import file_tag, key_file
from explorer.release.ledger.known_data import KnownData
from explorer.release.ledger.locks import DrawLock, require_locks
from explorer.release.ledger.opening import Writer, open_ledger
from explorer.release.ledger.settings import KnownLedgers, Settings
from explorer.release.ledger.state import JOINED_AFTER, UNITS, Account, LedgerState, Release
from explorer.release.ledger.storage import (
    StoredOutputs,
    connect,
    disk_full,
    entries_of,
    load_state,
    meta,
    set_meta,
    transaction,
    translate_errors,
)
from explorer.release.ledger.view import View, check_digest, check_entries

SPENT_ALREADY = "nothing is shown, and the release counts as spent"
SLACK_BYTES = 1_000_000
"""Free disk space required for entries and SQLite, in addition to the output."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Ledger:
    """A ledger open for writing; a context manager.

    Attributes
    ----------
    path : Path
    id : str
    problem : str
        Why no release is possible; "" if one is.
    notices : list of str
        Messages for the curator about the opening.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        *,
        now: Callable[[], datetime] = utc_now,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Open a ledger; create it if there is none.

        Interrupted releases become lost, and a new computer or a lost key is entered as a remark.
        A broken chain, or one older than this machine's settings state, is a `problem`: such a
        ledger can be read but not written to.

        Parameters
        ----------
        path : Path
            On a local disk; the key is in the file with suffix ``.key`` next to it.
        settings : Settings
            Of this machine.
        now : callable
            Clock; returns a time with an offset.
        random_bytes : callable
            For ids and nonces; from the operating system.

        Raises
        ------
        LedgerError
            If the file is no ledger or can't be written to, or this system has no locks.
        """
        require_locks()
        self.path, self._random = path, random_bytes
        self._drawing: dict[str, DrawLock] = {}
        self._con = con = connect(path)
        try:
            with translate_errors(path):
                self._known_ledgers = known_ledgers = KnownLedgers(settings, random_bytes)

                def writer(ledger: str) -> Writer:
                    return Writer(con, ledger, known_ledgers.host, now, random_bytes)

                result = open_ledger(con, path, known_ledgers, writer, random_bytes)
                self.id, self._key = result.id, result.key
                self.problem, self.notices = result.problem, result.notices
                self._writer = writer(self.id)
                if not self.problem:
                    known_ledgers.remember(self.id, path, result.last)
        except BaseException:
            con.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger; a release that this process is drawing counts as interrupted."""
        self._con.close()
        for lock in self._drawing.values():
            lock.unlock()

    # -- reading

    def account(self, population: str) -> Account:
        """Return the account to which releases about a population are charged."""
        return self.state("").account_of(population)

    def accounts(self) -> tuple[Account, ...]:
        """Return all accounts."""
        return tuple(self.state("").accounts.values())

    def releases(self) -> tuple[Release, ...]:
        """Return all releases and external spending, in order of the entries."""
        return tuple(sorted(self.state().releases.values(), key=lambda release: release.seq))

    def release(self, name: str) -> Release:
        """Return a release by its id."""
        return self.state(name).release(name)

    def reserved_releases(self) -> tuple[Release, ...]:
        """Return releases that are reserved but not drawn: to be resumed or abandoned."""
        return tuple(release for release in self.releases() if release.state == "reserved")

    def state(self, release: str | None = None) -> LedgerState:
        """Return the stored state with all releases, or with one of them."""
        with translate_errors(self.path):
            return load_state(self._con, release)

    def view(self) -> View:
        """Return all entries after checking them, as a verifier would.

        Raises
        ------
        LedgerError
            If the chain is broken.
        """
        with translate_errors(self.path):
            entries = entries_of(self._con, self.path.name)
        return View(self.id, entries, check_entries(entries), self._key, StoredOutputs(self.path))

    def entries(self) -> list[Entry]:
        """Return all entries without checking the chain."""
        with translate_errors(self.path):
            return entries_of(self._con, self.path.name)

    def output(self, release: str) -> dict[str, Any]:
        """Return the stored output of a release; reading it has no privacy cost.

        Raises
        ------
        LedgerError
            If nothing was committed, or the stored output has changed.
        """
        with translate_errors(self.path):
            row = self._con.execute(
                "SELECT stored FROM outputs WHERE release = ? AND complete", (release,)
            ).fetchone()
        if row is None:
            raise LedgerError(f"release {release}: nothing is stored, as it was not committed")
        check_digest("output", release, bytes(row[0]), self.release(release).output_sha256)
        result: dict[str, Any] = read_json(bytes(row[0]), f"output of {release}")
        return result

    def certificate(self, release: str) -> dict[str, Any] | None:
        """Return the published certificate of a release, or None.

        Raises
        ------
        LedgerError
            If the stored certificate has changed.
        """
        with translate_errors(self.path):
            row = self._con.execute(
                "SELECT certificate FROM outputs WHERE release = ?", (release,)
            ).fetchone()
        if row is None or row[0] is None:
            return None
        entered = self.release(release).certificate_sha256
        check_digest("certificate", release, bytes(row[0]), entered)
        result: dict[str, Any] = read_json(bytes(row[0]), f"certificate of {release}")
        return result

    @property
    def known(self) -> KnownData:
        """Records of files and user ids, under the ledger's key."""
        return KnownData(self.path, self._con, self._need_key())

    def set_attachment(self, release: str, name: str, value: Any) -> None:
        """Store a JSON value with a release, outside the chain and the exports."""
        text = canonical(value).decode()
        with translate_errors(self.path), transaction(self._con):
            set_meta(self._con, f"{name} {release}", text)

    def attachment(self, release: str, name: str) -> Any:
        """Return a value stored by `set_attachment`, or None."""
        with translate_errors(self.path):
            text = meta(self._con, f"{name} {release}")
        return read_json(text.encode(), name) if text else None

    def parameters_chosen(self, release: str, file_sha256: str) -> tuple[str, int]:
        """Return when parameters were chosen and the number of views, for a certificate.

        See `KnownData.parameters_chosen`.
        """
        return self.known.parameters_chosen(self.view().state, release, file_sha256)

    def tag(self, release: str, file_sha256: str) -> str:
        """Return the tag of a data file in the certificate of a release."""
        return file_tag(self._need_key(), release, file_sha256)

    def _need_key(self) -> bytes:
        if self._key is None:
            raise LedgerError(f"{key_file(self.path).name}: {self.problem or 'can not be read'}")
        return self._key

    # -- populations

    def open_population(
        self,
        gate: str,
        budget: Fraction,
        label: str,
        *,
        delta: Fraction | None = None,
        different_from: Sequence[str] = (),
    ) -> str:
        """Open the account of a new population and return its id. Accounts are never closed.

        Parameters
        ----------
        gate : str
            "sum" or "zcdp".
        budget : Fraction
            ε, or ρ.
        label : str
            Name of the population in certificates.
        delta : Fraction, optional
            Of *zcdp*: above 0, at most 10⁻⁶; never changes.
        different_from : sequence of str
            Populations that the curator declares to be different people.
        """
        population = self._random(16).hex()
        body: dict[str, Any] = {"population": population, "gate": gate, "label": label}
        if gate == "zcdp":
            body |= {"rho": write_fraction(budget)}
            body |= {"delta": write_fraction(delta)} if delta is not None else {}
        else:
            body |= {"epsilon": write_fraction(budget)}
        if different_from:
            body["different_from"] = list(different_from)
        self._append("budget", body)
        return population

    def raise_budget(self, population: str, epsilon: Fraction) -> None:
        """Raise the budget of a *sum* gate; all later certificates state it."""
        body = {"population": population, "gate": "sum", "epsilon": write_fraction(epsilon)}
        self._append("budget", body)

    def external(self, population: str, epsilon: Fraction, what: str) -> None:
        """Enter external spending with the same unit and neighbours; ε is rounded up to 2⁻⁴⁰."""
        charged = Fraction(-(-epsilon * UNITS // 1), UNITS)
        body = {"population": population, "epsilon": write_fraction(charged), "what": what}
        self._append("external", body)

    def join(self, population: str, other: str, how: str = JOINED_AFTER) -> None:
        """Join two populations that are the same people; their spending is added."""
        self._append("join", {"population": population, "with": other, "how": how})

    # -- a release, step by step

    def plan(
        self,
        population: str,
        mechanism: str,
        parameters: Mapping[str, Any],
        epsilon: Fraction,
        file_sha256: str | None = None,
    ) -> str:
        """Enter a plan and return the id of its release.

        Parameters
        ----------
        population, mechanism : str
        parameters : mapping
        epsilon : Fraction
            The price.
        file_sha256 : str, optional
            Of the data file; `reserve` then refuses any other file.
        """
        release = self._random(16).hex()
        body = self._described(release, population, mechanism, parameters, epsilon)
        if file_sha256 is not None:
            body["tag"] = self.tag(release, file_sha256)
        self._append("plan", body, release)
        return release

    def check_file(self, release: str, file_sha256: str) -> str:
        """Return a file's tag if it is the planned file.

        Raises
        ------
        LedgerError
            If the data have changed.
        """
        tag, planned = self.tag(release, file_sha256), self.release(release).tag
        if planned is not None and planned != tag:
            raise LedgerError("the data file is not the one that was planned for; plan again")
        return tag

    def reserve(self, release: str, file_sha256: str | None = None) -> None:
        """Charge the price of a plan; it counts from now on, unless the release is abandoned.

        Raises
        ------
        RefusedError
            If the gate refuses.
        LedgerError
            If the file is not the planned one.
        """
        known = self.release(release)
        body = self._described(
            release, known.population, known.mechanism, known.parameters or {}, known.epsilon
        )
        if file_sha256 is not None:
            body["tag"] = self.check_file(release, file_sha256)
        elif known.tag is not None:
            body["tag"] = known.tag
        self._append("reserve", body, release)

    def start(self, release: str, output_bytes: int = 0) -> None:
        """Enter the start of a draw, after which the price can't be given back.

        Parameters
        ----------
        output_bytes : int
            Largest possible output: this disk space is allocated first.

        Raises
        ------
        DiskFullError
            Nothing is spent if the release is then abandoned.
        """
        needed = 3 * output_bytes + SLACK_BYTES
        if shutil.disk_usage(self.path.parent).free < needed:
            raise disk_full(self.path, needed, "nothing was spent")
        with translate_errors(self.path):
            lock = DrawLock(self.path, release)
        if not lock.acquired:
            raise LedgerError(f"release {release}: another process is drawing it")
        try:
            insert = "INSERT OR REPLACE INTO outputs VALUES (?, zeroblob(?), 0, NULL)"
            self._append(
                "start",
                {"release": release},
                release,
                lambda: self._con.execute(insert, (release, output_bytes)),
                needed=needed,
            )
        except BaseException:
            lock.unlock()
            raise
        self._drawing[release] = lock
        with suppress(sqlite3.Error):
            # Moves pages to the file, so that `commit` can reuse their space in the log.
            self._con.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def commit(self, release: str, output: Mapping[str, Any]) -> None:
        """Store the output and enter the commit. Show the output only after this returned.

        Raises
        ------
        DiskFullError
            The output must not be shown; it counts as spent.
        """
        if release not in self._drawing:
            raise LedgerError(f"release {release}: this process has not started drawing it")
        data = canonical(dict(output))
        update = "UPDATE outputs SET stored = ?, complete = 1 WHERE release = ?"
        self._append(
            "commit",
            {"release": release, "output_sha256": sha256(data)},
            release,
            lambda: self._con.execute(update, (data, release)),
            needed=len(data),
            spent=SPENT_ALREADY,
        )
        self._drawing.pop(release).unlock()

    def publish(self, release: str, certificate: Mapping[str, Any]) -> None:
        """Store the certificate and enter its hash, which detects any later change."""
        data = canonical(dict(certificate))
        update = "UPDATE outputs SET certificate = ? WHERE release = ?"
        self._append(
            "publish",
            {"release": release, "certificate_sha256": sha256(data)},
            release,
            lambda: self._con.execute(update, (data, release)),
            needed=len(data),
        )

    def withdraw(self, release: str) -> None:
        """Enter that an output is not, or no longer, published; its price stays spent."""
        self._append("withdraw", {"release": release}, release)

    def abandon(self, release: str) -> None:
        """Give back the price of a release that was planned or reserved but not drawn."""
        self._append("abandon", {"release": release}, release)

    def lose(self, release: str) -> None:
        """Enter that a draw was interrupted; its price stays spent."""
        delete = "DELETE FROM outputs WHERE release = ? AND NOT complete"
        self._append(
            "lose", {"release": release}, release, lambda: self._con.execute(delete, (release,))
        )
        if release in self._drawing:
            self._drawing.pop(release).unlock()

    # -- inside

    def _described(
        self,
        release: str,
        population: str,
        mechanism: str,
        parameters: Mapping[str, Any],
        epsilon: Fraction,
    ) -> dict[str, Any]:
        return {
            "release": release,
            "population": population,
            "mechanism": mechanism,
            "parameters": dict(parameters),
            "epsilon": write_fraction(epsilon),
            "unit": "user id",
            "neighbours": "add-remove",
        }

    def _append(
        self,
        kind: str,
        body: Mapping[str, Any],
        release: str = "",
        also: Callable[[], object] = lambda: None,
        needed: int = 0,
        spent: str = "nothing was spent",
    ) -> None:
        """Append an entry and run `also` in the same transaction."""
        if self.problem:
            raise LedgerError(self.problem)
        with translate_errors(self.path, needed, spent), transaction(self._con):
            entry = self._writer.write(kind, body, release)
            also()
        with translate_errors(self.path):
            self._known_ledgers.remember(self.id, self.path, entry)
