"""Time zone of times without offset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.cli.running import recipe_of
from explorer.engine.session.recipe import recipe_from_dict
from tests.ui.small_map import SMALL_MAP


def mean_latitude(result) -> float:
    true = result.surface("true")
    rows = true.values.sum(axis=1, dtype=float)
    heights = (np.arange(len(rows)) + 0.5) / len(rows)
    south, north = true.region.south, true.region.north
    return south + (north - south) * float(heights @ rows) / float(rows.sum())


def choose(window, qtbot, zone: str) -> None:
    field = window.data_panel.time.zone
    field.setText(zone)
    with qtbot.waitSignal(window.data.reread):
        field.editingFinished.emit()


def test_the_time_zone_is_chosen_undone_and_kept(open_window, settled, qtbot, tmp_path) -> None:
    path: Path = tmp_path / "mine.csv"
    rows = [f"u{h % 12},2010-10-17 {h:02}:48:53,40.{h:02},-73.9" for h in range(24)]
    path.write_text("user,time,lat,lon\n" + "\n".join(rows) + "\n")
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    times = window.data_panel.time
    assert times.zone.isHidden()  # all times of the sample have an offset
    times.zone.setText("Europe/Wien")  # there is no such zone
    times.zone.editingFinished.emit()
    assert window.session.state.zone is None
    assert not window.session.undo_text
    assert "Europe/Wien" in times.why.text()
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_data(path)
    settled(window)
    assert not times.zone.isHidden()
    times.chosen.emit("2010-10-17T04:00:00Z", "2010-10-17T08:00:00Z")
    settled(window)
    selection = window.session.state.selection
    utc = window.workspaces["map"].current_result

    choose(window, qtbot, "America/New_York")
    settled(window)
    assert window.data.current.first_time == "2010-10-17T04:48:53Z"
    assert window.session.state.selection == selection
    assert window.session.undo_text == "change time zone"
    there = window.workspaces["map"].current_result
    assert there.request == utc.request
    # From 4 to 8 h rows 4 … 7 are selected in UTC, rows 0 … 3 in New York time.
    assert [mean_latitude(result) for result in (utc, there)] == pytest.approx(
        [40.055, 40.015], abs=0.002
    )
    recipe = recipe_of(there, window.workspaces["map"].view_state(), window.data.current).to_dict()
    assert recipe["data"]["columns"]["zone"] == "America/New_York"

    with qtbot.waitSignal(window.data.reread):
        window.session.undo()
    settled(window)
    assert window.data.current.first_time == "2010-10-17T00:48:53Z"
    assert times.zone.text() == "UTC"
    with qtbot.waitSignal(window.data.reread):
        window.files._follow(recipe_from_dict(recipe))
    assert window.session.state.zone == "America/New_York"
    settled(window)
    window.close()

    second = open_window()
    settled(second)
    qtbot.waitUntil(lambda: second.data.current is not None and not second.data.busy)
    assert second.data.current.mapping.zone == "America/New_York"
    assert second.data_panel.time.zone.text() == "America/New_York"
    assert second.session.state.selection == selection
