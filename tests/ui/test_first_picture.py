"""Opening a large file in the real window: a labelled picture of a part of it, then the map."""

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
from explorer.release.locations import default_ledger, default_settings
from explorer.release.pipeline import LedgerLocation
from explorer.studies.heatmap.panes import TRUE
from explorer.ui.app.main_window import MainWindow
from explorer.ui.controllers.preview import EarlyPicture
from explorer.ui.controllers.workspace import UNREAD
from tests.ui.map_desk import Desk, opened
from tests.ui.small_map import SMALL_MAP

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "it's [1].txt"
    generate(["--users", "9000", "--rows", "500000", "--seed", "3", str(path)])
    return path


@pytest.fixture
def desk(qtbot, tmp_path, monkeypatch) -> Iterator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with opened(qtbot) as desk:
        yield desk


def watched(desk: Desk) -> list[tuple[str, object]]:
    """What is signalled from now on, in order, with the label that is on the screen."""
    seen: list[tuple[str, object]] = []
    desk.data.looked.connect(lambda picture: seen.append(("looked", picture)))
    desk.data.loaded.connect(lambda _data: seen.append(("loaded", desk.map.first_look.picture)))
    return seen


def test_a_labelled_picture_sharpens_and_gives_way_to_the_map(desk: Desk, large: Path) -> None:
    seen, stack = watched(desk), desk.map.first_look
    assert stack.currentWidget() is desk.map.panes
    desk.data.open(large)
    desk.qtbot.waitUntil(lambda: stack.picture is not None)
    assert desk.data.busy
    assert desk.data.current is None
    assert desk.map.current_result is None
    assert stack.currentWidget() is not desk.map.panes
    pane = stack.slot.pane
    assert pane.filled
    assert "% read, estimate" in pane.accessibleName()
    assert "curator only" in pane.accessibleName()
    assert stack.slot.header.badge.text().startswith("curator")
    assert not desk.map.metrics.isEnabled()
    desk.qtbot.waitUntil(lambda: seen[-1][0] == "loaded")
    assert seen[-1][1] is not None  # its label stays until the map of all rows is on the screen
    desk.qtbot.waitUntil(lambda: stack.picture is None)
    assert desk.answered().surface(TRUE).values.sum() > 0
    assert stack.currentWidget() is desk.map.panes
    assert desk.map.metrics.isEnabled()
    assert desk.map.panes.panes[TRUE].filled
    assert "read" not in desk.map.panes.panes[TRUE].accessibleName()
    pictures = [p for kind, p in seen if kind == "looked" and p is not None]
    assert all(isinstance(p, EarlyPicture) for p in pictures)
    assert len({p.label for p in pictures}) == len(pictures) >= 2
    assert pictures[-1].values.shape >= pictures[0].values.shape
    assert np.isclose(pictures[0].values.sum(), 1)
    middle = [np.mean((r.south, r.north)) for r in (pictures[0].region, desk.region)]
    assert middle[0] == pytest.approx(middle[1], abs=0.2)


def test_it_is_a_look_whether_the_load_ends_or_not(
    desk: Desk, large, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def looks() -> int:
        if not default_ledger().exists():
            return 0
        with LedgerLocation(default_ledger(), default_settings()).open() as ledger:
            known = ledger.known.file(file_sha256(large))
        return 0 if known is None else known.shown

    stack = desk.map.first_look
    for many in (1, 2):
        desk.data.open(large)
        desk.qtbot.waitUntil(lambda: stack.picture is not None)
        desk.data.cancel()
        desk.qtbot.waitUntil(lambda many=many: looks() == many)
    with desk.qtbot.waitSignal(desk.data.looks.counted):
        desk.load(large)
    assert looks() == 3


def test_cancelling_takes_it_away_and_leaves_the_data_before(desk: Desk, large, tmp_path) -> None:
    small = tmp_path / "small.txt"
    generate(["--users", "50", "--rows", "3000", "--seed", "1", str(small)])
    desk.load(small)
    before, region = desk.answered(), desk.region
    stack = desk.map.first_look
    assert stack.picture is None
    desk.data.open(large)
    desk.qtbot.waitUntil(lambda: stack.picture is not None)
    assert desk.map.current_result.request == before.request
    assert desk.region == region
    desk.data.cancel()
    assert stack.picture is None
    assert stack.currentWidget() is desk.map.panes
    assert desk.map.metrics.isEnabled()
    QApplication.processEvents()
    assert desk.map.panes.panes[TRUE].filled
    assert desk.region == region


def test_a_load_that_fails_takes_it_away(desk: Desk, large: Path, tmp_path: Path) -> None:
    path = tmp_path / "changing.txt"
    path.write_bytes(large.read_bytes())
    stack = desk.map.first_look

    def changed(picture: EarlyPicture | None) -> None:
        if picture is not None:
            with path.open("ab") as file:
                file.write(b"\n")

    desk.data.looked.connect(changed)
    with desk.qtbot.waitSignal(desk.data.failed) as failed:
        desk.data.open(path)
    assert "was changed while it was read" in str(failed.args[0])
    assert stack.picture is None
    assert stack.currentWidget() is desk.map.panes
    assert "Open check-ins" in desk.map.banner.text.text()


def test_the_region_is_the_one_that_will_be_asked_about(desk: Desk, large: Path) -> None:
    from explorer.geography.region import Region

    region, stack = Region(51.3, -0.5, 51.7, 0.3), desk.map.first_look
    desk.data.open(large, region=region)
    desk.qtbot.waitUntil(lambda: stack.picture is not None)
    assert stack.picture.region == region
    desk.data.cancel()


def test_nothing_is_exported_or_copied_while_it_is_shown(
    open_window: Callable[..., MainWindow], qtbot: QtBot, large: Path
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    page, said = window.workspaces["map"], []
    window.output.said.connect(said.append)
    names = ("export", "copy", "copy-numbers")
    actions = [window.menus.actions[name] for name in names]
    qtbot.waitUntil(lambda: page.current_result is not None)
    assert all(action.isEnabled() for action in actions)
    window.data.open(large)
    qtbot.waitUntil(lambda: page.first_look.picture is not None)
    assert not any(action.isEnabled() for action in actions)
    assert {action.toolTip() for action in actions} == {UNREAD}
    assert not window.badge.isVisible()  # which was about the synthetic sample
    window.answers["map"].result_ready.emit(page.current_result, 1.0)  # a late one about that
    assert not window.badge.isVisible()
    assert window.guarantee.stale.isVisible()
    window.output.ask()
    window.output.copy("png")
    assert window.output.dialog is None
    assert said == [UNREAD, UNREAD]
    window.tabs.setCurrentWidget(window.tools["compare"])
    assert actions[0].isEnabled()  # what stands there is not of the file
    window.tabs.setCurrentWidget(page)
    assert not actions[0].isEnabled()
    qtbot.waitUntil(lambda: page.first_look.picture is None)
    assert all(action.isEnabled() for action in actions)


def test_a_parquet_file_with_plain_names_asks_nothing_and_has_a_picture(
    desk: Desk, large: Path, tmp_path: Path
) -> None:
    path, stack = tmp_path / "x?.parquet", desk.map.first_look
    columns = (
        "{'user': 'BIGINT', 'time': 'TIMESTAMP', 'latitude': 'DOUBLE', 'longitude': 'DOUBLE', "
        "'location': 'BIGINT'}"
    )
    duckdb.sql(
        f"COPY (SELECT * FROM read_csv({read_file(large)}, delim='\t', header=false, "
        f"columns={columns})) TO {quote(str(path))} (FORMAT parquet)"
    )
    asked: list[object] = []
    desk.data.mapping_needed.connect(asked.append)
    desk.data.open(path)
    desk.qtbot.waitUntil(lambda: asked or stack.picture is not None)
    assert not asked
    assert "read, estimate" in stack.picture.label
    desk.data.cancel()
