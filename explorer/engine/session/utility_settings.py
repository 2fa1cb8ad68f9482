"""View settings of *Utility*, part of the session and its undo history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from msgspec import UNSET

from explorer.engine.session import schema
from explorer.engine.session.schema import plain, read_fields
from explorer.studies.heatmap.experiments.error_curves import SYNTHETIC_USERS, axes_of

JUDGED_ON = {
    "these check-ins": "",
    "synthetic people": "sample",
    "theory (no data)": "theory",
    **{people.name: key for key, people in SYNTHETIC_USERS.items()},
}
"""What exports say of whom is judged on; they call any other file `STAND_IN` and never name it."""
STAND_IN = "a stand-in file"


def evaluation_words(judged_on: str) -> str:
    """Return the words for the evaluation data in exports."""
    return next((words for words, key in JUDGED_ON.items() if key == judged_on), STAND_IN)


@dataclass(frozen=True)
class UtilitySettings:
    """Axis, measure, statistic, target and evaluation data of *Utility*.

    Attributes
    ----------
    open : bool
    axis, measure, statistic : str
        The words of `explorer.engine.session.schema.Utility`.
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

    def with_choice(self, name: str, value: str) -> UtilitySettings:
        """Return this view with another axis, measure, statistic or evaluation data."""
        change: dict[str, Any] = {name: value}
        settings = replace(self, **change)
        axes = [axis.key for axis in axes_of(settings.judged_on)]
        return settings if settings.axis in axes else replace(settings, axis=axes[0])

    def over(self, axis: str, judged_on: str = "") -> UtilitySettings:
        """Return this view as in a figure of the paper: mean distance over an axis.

        On the figure's made data, where it has such; else as it is judged now.
        """
        settings = replace(self, open=True, measure="emd", statistic="mean")
        return settings.with_choice("judged_on", judged_on or self.judged_on).with_choice(
            "axis", axis
        )

    def with_target(self, measure: str, target: float) -> UtilitySettings:
        """Return this view with another target for a measure."""
        return replace(self, targets=MappingProxyType({**self.targets, measure: target}))


def utility_to_dict(which: UtilitySettings) -> dict[str, Any]:
    """Return a view as JSON values."""
    return plain(schema.Utility(**{**vars(which), "targets": dict(which.targets)}))


def utility_from_dict(raw: object, left_out: list[str]) -> UtilitySettings:
    """Read a view from JSON values; `left_out` gets a sentence for each unreadable field."""
    if raw is UNSET:
        return UtilitySettings()
    stored = read_fields(raw, schema.Utility, "which", left_out)
    values = {name: getattr(stored, name) for name in stored.__struct_fields__}
    return UtilitySettings(**{**values, "targets": MappingProxyType(stored.targets)})


def utility_to_recipe(which: UtilitySettings, draws: int) -> dict[str, Any]:
    """Return a view as stored with exported curves: only its measure's target."""
    shown: dict[str, Any] = {
        "axis": which.axis,
        "measure": which.measure,
        "statistic": which.statistic,
        "target": which.targets.get(which.measure),
        "judged_on": evaluation_words(which.judged_on),
        "draws": draws,
    }
    return plain(schema.ExportedUtility(**shown))


def utility_from_recipe(raw: object, left_out: list[str]) -> UtilitySettings:
    """Read a view stored with exported curves; `left_out` gets unreadable fields.

    Where curves were judged on a file that is not named, synthetic people take its place: falling
    back on the map's own check-ins would view them without a request.
    """
    stored = read_fields(raw, schema.ExportedUtility, "which", left_out)
    judged_on = JUDGED_ON.get(stored.judged_on)
    if judged_on is None:
        left_out.append(
            "which.judged_on: the file that stood in is not named in exports; synthetic people "
            "are judged on instead, choose the file again"
        )
    targets: dict[str, float] = {} if stored.target is None else {stored.measure: stored.target}
    return UtilitySettings(
        True,
        stored.axis,
        stored.measure,
        stored.statistic,
        MappingProxyType(targets),
        "sample" if judged_on is None else judged_on,
    )
