"""The registry's entry, the strip of real deployments, and the pages of a certificate."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st
from jsonschema import Draft7Validator

from explorer.release.certificate.registry import (
    compare_deployments,
    registry_entry,
    registry_file,
    registry_yaml,
)
from explorer.release.certificate.report import evaluation_rows, sections
from explorer.release.certificate.schema import read_certificate
from explorer.release.certificate.sentences import SHOWN
from tests import snapshots
from tests.release import mutations

DATA = Path(__file__).parents[1] / "data" / "release"
EXAMPLE = read_certificate(DATA / "certificate.example.json")
EXPECTED = yaml.safe_load((DATA / "registry-entry.example.yaml").read_text(encoding="utf-8"))
SCHEMA = Draft7Validator(
    yaml.safe_load((DATA / "registry-entry.schema.json").read_text(encoding="utf-8"))
)


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return [text for item in items for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def problems(text: str) -> list[str]:
    """Return what the registry's own checks would say: form, quoting, formulas, slug, order."""
    entry = yaml.safe_load(text)
    found = [error.message for error in SCHEMA.iter_errors(entry)]
    found += [
        f"folded text {token.value!r}"
        for token in yaml.scan(text)
        if getattr(token, "style", None) not in (None, "|", '"', "'")
    ]
    found += [f"backslashes in {t!r}" for t in _texts(entry) if re.search(r"\\\\[^()]", t)]
    basic = entry["deployment"]["basic"]
    parts = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"][:4])
    slug = "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")
    if entry["url_slug"] != slug:
        found.append(f"slug {entry['url_slug']}")
    known = list(SCHEMA.schema["properties"]["deployment"]["properties"])
    if list(entry["deployment"]) != [key for key in known if key in entry["deployment"]]:
        found.append("sections are not in order")
    for section, fields in entry["deployment"].items():
        node = SCHEMA.schema["properties"]["deployment"]["properties"][section]["properties"]
        order = [key for key in node if key in fields]
        if section != "basic" and list(fields) != order:
            found.append(f"{section}: fields are not in order")
    return found


def test_the_entry_of_the_example_passes_the_registrys_checks() -> None:
    text = registry_yaml(
        EXAMPLE, name="People with a check-in in the old town", sector="Government"
    )
    assert problems(text) == []
    entry = yaml.safe_load(text)
    for key in ("url_slug", "status", "tier"):
        assert entry[key] == EXPECTED[key]
    ours, theirs = entry["deployment"], EXPECTED["deployment"]
    assert ours.keys() == theirs.keys()
    for section, fields in theirs.items():
        assert list(ours[section]) == list(fields)
    for section, key in (
        ("basic", "publication_date"),
        ("dp_variant", "variant_name"),
        ("privacy_loss", "privacy_unit"),
        ("privacy_loss", "privacy_parameters"),
        ("privacy_loss", "privacy_unit_details"),
        ("privacy_loss", "privacy_parameters_details"),
        ("deployment_model", "model_name"),
        ("deployment_model", "release_type"),
        ("deployment_model", "access_type"),
        ("accounting", "composition"),
    ):
        assert ours[section][key] == theirs[section][key]
    assert re.fullmatch(r"[a-z0-9_]+\.yaml", registry_file(EXAMPLE))


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_declared_text_breaks_the_entry(title: str, curator: str) -> None:
    document = mutations.changed(EXAMPLE, ("title", "text"), f"A {title}")
    document = mutations.changed(document, ("curator", "text"), f"B {curator}")
    assert problems(registry_yaml(document)) == []
    assert re.fullmatch(r"[a-z0-9_]+\.yaml", registry_file(document))


def test_epsilon_is_rounded_up_and_its_fraction_stands_in_the_details() -> None:
    document = mutations.changed(EXAMPLE, ("mechanism", "epsilon"), "1/3")
    loss = registry_entry(document)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 0.333334}
    assert "Exactly 1/3" in loss["privacy_parameters_details"]
    with pytest.raises(ValueError, match="sector"):
        registry_entry(EXAMPLE, sector="Fishing")


def test_the_strip_puts_unit_and_period_before_epsilon() -> None:
    found = compare_deployments(EXAMPLE)
    assert len(found.rows) == 16
    snapshots.check(found.source)
    assert "15 of 41 entries" in found.source
    assert found.licence.startswith("MIT License")
    assert found.rows[0].bar == Fraction(7, 4)
    mobility = next(row for row in found.rows if row.name.startswith("Community Mobility"))
    assert mobility.bar == Fraction(67254, 25)
    snapshots.check(mobility.arithmetic)
    bars = [row for row in found.rows if row.bar is not None]
    assert len(bars) == 4
    assert all(row.arithmetic for row in found.rows)
    insights = next(row for row in found.rows if row.name.startswith("Vaccine"))
    assert (insights.bar, "daily" in insights.arithmetic) == (None, True)
    assert len(compare_deployments().rows) == 15


def test_the_pages_print_every_statement() -> None:
    printed = sections(EXAMPLE)
    text = "\n".join(f"{row.name} {row.text} {row.source}" for s in printed for row in s.rows)
    for path in mutations.leaves(EXAMPLE):
        value = mutations.at(EXAMPLE, path)
        if path[-1] in ("source", "schema", "not_a_gate") or path[0] == "output":
            continue
        if isinstance(value, str | int) and not re.fullmatch(r"\d+/\d+", str(value)):
            assert str(value) in text, path
    assert EXAMPLE["output"]["sha256"] in text
    rows = evaluation_rows(EXAMPLE)
    assert [row.source for row in rows].count(SHOWN) == 4
    assert [row.source for row in rows].count("not covered") == 1
