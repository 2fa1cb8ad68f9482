"""Export dialog with preview, and the save dialog for tables and pictures."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.animation_frames import (
    FRAMES,
    MAX_FRAMES,
    OF_TIME,
    Animation,
    Over,
    running,
)
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import (
    MM_PER_INCH,
    PAPER_SIZES_MM,
    PARTS,
    ExportFormat,
    Kind,
    by_suffix,
    of_kind,
)
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result
from explorer.ui.base.jobs import LatestJob, Task
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox

MIN_DPI = 30


class ExportPreview(QLabel):
    """Renders the newest job as it will be exported, at the size of the widget.

    Parameters
    ----------
    worker : LatestJob
        Renders in a thread; outlives this widget.
    """

    def __init__(self, worker: LatestJob) -> None:
        super().__init__("drawing…", textFormat=Qt.TextFormat.PlainText)
        self._worker = worker
        self._job: ExportJob | None = None
        self.setAccessibleName("Preview")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(380, 240)
        worker.done.connect(self._show)
        worker.failed.connect(self._say_why)

    def show_job(self, job: ExportJob) -> None:
        """Render a job soon, or state that its format is not a picture."""
        self._job = job
        if job.format.kind is Kind.NUMBERS:
            self._worker.cancel()
            self.setText(f"{job.format.name} holds numbers: nothing is drawn.")
            return
        ratio = self.devicePixelRatioF()
        wide, high = job.size_px
        share = min(self.width() * ratio / wide, self.height() * ratio / high, 1.0)
        share = max(share, MIN_DPI / job.dpi, 100 / min(wide, high))
        small = replace(
            job,
            format=by_suffix("png"),
            path=None,
            size_px=(max(round(wide * share), 100), max(round(high * share), 100)),
            dpi=max(job.dpi * share, MIN_DPI),
        )
        self._worker.submit(self, partial(_draw, small))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Render again at the new size."""
        super().resizeEvent(event)
        if self._job is not None:
            self.show_job(self._job)

    @Slot(object, object)
    def _show(self, key: object, content: bytes) -> None:
        if key is self:
            picture = QPixmap()
            picture.loadFromData(QByteArray(content))
            ratio = self.devicePixelRatioF()
            fitting = picture.scaled(
                self.size() * ratio,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            shown = picture if picture.width() <= fitting.width() else fitting
            shown.setDevicePixelRatio(ratio)
            self.setPixmap(shown)
            self.setAccessibleDescription(f"{picture.width()} × {picture.height()} dots")

    @Slot(object, object)
    def _say_why(self, key: object, error: Exception) -> None:
        if key is self:
            self.setText(f"{error}.")


def _draw(job: ExportJob, task: Task) -> bytes:
    task.check()
    return render(job)


PRESETS: tuple[tuple[str, str, tuple[float, float, str, int] | None], ...] = (
    ("screen", "Screen, 1600 × 1000 px", (1600, 1000, "px", 150)),
    ("slide", "Slide, 1920 × 1080 px", (1920, 1080, "px", 180)),
    ("column", "Paper column, 88 × 62 mm", (*PAPER_SIZES_MM["column"], "mm", 600)),
    ("page", "Paper width, 180 × 110 mm", (*PAPER_SIZES_MM["page"], "mm", 600)),
    ("custom", "Another size", None),
)
CURATOR_ONLY = (
    "The true map is computed from real data without accounting. Keep such a file to yourself."
)

PRIVATE_ONLY = (
    "Without the true map the file holds no count, file name, fingerprint or noise seed, and shows "
    "the whole region wherever the window is zoomed to."
)
MANY_FRAMES = (
    "{frames} frames together are far less private than one: their ε add up. Don't publish them of "
    "real check-ins."
)
OF_MAPS_TIP = (
    "Draws: further draws of the noise.\nTime: the time range of the Data panel, or all times "
    "there are, in as many windows as there are frames."
)
OPEN_RANGE = (
    "The time range is that of the check-ins, which tells of them: choose one in the Data panel."
)
ANIMATED = (
    (Over.DRAWS, "draws of the noise"),
    (Over.MOVING, "time, window after window"),
    (Over.CUMULATIVE, "time, from the beginning on"),
)
NO_PLACE = (
    "It does not say where the map lies, as the region was found from the check-ins or drawn over "
    "them: type its four edges in the Data panel to draw the map on its place."
)


class ExportDialog(QDialog):
    """Asks for format, size, theme and file; shows a preview and the recipe.

    Parameters
    ----------
    result : Result
    view : ViewState
        View in the window.
    make_recipe : callable
        Converts a view to the recipe as JSON values.
    folder : str
        Start path of the file dialog.
    drawer : LatestJob
        Renders the preview.
    complete_job : callable
        Adds further parts of the window to a job (the background picture).
    times : (str or None, str or None)
        Times of the first and last check-in; None without times.

    Signals
    -------
    chosen(ExportJob, Animation)
    """

    chosen = Signal(object, object)

    def __init__(
        self,
        result: Result,
        view: ViewState,
        make_recipe: Callable[[ViewState], dict[str, Any]],
        folder: str,
        drawer: LatestJob,
        complete_job: Callable[[ExportJob], ExportJob],
        parent: QWidget | None = None,
        times: tuple[str | None, str | None] = (None, None),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self._times = times
        self._result, self._view = result, view
        self._make_recipe, self._folder = make_recipe, folder
        self._complete_job = complete_job
        self.preview = ExportPreview(drawer)
        self._build()
        self._take_preset()
        self._update()

    def _build(self) -> None:
        self.format = ChoiceBox("Format")
        self._running = running(self._result)
        forms = of_kind(maps=bool(self._result.surfaces))
        self.first_map_study = bool(self._result.surfaces)
        forms += of_kind(Kind.ANIMATION, maps=True) * (
            bool(self._running) and not self.first_map_study
        )
        offered = [(f.suffix, f.label) for f in forms]
        self.format.offer(offered, offered[0][0])
        self.preset = ChoiceBox("Size")
        self.preset.offer([(key, words) for key, words, _ in PRESETS], "screen")
        self.width_box, self.height_box = (QDoubleSpinBox(decimals=0) for _ in range(2))
        self.unit = ChoiceBox("Unit")
        self.unit.offer([("px", "px"), ("mm", "mm")], "px")
        self.unit.setMinimumContentsLength(3)
        for length, name in ((self.width_box, "Width"), (self.height_box, "Height")):
            length.setRange(10, 20000)
            length.setAccessibleName(name)
        self.dpi = QSpinBox(minimum=30, maximum=1200, value=150, suffix=" dpi")
        self.dpi.setAccessibleName("Dots per inch")
        for box in (self.width_box, self.height_box, self.dpi):
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)  # arrow keys step through it too
        self.animate = ChoiceBox("Animate")
        known, of_maps = None not in self._times, self.first_map_study or not self._running
        shown = [row for row in ANIMATED if of_maps and (known or row[0] is Over.DRAWS)]
        offered = [(over.value, words) for over, words in shown]
        offered += [(p.key, f"{p.symbol} {p.name}".strip()) for p in self._running]
        tip = "A parameter runs over its range in 6 s, every frame computed in full."
        self.animate.setToolTip(f"{OF_MAPS_TIP}\n{tip}" if self.first_map_study else tip)
        self.animate.offer(offered, offered[0][0])
        self.frames = QSpinBox(minimum=2, maximum=MAX_FRAMES, value=FRAMES, suffix=" frames")
        self.frames.setAccessibleName("Number of frames")
        self.frames.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.theme = ChoiceBox("Theme")
        self.theme.offer([("light", "Light"), ("dark", "Dark")], self._view.theme)
        secret = [s.key for s in self._result.surfaces if s.curator_only]
        words = "the true map" if secret in ([], ["true"]) else ", ".join(secret)
        self.true_map = CheckBox(f"Include {words} (curator only)", self)
        self.true_map.setToolTip(CURATOR_ONLY)
        self._has_true = any(s.curator_only for s in self._result.surfaces)
        self.true_map.setVisible(self._has_true)
        self.parts = {key: CheckBox(words, self) for key, words in PARTS.items()}
        for key, tick in self.parts.items():
            tick.setChecked(key not in self._view.left_out)
        self.parts["legend"].setVisible(not self._result.surfaces)
        self.note = styled_label("notes", word_wrap=True)
        self.recipe = QPlainTextEdit(readOnly=True)
        self.recipe.setAccessibleName("Recipe")
        self.recipe.setFixedHeight(100)
        size = QHBoxLayout()
        for widget, share in (
            (self.width_box, 1),
            (plain_label("×"), 0),
            (self.height_box, 1),
            (self.unit, 1),
            (self.dpi, 1),
        ):
            size.addWidget(widget, share)
        form = QFormLayout()
        form.addRow("Format", self.format)
        form.addRow("Size", self.preset)
        form.addRow("", size)
        form.addRow("Theme", self.theme)
        around = QVBoxLayout()
        around.setSpacing(4)
        for tick in self.parts.values():
            around.addWidget(tick)
        form.addRow("Include", around)
        animated = QHBoxLayout()
        animated.addWidget(self.animate, 2)
        animated.addWidget(self.frames, 1)
        form.addRow("Animate", animated)
        form.setRowVisible(animated, self.first_map_study or bool(self._running))
        if self._has_true:
            form.addRow("", self.true_map)
        self._size_widgets = (self.preset, self.width_box, self.height_box, self.unit, self.dpi)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.save = self.buttons.addButton("Export…", QDialogButtonBox.ButtonRole.AcceptRole)
        self.save.setDefault(True)
        choices = QVBoxLayout()
        choices.addLayout(form)
        choices.addWidget(self.note)
        choices.addStretch(1)
        seen = QVBoxLayout()
        seen.addWidget(self.preview, 1)
        seen.addWidget(styled_label("heading", "Recipe, written inside the file"))
        seen.addWidget(self.recipe)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addLayout(choices, 2)
        columns.addLayout(seen, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(10)
        layout.addLayout(columns, 1)
        layout.addWidget(self.buttons)
        self.resize(920, 560)
        self._frame_widgets = (self.animate, self.frames)
        order = (
            self.format,
            *self._size_widgets,
            self.theme,
            *self.parts.values(),
            *self._frame_widgets,
            self.true_map,
            self.recipe,
        )
        for before, after in pairwise(order):
            self.setTabOrder(before, after)
        self.format.currentIndexChanged.connect(self._update)
        self.theme.currentIndexChanged.connect(self._update)
        self.animate.currentIndexChanged.connect(self._update)
        self.frames.valueChanged.connect(self._update)
        for tick in (self.true_map, *self.parts.values()):
            tick.toggled.connect(self._update)
        self.preset.currentIndexChanged.connect(self._take_preset)
        for box in (self.width_box, self.height_box, self.dpi):
            box.valueChanged.connect(self._size_edited)
        self.unit.currentIndexChanged.connect(self._size_edited)
        self.buttons.rejected.connect(self.reject)
        self.save.clicked.connect(self._ask_path)

    def job(self, path: Path | None = None) -> ExportJob:
        """Return the export job for the present choices.

        Raises
        ------
        ValueError
            If the view contains nothing that may be exported.
        """
        view = self.view()
        return ExportJob(
            self._result,
            view,
            self._make_recipe(view),
            self.chosen_format,
            path,
            self.size_px(),
            float(self.dpi.value()),
        )

    def animation(self) -> Animation:
        """Return the frames of an animation for the present choices."""
        over, frames = self.animate.currentData(), self.frames.value()
        if over in [p.key for p in self._running]:
            return Animation(Over.PARAMETER, frames, key=over)
        return Animation(Over(over), frames, *self._times)

    @property
    def chosen_format(self) -> ExportFormat:
        """Selected format."""
        return by_suffix(self.format.currentData())

    def view(self) -> ViewState:
        """Return the view with the dialog's changes."""
        return replace(
            public_view(self._result, self._view, self.true_map.isChecked()),
            theme=self.theme.currentData(),
            left_out=tuple(key for key, tick in self.parts.items() if not tick.isChecked()),
        )

    def size_px(self) -> tuple[int, int]:
        """Return the size of the picture in pixels."""
        per = self.dpi.value() / MM_PER_INCH if self.unit.currentData() == "mm" else 1.0
        return round(self.width_box.value() * per), round(self.height_box.value() * per)

    def _take_preset(self) -> None:
        selected = next(size for key, _, size in PRESETS if key == self.preset.currentData())
        if selected is None:
            return
        for box, value in zip((self.width_box, self.height_box), selected[:2], strict=True):
            with QSignalBlocker(box):
                box.setValue(value)
        with QSignalBlocker(self.unit):
            self.unit.setCurrentIndex(self.unit.findData(selected[2]))
        with QSignalBlocker(self.dpi):
            self.dpi.setValue(selected[3])
        self._preview()

    def _size_edited(self) -> None:
        self.preset.setCurrentIndex(self.preset.findData("custom"))
        self._preview()

    def _preview(self) -> None:
        """Render what would be written now, if permitted."""
        try:
            self.preview.show_job(self._complete_job(self.job()))
        except ValueError as error:
            self.preview.setText(f"{error}.")

    def _update(self) -> None:
        picture = self.chosen_format.kind is not Kind.NUMBERS
        for widget in (*self._size_widgets, self.theme, *self.parts.values()):
            widget.setEnabled(picture)
        text = self._result.stamp
        if self._has_true:
            text = CURATOR_ONLY if self.true_map.isChecked() else self._private_words()
        animated = self.chosen_format.kind is Kind.ANIMATION
        for widget in self._frame_widgets:
            widget.setEnabled(animated)
        if animated and self.first_map_study:
            text = " ".join((text, MANY_FRAMES.format(frames=self.frames.value()), *self._open()))
        if not self._result.final:
            text = " ".join(filter(None, (text, "This answer is still being refined.")))
        refused, recipe = self.chosen_format.missing, ""
        try:
            recipe = json.dumps(self._make_recipe(self.view()), indent=1)
        except ValueError as error:
            refused = refused or f"{error}."
        self.note.setText(refused or text)
        self.note.setVisible(bool(refused or text))
        self.recipe.setPlainText(recipe)
        self.save.setEnabled(not refused)
        self._preview()

    def _open(self) -> list[str]:
        """Return the note on a time sweep without a chosen range."""
        selection = self._result.request.selection
        selected = selection is not None and None not in (selection.start, selection.end)
        of_time = self.animation().over in OF_TIME
        return [OPEN_RANGE] if of_time and not selected else []

    def _private_words(self) -> str:
        """Return the note on a file without the true map."""
        selection = self._result.request.selection
        text = selection is None or selection.region_origin.may_be_told
        return " ".join((f"{self._result.stamp}.", PRIVATE_ONLY, *([] if text else [NO_PLACE])))

    def _ask_path(self) -> None:
        form = self.chosen_format
        ending = f".{form.suffix}"
        start = str(Path(self._folder) / f"{self._result.request.study}{ending}")
        path, _ = QFileDialog.getSaveFileName(self, "Export to", start, form.filter)
        if path:
            selected = Path(path)
            if selected.suffix.lower() != ending:
                selected = selected.with_name(selected.name + ending)
            self.chosen.emit(self.job(selected), self.animation())
            self.accept()


def public_view(result: Result, view: ViewState, with_true: bool = False) -> ViewState:
    """Return a view without curator-only parts, unless they are requested."""
    allowed = tuple(s.key for s in result.surfaces if with_true or not s.curator_only)
    return replace(view, surfaces=allowed)


def ask_for_file(parent: QWidget, title: str, start: Path, kind: Kind) -> Path | None:
    """Ask for a file with the suffix of one of the formats; None if cancelled.

    A name without such a suffix gets that of the selected filter; `start` has none.
    """
    offered = of_kind(kind)
    filters = ";;".join(form.filter for form in offered)
    begin = f"{start}.{offered[0].suffix}"
    selected, taken = QFileDialog.getSaveFileName(parent, title, begin, filters)
    if not selected:
        return None
    path = Path(selected)
    if path.suffix.lower() in [f".{form.suffix}" for form in offered]:
        return path
    form = next((f for f in offered if f.filter == taken), offered[0])
    return path.with_name(f"{path.name}.{form.suffix}")
