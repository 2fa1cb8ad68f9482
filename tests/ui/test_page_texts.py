"""The texts of all pages of the window, compared with approved ones.

A page lists what no earlier page of the same test has. ``python -m tests.snapshots
tests/ui/test_page_texts.py`` writes them anew.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QApplication

from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study, study_infos
from explorer.ui.dialogs.about import about_dialog, keys_dialog, words_dialog
from explorer.ui.dialogs.open_checkins import MappingDialog
from tests.release.plans import opened
from tests.snapshots import check
from tests.ui.page_texts import menu_texts, texts


class Pages:
    """Collects the texts of pages, each only once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lines: list[str] = []

    def add(self, title: str, lines: list[str]) -> None:
        """Add a page."""
        new = [line for line in lines if line not in self._seen]
        self._seen.update(new)
        self._lines += [f"# {title}", *new, ""]

    def check(self) -> None:
        """Compare with the approved texts."""
        check(self._lines)


def test_texts_of_the_questions(open_window, settled) -> None:
    pages, window = Pages(), open_window(study="unbounded", start_page=True)
    window.resize(1280, 800)
    QApplication.processEvents()
    pages.add("Start page", texts(window.start.page))
    window.show_study("unbounded")
    settled(window)
    pages.add("Menus", menu_texts(list(window.titles.values())))
    for info in study_infos():
        if info.workspace == "bounds":
            fewer = {"epochs": 1} if info.id == "cldp-sgd" else {}  # else it trains for 14 s
            asked = default_request(get_study(info.id), **fewer)
            if asked.sweep is not None:
                asked = replace(asked, sweep=replace(asked.sweep, points=9))
            window.session.follow(asked)
            window.show_study(info.id)
            settled(window)
            QApplication.processEvents()
            pages.add(info.name, texts(window))
    window.show_study("unbounded")
    settled(window)
    page = window.workspaces["bounds"]
    page.solve_action.trigger()
    QApplication.processEvents()
    pages.add("Find a value", texts(page.solve_bar))
    window.menus.action("export").trigger()
    pages.add("Export", texts(window.output.dialog))
    window.output.dialog.reject()
    for title, dialog in (
        ("About", about_dialog(window)),
        ("Keyboard", keys_dialog(window)),
        ("Glossary", words_dialog(window)),
    ):
        dialog.show()
        pages.add(title, texts(dialog))
        dialog.close()
    pages.check()


def test_texts_of_the_tools(open_window, settled, qtbot, tmp_path, monkeypatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    pages, window = Pages(), open_window(study="heatmap", values=(("resolution", "16"),))
    window.resize(1280, 800)
    settled(window)
    qtbot.waitUntil(lambda: not window.activity.running)
    pages.add("Map", texts(window))
    study_menu = menu_texts([window.titles["&Study"]])
    pages.add("Map menu", [*menu_texts([window.titles["&View"]]), study_menu[-1]])
    page = window.workspaces["map"]
    window.sides.setCurrentIndex(1)
    pages.add("Data", texts(window.data_panel))
    page.utility.action.setChecked(True)
    qtbot.waitUntil(lambda: page.utility.view is not None and page.utility.view.answer is not None)
    qtbot.waitUntil(lambda: not window.activity.running)
    pages.add("Utility", texts(page))
    page.utility.action.setChecked(False)
    pages.add("Export of a map", _export(window))
    window.menus.action("paper-figures").trigger()
    figures = window.menus.paper_figures
    qtbot.waitUntil(lambda: figures.isVisible() and not figures.looking.busy)
    pages.add("Figures of the paper", texts(figures))
    figures.reject()
    for key in ("compare", "sweep", "figures"):
        window.show_tool(key)
        qtbot.waitUntil(lambda: not window.activity.running)
        pages.add(window.tabs.tabText(window.tabs.currentIndex()), texts(window.tools[key]))
    tool = window.tools["release"]
    opened(tool.controller.place)
    window.show_tool("release")
    qtbot.waitUntil(lambda: tool.plan.ledger is not None and not tool.controller.busy)
    for place in range(5):
        tool.plan.show_page(place)
        QApplication.processEvents()
        pages.add(f"Release, page {place + 1}", texts(tool))
    for part in ("ledger", "attack"):
        tool.show_part(part)
        QApplication.processEvents()
        pages.add(f"Release, {part}", texts(tool))
    file = tmp_path / "visits.csv"
    file.write_text("who,when,x,y\n" + "".join(f"u{k % 7},{k},48.{k},11.{k}\n" for k in range(40)))
    with qtbot.waitSignal(window.data.mapping_needed):
        window.files.open_data(file, ask=True)
    dialog = window.data_panel.dialog("mapping")
    assert isinstance(dialog, MappingDialog)
    qtbot.waitUntil(lambda: dialog.rows.outline.total is not None)
    pages.add("Open check-ins", texts(dialog))
    dialog.reject()
    pages.check()


def _export(window) -> list[str]:
    window.menus.action("export").trigger()
    found = texts(window.output.dialog)
    window.output.dialog.reject()
    return found
