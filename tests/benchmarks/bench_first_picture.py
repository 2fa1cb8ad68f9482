"""The first picture of a file that is being opened: its time beside that of the whole load.

A new process a run opens the file in the real window, which has its sample open, as a user's has:
so imports are done, and the clock runs from *Open* to the end of the paint that shows the picture.
Set ``PRIVACY_EXPLORER_BENCH_FOLDER`` to keep the generated files between runs.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.bench_loading import _child, _folder, _generated, _zipped
from tests.benchmarks.table import Row, at_most, sized

RUNS = sized(3, 1)
LIMIT_S = 0.3

_WINDOW = """
import json, os, sys, tempfile, time
from pathlib import Path
scratch = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = scratch.name
from explorer.ui.shell.app import WindowOptions
from explorer.ui.shell.launch import Launch
path = Path(sys.argv[1])
launch = Launch(WindowOptions(theme="light"), ["bench"])
launch.show()
app = launch.app
def until(done, seconds=600):
    end = time.perf_counter() + seconds
    while not done() and time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.0005)
    assert done()
until(lambda: launch.window.built)
window = launch.window
until(lambda: window.current_result is not None and not window.busy)
stack = window.workspaces["map"].first_look
looks, loaded = [], []
window.data.looked.connect(lambda picture: picture is not None and looks.append(picture))
window.data.loaded.connect(lambda data: loaded.append(data.rows))
cpu, start = time.process_time(), time.perf_counter()
window.files.open_data(path)
until(lambda: stack.picture is not None or loaded)
stack.slot.pane.viewport().repaint()
first, used = time.perf_counter() - start, time.process_time() - cpu
label = looks[0].label if looks else "none"
until(lambda: loaded)
print(json.dumps({"first": first, "cpu": used, "load": time.perf_counter() - start,
                  "label": label, "looks": len(looks), "rows": loaded[0]}))
window.close()
scratch.cleanup()
"""


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
    yield from (plain, _zipped(plain), _parquet(plain))


def run() -> list[Row]:
    """Measure; about three minutes on two quiet cores."""
    rows: list[Row] = []
    with _folder() as folder:
        for path in _files(folder):
            path.read_bytes()  # the file is in memory
            found = [_child(_WINDOW, path) for _ in range(RUNS)]
            first, load, cpu = (
                statistics.median(r[key] for r in found) for key in ("first", "load", "cpu")
            )
            name = "".join(path.suffixes)
            rows.append(
                at_most(
                    f"first picture of {name}", first, LIMIT_S, "s",
                    f"{1e3 * cpu:.0f} ms CPU; {found[0]['label']}; {found[0]['looks']} pictures",
                )
            )  # fmt: skip
            rows.append(
                at_most(f"… beside the whole load of {name}", first / load, 0.1, "× load",
                        f"load {load:.1f} s")
            )  # fmt: skip
    return rows
