"""The project's own tools run at their smallest size, so that they keep up with the program.

Benchmarks whose smallest size takes long are only imported; ``python -m tests.benchmarks --smoke``
runs them all.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutants
from tests.benchmarks.__main__ import topics
from tests.fuzz.__main__ import TOPICS
from tests.waiting import time_limit

CHECKOUT = Path(__file__).resolve().parents[1]
QUICK = ("contributions", "adaptive")
"""Benchmarks that take a few seconds at their smallest."""
TRIES = {"hostile": "13"}
"""Of fuzzers that take a kind of file after the other: all but those with a recipe."""


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=CHECKOUT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, text=True, timeout=time_limit(120),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_every_fuzzer_finds_no_fault_in_a_few_tries(topic: str) -> None:
    assert "0 faults" in run("tests.fuzz", topic, "--count", TRIES.get(topic, "2"))


def test_a_program_killed_once_keeps_its_promises() -> None:
    assert "0 faults" in run("tests.kills", "--count", "1")


def test_quick_benchmarks_run() -> None:
    said = run("tests.benchmarks", "--smoke", *QUICK)
    assert all(f"\n{topic}\n" in said for topic in QUICK)
    assert "none of them counts" in said


@pytest.mark.parametrize("topic", topics())
def test_every_benchmark_is_one(topic: str) -> None:
    assert callable(importlib.import_module(f"tests.benchmarks.bench_{topic}").run)


def test_every_mutant_still_changes_the_program() -> None:
    """What a mutant replaces stands in its file once, and its tests are there."""
    for mutant in mutants.MUTANTS:
        text = (CHECKOUT / "explorer" / mutant.file).read_text("utf-8")
        assert text.count(mutant.old) == 1, mutant.wrong
        assert mutant.new != mutant.old
