"""Opens the errata: from the menu, and at an entry when a link to it is followed."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from explorer.ui.dialogs.errata_page import ErrataPage
from explorer.ui.widgets.links import SCHEME


class Errata(QObject):
    """The page of errata of a window, made when it is first asked for.

    Links to entries may stand in any text of the window. Qt hands them, like links to the net, to
    whoever has registered for their scheme; that is the window opened last.
    """

    _followed: ClassVar[Errata | None] = None

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.page: ErrataPage | None = None
        # The stubs ask for bytes; PySide takes a method's name as text only.
        QDesktopServices.setUrlHandler(SCHEME, self, "follow")  # type: ignore[arg-type]
        Errata._followed = self

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Show the entry that a link names."""
        self.open(url.path())

    def open(self, label: str = "") -> None:
        """Show the page, at an entry if one is named."""
        if self.page is None:
            self.page = ErrataPage(self._window)
        self.page.open_page(label)

    def close(self) -> None:
        """Follow no link any more."""
        if Errata._followed is self:
            QDesktopServices.unsetUrlHandler(SCHEME)
            Errata._followed = None
