"""Ledgers to try things on: in a folder, on a computer of a name, at a time that is set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings

FILE = "ab" * 32
"""SHA-256 of a data file."""
MECHANISM = "count.users/1"
PARAMETERS = {
    "box": ["40.70", "-74.02", "40.72", "-73.99"],
    "start": "2026-01-01T00:00:00Z",
    "end": "2026-01-15T00:00:00Z",
    "delimiter": "tab",
    "columns": ["user", "time", "lat", "lon", "place"],
}

LABEL = "Users of the example service"


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self, at: str = "2026-01-19T08:00:00+00:00") -> None:
        self.at = datetime.fromisoformat(at).astimezone(UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


CLOCK = Clock()


def opened(folder: Path, computer: str = "one", clock: Clock | None = None) -> Ledger:
    """Open the ledger of a folder as the computer of a name does, which remembers beside it."""
    settings = FileSettings(folder.parent / f"settings of {computer}.json")
    return Ledger(folder / "ledger.sqlite", settings, now=clock or CLOCK)


def population(ledger: Ledger, budget: Fraction = Fraction(3)) -> str:
    return ledger.open_population("sum", budget, LABEL)


def planned(ledger: Ledger, people: str, epsilon: Fraction = Fraction(1, 2)) -> str:
    return ledger.plan(people, MECHANISM, PARAMETERS, epsilon, FILE)


def reserved(ledger: Ledger, people: str, epsilon: Fraction = Fraction(1, 2)) -> str:
    release = planned(ledger, people, epsilon)
    ledger.reserve(release, FILE)
    return release


def released(ledger: Ledger, people: str, epsilon: Fraction = Fraction(1, 2)) -> str:
    release = reserved(ledger, people, epsilon)
    ledger.start(release, 1000)
    ledger.commit(release, {"noisy_users": 1207})
    return release
