"""What is given away: licence, citation, wheel, desktop files."""

from __future__ import annotations

import configparser
import hashlib
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import explorer
from explorer.resources import resource_bytes, samples
from explorer.studies.catalog import START_OPTIONS
from explorer.ui.app.application import DESKTOP_ID, SIZES
from explorer.ui.app.options import TOUR_STEPS
from explorer.ui.dialogs.help_window import PAGES

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "resources" / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
LARGEST_WHEEL = 3_700_000
"""Bytes."""


def test_the_licence_is_the_whole_apache_licence() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2


def test_the_project_names_licence_authors_and_keywords() -> None:
    assert PROJECT["license"] == CITATION["license"] == "Apache-2.0"
    assert PROJECT["authors"] == [{"name": explorer.__author__}] == CITATION["authors"]
    assert {"differential privacy", "shuffle model"} <= set(PROJECT["keywords"])
    assert CITATION["version"] == explorer.__version__


def test_nothing_that_is_never_imported_is_installed() -> None:
    names = {re.split(r"[<>=!]", item)[0].lower() for item in PROJECT["dependencies"]}
    assert not {"superqt", "scikit-learn"} & names
    modules = {
        "pyside6-essentials": "PySide6",
        "pillow": "PIL",
        "pyyaml": "yaml",
        "charset-normalizer": "charset_normalizer",
        "cvxpy-base": "cvxpy",
    }
    source = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "explorer").rglob("*.py"))
    # matplotlib imports fonttools, of which a lower bound is named; cvxpy imports its solvers.
    for name in names - {"fonttools", "clarabel", "highspy"}:
        module = modules.get(name, name)
        assert re.search(rf"^\s*(from|import) {module}\b", source, re.MULTILINE), name


def test_the_citation_is_valid_and_names_the_five_papers() -> None:
    """The keys that version 1.2.0 of the format requires, with their types."""
    assert CITATION["cff-version"] == "1.2.0"
    assert all(isinstance(CITATION[key], str) for key in ("message", "title", "version"))
    assert CITATION["type"] == "software"
    titles = []
    for paper in CITATION["references"]:
        assert paper["type"] in {"article", "conference-paper"}
        assert all({"family-names", "given-names"} == set(a) for a in paper["authors"])
        assert 2020 <= paper["year"] <= 2025
        (full,) = paper["identifiers"]
        assert full["type"] == "doi"
        assert re.fullmatch(r"10\.48550/arXiv\.\d{4}\.\d{5}", full["value"])
        titles.append(paper["title"].lower().replace("&", "and"))
    assert len(titles) == len(set(titles)) == 5
    page = (ROOT / "resources" / "guide" / "numbers.md").read_text(encoding="utf-8").lower()
    page = page.replace("&", "and").replace("é", "e")
    assert all(title in page for title in titles)


def test_the_readme_tells_of_the_patent_once() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("12,468,850 B2") == 1
    assert "licence" in readme[readme.index("12,468,850 B2") :][:300]


def test_the_wheel_holds_what_the_program_reads_and_no_more(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST_WHEEL
    inside = zipfile.ZipFile(wheel).namelist()
    shipped = {n.removeprefix("explorer/_resources/") for n in inside if "/_resources/" in n}
    read: set[str] = set()
    for path in (ROOT / "explorer").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        read |= set(re.findall(r"resource_(?:bytes|path)\(\s*f?\"([\w./{}-]+)\"", text))
        read |= set(re.findall(r"\"(release/[\w.-]+\.json)\"", text))
    icons = {name for name in read if "{size}" in name}
    assert icons == {"packaging/icon-{size}.png"}
    read -= icons | {"guide/{name}.md", "guide/{picture}"}
    read |= {f"guide/{name}.md" for name in PAGES}
    read |= {f"guide/tour-{step}.png" for step in TOUR_STEPS}
    read |= {f"packaging/icon-{size}.png" for size in SIZES}
    read |= {sample.file for sample in samples()} | {"LICENSES.md", "LEDGER.md"}
    read |= {option.picture for option in START_OPTIONS}
    assert shipped == read
    assert not [n for n in inside if n.startswith(("tests", "resources", "datasets"))]


@pytest.mark.full
def test_the_wheel_carries_licence_and_desktop_files(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    fields = HeaderParser().parsestr(archive.read(metadata).decode())
    assert fields["License-Expression"] == "Apache-2.0"
    assert set(fields.get_all("License-File")) == {"LICENSE", "resources/LICENSES.md"}
    shared = {n.partition(".data/data/")[2] for n in archive.namelist() if ".data/data/" in n}
    assert {
        f"share/applications/{DESKTOP_ID}.desktop",
        f"share/metainfo/{DESKTOP_ID}.metainfo.xml",
        f"share/icons/hicolor/scalable/apps/{DESKTOP_ID}.svg",
        f"share/icons/hicolor/48x48/apps/{DESKTOP_ID}.png",
    } <= shared


def test_the_desktop_file_starts_the_program() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment]
    entry.read(PACKAGING / f"{DESKTOP_ID}.desktop", encoding="utf-8")
    values = entry["Desktop Entry"]
    assert values["Exec"] in PROJECT["scripts"]
    assert values["Icon"] == values["StartupWMClass"] == DESKTOP_ID
    assert values["Name"] == CITATION["title"]


def test_the_metadata_for_software_centres_agree_with_the_project() -> None:
    root = ElementTree.parse(PACKAGING / f"{DESKTOP_ID}.metainfo.xml").getroot()
    assert root.findtext("id") == DESKTOP_ID
    assert root.findtext("project_license") == PROJECT["license"]
    assert root.findtext("launchable") == f"{DESKTOP_ID}.desktop"
    assert root.findtext("developer/name") == explorer.__author__
    assert root.findtext("provides/binary") in PROJECT["scripts"]
    release = root.find("releases/release")
    assert release is not None
    assert release.get("version") == explorer.__version__


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (("desktop-file-validate",), ".desktop"),
        (("appstreamcli", "validate", "--no-net"), ".metainfo.xml"),
    ],
)
def test_the_desktops_own_checkers_agree(command: tuple[str, ...], ending: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        [*command, str(PACKAGING / f"{DESKTOP_ID}{ending}")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_changelog_becomes_release_notes(tmp_path: Path) -> None:
    notes = runpy.run_path(str(PACKAGING / "release_notes.py"))
    points = re.findall(r"^- ", notes["section"](explorer.__version__), re.MULTILINE)
    made = tmp_path / f"{DESKTOP_ID}.metainfo.xml"
    made.write_text(notes["metainfo"](explorer.__version__), encoding="utf-8")
    release = ElementTree.parse(made).getroot().find("releases/release")
    assert release is not None
    assert len(release.findall("description/ul/li")) == len(points) > 20
    if shutil.which("appstreamcli"):
        done = subprocess.run(["appstreamcli", "validate", "--no-net", made], capture_output=True)
        assert done.returncode == 0, done.stdout
    with pytest.raises(ValueError, match=r"no section '9\.9\.9'; there are"):
        notes["section"]("9.9.9")


@pytest.mark.full
def test_the_source_archive_builds_and_holds_all_that_tests_and_wheel_need(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", str(tmp_path)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    needed = {*wheel["force-include"]} - {"resources/guide"}
    needed |= {f"resources/guide/{name}.md" for name in PAGES}
    needed |= {*wheel["shared-data"], "explorer/privacy/__init__.pyi"}
    needed |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"}
    needed |= {"pyproject.toml", "resources/packaging/build.sh", "tests/test_packaging.py"}
    assert needed <= inside


def test_a_frozen_build_knows_the_commands_of_libraries_and_no_others() -> None:
    from loky.backend import popen_loky_posix, resource_tracker

    from explorer.engine.executors import pyinstaller

    assert popen_loky_posix.__name__ == pyinstaller.MODULE
    assert f"from {resource_tracker.main.__module__} import main" in pyinstaller.COMMANDS
    assert pyinstaller.run_child_command(["privacy-explorer", "bounds", "amplification"]) is False
    assert pyinstaller.run_child_command(["privacy-explorer", "-h"]) is False
    assert pyinstaller.run_child_command(["privacy-explorer", "-c", "raise SystemExit(9)"]) is False


def test_every_shipped_thing_of_others_has_its_notice() -> None:
    notices = resource_bytes("LICENSES.md").decode()
    for name in ("basemap.bin", "cities.tsv.z", "digits.npz"):
        assert f"## `{name}`" in notices
    assert notices.count("creativecommons.org/licenses/by/4.0") == 2
