"""The library as a researcher imports it: every name, lazily, and the guide's examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import explorer.privacy as library
from tests.waiting import time_limit

ROOT = Path(library.__file__).parent
LAZY = sorted(
    ".".join(stub.parent.relative_to(ROOT.parents[1]).parts) for stub in ROOT.rglob("__init__.pyi")
)
HEAVY = ("scipy", "numba", "cvxpy", "pandas", "matplotlib", "PySide6", "numpy")


def homes(package: str) -> dict[str, str]:
    """Return the names that a package's stub lists, each with the module it is from."""
    stub = ROOT.parents[1].joinpath(*package.split("."), "__init__.pyi")
    return {
        alias.name: node.module
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_there(package):
    module = importlib.import_module(package)
    names = homes(package)
    assert set(names) == set(module.__all__) == set(dir(module))
    for name, home in names.items():
        value = getattr(module, name)
        assert value is getattr(importlib.import_module(home), name)
        assert (inspect.getdoc(value) or "").strip(), name


def test_no_name_is_ambiguous():
    packages = {f"explorer.privacy.{path.parent.name}" for path in ROOT.glob("*/__init__.py")}
    for name, home in homes("explorer.privacy").items():
        others = [
            package
            for package in packages - {home}
            if name in getattr(importlib.import_module(package), "__all__", ())
        ]
        assert others == [], name


@pytest.mark.parametrize("package", LAZY)
def test_no_name_is_a_modules(package):
    # Once imported, the module would stand in its place.
    folder = Path(importlib.import_module(package).__file__).parent
    assert not {path.stem for path in folder.iterdir()} & homes(package).keys()


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        library.nothing  # noqa: B018
    with pytest.raises(ImportError):
        exec("from explorer.privacy import nothing")


def test_importing_it_costs_nothing():
    code = f"import sys, {', '.join(LAZY)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=time_limit(60),
    )
    loaded = done.stdout.split()
    assert not {name.partition(".")[0] for name in loaded} & set(HEAVY)
    assert [name for name in loaded if name.startswith("explorer.privacy")] == LAZY


def test_the_guides_examples_run():
    found = doctest.testmod(library)
    assert found.attempted >= 9
    assert found.failed == 0
