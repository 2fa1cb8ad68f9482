"""Entries of the command palette (Ctrl+K): studies, presets, parameters, commands, terms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from explorer.engine.runtime import typed_value
from explorer.engine.session.link import is_link, recipe_of
from explorer.studies.base.study import Parameter, Preset
from explorer.studies.catalog import SYNONYMS
from explorer.studies.glossary import TERMS
from explorer.studies.registry import get_study, study_info, study_infos
from explorer.ui.dialogs.about import words_dialog
from explorer.ui.dialogs.palette import KEY, Entry, EntryKind, Palette, Source
from explorer.ui.panels.presets import follow_preset

if TYPE_CHECKING:
    from explorer.geography.cities import City
    from explorer.ui.app.context import WindowContext

LEAST_OF_PLACES, MAX_PLACES = 3, 5
"""Letters from which places are looked up, and how many are shown."""
SKIPPED = ("&Presets", "Open recen&t")
"""Menus left out: their entries are found as figures, or are recent files."""


class Finder(QObject):
    """Provides the entries of the command palette, which is built on first use.

    Parameters
    ----------
    window : WindowContext
    """

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.palette: Palette | None = None

    def open(self, typed: str = "") -> None:
        """Open the palette with `typed` in the field."""
        if self.palette is None:
            self.palette = Palette(self._window)
            self.palette.chosen.connect(self._window.session_store.note_found)
            self.palette.direct = self._link
            self.palette.more = self._places
        front = self._window.session.state.study
        studies = sorted((c.id for c in study_infos()), key=lambda study_id: study_id != front)
        sources: list[Source] = [self._at_once]
        sources += [partial(self._of_study, study_id) for study_id in studies]
        self.palette.open_with(sources, self._window.session_store.found, typed)

    def _at_once(self) -> Iterator[Entry]:
        """Yield entries that do not require importing a study."""
        for c in study_infos():
            show = partial(self._window.show_study, c.id)
            words = "; ".join(SYNONYMS.get(c.id, ()))
            yield Entry(
                f"question:{c.id}",
                EntryKind.QUESTION,
                c.name,
                c.question,
                show,
                (c.id,),
                words=words,
            )
        yield from self._commands()
        for term in TERMS.values():
            explain = partial(self._explain, term.key)
            also = (term.key, *term.forms)
            yield Entry(f"word:{term.key}", EntryKind.WORD, term.name, term.means, explain, also)

    def _of_study(self, study_id: str) -> Iterator[Entry]:
        study, title = get_study(study_id), study_info(study_id).name
        near = study_id == self._window.session.state.study
        for item in study.presets:
            yield Entry(
                f"figure:{study_id}/{item.key}",
                EntryKind.FIGURE,
                f"{item.name} · {title}",
                item.about,
                partial(self._follow, study_id, item),
                (item.key,),
                near,
            )
        for p in study.parameters:
            if p.in_panel:
                reach = partial(self._window.show_study, study_id, p.key)
                symbol = f"{p.symbol} · " if p.symbol else ""
                yield Entry(
                    f"parameter:{study_id}/{p.key}",
                    EntryKind.PARAMETER,
                    f"{symbol}{p.name} · {title}",
                    p.help,
                    reach,
                    (p.key, p.name),
                    near,
                    partial(self._assign, study_id, p),
                )

    def _commands(self) -> Iterator[Entry]:
        """Yield the enabled menu commands with menu path and shortcut."""
        for menu in _menus_in(self._window.menuBar()).values():
            if menu.title() not in SKIPPED:
                yield from self._of_menu(menu, "")

    def _of_menu(self, menu: QMenu, above: str) -> Iterator[Entry]:
        path = f"{above}{_plain(menu.title())} ▸ "
        menus = _menus_in(menu)
        for action in menu.actions():
            if (inner := menus.get(action)) is not None:
                if inner.title() not in SKIPPED:
                    yield from self._of_menu(inner, path)
            elif _useful(action):
                yield _command(action, path)

    def _follow(self, study_id: str, item: Preset) -> None:
        self._window.show_study(study_id)
        follow_preset(self._window.session, item)

    def _assign(self, study_id: str, wanted: Parameter, typed: str) -> None:
        value = typed_value(self._window.service.runtime, wanted, typed)
        self._window.show_study(study_id)
        self._window.session.set_value(wanted.key, value)

    def _link(self, typed: str) -> Entry | None:
        """Return an entry that opens a link, if the text is one."""
        if not is_link(typed):
            return None
        asks = "Restore the result of the link; it opens no file"
        return Entry("link", EntryKind.COMMAND, "Open link", asks, lambda: self._follow_link(typed))

    def _places(self, typed: str) -> Iterator[Entry]:
        """Yield the towns that a text of some letters may mean."""
        if len(typed.strip()) < LEAST_OF_PLACES or "=" in typed:
            return
        from explorer.geography.cities import shipped_cities

        for city in shipped_cities().named(typed, MAX_PLACES):
            name = f"{city.name}, {city.country}"
            detail = f"Show this town on the map; {city.population:,} people"
            show = partial(self._show_place, city)
            yield Entry(f"place:{name}", EntryKind.PLACE, name, detail, show)

    def _show_place(self, city: City) -> None:
        window = self._window
        if study_info(window.session.state.study).workspace != "map" or window.tool is not None:
            window.show_study(next(c.id for c in study_infos() if c.workspace == "map"))
        page: Any = window.workspace
        page.show_place(city)

    def _follow_link(self, text: str) -> None:
        recipe_of(text)  # errors are shown in the palette
        self._window.files.open_link(text)

    def _explain(self, key: str) -> None:
        words_dialog(self._window, key).show()


def _menus_in(bar: QWidget) -> dict[QAction, QMenu]:
    """Return the direct submenus of a bar or menu by their actions.

    `QAction.menu` is not used: in Python its menu is deleted with the action's wrapper.
    """
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    menus = {menu.menuAction(): menu for menu in bar.findChildren(QMenu, options=direct)}
    return {action: menus[action] for action in bar.actions() if action in menus}


def _useful(action: QAction) -> bool:
    """Whether an action can be triggered now and is neither the palette itself nor a question."""
    there = action.isVisible() and action.isEnabled() and not action.isSeparator()
    return there and action.shortcut() != KEY and not action.data()


def _command(action: QAction, path: str) -> Entry:
    keys = action.shortcut().toString()
    text = action.statusTip()
    detail = path.removesuffix(" ▸ ") + (f" · {keys}" if keys else "") + (f" · {text}" * bool(text))
    name = _plain(action.text())
    return Entry(f"command:{path}{name}", EntryKind.COMMAND, name, detail, action.trigger)


def _plain(text: str) -> str:
    """Return a menu text without its mnemonic marks."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
