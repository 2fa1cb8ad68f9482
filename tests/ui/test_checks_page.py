"""Help ▸ Checked against: runs in the compute process, and is cancelled."""

from __future__ import annotations

import pytest

from tests.ui.access import check


@pytest.fixture
def page(open_window, settled, qtbot):
    window = open_window(study="amplification")
    settled(window)
    window.menus.actions["checks"].trigger()
    qtbot.waitUntil(window.menus.checking.page.isVisible)
    return window.menus.checking.page


def test_what_passed_is_told_as_it_is_found_and_the_rest_can_be_cancelled(page, qtbot) -> None:
    assert check(page) == []
    page.run.click()
    assert not page.run.isEnabled()
    qtbot.waitUntil(lambda: "P_zsum" in page.text.toPlainText())
    qtbot.waitUntil(lambda: "Brackets" in page.text.toPlainText())
    assert "✗" not in page.text.toPlainText()
    assert page.progress.value() < page.progress.maximum()
    page.cancel.click()
    assert page.run.isEnabled()
    assert not page.cancel.isEnabled()
    found = page.text.toPlainText()
    assert "to come" in found
