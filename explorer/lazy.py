"""Lazy imports: names of a package are imported on first use, and libraries only where they are.

A package lists its public names once, in ``__init__.pyi``, which type checkers read too. Importing
the package only reads that list. Importing all of `explorer.privacy` would take seconds, most of it
for scipy and compiled kernels that the window needs late or never.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any


def lazy_names(
    spec: ModuleSpec,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__all__``, ``__getattr__`` and ``__dir__`` (PEP 562).

    Parameters
    ----------
    spec : ModuleSpec
        The package's ``__spec__``. Its loader reads the stub, so that a zipped package works too.
    """
    assert spec.loader is not None
    assert spec.origin is not None
    # also of a frozen build, where the origin ends with .pyc
    place = str(PurePath(spec.origin).with_suffix(".pyi"))
    stub = spec.loader.get_data(place)  # type: ignore[attr-defined]
    home = {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def getattribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {spec.name!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(import_module(spec.name), name, value)
        return value

    return sorted(home), getattribute, lambda: sorted(home)


def missing_library(what: str, extra: str, *libraries: str) -> str:
    """Return an installation hint for missing libraries, empty if all are installed.

    Parameters
    ----------
    what : str
        What needs the libraries, as the sentence begins.
    extra : str
        Extra of this package that installs them.
    """
    lacking = [name for name in libraries if find_spec(name) is None]
    if not lacking:
        return ""
    several = len(lacking) > 1
    return (
        f"{what} needs the librar{'ies' if several else 'y'} {' and '.join(lacking)}, which "
        f"{'are' if several else 'is'} not installed: pip install '.[{extra}]'"
    )
