"""What *Which ε?* shows: kept with the session and undone with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from msgspec import UNSET

from explorer.engine.session import wire
from explorer.engine.session.wire_reading import plain, read_fields


@dataclass(frozen=True)
class WhichView:
    """What is open, asked for and judged on.

    Attributes
    ----------
    open : bool
    axis, measure, statistic : str
        The words of `explorer.engine.session.wire.Which`.
    targets : mapping of measure to float
        What one can live with, where that was chosen; above 0.
    judged_on : str
        As `explorer.engine.error_curves.Question` says; a public file is named by its path.
    """

    open: bool = False
    axis: str = "epsilon"
    measure: str = "emd_km"
    statistic: str = "often"
    targets: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    judged_on: str = ""

    def with_choice(self, name: str, chosen: str) -> WhichView:
        """Return this view with another axis, measure, statistic, or other people to judge on."""
        change: dict[str, Any] = {name: chosen}
        return replace(self, **change)

    def over(self, axis: str) -> WhichView:
        """Return this view as a figure of the paper has it: mean distance over an axis."""
        return replace(self, open=True, axis=axis, measure="emd", statistic="mean")

    def with_target(self, measure: str, target: float) -> WhichView:
        """Return this view with another target for a measure."""
        return replace(self, targets=MappingProxyType({**self.targets, measure: target}))


def which_to_dict(which: WhichView) -> dict[str, Any]:
    """Return a view as JSON values."""
    return plain(wire.Which(**{**vars(which), "targets": dict(which.targets)}))


def which_from_dict(raw: object, left_out: list[str]) -> WhichView:
    """Read a view back, as much of it as can be read; `left_out` gets a sentence for the rest."""
    if raw is UNSET:
        return WhichView()
    found = read_fields(raw, wire.Which, "which", left_out)
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    return WhichView(**{**values, "targets": MappingProxyType(found.targets)})
