"""Menus that add, change and close map panes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from explorer.engine.session.session import Session
from explorer.studies.heatmap.panes import (
    DIFFERENCE,
    ERROR,
    MOST,
    PRIVATE,
    TRUE,
    beside as named,
    pane_keys,
    surface_key,
)
from explorer.studies.registry import get_study

BESIDE, MECHANISM = "beside", "mechanism"
WITHOUT_TRUTH = "Hide the true map"


class PaneChooser:
    """Edits the parameter ``beside`` of the heatmap study; each change is one undo step.

    Parameters
    ----------
    session : Session
    study : callable
        Returns the id of the current map study. Studies without the parameter have two panes.
    """

    def __init__(self, session: Session, study: Callable[[], str]) -> None:
        self._session, self._study = session, study

    def choices(self, key: str = BESIDE) -> dict[str, str]:
        """Return values and labels of a parameter of the study."""
        parameters = get_study(self._study()).parameters
        return next((dict(p.choices) for p in parameters if p.key == key), {})

    def _value(self, key: str) -> str:
        return str(dict(self._session.state.request_of(self._study()).values).get(key, TRUE))

    @property
    def names(self) -> tuple[str, ...]:
        """Surfaces shown beside the private map."""
        return named(self._value(BESIDE))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the surfaces shown, in the order of the panes."""
        return pane_keys(self._value(BESIDE))

    @property
    def full(self) -> bool:
        """Whether the maximum number is reached."""
        return len(self.names) >= MOST or not self.choices()

    def show(self, name: str, shown: bool = True) -> None:
        """Add a surface, or remove it."""
        if shown != (name in self.names):
            rest = [n for n in self.names if n != name]
            self._set((*rest, name) if shown else rest)

    def replace(self, old: str, new: str) -> None:
        """Show another surface in a pane."""
        self._set([new if name == old else name for name in self.names])

    def _set(self, names: tuple[str, ...] | list[str]) -> None:
        self._session.set_value(BESIDE, ",".join(names), self._study())

    def _offered(self) -> list[tuple[str, str]]:
        """Return the surfaces that are not shown."""
        shown = (*self.names, self._value(MECHANISM))
        return [(name, label) for name, label in self.choices().items() if name not in shown]

    def fill_add(self, menu: QMenu) -> None:
        """Fill the menu of surfaces to add."""
        menu.clear()
        for name, label in self._offered():
            self._entry(menu, name, label, partial(self.show, name))

    def fill_pane(self, key: str, menu: QMenu) -> None:
        """Fill the menu of a pane: other surfaces, and close."""
        menu.clear()
        if key == PRIVATE:
            now = self._value(MECHANISM)
            for name, label in self.choices(MECHANISM).items():
                self._entry(menu, name, label, partial(self._choose, name), name == now)
            return
        old = next((name for name in self.names if surface_key(name) == key), "")
        if old != TRUE:
            self._entry(menu, old, self.choices().get(old, old), lambda: None, True)
            for name, label in self._offered():
                self._entry(menu, name, label, partial(self.replace, old, name))
            menu.addSeparator()
        words = WITHOUT_TRUTH if old == TRUE else "Close this map"
        menu.addAction(words).triggered.connect(lambda: self.show(old, False))

    def _choose(self, mechanism: str) -> None:
        self._session.set_value(MECHANISM, mechanism, self._study())

    def _entry(
        self, menu: QMenu, name: str, label: str, do: Callable[[], None], now: bool | None = None
    ) -> None:
        if name in (DIFFERENCE, TRUE) and menu.actions():
            menu.addSeparator()  # surfaces of true data form a group of their own
        action = menu.addAction(label)
        action.setToolTip("Curator only" if name in (TRUE, DIFFERENCE, ERROR) else "")
        action.setCheckable(now is not None)
        action.setChecked(bool(now))
        action.triggered.connect(lambda *_: do())
