"""What a reviewer asks of a guarantee, as text and as LaTeX: everything needed to check it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.figures import captions
from explorer.figures.export_job import ExportJob, recipe_text
from explorer.figures.table_copy import tex
from explorer.figures.view_state import study_of
from explorer.privacy.core.bound import Grade
from explorer.studies.base.claims import Claimed, claimed, stated, unclaimed
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import chance_of, odds_basis, shown_odds
from explorer.studies.base.study import Condition, Result

DEFINITION = (
    "A mechanism M is (ε, δ)-differentially private if for every two neighbouring inputs D and D' "
    "and every set S of outputs Pr[M(D) ∈ S] ≤ e^ε · Pr[M(D') ∈ S] + δ; with δ = 0 it is ε-DP. "
    "Which inputs are neighbouring is said below, once for each meaning"
)
BY_DISTANCE = (
    "ε depends on how far the two inputs are apart, or on what an observer believes, as “In words” "
    "says: the pair below holds of the case described there alone"
)
_GRADES = {
    Grade.PROVED: "proved, rounding of floating-point numbers included",
    Grade.NUMERICAL: (
        "a proved formula summed in floating point, its error estimated and added, not proved"
    ),
}
_HOLDS = {False: "does not hold", None: "to be vouched for", True: "holds"}


def reviewer_lines(
    result: Result, claim: str, recipe: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Return headings, each with its statements.

    Parameters
    ----------
    result : Result
        As it passed the gate.
    claim : str
        Key of the series that the user claims; empty for the tightest valid one.
    recipe : mapping of JSON values
        As it passed the gate.

    Raises
    ------
    ValueError
        If nothing is promised here.
    """
    found = claimed(result, claim)
    told = stated(result, claim)
    promise = told.guarantee
    if promise is None:
        raise ValueError("nothing is promised for these values: see the conditions")
    study = study_of(result)
    chance = chance_of(promise)
    numbers = [f"(ε, δ) = ({at_most(eps)}, {at_most(delta)})" for eps, delta in promise.pairs]
    if promise.distance is not None:
        numbers.append(f"δ(0) ≤ {at_most(promise.distance)}, by the whole law of {promise.law}")
    if chance is not None:
        basis = odds_basis(promise)
        numbers.append(
            f"best odds of an observer who began at 50 : 50: {shown_odds(chance)}"
            + (f", {basis}" if basis else "")
        )
    parts = [
        ("Study", [study.name if study else result.request.study]),
        ("Stamp", [result.stamp] if result.stamp else []),
        ("Definition", [DEFINITION, *([BY_DISTANCE] if promise.qualified else [])]),
        ("Protects", [promise.unit]),
        ("Claimed", _claim_lines(result, found)),
        ("Numbers", numbers),
        ("In words", [line for line in (promise.sentence, promise.beside) if line]),
        ("Neighbouring: replace one", [promise.replace_one]),
        ("Neighbouring: add or remove one", [promise.add_remove]),
        ("Trust", [promise.trust]),
        ("Conditions", [_condition(c) for c in told.conditions if c.of_guarantee]),
        ("Settings", [captions.settings_line(result, with_swept=True)]),
        ("Data", [captions.data_line(recipe)]),
        ("Sources", [str(reference) for reference in promise.references]),
        ("Version", [f"Privacy Explorer {recipe.get('version') or ''}".strip()]),
    ]
    said = ((heading, [line for line in lines if line]) for heading, lines in parts)
    return [(heading, lines) for heading, lines in said if lines]


def text_bytes(job: ExportJob) -> bytes:
    """Return the text of a job that passed the gate, its recipe as the last line."""
    out = []
    for heading, lines in reviewer_lines(job.result, job.view.claim, job.recipe):
        single = len(lines) == 1
        out.append(f"{heading}: {lines[0]}" if single else f"{heading}:")
        out += [] if single else [f"- {line}" for line in lines]
    out += ["", f"# recipe: {recipe_text(job.recipe)}", ""]
    return "\n".join(out).encode()


def latex_bytes(job: ExportJob) -> bytes:
    """Return the same as a LaTeX list, its recipe as a comment."""
    out = [r"\begin{description}"]
    for heading, lines in reviewer_lines(job.result, job.view.claim, job.recipe):
        out.append(rf"\item[{tex(heading)}] {tex(lines[0])}" if len(lines) == 1 else "")
        if len(lines) > 1:
            out[-1] = rf"\item[{tex(heading)}]\hfill\begin{{itemize}}"
            out += [rf"\item {tex(line)}" for line in lines]
            out.append(r"\end{itemize}")
    out += [r"\end{description}", f"% recipe: {recipe_text(job.recipe)}", ""]
    return "\n".join(out).encode()


def _claim_lines(result: Result, found: Claimed | None) -> list[str]:
    """Return whose bound is claimed and how far it is proved; beside a numerical one a proved."""
    if found is None:
        return []
    lines = [found.line, f"Grade: {_GRADES[found.series.grade]}"]
    proved = best_proved(result, found)
    if proved is not None:
        lines.append(f"The best that is proved: {proved.said.number} by “{proved.series.label}”")
    labels = {s.key: s.label for s in result.series}
    lines += [
        f"“{labels[key]}” is better here and not claimed: {reason.why}"
        for key, reason in unclaimed(result, found).items()
        if reason.mark
    ]
    return lines


def best_proved(result: Result, found: Claimed) -> Claimed | None:
    """Return the tightest bound that is proved, where the claimed one is numerical."""
    if found.series.grade is Grade.PROVED:
        return None
    # What rests on an optional assumption holds only for whoever claims it.
    more = {c.key for c in result.conditions if c.optional and c.holds is None}
    proved = [
        s for s in result.series if s.grade is Grade.PROVED and not more.intersection(s.assumes)
    ]
    ranked = [claimed(result, s.key) for s in proved if not s.pin]
    valid = [c for c in ranked if c is not None and c.series.key == c.wanted]
    study = study_of(result)
    claim = study.claims.get(result.request.quantity) if study else None
    turn = -1 if claim is not None and claim.better == "high" else 1
    return min(valid, key=lambda c: turn * c.value, default=None)


def _condition(item: Condition) -> str:
    margin = f" ({item.margin})" if item.margin else ""
    return f"{_HOLDS[item.holds]}: {item.text}{margin}"
