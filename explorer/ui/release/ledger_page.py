"""Ledger page and window: balances, releases, periodic cost, comparison, entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.files import write_whole
from explorer.privacy.releases.conversions import max_releases, periodic_cost, zcdp_break_even
from explorer.release.certificate.registry import compare_deployments
from explorer.release.errors import ParameterError
from explorer.release.exact_json import canonical
from explorer.release.ledger.chain import Entry, export_entries
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import SPENT, Account, Release
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.draft import LedgerState
from explorer.ui.release.fields import read_epsilon
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.section import Section

WEEKS = (4, 52, 260)
REACHED = (1, 3, 10)
DELTA = Fraction(1, 1_000_000)
MAX_ROWS = 9
STORED = ("committed", "published", "withdrawn")
NO_CALENDAR = "No calendar refills a budget: every release about the same people adds."
NOTHING = "There is no ledger yet: it begins when a group of people is opened in the release."


class LedgerPage(QScrollArea):
    """Balance text of an account.

    Signals
    -------
    change_asked(callable)
        Function that writes to the ledger passed to it.
    opened(Release)
        A stored output should be opened.
    failed(Exception)
    """

    change_requested = Signal(object)
    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(widgetResizable=True)
        self._theme = theme
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._ledger: LedgerState | None = None
        self._entries: Sequence[Entry] = ()
        self._listed: list[Release] = []
        self.note = styled_label("muted", NOTHING, word_wrap=True)
        self.balances = _table("Balances")
        self.releases = _table("Releases")
        self.weekly = _table("Weekly releases")
        self.beside = _table("Real deployments")
        self.entries = _table("Entries")
        self._build_actions()
        column = QVBoxLayout(inner := QWidget())
        column.setContentsMargins(12, 4, 12, 12)
        column.addWidget(self.note)
        self.weekly_said = styled_label("muted", word_wrap=True)
        self.beside_said = styled_label("muted", word_wrap=True)
        for title, parts in (
            ("Balances", (self.balances, self.changing)),
            ("Releases", (self.releases, self.look)),
            ("If it were repeated weekly", (self.each, self.weekly, self.weekly_said)),
            ("Beside real deployments", (self.beside, self.beside_said)),
            ("All entries", (self.entries, self.audit)),
        ):
            section = Section(title)
            for part in parts:
                section.rows.addWidget(part)
            column.addWidget(section)
        column.addStretch(1)
        self.setWidget(inner)
        self._show_weekly()

    def _build_actions(self) -> None:
        self.account = ChoiceBox("Account")
        self.account.setMinimumContentsLength(24)
        self.amount, self.what = QLineEdit(), QLineEdit()
        self.amount.setAccessibleName("ε of the raised limit or of what was spent elsewhere")
        self.amount.setPlaceholderText("ε")
        self.amount.setMaximumWidth(110)
        self.what.setAccessibleName("What it was spent on elsewhere")
        self.what.setPlaceholderText("what was released elsewhere")
        self.raising, self.external = (
            QPushButton("Raise the limit to ε"),
            QPushButton("Enter as spent"),
        )
        self.raising.setToolTip("Openly: every later certificate will say so")
        self.external.setToolTip("ε spent elsewhere on the same people: same unit, same neighbours")
        self.raising.clicked.connect(self._raise)
        self.external.clicked.connect(self._external)
        self.other = ChoiceBox("Account of the same people")
        self.other.setMinimumContentsLength(18)
        self.joining = QPushButton("Join with")
        self.joining.setToolTip(
            "They turn out to be the same people: spent adds, the smaller limit holds, for good; "
            "certificates say “joined after comparison”"
        )
        self.joining.clicked.connect(self._join)
        row = QHBoxLayout(actions := QWidget())
        self.changing = actions
        row.setContentsMargins(0, 0, 0, 0)
        for part in (self.account, self.amount, self.raising, self.what, self.external):
            row.addWidget(part)
        row.setStretch(3, 1)
        for part in (self.joining, self.other):
            row.addWidget(part)
        self.look = QPushButton("Look again at the chosen release (free)")
        self.look.clicked.connect(self._open)
        self.releases.doubleClicked.connect(lambda _: self._open())
        self.each = QLineEdit("0.1")
        self.each.setAccessibleName("ε of each weekly release")
        self.each.setMaximumWidth(110)
        self.each.textEdited.connect(lambda _: self._show_weekly())
        self.audit = QPushButton("Export all entries, for an auditor…")
        self.audit.setToolTip("Without outputs and key; it holds times in seconds")
        self.audit.clicked.connect(self._export)

    def show_ledger(self, ledger: LedgerState) -> None:
        """Show balances and releases."""
        self._ledger = ledger
        self.note.setText(str(ledger.place.ledger) if ledger.exists else NOTHING)
        selected = self.account.currentData()
        accounts = [(a.population, a.label or a.population) for a in ledger.accounts]
        self.account.offer(accounts, str(selected or (accounts[0][0] if accounts else "")))
        self.other.offer(accounts, str(accounts[-1][0] if accounts else ""))
        self.joining.setVisible(len(accounts) > 1)
        self.other.setVisible(len(accounts) > 1)
        _fill(
            self.balances,
            ("People", "Gate", "Limit", "Used", "Left", "A release would still fit"),
            [_balance(account) for account in ledger.accounts],
        )
        self._listed = list(ledger.releases)
        _fill(
            self.releases,
            ("Entry", "Date", "What", "ε", "State", "Counts"),
            [
                (
                    str(r.seq),
                    r.date,
                    r.mechanism,
                    rounded_up(r.epsilon),
                    r.state,
                    "yes" if r.state in SPENT else "no",
                )
                for r in self._listed
            ],
        )
        for part in (self.changing, self.look, self.audit):
            part.setEnabled(ledger.exists)

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show all entries, and real deployments for comparison."""
        self._entries = entries
        rows = []
        for entry in entries:
            body = entry.body
            about = body.get("mechanism") or body.get("label") or body.get("what") or ""
            spent = str(body.get("epsilon", body.get("rho", "")))
            time, kind = str(body["at"]), str(body["kind"])
            rows.append((str(entry.seq), time, kind, str(about), spent, entry.hash[:16]))
        _fill(self.entries, ("Entry", "Time", "Kind", "About", "ε or ρ", "Hash"), rows)
        result = compare_deployments()
        mine = (
            []
            if self._ledger is None
            else [
                (
                    account.label,
                    "",
                    "pure, user id, central",
                    rounded_up(account.spent_epsilon),
                    "all releases so far, by addition; user-level",
                )
                for account in self._ledger.accounts
            ]
        )
        theirs = [
            (
                row.name,
                row.year,
                row.registered,
                "–" if row.bar is None else rounded_up(row.bar),
                row.arithmetic,
            )
            for row in result.rows
        ]
        _fill(
            self.beside,
            ("Release", "Year", "As registered", "ε of a user, at most", "How"),
            [*mine, *theirs],
        )
        self.beside_said.setText(f"{result.source}. {result.licence}")

    def _show_weekly(self) -> None:
        try:
            epsilon = read_epsilon(self.each.text())
        except ParameterError:
            self.weekly_said.setText("Give ε of each, such as 0.1.")
            return
        rows = [
            (str(one.releases), rounded_up(one.sum_epsilon), rounded_up(one.zcdp_epsilon, 2))
            for one in periodic_cost(epsilon, DELTA, WEEKS)
        ]
        _fill(self.weekly, ("Weeks", "ε, sum", "ε, zcdp at δ = 10⁻⁶"), rows)
        reach = [
            f"ε = {limit} after {most[0]:,} weeks by sum, {most[1]:,} by zcdp"
            for limit in REACHED
            for most in (max_releases(epsilon, Fraction(limit), DELTA),)
        ]
        pays = f"zCDP is cheaper from {zcdp_break_even(epsilon, DELTA):,} releases of this ε on"
        self.weekly_said.setText(f"{NO_CALENDAR} {'; '.join([*reach, pays])}.")

    def _change(self, does: Callable[[Ledger, str, Fraction], object]) -> None:
        population = str(self.account.currentData() or "")
        try:
            epsilon = read_epsilon(self.amount.text())
        except ParameterError as error:
            self.failed.emit(error)
            return
        self.change_requested.emit(lambda ledger: does(ledger, population, epsilon))

    def _raise(self) -> None:
        self._change(lambda ledger, population, epsilon: ledger.raise_budget(population, epsilon))

    def _external(self) -> None:
        what = " ".join(self.what.text().split()) or "elsewhere"
        self._change(lambda ledger, population, epsilon: ledger.external(population, epsilon, what))

    def _join(self) -> None:
        one, other = str(self.account.currentData()), str(self.other.currentData())
        if one != other:
            self.change_requested.emit(lambda ledger: ledger.join(one, other))

    def _open(self) -> None:
        row = self.releases.currentIndex().row()
        stored = [r for r in self._listed if r.state in STORED]
        selected = [self._listed[row]] if 0 <= row < len(self._listed) else stored[-1:]
        for release in selected:
            if release.state in STORED:
                self.opened.emit(release)

    def _export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Export all entries", "ledger.json", "JSON (*.json)"
        )
        if path and self._ledger is not None:
            try:
                write_whole(Path(path), canonical(export_entries(self._ledger.id, self._entries)))
            except (OSError, ValueError) as error:
                self.failed.emit(error)


def _balance(account: Account) -> tuple[str, ...]:
    unit = "ρ = " if account.gate == "zcdp" else "ε = "
    fits = account.largest_fit()
    return (
        account.label,
        account.gate,
        unit + rounded_down(account.budget),
        unit + rounded_up(account.spent),
        unit + rounded_down(account.remaining),
        f"ε ≤ {rounded_down(fits)}" if fits else "nothing",
    )


def _table(name: str) -> NumberTable:
    table = NumberTable(name)
    table.setVerticalScrollMode(NumberTable.ScrollMode.ScrollPerPixel)
    return table


def _fill(table: NumberTable, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table with the height of its rows, up to a maximum."""
    table.set_table(columns, rows)
    table.resizeColumnsToContents()
    row = table.verticalHeader().defaultSectionSize()
    table.setFixedHeight((min(max(len(rows), 1), MAX_ROWS) + 1) * row + 14)


SIZE = (900, 640)


class LedgerWindow(QDialog):
    """Window with the ledger page.

    Parameters
    ----------
    page : LedgerPage
    parent : QWidget

    Signals
    -------
    wanted()
        Emitted when shown: the ledger should be read again.
    """

    wanted = Signal()

    def __init__(self, page: LedgerPage, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Ledger")
        self.page = page
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(page)
        self.resize(*SIZE)

    def bring_up(self) -> None:
        """Show the window in front."""
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:
        """Request the ledger."""
        super().showEvent(event)
        self.wanted.emit()
