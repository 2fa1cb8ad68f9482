"""Small shares of what commands do in full: kills, races for the last ε, malformed files.

In full: ``python -m tests.release.kills --count 200``, ``… race --count 50``,
``… malformed --count 10000``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.release import kills, malformed, race


@pytest.mark.full
def test_killed_at_random_moments_nothing_is_shown_that_was_not_paid(tmp_path: Path) -> None:
    found = kills.run(tmp_path, count=3, seed=11)
    assert sum(found.values()) > 0


@pytest.mark.full
def test_of_many_processes_one_gets_the_last_epsilon(tmp_path: Path) -> None:
    assert race.race(tmp_path, count=5) == 1


def test_malformed_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    found = malformed.run(count=240, seed=5, folder=tmp_path)
    assert found.faults == []
    assert found.counts["certificate: refused"] > 50
    assert found.counts["export: refused"] > 40
