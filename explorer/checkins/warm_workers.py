"""Start the workers that read strangers' files before such a file is opened.

Imports no reader, so that a command can start a worker before it imports them itself.
"""

from pathlib import Path

from explorer import bounded

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")
"""Files that are read in the process that asks, as a rule."""
MODULES = ("explorer.checkins.readers.first_look",)
"""What workers import before their first call."""


def warm_workers(count: int, *paths: Path) -> None:
    """Start so many workers, if they are not at hand, unless names say that all paths are text.

    Parameters
    ----------
    count : int
        1 for a load, 2 for one with an early picture.
    paths : Path
        What will be opened; nothing if that is not known yet.
    """
    if not paths or any(path.suffix.lower() not in TEXT_SUFFIXES for path in paths):
        bounded.warm(count, MODULES)
