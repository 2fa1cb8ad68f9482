"""Tables of points in pictures for tests, a picture, and what may not be said of a plane."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image

OF_THE_EARTH = re.compile(
    r"(?<![^\W_])km(?![^\W_])|kilomet|\bmiles?\b|\bmi\b|°|latitude|longitude|Natural|GeoNames",
    re.IGNORECASE,
)
"""What nothing that is said of a plane may hold."""


def gaze_table(path: Path, users: int = 30, images: tuple[str, ...] = ("park", "sea")) -> Path:
    """Write seeded points of 320 × 240 pixels: most of them around one place an image."""
    rng = np.random.default_rng(5)
    lines = ["image,user,x,y"]
    for k, image in enumerate(images):
        for user in range(users):
            for _ in range(8):
                x, y = np.clip(rng.normal((80 + 120 * k, 90), (25, 20)), 0, (320, 240))
                lines.append(f"{image},u{user},{x:.2f},{y:.2f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def picture(path: Path, width: int = 320, height: int = 240) -> Path:
    """Write a picture: red above, green below, a white square at the upper left."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[: height // 2, :, 0] = 200
    pixels[height // 2 :, :, 1] = 160
    pixels[: height // 6, : width // 8] = 255
    Image.fromarray(pixels).save(path)
    return path
