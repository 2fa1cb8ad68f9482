"""A study in a package of its own, to be copied: parameters, curves, conditions, guarantee."""

from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.studies.base.builders import count, epsilon
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import at_most
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import Condition, Guarantee, Quantity
from explorer.studies.catalog import StudyInfo
from explorer.studies.guarantees.tradeoffs import with_tradeoff

WARNER = Reference("Warner 1965", "randomized response")


def randomized_error(eps: np.ndarray, n: np.ndarray) -> Bound:
    """Return the worst-case standard deviation of the estimated share.

    Parameters
    ----------
    eps, n : ndarray of float
        Privacy parameter (> 0) and number of people (≥ 1), one entry a point.
    """
    # The two roundings of tanh and sqrt are within 1e-14.
    return Bound.proved(0.5 / np.sqrt(n) / np.tanh(eps / 2), Role.UPPER, WARNER, 1e-14)


@with_tradeoff()
class RandomizedResponse(CurveStudy):
    """Error of a share that is estimated from randomized yes-or-no answers."""

    id = "randomized-response"
    parameters = (
        epsilon("privacy", "Privacy of one answer. Smaller is more private.", 1.0, 0.01, 10.0),
        count("n", "n", "people", "How many people answer.", 1000, 1, 1_000_000, unit="people"),
    )
    plots = (
        Plot(
            Quantity("error", "σ", "error of the share", ("n", "eps")),
            (
                Curve(
                    "error",
                    "standard deviation",
                    "",
                    Role.UPPER,
                    WARNER,
                    lambda p: randomized_error(p.eps, p.n),
                    claimable=1,
                ),
                Curve(
                    "truthful",
                    "all answers true",
                    "",
                    Role.BASELINE,
                    WARNER,
                    lambda p: 0.5 / np.sqrt(p.n),
                    note="the error of the sample alone, without any privacy",
                ),
            ),
            sliders=("eps", "n"),
        ),
    )

    def conditions(self, p: Any) -> tuple[Condition, ...]:
        """Return the assumptions on the people."""
        return (Condition("people answer independently", None),)

    def guarantee(self, p: Any) -> Guarantee:
        """Return the guarantee of one answer."""
        level = at_most(p.here.eps)
        return Guarantee(
            "one answer",
            "not covered: the number of people is public",
            f"{level}-DP",
            "nobody is trusted: everyone randomizes alone",
            f"An answer is at most e^{level} times as likely as if it were the other.",
            (WARNER,),
            pairs=((p.here.eps, 0.0),),
        )


INFO = StudyInfo(
    "randomized-response",
    "Randomized response",
    "How far off is a share when some may lie?",
    "bounds",
    "Plug-ins",
    f"{__name__}:RandomizedResponse",
)
