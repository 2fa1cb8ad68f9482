"""Unstamped output of real data comes from one room, through one door, in one process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

EXPLORER = Path(__file__).resolve().parents[2] / "explorer"
INSIDE = ("reading", "people", "values", "vectors")
"""Modules of the room that hold what is true of people."""
STAMPED = ("cli/users/command.py",)
"""Draws with the system's randomness for the curator, and stamps what it writes."""


@cache
def _all() -> dict[str, tuple[str, ast.Module]]:
    """Return text and tree of every module, by path."""
    texts = {
        path.relative_to(EXPLORER).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(EXPLORER.rglob("*.py"))
    }
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def _outside() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of all other rooms."""
    for name, (_, tree) in _all().items():
        if not name.startswith("release/"):
            yield name, tree


def _imported(tree: ast.Module) -> set[str]:
    """Return what a module imports, wherever it does: ``module.name``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _named(tree: ast.Module) -> set[str]:
    """Return all names and attributes that a module speaks of."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_release_noise_is_drawn_in_this_room_alone() -> None:
    """The system's randomness, and what turns it into noise, is not even named elsewhere."""
    names = {"urandom", "SystemRandom", "SystemBits", "ByteBits", "randbits", "token_bytes"}
    for where, tree in _outside():
        used = names & _named(tree) | {
            name for name in _imported(tree) if name.rpartition(".")[2] in names
        }
        if where in STAMPED:
            assert "result.stamp" in _all()[where][0]
            continue
        assert not used or where.startswith("privacy/noise/"), (where, used)


def test_nobody_but_the_process_draws_and_nobody_outside_sees_people() -> None:
    for where, tree in _outside():
        imported = {name for name in _imported(tree) if name.startswith("explorer.release")}
        for name in imported:
            parts = name.split(".")[2:]
            assert parts[0] not in INSIDE, (where, name)
            assert parts != ["door", "draw"], (where, name)
    draws = {
        where
        for where, (_, tree) in _all().items()
        if "explorer.release.door.draw" in _imported(tree)
    }
    assert draws == {"release/process.py"}


def test_what_mechanisms_draw_is_asked_for_by_door_rehearsal_and_audit_alone() -> None:
    """`mechanism.draw(people, …)` with people stands in few places, all in the room."""
    pattern = re.compile(r"\.draw\(\s*(read\.)?people\b")
    found = {where for where, (text, _) in _all().items() if pattern.search(text)}
    assert {"release/door.py", "release/rehearsal.py"} <= found
    assert all(where.startswith("release/") for where in found)


def test_no_other_room_leaves_a_stamp_out() -> None:
    """No call outside gives an empty stamp, and whatever studies make of check-ins has one."""
    for where, tree in _outside():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "stamp":
                empty = isinstance(node.value, ast.Constant) and not node.value.value
                assert not empty, f"{where}, line {node.value.lineno}"
    with_data = {
        where.split("/")[1]
        for where, tree in _modules()
        if where.startswith("studies/")
        and any(name.startswith("explorer.checkins") for name in _imported(tree))
    } - {"base", "registry.py", "cards.py"}
    stamping = {
        where.split("/")[1]
        for where, tree in _modules()
        if where.startswith("studies/")
        and any(isinstance(n, ast.keyword) and n.arg == "stamp" for n in ast.walk(tree))
    }
    assert "heatmap" in with_data
    assert with_data <= stamping


@pytest.mark.parametrize("synthetic", [True, False])
@pytest.mark.parametrize("curator_only", [True, False])
def test_every_map_of_check_ins_is_stamped(synthetic: bool, curator_only: bool) -> None:
    from explorer.studies.heatmap.text import stamp

    assert len(stamp(synthetic, curator_only=curator_only)) > 10
