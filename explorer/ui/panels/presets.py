"""Current question, and the bar and menu of its presets."""

import html
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.plot_view import PlotView, default_plot_view
from explorer.engine.session.session import Session, SessionState
from explorer.engine.session.utility_settings import UtilitySettings
from explorer.figures.captions import parameter_text
from explorer.studies.base.help_page import Preset, sample_of
from explorer.studies.base.study import (
    Request,
    Selection,
    Study,
    parameter,
    preset_request,
    with_unit,
)
from explorer.studies.registry import get_study, study_info
from explorer.ui.base.styled import follow_links, link_labels, styled_label, tool_button

MAX_CHANGES = 4
"""Maximum number of changes listed since a preset was chosen."""


def preset_in_front(state: SessionState) -> Preset | None:
    """Return the preset that the current view matches, if any.

    Among equal ones, the one that was chosen.
    """
    there = [
        p for p in _presets_by_request(state.study).get(state.request, ()) if _is_shown(p, state)
    ]
    if len(there) > 1:
        selected = state.look_of(state.study, state.request.quantity).preset
        there.sort(key=lambda item: item.key != selected)
    return there[0] if there else None


def _is_shown(item: Preset, state: SessionState) -> bool:
    """Return whether users and utility curves match those of a preset."""
    over = state.which.axis if state.which.open else ""
    judged = item.judged_on in ("", state.which.judged_on)
    return item.error_over in ("", over) and judged and _has_its_users(item, state.selection)


def _has_its_users(item: Preset, selection: Selection | None) -> bool:
    """Return whether the sample has the size that a preset requires."""
    if item.users is None:
        return True
    return selection is not None and selection == sample_of(item, selection)


@lru_cache(maxsize=64)
def _presets_by_request(study_id: str) -> dict[Request, list[Preset]]:
    """Return the presets of a study by request, cached for quick lookup."""
    study = get_study(study_id)
    presets: dict[Request, list[Preset]] = {}
    for item in study.presets:
        presets.setdefault(preset_request(study, item), []).append(item)
    return presets


def follow_preset(session: Session, item: Preset, study_id: str = "") -> None:
    """Apply a preset of the current study as one undo step.

    Pins of other requests are removed: they would look like the preset's own curves.
    """
    study = get_study(study_id or session.state.study)
    request = preset_request(study, item)
    selection = session.state.selection
    if selection is not None:
        request = replace(request, selection=sample_of(item, selection))
    which, look = utility_view_of(item, session.state.which), look_of(study, item)
    text = f"choose {item.name}"
    session.follow(request, text=text, keep_pins=False, which=which, look=look)


def look_of(study: Study, item: Preset) -> PlotView | None:
    """Return the plot view of a preset; None for a map."""
    request = preset_request(study, item)
    if not request.quantity:
        return None
    return replace(default_plot_view(study, request.quantity), preset=item.key)


def preset_origin(state: SessionState) -> Preset | None:
    """Return the preset that the current plot shows or started from."""
    shown = preset_in_front(state)
    if shown is not None or not state.request.quantity:
        return shown
    key = state.look_of(state.study, state.request.quantity).preset
    return next((item for item in get_study(state.study).presets if item.key == key), None)


def changes_from(state: SessionState, item: Preset) -> list[str]:
    """Return the differences from a preset, by symbols or names."""
    study, now = get_study(state.study), state.request
    then = preset_request(study, item)
    changed = [p.symbol or p.name for p in study.parameters if now[p.key] != then[p.key]]
    if now.sweep != then.sweep:
        same_axis = now.sweep and then.sweep and now.sweep.key == then.sweep.key
        changed.append("range" if same_axis else "x axis")
    if now.seed != then.seed:
        changed.append("seed")
    if not _has_its_users(item, state.selection):
        changed.append("users")
    return changed


def utility_view_of(item: Preset, which: UtilitySettings) -> UtilitySettings | None:
    """Return the utility view of a preset; None if the preset does not set it."""
    return which.over(item.error_over, item.judged_on) if item.error_over else None


class PresetMenu(QMenu):
    """Menu of the presets of the current study; filled before it opens."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("&Presets", parent)
        self._session = session
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """List the presets of the current study."""
        self.clear()
        state = self._session.state
        there = get_study(state.study).presets
        selected = preset_in_front(state) if there else None
        for item in there:
            action = self.addAction(item.name)
            action.setCheckable(True)
            action.setChecked(selected is not None and item.key == selected.key)
            action.setToolTip(f"<p>{html.escape(item.about)}</p>")
            action.setStatusTip(item.about)
            action.triggered.connect(
                lambda _checked=False, item=item: follow_preset(self._session, item)
            )
        if not there:
            self.addAction("This study has none").setEnabled(False)


class PresetBar(QWidget):
    """Buttons for the presets and the help of the current study.

    Parameters
    ----------
    session : Session
    open_help : callable
        Opens the help page.
    """

    def __init__(self, session: Session, open_help: Callable[[], object]) -> None:
        super().__init__()
        self._session = session
        tip = "Figures, tables and examples of the paper"
        self.button = tool_button("Presets", tip, "Presets")
        self.button.setObjectName("presets")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = PresetMenu(session, self)
        self.button.setMenu(self.menu)
        tip = "What is asked, what is assumed, formulas, sources, errata (F1)"
        self.about = tool_button("About", tip, "About this question")
        self.about.clicked.connect(open_help)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(8)
        row.addWidget(self.button)
        row.addWidget(self.about)
        row.addStretch(1)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            self.button.setEnabled(bool(get_study(state.study).presets))


class _NoteText(QLabel):
    """Text that keeps the height of a preset's whole note, so that nothing below it moves."""

    def __init__(self) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self._whole = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self._whole.hide()

    def write(self, text: str, whole: str) -> None:
        """Set the text, and the one whose height is kept."""
        self._whole.setText(whole)
        self.setText(text)

    def heightForWidth(self, width: int) -> int:
        """Return the larger height of both texts, in pixels."""
        return max(super().heightForWidth(width), self._whole.heightForWidth(width))


class PresetNote(QFrame):
    """Published value of the current preset and the value computed here.

    After a change one line states what changed, with a button to restore the preset.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preset-note")
        self._session = session
        self.words = _NoteText()
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        follow_links(self.words)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.words.setAccessibleName("About this preset")
        self.back = tool_button("↺ back", "", "Back to the figure", quiet=True)
        kept = self.back.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.back.setSizePolicy(kept)
        self.back.clicked.connect(self._go_back)
        self._behind: Preset | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 6)
        layout.addWidget(self.words, 1)
        layout.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        unchanged = old is not None and (old.study, old.requests, old.selection, old.looks) == (
            state.study,
            state.requests,
            state.selection,
            state.looks,
        )
        if unchanged:
            return
        item = self._behind = preset_origin(state)
        if item is not None:
            changed = changes_from(state, item)
            note = _note_html(item)
            words = _changed_html(item, changed) if changed else note
            if words != self.words.text():
                self.words.write(words, note)
            self.back.setVisible(bool(changed))
            self.back.setToolTip(f"Ask again what {item.name} asks")
        self.setVisible(item is not None)

    def _go_back(self) -> None:
        if self._behind is not None:
            follow_preset(self._session, self._behind)


def _changed_html(item: Preset, changed: list[str]) -> str:
    named = ", ".join(changed[:MAX_CHANGES])
    more = f" and {len(changed) - MAX_CHANGES} more" if len(changed) > MAX_CHANGES else ""
    return f"<b>{html.escape(item.name)}</b> · changed: {html.escape(named + more)}"


def _note_html(item: Preset) -> str:
    parts = [f"<b>{html.escape(item.name)}.</b> {link_labels(item.about)}"]
    if item.published:
        parts.append(f"<b>Paper:</b> {link_labels(item.published)}")
    if item.computed:
        parts.append(f"<b>Here:</b> {link_labels(item.computed)}")
    return "<br>".join(parts)


MAX_NAMED_PARAMETERS = 2
"""Maximum number of parameters named; one less beside a preset's name."""


class QuestionHeader(QWidget):
    """Name and question of the current study.

    Attributes
    ----------
    all : QToolButton
        Shows the start page; stands in the title of the dock.

    Parameters
    ----------
    session : Session
    show_all : callable
        Shows the start page.
    """

    def __init__(self, session: Session, show_all: Callable[[], object]) -> None:
        super().__init__()
        self.all = tool_button("‹ All questions", "All questions (Alt+Home)", link=True)
        self.all.clicked.connect(lambda: show_all())
        self.name = styled_label("subtitle", word_wrap=True)
        self.question = styled_label("muted", word_wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.name)
        column.addWidget(self.question)
        session.changed.connect(self._state_changed)
        self._state_changed(session.state, None)

    def _state_changed(self, state: SessionState, old: SessionState | None) -> None:
        if old is None or old.study != state.study:
            shown = study_info(state.study)
            self.name.setText(shown.name)
            self.question.setText(shown.question)


def state_words(state: SessionState) -> str:
    """Show the study, its preset and its main parameters in one line."""
    study, request = get_study(state.study), state.request
    shown = preset_in_front(state) if study.presets else None
    words = [study_info(state.study).name] + ([shown.name] if shown else [])
    values = dict(request.values)
    for key in study.default_sliders(request)[: MAX_NAMED_PARAMETERS - len(words) + 1]:
        words.append(parameter_text(with_unit(parameter(study, key), values), values[key]))
    return ", ".join(words)[:200]
