"""Dialog that opens check-ins: its cards, how they are confirmed, and what it remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from explorer import checkins
from explorer.checkins import Mapping
from explorer.checkins.model import Candidate, Question
from explorer.engine.session.schema import plain
from explorer.ui.app.tab_order import focus_chain, stops_tab
from explorer.ui.controllers.data_controller import MappingRequest
from explorer.ui.controllers.session_store import SessionStore, StateFile
from explorer.ui.dialogs.open_checkins import (
    BY_NAME,
    BY_VALUES,
    CONFIRMED,
    NONE_READABLE,
    MappingDialog,
)
from tests.ui.access import check, mnemonics
from tests.ui.small_map import SMALL_MAP

NAMES = "Fahrt;Kunde;Gerät;Beginn;Start Breite;Start Länge;Ziel Breite;Ziel Länge;Ende"


def rides(path: Path, encoding: str = "cp1252", rows: int = 300) -> Path:
    """Write rides with two devices, two positions and two times each, below two other lines."""
    lines = [
        f"{4711 + i};K-{i % 40:04};WR-{i % 23:04};03.11.2026 {7 + i // 60:02}:{i % 60:02};"
        f"48,{2081 + i % 90};16,{3713 - i % 70};48,{1986 + i % 50};16,{3699 + i % 40};"
        f"{13 + i % 15}.11.2026 08:{i % 60:02}"
        for i in range(rows)
    ]
    text = "\n".join(["sep=;", "Leihräder Wien, Export vom 04.11.2026", NAMES, *lines]) + "\n"
    path.write_bytes(text.encode(encoding))
    return path


def asked(qtbot, path: Path, memory: SessionStore | None = None) -> MappingDialog:
    preview = checkins.sniff_files(checkins.find_files((path,)))
    dialog = MappingDialog(MappingRequest((path,), preview, ""), memory=memory)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    if preview.delimiter:
        qtbot.waitUntil(lambda: dialog.rows.outline.total is not None)
    return dialog


@pytest.fixture
def dialog(qtbot, tmp_path: Path) -> MappingDialog:
    return asked(qtbot, rides(tmp_path / "Fahrten_2026.csv"))


def place(dialog: MappingDialog, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(dialog, QPoint(0, 0)), widget.size())


def places(dialog: MappingDialog) -> dict[str, QRect]:
    """Return where the controls are that stay for as long as the dialog is open."""
    parts = {
        "table": dialog.table,
        "remember": dialog.remember,
        "open": dialog.load_button,
        "verdict": dialog.verdict,
        "lines": dialog.rows.line,
    }
    for key, card in dialog.cards.items():
        parts |= {f"{key} card": card, f"{key} button": card.button}
        parts |= {f"{key} {i}": answer for i, answer in enumerate(card.options)}
    for key, column in dialog.reading.columns.items():
        parts |= {key: column.field, f"{key} remark": column.remark}
    return {name: place(dialog, widget) for name, widget in parts.items()}


def test_the_file_is_described_above_its_first_lines(dialog: MappingDialog) -> None:
    reading = dialog.reading
    assert dialog.title.text() == "Open Fahrten_2026.csv"
    assert dialog.detected.text().endswith(" bytes, 303 lines")
    fields = [column.field for key, column in reading.columns.items() if key != "zone"]
    shown = [field.currentText().partition(" (")[0] for field in fields]
    assert shown == ["; semicolon", ", comma", "line 3", "03.11.2026 07:00"]
    assert [column.remark.text() for column in reading.columns.values()] == [
        "9 columns",
        "48,2081 is 48.2081",
        "2 lines before it",
        "day.month.year",
        "07:00 is 07:00 UTC",
    ]
    above = [line for line in dialog.rows.above if line.isVisible()]
    assert [(line.number.text(), line.text.text()) for line in above] == [
        ("1", "sep=;"),
        ("2", "Leihräder Wien, Export vom 04.11.2026"),
    ]
    numbers = [dialog.table.verticalHeaderItem(r).text() for r in (0, 1, 199)]
    assert numbers == ["4", "5", "203"]
    roles = {dialog.preview.columns[c]: role for c, role in dialog.rows.header.roles.items()}
    assert roles == {
        "Kunde": "person",
        "Beginn": "time",
        "Start Breite": "latitude",
        "Start Länge": "longitude",
    }


def test_three_answers_are_confirmed_by_enter_then_the_file_opens(
    dialog: MappingDialog, qtbot
) -> None:
    assert (dialog.width(), dialog.height()) == (984, 680)
    for card in dialog.cards.values():
        assert card.height() == 322
        assert card.width() == pytest.approx(304, abs=1)
        assert dialog.focusWidget() is card.button
        assert not dialog.load_button.isEnabled()
        qtbot.keyClick(card.button, Qt.Key.Key_Return)
        assert card.is_confirmed
        assert card.button.text() == CONFIRMED
    assert dialog.problem == ""
    assert dialog.focusWidget() is dialog.load_button
    with qtbot.waitSignal(dialog.load) as opening:
        qtbot.keyClick(dialog.load_button, Qt.Key.Key_Return)
    mapping = opening.args[1]
    assert (mapping.user, mapping.time, mapping.lat, mapping.lon) == (1, 3, 4, 5)
    assert mapping.time_format == "%d.%m.%Y %H:%M"


def test_enter_in_a_field_opens_nothing(dialog: MappingDialog, qtbot) -> None:
    for card in dialog.cards.values():
        card.button.click()
    dialog.reading.zone.setFocus()
    with qtbot.assertNotEmitted(dialog.load):
        qtbot.keyClick(dialog.reading.zone, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_another_answer_takes_back_its_confirmation_alone(dialog: MappingDialog) -> None:
    for card in dialog.cards.values():
        card.button.click()
    dialog.position.answers.button(1).click()
    assert (dialog.mapping.lat, dialog.mapping.lon) == (6, 7)
    assert [card.is_confirmed for card in dialog.cards.values()] == [True, False, True]
    assert not dialog.load_button.isEnabled()
    dialog.position.answers.button(0).click()  # the first answer once more is asked once more
    assert not dialog.position.is_confirmed
    dialog.reading.choose_format("%d.%m.%Y %H:%M:%S")  # a field above the cards
    assert not dialog.time.is_confirmed


def test_nothing_moves_while_answers_change(dialog: MappingDialog, qtbot) -> None:
    before = places(dialog)
    for card in dialog.cards.values():
        card.button.click()
        qtbot.turns()
        assert places(dialog) == before
    for card in dialog.cards.values():
        for button in card.answers.buttons():
            button.click()
            qtbot.turns()
            assert places(dialog) == before
    dialog.reading.zone.setText("Europe/Vienna")
    qtbot.turns()
    assert places(dialog) == before


def test_all_answers_are_in_sight(dialog: MappingDialog, qtbot) -> None:
    for card in dialog.cards.values():
        inside = place(dialog, card)
        assert dialog.rect().contains(inside)
        assert card.area.verticalScrollBar().maximum() == 0
        assert card.area.widget().width() <= card.area.viewport().width()
        for answer in card.options:
            radio, words = answer.radio, answer.radio.text().replace("&&", "&")
            assert inside.contains(place(dialog, radio))
            assert radio.fontMetrics().horizontalAdvance(words) <= radio.width() - 20
    long = asked(qtbot, rides_of_long_names(dialog.request.source[0].with_name("long.csv")))
    for card in long.cards.values():
        assert place(long, card).contains(place(long, card.button))
        for answer in card.options:
            radio, words = answer.radio, answer.radio.text().replace("&&", "&")
            assert radio.fontMetrics().horizontalAdvance(words) <= radio.width() - 20


def rides_of_long_names(path: Path) -> Path:
    names = [f"{name} as the driver noted it down by hand" for name in NAMES.split(";")]
    path.write_text(rides(path).read_bytes().decode("cp1252").replace(NAMES, ";".join(names)))
    return path


def test_more_lines_stand_in_place_of_the_cards(dialog: MappingDialog, qtbot) -> None:
    few = dialog.rows.line.text()
    assert few.startswith("Lines 4 to ")
    dialog.rows.more.click()
    qtbot.turns()
    assert not dialog.answers.isVisible()
    last = dialog.table.rowAt(dialog.table.viewport().height() - 12)
    assert last > 15
    assert dialog.rows.line.text().startswith(f"Lines 4 to {last + 4} of 303.")
    dialog.rows.more.click()
    qtbot.turns()
    assert dialog.answers.isVisible()
    assert dialog.rows.line.text() == few


def test_tab_goes_through_fields_table_cards_and_buttons(dialog: MappingDialog, qtbot) -> None:
    dialog.person.button.click()
    found = [widget for widget in focus_chain(dialog) if stops_tab(widget)]
    first = found.index(dialog.reading.encoding)
    found = found[first:] + found[:first]
    expected = [column.field for column in dialog.reading.columns.values()]
    expected += [dialog.table, dialog.rows.more]
    expected += [dialog.position.answers.button(0), dialog.position.button]
    expected += [dialog.time.answers.button(0), dialog.time.button]
    expected += [dialog.cancel_button]
    at = [found.index(widget) for widget in expected]
    assert at == sorted(at)
    assert check(dialog) == []
    labels = [label.text() for label in dialog.findChildren(QLabel) if label.buddy()]
    buttons = [b.text() for b in dialog.findChildren(QAbstractButton)]
    assert mnemonics(labels + buttons) == []


def test_columns_recognised_by_name_ask_nothing(qtbot, tmp_path: Path) -> None:
    path = tmp_path / "sure.csv"
    rows = "".join(f"u{i % 9},48.{i:03},11.{i:03},2024-05-01 08:{i:02}:00\n" for i in range(40))
    path.write_text("user,lat,lon,time\n" + rows)
    dialog = asked(qtbot, path)
    assert [card.button.text() for card in dialog.cards.values()] == [BY_NAME] * 3
    assert dialog.focusWidget() is dialog.load_button
    path.write_text("user,lat,lon,qqq\n" + rows)
    unknown = asked(qtbot, path).time.button.text()
    assert unknown == BY_VALUES  # no name says that it is a time
    dialog.time.options[dialog.time.none].radio.click()
    assert dialog.problem == "1 answer to confirm: time."
    path.write_text(rows)
    dialog = asked(qtbot, path)  # without names everything is asked
    assert not any(card.is_confirmed for card in dialog.cards.values())
    assert not dialog.remember.isEnabled()


def test_an_encoding_that_is_not_sure_is_confirmed_too(qtbot, tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    rows = [f"Muñoz{i % 9};48.{i:03};11.{i:03};bar\n" for i in range(40)]
    path.write_bytes(("user;lat;lon;ort\n" + "".join(rows)).encode("cp1252"))
    dialog = asked(qtbot, path)
    question = dialog.preview.question("encoding")
    assert question is not None
    assert dialog.problem == "1 answer to confirm: encoding."
    assert question.candidates[0].example in dialog.reading.first.remark.text()
    assert dialog.reading.encoding.property("doubtful")
    assert dialog.focusWidget() is dialog.reading.confirm_button
    dialog.reading.confirm_button.click()
    assert not dialog.reading.encoding.property("doubtful")
    assert dialog.load_button.isEnabled()
    assert dialog.mapping.encoding == dialog.preview.encoding


def open_file(dialog: MappingDialog, remember: bool) -> None:
    for card in dialog.cards.values():
        card.button.click()
    dialog.remember.setChecked(remember)
    dialog.load_button.click()


def test_answers_are_remembered_for_files_like_it_if_that_is_ticked(qtbot, tmp_path: Path) -> None:
    store = SessionStore(None)
    first, second = rides(tmp_path / "October.csv"), rides(tmp_path / "November.csv", rows=80)
    open_file(asked(qtbot, first, store), remember=False)
    assert store.answers == []
    dialog = asked(qtbot, first, store)
    dialog.person.answers.button(1).click()
    dialog.time.extra["location"].setCurrentIndex(dialog.time.extra["location"].findText("Fahrt"))
    dialog.reading.zone.setText("Europe/Vienna")
    wanted = dialog.mapping
    open_file(dialog, remember=True)
    dialog = asked(qtbot, second, store)
    texts = [card.button.text() for card in dialog.cards.values()]
    assert texts == ["✓ Remembered from October.csv"] * 3
    assert dialog.mapping == wanted
    assert dialog.focusWidget() is dialog.load_button
    dialog.person.answers.button(0).click()  # it can be changed, and is asked then
    assert dialog.problem == "1 answer to confirm: person."
    open_file(dialog, remember=False)  # without the tick it is forgotten
    assert store.answers == []


def test_dates_written_in_another_way_are_asked_about_again(qtbot, tmp_path: Path) -> None:
    store = SessionStore(None)
    path = rides(tmp_path / "October.csv")
    open_file(asked(qtbot, path, store), remember=True)
    path.write_bytes(path.read_bytes().replace(b"03.11.2026 ", b"2026-11-03 "))
    dialog = asked(qtbot, path, store)
    assert dialog.problem == NONE_READABLE
    assert [card.is_confirmed for card in dialog.cards.values()] == [True, True, False]


def test_a_former_answer_does_not_say_who_ids_in_doubt_are(qtbot, tmp_path: Path) -> None:
    store = SessionStore(None)
    ids = [f"p{i % 9}" for i in range(60)]
    for name, users in (("October", ids), ("November", ids), ("December", ["NULL", *ids, "NULL"])):
        path = tmp_path / f"{name}.csv"
        rows = [f"{who},48.{i:03},11.{i:03}\n" for i, who in enumerate(users)]
        path.write_text("user,lat,lon\n" + "".join(rows))
        dialog = asked(qtbot, path, store)
        settled = [card.is_confirmed for card in dialog.cards.values()]
        assert settled == [name != "December", True, True]
        if name != "December":
            open_file(dialog, remember=True)
    assert "NULL" in dialog.person.why.text()
    open_file(dialog, remember=True)  # the answer to this very question is remembered
    assert all(card.is_confirmed for card in asked(qtbot, path, store).cards.values())


def test_answers_are_not_remembered_for_other_headers(qtbot, tmp_path: Path) -> None:
    store = SessionStore(None)
    open_file(asked(qtbot, rides(tmp_path / "October.csv"), store), remember=True)
    other = rides(tmp_path / "other.csv")
    other.write_bytes(other.read_bytes().replace(b"Fahrt;", b"Reise;"))
    dialog = asked(qtbot, other, store)
    assert dialog.problem == "3 answers to confirm: person, position and time."
    assert not dialog.remember.isChecked()


def test_remembered_answers_are_there_in_the_next_session(
    open_window, settled, qtbot, tmp_path: Path
) -> None:
    def ask(window, path: Path) -> MappingDialog:
        with qtbot.waitSignal(window.data.mapping_needed):
            window.files.open_data(path)
        dialog: MappingDialog = window.data_panel.dialog("mapping")
        return dialog

    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    dialog = ask(window, rides(tmp_path / "October.csv"))
    with qtbot.waitSignal(window.data.loaded):
        open_file(dialog, remember=True)
    assert window.data.current.users == 40
    settled(window)
    window.close()
    again = open_window()
    settled(again)
    again.resize(1024, 720)
    dialog = ask(again, rides(tmp_path / "November.csv", rows=90))
    assert dialog.person.button.text() == "✓ Remembered from October.csv"
    assert (dialog.width(), dialog.height()) == (984, 680)  # fits into the smallest window
    with qtbot.waitSignal(again.data.loaded):
        dialog.load_button.click()
    assert again.data.current.rows == 90
    settled(again)


def test_a_question_of_another_kind_is_asked_on_the_card_of_the_time(qtbot, tmp_path) -> None:
    path = tmp_path / "sure.csv"
    rows = "".join(f"u{i % 9},48.{i:03},11.{i:03},2024-05-01 08:{i:02}:00,{i}\n" for i in range(40))
    path.write_text("user,lat,lon,time,visits\n" + rows)
    preview = checkins.sniff_files(checkins.find_files((path,)))
    once, more = Candidate("once", (("weight", None),)), Candidate("visits", (("weight", 4),))
    question = Question("weight", "Does a row count more than once?", "", ("weight",), (more, once))
    preview = replace(preview, questions=(question,), mapping=replace(preview.mapping, weight=None))
    dialog = MappingDialog(
        MappingRequest(
            (path,), replace(preview, questions=(replace(question, preselected=None),)), ""
        )
    )
    qtbot.addWidget(dialog)
    group = dialog.time.further["weight"].group
    assert dialog.problem == question.title
    assert (group.checkedId(), dialog.time.button.isEnabled()) == (-1, False)
    for place, weight in ((1, None), (0, 4), (1, None)):
        group.button(place).click()
        assert dialog.mapping.weight == weight
        assert not dialog.load_button.isEnabled()
        dialog.time.button.click()
        assert dialog.load_button.isEnabled()
    dialog.time.extra["weight"].setCurrentIndex(dialog.time.extra["weight"].findData(4))
    assert group.checkedId() == 0
    assert dialog.problem == "1 answer to confirm: time."
    dialog.reject()


def test_answers_that_are_damaged_are_left_out(tmp_path: Path) -> None:
    store = SessionStore(StateFile(tmp_path))
    preview = checkins.sniff_files(checkins.find_files((rides(tmp_path / "October.csv"),)))
    store.remember(preview, replace(preview.suggested, zone="Europe/Vienna"), ["ab" * 32])
    kept = [plain(known) for known in store.answers]
    bad = [{**kept[0], "like": "none"}, {**kept[0], "columns": {"user": -1}}]
    store._file.save({"session": {}, "answers": [*bad, *kept]})
    again = SessionStore(StateFile(tmp_path))
    again.load()
    file, fields, answered = again.recall(preview)
    assert answered == ["ab" * 32]
    assert (file, len(again.answers)) == ("October.csv", 1)
    assert Mapping(**fields) == replace(preview.suggested, zone="Europe/Vienna")


def two_headers(path: Path, users: int = 7) -> Path:
    """Write two lines of names, the second of which calls the notes persons."""
    rows = [f"k{i % users};g{i % 3};48.{i + 100};16.{i + 200}" for i in range(60)]
    path.write_text("\n".join(["user;note;lat;lon", "note;user;lat;lon", *rows]) + "\n")
    return path


def choose_header(dialog: MappingDialog, line: int, qtbot) -> None:
    dialog.reading.header.setCurrentIndex(dialog.reading.header.findData(line))
    qtbot.waitUntil(lambda: dialog.preview.header_line == line)


def test_another_line_is_chosen_as_header(qtbot, tmp_path: Path) -> None:
    dialog = asked(qtbot, two_headers(tmp_path / "two.csv"))
    other = 3 - dialog.preview.header_line
    choose_header(dialog, other, qtbot)
    names = {1: "user;note;lat;lon", 2: "note;user;lat;lon"}
    assert dialog.preview.columns == tuple(names[other].split(";"))
    assert dialog.reading.header.currentText() == f"line {other} ({names[other]})"
    assert dialog.mapping.user == other - 1
    assert dialog.mapping.header == other
    choose_header(dialog, 0, qtbot)
    assert dialog.preview.columns[0] == "column 1"
    assert not any(card.is_confirmed for card in dialog.cards.values())


def test_a_chosen_header_is_remembered_and_can_be_changed(qtbot, tmp_path: Path) -> None:
    store = SessionStore(None)
    path = two_headers(tmp_path / "October.csv")
    dialog = asked(qtbot, path, store)
    other = 3 - dialog.preview.header_line
    choose_header(dialog, other, qtbot)
    wanted = dialog.mapping
    open_file(dialog, remember=True)
    dialog = asked(qtbot, two_headers(tmp_path / "November.csv", users=9), store)
    qtbot.waitUntil(lambda: dialog.preview.header_line == other)
    assert all(card.is_confirmed for card in dialog.cards.values())
    assert dialog.mapping == wanted
    choose_header(dialog, 3 - other, qtbot)
    assert dialog.mapping.header == 3 - other
    assert dialog.mapping.user == 2 - other


def test_a_chosen_delimiter_and_header_are_there_in_the_next_session(
    open_window, settled, qtbot, tmp_path: Path
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    path = tmp_path / "bars.csv"
    rows = [f"k{i % 7},x|g{i % 3},y|48.{i + 100}|16.{i + 200}" for i in range(60)]
    path.write_text("\n".join(["user|note|lat|lon", "note|user|lat|lon", *rows]) + "\n")
    with qtbot.waitSignal(window.data.mapping_needed):
        window.files.open_data(path, ask=True)
    dialog: MappingDialog = window.data_panel.dialog("mapping")
    for wanted in ("|", ";", "|"):
        dialog.reading.delimiter.setCurrentIndex(dialog.reading.delimiter.findData(wanted))
        qtbot.waitUntil(lambda wanted=wanted: dialog.preview.delimiter == wanted)
    other = 3 - dialog.preview.header_line
    choose_header(dialog, other, qtbot)
    with qtbot.waitSignal(window.data.loaded):
        open_file(dialog, remember=False)
    mapping = window.data.current.mapping
    assert (mapping.delimiter, mapping.header) == ("|", other)
    settled(window)
    window.close()
    again = open_window()
    settled(again)
    assert again.data.current.mapping == mapping
    assert again.data.current.users == {1: 7, 2: 3}[other]
