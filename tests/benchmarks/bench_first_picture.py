"""The first picture of a file that is being opened: its time beside that of the whole load.

A new process a run opens the file in the real window, which has its sample open, as a user's has:
so imports are done, and the clock runs from *Open* to the end of the paint that shows the picture.
Set ``PRIVACY_EXPLORER_BENCH_FOLDER`` to keep the generated files between runs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_live
from tests.benchmarks.bench_loading import _child, _folder, _generated, _zipped
from tests.benchmarks.table import Row, at_most, sized

RUNS = sized(3, 1)
LIMIT_S = 0.3

_WINDOW = """
import json, os, sys, tempfile, time
from pathlib import Path
scratch = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = scratch.name
from explorer.ui.app.options import WindowOptions
from explorer.ui.app.application import Application
from tests.benchmarks.bench_first_picture import opened, until
launch = Application(WindowOptions(theme="light"), ["bench"])
launch.show()
until(lambda: launch.window.built)
window = launch.window
until(lambda: window.current_result is not None and not window.busy)
print(json.dumps(opened(window, Path(sys.argv[1]))))
window.close()
scratch.cleanup()
"""


def until(done: Callable[[], object], seconds: float = 600) -> None:
    """Process events until something holds."""
    from PySide6.QtWidgets import QApplication

    end = time.perf_counter() + seconds
    while not done() and time.perf_counter() < end:
        QApplication.processEvents()
        time.sleep(0.0005)
    assert done()


def opened(window: Any, path: Path) -> dict[str, Any]:
    """Open a file in a window; return the seconds to its first picture and to its rows."""
    stack = window.workspaces["map"].preview
    looks: list[Any] = []
    loaded: list[int] = []
    window.data.looked.connect(lambda picture: picture is not None and looks.append(picture))
    window.data.loaded.connect(lambda data: loaded.append(data.rows))
    cpu, start = time.process_time(), time.perf_counter()
    window.files.open_data(path)
    until(lambda: stack.picture is not None or loaded)
    stack.slot.pane.viewport().repaint()
    first, used = time.perf_counter() - start, time.process_time() - cpu
    label = looks[0].label if looks else "none"
    until(lambda: loaded)
    load = time.perf_counter() - start
    return {
        "first": first,
        "cpu": used,
        "load": load,
        "label": label,
        "looks": len(looks),
        "rows": loaded[0],
    }


def _measured(path: Path) -> dict[str, Any]:
    if sized(True, False):
        return _child(_WINDOW, path)
    with bench_live.window() as shown:
        return opened(shown, path)


def _parquet(path: Path) -> Path:
    import duckdb

    table = path.with_suffix(".parquet")
    if not table.exists():
        part = path.with_name("part.parquet")
        columns = (
            "{'user': 'BIGINT', 'time': 'TIMESTAMPTZ', 'latitude': 'DOUBLE', "
            "'longitude': 'DOUBLE', 'location': 'BIGINT'}"
        )
        duckdb.sql(
            f"COPY (SELECT * FROM read_csv('{path}', delim='\\t', header=false, "
            f"columns={columns})) TO '{part}' (FORMAT parquet)"
        )
        part.rename(table)
    return table


def _files(folder: Path) -> Iterator[Path]:
    plain = _generated(folder)
    yield from (plain, _zipped(plain), _parquet(plain))[sized(0, 2) :]


def run() -> list[Row]:
    """Measure; about three minutes on two quiet cores."""
    rows: list[Row] = []
    with _folder() as folder:
        for path in _files(folder):
            path.read_bytes()  # the file is in memory
            found = [_measured(path) for _ in range(RUNS)]
            first, load, cpu = (
                statistics.median(r[key] for r in found) for key in ("first", "load", "cpu")
            )
            name = "".join(path.suffixes)
            rows.append(
                at_most(
                    f"first picture of {name}",
                    first,
                    LIMIT_S,
                    "s",
                    f"{1e3 * cpu:.0f} ms CPU; {found[0]['label']}; {found[0]['looks']} pictures",
                )
            )
            rows.append(
                at_most(
                    f"… beside the whole load of {name}",
                    first / load,
                    0.1,
                    "× load",
                    f"load {load:.1f} s",
                )
            )
    return rows
