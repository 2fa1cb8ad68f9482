"""Run a topic: ``python -m tests.fuzz TOPIC [--count N] [--seed S]``; exit 1 if faults came up."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile

TOPICS = {
    "checkins": "tests.fuzz.checkins",
    "command-lines": "tests.fuzz.command_lines",
    "hostile": "tests.fuzz.hostile",
    "recipes": "tests.fuzz.recipes",
    "sessions": "tests.fuzz.sessions",
}
"""Modules with a function ``run(count, seed) -> Outcome``."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("topic", choices=sorted(TOPICS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            os.environ[f"XDG_{name}_HOME"] = home
        outcome = importlib.import_module(TOPICS[chosen.topic]).run(chosen.count, chosen.seed)
    print(f"{chosen.topic}, seed {chosen.seed}\n{outcome.text()}")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
