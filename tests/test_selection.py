"""Which tests the README's command selects, and which it leaves to ``-m full``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MIXED = """
import pytest

def test_pure(): ...

@pytest.mark.full
def test_walk(): ...

@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.full)])
def test_points(x): ...
"""
ALL_FULL = """
import pytest

pytestmark = pytest.mark.full

class TestAudit:
    def test_noise(self): ...
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of two modules with the options and hooks of this one."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    (folder / "tests" / "test_mixed.py").write_text(MIXED)
    (folder / "tests" / "test_all_full.py").write_text(ALL_FULL)
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    (folder / "tests" / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    return folder


def collected(suite: Path, *words: str) -> list[str]:
    options = ["--collect-only", "-q", "-n", "0", "-p", "no:randomly"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *words],
        cwd=suite,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.full
def test_both_parts_of_ci_run_each_test_once(suite: Path) -> None:
    selected, left_out = collected(suite), collected(suite, "-m", "full")
    assert selected == ["tests/test_mixed.py::test_pure", "tests/test_mixed.py::test_points[1]"]
    assert sorted(selected + left_out) == sorted(collected(suite, "--full"))
    assert len(set(selected + left_out)) == 5


@pytest.mark.full
def test_a_file_that_is_named_is_run_whole(suite: Path) -> None:
    assert len(collected(suite, "tests/test_mixed.py")) == 4


def test_ci_runs_both_parts_and_measures_sizes() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"^(?:eval.*test_line.*|.*-m pytest.*)$", script, re.MULTILINE)[-2:] == [
        'eval "$test_line"',
        ".venv/bin/python -m pytest -m full || failed=1",
    ]
    assert "\n    .venv/bin/python -m tests.size\n}" in script
    assert script.endswith('wait "$style" || failed=1\ncat "$work/style"\nexit "$failed"\n')
