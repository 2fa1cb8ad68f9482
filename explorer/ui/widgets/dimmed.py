"""Widgets that are seen to be out of date, and go on working."""

from PySide6.QtWidgets import QGraphicsOpacityEffect, QWidget

OPACITY = 0.45


def dim(widget: QWidget, dimmed: bool) -> None:
    """Draw a widget faintly, or as usual; it keeps focus and pointer, unlike a disabled one."""
    if dimmed and widget.graphicsEffect() is None:
        effect = QGraphicsOpacityEffect(widget)
        effect.setOpacity(OPACITY)
        widget.setGraphicsEffect(effect)
    elif not dimmed and widget.graphicsEffect() is not None:
        widget.setGraphicsEffect(None)  # type: ignore[arg-type]  # None takes the effect away
