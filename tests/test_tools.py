"""The project's own tools run at their smallest size, so that they keep up with the program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutants
from tests.benchmarks.__main__ import topics
from tests.fuzz.__main__ import TOPICS
from tests.waiting import time_limit

pytestmark = pytest.mark.full

CHECKOUT = Path(__file__).resolve().parents[1]
WINDOW = ["live", "bounds_live", "studies", "drag", "which_epsilon", "first_picture"]
"""Benchmarks that share a window at their smallest."""
OTHERS = [topic for topic in topics() if topic not in WINDOW]
GROUPS = {"window": WINDOW, "even": OTHERS[::2], "odd": OTHERS[1::2]}
"""Benchmarks that run in one process each, which spares imports."""
TRIES = {"hostile": "13"}
"""Of fuzzers that take a kind of file after the other: all but those with a recipe."""


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=CHECKOUT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=time_limit(120),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_every_fuzzer_finds_no_fault_in_a_few_tries(topic: str) -> None:
    assert "0 faults" in run("tests.fuzz", topic, "--count", TRIES.get(topic, "2"))


def test_a_program_killed_once_keeps_its_promises() -> None:
    assert "0 faults" in run("tests.kills", "--count", "1")


@pytest.mark.parametrize("group", GROUPS)
def test_every_benchmark_runs_at_its_smallest(group: str) -> None:
    asked = GROUPS[group]
    said = run("tests.benchmarks", "--smoke", *asked)
    assert re.findall(r"^(\w+) \([\d.]+ s\)$", said, re.MULTILINE) == asked
    assert "none of them counts" in said


def test_every_benchmark_is_in_a_group() -> None:
    assert sorted(topic for group in GROUPS.values() for topic in group) == topics()


def test_the_soak_drags_a_slider_and_takes_memory_down() -> None:
    said = run("tests.benchmarks.soak", "--smoke")
    assert re.search(r"^1 rounds, 2 drags; peak \d+", said, re.MULTILINE)
    assert re.search(r"= window +\d+\.\d \+ answers +\d+\.\d", said)


def test_every_mutant_still_changes_the_program() -> None:
    """What a mutant replaces stands in its file once, and its tests are there."""
    for mutant in mutants.MUTANTS:
        text = (CHECKOUT / "explorer" / mutant.file).read_text("utf-8")
        assert text.count(mutant.old) == 1, mutant.wrong
        assert mutant.new != mutant.old
