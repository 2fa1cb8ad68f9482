"""Verification of a certificate: alone, with its ledger, its data, or another certificate.

Each check recomputes a part of the certificate; verification stops at the first failure. Declared
statements, and the absence of other outputs, can't be verified and are marked as declared in the
certificate.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from explorer.privacy.core.bound import FloatArray
from explorer.release.certificate import sentences
from explorer.release.certificate.computed_fields import (
    alone_cap,
    cap_of,
    composition_at,
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
from explorer.release.certificate.schema import SCHEMA, SCHEMA_1, CertificateError, check_schema
from explorer.release.certificate.sentences import VERSION_1
from explorer.release.errors import ReleaseError
from explorer.release.exact_json import (
    canonical,
    read_fraction,
    read_json,
    sha256,
    write_fraction,
)
from explorer.release.ledger.keys import file_tag
from explorer.release.ledger.state import (
    MAX_DELTA,
    NO_KEY,
    NOT_JOINED,
    REMARKS,
    Account,
    Release,
)
from explorer.release.ledger.view import View
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import AdaptivePriorParameters, PriorMasses, priors_in
from explorer.release.mechanisms.base import UNIT
from explorer.release.mechanisms.fields import check_columns
from explorer.release.priors import RELEASED, check_releases
from explorer.release.rows.format import FORMAT_DECLARED, FORMAT_KEYS, FileFormat

Certificate = Mapping[str, Any]

_SENTENCES = {SCHEMA_1: VERSION_1, SCHEMA: sentences.CURRENT}
WEIGHT_TOLERANCE = 1e-6
"""By which the weights of public maps may differ between machines."""
_LATER_FIELDS = {
    "": ("areas", "printing", "series"),
    "protection": ("zone", "periods", "user_level"),
}
"""Fields of version 2 that only later versions of the program write, by section."""


@dataclass
class VerificationReport:
    """Result of a verification.

    Attributes
    ----------
    failure : str
        One sentence; "" if all checks passed.
    checked : list of str
        Names of the checks that passed.
    notes : list of str
        What could not be checked, and why.
    later : list of str
        Consequences of later ledger entries; the certificate stays valid.
    """

    failure: str = ""
    checked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PublicMaps:
    """Public maps given for a verification.

    Attributes
    ----------
    masses : mapping from (kind, key) to ndarray
        What each holds on the release's cells.
    weights : mapping from a level to a number, or None
        Weights of all by level, as an exported map states them (`outputs.read_prior_weights`).
    """

    masses: Mapping[tuple[str, str], FloatArray]
    weights: Mapping[int, float] | None = None


def verify(
    certificate: object,
    view: View | None = None,
    file_sha256: str | None = None,
    also: object | None = None,
    output: bytes | None = None,
    maps: PublicMaps | None = None,
) -> VerificationReport:
    """Verify a certificate.

    Parameters
    ----------
    certificate : object
        As parsed by `read_json`.
    view : View, optional
        Its ledger, or an export of it.
    file_sha256 : str, optional
        Of the data file; the check of its tag needs the ledger's key.
    also : object, optional
        Another certificate of the same ledger, to detect a fork.
    output : bytes, optional
        The stored output, if the certificate does not include it.
    maps : PublicMaps, optional
        Those that the certificate names.
    """
    report = VerificationReport()
    steps: list[tuple[str, Callable[[], object]]] = [
        ("form", lambda: check_schema(certificate)),
        ("sums, budget and error", lambda: _check_sums(certificate, report)),  # type: ignore[arg-type]
        ("output", lambda: _check_output(certificate, view, output, report)),  # type: ignore[arg-type]
    ]
    if maps is None and isinstance(certificate, dict) and "priors" in certificate:
        report.notes.append("public maps: give each with --prior to make the map again")
    if view is not None:
        steps.append(("ledger", lambda: _check_ledger(certificate, view, report)))  # type: ignore[arg-type]
    if maps is not None:
        steps.append(("public maps", lambda: _check_maps(certificate, view, output, maps, report)))  # type: ignore[arg-type]
    if file_sha256 is not None:
        steps.append(("data", lambda: _check_data(certificate, view, file_sha256)))  # type: ignore[arg-type]
    if also is not None:
        steps.append(("other certificate", lambda: _check_fork(certificate, also, view, report)))  # type: ignore[arg-type]
    for name, step in steps:
        try:
            step()
        except ReleaseError as error:
            report.failure = str(error)
            break
        except ArithmeticError:
            report.failure = f"{name}: a number is too large or too small to be true"
            break
        except ValueError as error:
            report.failure = f"{name}: {' '.join(str(error).split())}"
            break
        report.checked.append(name)
    return report


def _equal(name: str, stated: object, expected: object) -> None:
    if stated != expected:
        raise CertificateError(f"{name}: is {_brief(stated)}, but {_brief(expected)} follows")


def _brief(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else canonical(value).decode()
    return text if len(text) <= 100 else text[:99] + "…"


def _check_sums(certificate: Certificate, report: VerificationReport) -> None:
    """Check everything that follows from the certificate alone."""
    _check_fractions(certificate)
    ledger, mechanism = certificate["ledger"], certificate["mechanism"]
    composition, population = certificate["composition"], certificate["population"]
    epsilon, gate = Fraction(mechanism["epsilon"]), ledger["gate"]
    budget = Fraction(ledger["budget"])
    delta = None if ledger["delta"] is None else Fraction(ledger["delta"])
    rows = composition["releases"]
    _check_positive(certificate, delta)
    _check_gate(ledger, certificate["protection"], delta)
    _check_parts(mechanism)
    replace = write_fraction(2 * epsilon)
    _equal("protection.replace_epsilon", certificate["protection"]["replace_epsilon"], replace)
    _check_own_row(certificate, rows)
    total, rho = sums(rows)
    _equal("composition.sum_epsilon", composition["sum_epsilon"], write_fraction(total))
    _equal("composition.sum_rho", composition["sum_rho"], write_fraction(rho))
    spent = rho if gate == "zcdp" else total
    remaining = write_fraction(max(budget - spent, Fraction(0)))
    _equal("composition.remaining", composition["remaining"], remaining)
    plain = population["joined"] == NOT_JOINED
    if plain and spent > budget and all(row["mechanism"] != "external" for row in rows):
        raise CertificateError(f"ledger.budget: {budget} is less than the {spent} spent")
    _check_raises(ledger, joined=not plain)
    _equal("ledger.remarks", ledger["remarks"], [r for r in REMARKS if r in ledger["remarks"]])
    at = composition["epsilon_at_delta"]
    if gate == "sum":
        _equal("composition.epsilon_at_delta", at, None)
    elif plain and delta is not None:
        follows = epsilon_at_delta(alone_cap(budget, rows), delta)
        _equal("composition.epsilon_at_delta", at, follows)
    texts = _SENTENCES[certificate["schema"]]
    fixed, spends = composition["if_fixed_in_advance"], [Fraction(row["epsilon"]) for row in rows]
    if texts is VERSION_1:  # version 1 did not fix the ε of this statement
        follows = composition_at(spends, Fraction(fixed["epsilon"]))
    else:
        follows = if_fixed_in_advance(spends)
    follows["method"] = texts.fixed_method
    _equal_objects("composition.if_fixed_in_advance", fixed, follows)
    sentence = sentences.promise(texts, gate, total, at and at["epsilon_rounded_up"], delta)
    _equal("sentence", certificate["sentence"], sentence)
    _check_sentences(
        certificate, texts, sentences.shown_rows(texts, gate, epsilon, total, budget, delta)
    )
    _note_later_fields(certificate, report)
    _check_mechanism(certificate, texts, report)


def _check_fractions(value: object, name: str = "") -> None:
    """Check that all fractions are reduced."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("inline", "parameters", "text"):
                _check_fractions(item, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_fractions(item, f"{name}[{place}]")
    elif isinstance(value, str) and re.fullmatch(r"[0-9]+/[0-9]+", value):
        read_fraction(value, name)


def _check_positive(certificate: Certificate, delta: Fraction | None) -> None:
    """Check that every ε is positive and δ is in range."""
    mechanism = certificate["mechanism"]
    spent = [("mechanism", mechanism), *(("mechanism.parts", part) for part in mechanism["parts"])]
    spent += [("composition.releases", row) for row in certificate["composition"]["releases"]]
    for name, item in spent:
        if not Fraction(item["epsilon"]) > 0:
            raise CertificateError(f"{name}: epsilon must be above 0")
    if delta is not None and not 0 < delta <= MAX_DELTA:
        raise CertificateError("ledger.delta: must be above 0 and at most 10⁻⁶")


def _check_parts(mechanism: Certificate) -> None:
    """Check that the ε of the parts add up: exactly for one, within 2⁻⁴⁰ a part for several."""
    parts = [Fraction(part["epsilon"]) for part in mechanism["parts"]]
    unused = Fraction(mechanism["epsilon"]) - sum(parts)
    in_units = len(parts) > 1 and all((part / UNIT).denominator == 1 for part in parts)
    if unused < 0 or (unused and not (in_units and unused < len(parts) * UNIT)):
        raise CertificateError(
            f"mechanism.epsilon: {mechanism['epsilon']} is not what its parts spend"
        )


def _check_gate(ledger: Certificate, protection: Certificate, delta: Fraction | None) -> None:
    variant = "zcdp" if ledger["gate"] == "zcdp" else "pure"
    _equal("protection.variant", protection["variant"], variant)
    if (delta is not None) != (variant == "zcdp"):
        raise CertificateError(f"ledger.delta: is not used by a {ledger['gate']} budget")


def _check_own_row(certificate: Certificate, rows: Sequence[Certificate]) -> None:
    """Check that the rows are in order and that the last one is this release."""
    seq = certificate["ledger"]["seq"]
    places = [row["seq"] for row in rows]
    if any(here >= then for here, then in pairwise(places)) or min(places) < 0:
        raise CertificateError("composition.releases: are not in order, or one is listed twice")
    mine = [row for row in rows if row["seq"] == seq]
    if not mine or max(places) > seq:
        raise CertificateError(f"ledger.seq: {seq} is not the last of composition.releases")
    follows = {
        "seq": seq,
        "date": certificate["issued"],
        "mechanism": certificate["mechanism"]["id"],
        "epsilon": certificate["mechanism"]["epsilon"],
        "state": "committed",
    }
    for key, value in follows.items():
        _equal(f"composition.releases[{rows.index(mine[0])}].{key}", mine[0][key], value)
    dates = [row["date"] for row in rows]
    if dates != sorted(dates) and "clock went backwards" not in certificate["ledger"]["remarks"]:
        raise CertificateError("composition.releases: a date is earlier than the one before it")


def _check_raises(ledger: Certificate, *, joined: bool) -> None:
    """Check that raises of the budget are consistent and end at the stated budget."""
    steps = ledger["budget_raised"]
    if steps and ledger["gate"] == "zcdp":
        raise CertificateError("ledger.budget_raised: the ρ of a zcdp budget cannot be raised")
    for place, step in enumerate(steps):
        name = f"ledger.budget_raised[{place}]"
        if Fraction(step["to"]) < Fraction(step["from"]):
            raise CertificateError(f"{name}: a budget can be raised, not lowered")
        if not 0 <= step["seq"] < ledger["seq"]:
            raise CertificateError(f"{name}.seq: {step['seq']} is not an earlier entry")
    if steps and not joined:
        following = [step["from"] for step in steps[1:]] + [ledger["budget"]]
        for place, (step, then) in enumerate(zip(steps, following, strict=True)):
            _equal(f"ledger.budget_raised[{place}].to", step["to"], then)


def _note_later_fields(certificate: Certificate, report: VerificationReport) -> None:
    """Add notes about fields that only a later version of the program can check."""
    unit = certificate["protection"]["unit"]
    if unit != sentences.UNIT:
        raise CertificateError(
            f"protection.unit: {_brief(unit)} is not known to this version; verify with a newer one"
        )
    for section, names in _LATER_FIELDS.items():
        for name in names:
            if name in (certificate[section] if section else certificate):
                path = f"{section}.{name}".lstrip(".")
                report.notes.append(f"{path}: is not known to this version")


def _check_sentences(
    certificate: Certificate, texts: sentences.Sentences, shown: Mapping[str, str]
) -> None:
    """Check the sentences that follow from numbers and declarations."""
    rows = {row["row"]: row for row in certificate["evaluation"]}
    _equal("evaluation", [row["row"] for row in certificate["evaluation"]], list(sentences.ROWS))
    for row, status in sentences.ROWS.items():
        _equal(f"evaluation, {row}, status", rows[row]["status"], status)
        if row in shown:
            _equal(f"evaluation, {row}", rows[row]["text"], shown[row])
    noises = [part["noise"] for part in certificate["mechanism"]["parts"]]
    parameters_chosen = certificate["parameters_chosen"]
    independent = parameters_chosen["independent_of_data"] == "declared"
    form = parameters_chosen.get("format", FORMAT_DECLARED)
    stated = [c["text"] for c in certificate["conditions"] if c["source"] == "program"]
    _equal("conditions", stated, sentences.program_conditions(texts, noises, independent, form))
    declared = [c["text"] for c in certificate["conditions"] if c["source"] == "declared"]
    needed = sentences.declared_conditions(texts, independent, form)
    if missing := [text for text in needed if text not in declared]:
        raise CertificateError(f"conditions: “{missing[0]}” is not declared")
    _equal("out_of_scope", certificate["out_of_scope"], list(texts.out_of_scope))
    if not certificate["verify"].startswith("privacy-explorer verify "):
        raise CertificateError("verify: is not the command that checks a certificate")


def _check_mechanism(
    certificate: Certificate, texts: sentences.Sentences, report: VerificationReport
) -> None:
    """Check parts and expected error against the mechanism with the stated id."""
    mechanism = certificate["mechanism"]
    if mechanism["id"] not in MECHANISMS:
        report.notes.append(
            f"mechanism.id: {mechanism['id']} is not known to this version: counted, not re-derived"
        )
        if "priors" in certificate:
            report.notes.append("priors: this mechanism is not known to this version")
        return
    given = mechanism["parameters"]
    try:
        form, known = FileFormat.parse(given), MECHANISMS[mechanism["id"]]
        own = known.parse(given)
        check_columns(form.columns, known.reads(own), known.id)
        stated = own.as_parameters()
        parts, error = parts_and_error(mechanism["id"], given, Fraction(mechanism["epsilon"]))
    except ReleaseError as problem:
        raise CertificateError(f"mechanism.parameters: {problem}") from None
    _equal_objects(
        "mechanism.parameters", {k: given[k] for k in given if k not in FORMAT_KEYS}, stated
    )
    for key, rows in (("name", parts), ("quantity", error)):
        for row in rows:
            row[key] = texts.of_mechanism(row[key])
    _equal("mechanism.parts", mechanism["parts"], parts)
    _equal("expected_error", certificate["expected_error"], error)
    if texts.of_priors:
        _equal("priors", certificate.get("priors"), priors_section(texts, known.id, given))


def _check_output(
    certificate: Certificate, view: View | None, given: bytes | None, report: VerificationReport
) -> None:
    """Check the output's hash, shape and post-processing."""
    stated = certificate["output"]
    stored = None if view is None else view.outputs.get(certificate["id"])
    result = [data for data in (given, stored) if data is not None]
    if "inline" in stated:
        result.append(canonical(stated["inline"]))
    for data in result:
        _equal("output.sha256", stated["sha256"], sha256(data))
    if not result:
        report.notes.append("output: stands in a file of its own, which was not given")
    if "inline" not in stated:
        return
    output, mechanism = stated["inline"], certificate["mechanism"]
    if not isinstance(output, dict):
        raise CertificateError("output.inline: is not an object")
    _equal("output.shape", stated["shape"], shape_of(output))
    if mechanism["id"] in MECHANISMS:
        try:
            steps = post_processing(
                mechanism["id"], mechanism["parameters"], Fraction(mechanism["epsilon"]), output
            )
        except (ReleaseError, KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise CertificateError("output.inline: is not an output of this mechanism") from None
        texts = _SENTENCES[certificate["schema"]]
        follows = [{**step, "text": texts.of_mechanism(step["text"])} for step in steps]
        _equal("post_processing", certificate["post_processing"], follows)


def _check_maps(
    certificate: Certificate,
    view: View | None,
    given: bytes | None,
    maps: PublicMaps,
    report: VerificationReport,
) -> None:
    """Make the map again from the stored numbers and public maps; compare the weights by level."""
    mechanism = certificate["mechanism"]
    known = MECHANISMS.get(mechanism["id"])
    own = None if known is None else known.parse(mechanism["parameters"])
    if known is None or not isinstance(own, AdaptivePriorParameters) or not own.priors:
        raise CertificateError("priors: the certificate names no public map; leave out --prior")
    keys = {(prior.kind, prior.key): prior for prior in own.priors}
    for key, prior in keys.items():
        if key not in maps.masses:
            raise CertificateError(
                f"priors: “{prior.name}” ({prior.kind}:{prior.key}) is not given"
            )
    if strange := [key for key in maps.masses if key not in keys]:
        raise CertificateError(f"priors: {':'.join(strange[0])} is not a map of this certificate")
    stated = certificate["output"]
    data = given or (None if view is None else view.outputs.get(certificate["id"]))
    stored = read_json(data, "the output") if data else stated.get("inline")
    if stored is None:
        raise CertificateError("output: it is in a file of its own; give its path with --output")
    own = own.with_given(tuple(PriorMasses(maps.masses[key]) for key in keys))
    shown = known.shown(stored, own, Fraction(mechanism["epsilon"]))
    if maps.weights is None:
        report.notes.append("weights of the public maps: give the exported map (--map)")
        return
    weights = dict(shown.prior_weights)
    _equal("map, levels with weights", sorted(maps.weights), sorted(weights))
    for level, weight in weights.items():
        if not abs(maps.weights[level] - weight) <= WEIGHT_TOLERANCE:
            raise CertificateError(
                f"map, weight on level {level}: is {maps.weights[level]!r}, but {weight!r} follows"
            )


def _check_ledger(certificate: Certificate, view: View, report: VerificationReport) -> None:
    """Check the certificate against the ledger's entries."""
    stated = certificate["ledger"]
    _equal("ledger.id", stated["id"], view.id)
    seq = stated["seq"]
    if seq >= len(view.entries):
        raise CertificateError(
            f"ledger.seq: the ledger given ends before entry {seq}: it is older than the "
            "certificate, or was rolled back"
        )
    if view.entries[seq].hash != stated["entry_hash"]:
        raise CertificateError(
            f"ledger.entry_hash: entry {seq} of the ledger given differs: the certificate "
            "was changed, or belongs to another copy of this ledger"
        )
    body = view.entries[seq].body
    _equal("id", certificate["id"], body.get("release"))
    _equal("ledger.seq, kind", body.get("kind"), "commit")
    release = view.state.release(certificate["id"])
    _equal_objects("ledger", stated, ledger_section(view, release))
    population = population_section(view, release)
    if not population["label"]["text"]:
        population["label"] = certificate["population"]["label"]
    # earlier versions wrote the id of a population whose budget had been raised since
    ids = view.until(seq).account_of(release.population).different_from
    named = certificate["population"]["declared_different_people"]
    if len(named) == len(ids):
        population["declared_different_people"] = [
            name if name == other else label
            for name, other, label in zip(
                named, ids, population["declared_different_people"], strict=True
            )
        ]
    _equal_objects("population", certificate["population"], population)
    own = (
        MECHANISMS[release.mechanism].parse(release.parameters or {})
        if (release.mechanism in MECHANISMS)
        else None
    )
    check_releases(
        view.until(seq),
        release.population,
        release.epsilon,
        priors_in(own),
        ("withdrawn", *RELEASED),
    )
    rows = release_rows(view, release)
    _equal("composition.releases", certificate["composition"]["releases"], rows)
    account = view.until(seq).account_of(release.population)
    cap = cap_of(account)
    if cap is not None and account.delta is not None:
        at = epsilon_at_delta(cap, account.delta)
        _equal("composition.epsilon_at_delta", certificate["composition"]["epsilon_at_delta"], at)
    _equal("output.sha256", certificate["output"]["sha256"], release.output_sha256)
    if release.parameters is not None:
        _equal_objects(
            "mechanism.parameters", certificate["mechanism"]["parameters"], release.parameters
        )
    if release.tag is not None:
        _equal("data.tag", certificate["data"]["tag"], release.tag)
    fixed = certificate["parameters_chosen"]["record"] == "fixed before the data were opened"
    if fixed and release.planned is None:
        raise CertificateError("parameters_chosen.record: the ledger has no plan of this release")
    _check_published(certificate, release, report)
    report.later += _later_entries(view, release, account)


def _later_entries(view: View, release: Release, account: Account) -> list[str]:
    """Return consequences of later entries for users of the certificate."""
    consequences = []
    if release.state == "withdrawn":
        consequences.append("the release was withdrawn; what it cost stays spent")
    if account.gate != "zcdp":  # its sentence covers the releases so far only
        return consequences
    now, cap = view.state.account_of(release.population), account.rho_cap
    if now.gate != account.gate or now.delta != account.delta:
        consequences.append(
            "the account was joined to one of another kind: its ρ does not hold any more"
        )
    elif now.rho_cap > cap and now.delta is not None:
        at = epsilon_at_delta(now.rho_cap, now.delta)["epsilon_rounded_up"]
        consequences.append(
            "outputs from elsewhere were entered, or accounts joined: all releases together are "
            f"now within ρ = {now.rho_cap}, which is ε = {at} at δ = {now.delta}"
        )
    return consequences


def _equal_objects(name: str, stated: Certificate, expected: Certificate) -> None:
    for key in expected.keys() | stated.keys():
        _equal(f"{name}.{key}", stated.get(key), expected.get(key))


def _check_published(
    certificate: Certificate, release: Release, report: VerificationReport
) -> None:
    """Check that the certificate is byte for byte the published one."""
    if release.certificate_sha256 is not None:
        if sha256(canonical(certificate)) != release.certificate_sha256:
            raise CertificateError(
                "the certificate: it is not, byte for byte, the one that was published"
            )
    else:
        report.notes.append(
            "certificate's hash: not in this ledger, so declared texts could have been changed"
        )


def _check_data(certificate: Certificate, view: View | None, file_sha256: str) -> None:
    """Check the keyed tag of the data file."""
    if view is None or view.key is None:
        raise CertificateError(
            "data.tag: can't be checked without the ledger's key; give the ledger itself, with its "
            "key beside it"
        )
    tag = file_tag(view.key, certificate["id"], file_sha256)
    if hmac.compare_digest(tag, certificate["data"]["tag"]):
        return
    if any(
        entry.body.get("kind") == "moved" and entry.body.get("remark") == NO_KEY
        for entry in view.entries[certificate["ledger"]["seq"] :]
    ):
        raise CertificateError(
            "data.tag: cannot be checked, as the ledger's key was replaced after this release"
        )
    raise CertificateError("data.tag: the data file is not the one that was released from")


def _check_fork(
    certificate: Certificate, other: Certificate, view: View | None, report: VerificationReport
) -> None:
    """Detect a fork of the ledger from two certificates."""
    try:
        check_schema(other)
    except CertificateError as error:
        raise CertificateError(f"the other certificate: {error}") from None
    mine, theirs = certificate["ledger"], other["ledger"]
    if mine["id"] != theirs["id"]:
        report.notes.append("other certificate: of another ledger, so nothing follows from it")
        return
    fork = "the ledger was forked; the total spent is at most the sum of both"
    if mine["seq"] == theirs["seq"] and mine["entry_hash"] != theirs["entry_hash"]:
        raise CertificateError(f"ledger.entry_hash: two entries have number {mine['seq']}: {fork}")
    known = [] if view is None else view.entries[theirs["seq"] :]
    if known and known[0].hash != theirs["entry_hash"]:
        raise CertificateError(f"the other certificate: its entry is not in the ledger: {fork}")
    if known or certificate["population"]["id"] != other["population"]["id"]:
        return
    earlier, later = sorted((certificate, other), key=lambda one: int(one["ledger"]["seq"]))
    if not _continues(later, earlier):
        upto = earlier["ledger"]["seq"]
        raise CertificateError(f"composition.releases: they differ up to entry {upto}: {fork}")


def _continues(later: Certificate, earlier: Certificate) -> bool:
    """Return whether the rows of two certificates about one population fit one ledger.

    Rows of drawn or lost releases never change. Reserved or started ones may have been given back,
    or drawn and renumbered. Joining accounts adds rows of earlier entries.
    """
    upto = earlier["ledger"]["seq"]
    before = {_row(row): row["state"] for row in earlier["composition"]["releases"]}
    after = {_row(row) for row in later["composition"]["releases"] if row["seq"] <= upto}
    final_rows = {row for row, state in before.items() if state not in ("reserved", "started")}
    joined = later["population"]["joined"] != NOT_JOINED
    return final_rows <= after and (joined or after <= before.keys())


def _row(row: Certificate) -> tuple[Any, ...]:
    return row["seq"], row["mechanism"], row["epsilon"]
