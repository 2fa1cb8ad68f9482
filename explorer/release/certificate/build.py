"""Builds a certificate from ledger, plan and stored output, deterministically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from explorer.release.certificate import sentences
from explorer.release.certificate.computed_fields import (
    cap_of,
    epsilon_at_delta,
    if_fixed_in_advance,
    ledger_section,
    parts_and_error,
    population_section,
    post_processing,
    priors_section,
    release_rows,
    shape_of,
    sums,
)
from explorer.release.certificate.schema import SCHEMA, check_schema
from explorer.release.errors import LedgerError
from explorer.release.exact_json import canonical, read_json, sha256, write_fraction
from explorer.release.ledger.state import Account
from explorer.release.ledger.view import View
from explorer.release.rows.format import FORMAT_DECLARED

MAX_INLINE = 20_000
"""Maximum size of stored output that a certificate includes."""
TEXTS = ("title", "curator", "description", "intended_use")
DATA_TEXTS = ("label", "period", "region", "source_type")


@dataclass(frozen=True)
class Statements:
    """Declarations of the curator, and records outside the ledger's entries.

    Attributes
    ----------
    texts : mapping of str to str
        One for each of `TEXTS` and `DATA_TEXTS`, as a plan's ``declared``.
    independent_of_data : bool
        Whether the curator declares that no parameter was chosen from the data.
    chosen : (str, int)
        When parameters were fixed, and the number of views of the non-private map
        (`Ledger.parameters_chosen`).
    tag : str
        Of the data file (`Ledger.tag`).
    version : str
        Of the program.
    conditions : sequence of str
        Further declared conditions.
    evaluation : mapping from a row of `sentences.ROWS` to str
        Declared texts: model and trust, utility and bias, data security; or collection.
    apart : sequence of (str, str)
        Spending that is not added, and why.
    format : str
        Origin of the file format: `FORMAT_DECLARED` or `FORMAT_TAKEN`.
    """

    texts: Mapping[str, str]
    independent_of_data: bool
    chosen: tuple[str, int]
    tag: str
    version: str
    conditions: Sequence[str] = ()
    evaluation: Mapping[str, str] = field(default_factory=dict)
    apart: Sequence[tuple[str, str]] = ()
    format: str = FORMAT_DECLARED


def build(
    view: View, release: str, stated: Statements, output: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Build the certificate of a committed release.

    Only the stored output and the tag depend on the data.

    Parameters
    ----------
    view : View
        Of the ledger.
    release : str
        Its id.
    stated : Statements
    output : mapping, optional
        The stored output, if the view has none.

    Raises
    ------
    LedgerError
        If the release was not committed.
    CertificateError
        If a declaration violates the schema, such as a text that is too long.
    """
    known = view.state.release(release)
    if known.output_sha256 is None or known.parameters is None:
        raise LedgerError(
            f"release {release}: it was not completed, so it has no certificate; plan it again"
        )
    parts, error = parts_and_error(known.mechanism, known.parameters, known.epsilon)
    data = view.outputs.get(release) if output is None else canonical(dict(output))
    if data is None or sha256(data) != known.output_sha256:
        raise LedgerError(
            f"release {release}: the output given is not the one that was released; give that file"
        )
    stored = _load(data) if output is None else output
    certificate: dict[str, Any] = {
        "schema": SCHEMA,
        "id": release,
        "issued": known.date,
        **{name: _declarations(stated.texts.get(name, "")) for name in TEXTS},
        "program": {
            "name": "Privacy Explorer",
            "version": stated.version,
            "randomness": "operating system",
            "source": "program",
        },
        "ledger": ledger_section(view, known),
        "population": population_section(view, known),
        "data": {
            "tag": stated.tag,
            **{name: _declarations(stated.texts.get(name, "")) for name in DATA_TEXTS},
        },
        "protection": {
            "unit": sentences.UNIT,
            "neighbours": sentences.NEIGHBOURS,
            "variant": "pure",
            "model": "central",
            "replace_epsilon": write_fraction(2 * known.epsilon),
            "source": "program",
        },
        "mechanism": {
            "id": known.mechanism,
            "parameters": dict(known.parameters),
            "epsilon": write_fraction(known.epsilon),
            "parts": parts,
            "source": "program",
        },
        "parameters_chosen": {
            "record": stated.chosen[0],
            "true_map_shown": stated.chosen[1],
            "independent_of_data": "declared" if stated.independent_of_data else "not declared",
            "format": stated.format,
        },
        "output": {
            "sha256": known.output_sha256,
            "format": "json",
            "shape": shape_of(stored),
            **({"inline": stored} if len(data) <= MAX_INLINE else {}),
        },
        "expected_error": error,
        "post_processing": post_processing(
            known.mechanism, known.parameters, known.epsilon, stored
        ),
        "conditions": _conditions(stated, [part["noise"] for part in parts]),
        "out_of_scope": list(sentences.CURRENT.out_of_scope),
        "verify": "privacy-explorer verify certificate.json --ledger ledger.json",
    }
    priors = priors_section(sentences.CURRENT, known.mechanism, known.parameters)
    certificate |= {} if priors is None else {"priors": priors}
    certificate |= _composition_fields(view, release, stated)
    if certificate["ledger"]["gate"] == "zcdp":
        certificate["protection"]["variant"] = "zcdp"
    check_schema(certificate)
    return certificate


def _composition_fields(view: View, release: str, stated: Statements) -> dict[str, Any]:
    """Return the fields that depend on all releases of the account."""
    known = view.state.release(release)
    state = view.until(known.seq)
    account = state.account_of(known.population)
    rows = release_rows(view, known)
    total, rho = sums(rows)
    cap = cap_of(account)
    at = None if cap is None or account.delta is None else epsilon_at_delta(cap, account.delta)
    stated_at = None if at is None else at["epsilon_rounded_up"]
    others = [
        (f"population {other.label or other.population}", _why_apart(account, other))
        for other in state.accounts.values()
        if other is not account
    ]
    return {
        "composition": {
            "releases": rows,
            "sum_epsilon": write_fraction(total),
            "sum_rho": write_fraction(rho),
            "remaining": write_fraction(account.remaining),
            "epsilon_at_delta": at,
            "if_fixed_in_advance": if_fixed_in_advance([Fraction(row["epsilon"]) for row in rows]),
            "accounts_apart": [
                {"what": what, "why_not_added": why} for what, why in (*others, *stated.apart)
            ],
            "source": "program",
        },
        "sentence": sentences.promise(
            sentences.CURRENT, account.gate, total, stated_at, account.delta
        ),
        "evaluation": sentences.evaluation(
            sentences.CURRENT,
            sentences.shown_rows(
                sentences.CURRENT, account.gate, known.epsilon, total, account.budget, account.delta
            ),
            stated.evaluation,
        ),
    }


def _conditions(stated: Statements, noises: Sequence[str]) -> list[dict[str, str]]:
    independent, form = stated.independent_of_data, stated.format
    declared = sentences.declared_conditions(sentences.CURRENT, independent, form)
    declared += stated.conditions
    program = sentences.program_conditions(sentences.CURRENT, noises, independent, form)
    return [_declarations(text) for text in declared] + [
        {"text": text, "source": "program"} for text in program
    ]


def _why_apart(account: Account, other: Account) -> str:
    if other.population in account.different_from or account.population in other.different_from:
        return "declared to be other people, with a budget of their own"
    return "another population, with a budget of its own"


def _declarations(text: str) -> dict[str, str]:
    return {"text": text, "source": "declared"}


def _load(data: bytes) -> dict[str, Any]:
    result: dict[str, Any] = read_json(data, "the stored output")
    return result
