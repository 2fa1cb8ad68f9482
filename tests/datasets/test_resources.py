"""The locator finds shipped files in a checkout, in an installed wheel and inside the zip."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.resources import resource_bytes, resource_path, samples
from tests import snapshots

PROBE = """
import hashlib, json, sys
import explorer
from explorer.resources import resource_bytes, resource_path, samples
(sample,) = samples()
with resource_path(sample.file) as path:
    on_disk = hashlib.sha256(path.read_bytes()).hexdigest()
json.dump({
    "where": explorer.__file__, "sha256": sample.sha256, "on_disk": on_disk,
    "in_memory": hashlib.sha256(resource_bytes(sample.file)).hexdigest(),
    "left": path.exists(),
}, sys.stdout)
"""


def test_checkout() -> None:
    (sample,) = samples()
    assert sample.synthetic
    assert hashlib.sha256(resource_bytes(sample.file)).hexdigest() == sample.sha256
    with resource_path(sample.file) as path:
        assert path.read_bytes() == resource_bytes(sample.file)
    south, west, north, east = sample.suggested_region
    assert south < north
    assert west < east


@pytest.mark.parametrize("name", ["", "/etc/hostname", "../pyproject.toml", "a/../../b"])
def test_names_that_climb_out(name: str) -> None:
    with pytest.raises(ValueError, match="relative"):
        resource_bytes(name)


def test_missing() -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.bin is") as error:
        resource_bytes("nothing.bin")
    snapshots.check(error.value)
    with pytest.raises(FileNotFoundError), resource_path("nothing.bin") as path:
        pytest.fail(f"gave {path}")


def _probe(path: Path, folder: Path) -> dict[str, object]:
    """Run the probe outside the checkout with `path` alone in front of the standard library."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROBE],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(path), "PATH": os.environ["PATH"]},
    )
    answer: dict[str, object] = json.loads(done.stdout)
    assert str(answer["where"]).startswith(str(path))
    return answer


@pytest.mark.full
def test_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--no-index",
            "--no-compile",
            "--disable-pip-version-check",
            "--quiet",
            "--target",
            str(installed),
            str(wheel),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    answer = _probe(installed, tmp_path)
    assert answer["sha256"] == answer["on_disk"] == answer["in_memory"]


def test_zipped_wheel(wheel: Path, tmp_path: Path) -> None:
    answer = _probe(wheel, tmp_path)
    assert answer["sha256"] == answer["on_disk"] == answer["in_memory"]
    assert not answer["left"], "the temporary copy is removed"
