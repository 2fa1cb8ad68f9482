"""How a number stands to what it is named after; without numpy, for the window's first picture."""

from enum import StrEnum


class Role(StrEnum):
    """How a number stands to the quantity it is named after."""

    UPPER = "upper bound"
    LOWER = "lower bound"
    EXACT = "exact"
    ESTIMATE = "estimate"
    BASELINE = "baseline"

    @property
    def glyph(self) -> str:
        """One character that stands for the role wherever space is short."""
        return {"upper bound": "≤", "lower bound": "≥", "exact": "=", "estimate": "≈"}.get(
            self.value, "·"
        )
