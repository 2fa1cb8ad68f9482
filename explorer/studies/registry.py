"""The studies there are. Adding one is adding its module and a card here.

A card says what menus and lists show, so that the window opens without importing what nobody has
asked for yet; a test holds every card against its study.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter

from explorer.studies.base.study import Study

MAPS = "Maps"
SHUFFLED = "Shuffled reports"
DISTANCES = "Users and distances"
COORDINATES = "Coordinates"


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a study before it is imported.

    Attributes
    ----------
    id, name, question, workspace : str
        As the study itself says.
    family : str
        Heading under which lists put it.
    where : str
        ``package.module:Class``, from which a process makes a study of its own.
    """

    id: str
    name: str
    question: str
    workspace: str
    family: str
    where: str


_CARDS: dict[str, Card] = {
    card.id: card
    for card in (
        Card(
            "heatmap", "Heatmaps", "What does a private heatmap of these check-ins look like?",
            "map", MAPS, "explorer.studies.heatmap:HeatmapStudy",
        ),
        Card(
            "heatmap-theory", "Heatmap theory",
            "How far off must a private heatmap be, and what does it cost?",
            "bounds", MAPS, "explorer.studies.heatmap_theory:HeatmapTheory",
        ),
        Card(
            "shuffle-rdp", "Shuffle accountant",
            "How private is training on shuffled messages of sampled clients?",
            "bounds", SHUFFLED, "explorer.studies.shuffle_accountant:ShuffleAccountant",
        ),
        Card(
            "amplification", "Amplification by shuffling",
            "How much more private does a shuffled crowd make a message?",
            "bounds", SHUFFLED, "explorer.studies.amplification:AmplificationStudy",
        ),
        Card(
            "histograms", "Shuffled histograms", "How exact is a histogram of shuffled reports?",
            "bounds", SHUFFLED, "explorer.studies.shuffled_histograms:ShuffledHistograms",
        ),
        Card(
            "cldp-sgd", "Private learning",
            "How well does a model learn from shuffled private gradients?",
            "bounds", SHUFFLED, "explorer.studies.cldp_sgd:CldpSgd",
        ),
        Card(
            "choose-alpha", "Choose α",
            "Which α protects the changes of a user's data that matter?",
            "bounds", DISTANCES, "explorer.studies.choose_alpha:ChooseAlpha",
        ),
        Card(
            "itemwise", "Item-wise release",
            "How much noise must each item get when all are shuffled?",
            "bounds", DISTANCES, "explorer.studies.itemwise:ItemWise",
        ),
        Card(
            "linear-queries", "Linear queries", "How exact is an average over all users' items?",
            "bounds", DISTANCES, "explorer.studies.linear_queries:LinearQueries",
        ),
        Card(
            "frequency", "Frequency estimation",
            "How exact is a histogram of items that are near or far?",
            "bounds", DISTANCES, "explorer.studies.frequency:Frequency",
        ),
        Card(
            "unbounded", "Unbounded data",
            "What is promised when users have data sets of any size?",
            "bounds", DISTANCES, "explorer.studies.unbounded:Unbounded",
        ),
        Card(
            "coordinate-mean", "Coordinate DP: mean",
            "What does it cost to protect some coordinates more than others?",
            "bounds", COORDINATES, "explorer.studies.coordinate_mean:CoordinateMean",
        ),
        Card(
            "coordinate-learnt", "Coordinate DP: what is learnt",
            "What does a report give away about one coordinate of a record?",
            "bounds", COORDINATES, "explorer.studies.coordinate_learnt:CoordinateLearnt",
        ),
        Card(
            "private-regression", "Private regression",
            "How well can a label be predicted from records nobody has seen?",
            "bounds", COORDINATES, "explorer.studies.private_regression:PrivateRegression",
        ),
    )
}  # fmt: skip
_instances: dict[str, Study] = {}
_registered: dict[str, Card] = {}


def cards() -> tuple[Card, ...]:
    """Return the cards of all studies, in the order in which the window lists them."""
    return (*_CARDS.values(), *_registered.values())


def card(study_id: str) -> Card:
    """Return a study's card without importing the study.

    Raises
    ------
    ValueError
        Naming the studies there are.
    """
    found = _CARDS.get(study_id) or _registered.get(study_id)
    if found is None:
        raise ValueError(f"there is no study {study_id!r}; there are {', '.join(study_ids())}")
    return found


def study_ids() -> tuple[str, ...]:
    """Return the ids of all studies, in the order in which the window lists them."""
    return tuple(c.id for c in cards())


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
            if study_id in _CARDS:
                raise
            raise ValueError(
                f"the study {study_id!r} can't be made from {where} ({error}): "
                "its class must be importable by name and take no arguments"
            ) from error
        _instances[study_id] = study
    return _instances[study_id]


def register(study: Study, family: str = "Plug-ins") -> None:
    """Add a study made outside this package (a plug-in, a test).

    Processes that compute for this one make their own: by its class' name, without arguments.

    Raises
    ------
    ValueError
        If its id is taken.
    """
    if study.id in study_ids():
        raise ValueError(f"a study {study.id!r} exists already")
    where = f"{type(study).__module__}:{type(study).__qualname__}"
    _registered[study.id] = Card(
        study.id, study.name, study.question, study.workspace, family, where
    )
    _instances[study.id] = study


def registered() -> tuple[Card, ...]:
    """Return the cards of registered studies."""
    return tuple(_registered.values())


def know(others: Collection[Card]) -> None:
    """Have these studies registered, which another process registered, and no others."""
    for gone in set(_registered.values()).difference(others):
        unregister(gone.id)
    _registered.update((card.id, card) for card in others)


def unregister(study_id: str) -> None:
    """Take a registered study away again; built-in ones stay."""
    if _registered.pop(study_id, None) is not None:
        _instances.pop(study_id, None)
