"""The ledger as door and window use it: every method that writes is one durable transaction."""

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

from explorer.release.exact_json import canonical, sha256, write_fraction
from explorer.release.ledger.accounts import JOINED_AFTER, UNITS
from explorer.release.ledger.errors import LedgerError
from explorer.release.ledger.locks import DrawLock, need_locks
from explorer.release.ledger.opening import open_ledger
from explorer.release.ledger.reading import LedgerReading
from explorer.release.ledger.settings import Memory, Settings
from explorer.release.ledger.storage import connect, disk_full, said, transaction
from explorer.release.ledger.writing import Writer

SPENT_ALREADY = "nothing is shown, and the release counts as spent"
SLACK_BYTES = 1_000_000
"""Of the disk, for entries and what SQLite needs besides the output."""


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class Ledger(LedgerReading):
    """A ledger that is open for writing; close it, or use it in a ``with``.

    Attributes
    ----------
    path : Path
    id : str
    problem : str
        Why there can be no release, "" if there can.
    notices : list of str
        What the curator is told of what was found at opening.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        *,
        now: Callable[[], datetime] = utc_now,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Open a ledger, a new one if there is none.

        What was interrupted while it was drawn becomes lost, and a new computer or a lost key an
        entry of its own. A chain that is broken or older than what this machine remembers is a
        `problem`: it can be read, not written to.

        Parameters
        ----------
        path : Path
            On a local disk; its key is beside it, ``.key``.
        settings : Settings
            What this machine remembers of ledgers.
        now : callable
            The clock; a time with an offset.
        random_bytes : callable
            For ids and nonces, from the operating system.

        Raises
        ------
        LedgerError
            If the file is no ledger or can't be written to, or this system has no locks.
        """
        need_locks()
        self.path, self._random = path, random_bytes
        self._drawing: dict[str, DrawLock] = {}
        self._con = con = connect(path)
        try:
            with said(path):
                self._memory = memory = Memory(settings, random_bytes)

                def writer(ledger: str) -> Writer:
                    return Writer(con, ledger, memory.host, now, random_bytes)

                found = open_ledger(con, path, memory, writer, random_bytes)
                self.id, self._key = found.id, found.key
                self.problem, self.notices = found.problem, found.notices
                self._writer = writer(self.id)
                if not self.problem:
                    memory.keep(self.id, path, found.last)
        except BaseException:
            con.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; what this process is drawing counts as interrupted."""
        self._con.close()
        for lock in self._drawing.values():
            lock.leave()

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
        """Open an account for good; return the population's id.

        Parameters
        ----------
        gate : str
            "sum" or "zcdp".
        budget : Fraction
            ε, or ρ.
        label : str
            What the curator calls these people; it stands in certificates.
        delta : Fraction, optional
            Of *zcdp*: above 0, at most 10⁻⁶, and never another one.
        different_from : sequence of str
            Populations that the curator declares to be other people.
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
        """Raise the budget of a *sum* gate openly: every later certificate says so."""
        body = {"population": population, "gate": "sum", "epsilon": write_fraction(epsilon)}
        self._append("budget", body)

    def external(self, population: str, epsilon: Fraction, what: str) -> None:
        """Enter ε spent elsewhere, of the same unit and neighbours, rounded up to 2⁻⁴⁰."""
        charged = Fraction(-(-epsilon * UNITS // 1), UNITS)
        body = {"population": population, "epsilon": write_fraction(charged), "what": what}
        self._append("external", body)

    def join(self, population: str, other: str, how: str = JOINED_AFTER) -> None:
        """Join two populations that turn out to be the same people: spent adds."""
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
        """Enter a plan; return the release's id.

        Parameters
        ----------
        epsilon : Fraction
            The price.
        file_sha256 : str, optional
            Of the file it is meant for; `reserve` then takes no other.
        """
        release = self._random(16).hex()
        body = self._described(release, population, mechanism, parameters, epsilon)
        if file_sha256 is not None:
            body["tag"] = self.tag(release, file_sha256)
        self._append("plan", body, release)
        return release

    def check_file(self, release: str, file_sha256: str) -> str:
        """Return a file's tag if it is the one that was planned for.

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
        """Spend what a plan costs: from here on it counts, unless it is abandoned undrawn.

        Raises
        ------
        RefusedError
            If the gate refuses.
        LedgerError
            If the file is not the one that was planned for.
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
        """Enter that noise will be drawn now; nothing is given back any more.

        Parameters
        ----------
        output_bytes : int
            The largest output there can be: so much of the disk is taken beforehand.

        Raises
        ------
        DiskFullError
            Nothing was spent if the release is abandoned then.
        """
        needed = 3 * output_bytes + SLACK_BYTES
        if shutil.disk_usage(self.path.parent).free < needed:
            raise disk_full(self.path, needed, "nothing was spent")
        with said(self.path):
            lock = DrawLock(self.path, release)
        if not lock.taken:
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
            lock.leave()
            raise
        self._drawing[release] = lock
        with suppress(sqlite3.Error):
            # Pages go to the file now: what `commit` writes ahead takes the place they had before.
            self._con.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def commit(self, release: str, output: Mapping[str, Any]) -> None:
        """Store the output, and that it is; show it only when this has returned.

        Raises
        ------
        DiskFullError
            The output must not be shown then; it counts as spent.
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
        self._drawing.pop(release).leave()

    def publish(self, release: str, certificate: Mapping[str, Any]) -> None:
        """Enter the certificate's hash: from here on any changed byte of it is noticed."""
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
        """Enter that an output is not, or no longer, published; it stays spent."""
        self._append("withdraw", {"release": release}, release)

    def abandon(self, release: str) -> None:
        """Give back what was reserved and not drawn."""
        self._append("abandon", {"release": release}, release)

    def lose(self, release: str) -> None:
        """Enter that drawing was interrupted: spent."""
        delete = "DELETE FROM outputs WHERE release = ? AND NOT complete"
        self._append(
            "lose", {"release": release}, release, lambda: self._con.execute(delete, (release,))
        )
        if release in self._drawing:
            self._drawing.pop(release).leave()

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
        """Write one entry and what belongs to it, both or neither."""
        if self.problem:
            raise LedgerError(self.problem)
        with said(self.path, needed, spent), transaction(self._con):
            entry = self._writer.write(kind, body, release)
            also()
        with said(self.path):
            self._memory.keep(self.id, self.path, entry)
