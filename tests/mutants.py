"""Are the guards guarded? ``python -m tests.mutants [NUMBER …]`` breaks the program in twenty ways.

Each mutant changes one place in a copy of the checkout and runs the tests that are to notice; one
that no test notices is a survivor, and the exit code counts them. Takes some minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("explorer", "resources", "tests", "datasets", "pyproject.toml", "README.md")


@dataclass(frozen=True)
class Mutant:
    """One wrong edit.

    Attributes
    ----------
    wrong : str
        What goes wrong with it.
    file : str
        Below ``explorer/``.
    old, new : str
        `old` stands there exactly once.
    tests : str
        Arguments of pytest, of which some test must fail.
    """

    wrong: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = (
    Mutant(
        "a copied picture holds the true map",
        "ui/app/export_actions.py",
        "public_view(result, window.workspace.view_state())\n        # The export policy",
        "window.workspace.view_state()\n        # The export policy",
        "tests/ui/test_export.py",
    ),
    Mutant(
        "the export policy lets everything pass",
        "figures/export.py",
        "    if not private_only(result, view):\n",
        "    if True:\n",
        "tests/figures/test_export_policy.py",
    ),
    Mutant(
        "of several waiting requests the oldest is answered",
        "engine/compute/latest.py",
        "            self._waiting = (self.generation, request)\n",
        "            self._waiting = self._waiting or (self.generation, request)\n",
        "tests/engine/test_latest.py",
    ),
    Mutant(
        "a coarse answer is refined at once, in the way of the next",
        "engine/compute/latest.py",
        "REFINE_DELAY_S if refines",
        "0.0 if refines",
        "tests/engine/test_latest.py",
    ),
    Mutant(
        "a first answer that takes long never gives way",
        "engine/compute/latest.py",
        "((task.answered and not task.owed) or late)",
        "task.answered",
        "tests/engine/test_latest.py",
    ),
    Mutant(
        "a late answer to the former question is shown",
        "ui/controllers/study_controller.py",
        "max(self._newest_shown, self._oldest_valid)",
        "self._newest_shown",
        "tests/ui/test_stale_answers.py",
    ),
    Mutant(
        "files opened later are unknown to the compute process",
        "engine/compute/client.py",
        "        runtime.file_listeners.append(self._file_added)\n",
        "        runtime.file_listeners.append(lambda *_: None)\n",
        "tests/engine/test_client.py -k file",
    ),
    Mutant(
        "zoom is carried over to another question",
        "ui/bounds/workspace.py",
        "            self.plot.set_data_ranges(None, None)\n",
        "            pass\n",
        "tests/ui/test_bounds.py -k zooming",
    ),
    Mutant(
        "the map's aspect has no end at the poles",
        "geography/coordinates.py",
        "min(abs(latitude), 89.0)",
        "abs(latitude)",
        "tests/geography tests/ui/test_map.py",
    ),
    Mutant(
        "a condition that must be strict holds at equality",
        "privacy/user_metric/theorem44.py",
        "return TheoremCertificate(alpha, limit, np.asarray(a0 < limit))",
        "return TheoremCertificate(alpha, limit, np.asarray(a0 <= limit))",
        "tests/privacy/user_metric tests/test_vectors.py -k 'user or theorem or certificate'",
    ),
    Mutant(
        "upper bounds are rounded down",
        "studies/base/numbers.py",
        "Role.UPPER: ROUND_CEILING",
        "Role.UPPER: ROUND_FLOOR",
        "tests/studies/test_numbers.py",
    ),
    Mutant(
        "a lower bound by composition is rounded up",
        "privacy/shuffle_rdp/composition.py",
        "top = T * largest + sign * T *",
        "top = T * largest - sign * T *",
        "tests/privacy/test_shuffle_composition.py tests/privacy/test_one_round.py",
    ),
    Mutant(
        "the sample of users has no key",
        "checkins/sampling.py",
        "digest_size=16, key=key)",
        "digest_size=16)",
        "tests/checkins/test_sampling.py",
    ),
    Mutant(
        "a path is read as a pattern",
        "checkins/database.py",
        'f"[{c}]" if c in "*?[" else c',
        "c",
        "tests/checkins/test_names.py",
    ),
    Mutant(
        "changed coordinates are served from the cache",
        "checkins/cache.py",
        'raise ValueError("the cached rows have changed")',
        "pass",
        "tests/checkins/test_cache.py",
    ),
    Mutant(
        "a server that has nothing more is asked for ever",
        "checkins/public_files.py",
        "if error.code != 416 or not start:",
        "if error.code != 416:",
        "tests/cli tests/checkins tests/datasets -k fetch",
    ),
    Mutant(
        "downloads follow a server anywhere",
        "checkins/public_files.py",
        '        _check_address(to, f"{req.full_url}: the server leads to {to}, which")\n',
        "",
        "tests/cli tests/checkins tests/datasets -k fetch",
    ),
    Mutant(
        "exporting over a link replaces the link",
        "files.py",
        "target = Path(os.path.realpath(path))",
        "target = path",
        "tests/test_files.py",
    ),
    Mutant(
        "exporting over a file changes who may read it",
        "files.py",
        "                os.fchmod(handle, mode if private else stat.S_IMODE(before.st_mode))\n",
        "                os.fchmod(handle, 0o644)\n",
        "tests/test_files.py",
    ),
    Mutant(
        "two windows write one session",
        "ui/controllers/session_store.py",
        "        if self._lock.tryLock(0):\n",
        "        if self._lock.tryLock(0) or True:\n",
        "tests/ui/test_saved_session.py",
    ),
)


def survives(mutant: Mutant, folder: Path) -> bool:
    """Return whether all tests pass with a mutant in a copy of the checkout.

    Raises
    ------
    ValueError
        If what is to be changed doesn't stand there exactly once, or the tests can't be run.
    """
    path = folder / "explorer" / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} has {mutant.old!r} {text.count(mutant.old)} times")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = f"{sys.executable} -m pytest -q -x -n 0 {mutant.tests}"
    try:
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True)
    finally:
        path.write_text(text, encoding="utf-8")
    # Where a failed test leaves its window open, the interpreter may crash as it ends.
    if done.returncode and not re.search(rb"^\d+ failed", done.stdout, re.MULTILINE):
        raise ValueError(f"{mutant.tests}: {done.stdout.decode()[-2000:]}")
    return done.returncode == 0


def main() -> int:
    """Try the mutants named by number, or all; return how many survived."""
    chosen = [int(number) for number in sys.argv[1:]] or range(1, len(MUTANTS) + 1)
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part)
            else:
                shutil.copy(ROOT / part, folder / part)
        for number in chosen:
            mutant = MUTANTS[number - 1]
            alive = survives(mutant, folder)
            survivors += alive
            print(f"{number:2} {'SURVIVED' if alive else 'killed  '} {mutant.wrong}", flush=True)
    print(f"{survivors} of {len(chosen)} survived")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
