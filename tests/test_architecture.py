"""Rules about imports, types and studies that hold for the whole program."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import explorer
from tests.source_tree import ROOT, cycles, import_graph, sources

QT_FREE = (
    "privacy",
    "checkins",
    "geography",
    "studies",
    "release",
    "engine",
    "figures",
    "cli",
    "resources",
)


def _modules_without_qt() -> list[str]:
    return [
        module.name
        for module in pkgutil.walk_packages(explorer.__path__, "explorer.")
        if module.name.split(".")[1] in QT_FREE
    ]


@pytest.mark.full
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


@pytest.mark.parametrize("package", ["privacy", "studies", "engine", "figures", "checkins", "cli"])
def test_importing_a_package_imports_nothing_slow(package: str) -> None:
    """Libraries that are slow to import are imported when they are first used."""
    heavy = ("cvxpy", "scipy.stats", "duckdb", "pandas", "matplotlib", "numba", "loky")
    code = f"import sys, explorer.{package}; print([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_an_import_cycle_would_be_found(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "one.py").write_text("if True:\n    from p.two import x\n")
    (package / "two.py").write_text("def f():\n    import p.one\n")
    modules = sources(package)
    assert cycles(import_graph(modules, functions=False)) == []
    assert cycles(import_graph(modules, functions=True)) == [{"p.one", "p.two"}]


def test_types_are_checked_strictly_everywhere() -> None:
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert (mypy["strict"], mypy["packages"]) == (True, ["explorer"])
    assert "exclude" not in mypy
    assert [t["module"] for t in mypy["overrides"] if t.get("ignore_errors")] == []


def test_every_listed_study_can_be_found() -> None:
    from explorer.studies.registry import get_study, study_infos

    for info in study_infos():
        study = get_study(info.id)
        assert study.id == info.id
        assert info.name
        assert info.question.endswith("?")
        assert info.workspace in ("map", "bounds")
        keys = [p.key for p in study.parameters]
        assert len(keys) == len(set(keys))
        for p in study.parameters:
            assert p.parse(p.default) == p.default
            assert p.help
        for q in study.quantities:
            assert set(q.sweeps) <= set(keys)
        assert find_spec(type(study).__module__) is not None


def test_the_guide_names_every_package() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.parent for path in (ROOT / "explorer").rglob("__init__.py")}
    named = {"privacy", "ui", "engine"}
    packages = {f.name for f in folders if f.parent.name == "explorer" or f.parent.name in named}
    assert {package for package in packages - {"explorer"} if f"`{package}`" not in guide} == set()


def test_attributes_that_are_looked_up_by_a_string_exist() -> None:
    """A renamed attribute leaves ``hasattr(self, "old")`` false for ever, and nothing fails."""
    stale = []
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?:has|get)attr\(self, \"(\w+)\"", text):
            if not re.search(rf"self\.{name}\b", text):
                stale.append(f"{path.relative_to(ROOT)}: {name}")
    assert stale == []
