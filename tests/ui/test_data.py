"""Opening and selecting check-ins in the data panel."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QDate, QDateTime, Qt, QTime, QTimeZone
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

import explorer.checkins
from explorer.checkins import LoadCancelled, Mapping, sources
from explorer.checkins.parsing.row_rules import bad_cells
from explorer.studies.base.study import Origin
from explorer.ui.controllers.preview import first_region
from explorer.ui.dialogs.answer_cards import CHOOSE
from explorer.ui.panels.time_range import month_ranges
from tests import snapshots
from tests.ui.map_page import MapPage, made_checkins, opened

LINE = "{user}\t2010-01-{day:02d}T12:00:00Z\t{lat:.4f}\t{lon:.4f}\t{place}\n"


@pytest.fixture(scope="module")
def checkins(tmp_path_factory):
    return made_checkins(tmp_path_factory.mktemp("data"))


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


def lines(count: int) -> str:
    return "".join(
        LINE.format(user=i % 7, day=1 + i % 28, lat=48 + i / 1000, lon=11 + i / 900, place=i)
        for i in range(count)
    )


def type_into(field, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_before_any_data_the_world_is_shown(map_page: MapPage) -> None:
    assert map_page.data.current is None
    _, west, _, east = map_page.map.panes.box
    assert west < -150
    assert east > 150
    assert "Open check-ins" in map_page.map.banner.text.text()
    assert not map_page.panel.draw_button.isEnabled()
    assert not map_page.map.noise_action.isEnabled()


def test_a_generated_file_is_loaded_and_described(map_page: MapPage, checkins) -> None:
    stages = []
    map_page.data.progress.connect(lambda now: stages.append(now.fraction))
    map_page.load(checkins)
    data = map_page.data.current
    assert data.rows + data.report.total_rejected == 3000
    assert map_page.panel.file_name.text() == checkins.name
    assert map_page.panel.badge.text() == "real data"
    assert f"{data.rows:,} check-ins of {data.users} users" in map_page.panel.counts.text()
    selection = map_page.session.state.selection
    assert selection.data == data.fingerprint
    assert not selection.sampled
    assert stages == sorted(stages)
    assert not map_page.map.banner.isVisible()
    result = map_page.answered()
    used = result.readout("users_used").value
    assert used > 0
    assert f"{used:,.0f} of {used:,.0f} users" in map_page.panel.sample.count.text()


def test_a_file_is_inspected_once(map_page: MapPage, checkins, monkeypatch) -> None:
    inspected = []
    inspect = sources.sniff

    def counted(path, *settings, **named):
        inspected.append(path)
        return inspect(path, *settings, **named)

    monkeypatch.setattr(sources, "sniff", counted)
    map_page.load(checkins)
    assert inspected == [checkins]


def test_the_first_region_is_the_densest_area(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)
    data, region = map_page.data.current, map_page.region
    inside = data.points(region.box).rows
    assert (region, Origin.FIRST) == first_region(data)
    assert map_page.session.state.selection.region_origin is Origin.FIRST
    assert "✗" in map_page.panel.region_from.text()
    assert region.north - region.south == pytest.approx(0.35, abs=1e-5)
    assert inside > 0.3 * data.rows


def test_check_ins_at_one_place_get_a_region(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "one.txt"
    path.write_text(
        "".join(LINE.format(user=i, day=1 + i, lat=48.1, lon=11.5, place=1) for i in range(9))
    )
    map_page.load(path)
    region = map_page.region
    assert region.south < 48.1 < region.north
    assert region.west < 11.5 < region.east
    assert map_page.answered().surface("true").values.sum() == pytest.approx(1, rel=1e-3)


def test_the_sample_is_known_as_synthetic(map_page: MapPage) -> None:
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        map_page.data.open_sample()
    assert map_page.panel.badge.text() == "synthetic data"
    assert "Synthetic" in map_page.panel.file_name.text()
    assert map_page.region.box == (40.55, -74.10, 40.90, -73.75)
    assert map_page.answered().stamp == "synthetic data"


@pytest.mark.full
def test_a_load_is_cancelled_and_the_data_before_stay(
    map_page: MapPage, checkins, tmp_path
) -> None:
    map_page.load(checkins)
    before = map_page.data.current
    state = map_page.session.state
    large = tmp_path / "large.txt.gz"
    with gzip.open(large, "wt", compresslevel=1) as file:
        text = lines(5000)
        for _ in range(100):
            file.write(text)
    seen = []
    map_page.data.progress.connect(seen.append)
    map_page.data.open(large)
    assert map_page.panel.load_bar.isVisible()
    map_page.qtbot.waitUntil(lambda: bool(seen))
    assert "MB" in map_page.panel.load_bar.text.text()
    with map_page.qtbot.waitSignal(map_page.data.cancelled):
        map_page.qtbot.mouseClick(map_page.panel.load_bar.button, Qt.MouseButton.LeftButton)
    assert not map_page.panel.load_bar.isVisible()
    assert map_page.data.current is before
    assert map_page.session.state == state
    assert before.points(map_page.region.box).rows > 0


def test_a_look_at_the_columns_is_cancelled_too(
    map_page: MapPage, checkins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of columns take long before anything is loaded."""
    looking = threading.Event()

    def sniff(files, settings, cancelled) -> None:
        looking.set()
        while not cancelled():
            time.sleep(0.01)
        raise LoadCancelled

    monkeypatch.setattr(explorer.checkins, "sniff_source", sniff)
    map_page.data.open(checkins)
    map_page.qtbot.waitUntil(looking.is_set)
    with map_page.qtbot.waitSignal(map_page.data.cancelled):
        map_page.data.cancel()
    assert not map_page.data.busy


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", b"", "empty"),
        ("picture.txt", bytes(range(256)) * 40, "not a supported file"),
        ("torn.gz", b"\x1f\x8b\x08\x00garbage", "archive"),
    ],
)
def test_a_bad_file_is_refused_and_the_data_before_stay(
    map_page: MapPage, checkins, tmp_path, name: str, content: bytes, said: str
) -> None:
    map_page.load(checkins)
    before = map_page.data.current
    path = tmp_path / name
    path.write_bytes(content)
    with map_page.qtbot.waitSignal(map_page.data.failed) as failed:
        map_page.data.open(path)
    assert said in str(failed.args[0])
    assert name in str(failed.args[0])
    assert map_page.data.current is before
    assert not map_page.data.busy


def test_a_missing_file_is_refused(map_page: MapPage, tmp_path) -> None:
    with map_page.qtbot.waitSignal(map_page.data.failed) as failed:
        map_page.data.open(tmp_path / "nowhere.txt")
    assert "does not exist" in str(failed.args[0])


def test_unclear_columns_are_asked_for(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "odd.csv"
    rows = "".join(f"{11 + i / 900:.4f},p{i % 7},{48 + i / 1000:.4f},x{i}\n" for i in range(40))
    path.write_text("a,b,c,d\n" + rows)
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(path)
    dialog = map_page.panel.dialog("mapping")
    assert dialog.table.rowCount() > 5
    assert dialog.reading.delimiter.currentText() == ", comma"
    for card in (dialog.person, dialog.position):
        card.options[card.other].radio.click()
    assert not dialog.load_button.isEnabled()
    assert dialog.problem == CHOOSE
    boxes = dialog.person.boxes | dialog.position.boxes
    for role, name in (("user", "b"), ("lat", "b"), ("lon", "a")):
        boxes[role].setCurrentIndex(boxes[role].findText(name))
    assert "chosen twice" in dialog.problem
    boxes["lat"].setCurrentIndex(boxes["lat"].findText("d"))
    assert dialog.problem.startswith("None")
    snapshots.check(dialog.table.item(0, 3).toolTip())
    boxes["lat"].setCurrentIndex(boxes["lat"].findText("c"))
    assert not dialog.load_button.isEnabled()  # answers are complete but not confirmed
    for card in dialog.cards.values():
        map_page.qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert dialog.problem == ""
    assert dialog.verdict.text() == ""
    with map_page.qtbot.waitSignal(map_page.data.loaded):
        map_page.qtbot.mouseClick(dialog.load_button, Qt.MouseButton.LeftButton)
    assert map_page.data.current.users == 7
    assert map_page.data.current.rows == 40
    assert not map_page.data.current.has_times
    assert not map_page.panel.time.presets.isEnabled()
    assert "no times" in map_page.panel.time.why.text()
    assert map_page.panel.time.why.isVisibleTo(map_page.panel)


def test_a_sure_file_can_be_asked_about_too(map_page: MapPage, checkins) -> None:
    with map_page.qtbot.waitSignal(map_page.data.mapping_needed):
        map_page.data.open(checkins, ask=True)
    dialog = map_page.panel.dialog("mapping")
    assert dialog.mapping == dialog.request.preview.mapping
    assert dialog.problem == ""
    dialog.reject()
    assert map_page.data.current is None


def test_the_same_file_with_other_columns_is_another_picture(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(
        "user,lat,lon,other\n"
        + "".join(f"{i % 9},{48 + i / 1000:.4f},{11 + i / 900:.4f},{i}\n" for i in range(60))
    )
    map_page.load(path)
    assert map_page.data.current.users == 9
    map_page.answered()
    map_page.load(path, mapping=Mapping(user=3, lat=1, lon=2))
    assert map_page.data.current.users == 60
    map_page.qtbot.waitUntil(
        lambda: (
            map_page.map.current_result is not None
            and map_page.map.current_result.readout("users_in_file").value == 60
        ),
    )


def test_bad_cells_are_distinguished() -> None:
    mapping = Mapping(user=0, time=1, lat=2, lon=3, weight=4)
    good = ("7", "2010-01-31T12:00:00Z", "48.1", "11.5", "2")
    assert bad_cells(good, mapping) == {}
    for column, text, why in (
        (0, " ", "the user is empty"),
        (1, "soon", "it is no time that can be read"),
        (2, "north", "the latitude is no number"),
        (3, "181", "the longitude 181 is above 180"),
        (4, "-1", "the weight −1 is not a positive number"),
    ):
        row = tuple(text if i == column else cell for i, cell in enumerate(good))
        found = bad_cells(row, mapping)
        assert {place: fault.what for place, fault in found.items()} == {column: why}
        assert found[column].remedy
    assert set(bad_cells(("7", good[1], "0", "0.0", "1"), mapping)) == {2, 3}


def test_the_report_lists_what_was_set_aside_and_exports_it(map_page: MapPage, tmp_path) -> None:
    path = tmp_path / "rough.txt"
    path.write_text(
        lines(30)
        + "3\t2010-01-01T12:00:00Z\t0.0\t0.0\t9\n"
        + "3\tyesterday\t48.0\t11.0\t9\n"
        + "4\t2010-01-01T12:00:00Z\t95.0\t11.0\t9\n"
        + "4\t2010-01-02T12:00:00Z\t96.0\t11.0\t9\n"
    )
    map_page.load(path)
    assert "4 rows rejected" in map_page.panel.counts.text()
    assert map_page.panel.dialog("report") is None  # personal data: shown on request only
    map_page.qtbot.mouseClick(map_page.panel.report_button, Qt.MouseButton.LeftButton)
    dialog = map_page.panel.dialog("report")
    tops = [dialog.tree.topLevelItem(i) for i in range(dialog.tree.topLevelItemCount())]
    assert {item.text(0) for item in tops} == {"1", "2"}
    assert tops[0].text(0) == "2"
    assert "−90…90" in tops[0].text(1)
    assert tops[0].child(0).text(0) == "line 33"
    assert "95.0" in tops[0].child(0).text(1)
    target = tmp_path / "aside.csv"
    dialog.export_to(target)
    map_page.qtbot.waitUntil(lambda: "4 rows written" in dialog.message.text())
    assert "yesterday" in target.read_text()
    dialog.close()
    map_page.qtbot.waitUntil(lambda: map_page.panel.dialog("report") is None)
    map_page.qtbot.mouseClick(map_page.panel.report_button, Qt.MouseButton.LeftButton)
    assert map_page.panel.dialog("report") is not None


def test_a_region_is_typed_and_undone(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)
    before = map_page.region
    type_into(map_page.panel.sides["south"], str(before.south + 0.1))
    assert map_page.region.south == pytest.approx(before.south + 0.1)
    assert "km" in map_page.panel.region_size.text()
    type_into(map_page.panel.sides["south"], str(before.north + 1))
    assert map_page.region.south == pytest.approx(before.south + 0.1)
    assert map_page.panel.region_error.isVisible()
    assert "latitudes" in map_page.panel.region_error.text()
    type_into(map_page.panel.sides["west"], "-500")
    assert map_page.region.west == before.west
    map_page.session.undo()
    assert map_page.region == before
    assert not map_page.panel.region_error.isVisible()
    assert map_page.panel.sides["south"].text() == f"{before.south:.6g}"


def test_the_busiest_cell_becomes_the_region(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)
    before = map_page.region
    map_page.qtbot.mouseClick(map_page.panel.busiest_button, Qt.MouseButton.LeftButton)
    dialog = map_page.panel.dialog("busiest")
    map_page.qtbot.waitUntil(lambda: dialog.table.rowCount() > 0)
    counts = [
        int(dialog.table.item(i, 0).text().replace(",", "")) for i in range(dialog.table.rowCount())
    ]
    assert counts == sorted(counts, reverse=True)
    chosen = dialog.chosen
    assert map_page.data.current.points(chosen.box).rows >= counts[0]
    map_page.qtbot.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert map_page.region == chosen
    map_page.session.undo()
    assert map_page.region == before


def test_a_month_is_chosen(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)
    time = map_page.panel.time
    every = map_page.answered().readout("checkins").value
    place = time.presets.findText("January 2010")
    time.presets.setCurrentIndex(place)
    time.presets.activated.emit(place)
    selection = map_page.session.state.selection
    assert (selection.start, selection.end) == ("2010-01-01T00:00:00Z", "2010-02-01T00:00:00Z")
    assert time.start.dateTime() == QDateTime(QDate(2010, 1, 1), QTime(0, 0), QTimeZone.utc())
    assert 0 < map_page.answered().readout("checkins").value < every
    time.end.setDateTime(time.end.dateTime().addDays(-10))
    assert map_page.session.state.selection.end == "2010-01-22T00:00:00Z"
    assert time.presets.currentData() is None  # neither all times nor a month
    time.end.setDateTime(time.start.dateTime().addDays(-1))
    assert map_page.session.state.selection.end == "2010-01-22T00:00:00Z"
    assert "before" in time.why.text()
    assert time.why.isVisible()


def test_months_cover_a_span() -> None:
    names = [name for name, _, _ in month_ranges("2009-11-30T23:00:00Z", "2010-02-01T00:00:00Z")]
    assert names == ["November 2009", "December 2009", "January 2010", "February 2010"]
    ranges = month_ranges("2009-12-05T00:00:00Z", "2009-12-06T00:00:00Z")
    assert ranges == [("December 2009", "2009-12-01T00:00:00Z", "2010-01-01T00:00:00Z")]


def choose_users(map_page: MapPage, mode: str) -> None:
    box = map_page.panel.sample.mode
    box.setCurrentIndex(box.findData(mode))
    box.activated.emit(box.currentIndex())


def test_users_are_sampled_and_all_can_be_taken(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)
    sample = map_page.panel.sample
    assert not sample.number.isVisible()
    choose_users(map_page, "number")
    assert map_page.session.state.selection.users == 200
    snapshots.check(_count_of(map_page))
    type_into(sample.number, "10")
    assert map_page.answered().readout("users_used").value == 10
    ten = map_page.answered().surface("true").values
    type_into(sample.seed, "3")
    assert map_page.session.state.selection.data_seed == 3
    assert (map_page.answered().surface("true").values != ten).any()
    choose_users(map_page, "share")
    assert not sample.number.isVisible()
    type_into(sample.share, "25")
    assert map_page.session.state.selection.share == 0.25
    result = map_page.answered()
    assert 0 < result.readout("users_used").value < result.readout("users_in_region").value
    choose_users(map_page, "all")
    result = map_page.answered()
    assert not map_page.session.state.selection.sampled
    assert result.readout("users_used").value == result.readout("users_in_region").value
    assert not sample.seed.isVisible()
    map_page.session.undo()
    assert map_page.session.state.selection.share == 0.25
    assert sample.mode.currentData() == "share"
    type_into(sample.seed, "-1")
    assert map_page.session.state.selection.data_seed == 3
    choose_users(map_page, "number")
    assert map_page.session.state.selection.users == 10  # as before
    type_into(sample.number, "0")
    assert map_page.session.state.selection.users == 10


def _count_of(map_page: MapPage) -> str:
    map_page.answered()
    return map_page.panel.sample.count.text()


def test_a_region_says_where_it_came_from(map_page: MapPage, checkins) -> None:
    map_page.load(checkins)

    def origin() -> Origin:
        return map_page.session.state.selection.region_origin

    assert origin() is Origin.FIRST
    assert map_page.answered().conditions[1].holds is False
    region = map_page.region
    for side in ("south", "west", "north"):
        type_into(map_page.panel.sides[side], f"{getattr(region, side) - 0.01:.3f}")
    assert origin() is Origin.FIRST  # one side still has its automatic origin
    snapshots.check(map_page.panel.region_from.text())
    type_into(map_page.panel.sides["east"], f"{region.east + 0.01:.3f}")
    assert origin() is Origin.TYPED
    assert "○ typed in" in map_page.panel.region_from.text()
    assert map_page.answered().conditions[1].holds is None
    map_page.map.set_region_box((40.5, -74.3, 41.0, -73.6))
    assert origin() is Origin.DRAWN
    assert "✗ drawn or dragged" in map_page.panel.region_from.text()
    map_page.session.undo()
    assert origin() is Origin.TYPED


def test_an_end_that_nobody_chose_stays_open(map_page: MapPage, checkins) -> None:
    """The fields show the first and last check-in; only changed fields are a choice."""
    map_page.load(checkins)
    time = map_page.panel.time
    time.end.setDateTime(time.end.dateTime().addDays(-3))
    selection = map_page.session.state.selection
    assert selection.start is None
    assert selection.end is not None
    assert selection.time_from is Origin.TYPED


def test_closing_during_a_load_leaves_no_thread(qtbot, tmp_path) -> None:
    large = tmp_path / "large.txt.gz"
    with gzip.open(large, "wt", compresslevel=1) as file:
        text = lines(5000)
        for _ in range(60):
            file.write(text)
    before = set(threading.enumerate())
    with opened(qtbot) as map_page:
        map_page.data.open(large)
        qtbot.wait(60)
    assert not [t for t in threading.enumerate() if t not in before and t.is_alive()]


def test_two_loads_at_once_end_with_the_second(map_page: MapPage, checkins, tmp_path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(lines(50))
    loaded = []
    map_page.data.loaded.connect(loaded.append)
    map_page.data.open(checkins)
    map_page.data.open(other)
    map_page.qtbot.waitUntil(lambda: not map_page.data.busy)
    assert [data.basename for data in loaded] == ["other.txt"]
    assert map_page.data.current.basename == "other.txt"


def test_no_question_is_asked_by_a_modal_box(map_page: MapPage, checkins, monkeypatch) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda *_: pytest.fail("a modal box"))
    map_page.load(checkins)
    map_page.data.open("nowhere")
    map_page.qtbot.waitUntil(lambda: not map_page.data.busy)
