"""Run the benchmarks: ``python -m tests.benchmarks [--smoke] [topic …]``; no topic runs them all.

With ``--smoke`` everything is run at its smallest size and nothing is judged: it shows that the
benchmarks still fit the program.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time

import tests.benchmarks as package
from tests.benchmarks.table import KEPT, SMOKE, Row, render


def topics() -> list[str]:
    """Return the names of all benchmarks."""
    names = [m.name for m in pkgutil.iter_modules(package.__path__)]
    return [name.removeprefix("bench_") for name in names if name.startswith("bench_")]


def main() -> int:
    """Print the table; exit 1 if a limit is missed."""
    wanted = sys.argv[1:]
    smoke = "--smoke" in wanted
    if smoke:
        wanted.remove("--smoke")
        os.environ[SMOKE] = "1"
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program itself does
    unknown = [topic for topic in wanted if topic not in topics()]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are", *topics())
        return 2
    rows: list[Row] = []
    with KEPT:
        for topic in wanted or topics():
            began = time.perf_counter()
            found = importlib.import_module(f"tests.benchmarks.bench_{topic}").run()
            took = f" ({time.perf_counter() - began:.1f} s)" if smoke else ""
            print(f"\n{topic}{took}\n{render(found)}", flush=True)
            rows += found
    if smoke:
        print(f"\n{len(rows)} measurements ran; none of them counts")
        return 0
    missed = [row for row in rows if row.ok is False]
    print(f"\n{len(rows)} measurements, {len(missed)} over their limit")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
