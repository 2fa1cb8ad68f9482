"""Preview while a large file is opened: labelled, refined, replaced by the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from datasets.generate_checkins import main as generate
from explorer.checkins.database import quote, read_file
from explorer.files import file_sha256
from explorer.geography.region import Region
from explorer.release.ledger.settings import default_ledger, default_settings
from explorer.release.pipeline import LedgerLocation
from explorer.studies.heatmap.parameters import TRUE
from explorer.ui.app.main_window import MainWindow
from explorer.ui.controllers.preview import PreviewPicture
from explorer.ui.controllers.workspace import NO_PARTIAL_EXPORT
from tests.ui.map_page import MapPage, opened
from tests.ui.small_map import SMALL_MAP

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "it's [1].txt"
    generate(["--users", "9000", "--rows", "500000", "--seed", "3", str(path)])
    return path


@pytest.fixture
def map_page(qtbot, tmp_path, monkeypatch) -> Iterator[MapPage]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with opened(qtbot) as map_page:
        yield map_page


@pytest.fixture
def looks(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return how often the file was looked at, by the ledger."""
    for name in ("STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))

    def counted() -> int:
        if not default_ledger().exists():
            return 0
        with LedgerLocation(default_ledger(), default_settings()).open() as ledger:
            known = ledger.known.file(file_sha256(large))
        return 0 if known is None else known.shown

    return counted


def watched(map_page: MapPage) -> list[tuple[str, object]]:
    """Signals from now on, in order, with the label on the screen."""
    seen: list[tuple[str, object]] = []
    map_page.data.looked.connect(lambda picture: seen.append(("looked", picture)))
    map_page.data.loaded.connect(
        lambda _data: seen.append(("loaded", map_page.map.preview.picture))
    )
    return seen


def test_a_labelled_picture_sharpens_and_gives_way_to_the_map(
    map_page: MapPage, large: Path, looks: Callable[[], int]
) -> None:
    seen, stack = watched(map_page), map_page.map.preview
    assert stack.currentWidget() is map_page.map.panes
    map_page.data.open(large)
    map_page.qtbot.waitUntil(lambda: stack.picture is not None)
    assert map_page.data.busy
    assert map_page.data.current is None
    assert map_page.map.current_result is None
    assert stack.currentWidget() is not map_page.map.panes
    pane = stack.slot.pane
    assert pane.filled
    assert "% read, estimate" in pane.accessibleName()
    assert "curator only" in pane.accessibleName()
    assert stack.slot.stamp.text().startswith("curator")
    assert not map_page.map.metrics.isEnabled()
    map_page.qtbot.waitUntil(lambda: seen[-1][0] == "loaded")
    assert seen[-1][1] is not None  # the label stays until the map of all rows is shown
    map_page.qtbot.waitUntil(lambda: stack.picture is None)
    assert map_page.answered().surface(TRUE).values.sum() > 0
    assert stack.currentWidget() is map_page.map.panes
    assert map_page.map.metrics.isEnabled()
    assert map_page.map.panes.panes[TRUE].filled
    assert "read" not in map_page.map.panes.panes[TRUE].accessibleName()
    pictures = [p for kind, p in seen if kind == "looked" and p is not None]
    assert all(isinstance(p, PreviewPicture) for p in pictures)
    assert len({p.label for p in pictures}) == len(pictures) >= 2
    assert pictures[-1].values.shape >= pictures[0].values.shape
    assert np.isclose(pictures[0].values.sum(), 1)
    middle = [np.mean((r.south, r.north)) for r in (pictures[0].region, map_page.region)]
    assert middle[0] == pytest.approx(middle[1], abs=0.2)
    map_page.qtbot.waitUntil(lambda: looks() == 1)


def test_it_is_a_look_also_if_the_load_is_given_up(map_page: MapPage, large: Path, looks) -> None:
    region, stack = Region(51.3, -0.5, 51.7, 0.3), map_page.map.preview
    map_page.data.open(large, region=region)
    map_page.qtbot.waitUntil(lambda: stack.picture is not None)
    assert stack.picture.region == region  # the one that will be asked about
    map_page.data.cancel()
    map_page.qtbot.waitUntil(lambda: looks() == 1)


def test_cancelling_takes_it_away_and_leaves_the_data_before(
    map_page: MapPage, large, tmp_path
) -> None:
    small = tmp_path / "small.txt"
    generate(["--users", "50", "--rows", "3000", "--seed", "1", str(small)])
    map_page.load(small)
    before, region = map_page.answered(), map_page.region
    stack = map_page.map.preview
    assert stack.picture is None
    map_page.data.open(large)
    map_page.qtbot.waitUntil(lambda: stack.picture is not None)
    assert map_page.map.current_result.request == before.request
    assert map_page.region == region
    map_page.data.cancel()
    assert stack.picture is None
    assert stack.currentWidget() is map_page.map.panes
    assert map_page.map.metrics.isEnabled()
    QApplication.processEvents()
    assert map_page.map.panes.panes[TRUE].filled
    assert map_page.region == region


def test_a_load_that_fails_takes_it_away(map_page: MapPage, large: Path, tmp_path: Path) -> None:
    path = tmp_path / "changing.txt"
    path.write_bytes(large.read_bytes())
    stack = map_page.map.preview

    def changed(picture: PreviewPicture | None) -> None:
        if picture is not None:
            with path.open("ab") as file:
                file.write(b"\n")

    map_page.data.looked.connect(changed)
    with map_page.qtbot.waitSignal(map_page.data.failed) as failed:
        map_page.data.open(path)
    assert "changed" in str(failed.args[0])
    assert stack.picture is None
    assert stack.currentWidget() is map_page.map.panes
    assert "Open check-ins" in map_page.map.banner.text.text()


def test_nothing_is_exported_or_copied_while_it_is_shown(
    open_window: Callable[..., MainWindow], qtbot: QtBot, large: Path
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    page, said = window.workspaces["map"], []
    window.output.message.connect(said.append)
    names = ("export", "copy", "copy-numbers")
    actions = [window.menus.actions[name] for name in names]
    qtbot.waitUntil(lambda: page.current_result is not None)
    assert all(action.isEnabled() for action in actions)
    window.data.open(large)
    qtbot.waitUntil(lambda: page.preview.picture is not None)
    assert not any(action.isEnabled() for action in actions)
    assert {action.toolTip() for action in actions} == {NO_PARTIAL_EXPORT}
    assert not window.badge.isVisible()  # which belonged to the synthetic sample
    window.answers["map"].result_ready.emit(page.current_result, 1.0)  # a late result for it
    assert not window.badge.isVisible()
    assert window.guarantee.stale.isVisible()
    window.output.ask()
    window.output.copy("png")
    assert window.output.dialog is None
    assert said == [NO_PARTIAL_EXPORT, NO_PARTIAL_EXPORT]
    window.pages.setCurrentWidget(window.tools["compare"])
    assert actions[0].isEnabled()  # surrounding texts do not belong to the file
    window.pages.setCurrentWidget(page)
    assert not actions[0].isEnabled()
    window.data.cancel()
    assert page.preview.picture is None
    qtbot.waitUntil(lambda: all(action.isEnabled() for action in actions))


def test_a_parquet_file_with_plain_names_asks_nothing_and_has_a_picture(
    map_page: MapPage, large: Path, tmp_path: Path
) -> None:
    path, stack = tmp_path / "x?.parquet", map_page.map.preview
    columns = (
        "{'user': 'BIGINT', 'time': 'TIMESTAMP', 'latitude': 'DOUBLE', 'longitude': 'DOUBLE', "
        "'location': 'BIGINT'}"
    )
    duckdb.sql(
        f"COPY (SELECT * FROM read_csv({read_file(large)}, delim='\t', header=false, "
        f"columns={columns})) TO {quote(str(path))} (FORMAT parquet)"
    )
    asked: list[object] = []
    map_page.data.mapping_needed.connect(asked.append)
    map_page.data.open(path)
    map_page.qtbot.waitUntil(lambda: asked or stack.picture is not None)
    assert not asked
    assert "read, estimate" in stack.picture.label
    map_page.data.cancel()
