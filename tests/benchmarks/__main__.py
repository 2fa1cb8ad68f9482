"""Run the benchmarks: ``python -m tests.benchmarks [topic …]``; no topic runs them all."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import tests.benchmarks as package
from tests.benchmarks.table import Row, render


def main() -> int:
    """Print the table; exit 1 if a limit is missed."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program itself does
    names = [m.name for m in pkgutil.iter_modules(package.__path__) if m.name.startswith("bench_")]
    wanted = sys.argv[1:] or [name.removeprefix("bench_") for name in names]
    rows: list[Row] = []
    for topic in wanted:
        if f"bench_{topic}" not in names:
            print(f"no benchmark {topic!r}; there are", *(n.removeprefix("bench_") for n in names))
            return 2
        found = importlib.import_module(f"tests.benchmarks.bench_{topic}").run()
        print(f"\n{topic}\n{render(found)}", flush=True)
        rows += found
    missed = [row for row in rows if row.ok is False]
    print(f"\n{len(rows)} measurements, {len(missed)} over their limit")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
