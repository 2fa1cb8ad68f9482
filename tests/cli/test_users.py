"""The command that runs the algorithms for users' data: curator's table, answers, two files."""

from __future__ import annotations

import csv
import hashlib

import pytest
from click.testing import CliRunner

from explorer.cli import cli
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings, default_ledger, default_settings
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.users_data import guarantee

ITEMS = ["user,item", "a,0", "a,1", "b,3", "b,3", "c,0", "c,2"]
SPACE = ("--set", "space=discrete", "--set", "space_items=4")


@pytest.fixture
def files(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("\n".join(ITEMS) + "\n")
    two.write_text("\n".join([*ITEMS[:-1], "c,1"]) + "\n")
    return one, two


def run(*words):
    return CliRunner().invoke(cli, ["users", *map(str, words)], catch_exceptions=False)


def rows_of(path):
    lines = path.read_text().splitlines()
    assert lines[0] == f"# {REAL_DATA}"
    return list(csv.reader(lines[1:]))


def test_curators_table_is_first_and_answers_are_written(files, tmp_path):
    output = tmp_path / "answers.csv"
    done = run(files[0], *SPACE, "--output", output)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("**What was read (curator only)**")
    assert "| users | 3 |" in done.stdout
    assert REAL_DATA in done.stdout
    rows = rows_of(output)
    assert rows[0] == ["answer"]
    assert len(rows) == 7
    assert {row[0] for row in rows[1:]} <= set("0123")


def test_tables_of_a_file_count_as_a_look_at_it(files, tmp_path, monkeypatch):
    """A plan made afterwards must not be certified as fixed before the file was opened."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert run(files[0], "--second", files[1], *SPACE).exit_code == 0
    with Ledger(default_ledger(), FileSettings(default_settings())) as ledger:
        for file in files:
            known = ledger.known.file(hashlib.sha256(file.read_bytes()).hexdigest())
            assert known is not None
            assert known.shown == 1


def test_without_a_seed_the_system_draws_and_with_one_answers_are_repeated(files, tmp_path):
    output = tmp_path / "answers.csv"
    words = (files[0], *SPACE, "--algorithm", "1", "--output", output)

    def drawn(*more):
        assert run(*words, *more).exit_code == 0
        return rows_of(output)

    assert drawn("--seed", 5) == drawn("--seed", 5)
    assert drawn() != drawn()
    assert drawn()[0] == ["q1", "q2", "q3", "q4"]


def test_local_runs_are_said_to_be_simulated_and_name_who_would_send(files, tmp_path):
    output = tmp_path / "answers.csv"
    local = ("--set", "model=local")
    done = run(files[0], *SPACE, *local, "--output", output)
    assert guarantee.SIMULATED in done.stdout
    assert [row[0] for row in rows_of(output)] == ["user", "a", "a", "b", "b", "c", "c"]
    done = run(files[0], *SPACE, *local, "--algorithm", "1", "--output", output)
    assert [row[0] for row in rows_of(output)] == ["user", "a", "b", "c"]


def test_two_files_are_held_against_each_other(files):
    done = run(*(files[0], "--second", files[1]), *SPACE, "--set", "alpha=2")
    assert "| c | 0.5 | 0.5 | 2 | 2 |" in done.stdout
    assert "p ≤ e^1·p′ + 1e-6" in done.stdout


def test_what_cannot_be_drawn_is_refused_in_a_sentence(files, tmp_path):
    files[0].write_text("\n".join([*ITEMS, "c,1"]) + "\n")
    output = tmp_path / "answers.csv"
    with pytest.raises(ValueError, match=r"2 to 3 items.*Algorithm 3"):
        run(files[0], *SPACE, "--output", output)
    assert not output.exists()
    done = run(files[0], *SPACE, "--set", "sizes=drawn", "--set", "s=5", "--output", output)
    assert done.exit_code == 0
    assert len(rows_of(output)) == 16
    done = run(*(files[0], "--second", files[1]), "--output", output)
    assert done.exit_code != 0


@pytest.mark.parametrize("algorithm", ["1", "2"])
def test_errors_of_another_draw_are_not_printed_beside_what_is_written(files, tmp_path, algorithm):
    words = (files[0], *SPACE, "--algorithm", algorithm)
    assert "this draw's" in run(*words).output
    done = run(*words, "--output", tmp_path / "answers.csv")
    assert done.exit_code == 0, done.output
    assert "this draw's" not in done.output
    assert "root mean square" in done.output
