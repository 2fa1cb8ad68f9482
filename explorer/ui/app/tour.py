"""The tour: six steps on the synthetic sample, shown beside the control that each is about.

A step names a command of the menus. Its button, menu path, shortcut and the widget that it points
at follow from that command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.ui.app.frame import first_map_study
from explorer.ui.base.styled import Announcer, styled_label

if TYPE_CHECKING:
    from explorer.ui.app.context import WindowContext

_WIDTH, _GAP, _EDGE = 348, 12, 3
"""Width of the card, its distance from the control, and the width of the frame around that."""


class Commands(Protocol):
    """Part of the menus that the tour uses; they own the tour."""

    def action(self, command: str) -> QAction:
        """Return the action of a command."""

    def about(self, command: str) -> tuple[QWidget, ...]:
        """Return the widgets that a command is about."""

    def menu_of(self, command: str) -> QMenu:
        """Return the menu that contains a command."""

    def path_of(self, command: str) -> str:
        """Return the menu path of a command."""


@dataclass(frozen=True)
class TourStep:
    """A step of the tour.

    Attributes
    ----------
    id : str
    command : str
        Id of a command of the menus.
    title, text : str
    done : callable
        Returns whether the user did the step since the tour was started.
    """

    id: str
    command: str
    title: str
    text: str
    done: Callable[[Tour], bool]


class Tour(QObject):
    """Shows the steps one at a time over the window, without taking space or blocking anything.

    Parameters
    ----------
    window : WindowContext
    menus : Commands
        Its commands are the subjects of the steps.

    Attributes
    ----------
    card : TourCard or None
        Built when first started.
    place : int
        Index of the step shown.
    ticked : set of str
        Ids of the steps that the user did.
    """

    def __init__(self, window: WindowContext, menus: Commands) -> None:
        super().__init__(window)
        self.window, self.menus = window, menus
        self.card: TourCard | None = None
        self.place = 0
        self.ticked: set[str] = set()
        self.triggered: set[str] = set()
        """Commands that were run since the tour was started."""
        self.values: dict[str, object] = {}
        """Values of the question when the tour was started."""
        self._frame = _Frame(window)
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._arrange)

    @property
    def shown(self) -> bool:
        """Whether a step is shown."""
        return self.card is not None and self.card.isVisible()

    @property
    def step(self) -> TourStep:
        """The step shown."""
        return STEPS[self.place]

    def start(self, step_id: str = "") -> None:
        """Begin at a step, the first by default; a running tour begins again.

        Raises
        ------
        StopIteration
            If there is no such step.
        """
        place = next(n for n, step in enumerate(STEPS) if step_id in ("", step.id))
        self.end()
        self.ticked.clear()
        self.triggered.clear()
        self._show_map()
        self.values = dict(self.window.session.request().values)
        if self.card is None:
            self.card = TourCard(self)
            for step in STEPS:
                self.action_of(step).triggered.connect(partial(self._ran, step.command))
        self.window.session.changed.connect(self._check)
        self.window.data.loaded.connect(self._check)
        self.window.installEventFilter(self)
        _app().focusChanged.connect(self._look_soon)
        self.go(place)

    def go(self, place: int) -> None:
        """Show a step; one after the last ends the tour."""
        if place >= len(STEPS):
            self.end()
            return
        self.place = max(place, 0)
        assert self.card is not None
        self._show_map()
        self._soon.start()
        self.card.show_step()
        self.card.show()
        self.card.forward.setFocus(Qt.FocusReason.OtherFocusReason)
        self._arrange()

    def end(self) -> bool:
        """Hide the tour; return whether it was shown."""
        if self.card is None or not self.shown:
            return False
        self.window.session.changed.disconnect(self._check)
        self.window.data.loaded.disconnect(self._check)
        self.window.removeEventFilter(self)
        _app().focusChanged.disconnect(self._look_soon)
        self._soon.stop()
        inside = self.card.isAncestorOf(QApplication.focusWidget() or self.card)
        self.card.hide()
        self._frame.hide()
        if inside:
            self.window.workspace.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _ran(self, command: str) -> None:
        """Note that a command of a step was run."""
        self.triggered.add(command)
        self._look_soon()

    def _look_soon(self, *_: object) -> None:
        if self.shown:
            self._soon.start()

    def action_of(self, step: TourStep) -> QAction:
        """Return the action of a step's command."""
        return self.menus.action(step.command)

    def do(self) -> None:
        """Run the command of the step; a command that is a menu opens at its button."""
        action = self.action_of(self.step)
        button = self._button(action)
        if isinstance(button, QToolButton) and button.menu() is not None:
            button.menu().popup(button.mapToGlobal(QPoint(0, button.height())))
        else:
            action.trigger()

    def _show_map(self) -> None:
        """Put the maps in front, or leave Utility there: all steps are about one of them."""
        window, study = self.window, first_map_study()
        if window.tool or window.session.state.study != study or not window.dock_area.isVisible():
            window.show_study(study)
        utility = self.menus.action("utility")
        if self.step.command != "utility" and utility.isChecked():
            utility.trigger()

    def _button(self, action: QAction) -> QWidget | None:
        """Return the visible button of an action in the window."""
        for button in self.window.workspace.findChildren(QToolButton):
            menu = button.menu()
            if button.isVisible() and (
                button.defaultAction() is action
                or (menu is not None and menu.menuAction() is action)
            ):
                return button
        return None

    def anchor(self) -> QRect:
        """Return the rectangle in the window of what the step is about.

        It is the widget that the command names, the button or tab of its action, or the menu that
        contains it.
        """
        action, window = self.action_of(self.step), self.window
        named = (w for w in self.menus.about(self.step.command) if w.isVisible())
        widget = next(named, None) or self._button(action)
        if widget is not None:
            return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
        for tabs in window.workspace.findChildren(QTabBar):
            for place in range(tabs.count()):
                if tabs.isVisible() and tabs.tabData(place) is action:
                    return tabs.tabRect(place).translated(tabs.mapTo(window, QPoint(0, 0)))
        bar = window.menuBar()
        menu = self.menus.menu_of(self.step.command)
        title = bar.actionGeometry(menu.menuAction())
        return title.translated(bar.mapTo(window, QPoint(0, 0)))

    def _check(self, *_: object) -> None:
        """Tick the steps that are done."""
        done = {step.id for step in STEPS if step.done(self)} - self.ticked
        if done and self.card is not None:
            self.ticked |= done
            self.card.show_ticks()

    def _arrange(self) -> None:
        """Check the steps; place the card beside the control, inside the window."""
        if self.card is None or not self.shown:
            return
        self._check()
        anchor, inside = self.anchor(), self.window.rect().adjusted(_GAP, _GAP, -_GAP, -_GAP)
        self._frame.surround(anchor.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE))
        self.card.setGeometry(_beside(anchor, QRect(QPoint(0, 0), self.card.minimumSize()), inside))
        self.card.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size and the layout of the window."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._look_soon()
        return super().eventFilter(watched, event)


def _app() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


class TourCard(QFrame):
    """Text of a step with its buttons.

    Parameters
    ----------
    tour : Tour
    """

    def __init__(self, tour: Tour) -> None:
        super().__init__(tour.window)
        self.setObjectName("tour")
        self._tour = tour
        self._announcer = Announcer(self)
        self.title = styled_label("subtitle", word_wrap=True)
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.command = styled_label("muted", word_wrap=True)
        self.state = styled_label("muted")
        self.run = QPushButton(autoDefault=True)
        self.back = QPushButton("Back", autoDefault=True)
        self.forward = QPushButton(autoDefault=True)
        self.skip = QPushButton("Skip the tour", autoDefault=True)
        self.skip.setObjectName("link")
        self.run.clicked.connect(tour.do)
        self.back.clicked.connect(lambda: tour.go(tour.place - 1))
        self.forward.clicked.connect(lambda: tour.go(tour.place + 1))
        self.skip.clicked.connect(tour.end)
        head = QHBoxLayout()
        head.addWidget(self.state, 1)
        head.addWidget(self.skip)
        foot = QHBoxLayout()
        foot.addWidget(self.run)
        foot.addStretch(1)
        foot.addWidget(self.back)
        foot.addWidget(self.forward)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(7)
        column.addLayout(head)
        for label in (self.title, self.text, self.command):
            column.addWidget(label)
        column.addLayout(foot)
        self.setFixedWidth(_WIDTH)
        for button in (self.run, self.back, self.forward, self.skip):
            button.installEventFilter(self)

    def show_step(self) -> None:
        """Show the texts of the present step."""
        tour, step = self._tour, self._tour.step
        action, last = tour.action_of(step), tour.place == len(STEPS) - 1
        path = tour.menus.path_of(step.command)
        keys = action.shortcut().toString()
        text = step.text
        if step.command == "sample" and (warning := _own_file(tour)):
            text += "\n" + warning
        self.title.setText(step.title)
        self.text.setText(text)
        self.command.setText(path + (f" · {keys}" if keys else ""))
        self.run.setText(path.rpartition(" ▸ ")[2])
        self.back.setEnabled(tour.place > 0)
        self.forward.setText("Finish" if last else "Next")
        self.show_ticks()
        number = f"Tour, step {tour.place + 1} of {len(STEPS)}"
        self.setAccessibleName(f"{number}: {step.title}")
        self._announcer.say(f"{number}. {step.title}. {text}")
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.setFixedHeight(layout.totalHeightForWidth(_WIDTH))

    def show_ticks(self) -> None:
        """Show which steps are done."""
        tour = self._tour
        done = "✓ done" if tour.step.id in tour.ticked else "not done yet"
        self.state.setText(f"Step {tour.place + 1} of {len(STEPS)} · {done}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the tour's keys before a button does."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            self.keyPressEvent(event)
            if event.isAccepted():
                return True
            event.accept()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on with →, back with ←; end with Escape. Enter presses the focused button."""
        does: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Right: lambda: self._tour.go(self._tour.place + 1),
            Qt.Key.Key_Left: lambda: self._tour.go(self._tour.place - 1),
            Qt.Key.Key_Escape: self._tour.end,
        }
        do = does.get(event.key())
        if do is None:
            event.ignore()
        else:
            event.accept()
            do()


class _Frame(QWidget):
    """Frame around the control of a step; the mouse reaches what is inside."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def surround(self, place: QRect) -> None:
        """Surround a rectangle of the window."""
        place = place.intersected(self._window.rect())
        self.setGeometry(place)
        inner = self.rect().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        # Only the edge is a widget: a map inside is painted without it.
        self.setMask(QRegion(self.rect()) - QRegion(inner))
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the edge in the accent colour."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().highlight())


def _beside(anchor: QRect, card: QRect, inside: QRect) -> QRect:
    """Return the card's rectangle: right of, left of, below or above a control, or over it."""
    right, left = QRect(card), QRect(card)
    below, above, over = QRect(card), QRect(card), QRect(card)
    right.moveTopLeft(anchor.topRight() + QPoint(_GAP, 0))
    left.moveTopRight(anchor.topLeft() - QPoint(_GAP, 0))
    below.moveTopLeft(anchor.bottomLeft() + QPoint(0, _GAP))
    above.moveBottomLeft(anchor.topLeft() - QPoint(0, _GAP))
    over.moveBottomRight(inside.bottomRight())
    places = [_into(place, inside) for place in (below, right, left, above)]
    return next((place for place in places if not place.intersects(anchor)), over)


def _into(place: QRect, inside: QRect) -> QRect:
    """Return a rectangle moved into another one."""
    x = min(max(place.x(), inside.left()), inside.right() - place.width())
    y = min(max(place.y(), inside.top()), inside.bottom() - place.height())
    return QRect(QPoint(x, y), place.size())


def _own_file(tour: Tour) -> str:
    """Return what happens to the user's own check-ins; empty if none are open."""
    data = tour.window.data.current
    if data is None or data.synthetic:
        return ""
    return (
        f"{data.basename} is open. The sample replaces it in this window; the file itself is not "
        "changed. Choose Next to keep it open."
    )


def _focus_in_guarantee(tour: Tour) -> bool:
    focus = QApplication.focusWidget()
    return "guarantee" in tour.triggered or (
        focus is not None
        and any(w.isAncestorOf(focus) for w in tour.menus.about("guarantee") if w.isVisible())
    )


def _changed(*keys: str) -> Callable[[Tour], bool]:
    """Return whether one of these parameters has another value than at the start."""

    def changed(tour: Tour) -> bool:
        now = dict(tour.window.session.state.request_of(first_map_study()).values)
        return any(now.get(key) != tour.values.get(key) for key in keys)

    return changed


def _sample_open(tour: Tour) -> bool:
    data = tour.window.data.current
    return data is not None and data.synthetic


STEPS = (
    TourStep(
        "open",
        "sample",
        "Open check-ins",
        "The synthetic sample holds check-ins of people who do not exist. The left map shows where "
        "they were; the right map is a private version of it.",
        _sample_open,
    ),
    TourStep(
        "drag",
        "parameters",
        "Change ε",
        "Drag the slider ε, or type a number. A smaller ε protects people better and makes the "
        "private map less accurate. Ctrl+Z undoes the change.",
        _changed("epsilon"),
    ),
    TourStep(
        "guarantee",
        "guarantee",
        "Read the guarantee",
        "The panel states who is protected, how often an attacker is right at most, and which "
        "conditions must hold.",
        _focus_in_guarantee,
    ),
    TourStep(
        "find",
        "utility",
        "Find an ε that is accurate enough",
        "The curve shows the error against ε. Drag the horizontal line to the largest error that "
        "you accept: the smallest ε that keeps the error below it is shown.",
        lambda tour: tour.menus.action("utility").isChecked(),
    ),
    TourStep(
        "compare",
        "add-map",
        "Compare mechanisms",
        "Show the map of another mechanism beside this one. Both are computed from the same "
        "check-ins with the same ε. Where there is no space for another map, choose it in the menu "
        "▾ of the private map.",
        _changed("beside", "mechanism"),
    ),
    TourStep(
        "export",
        "export",
        "Export the result",
        "Choose a format and a file. The file holds all settings, so that File ▸ Open recipe "
        "shows the same result again.",
        lambda tour: "export" in tour.triggered,
    ),
)
"""The steps, in order."""
