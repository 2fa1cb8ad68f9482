"""Public priors of the map in the window: chosen beside the map, read where it is computed."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.full


def test_a_file_of_check_ins_becomes_a_prior(open_window, settled, qtbot, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "other people.csv"
    path.write_text(
        "user,time,lat,lon\n"
        + "".join(
            f"{user},2010-01-01T00:00:00Z,{40.72 + rng.normal(0, 0.03):.6f},"
            f"{-73.98 + rng.normal(0, 0.03):.6f}\n"
            for user in range(200)
        )
    )
    values = (("resolution", "32"), ("mechanism", "adaptive-prior"), ("prior_cities", False))
    window = open_window(study="heatmap", values=values)
    assert "prior_weight" not in {r.key for r in settled(window).readouts}

    def answered():
        return window.current_result.request

    window.parameters.section("more").heading.click()
    row = window.parameters.row("prior_checkins")
    assert row.isVisible()
    assert not window.parameters.row("smoothing").isVisible()
    monkeypatch.setattr(
        "explorer.ui.widgets.parameter_rows.QFileDialog.getOpenFileName",
        lambda *_: (str(path), ""),
    )
    row.open_button.click()
    qtbot.waitUntil(lambda: bool(answered()["prior_checkins"]))
    with_prior = settled(window)
    assert 0 <= with_prior.readout("prior_weight").value <= 1
    assert not with_prior.readout("prior_weight").curator_only
    row.clear_button.click()
    qtbot.waitUntil(lambda: not answered()["prior_checkins"])
    assert "prior_weight" not in {r.key for r in settled(window).readouts}

    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n3,4\n")
    path = wrong
    row.open_button.click()
    qtbot.waitUntil(window.banner.isVisible)
    assert "wrong.csv" in window.banner.text.text().replace("Wrong", "wrong")
