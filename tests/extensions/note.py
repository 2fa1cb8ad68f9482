"""A made-up format: what is promised, in a line of plain text, and the recipe in the next."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.figures.export import ExportJob


def write(job: ExportJob) -> bytes:
    promise = job.result.guarantee
    said = "" if promise is None else promise.add_remove
    return f"A note\n{said}\n{json.dumps(dict(job.recipe))}\n".encode()


def read(path: Path) -> str | None:
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[2] if len(lines) > 2 else None
