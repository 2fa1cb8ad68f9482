"""Registry of study instances: built-in ones, imported on first use, and those of plug-ins."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter
from typing import TYPE_CHECKING

from explorer.studies.catalog import (
    BUILT_IN,
    REGISTERED,
    StudyInfo,
    study_ids,
    study_info,
    study_infos,
)

if TYPE_CHECKING:
    from explorer.studies.base.study import Study

__all__ = [
    "GROUP",
    "StudyInfo",
    "add_installed",
    "get_study",
    "register",
    "registered_studies",
    "set_registered",
    "study_ids",
    "study_info",
    "study_infos",
    "unregister",
]

GROUP = "explorer.studies"
"""Entry-point group in which installed packages name the `StudyInfo` of a study."""
_instances: dict[str, Study] = {}


def get_study(study_id: str) -> Study:
    """Return the instance of a study, importing its module on first use.

    Raises
    ------
    ValueError
        If there is no such study, or a plug-in's class cannot be imported or created.
    """
    if study_id not in _instances:
        where = study_info(study_id).where
        module, _, name = where.partition(":")
        try:
            study = attrgetter(name)(import_module(module))()
            if study.id != study_id:
                raise ValueError(f"its class has the id {study.id!r}")
        except Exception as error:  # plug-in code may raise anything
            if study_id in BUILT_IN:
                raise
            raise ValueError(
                f"cannot create the study {study_id!r} from {where} ({error}): "
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
    """Register a study from outside this package, a plug-in or a test, with its catalog entry.

    The name defaults to the id. Compute processes create their own instance by the name of its
    class, without arguments.

    Raises
    ------
    ValueError
        If its id is taken.
    """
    where = f"{type(study).__module__}:{type(study).__qualname__}"
    _add(StudyInfo(study.id, name or study.id, question, workspace, family, where))
    _instances[study.id] = study


@cache
def add_installed() -> tuple[str, ...]:
    """Register the studies of installed packages; later calls do nothing.

    Returns
    -------
    tuple of str
        One message for each entry point that cannot be used.
    """
    problems = []
    for entry_point in entry_points(group=GROUP):
        try:
            info = entry_point.load()
            if not isinstance(info, StudyInfo):
                raise TypeError(f"not a StudyInfo: {info!r}")
            if info.workspace not in {built_in.workspace for built_in in BUILT_IN.values()}:
                raise ValueError(f"there is no workspace {info.workspace!r}")
            _add(info)
        except Exception as error:  # plug-in code may raise anything
            problems.append(
                f"The study {entry_point.value} of another package can't be used: {error}."
            )
    return tuple(problems)


def _add(info: StudyInfo) -> None:
    if info.id in study_ids():
        raise ValueError(f"a study {info.id!r} exists already")
    REGISTERED[info.id] = info


def registered_studies() -> tuple[StudyInfo, ...]:
    """Return the entries of studies registered from outside this package."""
    return tuple(REGISTERED.values())


def set_registered(others: Collection[StudyInfo]) -> None:
    """Replace all registered studies, to match those of another process."""
    for info in set(registered_studies()).difference(others):
        unregister(info.id)
    REGISTERED.update((info.id, info) for info in others)


def unregister(study_id: str) -> None:
    """Remove a registered study; built-in ones cannot be removed."""
    if REGISTERED.pop(study_id, None) is not None:
        _instances.pop(study_id, None)
