"""What the window offers and shows of a question that is answered after another workspace."""

from __future__ import annotations

import pytest

from explorer.ui.shell.menu_bar import _OF_THE_ANSWER as OF_THE_ANSWER


def test_the_answer_of_a_workspace_made_later_can_be_exported(open_window, settled) -> None:
    window = open_window(study="heatmap")
    settled(window)
    window.show_study("linear-queries")
    settled(window)
    assert window.current_result is not None
    assert [key for key in OF_THE_ANSWER if not window.menus.actions[key].isEnabled()] == []


@pytest.mark.parametrize("study", ["shuffle-rdp", "linear-queries"])
def test_the_same_curves_are_drawn_after_a_restart(open_window, settled, study: str) -> None:
    first = open_window(study=study)
    settled(first)
    plot = first.workspaces["bounds"].plot
    drawn, hidden = set(first.workspaces["bounds"].looking.keys), set(plot.hidden)
    assert 1 <= len(drawn - hidden) <= 5
    first.close()
    second = open_window()
    settled(second)
    assert second.session.state.study == study
    assert set(second.workspaces["bounds"].plot.hidden) == hidden
    assert not second.session.state.look_of(study, second.session.state.request.quantity).every
