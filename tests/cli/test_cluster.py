"""Commands on a cluster: the same numbers, and refusals that say what to do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.cli import run
from explorer.engine.executors import dask
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.engine.experiments import clear_trials
from tests.engine.test_large_import import made_folder
from tests.engine.test_survivors import alive
from tests.waiting import time_limit, wait_until

pytestmark = pytest.mark.full

BOX = "40.6,-74.1,40.9,-73.8"


@pytest.fixture(scope="module")
def there() -> Iterator[tuple[str, ...]]:
    """Options for a cluster kept by the command; after Ctrl+C nothing of it is left."""
    command = [sys.executable, "-m", "explorer", "cluster", "--local", "2"]
    kept = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert kept.stdout is not None
    with kept.stdout:
        address, certificates = kept.stdout.readline().strip(), kept.stdout.readline().split()
        yield "--cluster", address, *certificates
        started = psutil.Process(kept.pid).children(recursive=True)
        kept.send_signal(signal.SIGINT)
        assert kept.wait(time_limit(30)) == 130
    assert len(started) >= 2
    assert wait_until(lambda: not alive(started), 10), alive(started)
    assert not Path(certificates[1]).exists()


def nothing_here(patch: pytest.MonkeyPatch) -> None:
    """Let no process of this program's own be asked."""

    def submit(*_: Any) -> None:
        raise AssertionError("computed here")

    patch.setattr(EmbeddedExecutor, "submit", submit)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


def test_an_experiment_finds_the_same_numbers_on_a_cluster(
    there: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    command = (
        *("experiment", "heatmap-quality", "--data", "sample", "--region", BOX, "--json"),
        *("--mechanisms", "pyramid", "--epsilon", "1,2", "--resolution", "16", "--draws", "2"),
    )
    clear_trials()
    with pytest.MonkeyPatch.context() as patch:
        nothing_here(patch)
        assert run([*command, *there]) == 0
    found = capsys.readouterr()
    assert f"{there[1]}: 2 workers" in found.err
    clear_trials()
    assert printed(capsys, *command, "--workers", "1") == found.out


@pytest.mark.parametrize(
    "words",
    [
        (
            "cldp-sgd",
            "--quantity",
            "accuracy",
            "--sweep",
            "epochs=1:2:2",
            "--set",
            "n=200",
            "--set",
            "k=100",
        ),
        ("heatmap-theory", "--sweep", "k=20:40:2", "--set", "simulate=true", "--set", "trials=10"),
    ],
)
def test_trainings_and_simulations_find_the_same_numbers_on_a_cluster(
    words: tuple[str, ...], there: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        nothing_here(patch)
        found = printed(capsys, "bounds", *words, *there)
    assert printed(capsys, "bounds", *words) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cluster", "tcp://10.1.2.3:8786"), "start it with certificates and give tls://"),
        (("--cluster", "tls://farm.example.org"), "name a folder with ca.pem, cert.pem, key.pem"),
        (("--cluster", "cloud"), "start it with certificates and give tls://"),
        (("--cluster", "127.0.0.1:1"), "nobody answers at 127.0.0.1:1: start a cluster there"),
        (("--send-data",), "name the cluster: --cluster ADDRESS"),
    ],
)
def test_a_cluster_that_may_not_be_used_is_refused(
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask, "CONNECT_S", 0.3)
    assert run(["bounds", "shuffle-rdp", *words]) in (1, 2)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("heatmap", "sample"),
        ("experiment", "heatmap-quality", "--data", "sample", "--region", BOX),
    ],
)
def test_check_ins_go_to_other_machines_only_with_a_flag(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).touch()
    far = ("--cluster", "tls://farm.example.org", "--certificates", str(tmp_path))
    assert run([*command, *far]) == 2
    assert "tls://farm.example.org" in (said := capsys.readouterr().err)
    assert "add --send-data" in said


def test_a_map_of_more_rows_than_memory_holds_has_the_same_numbers_on_a_cluster(
    there: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are sorted there, and counted, too; no process of this program's own is started."""
    monkeypatch.setattr("explorer.engine.large_import.max_rows_in_memory", lambda _: 100)
    folder = made_folder(tmp_path / "rows", rows=600)
    command = ("heatmap", str(folder), "--region", "40,-74.5,41,-73", "--resolution", "16")
    found = []
    for more in ((), there):
        if more:
            monkeypatch.setattr("explorer.engine.large_import.EmbeddedExecutor", None)
        summary = json.loads(printed(capsys, *command, "--json", "--no-cache", *more))
        found.append({key: summary[key] for key in ("rows", "users", "metrics", "recipe")})
    assert found[0] == found[1]
