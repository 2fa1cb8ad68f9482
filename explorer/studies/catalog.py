"""Catalog of all studies: id, name, question and class path of each; options of the start page.

Menus, lists and shell completion read the catalog, so that nothing imports a study before it is
used. To add a study, add its package and an entry here.
"""

from dataclasses import dataclass

MAPS = "Maps"
SHUFFLED = "Shuffled reports"
DISTANCES = "Users and distances"
COORDINATES = "Coordinates"


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """Entry of a study in the catalog, available without importing the study.

    Attributes
    ----------
    id : str
        Stable id, the same as ``Study.id``.
    name, question : str
        Shown in lists and menus.
    workspace : str
        ``"bounds"`` (curves) or ``"map"`` (surfaces).
    family : str
        Heading under which the study is listed.
    where : str
        Path of the study's class, ``package.module:Class``, called without arguments.
    """

    id: str
    name: str
    question: str
    workspace: str
    family: str
    where: str


BUILT_IN: dict[str, StudyInfo] = {
    info.id: info
    for info in (
        StudyInfo(
            "heatmap",
            "Heatmaps",
            "What does a private heatmap of these check-ins look like?",
            "map",
            MAPS,
            "explorer.studies.heatmap:HeatmapStudy",
        ),
        StudyInfo(
            "heatmap-theory",
            "Heatmap theory",
            "How large must the error of a private heatmap be?",
            "bounds",
            MAPS,
            "explorer.studies.heatmap_theory:HeatmapTheory",
        ),
        StudyInfo(
            "shuffle-rdp",
            "Shuffle accountant",
            "How private is training on shuffled messages of sampled clients?",
            "bounds",
            SHUFFLED,
            "explorer.studies.shuffle_accountant:ShuffleAccountant",
        ),
        StudyInfo(
            "amplification",
            "Amplification by shuffling",
            "How much more private does shuffling make a message?",
            "bounds",
            SHUFFLED,
            "explorer.studies.amplification:AmplificationStudy",
        ),
        StudyInfo(
            "histograms",
            "Shuffled histograms",
            "How accurate is a histogram of shuffled reports?",
            "bounds",
            SHUFFLED,
            "explorer.studies.shuffled_histograms:ShuffledHistograms",
        ),
        StudyInfo(
            "cldp-sgd",
            "Private learning",
            "How well does a model learn from shuffled private gradients?",
            "bounds",
            SHUFFLED,
            "explorer.studies.cldp_sgd:CldpSgd",
        ),
        StudyInfo(
            "choose-alpha",
            "Choose α",
            "Which α protects the changes of a user's data that matter?",
            "bounds",
            DISTANCES,
            "explorer.studies.choose_alpha:ChooseAlpha",
        ),
        StudyInfo(
            "itemwise",
            "Item-wise release",
            "How much noise does each item need when all are shuffled?",
            "bounds",
            DISTANCES,
            "explorer.studies.itemwise:ItemWise",
        ),
        StudyInfo(
            "linear-queries",
            "Linear queries",
            "How accurate is an average over all users' items?",
            "bounds",
            DISTANCES,
            "explorer.studies.linear_queries:LinearQueries",
        ),
        StudyInfo(
            "frequency",
            "Frequency estimation",
            "How accurate is a histogram when some items are close together?",
            "bounds",
            DISTANCES,
            "explorer.studies.frequency:Frequency",
        ),
        StudyInfo(
            "unbounded",
            "Unbounded data",
            "What is guaranteed when users have data sets of any size?",
            "bounds",
            DISTANCES,
            "explorer.studies.unbounded:Unbounded",
        ),
        StudyInfo(
            "users-data",
            "Users' data",
            "What do the algorithms release from a file of users' data?",
            "bounds",
            DISTANCES,
            "explorer.studies.users_data:UsersData",
        ),
        StudyInfo(
            "coordinate-mean",
            "Coordinate DP: mean",
            "What does it cost to protect some coordinates more than others?",
            "bounds",
            COORDINATES,
            "explorer.studies.coordinate_mean:CoordinateMean",
        ),
        StudyInfo(
            "coordinate-learnt",
            "Coordinate DP: what is learnt",
            "What does a report reveal about one coordinate of a record?",
            "bounds",
            COORDINATES,
            "explorer.studies.coordinate_learnt:CoordinateLearnt",
        ),
        StudyInfo(
            "private-regression",
            "Private regression",
            "How well can a label be predicted for new records?",
            "bounds",
            COORDINATES,
            "explorer.studies.private_regression:PrivateRegression",
        ),
    )
}
_HEATMAPS = (
    "Differentially Private Heatmaps",
    "Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan",
)
_USER_LEVEL = (
    "Metric Differential Privacy at the User-Level via the Earth Mover's Distance",
    "Imola, Roy Chowdhury, Chaudhuri",
)
_COORDINATES = (
    "Enhancing Feature-Specific Data Protection via Bayesian Coordinate Differential Privacy",
    "Aliakbarpour, Chaudhuri, Courtade, Fallah, Jordan",
)
_HISTOGRAMS = (
    "Separating Local & Shuffled Differential Privacy via Histograms",
    "Balcer, Cheu",
)
_SUBSAMPLED = (
    "Rényi Differential Privacy of the Subsampled Shuffle Model in Distributed Learning",
    "Girgis, Data, Diggavi",
)
SYNONYMS: dict[str, tuple[str, ...]] = {
    "heatmap": (
        "location privacy",
        "spatial histogram",
        "GPS",
        "density map",
        "epsilon planning",
        "geo-indistinguishability",
        "planar Laplace",
        *_HEATMAPS,
    ),
    "heatmap-theory": ("earth mover's distance", "Wasserstein", "EMD", *_HEATMAPS),
    "shuffle-rdp": (
        "accountant",
        "composition",
        "privacy budget",
        "moments accountant",
        "federated learning",
        "DP-SGD",
        "RDP",
        *_SUBSAMPLED,
    ),
    "amplification": ("shuffle model", "local DP", "LDP", "clones", *_SUBSAMPLED, *_HISTOGRAMS),
    "histograms": ("counts", "frequency table", "local DP", "LDP", "telemetry", *_HISTOGRAMS),
    "cldp-sgd": ("federated learning", "DP-SGD", "private SGD", "deep learning", *_SUBSAMPLED),
    "choose-alpha": ("epsilon planning", "geo-indistinguishability", "metric DP", *_USER_LEVEL),
    "itemwise": ("metric DP", "geo-indistinguishability", "d-privacy", *_USER_LEVEL),
    "linear-queries": ("mean", "average", "Gaussian mechanism", "Laplace", *_USER_LEVEL),
    "frequency": ("frequency oracle", "Hadamard response", "local DP", "LDP", *_USER_LEVEL),
    "unbounded": ("user-level DP", "sampling", "contribution bounding", *_USER_LEVEL),
    "users-data": ("upload", "own data", "user-level DP", *_USER_LEVEL),
    "coordinate-mean": ("BCDP", "local DP", "feature privacy", "attribute privacy", *_COORDINATES),
    "coordinate-learnt": ("BCDP", "inference", "attribute inference", "leakage", *_COORDINATES),
    "private-regression": ("BCDP", "least squares", "linear model", *_COORDINATES),
}
"""Other names by which the search finds a study: terms of the trade, its paper and its authors."""

REGISTERED: dict[str, StudyInfo] = {}
"""Studies registered by other packages."""


def study_infos() -> tuple[StudyInfo, ...]:
    """Return the entries of all studies in display order."""
    return (*BUILT_IN.values(), *REGISTERED.values())


def study_info(study_id: str) -> StudyInfo:
    """Return the entry of one study without importing the study.

    Raises
    ------
    ValueError
        If there is no such study; the message lists all ids.
    """
    info = BUILT_IN.get(study_id) or REGISTERED.get(study_id)
    if info is None:
        raise ValueError(f"there is no study {study_id!r}; there are {', '.join(study_ids())}")
    return info


def study_ids() -> tuple[str, ...]:
    """Return the ids of all studies in display order."""
    return tuple(info.id for info in study_infos())


@dataclass(frozen=True, slots=True)
class StartOption:
    """One option of the start page.

    Attributes
    ----------
    title, about : str
        Heading and description; glossary terms in `about` are explained by tool tips.
    picture : str
        Name of a resource: ``.png``, or ``.json`` with curves as points from 0 to 1.
    button : str
        Text of the main button, with the letter of its shortcut marked.
    does : str
        Action of the main button: ``open``, ``figures``, or ``study:ID``, optionally followed by a
        slash and the parameter that gets the focus.
    other, other_does : str
        Text and action (also ``sample``) of the secondary button; empty for none.
    hint : str
        Further ways, shown below the buttons.
    """

    title: str
    about: str
    picture: str
    button: str
    does: str
    other: str = ""
    other_does: str = ""
    hint: str = ""


START_OPTIONS = (
    StartOption(
        "I have check-ins",
        "See a private map of your file beside the true one, and find an ε that keeps the error "
        "small enough.",
        "start-map.png",
        "&Open check-ins…",
        "open",
        "Try the synthetic sample",
        "sample",
        "or drop a file",
    ),
    StartOption(
        "I train a model",
        "Clients send noisy, shuffled messages. See how private the training is, and find the "
        "noise you need.",
        "start-training.json",
        "Start with &your numbers",
        "study:shuffle-rdp/n",
        "I only need counts or a histogram",
        "study:histograms",
    ),
    StartOption(
        "I read a paper",
        "The figures and tables of the papers, computed again, with the reason wherever our "
        "numbers differ.",
        "start-paper.json",
        "&Browse the figures",
        "figures",
        hint="or search with Ctrl+K: figure 2",
    ),
)
