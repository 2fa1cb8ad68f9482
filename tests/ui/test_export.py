"""Export from the window, and restoring exported views."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from explorer.engine.session.recipe import Recipe
from explorer.figures import formats
from explorer.figures.animation_frames import FRAMES
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import by_suffix, of_kind
from explorer.figures.recipes import read_recipe
from explorer.geography.region import Region
from explorer.resources import samples
from explorer.studies.base.study import Origin, Request, Scale, Sweep
from explorer.studies.heatmap.public import NOISY_NOTES
from explorer.ui.app.export_actions import ExportController
from explorer.ui.base.errors import Problem


@pytest.fixture
def tiny(open_window, settled, tiny_study):
    window = open_window(study="tiny")
    window.session.set_value("eps", 0.7)
    window.session.set_sweep(Sweep("eps", 0.1, 4.0, 30, Scale.LINEAR))
    settled(window)
    return window


@pytest.fixture
def export(qtbot, monkeypatch, tmp_path):
    """Export in a format and return the file."""

    def run(window, fmt: str, **choices: object) -> Path:
        path = tmp_path / f"picture.{fmt}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        window.menus.actions["export"].trigger()
        dialog = window.output.dialog
        dialog.format.setCurrentIndex(dialog.format.findData(fmt))
        for name, value in choices.items():
            box = getattr(dialog, name)
            if isinstance(value, int):
                box.setValue(value)
            else:
                box.setCurrentIndex(box.findData(value))
        with qtbot.waitSignal(window.output.controller.done):
            dialog.save.click()
        return path

    return run


def test_every_format_goes_out_and_comes_back(tiny, export, settled, qtbot) -> None:
    bounds = tiny.workspaces["bounds"]
    bounds.legend.row("linear").check.click()
    bounds.plot.set_data_ranges((0.5, 3.0), (0.5, 0.9))
    asked, view = tiny.session.request(), bounds.view_state()
    paths = {form.suffix: export(tiny, form.suffix) for form in of_kind()}
    with Image.open(paths["png"]) as image:
        assert image.size == (1600, 1000)
    rows = [line for line in paths["csv"].read_text().splitlines() if not line.startswith("#")]
    table = list(csv.DictReader(rows))
    assert list(table[0]) == ["x", "truth"]
    assert float(table[-1]["x"]) == 4.0
    document = json.loads(paths["json"].read_text())
    assert document["readouts"][0]["value"] == pytest.approx(0.66818777)
    for fmt, path in paths.items():
        recipe = read_recipe(path)
        assert recipe["study"] == "tiny", fmt
        assert recipe["values"]["eps"] == 0.7, fmt
        assert recipe["view"]["hidden"] == ["linear"], fmt
        tiny.session.set_values({"eps": 2.0, "slow": True})
        tiny.session.set_quantity("error")
        bounds.plot.reset_view()
        with qtbot.waitSignal(tiny.files.recognised):
            tiny.files.open_any(path)
        settled(tiny)
        assert tiny.session.request() == asked, fmt
        back = bounds.view_state()
        assert back.hidden == view.hidden, fmt
        assert back.x_range == pytest.approx(view.x_range), fmt
        assert back.y_range == pytest.approx(view.y_range), fmt
        assert tiny.session.undo_text == "open recipe", fmt
        assert tiny.session_store.recent[0] == str(path), fmt


def test_sizes_in_millimetres_become_pixels(tiny, export) -> None:
    path = export(tiny, "png", preset="column")
    with Image.open(path) as image:
        assert image.size == (round(88 / 25.4 * 600), round(62 / 25.4 * 600))


def test_another_size_is_a_size_of_ones_own(tiny) -> None:
    tiny.menus.actions["export"].trigger()
    dialog = tiny.output.dialog
    dialog.width_box.setValue(1234)
    assert dialog.preset.currentData() == "custom"
    assert dialog.size_px() == (1234, 1000)
    assert dialog.format.findData("geojson") == -1  # for maps only
    dialog.preset.setCurrentIndex(dialog.preset.findData("slide"))
    assert dialog.size_px() == (1920, 1080)
    dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    assert not dialog.width_box.isEnabled()
    assert '"study": "tiny"' in dialog.recipe.toPlainText()
    dialog.reject()


@pytest.mark.parametrize(("key", "kind"), [("copy", "image/png"), ("copy-numbers", "text/plain")])
def test_the_clipboard_holds_picture_or_numbers(tiny, qtbot, tmp_path, key, kind) -> None:
    with qtbot.waitSignal(tiny.output.controller.done):
        tiny.menus.actions[key].trigger()
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasFormat(kind)
    path = tmp_path / "pasted"
    path.write_bytes(mime.data(kind).data())
    assert read_recipe(path)["values"]["eps"] == 0.7
    assert "clipboard" in tiny.statusBar().currentMessage()
    if key == "copy":
        assert mime.hasImage()
    QGuiApplication.clipboard().clear()


def test_the_true_map_leaves_only_when_asked_for(open_window, qtbot, export) -> None:
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    qtbot.waitUntil(lambda: window.current_result is not None)
    qtbot.waitUntil(lambda: not window.busy)
    path = export(window, "json")
    document = json.loads(path.read_text())
    assert [s["key"] for s in document["surfaces"]] == ["private"]
    assert document["stamp"]
    recipe = read_recipe(path)
    assert "data" not in recipe
    assert "seed" not in recipe
    window.menus.actions["export"].trigger()
    dialog = window.output.dialog
    assert dialog.true_map.isVisible()
    assert dialog.format.findData("geojson") > 0
    assert dialog.view().surfaces == ("private",)
    dialog.true_map.setChecked(True)
    assert dialog.view().surfaces == ("true", "private", "difference")
    assert "without accounting" in dialog.note.text()
    assert f'"name": "{window.data.current.basename}"' in dialog.recipe.toPlainText()
    dialog.true_map.setChecked(False)
    assert "file name" in dialog.note.text()
    assert window.data.current.fingerprint not in dialog.recipe.toPlainText()
    dialog.reject()
    asked = window.session.request()
    window.session.set_value("epsilon", 5.0)
    window.session.set_seed(9)
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    # Settings are restored, not the noise draw.
    assert window.session.request() == replace(asked, seed=9)


def heatmap_window(open_window, qtbot, **how):
    window = open_window(study="heatmap", values=(("resolution", "16"),), **how)
    qtbot.waitUntil(lambda: window.current_result is not None)
    qtbot.waitUntil(lambda: not window.busy)
    return window


def _an_epsilon_judged_on_the_checkins_is_not_exported_alone(window, qtbot) -> None:
    """The dialog explains, the clipboard stays empty; with the true map it is copied."""
    request = window.session.request()
    selection = replace(request.selection, epsilon_from=Origin.JUDGED)
    window.session.follow(replace(request, selection=selection))
    qtbot.waitUntil(lambda: window.current_result.request.selection.epsilon_from is Origin.JUDGED)
    qtbot.waitUntil(lambda: not window.busy)
    window.menus.actions["export"].trigger()
    dialog = window.output.dialog
    assert "“Utility”" in dialog.note.text()
    assert not dialog.save.isEnabled()
    dialog.true_map.setChecked(True)
    assert dialog.save.isEnabled()
    assert '"epsilon_from": "judged"' in dialog.recipe.toPlainText()
    dialog.reject()
    QGuiApplication.clipboard().setText("mine")
    with qtbot.waitSignal(window.output.controller.failed):
        window.menus.actions["copy"].trigger()
    assert "“Utility”" in window.banner.text.text()
    assert QGuiApplication.clipboard().text() == "mine"


def _what_makes_it_again_is_copied_without_anything_of_the_checkins(window, qtbot) -> None:
    data = window.data.current
    for key in ("copy-line", "copy-python"):
        window.menus.actions[key].trigger()
        text = QGuiApplication.clipboard().text()
        assert "resolution" in text, key
        assert data.fingerprint not in text, key
        assert data.basename not in text, key

    window.show_study("unbounded")
    qtbot.waitUntil(lambda: window.current_result is not None)
    qtbot.waitUntil(lambda: not window.busy)
    assert window.current_result.request.study == "unbounded"
    for key, first in (
        ("copy-line", "privacy-explorer bounds unbounded --sweep "),
        ("copy-python", '"""'),
    ):
        window.menus.actions[key].trigger()
        assert QGuiApplication.clipboard().text().startswith(first), key


def test_the_clipboard_never_holds_the_true_map(open_window, qtbot) -> None:
    """A copy contains the private map only, and no metadata."""
    window = heatmap_window(open_window, qtbot)
    jobs: list[ExportJob] = []
    window.output.controller.done.connect(jobs.append)
    contents = []
    for key, kind in (("copy", "image/png"), ("copy-numbers", "text/plain")):
        with qtbot.waitSignal(window.output.controller.done):
            window.menus.actions[key].trigger()
        assert jobs[-1].view.surfaces == ("private",), key
        contents.append(QGuiApplication.clipboard().mimeData().data(kind).data())
    # Another truth below the same noisy map, with another name and hash: the same copy.
    result = window.current_result
    truth = result.surface("true")
    other = replace(
        result,
        request=replace(
            result.request, selection=replace(result.request.selection, data="0" * 64), seed=99
        ),
        surfaces=(
            replace(truth, values=truth.values[::-1].copy()),
            *result.surfaces[1:],
        ),
        readouts=tuple(replace(r, value=1.0) if r.curator_only else r for r in result.readouts),
        notes=(*(note for note in result.notes if note in NOISY_NOTES), "2,069 users."),
        timings_ms={},
    )
    for job, content in zip(jobs, contents, strict=True):
        assert render(replace(job, result=other)) == content, job.format
        assert window.data.current.fingerprint.encode() not in content, job.format
    _what_makes_it_again_is_copied_without_anything_of_the_checkins(window, qtbot)
    window.show_study("heatmap")
    qtbot.waitUntil(lambda: not window.busy)
    _an_epsilon_judged_on_the_checkins_is_not_exported_alone(window, qtbot)
    QGuiApplication.clipboard().clear()


def test_a_region_that_was_found_is_reported_before_exporting(
    open_window, qtbot, export, tmp_path
) -> None:
    path = tmp_path / "hers.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    path.write_text("\n".join(rows) + "\n")
    window = heatmap_window(open_window, qtbot, data=path)
    window.menus.actions["export"].trigger()
    assert "where the map" in window.output.dialog.note.text()
    window.output.dialog.reject()
    told = export(window, "json").read_text()
    assert "hers.txt" not in told
    assert "40.0" not in told
    assert "a region found" not in told  # texts of captions; the document states it by its origin
    assert read_recipe(tmp_path / "picture.json")["selection"]["region_from"] == "extent"
    for side, value in (("south", "39"), ("north", "41"), ("west", "-75"), ("east", "-73")):
        field = window.data_panel.sides[side]
        field.setFocus()
        field.setText(value)
        field.setModified(True)
        field.editingFinished.emit()
    qtbot.waitUntil(lambda: not window.busy)
    window.menus.actions["export"].trigger()
    assert "where the map" not in window.output.dialog.note.text()
    window.output.dialog.reject()
    recipe = read_recipe(export(window, "json"))
    assert recipe["selection"]["region"] == [39.0, -75.0, 41.0, -73.0]


def test_settings_without_data_wait_for_any(open_window, qtbot, export, tmp_path) -> None:
    window = heatmap_window(open_window, qtbot, users=50)
    window.session.set_value("epsilon", 3.0)
    qtbot.waitUntil(lambda: not window.busy)
    path = export(window, "csv")
    other = tmp_path / "other.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    other.write_text("\n".join(rows) + "\n")
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_any(other)
    window.session.set_value("epsilon", 1.0)
    selection = window.session.state.selection
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    now = window.session.request()
    assert now["epsilon"] == 3.0
    assert now.selection.data == selection.data
    assert now.selection.users == 50
    assert now.selection.region == Region(*samples()[0].suggested_region)
    assert now.selection.region_origin is Origin.PUBLIC


def test_an_export_that_fails_is_reported(tiny, export, qtbot, monkeypatch, tmp_path) -> None:
    job = ExportJob(
        tiny.current_result,
        tiny.workspace.view_state(),
        {},
        by_suffix("png"),
        tmp_path / "no" / "such" / "folder.png",
    )
    with qtbot.waitSignal(tiny.output.controller.failed):
        tiny.output.controller.start(job)
    assert "no such file" in tiny.banner.text.text()


def test_a_cancelled_export_writes_nothing(tiny, qtbot, tmp_path) -> None:
    path = tmp_path / "never.png"
    view = tiny.workspace.view_state()
    job = ExportJob(
        tiny.current_result,
        view,
        tiny.output.recipe(tiny.current_result, None, view),
        by_suffix("png"),
        path,
    )
    with qtbot.waitSignal(tiny.output.controller.cancelled):
        tiny.output.controller.start(job)
        tiny.output.controller.cancel()
    tiny.close()
    assert not path.exists()


def test_closing_while_exporting_waits_for_the_thread(qtbot, tiny, tmp_path) -> None:
    controller = ExportController(tiny.service.runtime.answer)
    view = tiny.workspace.view_state()
    controller.start(
        ExportJob(
            tiny.current_result,
            view,
            tiny.output.recipe(tiny.current_result, None, view),
            by_suffix("pdf"),
            tmp_path / "a.pdf",
        )
    )
    controller.close()
    assert "export" not in {thread.name for thread in threading.enumerate()}


def test_a_recipe_about_other_data_waits_for_them(open_window, settled, export, qtbot, tmp_path):
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    qtbot.waitUntil(lambda: window.current_result is not None and not window.busy)
    path = export(window, "json")
    document = json.loads(path.read_text())
    document["recipe"] = Recipe(window.session.request()).to_dict()
    document["recipe"]["data"] = {"name": "hers.txt", "sha256": "0" * 64}
    document["recipe"]["values"]["epsilon"] = 3.5
    path.write_text(json.dumps(document))
    told: list[Problem] = []
    window.files.problem.connect(told.append)
    before = window.session.request()
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    assert "“hers.txt”" in told[0].sentence
    assert window.session.request() == before
    other = tmp_path / "his.txt"
    rows = [f"{u}\t2010-10-17T01:48:53Z\t40.{u:02}\t-73.9\t{u}" for u in range(20)]
    other.write_text("\n".join(rows) + "\n")
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_any(other)
    assert "not the file" in told[1].sentence
    document["recipe"]["data"]["sha256"] = window.data.current.fingerprint
    path.write_text(json.dumps(document))
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    assert window.session.request()["epsilon"] == 3.5


def test_what_holds_no_recipe_is_reported_in_a_sentence(tiny, qtbot, tmp_path) -> None:
    before = tiny.session.request()
    for name, content, why in (
        ("a.png", b"\x89PNG\r\n\x1a\nxxxx", "damaged"),
        ("a.json", b'{"schema": "other"}', "no recipe"),
        ("b.json", b'{"recipe": {"schema": "privacy-explorer-recipe/9"}}', "not a recipe"),
        ("a.svg", b"<?xml version='1.0'?><svg></svg>", "no recipe"),
        ("a.pdf", b"%PDF-1.4 nothing", "damaged"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with qtbot.waitSignal(tiny.files.recognised):
            tiny.files.open_any(path)
        assert tiny.banner.isVisible(), name
        assert why in tiny.banner.text.text(), name
        assert tiny.session.request() == before, name
        tiny.banner.hide()


def test_a_time_sweep_is_computed_in_the_export(open_window, qtbot, export) -> None:
    window = heatmap_window(open_window, qtbot)
    window.menus.actions["export"].trigger()
    dialog = window.output.dialog
    assert not dialog.frames.isEnabled()
    dialog.format.setCurrentIndex(dialog.format.findData("apng"))
    assert dialog.width_box.isEnabled()
    assert f"{FRAMES} frames" in dialog.note.text()
    dialog.animate.setCurrentIndex(dialog.animate.findData("moving"))
    dialog.frames.setValue(3)
    said = dialog.note.text()
    assert "3 frames together" in said
    assert "Data panel" in said  # not chosen by the user
    dialog.reject()
    before = window.session.request()
    window.session.follow(
        replace(before, selection=replace(before.selection, start="2010-01-01", end="2010-03-01"))
    )
    qtbot.waitUntil(lambda: window.current_result.request.selection.end is not None)
    qtbot.waitUntil(lambda: not window.busy)
    asked: list[Request] = []
    answer = window.output.controller._answer
    window.output.controller._answer = lambda r, check: asked.append(r) or answer(r, check)
    shares: list[float] = []
    window.output.controller.progress.connect(shares.append)
    path = export(window, "apng", animate="moving", frames=3, width_box=480, height_box=300)
    with Image.open(path) as image:
        assert image.n_frames == 3
    assert read_recipe(path)["private_only"] is True
    assert read_recipe(path)["animation"] == {"over": "moving", "frames": 3}
    assert shares
    assert len(asked) == 3
    assert asked[-1].selection.end == "2010-03-01T00:00:00Z"
    assert asked[1].selection.start != asked[0].selection.start
    assert window.session.request().selection.end == "2010-03-01"  # the map does not change


def test_a_geotiff_is_written_and_without_its_library_there_is_a_remedy(
    open_window, qtbot, export, monkeypatch
) -> None:
    window = heatmap_window(open_window, qtbot)
    with monkeypatch.context() as patch:
        patch.setattr(formats, "find_spec", lambda _: None)
        window.menus.actions["export"].trigger()
        dialog = window.output.dialog
        for fmt, extra in (("tif", "geotiff"), ("mp4", "video")):
            dialog.format.setCurrentIndex(dialog.format.findData(fmt))
            assert f"pip install '.[{extra}]'" in dialog.note.text()
            assert not dialog.save.isEnabled()
        dialog.format.setCurrentIndex(dialog.format.findData("png"))
        assert dialog.save.isEnabled()
        dialog.reject()
    rasterio = pytest.importorskip("rasterio")
    path = export(window, "tif")
    with rasterio.open(path) as image:
        assert (image.count, image.crs.to_epsg()) == (1, 4326)
        region = window.session.request().selection.region
        assert (image.bounds.left, image.bounds.top) == (region.west, region.north)
    assert read_recipe(path)["private_only"] is True


def test_the_curves_of_which_epsilon_are_exported_while_they_are_in_front(
    open_window, qtbot, monkeypatch, tmp_path
) -> None:
    window = heatmap_window(open_window, qtbot)
    toggle = window.workspaces["map"].utility
    toggle.action.setChecked(True)
    view = toggle.view
    view.parts.measure.setCurrentIndex(view.parts.measure.findData("similarity"))
    view.parts.measure.activated.emit(view.parts.measure.currentIndex())
    qtbot.waitUntil(
        lambda: (
            view.answer is not None
            and view.answer.question.measure == "similarity"
            and view.plot.result is not None
        )
    )
    view.cancel()
    before = window.session.request()

    def title(trigger) -> str:
        trigger()
        said = window.output.dialog.view().title
        window.output.dialog.reject()
        return said

    menu = window.menus.actions["export"].trigger
    assert title(menu).startswith("Utility")
    window.workspaces["map"].utility.action.setChecked(False)
    assert title(menu) == ""  # the maps
    window.workspaces["map"].utility.action.setChecked(True)
    menu()
    dialog = window.output.dialog
    assert "curator only" in dialog.note.text()
    assert dialog.format.findData("gif") == -1
    path = tmp_path / "which.csv"
    dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(window.output.controller.done):
        dialog.save.click()
    written = path.read_text(encoding="utf-8")
    assert "# stamp: curator only" in written
    assert "# Judged on" in written
    assert all(curve.mechanism in written for curve in view.answer.curves)
    recipe = read_recipe(path)
    assert recipe["which"]["measure"] == "similarity"
    window.session.set_value("epsilon", 3.5)
    view.parts.measure.setCurrentIndex(view.parts.measure.findData("pearson"))
    view.parts.measure.activated.emit(view.parts.measure.currentIndex())
    assert window.session.state.which.measure == "pearson"
    window.workspaces["map"].utility.action.setChecked(False)
    with qtbot.waitSignal(window.files.recognised):
        window.files.open_any(path)
    qtbot.waitUntil(lambda: window.session.request() == before)
    shown = window.session.state.which
    assert (shown.open, shown.measure, shown.judged_on) == (True, "similarity", "")
    assert shown.targets["similarity"] == recipe["which"]["target"]


def test_the_preview_follows_what_is_chosen(tiny, qtbot, tmp_path) -> None:
    tiny.menus.actions["export"].trigger()
    dialog = tiny.output.dialog
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull())
    whole = dialog.preview.pixmap().toImage()
    for key in ("title", "legend", "caption", "conditions", "footer"):
        dialog.parts[key].setChecked(False)
    assert dialog.view().left_out == ("title", "legend", "caption", "conditions", "footer")
    assert json.loads(dialog.recipe.toPlainText())["view"]["left_out"] == list(
        dialog.view().left_out
    )
    qtbot.waitUntil(lambda: dialog.preview.pixmap().toImage() != whole)
    bare = dialog.preview.pixmap()
    dialog.preset.setCurrentIndex(dialog.preset.findData("slide"))
    qtbot.waitUntil(
        lambda: dialog.preview.pixmap().width() / dialog.preview.pixmap().height() > 1.7
    )
    assert bare.width() / bare.height() == pytest.approx(1.6, rel=0.02)
    dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    assert dialog.preview.pixmap().isNull()
    assert "numbers" in dialog.preview.text()
    assert not dialog.parts["title"].isEnabled()
    dialog.reject()
