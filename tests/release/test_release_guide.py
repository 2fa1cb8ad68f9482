"""The guide's page on releases: commands and plan work as printed, in its order."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from explorer.cli import run
from explorer.release.ledger import settings

SECTION = (Path(__file__).resolve().parents[2] / "resources/guide/releases.md").read_text(
    encoding="utf-8"
)


@pytest.mark.full
def test_its_commands_and_its_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Away from the working folder, as on a user's machine: the commands must not expect it there.
    kept = tmp_path / "data" / "ledger.sqlite"
    monkeypatch.setattr(settings, "default_ledger", lambda: kept)
    monkeypatch.setattr(
        settings, "default_settings", lambda: tmp_path / "settings" / "ledgers.json"
    )
    commands = re.findall(r"^    privacy-explorer (.+)$", SECTION, flags=re.MULTILINE)
    assert {command.split()[0] for command in commands} == {"ledger", "release", "verify"}
    (plan,) = re.findall(r"```json\n(.+?)```", SECTION, flags=re.DOTALL)
    rows = (f"u{k % 50}\t2026-01-02T03:04:05Z\t40.{600 + k}\t-73.{800 + k}\t7\n" for k in range(99))
    (tmp_path / "checkins.csv").write_text("".join(rows), encoding="utf-8")
    for command in commands:
        assert run(shlex.split(command, comments=True)) == 0, command
        streams = capsys.readouterr()
        said = streams.out
        assert (said + streams.err).strip(), command
        if command.startswith("ledger open"):
            written = json.loads(plan) | {"population": said.split()[-1]}
            (tmp_path / "PLAN.json").write_text(json.dumps(written), encoding="utf-8")
    assert (tmp_path / "map.csv").stat().st_size > 1000
    assert (tmp_path / "rehearsal.csv").stat().st_size > 1000
