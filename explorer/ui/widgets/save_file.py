"""Asking for a file to write, in one of the formats of a kind."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from explorer.figures.formats import Kind, of_kind


def ask_for_file(parent: QWidget, title: str, start: Path, kind: Kind) -> Path | None:
    """Return the file that the user names, its extension one of the formats'; None if none.

    Without an extension of theirs it gets that of the chosen filter; `start` has none.
    """
    offered = of_kind(kind)
    filters = ";;".join(form.filter for form in offered)
    begin = f"{start}.{offered[0].suffix}"
    chosen, taken = QFileDialog.getSaveFileName(parent, title, begin, filters)
    if not chosen:
        return None
    path = Path(chosen)
    if path.suffix.lower() in [f".{form.suffix}" for form in offered]:
        return path
    form = next((f for f in offered if f.filter == taken), offered[0])
    return path.with_name(f"{path.name}.{form.suffix}")
