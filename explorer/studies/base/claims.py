"""Choice of the bound that is claimed, and the statements that follow from it.

All proved bounds on one mechanism hold at once, so the tightest whose conditions hold is claimed
unless the user claims another. Headline, guarantee, *Solve*, comparison, exports and command line
ask `evaluate_claim`, or take an answer through `with_claim`, and nothing else chooses a bound.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from explorer.privacy.core.bound import Grade, Role
from explorer.studies.base.numbers import at_least, at_most, format_number, nearest
from explorer.studies.base.phrases import (
    MAX_USEFUL_CHANCE,
    NOT_USEFUL,
    Headline,
    chance_of,
    odds_basis,
    times_in_100,
    useless,
)
from explorer.studies.base.plots import Claim, ClaimText
from explorer.studies.base.study import Condition, Quantity, Result, Series, Study, quantity
from explorer.studies.registry import get_study

BEST_CLAIM = {"bounds": "best applicable bound", "mechanisms": "best mechanism"}
"""What is claimed by default, by kind of claim."""
NO_BOUND_YET = Headline("…", "Computing. No bound yet.")
NO_BOUND_APPLIES = Headline("–", "No bound applies here. The legend says why.")
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
    remark : str
        The same in a few words, for the legend.
    rival : bool
        Whether it is a bound all the same, and not claimed for what it assumes or is of.
    """

    why: str
    remark: str
    rival: bool = False


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
    outdated : bool
        Whether `value` is that of an earlier answer, until there is a new one.
    """

    series: Series
    value: float
    text: ClaimText
    wanted: str = ""
    failing: Series | None = None
    why: str = ""
    awaited: bool = False
    kind: str = "bounds"
    outdated: bool = False

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
            line = (
                f"{failing} does not apply here: {self.why}. Best applicable bound: "
                f"{self.text.number}"
            )
            line += f" by {name}"
        else:
            line = f"Claimed: {self.text.number} by {name}, the {BEST_CLAIM[self.kind]}"
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


def carry_over(before: Result | None, result: Result, held: str = "") -> Result:
    """Return an incomplete answer with the curves of an earlier one that it does not have yet.

    While a slider moves, the set of curves, their order and the claimed bound then stay what they
    were. A complete answer is returned as it is.

    Parameters
    ----------
    before : Result or None
        The answer shown before; ignored if it is of another study, quantity or x axis.
    result : Result
    held : str
        Key of the bound that was claimed in `before`; empty for none.

    Returns
    -------
    Result
        With `outdated`, `outdated_numbers` and `held` set. A curve or number counts as not computed
        yet if it is missing, marked as such, or has another role than before, as an estimate has.
    """
    if result.complete or before is None or _axes(before) != _axes(result):
        return result
    known = {s.key: s for s in before.series}
    fresh = {s.key: s for s in result.series if not s.computing}
    curves = {key for key, s in known.items() if key not in fresh or fresh[key].role is not s.role}
    numbers = {r.key: r for r in result.readouts}
    missing = {
        r.key: r
        for r in before.readouts
        if r.key in known and (r.key not in numbers or numbers[r.key].role is not r.role)
    }
    # What a former stage of the same answer had is up to date.
    same = before.request == result.request
    return replace(
        result,
        series=(
            *(s if key in curves else fresh[key] for key, s in known.items()),
            *(s for s in result.series if s.key not in known),
        ),
        readouts=(*(r for r in result.readouts if r.key not in missing), *missing.values()),
        outdated=frozenset(before.outdated & curves if same else curves),
        outdated_numbers=frozenset(before.outdated_numbers & missing.keys() if same else missing),
        held=held,
    )


def _axes(result: Result) -> tuple[object, ...]:
    sweep = result.request.sweep
    return result.request.study, result.request.quantity, sweep and (sweep.key, sweep.scale)


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
    accepted = _accepted(known, wanted)
    held = wanted or result.held
    if held in claim.among and held in result.outdated_numbers and held in known:
        series = known[held]
        value = value_here(result, series)
        text = (claim.text or number_text)(result, series, value)
        return ClaimedBound(series, value, text, wanted, kind=claim.kind, outdated=True)
    reasons = {
        key: _why_not(result, known[key], claim, accepted)
        for key in claim.among
        if key in known and key not in result.outdated_numbers
    }
    valid = {key: value_here(result, known[key]) for key, why in reasons.items() if why is None}
    if not valid:
        return None
    turn = -1 if claim.better == "high" else 1
    tightest = min(valid, key=lambda key: turn * valid[key])
    key = next((key for key in (wanted, result.held) if key in valid), tightest)
    # What was claimed before stays claimed, and its texts with it, until the answer is complete.
    awaited = (
        not result.complete
        and key != result.held
        and any(
            key not in valid and (key not in known or known[key].computing) for key in claim.among
        )
    )
    failing, why = None, ""
    if wanted and key != wanted:
        failing = known.get(wanted)
        coming = not result.complete and (failing is None or failing.computing)
        reason = reasons.get(wanted) or UnclaimedReason(
            "it is not among the bounds of this question", "not claimed: not of this question"
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
    known = {s.key: s for s in result.series if not s.pin}
    accepted = _accepted(known, "" if found is None else found.wanted)
    reached = math.inf if found is None else turn * found.value
    out = {}
    for series in result.series:
        value = turn * value_here(result, series)
        if series.pin or series.role is other or series.key in result.outdated_numbers:
            continue
        if not value < reached:
            continue
        out[series.key] = _why_not(result, series, claim, accepted) or _chosen_by_user(
            result, found
        )
    return out


def _chosen_by_user(result: Result, found: ClaimedBound | None) -> UnclaimedReason:
    if found is None:
        return UnclaimedReason("nothing can be claimed here", "not claimed: nothing can be here")
    name = get_study(result.request.study).short_name(found.series.key, found.series.label)
    return UnclaimedReason(f"you claim “{found.series.label}”", f"not claimed: you chose {name}")


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


def _accepted(known: Mapping[str, Series], wanted: str) -> frozenset[str]:
    """Return the keys of the conditions that the user accepts by claiming a bound."""
    return frozenset(known[wanted].assumes) if wanted in known else frozenset()


@dataclass(frozen=True, slots=True)
class OptionalClaim:
    """A tighter bound that may be claimed once an optional condition is confirmed.

    Attributes
    ----------
    series : Series
    number : str
        Its number at the sliders' values, with symbol and relation.
    confirmed : bool
        Whether the user claims a bound that assumes the condition.
    """

    series: Series
    number: str
    confirmed: bool


def optional_claims(result: Result, wanted: str = "") -> dict[str, OptionalClaim]:
    """Return by key of the optional conditions the tightest bound that assumes them.

    Arguments as for `evaluate_claim`. Conditions that make no tighter bound valid are left out, but
    for those that the claimed bound assumes.
    """
    found = evaluate_claim(result, wanted)
    if found is None or found.outdated:
        return {}
    claim = get_study(result.request.study).claims[result.request.quantity]
    turn = -1 if claim.better == "high" else 1
    known = {s.key: s for s in result.series if not s.pin and s.key in claim.among}
    accepted, out = _accepted(known, wanted), {}
    for condition in result.conditions:
        if not (condition.optional and condition.key and condition.holds is None):
            continue
        values = {
            key: turn * value_here(result, series)
            for key, series in known.items()
            if condition.key in series.assumes
            and key not in result.outdated_numbers
            and _why_not(result, series, claim, accepted | {condition.key}) is None
        }
        if not values:
            continue
        series = known[min(values, key=lambda key: values[key])]
        confirmed = condition.key in accepted
        if confirmed or values[series.key] < turn * found.value:
            value = value_here(result, series)
            text = (claim.text or number_text)(result, series, value)
            out[condition.key] = OptionalClaim(series, text.number, confirmed)
    return out


def _why_not(
    result: Result, series: Series, claim: Claim, accepted: frozenset[str]
) -> UnclaimedReason | None:
    """Return the reason why a series can't be claimed at the sliders' values; None if it can.

    `accepted` has the keys of the optional conditions that the user has confirmed.
    """
    bound = Role.LOWER if claim.better == "high" else Role.UPPER
    if series.role not in (bound, Role.EXACT):
        study = get_study(result.request.study)
        shown = quantity(study, result.request.quantity)
        remark = f"not claimed: no bound on {shown.symbol or shown.name}"
        if series.role is Role.ESTIMATE:
            remark = ""  # the role says that it is no bound
        return UnclaimedReason(f"it is no {bound.value}", remark)
    if series.key not in claim.among:
        why = claim.besides.get(series.key, NOT_CLAIMABLE)
        return UnclaimedReason(why, f"not claimed: {why}", rival=True)
    for condition in result.conditions:
        if condition.key and condition.key in series.assumes:
            if condition.holds is False:
                remark = "not claimed: a condition does not hold"
                return UnclaimedReason(_failing(condition), remark, rival=True)
            if condition.holds is None and condition.optional and condition.key not in accepted:
                why = f"it assumes more: {condition.text}"
                return UnclaimedReason(why, _not_confirmed(result, series), rival=True)
    if math.isfinite(value_here(result, series)):
        return None
    text = next((r.note for r in result.readouts if r.key == series.key), "")
    why = text or series.undefined_reason or "it has no value at the slider's"
    return UnclaimedReason(why, "not claimed: no value here")


def _not_confirmed(result: Result, series: Series) -> str:
    open_ones = [
        c for c in result.conditions if c.key in series.assumes and c.optional and c.holds is None
    ]
    conditions = "1 condition" if len(open_ones) == 1 else f"{len(open_ones)} conditions"
    return f"not claimed: {conditions} not confirmed"


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
        if result.request.quantity in study.claims:
            return NO_BOUND_APPLIES if result.complete else NO_BOUND_YET
        return _first_number(study, result)
    name = study.short_name(found.series.key, found.series.label)
    shown = quantity(study, result.request.quantity)
    sentence = found.text.lines[0] if found.text.lines else _by(shown, name)
    if found.failing is not None and found.why:
        failing = study.short_name(found.failing.key, found.failing.label)
        sentence = (
            f"{failing[:1].upper()}{failing[1:]} does not apply here ({_needed(result, found)}). "
            f"{BEST_CLAIM[found.kind].capitalize()}: {found.text.number}, by {name}."
        )
    elif found.text.when and sentence != STILL_COMPUTING:
        sentence = _privacy_sentence(result, found, name)
    return Headline(found.text.number, sentence)


def rests_on(study: Study, result: Result, keys: Collection[str]) -> bool:
    """Return whether the headline of an answer without a claim says one of these numbers."""
    without = replace(
        result,
        series=tuple(s for s in result.series if s.key not in keys),
        readouts=tuple(r for r in result.readouts if r.key not in keys),
    )
    return headline_of(study, without, None) != headline_of(study, result, None)


def _needed(result: Result, found: ClaimedBound) -> str:
    """Return what the bound that the user claims needs and does not have, or why it is absent."""
    assumed = found.failing.assumes if found.failing is not None else ()
    for condition in result.conditions:
        if condition.key in assumed and condition.holds is False:
            return f"needs {condition.text.split(': ', 1)[-1]}"
    return found.why.split(";")[0]


def _privacy_sentence(result: Result, found: ClaimedBound, name: str) -> str:
    """Return what a claimed ε or δ says of each client's record, and the odds that go with it."""
    role = found.series.role
    known = "the exact value" if role is Role.EXACT else f"an {role.value}"
    number = found.text.number
    if number.startswith("δ"):  # δ alone is no guarantee; that of an ε stands below its number
        number += f" at ε = {nearest(found.text.pairs[0][0])}"
    says = f"Each client's record has {number} {found.text.when}: {known} by {name}."
    promise = None
    if result.guarantee is not None:
        promise = replace(result.guarantee, pairs=found.text.pairs)
    chance = chance_of(promise) if promise is not None else None
    if promise is None or chance is None:
        return says
    if chance >= MAX_USEFUL_CHANCE:
        return f"{says} {NOT_USEFUL}"
    by = "By the same bound, an" if not odds_basis(promise) else "An"
    right = times_in_100(chance)
    return f"{says} {by} attacker who starts at 50 : 50 is right at most {right} % of the time."


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
