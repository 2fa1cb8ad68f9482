"""Saves the session to disk and restores it; one JSON file per window."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from PySide6.QtCore import QLockFile, QObject, QTimer, Signal

from explorer.engine.session.schema import (
    WINDOW_SCHEMA,
    Computing,
    Key,
    KnownAnswers,
    KnownBackground,
    Place,
    SchemaError,
    Visit,
    Window,
    decode,
    plain,
    read,
    read_fields,
    read_list,
)
from explorer.files import write_whole

if TYPE_CHECKING:
    from explorer.checkins.model import Mapping as ColumnMapping, Preview
    from explorer.engine.session.session import Session, SessionState
    from explorer.figures.view_state import ViewState
    from explorer.studies.base.study import Selection
    from explorer.ui.base.jobs import LatestJob


SCHEMA = WINDOW_SCHEMA
FILE_NAME = "window.json"
MAX_BYTES = 5_000_000
MAX_WINDOWS = 50
MAX_BACKGROUNDS_KEPT = 20
OLD_PART_S = 3600.0
"""Age after which a partial file is considered left by a killed process."""


@dataclass(frozen=True)
class Loaded:
    """Result of reading a saved file.

    Attributes
    ----------
    values : Window or None
        None if nothing is stored.
    complaint : str
        Message for the user, if any.
    left_out : list of str
        One sentence for each unreadable part.
    """

    values: Window | None = None
    complaint: str = ""
    left_out: list[str] = field(default_factory=list)


class StateFile:
    """Reads and writes the file of one window; unreadable content is moved aside, never deleted.

    Parameters
    ----------
    folder : Path
        State folder of the user.
    number : int
        The first window's file is ``window.json``, the second's ``window-2.json``.

    Attributes
    ----------
    path : Path
    writable : bool
        Whether `save` writes; false while an unreadable file is in its place.
    """

    def __init__(self, folder: Path, number: int = 1) -> None:
        stem, suffix = FILE_NAME.split(".")
        self.path = folder / (FILE_NAME if number == 1 else f"{stem}-{number}.{suffix}")
        self.number = number
        self.writable = True
        self._lock = QLockFile(str(self.path.with_suffix(".lock")))
        # Held while the window exists; a lock of a dead process is taken over.
        self._lock.setStaleLockTime(0)

    def claim(self) -> bool:
        """Lock the file for this window; False if another window holds it.

        Raises
        ------
        OSError
            If the folder is not writable.
        """
        if self._lock.tryLock(0):
            self._sweep()
            return True
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        folder = self.path.parent
        raise PermissionError(13, "can't be written to", str(folder))

    def release(self) -> None:
        """Release the lock."""
        self._lock.unlock()

    def load(self) -> Loaded:
        """Return the saved state; unreadable parts are skipped and reported."""
        try:
            with self.path.open("rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return Loaded()
        except OSError as error:
            return Loaded(complaint=self.move_aside(f"can't be read ({error.strerror})"))
        try:
            if len(raw) > MAX_BYTES:
                raise SchemaError("it is too large")
            values = decode(raw)
            if not isinstance(values, dict) or not isinstance(values.get("session"), dict):
                raise SchemaError("it is not a session")
        except SchemaError as error:
            return Loaded(complaint=self.move_aside(f"is damaged ({error})"))
        if values.get("schema") != SCHEMA:
            return Loaded(complaint=self.move_aside("is from another version of the program"))
        left_out: list[str] = []
        return Loaded(read_fields(values, Window, "", left_out), left_out=left_out)

    def save(self, values: Mapping[str, Any]) -> None:
        """Write to a temporary file and rename it, so that a crash loses nothing.

        Raises
        ------
        OSError
            If the folder is not writable.
        """
        if self.writable:
            text = json.dumps({"schema": SCHEMA, **values}, indent=1)
            write_whole(self.path, text.encode(), private=True)

    def move_aside(self, why: str) -> str:
        """Rename the file with the date; return a message for the user."""
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        target = self.path.with_name(f"{self.path.stem}-{stamp}.json")
        try:
            self.path.rename(target)
        except OSError as error:
            self.writable = False
            return (
                f"The saved session {self.path} {why} and could not be put aside "
                f"({error.strerror}); it stays as it is, and this session will not be saved."
            )
        return f"The saved session {why}; it was kept as {target}, and a new one was begun."

    def _sweep(self) -> None:
        """Remove partial files of killed processes."""
        with contextlib.suppress(OSError):
            for part in self.path.parent.glob(".*.part"):
                if time.time() - part.stat().st_mtime > OLD_PART_S:
                    os.unlink(part)


def own_file(folder: Path) -> StateFile:
    """Return the first file that no other window holds.

    Raises
    ------
    OSError
        If the folder is not writable.
    """
    for number in range(1, MAX_WINDOWS + 1):
        file = StateFile(folder, number)
        if file.claim():
            return file
    raise OSError(11, f"{MAX_WINDOWS} windows are open already", str(folder))


log = logging.getLogger("explorer")

SAVE_AFTER_MS = 1500
MAX_RECENT = 10
MAX_PARTS = 10_000
MAX_FOLDED = 100
MAX_FOUND = 20
MAX_ANSWERS = 100
MAX_VISITS = 4
MAX_NAME = 500


class SessionStore(QObject):
    """Saves session, window layout, views and recent files.

    Parameters
    ----------
    file : StateFile or None
        None stores nothing (screenshots, tests).

    Signals
    -------
    recent_changed()
    save_failed(Exception)
        Emitted once, when the session cannot be written.
    """

    recent_changed = Signal()
    save_failed = Signal(object)

    def __init__(self, file: StateFile | None) -> None:
        super().__init__()
        self._session: Session | None = None
        self._file = file
        self._window: Any = None
        self._failure_shown = False
        self.complaint = ""
        self._reset()
        self._later = QTimer(self, singleShot=True)
        self._later.setInterval(SAVE_AFTER_MS)
        self._later.timeout.connect(self._save_in_thread)
        self._writing: LatestJob | None = None

    def _reset(self) -> None:
        """Start without a saved state."""
        self._left_out: list[str] = []
        self.values: Window | None = None
        """Content of the file."""
        self.state: SessionState | None = None
        """State of the session, without data."""
        self.views: dict[str, ViewState] = {}
        """Views of the workspaces at the end of the last session."""
        self.folded: list[str] = []
        self.recent: list[str] = []
        self.backgrounds: list[KnownBackground] = []
        """Files that were behind the map, latest first."""
        self.answers: list[KnownAnswers] = []
        """Confirmed answers about check-in files, latest first."""
        self.found: list[str] = []
        """Recent entries of the command palette, latest first."""
        self.visits: list[Visit] = []
        """Recent studies, latest first."""
        self.start_page = True
        """Whether the start page is shown at start."""
        self.data_path: str | None = None
        self.data_more: list[str] = []
        """Further files of a data set of several."""
        self.data_columns: dict[str, Any] = {}
        """How they were read, as `CheckinData.columns`."""
        self.files: dict[str, str] = {}
        """Paths of the files named by parameters, by value."""
        self.selection: Selection | None = None
        """Selection of the last session, until its data are open again."""
        self.computing = Computing()
        """Compute settings."""

    @property
    def restored(self) -> bool:
        """Whether any part of a saved session is in use."""
        return self.values is not None

    def load(self) -> None:
        """Read the saved state, except for the session itself.

        Unreadable content is moved to a file of its own and reported in `complaint`; it never
        prevents the window from starting.
        """
        if self._file is None:
            return
        if self._file.number > 1:
            self.complaint = (
                "Another window of this program is open and keeps its session; this one keeps "
                f"a session of its own, in {self._file.path.name}."
            )
        self._try(self._load)

    def load_session(self) -> None:
        """Read the session, importing its studies; after `load`."""
        if self._file is not None and self.values is not None:
            self._try(self._load_session)

    def _try(self, reads: Callable[[StateFile], None]) -> None:
        assert self._file is not None
        try:
            reads(self._file)
        except Exception as error:  # the window must start in any case
            log.exception("session not loaded")
            self.give_up(error)

    def give_up(self, error: Exception) -> None:
        """Continue without the saved state and keep its file."""
        assert self._file is not None
        self._reset()
        self.complaint = self._file.move_aside(f"can't be followed ({error})")

    def _load(self, file: StateFile) -> None:
        loaded = file.load()
        self._left_out = left_out = loaded.left_out
        self.complaint = loaded.complaint or self.complaint
        if loaded.values is None:
            return
        values = self.values = loaded.values
        self.recent = read_list(values.recent, _place, "recent", left_out, MAX_RECENT)
        self.backgrounds = read_list(
            values.backgrounds, _background, "backgrounds", left_out, MAX_BACKGROUNDS_KEPT
        )
        self.answers = read_list(values.answers, _answers, "answers", left_out, MAX_ANSWERS)
        self.found = read_list(values.found, _key, "found", left_out, MAX_FOUND)
        self.visits = read_list(values.visits, _visit, "visits", left_out, MAX_VISITS)
        self.start_page = values.start_page
        self.folded = read_list(values.folded, _key, "folded", left_out, MAX_FOLDED)
        self.data_path = values.data_path
        if values.data_columns is not UNSET:
            self.data_columns = plain(values.data_columns)
        self.computing = values.computing
        self.data_more = read_list(values.data_more, _place, "data_more", left_out, MAX_PARTS)

    def _load_session(self, file: StateFile) -> None:
        from explorer.engine.session.recipe import view_from_dict
        from explorer.engine.session.session import state_from_dict
        from explorer.figures.view_state import ViewState

        values, left_out = self.values, self._left_out
        assert values is not None
        trouble: list[str] = []
        state = state_from_dict(values.session, trouble)
        left_out += [f"session.{sentence}" for sentence in trouble]
        for key, raw in values.views.items():
            try:
                view = view_from_dict(raw, f"views.{key}", left_out)
            except ValueError as error:
                left_out.append(str(error))
                continue
            try:
                self.views[key] = ViewState.from_dict(view)
            except ValueError as error:
                left_out.append(f"views.{key}.{error}")
        self.files = values.files
        self.files = self._files_of(state)
        self.selection = state.selection
        self.state = replace(state, selection=None)
        if left_out:
            log.warning("left out of the session: %s", "; ".join(left_out))
            more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
            aside = file.move_aside(f"could not be read in full: {left_out[0]}{more}")
            self.complaint = aside.replace(
                "and a new one was begun", "and what could be read was taken over"
            )

    def restore(self, name: str, bring_back: Callable[[bytes], object]) -> None:
        """Restore the window's ``geometry`` or ``layout``, if saved."""
        raw = getattr(self.values, name, "")
        with contextlib.suppress(ValueError):
            if raw:
                bring_back(base64.b64decode(raw, validate=True))

    def follow(self, window: Any) -> None:
        """Restore a window and save after each change from now on."""
        from explorer.ui.base.jobs import LatestJob

        self._window, self._session = window, window.session
        # Encoding and writing take 7 to 24 ms: too long during a drag.
        self._writing = LatestJob("saving the session", self)
        self._writing.failed.connect(lambda _, error: self._not_saved(error))
        self.restore("layout", window.restore_layout)
        window.parameters.fold(self.folded)
        for key in window.workspaces:
            self._restore_view(key)
        self._session.forget_steps()
        self._session.changed.connect(self._changed)

    def page_built(self, key: str) -> None:
        """Restore the view of a workspace that is built after `follow`.

        Not for the study that was current then.
        """
        if self._window is not None and not self._window.workspaces[key].view_of_question:
            self._restore_view(key)

    def _restore_view(self, key: str) -> None:
        if key in self.views:
            try:
                self._window.workspaces[key].restore_view(self.views[key])
            except Exception:  # an unsuitable view must not prevent the window
                log.exception("view of %s not restored", key)

    def note_file(self, path: str | Path) -> None:
        """Put a file first in the recent files."""
        path = str(Path(path).resolve())
        self.recent = [path, *(p for p in self.recent if p != path)][:MAX_RECENT]
        self.recent_changed.emit()
        self._changed()

    def note_backgrounds(self, known: Sequence[KnownBackground]) -> None:
        """Store the files that were behind the map, latest first."""
        self.backgrounds = list(known)
        self._changed()

    def recall(self, preview: Preview) -> tuple[str, dict[str, Any], list[str]] | None:
        """Return the answers for files of the header and format of a preview.

        Returns
        -------
        tuple of str, dict and list of str, or None
            The file that they were confirmed for, the fields of its mapping, and hashes of the
            questions that were asked.
        """
        like = _likeness(preview)
        known = next((one for one in self.answers if one.like == like), None)
        return None if known is None else (known.file, plain(known.columns), known.asked)

    def remember(
        self, preview: Preview, mapping: ColumnMapping | None, asked: Sequence[str]
    ) -> None:
        """Keep the answers to what was asked for files of this header and format.

        None forgets them.
        """
        like = _likeness(preview)
        self.answers = [one for one in self.answers if one.like != like]
        if mapping is not None:
            raw = {k: v for k, v in mapping.stored().items() if v is not None}
            # An answer that is too long to be stored is not kept.
            with contextlib.suppress(SchemaError):
                known = {"like": like, "file": preview.basename[:MAX_NAME], "columns": raw}
                known["asked"] = [*asked]
                self.answers = [_answers(known, "answers"), *self.answers][:MAX_ANSWERS]
        self._changed()

    def note_visit(self, visit: Visit) -> None:
        """Put a study first in the recent studies."""
        others = (v for v in self.visits if v.study != visit.study)
        self.visits = [visit, *others][:MAX_VISITS]

    def set_start_page(self, shown: bool) -> None:
        """Store whether the start page is shown at start."""
        self.start_page = shown
        self._changed()

    def note_found(self, key: str) -> None:
        """Put an entry first in the recent palette entries."""
        self.found = [key, *(k for k in self.found if k != key)][:MAX_FOUND]
        self._changed()

    @property
    def data_source(self) -> tuple[Path, ...]:
        """Files of the last data set."""
        first = () if self.data_path is None else (self.data_path,)
        return tuple(map(Path, (*first, *self.data_more)))

    def note_data(self, paths: Sequence[Path], columns: Mapping[str, Any]) -> None:
        """Store the source of the open data set, or none."""
        self.data_columns = dict(columns) if paths else {}
        places = [str(path.resolve()) for path in paths]
        self.data_path, self.data_more = places[0] if places else None, places[1:]
        if len(places) == 1:  # one of several would be opened alone
            self.note_file(places[0])

    def note_columns(self, columns: Mapping[str, Any]) -> None:
        """Store how the open data set is read."""
        if self.data_path is not None:
            self.data_columns = dict(columns)
            self._changed()

    def forget_files(self) -> None:
        """Clear the list of recent files."""
        self.recent = []
        self.recent_changed.emit()
        self._changed()

    def set_computing(self, computing: Computing) -> None:
        """Store the compute settings."""
        self.computing = computing
        self._changed()

    def close(self) -> None:
        """Save a last time and stop."""
        self._later.stop()
        if self._writing is not None:
            self._writing.close()
        if self._window is not None and self._session is not None:
            self.save()
            self._session.changed.disconnect(self._changed)
            self._window = None
        if self._file is not None:
            self._file.release()

    def save(self) -> None:
        """Write now; emit `save_failed` once on failure."""
        if self._file is None or self._window is None:
            return
        try:
            self._file.save(self._everything())
        except OSError as error:
            self._not_saved(error)

    def _save_in_thread(self) -> None:
        """Write the present state in a thread."""
        if self._file is not None and self._writing is not None and self._window is not None:
            file, values = self._file, self._everything()
            self._writing.submit(None, lambda _: file.save(values))

    def _everything(self) -> dict[str, Any]:
        assert self._session is not None
        from explorer.engine.session.session import state_to_dict

        window, state = self._window, self._session.state
        return {
            "session": state_to_dict(state),
            "data_path": self.data_path,
            "data_more": list(self.data_more),
            **({"data_columns": self.data_columns} if self.data_columns else {}),
            "files": self._files_of(state),
            "recent": list(self.recent),
            "backgrounds": [plain(known) for known in self.backgrounds],
            "answers": [plain(known) for known in self.answers],
            "found": list(self.found),
            "visits": [plain(visit) for visit in window.start.visits()],
            "start_page": self.start_page,
            "theme": window.theme.choice,
            "geometry": _text(window.saveGeometry().data()),
            "layout": _text(window.saved_layout()),
            "computing": plain(self.computing),
            "folded": sorted(window.parameters.folded),
            "views": {key: view.to_dict() for key, view in self._views().items()},
        }

    def _views(self) -> dict[str, ViewState]:
        """Return the view of each workspace that shows a result."""
        pages = {} if self._window is None else self._window.workspaces
        return self.views | {
            key: page.view_state()
            for key, page in pages.items()
            if not page.view_of_question or page.current_result is not None
        }

    def _not_saved(self, error: Exception) -> None:
        log.warning("session not saved: %s", error)
        if not self._failure_shown:
            self._failure_shown = True
            self.save_failed.emit(error)

    def _files_of(self, state: SessionState) -> dict[str, str]:
        """Return the paths of files that a state's parameters name, also of the last session."""
        opened = self._window.service.runtime.files() if self._window is not None else {}
        known = self.files | {value: str(path) for value, path in opened.items()}
        requests = [
            *state.requests.values(),
            *(pin.request for pin in state.pins),
            *(entry.request for entry in state.comparison),
        ]
        values = (v for request in requests for _, v in request.values if isinstance(v, str))
        # As `files_of`, whose module would be imported before the start page is painted.
        named = {part for value in values for part in (value, *value.split("/"))}
        named |= {view.picture for view in self._views().values() if view.picture}
        return {value: path for value, path in known.items() if value in named}

    def _changed(self, *_: object) -> None:
        if self._window is not None and not self._later.isActive():
            self._later.start()


def _place(raw: object, where: str) -> str:
    return read(raw, Place, where)


def _likeness(preview: Preview) -> str:
    """Return a hash of header and format of a file."""
    dialect = preview.dialect
    what = [dialect.format, dialect.delimiter, dialect.layer, *preview.columns]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _answers(raw: object, where: str) -> KnownAnswers:
    return read(raw, KnownAnswers, where)


def _background(raw: object, where: str) -> KnownBackground:
    return read(raw, KnownBackground, where)


def _visit(raw: object, where: str) -> Visit:
    return read(raw, Visit, where)


def _key(raw: object, where: str) -> str:
    return read(raw, Key, where)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
