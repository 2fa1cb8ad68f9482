"""Side panels: no empty scroll range, no outdated texts."""

from __future__ import annotations

from tests import snapshots


def test_parameters_are_as_high_as_those_of_the_study_in_front(open_window, settled, qtbot) -> None:
    window = open_window(study="linear-queries")
    settled(window)
    panel = window.parameters
    bar = panel.verticalScrollBar()
    bar.setValue(bar.maximum())
    for study, quantity in (
        ("linear-queries", "lip"),
        ("coordinate-learnt", ""),
        ("unbounded", ""),
    ):
        window.session.set_study(study)
        if quantity:
            window.session.set_quantity(quantity)
        settled(window)
        qtbot.turns()
        rows = [r for r in panel.pages[study].rows.values() if r.isVisible()]
        last = max(r.mapTo(panel.widget(), r.rect().bottomLeft()).y() for r in rows)
        space = panel.space.height() if panel.space.isVisible() else 0
        assert last + space + 80 >= panel.widget().height() or bar.maximum() == 0
        assert any(not r.visibleRegion().isEmpty() for r in rows)


def test_an_answer_without_a_promise_says_so(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="choose-alpha")
    settled(window)
    bounds = window.workspaces["bounds"]
    window.session.set_value("space", "matrix")
    settled(window)
    assert window.guarantee.sentence.text().startswith("Nothing is claimed")
    snapshots.check(bounds.notes.text())
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("0,1\n1,0,2\n")
    window.parameters.row("space_matrix").take(ragged)
    qtbot.waitUntil(window.banner.isVisible)
    # Conditions that were missing before are not missing now.
    assert bounds.stale.isVisible()
    assert not bounds.notes.isVisible()


def test_what_only_a_curve_needs_fails_without_alarm(open_window, settled) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    window.session.set_value("T", 1)
    settled(window)
    panel = window.guarantee
    texts = panel.condition_texts()
    mine = ["Only " in text for text in texts]
    # Conditions of the guarantee come first.
    assert mine == sorted(mine)
    assert sum(mine) == 4
    assert "“worst case”" in texts[-1]  # an assumption of a curve that is not claimed
    assert "○" in texts[-1]
    for (glyph, *_), single in zip(panel.rows, mine[:-1], strict=False):
        if single:
            assert "✗" in glyph.text()
            assert panel._theme.chrome.muted in glyph.text()
            snapshots.check(glyph.toolTip())
        else:
            assert panel._theme.chrome.bad not in glyph.text()
    window.session.set_value("k", 10**8)
    settled(window)
    assert panel.sentence.text().startswith("Nothing is claimed")


def test_changed_parameters_are_named_and_reset_in_one_step(open_window, settled) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    changed = window.sides.cornerWidget()
    assert changed.names.text() == "Default settings"
    assert not changed.button.isEnabled()
    before = window.session.request()
    window.session.set_value("eps0", 1.0)
    window.session.set_value("k", 500)
    assert changed.names.text() == "Changed: ε₀, k"
    assert changed.rect().contains(changed.button.geometry())
    changed.button.click()
    assert window.session.request() == before
    assert changed.names.text() == "Default settings"
    window.session.undo()
    assert changed.names.text() == "Changed: ε₀, k"
