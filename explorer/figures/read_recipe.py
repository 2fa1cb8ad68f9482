"""Find the recipe inside a file that this program exported.

Only the file itself is read: nothing that a recipe names is ever opened here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from explorer.figures.export import MAX_RECIPE
from explorer.figures.tables import RECIPE_PREFIX

MAX_FILE = 256_000_000
"""Bytes; larger files are refused unread."""
MAX_COMMENT_LINES = 1000
_DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"


def recipe_of(path: Path) -> dict[str, Any]:
    """Return the recipe that a PNG, SVG, PDF, CSV or JSON file carries.

    The format is recognised by the file's first bytes, not by its name.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        JSON values as they were written; to be checked by whoever follows them.

    Raises
    ------
    ValueError
        If the file is of no such kind, damaged, too large, or has no recipe; in one sentence.
    OSError
        If the file can't be read.
    """
    size = path.stat().st_size
    if size > MAX_FILE:
        raise ValueError(
            f"{path.name}: {size / 1e6:.0f} MB is more than any exported file; choose another one"
        )
    with path.open("rb") as file:
        head = file.read(4096)
    text = _reader(path, head)(path)
    if text is None:
        raise ValueError(
            f"{path.name}: there is no recipe in this file; choose one that Privacy Explorer "
            "exported (programs that edit pictures often remove it)"
        )
    return _parse(path, text)


def _reader(path: Path, head: bytes) -> Callable[[Path], str | None]:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _from_png
    if head.startswith(b"%PDF-"):
        return _from_pdf
    if start.startswith(b"<") and b"<svg" in head:
        return _from_svg
    if start.startswith(b"{"):
        return _from_json
    if start.startswith(b"#"):
        return _from_csv
    raise ValueError(
        f"{path.name}: this is not a PNG, SVG, PDF, CSV or JSON file exported by Privacy Explorer"
    )


def _parse(path: Path, text: str) -> dict[str, Any]:
    if len(text) > MAX_RECIPE:
        raise ValueError(f"{path.name}: its recipe is longer than {MAX_RECIPE:,} letters")
    try:
        recipe = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"{path.name}: what stands in place of its recipe is damaged") from None
    if not isinstance(recipe, dict):
        raise ValueError(f"{path.name}: what stands in place of its recipe is not one")
    return recipe


def _from_png(path: Path) -> str | None:
    from PIL import PngImagePlugin

    try:
        # The plug-in and not Image.open: only chunks before the pixels are read, none decoded.
        with PngImagePlugin.PngImageFile(path) as image:
            text = image.info.get("Recipe")
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{path.name}: the PNG file is damaged ({error})") from None
    return None if text is None else str(text)


def _from_pdf(path: Path) -> str | None:
    from pypdf import PdfReader

    try:
        metadata = PdfReader(path).metadata
        text = None if metadata is None else metadata.get("/Keywords")
    except Exception as error:  # a damaged PDF may make the reader raise nearly anything
        raise ValueError(f"{path.name}: the PDF file is damaged ({type(error).__name__})") from None
    return None if text is None or not str(text).startswith("{") else str(text)


def _from_svg(path: Path) -> str | None:
    data = path.read_bytes()
    if b"<!ENTITY" in data:
        raise ValueError(f"{path.name}: an SVG file with entities is not one of ours")
    try:
        for element in ElementTree.fromstring(data).iter(_DESCRIPTION):
            text = (element.text or "").strip()
            if text.startswith("{"):
                return text
    except ElementTree.ParseError as error:
        raise ValueError(f"{path.name}: the SVG file is damaged ({error})") from None
    return None


def _from_json(path: Path) -> str | None:
    try:
        document = json.loads(path.read_text("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError(f"{path.name}: the JSON file is damaged") from None
    recipe = document.get("recipe")
    if recipe is None and "study" in document and "values" in document:
        recipe = document
    return None if recipe is None else json.dumps(recipe)


def _from_csv(path: Path) -> str | None:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for _ in range(MAX_COMMENT_LINES):
            line = file.readline(MAX_RECIPE + 1000)
            if not line.startswith("#"):
                return None
            if line.startswith(RECIPE_PREFIX):
                return line.removeprefix(RECIPE_PREFIX).strip()
    return None
