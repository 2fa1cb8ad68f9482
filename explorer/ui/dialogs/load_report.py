"""Report on a loaded file: rows read, rows rejected and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.geography.coordinates import format_place
from explorer.ui.base.errors import explain
from explorer.ui.base.jobs import LatestJob
from explorer.ui.base.styled import plain_label, plain_tip, styled_label
from explorer.ui.controllers.data_controller import DataController

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.checkins.model import PartReport

MANY_PARTS = 6
"""Maximum number of files listed."""


class LoadReportDialog(QDialog):
    """Counts, reasons with the first lines, and export of the rejected rows.

    Parameters
    ----------
    files : DataController
        Writes the rejected rows.
    data : CheckinData
    """

    def __init__(
        self, files: DataController, data: CheckinData, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._files, self.data = files, data
        report = data.report
        self.setWindowTitle(f"{data.basename}: what was read")
        self._job = LatestJob("exporting rejected rows", self)
        self.finished.connect(self._job.close)
        self._job.done.connect(self._exported)
        self._job.failed.connect(
            lambda _key, error: self._show_message(explain(error, "export").sentence)
        )
        box = QVBoxLayout(self)
        form = QFormLayout()
        form.setHorizontalSpacing(18)
        for name, text in self._facts():
            value = plain_label(text, word_wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            form.addRow(styled_label("muted", name), value)
        box.addLayout(form)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Rejected rows, by reason")
        self.tree.setHeaderLabels(["Rows or line", "Reason / row content"])
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.setUniformRowHeights(True)
        self._fill()
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        box.addWidget(styled_label("heading", "Rejected"))
        box.addWidget(self.tree, 1)
        self.message = plain_label(word_wrap=True)
        self.message.hide()
        box.addWidget(self.message)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.export_button = buttons.addButton(
            "Export all rejected …", QDialogButtonBox.ButtonRole.ActionRole
        )
        self.export_button.setAutoDefault(False)
        self.export_button.setToolTip("Write line number, reason and text of every such row")
        self.export_button.setEnabled(bool(report.total_rejected))
        self.export_button.clicked.connect(self._choose_file)
        buttons.rejected.connect(self.reject)
        box.addWidget(buttons)
        self.resize(680, 560)

    def _facts(self) -> list[tuple[str, str]]:
        data, report = self.data, self.data.report
        extent = data.extent
        lines = f"{report.physical_lines:,}"
        parts = {
            "header": report.header,
            "before the header": report.before_header,
            "blank": report.blank,
            "continued": report.continued,
        }
        if any(parts.values()):  # totals are shown above
            lines += " (" + ", ".join(f"{n:,} {what}" for what, n in parts.items() if n) + ")"
        facts = [
            ("Rows kept", f"{report.kept:,}"),
            ("Rows rejected", f"{report.total_rejected:,}"),
            ("Lines in the files" if report.parts else "Lines in the file", lines),
            *([("Files", _parts(report.parts))] if report.parts else []),
            ("Users", f"{data.users:,}" if data.unit == "user" else UNITS[data.unit]),
            ("Columns", _columns(data)),
            (
                "Time span",
                f"{data.first_time} – {data.last_time}{_zone(data)}"
                if data.has_times
                else "no times",
            ),
            (
                "Extent",
                f"{format_place(*extent[:2], 3, data.plane)}  to  "
                f"{format_place(*extent[2:], 3, data.plane)}",
            ),
            *([("Range", data.plane.sentence)] if data.plane is not None else []),
            ("Weights", "one column" if data.has_weights else "every row counts once"),
            ("sha256", data.fingerprint or "not taken"),
        ]
        if report.notes:
            facts.append(("Notes", "\n".join(report.notes)))
        return facts

    def _fill(self) -> None:
        report = self.data.report
        for reason, count in sorted(report.rejected.items(), key=lambda item: -item[1]):
            said = reason.describe(self.data.mapping)
            top = QTreeWidgetItem([f"{count:,}", said])
            top.setToolTip(1, said)
            for example in report.examples.get(reason, ()):
                text = example.text.replace("\t", " ⇥ ")
                where = f"{example.part}, " if example.part else ""
                child = QTreeWidgetItem([f"{where}line {example.line:,}", text])
                child.setToolTip(1, plain_tip(text))
                top.addChild(child)
            rest = count - top.childCount()
            if rest > 0 and top.childCount():
                top.addChild(QTreeWidgetItem(["…", f"and {rest:,} more: export them all"]))
            self.tree.addTopLevelItem(top)
            top.setExpanded(len(report.rejected) <= 3)
        if not report.rejected:
            self.tree.addTopLevelItem(QTreeWidgetItem(["0", "Every row could be read."]))

    def _choose_file(self) -> None:
        name = f"{Path(self.data.basename).name.partition('.')[0]}-set-aside.csv"
        path, _ = QFileDialog.getSaveFileName(self, "Export all rejected rows", name, "CSV (*.csv)")
        if path:
            self.export_to(Path(path))

    def export_to(self, path: Path) -> None:
        """Write the rejected rows to a file, in a thread."""
        self.export_button.setEnabled(False)
        self._show_message("Exporting …")
        question = self.data, "export_rejected", path
        self._job.submit(path, lambda task: self._files.ask(task, *question))

    def _exported(self, path: Path, _count: object) -> None:
        self.export_button.setEnabled(True)
        self._show_message(f"{self.data.report.total_rejected:,} rows written to {path.name}.")

    def _show_message(self, text: str) -> None:
        self.message.setText(text)
        self.message.show()
        self.export_button.setEnabled(text != "Exporting …")


UNITS = {
    "row": "no user column: every row is protected by itself",
    "file": "no user column: the whole file is protected, its map is nearly pure noise",
}
"""Privacy units of files without a user column."""


def _columns(data: CheckinData) -> str:
    """Return names and 1-based numbers of the mapped columns."""
    return ", ".join(
        f"{role}: {name} ({getattr(data.mapping, role) + 1})" for role, name in data.names.items()
    )


def _parts(parts: Sequence[PartReport]) -> str:
    """Return one line per file on its kept and rejected lines."""
    shown = [f"{p.name}: {p.kept:,} kept, {p.rejected:,} rejected" for p in parts[:MANY_PARTS]]
    rest = len(parts) - len(shown)
    return "\n".join([*shown, *([f"… and {rest:,} more"] if rest else [])])


def _zone(data: CheckinData) -> str:
    """Return the time zone applied to times without offset, if there are any."""
    zone = data.mapping.zone or "UTC"
    return f" (times without an offset: {zone})" if data.report.naive_times else ""
