"""Keys that move a plot's view."""

import pyqtgraph as pg
from PySide6.QtCore import Qt

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
