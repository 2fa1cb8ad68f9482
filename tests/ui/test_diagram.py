"""Diagram of a figure: boxes, values of the result, text version."""

from __future__ import annotations


def test_figure_1_follows_the_sliders(open_window, settled) -> None:
    window = open_window(study="coordinate-learnt")
    session = window.session
    session.set_values({"mechanism": "own", "step": True, "kernel": "1 1 2"})
    session.set_quantity("levels")
    settled(window)
    below = window.workspaces["bounds"].below
    titles = [below.tabText(i) for i in range(below.count())]
    below.setCurrentIndex(titles.index("Figure 1 here"))
    page = below.currentWidget()
    assert page.diagram.isVisibleTo(below)
    assert set(page.diagram.boxes()) == {"LDP", "BDP", "CDP", "BCDP"}
    boxes = list(page.diagram.boxes().values())
    assert not any(a.intersects(b) for a in boxes for b in boxes if a is not b)
    said = page.diagram.accessibleDescription()
    assert "LDP to BDP: ε_B = ε_L" in said
    before = page.diagram.grab().toImage()
    session.set_value("copies", 2)
    settled(window)
    assert page.diagram.accessibleDescription() != said
    assert page.diagram.grab().toImage() != before
    below.setCurrentIndex(titles.index("Levels by coordinate"))
    assert below.currentWidget().diagram.isHidden()
