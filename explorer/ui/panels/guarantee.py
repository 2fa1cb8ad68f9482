"""What is promised to whom, and what must hold for it."""

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer.figures.captions import settings_line
from explorer.studies.base.claims import stated
from explorer.studies.base.study import Condition, Guarantee, Result
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.widgets.fixed_size_text import FixedSizeText
from explorer.ui.widgets.stale_mark import StaleMark

LIVE_MS = 100
"""While answers follow each other the panel is written at most so often."""
PAUSE_MS = 250
"""The longest text is laid out at most so often: it takes as long as drawing the curves."""
_NOT_YET = "Nothing is claimed yet: the first answer is on its way."
_NOTHING = "Nothing is claimed here."


def _show(label: QWidget, shown: bool) -> None:
    """Show or hide; asking for what is the case already is not free."""
    if label.isHidden() == shown:
        label.setVisible(shown)


def _subject(result: Result) -> tuple[str, str]:
    return result.request.study, result.request.quantity


def _words(result: Result, promise: Guarantee, key: str) -> str:
    """Return what stands below one of the panel's headings; empty if nothing does."""
    if key == "settings":
        # A line must not end between a symbol and its value.
        return settings_line(result, with_swept=True).replace(" = ", "\u00a0=\u00a0")
    if key == "differences":
        if len(promise.differences) < 2:
            return "".join(promise.differences)
        return "\n".join(f"• {sentence}" for sentence in promise.differences)
    return str(getattr(promise, key))


class GuaranteePanel(QScrollArea):
    """The guarantee, its conditions with margins, and the references of the answer in front."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._answer: Result | None = None
        self._claim = ""
        self._written: Result | None = None
        """The newest answer that was written, with what is claimed of it."""
        self.behind = False
        """Whether an answer that has come is still to be written."""
        self._live = QTimer(self, singleShot=True, interval=LIVE_MS)
        self._live.timeout.connect(self._catch_up)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._write_differences)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(12, 6, 12, 10)
        self._layout.setSpacing(3)
        self.sentence = FixedSizeText("sentence")
        self.sentence.setText(_NOT_YET)
        self._layout.addWidget(self.sentence)
        self.beside, self.claimed = FixedSizeText("muted"), FixedSizeText()
        for text in (self.beside, self.claimed):
            self._layout.addSpacing(4)
            self._layout.addWidget(text)
        self._layout.addSpacing(6)
        self._parts: dict[str, tuple[FixedSizeText, FixedSizeText]] = {}
        for key, title in (
            ("unit", "Unit of protection"),
            ("add_remove", "Neighbours: add or remove one"),
            ("replace_one", "Neighbours: replace one"),
            ("trust", "Trust"),
            ("settings", "For these values"),
            ("differences", "Why these differ"),
        ):
            heading, text = FixedSizeText("heading"), FixedSizeText()
            heading.setText(title)
            self._parts[key] = (heading, text)
            self._layout.addWidget(heading)
            self._layout.addWidget(text)
            self._layout.addSpacing(6)
        self.stale = StaleMark(self.viewport(), (body,))
        self._conditions_title = styled_label("heading", "Conditions")
        self._layout.addWidget(self._conditions_title)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._layout.addLayout(self._grid)
        self._rows: list[tuple[QLabel, FixedSizeText, FixedSizeText]] = []
        self._layout.addSpacing(6)
        self._references_title = styled_label("heading", "References")
        self.references = FixedSizeText("muted")
        self._layout.addWidget(self._references_title)
        self._layout.addWidget(self.references)
        self._layout.addStretch(1)
        self._body = body
        self.setWidget(body)
        theme.changed.connect(self._restyle)
        self._show_nothing(_NOT_YET)

    def clear(self) -> None:
        """Claim nothing (another question, no answer yet)."""
        self._live.stop()
        self._answer, self._written, self.behind = None, None, False
        self._show_nothing(_NOT_YET)
        self.verticalScrollBar().setValue(0)

    def set_stale(self, stale: bool, updating: bool) -> None:
        """Mark what stands here as not about the present values; `updating` if others come."""
        self.stale.mark(stale and self._answer is not None, updating)

    def show_result(self, result: Result, claim: str = "") -> None:
        """Show what an answer promises, at once or a moment after the one before.

        `claim` is the key of the bound that the user claims; empty for the tightest valid one.
        """
        self._answer, self._claim, self.behind = result, claim, True
        before = self._written
        if before is None or _subject(before) != _subject(result) or not self._live.isActive():
            self._catch_up()

    def _catch_up(self) -> None:
        """Write what the newest answer promises."""
        if self._answer is not None and self.behind:
            before, self._written = self._written, stated(self._answer, self._claim)
            self.behind = False
            self._write(self._written)
            self._live.start()
            if before is None or _subject(before)[0] != _subject(self._written)[0]:
                self.verticalScrollBar().setValue(0)

    def _write(self, result: Result) -> None:
        promise = result.guarantee
        if promise is None:
            failing = any(c.holds is False and c.of_guarantee for c in result.conditions)
            self._show_nothing(_NOTHING[:-1] + ": see the conditions." if failing else _NOTHING)
        else:
            self.sentence.setText(promise.sentence)
            for label, said in ((self.beside, promise.beside), (self.claimed, promise.claimed)):
                label.setText(said)
                _show(label, bool(said))
            for key in self._parts:
                if key != "differences":
                    self._write_part(key, _words(result, promise, key))
            if not self._pause.isActive():
                self._write_differences()
                self._pause.start()
            self.references.setText("\n".join(str(r) for r in promise.references))
            _show(self.references, bool(promise.references))
            _show(self._references_title, bool(promise.references))
        self._show_conditions(result.conditions)

    def _write_part(self, key: str, said: str) -> None:
        heading, text = self._parts[key]
        for label in (heading, text):
            _show(label, bool(said))
        text.setText(said)

    def _write_differences(self) -> None:
        """Bring the longest text up to date; not while a slider moves."""
        written = self._written
        if written is not None and written.guarantee is not None:
            self._write_part("differences", _words(written, written.guarantee, "differences"))

    def part(self, key: str) -> str:
        """Return what is said of one part (``trust``, ``settings``, …); empty while hidden."""
        self._catch_up()
        text = self._parts[key][1]
        return "" if text.isHidden() else text.text()

    def condition_texts(self) -> list[str]:
        """Return the conditions as shown: glyph, text, margin."""
        self._catch_up()
        return [
            " ".join(filter(None, (glyph.text(), text.text(), margin.text())))
            for glyph, text, margin in self._rows
            if not text.isHidden()
        ]

    def minimumSizeHint(self) -> QSize:
        """Return a width at which nothing is cut off beside the scroll bar."""
        width = self._body.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(width, 120)

    def _show_nothing(self, why: str) -> None:
        self.sentence.setText(why)
        self.beside.hide()
        self.claimed.hide()
        for pair in self._parts.values():
            for label in pair:
                label.hide()
        self.references.hide()
        self._references_title.hide()
        self._show_conditions(())

    def _show_conditions(self, conditions: tuple[Condition, ...]) -> None:
        # First what the promise rests on, then what only single curves need.
        conditions = tuple(sorted(conditions, key=lambda c: not c.of_guarantee))
        _show(self._conditions_title, bool(conditions))
        while len(self._rows) < len(conditions):
            self._add_row()
        for i, (glyph, text, margin) in enumerate(self._rows):
            shown = i < len(conditions)
            for label in (glyph, text):
                _show(label, shown)
            _show(margin, shown and bool(conditions[i].margin or conditions[i].holds is None))
            if shown:
                self._write_condition(conditions[i], glyph, text, margin)

    def _add_row(self) -> None:
        glyph, text, margin = QLabel(), FixedSizeText(), FixedSizeText("faint")
        glyph.setTextFormat(Qt.TextFormat.RichText)
        glyph.setAlignment(Qt.AlignmentFlag.AlignTop)
        place = 2 * len(self._rows)
        self._grid.addWidget(glyph, place, 0)
        self._grid.addWidget(text, place, 1)
        self._grid.addWidget(margin, place + 1, 1)
        self._rows.append((glyph, text, margin))

    def _write_condition(
        self, item: Condition, glyph: QLabel, text: FixedSizeText, margin: FixedSizeText
    ) -> None:
        colours = self._theme.chrome
        sign, colour, words = {
            True: ("✓", colours.good, "holds"),
            False: ("✗", colours.bad, "does not hold"),
            None: ("○", colours.muted, "an assumption: it can't be checked here"),
        }[item.holds]
        if item.holds is False and not item.of_guarantee:
            colour, words = colours.muted, "does not hold; the guarantee does not rest on it"
        shown = f"<span style='color:{colour};font-weight:700'>{sign}</span>"
        if glyph.text() != shown:
            glyph.setText(shown)
            glyph.setToolTip(words)
            glyph.setAccessibleName(words)
        text.setText(item.text)
        margin.setText("assumed" if item.holds is None and not item.margin else item.margin)

    def _restyle(self) -> None:
        if self._written is not None:
            self._show_conditions(self._written.conditions)
