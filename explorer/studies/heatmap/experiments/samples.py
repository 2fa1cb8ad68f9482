"""The counts that trials are run on, and how they reach the processes that run them.

A task is plain JSON and small; the counts it is about lie in a file that is named after its
content, which a process opens once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.files import write_whole
from explorer.privacy.heatmaps import CellCounts, UserCells, aggregate, one_cell_each, user_cells
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.user_rows import Box

UNIT_SQUARE: Box = (0.0, 0.0, 1.0, 1.0)
VISITS = ("user", "codes", "visits")
"""Arrays of `UserCells`."""


@dataclass(frozen=True)
class Sample:
    """Users in a region, counted.

    Attributes
    ----------
    counts : CellCounts
        Every user's mass of 1 is shared by their points, as a rule has it.
    votes : CellCounts
        Every user once, in one cell: `one_cell_each`.
    visits : UserCells
        Who visited which cells how often, for what every user does alone.
    """

    counts: CellCounts
    votes: CellCounts
    visits: UserCells

    @property
    def arrays(self) -> dict[str, Any]:
        """Return all of it as arrays by name."""
        found = {}
        for name in ("counts", "votes"):
            part: CellCounts = getattr(self, name)
            found[f"{name}_codes"] = part.codes.astype("<i8")
            found[f"{name}_masses"] = part.masses.astype("<f8")
            found[f"{name}_shape"] = np.array([part.level, part.users, part.rows], dtype="<i8")
        for name in VISITS:
            found[f"visits_{name}"] = getattr(self.visits, name).astype("<i8")
        return found


def count_points(points: Any, box: Box, level: int, rule: Contribution = BY_CHECKINS) -> Sample:
    """Return the sample of some points, as in a `SelectedRows`, on a grid over a box."""
    given = (points.user, points.lat, points.lon, points.weight, box, level)
    step = points.step
    return Sample(
        aggregate(*given, rule, step),
        one_cell_each(*given, rule.cap, step),
        user_cells(*given, rule, step),
    )


def digest_of(sample: Sample) -> str:
    """Return the sha256 of all that a sample holds."""
    total = hashlib.sha256()
    for name, array in sample.arrays.items():
        total.update(f"{name} {array.size}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def keep(sample: Sample, folder: Path) -> str:
    """Write a sample into a folder, unless it is there, and return the digest it lies under."""
    from io import BytesIO

    digest = digest_of(sample)
    path = _path(folder, digest)
    if not path.exists():
        packed = BytesIO()
        np.savez(packed, **sample.arrays)
        write_whole(path, packed.getvalue())
    return digest


def open_sample(folder: Path, digest: str) -> Sample:
    """Return a sample that `keep` wrote.

    Raises
    ------
    OSError
        If there is none.
    ValueError
        If it is not what it was.
    """
    with np.load(_path(folder, digest), allow_pickle=False) as stored:
        parts = [
            CellCounts(
                int(stored[f"{name}_shape"][0]),
                stored[f"{name}_codes"].astype(np.int64),
                stored[f"{name}_masses"].astype(np.float64),
                int(stored[f"{name}_shape"][1]),
                int(stored[f"{name}_shape"][2]),
            )
            for name in ("counts", "votes")
        ]
        arrays = (stored[f"visits_{name}"].astype(np.int64) for name in VISITS)
        visits = UserCells(parts[0].level, *arrays)
    sample = Sample(parts[0], parts[1], visits)
    if digest_of(sample) != digest:
        raise ValueError(f"the counts {digest[:12]}… have been changed; run the experiment again")
    return sample


def _path(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.npz"
