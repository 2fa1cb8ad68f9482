"""Roles of numbers (upper bound, lower bound, …). Free of numpy, to keep start-up fast."""

from enum import StrEnum


class Role(StrEnum):
    """Relation of a number to the quantity it is named after."""

    UPPER = "upper bound"
    LOWER = "lower bound"
    EXACT = "exact"
    ESTIMATE = "estimate"
    BASELINE = "baseline"

    @property
    def glyph(self) -> str:
        """One-character symbol of the role."""
        return {"upper bound": "≤", "lower bound": "≥", "exact": "=", "estimate": "≈"}.get(
            self.value, "·"
        )
