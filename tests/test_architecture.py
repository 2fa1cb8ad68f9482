"""Rules of the house that no single room can check."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import explorer

ROOT = Path(__file__).resolve().parents[1]
QT_FREE = ("privacy", "checkins", "geography", "studies", "engine", "figures", "cli", "resources")
LONGEST_MODULE = 420


def _modules_without_qt() -> list[str]:
    return [
        module.name
        for module in pkgutil.walk_packages(explorer.__path__, "explorer.")
        if module.name.split(".")[1] in QT_FREE
    ]


def test_everything_but_the_window_imports_with_qt_blocked() -> None:
    names = _modules_without_qt()
    assert len(names) > 10
    blocked = ("PySide6", "pyqtgraph")
    code = (
        "import sys, importlib\n"
        f"for name in {blocked!r}: sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ["privacy", "studies", "engine", "figures", "checkins", "cli"])
def test_a_room_costs_no_heavy_import(room: str) -> None:
    """What is slow to import, or stops the interface while it is, comes only when it is used."""
    heavy = ("cvxpy", "scipy.stats", "duckdb", "pandas", "matplotlib", "numba", "loky")
    code = (
        f"import sys, explorer.{room}\nprint([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_module_reads_as_one_thought() -> None:
    lengths = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "explorer").rglob("*.py")
    }
    assert {path: n for path, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_every_listed_study_can_be_found() -> None:
    from explorer.studies.registry import cards, get_study

    for card in cards():
        study = get_study(card.id)
        assert study.id == card.id
        assert card.name
        assert card.question.endswith("?")
        assert card.workspace in ("map", "bounds")
        keys = [p.key for p in study.parameters]
        assert len(keys) == len(set(keys))
        for p in study.parameters:
            assert p.parse(p.default) == p.default
            assert p.help
        for q in study.quantities:
            assert set(q.sweeps) <= set(keys)
        assert find_spec(type(study).__module__) is not None
