"""The ledger as the door and the window use it (INTERFACE ONLY YET; bodies follow)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol


class Settings(Protocol):
    """What this machine remembers beside the ledger: one JSON object."""

    def read(self) -> dict[str, Any]:
        """Return what was last written, {} at first."""

    def write(self, value: Mapping[str, Any]) -> None:
        """Keep it, durably."""


class LedgerError(ValueError):
    """(a ReleaseError) The ledger can't be used; one sentence."""


class Refused(LedgerError):
    """The gate refuses; `asked`, `left`, `largest` are fractions of ε."""


class Ledger:
    """A ledger opened for writing; close it, or use it in a ``with``.

    path: Path; id: str; key: bytes; problem: str ("" or why there are no releases);
    notices: tuple[str, ...] of what happened at opening (lost, moved, key missing ...).
    Every method that writes is one ``BEGIN IMMEDIATE`` transaction, durable when it returns.
    """

    @classmethod
    def open(
        cls,
        path: Path,
        settings: Settings,
        *,
        now: Callable[[], datetime] = ...,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> Ledger: ...

    # populations
    def open_population(
        self, gate: str, budget: Fraction, label: str, *, delta: Fraction | None = None,
        different_from: tuple[str, ...] = (),
    ) -> str: ...
    def raise_budget(self, population: str, epsilon: Fraction) -> None: ...
    def external(self, population: str, epsilon: Fraction, what: str) -> None: ...
    def join(self, population: str, other: str, how: str) -> None: ...
    def accounts(self) -> tuple[Any, ...]: ...
    def account(self, population: str) -> Any: ...  # gate, budget, spent_epsilon, spent_rho, remaining, largest_fit()

    # a release
    def plan(self, population: str, mechanism: str, parameters: Mapping[str, Any],
             epsilon: Fraction, file_sha256: str | None = None) -> str: ...  # release id
    def check_file(self, release: str, file_sha256: str) -> None: ...  # raises if tag ≠ plan's
    def reserve(self, release: str, *, population: str = "", mechanism: str = "",
                parameters: Mapping[str, Any] = {}, epsilon: Fraction = Fraction(0)) -> None: ...
        # with a plan: as planned, give the id only. Raises Refused.
    def start(self, release: str, output_bytes: int) -> None: ...  # reserves disk, takes the lock
    def commit(self, release: str, output: Mapping[str, Any]) -> None: ...  # canonical JSON stored
    def publish(self, release: str, certificate: Mapping[str, Any]) -> None: ...
    def withdraw(self, release: str) -> None: ...
    def abandon(self, release: str) -> None: ...
    def lose(self, release: str) -> None: ...
    def output(self, release: str) -> dict[str, Any]: ...
    def releases(self) -> tuple[Any, ...]: ...  # id, population, mechanism, parameters, epsilon, state, seq, date
    def prepared(self) -> tuple[str, ...]: ...  # reserved, not drawn: continue / give back

    # files and people, outside the chain
    def tag(self, release: str, file_sha256: str) -> str: ...
    def file_opened(self, file_sha256: str, population: str) -> None: ...
    def map_shown(self, file_sha256: str) -> None: ...
    def file_record(self, file_sha256: str) -> Any: ...  # population, opened_after (seq), shown
    def shared_people(self, ids: Any) -> dict[str, int]: ...  # population -> how many ids in common
    def remember_people(self, population: str, ids: Any) -> None: ...


# certificate/build.py:
# def build(ledger, release, declared: Mapping, expected_error, parts, file_sha256, version) -> dict
# certificate/verify.py: def verify(certificate, ledger=None, data=None, also=None) -> Report(failures, notes)
