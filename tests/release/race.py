"""Processes that race for the last ε: ``python -m tests.release.race --count 50``; one wins."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from explorer.release.errors import RefusedError
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.ledger.view import read_ledger

EPSILON = Fraction(1, 2)


def _open(folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite", FileSettings(folder / "settings.json"))


def runner(folder: Path) -> None:
    """Wait for the start, then ask for all that is left."""
    with _open(folder) as ledger:
        people = ledger.accounts()[0].population
        release = ledger.plan(people, "count.users/1", {}, EPSILON)
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            ledger.reserve(release)
        except RefusedError:
            print("refused", flush=True)
        else:
            print("won", flush=True)


def race(folder: Path, count: int) -> int:
    """Let so many processes ask at once; return how many got it."""
    with _open(folder) as ledger:
        people = ledger.open_population("sum", Fraction(1), "x")
        first = ledger.plan(people, "count.users/1", {}, EPSILON)
        ledger.reserve(first)
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.release.race", "--runner", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert set(said) <= {"won", "refused"}
    (account,) = read_ledger(folder / "ledger.sqlite").state.accounts.values()
    assert account.remaining == 0
    assert account.spent == 1
    return said.count("won")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.release.race", description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--runner", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runner is not None:
        runner(options.runner)
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.count} processes, {race(Path(folder), options.count)} won")


if __name__ == "__main__":
    main()
