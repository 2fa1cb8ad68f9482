"""The studies there are. Adding one is adding its module and a line here."""

from __future__ import annotations

from importlib import import_module

from explorer.studies.model import Study

_MODULES: dict[str, str] = {
    "heatmap": "explorer.studies.heatmap:HeatmapStudy",
    "shuffle-rdp": "explorer.studies.shuffle_accountant:ShuffleAccountant",
}
_instances: dict[str, Study] = {}


def study_ids() -> tuple[str, ...]:
    """Return the ids of all studies, in the order in which the window lists them."""
    return tuple(_MODULES) + tuple(key for key in _instances if key not in _MODULES)


def get_study(study_id: str) -> Study:
    """Return the study of that id, importing its module on first use.

    Raises
    ------
    ValueError
        Naming the studies there are.
    """
    if study_id not in _instances:
        if study_id not in _MODULES:
            raise ValueError(f"there is no study {study_id!r}; there are {', '.join(study_ids())}")
        module, _, name = _MODULES[study_id].partition(":")
        _instances[study_id] = getattr(import_module(module), name)()
    return _instances[study_id]


def register(study: Study) -> None:
    """Add a study made outside this package (a plug-in, a test).

    Raises
    ------
    ValueError
        If its id is taken.
    """
    if study.id in study_ids():
        raise ValueError(f"a study {study.id!r} exists already")
    _instances[study.id] = study


def unregister(study_id: str) -> None:
    """Take a registered study away again; built-in ones stay."""
    if study_id not in _MODULES:
        _instances.pop(study_id, None)
