"""Links to errata in texts."""

import html

from PySide6.QtWidgets import QLabel

from explorer.studies.errata import LABEL, explained

SCHEME = "errata"


def linked(text: str) -> str:
    """Convert plain text to HTML in which errata labels are links."""
    return LABEL.sub(rf"<a href='{SCHEME}:\1'>\1</a>", html.escape(text))


def has_labels(text: str) -> bool:
    """Whether a text contains an erratum's label."""
    return LABEL.search(text) is not None


def with_titles(text: str) -> str:
    """Append the titles of errata to a tool tip, where links cannot be used."""
    return "\n".join(filter(None, (text, explained(text))))


def follow_links(label: QLabel) -> None:
    """Enable the links of a label for mouse and keyboard."""
    label.setOpenExternalLinks(True)  # passed to the handler of the scheme, `dialogs.errata`
