"""What goes wrong with a ledger, in one sentence each."""

from __future__ import annotations

from fractions import Fraction

from explorer.release.errors import ReleaseError


class LedgerError(ReleaseError):
    """The ledger can't be used like this; nothing was written."""


class RuleError(LedgerError):
    """An entry that the rules of the ledger do not allow."""


class RefusedError(RuleError):
    """The gate refuses a release: it depends on plan and ledger alone, so it tells nothing.

    Attributes
    ----------
    asked, left : Fraction
        The ε asked for, and what is left under the gate (ε, or ρ).
    largest : Fraction
        The largest ε that fits.
    gate : str
        "sum" or "zcdp".
    """

    def __init__(self, asked: Fraction, left: Fraction, largest: Fraction, gate: str) -> None:
        super().__init__(asked, left, largest, gate)
        self.asked, self.left, self.largest, self.gate = asked, left, largest, gate

    def __str__(self) -> str:
        left = f"ρ = {self.left}" if self.gate == "zcdp" else f"{self.left}"
        fits = f"would fit: ε ≤ {rounded_down(self.largest)}" if self.largest else "nothing fits"
        return f"asked {self.asked}, left {left}; {fits}"


class DiskFullError(LedgerError):
    """The disk has no room; the message names it, how much is needed and what was spent."""


def rounded_down(value: Fraction, digits: int = 4) -> str:
    """Write a non-negative number with at most so many decimals, never too large.

    Small ones get as many more as show four digits.
    """
    while 0 < value < Fraction(1, 10 ** (digits - 3)):
        digits += 1
    whole = value.numerator * 10**digits // value.denominator
    text = f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
    return text.rstrip("0").rstrip(".")
