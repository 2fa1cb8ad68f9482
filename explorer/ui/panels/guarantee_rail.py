"""What is promised, in a strip at the window's edge where there is no room for more."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout

from explorer.ui.base.styled import styled_label
from explorer.ui.panels.guarantee import GuaranteePanel

WIDTH = 44


class GuaranteeRail(QToolButton):
    """Odds and how many conditions fail, one below the other; a click is to show the panel.

    Parameters
    ----------
    panel : GuaranteePanel
        Whose numbers these are.
    """

    def __init__(self, panel: GuaranteePanel) -> None:
        super().__init__()
        self._panel = panel
        self.setObjectName("rail")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.odds, self.failing = styled_label("rail-odds"), styled_label("rail-failing")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 10, 1, 10)
        column.setSpacing(12)
        for label in (self.odds, self.failing):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label)
        column.addStretch(1)
        panel.written.connect(self._show)
        self._show()

    def _show(self) -> None:
        odds, failing = self._panel.brief()
        self.odds.setText(odds.replace(" : ", "\n:\n") or "–")
        self.failing.setText(f"✗ {failing}")
        self.failing.setEnabled(failing > 0)
        told = f"odds at most {odds}" if odds else "no odds"
        unmet = f"{failing} condition{'' if failing == 1 else 's'} not met"
        self.setAccessibleName(f"What is promised: {told}, {unmet}")
        self.setToolTip(f"What is promised: {told}, {unmet}. Show it over the plot (Ctrl+G)")

    def sizeHint(self) -> QSize:
        """Return the size it likes."""
        return QSize(WIDTH, 200)

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize(WIDTH, 120)
