"""What window and command line hold: the runtime, and the processes that compute for it."""

from collections.abc import Callable
from typing import Any, Protocol

from explorer.engine.compute.client import ComputeClient
from explorer.engine.compute.latest import Delivery, LatestWorker
from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.study import Request

IN_COMPUTE_PROCESS = frozenset({"bounds"})
"""Workspaces whose studies are answered there; the map's data are open in the window's process."""


class AnswerRunner(Protocol):
    """What answers requests, newest first: a thread here, or the compute process."""

    @property
    def generation(self) -> int:
        """Generation of the newest request."""

    def submit(self, request: Request) -> int:
        """Ask for an answer; replaces whatever was waiting. Returns the generation."""

    def cancel(self) -> None:
        """Drop the waiting request and stop the running one."""

    def close(self) -> None:
        """Stop everything; nothing is delivered after."""


class StudyService:
    """Answers requests and calls functions, each where it is best computed.

    Parameters
    ----------
    compute_process : bool
        Whether studies of bounds are answered in a process of their own; else in threads here.

    Attributes
    ----------
    runtime : StudyRuntime
    client : ComputeClient or None
    """

    def __init__(self, *, compute_process: bool = False) -> None:
        self.runtime = StudyRuntime()
        self.client = ComputeClient(self.runtime) if compute_process else None

    def start(self) -> None:
        """Start the compute process, if there is to be one, before anything is asked."""
        if self.client is not None:
            self.client.start()

    def answers(self, workspace: str, deliver: Callable[[Delivery], None]) -> AnswerRunner:
        """Return what answers the studies of a workspace; `deliver` is called in a thread."""
        if self.client is not None and workspace in IN_COMPUTE_PROCESS:
            self.client.deliver_to(deliver)
            return self.client
        return LatestWorker(self.runtime.answer, deliver, f"answers-{workspace}")

    def call(
        self,
        function: Callable[[StudyRuntime, Any, Callable[[], None]], Any],
        subject: Any,
        check: Callable[[], None],
    ) -> Any:
        """Return ``function(runtime, subject, check)``, from the compute process if there is one.

        Raises
        ------
        Cancelled
            When `check` says so.
        Exception
            Whatever the function raised.
        """
        if self.client is not None:
            return self.client.call(function, (subject,), check)
        return function(self.runtime, subject, check)

    def close(self) -> None:
        """End all processes and close all data sets."""
        if self.client is not None:
            self.client.close()
        self.runtime.close()
