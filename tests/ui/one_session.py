"""A user's session in a subprocess, which is then killed by the test.

``python -m tests.ui.one_session CHECKINS PICTURE`` prints at the end the compute modules that the
window has imported by mistake.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.waiting import time_limit

COMPUTING = ("numba", "llvmlite", "cvxpy", "sklearn", "dask", "distributed")


def main(checkins: Path, picture: Path) -> None:
    """Open a file, drag the region, show utility curves, show a bound, export."""
    from PySide6.QtCore import QPointF
    from PySide6.QtWidgets import QApplication, QFileDialog

    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions
    from tests.ui.dragging import drag_region

    options = WindowOptions(study="heatmap", theme="light", values=(("resolution", "16"),))
    launch = Application(options, ["one-session"])
    window = launch.window
    launch.show()

    def until(done: Callable[[], object]) -> None:
        end = time.monotonic() + time_limit(120)
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(f"the window did not get there: {window.banner.problem}")
            QApplication.processEvents()
            time.sleep(0.005)

    def complete() -> bool:
        result, asked = window.current_result, window.answers["map"].request
        return result is not None and result.complete and result.request == asked

    until(lambda: window.data.current is not None)
    window.files.open_data(checkins)
    until(lambda: window.data.current.basename == checkins.name)
    until(complete)
    for epsilon in (0.5, 1.5, 2.0):
        window.session.set_value("epsilon", epsilon, "heatmap", gesture="drag")
        QApplication.processEvents()
    page = window.workspaces["map"]
    page.region_action.setChecked(True)
    before = window.session.state.selection.region
    for _ in drag_region(page.panes.panes["true"], QPointF(6.0, 3.0), 8):
        QApplication.processEvents()
    assert window.session.state.selection.region != before
    until(complete)
    page.utility.action.setChecked(True)
    until(lambda: page.utility.view.answer is not None and page.utility.view.answer.curves)
    page.utility.action.setChecked(False)
    window.show_study("unbounded")
    until(lambda: window.current_result is not None and window.current_result.complete)
    window.show_study("heatmap")
    until(complete)
    QFileDialog.getSaveFileName = lambda *_: (str(picture), "")
    window.output.ask()
    window.output.dialog.save.click()
    until(picture.exists)
    print(json.dumps([name for name in COMPUTING if name in sys.modules]), flush=True)
    until(lambda: False)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
