"""Colours of the map on the screen."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

from explorer.figures.style import THEMES, Theme


@dataclass(frozen=True)
class MapStyle:
    """Colours of the map as in exports, converted to Qt."""

    theme: str
    background: QColor
    line: QColor
    label: QColor
    halo: QColor
    region: QColor
    warn_text: QColor
    warn_back: QColor

    @classmethod
    def of(cls, theme: Theme) -> MapStyle:
        """Return the style of a theme."""
        halo = QColor(theme.map_halo)
        halo.setAlpha(210)
        return cls(
            theme.name,
            QColor(theme.map_back),
            QColor(theme.map_line),
            QColor(theme.map_label),
            halo,
            QColor(theme.map_region),
            QColor(theme.stamp_text),
            QColor(theme.stamp_back),
        )


LIGHT, DARK = MapStyle.of(THEMES["light"]), MapStyle.of(THEMES["dark"])


def style_for(palette: QPalette) -> MapStyle:
    """Return the style that matches a widget's palette."""
    return DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT
