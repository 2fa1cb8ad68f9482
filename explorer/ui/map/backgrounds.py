"""Files behind the map: opened and drawn by a worker process, listed with credit; planes' pictures.

The panes show one picture, drawn for the view with a margin when the camera has come to rest; until
then the last picture moves with the map. Nothing of it runs on the interface's thread but painting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QImage, QPalette, QPixmap
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.bounded import call
from explorer.engine.runtime import FileNotOpenError, file_value
from explorer.engine.service import StudyService
from explorer.engine.session.schema import KnownBackground
from explorer.figures.pages.backdrop import MAX_BYTES, BackgroundFile, pixels_of
from explorer.figures.view_state import MAX_BACKGROUNDS
from explorer.files import read_bounded
from explorer.geography.background import (
    KINDS,
    MAX_PIXELS,
    MEMORY,
    SUFFIXES,
    Background,
    describe,
    draw,
    is_dark,
)
from explorer.geography.region import Box
from explorer.geography.vectors import Ink
from explorer.ui.base.errors import Banner, Problem, explain
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label, plain_tip, styled_label, tool_button
from explorer.ui.widgets.boxes import CheckBox
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel
from explorer.ui.widgets.number_slider import AccessibleSlider

REST_MS = 60
"""Time without movement of the camera before the picture is drawn anew."""
MARGIN = 0.25
"""Part of the view that is drawn beyond each side, so that panning shows it at once."""
MAX_RECENT = 8
SOURCE = "background"


def unchanged(known: KnownBackground) -> bool:
    """Return whether a file is there with the size and time of change it had."""
    try:
        status = Path(known.path).stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (known.size, known.changed)


@dataclass(frozen=True)
class Listed:
    """An entry of the list of backgrounds.

    Attributes
    ----------
    value : str
        Name and sha256.
    path : str
        Empty while the file is not open.
    about : Background or None
    shown : bool
    """

    value: str
    path: str = ""
    about: Background | None = None
    shown: bool = True

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.value.rpartition("#")[0]

    @property
    def credit(self) -> str:
        """Attribution of the file; its name where it has none."""
        return self.about.credit or self.name if self.about is not None else ""


@dataclass(frozen=True)
class _Opened:
    entries: tuple[tuple[Listed, KnownBackground], ...]
    errors: tuple[Exception, ...]
    missing: tuple[str, ...]


def _open(
    paths: Sequence[str], awaited: Sequence[str], known: Sequence[KnownBackground], task: Task
) -> _Opened:
    """Describe and identify files, and look for awaited ones where they were last."""
    entries: list[tuple[Listed, KnownBackground]] = []
    errors: list[Exception] = []
    missing = []
    wanted = list(paths)
    for value in awaited:
        place = next((k.path for k in known if k.value == value and unchanged(k)), None)
        wanted += [place] if place is not None else []
        missing += [value] if place is None else []
    for path in wanted:
        try:
            about = call(
                describe, path, name=Path(path).name, memory=MEMORY, cancelled=task.cancelled
            )
            status = Path(path).stat()
            size, changed = status.st_size, status.st_mtime_ns
            same = (k.value for k in known if (k.path, k.size, k.changed) == (path, size, changed))
            value = next(same, "") or file_value(Path(path), task.check)
        except (OSError, ValueError) as error:
            errors.append(error)
            continue
        entries.append((Listed(value, path, about), KnownBackground(path, value, size, changed)))
    return _Opened(tuple(entries), tuple(errors), tuple(missing))


@dataclass(frozen=True)
class Picture:
    """A drawn background.

    Attributes
    ----------
    dark : bool
        Whether it is dark on average, on the map's ground.
    pixmap : QPixmap
    box : Box
    """

    pixmap: QPixmap
    box: Box
    dark: bool


@dataclass(frozen=True)
class _Wanted:
    """A picture to draw; `ratio` is the number of its pixels to a point of the screen."""

    paths: tuple[str, ...]
    box: Box
    columns: int
    rows: int
    ink: Ink
    ratio: float
    ground: tuple[int, int, int]


@dataclass(frozen=True)
class _Drawn:
    image: QImage
    dark: bool
    notes: tuple[str, ...]


def _draw(wanted: _Wanted, task: Task) -> _Drawn:
    """Draw a picture, row 0 north; runs in a thread."""
    drawing = call(
        draw,
        wanted.paths,
        wanted.box,
        wanted.columns,
        wanted.rows,
        wanted.ink,
        name=", ".join(Path(path).name for path in wanted.paths),
        memory=MEMORY,
        cancelled=task.cancelled,
    )
    flipped = drawing.pixels[::-1].tobytes()
    form = QImage.Format.Format_RGBA8888_Premultiplied
    image = QImage(flipped, wanted.columns, wanted.rows, 4 * wanted.columns, form)
    image = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    return _Drawn(image, is_dark(drawing.pixels, wanted.ground), drawing.notes)


class Backgrounds(QObject):
    """List of the files behind the map, and their picture for the view.

    Signals
    -------
    changed()
        The list, what is shown, or the opacity of heatmaps.
    drawn(object)
        A `Picture`, or None without any.
    known_changed()
        The files opened before.
    """

    changed = Signal()
    drawn = Signal(object)
    known_changed = Signal()

    def __init__(self, banner: Banner, parent: QObject) -> None:
        super().__init__(parent)
        self._banner = banner
        self.listed: tuple[Listed, ...] = ()
        """From the lowest to the uppermost."""
        self.known: tuple[KnownBackground, ...] = ()
        """Files opened before, the latest first."""
        self.opacity = 0.75
        """Of heatmaps in front of a background, 0 to 1."""
        self.ink = Ink()
        self._ratio = 1.0
        self._ground = (255, 255, 255)
        self._on_earth = True
        self._view: tuple[Box, float, float] | None = None
        self._shown: object = None
        self._opening: tuple[str, ...] = ()
        self._awaiting: tuple[str, ...] = ()
        self._rest = QTimer(self, singleShot=True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._request)
        self._opener = LatestJob("opening a background", self)
        self._opener.done.connect(self._opened)
        self._opener.failed.connect(lambda _, error: self._report(error))
        self._drawer = LatestJob("drawing the background", self)
        self._drawer.done.connect(self._receive)
        self._drawer.failed.connect(lambda _, error: self._report(error))

    # The list --------------------------------------------------------------------------------

    @property
    def values(self) -> tuple[str, ...]:
        """Names and sha256 of the files shown, as in `ViewState.backgrounds`."""
        return tuple(entry.value for entry in self.listed if entry.shown)

    @property
    def active(self) -> bool:
        """Whether a background is behind the map."""
        return self._on_earth and any(entry.shown and entry.path for entry in self.listed)

    @property
    def credits(self) -> tuple[str, ...]:
        """Attributions of the files shown."""
        found = (entry.credit for entry in self.listed if entry.shown and entry.path)
        return tuple(dict.fromkeys(filter(None, found)))

    def files(self, values: Sequence[str]) -> tuple[BackgroundFile, ...]:
        """Return what an export draws of a view's backgrounds."""
        return tuple(
            BackgroundFile(entry.path, entry.name, entry.credit)
            for value in values
            for entry in self.listed
            if entry.value == value and entry.path
        )

    def open(self, paths: Sequence[str | Path]) -> None:
        """Open files and show them above the others."""
        self._opening += tuple(str(Path(path).absolute()) for path in paths)
        self._submit()

    def restore(self, values: Sequence[str], opacity: float) -> None:
        """Show the backgrounds of a view; those that are not open are looked for."""
        self.opacity = opacity
        if tuple(values) == self.values:
            self.changed.emit()
            return
        there = {entry.value: entry for entry in self.listed}
        self.listed = tuple(replace(there.get(v, Listed(v)), shown=True) for v in values)
        self._awaiting = tuple(entry.value for entry in self.listed if not entry.path)
        self._follow()
        if self._awaiting:
            self._submit()

    def _submit(self) -> None:
        paths, awaited, known = self._opening, self._awaiting, self.known
        self._opener.submit(paths, lambda task: _open(paths, awaited, known, task))

    def _opened(self, _paths: object, result: _Opened) -> None:
        self._opening = self._awaiting = ()
        for entry, known in result.entries:
            kept = tuple(k for k in self.known if k.path != known.path)
            self.known = (known, *kept)[:MAX_RECENT]
            there = [old.value for old in self.listed]
            if entry.value in there:
                place = there.index(entry.value)
                self.listed = (*self.listed[:place], entry, *self.listed[place + 1 :])
            elif len(self.listed) < MAX_BACKGROUNDS:
                # Lines stay above pictures, which would cover them.
                over = [e for e in self.listed if e.about and e.about.kind == "lines and areas"]
                under = [e for e in self.listed if e not in over]
                lines = entry.about is not None and entry.about.kind == "lines and areas"
                self.listed = (*under, *over, entry) if lines else (*under, entry, *over)
            else:
                full = f"{MAX_BACKGROUNDS} backgrounds are open; remove one before adding another"
                self._report(ValueError(full))
        self._banner.settled(SOURCE)
        for error in result.errors:
            self._report(error)
        if result.missing:
            name = result.missing[0].rpartition("#")[0]
            self._banner.show_problem(
                Problem(
                    SOURCE,
                    f"{name} was moved or changed. Choose it again.",
                    remedy="Choose…",
                    do=self.choose,
                )
            )
        if result.entries:
            self.known_changed.emit()
        self._follow()

    def choose(self) -> None:
        """Ask for files and open them."""
        parent = self.parent()
        folder = str(Path(self.known[0].path).parent) if self.known else str(Path.home())
        kinds = f"Backgrounds ({' '.join('*' + s for s in SUFFIXES)});;All files (*)"
        widget = parent if isinstance(parent, QWidget) else None
        names, _ = QFileDialog.getOpenFileNames(widget, "Open background", folder, kinds)
        if names:
            self.open(names)

    def set_shown(self, value: str, shown: bool) -> None:
        """Show or hide a file."""
        self.listed = tuple(replace(e, shown=shown) if e.value == value else e for e in self.listed)
        self._follow()

    def remove(self, value: str) -> None:
        """Take a file off the list."""
        self.listed = tuple(entry for entry in self.listed if entry.value != value)
        self._follow()

    def clear(self) -> None:
        """Take all files off the list."""
        self.listed = ()
        self._follow()

    def set_opacity(self, opacity: float) -> None:
        """Set the opacity of heatmaps in front of a background, 0 to 1."""
        if opacity != self.opacity:
            self.opacity = opacity
            self.changed.emit()

    def _follow(self) -> None:
        self.changed.emit()
        self._shown = None
        if self.active:
            self._request()
        else:
            self._drawer.cancel()
            self.drawn.emit(None)

    def _report(self, error: Exception) -> None:
        self._banner.show_problem(explain(error, SOURCE))

    # The picture -----------------------------------------------------------------------------

    def set_view(self, box: Box, width: float, height: float) -> None:
        """Follow the camera; sizes in pixels."""
        self._view = (box, width, height)
        if self.active:
            self._rest.start()

    def set_device(self, ratio: float, ink: Ink, ground: tuple[int, int, int]) -> None:
        """Set the pixels to a point of the screen, the colour of lines, and the map's ground."""
        if (ratio, ink, ground) != (self._ratio, self.ink, self._ground):
            self._ratio, self.ink, self._ground = ratio, ink, ground
            if self.active:
                self._request()

    def set_on_earth(self, on_earth: bool) -> None:
        """Draw nothing for planes other than the Earth."""
        if on_earth != self._on_earth:
            self._on_earth = on_earth
            self._follow()

    def close(self) -> None:
        """Stop and wait for the threads."""
        self._rest.stop()
        self._opener.close()
        self._drawer.close()

    def _request(self) -> None:
        self._rest.stop()
        if self._view is None or not self.active:
            return
        (south, west, north, east), width, height = self._view
        margin_x, margin_y = round(MARGIN * width), round(MARGIN * height)
        across, up = (east - west) / max(width, 1), (north - south) / max(height, 1)
        box = (
            south - margin_y * up,
            west - margin_x * across,
            north + margin_y * up,
            east + margin_x * across,
        )
        ratio = self._ratio
        columns = max(1, round((width + 2 * margin_x) * ratio))
        rows = max(1, round((height + 2 * margin_y) * ratio))
        if columns * rows > MAX_PIXELS:
            less = (MAX_PIXELS / (columns * rows)) ** 0.5
            columns, rows = max(1, int(columns * less)), max(1, int(rows * less))
            ratio *= less
        paths = tuple(entry.path for entry in self.listed if entry.shown and entry.path)
        ink = replace(self.ink, width=self.ink.width * ratio)
        key = _Wanted(paths, box, columns, rows, ink, ratio, self._ground)
        if key != self._shown:
            self._shown = key
            self._drawer.submit(key, lambda task: _draw(key, task))

    def _receive(self, key: _Wanted, answer: _Drawn) -> None:
        if not self.active:
            return
        pixmap = QPixmap.fromImage(answer.image)
        pixmap.setDevicePixelRatio(key.ratio)
        self.drawn.emit(Picture(pixmap, key.box, answer.dark))
        if answer.notes:
            self._banner.show_problem(Problem(SOURCE, f"{answer.notes[0]}."))
        else:
            self._banner.settled(SOURCE)


BUILT_IN = "Built-in outline"
LONGEST_NAME = 18
"""Characters of a name; longer ones are cut in the middle."""
CARD_MARGINS = (14, 6, 14, 6)
"""Inside the card, in pixels: left, top, right, bottom."""


class BackgroundMenu:
    """Menu with the built-in outline, open and recent files, and no background.

    Parameters
    ----------
    backgrounds : Backgrounds
    owner : QWidget
    outline : callable
        Returns whether the built-in outline is shown.
    set_outline : callable
        Shows or hides it.
    """

    def __init__(
        self,
        backgrounds: Backgrounds,
        owner: QWidget,
        outline: Callable[[], bool],
        set_outline: Callable[[bool], None],
    ) -> None:
        self._backgrounds, self._outline, self._set_outline = backgrounds, outline, set_outline
        self.menu = QMenu("Background", owner)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Fill the menu."""
        menu, backgrounds = self.menu, self._backgrounds
        menu.clear()
        none = menu.addAction("&None")
        none.triggered.connect(self._none)
        outline = menu.addAction(f"&{BUILT_IN}")
        outline.setCheckable(True)
        outline.setChecked(self._outline())
        outline.triggered.connect(lambda checked: self._set_outline(checked))
        for entry in backgrounds.listed:
            action = menu.addAction(entry.name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(entry.shown)
            action.setEnabled(bool(entry.path))
            action.triggered.connect(partial(backgrounds.set_shown, entry.value))
        menu.addSeparator()
        menu.addAction("&Open file…").triggered.connect(lambda *_: backgrounds.choose())
        there = {entry.path for entry in backgrounds.listed}
        for known in backgrounds.known:
            if known.path not in there:
                action = menu.addAction(Path(known.path).name.replace("&", "&&"))
                action.setToolTip(plain_tip(known.path))
                action.triggered.connect(lambda *_, path=known.path: backgrounds.open([path]))

    def _none(self) -> None:
        self._backgrounds.clear()
        self._set_outline(False)


class _Opacity(AccessibleSlider):
    """Slider in per cent."""

    def accessible_text(self) -> str:
        """Return the opacity in per cent."""
        return f"{self.value()} %"


class BackgroundBar(QFrame):
    """Card with the built-in outline, open backgrounds, and opacity of heatmaps before them.

    Parameters
    ----------
    backgrounds : Backgrounds
    outline : QAction
        Shows the built-in outline.

    Attributes
    ----------
    credit : FixedSizeLabel
        Who is credited, to be placed below the maps.
    """

    def __init__(self, backgrounds: Backgrounds, outline: QAction) -> None:
        super().__init__()
        self._backgrounds = backgrounds
        self.setObjectName("card")
        self.setAccessibleName("Background")
        self.outline = CheckBox(BUILT_IN)
        self.outline.setToolTip(outline.toolTip())
        self.outline.setChecked(outline.isChecked())
        self.outline.toggled.connect(outline.setChecked)
        outline.toggled.connect(self.outline.setChecked)
        outline.changed.connect(lambda: self.outline.setEnabled(outline.isEnabled()))
        self.ticks: dict[str, CheckBox] = {}
        self._files = QHBoxLayout()
        self._files.setSpacing(12)
        self._files.addWidget(self.outline)
        self.add = tool_button(
            "Add…", f"Open another background: {KINDS}", "Add a background", link=True
        )
        self.add.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.add.clicked.connect(backgrounds.choose)
        self._opacity_name = plain_label("Heatmap opacity")
        self.slider = _Opacity(Qt.Orientation.Horizontal)
        self.slider.setRange(0, 100)
        self.slider.setPageStep(10)
        self.slider.setMinimumWidth(90)
        self.slider.setAccessibleName("Heatmap opacity in percent")
        self.slider.valueChanged.connect(lambda percent: backgrounds.set_opacity(percent / 100))
        self.percent = plain_label("100 %")
        self.percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.percent.setFixedWidth(self.percent.sizeHint().width() + 2)
        head, files, opacity = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        head.addWidget(styled_label("card-title", "Background"))
        head.addStretch(1)
        head.addWidget(self.add)
        files.addLayout(self._files)
        files.addStretch(1)
        opacity.setSpacing(8)
        for widget in (self._opacity_name, self.slider, self.percent):
            opacity.addWidget(widget)
        self.credit = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.credit.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.credit.setAccessibleDescription("Who is credited for the background")
        box = QVBoxLayout(self)
        box.setContentsMargins(*CARD_MARGINS)
        box.setSpacing(2)
        for row in (head, files, opacity):
            box.addLayout(row)
        box.addStretch(1)
        backgrounds.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        backgrounds = self._backgrounds
        for value in [v for v in self.ticks if v not in {e.value for e in backgrounds.listed}]:
            self.ticks.pop(value).deleteLater()
        for entry in backgrounds.listed:
            tick = self.ticks.get(entry.value)
            if tick is None:
                tick = self.ticks[entry.value] = self._tick(entry)
            tick.setChecked(entry.shown)
            tick.setEnabled(bool(entry.path))
            detail = f"{entry.about.kind}, {entry.about.detail}" if entry.about else "not open"
            tick.setToolTip(plain_tip(f"{entry.name}: {detail}\nDelete takes it off the list."))
            tick.setAccessibleName(f"Show the background {entry.name}")
        self.slider.setValue(round(100 * backgrounds.opacity))
        self.percent.setText(f"{round(100 * backgrounds.opacity)} %")
        credit = ", ".join(backgrounds.credits)
        self.credit.setText(credit)
        self.credit.setToolTip(plain_tip(credit))
        self.outline.setVisible(not backgrounds.listed)
        for widget in (self._opacity_name, self.slider, self.percent):
            widget.setEnabled(bool(backgrounds.listed))

    def _tick(self, entry: Listed) -> CheckBox:
        name = entry.name
        if len(name) > LONGEST_NAME:
            name = f"{name[: LONGEST_NAME - 9]}…{name[-8:]}"
        tick = CheckBox(name.replace("&", "&&"))
        tick.toggled.connect(partial(self._backgrounds.set_shown, entry.value))
        remove = tick.addAction("Take off the list")
        remove.setShortcut(Qt.Key.Key_Delete)
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(lambda *_: self._backgrounds.remove(entry.value))
        tick.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        # Many names are cut at their ends; whole in the tool tip.
        tick.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        tick.setMinimumWidth(24)
        self._files.addWidget(tick)
        return tick


def ink_for(palette: QPalette) -> Ink:
    """Return the ink of lines and areas for a palette."""
    dark = palette.color(QPalette.ColorRole.Window).lightness() < 128
    return Ink((176, 184, 196), 1.0) if dark else Ink((90, 98, 112), 1.0)


class Backdrop(QObject):
    """Reads the picture of a plane in a thread and identifies it by name and content.

    Signals
    -------
    changed()
        Emitted when the picture changed or was removed.
    """

    changed = Signal()
    _added = Signal(str, object)

    def __init__(self, service: StudyService, banner: Banner, parent: QObject) -> None:
        super().__init__(parent)
        self._service, self._banner = service, banner
        self.value = ""
        """Name and sha256 of the picture, as in `ViewState.picture`; empty for none."""
        self.data = b""
        self.pixels: np.ndarray | None = None
        self.awaited = ""
        """Name and sha256 of a picture whose file is not open yet."""
        self._added.connect(self._open_awaited)
        service.runtime.file_listeners.append(self._added.emit)  # in any thread
        self._job = LatestJob("reading a picture", self)
        self._job.done.connect(self._read)
        self._job.failed.connect(self._failed)

    @property
    def name(self) -> str:
        """Name of the picture's file, also if it is not open."""
        name = (self.value or self.awaited).rpartition("#")[0]
        return f"{name} (not open)" if self.awaited else name

    def open(self, path: Path) -> None:
        """Read a picture file and show it."""
        service = self._service

        def work(task: Task) -> tuple[str, bytes, np.ndarray]:
            data = read_bounded(path, MAX_BYTES)
            pixels = pixels_of(data, path.name)
            return service.add_file(path, task.check), data, pixels

        self._job.submit(path, work)

    def restore(self, value: str) -> None:
        """Show the picture of a view state when its file is open; an empty name removes it."""
        if value == self.value:
            return
        self.clear()
        if not value:
            return
        try:
            self.open(self._service.runtime.file(value))
        except FileNotOpenError:
            self.awaited = value
            self.changed.emit()

    def _open_awaited(self, value: str, path: Path) -> None:
        if value == self.awaited:
            self.open(path)

    def clear(self) -> None:
        """Remove the picture."""
        self._job.cancel()
        if self.value or self.awaited:
            self.awaited = ""
            self.value, self.data, self.pixels = "", b"", None
            self.changed.emit()

    def close(self) -> None:
        """Stop and wait for the thread."""
        self._service.runtime.file_listeners.remove(self._added.emit)
        self._job.close()

    def _read(self, _path: object, content: tuple[str, bytes, np.ndarray]) -> None:
        self.value, self.data, self.pixels = content
        self.awaited = ""
        self._banner.settled("picture")
        self.changed.emit()

    def _failed(self, _path: object, error: Exception) -> None:
        self._banner.show_problem(explain(error, "picture"))
