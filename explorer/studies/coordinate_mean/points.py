"""What is demanded at every point of a sweep, and which points there are."""

from dataclasses import replace

import numpy as np

from explorer.studies.base.study import Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.parameters import HEURISTIC, TWO
from explorer.studies.coordinate_mean.plans import Demand, sensitive
from explorer.studies.coordinate_mean.public_file import PublicCoupling


def demands_of(request: Request, points: SweptPoints) -> list[Demand]:
    """Return what is demanded at every point."""
    profile, fixed = request["profile"], request["zeta_rule"] != HEURISTIC
    return [
        Demand(
            profile,
            int(d),
            sensitive(d, share) if profile == TWO else 1,
            float(level),
            float(eps),
            float(q),
            float(zeta) if fixed else 0.5 * (1.0 + float(q)),
            request["channel"],
        )
        for d, share, level, eps, q, zeta in zip(
            *(points[key] for key in ("d", "share", "level", "eps", "q", "zeta")), strict=True
        )
    ]


def with_coupling(points: SweptPoints, public: PublicCoupling | None) -> SweptPoints:
    """Return the points with the public file's coupling for the slider's.

    With q on the x axis the slider is a line there and stays what counts.
    """
    if public is None or points.sweep.key == "q":
        return points
    q = np.full(points.x.size + 1, public.q)
    return replace(points, columns=points.columns | {"q": q})


def coordinates(points: SweptPoints, d: int) -> SweptPoints:
    """Return every coordinate between the ends of the sweep that there is, or else its start."""
    key = points.sweep.key
    unit = 1.0 if key == "i" else 1.0 / d
    every = np.arange(1, d + 1) * unit
    slack = 1e-9 * unit
    x = every[(every >= points.x[0] - slack) & (every <= points.x[-1] + slack)]
    x = x if x.size else points.x[:1]
    columns = {k: np.full(x.size + 1, column[-1]) for k, column in points.columns.items()}
    number = np.append(x / unit, points["i"][-1])
    return SweptPoints(points.sweep, x, columns | {key: np.append(x, 1.0), "i": number})
