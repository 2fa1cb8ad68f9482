"""Table of the mechanisms of the map, and which of them is recommended.

To add a mechanism, add its row here and the module that the row names. The recommendation rests on
public numbers alone, never on a comparison with the true map.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from pkgutil import resolve_name

from explorer.privacy.core.bound import HEATMAPS as PAPER, HISTOGRAMS, Reference
from explorer.privacy.heatmaps.budget_schedule import SCHEDULE_REFERENCE, SHARE, START, THRESHOLD
from explorer.privacy.user_metric.point_noise import PLANAR, SEVERAL
from explorer.studies.base.builders import choice, count, file, real, share
from explorer.studies.base.numbers import at_most, format_number
from explorer.studies.base.parameters import PLANE, RELEASED, Kind, names_of
from explorer.studies.base.study import Advice, Parameter, Request, Scale
from explorer.studies.heatmap.contributions import COUNTS_ONCE, WHICH_CELL, in_one_cell

ALGORITHM = Reference(
    PAPER, "Algorithm 1 and Theorem 3.1", "lazy noise, exact tree solver, fixed ties"
)
SPLIT = Reference(
    "Cormode, Procopiuc, Srivastava, Shen and Yu 2012",
    "private quadtrees",
    "not in the paper: ε is split along paths, cells by noisy counts (Zhang, Xiao and Xie 2016)",
)
FITTED_TREE = Reference(
    "Hay, Rastogi, Miklau and Suciu 2010",
    "Theorem 3",
    "weighted by variances, on the tree as it has grown; then top-down projections",
)
CAPPED = Reference(
    PAPER,
    "Algorithm 1 down to level L",
    "not in the paper: L = ½ log₂(ε n₀) as in its Appendix D, flat cells below",
)
FITTED = Reference(
    "Hay, Rastogi, Miklau and Suciu 2010",
    "Theorem 3",
    "four children, a variance a level; then top-down projections",
)
DENSE = Reference(
    PAPER, "Appendix D, Theorem D.1", "ℓ* rounded, from n₀ and not from n: errata heat-16"
)
PRIOR = Reference(
    "this program",
    "explorer.privacy.heatmaps.public_prior",
    "post-processing: public maps are weighed by the evidence of the noisy counts, level by level",
)
BASELINES = Reference(PAPER, "Section 4, Baselines")
GAUSSIAN_NOISE = Reference(
    "Balle and Wang 2018", "Theorem 8", "least σ; the paper leaves it out: errata heat-18"
)
DISCRETE_NOISE = Reference(
    "Ghosh, Roughgarden and Sundararajan 2009", "geometric mechanism", "errata heat-35"
)
SAMPLED = Reference(
    "Balle, Barthe and Gaboardi 2018",
    "Theorems 8 and 9 without a secret",
    "users sampled by a keyed hash of their ids, whose key is public",
)
SHUFFLED = Reference(
    PAPER,
    "Appendix F",
    "noise scale, two shares a user, modulus, count of shares: errata heat-1 to heat-6",
)
COUNTED = Reference(
    HISTOGRAMS, "Theorem 3.2", "noise by exact δ in place of the constant 50: errata hist-A1"
)

ONE_USER = "one user: all their check-ins inside region and time range"
ONE_CELL_EACH = (
    f"{WHICH_CELL}. The true map spreads each user's check-ins: part of the difference "
    "is not noise."
)
"""Used unless the weights do the same to the true map."""
_LEVELS = "each level's counts change by at most 1 in total and the levels' ε add up to ε"
_PATHS = (
    "noisy counts alone decide which cells are read, on every path down to a cell the readings' ε "
    "add up to ε, and one user's mass on all paths is at most 1"
)
_PRIOR_NOTE = (
    "The map mixes noisy counts with public priors. The guarantee holds for any prior that was "
    "chosen without these data. People in a prior are not protected by this map. Patterns inside "
    "squares that were not measured are the prior's."
)
_CELLS = "the counts of all cells change by at most 1 in total"
_ONE_COUNT = "one count changes by 1"
_THEN_CHOSEN = ", and choosing the largest looks at noisy counts only"
_MOVED = "every point moves alone, by planar Laplace noise"
_DISTANCES = (
    "Noisy points promise something else than the other maps: not whether a user is there is "
    "hidden, but where their points are, by distance. Their ε does not compare with that of others."
)
_CLAMPED = (
    "Points that the noise takes out of the region stand on its nearest side; that costs nothing. "
    "How many points there are is not hidden, nor how many each user has."
)
_RUN = "explorer.studies.heatmap.run:"
_PROVED = "explorer.studies.heatmap.experiments.error_curves:"
_GAUSSIAN = "explorer.studies.heatmap.guarantee:gaussian"
_WIDER = "explorer.studies.heatmap.guarantee:wider"
_SHUFFLED = "explorer.studies.heatmap.shuffled_pyramid:"
_SHUFFLED_CELLS = "explorer.studies.heatmap.shuffled_cells:"
SIMULATED = (
    "A simulation of a distributed protocol: the sums shown have the law of what its analyzer "
    "computes, with no message sent. Run for real, nobody would see the check-ins."
)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """All that the map, its figures and its commands know of a randomised algorithm.

    Attributes
    ----------
    key : str
        Value of the parameter ``mechanism``; stands in recipes and sessions.
    label : str
        In the list of choices.
    title : str
        In the title of its map.
    run : str
        ``module:function``, from a `Task` to an `Estimate`; imported when it is first run.
    sensitivity : str
        How one user who comes or goes changes what the noise is added to.
    references : tuple of Reference
        Where it comes from.
    uses : tuple of str
        Keys of the parameters it reads of those that not all mechanisms read. One that uses
        ``delta`` promises (ε, δ).
    parameters : tuple of Parameter
        Those of its own, that no other mechanism has.
    guarantee : str
        ``module:function``, from a request to the `Guarantee` of this mechanism.
    replacement : str
        ``module:function``, from a request to the level, in words, at which one user may be
        replaced by another.
    conditions : str
        ``module:function``, from a request to further conditions; empty if there are none.
    of_settings : str
        ``module:function``, from a request to numbers that follow from the settings alone, by the
        keys of `explorer.studies.heatmap.public.OF_SETTINGS`; empty if there are none.
    neighbouring : str
        ``add_remove``, ``replace`` or ``metric``: what ε is stated for. With a metric it is that of
        points which move a distance, and compares with no other.
    unit : str
        Unit of protection.
    weight : str
        The condition that bounds the sensitivity, which the program sees to; empty where the
        weights within a user bound it.
    ideal : str
        Which numbers the noise is drawn from where it is exact.
    notes : tuple of str
        What else a reader must know, whatever the data.
    in_figures : bool
        Whether experiments that repeat the paper's figures run it.
    compared : bool
        Whether *Utility* draws its curve beside that of the chosen one.
    proved : str
        ``module:function``, from parameters and a number of users to an upper `Bound` on the error;
        empty where none is proved.
    release : str or None
        Id of what releases it with exact noise; None where nothing does. What is drawn here is a
        demonstration either way.
    simulated : str
        Id of what is planned in its place, and stamped so, where every user would have to draw the
        noise themselves; else empty.
    """

    key: str
    label: str
    title: str
    run: str
    sensitivity: str
    references: tuple[Reference, ...]
    uses: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    guarantee: str = "explorer.studies.heatmap.guarantee:pure"
    replacement: str = "explorer.studies.heatmap.guarantee:twice"
    conditions: str = ""
    of_settings: str = ""
    neighbouring: str = "add_remove"
    unit: str = ONE_USER
    weight: str = ""
    ideal: str = "real-valued"
    notes: tuple[str, ...] = ()
    in_figures: bool = False
    compared: bool = False
    proved: str = ""
    release: str | None = None
    simulated: str = ""

    @property
    def comparable(self) -> bool:
        """Whether its ε means what that of most others means, so that they can be ranked by it."""
        return self.neighbouring != "metric"


_DEEPEST = 11
"""Level of the finest map's cells."""
_OF_TREE = (
    share(
        "rho",
        "ρ",
        "share per level",
        "Adaptive quadtree only: which part of what is left of ε a cell's first count spends; "
        "its quarters go on with the rest. Costs no privacy, but must be chosen without looking "
        "at the data.",
        float(SHARE),
        0.1,
        0.9,
        latex=r"\rho",
    ),
    real(
        "tau",
        "τ",
        "threshold of splits",
        "Adaptive quadtree only: a cell is split if its estimated count times the ε left for its "
        "quarters is above this. Higher leaves more cells whole. Costs no privacy, but must be "
        "chosen without looking at the data.",
        THRESHOLD,
        2.0,
        100.0,
        latex=r"\tau",
    ),
    count(
        "q",
        "q",
        "start level",
        "Adaptive quadtree only: all cells of this level, 4 to its power, are read whatever the "
        "data are.",
        START,
        0,
        6,
        Scale.LINEAR,
    ),
    count(
        "L",
        "L",
        "deepest level",
        "Adaptive quadtree only: cells of this level are not split further; at most the level of "
        "the map's own cells, log₂ Δ.",
        _DEEPEST,
        0,
        _DEEPEST,
        Scale.LINEAR,
    ),
)

AVERAGE, INTERPOLATION = "average", "interpolation"
"""How mass is spread inside the squares of a tree that were not split."""
_OF_LEAVES = (
    choice(
        "smoothing",
        "",
        "smoothing inside squares",
        "Adaptive quadtree without a prior only: how mass is spread inside squares that were not "
        "split, by a moving average of the map or by interpolation between neighbours, level by "
        "level. Costs no privacy.",
        AVERAGE,
        ((AVERAGE, "Moving average"), (INTERPOLATION, "Interpolation")),
        default_unsaid=True,
    ),
)
_MOST_FILES = 4
"""Of one kind of prior."""
_OF_PRIORS = (
    Parameter(
        "prior_cities",
        "",
        "cities as prior",
        "Adaptive quadtree with a prior only: take the population of cities as a public map of "
        "where people are. Noisy counts alone decide how far it is followed. Costs no privacy.",
        Kind.FLAG,
        True,
        group="prior",
    ),
    file(
        "prior_checkins",
        "check-ins as prior",
        "Adaptive quadtree with a prior only: public check-ins of other people, such as those of "
        "another service. Never these people's own, nor anything that is not public: people in it "
        "are not protected.",
        (".csv", ".tsv", ".txt", ".gz", ".zip", ".parquet", ".geojson", ".json", ".gpkg", ".xlsx"),
        group="prior",
        most_files=_MOST_FILES,
    ),
    file(
        "prior_grid",
        "grid as prior",
        "Adaptive quadtree with a prior only: a public grid of people as GeoTIFF, or as CSV with "
        "the columns lat, lon and value.",
        (".tif", ".tiff", ".csv", ".tsv", ".txt"),
        group="prior",
        most_files=_MOST_FILES,
    ),
    file(
        "prior_release",
        "earlier release as prior",
        "Adaptive quadtree with a prior only: a map of these people that a ledger released before. "
        "Used only while ε is at most twice its ε. The map alone then depends on both, and their ε "
        "add up.",
        (RELEASED,),
        group="prior",
        most_files=_MOST_FILES,
    ),
)
PRIORS = tuple(p.key for p in _OF_PRIORS)
"""Keys of the parameters that name public priors, in the order in which these are taken."""
MOST_EPSILON = 2
"""An earlier release completes maps of at most this many times its own ε, as in a ledger."""
_EARLIER = re.compile(
    r"release ([0-9a-f]{32}), ε ([0-9]+(?:⁄[0-9]+)?)(?: of ([0-9]+(?:⁄[0-9]+)?))?\.released"
)


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """An earlier release that completes a map, as the name of its file states it.

    Attributes
    ----------
    id : str
    epsilon : Fraction
        Its own ε.
    total : Fraction
        ε of all releases that its map depends on, its own among them.
    """

    id: str
    epsilon: Fraction
    total: Fraction

    @property
    def name(self) -> str:
        """Name of its file; a fraction has the slash U+2044, as no name has the usual one."""
        own, total = (str(one).replace("/", "⁄") for one in (self.epsilon, self.total))
        return f"release {self.id}, ε {own}{f' of {total}' * (own != total)}{RELEASED}"

    @classmethod
    def parse(cls, name: str) -> EarlierRelease:
        """Return the release that the name of a file states.

        Raises
        ------
        ValueError
            If it states none.
        """
        found = _EARLIER.fullmatch(name)
        if found is None:
            raise ValueError(
                f"prior_release: {name} is no map of a release; choose one of a ledger"
            )
        identity, own, total = (part and part.replace("⁄", "/") for part in found.groups())
        return cls(identity, Fraction(own), Fraction(total or own))

    def completes(self, epsilon: float) -> bool:
        """Return whether it completes a map of this ε: at most twice its own."""
        return epsilon <= float(MOST_EPSILON * self.epsilon)


def named_releases(request: Request) -> tuple[EarlierRelease, ...]:
    """Return the earlier releases that a request names; none if its mechanism takes none."""
    if mechanism_of(request) is not WITH_PRIOR:
        return ()
    names = names_of(dict(request.values).get("prior_release", ""))
    return tuple(EarlierRelease.parse(name) for name in names if _EARLIER.fullmatch(name))


def used_releases(request: Request) -> tuple[EarlierRelease, ...]:
    """Return the earlier releases that complete the map of a request."""
    return tuple(one for one in named_releases(request) if one.completes(request["epsilon"]))


def earlier_epsilon(request: Request) -> Fraction:
    """Return the ε of all releases that complete the map of a request."""
    return sum((one.total for one in used_releases(request)), Fraction(0))


_OF_SHUFFLING = (
    count(
        "B",
        "B",
        "units a user",
        "Shuffled pyramid only: into how many whole units every user's check-ins are divided "
        "before noise is added. More bring the map nearer to the central pyramid's (B = ∞) and "
        "make messages longer. Costs no privacy, but must be chosen without looking at the data.",
        256,
        1,
        1 << 20,
        unit="units",
    ),
)
_OF_POINTS = (
    real(
        "radius",
        "r",
        "distance",
        "Noisy points only: the distance for which ε is stated, in metres; on a plane that is not "
        "the Earth in its unit. α = ε/r is what counts: half the ε at half the distance is the "
        "same noise, which moves a point by 2/α on average.",
        200.0,
        1.0,
        100_000.0,
        unit="m",
        unit_from=PLANE,
        more_private="high",
    ),
    choice(
        "points",
        "",
        "points",
        "Noisy points only: every check-in moves, and what a user's moves cost adds up; or one "
        "check-in of each user, drawn at random, which costs the largest of them.",
        "all",
        (("all", "Every check-in"), ("one", "One of each user")),
    ),
)

MECHANISMS: dict[str, Mechanism] = {
    mechanism.key: mechanism
    for mechanism in (
        Mechanism(
            "adaptive",
            "Adaptive quadtree",
            "adaptive quadtree",
            "explorer.studies.heatmap.run:adaptive",
            _PATHS,
            (SPLIT, FITTED_TREE),
            uses=tuple(p.key for p in (*_OF_TREE, *_OF_LEAVES)),
            parameters=(*_OF_TREE, *_OF_LEAVES),
            in_figures=True,
            compared=True,
            release="heatmap.adaptive/1",
        ),
        Mechanism(
            "adaptive-prior",
            "Adaptive, public prior",
            "adaptive quadtree with a public prior",
            _RUN + "adaptive_prior",
            _PATHS,
            (SPLIT, FITTED_TREE, PRIOR),
            uses=(*(p.key for p in _OF_TREE), *PRIORS),
            parameters=_OF_PRIORS,
            guarantee="explorer.studies.heatmap.guarantee:with_earlier",
            replacement="explorer.studies.heatmap.guarantee:twice_with_earlier",
            conditions="explorer.studies.heatmap.guarantee:of_priors",
            notes=(_PRIOR_NOTE,),
            release="heatmap.adaptive/2",
        ),
        Mechanism(
            "pyramid",
            "Pyramid (Ghazi et al.)",
            "pyramid",
            _RUN + "pyramid",
            _LEVELS,
            (ALGORITHM,),
            uses=("w", "backend", "variant"),
            in_figures=True,
            compared=True,
            proved=_PROVED + "pyramid_bound",
            release="heatmap.paper/1",
        ),
        Mechanism(
            "capped",
            "Depth cap + LP",
            "depth cap + LP",
            _RUN + "run_capped",
            _LEVELS,
            (CAPPED,),
            uses=("w", "n0", "backend"),
            proved=_PROVED + "capped_bound",
        ),
        Mechanism(
            "least-squares",
            "Depth cap + least squares",
            "depth cap + least squares",
            _RUN + "least_squares",
            _LEVELS,
            (CAPPED, FITTED),
            uses=("w", "n0"),
            in_figures=True,
            compared=True,
            release="heatmap.pyramid/1",
        ),
        Mechanism(
            "dense",
            "Dense aggregation (App. D)",
            "dense aggregation",
            _RUN + "dense",
            "the counts of one level, fixed beforehand, change by at most 1 in total",
            (DENSE,),
            uses=("n0",),
            proved=_PROVED + "dense_bound",
        ),
        Mechanism(
            "laplace",
            "Laplace baseline",
            "Laplace",
            _RUN + "laplace",
            _CELLS,
            (BASELINES,),
            in_figures=True,
            compared=True,
        ),
        Mechanism(
            "top",
            "Top t % baseline",
            "Laplace, top cells",
            _RUN + "laplace",
            _CELLS + _THEN_CHOSEN,
            (BASELINES,),
            uses=("top_percent",),
            in_figures=True,
        ),
        Mechanism(
            "gaussian",
            "Gaussian, (ε, δ)",
            "Gaussian",
            _RUN + "gaussian",
            _CELLS,
            (GAUSSIAN_NOISE,),
            uses=("delta",),
            guarantee=_GAUSSIAN,
            replacement=_WIDER,
        ),
        Mechanism(
            "gaussian-top",
            "Gaussian, (ε, δ), top t %",
            "Gaussian, top cells",
            _RUN + "gaussian",
            _CELLS + _THEN_CHOSEN,
            (GAUSSIAN_NOISE, BASELINES),
            uses=("delta", "top_percent"),
            guarantee=_GAUSSIAN,
            replacement=_WIDER,
        ),
        Mechanism(
            "integers",
            "Discrete Laplace, whole counts",
            "discrete Laplace",
            _RUN + "discrete_laplace",
            _ONE_COUNT,
            (DISCRETE_NOISE,),
            weight=COUNTS_ONCE,
            ideal="whole-number",
            notes=(ONE_CELL_EACH,),
            compared=True,
            release="counts.cells/1",
        ),
        Mechanism(
            "integers-top",
            "Discrete Laplace, whole counts, top t %",
            "discrete Laplace, top cells",
            _RUN + "discrete_laplace",
            _ONE_COUNT + _THEN_CHOSEN,
            (DISCRETE_NOISE, BASELINES),
            uses=("top_percent",),
            weight=COUNTS_ONCE,
            ideal="whole-number",
            notes=(ONE_CELL_EACH,),
        ),
        Mechanism(
            "shuffled-pyramid",
            "Shuffled pyramid (App. F)",
            "shuffled pyramid",
            _SHUFFLED + "run",
            "each level's whole counts change by at most B in total, the noise has scale B/ε on "
            "each level, and the levels' ε add up to ε",
            (SHUFFLED, ALGORITHM),
            uses=("w", "n0", "delta", "backend", "variant"),
            parameters=_OF_SHUFFLING,
            guarantee=_SHUFFLED + "guarantee",
            replacement=_SHUFFLED + "replacement",
            conditions=_SHUFFLED + "conditions",
            of_settings=_SHUFFLED + "of_settings",
            neighbouring="replace",
            ideal="whole-number",
            notes=(SIMULATED,),
            simulated="shuffle.pyramid/1",
        ),
        Mechanism(
            "shuffled-cells",
            "Shuffled histogram (Balcer–Cheu)",
            "shuffled histogram",
            _SHUFFLED_CELLS + "run",
            "one count falls by 1 and one rises by 1",
            (COUNTED,),
            uses=("n0", "delta"),
            guarantee=_SHUFFLED_CELLS + "guarantee",
            replacement=_SHUFFLED_CELLS + "replacement",
            conditions=_SHUFFLED_CELLS + "conditions",
            of_settings=_SHUFFLED_CELLS + "of_settings",
            neighbouring="replace",
            weight=COUNTS_ONCE,
            ideal="whole-number",
            notes=(SIMULATED, ONE_CELL_EACH),
            simulated="shuffle.histogram/1",
        ),
        Mechanism(
            "planar-laplace",
            "Noisy points (metric DP)",
            "noisy points",
            "explorer.studies.heatmap.noisy_points:run",
            _MOVED,
            (PLANAR, SEVERAL),
            uses=tuple(p.key for p in _OF_POINTS),
            parameters=_OF_POINTS,
            guarantee="explorer.studies.heatmap.noisy_points:guarantee",
            neighbouring="metric",
            unit="one point, by distance",
            weight="Every point's noise is drawn alone",
            notes=(_DISTANCES, _CLAMPED),
        ),
    )
}
"""In the order in which they are offered; the first is the default."""

RECOMMENDED = next(iter(MECHANISMS.values()))

ALGORITHM_AND_BASELINE = ("pyramid", "laplace")
"""Which the paper compares in Figures 1 and 10 to 12."""
BASELINE_MECHANISMS = ("laplace", "top")
"""The baselines of the paper's Section 4."""
SHUFFLED_AND_CENTRAL = ("pyramid", "shuffled-pyramid")
"""One algorithm with and without a curator."""

REFERENCES = tuple(
    dict.fromkeys(
        (
            ALGORITHM,
            SCHEDULE_REFERENCE,
            *(found for mechanism in MECHANISMS.values() for found in mechanism.references),
            SAMPLED,
        )
    )
)


def mechanism_of(request: Request) -> Mechanism:
    """Return the mechanism that a request asks for."""
    return MECHANISMS[request["mechanism"]]


def of_settings(request: Request) -> dict[str, float]:
    """Return numbers that follow from a request's settings alone."""
    named = mechanism_of(request).of_settings
    return dict(resolve_name(named)(request)) if named else {}


def using(key: str) -> tuple[str, ...]:
    """Return the keys of the mechanisms that use a parameter."""
    return tuple(m.key for m in MECHANISMS.values() if key in m.uses)


ROUGH_BELOW = 20.0
"""Least ε·n₀ at which more than the rough distribution can be expected."""
HIDES_USERS = (
    f"{RECOMMENDED.label} is recommended: it hides whether a user is there, and noisy points only "
    "how far."
)
REASON = f"{RECOMMENDED.label} is recommended: it errs less at the same ε."
WITH_PRIOR = MECHANISMS["adaptive-prior"]
PRIOR_HELPS_TO = 4500.0
"""Largest ε·n₀ at which maps of other people made the error clearly smaller in trials."""
PRIOR_REASON = (
    f"{WITH_PRIOR.label} is recommended: with a public map of other people it errs less at this ε."
)
WHOLE_COUNTS = MECHANISMS["integers"]
LITTLE_NOISE = 0.02
"""Up to this part of n₀ the noise in empty cells is small beside whole counts."""
EXPECT_LITTLE = "Expect the rough distribution only: ε is small for so few users."


def recommend(request: Request) -> Advice:
    """Return the mechanism to take and why; a function of the settings alone.

    Whole counts where every user is in one cell, by the weights or as declared, and little noise is
    to be expected in empty cells beside n₀ users; n₀ must not come from the data. Else the adaptive
    quadtree: it errs least on average from ε = .5 on, and below it no rule without the number of
    users is better. With a public prior if there is a file of one and ε·n₀ is at most
    `PRIOR_HELPS_TO`; who has chosen that mechanism is not advised against it, as beyond it does no
    harm.
    """
    share = noise_share(request)
    if share is None or share > LITTLE_NOISE:
        if _prior_helps(request):
            return Advice("mechanism", WITH_PRIOR.key, PRIOR_REASON, _rough(request))
        reason = REASON if mechanism_of(request).comparable else HIDES_USERS
        return Advice("mechanism", RECOMMENDED.key, reason, _rough(request))
    known = "by the weights chosen" if request["weights"] == "one-cell" else "as declared"
    reason = (
        f"{WHOLE_COUNTS.label} is recommended: each user visits only one cell, {known}, and the "
        f"noise to be expected in empty cells is at most {at_most(100 * share, 2)} % of "
        f"{format_number(request['n0'])} assumed users (n₀)."
    )
    return Advice("mechanism", WHOLE_COUNTS.key, reason, _rough(request))


def _prior_helps(request: Request) -> bool:
    """Return whether to take the quadtree with a public prior; a function of public numbers."""
    files = bool(request["prior_checkins"] or request["prior_grid"])
    if mechanism_of(request) is WITH_PRIOR:
        return files or bool(request["prior_cities"] or used_releases(request))
    selection = request.selection
    public = selection is None or selection.users is not None or selection.n0_from.may_be_told
    return files and public and request["epsilon"] * _users(request)[0] <= PRIOR_HELPS_TO


def noise_share(request: Request) -> float | None:
    """Return the expected positive noise of Δ² empty cells, as a share of n₀.

    That of discrete Laplace noise is a/(1 − a²) a cell with a = e^{−ε}. None where users may be in
    several cells, or n₀ came from the data and may not enter.
    """
    selection = request.selection
    public = selection is None or selection.n0_from.may_be_told
    if not (public and in_one_cell(request)):
        return None
    cells, n0 = int(request["resolution"]) ** 2, int(request["n0"])
    return cells / (2 * math.sinh(request["epsilon"])) / n0


def _rough(request: Request) -> str:
    """Return a warning of too small an ε, with the number of users."""
    if not mechanism_of(request).comparable:
        return ""
    users, basis = _users(request)
    product = request["epsilon"] * users
    if product >= ROUGH_BELOW:
        return ""
    return (
        f"Expect the rough distribution only: ε times {format_number(users)} {basis} is "
        f"{format_number(product)}, below {format_number(ROUGH_BELOW)}."
    )


def rough(request: Request) -> bool:
    """Whether ε is too small for a useful map, and this is public."""
    selection = request.selection
    sampled = selection is not None and selection.users is not None
    public = selection is None or sampled or selection.n0_from.may_be_told
    return public and bool(_rough(request))


def _users(request: Request) -> tuple[int, str]:
    """Return a public number of users: at most so many are sampled, or n₀ are assumed."""
    selection = request.selection
    if selection is not None and selection.users is not None:
        return selection.users, "users asked for"
    return int(request["n0"]), "assumed users (n₀)"
