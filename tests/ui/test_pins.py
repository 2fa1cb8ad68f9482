"""Pinned curves: drawn dashed, undone, restored and exported."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from PySide6.QtCore import Qt

from explorer.engine.session.plot_view import (
    MAX_PINS,
    Pin,
    PlotView,
    looks_from_list,
    pins_from_list,
)
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures.export import ExportJob
from explorer.figures.formats import by_suffix
from explorer.figures.recipes import read_recipe
from explorer.figures.style import PIN_DASHES, series_styles
from explorer.figures.tables import table_text
from explorer.studies.base.study import Scale, Sweep
from explorer.ui.bounds.reference_curves import pin_label
from tests.ui.test_access import check


@pytest.fixture
def tiny(tiny_study, open_window, settled, qtbot):
    window = open_window(study="tiny")
    window.session.set_quantity("error")
    window.session.set_sweep(Sweep("eps", 0.1, 10, 40, Scale.LOG))
    settled(window)
    return window


def ctrl(qtbot, window, key) -> None:
    qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)


def drawn(window) -> list[str]:
    return list(window.workspaces["bounds"].plot.curves)


@pytest.fixture
def pinned(tiny, settled, qtbot):
    """n = 1000 is pinned; n is 5000 now."""
    ctrl(qtbot, tiny, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: "pin1:error" in drawn(tiny))
    tiny.session.set_value("n", 5000)
    settled(tiny)
    return tiny


def test_a_pin_keeps_the_curve_while_the_sliders_move(pinned, qtbot) -> None:
    bounds = pinned.workspaces["bounds"]
    now, kept = bounds.plot.curves["error"], bounds.plot.curves["pin1:error"]
    assert np.allclose(kept.y, now.y + np.log10(np.sqrt(5)))
    assert bounds.pin_list.isVisible()
    assert bounds.pin_list.texts() == ["pinned: n = 1,000 people"]
    items = {id(i) for i in bounds.plot.view.addedItems}
    before = now.y.copy()
    pinned.session.set_value("n", 50_000)
    qtbot.waitUntil(lambda: not np.array_equal(now.y, before))
    assert {id(i) for i in bounds.plot.view.addedItems} == items
    assert np.allclose(kept.y, now.y + np.log10(np.sqrt(50)))


def test_a_pinned_curve_is_paler_named_and_follows_the_axis(pinned, settled, qtbot) -> None:
    bounds = pinned.workspaces["bounds"]
    styles = series_styles(bounds.plot.result.series, "light")
    present, kept = styles["error"], styles["pin1:error"]
    assert kept.dash == PIN_DASHES[0]
    assert kept.dash != present.dash
    assert kept.colour != present.colour
    pale = [int(kept.colour[i : i + 2], 16) for i in (1, 3, 5)]
    full = [int(present.colour[i : i + 2], 16) for i in (1, 3, 5)]
    assert all(p >= f for p, f in zip(pale, full, strict=True))
    assert bounds.plot.curves["pin1:error"].line.pen.color().name() == kept.colour
    assert list(bounds.legend.rows) == ["error"]
    asked = pinned.session.request()
    assert pin_label(asked.with_value("eps", 3.0), asked) == "pinned: as now"  # the x axis
    two = asked.with_value("n", 7).with_value("tail", "chebyshev")
    assert pin_label(two, asked).split(", ") == ["pinned: n = 7 people", "tail bound: Chebyshev"]
    pinned.resize(1024, 700)
    qtbot.turns()
    assert check(pinned) == []
    bounds = pinned.workspaces["bounds"]
    assert bounds.pin_list.button(0).accessibleName() == "Unpin n = 1,000 people"
    for bar in (bounds.row, bounds.plot):
        for child in bar.children():
            if child.isWidgetType() and child.isVisible():
                assert bar.rect().contains(child.geometry())
    pinned.session.set_sweep(Sweep("eps", 1, 2, 25, Scale.LINEAR))
    settled(pinned)
    kept = pinned.workspaces["bounds"].plot.curves
    qtbot.waitUntil(lambda: "pin1:error" in kept and len(kept["pin1:error"].x) == 25)


def test_pins_are_undone_redone_and_taken_away(pinned, settled, qtbot) -> None:
    bounds, session = pinned.workspaces["bounds"], pinned.session
    ctrl(qtbot, pinned, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: "pin2:error" in drawn(pinned))
    assert bounds.pin_list.texts() == ["pinned: n = 1,000 people", "pinned: as now"]
    session.undo()
    assert drawn(pinned) == ["error", "pin1:error"]
    session.redo()
    assert len(drawn(pinned)) == 3
    bounds.pin_list.button(0).click()
    assert bounds.pin_list.texts() == ["pinned: as now"]
    assert len(drawn(pinned)) == 2
    bounds.unpin_action.trigger()
    assert drawn(pinned) == ["error"]
    assert not bounds.pin_list.isVisible()
    assert not bounds.unpin_action.isEnabled()
    session.undo()
    assert bounds.pin_list.texts() == ["pinned: as now"]


def test_the_same_is_pinned_once_and_not_more_than_can_be_distinguished(tiny, qtbot) -> None:
    for _ in range(2):
        ctrl(qtbot, tiny, Qt.Key.Key_P)
    assert len(tiny.session.state.pins) == 1
    for n in range(MAX_PINS + 3):
        tiny.session.set_value("n", 10 + n)
        tiny.workspaces["bounds"].pin_action.trigger()
    assert len(tiny.session.state.pins) == MAX_PINS
    assert not tiny.workspaces["bounds"].pin_action.isEnabled()
    with pytest.raises(ValueError, match="unpin some first"):
        tiny.session.pin()


def test_pins_of_other_axes_are_not_drawn_and_it_is_reported(pinned, settled, qtbot) -> None:
    bounds = pinned.workspaces["bounds"]
    pinned.session.set_sweep(Sweep("beta", 0.01, 0.4, 30, Scale.LINEAR))
    settled(pinned)
    assert drawn(pinned) == ["error"]
    (said,) = bounds.pin_list.texts()
    assert said.startswith("pinned: n = 1,000")
    assert said.endswith("err over ε")
    assert bounds.view_state().pinned == ()
    pinned.session.set_quantity("truth")
    settled(pinned)
    assert "pin1:error" not in drawn(pinned)
    pinned.session.undo()
    pinned.session.undo()
    settled(pinned)
    qtbot.waitUntil(lambda: "pin1:error" in drawn(pinned))


def test_hidden_curves_are_not_pinned_and_hiding_hides_the_pinned(tiny, settled, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    tiny.session.set_quantity("truth")
    settled(tiny)
    bounds.legend.row("linear").check.click()
    ctrl(qtbot, tiny, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: "pin1:truth" in drawn(tiny))
    assert "pin1:linear" not in drawn(tiny)
    bounds.legend.row("truth").check.click()
    assert "pin1:truth" not in drawn(tiny)


def test_pins_come_back_with_the_session(pinned, open_window, settled, qtbot) -> None:
    state = pinned.session.state
    pinned.close()
    again = open_window()
    settled(again)
    assert again.session.state.pins == state.pins
    qtbot.waitUntil(lambda: drawn(again) == ["error", "pin1:error"])
    assert not again.session.undo_text


def test_exports_hold_pins_and_bring_them_back(pinned, settled, qtbot, tmp_path) -> None:
    bounds = pinned.workspaces["bounds"]
    result, view = pinned.shown_result, bounds.view_state()
    recipe = pinned.output.recipe(pinned.current_result, None, view)
    text = table_text(result, view, recipe)
    rows = list(
        csv.DictReader(
            io.StringIO(
                "".join(line + "\n" for line in text.splitlines() if not line.startswith("#"))
            )
        )
    )
    for row in rows:
        assert float(row["pin1:error"]) == pytest.approx(float(row["error"]) * 5**0.5)
    assert "# pin1:error: " in text
    path = tmp_path / "pins.svg"
    with qtbot.waitSignal(pinned.output.controller.done):
        pinned.output.controller.start(ExportJob(result, view, recipe, by_suffix("svg"), path))
    drawing = path.read_text()
    assert '"series-pin1:error"' in drawing
    assert "pinned: n = 1,000 people" in drawing
    read = recipe_from_dict(read_recipe(path))
    assert json.dumps(read.view["pinned"])
    pinned.session.set_pins(())
    pinned.session.set_value("n", 77)
    steps = len(pinned.session._undo)
    with qtbot.waitSignal(pinned.files.recognised):
        pinned.files.open_recipe(path)
    assert len(pinned.session._undo) == steps + 1
    assert pinned.session.request()["n"] == 5000
    assert [p.request["n"] for p in pinned.session.state.pins] == [1000]
    qtbot.waitUntil(lambda: drawn(pinned) == ["error", "pin1:error"])
    pinned.session.undo()
    assert pinned.session.state.pins == ()
    assert pinned.session.request()["n"] == 77


def test_a_pin_that_cannot_be_computed_says_why(pinned, settled, qtbot, moon) -> None:
    moon.touch()
    pinned.session.set_pins((Pin(pinned.session.request().with_value("n", 3)),))
    texts = pinned.workspaces["bounds"].pin_list.texts
    qtbot.waitUntil(lambda: "moon" in texts()[0])


def test_scale_and_hidden_curves_are_undone_too(tiny, qtbot) -> None:
    bounds, session = tiny.workspaces["bounds"], tiny.session
    bounds.y_axis.title.log.trigger()
    assert not bounds.plot.y_log
    assert session.undo_text == "change y scale"
    bounds.legend.row("error").check.click()
    assert not bounds.plot.curves["error"].line.isVisible()
    session.undo()
    assert bounds.plot.curves["error"].line.isVisible()
    assert bounds.legend.row("error").check.isChecked()
    session.undo()
    assert bounds.plot.y_log
    assert bounds.y_axis.title.log.isChecked()
    assert bounds.y_log_action.isChecked()
    session.redo()
    assert not bounds.plot.y_log


def test_what_cannot_be_read_back_is_left_out(tiny_study) -> None:
    said: list[str] = []
    looks = [
        {"study": "gone", "quantity": "a", "y_log": True},
        5,
        {"study": "tiny", "quantity": "truth", "y_log": True, "hidden": ["a"]},
    ]
    assert looks_from_list(looks, said) == {("tiny", "truth"): PlotView(True, frozenset({"a"}))}
    assert pins_from_list([{"recipe": {"schema": "x"}, "hidden": []}, 7, None], said) == ()
    assert [sentence.partition(":")[0] for sentence in said] == [
        "looks[0]",
        "looks[1]",
        "pins[0].recipe.schema",
        "pins[1]",
        "pins[2]",
    ]


def test_pinned_curves_are_not_drawn_anew_while_one_drags(pinned, settled, monkeypatch) -> None:
    curves = pinned.workspaces["bounds"].plot.curves
    drawn: list[str] = []
    for key in ("error", "pin1:error"):
        line = curves[key].line
        monkeypatch.setattr(
            line, "set_points", lambda *w, k=key, f=line.set_points: (drawn.append(k), f(*w))
        )
    pinned.session.set_value("n", 6000)
    settled(pinned)
    assert set(drawn) == {"error"}
    pinned.workspaces["bounds"].y_axis.title.log.trigger()
    assert set(drawn) == {"error", "pin1:error"}
