"""Metadata of a cache entry: report, mapping, dialects and file states."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from explorer.checkins.errors import printable
from explorer.checkins.model import (
    COLUMN_FIELDS,
    Dialect,
    Example,
    LoadReport,
    Mapping,
    PartReport,
    Reason,
)
from explorer.checkins.sources import DataFiles

MAX_NAME_LENGTH = 80
"""Maximum length of stored column names."""


def describe(
    report: LoadReport,
    sha256: str,
    mapping: Mapping,
    dialect: Dialect,
    files: DataFiles,
    dialects: Sequence[Dialect],
    size: int,
    state: list[list[int]],
    columns: Sequence[str],
) -> dict[str, Any]:
    """Return the metadata of a cache entry as JSON values.

    `columns` are the names of all columns.
    """
    return {
        "fingerprint": sha256,
        "basename": files.name,
        "size": size,
        "has_times": mapping.time is not None,
        "has_weights": mapping.weight is not None,
        "dialect": asdict(dialect),
        "dialects": [asdict(one) for one in dialects],
        "mapping": mapping.stored(),
        "names": names_used(mapping, columns),
        "state": state,
        "report": {
            "physical_lines": report.physical_lines,
            "header": report.header,
            "before_header": report.before_header,
            "naive_times": report.naive_times,
            "merged_ids": report.merged_ids,
            "blank": report.blank,
            "kept": report.kept,
            "continued": report.continued,
            "seconds": report.seconds,
            "notes": report.notes,
            "set_aside": {reason.value: n for reason, n in report.rejected.items()},
            "examples": {
                reason.value: [[e.line, e.text, e.part] for e in found]
                for reason, found in report.examples.items()
            },
            "parts": [asdict(part) for part in report.parts],
        },
    }


def read_report(stored: dict[str, Any]) -> LoadReport:
    """Return the report from stored metadata."""
    return LoadReport(
        physical_lines=stored["physical_lines"],
        header=stored["header"],
        blank=stored["blank"],
        kept=stored["kept"],
        rejected={Reason(r): n for r, n in stored["set_aside"].items()},
        examples={
            Reason(r): tuple(Example(*example) for example in found)
            for r, found in stored["examples"].items()
        },
        notes=tuple(stored["notes"]),
        continued=stored["continued"],
        seconds=stored["seconds"],
        parts=tuple(PartReport(**part) for part in stored["parts"]),
        before_header=stored.get("before_header", 0),
        naive_times=stored["naive_times"],
        merged_ids=stored["merged_ids"],
    )


def names_used(mapping: Mapping, columns: Sequence[str]) -> dict[str, str]:
    """Return display names of the columns in use, by field of the mapping."""
    found = {field: getattr(mapping, field) for field in COLUMN_FIELDS}
    return {
        field: printable(columns[i])[:MAX_NAME_LENGTH] if i < len(columns) else f"column {i + 1}"
        for field, i in found.items()
        if i is not None
    }


def read_columns(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the column settings for recipes from stored metadata."""
    layer = stored["dialect"].get("layer")
    found = {**stored["mapping"], "names": stored["names"]}
    return found | ({"layer": layer} if layer else {})
