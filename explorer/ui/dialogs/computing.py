"""Where work runs: on this machine, in processes of a small cluster here, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.executors.cluster import CERTIFICATES, LOCAL, MAX_LOCAL, Cluster
from explorer.ui.base.errors import explain
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.check_box import CheckBox

HERE, PROCESSES, CLUSTER = range(3)
WIDTH = 560
INTRODUCTION = (
    "Which ε?, experiments, sweeps, trainings and simulations can run elsewhere. What a slider "
    "waits for is computed on this machine."
)
FAR = "Check-ins, and what is counted of them, may go to this address"
OTHERWISE = "Otherwise what needs them is computed on this machine"
MEMORY = (
    "More rows than it holds are sorted on the disk first. Otherwise a quarter of what is free is "
    "used, at most 8 GB."
)
LEAST_MB, MOST_MB = 500, 1_000_000


class ComputingDialog(QDialog):
    """Asks for a cluster; whoever listens tries it and says with `show_state` what came of it.

    Parameters
    ----------
    cluster : Cluster or None
        That in use.
    data_to : sequence of str
        Addresses to which check-ins may go.
    memory_mb : int
        That opening check-ins may use; 0 for a share of what is free.
    parent : QWidget

    Signals
    -------
    tested(object), chosen(object)
        A Cluster, or None for this machine alone.
    """

    tested = Signal(object)
    chosen = Signal(object)

    def __init__(
        self, cluster: Cluster | None, data_to: Sequence[str], memory_mb: int, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences: Compute")
        self.setMinimumWidth(WIDTH)
        self._data_to = set(data_to)
        processes = cluster.processes if cluster is not None else None
        self.places = QButtonGroup(self)
        self.processes = QSpinBox(minimum=1, maximum=MAX_LOCAL)
        self.processes.setValue(processes or max(1, (os.cpu_count() or 2) - 1))
        self.processes.setAccessibleName("Worker processes")
        self.address = _line("Address of the cluster", "tls://HOST:8786 or tcp://127.0.0.1:8786")
        self.certificates = _line("Folder of certificates", ", ".join(CERTIFICATES))
        self.shared = _line("Shared folder", "seen by all machines under the same name")
        self.send_data = CheckBox(FAR)
        self.send_data.setToolTip(OTHERWISE)
        self.limited = CheckBox("&Memory for opening check-ins, at most")
        self.limited.setToolTip(MEMORY)
        self.memory = QSpinBox(minimum=LEAST_MB, maximum=MOST_MB, singleStep=LEAST_MB, suffix=" MB")
        self.memory.setValue(memory_mb or 2000)
        self.memory.setAccessibleName("Memory for opening check-ins, at most")
        self.memory.setToolTip(MEMORY)
        self.memory.setEnabled(bool(memory_mb))
        self.limited.setChecked(bool(memory_mb))
        self.limited.toggled.connect(self.memory.setEnabled)
        self.state = styled_label("notes", word_wrap=True)
        self.state.setMinimumHeight(3 * self.fontMetrics().lineSpacing())

        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(INTRODUCTION, word_wrap=True))
        layout.addWidget(self._place(HERE, "&This machine"))
        row = QHBoxLayout()
        row.addWidget(self._place(PROCESSES, "&Dask worker processes on this machine:"))
        row.addWidget(self.processes)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(self._place(CLUSTER, "A Dask &cluster:"))
        self.fields = QWidget()
        form = QFormLayout(self.fields)
        form.setContentsMargins(24, 0, 0, 0)
        form.addRow("&Address", self.address)
        form.addRow("C&ertificates", self._with_button(self.certificates))
        form.addRow("&Shared folder", self._with_button(self.shared))
        form.addRow(self.send_data)
        layout.addWidget(self.fields)
        row = QHBoxLayout()
        row.addWidget(self.limited)
        row.addWidget(self.memory)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(self.state)
        self.test = QPushButton("&Test connection")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.buttons.addButton(self.test, QDialogButtonBox.ButtonRole.ActionRole)
        layout.addWidget(self.buttons)

        if cluster is not None and processes is None:
            self.address.setText(cluster.address)
            self.certificates.setText(cluster.certificates)
            self.shared.setText(cluster.shared_folder)
        place = HERE if cluster is None else CLUSTER if processes is None else PROCESSES
        self.places.button(place).setChecked(True)
        self.places.idToggled.connect(self._update)
        self.address.textChanged.connect(self._address_changed)
        self.test.clicked.connect(lambda: self._hand_on(self.tested.emit))
        self.buttons.accepted.connect(lambda: self._hand_on(self.chosen.emit))
        self.buttons.rejected.connect(self.reject)
        self._address_changed()
        self._update()

    def cluster(self) -> Cluster | None:
        """Return what the fields say; raises ValueError as `Cluster`."""
        place = self.places.checkedId()
        if place == HERE:
            return None
        if place == PROCESSES:
            return Cluster(f"{LOCAL}{self.processes.value()}")
        address = self.address.text().strip()
        found = Cluster(address, self.certificates.text().strip(), self.shared.text().strip())
        return found if found.here else replace(found, send_data=self.send_data.isChecked())

    def memory_mb(self) -> int:
        """Return how much memory opening check-ins may use; 0 for a share of what is free."""
        return self.memory.value() if self.limited.isChecked() else 0

    def show_state(self, text: str, *, busy: bool = False) -> None:
        """Say what a cluster has, or why it can't be used; while busy nothing else is asked."""
        self.state.setText(text)
        self.test.setEnabled(not busy)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not busy)

    def _hand_on(self, emit: Callable[[Cluster | None], None]) -> None:
        try:
            cluster = self.cluster()
        except ValueError as error:
            self.show_state(explain(error, "cluster").sentence)
            return
        emit(cluster)

    def _place(self, number: int, text: str) -> QRadioButton:
        button = QRadioButton(text)
        self.places.addButton(button, number)
        return button

    def _with_button(self, line: QLineEdit) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(line)
        button = QPushButton("Choose…")
        button.setAccessibleName(f"Choose: {line.accessibleName()}")
        button.clicked.connect(lambda: self._choose(line))
        layout.addWidget(button)
        return row

    def _choose(self, line: QLineEdit) -> None:
        folder = QFileDialog.getExistingDirectory(self, line.accessibleName(), line.text())
        if folder:
            line.setText(folder)

    def _update(self, *_: object) -> None:
        self.processes.setEnabled(self.places.checkedId() == PROCESSES)
        self.fields.setEnabled(self.places.checkedId() == CLUSTER)

    def _address_changed(self, *_: object) -> None:
        """Ask anew for every address."""
        address = self.address.text().strip()
        self.send_data.setChecked(address in self._data_to)
        self.send_data.setEnabled(address.startswith("tls://"))


def _line(name: str, hint: str) -> QLineEdit:
    line = QLineEdit()
    line.setAccessibleName(name)
    line.setPlaceholderText(hint)
    return line
