"""Walks through every study of the catalog: all quantities, axes and ends of parameters.

The README's command asks each quantity once, at three points. The walks through whole ranges are
marked full; studies whose ranges need more than a row of `WALKS` have tests of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pytest

from explorer.studies.base.study import Value, parameter
from explorer.studies.registry import get_study, study_infos
from tests.studies import walking
from tests.studies.context import Context

Values = Mapping[str, Value]


@dataclass(frozen=True)
class Walk:
    """How a study is walked through.

    Attributes
    ----------
    axes : tuple of mappings
        Values under which each quantity is asked over each of its axes.
    axis_points : int
        Number of points of an axis.
    parameters : tuple of mappings
        Values under which each parameter is set to both ends; none where the study's own tests do.
    guaranteed : bool
        Whether every answer states a guarantee.
    """

    axes: tuple[Values, ...] = ({},)
    axis_points: int = 11
    parameters: tuple[Values, ...] = ()
    guaranteed: bool = False


CHANNELS: tuple[Values, ...] = tuple({"mechanism": m} for m in ("table", "example2", "m_mean"))
MODELS: tuple[Values, ...] = ({"model": "central"}, {"model": "local"})
CLUSTERED: Values = {"space": "clustered"}
WALKS = {
    "choose-alpha": Walk(
        axes=({"space": "sphere"}, {"space": "discrete"}), parameters=({"requirements": "4"},)
    ),
    "coordinate-learnt": Walk(axes=CHANNELS, parameters=CHANNELS),
    "coordinate-mean": Walk(
        axes=({"profile": "two"}, {"profile": "linear", "d": 4}),
        axis_points=3,
        parameters=({"projected": True, "d": 4, "trials": 2, "audit_runs": 1000},),
    ),
    "frequency": Walk(
        axes=tuple({**m, **CLUSTERED} for m in MODELS),
        axis_points=5,
        parameters=tuple({**m, "m": 100, "n": 50, "trials": 2, "audit_runs": 1000} for m in MODELS),
    ),
    "heatmap-theory": Walk(guaranteed=True, parameters=({"trials": 2, "audit_runs": 1000},)),
    "itemwise": Walk(
        axes=MODELS, axis_points=5, parameters=({"m": 100, "n": 200, "audit_runs": 1000},)
    ),
    "linear-queries": Walk(
        axes=tuple({**m, "query": "landmarks"} for m in MODELS),
        axis_points=5,
        parameters=({"query": "landmarks", "audit_runs": 1000},),
    ),
    "unbounded": Walk(parameters=({},)),
    "users-data": Walk(parameters=({"audit_runs": 1000},)),
}
QUICK: Mapping[str, Values] = {
    "cldp-sgd": {"n": 400, "k": 100, "epochs": 1, "runs": 2},
    "frequency": {"m": 100, "n": 50, "trials": 2},
    "heatmap-theory": {"trials": 2},
    "private-regression": {"n": 1000, "trials": 2},
}
"""Values with which simulations are short."""
REPEATED = ("trials", "audit_runs", "audited", "s")
"""Parameters that matter where something is repeated, which takes minutes at their ends."""
ON_A_SPACE = ("frequency", "itemwise", "users-data")
"""Studies whose spaces are those of linear-queries, which walks through what describes them."""
CURVES = [info.id for info in study_infos() if info.workspace == "bounds"]
CURVES.remove("shuffle-rdp")  # every axis of it: `test_shuffle_accountant`
SLOW = ("histograms", "private-regression")
"""Studies that take more than three seconds for three points of every quantity."""


@cache
def context(study_id: str) -> Context:
    """Return a context shared by walks through a study, with what they have computed."""
    return Context()


@pytest.mark.parametrize(
    "study_id",
    [pytest.param(key, marks=[pytest.mark.full] * (key in SLOW)) for key in CURVES],
)
def test_every_quantity_at_three_points(study_id: str) -> None:
    study = get_study(study_id)
    for what in study.quantities:
        walking.walk_axis(study, what.key, what.sweeps[0], 3, **QUICK.get(study_id, {}))


@pytest.mark.full
@pytest.mark.parametrize("study_id", WALKS)
def test_every_axis_over_its_whole_range(study_id: str) -> None:
    study, walk = get_study(study_id), WALKS[study_id]
    for values in walk.axes:
        for what, key in walking.axis_pairs(study):
            needed = {**values, **walking.needed(study, parameter(study, key))}
            result = walking.walk_axis(
                study, what, key, walk.axis_points, context(study_id), **needed
            )
            assert result.guarantee is not None or not walk.guaranteed, (what, key)


@pytest.mark.full
@pytest.mark.parametrize("study_id", [key for key, walk in WALKS.items() if walk.parameters])
def test_every_parameter_to_both_ends(study_id: str) -> None:
    study = get_study(study_id)
    for values in WALKS[study_id].parameters:
        for p in study.parameters:
            described = study_id in ON_A_SPACE and p.key.startswith("space_")
            if not p.axis_only and not described:
                needed = {} if p.key in REPEATED else walking.needed(study, p)
                given = {**values, **needed}
                given.pop(p.key, None)
                walking.walk_parameter(study, p.key, context=context(study_id), **given)


@pytest.mark.parametrize("study_id", WALKS)
def test_help_presets_and_parameters_agree(study_id: str) -> None:
    walking.check_page(get_study(study_id))


def test_the_table_names_studies_and_their_parameters() -> None:
    for study_id, walk in WALKS.items():
        study = get_study(study_id)
        for values in (*walk.axes, *walk.parameters):
            for key, value in values.items():
                assert parameter(study, key).parse(value) == value
