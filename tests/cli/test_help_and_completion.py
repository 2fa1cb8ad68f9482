"""What the command line says of a study before it is asked, and what Tab offers."""

from __future__ import annotations

import os
import subprocess
import sys
from pkgutil import resolve_name

import click
import pytest
from click.shell_completion import BashComplete

from explorer.cli import COMMANDS, cli, run
from explorer.studies.registry import get_study, study_infos

BOUNDS = [info.id for info in study_infos() if info.workspace == "bounds"]


def offered(*words: str) -> list[str]:
    """What is offered for the last word."""
    found = BashComplete(cli, {}, "privacy-explorer", "_PRIVACY_EXPLORER_COMPLETE")
    return [item.value for item in found.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize("study_id", BOUNDS)
def test_the_help_of_a_study_lists_its_parameters(
    study_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bounds", study_id, "--help"]) == 0
    told = capsys.readouterr().out
    flat = "".join(told.split())
    study = get_study(study_id)
    for p in study.parameters:
        assert f"\n  {p.key} " in told
        assert "".join(p.help.split()) in flat
    for q in study.quantities:
        assert f"\n  {q.key} " in told
    for preset in study.presets:
        assert f"\n  {preset.key} " in told
    assert "--output" in told
    assert "..." not in told


def test_the_order_of_study_and_help_does_not_matter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", "--help", "itemwise"]) == 0
    assert "\n  alpha0 " in capsys.readouterr().out


def test_help_without_a_study_lists_the_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {study_id} " in told for study_id in BOUNDS)
    assert "\n  heatmap " not in told  # it has a command of its own


def test_tab_offers_studies_and_their_keys() -> None:
    assert offered("bounds", "") == BOUNDS
    assert offered("bounds", "co") == ["coordinate-mean", "coordinate-learnt"]
    assert offered("studies", "heat") == ["heatmap", "heatmap-theory"]
    assert offered("window", "--study", "uni") == []
    assert offered("window", "--study", "un") == ["unbounded"]
    assert offered("bounds", "shuffle-rdp", "--set", "eps") == ["eps0="]
    assert "T=" in offered("bounds", "shuffle-rdp", "--sweep", "")
    assert offered("bounds", "shuffle-rdp", "--quantity", "") == [
        "eps",
        "rdp",
        "own",
        "epochs",
        "ternary",
        "tradeoff",
    ]
    assert "figure-2a" in offered("bounds", "shuffle-rdp", "--preset", "figure-2")
    assert offered("bounds", "no-such-study", "--set", "") == []
    assert offered("cache", "") == ["clear", "show"]


def test_the_installed_program_completes() -> None:
    """As a shell asks it, through the environment."""
    done = subprocess.run(
        [sys.executable, "-m", "explorer"],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "_PRIVACY_EXPLORER_COMPLETE": "bash_complete",
            "COMP_WORDS": "privacy-explorer bounds shuf",
            "COMP_CWORD": "2",
        },
    )
    assert done.stdout.split() == ["plain,shuffle-rdp"], done.stderr


def test_the_line_for_a_shells_start_up_file_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "explorer"],
        capture_output=True,
        text=True,
        env={**os.environ, "_PRIVACY_EXPLORER_COMPLETE": "zsh_source"},
    )
    assert done.returncode == 0
    assert "#compdef privacy-explorer" in done.stdout


def test_every_option_and_argument_is_explained() -> None:
    for name, where in COMMANDS.items():
        command = resolve_name(where)
        context = click.Context(command, info_name=name)
        context.meta["explorer.study"] = None
        for option in command.get_params(context):
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)


def test_the_version_is_printed_without_numpy() -> None:
    """Every command would wait for it."""
    code = "import sys, explorer.cli; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
