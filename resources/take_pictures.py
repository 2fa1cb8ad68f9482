"""Take the README's pictures of the window: ``python resources/take_pictures.py [FOLDER]``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
SCALE = 2
WIDTH = 1600
"""Pixels: enough to read where two pictures share a line and each is opened by a click."""
COLOURS = 256
PICTURES = {
    "window.png": ["--study", "heatmap"],
    "bounds.png": ["--study", "shuffle-rdp", "--preset", "figure-2a"],
}


def take(name: str, words: list[str], folder: Path) -> None:
    """Draw the window off screen at twice its size, shrink the picture and its colours."""
    target = folder / name
    subprocess.run(
        [
            sys.executable,
            "-m",
            "explorer",
            "window",
            *words,
            "--theme",
            "light",
            "--size",
            "1280x800",
            "--scale",
            str(SCALE),
            "--screenshot",
            str(target),
        ],
        check=True,
        cwd=HERE.parent,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    with Image.open(target) as picture:
        size = WIDTH, round(WIDTH * picture.height / picture.width)
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    # So many colours that the heatmap stays smooth; a tenth of the size of the window's own.
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)
    few.save(target, optimize=True)


if __name__ == "__main__":
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, words in PICTURES.items():
        take(name, words, into)
