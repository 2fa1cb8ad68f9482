"""Rules of the house that no single room can check."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

import explorer

ROOT = Path(__file__).resolve().parents[1]
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
OWN_IMPORTS_IN_FUNCTIONS = 31
"""Outside `cli`: each with its reason beside it."""


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


def _imports(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """Yield the modules that importing a module, or checking its types, imports."""
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module or ""
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _import_graph(folder: Path) -> dict[str, set[str]]:
    """Return the modules below a folder of the repository, each with those of them it imports."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in folder.rglob("*.py")
    }
    return {
        name: {
            other
            for other in _imports(ast.parse(path.read_text(encoding="utf-8")), set(files))
            if other in files and other != name
        }
        for name, path in files.items()
    }


def test_no_modules_import_each_other() -> None:
    """Imports at the top of modules, also those for type checkers alone, go one way."""
    graph = _import_graph(ROOT / "explorer")
    assert any(graph.values())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_an_import_cycle_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "one.py").write_text("if True:\n    from two import x\n")
    (tmp_path / "two.py").write_text("def f():\n    import one\n")
    TopologicalSorter(_import_graph(tmp_path)).prepare()
    (tmp_path / "two.py").write_text("import one\n")
    with pytest.raises(CycleError):
        TopologicalSorter(_import_graph(tmp_path)).prepare()


def test_types_are_checked_in_every_room() -> None:
    """Strictly, and nothing is skipped."""
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


def test_every_room_stands_in_the_guide() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.parent for path in (ROOT / "explorer").rglob("__init__.py")}
    named = {"privacy", "ui", "engine"}
    rooms = {f.name for f in folders if f.parent.name == "explorer" or f.parent.name in named}
    assert {room for room in rooms - {"explorer"} if f"`{room}`" not in guide} == set()


def _imports_in_functions(tree: ast.Module) -> set[int]:
    """Return the lines inside functions on which something of the house is imported."""
    return {
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if (
            isinstance(node, ast.ImportFrom)
            and (node.level or str(node.module).split(".")[0] == "explorer")
        )
        or (
            isinstance(node, ast.Import)
            and any(a.name.split(".")[0] == "explorer" for a in node.names)
        )
    }


def test_the_house_is_imported_at_the_top_of_modules() -> None:
    """But for what would hold up the window; commands of the command line import what they need."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "explorer").rglob("*.py"))
        if "cli" not in path.relative_to(ROOT).parts
        for line in _imports_in_functions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) <= OWN_IMPORTS_IN_FUNCTIONS, found
