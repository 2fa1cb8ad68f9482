"""The command palette: search by name, keyboard, recent entries first."""

from __future__ import annotations

import gc

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu

from explorer.studies.catalog import BUILT_IN, SYNONYMS
from explorer.ui.dialogs.palette import (
    INSIDE,
    PREFIX,
    SUBSEQUENCE,
    WORD,
    WORDS,
    EntryKind,
    fold_text,
    rank,
)
from tests.ui.access import check


@pytest.mark.parametrize(
    ("query", "names", "more", "expected"),
    [
        ("shuf", ("Shuffle accountant",), "", PREFIX),
        ("eps", ("ε₀ · local privacy",), "", PREFIX),
        ("EPS0", ("ε₀ · local privacy", "eps0"), "", PREFIX),
        ("acc", ("Shuffle accountant",), "", WORD),
        ("acc shu", ("Shuffle accountant",), "", WORDS),
        ("how private", ("Shuffle accountant",), "How private is it?", WORDS),
        ("count", ("Shuffle accountant",), "", INSIDE),
        ("figure 2a", ("Figure 2 (a)",), "", SUBSEQUENCE),
        ("", ("anything",), "", PREFIX),
        ("zq", ("Shuffle accountant",), "zero", None),
    ],
)
def test_what_is_typed_ranks_names(query, names, more, expected) -> None:
    assert rank(query, names, more) == expected


def test_letters_of_all_alphabets_are_compared_as_they_are_typed() -> None:
    assert fold_text("ε₀ (Rényi)") == "epsilon0 renyi"


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="shuffle-rdp")
    settled(window)
    return window


@pytest.fixture
def find(window, qtbot):
    """Open the palette, type, wait until all sources are read, and return it."""

    def ask(typed: str = "", pasted: str = ""):
        window.menus.actions["find"].trigger()
        palette = window.menus.finder.palette
        qtbot.waitUntil(lambda: not palette.reading)
        qtbot.keyClicks(palette.field, typed)
        palette.field.insert(pasted)
        return palette

    yield ask
    if shiboken6.isValid(window) and window.menus.finder.palette is not None:
        window.menus.finder.palette.hide()


def test_a_parameter_is_set_by_its_name_and_not_to_a_bad_value(window, find, qtbot) -> None:
    assert window.menus.finder.palette is None  # the window opens without it
    palette = find("eps0 = 1.5")
    assert palette.current.name == "ε₀ = 1.5"
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert window.session.request("shuffle-rdp")["eps0"] == 1.5
    window.session.undo()
    assert window.session.request("shuffle-rdp")["eps0"] == 2.0
    palette = find("eps0 = many")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert "is not a number" in palette.about.text()
    assert "is not a number" in palette.field.accessibleDescription()
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert not window.session.undo_text


def test_questions_figures_commands_and_words_are_found_and_done(window, find, qtbot) -> None:
    def done(typed: str, kind: EntryKind) -> None:
        palette = find(typed)
        assert palette.current.kind == kind
        said = palette.field.accessibleDescription()
        assert palette.current.name in said
        assert palette.current.detail in said
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        assert not palette.isVisible()

    done("linear q", EntryKind.QUESTION)
    assert window.session.state.study == "linear-queries"
    done("figure 2 (a) shuffle acc", EntryKind.FIGURE)
    assert window.session.state.study == "shuffle-rdp"
    window.session.set_value("eps0", 3.0)
    done("reset para", EntryKind.COMMAND)
    assert window.session.request()["eps0"] == 2.0
    done("earth mover", EntryKind.WORD)
    words = next(w for w in window.children() if getattr(w, "windowTitle", str)() == "Glossary")
    assert words.isVisible()
    words.close()


def test_what_was_chosen_last_comes_first_also_after_another_start(
    window, find, qtbot, open_window
) -> None:
    palette = find("users' data")
    assert check(palette) == []
    first = palette.rows.topLevelItem(0).text(0)
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.session.state.study == "users-data"
    assert find("").current.name == first
    window.menus.finder.palette.hide()
    window.close()
    again = open_window(study="shuffle-rdp")
    again.menus.finder.open()
    palette = again.menus.finder.palette
    assert palette.current.key == "question:users-data"
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.current.key == "question:heatmap"
    palette.hide()


def test_a_copied_link_opens_again_by_name(window, find, settled, qtbot) -> None:
    session, bounds = window.session, window.workspaces["bounds"]
    session.pin()
    session.set_value("eps0", 1.5)
    bounds.looking.solo("theorem1")
    settled(window)
    window.menus.actions["copy-link"].trigger()
    link = QApplication.clipboard().text()
    asked, hidden = session.request(), bounds.plot.hidden
    assert session.state.selection.data not in link
    window.show_study("amplification")
    palette = find(pasted=link)
    assert [entry.key for entry in (palette.current,)] == ["link"]
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    settled(window)
    assert session.request() == asked
    assert bounds.plot.hidden == hidden
    (pin,) = session.state.pins
    assert pin.request["eps0"] == 2.0
    palette = find(pasted=link.replace("eps0=1.5", "eps0=many"))
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert "eps0" in window.banner.text.text()


def test_looking_for_commands_leaves_the_menus_alive(open_window) -> None:
    """In PySide a menu returned by an action is deleted with the action's wrapper."""
    window = open_window(study="shuffle-rdp")
    commands = [entry.name for entry in window.menus.finder._commands()]
    gc.collect()
    menus = window.menuBar().findChildren(QMenu)
    assert all(shiboken6.isValid(menu) for menu in (*menus, window.menus.view_menu))
    assert len(commands) == len(set(commands)) > 40
    assert not {"File", "View", "Help"} & set(commands)


@pytest.mark.parametrize(
    ("typed", "study"),
    [
        ("federated", "shuffle-rdp"),
        ("dp-sgd", "cldp-sgd"),
        ("budget", "shuffle-rdp"),
        ("composition", "shuffle-rdp"),
        ("accountant", "shuffle-rdp"),
        ("epsilon planning", "choose-alpha"),
        ("geo-indistinguishability", "itemwise"),
        ("local dp", "amplification"),
        ("manurangsi", "heatmap"),
        ("girgis", "cldp-sgd"),
        ("balcer", "histograms"),
        ("separating local", "histograms"),
        ("imola", "linear-queries"),
        ("bayesian coordinate", "private-regression"),
        ("federated learning", "cldp-sgd"),
        ("dp-sgd", "shuffle-rdp"),
        ("epsilon planning", "heatmap"),
        ("geo-indistinguishability", "heatmap"),
        ("geo-indistinguishability", "choose-alpha"),
        ("local dp", "histograms"),
        ("differentially private heatmaps", "heatmap"),
        ("renyi subsampled shuffle", "shuffle-rdp"),
        ("cheu shuffled differential privacy via histograms", "histograms"),
        ("chaudhuri user-level", "unbounded"),
        ("aliakbarpour", "coordinate-mean"),
    ],
)
def test_terms_of_the_trade_and_papers_find_their_studies(typed: str, study: str) -> None:
    ranks = {
        key: rank(typed, (info.name, info.id), "; ".join(SYNONYMS[key]))
        for key, info in BUILT_IN.items()
    }
    assert ranks[study] == min(place for place in ranks.values() if place is not None)


def test_every_study_has_synonyms_and_its_paper() -> None:
    assert SYNONYMS.keys() == BUILT_IN.keys()
    assert all(len(words) >= 4 for words in SYNONYMS.values())
