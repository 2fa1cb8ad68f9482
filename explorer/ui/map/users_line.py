"""How many users are in the map, above it; and a way from a sample back to all of them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from explorer.studies.base.study import Result, Selection
from explorer.ui.base.styled import plain_label, tool_button

COUNTED = "Counted from the check-ins: for the curator only, and in no export without the true map."

COUNTS = ("users_used", "users_in_region", "users_in_file")
"""Readouts of how many are in the picture, could be in it, and are in the file."""

CONTRIBUTE = "What users contribute"
OPENS = f"{CONTRIBUTE}: how many check-ins, in how many cells (U)."


class UsersLine(QWidget):
    """``All 2,237 users``, or ``200 of 2,237 users · use all``; the number is a button.

    Signals
    -------
    use_all()
    """

    use_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = tool_button("", f"{OPENS} {COUNTED}", CONTRIBUTE, checkable=True)
        # The bar's buttons all fit beside both panels of a window 1280 pixels wide.
        self.label.setStyleSheet("padding: 4px 2px")
        self.label.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.point = plain_label("·")
        tip = "Draw the map of all users in place of a sample"
        self.button = tool_button("use all", tip, "Use all users")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.use_all)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, 0)
        row.setSpacing(4)
        for widget in (self.label, self.point, self.button):
            row.addWidget(widget)
        self.follow(None)

    def follow(self, selection: Selection | None) -> None:
        """Offer all users while a sample is asked for."""
        sampled = selection is not None and selection.sampled
        self.point.setVisible(sampled)
        self.button.setVisible(sampled)
        if selection is None:
            self.label.setText("")
        self.label.setVisible(bool(self.label.text()))

    def show_result(self, result: Result) -> None:
        """Show how many users are in the picture."""
        try:
            used, there, known = (result.readout(key).value for key in COUNTS)
        except KeyError:
            if not result.early:
                self.label.setText("")
            self.label.setEnabled(False)  # in grey: of the picture before
            return
        self.label.setEnabled(True)
        selection = result.request.selection
        sampled = selection is not None and selection.sampled
        users = "user" if there == 1 else "users"
        text = f"{used:,.0f} of {there:,.0f} {users}" if sampled else f"All {there:,.0f} {users}"
        if text != self.label.text():
            self.label.setText(text)
            self.label.setAccessibleName(f"{CONTRIBUTE}: {text}")
            self.label.setVisible(True)
        font = self.label.font()
        if font.bold() != sampled:
            font.setBold(sampled)
            self.label.setFont(font)
        # Room for all users of the file: the maps are not to move while a region is dragged.
        metrics = self.label.fontMetrics()
        widest = f"All {known or there:,.0f} users"
        more = metrics.horizontalAdvance(widest) - metrics.horizontalAdvance(text)
        self.label.setMinimumWidth(0 if sampled else self.label.sizeHint().width() + more)
