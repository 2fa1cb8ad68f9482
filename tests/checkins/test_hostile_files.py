"""Binary files made to exhaust time or memory end in a sentence, with bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from explorer import bounded
from explorer.checkins import CheckinError, apart, open_checkins, sniff
from tests.checkins import hostile_files

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = 300_000_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers hold little memory, so that the files can be small."""
    monkeypatch.setattr(apart, "database_bytes", lambda: MEMORY)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["dictionary.parquet", "entities.xlsx", "far.xlsx"])
def test_bombs_end_in_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(hostile_files.MADE[name]())
    with pytest.raises(CheckinError) as caught:
        open_checkins(path, cache_dir=None)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    for name in ("pipe.parquet", "pipe.xlsx", "pipe.csv", "pipe.geojson"):
        hostile_files.fifo(tmp_path / name)
        with pytest.raises(CheckinError, match="not a regular file"):
            sniff(tmp_path / name)


def test_a_load_that_hangs_is_cancelled(tmp_path: Path, monkeypatch: Any) -> None:
    """Whatever compiled code does: the worker is killed."""
    path = tmp_path / "a.geojson"
    path.write_bytes(hostile_files.geojson())
    sniff(path)  # the worker has imported what it needs
    monkeypatch.setattr(bounded, "YIELD_S", 0.0)
    asked = iter([False] * 3)
    with pytest.raises(Exception, match="cancelled"):
        open_checkins(path, cache_dir=None, cancelled=lambda: next(asked, True))
