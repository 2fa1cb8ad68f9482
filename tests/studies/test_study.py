"""What a study need not say itself: the base class and the registry know it."""

from __future__ import annotations

import pytest

from explorer.studies.base.parameters import Kind, Parameter, table_rows
from explorer.studies.base.study import Fidelity, Result, Study, default_request, preset
from explorer.studies.registry import (
    get_study,
    register,
    registered_studies,
    study_info,
    study_infos,
    unregister,
)
from tests import snapshots


class Least(Study):
    """All that a study must have."""

    id = "least"

    def answer(self, request, context):
        yield Result(request, Fidelity.FULL, complete=True)


@pytest.fixture
def least():
    study = Least()
    register(study, "The least", "What must a study have?")
    yield study
    unregister("least")


def test_a_study_has_defaults_for_all_but_its_id_and_its_answer(least):
    assert least.references == least.parameters == least.quantities == least.presets == ()
    assert least.needs_data is False
    assert least.page is None
    assert dict(least.claims) == {}
    with pytest.raises(ValueError, match="'any' is not a") as error:
        preset(least, "any")
    snapshots.check(error.value)
    (only,) = least.answer(default_request(least), None)
    assert only.complete
    with pytest.raises(TypeError, match="answer"):
        Study()


def test_what_lists_show_stands_on_the_card_alone(least):
    assert (least.name, least.question, least.workspace) == (
        "The least",
        "What must a study have?",
        "bounds",
    )
    assert registered_studies() == (study_info("least"),)
    assert study_info("least").where == f"{__name__}:Least"
    for shown in study_infos():
        study = get_study(shown.id)
        assert study.id == shown.id
        assert not {"name", "question", "workspace"} & set(vars(type(study))), shown.id
        assert study.name == shown.name


def test_an_id_is_taken_once_and_given_back(least):
    for taken in (least, get_study("unbounded")):
        with pytest.raises(ValueError, match=f"a study {taken.id!r} exists already"):
            register(taken)
    unregister("least")
    unregister("unbounded")
    with pytest.raises(ValueError, match="there is no") as error:
        get_study("least")
    snapshots.check(error.value)
    register(least)
    assert least.name == "least"
    assert get_study("unbounded").name == "Unbounded data"


def test_a_typed_table_keeps_every_number_and_says_where_it_is_wrong() -> None:
    table = Parameter("t", "", "table", "Help.", Kind.TABLE, "")
    kept = table.parse(" 0.1 0.9 ;\n0.30000000000000004,0.7 ")
    assert kept == "0.1 0.9; 0.30000000000000004 0.7"
    assert table_rows(kept, "t") == ((0.1, 0.9), (0.30000000000000004, 0.7))
    assert table.parse(kept) == kept
    with pytest.raises(ValueError, match="t, row 2, field 1: 'a' is") as error:
        table.parse("1 2; a 3")
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="t, row 3: 1 numbers where") as error:
        table.parse("1 2; 3 4; 5")
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="field 1: 'nan' is") as error:
        table.parse("nan")
    snapshots.check(error.value)
