"""Files for the tests, and a check that no temporary files remain."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GOOD = "{user}\t2010-01-{day:02d}T12:00:00Z\t40.5\t-73.5\t{place}"


def good(i: int, user: int | str | None = None) -> str:
    """A row that is kept; different for every i."""
    return GOOD.format(user=i % 7 if user is None else user, day=1 + i % 28, place=i)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str | bytes, name: str = "checkins.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(autouse=True)
def nothing_left_behind(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No thread and no temporary file outlives a test."""
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and t.name.startswith("checkins")]
    assert not left
    assert not [p for p in scratch.iterdir() if p.name.startswith("privacy-explorer-")]
