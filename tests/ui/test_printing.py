"""Printing a page, and exporting all quantities into a folder."""

from __future__ import annotations

from pypdf import PdfReader
from PySide6.QtGui import QPageLayout, QPageSize
from PySide6.QtPrintSupport import QPrinter

from explorer.engine.session.recipe import recipe_from_dict
from explorer.engine.session.session import with_quantity
from explorer.figures.recipes import read_recipe


def test_the_page_of_an_export_is_printed_on_a4(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="amplification")
    settled(window)
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "page.pdf"))
    printer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    printer.setPageOrientation(QPageLayout.Orientation.Landscape)
    with qtbot.waitSignal(window.output.message) as said:
        window.menus.printing.print_on(printer)
    assert said.args[0].endswith("printer.")
    (page,) = PdfReader(tmp_path / "page.pdf").pages
    millimetres = sorted(round(float(side) * 25.4 / 72) for side in page.mediabox[2:])
    assert millimetres == [210, 297]
    (image,) = page.images
    drawn = image.image.convert("L")
    assert drawn.width > 2000
    assert drawn.getextrema()[0] < 100  # not a blank page


def test_all_quantities_are_written_into_a_new_folder(
    tiny_study, open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(
        "explorer.ui.app.export_actions.QFileDialog.getExistingDirectory",
        lambda *_: str(tmp_path),
    )
    (tmp_path / "tiny").mkdir()  # existing files are kept
    window = open_window(study="tiny", values=(("eps", "1.5"),))
    settled(window)
    asked = window.session.request()
    with qtbot.waitSignal(window.output.message) as said:
        window.menus.actions["export-all"].trigger()
    keys = [q.key for q in tiny_study.quantities]
    assert said.args[0].startswith(f"{2 * len(keys)} files ")
    assert not list((tmp_path / "tiny").iterdir())
    for key in keys:
        for suffix in ("pdf", "csv"):
            path = tmp_path / "tiny-2" / f"tiny-{key}.{suffix}"
            read = recipe_from_dict(read_recipe(path)).request
            assert read.values == asked.values
            assert (read.quantity, read.sweep) == (key, with_quantity(asked, key).sweep)
