"""Keeps the garbage collector from stopping the window while a slider moves."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from explorer.engine.session.session import Session

REST_MS = 1000
"""So long after the last change a gesture is taken to be over."""
_NEVER = 1_000_000
_OFTEN = gc.get_threshold()[2]
"""Collections of the middle generation after which all is looked through."""


class DeferredGC(QObject):
    """Puts off full collections, which take 20 to 50 ms, until nothing has changed for a while.

    The young generations are collected as ever: a tenth of a millisecond each.

    Parameters
    ----------
    session : Session
    parent : QObject
    """

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._rested)
        session.changed.connect(self._changed)

    def close(self) -> None:
        """Disconnect from the session and leave the collector as it was."""
        self._session.changed.disconnect(self._changed)
        self._rest.stop()
        _set_full(_OFTEN)

    def _changed(self, *_: object) -> None:
        if not self._rest.isActive():
            _set_full(_NEVER)
        self._rest.start()

    def _rested(self) -> None:
        """Let the collector do as it likes, and at once what was put off."""
        _set_full(_OFTEN)
        if gc.get_count()[2] > _OFTEN:
            gc.collect()


def _set_full(often: int) -> None:
    """Set after how many collections of the middle generation there is a full one."""
    gc.set_threshold(*gc.get_threshold()[:2], often)
