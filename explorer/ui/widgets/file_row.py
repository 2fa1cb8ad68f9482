"""A row for a parameter that is a file or a folder."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QSignalBlocker, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
)

from explorer.studies.base.study import Parameter, Value
from explorer.ui.base.styled import styled_label
from explorer.ui.widgets.parameter_row import ParameterRow, label_of


class FileRow(ParameterRow):
    """The file's name, a button to open one, another to do without; files can be dropped on it.

    It knows nothing of paths but the one just chosen: `chosen` hands that on, and once the file is
    read whoever listens sets the parameter, or says with `show_error` why not.

    Signals
    -------
    chosen(Path)
    """

    chosen = Signal(object)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.folder = ""
        self._value = ""
        what = "folder" if self.wants_folder else "file"
        self.label = label_of(parameter)
        self.field = QLineEdit(readOnly=True)
        self.field.setPlaceholderText(f"no {what}")
        self.field.setAccessibleName(f"{parameter.name}, name of the {what}")
        self.open_button = QPushButton("Open…")
        self.open_button.setAccessibleName(f"Open {parameter.name}")
        self.open_button.setToolTip(f"Choose a {what} ({self.kinds}), or drop it here")
        self.clear_button = QPushButton("Clear")
        self.clear_button.setAccessibleName(f"Clear {parameter.name}")
        self.clear_button.setToolTip(f"Do without a {what}")
        self.error = styled_label("notes", word_wrap=True)
        self.error.hide()
        self.label.setBuddy(self.field)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(6)
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.clear_button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 8)
        layout.setSpacing(3)
        layout.addWidget(self.label)
        layout.addWidget(self.field)
        layout.addLayout(buttons)
        layout.addWidget(self.error)
        self.setAcceptDrops(True)
        self.field.setAcceptDrops(False)  # what is dropped there is dropped on the row
        self.open_button.clicked.connect(self.choose)
        self.clear_button.clicked.connect(lambda: self.edited.emit("", False))

    @property
    def wants_folder(self) -> bool:
        """Whether a folder is asked for."""
        return not self.parameter.suffixes

    @property
    def kinds(self) -> str:
        """What may be chosen, in words."""
        return "a folder of files" if self.wants_folder else " ".join(self.parameter.suffixes)

    def choose(self) -> None:
        """Ask for a file or folder."""
        if self.wants_folder:
            path = QFileDialog.getExistingDirectory(
                self, f"Open {self.parameter.name}", self.folder
            )
        else:
            patterns = " ".join(f"*{suffix}" for suffix in self.parameter.suffixes)
            path, _ = QFileDialog.getOpenFileName(
                self,
                f"Open {self.parameter.name}",
                self.folder,
                f"{self.parameter.name[:1].upper()}{self.parameter.name[1:]} ({patterns});;"
                "All files (*)",
            )
        if path:
            self.take(Path(path))

    def take(self, path: Path) -> None:
        """Hand on a chosen file if it is of the right kind, else say why not."""
        if self.wants_folder and not path.is_dir():
            self.show_error(f"{path.name} is not a folder; choose the folder that holds the files.")
        elif not self.wants_folder and path.is_dir():
            self.show_error(f"{path.name} is a folder; choose a file ({self.kinds}).")
        else:
            self.folder = str(path.parent)
            self.show_busy(path.name)
            self.chosen.emit(path)

    def show_busy(self, name: str) -> None:
        """Show that a file is being read."""
        self.error.hide()
        self.field.setText(f"reading {name} …")
        self.open_button.setEnabled(False)

    def show_value(self, value: Value) -> None:
        """Show a value without emitting anything."""
        if value != self._value:
            self.error.hide()
        self._value = str(value)
        name, _, digest = self._value.rpartition("#")
        with QSignalBlocker(self.field):
            self.field.setText(name)
        self.field.setCursorPosition(0)
        self.field.setToolTip(f"sha256 {digest}" if name else "")
        self.clear_button.setEnabled(bool(name))
        self.open_button.setEnabled(True)

    def show_error(self, why: str) -> None:
        """Show why a file was refused; the one before stays."""
        self.show_value(self._value)
        self.error.setText(why)
        self.error.show()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept one file or folder."""
        if len(_paths(event.mimeData())) == 1:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take what is dropped."""
        paths = _paths(event.mimeData())
        if len(paths) == 1:
            event.acceptProposedAction()
            self.take(Path(paths[0]))


def _paths(mime: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
