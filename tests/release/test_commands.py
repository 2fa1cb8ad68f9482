"""`ledger` and `verify` as a user types them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from explorer.cli import run
from explorer.release.exact_json import canonical
from explorer.release.ledger.chain import GENESIS, chain_hashes
from explorer.release.ledger.ledger import OLDER_LEDGER, Ledger
from explorer.release.ledger.settings import machine_settings
from explorer.release.ledger.state import JOINED_AFTER, JOINED_BEFORE
from explorer.release.ledger.storage import UNSUPPORTED
from tests import snapshots
from tests.release.ledgers import CLOCK, FILE, released
from tests.release.test_certificate import Made

DATA = Path(__file__).parents[1] / "data" / "release"
LEDGER = str(DATA / "ledger.example.json")
EXAMPLE = str(DATA / "certificate.example.json")

Said = pytest.CaptureFixture[str]


def test_the_ledger_is_shown_with_what_would_still_fit(capsys: Said) -> None:
    assert run(["ledger", "show", "--ledger", LEDGER, "--weekly", "1/10", "--entries"]) == 0
    said = capsys.readouterr().out
    assert "ε 3; spent 1.75, remaining 1.25" in said
    assert "would fit: ε ≤ 1.25" in said
    snapshots.check(said)
    assert "withdraw" in said
    assert run(["ledger", "show", "--ledger", LEDGER, "--weekly", "1/10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (people,) = found["populations"]
    assert (people["spent"], people["remaining"], people["sum_rho"]) == ("7/4", "5/4", "21/32")
    assert people["weekly"]["zcdp_pays_from"] == 24
    assert [release["state"] for release in people["releases"]] == [
        "published",
        "withdrawn",
        "committed",
    ]


def test_the_ledger_is_verified(capsys: Said, tmp_path: Path) -> None:
    assert run(["ledger", "verify", "--ledger", LEDGER]) == 0
    snapshots.check(capsys.readouterr().out)
    document = json.loads(Path(LEDGER).read_text())
    document["entries"][5]["body"]["epsilon"] = "1/8"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document))
    for command in ("show", "verify", "export"):
        assert run(["ledger", command, "--ledger", str(forged)]) == 1
        said = capsys.readouterr()
        snapshots.check(said.err)
        assert said.err.count("\n") == 1
    assert run(["ledger", "show", "--ledger", str(tmp_path / "none")]) == 1
    assert "'privacy-explorer ledger open'" in capsys.readouterr().err


def test_an_account_is_opened_and_the_same_people_are_not_opened_twice(
    capsys: Said, tmp_path: Path
) -> None:
    path = str(tmp_path / "ledger.sqlite")
    order = ["ledger", "open", "--ledger", path, "--budget", "3/1", "--label", "Visitors"]
    assert run(order) == 0
    people = capsys.readouterr().out.strip()
    assert len(people) == 32
    assert run(order) == 1
    assert f"belong to population {people}; give --different-people" in capsys.readouterr().err
    assert run([*order, "--different-people", "--gate", "zcdp"]) == 0
    other = capsys.readouterr().out.strip()
    assert run(["ledger", "show", "--ledger", path, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["populations"]
    assert {p["id"]: (p["gate"], p["delta"]) for p in shown} == {
        people: ("sum", None),
        other: ("zcdp", "1/1000000000"),
    }
    for wrong in (["--budget", "2/2"], ["--budget", "0/1"], ["--delta", "1/2"]):
        assert run([*order, *wrong]) == 2


def test_limits_are_raised_accounts_joined_and_what_was_spent_elsewhere_entered(
    capsys: Said, tmp_path: Path
) -> None:
    """As in the window, with the same refusals."""
    path = str(tmp_path / "ledger.sqlite")
    there = ["--ledger", path]
    for command in (["raise", "--to", "4/1"], ["external", "--epsilon", "1/2", "--what", "x"]):
        assert run(["ledger", *command, *there]) == 1
        assert "'ledger open'" in capsys.readouterr().err
    order = ["ledger", "open", *there, "--budget", "3/1", "--label", "Visitors"]
    assert run(order) == 0
    people = capsys.readouterr().out.strip()

    def said(*command: str) -> str:
        assert run(["ledger", *command, *there]) == 0
        return capsys.readouterr().out

    def refused(*command: str, code: int = 1) -> str:
        assert run(["ledger", *command, *there]) == code
        return capsys.readouterr().err

    assert said("raise", "--to", "4/1") == f"Population {people}: ε 4, spent 0; would fit: ε ≤ 4\n"
    snapshots.check(refused("raise", "--to", "7/2"))
    assert "is not reduced" in refused("raise", "--to", "10/2", code=2)
    told = said("external", "--epsilon", "9/2", "--what", "A table of 2024")
    assert told.endswith("spent 4.5; nothing more fits\n")
    assert refused("external", "--epsilon", "1/2", "--what", " ", code=2)
    assert run([*order, "--different-people", "--gate", "zcdp"]) == 0
    other = capsys.readouterr().out.strip()
    snapshots.check(refused("raise", "--to", "5/1"))
    assert "cannot be raised" in refused("raise", "--to", "5/1", "--population", other)
    assert f"population: '{'f' * 32}'" in refused("join", people, "f" * 32)
    assert said("join", people, other).startswith(f"Population {people}: ε 4, spent 4.5; nothing")
    assert "with: both" in refused("join", other, people)
    with Ledger(Path(path), machine_settings()) as ledger:
        (account,) = ledger.accounts()
        assert (account.joined, account.spent_epsilon) == (JOINED_AFTER, Fraction(9, 2))
        assert [r.mechanism for r in ledger.releases()] == ["external"]
        assert [step.after for step in account.raised] == [4]


def test_accounts_that_are_declared_to_be_one_say_so(capsys: Said, tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite")
    order = ["ledger", "open", "--ledger", path, "--budget", "3/1", "--label", "x"]
    assert run(order) == run([*order, "--different-people"]) == 0
    one, other = capsys.readouterr().out.split()
    assert run(["ledger", "join", one, other, "--beforehand", "--ledger", path]) == 0
    with Ledger(Path(path), machine_settings()) as ledger:
        assert ledger.account(other).joined == JOINED_BEFORE


def test_without_locks_there_are_no_releases_and_ledgers_can_be_read(
    capsys: Said, tmp_path: Path
) -> None:
    """On systems whose locks don't tell a process that died from one that draws."""
    path = str(tmp_path / "ledger.sqlite")
    order = ["ledger", "open", "--ledger", path, "--budget", "3/1", "--label", "x"]
    assert run(order) == 0
    capsys.readouterr()
    start = (
        "import sys; sys.modules['fcntl'] = None; from explorer.cli import run; "
        "sys.exit(run(sys.argv[1:]))"
    )

    def said(*command: str) -> tuple[int, str]:
        found = subprocess.run(
            [sys.executable, "-c", start, *command, "--ledger", path],
            capture_output=True,
            text=True,
            check=False,
        )
        return found.returncode, found.stderr

    assert said("ledger", "raise", "--to", "4/1") == (
        1,
        f"privacy-explorer: {UNSUPPORTED}\n",
    )
    assert said("ledger", "verify") == (0, "")


def test_a_ledger_that_was_rolled_back_is_seen(capsys: Said, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    order = ["ledger", "open", "--ledger", str(path), "--budget", "3/1", "--label", "x"]
    assert run(order) == 0
    shutil.copytree(tmp_path, tmp_path / "backup")
    assert run([*order, "--different-people"]) == 0
    export = tmp_path / "export.json"
    assert run(["ledger", "export", "--ledger", str(path), "--output", str(export)]) == 0
    shutil.copy(tmp_path / "backup" / "ledger.sqlite", path)
    capsys.readouterr()
    for command in ("show", "verify", "export"):
        assert run(["ledger", command, "--ledger", str(path)]) == 1
        assert OLDER_LEDGER in capsys.readouterr().err
    assert run(["ledger", "verify", "--ledger", str(export), "--also", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["valid"]


def test_ledgers_that_part_are_told_with_both_heads(capsys: Said, tmp_path: Path) -> None:
    document = json.loads(Path(LEDGER).read_text())
    bodies = [entry["body"] for entry in document["entries"]]
    bodies[9]["epsilon"] = "1/8"
    previous = GENESIS
    for entry, digest in zip(document["entries"], chain_hashes(bodies), strict=True):
        entry["prev"], entry["hash"], previous = previous, digest, digest
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    assert run(["ledger", "verify", "--ledger", LEDGER, "--also", str(other)]) == 1
    said = capsys.readouterr().err
    snapshots.check(said)
    assert f"{previous[:16]}…" in said
    assert "fedcba9876543210fedcba9876543210: 15/8" in said


def test_an_export_is_what_verify_reads(capsys: Said) -> None:
    assert run(["ledger", "export", "--ledger", LEDGER]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path(LEDGER).read_text())


def test_a_certificate_is_verified_alone_and_with_its_ledger(capsys: Said, tmp_path: Path) -> None:
    entry = tmp_path / "entry.yaml"
    assert run(["verify", EXAMPLE, "--ledger", LEDGER, "--registry", str(entry)]) == 0
    said = capsys.readouterr().out
    assert "holds: ledger" in said
    snapshots.check(said)
    assert said.endswith("The certificate is what it says.\n")
    assert yaml.safe_load(entry.read_text())["status"] == "Draft"
    document = json.loads(Path(EXAMPLE).read_text())
    document["composition"]["sum_epsilon"] = "3/2"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document))
    assert run(["verify", str(forged)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("privacy-explorer: forged.json: composition.sum_epsilon:")
    assert {"3/2", "7/4"} <= set(re.findall(r"\d/\d", error))
    assert run(["verify", str(forged), "--json", "--registry", str(tmp_path / "no.yaml")]) == 1
    assert json.loads(capsys.readouterr().out)["valid"] is False
    assert not (tmp_path / "no.yaml").exists()
    assert run(["verify", str(tmp_path / "none.json")]) == 1
    assert run(["verify", EXAMPLE, "--also", EXAMPLE]) == 0


def test_a_release_is_verified_with_ledger_data_and_a_fork(capsys: Said, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes(b"somebody\t1\n")
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, machine_settings(), now=CLOCK) as ledger:
        people = ledger.open_population("sum", Fraction(3), "x")
        made = Made(ledger, released(ledger, people))
    certificate = tmp_path / "certificate.json"
    certificate.write_bytes(canonical(made.certificate))
    call = ["verify", str(certificate), "--ledger", str(path), "--data", str(data)]
    assert run(call) == 1
    assert "data.tag:" in capsys.readouterr().err
    assert FILE not in certificate.read_text()
    export = tmp_path / "export.json"
    assert run(["ledger", "export", "--ledger", str(path), "--output", str(export)]) == 0
    assert run(["verify", str(certificate), "--ledger", str(export)]) == 0
    assert run(["verify", str(certificate), "--ledger", LEDGER]) == 1
    assert "ledger.id" in capsys.readouterr().err
