"""Comparison of a release with real deployments, at equal unit and period of privacy.

``registry-strip.json`` has facts from 15 of 41 entries of opendp/deployments-registry-data at one
commit, with its licence; no entry was approved at that commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from explorer.privacy.releases.budgets import user_level_bound
from explorer.release.rounding import rounded_up
from explorer.resources import resource_bytes


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
    values = ", ".join(f"{name} {_plain(value)}" for name, value in row["parameters"].items())
    return Deployment(
        f"{row['name']} ({', '.join(row['curators'])})",
        row["published"][:4],
        f"{row['variant']}, {values}, {row['unit'] or 'unit not stated'}, {row['model'].lower()}",
        bar,
        arithmetic,
        row["movement"],
    )


def _plain(value: object) -> str:
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
