"""The window and the main commands in other locales, and output in other encodings."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import time_limit

pytestmark = pytest.mark.full

CHECKOUT = Path(__file__).resolve().parents[2]
MAP = ("--study", "heatmap", "--set", "resolution=16")
CURVES = ("--study", "choose-alpha")
LOCALES = {"tr_TR": MAP, "de_DE": CURVES, "ja_JP": CURVES, "ar_EG": MAP}
"""The window shows the map in one that has another "i" and in one that reads from the right, and
curves where numbers have another point and texts other letters."""
# One process a locale: starting one takes longer than all commands.
PROGRAM = """
import locale, sys
from explorer.cli import run
wanted, picture, *question = sys.argv[1:]
assert locale.setlocale(locale.LC_ALL, "") == wanted, locale.setlocale(locale.LC_ALL)
box = ["--region", "40.6,-74.1,40.9,-73.8", "--resolution", "16"]
for words in (
    ["studies"],
    ["bounds", "choose-alpha"],
    ["heatmap", "sample", *box, "--quiet", "--json"],
    ["bounds", "--help"],
    ["errata"],
):
    assert run(words) == 0, words
sys.stdout.flush()
sys.exit(run(["window", *question, "--screenshot", picture, "--size", "800x600"]))
"""


@pytest.fixture
def locales(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the locale of a test's name, for LOCPATH."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales").is_dir():
        pytest.skip("localedef and its sources are in Debian's package locales")
    name = request.getfixturevalue("name")
    subprocess.run(
        ["localedef", "-i", name, "-f", "UTF-8", str(tmp_path / f"{name}.UTF-8")],
        check=True,
        capture_output=True,
    )
    return tmp_path


@pytest.mark.parametrize("name", LOCALES)
def test_window_and_commands_in_another_locale(name: str, locales: Path, tmp_path: Path) -> None:
    full = f"{name}.UTF-8"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LC_")}
    environment |= {"LOCPATH": str(locales), "LANG": full, "LANGUAGE": "", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, full, str(tmp_path / "window.png"), *LOCALES[name]],
        env=environment,
        cwd=CHECKOUT,
        capture_output=True,
        timeout=time_limit(120),
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert (tmp_path / "window.png").stat().st_size > 10_000


def _qt_classes(trees: list[ast.Module]) -> set[str]:
    """Return the names of our classes that derive from Qt's, by the names of their bases."""
    bases = {
        node.name: {b.id if isinstance(b, ast.Name) else getattr(b, "attr", "") for b in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    while more := {n for n, of in bases.items() if any(_of_qt(b, found) for b in of)} - found:
        found |= more
    return found


def _of_qt(name: str, known: set[str]) -> bool:
    return name in known or (name[:1] == "Q" and name[1:2].isupper())


def _own_parameters(trees: list[ast.Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                        names = item.args.args + item.args.kwonlyargs
                        found.setdefault(node.name, set()).update(a.arg for a in names)
    return found


def test_no_property_that_begins_with_i_is_given_as_a_keyword() -> None:
    """Its setter's name is made with the C library's toupper, which knows a Turkish i."""
    files = sorted((CHECKOUT / "explorer" / "ui").rglob("*.py"))
    trees = [ast.parse(path.read_text("utf-8")) for path in files]
    classes, own = _qt_classes(trees), _own_parameters(trees)
    found = []
    for path, tree in zip(files, trees, strict=True):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if _of_qt(name, classes):
                found += [
                    f"{path.name}:{node.lineno} {keyword.arg}"
                    for keyword in node.keywords
                    if (keyword.arg or "").startswith("i") and keyword.arg not in own.get(name, ())
                ]
    assert not found


@pytest.mark.parametrize("encoding", ["euc_jp", "cp1252"])
def test_a_character_that_the_output_lacks_is_replaced(encoding: str, tmp_path: Path) -> None:
    picture = tmp_path / "δ ≤ ü 東.csv"
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "bounds", "choose-alpha", "--output", str(picture)],
        env={**os.environ, "PYTHONIOENCODING": f"{encoding}:strict", "PYTHONUTF8": "0"},
        cwd=CHECKOUT,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size
    done.stderr.decode(encoding)
    assert rb"\u2264" in done.stderr or b"?" in done.stderr  # ≤ is in neither
