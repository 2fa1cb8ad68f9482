"""Draggable points of a plot that set parameters."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, Qt

from explorer.engine.session.session import Session
from explorer.figures import style
from explorer.figures.geometry import axis_coordinates
from explorer.studies.base.study import Handle, Series, Value, parameter
from explorer.studies.registry import get_study

_SIZE = 15
"""Diameter in pixels of the ring that can be grabbed."""


class Handles(QObject):
    """Rings with names around draggable points.

    Parameters
    ----------
    view : ViewBox

    """

    def __init__(self, view: pg.ViewBox) -> None:
        super().__init__(view)
        self._view = view
        self.rings: list[_Ring] = []
        self._wanted: list[tuple[Handle, float, float]] = []
        self._log = (False, False)
        self._theme, self._ratio = style.LIGHT, 1.0
        self._session: Session | None = None
        self._drags = 0

    def set_session(self, session: Session) -> None:
        """Connect to parameters of a session's study; a drag is one undo step."""
        self._session = session

    def set_theme(self, theme: style.Theme, ratio: float) -> None:
        """Apply the colours of a theme at a device pixel ratio."""
        self._theme, self._ratio = theme, ratio
        for ring in self.rings:
            ring.set_look(theme, ratio)

    def show(self, series: list[Series], x_log: bool, y_log: bool) -> None:
        """Place rings around the points of series; a grabbed ring stays."""
        self._log = (x_log, y_log)
        self._wanted = [
            (handle, float(x), float(y))
            for one in series
            for handle, x, y in zip(one.handles, one.x, one.y, strict=bool(one.handles))
        ]
        self._wanted.sort(key=lambda wanted: wanted[0].name)
        while len(self.rings) > len(self._wanted):
            self._view.removeItem(self.rings.pop())
        while len(self.rings) < len(self._wanted):
            ring = _Ring()
            ring.sigPositionChanged.connect(self._moved)
            ring.sigPositionChangeFinished.connect(self._released)
            self._view.addItem(ring, ignoreBounds=True)
            self.rings.append(ring)
        for ring, (handle, x, y) in zip(self.rings, self._wanted, strict=True):
            if ring.handle != handle:
                ring.set_handle(handle)
                ring.set_look(self._theme, self._ratio)
            ring.stand(*self._coordinates(x, y))

    def _moved(self, ring: "_Ring") -> None:
        if ring.moving and ring.handle is not None:
            at: QPointF = ring.pos()
            x, y = (
                10.0**value if log else value
                for value, log in zip((at.x(), at.y()), self._log, strict=True)
            )
            self._follow(ring.handle, x, y)

    def _follow(self, handle: Handle, x: float, y: float) -> None:
        if self._session is None:
            return
        study = get_study(self._session.state.study)
        places = {handle.x_key: x * handle.x_factor, handle.y_key: y}
        values: dict[str, Value] = {
            key: parameter(study, key).clamp(float(f"{value:.4g}")) for key, value in places.items()
        }
        self._session.set_values(values, study.id, f"dot {handle.name} {self._drags}")

    def _released(self, ring: "_Ring") -> None:
        self._drags += 1
        if self._session is not None:
            self._session.end_gesture()
        # Back around its point, which is limited to the range.
        for handle, x, y in self._wanted:
            if handle == ring.handle:
                ring.stand(*self._coordinates(x, y))

    def _coordinates(self, x: float, y: float) -> tuple[float, float]:
        """Convert a point to view coordinates."""
        across, along = (
            float(axis_coordinates(np.array([value]), log)[0])
            for value, log in zip((x, y), self._log, strict=True)
        )
        return across, along


class _Ring(pg.TargetItem):
    """One ring; reused for other points."""

    def __init__(self) -> None:
        super().__init__(size=_SIZE, symbol="o", brush=(0, 0, 0, 0))
        self.handle: Handle | None = None
        self.setZValue(16)
        self.setCursor(Qt.CursorShape.SizeAllCursor)

    def set_look(self, theme: style.Theme, ratio: float) -> None:
        self.setPen(pg.mkPen(theme.muted, width=1.3 * ratio))
        self.setHoverPen(pg.mkPen(theme.text, width=2.5 * ratio))
        self.setHoverBrush((0, 0, 0, 0))
        if self.label() is not None:
            self.label().setColor(theme.text)

    def set_handle(self, handle: Handle) -> None:
        self.handle = handle
        self.setLabel(handle.name)

    def stand(self, x: float, y: float) -> None:
        shown = bool(np.isfinite([x, y]).all())
        self.setVisible(shown)
        if shown and not self.moving:
            self.setPos(x, y)
