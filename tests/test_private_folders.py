"""Folders of the program are private: modes, owners and links; what is refused and what is used."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.checkins import open_checkins
from explorer.checkins.cache import Entry, new_entry
from explorer.engine.executors.cluster import Cluster
from explorer.engine.paths import find_cache
from explorer.files import is_private, private_folder, write_whole
from explorer.privacy.core import compiled as compiling
from explorer.release.errors import LedgerError
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings, default_ledger, default_settings

CHECKOUT = Path(__file__).resolve().parents[1]
ROW = "{0}\t2010-10-{1:02d}T12:00:00Z\t40.{0}5\t-73.5\t{0}\n"
NOBODY = 65534
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """User folders of their own, and no folder for compiled code named by the environment."""
    for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    find_cache.cache_clear()
    yield tmp_path
    find_cache.cache_clear()


def program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "explorer", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=CHECKOUT,
    )


def test_a_new_folder_and_its_parents_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert mode_of(made) == mode_of(made.parent) == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o777, 0o711])
def test_an_open_folder_is_restricted_and_reported_once(
    tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "kept").touch()
    folder.chmod(mode)
    private_folder(folder)
    assert mode_of(folder) == 0o700
    private_folder(folder)
    assert len([r for r in caplog.records if str(folder) in r.getMessage()]) == 1
    assert (folder / "kept").exists()


@pytest.mark.parametrize(("mode", "left"), [(0o755, True), (0o775, False), (0o757, False)])
def test_a_cache_that_others_could_write_to_is_emptied(
    tmp_path: Path, mode: int, left: bool
) -> None:
    folder = tmp_path / "cache"
    (folder / "compiled").mkdir(parents=True)
    (folder / "compiled" / "code.nbc").touch()
    (folder / "link").symlink_to(tmp_path)
    folder.chmod(mode)
    private_folder(folder, disposable=True)
    assert (folder / "compiled").exists() is left
    assert tmp_path.exists()


def test_a_link_is_refused_and_its_target_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(target)
    for link in (tmp_path / "link", tmp_path / "dangling"):
        if not link.exists():
            link.symlink_to(tmp_path / "nowhere")
        with pytest.raises(PermissionError) as refused:
            private_folder(link)
        assert refused.value.filename == str(link)
    assert mode_of(target) == 0o755
    assert not (tmp_path / "nowhere").exists()


def test_links_above_the_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    assert is_private(private_folder(tmp_path / "home" / "cache"))


def test_a_parent_in_which_everybody_writes_needs_the_sticky_bit(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    with pytest.raises(PermissionError):
        private_folder(tmp_path / "shared" / "cache")
    (tmp_path / "shared").chmod(0o1777)
    private_folder(tmp_path / "shared" / "cache")


@root_only
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(PermissionError):
        private_folder(folder)
    assert not is_private(folder)


@root_only
def test_another_user_does_not_use_a_folder_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    folder.chmod(0o777)
    for above in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        above.chmod(0o755)
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path; from explorer.files import private_folder\n"
        f"os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "try: private_folder(Path(sys.argv[1]))\n"
        "except PermissionError as error: print(error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(CHECKOUT)], capture_output=True, text=True
    )
    assert done.stdout.strip() == str(folder), done.stderr
    assert mode_of(folder) == 0o777


def test_a_mode_that_cannot_be_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fat"
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)  # as on a file system without modes
    with pytest.raises(PermissionError):
        private_folder(folder)


def spoil(folder: Path, how: str) -> None:
    """Make a folder one that must not be used."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if how == "link":
        (folder.parent / "elsewhere").mkdir()
        folder.symlink_to(folder.parent / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
        os.chown(folder, NOBODY, NOBODY)


SPOILT = ["link", pytest.param("owner", marks=root_only)]


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", ["", "checkins", "compiled", "experiments"])
def test_a_cache_that_is_not_ours_is_replaced_by_a_temporary_one(
    base: Path, how: str, name: str
) -> None:
    wanted = base / "cache" / "privacy-explorer"
    if name:
        private_folder(wanted)
    spoil(wanted / name, how)
    found = find_cache(str(wanted))
    assert found.path != wanted
    assert is_private(found.path)
    assert str(wanted) in found.complaint


@pytest.mark.parametrize("how", SPOILT)
def test_a_ledger_is_not_kept_in_a_folder_that_is_not_ours(base: Path, how: str) -> None:
    spoil(base / "data" / "privacy-explorer", how)
    with pytest.raises(LedgerError, match=str(base / "data")):
        Ledger(default_ledger(), FileSettings(default_settings()))
    done = program("ledger", "open", "--budget", "1/1", "--label", "x")
    assert done.returncode == 1
    assert str(base / "data" / "privacy-explorer") in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list((base / "data").rglob("*.sqlite"))


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_remembered_of_ledgers_is_not_kept_there_either(base: Path, how: str) -> None:
    spoil(base / "config" / "privacy-explorer", how)
    with pytest.raises(LedgerError, match=str(base / "config")):
        Ledger(default_ledger(), FileSettings(default_settings()))


def test_ledger_folders_of_earlier_versions_are_restricted(base: Path) -> None:
    folder = base / "data" / "privacy-explorer"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    with Ledger(default_ledger(), FileSettings(default_settings())):
        pass
    assert mode_of(folder) == 0o700
    default_ledger().chmod(0o644)
    with Ledger(default_ledger(), FileSettings(default_settings())):
        pass
    assert mode_of(default_ledger()) == mode_of(default_settings()) == 0o600


def test_the_folder_of_a_ledger_that_is_named_keeps_its_mode(base: Path) -> None:
    (base / "project").mkdir()
    (base / "project").chmod(0o755)
    with Ledger(base / "project" / "ledger.sqlite", FileSettings(default_settings())):
        pass
    assert mode_of(base / "project") == 0o755


@pytest.mark.parametrize("how", SPOILT)
def test_a_session_is_not_saved_in_a_folder_that_is_not_ours(base: Path, how: str) -> None:
    from explorer.engine.paths import state_folder

    spoil(base / "state" / "privacy-explorer", how)
    with pytest.raises(PermissionError):
        state_folder()


def test_stored_rows_can_be_read_by_their_owner_alone(base: Path) -> None:
    path = base / "checkins.txt"
    path.write_text("".join(ROW.format(i % 9, 1 + i % 28) for i in range(50)))
    with open_checkins(path, cache_dir=base / "rows"):
        stored = [p for p in (base / "rows").rglob("*") if p.is_file() and p.name != "lock"]
        assert any(p.suffix == ".parquet" for p in stored)
        assert {mode_of(p) for p in stored} == {0o600}


def test_a_private_file_that_is_replaced_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new", private=True)
    assert mode_of(path) == 0o600


def test_a_temporary_entry_is_private() -> None:
    entry: Entry = new_entry(None)
    try:
        assert is_private(entry.folder)
    finally:
        entry.close()


def test_machine_code_is_kept_in_private_folders_only(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = base / "cache" / "privacy-explorer" / "compiled"
    assert compiling.machine_code_folder() == own
    assert is_private(own)
    assert is_private(own.parent)
    named = base / "named"
    named.mkdir(mode=0o700)
    monkeypatch.setenv(compiling.FOLDER_VARIABLE, str(named))
    assert compiling.machine_code_folder() == named
    named.chmod(0o755)
    assert compiling.machine_code_folder() == own
    # planted by others while they could: gone before it is read
    planted = own / "planted.nbi"
    planted.touch()
    own.chmod(0o777)
    assert compiling.machine_code_folder() == own
    assert not planted.exists()


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", ["", "compiled"])
def test_machine_code_is_not_kept_where_others_write(base: Path, how: str, name: str) -> None:
    if name:
        private_folder(base / "cache" / "privacy-explorer")
    spoil(base / "cache" / "privacy-explorer" / name, how)
    assert compiling.machine_code_folder() is None


def test_numba_uses_that_folder(base: Path) -> None:
    script = base / "script.py"
    script.write_text(
        "from explorer.privacy.core.compiled import compiled\n"
        "@compiled\n"
        "def twice(x): return 2 * x\n"
        "print(twice.stats.cache_path)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    own = base / "cache" / "privacy-explorer" / "compiled"
    assert Path(done.stdout.strip()).is_relative_to(own), done.stderr


def test_processes_that_compute_are_given_a_private_folder(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.engine.executors.embedded import worker_environment

    (base / "open").mkdir(mode=0o755)
    monkeypatch.setenv(compiling.FOLDER_VARIABLE, str(base / "open"))
    given = Path(worker_environment()[compiling.FOLDER_VARIABLE])
    assert given == base / "cache" / "privacy-explorer" / "compiled"
    assert is_private(given)


def test_no_function_of_numba_is_cached_elsewhere() -> None:
    """Every function compiled for the disk goes through `explorer.privacy.core.compiled`."""
    uses = [
        path
        for path in (CHECKOUT / "explorer").rglob("*.py")
        if "cache=True" in path.read_text("utf-8") and "numba" in path.read_text("utf-8")
    ]
    assert [path.name for path in uses] == ["compiled.py"]


def test_a_shared_folder_keeps_its_mode_and_is_named_as_readable(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    cluster = Cluster("local:1", shared_folder=str(shared))
    assert cluster.shared_with_others
    assert mode_of(shared) == 0o755
    shared.chmod(0o700)
    assert not cluster.shared_with_others
