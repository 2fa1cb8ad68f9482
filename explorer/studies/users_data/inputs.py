"""Space, users and privacy parameters of one request."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.bits import BitSource, SeededBits
from explorer.privacy.spaces import FiniteSpace, Grid, MetricSpace, Sphere, Square
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.study import Context, Request
from explorer.studies.metric_space.parameters import GRID, SPHERE, SQUARE_L1, SQUARE_L2
from explorer.studies.metric_space.space import RequestSpace, space_of
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.reading import (
    EARTH,
    Box,
    Items,
    Users,
    perturb,
    read_users,
    synthetic_items,
    synthetic_places,
    synthetic_points,
    users_of_checkins,
)

CENTRAL, LOCAL = "central", "local"
EQUAL, DRAWN = "equal", "drawn"
ONE_HOT, POSITION, PLACES, FILE = "shares", "position", "places", "file"
FILES, SPLIT = "files", "split"
ITEM_WISE, LINEAR = "itemwise", "linear"
FLAT = (GRID, SQUARE_L2, SQUARE_L1)
"""Spaces whose items a file may give as x and y."""
MAX_ITEMS = 400
"""Largest finite space this study handles."""
MAX_ALPHA = 800.0
_TOO_MANY = f"at most {MAX_ITEMS} items can be released here; choose a smaller space"
_WHOLE_EARTH = (-90.0, -180.0, 90.0, 180.0)
_HEAVY_BYTES = 100_000
"""Larger files are read in the worker process."""


@dataclass(frozen=True)
class PrivacyTarget:
    """Privacy parameters of a release.

    Attributes
    ----------
    alpha, delta : float
        Parameters of the mechanism on the items it receives.
    epsilon : float
        ε within distance r after drawing; 0 without drawing.
    r : float or None
        None without drawing.
    m : int
        Items per user that the mechanism receives.
    drawing : float
        Probability that the draws of two data sets within r are too far apart.
    """

    alpha: float
    delta: float
    epsilon: float
    r: float | None
    m: int
    drawing: float = 0.0

    def total_delta(self, item_wise: bool) -> float:
        """Return δ of the whole release; Algorithm 1 itself has δ = 0."""
        return min(1.0, (self.delta if item_wise else 0.0) + self.drawing)


class Inputs:
    """Space and users of a request.

    Parameters
    ----------
    request, context
    source : BitSource, optional
        Source of random bits instead of the request's seed: the system's, for draws that must not
        be reproducible.

    Attributes
    ----------
    space : RequestSpace
    missing : str
        Why there are no users; empty if there are.
    users : Users
        Empty if `missing` is set.
    """

    def __init__(self, request: Request, context: Context, source: BitSource | None = None) -> None:
        self.request, self.context, self._source = request, context, source
        self.space: RequestSpace = space_of(request, context)
        self.local = request["model"] == LOCAL
        self.equal = request["sizes"] == EQUAL
        self.missing = self.space.missing
        if not self.missing and self.finite and self.space.metric.size > MAX_ITEMS:  # type: ignore[union-attr]
            self.missing = _TOO_MANY
        self.users = Users("", (), ())
        if not self.missing:
            self.users = self._users("users")

    @property
    def metric(self) -> MetricSpace:
        """Distances of the space."""
        if self.space.metric is None:
            raise ValueError(self.space.missing)
        return self.space.metric

    @property
    def finite(self) -> bool:
        """Whether the space has finitely many items."""
        return isinstance(self.space.metric, FiniteSpace)

    @property
    def real(self) -> bool:
        """Whether the users come from a file."""
        return bool(self.request["users"] or self._checkins)

    @property
    def _checkins(self) -> str:
        """Value of the check-in file, which is read on the Earth only."""
        return str(self.request["checkins"]) if self.request["space"] == SPHERE else ""

    @property
    def stamp(self) -> str:
        """Stamp of all output."""
        return REAL_DATA if self.real or self.request["second"] else guarantee.SYNTHETIC

    @property
    def distances(self) -> FloatArray:
        """Distance matrix of a finite space."""
        metric = self.metric
        if not isinstance(metric, FiniteSpace):
            raise ValueError(guarantee.NO_TABLE)
        return metric.matrix()

    def bits(self, purpose: int) -> BitSource:
        """Return the given source, or seeded bits that differ for every purpose."""
        if self._source is not None:
            return self._source
        return SeededBits(np.random.default_rng((abs(self.request.seed), 21, purpose)))

    def second_users(self) -> Users | None:
        """Return the users of the second data set; None if its file is missing.

        Synthetic users are compared with a slightly perturb copy of themselves.
        """
        if self.request["second"]:
            return self._users("second")
        return None if self.real else perturb(self.users, self.request.seed)

    def _users(self, key: str) -> Users:
        request = self.request
        value = str(request[key])
        metric = self.metric
        if key == "users" and self._checkins:
            return self._of_checkins(self._checkins)
        if not value and isinstance(metric, Sphere):
            equal, seed = self.equal, request.seed
            made: Users = self.context.cached(
                ("users-data", "made", equal, seed, SPHERE), lambda: synthetic_places(equal, seed)
            )
            return made
        if not value:
            generate: Any = synthetic_points if isinstance(metric, Square) else synthetic_items
            first = metric.side if isinstance(metric, Square) else self.distances
            synthetic: Users = self.context.cached(
                ("users-data", "made", self.equal, request.seed, self._space),
                lambda: generate(first, self.equal, request.seed),
            )
            return synthetic
        path = self.context.file(value)
        arguments = (
            path,
            value.partition("#")[0],
            str(request["decimal"]),
            self.labels(),
            self._box(),
        )

        def read() -> Users:
            if path.stat().st_size > _HEAVY_BYTES:
                users: Users = self.context.run_in_worker(read_users, *arguments)
                return users
            return read_users(*arguments)

        users: Users = self.context.cached(
            ("users-data", value, arguments[2], arguments[4], self._space), read
        )
        return users

    def _of_checkins(self, value: str) -> Users:
        """Return the users of a check-in file, of any format that the map reads."""

        def read() -> Users:
            checkins = self.context.checkins_of_file(value)
            if checkins.plane is not None:
                raise ValueError(f"{value.partition('#')[0]} is not on the Earth; choose a square")
            rows = checkins.points(_WHOLE_EARTH, check=self.context.check)
            return users_of_checkins(rows, value.partition("#")[0])

        users: Users = self.context.cached(("users-data", "checkins", value), read)
        return users

    @property
    def _space(self) -> tuple[tuple[str, Any], ...]:
        """Parameters of the space: part of the keys of cached values."""
        return tuple((k, v) for k, v in self.request.values if k.startswith("space"))

    def labels(self) -> tuple[str, ...]:
        """Return the labels of the items of a finite space."""
        metric = self.space.metric
        if not isinstance(metric, FiniteSpace):
            return ()
        return self.space.labels or tuple(str(i) for i in range(metric.size))

    def _box(self) -> Box | None:
        request, metric = self.request, self.space.metric
        if request["space"] == SPHERE:
            return EARTH
        if request["space"] not in FLAT:
            return None
        cells = metric.width if isinstance(metric, Grid) else 0
        return Box(
            request["left"], request["bottom"], request["space_side"], cells, bool(request["clamp"])
        )

    def locations(self) -> FloatArray | None:
        """Return the coordinates of a finite space's items in the unit of the file, or None.

        Only coordinates of the grid or the file count, not those of a computed layout.
        """
        metric = self.space.metric
        if isinstance(metric, Grid):
            middle = (np.arange(metric.width) + 0.5) * self.request["space_side"] / metric.width
            x, y = np.meshgrid(middle, middle)
            corner = (self.request["left"], self.request["bottom"])
            return np.asarray(np.column_stack([x.ravel(), y.ravel()]) + corner)
        return self.space.coordinates

    def refusal(self) -> str:
        """Return why these users cannot be released with these settings; empty if they can."""
        if self.users.empty:
            return guarantee.without_items(self.users)
        if self.equal and len(set(self.users.sizes)) > 1:
            return guarantee.unequal(self.users)
        return ""

    def target(self) -> PrivacyTarget:
        """Return the privacy parameters of the release and of its mechanism."""
        request = self.request
        delta = float(request["delta"])
        if request["sizes"] != DRAWN:
            return PrivacyTarget(float(request["alpha"]), delta, 0.0, None, self.users.sizes[0])
        epsilon, r, s = float(request["eps"]), float(request["r"]), int(request["s"])
        reduction = um.bounded_reduction(epsilon, delta, r, s)
        drawing = 0.0 if reduction.certain else delta
        return PrivacyTarget(min(float(reduction.alpha), MAX_ALPHA), delta, epsilon, r, s, drawing)

    def mechanism_items(self) -> tuple[Items, ...]:
        """Return the items that the mechanism receives: all, or s draws of every user."""
        if self.equal:
            return self.users.items
        return tuple(um.drawn_items(self.users.items, int(self.request["s"]), self.bits(0)))
