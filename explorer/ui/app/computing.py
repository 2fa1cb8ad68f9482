"""Preferences ▸ Compute: dialog and settings for local processes and clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
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
from explorer.engine.runtime import try_cluster
from explorer.engine.session.schema import Computing
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.boxes import CheckBox

if TYPE_CHECKING:
    from explorer.ui.app.context import WindowContext


HERE, PROCESSES, CLUSTER = range(3)
WIDTH = 560
INTRODUCTION = (
    "Utility, experiments, sweeps, trainings and simulations can run elsewhere. What a slider "
    "waits for is computed on this machine."
)
FAR = "Check-ins, and what is counted of them, may go to this address"
OTHERWISE = "Otherwise what needs them is computed on this machine"
MEMORY = (
    "More rows than it holds are sorted on the disk first. Otherwise a quarter of what is free is "
    "used, at most 8 GB."
)
MIN_MB, MAX_MB = 500, 1_000_000


class ComputingDialog(QDialog):
    """Form for a cluster; `show_state` reports whether it can be used.

    Parameters
    ----------
    cluster : Cluster or None
        Cluster in use.
    data_to : sequence of str
        Addresses to which check-ins may be sent.
    memory_mb : int
        Memory limit for opening check-ins; 0 for a share of the free memory.
    parent : QWidget

    Signals
    -------
    tested(object), chosen(object)
        A Cluster, or None for this machine only.
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
        self.memory = QSpinBox(minimum=MIN_MB, maximum=MAX_MB, singleStep=MIN_MB, suffix=" MB")
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
        """Return the cluster described by the fields; raises ValueError as `Cluster`."""
        place = self.places.checkedId()
        if place == HERE:
            return None
        if place == PROCESSES:
            return Cluster(f"{LOCAL}{self.processes.value()}")
        address = self.address.text().strip()
        cluster = Cluster(address, self.certificates.text().strip(), self.shared.text().strip())
        return cluster if cluster.here else replace(cluster, send_data=self.send_data.isChecked())

    def memory_mb(self) -> int:
        """Return the memory limit for opening check-ins; 0 for a share of the free memory."""
        return self.memory.value() if self.limited.isChecked() else 0

    def show_state(self, text: str, *, busy: bool = False) -> None:
        """Show what a cluster offers or why it cannot be used; the form is disabled while busy."""
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
        """Ask for consent again for each new address."""
        address = self.address.text().strip()
        self.send_data.setChecked(address in self._data_to)
        self.send_data.setEnabled(address.startswith("tls://"))


def _line(name: str, hint: str) -> QLineEdit:
    line = QLineEdit()
    line.setAccessibleName(name)
    line.setPlaceholderText(hint)
    return line


MENU = "Edit ▸ Preferences ▸ Compute"


class ComputingPreferences(QObject):
    """Uses the cluster selected last time and opens the preferences on request.

    Attributes
    ----------
    cluster : Cluster or None
    dialog : ComputingDialog or None
        Set while it is open.
    """

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.cluster: Cluster | None = None
        self._before: tuple[Cluster | None] | None = None
        self.dialog: ComputingDialog | None = None
        self._job = LatestJob("trying a cluster", self, preempt_after_s=0)
        self._job.done.connect(lambda then, state: then(state))
        self._job.failed.connect(lambda _, error: self._failed(error))
        known = window.session_store.computing
        self._limit(known.memory_mb)
        if known.address:
            try:
                self._use(
                    Cluster(
                        known.address,
                        known.certificates,
                        known.shared_folder,
                        known.address in known.data_to,
                    )
                )
            except ValueError as error:
                window.session_store.complaint = window.session_store.complaint or (
                    f"Work runs on this machine: {error} ({MENU})."
                )

    def open(self) -> None:
        """Show the dialog."""
        known = self._window.session_store.computing
        self.dialog = ComputingDialog(self.cluster, known.data_to, known.memory_mb, self._window)
        self.dialog.tested.connect(partial(self._try, self._shown))
        self.dialog.chosen.connect(self._chosen)
        self.dialog.finished.connect(self._closed)
        self.dialog.open()
        self._try(self._shown, self.cluster)

    def close(self) -> None:
        """Stop running jobs."""
        self._job.close()

    def _try(self, then: object, cluster: Cluster | None) -> None:
        """Probe the resources of a cluster in the compute process."""
        service = self._window.service
        if self.dialog is not None:
            self.dialog.show_state("Connecting …", busy=True)
        self._job.submit(then, lambda task: service.call(try_cluster, cluster, task.check))

    def _use(self, cluster: Cluster | None) -> None:
        self.cluster = cluster
        self._window.service.use_cluster(cluster)

    def _chosen(self, cluster: Cluster | None) -> None:
        self._before = (self.cluster,)
        self._use(cluster)
        self._try(self._applied, cluster)

    def _limit(self, memory_mb: int) -> None:
        """Limit the memory for opening check-ins; 0 for a share of the free memory."""
        self._window.data.memory = memory_mb * 1_000_000 or None

    def _shown(self, state: str) -> None:
        if self.dialog is not None:
            self.dialog.show_state(_sentence(state))

    def _applied(self, state: str) -> None:
        """Store a working choice."""
        self._before = None
        cluster = self.cluster or Cluster("local:1")
        address = "" if self.cluster is None else cluster.address
        before = self._window.session_store.computing
        data_to = {a for a in before.data_to if a != address}
        if cluster.send_data:
            data_to.add(address)
        memory = before.memory_mb if self.dialog is None else self.dialog.memory_mb()
        self._limit(memory)
        self._window.session_store.set_computing(
            Computing(address, cluster.certificates, cluster.shared_folder, sorted(data_to), memory)
        )
        self._window.show_status(f"Work runs on {state}.")
        if self.dialog is not None:
            self.dialog.accept()

    def _failed(self, error: Exception) -> None:
        self._go_back()
        if self.dialog is not None:
            self.dialog.show_state(explain(error, "cluster").sentence)

    def _closed(self, _code: int) -> None:
        self._job.cancel()
        self._go_back()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _go_back(self) -> None:
        """Restore the cluster used before a failed choice."""
        if self._before is not None:
            self._use(*self._before)
            self._before = None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
