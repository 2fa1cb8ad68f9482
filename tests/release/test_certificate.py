"""Certificates: the example, those we make, and that whatever can be recomputed is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.release.certificate import sentences
from explorer.release.certificate.build import Statements, build
from explorer.release.certificate.computed_fields import parts_and_error, post_processing
from explorer.release.certificate.schema import CertificateError, read_certificate
from explorer.release.certificate.sentences import VERSION_1
from explorer.release.certificate.verify import verify
from explorer.release.dry_run import dry_run
from explorer.release.errors import LedgerError
from explorer.release.exact_json import canonical
from explorer.release.ledger.known_data import FIXED
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import RESTORED
from explorer.release.ledger.view import View, read_ledger
from explorer.release.mechanisms import MECHANISMS
from explorer.release.rounding import factor, fixed_up, rounded_up
from tests.release import mutations
from tests.release.ledgers import FILE, LABEL, opened, planned, population, released, reserved
from tests.release.plans import plan_of

ALL_CHECKS = ["form", "sums, budget and error", "output", "ledger"]
DATA = Path(__file__).parents[1] / "data" / "release"
EXAMPLE = read_certificate(DATA / "certificate.example.json")
LEDGER = read_ledger(DATA / "ledger.example.json")

TEXTS = {
    "title": "People in the old town",
    "curator": "Example City Statistics Office",
    "description": "Number of people.",
    "intended_use": "Tests.",
    "label": "Check-ins, January 2026",
    "period": "2026-01-01 to 2026-01-14",
    "region": "Old town",
    "source_type": "Dynamic",
}

DECLARED = {
    "title",
    "curator",
    "description",
    "intended_use",
    "program.version",
    "population.label",
    "data",
    "parameters_chosen.true_map_shown",
    "composition.accounts_apart",
    "verify",
    "evaluation.2.text",
    "evaluation.4.text",
    "evaluation.6.text",
    "evaluation.7.text",
}
"""Places of the example that neither certificate nor its ledger tell: declared or free texts, and
the tag, which needs data and key."""
OF_THE_FILE = {"mechanism.parameters"}
"""Of the example's ledger, which is older and holds no parameters."""
OF_THE_LEDGER = {
    "id",
    "ledger.id",
    "ledger.entry_hash",
    "population.id",
    "composition.releases.0.seq",
    "composition.releases.0.date",
    "composition.releases.0.mechanism",
    "composition.releases.1.seq",
    "composition.releases.1.date",
    "composition.releases.1.mechanism",
}
"""Places that only the ledger tells."""


def _within(path: mutations.Path, places: set[str]) -> bool:
    name = ".".join(map(str, path))
    return any(name == place or name.startswith(f"{place}.") for place in places)


def _forged(document: dict[str, Any]) -> Iterator[tuple[mutations.Path, dict[str, Any]]]:
    for path in mutations.leaves(document):
        value = mutations.at(document, path)
        for other in mutations.others(value):
            if other != value or type(other) is not type(value):
                yield path, mutations.changed(document, path, other)


def test_the_example_verifies_alone_and_with_its_ledger() -> None:
    alone, both = verify(EXAMPLE), verify(EXAMPLE, LEDGER)
    assert (alone.failure, both.failure) == ("", "")
    assert both.checked == ALL_CHECKS
    assert both.notes[0].startswith("certificate's hash:")


@pytest.mark.full
def test_a_change_of_whatever_can_be_recomputed_fails_in_one_sentence() -> None:
    survived, said = set(), set()
    for path, forged in _forged(EXAMPLE):
        alone, both = verify(forged).failure, verify(forged, LEDGER).failure
        assert "\n" not in both
        assert bool(both) or not alone
        said.add(both)
        if not alone and not _within(path, DECLARED | OF_THE_FILE | OF_THE_LEDGER):
            survived.add(("alone", path))
        if not both and not _within(path, DECLARED | OF_THE_FILE):
            survived.add(("with the ledger", path))
    assert survived == set()
    assert len(said) > 100


FROZEN = Path(__file__).parents[1] / "data" / "certificate_1"
"""Certificates of version 1 and their ledger, written before version 2."""
BEFORE = Path(__file__).parents[1] / "data" / "ledger_before_rationals"


@pytest.mark.parametrize("name", ["region", "heatmap", "mean"])
def test_version_1_keeps_its_sentences(name: str) -> None:
    certificate, view = (
        read_certificate(FROZEN / f"{name}.json"),
        read_ledger(FROZEN / "ledger.json"),
    )
    assert certificate["schema"].endswith("/1")
    found = verify(certificate, view)
    assert (found.failure, found.checked[-1]) == ("", "ledger")
    for path in (("sentence",), ("conditions", 0, "text"), ("out_of_scope", 3)):
        forged = mutations.changed(certificate, path, "The sentence of another version.")
        assert verify(forged).failure, path
    assert verify({**certificate, "schema": "privacy-explorer/certificate/2"}).failure


@pytest.mark.parametrize(
    "mechanism", json.loads((FROZEN / "words.json").read_text(encoding="utf-8"))
)
def test_version_1_keeps_its_words_of_mechanisms(mechanism: str) -> None:
    """The stored words are those that programs wrote with version 1."""
    plan = plan_of("0" * 32, mechanism=mechanism)
    parts, errors = parts_and_error(mechanism, plan.parameters(), plan.epsilon)
    stored = dry_run(plan, 20).stored
    found = {
        "parts": [part["name"] for part in parts],
        "expected_error": [error["quantity"] for error in errors],
        "post_processing": [
            step["text"]
            for step in post_processing(mechanism, plan.parameters(), plan.epsilon, stored)
        ],
    }
    frozen = json.loads((FROZEN / "words.json").read_text(encoding="utf-8"))[mechanism]
    assert {name: list(map(VERSION_1.of_mechanism, texts)) for name, texts in found.items()} == (
        frozen
    )
    for name, texts in found.items():
        assert list(map(sentences.CURRENT.of_mechanism, texts)) == texts
        assert not set(texts) & set(frozen[name])


def test_a_column_of_any_name_has_its_words_in_version_1() -> None:
    names = ["a\nb", r"\1", "users", "x, in users", "sum of column x"]
    how = {"columns": ["user", "time", "lat", "lon", *names], "delimiter": "tab"}
    given = {**how, "value_columns": names, "low": ["0"] * 5, "high": ["1"] * 5}
    parts, errors = parts_and_error("mean/1", given, Fraction(1))
    of = [VERSION_1.of_mechanism(part["name"]) for part in parts]
    assert of == [*(f"sum of {name}" for name in names), "count"]
    of = [VERSION_1.of_mechanism(error["quantity"]) for error in errors]
    assert of == [*(f"sum of {name}, in users" for name in names), "noisy_users"]


@pytest.mark.parametrize("path", sorted(BEFORE.glob("certificate *.json")), ids=str)
def test_certificates_of_earlier_programs_verify(path: Path) -> None:
    assert verify(read_certificate(path)).failure == ""


def test_what_only_later_programs_state_is_named(folder: Path) -> None:
    with opened(folder) as ledger:
        made = Made(ledger, released(ledger, population(ledger))).certificate
    assert made["schema"].endswith("/2")
    later = {
        **made,
        "areas": {"name": "districts"},
        "protection": {**made["protection"], "zone": "Europe/Vienna"},
    }
    found = verify(later)
    assert found.failure == ""
    assert [note.partition(":")[0] for note in found.notes] == ["areas", "protection.zone"]
    unit = mutations.changed(made, ("protection", "unit"), "user-day")
    assert "protection.unit" in verify(unit).failure


def test_if_fixed_in_advance_and_columns_are_checked(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        released(ledger, people)
        made = Made(ledger, released(ledger, people)).certificate
        parameters = {
            "value_column": "place",
            "values": ["a", "b"],
            "columns": ["user", "place"],
            "delimiter": "tab",
        }
        mechanism = MECHANISMS["histogram/1"]
        whole = {**parameters, **mechanism.parse(parameters).as_parameters()}
        release = ledger.plan(people, "histogram/1", whole, Fraction(1, 2), FILE)
        ledger.reserve(release, FILE)
        ledger.start(release, 1000)
        ledger.commit(release, {"bins": [1, 2, 3]})
        bins = Made(ledger, release).certificate
    assert verify(made).failure == verify(bins).failure == ""
    fixed = ("composition", "if_fixed_in_advance")
    for epsilon in ("1/2", "99/100"):
        forged = mutations.changed(made, (*fixed, "epsilon"), epsilon)
        assert verify(forged).failure.startswith("composition.if_fixed")
    parameters_at = ("mechanism", "parameters")
    for forged in (
        mutations.changed(made, (*parameters_at, "columns"), ["user", "time", "lat", "place"]),
        mutations.changed(bins, (*parameters_at, "columns"), ["user", "kind"]),
        mutations.changed(bins, (*parameters_at, "value_column"), "kind"),
    ):
        assert "columns" in verify(forged).failure


def test_nothing_may_be_left_out_or_added() -> None:
    for path in mutations.leaves(EXAMPLE):
        if isinstance(path[-1], str) and path[:2] != ("mechanism", "parameters"):
            assert verify(mutations.without(EXAMPLE, path)).failure, path
            extended = mutations.changed(EXAMPLE, (*path[:-1], "rows"), 1)
            assert verify(extended).failure, path


class Made:
    """A certificate of a release whose ledger and key are there."""

    def __init__(self, ledger: Ledger, release: str, **more: Any) -> None:
        self.release = release
        self.stated = Statements(
            TEXTS,
            True,
            ledger.parameters_chosen(release, FILE),
            ledger.tag(release, FILE),
            explorer.__version__,
            **more,
        )
        self.certificate = build(ledger.view(), release, self.stated)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ledger"
    made.mkdir()
    return made


def test_a_certificate_we_make_verifies_with_ledger_and_data(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        released(ledger, people, Fraction(1))
        made = Made(ledger, released(ledger, people))
        found = verify(made.certificate, ledger.view(), FILE)
        assert found.failure == ""
        assert found.checked[-1] == "data"
        assert made.certificate["parameters_chosen"] == {
            "record": FIXED,
            "true_map_shown": 0,
            "independent_of_data": "declared",
            "format": "declared",
        }
        # later releases and states change nothing in it
        released(ledger, people)
        ledger.withdraw(made.release)
        assert build(ledger.view(), made.release, made.stated) == made.certificate
        assert verify(made.certificate, ledger.view(), FILE).failure == ""
        assert verify(made.certificate, ledger.view(), "cd" * 32).failure.startswith("data.tag:")


@pytest.mark.full
def test_once_published_every_changed_leaf_fails(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        made = Made(ledger, released(ledger, people))
        ledger.publish(made.release, made.certificate)
        view = ledger.view()
        assert ledger.certificate(made.release) == made.certificate
    found = verify(made.certificate, view, FILE)
    assert (found.failure, found.notes) == ("", [])
    for path, forged in _forged(made.certificate):
        assert verify(forged, view).failure, path


def test_parameters_and_tag_follow_from_the_ledger(folder: Path) -> None:
    with opened(folder) as ledger:
        made = Made(ledger, released(ledger, population(ledger)))
        view = ledger.view()
    for place in (("mechanism", "parameters", "box", 0), ("data", "tag"), ("population", "label")):
        value = mutations.at(made.certificate, place)
        other = (
            {"text": "others", "source": "declared"}
            if isinstance(value, dict)
            else mutations.others(value)[0]
        )
        forged = mutations.changed(made.certificate, place, other)
        assert verify(forged, view).failure


def test_under_zcdp_the_cap_is_stated(folder: Path) -> None:
    with opened(folder) as ledger:
        people = ledger.open_population("zcdp", Fraction(1, 2), "x", delta=Fraction(1, 10**6))
        ledger.external(people, Fraction(1, 4), "a talk")
        made = Made(ledger, released(ledger, people))
        view = ledger.view()
    certificate = made.certificate
    assert certificate["protection"]["variant"] == "zcdp"
    assert certificate["ledger"]["budget"] == "1/2"
    # ε of ρ = 1/2 + 1/32, not of what was spent so far
    assert 5.22 < float(certificate["composition"]["epsilon_at_delta"]["epsilon_rounded_up"]) < 5.6
    stated = certificate["composition"]["epsilon_at_delta"]["epsilon_rounded_up"]
    assert f"ε = {stated} " in certificate["sentence"]
    assert verify(certificate, view).failure == ""
    assert certificate["composition"]["releases"][0]["mechanism"] == "external"
    forged = mutations.changed(certificate, ("composition", "epsilon_at_delta"), None)
    assert "epsilon_at_delta" in verify(forged).failure


def test_raised_budgets_joins_and_other_people_are_in_every_later_certificate(
    folder: Path,
) -> None:
    with opened(folder) as ledger:
        one = population(ledger, Fraction(1))
        other = ledger.open_population("sum", Fraction(9), "visitors", different_from=[one])
        ledger.raise_budget(other, Fraction(10))
        first = Made(ledger, released(ledger, other))
        assert first.certificate["population"]["declared_different_people"] == [LABEL]
        assert first.certificate["composition"]["accounts_apart"][0]["what"].endswith("service")
        assert [step["to"] for step in first.certificate["ledger"]["budget_raised"]] == ["10/1"]
        ledger.join(other, one)
        ledger.raise_budget(other, Fraction(11))
        second = Made(ledger, released(ledger, other))
        view = ledger.view()
    assert second.certificate["population"]["joined"] == "joined after comparison"
    assert len(second.certificate["ledger"]["budget_raised"]) == 2
    for made in (first, second):
        assert verify(made.certificate, view).failure == ""


def test_what_happened_to_the_ledger_is_remarked(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
    with opened(folder, "another") as ledger:
        made = Made(ledger, released(ledger, people))
        assert made.certificate["ledger"]["remarks"] == [RESTORED]
        assert verify(made.certificate, ledger.view()).failure == ""


def test_a_ledger_rolled_back_or_forked_does_not_fit(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        made = Made(ledger, released(ledger, people))
        view = ledger.view()
    older = View(view.id, view.entries[:3], view.until(2))
    assert "was rolled back" in verify(made.certificate, older).failure
    assert "ledger.id" in verify(made.certificate, LEDGER).failure


def test_two_certificates_show_a_fork(folder: Path) -> None:
    import shutil

    with opened(folder) as ledger:
        people = population(ledger)
    copied = folder.parent / "copied" / "ledger"
    shutil.copytree(folder, copied)
    with opened(folder) as ledger:
        one = Made(ledger, released(ledger, people)).certificate
        later = Made(ledger, released(ledger, people)).certificate
        view = ledger.view()
    with opened(copied) as ledger:
        other = Made(ledger, released(ledger, people, Fraction(1))).certificate
    assert "forked" in verify(one, also=other).failure
    assert verify(later, also=one).failure == ""
    assert verify(later, also=other).failure.startswith("composition.releases:")
    elsewhere = {**other, "population": {**other["population"], "id": "0" * 32}}
    assert verify(later, view, also=elsewhere).failure.startswith("the other certificate:")
    found = verify(one, also=EXAMPLE)
    assert (found.failure, "another ledger" in found.notes[0]) == ("", True)


def test_later_entries_never_make_a_certificate_fail(folder: Path) -> None:
    with opened(folder) as ledger:
        one = population(ledger, Fraction(1))
        other = ledger.open_population("sum", Fraction(9), "visitors", different_from=[one])
        made = Made(ledger, released(ledger, other)).certificate
        ledger.raise_budget(one, Fraction(10))
        assert verify(made, ledger.view()).failure == ""
        again = Made(ledger, released(ledger, other)).certificate
    labels = [LABEL]
    assert again["population"]["declared_different_people"] == labels
    # what earlier programs wrote after the budget was raised
    by_id = mutations.changed(again, ("population", "declared_different_people"), [one])
    assert verify(by_id, read_ledger(folder / "ledger.sqlite")).failure == ""


def test_accounts_joined_later_are_no_fork(folder: Path) -> None:
    with opened(folder) as ledger:
        one = population(ledger)
        other = ledger.open_population("sum", Fraction(9), "visitors", different_from=[one])
        theirs = Made(ledger, released(ledger, other)).certificate
        first = Made(ledger, released(ledger, one)).certificate
        ledger.join(one, other)
        second = Made(ledger, released(ledger, one)).certificate
        view = ledger.view()
    for made, also in ((second, first), (first, second), (second, theirs), (theirs, first)):
        assert verify(made, also=also).failure == ""
        assert verify(made, view, also=also).failure == ""


def test_what_was_only_reserved_then_is_no_fork(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        given_back, drawn = (reserved(ledger, people) for _ in range(2))
        first = Made(ledger, released(ledger, people)).certificate
        ledger.abandon(given_back)
        ledger.start(drawn, 1000)
        ledger.commit(drawn, {"noisy_users": 1})
        second = Made(ledger, released(ledger, people)).certificate
    assert verify(second, also=first).failure == ""
    rows = [
        row for row in second["composition"]["releases"] if row["seq"] != first["ledger"]["seq"]
    ]
    forged = mutations.changed(second, ("composition", "releases"), rows)
    assert "composition.releases" in verify(first, also=forged).failure


def test_data_need_the_key(folder: Path) -> None:
    with opened(folder) as ledger:
        made = Made(ledger, released(ledger, population(ledger)))
    os.unlink(folder / "ledger.key")
    view = read_ledger(folder / "ledger.sqlite")
    assert verify(made.certificate, view).failure == ""
    for known in (None, view):
        assert verify(made.certificate, known, FILE).failure.startswith("data.tag: can't")


def test_a_replaced_key_can_not_check_what_was_tagged_before(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        made = Made(ledger, released(ledger, people)).certificate
    os.unlink(folder / "ledger.key")
    with opened(folder) as ledger:
        view = ledger.view()
        later = Made(ledger, released(ledger, people)).certificate
        assert verify(later, ledger.view(), FILE).failure == ""
        assert "not the one" in verify(later, ledger.view(), "cd" * 32).failure
    assert verify(made, view).failure == ""
    for sha256 in (FILE, "cd" * 32):
        assert "cannot be checked" in verify(made, view, sha256).failure


def test_what_happened_later_is_told(folder: Path) -> None:
    with opened(folder) as ledger:
        delta = Fraction(1, 10**6)
        people = ledger.open_population("zcdp", Fraction(1, 2), "x", delta=delta)
        other = ledger.open_population("zcdp", Fraction(1, 8), "y", delta=delta)
        made = Made(ledger, released(ledger, people, Fraction(1, 4)))
        stated = made.certificate["composition"]["epsilon_at_delta"]["epsilon_rounded_up"]
        assert stated in made.certificate["sentence"]
        released(ledger, people, Fraction(1, 4))
        assert verify(made.certificate, ledger.view()).later == []
        ledger.external(people, Fraction(1), "a talk")
        (told,) = verify(made.certificate, ledger.view()).later
        assert "ρ = 1," in told
        ledger.join(people, other)
        (told,) = verify(made.certificate, ledger.view()).later
        assert "ρ = 9/8," in told
        ledger.withdraw(made.release)
        found = verify(made.certificate, ledger.view())
    assert found.failure == ""
    assert len(found.later) == 2


@pytest.mark.parametrize("gate", ["sum", "zcdp"])
@pytest.mark.parametrize("digits", [7, 30, 180])
def test_sums_of_any_size_are_printed(folder: Path, gate: str, digits: int) -> None:
    """Where Σε²/2 is beyond floats, too."""
    with opened(folder) as ledger:
        delta = Fraction(1, 10**9) if gate == "zcdp" else None
        people = ledger.open_population(gate, Fraction(10**380), "x", delta=delta)
        ledger.external(people, Fraction(10**digits), "all of it")
        made = Made(ledger, released(ledger, people)).certificate
        assert verify(made, ledger.view()).failure == ""
    assert made["composition"]["sum_epsilon"] == f"{2 * 10**digits + 1}/2"


def test_there_is_no_certificate_of_what_was_not_committed(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = planned(ledger, people)
        stated = Statements(TEXTS, True, ("data opened before", 0), "0" * 64, "1")
        with pytest.raises(LedgerError, match="was not completed"):
            build(ledger.view(), release, stated)
        done = released(ledger, people)
        with pytest.raises(LedgerError, match="output"):
            build(ledger.view(), done, stated, {"noisy_users": 1208})
        long = Statements({**TEXTS, "title": "x" * 4001}, True, stated.chosen, "0" * 64, "1")
        with pytest.raises(CertificateError, match="title"):
            build(ledger.view(), done, long)


def test_what_is_not_declared_is_said() -> None:
    stated = sentences.program_conditions(
        sentences.CURRENT, ["permute-and-flip"], False, "declared"
    )
    assert sentences.CURRENT.not_declared in stated
    forged = mutations.changed(
        EXAMPLE, ("parameters_chosen", "independent_of_data"), "not declared"
    )
    assert "conditions" in verify(forged).failure


def test_a_large_output_stands_in_a_file_of_its_own(folder: Path) -> None:
    output = {"bins": [10**25] * 1000}
    with opened(folder) as ledger:
        people = population(ledger)
        parameters = {
            "value_column": "place",
            "values": [f"v{k}" for k in range(999)],
            "columns": ["user", "place"],
            "delimiter": "tab",
        }
        mechanism = MECHANISMS["histogram/1"]
        p = mechanism.parse(parameters)
        whole = {**parameters, **p.as_parameters()}
        release = ledger.plan(people, "histogram/1", whole, Fraction(1), FILE)
        ledger.reserve(release, FILE)
        ledger.start(release, mechanism.max_output_bytes(p, Fraction(1)))
        ledger.commit(release, output)
        made = Made(ledger, release)
        view = ledger.view()
    assert "inline" not in made.certificate["output"]
    assert made.certificate["output"]["shape"] == [1000]
    alone = verify(made.certificate)
    assert (alone.failure, alone.notes[0].partition(":")[0]) == ("", "output")
    assert verify(made.certificate, output=canonical(output)).notes == []
    assert verify(made.certificate, view).failure == ""
    changed = canonical({"bins": [10**25 + 1] + [10**25] * 999})
    assert "output.sha256" in verify(made.certificate, output=changed).failure


def test_a_mechanism_that_is_not_known_here_is_counted_and_not_derived() -> None:
    document = mutations.changed(EXAMPLE, ("mechanism", "id"), "quantile/7")
    document = mutations.changed(
        document, ("composition", "releases", 2, "mechanism"), "quantile/7"
    )
    found = verify(document)
    assert (found.failure, found.notes[0].partition(":")[0]) == ("", "mechanism.id")
    document = mutations.changed(document, ("composition", "sum_epsilon"), "1/1")
    assert verify(document).failure


def test_the_price_of_a_price_is_that_price_for_every_mechanism() -> None:
    """So that parts and error can be found again from what a certificate states."""
    box = ["40.70", "-74.02", "40.72", "-73.99"]
    parameters: dict[str, dict[str, Any]] = {
        "heatmap.adaptive/1": {"box": box, "side": 256},
        "heatmap.adaptive/2": {"box": box, "side": 64, "priors": ["cities:0.1.0"]},
        "heatmap.paper/1": {"box": box, "side": 256},
        "heatmap.pyramid/1": {"box": box, "side": 256, "assumed_users": 10_000},
        "counts.cells/1": {"box": box, "side": 64},
        "count.users/1": {},
        "select.region/1": {"box": box, "grid": [4, 4], "chosen": 3},
        "histogram/1": {"value_column": "place", "values": ["a", "b"]},
        "mean/1": {"value_columns": ["x", "y", "z"], "low": ["0"] * 3, "high": ["1"] * 3},
    }
    assert set(parameters) == set(MECHANISMS)
    for name, mechanism in MECHANISMS.items():
        p = mechanism.parse(parameters[name])
        assert mechanism.parse(p.as_parameters()) == p
        for epsilon in (Fraction(1, 3), Fraction(1), Fraction(123457, 100000), Fraction(7, 10)):
            assert mechanism.price(p, epsilon) == epsilon


def test_numbers_are_rounded_to_the_safe_side() -> None:
    assert rounded_up(Fraction(7, 4)) == "1.75"
    assert rounded_up(Fraction(1, 3)) == "0.3334"
    assert rounded_up(2.0) == "2.0001"
    assert fixed_up(0.0565874) == "0.056588"
    assert fixed_up(0.0) == "0.000000"
    assert factor(Fraction(7, 4)) == "5.76"
    assert factor(Fraction(10)) == "22027"
    assert factor(Fraction(20)) == "4.86·10^8"
    assert factor(Fraction(10**7)) == "10^4342945"  # 10⁷/ln 10 = 4,342,944.8…
    assert factor(Fraction(10**30)) == "10^(4.35·10^29)"
