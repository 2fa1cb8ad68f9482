"""Entry for the registry of deployments of differential privacy, and comparison with others there.

Fields and rules are those of opendp/deployments-registry-data (MIT) at commit 3e9c812a: a file
named ``[a-z0-9_]+.yaml``, a slug from name, curators and year, a quoted date, no folded text, and
formulas between double-backslash parentheses.

Releases are compared at equal unit and period of privacy. ``registry-strip.json`` has facts from 15
of 41 entries of that registry at one commit, with its licence; no entry was approved there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import yaml

from explorer.privacy.releases.budgets import user_level_bound
from explorer.release.certificate.computed_fields import alone_cap
from explorer.release.certificate.sentences import NOTHING_DECLARED
from explorer.release.ledger.state import NOT_JOINED
from explorer.release.rounding import rounded_up
from explorer.resources import resource_bytes

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
SOURCE_TYPES = ("Static", "Dynamic")

_EPSILON, _DELTA, _RHO = (rf"\\(\{name}\\)" for name in ("epsilon", "delta", "rho"))


def registry_entry(
    certificate: Mapping[str, Any], *, name: str = "", sector: str = ""
) -> dict[str, Any]:
    """Return the content of the entry, in the registry's order.

    Parameters
    ----------
    certificate : mapping
        A verified certificate.
    name : str
        Of the data product; default: the certificate's title.
    sector : str
        One of `SECTORS`, or "" to omit it.

    Raises
    ------
    ValueError
        If the sector is unknown.
    """
    if sector and sector not in SECTORS:
        raise ValueError(f"sector: {sector!r} is not one of {', '.join(SECTORS)}")
    title = _plain(name or certificate["title"]["text"])
    curator = _plain(certificate["curator"]["text"])
    basic = {
        "name": title,
        "data_curators": [curator],
        "intended_use": _plain(certificate["intended_use"]["text"]),
        "data_product_type": "Summary statistics",
        "data_product_region": _plain(certificate["data"]["region"]["text"]),
        "description": _plain(certificate["description"]["text"]),
        "publication_date": certificate["issued"],
        **({"data_product_sector": sector} if sector else {}),
    }
    return {
        "url_slug": _slug(title, curator, certificate["issued"][:4]),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            "dp_variant": _variant(certificate),
            "privacy_loss": _loss(certificate),
            "deployment_model": _model(certificate, curator),
            "accounting": _accounting(certificate),
            "implementation": _implementation(certificate),
            "administrative": {
                "notes": _block(f"Generated from certificate {certificate['id']}."),
                "registry_authors": [curator],
            },
        },
    }


def registry_yaml(certificate: Mapping[str, Any], *, name: str = "", sector: str = "") -> str:
    """Return the entry as YAML; see `registry_entry`."""
    entry = registry_entry(certificate, name=name, sector=sector)
    text: str = yaml.dump(
        entry, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000
    )
    return text


def registry_file(certificate: Mapping[str, Any]) -> str:
    """Return a file name for the entry."""
    words = re.findall(r"[a-z0-9]+", certificate["title"]["text"].lower())
    return f"{'_'.join(words)[:80].strip('_') or 'release'}.yaml"


def _variant(certificate: Mapping[str, Any]) -> dict[str, str]:
    columns = certificate["mechanism"]["parameters"].get("columns", [])
    named = f" ({', '.join(map(str, columns))})" if isinstance(columns, list) and columns else ""
    pure = certificate["protection"]["variant"] == "pure"
    priors = certificate.get("priors", {"statements": []})
    texts = (_plain(one["text"]).replace("ε", _EPSILON) for one in priors["statements"])
    public = "".join(f" {text}" for text in texts)
    return {
        "variant_name": "Pure DP" if pure else "Zero-concentrated DP",
        "data_domain": _block(f"Tables of rows{named} of any length, each with a user's id."),
        "unprotected_quantities": _block(
            "None of the data. Public and fixed beforehand: the box, the period, the file format "
            f"and all other parameters.{public}"
        ),
    }


def _loss(certificate: Mapping[str, Any]) -> dict[str, Any]:
    mechanism, composition = certificate["mechanism"], certificate["composition"]
    ledger, epsilon = certificate["ledger"], Fraction(mechanism["epsilon"])
    total, budget = Fraction(composition["sum_epsilon"]), Fraction(ledger["budget"])
    if ledger["gate"] == "zcdp":
        at = composition["epsilon_at_delta"]
        cap = alone_cap(budget, composition["releases"])
        parameters = {"rho": float(rounded_up(cap, 6))}
        details = (
            f"All releases about these people are within {_RHO} = {cap}{_joined(certificate)}, "
            f"which is {_EPSILON} = {at['epsilon_rounded_up']} at {_DELTA} = {at['delta']}; this "
            f"release is {_EPSILON}-DP with {_EPSILON} exactly {epsilon}."
        )
    else:
        parameters = {"epsilon": float(rounded_up(epsilon, 6))}
        details = (
            f"Exactly {epsilon} for this release. All releases about these people so far: {total} "
            f"of a budget of {budget}, by addition."
        )
    return {
        "privacy_unit": "User-level",
        "privacy_unit_details": _block(
            "Neighbouring data sets differ by one user id, added or removed with all its rows in "
            "all files of the population. Replacing a user's rows: twice the parameter."
        ),
        "privacy_parameters": parameters,
        "privacy_parameters_details": _block(details),
    }


def _joined(certificate: Mapping[str, Any]) -> str:
    joined = certificate["population"]["joined"] != NOT_JOINED
    return " for each of the accounts that were joined" if joined else ""


def _model(certificate: Mapping[str, Any], curator: str) -> dict[str, Any]:
    several = len(certificate["composition"]["releases"]) > 1 or (
        Fraction(certificate["composition"]["remaining"]) > 0
    )
    source = certificate["data"]["source_type"]["text"]
    return {
        "model_name": "Central",
        "actors": _block(
            "- Users (trust the curator)",
            f"- Curator: {curator} (holds the raw file)",
            "- Readers: anybody, not trusted",
        ),
        "release_type": "Many releases" if several else "One release",
        "release_type_details": _block(
            "The budget never refreshes; each release adds to the same sum."
        ),
        **({"data_source_type": source} if source in SOURCE_TYPES else {}),
        "access_type": "Non-interactive",
    }


def _accounting(certificate: Mapping[str, Any]) -> dict[str, str]:
    steps = [_as_sentence(_plain(step["text"])) for step in certificate["post_processing"]]
    gate = (
        f"the sum of all {_EPSILON}²/2 stays within the budget {_RHO} (zCDP filter)"
        if certificate["ledger"]["gate"] == "zcdp"
        else f"the sum of all {_EPSILON} stays within the budget (pure filter)"
    )
    return {
        "post_processing": _block(" ".join(steps)),
        "composition": _block(
            f"Sequential, parameters chosen adaptively: a new release is refused unless {gate}."
        ),
    }


def _implementation(certificate: Mapping[str, Any]) -> dict[str, str]:
    parameters_chosen, mechanism = certificate["parameters_chosen"], certificate["mechanism"]
    independence = (
        "is declared by the curator"
        if parameters_chosen["independent_of_data"] == "declared"
        else "is not declared"
    )
    declared = next(r["text"] for r in certificate["evaluation"] if r["row"] == "data security")
    security = "not declared." if declared == NOTHING_DECLARED else f"declared: {_plain(declared)}"
    version = _plain(certificate["program"]["version"])
    errors = [
        f"{_plain(error['quantity'])} ±{error['half_width']} with probability "
        f"{error['probability']}"
        for error in certificate["expected_error"]
    ]
    return {
        "preprocessing_and_hyperparameter_tuning": _block(
            "File format, box and period were declared before noise was drawn. Record: "
            f"{parameters_chosen['record']}; the true map had been shown "
            f"{parameters_chosen['true_map_shown']} times; "
            f"independence from the data {independence}."
        ),
        "mechanisms": _block(
            *(
                f"- {mechanism['id']}, {_plain(part['name'])}: {_noise(part)}, sampled exactly "
                "from integers with the operating system's random source (Privacy Explorer "
                f"{version})."
                for part in mechanism["parts"]
            ),
            "- Floating point: none between a user's rows and the stored integers.",
            "- Timing: not covered (non-interactive).",
            f"- Data security: {security}",
        ),
        "justification": _block(f"Expected error: {'; '.join(errors) or 'not stated'}."),
    }


def _as_sentence(text: str) -> str:
    """Return a step with a full stop, which steps of version 1 certificates lack."""
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


def _noise(part: Mapping[str, Any]) -> str:
    if part["noise"] == "permute-and-flip":
        return "permute-and-flip on whole numbers of users"
    scale = part["sensitivity"] / Fraction(part["epsilon"])
    return f"whole numbers plus discrete Laplace noise of scale {rounded_up(scale)}"


def _slug(name: str, curators: str, year: str) -> str:
    parts = [re.sub(r"\W+", "_", part.lower()) for part in (name, curators, year)]
    return "_".join(parts).replace("_", "-")


class _Block(str):
    """Text written as a literal YAML block."""


class _Dumper(yaml.SafeDumper):
    """YAML writer with literal blocks, quoted dates and indented lists."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
)


def _block(*lines: str) -> _Block:
    return _Block("\n".join(lines) + "\n")


def _plain(text: str) -> str:
    """Return declared text on one line, without backslashes (which begin formulas)."""
    return " ".join(text.split()).replace("\\", "/")


@dataclass(frozen=True)
class Deployment:
    """A row of the comparison.

    Attributes
    ----------
    name, year : str
        Name with curators, and year of publication.
    registered : str
        Variant, parameters and unit as registered.
    bar : Fraction or None
        Upper bound of ε for a user over the whole period; None if it can't be derived.
    arithmetic : str
        Derivation of `bar`, or why there is none.
    movement : bool
        Whether the data are about movement.
    """

    name: str
    year: str
    registered: str
    bar: Fraction | None
    arithmetic: str
    movement: bool


@dataclass(frozen=True)
class DeploymentComparison:
    """Deployments to compare with a release.

    Attributes
    ----------
    rows : tuple of Deployment
        The release first, if given.
    source : str
        Source of the facts and their review status.
    licence : str
    """

    rows: tuple[Deployment, ...]
    source: str
    licence: str


def compare_deployments(certificate: Mapping[str, Any] | None = None) -> DeploymentComparison:
    """Return the registered deployments, after the release of a certificate if given."""
    stored = _store()
    rows = tuple(_row(row) for row in stored["rows"])
    mine = () if certificate is None else (_own(certificate),)
    source = (
        f"{stored['source']}, commit {stored['commit'][:8]}, {len(rows)} of "
        f"{stored['entries_there']} entries; {stored['review']}"
    )
    return DeploymentComparison((*mine, *rows), source, stored["licence"])


@cache
def _store() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(resource_bytes("release/registry-strip.json"))
    return result


def _row(row: Mapping[str, Any]) -> Deployment:
    known = row["user_level"]
    bar, arithmetic = None, row["remark"] or ""
    if known is not None:
        each, units = Fraction(known["epsilon_per_unit"]), known["units"]
        bar = user_level_bound(each, units)
        arithmetic = (
            known["why"]
            if units == 1
            else f"{rounded_up(each)} a {known['unit']} × {units} {known['unit'].split('-')[-1]}s "
            f"= {rounded_up(bar)}, upper bound by addition; {known['why']}"
        )
    values = ", ".join(
        f"{name} {_parameter_text(value)}" for name, value in row["parameters"].items()
    )
    return Deployment(
        f"{row['name']} ({', '.join(row['curators'])})",
        row["published"][:4],
        f"{row['variant']}, {values}, {row['unit'] or 'unit not stated'}, {row['model'].lower()}",
        bar,
        arithmetic,
        row["movement"],
    )


def _parameter_text(value: object) -> str:
    """Return a registered value as text; formulas are not shown."""
    return "by a formula" if "\\" in str(value) else str(value)


def _own(certificate: Mapping[str, Any]) -> Deployment:
    total = Fraction(certificate["composition"]["sum_epsilon"])
    releases = len(certificate["composition"]["releases"])
    return Deployment(
        f"{certificate['title']['text']} ({certificate['curator']['text']})",
        certificate["issued"][:4],
        f"{certificate['protection']['variant']}, epsilon {certificate['mechanism']['epsilon']}, "
        "user id, central",
        total,
        f"all releases so far: {releases}, by addition; user-level",
        True,
    )
