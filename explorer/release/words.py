"""What is said of a price, a result and a refusal: functions of plan, ledger and stored output."""

from __future__ import annotations

from fractions import Fraction

from explorer.release.errors import ParameterError
from explorer.release.ledger.accounts import Account
from explorer.release.ledger.errors import RefusedError, rounded_down
from explorer.release.plan import Plan

PROMISE = (
    "Whoever reads this release, and all later ones about these people, learns almost nothing "
    "about whether any one person is in it. “Almost” is the number ε."
)
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def rounded_up(value: Fraction, digits: int = 4) -> str:
    """Write a non-negative number with at most so many decimals, never too small."""
    while 0 < value < Fraction(1, 10 ** (digits - 3)):
        digits += 1
    unit = 10**digits
    whole = -(-value.numerator * unit // value.denominator)
    return rounded_down(Fraction(whole, unit), digits)


def price_text(plan: Plan, account: Account) -> str:
    """Say what a release costs and what remains."""
    price, gate = plan.price, account.gate
    if gate == "zcdp":
        cost, unit = price * price / 2, "ρ = "
    else:
        cost, unit = price, ""
    said = f"Costs {rounded_up(price)}"
    said += f", ρ = {rounded_up(cost)}. " if gate == "zcdp" else ". "
    remains = account.remaining
    said += (
        f"Of {unit}{rounded_down(account.budget)} you have used {rounded_up(account.spent)}; "
        f"{rounded_down(remains)} remain"
    )
    if cost <= remains:
        more = remains // cost - 1
        times = _NUMBERS[more] if more < len(_NUMBERS) else f"{more:,}"
        said += f", {times} more like this after it"
    return f"{said}. Even if you dislike the result, the price is paid."


def refused_text(plan: Plan, error: RefusedError) -> str:
    """Say that a release does not fit, what would, and how far that would be off."""
    said = str(error)
    if error.largest:
        try:
            found = plan.mechanism.expected_error(plan.checked, error.largest)
        except ParameterError:
            return said
        widest = max(found, key=lambda one: int(one["half_width"]))
        said += f"; {widest['quantity']} then errs by ±{widest['half_width']:,}"
    return said


def released_text(plan: Plan) -> str:
    """Say how far the result is off."""
    found = plan.mechanism.expected_error(plan.checked, plan.epsilon)
    widest = max(found, key=lambda one: int(one["half_width"]))
    chance = Fraction(widest["probability"])
    odds = f"{chance.numerator} times in {chance.denominator}"
    return (
        f"Released. Right within ±{widest['half_width']:,} ({widest['quantity']}), {odds}, on "
        "purpose. Looking again is free; drawing again costs again."
    )
