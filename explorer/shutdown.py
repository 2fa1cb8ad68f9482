"""Ends the program in bounded time on signals, with the signal's exit code.

A signal raises `KeyboardInterrupt` in the main thread, so that ``with`` blocks can clean up. Code
in C does not return to the interpreter for that, Qt's loop and joined threads neither: a second
thread learns of the signal at once and ends the process when `GRACE_S` has passed.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import NoReturn

from explorer.files import temporary

GRACE_S = 1.0
"""Seconds the main thread has to clean up after a signal or after the window closed."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_state: dict[str, int] = {}
_on_signal: list[Callable[[], object]] = []


class Terminated(KeyboardInterrupt):
    """SIGTERM was received."""


def install() -> None:
    """Handle SIGINT and SIGTERM in this process; to be called once, in its main thread.

    A signal that is ignored (as by ``nohup``) stays ignored.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    sys.unraisablehook = _unraisable
    threading.Thread(target=_watch, args=(read,), daemon=True, name="signals").start()
    _state["installed"] = 1


def exit_code(default: int) -> int:
    """Return 128 + the number of the signal that was received, or the code given."""
    return 128 + _state["signal"] if "signal" in _state else default


def call_on_signal(function: Callable[[], object]) -> None:
    """Call a function in another thread when a signal comes, instead of raising in the main one."""
    _on_signal.append(function)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise an interrupt of the block only when it is left.

    An extension module whose import is interrupted may abort the process, and Qt's classes, which
    are completed on first use, lack their members ever after.
    """
    _state["deferred"] = _state.get("deferred", 0) + 1
    try:
        yield
    finally:
        _state["deferred"] -= 1
    if "signal" in _state and not _on_signal and not _state["deferred"]:
        raise Terminated if _state["signal"] == signal.SIGTERM else KeyboardInterrupt


def end_soon(code: int) -> None:
    """End the process with this code after `GRACE_S`; requires `install`."""
    if "installed" in _state:
        threading.Thread(target=_end_after, args=(code,), daemon=True, name="end").start()


def finish(code: int) -> int:
    """Wait for child processes and return the exit code; exits at once if output is broken."""
    call_on_signal(lambda: None)  # nothing is left to interrupt: `_watch` alone ends the process
    code = exit_code(code)
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):  # its reader is gone, or it is closed
        end_now(code or 1)
    if "closed" in _state:
        end_now(code)
    if "signal" in _state:
        # The interpreter ends as usual, so that semaphores are given back, but without a word of
        # threads that were interrupted; `_watch` ends it if that takes too long.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        _kill_children(trackers=False)
    if "PySide6" not in sys.modules:  # Qt's objects are collected before Qt itself ends
        gc.freeze()  # else looking for garbage takes up to a fifth of a short command
    return code


def output_closed() -> int:
    """Return the exit code for a closed output; `finish` then exits at once."""
    _state["closed"] = 1
    return 1


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Block SIGINT in threads and processes started in the block, for their whole life.

    A terminal sends Ctrl+C to all processes: one that has just been started would print a
    traceback. This thread receives it once the block is left.
    """
    resource_tracker.ensure_running()  # else it starts with the first process and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_now(code: int) -> NoReturn:
    """End the process and its children, and remove temporary files."""
    with suppress(Exception):
        _kill_children(trackers=True)
    for path in list(temporary):
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)
    os._exit(code)


def _interrupt(number: int, _frame: object) -> None:
    _state.setdefault("signal", number)
    if not _on_signal and not _state.get("deferred"):
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _unraisable(problem: sys.UnraisableHookArgs) -> None:
    """Report an exception in a destructor or callback, unless the program is being interrupted.

    An interrupt there is lost; `_watch` ends the program all the same.
    """
    if "signal" not in _state:
        sys.__unraisablehook__(problem)


def _watch(read: int) -> None:
    while True:
        number = os.read(read, 1)[0]
        if number in SIGNALS:
            break
    _state.setdefault("signal", number)
    threading.excepthook = lambda _: None
    for function in _on_signal:
        with suppress(Exception):
            function()
    _end_after(128 + number)


def _end_after(code: int) -> None:
    time.sleep(GRACE_S)
    end_now(exit_code(code))


def _kill_children(*, trackers: bool) -> None:
    """Kill all descendants, optionally except Python's resource trackers."""
    import psutil

    children = psutil.Process().children(recursive=True)
    for child in children:
        with suppress(psutil.Error):
            if trackers or not any("resource_tracker" in word for word in child.cmdline()):
                child.kill()
    psutil.wait_procs(children, timeout=0.3)
