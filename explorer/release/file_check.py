"""What the curator alone is told of a file before it is paid for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from explorer.release.errors import ReleaseError
from explorer.release.ledger.errors import LedgerError
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.other_ledgers import (
    looks_elsewhere,
    seen_elsewhere,
    spent_elsewhere,
)
from explorer.release.ledger.settings import FileSettings
from explorer.release.mechanisms.base import Reads
from explorer.release.pipeline import Place, planned, same_people
from explorer.release.plan import Plan
from explorer.release.rows.reading import hash_file, read_file
from explorer.release.rows.row_check import DryRun, RowCounter


@dataclass(frozen=True)
class Checked:
    """What the curator alone is told of a file: it refuses nothing, and nothing of it is kept.

    Attributes
    ----------
    rows : DryRun
    known : mapping of str to int
        How many ids of the file are known in which populations but that of the plan.
    spent : mapping of str to Fraction
        What other ledgers of this computer spent on the same content, by their paths.
    seen : int
        How many ids of the file were in other files that were opened before.
    seen_partly : bool
        Whether there may be more of these: not all marks of earlier files are kept.
    """

    rows: DryRun
    known: Mapping[str, int]
    spent: Mapping[str, Fraction]
    seen: int
    seen_partly: bool


def check(place: Place, plan: Plan, release: str = "") -> Checked:
    """Read a file as a plan declares it, count what can be read, and compare its ids.

    A file that was never opened is not read before the plan is entered, so that the record of a
    plan released unchanged still says that it was fixed before. A dry run is no view of the map.

    Parameters
    ----------
    place : Place
    plan : Plan
    release : str
        Its id if it was entered.

    Raises
    ------
    ReleaseError
        If the plan can't be entered, or the file can't be read at all.
    """
    with place.open() as ledger:
        if ledger.problem:
            raise LedgerError(ledger.problem)
        sha256, content = hash_file(plan.data)
        known = ledger.known.file(sha256, content)
        opened = (known is not None and known.opened_after is not None) or (
            looks_elsewhere(FileSettings(place.settings), ledger.id, sha256, content) is not None
        )
        if not (opened or release):
            planned(ledger, plan)
        ledger.known.has_content(sha256, content)
        ledger.known.opened(sha256)
        counter = RowCounter(plan.form, plan.reads)
        read = read_file(plan.data, plan.form, plan.reads, counter)
        if read.sha256 != sha256:
            raise ReleaseError("data: the file changed while it was read; check it again")
        known_ids = _known_elsewhere(ledger, plan.population, read.ids)
        settings = FileSettings(place.settings)
        spent = spent_elsewhere(settings, ledger.id, sha256, content)
        seen = ledger.known.seen(read.ids, sha256, content)
        elsewhere = seen_elsewhere(settings, ledger.id, sha256, content, read.ids)
        return Checked(
            counter.found(),
            known_ids,
            spent,
            int((seen.each | elsewhere.each).sum()),
            seen.partial or elsewhere.partial,
        )


def compare(place: Place, plan: Plan) -> dict[str, int]:
    """Return how many ids of a file are known in which populations but that of the plan."""
    with place.open() as ledger:
        read = read_file(plan.data, plan.form, Reads())
        ledger.known.has_content(read.sha256, read.content)
        ledger.known.opened(read.sha256)
        return _known_elsewhere(ledger, plan.population, read.ids)


def _known_elsewhere(ledger: Ledger, population: str, ids: Iterable[str]) -> dict[str, int]:
    return {
        other: number
        for other, number in ledger.known.shared(ids).items()
        if not same_people(ledger, other, population)
    }
