"""Choice of the privacy unit, and confirmation of stored columns."""

from __future__ import annotations

from explorer.checkins import Mapping
from explorer.checkins.model import Candidate, Dialect, Preview, Question
from explorer.ui.controllers.data_controller import MappingRequest, asked_today, with_stored_mapping
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
    assert not dialog.load_button.isEnabled()
    for unit in ("row", "file"):
        dialog.unit.setCurrentIndex(dialog.unit.findData(unit))
        assert (dialog.mapping.user, dialog.mapping.unit) == (None, unit)
        assert dialog.load_button.isEnabled()
    dialog.combos["user"].setCurrentIndex(1)
    assert (dialog.mapping.user, dialog.mapping.unit) == (0, None)
    dialog.unit.setCurrentIndex(dialog.unit.findData("row"))
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
        dialog.questions.cards["user"].confirm()
        assert dialog.mapping.user == 0
        assert dialog.load_button.isEnabled()
