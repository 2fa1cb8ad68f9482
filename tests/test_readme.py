"""The README's two commands are what CI runs and what a user is told."""

from __future__ import annotations

import re
from pathlib import Path

from explorer.ui.preflight import BASE, X11

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _commands() -> list[str]:
    return re.findall(r"^    (.+)$", README, flags=re.MULTILINE)


def test_the_first_screen_is_a_picture_and_two_commands() -> None:
    run, test = _commands()[:2]
    assert run.endswith("&& .venv/bin/privacy-explorer")
    assert test.endswith("QT_QPA_PLATFORM=offscreen .venv/bin/python -m pytest")
    picture = re.search(r"!\[.+\]\((.+)\)", README)
    assert picture is not None
    assert README.index(picture[0]) < README.index(run)
    assert (ROOT / picture[1]).stat().st_size > 10_000


def test_both_commands_install_every_package_that_the_preflight_may_name() -> None:
    for command in _commands()[:2]:
        named = set(command.split())
        assert {*BASE.values(), *X11.values()} <= named


def test_the_table_of_questions_is_the_list_of_studies() -> None:
    from explorer.studies.registry import cards

    for card in cards():
        assert f"| {card.name} | {card.question}" in README
