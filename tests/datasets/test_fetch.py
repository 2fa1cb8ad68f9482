"""The fetcher against a server on this machine that breaks, lies and changes its mind."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from explorer.checkins.errors import FetchCancelled, FetchError
from explorer.checkins.public_files import MAX_BYTES, PRESETS, SOURCES, fetch, fetch_source, preset
from tests import snapshots

BODY = gzip.compress(os.urandom(600_000), mtime=0)
OTHER = gzip.compress(b"another file " * 1000, mtime=0)


@dataclass
class Behaviour:
    """What the server does next."""

    body: bytes = BODY
    tag: str | None = '"v1"'
    date: str | None = None
    ranges: bool = True
    cut: list[int] = field(default_factory=list)
    """Bytes after which each connection in turn is cut."""
    status: int = 200
    announce: int | None = None
    """A length other than the real one."""
    say_length: bool = True
    wrong_start: bool = False
    always: tuple[int, str] | None = None
    """Status and Content-Range of every answer, whatever was asked."""
    part_tag: str | None = None
    """ETag of parts, if not that of the whole."""
    leads_to: str = ""
    requests: list[str | None] = field(default_factory=list)


class Server(ThreadingHTTPServer):
    behaviour: Behaviour
    daemon_threads = True


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        now = self.server.behaviour
        asked = self.headers.get("Range")
        now.requests.append(asked)
        if now.status != 200:
            self.send_error(now.status)
            return
        if now.leads_to and not self.path.endswith("moved"):
            self.send_response(302)
            self.send_header("Location", now.leads_to)
            self.end_headers()
            return
        if now.always is not None:
            self.send_response(now.always[0])
            self.send_header("Content-Range", now.always[1])
            self.send_header("Content-Length", str(len(now.body)))
            self.end_headers()
            self.wfile.write(now.body)
            return
        body, start = now.body, 0
        fresh = self.headers.get("If-Range") in (now.tag, now.date)
        if asked and now.ranges and fresh:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.send_error(416)
                return
            self.send_response(206)
            said = 0 if now.wrong_start else start
            self.send_header("Content-Range", f"bytes {said}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        tag = now.part_tag if start and now.part_tag else now.tag
        if tag:
            self.send_header("ETag", tag)
        if now.date:
            self.send_header("Last-Modified", now.date)
        if now.say_length:
            self.send_header("Content-Length", str(now.announce or len(body) - start))
        self.end_headers()
        piece = body[start:]
        if now.cut:
            piece = piece[: now.cut.pop(0)]
        self.wfile.write(piece)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on standard error, where tests look for what the program says."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.behaviour = Behaviour()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def _url(server: Server, name: str = "file.txt.gz") -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/{name}"


def test_whole_file_then_from_disk(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.txt.gz"
    seen: list[tuple[int, int | None]] = []
    first = fetch(_url(server), target, progress=lambda *a: seen.append(a), pause=0)
    assert target.read_bytes() == BODY
    assert (first.size, first.transferred, first.verified) == (len(BODY), len(BODY), False)
    assert first.sha256 == hashlib.sha256(BODY).hexdigest()
    assert [n for n, _ in seen] == sorted({n for n, _ in seen})
    assert seen[-1] == (len(BODY), len(BODY))
    assert sorted(p.name for p in target.parent.iterdir()) == ["file.txt.gz", "file.txt.gz.sha256"]
    again = fetch(_url(server), target, pause=0)
    assert (again.transferred, again.verified) == (0, True)
    assert len(server.behaviour.requests) == 1


def test_broken_connections_go_on(server: Server, tmp_path: Path) -> None:
    server.behaviour.cut = [1000, 200_000, 1, 5]
    done = fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert done.path.read_bytes() == BODY
    assert done.transferred == len(BODY), "nothing came twice"
    assert server.behaviour.requests == [
        None,
        "bytes=1000-",
        "bytes=201000-",
        "bytes=201001-",
        "bytes=201006-",
    ]


def test_gives_up_and_goes_on_in_the_next_call(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "file.txt.gz"
    server.behaviour.cut = [300_000, 0, 0, 0, 0]
    with pytest.raises(FetchError, match=r"ended early after 0\.3") as error:
        fetch(_url(server), target, pause=0)
    snapshots.check(error.value)
    assert not target.exists()
    server.behaviour.requests.clear()
    done = fetch(_url(server), target, pause=0)
    assert done.path.read_bytes() == BODY
    assert done.transferred == len(BODY) - 300_000
    assert server.behaviour.requests == ["bytes=300000-"]


@pytest.mark.parametrize("tag", ['"v1"', None])
def test_changed_file_starts_again(server: Server, tmp_path: Path, tag: str | None) -> None:
    server.behaviour.tag = tag
    server.behaviour.date = "Mon, 01 Feb 2010 00:00:00 GMT"
    server.behaviour.cut = [400_000, 0, 0, 0, 0]
    with pytest.raises(FetchError):
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    server.behaviour = Behaviour(
        body=OTHER, tag=tag and '"v2"', date="Tue, 02 Feb 2010 00:00:00 GMT"
    )
    assert fetch(_url(server), tmp_path / "file.txt.gz", pause=0).path.read_bytes() == OTHER


@pytest.mark.parametrize(
    "change",
    [
        {"ranges": False},
        {"tag": 'W/"weak"'},
        {"tag": None},
        {"wrong_start": True},
    ],
)
def test_servers_that_cannot_resume(
    server: Server, tmp_path: Path, change: dict[str, object]
) -> None:
    for key, value in change.items():
        setattr(server.behaviour, key, value)
    server.behaviour.cut = [1000]
    done = fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert done.path.read_bytes() == BODY
    assert done.transferred == len(BODY) + 1000


def test_part_longer_than_the_file(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "file.txt.gz"
    (tmp_path / "file.txt.gz.part").write_bytes(BODY + b"extra")
    notes = {"url": _url(server), "tag": '"v1"', "total": len(BODY)}
    (tmp_path / "file.txt.gz.part.json").write_text(json.dumps(notes))
    assert fetch(_url(server), target, pause=0).path.read_bytes() == BODY
    assert server.behaviour.requests == [f"bytes={len(BODY) + 5}-", None]


@pytest.mark.parametrize("notes", ["", "{", "[]", '{"url": "elsewhere"}', '{"url": 1, "tag": 2}'])
def test_unreadable_notes_start_again(server: Server, tmp_path: Path, notes: str) -> None:
    (tmp_path / "file.txt.gz.part").write_bytes(b"rubbish")
    (tmp_path / "file.txt.gz.part.json").write_text(notes)
    assert fetch(_url(server), tmp_path / "file.txt.gz", pause=0).path.read_bytes() == BODY


def test_announced_more_than_there_is(server: Server, tmp_path: Path) -> None:
    server.behaviour.announce = len(BODY) + 10
    with pytest.raises(FetchError, match="run it again"):
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert not (tmp_path / "file.txt.gz").exists()


@pytest.mark.parametrize(
    ("always", "said", "requests"),
    [
        ((416, "bytes */600000"), "answers 416", 1),
        ((206, "bytes 0-599999/600000"), "does not send the bytes asked for", 4),
        ((206, "bytes 7-9/10"), "does not send the bytes asked for", 4),
        ((206, ""), "does not send the bytes asked for", 4),
        ((204, ""), "does not send the bytes asked for", 4),
    ],
)
def test_an_answer_to_what_was_not_asked(
    server: Server, tmp_path: Path, always: tuple[int, str], said: str, requests: int
) -> None:
    """A part of a file that was asked for whole, or none of it: tried a few times, then refused."""
    server.behaviour.always = always
    with pytest.raises(FetchError, match=said):
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert len(server.behaviour.requests) == requests
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("span", ["bytes 10-9/600", "bytes 1000-x/6", "bytes -1000", "lines 1-2/3"])
def test_a_foreign_part_is_not_glued_on(server: Server, tmp_path: Path, span: str) -> None:
    target = tmp_path / "file.txt.gz"
    server.behaviour.cut = [1000, 0, 0, 0, 0]
    with pytest.raises(FetchError):
        fetch(_url(server), target, pause=0)
    assert target.with_name("file.txt.gz.part").stat().st_size == 1000
    server.behaviour.always = (206, span)
    with pytest.raises(FetchError, match="does not send") as error:
        fetch(_url(server), target, pause=0)
    snapshots.check(error.value)
    assert not any(tmp_path.iterdir())


def test_a_part_of_another_file_is_not_glued_on(server: Server, tmp_path: Path) -> None:
    """It came with another ETag: a server that does not heed If-Range."""
    server.behaviour.cut = [1000]
    server.behaviour.part_tag = '"v2"'
    done = fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert done.path.read_bytes() == BODY
    assert server.behaviour.requests == [None, "bytes=1000-", None]


@pytest.mark.parametrize("say_length", [True, False])
def test_too_large_is_refused(server: Server, tmp_path: Path, say_length: bool) -> None:
    server.behaviour.say_length = say_length
    with pytest.raises(FetchError, match=r"more than 0\.5 MB") as error:
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0, max_bytes=500_000)
    snapshots.check(error.value)
    assert not any(tmp_path.iterdir())
    assert MAX_BYTES > 10 * 110_000_000  # the larger public file, and room to grow


def test_redirects_stay_on_the_web(server: Server, tmp_path: Path) -> None:
    server.behaviour.leads_to = "/moved"
    assert fetch(_url(server), tmp_path / "a.gz", pause=0).path.read_bytes() == BODY
    for address in ("ftp://127.0.0.1/file.gz", "file:///etc/passwd"):
        server.behaviour.leads_to = address
        with pytest.raises(FetchError, match=r"not a web address|not allowed"):
            fetch(_url(server), tmp_path / "b.gz", pause=0)
    for address in ("ftp://127.0.0.1/b.gz", "file:///etc/passwd", "b.gz"):
        with pytest.raises(FetchError, match="not a web address"):
            fetch(address, tmp_path / "b.gz", pause=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.gz", "a.gz.sha256"]


def test_no_length_said(server: Server, tmp_path: Path) -> None:
    server.behaviour.say_length = False
    totals: set[int | None] = set()
    fetch(_url(server), tmp_path / "f.gz", progress=lambda _, total: totals.add(total), pause=0)
    assert (tmp_path / "f.gz").read_bytes() == BODY
    assert totals == {None}


def test_not_found(server: Server, tmp_path: Path) -> None:
    server.behaviour.status = 404
    with pytest.raises(FetchError, match=r"file\.txt\.gz:") as error:
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    snapshots.check(error.value)
    assert len(server.behaviour.requests) == 1
    assert not any(tmp_path.iterdir())


def test_server_in_trouble(server: Server, tmp_path: Path) -> None:
    server.behaviour.status = 503
    with pytest.raises(FetchError, match=r"answers 503 .* run it") as error:
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    snapshots.check(error.value)
    assert len(server.behaviour.requests) == 4
    assert not any(tmp_path.iterdir())


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(FetchError, match="can't be reached"):
            fetch(f"http://127.0.0.1:{port}/x.gz", tmp_path / "x.gz", pause=0)
    assert not any(tmp_path.iterdir())


def test_sign_in_page(server: Server, tmp_path: Path) -> None:
    server.behaviour.body = b"<html>please sign in</html>"
    with pytest.raises(FetchError, match="not a gzip file"):
        fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert not any(tmp_path.iterdir())


def test_hash_recorded_first_and_verified_after(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "file.txt.gz"
    fetch(_url(server), target, pause=0)
    target.write_bytes(BODY[:-1])
    with pytest.raises(FetchError, match=r"differs from .* recorded in file\.txt\.gz\.sha256"):
        fetch(_url(server), target, pause=0)
    target.unlink()
    server.behaviour = Behaviour(body=OTHER)
    with pytest.raises(FetchError, match=r"delete file\.txt\.gz\.sha256"):
        fetch(_url(server), target, pause=0)
    assert not target.exists()
    (tmp_path / "file.txt.gz.sha256").unlink()
    assert not fetch(_url(server), target, pause=0).verified


def test_hash_asked_for(server: Server, tmp_path: Path) -> None:
    right = hashlib.sha256(BODY).hexdigest()
    assert fetch(_url(server), tmp_path / "a.gz", sha256=right, pause=0).verified
    with pytest.raises(FetchError, match="differs from 0000"):
        fetch(_url(server), tmp_path / "b.gz", sha256="0" * 64, pause=0)
    assert not (tmp_path / "b.gz").exists()
    (tmp_path / "a.gz.sha256").write_text("?")
    with pytest.raises(FetchError, match="not a sha256 record"):
        fetch(_url(server), tmp_path / "a.gz", pause=0)


def test_cancel_keeps_what_came(server: Server, tmp_path: Path) -> None:
    seen: list[int] = []
    with pytest.raises(FetchCancelled):
        fetch(
            _url(server),
            tmp_path / "file.txt.gz",
            progress=lambda n, _: seen.append(n),
            cancelled=lambda: bool(seen),
            pause=0,
        )
    assert not (tmp_path / "file.txt.gz").exists()
    done = fetch(_url(server), tmp_path / "file.txt.gz", pause=0)
    assert done.transferred == len(BODY) - seen[0]
    assert done.path.read_bytes() == BODY


def test_no_permission(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    root = os.geteuid() == 0
    if root:  # root may write anywhere: be somebody else for a moment
        os.seteuid(65534)
    try:
        with pytest.raises(FetchError, match=r"can't be written .*choose another folder"):
            fetch(_url(server), folder / "file.txt.gz", pause=0)
    finally:
        if root:
            os.seteuid(0)


def test_target_below_a_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="can't be written"):
        fetch(_url(server), tmp_path / "file" / "x.gz", pause=0)


def test_sources_and_presets_belong_together(tmp_path: Path) -> None:
    assert {p.key for p in PRESETS} == set(SOURCES)
    snapshots.check(SOURCES["gowalla"].file)
    snapshots.check(SOURCES["brightkite"].file)
    with pytest.raises(ValueError, match="gowalla, brightkite"):
        fetch_source("foursquare", tmp_path)
    with pytest.raises(ValueError, match="gowalla, brightkite"):
        preset("foursquare")


def test_presets_show_the_papers_counts() -> None:
    gowalla, brightkite = preset("gowalla"), preset("brightkite")
    assert gowalla.compare(196_000, 10_000) == (
        ("check-ins", 196_000, 196_071),
        ("users", 10_000, 10_196),
    )
    assert (brightkite.expected_rows, brightkite.expected_users) == (304_608, 10_177)
    assert gowalla.box == brightkite.box == (0, -135, 50, -60)
    assert (gowalla.start, gowalla.end) == ("2010-01-01T00:00:00Z", "2010-02-01T00:00:00Z")
    assert (brightkite.start, brightkite.end) == ("2008-11-01T00:00:00Z", "2009-01-01T00:00:00Z")
