"""Requirements of users on changes of their data, and the α that meets them."""

from dataclasses import dataclass

import numpy as np

from explorer.privacy.core.bound import USER_METRIC as _PAPER, BoolArray, FloatArray, Reference
from explorer.privacy.user_metric import alpha_from_requirements
from explorer.studies.base.study import Request
from explorer.studies.metric_space.parameters import UNITLESS
from explorer.studies.metric_space.space import RequestSpace

SETTING = Reference(
    _PAPER,
    "Section 3, “Setting the Privacy Parameters”",
    "α = min ε/(qτ); the largest acceptable ε, printed as the minimum, and qτ = 0 left out: "
    "errata user-C2",
)
USER_LEVEL = Reference(_PAPER, "Definitions 3.1 and 3.2, Table 1", "d_EM ≤ 1; errata user-C2")


@dataclass(frozen=True)
class Requirements:
    """Changes that must be protected, one entry a requirement.

    Attributes
    ----------
    eps, distance, q, tau : ndarray of float, shape (count,)
        ε, distance in the space's unit, its share of the diameter (at most 1), share of the data.
    too_far : ndarray of bool, shape (count,)
        Where the distance is more than the diameter: q is 1 then.
    """

    eps: FloatArray
    distance: FloatArray
    q: FloatArray
    tau: FloatArray
    too_far: BoolArray

    @property
    def alone(self) -> FloatArray:
        """Return the α that each requirement needs alone."""
        columns = (self.eps[:, None], self.q[:, None], self.tau[:, None])
        return np.asarray(alpha_from_requirements(*columns))

    @property
    def alpha(self) -> float:
        """Return the α that meets all of them."""
        return float(alpha_from_requirements(self.eps, self.q, self.tau))

    @property
    def binding(self) -> int:
        """Return the index of the requirement that binds."""
        return int(np.argmin(self.alone))


def requirements_of(request: Request, space: RequestSpace) -> Requirements:
    """Return the requirements in use; the space's diameter must be known."""
    used = range(1, int(request["requirements"]) + 1)
    eps, tau = (np.array([request[f"{key}{i}"] for i in used]) for key in ("eps", "tau"))
    distance = np.array([distance_of(request, space, str(i)) for i in used])
    share = distance / space.diameter
    return Requirements(eps, distance, np.minimum(share, 1.0), tau, share > 1.0)


def distance_of(request: Request, space: RequestSpace, number: str = "") -> float:
    """Return the distance of a requirement by its number, or of the change looked at.

    In the space's unit, or as a share of the diameter where it has none.
    """
    if number:
        key = f"q{number}" if space.kind in UNITLESS else f"distance{number}"
    else:
        key = "moved_q" if space.kind in UNITLESS else "moved"
    return float(request[key])


def share_at_level(level: float, alpha: float, q: FloatArray) -> FloatArray:
    """Return the share of the data that may move by q at ε = `level`: τ = ε/(αq), at most 1."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.minimum(level / (alpha * q), 1.0))
