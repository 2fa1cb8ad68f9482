"""The release wizard: steps from an open file to a published release, footer, keys, geometry."""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget

from explorer import __version__
from explorer.checkins import Mapping
from explorer.cli import run
from explorer.engine.session.link import recipe_of
from explorer.engine.session.recipe import RecipeError
from explorer.figures.pages.released import Released
from explorer.release.errors import ReleaseError
from explorer.release.ledger.settings import default_ledger
from explorer.release.mechanisms.adaptive import PriorMasses
from explorer.release.outputs import read_prior_weights
from explorer.release.pipeline import NOT_BOOKED, draw, plan_release
from explorer.release.rows.format import FORMAT_TAKEN
from explorer.studies.base.study import Origin
from explorer.ui.app.tab_order import focus_chain, tab_stops
from explorer.ui.base.theme import LIGHT
from explorer.ui.release.controller import found_format
from explorer.ui.release.draft import (
    COPIED,
    COPIED_SENTENCE,
    NO_PERSON,
    Draft,
    LedgerState,
    PublicMap,
    points,
)
from explorer.ui.release.fields import PEOPLE
from explorer.ui.release.files import export_certificate, export_output
from explorer.ui.release.plan_page import (
    CHANGED,
    COST_PAGE,
    FILE_PAGE,
    PEOPLE_PAGE,
    REVIEW_PAGE,
    WHAT_PAGE,
    _period,
    _span,
)
from explorer.ui.release.summary_panel import bare_map, unit_of
from explorer.ui.release.workspace import CHANGED_RESULT
from tests.release.plans import opened, place_in, plan_of, write_rows
from tests.ui.small_map import SMALL_MAP
from tests.ui.test_access import check


def _rows(folder: Path) -> list[list[str]]:
    lines = write_rows(folder / "source", users=60).read_text().splitlines()
    return [line.split(",")[:4] for line in lines]


def write_snap(path: Path, folder: Path) -> None:
    """Write a tab-separated file as of SNAP: no header, times with offset."""
    lines = ["\t".join((*row, str(place))) for place, row in enumerate(_rows(folder))]
    path.write_text("\n".join(lines) + "\n")


def write_german(path: Path, folder: Path) -> None:
    """Write a semicolon-separated file with decimal commas and times without offset."""
    lines = ["user;time;lat;lon"]
    for user, time, lat, lon in _rows(folder):
        day, hour = re.match(r"(\S+)T(\d\d:\d\d)", time).groups()
        when = f"{day[8:]}.{day[5:7]}.{day[:4]} {hour}"
        lines.append(";".join((user, when, lat.replace(".", ","), lon.replace(".", ","))))
    path.write_text("\n".join(lines) + "\n")


class Curator:
    """Drives the window with mouse and keyboard, and counts steps other than *Next*."""

    def __init__(self, qtbot, window) -> None:
        self.qtbot, self.window, self.steps = qtbot, window, 0

    def click(self, button: QWidget) -> None:
        """Click a button that is visible and enabled."""
        assert button.isVisible()
        assert button.isEnabled()
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        self.steps += 1

    def type(self, text: str) -> None:
        """Type into the field that has the focus."""
        self.qtbot.keyClicks(self.window.focusWidget(), text)
        self.steps += 1

    def next(self) -> None:
        """Press Enter."""
        self.qtbot.keyClick(self.window.focusWidget(), Qt.Key.Key_Return)


@pytest.fixture
def opened_window(open_window, settled, qtbot, monkeypatch, tmp_path):
    """Return a function that opens a file in a window with a ledger of one group."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def open_with(path: Path):
        window = open_window(study="heatmap", values=SMALL_MAP)
        settled(window)
        window.files.open_data(path)
        qtbot.waitUntil(lambda: window.data.current.basename == path.name and not window.busy)
        qtbot.waitUntil(lambda: default_ledger().exists())
        settled(window)
        return window

    return open_with


def with_group(window, qtbot):
    """Return the page once the ledger has one group of people."""
    page = window.tools["release"]
    opened(page.controller.place)
    return page


@pytest.mark.main_path
@pytest.mark.parametrize(
    ("name", "write", "limit"),
    [
        ("snap.tsv", write_snap, 7),
        pytest.param("besuche.csv", write_german, 8, marks=pytest.mark.full),
    ],
)
def test_a_file_is_released_in_few_steps(
    opened_window, qtbot, tmp_path, name, write, limit
) -> None:
    """From an open file with an open account to a published release; *Next* is not counted."""
    write(tmp_path / name, tmp_path)
    window = opened_window(tmp_path / name)
    page = with_group(window, qtbot)
    plan, person = page.plan, Curator(qtbot, window)
    place = next(k for k in range(window.tabs.count()) if window.tabs.tabText(k) == "Release")
    window.show_tab(place)
    person.steps += 1
    qtbot.waitUntil(lambda: plan.ledger is not None and not page.controller.busy)
    assert plan.page == PEOPLE_PAGE
    person.next()
    assert plan.page == FILE_PAGE
    qtbot.waitUntil(plan.found.isEnabled)
    person.click(plan.found)
    qtbot.waitUntil(lambda: plan.draft.format_taken)
    if plan.points[FILE_PAGE].field == "time_zone":
        person.type("Europe/Berlin")
    qtbot.waitUntil(lambda: plan.checked is not None and not page.controller.busy)
    rows = plan.checked.rows
    assert rows.readable == rows.rows == len(_rows(tmp_path))
    person.next()
    assert plan.page == WHAT_PAGE
    person.click(plan.copy)
    person.type("100")
    person.next()
    assert plan.page == COST_PAGE
    person.click(plan.copy_epsilon)
    person.next()
    assert plan.page == REVIEW_PAGE
    qtbot.waitUntil(lambda: plan.checked is not None and plan.draw.isEnabled())
    person.click(plan.draw)
    qtbot.waitUntil(lambda: page.front == "Result" and page.result.publish.isEnabled())
    person.click(page.result.publish)
    qtbot.waitUntil(page.result.export_button.isEnabled)
    assert window.focusWidget() is page.result.export_button
    assert person.steps <= limit
    # The certificate says what was taken from the file and from the map.
    declared = plan.draft.declared()
    assert declared.format == FORMAT_TAKEN
    assert not declared.independent_of_data
    assert {COPIED.format(names="The box was"), COPIED.format(names="ε was")} <= set(
        declared.conditions
    )
    assert COPIED_SENTENCE.format(names="Region") in declared.conditions
    with page.controller.place.open() as ledger:
        assert [r.state for r in ledger.releases()] == ["published"]


def frame_of(plan) -> dict[str, QRect]:
    """Return the geometry of what stands at the same place on each page."""
    parts = {
        "steps": plan.steps,
        "title": plan.title,
        "subtitle": plan.subtitle,
        "body": plan.stack,
        "footer": plan.footer,
        "cancel": plan.cancel,
        "message": plan.message,
        "back": plan.back,
        "next": plan.next,
        "side": plan.side,
        "details": plan.details.heading,
        **{f"step {k}": button for k, button in enumerate(plan.steps.buttons)},
    }
    return {
        name: QRect(part.mapTo(plan, part.rect().topLeft()), part.rect().bottomRight() * 1)
        if name not in ("title", "subtitle")
        else QRect(part.mapTo(plan, part.rect().topLeft()), part.rect().bottomLeft())
        for name, part in parts.items()
    }


def edge_of(field: QWidget) -> str:
    """Return the colour of a field's frame."""
    return field.grab().toImage().pixelColor(field.width() // 2, 0).name()


def of_page(area) -> dict[int, QRect]:
    """Return the geometry of all visible controls of a page."""
    return {
        id(part): part.geometry()
        for part in area.findChildren(QWidget)
        if part.isVisible() and not part.objectName().startswith("qt_")
    }


def test_nothing_moves_between_pages_and_while_typing(plain_window, qtbot, tmp_path) -> None:
    plain_window.show_tool("release")
    plan, rows = plain_window.tools["release"].plan, write_rows(tmp_path / "rows.csv")
    qtbot.waitUntil(lambda: plan.ledger is not None)
    for size in ((1280, 800), (1024, 720)):
        plain_window.resize(*size)
        plan.show_draft(Draft())
        plan.show_page(PEOPLE_PAGE)
        qtbot.waitUntil(lambda width=size[0]: plain_window.width() == width)
        qtbot.wait(30)
        assert plan.side.width() == (328 if size[0] > 1024 else 232)
        _nothing_moves(plan, qtbot, rows)


def _nothing_moves(plan, qtbot, rows: Path) -> None:
    before = frame_of(plan)
    for number in range(REVIEW_PAGE + 1):
        plan.show_page(number)
        qtbot.wait(10)
        assert frame_of(plan) == before, number
    # Messages, remarks and results have reserved space.
    for number, change in (
        (PEOPLE_PAGE, lambda: plan.go_on()),
        (FILE_PAGE, lambda: plan.path.setText("nowhere.csv")),
        (FILE_PAGE, lambda: plan._typed("data", str(rows))),
        (FILE_PAGE, lambda: plan.go_on()),
        (WHAT_PAGE, lambda: plan.show_draft(plan.draft.with_copies({"box": "1, 2, 3, 4"}))),
        (WHAT_PAGE, lambda: plan.show_draft(plan.draft.with_copies({"box": "3, 2, 1, 4"}))),
        (COST_PAGE, lambda: plan._typed("epsilon", "1")),
        (COST_PAGE, lambda: plan._typed("epsilon", "1000")),
        (REVIEW_PAGE, lambda: plan.note(REVIEW_PAGE, "Two lines of text. " * 8)),
    ):
        plan.show_page(number)
        qtbot.wait(10)
        inside = of_page(plan.areas[number])
        change()
        qtbot.wait(10)
        assert frame_of(plan) == before, number
        after = of_page(plan.areas[number])
        kept = inside.keys() & after.keys()
        assert {k: after[k] for k in kept} == {k: inside[k] for k in kept}, number


def test_tab_goes_through_each_page_from_the_top_then_the_footer(
    plain_window, qtbot, monkeypatch, tmp_path
) -> None:
    window, page = plain_window, plain_window.tools["release"]
    opened(page.controller.place)
    window.show_tool("release")
    plan = page.plan
    qtbot.waitUntil(lambda: plan.ledger is not None and bool(plan.who.rows))
    (group,) = plan.who.rows.values()
    form, texts = plan.form.edits, plan.texts.edits
    region, size = plan.own.edits, plan.cells.edits
    orders = (
        (group.radio, plan.who.name, plan.who.budget, plan.who.button),
        (plan.found, plan.path, form["delimiter"], form["time_zone"], form["columns"], plan.check),
        (
            *(plan.mechanism, plan.copy, *plan.sides, region["start"], region["end"]),
            *(size["side"], size[PEOPLE], plan.untouched, plan.explained, plan.sentence),
        ),
        (plan.copy_epsilon, plan.epsilon, plan.slider, plan.rehearse),
        (*texts.values(), plan.stated.heading, *plan.changes, plan.draw),
    )
    for number, fields in enumerate(orders):
        plan.show_page(number)
        for part in fields:
            part.setEnabled(True)
        stops = tab_stops(window, window.tab_areas())
        footer = (plan.details.heading, plan.back, plan.next, plan.cancel, *plan.steps.buttons)
        wanted = [*fields, *(part for part in footer if part in stops)]
        places = [stops.index(part) for part in wanted]
        assert places == sorted(places), number
        assert len(wanted) >= len(fields) + 3


def test_enter_goes_on_escape_leaves_and_neither_spends(
    open_window, settled, qtbot, monkeypatch, tmp_path
) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    window = open_window(study="unbounded")
    settled(window)
    window.show_tool("release")
    page = window.tools["release"]
    plan = page.plan
    qtbot.waitUntil(lambda: plan.ledger is not None and not page.controller.busy)
    drawn = []
    plan.draw_requested.connect(drawn.append)
    # Without a group Enter stays and says why, in the footer, and marks the field.
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    assert plan.page == PEOPLE_PAGE
    assert "name" in plan.message.text()
    assert window.focusWidget() is plan.who.name
    assert edge_of(plan.who.name) == LIGHT.bad
    qtbot.keyClicks(plan.who.name, "Visitors")
    assert plan.message.text() == ""
    assert edge_of(plan.who.name) == LIGHT.accent
    qtbot.keyClicks(plan.who.budget, "2")
    plan.who.button.click()
    qtbot.waitUntil(lambda: plan.points[PEOPLE_PAGE].ok)
    qtbot.keyClick(plan.who.name, Qt.Key.Key_Return)
    assert plan.page == FILE_PAGE
    # The frame of a list that is to be chosen is red, although it has the focus.
    plan._typed("data", str(write_rows(tmp_path / "rows.csv")))
    qtbot.keyClick(plan.path, Qt.Key.Key_Return)
    assert window.focusWidget() is plan.form.edits["delimiter"]
    assert edge_of(window.focusWidget()) == LIGHT.bad
    # A done step is opened by Alt and its number, a later one is not.
    qtbot.keyClick(plan.path, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert plan.page == FILE_PAGE
    qtbot.keyClick(plan.path, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert plan.page == PEOPLE_PAGE
    plan.show_page(REVIEW_PAGE)
    plan.draw.setFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(window.focusWidget(), key)
    assert plan.page == REVIEW_PAGE
    assert drawn == []
    before = plan.draft
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert window.tool is None
    window.show_tool("release")
    assert plan.draft == before


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ("-74.1", "-73.75", "74.1 to 73.75° W"),
        ("-0.5", "0.2", "0.5° W to 0.2° E"),
        ("3", "4", "3 to 4° E"),
    ],
)
def test_degrees_are_written_as_on_maps(low: str, high: str, words: str) -> None:
    assert _span(low, high, "WE") == words


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "1 Jan 2026 to 1 Feb 2026 UTC"),
        (
            "2026-01-01T08:30:00Z",
            "2026-01-01T08:30:05",
            "1 Jan 2026, 08:30 to 1 Jan 2026, 08:30:05 UTC",
        ),
        ("2026-01-01T00:30:00+01:00", "", "from 31 Dec 2025, 23:30 UTC"),
        ("", "2026-01-01", "until 1 Jan 2026 UTC"),
        ("", "", ""),
    ],
)
def test_a_time_range_is_in_words(start: str, end: str, words: str) -> None:
    assert _period(start, end) == words


def test_each_page_names_the_first_thing_to_mend(tmp_path) -> None:
    """Messages name the field; the texts are those of the page on the wizard."""
    place = place_in(tmp_path)
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    population = opened(place, budget=1)
    with place.open() as ledger:
        state = LedgerState(place, True, accounts=ledger.accounts())
    rows = write_rows(tmp_path / "rows.csv")
    complete = {
        "data": str(rows),
        "columns": "user, time, lat, lon, kind, amount",
        "delimiter": "comma",
        "header": "no",
        "time_zone": "UTC",
        "box": "40, -75, 41, -73",
        "side": "64",
        PEOPLE: "100",
        "epsilon": "1/2",
    }
    start = Draft(population=population, typed=complete, untouched=True)
    assert all(point.ok for point in points(start, state))
    for page, key, text, field in (
        (FILE_PAGE, "data", "", "data"),
        (FILE_PAGE, "data", str(tmp_path / "a.parquet"), "data"),
        (FILE_PAGE, "columns", "", "columns"),
        (FILE_PAGE, "columns", "who, time, lat, lon", "columns"),
        (FILE_PAGE, "time_zone", "", "time_zone"),
        (WHAT_PAGE, "side", "", "side"),
        (WHAT_PAGE, "side", "2561000", "side"),
        (WHAT_PAGE, PEOPLE, "0", PEOPLE),
        (WHAT_PAGE, "box", "41, -75, 40, -73", "box"),
        (COST_PAGE, "epsilon", "1/0", "epsilon"),
        (COST_PAGE, "epsilon", "", "epsilon"),
        (COST_PAGE, "epsilon", "2", "epsilon"),
    ):
        point = points(start.with_text(key, text), state)[page]
        assert (point.ok, point.field) == (False, field), (key, text, point)
        assert point.message.endswith(".")
    listed, named = (
        points(start.with_text("columns", text), state)[FILE_PAGE].message
        for text in ("", "who, time, lat, lon")
    )
    assert listed != named
    assert all(name in named for name in ("user", "time", "lat", "lon"))
    times = start.with_text("start", "2026-02-01T00:00:00Z").with_text(
        "end", "2026-01-01T00:00:00Z"
    )
    assert points(times, state)[WHAT_PAGE].field == "end"
    undecided = Draft(population=population, typed=complete)
    assert points(undecided, state)[WHAT_PAGE].field == "sentence"
    assert points(Draft(typed=complete, untouched=True), state)[PEOPLE_PAGE].field == "population"


def test_public_maps_wait_for_names_and_numbers_and_keep_to_the_rules(tmp_path) -> None:
    """A file needs a name, all must be read, and an earlier release has half of this one's ε."""
    place = place_in(tmp_path)
    population, rows = opened(place, budget=3), write_rows(tmp_path / "rows.csv")
    earlier = plan_of(population, rows, mechanism="heatmap.pyramid/1", epsilon="1/4")
    with place.open() as ledger:
        release = plan_release(ledger, earlier)
        other = ledger.open_population("sum", Fraction(3), "Others")
        state = LedgerState(place, True, accounts=ledger.accounts(), releases=ledger.releases())
    typed = {
        "data": str(rows),
        "columns": "user, time, lat, lon, kind, amount",
        "delimiter": "comma",
        "header": "no",
        "time_zone": "UTC",
        "box": "40.5, -74.25, 40.9, -73.7",
        "side": "16",
        PEOPLE: "100",
        "epsilon": "1/2",
    }
    start = Draft(population, "heatmap.adaptive/2", typed, untouched=True)
    file = PublicMap("checkins", "ab" * 32, "Service X", str(tmp_path / "x.csv"))
    maps = (file, PublicMap("cities", __version__), PublicMap("release", release))
    draft = replace(start, maps=maps)

    def read(draft: Draft, **wrong: str) -> Draft:
        masses = PriorMasses(np.ones((16, 16)))
        return replace(draft, read={key: wrong.get(key[0], masses) for key in draft.map_keys()})

    def message(draft: Draft, page: int = WHAT_PAGE) -> tuple[bool, str]:
        point = points(draft, state)[page]
        return point.ok, point.field

    assert draft.map_keys()[0] == ("checkins", "ab" * 32, (40.5, -74.25, 40.9, -73.7), 4)
    assert message(draft) == (False, "priors")  # not read
    assert all(point.ok for point in points(read(draft), state))
    plan = read(draft).plan()
    assert [one.text for one in plan.own_parameters.priors] == [one.text for one in maps]
    assert plan.own_parameters.given is not None
    assert read(draft).rehearsal().own_parameters.given is not None
    assert draft.plan().own_parameters.given is None
    assert points(read(draft, checkins="It is damaged."), state)[WHAT_PAGE].message == (
        "It is damaged."
    )
    for label in ("", " ", "/home/me/x.csv", "x" * 201):
        unnamed = replace(draft, maps=(replace(file, label=label), *maps[1:]))
        assert message(read(unnamed)) == (False, "priors"), label
        assert draft.to_check() == start.to_check() == unnamed.to_check()
    assert message(read(draft.with_text("epsilon", "51/100")), COST_PAGE) == (False, "epsilon")
    assert message(read(replace(draft, population=other))) == (False, "priors")
    itself = replace(draft, maps=(replace(file, path=str(rows)),))
    assert message(read(itself)) == (False, "priors")
    # other mechanisms and cells have nothing to do with them
    assert not replace(draft, mechanism="heatmap.adaptive/1").map_keys()
    assert all(p.ok for p in points(replace(draft, mechanism="heatmap.adaptive/1"), state))
    assert message(read(draft).with_text("side", "32")) == (False, "priors")


@pytest.mark.full
def test_public_maps_are_chosen_on_page_3_and_verified(
    plain_window, qtbot, tmp_path, monkeypatch
) -> None:
    window, rows = plain_window, write_rows(tmp_path / "rows.csv", 300)
    page = ready_page(window, qtbot, rows)
    plan, place = page.plan, page.controller.place
    with place.open() as ledger:
        people = ledger.accounts()[0].population
        first = plan_of(people, rows, mechanism="heatmap.pyramid/1")
        release = plan_release(ledger, first)
    draw(place, first, release)
    page.controller.read()
    drawn = (release, "committed")
    qtbot.waitUntil(lambda: drawn in [(one.id, one.state) for one in page.ledger.releases])
    others, far = tmp_path / "others.csv", tmp_path / "far.csv"
    row = "{0},2025-01-01T10:00:00Z,{1:.4f},{2:.4f}\n"
    for path, south in ((others, 40.5), (far, 10.0)):
        lines = (row.format(k, south + 0.01 * (k % 40), -74.25 + 0.01 * k) for k in range(50))
        path.write_text("user,time,lat,lon\n" + "".join(lines))
    plan.show_page(WHAT_PAGE)
    assert not plan.maps.isVisible()
    plan.mechanism.setCurrentIndex(plan.mechanism.findData("heatmap.adaptive/2"))
    assert plan.maps.isVisible()
    assert plan.step_done(WHAT_PAGE)  # they are optional

    def add(place_in_menu: int, path: Path | None = None) -> None:
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
        number = len(plan.draft.maps)
        plan.maps.add_button.click()
        qtbot.waitUntil(plan.maps.menu.isVisible)
        plan.maps.menu.close()
        plan.maps.menu.actions()[place_in_menu].trigger()
        qtbot.waitUntil(lambda: len(plan.draft.maps) == number + 1)

    add(0, others)
    assert not plan.step_done(WHAT_PAGE)
    assert plan.maps.labels[0].property("wrong")
    qtbot.keyClicks(window.focusWidget(), "Service X")  # its field has the focus
    qtbot.waitUntil(lambda: plan.step_done(WHAT_PAGE))
    assert not plan.maps.labels[0].property("wrong")
    add(3)
    qtbot.waitUntil(lambda: plan.step_done(WHAT_PAGE))
    plan.maps.add_button.click()
    assert not plan.maps.menu.actions()[3].isEnabled()  # it is there
    plan.maps.menu.close()
    add(0, far)
    qtbot.keyClicks(window.focusWidget(), "Wrong")
    qtbot.waitUntil(lambda: any(isinstance(v, str) for v in plan.draft.read.values()))
    assert plan.message.text() in plan.draft.read.values()
    plan.maps.removers[2].click()
    qtbot.waitUntil(lambda: len(plan.draft.maps) == 2)
    assert window.focusWidget() is plan.maps.removers[1]
    assert check(window) == []
    chain = [w for w in focus_chain(window) if w in (*plan.maps.findChildren(QWidget), plan.draw)]
    wanted = [plan.maps.add_button, plan.maps.removers[0], plan.maps.labels[0]]
    assert [w for w in chain if w in (*wanted, plan.maps.removers[1], plan.draw)] == [
        *wanted,
        plan.maps.removers[1],
        plan.draw,
    ]
    plan.show_page(REVIEW_PAGE)
    assert "Service X" in plan.summary[2].text()
    qtbot.waitUntil(lambda: plan.draw.isEnabled() and not page.controller.busy)
    plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result")
    page.result.publish.click()
    qtbot.waitUntil(page.result.export_button.isEnabled)
    done = page.result.result
    sources = done.certificate["priors"]["sources"]
    assert [(one["kind"], one.get("label", "")) for one in sources] == [
        ("checkins", "Service X"),
        ("release", ""),
    ]
    (tmp_path / "cert.json").write_bytes(export_certificate(done, Path("cert.json")))
    words = ["verify", str(tmp_path / "cert.json"), "--ledger", str(place.ledger)]
    words += ["--prior", f"checkins:{others}", "--prior", f"release:{release}"]
    for name in ("map.csv", *(("map.tif",) if find_spec("rasterio") else ())):
        data = export_output(done, Path(name))
        assert read_prior_weights(data)
        (tmp_path / name).write_bytes(data)
        assert run([*words, "--map", str(tmp_path / name)]) == 0


def ready_page(window, qtbot, rows: Path, budget: Fraction = Fraction(3), group: str = ""):
    """Return the release tab with a complete plan of cost 1 on page 5, its file checked."""
    window.show_tool("release")
    page = window.tools["release"]
    plan, place = page.plan, page.controller.place
    qtbot.waitUntil(lambda: plan.ledger is not None and not page.controller.busy)
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    if not group:
        with place.open() as ledger:
            group = ledger.open_population("sum", budget, "Visitors")
    page.controller.read()
    qtbot.waitUntil(lambda: group in plan.who.rows)
    typed = {
        "data": str(rows),
        "columns": "user, time, lat, lon, kind, amount",
        "delimiter": "comma",
        "header": "no",
        "time_zone": "UTC",
        "box": "40.5, -74.25, 40.9, -73.7",
        "side": "16",
        PEOPLE: "100",
        "epsilon": "1",
    }
    plan.show_draft(Draft(population=group, typed=typed, untouched=True))
    plan.show_page(REVIEW_PAGE)
    qtbot.waitUntil(plan.check_here.isEnabled)  # not while the ledger is read
    plan.check_here.click()
    qtbot.waitUntil(lambda: plan.checked is not None and plan.draw.isEnabled())
    return page


@pytest.fixture
def plain_window(open_window, settled, monkeypatch, tmp_path):
    """A window with a ledger of its own."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    window = open_window(study="unbounded")
    settled(window)
    return window


def spent(page) -> Fraction:
    """Return what the ledger's only group has spent."""
    with page.controller.place.open() as ledger:
        return ledger.accounts()[0].spent_epsilon


def release_elsewhere(page, rows: Path, state: str = "committed") -> str:
    """Enter a release of cost 1 as another window does; return its id."""
    place = page.controller.place
    with place.open() as ledger:
        plan = plan_of(ledger.accounts()[0].population, rows, epsilon="1")
        release = plan_release(ledger, plan)
        if state == "reserved":
            ledger.reserve(release)
    if state == "committed":
        draw(place, plan, release)
    return release


def buttons_of(page, text: str) -> list[QPushButton]:
    """Return the visible buttons of the list of unfinished releases with a text."""
    found = page.unfinished.findChildren(QPushButton)
    return [b for b in found if b.text() == text and b.isVisible() and b.isEnabled()]


def test_a_release_shows_its_phases_and_can_be_cancelled_before_its_draw(
    plain_window, qtbot, tmp_path
) -> None:
    page = ready_page(plain_window, qtbot, write_rows(tmp_path / "rows.csv", users=3000))
    plan = page.plan
    assert plan.phases.current == -1
    assert not plan.phases.bar.isVisible()
    # Cancel while the process starts or reads: nothing is spent, the draft stays.
    plan.draw.click()
    assert plan.phases.current == 0
    assert plan.phases.bar.isVisible()
    assert (plan.cancel.isEnabled(), plan.back.isEnabled(), plan.next.isEnabled()) == (
        True,
        False,
        False,
    )
    before = plan.draft
    qtbot.keyClick(plain_window.focusWidget(), Qt.Key.Key_Escape)
    assert plan.cancelling
    assert not plan.cancel.isEnabled()
    qtbot.waitUntil(lambda: not plan.releasing and not page.controller.busy)
    assert (plan.page, plan.draft, spent(page)) == (REVIEW_PAGE, before, 0)
    assert plan.message.text() == NOT_BOOKED
    # All phases; Cancel is off from the draw on.
    seen = []
    page.controller.phase_changed.connect(
        lambda phase: seen.append((phase, plan.phases.current, plan.cancel.isEnabled()))
    )
    plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result")
    assert seen == [("read", 0, True), ("book", 1, True), ("draw", 2, False), ("store", 3, False)]
    assert plain_window.focusWidget() is page.result.picture
    assert spent(page) == 1


def test_a_changed_file_and_what_another_window_has_spent_are_named_before_the_draw(
    plain_window, qtbot, tmp_path
) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    page = ready_page(plain_window, qtbot, rows, Fraction(3, 2))
    plan = page.plan
    rows.write_text(rows.read_text() + "u1,2026-01-02T00:00:00Z,40.6,-74,food,1\n")
    plan.draw.click()
    assert plan.message.text() == CHANGED
    assert plain_window.focusWidget() is plan.check_here
    assert (plan.releasing, spent(page)) == (False, 0)
    plan.check_here.click()
    qtbot.waitUntil(lambda: plan.checked is not None and plan.draw.isEnabled())
    release_elsewhere(page, rows)
    plan.draw.click()
    qtbot.waitUntil(lambda: bool(plan.message.text()) and not plan.releasing)
    assert plan.message.text().startswith("Another window has spent 1; 0.5 remains.")
    assert spent(page) == 1


def test_a_full_disk_costs_nothing(plain_window, qtbot, tmp_path, monkeypatch) -> None:
    page = ready_page(plain_window, qtbot, write_rows(tmp_path / "rows.csv"))
    # The process of the release finds the disk full: only the system's answer is another.
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "sitecustomize.py").write_text(
        "import shutil\nusage = shutil.disk_usage\n"
        "shutil.disk_usage = lambda path: usage(path)._replace(free=0)\n"
    )
    paths = os.pathsep.join(filter(None, (str(tmp_path / "full"), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", paths)
    page.plan.draw.click()
    qtbot.waitUntil(lambda: bool(page.plan.message.text()) and not page.plan.releasing)
    assert re.match(r"\d MB are missing", page.plan.message.text())
    with page.controller.place.open() as ledger:
        assert [release.state for release in ledger.releases()] == ["abandoned"]
    assert spent(page) == 0


def test_interrupted_releases_are_listed_on_page_1(plain_window, qtbot, tmp_path) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    page = ready_page(plain_window, qtbot, rows)
    for state in ("reserved", "committed"):
        release_elsewhere(page, rows, state)
    started = release_elsewhere(page, rows, "reserved")
    with page.controller.place.open() as ledger:
        ledger.start(started)  # closed before it is committed
    page.plan.show_page(PEOPLE_PAGE)
    page.controller.read()
    qtbot.waitUntil(lambda: bool(buttons_of(page, "Refund")) and not page.controller.busy)
    listed = [label.text() for label in page.unfinished.findChildren(QLabel) if label.isVisible()]
    assert [text.partition(".")[0] for text in listed] == [
        "Prepared, not drawn",
        "Finished, not published",
        "Interrupted while drawing",
    ]
    assert "cost of 1 " in listed[2]
    assert spent(page) == 3
    buttons_of(page, "Refund")[0].click()
    qtbot.waitUntil(lambda: not buttons_of(page, "Refund") and not page.controller.busy)
    assert spent(page) == 2
    qtbot.waitUntil(lambda: bool(buttons_of(page, "Open")))
    buttons_of(page, "Open")[0].click()
    qtbot.waitUntil(lambda: page.front == "Result")


def test_a_changed_result_is_not_published_and_a_withdrawn_one_not_exported(
    plain_window, qtbot, tmp_path
) -> None:
    page = ready_page(plain_window, qtbot, write_rows(tmp_path / "rows.csv"))
    page.plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result" and page.result.publish.isEnabled())
    result = page.result
    con = sqlite3.connect(page.controller.place.ledger)
    (stored,) = con.execute("SELECT stored FROM outputs").fetchone()
    con.execute("UPDATE outputs SET stored = ?", (bytes(stored).replace(b"1", b"2"),))
    con.commit()
    result.publish.click()
    qtbot.waitUntil(lambda: bool(page.plan.message.text()))
    assert page.plan.message.text() == CHANGED_RESULT
    assert not result.export_button.isEnabled()
    con.execute("UPDATE outputs SET stored = ?", (stored,))
    con.commit()
    con.close()
    result.publish.click()
    qtbot.waitUntil(result.export_button.isEnabled)
    # The link names the certificate, and nothing of the file.
    result.link.click()
    link = QGuiApplication.clipboard().text()
    entered = result.result.release
    assert entered.id in link
    assert entered.certificate_sha256 in link
    assert "rows" not in link
    with pytest.raises(RecipeError, match=entered.certificate_sha256):
        recipe_of(link)
    # The picture shows cells as measured on request; exports do not.
    assert entered.id in page.plan.detail_text.text()
    what = result.picture.what
    smooth = what.grid
    factor, unit = unit_of(what)
    cell = what.region.width_km * what.region.height_km / smooth.size
    assert unit == "people per km²"
    assert (smooth * factor).sum() * cell == pytest.approx(what.total)
    qtbot.waitUntil(lambda: result.picture.pixmap().width() > 0)
    image = result.picture.pixmap().toImage()
    bright = [
        image.pixelColor(x, y).lightness()
        for y in range(0, image.height(), 3)
        for x in range(0, image.width(), 3)
        if image.pixelColor(x, y).alpha() == 255
    ]
    assert max(bright) - min(bright) > 100  # map and legend are drawn
    result.blocks.click()
    blocks = result.picture.what.grid
    assert len(np.unique(blocks)) <= len(np.unique(smooth))
    assert blocks.sum() == pytest.approx(1)
    result.withdraw.click()
    next(b for b in page.asking.buttons() if b.text() == "Withdraw").click()
    qtbot.waitUntil(lambda: result.result.release.state == "withdrawn")
    assert result.state.text().startswith("Withdrawn. The cost of 1 ")
    buttons = (result.export_button, result.certificate, result.link, result.publish)
    assert not any(button.isEnabled() for button in buttons)


def test_unreadable_rows_are_listed_and_edges_of_the_region_follow_mouse_and_keys(
    plain_window, qtbot, tmp_path
) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    lines = rows.read_text().splitlines()
    rows.write_text("\n".join([*lines, *["u1,2026-01-02T00:00:00Z,high,-74,food,1"] * 12]) + "\n")
    page = ready_page(plain_window, qtbot, rows)
    plan = page.plan
    plan.show_page(FILE_PAGE)
    assert len(plan.unreadable.table.rows) == 5
    assert "5 of 12" in plan.shown_rows.text()
    assert plan.show_all.text().endswith("12")
    plan.show_all.click()
    assert [row[0] for row in plan.unreadable.table.rows] == [
        f"{len(lines) + k + 1:,}" for k in range(12)
    ]
    plan.show_all.click()
    assert len(plan.unreadable.table.rows) == 5
    plan.show_page(WHAT_PAGE)
    plan.show_draft(plan.draft.with_copies({"box": "40.5, -74.25, 40.9, -73.75"}))
    picture = plan.region
    before = picture.edge_points()

    def box() -> list[float]:
        return [float(side) for side in plan.draft.text("box").split(",")]

    qtbot.mousePress(picture, Qt.MouseButton.LeftButton, pos=before["east"].toPoint())
    for step in (10, 20):
        at = before["east"] + QPointF(step, 0)
        qtbot.mouseMove(picture, at.toPoint())
        assert picture.edge_points()["east"].x() == pytest.approx(at.x(), abs=2)
        assert picture.edge_points()["west"] == before["west"]  # the view stays
    qtbot.mouseRelease(picture, Qt.MouseButton.LeftButton, pos=at.toPoint())
    south, west, north, east = box()
    assert (south, west, north) == (40.5, -74.25, 40.9)
    assert -73.75 < east < -73.6
    assert plan.sides[3].text() == plan.draft.text("box").split(", ")[3]
    assert plan.draft.copied == {"box"}  # still recorded as copied from the map
    picture.setFocus()
    for key, shift, place, sign in (
        (Qt.Key.Key_Up, False, 2, 1),
        (Qt.Key.Key_Right, False, 3, 1),
        (Qt.Key.Key_Down, True, 0, -1),
        (Qt.Key.Key_Left, True, 1, -1),
    ):
        start = box()
        modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        qtbot.keyClick(picture, key, modifier)
        moved = [after - first for after, first in zip(box(), start, strict=True)]
        assert sign * moved[place] > 0
        assert [change for k, change in enumerate(moved) if k != place] == [0, 0, 0]
    # An edge does not pass the opposite one.
    qtbot.mousePress(
        picture, Qt.MouseButton.LeftButton, pos=picture.edge_points()["north"].toPoint()
    )
    qtbot.mouseMove(picture, picture.rect().bottomLeft())
    qtbot.mouseRelease(picture, Qt.MouseButton.LeftButton, pos=picture.rect().bottomLeft())
    assert box()[0] < box()[2]


def _a_polygon_is_not_copied_without_asking(window, page) -> None:
    region_drag = window.workspaces["map"].region_drag
    corners = [(40.7, -74.02), (40.7, -73.93), (40.88, -73.93)]
    assert region_drag.set_outline([corners], Origin.TYPED)
    page.plan.region_copy_requested.emit()
    assert page.plan.draft.text("box") == ""
    page.asking.defaultButton().click()
    assert page.plan.draft.text("box") == ""
    page.plan.region_copy_requested.emit()
    (copy,) = (b for b in page.asking.buttons() if b is not page.asking.defaultButton())
    copy.click()
    assert page.plan.draft.text("box") == "40.7, -74.02, 40.88, -73.93"


def test_no_polygon_is_copied_without_asking_and_no_file_without_persons_released(
    opened_window, qtbot, tmp_path
) -> None:
    """A release covers a box and protects persons, not rows or files."""
    write_snap(tmp_path / "snap.tsv", tmp_path)
    window = opened_window(tmp_path / "snap.tsv")
    page = with_group(window, qtbot)
    _a_polygon_is_not_copied_without_asking(window, page)
    plan = page.plan
    assert page.plan.message.text() != NO_PERSON
    plan.show_open_file(tmp_path / "snap.tsv", unnamed=True)
    window.show_tool("release")
    plan.show_open_file(tmp_path / "snap.tsv", unnamed=True)
    plan.show_page(PEOPLE_PAGE)
    assert plan.message.text() == NO_PERSON
    assert not plan.found.isEnabled()


@pytest.mark.parametrize("total", [-3.5, 0.0, None])
@pytest.mark.parametrize("top", [0.5, 0.0, -0.5])
def test_a_map_is_drawn_whatever_the_noise_makes_of_its_numbers(
    qapp, total: float | None, top: float
) -> None:
    """The noisy number of people of a small population can be negative."""
    grid = np.full((4, 4), top)
    what = Released("", "", grid=grid, box=(40.0, -75.0, 41.0, -74.0), total=total)
    assert unit_of(what) == (100.0, "% of all people per cell")
    image = bare_map(what, (300, 240), 1.0, LIGHT, QFont())
    assert image.pixelColor(150, 60).alpha() == 255


def test_a_release_takes_no_format_whose_header_leaves_rows_out(tmp_path: Path) -> None:
    """The map left out the lines before a chosen header, which a release would read."""
    path = tmp_path / "visits.csv"
    rows = [f"u{i % 7},2026-01-02T00:00:00Z,40.{i + 10},-74.{i + 10}" for i in range(40)]
    path.write_text("\n".join(["user,time,lat,lon", *rows]) + "\n")
    mapping = Mapping(user=0, time=1, lat=2, lon=3)
    assert found_format(path, replace(mapping, header=1))["header"] == "yes"
    with pytest.raises(ReleaseError, match="line 4"):
        found_format(path, replace(mapping, header=4))
