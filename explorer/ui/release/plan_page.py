"""Release wizard: the pages People, File, What, Cost and Review around the draft of a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.release.dry_run import Forecast
from explorer.release.errors import ParameterError, ReleaseError
from explorer.release.file_check import SHOWN, FileCheck, Unreadable
from explorer.release.ledger.differencing import overlaps
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import PriorMasses, PriorSource
from explorer.release.messages import other_spending_lines, price_text, reopened_line, sentence
from explorer.release.pipeline import BOOK, DRAW, PHASES, READ, STORE
from explorer.release.plan import FORMAT_CHOICES, Plan
from explorer.release.rounding import rounded_down, rounded_up
from explorer.studies.base.numbers import at_least, at_most, format_number, nearest
from explorer.studies.base.phrases import MAX_USEFUL_CHANCE, best_chance, times_in_100
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.release.draft import (
    NO_PERSON,
    REGION,
    Draft,
    LedgerState,
    MapKey,
    Point,
    PublicMap,
    attacker_text,
    copied_names,
    copied_text,
    earlier_lines,
    points,
    sentence_of,
)
from explorer.ui.release.fields import (
    CERTIFIED,
    EXAMPLE,
    FORMAT,
    KIND_NOTES,
    OF_MECHANISM,
    PEOPLE,
    PEOPLE_FIELD,
    example_of,
    read_own,
    read_people,
)
from explorer.ui.release.population_section import BOTH_WAYS, HELP, TWO_IDS, UNIT, PopulationSection
from explorer.ui.release.public_maps import PublicMaps
from explorer.ui.release.summary_panel import (
    BudgetBar,
    RegionPicture,
    SmallPicture,
    error_lines,
    spread,
)
from explorer.ui.release.wizard import (
    Card,
    PageText,
    PhaseList,
    TypedFields,
    WizardFrame,
    bold_label,
    labelled,
    mark_wrong,
    reserved_label,
    row_of,
    set_lines,
)
from explorer.ui.widgets.boxes import CheckBox, ChoiceBox
from explorer.ui.widgets.number_slider import AccessibleSlider
from explorer.ui.widgets.number_table import NumberTable
from explorer.ui.widgets.section import Section

PEOPLE_PAGE, FILE_PAGE, WHAT_PAGE, COST_PAGE, REVIEW_PAGE, RESULT_PAGE = range(6)
TEXTS = (
    PageText(
        "People",
        "Which people are in the file?",
        "All releases about the same people share one budget. What is spent never comes back.",
        HELP,
    ),
    PageText(
        "File",
        "How is the file written?",
        "The program does not inspect the file here. Describe its format.",
        (
            "The program reads every row by itself, exactly as described here. It guesses nothing, "
            "because one person’s row could change how the rows of others are read.",
            "“Use this format” copies the format that was found when you opened the file, and "
            "checks the file. The certificate will say that the format was taken from the file.",
            "The dry run reads the file once. Only you see its result: no number of it is stored "
            "or printed, and nothing is spent.",
        ),
    ),
    PageText(
        "What",
        "What do you release?",
        "Choose these without looking at the data.",
        (
            "The guarantee covers the noise, not your choices. A region that was chosen because of "
            "what the data show can itself tell something about the people in it.",
            "South, west, north and east are in degrees. Choose the region from general knowledge, "
            "not from the data.",
            "“Copy from the map” copies region and time of the map in one click. The certificate "
            "will say so.",
            "Cells per side: a power of two from 2 to 1024.",
        ),
    ),
    PageText(
        "Cost",
        "How much of the budget do you spend?",
        "A larger ε makes the map more accurate and protects each person less.",
        (
            "ε limits what anybody can learn about one person from this release.",
            "The error says how far activity is shown from its true place, on average. It is a "
            "forecast: the program draws maps of as many synthetic people as you expect. It does "
            "not read your file for this.",
            "What is spent stays spent. Nothing refills the budget. If you raise it, every later "
            "certificate says so.",
            "“Copy from the map” copies the ε of the map in one click. The certificate will say "
            "so.",
        ),
    ),
    PageText(
        "Review",
        "Review and release",
        "Nothing has been spent yet.",
        (
            "After “Spend … and release” the program reads the file, books the cost, draws noise "
            "once and stores the result on this computer. Nothing leaves it before you publish.",
            "Everyone will see the map, ε, region, time and settings, the certificate’s texts and "
            "the program’s version.",
            "Nobody will see the number of people in the file, the true map, the noise, or which "
            "ids are known.",
            "To release later, use Release ▸ Save plan…",
        ),
    ),
    PageText(
        "",
        "Released",
        "The result is stored. Look at it, then publish it or keep it.",
        (
            "The map on the left is the private one. It was drawn once, with exact random noise, "
            "and may be viewed as often as you like.",
            "Nothing about it was compared with the true map. The errors are those of the noise "
            "and of rehearsals.",
            "The cost stays spent, whether you publish or not.",
        ),
    ),
)
NOISE_NOTE = "± is in 95 % of cases. ε is rounded up."
IF_INTERRUPTED = (
    "The cost is booked before drawing. After a crash: an unstarted release can be resumed or "
    "refunded; an interrupted draw counts as spent; a finished one is listed here."
)
CHECK_LATER = "Check the file on page 5, after all choices are made."
RELEASING = "The program is releasing. Keep this window open until the result is shown."
PHASE_WORDS = (
    ("Read the file", "Cancel: nothing is spent."),
    ("Book the cost", "Cancel: the cost is refunded."),
    ("Draw the noise", "Cannot be cancelled; the cost stays spent."),
    ("Store the result", "The release is listed here."),
)
_PHASE_MESSAGES = {
    READ: "The file is being read. If you cancel now, nothing is spent.",
    BOOK: "The cost is being booked. If you cancel now, it is refunded.",
    DRAW: "The noise is being drawn. The cost{cost} is spent; this cannot be cancelled.",
    STORE: "The result is being stored. The cost{cost} is spent; this cannot be cancelled.",
}
"""Messages in the footer while a release runs, by its phase."""
CHANGED = "The file has changed since it was checked. Check it again. Nothing was spent."
CANCELLING = "The release is being cancelled."
TOO_LATE = "The noise was already being drawn when you cancelled. The cost stays spent."
ENDED = {
    "published": "The release and its certificate may leave this computer.",
    "withdrawn": "The cost stays spent.",
}
PUBLISHED_HELP = (
    "“Export…” writes the map as a picture, a table or a map file, together with its certificate.",
    "“Certificate…” writes the certificate alone: what was protected, how, at which cost, and "
    "what you declared.",
    "Whoever has the certificate can verify it with this program. The link contains no file name "
    "and no data.",
)
_MENDING = {
    "is the decimal mark a comma?": ("decimal", "comma"),
    "is the decimal mark a point?": ("decimal", "point"),
    "do fields stand in double quotes?": ("quotes", "double"),
    "is the first row one of names?": ("header", "yes"),
    "do rows end with CR?": ("row_end", "cr"),
    "do rows end with LF?": ("row_end", "lf"),
    "does a delimiter end each row?": ("trailing_delimiter", "yes"),
    "do rows end without a delimiter?": ("trailing_delimiter", "no"),
    **{f"is the delimiter {name}?": ("delimiter", name) for name in FORMAT_CHOICES["delimiter"]},
}
"""Key and value of the format that a question on an unreadable row suggests."""
_UNREADABLE, _UNREADABLE_WIDTHS = ("Line", "Column", "Reason", "Value"), (70, 90, 330)
"""Titles of the table of unreadable rows, and widths of all but the last column."""
_EDGES = (
    "Drag an edge to change the region, or type its degrees. Arrow keys move north and east, with "
    "Shift south and west."
)
SIDES = ("South", "West", "North", "East")
_SLIDER_STEPS = 1000
_LEAST_EPSILON = 0.01
_REST_MS = 400
"""After a change, until rehearsals begin."""


class _EpsilonSlider(AccessibleSlider):
    """Logarithmic slider for ε up to what remains of the budget."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(0, _SLIDER_STEPS)
        self._number, self._top, self._text = 0.0, _LEAST_EPSILON, "none"

    def show_epsilon(self, epsilon: Fraction | None, top: Fraction) -> None:
        """Show ε, which the user's own drag shows already, and the largest possible value."""
        self._number, self._top = float(epsilon or 0), float(top)
        self._text = "none" if epsilon is None else f"ε = {rounded_up(epsilon)}"
        if epsilon is not None and not self.isSliderDown():
            with QSignalBlocker(self):
                self.setValue(self._place(self._number))

    def accessible_text(self) -> str:
        """Return ε."""
        return self._text

    def accessible_range(self) -> tuple[float, float, float, float]:
        """Return ε, its ends and the step at the lower one."""
        step = _LEAST_EPSILON * ((self._top / _LEAST_EPSILON) ** (1 / _SLIDER_STEPS) - 1)
        return self._number, _LEAST_EPSILON, self._top, step

    def take_accessible(self, number: float) -> None:
        """Set the nearest ε of the scale."""
        self.setValue(self._place(number))

    def _place(self, epsilon: float) -> int:
        if self._top <= _LEAST_EPSILON:
            return 0
        ratio = math.log(max(epsilon, _LEAST_EPSILON) / _LEAST_EPSILON)
        place = round(_SLIDER_STEPS * ratio / math.log(self._top / _LEAST_EPSILON))
        return min(place, _SLIDER_STEPS)


class PlanPage(WizardFrame):
    """The five pages of a plan; a sixth holds the result.

    Signals
    -------
    rehearsal_requested(Plan, int)
    comparison_requested(Plan, int, list of Fraction)
        Forecasts at other values of ε.
    stop_requested()
        The running release should be cancelled.
    draw_requested(Plan)
        The plan is complete and confirmed and should be drawn.
    region_copy_requested(), epsilon_copy_requested()
        Values of the map should be copied.
    check_requested(Plan, bool)
        The file should be checked: readable rows, and ids known in other accounts; whether the
        plan may be entered for that.
    format_requested()
        The format of the open file should be adopted.
    map_chosen(str, Path)
        Kind and path of a file that should become a public map.
    maps_requested(list of (MapKey, PublicMap), AdaptivePriorParameters)
        Public maps should be read on the cells of the release.
    status_changed()
        Page, file or state of the release may have changed.
    """

    rehearsal_requested = Signal(object, int)
    comparison_requested = Signal(object, int, object)
    draw_requested = Signal(object)
    stop_requested = Signal()
    region_copy_requested = Signal()
    epsilon_copy_requested = Signal()
    check_requested = Signal(object, bool)
    format_requested = Signal()
    map_chosen = Signal(str, object)
    maps_requested = Signal(object, object)
    status_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, TEXTS)
        self.draft = Draft()
        self.ledger: LedgerState | None = None
        self.points: tuple[Point, ...] = ()
        self._busy = self._rehearsing = self.releasing = False
        self.phase = ""
        """Phase of the running release."""
        self.cancelling = False
        """Whether the running release should be cancelled."""
        self._fresh = True
        self._maps_asked: list[MapKey] = []
        """Public maps that are being read."""
        self._checked: tuple[_Key | None, FileCheck | None] = (None, None)
        """Key of the check and its result."""
        self._all_rows = False
        """Whether more than the first unreadable rows are listed."""
        self.open_file: Path | None = None
        """The open file, if a release could read it."""
        self._unnamed = False
        """Whether the open file has no column that names the person."""
        self.found_words = ""
        """Format found when the file was opened."""
        self._wrong = ""
        """Key of the field that is marked as wrong."""
        self._then_draw = False
        self._check_wanted = False
        self._tried: set[int] = set()
        """Pages left by *Next* while incomplete."""
        self.result_sections: list[tuple[str, str]] = []
        """Headings and texts of the certificate of the result."""
        self._notes: dict[int, str] = {}
        """Messages of pages that are not about a field."""
        self._forecast: tuple[tuple[Plan, int] | None, Forecast | None] = (None, None)
        self._others: list[tuple[Plan, Forecast]] = []
        self._pause = QTimer(self, singleShot=True)
        self._pause.setInterval(_REST_MS)
        self._pause.timeout.connect(self._rehearse_if_needed)
        self.ended = ""
        """State of the result: "", ``committed``, ``published`` or ``withdrawn``."""
        pages = (
            self._build_people(),
            self._build_file(),
            self._build_what(),
            self._build_cost(),
            self._build_review(),
        )
        self.areas = [self.add_page(page) for page in pages]
        self._columns = [c for page in pages for c in page.findChildren(QVBoxLayout, _COLUMN)]
        self.result_holder = QWidget()
        QVBoxLayout(self.result_holder).setContentsMargins(0, 0, 0, 0)
        self.add_page(self.result_holder)
        for fields in (self.own, self.rest, self.form, self.texts, self.more_texts):
            fields.typed.connect(self._typed)
        self._offer_fields()
        self.page_changed.connect(self._page_shown)
        self.show_page(PEOPLE_PAGE)

    # Building

    def _build_people(self) -> QWidget:
        self.who = PopulationSection(self._theme)
        self.who.chosen.connect(lambda population: self.change(population=population))
        self.who.message.connect(lambda text: self.note(PEOPLE_PAGE, text))
        self.compare = _link("Compare the file’s ids with those of other groups")
        self.compare.setToolTip("Only you see the result; possible once the plan is complete")
        self.compare.clicked.connect(self._check)
        groups = Card("Group of people")
        groups.add(self.who)
        unit = Card("What counts as one person", self.compare)
        unit.add(
            styled_label("", UNIT, word_wrap=True),
            styled_label("", BOTH_WAYS, word_wrap=True),
            styled_label("faint", TWO_IDS, word_wrap=True),
        )
        return _column((groups, 1), (unit, 0))

    def _build_file(self) -> QWidget:
        self.path = QLineEdit()
        self.path.setAccessibleName("Path of the file")
        self.path.setPlaceholderText("the file to read, as text")
        self.path.textEdited.connect(lambda text: self._typed("data", text))
        self.browse = _button("Choose another &file…", 170)
        self.browse.clicked.connect(self._browse)
        self.which = styled_label("faint")
        self.which.setFixedWidth(self.fontMetrics().horizontalAdvance("the file that is open") + 8)
        self.found_label = styled_label("")
        self.found = _button("&Use this format", 170)
        self.found.clicked.connect(self.format_requested)
        file = Card("")
        named = row_of(self.path, bold_label("File"), first=False)
        file.add(named, row_of(self.found_label, self.found))
        top = named.layout()
        assert top is not None
        top.addWidget(self.which)
        top.addWidget(self.browse)
        self.taken = styled_label("notes")
        keep = self.taken.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.taken.setSizePolicy(keep)
        self.taken.setText("The format was taken from the file. The certificate says so.")
        self.form = TypedFields(5)
        self.form.offer(FORMAT, self.draft.text)
        form = Card("Format", self.taken)
        form.add(self.form)
        self.check = _button("Chec&k the file", 170)
        self.check.setToolTip("Counts the rows that can be read; nothing is stored or spent")
        self.check.clicked.connect(self._check)
        self.rows_read = bold_label(" ")
        self.remark = reserved_label("", 1)
        self.unreadable = NumberTable("Rows that cannot be read")
        self.unreadable.set_plain(len(_UNREADABLE))
        self.unreadable.set_table(_UNREADABLE, ())
        for column, width in enumerate(_UNREADABLE_WIDTHS):
            self.unreadable.setColumnWidth(column, width)
        self.unreadable.horizontalHeader().setStretchLastSection(True)
        _fill_space(self.unreadable, 100)
        self.shown_rows = styled_label("faint", " ")
        self.show_all = _link(" ")
        self.show_all.setAccessibleName("Show all rows that cannot be read, or the first ones")
        keep = self.show_all.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.show_all.setSizePolicy(keep)
        self.show_all.clicked.connect(self._toggle_all)
        self.mend = _button("", 290)
        keep = self.mend.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.mend.setSizePolicy(keep)
        self.mend.setVisible(False)
        self.mend.setAccessibleName("Use the suggested format and check again")
        self.mend.clicked.connect(self._mend)
        run = Card("Dry run", self.mend, self.check, badge="curator only")
        run.add(self.rows_read, self.remark, self.unreadable)
        run.add(row_of(self.shown_rows, self.show_all))
        run.rows.setStretch(3, 1)
        return _column((file, 0), (form, 0), (run, 1))

    def _build_what(self) -> QWidget:
        self.mechanism = ChoiceBox("Kind of release")
        self.mechanism.setMinimumContentsLength(30)
        best = next(iter(MECHANISMS))
        self.mechanism.offer(
            [
                (m.id, m.label + (" (recommended)" if m.id == best else ""))
                for m in MECHANISMS.values()
            ],
            self.draft.mechanism,
        )
        self.mechanism.currentIndexChanged.connect(self._mechanism_selected)
        kind = Card("Kind of release")
        self.kind_note = reserved_label("faint", 1)
        kind.add(self.mechanism, self.kind_note)
        self.copy = _button("Copy fro&m the map", 150)
        self.copy.setToolTip("They came from looking at the data: the certificate will say so")
        self.copy.clicked.connect(self.region_copy_requested)
        self.sides = [QLineEdit() for _ in SIDES]
        self.box_fields = QWidget()
        sides = QHBoxLayout(self.box_fields)
        sides.setContentsMargins(0, 0, 0, 0)
        sides.setSpacing(10)
        for name, edit in zip(SIDES, self.sides, strict=True):
            edit.setAccessibleName(f"{name} in degrees")
            edit.textEdited.connect(self._box_typed)
            sides.addWidget(labelled(f"{name} (degrees)", edit))
        self.own = TypedFields(4)
        self.copied = reserved_label("", 2)
        where = Card("Region and time", self.copy)
        where.add(self.box_fields, self.own, self.copied)
        self.cells = TypedFields(4)
        self.more = Section("More parameters")
        self.more.set_open(False)
        self.rest = TypedFields(4)
        self.more.rows.addWidget(self.rest)
        size = Card("")
        self.cell_size = reserved_label("faint", 2)
        self.people_note = reserved_label("faint", 2, PEOPLE_FIELD.tip)
        notes = QHBoxLayout()
        notes.setSpacing(10)
        notes.addWidget(self.cell_size, 1)
        notes.addWidget(self.people_note, 3)
        size.add(self.cells)
        size.rows.addLayout(notes)
        size.add(self.more)
        self.cells.typed.connect(self._typed)
        self.untouched = QRadioButton("I made these choices without looking at the data.")
        self.explained = QRadioButton("They were chosen as follows:")
        choices = QButtonGroup(self)
        for choice in (self.untouched, self.explained):
            choices.addButton(choice)
        choices.setExclusive(False)
        self.untouched.clicked.connect(lambda on: self._declare(untouched=on))
        self.explained.clicked.connect(lambda on: self._declare(untouched=not on))
        self.sentence = QLineEdit()
        self.sentence.setAccessibleName("How they were chosen, for the certificate")
        self.sentence.setPlaceholderText("for example: by the office of statistics, in 2019")
        self.sentence.textEdited.connect(self._sentence_typed)
        how = Card("How were these chosen?")
        text = "Confirm this, or explain how they were chosen (printed in the certificate)."
        self.how_note = styled_label("faint", text)
        self.untouched_note = reserved_label("faint", 1)
        self.untouched_note.setContentsMargins(20, 0, 0, 0)
        how.add(
            self.how_note,
            self.untouched,
            self.untouched_note,
            row_of(self.sentence, self.explained, first=False),
        )
        left = _column((kind, 0), (where, 0), (size, 0), (how, 0))
        layout = left.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addStretch(1)
        self.region = RegionPicture(self._theme, self)
        self.region.edited.connect(self._region_moved)
        self.region_size = bold_label(" ")
        picture = Card("Region")
        picture.add(
            self.region,
            self.region_size,
            styled_label("faint", "This picture shows the region only, no data.", word_wrap=True),
            styled_label("faint", _EDGES, word_wrap=True),
        )
        picture.rows.setStretch(1, 1)
        self.maps = PublicMaps()
        self.maps.file_chosen.connect(self.map_chosen)
        self.maps.added.connect(self.add_map)
        self.maps.labelled.connect(self._map_labelled)
        self.maps.removed.connect(self._map_removed)
        row = QHBoxLayout(page := QWidget())
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(left, 2)
        row.addWidget(_column((picture, 1), (self.maps, 0)), 1)
        return page

    def _build_cost(self) -> QWidget:
        self.epsilon = QLineEdit()
        self.epsilon.setAccessibleName("ε")
        self.epsilon.setPlaceholderText("ε, such as 1/2")
        self.epsilon.setToolTip("As a decimal or a fraction")
        self.epsilon.setFixedWidth(110)
        self.epsilon.textEdited.connect(lambda text: self._typed("epsilon", text))
        self.slider = _EpsilonSlider()
        self.slider.setAccessibleName("ε")
        self.slider.valueChanged.connect(self._slid)
        self.copy_epsilon = _button("Copy ε fro&m the map", 190)
        self.copy_epsilon.clicked.connect(self.epsilon_copy_requested)
        self.fit = _button("Use what fits", 150)
        keep = self.fit.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.fit.setSizePolicy(keep)
        self.fit.clicked.connect(self._take_what_fits)
        self.ends = styled_label("faint")
        self.copied_epsilon = reserved_label("", 1)
        price = Card("ε, the cost of this release")
        top = row_of(self.slider, self.copy_epsilon)
        bar = top.layout()
        assert isinstance(bar, QHBoxLayout)
        bar.insertWidget(0, self.epsilon)
        bar.addWidget(self.fit)
        price.add(top, self.ends, self.copied_epsilon)

        self.error = styled_label("odds", "–")
        self.error_text = reserved_label("", 5)
        self.uniform = reserved_label("faint", 2)
        accuracy = Card("Accuracy")
        accuracy.add(self.error, self.error_text, self.uniform)
        self.remaining = styled_label("odds", "–")
        self.bar = BudgetBar(self._theme)
        self.used, self.here = styled_label("faint"), styled_label("faint")
        self.here.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.cost_text = reserved_label("", 5)
        budget = Card("Budget")
        budget.add(self.remaining, self.bar, row_of(self.used, self.here), self.cost_text)
        self.odds = styled_label("odds", "–")
        self.promise = reserved_label("", 7)
        protection = Card("Protection")
        protection.add(self.odds, self.promise)
        three = QHBoxLayout(cards := QWidget())
        three.setContentsMargins(0, 0, 0, 0)
        three.setSpacing(10)
        for card in (accuracy, budget, protection):
            card.rows.addStretch(1)
            card.setMinimumWidth(100)
            three.addWidget(card, 1)

        self.pictures = [SmallPicture(self._theme) for _ in range(3)]
        self.preview = reserved_label("faint", 2)
        self.good = reserved_label("faint", 1)
        rehearsal = Card("Rehearsal", styled_label("faint", "one colour scale"))
        row = QHBoxLayout()
        for picture in self.pictures:
            row.addWidget(picture)
        rehearsal.rows.addLayout(row, 1)
        rehearsal.add(self.preview, self.good)
        self.others = NumberTable("Other values of ε")
        self.others.set_plain(0)
        _fill_space(self.others, 100)
        self.others.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.rehearse = _button("R&ehearse again", 150)
        self.rehearse.setToolTip("The same steps on synthetic people: nothing is read or spent")
        self.rehearse.clicked.connect(self._rehearse)
        other = Card("Other values of ε")
        free = "Rehearsals are free: the program reads, spends and releases nothing."
        other.add(self.others, row_of(styled_label("faint", free, word_wrap=True), self.rehearse))
        other.rows.setStretch(1, 1)
        two = QHBoxLayout(below := QWidget())
        two.setContentsMargins(0, 0, 0, 0)
        two.setSpacing(10)
        two.addWidget(rehearsal, 1)
        two.addWidget(other, 1)
        return _column((price, 0), (cards, 0), (below, 1))

    def _build_review(self) -> QWidget:
        self.summary = [reserved_label("", lines) for lines in (2, 2, 4, 5)]
        self.changes = [_link("Change") for _ in range(4)]
        grid = QGridLayout(lines := QWidget())
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        names = ("People", "File", "What", "Cost")
        for place, (name, text, button) in enumerate(
            zip(names, self.summary, self.changes, strict=True)
        ):
            button.setAccessibleName(f"Change {name.lower()}")
            button.clicked.connect(lambda _=False, place=place: self.go_to(place))
            grid.addWidget(bold_label(name), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, place, 1)
            grid.addWidget(button, place, 2, Qt.AlignmentFlag.AlignTop)
        summary = Card("Summary")
        summary.add(lines)
        self.alone_text = styled_label("", word_wrap=True)
        self.alone_text.setAlignment(Qt.AlignmentFlag.AlignTop)
        _fill_space(self.alone_text, 3 * self.fontMetrics().lineSpacing() + 2)
        self.alone_text.setTextFormat(Qt.TextFormat.PlainText)
        self.check_here = _button("Chec&k the file", 130)
        self.check_here.clicked.connect(self._check)
        self.anyway = CheckBox("Release although few rows can be read.")
        keep = self.anyway.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.anyway.setSizePolicy(keep)
        self.anyway.toggled.connect(lambda _: self.update_page())
        alone = Card("For you alone", self.check_here, badge="curator only")
        alone.add(self.alone_text, self.anyway)
        alone.rows.setStretch(1, 1)
        left = _column((summary, 0), (alone, 1))
        self.texts = TypedFields(1)
        self.texts.offer(CERTIFIED[:4], self.draft.text)
        self.stated = Section("More texts…")
        self.stated.set_open(False)
        self.more_texts = TypedFields(1)
        self.more_texts.offer(CERTIFIED[4:], self.draft.text)
        self.stated.rows.addWidget(self.more_texts)
        more = "Period, region, kind of source, and the rows of NIST SP 800-226 that only you can "
        texts = Card("Texts for the certificate")
        texts.add(
            styled_label("faint", "Optional. All of them may stay empty."),
            self.texts,
            self.stated,
            styled_label("faint", f"{more}answer.", word_wrap=True),
        )
        texts.rows.addStretch(1)
        self._review = middle = QHBoxLayout(above := QWidget())
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(10)
        middle.addWidget(left, 8)
        middle.addWidget(texts, 5)
        self.draw = QPushButton("S&pend and release")
        self.draw.setObjectName("door")
        self.draw.setFixedSize(240, 38)
        self.draw.clicked.connect(self._spend)
        spend = Card("")
        spend.add(row_of(styled_label("", IF_INTERRUPTED, word_wrap=True), self.draw))
        self.phases = PhaseList(self._theme, PHASE_WORDS)
        spend.add(self.phases)
        return _column((above, 1), (spend, 0))

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return fields in the order of Tab, then the rest of each page, footer and done steps."""
        return (
            *(row.radio for row in self.who.rows.values()),
            *(self.found, self.path, self.form, self.check, self.mend),
            *(self.mechanism, self.copy, self.box_fields, self.own, self.cells),
            *(self.copy_epsilon, self.epsilon, self.fit, self.slider, self.rehearse),
            *(self.texts, self.stated),
            *(*self.areas, self.result_holder),
            *(self.details.heading, self.back, self.next, self.cancel, *self.steps.buttons),
        )

    # Display

    def show_ledger(self, ledger: LedgerState) -> None:
        """Show the ledger; the population is unchanged unless stated."""
        self.ledger = ledger
        if not self.draft.population and len(ledger.accounts) == 1 and self._fresh:
            self.draft = replace(self.draft, population=ledger.accounts[0].population)
        first, self._fresh = self._fresh, False
        if self.draft.population and ledger.account(self.draft.population) is None:
            self.draft = replace(self.draft, population="")
        self.who.show_ledger(ledger, self.draft.population)
        self.update_page()
        if first:
            self.focus_start()

    def show_draft(self, draft: Draft) -> None:
        """Show another draft."""
        self.draft = draft
        with QSignalBlocker(self.mechanism):
            self.mechanism.setCurrentIndex(self.mechanism.findData(draft.mechanism))
        self.sentence.setText(draft.sentence)
        self.path.setText(draft.text("data"))
        if self.ledger is not None:
            self.who.show_ledger(self.ledger, draft.population)
        self._offer_fields()
        self.epsilon.setText(draft.text("epsilon"))
        for fields in (self.form, self.texts, self.more_texts):
            fields.show_texts(draft.text)
        self.update_page()

    def show_found_format(self, texts: dict[str, str]) -> None:
        """Take over the format found when the file was opened, and check the file."""
        self.show_draft(self.draft.with_format(texts))
        self._check_wanted = True
        self._check_if_wanted()
        if self.page == FILE_PAGE:
            zone = self.form.edits["time_zone"]
            (zone if self.points[FILE_PAGE].field == "time_zone" else self.next).setFocus()

    def show_checked(self, plan: Plan, check: FileCheck) -> None:
        """Show the readable rows and ids known in other accounts; curator only."""
        self._checked = (_checked_key(plan), check)
        self._all_rows = False
        self._notes.pop(REVIEW_PAGE, None)
        with QSignalBlocker(self.anyway):
            self.anyway.setChecked(False)
        waiting, self._then_draw = self._then_draw, False
        self.update_page()
        if not waiting:
            return
        try:
            same = self.draft.plan() == plan
        except ReleaseError:
            same = False
        if same and not (check.rows.under_half or self.same_people or self.known_before):
            self._draw(plan)
        else:
            self.note(
                REVIEW_PAGE,
                "The file was checked. Read “For you alone”, then spend. Nothing was spent.",
            )

    def show_open_file(self, path: Path | None, words: str = "", *, unnamed: bool = False) -> None:
        """Offer the format of the open file; an `unnamed` one has no column of persons."""
        self.open_file, self.found_words, self._unnamed = path, words, unnamed
        self.update_page()

    @property
    def ready(self) -> bool:
        """Whether all five steps are complete."""
        return bool(self.points) and all(point.ok for point in self.points)

    @property
    def checked(self) -> FileCheck | None:
        """Result of the file check, if it was for the present file and format."""
        plan = self._plan_to_check()
        if plan is None:
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
            "groups (Ledger): what was spent adds, and the smaller limit holds."
        )

    @property
    def known_before(self) -> str:
        """Message on earlier access and other ledgers; else empty."""
        checked = self.checked
        if checked is None:
            return ""
        seen = [reopened_line(checked.seen, partly=checked.seen_partly)] if checked.seen else []
        return " ".join(map(sentence, [*seen, *other_spending_lines(checked)]))

    def show_rehearsals(self, plan: Plan, users: int, forecast: Forecast) -> None:
        """Show the result of rehearsals, and ask for those at other values of ε."""
        self._forecast = ((plan, users), forecast)
        self._others = []
        self._show_forecast()
        self.update_page()
        if forecast.errors_km:
            self.comparison_requested.emit(plan, users, self._other_values(plan.epsilon))

    def show_comparison(self, found: list[tuple[Plan, Forecast]]) -> None:
        """Show the forecasts at other values of ε."""
        self._others = found
        self._show_others()

    def show_busy(self, busy: bool, rehearsing: bool) -> None:
        """Disable the buttons while the ledger is written or a release runs."""
        self._busy, self._rehearsing = busy, rehearsing
        self.update_page()
        self._check_if_wanted()

    def show_releasing(self, releasing: bool) -> None:
        """Show whether a release is running."""
        self.releasing, self.cancelling = releasing, False
        if releasing:
            self.cancel.setFocus()  # the fields are disabled meanwhile
        self.show_phase(READ if releasing else "")

    def show_phase(self, phase: str) -> None:
        """Show the phase of the running release; "" for none."""
        self.phase = phase if self.releasing else ""
        self.phases.show_phase(PHASES.index(self.phase) if self.phase else -1)
        self.update_page()

    def leave(self) -> None:
        """Leave the wizard, or cancel the running release."""
        if not self.releasing:
            super().leave()
        elif self._can_cancel:
            self.cancelling = True
            self.stop_requested.emit()
            self.update_page()

    @property
    def _can_cancel(self) -> bool:
        """Whether *Cancel* has an effect: always but while noise is drawn and stored."""
        return not self.releasing or (self.phase in (READ, BOOK) and not self.cancelling)

    def show_ended(self, state: str) -> None:
        """Show the state of the result on its page."""
        if self.releasing and self.cancelling and state:
            self._notes[RESULT_PAGE] = TOO_LATE
        self.ended = state
        self.show_releasing(False)
        if state and self.page != RESULT_PAGE:
            self.show_page(RESULT_PAGE)
        self.update_page()

    def note(self, page: int, text: str) -> None:
        """Show a message in the footer of a page; "" removes it."""
        self._notes[page] = text
        self.update_page()

    def change(self, **what: object) -> None:
        """Change the draft."""
        self.draft = replace(self.draft, **what)  # type: ignore[arg-type]
        self.update_page()

    def update_page(self) -> None:
        """Update all pages from the draft and the ledger."""
        self.points = (
            (Point(False, ""),) * 5 if self.ledger is None else points(self.draft, self.ledger)
        )
        self.maps.show_maps(self.draft, self.ledger)  # whose fields the frame marks
        self._show_frame()
        self._show_file()
        self._show_what()
        self._show_cost()
        self._show_review()
        if self.page == COST_PAGE and self._forecast_needed():
            self._pause.start()

    def fill_example(self) -> None:
        """Fill in an example that depends on no file, and show what it costs."""
        typed = {**self.draft.typed, **example_of(EXAMPLE)}
        self.show_draft(replace(self.draft, mechanism=EXAMPLE, typed=typed))
        self.show_page(COST_PAGE)

    def price_plan(self) -> Plan | None:
        """Return the plan for synthetic users; None if mechanism or ε is missing."""
        try:
            return self.draft.rehearsal()
        except ReleaseError:
            return None

    def go_to_first(self) -> None:
        """Show the first incomplete step and focus its field, or the button that releases."""
        first = next((k for k in range(REVIEW_PAGE) if not self.step_done(k)), REVIEW_PAGE)
        self.show_page(first)

    # Frame

    def step_done(self, page: int) -> bool:
        """Whether a step is complete."""
        return page < len(self.points) and self.points[page].ok

    def go_on(self) -> None:
        """Show the next page, or say what is missing; on the result: leave."""
        if self.page == RESULT_PAGE:
            self.cancelled.emit()
            return
        if self.step_done(self.page):
            self.show_page(self.page + 1)
            return
        self._notes.pop(self.page, None)
        if self.page == PEOPLE_PAGE and self.who.new.isChecked():
            if self.who.problem is None:
                self.note(PEOPLE_PAGE, "Open the group first.")
                self.who.button.setFocus()
            else:
                self.who.open_group()
            return
        self._tried.add(self.page)
        self.update_page()
        field = self._field_of(self.points[self.page].field)
        if field is not None:
            field.setFocus()

    def _field_of(self, key: str) -> QWidget | None:
        fields: dict[str, QWidget] = {
            "population": next(iter(self.who.rows.values())).radio
            if self.who.rows
            else self.who.name,
            "data": self.path,
            "box": self.sides[0],
            "epsilon": self.epsilon,
            "sentence": self.sentence,
            "priors": self._map_to_mend(),
        }
        for typed in (self.form, self.own, self.cells, self.rest):
            fields.update(typed.edits)
        return fields.get(key)

    def _map_to_mend(self) -> QWidget:
        """Return the first field of a public map that is empty, or the button that adds one."""
        empty = (edit for edit in self.maps.labels.values() if not edit.text().strip())
        return next(empty, self.maps.add_button)

    def _show_frame(self) -> None:
        page, done = self.page, [point.ok for point in self.points]
        reached = [all(done[: k + 1]) for k in range(5)]
        shown = [reached[k] and (k != REVIEW_PAGE) for k in range(5)]
        on_result = page == RESULT_PAGE
        left = next((k for k in range(5) if not shown[k]), REVIEW_PAGE)
        words = {"published": "Published", "withdrawn": "Withdrawn"}.get(self.ended, "Released")
        state = words if on_result else f"{5 - min(left, page)} of 5 steps left"
        locked = on_result or self.releasing
        self.steps.show_steps(page, [True] * 5 if on_result else shown, locked, state)
        if on_result:
            self.title.setText(words)
            self.subtitle.setText(ENDED.get(self.ended, TEXTS[RESULT_PAGE].subtitle))
            published = self.ended == "published"
            paragraphs = PUBLISHED_HELP if published else TEXTS[RESULT_PAGE].help
            self.help.setText("\n\n".join(paragraphs))
        elif page == REVIEW_PAGE:
            self.subtitle.setText(RELEASING if self.releasing else TEXTS[REVIEW_PAGE].subtitle)
        self.cancel.setEnabled(self._can_cancel and not on_result)
        self.back.setEnabled(0 < page < RESULT_PAGE and not self.releasing)
        self.next.setEnabled(page != REVIEW_PAGE and not self.releasing)
        self.next.setText("Close" if on_result else "&Next ›")
        point = self.points[page] if page < len(self.points) else None
        text = self._notes.get(page, "")
        wrong = ""
        if point is not None and not point.ok and not text:
            over = page == COST_PAGE and bool(self.draft.text("epsilon"))
            over |= page == WHAT_PAGE and point.field == "priors"
            if page in self._tried or over or page == REVIEW_PAGE:
                text, wrong = point.message, point.field
        if page == PEOPLE_PAGE and self._unnamed and not text:
            text = NO_PERSON
        if self.releasing:
            text, wrong = self._releasing_text(), ""
        if page == FILE_PAGE and not text and self.checked and self.checked.rows.under_half:
            text = (
                "Fewer than half of the rows can be read. Choose the right format here. If you go "
                "on, step 5 asks you to confirm it."
            )
        self.message.setText(text)
        self.message.setToolTip(text)
        self.message.setStyleSheet(f"color: {self._theme.chrome.warn};")
        wrong_field = self._field_of(wrong) if wrong else None
        before, self._wrong = self._wrong, wrong
        marked = self._field_of(before) if before else None
        if marked is not None and marked is not wrong_field:
            mark_wrong(marked, wrong=False)
        if wrong_field is not None:
            mark_wrong(wrong_field, wrong=True)
        self._show_details()
        self.status_changed.emit()

    def _releasing_text(self) -> str:
        """Return the message on the running release."""
        if self.cancelling:
            return CANCELLING
        plan = self.price_plan()
        cost = "" if plan is None else f" of {rounded_up(plan.epsilon)}"
        return _PHASE_MESSAGES[self.phase].format(cost=cost)

    def _page_shown(self, page: int) -> None:
        if page == REVIEW_PAGE and self._is_open_file() and self.checked is None:
            self._check_wanted = True
        self.update_page()
        if page == COST_PAGE:
            self._rehearse_if_needed()
        self._check_if_wanted()
        self.focus_start()

    def focus_start(self) -> None:
        """Focus what is most likely wanted first on the page."""
        page = self.page
        people = self.cells.edits.get(PEOPLE)
        chosen = self.who.groups.checkedButton()
        wanted = {
            PEOPLE_PAGE: self.who.name if chosen is self.who.new else chosen,
            FILE_PAGE: (self.found, self.next, self.mend)[
                self.step_done(page) + (not self.mend.isHidden())
            ],
            WHAT_PAGE: people if self.draft.text("box") else self.copy,
            COST_PAGE: self.next if self.draft.text("epsilon") else self.copy_epsilon,
            REVIEW_PAGE: self.texts.edits["title"],
        }.get(page)
        if wanted is not None and self.isVisible():
            if not wanted.isEnabled():
                wanted = {FILE_PAGE: self.path, WHAT_PAGE: self.sides[0]}.get(page, self.epsilon)
            wanted.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_details(self) -> None:
        """Show the exact texts behind the page."""
        plan = self.price_plan()
        if self.page not in (COST_PAGE, REVIEW_PAGE) or plan is None:
            self.show_details(self._details(plan))
            return
        columns, rows = plan.mechanism.noise_table(plan.own_parameters, plan.epsilon)
        self.show_details(self._details(plan), columns, rows, NOISE_NOTE)

    def _details(self, plan: Plan | None) -> Iterable[tuple[str, str]]:
        """Return headings and texts."""
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        mechanism = MECHANISMS[self.draft.mechanism]
        if self.page == FILE_PAGE and self.checked is not None:
            yield "Rows", "\n".join(self.checked.rows.lines())
        used = ""
        if account is not None:
            used = f"Used {account.spent} of {account.budget}; remains {account.remaining}."
        if self.page == PEOPLE_PAGE:
            yield "Budget", used
        if self.page in (COST_PAGE, REVIEW_PAGE) and account is not None and plan is not None:
            power = 2 if account.gate == "zcdp" else 1
            cost = plan.epsilon**power / power
            unit = f"ρ = ε²/2 = {cost}. " * (power == 2)
            yield "Exact cost", f"ε = {plan.epsilon}. {used}"
            verdict = "allowed" if account.fits(plan.epsilon) else "refused"
            total, relation = account.spent + cost, "≤" if cost <= account.remaining else ">"
            yield (
                f"Check before drawing (gate “{account.gate}”)",
                f"{unit}{account.spent} + {cost} = {total} {relation} {account.budget}: "
                f"{verdict}. Replacing one user: {2 * plan.epsilon}.",
            )
        if self.page in (PEOPLE_PAGE, COST_PAGE) and account is not None and self.ledger:
            counted = self.ledger.releases_of(account.population)
            yield "Earlier releases", "\n".join(earlier_lines(account, counted, plan)[1:])
        if self.page == RESULT_PAGE:
            yield from self.result_sections
        if self.page in (WHAT_PAGE, COST_PAGE):
            random = "Random bytes of the operating system, no seed."
            yield f"Noise ({mechanism.id})", f"{random} {mechanism.privacy}"

    # File

    def _is_open_file(self) -> bool:
        return self.open_file is not None and self.draft.text("data") == str(self.open_file)

    def _show_file(self) -> None:
        """Show the format found in the file, and whether it can be adopted."""
        here, typed = self.open_file, self.draft.text("data")
        usable = here is not None and typed in ("", str(here))
        in_use = self.draft.format_taken and self._is_open_file()
        free = usable and not self._busy and not in_use
        self.found.setEnabled(free and not self._unnamed)
        self.found.setText("✓ In use" if in_use else "&Use this format")
        if here is None:
            words = "Open the file in the window to find its format, or describe it below."
        elif usable and self._unnamed:
            words = NO_PERSON
        elif usable:
            words = f"Found when the file was opened: {self.found_words or here.name}"
        else:
            words = "This file is not the one that is open: describe its format below."
        self.found_label.setText(words)
        self.found_label.setToolTip(words)
        self.which.setText("the file that is open" if self._is_open_file() else "")
        self.taken.setVisible(self.draft.format_taken)
        checked = self.checked
        plan = self._plan_to_check()
        early = self._is_open_file() or self.ready
        self.check.setEnabled(plan is not None and not self._busy and early)
        colours = self._theme.chrome
        if checked is None:
            self.rows_read.setText("Not checked yet.")
            self.rows_read.setStyleSheet("")
            self.mend.setVisible(False)
            later = CHECK_LATER if typed and not early else ""
            self.remark.setText(later)
            self.remark.setStyleSheet("")
            self._show_unreadable(())
            return
        rows = checked.rows
        colour = colours.bad if rows.under_half else colours.good
        self.rows_read.setText(f"{rows.count} can be read.")
        self.rows_read.setStyleSheet(f"color: {colour};")
        hint = next((one.hint for one in rows.first if one.hint), "")
        key, value = _MENDING.get(hint, ("", ""))
        if key:
            label = next(field.label for field in FORMAT if field.key == key).lower()
            self.mend.setText(f"Use {label} “{value}” and &check again")
        new = self.mend.isHidden()
        self.mend.setVisible(bool(key) and rows.under_half and not self._busy)
        typing = isinstance(self.window().focusWidget(), QLineEdit | ChoiceBox)
        if new and not (typing or self.mend.isHidden()):
            self.mend.setFocus()
        left_out = rows.rows - rows.readable
        text = (
            "Rows that cannot be read in this format are left out (dry run: "
            f"{left_out:,} of {rows.rows:,})."
        )
        self.remark.setText(f"{sentence(hint)} {text}" if hint else text)
        back = colours.warn_back if rows.under_half else colours.good_back
        self.remark.setStyleSheet(f"background: {back};")
        self._show_unreadable(rows.first, left_out)

    def _show_unreadable(self, rows: Sequence[Unreadable], number: int = 0) -> None:
        """Show the first unreadable rows, or all that were explained.

        Parameters
        ----------
        rows : sequence of Unreadable
        number : int
            Of all unreadable rows.
        """
        few = rows if self._all_rows else rows[:SHOWN]
        cells = [(f"{u.line:,}", u.column or "(row)", u.reason, _value_text(u)) for u in few]
        self.unreadable.set_table(_UNREADABLE, cells)
        more = len(rows) > SHOWN
        shown = f"The first {len(few):,} of {number:,} rows that cannot be read."
        self.shown_rows.setText(shown if len(few) < number else " ")
        every = "all" if len(rows) == number else "the first"
        all_text = f"Show {every} {len(rows):,}"
        self.show_all.setText(f"Show the first {SHOWN}" if self._all_rows else all_text)
        self.show_all.setVisible(more)

    def _toggle_all(self) -> None:
        """Show all explained rows, or the first ones again."""
        self._all_rows = not self._all_rows
        self.update_page()

    def _plan_to_check(self) -> Plan | None:
        """Return the plan, or as much of it as a check needs; None if that is missing."""
        if not self.draft.population or not self.points or not self.step_done(FILE_PAGE):
            return None
        try:
            return self.draft.plan()
        except ReleaseError:
            pass
        try:
            return self.draft.to_check()
        except ReleaseError:
            return None

    def _check(self) -> None:
        """Check the file; a plan is entered for that only if it is complete."""
        self._then_draw = False
        plan = self._plan_to_check()
        if plan is not None:
            self.check_requested.emit(plan, self.ready)

    def _mend(self) -> None:
        """Declare the suggested format and check the file again."""
        checked = self.checked
        hints = [] if checked is None else [one.hint for one in checked.rows.first]
        key, value = _MENDING.get(next(filter(None, hints), ""), ("", ""))
        if key:
            self.show_draft(self.draft.with_text(key, value))
            self._check()

    def _check_if_wanted(self) -> None:
        """Check the file as soon as nothing else uses the ledger."""
        if self._check_wanted and not self._busy and self.isVisible():
            plan = self._plan_to_check()
            if plan is not None and self._is_open_file():
                self._check_wanted = False
                self.check_requested.emit(plan, False)

    def _browse(self) -> None:
        folder = str(Path(self.draft.text("data")).parent) if self.draft.text("data") else ""
        path, _ = QFileDialog.getOpenFileName(self, "The file to read", folder)
        if path:
            self.path.setText(path)
            self._typed("data", path)

    # What

    def _show_what(self) -> None:
        copied = bool(self.draft.copied & set(REGION))
        own = bool(self.draft.sentence.strip()) or copied
        with QSignalBlocker(self.untouched), QSignalBlocker(self.explained):
            self.untouched.setChecked(self.draft.untouched and not copied)
            self.explained.setChecked(own and not self.draft.untouched)
        self.untouched.setEnabled(not copied)
        names = copied_names(self.draft.copied & set(REGION)).lower()
        reason = f"Not possible here: the {names} came from a map of the data." if copied else ""
        self.untouched_note.setText(reason)
        self.untouched.setAccessibleDescription(reason)
        _remark(self.copied, copied_text(self.draft) if copied else "", self._theme)
        box = self.draft.text("box")
        self.region.show_box(box)
        self.region_size.setText(self.region.size_text or " ")
        self.kind_note.setText(KIND_NOTES.get(self.draft.mechanism, ""))
        self._request_maps()
        self.cell_size.setText(self._cell_size_text())

    def add_map(self, one: PublicMap) -> None:
        """Add a public map, unless it is there, and ask for the name of a file."""
        maps = self.draft.maps
        if all((one.kind, one.key) != (other.kind, other.key) for other in maps):
            self.change(maps=(*maps, one))
        label = self.maps.labels.get(len(self.draft.maps) - 1)
        if label is not None and one.has_label:
            label.setFocus()

    def _map_labelled(self, place: int, text: str) -> None:
        maps = list(self.draft.maps)
        maps[place] = replace(maps[place], label=text)
        self.change(maps=tuple(maps))

    def _map_removed(self, place: int) -> None:
        """Remove a public map, and read it again if it is added again."""
        gone = self.draft.maps[place]
        read = {k: v for k, v in self.draft.read.items() if k[:2] != (gone.kind, gone.key)}
        maps = (*self.draft.maps[:place], *self.draft.maps[place + 1 :])
        self.change(maps=maps, read=read)
        removers = self.maps.removers
        (removers[min(place, len(removers) - 1)] if removers else self.maps.add_button).setFocus()

    def _request_maps(self) -> None:
        """Ask for what public maps hold, where that is not known for the present cells."""
        try:
            keys = self.draft.map_keys()
        except ParameterError:
            return
        pairs = zip(keys, self.draft.maps, strict=False)
        missing = [(key, one) for key, one in pairs if key not in self.draft.read]
        asked = [key for key, _ in missing]
        if missing and asked != self._maps_asked:
            self._maps_asked = asked
            texts = read_own(self.draft.mechanism, self.draft.typed)
            self.maps_requested.emit(missing, MECHANISMS[self.draft.mechanism].parse(texts))

    def show_maps(self, found: dict[MapKey, PriorMasses | str]) -> None:
        """Take over what public maps hold on the cells; those on other cells are forgotten."""
        self._maps_asked = []
        known = {**self.draft.read, **found}
        try:
            keys = self.draft.map_keys()
        except ParameterError:
            keys = ()
        self.change(read={key: known[key] for key in keys if key in known})

    def _cell_size_text(self) -> str:
        """Return the size of a cell; empty without a region or a number of cells."""
        size = self.region.size_km
        side = self.draft.text("side")
        if size is None or "side" not in self._keys() or not side.isdecimal() or not int(side):
            return ""
        width, height = (nearest(km / int(side), 2) for km in size)
        return f"about {width} × {height} km per cell"

    def _mechanism_selected(self) -> None:
        self.draft = replace(self.draft, mechanism=str(self.mechanism.currentData()))
        self._offer_fields()
        self.update_page()

    def _offer_fields(self) -> None:
        """Show the fields of a mechanism; texts of others are kept."""
        fields = OF_MECHANISM[self.draft.mechanism]
        keys = {field.key for field in fields}
        self.box_fields.setVisible("box" in keys)
        times = [f for f in fields if f.key in ("start", "end")]
        needed = [
            f for f in fields if (f.needed or f.key in ("values", "edges")) and f.key != "box"
        ]
        rest = [f for f in fields if f not in (*needed, *times) and f.key != "box"]
        self.own.offer([replace(f, width=2) for f in times], self.draft.text)
        self.cells.offer([*needed, PEOPLE_FIELD], self.draft.text)
        self.rest.offer(rest, self.draft.text)
        self.more.setVisible(bool(rest))
        texts = [part.strip() for part in self.draft.text("box").split(",")]
        for edit, text in zip(self.sides, [*texts, *[""] * 4], strict=False):
            if edit.text().strip() != text:
                edit.setText(text)

    def _box_typed(self) -> None:
        texts = [edit.text().strip() for edit in self.sides]
        self._typed("box", ", ".join(texts) if any(texts) else "")

    def _region_moved(self, text: str) -> None:
        """Take over a box whose edge was moved in the picture."""
        for edit, side in zip(self.sides, text.split(", "), strict=True):
            edit.setText(side)
        self._typed("box", text)

    def _declare(self, *, untouched: bool) -> None:
        if untouched:
            self.change(untouched=True)
        else:
            self.change(untouched=False)
            self.sentence.setFocus()

    def _sentence_typed(self, text: str) -> None:
        self.change(sentence=text, untouched=self.draft.untouched and not text.strip())

    # Cost

    def show_map_epsilon(self, text: str) -> None:
        """Name the ε of the map on the button that copies it; "" if there is none."""
        self.copy_epsilon.setText(f"Copy ε = {text} fro&m the map" if text else "No ε to copy")
        self.copy_epsilon.setEnabled(bool(text))

    def _largest(self) -> Fraction:
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        return Fraction(3) if account is None else account.largest_fit()

    def _slid(self, place: int) -> None:
        top = float(self._largest())
        if top <= _LEAST_EPSILON:
            return
        value = _LEAST_EPSILON * (top / _LEAST_EPSILON) ** (place / _SLIDER_STEPS)
        text = format_number(value, digits=2, typeset=False)
        if place == _SLIDER_STEPS:
            text = rounded_down(self._largest(), 9)
        self.epsilon.setText(text)
        self._typed("epsilon", text)

    def _show_cost(self) -> None:
        plan = self.price_plan()
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        top = self._largest()
        self.ends.setText(f"0.01 protects most … {rounded_down(top)}, all that remains")
        self.slider.setEnabled(top > _LEAST_EPSILON)
        self.slider.show_epsilon(None if plan is None else plan.epsilon, top)
        value = "none" if plan is None else rounded_up(plan.epsilon)
        self.slider.setAccessibleName(f"ε: {value} of {rounded_down(top)}")
        _remark(self.copied_epsilon, copied_text(self.draft), self._theme)
        self.rehearse.setText("Rehearsing…" if self._rehearsing else "R&ehearse again")
        self.fit.setVisible(False)
        self.used.setText("")
        self.here.setText("")
        self.bar.show_shares((), 0.0, "The budget is known once step 1 is complete")
        if plan is None:
            self.odds.setText("–")
            self.promise.setText("")
            self.remaining.setText("–")
        else:
            chance = best_chance(float(plan.epsilon))
            useful = chance < MAX_USEFUL_CHANCE
            self.odds.setText(f"{times_in_100(chance)} %" if useful else "> 99 %")
            self.promise.setText("\n".join(self._protection(plan)))
        if account is None or self.ledger is None:
            self.cost_text.setText(self.points[COST_PAGE].message if self.points else "")
            return
        counted = self.ledger.releases_of(account.population)
        power = 2 if account.gate == "zcdp" else 1
        costs = [r.epsilon**power / power for r in counted]
        budget = account.budget or 1
        request = Fraction(0) if plan is None else plan.epsilon**power / power
        text = earlier_lines(account, counted, plan)[0]
        self.bar.show_shares([float(c / budget) for c in costs], float(request / budget), text)
        self.used.setText(f"{rounded_up(account.spent)} used")
        self.here.setText("" if plan is None else f"this release {rounded_up(request)}")
        fits = plan is not None and account.fits(plan.epsilon)
        left = max(account.remaining - request, Fraction(0))
        unit = "ρ = " if account.gate == "zcdp" else ""
        if plan is None or fits:
            self.remaining.setText(f"{unit}{rounded_down(left)} will remain")
        else:
            self.remaining.setText("does not fit")
        if plan is not None and fits:
            later = f"Later releases about these people can cost up to {rounded_down(left)} in all."
            self.cost_text.setText(f"{price_text(plan, account)} {later}")
        else:
            self.cost_text.setText(self.points[COST_PAGE].message)
        if plan is not None and not fits and account.largest_fit():
            self.fit.setText(f"Use {rounded_down(account.largest_fit())}")
            self.fit.setVisible(True)

    def _protection(self, plan: Plan) -> list[str]:
        """Return the sentences on what an attacker can learn."""
        lines = [attacker_text(plan.epsilon)]
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        if account is not None and self.ledger is not None and account.spent_epsilon:
            total = plan.epsilon + account.spent_epsilon
            chance = best_chance(float(total))
            most = f"right at most {times_in_100(chance)} % of the time"
            lines.append(f"With all earlier releases (ε = {rounded_up(total)}): {most}.")
            lines += self._overlaps(plan)
        return lines

    def _overlaps(self, plan: Plan) -> list[str]:
        assert self.ledger is not None
        counted = self.ledger.releases_of(self.draft.population)
        found = overlaps(plan.parameters(), plan.epsilon, counted)
        return [
            f"Overlaps release {one.release.seq}; together ε = {rounded_up(one.total)}."
            for one in found[-1:]
        ]

    def _forecast_subject(self) -> tuple[Plan, int] | None:
        plan = self.price_plan()
        try:
            return None if plan is None else (plan, read_people(self.draft.text(PEOPLE)))
        except ParameterError:
            return None

    def _forecast_needed(self) -> bool:
        subject = self._forecast_subject()
        return subject is not None and not _alike(self._forecast[0], subject)

    def _rehearse_if_needed(self) -> None:
        if self.page == COST_PAGE and self._forecast_needed():
            self._rehearse()

    def _rehearse(self) -> None:
        """Rehearse, or state what is missing."""
        try:
            plan, users = self.draft.rehearsal(), read_people(self.draft.text(PEOPLE))
        except ParameterError as error:
            self.note(self.page, f"To rehearse: {sentence_of(error)}")
            return
        self._notes.pop(self.page, None)
        self._forecast = ((plan, users), self._forecast[1])
        for picture in self.pictures:
            picture.setEnabled(False)
        self.error_text.setText("Rehearsing…")
        self.rehearsal_requested.emit(plan, users)

    @property
    def forecast_text(self) -> str:
        """Mean error of the rehearsals of the present plan; empty if unknown."""
        subject, known = self._forecast_subject(), self._forecast
        if known[1] is None or not known[1].errors_km or not _alike(known[0], subject):
            return ""
        errors = known[1].errors_km
        return f"≈ {_km_up(sum(errors) / len(errors))}"

    def forecast_of(self, plan: Plan) -> str:
        """Return the mean error of the rehearsals of a released plan; empty if there are none."""
        subject, found = self._forecast
        if subject is None or found is None or not found.errors_km:
            return ""
        users = subject[1]
        if not _alike(subject, (plan, users)):
            return ""
        mean = _km_up(sum(found.errors_km) / len(found.errors_km))
        return f"≈ {mean} (forecast on {users:,} synthetic people)"

    def _show_forecast(self) -> None:
        subject, found = self._forecast
        if found is None or subject is None:
            return
        plan, users = subject
        shown = list(found.shown)
        for picture in self.pictures:
            picture.setEnabled(True)
        if found.truth is not None:
            peak = max(float(one.grid.max()) for one in shown[:2] if one.grid is not None)
            peak = max(peak, float(found.truth.max()))
            self.pictures[0].show_grid(found.truth, peak, f"Map of {users:,} synthetic people")
            for place, picture in enumerate(self.pictures[1:]):
                picture.show_output(shown[place], peak)
            captions = f"{users:,} synthetic people · rehearsal 1 · rehearsal 2"
        else:
            for picture, output in zip(self.pictures, shown, strict=False):
                picture.show_output(output)
            captions = f"Three rehearsals on {users:,} synthetic people"
        self.preview.setText(f"{captions}, ε = {rounded_up(plan.epsilon)}. Nothing was read.")
        self.good.setText(spread(shown))
        errors = sorted(found.errors_km)
        if errors:
            mean, nine = sum(errors) / len(errors), errors[-(-9 * len(errors) // 10) - 1]
            self.error.setText(f"≈ {_km_up(mean)}")
            self.error_text.setText(
                f"Average error of the map: the mean of {len(errors)} rehearsals with {users:,} "
                f"synthetic people. In 9 of 10 of them it is below {_km_up(nine)}."
            )
            self.uniform.setText(
                f"A uniform map would be off by {_km_down(found.uniform_km or 0.0)}."
            )
        else:
            lines = error_lines(plan.mechanism.expected_error(plan.own_parameters, plan.epsilon), 4)
            self.error.setText("Noise")
            self.error_text.setText(" ".join(lines))
            self.error_text.setToolTip("\n".join(lines))
            self.uniform.setText("")
        self._show_others()

    def _other_values(self, epsilon: Fraction) -> list[Fraction]:
        top = self._largest()
        values = {Fraction(1, 4), Fraction(1, 2), Fraction(1), top} - {epsilon, Fraction(0)}
        return sorted(value for value in values if value <= top)[:4]

    def _show_others(self) -> None:
        subject, found = self._forecast
        if subject is None or found is None or not found.errors_km:
            self.others.set_table((), ())
            return
        account = None if self.ledger is None else self.ledger.account(self.draft.population)
        rows = []
        for plan, one in sorted(
            [(subject[0], found), *self._others],
            key=lambda row: row[0].epsilon,
        ):
            mean = sum(one.errors_km) / len(one.errors_km)
            left = "–"
            if account is not None and account.fits(plan.epsilon):
                power = 2 if account.gate == "zcdp" else 1
                left = rounded_down(account.remaining - plan.epsilon**power / power)
            chance = times_in_100(best_chance(float(plan.epsilon)))
            rows.append((rounded_up(plan.epsilon), _km_up(mean), f"{chance} %", left))
        columns = ("ε", "Average error", "Attacker right, at most", "Will remain")
        self.others.set_table(columns, rows)
        header = self.others.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)  # its title may be cut
        here = [row[0] for row in rows].index(rounded_up(subject[0].epsilon))
        self.others.table.strong = here
        self.others.selectRow(here)

    def _take_what_fits(self) -> None:
        fits = self._largest()
        if fits:
            self.draft = self.draft.with_text("epsilon", rounded_down(fits, 9))
            self.epsilon.setText(self.draft.text("epsilon"))
            self.update_page()

    # Review

    def _show_review(self) -> None:
        draft, plan = self.draft, self.price_plan()
        account = None if self.ledger is None else self.ledger.account(draft.population)
        mechanism = MECHANISMS[draft.mechanism]
        side = f", {draft.text('side')} × {draft.text('side')} cells" * ("side" in self._keys())
        box = [part.strip() for part in draft.text("box").split(",")]
        where = ""
        if len(box) == 4 and all(box):
            where = f"{_span(box[0], box[2], 'SN')}, {_span(box[1], box[3], 'WE')}"
        when = _period(draft.text("start"), draft.text("end"))
        name = Path(draft.text("data")).name
        taken = "The format was taken from the file. The certificate says so."
        texts = (
            (
                "" if account is None else account.label,
                "Each value in the column “user” is one person.",
            ),
            (name, taken if draft.format_taken else "You described the format."),
            (
                f"{mechanism.label}{side}",
                "; ".join(filter(None, (where, when))),
                copied_text(draft, short=True),
                *self._map_lines(),
            ),
            (
                self.points[COST_PAGE].message if self.points else "",
                *([f"Average error {self.forecast_text} (forecast)."] * bool(self.forecast_text)),
                *([] if plan is None else [attacker_text(plan.epsilon)]),
            ),
        )
        self._fit_summary()
        for label, lines in zip(self.summary, texts, strict=True):
            label.setText("\n".join(filter(None, lines)))
            label.setToolTip(label.text())
        self._show_alone()
        cost = "" if plan is None else f" {rounded_up(plan.epsilon)}"
        self.draw.setText("Releasing…" if self.releasing else f"S&pend{cost} and release")
        for part in (*self.changes, self.texts, self.stated):
            part.setEnabled(not self.releasing)
        checked = self.checked
        blocked = checked is not None and checked.rows.under_half and not self.anyway.isChecked()
        self.draw.setEnabled(self.ready and not self._busy and not self.releasing and not blocked)
        for button in (self.compare, self.check_here):
            button.setEnabled(self.ready and not self._busy and not self.releasing)
        several = self.ledger is not None and len(self.ledger.accounts) > 1
        self.compare.setVisible(several)

    def _fit_summary(self) -> None:
        """Give what is released the lines that it takes in the present window."""
        lines = (5 if self._narrow else 4) + 3 * bool(self._map_lines())
        set_lines(self.summary[2], lines)

    def _map_lines(self) -> list[str]:
        """Return names of the public maps, and what they mean for the people in them."""
        maps = self.draft.maps if self.draft.takes_maps else ()
        names = ", ".join(PriorSource(one.kind, one.key, one.label).name for one in maps)
        told = " ".join(filter(None, (one.sentence for one in maps)))
        return [f"Public maps: {names}.", *filter(None, [told])] if maps else []

    def _keys(self) -> set[str]:
        return {field.key for field in OF_MECHANISM[self.draft.mechanism]}

    def _show_alone(self) -> None:
        """Show what only the curator may see: readable rows, known ids, views of the map."""
        checked = self.checked
        shown = 0 if self.ledger is None else self.ledger.shown
        times = "once" if shown == 1 else f"{shown} times"
        views = f"The true map of this file was viewed {times}. The certificate says so."
        lines = [
            self.same_people,
            self.known_before,
            views * bool(shown),
            self.readable or "The file is checked before the cost is booked.",
        ]
        if checked is not None and not self.same_people:
            lines.append("No id of this file is known in another group.")
        self.alone_text.setText("\n".join(filter(None, lines)))
        self.alone_text.setToolTip(self.alone_text.text().replace("<", "‹"))
        under_half = checked is not None and checked.rows.under_half
        self.anyway.setVisible(under_half)
        if checked is not None and under_half:
            self.anyway.setText(f"Release although only {checked.rows.count} can be read.")

    def _spend(self) -> None:
        """Draw; a file that is not checked is checked first."""
        try:
            plan = self.draft.plan()
        except ReleaseError as error:
            self.note(REVIEW_PAGE, sentence_of(error))
            return
        if self.checked is None and self._changed_since_check(plan):
            self.note(REVIEW_PAGE, CHANGED)
            self.check_here.setFocus()
        elif self.checked is None:
            self._then_draw = True
            self.note(REVIEW_PAGE, "Checking the file first. Nothing is spent.")
            self.check_requested.emit(plan, True)
        else:
            self._draw(plan)

    def _changed_since_check(self, plan: Plan) -> bool:
        """Whether the file of a plan was checked in its format, and was changed afterwards."""
        before, now = self._checked[0], _checked_key(plan)
        return before is not None and now is not None and before[:4] == now[:4] and before != now

    def _draw(self, plan: Plan) -> None:
        self._notes.pop(REVIEW_PAGE, None)
        self.show_releasing(True)
        self.draw_requested.emit(plan)

    def set_narrow(self, *, narrow: bool) -> None:
        """Arrange all pages for a small window or a usual one."""
        super().set_narrow(narrow=narrow)
        set_lines(self.kind_note, 2 if narrow else 1)
        self._fit_summary()
        self.untouched_note.setVisible(not narrow)
        self.draw.setFixedSize(200 if narrow else 240, 38)
        self._review.setStretch(0, 9 if narrow else 8)
        self._review.setStretch(1, 4 if narrow else 5)
        for column in self._columns:
            column.setSpacing(6 if narrow else 10)

    def close_page(self) -> None:
        """Stop the threads."""
        self.region.job.close()

    def failed(self, text: str) -> None:
        """Show why something failed, on the page in front."""
        self._then_draw = False
        self._notes[self.page] = text
        self.show_releasing(False)

    def _typed(self, key: str, text: str) -> None:
        self.draft = self.draft.with_text(key, text)
        self._notes.pop(self.page, None)
        if key != "epsilon" and self.page == COST_PAGE:
            self._others = []
        self.update_page()
        self._check_if_wanted()


def _alike(one: object, other: object) -> bool:
    """Whether two subjects of forecasts have the same mechanism, parameters, ε and people."""
    return one is not None and other is not None and _essence(one) == _essence(other)


def _essence(subject: Any) -> tuple[object, ...]:
    plan, users = subject
    return plan.mechanism.id, str(plan.own_parameters.as_parameters()), plan.epsilon, users


def _km_up(km: float) -> str:
    return f"{at_most(km, 3)} km"


def _km_down(km: float) -> str:
    return f"{at_least(km, 3)} km"


def _remark(label: QWidget, text: str, theme: Theme) -> None:
    """Show a remark in a label whose space is reserved."""
    label.setText(text)  # type: ignore[attr-defined]
    colours = theme.chrome
    back = colours.warn_back if text else "transparent"
    label.setStyleSheet(f"color: {colours.warn}; background: {back};")


def _button(text: str, width: int) -> QPushButton:
    button = QPushButton(text)
    if width:
        button.setMinimumWidth(width)
    return button


def _fill_space(part: QWidget, least: int) -> None:
    """Give a part the height that is left, whatever it contains."""
    part.setMinimumHeight(least)
    part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)


def _span(low: str, high: str, letters: str) -> str:
    """Return two degrees as read on maps: ``74.1 to 73.75° W``, ``0.5° W to 0.2° E``."""
    (first, one), (last, two) = (
        (text.lstrip("-−"), letters[text[0] not in "-−"]) for text in (low, high)
    )
    return f"{first}{f'° {one}' * (one != two)} to {last}° {two}"


def _period(start: str, end: str) -> str:
    """Return a time range in words, such as ``1 Jan 2026, 08:00 to 1 Feb 2026 UTC``."""
    words = []
    for text in filter(None, (start, end)):
        try:
            when = datetime.fromisoformat(text)
        except ValueError:  # its field says why
            return f"{start} to {end}"
        when = when.astimezone(UTC) if when.tzinfo else when  # without an offset it is in UTC
        clock = f"{when:%H:%M:%S}".removesuffix(":00")
        words.append(f"{when.day} {when:%b %Y}{f', {clock}' * (clock != '00:00')}")
    prefix = "" if start and end else "from " if start else "until "
    return f"{prefix}{' to '.join(words)} UTC" if words else ""


def _value_text(row: Unreadable) -> str:
    """Return the value of an unreadable row for the table."""
    if row.column:
        return row.value or "(empty)"
    return "(whole row)"


def _link(text: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("link")
    return button


_COLUMN = "column"
"""Object name of the layouts that stack cards."""


def _column(*parts: tuple[QWidget, int]) -> QWidget:
    """Stack parts with their stretch factors."""
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(10)
    column.setObjectName(_COLUMN)
    for part, stretch in parts:
        column.addWidget(part, stretch)
    return widget


_Key = tuple[object, ...]


def _checked_key(plan: Plan) -> _Key | None:
    """Return the inputs of a check: group, file, format, columns, time of change and size."""
    try:
        stat = plan.data.stat()
    except OSError:
        return None
    return plan.population, plan.data, plan.form, plan.reads, stat.st_mtime_ns, stat.st_size
