"""Exceptions are explained; unhandled ones reach the banner and the log."""

from __future__ import annotations

import sys
import threading

import pytest
from PySide6.QtWidgets import QWidget

from explorer.ui.base.errors import STALE_MS, Banner, ExceptionHook, Problem, explain


def test_our_own_refusals_are_told_as_they_are() -> None:
    assert explain(ValueError("k: 3 is outside [5, 9]"), "answer") == Problem(
        "answer", "k: 3 is outside [5, 9]."
    )
    assert explain(LookupError("no such data"), "answer").sentence == "No such data."
    said = explain(FileNotFoundError(2, "No such file or directory", "a.txt"), "data").sentence
    assert "a.txt: no such file" in said


@pytest.mark.parametrize(
    "error", [KeyError("x"), TypeError("bad"), ZeroDivisionError(), IndexError(3)]
)
def test_faults_of_the_program_say_so_and_keep_the_details(error: Exception) -> None:
    told = explain(error, "answer")
    assert told.sentence.startswith("Something unexpected happened while computing")
    assert type(error).__name__ in told.details


def test_the_banner_shows_details_only_when_asked(qtbot) -> None:
    over = QWidget()
    qtbot.addWidget(over)
    over.show()
    banner = Banner(over)
    banner.show_problem(Problem("data", "A sentence.", "Traceback"))
    assert banner.isVisible()
    assert not banner.details.isVisible()
    banner.more.click()
    assert banner.details.toPlainText() == "Traceback"
    assert banner.details.isVisible()
    banner.settled("answer")
    assert banner.isVisible()
    banner.settled("data")
    assert not banner.isVisible()
    banner.show_problem(Problem("data", "<b>No</b> markup."))
    assert banner.text.text() == "<b>No</b> markup."
    assert not banner.more.isVisible()


def test_a_message_about_the_last_try_goes_while_another_takes_long(qtbot) -> None:
    over = QWidget()
    qtbot.addWidget(over)
    over.show()
    banner = Banner(over)
    banner.show_problem(Problem("answer", "a.csv is empty."))
    banner.mark_stale("answer")
    assert banner.isVisible()  # no flicker if reported again at once
    banner.show_problem(Problem("answer", "b.csv is empty."))
    qtbot.wait(STALE_MS + 100)
    assert banner.isVisible()
    banner.mark_stale("answer")
    qtbot.waitUntil(lambda: not banner.isVisible())
    banner.show_problem(Problem("data", "c.txt is gone."))
    banner.mark_stale("answer")
    qtbot.wait(STALE_MS + 100)
    assert banner.isVisible()


@pytest.mark.parametrize("in_thread", [False, True])
def test_what_nobody_caught_is_logged_and_shown(qtbot, caplog, in_thread) -> None:
    hook = ExceptionHook()
    before = sys.excepthook, threading.excepthook
    hook.install()
    try:
        with qtbot.waitSignal(hook.caught) as caught:
            if in_thread:
                thread = threading.Thread(target=lambda: 1 / 0)
                thread.start()
                thread.join()
            else:
                try:
                    1 / 0  # noqa: B018
                except ZeroDivisionError:
                    sys.excepthook(*sys.exc_info())
    finally:
        hook.remove()
    assert "division by zero" in caught.args[0].sentence
    assert "ZeroDivisionError" in caught.args[0].details
    assert "ZeroDivisionError" in caplog.text
    assert (sys.excepthook, threading.excepthook) == before
