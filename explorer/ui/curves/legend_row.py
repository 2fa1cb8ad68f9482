"""One curve in the legend: box, swatch, name, role, value."""

from __future__ import annotations

import html
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from explorer.figures.geometry import FUNCTIONS
from explorer.figures.style import SeriesStyle
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import NEARLY, format_number
from explorer.studies.base.study import Series
from explorer.ui.base.styled import styled_label
from explorer.ui.curves.reading import COMPUTING
from explorer.ui.drawing.swatch import ElidedLabel, Swatch
from explorer.ui.widgets.check_box import CheckBox
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel
from explorer.ui.widgets.links import with_titles
from explorer.ui.widgets.numbers import rich

NOT_VALID = "not valid"
_WIDEST_NUMBER = "≈ 1.234×10⁻¹⁰⁰"


def value_words(series: Series, value: float | None, here: bool, between: bool) -> str:
    """Return what a curve says at the slider; `here` if there is one, `between` two points."""
    if value is not None:
        near = f"{NEARLY} {format_number(value)}"
        return near if between else format_number(value, series.role)
    if series.computing:
        return COMPUTING
    # What is no function of x has nothing to say of most x.
    asked = here and (
        series.mark in FUNCTIONS or not series.present.any() or (series.infinite and not between)
    )
    return ("infinite" if series.infinite else NOT_VALID) if asked else ""


class LegendRow:
    """The widgets of one curve, which may become another one's.

    Parameters
    ----------
    toggled : callable
        Told the key of the curve and whether it is to be shown.
    """

    def __init__(self, toggled: Callable[[str, bool], None]) -> None:
        self.key = ""
        self.series: Series | None = None
        self.check = CheckBox()
        self.swatch = Swatch()
        self.label = ElidedLabel()
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.tag = styled_label("tag")
        self.tag.hide()
        self.name = QWidget()
        names = QHBoxLayout(self.name)
        names.setContentsMargins(0, 0, 0, 0)
        names.setSpacing(6)
        names.addWidget(self.label)
        names.addWidget(self.tag)
        names.addStretch(1)
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
        """What stands in the row, from left to right."""
        return (self.check, self.swatch, self.name, self.role, self.value)

    def show(self, shown: bool) -> None:
        """Show the row, or keep it for another curve."""
        for widget in self.widgets:
            if widget.isHidden() == shown:
                widget.setVisible(shown)

    def update(
        self,
        series: Series,
        name: str,
        style: SeriesStyle,
        visible: bool,
        words: str,
        known: bool,
        told: str = "",
        mark: str = "",
        claimed: bool = False,
    ) -> None:
        """Show a curve and what it says here; `told` and `mark` say whether and why it is claimed.

        Where a number is better than what is claimed they say why it is not.
        """
        self.series = series
        self.swatch.set_style(style, series.mark, series.low is not None)
        self.check.setChecked(visible)
        self.value.setText(words)
        self.value.setEnabled(known)
        aside = f"; {told}" if told and not claimed else ""
        self.check.setAccessibleDescription(f"{series.role.value} {words}{aside}")
        absent = words == NOT_VALID
        described = (
            series.key,
            name,
            series.label,
            series.role,
            series.grade,
            series.note,
            series.undefined_reason,
            series.present.all(),
            series.computing,
            mark,
            claimed,
            absent,
        )
        if described == self._described and told == self._told:
            return
        if described != self._described:
            self._marked = claimed
            self._describe(series, name, mark, absent)
            self._described = described
        # The number claimed moves with every slider: of all this it changes the tool tip alone.
        self._told = told
        tip = self._tip + (f"<br><b>{html.escape(told)}</b>" if told else "")
        for widget in (*self.widgets, self.label):
            widget.setToolTip(f"<p>{tip}</p>")

    def set_chosen(self, chosen: bool) -> None:
        """Write the name bold because the curve is drawn bold, or as it is else."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.label.set_strong(chosen or self._marked)

    def _describe(self, series: Series, name: str, mark: str, absent: bool) -> None:
        """Write what stays while the values of a curve change."""
        self.check.setAccessibleName(f"show {series.label}")
        partly = not series.present.all() and not series.computing
        self.label.setText(("⊘ " if absent else "") + name)
        self.label.set_strong(self._marked or self._chosen)
        self.tag.setText(mark)
        self.tag.setVisible(bool(mark))
        graded = f" · {series.grade.value}" if series.role in (Role.UPPER, Role.LOWER) else ""
        self.role.setText(f"{series.role.glyph} {series.role.value}{graded}")
        self._tip = f"<b>{rich(series.label)}</b> ({series.role.value})"
        self._tip += "<br>" + html.escape(with_titles(str(series.reference))).replace("\n", "<br>")
        if series.note:
            self._tip += f"<br>{html.escape(series.note)}"
        if partly:
            self._tip += (
                f"<br>Absent where it does not hold: {html.escape(series.undefined_reason)}."
            )
