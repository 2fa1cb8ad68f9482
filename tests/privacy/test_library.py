"""The library as a researcher imports it: every name, lazily, typed, and the guide's examples."""

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

PACKAGES = (
    "coordinates", "heatmaps", "histograms", "learning", "shuffle_rdp", "spaces", "user_metric",
)  # fmt: skip
HEAVY = ("scipy", "numba", "cvxpy", "sklearn", "pandas", "matplotlib", "PySide6", "numpy")


@pytest.mark.parametrize("name", library.__all__)
def test_every_name_is_there(name):
    value = getattr(library, name)
    assert name in dir(library)
    if not inspect.ismodule(value):
        home = importlib.import_module(f"explorer.privacy.{library._HOME[name]}")
        assert value is getattr(home, name)
    assert (inspect.getdoc(value) or "").strip()


def test_no_name_is_ambiguous():
    for name, home in library._HOME.items():
        others = [
            package
            for package in PACKAGES
            if package != home
            and name in importlib.import_module(f"explorer.privacy.{package}").__all__
        ]
        assert others == [], name


def test_every_module_is_listed_or_inner():
    folder = Path(library.__file__).parent
    inner = {
        "binomial", "binomial_tails", "clone_guess", "clone_pair", "grid_cycles", "grid_flow",
        "grid_levels", "loss_sums", "roots",
    }  # fmt: skip
    found = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert found - inner - {"__init__"} == set(library._MODULES)


def test_types_are_known_for_what_is_there():
    # What mypy reads (imports under TYPE_CHECKING) is what Python finds (__all__).
    tree = ast.parse(inspect.getsource(library))
    (block,) = (
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node)
    )
    typed = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(typed) == set(library.__all__)
    for name, home in library._HOME.items():
        assert typed[name] == f"explorer.privacy.{home}"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        library.nothing  # noqa: B018
    with pytest.raises(ImportError):
        exec("from explorer.privacy import nothing")


def test_importing_it_costs_nothing():
    code = "import sys, explorer.privacy; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=time_limit(60),
    )
    assert not {name.partition(".")[0] for name in done.stdout.split()} & set(HEAVY)


def test_the_guides_examples_run():
    found = doctest.testmod(library)
    assert found.attempted >= 9
    assert found.failed == 0
