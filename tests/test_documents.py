"""README, user guide and CONTRIBUTING: commands run as printed, and what is named exists."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click
import pytest
from PIL import Image

from explorer.cli import run
from explorer.studies.glossary import TERMS
from explorer.ui.app.launch import BASE, X11

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = {path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob("resources/guide/*.md")}
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DOCUMENTS = {"README": README, **GUIDE, "CONTRIBUTING": CONTRIBUTING}
MAX_README_BYTES = 7000


def _commands(text: str = README) -> list[str]:
    """Return the indented lines of a document, outside of fenced blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^    (\S.*)$", text, flags=re.MULTILINE)


def test_the_readme_is_short() -> None:
    assert len(README.encode("utf-8")) <= MAX_README_BYTES


def test_the_guide_in_the_program_is_the_folder() -> None:
    from explorer.ui.dialogs.help_window import PAGES

    assert sorted(PAGES) == sorted(GUIDE)
    assert all(text.startswith("# ") for text in GUIDE.values())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_lead_to_files(name: str) -> None:
    folder = ROOT / "resources" / "guide" if name in GUIDE else ROOT
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", DOCUMENTS[name]):
        if not target.startswith("https://"):
            assert (folder / target).exists(), target


def test_the_first_screen_is_a_picture_and_two_commands() -> None:
    first, test = _commands()[:2]
    assert first.endswith("&& .venv/bin/privacy-explorer")
    assert test.endswith("QT_QPA_PLATFORM=offscreen .venv/bin/python -m pytest")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures == ["resources/window.png", "resources/bounds.png"]
    for name in pictures:
        assert README.index(name) < README.index(first)
        with Image.open(ROOT / name) as picture:
            assert picture.width >= 1280
            assert picture.width / picture.height == pytest.approx(1.6, abs=0.01)
        assert 10_000 < (ROOT / name).stat().st_size < 300_000


def test_the_guides_pictures_are_small_and_used() -> None:
    pictures = list(ROOT.glob("resources/guide/*.png"))
    used = {name for text in GUIDE.values() for name in re.findall(r"\]\(([\w-]+\.png)\)", text)}
    assert {path.name for path in pictures} == used
    assert all(path.stat().st_size <= 60_000 for path in pictures)


def test_both_commands_install_every_package_that_the_preflight_may_name() -> None:
    for command in _commands()[:2]:
        named = set(command.split())
        assert {*BASE.values(), *X11.values()} <= named


def test_the_table_of_questions_is_the_list_of_studies() -> None:
    from explorer.studies.registry import study_infos

    for info in study_infos():
        assert f"| {info.name} | {info.question}" in README


def test_words_are_explained_once_and_as_in_the_window() -> None:
    (line,) = (p for p in README.split("\n\n") if p.startswith("*Words.*"))
    told = re.findall(r"\*\*(.+?)\*\*: (.+?)(?= \*\*|$)", line)
    means = {t.name: t.means[0].lower() + t.means[1:] for t in TERMS.values()}
    assert len(told) >= 4
    assert told == [(name, means[name]) for name, _ in told]


def test_no_word_of_the_code_is_one_of_the_field() -> None:
    guide = CONTRIBUTING.partition("## Glossary")[2]
    assert "studies/glossary.py" in guide
    rows = re.findall(r"^\| (.+?) \|", guide, flags=re.MULTILINE)
    assert len(rows) > 3
    words = {word.casefold() for row in rows for word in row.split(", ")}
    assert not words & {t.casefold() for term in TERMS.values() for t in (term.name, *term.forms)}


def test_the_files_that_are_read_and_written_are_those_of_the_tables() -> None:
    from explorer.checkins.readers import all_readers
    from explorer.figures.formats import FORMATS, Kind

    (read,) = (p for p in GUIDE["files"].split("\n\n") if p.startswith("*File ▸ Open check-ins…*"))
    *first, latest = [reader.name for reader in all_readers()]
    assert f"reads {', '.join(first)} and {latest};" in read
    written = GUIDE["map"].partition("## Export\n")[2]
    pictures = [f.name for f in FORMATS if f.kind is Kind.PICTURE]
    assert f"as {', '.join(pictures[:-1])} or {pictures[-1]}; " in written
    maps = ", ".join(f.name for f in FORMATS if f.kind is Kind.NUMBERS and f.maps_only)
    numbers = ", ".join(f.name for f in FORMATS if f.kind is Kind.NUMBERS and not f.maps_only)
    assert f"numbers as {numbers} or (maps) {maps}; " in written
    *most, last = [f.name for f in FORMATS if f.kind is Kind.ANIMATION]
    assert f"as {', '.join(most)} or {last}." in written
    for extra in {f.extra for f in FORMATS if f.extra}:
        assert f"pip install '.[{extra}]'" in GUIDE["quick-start"]


_SHORT_NAMES = {
    "": "Shuffled histograms",
    "What is learnt": "Coordinate DP: what is learnt",
    "Mean": "Coordinate DP: mean",
}
"""Names of questions as the page on the papers shortens them."""
_MAX_PAPERS_BYTES = 12_000
_ITEM = (
    r"(Theorem|Lemma|Corollary|Proposition|Fact|Claim|Algorithm|Mechanism|Figure|Table)s? [A-D\d]"
)


def _paper_rows() -> list[list[str]]:
    lines = [line for line in GUIDE["papers"].splitlines() if line.startswith("|")]
    return [line.split("|")[1:-1] for line in lines if not line.startswith(("|item|", "|-"))]


def test_the_page_on_the_papers_is_short_and_gives_a_place_or_a_reason_for_every_item() -> None:
    assert len(GUIDE["papers"].encode("utf-8")) <= _MAX_PAPERS_BYTES
    rows = _paper_rows()
    assert len(rows) > 100
    for item, what, where, command in rows:
        assert re.match(_ITEM, item)
        assert len(what.split()) <= 8, item
        assert where.startswith("– ") is not bool(command), item
        assert bool(command) is (" ▸ " in f" {where}"), item


def test_the_page_on_the_papers_names_what_the_program_has() -> None:
    from explorer.cli import cli
    from explorer.cli.options import parse_pair
    from explorer.studies.base.study import parameter, preset, quantity
    from explorer.studies.heatmap.experiments.figures import FIGURES
    from explorer.studies.registry import get_study, study_ids, study_info

    group = click.Context(cli)
    for item, _, where, command in _paper_rows():
        if not command:
            continue
        words = shlex.split(command.strip("`"))
        if words[0] not in ("heatmap", "experiment"):
            words.insert(0, "bounds")
        parser = cli.get_command(group, words[0])
        assert parser is not None
        with parser.make_context(words[0], words[1:], parent=group) as context:
            given = context.params
        study_id = given["study"] if words[0] == "bounds" else "heatmap"
        assert study_id in study_ids()
        study = get_study(study_id)
        values = given
        if words[0] == "bounds":
            values = dict(parse_pair(pair, "--set") for pair in given["settings"])
            values = {key: parameter(study, key).parse(raw) for key, raw in values.items()}
        question, _, choice = where.rpartition("▸ ")
        question = question.strip()
        assert _SHORT_NAMES.get(question, question) == study_info(study_id).name, item
        option, colon, chosen = choice.partition(": ")
        if words[0] == "experiment":
            name = given["name"]
            assert name in FIGURES
            assert name.removeprefix("figure-") in re.findall(r"\d+", choice), item
        if colon and option == "y":
            axis = quantity(study, given["quantity"])
            assert chosen in (axis.symbol, axis.name), item
        elif colon:
            (p,) = (p for p in study.parameters if option in (p.key, p.name.split(" ")[0]))
            picked = str(values[p.key]).split(",")
            assert any(dict(p.choices)[key].startswith(chosen) for key in picked), item
        else:
            named = [preset(study, given["preset"])] if given.get("preset") else study.presets
            begins = re.compile(re.escape(choice) + r"(?!\d)")
            assert any(begins.match(one.name) for one in named), item


ALL = [command for text in DOCUMENTS.values() for command in _commands(text)]
PROGRAM = list(dict.fromkeys(c for c in ALL if c.startswith("privacy-explorer ")))
OTHERS = [c for c in dict.fromkeys(ALL) if c not in (*PROGRAM, *_commands()[:2])]


@pytest.mark.parametrize("name", ["README", *GUIDE])
def test_paragraphs_are_short(name: str) -> None:
    prose = [p for p in DOCUMENTS[name].split("\n\n") if not p.startswith(("    ", "|", "- "))]
    longest = max(prose, key=len)
    assert len(longest) < 800, longest


ELSEWHERE = (" fetch ", " cluster ", " ledger ", " release ", " verify ", " --scale ")
"""What these do is tested beside them: one needs the net, one runs until it is stopped; those of
releases belong together (`tests/release/test_release_guide.py`); pictures of a window have their
sizes in `tests/ui/test_startup.py`."""


@pytest.mark.full
@pytest.mark.parametrize("command", [c for c in PROGRAM if not any(w in c for w in ELSEWHERE)])
def test_the_programs_commands_work_as_printed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)[1:]
    words += next((less for begin, less in LESS.items() if " ".join(words).startswith(begin)), ())
    if words[0] == "window":  # it wants an application of its own
        done = subprocess.run([sys.executable, "-m", "explorer", *words])
        assert done.returncode == 0, capfd.readouterr().err
    else:
        assert run(words) == 0
    said = capfd.readouterr()
    named = [w for option, w in pairwise(words) if option in WRITES]
    assert all(Path(name).stat().st_size > 1000 for name in named)
    assert all(f"written: {name}" in said.err for name in named)
    assert named or len(said.out.strip()) > 0


WRITES = ("--output", "--screenshot")
LESS = {
    "experiment figure-1 ": ("--regions", "1"),
    "experiment heatmap-quality ": ("--resolution", "16", "--draws", "1"),
    "heatmap sample --region ": ("--resolution", "64"),
    "heatmap sample --panes ": ("--resolution", "16", "--frames", "2"),
    "heatmap sample ": ("--resolution", "16"),
    "sweep ": ("--sweep", "eps0=0.5:4:2"),
    "window --tour": ("--set", "resolution=16"),
}
"""What is added to commands that take long: they are run as printed, of less."""


def test_what_the_programs_commands_write_needs_no_extra() -> None:
    from explorer.figures.formats import FORMATS

    extras = {f".{f.suffix}": f.extra for f in FORMATS}
    words = [w for c in PROGRAM for w in pairwise(shlex.split(c, comments=True)) if w[0] in WRITES]
    suffixes = {Path(name).suffix for _, name in words} & set(extras)
    assert {".png", ".pdf", ".gif"} <= suffixes
    assert not [s for s in suffixes if extras[s]]


def test_the_one_that_needs_a_network_names_a_known_file() -> None:
    from explorer.checkins.public_files import SOURCES

    (command,) = (c for c in PROGRAM if " fetch " in c)
    assert shlex.split(command, comments=True)[2] in SOURCES


@pytest.mark.parametrize("command", OTHERS)
def test_other_commands_name_what_is_there(command: str) -> None:
    """They install, test or measure; what they name must exist in a checkout or be made before."""
    words = shlex.split(command, comments=True)
    assert words
    for option, word in pairwise(words):
        if option == "-m":
            assert word in ("venv", "pytest") or find_spec(word) is not None
    for word in words:
        if word.startswith(("tests/", "resources/", ".ci/")):
            assert (ROOT / word).exists()
    known = (
        "pipx",
        "python3.13",
        ".",
        "eval",
        "bash",
        ".venv/bin/pip",
        ".venv/bin/python",
        "HYPOTHESIS_PROFILE=thorough",
        "resources/packaging/build.sh",
        "resources/lock_dependencies.sh",
    )
    assert words[0] in known


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_and_menu_that_is_named_is_there(name: str) -> None:
    text = DOCUMENTS[name]
    for path in re.findall(r"`((?:explorer|resources|tests|datasets)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"`(explorer\.[\w.]+)`", text):
        assert find_spec(module) is not None, module
    shell = (ROOT / "explorer" / "ui" / "app" / "menu_bar.py").read_text(encoding="utf-8")
    for menu, item in re.findall(r"\*(\w+) ▸ ([^*]+)\*", text):
        assert f'"{menu}"' in shell.replace("&", ""), menu
        assert f'"{item}"' in shell.replace("&", ""), item
