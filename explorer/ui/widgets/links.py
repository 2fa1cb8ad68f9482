"""Links to errata in texts."""

import html

from PySide6.QtWidgets import QLabel

from explorer.studies.errata import LABEL, explained

SCHEME = "errata"


def linked(text: str) -> str:
    """Return plain text as HTML in which every label of an erratum is a link."""
    return LABEL.sub(rf"<a href='{SCHEME}:\1'>\1</a>", html.escape(text))


def has_labels(text: str) -> bool:
    """Whether a text names an erratum."""
    return LABEL.search(text) is not None


def with_titles(text: str) -> str:
    """Return a tooltip's plain text with what its labels are about: links in one can't be used."""
    return "\n".join(filter(None, (text, explained(text))))


def follow_links(label: QLabel) -> None:
    """Let a label's links be followed by mouse and keyboard."""
    label.setOpenExternalLinks(
        True
    )  # they are handed to whoever has the scheme: `controllers.errata`
