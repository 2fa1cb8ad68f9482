"""Public priors of maps: cities, check-ins and grids on the map's cells, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.checkins import open_checkins
from explorer.geography.cities import shipped_cities
from explorer.geography.density_grid import ReleasedGrid, grid_on_region
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion, Region
from explorer.privacy.core.bound import Role
from explorer.release.priors import MOST_EPSILON as RULE_OF_LEDGERS
from explorer.studies.base.study import default_request, parameter
from explorer.studies.heatmap.experiments.plan import Point, rows_of
from explorer.studies.heatmap.experiments.samples import CheckinSource, open_prior, place_of
from explorer.studies.heatmap.experiments.trial import run_trial, task_of
from explorer.studies.heatmap.guarantee import replacement
from explorer.studies.heatmap.mechanisms import (
    MOST_EPSILON,
    PRIORS,
    EarlierRelease,
    recommend,
)
from explorer.studies.heatmap.priors import priors_of
from explorer.studies.heatmap.public import PRIOR_WEIGHT
from explorer.studies.heatmap.study import HeatmapStudy
from tests.studies.context import Context
from tests.studies.test_heatmap import REGION, FakeContext, FakeData, answers, request_for

NOTHING = dict.fromkeys(PRIORS, "")
NEW_YORK = Region(40.4, -74.4, 41.0, -73.6)


@pytest.fixture
def data(tmp_path: Path) -> Any:
    """Check-ins of 30 users near one place, three each."""
    rng = np.random.default_rng(0)
    rows = (
        f"{user},2010-01-01T00:00:00Z,{40.7 + rng.normal(0, 0.02):.6f},"
        f"{-74 + rng.normal(0, 0.02):.6f}\n"
        for user in range(100, 130)
        for _ in range(3)
    )
    path = tmp_path / "other.csv"
    path.write_text("user,time,lat,lon\n" + "".join(rows))
    with open_checkins(path, cache_dir=None) as opened:
        yield opened


def masses_of(key: str, value: Any, region: Region = REGION, level: int = 5, **more: Any):
    (prior,) = priors_of(
        {**NOTHING, key: value}, region, level, more.pop("sources", Context()), **more
    )
    return prior.masses


def test_people_of_cities_lie_around_them() -> None:
    masses = masses_of("prior_cities", True, NEW_YORK)
    cities = shipped_cities()
    inside = (cities.lat > 40.4) & (cities.lat < 41.0) & (cities.lon > -74.4) & (cities.lon < -73.6)
    assert masses.sum() == pytest.approx(cities.population[inside].sum())
    assert masses.min() > 0
    row, column = np.unravel_index(masses.argmax(), masses.shape)
    south, west, north, east = NEW_YORK.box
    assert south + (row + 0.5) * (north - south) / 32 == pytest.approx(40.71, abs=0.08)
    assert west + (column + 0.5) * (east - west) / 32 == pytest.approx(-73.98, abs=0.1)


def test_a_far_city_is_spread_by_half_a_cell_at_least() -> None:
    """On a map of half the world 12 km are less than a cell."""
    masses = masses_of("prior_cities", True, Region(-60, -100, 70, 60), 4)
    plain = shipped_cities().population_on((-60, -100, 70, 60), 16)
    assert masses.sum() == pytest.approx(plain.sum())
    assert np.count_nonzero(masses > 1) > np.count_nonzero(plain)


def test_users_of_a_file_weigh_1_each(data: Any) -> None:
    sources = Context()
    sources.opened["other.csv#1"] = data
    masses = masses_of("prior_checkins", "other.csv#1", sources=sources)
    assert masses.sum() == pytest.approx(30)
    for own in (data.fingerprint, f"{data.fingerprint}-row"):
        with pytest.raises(ValueError, match=r"^other\.csv holds"):
            masses_of("prior_checkins", "other.csv#1", sources=sources, data=own)
    with pytest.raises(ValueError, match=r"other\.csv has"):
        masses_of("prior_checkins", "other.csv#1", Region(10, 10, 11, 11), sources=sources)


def test_a_grid_is_read_from_an_open_file(tmp_path: Path) -> None:
    south, west, north, east = REGION.box
    path, sources = tmp_path / "people.csv", Context()
    rows = [
        (
            south + (i + 0.5) * (north - south) / 4,
            west + (j + 0.5) * (east - west) / 4,
            1 + i + 4 * j,
        )
        for i in range(4)
        for j in range(4)
    ]
    path.write_text("lat,lon,value\n" + "".join(f"{a!r},{b!r},{v}\n" for a, b, v in rows))
    value = sources.add_file(path)
    masses = masses_of("prior_grid", value, level=2, sources=sources)
    np.testing.assert_allclose(masses, [[1 + i + 4 * j for j in range(4)] for i in range(4)])
    with pytest.raises(LookupError):
        masses_of("prior_grid", "elsewhere.csv#" + "0" * 64, sources=sources)


def test_priors_are_of_the_earth() -> None:
    plane = PlaneRegion.whole(Plane.parse("320x240"))
    assert priors_of({**NOTHING, "prior_cities": True}, plane, 4, Context()) == ()
    with pytest.raises(ValueError, match=r"^prior_grid: p\.csv"):
        priors_of({**NOTHING, "prior_grid": "p.csv#1"}, plane, 4, Context())
    with pytest.raises(ValueError, match="no city"):
        masses_of("prior_cities", True, Region(-50, -140, -40, -130))


def map_of(**values: Any):
    request = request_for(epsilon=0.5, **values)
    return answers(request, FakeContext(FakeData()))[-1]


def test_interpolation_is_the_map_without_a_prior() -> None:
    without = map_of(mechanism="adaptive-prior", prior_cities=False)
    interpolated = map_of(mechanism="adaptive", smoothing="interpolation")
    average = map_of(mechanism="adaptive")
    values = [r.surface("private").values for r in (without, interpolated, average)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.allclose(values[1], values[2])
    assert "prior_weight" not in {r.key for r in without.readouts}


def test_the_weight_of_the_prior_is_told_as_made_of_noise() -> None:
    result = map_of(mechanism="adaptive-prior")
    weight = result.readout("prior_weight")
    assert 0 <= weight.value <= 1
    assert not weight.curator_only
    public = HeatmapStudy().public_result(result)
    assert public.readout("prior_weight").value == weight.value
    levels = {r.key: r for r in public.readouts if r.key.startswith(PRIOR_WEIGHT)}
    assert len(levels) >= 2
    assert list(levels.values())[-1].value == weight.value
    assert {r.role for r in levels.values()} == {Role.ESTIMATE}
    assert all(0 <= r.value <= 1 and not r.curator_only for r in levels.values())


def test_what_is_read_does_not_depend_on_the_prior() -> None:
    """The same noisy counts, cells and ε of levels, whatever the prior."""
    results = [
        map_of(mechanism="adaptive-prior"),
        map_of(mechanism="adaptive-prior", prior_cities=False),
        map_of(mechanism="adaptive"),
    ]
    read = ("cells_read", "noisy_users", "flatness")
    found = [[r.readout(key).value for key in read] for r in results]
    assert found[0] == found[1] == found[2]
    sentences = {r.guarantee.add_remove for r in results}
    assert len(sentences) == 1


def released(sources: Context, folder: Path, own: str = "1", total: str = "1") -> str:
    """Open the map of a release whose north-eastern quarter holds everybody."""
    masses = np.zeros((2, 2))
    masses[1, 1] = 5.0
    earlier = EarlierRelease("ab" * 16, Fraction(own), Fraction(total))
    assert EarlierRelease.parse(earlier.name) == earlier
    (path := folder / earlier.name).write_bytes(ReleasedGrid(REGION.box, masses).to_bytes())
    return sources.add_file(path)


def test_an_earlier_release_completes_maps_of_at_most_twice_its_epsilon(tmp_path: Path) -> None:
    sources = Context()
    value = released(sources, tmp_path, "1/10")
    values = {**NOTHING, "prior_release": value}
    (prior,) = priors_of({**values, "epsilon": 0.2}, REGION, 2, sources)
    np.testing.assert_allclose(prior.masses, np.kron([[0, 0], [0, 5.0]], np.full((2, 2), 0.25)))
    assert priors_of({**values, "epsilon": np.nextafter(0.2, 1)}, REGION, 2, sources) == ()
    assert MOST_EPSILON == RULE_OF_LEDGERS
    for name in ("people.csv", "release 12, ε 1.released", f"release {'ab' * 16}, ε 1/2.released"):
        with pytest.raises(ValueError, match=r"^prior_release: "):
            EarlierRelease.parse(name)


def test_the_map_promises_the_sum_of_its_epsilon_and_that_of_earlier_releases(
    tmp_path: Path,
) -> None:
    files, context = Context(), FakeContext(FakeData())
    value = released(files, tmp_path, "1/3", "4/3")
    context.file = files.files.__getitem__  # type: ignore[attr-defined]
    how = {"mechanism": "adaptive-prior", "prior_cities": False, "prior_release": value}
    results = {
        epsilon: answers(request_for(epsilon=epsilon, **how), context)[-1]
        for epsilon in (0.5, 0.75)
    }
    with_it, without = (result.guarantee for result in results.values())
    assert Fraction(with_it.pairs[0][0]) >= Fraction(1, 2) + Fraction(4, 3)
    assert with_it.pairs[0][0] == pytest.approx(0.5 + 4 / 3, rel=1e-15)
    assert with_it.add_remove.startswith("1.834-DP")
    assert with_it.replace_one.startswith("3.667-DP")
    assert without.pairs == ((0.75, 0.0),)
    weights = [any(r.key == "prior_weight" for r in one.readouts) for one in results.values()]
    assert weights == [True, False]
    public = HeatmapStudy().public_result(results[0.5])
    assert public.guarantee.pairs == with_it.pairs
    assert public.request["prior_release"] == value
    of_rows = replace(results[0.5].request.selection, users=5)
    sampled = replace(results[0.5].request, selection=of_rows)
    with pytest.raises(ValueError, match=r"^prior_release: "):
        answers(sampled, context)
    assert replacement(results[0.5].request) == "2(ε + 1.334)"


def test_several_files_of_a_kind_are_weighed_together(tmp_path: Path) -> None:
    sources = Context()
    south, west, north, east = REGION.box
    values = []
    for number in (1, 2):
        path = tmp_path / f"{number}.csv"
        path.write_text(
            "lat,lon,value\n"
            + "".join(
                f"{south + (i + 0.5) * (north - south) / 2},{west + (j + 0.5) * (east - west) / 2},"
                f"{number * (1 + i + 2 * j)}\n"
                for i in range(2)
                for j in range(2)
            )
        )
        values.append(sources.add_file(path))
    both = {**NOTHING, "prior_grid": "/".join(values)}
    masses = [prior.masses.sum() for prior in priors_of(both, REGION, 1, sources)]
    assert masses == pytest.approx([10, 20])
    grid = parameter(HeatmapStudy(), "prior_grid")
    assert grid.parse("/".join(values)) == both["prior_grid"]
    assert grid.parse("/".join([values[0], *values])) == both["prior_grid"]
    assert parameter(HeatmapStudy(), "prior_grid").parse(values[0]) == values[0]
    for wrong in ("/".join((values[0], "x.csv")), "/", f"/{values[0]}", f"{values[0]}/"):
        with pytest.raises(ValueError, match=r"^prior_grid: "):
            grid.parse(wrong)
    with pytest.raises(ValueError, match=r"^prior_grid: 5 files"):
        grid.parse("/".join(f"{k}.csv#{'0' * 64}" for k in range(5)))


def test_a_damaged_file_of_a_release_is_refused(tmp_path: Path) -> None:
    whole = ReleasedGrid(REGION.box, np.ones((2, 2))).to_bytes()
    np.testing.assert_array_equal(
        ReleasedGrid.read(_written(tmp_path, whole)).values, np.ones((2, 2))
    )
    negative = ReleasedGrid(REGION.box, -np.ones((2, 2))).to_bytes()
    longer = whole.replace(b'"shape":[2,2]', b'"shape":[4,4]')
    large = whole.replace(b'"shape":[2,2]', b'"shape":[60000,60000]')
    for damaged in (b"", b"{}", b"[1]", whole[:-9], negative, longer, large):
        with pytest.raises(ValueError, match=r"^map\.released"):
            ReleasedGrid.read(_written(tmp_path, damaged))
    with pytest.raises(ValueError, match=r"^map\.released"):
        grid_on_region(_written(tmp_path, whole), REGION.box, 4)  # its ε would not count


def _written(folder: Path, data: bytes) -> Path:
    (path := folder / "map.released").write_bytes(data)
    return path


def test_rows_of_experiments_take_their_priors_along(data: Any, tmp_path: Path) -> None:
    values = {"mechanism": "adaptive-prior", "epsilon": 1.0, "resolution": "32"}
    point = Point(place_of(REGION), CheckinSource(data), 20, values, 2)
    (row,) = rows_of([point], 0, tmp_path, Context(), ("emd",))
    (digest,) = row.trials[0]["priors"]
    np.testing.assert_array_equal(
        open_prior(str(tmp_path), digest).masses, masses_of("prior_cities", True)
    )
    assert run_trial(task_of(row.trials[0], tmp_path))["emd"] > 0
    plain = replace(point, values={**values, "mechanism": "adaptive"})
    (other,) = rows_of([plain], 0, tmp_path, Context(), ("emd",))
    assert "priors" not in other.trials[0]


def test_default_is_cities_alone() -> None:
    values = dict(default_request(HeatmapStudy()).values)
    assert [values[key] for key in PRIORS] == [True, "", "", ""]


@pytest.mark.parametrize(
    ("values", "recommended"),
    [
        ({}, "adaptive"),
        ({"prior_checkins": "a.csv#" + "0" * 64}, "adaptive-prior"),
        ({"prior_checkins": "a.csv#" + "0" * 64, "epsilon": 20.0, "n0": 500}, "adaptive"),
        ({"prior_grid": "a.csv#" + "0" * 64, "mechanism": "pyramid"}, "adaptive-prior"),
        ({"mechanism": "adaptive-prior", "epsilon": 20.0, "n0": 500}, "adaptive-prior"),
        ({"mechanism": "adaptive-prior", "prior_cities": False}, "adaptive"),
    ],
)
def test_a_prior_is_recommended_by_public_numbers(values, recommended) -> None:
    assert recommend(default_request(HeatmapStudy(), **values)).value == recommended
