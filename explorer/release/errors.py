"""Errors of releases, plans and ledgers. Every message is one sentence for the curator."""

from __future__ import annotations

from fractions import Fraction

from explorer.release.rounding import rounded_down


class ReleaseError(ValueError):
    """There is no release; nothing was drawn."""


class ParameterError(ReleaseError):
    """A field of a plan is invalid.

    Attributes
    ----------
    field : str
        Its path in the plan, such as ``mechanism.parameters.box``.
    problem, remedy : str
        Problem and remedy.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(field, problem, remedy)
        self.field, self.problem, self.remedy = field, problem, remedy

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.remedy}"

    def below(self, path: str) -> ParameterError:
        """Return the same error with the field nested under another one: ``path.field``."""
        return ParameterError(f"{path}.{self.field}", self.problem, self.remedy)


class LedgerError(ReleaseError):
    """The ledger can't be used like this; nothing was written."""


class RuleError(LedgerError):
    """The rules of the ledger do not allow an entry."""


class RefusedError(RuleError):
    """The budget does not allow a release.

    The decision depends on plan and ledger only, so that a refusal reveals nothing about the data.

    Attributes
    ----------
    requested, remaining : Fraction
        The ε requested, and the remaining budget (ε, or ρ under *zcdp*).
    largest : Fraction
        The largest ε that fits.
    gate : str
        "sum" or "zcdp".
    """

    def __init__(
        self, requested: Fraction, remaining: Fraction, largest: Fraction, gate: str
    ) -> None:
        super().__init__(requested, remaining, largest, gate)
        self.requested, self.remaining = requested, remaining
        self.largest, self.gate = largest, gate

    def __str__(self) -> str:
        left = f"{'ρ' if self.gate == 'zcdp' else 'ε'} = {self.remaining}"
        fits = (
            f"choose ε of at most {rounded_down(self.largest)}"
            if self.largest
            else "nothing more can be released"
        )
        return f"the release costs ε = {self.requested}, and {left} is left of the budget; {fits}"


class DiskFullError(LedgerError):
    """The disk is full; the message names the folder, the space needed and the spent budget."""


class ChangedOutputError(LedgerError):
    """A stored output or certificate does not have the hash that was entered."""


class CancelledReleaseError(ReleaseError):
    """A release was cancelled before its draw began; nothing is spent."""
