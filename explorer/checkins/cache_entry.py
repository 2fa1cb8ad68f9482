"""What an entry of the cache remembers beside its rows."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from explorer.checkins.errors import shown_name
from explorer.checkins.model import Dialect, Example, LoadReport, Mapping, Reason


def describe(
    report: LoadReport,
    sha256: str,
    mapping: Mapping,
    dialect: Dialect,
    path: Path,
    size: int,
    state: list[int],
) -> dict[str, Any]:
    """Return what an entry of the cache remembers beside its rows."""
    return {
        "fingerprint": sha256,
        "basename": shown_name(path),
        "size": size,
        "has_times": mapping.time is not None,
        "has_weights": mapping.weight is not None,
        "dialect": asdict(dialect),
        "mapping": mapping.stored(),
        "state": state,
        "report": {
            "physical_lines": report.physical_lines,
            "header": report.header,
            "blank": report.blank,
            "kept": report.kept,
            "continued": report.continued,
            "seconds": report.seconds,
            "notes": report.notes,
            "set_aside": {reason.value: n for reason, n in report.set_aside.items()},
            "examples": {
                reason.value: [[e.line, e.text] for e in found]
                for reason, found in report.examples.items()
            },
        },
    }


def file_state(path: Path) -> list[int]:
    """Return what changes when a file does: its size and time of change."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def read_report(stored: dict[str, Any]) -> LoadReport:
    """Return the report that `describe` stored."""
    return LoadReport(
        physical_lines=stored["physical_lines"],
        header=stored["header"],
        blank=stored["blank"],
        kept=stored["kept"],
        set_aside={Reason(r): n for r, n in stored["set_aside"].items()},
        examples={
            Reason(r): tuple(Example(line, text) for line, text in found)
            for r, found in stored["examples"].items()
        },
        notes=tuple(stored["notes"]),
        continued=stored["continued"],
        seconds=stored["seconds"],
    )
