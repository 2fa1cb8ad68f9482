"""The window after start, restart and opening of a file."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from explorer.ui.controllers.activity import Activity


def test_the_answer_of_a_workspace_made_later_can_be_exported(open_window, settled) -> None:
    window = open_window(study="heatmap")
    settled(window)
    window.show_study("linear-queries")
    settled(window)
    assert window.current_result is not None
    menus = window.menus
    assert menus.needs_result
    assert all(menus.actions[key].isEnabled() for key in menus.needs_result)


def test_the_same_curves_are_drawn_after_a_restart(open_window, settled) -> None:
    first = open_window(study="shuffle-rdp")
    settled(first)
    plot = first.workspaces["bounds"].plot
    drawn, hidden = set(first.workspaces["bounds"].looking.keys), set(plot.hidden)
    assert 1 <= len(drawn - hidden) <= 6
    first.close()
    second = open_window()
    settled(second)
    assert second.session.state.study == "shuffle-rdp"
    assert set(second.workspaces["bounds"].plot.hidden) == hidden
    asked = second.session.state.request
    assert not second.session.state.look_of(asked.study, asked.quantity).every


def test_a_comparison_has_the_claimed_bound_though_its_curve_is_hidden(
    open_window, settled
) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    page = window.workspaces["bounds"]
    claimed = page.looking.claimed
    page.looking.solo(next(key for key in page.looking.keys if key != claimed))
    assert claimed in page.plot.hidden
    page.add_to_comparison()
    assert claimed in {entry.key for entry in window.session.state.comparison}


class Source(QObject):
    busy_changed = Signal(bool)


def test_one_cancel_stops_the_job_that_is_named(qtbot) -> None:
    activity, stopped = Activity(), []
    answers, file = Source(), Source()
    activity.watch("map", "maps", answers.busy_changed, lambda: stopped.append("map"), last=True)
    activity.watch("data", "file", file.busy_changed, lambda: stopped.append("data"))
    answers.busy_changed.emit(True)
    file.busy_changed.emit(True)
    assert [job.name for job in activity.running] == ["file", "maps"]
    activity.cancel()
    assert stopped == ["data"]
    file.busy_changed.emit(False)
    activity.cancel()
    assert stopped == ["data", "map"]
