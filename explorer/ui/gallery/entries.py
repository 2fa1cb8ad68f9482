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
"""By sign, in words, in the order of their tick boxes."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A preset in the list.

    Attributes
    ----------
    study_id, study_name : str
    paper : str
        The heading under which it stands.
    item : Preset
    settings : str
        The values that it sets.
    """

    study_id: str
    study_name: str
    paper: str
    item: Preset
    settings: str

    @property
    def verdict(self) -> str:
        """How what comes out compares, with its sign; empty if that is not said."""
        return f"{self.item.status} {self.item.verdict}".strip()

    @property
    def spoken(self) -> str:
        """What a screen reader says of it."""
        sign = STATUSES.get(self.item.status, "")
        said = ": ".join(filter(None, (sign, self.item.verdict)))
        return ", ".join(filter(None, (self.item.name, self.study_name, said)))

    def has(self, words: str) -> bool:
        """Return whether each of some words is in its texts, whatever their letters' case."""
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
    """Return ``Girgis et al. 2021`` for a paper with its authors; others as they are."""
    found = _AUTHORS.match(paper)
    if found is None:
        return paper
    names = re.split(r", | & | and ", found["names"])
    first = names[0] if len(names) == 1 else f"{names[0]} et al."
    return f"{' & '.join(names) if len(names) == 2 else first} {found['year']}"


def entries_of(study: Study) -> list[IndexEntry]:
    """Return the entries of a study, under the paper that it names first."""
    paper = study.references[0].paper if study.references else study.name
    return [IndexEntry(study.id, study.name, paper, p, _settings(study, p)) for p in study.presets]


def _settings(study: Study, item: Preset) -> str:
    asked = preset_request(study, item)
    swept = asked.sweep.key if asked.sweep is not None else ""
    return " · ".join(
        parameter_text(with_unit(parameter(study, key), asked.unit_values), asked[key])
        for key, _ in item.values
        if key != swept
    )
