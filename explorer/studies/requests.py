"""A question, complete and hashable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from explorer.geography.region import Region
from explorer.studies.parameters import Fidelity, Sweep, Value


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the loaded check-ins a request is about.

    Attributes
    ----------
    data : str
        sha256 of the data file (its fingerprint), never a path.
    region : Region
    start, end : str or None
        ISO 8601 UTC instants; rows with start ≤ time < end are used. None is unbounded.
    users : int or None
        How many users to sample without replacement; None uses all.
    data_seed : int
        Seed of that sample.
    """

    data: str
    region: Region
    start: str | None = None
    end: str | None = None
    users: int | None = None
    data_seed: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A question, complete and hashable: the same request always has the same answer.

    Attributes
    ----------
    study : str
        Id of the study.
    values : tuple of (key, value)
        Every parameter of the study, in declaration order.
    quantity : str
        Key of the quantity on the y axis; empty for studies without axes.
    sweep : Sweep or None
        What is on the x axis.
    selection : Selection or None
        Which check-ins, for studies that need them.
    seed : int
        Seed of demonstration noise and simulation.
    fidelity : Fidelity
        The best answer wanted.
    """

    study: str
    values: tuple[tuple[str, Value], ...]
    quantity: str = ""
    sweep: Sweep | None = None
    selection: Selection | None = None
    seed: int = 0
    fidelity: Fidelity = Fidelity.FULL

    def __getitem__(self, key: str) -> Any:
        for name, value in self.values:
            if name == key:
                return value
        raise KeyError(key)

    def with_value(self, key: str, value: Value) -> Request:
        """Return this request with one parameter changed."""
        return replace(self, values=tuple((k, value if k == key else v) for k, v in self.values))
