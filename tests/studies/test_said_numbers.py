"""A wrong number typed into a preset is found: each is compared with what is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import preset
from explorer.studies.registry import get_study, study_infos
from tests.studies.said import coordinates, maps, pages, shuffled, users
from tests.studies.said.numbers import (
    Ask,
    Said,
    compared,
    computed_in,
    numbers_in,
    problems,
    value_of,
)

SAID = maps.SAID | shuffled.SAID | users.SAID | coordinates.SAID
PRESETS = [
    (info.id, item.key)
    for info in study_infos()
    for item in get_study(info.id).presets
    if item.computed
]


@pytest.mark.full
@pytest.mark.parametrize(("study", "key"), SAID)
def test_what_a_preset_says_of_our_numbers_is_what_is_computed(study, key):
    text = preset(get_study(study), key).computed
    assert problems(text, SAID[study, key](Ask(study, key))) == []


def test_every_preset_with_a_number_is_compared():
    with_numbers = [
        (study, key) for study, key in PRESETS if numbers_in(preset(get_study(study), key).computed)
    ]
    assert sorted(SAID) == sorted(with_numbers)


def _page_numbers(study: str) -> list[str]:
    page = get_study(study).page
    return computed_in("\n".join((*page.what, *page.assumptions, *page.errata)))


@pytest.mark.full
@pytest.mark.parametrize("study", pages.PAGES)
def test_what_a_help_page_says_is_what_is_computed(study):
    assert compared(_page_numbers(study), pages.PAGES[study]()) == []


def test_every_help_page_with_a_number_is_compared():
    assert sorted(pages.PAGES) == sorted(c.id for c in study_infos() if _page_numbers(c.id))


@pytest.mark.full
def test_what_the_guide_says_is_what_is_computed():
    page = Path(__file__).resolve().parents[2] / "resources" / "guide" / "numbers.md"
    text = page.read_text(encoding="utf-8").partition("## Where we differ")[2]
    assert problems(text.partition("\n## ")[0], pages.guide()) == []


def test_wrong_numbers_are_found():
    half = (Said(0.10834, Role.LOWER), Said(12.3456, Role.UPPER), "1e5")
    assert problems("0.1083 and 12.35 at 1e5 (Theorem 3.1, Figure 2 (a), ℓ2, (8))", half) == []
    for wrong in (
        "0.1084 and 12.35 at 1e5",
        "0.1083 and 12.34 at 1e5",
        "0.1083 and 12.35 at 1e6",
        "0.1083 and 12.35",
        "0.1083, 12.35 and 7 at 1e5",
    ):
        assert problems(wrong, half)
    assert numbers_in("ε₂ … .32129, 1,067 rounds, 3·10⁴ users, 10⁶, 71% and 1e-6") == [
        ".32129",
        "1,067",
        "3·10⁴",
        "10⁶",
        "71",
        "1e-6",
    ]
    assert [float(value_of(t)) for t in ("3·10⁴", "10⁻⁸", "145,087", ".5")] == [
        3e4,
        1e-8,
        145087,
        0.5,
    ]


@pytest.mark.parametrize("study", ["shuffle-rdp", "cldp-sgd"])
def test_one_name_for_one_curve(study):
    """The legend says “Theorem 1 (upper bound)”; what presets say of it has that name, too."""
    for item in get_study(study).presets:
        assert "Theorem 3" not in item.computed, item.key
