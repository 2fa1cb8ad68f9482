"""The studies there are, each imported when it is first asked for, and those of others."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter
from typing import TYPE_CHECKING

from explorer.studies.cards import BUILT_IN, REGISTERED, Card, card, cards, study_ids

if TYPE_CHECKING:
    from explorer.studies.base.study import Study

__all__ = [
    "GROUP",
    "Card",
    "add_installed",
    "card",
    "cards",
    "get_study",
    "register",
    "registered",
    "set_registered",
    "study_ids",
    "unregister",
]

GROUP = "explorer.studies"
"""Entry points under which installed packages name the card of a study of theirs."""
_instances: dict[str, Study] = {}


def get_study(study_id: str) -> Study:
    """Return the study of that id, importing its module on first use.

    Raises
    ------
    ValueError
        Naming the studies there are, or why one that another process registered can't be made.
    """
    if study_id not in _instances:
        where = card(study_id).where
        module, _, name = where.partition(":")
        try:
            study = attrgetter(name)(import_module(module))()
            if study.id != study_id:
                raise ValueError(f"it makes {study.id!r}")
        except Exception as error:  # whatever importing or making a study of others raises
            if study_id in BUILT_IN:
                raise
            raise ValueError(
                f"the study {study_id!r} can't be made from {where} ({error}): "
                "its class must be importable by name and take no arguments"
            ) from error
        _instances[study_id] = study
    return _instances[study_id]


def register(
    study: Study,
    name: str = "",
    question: str = "",
    *,
    workspace: str = "bounds",
    family: str = "Plug-ins",
) -> None:
    """Add a study made outside this package (a plug-in, a test), and what its card says.

    Without a name its id is shown. Processes that compute for this one make their own: by its
    class' name, without arguments.

    Raises
    ------
    ValueError
        If its id is taken.
    """
    where = f"{type(study).__module__}:{type(study).__qualname__}"
    _add(Card(study.id, name or study.id, question, workspace, family, where))
    _instances[study.id] = study


@cache
def add_installed() -> tuple[str, ...]:
    """Register the studies of installed packages, once.

    Returns
    -------
    tuple of str
        A sentence for each that can't be used.
    """
    problems = []
    for found in entry_points(group=GROUP):
        try:
            loaded = found.load()
            if not isinstance(loaded, Card):
                raise TypeError(f"it is no card of a study but {loaded!r}")
            if loaded.workspace not in {own.workspace for own in BUILT_IN.values()}:
                raise ValueError(f"there is no workspace {loaded.workspace!r}")
            _add(loaded)
        except Exception as error:  # whatever importing the package of others raises
            problems.append(f"The study {found.value} of another package can't be used: {error}.")
    return tuple(problems)


def _add(card: Card) -> None:
    if card.id in study_ids():
        raise ValueError(f"a study {card.id!r} exists already")
    REGISTERED[card.id] = card


def registered() -> tuple[Card, ...]:
    """Return the cards of registered studies."""
    return tuple(REGISTERED.values())


def set_registered(others: Collection[Card]) -> None:
    """Register the studies that another process has registered, and no others."""
    for gone in set(registered()).difference(others):
        unregister(gone.id)
    REGISTERED.update((known.id, known) for known in others)


def unregister(study_id: str) -> None:
    """Take a registered study away again; built-in ones stay."""
    if REGISTERED.pop(study_id, None) is not None:
        _instances.pop(study_id, None)
