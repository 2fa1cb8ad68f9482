"""Table of the commands, and the menu bar built from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from explorer.studies.registry import study_info, study_infos
from explorer.ui.app.computing import ComputingPreferences
from explorer.ui.app.export_actions import Printing
from explorer.ui.app.finder import Finder
from explorer.ui.app.self_test import SelfTest
from explorer.ui.app.tab_order import FocusAreas
from explorer.ui.app.tour import Tour
from explorer.ui.base import theme as themes
from explorer.ui.base.styled import plain_tip
from explorer.ui.controllers.data_controller import CachedCheckins
from explorer.ui.dialogs.about import Errata, about_dialog, keys_dialog, words_dialog
from explorer.ui.dialogs.help_window import UserGuide
from explorer.ui.dialogs.palette import KEY
from explorer.ui.panels.parameters import reset_parameters
from explorer.ui.panels.presets import PresetMenu

if TYPE_CHECKING:
    from explorer.engine.session.session import SessionState
    from explorer.ui.app.context import WindowContext
    from explorer.ui.app.export_actions import ExportActions
    from explorer.ui.controllers.workspace import Workspace
    from explorer.ui.dialogs.paper_figures import FiguresDialog


_THEME_WORDS = {"system": "Same as the system", "light": "Light", "dark": "Dark"}


@dataclass(frozen=True)
class Command:
    """Entry of a menu. The command palette lists the same entries.

    Attributes
    ----------
    id : str
    text : str
        With the mnemonic.
    run : callable
    keys : tuple of shortcut
        The first one is displayed.
    tip : str
    needs_result : bool
        Enabled only while the current result can be exported.
    about : callable, optional
        Returns the widgets that it is about; the tour points at the first visible one.
    """

    id: str
    text: str
    run: Callable[[], object]
    keys: tuple[QKeySequence.StandardKey | str, ...] = ()
    tip: str = ""
    needs_result: bool = False
    about: Callable[[], tuple[QWidget, ...]] = tuple


SEPARATOR = None
Fill = Callable[[QMenu], None]
"""Adds entries that are known only at run time: recent files, themes, docks, tabs, studies."""


class Menus:
    """Builds the menu bar from the table of commands and updates its entries.

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
        self._of_workspace: dict[str, Workspace] = {}
        self._about: dict[str, Callable[[], tuple[QWidget, ...]]] = {}
        self._menus: dict[str, QMenu] = {}
        self.printing = Printing(window, output)
        self.cached = CachedCheckins(window, window.show_status, window.show_problem)
        self.finder = Finder(window)
        self.computing = ComputingPreferences(window)
        self.panes = FocusAreas(window)
        self.errata = Errata(window)
        self.guide: UserGuide | None = None
        self.paper_figures: FiguresDialog | None = None
        self.checking = SelfTest(window)
        self.tour = Tour(window, self)
        self.view_menu = window.titles["&View"]
        self.study_actions = QActionGroup(window)
        self.needs_result: list[str] = []
        for title, entries in self._commands().items():
            for entry in entries:
                self._add(window.titles[title], entry)
        self._update_recent()
        self.update()
        window.session_store.recent_changed.connect(self._update_recent)
        window.session.history_changed.connect(self.update)
        window.session.changed.connect(self._state_changed)

    def _commands(self) -> dict[str, tuple[Command | Fill | None, ...]]:
        """Return the table of commands: the entries of each menu, in order."""
        window, output, files = self._window, self._output, self._window.files
        keys = QKeySequence.StandardKey
        return {
            "&File": (
                Command(
                    "open", "&Open check-ins…", lambda: files.choose_data(window), (keys.Open,)
                ),
                Command(
                    "open-folder",
                    "Open &folder…",
                    lambda: files.choose_folder(window),
                    tip="Open all check-in files of a folder, and of the folders in it, as one "
                    "data set",
                ),
                Command(
                    "open-mapping",
                    "Open with column &mapping…",
                    lambda: files.choose_data(window, ask=True),
                    ("Ctrl+Alt+O",),
                    "Choose the columns, the delimiter and the text encoding of a file",
                ),
                Command("sample", "Open the &sample", files.open_sample),
                Command(
                    "recipe",
                    "Open &recipe…",
                    lambda: files.choose_recipe(window),
                    ("Ctrl+Shift+O",),
                    "Restore the result that an exported picture or table shows",
                ),
                Command(
                    "link",
                    "Open lin&k…",
                    lambda: files.choose_link(window),
                    tip="Restore the result of a copied link; Ctrl+K accepts a link as well",
                ),
                self._add_recent,
                SEPARATOR,
                Command("export", "&Export…", output.ask, ("Ctrl+E",), needs_result=True),
                Command(
                    "export-all",
                    "E&xport all quantities…",
                    output.ask_all,
                    tip="Export a picture and a table of each quantity at the current settings to "
                    "a folder",
                    needs_result=True,
                ),
                Command("print", "&Print…", self.printing.ask, ("Ctrl+Alt+P",), needs_result=True),
                Command(
                    "copy",
                    "&Copy picture",
                    lambda: output.copy("png"),
                    ("Ctrl+Shift+C",),
                    needs_result=True,
                ),
                Command(
                    "copy-numbers", "Copy &numbers", lambda: output.copy("csv"), needs_result=True
                ),
                SEPARATOR,
                Command(
                    "clear-cache",
                    "Clear cac&hed check-ins…",
                    self.cached.ask,
                    tip="Show how much disk space the cached check-ins take, and delete them after "
                    "confirmation",
                ),
                SEPARATOR,
                Command("close", "&Quit", window.close, ("Ctrl+Q",)),
            ),
            "&Edit": (
                Command("undo", "&Undo", window.session.undo, (keys.Undo,)),
                Command("redo", "&Redo", window.session.redo, ("Ctrl+Shift+Z", "Ctrl+Y")),
                SEPARATOR,
                Command(
                    "copy-link",
                    "Copy lin&k",
                    lambda: output.copy_code("link"),
                    ("Ctrl+Shift+L",),
                    "Copy the question and its settings as a link. The link contains no file name "
                    "or data.",
                    needs_result=True,
                ),
                Command(
                    "copy-line",
                    "Copy as &command line",
                    lambda: output.copy_code("line"),
                    tip="Copy a command that computes the current result",
                    needs_result=True,
                ),
                Command(
                    "copy-python",
                    "Copy as P&ython",
                    lambda: output.copy_code("script"),
                    tip="Copy a Python program that computes the current result",
                    needs_result=True,
                ),
                Command(
                    "copy-reviewer",
                    "Copy for a re&viewer",
                    lambda: output.review("txt"),
                    needs_result=True,
                ),
                Command(
                    "copy-latex",
                    "Copy for a reviewer as &LaTeX",
                    lambda: output.review("tex"),
                    needs_result=True,
                ),
                SEPARATOR,
                Command("reset", "Re&set parameters", partial(reset_parameters, window.session)),
                SEPARATOR,
                Command(
                    "find",
                    "&Find anything…",
                    self.finder.open,
                    (KEY,),
                    "Find a question, figure, parameter, command or term by name; eps0 = 2 sets a "
                    "parameter",
                ),
                SEPARATOR,
                self._add_preferences,
            ),
            "&View": (
                self._add_themes,
                SEPARATOR,
                self._add_docks,
                Command("layout", "Reset &layout", window.reset_layout),
                SEPARATOR,
                lambda menu: menu.addActions(self.panes.tab_actions()),
                Command(
                    "parameters",
                    "Go to the parameters",
                    window.parameters.enter,
                    tip="Focus the first parameter of the question",
                    about=lambda: (window.parameters.first_row,),
                ),
                Command(
                    "guarantee",
                    "Show the guarantee",
                    window.show_guarantee,
                    ("Ctrl+G",),
                    "Who is protected, how well, and under which conditions",
                    about=lambda: window.focus_areas()[-3:],
                ),
                Command("next-pane", "Next pane", lambda: self.panes.go(1), ("F6",)),
                Command("pane-before", "Previous pane", lambda: self.panes.go(-1), ("Shift+F6",)),
                SEPARATOR,
            ),
            "&Study": (
                Command("all", "&All questions", window.show_all, ("Alt+Home",)),
                SEPARATOR,
                self._add_studies,
                SEPARATOR,
                lambda menu: menu.addMenu(PresetMenu(window.session, menu)),
                Command(
                    "paper-figures",
                    "&Figures of the paper…",
                    self._show_figures,
                    tip="Compute the figures of Ghazi et al. (2022) anew, and what the paper says "
                    "of them",
                ),
            ),
            "&Release": (
                self._release_command(
                    "plan", "&Plan…", "Describe a release and see its cost and its expected error"
                ),
                self._release_command(
                    "save",
                    "&Save plan…",
                    "Save the plan as PLAN.json for the command release",
                ),
                self._release_command(
                    "draw", "&Draw…", "Release the planned result after confirmation"
                ),
                self._release_command(
                    "ledger",
                    "&Ledger…",
                    "Show what was spent, what remains, and what repeated releases cost",
                ),
                self._release_command(
                    "attack",
                    "&Attack…",
                    "Show what releases reveal about one person, and audit the mechanisms",
                ),
            ),
            "&Help": (
                Command(
                    "guide",
                    "&User guide",
                    self._show_guide,
                    tip="Quick start, tour, map, curves, files, releases, command line, cluster, "
                    "numbers",
                ),
                Command(
                    "tour",
                    "Tou&r",
                    self.tour.start,
                    tip="Six steps on the synthetic sample, from opening a file to exporting a map",
                ),
                Command(
                    "page",
                    "About this &question",
                    window.study_page.open_page,
                    (keys.HelpContents,),
                    "Question, assumptions, formulas, sources and errata",
                ),
                Command(
                    "errata",
                    "&Errata of the papers",
                    self.errata.open,
                    tip="Errors in the papers and their corrections, with labels such as shuf-A4",
                ),
                Command(
                    "checks",
                    "Self-&test…",
                    self.checking.open,
                    tip="Run the golden values, enumerations and audits that this installation has",
                ),
                Command(
                    "keys",
                    "&Keyboard and mouse",
                    lambda: keys_dialog(window).show(),
                    ("?", "Ctrl+F1"),
                ),
                Command(
                    "words", "&Glossary", lambda: words_dialog(window).show(), tip="ε, δ, EMD, …"
                ),
                Command("about", "&About Privacy Explorer", lambda: about_dialog(window).show()),
            ),
        }

    def _add(self, menu: QMenu, entry: Command | Fill | None) -> None:
        if entry is None:
            menu.addSeparator()
        elif not isinstance(entry, Command):
            entry(menu)
        else:
            action = self.actions[entry.id] = QAction(entry.text, self._window)
            action.triggered.connect(lambda _checked=False: entry.run())
            action.setShortcuts([QKeySequence(key) for key in entry.keys])
            if entry.tip:
                action.setStatusTip(entry.tip)
                action.setToolTip(entry.tip)
            if entry.needs_result:
                self.needs_result.append(entry.id)
            self._about[entry.id], self._menus[entry.id] = entry.about, menu
            menu.addAction(action)

    def _add_recent(self, menu: QMenu) -> None:
        self.recent = menu.addMenu("Open recen&t")

    def _add_preferences(self, menu: QMenu) -> None:
        tip = "Choose where sweeps, experiments and trainings run: this machine or a cluster"
        command = Command("computing", "&Compute…", self.computing.open, tip=tip)
        self._add(menu.addMenu("&Preferences"), command)

    def _add_themes(self, menu: QMenu) -> None:
        themes_menu = menu.addMenu("&Theme")
        group = QActionGroup(self._window)
        for name in themes.CHOICES:
            action = QAction(_THEME_WORDS[name], group, checkable=True)
            action.setChecked(self._window.theme.choice == name)
            action.triggered.connect(partial(self._window.theme.choose, name))
            themes_menu.addAction(action)
            self.actions[f"theme-{name}"] = action

    def _add_docks(self, menu: QMenu) -> None:
        for dock in self._window.docks.values():
            menu.addAction(dock.toggleViewAction())

    def _add_studies(self, menu: QMenu) -> None:
        family = ""
        for study in study_infos():
            if study.family != family:
                if family:  # no separator above the first group
                    menu.addSeparator()
                family = study.family
            action = QAction(study.name, self.study_actions, checkable=True)
            action.setData(study.id)
            action.setStatusTip(study.question)
            action.triggered.connect(partial(self._window.show_study, study.id))
            menu.addAction(action)

    def _release_command(self, part: str, text: str, tip: str) -> Command:
        return Command(f"release-{part}", text, partial(self._show_release, part), tip=tip)

    def _show_release(self, key: str) -> None:
        self._window.show_tool("release")
        if self._window.tool is not None:
            self._window.tool.show_part(key)

    def _show_guide(self) -> None:
        if self.guide is None:
            self.guide = UserGuide(self._window)
        self.guide.open_page()

    def _show_figures(self) -> None:
        if self.paper_figures is None:
            # Loads the experiments, which the start-up does not need.
            from explorer.ui.dialogs.paper_figures import FiguresDialog

            self.paper_figures = FiguresDialog(self._window)
        self.paper_figures.open_page()

    def add_workspace(self, key: str, page: Workspace) -> None:
        """Add a workspace's actions to the View menu; visible while it is in front."""
        self._of_workspace[key] = page
        self.view_menu.addActions(page.view_actions())
        page.offer({name: self.actions[name] for name in ("copy-link", "export")})
        self._show_workspace_actions()

    def action(self, command: str) -> QAction:
        """Return the action of a command, or that of a workspace with this object name.

        Raises
        ------
        StopIteration
            If there is none.
        """
        of_workspaces = (a for page in self._of_workspace.values() for a in page.view_actions())
        return self.actions.get(command) or next(
            action for action in of_workspaces if action.objectName() == command
        )

    def about(self, command: str) -> tuple[QWidget, ...]:
        """Return the widgets that a command is about, if it names any."""
        return self._about.get(command, tuple)()

    def menu_of(self, command: str) -> QMenu:
        """Return the menu that contains a command."""
        return self._menus.get(command, self.view_menu)

    def path_of(self, command: str) -> str:
        """Return the menu path of a command, such as ``File ▸ Export…``."""
        title = self.menu_of(command).title()
        return f"{title} ▸ {self.action(command).text()}".replace("&", "")

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
        for key in self.needs_result:
            self.actions[key].setEnabled(answered and not why)
            self.actions[key].setStatusTip(why)
            self.actions[key].setToolTip(why or self.actions[key].text().replace("&", ""))

    def close(self) -> None:
        """Disconnect from the session."""
        self._window.session.history_changed.disconnect(self.update)
        self._window.session.changed.disconnect(self._state_changed)
        self._window.session_store.recent_changed.disconnect(self._update_recent)
        self.tour.end()
        self.errata.close()
        self.checking.close()
        if self.paper_figures is not None:
            self.paper_figures.end()
        self.cached.close()
        self.computing.close()
        self.printing.close()

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            self._show_workspace_actions()
        self.update()

    def _show_workspace_actions(self) -> None:
        front = study_info(self._window.session.state.study).workspace
        self.actions["paper-figures"].setVisible(front == "map")
        for key, page in self._of_workspace.items():
            for action in page.view_actions():
                action.setVisible(key == front)

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
