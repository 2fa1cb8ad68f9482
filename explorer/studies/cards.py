"""What there is to know of every study before it is imported: a card each.

Menus, lists and completion show cards, so that the window opens without importing what nobody has
asked for yet. Adding a study is adding its package and a card here.
"""

from dataclasses import dataclass

MAPS = "Maps"
SHUFFLED = "Shuffled reports"
DISTANCES = "Users and distances"
COORDINATES = "Coordinates"


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a study before it is imported.

    Attributes
    ----------
    id : str
        As the study itself says.
    name, question : str
    workspace : str
        ``"bounds"`` (curves) or ``"map"`` (surfaces).
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


BUILT_IN: dict[str, Card] = {
    card.id: card
    for card in (
        Card(
            "heatmap",
            "Heatmaps",
            "What does a private heatmap of these check-ins look like?",
            "map",
            MAPS,
            "explorer.studies.heatmap:HeatmapStudy",
        ),
        Card(
            "heatmap-theory",
            "Heatmap theory",
            "How far off must a private heatmap be, and what does it cost?",
            "bounds",
            MAPS,
            "explorer.studies.heatmap_theory:HeatmapTheory",
        ),
        Card(
            "shuffle-rdp",
            "Shuffle accountant",
            "How private is training on shuffled messages of sampled clients?",
            "bounds",
            SHUFFLED,
            "explorer.studies.shuffle_accountant:ShuffleAccountant",
        ),
        Card(
            "amplification",
            "Amplification by shuffling",
            "How much more private does a shuffled crowd make a message?",
            "bounds",
            SHUFFLED,
            "explorer.studies.amplification:AmplificationStudy",
        ),
        Card(
            "histograms",
            "Shuffled histograms",
            "How accurate is a histogram of shuffled reports?",
            "bounds",
            SHUFFLED,
            "explorer.studies.shuffled_histograms:ShuffledHistograms",
        ),
        Card(
            "cldp-sgd",
            "Private learning",
            "How well does a model learn from shuffled private gradients?",
            "bounds",
            SHUFFLED,
            "explorer.studies.cldp_sgd:CldpSgd",
        ),
        Card(
            "choose-alpha",
            "Choose α",
            "Which α protects the changes of a user's data that matter?",
            "bounds",
            DISTANCES,
            "explorer.studies.choose_alpha:ChooseAlpha",
        ),
        Card(
            "itemwise",
            "Item-wise release",
            "How much noise must each item get when all are shuffled?",
            "bounds",
            DISTANCES,
            "explorer.studies.itemwise:ItemWise",
        ),
        Card(
            "linear-queries",
            "Linear queries",
            "How accurate is an average over all users' items?",
            "bounds",
            DISTANCES,
            "explorer.studies.linear_queries:LinearQueries",
        ),
        Card(
            "frequency",
            "Frequency estimation",
            "How accurate is a histogram of items that are near or far?",
            "bounds",
            DISTANCES,
            "explorer.studies.frequency:Frequency",
        ),
        Card(
            "unbounded",
            "Unbounded data",
            "What is promised when users have data sets of any size?",
            "bounds",
            DISTANCES,
            "explorer.studies.unbounded:Unbounded",
        ),
        Card(
            "users-data",
            "Users' data",
            "What comes out of these users' data, and how far apart are two such sets?",
            "bounds",
            DISTANCES,
            "explorer.studies.users_data:UsersData",
        ),
        Card(
            "coordinate-mean",
            "Coordinate DP: mean",
            "What does it cost to protect some coordinates more than others?",
            "bounds",
            COORDINATES,
            "explorer.studies.coordinate_mean:CoordinateMean",
        ),
        Card(
            "coordinate-learnt",
            "Coordinate DP: what is learnt",
            "What does a report give away about one coordinate of a record?",
            "bounds",
            COORDINATES,
            "explorer.studies.coordinate_learnt:CoordinateLearnt",
        ),
        Card(
            "private-regression",
            "Private regression",
            "How well can a label be predicted from records nobody has seen?",
            "bounds",
            COORDINATES,
            "explorer.studies.private_regression:PrivateRegression",
        ),
    )
}
REGISTERED: dict[str, Card] = {}
"""Of studies made outside this package."""


def cards() -> tuple[Card, ...]:
    """Return the cards of all studies, in the order in which the window lists them."""
    return (*BUILT_IN.values(), *REGISTERED.values())


def card(study_id: str) -> Card:
    """Return a study's card without importing the study.

    Raises
    ------
    ValueError
        Naming the studies there are.
    """
    found = BUILT_IN.get(study_id) or REGISTERED.get(study_id)
    if found is None:
        raise ValueError(f"there is no study {study_id!r}; there are {', '.join(study_ids())}")
    return found


def study_ids() -> tuple[str, ...]:
    """Return the ids of all studies, in the order in which the window lists them."""
    return tuple(c.id for c in cards())
