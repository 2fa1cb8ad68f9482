"""Messages for the curator about price, file check, result and refusal of a release."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from explorer.privacy.releases.conversions import pure_to_rho
from explorer.release.errors import ParameterError, RefusedError
from explorer.release.file_check import FileCheck
from explorer.release.ledger.differencing import overlaps
from explorer.release.ledger.state import Account, Release
from explorer.release.mechanisms.adaptive import AdaptivePriorParameters
from explorer.release.plan import Plan
from explorer.release.rounding import rounded_down, rounded_up
from explorer.release.rows.format import TIME_FORMATS

PROMISE = (
    "Whoever reads this release, and all later ones about these people, learns almost nothing "
    "about whether any one person is in it. “Almost” is the number ε."
)
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def price_text(plan: Plan, account: Account) -> str:
    """Return the cost of a release and the remaining budget."""
    price, gate = plan.epsilon, account.gate
    if gate == "zcdp":
        cost, unit = price * price / 2, "ρ = "
    else:
        cost, unit = price, ""
    budget, remains = rounded_down(account.budget), account.remaining
    if gate == "zcdp":
        tight = rounded_up(pure_to_rho(price).tight)
        text = (
            f"Cost ε = {rounded_up(price)}: ρ = {rounded_up(cost)} of {budget} "
            f"(ε·tanh(ε/2) ≤ {tight} holds too; not used)"
        )
    else:
        text = f"Cost {rounded_up(price)} of {budget}"
    if cost > remains:
        return f"{text}; {unit}{rounded_down(remains)} remains, which is not enough."
    more = remains // cost - 1
    times = _NUMBERS[more] if more < len(_NUMBERS) else f"{more:,}"
    enough = f"enough to repeat this {times} time{'s' * (more != 1)}"
    repeats = enough if more else "not enough to repeat this"
    return f"{text}; {unit}{rounded_down(remains - cost)} will remain ({repeats})."


def zone_text(plan: Plan) -> str:
    """Return the time zone of times without an offset; "" if no times are read."""
    form = plan.form
    if not plan.reads.times or form.time_format in TIME_FORMATS[1:] or "%z" in form.time_format:
        return ""
    return f"Times that state no offset are taken as those of {form.time_zone} (time_zone)."


def priors_text(plan: Plan) -> str:
    """Return the public maps of a plan, or that there are none; "" if its mechanism takes none."""
    if not isinstance(plan.own_parameters, AdaptivePriorParameters):
        return ""
    names = ", ".join(f"“{prior.name}”" for prior in plan.own_parameters.priors)
    return f"Public maps: {names}." if names else "No public map completes this one (--prior)."


def refusal_text(plan: Plan, error: RefusedError) -> str:
    """Return the refusal, the largest ε that fits and the error at that ε."""
    text = str(error)
    if error.largest:
        try:
            errors = plan.mechanism.expected_error(plan.own_parameters, error.largest)
        except ParameterError:
            return text
        quantity, half_width, _ = _widest(errors)
        text += f"; the {quantity} is then within ±{half_width:,}"
    return text


def result_text(plan: Plan) -> str:
    """Return the expected error of the result."""
    errors = plan.mechanism.expected_error(plan.own_parameters, plan.epsilon)
    quantity, half_width, chance = _widest(errors)
    is_map = plan.mechanism.id.startswith(("heatmap.", "counts.cells/"))
    what = f"each noisy count behind this {'map' if is_map else 'result'}"
    if len(errors) == 1:
        what = f"the {quantity}"
    return (
        f"Released. If the file is in the declared format, {what} is within "
        f"±{half_width:,}{' people' * is_map} in {float(100 * chance):g} % of cases. "
        "Viewing is free; a new draw spends again."
    )


def check_lines(checked: FileCheck) -> list[str]:
    """Return the lines of a file check: readable rows, ids known elsewhere, other spending."""
    return [
        *checked.rows.lines(),
        *(
            f"{number:,} ids of this file are known in population {population}; if they are the "
            "same people, join the two, or what is promised to them does not hold"
            for population, number in checked.known.items()
        ),
        *([] if checked.known else ["no id of this file is known in another population"]),
        reopened_line(checked.seen, partly=checked.seen_partly),
        *other_spending_lines(checked),
    ]


def reopened_line(ids: int, *, partly: bool) -> str:
    """Return how many ids of a file were in other files opened before."""
    if not ids:
        rest = "; not all ids of those files are kept" if partly else ""
        return f"no id of this file was in another file opened before{rest}"
    number = f"{'at least ' * partly}{ids:,} {'id' if ids == 1 else 'ids'}"
    return (
        f"{number} of this file also occur{'s' * (ids == 1)} in files that were opened before. Do "
        "not state that your choices are independent of these people."
    )


def other_spending_lines(checked: FileCheck) -> list[str]:
    """Return what other ledgers of this machine spent on the same data, a line each."""
    return [
        f"the ledger {path} has spent ε = {rounded_up(spent)} on the people in the same data. "
        "The sum stated here leaves it out until you enter it: privacy-explorer ledger external."
        for path, spent in checked.spent.items()
    ]


def shared_lines(plan: Plan, earlier: Iterable[Release]) -> list[str]:
    """Return the overlaps of a release with earlier ones about the same people, a line each."""
    shared = overlaps(plan.parameters(), plan.epsilon, earlier)
    none = "no earlier release about these people is known to share area and time with this one"
    return [overlap.sentence for overlap in shared] or [none]


def _widest(errors: list[dict[str, Any]]) -> tuple[str, int, Fraction]:
    """Return quantity, half-width and probability of the largest expected error."""
    widest = max(errors, key=lambda one: int(one["half_width"]))
    return str(widest["quantity"]), int(widest["half_width"]), Fraction(widest["probability"])


def sentence(text: str) -> str:
    """Return a text with an upper-case first letter (if ASCII) and a full stop."""
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    return f"{first}{text[1:]}" + "." * (text[-1:] not in ".!?")
