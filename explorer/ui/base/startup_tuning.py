"""Optimisations of start-up and responsiveness, each with its measured gain.

None changes what the program does; ``PRIVACY_EXPLORER_NO_TUNING=1`` disables all of them. Those
that gain less than 20 ms are removed. Unless stated otherwise, times are CPU times, medians of four
starts with and four without, run alternately, and halved because the machine had half the usual
speed.

Must be imported before Qt, and does not import it.
"""

import gc
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from explorer.shutdown import interrupts_deferred

TUNED = os.environ.get("PRIVACY_EXPLORER_NO_TUNING", "0") == "0"
STYLE_LATE = TUNED
"""Whether the style sheet is set when the window is built, not before: Qt looks for the rules of
every widget anew whenever it is put into another. 85 ms with a plot in front, 55 with a map; of
three starts with and three without."""
PAGE_FIRST = TUNED
"""Whether the start page, where it is in front, is painted before studies, numpy and pyqtgraph are
imported and the desk behind it is made. By the clock, not halved, of ten starts each, taken in turn
on two cores: the window after 0.44 s and not 0.93, the first curves behind it 60 ms later."""
COMPUTE_EARLY = TUNED
"""Whether the compute process is started before anything is asked of it: it imports on one core
what the window's first plot needs while the window is built on the other. By the clock, not halved,
of seven starts each, taken in turn on two cores with four times as much to do: first curves 900 ms
sooner (median of the differences; sooner in five of seven), 1.0 s after the window and not 2.5."""
MAKE_AHEAD = TUNED
"""Whether the pages of tabs behind the one in front are made when there is nothing else to do, not
when their tab is chosen: 105 ms for the plot, 100 for the map, 25 for the comparison, of two
starts with none to compare them with."""
WORKERS_EARLY = TUNED
"""Whether the processes that read Parquet and the like are started when the window is idle, before
such a file is chosen. By the clock, not halved, of six processes each, taken in turn on two busy
cores: preview and first picture of a Parquet file after 0.69 s and not 1.06."""
SWITCH_S = 0.0005
MIRRORED = ("QtCore", "QtGui", "QtWidgets")


def tune_interpreter() -> None:
    """Let a thread that computes hand over the interpreter's lock soon.

    Every call from Qt into Python takes that lock, and one repaint waits for it dozens of times.
    The longest gap in which nothing is painted while a file loads: 28 ms, with Python's own
    interval 90.
    """
    if TUNED:
        sys.setswitchinterval(SWITCH_S)


def freeze_gc() -> None:
    """Let the garbage collector pass over what stays as long as the program.

    A full collection then takes 1 ms instead of 25, in which neither thread does anything.
    """
    if TUNED:
        gc.freeze()


def tune_imports() -> None:
    """Leave out what Qt's binding does at import for other programs; before Qt is imported.

    This and `tune_plots` use private names. Where another version works otherwise, nothing is left
    out and nothing breaks.
    """
    if TUNED:
        skip_source_scan()


def tune_plots() -> None:
    """Leave out what pyqtgraph does at import for other programs; before it is imported."""
    if TUNED:
        import_pyqtgraph()


def skip_source_scan() -> None:
    """Keep PySide's import hook from reading the source of every module that is imported: 75 ms.

    It looks for the word PySide6 there, in case a module asks for other names of Qt's methods
    (``from __feature__ import snake_case``), which none here does.
    """
    with interrupts_deferred():
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
    """Import pyqtgraph without its copies of every name that Qt has: 60 ms.

    Of three starts with and three without.
    To be one module for all bindings, it copies all names of QtCore, QtGui and QtWidgets, and so
    has the binding make 1,500 classes that are otherwise made when first used.
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
