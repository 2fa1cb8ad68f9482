"""Reading pictures back: their text, lines, ticks and the places of their colours."""

from __future__ import annotations

import io
import re
import zlib
from xml.etree import ElementTree

import numpy as np
from PIL import Image, ImageSequence
from pypdf import PdfReader

from explorer.figures.view_state import ViewState

SVG = "{http://www.w3.org/2000/svg}"
BOTH = ("true", "private")


def view_of(result, **changes):
    return ViewState.for_result(result, **changes)


def words_of(data: bytes, fmt: str) -> str:
    """All text of a vector picture, with runs of spaces made one."""
    if fmt == "svg":
        text = " ".join(
            "".join(t.itertext()) for t in ElementTree.fromstring(data).iter(f"{SVG}text")
        )
    else:
        text = PdfReader(io.BytesIO(data)).pages[0].extract_text()
    return " ".join(text.split())


def numbers(path: str) -> np.ndarray:
    """The points of an SVG path made of straight lines."""
    found = re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path)
    return np.array(found, float)


def group(root, gid):
    return next(g for g in root.iter(f"{SVG}g") if g.get("id") == gid)


def to_data(root, axis: str, values: np.ndarray) -> np.ndarray:
    """Turn SVG positions into data units by the ticks' own labels, as a reader would."""
    positions, labels = [], []
    for place in range(1, 30):
        try:
            tick = group(root, f"{axis}tick_{place}")
        except StopIteration:
            break
        use = next(tick.iter(f"{SVG}use"))
        label = "".join(next(tick.iter(f"{SVG}text")).itertext()).strip().replace("−", "-")
        positions.append(float(use.get(axis)))
        labels.append(float(label))
    assert len(labels) >= 3
    slope, offset = np.polyfit(positions, labels, 1)
    np.testing.assert_allclose(np.polyval((slope, offset), positions), labels, atol=1e-6)
    return slope * values + offset


def panes(pixels: np.ndarray, colour: np.ndarray) -> list[slice]:
    """The runs of columns in which the lowest colour fills a large part: one a pane."""
    filled = (np.abs(pixels.astype(int) - colour) <= 3).all(2).sum(0) > 60
    edges = np.flatnonzero(np.diff(np.concatenate(([0], filled, [0])).astype(int)))
    # Thin interruptions (a white line over the map) do not end a pane.
    runs: list[list[int]] = []
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        if runs and a - runs[-1][1] < 40:
            runs[-1][1] = int(b)
        else:
            runs.append([int(a), int(b)])
    return [slice(a, b) for a, b in runs if b - a > 100]


def everything_in(content: bytes, fmt: str) -> bytes:
    """Return a file's bytes with all that is compressed in it written out."""
    parts = [content]
    if fmt in ("png", "gif", "apng"):
        with Image.open(io.BytesIO(content)) as image:
            for frame in ImageSequence.Iterator(image):
                parts += [repr(frame.info).encode(), frame.tobytes()]
    elif fmt == "pdf":
        reader = PdfReader(io.BytesIO(content))
        parts.append(repr(reader.metadata).encode())
        parts.append(reader.pages[0].extract_text().encode())
        for piece in content.split(b"stream")[1:]:
            try:
                parts.append(zlib.decompressobj().decompress(piece.lstrip(b"\r\n")))
            except zlib.error:
                continue
    return b"\n".join(parts)
