"""Support of PyInstaller builds for libraries that start ``python -c …``.

Libraries start processes by ``python -m`` and ``python -c``; in a build with no Python beside it
these call the program itself.
"""

import multiprocessing
import runpy
import sys

from explorer.bounded import COMMAND

MODULE = "loky.backend.popen_loky_posix"
COMMANDS = (
    COMMAND,
    "from loky.backend.resource_tracker import main",
    "from multiprocessing.resource_tracker import main",
    "import sys; from PySide6.QtGui import QGuiApplication",
)
"""How the commands begin that may come: a worker of `explorer.bounded`, two libraries', and
the check of Qt's platforms."""


def run_child_command(arguments: list[str]) -> bool:
    """Run the command a library started this process with; False if a user started it.

    Parameters
    ----------
    arguments : list of str
        All that the process was started with, its program first.
    """
    multiprocessing.freeze_support()  # does not come back in a process of multiprocessing's
    program, *rest = arguments
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest.pop(0)  # flags of an interpreter
    if len(rest) < 2:
        return False
    switch, what, *others = rest
    if switch == "-m" and what == MODULE:
        sys.argv = [program, *others]
        runpy.run_module(MODULE, run_name="__main__")
        return True
    if switch == "-c" and what.startswith(COMMANDS):
        sys.argv = ["-c", *others]
        exec(what, {"__name__": "__main__"})
        return True
    return False
