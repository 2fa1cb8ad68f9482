"""Through the window with the made-up parts; run in a checkout that has them."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from explorer.figures.formats import by_suffix
from explorer.figures.recipes import read_recipe

SAID = "1-DP for the idealised real-valued mechanism: the counts of all bands change by at most 1"


def test_mechanism_and_format_in_the_window(
    open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    settled(window)
    assert window.parameters.row("bands").isHidden()
    box = window.parameters.row("mechanism").box
    assert box.itemText(box.count() - 1) == "Bands (made up)"
    box.setCurrentIndex(box.count() - 1)
    box.activated.emit(box.count() - 1)
    result = settled(window)
    assert result.request["mechanism"] == "bands"
    assert window.parameters.reveal("bands").isVisible()
    assert not window.parameters.row("w").isVisible()
    assert window.guarantee.part("add_remove").startswith(SAID)
    assert any(
        "ε, Δ, σ, p, k, b were chosen" in text for text in window.guarantee.condition_texts()
    )
    assert result.surface("private").label == "Private heatmap: bands, ε = 1"

    asked: list[str] = []
    path = tmp_path / "map.note"

    def save_as(*arguments: str) -> tuple[str, str]:
        asked.append(arguments[-1])
        return str(path), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", save_as)
    window.menus.actions["export"].trigger()
    dialog = window.output.dialog
    dialog.format.setCurrentIndex(dialog.format.findData("note"))
    assert not dialog.width_box.isEnabled()
    with qtbot.waitSignal(window.output.controller.done):
        dialog.save.click()
    assert asked == ["Note of a promise (*.note)"]
    assert path.read_text().splitlines()[1].startswith(SAID)
    recipe = read_recipe(path)
    assert recipe["values"]["bands"] == 4
    assert not {"seed", "data"} & recipe.keys()  # the gate holds for every format

    window.session.set_values({"mechanism": "pyramid"})
    settled(window)
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    assert settled(window).request["mechanism"] == "bands"

    def open_file(*arguments: str) -> tuple[str, str]:
        asked.append(arguments[-1])
        return "", ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", open_file)
    window.files.choose_recipe(window)
    assert "*.note" in asked[-1]
    assert by_suffix(".note").name == "Note"


def test_workspace_in_the_window(open_window, settled, qtbot) -> None:
    window = open_window(study="randomized-response")
    result = settled(window)
    gauge = window.workspaces["gauge"]
    assert window.pages.currentWidget() is gauge
    assert gauge.number.text() == f"{result.readout('error').value:.3g}"
    window.session.set_study("amplification")
    settled(window)
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    window.pages.setCurrentWidget(gauge)
    assert window.session.state.study == "randomized-response"
    with qtbot.waitSignal(window.output.controller.done):
        window.menus.actions["copy-numbers"].trigger()
    assert "standard deviation" in QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()  # off screen it lives longer than the interpreter
