"""The guarantee panel: short texts, and numbers rounded up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel

from explorer.engine.runtime import StudyRuntime
from explorer.studies.base.claims import STILL_COMPUTING, evaluate_claim, with_claim
from explorer.studies.base.phrases import best_chance, chance_of, qualified_odds, times_in_100
from explorer.studies.base.study import Guarantee, default_request, default_sweep
from explorer.studies.catalog import study_ids
from explorer.studies.registry import get_study
from explorer.ui.base.theme import Theme
from explorer.ui.panels.guarantee import NOT_USEFUL, GuaranteePanel
from tests import snapshots

MOST_WORDS = 120
"""Maximum number of words shown by default, numbers included."""


@pytest.fixture
def runtime() -> Iterator[StudyRuntime]:
    made = StudyRuntime()
    yield made
    made.close()


@pytest.fixture
def panel(own_looks, qtbot) -> GuaranteePanel:
    made = GuaranteePanel(Theme("light"))
    qtbot.addWidget(made)
    made.resize(268, 700)
    made.show()
    return made


def words(panel: GuaranteePanel) -> str:
    """Return all visible texts of a panel."""
    labels = panel.widget().findChildren(QLabel) + panel.widget().findChildren(QAbstractButton)
    said = [label.text() for label in labels if label.isVisibleTo(panel)]
    return re.sub(r"<[^>]*>", "", " ".join(said))


@pytest.mark.parametrize("study_id", [i for i in study_ids() if i != "heatmap"])
def test_the_panel_opens_with_few_words(runtime, panel, study_id: str) -> None:
    """For the first result of each quantity; without process, because only the panel is tested."""
    study = get_study(study_id)
    for shown in study.quantities:
        sweep = replace(default_sweep(study, shown.sweeps[0]), points=5)
        request = replace(default_request(study), quantity=shown.key, sweep=sweep)
        answers = runtime.answer(request, lambda: None)
        result = next(one for one in answers if not one.curve_follows)
        panel.verticalScrollBar().setValue(50)
        panel.show_result(result)
        assert panel.verticalScrollBar().value() == 0
        said = words(panel)
        assert len(re.findall(r"\w\S*", said)) <= MOST_WORDS, (shown.key, said)
        assert not any(fold.open for fold in panel.folds.values())
        assert panel.headline.text() in said  # with its condition: nothing of it is cut
        if result.guarantee is None:
            continue
        promise = with_claim(result).guarantee
        chance = (qualified_odds(promise) or (chance_of(promise), ""))[0]
        if chance is None or chance >= 0.99:
            assert panel.odds.isHidden()
            assert panel.headline.text() != ""
            found = evaluate_claim(result)
            unsettled = found is not None and found.unsettled
            verdict = STILL_COMPUTING if unsettled else NOT_USEFUL
            assert (verdict in said) == (chance is not None)


def test_no_text_of_another_question_is_left(runtime, panel) -> None:
    def show(study_id: str) -> str:
        request = default_request(get_study(study_id))
        panel.show_result(next(a for a in runtime.answer(request, lambda: None) if a.guarantee))
        return panel.part("differences")

    # The longest text waits for a pause while a slider moves.
    assert [bool(show(study_id)) for study_id in ("unbounded", "itemwise")] == [True, False]


@given(st.floats(0, 50), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1)))
def test_odds_are_never_below_the_computed_ones(
    epsilon: float, delta: float, distance: float | None
) -> None:
    promise = Guarantee("", "", "", "", "", pairs=((epsilon, delta),), distance=distance)
    chance = chance_of(promise)
    assert chance is not None
    known = [best_chance(epsilon, delta), *([] if distance is None else [(1 + distance) / 2])]
    assert chance == min(known)
    right = times_in_100(chance)
    assert float(right) >= 100 * chance * (1 - 1e-12)
    assert float(right) <= 100 * chance + 0.01 + 1e-9
    assert chance_of(replace(promise, qualified=True)) is None
    assert math.isfinite(chance)


def test_the_button_copies_what_a_reviewer_asks(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    window.guarantee.copy.click()
    qtbot.waitUntil(lambda: "# recipe: " in clipboard.text())
    text = clipboard.text()
    snapshots.check(text.partition("\nVersion:")[0])
    assert f"{times_in_100(chance_of(window.current_result.guarantee))} %" in text
    assert window.guarantee.odds.text().removesuffix(" %") in text
