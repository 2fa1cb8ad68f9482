"""Public check-in files: resumable, verified downloads, and the filters of the heatmap paper.

A download goes to ``NAME.part`` beside the target and is moved into place when it is whole. What
identifies the server's file (ETag or date, length) lies in ``NAME.part.json``, so that a later call
continues where an earlier one stopped, and starts again if the server's file has changed. Both
files are removed if nothing was received. The first whole download leaves its sha256 in
``NAME.sha256``; later ones must agree with it.
"""

import contextlib
import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.checkins.errors import FetchCancelled, FetchError


@dataclass
class PartFile:
    """An unfinished download with the server's file identity, both on disk.

    Attributes
    ----------
    url : str
    path : Path
        Of the unfinished file.
    most : int
        Maximum number of bytes.
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
        """Path of the file with the server's file identity."""
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes received."""
        return self.path.stat().st_size if self.path.exists() else 0

    def read_notes(self) -> None:
        """Resume an earlier download of the same address, or start again."""
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            notes = json.loads(self.notes.read_text(encoding="utf-8"))
            tag, total = notes["tag"], notes["total"]
            usable = isinstance(tag, str) and (total is None or type(total) is int)
            if notes["url"] == self.url and self.path.exists() and usable:
                self.tag, self.total = tag, total
        if self.tag is None:
            self.restart(None, None)

    def restart(self, tag: str | None, total: int | None) -> None:
        """Start again with the given file identity."""
        self.tag, self.total = tag, total
        self.path.write_bytes(b"")
        notes = {"url": self.url, "tag": tag, "total": total}
        self.notes.write_text(json.dumps(notes), encoding="utf-8")

    def check_size(self, size: int) -> None:
        """Raise for a file larger than allowed, and remove it."""
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
        """Remove both files if nothing was received."""
        with contextlib.suppress(OSError):
            if not self.size:
                self.remove()


_CHUNK = 1 << 18
_GZIP = b"\x1f\x8b"
_MAX_ATTEMPTS = 4
"""Maximum number of consecutive connections without new bytes."""

MAX_BYTES = 2_000_000_000
"""Default maximum size of a download in bytes. The larger public file has 110 MB."""

_SCHEMES = ("http", "https")
_SPAN = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)", re.ASCII)

Report = Callable[[int, int | None], None]
"""Callback with bytes present and total bytes (None if unknown)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A public check-in file.

    Attributes
    ----------
    key, title : str
    url : str
    citation : str
        Citation requested by its publishers.
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
    """A complete file.

    Attributes
    ----------
    path : Path
    sha256 : str
    size : int
        Bytes.
    transferred : int
        Bytes received over the network in this call.
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
    max_bytes: int = MAX_BYTES,
) -> Fetched:
    """Download a file, or verify an existing one.

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
        Called often; if it returns True, `FetchCancelled` is raised and the received part stays.
    timeout : float
        Seconds without a byte before a connection counts as broken.
    pause : float
        Seconds before the first retry after an interruption; doubled if nothing was received.
    max_bytes : int
        The most that is fetched.

    Raises
    ------
    FetchError
        If the server has no such file, can't be reached or leads to somewhere that isn't http or
        https, the connection keeps breaking, the content is too large or isn't what was announced
        or recorded, or the disk can't be written.
    FetchCancelled
    """
    record = target.with_name(target.name + ".sha256")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        known = sha256 or _record(record)
        moved = 0
        if not target.is_file():
            part = PartFile(url, target.with_name(target.name + ".part"), max_bytes)
            try:
                moved = _download(part, target, known, progress, cancelled, timeout, pause)
            finally:
                part.remove_if_empty()
        digest = _hash(target, cancelled)
        if known is not None and digest != known:
            raise FetchError(
                f"{target}: its sha256 {digest} differs from {known} "
                + ("asked for" if sha256 else f"recorded in {record.name}")
                + f"; delete {target.name} to fetch it again"
                + ("" if sha256 else f", and {record.name} too if the server's file has changed")
            )
        if not record.exists():
            record.write_text(f"{digest}  {target.name}\n", encoding="ascii")
        return Fetched(target, digest, target.stat().st_size, moved, known is not None)
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
    """Download one of `SOURCES` into a folder.

    Raises as `fetch` does, and ValueError for a key that isn't one of them.
    """
    if key not in SOURCES:
        raise ValueError(f"key: {key!r} is not one of {', '.join(SOURCES)}")
    source = SOURCES[key]
    return fetch(source.url, folder / source.file, progress=progress, cancelled=cancelled)


def _record(record: Path) -> str | None:
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


class _WrongPart(Exception):  # noqa: N818  (a signal, not an error)
    """The server sent other bytes than requested."""


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only; urllib would also follow ftp."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, to: str
    ) -> Any:
        """Return the redirected request, or raise."""
        _check_address(to, f"{req.full_url}: the server leads to {to}, which")
        return super().redirect_request(req, fp, code, msg, headers, to)


def _check_address(url: str, subject: str) -> None:
    if urllib.parse.urlsplit(url).scheme.lower() not in _SCHEMES:
        raise FetchError(
            f"{subject} is not a web address (http or https); look for the file in a browser"
        )


def _download(
    part: PartFile,
    target: Path,
    known: str | None,
    progress: Report | None,
    cancelled: Callable[[], bool],
    timeout: float,
    pause: float,
) -> int:
    """Download the whole file; return the bytes transferred."""
    url = part.url
    _check_address(url, url)
    part.read_notes()
    moved, fruitless, best = 0, 0, part.size
    while part.total is None or part.size != part.total:
        if cancelled():
            raise FetchCancelled
        trouble, whole = "the connection ended early", False
        try:
            for count in _continue(part, timeout):
                moved += count
                if progress is not None:
                    progress(part.size, part.total)
                if cancelled():
                    raise FetchCancelled
            whole = part.total is None  # who doesn't say how much there is ends it by closing
        except _WrongPart:
            trouble = "the server does not send the bytes asked for"
            part.restart(None, None)
        except urllib.error.HTTPError as error:
            error.close()
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
        if whole:
            break
        # Earlier bytes don't count: a server that announces too much would continue forever.
        fruitless = 0 if part.size > best else fruitless + 1
        best = max(best, part.size)
        if fruitless == _MAX_ATTEMPTS:
            of = "" if part.total is None else f" of {part.total / 1e6:.1f}"
            raise FetchError(
                f"{url}: {trouble} after {part.size / 1e6:.1f}{of} MB; run it again "
                + ("to continue from there" if part.size else "later")
            )
        if fruitless:
            time.sleep(pause * 2 ** (fruitless - 1))
    with part.path.open("rb") as file:
        if target.suffix == ".gz" and file.read(2) != _GZIP:
            part.remove()
            raise FetchError(
                f"{url}: the download is not a gzip file (perhaps a sign-in page); try again later"
            )
    if known is not None and (digest := _hash(part.path, cancelled)) != known:
        part.remove()
        raise FetchError(
            f"{url}: the sha256 of the download, {digest}, differs from {known}; if the "
            f"server's file has changed for good, delete {target.name}.sha256 and fetch again"
        )
    os.replace(part.path, target)
    part.remove()
    return moved


def _continue(part: PartFile, timeout: float) -> Iterator[int]:
    """Open one connection and append the received bytes; yield the size of each piece."""
    request = urllib.request.Request(part.url, headers={"Accept-Encoding": "identity"})
    start = part.size
    if start and part.tag:
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", part.tag)
    try:
        response = urllib.request.build_opener(_WebOnly).open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not start:
            raise
        # There is nothing after what we have, and yet it isn't the announced length.
        error.close()
        raise _WrongPart from None
    with response:
        headers = response.headers
        # Weak tags can't vouch for bytes; a date can, to the second.
        tag = headers.get("ETag") or ""
        tag = headers.get("Last-Modified") if not tag or tag.startswith("W/") else tag
        if response.status == 206:
            _check_part(part, start, tag, headers.get("Content-Range", ""))
        elif response.status == 200:
            length = headers.get("Content-Length", "")
            part.restart(tag, int(length) if length.isdecimal() and length.isascii() else None)
        else:
            raise _WrongPart
        part.check_size(part.total or 0)
        size = part.size
        with part.path.open("ab") as file:
            while chunk := _read(response):
                size += len(chunk)
                part.check_size(size)
                file.write(chunk)
                file.flush()
                yield len(chunk)


def _check_part(part: PartFile, start: int, tag: str | None, span: str) -> None:
    """Check that a response is the requested part of the same file.

    A server that sends a part without an ETag or date has been told which one is wanted.
    """
    match = _SPAN.fullmatch(span.strip())
    same = (
        start > 0
        and match is not None
        and int(match[1]) == start
        and match[3] in ("*", str(part.total))
        and tag in (None, "", part.tag)
    )
    if not same:
        raise _WrongPart


def _read(response: Any) -> bytes:
    """Read a piece; converts network errors, so that OSError elsewhere means the disk."""
    try:
        piece: bytes = response.read(_CHUNK)
    except OSError as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    return piece


@dataclass(frozen=True, slots=True)
class Preset:
    """A filter on a public data set with the counts reported in a paper.

    Attributes
    ----------
    key : str
        Also the key of the file in `explorer.checkins.public_files.SOURCES`.
    name : str
    box : tuple of float
        South, west, north, east in degrees.
    start, end : str
        ISO 8601 UTC instants; rows with start ≤ time < end.
    expected_rows, expected_users : int
        As printed in the paper; shown next to computed counts, never in place of them.
    reference : str
        Where they are printed.
    """

    key: str
    name: str
    box: tuple[float, float, float, float]
    start: str
    end: str
    expected_rows: int
    expected_users: int
    reference: str

    def compare(self, rows: int, users: int) -> tuple[tuple[str, int, int], ...]:
        """Return (what, counted by us, reported by the paper), a line each."""
        return (
            ("check-ins", rows, self.expected_rows),
            ("users", users, self.expected_users),
        )


_REFERENCE = (
    "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "
    "Differentially private heatmaps, section 4"
)
_UNITED_STATES = (0.0, -135.0, 50.0, -60.0)

PRESETS: tuple[Preset, ...] = (
    Preset(
        key="gowalla",
        name="Gowalla, United States, January 2010",
        box=_UNITED_STATES,
        start="2010-01-01T00:00:00Z",
        end="2010-02-01T00:00:00Z",
        expected_rows=196_071,
        expected_users=10_196,
        reference=_REFERENCE,
    ),
    Preset(
        key="brightkite",
        name="Brightkite, United States, November and December 2008",
        box=_UNITED_STATES,
        start="2008-11-01T00:00:00Z",
        end="2009-01-01T00:00:00Z",
        expected_rows=304_608,
        expected_users=10_177,
        reference=_REFERENCE,
    ),
)


def preset(key: str) -> Preset:
    """Return a preset by key.

    Raises
    ------
    ValueError
        Naming the keys there are.
    """
    for item in PRESETS:
        if item.key == key:
            return item
    raise ValueError(f"preset: {key!r} is not one of {', '.join(p.key for p in PRESETS)}")
