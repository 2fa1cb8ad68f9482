"""What adds something is one new file and its line in a table: here each is added for real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.bounded import in_worker
from explorer.checkins import Dialect, LoadCancelled, Preview, Reason, open_checkins, sniff
from explorer.checkins.model import IsCancelled
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers import READERS, file_patterns
from explorer.checkins.readers.base import (
    CheckHead,
    FileStart,
    Plan,
    ReaderOutput,
    table_preview,
    write_table,
)
from explorer.cli import run
from explorer.figures.formats import Kind, suffixes
from tests.extensions.checkout import Checkout

PARTS = Path(__file__).parent / "extensions"
TEMPLATE = Path(__file__).parent / "template"


class BlockReader:
    """Reads a made-up format: ``!blocks``, then a block of ``column: cell`` lines for each row."""

    name = "Blocks"
    suffixes = (".blocks",)

    def can_read(self, head: bytes) -> float:
        return float(head.startswith(b"!blocks\n"))

    def preview(self, start: FileStart) -> Preview:
        start.check()
        assert in_worker()  # where all files but text are read
        rows = _cells(start.path)
        dialect = Dialect("blocks", "", has_header=True)
        return table_preview(start, dialect, tuple(rows[0]), [tuple(r.values()) for r in rows])

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        assert in_worker()
        rows = [tuple(row.values()) for row in _cells(plan.path)]
        columns = ", ".join(f"c{i} VARCHAR" for i in range(plan.width))
        con.execute(f"CREATE TEMP TABLE blocks ({columns})")
        con.executemany(f"INSERT INTO blocks VALUES ({', '.join('?' * plan.width)})", rows)

        def table(limit: int | None) -> str:
            return "blocks" if limit is None else f"(FROM blocks LIMIT {limit})"

        scan = write_table(con, plan, folder, work, check_head, table)
        return ReaderOutput(scan, lambda lines: {n: " ".join(rows[n - 1]) for n in lines})

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        rows = _cells(path)
        for numbers in batches:
            yield from (" ".join(rows[n - 1].values()) for n in numbers)


READER = BlockReader()


def _cells(path: Path) -> list[dict[str, str]]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")[1:]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


@pytest.fixture
def blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the made-up format, whose reader is in the table."""
    monkeypatch.setitem(READERS, "blocks", f"{__name__}:READER")
    rows = [("ann", "2020-01-01T00:00:00Z", "52.5", "13.4"), ("bob", "2020-01-02", "95", "13.4")]
    rows += [("bob", f"2020-01-{day:02}T08:00:00Z", "48.1", "11.5") for day in range(3, 9)]
    names = ("user", "time", "latitude", "longitude")
    path = tmp_path / "places.blocks"
    path.write_text(
        "!blocks\n\n"
        + "\n\n".join(
            "\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True))
            for row in rows
        ),
        encoding="utf-8",
    )
    return path


def test_a_reader_of_checkins_is_one_file_and_one_line(blocks: Path, tmp_path: Path) -> None:
    preview = sniff(blocks)
    assert preview.columns == ("user", "time", "latitude", "longitude")
    assert preview.mapping.missing == ()
    for _ in range(2):  # the file itself, then what is kept of it
        with open_checkins(blocks, cache_dir=tmp_path / "cache") as data:
            assert data.report.kept == 7
            assert data.report.rejected == {Reason.OUT_OF_RANGE: 1}
            (example,) = data.report.examples[Reason.OUT_OF_RANGE]
            assert (example.line, example.text) == (2, "bob 2020-01-02 95 13.4")
            assert data.export_rejected(tmp_path / "aside.csv") == 1
            aside = (tmp_path / "aside.csv").read_text(encoding="utf-8").splitlines()
            assert aside[1].endswith(",bob 2020-01-02 95 13.4")
    with pytest.raises(LoadCancelled):
        sniff(blocks, cancelled=lambda: True)


def test_a_reader_of_checkins_is_in_dialogs_and_the_command_lines_help(
    blocks: Path, qtbot: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from explorer.ui.controllers.data_controller import MappingRequest
    from explorer.ui.dialogs.open_checkins import MappingDialog

    assert file_patterns().startswith("*.txt *.tsv *.csv *.gz *.parquet *.gpkg *.geojson ")
    assert file_patterns().endswith(" *.xlsx *.xlsm *.blocks")
    dialog = MappingDialog(MappingRequest(blocks, sniff(blocks), ""))
    qtbot.addWidget(dialog)
    assert "Blocks, " in dialog.detected.text()
    dialog.reject()
    assert run(["heatmap", "--help"]) == 0
    assert ", Excel (.xlsx) or Blocks;" in " ".join(capsys.readouterr().out.split())


BANDS = """
        Mechanism(
            "bands", "Bands (made up)", "bands", "explorer.studies.heatmap.bands:run",
            "the counts of all bands change by at most 1 in total", (BASELINES,),
            parameters=(
                Parameter("bands", "b", "bands", "How many bands.", Kind.INTEGER, 4, 1, 16),
            ),
        ),"""
NOTE = """
    ExportFormat(
        "note", "Note of a promise", Kind.NUMBERS, "explorer.figures.note:write", "text/plain",
        "explorer.figures.note:read", b"A note\\n",
    ),"""
GAUGE = """
    "gauge": WorkspaceSpec("Gauge", "One number", "explorer.ui.gauge:Gauge"),"""
INFO = """
        StudyInfo(
            "randomized-response", "Randomized response", "How far off is a share?", "gauge",
            SHUFFLED, "explorer.studies.randomized_response:RandomizedResponse",
        ),"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A checkout with a mechanism of the map, an export format and a workspace more."""
    checkout = Checkout(tmp_path_factory.mktemp("extended"))
    checkout.add(PARTS / "bands.py", "explorer/studies/heatmap/bands.py")
    checkout.edit(
        "explorer/studies/heatmap/mechanisms.py",
        ("Parameter, Request", "Kind, "),
        ("\n    )\n}", BANDS),
    )
    checkout.add(PARTS / "note.py", "explorer/figures/note.py")
    checkout.edit("explorer/figures/formats.py", ("\n)", NOTE))
    checkout.add(PARTS / "gauge.py", "explorer/ui/gauge.py")
    checkout.add(TEMPLATE / "randomized_response.py", "explorer/studies/randomized_response.py")
    checkout.edit("explorer/ui/app/workspaces.py", ('\n}\n"""Workspaces', GAUGE))
    checkout.edit("explorer/studies/catalog.py", ("\n    )\n}", INFO))
    checkout.add(PARTS / "walk.py", "tests/ui/walk.py")
    yield checkout
    shutil.rmtree(checkout.folder)


def test_a_mechanism_and_a_format_edit_one_table_each_and_a_workspace_two(
    extended: Checkout,
) -> None:
    """The workspace's own, and that of the catalog: of the study that it shows."""
    assert extended.changed() == {
        "new": [
            "explorer/figures/note.py",
            "explorer/studies/heatmap/bands.py",
            "explorer/studies/randomized_response.py",
            "explorer/ui/gauge.py",
        ],
        "edited": [
            "explorer/figures/formats.py",
            "explorer/studies/catalog.py",
            "explorer/studies/heatmap/mechanisms.py",
            "explorer/ui/app/workspaces.py",
        ],
    }


@pytest.mark.full
def test_the_window_has_mechanism_format_and_workspace(extended: Checkout) -> None:
    done = extended.run("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/ui/walk.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.full
def test_the_command_line_has_mechanism_and_format(extended: Checkout, tmp_path: Path) -> None:
    asked = ("explorer", "heatmap", "sample", "--resolution", "16", "--panes", "private")
    bands = ("--mechanism", "bands", "--bands", "3", "--quiet", "--no-cache")
    path = tmp_path / "map.note"
    done = extended.run(*asked, *bands, "--output", str(path))
    assert done.returncode == 0, done.stderr
    promise = "1-DP for the idealised real-valued mechanism: the counts of all bands change"
    assert f"add or remove one user: {promise}" in done.stdout
    assert path.read_text(encoding="utf-8").splitlines()[1].startswith(promise)
    refused = extended.run(*asked, "--output", str(tmp_path / "map.bmp"))
    assert refused.returncode != 0
    assert f"one of {suffixes(maps=True)} .note" in refused.stderr
    shown = extended.run("explorer", "heatmap", "--help").stdout
    assert "|bands" in "".join(shown.split())
    assert f"{suffixes(Kind.NUMBERS, maps=True)} .note" in " ".join(shown.split())


@pytest.mark.full
def test_the_command_line_has_the_study_of_a_workspace(extended: Checkout, tmp_path: Path) -> None:
    path = tmp_path / "curves.note"
    done = extended.run("explorer", "bounds", "randomized-response", "--output", str(path))
    assert done.returncode == 0, done.stderr
    assert path.read_text(encoding="utf-8").startswith("A note\nnot covered: the number of people")


@pytest.mark.full
def test_an_installed_study_is_on_the_command_line_and_in_exports(tmp_path: Path) -> None:
    """One that can't be imported is a warning; the window has them in tests/ui/test_plug_ins.py."""
    path = os.pathsep.join(map(str, (PARTS / "broken", TEMPLATE, PARTS.parents[1])))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "explorer", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    listed = run("studies")
    assert "randomized-response" in listed.stdout
    assert "The study no_such_module:INFO of another package can't be used" in listed.stderr
    numbers = tmp_path / "numbers.json"
    exported = run("bounds", "randomized-response", "--set", "eps=2", "--output", str(numbers))
    assert exported.returncode == 0, exported.stderr
