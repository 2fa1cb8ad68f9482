"""Preferences ▸ Compute: where work runs, remembered, tried out and said."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from explorer.engine.executors.cluster import Cluster
from explorer.engine.runtime.runtime import try_cluster
from explorer.engine.session.wire import Computing
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.dialogs.computing import ComputingDialog

if TYPE_CHECKING:
    from explorer.ui.app.context import WindowContext

MENU = "Edit ▸ Preferences ▸ Compute"


class ComputingPreferences(QObject):
    """Uses the cluster that was chosen last time, and asks for another when told to.

    Attributes
    ----------
    cluster : Cluster or None
    dialog : ComputingDialog or None
        While it is open.
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
        known = window.keeper.computing
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
                window.keeper.complaint = window.keeper.complaint or (
                    f"Work runs on this machine: {error} ({MENU})."
                )

    def open(self) -> None:
        """Show the dialog."""
        known = self._window.keeper.computing
        self.dialog = ComputingDialog(self.cluster, known.data_to, known.memory_mb, self._window)
        self.dialog.tested.connect(partial(self._try, self._shown))
        self.dialog.chosen.connect(self._chosen)
        self.dialog.finished.connect(self._closed)
        self.dialog.open()
        self._try(self._shown, self.cluster)

    def close(self) -> None:
        """End what runs."""
        self._job.close()

    def _try(self, then: object, cluster: Cluster | None) -> None:
        """Have what a cluster has to offer looked at in the compute process."""
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
        self._try(self._taken, cluster)

    def _limit(self, memory_mb: int) -> None:
        """Open check-ins within so much memory from now on; 0: a share of what is free."""
        self._window.data.memory = memory_mb * 1_000_000 or None

    def _shown(self, state: str) -> None:
        if self.dialog is not None:
            self.dialog.show_state(_sentence(state))

    def _taken(self, state: str) -> None:
        """Remember what was chosen, which works."""
        self._before = None
        cluster = self.cluster or Cluster("local:1")
        address = "" if self.cluster is None else cluster.address
        before = self._window.keeper.computing
        data_to = {a for a in before.data_to if a != address}
        if cluster.send_data:
            data_to.add(address)
        memory = before.memory_mb if self.dialog is None else self.dialog.memory_mb()
        self._limit(memory)
        self._window.keeper.set_computing(
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
        """Use what was used before a choice that could not be taken."""
        if self._before is not None:
            self._use(*self._before)
            self._before = None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
