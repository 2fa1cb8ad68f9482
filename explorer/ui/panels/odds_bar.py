"""How far odds are from 50 : 50, as a bar."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.ui.base.theme import Theme


class OddsBar(QWidget):
    """A bar of 100 parts: up to 50 what an observer began with, from there what is added at most.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chance = 0.5
        self.setFixedHeight(max(8, self.fontMetrics().height() * 2 // 3))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(40)
        theme.changed.connect(self.update)

    def show_chance(self, chance: float, said: str) -> None:
        """Show a chance to be right, 0.5 to 1; `said` is what a screen reader says of it."""
        self.setAccessibleName(said)
        if chance != self._chance:
            self._chance = chance
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the three parts."""
        colours, painter = self._theme.chrome, QPainter(self)
        width, height = float(self.width()), float(self.height())
        painter.fillRect(self.rect(), QColor(colours.border))
        half, end = 0.5 * width, min(self._chance, 1.0) * width
        painter.setOpacity(0.35)
        painter.fillRect(QRectF(0, 0, half, height), QColor(colours.muted))
        painter.setOpacity(1.0)
        painter.fillRect(QRectF(half, 0, max(end - half, 1.0), height), QColor(colours.accent))
        painter.end()
