"""Study ▸ Figures of the paper: computed as by the command, cancelled and taken up, exported."""

from __future__ import annotations

import csv
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from explorer.cli import run
from explorer.engine.experiments import trials_file
from explorer.figures.formats import Kind, of_kind
from explorer.studies.heatmap.experiments.figures import FIGURES, users_present
from explorer.studies.heatmap.experiments.samples import busiest_places
from explorer.studies.heatmap.text import SYNTHETIC
from tests.ui.access import check
from tests.ui.small_map import SMALL_MAP

COMMAND = ("experiment", "figure-9", "--quiet")


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="heatmap", values=SMALL_MAP)
    window.resize(1280, 800)
    settled(window)
    return window


@pytest.fixture
def dialog(window, qtbot):
    """The dialog, with no trial known."""
    trials_file().unlink(missing_ok=True)
    window.menus.action("paper-figures").trigger()
    page = window.menus.paper_figures
    qtbot.waitUntil(lambda: page.isVisible() and not page.looking.busy)
    return page


@pytest.fixture
def choose(dialog, qtbot):
    """Select a figure and wait until its data are known."""

    def select(name: str) -> None:
        dialog.list.setCurrentRow(list(FIGURES).index(name))
        qtbot.waitUntil(lambda: not dialog.looking.busy)

    return select


def press(qtbot, button) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def computed(dialog, choose, qtbot):
    """Figure 9, which is one point, computed and drawn."""
    choose("figure-9")
    press(qtbot, dialog.run)
    qtbot.waitUntil(lambda: not dialog.job.busy)
    qtbot.waitUntil(lambda: not dialog.picture.pixmap().isNull())
    return dialog


def _the_keys_reach_everything_and_every_text_has_room(computed, qtbot) -> None:
    assert check(computed) == []
    order = [computed.list, computed.draws, computed.verdicts]
    order += [computed.run, computed.export]
    computed.list.setFocus()
    met = []
    for _ in range(12):
        met.append(QApplication.focusWidget())
        qtbot.keyClick(met[-1], Qt.Key.Key_Tab)
    places = [met.index(widget) for widget in order]
    assert places == sorted(places)
    hint = computed.minimumSizeHint()
    assert (hint.width(), hint.height()) <= (1024, 700)
    computed.resize(1024, 700)
    for row in range(computed.list.count()):
        computed.list.setCurrentRow(row)
        qtbot.waitUntil(lambda: not computed.looking.busy)
        QApplication.processEvents()
        for label in computed.findChildren(QLabel):
            if label.isVisible() and label.text() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width())
            elif label.isVisible() and label.text():
                assert label.width() >= label.sizeHint().width()


def test_a_figure_is_the_commands_to_the_last_digit(computed, tmp_path, capsys, qtbot) -> None:
    assert "points in images" in computed.data.text()
    assert computed.stamp.text() == SYNTHETIC
    said = list(FIGURES["figure-9"].claims[0].rivals)
    rows = computed.verdicts.table.rows
    assert len(rows) == len(computed.document["verdicts"]) >= len(said)
    assert {row[0][2:] for row in rows} <= {"agrees", "differs", "open"}
    for form in of_kind(Kind.EXPERIMENT):
        path = tmp_path / f"figure.{form.suffix}"
        computed.write(path)
        qtbot.waitUntil(lambda path=path: path.name in computed.state.text())
    trials_file().unlink()
    assert run([*COMMAND, "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out) == computed.document
    assert (tmp_path / "figure.json").read_text() == out
    path = tmp_path / "command.svg"
    assert run([*COMMAND, "--output", str(path)]) == 0
    assert path.read_bytes() == (tmp_path / "figure.svg").read_bytes()
    for suffix in ("csv", "svg", "tex", "json"):
        assert SYNTHETIC in (tmp_path / f"figure.{suffix}").read_text()
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    lines = [ln for ln in (tmp_path / "figure.csv").read_text().splitlines() if ln[0] != "#"]
    assert len(list(csv.DictReader(lines))) == len(computed.document["rows"])
    _the_keys_reach_everything_and_every_text_has_room(computed, qtbot)


def test_another_seed_has_other_made_data_and_another_figure(dialog, choose, qtbot) -> None:
    choose("figure-9")
    documents = []
    for seed in (0, 7):
        dialog.seed.setValue(seed)
        qtbot.waitUntil(lambda: not dialog.looking.busy and dialog.run.isEnabled())
        if seed:
            assert "seed 7" in dialog.data.text()
        press(qtbot, dialog.run)
        qtbot.waitUntil(lambda: not dialog.job.busy)
        documents.append(dialog.document)
    assert [d["settings"]["seed"] for d in documents] == [0, 7]
    # A picture never stands beside settings that it was not computed with.
    dialog.seed.setValue(0)
    assert dialog.document is documents[0]
    dialog.draws.setValue(2)
    assert dialog.document is None
    assert not dialog.export.isEnabled()
    assert documents[0]["rows"] != documents[1]["rows"]


def test_the_palette_opens_the_dialog_that_closing_keeps(window, qtbot) -> None:
    window.open_palette("figures of the paper")
    palette = window.menus.finder.palette
    qtbot.waitUntil(lambda: palette.current is not None and palette.current.name[-1] == "…")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    page = window.menus.paper_figures
    assert page.isVisible()
    page.list.setCurrentRow(3)
    page.close()
    window.menus.action("paper-figures").trigger()
    assert window.menus.paper_figures is page
    assert page.list.currentRow() == 3


def test_a_cancelled_run_keeps_its_trials_and_goes_on(dialog, choose, qtbot) -> None:
    choose("figure-10")
    dialog.draws.setValue(2)
    heard = []
    dialog.job.progress.connect(lambda _, news: heard.append(news))
    press(qtbot, dialog.run)
    assert not dialog.run.isEnabled()
    qtbot.waitUntil(lambda: bool(heard) and heard[-1].done > 0)
    press(qtbot, dialog.cancel)
    kept = dialog.state.text()
    assert f"{heard[-1].done} of {heard[-1].total}" in kept
    assert dialog.run.isEnabled()
    assert dialog.document is None
    least = heard[-1].done
    heard.clear()
    press(qtbot, dialog.run)
    qtbot.waitUntil(lambda: bool(heard) and heard[-1].total > 0)
    assert heard[-1].known >= least
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not dialog.job.busy


def test_what_a_figure_is_computed_from_is_said(window, dialog, choose, qtbot) -> None:
    choose("figure-1")
    assert window.data.current.basename in dialog.data.text()
    assert len(dialog.data.toolTip().splitlines()) == FIGURES["figure-1"].regions
    assert dialog.stamp.text() == SYNTHETIC
    assert dialog.run.isEnabled()
    assert dialog.draws.value() == FIGURES["figure-1"].draws
    window.show_study("amplification")
    assert not window.menus.action("paper-figures").isVisible()


def test_places_with_too_few_users_are_named_before_the_run(
    window, dialog, choose, qtbot, capsys
) -> None:
    choose("figure-9")
    usual = dialog.run.text()
    assert not dialog.few.text()
    choose("figure-4")
    present = users_present(window.data.current, busiest_places(window.data.current, 1))
    ((name, there),) = present.items()
    (panel,) = FIGURES["figure-4"].panels
    users = tuple(n for n in panel.xs if n <= there)
    assert 0 < len(users) < len(panel.xs)
    assert f"{users[-1]:,} users" in dialog.few.text()
    assert name in dialog.few.toolTip()
    assert dialog.run.text() != usual
    assert dialog.query.users == users
    dialog.draws.setValue(1)
    qtbot.waitUntil(lambda: not dialog.looking.busy)
    press(qtbot, dialog.run)
    qtbot.waitUntil(lambda: not dialog.job.busy)
    assert {row["x"] for row in dialog.document["rows"]} == set(users)
    command = ["experiment", "figure-4", "--data", "sample", "--draws", "1", "--quiet", "--json"]
    assert run([*command, "--users", ",".join(map(str, users))]) == 0
    assert json.loads(capsys.readouterr().out) == dialog.document
