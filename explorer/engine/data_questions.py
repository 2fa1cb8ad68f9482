"""Questions about open check-ins that pass over their rows: asked where studies are answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.engine.runtime.runtime import StudyRuntime


@dataclass(frozen=True, slots=True)
class DataQuestion:
    """A question that open check-ins answer.

    Attributes
    ----------
    data : str
        Fingerprint.
    method : str
        Of `explorer.checkins.CheckinData`.
    arguments : tuple
        Positional; they are pickled, and so is what the method returns.
    """

    data: str
    method: str
    arguments: tuple[Any, ...]


def ask_data(runtime: StudyRuntime, question: DataQuestion, check: Callable[[], None]) -> Any:
    """Return what the data set says; raises LookupError if it is not open, else what it raises."""
    check()
    return getattr(runtime.data(question.data), question.method)(*question.arguments)
