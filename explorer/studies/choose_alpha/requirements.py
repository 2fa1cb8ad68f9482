"""A user's requirements as numbers."""

from dataclasses import dataclass

import numpy as np

from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.user_metric import alpha_from_requirements
from explorer.studies.base.study import Request
from explorer.studies.metric_space.choice import ChosenSpace
from explorer.studies.metric_space.parameters import UNITLESS


@dataclass(frozen=True)
class Requirements:
    """What must be protected, one entry a requirement.

    Attributes
    ----------
    eps, distance, q, tau : ndarray of float, shape (count,)
        ε, distance in the space's unit, its share of the diameter (at most 1), fraction moved.
    too_far : ndarray of bool
        Where the distance asked about is more than the diameter: q is 1 then.
    """

    eps: FloatArray
    distance: FloatArray
    q: FloatArray
    tau: FloatArray
    too_far: BoolArray

    @property
    def alone(self) -> FloatArray:
        """Return the α that each requirement would need alone."""
        columns = (self.eps[:, None], self.q[:, None], self.tau[:, None])
        return np.asarray(alpha_from_requirements(*columns))

    @property
    def alpha(self) -> float:
        """Return the α that meets all of them."""
        return float(alpha_from_requirements(self.eps, self.q, self.tau))

    @property
    def binding(self) -> int:
        """Return the place of the requirement that decides."""
        return int(np.argmin(self.alone))


def requirements_of(request: Request, space: ChosenSpace) -> Requirements:
    """Return the requirements in use; the space's diameter must be known."""
    used = range(1, int(request["requirements"]) + 1)
    eps, tau = (np.array([request[f"{key}{i}"] for i in used]) for key in ("eps", "tau"))
    distance = np.array([distance_of(request, space, str(i)) for i in used])
    share = distance / space.diameter
    return Requirements(eps, distance, np.minimum(share, 1.0), tau, share > 1.0)


def distance_of(request: Request, space: ChosenSpace, which: str) -> float:
    """Return a distance as set: in the space's unit, or as a share where it has none."""
    if which:
        key = f"q{which}" if space.kind in UNITLESS else f"distance{which}"
    else:
        key = "moved_q" if space.kind in UNITLESS else "moved"
    return float(request[key])
