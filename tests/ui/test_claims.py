"""Claims: marked and chosen in the legend, and followed everywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from explorer.engine.session.comparison import entries_from_list, entries_of, entries_to_list
from explorer.engine.session.session import state_from_dict, state_to_dict
from explorer.figures.captions import legend_label
from explorer.figures.comparison import compared_row
from explorer.figures.geometry import absent_stretches, invalid_stretches
from explorer.figures.style import series_styles
from explorer.figures.tables import result_document, table_text
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.claims import (
    BEST_CLAIM,
    NO_BOUND_APPLIES,
    NO_BOUND_YET,
    evaluate_claim,
    headline_of,
    unclaimed_reasons,
    value_here,
)
from explorer.studies.base.study import Series
from explorer.studies.registry import get_study
from explorer.ui.bounds.legend import Legend
from explorer.ui.panels.headline import HeadlineStrip
from tests import snapshots
from tests.studies.preset_answers import answer


def marked(bounds) -> dict[str, str]:
    """Return the marks in the legend by curve key."""
    rows = bounds.legend.rows.items()
    return {key: row.tag.text() for key, row in rows if not row.tag.isHidden()}


def claim(legend, key: str, words: str) -> None:
    menu = legend.menu_for(key)
    action = next(a for a in menu.actions() if a.text() == words)
    assert action.isEnabled()
    action.trigger()


@pytest.mark.main_path
def test_headline_and_legend_follow_what_is_claimed(open_window, settled) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    bounds, panel = window.workspaces["bounds"], window.guarantee
    snapshots.check(panel.sentence.text())
    assert "55.18 % of the time" in panel.beside.text()
    assert panel.odds.text() == "50.88 %"
    assert panel.grade.text().endswith("from (ε, δ) alone at most 55.18 %.")
    assert panel.claimed.text().startswith("Claimed: ε ≤ 0.2078 by “numerical upper bound")
    assert marked(bounds) == {"numerical_upper": BEST_CLAIM["bounds"]}

    claim(bounds.legend, "theorem1", "Claim this bound")
    settled(window)
    assert panel.claimed.text().startswith("Claimed: ε ≤ 1.041 by “Theorem 1 (upper bound)”, chos")
    # The published statement does not depend on the claimed bound.
    assert "50.88 %" in panel.sentence.text()
    assert "73.89 % of the time" in panel.beside.text()
    assert marked(bounds) == {"theorem1": "claimed"}
    result, view = window.current_result, bounds.view_state()
    assert view.claim == "theorem1"
    assert "ε ≤ 1.041" in table_text(result, view, {})
    assert result_document(result, view, {})["claim"]["series"] == "theorem1"

    entries = entries_of(result, claim=view.claim)
    assert [e.key for e in entries if e.claimed] == ["theorem1"] == [entries[0].key]
    assert entries_from_list(entries_to_list(entries), [])[0].claimed
    row = compared_row(entries[0].request, entries[0].key, result, claimed=True)
    assert row.statement.endswith(", claimed")

    # An invalid claim is reported, not replaced silently.
    claim(bounds.legend, "clones_closed", "Claim this bound")
    settled(window)
    said = panel.sentence.text()
    assert said.startswith("“clones (2021, closed form) + sampling + KOV” does not apply here: ")
    assert "ε ≤ 0.2078" in said
    assert marked(bounds) == {"numerical_upper": BEST_CLAIM["bounds"]}

    window.session.undo()
    assert bounds.claiming.key == "theorem1"
    claim(bounds.legend, "theorem1", f"Claim the {BEST_CLAIM['bounds']}")
    assert bounds.claiming.key == ""
    settled(window)
    assert panel.claimed.text().startswith("Claimed: ε ≤ 0.2078")
    # A curve that is no upper bound can't be claimed.
    assert not any("Claim" in a.text() for a in bounds.legend.menu_for("lower_2rr").actions())


def test_a_claimed_number_that_moves_changes_the_tool_tip_alone(
    open_window, settled, monkeypatch
) -> None:
    """Name, role and accessible name are laid out and announced again whenever they are set."""
    window = open_window(study="heatmap-theory")
    settled(window)
    row = window.workspaces["bounds"].legend.row("experiments")
    assert row.tag.text() == BEST_CLAIM["mechanisms"]
    written: list[str] = []
    for widget, setter in (
        (row.label, "setText"),
        (row.role, "setText"),
        (row.check, "setAccessibleName"),
    ):
        monkeypatch.setattr(widget, setter, written.append)
    tips = [row.label.toolTip()]
    for epsilon in (1.1, 1.2, 1.3):
        window.session.set_value("epsilon", epsilon)
        settled(window)
        tips.append(row.label.toolTip())
        assert "Claimed: EMD ≤ " in tips[-1]
    assert len(set(tips)) == 4
    assert written == []
    # Another bound is claimed: name and role are written anew, what screen readers say stays.
    claim(window.workspaces["bounds"].legend, "capped", "Claim this bound")
    assert row.label.toolTip() not in tips
    assert len(written) == 2


def test_a_map_has_a_guarantee_and_nothing_to_claim(open_window, settled) -> None:
    window = open_window(study="amplification")
    settled(window)
    window.session.set_value("resolution", "32", "heatmap")
    window.session.set_study("heatmap")
    result = settled(window)
    assert window.guarantee.sentence.text() == result.guarantee.sentence
    assert window.guarantee.claimed.isHidden()
    # What is protected, and what fails, are read without pointing at them.
    labels = {label.text() for label in window.guarantee.findChildren(QLabel) if label.isVisible()}
    failing = [c.short for c in result.conditions if c.holds is False]
    assert {result.guarantee.unit, *failing} <= labels


def test_a_claim_is_kept_with_session_and_recipe(open_window, settled) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    bounds = window.workspaces["bounds"]
    claim(bounds.legend, "theorem1", "Claim this bound")
    kept = json.loads(json.dumps(state_to_dict(window.session.state)))
    assert state_from_dict(kept).look_of("shuffle-rdp", "eps").claim == "theorem1"
    # As written by an older version.
    del kept["looks"][0]["claim"]
    assert state_from_dict(kept).look_of("shuffle-rdp", "eps").claim == ""
    view = bounds.view_state()
    claim(bounds.legend, "theorem1", f"Claim the {BEST_CLAIM['bounds']}")
    bounds.apply_view_state(view)
    assert bounds.claiming.key == "theorem1"


def test_solve_begins_with_what_is_claimed_and_keeps_what_is_chosen(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    bounds = window.workspaces["bounds"]
    bar = bounds.solving.bar
    bounds.solving.set_shown(True)
    assert bar.parameter.currentData() == "eps0"
    assert bar.curve.currentData() == "numerical_upper"
    claim(bounds.legend, "theorem1", "Claim this bound")
    qtbot.waitUntil(lambda: bar.curve.currentData() == "theorem1")
    # A preview with fewer curves keeps the choice.
    bar.curve.setCurrentIndex(bar.curve.findData("unamplified"))
    bar.chosen.emit()
    window.session.set_value("T", 5000)
    settled(window)
    assert bar.curve.currentData() == "unamplified"


def test_the_solve_row_stays_as_high_when_its_result_appears(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    solving = window.workspaces["bounds"].solving
    solving.set_shown(True)
    qtbot.turns()
    before = solving.bar.height()
    solving.bar.show_message("ε₀ = 1.37 gives ε = 1 (Theorem 1)")
    qtbot.turns()
    assert solving.bar.height() == before


def _dimmed(widget: QWidget | None) -> bool:
    """Whether a widget or one of its parents is dimmed."""
    return widget is not None and (
        widget.graphicsEffect() is not None or _dimmed(widget.parentWidget())
    )


def test_an_old_promise_is_marked_beside_new_sliders(
    tiny_study, open_window, settled, qtbot
) -> None:
    window = open_window(study="tiny")
    settled(window)
    bounds, panel = window.workspaces["bounds"], window.guarantee
    assert not panel.stale.isVisible()
    controller = window.answers["bounds"]
    # A result that does not arrive: the request waits for a busy process.
    controller.runner.submit = lambda _request: None
    window.session.set_value("eps", 3.0)
    assert not panel.stale.isVisible()  # delayed: most results arrive within a frame or two
    qtbot.waitUntil(panel.stale.isVisible)
    assert panel.stale.text() == "updating…"
    assert bounds.stale.isVisible()
    assert bounds.plot.view.opacity() < 1
    written = [
        panel.headline,
        panel.grade,
        *(w for row in (*panel.rows, *panel.offers.values()) for w in row),
    ]
    assert len(written) > 2
    assert all(_dimmed(widget) for widget in written)
    assert not _dimmed(panel.stale)
    del controller.runner.submit
    controller.refresh()
    settled(window)
    assert not panel.stale.isVisible()
    assert not bounds.stale.isVisible()
    assert bounds.plot.view.opacity() == 1
    assert not any(_dimmed(widget) for widget in written)


def test_the_window_is_not_settled_while_a_promise_is_still_to_be_written(
    tiny_study, open_window, settled
) -> None:
    """Updates of the panel are rate limited."""
    window = open_window(study="tiny")
    settled(window)
    panel, result = window.guarantee, window.current_result
    assert not window.busy
    panel.show_result(replace(result))
    panel.show_result(replace(result))
    assert panel.behind
    assert window.busy
    settled(window)
    assert not panel.behind


def test_the_guarantee_opens_at_its_top_for_another_question(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    window.resize(1200, 600)
    window.guarantee.in_full.setChecked(True)  # longer than the window is high
    settled(window)
    bar = window.guarantee.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)  # it is laid out after it is written
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    window.session.set_value("eps0", 1.0)
    settled(window)
    assert bar.value() > 0
    window.session.set_study("histograms")
    settled(window)
    assert bar.value() == 0


def test_what_is_computing_is_not_called_invalid(qtbot) -> None:
    nothing = np.full(3, np.nan)
    source = Reference("somebody", "somewhere")
    told = {"undefined_reason": "training begins when the sliders rest"}
    coming = Series(
        "a", "trained", Role.ESTIMATE, np.arange(3.0), nothing, source, computing=True, **told
    )
    failing = replace(coming, computing=False)
    assert absent_stretches(failing)
    assert invalid_stretches([failing])
    assert not absent_stretches(coming)
    assert not invalid_stretches([coming])
    assert legend_label(coming) == "trained — estimate (computing…)"
    legend = Legend()
    qtbot.addWidget(legend)
    for series, words in ((coming, "computing…"), (failing, "not valid")):
        styles = series_styles([series], "light")
        legend.show_series((series,), styles, frozenset(), {"a": None}, "at x = 1")
        assert legend.row("a").value.text() == words
        assert ("⊘" in legend.row("a").label.text()) is (words == "not valid")


def test_a_better_row_says_why_it_is_not_claimed(qtbot) -> None:
    result = answer("amplification", "million")
    found, legend = evaluate_claim(result), Legend()
    qtbot.addWidget(legend)
    styles = series_styles(list(result.series), "light")
    values = {s.key: value_here(result, s) for s in result.series}
    reasons = unclaimed_reasons(result, found)
    for first, front in ((None, True), (("exact_2021",), False)):
        legend.show_series(
            result.series,
            styles,
            frozenset(values),
            values,
            "at n = 1e6",
            claim=(found, ()),
            first=first,
            reasons=reasons,
        )
        marks = {k: r.tag.text() for k, r in legend.rows.items() if not r.tag.isHidden()}
        assert marks == {
            "exact_2021": BEST_CLAIM["bounds"],
        }
        assert legend.row("exact_2023").warning.text() == "not claimed: 1 condition not confirmed"
        row, other = legend.row("exact_2023"), legend.row("closed")
        for said in (row.label.toolTip(), row.check.accessibleDescription()):
            assert f"Not claimed: {reasons['exact_2023'].why}." in said
        assert "Not claimed" not in other.label.toolTip()
        assert "Not claimed" not in legend.fold.toolTip()
        assert "exact_2023" in legend.front
        assert ("closed" in legend.front) is front
    # A user's claim has another mark.
    chosen = evaluate_claim(result, "exact_2023")
    legend.show_series(
        result.series,
        styles,
        frozenset(values),
        values,
        "at n = 1e6",
        claim=(chosen, ()),
        reasons=unclaimed_reasons(result, chosen),
    )
    assert legend.row("exact_2023").tag.text() == "claimed"
    assert "Not claimed" not in legend.row("exact_2023").label.toolTip()
    assert legend.row("exact_2021").tag.isHidden()


def test_the_answer_in_front_is_the_claimed_number_and_another_can_be_claimed_there(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="shuffle-rdp")
    answer = window.workspaces["bounds"].answer
    settled(window)
    assert answer.number.text() == "ε ≤ 0.2078"
    assert "50.88 %" in answer.text.text()
    assert answer.claim.text() == BEST_CLAIM["bounds"].capitalize()
    assert "δ\xa0=\xa010⁻⁸" in answer.role.text()
    assert "ε ≤ 0.2078" in answer.accessibleDescription()
    answer.claim.menu().aboutToShow.emit()
    offered = {a.text(): a for a in answer.claim.menu().actions()}
    assert next(iter(offered)) == BEST_CLAIM["bounds"].capitalize()
    assert offered[BEST_CLAIM["bounds"].capitalize()].isChecked()
    chosen = next(words for words in offered if words.endswith(" · ≤ 1.041"))
    offered[chosen].trigger()
    assert window.session.state.look_of("shuffle-rdp", "eps").claim == "theorem1"
    settled(window)
    assert answer.number.text() == "ε ≤ 1.041"
    assert answer.claim.text() in chosen
    assert "chosen by you" in answer.beside.text()
    # An undefined claim is not replaced silently.
    answer.claim_requested.emit("clones_closed")
    settled(window)
    assert answer.number.text() == "ε ≤ 0.2078"
    assert "(needs ε₀ ≤ " in answer.text.text()
    assert "ε ≤ 0.2078, by exact clones 2021." in answer.text.text()
    # Another request has no result yet.
    window.session.set_study("amplification")
    assert answer.text.text() == NO_BOUND_YET.text
    assert answer.number.text() == "…"
    assert answer.claim.isHidden()


def test_five_curves_at_once_largest_first_and_the_rest_under_a_fold(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="shuffle-rdp")
    result = settled(window)
    bounds = window.workspaces["bounds"]
    legend, keys = bounds.legend, {s.key for s in result.series}
    better = {key for key in legend.front if not legend.row(key).warning.isHidden()}
    assert better == {"lower_rdp", "worst_case"}
    aside = better - {"worst_case"}
    assert len(legend.front) <= 5 + len(better)
    assert "numerical_upper" in legend.front
    values = [bounds.plot.value_here(key) for key in legend.front]
    assert values == sorted(values, reverse=True)
    rest = keys - set(legend.front)
    assert bounds.plot.hidden == rest | aside
    assert legend.more.text() == f"▸ More curves ({len(rest)})"
    assert not any(legend.row(key).check.isVisible() for key in rest)
    assert "⊘" in legend.told.text().split(" · ")[-1]  # invalid curves come last
    legend.more.click()
    assert all(legend.row(key).check.isVisible() for key in rest)
    assert not legend.told.isVisible()
    # A hidden curve is requested: it is drawn, listed, exported and stored.
    key = next(s.key for s in result.series if s.key in rest and s.present.all())
    legend.row(key).check.click()
    assert key in legend.front
    assert key not in bounds.view_state().hidden
    assert set(bounds.view_state().hidden) == (rest | aside) - {key}
    again = state_from_dict(state_to_dict(window.session.state))
    assert again.look_of("shuffle-rdp", "eps").shown == {key}
    # One curve alone, and back.
    legend.solo_requested.emit("theorem1")
    assert keys - bounds.plot.hidden == {"theorem1"}
    legend.solo_requested.emit("theorem1")
    assert bounds.plot.hidden == (rest | aside) - {key}
    # A recipe names the hidden curves; all others are visible.
    bounds.apply_view_state(replace(bounds.view_state(), hidden=("theorem1",)))
    assert bounds.plot.hidden == {"theorem1"}
    menu = {a.text(): a for a in legend.menu_for("numerical_upper").actions()}
    menu["Copy value"].trigger()
    assert QGuiApplication.clipboard().text() == "≤ 0.2078"


def test_without_an_applicable_bound_the_answer_says_so() -> None:
    result = answer("amplification", "million")
    none = replace(result, series=(), readouts=())
    study = get_study("amplification")
    assert evaluate_claim(none) is None
    assert headline_of(study, none, None) == NO_BOUND_APPLIES
    assert headline_of(study, replace(none, complete=False), None) == NO_BOUND_YET


def test_an_exact_number_that_is_claimed_says_that_it_is_rounded_up_and_in_what(qtbot) -> None:
    strip = HeadlineStrip()
    qtbot.addWidget(strip)
    result = answer("linear-queries", "city-rmse")
    claim = evaluate_claim(result)
    assert claim is not None
    assert claim.series.role is Role.EXACT
    strip.show_result(result, claim)
    assert "≤" in strip.number.text()
    shown = strip.role.text().split(", ")
    assert shown == ["exact", "rounded up", "RMS", "of the largest distance"]
    # The promise needs no δ, though Gaussian noise beside it does.
    assert [delta for _, delta in claim.text.pairs] == [0.0]
    assert dict(result.request.values)["delta"] > 0


def test_a_plot_without_curves_says_what_to_do(open_window, settled) -> None:
    window = open_window(study="unbounded")
    settled(window)
    plot = window.workspaces["bounds"].plot
    assert not plot.empty_label.isVisible()
    plot.set_hidden(frozenset(plot.curves))
    assert plot.empty_label.isVisible()


@pytest.mark.main_path
def test_an_optional_condition_is_confirmed_by_its_box(open_window, settled) -> None:
    window = open_window(study="amplification")
    settled(window)
    panel, bounds = window.guarantee, window.workspaces["bounds"]
    boxes = [row.box for row in panel.offers.values() if row.box.isVisible()]
    assert len(boxes) == 1
    assert not boxes[0].isChecked()
    assert "then applies, ε ≤ 0.03124" in boxes[0].accessibleName()
    assert bounds.answer.number.text() == "ε ≤ 0.04503"
    boxes[0].click()
    settled(window)
    assert bounds.answer.number.text() == "ε ≤ 0.03124"
    assert boxes[0].isChecked()
    # The condition counts among those of the guarantee now.
    assert any(c.key == "common" and c.of_guarantee for c in panel._conditions)
    window.session.undo()
    settled(window)
    assert not boxes[0].isChecked()
    assert bounds.answer.number.text() == "ε ≤ 0.04503"
    # While the bound is searched for, the row keeps it, with no number of an earlier answer, even
    # where a larger one is there already.
    result = window.current_result
    assuming = frozenset(s.key for s in result.series if s.assumes)
    assert len(assuming) > 1
    for searched in (assuming, frozenset({"worst_case"})):
        panel.show_result(result)
        panel.show_result(replace(result, complete=False, outdated_numbers=searched))
        panel.condition_texts()  # written at once
        assert boxes[0].isVisible()
        assert boxes[0].accessibleName().endswith("worst case then applies, …)")
