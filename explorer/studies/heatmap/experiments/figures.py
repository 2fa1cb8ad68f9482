"""The experiments by name: heatmap quality on any regions, and the paper's figures.

What a figure of the paper leaves open (the mixtures, thresholds and σ, which region) is chosen here
and stands in its rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from explorer.geography.region import PlaneRegion
from explorer.studies.base.help_page import trend
from explorer.studies.base.numbers import nearest
from explorer.studies.heatmap.experiments.plan import (
    Point,
    Summary,
    Trials,
    Variant,
    by_setting,
    differences,
    summarise,
)
from explorer.studies.heatmap.experiments.samples import (
    FILLED_SHARES,
    Gazes,
    Mixtures,
    Place,
    Source,
    busiest_places,
    picture_places,
    plane_places,
)
from explorer.studies.heatmap.experiments.trial import TrialValues
from explorer.studies.heatmap.help import MEASURES, trends_verdict
from explorer.studies.heatmap.mechanisms import (
    ALGORITHM_AND_BASELINE,
    BASELINE_MECHANISMS,
    MECHANISMS,
    SHUFFLED_AND_CENTRAL,
)

QUALITY = "heatmap-quality"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
CHECKINS, SYNTHETIC, EITHER = "check-ins", "made data", "made data, or check-ins"


THRESHOLDS = (0.01, 0.001)
"""Shares of cells in % that the paper's thresholds keep."""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about a figure's curves, judged by each measure.

    Attributes
    ----------
    kind : str
        ``ahead`` of others at every x; or from the first x to the last ``better``, ``worse`` or
        ``constant``.
    mechanism : str
        Whose curve it is about.
    source : str
        Section of the paper.
    rivals : tuple of str
        Those that it is ahead of.
    axis : str
        Of the panel; empty for all.
    """

    kind: Literal["ahead", "better", "worse", "constant"]
    mechanism: str
    source: str
    rivals: tuple[str, ...] = ()
    axis: str = ""


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: the parameter on its x axis, and fixed values.

    Attributes
    ----------
    key : str
    axis : str
        ``epsilon``, ``users``, ``resolution``, ``B`` or ``filled`` (share of cells).
    xs : tuple
    fixed : tuple of (key, value)
        Parameters of the study, and ``users``.
    """

    key: str
    axis: str
    xs: tuple[Any, ...]
    fixed: tuple[tuple[str, Any], ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """What the panel sets."""
        return (self.axis, "resolution", *(key for key, _ in self.fixed))

    def settings(self, x: Any) -> tuple[int, dict[str, Any]]:
        """Return how many users and which parameters there are at a place of the axis."""
        values = {"resolution": "256", **dict(self.fixed)}
        if self.axis != "filled":
            values[self.axis] = str(x) if self.axis == "resolution" else x
        return values.pop("users"), values

    def with_values(self, given: Mapping[str, Sequence[Any]], elsewhere: Collection[str]) -> Panel:
        """Return the panel with other values on its x axis, or another fixed value.

        Parameters
        ----------
        given : mapping of str to sequence
            By parameter.
        elsewhere : collection of str
            Parameters on an axis of the figure; what is fixed here keeps its value then.

        Raises
        ------
        ValueError
            If there are several values, or all users, where one number is wanted.
        """
        fixed, xs = dict(self.fixed), self.xs
        for key, values in given.items():
            whole = key in ("users", "resolution")
            if key in ("users", "n0") and None in values:
                raise ValueError(f"{key}: the figure takes numbers of users; all is none")
            if key == self.axis:
                xs = tuple(dict.fromkeys(int(v) if whole else v for v in values))
            elif key in elsewhere:
                continue
            elif len(values) != 1:
                raise ValueError(
                    f"{key}: {len(values)} values, and the figure has {self.axis} on its axis; "
                    "give one"
                )
            else:
                fixed[key] = str(values[0]) if key == "resolution" else values[0]
                if key == "users" and "n0" in fixed:
                    fixed["n0"] = values[0]
        return replace(self, xs=xs, fixed=tuple(fixed.items()))


@dataclass(frozen=True)
class Figure:
    """A figure of the heatmap paper as an experiment.

    Attributes
    ----------
    name : str
    title : str
        What is drawn.
    expected : str
        What must come out, and where here it does not.
    panels : tuple of Panel
    regions : int
        Cells with most users of the paper's partition, of check-ins; 0 for made data alone.
    draws : int
        The paper's trials: each with a sample and noise of its own.
    made : tuple of Mixtures
        Made data, one for each place of the axis.
    pictures : int
        Gaze-like made data: so many pictures.
    mechanisms : tuple of str
        Keys of those that it compares; empty for those of most figures.
    measures : tuple of str
        Those of the paper's four that are drawn.
    thresholds : tuple of float
        Shares of cells in %, each a curve of mechanisms that keep the largest cells only.
    claims : tuple of Claim
        What the paper says of it, to be judged by every measure.
    """

    name: str
    title: str
    expected: str
    panels: tuple[Panel, ...] = ()
    regions: int = 0
    draws: int = 10
    made: tuple[Mixtures, ...] = ()
    pictures: int = 0
    mechanisms: tuple[str, ...] = ()
    measures: tuple[str, ...] = tuple(MEASURES)
    thresholds: tuple[float, ...] = THRESHOLDS
    claims: tuple[Claim, ...] = ()

    def with_values(self, given: Mapping[str, Sequence[Any]]) -> Figure:
        """Return the figure at other values: on its x axes, or in place of those it fixes.

        Raises
        ------
        ValueError
            If the figure has no place for them.
        """
        axes = {panel.axis for panel in self.panels}
        panels = tuple(panel.with_values(given, axes) for panel in self.panels)
        return replace(self, panels=panels)

    @property
    def compared(self) -> tuple[str, ...]:
        """Keys of the mechanisms that it compares."""
        return self.mechanisms or mechanisms_of_paper()

    @property
    def needs(self) -> str:
        """Whether it is about check-ins, made data, or made data unless check-ins are named."""
        if self.pictures or (self.regions and self.made):
            return EITHER
        return CHECKINS if self.regions else SYNTHETIC


def _by_users(epsilon: float) -> Panel:
    return Panel("users", "users", (50, 100, 200, 300, 400, 500), (("epsilon", epsilon),))


def _by_resolution(epsilon: float, *more: int) -> Panel:
    sides = (64, 128, 256, *more)
    return Panel("resolution", "resolution", sides, (("epsilon", epsilon), ("users", 200)))


def _ahead(source: str) -> tuple[Claim, ...]:
    return (Claim("ahead", "pyramid", source, BASELINE_MECHANISMS),)


def _with_users(source: str) -> tuple[Claim, ...]:
    return tuple(Claim("better", key, source, axis="users") for key in ALGORITHM_AND_BASELINE)


def _with_resolution(source: str) -> tuple[Claim, ...]:
    return (
        Claim("constant", "pyramid", source, axis="resolution"),
        Claim("worse", "laplace", source, axis="resolution"),
    )


_WITH_FILLED = (
    Claim("worse", "pyramid", "Appendix E.3", axis="filled"),
    Claim("better", "laplace", "Appendix E.3", axis="filled"),
)


def _mixtures(*components: int | tuple[int, ...]) -> tuple[Mixtures, ...]:
    """Return mixtures that fill more and more cells: of wider Gaussians, with more points."""
    spreads = ((0.01, 0.04), (0.02, 0.08), (0.04, 0.12), (0.1, 0.3))
    return tuple(map(Mixtures, components, FILLED_SHARES, spreads))


_FILLED = Panel("filled", "filled", FILLED_SHARES, (("epsilon", 1.0), ("users", 200)))
_DENSER = (
    "Laplace better the more cells are filled; the paper's pyramid is worse{}: on data as they are "
    "made here it is {}"
)

FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "figure-1",
            "Error against ε: 200 users, 30 busiest cells, 2 samples each",
            "adaptive < least squares < pyramid, all far below Laplace, from ε = .5",
            (Panel("epsilon", "epsilon", EPSILONS, (("users", 200),)),),
            regions=30,
            draws=2,
            claims=_ahead("Section 4.1"),
        ),
        Figure(
            "figure-2",
            "Error against users and against Δ: one region, ε = 10, 10 samples",
            "pyramid and adaptive fall with users and are flat in Δ; Laplace is worse with Δ",
            (_by_users(10.0), _by_resolution(10.0)),
            regions=1,
            measures=("emd",),
            claims=_with_users("Section 4.1") + _with_resolution("Section 4.1"),
        ),
        Figure(
            "figure-4",
            "All measures against users: one region, ε = 10, 10 samples",
            "pyramid and adaptive improve with users; thresholds are erratic",
            (_by_users(10.0),),
            regions=1,
            claims=_with_users("Appendix E.1"),
        ),
        Figure(
            "figure-5",
            "All measures against Δ: one region, 200 users, ε = 10, 10 samples",
            "pyramid and adaptive flat; Laplace worse",
            (_by_resolution(10.0, 512),),
            regions=1,
            claims=_with_resolution("Appendix E.1"),
        ),
        Figure(
            "figure-6",
            "All measures against users: one region, ε = 1, 10 samples",
            "pyramid and adaptive fall; thresholds erratic",
            (_by_users(1.0),),
            regions=1,
            claims=_with_users("Appendix E.1"),
        ),
        Figure(
            "figure-7",
            "All measures against Δ: one region, 200 users, ε = 1, 10 samples",
            "pyramid and adaptive flat; Laplace worse; thresholds poor",
            (_by_resolution(1.0, 512),),
            regions=1,
            claims=_with_resolution("Appendix E.1"),
        ),
        Figure(
            "figure-8",
            "Error against ε: gaze-like points of 50 users on 38 pictures, 2 trials",
            "as figure 1",
            (
                Panel(
                    "epsilon",
                    "epsilon",
                    (1.0, 2.0, 5.0, 8.0, 10.0, 20.0),
                    (("users", 50), ("resolution", "512")),
                ),
            ),
            draws=2,
            pictures=38,
            claims=_ahead("Appendix E.2"),
        ),
        Figure(
            "figure-9",
            "Error of the maps of one picture at ε = 10",
            "as figure 1; the command heatmap --picture draws the maps",
            (Panel("epsilon", "epsilon", (10.0,), (("users", 50), ("resolution", "512"))),),
            draws=1,
            pictures=1,
            thresholds=THRESHOLDS[:1],
            claims=_ahead("Appendix E.2"),
        ),
        Figure(
            "figure-10",
            "Error against filled cells: mixtures of 20 Gaussians, ε = 1, 10 sets",
            _DENSER.format("", trends_verdict("figure-10")),
            (_FILLED,),
            made=_mixtures(20, 20, 20, 20),
            claims=_WITH_FILLED,
        ),
        Figure(
            "figure-11",
            "As figure 10 with 5 or 10, 20, 20 and 80 Gaussians",
            _DENSER.format(
                ", more so than in figure 10",
                trends_verdict("figure-11"),
            ),
            (_FILLED,),
            made=_mixtures((5, 10), 20, 20, 80),
            claims=_WITH_FILLED,
        ),
        Figure(
            "figure-13",
            "Error of the shuffled pyramid against B: 50 users, ε = 5, δ = 10⁻⁵, 20 samples",
            "falls with B; near the pyramid, which is B = ∞, from B = 256",
            (
                Panel(
                    "B",
                    "B",
                    tuple(1 << i for i in range(4, 13)),
                    (
                        ("epsilon", 5.0),
                        ("delta", 1e-5),
                        ("users", 50),
                        ("n0", 50),
                        ("resolution", "512"),
                    ),
                ),
            ),
            draws=20,
            pictures=1,
            regions=1,
            mechanisms=SHUFFLED_AND_CENTRAL,
            claims=(Claim("better", "shuffled-pyramid", "Appendix F", axis="B"),),
        ),
    )
}


def quality_points(
    where: Sequence[tuple[Place, Source]],
    mechanisms: Sequence[str],
    users: Sequence[int | None],
    draws: int,
    axes: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    thresholds: Sequence[float] = (),
) -> Iterator[Point]:
    """Yield the rows of heatmap quality: regions × users × parameters × mechanisms.

    Parameters
    ----------
    where : sequence of (Place, Source)
    mechanisms, users, draws
        As `Point` has them.
    axes : mapping
        Values of some parameters of the study, all combined, the last varying fastest.
    fixed : mapping
        Other parameters.
    thresholds : sequence of float
        As `figure_points` takes them.
    """
    variants = _variants(mechanisms, thresholds)
    for (place, source), count, combination in product(where, users, product(*axes.values())):
        values = {**fixed, **dict(zip(axes, combination, strict=True))}
        for variant in variants:
            yield Point(place, source, count, {**values, **variant}, draws)


def _variants(mechanisms: Sequence[str], thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Return the settings of mechanisms: those that keep the largest cells once a threshold."""
    variants: list[dict[str, Any]] = []
    for key in mechanisms:
        own = thresholds if "top_percent" in MECHANISMS[key].uses else ()
        variants += [{"mechanism": key, "top_percent": t} for t in own] or [{"mechanism": key}]
    return variants


def figure_points(
    figure: Figure,
    where: Sequence[tuple[Place, Source]],
    mechanisms: Sequence[str],
    draws: int,
    fixed: Mapping[str, Any],
    thresholds: Sequence[float] | None = None,
) -> Iterator[Point]:
    """Yield the rows of a figure.

    Parameters
    ----------
    figure : Figure
    where : sequence of (Place, Source)
        Regions of check-ins, or what `synthetic_sources` returns.
    mechanisms : sequence of str
    draws : int
    fixed : mapping
        Parameters that the figure leaves open.
    thresholds : sequence of float or None
        Shares of cells in %: mechanisms that keep the largest cells have a row for each. None for
        the figure's.
    """
    variants = _variants(mechanisms, figure.thresholds if thresholds is None else thresholds)
    for panel in figure.panels:
        for i, x in enumerate(panel.xs):
            users, values = panel.settings(x)
            for place, source in where[i : i + 1] if figure.made else where:
                for variant in variants:
                    settings = {**fixed, **values, **variant}
                    yield Point(
                        place,
                        source,
                        users,
                        settings,
                        draws,
                        resample=True,
                        axis=panel.axis,
                        x=x,
                        panel=panel.key,
                    )


def synthetic_sources(figure: Figure, seed: int) -> list[tuple[Place, Source]]:
    """Return a figure's made data; of mixtures one for each place of the axis."""
    if figure.pictures:
        return [(Place(f"picture {i}"), Gazes(seed=seed)) for i in range(figure.pictures)]
    return [
        (
            Place(f"{mixture.gaussians}, {mixture.share:g} filled"),
            replace(mixture, seed=seed),
        )
        for mixture in figure.made
    ]


def figure_places(figure: Figure, checkins: Any, regions: int = 0) -> list[Place]:
    """Return the places of check-ins that a figure takes, unless others are named.

    Of a plane its first images, or the whole padded plane if it has none; on the Earth the busiest
    cells of the paper's partition, so many as the figure says or as `regions`.

    Raises
    ------
    ValueError
        As `picture_places` and `busiest_places`.
    """
    plane = checkins.plane
    if not figure.regions or (plane is not None and checkins.images):
        return picture_places(checkins, figure.pictures or figure.regions, figure.name)
    if plane is not None:
        return plane_places([PlaneRegion.padded(plane)], [None])
    return busiest_places(checkins, regions or figure.regions)


def users_present(checkins: Any, places: Sequence[Place]) -> dict[str, int]:
    """Return the number of users in each place of check-ins, by its name."""
    present = {}
    for place in places:
        assert place.region is not None
        image = {} if place.image is None else {"image": place.image}
        present[place.name] = checkins.points(place.region.box, **image).users_in_region
    return present


def check_users(
    figure: Figure, checkins: Any, places: Sequence[Place], *, fixed: bool = False
) -> None:
    """Refuse regions without the users that a figure has on an axis, or also as a `fixed` number.

    Raises
    ------
    ValueError
    """
    panels = [panel for panel in figure.panels if fixed or panel.axis == "users"]
    most = max((panel.settings(x)[0] for panel in panels for x in panel.xs), default=0)
    for name, present in users_present(checkins, places if most else ()).items():
        if present < most:
            raise ValueError(
                f"{figure.name}: it takes {most} users, and in {name} are {present}; name a "
                "larger region with --region S,W,N,E, or another file with --data"
            )


def mechanisms_of_paper() -> tuple[str, ...]:
    """Return the keys of the mechanisms that the figures compare."""
    return tuple(m.key for m in MECHANISMS.values() if m.in_figures)


SYMBOLS = {"epsilon": "ε", "users": "n", "resolution": "Δ", "filled": "filled share", "B": "B"}
"""Of what a figure has on its x axis."""
AGREES, DIFFERS, OPEN = "agrees", "differs", "open"
NEARLY = 0.1
"""Largest relative change of a mean that is nearly constant."""


def variant_label(variant: Variant) -> str:
    """Return a mechanism's title, with the share of cells that it keeps."""
    key, kept = variant
    title = MECHANISMS[key].title
    return title if kept is None else f"{title} {np.format_float_positional(kept, trim='-')} %"


def verdicts(
    figure: Figure, trials: Trials, results: Mapping[str, TrialValues]
) -> list[dict[str, str | float | None]]:
    """Judge what the paper says of a figure by each of its four measures.

    An algorithm is ahead of a rival at an x where the 95 % interval of their paired difference over
    all runs lies on its side of 0. From the first x to the last a mean gets better or worse by more
    than the intervals of both (`trend`), and stays nearly constant within them or within
    `NEARLY`.

    Returns
    -------
    list of dict
        A row a claim, rival and measure: ``verdict`` is ``agrees``, ``differs`` (somewhere the
        other way round, or a change where none is stated) or ``open`` (the draws tell no
        difference). ``text`` says where.
    """
    groups, labels = by_setting(trials.rows, trials.draws(results))
    places: dict[
        tuple[str, str], list[tuple[Any, dict[Variant, dict[str, list[list[float]]]]]]
    ] = {}
    for name, group in groups.items():
        label = next(labels[name, variant] for variant in group)
        places.setdefault((label["panel"], label["axis"]), []).append((label["x"], group))
    rows: list[dict[str, str | float | None]] = []
    for claim in figure.claims:
        for (panel, axis), there in places.items():
            variants = dict.fromkeys(variant for _, group in there for variant in group)
            about = [variant for variant in variants if variant[0] == claim.mechanism]
            if not about or claim.axis not in ("", axis):
                continue
            rivals = [variant for variant in variants if variant[0] in claim.rivals]
            for rival in rivals if claim.kind == "ahead" else [None]:
                for measure in MEASURES:
                    verdict, text = (
                        _changed(claim, about[0], axis, there, measure)
                        if rival is None
                        else _ahead_of(about[0], rival, axis, there, measure)
                    )
                    rows.append(
                        {
                            "claim": claim.kind,
                            "source": claim.source,
                            "panel": panel,
                            "mechanism": claim.mechanism,
                            "against": rival[0] if rival else None,
                            "top_percent": rival[1] if rival else None,
                            "measure": measure,
                            "verdict": verdict,
                            "text": text,
                        }
                    )
    return rows


Places = Sequence[tuple[Any, Mapping[Variant, Mapping[str, Sequence[Sequence[float]]]]]]


def _ahead_of(
    ours: Variant, rival: Variant, axis: str, places: Places, measure: str
) -> tuple[str, str]:
    """Judge whether one mechanism is ahead of another at every x, by one measure."""
    name, _, worse = MEASURES[measure]
    found: dict[int, list[str]] = {-1: [], 0: [], 1: []}
    for x, group in places:
        paired = differences(group[ours][measure], group[rival][measure])
        summary = _of_runs(paired)
        low, high = (summary and summary.noise) or (-math.inf, math.inf)
        side = 1 if low > 0 else -1 if high < 0 else 0
        found[worse * side].append(f"{x:g}")
    words = {-1: "better", 1: "worse", 0: "no difference shown"}
    parts = [
        f"{words[side]} at {SYMBOLS[axis]} = {', '.join(xs)}" for side, xs in found.items() if xs
    ]
    verdict = DIFFERS if found[1] else OPEN if found[0] else AGREES
    subject = f"{variant_label(ours)} against {variant_label(rival)}"
    return verdict, f"{name}, {subject}: {'; '.join(parts)}"


def _changed(
    claim: Claim, ours: Variant, axis: str, places: Places, measure: str
) -> tuple[str, str]:
    """Judge how a mechanism's mean changes from the first x to the last, by one measure."""
    name, _, worse = MEASURES[measure]
    ends = [(x, _of_runs(group[ours][measure])) for x, group in (places[0], places[-1])]
    (first, before), (last, after) = ends
    subject = f"{name}, {variant_label(ours)}, {SYMBOLS[axis]} = {first:g} to {last:g}"
    if before is None or after is None or before.noise is None or after.noise is None:
        return OPEN, f"{subject}: too few draws"
    moved = worse * trend((before.mean, *before.noise), (after.mean, *after.noise))
    small = abs(after.mean - before.mean) <= NEARLY * abs(before.mean)
    said = {"better": -1, "worse": 1, "constant": 0}[claim.kind]
    if said == 0:
        verdict = AGREES if moved == 0 or small else DIFFERS
    else:
        verdict = AGREES if moved == said else OPEN if moved == 0 else DIFFERS
    words = {-1: "better", 1: "worse", 0: "no change beyond the 95 % intervals"}[moved]
    means = f"{nearest(before.mean, 3)} to {nearest(after.mean, 3)}"
    return verdict, f"{subject}: {means}, {words}"


def _of_runs(regions: Sequence[ArrayLike]) -> Summary | None:
    """Return mean and Student interval over the runs of all regions."""
    return summarise([np.concatenate([np.asarray(of_it, dtype=float) for of_it in regions])])
