"""One cell of the pane grid: header, pane, caption and colour bar."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from explorer.figures.colour_maps import colour_table, diverging_table
from explorer.geography.region import Region
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import ScalarResult, Surface
from explorer.studies.heatmap.parameters import (
    CENTRES,
    CHOICES,
    DIFFERENCE,
    PRIVATE,
    TRUE,
    is_map,
    is_private,
)
from explorer.studies.heatmap.text import AVERAGE_ERROR, SYNTHETIC, in_unit
from explorer.ui.base.styled import plain_label, plain_tip, tool_button
from explorer.ui.map.camera import MapCamera
from explorer.ui.map.colour_bar import ColourBar
from explorer.ui.map.pane import MapPane
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel, FixedSizeText

_LEFT_OUT = re.compile(r", ε = [^,]*| \(.*\)| of \d+ draws")
"""Omitted from a title without space: parts common to all maps or explained in the tool tip."""
HEADER_HEIGHT, STAMP_HEIGHT, CAPTION_HEIGHT = 19, 36, 17


class PaneHeader(QWidget):
    """Title of a pane: its kind in bold and what is drawn, with a menu button.

    Where the second part does not fit it omits ε, which is the same for all maps.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = self._drawn = ""
        self.title = plain_label()
        font = QFont(self.title.font())
        font.setWeight(QFont.Weight.Bold)
        self.title.setFont(font)
        self.detail = FixedSizeLabel()
        self.detail.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.menu = QMenu(self)
        self.button = tool_button("▾", name="Change or close this map", quiet=True)
        self.button.setStyleSheet(
            "QToolButton { padding: 0 4px; } QToolButton::menu-indicator { image: none; }"
        )
        self.button.setMenu(self.menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        row.addWidget(self.title)
        row.addWidget(self.detail, 1)
        row.addWidget(self.button)
        for widget in (self, self.button):
            widget.setFixedHeight(HEADER_HEIGHT)

    def set_changeable(self, changeable: bool) -> None:
        """Show the button if other surfaces are available."""
        self.button.setVisible(changeable)

    def set_title(self, text: str) -> None:
        """Set the title: kind and, after a colon, what is drawn."""
        if text == self._title:
            return
        self._title = text
        kind, _, self._drawn = text.partition(": ")
        if kind != self.title.text():
            self.title.setText(kind)
        self.title.setAccessibleName(text)
        for widget in (self.title, self.detail):
            widget.setToolTip(plain_tip(text))
        self.button.setAccessibleName(f"Change or close: {text}")
        self.button.setToolTip("Show another map here, or close this one")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self.detail.fontMetrics().horizontalAdvance(self._drawn) <= self.detail.width()
        self.detail.setText(self._drawn if fits else _LEFT_OUT.sub("", self._drawn))


def short_title(label: str) -> str:
    """Return a surface's label without the word common to all titles."""
    return label.replace(" heatmap", "", 1)


_CURATOR_ONLY = (
    "curator only:",
    "based on the real data",
    "Drawn from the real check-ins, without accounting: only who holds the data may see it.",
)
_PREVIEW = (
    "preview only – not private,",
    "do not share",
    "The noise comes from a seed, so the noise can be drawn again. For planning only; do not "
    "publish.",
)
_CAPTIONS = {DIFFERENCE: "red: too many, blue: too few"}
DIGITS = 3
"""Significant digits of an error, as in the headline."""
PEOPLE, CHECKINS = "users_used", "checkins"
"""Scalar results shown below the true map."""
OF_CENTRES = ("centres_cost", "centres_true", "centres_emd", "centres_kappa")
"""Scalar results whose notes describe a pane of centres; the first two are shown below it."""
_TITLES = {PRIVATE: "Private", **dict(CHOICES), TRUE: "True"}


def title_of(key: str) -> str:
    """Return the title of a pane before its surface is known."""
    return _TITLES.get(key.partition(":")[2] or key, key)


class Slot:
    """Widgets of one pane, reused for other surfaces."""

    def __init__(self, camera: MapCamera, parent: QWidget) -> None:
        self.key = ""
        self._stamped = False
        self.pane = MapPane(camera, "", parent)
        self.header = PaneHeader(parent)
        self.stamp = FixedSizeText("pane-stamp", parent, lines=2)
        """Who may see the picture, above it."""
        self.stamp.setFixedHeight(STAMP_HEIGHT)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setRetainSizeWhenHidden(True)
        self.stamp.setSizePolicy(policy)
        self.caption = FixedSizeLabel(smallest=0.85)
        self.caption.setParent(parent)
        self.caption.setFixedHeight(CAPTION_HEIGHT)
        self.bar = ColourBar("Colour scale", parent)
        # Equal panes show equal boxes, independent of their headers.
        self.header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.bar.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.pane.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def take(self, key: str, colours: str) -> None:
        """Use for another surface, which is not known yet."""
        self.key = key
        title = title_of(key)
        self.header.set_title(title)
        self.pane.setAccessibleName(f"{title}, {self._kind[0].rstrip(':,')}")
        self.bar.setAccessibleName(f"Colour scale: {title}")
        self.clear_caption()
        self.caption.setToolTip("")
        self.caption.setEnabled(True)
        font = QFont(self.header.detail.font())
        font.setBold(is_map(key) and key != TRUE)
        self.caption.setFont(font)
        muted = not font.bold()
        self.caption.setForegroundRole(
            QPalette.ColorRole.PlaceholderText if muted else QPalette.ColorRole.WindowText
        )
        self.pane.set_dots(None, None)
        self.set_stamp("")
        self.pane.clear_surface()
        self.set_colours(colours)

    def set_colours(self, name: str) -> None:
        """Set a colour map by name; differences have their own."""
        self.pane.set_colours(self.table(name), self.key == DIFFERENCE)
        self.bar.set_colours(self.pane.colours_of_bar)

    def table(self, name: str) -> np.ndarray:
        """Return the colours that this pane uses of a colour map."""
        return diverging_table() if self.key == DIFFERENCE else colour_table(name)

    def show_surface(self, surface: Surface, top: float) -> None:
        """Show a surface on a scale that ends at `top`."""
        assert surface.region is not None
        bottom = -top if surface.diverging else 0.0
        self.pane.set_surface(surface.values, surface.region, top, bottom)
        self.pane.set_overlay(surface.overlay)
        self.set_stamp(surface.stamp)
        self.header.set_title(short_title(surface.label))

    @property
    def _kind(self) -> tuple[str, str, str]:
        """Two lines of the stamp and their explanation."""
        return _PREVIEW if is_private(self.key) else _CURATOR_ONLY

    def set_stamp(self, text: str) -> None:
        """Show the stamp of a picture, in two lines; empty hides it."""
        first, second, tip = self._kind
        self.stamp.setText(f"{first}\n{text if text == SYNTHETIC else second}")
        self.stamp.setToolTip(plain_tip(f"{text}\n{tip}"))
        self._stamped = bool(text)
        self.stamp.setVisible(self._stamped)

    def show_readouts(self, known: Mapping[str, ScalarResult], region: Region | None) -> None:
        """Show the error of this draw below it; if not known yet the former stays, greyed."""
        if self.key == CENTRES:
            there = [known[key] for key in OF_CENTRES if key in known]
            notes = [item.note for item in there]
            self.caption.setText("; ".join(notes[:2]))
            self.caption.setToolTip("\n\n".join(notes))
            exact = any(item.curator_only for item in there)
            self.caption.setAccessibleDescription("curator only" if exact else "")
            return
        if self.key == TRUE:
            self._show_counts(known)
        if not is_map(self.key) or self.key == TRUE:
            return
        far = self.key.replace(PRIVATE, in_unit(AVERAGE_ERROR, region), 1)
        item = known.get(far)
        value = None if item is None else item.value
        distance = "" if value is None else nearest(value, DIGITS)
        if item is not None and distance:
            self.caption.setText(f"average error {distance} {item.unit} (this map)")
        self.caption.setEnabled(bool(distance))

    @property
    def stamped(self) -> bool:
        """Whether there is a picture with a stamp."""
        return self._stamped

    def clear_caption(self) -> None:
        """Show the caption of a pane without a result."""
        self.caption.setText(_CAPTIONS.get(self.key, ""))

    def _show_counts(self, known: Mapping[str, ScalarResult]) -> None:
        """Show how many people and check-ins the map has; if not known yet the former stay."""
        counts = [known[key].value for key in (PEOPLE, CHECKINS) if key in known]
        there = len(counts) == 2 and None not in counts
        if there:
            self.caption.setText(f"{counts[0]:,.0f} people, {counts[1]:,.0f} check-ins")
        self.caption.setEnabled(there)

    def widgets(self) -> tuple[QWidget, ...]:
        """Return the widgets from top to bottom."""
        return (self.header, self.stamp, self.pane, self.caption, self.bar)

    def hide(self) -> None:
        """Hide all widgets."""
        for widget in self.widgets():
            widget.hide()
