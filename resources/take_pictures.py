"""Take the pictures of the window for README and guide.

``python resources/take_pictures.py [FOLDER]`` writes them all below a folder, else in place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

from explorer.ui.app.options import TOUR_STEPS

HERE = Path(__file__).resolve().parent
README = (2, 1600, 256)
"""Scale of the window, width in pixels and number of colours: enough to read where two pictures
share a line and each is opened by a click, and for the heatmap to stay smooth."""
GUIDE = (1, 800, 128)
"""The same for pictures between the lines of a page, each of at most 60 kB."""
PICTURES = {
    "window.png": (["--study", "heatmap"], *README),
    "bounds.png": (["--study", "shuffle-rdp", "--preset", "figure-2a"], *README),
    **{f"guide/tour-{step}.png": (["--tour", step], *GUIDE) for step in TOUR_STEPS},
}


def take(name: str, words: list[str], scale: int, width: int, colours: int, folder: Path) -> None:
    """Draw the window off screen, shrink the picture and its colours."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
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
            str(scale),
            "--screenshot",
            str(target),
        ],
        check=True,
        cwd=HERE.parent,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    with Image.open(target) as picture:
        size = width, round(width * picture.height / picture.width)
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    few = small.quantize(colours, Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)
    few.save(target, optimize=True)


if __name__ == "__main__":
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, (words, *kind) in PICTURES.items():
        take(name, words, *kind, into)
