"""Files are replaced whole, in place: mode, owner and symbolic links stay."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.checkins.rejected import text_file_replacing
from explorer.files import replacing, write_whole
from tests.figures.samples import curves, export
from tests.waiting import time_limit


def _table(path: Path) -> None:
    from explorer.figures.view_state import ViewState

    export(curves(), ViewState(), {"a": 1}, path)


def _picture(path: Path) -> None:
    from explorer.figures.view_state import ViewState

    export(curves(), ViewState(), {"a": 1}, path, size_px=(300, 200), dpi=50)


def _set_aside(path: Path) -> None:
    with text_file_replacing(path) as file:
        file.write("new")


def _session(path: Path) -> None:
    from explorer.ui.controllers.session_store import StateFile

    StateFile(path.parent).save({"session": {}})


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.csv": _table,
    "a.json": _table,
    "a.svg": _picture,
    "a.png": _picture,
    "rows.csv": _set_aside,
    "window.json": _session,
    "any": lambda path: write_whole(path, b"new"),
}
PRIVATE = {"window.json"}
"""Files of the program itself; the others are the user's, who chooses their mode."""


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_keeps_the_mode_and_follows_a_link(name: str, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real"
    real.parent.mkdir()
    real.write_bytes(b"old")
    real.chmod(0o640)
    link = tmp_path / name
    link.symlink_to(Path("elsewhere") / "real")
    WRITERS[name](link)
    assert link.is_symlink()
    assert real.read_bytes() != b"old"
    assert real.stat().st_mode & 0o777 == (0o600 if name in PRIVATE else 0o640)
    assert os.listdir(real.parent) == ["real"]
    assert os.listdir(tmp_path) in (["elsewhere", name], [name, "elsewhere"])


@pytest.mark.parametrize("name", WRITERS)
def test_a_new_file_has_the_mode_of_any_other(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    umask = os.umask(0)
    os.umask(umask)
    mode = 0o600 if name in PRIVATE else 0o666 & ~umask
    assert (tmp_path / name).stat().st_mode & 0o777 == mode


def test_a_file_that_waits_for_its_reader_is_no_more_open_than_the_one_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        (part,) = tmp_path.glob(".*.part")
        assert part.stat().st_mode & 0o777 == 0o600
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_failure_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"new")
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "folder", b"new")
    assert caught.value.filename == str(tmp_path / "no" / "folder")


def test_a_dangling_link_is_filled_and_a_pipe_is_written_into(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("later")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "later").read_bytes() == b"new"
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(time_limit())
    assert heard == [b"through"]
    assert pipe.is_fifo()


def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.write_bytes(b"old")
    path.chmod(0o444)
    tmp_path.chmod(0o777)
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path; from explorer.files import write_whole\n"
        "os.geteuid() == 0 and os.setuid(65534)\n"
        "try: write_whole(Path(sys.argv[1]), b'new')\n"
        "except PermissionError as error: print(error.filename)\n"
    )
    for folder in tmp_path.parents[:3]:
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(Path(__file__).resolve().parents[1])],
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(path), done.stderr
    assert path.read_bytes() == b"old"
