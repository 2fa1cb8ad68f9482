"""Light and dark theme: palette, style sheet, spacing, maps, in the colours of exported figures."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from explorer.figures import style

CHOICES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of the interface around the plots, as ``#rrggbb``.

    Separators have the colour `border`. Lines that alone mark a field or button have the colour
    `edge`, with a contrast of at least 3 : 1.
    """

    window: str
    panel: str
    field: str
    border: str
    edge: str
    text: str
    muted: str
    accent: str
    accent_soft: str
    on_accent: str
    good: str
    bad: str
    warn: str
    warn_back: str
    good_back: str


LIGHT = Palette(
    window="#eef0f3",
    panel="#f8f9fb",
    field="#ffffff",
    border="#cfd5dc",
    edge="#7f8995",
    text="#1a1f26",
    muted="#59636f",
    accent="#0b63b5",
    accent_soft="#dbe9f8",
    on_accent="#ffffff",
    good="#12713f",
    bad="#b3261e",
    warn="#7a4b00",
    warn_back="#fff1d6",
    good_back="#e2f2e8",
)
DARK = Palette(
    window="#14181d",
    panel="#1a1f25",
    field="#232a32",
    border="#39424d",
    edge="#717d8b",
    text="#e6eaee",
    muted="#a0abb6",
    accent="#5aa9f0",
    accent_soft="#1f3a55",
    on_accent="#08131e",
    good="#5ccf8e",
    bad="#ff8a80",
    warn="#ffcf7d",
    warn_back="#3d2f14",
    good_back="#17352a",
)


def chrome_for(palette: QPalette) -> Palette:
    """Return the colours of panels and controls that match a widget's palette."""
    return DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


class Theme(QObject):
    """Current theme of the window.

    Parameters
    ----------
    choice : str
        ``system``, ``light`` or ``dark``.
    apply : bool
        Whether to set the style sheet at once or in `apply_stylesheet`: with a style sheet Qt
        matches the rules of every widget again whenever it is reparented, 110 ms while building a
        window.

    Signals
    -------
    changed()
        Emitted after the theme, or the followed system theme, changed.
    """

    changed = Signal()

    def __init__(self, choice: str = "system", apply: bool = True) -> None:
        super().__init__()
        self.choice = choice
        """``system``, ``light`` or ``dark``."""
        self._applied = apply
        hints = QGuiApplication.styleHints()
        self._system = hints.colorScheme()
        self._system_palette_dark = _is_dark(QGuiApplication.palette())
        hints.colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def name(self) -> str:
        """Theme shown: ``light`` or ``dark``."""
        if self.choice != "system":
            return self.choice
        if self._system is Qt.ColorScheme.Unknown:
            return "dark" if self._system_palette_dark else "light"
        return "dark" if self._system is Qt.ColorScheme.Dark else "light"

    @property
    def chrome(self) -> Palette:
        """Colours of panels and controls."""
        return DARK if self.name == "dark" else LIGHT

    @property
    def plot(self) -> style.Theme:
        """Colours of plots and maps, the same as in exports."""
        return style.theme(self.name)

    def choose(self, choice: str) -> None:
        """Select the system theme, light or dark.

        Raises
        ------
        ValueError
            If the name is unknown; lists the valid ones.
        """
        if choice not in CHOICES:
            raise ValueError(f"theme: {choice!r} is not one of {', '.join(CHOICES)}")
        before, self.choice = self.name, choice
        if self.name != before:
            self._apply()
            self.changed.emit()

    def apply_stylesheet(self) -> None:
        """Set the style sheet if that was deferred."""
        if not self._applied:
            self._applied = True
            self._set_sheet()

    def _system_changed(self, scheme: Qt.ColorScheme) -> None:
        before, self._system = self.name, scheme
        if self.name != before:
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        QApplication.setPalette(_palette(self.chrome))
        if self._applied:
            self._set_sheet()

    def _set_sheet(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setStyleSheet(_sheet(self.chrome))


def prepare(app: QApplication) -> None:
    """Set what both themes share: widget style and font size."""
    app.setStyle("Fusion")
    font = QFont(app.font())
    if font.pointSizeF() < 9:
        font.setPointSizeF(9)
    app.setFont(font)


def _is_dark(palette: QPalette) -> bool:
    return palette.window().color().lightness() < palette.windowText().color().lightness()


def _palette(c: Palette) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for key, colour in {
        role.Window: c.panel,
        role.WindowText: c.text,
        role.Base: c.field,
        role.AlternateBase: c.panel,
        role.Text: c.text,
        role.Button: c.panel,
        role.ButtonText: c.text,
        role.BrightText: c.on_accent,
        role.ToolTipBase: c.field,
        role.ToolTipText: c.text,
        role.PlaceholderText: c.muted,
        role.Highlight: c.accent,
        role.HighlightedText: c.on_accent,
        role.Link: c.accent,
        role.Light: c.field,
        role.Midlight: c.border,
        role.Mid: c.border,
        role.Dark: c.border,
        role.Shadow: c.border,
    }.items():
        palette.setColor(key, QColor(colour))
    faded = QColor(c.muted)
    palette.setColor(QPalette.ColorGroup.Disabled, role.WindowText, faded)  # old text stays legible
    faded.setAlpha(150)
    for key in (role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, key, faded)
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(c.border))
    palette.setColor(QPalette.ColorGroup.Disabled, role.HighlightedText, QColor(c.text))
    return palette


def _mix(front: str, back: str, share: float) -> str:
    """Return a mixture of two colours, `share` of it from the front one."""
    parts = (
        round(share * int(front[i : i + 2], 16) + (1 - share) * int(back[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def _sheet(c: Palette) -> str:
    faded = _mix(c.muted, c.panel, 0.55)
    return f"""
    QMainWindow, QMainWindow::separator {{ background: {c.window}; }}
    QMainWindow::separator {{ width: 5px; height: 5px; }}
    QMainWindow::separator:hover {{ background: {c.accent_soft}; }}
    QMenuBar {{ background: {c.window}; padding: 1px 4px; }}
    QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
    QMenuBar::item:selected {{ background: {c.accent_soft}; color: {c.text}; }}
    QMenu {{ background: {c.field}; border: 1px solid {c.border}; padding: 4px; }}
    QMenu::item {{ padding: 5px 26px 5px 24px; border-radius: 4px; }}
    QMenu::item:selected {{ background: {c.accent_soft}; color: {c.text}; }}
    QMenu::item:disabled {{ color: {faded}; }}
    QMenu::separator {{ height: 1px; background: {c.border}; margin: 4px 8px; }}
    QToolTip {{ background: {c.field}; color: {c.text}; border: 1px solid {c.border};
                padding: 5px; }}
    QStatusBar {{ background: {c.window}; color: {c.muted}; }}
    QStatusBar::item {{ border: none; }}
    QWidget#dock-title, QDockWidget#dock-guarantee > QWidget {{ background: {c.panel}; }}
    QDockWidget#dock-question > QWidget {{ background: {c.window}; }}
    QLabel#dock-name {{ color: {c.muted}; font-size: 8pt; font-weight: 700;
                        padding: 7px 0 0 4px; }}
    QScrollArea, QStackedWidget {{ background: transparent; }}
    QScrollArea > QWidget > QWidget {{ background: transparent; }}
    QTabWidget::pane {{ border: none; background: {c.panel}; }}
    QWidget#page {{ background: {c.window}; }}
    QTabBar::tab {{ background: transparent; color: {c.muted}; padding: 8px 18px 7px;
                    border-bottom: 2px solid transparent; }}
    QTabBar::tab:selected {{ color: {c.text}; border-bottom: 2px solid {c.accent};
                             background: {c.panel}; }}
    QTabBar::tab:hover:!selected {{ color: {c.text}; }}
    QTabBar::tab:focus {{ color: {c.accent}; }}
    QTabWidget#sides QTabBar::tab {{ padding: 5px 12px; }}
    QTabWidget#below QTabBar::tab {{ padding: 5px 9px; }}
    QTabBar QToolButton {{ padding: 0; margin: 3px 0; border-radius: 4px; }}
    QCheckBox {{ spacing: 7px; }}
    QCheckBox::indicator {{ width: 13px; height: 13px; border: 1px solid {c.muted};
                 border-radius: 3px; background: {c.field}; }}
    QCheckBox::indicator:hover, QCheckBox::indicator:focus {{ border-color: {c.accent}; }}
    QCheckBox::indicator:checked {{ background: {c.accent}; border-color: {c.accent}; }}
    QCheckBox::indicator:disabled {{ background: {c.panel}; border-color: {c.border}; }}
    QCheckBox:focus {{ color: {c.accent}; }}
    QCheckBox:disabled {{ color: {faded}; }}
    QLineEdit, QAbstractSpinBox {{ background: {c.field};
                 border: 1px solid {c.edge}; border-radius: 4px;
                 padding: 3px 6px; selection-background-color: {c.accent};
                 selection-color: {c.on_accent}; }}
    QLineEdit:focus, QAbstractSpinBox:focus {{ border: 1px solid {c.accent}; }}
    QLineEdit:disabled, QAbstractSpinBox:disabled {{ color: {faded};
                 background: {c.panel}; border-color: {c.border}; }}
    QDateTimeEdit::drop-down {{ border: none; width: 20px; }}
    QDateTimeEdit::down-arrow {{ image: none; }}
    QLineEdit[wrong="true"] {{ border: 1px solid {c.bad}; color: {c.bad}; }}
    QComboBox[flat="true"] {{ background: {c.field}; border: 1px solid {c.edge};
                 border-radius: 4px; padding: 3px 22px 3px 8px; min-height: 18px; }}
    QComboBox[flat="true"]:disabled {{ color: {faded}; background: {c.panel}; }}
    QComboBox[flat="true"]:focus {{ border: 1px solid {c.accent}; }}
    QCheckBox[wrong="true"], QRadioButton[wrong="true"] {{ color: {c.bad}; }}
    QComboBox[flat="true"][wrong="true"] {{ border: 1px solid {c.bad}; color: {c.bad}; }}
    QComboBox[tight="true"] {{ padding: 2px 0 2px 6px; }}
    QComboBox[tight="true"]::drop-down {{ width: 12px; }}
    QComboBox[flat="true"][doubtful="true"] {{ border: 1px solid {c.warn}; }}
    QComboBox[flat="true"]::drop-down {{ border: none; width: 20px; }}
    QComboBox[title="true"] {{ background: transparent; border: 1px solid transparent;
                 font-weight: 600; padding: 0 2px 0 0; min-height: 16px; }}
    QComboBox[title="true"]:focus {{ border: 1px solid {c.accent}; }}
    QComboBox[title="true"]::drop-down {{ border: none; width: 18px; }}
    QComboBox[title="true"]:disabled {{ background: transparent; }}
    QComboBox QAbstractItemView {{ background: {c.field}; border: 1px solid {c.border};
        selection-background-color: {c.accent_soft}; selection-color: {c.text}; outline: none; }}
    QPushButton, QToolButton {{ background: {c.field}; border: 1px solid {c.edge};
                   border-radius: 4px; padding: 4px 10px; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {c.accent}; }}
    QPushButton:focus, QToolButton:focus {{ border-color: {c.accent}; }}
    QPushButton:default {{ background: {c.accent}; color: {c.on_accent};
                           border-color: {c.accent}; }}
    QPushButton:default:hover, QPushButton:default:focus {{ border-color: {c.text}; }}
    QPushButton:pressed, QToolButton:pressed, QPushButton:checked, QToolButton:checked {{
                   background: {c.accent_soft}; color: {c.text}; border-color: {c.accent}; }}
    QPushButton:checked:focus, QToolButton:checked:focus {{ border-color: {c.text}; }}
    QPushButton:disabled, QPushButton:default:disabled, QToolButton:disabled {{
                   color: {faded}; background: {c.panel}; border-color: {c.border}; }}
    QPushButton#search {{ color: {c.muted}; text-align: left; margin: 1px 12px 1px 0; }}
    QFileDialog QToolButton {{ padding: 2px; }}
    QToolButton[quiet="true"] {{ background: transparent; border: 1px solid transparent;
                                 padding: 2px 6px; }}
    QToolButton[quiet="true"]:hover {{ border-color: {c.border}; }}
    QToolButton[quiet="true"]:focus {{ border-color: {c.accent}; }}
    QToolButton#run {{ padding: 1px; }}
    QToolButton#link {{ color: {c.accent}; padding: 2px 0; }}
    QToolButton#link[low="true"] {{ padding: 0; font-size: 8.5pt; }}
    QToolButton#link:hover {{ border-color: transparent; text-decoration: underline; }}
    QToolButton#link:disabled {{ color: {faded}; }}
    QToolButton#link::menu-indicator {{ image: none; width: 0; }}
    QPushButton#section, QPushButton#section:checked {{ background: transparent;
        border: 1px solid transparent;
        border-bottom: 1px solid {c.border}; border-radius: 0; padding: 3px 2px;
        text-align: left; }}
    QPushButton#section:hover {{ border-bottom-color: {c.accent}; }}
    QPushButton#section:focus, QPushButton#section:checked:focus {{
        color: {c.accent}; border-color: transparent; border-bottom-color: {c.accent}; }}
    QTableView[plain="true"] QTableCornerButton::section {{ background: transparent;
                                                             border: none; }}
    QAbstractScrollArea::corner {{ background: transparent; border: none; }}
    QFrame#card QRadioButton {{ spacing: 8px; }}
    QFrame#card QRadioButton::indicator {{ width: 12px; height: 12px; border-radius: 7px;
                 border: 1px solid {c.edge}; background: {c.field}; }}
    QFrame#card QRadioButton::indicator:hover, QFrame#card QRadioButton::indicator:focus,
    QFrame#card QRadioButton::indicator:checked {{ border-color: {c.accent}; }}
    QFrame#card QRadioButton::indicator:checked {{ background: qradialgradient(cx: 0.5, cy: 0.5,
                 radius: 0.5, fx: 0.5, fy: 0.5, stop: 0.6 {c.accent}, stop: 0.7 {c.field}); }}
    QFrame#card QRadioButton::indicator:disabled {{ background: {c.panel};
                 border-color: {c.border}; }}
    QFrame#card QRadioButton:focus {{ color: {c.accent}; }}
    QFrame#card {{ background: {c.panel}; border: 1px solid {c.border}; border-radius: 6px; }}
    QFrame#tour {{ background: {c.field}; border: 1px solid {c.accent}; border-radius: 6px; }}
    #card-title {{ font-weight: 700; }}
    QLabel#pane-stamp {{ color: {c.warn}; background: {c.warn_back}; font-size: 8pt;
                         font-weight: 700; padding: 1px 8px; }}
    QPushButton#door {{ background: {c.accent}; color: {c.on_accent}; border-color: {c.accent};
                        font-weight: 600; padding: 6px 14px; }}
    QPushButton#door:hover, QPushButton#door:focus {{ border: 2px solid {c.text};
                                                      padding: 5px 13px; }}
    QPushButton#door:disabled {{ color: {faded}; background: {c.panel};
                                 border-color: {c.border}; }}
    QPushButton#door[done="true"]:disabled {{ color: {c.good}; background: {c.good_back};
                                              border-color: {c.good}; font-weight: 400; }}
    QPushButton#link {{ background: transparent; color: {c.accent}; font-weight: 600;
                        border: 1px solid transparent; padding: 1px 3px; margin-left: -4px;
                        text-align: left; }}
    QPushButton#link:hover {{ text-decoration: underline; }}
    QPushButton#link:disabled {{ color: {c.muted}; }}
    QPushButton#link:focus {{ border-color: {c.accent}; }}
    QWidget#wizard QPushButton:disabled, QWidget#wizard QRadioButton:disabled,
    QWidget#wizard QCheckBox:disabled, QWidget#wizard QLineEdit:disabled,
    QWidget#wizard QPushButton#door:disabled {{ color: {c.muted}; }}
    QLabel#title {{ font-size: 17pt; font-weight: 700; }}
    QLabel#subtitle {{ font-size: 12pt; font-weight: 600; }}
    QLabel#question {{ font-size: 8pt; }}
    QDialog#palette {{ border: 1px solid {c.muted}; }}
    QDialog#palette QTreeWidget::item {{ padding: 3px 2px; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
    QScrollBar::handle {{ background: {c.border}; border-radius: 4px; margin: 1px;
                          min-height: 24px; min-width: 24px; }}
    QScrollBar::handle:hover {{ background: {c.muted}; }}
    QScrollBar::handle:disabled {{ background: transparent; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QProgressBar {{ background: {c.field}; border: 1px solid {c.border}; border-radius: 4px;
                    text-align: center; min-height: 12px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
    QGroupBox {{ border: 1px solid {c.border}; border-radius: 6px; margin-top: 10px;
                 padding-top: 8px; }}
    QGroupBox::title {{ subcontrol-origin: margin; left: 10px; padding: 0 4px;
                        color: {c.muted}; }}
    QSplitter::handle {{ background: {c.window}; }}
    QHeaderView::section {{ background: {c.panel}; border: none;
        border-bottom: 1px solid {c.border}; padding: 4px 6px; color: {c.muted}; }}
    QTableView {{ gridline-color: {c.border}; border: 1px solid {c.border};
                  border-radius: 4px; }}
    QTableView QHeaderView[plain="true"] {{ background: transparent; }}
    QTableView[plain="true"] {{ border: none; background: transparent;
        selection-background-color: {c.accent_soft}; selection-color: {c.text}; }}
    QLabel#faint, QLabel#beside {{ color: {c.muted}; font-size: 8pt; }}
    QLabel#beside {{ qproperty-alignment: AlignVCenter; }}
    QWidget#reason {{ color: {c.bad}; font-size: 8pt; }}
    QLabel#warning {{ color: {c.warn}; }}
    QLabel#muted {{ color: {c.muted}; }}
    QLabel#field-name {{ font-size: 8.5pt; }}
    QLabel#hint {{ color: {c.muted}; font-size: 8.5pt; }}
    QLabel#hint[doubtful="true"] {{ color: {c.warn}; }}
    QLabel#heading {{ color: {c.muted}; font-weight: 600; }}
    QLabel#odds {{ font-size: 16pt; font-weight: 700; }}
    QLabel#tag {{ color: {c.accent}; background: {c.accent_soft}; border-radius: 3px;
                  padding: 1px 5px; font-size: 8pt; }}
    QLabel#badge {{ color: {c.warn}; background: {c.warn_back}; border-radius: 4px;
                    padding: 2px 8px; font-weight: 600; }}
    QLabel#badge[tone="plain"] {{ color: {c.text}; background: {c.border}; font-weight: 400; }}
    QLabel#badge[tone="good"] {{ color: {c.good}; background: {c.good_back}; }}
    QLabel#readout {{ background: {c.field}; border: 1px solid {c.border}; border-radius: 5px;
                      padding: 5px 7px; }}
    QLabel#notes {{ color: {c.warn}; background: {c.warn_back}; border-radius: 4px;
                    padding: 5px 9px; }}
    QFrame#banner {{ background: {c.warn_back}; border: 1px solid {c.warn};
                     border-radius: 6px; }}
    QFrame#banner QLabel {{ color: {c.text}; }}
    QFrame#answer {{ background: {c.panel}; border: 1px solid {c.border};
                     border-left: 5px solid {c.accent}; border-radius: 6px; }}
    QWidget#answer-number {{ font-size: 16pt; font-weight: 700; }}
    QLabel#answer-text {{ font-size: 10pt; }}
    QToolButton#rail {{ background: {c.panel}; border: none; border-left: 1px solid {c.border};
                        border-radius: 0; padding: 0; }}
    QToolButton#rail:hover, QToolButton#rail:focus, QToolButton#rail:checked {{
        border-left: 2px solid {c.accent}; }}
    QLabel#rail-odds {{ font-size: 8pt; font-weight: 700; }}
    QLabel#rail-failing {{ color: {c.bad}; font-weight: 700; }}
    QFrame#over {{ background: {c.panel}; border: 1px solid {c.border}; }}
    QToolButton#axis-title {{ font-weight: 600; padding: 1px 4px; }}
    QToolButton#axis-title::menu-indicator {{ image: none; width: 0; }}
    QToolButton#claim {{ padding: 1px 18px 1px 8px; }}
    QFrame#line {{ background: {c.border}; max-height: 1px; border: none; }}
    """


NARROW_WIDTH = 1024
"""Width in pixels up to which a window has no space for three columns."""


def is_narrow(widget: QWidget) -> bool:
    """Return whether the window of a widget is narrow."""
    return widget.window().width() <= NARROW_WIDTH


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
    def of(cls, theme: style.Theme) -> MapStyle:
        """Return the colours of a theme."""
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


MAP_LIGHT, MAP_DARK = MapStyle.of(style.LIGHT), MapStyle.of(style.DARK)


def map_style_for(palette: QPalette) -> MapStyle:
    """Return the colours of maps that match a widget's palette."""
    return MAP_DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else MAP_LIGHT
