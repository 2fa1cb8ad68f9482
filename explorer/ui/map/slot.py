"""One place of the grid: header, pane, caption and colour bar of whatever is shown there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.figures.colour_maps import colour_table, diverging_table
from explorer.geography.region import Region
from explorer.studies.base.distances import FAR, in_unit
from explorer.studies.base.study import Readout, Surface
from explorer.studies.heatmap.panes import (
    CENTRES,
    CHOICES,
    DIFFERENCE,
    PRIVATE,
    TRUE,
    is_map,
    is_private,
)
from explorer.ui.base.styled import plain_tip
from explorer.ui.map.camera import MapCamera
from explorer.ui.map.colour_bar import ColourBar
from explorer.ui.map.header import PaneHeader, short_title
from explorer.ui.map.metrics import format_readout
from explorer.ui.map.pane import MapPane
from explorer.ui.widgets.fixed_size_label import FixedSizeLabel

Kind = tuple[tuple[str, ...], str]
"""What is said of a pane in its header: the badge in ever shorter words, and what it means."""

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
"""Readouts whose notes are told of a pane of centres, the first two below it."""
_TITLES = {TRUE: "True heatmap", PRIVATE: "Private heatmap", **dict(CHOICES)}
_TITLES[TRUE] = "True heatmap"


def title_of(key: str) -> str:
    """Return what a pane is called before its surface is known."""
    return _TITLES.get(key.partition(":")[2] or key, key)


class Slot:
    """Widgets for one pane, used for one surface after another."""

    def __init__(self, camera: MapCamera, parent: QWidget) -> None:
        self.key = ""
        self.pane = MapPane(camera, "", parent)
        self.header = PaneHeader(parent)
        self.stamp = FixedSizeLabel()
        """What must be said of the picture: above it, where it hides nothing."""
        self.stamp.setParent(parent)
        self.caption = FixedSizeLabel()
        self.caption.setParent(parent)
        self.caption.setAccessibleDescription("Distance from the true map, curator only")
        self.bar = ColourBar("Colour scale", parent)
        # Equal panes show equal boxes, whatever their headers would like.
        self.header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.bar.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.pane.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def take(self, key: str, colours: str) -> None:
        """Turn to another surface, none of which is known yet."""
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
        """Choose a colour map by name; a difference has its own."""
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
        """Say what must be said of the picture; where there is no room, a tip has all of it."""
        self.stamp.setText(text)
        self.stamp.setToolTip(plain_tip(text))

    def show_readouts(self, known: Mapping[str, Readout], region: Region | None) -> None:
        """Write below it how far off this draw is; what is not known yet stays, in grey."""
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
        """Return what stands below each other, from the top."""
        return (self.header, self.stamp, self.pane, self.caption, self.bar)

    def hide(self) -> None:
        """Put all of it away."""
        for widget in self.widgets():
            widget.hide()
