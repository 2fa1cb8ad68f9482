"""Releases with public maps: rules, what is stored and stated, and what can be verified."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer import __version__
from explorer.cli import run
from explorer.engine.release_priors import usable_releases, write_release
from explorer.geography.density_grid import ReleasedGrid
from explorer.privacy.heatmaps.public_prior import prior_densities, prior_map
from explorer.release.certificate.registry import registry_entry
from explorer.release.certificate.report import sections
from explorer.release.certificate.verify import PublicMaps, verify
from explorer.release.content_hash import file_digests, unpacked_sha256
from explorer.release.errors import LedgerError, ParameterError
from explorer.release.exact_json import canonical
from explorer.release.ledger import settings
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import (
    AdaptiveHeatmap,
    AdaptivePriorHeatmap,
    PriorMasses,
    PriorSource,
)
from explorer.release.outputs import FORMATS, OutputDocument, read_prior_weights
from explorer.release.pipeline import (
    LedgerLocation,
    certificate_of,
    draw,
    load_plan,
    plan_release,
    publish,
)
from explorer.release.plan import Plan, plan_from_json
from explorer.release.priors import degrees_of, released_masses, with_priors
from explorer.studies.heatmap.mechanisms import EarlierRelease
from tests import snapshots
from tests.release.made_people import BOX, people_of
from tests.release.plans import COLUMNS, content, opened, place_in, plan_of, write_plan, write_rows

Run = Callable[..., int]
WITH, WITHOUT = MECHANISMS["heatmap.adaptive/2"], MECHANISMS["heatmap.adaptive/1"]
SHA = "0123456789abcdef" * 4
SERVICE = "Check-ins of a public service"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerLocation:
    place = place_in(tmp_path)
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    return place


@pytest.fixture
def command(place: LedgerLocation, tmp_path: Path) -> Run:
    def command(*options: str) -> int:
        ledger = ("--ledger", str(place.ledger))
        return run(["release", str(tmp_path / "PLAN.json"), *ledger, *options])

    return command


def _others(path: Path, users: int = 30) -> Path:
    """Write public check-ins of other people, near one corner of the plans' box."""
    draw = random.Random(7)
    rows = [
        f"{user // 2},2025-01-0{draw.randint(1, 9)}T10:00:00Z,{draw.uniform(40.5, 40.6):.6f},"
        f"{draw.uniform(-74.2, -74.1):.6f}\n"
        for user in range(2 * users)
    ]
    path.write_text("user,time,lat,lon\n" + "".join(rows), encoding="utf-8")
    return path


def test_declarations_are_read_again() -> None:
    for source in (
        PriorSource("checkins", SHA, "Check-ins of 2010/2011: all"),
        PriorSource("grid", SHA, "Census"),
        PriorSource("cities", __version__),
        PriorSource("release", "ab" * 16),
    ):
        assert PriorSource.parse(source.text) == source
        own = WITH.parse({"box": BOX, "side": 8, "priors": [source.text]})
        assert own.as_parameters()["priors"] == [source.text]
        assert WITH.parse(own.as_parameters()) == own
    assert WITH.parse({"box": BOX, "side": 8}).as_parameters()["priors"] == []


@pytest.mark.parametrize(
    "text",
    [
        "people:x",
        "checkins",
        f"checkins:{SHA}",
        f"checkins:{SHA[1:]}:Short",
        f"grid:{SHA}: ",
        f"grid:{SHA}:/home/me/file.csv",
        f"grid:{SHA}:..\\file.csv",
        f"grid:{SHA}:C:file.csv",
        f"grid:{SHA}:a\nb",
        f"grid:{SHA}:{'x' * 201}",
        "release:12",
        f"release:{'ab' * 16}:Name",
        "cities:",
    ],
)
def test_other_declarations_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^priors: "):
        WITH.parse({"box": BOX, "side": 8, "priors": [text]})


def test_the_same_map_twice_is_refused() -> None:
    texts = [f"grid:{SHA}:One", f"grid:{SHA}:Two"]
    with pytest.raises(ParameterError, match=r"^priors: "):
        WITH.parse({"box": BOX, "side": 8, "priors": texts})
    with pytest.raises(ParameterError, match=r"^priors: "):
        WITHOUT.parse({"box": BOX, "side": 8, "priors": []})


def test_both_draw_the_same_numbers_from_the_same_bytes() -> None:
    """By the same code: the proof and the audits of /1 are those of /2, whatever the priors."""
    assert AdaptivePriorHeatmap.draw is AdaptiveHeatmap.draw
    records = people_of([[(k % 8, k % 5, "")] for k in range(50)])
    given = {"box": BOX, "side": 16}
    made = []
    for mechanism, more in ((WITHOUT, {}), (WITH, {}), (WITH, {"priors": [f"grid:{SHA}:A"]})):
        bits = random.Random(4)
        p = mechanism.parse(given | more)
        made.append(mechanism.draw(records, p, Fraction(2), bits.randbytes).stored)
    assert made[0] == made[1] == made[2]


def _drawn(p: Any, people: int = 300) -> dict[str, Any]:
    records = people_of([[(k % 3, k % 2, "")] for k in range(people)])
    return WITH.draw(records, p, Fraction(2), random.Random(9).randbytes).stored


def test_the_map_is_that_of_readings_and_priors() -> None:
    p = WITH.parse({"box": BOX, "side": 16, "priors": [f"grid:{SHA}:A", f"cities:{__version__}"]})
    stored = _drawn(p)
    with pytest.raises(ParameterError, match=r"^priors: "):
        WITH.shown(stored, p, Fraction(2))
    masses = np.random.default_rng(3).random((2, 16, 16))
    known = p.with_given(tuple(map(PriorMasses, masses)))
    assert known == p
    shown = WITH.shown(stored, known, Fraction(2))
    tree = WITH.tree(stored, p, Fraction(2))  # type: ignore[attr-defined]
    expected = prior_map(tree, prior_densities(list(masses), 4, 2))
    np.testing.assert_array_equal(shown.grid, expected.grid)
    assert dict(shown.prior_weights) == expected.prior_weights
    assert shown.prior_weights
    assert shown.steps == WITH.steps(stored, p, Fraction(2))
    with pytest.raises(ParameterError, match=r"^priors: 1 of 2"):
        p.with_given((PriorMasses(masses[0]),))
    with pytest.raises(ParameterError, match=r"^priors: prior 2"):
        p.with_given((PriorMasses(masses[0]), PriorMasses(np.zeros((16, 16)))))


def test_without_priors_cells_are_interpolated_and_the_first_keeps_its_average() -> None:
    p = WITH.parse({"box": BOX, "side": 16})
    stored = _drawn(p)
    shown = WITH.shown(stored, p, Fraction(2))
    expected = prior_map(WITH.tree(stored, p, Fraction(2)), prior_densities([], 4, 2))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(shown.grid, expected.grid)
    assert not shown.prior_weights
    old = WITHOUT.shown(stored, WITHOUT.parse({"box": BOX, "side": 16}), Fraction(2))
    np.testing.assert_array_equal(old.blocks, shown.blocks)
    assert not np.array_equal(old.grid, shown.grid)


def _released(place: LedgerLocation, folder: Path, mechanism: str, population: str) -> str:
    """Draw a release with ε = 1/2; return its id."""
    plan = plan_of(population, write_rows(folder / "rows.csv"), mechanism=mechanism)
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    return release


def _after(population: str, earlier: str, epsilon: str, rows: Path) -> Plan:
    plan = plan_of(population, rows, mechanism="heatmap.adaptive/2", epsilon=epsilon)
    given = PriorMasses(np.ones((16, 16)))
    return with_priors(plan, (PriorSource("release", earlier),), (given,))


def test_an_earlier_release_has_at_least_half_the_epsilon_and_the_same_people(
    place: LedgerLocation, tmp_path: Path
) -> None:
    population, rows = opened(place, 9), tmp_path / "rows.csv"
    first = _released(place, tmp_path, "heatmap.pyramid/1", population)
    number = _released(place, tmp_path, "count.users/1", population)
    with place.open() as ledger:
        other = ledger.open_population("sum", Fraction(3), "Others")
        planned = plan_release(ledger, plan_of(population, rows))
        for population_, earlier, epsilon, allowed in (
            (population, first, "1", True),
            (population, first, "1000001/1000000", False),
            (population, "ab" * 16, "1/2", False),
            (population, number, "1/2", False),
            (population, planned, "1/2", False),
            (other, first, "1/2", False),
        ):
            plan = _after(population_, earlier, epsilon, rows)
            if allowed:
                plan_release(ledger, plan)
                continue
            before = len(ledger.entries())
            with pytest.raises(ParameterError, match=r"^priors: release ") as error:
                plan_release(ledger, plan)
            assert error.value.remedy
            assert len(ledger.entries()) == before
        ledger.withdraw(first)
        with pytest.raises(ParameterError, match=r"withdrawn"):
            plan_release(ledger, _after(population, first, "1/2", rows))


def test_a_release_withdrawn_before_the_draw_is_refused(
    place: LedgerLocation, tmp_path: Path
) -> None:
    population = opened(place, 9)
    first = _released(place, tmp_path, "heatmap.adaptive/1", population)
    plan = _after(population, first, "1", tmp_path / "rows.csv")
    with place.open() as ledger:
        release = plan_release(ledger, plan)
        ledger.withdraw(first)
    with pytest.raises(ParameterError, match=r"withdrawn"):
        draw(place, plan, release)
    with place.open() as ledger:
        assert ledger.release(release).state == "planned"


def test_an_earlier_map_is_shown_by_its_own_mechanism_and_moved_by_area(
    place: LedgerLocation, tmp_path: Path
) -> None:
    population = opened(place, 9)
    first = _released(place, tmp_path, "counts.cells/1", population)
    with place.open() as ledger:
        plan, stored = load_plan(ledger, first), ledger.output(first)
        entered = ledger.release(first)
    grid = plan.mechanism.shown(stored, plan.own_parameters, plan.epsilon).grid
    assert grid is not None
    area = plan.own_parameters.area
    same = released_masses(entered, stored, plan.own_parameters, area, 8)
    np.testing.assert_allclose(same, grid, atol=1e-12)
    coarse = released_masses(entered, stored, plan.own_parameters, area, 4)
    np.testing.assert_allclose(coarse, grid.reshape(4, 2, 4, 2).sum(axis=(1, 3)), atol=1e-12)
    elsewhere = WITH.parse({"box": BOX, "side": 8}).area
    with pytest.raises(ValueError, match=r"^priors: release .* covers 0 %"):
        released_masses(entered, stored, plan.own_parameters, elsewhere, 8)


def test_what_the_maps_hold_must_be_known_before_anything_is_entered(
    place: LedgerLocation, tmp_path: Path
) -> None:
    said = content(opened(place), tmp_path / "rows.csv", mechanism="heatmap.adaptive/2")
    said["mechanism"]["parameters"]["priors"] = [f"grid:{SHA}:Census"]
    with place.open() as ledger:
        with pytest.raises(ParameterError, match=r"^priors: .*--prior"):
            plan_release(ledger, plan_from_json(said))
        assert len(ledger.entries()) == 1


@pytest.mark.full
def test_a_map_with_files_and_cities_is_released_and_verified(
    command: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "rows.csv")
    others = _others(tmp_path / "others.csv")
    write_plan(tmp_path, content(opened(place), mechanism="heatmap.adaptive/2", epsilon="2/1"))
    out, given = tmp_path / "out.csv", ("--prior", f"checkins:{others}", "--prior", "cities")
    assert command("--spend", "2/1", *given) == 2  # without a name
    label = ("--prior-label", SERVICE)
    assert command("--spend", "2/1", "--out", str(out), *given, *label) == 0
    certificate = json.loads((tmp_path / "out.certificate.json").read_bytes())
    sha256 = unpacked_sha256(others)
    assert certificate["mechanism"]["parameters"]["priors"] == [
        PriorSource("checkins", sha256, SERVICE).text,
        PriorSource("cities", __version__).text,
    ]
    assert str(tmp_path) not in json.dumps(certificate)
    (page,) = (one for one in sections(certificate) if one.title == "Public maps")
    snapshots.check("\n".join(f"{row.text} [{row.source}]" for row in page.rows))
    weights = read_prior_weights(out.read_bytes())
    assert weights
    assert all(0 <= weight <= 1 for weight in weights.values())
    capsys.readouterr()

    check = ["verify", str(tmp_path / "out.certificate.json"), "--ledger", str(place.ledger)]
    assert run(check) == 0
    packed = tmp_path / "others.csv.gz"
    packed.write_bytes(gzip.compress(others.read_bytes()))  # the bytes inside are the same
    for source in (others, packed):
        prior = ["--prior", f"checkins:{source}", "--prior", "cities"]
        assert run([*check, *prior, "--map", str(out)]) == 0
        assert "holds: public maps" in capsys.readouterr().out
    forged = tmp_path / "forged.csv"
    level, weight = min(weights.items())
    text = out.read_text(encoding="utf-8")
    assert f"level {level} {weight!r}" in text
    forged.write_text(text.replace(f"level {level} {weight!r}", f"level {level} {weight + 1e-5!r}"))
    assert run([*check, *given, "--map", str(forged)]) == 1
    assert run([*check, "--prior", "cities", "--map", str(out)]) == 1  # a file is missing
    strange = _others(tmp_path / "strange.csv", 31)
    assert run([*check, "--prior", f"checkins:{strange}", "--prior", "cities"]) == 1
    certificate["priors"]["statements"][0]["text"] += " Everybody is protected."
    assert verify(certificate).failure.startswith("priors")

    # the stored masses make the map again, without the file
    others.unlink()
    again = tmp_path / "again.csv"
    assert command("--resume", certificate["id"], "--out", str(again)) == 0
    assert again.read_bytes() == out.read_bytes()


def test_earlier_releases_are_offered_to_the_map(place: LedgerLocation, tmp_path: Path) -> None:
    population = opened(place, 9)
    first = _released(place, tmp_path, "heatmap.adaptive/1", population)
    _released(place, tmp_path, "count.users/1", population)
    plan = _after(population, first, "3/4", tmp_path / "rows.csv")
    with place.open() as ledger:
        second = plan_release(ledger, plan)
    assert [one for one, _ in usable_releases(place.ledger)] == [first]
    draw(place, plan, second)
    assert [one for one, _ in usable_releases(place.ledger)] == [second, first]
    # the second depends on the first, too
    path = write_release(place.ledger, second, folder=tmp_path)
    assert EarlierRelease.parse(path.name).epsilon == Fraction(3, 4)
    assert EarlierRelease.parse(path.name).total == Fraction(5, 4)
    path = write_release(place.ledger, first, folder=tmp_path)
    assert path.read_bytes() == write_release(place.ledger, first, folder=tmp_path).read_bytes()
    with place.open() as ledger:
        own = load_plan(ledger, first).own_parameters
        earlier, output = ledger.release(first), ledger.output(first)
        masses = released_masses(earlier, output, own, own.area, 32)
        there = ReleasedGrid.read(path).onto(degrees_of(own.area), 32, "")
        np.testing.assert_array_equal(there, masses)
        # a file that the ledger knows as data of others has no release here
        other = ledger.open_population("sum", Fraction(3), "Others")
        ledger.known.record_population(SHA, other)
        ledger.known.record_population("00" * 32, population)
    assert usable_releases(place.ledger, [SHA]) == ()
    with pytest.raises(ParameterError, match=r"^priors: release "):
        write_release(place.ledger, first, [SHA], tmp_path)
    assert len(usable_releases(place.ledger, ["00" * 32])) == 2
    with pytest.raises(ParameterError, match=r"^priors: release "):
        write_release(place.ledger, "ab" * 16, folder=tmp_path)
    with pytest.raises(LedgerError):
        usable_releases(tmp_path / "none.sqlite")


def test_the_command_of_the_map_takes_an_earlier_release(
    place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = _released(place, tmp_path, "heatmap.adaptive/1", opened(place, 9))
    data = tmp_path / "data.csv"
    data.write_text(f"{','.join(COLUMNS)}\n{(tmp_path / 'rows.csv').read_text()}")
    words = ["heatmap", str(data), "--region", "40.5,-74.25,40.9,-73.7", "--resolution", "16"]
    words += ["--mechanism", "adaptive-prior", "--prior", f"release:{first}", "--quiet", "--json"]
    words += ["--epsilon", "0.75", "--ledger"]
    assert run([*words, str(place.ledger)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["guarantee"]["add_remove"].startswith("1.25-DP")
    name, _, _ = found["recipe"]["values"]["prior_release"].rpartition("#")
    assert EarlierRelease.parse(name) == EarlierRelease(first, Fraction(1, 2), Fraction(1, 2))
    assert found["prior_weights"]
    assert all(0 <= weight <= 1 for weight in found["prior_weights"].values())
    assert run([*words, str(tmp_path / "none.sqlite")]) == 2


def _third(place: LedgerLocation, population: str, second: str, folder: Path) -> Path:
    """Draw a release that the second one completes; return its certificate."""
    plan = plan_of(population, folder / "rows.csv", mechanism="heatmap.adaptive/2")
    with place.open() as ledger:
        own = load_plan(ledger, second).own_parameters
        masses = released_masses(
            ledger.release(second), ledger.output(second), own, plan.own_parameters.area, 16
        )
        plan = with_priors(plan, (PriorSource("release", second),), (PriorMasses(masses),))
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    path = folder / "third.certificate.json"
    with place.open() as ledger:
        path.write_bytes(canonical(publish(ledger, plan, release)))
    return path


@pytest.mark.full
def test_a_release_completes_the_next_one(
    command: Run, place: LedgerLocation, tmp_path: Path
) -> None:
    population = opened(place, 9)
    first = _released(place, tmp_path, "heatmap.adaptive/1", population)
    said = content(population, mechanism="heatmap.adaptive/2", epsilon="1/1")
    said["mechanism"]["parameters"]["priors"] = [f"release:{first}"]
    write_plan(tmp_path, said)
    out = tmp_path / "out.geojson"
    assert command("--spend", "1/1", "--out", str(out)) == 0  # the plan names the release
    path = tmp_path / "out.certificate.json"
    certificate = json.loads(path.read_bytes())
    assert certificate["priors"]["sources"] == [{"kind": "release", "release": first}]
    assert len(certificate["priors"]["statements"]) == 2
    assert certificate["composition"]["sum_epsilon"] == "3/2"
    check = ["verify", str(path), "--prior", f"release:{first}"]
    assert run([*check, "--ledger", str(place.ledger), "--map", str(out)]) == 0
    assert run(check) == 1  # its numbers are not here
    third = _third(place, population, certificate["id"], tmp_path)
    check = ["verify", str(third), "--ledger", str(place.ledger)]
    check += ["--prior", f"release:{certificate['id']}"]
    assert run(check) == 1  # what completed the second is needed too
    assert run([*check, "--prior", f"release:{first}"]) == 0
    assert run([*check, "--prior", f"release:{first}", "--prior", "cities"]) == 1
    with place.open() as ledger:
        ledger.withdraw(first)  # later: the certificate holds all the same
        assert verify(certificate, ledger.view()).failure == ""


def test_the_data_themselves_are_no_public_map(place: LedgerLocation, tmp_path: Path) -> None:
    data, copy = write_rows(tmp_path / "rows.csv"), tmp_path / "copy.csv.gz"
    copy.write_bytes(gzip.compress(data.read_bytes().replace(b"\n", b"\r\n")))
    population = opened(place, 9)
    plan = plan_of(population, data, mechanism="heatmap.adaptive/2")
    source = PriorSource("checkins", unpacked_sha256(copy), "Others")
    given = PriorMasses(np.ones((16, 16)), file_digests(copy)[1])
    refused = with_priors(plan, (source,), (given,))
    with place.open() as ledger:
        release = plan_release(ledger, refused)
    with pytest.raises(ParameterError, match=r"^priors: “Others”"):
        draw(place, refused, release)
    with place.open() as ledger:
        assert ledger.account(population).spent == 0
        release = plan_release(ledger, plan)
    draw(place, plan, release)  # now the file is known as data of people
    with place.open() as ledger:
        before = len(ledger.entries())
        with pytest.raises(ParameterError, match=r"^priors: “Others”"):
            plan_release(ledger, refused)
        assert len(ledger.entries()) == before


def test_options_that_do_not_fit_are_refused(
    command: Run, place: LedgerLocation, tmp_path: Path
) -> None:
    others = _others(tmp_path / "others.csv")
    write_rows(tmp_path / "rows.csv")
    population = opened(place)
    write_plan(tmp_path, content(population, mechanism="heatmap.adaptive/1"))
    assert command("--prior", "cities") == 1
    for wrong in ("cities:1", "checkins", "people:x", "release:"):
        assert command("--prior", wrong) == 2
    said = content(population, mechanism="heatmap.adaptive/2")
    key = unpacked_sha256(others)
    said["mechanism"]["parameters"]["priors"] = [f"checkins:{key}:Others", f"grid:{SHA}:Census"]
    write_plan(tmp_path, said)
    assert command("--prior", f"checkins:{others}") == 1  # the grid is missing
    assert command("--prior", "cities") == 1  # not named
    with place.open() as ledger:
        assert len(ledger.entries()) == 1


def test_a_rehearsal_shows_the_map_with_priors(
    command: Run, place: LedgerLocation, tmp_path: Path
) -> None:
    write_plan(tmp_path, content("0" * 32, mechanism="heatmap.adaptive/2"))
    out = tmp_path / "rehearsal.csv"
    assert command("--rehearse", "400", "--prior", "cities", "--out", str(out)) == 0
    assert read_prior_weights(out.read_bytes())
    assert not place.ledger.exists()


def test_weights_stand_in_both_tables_of_a_map(place: LedgerLocation, tmp_path: Path) -> None:
    population = opened(place, 9)
    rows = write_rows(tmp_path / "rows.csv", 300)
    plan = plan_of(population, rows, mechanism="heatmap.adaptive/2", epsilon="2")
    masses = np.random.default_rng(1).random((16, 16))
    plan = with_priors(plan, (PriorSource("cities", __version__),), (PriorMasses(masses),))
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    with place.open() as ledger:
        loaded, stored = load_plan(ledger, release), ledger.output(release)
        certificate, view = certificate_of(ledger, loaded, release), ledger.view()
    entry = registry_entry(certificate)["deployment"]["dp_variant"]
    assert "not protected" in entry["unprotected_quantities"]
    written = OutputDocument(loaded, stored, "certificate")
    weights = dict(written.shown().prior_weights)
    for suffix in (".csv", ".geojson"):
        assert read_prior_weights(FORMATS[suffix](written)) == weights
    assert read_prior_weights(FORMATS[".json"](written)) == {}
    maps = PublicMaps({("cities", __version__): masses}, weights)
    assert verify(certificate, view, maps=maps).failure == ""
    moved = PublicMaps({("cities", __version__): np.rot90(masses)}, weights)
    assert verify(certificate, view, maps=moved).failure
