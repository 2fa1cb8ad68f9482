"""Borders of the nearest centres under ℓ1, against which centre is nearest on lines across."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.privacy.heatmaps.clustering import distances, l1_borders


def crossings(pieces: np.ndarray, y: float) -> np.ndarray:
    """Return where pieces cross the line with second coordinate y."""
    a, b = pieces[:, :2], pieces[:, 2:]
    over = (np.minimum(a[:, 1], b[:, 1]) <= y) & (y < np.maximum(a[:, 1], b[:, 1]))
    share = (y - a[over, 1]) / (b[over, 1] - a[over, 1])
    return np.sort(a[over, 0] + share * (b[over, 0] - a[over, 0]))


@pytest.mark.parametrize("k", [2, 3, 7, 30])
@pytest.mark.parametrize("sides", [(1.0, 1.0), (40.0, 3.0)])
def test_a_border_is_where_the_nearest_centre_changes(k: int, sides: tuple[float, float]) -> None:
    rng = np.random.default_rng(k)
    centres = rng.random((k, 2)) * sides
    pieces = l1_borders(centres, sides)
    fine = (np.arange(4000) + 0.5) / 4000 * sides[0]
    for y in rng.random(25) * sides[1]:
        line = np.column_stack([fine, np.full(len(fine), y)])
        nearest = np.argmin(distances(line, centres), axis=1)
        changes = (fine[1:] + fine[:-1])[nearest[1:] != nearest[:-1]] / 2
        found = crossings(pieces, y)
        assert len(found) >= len(changes)
        step = sides[0] / 4000
        for there in changes:
            assert np.abs(found - there).min() <= step
        for there in found:  # a sliver narrower than a step may begin and end in between
            near = np.sort(distances(np.array([[there, y]]), centres)[0])
            assert near[1] - near[0] <= 1e-6 * sum(sides)


def test_one_centre_has_none_and_areas_as_far_from_two_go_to_the_first() -> None:
    assert l1_borders([[0.3, 0.4]], (1.0, 1.0)).shape == (0, 4)
    pieces = l1_borders([[0.25, 0.25], [0.75, 0.75]], (1.0, 1.0))
    # The first has both corners beside the diagonal: borders along x = .25 above and y = .25.
    assert crossings(pieces, 0.5) == pytest.approx([0.5], abs=1e-6)
    lengths = np.hypot(*(pieces[:, :2] - pieces[:, 2:]).T)
    assert lengths.sum() == pytest.approx(np.sqrt(0.5) + 0.5, abs=1e-6)
