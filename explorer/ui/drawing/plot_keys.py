"""Keys of a plot: what moves its view, its guide, its choice."""

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

_KEYS = Qt.Key
_PAN = {
    _KEYS.Key_Left: (-0.1, 0.0),
    _KEYS.Key_Right: (0.1, 0.0),
    _KEYS.Key_Down: (0.0, -0.1),
    _KEYS.Key_Up: (0.0, 0.1),
}
"""Shares of the view."""
_ZOOM = {_KEYS.Key_Plus: 0.8, _KEYS.Key_Equal: 0.8, _KEYS.Key_Minus: 1.25}
WHOLE = (_KEYS.Key_0, _KEYS.Key_Home)
_GUIDE = {_KEYS.Key_Left: -1.0, _KEYS.Key_Right: 1.0}
_CURVE = {_KEYS.Key_Up: -1, _KEYS.Key_Down: 1}
FINE = 0.1
"""Steps with Shift, as a slider has it."""


def guide_steps(event: QKeyEvent) -> float:
    """Return by how many steps of its slider a key moves the line; 0 for other keys."""
    held = event.modifiers()
    if held & Qt.KeyboardModifier.ControlModifier:
        return 0.0
    fine = held & Qt.KeyboardModifier.ShiftModifier
    return _GUIDE.get(Qt.Key(event.key()), 0.0) * (FINE if fine else 1.0)


def curve_steps(event: QKeyEvent) -> int:
    """Return 1 for the next curve below, -1 for the one above, 0 for other keys."""
    panning = event.modifiers() & Qt.KeyboardModifier.ControlModifier
    return 0 if panning else _CURVE.get(Qt.Key(event.key()), 0)


def moved_by(view: pg.ViewBox, key: Qt.Key) -> bool:
    """Pan or zoom a view by an arrow, plus or minus; return whether the key is one of them."""
    if key in _PAN:
        (x0, x1), (y0, y1) = view.viewRange()
        right, up = _PAN[key]
        view.translateBy(x=right * (x1 - x0), y=up * (y1 - y0))
        return True
    if key in _ZOOM:
        view.scaleBy((_ZOOM[key], _ZOOM[key]))
        return True
    return False
