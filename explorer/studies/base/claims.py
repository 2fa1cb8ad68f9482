"""Choice of the bound that is claimed, and the statements that follow from it.

All proved bounds on one mechanism hold at once, so the tightest whose conditions hold is claimed
unless the user claims another. Headline, guarantee, *Solve*, comparison, exports and command line
ask `evaluate_claim`, or take an answer through `with_claim`, and nothing else chooses a bound.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from explorer.privacy.core.bound import Grade, Role
from explorer.studies.base.numbers import at_least, at_most, format_number
from explorer.studies.base.phrases import Headline, useless
from explorer.studies.base.plots import Claim, ClaimText
from explorer.studies.base.study import Condition, Quantity, Result, Series, Study, quantity
from explorer.studies.registry import get_study

STILL_COMPUTING = "Further bounds are being computed."
"""Replaces a statement that further bounds may change."""
NOT_CLAIMABLE = "it is not among what may be claimed of this question"
"""Of a bound whose study gives no reason (`Claim.besides`)."""


@dataclass(frozen=True, slots=True)
class UnclaimedReason:
    """Why a bound is not claimed.

    Attributes
    ----------
    why : str
        After “not claimed:”, without a full stop.
    mark : str
        The same in two words; empty where the role of the series, or the user's choice, says it.
    """

    why: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedBound:
    """The bound claimed at the sliders' values.

    Attributes
    ----------
    series : Series
    value : float
    text : ClaimText
    wanted : str
        Key of what the user claims; empty for the tightest valid bound.
    failing : Series or None
        What the user claims, if it is not `series`.
    why : str
        Why that does not hold here; empty while it is being computed.
    awaited : bool
        Whether a bound that may be claimed is still being computed.
    kind : str
        As of `Claim`.
    """

    series: Series
    value: float
    text: ClaimText
    wanted: str = ""
    failing: Series | None = None
    why: str = ""
    awaited: bool = False
    kind: str = "bounds"

    @property
    def line(self) -> str:
        """One sentence that names the claimed bound."""
        name = f"“{self.series.label}”"
        if self.wanted == self.series.key:
            line = f"Claimed: {self.text.number} by {name}, chosen by you"
        elif self.waiting:
            line = f"What you claim is being computed; so far {self.text.number} by {name}"
        elif self.wanted:
            failing = f"“{self.failing.label}”" if self.failing else "What you claim"
            line = f"{failing} says nothing here: {self.why}. Tightest valid: {self.text.number}"
            line += f" by {name}"
        else:
            best = "tightest valid bound" if self.kind == "bounds" else "best of them"
            line = f"Claimed: {self.text.number} by {name}, the {best} here"
        if self.series.grade is Grade.PROVED:
            line += "; rounding included"
        waits = self.awaited and not self.waiting
        return f"{line}. Further bounds are being computed…" if waits else f"{line}."

    @property
    def unsettled(self) -> bool:
        """Whether the claimed bound may change without a change of the request."""
        return self.awaited or self.waiting

    @property
    def waiting(self) -> bool:
        """Whether the bound that the user claims is still being computed."""
        return bool(self.wanted) and self.series.key != self.wanted and not self.why


def check_claim(study: Study, quantity_key: str, wanted: str) -> None:
    """Raise ValueError, naming what may be claimed, if a series may not."""
    claim = study.claims.get(quantity_key)
    among = claim.among if claim is not None else ()
    if wanted not in among:
        raise ValueError(
            f"claim: {wanted!r} can't be claimed of {quantity_key!r} of {study.id}; "
            f"{', '.join(among) or 'nothing'} can"
        )


def evaluate_claim(result: Result, wanted: str = "") -> ClaimedBound | None:
    """Return the claimed bound of an answer at the sliders' values; None if nothing can be claimed.

    Parameters
    ----------
    result : Result
    wanted : str
        Key of the series that the user claims; empty for the tightest valid bound.
    """
    try:
        claim = get_study(result.request.study).claims.get(result.request.quantity)
    except ValueError:  # of a study that this program does not have
        return None
    if claim is None:
        return None
    known = {s.key: s for s in result.series if not s.pin}
    reasons = {
        key: _why_not(result, known[key], claim, chosen=key == wanted)
        for key in claim.among
        if key in known
    }
    valid = {key: value_here(result, known[key]) for key, why in reasons.items() if why is None}
    if not valid:
        return None
    awaited = not result.complete and any(
        key not in valid and (key not in known or known[key].computing) for key in claim.among
    )
    turn = -1 if claim.better == "high" else 1
    tightest = min(valid, key=lambda key: turn * valid[key])
    key = wanted if wanted in valid else tightest
    failing, why = None, ""
    if wanted and key != wanted:
        failing = known.get(wanted)
        coming = not result.complete and (failing is None or failing.computing)
        reason = reasons.get(wanted) or UnclaimedReason(
            "it is not among the bounds of this question"
        )
        why = "" if coming else reason.why
    series, value = known[key], valid[key]
    text = (claim.text or number_text)(result, series, value)
    found = ClaimedBound(series, value, text, wanted, failing, why, awaited, claim.kind)
    if found.unsettled and useless(text.pairs):
        # A looser bound came first: its verdict would be gone when the others are there.
        found = replace(found, text=replace(text, lines=(STILL_COMPUTING, *text.lines[1:])))
    return found


def unclaimed_reasons(result: Result, found: ClaimedBound | None) -> dict[str, UnclaimedReason]:
    """Return why the curves whose numbers are better than the claimed one are not claimed.

    Parameters
    ----------
    result : Result
    found : ClaimedBound or None
        What is claimed of it; None if nothing is, and then every number of a bound is better.

    Returns
    -------
    dict
        By key of the series. A bound from the other side is not in it: it is no rival.
    """
    try:
        claim = get_study(result.request.study).claims.get(result.request.quantity)
    except ValueError:  # of a study that this program does not have
        return {}
    if claim is None:
        return {}
    turn, other = (-1, Role.UPPER) if claim.better == "high" else (1, Role.LOWER)
    reached = math.inf if found is None else turn * found.value
    out = {}
    for series in result.series:
        value = turn * value_here(result, series)
        if series.pin or series.role is other or not value < reached:
            continue
        out[series.key] = _why_not(result, series, claim, chosen=False) or UnclaimedReason(
            f"you claim “{found.series.label}”" if found else "nothing can be claimed here"
        )
    return out


def with_claim(result: Result, wanted: str = "") -> Result:
    """Return an answer whose guarantee and conditions are those of the claimed bound.

    Arguments as for `evaluate_claim`. An answer of which nothing can be claimed is unchanged.
    """
    value = evaluate_claim(result, wanted)
    if value is None:
        return result
    promise = result.guarantee
    if promise is not None:
        lines = value.text.lines or (promise.sentence, promise.beside)
        if value.wanted and value.why:
            lines = (value.line, "\n".join(line for line in lines if line))
        promise = replace(
            promise,
            sentence=lines[0],
            beside="\n".join(line for line in lines[1:] if line),
            claimed="" if value.wanted and value.why else value.line,
            replace_one=value.text.promise or promise.replace_one,
            pairs=value.text.pairs or promise.pairs,
        )
    needed = {key for s in result.series for key in s.assumes}
    conditions = tuple(
        replace(c, of_guarantee=c.key in value.series.assumes) if c.key in needed else c
        for c in result.conditions
    )
    return replace(result, guarantee=promise, conditions=conditions)


def value_here(result: Result, series: Series) -> float:
    """Return the value of a series at the sliders' values; NaN if it has none there."""
    for readout in result.readouts:
        if readout.key == series.key:
            return math.nan if readout.value is None else float(readout.value)
    sweep = result.request.sweep
    own = dict(result.request.values).get(sweep.key) if sweep is not None else None
    if own is None or isinstance(own, str):
        return math.nan
    there = series.y[abs(series.x - own) <= 1e-12 * abs(own)]
    return float(there[0]) if there.size else math.nan


def number_text(result: Result, _series: Series, value: float) -> ClaimText:
    """Return the text of a claim about a quantity that is no guarantee: an error, a size."""
    study = get_study(result.request.study)
    shown = quantity(study, result.request.quantity)
    claim = study.claims.get(shown.key)
    high = claim is not None and claim.better == "high"
    number = f"≥ {at_least(value)}" if high else f"≤ {at_most(value)}"
    return ClaimText(
        f"{shown.symbol or shown.name} {number}" + (f" {shown.unit}" if shown.unit else "")
    )


def _why_not(
    result: Result, series: Series, claim: Claim, *, chosen: bool
) -> UnclaimedReason | None:
    """Return the reason why a series can't be claimed at the sliders' values; None if it can."""
    bound = Role.LOWER if claim.better == "high" else Role.UPPER
    if series.role not in (bound, Role.EXACT):
        return UnclaimedReason(f"it is no {bound.value}")
    if series.key not in claim.among:
        return UnclaimedReason(claim.besides.get(series.key, NOT_CLAIMABLE), "not claimed")
    for condition in result.conditions:
        if condition.key and condition.key in series.assumes:
            if condition.holds is False:
                return UnclaimedReason(_failing(condition), "fails here")
            if condition.holds is None and condition.optional and not chosen:
                return UnclaimedReason(f"it assumes more: {condition.text}", "assumes more")
    if math.isfinite(value_here(result, series)):
        return None
    text = next((r.note for r in result.readouts if r.key == series.key), "")
    return UnclaimedReason(text or series.undefined_reason or "it has no value at the slider's")


def _failing(condition: Condition) -> str:
    text = condition.text.split(": ", 1)[-1]
    return f"{text} does not hold" + (f" ({condition.margin})" if condition.margin else "")


def conditions_of(
    conditions: Iterable[Condition], series: Iterable[Series], shown: Iterable[Series]
) -> tuple[Condition, ...]:
    """Return an answer's conditions, but for those that only other curves need than these.

    What these rest on is `of_guarantee` then.

    Parameters
    ----------
    conditions, series
        All of the answer.
    shown : iterable of Series
    """
    of_curves = {key for s in series for key in s.assumes}
    needed = {key for s in shown for key in s.assumes}
    return tuple(
        replace(c, of_guarantee=True) if c.key in needed else c
        for c in conditions
        if c.key in needed or c.key not in of_curves
    )


def failing_of(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return those of a number's own conditions (`conditions_of`) that it fails by.

    One that is not `of_guarantee` says how sharp something is, and breaks nothing.
    """
    return tuple(c for c in conditions if c.holds is False and c.of_guarantee)


def headline_of(study: Study, result: Result, found: ClaimedBound | None) -> Headline | None:
    """Return the headline; None while nothing is known, or where nothing is claimed."""
    plot = study.plot(result.request.quantity)
    if plot is not None and plot.headline is not None:
        return plot.headline(result, found)
    if found is None:
        return _first_number(study, result)
    name = study.short_name(found.series.key, found.series.label)
    shown = quantity(study, result.request.quantity)
    sentence = found.text.lines[0] if found.text.lines else _by(shown, name)
    return Headline(found.text.number, sentence)


def _first_number(study: Study, result: Result) -> Headline | None:
    """Return a headline of the first curve drawn by default that is no baseline."""
    keys = study.default_curves(result.request, [s.key for s in result.series])
    there = [s for key in keys for s in result.series if s.key == key]
    for series in there:
        value = result.number(series.key)
        if value is not None and series.role is not Role.BASELINE:
            shown = quantity(study, result.request.quantity)
            number = f"{series.role.glyph} {format_number(value, series.role)}"
            name = study.short_name(series.key, series.label)
            # Without a symbol: the name is too long here and stands in the sentence.
            return Headline(f"{shown.symbol} {number} {shown.unit}".strip(), _by(shown, name))
    return None


def _by(shown: Quantity, name: str) -> str:
    return f"{shown.name[:1].upper()}{shown.name[1:]}, by “{name}”."
