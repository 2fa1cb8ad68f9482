"""Keeps the session on disk and brings it back: never lose what somebody set up."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.engine.session import Session, SessionState, state_from_dict, state_to_dict
from explorer.figures.view_state import ViewState
from explorer.studies.model import Selection
from explorer.ui.controllers.latest_job import LatestJob
from explorer.ui.saved_state import StateFile

log = logging.getLogger("explorer")

SAVE_AFTER_MS = 1500
MOST_RECENT = 10


class SessionKeeper(QObject):
    """Remembers the session, the windows' layout, views and recent files.

    Parameters
    ----------
    file : StateFile or None
        None remembers nothing (screenshots, tests of other things).

    Signals
    -------
    recent_changed()
    save_failed(Exception)
        Once, when the session can't be written.
    """

    recent_changed = Signal()
    save_failed = Signal(object)

    def __init__(self, file: StateFile | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session: Session | None = None
        self._file = file
        self._window: Any = None
        self._told = False
        self.complaint = ""
        self.values: Mapping[str, Any] = {}
        self.recent: list[str] = []
        self.data_path: str | None = None
        self.files: dict[str, str] = {}
        """Where the files were that the last session's parameters name, by their value."""
        self.selection: Selection | None = None
        """The part of the data chosen last time, until those data are open again."""
        self._later = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._later.timeout.connect(self._save_beside)
        # Encoding and the disk take 7 to 24 ms: too long for a slider that is being dragged.
        self._writing = LatestJob("saving the session", self)
        self._writing.failed.connect(lambda _, error: self._not_saved(error))

    def load(self) -> SessionState | None:
        """Read what was remembered and return the session's state, still without data.

        What can't be read is put aside and `complaint` says so.
        """
        if self._file is None:
            return None
        loaded = self._file.load()
        self.complaint, self.values = loaded.complaint, loaded.values
        self.recent = [str(p) for p in _list(self.values.get("recent"))][:MOST_RECENT]
        path = self.values.get("data_path")
        self.data_path = path if isinstance(path, str) and Path(path).is_file() else None
        if "session" not in self.values:
            return None
        try:
            state = state_from_dict(self.values["session"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self.complaint = f"The last session could not be followed: {error}."
            return None
        known = self.values.get("files")
        if isinstance(known, dict):
            self.files = {value: path for value, path in known.items() if isinstance(path, str)}
            self.files = self._files_of(state)
        self.selection = state.selection
        return replace(state, selection=None)

    def follow(self, window: Any) -> None:
        """Bring a window back to how it was, and save whenever something changes from now on."""
        self._window, self._session = window, window.session
        for name, restore in (
            ("geometry", window.restoreGeometry),
            ("layout", window.restore_layout),
        ):
            raw = self.values.get(name)
            if isinstance(raw, str):
                try:
                    restore(base64.b64decode(raw, validate=True))
                except ValueError:
                    continue
        window.parameters.fold(str(group) for group in _list(self.values.get("folded")))
        for key in window.workspaces:
            self._restore_view(key)
        self._session.forget_steps()
        self._session.changed.connect(self._changed)

    def page_made(self, key: str) -> None:
        """Restore the view of a workspace that is made after `follow`.

        Not that of the plot: it was of the question that was in front then.
        """
        if self._window is not None and key != "bounds":
            self._restore_view(key)

    def _restore_view(self, key: str) -> None:
        if key in self._views:
            try:
                view = ViewState.from_dict(self._views[key])
                self._window.workspaces[key].apply_view_state(view)
            except (ValueError, TypeError, AttributeError) as error:
                log.warning("view of %s not restored: %s", key, error)

    @property
    def _views(self) -> dict[str, Any]:
        """How workspaces were looked at when the last session ended."""
        views = self.values.get("views")
        return views if isinstance(views, dict) else {}

    def note_file(self, path: str | Path) -> None:
        """Put a file at the top of the recent ones."""
        path = str(Path(path).resolve())
        self.recent = [path, *(p for p in self.recent if p != path)][:MOST_RECENT]
        self.recent_changed.emit()
        self._changed()

    def forget_files(self) -> None:
        """Empty the list of recent files."""
        self.recent = []
        self.recent_changed.emit()
        self._changed()

    def close(self) -> None:
        """Save a last time and stop."""
        self._later.stop()
        self._writing.close()
        if self._window is not None:
            self.save()
            self._session.changed.disconnect(self._changed)
            self._window = None

    def save(self) -> None:
        """Write everything now; if that fails, `save_failed` says so once."""
        if self._file is None or self._window is None:
            return
        try:
            self._file.save(self._everything())
        except OSError as error:
            self._not_saved(error)

    def _save_beside(self) -> None:
        """Write everything as it is now, in a thread."""
        if self._file is not None and self._window is not None:
            file, values = self._file, self._everything()
            self._writing.submit(None, lambda: file.save(values))

    def _everything(self) -> dict[str, Any]:
        window, state = self._window, self._session.state
        return {
            "session": state_to_dict(state),
            "data_path": self.data_path,
            "files": self._files_of(state),
            "recent": list(self.recent),
            "theme": window.theme.choice,
            "geometry": _text(window.saveGeometry().data()),
            "layout": _text(window.saved_layout()),
            "folded": sorted(window.parameters.folded),
            "views": self._views
            | {k: w.view_state().to_dict() for k, w in window.workspaces.items()},
        }

    def _not_saved(self, error: Exception) -> None:
        log.warning("session not saved: %s", error)
        if not self._told:
            self._told = True
            self.save_failed.emit(error)

    def _files_of(self, state: SessionState) -> dict[str, str]:
        """Return where the files are, or were last time, that a state's parameters name."""
        opened = self._window.host.files() if self._window is not None else {}
        known = self.files | {value: str(path) for value, path in opened.items()}
        asked = [
            *state.requests.values(),
            *(pin.request for pin in state.pins),
            *(entry.request for entry in state.comparison),
        ]
        named = {v for request in asked for _, v in request.values}
        return {value: path for value, path in known.items() if value in named}

    def _changed(self, *_: object) -> None:
        if self._window is not None and not self._later.isActive():
            self._later.start()


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
