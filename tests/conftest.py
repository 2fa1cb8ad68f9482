"""What every test may rely on: no screen, no user folders, a fixed hypothesis profile."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from explorer.ui.base.startup_tuning import tune_imports

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from tests.qt_robot import WaitingBot

tune_imports()
atexit.register(gc.freeze)  # else a worker looks for garbage for four seconds while it ends
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# As in the program. Threads of BLAS that wait for each other take the processor from other workers:
# 830 tests of heatmaps and learning take 57 s on two processors with one thread, 98 s with two.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci", max_examples=25, deadline=None, derandomize=True, suppress_health_check=_QUIET
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=_QUIET
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker for each processor, at most four.

    A third one on two processors imports and collects everything once more: the README's command
    takes 402 s with three and 352 s with two.
    """
    return min(4, os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--full``; the tests that a run without it leaves out are run by ``-m full``."""
    parser.addoption(
        "--full",
        action="store_true",
        help="run also tests marked full; implied where files, folders or markers are given",
    )


def pytest_unconfigure() -> None:
    """Clear the clipboard, which would be destroyed after Python has ended."""
    gui = sys.modules.get("PySide6.QtGui")
    if gui is not None and gui.QGuiApplication.instance() is not None:
        gui.QGuiApplication.clipboard().clear()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: 10 s of processor time a worker instead of 15."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # ten thousand tests stay until the end
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked ``full`` in a run of the whole suite, unless they are asked for."""
    if config.option.full or config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl+C reach programs that tests start, and let all processes share what is compiled."""
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        config.option.full = True  # xdist hands options on to its workers
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # what a shell does to "… &"
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        _share_compiled(config)


def _share_compiled(config: pytest.Config) -> None:
    """Compile once, not once a process.

    Hundreds of processes are started. Where the environment forbids to keep byte code (as that of
    containers often does), each takes .7 s to compile our modules; each folder of caches would have
    its own machine code, which takes 7 s. The next run finds it where pytest keeps its cache.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    shared = tempfile.TemporaryDirectory(prefix="shared-")
    config.add_cleanup(shared.cleanup)
    os.environ["EXPLORER_TESTS_SHARED"] = shared.name  # see `tests.warm_answers`
    if "NUMBA_CACHE_DIR" not in os.environ:
        kept = hasattr(config, "cache")
        folder = config.cache.mkdir("compiled") if kept else Path(shared.name, "compiled")
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)  # the program compiles into nothing that others could write
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if not config.option.full and not config.option.collectonly:
        _prepare_windows(config, shared.name)


def _prepare_windows(config: pytest.Config, cache: str) -> None:
    """Make what windows wait for while tests are collected: the whole suite has windows."""
    preparing = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_processes_preload"],
        cwd=Path(__file__).resolve().parents[1],
        env={**os.environ, "XDG_CACHE_HOME": cache},
    )
    config.add_cleanup(preparing.wait)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> WaitingBot:
    """pytest-qt's robot with waits that scale with the machine."""
    from tests.qt_robot import WaitingBot

    return WaitingBot(request)


@pytest.fixture(scope="session", autouse=True)
def _user_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep caches, settings and sessions out of the folders of whoever runs the tests."""
    base: Path = tmp_path_factory.mktemp("home")
    for name, folder in {
        "XDG_CACHE_HOME": "cache",
        "XDG_CONFIG_HOME": "config",
        "XDG_DATA_HOME": "data",
        "XDG_STATE_HOME": "state",
    }.items():
        (base / folder).mkdir(exist_ok=True)
        os.environ[name] = str(base / folder)


@pytest.fixture(scope="session", autouse=True)
def _warm_processes(_user_folders: None) -> Iterator[None]:
    """Fork what computes from a process that has imported what it needs, where systems can."""
    from explorer.engine.compute import process
    from tests.warm_processes import LokyProcess, WarmContext, WarmWorker

    with pytest.MonkeyPatch.context() as patch:
        if "forkserver" in multiprocessing.get_all_start_methods():
            warm = WarmContext()
            patch.setattr(process, "multiprocessing", SimpleNamespace(get_context=lambda _: warm))
            patch.setattr(LokyProcess, "_Popen", staticmethod(WarmWorker))
        yield


@pytest.fixture
def fresh_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start worker processes as the program does."""
    from tests.warm_processes import FRESH_WORKER, LokyProcess

    monkeypatch.setattr(LokyProcess, "_Popen", staticmethod(FRESH_WORKER))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built once."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=Path(__file__).resolve().parents[1],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def real_checkins() -> Path:
    """The folder of real check-ins beside the checkout; tests skip where it is not."""
    folder = Path(
        os.environ.get(
            "PRIVACY_EXPLORER_REAL_DATA",
            Path(__file__).resolve().parents[1].parent / "shared" / "data",
        )
    )
    if not folder.is_dir():
        pytest.skip("no real check-ins beside the checkout (PRIVACY_EXPLORER_REAL_DATA)")
    return folder
