"""The numbers of a heatmap's answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.geography.region import Region
from explorer.privacy.heatmaps.evaluation import Interval
from explorer.studies.base.distances import FAR, in_unit
from explorer.studies.base.study import Readout, Request
from explorer.studies.heatmap import text
from explorer.studies.heatmap.mechanisms import of_settings
from explorer.studies.heatmap.public import MADE_OF_NOISE, OF_SETTINGS
from explorer.studies.heatmap.run import Estimate
from explorer.studies.heatmap.units import unit_of, worded_for


def plain_readouts(request: Request, estimate: Estimate, points: Any) -> tuple[Readout, ...]:
    """Return counts and the budget's split; neither has a role."""
    in_file = None if points.region_only else points.users_in_file
    name = worded_for("Users", unit_of(request))
    readouts = [
        Readout("users_used", f"{name} in the map", points.users_used, curator_only=True),
        Readout("users_in_region", f"{name} in region", points.users_in_region, curator_only=True),
        Readout("users_in_file", f"{name} in file", in_file, curator_only=True),
        Readout("checkins", "Check-ins in the map", points.rows, curator_only=True),
        Readout("cells_read", "Noisy counts read", estimate.cells_read),
    ]
    if estimate.objective is not None:
        readouts.append(Readout("objective", "Misfit minimised", estimate.objective))
    readouts += [Readout(key, MADE_OF_NOISE[key], value) for key, value in estimate.made_of_noise]
    readouts += [
        Readout(key, OF_SETTINGS[key][0], value, unit=OF_SETTINGS[key][1])
        for key, value in of_settings(request).items()
    ]
    readouts += [
        Readout(f"epsilon_level_{i}", f"ε of level {i}", value)
        for i, value in estimate.epsilon_levels
    ]
    return tuple(readouts)


def metric_readouts(
    region: Region,
    agreement: Any = None,
    unit: Interval | None = None,
    km: Interval | None = None,
    note: str = "",
) -> tuple[Readout, ...]:
    """Return the comparison with the truth, as far as it is known.

    A note says why a distance is not a number, or, without a comparison, why there is none.
    """
    why = note if agreement is None else ""
    similarity = pearson = kl = None
    if agreement is not None:
        similarity, kl = agreement.similarity, agreement.kl
        # A constant map has no correlation with anything.
        pearson = None if np.isnan(agreement.pearson) else agreement.pearson
    return (
        Readout("similarity", "Similarity", similarity, curator_only=True, note=why),
        Readout("pearson", "Pearson correlation", pearson, curator_only=True, note=why),
        Readout("kl", "KL divergence", kl, curator_only=True, unit="nats", note=why),
        distance_readout("emd", "Earth mover's distance", unit, "of the side", note),
        distance_readout(in_unit(FAR, region), "Earth mover's distance", km, region.unit, note),
    )


def distance_readout(key: str, label: str, found: Interval | None, unit: str, note: str) -> Readout:
    """Return a distance as far as it is known."""
    if found is None:
        return Readout(key, label, None, unit=unit, curator_only=True, note=note)
    return Readout(
        key,
        label,
        found.value,
        text.distance_role(found.exact),
        unit,
        found.low,
        found.high,
        curator_only=True,
        note=note,
    )
