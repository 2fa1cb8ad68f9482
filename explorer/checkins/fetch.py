"""Download the public check-in files, in pieces if need be, and never half.

A download goes to ``NAME.part`` beside the target and is moved into place when it is whole. What
identifies the server's file (ETag or date, length) lies in ``NAME.part.json``, so that a later call
goes on where an earlier one stopped, and starts again if the server's file has changed. The first
whole download leaves its sha256 in ``NAME.sha256``; later ones must agree with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHUNK = 1 << 18
_GZIP = b"\x1f\x8b"
_ATTEMPTS = 4
"""Connections without a single new byte before giving up."""

Report = Callable[[int, int | None], None]
"""Called with bytes present and bytes in all (None if the server doesn't say)."""


class FetchError(Exception):
    """A file could not be fetched; the message says why and what to do."""


class FetchCancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """Fetching was stopped; what has arrived is kept for the next call."""


@dataclass(frozen=True, slots=True)
class Source:
    """A public check-in file.

    Attributes
    ----------
    key, title : str
    url : str
    citation : str
        What its publishers ask to be cited.
    """

    key: str
    title: str
    url: str
    citation: str

    @property
    def file(self) -> str:
        """Name of the file on disk."""
        return self.url.rsplit("/", 1)[1]


_CITATION = (
    "E. Cho, S. A. Myers, J. Leskovec. Friendship and Mobility: User Movement in Location-Based "
    "Social Networks. KDD 2011"
)
SOURCES: dict[str, Source] = {
    key: Source(
        key=key,
        title=f"{key.capitalize()} check-ins (SNAP)",
        url=f"https://snap.stanford.edu/data/loc-{key}_totalCheckins.txt.gz",
        citation=_CITATION,
    )
    for key in ("gowalla", "brightkite")
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is here and whole.

    Attributes
    ----------
    path : Path
    sha256 : str
    size : int
        Bytes.
    transferred : int
        Bytes that came over the network in this call.
    verified : bool
        Whether the hash was compared with one known before; False for a first download.
    """

    path: Path
    sha256: str
    size: int
    transferred: int
    verified: bool


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Report | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    timeout: float = 30.0,
    pause: float = 1.0,
) -> Fetched:
    """Fetch a file, or verify the one that is here.

    Parameters
    ----------
    url : str
        http or https.
    target : Path
        File to write; its folder is made if missing.
    sha256 : str, optional
        Expected hash; without it, the one recorded after the first download, if any.
    progress : callable, optional
        Called often, with bytes present and bytes in all or None.
    cancelled : callable, optional
        Asked often; if it returns True, `FetchCancelled` is raised and what arrived is kept.
    timeout : float
        Seconds without a byte before a connection counts as broken.
    pause : float
        Seconds before the first new attempt after a break; doubled each time nothing came.

    Raises
    ------
    FetchError
        If the server has no such file or can't be reached, the connection keeps breaking, the
        content isn't what was announced or recorded, or the disk can't be written.
    FetchCancelled
    """
    record = target.with_name(target.name + ".sha256")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        known = sha256 or _recorded(record)
        moved = 0
        if not target.is_file():
            moved = _download(url, target, known, progress, cancelled, timeout, pause)
        found = _hash(target, cancelled)
        if known is not None and found != known:
            raise FetchError(
                f"{target}: its sha256 {found} differs from {known} "
                + ("asked for" if sha256 else f"recorded in {record.name}")
                + f"; delete {target.name} to fetch it again"
                + ("" if sha256 else f", and {record.name} too if the server's file has changed")
            )
        if not record.exists():
            record.write_text(f"{found}  {target.name}\n", encoding="ascii")
        return Fetched(target, found, target.stat().st_size, moved, known is not None)
    except OSError as error:
        where = error.filename or target
        raise FetchError(
            f"{where}: can't be written ({error.strerror or error}); choose another folder"
        ) from error


def fetch_source(
    key: str,
    folder: Path,
    *,
    progress: Report | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Fetched:
    """Fetch one of `SOURCES` into a folder.

    Raises as `fetch` does, and ValueError for a key that isn't one of them.
    """
    if key not in SOURCES:
        raise ValueError(f"key: {key!r} is not one of {', '.join(SOURCES)}")
    source = SOURCES[key]
    return fetch(source.url, folder / source.file, progress=progress, cancelled=cancelled)


def _recorded(record: Path) -> str | None:
    try:
        first = record.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return None
    if not first or len(first[0]) != 64:
        raise FetchError(f"{record}: is not a sha256 record; delete it")
    return first[0]


def _hash(path: Path, cancelled: Callable[[], bool]) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            if cancelled():
                raise FetchCancelled
            digest.update(chunk)
    return digest.hexdigest()


@dataclass
class _Part:
    """The unfinished file, what is known of the server's file, and both on disk."""

    url: str
    path: Path
    tag: str | None = None
    total: int | None = None

    @property
    def notes(self) -> Path:
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def read_notes(self) -> None:
        """Take up an earlier download of the same address; otherwise start from nothing."""
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            notes = json.loads(self.notes.read_text(encoding="utf-8"))
            if notes["url"] == self.url and self.path.exists():
                self.tag, self.total = notes["tag"], notes["total"]
        if self.tag is None:
            self.restart(None, None)

    def restart(self, tag: str | None, total: int | None) -> None:
        self.tag, self.total = tag, total
        self.path.write_bytes(b"")
        notes = {"url": self.url, "tag": tag, "total": total}
        self.notes.write_text(json.dumps(notes), encoding="utf-8")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.notes.unlink(missing_ok=True)


def _download(
    url: str,
    target: Path,
    known: str | None,
    progress: Report | None,
    cancelled: Callable[[], bool],
    timeout: float,
    pause: float,
) -> int:
    """Bring the whole file to `target`; returns the bytes that came over the network."""
    part = _Part(url, target.with_name(target.name + ".part"))
    part.read_notes()
    moved, fruitless, best = 0, 0, part.size
    while part.total is None or part.size != part.total:
        if cancelled():
            raise FetchCancelled
        trouble = "the connection ended early"
        try:
            for count in _continue(part, timeout):
                moved += count
                if progress is not None:
                    progress(part.size, part.total)
                if cancelled():
                    raise FetchCancelled
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise FetchError(
                    f"{url}: the server answers {error.code} {error.reason}; "
                    "check the address in a browser"
                ) from error
            trouble = f"the server answers {error.code} {error.reason}"
        except urllib.error.URLError as error:
            trouble = f"the server can't be reached ({error.reason})"
        except (http.client.HTTPException, ConnectionError) as error:
            trouble = f"the connection broke ({error or type(error).__name__})"
        if part.total is None and trouble == "the connection ended early":
            break  # a server that doesn't say how much there is ends it by closing
        # Bytes that came before don't count: a server that announces too much would go on forever.
        fruitless = 0 if part.size > best else fruitless + 1
        best = max(best, part.size)
        if fruitless == _ATTEMPTS:
            of = "" if part.total is None else f" of {part.total / 1e6:.1f}"
            raise FetchError(
                f"{url}: {trouble} after {part.size / 1e6:.1f}{of} MB; "
                "run it again to go on from there"
            )
        if fruitless:
            time.sleep(pause * 2 ** (fruitless - 1))
    with part.path.open("rb") as file:
        if target.suffix == ".gz" and file.read(2) != _GZIP:
            part.remove()
            raise FetchError(
                f"{url}: what came is not a gzip file (a sign-in page?); try again later"
            )
    if known is not None and (found := _hash(part.path, cancelled)) != known:
        part.remove()
        raise FetchError(
            f"{url}: the sha256 of what came, {found}, differs from {known}; if the server's file "
            f"has changed for good, delete {target.name}.sha256 and fetch again"
        )
    os.replace(part.path, target)
    part.remove()
    return moved


def _continue(part: _Part, timeout: float) -> Iterator[int]:
    """Open one connection and append what comes; yields the size of each piece."""
    request = urllib.request.Request(part.url, headers={"Accept-Encoding": "identity"})
    start = part.size
    if start and part.tag:
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", part.tag)
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        # There is nothing after what we have, and yet it isn't the announced length.
        error.close()
        part.restart(None, None)
        yield from _continue(part, timeout)
        return
    with response:
        headers = response.headers
        # Weak tags can't vouch for bytes; a date can, to the second.
        tag = headers.get("ETag") or ""
        tag = headers.get("Last-Modified") if not tag or tag.startswith("W/") else tag
        length = headers.get("Content-Length")
        if response.status == 206:
            span, _, total = headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
            same = span.split("-")[0] == str(start) and total in ("*", str(part.total))
            if not same:
                part.restart(None, None)
                yield from _continue(part, timeout)
                return
        else:
            part.restart(tag, int(length) if length is not None else None)
        with part.path.open("ab") as file:
            while chunk := _read(response):
                file.write(chunk)
                file.flush()
                yield len(chunk)


def _read(response: Any) -> bytes:
    """Read a piece; what fails here is the network, while an OSError elsewhere is the disk."""
    try:
        piece: bytes = response.read(_CHUNK)
    except OSError as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    return piece
