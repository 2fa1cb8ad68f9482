"""Menu bar: builds the menus and keeps their entries up to date."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from explorer.studies.registry import get_study, study_info, study_infos
from explorer.ui.app.computing import ComputingPreferences
from explorer.ui.app.export_actions import Printing
from explorer.ui.app.finder import Finder
from explorer.ui.app.self_test import SelfTest
from explorer.ui.base import theme as themes
from explorer.ui.base.styled import plain_tip
from explorer.ui.controllers.cached_checkins import CachedCheckins
from explorer.ui.dialogs.about import about_dialog, keys_dialog, words_dialog
from explorer.ui.dialogs.errata import Errata
from explorer.ui.dialogs.palette import KEY
from explorer.ui.dialogs.user_guide import UserGuide
from explorer.ui.panels.presets import PresetMenu

if TYPE_CHECKING:
    from explorer.engine.session.session import SessionState
    from explorer.ui.app.context import WindowContext
    from explorer.ui.app.export_actions import ExportActions
    from explorer.ui.controllers.workspace import Workspace


_MAX_TABS = 9


class FocusAreas(QObject):
    """Moves the focus between the areas of the window (F6) and remembers it in each.

    Parameters
    ----------
    window : WindowContext
    """

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self._left: dict[QWidget, QWidget] = {}
        """Last focused widget of each area."""

    def tab_actions(self) -> list[QAction]:
        """Return an action with shortcut for each tab."""
        tabs, actions = self._window.tabs, []
        for place in range(min(tabs.count(), _MAX_TABS)):
            action = QAction(f"{tabs.tabText(place)} tab", self._window)
            action.setShortcut(f"Ctrl+{place + 1}")
            action.setStatusTip(tabs.tabToolTip(place))
            action.triggered.connect(partial(self._window.show_tab, place))
            actions.append(action)
        return actions

    def go(self, by: int) -> None:
        """Focus the next (1) or previous (-1) area."""
        panes = [pane for pane in self._window.focus_areas() if pane.isVisible()]
        focus = QApplication.focusWidget()
        here = next((n for n, p in enumerate(panes) if focus and _inside(p, focus)), None)
        if focus is not None and here is not None:
            self._left[panes[here]] = focus
        if panes:
            start = here if here is not None else (-1 if by > 0 else 0)
            for step in range(1, len(panes) + 1):
                if self._enter(panes[(start + by * step) % len(panes)]):
                    return

    def _enter(self, pane: QWidget) -> bool:
        """Focus the last or first focusable widget of an area; return whether there is one.

        The focus proxy of an area is its main widget.
        """
        last, main = self._left.get(pane), pane.focusProxy()
        for widget in filter(None, (last, main, pane, *_chain(pane))):
            if _inside(pane, widget) and _takes_focus(widget):
                widget.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return False


def _inside(pane: QWidget, widget: QWidget) -> bool:
    return pane is widget or pane.isAncestorOf(widget)


def _takes_focus(widget: QWidget) -> bool:
    by_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(by_tab) and widget.isVisible() and widget.isEnabled()


def _chain(pane: QWidget) -> list[QWidget]:
    """Return the widgets of an area in tab order."""
    found: list[QWidget] = []
    widget = pane.nextInFocusChain()
    while widget is not None and widget is not pane:
        if pane.isAncestorOf(widget):
            found.append(widget)
        widget = widget.nextInFocusChain()
    return found


_OF_THE_ANSWER = (
    "export",
    "export-all",
    "print",
    "copy",
    "copy-numbers",
    "copy-link",
    "copy-line",
    "copy-python",
    "copy-reviewer",
    "copy-latex",
)
"""Actions that require a result."""
_RELEASE = (
    ("plan", "&Plan…", "What is released about whom, and what it costs; rehearse it"),
    ("save", "&Save plan…", "As PLAN.json, for the command that releases without a window"),
    ("draw", "&Draw…", "Release what is planned, after asking once more"),
    ("ledger", "&Ledger…", "What was spent, what would still fit, what repeating costs"),
    ("attack", "&Attack…", "What releases tell about one person; audit the running code"),
)
_THEME_WORDS = {"system": "As the system", "light": "Light", "dark": "Dark"}


class Menus:
    """Builds the menu bar and updates its entries.

    Parameters
    ----------
    window : WindowContext
    output : ExportActions
        Implements Export and Copy.
    """

    def __init__(self, window: WindowContext, output: ExportActions) -> None:
        self._window, self._output = window, output
        self.actions: dict[str, QAction] = {}
        self._shown: tuple[object, ...] = ()
        self._of_workspace: dict[str, list[QAction]] = {}
        self._file_menu()
        self._edit_menu()
        self._view_menu()
        self._study_menu()
        self._release_menu()
        self._help_menu()
        self.update()
        window.session.history_changed.connect(self.update)
        window.session.changed.connect(self._state_changed)

    def _add(
        self,
        menu: QMenu,
        key: str,
        text: str,
        does: Callable[[], object],
        shortcut: QKeySequence | QKeySequence.StandardKey | str | None = None,
        tip: str = "",
    ) -> QAction:
        action = QAction(text, self._window)
        action.triggered.connect(lambda _checked=False: does())
        if shortcut is not None:
            action.setShortcut(QKeySequence(shortcut))
        if tip:
            action.setStatusTip(tip)
            action.setToolTip(tip)
        menu.addAction(action)
        self.actions[key] = action
        return action

    def _file_menu(self) -> None:
        window, keys = self._window, QKeySequence.StandardKey
        menu = window.titles["&File"]
        files = window.files
        self._add(menu, "open", "&Open check-ins…", lambda: files.choose_data(window), keys.Open)
        self._add(
            menu,
            "open-folder",
            "Open &folder…",
            lambda: files.choose_folder(window),
            tip="Open all check-in files of a folder, and of the folders in it, as one data set",
        )
        self._add(
            menu,
            "open-mapping",
            "Open with column &mapping…",
            lambda: files.choose_data(window, ask=True),
            "Ctrl+Alt+O",
            "Say which column of a file holds what, how fields are separated and letters written",
        )
        self._add(menu, "sample", "Open the &sample", files.open_sample)
        self._add(
            menu,
            "recipe",
            "Open &recipe…",
            lambda: files.choose_recipe(window),
            "Ctrl+Shift+O",
            "Go back to what an exported picture or table shows",
        )
        self._add(
            menu,
            "link",
            "Open lin&k…",
            lambda: files.choose_link(window),
            tip="Ask what a link asks; Ctrl+K takes one as well",
        )
        self.recent = menu.addMenu("Open recen&t")
        menu.addSeparator()
        output = self._output
        self._add(menu, "export", "&Export…", output.ask, "Ctrl+E")
        self._add(
            menu,
            "export-all",
            "E&xport all quantities…",
            output.ask_all,
            tip="A drawing and a table of every quantity at the present settings, in a folder",
        )
        self.printing = Printing(window, output)
        self._add(menu, "print", "&Print…", self.printing.ask, "Ctrl+Alt+P")
        self._add(menu, "copy", "&Copy picture", lambda: output.copy("png"), "Ctrl+Shift+C")
        self._add(menu, "copy-numbers", "Copy &numbers", lambda: output.copy("csv"))
        menu.addSeparator()
        self.cached = CachedCheckins(window, window.show_status, window.show_problem)
        self._add(
            menu,
            "clear-cache",
            "Clear cac&hed check-ins…",
            self.cached.ask,
            tip="Make room on the disk: say how much is kept of files opened before, and ask",
        )
        menu.addSeparator()
        self._add(menu, "close", "C&lose", window.close, "Ctrl+Q")
        window.session_store.recent_changed.connect(self._update_recent)
        self._update_recent()

    def _edit_menu(self) -> None:
        window, keys = self._window, QKeySequence.StandardKey
        menu = window.titles["&Edit"]
        self._add(menu, "undo", "&Undo", window.session.undo, keys.Undo)
        redo = self._add(menu, "redo", "&Redo", window.session.redo)
        redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        menu.addSeparator()
        output = self._output
        self._add(
            menu,
            "copy-link",
            "Copy lin&k",
            lambda: output.copy_code("link"),
            "Ctrl+Shift+L",
            "Copy the question as text that opens again, here or elsewhere; it tells of no file",
        )
        self._add(
            menu,
            "copy-line",
            "Copy as &command line",
            lambda: output.copy_code("line"),
            tip="Copy the line for a terminal that makes what is in front again",
        )
        self._add(
            menu,
            "copy-python",
            "Copy as P&ython",
            lambda: output.copy_code("script"),
            tip="Copy a short program that computes what is in front again",
        )
        review = self._output.review
        self._add(menu, "copy-reviewer", "Copy for a re&viewer", lambda: review("txt"))
        self._add(menu, "copy-latex", "Copy for a reviewer as &LaTeX", lambda: review("tex"))
        menu.addSeparator()
        self._add(menu, "reset", "Re&set parameters", self._reset_parameters)
        menu.addSeparator()
        self.finder = Finder(window)
        self._add(
            menu,
            "find",
            "&Find anything…",
            self.finder.open,
            KEY,
            "A question, figure, parameter, command or word by its name; eps0 = 2 sets a parameter",
        )
        menu.addSeparator()
        self.computing = ComputingPreferences(window)
        self._add(
            menu.addMenu("&Preferences"),
            "computing",
            "&Compute…",
            self.computing.open,
            tip="Where sweeps, experiments and trainings run: this machine or a cluster",
        )

    def _view_menu(self) -> None:
        window = self._window
        menu = window.titles["&View"]
        theme_menu = menu.addMenu("&Theme")
        group = QActionGroup(window)
        for name in themes.CHOICES:
            action = QAction(_THEME_WORDS[name], group, checkable=True)
            action.setChecked(window.theme.choice == name)
            action.triggered.connect(partial(window.theme.choose, name))
            theme_menu.addAction(action)
            self.actions[f"theme-{name}"] = action
        menu.addSeparator()
        for dock in window.docks.values():
            menu.addAction(dock.toggleViewAction())
        self._add(menu, "layout", "Reset &layout", window.reset_layout)
        menu.addSeparator()
        self.panes = FocusAreas(window)
        menu.addActions(self.panes.tab_actions())
        self._add(menu, "guarantee", "What is promised", window.show_guarantee, "Ctrl+G")
        self._add(menu, "next-pane", "Next pane", lambda: self.panes.go(1), "F6")
        self._add(menu, "pane-before", "Pane before", lambda: self.panes.go(-1), "Shift+F6")
        menu.addSeparator()
        self.view_menu = menu

    def add_workspace(self, key: str, page: Workspace) -> None:
        """Add a workspace's actions to the View menu; visible while it is in front."""
        self._of_workspace[key] = page.view_actions()
        self.view_menu.addActions(self._of_workspace[key])
        page.offer({name: self.actions[name] for name in ("copy-link", "export")})
        self._show_workspace_actions()

    def _study_menu(self) -> None:
        window = self._window
        menu = window.titles["&Study"]
        self._add(menu, "all", "&All questions", window.show_all, "Alt+Home")
        menu.addSeparator()
        self.study_actions = QActionGroup(window)
        family = ""
        for study in study_infos():
            if study.family != family:
                if family:  # no separator above the first group
                    menu.addSeparator()
                family = study.family
            action = QAction(study.name, self.study_actions, checkable=True)
            action.setData(study.id)
            action.setStatusTip(study.question)
            action.triggered.connect(partial(window.show_study, study.id))
            menu.addAction(action)
        menu.addSeparator()
        menu.addMenu(PresetMenu(window.session, menu))

    def _release_menu(self) -> None:
        menu = self._window.titles["&Release"]
        for key, text, tip in _RELEASE:
            self._add(menu, f"release-{key}", text, partial(self._show_release, key), tip=tip)

    def _show_release(self, key: str) -> None:
        self._window.show_tool("release")
        if self._window.tool is not None:
            self._window.tool.show_part(key)

    def _help_menu(self) -> None:
        self.errata = Errata(self._window)
        self.guide: UserGuide | None = None
        window, keys = self._window, QKeySequence.StandardKey
        menu = window.titles["&Help"]
        self._add(
            menu,
            "guide",
            "&User guide",
            self._show_guide,
            tip="Quick start, map, curves, files, releases, command line, cluster, numbers",
        )
        self._add(
            menu,
            "page",
            "About this &question",
            window.study_page.open_page,
            keys.HelpContents,
            "What is asked, what is assumed, formulas, sources, errata",
        )
        self._add(
            menu,
            "errata",
            "&Errata of the papers",
            self.errata.open,
            tip="What the papers print, what is right and why: the labels like shuf-A4",
        )
        self.checking = SelfTest(window)
        self._add(
            menu,
            "checks",
            "&Checked against…",
            self.checking.open,
            tip="Golden values, "
            "enumerations, brackets and audits that this installation can run, and what passed",
        )
        shown = self._add(menu, "keys", "&Keyboard and mouse", lambda: keys_dialog(window).show())
        shown.setShortcuts([QKeySequence("?"), QKeySequence("Ctrl+F1")])
        self._add(menu, "words", "&Words", lambda: words_dialog(window).show(), tip="ε, δ, EMD, …")
        self._add(menu, "about", "&About Privacy Explorer", lambda: about_dialog(window).show())

    def _show_guide(self) -> None:
        if self.guide is None:
            self.guide = UserGuide(self._window)
        self.guide.open_page()

    def update(self, *_: object) -> None:
        """Update texts and enabled states from the session."""
        session = self._window.session
        answered, why = self._window.current_result is not None, self._window.why_no_export()
        shown = (session.undo_text, session.redo_text, session.state.study, answered, why)
        if shown == self._shown:
            return  # called for every value of a moving slider
        self._shown = shown
        for key, verb, text in (
            ("undo", "&Undo", session.undo_text),
            ("redo", "&Redo", session.redo_text),
        ):
            self.actions[key].setText(f"{verb} {text}".rstrip())
            self.actions[key].setEnabled(bool(text))
        for action in self.study_actions.actions():
            action.setChecked(action.data() == session.state.study)
        for key in _OF_THE_ANSWER:
            self.actions[key].setEnabled(answered and not why)
            self.actions[key].setStatusTip(why)
            self.actions[key].setToolTip(why or self.actions[key].text().replace("&", ""))

    def close(self) -> None:
        """Disconnect from the session."""
        self._window.session.history_changed.disconnect(self.update)
        self._window.session.changed.disconnect(self._state_changed)
        self._window.session_store.recent_changed.disconnect(self._update_recent)
        self.errata.close()
        self.checking.close()
        self.cached.close()
        self.computing.close()
        self.printing.close()

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            self._show_workspace_actions()
        self.update()

    def _show_workspace_actions(self) -> None:
        front = study_info(self._window.session.state.study).workspace
        for key, actions in self._of_workspace.items():
            for action in actions:
                action.setVisible(key == front)

    def _reset_parameters(self) -> None:
        study = get_study(self._window.session.state.study)
        self._window.session.set_values(
            {p.key: p.default for p in study.parameters if not p.axis_only}
        )

    def _update_recent(self) -> None:
        window = self._window
        self.recent.clear()
        for path in window.session_store.recent:
            action = self.recent.addAction(Path(path).name.replace("&", "&&"))
            action.setStatusTip(path)
            action.setToolTip(plain_tip(path))
            action.triggered.connect(partial(window.files.open_any, path))
        if window.session_store.recent:
            self.recent.addSeparator()
            self.recent.addAction("Empty this list", window.session_store.forget_files)
        self.recent.setEnabled(bool(window.session_store.recent))
        self.recent.setToolTipsVisible(True)
