"""Protocols that can be simulated but not released.

Local and shuffle protocols protect users from the curator, so running them on data the curator
already has protects nobody. Noise in floating point is not exact. For both, a plan yields a
document stamped *simulation* that names the release to use instead; no file is read and nothing
is entered or spent.
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
class SimulatedProtocol:
    """A protocol that is only simulated.

    Attributes
    ----------
    label : str
    why : str
        Why it is no release.
    instead : str
        Id of the mechanism to plan instead; "" if there is none.
    what : str
        Name of that mechanism.
    """

    label: str
    why: str
    instead: str = ""
    what: str = ""

    @property
    def sentence(self) -> str:
        """Explanation for the curator."""
        if not self.instead:
            return f"{self.why}; what is learnt so is not released here."
        return f"{self.why}: release the central {self.what} ({self.instead})."


_HISTOGRAM, _MEAN = ("histogram/1", "histogram"), ("mean/1", "mean")
PROTOCOLS: Mapping[str, SimulatedProtocol] = {
    "shuffle.histogram/1": SimulatedProtocol("Shuffled histogram, P_hist", _LOCAL, *_HISTOGRAM),
    "shuffle.sum/1": SimulatedProtocol("Shuffled sum, P_zsum", _LOCAL, *_MEAN),
    "shuffle.pyramid/1": SimulatedProtocol(
        "Shuffled pyramid, Appendix F", _LOCAL, "heatmap.adaptive/1", "heatmap"
    ),
    "shuffle.items/1": SimulatedProtocol("Items shuffled together", _LOCAL, *_HISTOGRAM),
    "shuffle.learning/1": SimulatedProtocol("CLDP-SGD", _LOCAL),
    "local.frequency/1": SimulatedProtocol("Frequency oracle", _LOCAL, *_HISTOGRAM),
    "local.coordinates/1": SimulatedProtocol("Coordinate DP (BCDP)", _LOCAL, *_MEAN),
    "metric.sum/1": SimulatedProtocol("Noise by distance: K-norm, Laplace", _FLOAT, *_MEAN),
    "gaussian/1": SimulatedProtocol("Gaussian noise", _FLOAT, *_MEAN),
}
"""By id, as in `Study.simulated`."""


class SimulationOnlyError(ReleaseError):
    """The plan's mechanism can only be simulated.

    Attributes
    ----------
    document : dict
        Written instead of a release (`simulation_document`).
    """

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(
            f"mechanism.id: {document['mechanism']['id']} is a simulation, not a "
            f"release. {document['sentence']}"
        )
        self.document = document


def simulation_document(
    protocol: str,
    parameters: Mapping[str, Any],
    epsilon: Fraction | None,
    declared: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the document for a simulated protocol: no file, no population, no price.

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
