"""Check of a data file before a release, with results for the curator only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from explorer.release.errors import LedgerError, ReleaseError
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.other_ledgers import (
    ids_seen_elsewhere,
    spending_elsewhere,
    views_elsewhere,
)
from explorer.release.ledger.settings import FileSettings
from explorer.release.mechanisms.base import Reads
from explorer.release.pipeline import LedgerLocation, find_or_plan_release, same_people
from explorer.release.plan import Plan
from explorer.release.rows.reading import hash_file, read_file
from explorer.release.rows.row_check import RowCheck, RowCounter


@dataclass(frozen=True)
class FileCheck:
    """Result of a file check, for the curator only. It causes no refusal and is not stored.

    Attributes
    ----------
    rows : RowCheck
    known : mapping of str to int
        Number of the file's ids that are known in other populations, by population.
    spent : mapping of str to Fraction
        ε spent on the same content in other ledgers of this machine, by path of the ledger.
    seen : int
        Number of the file's ids that were in other files opened before.
    seen_partly : bool
        Whether `seen` may be too low, as not all marks of earlier files are kept.
    """

    rows: RowCheck
    known: Mapping[str, int]
    spent: Mapping[str, Fraction]
    seen: int
    seen_partly: bool


def check(location: LedgerLocation, plan: Plan, release: str = "") -> FileCheck:
    """Read a file in the declared format, count its readable rows and compare its ids.

    If the file was never opened, the plan is entered first: a plan that is then released unchanged
    still counts as fixed before the data were opened. A check is no view of the map.

    Parameters
    ----------
    place : Place
    plan : Plan
    release : str
        Its id if the plan was entered already.

    Raises
    ------
    ReleaseError
        If the plan can't be entered, or the file can't be read.
    """
    with location.open() as ledger:
        if ledger.problem:
            raise LedgerError(ledger.problem)
        sha256, content = hash_file(plan.data)
        known = ledger.known.file(sha256, content)
        opened = (known is not None and known.opened_after is not None) or (
            views_elsewhere(FileSettings(location.settings), ledger.id, sha256, content) is not None
        )
        if not (opened or release):
            find_or_plan_release(ledger, plan)
        ledger.known.record_content(sha256, content)
        ledger.known.record_opened(sha256)
        counter = RowCounter(plan.form, plan.reads)
        read = read_file(plan.data, plan.form, plan.reads, counter)
        if read.sha256 != sha256:
            raise ReleaseError("data: the file changed while it was read; check it again")
        known_ids = _known_elsewhere(ledger, plan.population, read.ids)
        settings = FileSettings(location.settings)
        spent = spending_elsewhere(settings, ledger.id, sha256, content)
        seen = ledger.known.seen(read.ids, sha256, content)
        elsewhere = ids_seen_elsewhere(settings, ledger.id, sha256, content, read.ids)
        return FileCheck(
            counter.found(),
            known_ids,
            spent,
            int((seen.each | elsewhere.each).sum()),
            seen.partial or elsewhere.partial,
        )


def compare(location: LedgerLocation, plan: Plan) -> dict[str, int]:
    """Return the number of a file's ids that are known in other populations, by population."""
    with location.open() as ledger:
        read = read_file(plan.data, plan.form, Reads())
        ledger.known.record_content(read.sha256, read.content)
        ledger.known.record_opened(read.sha256)
        return _known_elsewhere(ledger, plan.population, read.ids)


def _known_elsewhere(ledger: Ledger, population: str, ids: Iterable[str]) -> dict[str, int]:
    return {
        other: number
        for other, number in ledger.known.shared(ids).items()
        if not same_people(ledger, other, population)
    }
