"""The project's own tools run at their smallest size, so that they keep up with the program."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutants
from tests.benchmarks.__main__ import topics
from tests.benchmarks.table import SMOKE
from tests.fuzz.__main__ import TOPICS
from tests.waiting import time_limit

pytestmark = pytest.mark.full

CHECKOUT = Path(__file__).resolve().parents[1]
WINDOW = ["live", "bounds_live", "studies", "drag", "which_epsilon", "first_picture"]
"""Benchmarks that share a window at their smallest."""
OTHERS = [topic for topic in topics() if topic not in WINDOW]
SOAK = """
import sys
from tests.benchmarks import __main__, soak
sys.exit(soak.main(["--smoke"]) or __main__.main())
"""
"""The soak, then benchmarks in its window."""
TRIES = {"hostile": 13, "recipes": 6}
"""Up to each kind of file but those with a recipe, and up to a picture with one."""


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=CHECKOUT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", SMOKE: "1"},
        capture_output=True,
        text=True,
        timeout=time_limit(120),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_fuzzer_of_sessions_which_opens_a_window_finds_no_fault() -> None:
    assert "0 faults" in run("-m", "tests.fuzz", "sessions", "--count", "2")


@pytest.mark.parametrize("topic", sorted(TOPICS.keys() - {"sessions"}))
def test_every_other_fuzzer_finds_no_fault_in_a_few_tries(topic: str) -> None:
    assert importlib.import_module(TOPICS[topic]).run(TRIES.get(topic, 2), 0).faults == []


def test_a_program_killed_once_keeps_its_promises() -> None:
    assert "0 faults" in run("-m", "tests.kills", "--count", "1")


def assert_measured(topics: list[str], said: str) -> None:
    assert re.findall(r"^(\w+) \([\d.]+ s\)$", said, re.MULTILINE) == topics
    assert "none of them counts" in said


def test_the_soak_takes_memory_down_and_benchmarks_run_in_its_window() -> None:
    said = run("-c", SOAK, "--smoke", *WINDOW)
    assert re.search(r"^1 rounds, 2 drags; peak \d+", said, re.MULTILINE)
    assert re.search(r"= window +\d+\.\d \+ answers +\d+\.\d", said)
    assert_measured(WINDOW, said)


def test_every_other_benchmark_runs_at_its_smallest() -> None:
    assert_measured(OTHERS, run("-m", "tests.benchmarks", "--smoke", *OTHERS))


def test_every_mutant_still_changes_the_program() -> None:
    """What a mutant replaces stands in its file once, and its tests are there."""
    for mutant in mutants.MUTANTS:
        text = (CHECKOUT / "explorer" / mutant.file).read_text("utf-8")
        assert text.count(mutant.old) == 1, mutant.wrong
        assert mutant.new != mutant.old
