"""What is answered of data sets larger than memory, step by step, and with whom it is counted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import layout, open_checkins
from explorer.checkins.region_query import query_region
from explorer.engine.computing import Computing
from explorer.engine.executors.cluster import CERTIFICATES, Cluster
from explorer.engine.large_import import open_any_size
from explorer.engine.runtime import StudyRuntime
from explorer.geography.region import Region
from explorer.studies.base.study import Fidelity, Selection, default_request
from explorer.studies.heatmap import run
from explorer.studies.heatmap.text import EARLY
from explorer.studies.registry import get_study
from tests import snapshots
from tests.engine.test_large_import import ASKED, CITY, SMALL, counted, made_folder

pytestmark = pytest.mark.full


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_folder(tmp_path / "x[1]'s", rows=1500)


def test_the_first_shards_users_are_drawn_first_and_said_to_be_few(
    host: StudyRuntime, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = open_any_size(folder, cache_dir=None, **{**SMALL, "memory": 500_000_000})
    host.add_data(data)
    request = replace(
        default_request(get_study("heatmap"), resolution="32"),
        selection=Selection(data.fingerprint, Region(*CITY)),
        fidelity=Fidelity.COARSE,
    )
    monkeypatch.setattr(layout, "SLOW_S", 1e-6)
    early, *others = host.fresh_answer(request, lambda: None)
    share = len(data.shards[0].users) / data.users
    assert 0 < share < 0.5
    for surface in early.surfaces:
        said = surface.label.rpartition(", ")[2]
        assert said.endswith(" % of users")
        assert float(said.removesuffix(" % of users")) == pytest.approx(100 * share, rel=0.05)
    assert early.notes == (EARLY,)
    assert not early.complete
    assert all(readout.value is None for readout in early.readouts)
    exact = others[-1].surface("true")
    assert "of users" not in exact.label
    assert not np.array_equal(early.surface("true").values, exact.values)
    # counted once, they are not sampled again; and samples are never drawn of fewer
    assert data._row_cache.seconds_a_row > 0
    again = next(iter(host.fresh_answer(request.with_value("epsilon", 2.0), lambda: None)))
    assert "of users" not in again.surface("true").label
    assert data.points(CITY).preview_selection() is not None
    assert data.points(CITY, users=5).preview_selection() is None


def test_contributions_and_what_stands_beside_are_those_of_memory(folder: Path) -> None:
    small = {**SMALL, "memory": 500_000_000}
    found = []
    for data in (
        open_checkins(folder, cache_dir=None),
        open_any_size(folder, cache_dir=None, **small),
        query_region(folder, CITY, fingerprint=True),
    ):
        host = StudyRuntime()
        try:
            host.add_data(data)
            for weights in ("checkins", "cells", "one-cell"):
                asked = {"weights": weights, "cap": 3, "beside": "true,shuffled-cells"}
                request = replace(
                    default_request(get_study("heatmap"), resolution="32", **asked),
                    selection=Selection(data.fingerprint, Region(*CITY)),
                    fidelity=Fidelity.COARSE,
                )
                *_, result = host.fresh_answer(request, lambda: None)
                found.append([surface.values for surface in result.surfaces])
        finally:
            host.close()
    for others in (found[3:6], found[6:]):
        for there, here in zip(others, found[:3], strict=True):
            np.testing.assert_array_equal(there, here)


def _refused(*_: object) -> None:
    raise AssertionError("no process of this machine's own is to be used")


def test_a_cluster_sorts_it_and_counts_the_shards_to_the_same_whole_numbers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ELSEWHERE_S", 0.0)
    counted_here = run.counted_rows
    calls: list[int] = []

    def noted(parts: Any, *others: Any) -> Any:
        calls.append(len(parts))
        return counted_here(parts, *others)

    monkeypatch.setattr(run, "counted_rows", noted)

    def found(cluster: Cluster | None, **opening: Any) -> list[Any]:
        host = StudyRuntime()
        try:
            host.computing.use(cluster)
            if cluster:
                opening["executor"] = partial(host.computing.for_import, check=lambda: None)
            with open_any_size(folder, **opening, **SMALL) as data:
                answers: list[Any] = [counted(data, **asked) for asked in ASKED]
                answers.append(replace(data.report, seconds=0))
                host.add_data(data)
                for end in (None, "2010-01-09T00:00:00Z"):
                    asks = replace(
                        default_request(get_study("heatmap"), resolution="32"),
                        selection=Selection(data.fingerprint, Region(*CITY), end=end),
                        fidelity=Fidelity.COARSE,
                    )
                    *_, answer = host.fresh_answer(asks, lambda: None)
                    users = {r.key: r.value for r in answer.readouts if r.key.startswith("users")}
                    answers.append((answer.surface("true").values.tolist(), users))
            if cluster:  # it stays for what comes next
                assert host.computing.connect(lambda: None).workers == 2
            return answers
        finally:
            host.close()

    here = found(None, cache_dir=None)
    assert calls == [4, 4]
    monkeypatch.setattr("explorer.engine.large_import.EmbeddedExecutor", _refused)
    assert found(Cluster("local:2"), cache_dir=tmp_path / "cache") == here
    assert calls == [4, 4]  # not counted here again
    monkeypatch.setattr(Cluster, "takes_data", False)
    computing = Computing()
    computing.use(Cluster("local:1"))
    assert computing.for_shards([folder], lambda: None) is None


def test_machines_that_do_not_see_the_files_are_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in CERTIFICATES:
        (tmp_path / name).touch()
    far = Cluster("tls://10.0.0.1:1", str(tmp_path), str(shared))
    far.check_seen([shared / "a.csv", shared])
    with pytest.raises(ValueError, match="do not see") as error:
        far.check_seen([shared / "a.csv", tmp_path / "elsewhere"])
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="do not see"):
        replace(far, shared_folder="").check_seen([shared])
    Cluster("local:1").check_seen([tmp_path])
    computing = Computing()
    computing.use(far)  # check-ins may not go there: they are sorted here
    assert computing.for_import([tmp_path], lambda: None) is None
