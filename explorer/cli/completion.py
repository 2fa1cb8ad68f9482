"""Shell completion of studies and of their keys.

Errors raised here would be printed into the user's command line, so that an unknown study has no
completions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:  # imports NumPy, which every command would wait for
    from explorer.studies.base.study import Study

NAMED = "explorer.study"
"""Key of the click context under which a command stores the study in its arguments."""
Found = Iterable[tuple[str, str]]
"""Completions with their help."""
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def studies(workspace: str = "") -> Completer:
    """Return a completer of study ids, optionally of one workspace."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        from explorer.studies.registry import study_infos

        result = ((c.id, c.question) for c in study_infos() if workspace in ("", c.workspace))
        return _beginning(result, begun)

    return complete


def experiments(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete names of experiments."""
    from explorer.studies.heatmap.experiments.figures import FIGURES, QUALITY

    named = [(QUALITY, "Error of any mechanisms in any regions")]
    return _beginning(named + [(f.name, f.title) for f in FIGURES.values()], begun)


def of_study(keys: Callable[[Study], Found], ending: str = "") -> Completer:
    """Return a completer of keys of the study named before, with a suffix."""

    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        from explorer.studies.registry import get_study, study_ids

        # While an option lacks its value, click does not parse the arguments before it.
        study = context.params.get("study") or context.meta.get(NAMED)
        if study not in study_ids():
            return []
        return _beginning(((key + ending, help) for key, help in keys(get_study(study))), begun)

    return complete


def parameters(study: Study) -> Found:
    """Return the parameters that can be set."""
    return [(p.key, p.help) for p in study.parameters if not p.axis_only]


def sweeps(study: Study) -> Found:
    """Return the parameters that can be on the x axis of some quantity."""
    possible = {key for q in study.quantities for key in q.sweeps}
    return [(p.key, p.help) for p in study.parameters if p.key in possible]


def quantities(study: Study) -> Found:
    """Return what can be on the y axis."""
    return [(q.key, q.name) for q in study.quantities]


def presets(study: Study) -> Found:
    """Return the figures and examples of the paper."""
    return [(p.key, p.name) for p in study.presets]


def _beginning(items: Found, begun: str) -> list[CompletionItem]:
    return [CompletionItem(word, help=help) for word, help in items if word.startswith(begun)]
