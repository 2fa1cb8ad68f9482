"""Evaluation data of error curves: the check-ins of the map, or unrelated users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from explorer.geography.region import Box
from explorer.polygon import Polygon
from explorer.privacy.heatmaps.counts import BY_CHECKINS, Contribution
from explorer.studies.base.request import worst
from explorer.studies.base.study import Origin, Request, Selection
from explorer.studies.heatmap.experiments.error_curves import AXES, Axis
from explorer.studies.heatmap.experiments.figures import FIGURES, synthetic_sources
from explorer.studies.heatmap.experiments.samples import (
    Mixtures,
    Place,
    Sample,
    Source,
    count_points,
    data_of,
)

NO_CHECKINS = (
    "Nobody checked in inside region and time range, so that there is nothing to compare a map "
    "with: choose another region, or judge ε on a stand-in"
)
NO_CHECKINS_OF_FILE = (
    "{name}: nobody checked in inside the map's region; choose a file that covers it, or the "
    "synthetic people"
)
MAX_SYNTHETIC_USERS = 2000
"""Largest number of synthetic users: generating them takes time."""
THE_SAME = "{name} is the map's own file: a stand-in must be other people; choose another file"


@dataclass
class EvaluationData:
    """Samples of the users of an open check-in file (see `Source`).

    Parameters
    ----------
    checkins : CheckinData
    box : (south, west, north, east)
        Region in which they are counted; of a place only its sides in kilometres are used, as the
        data of a stand-in may be elsewhere.
    start, end, users, data_seed, share, image
        As `explorer.checkins.CheckinData.points` takes them; `users` or `share` hold where nobody
        asks for a number of users.
    check : callable
        Called now and then; may raise to stop.
    nobody : str
        Error message if there are no users.
    """

    checkins: Any
    box: Box
    start: str | None = None
    end: str | None = None
    users: int | None = None
    data_seed: int = 0
    share: Fraction | None = None
    check: Callable[[], None] = lambda: None
    nobody: str = NO_CHECKINS
    image: str | None = None
    polygon: Polygon | None = None
    _last: tuple[object, Any] = field(default=((), None), repr=False)

    @classmethod
    def of_selection(
        cls, checkins: Any, selection: Selection, check: Callable[[], None] = lambda: None
    ) -> EvaluationData:
        """Return the users of the map itself as evaluation data."""
        return cls(
            checkins,
            selection.region.box,
            selection.start,
            selection.end,
            selection.users,
            selection.data_seed,
            selection.exact_share,
            check,
            image=selection.image,
            polygon=selection.region.polygon,
        )

    @property
    def data(self) -> str:
        """The file's fingerprint, and its privacy unit if that is not a user."""
        return data_of(self.checkins)

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a sample of users, by default those of the map; it is the same for all numbers."""
        points = self._points(self.users if users is None else users)
        if not points.users_used:
            raise ValueError(self.nobody)
        return count_points(points, self.box, level, rule)

    def present(self) -> int:
        """Return the number of users that can be drawn from."""
        return int(self._points(self.users).users_in_region)

    def _points(self, users: int | None) -> Any:
        if self._last[0] != (users,):
            share = self.share if users is None else None
            points = self.checkins.points(
                self.box,
                self.start,
                self.end,
                users,
                self.data_seed,
                share,
                self.check,
                self.image,
                self.polygon,
            )
            self._last = ((users,), points)
        return self._last[1]


@dataclass(frozen=True)
class SyntheticUsers:
    """Synthetic data of a figure of the paper, as evaluation data (see `Source`).

    Attributes
    ----------
    name : str
        Name in exports and the window.
    place : str
        Name of the place of their samples.
    source : Source
    users : int
        Number of users in the figure.
    filled : mapping of float to Source
        Source for each share of cells that have a point; empty where there is only one.
    """

    name: str
    place: str
    source: Source
    users: int
    filled: Mapping[float, Source] = field(default_factory=dict)

    @property
    def data(self) -> str:
        """Description of the generator."""
        return self.source.data

    def sample(
        self,
        place: Place,
        users: int | None,
        level: int,
        number: int,
        rule: Contribution = BY_CHECKINS,
    ) -> Sample:
        """Return a sample of users, by default as many as the figure has."""
        return self.source.sample(place, users or self.users, level, number, rule)

    def present(self) -> int:
        """Return the largest number of users that can be generated."""
        return MAX_SYNTHETIC_USERS


def _synthetic_users() -> Iterator[tuple[str, SyntheticUsers]]:
    for key, kind in (("figure-8", "gazes"), ("figure-10", "mixtures"), ("figure-11", "mixtures")):
        figure = FIGURES[key]
        (place, source), *_ = sources = synthetic_sources(figure, 0)
        users = next(value for name, value in figure.panels[0].fixed if name == "users")
        filled = {x.share: x for _, x in sources if isinstance(x, Mixtures)}
        name = f"made {kind} ({key.replace('-', ' ')})"
        where = "square" if filled else place.name
        yield key, SyntheticUsers(name, where, source, int(users), filled)


SYNTHETIC_USERS = dict(_synthetic_users())
"""Synthetic evaluation data, by the figure that they are of."""


def axes_of(judged_on: str) -> tuple[Axis, ...]:
    """Return the axes that are available with some evaluation data."""
    filled = judged_on in SYNTHETIC_USERS and SYNTHETIC_USERS[judged_on].filled
    return tuple(axis for axis in AXES.values() if filled or not axis.of_data)


def request_at(request: Request, mechanism: str, axis: Axis, x: float, came: Origin) -> Request:
    """Return the request of a map at a point of a curve: its mechanism and its value on the axis.

    Parameters
    ----------
    request : Request
        With a selection, which records the origin of ε.
    came : Origin
        Origin of the value.
    """
    selection = request.selection
    assert selection is not None
    if axis.key == "epsilon":
        selection = replace(selection, epsilon_from=came)
    if axis.key != "epsilon" or mechanism != request["mechanism"]:
        # The worst origin counts: settings from other data revoke nothing found on these.
        came = worst((selection.settings_from, came))
        selection = replace(selection, settings_from=came)
    request = replace(request, selection=selection).with_value("mechanism", mechanism)
    if axis.of_data:
        return request
    if axis.key == "users":
        return replace(request, selection=replace(selection, users=int(x), share=None))
    kind = type(axis.values[0])
    return request.with_value(axis.key, str(int(x)) if kind is str else kind(x))
