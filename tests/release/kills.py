"""Kill a releasing process at random moments: ``python -m tests.release.kills --count 200``.

A process opens the ledger and reserves, starts, draws and commits, again and again, and shows every
output only after `commit` has returned, by a line in a file. It is ended with SIGKILL. Afterwards:
the chain and all gates hold; what is spent is at least what all outputs that were shown have cost;
every output that was shown is stored as it was; none is stored without its `commit`; and the next
process goes on.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

from explorer.release.exact_json import read_json
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.ledger.state import SPENT
from explorer.release.ledger.view import read_ledger

EPSILON = Fraction(1, 1024)
PER_LEDGER = 20
"""Kills of one ledger: opening a long one would take most of the time there is."""
LONGEST_S = 0.5
"""From the first sign of life to the kill."""


def open_ledger(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite", FileSettings(folder / "settings.json"))


def door(folder: Path) -> None:
    """Release for ever: a scripted door of the ledger's steps alone."""
    print("alive", flush=True)
    with open_ledger(folder) as ledger, (folder / "shown").open("a") as shown:
        people = ledger.accounts()[0].population
        for prepared in ledger.reserved_releases():
            ledger.abandon(prepared.id)
        while True:
            release = ledger.plan(people, "counts.cells/1", {}, EPSILON)
            ledger.reserve(release)
            ledger.start(release, 40_000)
            output = {"cells": [int.from_bytes(os.urandom(4), "big") for _ in range(2000)]}
            ledger.commit(release, output)
            shown.write(f"{release} {sum(output['cells'])}\n")
            shown.flush()
            os.fsync(shown.fileno())


def kill_once(folder: Path, wait_s: float) -> None:
    """Let a door run for so long, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.release.kills", "--door", str(folder)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(wait_s)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL


def check(folder: Path) -> Counter[str]:
    """Raise AssertionError if anything is not as promised; return how many are in which state."""
    view = read_ledger(folder / "ledger.sqlite")  # chain, gates, balances beside the entries
    (account,) = view.state.accounts.values()
    spent = sum((r.epsilon for r in view.state.releases.values() if r.state in SPENT), Fraction(0))
    lines = (folder / "shown").read_text().splitlines() if (folder / "shown").exists() else []
    assert account.spent_epsilon == spent >= EPSILON * len(lines)
    for line in lines:
        if len(line.split()) < 2:
            continue  # the line itself was cut: it was shown to nobody
        release, total = line.split()
        stored = read_json(view.outputs[release], "output")
        assert sum(stored["cells"]) == int(total)
        assert view.state.releases[release].state == "committed"
    for release in view.outputs:
        assert view.state.releases[release].state == "committed"
    for name, release in view.state.releases.items():
        assert (name in view.outputs) == (release.state == "committed")
    return Counter(release.state for release in view.state.releases.values())


def run(folder: Path, count: int, seed: int) -> Counter[str]:
    """Kill so many doors, `PER_LEDGER` of each ledger, and look after each kill."""
    found: Counter[str] = Counter()
    chosen = random.Random(seed)
    for first in range(0, count, PER_LEDGER):
        here = folder / str(first)
        here.mkdir()
        with open_ledger(here) as ledger:
            ledger.open_population("sum", Fraction(1000), "x")
        for _ in range(min(PER_LEDGER, count - first)):
            kill_once(here, chosen.uniform(0, LONGEST_S))
            check(here)
        with open_ledger(here) as ledger:  # what was being drawn becomes lost
            assert not ledger.problem
        after = check(here)
        assert after["started"] == 0
        found += after
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.release.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--door", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.door is not None:
        door(options.door)
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), options.count, options.seed)
    print(f"{options.count} kills, all as promised; releases by state: {dict(found)}")


if __name__ == "__main__":
    main()
