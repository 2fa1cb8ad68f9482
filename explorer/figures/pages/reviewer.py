"""Summary of a guarantee for reviewers, as text, LaTeX and an A4 page with the plot."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explorer.figures import captions
from explorer.figures.export import ExportJob
from explorer.figures.pages.page_layout import LINE, POINTS_PER_INCH, drawable, wrap
from explorer.figures.picture import draw_page, own_settings
from explorer.figures.recipes import METADATA, recipe_text
from explorer.figures.table_copy import tex
from explorer.figures.view_state import study_of
from explorer.privacy.core.bound import Grade
from explorer.studies.base.claims import ClaimedBound, evaluate_claim, unclaimed_reasons, with_claim
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import chance_of, odds_basis, times_in_100
from explorer.studies.base.study import Condition, Result
from explorer.studies.registry import get_study

DEFINITION = (
    "A mechanism M is (ε, δ)-differentially private if for every two neighbouring inputs D and D' "
    "and every set S of outputs Pr[M(D) ∈ S] ≤ e^ε · Pr[M(D') ∈ S] + δ; with δ = 0 it is ε-DP. "
    "Which inputs are neighbouring is stated below, for each meaning"
)
BY_DISTANCE = (
    "ε depends on how far the two inputs are apart, or on what an observer believes, as “In words” "
    "says: the pair below holds of the case described there alone"
)
_GRADES = {
    Grade.PROVED: "proved, rounding of floating-point numbers included",
    Grade.NUMERICAL: ("a proved formula; its rounding error is estimated and added, not certified"),
}
_CONDITION_WORDS = {False: "does not hold", None: "to be vouched for", True: "holds"}


def reviewer_lines(
    result: Result, claim: str, recipe: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Return headings, each with its statements.

    Parameters
    ----------
    result : Result
        After the export policy.
    claim : str
        Key of the claimed series; empty for the tightest valid one.
    recipe : mapping of JSON values
        After the export policy.

    Raises
    ------
    ValueError
        If the result has no guarantee.
    """
    claimed_bound = evaluate_claim(result, claim)
    claiming_result = with_claim(result, claim)
    promise = claiming_result.guarantee
    if promise is None:
        raise ValueError("nothing is promised for these values: see the conditions")
    study = study_of(result)
    chance = chance_of(promise)
    numbers = [f"(ε, δ) = ({at_most(eps)}, {at_most(delta)})" for eps, delta in promise.pairs]
    if promise.distance is not None:
        numbers.append(f"δ(0) ≤ {at_most(promise.distance)}, by the whole law of {promise.law}")
    if chance is not None:
        right, basis = f"right at most {times_in_100(chance)} % of the time", odds_basis(promise)
        numbers.append(
            f"an attacker who starts at 50 : 50 is {right}" + (f", {basis}" if basis else "")
        )
    parts = [
        ("Study", [study.name if study else result.request.study]),
        ("Stamp", [result.stamp] if result.stamp else []),
        ("Definition", [DEFINITION, *([BY_DISTANCE] if promise.qualified else [])]),
        ("Protects", [promise.unit]),
        ("Claimed", _claim_lines(result, claimed_bound)),
        ("Numbers", numbers),
        ("In words", [line for line in (promise.sentence, promise.beside) if line]),
        ("Neighbouring: replace one", [promise.replace_one]),
        ("Neighbouring: add or remove one", [promise.add_remove]),
        ("Trust", [promise.trust]),
        ("Conditions", [_condition(c) for c in claiming_result.conditions if c.of_guarantee]),
        ("Settings", [captions.settings_line(result, with_swept=True)]),
        ("Data", [captions.data_line(recipe)]),
        ("Sources", [str(reference) for reference in promise.references]),
        ("Version", [f"Privacy Explorer {recipe.get('version') or ''}".strip()]),
    ]
    sections = ((heading, [line for line in lines if line]) for heading, lines in parts)
    return [(heading, lines) for heading, lines in sections if lines]


def text_bytes(job: ExportJob) -> bytes:
    """Return the summary as text with the recipe in the last line."""
    out = []
    for heading, lines in reviewer_lines(job.result, job.view.claim, job.recipe):
        single = len(lines) == 1
        out.append(f"{heading}: {lines[0]}" if single else f"{heading}:")
        out += [] if single else [f"- {line}" for line in lines]
    out += ["", f"# recipe: {recipe_text(job.recipe)}", ""]
    return "\n".join(out).encode()


def latex_bytes(job: ExportJob) -> bytes:
    """Return the summary as a LaTeX list with the recipe in a comment."""
    out = [r"\begin{description}"]
    for heading, lines in reviewer_lines(job.result, job.view.claim, job.recipe):
        out.append(rf"\item[{tex(heading)}] {tex(lines[0])}" if len(lines) == 1 else "")
        if len(lines) > 1:
            out[-1] = rf"\item[{tex(heading)}]\hfill\begin{{itemize}}"
            out += [rf"\item {tex(line)}" for line in lines]
            out.append(r"\end{itemize}")
    out += [r"\end{description}", f"% recipe: {recipe_text(job.recipe)}", ""]
    return "\n".join(out).encode()


def _claim_lines(result: Result, claimed_bound: ClaimedBound | None) -> list[str]:
    """Return the claimed bound and its rigor, and the best proved one if it is numerical."""
    if claimed_bound is None:
        return []
    study = get_study(result.request.study)
    lines = [claimed_bound.line, f"Grade: {_GRADES[claimed_bound.series.grade]}"]
    proved = best_proved(result, claimed_bound)
    if proved is not None:
        name = study.short_name(proved.series.key, proved.series.label)
        lines.append(f"The best that is proved: {proved.text.number} by “{name}”")
    labels = {s.key: study.short_name(s.key, s.label) for s in result.series}
    lines += [
        f"“{labels[key]}” is better here and not claimed: {reason.why}"
        for key, reason in unclaimed_reasons(result, claimed_bound).items()
        if reason.rival
    ]
    return lines


def best_proved(result: Result, claimed_bound: ClaimedBound) -> ClaimedBound | None:
    """Return the tightest proved bound if the claimed one is numerical."""
    if claimed_bound.series.grade is Grade.PROVED:
        return None
    # Bounds under an optional assumption hold only if the user claims them.
    more = {c.key for c in result.conditions if c.optional and c.holds is None}
    proved = [
        s for s in result.series if s.grade is Grade.PROVED and not more.intersection(s.assumes)
    ]
    ranked = [evaluate_claim(result, s.key) for s in proved if not s.pin]
    valid = [c for c in ranked if c is not None and c.series.key == c.wanted]
    study = study_of(result)
    claim = study.claims.get(result.request.quantity) if study else None
    turn = -1 if claim is not None and claim.better == "high" else 1
    return min(valid, key=lambda c: turn * c.value, default=None)


def _condition(item: Condition) -> str:
    margin = f" ({item.margin})" if item.margin else ""
    return f"{_CONDITION_WORDS[item.holds]}: {item.text}{margin}"


A4 = (8.27, 11.69)
_PLOT = 4.2
_MARGIN = 0.6
_SIZES = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0)
"""Font sizes in points; the largest at which all text fits is used."""
_OMITTED_PARTS = ("caption", "conditions", "footer")
"""Parts left out of the plot, as they are in the text below."""


_MORE_NOTE = "… more stands in the text that belongs to this"


def page_bytes(job: ExportJob) -> bytes:
    """Return the summary with the plot as one A4 page, with the recipe inside.

    Raises
    ------
    ValueError
        If the result has no guarantee or nothing to draw.
    """
    from pypdf import PdfReader, PdfWriter, Transformation

    sections = reviewer_lines(job.result, job.view.claim, job.recipe)
    view = replace(job.view, theme="light", left_out=(*job.view.left_out, *_OMITTED_PARTS))
    with own_settings():
        plot = draw_page(
            job.result, view, job.recipe, (A4[0], _PLOT), 150.0, backdrop=job.backdrop
        ).figure
        drawn = [pdf_of(plot), pdf_of(words_figure(sections, _PLOT))]
    above, below = (PdfReader(io.BytesIO(data)).pages[0] for data in drawn)
    writer = PdfWriter()
    page = writer.add_page(below)
    page.merge_transformed_page(
        above, Transformation().translate(0, (A4[1] - _PLOT) * POINTS_PER_INCH)
    )
    info = METADATA["pdf"](recipe_text(job.recipe), job.result.stamp)
    writer.add_metadata({f"/{key}": value for key, value in info.items() if value})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def pdf_of(figure: object) -> bytes:
    """Return a figure as a PDF page without a date."""
    stream = io.BytesIO()
    figure.savefig(stream, format="pdf", metadata={"CreationDate": None})  # type: ignore[attr-defined]
    return stream.getvalue()


def words_figure(sections: Sequence[tuple[str, list[str]]], above: float = _MARGIN) -> object:
    """Return a page with headings and statements, below a free space of `above` inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=A4)
    height = A4[1] - above - _MARGIN
    for size in _SIZES:
        lines = _broken(sections, (A4[0] - 2 * _MARGIN) * POINTS_PER_INCH / size)
        room = int(height * POINTS_PER_INCH / (size * LINE))
        if len(lines) <= room:
            break
    if len(lines) > room:
        lines = [*lines[: room - 1], (_MORE_NOTE, False)]
    y = A4[1] - above
    for text, bold in lines:
        y -= size * LINE / POINTS_PER_INCH
        figure.text(
            _MARGIN / A4[0],
            y / A4[1],
            drawable(text).replace("$", r"\$"),
            fontsize=size,
            fontweight="bold" if bold else "normal",
            color="#1c2024",
        )
    return figure


def _broken(sections: Sequence[tuple[str, list[str]]], ems: float) -> list[tuple[str, bool]]:
    """Return wrapped lines and whether each is a heading."""
    lines: list[tuple[str, bool]] = []
    for heading, statements in sections:
        lines.append((heading, True))
        lines += [(line, False) for statement in statements for line in wrap(statement, ems)]
    return lines
