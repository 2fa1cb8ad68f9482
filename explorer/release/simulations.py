"""What never goes through the door: a plan of it is stamped *simulation*, and says what would.

Local and shuffle protocols protect users from the curator; run by who has the table they protect
nobody from him. Noise that is drawn in floating point is no exact noise. Nothing is read, entered
or spent for either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from explorer.release.errors import ReleaseError
from explorer.release.exact_json import write_fraction

SCHEMA = "privacy-explorer/simulation/1"
STAMP = "simulation, not a release"
_LOCAL = "Here every user must add noise before sending. You already hold the data"
_FLOAT = "Its noise is drawn in floating point, which no release may have"


@dataclass(frozen=True)
class Protocol:
    """A mechanism that is only simulated.

    Attributes
    ----------
    label : str
    why : str
        It is no release.
    instead : str
        Id of the release to plan in its place; "" if there is none.
    what : str
        What that is called.
    """

    label: str
    why: str
    instead: str = ""
    what: str = ""

    @property
    def sentence(self) -> str:
        """What is said in place of a release."""
        if not self.instead:
            return f"{self.why}; what is learnt so is not released here."
        return f"{self.why}: release the central {self.what} ({self.instead})."


_HISTOGRAM, _MEAN = ("histogram/1", "histogram"), ("mean/1", "mean")
PROTOCOLS: Mapping[str, Protocol] = {
    "shuffle.histogram/1": Protocol("Shuffled histogram, P_hist", _LOCAL, *_HISTOGRAM),
    "shuffle.sum/1": Protocol("Shuffled sum, P_zsum", _LOCAL, *_MEAN),
    "shuffle.pyramid/1": Protocol(
        "Shuffled pyramid, Appendix F", _LOCAL, "heatmap.adaptive/1", "heatmap"
    ),
    "shuffle.items/1": Protocol("Items shuffled together", _LOCAL, *_HISTOGRAM),
    "shuffle.learning/1": Protocol("CLDP-SGD", _LOCAL),
    "local.frequency/1": Protocol("Frequency oracle", _LOCAL, *_HISTOGRAM),
    "local.coordinates/1": Protocol("Coordinate DP (BCDP)", _LOCAL, *_MEAN),
    "metric.sum/1": Protocol("Noise by distance: K-norm, Laplace", _FLOAT, *_MEAN),
    "gaussian/1": Protocol("Gaussian noise", _FLOAT, *_MEAN),
}
"""By release id; studies name theirs (`Study.simulated`)."""


class SimulationOnlyError(ReleaseError):
    """A plan of what is only simulated.

    Attributes
    ----------
    stamped : dict
        What is written in place of a release.
    """

    def __init__(self, stamped: dict[str, Any]) -> None:
        super().__init__(
            f"mechanism.id: {stamped['mechanism']['id']} is a simulation, not a "
            f"release. {stamped['sentence']}"
        )
        self.stamped = stamped


def stamped(
    protocol: str,
    parameters: Mapping[str, Any],
    epsilon: Fraction | None,
    declared: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a plan of what is only simulated: no file, no population, no price.

    Parameters
    ----------
    protocol : str
        One of `PROTOCOLS`.
    parameters : mapping
        As typed.
    epsilon : Fraction or None
    declared : mapping
    """
    known = PROTOCOLS[protocol]
    return {
        "schema": SCHEMA,
        "stamp": STAMP,
        "sentence": known.sentence,
        "mechanism": {
            "id": protocol,
            "label": known.label,
            "parameters": dict(parameters),
            "epsilon": None if epsilon is None else write_fraction(epsilon),
        },
        "instead": known.instead or None,
        "declared": dict(declared),
    }
