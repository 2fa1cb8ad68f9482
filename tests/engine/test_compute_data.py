"""Open check-ins in the compute process: by the folder they are kept in, never by their rows."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.generate_checkins import main as generate
from explorer.checkins import CheckinData, Mapping, layout, open_checkins
from explorer.checkins.data import StoredData
from explorer.engine.compute.client import ComputeClient
from explorer.engine.compute_tasks import DataQuestion, ask_data
from explorer.engine.runtime import StudyRuntime, final_result, first_result
from explorer.geography.region import Region
from explorer.studies.base.study import Request, Result, Selection, default_request
from explorer.studies.registry import get_study
from tests.waiting import wait_until

ROWS = 4000


def nothing() -> None:
    """Never cancel."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "made.txt"
    generate(["--users", "60", "--rows", str(ROWS), "--seed", "3", str(path)])
    return path


@pytest.fixture
def client(host: StudyRuntime) -> Iterator[ComputeClient]:
    client = ComputeClient(host)
    yield client
    client.close()


def request_for(data: CheckinData, **values: Any) -> Request:
    selection = Selection(data.fingerprint, Region(35.0, -125.0, 45.0, 0.0))
    asked = default_request(get_study("heatmap"), **{"resolution": "32", **values})
    return replace(asked, selection=selection)


def assert_same(here: Result, there: Result) -> None:
    assert [s.key for s in here.surfaces] == [s.key for s in there.surfaces]
    for ours, theirs in zip(here.surfaces, there.surfaces, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)
    assert here.readouts == there.readouts


@pytest.mark.full
@pytest.mark.parametrize("kept", [True, False])
def test_the_map_is_the_one_of_the_command_line_also_after_a_kill(
    host: StudyRuntime, client: ComputeClient, path: Path, tmp_path: Path, kept: bool
) -> None:
    data = open_checkins(path, cache_dir=tmp_path / "cache", use_cache=kept)
    host.add_data(data)
    request = request_for(data, resolution="16")
    here = final_result(host, request)
    assert_same(here, client.call(final_result, (request,), nothing))
    first = client.pid
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: client.pid is None)
    assert_same(here, client.call(final_result, (request,), nothing))
    assert client.pid != first


def test_only_names_of_places_travel(host: StudyRuntime, path: Path) -> None:
    data = open_checkins(path, cache_dir=None)
    host.add_data(data)
    (stored,) = host.stored_data().values()
    assert len(pickle.dumps(stored)) < 1000 < data.rows


def test_data_removed_here_are_closed_there(
    host: StudyRuntime, client: ComputeClient, path: Path, tmp_path: Path
) -> None:
    data = open_checkins(path, cache_dir=tmp_path / "cache")
    host.add_data(data)
    box = data.extent
    question = DataQuestion(data.fingerprint, "density", (box, 8, 8))
    counts = client.call(ask_data, (question,), nothing)
    assert counts.sum() == data.rows == ROWS
    np.testing.assert_array_equal(counts, data.density(box, 8, 8))
    host.remove_data(data)
    with pytest.raises(LookupError, match="not open"):
        client.call(ask_data, (question,), nothing)


def test_the_same_file_read_otherwise_is_answered_anew(
    host: StudyRuntime, client: ComputeClient, tmp_path: Path
) -> None:
    path = tmp_path / "two.csv"
    rng = np.random.default_rng(1)
    rows = zip(rng.integers(0, 20, 300), *rng.random((4, 300)), strict=True)
    path.write_text(
        "user,lat,lon,lat2,lon2\n" + "".join(f"{','.join(map(str, r))}\n" for r in rows)
    )
    found = []
    for lat in (1, 3):
        data = open_checkins(
            path, Mapping(user=0, lat=lat, lon=lat + 1), cache_dir=tmp_path / "cache"
        )
        host.add_data(data)
        request = replace(
            request_for(data), selection=Selection(data.fingerprint, Region(0.0, 0.0, 1.0, 1.0))
        )
        here = first_result(host, request)
        there = client.call(first_result, (request,), nothing)
        np.testing.assert_array_equal(here.surface("true").values, there.surface("true").values)
        found.append(there.surface("true").values)
    assert not np.array_equal(*found)


def test_what_was_computed_of_other_rows_is_not_remembered(
    host: StudyRuntime, path: Path, tmp_path: Path
) -> None:
    data = open_checkins(path, cache_dir=tmp_path / "cache")
    host.add_data(data)
    request = request_for(data)
    late, before = first_result(host, request), host.epoch
    again = open_checkins(path, cache_dir=tmp_path / "cache", use_cache=False)
    host.remove_data(data)  # a window opens another file in between, or does not
    host.add_data(again)
    host.remove_data(data)  # late: it is not the one that is open
    assert host.data(data.fingerprint) is again
    host.cache_result(replace(late, complete=True), before)
    assert host.cached("key", lambda: "old", before) == "old"
    assert host.cached_result(request) is None
    assert host.cached("key", lambda: "new") == "new"


def test_the_first_result_is_of_all_users(
    host: StudyRuntime, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = open_checkins(path, cache_dir=tmp_path / "cache")
    host.add_data(data)
    monkeypatch.setattr(layout, "SLOW_S", 0.0)
    monkeypatch.setattr(data._row_cache, "seconds_a_row", 1.0)
    request = request_for(data)
    assert next(host.fresh_answer(request, nothing)).early
    assert not first_result(host, replace(request, seed=1)).early


def test_an_entry_opened_by_name_stays_when_it_is_closed(path: Path) -> None:
    data = open_checkins(path, cache_dir=None)
    with StoredData.of(data).open() as other:
        assert (other.rows, other.users, other.extent) == (data.rows, data.users, data.extent)
    assert data.folder.exists()
    folder = data.folder
    data.close()
    assert not folder.exists()


def _environment_of(_runtime: StudyRuntime, names: tuple[str, ...], _check: object) -> list[str]:
    from threadpoolctl import threadpool_info

    blas = [
        f"{lib['num_threads']} threads" for lib in threadpool_info() if lib["user_api"] == "blas"
    ]
    return [os.environ.get(name, "") for name in names] + blas


def test_one_blas_thread_whatever_this_process_has(
    client: ComputeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    names = ("OPENBLAS_NUM_THREADS", "NUMBA_CACHE_DIR")
    threads, compiled, *blas = client.call(_environment_of, (names,), nothing)
    assert threads == "1"
    assert compiled
    assert blas
    assert set(blas) == {"1 threads"}
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


def _count_up(_runtime: StudyRuntime, until: int, check: Any, report: Any) -> int:
    for i in range(until):
        check()
        report(i)
    return until


def test_a_call_reports_how_far_it_is(client: ComputeClient) -> None:
    said: list[int] = []
    assert client.call(_count_up, (50,), nothing, said.append) == 50
    assert said == list(range(50))
