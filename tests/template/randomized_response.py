"""A study in a package of its own, to be copied: a question, its numbers, what it promises."""

from collections.abc import Iterator

import numpy as np

from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.studies.base.builders import count, epsilon
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import (
    Condition,
    Context,
    Guarantee,
    Quantity,
    Request,
    Result,
    Study,
)
from explorer.studies.base.sweeping import readout_from, series_from, swept_points
from explorer.studies.catalog import StudyInfo

WARNER = Reference("Warner 1965", "randomized response")


class RandomizedResponse(Study):
    id = "randomized-response"
    references = (WARNER,)
    parameters = (
        epsilon("privacy", "Privacy of one answer. Smaller is more private.", 1.0, 0.01, 10.0),
        count("n", "n", "people", "How many people answer.", 1000, 1, 1_000_000, unit="people"),
    )
    quantities = (Quantity("error", "σ", "error of the share", ("n", "eps")),)

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the one answer: a closed form, its computed value off by less than 1e-14."""
        points = swept_points(self, request)
        error = 0.5 / np.sqrt(points["n"]) / np.tanh(points["eps"] / 2)
        bound = Bound.proved(error, Role.UPPER, WARNER, 1e-14)
        label, level = "standard deviation", at_most(request["eps"])
        yield Result(
            request,
            request.fidelity,
            series=(series_from("error", label, points, bound),),
            readouts=(readout_from("error", label, bound),),
            conditions=(Condition("people answer independently", None),),
            guarantee=Guarantee(
                "one answer",
                "not covered: the number of people is public",
                f"{level}-DP",
                "nobody is trusted: everyone randomizes alone",
                f"An answer is at most e^{level} times as likely as if it were the other.",
                (WARNER,),
            ),
            complete=True,
        )


INFO = StudyInfo(
    "randomized-response",
    "Randomized response",
    "How far off is a share when some may lie?",
    "bounds",
    "Plug-ins",
    f"{__name__}:RandomizedResponse",
)
