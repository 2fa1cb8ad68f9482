"""A download that is not whole yet, with what is known of the server's file beside it."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from explorer.checkins.errors import FetchError


@dataclass
class PartFile:
    """The unfinished file, what is known of the server's file, and both on disk.

    Attributes
    ----------
    url : str
    path : Path
        Of the unfinished file.
    most : int
        Bytes that may come at all.
    tag : str or None
        ETag or date of the server's file; None if nothing vouches for it.
    total : int or None
        Its length in bytes; None if the server doesn't say.
    """

    url: str
    path: Path
    most: int
    tag: str | None = None
    total: int | None = None

    @property
    def notes(self) -> Path:
        """Where what is known of the server's file stands."""
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes that have come."""
        return self.path.stat().st_size if self.path.exists() else 0

    def read_notes(self) -> None:
        """Take up an earlier download of the same address; otherwise start from nothing."""
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            notes = json.loads(self.notes.read_text(encoding="utf-8"))
            tag, total = notes["tag"], notes["total"]
            usable = isinstance(tag, str) and (total is None or type(total) is int)
            if notes["url"] == self.url and self.path.exists() and usable:
                self.tag, self.total = tag, total
        if self.tag is None:
            self.restart(None, None)

    def restart(self, tag: str | None, total: int | None) -> None:
        """Start from nothing with what is known of the server's file."""
        self.tag, self.total = tag, total
        self.path.write_bytes(b"")
        notes = {"url": self.url, "tag": tag, "total": total}
        self.notes.write_text(json.dumps(notes), encoding="utf-8")

    def check_size(self, size: int) -> None:
        """Refuse a file that is larger than was allowed; nothing of it stays."""
        if size > self.most:
            self.remove()
            raise FetchError(
                f"{self.url}: the file has more than {self.most / 1e6:,.1f} MB, which is more than "
                "is fetched; check the address in a browser"
            )

    def remove(self) -> None:
        """Remove both files."""
        self.path.unlink(missing_ok=True)
        self.notes.unlink(missing_ok=True)

    def remove_if_empty(self) -> None:
        """Leave nothing behind where nothing came."""
        with contextlib.suppress(OSError):
            if not self.size:
                self.remove()
