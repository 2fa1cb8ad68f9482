"""The budget ledger: every method that writes is one durable transaction.

Opening checks integrity and the key, detects rollbacks and counts interrupted releases as lost. A
rollback of ledger and settings together (a virtual machine), or a chain rewritten completely by its
owner, is not detected: only certificates issued before can show it.
"""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from explorer.release.errors import LedgerError, ReleaseError
from explorer.release.exact_json import canonical, read_json, sha256, write_fraction
from explorer.release.ledger.chain import Entry, entry_hash
from explorer.release.ledger.keys import file_tag, key_check, key_file, make_key, read_key
from explorer.release.ledger.known_data import KnownData
from explorer.release.ledger.settings import KnownLedgers, LedgerHead, Settings
from explorer.release.ledger.state import (
    JOINED_AFTER,
    MOVED,
    NO_KEY,
    RESTORED,
    UNITS,
    UNKNOWN,
    Account,
    LedgerState,
    Release,
    apply,
)
from explorer.release.ledger.storage import (
    DrawLock,
    StoredOutputs,
    connect,
    disk_full,
    entries_of,
    head_of,
    load_state,
    meta,
    require_locks,
    save_state,
    set_meta,
    transaction,
    translate_errors,
)
from explorer.release.ledger.view import View, check_derived_tables, check_digest, check_entries


@dataclass(frozen=True)
class Writer:
    """Appends entries to a ledger.

    Attributes
    ----------
    con : sqlite3.Connection
    ledger, host : str
        Ids of the ledger and of this machine.
    now : callable
        The clock.
    random_bytes : callable
        For nonces.
    """

    con: sqlite3.Connection
    ledger: str
    host: str
    now: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]

    def time(self) -> str:
        """Return the current time in the format of entries."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def write(self, kind: str, body: Mapping[str, Any], release: str = "") -> Entry:
        """Append an entry if the rules allow it; the caller has begun a transaction.

        The stored state is updated with it, so that the cost does not depend on the number of
        entries.

        Raises
        ------
        RuleError
            If the rules do not allow the entry.
        """
        seq, prev, _ = head_of(self.con)
        whole = {
            **body,
            "kind": kind,
            "seq": seq + 1,
            "at": self.time(),
            "nonce": self.random_bytes(16).hex(),
        }
        if seq < 0:
            whole |= {"ledger": self.ledger, "host": self.host}
        state = load_state(self.con, release)
        before = copy(state)
        before.accounts, before.joined = dict(state.accounts), dict(state.joined)
        before.releases, before.remarks = dict(state.releases), set(state.remarks)
        apply(state, whole)
        entry = Entry(seq + 1, prev, entry_hash(prev, whole), whole)
        self.con.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            (entry.seq, prev, entry.hash, canonical(whole).decode()),
        )
        save_state(self.con, state, before)
        return entry


OLDER_LEDGER = (
    "this ledger is older than your last release: restore the newer file, or stop releasing about "
    "these people"
)
NOTICES = {
    MOVED: "This ledger was used on another computer since it was used here; certificates will "
    "say so. If it is still used there, the total is at most the sum of both.",
    RESTORED: "This ledger is new to this computer, or the computer's settings are: it was "
    "restored, or comes from another computer. Certificates will say so. If another copy is still "
    "used, the total is at most the sum of both.",
    UNKNOWN: "A ledger that this computer remembers is gone: what was spent earlier is unknown, "
    "and every later certificate will say so.",
    NO_KEY: "The ledger's key was missing, so a new one was made: sums hold, but which files and "
    "people were here before can't be checked any more.",
}
INTERRUPTED_DRAW = "A release was interrupted while it was drawn: it counts as spent."
CLOCK_BACK = "The clock is earlier than the last entry; order is by number, and it will be marked."


@dataclass
class Opened:
    """Result of opening a ledger.

    Attributes
    ----------
    id : str
    key : bytes or None
    problem : str
        Why no release is possible; "" if one is.
    notices : list of str
        For the curator.
    last : Entry or None
        The last entry.
    """

    id: str = ""
    key: bytes | None = None
    problem: str = ""
    notices: list[str] = field(default_factory=list)
    last: Entry | None = None


def open_ledger(
    con: sqlite3.Connection,
    path: Path,
    known_ledgers: KnownLedgers,
    writer: Callable[[str], Writer],
    random_bytes: Callable[[int], bytes],
) -> Opened:
    """Check a ledger and append the entries that opening it requires (remarks, lost releases)."""
    result = Opened()
    with transaction(con):
        try:
            entries = entries_of(con, path.name)
            state = check_entries(entries)
            check_derived_tables(con, state)
        except ReleaseError as error:
            result.id, result.problem = meta(con, "ledger"), str(error)
            return result
        result.id = meta(con, "ledger")
        result.problem = behind(known_ledgers.ledgers().get(result.id), entries)
        if result.problem:
            return result
        remarks = _remarks(known_ledgers, path, result.id, state)
        if not result.id:
            result.id = random_bytes(16).hex()
            set_meta(con, "ledger", result.id)
        result.key, result.problem, fresh = _key(con, path, entries, random_bytes)
        if result.problem:
            return result
        remarks += [NO_KEY] if fresh and entries else []
        write, now = writer(result.id).write, writer(result.id).time()
        if now < state.last_at:
            result.notices.append(CLOCK_BACK)
        for remark in remarks:
            entry = write("moved", {"remark": remark, "host": known_ledgers.host})
            result.notices.append(NOTICES[remark])
            entries = [*entries, entry]
        _sweep(path, state)
        for release in [r for r in state.releases.values() if r.state == "started"]:
            lock = DrawLock(path, release.id)
            if lock.acquired:  # the process that drew it has ended
                entries = [*entries, write("lose", {"release": release.id}, release.id)]
                con.execute("DELETE FROM outputs WHERE release = ?", (release.id,))
                result.notices.append(INTERRUPTED_DRAW)
                lock.unlock()
    result.last = entries[-1] if entries else None
    return result


def _sweep(path: Path, state: LedgerState) -> None:
    """Remove lock files of releases that are not being drawn."""
    for file in path.parent.glob(f"{glob.escape(path.name)}.*.lock"):
        release = file.name.removeprefix(f"{path.name}.").removesuffix(".lock")
        if release not in state.releases or state.releases[release].state != "started":
            DrawLock(path, release).unlock()


def behind(known: LedgerHead | None, entries: Sequence[Entry]) -> str:
    """Return the problem if a ledger lacks the last known entry (rollback or fork), else ""."""
    if known is None or known.seq < 0:
        return ""
    if known.seq >= len(entries):
        return OLDER_LEDGER
    if entries[known.seq].hash != known.hash:
        return (
            f"this ledger is a fork: its entry {known.seq} is not the one this computer has seen; "
            "the total spent is at most the sum of both"
        )
    return ""


def _remarks(known_ledgers: KnownLedgers, path: Path, ledger: str, state: LedgerState) -> list[str]:
    """Return the remarks to enter about moved, restored and missing ledgers."""
    here, remarks = str(path.resolve()), []
    lost = [
        name
        for name, known in known_ledgers.ledgers().items()
        if name != ledger
        and known.path
        and (known.path == here or (not ledger and not Path(known.path).exists()))
    ]
    if lost:
        remarks.append(UNKNOWN)
        for name in lost:
            known_ledgers.mark_gone(name)
    if state.entries and state.host != known_ledgers.host:
        # MOVED needs the knowledge that the ledger was used here before
        remarks.append(MOVED if ledger in known_ledgers.ledgers() else RESTORED)
    return remarks


def _key(
    con: sqlite3.Connection,
    path: Path,
    entries: Sequence[Entry],
    random_bytes: Callable[[int], bytes],
) -> tuple[bytes | None, str, bool]:
    """Return the key, a problem with it, and whether it was created now."""
    file = key_file(path)
    try:
        key = read_key(file)
        fresh = key is None
        if key is None:
            key = make_key(file, random_bytes)
    except ReleaseError as error:
        return None, str(error), False
    check = meta(con, "key")
    if fresh or not check:
        set_meta(con, "key", key_check(key))
    elif check != key_check(key):
        return None, f"{file.name} is the key of another ledger; put back the one of this", False
    return key, "", fresh


NOTHING_SPENT = "Nothing was spent."
SPENT_ALREADY = "Nothing is shown, and the release counts as spent."
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
            raise LedgerError(
                f"release {release}: no result is stored, because it was not completed"
            )
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
            raise LedgerError(f"{key_file(self.path).name}: {self.problem or 'cannot be read'}")
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
            raise LedgerError(
                "this is not the file that was planned for. Choose that one, or plan a new "
                "release. Nothing was spent."
            )
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
            raise disk_full(self.path, needed, NOTHING_SPENT)
        with translate_errors(self.path):
            lock = DrawLock(self.path, release)
        if not lock.acquired:
            raise LedgerError(
                f"release {release}: another window is drawing it. Wait until it ends."
            )
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
        spent: str = NOTHING_SPENT,
    ) -> None:
        """Append an entry and run `also` in the same transaction."""
        if self.problem:
            raise LedgerError(self.problem)
        with translate_errors(self.path, needed, spent), transaction(self._con):
            entry = self._writer.write(kind, body, release)
            also()
        with translate_errors(self.path):
            self._known_ledgers.remember(self.id, self.path, entry)
