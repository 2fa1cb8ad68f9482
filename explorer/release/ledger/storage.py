"""SQLite file of a ledger, in write-ahead mode with durable commits, and its file locks.

Triggers prevent that `entries` are changed or deleted. `accounts` and `releases` can be derived
from them; stored outputs and the keyed marks of files and user ids are not part of the chain.
The system frees the locks of a process that dies.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from explorer.files import PRIVATE_FILE, PRIVATE_FOLDER, USER_FOLDERS, private_file, private_folder
from explorer.release.errors import DiskFullError, LedgerError
from explorer.release.exact_json import canonical, read_fraction, read_json, write_fraction
from explorer.release.ledger.chain import GENESIS, Entry
from explorer.release.ledger.state import Account, LedgerState, Raise, Release

with suppress(ImportError):  # without locks, ledgers and certificates can be verified
    import fcntl

SQLITE_MAGIC = b"SQLite format 3\x00"
VERSION = 1
WAIT_S = 60
"""Time to wait for other writers."""

_SCHEMA = f"""
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY, prev TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never deleted'); END;
CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq) + 1, 0) FROM entries)
  OR NEW.prev IS NOT coalesce((SELECT hash FROM entries ORDER BY seq DESC LIMIT 1), '{GENESIS}')
BEGIN SELECT RAISE(ABORT, 'entries of a ledger follow the last one'); END;
CREATE TABLE accounts (population TEXT PRIMARY KEY, joined_to TEXT, state TEXT) WITHOUT ROWID;
CREATE TABLE releases (release TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE outputs (release TEXT PRIMARY KEY, stored BLOB, complete INTEGER, certificate BLOB);
CREATE TABLE files (
  mark BLOB PRIMARY KEY, population TEXT NOT NULL, opened_after INTEGER, shown INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE people (
  mark BLOB NOT NULL, population TEXT NOT NULL, PRIMARY KEY (mark, population)
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger for writing; create it if there is none.

    Raises
    ------
    LedgerError
        If the file can't be opened or is no ledger.
    """
    with translate_errors(path):
        _prepare_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        os.close(handle)
        private_file(path)
        con = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
        try:
            version = con.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                with transaction(con, exclusive=True):  # another process may create it too
                    version = _create(con)
            if version != VERSION:
                raise LedgerError(
                    f"{path.name}: it is not a ledger, or a newer version of the program made it; "
                    "choose another file, or update the program"
                )
            mode = con.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise LedgerError(
                    f"{path.name}: a ledger must be on a local disk; choose a folder there"
                )
            con.execute("PRAGMA synchronous = FULL")
            con.execute("PRAGMA fullfsync = 1")
        except BaseException:
            con.close()
            raise
    return con


def _prepare_folder(folder: Path) -> None:
    """Create a ledger's folder. Only the user's default folder must be private."""
    if folder == Path(USER_FOLDERS.user_data_dir):
        private_folder(folder)
    else:
        folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)


def connect_reading(path: Path) -> sqlite3.Connection:
    """Open an existing ledger read-only."""
    with translate_errors(path):
        # SQLite needs to create a file next to it, unless the database is declared immutable.
        fixed = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
        uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if fixed else ''}"
        con = sqlite3.connect(uri, timeout=WAIT_S, isolation_level=None, uri=True)
        try:
            version = con.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                raise LedgerError(
                    f"{path.name}: it is not a ledger, or a newer version of the program made it; "
                    "choose another file, or update the program"
                )
        except BaseException:
            con.close()
            raise
    return con


def _create(con: sqlite3.Connection) -> int:
    """Create the tables in an empty file; return the version."""
    if not con.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _statements():
            con.execute(statement)
    return int(con.execute("PRAGMA user_version").fetchone()[0])


def _statements() -> Iterator[str]:
    statement = ""
    for line in _SCHEMA.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def transaction(con: sqlite3.Connection, exclusive: bool = False) -> Iterator[None]:
    """Run the block in a transaction that sees all earlier commits."""
    con.execute("BEGIN EXCLUSIVE" if exclusive else "BEGIN IMMEDIATE")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        if con.in_transaction:
            con.execute("ROLLBACK")
        raise


@contextmanager
def translate_errors(
    path: Path, needed: int = 0, spent: str = "Nothing was spent."
) -> Iterator[None]:
    """Translate errors of SQLite and the file system into `LedgerError`.

    Parameters
    ----------
    path : Path
        Of the ledger.
    needed : int
        Bytes to be written.
    spent : str
        Statement about the budget if the disk is full.
    """
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_FULL") or "disk is full" in str(error):
            raise disk_full(path, needed, spent) from None
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise LedgerError(
                f"{path.name}: another window is writing to it. Try again in a minute."
            ) from None
        why = "".join(c if c.isprintable() else " " for c in str(error))[:120]
        raise LedgerError(
            f"{path.name}: it cannot be used as a ledger ({why}); restore it from a backup, or "
            "choose another file"
        ) from None
    except UnicodeDecodeError:  # SQLite's own message contains the undecodable text
        raise LedgerError(
            f"{path.name}: it cannot be used as a ledger (its text is damaged); restore it from a "
            "backup"
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(path, needed, spent) from None
        why = error.strerror or str(error)
        raise LedgerError(f"{error.filename or path}: {why[:1].lower()}{why[1:]}") from None


def disk_full(path: Path, needed: int, spent: str) -> DiskFullError:
    """Return the error for a full disk."""
    free = shutil.disk_usage(path.parent).free
    missing = needed - free if free < needed else needed  # all of it under a quota
    megabytes = max(1, -(-missing // 1_000_000))
    return DiskFullError(
        f"{megabytes} MB are missing on the disk of the ledger ({path.parent}). {spent}"
    )


def entries_of(con: sqlite3.Connection, name: str) -> list[Entry]:
    """Return all entries without checking the chain.

    Raises
    ------
    LedgerError
        If an entry is not JSON.
    """
    result = []
    for seq, prev, digest, text in con.execute("SELECT * FROM entries ORDER BY seq"):
        if not (isinstance(prev, str) and isinstance(digest, str) and isinstance(text, str)):
            raise LedgerError(f"{name}: entry {seq} is not a text")
        body = read_json(text.encode("utf-8", "replace"), f"{name}: entry {seq}")
        if not isinstance(body, dict):
            raise LedgerError(f"{name}: entry {seq} is not an object")
        result.append(Entry(seq, prev, digest, body))
    return result


def head_of(con: sqlite3.Connection) -> tuple[int, str, str]:
    """Return seq, hash and time of the last entry; −1, zeros and "" if there is none."""
    row = con.execute("SELECT seq, hash, body FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    if row is None:
        return -1, GENESIS, ""
    return row[0], row[1], read_json(row[2].encode(), "the last entry").get("at", "")


class StoredOutputs(Mapping[str, bytes]):
    """Committed outputs by release, read on access."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getitem__(self, release: str) -> bytes:
        query = "SELECT stored FROM outputs WHERE release = ? AND complete"
        for (stored,) in self._rows(query, release):
            return bytes(stored)
        raise KeyError(release)

    def __iter__(self) -> Iterator[str]:
        return (row[0] for row in self._rows("SELECT release FROM outputs WHERE complete"))

    def __len__(self) -> int:
        (row,) = self._rows("SELECT count(*) FROM outputs WHERE complete")
        return int(row[0])

    def _rows(self, query: str, *given: str) -> list[Any]:
        with translate_errors(self._path), closing(connect_reading(self._path)) as con:
            return con.execute(query, given).fetchall()


def meta(con: sqlite3.Connection, name: str) -> str:
    """Return the text stored under a name; "" if there is none."""
    row = con.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(con: sqlite3.Connection, name: str, value: str) -> None:
    """Store a text under a name."""
    con.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def load_state(con: sqlite3.Connection, release: str | None = None) -> LedgerState:
    """Return the stored state with all releases, or with one of them."""
    state = LedgerState(ledger=meta(con, "ledger"), host=meta(con, "host"))
    if remarks := meta(con, "remarks"):
        state.remarks = set(read_json(remarks.encode(), "remarks"))
    seq, _, state.last_at = head_of(con)
    state.entries = seq + 1
    for population, joined_to, text in con.execute("SELECT * FROM accounts"):
        if joined_to is not None:
            state.joined[population] = joined_to
        else:
            state.accounts[population] = _account(_store(text))
    wanted = "" if release is None else " WHERE release = ?"
    given = () if release is None else (release,)
    for name, text in con.execute(f"SELECT release, state FROM releases{wanted}", given):
        state.releases[name] = _release(_store(text))
    return state


def save_state(con: sqlite3.Connection, state: LedgerState, before: LedgerState) -> None:
    """Store the changes of a state."""
    for population in state.joined.keys() - before.joined.keys():
        con.execute(
            "INSERT OR REPLACE INTO accounts VALUES (?, ?, NULL)",
            (population, state.joined[population]),
        )
    for population, account in state.accounts.items():
        if before.accounts.get(population) != account:
            con.execute(
                "INSERT OR REPLACE INTO accounts VALUES (?, NULL, ?)",
                (population, _text(account)),
            )
    for name, release in state.releases.items():
        if before.releases.get(name) != release:
            con.execute("INSERT OR REPLACE INTO releases VALUES (?, ?)", (name, _text(release)))
    if state.host != before.host:
        set_meta(con, "host", state.host)
    if state.remarks != before.remarks:
        set_meta(con, "remarks", canonical(sorted(state.remarks)).decode())


def _text(value: Account | Release) -> str:
    return canonical(_plain(value)).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return write_fraction(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Account | Release | Raise):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def _store(text: str) -> dict[str, Any]:
    result: dict[str, Any] = read_json(text.encode(), "what the ledger keeps beside its entries")
    return result


def _fractions(stored: dict[str, Any], *names: str) -> dict[str, Any]:
    return {
        name: None if stored[name] is None else read_fraction(stored[name], name) for name in names
    }


def _account(stored: dict[str, Any]) -> Account:
    numbers = _fractions(
        stored, "delta", "epsilon_limit", "rho_limit", "rho_cap", "spent_epsilon", "spent_rho"
    )
    raised = tuple(
        Raise(item["seq"], **_fractions(item, "before", "after"), date=item["date"])
        for item in stored["raised"]
    )
    different = tuple(stored["different_from"])
    return Account(**{**stored, **numbers, "raised": raised, "different_from": different})


def _release(stored: dict[str, Any]) -> Release:
    return Release(**{**stored, **_fractions(stored, "epsilon")})


UNSUPPORTED = (
    "releases are not offered on this system, as its locks do not tell a process that died from "
    "one that draws; use Linux or macOS"
)


def unsupported_reason() -> str:
    """Return why releases are not supported on this system; "" if they are."""
    return "" if "fcntl" in globals() else UNSUPPORTED


def require_locks() -> None:
    """Raise LedgerError if releases are not supported on this system."""
    if reason := unsupported_reason():
        raise LedgerError(reason)


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file in the block."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class DrawLock:
    """Lock of a release that is being drawn.

    Attributes
    ----------
    acquired : bool
        Whether this process holds it.
    """

    def __init__(self, ledger: Path, release: str) -> None:
        self._path = ledger.with_name(f"{ledger.name}.{release}.lock")
        self._file: IO[str] | None = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None

    @property
    def acquired(self) -> bool:
        """Whether this process holds the lock."""
        return self._file is not None

    def unlock(self) -> None:
        """Release the lock and delete its file."""
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None
