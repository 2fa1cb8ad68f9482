"""Every command ends within two seconds of a signal: exit code, no traceback, no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.engine.test_survivors import alive
from tests.waiting import time_limit, wait_until

pytestmark = pytest.mark.full

CHECKOUT = Path(__file__).resolve().parents[2]
END_S = 2.0
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Run:
    """A program of its own, in a process group like that of a command in a terminal."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            start_new_session=True,
        )

    def children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def end(self, number: signal.Signals) -> str:
        """Send a signal to all its processes and return what it wrote to standard error."""
        started = self.children()
        began = time.monotonic()
        os.killpg(self.process.pid, number)
        try:
            _, said = self.process.communicate(timeout=time_limit(20))
        finally:
            self.process.kill()
        assert time.monotonic() - began < time_limit(END_S)
        assert self.process.returncode == CODES[number], said
        assert "Traceback" not in said
        assert wait_until(lambda: not alive(started), 5), alive(started)
        return said


def test_a_cluster_that_starts_is_ended() -> None:
    run = Run("-m", "explorer", "cluster", "--local", "2")
    assert wait_until(lambda: len(run.children()) >= 2, 60)
    run.end(signal.SIGTERM)


def script(body: str) -> tuple[str, str]:
    """Return the words of a program that runs `main` with a command replaced by `body`."""
    return "-c", (
        "import sys, threading, time, click\n"
        "from explorer import cli, __main__\n"
        "@click.command('studies')\n"
        "def command():\n"
        "    print('begun', flush=True)\n"
        f"    {body}\n"
        "sys.argv = ['privacy-explorer', 'studies']\n"
        "sys.modules['tests_command'] = type(sys)('tests_command')\n"
        "sys.modules['tests_command'].command = command\n"
        "cli.COMMANDS['studies'] = 'tests_command:command'\n"
        "sys.exit(__main__.main())\n"
    )


BODIES = {
    "waits": "time.sleep(600)",
    "in C": "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)",
    "swallows": "\n    while True:\n"
    "        try: time.sleep(600)\n"
    "        except BaseException: pass",
    "a thread that stays": "threading.Thread(target=time.sleep, args=(600,)).start()",
    "a child": "import subprocess; subprocess.run([sys.executable, '-c', "
    "'import signal,time; signal.signal(2, signal.SIG_IGN); "
    "signal.signal(15, signal.SIG_IGN); time.sleep(600)'])",
}


@pytest.mark.parametrize(
    ("name", "number"), [*zip(BODIES, 3 * list(CODES), strict=False), ("swallows", signal.SIGTERM)]
)
def test_whatever_a_command_does_it_is_ended(name: str, number: signal.Signals) -> None:
    run = Run(*script(BODIES[name]))
    assert run.process.stdout is not None
    assert run.process.stdout.readline() == "begun\n"
    time.sleep(0.1)
    run.end(number)


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.3])
def test_an_interrupt_while_the_program_starts_leaves_no_traceback(delay: float) -> None:
    run = Run(
        "-c",
        "import sys; print(1, flush=True)\nfrom explorer.__main__ import main\nsys.exit(main())",
    )
    assert run.process.stdout is not None
    run.process.stdout.readline()
    assert wait_until(lambda: _handles(run.process.pid, signal.SIGTERM), 20)
    time.sleep(delay)
    run.end(signal.SIGINT)


def _handles(pid: int, number: signal.Signals) -> bool:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = int(text.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (number - 1) & 1)


WINDOW = (
    "import sys\n"
    "from explorer import shutdown\n"
    "shutdown.install()\n"
    "from PySide6.QtCore import QTimer\n"
    "import explorer.ui.controllers.data_controller as controller\n"
    "import threading, time\n"
    "def hang(*_, **__): time.sleep(600)\n"
    "controller.open_any_size = hang\n"
    "from explorer.ui.app.options import WindowOptions\n"
    "from explorer.ui.app.application import Application\n"
    "launch = Application(WindowOptions(study='unbounded', start_page=False), ['x'])\n"
    "QTimer.singleShot(500, lambda: print('begun', flush=True))\n"
    "{more}\n"
    "sys.exit(shutdown.finish(launch.run()))\n"
)


def test_a_signal_ends_the_window_during_a_load_that_hangs() -> None:
    run = Run("-c", WINDOW.format(more=""))
    assert run.process.stdout is not None
    assert run.process.stdout.readline() == "begun\n"
    run.end(signal.SIGTERM)


def test_a_window_that_is_closed_during_a_load_that_hangs_ends_its_process() -> None:
    run = Run("-c", WINDOW.format(more="QTimer.singleShot(800, launch.window.close)"))
    assert run.process.stdout is not None
    assert run.process.stdout.readline() == "begun\n"
    began = time.monotonic()
    _, said = run.process.communicate(timeout=time_limit(20))
    assert time.monotonic() - began < time_limit(3)
    assert run.process.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("words", [("--study", "shuffle-rdp"), ("--start-page",)])
def test_ctrl_c_ends_the_real_window(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """While it computes, and while it waits on the first page."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    run = Run("-m", "explorer", "window", *words)
    assert wait_until(lambda: _handles(run.process.pid, signal.SIGINT), 20)
    time.sleep(1.0)
    run.end(signal.SIGINT)


def closed(stream: int, how: Callable[[], int]) -> Callable[[], None]:
    def prepare() -> None:
        os.dup2(how(), stream)

    return prepare


def _broken_pipe() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("stream", [1, 2])
def test_a_reader_of_the_output_that_has_gone_ends_a_command(stream: int) -> None:
    words = ["studies"] if stream == 1 else ["bounds", "no-such-study"]
    done = subprocess.run(
        [sys.executable, "-m", "explorer", *words],
        cwd=CHECKOUT,
        preexec_fn=closed(stream, _broken_pipe),
        capture_output=False,
        stdout=None if stream == 1 else subprocess.DEVNULL,
        stderr=subprocess.PIPE if stream == 1 else None,
        text=True,
        timeout=time_limit(30),
    )
    assert done.returncode == 1 if stream == 1 else done.returncode in (1, 2)
    assert not done.stderr


def test_streams_that_are_closed_are_not_mistaken_for_files(tmp_path: Path) -> None:
    """What is opened first would get the number of standard error, and warnings into it."""
    done = subprocess.run(
        f"exec {sys.executable} -m explorer bounds unbounded "
        f"--output {tmp_path}/a.csv 0<&- 1>&- 2>&-",
        shell=True,
        cwd=CHECKOUT,
        timeout=time_limit(60),
    )
    assert done.returncode == 0
    assert (tmp_path / "a.csv").read_bytes().startswith(b"#")
