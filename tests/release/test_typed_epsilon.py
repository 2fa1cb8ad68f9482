"""ε as typed: what is charged, what is drawn, and releases entered when it was rounded."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import run
from explorer.release.certificate.verify import verify
from explorer.release.errors import ReleaseError, RuleError
from explorer.release.exact_json import canonical, read_amount
from explorer.release.ledger import settings
from explorer.release.pipeline import LedgerLocation, certificate_of, draw, load_plan, plan_release
from explorer.release.plan import plan_from_json
from tests.release.plans import content, opened, place_in, plan_of, write_plan, write_rows

BEFORE = Path(__file__).parents[1] / "data" / "ledger_before_rationals"
"""A ledger with plans of ε = 1/10, written when it was charged in units of 2⁻⁴⁰."""
ROUNDED = Fraction(2**40 // 10, 2**40)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/10", Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("8", Fraction(8)),
        ("8/1", Fraction(8)),
        ("2/20", Fraction(1, 10)),
        (" .1", Fraction(1, 10)),
        ("1e-1", Fraction(1, 10)),
        ("0.333", Fraction(333, 1000)),
        ("0", Fraction(0)),
    ],
)
def test_every_spelling_of_a_number_is_that_number(text: str, value: Fraction) -> None:
    assert read_amount(text, "--spend") == value


@pytest.mark.parametrize(
    "text", ["", "1/0", "-1/2", "-1", "nan", "inf", "1_0", "0x1", "1,5", "1/2/3", "9" * 401, 0.1, 1]
)
def test_what_is_no_number_is_refused(text: object) -> None:
    with pytest.raises(ReleaseError, match=r"^--spend: "):
        read_amount(text, "--spend")


@pytest.mark.parametrize(("typed", "price"), [("0.1", "1/10"), ("1/10", "1/10"), ("2", "2/1")])
def test_a_plan_costs_what_is_typed(typed: str, price: str) -> None:
    plan = plan_from_json(content("0" * 32, epsilon=typed))
    assert plan.as_json()["mechanism"]["epsilon"] == price
    assert plan_from_json(plan.as_json()) == plan


@pytest.mark.parametrize("mechanism", ["count.users/1", "mean/1", "heatmap.adaptive/1"])
def test_ten_releases_of_a_tenth_spend_one_exactly(tmp_path: Path, mechanism: str) -> None:
    """What a split leaves over is charged, and `verify` takes it, and nothing else."""
    place, rows = place_in(tmp_path), write_rows(tmp_path / "rows.csv")
    plan = plan_of(opened(place, budget=1), rows, mechanism=mechanism, epsilon="0.1")
    for k in range(10):
        with place.open() as ledger:
            release = plan_release(ledger, plan)
            if k < 9:
                ledger.reserve(release)
    draw(place, plan, release)
    with place.open() as ledger:
        made, view = certificate_of(ledger, plan, release), ledger.view()
        assert ledger.account(plan.population).remaining == 0
        with pytest.raises(RuleError):
            plan_release(ledger, plan)
    assert made["mechanism"]["epsilon"] == "1/10"
    parts = [Fraction(part["epsilon"]) for part in made["mechanism"]["parts"]]
    assert 0 <= Fraction(1, 10) - sum(parts) < Fraction(len(parts), 2**40)
    assert made["composition"]["sum_epsilon"] == "1/1"
    assert verify(made, view).failure == ""
    for off in (Fraction(1, 2**60), Fraction(1, 2**40), Fraction(-1, 2**40)):
        forged = json.loads(canonical(made))
        epsilon = parts[-1] + off
        forged["mechanism"]["parts"][-1]["epsilon"] = f"{epsilon.numerator}/{epsilon.denominator}"
        assert verify(forged, view).failure.startswith("mechanism.")


def test_sums_that_no_ledger_could_hold_are_refused_before_they_are_spent(tmp_path: Path) -> None:
    place, rows = place_in(tmp_path), write_rows(tmp_path / "rows.csv")
    plan = plan_of(opened(place), rows, epsilon=f"{10**120}/{10**120 + 1}")
    with place.open() as ledger:
        release = plan_release(ledger, plan)
        with pytest.raises(RuleError, match="characters"):
            ledger.reserve(release)
        assert ledger.account(plan.population).spent == 0


# -- entered before


@pytest.fixture
def before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[LedgerLocation, dict[str, Any]]:
    folder = tmp_path / "before"
    shutil.copytree(BEFORE, folder)
    place = LedgerLocation(folder / "ledger.sqlite", folder / "ledgers.json")
    monkeypatch.setattr(settings, "default_settings", lambda: place.settings)
    return place, json.loads((folder / "releases.json").read_text(encoding="utf-8"))


@pytest.mark.full
@pytest.mark.parametrize(
    ("mechanism", "state"),
    [("count.users/1", "planned"), ("mean/1", "reserved"), ("heatmap.pyramid/1", "planned")],
)
def test_what_was_entered_before_goes_on_with_the_epsilon_of_its_entry(
    before: tuple[LedgerLocation, dict[str, Any]], mechanism: str, state: str, tmp_path: Path
) -> None:
    place, known = before
    release = known["releases"][f"{mechanism} {state}"]
    with place.open() as ledger:
        assert not ledger.problem
        assert ledger.notices == []
        assert ledger.release(release).state == state
        spent = ledger.account(known["population"]).spent
        again = load_plan(ledger, release, place.ledger.parent / "rows.csv")
    assert again.epsilon == ROUNDED
    said = content(known["population"], "rows.csv", mechanism=mechanism, epsilon="1/10")
    plan = write_plan(place.ledger.parent, said)
    out = tmp_path / "out.json"
    order = ["release", str(plan), "--ledger", str(place.ledger), "--resume", release]
    # the number that was typed then, or the one that is charged
    spend = "0.1" if state == "planned" else f"{ROUNDED.numerator}/{ROUNDED.denominator}"
    assert run([*order, "--spend", "0.11", "--out", str(out)]) == 1
    assert run([*order, "--spend", spend, "--out", str(out)]) == 0
    made = json.loads(out.with_suffix(".certificate.json").read_bytes())
    assert Fraction(made["mechanism"]["epsilon"]) == ROUNDED
    with place.open() as ledger:
        more = 0 if state == "reserved" else ROUNDED
        assert ledger.account(known["population"]).spent == spent + more
        assert verify(made, ledger.view()).failure == ""
    assert run([*order, "--out", str(out)]) == 0  # written again, for free


@pytest.mark.parametrize("mechanism", ["count.users/1", "mean/1", "heatmap.pyramid/1"])
def test_certificates_from_before_hold(
    before: tuple[LedgerLocation, dict[str, Any]], mechanism: str
) -> None:
    place, _ = before
    path = place.ledger.parent / f"certificate {mechanism.replace('/', '-')}.json"
    with place.open() as ledger:
        assert verify(json.loads(path.read_bytes()), ledger.view()).failure == ""
