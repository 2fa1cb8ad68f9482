"""`privacy-explorer release`: refuses as a window would; nothing gets out but what is paid."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import run
from explorer.release.certificate.verify import verify
from explorer.release.exact_json import canonical
from explorer.release.file_check import check
from explorer.release.ledger import settings
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.outputs import FORMATS, OutputDocument
from explorer.release.pipeline import (
    LedgerLocation,
    certificate_of,
    draw,
    find_or_plan_release,
    plan_release,
    publish,
)
from explorer.release.plan import plan_from_json, read_plan
from explorer.release.rows.reading import read_file
from explorer.release.simulations import PROTOCOLS
from explorer.studies.heatmap.mechanisms import MECHANISMS as MAPS
from explorer.studies.registry import get_study, study_infos
from explorer.ui.release.controller import Result
from explorer.ui.release.files import CERTIFICATES, EXPORTS, export_certificate, export_output
from tests import snapshots
from tests.figures.reading import everything_in
from tests.release.plans import (
    MECHANISMS,
    content,
    opened,
    place_in,
    plan_of,
    write_plan,
    write_rows,
)

Run = Callable[..., int]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerLocation:
    place = place_in(tmp_path)
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    return place


@pytest.fixture
def release(place: LedgerLocation, tmp_path: Path) -> Run:
    def release(*options: str, plan: Path = tmp_path / "PLAN.json") -> int:
        return run(["release", str(plan), "--ledger", str(place.ledger), *options])

    return release


def _ready(place: LedgerLocation, tmp_path: Path, **how: str) -> dict[str, Any]:
    write_rows(tmp_path / "rows.csv")
    said = content(opened(place), **how)
    write_plan(tmp_path, said)
    return said


def _check(place: LedgerLocation, out: Path, data: Path, price: str) -> dict[str, Any]:
    """Return the certificate of an output, which holds against output, ledger and data."""
    certificate: dict[str, Any] = json.loads(out.with_suffix(".certificate.json").read_bytes())
    assert certificate["mechanism"]["epsilon"] == price
    assert certificate["output"]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert certificate["parameters_chosen"] == {
        "record": "fixed before the data were opened",
        "true_map_shown": 0,
        "independent_of_data": "declared",
        "format": "declared",
    }
    sha256 = hashlib.sha256(data.read_bytes()).hexdigest()
    with place.open() as ledger:
        report = verify(certificate, ledger.view(), sha256, output=out.read_bytes())
        assert report.failure == ""
        assert ledger.release(certificate["id"]).state == "published"
    return certificate


@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_maps_are_written_as_tables_and_as_squares(
    release: Run, place: LedgerLocation, tmp_path: Path, suffix: str
) -> None:
    _ready(place, tmp_path, mechanism="heatmap.adaptive/1", epsilon="2/1")
    out = tmp_path / f"out{suffix}"
    assert release("--spend", "2/1", "--out", str(out)) == 0
    number = json.loads((tmp_path / "out.certificate.json").read_bytes())["id"]
    text = out.read_text(encoding="utf-8")
    assert f"certificate {number}" in text
    if suffix == ".csv":
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        cells = list(csv.DictReader(io.StringIO("\n".join(lines))))
        shares = [float(cell["share"]) for cell in cells]
        assert len(cells) == 256
        assert (cells[0]["south"], cells[0]["west"]) == ("40.5", "-74.25")
        assert (cells[-1]["north"], cells[-1]["east"]) == ("40.9", "-73.7")
    else:
        shapes = json.loads(text)["features"]
        shares = [shape["properties"]["share"] for shape in shapes]
        ring = shapes[0]["geometry"]["coordinates"][0]
        assert ring[0] == ring[-1]
        assert len(ring) == 5
    assert sum(shares) == pytest.approx(1)


@pytest.mark.full
def test_the_zone_of_times_is_told_where_it_is_used(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _ready(place, tmp_path)
    parameters = said["mechanism"]["parameters"]
    for how, told in (
        ({}, "as those of UTC (time_zone)"),
        ({"time_zone": "Europe/Vienna"}, "as those of Europe/Vienna (time_zone)"),
        ({"time_format": "unix"}, ""),
    ):
        said["mechanism"]["parameters"] = parameters | how
        write_plan(tmp_path, said)
        assert release() == 2
        lines = [x for x in capsys.readouterr().out.splitlines() if "(time_zone)" in x]
        assert len(lines) == bool(told)
        assert all(told in line and line.startswith("Curator only: ") for line in lines)
        assert read_plan(tmp_path / "PLAN.json").parameters()["time_zone"] == how.get(
            "time_zone", "UTC"
        )


def test_without_the_price_it_is_told_and_nothing_is_drawn(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _ready(place, tmp_path)
    (tmp_path / "rows.csv").unlink()  # not even looked at
    assert release() == 2
    said = capsys.readouterr()
    assert said.out.startswith("Curator only: Cost 0.5 of 3; 2.5 will remain (enough to repeat")
    assert all(line.startswith("Curator only: ") for line in said.out.splitlines())
    snapshots.check(said.err)
    assert "--spend 1/2" in said.err
    for wrong, sentence in (
        ("1/4", "--spend: 1/4 is not the price; this plan costs 1/2"),
        ("1/1", "--spend: 1/1 is not the price; this plan costs 1/2"),
        ("0.499", "--spend: 0.499 is not the price; this plan costs 1/2"),
        ("half", "--spend: 'half' is not a fraction p/q"),
        ("1/0", "--spend: '1/0' is not a fraction p/q"),
        ("-1/2", "--spend: '-1/2' is not a fraction p/q"),
        ("-0.5", "--spend: '-0.5' is not a fraction p/q"),
    ):
        assert release(f"--spend={wrong}") != 0
        assert sentence in capsys.readouterr().err
    with place.open() as ledger:
        assert [entry.body["kind"] for entry in ledger.entries()] == ["budget"]


def test_what_does_not_fit_is_refused_with_what_would(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _ready(place, tmp_path, epsilon="7/2")
    (tmp_path / "rows.csv").unlink()
    assert release("--spend", "7/2") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    for word in ("7/2", "ε = 3 is left", "at most 3", "±1"):
        assert word in error


def test_errors_are_one_sentence(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _ready(place, tmp_path)
    write_plan(tmp_path, said | {"population": "0" * 32})
    assert release("--spend", "1/2") == 1
    assert f"population: '{'0' * 32}'" in capsys.readouterr().err
    assert release("--spend", "1/2", "--out", str(tmp_path / "out.xlsx")) == 1
    assert ".json, .csv, .geojson" in capsys.readouterr().err
    assert release("--spend", "1/2", "--rehearse", "9") == 2
    snapshots.check(capsys.readouterr().err)
    place.ledger.unlink()
    assert release("--spend", "1/2") == 1
    snapshots.check(capsys.readouterr().err)
    assert not place.ledger.exists()


def test_interrupted_releases_are_named_and_resumed_or_given_back(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_from_json(_ready(place, tmp_path), tmp_path)
    with place.open() as ledger:
        first, second, third = (plan_release(ledger, plan) for _ in range(3))
        sha256 = hashlib.sha256(plan.data.read_bytes()).hexdigest()
        ledger.reserve(first, sha256)
        ledger.reserve(second, sha256)
    draw(place, plan, third)  # and then the window was killed
    out = str(tmp_path / "out.json")
    assert release("--spend", "1/2", "--resume", first, "--out", out) == 0
    told = capsys.readouterr().err
    for option in (
        f"--resume {second}",
        f"--give-back {second}",
        f"--resume {third}",
        f"--withdraw {third}",
    ):
        assert option in told
    assert first not in told
    assert release("--give-back", second) == 0
    assert release("--resume", third, "--out", out) == 0  # costs nothing
    before = Path(out).read_bytes()
    assert release("--resume", third, "--out", out) == 0  # nor does looking again
    assert Path(out).read_bytes() == before
    assert release("--withdraw", first) == 0
    with place.open() as ledger:
        states = [ledger.release(one).state for one in (first, second, third)]
        assert states == ["withdrawn", "abandoned", "published"]
        assert ledger.account(plan.population).spent_epsilon == 1
    Path(out).unlink()
    assert (
        release("--resume", first, "--out", out) == 1
    )  # as in the window, it does not leave again
    assert f"release {first}: it was withdrawn" in capsys.readouterr().err
    assert not Path(out).exists()


def test_a_rehearsal_reads_and_spends_nothing_and_says_so(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _ready(place, tmp_path)
    (tmp_path / "rows.csv").unlink()
    before = place.ledger.read_bytes()
    for mechanism in MECHANISMS:
        plan = content(said["population"], mechanism=mechanism, epsilon="10/1")
        write_plan(tmp_path, plan)
        out = tmp_path / "out.csv"
        assert release("--rehearse", "200", "--out", str(out)) == 0
        assert out.read_text(encoding="utf-8").startswith(
            "# rehearsal on synthetic people: nothing"
        )
        assert capsys.readouterr().out.startswith("Rehearsal on synthetic people: nothing was read")
    assert release("--rehearse", "200", "--out", str(tmp_path / "out.json")) == 2
    assert place.ledger.read_bytes() == before
    assert not list(tmp_path.glob("*.certificate.json"))


@pytest.mark.full
def test_ids_are_compared_for_the_curator_alone(
    release: Run, place: LedgerLocation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _ready(place, tmp_path)
    assert release("--spend", "1/2", "--out", str(tmp_path / "out.json")) == 0
    capsys.readouterr()
    assert release("--compare") == 0
    snapshots.check(capsys.readouterr().out)
    write_plan(tmp_path, said | {"population": opened(place)})
    assert release("--compare") == 0
    told = capsys.readouterr().out
    assert told.startswith("Curator only: 40 ids of this file are known in population ")
    assert said["population"] in told
    assert release() == 2  # the price is told where the two might still be joined
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Curator only: Cost 0.5 of ")
    (compared,) = [line for line in lines if said["population"] in line]
    assert compared.startswith("Curator only: 40 ids of this file are known in population ")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_only_simulated_is_written_as_a_stamped_plan_and_nothing_else(
    release: Run,
    place: LedgerLocation,
    tmp_path: Path,
    protocol: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is read, entered or spent, and no certificate made, whatever is asked."""
    said = content(opened(place), "no such file.csv")
    said["mechanism"] |= {"id": protocol, "parameters": {"domain": 40, "values": ["a"]}}
    plan = write_plan(tmp_path, said)
    before = {path.name for path in tmp_path.iterdir()}
    capsys.readouterr()
    for order in (["--spend", "1/2"], ["--rehearse", "10"], []):
        assert release(*order, "--out", str(tmp_path / "out.json"), plan=plan) == 1
        told = capsys.readouterr()
        assert "not a release." in told.err
    assert {path.name for path in tmp_path.iterdir()} == before | {"out.simulation.json"}
    written = json.loads((tmp_path / "out.simulation.json").read_text(encoding="utf-8"))
    assert written["stamp"] == "simulation, not a release"
    assert written["mechanism"]["parameters"] == said["mechanism"]["parameters"]
    assert written["declared"] == said["declared"]
    assert not {"population", "data"} & set(written)
    central = written["instead"]
    assert central is None or (central in MECHANISMS and f"({central})" in written["sentence"])
    if protocol == "local.frequency/1":
        assert told.err.strip().endswith(
            "Here every user must add noise before sending. You already hold the data: release the "
            "central histogram (histogram/1)"
        )
    with place.open() as ledger:
        assert [entry.body["kind"] for entry in ledger.entries()] == ["budget"]


def test_studies_name_simulations_that_there_are() -> None:
    named = {get_study(info.id).simulated for info in study_infos()} - {""}
    named |= {mechanism.simulated for mechanism in MAPS.values()} - {""}
    assert {"local.frequency/1", "shuffle.pyramid/1"} <= named
    assert named <= set(PROTOCOLS)
    assert not set(PROTOCOLS) & set(MECHANISMS)


# -- what must not get out

CANARY_USER, CANARY_KIND, CANARY_FILE = "canary-user-é7431", "canary-kind", "canary-file-5519"
CANARY_PLACE, CANARY_AMOUNT = ("40.6543217", "-73.9876543"), "77.123457"


def _canaries(path: Path) -> bytes:
    """Write check-ins with unusual values everywhere, among others."""
    write_rows(path, users=61)
    line = [CANARY_USER, "2026-01-07T11:22:33Z", *CANARY_PLACE, CANARY_KIND, CANARY_AMOUNT]
    data = path.read_bytes() + f"{','.join(line)}\n".encode() * 17 + b"canary-broken-row\n"
    path.write_bytes(data)
    return data


@pytest.mark.full
@pytest.mark.parametrize("mechanism", ["heatmap.adaptive/1", "histogram/1", "mean/1"])
def test_mechanisms_are_released_and_canaries_stay_inside(
    release: Run,
    place: LedgerLocation,
    tmp_path: Path,
    mechanism: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A release's certificate holds, and nothing written or said has a value that was read, nor
    the file's name, size, rows, users or plain hash."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    data = _canaries(inside / f"{CANARY_FILE}.csv")
    population = opened(place)
    said = content(population, str(inside / f"{CANARY_FILE}.csv"), mechanism=mechanism)
    plan = plan_from_json(said)
    price = f"{plan.epsilon.numerator}/{plan.epsilon.denominator}"
    plan_file = write_plan(tmp_path, said)
    assert release("--spend", price, "--out", str(outside / "out.json"), plan=plan_file) == 0
    source = inside / f"{CANARY_FILE}.csv"
    certificate = _check(place, outside / "out.json", source, price)
    number = certificate["id"]
    for name in ("out.csv", *(["out.geojson"] if mechanism.startswith("heatmap") else [])):
        target = str(outside / name)
        assert release("--resume", number, "--out", target, plan=plan_file) == 0
    with place.open() as ledger:
        entries = [entry.as_json() for entry in ledger.entries()]
    found = {path.name: path.read_bytes() for path in outside.iterdir()}
    certificate["output"].pop("inline", None)  # noisy numbers may be any
    found |= {"certificate without output": canonical(certificate)}
    found |= {"ledger export": json.dumps(entries).encode()}
    printed = capfd.readouterr()
    assert printed.out.startswith("Released. If the file is in the declared format, ")
    assert printed.out.splitlines()[-1] == number
    told = [line for line in printed.err.splitlines() if not line.startswith("Curator only: ")]
    assert len(told) < len(printed.err.splitlines())
    # Of files that were written the name: the folder of the test has the run's number in its path,
    # and the size is that of noisy numbers.
    told = [
        line.replace(str(outside), "").partition(" (")[0] if line.startswith("written: ") else line
        for line in told
    ]
    found |= {"screen": "\n".join([printed.out, *told]).encode()}
    lines = data.count(b"\n")
    sha256 = hashlib.sha256(data).hexdigest()
    never = [
        "canary",
        CANARY_USER,
        *CANARY_PLACE,
        "406543217",
        "739876543",
        "11:22:33",
        CANARY_AMOUNT,
        CANARY_FILE,
        sha256,
        sha256.upper(),
        sha256[:16],
        hashlib.md5(data, usedforsecurity=False).hexdigest(),
        str(int(sha256, 16)),
    ]
    for where, text in found.items():
        for value in never:
            assert value.encode() not in text, (where, value)
        if not where.startswith("out."):
            numbers = set(re.findall(rb"(?<![0-9a-f.])[0-9]+(?![0-9a-f.])", text))
            assert not numbers & {str(len(data)).encode(), str(lines).encode()}, where
    assert {"out.json", "out.csv", "out.certificate.json", "ledger export", "screen"} <= set(found)


@pytest.mark.full
def test_no_canary_is_in_what_the_window_exports(place: LedgerLocation, tmp_path: Path) -> None:
    """Every format of output and certificate, all that is compressed in it read too."""
    source = tmp_path / f"{CANARY_FILE}.csv"
    data = _canaries(source)
    plan = plan_of(opened(place), source, mechanism="heatmap.adaptive/1")
    with place.open() as ledger:
        release = plan_release(ledger, plan)
    draw(place, plan, release)
    with place.open() as ledger:
        made = publish(ledger, plan, release)
        result = Result(plan, ledger.release(release), ledger.output(release), made)
    never = [
        b"canary",
        CANARY_FILE.encode(),
        b"40.6543217",
        b"73.9876543",
        b"11:22:33",
        b"77.123457",
        hashlib.sha256(data).hexdigest().encode(),
    ]
    for make, formats in ((export_output, EXPORTS), (export_certificate, CERTIFICATES)):
        for suffix in formats.values():
            found = everything_in(make(result, Path(f"out.{suffix}")), suffix)
            assert release.encode() in found or suffix in ("json", "yaml"), suffix
            for value in never:
                assert value not in found, (suffix, value)


def _fixed(place: LedgerLocation) -> Ledger:
    """Open a ledger whose clock stands and whose random numbers repeat."""
    rng = random.Random(8)
    return Ledger(
        place.ledger,
        FileSettings(place.settings),
        now=lambda: datetime(2026, 1, 19, tzinfo=UTC),
        random_bytes=rng.randbytes,
    )


@pytest.mark.full
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_other_data_and_the_same_plan_differ_in_output_tag_and_nonces_alone(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file is of many people, one of nobody, one can't be read at all: nothing else tells,
    a dry run included."""
    made, counts = [], []
    for number, write in enumerate(
        (
            lambda path: write_rows(path, users=90, seed=4),
            lambda path: path.write_bytes(b""),
            lambda path: path.write_bytes(random.Random(1).randbytes(5000)),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder / "rows.csv")
        place = place_in(folder)
        monkeypatch.setattr(LedgerLocation, "open", _fixed)
        plan = plan_of(opened(place), folder / "rows.csv", mechanism=mechanism)
        counts.append(check(place, plan).rows.count)
        with place.open() as ledger:
            release = find_or_plan_release(ledger, plan)
            assert [one.id for one in ledger.releases()] == [release]
        draw(place, plan, release)
        with place.open() as ledger:
            certificate = certificate_of(ledger, plan, release)
            entries = [dict(entry.body) for entry in ledger.entries()]
            notices = ledger.notices
        output = certificate.pop("output")
        shape = output["shape"] if "adaptive" not in mechanism else []
        certificate["data"].pop("tag")
        certificate["ledger"].pop("entry_hash")
        for entry in entries:
            for name in ("tag", "nonce", "output_sha256"):
                entry.pop(name, None)
        said = plan.as_json() | {"data": "rows.csv"}
        made.append((canonical(certificate), canonical(entries), canonical(said), shape, notices))
    assert len(set(counts)) == 3
    assert made[0] == made[1] == made[2]


def test_what_is_written_is_a_function_of_plan_and_stored_numbers(tmp_path: Path) -> None:
    """Read again from the ledger, on a machine without the data, it is the same bytes."""
    plan = plan_of("0" * 32, mechanism="heatmap.pyramid/1", epsilon="4/1")
    people = read_file(write_rows(tmp_path / "a.csv"), plan.form, plan.reads).records
    drawn = plan.mechanism.draw(
        people, plan.own_parameters, plan.epsilon, random.Random(2).randbytes
    )
    again = json.loads(canonical(drawn.stored))
    for write in FORMATS.values():
        assert write(OutputDocument(plan, drawn.stored, "x")) == write(
            OutputDocument(plan, again, "x")
        )
