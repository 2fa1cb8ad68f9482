"""The experiments by name: heatmap quality on any regions, and the paper's figures.

What a figure of the paper leaves open (the mixtures, thresholds and σ, which region) is chosen here
and stands in its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from explorer.studies.heatmap.experiments.plan import Point
from explorer.studies.heatmap.experiments.samples import (
    FILLED_SHARES,
    Gazes,
    Mixtures,
    Place,
    Source,
)
from explorer.studies.heatmap.help import trends_verdict
from explorer.studies.heatmap.mechanisms import MECHANISMS, SHUFFLED_AND_CENTRAL

QUALITY = "heatmap-quality"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
CHECKINS, SYNTHETIC, EITHER = "check-ins", "made data", "made data, or check-ins"


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

    @property
    def needs(self) -> str:
        """Whether it is about check-ins, made data, or made data unless check-ins are named."""
        if self.pictures or (self.regions and self.made):
            return EITHER
        return CHECKINS if self.regions else SYNTHETIC


def _by_users(epsilon: float) -> Panel:
    return Panel("users", "users", (50, 100, 200, 300, 400, 500), (("epsilon", epsilon),))


def _by_resolution(epsilon: float) -> Panel:
    return Panel("resolution", "resolution", (64, 128, 256), (("epsilon", epsilon), ("users", 200)))


def _mixtures(*components: int) -> tuple[Mixtures, ...]:
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
        ),
        Figure(
            "figure-2",
            "Error against users and against Δ: one region, ε = 10, 10 samples",
            "pyramid and adaptive fall with users and are flat in Δ; Laplace is worse with Δ",
            (_by_users(10.0), _by_resolution(10.0)),
            regions=1,
        ),
        Figure(
            "figure-4",
            "All measures against users: one region, ε = 10, 10 samples",
            "pyramid and adaptive improve with users; thresholds are erratic",
            (_by_users(10.0),),
            regions=1,
        ),
        Figure(
            "figure-5",
            "All measures against Δ: one region, 200 users, ε = 10, 10 samples",
            "pyramid and adaptive flat; Laplace worse",
            (_by_resolution(10.0),),
            regions=1,
        ),
        Figure(
            "figure-6",
            "Error against users: one region, ε = 1, 10 samples",
            "pyramid and adaptive fall; thresholds erratic",
            (_by_users(1.0),),
            regions=1,
        ),
        Figure(
            "figure-7",
            "Error against users and against Δ: one region, ε = 1, 10 samples",
            "pyramid and adaptive fall with users and are flat in Δ; Laplace is worse with Δ",
            (_by_users(1.0), _by_resolution(1.0)),
            regions=1,
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
        ),
        Figure(
            "figure-9",
            "Error of the maps of one picture at ε = 10; drawn by heatmap --picture",
            "as figure 1",
            (Panel("epsilon", "epsilon", (10.0,), (("users", 50), ("resolution", "512"))),),
            draws=1,
            pictures=1,
        ),
        Figure(
            "figure-10",
            "Error against filled cells: mixtures of 20 Gaussians, ε = 1, 10 sets",
            _DENSER.format("", trends_verdict("figure-10")),
            (_FILLED,),
            made=_mixtures(20, 20, 20, 20),
        ),
        Figure(
            "figure-11",
            "As figure 10 with 10, 20, 20 and 80 Gaussians",
            _DENSER.format(
                ", more so than in figure 10",
                trends_verdict("figure-11"),
            ),
            (_FILLED,),
            made=_mixtures(10, 20, 20, 80),
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
    """
    for (place, source), count, combination in product(where, users, product(*axes.values())):
        values = {**fixed, **dict(zip(axes, combination, strict=True))}
        for mechanism in mechanisms:
            yield Point(place, source, count, {**values, "mechanism": mechanism}, draws)


def figure_points(
    figure: Figure,
    where: Sequence[tuple[Place, Source]],
    mechanisms: Sequence[str],
    draws: int,
    fixed: Mapping[str, Any],
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
    """
    for panel in figure.panels:
        for i, x in enumerate(panel.xs):
            users, values = panel.settings(x)
            for place, source in where[i : i + 1] if figure.made else where:
                for mechanism in mechanisms:
                    settings = {**fixed, **values, "mechanism": mechanism}
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
            Place(f"{mixture.components} Gaussians, {mixture.share:g} filled"),
            replace(mixture, seed=seed),
        )
        for mixture in figure.made
    ]


def check_users(figure: Figure, checkins: Any, places: Sequence[Place]) -> None:
    """Refuse regions without the users that a figure takes.

    Raises
    ------
    ValueError
    """
    most = max((x for p in figure.panels if p.axis == "users" for x in p.xs), default=0)
    for place in places if most else ():
        assert place.region is not None
        present = checkins.points(place.region.box).users_in_region
        if present < most:
            raise ValueError(
                f"{figure.name}: it takes {most} users, and in {place.name} are {present}; name a "
                "larger region with --region S,W,N,E, or another file with --data"
            )


def mechanisms_of_paper() -> tuple[str, ...]:
    """Return the keys of the mechanisms that the figures compare."""
    return tuple(m.key for m in MECHANISMS.values() if m.in_figures)
