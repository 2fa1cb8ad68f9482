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
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from explorer.shutdown import interrupts_deferred

TUNED = os.environ.get("PRIVACY_EXPLORER_NO_TUNING", "0") == "0"
STYLE_LATE = TUNED
"""Set the style sheet after the window is built: Qt matches the rules of every widget again
whenever it is reparented. Saves 85 ms with a plot, 55 ms with a map; three starts each."""
PAGE_FIRST = TUNED
"""Paint the start page before importing studies, numpy and pyqtgraph and building the rest.
Wall-clock times, not halved, ten starts each, alternating on two cores: window after 0.44 s instead
of 0.93 s, first curves behind it 60 ms later."""
COMPUTE_EARLY = TUNED
"""Start the compute process before the first request: it imports modules on one core while the
window is built on the other. Wall-clock times, not halved, seven starts each, alternating on two
cores under fourfold load: first curves 900 ms sooner (median of the differences; sooner in five of
seven), 1.0 s after the window instead of 2.5 s."""
MAKE_AHEAD = TUNED
"""Build the pages of background tabs while idle instead of when selected: saves 105 ms for the
plot, 100 for the map, 25 for the comparison; two starts, without comparison."""
WORKERS_EARLY = TUNED
"""Start the processes that read Parquet and similar files while idle. Wall-clock times, not halved,
six processes each, alternating on two busy cores: preview of a Parquet file after 0.69 s instead of
1.06 s."""
SWITCH_S = 0.0005
MIRRORED = ("QtCore", "QtGui", "QtWidgets")


def tune_interpreter() -> None:
    """Shorten the interval after which computing threads release the interpreter lock.

    Every call from Qt into Python takes that lock, dozens of times per repaint. The longest gap
    without painting while a file loads is 28 ms; with Python's default interval, 90 ms.
    """
    if TUNED:
        sys.setswitchinterval(SWITCH_S)


@contextmanager
def gc_deferred() -> Iterator[None]:
    """Collect no garbage until `freeze_gc` or the end: what is imported and built stays (27 ms).

    Wall-clock time, not halved, fourteen starts each, alternating.
    """
    if TUNED:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()


def freeze_gc() -> None:
    """Exclude long-lived objects from garbage collection, and collect it from now on.

    A full collection then takes 1 ms instead of 25 ms, during which no thread runs.
    """
    if TUNED:
        gc.freeze()
        gc.enable()


def tune_imports() -> None:
    """Skip work of PySide at import that this program does not need; before Qt is imported.

    This and `tune_plots` use private names. In versions without them nothing is skipped.
    """
    if TUNED:
        skip_source_scan()


def tune_plots() -> None:
    """Skip work of pyqtgraph at import that this program does not need; before it is imported."""
    if TUNED:
        import_pyqtgraph()


def skip_source_scan() -> None:
    """Stop PySide's import hook from reading the source of every imported module (75 ms).

    It searches for the word PySide6, in case a module uses ``from __feature__ import snake_case``;
    none does here.
    """
    with interrupts_deferred():
        import_module("shiboken6.Shiboken")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda _module: False


class _Mirror(ModuleType):
    """Stand-in for one of pyqtgraph's copies of Qt modules; resolves names on demand."""

    def __init__(self, source: ModuleType) -> None:
        super().__init__(f"pyqtgraph.Qt.{source.__name__.rpartition('.')[2]}")
        self._source = source

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._source, name)
        setattr(self, name, value)
        return value


def import_pyqtgraph() -> None:
    """Import pyqtgraph without its copies of all Qt names (60 ms).

    Three starts each. To support several bindings it copies all names of QtCore, QtGui and
    QtWidgets, which makes PySide create 1,500 classes that are otherwise created on first use.
    """
    if "pyqtgraph" in sys.modules:
        return
    sources = [import_module(f"PySide6.{name}") for name in MIRRORED]
    for source in sources:
        mirror = _Mirror(source)
        sys.modules[mirror.__name__] = mirror
        source.__dict__["__dir__"] = list  # nothing to copy
    try:
        import_module("pyqtgraph")
    finally:
        for source in sources:
            del source.__dict__["__dir__"]
