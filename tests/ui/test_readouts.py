"""Layout of scalar results beside the legend."""

from __future__ import annotations

import math

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import ScalarResult
from explorer.ui.bounds.plot_tables import readout_text


def test_names_of_curves_are_uncut_after_a_change_of_study(open_window, settled, qtbot) -> None:
    window = open_window(study="choose-alpha")
    settled(window)
    bounds = window.workspaces["bounds"]
    for study in ("unbounded", "itemwise", "unbounded"):
        window.session.set_study(study)
        settled(window)
        qtbot.turns()
        beside = bounds.beside.side_by_side
        assert bounds.readouts.width() >= bounds.readouts.sizeHint().width()
        assert bounds.readouts.preferred_width() <= bounds.readouts.sizeHint().width()
        if beside:
            for key in bounds.legend.front:
                label = bounds.legend.row(key).label
                assert label.fontMetrics().horizontalAdvance(label.text()) <= label.width()


def test_what_has_no_value_says_if_it_is_infinite() -> None:
    assert readout_text(ScalarResult("a", "a", None, note="infinite: some report excludes it")) == (
        "infinite"
    )
    assert readout_text(ScalarResult("a", "a", None, note="not known yet")) == "–"


def test_bounds_are_shown_rounded_to_their_safe_side() -> None:
    for role, said in ((Role.LOWER, "≥ 0.08067"), (Role.UPPER, "≤ 0.08068"), (Role.EXACT, "=")):
        text = readout_text(ScalarResult("a", "α₀", 0.080677, role))
        assert text.startswith(said)
    assert readout_text(ScalarResult("a", "ε", 1.04, Role.UPPER)) == "≤ 1.04"
    assert readout_text(ScalarResult("a", "ε", 0.0, Role.UPPER)) == "≤ 0"
    assert "nan" not in readout_text(ScalarResult("a", "ε", math.inf, Role.UPPER))
