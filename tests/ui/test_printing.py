"""What is in front on a page of paper, through Qt's own printer."""

from __future__ import annotations

from pypdf import PdfReader
from PySide6.QtGui import QPageLayout, QPageSize
from PySide6.QtPrintSupport import QPrinter


def test_the_page_of_an_export_is_printed_on_a4(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="amplification")
    settled(window)
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "page.pdf"))
    printer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    printer.setPageOrientation(QPageLayout.Orientation.Landscape)
    with qtbot.waitSignal(window.output.said) as said:
        window.menus.printing.print_on(printer)
    assert said.args == ["The page is with the printer."]
    (page,) = PdfReader(tmp_path / "page.pdf").pages
    millimetres = sorted(round(float(side) * 25.4 / 72) for side in page.mediabox[2:])
    assert millimetres == [210, 297]
    (image,) = page.images
    drawn = image.image.convert("L")
    assert drawn.width > 2000
    assert drawn.getextrema()[0] < 100  # not a blank sheet
