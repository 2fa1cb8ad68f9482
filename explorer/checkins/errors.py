"""Errors of check-in files, with messages for users."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from explorer.checkins.model import Preview


def shown_name(path: Path) -> str:
    """Return a file's name for display and storage: one line of valid UTF-8."""
    name = path.name or str(path)
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return printable(text)


def printable(text: str) -> str:
    """Return a text on one line with control characters replaced."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


class CheckinError(ValueError):
    """A check-in file cannot be used; the message names file, fault and remedy."""


class MappingNeeded(CheckinError):  # noqa: N818  (names the remedy)
    """The columns cannot be determined and must be chosen by the user.

    Attributes
    ----------
    preview : Preview
        Preview of the file, for choosing the columns.
    """

    def __init__(self, message: str, preview: Preview) -> None:
        super().__init__(message)
        self.preview = preview

    def __reduce__(self) -> tuple[type[MappingNeeded], tuple[str, Preview]]:
        """Pickle by message and preview, because the error may come from a worker."""
        return type(self), (str(self), self.preview)


class UnpackNeeded(CheckinError):  # noqa: N818  (names the remedy)
    """A file unpacks to an implausible size; the user must confirm that it is trusted."""


class LoadCancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """Loading was cancelled."""


class FetchError(Exception):
    """A download failed; the message gives reason and remedy."""


class FetchCancelled(Exception):  # noqa: N818  (the standard word of the field for it)
    """A download was cancelled; the next call continues from the received part."""


def rows_readable(share: float) -> str:
    """Return how many of the first rows a format reads, by their share from 0 to 1."""
    few = "None" if share == 0 else "Less than 1%" if share < 0.005 else f"Only {share:.0%}"
    return f"{few} of the first rows can be read with these settings."
