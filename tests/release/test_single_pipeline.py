"""Unstamped output of real data comes from one room, through one door, in one process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

EXPLORER = Path(__file__).resolve().parents[2] / "explorer"
INSIDE = ("rows", "people")
"""Modules of the room that hold what is true of people."""
STAMPED = ("cli/users/command.py",)
"""Draws with the system's randomness for the curator, and stamps what it writes."""


@cache
def _texts() -> dict[str, str]:
    """Return the text of every module, by path."""
    return {
        path.relative_to(EXPLORER).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(EXPLORER.rglob("*.py"))
    }


def _outside(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of all other rooms that hold one of these words at all."""
    for name, text in _texts().items():
        if not name.startswith("release/") and any(word in text for word in words):
            yield name, ast.parse(text)


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
    for where, tree in _outside(*names):
        used = names & _named(tree)
        used |= {name for name in _imported(tree) if name.rpartition(".")[2] in names}
        if where in STAMPED:
            assert "result.stamp" in _texts()[where]
        else:
            assert not used or where.startswith("privacy/noise/"), (where, used)


def test_nobody_but_the_process_draws_and_nobody_outside_sees_people() -> None:
    for where, tree in _outside("explorer.release"):
        for name in _imported(tree):
            if name.startswith("explorer.release"):
                parts = name.split(".")[2:]
                assert parts[0] not in INSIDE, (where, name)
                assert parts != ["door", "draw"], (where, name)
    drawing = {
        where for where, text in _texts().items() if "release.door import Place, draw" in text
    }
    assert drawing == {"release/process.py"}


def test_what_mechanisms_draw_is_asked_for_by_door_rehearsal_and_audit_alone() -> None:
    """`mechanism.draw(people, …)` with people stands in few places, all in the room."""
    pattern = re.compile(r"\.draw\(\s*(read\.)?people\b")
    found = {where for where, text in _texts().items() if pattern.search(text)}
    assert {"release/door.py", "release/rehearsal.py"} <= found
    assert all(where.startswith("release/") for where in found)


def test_no_other_room_leaves_a_stamp_out() -> None:
    """No call outside gives an empty stamp, and whatever studies make of check-ins has one."""
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
