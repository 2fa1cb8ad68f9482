"""Tab pages that are built when first shown, or while the application is idle.

The first picture shows one workspace; building the others with it would delay it, and
building one when its tab is selected would delay that. Each is therefore built in pieces
after the first picture.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

BEGIN_AFTER_MS = 700
"""Delay from showing the window to the first piece."""
BETWEEN_MS = 40
Page = TypeVar("Page", bound=QWidget)


@dataclass(frozen=True)
class TabFactory(Generic[Page]):
    """How to build a page.

    Attributes
    ----------
    title : str
        Title of the tab.
    make : callable
        Builds the page.
    pieces : tuple of callable
        Preparations in small steps: importing modules, reading files.
    tool_tip : str
        Tool tip of the tab.
    """

    title: str
    make: Callable[[], Page]
    pieces: tuple[Callable[[], object], ...] = ()
    tool_tip: str = ""


class PageStack(QStackedWidget):
    """Stack of pages whose least height is that of the page in front, not of the highest one."""

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize(
            super().minimumSizeHint().width(), self.currentWidget().minimumSizeHint().height()
        )


class LazyTabs(Mapping[str, Page]):
    """Mapping from key to page; ``pages[key]`` builds a missing page.

    Iteration and ``in`` cover existing pages only.

    Parameters
    ----------
    tabs : QTabBar
        Receives one tab per page immediately.
    stack : QStackedWidget
        Receives the pages, in the order of the tabs.
    makings : mapping of key to TabFactory

    Attributes
    ----------
    made : callable
        Called with the key of each newly built page.
    """

    def __init__(
        self, tabs: QTabBar, stack: QStackedWidget, makings: Mapping[str, TabFactory[Page]]
    ) -> None:
        self._stack = stack
        self._makings = makings
        self._pages: dict[str, Page] = {}
        self._prepared: dict[str, Page] = {}
        """Built, but not yet inserted."""
        self.made: Callable[[str], None] = lambda _key: None
        self._stand_ins: dict[str, QWidget] = {}
        for key, making in makings.items():
            self._stand_ins[key] = QWidget()
            stack.addWidget(self._stand_ins[key])
            tabs.setTabToolTip(tabs.addTab(making.title), making.tool_tip)

    def __getitem__(self, key: str) -> Page:
        if key not in self._pages:
            self._prepare(key)
            self._pages[key] = self._prepared.pop(key)
            self._put_in_place(key, self._pages[key])
            self.made(key)
        return self._pages[key]

    def __contains__(self, key: object) -> bool:
        return key in self._pages

    def __iter__(self) -> Iterator[str]:
        return (key for key in self._makings if key in self._pages)

    def __len__(self) -> int:
        return len(self._pages)

    def key_at(self, index: int) -> str | None:
        """Return the key of the page at a tab index, built or not."""
        shown = self._stack.widget(index)
        for pages in (self._pages, self._stand_ins):
            for key in pages:
                if pages[key] is shown:
                    return key
        return None

    def pieces(self) -> list[Callable[[], object]]:
        """Return the steps that build the missing pages."""
        pieces: list[Callable[[], object]] = []
        for key, making in self._makings.items():
            if key not in self._pages:
                pieces += making.pieces
                pieces += [partial(self._prepare, key), partial(self.__getitem__, key)]
        return pieces

    def all_built(self) -> list[Page]:
        """Return all built pages, also those not yet inserted."""
        return [*self._pages.values(), *self._prepared.values()]

    def _prepare(self, key: str) -> None:
        if key not in self._pages and key not in self._prepared:
            self._prepared[key] = self._makings[key].make()

    def _put_in_place(self, key: str, page: QWidget) -> None:
        stack, stand_in = self._stack, self._stand_ins.pop(key)
        at = stack.indexOf(stand_in)
        in_front = stack.currentIndex() == at
        with QSignalBlocker(stack):
            stack.insertWidget(at, page)
            stack.removeWidget(stand_in)
            if in_front:
                stack.setCurrentIndex(at)
        stand_in.deleteLater()


class IdleTasks(QObject):
    """Runs short steps one by one while the application is idle.

    Parameters
    ----------
    pieces : sequence of callable
        Steps in order.
    after_ms, between_ms : int
        Delay before the first step and between steps.
    held : callable
        Whether the next step must wait for something else.
    """

    def __init__(
        self,
        pieces: Sequence[Callable[[], object]],
        parent: QObject,
        *,
        after_ms: int = BEGIN_AFTER_MS,
        between_ms: int = BETWEEN_MS,
        held: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(parent)
        self._left = deque(pieces)
        self._begun = False
        self._between_ms = between_ms
        self._held = held
        self._timer = QTimer(self, singleShot=True)
        self._timer.setInterval(after_ms)
        self._timer.timeout.connect(self._next)

    def begin(self) -> None:
        """Start; later calls have no effect."""
        if self._left and not self._begun:
            self._begun = True
            self._timer.start()

    def stop(self) -> None:
        """Drop the remaining steps."""
        self._left.clear()
        self._timer.stop()

    def _next(self) -> None:
        # Do not interrupt a drag.
        dragging = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if self._left and not dragging and not self._held():
            self._left.popleft()()
        if self._left:
            self._timer.start(self._between_ms)
