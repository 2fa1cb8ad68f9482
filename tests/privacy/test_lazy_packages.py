"""Packages that import nothing before it is used: all names, as typed, and none of a module's."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGES = ("coordinates", "heatmaps", "user_metric")


@pytest.fixture(params=PACKAGES)
def package(request):
    return importlib.import_module(f"explorer.privacy.{request.param}")


def test_every_name_is_there(package):
    assert set(package._HOME) == set(package.__all__) <= set(dir(package))
    for name, home in package._HOME.items():
        module = importlib.import_module(f"{package.__name__}.{home}")
        assert getattr(package, name) is getattr(module, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_types_are_known_for_what_is_there(package):
    typed = {
        alias.name: node.module.rpartition(".")[2]
        for node in ast.walk(ast.parse(inspect.getsource(package)))
        if isinstance(node, ast.ImportFrom) and node.module.startswith(package.__name__)
        for alias in node.names
    }
    assert typed == package._HOME


def test_no_name_is_a_modules(package):
    # Once imported, a module would stand in its place, unless the package sees to it.
    modules = {path.stem for path in Path(package.__file__).parent.glob("*.py")}
    shared = sorted(modules & set(package.__all__))
    assert not shared or type(package) is not ModuleType
    code = (
        f"import {', '.join(['sys', *(f'{package.__name__}.{name}' for name in shared)])}\n"
        f"import {package.__name__} as package\n"
        f"print([n for n in {shared!r} if type(getattr(package, n)).__name__ == 'module'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_imported_before_it_is_used(package):
    name = package.__name__
    code = f"import sys, {name}; print([m for m in sys.modules if m.startswith({name + '.'!r})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
