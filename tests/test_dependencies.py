"""The versions that CI installs: pinned by hashes, and within the bounds of pyproject.toml."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = [
    {
        "python_full_version": f"{python}.9",
        "python_version": python,
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    for python in ("3.11", "3.13")
    for machine in ("x86_64", "aarch64")
]


FILES = {"constraints": (), "constraints-test": ("test",), "constraints-dev": ("dev",)}
"""Files of versions, and the extras that each is for."""


def pinned(name: str) -> list[tuple[Requirement, list[str]]]:
    text = (CHECKOUT / "resources" / f"{name}.txt").read_text("utf-8")
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+--hash=", line.strip())
        found.append((Requirement(requirement), hashes))
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_version_has_hashes_and_no_line_names_a_place(name: str) -> None:
    text = (CHECKOUT / "resources" / f"{name}.txt").read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, re.M)
    for requirement, hashes in pinned(name):
        assert [s.operator for s in requirement.specifier] == ["=="]
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes)


@pytest.mark.parametrize("name", FILES)
def test_the_versions_satisfy_the_project_on_every_supported_platform(name: str) -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted, waiting = [*project["dependencies"]], [*FILES[name]]
    while waiting:
        for text in project["optional-dependencies"][waiting.pop()]:
            requirement = Requirement(text)
            if requirement.name == "privacy-explorer":
                waiting += requirement.extras
            else:
                wanted.append(text)
    for environment in ENVIRONMENTS:
        versions = {
            canonicalize_name(requirement.name): next(iter(requirement.specifier)).version
            for requirement, _ in pinned(name)
            if requirement.marker is None or requirement.marker.evaluate(environment)
        }
        for text in wanted:
            requirement = Requirement(text)
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


def test_the_build_names_the_package_that_is_missing(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "grep", "uname"):  # all but objdump
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    (tools / "python3").symlink_to(Path(sys.executable).resolve())
    script = CHECKOUT / "resources" / "packaging" / "build.sh"
    done = subprocess.run(
        ["/bin/sh", str(script)],
        env={"PATH": str(tools), "WORK": str(tmp_path / "work"), "OUT": str(tmp_path / "out")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "binutils" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "work").exists()
