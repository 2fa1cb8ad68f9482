"""File names and other foreign text are never rendered as HTML."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from explorer.ui.base.styled import plain_label, plain_tip
from tests.ui.map_page import MapPage, opened

UI = Path(__file__).resolve().parents[2] / "explorer" / "ui"
NAME = "<h1>a & b<img height=9000>.txt"
ROW = "{0}\t2010-10-{1:02d}T12:00:00Z\t40.{0}5\t-73.5\t{0}\n"


@pytest.mark.full
def test_every_label_states_how_it_reads_its_text() -> None:
    """Without an explicit format Qt guesses, and takes a name with a tag for HTML."""
    found = []
    for path in sorted(UI.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        calls = [
            (node, isinstance(node.func, ast.Name) and node.func.id == "QLabel")
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        ]
        for cls in ast.walk(tree):
            if isinstance(cls, ast.ClassDef) and "QLabel" in [
                getattr(base, "id", "") for base in cls.bases
            ]:
                calls += [
                    (node, ast.unparse(node.func) == "super().__init__")
                    for node in ast.walk(cls)
                    if isinstance(node, ast.Call)
                ]
        found += [
            f"{path.name}:{call.lineno}"
            for call, concerned in calls
            if concerned and "textFormat" not in [keyword.arg for keyword in call.keywords]
        ]
    assert not found


def test_a_plain_label_and_a_tooltip_show_tags(qtbot) -> None:
    label = plain_label(NAME)
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.sizeHint().height() < 100
    assert plain_tip("a & b") == "a & b"
    assert "<h1>" not in plain_tip(NAME)
    assert "&lt;h1&gt;" in plain_tip(NAME)


@pytest.fixture
def map_page(qtbot) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        yield map_page


def test_a_file_whose_name_is_html_does_not_change_the_window(
    map_page: MapPage, tmp_path: Path
) -> None:
    path = tmp_path / NAME.replace("/", "")
    path.write_text("".join(ROW.format(i % 9, 1 + i % 28) for i in range(50)))
    window = map_page.panel.window()
    before = window.minimumSizeHint().height()
    map_page.load(path)
    assert map_page.panel.file_name.text() == NAME
    assert window.minimumSizeHint().height() < before + 200
    for label in window.findChildren(QLabel):
        if NAME in label.text():
            assert label.textFormat() == Qt.TextFormat.PlainText, label.objectName()
    assert "<h1>" not in map_page.panel.file_name.toolTip()
