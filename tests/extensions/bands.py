"""A made-up mechanism: noisy counts of bands from south to north, spread evenly over each."""

from __future__ import annotations

import numpy as np

from explorer.privacy.noise.demonstration import DemonstrationNoise
from explorer.studies.heatmap.run import Estimate, Task


def run(task: Task) -> Estimate:
    grid = task.counts.grid()
    bands = np.array_split(np.zeros_like(grid), int(task.request["bands"]))
    parts = np.array_split(grid, len(bands))
    noise = DemonstrationNoise(task.request.seed, "bands")(0, np.arange(len(bands)))
    for band, part, drawn in zip(bands, parts, noise, strict=True):
        band += max(float(part.sum()) + drawn / task.epsilon, 1e-9) / band.size
    spread = np.concatenate(bands)
    return Estimate(spread / spread.sum(), ((0, task.epsilon),), len(bands))
