"""Plan page: the five steps of a release plan and the buttons to rehearse and draw."""

from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.file_check import FileCheck
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.base import Shown
from explorer.release.messages import other_spending_lines, reopened_line, sentence
from explorer.release.plan import Plan
from explorer.release.rounding import rounded_down, rounded_up
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.cards import StepCard, TypedFields, row_of
from explorer.ui.release.draft import TITLES, Draft, LedgerState, earlier_lines, points, sentence_of
from explorer.ui.release.fields import (
    CERTIFIED,
    EXAMPLE,
    FORMAT,
    OF_MECHANISM,
    PEOPLE,
    PEOPLE_FIELD,
    example_of,
    read_people,
)
from explorer.ui.release.population_section import PopulationSection
from explorer.ui.release.summary_panel import BudgetBar, SummaryPanel
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox
from explorer.ui.widgets.section import Section


class PlanPage(QWidget):
    """The five steps, the summary, *Rehearse* and *Draw*.

    Signals
    -------
    rehearsal_asked(Plan, int)
    draw_asked(Plan)
        The plan is complete and should be drawn.
    account_wanted(...)
        As in `PopulationSection`.
    copy_asked()
        Values of the map should be copied.
    check_asked(Plan)
        The file should be checked: readable rows, and ids known in other accounts.
    format_asked()
        The format of the open file should be adopted.
    """

    rehearsal_requested = Signal(object, int)
    draw_requested = Signal(object)
    copy_requested = Signal()
    check_requested = Signal(object)
    format_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.draft = Draft()
        self.ledger: LedgerState | None = None
        self._busy = self._rehearsing = False
        self._fresh = True
        self._checked: tuple[object, FileCheck | None] = (None, None)
        """Plan for which the file was checked, and the result."""
        self.open_file: Path | None = None
        """The open file, if a release could read it."""
        self._then_draw = False
        self.cards = [
            StepCard(k, title, theme, hint) for k, (title, hint) in enumerate(TITLES.items(), 1)
        ]
        self.side = SummaryPanel(theme)
        self._build_head()
        self._build_points()
        self._build_foot()
        column = QVBoxLayout(inner := QWidget())
        column.setContentsMargins(12, 4, 12, 4)
        column.setSpacing(5)
        for card in self.cards:
            column.addWidget(card)
        column.addStretch(1)
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(inner)
        left = QVBoxLayout()
        left.setSpacing(4)
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 12, 0)
        head.addWidget(self.head)
        left.addLayout(head)
        left.addWidget(self.area, 1)
        left.addWidget(self.foot)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(left, 1)
        layout.addWidget(self.side)
        self.update_page()

    # Building

    def _build_head(self) -> None:
        self.head = QFrame()
        self.head.setObjectName("answer")
        self.state = styled_label("answer-number")
        self.words = styled_label("answer-text", word_wrap=True)
        row = QHBoxLayout(self.head)
        row.setContentsMargins(14, 6, 12, 6)
        row.setSpacing(12)
        row.addWidget(self.state)
        row.addWidget(self.words, 1)

    def _build_points(self) -> None:
        who, what, selected, price, file = self.cards
        self.who = PopulationSection()
        self.who.chosen.connect(lambda population: self.change(population=population))
        self.who.message.connect(lambda message: self._say(who, message))
        self.compare = QPushButton("Compare the file’s ids with those of other accounts")
        self.compare.setObjectName("link")
        self.compare.setToolTip("Seen by you alone; once the five points are answered")
        self.compare.clicked.connect(self._check)
        who.add(self.who, self.compare)

        self.mechanism = ChoiceBox("What is released")
        self.mechanism.setMinimumContentsLength(30)
        self.mechanism.offer([(m.id, m.label) for m in MECHANISMS.values()], self.draft.mechanism)
        self.mechanism.currentIndexChanged.connect(self._mechanism_selected)
        self.copy = QPushButton("Copy box and ε from the map")
        self.copy.setObjectName("link")
        self.copy.setToolTip("They came from looking at the data: the certificate will say so")
        self.copy.clicked.connect(self.copy_requested)
        row = row_of(self.mechanism, self.copy)
        self.own = TypedFields()
        self.more = Section("More parameters")
        self.more.set_open(False)
        self.rest = TypedFields()
        self.more.rows.addWidget(self.rest)
        what.add(row, self.own, self.more)

        self.untouched = CheckBox("I did not choose these by looking at this data.")
        self.untouched.toggled.connect(lambda on: self.change(untouched=on))
        self.sentence = QLineEdit()
        self.sentence.setAccessibleName("How they were chosen, for the certificate")
        self.sentence.setPlaceholderText("or say in the certificate how they were chosen")
        self.sentence.textEdited.connect(lambda text: self.change(sentence=text))
        selected.add(row_of(self.sentence, self.untouched, first=False))

        self.epsilon = QLineEdit()
        self.epsilon.setAccessibleName("ε")
        self.epsilon.setPlaceholderText("ε, such as 1/2")
        self.epsilon.setToolTip("As a decimal or a fraction")
        self.epsilon.setMaximumWidth(130)
        self.epsilon.textEdited.connect(lambda text: self._typed("epsilon", text))
        self.fit = QPushButton("Use what fits")
        self.fit.setObjectName("link")
        self.fit.clicked.connect(self._take_what_fits)
        self.bar = BudgetBar(self._theme)
        self.earlier = styled_label("faint", word_wrap=True)
        price.add(row_of(self.bar, self.epsilon, first=False), self.earlier, self.fit)

        self.path = QLineEdit()
        self.path.setAccessibleName("Path of the file")
        self.path.setPlaceholderText("the file to read, as text")
        self.path.textEdited.connect(lambda text: self._typed("data", text))
        self.browse = QPushButton("Choose file…")
        self.browse.clicked.connect(self._browse)
        self.found = QPushButton("Use the format found when the file was opened")
        self.found.setObjectName("link")
        self.found.clicked.connect(self.format_requested)
        self.check = QPushButton("Check the file")
        self.check.setToolTip(
            "Counts the rows that can be read; seen by you alone, and nothing is spent. A file "
            "that was never opened is read once the five points are answered and the plan is "
            "entered in the ledger."
        )
        self.check.clicked.connect(self._check)
        self.form = TypedFields(5)
        self.form.offer(FORMAT, self.draft.text)
        self.stated = Section("For the certificate: title, who releases it, NIST SP 800-226")
        self.stated.set_open(False)
        self.texts = TypedFields(2)
        self.texts.offer(CERTIFIED, self.draft.text)
        self.stated.rows.addWidget(self.texts)
        file.add(row_of(self.path, self.browse, self.found, self.check), self.form, self.stated)
        for fields in (self.own, self.rest, self.form, self.texts):
            fields.typed.connect(self._typed)
        self._offer_fields()

    def _build_foot(self) -> None:
        self.rehearse = QPushButton("Rehearse")
        self.rehearse.setToolTip("The same steps on made-up people: nothing is read or spent")
        self.rehearse.clicked.connect(self._rehearse)
        self.example = QPushButton("Fill in an example")
        self.example.setToolTip("A made-up one, the same for everybody; nothing of your data")
        self.example.clicked.connect(self.fill_example)
        self.nothing_spent = plain_label("on made-up people; nothing is read or spent")
        self.nothing_spent.setObjectName("muted")
        self.draw = QPushButton("Release…")
        self.draw.setObjectName("door")
        self.draw.clicked.connect(self._draw)
        self.foot = QWidget()
        row = QHBoxLayout(self.foot)
        row.setContentsMargins(12, 2, 12, 8)
        for part in (self.rehearse, self.nothing_spent, self.example):
            row.addWidget(part)
        row.addStretch(1)
        row.addWidget(self.draw)

    # Display

    def show_ledger(self, ledger: LedgerState) -> None:
        """Show the ledger; the population is unchanged unless stated."""
        self.ledger = ledger
        if not self.draft.population and len(ledger.accounts) == 1 and self._fresh:
            self.draft = replace(self.draft, population=ledger.accounts[0].population)
        self._fresh = False
        if self.draft.population and ledger.account(self.draft.population) is None:
            self.draft = replace(self.draft, population="")
        self.who.show_ledger(ledger, self.draft.population)
        self.update_page()

    def show_draft(self, draft: Draft) -> None:
        """Show another draft."""
        self.draft = draft
        with QSignalBlocker(self.mechanism), QSignalBlocker(self.untouched):
            self.mechanism.setCurrentIndex(self.mechanism.findData(draft.mechanism))
            self.untouched.setChecked(draft.untouched)
        self.sentence.setText(draft.sentence)
        self.path.setText(draft.text("data"))
        self.who.show_ledger(self.ledger, draft.population)
        self._offer_fields()
        self.epsilon.setText(draft.text("epsilon"))
        for fields in (self.form, self.texts):
            fields.show_texts(draft.text)
        self.update_page()

    def show_checked(self, plan: Plan, check: FileCheck) -> None:
        """Show the readable rows and ids known in other accounts; curator only."""
        self._checked = (_checked_key(plan), check)
        self.update_page()
        if self._then_draw:
            self._then_draw = False
            self._draw()

    def show_open_file(self, path: Path | None) -> None:
        """Offer the format of the open file."""
        self.open_file = path
        self.update_page()

    @property
    def checked(self) -> FileCheck | None:
        """Result of the file check, if it was for the present plan."""
        try:
            plan = self.draft.plan()
        except ReleaseError:
            return None
        return self._checked[1] if self._checked[0] == _checked_key(plan) else None

    @property
    def readable(self) -> str:
        """Message on the readable rows; empty if unknown."""
        checked = self.checked
        return "" if checked is None else f"{sentence(checked.rows.lines()[0])} Seen by you alone."

    @property
    def same_people(self) -> str:
        """Message if ids of this file are in other accounts; else empty."""
        checked = self.checked
        known = {} if self.ledger is None else {a.population: a for a in self.ledger.accounts}
        result = {} if checked is None else checked.known
        names = [f"{n:,} in “{known[p].label}”" for p, n in result.items() if p in known]
        if not names:
            return ""
        return (
            f"Of this file’s ids are {', '.join(names)}. If they are the same people, join the "
            "accounts (Ledger): what was spent adds, and the smaller limit holds."
        )

    @property
    def known_before(self) -> str:
        """Message on earlier access and other ledgers; else empty."""
        checked = self.checked
        if checked is None:
            return ""
        seen = [reopened_line(checked.seen, partly=checked.seen_partly)] if checked.seen else []
        return " ".join(map(sentence, [*seen, *other_spending_lines(checked)]))

    def show_rehearsals(self, shown: list[Shown]) -> None:
        """Show the result of a dry run."""
        self.side.show_rehearsals(shown, read_people(self.draft.text(PEOPLE)))
        self.words.setText("Rehearsed: see how it may look. Nothing was read or spent.")

    def show_busy(self, busy: bool, rehearsing: bool) -> None:
        """Disable the buttons while the ledger is written or a release runs."""
        self._busy, self._rehearsing = busy, rehearsing
        self.update_page()

    def change(self, **what: object) -> None:
        """Change the draft."""
        self.draft = replace(self.draft, **what)  # type: ignore[arg-type]
        self.update_page()

    def update_page(self) -> None:
        """Update the state of the steps from the draft and the ledger."""
        known = self.ledger
        judged = [None] * 5 if known is None else points(self.draft, known)
        for card, point in zip(self.cards, judged, strict=True):
            if point is not None:
                card.show_point(point)
        missing = sum(not card.ok for card in self.cards)
        colours = self._theme.chrome
        self._show_check()
        edge = colours.bad if missing else colours.good
        self.head.setStyleSheet(f"QFrame#answer {{ border-left-color: {edge}; }}")
        self.state.setText(f"Not ready: {missing} of 5" if missing else "Ready")
        self.words.setText(
            "Answer the red points, then release. Only this page writes what may leave your desk."
            if missing
            else "All five points are answered. What is spent stays spent."
        )
        self._show_price()
        self.untouched.setEnabled(not self.draft.copied)
        self.draw.setEnabled(not missing and not self._busy)
        for button in (self.compare, self.check):
            button.setEnabled(not missing and not self._busy)
        self.compare.setVisible(known is not None and len(known.accounts) > 1)
        self.rehearse.setText("Rehearsing…" if self._rehearsing else "Rehearse")
        self.example.setVisible(not self.draft.text("box") and not self.draft.text("epsilon"))

    def fill_example(self) -> None:
        """Fill in an example that depends on no file."""
        typed = {**self.draft.typed, **example_of(EXAMPLE)}
        self.show_draft(replace(self.draft, mechanism=EXAMPLE, typed=typed))
        self.rehearse.setFocus()

    def price_plan(self) -> Plan | None:
        """Return the plan for synthetic users; None if mechanism or ε is missing."""
        try:
            return self.draft.rehearsal()
        except ReleaseError:
            return None

    def go_to_first(self) -> None:
        """Focus the first incomplete step, or the button."""
        red = next((card for card in self.cards if not card.ok), None)
        if red is None:
            self.draw.setFocus()
            return
        self.area.ensureWidgetVisible(red)
        fields = (w for w in red.findChildren(QWidget) if w.isVisible() and w.isEnabled())
        wanted = (QLineEdit, ChoiceBox)
        next((w for w in fields if isinstance(w, wanted)), self.rehearse).setFocus()

    # Implementation

    def _show_check(self) -> None:
        """Show the format found in the file, and whether it can be adopted."""
        checked, typed = self.checked, self.draft.text("data")
        here = self.open_file
        self.found.setEnabled(here is not None and not self._busy and typed in ("", str(here)))
        self.found.setToolTip(
            "Open the file in the window to find its format"
            if here is None
            else f"{here.name}, open in the window; the certificate will say that the format was "
            "taken from the file"
        )
        for card in self.cards:
            card.message.setToolTip("")
        if checked is None:
            return
        people = "No id of this file is known in another account."
        self.cards[0].message.setText(self.same_people or people)
        if self.known_before:
            self.cards[2].message.setText(f"{self.known_before} Seen by you alone.")
        self.cards[-1].message.setText(self.readable)
        lines = map(html.escape, checked.rows.lines())
        self.cards[-1].message.setToolTip(f"<p>{'<br>'.join(lines)}</p>")
        if checked.rows.under_half:
            self.cards[-1].message.setStyleSheet(f"color: {self._theme.chrome.bad};")

    def _show_price(self) -> None:
        plan = self.price_plan()
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        self.draw.setText(
            "Release…" if plan is None else f"Spend ε = {rounded_up(plan.epsilon)} and release…"
        )
        if self.ledger is not None:
            self.side.show_plan(plan, self.ledger, self.draft.population)
        self.bar.show_shares((), 0.0, "Budget: known with point 1")
        self.fit.setVisible(False)
        self.earlier.setVisible(account is not None)
        if account is None or self.ledger is None:
            return
        counted = self.ledger.releases_of(account.population)
        power = 2 if account.gate == "zcdp" else 1
        costs = [r.epsilon**power / power for r in counted]
        budget = account.budget or 1
        request = 0 if plan is None else plan.epsilon**power / power
        text, *lines = earlier_lines(account, counted, plan)
        self.bar.show_shares([float(c / budget) for c in costs], float(request / budget), text)
        self.earlier.setText("\n".join(lines))
        if plan is not None and not account.fits(plan.epsilon) and account.largest_fit():
            self.fit.setText(f"Use what fits: ε = {rounded_down(account.largest_fit())}")
            self.fit.setVisible(True)

    def _say(self, card: StepCard, text: str) -> None:
        card.message.setText(text)
        card.message.setStyleSheet(f"color: {self._theme.chrome.bad};")

    def _typed(self, key: str, text: str) -> None:
        self.draft = self.draft.with_text(key, text)
        self.update_page()

    def _mechanism_selected(self) -> None:
        self.draft = replace(self.draft, mechanism=str(self.mechanism.currentData()))
        self._offer_fields()
        self.update_page()

    def _offer_fields(self) -> None:
        """Show the fields of a mechanism; texts of others are kept."""
        fields = OF_MECHANISM[self.draft.mechanism]
        needed = [f for f in fields if f.needed or f.key in ("values", "edges")]
        rest = [f for f in fields if f not in needed]
        self.own.offer([*needed, PEOPLE_FIELD], self.draft.text)
        self.rest.offer(rest, self.draft.text)
        names = ", ".join(f"{field.label[:1].lower()}{field.label[1:]}" for field in rest)
        self.more.set_title(f"More parameters: {names}")

    def _take_what_fits(self) -> None:
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        if account is not None:
            fits = account.largest_fit()
            self.draft = self.draft.with_text("epsilon", rounded_down(fits, 9))
            self.epsilon.setText(self.draft.text("epsilon"))
            self.update_page()

    def _browse(self) -> None:
        folder = str(Path(self.draft.text("data")).parent) if self.draft.text("data") else ""
        path, _ = QFileDialog.getOpenFileName(self, "The file to read", folder)
        if path:
            self.path.setText(path)
            self._typed("data", path)

    def _rehearse(self) -> None:
        """Run a dry run, or state what is missing."""
        try:
            plan, users = self.draft.rehearsal(), read_people(self.draft.text(PEOPLE))
        except ParameterError as error:
            self.words.setText(f"To rehearse: {sentence_of(error)}")
            return
        self.rehearsal_requested.emit(plan, users)

    def _draw(self) -> None:
        try:
            plan = self.draft.plan()
        except ReleaseError as error:
            self.words.setText(sentence_of(error))
            return
        several = self.ledger is not None and len(self.ledger.accounts) > 1
        if several and self.checked is None:  # step 1 declares the population
            self._then_draw = True
            self.check_requested.emit(plan)
        else:
            self.draw_requested.emit(plan)

    def _check(self) -> None:
        self._then_draw = False
        self.check_requested.emit(self.draft.plan())


def _checked_key(plan: Plan) -> object:
    """Return the inputs of a check: the plan's file and its format."""
    try:
        stat = plan.data.stat()
    except OSError:
        return None
    return plan.population, plan.data, plan.form, plan.reads, stat.st_mtime_ns, stat.st_size
