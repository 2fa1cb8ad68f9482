"""The Release tab: dry run, release, publication; no value is taken from the file by itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton

from explorer.release.certificate.schema import read_certificate
from explorer.release.certificate.verify import verify
from explorer.release.dry_run import dry_run
from explorer.release.file_check import RowCounter
from explorer.release.ledger.settings import default_ledger
from explorer.release.ledger.view import read_ledger
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.base import Reads
from explorer.release.pipeline import plan_release
from explorer.release.plan import read_plan
from explorer.release.rows.format import FORMAT_TAKEN, FileFormat
from explorer.release.rows.reading import read_file
from explorer.release.subprocess_runner import draw_in_subprocess
from explorer.ui.release.draft import COPIED, Draft
from explorer.ui.release.fields import OF_MECHANISM, PEOPLE, TAKE_PEOPLE, example_of, read_format
from explorer.ui.release.plan_page import COST_PAGE, FILE_PAGE, REVIEW_PAGE, WHAT_PAGE
from explorer.ui.release.wizard import TypedFields
from tests.release.plans import opened, plan_of, write_rows
from tests.ui.test_access import check


@pytest.fixture
def window(open_window, settled, monkeypatch, tmp_path):
    """A window with a ledger of its own."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    window = open_window(study="unbounded")
    settled(window)
    return window


def page_of(window, qtbot):
    window.show_tool("release")
    page = window.tools["release"]
    qtbot.waitUntil(lambda: page.plan.ledger is not None and not page.controller.busy)
    return page


def texts(page) -> list[str]:
    """All texts that can be typed into the plan."""
    return [edit.text() for edit in page.plan.findChildren(QLineEdit)]


def type_into(edit, text: str) -> None:
    """Enter a text as pasting does: at once, where letter by letter the whole plan is judged."""
    edit.clear()
    edit.insert(text)


def fill_in(page, rows: Path) -> None:
    """Complete all steps but the group of people."""
    plan = page.plan
    page.example.click()
    type_into(plan.path, str(rows))
    type_into(plan.form.edits["columns"], "user, time, lat, lon, kind, amount")
    for key, value in (("delimiter", "comma"), ("header", "no")):
        box = plan.form.edits[key]
        box.setCurrentIndex(box.findData(value))
    type_into(plan.form.edits["time_zone"], "UTC")
    plan.untouched.click()
    page.controller.stop()


@pytest.mark.main_path
def test_a_release_is_rehearsed_in_three_steps(window, qtbot) -> None:
    """Task 18 of the design: tab, example, dry run; nothing is spent."""
    steps = 0
    tab = next(k for k in range(window.tabs.count()) if window.tabs.tabText(k) == "Release")
    window.tabs.setCurrentIndex(tab)
    steps += 1
    page = page_of(window, qtbot)
    for button in (page.plan.details.heading, page.example):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        steps += 1
    qtbot.waitUntil(lambda: page.plan.pictures[2].shown is not None)
    assert steps <= 3
    assert page.plan.page == COST_PAGE
    assert page.plan.forecast_text.endswith(" km")
    assert not page.controller.place.ledger.exists()
    assert not page.plan.draw.isEnabled()
    assert check(window) == []


def test_nothing_of_the_file_or_the_map_fills_the_page(window, qtbot, tmp_path) -> None:
    rows = tmp_path / "checkins.csv"
    made = [line.split(",")[:4] for line in write_rows(tmp_path / "x").read_text().splitlines()]
    rows.write_text("\n".join(map(",".join, [["user", "time", "lat", "lon"], *made])))
    window.session.set_value("resolution", "16", "heatmap")
    window.files.open_data(rows)
    qtbot.waitUntil(lambda: window.data.current.basename == rows.name and not window.busy)
    # Views of the true map are counted, whether or not the tab exists.
    qtbot.waitUntil(lambda: default_ledger().exists())
    window.show_study("heatmap")
    page = page_of(window, qtbot)
    assert set(texts(page)) <= {"", "256"}
    assert page.plan.draft == Draft()
    assert [
        box.currentData()
        for key, box in page.plan.form.edits.items()
        if key in ("delimiter", "header", "encoding")
    ] == ["", "", ""]
    qtbot.waitUntil(lambda: page.ledger.shown == 1)
    # A value copied by a click is marked.
    page.plan.show_page(WHAT_PAGE)
    page.plan.copy.click()
    box = window.session.state.selection.region.box
    assert [float(side) for side in page.plan.draft.text("box").split(",")] == list(box)
    assert page.plan.draft.copied == {"box"}
    page.plan.copy_epsilon.click()
    assert page.plan.draft.copied == {"box", "epsilon"}
    # A copy answers how the values were chosen, and rules out the other answer.
    assert not page.plan.untouched.isEnabled()
    type_into(page.plan.cells.edits[PEOPLE], "100")
    assert page.plan.points[WHAT_PAGE].ok
    assert "the map" in page.plan.copied.text()
    type_into(page.plan.sentence, "Drawn by a colleague.")
    assert page.plan.points[WHAT_PAGE].ok
    declared = page.plan.draft.declared()
    assert not declared.independent_of_data
    assert declared.conditions == (
        COPIED.format(names="The box was"),
        COPIED.format(names="ε was"),
        "Drawn by a colleague.",
    )


def test_every_page_is_seen_at_once(window, qtbot, tmp_path) -> None:
    """Each page fits without scrolling at 1280 × 800 and at 1024 × 720."""
    page = page_of(window, qtbot)
    place = page.controller.place
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    population = opened(place)
    page.controller.read()
    qtbot.waitUntil(lambda: population in page.plan.who.rows)
    page.plan.who.select(population)
    fill_in(page, write_rows(tmp_path / "rows.csv"))
    assert page.plan.ready

    def hidden(number: int) -> int:
        page.plan.show_page(number)
        qtbot.wait(20)
        return page.plan.areas[number].verticalScrollBar().maximum()

    for width, height in ((1024, 720), (1280, 800)):
        window.resize(width, height)
        qtbot.waitUntil(lambda height=height: window.height() == height)
        assert [hidden(number) for number in range(5)] == [0] * 5
    for name in MECHANISMS:
        page.plan.mechanism.setCurrentIndex(page.plan.mechanism.findData(name))
        assert hidden(WHAT_PAGE) == 0, name


@pytest.mark.main_path
def test_a_release_is_drawn_published_and_exported(window, qtbot, tmp_path, monkeypatch) -> None:
    page = page_of(window, qtbot)
    plan = page.plan
    fill_in(page, write_rows(tmp_path / "rows.csv"))
    row = window.status_row
    assert (row.badge.text(), row.badge.property("tone")) == ("draft: nothing is spent", "plain")
    assert "rows.csv" in row.data.text()
    assert row.answer.isHidden()  # the state of the map behind
    assert [point.ok for point in plan.points] == [False, True, True, False, True]
    type_into(plan.who.name, "Users of the example service")
    type_into(plan.who.budget, "3/4")
    plan.who.button.click()
    qtbot.waitUntil(lambda: plan.draw.isEnabled())
    assert plan.ready
    type_into(plan.texts.edits["title"], "Where people were")
    type_into(plan.more_texts.edits["data security"], "One disk.")
    saved = str(tmp_path / "PLAN.json")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (saved, ""))
    window.menus.actions["release-save"].trigger()
    made = plan.draft.plan()
    assert made.declared.evaluation == {"data security": "One disk."}
    # Their schema is fixed: entries on NIST SP 800-226 are typed in the window.
    without = replace(made, declared=replace(made.declared, evaluation={}))
    assert read_plan(tmp_path / "PLAN.json") == without
    plan.show_page(REVIEW_PAGE)
    assert not plan.next.isEnabled()
    assert "0.5 of 0.75" in plan.summary[3].text()
    plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result")
    assert window.tool is page
    result = page.result
    assert page.front == "Result"
    assert not result.export_button.isEnabled()
    result.publish.click()
    qtbot.waitUntil(result.export_button.isEnabled)
    assert row.badge.text() == "private release · ε = 0.5"  # not about the map behind
    assert row.badge.property("tone") == "good"
    release = result.result.release
    for name, begins in (
        ("map.png", b"\x89PNG"),
        ("map.csv", b"# certificate "),
        ("map.pdf", b"%PDF"),
        *((("map.tif", b"II*"),) if find_spec("rasterio") else ()),
    ):
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *_, name=name: (str(tmp_path / name), "")
        )
        result.export_button.click()
        qtbot.waitUntil((tmp_path / name).exists)
        written = (tmp_path / name).read_bytes()
        assert written.startswith(begins)
        assert release.id.encode() in written
        assert b"demonstration" not in written
    for name in ("cert.json", "cert.pdf"):
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *_, name=name: (str(tmp_path / name), "")
        )
        result.certificate.click()
        qtbot.waitUntil((tmp_path / name).exists)
    certificate = read_certificate(tmp_path / "cert.json")
    view = read_ledger(page.controller.place.ledger)
    assert verify(certificate, view).failure == ""
    stated = {row["row"]: (row["status"], row["text"]) for row in certificate["evaluation"]}
    said = ("declared by the curator", "One disk.")
    assert stated["data security"] == said
    assert view.state.accounts[release.population].spent_epsilon == Fraction(1, 2)
    # A repeated release costs again and exceeds the budget.
    page.show_page("Plan")
    assert not plan.draw.isEnabled()
    assert plan.points[COST_PAGE].message.startswith("Only 0.25 is left for these people")
    plan.fit.click()
    assert plan.draw.isEnabled()
    page.show_page("Ledger")
    qtbot.waitUntil(lambda: len(page.books.entries.table.rows) == 6)
    assert page.books.balances.table.rows[0][4] == "ε = 0.25"
    assert check(window) == []


def test_a_local_protocol_in_front_is_saved_as_a_simulation(
    window, qtbot, tmp_path, monkeypatch
) -> None:
    """A local protocol is refused, and saved as a stamped plan that is no release."""
    window.show_study("frequency")
    page = page_of(window, qtbot)

    def offered() -> list[QPushButton]:
        buttons = page.unfinished.findChildren(QPushButton)
        return [b for b in buttons if "simulation" in b.text() and b.isVisible() and b.isEnabled()]

    qtbot.waitUntil(lambda: len(offered()) == 1)
    (button,) = offered()
    assert "Here every user" in button.accessibleName()
    saved = tmp_path / "PLAN.simulation.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(saved), ""))
    button.click()
    written = json.loads(saved.read_text())
    assert written["stamp"] == "simulation, not a release"
    assert written["mechanism"]["parameters"]["alpha"]
    assert not page.controller.place.ledger.exists()
    window.show_study("heatmap")
    window.show_tool("release")
    qtbot.waitUntil(lambda: not page.unfinished.isVisible())
    window.show_study("heatmap")
    window.session.set_value("mechanism", "shuffled-pyramid", "heatmap")
    window.show_tool("release")
    qtbot.waitUntil(lambda: len(offered()) == 1)
    (button,) = offered()
    assert "Shuffled pyramid, Appendix F" in button.accessibleName()
    assert "heatmap.adaptive/1" in button.accessibleName()
    button.click()
    written = json.loads(saved.read_text())
    assert written["mechanism"]["id"] == "shuffle.pyramid/1"
    assert written["mechanism"]["parameters"]["B"] == "256"
    assert "rho" not in written["mechanism"]["parameters"]


def test_the_ledger_has_a_window_of_its_own(window, qtbot, tmp_path) -> None:
    """Release ▸ Ledger…: window and tab agree after a change in either."""
    page = page_of(window, qtbot)
    place = page.controller.place
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    population = opened(place, budget=1)
    window.menus.actions["release-ledger"].trigger()
    ledger = page.ledger_window
    assert ledger.isVisible()
    assert page.front == "Plan"
    qtbot.waitUntil(lambda: len(ledger.page.entries.table.rows) == 1)
    assert ledger.page.balances.table.rows[0][2] == "ε = 1"
    type_into(ledger.page.amount, "2")
    ledger.page.raising.click()
    qtbot.waitUntil(lambda: page.ledger.account(population).budget == 2)
    qtbot.waitUntil(lambda: len(ledger.page.entries.table.rows) == 2)
    page.show_page("Ledger")
    assert page.books.balances.table.rows[0][2] == "ε = 2"
    assert check(ledger) == []
    ledger.close()


def test_what_was_interrupted_is_given_back_or_goes_on(window, qtbot, tmp_path) -> None:
    page = page_of(window, qtbot)
    place = page.controller.place
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    plan = plan_of(opened(place), write_rows(tmp_path / "rows.csv"))
    with place.open() as ledger:
        ids = [plan_release(ledger, plan) for _ in range(2)]
        for release in ids:
            ledger.reserve(release, hashlib.sha256(plan.data.read_bytes()).hexdigest())
    page.controller.read()

    def buttons(text: str) -> list[QPushButton]:
        found = page.unfinished.findChildren(QPushButton)
        return [b for b in found if b.text() == text and b.isVisible() and b.isEnabled()]

    qtbot.waitUntil(lambda: len(buttons("Refund")) == 2)
    buttons("Refund")[0].click()
    qtbot.waitUntil(lambda: len(buttons("Continue")) == 1)
    buttons("Continue")[0].click()
    assert page.plan.page == FILE_PAGE
    assert "file" in page.plan.message.text()
    assert not page.plan.path.text()
    type_into(page.plan.path, str(plan.data))
    buttons("Continue")[0].click()
    qtbot.waitUntil(lambda: page.front == "Result" or window.banner.problem is not None)
    assert window.banner.problem is None
    with place.open() as ledger:
        assert sorted(r.state for r in ledger.releases()) == ["abandoned", "committed"]
        assert ledger.account(plan.population).spent_epsilon == plan.epsilon


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_every_parameter_can_be_typed_and_an_example_rehearsed(name: str) -> None:
    with pytest.raises(ValueError, match="it has") as caught:
        MECHANISMS[name].parse({"unheard of": 1})
    taken = str(caught.value).partition("it has ")[2].split(", ")
    offered = {field.key for field in OF_MECHANISM[name]}
    of_command = {"priors"} & set(taken)  # files: given to the command only
    assert offered | of_command | ({PEOPLE} if name in TAKE_PEOPLE else set()) == set(taken)
    plan = Draft(mechanism=name, typed=example_of(name)).rehearsal()
    assert dry_run(plan, 20).stored


def test_fields_emit_what_is_typed_and_nothing_that_is_shown(qtbot) -> None:
    fields = TypedFields()
    qtbot.addWidget(fields)
    got = []
    fields.typed.connect(lambda key, text: got.append((key, text)))
    fields.offer(OF_MECHANISM["count.users/1"], lambda key: "1, 2, 3, 4" if key == "box" else "")
    assert fields.edits["box"].text() == "1, 2, 3, 4"
    assert got == []
    qtbot.keyClicks(fields.edits["start"], "x")
    assert got == [("start", "x")]


def test_the_same_ids_in_another_account_are_told_and_joined(window, qtbot, tmp_path) -> None:
    page = page_of(window, qtbot)
    place, rows = page.controller.place, write_rows(tmp_path / "rows.csv")
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    first = plan_of(opened(place), rows)
    with place.open() as ledger:
        release = plan_release(ledger, first)
    draw_in_subprocess(place, first, release)
    other = tmp_path / "other.csv"
    other.write_bytes(rows.read_bytes() + b"\n")
    population = opened(place, budget=1)
    page.controller.read()
    qtbot.waitUntil(lambda: page.plan.ledger.account(population) is not None)
    fill_in(page, other)
    page.plan.who.select(population)
    qtbot.waitUntil(page.plan.draw.isEnabled)
    page.plan.show_page(REVIEW_PAGE)
    # The group is declared first, so ids are compared before anything is spent.
    page.plan.draw.click()
    qtbot.waitUntil(lambda: page.plan.checked is not None and not page.controller.busy)
    assert "40 in “" in page.plan.alone_text.text()
    assert page.front == "Plan"
    assert "Nothing was spent" in page.plan.message.text()
    with place.open() as ledger:
        assert ledger.account(population).spent == 0
    page.plan.compare.click()
    qtbot.waitUntil(lambda: not page.controller.busy)
    assert page.asking is None
    page.show_page("Ledger")
    qtbot.waitUntil(lambda: not page.controller.busy)
    books = page.books
    books.account.setCurrentIndex(books.account.findData(first.population))
    books.other.setCurrentIndex(books.other.findData(population))
    books.joining.click()
    qtbot.waitUntil(lambda: len(page.ledger.accounts) == 1)
    assert page.ledger.accounts[0].remaining == 1 - first.epsilon
    # Releases about merged populations are charged to both.
    account = page.ledger.accounts[0].population
    assert [r.id for r in page.ledger.releases_of(account)] == [release]


def ready(window, qtbot, rows: Path, budget: int = 3):
    """Return the page with all steps complete, and the ledger's location."""
    page = page_of(window, qtbot)
    place = page.controller.place
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    population = opened(place, budget=budget)
    page.controller.read()
    qtbot.waitUntil(lambda: population in page.plan.who.rows)
    page.plan.who.select(population)
    fill_in(page, rows)
    qtbot.waitUntil(page.plan.draw.isEnabled)
    page.plan.show_page(REVIEW_PAGE)
    return page


def button_of(box, begins: str):
    return next(b for b in box.buttons() if b.text().startswith(begins))


def test_a_file_that_can_t_be_read_is_told_of_and_confirmed(window, qtbot, tmp_path) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    rows.write_text(rows.read_text().replace(",", ";").replace(".", ","))
    page = ready(window, qtbot, rows)
    plan = page.plan
    plan.check.click()
    qtbot.waitUntil(lambda: plan.checked is not None and not page.controller.busy)
    assert "0 of " in plan.rows_read.text()
    assert "delimiter semicolon?" in plan.remark.text()
    assert "0 of " in plan.alone_text.text()
    with page.controller.place.open() as ledger:  # registered, because the file was never opened
        assert [entry.body["kind"] for entry in ledger.entries()] == ["budget", "plan"]
    assert not plan.draw.isEnabled()
    assert "0 of " in plan.anyway.text()
    plan.anyway.click()
    assert plan.draw.isEnabled()
    plan.anyway.click()
    plan.draw.click()  # disabled: no effect
    # One click declares what a row suggests, and checks again.
    plan.show_page(FILE_PAGE)
    for key, value in (("delimiter", "semicolon"), ("decimal", "comma")):
        qtbot.waitUntil(plan.mend.isVisible)
        assert window.focusWidget() is plan.mend
        plan.mend.click()
        assert plan.form.edits[key].currentData() == value
        assert plan.checked is None
        qtbot.waitUntil(lambda: plan.checked is not None and not page.controller.busy)
    # With a correct declaration nothing more is confirmed.
    assert not plan.mend.isVisible()
    plan.show_page(REVIEW_PAGE)
    assert plan.draw.isEnabled()
    assert not plan.anyway.isVisible()
    with page.controller.place.open() as ledger:
        assert ledger.accounts()[0].spent == 0


def test_what_is_paid_while_the_file_is_checked_is_asked_again_if_it_can_t_be_read(
    window, qtbot, tmp_path
) -> None:
    rows = write_rows(tmp_path / "rows.csv")
    rows.write_text(rows.read_text().replace(",", ";"))
    page = ready(window, qtbot, rows)
    page.plan.draw.click()
    qtbot.waitUntil(lambda: page.plan.checked is not None and not page.controller.busy)
    assert page.front == "Plan"
    assert not page.plan.draw.isEnabled()
    with page.controller.place.open() as ledger:
        assert ledger.accounts()[0].spent == 0
    page.plan.anyway.click()
    page.plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result")
    with page.controller.place.open() as ledger:
        (release,) = ledger.releases()
        assert release.state == "committed"
    chosen = page.result.result.certificate["parameters_chosen"]
    assert chosen["record"].startswith("fixed before")


def test_withdraw_asks_and_is_out_of_reach_of_what_published(window, qtbot, tmp_path) -> None:
    window.resize(1280, 800)
    page = ready(window, qtbot, write_rows(tmp_path / "rows.csv"))
    page.plan.draw.click()
    qtbot.waitUntil(lambda: page.front == "Result")
    result = page.result
    buttons = (result.publish, result.export_button, result.certificate, result.withdraw)

    def places() -> list[object]:
        return [button.geometry() for button in buttons]

    qtbot.waitUntil(lambda: result.picture.pixmap().width() > 0)
    before = places()
    result.publish.setFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Space, Qt.Key.Key_Space):
        qtbot.keyClick(window.focusWidget() or result.publish, key)  # as if held down
    qtbot.waitUntil(result.export_button.isEnabled)
    assert window.focusWidget() is result.export_button
    assert places() == before
    assert result.publish.isVisible()
    assert not result.publish.isEnabled()
    qtbot.mouseClick(result.publish, Qt.MouseButton.LeftButton)
    with page.controller.place.open() as ledger:
        assert [r.state for r in ledger.releases()] == ["published"]
    # Asked for confirmation; Enter and Esc change nothing.
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        qtbot.mouseClick(result.withdraw, Qt.MouseButton.LeftButton)
        box = page.asking
        corner = box.frameGeometry()
        for button in (result.publish, result.withdraw):
            assert not corner.contains(button.mapToGlobal(button.rect().center()))
        qtbot.keyClick(box, key)
        qtbot.waitUntil(lambda: page.asking is None)
    qtbot.wait(50)
    with page.controller.place.open() as ledger:
        assert [r.state for r in ledger.releases()] == ["published"]
    qtbot.mouseClick(result.withdraw, Qt.MouseButton.LeftButton)
    button_of(page.asking, "Withdraw").click()
    qtbot.waitUntil(lambda: result.result.release.state == "withdrawn")
    assert not result.export_button.isEnabled()
    assert not result.withdraw.isEnabled()
    assert places() == before
    assert check(window) == []


def test_what_is_left_unpublished_is_not_withdrawn_by_one_click(window, qtbot, tmp_path) -> None:
    page = page_of(window, qtbot)
    place = page.controller.place
    place.ledger.parent.mkdir(parents=True, exist_ok=True)
    plan = plan_of(opened(place), write_rows(tmp_path / "rows.csv"))
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw_in_subprocess(place, plan, release)
    page.controller.read()

    def withdraw() -> list[QPushButton]:
        found = page.unfinished.findChildren(QPushButton)
        return [b for b in found if b.text().startswith("Withdraw") and b.isVisible()]

    qtbot.waitUntil(lambda: len(withdraw()) == 1)
    withdraw()[0].click()
    button_of(page.asking, "Keep").click()
    qtbot.waitUntil(lambda: page.asking is None and not page.controller.busy)
    assert len(withdraw()) == 1
    withdraw()[0].click()
    button_of(page.asking, "Withdraw").click()
    qtbot.waitUntil(lambda: not withdraw())
    with place.open() as ledger:
        assert ledger.release(release).state == "withdrawn"


def test_the_format_found_at_opening_is_taken_over_by_one_click(window, qtbot, tmp_path) -> None:
    rows = tmp_path / "checkins.csv"
    made = [line.split(",")[:4] for line in write_rows(tmp_path / "x").read_text().splitlines()]
    lines = [";".join(f'"{cell}"' for cell in row) + ";" for row in made]
    rows.write_text("\n".join(["user;time;lat;lon;", *lines]))
    window.session.set_value("resolution", "16", "heatmap")
    page = page_of(window, qtbot)
    assert not page.plan.found.isEnabled()
    window.files.open_data(rows)
    qtbot.waitUntil(lambda: window.data.current.basename == rows.name and not window.busy)
    qtbot.waitUntil(lambda: default_ledger().exists())
    page = page_of(window, qtbot)
    qtbot.waitUntil(page.plan.found.isEnabled)
    page.plan.found.click()
    qtbot.waitUntil(lambda: page.plan.draft.format_taken)
    draft = page.plan.draft
    assert draft.text("data") == str(rows)
    assert [name.strip() for name in draft.text("columns").split(",")] == [
        "user",
        "time",
        "lat",
        "lon",
    ]
    assert (draft.text("delimiter"), draft.text("trailing_delimiter")) == ("semicolon", "yes")
    assert (draft.text("header"), draft.text("encoding")) == ("yes", "utf-8")
    assert draft.declared().format == FORMAT_TAKEN
    form = FileFormat.parse(read_format(draft.typed))
    counter = RowCounter(form, Reads(places=True, times=True))
    read_file(rows, form, Reads(places=True, times=True), counter)
    assert (counter.result().rows, counter.result().readable) == (len(made), len(made))
    # Edited by hand it still counts as copied; not once it is deleted.
    assert draft.with_text("decimal", "point").format_taken
    for key in list(draft.typed):
        draft = draft.with_text(key, "")
    assert not draft.format_taken


def test_a_file_s_field_is_shown_as_it_is_and_ids_opened_before_are_counted(
    window, qtbot, tmp_path
) -> None:
    rows = write_rows(tmp_path / "rows.csv", users=40)
    rows.write_text(rows.read_text() + "u0,2026-01-02T00:00:00Z,<h1>high</h1>,1,x,1\n")
    page = ready(window, qtbot, rows)
    with page.controller.place.open() as ledger:
        ids = [f"u{k}" for k in range(30, 99)]
        ledger.known.record_opened_ids(["a" * 64], "of a test", lambda: ids)
    page.plan.check_here.click()
    qtbot.waitUntil(lambda: page.plan.checked is not None and not page.controller.busy)
    assert page.plan.checked.seen == 10
    said = page.plan.alone_text
    assert "10 ids" in said.text()
    assert "<h1>" in said.text()
    assert said.textFormat() is Qt.TextFormat.PlainText
