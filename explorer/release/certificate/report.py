"""Content of the printed pages of a certificate: sections of rows, without layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from explorer.release.rounding import rounded_up

PROGRAM, DECLARED, NOT_COVERED = "program", "declared", "not covered"


@dataclass(frozen=True)
class Row:
    """A line of a page: name, statement, and who is responsible for it."""

    name: str
    text: str
    source: str = PROGRAM


@dataclass(frozen=True)
class Section:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]


def sections(certificate: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return all statements of a certificate, in the order of its pages."""
    return (
        Section("Release", _release(certificate)),
        Section("Promise", _promise(certificate)),
        Section("Mechanism", _mechanism(certificate)),
        *([Section("Public maps", _priors(certificate))] if "priors" in certificate else []),
        Section("Budget", _budget(certificate)),
        Section("All releases about these people", _composition(certificate)),
        Section("Output and its error", _output(certificate)),
        Section("Conditions", _conditions(certificate)),
        Section("Evaluation after NIST SP 800-226", evaluation_rows(certificate)),
        Section("Check it", (Row("Command", certificate["verify"]),)),
    )


def evaluation_rows(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows of NIST SP 800-226 with their status."""
    return tuple(Row(row["row"], row["text"], row["status"]) for row in certificate["evaluation"])


def _statement(name: str, statement: Mapping[str, str]) -> Row:
    return Row(name, statement["text"], statement["source"])


def _release(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    program, data = certificate["program"], certificate["data"]
    return (
        _statement("Title", certificate["title"]),
        _statement("Curator", certificate["curator"]),
        _statement("Description", certificate["description"]),
        _statement("Intended use", certificate["intended_use"]),
        Row("Certificate", certificate["id"]),
        Row("Issued", certificate["issued"]),
        _statement("Data", data["label"]),
        _statement("Period", data["period"]),
        _statement("Region", data["region"]),
        _statement("Kind of source", data["source_type"]),
        Row("Tag of the data file", data["tag"]),
        Row("Program", f"{program['name']} {program['version']}"),
        Row("Randomness", program["randomness"]),
    )


def _promise(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    protection, population = certificate["protection"], certificate["population"]
    different = ", ".join(population["declared_different_people"]) or "none"
    return (
        Row("In a sentence", certificate["sentence"]),
        Row("Unit", protection["unit"]),
        Row("Neighbours", protection["neighbours"]),
        Row("Variant and model", f"{protection['variant']}, {protection['model']}"),
        Row("Other rows instead of a user's", f"ε = {_number(protection['replace_epsilon'])}"),
        _statement("People", population["label"]),
        Row("Population", population["id"]),
        Row("Accounts joined", population["joined"]),
        Row("Declared to be other people", different, DECLARED),
        *(Row("Out of scope", text, NOT_COVERED) for text in certificate["out_of_scope"]),
    )


def _mechanism(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    mechanism, parameters_chosen = certificate["mechanism"], certificate["parameters_chosen"]
    parameters = (
        Row(name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in mechanism["parameters"].items()
    )
    parts = (
        Row(
            part["name"],
            f"ε = {_number(part['epsilon'])}, sensitivity {part['sensitivity']}, {part['noise']}",
        )
        for part in mechanism["parts"]
    )
    return (
        Row("Mechanism", mechanism["id"]),
        Row("ε", _number(mechanism["epsilon"])),
        *parts,
        *parameters,
        *(
            (Row("File format", parameters_chosen["format"]),)
            if "format" in parameters_chosen
            else ()
        ),
        Row("Parameters on record", parameters_chosen["record"]),
        Row("True map shown", f"{parameters_chosen['true_map_shown']} times"),
        Row("Independent of the data", parameters_chosen["independent_of_data"], DECLARED),
    )


def _priors(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    return tuple(_statement("Statement", item) for item in certificate["priors"]["statements"])


def _budget(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    ledger, composition = certificate["ledger"], certificate["composition"]
    at, fixed = composition["epsilon_at_delta"], composition["if_fixed_in_advance"]
    raised = (
        Row("Budget raised", f"{_number(s['from'])} → {_number(s['to'])}, {s['date']}")
        for s in ledger["budget_raised"]
    )
    return (
        Row("Gate", ledger["gate"]),
        Row("Budget", _number(ledger["budget"])),
        *((Row("δ", ledger["delta"]),) if ledger["delta"] else ()),
        *raised,
        Row("Σε", _number(composition["sum_epsilon"])),
        Row("Σε²/2", _number(composition["sum_rho"])),
        Row("Remaining", _number(composition["remaining"])),
        *((Row(f"ε at δ = {at['delta']}", at["epsilon_rounded_up"]),) if at else ()),
        Row(
            "If these ε's had been fixed in advance",
            f"ε = {_number(fixed['epsilon'])} at δ = {fixed['delta_rounded_up']} "
            f"({fixed['method']}); not a gate",
        ),
        *(Row("Remark", remark) for remark in ledger["remarks"]),
        Row("Ledger", f"{ledger['id']}, entry {ledger['seq']}"),
        Row("Entry's hash", ledger["entry_hash"]),
    )


def _composition(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    composition = certificate["composition"]
    return (
        *(
            Row(
                f"Entry {r['seq']}",
                f"{r['date']}, {r['mechanism']}, ε = {_number(r['epsilon'])}, {r['state']}",
            )
            for r in composition["releases"]
        ),
        *(
            Row("Not added", f"{a['what']}: {a['why_not_added']}")
            for a in composition["accounts_apart"]
        ),
    )


def _output(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    output = certificate["output"]
    return (
        Row("SHA-256", output["sha256"]),
        Row("Format", f"{output['format']}, {' × '.join(map(str, output['shape']))}"),
        *(
            Row(e["quantity"], f"±{e['half_width']} with probability {e['probability']}")
            for e in certificate["expected_error"]
        ),
        *(_statement("Post-processing", step) for step in certificate["post_processing"]),
    )


def _conditions(certificate: Mapping[str, Any]) -> tuple[Row, ...]:
    return tuple(_statement("Condition", item) for item in certificate["conditions"])


def _number(text: str) -> str:
    """Return a fraction as an exact decimal if possible, else with an upper bound."""
    value = Fraction(text)
    if value.denominator == 1:
        return str(value)
    decimals = rounded_up(value)
    return decimals if Fraction(decimals) == value else f"{text} (at most {decimals})"
