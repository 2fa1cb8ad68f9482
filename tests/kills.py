"""Kill the program hard in the middle of writing: ``python -m tests.kills --count 200``.

A process saves a session, exports over a file or opens check-ins, again and again, and is ended
with SIGKILL at a random moment. Afterwards the session is one that was saved whole, the exported
file is an old or a new one whole, the cache gives the same rows as a fresh reading, and the
next process goes on with all of them. Last, the window itself starts on what several kills left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

MAX_WAIT_S = 1.5
"""From the first sign of life to the kill, at most."""
READY_S = 120.0
ROWS = 4000


def save(folder: Path) -> None:
    """Save sessions that differ, each larger than a page of the disk, for ever."""
    from explorer.engine.session.session import SessionState, state_to_dict
    from explorer.ui.controllers.session_store import own_file

    file = own_file(folder)
    session = state_to_dict(SessionState("shuffle-rdp"))
    number = 0
    while True:
        number += 1
        file.save({"session": session, "recent": [f"/no/such/{number}-{'x' * 900}"] * 9})
        _alive(number)


def export(folder: Path) -> None:
    """Write pictures and tables over each other, for ever."""
    from explorer.figures.picture import figure_bytes
    from explorer.figures.view_state import ViewState
    from explorer.files import write_whole
    from tests.figures.samples import curves, file_bytes
    from tests.fuzz.recipes import recipes

    recipe, result, view = next(recipes()), curves(), ViewState()
    made = {
        "png": figure_bytes(result, view, recipe, "png", dpi=72),
        "json": file_bytes(result, view, recipe, "json"),
    }
    number = 0
    while True:
        number += 1
        for name, content in made.items():
            write_whole(folder / f"out.{name}", content)
        _alive(number)


def load(folder: Path) -> None:
    """Open check-ins whose cache is emptied, for ever."""
    from explorer.checkins import clear_cache, open_checkins
    from explorer.engine.paths import checkins_cache

    cache = checkins_cache()
    number = 0
    while True:
        number += 1
        open_checkins(folder / "checkins.txt", cache_dir=cache).close()
        clear_cache(cache)
        _alive(number)


def check_save(folder: Path) -> str:
    from explorer.ui.controllers.session_store import own_file

    file = own_file(folder)
    file.release()
    if file.number != 1:
        return "the dead program's session is still locked"
    loaded = file.load()
    if loaded.complaint or loaded.left_out:
        return f"session not whole: {loaded.complaint} {loaded.left_out}"
    if loaded.values is None or len(set(loaded.values.recent)) != 1:
        return "session mixed or gone"
    return ""


def check_export(folder: Path) -> str:
    from PIL import Image

    from explorer.figures.recipes import read_recipe

    try:
        with Image.open(folder / "out.png") as image:
            image.load()
        json.loads((folder / "out.json").read_bytes())
        read_recipe(folder / "out.png")
        read_recipe(folder / "out.json")
    except (OSError, ValueError) as error:
        return f"exported file not whole: {error}"
    return ""


def check_load(folder: Path) -> str:
    """The rows that a reading with the cache that is left gives are those of one without."""
    from explorer.checkins import open_checkins
    from explorer.engine.paths import checkins_cache

    box = (-90.0, -180.0, 90.0, 180.0)
    rows = []
    for use_cache in (True, True, False):
        data = open_checkins(
            folder / "checkins.txt", cache_dir=checkins_cache(), use_cache=use_cache
        )
        points = data.points(box)
        rows.append((data.report.kept, points.users_used, float(points.lat.sum())))
        data.close()
    return "" if len(set(rows)) == 1 and rows[0][0] == ROWS else f"rows changed: {rows}"


JOBS: dict[str, tuple[Callable[[Path], None], Callable[[Path], str]]] = {
    "save": (save, check_save),
    "export": (export, check_export),
    "load": (load, check_load),
}


def _alive(number: int) -> None:
    if number == 1:
        print("working", flush=True)


def _kill(job: str, folder: Path, rng: random.Random) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kills", "--job", job, "--folder", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    if not process.stdout.readline():
        raise RuntimeError(f"{job} did not begin")
    time.sleep(rng.random() * MAX_WAIT_S)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def _starts(folder: Path) -> str:
    """Start the window with a screenshot on the caches that are left."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "explorer",
            "window",
            "--study",
            "heatmap",
            "--set",
            "resolution=16",
            "--data",
            str(folder / "checkins.txt"),
            "--screenshot",
            str(folder / "window.png"),
        ],
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else f"window does not start: {done.stderr.strip()[-300:]}"


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Kill `count` times; return how often what was done, and what was wrong after."""
    from datasets.generate_checkins import main as generate

    rng, counts, faults = random.Random(seed), Counter[str](), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for variable in ("CACHE", "CONFIG", "DATA", "STATE"):
            os.environ[f"XDG_{variable}_HOME"] = name
        generate(["--rows", str(ROWS), "--seed", "1", str(folder / "checkins.txt")])
        for number in range(count):
            job = list(JOBS)[number % len(JOBS)]
            _kill(job, folder, rng)
            counts[job] += 1
            fault = JOBS[job][1](folder)
            if fault:
                faults.append(f"kill {number}: {fault}")
            if number % 20 == 19:
                print(f"{number + 1} kills, {len(faults)} faults", flush=True)
        if count > 1:
            fault = _starts(folder)
            faults += [fault] if fault else []
        left = sorted(p.name for p in folder.rglob("*.part"))
        counts["half-written files left, to be swept"] = len(left)
    return counts, faults


def main() -> int:
    """Kill and report; exit 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job", choices=sorted(JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if chosen.job:
        JOBS[chosen.job][0](chosen.folder)
    counts, faults = run(chosen.count, chosen.seed)
    for what, number in counts.items():
        print(f"{number:6} {what}")
    print(f"{len(faults):6} faults", *faults[:20], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
