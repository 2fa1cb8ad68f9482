"""Selects executors: processes of this program, or a cluster chosen by the user."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.engine.executors.base import Executor
from explorer.engine.executors.cluster import Cluster
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.studies.base.study import NoWorker

MAX_PROCESSES = 8
"""For many tasks on this machine."""
Check = Callable[[], None]


class Computing:
    """The executors of a program. Safe to use from several threads.

    Parameters
    ----------
    worker : Executor, optional

    Attributes
    ----------
    worker : Executor
        Executor of interactive answers: by default one process on this machine.
    """

    def __init__(self, worker: Executor | None = None) -> None:
        self.worker = worker or EmbeddedExecutor()
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._many: EmbeddedExecutor | None = None
        self._cluster: Cluster | None = None
        self._calls_too = False
        self._connected: Executor | None = None

    @property
    def cluster(self) -> Cluster | None:
        """The selected cluster; None for this machine alone."""
        return self._cluster

    def use(self, cluster: Cluster | None, *, calls_too: bool = False) -> None:
        """Select a cluster, connected on first use; None deselects it.

        Jobs on the former one are cancelled.

        Parameters
        ----------
        cluster : Cluster or None
        calls_too : bool
            Whether single calls go there too. A window keeps them: an interactive answer must
            be near, and is killed when it is no longer needed.
        """
        if (cluster, calls_too) == (self._cluster, self._calls_too):
            return
        left = self._leave(cluster, calls_too)
        if left is not None:  # which may wait for the network
            threading.Thread(target=left.close, daemon=True).start()

    def connect(self, check: Check) -> Executor:
        """Return the cluster's executor, connecting or reconnecting as needed.

        Raises
        ------
        NoWorker, DifferentCode
            As `DaskExecutor`; the next call tries again.
        """
        with self._connecting:
            cluster, there = self._cluster, self._connected
            if cluster is None:
                return self._all_cores()
            if there is not None:
                try:
                    there.check_workers()
                except NoWorker:
                    self._leave(cluster, self._calls_too)
                    there.close()
                else:
                    return there
            there = connect(cluster, check)
            with self._lock:
                if cluster == self._cluster:
                    self._connected = there
                    return there
        there.close()  # another was chosen meanwhile
        return self.connect(check)

    def _leave(self, cluster: Cluster | None, calls_too: bool) -> Executor | None:
        """Select a cluster and return the previous executor, to be closed."""
        with self._lock:
            self._cluster, self._calls_too = cluster, calls_too
            left, self._connected = self._connected, None
            return left

    def for_tasks(self, of_data: bool, check: Check) -> Executor:
        """Return the executor for batches: the cluster, or all cores of this machine.

        Parameters
        ----------
        of_data : bool
            Whether check-ins or counts are part of the tasks: then only where they may go.
        check : callable
        """
        return self.connect(check) if self._goes_there(of_data) else self._all_cores()

    def is_here(self, executor: Executor) -> bool:
        """Return whether an executor is the one of all cores of this machine."""
        return executor is self._many

    def for_answers(self, of_data: bool, check: Check) -> Executor:
        """Return the executor for the tasks of one answer: the cluster, or the single process."""
        return self.connect(check) if self._goes_there(of_data) else self.worker

    def for_calls(self, of_data: bool, check: Check) -> Executor:
        """Return the executor for single calls."""
        return self.for_answers(of_data, check) if self._calls_too else self.worker

    def for_import(self, places: Sequence[Path], check: Check) -> Executor | None:
        """Return the executor for imports; None to import on this machine.

        Raises
        ------
        ValueError
            If not all its machines see the files.
        """
        cluster = self._cluster
        if cluster is None or not cluster.takes_data:
            return None
        cluster.check_seen(places)
        return self.connect(check)

    def for_shards(self, places: Sequence[Path], check: Check) -> Executor | None:
        """Return the cluster's executor for shards; None if it may not or cannot read them."""
        cluster = self._cluster
        if cluster is None or not cluster.takes_data or cluster.unseen(places) is not None:
            return None
        return self.connect(check)

    def tried(self, cluster: Cluster | None, check: Check) -> str:
        """Return a description of a cluster's workers (None: this machine), selected or not.

        Raises
        ------
        NoWorker, DifferentCode
            As `DaskExecutor`.
        """
        if cluster is None:
            return self._all_cores().state()
        if cluster == self._cluster:
            return self.connect(check).state()
        executor = connect(cluster, check)
        try:
            return executor.state()
        finally:
            executor.close()

    def close(self) -> None:
        """End all processes of this program and disconnect the cluster."""
        for executor in (self._leave(None, False), self.worker, self._many):
            if executor is not None:
                executor.close()

    def _goes_there(self, of_data: bool) -> bool:
        cluster = self._cluster
        return cluster is not None and (cluster.takes_data or not of_data)

    def _all_cores(self) -> Executor:
        with self._lock:
            if self._many is None:
                self._many = EmbeddedExecutor(min(os.cpu_count() or 1, MAX_PROCESSES))
            return self._many


def connect(cluster: Cluster, check: Check) -> Executor:
    """Return an executor of a cluster; raises as `DaskExecutor`."""
    # Dask is imported when a cluster is wanted, and never in the window's process.
    from explorer.engine.executors.dask import DaskExecutor

    return DaskExecutor(cluster, check)
