"""What a run of mutated input came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MAX_SHOWN = 20


@dataclass
class Outcome:
    """How many were tried, what became of them, and what should not have happened.

    Attributes
    ----------
    counts : Counter of str
        What became of each (``read``, ``refused``, …).
    faults : list of str
        One sentence each: what was put in, and what went wrong.
    """

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the table to print."""
        lines = [f"{n:8,} {what}" for what, n in sorted(self.counts.items())]
        lines += [f"{len(self.faults):8,} faults", *self.faults[:MAX_SHOWN]]
        return "\n".join(lines)
