"""Requirements of *Choose α* dragged in the plot with the mouse."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtTest import QTest

from tests.ui.dragging import APART_MS, Hand


@pytest.fixture
def asked(open_window, settled):
    window = open_window(study="choose-alpha")
    settled(window)
    return window


def pixel(plot, ring) -> QPointF:
    return QPointF(plot.mapFromScene(plot.view.mapViewToScene(QPointF(ring.pos()))))


def drag(plot, ring, to: QPointF) -> None:
    hand, start = Hand(plot), pixel(plot, ring)
    hand.move(start.x(), start.y())
    hand.press(start.x(), start.y())
    for share in (0.3, 0.6, 1.0):
        QTest.qWait(APART_MS)
        at = start + share * (to - start)
        hand.move(at.x(), at.y())
    QTest.qWait(APART_MS)
    hand.release(to.x(), to.y())


def test_a_requirement_follows_its_dot_and_is_undone_as_one_step(asked, settled) -> None:
    plot, session = asked.workspaces["bounds"].plot, asked.session
    rings = plot.handles.rings
    assert [ring.handle.name for ring in rings] == ["1", "2"]
    before = session.request()
    first = rings[0]
    drag(plot, first, pixel(plot, first) + QPointF(-60, 40))
    result = settled(asked)
    now = session.request()
    assert now["distance1"] < before["distance1"]
    assert now["tau1"] < before["tau1"]
    assert now["eps1"] == before["eps1"]
    assert now["distance2"] == before["distance2"]
    dots = next(s for s in result.series if s.key == "asked")
    place = [h.name for h in dots.handles].index("1")
    # The point is exactly where it was dropped.
    x, y = np.log10(dots.x[place]), np.log10(dots.y[place])
    shown = plot.view.mapViewToScene(QPointF(x, y))
    dropped = plot.view.mapViewToScene(QPointF(first.pos()))
    assert (shown - dropped).manhattanLength() < 2
    session.undo()
    assert session.request() == before


def test_what_is_dragged_out_of_its_range_comes_back_to_the_edge(asked, settled) -> None:
    plot, session = asked.workspaces["bounds"].plot, asked.session
    second = plot.handles.rings[1]
    top = pixel(plot, second)
    drag(plot, second, QPointF(top.x(), 2.0))
    result = settled(asked)
    assert session.request()["tau2"] == 1.0
    dots = next(s for s in result.series if s.key == "asked")
    assert dots.y.max() == 1.0
    asked.workspaces["bounds"].plot.handles.show(list(result.series), plot.x_log, plot.y_log)
    assert second.pos().y() == pytest.approx(0.0)


def test_dragging_while_epsilon_is_drawn_sets_epsilon(asked, settled) -> None:
    asked.session.set_quantity("eps")
    settled(asked)
    plot, session = asked.workspaces["bounds"].plot, asked.session
    before = session.request()
    ring = plot.handles.rings[1]
    drag(plot, ring, pixel(plot, ring) + QPointF(0, 30))
    settled(asked)
    assert session.request()["eps2"] < before["eps2"]
    assert session.request()["tau2"] == before["tau2"]


def test_hidden_dots_have_no_handles(asked) -> None:
    plot = asked.workspaces["bounds"].plot
    plot.set_hidden(frozenset({"asked"}))
    assert not plot.handles.rings
    plot.set_hidden(frozenset())
    assert len(plot.handles.rings) == 2
