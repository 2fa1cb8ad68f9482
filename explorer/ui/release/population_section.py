"""Page *People*: groups of people with their budgets, and a form that opens a new group."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.release.errors import ParameterError
from explorer.release.ledger.state import GATES, Account, Release
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.draft import LedgerState, gate_text
from explorer.ui.release.fields import read_epsilon
from explorer.ui.release.summary_panel import BudgetBar
from explorer.ui.release.wizard import bold_label, labelled, mark_wrong
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox

NEW = "new"
DELTA = Fraction(1, 10**9)
_GATE_WORDS = {"sum": "ε values add up", "zcdp": "zCDP, the values of ε²/2 add up (δ = 10⁻⁹)"}
UNIT = (
    "Each value in the column “user” is one person. All rows with the same value, in every file "
    "about this group, are protected together."
)
BOTH_WAYS = "The guarantee is ε for adding or removing a user; 2ε for replacing one."
TWO_IDS = (
    "A person with two values in this column is protected as two people. To use another column, "
    "open the file again."
)
HELP = (
    "Whoever reads this release, and all later ones about these people, learns almost nothing "
    "about whether any one person is in them. The number ε says how much “almost” is.",
    "Choose the same group for every file about the same people, even if the files look "
    "different. The program then adds up what all their releases cost.",
    "If you are not sure, choose a group that exists. With a wrong group the guarantee does not "
    "hold.",
)
_NO_NAME = "Enter a name for this group of people."
_NOT_DIFFERENT = "Confirm that these are different people, or choose a group above."
_NO_BUDGET = "Enter a budget greater than 0, such as 3."


class GroupRow(QFrame):
    """One group: name, releases, used and remaining budget, rule.

    Parameters
    ----------
    theme : Theme
    account : Account
    releases : sequence of Release
        Charged to it.
    """

    def __init__(self, theme: Theme, account: Account, releases: Sequence[Release]) -> None:
        super().__init__()
        self.setObjectName("card")
        self.radio = QRadioButton(account.label)
        font = self.radio.font()
        font.setBold(True)
        self.radio.setFont(font)
        unit = "ρ = " if account.gate == "zcdp" else ""
        used, budget = rounded_up(account.spent), rounded_down(account.budget)
        remains = f"{rounded_down(account.remaining)} remains"
        number = f"{len(releases)} release{'s' * (len(releases) != 1)}"
        last = f", the last one on {max(r.date for r in releases)[:10]}" if releases else ""
        self.radio.setAccessibleName(f"{account.label}: {unit}{used} of {budget} used, {remains}")
        bar = BudgetBar(theme)
        power = 2 if account.gate == "zcdp" else 1
        total = account.budget or 1
        shares = [float(r.epsilon**power / power / total) for r in releases]
        bar.show_shares(shares, 0.0, f"{unit}{used} of {budget} used")
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 6, 14, 6)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 5)
        grid.addWidget(self.radio, 0, 0)
        grid.addWidget(styled_label("faint", f"      {number}{last}"), 1, 0)
        head = QHBoxLayout()
        head.addWidget(styled_label("", f"{unit}{used} of {budget} used"))
        head.addStretch(1)
        head.addWidget(bold_label(remains))
        grid.addLayout(head, 0, 1)
        grid.addWidget(bar, 1, 1)
        grid.addWidget(styled_label("faint", gate_text(account)), 2, 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the group."""
        self.radio.click()
        event.accept()


class PopulationSection(QWidget):
    """Selects a group of people, or opens a new one.

    Parameters
    ----------
    theme : Theme

    Signals
    -------
    chosen(str)
        Id of a population; "" for none.
    wanted(str, Fraction, str, object, list of str)
        Gate, budget, label, δ or None, and the ids of disjoint populations.
    message(str)
        Reason why a group cannot be opened; "" once it is mended.
    """

    chosen = Signal(str)
    wanted = Signal(str, object, str, object, object)
    message = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._ledger: LedgerState | None = None
        self._listed: tuple[object, ...] = ()
        self.groups = QButtonGroup(self)
        self.rows: dict[str, GroupRow] = {}
        self.new = QRadioButton("A new group of people")
        font = self.new.font()
        font.setBold(True)
        self.new.setFont(font)
        self.groups.addButton(self.new)
        self._list = QVBoxLayout(inner := QWidget())
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(6)
        self._list.addWidget(self._build_new())
        self._list.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        self.groups.buttonToggled.connect(self._choose)
        self.button.clicked.connect(self.open_group)
        self.show_ledger(None, "")

    def _build_new(self) -> QWidget:
        self.name, self.budget = QLineEdit(), QLineEdit()
        self.name.setAccessibleName("Name of this group of people (shown in certificates)")
        self.name.setPlaceholderText("for example: Visitors of the zoo")
        self.budget.setAccessibleName("Budget, ε or ρ")
        self.budget.setPlaceholderText("such as 3")
        self.gate = ChoiceBox("Budget rule")
        self.gate.setMinimumContentsLength(22)
        self.gate.offer([(gate, _GATE_WORDS[gate]) for gate in GATES], GATES[0])
        self.different = CheckBox("These are different people from those in the groups above.")
        self.button = QPushButton("&Open the group")
        self.opening = QFrame()
        self.opening.setObjectName("card")
        grid = QGridLayout(self.opening)
        grid.setContentsMargins(10, 6, 14, 8)
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(0, 6)
        grid.setColumnStretch(1, 2)
        grid.setColumnStretch(2, 5)
        grid.addWidget(self.new, 0, 0)
        note = "For people who are in none of the groups above."
        grid.addWidget(styled_label("faint", note), 0, 1, 1, 2)
        name = "Name of this group of people (shown in certificates)"
        grid.addWidget(labelled(name, self.name), 1, 0)
        grid.addWidget(labelled("Budget", self.budget), 1, 1)
        grid.addWidget(labelled("Budget rule", self.gate), 1, 2)
        grid.addWidget(self.different, 2, 0, 1, 2)
        grid.addWidget(self.button, 2, 2, Qt.AlignmentFlag.AlignRight)
        printed = "This and the budget rule are printed in every certificate of the group."
        grid.addWidget(styled_label("faint", printed), 3, 0, 1, 3)
        for edit in (self.name, self.budget):
            edit.textEdited.connect(self._mended)
        self.different.toggled.connect(self._mended)
        return self.opening

    def show_ledger(self, ledger: LedgerState | None, population: str) -> None:
        """Set the groups and the selected one."""
        self._ledger = ledger
        accounts = ledger.accounts if ledger is not None else ()
        charged = [
            () if ledger is None else tuple(ledger.releases_of(a.population)) for a in accounts
        ]
        listed = (tuple(accounts), tuple(charged))
        with QSignalBlocker(self.groups):
            if listed != self._listed:
                self._listed = listed
                self._list_groups(accounts, charged)
            if population in self.rows:
                self.rows[population].radio.setChecked(True)
            elif not accounts:
                self.new.setChecked(True)
            elif self.groups.checkedButton() is not self.new:
                self.groups.setExclusive(False)
                for row in self.rows.values():
                    row.radio.setChecked(False)
                self.groups.setExclusive(True)
        self._show_opening()

    def select(self, population: str) -> None:
        """Select a group as a click does; `NEW` selects the form."""
        (self.new if population == NEW else self.rows[population].radio).click()

    def _list_groups(
        self, accounts: Sequence[Account], charged: Sequence[Sequence[Release]]
    ) -> None:
        for row in self.rows.values():
            self.groups.removeButton(row.radio)
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = {}
        for place, (account, releases) in enumerate(zip(accounts, charged, strict=True)):
            row = self.rows[account.population] = GroupRow(self._theme, account, releases)
            self.groups.addButton(row.radio)
            self._list.insertWidget(place, row)
        self.different.setEnabled(bool(accounts))

    def _choose(self, button: object, on: bool) -> None:
        self._show_opening()
        if on:
            found = [key for key, row in self.rows.items() if row.radio is button]
            self.message.emit("")
            self.chosen.emit(found[0] if found else "")

    def _show_opening(self) -> None:
        new = self.new.isChecked()
        for part in (self.name, self.budget, self.gate, self.button):
            part.setEnabled(new)
        self.different.setEnabled(new and bool(self.rows))

    @property
    def problem(self) -> tuple[str, QWidget] | None:
        """What is missing to open the new group, and its field; None if nothing is."""
        if not " ".join(self.name.text().split()):
            return _NO_NAME, self.name
        try:
            read_epsilon(self.budget.text())
        except ParameterError:
            return _NO_BUDGET, self.budget
        if self.rows and not self.different.isChecked():
            return _NOT_DIFFERENT, self.different
        return None

    def _mended(self) -> None:
        for edit in (self.name, self.budget, self.different):
            mark_wrong(edit, wrong=False)
        self.message.emit("")

    def open_group(self) -> None:
        """Request the new group, or say what is missing and mark its field."""
        problem = self.problem
        for edit in (self.name, self.budget, self.different):
            mark_wrong(edit, wrong=problem is not None and edit is problem[1])
        if problem is not None:
            self.message.emit(problem[0])
            problem[1].setFocus()
            return
        gate = str(self.gate.currentData())
        self.wanted.emit(
            gate,
            read_epsilon(self.budget.text()),
            " ".join(self.name.text().split()),
            DELTA if gate == "zcdp" else None,
            list(self.rows),
        )
