"""One cell of the pane grid: header, pane, caption and colour bar."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from explorer.figures.colour_maps import colour_table, diverging_table
from explorer.geography.region import Region
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
from explorer.studies.heatmap.text import FAR, in_unit
from explorer.ui.base.styled import plain_label, plain_tip, tool_button
from explorer.ui.map.camera import MapCamera
from explorer.ui.map.colour_bar import ColourBar
from explorer.ui.map.metrics import format_readout
from explorer.ui.map.pane import MapPane
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel

_LEFT_OUT = re.compile(r", ε = [^,]*| \(.*\)| of \d+ draws")
"""Omitted from a title without space: parts common to all maps or explained in the tool tip."""
_GAP = 14
"""Width in pixels of a header without title, badge and button."""


class PaneHeader(QWidget):
    """Title of a pane, a badge for the kind of surface, and a menu button.

    The title has priority: where both do not fit the badge is shortened, then the part of the title
    after its colon; finally the badge is one word and the title omits ε, which is the same for all
    maps.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._badges: tuple[str, ...] = ("",)
        self._title = ""
        self.title = FixedSizeLabel()
        font = QFont(self.title.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.title.setFont(font)
        self.badge = plain_label()
        self.badge.setObjectName("badge")
        self.badge.setStyleSheet("padding: 2px 5px;")
        self.menu = QMenu(self)
        self.button = tool_button("▾", name="Change or close this map", quiet=True)
        self.button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self.button.setMenu(self.menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 2, 0)
        row.setSpacing(4)
        row.addWidget(self.title, 1)
        row.addWidget(self.badge)
        row.addWidget(self.button)

    def set_kind(self, badges: tuple[str, ...], tip: str) -> None:
        """Set the badge in decreasing lengths, and its explanation."""
        self._badges, badge = badges, badges[0]
        self.badge.setText(badge)
        self.badge.setToolTip(tip)
        self.badge.setAccessibleName(badge)

    def set_changeable(self, changeable: bool) -> None:
        """Show the button if other surfaces are available."""
        if self.button.isHidden() is changeable:
            self.button.setVisible(changeable)
            self._choose_form()

    def set_title(self, text: str) -> None:
        """Set the title."""
        if text != self._title:
            self._title = text
            self.title.setToolTip(plain_tip(text))
            self.button.setAccessibleName(f"Change or close: {text}")
            self.button.setToolTip("Show something else here, or close this map")
            self._choose_form()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit to the new size."""
        super().resizeEvent(event)
        self._choose_form()

    def _choose_form(self) -> None:
        long, *shorter = self._badges
        space = self.width() - _GAP
        space -= 0 if self.button.isHidden() else self.button.sizeHint().width() + 4
        rest = self._title.partition(": ")[2] or self._title
        forms = [(long, self._title), *((badge, self._title) for badge in shorter[:1])]
        forms += [(badge, rest) for badge in shorter]
        forms += [(self._badges[-1], _LEFT_OUT.sub("", rest))]
        metrics = QFontMetrics(self.title.font())
        badge, title = next(
            (
                form
                for form in forms
                if self._badge_width(form[0]) + metrics.horizontalAdvance(form[1]) <= space
            ),
            forms[-1],
        )
        if badge != self.badge.text():
            self.badge.setText(badge)
        self.title.setText(title)
        self.title.setAccessibleName(self._title)

    def _badge_width(self, text: str) -> int:
        metrics = self.badge.fontMetrics()
        frame = self.badge.sizeHint().width() - metrics.horizontalAdvance(self.badge.text())
        return frame + metrics.horizontalAdvance(text)


def short_title(label: str) -> str:
    """Return a surface's label without the word common to all titles."""
    first, colon, rest = label.partition(" heatmap: ")
    return f"{first}: {rest}" if colon else label


Kind = tuple[tuple[str, ...], str]
"""Badge in decreasing lengths, and its explanation."""

_TRUTH: Kind = (
    ("curator only", "curator"),
    "Drawn from the real check-ins without any noise. Only who holds the data may see it.",
)
_COMPARED: Kind = (
    ("curator only", "curator"),
    "Made from the real check-ins, without accounting: only who holds the data may see it.",
)
_NOISY: Kind = (
    ("demonstration noise", "demo noise", "demo"),
    "The noise comes from the seed shown, so that it can be drawn again: good for looking, not for "
    "a release.",
)
OF_CENTRES = ("centres_cost", "centres_true", "centres_emd", "centres_kappa")
"""Scalar results whose notes describe a pane of centres; the first two are shown below it."""
_TITLES = {TRUE: "True heatmap", PRIVATE: "Private heatmap", **dict(CHOICES)}
_TITLES[TRUE] = "True heatmap"


def title_of(key: str) -> str:
    """Return the title of a pane before its surface is known."""
    return _TITLES.get(key.partition(":")[2] or key, key)


class Slot:
    """Widgets of one pane, reused for other surfaces."""

    def __init__(self, camera: MapCamera, parent: QWidget) -> None:
        self.key = ""
        self.pane = MapPane(camera, "", parent)
        self.header = PaneHeader(parent)
        self.stamp = FixedSizeLabel()
        """Stamp of the picture, above it."""
        self.stamp.setParent(parent)
        self.caption = FixedSizeLabel()
        self.caption.setParent(parent)
        self.caption.setAccessibleDescription("Distance from the true map, curator only")
        self.bar = ColourBar("Colour scale", parent)
        # Equal panes show equal boxes, independent of their headers.
        self.header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.bar.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.pane.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def take(self, key: str, colours: str) -> None:
        """Use for another surface, which is not known yet."""
        self.key = key
        badges, tip = _NOISY if is_private(key) else _TRUTH if key == TRUE else _COMPARED
        title = title_of(key)
        self.header.set_kind(badges, tip)
        self.header.set_title(title)
        self.pane.setAccessibleName(f"{title}, {badges[0]}")
        self.bar.setAccessibleName(f"Colour scale: {title}")
        self.caption.setText("")
        self.caption.setToolTip("")
        self.caption.setEnabled(True)
        self.pane.set_dots(None, None)
        self.set_stamp("")
        self.pane.clear_surface()
        self.set_colours(colours)

    def set_colours(self, name: str) -> None:
        """Set a colour map by name; differences have their own."""
        table = self.table(name)
        self.pane.set_colours(table, self.key == DIFFERENCE)
        self.bar.set_colours(table)

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

    def set_stamp(self, text: str) -> None:
        """Show the stamp, elided; the tool tip has the full text."""
        self.stamp.setText(text)
        self.stamp.setToolTip(plain_tip(text))

    def show_readouts(self, known: Mapping[str, ScalarResult], region: Region | None) -> None:
        """Show the error of this draw below it; if not known yet the former stays, greyed."""
        if self.key == CENTRES:
            notes = [known[key].note for key in OF_CENTRES if key in known]
            self.caption.setText("; ".join(notes[:2]))
            self.caption.setToolTip("\n\n".join(notes))
            return
        far = self.key.replace(PRIVATE, in_unit(FAR, region), 1)
        item = known.get(far) if is_map(self.key) else None
        distance = format_readout(item) if item is not None else ""
        if item is not None and distance:
            self.caption.setText(f"off by {distance} {item.unit} in this draw")
        self.caption.setEnabled(bool(distance))

    def widgets(self) -> tuple[QWidget, ...]:
        """Return the widgets from top to bottom."""
        return (self.header, self.stamp, self.pane, self.caption, self.bar)

    def hide(self) -> None:
        """Hide all widgets."""
        for widget in self.widgets():
            widget.hide()
