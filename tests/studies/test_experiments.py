"""Experiments: trials run what the map runs, and draws are summed up as they should be."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.geography.region import Region
from explorer.privacy.heatmaps import CellCounts, Smoothing
from explorer.studies.base.simulation import mean_interval, student_95
from explorer.studies.base.study import Fidelity
from explorer.studies.heatmap.experiments.figures import (
    EITHER,
    FIGURES,
    figure_points,
    mechanisms_of_paper,
    quality_points,
    synthetic_sources,
)
from explorer.studies.heatmap.experiments.plan import (
    QUANTILES,
    Point,
    Row,
    Trials,
    differences,
    digest,
    rows_of,
    summarise,
)
from explorer.studies.heatmap.experiments.samples import (
    CheckinSource,
    Gazes,
    Mixtures,
    Place,
    Sample,
    open_sample,
    place_of,
    write_prior,
    write_sample,
)
from explorer.studies.heatmap.experiments.trial import (
    MEASURES,
    make_trial,
    noise_seed,
    run_trial,
    task_of,
)
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap.priors import priors_of
from tests.studies.context import Context
from tests.studies.test_heatmap import REGION, FakeContext, FakeData, answers, request_for


def key_of(trial: dict[str, Any]) -> str:
    return json.dumps(trial, sort_keys=True)


class Checkins:
    """The map tests' check-ins, asked as an open file is."""

    basename, fingerprint, unit = "made.txt", "f" * 64, "user"

    def points(self, box: Any, users: Any = None, data_seed: int = 0, check: Any = None) -> Any:
        return FakeData().points(box, None, None, users, data_seed, None, check)


@pytest.fixture
def source() -> CheckinSource:
    return CheckinSource(Checkins())


def trial_for(**changed: Any) -> dict[str, Any]:
    asked = {
        "data": "f" * 64,
        "region": "0,0,1,1",
        "counts": "c" * 64,
        "sides_km": (2.0, 3.0),
        "draw": 0,
        "seed": 0,
        "values": {"mechanism": "pyramid", "epsilon": 1.0},
    }
    return make_trial(**(asked | changed))


# Statistics, against values by hand.


def test_intervals_of_the_mean_by_hand() -> None:
    found = summarise([[1.0, 2.0, 3.0], [2.0, 4.0, 9.0]])
    assert found is not None
    assert (found.mean, found.draws, found.of_regions) == (3.5, 3, 2)
    # Variances 1 and 13 over 3 draws: √(1/3 + 13/3)/2 = 1.080123 times t of 2.3058 degrees of
    # freedom, (14/3)²/((1/3)²/2 + (13/3)²/2).
    half = 1.0801234 * student_95(2.3058824)
    assert found.noise == pytest.approx((3.5 - half, 3.5 + half))
    # Means 2 and 5: s.d. 2.12132, over √2 it is 1.5, times 12.7062 (one degree of freedom).
    assert found.regions == pytest.approx((3.5 - 19.0593, 3.5 + 19.0593), rel=1e-5)
    # Medians 2 and 4; a tenth: 1.2 and 2.4; nine tenths: 2.8 and 8.
    by_q = dict(zip(QUANTILES, found.quantiles, strict=True))
    assert (by_q[0.1], by_q[0.5], by_q[0.9]) == pytest.approx((1.8, 3.0, 5.4))
    assert (by_q[0.05], by_q[0.95]) == pytest.approx((1.65, 5.7))


def test_students_law_by_the_printed_table() -> None:
    assert [round(student_95(d), 3) for d in (1, 2, 8, 30)] == [12.706, 4.303, 2.306, 2.042]


@pytest.mark.parametrize("draws", [2, 3, 5, 10])
def test_intervals_of_few_draws_hold_the_mean_as_often_as_they_say(draws: int) -> None:
    """19,000 of 20,000, within 4.5 standard deviations: a false alarm in 150,000 runs."""
    rng = np.random.default_rng(27)
    _, low, high = mean_interval(rng.normal(size=(20_000, draws)))
    held = int(np.count_nonzero((low <= 0) & (high >= 0)))
    assert abs(held - 19_000) < 4.5 * math.sqrt(20_000 * 0.95 * 0.05)


def test_intervals_of_errors_are_not_negative() -> None:
    for least in (0.0, -1.0):
        found = summarise([[0.0, 1.0], [0.0, 9.0]], least)
        assert found is not None
        assert (found.noise[0], found.regions[0]) == (least, least)
    assert summarise([[2.0, 2.0], [4.0, 4.0]]).noise == (3.0, 3.0)


def test_intervals_that_there_are_not() -> None:
    one = summarise([[1.0, 2.0]])
    assert one is not None
    assert one.regions is None
    assert one.noise is not None
    single = summarise([[1.0], [3.0]])
    assert single is not None
    assert single.noise is None
    assert single.mean == 2.0


def test_what_is_no_number_is_left_out() -> None:
    found = summarise([[1.0, math.nan, 3.0], [math.nan]])
    assert found is not None
    assert (found.mean, found.draws, found.of_regions) == (2.0, 2, 1)
    assert summarise([[math.nan]]) is None
    assert summarise([]) is None


def test_paired_differences_cancel_what_draws_share() -> None:
    shared = np.array([[0.0, 5.0, -3.0], [10.0, 0.0, 2.0]])
    found = summarise(differences(shared + 2.0, shared))
    assert found is not None
    assert found.noise == pytest.approx((2.0, 2.0))
    assert found.regions == pytest.approx((2.0, 2.0))
    with pytest.raises(ValueError, match="draws"):
        differences([[1.0, 2.0]], [[1.0]])


def test_the_noise_interval_holds_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    regions = np.array([1.0, 4.0, 2.0, 9.0])
    held = 0
    for _ in range(1000):
        found = summarise(regions[:, None] + rng.standard_normal((4, 20)) * regions[:, None])
        assert found is not None
        assert found.noise is not None
        held += found.noise[0] <= 4.0 <= found.noise[1]
    assert 0.925 <= held / 1000 <= 0.975  # 3.6 standard deviations to either side


# Samples.


def test_a_sample_comes_back_from_its_file(source: CheckinSource, tmp_path: Path) -> None:
    sample = source.sample(place_of(REGION), 30, 5, 0)
    digest_kept = write_sample(sample, tmp_path)
    assert write_sample(sample, tmp_path) == digest_kept
    assert [path.name for path in tmp_path.iterdir()] == [f"{digest_kept}.npz"]
    again = open_sample(tmp_path, digest_kept)
    for name in ("counts", "votes"):
        part, was = getattr(again, name), getattr(sample, name)
        assert part.codes.tolist() == was.codes.tolist()
        assert part.masses.tolist() == was.masses.tolist()
        assert (part.level, part.users, part.rows) == (5, 30, was.rows)
    assert sample.votes.total == 30
    assert again.visits.level == 5
    for name in ("user", "codes", "visits"):
        assert getattr(again.visits, name).tolist() == getattr(sample.visits, name).tolist()


def test_changed_counts_are_refused(source: CheckinSource, tmp_path: Path) -> None:
    sample = source.sample(place_of(REGION), None, 5, 0)
    one, other = (
        write_sample(sample, tmp_path),
        write_sample(Sample(sample.votes, sample.votes, sample.visits), tmp_path),
    )
    assert one != other
    (tmp_path / f"{other}.npz").replace(tmp_path / f"{one}.npz")
    with pytest.raises(ValueError, match="changed"):
        open_sample(tmp_path, one)


def test_names_of_regions_have_as_many_decimals_as_count() -> None:
    assert place_of(Region(40.5, -74.25, 40.9, -73.7)).name == "40.5,-74.25,40.9,-73.7"
    assert place_of(Region(-0.1666667, -0.0, 10, 1e-7)).name == "-0.1666667,0,10,0.0000001"


# Trials.


def test_noise_is_shared_by_mechanisms_and_settings_and_by_nothing_else() -> None:
    seed = noise_seed(trial_for())
    for values in (
        {"mechanism": "laplace", "epsilon": 1.0},
        {"epsilon": 3.0},
        {"w": 5},
        {"resolution": "64"},
        {"sigma": 0.1},
    ):
        assert noise_seed(trial_for(values=values)) == seed
    assert noise_seed(trial_for(counts="d" * 64)) == seed  # another sample of users
    others = [
        noise_seed(trial_for(**{key: value}))
        for key, value in (("draw", 1), ("seed", 1), ("region", "0,0,1,2"), ("data", "a" * 64))
    ]
    assert len({seed, *others}) == 5
    assert 0 < seed < 2**128


def test_what_a_mechanism_does_not_read_is_no_part_of_its_trial() -> None:
    values = {"mechanism": "laplace", "epsilon": 1.0}
    assert trial_for(values={**values, "w": 5, "n0": 7}) == trial_for(values=values)
    pyramids = [trial_for(values={"mechanism": "pyramid", "w": w}) for w in (5, 6)]
    assert pyramids[0] != pyramids[1]
    trial = trial_for()
    assert json.loads(json.dumps(trial)) == trial
    with pytest.raises(ValueError, match="epsilon"):
        trial_for(values={"epsilon": -1.0})


@pytest.mark.full
@pytest.mark.parametrize("mechanism", [m.key for m in MECHANISMS.values() if m.comparable])
def test_a_trial_finds_what_the_map_shows(
    mechanism: str, source: CheckinSource, tmp_path: Path
) -> None:
    values = {"mechanism": mechanism, "epsilon": 2.0, "resolution": "64", "n0": 60}
    place = place_of(REGION)
    counts = write_sample(source.sample(place, 40, 6, 0), tmp_path)
    named = dict(request_for(**values).values)
    made = priors_of(named, REGION, 6, Context()) if "prior" in mechanism else ()
    priors = [write_prior(prior.masses, tmp_path) for prior in made]
    trial = trial_for(counts=counts, sides_km=place.sides_km, values=values, priors=priors)
    found = run_trial(task_of(trial, tmp_path))
    request = request_for(users=40, fidelity=Fidelity.FULL, seed=noise_seed(trial), **values)
    shown = answers(request, FakeContext(FakeData()))[-1]
    assert set(found) == set(MEASURES)
    for measure in MEASURES:
        assert found[measure] == pytest.approx(shown.readout(measure).value, rel=1e-9, abs=1e-12)
    if mechanism == "adaptive":  # alone, or after others that left something behind: the same
        run_trial(task_of(trial_for(counts=counts, draw=1, values=values), tmp_path))
        assert run_trial(task_of(trial, tmp_path)) == found


def test_a_trial_measures_what_is_asked_for(
    source: CheckinSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(*_: object) -> None:
        raise AssertionError("distances of block sums need no whole heatmap: it takes most of time")

    monkeypatch.setattr(Smoothing, "exact", whole)
    counts = write_sample(source.sample(place_of(REGION), 40, 5, 0), tmp_path)
    values = {"resolution": "32"}
    trial = trial_for(counts=counts, sides_km=None, values=values, measures=("emd", "emd_km"))
    found = run_trial(task_of(trial, tmp_path))
    assert list(found) == ["emd", "emd_km"]
    assert found["emd_km"] is None  # no kilometres where the plane is not the Earth
    with pytest.raises(ValueError, match="kind"):
        run_trial(task_of({**trial, "kind": "heatmap-trial/0"}, tmp_path))


def test_distances_are_of_64_blocks(source: CheckinSource, tmp_path: Path) -> None:
    counts = write_sample(source.sample(place_of(REGION), 40, 7, 0), tmp_path)
    trial = trial_for(counts=counts, values={"resolution": "128"})
    found = run_trial(task_of(trial, tmp_path))
    shown = answers(
        request_for(users=40, fidelity=Fidelity.FULL, seed=noise_seed(trial), resolution=128),
        FakeContext(FakeData()),
    )[-1]
    whole = shown.readout("emd").value
    assert found["similarity"] == shown.readout("similarity").value
    km = next(r.value for r in shown.readouts if r.key == "emd_blocks_km")
    wide, high = REGION.sides
    assert min(wide, high) <= km / found["emd"] <= max(wide, high)
    # Of the blocks, not of the cells: near but not the same, at most two half diagonals apart.
    assert 0 < abs(found["emd"] - whole) <= 2 * (1 / 64 - 1 / 128)


# Made data.


@pytest.mark.parametrize("share", [0.04, 0.15])
def test_mixtures_fill_their_share_with_as_few_points_as_can(share: float) -> None:
    mixtures = Mixtures(20, share, (0.02, 0.08))
    sample = mixtures.sample(Place("x"), 200, 8, 0)
    filled = len(sample.counts.codes) / 256**2
    each = sample.counts.rows // 200
    assert share <= filled < share + 200 / 256**2  # a point less a user would not do
    assert sample.counts.rows == 200 * each
    assert (sample.counts.users, sample.counts.total) == (200, pytest.approx(200))


def test_made_data_depend_on_what_they_are_called_and_the_number() -> None:
    def codes(mixtures: Mixtures, number: int = 0) -> bytes:
        return mixtures.sample(Place("x"), 20, 8, number).counts.codes.tobytes()

    mixtures = Mixtures(5, 0.01, (0.02, 0.08))
    assert codes(mixtures) == codes(replace(mixtures))
    others = [
        codes(mixtures, 1),
        codes(replace(mixtures, seed=1)),
        codes(replace(mixtures, components=6)),
    ]
    assert len({codes(mixtures), *others}) == 4
    with pytest.raises(ValueError, match="not all"):
        mixtures.sample(Place("x"), None, 8, 0)


def test_gazes_stay_in_their_picture() -> None:
    sample = Gazes().sample(Place("picture 0"), 50, 9, 0)
    row, column = sample.counts.cells
    assert row.max() < 240
    assert column.max() < 320
    assert (sample.counts.users, sample.counts.rows) == (50, 1000)


# Rows.


def small_rows(folder: Path, source: CheckinSource, draws: int = 3) -> list[Row]:
    places = [place_of(REGION), place_of(Region(40.5, -74.3, 40.9, -73.6))]
    axes = {"resolution": ["16"], "epsilon": [1.0, 4.0]}
    where = [(place, source) for place in places]
    points = quality_points(where, ("pyramid", "laplace"), (20, None), draws, axes, {})
    return list(rows_of(list(points), 0, folder, Context()))


def test_rows_have_what_the_draws_say(source: CheckinSource, tmp_path: Path) -> None:
    rows = small_rows(tmp_path, source)
    trials = Trials.of(rows, key_of)
    assert len(rows) == 2 * 2 * 2 * 2
    assert len(trials.by_key) == 3 * len(rows)
    found = {key: run_trial(task_of(trial, tmp_path)) for key, trial in trials.by_key.items()}
    report = trials.report(found)
    first = report["rows"][0]
    assert first["region"] == "40.5,-74.3,41,-73.6"
    assert (first["mechanism"], first["epsilon"], first["users"]) == ("pyramid", 1.0, 20)
    assert (first["draws"], first["users_asked"], first["resolution"]) == (3, 20, 16)
    emd = [found[key_of(trial)]["emd"] for trial in rows[0].trials]
    half = student_95(2) * np.std(emd, ddof=1) / math.sqrt(3)
    assert first["emd"] == pytest.approx(np.mean(emd))
    assert (first["emd_low"], first["emd_high"]) == pytest.approx(
        (max(np.mean(emd) - half, 0.0), np.mean(emd) + half)
    )
    assert first["emd_p50"] == pytest.approx(np.median(emd))
    whole = next(row for row in report["rows"] if row["users_asked"] == "all")
    assert whole["users"] == 60
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_means_and_differences_are_paired_over_regions(
    source: CheckinSource, tmp_path: Path
) -> None:
    rows = small_rows(tmp_path, source)
    trials = Trials.of(rows, key_of)
    rng = np.random.default_rng(1)
    found = {key: dict.fromkeys(MEASURES, float(rng.random())) for key in trials.by_key}
    report = trials.report(found)
    assert len(report["means"]) == 8
    assert len(report["differences"]) == 4

    def emds(row: Row) -> np.ndarray:
        return np.array([found[key_of(trial)]["emd"] for trial in row.trials])

    named = {(r["mechanism"], r["epsilon"], r["users_asked"]): r for r in report["means"]}
    mean = named["laplace", 4.0, "all"]
    of_it = [
        emds(row)
        for row in rows
        if row.point.users is None
        and row.point.values["epsilon"] == 4.0
        and row.point.values["mechanism"] == "laplace"
    ]
    other = [
        emds(row)
        for row in rows
        if row.point.users is None
        and row.point.values["epsilon"] == 4.0
        and row.point.values["mechanism"] == "pyramid"
    ]
    assert (mean["region"], mean["regions"]) == ("mean", 2)
    assert mean["emd"] == pytest.approx(np.mean(of_it))
    (difference,) = (
        r for r in report["differences"] if (r["epsilon"], r["users_asked"]) == (4.0, "all")
    )
    assert (difference["mechanism"], difference["against"]) == ("laplace", "pyramid")
    paired = [a - b for a, b in zip(of_it, other, strict=True)]
    parts = [d.var(ddof=1) / 3 for d in paired]
    degrees = sum(parts) ** 2 / sum(part**2 / 2 for part in parts)
    half = student_95(degrees) * math.sqrt(sum(parts)) / 2
    assert difference["emd"] == pytest.approx(np.mean(paired))
    assert difference["emd_noise_high"] == pytest.approx(np.mean(paired) + half)
    means = np.array([d.mean() for d in paired])
    half = 12.7062047 * means.std(ddof=1) / math.sqrt(2)
    assert difference["emd_regions_low"] == pytest.approx(means.mean() - half)


def test_the_digest_does_not_depend_on_the_order_of_arrival() -> None:
    found = {"b": {"emd": 0.25, "kl": None}, "a": {"emd": 1 / 3, "kl": 2.0}}
    turned = {"a": {"kl": 2.0, "emd": 1 / 3}, "b": {"kl": None, "emd": 0.25}}
    assert digest(found) == digest(turned)
    assert digest(found) != digest({**found, "a": {"emd": 0.3333, "kl": 2.0}})


def test_an_empty_region_is_refused(tmp_path: Path) -> None:
    class Nobody(Checkins):
        def points(self, *args: Any, **more: Any) -> Any:
            return replace(super().points(*args, **more), users_used=0)

    point = Point(place_of(REGION), CheckinSource(Nobody()), None, {"resolution": "16"}, 1)
    with pytest.raises(ValueError, match=r"40\.5,.*nobody.*--region"):
        list(rows_of([point], 0, tmp_path, Context()))


# Figures.


def test_figures_have_rows_on_their_axes(source: CheckinSource) -> None:
    named = {f"figure-{i}" for i in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13)}
    assert named == set(FIGURES)
    mechanisms = mechanisms_of_paper()
    assert {"pyramid", "least-squares", "laplace", "top"} <= set(mechanisms)
    for figure in FIGURES.values():
        where = [(place_of(REGION), source)] if figure.regions else synthetic_sources(figure, 0)
        points = list(figure_points(figure, where, mechanisms, figure.draws, {"sigma": 0.03}))
        places = 1 if figure.made else len(where)
        xs = sum(len(panel.xs) for panel in figure.panels)
        assert len(points) == xs * places * (len(mechanisms) - 1 + len(figure.thresholds))
        assert all(point.resample and point.draws == figure.draws for point in points)
        assert all(point.values["sigma"] == 0.03 for point in points)


def test_the_papers_settings() -> None:
    source = CheckinSource(Checkins())

    def points(name: str) -> list[Point]:
        figure = FIGURES[name]
        return list(figure_points(figure, [(place_of(REGION), source)], ("pyramid",), 10, {}))

    first = points("figure-1")
    assert [p.values["epsilon"] for p in first] == [0.1, 0.5, 1.0, 2.0, 5.0, 10.0]
    assert {(p.users, p.values["resolution"]) for p in first} == {(200, "256")}
    assert (FIGURES["figure-1"].regions, FIGURES["figure-1"].draws) == (30, 2)
    second = points("figure-2")
    assert [p.x for p in second] == [50, 100, 200, 300, 400, 500, 64, 128, 256]
    assert [p.users for p in second] == [50, 100, 200, 300, 400, 500, 200, 200, 200]
    assert [p.values["resolution"] for p in second[6:]] == ["64", "128", "256"]
    assert {p.values["epsilon"] for p in second} == {10.0}
    assert {p.values["epsilon"] for p in points("figure-7")} == {1.0}
    mixed = synthetic_sources(FIGURES["figure-11"], 4)
    assert [source.numbers for _, source in mixed] == [(5, 10), (20,), (20,), (80,)]
    assert all("seed 4" in source.data for _, source in mixed)


def test_figure_13_tends_to_the_central_pyramid(tmp_path: Path) -> None:
    """On made data, and on check-ins alike: B = ∞ is the pyramid, and few units are worse."""
    figure = FIGURES["figure-13"]
    assert [x for panel in figure.panels for x in panel.xs] == [2**i for i in range(4, 13)]
    assert (figure.draws, figure.mechanisms) == (20, ("pyramid", "shuffled-pyramid"))
    assert figure.needs == EITHER
    small = replace(figure, panels=(replace(figure.panels[0], xs=(1, 4096)),))
    rows = list(
        rows_of(
            list(figure_points(small, synthetic_sources(figure, 0), figure.mechanisms, 4, {})),
            0,
            tmp_path,
            Context(),
            ("emd",),
        )
    )
    set_by_paper = {"epsilon": 5.0, "delta": 1e-5, "n0": 50, "resolution": "512"}
    for row in rows:
        assert set_by_paper.items() <= row.point.values.items()
        assert row.users == 50
    emd = [
        np.mean([run_trial(task_of(trial, tmp_path))["emd"] for trial in row.trials])
        for row in rows
    ]
    assert emd[0] == emd[2]  # the pyramid has no B
    assert emd[1] > 1.2 * emd[0]
    assert emd[3] == pytest.approx(emd[2], rel=1e-2)


def test_every_draw_of_a_figure_has_its_own_sample(tmp_path: Path) -> None:
    asked = []

    class Seeds(Checkins):
        def points(self, box: Any, users: Any = None, data_seed: int = 0, check: Any = None) -> Any:
            asked.append((users, data_seed))
            return super().points(box, users, data_seed)

    where = [(place_of(REGION), CheckinSource(Seeds(), 7))]
    figure = replace(FIGURES["figure-5"], draws=3)
    points = list(figure_points(figure, where, ("pyramid", "laplace"), 3, {}))
    rows = list(rows_of(points, 0, tmp_path, Context()))
    assert sorted(set(asked)) == [(200, 7), (200, 8), (200, 9)]
    assert len(rows) == 8
    assert isinstance(open_sample(tmp_path, rows[0].trials[2]["counts"]).counts, CellCounts)
