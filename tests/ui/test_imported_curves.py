"""A CSV file dropped on the plot is drawn, listed, undone, exported and restored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from explorer.figures.export import render
from explorer.figures.formats import by_suffix
from explorer.figures.style import LIGHT
from explorer.ui.dialogs.export import ExportDialog

TEXT = "eps,Mine,Theirs\n0.1,0.5,0.6\n1,0.7,0.8\nten,0.9,1\n5,0.95,0.99\n"
KEYS = ["own:Mine (my.csv)", "own:Theirs (my.csv)"]
LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction


@pytest.fixture
def tiny(tiny_study, open_window, settled):
    window = open_window(study="tiny")
    settled(window)
    return window


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "my.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def drop(bounds, path: Path, qtbot) -> None:
    """Drag a file over the plot and drop it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    target = bounds.plot.viewport()
    QApplication.sendEvent(target, QDragEnterEvent(QPoint(90, 90), COPY, data, LEFT, PLAIN))
    assert bounds.own.hint.isVisible()
    assert path.name in bounds.own.hint.text()
    idle = {"check_params_cb": lambda busy: not busy}
    with qtbot.waitSignal(bounds.own.job.busy_changed, **idle):
        QApplication.sendEvent(target, QDropEvent(QPointF(90, 90), COPY, data, LEFT, PLAIN))
    assert not bounds.own.hint.isVisible()


def test_a_dropped_file_is_drawn_listed_undone_and_exported(
    tiny, mine, settled, qtbot, tmp_path
) -> None:
    bounds, session = tiny.workspaces["bounds"], tiny.session
    answer, claim = bounds.answer.grab(), bounds.claiming.key
    drop(bounds, mine, qtbot)
    assert [k for k in bounds.plot.curves if k in KEYS] == KEYS
    assert {bounds.plot.style_of(key).colour for key in KEYS} == {LIGHT.muted}
    assert all(bounds.plot.style_of(key).dash for key in KEYS)
    assert set(KEYS) <= set(bounds.legend.front)
    assert bounds.legend.row(KEYS[0]).value.text() == "0.7"
    bounds.below.setCurrentIndex(1)
    names = [
        bounds.below.numbers.model().headerData(i, Qt.Orientation.Horizontal)
        for i in range(bounds.below.numbers.model().columnCount())
    ]
    assert any("Theirs (my.csv)" in name for name in names)
    assert tiny.banner.text.text() == (
        "1 row is not drawn: my.csv, line 4, eps: 'ten' is not a number; write a number "
        "such as 0.25, or leave the row out."
    )
    assert (bounds.answer.grab().toImage(), bounds.claiming.key) == (answer.toImage(), claim)

    tiny.output.ask()
    dialog = tiny.output.dialog
    assert isinstance(dialog, ExportDialog)
    path = tmp_path / "plot.svg"
    job = dialog.job(path)
    dialog.reject()
    path.write_bytes(render(replace(job, format=by_suffix("svg"))))
    assert "Mine (my.csv)" in path.read_text(encoding="utf-8")

    offered = {a.text(): a for a in bounds.legend.menu_for(KEYS[0]).actions()}
    assert not offered["Add to Compare"].isEnabled()  # not computable by any study
    offered["Remove this curve"].trigger()
    assert [c.key for c in session.state.own] == KEYS[1:]
    session.undo()
    session.undo()
    assert session.state.own == ()
    assert not set(KEYS) & set(bounds.plot.curves)
    tiny.files.open_recipe(path)
    qtbot.waitUntil(lambda: set(KEYS) <= set(bounds.plot.curves))
    assert [c.key for c in session.state.own] == KEYS


def test_what_holds_no_curves_says_so_and_can_be_opened_as_check_ins(tiny, tmp_path, qtbot) -> None:
    bounds, path = tiny.workspaces["bounds"], tmp_path / "visits.csv"
    path.write_text("user,lat,lon\nada,1,2\nbob,2,3\n", encoding="utf-8")
    drop(bounds, path, qtbot)
    assert "visits.csv, line 2, user:" in tiny.banner.text.text()
    assert tiny.session.state.own == ()


def test_rows_of_many_curves_are_scrolled_to_and_not_squeezed(tiny, tmp_path, settled, qtbot):
    bounds = tiny.workspaces["bounds"]
    many = tmp_path / "many.csv"
    names = [f"Curve {n}" for n in range(12)]
    lines = [",".join(["eps", *names])] + [",".join([x, *["0.5"] * 12]) for x in ("0.1", "1")]
    many.write_text("\n".join(lines), encoding="utf-8")
    drop(bounds, many, qtbot)
    rows = [bounds.legend.rows[f"own:{name} (many.csv)"] for name in names]

    def uncut() -> bool:
        return all(row.label.height() >= row.label.sizeHint().height() for row in rows)

    qtbot.waitUntil(lambda: uncut() and bounds.beside.verticalScrollBar().maximum() > 0)
