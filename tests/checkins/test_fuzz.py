"""A small share of ``python -m tests.fuzz checkins``; the full run is separate."""

from __future__ import annotations

import pytest

from tests.fuzz import checkins
from tests.fuzz.checkin_files import decompress
from tests.fuzz.outcome import Outcome

pytestmark = pytest.mark.full


def test_mutated_files_lose_no_good_row() -> None:
    outcome = checkins.run(14, 11)
    assert outcome.faults == []
    read = sum(n for what, n in outcome.counts.items() if what.endswith(": read"))
    refused = sum(n for what, n in outcome.counts.items() if what.endswith(": refused"))
    assert read + refused == 14
    assert read > 8


def test_a_fault_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that a reader drops or moves are noticed."""
    real = checkins._rows
    for spoil in (lambda rows: rows[1:], lambda rows: [(*rows[0][:2], 1.0, *rows[0][3:]), *rows]):
        monkeypatch.setattr(checkins, "_rows", lambda data, spoil=spoil: spoil(real(data)))
        outcome: Outcome = checkins.run(3, 3)
        assert outcome.faults


def test_the_reference_gives_all_before_a_fault() -> None:
    import gzip

    whole = bytes(range(256)) * 20
    packed = gzip.compress(whole, compresslevel=0)
    assert decompress(packed) == whole
    assert decompress(packed[:-4]) == whole
    assert whole.startswith(decompress(packed[:2000]))
    assert len(decompress(packed[:2000])) > 1900
