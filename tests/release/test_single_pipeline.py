"""Only `explorer.release` draws exact noise on real data, in one pipeline and one process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

EXPLORER = Path(__file__).resolve().parents[2] / "explorer"
INSIDE = ("rows", "user_records")
"""Modules of `explorer.release` that hold the rows of users."""
RUNNER = "release/subprocess_runner.py"
CALLERS = {"release/pipeline.py", "release/dry_run.py"}
STAMPED = ("cli/users.py",)
"""Draw with the system's randomness for the curator, and stamp what they write."""


@cache
def _texts() -> dict[str, str]:
    """Return the text of every module, by path."""
    return {
        path.relative_to(EXPLORER).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(EXPLORER.rglob("*.py"))
    }


def _outside(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules outside `explorer.release` that contain one of these words."""
    for name, text in _texts().items():
        if not name.startswith("release/") and any(word in text for word in words):
            yield name, ast.parse(text)


def _imported(tree: ast.Module) -> set[str]:
    """Return all imports of a module, function-level ones included: ``module.name``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _named(tree: ast.Module) -> set[str]:
    """Return all names and attributes in a module."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_only_the_release_package_draws_system_randomness() -> None:
    """System randomness, and what turns it into noise, is not even named elsewhere."""
    names = {"urandom", "SystemRandom", "SystemBits", "ByteBits", "randbits", "token_bytes"}
    for where, tree in _outside(*names):
        used = names & _named(tree)
        used |= {name for name in _imported(tree) if name.rpartition(".")[2] in names}
        if where in STAMPED:
            assert "result.stamp" in _texts()[where]
        else:
            assert not used or where.startswith("privacy/noise/"), (where, used)


@pytest.mark.full
def test_only_the_subprocess_draws_and_no_other_package_handles_user_records() -> None:
    for where, tree in _outside("explorer.release"):
        for name in _imported(tree):
            if name.startswith("explorer.release"):
                parts = name.split(".")[2:]
                assert parts[0] not in INSIDE, (where, name)
                assert parts != ["pipeline", "draw"], (where, name)
    draw = "explorer.release.pipeline.draw"
    drawing = {
        where
        for where, text in _texts().items()
        if "release.pipeline" in text and draw in _imported(ast.parse(text))
    }
    assert drawing == {RUNNER}


def test_only_pipeline_dry_run_and_audit_call_draw_on_records() -> None:
    """`mechanism.draw(records, …)` is called in few places, all inside the package."""
    pattern = re.compile(r"\.draw\(\s*(read\.)?records\b")
    found = {where for where, text in _texts().items() if pattern.search(text)}
    assert found >= CALLERS
    assert all(where.startswith("release/") for where in found)


def test_no_other_package_leaves_a_stamp_out() -> None:
    """No call elsewhere passes an empty stamp, and all studies of check-ins pass one."""
    stamping = set()
    for where, tree in _outside("stamp="):
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "stamp":
                empty = isinstance(node.value, ast.Constant) and not node.value.value
                assert not empty, f"{where}, line {node.value.lineno}"
                stamping.add(where.rpartition("/")[0])
    with_data = {
        where.rpartition("/")[0]
        for where, text in _texts().items()
        if where.startswith("studies/") and "from explorer.checkins" in text
    }
    assert "studies/heatmap" in with_data
    assert with_data - {"studies/base", "studies"} <= {
        folder for stamped in stamping for folder in with_data if folder.startswith(stamped)
    }


@pytest.mark.parametrize("synthetic", [True, False])
@pytest.mark.parametrize("curator_only", [True, False])
def test_every_map_of_check_ins_is_stamped(synthetic: bool, curator_only: bool) -> None:
    from explorer.studies.heatmap.text import stamp

    assert len(stamp(synthetic, curator_only=curator_only)) > 10
