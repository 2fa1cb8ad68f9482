"""A copy of the checkout that parts are added to, as somebody would who writes one."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

from explorer.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
WANTED = (
    "explorer",
    "resources",
    "datasets",
    "pyproject.toml",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/qt_robot.py",
    "tests/waiting.py",
    "tests/warm_processes.py",
    "tests/warm_processes_preload.py",
    "tests/ui/__init__.py",
    "tests/ui/conftest.py",
    "tests/ui/tiny_study.py",
)


class Checkout:
    """A copy of this checkout that parts are added to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in WANTED:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
        self._take_machine_code(Path(os.environ["NUMBA_CACHE_DIR"]))

    def _take_machine_code(self, kept: Path) -> None:
        """Let the same sources in another folder find what is compiled, which takes 9 s."""
        kept_in = UserProvidedCacheLocator.get_suitable_cache_subpath
        for path in (ROOT / "explorer").rglob("__init__.py"):
            if (code := kept / kept_in(path)).is_dir():
                shutil.copytree(code, kept / kept_in(self.folder / path.relative_to(ROOT)))

    def edit(self, name: str, *changes: tuple[str, str]) -> None:
        """Write something before a text that stands once in a file."""
        text = (self.folder / name).read_text(encoding="utf-8")
        for place, added in changes:
            assert text.count(place) == 1, place
            text = text.replace(place, added + place)
        write_whole(self.folder / name, text.encode())

    def add(self, source: Path, name: str) -> None:
        shutil.copy2(source, self.folder / name)

    def changed(self) -> dict[str, list[str]]:
        """Return which files of the program are new and which others than in this checkout."""
        found: dict[str, list[str]] = {"new": [], "edited": []}
        for path in sorted((self.folder / "explorer").rglob("*.py")):
            name = path.relative_to(self.folder).as_posix()
            if not (ROOT / name).exists():
                found["new"].append(name)
            elif not filecmp.cmp(path, ROOT / name, shallow=False):
                found["edited"].append(name)
        return found

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a module of the copy."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
