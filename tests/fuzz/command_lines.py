"""Random command lines: no traceback, an exit code there is, errors in one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from pkgutil import resolve_name

import click

from explorer.cli import COMMANDS, run as run_cli
from explorer.studies.base.study import Parameter
from explorer.studies.registry import get_study, study_ids
from tests.fuzz.outcome import Outcome
from tests.waiting import time_limit

CODES = frozenset({0, 1, 2, 3})
SLOW_S = 60.0
REAL_EVERY = 50
"""So many are run in this process before one is run as a user would."""
WORDS = (
    "",
    " ",
    "-",
    "--",
    "-1",
    "0",
    "1",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "9" * 400,
    "x",
    "é",
    "\udcff",
    "a=b",
    "=",
    "==",
    "eps0=",
    "=1",
    "T=1e99",
    "eps0=0.5",
    "delta=1e-8",
    "delta=0",
    "n=-3",
    "n=1.5",
    "eps0=0.1:5:3",
    "eps0=5:0.1:3:log",
    "T=1:100:99999999",
    "40,-75,41,-73",
    "40,-75,41",
    "1x1",
    "640x480",
    "99999x99999",
    "sample",
    "/no/such/file",
    "/dev/null",
    "/proc/self/mem",
    ".",
    "..",
    "2010-01-01",
    "0000-00-00",
    "9999-99-99",
    "light",
    "dark",
    "private",
    "both",
    "user=0",
    "time=,lat=1",
    "lat=1,lon=1",
    "[1",
    "*",
    "%s",
    "{}",
    "${HOME}",
    "\x00"[:0],
    "\n",
    "a\nb",
)
"""What is given where something else is wanted."""


def _wanted(parameter: Parameter, rng: random.Random) -> str:
    if parameter.choices:
        return f"{parameter.key}={rng.choice(parameter.choices)[0]}"
    if parameter.numeric:
        return f"{parameter.key}={rng.choice((parameter.low, parameter.default, parameter.high))}"
    return f"{parameter.key}={rng.choice(WORDS)}"


def _sensible(option: click.Option, study: str, folder: Path, rng: random.Random) -> str:
    """Return a value that an option may well take."""
    parameters = get_study(study).parameters
    match option.opts[0]:
        case "--set":
            return _wanted(rng.choice(parameters), rng)
        case "--sweep":
            return f"{rng.choice(parameters).key}={rng.choice(('1:2:3', '0.1:1:2:log', '0:1'))}"
        case "--preset":
            return rng.choice([p.key for p in get_study(study).presets] or ["none"])
        case "--output" | "--screenshot":
            return str(
                folder / f"out.{rng.choice(('png', 'svg', 'pdf', 'csv', 'json', 'txt', ''))}"
            )
        case "--region":
            return "40.5,-74.3,41.0,-73.6"
        case "--size":
            return "320x240"
    if isinstance(option.type, click.Choice):
        return str(rng.choice(list(option.type.choices)))
    return str(rng.choice((0, 1, 2, 0.5, 16, 64)))


def command_line(folder: Path, rng: random.Random) -> list[str]:
    """Return arguments, most of them in their places."""
    names = ["bounds", "bounds", "heatmap", "studies", "errata", "window", "fetch"]
    name = rng.choice(names)
    study = rng.choice(study_ids())
    found = [name]
    if name in ("bounds", "studies", "errata"):
        found.append(study if rng.random() < 0.85 else rng.choice(WORDS))
    if name == "heatmap":
        found.append("sample" if rng.random() < 0.7 else rng.choice(WORDS))
    if name == "fetch":  # nothing is fetched here
        return [*found, *rng.choices((*WORDS, "--help", "-x"), k=rng.randrange(1, 3)), "--no-such"]
    options = [p for p in resolve_name(COMMANDS[name]).params if isinstance(p, click.Option)]
    for option in rng.sample(options, min(len(options), rng.randrange(5))):
        found.append(rng.choice(option.opts))
        if not option.is_flag:
            value = _sensible(option, study, folder, rng)
            found.append(value if rng.random() < 0.75 else rng.choice(WORDS))
    if rng.random() < 0.2:
        found.insert(rng.randrange(len(found) + 1), rng.choice((*WORDS, "--help", "--no-such")))
    if name == "window":  # none that would wait for a user
        found += ["--theme", "no-such-theme"]
    return found


def run(count: int, seed: int) -> Outcome:
    """Try `count` command lines."""
    rng, outcome = random.Random(seed), Outcome()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        for number in range(count):
            if number % 100 == 99:
                print(f"{number + 1:,} tried, {len(outcome.faults)} faults", flush=True)
            line = command_line(folder, rng)
            began = time.monotonic()
            real = number % REAL_EVERY == 0 and not any("\x00" in part for part in line)
            code, out, err = (_in_a_process if real else _here)(line)
            outcome.counts[f"exit code {code}"] += 1
            outcome.counts["in a process of their own"] += real
            fault = _fault(code, out, err)
            if time.monotonic() - began > time_limit(SLOW_S):
                fault = fault or f"took {time.monotonic() - began:.0f} s"
            if fault:
                outcome.faults.append(f"{fault}: {line!r:.400}")
                print(outcome.faults[-1], flush=True)
        os.chdir("/")
    return outcome


def _here(line: list[str]) -> tuple[int, str, str]:
    # Text over bytes, as the real streams are: some commands write bytes.
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    failed = ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run_cli(line)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            code, failed = -1, traceback.format_exc()
    return code, _written(out), _written(err) + failed


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _in_a_process(line: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "explorer", *line],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return done.returncode, done.stdout, done.stderr


def _fault(code: int, out: str, err: str) -> str:
    """Return what is wrong with how a command line was answered; empty if nothing."""
    if "Traceback" in err or "Traceback" in out:
        return "a traceback, " + err.strip().splitlines()[-1][:200]
    if code not in CODES:
        return f"exit code {code}"
    said = [line for line in err.splitlines() if line.startswith("privacy-explorer: ")]
    if code in (1, 2, 3) and len(said) != 1 and not err.startswith("Usage"):
        return f"{len(said)} sentences: {err[-300:]!r}"
    if code in (1, 2, 3) and said and not err.rstrip("\n").endswith(said[0]):
        return f"more than a sentence: {err[-300:]!r}"
    if any(len(sentence) > 700 for sentence in said):
        return f"a sentence of {len(said[0])} letters"
    return ""
