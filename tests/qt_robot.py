"""pytest-qt's robot with waits that scale with the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from tests.waiting import USUAL_S, time_limit

TURN_MS = 1000.0
"""What one turn of the event loop may take of a wait's limit."""


class WaitingBot(QtBot):
    """Drives widgets as a user does.

    A `timeout`, in milliseconds, is that of a quiet machine; without one it is the usual one.
    """

    def waitUntil(self, callback: Callable[[], Any], *, timeout: float | None = None) -> None:  # noqa: N802
        """Turn the event loop until `callback` returns True, or None without failing.

        A turn counts as at most `TURN_MS`: while the machine stands still, what is waited for does
        not come nearer.
        """
        __tracebackhide__ = True
        left, before = float(_ms(timeout)), time.monotonic()
        while True:
            problem = None
            try:
                result = callback()
            except AssertionError as error:
                problem = error
            else:
                assert result in (True, False, None), result
                if result is not False:
                    return
            now = time.monotonic()
            left, before = left - min(1000 * (now - before), TURN_MS), now
            if left < 0:
                raise TimeoutError(f"not so within {_ms(timeout)} ms") from problem
            self.wait(10)

    def waitSignal(self, signal: Any, *, timeout: float | None = None, **more: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=_ms(timeout), **more)

    def waitSignals(self, signals: Any, *, timeout: float | None = None, **more: Any) -> Any:  # noqa: N802
        return super().waitSignals(signals, timeout=_ms(timeout), **more)

    def waitCallback(self, *, timeout: float | None = None, **more: Any) -> Any:  # noqa: N802
        return super().waitCallback(timeout=_ms(timeout), **more)

    def waitExposed(self, widget: Any, *, timeout: float | None = None) -> Any:  # noqa: N802
        return super().waitExposed(widget, timeout=_ms(timeout))

    def waitActive(self, widget: Any, *, timeout: float | None = None) -> Any:  # noqa: N802
        return super().waitActive(widget, timeout=_ms(timeout))

    def turns(self, count: int = 10) -> None:
        """Turn the event loop until layouts and what they set off have come to rest."""
        for _ in range(count):
            self.wait(1)
            QCoreApplication.sendPostedEvents()


def _ms(timeout: float | None) -> int:
    return round(time_limit(1000 * USUAL_S if timeout is None else timeout))
