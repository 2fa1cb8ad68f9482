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
LOCALES = {
    "tr_TR": ("heatmap", "--set", "resolution=16"),
    "ar_EG": ("unbounded",),
}
"""One with another "i" and a decimal comma; one with other digits, which reads from the right."""
# One process a locale: starting one takes longer than all commands.
PROGRAM = """
import locale, sys
from explorer.cli import run
wanted, picture, *question = sys.argv[1:]
assert locale.setlocale(locale.LC_ALL, "") == wanted, locale.setlocale(locale.LC_ALL)
for words in (
    ["studies"],
    ["bounds", "unbounded"],
    ["bounds", "--help"],
    ["errata"],
):
    assert run(words) == 0, words
sys.stdout.flush()
shown = ["--screenshot", picture, "--size", "800x600", "--data", "rows.csv"]
sys.exit(run(["window", *shown, "--study", *question]))
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
    picture = tmp_path / "window.png"
    rows = [f"u{i % 5},2024-05-{i % 28 + 1:02} 10:00,48.{200 + i},16.{300 + i}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["user,time,lat,lon", *rows]))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, full, str(picture), *LOCALES[name]],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        timeout=time_limit(120),
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert picture.stat().st_size > 10_000


def _of_qt(name: str, known: set[str]) -> bool:
    return name in known or (name[:1] == "Q" and name[1:2].isupper())


def _name(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def test_no_property_that_begins_with_i_is_given_as_a_keyword() -> None:
    """Its setter's name is made with the C library's toupper, which knows a Turkish i."""
    bases: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    given = []
    for path in sorted((CHECKOUT / "explorer" / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                keywords = [k.arg for k in node.keywords if k.arg and k.arg[0] == "i"]
                given += [(_name(node.func), k, f"{path.name}:{node.lineno}") for k in keywords]
            elif isinstance(node, ast.ClassDef):
                bases[node.name] = set(map(_name, node.bases))
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                        names = item.args.args + item.args.kwonlyargs
                        own.setdefault(node.name, set()).update(a.arg for a in names)
    of_qt: set[str] = set()
    while more := {n for n, of in bases.items() if any(_of_qt(b, of_qt) for b in of)} - of_qt:
        of_qt |= more
    assert given
    assert not [
        where
        for name, word, where in given
        if _of_qt(name, of_qt) and word not in own.get(name, ())
    ]


def test_a_character_that_the_output_lacks_is_replaced(tmp_path: Path) -> None:
    picture = tmp_path / "δ ≤ ü 東.csv"
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "bounds", "choose-alpha", "--output", str(picture)],
        env={**os.environ, "PYTHONIOENCODING": "cp1252:strict", "PYTHONUTF8": "0"},
        cwd=CHECKOUT,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size
    done.stderr.decode("cp1252")
    assert rb"\u2264" in done.stderr or b"?" in done.stderr  # it has no ≤
