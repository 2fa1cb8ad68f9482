"""Choice of the privacy unit, and confirmation of stored columns."""

from __future__ import annotations

from explorer.checkins import Mapping
from explorer.checkins.model import Candidate, Dialect, Preview, Question
from explorer.ui.controllers.data_controller import MappingRequest, asked_today, with_stored_mapping
from explorer.ui.dialogs.answer_cards import CHOOSE
from explorer.ui.dialogs.open_checkins import MappingDialog

ROWS = tuple((f"ride {i}", f"2024-01-0{i}T10:00:00Z", f"40.{i}", f"-74.{i}") for i in range(1, 8))
COLUMNS = ("ride_id", "time", "lat", "lon")


def preview(user: int | None = None, questions: tuple[Question, ...] = ()) -> Preview:
    return Preview(
        "rides.csv",
        400,
        Dialect("csv", ",", has_header=True),
        COLUMNS,
        ROWS,
        Mapping(user, 1, 2, 3),
        1.0,
        questions=questions,
        sample=ROWS,
    )


def test_no_user_column_can_be_said_in_the_dialog(qtbot, tmp_path) -> None:
    dialog = MappingDialog(MappingRequest((tmp_path / "rides.csv",), preview(), ""))
    qtbot.addWidget(dialog)
    card = dialog.person
    assert not dialog.load_button.isEnabled()
    assert not any(radio.isEnabled() for radio in card.units.values())
    card.options[card.none].radio.click()
    assert not card.button.isEnabled()  # what is protected instead is still open
    for unit in ("row", "file"):
        card.units[unit].click()
        assert (dialog.mapping.user, dialog.mapping.unit) == (None, unit)
        assert not dialog.load_button.isEnabled()  # a changed answer is not confirmed
        card.button.click()
        assert dialog.load_button.isEnabled()
    card.options[card.other].radio.click()
    assert dialog.problem == CHOOSE
    card.boxes["user"].setCurrentIndex(1)
    assert (dialog.mapping.user, dialog.mapping.unit) == (0, None)
    card.options[card.none].radio.click()
    card.units["row"].click()
    assert (dialog.mapping.user, dialog.mapping.unit) == (None, "row")


def test_a_former_user_column_is_asked_about_once_with_itself_preselected(qtbot, tmp_path) -> None:
    former = Mapping(0, 1, 2, 3)
    question = Question(
        "user",
        "Whose?",
        "Nobody knows.",
        ("user",),
        (Candidate("row", (("user", None), ("unit", "row"))),),
    )
    assert not asked_today(preview(0), former)
    assert asked_today(preview(1), former)
    assert asked_today(preview(None, (question,)), former)
    for found in (preview(None, (question,)), preview(1)):
        again = with_stored_mapping(found, former)
        assert again.suggested == former
        dialog = MappingDialog(MappingRequest((tmp_path / "rides.csv",), again, ""))
        qtbot.addWidget(dialog)
        assert not dialog.load_button.isEnabled()
        dialog.person.button.click()
        assert dialog.mapping.user == 0
        assert dialog.load_button.isEnabled()
