"""The command that checks an installation."""

from __future__ import annotations

import json

import pytest

from explorer.cli import run
from explorer.engine import compute_tasks
from explorer.studies.guarantees.checks import ENUMERATIONS, Check


@pytest.mark.full
def test_everything_passes_without_audits(capsys):
    assert run(["check", "--runs", "0"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert all(line.startswith("✓ ") for line in told[:-1])
    assert told[-1].startswith(f"{len(told) - 1} of {len(told) - 1} passed")


def test_what_fails_is_named_and_fails_the_command(capsys, monkeypatch):
    bad = Check(ENUMERATIONS, "something", False, "1 against 2")
    monkeypatch.setattr(compute_tasks, "checks", lambda *_: iter([bad]))
    assert run(["check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["passed"] is False
    assert run(["check"]) == 1
    assert "✗ Exact enumerations:" in capsys.readouterr().out
