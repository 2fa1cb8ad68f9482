"""What can go wrong with a check-in file, in words for the person who opened it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from explorer.checkins.model import Preview


def shown_name(path: Path) -> str:
    """Return a file's name as it can be shown, printed and stored: one line of valid UTF-8."""
    name = path.name or str(path)
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return printable(text)


def printable(text: str) -> str:
    """Return a text of a file as it can be shown: on one line, control characters marked."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


class CheckinError(ValueError):
    """A check-in file can't be used; the message names the file, the fault and the remedy."""


class MappingNeeded(CheckinError):  # noqa: N818  (what it asks for, not what failed)
    """The columns can't be told from names and contents; somebody must say which is which.

    Attributes
    ----------
    preview : Preview
        What was seen in the file, for a mapping step.
    """

    def __init__(self, message: str, preview: Preview) -> None:
        super().__init__(message)
        self.preview = preview

    def __reduce__(self) -> tuple[type[MappingNeeded], tuple[str, Preview]]:
        """Pickle by message and preview: another process may have looked."""
        return type(self), (str(self), self.preview)


class UnpackNeeded(CheckinError):  # noqa: N818  (what it asks for, not what failed)
    """A file unpacks to far more than such files do; somebody must confirm that it is trusted."""


class LoadCancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """Loading was stopped because its answer is no longer wanted."""


class FetchError(Exception):
    """A file could not be fetched; the message says why and what to do."""


class FetchCancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """Fetching was stopped; what has arrived is kept for the next call."""


def missing_library(what: str, extra: str, *libraries: str) -> str:
    """Return a sentence about what to install, empty if nothing is missing.

    Parameters
    ----------
    what : str
        What needs the libraries, as the sentence begins.
    extra : str
        What of this package installs them.
    """
    lacking = [name for name in libraries if find_spec(name) is None]
    if not lacking:
        return ""
    several = len(lacking) > 1
    return (
        f"{what} needs the librar{'ies' if several else 'y'} {' and '.join(lacking)}, which "
        f"{'are' if several else 'is'} not installed: pip install '.[{extra}]'"
    )
