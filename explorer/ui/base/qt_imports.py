"""Leaves out what Qt's binding and pyqtgraph do at import for programs other than this one.

To be called before the window is imported. Where another version of either works otherwise,
nothing is left out and nothing breaks.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

MIRRORED = ("QtCore", "QtGui", "QtWidgets")


def trim_qt_imports() -> None:
    """Keep both from their needless work; measured: 140 of 400 ms of imports."""
    skip_source_scan()
    import_pyqtgraph()


def skip_source_scan() -> None:
    """Keep PySide's import hook from reading the source of every module that is imported.

    It looks for the word PySide6 there, in case a module asks for other names of Qt's methods
    (``from __feature__ import snake_case``), which none here does: a window's worth of modules
    takes 60 ms, and their sources stay in memory.
    """
    import_module("shiboken6.Shiboken")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda _module: False


class _Mirror(ModuleType):
    """One of pyqtgraph's names for Qt's modules; it finds what it is asked for when asked."""

    def __init__(self, source: ModuleType) -> None:
        super().__init__(f"pyqtgraph.Qt.{source.__name__.rpartition('.')[2]}")
        self._source = source

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._source, name)
        setattr(self, name, value)
        return value


def import_pyqtgraph() -> None:
    """Import pyqtgraph without its copies of every name that Qt has.

    To be one module for all bindings, it copies all names of QtCore, QtGui and QtWidgets, and so
    has the binding make 1,500 classes that are otherwise made when first used: 85 ms.
    """
    if "pyqtgraph" in sys.modules:
        return
    sources = [import_module(f"PySide6.{name}") for name in MIRRORED]
    for source in sources:
        mirror = _Mirror(source)
        sys.modules[mirror.__name__] = mirror
        source.__dict__["__dir__"] = list  # so that there is nothing to copy
    try:
        import_module("pyqtgraph")
    finally:
        for source in sources:
            del source.__dict__["__dir__"]
