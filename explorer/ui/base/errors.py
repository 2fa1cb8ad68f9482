"""Converts exceptions to messages for users, and shows them in a banner."""

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.base.styled import plain_label, tool_button

log = logging.getLogger("explorer")

STALE_MS = 400
"""Time that an outdated message stays after a retry started."""


@dataclass(frozen=True)
class Problem:
    """A problem to show to the user.

    Attributes
    ----------
    source : str
        Kind of action (``answer``, ``data``, ``export``); a later success of the same kind clears
        it.
    sentence : str
    details : str
        Traceback for bug reports; empty if the sentence is complete.
    remedy : str
        Label of a button beside the sentence; empty for none.
    do : callable or None
        Called by the button.
    """

    source: str
    sentence: str
    details: str = ""
    remedy: str = ""
    do: Callable[[], None] | None = None


def explain(error: BaseException, source: str) -> Problem:
    """Convert an exception to a problem for the user.

    Expected errors (ValueError, LookupError, OSError with a message) are shown as they are;
    anything else is reported as a bug.
    """
    text = str(error).strip()
    if isinstance(error, OSError) and error.strerror:
        name = f" {error.filename}" if error.filename else ""
        return Problem(source, f"The system refused the file{name}: {error.strerror.lower()}.")
    expected = isinstance(error, ValueError | LookupError | OSError | RuntimeError)
    if expected and text and not isinstance(error, KeyError | IndexError | UnicodeError):
        # Parameters ("eps0: …") and file names keep their spelling.
        first = text.split()[0]
        sentence = text[:1].upper() + text[1:] if first.isalpha() else text
        return Problem(source, sentence if sentence[-1] in ".!?…" else sentence + ".")
    what = {"answer": "while computing", "data": "while opening the file"}.get(source, "")
    sentence = " ".join(filter(None, ("Something unexpected happened", what)))
    return Problem(source, f"{sentence}: {text or type(error).__name__}.", _trace(error))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


_BANNER_MARGIN = 4
"""Distance of a banner from the edges, in pixels."""


class Banner(QFrame):
    """Message bar over an edge of a widget, so that nothing moves when it appears.

    Parameters
    ----------
    over : QWidget
    edge : Qt.Edge, optional
        The upper or lower edge.
    """

    def __init__(self, over: QWidget, edge: Qt.Edge = Qt.Edge.TopEdge) -> None:
        super().__init__(over)
        self._over, self._edge = over, edge
        over.installEventFilter(self)
        self.setObjectName("banner")
        self._problems: list[Problem] = []
        """Problems that are neither resolved nor closed; the last one is shown."""
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remedy = QToolButton()
        self.more = tool_button("Details", quiet=True, checkable=True)
        self.shut = tool_button("✕", "Close this message", "Close this message", quiet=True)
        self.details = QPlainTextEdit(readOnly=True)
        self.details.setMaximumHeight(150)
        top = QHBoxLayout()
        top.addWidget(plain_label("⚠"), 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.text, 1)
        top.addWidget(self.remedy)
        top.addWidget(self.more)
        top.addWidget(self.shut)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 6, 6)
        layout.addLayout(top)
        layout.addWidget(self.details)
        self.remedy.setAccessibleName("Remedy")
        self.remedy.clicked.connect(self._help)
        self.more.toggled.connect(self._show_details)
        self.shut.clicked.connect(self._close)
        self._stale = ""
        self._expiry = QTimer(self, singleShot=True)
        self._expiry.setInterval(STALE_MS)
        self._expiry.timeout.connect(lambda: self.settled(self._stale))
        self.details.hide()
        self.hide()

    @property
    def problem(self) -> Problem | None:
        """The problem shown."""
        return self._problems[-1] if self._problems else None

    def show_problem(self, problem: Problem) -> None:
        """Show a problem; earlier ones of other kinds reappear when it is closed."""
        self._cancel_expiry(problem.source)
        self._problems = [p for p in self._problems if p.source != problem.source]
        self._problems.append(problem)
        self._show_last()

    def mark_stale(self, source: str) -> None:
        """Hide the message soon, unless it is reported again.

        Called when the action is retried; delayed to avoid flicker while every value of a slider
        fails.
        """
        self._stale = source
        self._expiry.start()

    def settled(self, source: str) -> None:
        """Remove the message of this kind."""
        self._cancel_expiry(source)
        shown = self.problem
        self._problems = [p for p in self._problems if p.source != source]
        if self.problem is not shown:
            self._show_last()

    def _cancel_expiry(self, source: str) -> None:
        if source == self._stale:
            self._expiry.stop()

    def _close(self) -> None:
        self._problems.pop()
        self._show_last()

    def _show_last(self) -> None:
        problem = self.problem
        if problem is None:
            self.hide()
            return
        self.text.setText(problem.sentence)
        self.details.setPlainText(problem.details)
        self.remedy.setText(problem.remedy)
        self.remedy.setAccessibleName(problem.remedy or "Remedy")
        self.remedy.setVisible(bool(problem.remedy))
        self.more.setVisible(bool(problem.details))
        self.more.setChecked(False)
        self.show()
        self._place()

    def _show_details(self, shown: bool) -> None:
        self.details.setVisible(shown)
        self._place()

    def _place(self) -> None:
        """Lie over the edge, as high as the text needs."""
        layout, over = self.layout(), self._over
        if layout is None or self.isHidden():
            return
        layout.invalidate()
        width = over.width() - 2 * _BANNER_MARGIN
        height = layout.totalHeightForWidth(width)
        upper = over.height() - height - _BANNER_MARGIN
        top = _BANNER_MARGIN if self._edge is Qt.Edge.TopEdge else upper
        self.setGeometry(_BANNER_MARGIN, top, width, height)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the widget below."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._place()
        return super().eventFilter(watched, event)

    def _help(self) -> None:
        if self.problem is not None and self.problem.do is not None:
            self.problem.do()


class ExceptionHook(QObject):
    """Catches unhandled exceptions of all threads, logs and reports them.

    Signals
    -------
    caught(Problem)
        Emitted in the thread of this object.
    """

    caught = Signal(object)
    _seen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._before: tuple[Callable[..., object], Callable[..., object]] | None = None
        self._seen.connect(self.caught, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Replace the interpreter's hooks."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._main
        threading.excepthook = lambda args: self._main(
            args.exc_type, args.exc_value, args.exc_traceback
        )

    def remove(self) -> None:
        """Restore the former hooks."""
        if self._before is not None:
            sys.excepthook, threading.excepthook = self._before
            self._before = None

    def _main(
        self, kind: type[BaseException], error: BaseException | None, _tb: TracebackType | None
    ) -> None:
        if error is None or issubclass(kind, KeyboardInterrupt | SystemExit):
            return
        log.error("unhandled exception\n%s", _trace(error))
        self._seen.emit(Problem("program", *_fault(error)))


def _fault(error: BaseException) -> tuple[str, str]:
    text = str(error).strip() or type(error).__name__
    return (f"Something unexpected happened: {text}. Your work is kept.", _trace(error))
