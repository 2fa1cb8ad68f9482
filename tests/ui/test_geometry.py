"""Controls keep their place through a session: nothing moves that the user does not move."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget

from explorer.studies.registry import get_study
from explorer.ui.base.errors import Problem
from explorer.ui.bounds.legend import Legend
from explorer.ui.panels.headline import HeadlineStrip
from explorer.ui.panels.presets import follow_preset
from explorer.ui.plot.curve_plot import BoundsPlot
from explorer.ui.widgets.number_slider import NumberSlider
from tests.ui.small_map import SMALL_MAP

SIZES = ((1280, 800), (1024, 720))
KINDS = (
    QAbstractButton,
    QLineEdit,
    QComboBox,
    NumberSlider,
    BoundsPlot,
    Legend,
    HeadlineStrip,
)


def places(window: QWidget) -> dict[int, tuple[str, QRect]]:
    """Return the rectangles of all visible controls in the window, by id."""
    found = {}
    for widget in window.findChildren(QWidget):
        if isinstance(widget, KINDS) and widget.isVisible():
            corner = widget.mapTo(window, QPoint(0, 0))
            name = f"{type(widget).__name__} {widget.accessibleName() or widget.objectName()}"
            found[id(widget)] = (name, QRect(corner, widget.size()))
    return found


def moved(before: dict, after: dict) -> list[str]:
    """Return what has another rectangle than before, of what was there before."""
    return [
        f"{name}: {place.getRect()} → {after[key][1].getRect()}"
        for key, (name, place) in before.items()
        if key in after and after[key][1] != place
    ]


@pytest.mark.parametrize(
    ("study", "size"), [("shuffle-rdp", (1024, 720)), ("unbounded", (1280, 800))]
)
def test_no_control_moves_through_a_session_of_curves(
    open_window, settled, qtbot, study, size
) -> None:
    window = open_window(study=study)
    window.session.set_sweep(replace(window.session.request().sweep, points=9))
    window.resize(*size)
    settled(window)
    qtbot.wait(300)
    page, key = window.workspaces["bounds"], {"shuffle-rdp": "eps0", "unbounded": "eps"}[study]
    row = window.parameters.row(key)
    before, found = places(window), []
    assert len(before) > 20

    def look(step: str) -> None:
        found.extend(f"{step}: {text}" for text in moved(before, places(window)))

    drag(row.slider, qtbot, look)
    settled(window)
    look("rest")
    row.field.setFocus()
    row.field.selectAll()
    QTest.keyClicks(row.field, "2oo")
    QTest.keyClick(row.field, Qt.Key.Key_Tab)
    look("refused number")
    QTest.keyClick(row.field, Qt.Key.Key_Escape)
    window.session.undo()
    settled(window)
    look("undo")
    page.solve_action.trigger()
    qtbot.waitUntil(page.solve_bar.isVisible)
    page.solve_action.trigger()
    qtbot.waitUntil(lambda: not page.solve_bar.isVisible())
    qtbot.wait(100)
    look("solve, opened and closed")
    assert list(dict.fromkeys(found)) == []


def test_no_control_moves_while_the_maps_epsilon_is_dragged(open_window, settled, qtbot) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    window.resize(1024, 720)
    settled(window)
    qtbot.wait(300)
    slider, before, found = window.parameters.row("epsilon").slider, places(window), []
    middle = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=middle)
    for step in range(10):
        QTest.mouseMove(slider, middle + QPoint(8 * step - 40, 0))
        qtbot.wait(30)
        found += [f"drag: {text}" for text in moved(before, places(window))]
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)
    settled(window)
    found += [f"rest: {text}" for text in moved(before, places(window))]
    assert list(dict.fromkeys(found)) == []


def test_a_message_moves_nothing_on_a_page_of_bounds(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    for size in SIZES:
        window.resize(*size)
        qtbot.wait(300)
        before = places(window)
        window.show_problem(Problem("export", "The disk is full. " * 12, "Traceback"))
        QApplication.processEvents()
        assert window.banner.isVisible()
        assert moved(before, places(window)) == [], size
        window.banner.more.click()
        QApplication.processEvents()
        assert moved(before, places(window)) == [], size
        window.banner.shut.click()
        QApplication.processEvents()
        assert moved(before, places(window)) == [], size


def test_messages_lie_over_the_page(open_window, settled, qtbot) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    for size in SIZES:
        window.resize(*size)
        qtbot.wait(300)
        _messages_lie_over_the_page(window, size)


def _messages_lie_over_the_page(window, size: tuple[int, int]) -> None:
    page, before = window.workspaces["map"], places(window)
    stamps = [slot.stamp for slot in page.panes.slots.values()]
    page.set_region_box((40.0, -74.0, 40.0, -74.0))  # no area
    window.show_problem(Problem("export", "The disk is full. " * 12, "Traceback"))
    QApplication.processEvents()
    assert moved(before, places(window)) == []
    for banner in (page.banner, window.banner):
        over = banner.parentWidget()
        assert banner.isVisible()
        assert over.rect().contains(banner.geometry())
        assert banner.text.height() >= banner.text.heightForWidth(banner.text.width())
        for stamp in stamps:
            stamped = QRect(stamp.mapTo(window, QPoint()), stamp.size())
            covers = QRect(banner.mapTo(window, QPoint()), banner.size())
            assert not covers.intersects(stamped)
    one_line = window.banner.height()
    window.banner.more.click()
    assert window.banner.height() > one_line
    window.resize(size[0] + 60, size[1])
    assert window.banner.width() == window.centralWidget().width() - 8
    window.banner.shut.click()
    page.banner.shut.click()
    window.resize(*size)
    QApplication.processEvents()
    assert moved(before, places(window)) == []


def drag(slider: NumberSlider, qtbot, look) -> None:
    """Move a slider's thumb in ten steps, and call `look` after each."""
    middle = QPoint(slider.width() // 2, slider.height() // 2)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=middle)
    for step in range(10):
        QTest.mouseMove(slider, middle + QPoint(8 * step - 40, 0))
        qtbot.wait(30)
        look("drag")
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)


def test_no_control_moves_when_a_preset_s_values_change(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    window.resize(1024, 720)
    settled(window)
    preset = next(p for p in get_study("amplification").presets if p.quantity in ("", "eps"))
    follow_preset(window.session, preset)
    settled(window)
    qtbot.wait(300)
    assert window.workspaces["bounds"].preset_note.isVisible()
    before, found = places(window), []

    def look(step: str) -> None:
        found.extend(f"{step}: {text}" for text in moved(before, places(window)))

    drag(window.parameters.row("n").slider, qtbot, look)
    settled(window)
    look("rest")
    window.session.undo()
    settled(window)
    look("undo")
    assert list(dict.fromkeys(found)) == []


def test_names_at_the_ends_of_curves_keep_their_column(open_window, settled, qtbot) -> None:
    window = open_window(study="shuffle-rdp")
    window.session.set_sweep(replace(window.session.request().sweep, points=9))
    window.resize(1280, 800)
    settled(window)
    qtbot.wait(300)
    names = window.workspaces["bounds"].plot.end_names
    widths, listed = set(), set()

    def look(_step: str) -> None:
        widths.add(names.size().width())
        listed.add(frozenset(item.name for item, _, _ in names.placed()))
        assert not names.overlaps()

    look("before")
    drag(window.parameters.row("eps0").slider, qtbot, look)
    settled(window)
    look("rest")
    assert len(widths) == 1
    assert len(listed) == 1


def test_no_control_moves_while_numbers_of_a_tool_are_computed(open_window, settled, qtbot) -> None:
    window = open_window(study="amplification")
    settled(window)
    window.workspaces["bounds"].add_to_comparison()
    before, found = {}, []

    def look(step: str) -> None:
        found.extend(f"{step}: {text}" for text in moved(before, places(window)))

    for tool in ("compare", "sweep"):
        window.show_tool(tool)
        qtbot.waitUntil(window.tools[tool].isVisible)
        qtbot.wait(500)
        before = places(window)
        drag(window.parameters.row("n").slider, qtbot, look)
        qtbot.wait(500)
        look(f"rest in {tool}")
        window.session.undo()
        qtbot.wait(500)
        look(f"undo in {tool}")
    assert list(dict.fromkeys(found)) == []


@pytest.mark.parametrize("size", SIZES)
def test_the_window_keeps_its_size_and_a_page_its_places_on_the_way_through_all(
    open_window, settled, qtbot, size
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    window.resize(*size)
    settled(window)
    utility, left = window.workspaces["map"].utility.action, window.sides
    steps = {
        "map": lambda: window.show_study("heatmap"),
        "data": lambda: left.setCurrentIndex(1),
        "parameters": lambda: left.setCurrentIndex(0),
        "utility": lambda: utility.setChecked(True),
        "maps": lambda: utility.setChecked(False),
        "bounds": lambda: window.show_study("unbounded"),
        **{key: lambda key=key: window.show_tool(key) for key in window.tools},
    }
    first: dict[str, dict] = {}
    found = []
    for name, step in [*steps.items(), *steps.items()]:
        step()
        settled(window)
        qtbot.waitUntil(lambda: not window.activity.running)
        qtbot.wait(100)
        assert (window.width(), window.height()) == size, name
        places_now = places(window)
        found += [
            f"{name}: {text}" for text in moved(first.setdefault(name, places_now), places_now)
        ]
    assert list(dict.fromkeys(found)) == []
