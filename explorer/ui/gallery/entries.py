"""Entries of the Figures tab: each preset with its study and paper. Imports no Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.figures.captions import parameter_text
from explorer.studies.base.help_page import Preset
from explorer.studies.base.study import Study, parameter, preset_request, with_unit

STATUSES = {
    "=": "as printed",
    "≠": "differs",
    "+": "beyond the paper",
    "▷": "run it to compare",
    "?": "not reproduced",
}
"""Verdicts by sign, in the order of the check boxes."""


@dataclass(frozen=True, slots=True)
class PresetEntry:
    """A preset in the list.

    Attributes
    ----------
    study_id, study_name : str
    paper : str
        Heading of its group.
    item : Preset
    settings : str
        Parameter values.
    """

    study_id: str
    study_name: str
    paper: str
    item: Preset
    settings: str

    @property
    def verdict(self) -> str:
        """Comparison with the published value, with its sign; empty if not stated."""
        return f"{self.item.status} {self.item.verdict}".strip()

    @property
    def spoken(self) -> str:
        """Text for screen readers."""
        sign = STATUSES.get(self.item.status, "")
        text = ": ".join(filter(None, (sign, self.item.verdict)))
        return ", ".join(filter(None, (self.item.name, self.study_name, text)))

    def has(self, words: str) -> bool:
        """Return whether its texts contain each word, ignoring case."""
        item = self.item
        texts = (
            item.name,
            item.verdict,
            item.about,
            item.published,
            item.computed,
            self.study_name,
            self.paper,
        )
        there = "\n".join(texts).casefold()
        return all(word in there for word in words.casefold().split())


_AUTHORS = re.compile(r"(?P<names>.+?) (?P<year>(?:19|20)\d\d)\b")


def short_paper(paper: str) -> str:
    """Return ``Girgis et al. 2021`` for a paper with authors; other texts unchanged."""
    match = _AUTHORS.match(paper)
    if match is None:
        return paper
    names = re.split(r", | & | and ", match["names"])
    first = names[0] if len(names) == 1 else f"{names[0]} et al."
    return f"{' & '.join(names) if len(names) == 2 else first} {match['year']}"


def entries_of(study: Study) -> list[PresetEntry]:
    """Return the entries of a study, grouped under its first paper."""
    paper = study.references[0].paper if study.references else study.name
    return [PresetEntry(study.id, study.name, paper, p, _settings(study, p)) for p in study.presets]


def _settings(study: Study, item: Preset) -> str:
    request = preset_request(study, item)
    swept = request.sweep.key if request.sweep is not None else ""
    return " · ".join(
        parameter_text(with_unit(parameter(study, key), request.unit_values), request[key])
        for key, _ in item.values
        if key != swept
    )
