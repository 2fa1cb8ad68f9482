"""Advice is shown below its parameter and applied by a click."""

from __future__ import annotations

from explorer.engine.session.session import Session, SessionState
from explorer.ui.panels.parameters import ParametersPanel
from tests import snapshots


def test_the_recommended_mechanism_is_a_click_away(qtbot) -> None:
    session = Session(SessionState("heatmap"))
    panel = ParametersPanel(session)
    qtbot.addWidget(panel)
    line = panel.pages["heatmap"].advice
    assert line.isHidden()  # already selected
    session.set_value("mechanism", "pyramid")
    assert not line.isHidden()
    snapshots.check(line.text())
    line.linkActivated.emit("take")
    assert session.request()["mechanism"] == "adaptive"
    assert line.isHidden()
    session.undo()
    assert session.request()["mechanism"] == "pyramid"
    assert not line.isHidden()
    # The caution is shown for the recommended value too, without a link.
    session.set_values({"mechanism": "adaptive", "epsilon": 0.05})
    assert "rough distribution only" in line.text()
    assert "href" not in line.text()
    session.set_study("shuffle-rdp")
    assert panel.pages["shuffle-rdp"].advice.isHidden()
