"""Public maps of a release in the wizard: files with typed names, cities and earlier releases."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLineEdit, QMenu, QPushButton, QWidget

from explorer import __version__
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import CHECKINS, CITIES, EARLIER, GRID, MAX_PRIORS
from explorer.release.priors import MAPS, RELEASED
from explorer.release.rounding import rounded_up
from explorer.studies.base.study import parameter
from explorer.studies.registry import get_study
from explorer.ui.base.styled import styled_label
from explorer.ui.release.draft import Draft, LedgerState, PublicMap
from explorer.ui.release.wizard import Card, mark_wrong

WHAT = {
    CHECKINS: "Check-ins of other people",
    GRID: "Grid of people",
    CITIES: "Cities, built into this program",
    EARLIER: "Release",
}
"""Kinds of public maps."""
NOTE = "Optional. They spend nothing of the budget."
DECLARED = "By adding a file you declare that it was public already and chosen without these data."
NO_RELEASE = "No earlier release about these people can be used"


class PublicMaps(Card):
    """Rows of public maps, and a menu to add one.

    Signals
    -------
    file_chosen(str, Path)
        Kind and path of a file to add.
    added(PublicMap)
        Cities or an earlier release.
    labelled(int, str)
        Place of a file and its name for the certificate.
    removed(int)
        Place.
    """

    file_chosen = Signal(str, object)
    added = Signal(object)
    labelled = Signal(int, str)
    removed = Signal(int)

    def __init__(self) -> None:
        self.add_button = QPushButton("&Add…")
        self.add_button.setAccessibleName("Add a public map")
        super().__init__("Public maps", self.add_button)
        self.menu = QMenu(self)
        self.add_button.clicked.connect(self._offer)
        self._draft = Draft()
        self._ledger: LedgerState | None = None
        self._shown: tuple[tuple[str, str], ...] = ()
        self.labels: dict[int, QLineEdit] = {}
        """Fields for the names of files, by place."""
        self.removers: list[QPushButton] = []
        self._rows = QWidget()
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setVerticalSpacing(2)
        self.told = styled_label("", word_wrap=True)
        self.note = styled_label("faint", NOTE, word_wrap=True)
        self.add(self.note, self._rows, self.told)

    def show_maps(self, draft: Draft, ledger: LedgerState | None) -> None:
        """Show the public maps of a draft; the same ones keep their fields and the focus."""
        self._draft, self._ledger = draft, ledger
        self.setVisible(draft.takes_maps)
        shown = tuple((one.kind, one.key) for one in draft.maps)
        if shown != self._shown:
            self._shown = shown
            self._build()
        for place, edit in self.labels.items():
            if draft.maps[place].label.strip():
                mark_wrong(edit, wrong=False)
            if edit.text() != draft.maps[place].label:
                with QSignalBlocker(edit):
                    edit.setText(draft.maps[place].label)
        self._rows.setVisible(bool(shown))
        declared = DECLARED * any(one.has_label for one in draft.maps)
        told = "\n".join(filter(None, (*(one.sentence for one in draft.maps), declared)))
        self.told.setText(told)
        self.note.setVisible(not shown)
        self.told.setVisible(bool(told))
        self.add_button.setEnabled(len(shown) < MAX_PRIORS)

    def _build(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.labels, self.removers = {}, []
        stops: list[QWidget] = [self.add_button]
        for place, one in enumerate(self._draft.maps):
            name = Path(one.path).name if one.has_label else self._described(one)
            told = f"{name}, sha256 {one.key[:12]}…" if one.has_label else name
            what = styled_label("", told, word_wrap=True)
            what.setToolTip(f"{WHAT[one.kind]}: {one.path or name}\n{one.key}")
            self._grid.addWidget(what, 2 * place, 0)
            if one.has_label:
                edit = self.labels[place] = QLineEdit()
                edit.setAccessibleName(f"Name of {name} for the certificate")
                edit.setPlaceholderText("its name in the certificate")
                edit.setToolTip("What the certificate calls it, such as: Check-ins of X, 2019")
                edit.textEdited.connect(partial(self.labelled.emit, place))
                self._grid.addWidget(edit, 2 * place + 1, 0, 1, 2)
            remove = QPushButton("Remove")
            remove.setObjectName("link")
            remove.setAccessibleName(f"Remove {name}")
            remove.clicked.connect(lambda _=False, place=place: self.removed.emit(place))
            self._grid.addWidget(remove, 2 * place, 1)
            self.removers.append(remove)
            stops += [remove, *([self.labels[place]] if one.has_label else [])]
        for before, after in pairwise(stops):
            after.show()  # the layout would do so later, and what is hidden takes no focus
            QWidget.setTabOrder(before, after)

    def _described(self, one: PublicMap) -> str:
        """Return what a map without a file is."""
        releases = () if self._ledger is None else self._ledger.releases
        release = next((r for r in releases if r.id == one.key), None)
        if release is None:
            return f"{WHAT[one.kind]} {one.key[:8]}…" * (one.kind == EARLIER) or WHAT[one.kind]
        return (
            f"{WHAT[EARLIER]} {release.id[:8]}…, {release.date[:10]}, "
            f"ε = {rounded_up(release.epsilon)}"
        )

    def _offer(self) -> None:
        """Open the menu of what can be added."""
        self.menu.clear()
        for kind in (CHECKINS, GRID):
            action = self.menu.addAction(f"{WHAT[kind]}…")
            action.triggered.connect(lambda _=False, kind=kind: self._browse(kind))
        present = {(one.kind, one.key) for one in self._draft.maps}
        others = [PublicMap(CITIES, __version__), *self._earlier()]
        for one in others:
            action = self.menu.addAction(self._described(one))
            action.setEnabled((one.kind, one.key) not in present)
            action.triggered.connect(lambda _=False, one=one: self.added.emit(one))
        if len(others) == 1:
            self.menu.addAction(NO_RELEASE).setEnabled(False)
        self.menu.popup(self.add_button.mapToGlobal(self.add_button.rect().bottomLeft()))

    def _earlier(self) -> list[PublicMap]:
        """Return the earlier maps of these people, the newest first."""
        releases = () if self._ledger is None else self._ledger.releases
        return [
            PublicMap(EARLIER, release.id)
            for release in reversed(releases)
            if self._ledger is not None
            and release.state in RELEASED
            and release.mechanism in MECHANISMS
            and release.mechanism.startswith(MAPS)
            and self._ledger.charged(release.population) == self._draft.population
        ]

    def _browse(self, kind: str) -> None:
        patterns = " ".join(
            f"*{suffix}" for suffix in parameter(get_study("heatmap"), f"prior_{kind}").suffixes
        )
        path, _ = QFileDialog.getOpenFileName(
            self, WHAT[kind], "", f"{WHAT[kind]} ({patterns});;All files (*)"
        )
        if path:
            self.file_chosen.emit(kind, Path(path))
