"""Distances between two data sets of users, and bounds on tests that distinguish them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.spaces import MetricSpace
from explorer.studies.base.numbers import nearest
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import Condition, Mark, ScalarResult, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.algorithms import QuantityResult, undefined_result
from explorer.studies.users_data.inputs import FILES, ITEM_WISE, Inputs, Items, Users

_MAX_ROWS = 20

MOVED = Curve(
    "moved",
    "d_EM of a user's two data sets",
    "d_EM of a user's data",
    Role.EXACT,
    guarantee.DISTANCE,
    mark=Mark.DOTS,
)
FARTHEST = Curve(
    "one", "the user who moved farthest", "farthest user", Role.UPPER, guarantee.PROMISE
)
ALL_ADDED = Curve(
    "all",
    "all users at once, by adding up",
    "all, by adding up",
    Role.UPPER,
    guarantee.SEVERAL,
)
ALL_POOLED = Curve(
    "pools",
    "all users at once, by the pools",
    "all, by the pools",
    Role.UPPER,
    guarantee.ALGORITHM_1,
)
CHANCE = Curve("chance", "chance", "", Role.BASELINE, guarantee.CHANCE)


@dataclass(frozen=True)
class Comparison:
    """Distances between two data sets.

    Attributes
    ----------
    names : tuple of str
        Users, or the two parts compared; the farthest first.
    moved : ndarray of float
        Normalised d_EM of each, descending.
    sizes : tuple of (int, int)
        Numbers of items before and after.
    pools : float or None
        d_EM of all items together; None if there are too many to match.
    missing : tuple of str
        Users in only one of the files.
    """

    names: tuple[str, ...]
    moved: FloatArray
    sizes: tuple[tuple[int, int], ...]
    pools: float | None
    missing: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether no user's number of items changed."""
        return all(one == two for one, two in self.sizes)


def compare(metric: MetricSpace, first: Users, second: Users) -> Comparison:
    """Return the distances between two data sets, user by user (runs in a worker process)."""
    other = dict(zip(second.names, second.items, strict=True))
    own = dict(zip(first.names, first.items, strict=True))
    both = [name for name in own if name in other]
    missing = tuple(name for name in (*own, *other) if name not in own or name not in other)
    if not both:
        raise ValueError("no user is in both files: users go by their names, in the first column")
    far = np.array([distance(metric, own[name], other[name]) for name in both])
    order = np.argsort(-far, kind="stable")
    pools: float | None
    try:
        pools = distance(
            metric,
            np.concatenate([own[name] for name in both]),
            np.concatenate([other[name] for name in both]),
        )
    except ValueError:
        pools = None
    return Comparison(
        tuple(both[i] for i in order),
        far[order],
        tuple((len(own[both[i]]), len(other[both[i]])) for i in order),
        pools,
        missing,
    )


def compare_parts(metric: MetricSpace, users: Users, k: int) -> Comparison:
    """Return d_EM between the items of the first k users and the others' (runs in a worker)."""
    one, two = np.concatenate(users.items[:k]), np.concatenate(users.items[k:])
    far = distance(metric, one, two)
    name = f"the first {k:,} users against the other {len(users.names) - k:,}"
    return Comparison((name,), np.array([far]), ((len(one), len(two)),), far)


def distance(metric: MetricSpace, one: Items, two: Items) -> float:
    """Return the exact normalised d_EM of two data sets with equally weighted items.

    Raises
    ------
    ValueError
        If there are too many items to match.
    """
    if one.ndim == 1:
        # In a finite space equal items can be counted first.
        x, p = np.unique(one, return_counts=True)
        y, q = np.unique(two, return_counts=True)
        if len(one) * len(two) > 250_000:
            return metric.emd(x, y, p, q)
    elif len(one) * len(two) > um.MAX_ASSIGNMENT**2:
        raise ValueError(f"{len(one):,} and {len(two):,} points are too many to be matched")
    return um.transport_plan(metric.cross(one, two)).distance


_READ = (
    *("users", "checkins", "second", "against", "split"),
    *("decimal", "left", "bottom", "clamp", "sizes"),
)
"""Keys of the parameters beside the space on which the data compared depend."""


def _compare(inputs: Inputs) -> Comparison | str:
    """Return the requested comparison, or the reason why there is none."""
    request, context, metric = inputs.request, inputs.context, inputs.metric
    task: tuple[Any, ...]
    if request["against"] != FILES:
        k = int(request["split"])
        if k >= len(inputs.users.names):
            return f"the file has {len(inputs.users.names):,} users: choose a smaller k"
        task = (compare_parts, metric, inputs.users, k)
    else:
        second = inputs.second_users()
        if second is None:
            return guarantee.NEEDS_SECOND
        task = (compare, metric, inputs.users, second)
    space = tuple(
        (key, value) for key, value in request.values if key.startswith("space") or key in _READ
    )
    comparison: Comparison = context.cached(
        ("users-data", "compared", space, request.seed), lambda: context.run_in_worker(*task)
    )
    return comparison


def moved_distances(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return d_EM of every user's two data sets, in descending order."""
    both = _compare(inputs)
    if isinstance(both, str):
        return undefined_result("moved", "d_EM of a user's data", points, both)
    rank = np.arange(1, len(both.moved) + 1, dtype=float)
    inside = (rank >= points.sweep.low) & (rank <= points.sweep.high)
    series = (MOVED.series(rank[inside], both.moved[inside]),)
    alpha, delta = float(inputs.request["alpha"]), _delta(inputs)
    return QuantityResult(
        series,
        _readouts(inputs, both),
        _notes(inputs, both),
        guarantee.compared_guarantee(
            alpha, delta, float(both.moved[0]), _subject(inputs, both), local=inputs.local
        ),
    )


def test_power(inputs: Inputs, points: SweptPoints) -> QuantityResult:
    """Return upper bounds on the power of tests between two data sets."""
    both = _compare(inputs)
    if isinstance(both, str):
        return undefined_result("one", "told apart", points, both)
    alpha, delta = float(inputs.request["alpha"]), _delta(inputs)
    f = points.x
    farthest = float(both.moved[0])
    several = inputs.request["against"] == FILES
    one = FARTHEST if several else replace(FARTHEST, label="the two parts, as one person's data")
    curves = [(one, alpha * farthest, delta)]
    if several:
        epsilon, total = um.several_users(alpha, both.moved.tolist(), [delta] * len(both.moved))
        curves.append((ALL_ADDED, epsilon, min(total, 1.0)))
        if not delta and not inputs.local and both.equal and both.pools is not None:
            n = len(both.moved)
            curves.append((ALL_POOLED, alpha * n * both.pools, 0.0))
    series = [
        curve.series(
            f,
            np.asarray(um.power_bound(epsilon, d, f)),
            note=f"ε = {nearest(epsilon)}" + (f", δ = {nearest(d)}" if d else ""),
        )
        for curve, epsilon, d in curves
    ]
    series.append(CHANCE.series(f, f.copy()))
    subject = _subject(inputs, both)
    levels = tuple(
        ScalarResult(f"eps_{curve.key}", f"ε, {curve.label}", epsilon, Role.UPPER)
        for curve, epsilon, _ in curves
    )
    return QuantityResult(
        tuple(series),
        (*levels, *_readouts(inputs, both)),
        _notes(inputs, both),
        guarantee.compared_guarantee(alpha, delta, farthest, subject, local=inputs.local),
    )


def _delta(inputs: Inputs) -> float:
    """Return δ of the release: 0 for Algorithm 1."""
    return float(inputs.request["delta"]) if inputs.request["promise"] == ITEM_WISE else 0.0


def _subject(inputs: Inputs, both: Comparison) -> str:
    if inputs.request["against"] != FILES:
        return f"two data sets ({both.names[0]})"
    return f"two data sets of {both.names[0]}" if inputs.real else "two data sets of a user"


def _readouts(inputs: Inputs, both: Comparison) -> tuple[ScalarResult, ...]:
    unit, length = inputs.space.unit, inputs.space.diameter
    moved = int((both.moved > 0).sum())
    readouts = [
        ScalarResult(
            "farthest",
            "d_EM of the user who moved farthest",
            float(both.moved[0]),
            Role.EXACT,
        ),
        ScalarResult(
            "farthest_unit", "as a length", float(both.moved[0]) * length, Role.EXACT, unit
        ),
    ]
    if both.pools is not None:
        readouts.append(ScalarResult("pools", "d_EM of all items together", both.pools, Role.EXACT))
    elif both.equal:
        readouts.append(
            ScalarResult(
                "pools",
                "d_EM of all items together",
                float(both.moved.mean()),
                Role.UPPER,
                note="the users' mean: too many items to match all of them",
            )
        )
    return (*readouts, ScalarResult("users_moved", "users whose data moved", float(moved)))


def _notes(inputs: Inputs, both: Comparison) -> tuple[str, ...]:
    synthetic = not inputs.real and inputs.request["against"] == FILES
    return tuple(
        note
        for note in (
            guarantee.only_in_one(both.missing),
            guarantee.NO_SECOND if synthetic and not inputs.request["second"] else "",
        )
        if note
    )


def tables(inputs: Inputs) -> tuple[Table, ...]:
    """Return the table of the farthest users, for the curator only."""
    both = _compare(inputs)
    if isinstance(both, str):
        return ()
    rows = tuple(
        (name, float(w), float(w) * inputs.space.diameter, one, two)
        for name, w, (one, two) in list(zip(both.names, both.moved, both.sizes, strict=True))[
            :_MAX_ROWS
        ]
    )
    unit = f" ({inputs.space.unit})" if inputs.space.unit else ""
    return (
        Table(
            "moved",
            "Who moved how far (curator only)",
            ("user", "d_EM", f"as a length{unit}", "items before", "items after"),
            rows,
            f"The {len(rows)} who moved farthest of {len(both.names):,}. Exact, by an optimal "
            "plan of transport.",
            (None, Role.EXACT, Role.EXACT),
        ),
    )


def conditions(inputs: Inputs) -> tuple[Condition, ...]:
    """Return the conditions of the guarantee about two data sets."""
    both = _compare(inputs)
    if isinstance(both, str):
        return ()
    return (
        Condition(
            "Every user has as many items in both data sets, as bounded d_EM-DP asks",
            both.equal,
            ""
            if both.equal
            else "draw s of each first (Algorithm 3), or read w as a distance alone",
            short="Both data sets have as many items a user",
        ),
        Condition(
            "What is released is α-private for d_EM, by the algorithm chosen",
            None,
            short="The release is α-private for d_EM",
        ),
    )
