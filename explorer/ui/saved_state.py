"""What a window remembers from one day to the next, as one JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCHEMA = "privacy-explorer-window/1"
FILE_NAME = "window.json"
MAX_BYTES = 5_000_000


@dataclass(frozen=True)
class Loaded:
    """What was found: the remembered values, and what to tell the user about it if anything."""

    values: Mapping[str, Any]
    complaint: str = ""


class StateFile:
    """Reads and writes the file; a damaged one is put aside and never lost.

    Parameters
    ----------
    folder : Path
        The user's state folder.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    def load(self) -> Loaded:
        """Return what was remembered; nothing, with a complaint, if it can't be read."""
        try:
            with self.path.open("rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return Loaded({})
        except OSError as error:
            return Loaded(
                {}, f"The last session could not be read from {self.path}: {error.strerror}."
            )
        try:
            if len(raw) > MAX_BYTES:
                raise ValueError("too large")
            values = json.loads(raw)
            if not isinstance(values, dict) or not isinstance(values.get("session"), dict):
                raise ValueError("not a session")
        except ValueError:
            return Loaded({}, self._put_aside("is damaged"))
        if values.get("schema") != SCHEMA:
            return Loaded({}, self._put_aside("is from another version of the program"))
        return Loaded(values)

    def save(self, values: Mapping[str, Any]) -> None:
        """Write everything beside the file and then replace it, so that no crash loses both.

        Raises
        ------
        OSError
            If the folder can't be written.
        """
        aside = self.path.with_suffix(".json.new")
        with aside.open("w", encoding="utf-8") as stream:
            json.dump({"schema": SCHEMA, **values}, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(self.path)

    def _put_aside(self, why: str) -> str:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        kept = self.path.with_name(f"{self.path.stem}-{stamp}.json")
        try:
            self.path.replace(kept)
        except OSError as error:
            return f"The saved session {why} and could not be put aside: {error.strerror}."
        return f"The saved session {why}; it was kept as {kept}, and a new one was begun."
