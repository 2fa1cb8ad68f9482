"""What a heatmap of check-ins looks like under differential privacy, and what it loses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from explorer.privacy.core.bound import Reference
from explorer.studies.base.help_page import Page, Preset
from explorer.studies.base.study import Context, Parameter, Quantity, Request, Result
from explorer.studies.heatmap.help import PAGE, PRESETS
from explorer.studies.heatmap.mechanisms import REFERENCES
from explorer.studies.heatmap.parameters import PARAMETERS


class HeatmapStudy:
    """True and private heatmap of the loaded check-ins, side by side."""

    id: ClassVar[str] = "heatmap"
    name: ClassVar[str] = "Heatmaps"
    question: ClassVar[str] = "What does a private heatmap of these check-ins look like?"
    workspace: ClassVar[str] = "map"
    references: ClassVar[tuple[Reference, ...]] = REFERENCES
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    quantities: ClassVar[tuple[Quantity, ...]] = ()
    needs_data: ClassVar[bool] = True
    page: ClassVar[Page] = PAGE
    presets: ClassVar[tuple[Preset, ...]] = PRESETS

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the picture, then its metrics, then a sharper and at last the exact distance.

        A coarse request ends with the metrics and the quick interval of the distance.

        Raises
        ------
        ValueError
            If no check-ins are selected.
        LookupError
            If the selected check-ins are not open.
        """
        from explorer.studies.heatmap.answer import answers

        return answers(request, context)

    def public_result(self, result: Result) -> Result:
        """Return what of an answer may be published: see `explorer.studies.heatmap.public`."""
        from explorer.studies.heatmap.public import public_result

        return public_result(result)
