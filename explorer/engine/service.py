"""Service for window and command line: answers requests here or in the compute process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from explorer.engine.compute.client import ComputeClient
from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.engine.executors.cluster import Cluster
from explorer.engine.runtime import StudyRuntime, file_value
from explorer.studies.base.study import Request


class AnswerRunner(Protocol):
    """Protocol: answers requests, newest first, in a thread or in the compute process."""

    @property
    def generation(self) -> int:
        """Generation of the newest request."""

    def submit(self, request: Request) -> int:
        """Submit a request, replacing a waiting one; return its generation."""

    def cancel(self, soon: bool = False) -> None:
        """Drop the waiting request and stop the running one; with `soon`, within half a second."""

    def close(self) -> None:
        """Stop the running request; nothing is delivered afterwards."""


class StudyService:
    """Answers requests and calls functions, in this process or in the compute process.

    Parameters
    ----------
    compute_process : bool
        Whether everything is computed in a process of its own, as a window needs it; else in
        threads here.

    Attributes
    ----------
    runtime : StudyRuntime
    client : ComputeClient or None
    """

    def __init__(self, *, compute_process: bool = False) -> None:
        self.runtime = StudyRuntime()
        self.client = ComputeClient(self.runtime) if compute_process else None

    def start(self) -> None:
        """Start the compute process early, if one is used."""
        if self.client is not None:
            self.client.start()

    def answers(self, name: str, deliver: Callable[[Delivery], None]) -> AnswerRunner:
        """Return a runner for one client; `deliver` is called in a thread."""
        if self.client is not None:
            return self.client.answers(name, deliver)
        return LatestWorker(self.runtime.answer, deliver, f"answers-{name}")

    def call(
        self,
        function: Callable[..., Any],
        subject: Any,
        check: Callable[[], None],
        report: Callable[[Any], object] | None = None,
    ) -> Any:
        """Return ``function(runtime, subject, check)``, from the compute process if there is one.

        With a `report` the function is given it as a fourth argument; it may be called in another
        thread.

        Raises
        ------
        Cancelled
            When `check` says so.
        Exception
            Whatever the function raised.
        """
        if self.client is not None:
            return self.client.call(function, (subject,), check, report)
        return function(self.runtime, subject, check, *([] if report is None else [report]))

    def add_file(self, path: Path, check: Callable[[], None] = lambda: None) -> str:
        """Make a file or folder available to studies and return its value.

        As `StudyRuntime.add_file`; it is read where studies are answered.
        """
        value = str(self.call(value_of_file, path, check))
        self.runtime.announce_file(value, path)
        return value

    def use_cluster(self, cluster: Cluster | None) -> None:
        """Run sweeps, experiments and trainings on a cluster; None for this machine."""
        if self.client is not None:
            self.client.use_cluster(cluster)
        else:
            self.runtime.computing.use(cluster)

    def close(self) -> None:
        """End all processes and close all data sets."""
        if self.client is not None:
            self.client.close()
        self.runtime.close()


def value_of_file(_runtime: StudyRuntime, path: Path, check: Callable[[], None]) -> str:
    """Return the value of a file (`file_value`)."""
    return file_value(path, check)
