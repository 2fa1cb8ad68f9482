"""Where the colour scales of maps side by side end, on the screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.studies.base.study import Surface

TRUE = "true"


def largest(surface: Surface) -> float:
    """Return the largest value of a map, of a diverging one the largest on either side of 0."""
    values = np.abs(surface.values) if surface.diverging else surface.values
    return float(values.max(initial=0))


def colour_limits(shown: Sequence[Surface], linked: bool) -> list[float]:
    """Return the value at the top of each pane's colour scale; the bottom is 0, or minus the top.

    Linked panes end at the largest value of the true map, if that one is among them: the others are
    then judged on the truth's scale. Without it no scale may depend on it, since the scale alone
    would tell something of the truth; the panes end at the largest value that is shown. What is not
    shown in colours does not count.
    """
    tops = [0.0 if surface.overlay else largest(surface) for surface in shown]
    if linked:
        pairs = list(zip(tops, shown, strict=True))
        truth = [top for top, s in pairs if s.key == TRUE]
        maps = [top for top, s in pairs if not s.diverging]
        ends = (max(some, default=0.0) for some in (truth, maps, tops))
        tops = [next((end for end in ends if end > 0), 1.0)] * len(tops)
    return [top if top > 0 else 1.0 for top in tops]
