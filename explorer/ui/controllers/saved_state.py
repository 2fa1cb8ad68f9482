"""What a window saves from one day to the next, as one JSON file a window."""

import contextlib
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile

from explorer.engine.session.wire import WINDOW_SCHEMA, Window
from explorer.engine.session.wire_reading import WireError, decode, read_fields
from explorer.files import write_whole

log = logging.getLogger("explorer")

SCHEMA = WINDOW_SCHEMA
FILE_NAME = "window.json"
MAX_BYTES = 5_000_000
MAX_WINDOWS = 50
OLD_PART_S = 3600.0
"""A half-written file older than this was left behind by a program that was killed."""


@dataclass(frozen=True)
class Loaded:
    """What was found.

    Attributes
    ----------
    values : Window or None
        None if nothing is remembered.
    complaint : str
        What to tell the user about it, if anything.
    left_out : list of str
        A sentence for each part that could not be read.
    """

    values: Window | None = None
    complaint: str = ""
    left_out: list[str] = field(default_factory=list)


class StateFile:
    """Reads and writes one window's file; what can't be read is put aside and never lost.

    Parameters
    ----------
    folder : Path
        The user's state folder.
    number : int
        The first window's file is ``window.json``, a second one's ``window-2.json``.

    Attributes
    ----------
    path : Path
    writable : bool
        Whether `save` writes; not while a file that can't be read is in its place.
    """

    def __init__(self, folder: Path, number: int = 1) -> None:
        stem, suffix = FILE_NAME.split(".")
        self.path = folder / (FILE_NAME if number == 1 else f"{stem}-{number}.{suffix}")
        self.number = number
        self.writable = True
        self._lock = QLockFile(str(self.path.with_suffix(".lock")))
        # Held as long as the window is there; one whose program has died is taken over.
        self._lock.setStaleLockTime(0)

    def claim(self) -> bool:
        """Make the file this window's own; False if another window has it.

        Raises
        ------
        OSError
            If the folder can't be written to.
        """
        if self._lock.tryLock(0):
            self._sweep()
            return True
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        folder = self.path.parent
        raise PermissionError(13, "can't be written to", str(folder))

    def release(self) -> None:
        """Let another window have the file."""
        self._lock.unlock()

    def load(self) -> Loaded:
        """Return what was saved; what of it can't be read is left out and reported."""
        try:
            with self.path.open("rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return Loaded()
        except OSError as error:
            return Loaded(complaint=self.put_aside(f"can't be read ({error.strerror})"))
        try:
            if len(raw) > MAX_BYTES:
                raise WireError("it is too large")
            values = decode(raw)
            if not isinstance(values, dict) or not isinstance(values.get("session"), dict):
                raise WireError("it is not a session")
        except WireError as error:
            return Loaded(complaint=self.put_aside(f"is damaged ({error})"))
        if values.get("schema") != SCHEMA:
            return Loaded(complaint=self.put_aside("is from another version of the program"))
        left_out: list[str] = []
        return Loaded(read_fields(values, Window, "", left_out), left_out=left_out)

    def save(self, values: Mapping[str, Any]) -> None:
        """Write everything beside the file and then replace it, so that no crash loses both.

        Raises
        ------
        OSError
            If the folder can't be written.
        """
        if self.writable:
            text = json.dumps({"schema": SCHEMA, **values}, indent=1)
            write_whole(self.path, text.encode(), private=True)

    def put_aside(self, why: str) -> str:
        """Keep the file under a name with the date, and return what to show the user."""
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        kept = self.path.with_name(f"{self.path.stem}-{stamp}.json")
        try:
            self.path.rename(kept)
        except OSError as error:
            self.writable = False
            return (
                f"The saved session {self.path} {why} and could not be put aside "
                f"({error.strerror}); it stays as it is, and this session will not be saved."
            )
        return f"The saved session {why}; it was kept as {kept}, and a new one was begun."

    def _sweep(self) -> None:
        """Take away what was half written when a program was killed."""
        with contextlib.suppress(OSError):
            for part in self.path.parent.glob(".*.part"):
                if time.time() - part.stat().st_mtime > OLD_PART_S:
                    os.unlink(part)


def own_file(folder: Path) -> StateFile:
    """Return the first window's file, or the first one that no other window has.

    Raises
    ------
    OSError
        If the folder can't be written to.
    """
    for number in range(1, MAX_WINDOWS + 1):
        file = StateFile(folder, number)
        if file.claim():
            return file
    raise OSError(11, f"{MAX_WINDOWS} windows are open already", str(folder))
