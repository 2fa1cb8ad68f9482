"""Presets and the help page of a study."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QMenu

from explorer.engine.session.session import state_from_dict, state_to_dict
from explorer.figures.picture import formula_pictures
from explorer.studies.base.study import default_request, preset_request
from explorer.studies.registry import get_study
from explorer.ui.panels.presets import follow_preset

STUDY = "shuffle-rdp"


@pytest.fixture
def window(open_window, settled):
    window = open_window(study=STUDY)
    settled(window)
    return window


def test_a_preset_is_one_step_and_says_what_the_paper_claims(window, settled, qtbot) -> None:
    preset = next(p for p in get_study(STUDY).presets if p.published and p.computed)
    before = window.session.request()
    note = window.workspaces["bounds"].preset_note
    assert not note.isVisible()
    window.presets.menu.fill()
    action = next(a for a in window.presets.menu.actions() if a.text() == preset.name)
    action.trigger()
    settled(window)
    assert window.session.request() == preset_request(get_study(STUDY), preset)
    assert note.isVisible()
    assert preset.published[:20] in note.words.text().replace("&#x27;", "'")
    assert preset.name in window.session.undo_text
    window.presets.menu.fill()
    assert [a.text() for a in window.presets.menu.actions() if a.isChecked()] == [preset.name]

    words = note.words.text()
    assert not note.back.isVisible()
    window.session.set_value("eps0", 0.123)
    window.session.set_value("T", 77)
    assert f"<b>{preset.name}</b> · changed: ε₀, T" in note.words.text()
    chosen = window.session.state
    note.back.click()
    assert window.session.request() == preset_request(get_study(STUDY), preset)
    assert (note.words.text(), note.back.isVisible()) == (words, False)
    window.session.undo()  # one undo step back
    assert window.session.state == chosen
    window.session.undo()
    window.session.undo()
    assert note.words.text() == words
    window.session.undo()
    assert window.session.request() == before
    assert not note.isVisible()


def test_a_preset_shows_the_paper_s_curves_alone_and_others_can_be_ticked(window, settled) -> None:
    preset = next(p for p in get_study(STUDY).presets if p.key == "figure-3b")
    follow_preset(window.session, preset)
    result, bounds = settled(window), window.workspaces["bounds"]
    keys = {s.key for s in result.series}
    assert keys - bounds.plot.hidden == set(preset.curves)
    more = "lower_2rr"
    bounds.legend.toggled.emit(more, True)
    assert keys - bounds.plot.hidden == {*preset.curves, more}
    bounds.legend.toggled.emit(preset.curves[0], False)
    assert keys - bounds.plot.hidden == {*preset.curves[1:], more}
    saved = state_from_dict(json.loads(json.dumps(state_to_dict(window.session.state))))
    assert saved.looks == window.session.state.looks
    bounds.preset_note._go_back()
    assert keys - bounds.plot.hidden == set(preset.curves)
    settled(window)


def test_the_study_menu_has_the_same_presets_or_says_that_there_are_none(
    window, tiny_study, settled
) -> None:
    menus = [m for m in window.menuBar().findChildren(QMenu) if m.title() == "&Presets"]
    assert len(menus) == 1
    menus[0].fill()
    assert [a.text() for a in menus[0].actions()] == [p.name for p in get_study(STUDY).presets]
    window.session.set_study("tiny")
    assert not window.presets.button.isEnabled()
    window.presets.menu.fill()
    assert [a.isEnabled() for a in window.presets.menu.actions()] == [False]
    window.session.set_study(STUDY)
    settled(window)


def test_f1_opens_the_page_with_formulas_drawn(open_window, settled, qtbot) -> None:
    study = get_study("choose-alpha")  # it has three
    window = open_window(study=study.id)
    settled(window)
    qtbot.keyClick(window, Qt.Key.Key_F1)
    page = window.study_page
    qtbot.waitUntil(page.isVisible)
    told = page.text.toPlainText()
    assert study.question in told
    for assumption in study.page.assumptions:
        assert assumption in told
    count = len(study.page.formulas)
    kind = QTextDocument.ResourceType.ImageResource

    def drawn() -> bool:
        found = page.text.document().resource(kind, f"formula:{count - 1}")
        return found is not None and not found.isNull()

    qtbot.waitUntil(drawn)
    assert study.page.formulas[0].latex not in page.text.toPlainText()
    window.session.set_study("heatmap")
    assert get_study("heatmap").name in page.windowTitle()
    assert get_study("heatmap").question in page.text.toPlainText()
    page.close()
    assert not page.isVisible()


def test_formulas_are_drawn_in_the_colour_asked() -> None:
    import io

    import numpy as np
    from PIL import Image

    picture = formula_pictures((r"\varepsilon\leq 1",), "#ff0000")[0]
    pixels = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGBA"))
    assert pixels.shape[1] == round(picture.width * 2)
    inked = pixels[pixels[..., 3] == 255]
    assert len(inked) > 20
    assert (inked[:, 0] > 200).all()
    assert (inked[:, 1] < 60).all()
    with pytest.raises(ValueError, match="frca"):
        formula_pictures((r"\frca{1}{2}",), "#000000")


def test_a_preset_sets_what_it_names_and_leaves_the_rest_at_its_default() -> None:
    study = get_study(STUDY)
    for item in study.presets:
        request = preset_request(study, item)
        expected = default_request(study, **dict(item.values))
        assert request.values == expected.values
        assert request == replace(expected, quantity=request.quantity, sweep=request.sweep)
