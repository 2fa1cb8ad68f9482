"""Guarantee panel: odds, promised unit and conditions; also as a strip at the window edge."""

from dataclasses import replace
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.figures.view_state import study_of
from explorer.privacy.core.bound import Grade
from explorer.studies.base.claims import (
    STILL_COMPUTING,
    ClaimedBound,
    OptionalClaim,
    evaluate_claim,
    optional_claims,
    with_claim,
)
from explorer.studies.base.numbers import at_most, in_signs, unbroken
from explorer.studies.base.phrases import (
    MAX_USEFUL_CHANCE,
    NOT_USEFUL,
    best_chance,
    chance_of,
    first_sentence,
    in_brief,
    odds_basis,
    qualified_odds,
    times_in_100,
)
from explorer.studies.base.study import Condition, Guarantee, Result
from explorer.ui.base.styled import styled_label, tool_button
from explorer.ui.base.theme import Theme
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.section import Section
from explorer.ui.widgets.staleness import StaleMark


class OddsBar(QWidget):
    """Bar of 100 parts: prior up to 50, then the maximal increase.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chance = 0.5
        self.setFixedHeight(max(8, self.fontMetrics().height() * 2 // 3))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(40)
        theme.changed.connect(self.update)

    def show_chance(self, chance: float, text: str) -> None:
        """Show a success probability from 0.5 to 1; `message` is the text for screen readers."""
        self.setAccessibleName(text)
        if chance != self._chance:
            self._chance = chance
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the three parts."""
        colours, painter = self._theme.chrome, QPainter(self)
        width, height = float(self.width()), float(self.height())
        painter.fillRect(self.rect(), QColor(colours.border))
        half, end = 0.5 * width, min(self._chance, 1.0) * width
        painter.setOpacity(0.35)
        painter.fillRect(QRectF(0, 0, half, height), QColor(colours.muted))
        painter.setOpacity(1.0)
        painter.fillRect(QRectF(half, 0, max(end - half, 1.0), height), QColor(colours.accent))
        painter.end()


class OddsScale(QWidget):
    """Labels below an `OddsBar`: right of its middle and at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(self.fontMetrics().height())
        self.setMinimumWidth(40)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the two labels."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        font = painter.font()
        font.setPointSizeF(8)
        painter.setFont(font)
        line = self.rect()
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, "100 %")
        middle = QRect(line.width() // 2 - 46, 0, 92, line.height())
        painter.drawText(middle, Qt.AlignmentFlag.AlignHCenter, "50 % is guessing")
        painter.end()


LIVE_MS = 100
"""Minimum time between updates of the panel while results arrive."""
PAUSE_MS = 250
"""Minimum time between updates of the longest text: its layout is as slow as the curves."""
WAITING_TEXT = "Nothing is claimed yet: the first answer is on its way."
NO_DATA = "Nothing is claimed: no check-ins are open. Open a file with Ctrl+O, or the sample."
NO_ANSWER = "Nothing is claimed: there is no answer. Change a value to compute again."
_IN_FRONT = {WAITING_TEXT: "computing…", NO_DATA: "No check-ins are open.", NO_ANSWER: "No answer."}
_NO_CLAIM = "Nothing is claimed here."
_ATTACKER = "An attacker who starts at 50 : 50 is right at most {} % of the time"
_MAX_LETTERS = 40
"""Maximum length of the sentence shown without odds; the first section has the full text."""
_SENTENCE_LINES = 5
_OFFER_LINES = 4
"""Lines of an optional condition with the bound that then applies."""
_MAX_ROWS = 4
"""Maximum number of conditions shown, failing ones not counted; *in full* shows all."""
_GRADES = {
    Grade.PROVED: "Proved, rounding included.",
    Grade.NUMERICAL: "Proved; numerical rounding not certified.",
}
_COUNTS = {
    False: "✗\N{NO-BREAK SPACE}{} not met",
    None: "○\N{NO-BREAK SPACE}{} to be confirmed by you",
    True: "✓\N{NO-BREAK SPACE}{} met",
}
"""Signs of conditions in order, joined to their count."""
_FOLDS = (
    (
        "neighbours",
        "Neighbouring data",
        (
            ("replace_one", "Replace one"),
            ("add_remove", "Add or remove one"),
        ),
    ),
    ("trust", "Who is trusted", (("trust", ""),)),
    ("differences", "Why the bounds differ", (("differences", ""),)),
    ("sources", "Sources", (("references", ""),)),
)
"""Sections: key, heading, and the parts of a `Guarantee` with their headings."""


def _show(label: QWidget, shown: bool) -> None:
    """Show or hide if needed; a redundant call is not free."""
    if label.isHidden() == shown:
        label.setVisible(shown)


def _subject(result: Result) -> tuple[str, str]:
    return result.request.study, result.request.quantity


def _words(promise: Guarantee, key: str) -> str:
    """Return the text of one part of the panel; empty if there is none."""
    if key == "references":
        return "\n".join(str(reference) for reference in promise.references)
    if key == "differences":
        if len(promise.differences) < 2:
            return "".join(promise.differences)
        return "\n".join(f"• {sentence}" for sentence in promise.differences)
    return str(getattr(promise, key))


def _in_order(condition: Condition) -> tuple[bool, int]:
    """Order conditions: the guarantee's before those of single curves, failing ones first."""
    return not condition.of_guarantee, tuple(_COUNTS).index(condition.holds)


class ConditionRow(NamedTuple):
    """Row of a condition: its sign, or the box by which the user confirms it, and its texts."""

    glyph: QLabel
    text: FixedSizeText
    margin: FixedSizeText
    box: QCheckBox


class GuaranteePanel(QScrollArea):
    """Odds, protected unit, claimed bound and conditions, and four collapsible sections.

    Attributes
    ----------
    release : QPushButton
        Leads to the release of a map; hidden until shown.

    Signals
    -------
    review_requested(str)
        A reviewer's summary is requested: suffix of its format (``txt``, ``pdf``).
    claim_requested(str)
        An optional condition was confirmed, or no longer is: key of the bound to claim, empty for
        the tightest that needs none.
    written()
        The content changed.
    """

    review_requested = Signal(str)
    claim_requested = Signal(str)
    written = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.result: Result | None = None
        self._claim = ""
        self._qualified = False
        self._written: Result | None = None
        """Newest result shown, with its claim."""
        self.behind = False
        """Whether a result is waiting to be shown."""
        self._live = QTimer(self, singleShot=True)
        self._live.timeout.connect(self._catch_up)
        self._pause = QTimer(self, singleShot=True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._write_differences)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons take the focus, and scroll it
        self.setAccessibleName("Guarantee")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(16, 6, 12, 12)
        self._layout.setSpacing(3)
        self._build_front()
        self._build_conditions()
        self._build_folds()
        self._layout.addStretch(1)
        self._build_buttons()
        self.stale = StaleMark(self.viewport(), (body,))
        self._body = body
        self.setWidget(body)
        theme.changed.connect(self._restyle)
        self._show_nothing(WAITING_TEXT, _IN_FRONT[WAITING_TEXT])

    def _build_front(self) -> None:
        self.odds = styled_label("odds")
        self.bar = OddsBar(self._theme)
        self.headline = FixedSizeText("sentence", lines=_SENTENCE_LINES)
        self.scale = OddsScale()
        self.bar.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.headline.setAutoFillBackground(True)
        self.odds.setAutoFillBackground(True)
        for widget in (self.odds, self.headline, self.bar, self.scale):
            self._layout.addWidget(widget)
        self._layout.addSpacing(6)
        self._front: dict[str, tuple[QLabel, FixedSizeText]] = {}
        for key, title in (("unit", "Protects"), ("by", "Number and odds by")):
            pair = styled_label("muted", title), FixedSizeText()
            self._front[key] = pair
            for label in pair:
                self._layout.addWidget(label)
        self.grade = FixedSizeText("faint", lines=3)
        self.grade.setAutoFillBackground(True)
        self._layout.addWidget(self.grade)
        self._layout.addSpacing(6)

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return what Tab goes through first: boxes of conditions are built after all else."""
        return self.in_full, self._rows_box

    def _build_conditions(self) -> None:
        self._conditions_title = styled_label("heading", "Conditions")
        self.in_full = tool_button(
            "in full",
            "Show every condition in full, with its margin, and those that only single curves need",
            "Conditions in full",
            link=True,
            checkable=True,
        )
        self.in_full.toggled.connect(self._restyle)
        row = QHBoxLayout()
        row.addWidget(self._conditions_title)
        row.addStretch(1)
        row.addWidget(self.in_full)
        self._layout.addLayout(row)
        self.counts = FixedSizeText("muted")
        self._layout.addWidget(self.counts)
        self._rows_box = QWidget()
        column = QVBoxLayout(self._rows_box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._grid, self._offer_grid = QGridLayout(), QGridLayout()
        for grid in (self._grid, self._offer_grid):
            grid.setVerticalSpacing(4)
            grid.setColumnStretch(1, 1)
            column.addLayout(grid)
        self._grid.setHorizontalSpacing(8)
        self._offer_grid.setHorizontalSpacing(0)  # a box has room of its own beside it
        column.addStretch(1)
        self._layout.addWidget(self._rows_box)
        self.rows: list[ConditionRow] = []
        self.offers: dict[str, ConditionRow] = {}
        """Rows of optional conditions by key: below the others, always in the same place."""
        self._rows_for: object = None
        """What the room kept for rows belongs to."""
        self._conditions: tuple[Condition, ...] = ()
        self._optional: dict[str, OptionalClaim] = {}

    def _build_folds(self) -> None:
        """Create the sections; their state is kept for other studies."""
        self.folds: dict[str, Section] = {}
        self._parts: dict[str, tuple[QLabel, FixedSizeText]] = {}
        self.sentence, self.beside, self.claimed = (
            FixedSizeText(),
            FixedSizeText("muted"),
            FixedSizeText("muted"),
        )
        for key, title, parts in _FOLDS:
            fold = self.folds[key] = Section(title)
            fold.rows.setContentsMargins(4, 2, 0, 4)
            if key == "neighbours":
                for text in (self.sentence, self.beside, self.claimed):
                    fold.rows.addWidget(text)
            for part, heading in parts:
                pair = styled_label("heading", heading), FixedSizeText()
                self._parts[part] = pair
                for label in pair:
                    fold.rows.addWidget(label)
            fold.set_open(False)
            self._layout.addWidget(fold)

    def _build_buttons(self) -> None:
        self.copy = QPushButton("Copy for reviewer")
        self.copy.setToolTip(
            "Definition, numbers, both meanings of neighbouring, conditions, settings, version and "
            "recipe as text"
        )
        self.copy.clicked.connect(lambda: self.review_requested.emit("txt"))
        self.page = QPushButton("One-page PDF")
        self.page.setToolTip("One page with the plot and the text that “Copy for reviewer” copies")
        self.page.clicked.connect(lambda: self.review_requested.emit("pdf"))
        self.release = QPushButton("Release…")
        self.release.setToolTip("Plan, rehearse and publish a private map with a certificate")
        self.release.setDefault(True)
        self.release.hide()
        for button in (self.copy, self.page, self.release):
            self._layout.addWidget(button)

    def clear(self, *, coming: bool, needs_file: bool) -> None:
        """Clear the panel and state the reason.

        Parameters
        ----------
        coming : bool
            Whether a result or its file is on the way.
        needs_file : bool
            Whether the study requires check-ins and none are open.
        """
        why = WAITING_TEXT if coming else NO_DATA if needs_file else NO_ANSWER
        self._live.stop()
        self.result, self._written, self.behind = None, None, False
        self._show_nothing(why, _IN_FRONT[why])
        self.verticalScrollBar().setValue(0)
        self.written.emit()

    def brief(self) -> tuple[str, int]:
        """Return how often an attacker is right, and how many conditions fail.

        The first is empty if it is unknown, or holds only for what the sentence below it says.
        """
        odds = "" if self.odds.isHidden() or self._qualified else self.odds.text()
        return odds, sum(c.of_guarantee and c.holds is False for c in self._conditions)

    def set_stale(self, stale: bool, updating: bool) -> None:
        """Mark the content as stale; `updating` if a result is on the way."""
        self.stale.mark(stale and self.result is not None, updating)

    def show_result(self, result: Result, claim: str = "") -> None:
        """Show the guarantee of a result, rate limited.

        `claim` is the key of the claimed bound; empty for the tightest valid one.
        """
        self.result, self._claim, self.behind = result, claim, True
        before = self._written
        if before is None or _subject(before) != _subject(result):
            self._pause.stop()  # the longest text is that of another question
            self._catch_up()
        elif not self._live.isActive():
            self._live.start(0)  # once the curves are painted

    def _catch_up(self) -> None:
        """Show the guarantee of the newest result."""
        if self.result is not None and self.behind:
            claim = evaluate_claim(self.result, self._claim)
            held = bool(self.result.held) and self.result.guarantee is None
            if self._written is not None and (held or (claim is not None and claim.outdated)):
                return  # what is written belongs to the number in the headline, which stays too
            before, self._written = self._written, with_claim(self.result, self._claim)
            self.behind = False
            self._write(self._written)
            self.written.emit()
            self._live.start(LIVE_MS)
            if before is None or _subject(before)[0] != _subject(self._written)[0]:
                self.verticalScrollBar().setValue(0)

    def _write(self, result: Result) -> None:
        promise = result.guarantee
        if promise is None and not result.complete:
            self._show_nothing(WAITING_TEXT, _IN_FRONT[WAITING_TEXT])
            return
        offers = optional_claims(result, self._claim)
        if not result.complete:  # the rows stay, with their bound, until its number is there
            for key, before in self._optional.items():
                now = offers.get(key, before)
                if now is before or now.series.key != before.series.key:
                    offers[key] = replace(before, number="…", confirmed=now.confirmed)
        self._optional = offers
        self._show_conditions(result.conditions)
        if promise is None:
            failing = any(c.holds is False and c.of_guarantee for c in result.conditions)
            why = _NO_CLAIM[:-1] + ": see the conditions." if failing else _NO_CLAIM
            self._show_nothing(why, why)
            return
        value = None if self.result is None else evaluate_claim(self.result, self._claim)
        self._write_odds(promise, not result.complete if value is None else value.unsettled)
        self._write_front("unit", promise.unit)
        self._write_front("by", self._name(result, value))
        # A bound on an error says nothing of the odds, which are those of its mechanism.
        of_odds = value is not None and bool(value.text.pairs)
        self._front["by"][0].setText("Number and odds by" if of_odds else "Number by")
        grade = "" if value is None or value.series.grade is None else _GRADES[value.series.grade]
        coming = "Computing…" if value is not None and value.unsettled else ""
        self.grade.setText(" ".join(filter(None, (grade, _basis(promise), coming))))
        _show(self.grade, bool(self.grade.text()))
        self.sentence.setText(promise.sentence)
        for label, text in ((self.beside, promise.beside), (self.claimed, promise.claimed)):
            label.setText(text)
            _show(label, bool(text))
        for key in self._parts:
            if key != "differences":
                self._write_part(key, _words(promise, key))
        if not self._pause.isActive():
            self._write_differences()
            self._pause.start()
        self._show_folds()

    def _write_odds(self, promise: Guarantee, unsettled: bool) -> None:
        """Show the odds, or a shortened sentence without them.

        Not shown while bounds still being computed may change it.
        """
        self._qualified = promise.qualified
        chance, about = qualified_odds(promise) or (chance_of(promise), promise.about)
        useful = chance is not None and chance < MAX_USEFUL_CHANCE
        for widget in (self.odds, self.bar, self.scale):
            # Their space stays where a slider makes the bound useless, so that nothing moves.
            policy = widget.sizePolicy()
            if policy.retainSizeWhenHidden() != (chance is not None):
                policy.setRetainSizeWhenHidden(chance is not None)
                widget.setSizePolicy(policy)
            _show(widget, useful)
        if chance is None:
            self.headline.setText(in_brief(first_sentence(promise.sentence), _MAX_LETTERS))
            self.headline.setToolTip(promise.sentence)
            return
        right = times_in_100(chance)
        words = _ATTACKER.format(right) + (f" about {about}" if about else "")
        if useful:
            self.odds.setText(f"{right} %")
            self.odds.setAccessibleName(words)
            self.bar.show_chance(chance, words)
        verdict = STILL_COMPUTING if unsettled else NOT_USEFUL
        self.headline.setText(f"{words}." if useful else verdict)
        self.headline.setToolTip(promise.sentence)

    def _name(self, result: Result, claim: ClaimedBound | None) -> str:
        """Return the name of the claimed bound, and whether the user chose it."""
        study = study_of(result)
        if claim is None or study is None:
            return ""
        name = study.short_name(claim.series.key, claim.series.label)
        return f"{name}, chosen by you" if claim.wanted == claim.series.key else name

    def _write_front(self, key: str, text: str) -> None:
        for label in self._front[key]:
            _show(label, bool(text))
        self._front[key][1].setText(text)

    def _write_part(self, key: str, message: str) -> None:
        heading, text = self._parts[key]
        _show(heading, bool(message) and bool(heading.text()))
        _show(text, bool(message))
        text.setText(message)

    def _show_folds(self) -> None:
        """Show the headings of nonempty sections."""
        for key, _, parts in _FOLDS:
            text = any(not self._parts[part][1].isHidden() for part, _ in parts)
            _show(self.folds[key], text)

    def _write_differences(self) -> None:
        """Update the longest text; not while a slider moves."""
        written = self._written
        if written is not None and written.guarantee is not None:
            self._write_part("differences", _words(written.guarantee, "differences"))
            self._show_folds()

    def part(self, key: str) -> str:
        """Return the text of one part (``trust``, ``unit``, …), visible or not."""
        self._catch_up()
        text = (self._front | self._parts)[key][1]
        return "" if text.isHidden() else text.text()

    def condition_texts(self) -> list[str]:
        """Return all conditions: sign, full text, margin."""
        self._catch_up()
        return [
            " ".join(filter(None, (row.glyph.text(), item.text, _margin(item))))
            for item, row in self._rows_of(self._conditions)
        ]

    def minimumSizeHint(self) -> QSize:
        """Return a width at which nothing is cut off beside the scroll bar."""
        width = self._body.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(width, 120)

    def _show_nothing(self, why: str, in_front: str) -> None:
        self.sentence.setText(why)
        self.headline.setText(in_front)
        self.headline.setToolTip(why)
        for widget in (self.odds, self.bar, self.scale, self.beside, self.claimed, self.grade):
            widget.hide()
        for pair in (*self._front.values(), *self._parts.values()):
            for label in pair:
                label.hide()
        self._show_folds()
        if why in _IN_FRONT:
            self._optional = {}
            self._show_conditions(())

    def _show_conditions(self, conditions: tuple[Condition, ...]) -> None:
        self._conditions = conditions = tuple(sorted(conditions, key=_in_order))
        needed = [c.holds for c in conditions if c.of_guarantee]
        counts = [message.format(needed.count(holds)) for holds, message in _COUNTS.items()]
        counts = [text for text, holds in zip(counts, _COUNTS, strict=True) if holds in needed]
        if self._optional:
            counts.append(f"{len(self._optional)}\N{NO-BREAK SPACE}optional")
        self.counts.setText(" · ".join(counts))
        for widget in (self._conditions_title, self.in_full):
            _show(widget, bool(conditions))
        _show(self.counts, bool(counts))
        full = self.in_full.isChecked()
        front = max(_MAX_ROWS, needed.count(False))
        used = []
        for i, (item, row) in enumerate(self._rows_of(conditions)):
            optional = item.key in self._optional
            shown = full or optional or (i < front and item.of_guarantee)
            _show(row.glyph, shown and not optional)
            _show(row.box, optional)
            _show(row.text, shown)
            _show(row.margin, shown and full and bool(_margin(item)))
            self._write_condition(item, row)
            used.append(row)
        for row in (*self.rows, *self.offers.values()):
            if row not in used:
                for part in row:
                    _show(part, False)
        self._keep_room()

    def _keep_room(self) -> None:
        """Keep the room of the longest rows while a question stays, so that nothing moves."""
        box = self._rows_box
        about = None if self.result is None else _subject(self.result)
        belongs = about, self.in_full.isChecked(), box.width()
        if belongs != self._rows_for:
            self._rows_for = belongs
            box.setMinimumHeight(0)
        layout = box.layout()
        assert layout is not None
        needed = layout.totalHeightForWidth(box.width())
        if needed > box.minimumHeight():
            box.setMinimumHeight(needed)

    def _rows_of(self, conditions: tuple[Condition, ...]) -> list[tuple[Condition, ConditionRow]]:
        """Return each condition with its row; rows that are missing are added."""
        plain, pairs = 0, []
        for item in conditions:
            if item.key in self._optional:
                pairs.append((item, self._offer_row(item.key)))
                continue
            if plain == len(self.rows):
                self.rows.append(self._new_row(self._grid, plain))
            pairs.append((item, self.rows[plain]))
            plain += 1
        return pairs

    def _offer_row(self, key: str) -> ConditionRow:
        if key not in self.offers:
            row = self.offers[key] = self._new_row(self._offer_grid, len(self.offers))
            row.box.clicked.connect(lambda confirmed: self._confirm(key, confirmed))
        return self.offers[key]

    def _new_row(self, grid: QGridLayout, number: int) -> ConditionRow:
        row = ConditionRow(
            QLabel(textFormat=Qt.TextFormat.RichText),
            FixedSizeText(),
            FixedSizeText("faint"),
            QCheckBox(),
        )
        row.glyph.setAlignment(Qt.AlignmentFlag.AlignTop)
        grid.addWidget(row.glyph, 2 * number, 0)
        grid.addWidget(row.box, 2 * number, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(row.text, 2 * number, 1)
        grid.addWidget(row.margin, 2 * number + 1, 1)
        for part in row:
            part.hide()  # otherwise the layout shows it with a delay
        return row

    def _confirm(self, key: str, confirmed: bool) -> None:
        """Request the claim that an optional condition makes possible, or the one without it."""
        if key in self._optional:
            claimed = self._optional[key].series.key if confirmed else ""
            self.claim_requested.emit(claimed)

    def _write_condition(self, item: Condition, row: ConditionRow) -> None:
        glyph, text, margin, box = row
        colours = self._theme.chrome
        sign, colour, words = {
            True: ("✓", colours.good, "holds"),
            False: ("✗", colours.bad, "does not hold"),
            None: ("○", colours.muted, "an assumption that the program cannot check"),
        }[item.holds]
        if item.holds is False and not item.of_guarantee:
            colour, words = colours.muted, "does not hold; the guarantee does not rest on it"
        shown = f"<span style='color:{colour};font-weight:700'>{sign}</span>"
        if glyph.text() != shown:
            glyph.setText(shown)
            glyph.setToolTip(words)
            glyph.setAccessibleName(words)
        full = self.in_full.isChecked()
        shown = unbroken(item.text if full else item.short or in_brief(item.text))
        box.setAccessibleName(shown)
        offer = self._optional.get(item.key)
        if offer is not None:
            study = None if self.result is None else study_of(self.result)
            key, label = offer.series.key, offer.series.label
            name = label if study is None else study.short_name(key, label)
            applies = "applies" if offer.confirmed else "then applies"
            shown += f" (optional: {name} {applies}, {offer.number})"
            box.setAccessibleName(shown)
            box.setChecked(offer.confirmed)
        # Room for a longer number, so that nothing below moves while a slider is dragged.
        text.set_least_lines(_OFFER_LINES if offer is not None else 0)
        text.setText(shown)
        text.setToolTip("\n".join(filter(None, (item.text, _margin(item)))))
        margin.setText(_margin(item))

    def _restyle(self) -> None:
        if self._written is not None:
            self._show_conditions(self._written.conditions)


def _basis(promise: Guarantee) -> str:
    """Return what the odds rest on where that is not the claimed (ε, δ)."""
    basis = odds_basis(promise)
    if not basis or promise.distance is None or "δ(0)" not in basis:
        return f"Odds {basis}." if basis else ""
    alone = times_in_100(best_chance(*promise.pairs[0]))
    return f"Odds: from δ(0) ≤ {at_most(promise.distance)}; from (ε, δ) alone at most {alone} %."


def _margin(item: Condition) -> str:
    return "assumed" if item.holds is None and not item.margin else in_signs(item.margin)


WIDTH = 44
RAIL_TITLE = "Guarantee"
_RAIL_MARGIN = 10


class GuaranteeRail(QToolButton):
    """Strip with its title, odds and number of failing conditions; a click requests the panel.

    Odds that are not known are left out, and so is a number of zero.

    Parameters
    ----------
    panel : GuaranteePanel
        Panel whose values are shown.
    """

    def __init__(self, panel: GuaranteePanel) -> None:
        super().__init__()
        self._panel = panel
        self.setObjectName("rail")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.odds, self.failing = styled_label("rail-odds"), styled_label("rail-failing")
        column = QVBoxLayout(self)
        title = self.fontMetrics().horizontalAdvance(RAIL_TITLE)
        column.setContentsMargins(1, 2 * _RAIL_MARGIN + title, 1, _RAIL_MARGIN)
        column.setSpacing(12)
        for label in (self.failing, self.odds):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label)
        column.addStretch(1)
        panel.written.connect(self._show)
        self._show()

    def _show(self) -> None:
        odds, failing = self._panel.brief()
        self.odds.setText(odds.replace(" %", "\n%"))
        self.failing.setText(f"✗ {failing}" if failing else "")
        text = f"an attacker is right at most {odds} of the time" if odds else "no odds"
        unmet = f"{failing} condition{'' if failing == 1 else 's'} not met"
        self.setAccessibleName(f"Guarantee: {text}, {unmet}")
        self.setToolTip(f"Guarantee: {text}, {unmet}. Show it over the plot (Ctrl+G)")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the title from top to bottom."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.ButtonText))
        painter.translate(self.width(), _RAIL_MARGIN)
        painter.rotate(90)
        width = self.fontMetrics().horizontalAdvance(RAIL_TITLE)
        painter.drawText(0, 0, width, self.width(), Qt.AlignmentFlag.AlignCenter, RAIL_TITLE)
        painter.end()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(WIDTH, 200)

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size."""
        return QSize(WIDTH, 120)
