"""Step 1 of the plan: population and the account that is charged."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from explorer.release.errors import ParameterError
from explorer.release.ledger.state import GATES, Account
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.base.styled import styled_label
from explorer.ui.release.draft import LedgerState
from explorer.ui.release.fields import read_epsilon
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox

NEW = "new"
DELTA = Fraction(1, 10**9)
_GATE_WORDS = {
    "sum": "all ε added up (default)",
    "zcdp": "ε²/2 added up: ρ, δ = 10⁻⁹, for good",
}
UNIT = "One user id: all its rows in every file about these people."
BOTH_WAYS = "Counted both ways: add or remove one user, ε; replace one user’s rows, 2ε."


class PopulationSection(QWidget):
    """Selects an account, or creates one.

    Signals
    -------
    chosen(str)
        Id of a population; "" for none.
    wanted(str, Fraction, str, object, list of str)
        Gate, budget, label, δ or None, and the ids of disjoint populations.
    message(str)
        Reason why an account cannot be created.
    """

    chosen = Signal(str)
    wanted = Signal(str, object, str, object, object)
    message = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._ledger: LedgerState | None = None
        self.unit = styled_label("", f"{UNIT} {BOTH_WAYS}", word_wrap=True)
        self.accounts = ChoiceBox("Whose data these are")
        self.accounts.setMinimumContentsLength(40)
        self.name, self.budget = QLineEdit(), QLineEdit()
        self.name.setAccessibleName("Name of these people")
        self.name.setPlaceholderText("what you call them, in certificates")
        self.budget.setAccessibleName("Budget, ε or ρ")
        self.budget.setPlaceholderText("budget, such as 3")
        self.budget.setMaximumWidth(150)
        self.gate = ChoiceBox("Gate")
        self.gate.setMinimumContentsLength(22)
        self.gate.offer([(gate, _GATE_WORDS[gate]) for gate in GATES], GATES[0])
        self.different = CheckBox()
        self.different.setAccessibleName("These are different people from those of other accounts")
        self.button = QPushButton("Open account")
        self.opening = QWidget()
        first, second = QHBoxLayout(), QHBoxLayout()
        for part in (self.name, self.budget, self.gate, self.button):
            first.addWidget(part)
        first.setStretch(0, 1)
        second.addWidget(self.different)
        inner = QVBoxLayout(self.opening)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addLayout(first)
        inner.addLayout(second)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(5)
        for widget in (self.unit, self.accounts, self.opening):
            layout.addWidget(widget)
        self.accounts.currentIndexChanged.connect(self._choose)
        self.button.clicked.connect(self._open)
        self.show_ledger(None, "")

    def show_ledger(self, ledger: LedgerState | None, population: str) -> None:
        """Set the accounts."""
        self._ledger = ledger
        accounts = ledger.accounts if ledger is not None else ()
        items = [(a.population, _words(a)) for a in accounts]
        first = [("", "Same people as in …")] if items else []
        with QSignalBlocker(self.accounts):
            self.accounts.offer(
                [*first, *items, (NEW, "Open an account for these people…")],
                population or ("" if items else NEW),
            )
        names = ", ".join(account.label for account in accounts)
        self.different.setText(f"These are different people from: {names}" if names else "")
        self.different.setVisible(bool(names))
        self._show_opening()

    def _choose(self) -> None:
        key = str(self.accounts.currentData())
        self._show_opening()
        self.chosen.emit("" if key == NEW else key)

    def _show_opening(self) -> None:
        new = self.accounts.currentData() == NEW
        self.opening.setVisible(new)
        self.accounts.setVisible(self.accounts.count() > 1)

    def _open(self) -> None:
        accounts = self._ledger.accounts if self._ledger is not None else ()
        label = " ".join(self.name.text().split())
        if not label:
            self.message.emit("Give these people a name; certificates have it.")
        elif accounts and not self.different.isChecked():
            self.message.emit(
                "If some of these people may be in another account, choose that one: its budget "
                "is theirs. Else tick that they are different people."
            )
        else:
            try:
                budget = read_epsilon(self.budget.text())
            except ParameterError:
                self.message.emit("The budget is no number; give one like 3.")
                return
            gate = str(self.gate.currentData())
            delta = DELTA if gate == "zcdp" else None
            others = [account.population for account in accounts]
            self.wanted.emit(gate, budget, label, delta, others)


def _words(account: Account) -> str:
    unit = "ρ " if account.gate == "zcdp" else ""
    used, of = rounded_up(account.spent), rounded_down(account.budget)
    return f"{account.label} · {used} of {unit}{of} used"
