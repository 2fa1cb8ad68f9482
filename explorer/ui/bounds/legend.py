"""Legend of the Bounds plot: names, roles and values; which curves are shown and claimed."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from textwrap import shorten

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPalette,
)
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMenu, QSizePolicy, QWidget

from explorer.engine.session.comparison import added_words, entries_of, with_entries
from explorer.engine.session.plot_view import PlotView, Subject, first_keys, hidden_keys
from explorer.engine.session.session import Session
from explorer.figures.captions import parameter_text
from explorer.figures.geometry import FUNCTIONS
from explorer.figures.style import SeriesStyle
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import BEST_CLAIM, ClaimedBound, UnclaimedReason, evaluate_claim
from explorer.studies.base.numbers import APPROXIMATELY, format_number
from explorer.studies.base.study import Result, Series, Study, Value, parameter
from explorer.studies.registry import get_study
from explorer.ui.base.styled import styled_label, tool_button, with_titles
from explorer.ui.panels.headline import HeadlineStrip
from explorer.ui.plot.labels import ElidedLabel, Swatch
from explorer.ui.plot.reading import COMPUTING
from explorer.ui.widgets.boxes import CheckBox
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText
from explorer.ui.widgets.value_field import rich

NOT_VALID = "not valid"
_WIDEST_NUMBER = "≈ 1.234×10⁻⁹⁹"


def value_words(series: Series, value: float | None, here: bool, between: bool) -> str:
    """Return the text of a curve's value; `between` if interpolated between two points."""
    if value is not None:
        near = f"{APPROXIMATELY} {format_number(value)}"
        return near if between else format_number(value, series.role)
    if series.computing:
        return COMPUTING
    # Marks that are not functions of x have no value at most x.
    exact = here and (
        series.mark in FUNCTIONS or not series.present.any() or (series.infinite and not between)
    )
    return ("infinite" if series.infinite else NOT_VALID) if exact else ""


def range_words(series: Series, symbol: str) -> str:
    """Return where on the x axis a curve applies: ``applies up to ε₀ = 6.06``.

    Ends are those of the points at which it is drawn. Empty if it applies at all of them, at none,
    or in several stretches.
    """
    there = series.present
    if series.mark not in FUNCTIONS or series.computing or there.all() or not there.any():
        return ""
    order = np.argsort(series.x, kind="stable")
    x, inside = series.x[order], np.flatnonzero(there[order])
    first, last = int(inside[0]), int(inside[-1])
    if last - first + 1 > inside.size:
        return ""
    low, high = format_number(x[first], Role.UPPER), format_number(x[last], Role.LOWER)
    if first == 0:
        return f"applies up to {symbol} = {high}"
    if last == x.size - 1:
        return f"applies from {symbol} = {low}"
    return f"applies for {symbol} from {low} to {high}"


def _label(name: str, words: str) -> str:
    """Return the name of a curve as it is written beside the text of its value."""
    return f"⊘ {name}" if words == NOT_VALID else name


LEGEND_COLUMNS = ("Curve", "Role", "Remark", "Value")


class LegendRow:
    """Widgets of one curve; reused for other curves.

    Parameters
    ----------
    toggled : callable
        Called with the key of the curve and whether it should be visible.
    """

    def __init__(self, toggled: Callable[[str, bool], None]) -> None:
        self.key = ""
        self.series: Series | None = None
        self.check = CheckBox()
        self.swatch = Swatch()
        self.label = ElidedLabel()
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.tag = styled_label("tag")
        self.tag.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.tag.hide()
        self.remark, self.warning = ElidedLabel(smallest=0.76), ElidedLabel(smallest=0.76)
        for text in (self.remark, self.warning):
            text.setProperty("shortened", True)  # whole in the tool tip
        for label, name in ((self.remark, "muted"), (self.warning, "warning")):
            label.setObjectName(name)
            label.hide()
        self.mark = QWidget()
        marks = QHBoxLayout(self.mark)
        marks.setContentsMargins(0, 0, 0, 0)
        marks.addWidget(self.tag, 0, Qt.AlignmentFlag.AlignLeft)
        marks.addWidget(self.remark, 1)
        marks.addWidget(self.warning, 1)
        self.mark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.role = styled_label("muted")
        self.value = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.value.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.value.setFixedWidth(self.value.fontMetrics().horizontalAdvance(_WIDEST_NUMBER))
        self.check.clicked.connect(lambda on: toggled(self.key, on))
        self._described: tuple[object, ...] = ()
        self._told = self._tip = ""
        self._chosen = self._marked = False

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        """Widgets of the row, from left to right."""
        return (self.check, self.swatch, self.label, self.role, self.mark, self.value)

    def show(self, shown: bool) -> None:
        """Show or hide the row; hidden rows are reused."""
        for widget in self.widgets:
            if widget.isHidden() == shown:
                widget.setVisible(shown)

    def set_name(self, series: Series) -> None:
        """Name the curve for screen readers, which may find a row before it is written."""
        name = f"show {series.label}"
        if self.check.accessibleName() != name:
            self.check.setAccessibleName(name)

    def update(
        self,
        series: Series,
        name: str,
        style: SeriesStyle,
        visible: bool,
        words: str,
        known: bool,
        text: str = "",
        mark: str = "",
        claimed: bool = False,
        better: bool = False,
    ) -> None:
        """Show a curve and its value; `text` and `mark` state whether and why it is claimed.

        Better values than the claimed one come with the reason why they are not claimed. Of others
        `mark` is a remark on the curve.
        """
        self.series = series
        self.swatch.set_style(style, series.mark, series.low is not None)
        self.check.setChecked(visible)
        self._write_value(series, words)
        self.value.setEnabled(known)
        aside = "".join(f"; {words}" for words in (mark, text) if words and not claimed)
        self.check.setAccessibleDescription(f"{series.role.value} {words}{aside}")
        written = _label(name, words)
        described = (
            series.key,
            written,
            series.label,
            series.role,
            series.grade,
            series.note,
            series.undefined_reason,
            series.present.all(),
            series.computing,
            claimed,
        )
        self._write_mark(mark, claimed, better)
        if described == self._described and text == self._told:
            return
        if described != self._described:
            self._marked = claimed
            self._describe(series, written)
            self._described = described
        # The claimed value changes with every slider; of the row it affects only the tool tip.
        self._told = text
        tip = self._tip + (f"<br><b>{html.escape(text)}</b>" if text else "")
        for widget in self.widgets:
            widget.setToolTip(f"<p>{tip}</p>")

    def show_value(self, words: str) -> None:
        """Show a newer value; the rest of the row follows with the curve."""
        assert self.series is not None
        self._write_value(self.series, words)
        self.value.setEnabled(True)

    def _write_value(self, series: Series, words: str) -> None:
        glyph = series.role.glyph.strip("·")
        number = bool(glyph) and words[:1].isdigit()
        self.value.setText(f"{glyph} {words}" if number else words)

    def _write_mark(self, mark: str, claimed: bool, better: bool) -> None:
        shown = self.tag if claimed else self.warning if better else self.remark
        for label in (self.tag, self.remark, self.warning):
            text = mark if label is shown else ""
            if text != label.text():
                label.setText(text)
            if label.isHidden() == bool(text):
                label.setVisible(bool(text))

    def mark_text(self) -> str:
        """Return whether it is claimed, why it is not, or another remark."""
        return self.tag.text() or self.warning.text() or self.remark.text()

    def set_selected(self, chosen: bool) -> None:
        """Write the name in bold or normal weight."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.label.set_strong(chosen or self._marked)

    def _describe(self, series: Series, written: str) -> None:
        """Write the texts that do not depend on values."""
        self.set_name(series)
        partly = not series.present.all() and not series.computing
        self.label.setText(written)
        self.label.set_strong(self._marked or self._chosen)
        graded = f" · {series.grade.value}" if series.role in (Role.UPPER, Role.LOWER) else ""
        self.role.setText(f"{series.role.value}{graded}")
        self._tip = f"<b>{rich(series.label)}</b> ({series.role.value})"
        self._tip += "<br>" + html.escape(with_titles(str(series.reference))).replace("\n", "<br>")
        if series.note:
            self._tip += f"<br>{html.escape(series.note)}"
        if partly:
            self._tip += (
                f"<br>Absent where it does not hold: {html.escape(series.undefined_reason)}."
            )


_BESIDE_NAMES = 520
"""Width of a row without its name: box, swatch, role, the claim's mark, number."""
_NAME_WIDTH = 130
"""In pixels, so that roles stand in one place in most questions."""
_LETTERS = 64
"""Maximum lengths of name and reason in the collapsed line; the tool tip shows all."""
_STILL_WIDTH = 104
"""In pixels, of the remark on old values in that line."""
_FOLD = 100
"""Grid row below which further curves are listed."""


class Legend(QWidget):
    """One row per curve, largest value first; less important curves below a fold.

    Unused rows are kept and reused: complete results often have one more curve than previews, and
    creating widgets takes longer than drawing a result.

    Signals
    -------
    toggled(str, bool)
        Key of a curve and whether it should be visible.
    claim_requested(str)
        Key of the curve to claim; empty for the tightest valid bound.
    solo_requested(str)
        Key of the curve to show alone, or to restore the others.
    pin_requested(str)
        Key of the curve to pin alone.
    compare_requested(str)
        Key of the curve to add to the comparison.
    chosen(str)
        Key of the curve to highlight; empty for none.
    remove_requested(str)
        Key of the imported curve to remove.
    """

    toggled = Signal(str, bool)
    claim_requested = Signal(str)
    solo_requested = Signal(str)
    pin_requested = Signal(str)
    compare_requested = Signal(str)
    chosen = Signal(str)
    remove_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAutoFillBackground(True)  # opaque: what is behind it is not painted again
        self._rows: dict[str, LegendRow] = {}
        self._late: dict[str, Callable[[], None]] = {}
        """By key, what writes a row below the closed fold once somebody looks at it."""
        self._labels: dict[str, str] = {}
        """Names as they are written, by key."""
        self._built: dict[bool, list[LegendRow]] = {True: [], False: []}
        """Rows above and below the fold."""
        self._front: list[str] = []
        self._rest: list[str] = []
        self._open = False
        self._measured: tuple[tuple[str, ...], int] = ((), 0)
        """Last font, names and width of the widest name in pixels."""
        self._claimable: Collection[str] = ()
        self._claim, self._best = "", BEST_CLAIM["bounds"]
        self._chosen = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(2, _NAME_WIDTH)
        self._grid.setColumnStretch(4, 1)
        self.here = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.here.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.here.setFixedWidth(168)
        self.here.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.fold = QWidget()
        self.more = tool_button("", "Show and hide the further curves", "More curves", quiet=True)
        self.more.clicked.connect(lambda: self.set_open(not self._open))
        self.told = FixedSizeText("faint", lines=1)
        self.still = FixedSizeLabel(alignment=Qt.AlignmentFlag.AlignRight)
        self.still.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.still.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.still.setFixedWidth(_STILL_WIDTH)
        line = QHBoxLayout(self.fold)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        for part, stretch in ((self.more, 0), (self.told, 1), (self.still, 0)):
            line.addWidget(part, stretch, Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(self.fold, _FOLD, 0, 1, 6)
        self.fold.hide()

    def show_series(
        self,
        series: tuple[Series, ...],
        styles: dict[str, SeriesStyle],
        hidden: frozenset[str],
        values: dict[str, float | None],
        here: str,
        between: Collection[str] = (),
        claim: tuple[ClaimedBound | None, Collection[str]] = (None, ()),
        names: Mapping[str, str] | None = None,
        first: Collection[str] | None = None,
        settled: bool = True,
        reasons: Mapping[str, UnclaimedReason] | None = None,
        faded: Collection[str] = (),
        remarks: Mapping[str, str] | None = None,
    ) -> None:
        """Show curves with their values and the position of these (``at T = 1000``).

        Values interpolated `between` two points are not bounds. `claim` holds the claim and the
        keys of the claimable curves, `names` short names by key. Curves that are neither among the
        `first` nor visible are listed below the fold. Rows are reordered only when a result is
        `settled`. `reasons` states by key why better values than the claimed one are not claimed,
        and these curves have a row; values of `faded` curves are those of an earlier answer.
        `remarks` are further remarks by key.
        """
        result, self._claimable = claim
        self._claim = result.wanted if result is not None else ""
        self._best = BEST_CLAIM[result.kind] if result is not None else BEST_CLAIM["bounds"]
        claimed = result.series.key if result is not None else ""
        why = result.line if result is not None else ""
        mark = ""
        if result is not None:
            mark = "claimed" if result.wanted == claimed else BEST_CLAIM[result.kind]
        keys = [s.key for s in series]
        told = {key for key, reason in (reasons or {}).items() if reason.remark}
        better = told if settled else set(self._front)
        front = [k for k in keys if first is None or k in first or k not in hidden or k in better]
        rest = [k for k in keys if k not in front]
        self._place(
            *(
                _order_keys(part, before, values, settled)
                for part, before in ((front, self._front), (rest, self._rest))
            )
        )
        self.here.setText(f"Values {here}" if here else "")
        text, tips = {}, {}
        self._late, self._labels = {}, {}
        for item in series:
            key = item.key
            name = (names or {}).get(key, item.label)
            words = value_words(item, values.get(key), bool(here), key in between)
            self._labels[key] = _label(name, words)
            reason = (reasons or {}).get(key)
            aside = f"Not claimed: {reason.why}." if reason else ""
            folded = key in self._rest
            if folded:
                sign = "" if key in between or values.get(key) is None else item.role.glyph
                text[key] = " ".join(filter(None, (name, sign.strip("·"), words)))
                if words == NOT_VALID:
                    text[key] = f"⊘ {name}: {item.undefined_reason or words}"
                tips[key] = " · ".join(filter(None, (text[key], aside)))
            selected = key == claimed
            remark = (remarks or {}).get(key) or (reason.remark if reason else "")
            write = partial(
                self._rows[key].update,
                item,
                name,
                styles[key],
                key not in hidden,
                words,
                values.get(key) is not None and key not in faded,
                why if selected else aside,
                mark if selected else remark,
                selected,
                reason is not None,
            )
            self._rows[key].set_selected(key == self._chosen)
            if folded and not self._open:
                self._rows[key].set_name(item)
                self._late[key] = write
            else:
                write()
        self.told.setText(
            " · ".join(
                shorten(words, _LETTERS, placeholder=" …") if len(words) > _LETTERS else words
                for words in (text[key] for key in self._rest)
            )
        )
        numbers = [key for key in self._rest if values.get(key) is not None]
        self.still.setText(
            common_remark({(remarks or {}).get(key, "") * (key in faded) for key in numbers})
        )
        self.fold.setToolTip("\n".join(tips[key] for key in self._rest))

    @property
    def rows(self) -> Mapping[str, LegendRow]:
        """Rows by key."""
        self._write_late()
        return self._rows

    def _write_late(self) -> None:
        late, self._late = self._late, {}
        for write in late.values():
            write()

    def show_value(self, series: Series, value: float) -> None:
        """Show a newer value of one curve."""
        if series.key in self._rows:
            rows = self.rows if series.key in self._late else self._rows
            rows[series.key].show_value(value_words(series, value, True, False))

    def set_open(self, opened: bool) -> None:
        """Show the rows of further curves, or their values in one line."""
        self._open = opened
        self._write_late()
        self._show_rest()

    def choose(self, key: str) -> None:
        """Highlight one row; none for an empty key."""
        self._chosen = key
        for other, row in self._rows.items():
            row.set_selected(other == key)

    def order(self, hidden: Collection[str] = ()) -> list[str]:
        """Return the keys of the visible curves from top to bottom."""
        return [key for key in (*self._front, *self._rest) if key not in hidden]

    def table(self) -> list[tuple[str, ...]]:
        """Return the texts of the ticked curves' rows, below `LEGEND_COLUMNS`."""
        return [
            (row.label.text(), row.role.text(), row.mark_text(), row.value.text())
            for row in (self.rows[key] for key in self.order())
            if row.check.isChecked()
        ]

    def words_of(self, key: str) -> str:
        """Return the description of a curve for screen readers."""
        row = self.rows[key]
        text = row.label.text(), row.role.text().lstrip("≤≥=≈~ "), row.value.text()
        here = self.here.text().partition(" · ")[0]
        return ", ".join(filter(None, (*text, here)))

    def preferred_width(self, most: int = 380) -> int:
        """Return the width at which no name is elided, with names limited to a number of pixels."""
        names = (self.font().key(), *self._labels.values())
        if names != self._measured[0]:  # called for every result; names rarely change
            metrics = self.fontMetrics()
            widest = max(map(metrics.horizontalAdvance, names[1:]), default=0)
            self._measured = (names, widest)
        return min(self._measured[1], most) + _BESIDE_NAMES

    def menu_for(self, key: str) -> QMenu:
        """Return the actions for a curve."""
        row, menu = self.rows[key], QMenu(self)
        if key in self._claimable:
            _offer(
                menu, "Claim this bound", lambda: self.claim_requested.emit(key), self._claim != key
            )
            _offer(
                menu,
                f"Claim the {self._best}",
                lambda: self.claim_requested.emit(""),
                bool(self._claim),
            )
            menu.addSeparator()
        shown = row.check.isChecked()
        _offer(menu, "Show alone, or all again\tS", lambda: self.solo_requested.emit(key))
        _offer(menu, "Hide" if shown else "Show", lambda: self.toggled.emit(key, not shown))
        bold = key == self._chosen
        _offer(
            menu,
            "Draw as the others" if bold else "Draw bold\tReturn",
            lambda: self.chosen.emit("" if bold else key),
        )
        value, series = row.value.text(), row.series
        assert series is not None
        if series.own:
            _offer(menu, "Remove this curve", lambda: self.remove_requested.emit(key))
        else:
            _offer(menu, "Pin this curve", lambda: self.pin_requested.emit(key))
        menu.addSeparator()
        glyph = "" if value.startswith(series.role.glyph) else f"{series.role.glyph} "
        known = row.value.isEnabled() and bool(value)
        if value.startswith("≈"):  # interpolated between two points: not a bound
            glyph = ""
        _offer(menu, "Copy value", lambda: _copy(f"{glyph}{value}"), known)
        _offer(menu, "Copy source", lambda: _copy(f"{series.label}: {series.reference}"))
        computed = known and not series.own
        _offer(menu, "Add to Compare", lambda: self.compare_requested.emit(key), computed)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu of the curve under the pointer or in focus."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        key = self._in_focus() if by_key else self._at(event.pos().y())
        if key:
            menu = self.menu_for(key)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select or deselect the curve under the pointer."""
        key = self._at(round(event.position().y()))
        if key and event.button() is Qt.MouseButton.LeftButton:
            self._toggle(key)
        else:
            event.ignore()

    def _toggle(self, key: str) -> None:
        self.chosen.emit("" if key == self._chosen else key)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the curve under the pointer alone, or restore all."""
        key = self._at(round(event.position().y()))
        if key:
            self.solo_requested.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the legend's own keys."""
        key = self._in_focus()
        if event.key() == Qt.Key.Key_S and key and not event.modifiers():
            self.solo_requested.emit(key)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and key:
            self._toggle(key)
        else:
            event.ignore()

    def row(self, key: str) -> LegendRow:
        """Return the row of a curve."""
        return self.rows[key]

    @property
    def front(self) -> list[str]:
        """Keys of the curves above the fold, from top to bottom."""
        return list(self._front)

    def _at(self, y: int) -> str:
        for key, row in self._rows.items():
            place = row.label.geometry()
            if row.label.isVisible() and place.top() - 2 <= y <= place.bottom() + 2:
                return key
        return ""

    def _in_focus(self) -> str:
        return next((key for key, row in self._rows.items() if row.check.hasFocus()), "")

    def _place(self, front: list[str], rest: list[str]) -> None:
        if (front, rest) == (self._front, self._rest):
            return
        self._front, self._rest = front, rest
        self._rows = {}
        for above, keys in ((True, front), (False, rest)):
            built = self._built[above]
            while len(built) < len(keys):
                row = LegendRow(self.toggled.emit)
                built.append(row)
                place = len(built) + (0 if above else _FOLD)
                for column, widget in enumerate(row.widgets):
                    self._grid.addWidget(widget, place, column)
                    widget.hide()  # otherwise the layout shows it with a delay
            for key, row in zip(keys, built, strict=False):
                row.key = key
                self._rows[key] = row
            if above:
                for number, row in enumerate(built):
                    row.show(number < len(keys))
        checks = [[row.check for row in self._built[above]] for above in (True, False)]
        for before, after in pairwise((*checks[0], self.more, *checks[1])):
            QWidget.setTabOrder(before, after)
        self._show_rest()

    def _show_rest(self) -> None:
        for number, row in enumerate(self._built[False]):
            row.show(self._open and number < len(self._rest))
        self.more.setText(f"{'▾' if self._open else '▸'} More curves ({len(self._rest)})")
        self.more.setAccessibleName(f"More curves ({len(self._rest)})")
        self.told.setVisible(not self._open)
        self.fold.setVisible(bool(self._rest))


def _order_keys(
    keys: list[str], before: list[str], values: Mapping[str, float | None], settled: bool
) -> list[str]:
    """Return keys, largest value first; while results are incomplete the order is kept.

    Curves without a value come last.
    """
    if not settled:
        return [k for k in before if k in keys] + [k for k in keys if k not in before]

    def rank(key: str) -> float:
        value = values.get(key)
        return math.inf if value is None or math.isnan(value) else -value

    return sorted(keys, key=rank)


def common_remark(remarks: Collection[str]) -> str:
    """Return what several old curves or numbers are for, if it is the same for all."""
    return next(iter(remarks)) if len(remarks) == 1 else "earlier values" * bool(remarks)


def _offer(menu: QMenu, words: str, do: Callable[[], object], enabled: bool = True) -> None:
    action = menu.addAction(words)
    action.setEnabled(enabled)
    action.triggered.connect(lambda _=False: do())


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


class _ParameterTexts(dict[str, str]):
    """Texts of parameters by key, written when they are first asked for."""

    def __init__(self, study: Study, values: Mapping[str, Value]) -> None:
        super().__init__()
        self._study, self._values = study, values

    def __missing__(self, key: str) -> str:
        self[key] = parameter_text(parameter(self._study, key), self._values[key])
        return self[key]


class CurveVisibility(QObject):
    """Stores in the session which curves of a plot are visible; undoable."""

    def __init__(self, session: Session, legend: Legend) -> None:
        super().__init__(legend)
        self._session = session
        self.claimed = ""
        self.keys: list[str] = []
        """Keys of the curves drawn last, also hidden ones."""
        self._before: tuple[Subject, PlotView] | None = None
        """View before a single curve was shown alone."""
        legend.toggled.connect(self._toggle)
        legend.solo_requested.connect(self.solo)

    def at(self, result: Result, claim: ClaimedBound | None) -> PlotView:
        """Set the current result and its claim; return the view of its plot."""
        self.claimed = claim.series.key if claim is not None else ""
        self.keys = [s.key for s in result.series]
        return self._session.state.look_of(result.request.study, result.request.quantity)

    @property
    def subject(self) -> Subject:
        """Current study and quantity."""
        request = self._session.state.request
        return request.study, request.quantity

    @property
    def look(self) -> PlotView:
        """Current view of the plot."""
        return self._session.state.look_of(*self.subject)

    def hidden_of(self, result: Result) -> frozenset[str]:
        """Return the hidden curves of a result or a pin."""
        request, keys = result.request, [s.key for s in result.series]
        look = self._session.state.look_of(request.study, request.quantity)
        return hidden_keys(look, request, keys, self.claimed)

    def first_of(self, result: Result) -> tuple[str, ...]:
        """Return the curves with a row above the fold."""
        keys = [s.key for s in result.series]
        return first_keys(self.look, result.request, keys, self.claimed)

    @staticmethod
    def names_of(result: Result) -> dict[str, str]:
        """Return short curve names by key."""
        study = get_study(result.request.study)
        return {s.key: study.short_name(s.key, s.label) for s in result.series}

    @staticmethod
    def remarks_of(result: Result) -> dict[str, str]:
        """Return remarks on curves by key: declared ones, else where they apply."""
        study, asked = get_study(result.request.study), dict(result.request.values)
        sweep = result.request.sweep
        p = parameter(study, sweep.key) if sweep is not None else None
        texts = _ParameterTexts(study, asked)
        found = {}
        for series in result.series:
            declared = study.remark_on(result.request.quantity, series.key)
            where = range_words(series, p.symbol or p.name) if p is not None else ""
            found[series.key] = declared.format_map(texts) if declared else where
        return found

    def set_y_log(self, on: bool) -> None:
        """Set the scale of the y axis."""
        self._session.set_look(self.subject, replace(self.look, y_log=on), "change y scale")

    def solo(self, key: str) -> None:
        """Show one curve alone, or restore the former view."""
        look = self.look
        alone = replace(
            look, hidden=frozenset(self.keys) - {key}, shown=frozenset({key}), every=False
        )
        if look != alone:
            self._before = (self.subject, look)
            self._session.set_look(self.subject, alone, "show one curve")
            return
        known = self._before is not None and self._before[0] == self.subject
        before = self._before[1] if known and self._before is not None else PlotView(look.y_log)
        again = replace(before, y_log=look.y_log, claim=look.claim)
        self._session.set_look(self.subject, again, "show all curves")

    def _toggle(self, key: str, shown: bool) -> None:
        text = f"{'show' if shown else 'hide'} curve"
        self._session.set_look(self.subject, self.look.ticked(key, shown), text)

    def add_to_comparison(self, result: Result, hidden: Collection[str], claim: str) -> str:
        """Add the values at the sliders to the comparison; return a status message.

        Hidden curves are left out.
        """
        before = self._session.state.comparison
        try:
            entries = with_entries(before, entries_of(result, hidden, claim))
        except ValueError as error:
            return f"{error}."
        self._session.set_comparison(entries, "add to comparison")
        return added_words(len(entries) - len(before))


class ClaimSelector(QObject):
    """Stores in the session which curve is claimed; undoable."""

    def __init__(self, session: Session, legend: Legend, answer: HeadlineStrip) -> None:
        super().__init__(legend)
        self._session = session
        self._subject = ("", "")
        self.key = ""
        """Key of the claimed curve; empty for the tightest valid bound."""
        legend.claim_requested.connect(self._claim)
        answer.claim_requested.connect(self._claim)

    def of(self, result: Result) -> tuple[ClaimedBound | None, tuple[str, ...]]:
        """Return the claim of a result, and the keys of the claimable curves."""
        study, shown = self._subject = (result.request.study, result.request.quantity)
        self.key = self._session.state.claim_of(study, shown)
        claim = get_study(study).claims.get(shown)
        return (None, ()) if claim is None else (evaluate_claim(result, self.key), claim.among)

    def _claim(self, key: str) -> None:
        self._session.set_claim(self._subject, key)
